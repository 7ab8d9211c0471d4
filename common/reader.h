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

/* Older C libraries lack these. */
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x00000080
#endif

#define READERS_MAX 8 /* that take turns */

struct reader;

struct reader_ops {
	const char *name;
	/* What the kernel must have for it, for a SKIP; NULL: nothing. */
	const char *need;
	int open_flags; /* for open(); 0: O_RDONLY */
	int rwf; /* flags for preadv2(), pwritev2() and io_uring */
	int advice; /* for posix_fadvise() or madvise() */
	unsigned int depth; /* io_uring: a read is split into so many */
	bool fixed; /* io_uring: into a registered buffer */
	/* Prepare r->fd, r->size bytes long; 0 or -errno. NULL: nothing. */
	int (*prepare)(struct reader *r);
	/* Read, touch or write bytes [pos, pos + len); 0 or -errno. */
	int (*read)(struct reader *r, off_t pos, size_t len);
	/* Undo what prepare() did beside r->map. NULL: nothing. */
	void (*release)(struct reader *r);
};

/* pread() */
extern const struct reader_ops reader_pread;
/*
 * One byte of each page through a shared mapping without advice. What cannot be
 * read there is SIGBUS; it is caught for the whole process and becomes -EIO.
 */
extern const struct reader_ops reader_mmap;
/* The same, after madvise() for all of it */
extern const struct reader_ops reader_mmap_random;
extern const struct reader_ops reader_mmap_sequential;
/* The same, after POSIX_FADV_NOREUSE for all of the file */
extern const struct reader_ops reader_mmap_noreuse;
/* preadv2() with RWF_DONTCACHE */
extern const struct reader_ops reader_dontcache;
/* By io_uring, 8 reads at a time */
extern const struct reader_ops reader_uring_plain;
/* The same with RWF_DONTCACHE: 1, 8 or 64 reads at a time; 8 into registered buffers */
extern const struct reader_ops reader_uring_1;
extern const struct reader_ops reader_uring_8;
extern const struct reader_ops reader_uring_64;
extern const struct reader_ops reader_uring_fixed;
/* pread(), each time followed by POSIX_FADV_DONTNEED for what it read */
extern const struct reader_ops reader_dontneed;
/* pread(), each time followed by that for all from the start of the file */
extern const struct reader_ops reader_dontneed_from_0;
/* pread() after POSIX_FADV_DONTNEED for all of the file: too early */
extern const struct reader_ops reader_dontneed_before;
/* pread() after POSIX_FADV_RANDOM for all of the file */
extern const struct reader_ops reader_random;
/* pread() with O_DIRECT */
extern const struct reader_ops reader_direct;
/*
 * Not a read at all: writes pattern (pattern.h, r->seed) there, by pwritev2(),
 * and has all but the last 4 MiB written back.
 */
extern const struct reader_ops reader_write;
/* The same with RWF_DONTCACHE */
extern const struct reader_ops reader_dontcache_write;
/* Reads nothing: what a run costs, and what it does, without any reading. */
extern const struct reader_ops reader_null;

struct reader {
	const struct reader_ops *ops;
	char path[PATH_MAX];
	int fd;
	off_t size;
	char *buf; /* the last bytes read; @max_len long */
	size_t max_len;
	void *map; /* of the mmap readers */
	unsigned int seen; /* by those: the sum of all bytes touched */
	void *ring; /* of those by io_uring */
	uint64_t seed; /* of the pattern, for those that write */
	bool count_missed; /* try RWF_NOWAIT first (not mmap) */
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

/* reader_close() - also one that is all zeros, or closed already. */
void reader_close(struct reader *r);

#endif
