/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Figures of an exploration, drawn by gnuplot: each as SVG and as PNG.
 */
#ifndef MM_CACHE_EXPLORE_FIGURE_H
#define MM_CACHE_EXPLORE_FIGURE_H

#include "explore_run.h"

/*
 * @name: of the files, without .svg and .png. 0; -ENODATA when there is nothing to
 * draw; -EOPNOTSUPP when there is no gnuplot; -EIO when it failed, which it said.
 */

/* figure_table() - the rows of the table that show the drawn figure, with ranges. */
int figure_table(const struct exploration *e, const char *name);

/* figure_timeline() - what is cached of the hot set, and its misses, over time. */
int figure_timeline(const struct exploration *e, const char *name);

/* figure_curve() - hits by reuse distance, beside exact LRU and an optimal policy. */
int figure_curve(const struct exploration *e, const char *name);

#endif
