/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Controls that several programs run beside their property: an arm each, with
 * the bound that makes a run inconclusive.
 */
#ifndef MM_CACHE_ARMS_H
#define MM_CACHE_ARMS_H

#include "experiment.h"

/*
 * Permille of the set still cached. 0 and 1000 were seen in every repetition,
 * on 6.12, 6.18 and 7.3, classic and MGLRU.
 */
#define ONCE_KEPT_MAX 100 /* above: no pressure, or a bad meter */
#define UNSCANNED_KEPT_MIN 990 /* below: something else evicts */

/* A set read once by pread() and left alone: the scan must take it. */
#define ARM_ONCE                                                               \
	{                                                                      \
		.name = "once", .warm = 1, .warm_by = &reader_pread,           \
		.idle = true,                                                  \
		.bounds = {                                                    \
			{ KEPT, AT_MOST, ONCE_KEPT_MAX,                        \
			  .doubt =                                             \
				  "the scan spared a set that was read once" } \
		},                                                             \
	}

/* The hot set as the workload has it, and no scan: it must stay. */
#define ARM_UNSCANNED                                                         \
	{                                                                     \
		.name = "unscanned", .scan_by = &reader_null,                 \
		.bounds = { { KEPT, AT_LEAST, UNSCANNED_KEPT_MIN,             \
			      .doubt = "the hot set shrank with no scan" } }, \
	}

/*
 * For scans that may take nothing: a set read once and left alone is next in
 * line, so it is the sharpest meter. What the scan leaves of it is judged.
 */
#define ARM_ONCE_SPARED                                       \
	{                                                     \
		.name = "once", .warm = 1, .idle = true,      \
		.bounds = {                                   \
			{ KEPT, AT_LEAST, 1000,               \
			  "the scan cost pages of the set" }, \
			{ EVICTED, AT_MOST, 0,                \
			  "reclaim took pages of the set" },  \
		},                                            \
	}

/* The same set, and a scan by @by that is not meant to spare it. */
#define ARM_ONCE_PLAIN(by)                                                         \
	{                                                                          \
		.name = "once_plain", .warm = 1, .idle = true,                     \
		.scan_by = (by),                                                   \
		.bounds = {                                                        \
			{ KEPT, AT_MOST, ONCE_KEPT_MAX,                            \
			  .doubt =                                                 \
				  "a plain scan spared a set that was read once" } \
		},                                                                 \
	}

/* The same set, and no scan. */
#define ARM_ONCE_UNSCANNED                                                         \
	{                                                                          \
		.name = "unscanned", .warm = 1, .idle = true,                      \
		.scan_by = &reader_null,                                           \
		.bounds = {                                                        \
			{ KEPT, AT_LEAST, 1000,                                    \
			  .doubt =                                                 \
				  "a set that was read once shrank with no scan" } \
		},                                                                 \
	}

#endif
