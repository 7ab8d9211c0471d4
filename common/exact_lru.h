/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What exact LRU would keep: the yardstick beside what a kernel keeps.
 */
#ifndef MM_CACHE_EXACT_LRU_H
#define MM_CACHE_EXACT_LRU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * exact_lru_kept() - permille of a hot set that a cache of @memory keeps under
 * exact LRU while a file of @scan is read once and each hot page is read
 * @touches (permille) times meanwhile, in random order, having been read once
 * before. Sizes in one unit.
 *
 * Che's approximation (Che, Tung, Wang: Hierarchical Web caching systems, IEEE
 * JSAC 20(7), 2002): a page is kept when it was read within the last t of the
 * scan, where t solves  t + @hot * (1 - exp(-@touches * t / @scan)) = @memory.
 */
int64_t exact_lru_kept(uint64_t memory, uint64_t hot, uint64_t scan,
		       unsigned int touches);

/*
 * A cache by exact LRU of requests one by one, in constant time each.
 * @newer, @older: of each page the next one in a ring, in which page number
 *                 @pages stands between the newest and the oldest; of a page that
 *                 is not held, itself
 */
struct lru {
	uint32_t *newer;
	uint32_t *older;
	uint32_t pages;
	uint32_t capacity;
	uint32_t held;
};

/* lru_begin() - an empty one of @capacity, at least 1, of @pages; 0 or -ENOMEM. */
int lru_begin(struct lru *lru, uint32_t pages, uint32_t capacity);

/* lru_ask() - whether @page was held; from now on it is, as the newest. */
bool lru_ask(struct lru *lru, uint32_t page);

void lru_end(struct lru *lru);

#endif
