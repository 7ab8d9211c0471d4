// SPDX-License-Identifier: GPL-2.0
#include "exact_lru.h"

#include <math.h>

#define HALVINGS 60

int64_t exact_lru_kept(uint64_t memory, uint64_t hot, uint64_t scan,
		       unsigned int touches)
{
	double rate = touches / 1000.0 / (double)scan;
	double low = 0;
	double high = (double)scan;

	/* Nothing had to go. */
	if (memory >= hot + scan)
		return 1000;
	/* All that was read meanwhile fits, and a part of what was before. */
	if (high + hot * -expm1(-rate * high) < (double)memory)
		return (int64_t)lround(1000.0 * (memory - scan) / hot);
	for (int i = 0; i < HALVINGS; i++) {
		double t = (low + high) / 2;

		if (t + hot * -expm1(-rate * t) < (double)memory)
			low = t;
		else
			high = t;
	}
	return (int64_t)lround(1000 * -expm1(-rate * low));
}
