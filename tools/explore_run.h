/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a plan, in a process of its own for each file system, which has a lab.
 */
#ifndef MM_CACHE_EXPLORE_RUN_H
#define MM_CACHE_EXPLORE_RUN_H

#include "env.h"
#include "explore_plan.h"
#include "explore_watch.h"
#include "options.h"

#include <stdbool.h>

#define REPS_MAX 99

/*
 * What a run of the plan gave; in memory shared with the process that ran it.
 * @why: it was not measured, or not to the end: the reason; "" else
 * @watched: one for each repetition
 */
struct run_result {
	char why[400];
	unsigned int reps;
	uint64_t memory;
	double wanted; /* hot reads a second, by the clock */
	struct curve_bin curve[CURVE_BINS];
	struct watched *watched;
};

/*
 * @options: what the environment said; the knobs of a run win
 * @env:     of the last lab, when it has been open
 * @stopped: the signal that ended it early, or 0
 * @results: one for each run
 */
struct exploration {
	const struct plan *plan;
	struct options options;
	double scale;
	unsigned int reps;
	bool quiet;
	struct env *env;
	int stopped;
	struct run_result *results;
};

/* exploration_new() - memory for the results. 0 or -ENOMEM. */
int exploration_new(struct exploration *e);

/*
 * exploration_run() - all of it, @reps times, as far as signals let it. Progress
 * goes to stderr. 0, or -errno when a part of it failed, which was said there.
 */
int exploration_run(struct exploration *e);

/* What the repetitions of a run gave for one figure; n 0: nothing. */
struct spread {
	unsigned int n;
	double mean, median, min, max;
};

struct spread spread_of(const struct run_result *result, unsigned int pass,
			enum figure figure);

/* run_title() - the knobs of a run that differ within the plan. @buf. */
const char *run_title(const struct plan *plan, unsigned int run, char *buf,
		      size_t len);

#endif
