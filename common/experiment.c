// SPDX-License-Identifier: GPL-2.0
#include "experiment.h"

#include "failure.h"
#include "lab.h"
#include "need.h"
#include "scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define REPS_PASS 3
#define REPS_FAIL 5
#define REPS_MAX 11
#define REPS_LIMIT 99

static uint64_t page_round(uint64_t bytes)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return bytes / page * page;
}

static uint64_t limit_of(const struct workload *w, uint64_t mem_bytes)
{
	return w->mem_pct ? page_round(mem_bytes * w->mem_pct / 100) :
			    mem_bytes;
}

static uint64_t hot_bytes(const struct workload *w, uint64_t mem_bytes)
{
	return page_round(limit_of(w, mem_bytes) * w->hot.pct / 100);
}

static uint64_t scan_bytes(const struct workload *w, uint64_t mem_bytes)
{
	if (w->scan.same_file)
		return 0;
	return page_round(limit_of(w, mem_bytes) * w->scan.pct / 100);
}

static bool is_sparse(const struct workload *w, const struct options *options)
{
	return w->sparse && !options->data;
}

uint64_t experiment_bytes(const struct workload *workload,
			  const struct options *options)
{
	if (is_sparse(workload, options))
		return 0;
	return hot_bytes(workload, options->mem_bytes) +
	       scan_bytes(workload, options->mem_bytes);
}

bool bound_holds(const struct bound *bound, int64_t value)
{
	switch (bound->kind) {
	case AT_LEAST:
		return value >= bound->value;
	case AT_MOST:
		return value <= bound->value;
	case NO_BOUND:
		break;
	}
	return true;
}

static const struct bound *bound_of(const struct arm *arm, enum metric metric)
{
	for (int i = 0; i < ARM_BOUNDS; i++)
		if (arm->bounds[i].kind != NO_BOUND &&
		    arm->bounds[i].of == metric)
			return &arm->bounds[i];
	return NULL;
}

static bool is_in_memcg(const struct experiment *exp)
{
	return exp->workload.mem_pct && !exp->lab->options.machine;
}

static size_t scan_buffer(const struct experiment *exp)
{
	size_t asked = exp->lab->options.buffer;

	return asked ? asked : exp->workload.scan.buffer;
}

static uint64_t part_bytes(const struct experiment *exp)
{
	return page_round(exp->mem_bytes * exp->workload.scan.part_pct / 100);
}

static const struct reader_ops *scan_ops(const struct experiment *exp,
					 const struct arm *arm)
{
	return arm->scan_by ? arm->scan_by : exp->workload.scan.read_by;
}

#define GET_ZIPF 0.99

static struct get_scan requests_of(const struct experiment *exp,
				   const struct arm *arm, uint64_t seed)
{
	const struct workload *w = &exp->workload;
	uint64_t records = exp->scan_bytes / RECORD_BYTES;
	uint64_t scanned = records;
	struct get_scan of;

	if (!w->store.workers)
		return (struct get_scan){ 0 };
	if (w->store.scanned_pct && !arm->scan_all)
		scanned = exp->mem_bytes / RECORD_BYTES * w->store.scanned_pct /
			  100;
	of = (struct get_scan){
		.records = records,
		.scanned = scanned / SCAN_ALIGN * SCAN_ALIGN,
		.memory = exp->mem_bytes,
		.run = arm->no_scan ? 0 : w->store.run,
		.gets = arm->no_get ? 0 : w->store.gets,
		.zipf = arm->no_skew ? 0 : GET_ZIPF,
		.workers = w->store.workers,
		.mixed = w->store.mixed,
		.seed = seed,
		.buffer = scan_buffer(exp),
		.read_by = scan_ops(exp, arm),
	};
	get_scan_windows(&of);
	return of;
}

/* What @arm makes of the workload. */
static struct trial trial_of(struct experiment *exp, const struct arm *arm,
			     uint64_t seed)
{
	const struct workload *w = &exp->workload;
	const struct options *options = &exp->lab->options;
	const struct bound *left = bound_of(arm, SCAN_LEFT);
	const struct reader_ops *warm_by = arm->warm_by ? arm->warm_by :
							  w->hot.warm_by;
	uint64_t pages = exp->hot_bytes / sysconf(_SC_PAGESIZE);

	return (struct trial){
		.name = arm->name,
		.seed = seed,
		.mem_bytes = is_in_memcg(exp) ? exp->mem_bytes : 0,
		.high_bytes = exp->mem_bytes * w->high_pct / 100,
		.sparse = is_sparse(w, options),
		.hot = {
			.bytes = exp->hot_bytes,
			.warm = arm->warm ? arm->warm : w->hot.warm,
			.readers = options->hot_readers,
			.touches = arm->idle ? 0 :
					       pages * w->hot.touches / 1000,
			.sequential = w->hot.sequential,
			.no_readahead = w->hot.no_readahead,
			.warm_by = warm_by,
			/* A set that is not re-read is also left by its reader. */
			.read_by = arm->idle ? warm_by : w->hot.read_by,
		},
		.scan = {
			.bytes = exp->scan_bytes,
			.part_bytes = part_bytes(exp),
			.passes = w->scan.passes ? w->scan.passes : 1,
			.scanners = options->scanners,
			.buffer = scan_buffer(exp),
			.share = w->scan.share,
			.random = w->scan.random,
			.same_file = w->scan.same_file,
			.no_readahead = w->scan.no_readahead,
			.verify = w->scan.verify,
			.read_by = scan_ops(exp, arm),
		},
		.settle_max = left && left->kind == AT_MOST ? left->value :
							      INT64_MAX,
		.get_scan = requests_of(exp, arm, seed),
		.measured = arm->measured,
		.written = exp->written,
	};
}

/* values[arm][metric][repetition] */
static int64_t *cell(int64_t *values, unsigned int arm, enum metric metric)
{
	return values + ((size_t)arm * NR_METRICS + metric) * REPS_LIMIT;
}

/* In how many repetitions it held. */
static unsigned int times_held(const struct bound *bound, const int64_t *value,
			       unsigned int reps)
{
	unsigned int held = 0;

	for (unsigned int i = 0; i < reps; i++)
		held += bound_holds(bound, value[i]);
	return held;
}

/*
 * When more repetitions would not change the verdict. A bound that wavers is decided
 * when most of REPS_MAX held it, or most did not: the median is what is judged. One
 * bound of the property that never holds decides it, however others waver; controls
 * must not.
 */
static bool is_clear(const struct arm *arms, unsigned int nr_arms,
		     int64_t *values, unsigned int reps)
{
	bool open = false, fails = false, all_hold = true;

	for (unsigned int a = 0; a < nr_arms; a++) {
		for (int b = 0; b < ARM_BOUNDS; b++) {
			const struct bound *bound = &arms[a].bounds[b];
			unsigned int held = times_held(
				bound, cell(values, a, bound->of), reps);
			unsigned int most = held > reps - held ? held :
								 reps - held;
			bool wavers = most < reps;

			if (bound->doubt && wavers)
				return false;
			open |= wavers && most <= REPS_MAX / 2;
			fails |= !held && !bound->doubt;
			all_hold &= held == reps;
		}
	}
	if (open && !fails)
		return false;
	return reps >= (all_hold ? REPS_PASS : REPS_FAIL);
}

static void conclude(unsigned int nr_arms, int64_t *values, unsigned int reps,
		     struct outcome *outcomes)
{
	for (unsigned int a = 0; a < nr_arms; a++)
		for (int m = 0; m < NR_METRICS; m++) {
			int64_t *v = cell(values, a, m);

			outcomes[a].metric[m] = (struct summary){ 0 };
			if (v[0] != NOT_MEASURED)
				outcomes[a].metric[m] = summarize(v, reps);
		}
}

static void share_of(int64_t *values, unsigned int arm, unsigned int alone,
		     enum metric hits, enum metric share, unsigned int rep)
{
	int64_t part = cell(values, arm, hits)[rep];
	int64_t whole = cell(values, alone, hits)[rep];

	if (part != NOT_MEASURED && whole > 0)
		cell(values, arm, share)[rep] = permille(part, whole);
}

/* What each arm has of another one, of the same repetition. */
static void compare_arms(const struct arm *arms, unsigned int nr_arms,
			 int64_t *values, unsigned int rep)
{
	for (unsigned int a = 0; a < nr_arms; a++) {
		if (!arms[a].alone)
			continue;
		share_of(values, a, arms[a].alone, GET_HITS, GET_OF_ALONE, rep);
		share_of(values, a, arms[a].alone, SCAN_HITS, SCAN_OF_ALONE,
			 rep);
	}
}

static int run_repetitions(struct experiment *exp, const struct arm *arms,
			   unsigned int nr_arms, struct trial_result *result,
			   int64_t *values, unsigned int *reps)
{
	unsigned int asked = exp->lab->options.reps ? exp->lab->options.reps :
						      exp->workload.reps;

	for (*reps = 0;;) {
		for (unsigned int i = 0; i < nr_arms; i++) {
			unsigned int a = (i + *reps) % nr_arms;
			/* All arms of a repetition read in the same order. */
			struct trial trial = trial_of(exp, &arms[a], *reps + 1);
			int err = trial_run(exp->lab, &trial, result);

			if (result->stat.oom_kills > 0)
				exp->oom = result->stat;
			if (err)
				return err;
			for (int m = 0; m < NR_METRICS; m++)
				cell(values, a, m)[*reps] = result->metric[m];
		}
		compare_arms(arms, nr_arms, values, *reps);
		++*reps;
		if (asked ? *reps == asked :
			    *reps == REPS_MAX ||
				    is_clear(arms, nr_arms, values, *reps))
			return 0;
	}
}

int experiment_run(struct experiment *exp, const struct arm *arms,
		   unsigned int nr_arms, struct outcome *outcomes)
{
	size_t len =
		(size_t)nr_arms * NR_METRICS * REPS_LIMIT * sizeof(int64_t) +
		sizeof(struct trial_result);
	unsigned int reps;
	int64_t *values;
	void *shared;
	int err;

	shared = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return failure_note(&exp->lab->failure, -errno, "mmap");
	values = (int64_t *)((char *)shared + sizeof(struct trial_result));
	trial_written(exp->lab, exp->written);
	err = run_repetitions(exp, arms, nr_arms, shared, values, &reps);
	if (!err)
		conclude(nr_arms, values, reps, outcomes);
	munmap(shared, len);
	return err;
}

const char *experiment_doubt(const struct arm *arms, unsigned int nr_arms,
			     const struct outcome *outcomes)
{
	for (unsigned int a = 0; a < nr_arms; a++)
		for (int b = 0; b < ARM_BOUNDS; b++) {
			const struct bound *bound = &arms[a].bounds[b];
			const struct summary *s =
				&outcomes[a].metric[bound->of];

			if (bound->kind == NO_BOUND || !bound->doubt)
				continue;
			if (!s->n || !bound_holds(bound, s->median))
				return bound->doubt;
		}
	return NULL;
}

/* ----- setting up ----- */

/*
 * At worst there are, beside the hot set and the part, what was read ahead of
 * the part, and two windows of the scan; one more for what is in flight.
 */
#define READ_AHEAD_WINDOWS 4

static void room_needs(struct experiment *exp, struct needs *needs)
{
	struct lab *lab = exp->lab;
	unsigned int kb = lab->scratch.read_ahead_knob[0] ?
				  lab->options.read_ahead_kb :
				  lab->scratch.read_ahead_kb;
	uint64_t want = (uint64_t)kb * 1024 * READ_AHEAD_WINDOWS;
	uint64_t room = exp->mem_bytes - exp->hot_bytes - part_bytes(exp);

	if (want > room)
		need_add(
			needs, "a higher memory limit",
			"read_ahead_kb %u wants %llu MiB beside the hot set, the limit leaves %llu: set MM_CACHE_MEM higher, or unset MM_CACHE_DIR",
			kb, (unsigned long long)(want / MIB),
			(unsigned long long)(room / MIB));
}

static void workload_needs(struct experiment *exp, enum reclaim reclaim,
			   struct needs *needs)
{
	const struct workload *w = &exp->workload;
	struct lab *lab = exp->lab;
	enum reclaim only = lab->options.reclaim;

	if (only != RECLAIM_ANY && reclaim != RECLAIM_ANY && reclaim != only)
		need_add(needs, "another MM_CACHE_RECLAIM",
			 "only %s was asked for", reclaim_name(only));
	if (is_in_memcg(exp))
		needs_merge(needs, &lab->memcg_needs);
	if (w->scan.needs_room)
		room_needs(exp, needs);
	if (w->high_pct && lab->options.machine)
		need_add(needs, "a memcg",
			 "memory.high is of one: set MM_CACHE_MEM to a size");
	else if (w->high_pct && lab->memcg.flavour == MEMCG_V1)
		need_add(
			needs, "memory.high",
			"only cgroup v2 has it, and here the memory controller is on v1: boot with cgroup_no_v1=memory");
	if ((w->hot.no_readahead || w->scan.no_readahead) &&
	    !lab->scratch.read_ahead_knob[0])
		need_add(
			needs, "a scratch device of our own",
			"read_ahead_kb of a device that others use is not touched: unset MM_CACHE_DIR");
}

/* A bound on what the kernel does not count could only be inconclusive. */
static void counter_needs(const struct arm *arms, unsigned int nr_arms,
			  struct needs *needs)
{
	for (unsigned int a = 0; a < nr_arms; a++)
		if (bound_of(&arms[a], AMPLIFICATION) && read_bytes_now() < 0)
			need_add(
				needs, "CONFIG_TASK_IO_ACCOUNTING",
				"no read_bytes in /proc/self/io: boot a kernel with CONFIG_TASK_IO_ACCOUNTING=y");
}

int experiment_open(struct experiment *exp, struct lab *lab,
		    const struct workload *workload, enum reclaim reclaim,
		    const struct arm *arms, unsigned int nr_arms,
		    struct needs *needs)
{
	const char *scan_file;
	struct trial layout;
	int err;

	*exp = (struct experiment){ .lab = lab, .workload = *workload };
	exp->mem_bytes = limit_of(workload, lab->options.mem_bytes);
	exp->hot_bytes = hot_bytes(workload, lab->options.mem_bytes);
	exp->scan_bytes = scan_bytes(workload, lab->options.mem_bytes);
	err = keeper_group(&lab->keeper);
	if (err)
		return failure_note(&lab->failure, err, "reach the keeper");
	workload_needs(exp, reclaim, needs);
	counter_needs(arms, nr_arms, needs);
	/* Selected even if others are missing: all needs are told at once. */
	err = reclaim_select(reclaim, &lab->keeper, needs);
	if (err && err != -ENOENT)
		return failure_note(&lab->failure, err, "select %s reclaim",
				    reclaim_name(reclaim));
	layout = trial_of(exp, &arms[0], 0);
	scan_file = trial_scan_file(&layout);
	err = trial_lay_out(lab, &layout, needs);
	/* Without the files no reader can be tried. */
	if (err == -ENOENT && !lab->failure.err)
		return 0;
	if (!err)
		err = trial_reader_need(lab, workload->scan.read_by, scan_file,
					needs);
	for (unsigned int a = 0; !err && a < nr_arms; a++)
		err = trial_reader_need(lab, arms[a].scan_by, scan_file, needs);
	return err;
}
