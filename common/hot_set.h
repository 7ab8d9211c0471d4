/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is read again and again, page by page, in random order or in
 * order.
 */
#ifndef MM_CACHE_HOT_SET_H
#define MM_CACHE_HOT_SET_H

#include "reader.h"

#include <stdbool.h>
#include <stdint.h>

struct failure;
struct zipf;

/*
 * One read of the hot set, for who watches.
 * @due_ns: when it was to be made: by the clock its deadline, else when it was
 *          made. What a late read makes another one wait counts for that one.
 * @missed: its page was absent: RWF_NOWAIT said so, or there was a major fault
 * @unknown: nothing says so: the file system has no RWF_NOWAIT
 */
struct hot_read {
	uint64_t page;
	uint64_t due_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	bool missed;
	bool unknown;
};

struct hot_set {
	struct reader reader;
	struct reader others[READERS_MAX - 1]; /* take turns with it */
	unsigned int nr_others;
	bool sequential; /* touched in order, round and round */
	uint64_t pages;
	uint64_t random; /* state of the generator */
	struct zipf *zipf; /* NULL: all pages are as popular */
	uint64_t order; /* decides which pages are the popular ones */
	uint64_t touched; /* reads so far */
	uint64_t late; /* by the clock: reads issued when the next was due */
	uint64_t due; /* by the clock: of the last read; 0: it begins now */
	void (*observe)(void *arg, const struct hot_read *read); /* or NULL */
	void *observe_arg;
};

/*
 * hot_set_open() - @path, to be read by @ops; @seed decides in which order.
 * hot->sequential and hot->observe may be set afterwards. 0 or -errno.
 */
int hot_set_open(struct hot_set *hot, const struct reader_ops *ops,
		 const char *path, uint64_t seed);

/*
 * hot_set_zipf() - some pages are read more often than others: the k-th most
 * popular one with a share proportional to k^-@exponent. Which ones these are,
 * all over the file, @order decides. 0 or -ENOMEM.
 */
int hot_set_zipf(struct hot_set *hot, double exponent, uint64_t order);

/*
 * hot_set_join() - have it touched by @readers (1 to READERS_MAX) in turn,
 * each with a descriptor or mapping of its own and on another CPU. 0 or -errno.
 */
int hot_set_join(struct hot_set *hot, unsigned int readers);

/*
 * hot_set_missed() - reads by all of them that found their page absent; -1 when the
 * file system does not tell.
 */
int64_t hot_set_missed(const struct hot_set *hot);

void hot_set_close(struct hot_set *hot);

/*
 * hot_set_warm() - read it once from start to end by @ops, in 128 KiB reads.
 * With the @ops of hot_set_open() the same descriptor or mapping is used, and
 * stays. 0, or -errno with @failure.
 */
int hot_set_warm(struct hot_set *hot, const struct reader_ops *ops,
		 struct failure *failure);

/*
 * hot_set_touch() - read 4 KiB of a random page until @hot->touched is
 * @target. 0, or -errno with @failure.
 */
int hot_set_touch(struct hot_set *hot, uint64_t target,
		  struct failure *failure);

/*
 * hot_set_pace() - by the clock: a read each @period_ns (0: without pause) until
 * @stop becomes true, with absolute deadlines, so that a late read delays no
 * other. 0, or -errno with @failure.
 */
int hot_set_pace(struct hot_set *hot, uint64_t period_ns,
		 const volatile bool *stop, struct failure *failure);

#endif
