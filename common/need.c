// SPDX-License-Identifier: GPL-2.0
#include "need.h"

#include "one_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool needs_has(const struct needs *needs, const char *what)
{
	for (unsigned int i = 0; i < needs->nr; i++)
		if (!strcmp(needs->list[i].what, what))
			return true;
	return false;
}

void need_add(struct needs *needs, const char *what, const char *fmt, ...)
{
	struct need *need;
	va_list ap;

	if (needs->nr == NEEDS_MAX || needs_has(needs, what))
		return;
	need = &needs->list[needs->nr++];
	snprintf(need->what, sizeof(need->what), "%s", what);
	va_start(ap, fmt);
	vsnprintf(need->detail, sizeof(need->detail), fmt, ap);
	va_end(ap);
	one_line(need->what);
	one_line(need->detail);
}

void needs_merge(struct needs *to, const struct needs *from)
{
	for (unsigned int i = 0; i < from->nr; i++)
		need_add(to, from->list[i].what, "%s", from->list[i].detail);
}

const char *needs_reason(const struct needs *needs, char *buf, size_t len)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < needs->nr && used < len; i++)
		used += snprintf(buf + used, len - used, "%s%s",
				 i ? ", " : "need: ", needs->list[i].what);
	return buf;
}
