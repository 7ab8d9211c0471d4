// SPDX-License-Identifier: GPL-2.0
/*
 * A reader by RWF_DONTCACHE takes nothing from another process that has the
 * file mapped: the other one touches its pages again without a major fault.
 *
 *   cached_before  the other one had touched a part of the file before
 *   read_ahead     it touches, while the file is read, the page that the next
 *                  read begins with: that page may be in a folio that was read
 *                  ahead and that the flag marks to be dropped
 *
 * Controls: the same by a plain reader, with room for all of the file: no major
 * fault either. That the faults of the other process are counted is shown by
 * its first touches, which have to read the device (cached_before).
 *
 * Limits: one other process; 16 KiB reads; the file fits the memory, so nothing
 * is reclaimed. Before 7.3 the kernel took such pages out of the mapping.
 */
#include "arms.h"
#include "ktap.h"

/* clang-format off */
#define WORKLOAD(how, part)                    \
	{                                      \
		.mem_pct = 100,                \
		.scan = { .pct = 50,           \
			  .part_pct = (part),  \
			  .buffer = 16 * 1024, \
			  .share = (how),      \
			  .verify = true,      \
			  .read_by = &reader_dontcache }, \
	}
/* clang-format on */

static const struct workload cached_before = WORKLOAD(SHARE_PART, 12);
static const struct workload read_ahead = WORKLOAD(SHARE_AHEAD, 0);

FIXTURE(dontcache_shared)
{
	struct experiment exp;
};

FIXTURE_VARIANT(dontcache_shared)
{
	const struct workload *workload;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(dontcache_shared, cached_before) {
	&cached_before,
};

FIXTURE_VARIANT_ADD(dontcache_shared, read_ahead) {
	&read_ahead,
};

/* clang-format on */

enum { DONTCACHE, PLAIN, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[DONTCACHE] = {
		.name = "dontcache",
		.measured = 1 << SCAN_LEFT | 1 << PART_KEPT,
		.bounds = {
			{ OTHER_FAULTS, AT_MOST, 0,
			  "pages that another process has mapped were dropped" },
			{ BAD_WORDS, AT_MOST, 0, "what was read is not what was written" },
		},
	},
	[PLAIN] = {
		.name = "plain",
		.scan_by = &reader_pread,
		.measured = 1 << SCAN_LEFT,
		.bounds = { { OTHER_FAULTS, AT_MOST, 0,
			      .doubt = "another process lost its pages to a plain read" } },
	},
};

FIXTURE_SETUP(dontcache_shared)
{
	ktap_setup(_metadata, &self->exp, variant->workload, RECLAIM_ANY, arms,
		   NR_ARMS);
}

FIXTURE_TEARDOWN(dontcache_shared)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(dontcache_shared, spares_mapped_pages, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &cached_before };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
