/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of a file by fio, as something to compare with.
 */
#ifndef MM_CACHE_FIO_H
#define MM_CACHE_FIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;

/*
 * @dir:    where fio is started, so that its own rules for names, and those of
 *          JSON, matter to @file only
 * @random: in random order, else from the first byte to the last
 * @buffer: bytes per read
 * @bytes:  to read in all; if that is more than the file, again from its start
 */
struct fio_job {
	const char *dir;
	const char *file;
	bool random;
	size_t buffer;
	uint64_t bytes;
};

/* What it read and how long that took, its own start not included. */
struct fio_result {
	uint64_t bytes;
	uint64_t ms;
};

/* fio_version() - what it says of itself in @buf; 0, -ENOENT without fio. */
int fio_version(char *buf, size_t len);

/*
 * fio_run() - by the psync engine: one pread() after the other into one buffer.
 * No hint to the kernel, nothing dropped from the cache before; and, as fio is
 * fastest so, a buffer that begins with a page, no clock read for each I/O, and
 * no map of the blocks read so far.
 * 0, or -errno with @failure.
 */
int fio_run(const struct fio_job *job, struct fio_result *result,
	    struct failure *failure);

/* fio_parse() - the part of fio_run() that reads fio's JSON; 0 or -EPROTO. */
int fio_parse(const char *json, struct fio_result *result);

#endif
