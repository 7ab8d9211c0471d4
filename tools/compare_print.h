/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A comparison on paper: a table for a terminal, Markdown for a mail, JSON with
 * everything, JUnit XML for a CI. A report of broken input says so in each.
 *
 * JSON: verdict, further_blocks, family, fail_level, pass_level, refused, notes,
 * comparisons[]: a, b (name, path, logs, env, reclaim, died), design, blocks,
 * verdict, reasons, results[], numbers[]. Values are raw, in the unit named; an
 * end of an interval that is not known is null.
 */
#ifndef COMPARE_PRINT_H
#define COMPARE_PRINT_H

#include "compare.h"

#include <stdbool.h>
#include <stdio.h>

/* @verbose: also the numbers that are only shown, and those without any change */
void compare_print_table(FILE *out, const struct compare_report *report,
			 bool verbose);
void compare_print_markdown(FILE *out, const struct compare_report *report,
			    bool verbose);
void compare_print_junit(FILE *out, const struct compare_report *report);
/* 0 or -errno */
int compare_print_json(FILE *out, const struct compare_report *report);

#endif
