// SPDX-License-Identifier: GPL-2.0
#include "failure.h"

#include "one_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int failure_note(struct failure *failure, int err, const char *fmt, ...)
{
	va_list ap;
	int used;

	if (failure->err)
		return err;
	failure->err = err;
	va_start(ap, fmt);
	used = vsnprintf(failure->text, sizeof(failure->text), fmt, ap);
	va_end(ap);
	if (used >= 0 && (size_t)used < sizeof(failure->text))
		snprintf(failure->text + used, sizeof(failure->text) - used,
			 ": %s", strerror(-err));
	one_line(failure->text);
	return err;
}
