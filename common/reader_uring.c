// SPDX-License-Identifier: GPL-2.0
/*
 * Reads by io_uring, most with RWF_DONTCACHE: each is split into as many as are
 * to be under way at a time.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_LIBURING

#include <liburing.h>

#define PART_ALIGN 4096

static void uring_release(struct reader *r)
{
	if (!r->ring)
		return;
	io_uring_queue_exit(r->ring);
	free(r->ring);
	r->ring = NULL;
}

static int uring_prepare(struct reader *r)
{
	struct iovec iov = { r->buf, r->max_len };
	struct io_uring *ring;

	ring = malloc(sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	/* Not built into the kernel, or forbidden by kernel.io_uring_disabled. */
	if (io_uring_queue_init(r->ops->depth, ring, 0)) {
		free(ring);
		return -EOPNOTSUPP;
	}
	r->ring = ring;
	return r->ops->fixed ? io_uring_register_buffers(ring, &iov, 1) : 0;
}

/* Bytes [from, to) of the buffer, for file position @pos + @from. */
static int submit(struct reader *r, off_t pos, size_t from, size_t to, int rwf)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(r->ring);
	char *buf = r->buf + from;
	int done;

	if (!sqe)
		return -EBUSY;
	if (r->ops->fixed)
		io_uring_prep_read_fixed(sqe, r->fd, buf, to - from, pos + from,
					 0);
	else
		io_uring_prep_read(sqe, r->fd, buf, to - from, pos + from);
	sqe->rw_flags = rwf;
	io_uring_sqe_set_data64(sqe, from);
	done = io_uring_submit(r->ring);
	if (done == 1)
		return 0;
	return done < 0 ? done : -EBUSY;
}

static int wait_one(struct reader *r, struct io_uring_cqe **cqe)
{
	int err;

	do
		err = io_uring_wait_cqe(r->ring, cqe);
	while (err == -EINTR);
	return err;
}

/*
 * Read it if that needs no waiting, as preadv2() with RWF_NOWAIT; 1 when it was
 * read, 0 when it is to be read again, and its page was absent or not known.
 */
static int read_cached(struct reader *r, off_t pos, size_t len)
{
	struct io_uring_cqe *cqe;
	int got;

	got = submit(r, pos, 0, len, r->ops->rwf | RWF_NOWAIT);
	if (!got)
		got = wait_one(r, &cqe);
	if (got)
		return got;
	got = cqe->res;
	io_uring_cqe_seen(r->ring, cqe);
	if (got == (int)len)
		return 1;
	if (got == -EOPNOTSUPP)
		r->count_missed = false;
	else
		r->missed++;
	return got < 0 && got != -EAGAIN && got != -EOPNOTSUPP ? got : 0;
}

/*
 * Wait for one; 1 when the kernel read less than it was asked for, and the rest
 * was submitted.
 */
static int reap(struct reader *r, off_t pos, size_t part, size_t len)
{
	struct io_uring_cqe *cqe;
	size_t from, to;
	int got;

	got = wait_one(r, &cqe);
	if (got)
		return got;
	from = io_uring_cqe_get_data64(cqe);
	got = cqe->res;
	io_uring_cqe_seen(r->ring, cqe);
	to = (from / part + 1) * part;
	if (to > len)
		to = len;
	if (got == -EINTR || got == -EAGAIN)
		got = 0;
	else if (!got)
		got = -EIO;
	if (got < 0)
		return got;
	from += got;
	if (from >= to)
		return 0;
	got = submit(r, pos, from, to, r->ops->rwf);
	return got ? got : 1;
}

static int uring_read(struct reader *r, off_t pos, size_t len)
{
	unsigned int pending = 0;
	size_t part;
	int err = 0;

	if (pos + (off_t)len > r->size)
		len = pos < r->size ? r->size - pos : 0;
	part = (len / r->ops->depth + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
	if (!part)
		part = PART_ALIGN;
	if (r->count_missed && len <= part) {
		err = read_cached(r, pos, len);
		if (err)
			return err < 0 ? err : 0;
	}
	for (size_t from = 0; !err && from < len; from += part) {
		err = submit(r, pos, from,
			     part < len - from ? from + part : len,
			     r->ops->rwf);
		pending += !err;
	}
	/* All of them, also after an error: they write to the buffer. */
	while (pending) {
		int more = reap(r, pos, part, len);

		if (more <= 0)
			pending--;
		if (more < 0 && !err)
			err = more;
	}
	return err;
}

#else

static void uring_release(struct reader *r)
{
	(void)r;
}

static int uring_prepare(struct reader *r)
{
	(void)r;
	return -EOPNOTSUPP;
}

static int uring_read(struct reader *r, off_t pos, size_t len)
{
	(void)r;
	(void)pos;
	(void)len;
	return -EOPNOTSUPP;
}

#endif

#define URING(called, ...)                                                \
	{                                                                 \
		.name = (called), .need = "io_uring with RWF_DONTCACHE",  \
		.rwf = RWF_DONTCACHE, .prepare = uring_prepare,           \
		.read = uring_read, .release = uring_release, __VA_ARGS__ \
	}

const struct reader_ops reader_uring_plain = {
	.name = "uring_plain",
	.need = "io_uring",
	.depth = 8,
	.prepare = uring_prepare,
	.read = uring_read,
	.release = uring_release,
};

const struct reader_ops reader_uring_1 = URING("uring_1", .depth = 1);
const struct reader_ops reader_uring_8 = URING("uring_8", .depth = 8);
const struct reader_ops reader_uring_64 = URING("uring_64", .depth = 64);
const struct reader_ops reader_uring_fixed =
	URING("uring_fixed", .depth = 8, .fixed = true);
