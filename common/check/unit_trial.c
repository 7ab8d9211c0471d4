// SPDX-License-Identifier: GPL-2.0
/* How a trial goes: what is read when, by both paces, and what it shows. */
#include "unit.h"

#include "hot_set.h"
#include "lab.h"
#include "scan.h"
#include "trial.h"
#include "zipf.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define MS 1000000ULL
#define LEN(array) (sizeof(array) / sizeof(*(array)))

/* What an observer saw, in shared memory. */
struct seen {
	struct trial_result result;
	unsigned int hot_reads;
	unsigned int missed;
	unsigned int unknown; /* whether missed */
	unsigned int before_pass[4]; /* hot reads when it began */
	unsigned int after_pass[4];
	unsigned int samples;
	unsigned int scan_reads;
	uint64_t scanned_ns[4];
	uint64_t lag_max; /* from when a read was due to its end */
	int64_t cached;
	unsigned int pages[512]; /* reads of each */
};

static struct seen *seen;
static struct lab lab;
static unsigned int sample_takes_ms;

static void on_hot_read(void *arg, const struct hot_read *read)
{
	struct seen *s = arg;

	__atomic_fetch_add(&s->hot_reads, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->missed, read->missed, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->unknown, read->unknown, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->pages[read->page % LEN(s->pages)], 1,
			   __ATOMIC_RELAXED);
	if (read->end_ns - read->due_ns > s->lag_max)
		s->lag_max = read->end_ns - read->due_ns;
}

static void on_scan_read(void *arg, unsigned int pass, uint64_t done)
{
	struct seen *s = arg;

	(void)pass;
	(void)done;
	s->scan_reads++;
}

static void on_sample(void *arg, const struct trial_sample *sample)
{
	struct seen *s = arg;

	sleep_until(clock_ns() + sample_takes_ms * MS);
	s->samples++;
	s->cached = sample->hot.cached;
	if (!sample->done)
		s->before_pass[sample->pass] = s->hot_reads;
	if (sample->done == sample->total) {
		s->after_pass[sample->pass] = s->hot_reads;
		s->scanned_ns[sample->pass] = sample->scan_ns;
	}
}

static const struct trial_observer observer = {
	.samples = 3,
	.hot_read = on_hot_read,
	.scan_read = on_scan_read,
	.sample = on_sample,
};

static struct trial watched(struct trial_observer *watch)
{
	seen = unit_shared(sizeof(*seen));
	*watch = observer;
	watch->arg = seen;
	return (struct trial){
		.name = "watched",
		.seed = 1,
		.sparse = true,
		.hot = { .bytes = 2 * MIB,
			 .warm = 1,
			 .readers = 1,
			 .warm_by = &reader_pread,
			 .read_by = &reader_pread },
		.scan = { .bytes = 4 * MIB,
			  .passes = 2,
			  .scanners = 1,
			  .buffer = MIB,
			  .read_by = &reader_pread },
		.settle_max = INT64_MAX,
		.observer = watch,
	};
}

static int run(const struct trial *trial)
{
	struct needs needs = { 0 };

	IS(trial_lay_out(&lab, trial, &needs), 0);
	memset(seen, 0, sizeof(*seen));
	return trial_run(&lab, trial, &seen->result);
}

static void test_trial_in_logical_time(void)
{
	struct trial_observer watch;
	struct trial trial = watched(&watch);

	unit_lab_open(&lab);
	trial.hot.touches = 100;
	trial.hot.lead = 30;
	trial.hot.gap = 7;
	IS(run(&trial), 0);
	IS_TEXT(lab.failure.text, "");
	IS(seen->before_pass[0], 30);
	IS(seen->after_pass[0], 130);
	IS(seen->before_pass[1], 137);
	IS(seen->after_pass[1], 237);
	IS(seen->result.touched, 237);
	IS(seen->result.late, 0);
	IS(seen->scan_reads, 8);
	/* At the begin and the end, and thrice between: at each MiB here. */
	IS(seen->samples, 2 * 5);
	IS(seen->missed, 0);
	IS(seen->unknown, 0);
	IS(seen->result.metric[KEPT], 1000);
	IS(seen->cached * sysconf(_SC_PAGESIZE), 2 * MIB);
	IS(seen->result.stat.refault_file, -1);

	unit_case("what was not cached is missed; holes wait for nothing");
	trial.sparse = false;
	trial.hot.warm = 0;
	trial.hot.sequential = true;
	trial.hot.no_readahead = true;
	trial.hot.lead = 2;
	trial.hot.gap = 0;
	trial.hot.touches = 0;
	/* The first attempt starts the read; a fast disk may have it by then. */
	for (int tries = 10; tries && !seen->missed; tries--)
		IS(run(&trial), 0);
	IS(seen->hot_reads, 2);
	IS_WITHIN(seen->missed, 1, 2);

	unit_case("samples are not the scan's time");
	sample_takes_ms = 200;
	/* Four before the last one of a pass; others may take the CPU. */
	for (int tries = 10; tries; tries--) {
		IS(run(&trial), 0);
		if (seen->scanned_ns[1] < 400 * MS)
			break;
	}
	IS_WITHIN(seen->scanned_ns[1], 1, 400 * MS);
	sample_takes_ms = 0;
	unit_lab_close(&lab);
}

/* Whether others took the CPU in the meantime, or the pace is wrong. */
static bool was_disturbed(void)
{
	return seen->scanned_ns[0] > 150 * MS ||
	       seen->scanned_ns[1] > 150 * MS ||
	       seen->result.hot_ns > 450 * MS || seen->hot_reads < 190 ||
	       seen->before_pass[0] < 40;
}

static void test_trial_by_the_clock(void)
{
	struct trial_observer watch;
	struct trial trial = watched(&watch);
	int tries = 20;

	unit_lab_open(&lab);
	trial.hot.period_ns = 2 * MS;
	trial.hot.lead_ns = 100 * MS;
	trial.hot.gap_ns = 100 * MS;
	trial.hot.readers = 2;
	trial.scan.per_second = 40 * MIB; /* 100 ms a pass */
	/* 400 ms at 500 reads a second; on a busy machine in one of 20 tries. */
	do {
		IS(run(&trial), 0);
	} while (was_disturbed() && --tries);
	IS_TEXT(lab.failure.text, "");
	IS_WITHIN(seen->hot_reads, 190, 225);
	IS(seen->result.touched, seen->hot_reads);
	IS_WITHIN(seen->before_pass[0], 40, 80);
	IS_WITHIN(seen->scanned_ns[0] / MS, 99, 150);
	IS_WITHIN(seen->scanned_ns[1] / MS, 99, 150);
	/* As many as were due in that time, those of a moment left out. */
	IS_WITHIN(seen->result.hot_ns / MS * 500 / 1000, seen->hot_reads - 5,
		  seen->hot_reads + 25);

	unit_case("a rate that cannot be had is late");
	trial.hot.period_ns = 100;
	trial.hot.readers = 1;
	IS(run(&trial), 0);
	IS_WITHIN(seen->result.late, seen->hot_reads / 2, seen->hot_reads);
	/* Measured from the deadline: the last ones waited for all others. */
	IS_WITHIN(seen->lag_max / MS, 20, 1000000);
	unit_lab_close(&lab);
}

static void test_trial_lays_out_the_kind(void)
{
	struct trial_observer watch;
	struct trial trial = watched(&watch);
	struct needs needs = { 0 };

	unit_lab_open(&lab);
	for (int i = 0; i < 4; i++) {
		char path[PATH_MAX];
		struct stat st;

		unit_case("round %d", i);
		trial.sparse = i & 1;
		IS(trial_lay_out(&lab, &trial, &needs), 0);
		scratch_path(&lab.scratch, SCAN_FILE, path, sizeof(path));
		IS(stat(path, &st), 0);
		IS(st.st_size, 4 * MIB);
		IS(!st.st_blocks, trial.sparse);
	}
	unit_lab_close(&lab);
}

/* The most popular page is read most, wherever it lies. */
static void test_trial_by_zipf(void)
{
	struct trial_observer watch;
	struct trial trial = watched(&watch);
	unsigned int most = 0, none = 0, where = 0;
	unsigned int pages;

	unit_lab_open(&lab);
	pages = trial.hot.bytes / sysconf(_SC_PAGESIZE);
	trial.hot.zipf = 0.99;
	trial.hot.touches = 10000;
	trial.scan.passes = 1;
	IS(run(&trial), 0);
	for (unsigned int i = 0; i < pages; i++) {
		none += !seen->pages[i];
		if (seen->pages[i] > most) {
			most = seen->pages[i];
			where = i;
		}
	}
	/* 1 / sum of k^-0.99 over 512 is 0.143. */
	if (pages == 512)
		IS_WITHIN(most, 1300, 1560);
	IS_WITHIN(where, 1, pages - 1);
	/* The rarest is read thrice on the average. */
	IS_WITHIN(none, 0, 40);
	unit_lab_close(&lab);
}

/* Against the probabilities themselves: a chi-squared test. */
static void test_zipf(void)
{
	static const struct {
		uint64_t n;
		double exponent;
	} cases[] = {
		{ 1, 1 },  { 2, 0.99 },	 { 10, 0 },   { 10, 0.5 },
		{ 10, 1 }, { 50, 0.99 }, { 50, 1.5 }, { 7, 3 },
	};
	const unsigned int draws = 200000;

	for (size_t c = 0; c < LEN(cases); c++) {
		uint64_t n = cases[c].n, random = 1;
		unsigned int count[50] = { 0 };
		double sum = 0, chi = 0;
		struct zipf z;

		unit_case("n %d, exponent %.2f", (int)n, cases[c].exponent);
		zipf_init(&z, n, cases[c].exponent);
		for (unsigned int i = 0; i < draws; i++) {
			uint64_t k = zipf_next(&z, &random);

			if (k < n)
				count[k]++;
		}
		for (uint64_t k = 1; k <= n; k++)
			sum += pow((double)k, -cases[c].exponent);
		for (uint64_t k = 1; k <= n; k++) {
			double want = draws *
				      pow((double)k, -cases[c].exponent) / sum;

			chi += (count[k - 1] - want) * (count[k - 1] - want) /
			       want;
		}
		/* Five standard deviations above the mean of n - 1. */
		IS_WITHIN(chi, 0, n - 1 + 5 * sqrt(2.0 * (double)n));
	}

	unit_case("many");
	{
		uint64_t n = 1ULL << 40, random = 7;
		unsigned int first = 0;
		struct zipf z;

		zipf_init(&z, n, 0.99);
		for (unsigned int i = 0; i < draws; i++) {
			uint64_t k = zipf_next(&z, &random);

			first += !k;
			if (k >= n)
				IS(k, n - 1);
		}
		/* 1 / 32.5: zeta(0.99) of 2^40, by Euler-Maclaurin. */
		IS_WITHIN(first, draws / 33.7, draws / 31.3);
	}
}

const struct unit_test tests_of_trial[] = {
	{ "zipf", test_zipf },
	{ "trial_in_logical_time", test_trial_in_logical_time },
	{ "trial_by_the_clock", test_trial_by_the_clock },
	{ "trial_by_zipf", test_trial_by_zipf },
	{ "trial_lays_out_the_kind", test_trial_lays_out_the_kind },
	{ 0 },
};
