// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a file twice as long as the memory limit by RWF_DONTCACHE reads
 * of 4 KiB in random order evicts nothing, neither a hot set nor a set that was
 * read once; and it leaves nothing.
 *
 * The same reads without the flag must take all of the set that was read once,
 * and without a scan it must stay.
 *
 * Limits: one reader; each page of the file once, so no page of it is hot. The
 * files are sparse: with data (MM_CACHE_FILES=data) each read waits for the
 * device, and what it delivered is printed (hot_amplification).
 */
#include "arms.h"
#include "ktap.h"

static const struct workload workload = {
	.mem_pct = 50,
	.sparse = true,
	.hot = { .pct = 40,
		 .warm = 2,
		 .touches = 50,
		 .warm_by = &reader_pread,
		 .read_by = &reader_pread },
	.scan = { .pct = 200,
		  .buffer = 4096,
		  .random = true,
		  .read_by = &reader_dontcache },
};

FIXTURE(dontcache_random)
{
	struct experiment exp;
};

FIXTURE_VARIANT(dontcache_random)
{
	enum reclaim reclaim;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(dontcache_random, classic) {
	RECLAIM_CLASSIC,
};

FIXTURE_VARIANT_ADD(dontcache_random, mglru) {
	RECLAIM_MGLRU,
};

/* clang-format on */

/*
 * Pages of 16384. A folio that waits in a per-CPU batch for its LRU list cannot
 * be dropped: 11 to 37 were left (6.18); all, where the flag is ignored.
 */
#define LEFT_MAX 128

enum { HOT_ARM, ONCE, ONCE_PLAIN, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << SETTLE_TIME | 1 << AMPLIFICATION,
		.bounds = {
			{ KEPT, AT_LEAST, 1000, "the scan cost pages of the set" },
			{ EVICTED, AT_MOST, 0, "reclaim took pages of the set" },
			{ SCAN_LEFT, AT_MOST, LEFT_MAX, "the scan stays in the cache" },
		},
	},
	[ONCE] = ARM_ONCE_SPARED,
	[ONCE_PLAIN] = ARM_ONCE_PLAIN(&reader_pread),
	[UNSCANNED] = ARM_ONCE_UNSCANNED,
};

FIXTURE_SETUP(dontcache_random)
{
	ktap_setup(_metadata, &self->exp, &workload, variant->reclaim, arms,
		   NR_ARMS);
}

FIXTURE_TEARDOWN(dontcache_random)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(dontcache_random, evicts_nothing, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &workload };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
