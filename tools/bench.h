/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of mm-cache-bench share: the lab with two files on its scratch
 * file system, how much is to be measured, and how a figure is told.
 */
#ifndef MM_CACHE_BENCH_H
#define MM_CACHE_BENCH_H

#include "experiment.h"
#include "lab.h"
#include "permille.h"
#include "reader.h"

#include <stdbool.h>
#include <stdint.h>

struct hot_set;

#define BENCH_KIB 1024
#define BENCH_MIB (1024 * 1024)
#define BENCH_VALUES 99 /* of one figure, at most */
#define BENCH_ROWS 64
#define BENCH_SCAN_LIMITS 3 /* memory limits that a test scans */

/*
 * @pairs:       of one measurement of ours and one of fio's
 * @scan_limits: size of the scan file, in memory limits
 * @pass_ns:     a read from the cache takes so long at least
 */
struct bench_effort {
	unsigned int pairs;
	unsigned int scan_limits;
	uint64_t pass_ns;
	unsigned int pace_runs;
	unsigned int pace_s;
	unsigned int trials;
	unsigned int cases; /* of cached pages, counted by both meters */
};

struct bench_row {
	char name[64];
	const char *unit;
	struct summary s;
	struct bound wanted;
};

struct bench {
	struct lab lab;
	struct bench_effort effort;
	unsigned int nr_rows;
	struct bench_row rows[BENCH_ROWS]; /* of figures with a bound */
};

/* The sections: 0, or -errno with lab.failure when one could not be measured. */
int bench_scan(struct bench *b);
int bench_touch(struct bench *b);
int bench_pace(struct bench *b);
int bench_charge(struct bench *b);
int bench_meters(struct bench *b);

/*
 * bench_report() - print the line of a figure, and keep it for the table unless
 * @kind is NO_BOUND. Its name is @group, a dot and @name.
 */
void bench_report(struct bench *b, const char *group, const char *name,
		  const char *unit, const struct summary *s,
		  enum bound_kind kind, int64_t wanted);

/* bench_report_one() - a figure that is one number, and has no bound. */
void bench_report_one(struct bench *b, const char *group, const char *name,
		      const char *unit, int64_t value);

/* bench_table() - print the figures that have a bound. */
void bench_table(const struct bench *b);

/* CPU time of the machine and ours */
struct bench_load {
	uint64_t machine_ns;
	uint64_t own_ns;
	uint64_t ns;
};

struct bench_load bench_load_begin(void);

/*
 * bench_load_end() - share of the CPUs that others took since, in permille.
 * Threads of the kernel that worked for us count as others: those of the loop
 * device in a cold scan.
 */
int64_t bench_load_end(const struct bench_load *before);

/* Sizes of HOT_FILE and SCAN_FILE in bytes. */
uint64_t bench_hot_bytes(const struct bench *b);
uint64_t bench_scan_bytes(const struct bench *b);

/* Each of these returns 0, or -errno with lab.failure. */

int bench_lay_out(struct bench *b);

/* bench_open() - by pread(), in reads of @buffer bytes at most. */
int bench_open(struct bench *b, struct reader *r, const char *file,
	       size_t buffer);

int bench_open_hot(struct bench *b, struct hot_set *hot);

int bench_count(struct bench *b, const struct reader *r,
		struct residency *count);

/* bench_drop() - from the cache, verified. */
int bench_drop(struct bench *b, const char *file);

/* bench_cache() - read what is absent, and verify that then nothing is. */
int bench_cache(struct bench *b, const char *file);

/* bench_readahead() - of files opened from now on: as for the tests, or none. */
int bench_readahead(struct bench *b, bool on);

#endif
