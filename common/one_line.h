/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that are printed as one line, whatever names a user gave.
 */
#ifndef MM_CACHE_ONE_LINE_H
#define MM_CACHE_ONE_LINE_H

/*
 * one_line() - put '?' for each control character of @text: a path may hold a
 * newline, and what follows it would count as a line of KTAP.
 */
void one_line(char *text);

#endif
