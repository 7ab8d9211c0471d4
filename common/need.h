/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a test lacks. All missing things are collected before one SKIP tells
 * them together, so that nobody mends one only to meet the next.
 */
#ifndef MM_CACHE_NEED_H
#define MM_CACHE_NEED_H

#include <stdbool.h>
#include <stddef.h>

#define NEEDS_MAX 8

/*
 * @what:   a name that never changes with the machine (parsers append skip
 *          reasons to test names), e.g. "CONFIG_LRU_GEN"
 * @detail: what was found, with its numbers, and what would do
 */
struct need {
	char what[80];
	char detail[320];
};

struct needs {
	unsigned int nr;
	struct need list[NEEDS_MAX];
};

/*
 * need_add() - note that @what is missing; a @what already noted is kept once.
 * Beyond NEEDS_MAX the rest is dropped: eight missing things are enough to say.
 */
__attribute__((format(printf, 3, 4))) void
need_add(struct needs *needs, const char *what, const char *fmt, ...);

/* needs_merge() - add all of @from to @to. */
void needs_merge(struct needs *to, const struct needs *from);

/* needs_reason() - "need: A, B" in @buf of @len bytes; "" when none. @buf. */
const char *needs_reason(const struct needs *needs, char *buf, size_t len);

static inline bool needs_any(const struct needs *needs)
{
	return needs->nr > 0;
}

#endif
