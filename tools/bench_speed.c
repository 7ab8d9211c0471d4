// SPDX-License-Identifier: GPL-2.0
/*
 * The scan and the hot reader beside fio.
 */
#include "bench.h"
#include "failure.h"
#include "fio.h"
#include "hot_set.h"
#include "scan.h"

#include <errno.h>
#include <sys/resource.h>

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000

/* Permille of fio's rate: what is missing is what the test itself costs. */
#define RATIO_MIN 950
/* A machine may reclaim at any time what was cached; then a pair is void. */
#define PAIR_TRIES 10

/*
 * @cold:         the file is absent at first; else all of it is cached
 * @count_missed: as experiments do: try RWF_NOWAIT first
 * @bytes:        read while the time is taken
 * @run:          by the instrument; how fast, in bytes per second, in @rate
 */
struct duel {
	const char *name;
	const char *file;
	bool cold;
	bool random;
	bool count_missed;
	size_t buffer;
	uint64_t bytes;
	int (*run)(struct bench *b, const struct duel *duel, uint64_t *rate);
};

struct rates {
	int64_t ours[BENCH_VALUES];
	int64_t fio[BENCH_VALUES];
	int64_t ratio[BENCH_VALUES];
	unsigned int retried;
};

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	return (uint64_t)((double)bytes * NS_PER_S / (ns ? ns : 1));
}

static int run_scan(struct bench *b, const struct duel *duel, uint64_t *rate)
{
	const struct scan scan = { .buffer = duel->buffer };
	struct scan_result result;
	uint64_t bytes = 0, ns = 0;
	struct reader r;
	int err = bench_open(b, &r, duel->file, duel->buffer);

	if (err)
		return err;
	while (!err && bytes < duel->bytes) {
		err = scan_run(&r, &scan, &result, &b->lab.failure);
		bytes += result.bytes;
		ns += result.ns;
	}
	reader_close(&r);
	*rate = per_second(bytes, ns);
	return err;
}

static int run_touches(struct bench *b, const struct duel *duel, uint64_t *rate)
{
	struct hot_set hot;
	uint64_t start;
	int err = bench_open_hot(b, &hot);

	if (err)
		return err;
	hot.reader.count_missed = duel->count_missed;
	start = clock_ns();
	err = hot_set_touch(&hot, duel->bytes / duel->buffer, &b->lab.failure);
	*rate = per_second(duel->bytes, clock_ns() - start);
	/* The reader gives up counting where the kernel cannot tell. */
	if (!err && hot.reader.count_missed != duel->count_missed)
		err = failure_note(&b->lab.failure, -EOPNOTSUPP,
				   "read %s with RWF_NOWAIT", duel->file);
	hot_set_close(&hot);
	return err;
}

static int run_fio(struct bench *b, const struct duel *duel, uint64_t *rate)
{
	const struct fio_job job = {
		.dir = b->lab.scratch.dir,
		.file = duel->file,
		.random = duel->random,
		.buffer = duel->buffer,
		.bytes = duel->bytes,
	};
	struct fio_result result;
	int err = fio_run(&job, &result, &b->lab.failure);

	if (err)
		return err;
	*rate = per_second(result.bytes, result.ms * NS_PER_MS);
	return 0;
}

static int prepare(struct bench *b, const struct duel *duel)
{
	return duel->cold ? bench_drop(b, duel->file) :
			    bench_cache(b, duel->file);
}

/* What storage delivered to us and to the programs that we waited for. */
static long delivered(void)
{
	struct rusage self, children;

	if (getrusage(RUSAGE_SELF, &self) ||
	    getrusage(RUSAGE_CHILDREN, &children))
		return 0;
	return self.ru_inblock + children.ru_inblock;
}

/* -EAGAIN when what was to come from the cache did not. */
static int run_one(struct bench *b, const struct duel *duel, bool by_fio,
		   uint64_t *rate)
{
	long before;
	int err = prepare(b, duel);

	if (err)
		return err;
	before = delivered();
	err = by_fio ? run_fio(b, duel, rate) : duel->run(b, duel, rate);
	if (err)
		return err;
	return !duel->cold && delivered() > before ? -EAGAIN : 0;
}

static int try_pair(struct bench *b, const struct duel *duel, unsigned int pair,
		    struct rates *rates)
{
	uint64_t rate[2] = { 0, 0 }; /* ours, fio's */

	for (unsigned int turn = 0; turn < 2; turn++) {
		bool by_fio = (turn + pair) % 2;
		int err = run_one(b, duel, by_fio, &rate[by_fio]);

		if (err)
			return err;
	}
	rates->ours[pair] = (int64_t)(rate[0] / BENCH_KIB);
	rates->fio[pair] = (int64_t)(rate[1] / BENCH_KIB);
	rates->ratio[pair] = permille(rate[0], rate[1]);
	return 0;
}

static int run_pair(struct bench *b, const struct duel *duel, unsigned int pair,
		    struct rates *rates)
{
	for (int i = 0; i < PAIR_TRIES; i++) {
		int err = try_pair(b, duel, pair, rates);

		if (err != -EAGAIN)
			return err;
		rates->retried++;
	}
	return failure_note(&b->lab.failure, -EAGAIN,
			    "keep %s in the cache while it is read",
			    duel->file);
}

/* From the cache, so much that fio's clock, of milliseconds, is no matter. */
static int choose_bytes(struct bench *b, struct duel *duel, uint64_t file_bytes)
{
	uint64_t rate;
	int err;

	duel->bytes = file_bytes;
	if (duel->cold)
		return 0;
	err = prepare(b, duel);
	if (!err)
		err = duel->run(b, duel, &rate);
	if (err)
		return err;
	duel->bytes *= 1 + (uint64_t)((double)rate * b->effort.pass_ns /
				      NS_PER_S / file_bytes);
	return 0;
}

static void report(struct bench *b, const struct duel *duel,
		   const struct rates *rates, int64_t others)
{
	unsigned int pairs = b->effort.pairs;
	struct summary ours = summarize(rates->ours, pairs);
	struct summary fio = summarize(rates->fio, pairs);
	struct summary ratio = summarize(rates->ratio, pairs);

	bench_report(b, duel->name, "ours", "KiB/s", &ours, NO_BOUND, 0);
	bench_report(b, duel->name, "fio", "KiB/s", &fio, NO_BOUND, 0);
	bench_report_one(b, duel->name, "others", "permille", others);
	if (!duel->cold)
		bench_report_one(b, duel->name, "retried", "pairs",
				 rates->retried);
	/* Other load only ever lowers a rate. */
	bench_report_one(b, duel->name, "best_ratio", "permille",
			 best_ratio(&ours, &fio).median);
	bench_report(b, duel->name, "ratio", "permille", &ratio, AT_LEAST,
		     RATIO_MIN);
}

static int run_duel(struct bench *b, struct duel *duel, uint64_t file_bytes)
{
	struct rates rates = { .retried = 0 };
	int err = choose_bytes(b, duel, file_bytes);
	struct bench_load load = bench_load_begin();

	for (unsigned int pair = 0; !err && pair < b->effort.pairs; pair++)
		err = run_pair(b, duel, pair, &rates);
	if (!err)
		report(b, duel, &rates, bench_load_end(&load));
	return err;
}

int bench_scan(struct bench *b)
{
	static const struct {
		size_t buffer;
		const char *name[2]; /* from the cache, cold */
	} cases[] = {
		{ 4 * BENCH_KIB, { "scan.cached_4k", "scan.cold_4k" } },
		{ 128 * BENCH_KIB, { "scan.cached_128k", "scan.cold_128k" } },
		{ BENCH_MIB, { "scan.cached_1m", "scan.cold_1m" } },
	};

	for (int cold = 1; cold >= 0; cold--)
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct duel duel = {
				.name = cases[i].name[cold],
				.file = SCAN_FILE,
				.cold = cold,
				.buffer = cases[i].buffer,
				.run = run_scan,
			};
			int err = run_duel(b, &duel, bench_scan_bytes(b));

			if (err)
				return err;
		}
	return 0;
}

int bench_touch(struct bench *b)
{
	struct duel duel = {
		.name = "touch.plain",
		.file = HOT_FILE,
		.random = true,
		.buffer = 4 * BENCH_KIB,
		.run = run_touches,
	};
	int err = run_duel(b, &duel, bench_hot_bytes(b));

	if (err)
		return err;
	duel.count_missed = true;
	duel.name = "touch.count_missed";
	return run_duel(b, &duel, bench_hot_bytes(b));
}
