/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One big read of each byte of a file, in order or not.
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
	bool random; /* the reads in random order */
	uint64_t order; /* decides in which */
	/*
	 * Besides the reader given to scan_run(): the file is cut into slices,
	 * one for each, and they take turns, each turn on another CPU.
	 */
	struct reader *others;
	unsigned int nr_others;
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

/*
 * permute() - @i's place in a random order of @n things that @seed decides: a
 * Feistel network over the next power of four, walked until it is below @n
 * (Black, Rogaway: Ciphers with Arbitrary Finite Domains, 2002). @i < @n.
 */
uint64_t permute(uint64_t i, uint64_t n, uint64_t seed);

/*
 * take_turn() - run on CPU number @turn of those that this thread may use, counted
 * round; so that per-CPU state of the kernel is what several threads would make
 * of it, and time is still logical. Does nothing for want of more than one.
 */
void take_turn(unsigned int turn);

/* read_bytes_now() - bytes this process made storage deliver; -1: no counter. */
int64_t read_bytes_now(void);

/* sleep_until() - CLOCK_MONOTONIC is @ns; signals do not end it. */
void sleep_until(uint64_t ns);

/* clock_ns() - CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_ns(void);

#endif
