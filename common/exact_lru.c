// SPDX-License-Identifier: GPL-2.0
#include "exact_lru.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

int lru_begin(struct lru *lru, uint32_t pages, uint32_t capacity)
{
	size_t len = ((size_t)pages + 1) * sizeof(*lru->newer);

	*lru = (struct lru){ .pages = pages, .capacity = capacity };
	lru->newer = malloc(len);
	lru->older = malloc(len);
	if (!lru->newer || !lru->older) {
		lru_end(lru);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i <= pages; i++) {
		lru->newer[i] = i;
		lru->older[i] = i;
	}
	return 0;
}

static void take_out(struct lru *lru, uint32_t page)
{
	lru->newer[lru->older[page]] = lru->newer[page];
	lru->older[lru->newer[page]] = lru->older[page];
	lru->newer[page] = page;
	lru->older[page] = page;
}

bool lru_ask(struct lru *lru, uint32_t page)
{
	uint32_t ring = lru->pages;
	bool held = lru->newer[page] != page;

	if (!held && lru->held == lru->capacity)
		take_out(lru, lru->newer[ring]); /* the oldest */
	else if (!held)
		lru->held++;
	if (held)
		take_out(lru, page);
	lru->newer[page] = ring;
	lru->older[page] = lru->older[ring];
	lru->newer[lru->older[ring]] = page;
	lru->older[ring] = page;
	return held;
}

void lru_end(struct lru *lru)
{
	free(lru->newer);
	free(lru->older);
}
