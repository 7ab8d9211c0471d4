// SPDX-License-Identifier: GPL-2.0
#include "explore_watch.h"

#include "explore_replay.h"
#include "hot_set.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUESTS_MAX ((uint64_t)8 << 20)
/* By the clock, a scan at full speed is taken to run at no less than this. */
#define SLOWEST (50.0 * 1000 * 1000)
#define MEGA 1000000.0
#define US 1000.0
#define NS 1000000000.0

const struct figure_info figures[NR_FIGURES] = {
	[FIG_KEPT] = { "kept", "%", "hot set still cached" },
	[FIG_LRU_KEPT] = { "lru_kept", "%", "kept by exact LRU" },
	[FIG_READS] = { "reads", "", "hot reads during the pass" },
	[FIG_MISSED] = { "missed", "%", "hot reads or GETs that missed" },
	[FIG_LRU_MISSED] = { "lru_missed", "%", "misses of exact LRU" },
	[FIG_OPT_MISSED] = { "opt_missed", "%", "misses of an optimal policy" },
	[FIG_SLOW] = { "slow", "%", "hot reads above the limit" },
	[FIG_P50] = { "p50", "us", "median latency of hot reads" },
	[FIG_P99] = { "p99", "us", "99th percentile of their latency" },
	[FIG_P999] = { "p999", "us", "99.9th percentile of their latency" },
	[FIG_MAX] = { "max", "us", "longest hot read" },
	[FIG_REFAULTS] = { "refaults", "pages", "refaults" },
	[FIG_ACTIVATED] = { "activated", "pages", "activations of refaults" },
	[FIG_SCANNED] = { "scanned", "pages", "scanned by reclaim" },
	[FIG_STOLEN] = { "stolen", "pages", "taken by reclaim" },
	[FIG_EVICTED] = { "evicted", "pages", "hot pages evicted" },
	[FIG_LEFT] = { "left", "MB", "cache that the scan left" },
	[FIG_THROUGHPUT] = { "throughput", "MB/s", "throughput of the scan" },
	[FIG_AMPLIFICATION] = { "amplification", "x", "read amplification" },
	[FIG_PRESSURE] = { "pressure", "ms", "stalled for memory (PSI)" },
	[FIG_RATE] = { "rate", "reads/s", "hot reads a second" },
	[FIG_LATE] = { "late", "%", "late hot reads" },
	[FIG_GETS] = { "gets", "GETs/s", "GETs a second" },
	[FIG_SCANS] = { "scans", "SCANs/s", "SCANs a second" },
	[FIG_WAIT] = { "wait", "us", "time of a GET spent on misses" },
	[FIG_SCAN_MISSED] = { "scan_missed", "%",
			      "pages of SCANs that missed" },
	[FIG_WINDOWS] = { "windows", "", "windows of the warm-up" },
};

enum figure figure_by_name(const char *name)
{
	int i;

	for (i = 0; i < NR_FIGURES; i++)
		if (!strcmp(figures[i].name, name))
			break;
	return i;
}

bool figure_is_share(enum figure figure)
{
	return !strcmp(figures[figure].unit, "%");
}

/* Kinds of a request, beside which @what is a page, or a count of pages. */
#define IS_SCAN 0x80000000U /* of the scan: how far it has come in the pass */
#define IS_MISSED 0x40000000U
#define IS_SLOW 0x20000000U
#define WHAT (IS_SLOW - 1)

struct request {
	uint32_t what;
	uint32_t latency_ns; /* UINT32_MAX: that or more */
};

struct sample {
	struct trial_sample s;
	uint64_t nr; /* requests before it */
	uint64_t hot_ns; /* of its pass, spent in hot reads by the scan itself */
};

/* In shared memory. */
struct watch {
	struct trial_observer observer;
	uint64_t limit_ns;
	long page;
	uint64_t run; /* records of a SCAN */
	bool clock;
	bool sparse;
	bool blind; /* misses are not known */
	bool unscanned; /* nothing is read of the scan file */
	bool uncached; /* nothing is asked of the cache */
	bool unordered; /* each pass in another order */
	unsigned int warm;
	uint64_t hot_pages, scan_pages;
	void (*tell)(void *arg, const struct trial_sample *sample);
	void *tell_arg;
	size_t bytes; /* of all of it */
	uint64_t hot_ns;
	unsigned int nr_samples;
	struct sample samples[TIMELINE_MAX];
	uint64_t max;
	uint64_t nr; /* may be more than there is room for */
	struct request requests[];
};

static void record(struct watch *w, uint32_t what, uint64_t latency_ns)
{
	uint64_t at = __atomic_fetch_add(&w->nr, 1, __ATOMIC_RELAXED);

	if (at >= w->max)
		return;
	w->requests[at].what = what;
	w->requests[at].latency_ns =
		latency_ns < UINT32_MAX ? (uint32_t)latency_ns : UINT32_MAX;
}

static void on_hot_read(void *arg, const struct hot_read *read)
{
	struct watch *w = arg;
	uint32_t what = (uint32_t)read->page;
	uint64_t took = read->end_ns - read->start_ns;

	what |= read->missed ? IS_MISSED : 0;
	what |= took > w->limit_ns ? IS_SLOW : 0;
	if (read->unknown)
		w->blind = true;
	record(w, what, read->end_ns - read->due_ns);
	if (!w->clock)
		w->hot_ns += took;
}

static void on_scan_read(void *arg, unsigned int pass, uint64_t done)
{
	struct watch *w = arg;

	(void)pass;
	if (w->uncached)
		return;
	record(w, IS_SCAN | (uint32_t)((done + w->page - 1) / w->page), 0);
}

static void on_sample(void *arg, const struct trial_sample *sample)
{
	struct watch *w = arg;
	struct sample *to;

	if (w->tell)
		w->tell(w->tell_arg, sample);
	if (!sample->done)
		w->hot_ns = 0;
	if (w->nr_samples == TIMELINE_MAX)
		return;
	to = &w->samples[w->nr_samples++];
	to->s = *sample;
	to->nr = __atomic_load_n(&w->nr, __ATOMIC_RELAXED);
	to->hot_ns = w->hot_ns;
}

/* Requests that the trial will make, or by the clock is likely to. */
static uint64_t expected(const struct resolved *r)
{
	const struct trial *t = &r->trial;
	uint64_t scans = t->scan.bytes / t->scan.buffer + 1;
	double scan_s = r->scan_s > 0 ? r->scan_s :
					(double)t->scan.bytes / SLOWEST;
	double n = (double)(t->scan.passes * (scans + t->hot.touches + 1) +
			    t->hot.lead + t->scan.passes * t->hot.gap);

	n += r->wanted *
	     ((double)t->hot.lead_ns / NS +
	      t->scan.passes * (scan_s * 1.2 + (double)t->hot.gap_ns / NS));
	return n < REQUESTS_MAX ? (uint64_t)n + 1000 : REQUESTS_MAX;
}

struct watch *watch_new(const struct resolved *r)
{
	const struct reader_ops *by = r->trial.scan.read_by;
	uint64_t max = expected(r);
	size_t bytes = sizeof(struct watch) + max * sizeof(struct request);
	struct watch *w;

	/* Filled now, and here: the first to touch a page pays for it. */
	w = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (w == MAP_FAILED)
		return NULL;
	memset(w, 0, bytes);
	w->bytes = bytes;
	w->max = max;
	w->page = sysconf(_SC_PAGESIZE);
	w->limit_ns = r->limit_ns;
	w->run = r->trial.get_scan.run;
	w->clock = r->wanted > 0;
	w->sparse = r->trial.sparse;
	/* A hole is there when asked for: no read of it waits, or is missed. */
	w->blind = w->sparse;
	w->unscanned = by == &reader_null;
	w->uncached = by && (w->unscanned || by->open_flags & O_DIRECT);
	w->unordered = r->trial.scan.random && r->trial.scan.passes > 1;
	w->warm = r->trial.hot.warm;
	w->hot_pages = r->trial.hot.bytes / w->page;
	w->scan_pages = r->trial.scan.bytes / w->page;
	w->observer = (struct trial_observer){
		.arg = w,
		.samples = TIMELINE_PER_PASS,
		.hot_read = on_hot_read,
		.scan_read = on_scan_read,
		.sample = on_sample,
	};
	return w;
}

const struct trial_observer *watch_observer(struct watch *w)
{
	return &w->observer;
}

void watch_tell(struct watch *w,
		void (*tell)(void *arg, const struct trial_sample *sample),
		void *arg)
{
	w->tell = tell;
	w->tell_arg = arg;
}

void watch_free(struct watch *w)
{
	if (w)
		munmap(w, w->bytes);
}

/* ----- the other caches ----- */

/*
 * @page:   all requests, page by page: the warm-up first, then the hot set's and
 *          the scan's
 * @at:     for each recorded request, where its pages begin; one more for the end
 */
struct sequence {
	uint32_t *page;
	uint32_t *at;
	struct replayed *replayed;
	size_t n;
};

static void free_sequence(struct sequence *seq)
{
	free(seq->page);
	free(seq->at);
	free(seq->replayed);
}

static uint64_t nr_requests(const struct watch *w)
{
	return w->nr < w->max ? w->nr : w->max;
}

static size_t put(struct sequence *seq, size_t n, uint32_t page)
{
	if (seq->page)
		seq->page[n] = page;
	return n + 1;
}

/* With seq->page NULL only counted. One pass in random order is as one in order. */
static size_t fill(const struct watch *w, struct sequence *seq)
{
	uint32_t scanned = 0;
	size_t n = 0;

	for (unsigned int pass = 0; pass < w->warm; pass++)
		for (uint32_t p = 0; p < w->hot_pages; p++)
			n = put(seq, n, p);
	for (uint64_t i = 0; i < nr_requests(w); i++) {
		uint32_t what = w->requests[i].what & WHAT;

		if (seq->page)
			seq->at[i] = (uint32_t)n;
		if (!(w->requests[i].what & IS_SCAN)) {
			n = put(seq, n, what);
			continue;
		}
		if (what <= scanned) /* the next pass */
			scanned = 0;
		while (scanned < what)
			n = put(seq, n, (uint32_t)w->hot_pages + scanned++);
	}
	if (seq->page)
		seq->at[nr_requests(w)] = (uint32_t)n;
	return n;
}

static int replay_watched(const struct watch *w, uint32_t capacity,
			  struct sequence *seq)
{
	*seq = (struct sequence){ 0 };
	seq->n = fill(w, seq);
	seq->page = malloc((seq->n + 1) * sizeof(*seq->page));
	seq->at = malloc((nr_requests(w) + 1) * sizeof(*seq->at));
	seq->replayed = malloc((seq->n + 1) * sizeof(*seq->replayed));
	if (!seq->page || !seq->at || !seq->replayed)
		return -ENOMEM;
	fill(w, seq);
	return replay(seq->page, seq->n,
		      (uint32_t)(w->hot_pages + w->scan_pages), capacity,
		      seq->replayed);
}

/* Share of the hot set among the last @capacity pages asked for before @end. */
static double lru_kept(const struct watch *w, const struct sequence *seq,
		       size_t end, uint32_t capacity)
{
	uint32_t pages = (uint32_t)(w->hot_pages + w->scan_pages);
	uint8_t *seen = calloc(pages, 1);
	uint64_t distinct = 0, hot = 0;

	if (!seen)
		return NAN;
	while (end-- && distinct < capacity) {
		if (seen[seq->page[end]])
			continue;
		seen[seq->page[end]] = 1;
		distinct++;
		hot += seq->page[end] < w->hot_pages;
	}
	free(seen);
	return (double)hot / (double)w->hot_pages;
}

/* ----- figures ----- */

static int compare_latency(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The value that a share @q of all does not exceed. */
static double quantile(const uint32_t *sorted, size_t n, double q)
{
	size_t at = (size_t)ceil(q * (double)n);

	return sorted[at ? at - 1 : 0] / US;
}

static void hot_figures(const struct watch *w, uint64_t from, uint64_t to,
			const struct sequence *seq, uint32_t capacity,
			uint32_t *latency, double *of)
{
	uint64_t reads = 0, missed = 0, slow = 0, lru = 0, opt = 0;

	for (uint64_t i = from; i < to; i++) {
		const struct request *q = &w->requests[i];
		const struct replayed *r;

		if (q->what & IS_SCAN)
			continue;
		latency[reads++] = q->latency_ns;
		missed += !!(q->what & IS_MISSED);
		slow += !!(q->what & IS_SLOW);
		r = &seq->replayed[seq->at[i]];
		lru += r->distance >= capacity;
		opt += !r->optimal;
	}
	of[FIG_READS] = (double)reads;
	if (!reads)
		return;
	qsort(latency, reads, sizeof(*latency), compare_latency);
	if (!w->blind)
		of[FIG_MISSED] = (double)missed / (double)reads;
	of[FIG_SLOW] = (double)slow / (double)reads;
	of[FIG_LRU_MISSED] = capacity ? (double)lru / (double)reads : NAN;
	of[FIG_OPT_MISSED] = capacity ? (double)opt / (double)reads : NAN;
	of[FIG_P50] = quantile(latency, reads, 0.5);
	/* Of fewer it is the slowest one. */
	if (reads >= 100)
		of[FIG_P99] = quantile(latency, reads, 0.99);
	if (reads >= 1000)
		of[FIG_P999] = quantile(latency, reads, 0.999);
	of[FIG_MAX] = latency[reads - 1] / US;
}

static double since(int64_t before, int64_t after)
{
	return before < 0 || after < 0 ? NAN : (double)(after - before);
}

static void pass_figures(const struct watch *w, const struct sample *begin,
			 const struct sample *end, double *of)
{
	const struct memcg_stat *a = &begin->s.stat, *b = &end->s.stat;
	uint64_t ns = end->s.scan_ns - end->hot_ns;

	if (w->hot_pages) {
		of[FIG_KEPT] =
			(double)end->s.hot.cached / (double)end->s.hot.pages;
		if (end->s.hot.evicted >= 0)
			of[FIG_EVICTED] = (double)end->s.hot.evicted;
	}
	of[FIG_REFAULTS] = since(a->refault_file, b->refault_file);
	of[FIG_ACTIVATED] = since(a->activate_file, b->activate_file);
	of[FIG_SCANNED] = since(a->scanned, b->scanned);
	of[FIG_STOLEN] = since(a->stolen, b->stolen);
	of[FIG_PRESSURE] = since(a->pressure_us, b->pressure_us) / 1000;
	if (w->unscanned)
		return;
	of[FIG_THROUGHPUT] =
		(double)end->s.total * 1000 / (double)(ns ? ns : 1);
	/* Holes are on no device. */
	if (end->s.read_bytes >= 0 && !w->sparse)
		of[FIG_AMPLIFICATION] =
			(double)end->s.read_bytes / (double)end->s.total;
}

double curve_bin_end(unsigned int i)
{
	return exp2(CURVE_FIRST + (double)i / CURVE_PER_DOUBLING);
}

static unsigned int curve_bin_of(uint32_t distance, uint32_t capacity)
{
	unsigned int i = 0;

	while (i < CURVE_BINS - 1 &&
	       distance >= curve_bin_end(i) * (double)capacity)
		i++;
	return i;
}

static void add_to_curve(const struct watch *w, const struct sequence *seq,
			 uint32_t capacity, struct curve_bin *curve)
{
	for (uint64_t i = 0; i < nr_requests(w); i++) {
		uint32_t what = w->requests[i].what;
		const struct replayed *r = &seq->replayed[seq->at[i]];
		struct curve_bin *bin;

		if (what & IS_SCAN || r->distance == NEVER)
			continue;
		bin = &curve[curve_bin_of(r->distance, capacity)];
		bin->reads++;
		bin->kept += !(what & IS_MISSED);
		bin->lru_kept += r->distance < capacity;
		bin->opt_kept += r->optimal;
	}
}

static void make_timeline(const struct watch *w, struct watched *watched)
{
	int64_t reads = 0, missed = 0;
	uint64_t at = 0;

	for (unsigned int i = 0; i < w->nr_samples; i++) {
		const struct sample *s = &w->samples[i];
		struct timeline_point *p = &watched->point[i];

		for (; at < s->nr && at < nr_requests(w); at++) {
			reads += !(w->requests[at].what & IS_SCAN);
			missed += !!(w->requests[at].what & IS_MISSED);
		}
		p->pass = s->s.pass;
		p->s = (double)(s->s.ns - w->samples[0].s.ns) / NS;
		p->done = s->s.done;
		p->scanned = s->s.pass + (double)s->s.done / (double)s->s.total;
		p->kept = w->hot_pages ? (double)s->s.hot.cached /
						 (double)s->s.hot.pages :
					 NAN;
		p->reads = reads;
		p->missed = w->blind ? -1 : missed;
	}
	watched->nr_points = w->nr_samples;
}

static double share_missed(uint64_t hits, uint64_t of)
{
	return of ? 1 - (double)hits / (double)of : NAN;
}

static double known(int64_t counter)
{
	return counter < 0 ? NAN : (double)counter;
}

static void store_figures(const struct watch *w,
			  const struct trial_result *result, double *of)
{
	const struct hits *h = &result->hits;
	double s = (double)(h->ns ? h->ns : 1) / NS;

	of[FIG_MISSED] = share_missed(h->get_hits, h->gets);
	of[FIG_SCAN_MISSED] = share_missed(h->scan_hits, h->scan_pages);
	if (result->metric[LRU_GET_HITS] != NOT_MEASURED)
		of[FIG_LRU_MISSED] =
			1 - (double)result->metric[LRU_GET_HITS] / 1000;
	if (h->gets) {
		of[FIG_GETS] = (double)h->gets / s;
		of[FIG_WAIT] = (double)h->wait_ns / US / (double)h->gets;
	}
	if (w->run)
		of[FIG_SCANS] = (double)h->scanned / (double)w->run / s;
	of[FIG_REFAULTS] = known(result->stat.refault_file);
	of[FIG_ACTIVATED] = known(result->stat.activate_file);
	of[FIG_WINDOWS] = h->warm_windows;
}

static uint64_t recorded(const struct watch *w, uint64_t at)
{
	return at < nr_requests(w) ? at : nr_requests(w);
}

void watched_nothing(struct watched *watched)
{
	*watched = (struct watched){ 0 };
	for (unsigned int p = 0; p < PASSES_MAX; p++)
		for (unsigned int f = 0; f < NR_FIGURES; f++)
			watched->pass[p].of[f] = NAN;
}

int watch_digest(struct watch *w, const struct trial_result *result,
		 uint64_t memory, struct watched *watched,
		 struct curve_bin *curve)
{
	/* Of an unknown order other caches cannot be told. */
	uint32_t capacity = w->unordered ? 0 : (uint32_t)(memory / w->page);
	const struct sample *begin = NULL;
	struct sequence seq;
	uint32_t *latency;
	int err;

	watched_nothing(watched);
	watched->lost = w->nr - nr_requests(w);
	if (result->hits.reads) {
		watched->nr_passes = 1;
		store_figures(w, result, watched->pass[0].of);
		return 0;
	}
	make_timeline(w, watched);
	err = replay_watched(w, capacity, &seq);
	latency = malloc((nr_requests(w) + 1) * sizeof(*latency));
	if (!latency)
		err = -ENOMEM;
	for (unsigned int i = 0; !err && i < w->nr_samples; i++) {
		const struct sample *s = &w->samples[i];
		double *of = watched->pass[s->s.pass].of;

		if (!s->s.done)
			begin = s;
		if (s->s.done < s->s.total || !begin)
			continue;
		watched->nr_passes = s->s.pass + 1;
		pass_figures(w, begin, s, of);
		if (w->hot_pages) {
			hot_figures(w, recorded(w, begin->nr),
				    recorded(w, s->nr), &seq, capacity, latency,
				    of);
			if (capacity)
				of[FIG_LRU_KEPT] = lru_kept(
					w, &seq, seq.at[recorded(w, s->nr)],
					capacity);
		}
		if (w->clock && result->hot_ns && result->touched) {
			of[FIG_RATE] = (double)result->touched * NS /
				       (double)result->hot_ns;
			of[FIG_LATE] =
				(double)result->late / (double)result->touched;
		}
	}
	if (watched->nr_passes && result->metric[SCAN_LEFT] != NOT_MEASURED)
		watched->pass[watched->nr_passes - 1].of[FIG_LEFT] =
			(double)result->metric[SCAN_LEFT] * (double)w->page /
			MEGA;
	if (!err && curve && capacity && !w->blind)
		add_to_curve(w, &seq, capacity, curve);
	free(latency);
	free_sequence(&seq);
	return err;
}
