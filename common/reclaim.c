// SPDX-License-Identifier: GPL-2.0
#include "reclaim.h"

#include "keeper.h"
#include "knob.h"
#include "need.h"

#include <errno.h>
#include <string.h>

#define LRU_GEN_DIR "/sys/kernel/mm/lru_gen"
#define LRU_GEN_ENABLED LRU_GEN_DIR "/enabled"
#define LRU_GEN_MIN_TTL LRU_GEN_DIR "/min_ttl_ms"
#define LRU_GEN_CORE 1

const char *reclaim_name(enum reclaim reclaim)
{
	switch (reclaim) {
	case RECLAIM_CLASSIC:
		return "classic";
	case RECLAIM_MGLRU:
		return "mglru";
	case RECLAIM_ANY:
		break;
	}
	return "any";
}

int reclaim_by_name(const char *name, enum reclaim *reclaim)
{
	if (!strcmp(name, "classic"))
		*reclaim = RECLAIM_CLASSIC;
	else if (!strcmp(name, "mglru"))
		*reclaim = RECLAIM_MGLRU;
	else
		return -EINVAL;
	return 0;
}

int reclaim_current(enum reclaim *reclaim)
{
	uint64_t mask = 0;
	int err = knob_read_u64(LRU_GEN_ENABLED, &mask);

	if (err && err != -ENOENT)
		return err;
	*reclaim = mask & LRU_GEN_CORE ? RECLAIM_MGLRU : RECLAIM_CLASSIC;
	return 0;
}

/* min_ttl_ms would forbid eviction of what was used lately: OOM instead. */
static int min_ttl_off(struct keeper *keeper)
{
	int err = keeper_knob(keeper, LRU_GEN_MIN_TTL, "0");

	return err == -ENOENT ? 0 : err;
}

int reclaim_select(enum reclaim reclaim, struct keeper *keeper,
		   struct needs *needs)
{
	enum reclaim now;
	int err;

	err = reclaim_current(&now);
	if (err)
		return err;
	if (now != reclaim && reclaim != RECLAIM_ANY) {
		/* All bits: the kernel masks out what the CPU lacks. */
		err = keeper_knob(keeper, LRU_GEN_ENABLED,
				  reclaim == RECLAIM_MGLRU ? "7" : "0");
		if (err == -ENOENT) {
			need_add(needs, "CONFIG_LRU_GEN",
				 "no " LRU_GEN_DIR
				 ": boot a kernel with CONFIG_LRU_GEN=y");
			return err;
		}
		if (err == -EACCES || err == -EROFS || err == -EPERM) {
			need_add(needs, "a writable lru_gen/enabled",
				 LRU_GEN_ENABLED
				 ": %s; run as root outside a container",
				 strerror(-err));
			return -ENOENT;
		}
		if (err)
			return err;
		err = reclaim_current(&now);
		if (err)
			return err;
		if (now != reclaim) {
			need_add(needs, "a working lru_gen/enabled",
				 LRU_GEN_ENABLED
				 " still says %s after switching to %s",
				 reclaim_name(now), reclaim_name(reclaim));
			return -ENOENT;
		}
	}
	return now == RECLAIM_MGLRU ? min_ttl_off(keeper) : 0;
}
