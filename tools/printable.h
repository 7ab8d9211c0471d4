/* SPDX-License-Identifier: GPL-2.0 */
/* What of the bytes of a log may be shown. */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stddef.h>

/*
 * printable() - a copy in which all bytes that are no UTF-8, or control characters,
 * are \xNN; NULL without memory.
 */
char *printable(const char *s);

/* printable_columns() - that @s, which is printable, takes on a terminal. */
size_t printable_columns(const char *s);

#endif
