// SPDX-License-Identifier: GPL-2.0
/*
 * A hot set that is touched through a mapping is still cached after another
 * file has been streamed once through three times the memory limit.
 *
 * The hot set is touched through twice (or read by pread(), as a program does
 * that maps what it has just checked). Then random pages of it are touched
 * while the other file passes: so many per byte scanned, that a slow guest and
 * a fast disk give the same answer.
 *
 *   cool  1 touch per page: exact LRU loses three quarters of the set.
 *   rare  1 touch per page in 20 such scans: exact LRU loses all but 1.6 %.
 *   cool_random      as cool, and the mapping has MADV_RANDOM, which asks for no
 *                    readahead; since 6.4 it also makes touches not count
 *   rare_sequential  as rare, and the scan goes through a mapping with
 *                    MADV_SEQUENTIAL, which says that nothing of it is needed
 *                    again
 *
 * Controls: a set of that size read once by pread() must be lost to the same
 * scan, and the hot set without the scan must stay. MGLRU shelters a mapped
 * set even if it is touched once and left alone, so that what becomes of such
 * a one is printed beside it (cold_mapped): where it stays, the hot set is kept
 * for being mapped, not for being hot.
 *
 * Limits: one thread touches and reads in turn; one memory limit; one scan. The
 * hot set of 25 MiB is larger than the reach of a TLB: x86 does not flush it
 * when it clears Accessed. The files are sparse: with data the figures are the
 * same, 552 and 550 for the rare set on 6.18.
 */
#include "arms.h"
#include "ktap.h"

#define HOT_BY(per_page, reader, by, ...) \
	.hot = { .pct = 40,               \
		 .warm = 2,               \
		 .touches = (per_page),   \
		 .warm_by = (by),         \
		 .read_by = (reader),     \
		 __VA_ARGS__ }
#define HOT(per_page, by, ...) HOT_BY(per_page, &reader_mmap, by, __VA_ARGS__)
#define SCAN_BY(by, ...)                 \
	.scan = { .pct = 300,            \
		  .buffer = 1024 * 1024, \
		  .read_by = (by),       \
		  __VA_ARGS__ }
#define SCAN(...) SCAN_BY(&reader_pread, __VA_ARGS__)

static const struct workload cool = { .mem_pct = 100,
				      .sparse = true,
				      HOT(1000, &reader_mmap),
				      SCAN() };

static const struct workload rare = { .mem_pct = 100,
				      .sparse = true,
				      HOT(50, &reader_mmap),
				      SCAN() };

static const struct workload rare_warmed_by_pread = { .mem_pct = 100,
						      .sparse = true,
						      HOT(50, &reader_pread),
						      SCAN() };

/* Nor is the mapping faulted in around a touch: one page at a time. */
static const struct workload rare_no_readahead = { .mem_pct = 100,
						   .sparse = true,
						   HOT(50, &reader_mmap,
						       .no_readahead = true),
						   SCAN(.no_readahead = true) };

static const struct workload cool_random = { .mem_pct = 100,
					     .sparse = true,
					     HOT_BY(1000, &reader_mmap_random,
						    &reader_mmap_random),
					     SCAN() };

static const struct workload rare_sequential = {
	.mem_pct = 100,
	.sparse = true,
	HOT(50, &reader_mmap),
	SCAN_BY(&reader_mmap_sequential)
};

/*
 * Permille of the hot set still cached, medians; each bound lies in a gap.
 *
 *               exact LRU  6.12, 7.3 MGLRU     6.12, 6.18, 7.3 classic
 *   cool           258     1000, 1000          874..919, 998, 998
 *   rare            16     1000, 1000          402..440, 532..579, 537..571
 *   by pread        16     773..906, 919..972  1000
 *   no readahead    16     1000, 32..34        39..40
 *   cool_random    258     229..236            229..236
 *   sequential      16     1000, 1000          410..418, 546..570, 546..570
 *
 * COOL excludes exact LRU. RARE excludes a set that is lost as one that is not
 * touched again (40 and less), and lets pass one that loses half: the mapped
 * pages of classic start on the inactive list. BY_PREAD excludes half a loss:
 * the classic lists activate what is read twice. With MADV_RANDOM all keep what
 * exact LRU would, less than COOL: touches do not count.
 */
#define COOL_KEPT_MIN 750
#define RARE_KEPT_MIN 250
#define BY_PREAD_KEPT_MIN 650

FIXTURE(mmap_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(mmap_hot_set)
{
	enum reclaim reclaim;
	const struct workload *workload;
	int64_t kept_min;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(mmap_hot_set, classic_cool) {
	RECLAIM_CLASSIC, &cool, COOL_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, classic_rare) {
	RECLAIM_CLASSIC, &rare, RARE_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, classic_rare_warmed_by_pread) {
	RECLAIM_CLASSIC, &rare_warmed_by_pread, BY_PREAD_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, classic_rare_no_readahead) {
	RECLAIM_CLASSIC, &rare_no_readahead, RARE_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, classic_cool_random) {
	RECLAIM_CLASSIC, &cool_random, COOL_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, classic_rare_sequential) {
	RECLAIM_CLASSIC, &rare_sequential, RARE_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, mglru_cool) {
	RECLAIM_MGLRU, &cool, COOL_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, mglru_rare) {
	RECLAIM_MGLRU, &rare, RARE_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, mglru_rare_warmed_by_pread) {
	RECLAIM_MGLRU, &rare_warmed_by_pread, BY_PREAD_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, mglru_rare_no_readahead) {
	RECLAIM_MGLRU, &rare_no_readahead, RARE_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, mglru_cool_random) {
	RECLAIM_MGLRU, &cool_random, COOL_KEPT_MIN,
};

FIXTURE_VARIANT_ADD(mmap_hot_set, mglru_rare_sequential) {
	RECLAIM_MGLRU, &rare_sequential, RARE_KEPT_MIN,
};

/* clang-format on */

enum { HOT_ARM, ONCE, COLD_MAPPED, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << EVICTED | 1 << MISSED | 1 << REFAULTS,
		.bounds = { { KEPT, AT_LEAST, 0,
			      "the scan evicted what is touched" } },
	},
	[ONCE] = ARM_ONCE,
	[COLD_MAPPED] = {
		.name = "cold_mapped",
		.warm = 1,
		.warm_by = &reader_mmap,
		.idle = true,
		.measured = 1 << KEPT,
	},
	[UNSCANNED] = ARM_UNSCANNED,
};

FIXTURE_SETUP(mmap_hot_set)
{
	ktap_setup(_metadata, &self->exp, variant->workload, variant->reclaim,
		   arms, NR_ARMS);
}

FIXTURE_TEARDOWN(mmap_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(mmap_hot_set, outlives_one_scan, KTAP_TIMEOUT)
{
	struct arm judged[NR_ARMS];

	memcpy(judged, arms, sizeof(judged));
	judged[HOT_ARM].bounds[0].value = variant->kept_min;
	ktap_test(_metadata, variant, &self->exp, judged, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &rare };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
