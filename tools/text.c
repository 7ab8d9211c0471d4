// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int text_status = 1;

void *need_memory(void *memory)
{
	if (!memory)
		err(text_status, "memory");
	return memory;
}

void *one_more(void *array, size_t *nr, size_t size)
{
	char *elements;

	memcpy(&elements, array, sizeof(elements));
	if (!(*nr & (*nr - 1))) {
		elements = need_memory(
			reallocarray(elements, *nr ? 2 * *nr : 1, size));
		memcpy(array, &elements, sizeof(elements));
	}
	return memset(elements + (*nr)++ * size, 0, size);
}

char *text(const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		s = NULL;
	va_end(args);
	return need_memory(s);
}
