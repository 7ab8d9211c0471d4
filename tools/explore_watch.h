/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the explorer records of a trial, and the figures that it makes of it.
 */
#ifndef MM_CACHE_EXPLORE_WATCH_H
#define MM_CACHE_EXPLORE_WATCH_H

#include "explore_setting.h"
#include "trial.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Of one pass of the scan; SHARE is a share of 1 of what is named.
 * @FIG_KEPT:    SHARE of the hot set cached at the end of the pass
 * @FIG_LRU_KEPT: SHARE that exact LRU would have kept, of the same requests to the
 *               cache; not where each pass of the scan has an order of its own
 * @FIG_READS:   hot reads during the pass
 * @FIG_MISSED:  SHARE of them that found their page absent
 * @FIG_LRU_MISSED, @FIG_OPT_MISSED: that it would have been for exact LRU, and
 *               for an optimal policy
 * @FIG_SLOW:    SHARE of them that took longer than --limit
 * @FIG_P50 ...: latency of them in us, from when they were due: by the clock what
 *               a late read makes others wait is theirs, too. Each read is
 *               recorded, so quantiles are exact, and no histogram has bins
 * @FIG_REFAULTS, @FIG_ACTIVATED, @FIG_SCANNED, @FIG_STOLEN: pages, by memory.stat;
 *               that of cgroup v1 does not have all of them
 * @FIG_EVICTED: pages of the hot set that reclaim took and nobody has read again,
 *               by cachestat, since the begin of the trial
 * @FIG_LEFT:    MB of the scanned file cached when all is over; of the last pass
 * @FIG_THROUGHPUT: of the scan, MB/s, the hot reads in logical time left out
 * @FIG_AMPLIFICATION: bytes that storage delivered to the trial, for the hot set,
 *               too, by byte that the scan asked for
 * @FIG_PRESSURE: ms that some task waited for memory (PSI of cgroup v2)
 * @FIG_RATE:    hot reads a second, of the whole trial, by the clock
 * @FIG_LATE:    SHARE of those of the whole trial that were made when the next one
 *               was due
 *
 * Of GETs and SCANs, which have one pass, the windows that store.h measures:
 * @FIG_GETS, @FIG_SCANS: made in a second
 * @FIG_MISSED, @FIG_LRU_MISSED: SHARE of the GETs, as above
 * @FIG_WAIT:    us of a GET, in the mean, spent in reading what was not cached
 * @FIG_SCAN_MISSED: SHARE of the pages of SCANs absent when the SCAN began
 * @FIG_REFAULTS, @FIG_ACTIVATED: of the whole trial, its warm-up, too
 * @FIG_WINDOWS: that the warm-up took
 */
enum figure {
	FIG_KEPT,
	FIG_LRU_KEPT,
	FIG_READS,
	FIG_MISSED,
	FIG_LRU_MISSED,
	FIG_OPT_MISSED,
	FIG_SLOW,
	FIG_P50,
	FIG_P99,
	FIG_P999,
	FIG_MAX,
	FIG_REFAULTS,
	FIG_ACTIVATED,
	FIG_SCANNED,
	FIG_STOLEN,
	FIG_EVICTED,
	FIG_LEFT,
	FIG_THROUGHPUT,
	FIG_AMPLIFICATION,
	FIG_PRESSURE,
	FIG_RATE,
	FIG_LATE,
	FIG_GETS,
	FIG_SCANS,
	FIG_WAIT,
	FIG_SCAN_MISSED,
	FIG_WINDOWS,
	NR_FIGURES
};

struct figure_info {
	const char *name;
	const char *unit; /* "%": the value is a share of 1 */
	const char *label; /* for an axis */
};

extern const struct figure_info figures[NR_FIGURES];

/* figure_by_name() - NR_FIGURES when there is none of that name. */
enum figure figure_by_name(const char *name);

/* figure_is_share() - a share of 1, which is shown in percent. */
bool figure_is_share(enum figure figure);

/* NAN: not measured. */
struct pass_figures {
	double of[NR_FIGURES];
};

/* Hot reads by the reuse distance of their page, all passes of all repetitions. */
#define CURVE_BINS 40
#define CURVE_PER_DOUBLING 2
#define CURVE_FIRST -12 /* the first bin ends at 2^-12 of the memory */

struct curve_bin {
	uint64_t reads, kept, lru_kept, opt_kept;
};

#define TIMELINE_PER_PASS 40
#define TIMELINE_MAX (PASSES_MAX * (TIMELINE_PER_PASS + 2))

/*
 * @s:    since the first sample
 * @done: bytes scanned of the pass
 * @reads, @missed: hot reads so far; -1: not known
 */
struct timeline_point {
	unsigned int pass;
	double s;
	double scanned; /* passes so far, with what of this one is done */
	double kept; /* share of 1 */
	uint64_t done;
	int64_t reads, missed;
};

/* What is left of a trial when it was digested. */
struct watched {
	unsigned int nr_passes;
	struct pass_figures pass[PASSES_MAX];
	unsigned int nr_points;
	struct timeline_point point[TIMELINE_MAX];
	uint64_t lost; /* requests beyond what could be recorded */
};

/* watched_nothing() - no pass of @watched has a figure. */
void watched_nothing(struct watched *watched);

struct watch;

/*
 * watch_new() - for a trial of @resolved, with memory that the trial is not
 * charged for. NULL when there is none.
 */
struct watch *watch_new(const struct resolved *resolved);

/* watch_observer() - for trial->observer. */
const struct trial_observer *watch_observer(struct watch *watch);

/*
 * watch_tell() - have @tell called with @arg and each sample, by the process of the
 * trial.
 */
void watch_tell(struct watch *watch,
		void (*tell)(void *arg, const struct trial_sample *sample),
		void *arg);

/*
 * watch_digest() - when the trial is over with @result. Adds to @curve, of
 * CURVE_BINS, unless that is NULL. 0 or -ENOMEM.
 */
int watch_digest(struct watch *watch, const struct trial_result *result,
		 uint64_t memory, struct watched *watched,
		 struct curve_bin *curve);

void watch_free(struct watch *watch);

/* curve_bin_end() - reuse distance at which bin @i ends, in memory limits. */
double curve_bin_end(unsigned int i);

#endif
