// SPDX-License-Identifier: GPL-2.0
#include "permille.h"

#include <stdlib.h>
#include <string.h>

int64_t permille(uint64_t part, uint64_t whole)
{
	uint64_t rounded;

	if (!whole || !part)
		return 0;
	rounded = (part * 1000 + whole / 2) / whole;
	if (!rounded)
		return 1;
	if (rounded == 1000 && part < whole)
		return 999;
	return (int64_t)rounded;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct summary summarize(const int64_t *values, unsigned int n)
{
	struct summary s = { .n = n };
	int64_t sorted[n ? n : 1];

	if (!n)
		return s;
	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare);
	s.median = sorted[(n - 1) / 2];
	s.min = sorted[0];
	s.max = sorted[n - 1];
	return s;
}

struct summary best_ratio(const struct summary *a, const struct summary *b)
{
	int64_t ratio = permille(a->max, b->max);

	return (struct summary){ a->n, ratio, ratio, ratio };
}
