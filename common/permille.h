/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares and summaries in integers: the kselftest harness prints no doubles.
 */
#ifndef MM_CACHE_PERMILLE_H
#define MM_CACHE_PERMILLE_H

#include <stdint.h>

/*
 * What repeated measurements of one quantity gave, in that quantity's unit.
 * @n:      how many values; 0 means that nothing was measured
 * @median: the middle value; the lower of the two middle ones for an even @n,
 *          so that it is always a value that was seen
 */
struct summary {
	unsigned int n;
	int64_t median;
	int64_t min;
	int64_t max;
};

/*
 * permille() - @part of @whole in thousandths, rounded to nearest.
 *
 * 0 when @whole is 0. As long as @part <= @whole, 1000 is returned for all of it
 * only and 0 for none only: a lone page must not round away. @part is at most
 * UINT64_MAX / 1001.
 */
int64_t permille(uint64_t part, uint64_t whole);

/*
 * best_ratio() - largest value of @a in permille of that of @b, for rates that
 * were measured side by side: other load on the machine only ever lowers one.
 * One figure, so that median, min and max are the same; n is that of @a.
 */
struct summary best_ratio(const struct summary *a, const struct summary *b);

/* summarize() - summary of @n values; the array is left as it was. */
struct summary summarize(const int64_t *values, unsigned int n);

#endif
