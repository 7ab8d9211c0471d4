/* SPDX-License-Identifier: GPL-2.0 */
/* What mm-cache-leveldb prints of a run, as KTAP diagnostics. */
#ifndef MM_CACHE_LEVELDB_REPORT_H
#define MM_CACHE_LEVELDB_REPORT_H

#include "leveldb_run.h"
#include "leveldb_setting.h"

#define LEVELDB_DELAYACCT "/proc/sys/kernel/task_delayacct"

enum leveldb_figure {
	LDB_WRONG,
	LDB_READ,
	LDB_OPS,
	LDB_GET_RATE,
	LDB_SCAN_RATE,
	LDB_GET_MISS,
	LDB_SCAN_MISS,
	LDB_GET_WAIT,
	LDB_SCAN_WAIT,
	LDB_GET_READ,
	LDB_GET_FAULTS,
	LDB_SCAN_FAULTS,
	LDB_PER_SCAN,
	LDB_REFAULTS,
	LDB_ACTIVATIONS,
	LDB_MAPPED,
	LDB_ANON,
	LDB_WARM_UP,
	LDB_SETTLED,
	LDB_TIME,
	NR_LEVELDB_FIGURES
};

/*
 * leveldb_figures() - the figures of one repetition, in @v; those that were not
 * measured are left out when they are printed, as those of delay accounting without
 * @waits.
 */
void leveldb_figures(const struct leveldb_setting *asked,
		     const struct leveldb_result *r, bool waits,
		     int64_t v[NR_LEVELDB_FIGURES]);

/* leveldb_print_figures() - a "# metric" line each, of @reps repetitions. */
void leveldb_print_figures(const char *label, unsigned int reps,
			   int64_t values[NR_LEVELDB_FIGURES][LEVELDB_REPS_MAX]);

/* leveldb_print_setting() - the "# env" lines of what was asked for. */
void leveldb_print_setting(const struct leveldb_setting *asked, bool waits);

#endif
