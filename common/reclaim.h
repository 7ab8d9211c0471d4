/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which page reclaim runs: the classic active and inactive lists, or MGLRU.
 */
#ifndef MM_CACHE_RECLAIM_H
#define MM_CACHE_RECLAIM_H

#include <stddef.h>

struct keeper;
struct needs;

enum reclaim { RECLAIM_ANY, RECLAIM_CLASSIC, RECLAIM_MGLRU };

/* reclaim_name() - "any", "classic" or "mglru". */
const char *reclaim_name(enum reclaim reclaim);

/* reclaim_by_name() - the reverse for classic and mglru; 0 or -EINVAL. */
int reclaim_by_name(const char *name, enum reclaim *reclaim);

/*
 * reclaim_current() - what this kernel runs now. lru_gen/enabled is a bitmask
 * whose lowest bit switches MGLRU; without the file it is classic. 0 or -errno.
 */
int reclaim_current(enum reclaim *reclaim);

/*
 * reclaim_select() - have the kernel run @reclaim, and check that it does. The
 * keeper restores the number that was found. memcgs made before keep folios
 * from the other kind, so select first, then make them.
 *
 * 0; -ENOENT with an entry in @needs when this kernel cannot; or -errno.
 */
int reclaim_select(enum reclaim reclaim, struct keeper *keeper,
		   struct needs *needs);

#endif
