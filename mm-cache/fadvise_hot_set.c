// SPDX-License-Identifier: GPL-2.0
/*
 * A scan that drops what it has read by POSIX_FADV_DONTNEED, after each chunk,
 * evicts nothing, neither a hot set nor a set that was read once, and leaves
 * nothing of itself: whether it drops the chunk, or all from the start of the
 * file to where it is.
 *
 *   chunk_1m, chunk_64k  drops bytes [pos, pos + length) after reading them
 *   from_0               drops bytes [0, pos + length) after reading 64 KiB
 *
 * The kernel drops whole folios only. One that reaches beyond the chunk stays;
 * and what is read ahead comes in folios of up to read_ahead_kb, what was just
 * written in folios as large as the writes. So a scan that drops chunks of 64 KiB
 * leaves nearly all of itself behind, and reclaim has to take it. The size of
 * the folios is printed beside what was left (hot_folio).
 *
 * Controls: a plain scan must take all of the set that was read once, and so
 * must one that gives the advice before it reads, which does nothing; without a
 * scan it must stay.
 *
 * fadvise_same_file: the advice drops what others have cached of that file, too:
 * a hot set that is itself read so is gone. fadvise_last_page: a file of some
 * pages and one byte is dropped wholly by an advice of length 0; one that ends
 * with the file leaves at most its last page.
 *
 * Limits: one reader; clean pages only.
 */
#include "arms.h"
#include "ktap.h"

#include <fcntl.h>

/* clang-format off */
#define WORKLOAD(by, bytes)                    \
	{                                      \
		.mem_pct = 50,                 \
		.sparse = true,                \
		.hot = { .pct = 40,            \
			 .warm = 2,            \
			 .touches = 50,        \
			 .warm_by = &reader_pread, \
			 .read_by = &reader_pread }, \
		.scan = { .pct = 300,          \
			  .buffer = (bytes),   \
			  .needs_room = true,  \
			  .read_by = (by) },   \
	}
/* clang-format on */

static const struct workload chunk_1m = WORKLOAD(&reader_dontneed, 1024 * 1024);
static const struct workload chunk_64k = WORKLOAD(&reader_dontneed, 64 * 1024);
static const struct workload from_0 =
	WORKLOAD(&reader_dontneed_from_0, 64 * 1024);

/*
 * Pages of 24576. 0 where no folio reaches beyond a chunk: all of 6.12, whose
 * ext4 has small folios only, and ext4 of 6.18 with data=journal. chunk_64k: 4544
 * and more on 6.18 and 7.3, with folios of 128 KiB; under MGLRU that costs all
 * but 4 % of the hot set, as a plain scan does. With read_ahead_kb 8192 chunks of
 * 1 MiB are smaller than the folios, too; and a file written by 4 MiB at a time
 * stays wholly (6.18: 16384 of 16384 pages), by 1 MiB not at all.
 */
#define LEFT_MAX 64

FIXTURE(fadvise_hot_set)
{
	struct experiment exp;
};

FIXTURE_VARIANT(fadvise_hot_set)
{
	enum reclaim reclaim;
	const struct workload *workload;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(fadvise_hot_set, classic_chunk_1m) {
	RECLAIM_CLASSIC, &chunk_1m,
};

FIXTURE_VARIANT_ADD(fadvise_hot_set, classic_chunk_64k) {
	RECLAIM_CLASSIC, &chunk_64k,
};

FIXTURE_VARIANT_ADD(fadvise_hot_set, classic_from_0) {
	RECLAIM_CLASSIC, &from_0,
};

FIXTURE_VARIANT_ADD(fadvise_hot_set, mglru_chunk_1m) {
	RECLAIM_MGLRU, &chunk_1m,
};

FIXTURE_VARIANT_ADD(fadvise_hot_set, mglru_chunk_64k) {
	RECLAIM_MGLRU, &chunk_64k,
};

FIXTURE_VARIANT_ADD(fadvise_hot_set, mglru_from_0) {
	RECLAIM_MGLRU, &from_0,
};

/* clang-format on */

enum { HOT_ARM, ONCE, ONCE_PLAIN, ONCE_EARLY, UNSCANNED, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[HOT_ARM] = {
		.name = "hot",
		.measured = 1 << FOLIO | 1 << MISSED,
		.bounds = {
			{ KEPT, AT_LEAST, 1000, "the scan cost pages of the set" },
			{ EVICTED, AT_MOST, 0, "reclaim took pages of the set" },
			{ SCAN_LEFT, AT_MOST, LEFT_MAX,
			  "the scan stays in the cache: its folios reach beyond the chunks" },
		},
	},
	[ONCE] = ARM_ONCE_SPARED,
	[ONCE_PLAIN] = ARM_ONCE_PLAIN(&reader_pread),
	[ONCE_EARLY] = {
		.name = "once_early",
		.warm = 1,
		.idle = true,
		.scan_by = &reader_dontneed_before,
		.bounds = { { KEPT, AT_MOST, ONCE_KEPT_MAX,
			      .doubt = "advice before the reads spared a set read once" } },
	},
	[UNSCANNED] = ARM_ONCE_UNSCANNED,
};

FIXTURE_SETUP(fadvise_hot_set)
{
	ktap_setup(_metadata, &self->exp, variant->workload, variant->reclaim,
		   arms, NR_ARMS);
}

FIXTURE_TEARDOWN(fadvise_hot_set)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(fadvise_hot_set, evicts_nothing, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, arms, NR_ARMS);
}

static const struct workload same_file = {
	.mem_pct = 100,
	.sparse = true,
	.hot = { .pct = 40,
		 .warm = 2,
		 .warm_by = &reader_pread,
		 .read_by = &reader_pread },
	.scan = { .buffer = 1024 * 1024,
		  .same_file = true,
		  .read_by = &reader_dontneed_from_0 },
};

/* Permille: all that an advice over the whole file may leave of it. */
#define SAME_FILE_KEPT_MAX 10

enum { DROPPED, READ_AGAIN, NR_SAME };

static const struct arm same_file_arms[NR_SAME] = {
	[DROPPED] = {
		.name = "dropped",
		.idle = true,
		.bounds = { { KEPT, AT_MOST, SAME_FILE_KEPT_MAX,
			      "the advice spared what was cached before" } },
	},
	[READ_AGAIN] = {
		.name = "read_again",
		.idle = true,
		.scan_by = &reader_pread,
		.bounds = { { KEPT, AT_LEAST, UNSCANNED_KEPT_MIN,
			      .doubt = "the set is gone without any advice" } },
	},
};

FIXTURE(fadvise_same_file)
{
	struct experiment exp;
};

FIXTURE_SETUP(fadvise_same_file)
{
	ktap_setup(_metadata, &self->exp, &same_file, RECLAIM_ANY,
		   same_file_arms, NR_SAME);
}

FIXTURE_TEARDOWN(fadvise_same_file)
{
	ktap_conclude(_metadata, NULL);
}

TEST_F_TIMEOUT(fadvise_same_file, drops_what_others_cached, KTAP_TIMEOUT)
{
	ktap_test(_metadata, NULL, &self->exp, same_file_arms, NR_SAME);
}

FIXTURE(fadvise_last_page)
{
	struct reader reader;
};

#define LAST_PAGE_FILE "last_page"
#define LAST_PAGES 16

FIXTURE_SETUP(fadvise_last_page)
{
	uint64_t bytes = LAST_PAGES * sysconf(_SC_PAGESIZE) + 1;
	char path[PATH_MAX];

	ASSERT_EQ(0, scratch_file(&lab.scratch, LAST_PAGE_FILE, bytes, 0,
				  &lab.failure))
	{
		ktap_failure(&lab.failure);
	}
	ASSERT_EQ(0, scratch_path(&lab.scratch, LAST_PAGE_FILE, path,
				  sizeof(path)));
	ASSERT_EQ(0, reader_open(&self->reader, &reader_pread, path, bytes));
}

FIXTURE_TEARDOWN(fadvise_last_page)
{
	ktap_conclude(_metadata, NULL);
}

/* Read all of the file, then drop @len bytes (0: to its end): pages left. */
static int64_t left_after(struct reader *r, off_t len)
{
	struct residency before, after;

	if (reader_read(r, 0, r->size) ||
	    residency_read(lab.meter, r->fd, 0, r->size, &before) ||
	    before.cached != before.pages)
		return -1;
	if (posix_fadvise(r->fd, 0, len, POSIX_FADV_DONTNEED) ||
	    residency_read(lab.meter, r->fd, 0, r->size, &after))
		return -1;
	return after.cached;
}

TEST_F(fadvise_last_page, goes_with_the_file)
{
	struct reader *r = &self->reader;
	int64_t to_size;

	EXPECT_EQ(0, left_after(r, 0));
	to_size = left_after(r, r->size);
	ksft_print_msg(
		"metric fadvise_last_page to_size_left pages n=1 median=%" PRId64
		" min=%" PRId64 " max=%" PRId64 " bound<=1\n",
		to_size, to_size, to_size);
	EXPECT_GE(to_size, 0);
	EXPECT_LE(to_size, 1);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &chunk_1m };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
