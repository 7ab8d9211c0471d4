/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Figures by gnuplot, which reads its commands from a pipe.
 */
#ifndef MM_CACHE_GNUPLOT_H
#define MM_CACHE_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* gnuplot_kind() - whether @path ends in .svg or .png, which it can write. */
bool gnuplot_kind(const char *path);

/* gnuplot_quote() - @text as one of its strings, whatever is in it. */
void gnuplot_quote(FILE *to, const char *text);

/* gnuplot_found() - whether there is one, before it is needed. */
bool gnuplot_found(void);

/*
 * gnuplot_draw() - have what @script writes drawn to @path, @width by @height
 * pixels. What was there goes first: an old figure would be taken for the new
 * one. 0; -EOPNOTSUPP: there is no gnuplot; -EIO: it drew nothing, and said why
 * on standard error; or another -errno.
 */
int gnuplot_draw(const char *path, unsigned int width, unsigned int height,
		 void (*script)(FILE *to, const void *arg), const void *arg);

#endif
