/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ways to read a file, behind one table of operations.
 */
#ifndef MM_CACHE_READER_H
#define MM_CACHE_READER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reader;

struct reader_ops {
	const char *name;
	/* What the kernel must have for it, for a SKIP; NULL: nothing. */
	const char *need;
	int rwf; /* flags for preadv2() */
	/* Prepare r->fd, r->size bytes long; 0 or -errno. NULL: nothing. */
	int (*prepare)(struct reader *r);
	/* Read or touch bytes [pos, pos + len); 0 or -errno. */
	int (*read)(struct reader *r, off_t pos, size_t len);
};

/* pread() */
extern const struct reader_ops reader_pread;
/*
 * One byte of each page through a shared mapping without advice. What cannot be
 * read there is SIGBUS; it is caught for the whole process and becomes -EIO.
 */
extern const struct reader_ops reader_mmap;
/* preadv2() with RWF_DONTCACHE */
extern const struct reader_ops reader_dontcache;
/* Reads nothing: what a run costs, and what it does, without any reading. */
extern const struct reader_ops reader_null;

struct reader {
	const struct reader_ops *ops;
	char path[PATH_MAX];
	int fd;
	off_t size;
	char *buf; /* the last bytes read; @max_len long */
	size_t max_len;
	void *map; /* reader_mmap */
	bool count_missed; /* try RWF_NOWAIT first (pread only) */
	uint64_t missed; /* reads that found their page absent */
};

/*
 * reader_open() - open @path with @ops for reads of at most @max_len bytes.
 * 0 or -errno.
 */
int reader_open(struct reader *r, const struct reader_ops *ops,
		const char *path, size_t max_len);

/*
 * reader_read() - bytes [@pos, @pos + @len) of the file, @len <= max_len, cut
 * at its end. 0 or -errno; -EIO for a short read.
 */
static inline int reader_read(struct reader *r, off_t pos, size_t len)
{
	return r->ops->read(r, pos, len);
}

void reader_close(struct reader *r);

#endif
