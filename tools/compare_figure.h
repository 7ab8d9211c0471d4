/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A comparison as a figure: the retention of each arm with its range, and the
 * intervals of all asserted numbers, in margins, so that they share an axis.
 */
#ifndef COMPARE_FIGURE_H
#define COMPARE_FIGURE_H

#include "compare.h"

/*
 * compare_figure() - draw @path, which ends in .svg or .png, by gnuplot.
 * false, and said on stderr why not.
 */
bool compare_figure(const char *path, const struct compare_report *report);

#endif
