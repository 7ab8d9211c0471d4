// SPDX-License-Identifier: GPL-2.0
#include "reader.h"

#include "pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define WRITE_BEHIND (4 * 1024 * 1024)

/* The kernel may return less than asked for only at the end of the file. */
static int read_exactly(struct reader *r, off_t pos, size_t len, int flags)
{
	size_t done = 0;

	if (pos + (off_t)len > r->size)
		len = pos < r->size ? r->size - pos : 0;
	while (done < len) {
		struct iovec iov = { r->buf + done, len - done };
		ssize_t got =
			flags ? preadv2(r->fd, &iov, 1, pos + done, flags) :
				pread(r->fd, iov.iov_base, iov.iov_len,
				      pos + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EIO;
		done += got;
	}
	return 0;
}

static int pread_read(struct reader *r, off_t pos, size_t len)
{
	int err;

	if (r->count_missed) {
		err = read_exactly(r, pos, len, RWF_NOWAIT);
		if (!err)
			return 0;
		if (err == -EAGAIN)
			r->missed++;
		else if (err == -EOPNOTSUPP)
			r->count_missed = false;
		else
			return err;
	}
	return read_exactly(r, pos, len, 0);
}

static int preadv2_read(struct reader *r, off_t pos, size_t len)
{
	return read_exactly(r, pos, len, r->ops->rwf);
}

/* Where a thread that touches a mapping goes when a page cannot be read. */
static _Thread_local struct {
	sigjmp_buf here;
	volatile sig_atomic_t armed;
} unreadable;

static void on_sigbus(int sig)
{
	if (unreadable.armed)
		siglongjmp(unreadable.here, 1);
	/* None of ours: it strikes again, and kills. */
	signal(sig, SIG_DFL);
}

static int mmap_prepare(struct reader *r)
{
	/* Left by a jump, so it must not stay blocked. */
	const struct sigaction action = { .sa_handler = on_sigbus,
					  .sa_flags = SA_NODEFER };

	if (sigaction(SIGBUS, &action, NULL))
		return -errno;
	r->map = mmap(NULL, r->size, PROT_READ, MAP_SHARED, r->fd, 0);
	if (r->map != MAP_FAILED)
		return 0;
	r->map = NULL;
	return -errno;
}

/*
 * One byte of each page in [@pos, @end), added up: valgrind leaves out a load
 * that goes nowhere. There is no error but a signal; a function of its own, so
 * that a jump finds no variable half changed.
 */
__attribute__((noinline)) static unsigned int touch(const volatile char *map,
						    off_t pos, off_t end)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned int sum = 0;

	while (pos < end) {
		sum += map[pos];
		pos += page - pos % page;
	}
	return sum;
}

static int mmap_read(struct reader *r, off_t pos, size_t len)
{
	off_t end = pos + (off_t)len;

	if (sigsetjmp(unreadable.here, 0)) {
		unreadable.armed = 0;
		return -EIO;
	}
	unreadable.armed = 1;
	r->seen += touch(r->map, pos, end < r->size ? end : r->size);
	unreadable.armed = 0;
	return 0;
}

static int mmap_advised(struct reader *r)
{
	int err = mmap_prepare(r);

	if (!err && madvise(r->map, r->size, r->ops->advice))
		err = -errno;
	return err;
}

static int advise_all(struct reader *r)
{
	return -posix_fadvise(r->fd, 0, 0, r->ops->advice);
}

/* Older kernels take the advice as well, and do nothing about it. */
static int noreuse_prepare(struct reader *r)
{
	unsigned int version, patchlevel;
	struct utsname uts;
	int err;

	if (uname(&uts) ||
	    sscanf(uts.release, "%u.%u", &version, &patchlevel) != 2)
		return -EOPNOTSUPP;
	if (version < 6 || (version == 6 && patchlevel < 3))
		return -EOPNOTSUPP;
	err = advise_all(r);
	return err ? err : mmap_prepare(r);
}

static int dontneed_read(struct reader *r, off_t pos, size_t len)
{
	int err = pread_read(r, pos, len);

	return err ? err : -posix_fadvise(r->fd, pos, len, r->ops->advice);
}

static int dontneed_from_0_read(struct reader *r, off_t pos, size_t len)
{
	int err = pread_read(r, pos, len);

	return err ? err : -posix_fadvise(r->fd, 0, pos + len, r->ops->advice);
}

/*
 * What is not written back cannot be reclaimed, and a cgroup v1 lets a writer
 * fill its memory with it: wait for what was written WRITE_BEHIND before.
 */
static int wait_behind(struct reader *r, off_t pos, size_t len)
{
	unsigned int all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
			   SYNC_FILE_RANGE_WAIT_AFTER;

	if (pos < WRITE_BEHIND)
		return 0;
	return sync_file_range(r->fd, pos - WRITE_BEHIND, len, all) ? -errno :
								      0;
}

static int write_pattern(struct reader *r, off_t pos, size_t len)
{
	size_t done = 0;

	if (pos + (off_t)len > r->size)
		len = pos < r->size ? r->size - pos : 0;
	pattern_fill(r->buf, len, pos, r->seed);
	while (done < len) {
		struct iovec iov = { r->buf + done, len - done };
		ssize_t put = pwritev2(r->fd, &iov, 1, pos + done, r->ops->rwf);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		done += put;
	}
	return wait_behind(r, pos, len);
}

static int null_read(struct reader *r, off_t pos, size_t len)
{
	(void)r;
	(void)pos;
	(void)len;
	return 0;
}

const struct reader_ops reader_pread = {
	.name = "pread",
	.read = pread_read,
};

const struct reader_ops reader_mmap = {
	.name = "mmap",
	.prepare = mmap_prepare,
	.read = mmap_read,
};

const struct reader_ops reader_mmap_random = {
	.name = "mmap_random",
	.advice = MADV_RANDOM,
	.prepare = mmap_advised,
	.read = mmap_read,
};

const struct reader_ops reader_mmap_sequential = {
	.name = "mmap_sequential",
	.advice = MADV_SEQUENTIAL,
	.prepare = mmap_advised,
	.read = mmap_read,
};

const struct reader_ops reader_mmap_noreuse = {
	.name = "mmap_noreuse",
	.need = "POSIX_FADV_NOREUSE of Linux 6.3",
	.advice = POSIX_FADV_NOREUSE,
	.prepare = noreuse_prepare,
	.read = mmap_read,
};

const struct reader_ops reader_dontneed = {
	.name = "dontneed",
	.advice = POSIX_FADV_DONTNEED,
	.read = dontneed_read,
};

const struct reader_ops reader_dontneed_from_0 = {
	.name = "dontneed_from_0",
	.advice = POSIX_FADV_DONTNEED,
	.read = dontneed_from_0_read,
};

const struct reader_ops reader_dontneed_before = {
	.name = "dontneed_before",
	.advice = POSIX_FADV_DONTNEED,
	.prepare = advise_all,
	.read = pread_read,
};

const struct reader_ops reader_random = {
	.name = "random",
	.advice = POSIX_FADV_RANDOM,
	.prepare = advise_all,
	.read = pread_read,
};

const struct reader_ops reader_direct = {
	.name = "direct",
	.need = "O_DIRECT",
	.open_flags = O_DIRECT,
	.read = pread_read,
};

const struct reader_ops reader_write = {
	.name = "write",
	.open_flags = O_RDWR,
	.read = write_pattern,
};

const struct reader_ops reader_dontcache_write = {
	.name = "dontcache_write",
	.need = "RWF_DONTCACHE",
	.open_flags = O_RDWR,
	.rwf = RWF_DONTCACHE,
	.read = write_pattern,
};

const struct reader_ops reader_dontcache = {
	.name = "dontcache",
	.need = "RWF_DONTCACHE",
	.rwf = RWF_DONTCACHE,
	.read = preadv2_read,
};

const struct reader_ops reader_null = {
	.name = "null",
	.read = null_read,
};

int reader_open(struct reader *r, const struct reader_ops *ops,
		const char *path, size_t max_len)
{
	struct stat st;
	int err = 0;

	memset(r, 0, sizeof(*r));
	r->ops = ops;
	r->fd = -1;
	r->max_len = max_len;
	if (snprintf(r->path, sizeof(r->path), "%s", path) >=
	    (int)sizeof(r->path))
		return -ENAMETOOLONG;
	r->fd = open(path, ops->open_flags | O_CLOEXEC | O_NOFOLLOW);
	if (r->fd < 0)
		return -errno;
	if (fstat(r->fd, &st))
		err = -errno;
	r->size = st.st_size;
	/* Touched here, so that the first read pays no page fault for it. */
	if (!err && posix_memalign((void **)&r->buf, 4096, max_len))
		err = -ENOMEM;
	if (!err) {
		memset(r->buf, 0xa5, max_len);
		if (ops->prepare)
			err = ops->prepare(r);
	}
	if (err)
		reader_close(r);
	return err;
}

void reader_close(struct reader *r)
{
	if (!r->ops)
		return;
	if (r->ops->release)
		r->ops->release(r);
	if (r->map)
		munmap(r->map, r->size);
	if (r->fd >= 0)
		close(r->fd);
	free(r->buf);
	r->ops = NULL;
	r->map = NULL;
	r->buf = NULL;
	r->fd = -1;
}
