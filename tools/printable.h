/* SPDX-License-Identifier: GPL-2.0 */
/* What of the bytes of a log may be shown. */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stddef.h>

/*
 * printable_len() - bytes of the character at @s if it is UTF-8 and no control
 * character; else, and at the end, 0.
 */
size_t printable_len(const char *s);

/* printable() - a copy with all other bytes as \xNN; NULL without memory. */
char *printable(const char *s);

/* printable_columns() - that @s, which is printable, takes on a terminal. */
size_t printable_columns(const char *s);

#endif
