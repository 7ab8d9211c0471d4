// SPDX-License-Identifier: GPL-2.0
/*
 * A hot set that pread() keeps re-reading does not lose more with each scan: it
 * is kept after three, or six, scans of another file as after the first.
 *
 * All passes are in one memcg, so this is where a kernel may learn: what it
 * reclaimed in the first pass and sees again, it may keep in the next ones.
 *
 *   cool_3  1 read per page and pass, three passes
 *   rare_6  1 read per page in 20 passes, six of them
 *
 * Controls: a set of that size read once must be lost, and the hot set without
 * the scans must stay.
 *
 * Limits: one thread reads both files in turn; no pause between the passes; the
 * files are sparse.
 */
#include "arms.h"
#include "ktap.h"

/* clang-format off */
#define WORKLOAD(per_page, nr_passes)          \
	{                                      \
		.mem_pct = 50,                 \
		.sparse = true,                \
		.hot = { .pct = 40,            \
			 .warm = 2,            \
			 .touches = (per_page), \
			 .warm_by = &reader_pread, \
			 .read_by = &reader_pread }, \
		.scan = { .pct = 300,          \
			  .buffer = 1024 * 1024, \
			  .passes = (nr_passes), \
			  .read_by = &reader_pread }, \
	}
/* clang-format on */

static const struct workload cool_3 = WORKLOAD(1000, 3);
static const struct workload rare_6 = WORKLOAD(50, 6);

/*
 * Permille points of the hot set, from after the first pass to the end: medians.
 *
 *             6.12 MGLRU            7.3 MGLRU          6.12; 6.18, 7.3 classic
 *   cool_3    597..609, +27..+147   966, +25..+34      977, -51; 990, 0..+4
 *   rare_6     16, +4..+5            41, +210..+213    993, 0; 922, 0..+1
 *
 * MGLRU learns, 6.12 only from what is touched once a pass. The bound excludes a
 * tenth lost to the later passes; a set that the first one took wholly, as rare_6
 * on 6.12, cannot get worse: that is pread_hot_set's to say.
 */
#define KEPT_CHANGE_MIN (-100)

FIXTURE(repeated_scan)
{
	struct experiment exp;
};

FIXTURE_VARIANT(repeated_scan)
{
	enum reclaim reclaim;
	const struct workload *workload;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(repeated_scan, classic_cool_3) {
	RECLAIM_CLASSIC, &cool_3,
};

FIXTURE_VARIANT_ADD(repeated_scan, classic_rare_6) {
	RECLAIM_CLASSIC, &rare_6,
};

FIXTURE_VARIANT_ADD(repeated_scan, mglru_cool_3) {
	RECLAIM_MGLRU, &cool_3,
};

FIXTURE_VARIANT_ADD(repeated_scan, mglru_rare_6) {
	RECLAIM_MGLRU, &rare_6,
};

/* clang-format on */

enum { HOT_ARM, ONCE, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << KEPT_FIRST | 1 << KEPT | 1 << REFAULTS,
		.bounds = { { KEPT_CHANGE, AT_LEAST, KEPT_CHANGE_MIN,
			      "the later scans took what the first had spared" } },
	},
	[ONCE] = ARM_ONCE,
	[UNSCANNED] = ARM_UNSCANNED,
};

FIXTURE_SETUP(repeated_scan)
{
	ktap_setup(_metadata, &self->exp, variant->workload, variant->reclaim,
		   arms, NR_ARMS);
}

FIXTURE_TEARDOWN(repeated_scan)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(repeated_scan, takes_no_more, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &cool_3 };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
