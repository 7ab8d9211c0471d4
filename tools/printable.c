// SPDX-License-Identifier: GPL-2.0
#include "printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes of the character at @s if it is UTF-8 and no control character; else, and
 * at the end, 0.
 */
static size_t printable_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t len, i;

	if (*u < 0x80)
		return *u >= 0x20 && *u != 0x7f;
	len = *u >= 0xf0 ? 4 : *u >= 0xe0 ? 3 : 2;
	if (*u < 0xc2 || *u > 0xf4)
		return 0;
	for (i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Overlong, surrogates, too large, and the C1 controls */
	if ((*u == 0xe0 && u[1] < 0xa0) || (*u == 0xed && u[1] > 0x9f) ||
	    (*u == 0xf0 && u[1] < 0x90) || (*u == 0xf4 && u[1] > 0x8f) ||
	    (*u == 0xc2 && u[1] < 0xa0))
		return 0;
	return len;
}

char *printable(const char *s)
{
	char *out = malloc(4 * strlen(s) + 1), *to = out;
	size_t len;

	if (!out)
		return NULL;
	while (*s) {
		len = printable_len(s);
		if (!len) {
			to += sprintf(to, "\\x%02x", (unsigned char)*s++);
			continue;
		}
		memcpy(to, s, len);
		to += len;
		s += len;
	}
	*to = '\0';
	return out;
}

size_t printable_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}
