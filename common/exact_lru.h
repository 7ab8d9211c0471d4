/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What exact LRU would keep: the yardstick beside what a kernel keeps.
 */
#ifndef MM_CACHE_EXACT_LRU_H
#define MM_CACHE_EXACT_LRU_H

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

#endif
