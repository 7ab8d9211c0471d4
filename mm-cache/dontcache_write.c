// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a file by RWF_DONTCACHE, twice as long as the memory limit,
 * does not evict a hot set; once it is written back (fsync) nothing of it stays
 * in the cache; and storage then holds what was written.
 *
 * The same writes without the flag must take all of a set that was read once,
 * and without any it must stay. What the writes with the flag leave of such a
 * set is printed, not judged: what is not written back yet takes room, and how
 * much of it there may be is a matter of writeback, and of cgroup v1 or v2.
 *
 * Limits: what is left is counted again and again for up to a second; how long
 * that took is printed. The file exists before, so blocks are overwritten, not
 * allocated. One writer, 1 MiB writes, which waits for writeback 4 MiB behind:
 * a cgroup v1 would let it fill its memory with what cannot be reclaimed.
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
		  .read_by = &reader_dontcache_write },
};

FIXTURE(dontcache_write)
{
	struct experiment exp;
};

FIXTURE_VARIANT(dontcache_write)
{
	enum reclaim reclaim;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(dontcache_write, classic) {
	RECLAIM_CLASSIC,
};

FIXTURE_VARIANT_ADD(dontcache_write, mglru) {
	RECLAIM_MGLRU,
};

/* clang-format on */

/*
 * 6.18 and 7.3, in a memcg of 8192 pages: the writes leave 4352 pages (classic)
 * and 7424 (7.3, MGLRU), all that has room beside the hot set, as plain writes
 * do; that has been reported where writeback ends in an interrupt. The hot set
 * keeps 1000 (classic) and 33..61 permille (7.3, MGLRU). KEPT excludes a tenth
 * lost, LEFT anything left: in a memcg this small it would not be there any more
 * if the flag did what it says.
 */
#define KEPT_MIN 900
#define LEFT_MAX 0 /* pages, of 16384 */

enum { HOT_ARM, ONCE, ONCE_PLAIN, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << SETTLE_TIME | 1 << THROUGHPUT,
		.bounds = {
			{ KEPT, AT_LEAST, KEPT_MIN, "the writes cost pages of the set" },
			{ SCAN_LEFT, AT_MOST, LEFT_MAX, "what was written stays in the cache" },
			{ BAD_WORDS, AT_MOST, 0, "storage does not hold what was written" },
		},
	},
	[ONCE] = {
		.name = "once",
		.warm = 1,
		.idle = true,
		.measured = 1 << KEPT,
	},
	[ONCE_PLAIN] = ARM_ONCE_PLAIN(&reader_write),
	[UNSCANNED] = ARM_ONCE_UNSCANNED,
};

FIXTURE_SETUP(dontcache_write)
{
	ktap_setup(_metadata, &self->exp, &workload, variant->reclaim, arms,
		   NR_ARMS);
}

FIXTURE_TEARDOWN(dontcache_write)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(dontcache_write, evicts_nothing, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &workload };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
