/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables, CSV and JSON of an exploration.
 */
#ifndef MM_CACHE_EXPLORE_REPORT_H
#define MM_CACHE_EXPLORE_REPORT_H

#include "explore_run.h"

#include <stdio.h>

/* report_run() - that a row shows in a column; -1: none was measured. */
int report_run(const struct exploration *e, const struct row *row,
	       const struct column *column);

/* report_table() - in Markdown, with its caption and what could not be run. */
void report_table(const struct exploration *e, FILE *out);

/* report_details() - every figure of every run. */
void report_details(const struct exploration *e, FILE *out);

/* report_csv() - a line for each pass of each repetition. */
void report_csv(const struct exploration *e, FILE *out);

/* report_json() - 0; -EIO; or -EOPNOTSUPP when it was built without jansson. */
int report_json(const struct exploration *e, FILE *out);

/*
 * report_load() - what report_json() wrote of the same plan to file @path, in place
 * of a measurement: e->scale, e->reps and the results. 0 or -errno with a sentence
 * in @why.
 */
int report_load(struct exploration *e, const char *path, char *why, size_t len);

#endif
