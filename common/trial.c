// SPDX-License-Identifier: GPL-2.0
#include "trial.h"

#include "failure.h"
#include "folio.h"
#include "hot_set.h"
#include "lab.h"
#include "need.h"
#include "other.h"
#include "permille.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define DROP_TIMEOUT_MS 2000
/* RWF_DONTCACHE is best effort: what is left may go a moment later. */
#define SETTLE_TIMEOUT_MS 1000
#define SETTLE_STEP_NS (1000 * 1000)
#define TRY_LEN 4096

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
	[GET_HITS] = { "get_hits", "permille" },
	[GET_OF_LRU] = { "get_of_lru", "permille" },
	[LRU_GET_HITS] = { "exact_lru_get_hits", "permille" },
	[GET_OF_ALONE] = { "get_of_alone", "permille" },
	[GET_WAIT] = { "get_wait", "ns" },
	[GET_RATE] = { "get_rate", "GETs/s" },
	[SCAN_HITS] = { "scan_hits", "permille" },
	[SCAN_OF_LRU] = { "scan_of_lru", "permille" },
	[SCAN_OF_ALONE] = { "scan_of_alone", "permille" },
	[LRU_SCAN_HITS] = { "exact_lru_scan_hits", "permille" },
	[SCAN_RATE] = { "scan_rate", "records/s" },
	[ACTIVATIONS] = { "activations", "pages" },
	[WARM_UP] = { "warm_up", "windows" },
	[SETTLED] = { "warm_up_ended_by_rule", "times" },
};

const char *metric_name(enum metric metric)
{
	return metrics[metric].name;
}

const char *metric_unit(enum metric metric)
{
	return metrics[metric].unit;
}

/* What the trial's process has open. */
struct work {
	struct lab *lab;
	const struct trial *trial;
	struct trial_result *result;
	const struct memcg *memcg; /* NULL: none */
	struct hot_set hot;
	struct pacer *pacers; /* by the clock */
	struct reader scan;
	struct reader scan_others[READERS_MAX - 1]; /* take turns with it */
	struct other other;
	volatile bool over; /* the pacers are to end */
	uint64_t touched; /* hot reads at the start of the pass */
	uint64_t flush_at; /* byte of the pass, for memcg_flush_due() */
	int64_t before; /* pages of the scan file cached before the scan */
	unsigned int pass;
	uint64_t pass_start; /* ns */
	int64_t pass_read_bytes; /* at its start */
	unsigned int sampled; /* in this pass */
};

/* A thread that reads the hot set by the clock. */
struct pacer {
	struct hot_set hot;
	struct work *work;
	pthread_t thread;
	struct failure failure;
	bool running;
	int err;
};

const char *trial_scan_file(const struct trial *trial)
{
	return trial->scan.same_file ? HOT_FILE : SCAN_FILE;
}

static int other_failed(struct work *work, int64_t err)
{
	return failure_note(&work->result->failure, (int)err,
			    "touch a mapping of %s in another process",
			    work->scan.path);
}

static int read_hot(struct work *work, struct residency *r)
{
	int err = residency_read(work->lab->meter, work->hot.reader.fd, 0,
				 work->hot.reader.size, r);

	if (err)
		return failure_note(&work->result->failure, err,
				    "count cached pages of %s",
				    work->hot.reader.path);
	return 0;
}

static int take_sample(struct work *work, uint64_t done, uint64_t total)
{
	const struct trial_observer *watch = work->trial->observer;
	struct trial_sample sample = {
		.pass = work->pass,
		.ns = clock_ns(),
		.done = done,
		.total = total,
	};
	int64_t read_bytes = read_bytes_now();
	int err = 0;

	if (!watch || !watch->sample)
		return 0;
	sample.scan_ns = sample.ns - work->pass_start;
	sample.read_bytes = read_bytes < 0 ? -1 :
					     read_bytes - work->pass_read_bytes;
	if (work->hot.pages)
		err = read_hot(work, &sample.hot);
	if (err)
		return err;
	err = work->memcg ? memcg_read(work->memcg, &sample.stat) :
			    memcg_read_machine(&sample.stat);
	if (err)
		return failure_note(&work->result->failure, err, "read %s",
				    work->memcg ? work->memcg->path :
						  "/proc/vmstat");
	watch->sample(watch->arg, &sample);
	/* The scan did not take this time. */
	work->pass_start += clock_ns() - sample.ns;
	return 0;
}

/* At the begin of a pass, at its end, and as often as asked for in it. */
static int sample_pass(struct work *work, uint64_t done, uint64_t total)
{
	const struct trial_observer *watch = work->trial->observer;

	if (!watch || (done < total &&
		       done * (watch->samples + 1) < work->sampled * total))
		return 0;
	work->sampled = done * (watch->samples + 1) / total + 1;
	return take_sample(work, done, total);
}

static void throttle(const struct work *work, uint64_t done)
{
	uint64_t per_second = work->trial->scan.per_second;

	if (per_second)
		sleep_until(work->pass_start +
			    (uint64_t)(1e9 * done / per_second));
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct work *work = arg;
	const struct trial *trial = work->trial;
	const struct trial_observer *watch = trial->observer;
	int err = 0;

	if (work->memcg && !trial->hot.period_ns)
		err = memcg_flush_due(work->memcg, trial->mem_bytes, done,
				      &work->flush_at, &work->result->failure);
	if (err)
		return err;
	if (watch && watch->scan_read)
		watch->scan_read(watch->arg, work->pass, done);
	if (trial->scan.share == SHARE_AHEAD && done < total) {
		int64_t faults = other_touch(&work->other, done, done + 1);

		if (faults < 0)
			return other_failed(work, faults);
	}
	if (work->hot.pages && !trial->hot.period_ns) {
		err = hot_set_touch(&work->hot,
				    work->touched +
					    trial->hot.touches * done / total,
				    &work->result->failure);
		if (err)
			return err;
	}
	throttle(work, done);
	return sample_pass(work, done, total);
}

/*
 * A file is read ahead as its device says when it is opened. A device that is
 * not ours stays as it is: whoever needs more refuses it before.
 */
static int set_readahead(struct lab *lab, bool on)
{
	int err;

	err = scratch_read_ahead(&lab->scratch, &lab->keeper,
				 on ? lab->options.read_ahead_kb : 0);
	return err == -ENODEV ? 0 : err;
}

static int open_hot_set(struct work *work, struct hot_set *hot,
			const char *path, uint64_t seed)
{
	const struct trial *trial = work->trial;
	int err;

	err = hot_set_open(hot, trial->hot.read_by, path, seed);
	hot->sequential = trial->hot.sequential;
	if (!err && trial->hot.zipf > 0)
		err = hot_set_zipf(hot, trial->hot.zipf, trial->seed);
	if (trial->observer && trial->observer->hot_read) {
		hot->observe = trial->observer->hot_read;
		hot->observe_arg = trial->observer->arg;
	}
	return err;
}

/* Opened while read_ahead_kb is what the hot set is to have. */
static int open_pacers(struct work *work, const char *path)
{
	const struct trial *trial = work->trial;
	unsigned int n = trial->hot.readers;
	int err = 0;

	work->pacers = calloc(n, sizeof(*work->pacers));
	if (!work->pacers)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < n; i++) {
		struct pacer *p = &work->pacers[i];

		p->work = work;
		err = open_hot_set(work, &p->hot, path,
				   trial->seed + ((uint64_t)i << 16));
		p->hot.reader.count_missed = true;
	}
	return err;
}

static int open_hot(struct work *work)
{
	const struct trial *trial = work->trial;
	struct failure *failure = &work->result->failure;
	unsigned int warm = trial->hot.warm;
	char path[PATH_MAX];
	int err;

	err = scratch_path(&work->lab->scratch, HOT_FILE, path, sizeof(path));
	if (!err)
		err = set_readahead(work->lab, !trial->hot.no_readahead);
	if (!err)
		err = open_hot_set(work, &work->hot, path, trial->seed);
	if (err)
		return failure_note(failure, err, "open %s", path);
	while (!err && warm--)
		err = hot_set_warm(&work->hot, trial->hot.warm_by, failure);
	if (err)
		return err;
	work->hot.reader.count_missed = true;
	if (trial->hot.period_ns)
		err = open_pacers(work, path);
	else
		err = hot_set_join(&work->hot, trial->hot.readers);
	if (err)
		return failure_note(failure, err, "open %s", path);
	return err;
}

/*
 * The first part of the scan file, and no page of what comes after it: what is
 * still being read ahead would count as left by the scan later.
 */
static int cache_part(struct work *work, const char *path)
{
	const struct scan scan = { .to = work->trial->scan.part_bytes,
				   .buffer = MIB };
	struct scan_result result;
	struct reader reader;
	int err;

	if (work->trial->scan.share != NOT_SHARED) {
		int64_t faults = other_start(&work->other, path);

		if (!faults && scan.to)
			faults = other_touch(&work->other, 0, scan.to);
		return faults < 0 ? other_failed(work, faults) : 0;
	}
	if (!scan.to)
		return 0;
	err = reader_open(&reader, &reader_random, path, scan.buffer);
	if (err)
		return failure_note(&work->result->failure, err, "open %s",
				    path);
	err = scan_run(&reader, &scan, &result, &work->result->failure);
	reader_close(&reader);
	return err;
}

static int count_scan_cached(struct work *work, int64_t *pages)
{
	struct residency r;
	int err;

	err = residency_read(work->lab->meter, work->scan.fd, 0,
			     work->scan.size, &r);
	if (err)
		return failure_note(&work->result->failure, err,
				    "count cached pages of %s",
				    work->scan.path);
	*pages = r.cached;
	return 0;
}

static bool writes(const struct reader_ops *ops)
{
	return (ops->open_flags & O_ACCMODE) == O_RDWR;
}

static int open_scan(struct work *work)
{
	const struct trial *trial = work->trial;
	const struct reader_ops *by = trial->scan.read_by;
	struct lab *lab = work->lab;
	char path[PATH_MAX];
	int err;

	err = scratch_path(&lab->scratch, trial_scan_file(trial), path,
			   sizeof(path));
	if (!err)
		err = set_readahead(lab, true);
	if (!err)
		err = cache_part(work, path);
	if (!err)
		err = set_readahead(lab, !trial->scan.no_readahead);
	if (!err)
		err = reader_open(&work->scan, by, path, trial->scan.buffer);
	work->scan.seed = SCAN_SEED;
	for (unsigned int i = 1; !err && i < trial->scan.scanners; i++)
		err = reader_open(&work->scan_others[i - 1], by, path,
				  trial->scan.buffer);
	if (err)
		return failure_note(&work->result->failure, err,
				    "open %s by %s", path, by->name);
	return count_scan_cached(work, &work->before);
}

/* Measured at once, and again for a while where a bound asks for less. */
static int measure_scan_left(struct work *work, int64_t *metric)
{
	const struct timespec step = { .tv_nsec = SETTLE_STEP_NS };
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
		if (metric[SCAN_LEFT] <= work->trial->settle_max ||
		    waited > SETTLE_TIMEOUT_MS * 1000000ULL)
			return 0;
		nanosleep(&step, NULL);
	}
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
	off_t step = work->trial->scan.buffer;
	int64_t faults = 0;

	if (work->trial->scan.share == SHARE_PART) {
		faults = other_touch(&work->other, 0,
				     work->trial->scan.part_bytes);
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

	err = residency_read(work->lab->meter, work->scan.fd, 0,
			     work->trial->scan.part_bytes, &r);
	if (err)
		return failure_note(&work->result->failure, err,
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
	int64_t *metric = work->result->metric;
	int err = 0;

	if (work->hot.pages)
		err = measure_hot(work, metric);
	if (!err && work->trial->scan.part_bytes)
		err = measure_part(work, metric);
	if (!err)
		err = measure_scan_left(work, metric);
	if (!err && work->trial->measured & 1 << FOLIO)
		measure_folio(work, metric);
	if (!err && work->trial->scan.share != NOT_SHARED)
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
		return failure_note(&work->result->failure, err,
				    "open %s by O_DIRECT", work->scan.path);
	err = scan_run(&reader, &scan, &result, &work->result->failure);
	reader_close(&reader);
	work->result->metric[BAD_WORDS] = (int64_t)result.bad_words;
	return err;
}

static void *pace(void *arg)
{
	struct pacer *p = arg;
	const struct trial *trial = p->work->trial;

	/* Timers may fire 50 us late by default, which is late for 20,000 a second. */
	prctl(PR_SET_TIMERSLACK, 1);
	p->err = hot_set_pace(&p->hot,
			      trial->hot.period_ns * trial->hot.readers,
			      &p->work->over, &p->failure);
	return NULL;
}

/* Each starts another part of a period later. */
static int start_pacers(struct work *work)
{
	unsigned int n = work->pacers ? work->trial->hot.readers : 0;
	uint64_t start = clock_ns();

	for (unsigned int i = 0; i < n; i++) {
		struct pacer *p = &work->pacers[i];
		int err;

		p->hot.due = start + work->trial->hot.period_ns * i;
		err = -pthread_create(&p->thread, NULL, pace, p);
		if (err)
			return failure_note(&work->result->failure, err,
					    "start a thread");
		p->running = true;
	}
	return 0;
}

static int end_pacers(struct work *work)
{
	unsigned int n = work->pacers ? work->trial->hot.readers : 0;
	int err = 0;

	work->over = true;
	for (unsigned int i = 0; i < n; i++) {
		struct pacer *p = &work->pacers[i];

		if (p->running)
			pthread_join(p->thread, NULL);
		p->running = false;
		if (p->err && !err) {
			err = p->err;
			work->result->failure = p->failure;
		}
	}
	return err;
}

/* Time in which the scan does nothing, or as many hot reads. */
static int pause_scan(struct work *work, uint64_t touches, uint64_t ns)
{
	if (ns)
		sleep_until(clock_ns() + ns);
	if (!touches || !work->hot.pages)
		return 0;
	return hot_set_touch(&work->hot, work->hot.touched + touches,
			     &work->result->failure);
}

static int scan_passes(struct work *work, struct scan *scan,
		       struct scan_result *sum)
{
	const struct trial *trial = work->trial;
	uint64_t total = work->scan.size;
	struct residency r;
	int err;

	*sum = (struct scan_result){ 0 };
	err = pause_scan(work, trial->hot.lead, trial->hot.lead_ns);
	for (unsigned int pass = 0; !err && pass < trial->scan.passes; pass++) {
		struct scan_result result;

		if (pass)
			err = pause_scan(work, trial->hot.gap,
					 trial->hot.gap_ns);
		scan->order = trial->seed + ((uint64_t)pass << 32);
		work->touched = work->hot.touched;
		work->pass = pass;
		work->sampled = 0;
		work->flush_at = 0;
		work->pass_read_bytes = read_bytes_now();
		work->pass_start = clock_ns();
		if (!err)
			err = sample_pass(work, 0, total);
		if (err)
			break;
		err = scan_run(&work->scan, scan, &result,
			       &work->result->failure);
		sum->bytes += result.bytes;
		sum->ns += result.ns;
		sum->bad_words += result.bad_words;
		sum->read_bytes += result.read_bytes;
		if (err || pass || trial->scan.passes < 2 || !work->hot.pages)
			continue;
		err = read_hot(work, &r);
		if (!err)
			work->result->metric[KEPT_FIRST] =
				permille(r.cached, r.pages);
	}
	return err;
}

static void count_touches(struct work *work, uint64_t start)
{
	struct trial_result *result = work->result;
	unsigned int n = work->pacers ? work->trial->hot.readers : 0;

	result->hot_ns = clock_ns() - start;
	result->touched = work->hot.touched;
	for (unsigned int i = 0; i < n; i++) {
		result->touched += work->pacers[i].hot.touched;
		result->late += work->pacers[i].hot.late;
	}
}

/* -1: not known. */
static int64_t count_missed(const struct work *work)
{
	unsigned int n = work->pacers ? work->trial->hot.readers : 0;
	int64_t missed = hot_set_missed(&work->hot);

	for (unsigned int i = 0; i < n && missed >= 0; i++) {
		int64_t its = hot_set_missed(&work->pacers[i].hot);

		missed = its < 0 ? -1 : missed + its;
	}
	return missed;
}

static int do_scan(struct work *work)
{
	const struct trial *trial = work->trial;
	int64_t *metric = work->result->metric;
	bool null = work->scan.ops == &reader_null;
	struct scan scan = {
		.buffer = trial->scan.buffer,
		.random = trial->scan.random,
		.others = work->scan_others,
		.nr_others = trial->scan.scanners - 1,
		.verify = trial->scan.verify && !null &&
			  !writes(work->scan.ops),
		.seed = SCAN_SEED,
		.progress = on_progress,
		.arg = work,
	};
	int64_t faults = major_faults();
	uint64_t start = clock_ns();
	struct scan_result result = { 0 };
	int64_t missed;
	int ended;
	int err;

	err = start_pacers(work);
	if (!err)
		err = scan_passes(work, &scan, &result);
	ended = end_pacers(work);
	count_touches(work, start);
	if (!err)
		err = ended;
	if (!err && writes(work->scan.ops) && fsync(work->scan.fd))
		err = failure_note(&work->result->failure, -errno, "fsync %s",
				   work->scan.path);
	if (err)
		return err;
	missed = count_missed(work);
	if (missed >= 0)
		metric[MISSED] = missed + major_faults() - faults;
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

/* In the process of the trial. */
static int run_requests(struct work *work)
{
	struct trial_result *result = work->result;
	struct hits *hits = &result->hits;
	int64_t *metric = result->metric;
	char path[PATH_MAX];
	double s;
	int err;

	err = scratch_path(&work->lab->scratch, SCAN_FILE, path, sizeof(path));
	if (!err)
		err = get_scan_run(work->lab, &work->trial->get_scan, path,
				   work->memcg, hits, &result->failure);
	if (err)
		return failure_note(&result->failure, err, "read %s", path);
	s = (double)(hits->ns ? hits->ns : 1) / 1e9;
	if (hits->gets) {
		metric[GET_HITS] = permille(hits->get_hits, hits->gets);
		metric[GET_WAIT] = (int64_t)(hits->wait_ns / hits->gets);
		metric[GET_RATE] = (int64_t)((double)hits->gets / s);
	}
	if (hits->scan_pages) {
		metric[SCAN_HITS] = permille(hits->scan_hits, hits->scan_pages);
		metric[SCAN_RATE] = (int64_t)((double)hits->scanned / s);
	}
	metric[KEPT] = permille(hits->cached, hits->pages);
	metric[WARM_UP] = hits->warm_windows;
	metric[SETTLED] = hits->settled;
	return 0;
}

/* Not in the memcg of the trial, whose memory it would take. */
static int compare_with_lru(const struct trial *trial,
			    struct trial_result *result)
{
	struct hits *hits = &result->hits;
	struct hits lru = { .warm = hits->warm, .reads = hits->reads };
	int64_t *metric = result->metric;
	int err;

	err = get_scan_replay(&trial->get_scan, &lru);
	if (err)
		return err;
	if (lru.gets) {
		metric[LRU_GET_HITS] = permille(lru.get_hits, lru.gets);
		if (lru.get_hits)
			metric[GET_OF_LRU] =
				permille(hits->get_hits, lru.get_hits);
	}
	if (lru.scan_pages) {
		metric[LRU_SCAN_HITS] = permille(lru.scan_hits, lru.scan_pages);
		/* Runs of SCAN are cut by the windows: compare the shares. */
		if (metric[LRU_SCAN_HITS] && hits->scan_pages)
			metric[SCAN_OF_LRU] = permille(metric[SCAN_HITS],
						       metric[LRU_SCAN_HITS]);
	}
	return 0;
}

static int work_run(struct work *work)
{
	const struct trial *trial = work->trial;
	int err = 0;

	if (work->memcg) {
		err = memcg_enter(work->memcg, 0);
		if (err)
			return failure_note(&work->result->failure, err,
					    "enter %s", work->memcg->path);
	}
	if (trial->get_scan.records) {
		err = set_readahead(work->lab, true);
		if (err)
			return failure_note(&work->result->failure, err,
					    "set read_ahead_kb");
		return run_requests(work);
	}
	if (trial->hot.bytes)
		err = open_hot(work);
	if (!err)
		err = open_scan(work);
	if (!err)
		err = do_scan(work);
	if (!err)
		err = measure_files(work);
	if (!err && trial->scan.verify && writes(work->scan.ops))
		err = verify_written(work);
	other_end(&work->other);
	return err;
}

static void trial_process(struct lab *lab, const struct trial *trial,
			  struct trial_result *result,
			  const struct memcg *memcg)
{
	struct work work = {
		.lab = lab, .trial = trial, .result = result, .memcg = memcg
	};

	result->err = work_run(&work);
	/* What is still open after these was lost on the way. */
	for (size_t i = 0; i < sizeof(work.scan_others) / sizeof(struct reader);
	     i++)
		reader_close(&work.scan_others[i]);
	reader_close(&work.scan);
	for (unsigned int i = 0; work.pacers && i < trial->hot.readers; i++)
		hot_set_close(&work.pacers[i].hot);
	free(work.pacers);
	hot_set_close(&work.hot);
	_exit(0);
}

/* ----- the process that asks for it ----- */

static int drop_file(struct lab *lab, const char *name)
{
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

static int drop_files(struct lab *lab, const struct trial *trial)
{
	int err = 0;

	if (trial->hot.bytes)
		err = drop_file(lab, HOT_FILE);
	return err || !trial->scan.bytes ? err : drop_file(lab, SCAN_FILE);
}

static int make_memcg(struct lab *lab, const struct trial *trial,
		      struct memcg *memcg)
{
	int err;

	err = memcg_child(&lab->memcg, "trial", memcg);
	/* One that an earlier test left when it was killed. */
	if (!err)
		memcg_remove(memcg->path);
	if (!err)
		err = memcg_make(memcg);
	if (!err)
		err = memcg_limit(memcg, trial->mem_bytes, trial->high_bytes);
	if (err)
		failure_note(&lab->failure, err, "make and limit %s",
			     memcg->path);
	return err;
}

static int read_memcg(struct lab *lab, struct trial_result *result,
		      const struct memcg *memcg)
{
	int err;

	err = memcg_read(memcg, &result->stat);
	if (err)
		return failure_note(&lab->failure, err, "read %s", memcg->path);
	if (result->stat.refault_file >= 0)
		result->metric[REFAULTS] = result->stat.refault_file;
	if (result->stat.activate_file >= 0)
		result->metric[ACTIVATIONS] = result->stat.activate_file;
	return 0;
}

static int wait_for(pid_t pid, struct lab *lab, const struct trial *trial,
		    struct trial_result *result)
{
	struct failure *failure = &lab->failure;
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return failure_note(failure, -errno,
					    "wait for a trial");
	if (WIFSIGNALED(status))
		return failure_note(failure, -EINTR,
				    "arm %s was killed by signal %d",
				    trial->name, WTERMSIG(status));
	if (result->err)
		*failure = result->failure;
	return result->err;
}

static int try_trial(struct lab *lab, const struct trial *trial,
		     struct trial_result *result)
{
	bool limited = trial->mem_bytes > 0;
	struct memcg memcg;
	pid_t pid;
	int left;
	int err;

	*result = (struct trial_result){ 0 };
	memcg_stat_none(&result->stat);
	for (int i = 0; i < NR_METRICS; i++)
		result->metric[i] = NOT_MEASURED;
	err = drop_files(lab, trial);
	if (!err && limited)
		err = make_memcg(lab, trial, &memcg);
	if (err)
		return err;
	pid = fork();
	if (!pid)
		trial_process(lab, trial, result, limited ? &memcg : NULL);
	result->pid = pid;
	err = pid < 0 ? failure_note(&lab->failure, -errno, "fork") :
			wait_for(pid, lab, trial, result);
	result->pid = 0;
	if (!err && trial->get_scan.records) {
		err = compare_with_lru(trial, result);
		if (err)
			failure_note(&lab->failure, err, "simulate exact LRU");
	}
	if (!limited)
		return err;
	if (read_memcg(lab, result, &memcg) == 0 && result->stat.oom_kills > 0)
		err = -ENOMEM;
	/* Pages that somebody else holds were never the memcg's to reclaim. */
	left = drop_files(lab, trial);
	if (!err)
		err = left;
	if (memcg_remove(memcg.path) && !err)
		err = failure_note(&lab->failure, -EBUSY, "remove %s",
				   memcg.path);
	return err;
}

void trial_written(const struct lab *lab, struct timespec written[2])
{
	static const char *const names[2] = { HOT_FILE, SCAN_FILE };
	char path[PATH_MAX];
	struct stat st;

	memset(written, 0, 2 * sizeof(*written));
	for (int i = 0; i < 2; i++)
		if (!scratch_path(&lab->scratch, names[i], path,
				  sizeof(path)) &&
		    !lstat(path, &st))
			written[i] = st.st_mtim;
}

/* A page that somebody else writes is charged to him, and not ours to lose. */
int trial_run(struct lab *lab, const struct trial *trial,
	      struct trial_result *result)
{
	int err = try_trial(lab, trial, result);
	struct timespec written[2];

	if (!trial->written || lab->failure.err || (err && err != -EBUSY))
		return err;
	trial_written(lab, written);
	if (writes(trial->scan.read_by))
		trial->written[1] = written[1];
	return memcmp(written, trial->written, sizeof(written)) ? -ESTALE : err;
}

/* ----- setting up ----- */

/*
 * Whether @name is there already, @bytes long, with data or without; another
 * one goes.
 */
static bool laid_out(struct lab *lab, const char *name, uint64_t bytes,
		     bool sparse)
{
	char path[PATH_MAX];
	struct stat st;

	if (scratch_path(&lab->scratch, name, path, sizeof(path)) ||
	    lstat(path, &st))
		return false;
	if ((uint64_t)st.st_size == bytes && sparse == !st.st_blocks)
		return true;
	unlink(path);
	return false;
}

static int lay_out_file(struct lab *lab, const char *name, uint64_t bytes,
			bool sparse, uint64_t seed)
{
	if (!bytes || laid_out(lab, name, bytes, sparse))
		return 0;
	if (sparse)
		return scratch_hole(&lab->scratch, name, bytes, &lab->failure);
	return scratch_file(&lab->scratch, name, bytes, seed, &lab->failure);
}

/*
 * Room that was there before may be taken meanwhile, or not be had at all: a
 * quota, or a limit on the size of files.
 */
int trial_lay_out(struct lab *lab, const struct trial *trial,
		  struct needs *needs)
{
	uint64_t hot = trial->hot.bytes, scan = trial->scan.bytes;
	struct failure *failure = &lab->failure;
	int err;

	err = lay_out_file(lab, HOT_FILE, hot, trial->sparse, HOT_SEED);
	if (!err)
		err = lay_out_file(lab, SCAN_FILE, scan, trial->sparse,
				   SCAN_SEED);
	if (err != -ENOSPC && err != -EDQUOT && err != -EFBIG)
		return err;
	need_add(
		needs, "room for the test files",
		"%s; they take %llu MiB: make room, raise the quota or ulimit -f, or set MM_CACHE_MEM lower",
		failure->text, (unsigned long long)((hot + scan) / MIB));
	memset(failure, 0, sizeof(*failure));
	return -ENOENT;
}

int trial_reader_need(struct lab *lab, const struct reader_ops *ops,
		      const char *name, struct needs *needs)
{
	char path[PATH_MAX];
	struct reader r;
	int err;

	if (!ops || !ops->need)
		return 0;
	err = scratch_path(&lab->scratch, name, path, sizeof(path));
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
