// SPDX-License-Identifier: GPL-2.0
/*
 * A scan by io_uring with RWF_DONTCACHE evicts nothing and leaves nothing,
 * whether one read is under way at a time, or 8, or 64, or 8 into buffers that
 * were registered before; and it reads what was written.
 *
 * As in dontcache_hot_set, a set that was read once and left alone is the meter:
 * a plain scan must take all of it, and without a scan it must stay.
 *
 * Limits: reads of 1 MiB are split into those under way together, so depth 64
 * reads 16 KiB at a time; one ring, one thread. Reads that would wait are done
 * by workers of the ring, which are in the memcg of the thread.
 */
#include "arms.h"
#include "ktap.h"

/* clang-format off */
#define WORKLOAD(by)                           \
	{                                      \
		.mem_pct = 50,                 \
		.hot = { .pct = 40,            \
			 .warm = 2,            \
			 .touches = 50,        \
			 .warm_by = &reader_pread, \
			 .read_by = &reader_pread }, \
		.scan = { .pct = 200,          \
			  .buffer = 1024 * 1024, \
			  .verify = true,      \
			  .needs_room = true,  \
			  .read_by = (by) },   \
	}
/* clang-format on */

static const struct workload depth_1 = WORKLOAD(&reader_uring_1);
static const struct workload depth_8 = WORKLOAD(&reader_uring_8);
static const struct workload depth_64 = WORKLOAD(&reader_uring_64);
static const struct workload fixed = WORKLOAD(&reader_uring_fixed);

FIXTURE(uring_dontcache)
{
	struct experiment exp;
};

FIXTURE_VARIANT(uring_dontcache)
{
	enum reclaim reclaim;
	const struct workload *workload;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(uring_dontcache, classic_1) {
	RECLAIM_CLASSIC, &depth_1,
};

FIXTURE_VARIANT_ADD(uring_dontcache, classic_8) {
	RECLAIM_CLASSIC, &depth_8,
};

FIXTURE_VARIANT_ADD(uring_dontcache, classic_64) {
	RECLAIM_CLASSIC, &depth_64,
};

FIXTURE_VARIANT_ADD(uring_dontcache, classic_fixed) {
	RECLAIM_CLASSIC, &fixed,
};

FIXTURE_VARIANT_ADD(uring_dontcache, mglru_8) {
	RECLAIM_MGLRU, &depth_8,
};

/* clang-format on */

/*
 * Pages of 16384. The flag is best effort: with 64 reads under way together 10
 * to 196 pages were left (6.18, 7.3), with one or 8 none, seldom 32. Where it is
 * ignored the memory is full of them: 9000 and more.
 */
#define LEFT_MAX 1000

enum { HOT_ARM, ONCE, ONCE_PLAIN, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << SETTLE_TIME | 1 << AMPLIFICATION | 1 << THROUGHPUT,
		.bounds = {
			{ KEPT, AT_LEAST, 1000, "the scan cost pages of the set" },
			{ EVICTED, AT_MOST, 0, "reclaim took pages of the set" },
			{ SCAN_LEFT, AT_MOST, LEFT_MAX, "the scan stays in the cache" },
			{ BAD_WORDS, AT_MOST, 0, "what was read is not what was written" },
		},
	},
	[ONCE] = ARM_ONCE_SPARED,
	[ONCE_PLAIN] = ARM_ONCE_PLAIN(&reader_pread),
	[UNSCANNED] = ARM_ONCE_UNSCANNED,
};

FIXTURE_SETUP(uring_dontcache)
{
	ktap_setup(_metadata, &self->exp, variant->workload, variant->reclaim,
		   arms, NR_ARMS);
}

FIXTURE_TEARDOWN(uring_dontcache)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(uring_dontcache, evicts_nothing, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &depth_1 };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
