// SPDX-License-Identifier: GPL-2.0
/*
 * A hot file that is re-read in order, again and again, is still cached after
 * each page of a larger file has been read once in random order: the mirror
 * image of pread_hot_set.
 *
 * A kernel that takes what was read ahead for a scan, and what was read at
 * random for a hot set, has it the wrong way round here. The hot file is read
 * through twice, then further, in order, while the other file is read.
 *
 *   warm  8 times through: the next read comes within the memory.
 *   cool  once through: exact LRU loses all of it.
 *
 * Controls: a set of that size read once must be lost to the same reads, and
 * the hot set without them must stay. What becomes of a set read twice and
 * left alone is printed beside it.
 *
 * Limits: one thread reads both files in turn; one memory limit. The files are
 * sparse.
 */
#include "arms.h"
#include "ktap.h"

/* clang-format off */
#define WORKLOAD(per_page)                     \
	{                                      \
		.mem_pct = 50,                 \
		.sparse = true,                \
		.hot = { .pct = 40,            \
			 .warm = 2,            \
			 .touches = (per_page), \
			 .sequential = true,   \
			 .warm_by = &reader_pread, \
			 .read_by = &reader_pread }, \
		.scan = { .pct = 300,          \
			  .buffer = 4096,      \
			  .random = true,      \
			  .read_by = &reader_pread }, \
	}
/* clang-format on */

static const struct workload warm = WORKLOAD(8000);
static const struct workload cool = WORKLOAD(1000);

/*
 * Permille of the hot set still cached, medians; each bound lies in a gap.
 *
 *         exact LRU  6.12 MGLRU  7.3 MGLRU   6.12, 6.18, 7.3 classic
 *   warm     1000       1000      839..873    1000
 *   cool        0     687..726      53..63    944..952, 824, 785..824
 *
 * WARM excludes a kernel that loses half of what fits. COOL excludes exact LRU,
 * and one that has pages read at random push out what is read in order: since a
 * page that starts with a reference is placed in the second-oldest generation
 * (7.x), those read ahead go first. Classic has its active list age once after
 * each flush of its statistics in which a page came back: 82 with 32 flushes for
 * each 32 MiB, or on a memcg that somebody reads memory.stat of all the time.
 */
#define WARM_KEPT_MIN 600
#define COOL_KEPT_MIN 500

FIXTURE(seq_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(seq_hot_set)
{
	enum reclaim reclaim;
	const struct workload *workload;
	int64_t kept_min;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(seq_hot_set, classic_warm) {
	RECLAIM_CLASSIC, &warm, WARM_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(seq_hot_set, classic_cool) {
	RECLAIM_CLASSIC, &cool, COOL_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(seq_hot_set, mglru_warm) {
	RECLAIM_MGLRU, &warm, WARM_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(seq_hot_set, mglru_cool) {
	RECLAIM_MGLRU, &cool, COOL_KEPT_MIN,
};

/* clang-format on */

enum { HOT_ARM, ONCE, LEFT_ALONE, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << EVICTED | 1 << MISSED | 1 << REFAULTS,
		.bounds = { { KEPT, AT_LEAST, 0, "the random reads evicted what is re-read" } },
	},
	[ONCE] = ARM_ONCE,
	[LEFT_ALONE] = {
		.name = "left_alone",
		.idle = true,
		.measured = 1 << KEPT,
	},
	[UNSCANNED] = ARM_UNSCANNED,
};

FIXTURE_SETUP(seq_hot_set)
{
	ktap_setup(_metadata, &self->exp, variant->workload, variant->reclaim,
		   arms, NR_ARMS);
}

FIXTURE_TEARDOWN(seq_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(seq_hot_set, outlives_random_reads, KTAP_TIMEOUT)
{
	struct arm judged[NR_ARMS];

	memcpy(judged, arms, sizeof(judged));
	judged[HOT_ARM].bounds[0].value = variant->kept_min;
	ktap_test(_metadata, variant, &self->exp, judged, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &warm };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
