// SPDX-License-Identifier: GPL-2.0
#include "explore_setting.h"

#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB 1024
#define MIB ((uint64_t)1024 * 1024)
#define MEM_MIN (32 * MIB)
#define BUFFER_MAX (16 * MIB)
#define MEGA 1000000.0
#define NS 1000000000.0
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

#define A_SIZE "a size: bytes, or with K, M or G"
#define A_SHARE "a size, or a share of the limit: 40%"
#define A_NUMBER "a number, 0 or more"
#define AN_ORDER "in-order or random"

const struct knob knobs[NR_KNOBS] = {
	[KNOB_RECLAIM] = { "reclaim", "any", "any, classic or mglru",
			   "Which reclaim the kernel runs; any: as it is" },
	[KNOB_MEM] = { "mem", "64M", "a size, none or machine",
		       "Limit of the memcg; none: no memcg; machine: none, all of it" },
	[KNOB_HIGH] = { "high", "0", A_SHARE,
			"memory.high of the memcg (0: none)" },
	[KNOB_FS] = { "fs", "ext4", "ext4, xfs or btrfs",
		      "File system of the scratch device" },
	[KNOB_FILES] = { "files", "data", "data or sparse",
			 "What the files hold; sparse: holes, no read waits" },
	[KNOB_READ_AHEAD] = { "read-ahead", "128", "KiB, 0 to 65536",
			      "read_ahead_kb of the scratch device" },
	[KNOB_HOT] = { "hot", "40%", A_SHARE, "Size of the hot set" },
	[KNOB_ACCESS] = { "access", "pread",
			  "pread, mmap, mmap-random or io_uring",
			  "How the hot set is read" },
	[KNOB_WARM] = { "warm", "2", "passes, 0 to 99",
			"Passes over the hot set before the scan" },
	[KNOB_WARM_BY] = { "warm-by", "pread", "as for access",
			   "How it is read in these" },
	[KNOB_ZIPF] = { "zipf", "0", "an exponent, 0 to 10",
			"Popularity of hot pages, or of what is asked for by GETs (0: all alike)" },
	[KNOB_HOT_ORDER] = { "hot-order", "random", AN_ORDER,
			     "How hot reads go through the set" },
	[KNOB_READERS] = { "readers", "1", "1 to 8", "Readers of the hot set" },
	[KNOB_PACE] = { "pace", "logical", "logical or clock",
			"Hot reads per byte scanned, or by the clock" },
	[KNOB_TOUCHES] = { "touches", "0", A_NUMBER,
			   "Reads of each hot page while the scan file is read once" },
	[KNOB_RATE] = { "rate", "0", "reads a second",
			"Hot reads a second, of all pages" },
	[KNOB_PERIOD] = { "period", "0", "seconds",
			  "Seconds in which each hot page is read once" },
	[KNOB_LEAD] = { "lead", "0", "seconds", "Time before the first pass" },
	[KNOB_GAP] = { "gap", "0", "seconds", "Time between two passes" },
	[KNOB_LIMIT] = { "limit", "20", "microseconds",
			 "A hot read that takes longer is a slow one" },
	[KNOB_SCAN] = { "scan", "300%", A_SHARE, "Size of the scanned file" },
	[KNOB_SCAN_BY] = { "scan-by", "pread",
			   "pread, dontcache, dontneed, random, noreuse, direct, mmap, mmap-sequential, io_uring, uring-1, uring-8, uring-64 or none",
			   "How it is scanned; uring-N: RWF_DONTCACHE" },
	[KNOB_SCAN_ORDER] = { "scan-order", "in-order", AN_ORDER,
			      "In which order" },
	[KNOB_BUFFER] = { "buffer", "1M", "4K to 16M",
			  "In reads of that size" },
	[KNOB_SCANNERS] = { "scanners", "1", "1 to 8",
			    "Scanners that take turns" },
	[KNOB_THROTTLE] = { "throttle", "0", "MB/s",
			    "By the clock, not faster (0: full speed); else as --speed" },
	[KNOB_SPEED] = { "speed", "0", "MB/s",
			 "In logical time: what a scan at full speed is taken to run at" },
	[KNOB_PASSES] = { "passes", "1", "1 to 16",
			  "Times that it is scanned" },
	[KNOB_WORKERS] = { "workers", "0", "0, or 2 to 8",
			   "So many make GETs and SCANs to a store; no hot reads" },
	[KNOB_MIXED] = { "mixed", "no", "yes or no",
			 "All of them make SCANs in turn, not only the first" },
	[KNOB_GETS] = { "gets", "92.5", A_NUMBER,
			"GETs to a SCAN (0: only SCANs)" },
	[KNOB_RUN] = { "run", "10000", "records, 0 to 1000000",
		       "Length of a SCAN (0: only GETs)" },
};

static const struct {
	const char *name;
	const struct reader_ops *ops;
	bool hot, scan;
} ways[] = {
	{ "pread", &reader_pread, true, true },
	{ "mmap", &reader_mmap, true, true },
	{ "mmap-random", &reader_mmap_random, true, false },
	{ "io_uring", &reader_uring_plain, true, true },
	{ "dontcache", &reader_dontcache, false, true },
	{ "dontneed", &reader_dontneed, false, true },
	{ "random", &reader_random, false, true },
	{ "noreuse", &reader_mmap_noreuse, false, true },
	{ "direct", &reader_direct, false, true },
	{ "mmap-sequential", &reader_mmap_sequential, false, true },
	{ "uring-1", &reader_uring_1, false, true },
	{ "uring-8", &reader_uring_8, false, true },
	{ "uring-64", &reader_uring_64, false, true },
	{ "none", &reader_null, false, true },
};

enum knob_id knob_by_name(const char *name)
{
	int i;

	for (i = 0; i < NR_KNOBS; i++)
		if (!strcmp(knobs[i].name, name))
			break;
	return i;
}

void setting_preset(struct setting *setting)
{
	memset(setting, 0, sizeof(*setting));
	for (int i = 0; i < NR_KNOBS; i++)
		strcpy(setting->value[i], knobs[i].preset);
}

static const struct reader_ops *way(const char *name, bool scan)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, name) &&
		    (scan ? ways[i].scan : ways[i].hot))
			return ways[i].ops;
	return NULL;
}

static int number(const char *text, double min, double max, double *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	*value = strtod(text, &end);
	return *end || !(*value >= min && *value <= max) ? -EINVAL : 0;
}

static int integer(const char *text, unsigned int min, unsigned int max,
		   unsigned int *value)
{
	double d;

	if (number(text, min, max, &d) || d != floor(d))
		return -EINVAL;
	*value = (unsigned int)d;
	return 0;
}

/* A size in bytes, or a share of the limit in @share. */
static int size_or_share(const char *text, uint64_t *bytes, double *share)
{
	char *end;

	*share = -1;
	if (!size_parse(text, bytes))
		return 0;
	*share = strtod(text, &end) / 100;
	return *text < '0' || *text > '9' || strcmp(end, "%") ||
			       !(*share <= 1000) ?
		       -EINVAL :
		       0;
}

static int one_of(const char *text, const char *a, const char *b, const char *c)
{
	return strcmp(text, a) && strcmp(text, b) && strcmp(text, c) ? -EINVAL :
								       0;
}

static int check(enum knob_id id, const char *text)
{
	unsigned int n;
	uint64_t bytes;
	double d;

	switch (id) {
	case KNOB_RECLAIM:
		return one_of(text, "any", "classic", "mglru");
	case KNOB_MEM:
		return one_of(text, "none", "none", "machine") ?
			       size_parse(text, &bytes) :
			       0;
	case KNOB_FS:
		return one_of(text, "ext4", "xfs", "btrfs");
	case KNOB_FILES:
		return one_of(text, "data", "sparse", "sparse");
	case KNOB_READ_AHEAD:
		return integer(text, 0, 65536, &n);
	case KNOB_HIGH:
	case KNOB_HOT:
	case KNOB_SCAN:
		return size_or_share(text, &bytes, &d);
	case KNOB_ACCESS:
	case KNOB_WARM_BY:
		return way(text, false) ? 0 : -EINVAL;
	case KNOB_SCAN_BY:
		return way(text, true) ? 0 : -EINVAL;
	case KNOB_WARM:
		return integer(text, 0, 99, &n);
	case KNOB_ZIPF:
		return number(text, 0, 10, &d);
	case KNOB_HOT_ORDER:
	case KNOB_SCAN_ORDER:
		return one_of(text, "in-order", "random", "random");
	case KNOB_READERS:
	case KNOB_SCANNERS:
		return integer(text, 1, READERS_MAX, &n);
	case KNOB_PACE:
		return one_of(text, "logical", "clock", "clock");
	case KNOB_BUFFER:
		return size_parse(text, &bytes) || bytes < 4 * KIB ||
				       bytes > BUFFER_MAX || bytes % (4 * KIB) ?
			       -EINVAL :
			       0;
	case KNOB_PASSES:
		return integer(text, 1, PASSES_MAX, &n);
	case KNOB_WORKERS:
		return integer(text, 0, WORKERS_MAX, &n) || n == 1 ? -EINVAL :
								     0;
	case KNOB_MIXED:
		return one_of(text, "yes", "no", "no");
	case KNOB_RUN:
		return integer(text, 0, 1000000, &n);
	case KNOB_GETS:
		return number(text, 0, 1e6, &d);
	case KNOB_TOUCHES:
	case KNOB_RATE:
	case KNOB_PERIOD:
	case KNOB_LEAD:
	case KNOB_GAP:
	case KNOB_LIMIT:
	case KNOB_THROTTLE:
	case KNOB_SPEED:
		return number(text, 0, 1e9, &d);
	case NR_KNOBS:
		break;
	}
	return -EINVAL;
}

int refuse(char *why, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int setting_set(struct setting *setting, enum knob_id id, const char *text,
		char *why, size_t len)
{
	if (strlen(text) >= KNOB_TEXT || check(id, text))
		return refuse(why, len, "--%s=%s: must be %s", knobs[id].name,
			      text, knobs[id].domain);
	/* All of it, so that settings can be compared as they lie in memory. */
	memset(setting->value[id], 0, KNOB_TEXT);
	strcpy(setting->value[id], text);
	return 0;
}

int scale_parse(const char *text, double *scale)
{
	double by = 1;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	*scale = strtod(text, &end);
	if (*end == '/' && number(end + 1, 1, 1e6, &by))
		return -EINVAL;
	if (*end && *end != '/')
		return -EINVAL;
	*scale /= by;
	return *scale > 0 && *scale <= 64 ? 0 : -EINVAL;
}

/* ----- what it comes to ----- */

static double value(const struct setting *s, enum knob_id id)
{
	return strtod(s->value[id], NULL);
}

static bool is(const struct setting *s, enum knob_id id, const char *text)
{
	return !strcmp(s->value[id], text);
}

static uint64_t whole_pages(double bytes)
{
	double page = (double)sysconf(_SC_PAGESIZE);

	return (uint64_t)(floor(bytes / page) * page);
}

static int resolve_size(const struct setting *s, enum knob_id id, double scale,
			double limit, uint64_t *bytes, char *why, size_t len)
{
	double share;
	uint64_t n;

	size_or_share(s->value[id], &n, &share);
	if (share >= 0 && !limit)
		return refuse(
			why, len,
			"--%s=%s: a share of no limit: give --mem a size, or --%s one",
			knobs[id].name, s->value[id], knobs[id].name);
	*bytes = whole_pages(share >= 0 ? share * limit : (double)n * scale);
	return 0;
}

static int resolve_memory(const struct setting *s, double scale,
			  uint64_t available, struct resolved *r, double *limit,
			  char *why, size_t len)
{
	struct trial *t = &r->trial;
	uint64_t bytes = 0;
	int err;

	*limit = 0;
	r->machine = is(s, KNOB_MEM, "machine");
	if (r->machine && scale != 1)
		return refuse(
			why, len,
			"--mem=machine: --scale shrinks no machine: give sizes and seconds");
	if (r->machine) {
		*limit = (double)available;
	} else if (!is(s, KNOB_MEM, "none")) {
		size_parse(s->value[KNOB_MEM], &bytes);
		t->mem_bytes = whole_pages((double)bytes * scale);
		*limit = (double)t->mem_bytes;
		if (t->mem_bytes < MEM_MIN)
			return refuse(
				why, len,
				"--mem=%s comes to %.1f MiB: the limit must be 32 MiB or more",
				s->value[KNOB_MEM], *limit / MIB);
	}
	err = resolve_size(s, KNOB_HIGH, scale, *limit, &t->high_bytes, why,
			   len);
	if (err)
		return err;
	if (t->high_bytes && !t->mem_bytes)
		return refuse(
			why, len,
			"--high=%s: memory.high is of a memcg: give --mem a size",
			s->value[KNOB_HIGH]);
	if (t->high_bytes > t->mem_bytes)
		return refuse(why, len,
			      "--high=%s is above the limit, --mem=%s",
			      s->value[KNOB_HIGH], s->value[KNOB_MEM]);
	/* Reclaim begins there. */
	r->memory = t->high_bytes ? t->high_bytes : (uint64_t)*limit;
	return 0;
}

/* Seconds that a pass of the scan lasts: known, or taken to be so. */
static void resolve_speed(const struct setting *s, bool clock,
			  struct resolved *r)
{
	double throttle = value(s, KNOB_THROTTLE);
	double speed = throttle > 0 ? throttle :
		       clock	    ? 0 :
				      value(s, KNOB_SPEED);

	if (speed > 0)
		r->scan_s = (double)r->trial.scan.bytes / (speed * MEGA);
	if (clock)
		r->trial.scan.per_second = (uint64_t)(throttle * MEGA);
}

static int resolve_clock(const struct setting *s, double scale, double pages,
			 struct resolved *r, char *why, size_t len)
{
	double period = value(s, KNOB_PERIOD) * scale;

	if (value(s, KNOB_TOUCHES) > 0)
		return refuse(
			why, len,
			"--touches counts by bytes scanned, --pace=clock does not: give --rate or --period");
	r->wanted = period > 0 ? pages / period : value(s, KNOB_RATE);
	if (r->wanted > NS / 1000)
		return refuse(
			why, len,
			"%.0f hot reads a second are more than any machine does: a lower --rate, or a longer --period",
			r->wanted);
	if (r->wanted > 0)
		r->trial.hot.period_ns = (uint64_t)(NS / r->wanted);
	r->trial.hot.lead_ns = (uint64_t)(value(s, KNOB_LEAD) * scale * NS);
	r->trial.hot.gap_ns = (uint64_t)(value(s, KNOB_GAP) * scale * NS);
	return 0;
}

/* Seconds become reads, by the time that a pass is taken to last. */
static int resolve_logical(const struct setting *s, double scale, double pages,
			   struct resolved *r, char *why, size_t len)
{
	double pause = value(s, KNOB_LEAD) + value(s, KNOB_GAP);
	double period = value(s, KNOB_PERIOD) * scale;
	double touches = value(s, KNOB_TOUCHES);
	double rate = value(s, KNOB_RATE);
	bool seconds;

	if (rate > 0)
		period = pages / rate;
	seconds = period > 0 || (touches > 0 && pause > 0);
	if (!seconds && (pause > 0 || value(s, KNOB_THROTTLE) > 0))
		return refuse(
			why, len,
			"in logical time nothing waits, seconds and --throttle become hot reads, and there are none: give --rate or --period, or --pace=clock");
	if (seconds && !r->scan_s)
		return refuse(
			why, len,
			"in logical time, seconds need the speed of the scan: give --speed in MB/s, or --pace=clock");
	if (touches > 0 && r->scan_s > 0)
		period = r->scan_s / touches;
	if (!touches && period > 0)
		touches = r->scan_s / period;
	r->trial.hot.touches = (uint64_t)llround(pages * touches);
	if (!(period > 0))
		return 0;
	r->trial.hot.lead =
		(uint64_t)llround(pages * value(s, KNOB_LEAD) * scale / period);
	r->trial.hot.gap =
		(uint64_t)llround(pages * value(s, KNOB_GAP) * scale / period);
	return 0;
}

static int resolve_pace(const struct setting *s, double scale,
			struct resolved *r, char *why, size_t len)
{
	double pages = (double)(r->trial.hot.bytes / sysconf(_SC_PAGESIZE));
	bool clock = is(s, KNOB_PACE, "clock");
	int given = (value(s, KNOB_TOUCHES) > 0) + (value(s, KNOB_RATE) > 0) +
		    (value(s, KNOB_PERIOD) > 0);

	if (given > 1)
		return refuse(
			why, len,
			"--touches, --rate and --period say the same thing: give one of them");
	if (given && !r->trial.hot.bytes)
		return refuse(why, len,
			      "hot reads, and no hot set: give --hot a size");
	if (r->trial.scan.scanners > 1 && clock)
		return refuse(
			why, len,
			"scanners take turns, which is logical time: --scanners=1 with --pace=clock");
	resolve_speed(s, clock, r);
	if (clock)
		return resolve_clock(s, scale, pages, r, why, len);
	return resolve_logical(s, scale, pages, r, why, len);
}

static int check_sizes(const struct setting *s, const struct resolved *r,
		       char *why, size_t len)
{
	const struct trial *t = &r->trial;

	if (!t->scan.bytes)
		return refuse(why, len, "--scan=%s: nothing to scan",
			      s->value[KNOB_SCAN]);
	if (t->scan.buffer > t->scan.bytes)
		return refuse(
			why, len,
			"--buffer=%s is more than there is to scan, %.1f MiB",
			s->value[KNOB_BUFFER], (double)t->scan.bytes / MIB);
	if (r->memory && t->hot.bytes >= r->memory)
		return refuse(
			why, len,
			"--hot=%s comes to %.1f MiB, the limit%s is %.1f MiB: a set that does not fit cannot be kept",
			s->value[KNOB_HOT], (double)t->hot.bytes / MIB,
			t->high_bytes ? " by --high" : "",
			(double)r->memory / MIB);
	if (is(s, KNOB_FILES, "sparse") && is(s, KNOB_SCAN_BY, "direct"))
		return refuse(
			why, len,
			"--scan-by=direct of --files=sparse reads no device at all: --files=data");
	if (is(s, KNOB_FS, "btrfs") && t->scan.read_by->rwf & RWF_DONTCACHE)
		return refuse(
			why, len,
			"--scan-by=%s on --fs=btrfs: btrfs has no RWF_DONTCACHE reads; ext4 and xfs have, from Linux 6.14",
			s->value[KNOB_SCAN_BY]);
	return 0;
}

/* ----- GETs and SCANs ----- */

/* What a store has no use for stays as it is preset, or is refused. */
static int check_store_alone(const struct setting *s, char *why, size_t len)
{
	static const enum knob_id unused[] = {
		KNOB_HOT,	KNOB_ACCESS,  KNOB_WARM,       KNOB_WARM_BY,
		KNOB_HOT_ORDER, KNOB_READERS, KNOB_PACE,       KNOB_TOUCHES,
		KNOB_RATE,	KNOB_PERIOD,  KNOB_LEAD,       KNOB_GAP,
		KNOB_LIMIT,	KNOB_SCAN_BY, KNOB_SCAN_ORDER, KNOB_SCANNERS,
		KNOB_THROTTLE,	KNOB_SPEED,   KNOB_PASSES,
	};

	for (size_t i = 0; i < ARRAY_SIZE(unused); i++)
		if (!is(s, unused[i], knobs[unused[i]].preset) &&
		    !(unused[i] == KNOB_HOT && is(s, KNOB_HOT, "0")))
			return refuse(
				why, len,
				"--%s=%s and --workers=%s: GETs and SCANs are all that is asked of a store, by pread() and in logical time",
				knobs[unused[i]].name, s->value[unused[i]],
				s->value[KNOB_WORKERS]);
	return 0;
}

static int check_no_store(const struct setting *s, char *why, size_t len)
{
	static const enum knob_id its[] = { KNOB_MIXED, KNOB_GETS, KNOB_RUN };

	for (size_t i = 0; i < ARRAY_SIZE(its); i++)
		if (!is(s, its[i], knobs[its[i]].preset))
			return refuse(
				why, len,
				"--%s=%s is of GETs and SCANs: give --workers, 2 to 8",
				knobs[its[i]].name, s->value[its[i]]);
	return 0;
}

static int resolve_store(const struct setting *s, struct resolved *r, char *why,
			 size_t len)
{
	struct get_scan *of = &r->trial.get_scan;

	*of = (struct get_scan){
		.records = r->trial.scan.bytes / RECORD_BYTES,
		.memory = r->memory,
		.run = (uint64_t)value(s, KNOB_RUN),
		.gets = (uint64_t)llround(value(s, KNOB_GETS) * 1000),
		.zipf = value(s, KNOB_ZIPF),
		.workers = (unsigned int)value(s, KNOB_WORKERS),
		.mixed = is(s, KNOB_MIXED, "yes"),
		.buffer = r->trial.scan.buffer,
		.read_by = r->trial.scan.read_by,
	};
	of->scanned = of->records / SCAN_ALIGN * SCAN_ALIGN;
	get_scan_windows(of);
	if (!of->memory)
		return refuse(
			why, len,
			"--mem=none and --workers=%u: how long is measured goes by the memory: give --mem a size",
			of->workers);
	if (!of->run && !of->gets)
		return refuse(why, len,
			      "--run=0 and --gets=0: neither SCANs nor GETs");
	if (of->run > of->scanned)
		return refuse(why, len,
			      "--run=%s is longer than the store, %" PRIu64
			      " records",
			      s->value[KNOB_RUN], of->scanned);
	if (of->buffer > STORE_BUFFER_MAX)
		return refuse(why, len,
			      "--buffer=%s: a SCAN reads 1M at most at a time",
			      s->value[KNOB_BUFFER]);
	return 0;
}

int setting_resolve(const struct setting *s, double scale, uint64_t available,
		    struct resolved *r, char *why, size_t len)
{
	struct trial *t = &r->trial;
	bool store = !is(s, KNOB_WORKERS, "0");
	double limit;
	uint64_t buffer;
	int err;

	*r = (struct resolved){ .reclaim = RECLAIM_ANY };
	if (!is(s, KNOB_RECLAIM, "any"))
		reclaim_by_name(s->value[KNOB_RECLAIM], &r->reclaim);
	r->read_ahead_kb = (unsigned int)value(s, KNOB_READ_AHEAD);
	r->limit_ns = (uint64_t)(value(s, KNOB_LIMIT) * 1000);
	err = resolve_memory(s, scale, available, r, &limit, why, len);
	/* What fills the memory is the store. */
	if (!err && !store)
		err = resolve_size(s, KNOB_HOT, scale, limit, &t->hot.bytes,
				   why, len);
	if (!err)
		err = resolve_size(s, KNOB_SCAN, scale, limit, &t->scan.bytes,
				   why, len);
	if (err)
		return err;
	size_parse(s->value[KNOB_BUFFER], &buffer);
	t->sparse = is(s, KNOB_FILES, "sparse");
	t->settle_max = INT64_MAX;
	t->hot.warm = (unsigned int)value(s, KNOB_WARM);
	t->hot.readers = (unsigned int)value(s, KNOB_READERS);
	t->hot.zipf = value(s, KNOB_ZIPF);
	t->hot.sequential = is(s, KNOB_HOT_ORDER, "in-order");
	t->hot.read_by = way(s->value[KNOB_ACCESS], false);
	t->hot.warm_by = way(s->value[KNOB_WARM_BY], false);
	t->scan.passes = (unsigned int)value(s, KNOB_PASSES);
	t->scan.scanners = (unsigned int)value(s, KNOB_SCANNERS);
	t->scan.buffer = buffer;
	t->scan.random = is(s, KNOB_SCAN_ORDER, "random");
	t->scan.read_by = way(s->value[KNOB_SCAN_BY], true);
	if (t->hot.sequential && t->hot.zipf > 0)
		return refuse(
			why, len,
			"--zipf and --hot-order=in-order exclude each other");
	if (store) {
		err = check_store_alone(s, why, len);
		if (!err)
			err = resolve_store(s, r, why, len);
		return err ? err : check_sizes(s, r, why, len);
	}
	err = check_no_store(s, why, len);
	if (!err)
		err = check_sizes(s, r, why, len);
	return err ? err : resolve_pace(s, scale, r, why, len);
}
