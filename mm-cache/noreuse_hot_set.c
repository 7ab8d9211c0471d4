// SPDX-License-Identifier: GPL-2.0
/*
 * A scan through a mapping of a file with POSIX_FADV_NOREUSE does not evict a
 * hot set that pread() keeps re-reading: since 6.3 the kernel does not count
 * accesses through such a mapping as use.
 *
 * So what is touched through it earns no place: a set that was touched so twice,
 * and then left alone, is lost to the scan as a set that was read once.
 *
 * Controls: a set read once must be lost, and the hot set without the scan must
 * stay. What a scan through a plain mapping leaves of the hot set, and of a set
 * that was touched twice through one, is printed beside it: without the advice
 * MGLRU shelters mapped pages, and the scan's are mapped.
 *
 * Limits: one thread; the files are sparse. Reads by pread() are not changed by
 * the advice: a set read twice with it is kept as without it (6.18).
 */
#include "arms.h"
#include "ktap.h"

static const struct workload workload = {
	.mem_pct = 50,
	.sparse = true,
	.hot = { .pct = 40,
		 .warm = 2,
		 .touches = 1000,
		 .warm_by = &reader_pread,
		 .read_by = &reader_pread },
	.scan = { .pct = 300,
		  .buffer = 1024 * 1024,
		  .read_by = &reader_mmap_noreuse },
};

FIXTURE(noreuse_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(noreuse_hot_set)
{
	enum reclaim reclaim;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(noreuse_hot_set, classic) {
	RECLAIM_CLASSIC,
};

FIXTURE_VARIANT_ADD(noreuse_hot_set, mglru) {
	RECLAIM_MGLRU,
};

/* clang-format on */

/*
 * Permille of the set still cached, medians.
 *
 *                       6.12 MGLRU   7.3 MGLRU   6.12, 6.18, 7.3 classic
 *   hot                  628..712    955..969     1000
 *   hot, plain mapping    96..132     51..107     1000
 *   twice                   0           0             0
 *   twice, plain mapping 1000        1000             0
 *
 * HOT excludes what a scan through a plain mapping leaves, and lets pass
 * what one by pread() does (pread_hot_set, cool). TWICE excludes a set that is
 * sheltered for being mapped.
 */
#define HOT_KEPT_MIN 500
#define TWICE_KEPT_MAX 100

enum { HOT_ARM, HOT_PLAIN, TWICE, TWICE_PLAIN, ONCE, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << EVICTED | 1 << REFAULTS,
		.bounds = { { KEPT, AT_LEAST, HOT_KEPT_MIN,
			      "the scan evicted what is re-read" } },
	},
	[HOT_PLAIN] = {
		.name = "hot_plain",
		.scan_by = &reader_mmap,
		.measured = 1 << KEPT,
	},
	[TWICE] = {
		.name = "twice",
		.warm = 2,
		.warm_by = &reader_mmap_noreuse,
		.idle = true,
		.bounds = { { KEPT, AT_MOST, TWICE_KEPT_MAX,
			      "a set touched twice with the advice was kept as if it were hot" } },
	},
	[TWICE_PLAIN] = {
		.name = "twice_plain",
		.warm = 2,
		.warm_by = &reader_mmap,
		.idle = true,
		.measured = 1 << KEPT,
	},
	[ONCE] = ARM_ONCE,
	[UNSCANNED] = ARM_UNSCANNED,
};

FIXTURE_SETUP(noreuse_hot_set)
{
	ktap_setup(_metadata, &self->exp, &workload, variant->reclaim, arms,
		   NR_ARMS);
}

FIXTURE_TEARDOWN(noreuse_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(noreuse_hot_set, is_not_counted_as_use, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &workload };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
