// SPDX-License-Identifier: GPL-2.0
/*
 * A hot set that pread() keeps re-reading is still cached after another file
 * has been streamed once through three times the memory limit.
 *
 * The hot set is read through twice, then random 4 KiB pages of it are read
 * while the other file passes: so many reads per byte scanned, so that a slow
 * guest and a fast disk give the same answer. How many decides what may be
 * asked:
 *
 *   warm  8 reads per page: the next read comes, on average, within the memory.
 *   cool  1 read per page: exact LRU would lose three quarters of the set, a
 *         policy that counts uses would not.
 *   rare  1 read per page in 20 scans, as in the report that began this.
 *
 * Limits: one thread reads both files in turn, one memory limit, one scan.
 * What a kernel learns from a second scan is not asked here.
 */
#include "experiment.h"
#include "ktap.h"

#define HOT(per_page)                                                         \
	.hot = { .pct = 40, .warm = 2, .touches = (per_page),                 \
		 .warm_by = &reader_pread, .read_by = &reader_pread }
#define SCAN(...)                                                             \
	.scan = { .pct = 300, .buffer = 1024 * 1024,            \
		  .read_by = &reader_pread, __VA_ARGS__ }

static const struct workload warm = { .mem_pct = 100, .sparse = true, HOT(8000), SCAN() };
static const struct workload cool = { .mem_pct = 100, .sparse = true, HOT(1000), SCAN() };
static const struct workload rare = { .mem_pct = 100, .sparse = true, HOT(50), SCAN() };
static const struct workload rare_no_readahead = {
	.mem_pct = 100, .sparse = true, HOT(50), SCAN(.no_readahead = true)
};

FIXTURE(pread_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(pread_hot_set)
{
	enum reclaim reclaim;
	const struct workload *workload;
	int64_t kept_min;
};

#define WARM_KEPT_MIN 950
#define COOL_KEPT_MIN 500
#define RARE_KEPT_MIN 750
#define ONCE_KEPT_MAX 100
#define UNSCANNED_KEPT_MIN 990

FIXTURE_VARIANT_ADD(pread_hot_set, classic_warm)
{
	RECLAIM_CLASSIC, &warm, WARM_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, classic_cool)
{
	RECLAIM_CLASSIC, &cool, COOL_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, classic_rare)
{
	RECLAIM_CLASSIC, &rare, RARE_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, classic_rare_no_readahead)
{
	RECLAIM_CLASSIC, &rare_no_readahead, RARE_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, mglru_warm)
{
	RECLAIM_MGLRU, &warm, WARM_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, mglru_cool)
{
	RECLAIM_MGLRU, &cool, COOL_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, mglru_rare)
{
	RECLAIM_MGLRU, &rare, RARE_KEPT_MIN
};

FIXTURE_VARIANT_ADD(pread_hot_set, mglru_rare_no_readahead)
{
	RECLAIM_MGLRU, &rare_no_readahead, RARE_KEPT_MIN
};

enum { HOT_ARM, ONCE, LEFT_ALONE, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << EVICTED | 1 << MISSED | 1 << REFAULTS,
		.bounds = { { KEPT, AT_LEAST, 0, "the scan evicted what is re-read" } },
	},
	[ONCE] = {
		.name = "once",
		.warm = 1,
		.idle = true,
		.bounds = { { KEPT, AT_MOST, ONCE_KEPT_MAX,
			      .doubt = "the scan spared a set that was read once" } },
	},
	[LEFT_ALONE] = {
		.name = "left_alone",
		.idle = true,
		.measured = 1 << KEPT,
	},
	[UNSCANNED] = {
		.name = "unscanned",
		.scan_by = &reader_null,
		.bounds = { { KEPT, AT_LEAST, UNSCANNED_KEPT_MIN,
			      .doubt = "the hot set shrank with no scan" } },
	},
};

FIXTURE_SETUP(pread_hot_set)
{
	struct needs needs = { 0 };

	ASSERT_EQ(0, experiment_open(&self->exp, &lab, variant->workload,
				     variant->reclaim, arms, NR_ARMS, &needs))
	{
		ktap_failure(&lab.failure);
	}
	if (needs_any(&needs))
		SKIP(return, "%s", ktap_needs(&needs));
}

FIXTURE_TEARDOWN(pread_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(pread_hot_set, outlives_one_scan, 300)
{
	struct outcome outcomes[NR_ARMS];
	struct arm judged[NR_ARMS];
	const char *doubt;

	memcpy(judged, arms, sizeof(judged));
	judged[HOT_ARM].bounds[0].value = variant->kept_min;
	doubt = ktap_run(_metadata, variant, &self->exp, judged, NR_ARMS,
			 outcomes);
	if (doubt)
		SKIP(return, "inconclusive: %s", doubt);
	ktap_judge(_metadata, variant, judged, NR_ARMS, outcomes);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &warm };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
