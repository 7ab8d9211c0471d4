/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What other caches would have made of the same requests: exact LRU, and an
 * optimal policy that knows the future.
 *
 * Optimal is Belady's (A study of replacement algorithms for a virtual-storage
 * computer, IBM Systems Journal 5(2), 1966), which makes room by what is needed
 * last, and here also may keep nothing of a request. No policy has fewer misses,
 * of all requests: where a scan is repeated, it may give the place of a hot page
 * that is read less often than the scan comes by. Nothing is read ahead.
 */
#ifndef MM_CACHE_EXPLORE_REPLAY_H
#define MM_CACHE_EXPLORE_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#define NEVER UINT32_MAX

/*
 * @distance: how many other pages were asked for since this one was the last
 *            time; NEVER: it was not
 * @optimal:  1: it would have been there
 * Exact LRU has it if @distance is less than the pages that the cache holds.
 */
struct replayed {
	uint32_t distance;
	uint8_t optimal;
};

/*
 * replay() - @n requests for pages below @pages, in order, to a cache of
 * @capacity pages that is empty at first. @replayed: @n of them. 0 or -ENOMEM.
 */
int replay(const uint32_t *requests, size_t n, uint32_t pages,
	   uint32_t capacity, struct replayed *replayed);

#endif
