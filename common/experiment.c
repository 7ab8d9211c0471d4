// SPDX-License-Identifier: GPL-2.0
#include "experiment.h"

#include "failure.h"
#include "folio.h"
#include "hot_set.h"
#include "lab.h"
#include "need.h"
#include "other.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define REPS_PASS 3
#define REPS_FAIL 5
#define REPS_MAX 11
#define REPS_LIMIT 99
#define DROP_TIMEOUT_MS 2000
/* RWF_DONTCACHE is best effort: what is left may go a moment later. */
#define SETTLE_TIMEOUT_MS 1000
#define SETTLE_STEP_NS (1000 * 1000)
#define NOT_MEASURED INT64_MIN
#define TRY_LEN 4096
/*
 * The memcg is flushed so often while as much as its limit is scanned: what the
 * kernel does by itself every two seconds, of 2.5 GiB at 300 MB/s.
 */
#define FLUSHES 4

/* Seeds of the two files: their contents have nothing in common. */
#define HOT_SEED 0x10000000000ULL
#define SCAN_SEED 0x20000000000ULL

static const struct {
	const char *name;
	const char *unit;
} metrics[NR_METRICS] = {
	[KEPT] = { "kept", "permille" },
	[KEPT_FIRST] = { "kept_first", "permille" },
	[KEPT_CHANGE] = { "kept_change", "permille" },
	[EVICTED] = { "evicted", "pages" },
	[MISSED] = { "missed", "reads" },
	[REFAULTS] = { "refaults", "pages" },
	[SCAN_LEFT] = { "scan_left", "pages" },
	[PART_KEPT] = { "part_kept", "permille" },
	[OTHER_FAULTS] = { "other_faults", "faults" },
	[FOLIO] = { "folio", "KiB" },
	[AMPLIFICATION] = { "amplification", "permille" },
	[THROUGHPUT] = { "throughput", "KiB/s" },
	[SETTLE_TIME] = { "settle_time", "us" },
	[BAD_WORDS] = { "bad_words", "words" },
};

const char *metric_name(enum metric metric)
{
	return metrics[metric].name;
}

const char *metric_unit(enum metric metric)
{
	return metrics[metric].unit;
}

/* Lives in memory shared by the test process and the process of the trial. */
struct trial {
	const struct arm *arm;
	uint64_t seed;
	int err;
	struct failure failure;
	int64_t metric[NR_METRICS];
};

/* What the trial's process has open. */
struct work {
	struct experiment *exp;
	struct trial *trial;
	const struct memcg *memcg; /* NULL: none */
	uint64_t flush_at; /* byte of the pass where it is due again */
	struct hot_set hot;
	struct reader scan;
	struct reader scan_others[READERS_MAX - 1]; /* take turns with it */
	struct other other;
	uint64_t touches; /* hot reads due in one pass of the scan */
	uint64_t touched; /* at its start */
	int64_t before; /* pages of the scan file cached before the scan */
};

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

/* ----- the process of a trial ----- */

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

static const char *scan_file(const struct experiment *exp)
{
	return exp->workload.scan.same_file ? HOT_FILE : SCAN_FILE;
}

static int other_failed(struct work *work, int64_t err)
{
	return failure_note(&work->trial->failure, (int)err,
			    "touch a mapping of %s in another process",
			    work->scan.path);
}

/*
 * In logical time, as all of a trial. Left to the kernel's clock, classic reclaim
 * knows its LRU lists as they were at some moment before: by chance when the hot
 * set was warm and nothing else cached, so that all of it seems too much. That took
 * 0 to 83 % of a set which it keeps when it knows.
 */
static int flush_memcg(struct work *work, uint64_t done)
{
	uint64_t step = work->exp->mem_bytes / FLUSHES;
	int err;

	if (!work->memcg || done < work->flush_at)
		return 0;
	work->flush_at = done + step;
	err = memcg_flush(work->memcg);
	return err ? failure_note(&work->trial->failure, err,
				  "read memory.stat of %s", work->memcg->path) :
		     0;
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct work *work = arg;
	int err = flush_memcg(work, done);

	if (err)
		return err;
	if (work->exp->workload.scan.share == SHARE_AHEAD && done < total) {
		int64_t faults = other_touch(&work->other, done, done + 1);

		if (faults < 0)
			return other_failed(work, faults);
	}
	if (!work->hot.pages)
		return 0;
	return hot_set_touch(&work->hot,
			     work->touched + work->touches * done / total,
			     &work->trial->failure);
}

/*
 * A file is read ahead as its device says when it is opened. A device that is
 * not ours stays as it is: experiment_open() refuses what would need more.
 */
static int set_readahead(struct experiment *exp, bool on)
{
	struct lab *lab = exp->lab;
	int err;

	err = scratch_read_ahead(&lab->scratch, &lab->keeper,
				 on ? lab->options.read_ahead_kb : 0);
	return err == -ENODEV ? 0 : err;
}

static size_t scan_buffer(const struct experiment *exp)
{
	size_t asked = exp->lab->options.buffer;

	return asked ? asked : exp->workload.scan.buffer;
}

static int open_hot(struct work *work)
{
	const struct workload *w = &work->exp->workload;
	const struct arm *arm = work->trial->arm;
	const struct reader_ops *warm_by = arm->warm_by ? arm->warm_by :
							  w->hot.warm_by;
	/* A set that is not re-read is also left by the one who read it. */
	const struct reader_ops *read_by = arm->idle ? warm_by : w->hot.read_by;
	unsigned int warm = arm->warm ? arm->warm : w->hot.warm;
	char path[PATH_MAX];
	int err;

	err = scratch_path(&work->exp->lab->scratch, HOT_FILE, path,
			   sizeof(path));
	if (!err)
		err = set_readahead(work->exp, !w->hot.no_readahead);
	if (!err)
		err = hot_set_open(&work->hot, read_by, path,
				   work->trial->seed);
	work->hot.sequential = w->hot.sequential;
	if (err)
		return failure_note(&work->trial->failure, err, "open %s",
				    path);
	while (!err && warm--)
		err = hot_set_warm(&work->hot, warm_by, &work->trial->failure);
	if (err)
		return err;
	work->hot.reader.count_missed = true;
	err = hot_set_join(&work->hot, work->exp->lab->options.hot_readers);
	if (err)
		return failure_note(&work->trial->failure, err, "open %s",
				    path);
	if (!arm->idle)
		work->touches = work->hot.pages * w->hot.touches / 1000;
	return err;
}

static uint64_t part_bytes(const struct experiment *exp)
{
	return page_round(exp->mem_bytes * exp->workload.scan.part_pct / 100);
}

/*
 * The first part of the scan file, and no page of what comes after it: what is
 * still being read ahead would count as left by the scan later.
 */
static int cache_part(struct work *work, const char *path)
{
	const struct scan scan = { .to = part_bytes(work->exp), .buffer = MIB };
	struct scan_result result;
	struct reader reader;
	int err;

	if (work->exp->workload.scan.share != NOT_SHARED) {
		int64_t faults = other_start(&work->other, path);

		if (!faults && scan.to)
			faults = other_touch(&work->other, 0, scan.to);
		return faults < 0 ? other_failed(work, faults) : 0;
	}
	if (!scan.to)
		return 0;
	err = reader_open(&reader, &reader_random, path, scan.buffer);
	if (err)
		return failure_note(&work->trial->failure, err, "open %s",
				    path);
	err = scan_run(&reader, &scan, &result, &work->trial->failure);
	reader_close(&reader);
	return err;
}

static int count_scan_cached(struct work *work, int64_t *pages)
{
	struct residency r;
	int err;

	err = residency_read(work->exp->lab->meter, work->scan.fd, 0,
			     work->scan.size, &r);
	if (err)
		return failure_note(&work->trial->failure, err,
				    "count cached pages of %s",
				    work->scan.path);
	*pages = r.cached;
	return 0;
}

static const struct reader_ops *scan_ops(const struct experiment *exp,
					 const struct arm *arm)
{
	return arm->scan_by ? arm->scan_by : exp->workload.scan.read_by;
}

static bool writes(const struct reader_ops *ops)
{
	return (ops->open_flags & O_ACCMODE) == O_RDWR;
}

static int open_scan(struct work *work)
{
	const struct workload *w = &work->exp->workload;
	const struct reader_ops *by = scan_ops(work->exp, work->trial->arm);
	struct lab *lab = work->exp->lab;
	char path[PATH_MAX];
	int err;

	err = scratch_path(&lab->scratch, scan_file(work->exp), path,
			   sizeof(path));
	if (!err)
		err = set_readahead(work->exp, true);
	if (!err)
		err = cache_part(work, path);
	if (!err)
		err = set_readahead(work->exp, !w->scan.no_readahead);
	if (!err)
		err = reader_open(&work->scan, by, path,
				  scan_buffer(work->exp));
	work->scan.seed = SCAN_SEED;
	for (unsigned int i = 1; !err && i < lab->options.scanners; i++)
		err = reader_open(&work->scan_others[i - 1], by, path,
				  scan_buffer(work->exp));
	if (err)
		return failure_note(&work->trial->failure, err, "open %s by %s",
				    path, by->name);
	return count_scan_cached(work, &work->before);
}

/* Measured at once, and again for a while where a bound asks for less. */
static int measure_scan_left(struct work *work, int64_t *metric)
{
	const struct timespec step = { .tv_nsec = SETTLE_STEP_NS };
	const struct bound *bound = bound_of(work->trial->arm, SCAN_LEFT);
	uint64_t start = clock_ns();
	int64_t cached;
	int err;

	for (;;) {
		uint64_t waited = clock_ns() - start;

		err = count_scan_cached(work, &cached);
		if (err)
			return err;
		metric[SCAN_LEFT] = cached - work->before;
		metric[SETTLE_TIME] = (int64_t)(waited / 1000);
		if (!bound || bound_holds(bound, metric[SCAN_LEFT]) ||
		    waited > SETTLE_TIMEOUT_MS * 1000000ULL)
			return 0;
		nanosleep(&step, NULL);
	}
}

static int read_hot(struct work *work, struct residency *r)
{
	int err = residency_read(work->exp->lab->meter, work->hot.reader.fd, 0,
				 work->hot.reader.size, r);

	if (err)
		return failure_note(&work->trial->failure, err,
				    "count cached pages of %s",
				    work->hot.reader.path);
	return 0;
}

static int measure_hot(struct work *work, int64_t *metric)
{
	struct residency r;
	int err = read_hot(work, &r);

	if (err)
		return err;
	metric[KEPT] = permille(r.cached, r.pages);
	if (metric[KEPT_FIRST] != NOT_MEASURED)
		metric[KEPT_CHANGE] = metric[KEPT] - metric[KEPT_FIRST];
	if (r.evicted >= 0)
		metric[EVICTED] = r.evicted;
	return 0;
}

/* Its faults are counted at the end: what it touches would come back. */
static int measure_other(struct work *work, int64_t *metric)
{
	off_t step = scan_buffer(work->exp);
	int64_t faults = 0;

	if (work->exp->workload.scan.share == SHARE_PART) {
		faults = other_touch(&work->other, 0, part_bytes(work->exp));
	} else {
		metric[OTHER_FAULTS] = 0;
		for (off_t at = step; faults >= 0 && at < work->scan.size;
		     at += step) {
			metric[OTHER_FAULTS] += faults;
			faults = other_touch(&work->other, at, at + 1);
		}
		if (faults >= 0)
			faults += metric[OTHER_FAULTS];
	}
	if (faults < 0)
		return other_failed(work, faults);
	metric[OTHER_FAULTS] = faults;
	return 0;
}

static int measure_part(struct work *work, int64_t *metric)
{
	struct residency r;
	int err;

	err = residency_read(work->exp->lab->meter, work->scan.fd, 0,
			     part_bytes(work->exp), &r);
	if (err)
		return failure_note(&work->trial->failure, err,
				    "count cached pages of %s",
				    work->scan.path);
	metric[PART_KEPT] = permille(r.cached, r.pages);
	return 0;
}

/* A figure that explains; a kernel that does not tell it is no error. */
static void measure_folio(struct work *work, int64_t *metric)
{
	int64_t kib = folio_median_kib(work->scan.fd, work->scan.size);

	if (kib >= 0)
		metric[FOLIO] = kib;
}

static int measure_files(struct work *work)
{
	int64_t *metric = work->trial->metric;
	int err = 0;

	if (work->hot.pages)
		err = measure_hot(work, metric);
	if (!err && part_bytes(work->exp))
		err = measure_part(work, metric);
	if (!err)
		err = measure_scan_left(work, metric);
	if (!err && work->trial->arm->measured & 1 << FOLIO)
		measure_folio(work, metric);
	if (!err && work->exp->workload.scan.share != NOT_SHARED)
		err = measure_other(work, metric);
	return err;
}

static int64_t major_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_majflt;
}

/* What was written, from storage and not from the cache. */
static int verify_written(struct work *work)
{
	const struct scan scan = { .buffer = MIB,
				   .verify = true,
				   .seed = SCAN_SEED };
	struct scan_result result;
	struct reader reader;
	int err;

	err = reader_open(&reader, &reader_direct, work->scan.path, MIB);
	if (err)
		return failure_note(&work->trial->failure, err,
				    "open %s by O_DIRECT", work->scan.path);
	err = scan_run(&reader, &scan, &result, &work->trial->failure);
	reader_close(&reader);
	work->trial->metric[BAD_WORDS] = (int64_t)result.bad_words;
	return err;
}

static int scan_passes(struct work *work, struct scan *scan,
		       struct scan_result *sum)
{
	unsigned int passes = work->exp->workload.scan.passes;
	struct residency r;
	int err = 0;

	*sum = (struct scan_result){ 0 };
	for (unsigned int pass = 0; !err && pass < (passes ? passes : 1);
	     pass++) {
		struct scan_result result;

		scan->order = work->trial->seed + ((uint64_t)pass << 32);
		work->touched = work->hot.touched;
		work->flush_at = 0;
		err = scan_run(&work->scan, scan, &result,
			       &work->trial->failure);
		sum->bytes += result.bytes;
		sum->ns += result.ns;
		sum->bad_words += result.bad_words;
		sum->read_bytes += result.read_bytes;
		if (err || pass || passes < 2)
			continue;
		err = read_hot(work, &r);
		work->trial->metric[KEPT_FIRST] = permille(r.cached, r.pages);
	}
	return err;
}

static int do_scan(struct work *work)
{
	const struct workload *w = &work->exp->workload;
	int64_t *metric = work->trial->metric;
	bool null = work->scan.ops == &reader_null;
	struct scan scan = {
		.buffer = scan_buffer(work->exp),
		.random = w->scan.random,
		.others = work->scan_others,
		.nr_others = work->exp->lab->options.scanners - 1,
		.verify = w->scan.verify && !null && !writes(work->scan.ops),
		.seed = SCAN_SEED,
		.progress = on_progress,
		.arg = work,
	};
	int64_t faults = major_faults();
	struct scan_result result;
	int err;

	err = scan_passes(work, &scan, &result);
	if (!err && writes(work->scan.ops) && fsync(work->scan.fd))
		err = failure_note(&work->trial->failure, -errno, "fsync %s",
				   work->scan.path);
	if (err)
		return err;
	metric[MISSED] = hot_set_missed(&work->hot) + major_faults() - faults;
	if (scan.verify)
		metric[BAD_WORDS] = (int64_t)result.bad_words;
	if (null)
		return 0;
	if (result.read_bytes >= 0 && !writes(work->scan.ops))
		metric[AMPLIFICATION] =
			permille(result.read_bytes, result.bytes);
	metric[THROUGHPUT] = (int64_t)(result.bytes / 1024 * 1e9 /
				       (result.ns ? result.ns : 1));
	return 0;
}

static int work_run(struct work *work)
{
	bool verify = work->exp->workload.scan.verify;
	int err = 0;

	if (work->memcg) {
		err = memcg_enter(work->memcg, 0);
		if (err)
			return failure_note(&work->trial->failure, err,
					    "enter %s", work->memcg->path);
	}
	if (work->exp->hot_bytes)
		err = open_hot(work);
	if (!err)
		err = open_scan(work);
	if (!err)
		err = do_scan(work);
	if (!err)
		err = measure_files(work);
	if (!err && verify && writes(work->scan.ops))
		err = verify_written(work);
	other_end(&work->other);
	return err;
}

static void trial_process(struct experiment *exp, struct trial *trial,
			  const struct memcg *memcg)
{
	struct work work = { .exp = exp, .trial = trial, .memcg = memcg };

	trial->err = work_run(&work);
	/* What is still open after these was lost on the way. */
	for (size_t i = 0; i < sizeof(work.scan_others) / sizeof(struct reader);
	     i++)
		reader_close(&work.scan_others[i]);
	reader_close(&work.scan);
	hot_set_close(&work.hot);
	_exit(0);
}

/* ----- the test process ----- */

static int drop_file(struct experiment *exp, const char *name)
{
	struct lab *lab = exp->lab;
	char path[PATH_MAX];
	int err;
	int fd;

	err = scratch_path(&lab->scratch, name, path, sizeof(path));
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return failure_note(&lab->failure, -errno, "open %s", path);
	err = residency_drop(lab->meter, fd, DROP_TIMEOUT_MS);
	close(fd);
	if (err && err != -EBUSY)
		failure_note(&lab->failure, err, "drop %s from the cache",
			     path);
	return err;
}

static int drop_files(struct experiment *exp)
{
	int err = 0;

	if (exp->hot_bytes)
		err = drop_file(exp, HOT_FILE);
	return err || !exp->scan_bytes ? err : drop_file(exp, SCAN_FILE);
}

static int make_memcg(struct experiment *exp, struct memcg *memcg)
{
	uint64_t high = exp->mem_bytes * exp->workload.high_pct / 100;
	struct lab *lab = exp->lab;
	int err;

	err = memcg_child(&lab->memcg, "trial", memcg);
	/* One that an earlier test left when it was killed. */
	if (!err)
		memcg_remove(memcg->path);
	if (!err)
		err = memcg_make(memcg);
	if (!err)
		err = memcg_limit(memcg, exp->mem_bytes, high);
	if (err)
		failure_note(&lab->failure, err, "make and limit %s",
			     memcg->path);
	return err;
}

static int read_memcg(struct experiment *exp, struct trial *trial,
		      const struct memcg *memcg)
{
	struct memcg_stat stat;
	int err;

	err = memcg_read(memcg, &stat);
	if (err)
		return failure_note(&exp->lab->failure, err, "read %s",
				    memcg->path);
	if (stat.refault_file >= 0)
		trial->metric[REFAULTS] = stat.refault_file;
	if (stat.oom_kills > 0)
		exp->oom = stat;
	return 0;
}

static int wait_for(pid_t pid, struct experiment *exp, struct trial *trial)
{
	struct failure *failure = &exp->lab->failure;
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return failure_note(failure, -errno,
					    "wait for a trial");
	if (WIFSIGNALED(status))
		return failure_note(failure, -EINTR,
				    "arm %s was killed by signal %d",
				    trial->arm->name, WTERMSIG(status));
	if (trial->err)
		*failure = trial->failure;
	return trial->err;
}

static int try_trial(struct experiment *exp, struct trial *trial)
{
	bool limited = is_in_memcg(exp);
	struct lab *lab = exp->lab;
	struct memcg memcg;
	pid_t pid;
	int left;
	int err;

	for (int i = 0; i < NR_METRICS; i++)
		trial->metric[i] = NOT_MEASURED;
	err = drop_files(exp);
	if (!err && limited)
		err = make_memcg(exp, &memcg);
	if (err)
		return err;
	pid = fork();
	if (!pid)
		trial_process(exp, trial, limited ? &memcg : NULL);
	err = pid < 0 ? failure_note(&lab->failure, -errno, "fork") :
			wait_for(pid, exp, trial);
	if (!limited)
		return err;
	if (read_memcg(exp, trial, &memcg) == 0 && exp->oom.oom_kills > 0)
		err = -ENOMEM;
	/* Pages that somebody else holds were never the memcg's to reclaim. */
	left = drop_files(exp);
	if (!err)
		err = left;
	if (memcg_remove(memcg.path) && !err)
		err = failure_note(&lab->failure, -EBUSY, "remove %s",
				   memcg.path);
	return err;
}

/* When the two files were last written; 0 for one that is not used. */
static void read_written(struct experiment *exp, struct timespec written[2])
{
	static const char *const names[2] = { HOT_FILE, SCAN_FILE };
	char path[PATH_MAX];
	struct stat st;

	memset(written, 0, 2 * sizeof(*written));
	for (int i = 0; i < 2; i++)
		if (!scratch_path(&exp->lab->scratch, names[i], path,
				  sizeof(path)) &&
		    !lstat(path, &st))
			written[i] = st.st_mtim;
}

/* A page that somebody else writes is charged to him, and not ours to lose. */
static int run_trial(struct experiment *exp, struct trial *trial)
{
	int err = try_trial(exp, trial);
	struct timespec written[2];

	if (exp->lab->failure.err || (err && err != -EBUSY))
		return err;
	read_written(exp, written);
	if (writes(scan_ops(exp, trial->arm)))
		exp->written[1] = written[1];
	return memcmp(written, exp->written, sizeof(written)) ? -ESTALE : err;
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
 * When more repetitions would not change the verdict. One bound of the property
 * that never holds decides it, however others waver; controls must not.
 */
static bool is_clear(const struct arm *arms, unsigned int nr_arms,
		     int64_t *values, unsigned int reps)
{
	bool wavers = false, fails = false, all_hold = true;

	for (unsigned int a = 0; a < nr_arms; a++) {
		for (int b = 0; b < ARM_BOUNDS; b++) {
			const struct bound *bound = &arms[a].bounds[b];
			unsigned int held = times_held(
				bound, cell(values, a, bound->of), reps);

			if (bound->doubt && held && held < reps)
				return false;
			wavers |= held && held < reps;
			fails |= !held && !bound->doubt;
			all_hold &= held == reps;
		}
	}
	if (wavers && !fails)
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

static int run_repetitions(struct experiment *exp, const struct arm *arms,
			   unsigned int nr_arms, struct trial *trial,
			   int64_t *values, unsigned int *reps)
{
	unsigned int asked = exp->lab->options.reps ? exp->lab->options.reps :
						      exp->workload.reps;

	for (*reps = 0;;) {
		for (unsigned int i = 0; i < nr_arms; i++) {
			unsigned int a = (i + *reps) % nr_arms;
			int err;

			trial->arm = &arms[a];
			/* All arms of a repetition read in the same order. */
			trial->seed = *reps + 1;
			err = run_trial(exp, trial);
			if (err)
				return err;
			for (int m = 0; m < NR_METRICS; m++)
				cell(values, a, m)[*reps] = trial->metric[m];
		}
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
		sizeof(struct trial);
	unsigned int reps;
	int64_t *values;
	void *shared;
	int err;

	shared = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return failure_note(&exp->lab->failure, -errno, "mmap");
	values = (int64_t *)((char *)shared + sizeof(struct trial));
	read_written(exp, exp->written);
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

/* Whether @name is there already, @bytes long; one of another size goes. */
static bool laid_out(struct lab *lab, const char *name, uint64_t bytes)
{
	char path[PATH_MAX];
	struct stat st;

	if (scratch_path(&lab->scratch, name, path, sizeof(path)) ||
	    lstat(path, &st))
		return false;
	if ((uint64_t)st.st_size == bytes)
		return true;
	unlink(path);
	return false;
}

static int lay_out_file(struct experiment *exp, const char *name,
			uint64_t bytes, uint64_t seed)
{
	struct lab *lab = exp->lab;

	if (!bytes || laid_out(lab, name, bytes))
		return 0;
	if (is_sparse(&exp->workload, &lab->options))
		return scratch_hole(&lab->scratch, name, bytes, &lab->failure);
	return scratch_file(&lab->scratch, name, bytes, seed, &lab->failure);
}

/*
 * Room that was there before may be taken meanwhile, or not be had at all: a
 * quota, or a limit on the size of files. -ENOENT then, with an entry in @needs.
 */
static int lay_out(struct experiment *exp, struct needs *needs)
{
	struct failure *failure = &exp->lab->failure;
	int err = lay_out_file(exp, HOT_FILE, exp->hot_bytes, HOT_SEED);

	if (!err)
		err = lay_out_file(exp, SCAN_FILE, exp->scan_bytes, SCAN_SEED);
	if (err != -ENOSPC && err != -EDQUOT && err != -EFBIG)
		return err;
	need_add(
		needs, "room for the test files",
		"%s; they take %llu MiB: make room, raise the quota or ulimit -f, or set MM_CACHE_MEM lower",
		failure->text,
		(unsigned long long)((exp->hot_bytes + exp->scan_bytes) / MIB));
	memset(failure, 0, sizeof(*failure));
	return -ENOENT;
}

static int reader_need(struct experiment *exp, const struct reader_ops *ops,
		       struct needs *needs)
{
	struct lab *lab = exp->lab;
	char path[PATH_MAX];
	struct reader r;
	int err;

	if (!ops || !ops->need)
		return 0;
	err = scratch_path(&lab->scratch, scan_file(exp), path, sizeof(path));
	if (!err)
		err = reader_open(&r, ops, path, TRY_LEN);
	if (!err) {
		r.seed = SCAN_SEED;
		err = reader_read(&r, 0, TRY_LEN);
		reader_close(&r);
	}
	if (err == -EOPNOTSUPP || err == -EINVAL) {
		char what[64];

		snprintf(what, sizeof(what), "%s on %s", ops->need,
			 lab->scratch.fs);
		need_add(
			needs, what,
			"reading with it gives: %s; this kernel or file system lacks it",
			strerror(-err));
		return 0;
	}
	if (err)
		return failure_note(&lab->failure, err, "read %s by %s", path,
				    ops->name);
	return 0;
}

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
	err = lay_out(exp, needs);
	/* Without the files no reader can be tried. */
	if (err == -ENOENT && !lab->failure.err)
		return 0;
	if (!err)
		err = reader_need(exp, workload->scan.read_by, needs);
	for (unsigned int a = 0; !err && a < nr_arms; a++)
		err = reader_need(exp, arms[a].scan_by, needs);
	return err;
}
