// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>

int text_status = 1;

void *need_memory(void *memory)
{
	if (!memory)
		err(text_status, "memory");
	return memory;
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
