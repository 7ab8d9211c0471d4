// SPDX-License-Identifier: GPL-2.0
/*
 * A scan by RWF_DONTCACHE reads, three times as long as the memory limit,
 * evicts nothing: neither a hot set, nor a set that was read once and is next
 * in line, nor what was cached of the scanned file before; and it leaves
 * nothing of itself, and reads what was written.
 *
 * The set read once and left alone is the sharpest meter there is: the same
 * scan without the flag must take all of it, on every kernel. Without any scan
 * it must stay.
 *
 * Limits: drop-behind is best effort, so what the scan left is counted again
 * and again for up to a second; how long it took is printed. One reader, 1 MiB
 * reads; small ones are dontcache_small_buffer's.
 */
#include "arms.h"
#include "ktap.h"

static const struct workload workload = {
	.mem_pct = 100,
	.hot = { .pct = 40,
		 .warm = 2,
		 .touches = 50,
		 .warm_by = &reader_pread,
		 .read_by = &reader_pread },
	.scan = { .pct = 300,
		  .part_pct = 12,
		  .buffer = 1024 * 1024,
		  .verify = true,
		  .needs_room = true,
		  .read_by = &reader_dontcache },
};

FIXTURE(dontcache_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(dontcache_hot_set)
{
	enum reclaim reclaim;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(dontcache_hot_set, classic) {
	RECLAIM_CLASSIC,
};

FIXTURE_VARIANT_ADD(dontcache_hot_set, mglru) {
	RECLAIM_MGLRU,
};

/* clang-format on */

/*
 * No margin is needed: 1000 permille kept, 0 pages evicted and 0 left were
 * seen in every repetition on 6.18 and 7.3, classic and MGLRU, and nothing
 * else is what the flag promises.
 */
#define KEPT_MIN 1000
#define LEFT_MAX 0

enum { HOT_ARM, ONCE, ONCE_PLAIN, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << MISSED | 1 << SETTLE_TIME | 1 << AMPLIFICATION,
		.bounds = {
			{ KEPT, AT_LEAST, KEPT_MIN, "the scan cost pages of the set" },
			{ EVICTED, AT_MOST, 0, "reclaim took pages of the set" },
			{ PART_KEPT, AT_LEAST, KEPT_MIN,
			  "the scan dropped what was cached before" },
			{ SCAN_LEFT, AT_MOST, LEFT_MAX, "the scan stays in the cache" },
			{ BAD_WORDS, AT_MOST, 0, "what was read is not what was written" },
		},
	},
	[ONCE] = ARM_ONCE_SPARED,
	[ONCE_PLAIN] = ARM_ONCE_PLAIN(&reader_pread),
	[UNSCANNED] = ARM_ONCE_UNSCANNED,
};

FIXTURE_SETUP(dontcache_hot_set)
{
	ktap_setup(_metadata, &self->exp, &workload, variant->reclaim, arms,
		   NR_ARMS);
}

FIXTURE_TEARDOWN(dontcache_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(dontcache_hot_set, evicts_nothing, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &workload };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
