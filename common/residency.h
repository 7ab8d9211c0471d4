/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of a file are cached.
 */
#ifndef MM_CACHE_RESIDENCY_H
#define MM_CACHE_RESIDENCY_H

#include <stdint.h>
#include <sys/types.h>

struct needs;

enum residency_meter { METER_NONE, METER_CACHESTAT, METER_MINCORE };

/*
 * In pages.
 * @evicted: that were reclaimed and not read again, -1 with mincore().
 *           Dropping by fadvise leaves no trace there (no shadow entry), so
 *           0 means that reclaim took nothing.
 * @dirty:   not yet written back, -1 with mincore()
 */
struct residency {
	int64_t pages;
	int64_t cached;
	int64_t evicted;
	int64_t dirty;
};

/*
 * residency_choose() - a meter that can be trusted for files like @fd: an
 * empty file open for reading and writing, which this makes two pages long and
 * reads the first of. A meter must call the first cached and the second, never
 * read, not (mincore() says "all" to whoever may not write the file).
 * METER_NONE, with an entry in @needs, when there is none.
 */
enum residency_meter residency_choose(int fd, struct needs *needs);

const char *residency_meter_name(enum residency_meter meter);

/*
 * residency_read() - count for bytes [@pos, @pos + @len) of @fd; @len > 0.
 * 0 or -errno.
 */
int residency_read(enum residency_meter meter, int fd, off_t pos, off_t len,
		   struct residency *residency);

/*
 * residency_drop() - drop all of @fd from the cache and verify that nothing
 * is left, again and again for at most @timeout_ms: pages on their way to an
 * LRU list cannot be dropped. Nor may there be a trace of what was reclaimed
 * earlier, where the meter sees that: a page that comes back as a refault goes
 * to the active list at once. 0, -EBUSY when some stayed, or -errno.
 */
int residency_drop(enum residency_meter meter, int fd, int timeout_ms);

#endif
