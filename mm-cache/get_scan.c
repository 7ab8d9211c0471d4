// SPDX-License-Identifier: GPL-2.0
/*
 * GETs of single records beside SCANs of runs of records, in one store that is 11
 * times the memory: the records that GET keeps coming back to stay cached, though
 * the SCANs read far more.
 *
 * GET's keys follow Zipf's law with exponent 0.99 and lie all over the file; a SCAN
 * reads 10,000 records from a random place on. These are the sizes and the ratios of
 * a test of a LevelDB store of 28 GiB in 2.5 GiB:
 *
 *   1_3    one worker SCANs, three GET: 92.5 GETs to a SCAN
 *   mixed  four workers, 99.5 % of the requests are GETs: 199
 *   1_7    one worker SCANs, seven GET: 237.2
 *   mirror SCANs of 1000 records go over a part of 40 % of the memory, and for each
 *          page of them a GET goes all over the store: that part is the hotter one,
 *          and is judged
 *
 * Judged is what hits: as a share of what hits in a simulated exact LRU cache of
 * the same size, by the same requests in the same order; and of what GET has
 * without SCANs, or SCAN without GETs.
 *
 * Controls: GETs alone must hit, so they repeat keys and their pages are found;
 * SCANs alone must miss, for all does not fit, but not always, for they do read; GETs
 * to which all keys are alike must hit as often as in exact LRU, for there is nothing
 * to learn.
 *
 * Limits: one process makes the requests of all workers in turn; the store has no
 * index, no compaction and no cache of its own; the file is sparse.
 */
#include "arms.h"
#include "ktap.h"

/* clang-format off */
#define WORKLOAD(...)                          \
	{                                      \
		.mem_pct = 50,                 \
		.sparse = true,                \
		.scan = { .pct = 1100,         \
			  .buffer = 16 * 1024, \
			  .read_by = &reader_pread }, \
		.store = { __VA_ARGS__ },      \
	}
/* clang-format on */

static const struct workload scan_1_get_3 =
	WORKLOAD(.workers = 4, .run = 10000, .gets = 92500);
static const struct workload mixed_4 =
	WORKLOAD(.workers = 4, .mixed = true, .run = 10000, .gets = 199000);
static const struct workload scan_1_get_7 =
	WORKLOAD(.workers = 8, .run = 10000, .gets = 237200);
static const struct workload mirror =
	WORKLOAD(.workers = 4, .run = 1000, .gets = 250000, .scanned_pct = 40);

/*
 * Permille of what hits in exact LRU, and of what hits alone.
 *
 *           6.12 MGLRU  7.3 MGLRU             classic               SCANs promoted
 *   1_3     994, 584    1357..1402, 798..819  1065..1115, 601..651  914, 525
 *   mixed   1000, 680   1380, 893             1064..1127, 691..730  921, 576
 *   1_7     999, 700    1331..1352, 904..911  1052..1128, 701..748  909, 574
 *   mirror  1016, 988   976..984, 947..956    1010..1022, 982..992  325, 316
 *
 * Medians of five and six boots, and of 20 runs on 6.18, 6 to 7 s each, the verdicts
 * the same; classic is of 6.12, 6.18 and 7.3. The last column is of a shim (6.18) that
 * touches each page of a SCAN five times more or, for the mirror, drops the scanned
 * part: the bounds lie between. Exact LRU has 1000; of alone 574 to 593 in 1_3, 648 to
 * 677 in the other two. So they exclude a kernel that keeps less for GETs than it
 * would, because what is read once or ahead earns a place. 7.x puts pages that start
 * with a reference into the second-oldest generation of MGLRU; those read ahead start
 * with none and go first: by pread(), not through a mapping. A single repetition of
 * classic gave 1027 to 1142, but for the mirror.
 */
#define OF_LRU_MIN 950
#define OF_ALONE_1_3_MIN 550
#define OF_ALONE_MIN 615
#define SCAN_OF_LRU_MIN 700
#define SCAN_OF_ALONE_MIN 700

/* Of the controls, permille */
#define GET_ALONE_HITS_MIN 400 /* below: no key is asked for again */
#define SCAN_ALONE_KEPT_MIN 45 /* of the store; below: SCANs fill no memory */
#define SCAN_ALONE_HITS_MAX 250 /* above: no pressure, or a bad meter */
#define NO_SKEW_OF_LRU_MIN 850 /* what is held is not what was read */
#define NO_SKEW_OF_LRU_MAX 1150
#define PART_ALONE_HITS_MIN 990 /* below: something else evicts */

FIXTURE(get_scan)
{
	struct experiment exp;
};

FIXTURE_VARIANT(get_scan)
{
	enum reclaim reclaim;
	const struct workload *workload;
	int64_t of_alone_min;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(get_scan, classic_1_3) {
	RECLAIM_CLASSIC, &scan_1_get_3, OF_ALONE_1_3_MIN,
};

FIXTURE_VARIANT_ADD(get_scan, classic_mixed) {
	RECLAIM_CLASSIC, &mixed_4, OF_ALONE_MIN,
};

FIXTURE_VARIANT_ADD(get_scan, classic_1_7) {
	RECLAIM_CLASSIC, &scan_1_get_7, OF_ALONE_MIN,
};

FIXTURE_VARIANT_ADD(get_scan, mglru_1_3) {
	RECLAIM_MGLRU, &scan_1_get_3, OF_ALONE_1_3_MIN,
};

FIXTURE_VARIANT_ADD(get_scan, mglru_mixed) {
	RECLAIM_MGLRU, &mixed_4, OF_ALONE_MIN,
};

FIXTURE_VARIANT_ADD(get_scan, mglru_1_7) {
	RECLAIM_MGLRU, &scan_1_get_7, OF_ALONE_MIN,
};

/* clang-format on */

enum { WARMED = 1 << WARM_UP | 1 << SETTLED };

enum { BESIDE, GET_ALONE, SCAN_ALONE, NO_SKEW, NR_ARMS };

static const struct arm arms[NR_ARMS] = {
	[BESIDE] = {
		.name = "beside",
		.alone = GET_ALONE,
		.measured = 1 << GET_HITS | 1 << LRU_GET_HITS | 1 << GET_WAIT |
			    1 << GET_RATE | 1 << SCAN_HITS |
			    1 << LRU_SCAN_HITS | 1 << SCAN_RATE |
			    1 << REFAULTS | 1 << ACTIVATIONS | WARMED,
		.bounds = { { GET_OF_LRU, AT_LEAST, OF_LRU_MIN,
			      "SCANs evict what exact LRU keeps for GETs" },
			    { GET_OF_ALONE, AT_LEAST, 0,
			      "SCANs evict what GETs come back to" } },
	},
	[GET_ALONE] = {
		.name = "get_alone",
		.no_scan = true,
		.measured = 1 << GET_OF_LRU | 1 << GET_RATE | WARMED,
		.bounds = { { GET_HITS, AT_LEAST, GET_ALONE_HITS_MIN,
			      .doubt = "GETs alone found nothing cached" } },
	},
	[SCAN_ALONE] = {
		.name = "scan_alone",
		.no_get = true,
		.measured = 1 << SCAN_RATE | WARMED,
		.bounds = { { SCAN_HITS, AT_MOST, SCAN_ALONE_HITS_MAX,
			      .doubt = "SCANs alone found what cannot all be cached" },
			    { KEPT, AT_LEAST, SCAN_ALONE_KEPT_MIN,
			      .doubt = "SCANs alone left nothing cached" } },
	},
	[NO_SKEW] = {
		.name = "no_skew",
		.no_scan = true,
		.no_skew = true,
		.measured = 1 << GET_HITS | WARMED,
		.bounds = { { GET_OF_LRU, AT_LEAST, NO_SKEW_OF_LRU_MIN,
			      .doubt = "GETs without skew hit less than the memory holds" },
			    { GET_OF_LRU, AT_MOST, NO_SKEW_OF_LRU_MAX,
			      .doubt = "GETs without skew hit more than the memory holds" } },
	},
};

FIXTURE_SETUP(get_scan)
{
	ktap_setup(_metadata, &self->exp, variant->workload, variant->reclaim,
		   arms, NR_ARMS);
}

FIXTURE_TEARDOWN(get_scan)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(get_scan, keeps_what_get_repeats, KTAP_TIMEOUT)
{
	struct arm judged[NR_ARMS];

	memcpy(judged, arms, sizeof(judged));
	judged[BESIDE].bounds[1].value = variant->of_alone_min;
	ktap_test(_metadata, variant, &self->exp, judged, NR_ARMS);
}

FIXTURE(get_scan_mirror)
{
	struct experiment exp;
};

FIXTURE_VARIANT(get_scan_mirror)
{
	enum reclaim reclaim;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(get_scan_mirror, classic) {
	RECLAIM_CLASSIC,
};

FIXTURE_VARIANT_ADD(get_scan_mirror, mglru) {
	RECLAIM_MGLRU,
};

/* clang-format on */

enum { MIRROR, PART_ALONE, SCAN_ALL, NR_MIRROR_ARMS };

static const struct arm mirror_arms[NR_MIRROR_ARMS] = {
	[MIRROR] = {
		.name = "beside",
		.alone = PART_ALONE,
		.measured = 1 << SCAN_HITS | 1 << LRU_SCAN_HITS |
			    1 << SCAN_RATE | 1 << LRU_GET_HITS |
			    1 << GET_WAIT | 1 << GET_RATE | 1 << REFAULTS |
			    1 << ACTIVATIONS | WARMED,
		.bounds = { { SCAN_OF_LRU, AT_LEAST, SCAN_OF_LRU_MIN,
			      "GETs evict what exact LRU keeps for SCANs" },
			    { SCAN_OF_ALONE, AT_LEAST, SCAN_OF_ALONE_MIN,
			      "GETs evict what SCANs come back to" },
			    { GET_HITS, AT_LEAST, GET_ALONE_HITS_MIN,
			      .doubt = "GETs found nothing cached" } },
	},
	[PART_ALONE] = {
		.name = "scan_alone",
		.no_get = true,
		.measured = WARMED,
		.bounds = { { SCAN_HITS, AT_LEAST, PART_ALONE_HITS_MIN,
			      .doubt = "the scanned part shrank with no GETs" } },
	},
	[SCAN_ALL] = {
		.name = "scan_all",
		.scan_all = true,
		.measured = WARMED,
		.bounds = { { SCAN_HITS, AT_MOST, SCAN_ALONE_HITS_MAX,
			      .doubt = "SCANs of all found what cannot all be cached" } },
	},
};

FIXTURE_SETUP(get_scan_mirror)
{
	ktap_setup(_metadata, &self->exp, &mirror, variant->reclaim,
		   mirror_arms, NR_MIRROR_ARMS);
}

FIXTURE_TEARDOWN(get_scan_mirror)
{
	ktap_conclude(_metadata, variant);
}

TEST_F_TIMEOUT(get_scan_mirror, keeps_what_scan_repeats, KTAP_TIMEOUT)
{
	ktap_test(_metadata, variant, &self->exp, mirror_arms, NR_MIRROR_ARMS);
}

int main(int argc, char **argv)
{
	static const struct workload *const workloads[] = { &scan_1_get_3 };

	return ktap_main(argc, argv, workloads, ARRAY_SIZE(workloads));
}
