/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be run, and which table is made of it: from the command line, or
 * from a recipe, a small text file:
 *
 *   title  TEXT                          of the table and the figure
 *   set    KNOB=VALUE...                 for all runs below
 *   run    KNOB=VALUE[,VALUE...]...      every combination of these
 *   column LABEL KNOB=VALUE...           of the table: runs with these values
 *   row    LABEL FIGURE pass=N KNOB=VALUE... [report TEXT...]
 *                                        what to show, of which runs; what a
 *                                        report gave, for each column
 *   change LABEL                         one more column: the change from the first
 *                                        one to the second, of two
 *   figure FIGURE [log]                  draw the rows that show it
 *
 * A TEXT or LABEL of several words is put in double quotes; # begins a comment.
 */
#ifndef MM_CACHE_EXPLORE_PLAN_H
#define MM_CACHE_EXPLORE_PLAN_H

#include "explore_setting.h"
#include "explore_watch.h"

#include <stdbool.h>
#include <stddef.h>

#define RUNS_MAX 512
#define COLUMNS_MAX 12
#define ROWS_MAX 64
#define LABEL_MAX 64

/* Knobs that a run must have at these values; an empty text: any. */
struct filter {
	char value[NR_KNOBS][KNOB_TEXT];
};

struct column {
	char label[LABEL_MAX];
	struct filter filter;
};

/* @pass: from 1 */
struct row {
	char label[LABEL_MAX];
	enum figure figure;
	unsigned int pass;
	struct filter filter;
	char report[COLUMNS_MAX][LABEL_MAX];
};

struct plan {
	char title[160];
	unsigned int nr_runs;
	struct setting runs[RUNS_MAX];
	unsigned int nr_columns;
	struct column columns[COLUMNS_MAX];
	char change[LABEL_MAX]; /* label of that column; "": none */
	unsigned int nr_rows;
	struct row rows[ROWS_MAX];
	enum figure drawn;
	bool log;
	bool reported; /* some row has what a report gave */
};

/*
 * One value or several, separated by commas, for some knobs: what a run line and
 * the command line hold. An empty text: not given.
 */
struct lists {
	char value[NR_KNOBS][256];
};

/*
 * plan_read() - the recipe at @path; @given: these win over what it says. 0;
 * -EINVAL, or another -errno, with a sentence in @why: the file, the line, what
 * is wrong.
 */
int plan_read(struct plan *plan, const char *path, const struct lists *given,
	      char *why, size_t len);

/*
 * plan_sweep() - every combination of @given; the table has a row for each value
 * of the knob that has most, and a column for each combination of the others.
 * @show: the figure in it. 0 or -EINVAL with a sentence in @why.
 */
int plan_sweep(struct plan *plan, const struct lists *given, enum figure show,
	       char *why, size_t len);

/* filter_matches() - whether @setting has all of its values. */
bool filter_matches(const struct filter *filter, const struct setting *setting);

#endif
