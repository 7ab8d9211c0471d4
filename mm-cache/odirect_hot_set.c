// SPDX-License-Identifier: GPL-2.0
/*
 * A scan by O_DIRECT reads, twice as long as the memory limit, evicts
 * nothing, neither a hot set nor a set that was read once; and it leaves
 * nothing in the cache, and reads what was written.
 *
 * A plain scan must take all of the set that was read once, and without a scan
 * it must stay.
 *
 * Limits: one reader, 1 MiB reads, aligned. Where a file system falls back to
 * buffered reads for O_DIRECT, this is not ok: it is what the test is for.
 */
#include "arms.h"
#include "ktap.h"

static const struct workload workload = {
	.mem_pct = 50,
	.hot = { .pct = 40,
		 .warm = 2,
		 .touches = 50,
		 .warm_by = &reader_pread,
		 .read_by = &reader_pread },
	.scan = { .pct = 200,
		  .buffer = 1024 * 1024,
		  .verify = true,
		  .read_by = &reader_direct },
};

FIXTURE(odirect_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(odirect_hot_set)
{
	enum reclaim reclaim;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(odirect_hot_set, classic) {
	RECLAIM_CLASSIC,
};

FIXTURE_VARIANT_ADD(odirect_hot_set, mglru) {
	RECLAIM_MGLRU,
};

/* clang-format on */

enum { HOT_ARM, ONCE, ONCE_PLAIN, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << AMPLIFICATION | 1 << THROUGHPUT,
		.bounds = {
			{ KEPT, AT_LEAST, 1000, "the scan cost pages of the set" },
			{ EVICTED, AT_MOST, 0, "reclaim took pages of the set" },
			{ SCAN_LEFT, AT_MOST, 0, "the scan stays in the cache" },
			{ BAD_WORDS, AT_MOST, 0, "what was read is not what was written" },
		},
	},
	[ONCE] = ARM_ONCE_SPARED,
	[ONCE_PLAIN] = ARM_ONCE_PLAIN(&reader_pread),
	[UNSCANNED] = ARM_ONCE_UNSCANNED,
};

FIXTURE_SETUP(odirect_hot_set)
{
	ktap_setup(_metadata, &self->exp, &workload, variant->reclaim, arms,
		   NR_ARMS);
}

FIXTURE_TEARDOWN(odirect_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(odirect_hot_set, evicts_nothing, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &workload };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
