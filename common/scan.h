/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One big read from the first byte to the last.
 */
#ifndef MM_CACHE_SCAN_H
#define MM_CACHE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct failure;
struct reader;

struct scan {
	off_t from; /* first byte */
	off_t to; /* end; 0: that of the file */
	size_t buffer; /* bytes per read, at most the reader's max_len */
	bool verify; /* check what was read against the pattern */
	uint64_t seed; /* of the pattern */
	/*
	 * Called after each read with the bytes scanned so far and the sum to
	 * come to: logical time. 0, or -errno to stop. NULL: nothing.
	 */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * @bytes:      asked for by the reads
 * @ns:         on the monotonic clock, @progress and checks included
 * @read_bytes: that this process made storage deliver meanwhile
 *              (/proc/self/io), -1 where the kernel does not count it
 * @bad_words:  8-byte words that were not what the file holds
 */
struct scan_result {
	uint64_t bytes;
	uint64_t ns;
	int64_t read_bytes;
	uint64_t bad_words;
};

/*
 * scan_run() - read all of it once. 0, or -errno with @failure, which names
 * the file and the offset.
 */
int scan_run(struct reader *r, const struct scan *scan,
	     struct scan_result *result, struct failure *failure);

/* read_bytes_now() - bytes this process made storage deliver; -1: no counter. */
int64_t read_bytes_now(void);

/* clock_ns() - CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_ns(void);

#endif
