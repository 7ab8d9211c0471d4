// SPDX-License-Identifier: GPL-2.0
/* The explorer: its knobs, its recipes, and what it makes of the requests. */
#include "unit.h"

#include "explore_plan.h"
#include "explore_replay.h"
#include "explore_setting.h"
#include "explore_watch.h"
#include "hot_set.h"
#include "pattern.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define LEN(array) (sizeof(array) / sizeof(*(array)))

#define REQUESTS 14
#define PAGES 5

/* Fewest misses of all ways to go on: tried one by one. */
static unsigned int fewest(const uint32_t *requests, size_t n, size_t at,
			   unsigned int kept, unsigned int capacity)
{
	unsigned int page, best;

	if (at == n)
		return 0;
	page = 1U << requests[at];
	if (kept & page)
		return fewest(requests, n, at + 1, kept, capacity);
	/* Keep nothing of it, or in the place of any other, or in a free one. */
	best = fewest(requests, n, at + 1, kept, capacity);
	if ((unsigned int)__builtin_popcount(kept) < capacity) {
		unsigned int m =
			fewest(requests, n, at + 1, kept | page, capacity);

		return 1 + (m < best ? m : best);
	}
	for (unsigned int i = 0; i < PAGES; i++) {
		unsigned int m;

		if (!(kept & 1U << i))
			continue;
		m = fewest(requests, n, at + 1, (kept & ~(1U << i)) | page,
			   capacity);
		best = m < best ? m : best;
	}
	return 1 + best;
}

static void test_replay_optimal(void)
{
	struct replayed replayed[REQUESTS];
	uint32_t requests[REQUESTS];

	for (unsigned int seed = 0; seed < 60; seed++)
		for (unsigned int capacity = 0; capacity <= 3; capacity++) {
			unsigned int missed = 0;

			unit_case("seed %u, %u pages", seed, capacity);
			for (size_t i = 0; i < REQUESTS; i++)
				requests[i] =
					splitmix64(seed * 100 + i) % PAGES;
			IS(replay(requests, REQUESTS, PAGES, capacity,
				  replayed),
			   0);
			for (size_t i = 0; i < REQUESTS; i++)
				missed += !replayed[i].optimal;
			IS(missed, fewest(requests, REQUESTS, 0, 0, capacity));
		}
}

/* Against a list that is kept in order. */
static void test_replay_distance(void)
{
	enum { N = 2000, MANY = 100 };
	static struct replayed replayed[N];
	static uint32_t requests[N];
	uint32_t list[MANY];
	unsigned int nr = 0;

	for (size_t i = 0; i < N; i++) {
		uint64_t r = splitmix64(i);

		requests[i] = r % (r & 1 << 20 ? 10 : MANY);
	}
	IS(replay(requests, N, MANY, 20, replayed), 0);
	for (size_t i = 0; i < N; i++) {
		unsigned int at = 0;

		while (at < nr && list[at] != requests[i])
			at++;
		if (at == nr) {
			IS(replayed[i].distance, NEVER);
			nr++;
		} else {
			IS(replayed[i].distance, at);
		}
		memmove(list + 1, list, at * sizeof(*list));
		list[0] = requests[i];
	}
	IS(nr, MANY);
}

static const char *refused(const char *text, double scale)
{
	static char why[320];
	char copy[200];
	struct setting s;
	struct resolved r;
	char *word, *rest;

	setting_preset(&s);
	snprintf(copy, sizeof(copy), "%s", text);
	*why = '\0';
	for (word = strtok_r(copy, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');

		*equals = '\0';
		if (setting_set(&s, knob_by_name(word), equals + 1, why,
				sizeof(why)))
			return why;
	}
	setting_resolve(&s, scale, 1024 * MIB, &r, why, sizeof(why));
	return why;
}

static void test_setting_refuses(void)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "mem=64M", "" },
		{ "mem=64", "32 MiB or more" },
		{ "mem=lots", "must be a size, none or machine" },
		{ "hot=100%", "a set that does not fit" },
		{ "hot=40% mem=none", "a share of no limit" },
		{ "hot=24M scan=40M mem=none", "" },
		{ "hot=-1", "must be a size" },
		{ "hot=40%%", "must be a size" },
		{ "high=70M", "above the limit" },
		{ "high=20M hot=24M", "the limit by --high is 20.0 MiB" },
		{ "high=40M hot=24M", "" },
		{ "high=10M mem=none hot=1M scan=1M", "memory.high" },
		{ "fs=btrfs scan-by=dontcache", "btrfs has no RWF_DONTCACHE" },
		{ "fs=btrfs scan-by=uring-8", "btrfs has no RWF_DONTCACHE" },
		{ "fs=btrfs scan-by=dontneed", "" },
		{ "scan=0", "nothing to scan" },
		{ "scan=1M buffer=2M", "more than there is to scan" },
		{ "buffer=5000", "must be 4K to 16M" },
		{ "rate=10 period=5 speed=100", "give one of them" },
		{ "rate=10", "give --speed" },
		{ "rate=10 speed=100", "" },
		{ "rate=10 throttle=100", "" },
		{ "touches=1 gap=10", "give --speed" },
		{ "touches=1", "" },
		{ "touches=1 throttle=100", "nothing waits" },
		{ "hot=0 throttle=100", "nothing waits" },
		{ "hot=0 gap=10 passes=2", "nothing waits" },
		{ "touches=1 throttle=100 gap=10", "" },
		{ "hot=0 throttle=100 pace=clock", "" },
		{ "touches=1 hot=0", "no hot set" },
		{ "touches=1 pace=clock", "give --rate or --period" },
		{ "rate=2000000 pace=clock", "more than any machine" },
		{ "zipf=1 hot-order=in-order", "exclude each other" },
		{ "files=sparse scan-by=direct", "reads no device" },
		{ "scanners=2 pace=clock", "take turns" },
		{ "passes=17", "must be 1 to 16" },
		{ "readers=0", "must be 1 to 8" },
		{ "reclaim=lru", "must be any, classic or mglru" },
		{ "limit=nan", "must be microseconds" },
		{ "workers=4", "" },
		{ "workers=8 mixed=yes gets=0.5 zipf=0.99 hot=0 run=16", "" },
		{ "workers=1", "must be 0, or 2 to 8" },
		{ "workers=9", "must be 0, or 2 to 8" },
		{ "workers=4 hot=10%", "--hot=10% and --workers=4" },
		{ "workers=4 scan-by=direct", "--scan-by=direct and" },
		{ "workers=4 pace=clock", "by pread() and in logical time" },
		{ "workers=4 passes=2", "--passes=2 and --workers=4" },
		{ "workers=4 mem=none scan=64M", "give --mem a size" },
		{ "workers=4 run=0 gets=0", "neither SCANs nor GETs" },
		{ "workers=4 scan=8M", "longer than the store, 8192 records" },
		{ "workers=4 buffer=2M", "1M at most" },
		{ "workers=4 scan=0 run=0", "nothing to scan" },
		{ "mixed=maybe", "must be yes or no" },
		{ "mixed=yes", "give --workers" },
		{ "gets=3", "give --workers" },
		{ "run=5", "give --workers" },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		const char *why = refused(cases[i].text, 1);

		unit_case("%s", cases[i].text);
		if (*cases[i].why)
			HAS_TEXT(why, cases[i].why);
		else
			IS_TEXT(why, "");
	}
	unit_case("scaled");
	HAS_TEXT(refused("mem=256M", 1.0 / 16), "comes to 16.0 MiB");
}

/* Sizes and seconds shrink; what has no unit, and the rates, do not. */
static void test_setting_scales(void)
{
	static const char *const scaled[] = { "1", "1/16" };
	char why[320] = "";
	struct setting s;

	setting_preset(&s);
	setting_set(&s, KNOB_MEM, "1G", why, sizeof(why));
	setting_set(&s, KNOB_HOT, "400M", why, sizeof(why));
	setting_set(&s, KNOB_SCAN, "3000M", why, sizeof(why));
	setting_set(&s, KNOB_PERIOD, "50", why, sizeof(why));
	setting_set(&s, KNOB_SPEED, "1048.576", why, sizeof(why));
	setting_set(&s, KNOB_LEAD, "5", why, sizeof(why));
	setting_set(&s, KNOB_GAP, "10", why, sizeof(why));
	for (size_t i = 0; i < LEN(scaled); i++) {
		uint64_t by = i ? 16 : 1;
		uint64_t pages = 400 * MIB / by / 4096;
		struct resolved r;
		double scale;

		unit_page_size = 4096;
		unit_case("by %s", scaled[i]);
		IS(scale_parse(scaled[i], &scale), 0);
		setting_set(&s, KNOB_PACE, "logical", why, sizeof(why));
		IS(setting_resolve(&s, scale, 0, &r, why, sizeof(why)), 0);
		IS_TEXT(why, "");
		IS(r.trial.mem_bytes, 1024 * MIB / by);
		IS(r.trial.hot.bytes, 400 * MIB / by);
		/* 3 s a pass of 50 s: 0.06 reads of each page. */
		IS_WITHIN(r.trial.hot.touches, pages * 0.0599, pages * 0.0601);
		IS_WITHIN(r.trial.hot.lead, pages * 0.0999, pages * 0.1001);
		IS_WITHIN(r.trial.hot.gap, pages * 0.1999, pages * 0.2001);
		setting_set(&s, KNOB_PACE, "clock", why, sizeof(why));
		IS(setting_resolve(&s, scale, 0, &r, why, sizeof(why)), 0);
		IS_WITHIN(r.wanted, 2047, 2049);
		IS_WITHIN(r.trial.hot.gap_ns, 9999000000 / by,
			  10001000000 / by);
	}
	{
		static const char *const bad[] = { "0",	  "1/0", "x",
						   "1/x", "65",	 "1/16k" };
		double scale;

		for (size_t i = 0; i < LEN(bad); i++) {
			unit_case("%s", bad[i]);
			IS(scale_parse(bad[i], &scale) < 0, true);
		}
	}
}

/* GETs by byte scanned are as at full size, and so is the store by memory. */
static void test_setting_store(void)
{
	struct resolved r;
	char why[320] = "";
	struct setting s;

	unit_page_size = 4096;
	setting_preset(&s);
	setting_set(&s, KNOB_MEM, "2560M", why, sizeof(why));
	setting_set(&s, KNOB_SCAN, "28G", why, sizeof(why));
	setting_set(&s, KNOB_BUFFER, "16K", why, sizeof(why));
	setting_set(&s, KNOB_ZIPF, "0.99", why, sizeof(why));
	setting_set(&s, KNOB_WORKERS, "8", why, sizeof(why));
	setting_set(&s, KNOB_MIXED, "yes", why, sizeof(why));
	setting_set(&s, KNOB_GETS, "237.2", why, sizeof(why));
	IS(setting_resolve(&s, 1.0 / 64, 0, &r, why, sizeof(why)), 0);
	IS_TEXT(why, "");
	IS(r.trial.mem_bytes, 40 * MIB);
	IS(r.trial.hot.bytes, 0);
	IS(r.trial.get_scan.records, 448 * MIB / RECORD_BYTES);
	IS(r.trial.get_scan.scanned, r.trial.get_scan.records);
	IS(r.trial.get_scan.memory, 40 * MIB);
	IS(r.trial.get_scan.run, 10000);
	IS(r.trial.get_scan.gets, 237200);
	IS(llround(r.trial.get_scan.zipf * 100), 99);
	IS(r.trial.get_scan.workers, 8);
	IS(r.trial.get_scan.mixed, true);
	IS(r.trial.get_scan.window, 80 * MIB);
	IS(r.trial.get_scan.buffer, 16 * 1024);
	setting_set(&s, KNOB_RUN, "0", why, sizeof(why));
	IS(setting_resolve(&s, 1.0 / 64, 0, &r, why, sizeof(why)), 0);
	IS(r.trial.get_scan.window, 40 * MIB);
	unit_case("the memory that there is");
	IS(r.memory, 40 * MIB);
	setting_set(&s, KNOB_HIGH, "50%", why, sizeof(why));
	IS(setting_resolve(&s, 1.0 / 64, 0, &r, why, sizeof(why)), 0);
	IS(r.memory, 20 * MIB);
	IS(r.trial.get_scan.memory, 20 * MIB);
	setting_set(&s, KNOB_HIGH, "0", why, sizeof(why));
	setting_set(&s, KNOB_MEM, "machine", why, sizeof(why));
	IS(setting_resolve(&s, 1.0 / 64, 100 * MIB, &r, why, sizeof(why)),
	   -EINVAL);
	HAS_TEXT(why, "--scale shrinks no machine");
	setting_set(&s, KNOB_SCAN, "448M", why, sizeof(why));
	IS(setting_resolve(&s, 1, 100 * MIB, &r, why, sizeof(why)), 0);
	IS(r.memory, 100 * MIB);
}

static struct plan plan;

/* 0, or what plan_read() says of a recipe with @text. */
static const char *recipe_error(const char *text, const struct lists *given)
{
	static const struct lists none;
	static char why[600];
	char path[] = "/tmp/recipe.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		unit_skip("cannot make %s", path);
	close(fd);
	unit_write(path, text);
	*why = '\0';
	plan_read(&plan, path, given ? given : &none, why, sizeof(why));
	unlink(path);
	return why;
}

static void test_recipe(void)
{
	static const char text[] =
		"# comment\n"
		"title \"Two words\"\n"
		"set mem=1G hot=400M # and a comment\n"
		"run period=5,20 speed=100 reclaim=classic,mglru\n"
		"set hot=200M\n"
		"run period=5 speed=100 reclaim=mglru\n"
		"run period=5 speed=100 reclaim=mglru\n"
		"column old reclaim=classic\n"
		"column new reclaim=mglru\n"
		"change by\n"
		"row \"5 s\" missed pass=2 period=5 report \"1 %\" 2\n"
		"figure missed log\n";
	static struct lists given;

	IS_TEXT(recipe_error(text, NULL), "");
	IS_TEXT(plan.title, "Two words");
	IS(plan.nr_runs, 5); /* the last one was there before */
	IS_TEXT(plan.runs[0].value[KNOB_HOT], "400M");
	IS_TEXT(plan.runs[4].value[KNOB_HOT], "200M");
	IS_TEXT(plan.runs[4].value[KNOB_MEM], "1G");
	IS(plan.nr_columns, 2);
	IS(filter_matches(&plan.columns[1].filter, &plan.runs[0]), false);
	IS(filter_matches(&plan.columns[1].filter, &plan.runs[4]), true);
	IS_TEXT(plan.change, "by");
	IS(plan.nr_rows, 1);
	IS_TEXT(plan.rows[0].label, "5 s");
	IS(plan.rows[0].figure, FIG_MISSED);
	IS(plan.rows[0].pass, 2);
	IS_TEXT(plan.rows[0].report[0], "1 %");
	IS_TEXT(plan.rows[0].report[1], "2");
	IS(plan.drawn, FIG_MISSED);
	IS(plan.log, true);

	unit_case("the command line wins");
	strcpy(given.value[KNOB_PERIOD], "7");
	IS_TEXT(recipe_error(text, &given), "");
	IS(plan.nr_runs, 3);
	IS_TEXT(plan.runs[0].value[KNOB_PERIOD], "7");
}

static void test_recipe_refuses(void)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "", "no run line" },
		{ "run mem=1G\nrun mem=x\n", ":2: --mem=x: must be a size" },
		{ "run mem=1G,\n", ":1: --mem=: must be" },
		{ "run mem\n", ":1: \"mem\" is no KNOB=VALUE" },
		{ "run memory=1G\n", ":1: memory: no such knob" },
		{ "walk mem=1G\n", ":1: walk: must be" },
		{ "title \"open\n", "quote left open" },
		{ "row a kept\n", "needs a label, a figure" },
		{ "row a warmth pass=1\n", "warmth: no such figure" },
		{ "row a kept pass=0\n", "must be pass=1" },
		{ "row a kept pass=1 hot=x\n", "--hot=x: must be" },
		{ "column a hot=x\n", "--hot=x: must be" },
		{ "figure none\n", "none: no such figure" },
		{ "change\n", "change: must be" },
		{ "run mem=1G\ncolumn a mem=1G\nchange by\n",
		  "of two, not of 1" },
		{ "run mem=123456789012345678901234567890\n", "--mem=" },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		unit_case("%s", cases[i].text);
		HAS_TEXT(recipe_error(cases[i].text, NULL), cases[i].why);
	}
	unit_case("no file");
	{
		static const struct lists none;
		char why[600];

		IS(plan_read(&plan, "/nowhere/recipe", &none, why, sizeof(why)),
		   -ENOENT);
		HAS_TEXT(why, "/nowhere/recipe: No such file");
	}
}

/* Rows of @recipe for which there is no run, in either column. */
static unsigned int rows_without_run(const char *recipe,
				     const struct lists *given)
{
	unsigned int nr = 0;
	char path[300], why[600] = "";

	snprintf(path, sizeof(path), "%s/%s", RECIPES_DIR, recipe);
	IS(plan_read(&plan, path, given, why, sizeof(why)), 0);
	IS_TEXT(why, "");
	IS(plan.nr_rows > 8, true);
	for (unsigned int r = 0; r < plan.nr_rows; r++) {
		bool found = false;

		for (unsigned int c = 0; c < plan.nr_columns; c++)
			for (unsigned int i = 0; i < plan.nr_runs; i++)
				found |= filter_matches(&plan.rows[r].filter,
							&plan.runs[i]) &&
					 filter_matches(&plan.columns[c].filter,
							&plan.runs[i]);
		nr += !found;
	}
	return nr;
}

static void test_recipe_rows(void)
{
	static struct lists given;

	IS(rows_without_run("report1", &given), 0);
	IS(rows_without_run("report2", &given), 0);
	IS(rows_without_run("report3", &given), 0);
	unit_case("in a VM of 1 GB: all but the row of 2 GB");
	strcpy(given.value[KNOB_MEM], "machine");
	IS(rows_without_run("report1", &given), 1);
}

/* The knob with most values makes the rows, the others the columns. */
static void test_sweep(void)
{
	static struct lists given;
	char why[320] = "";

	strcpy(given.value[KNOB_BUFFER], "4K,64K,1M");
	strcpy(given.value[KNOB_SCAN_BY], "pread,dontcache");
	strcpy(given.value[KNOB_PASSES], "2");
	IS(plan_sweep(&plan, &given, FIG_THROUGHPUT, why, sizeof(why)), 0);
	IS_TEXT(why, "");
	IS(plan.nr_runs, 6);
	IS(plan.nr_rows, 6);
	IS(plan.nr_columns, 2);
	IS_TEXT(plan.rows[1].label, "buffer 4K, pass 2");
	IS_TEXT(plan.columns[1].label, "scan-by dontcache");
	strcpy(given.value[KNOB_PERIOD], "x");
	IS(plan_sweep(&plan, &given, FIG_KEPT, why, sizeof(why)), -EINVAL);
	HAS_TEXT(why, "--period=x");
	strcpy(given.value[KNOB_PERIOD], "1,2,3");
	strcpy(given.value[KNOB_ZIPF], "1,2,3");
	IS(plan_sweep(&plan, &given, FIG_KEPT, why, sizeof(why)), -EINVAL);
	HAS_TEXT(why, "more than 12 columns");
}

/* A trial that a script made: what is made of what it recorded. */
static void test_digest(void)
{
	struct resolved r = {
		.trial = {
			.hot = { .bytes = 10 * 4096, .warm = 1, .touches = 4 },
			.scan = { .bytes = 8 * 4096, .buffer = 4096,
				  .passes = 2 },
		},
		.limit_ns = 5000,
	};
	static struct watched w;
	struct curve_bin curve[CURVE_BINS] = { { 0 } };
	struct trial_result result = { 0 };
	const struct trial_observer *o;
	struct trial_sample s = { .total = 8 * 4096, .hot.pages = 10 };
	struct hot_read read = { 0 };
	struct watch *watch;
	uint64_t reads = 0;

	unit_page_size = 4096;
	watch = watch_new(&r);
	o = watch_observer(watch);
	for (s.pass = 0; s.pass < 2; s.pass++) {
		s.done = 0;
		s.scan_ns = 0;
		s.hot.cached = 10;
		s.stat.refault_file = 100 * s.pass;
		s.stat.activate_file = 1000 * s.pass;
		s.stat.scanned = 2000 * s.pass;
		s.stat.stolen = 3000 * s.pass;
		s.stat.pressure_us = s.pass ? 9000 : -1;
		o->sample(o->arg, &s);
		for (int i = 0; i < 4; i++) {
			/* 1, 2, 3, 4 us; the last one of each pass is missed. */
			read.page = i;
			read.start_ns = 20000 + 1000 * reads++;
			/* One waited 10 us for its turn: its latency, not its slowness. */
			read.due_ns = read.start_ns;
			if (s.pass && i == 1)
				read.due_ns -= 10000;
			read.end_ns =
				read.start_ns + 1000 * (i + 1) + 4000 * s.pass;
			read.missed = i == 3;
			o->hot_read(o->arg, &read);
			o->scan_read(o->arg, s.pass, (i + 1) * 2 * 4096);
		}
		s.done = s.total;
		s.scan_ns = 1000000;
		s.hot.cached = 5 - s.pass;
		s.hot.evicted = 5;
		s.stat.refault_file += 30;
		s.stat.activate_file += 10;
		s.stat.scanned += 50;
		s.stat.stolen += 40;
		s.stat.pressure_us += 2000;
		s.read_bytes = 3 * s.total;
		o->sample(o->arg, &s);
	}
	result.metric[SCAN_LEFT] = 3;
	IS(watch_digest(watch, &result, 12 * 4096, &w, curve), 0);
	IS(w.nr_passes, 2);
	IS(w.lost, 0);
	IS(w.pass[0].of[FIG_KEPT] * 1000, 500);
	IS(w.pass[1].of[FIG_KEPT] * 1000, 400);
	IS(w.pass[0].of[FIG_READS], 4);
	IS(w.pass[0].of[FIG_MISSED] * 1000, 250);
	/* More than 5 us: none in the first pass; 6, 7, 8 us in the second. */
	IS(w.pass[0].of[FIG_SLOW] * 1000, 0);
	IS(w.pass[1].of[FIG_SLOW] * 1000, 750);
	IS(w.pass[0].of[FIG_P50] * 1000, 2000);
	/* Of four reads it would be the slowest one. */
	IS(isnan(w.pass[0].of[FIG_P99]), true);
	IS(isnan(w.pass[0].of[FIG_P999]), true);
	/* 5, 7, 8 and 16 us. */
	IS(w.pass[1].of[FIG_P50] * 1000, 7000);
	IS(w.pass[1].of[FIG_MAX] * 1000, 16000);
	IS(w.pass[1].of[FIG_REFAULTS], 30);
	IS(w.pass[1].of[FIG_ACTIVATED], 10);
	IS(w.pass[1].of[FIG_SCANNED], 50);
	IS(w.pass[1].of[FIG_STOLEN], 40);
	IS(w.pass[1].of[FIG_EVICTED], 5);
	IS(w.pass[1].of[FIG_PRESSURE], 2);
	IS(isnan(w.pass[0].of[FIG_PRESSURE]), true);
	IS(w.pass[0].of[FIG_AMPLIFICATION], 3);
	/* 1 ms without the 10 us of hot reads. */
	IS(w.pass[0].of[FIG_THROUGHPUT] * 1000, 8 * 4096 * 1000000.0 / 990000);
	IS(isnan(w.pass[0].of[FIG_LATE]), true);
	IS(w.pass[1].of[FIG_LEFT] * 1000000, 3 * 4096);
	IS(isnan(w.pass[0].of[FIG_LEFT]), true);
	/*
	 * Of 12 pages, LRU has in the first pass those read less than 12 others
	 * ago: page i was warmed, then 9 - i and i others and 2 i of the scan
	 * were asked for.
	 */
	IS(w.pass[0].of[FIG_LRU_MISSED] * 1000, 500);
	/* The last 12 asked for: 8 of the scan and 4 hot ones. */
	IS(w.pass[0].of[FIG_LRU_KEPT] * 1000, 400);
	IS(w.pass[0].of[FIG_OPT_MISSED] * 1000, 0);
	IS(w.nr_points, 4);
	IS(w.point[1].reads, 4);
	IS(w.point[3].missed, 2);
	{
		uint64_t sum = 0, kept = 0, below = 0;

		for (unsigned int i = 0; i < CURVE_BINS; i++) {
			sum += curve[i].reads;
			kept += curve[i].kept;
			below += curve_bin_end(i) <= 1 ? curve[i].reads : 0;
		}
		IS(sum, 8);
		IS(kept, 6);
		IS_WITHIN(below, 1, 7);
	}
	watch_free(watch);
}

/* A thousand reads of 1 to 1000 us, the slow ones first. */
static void test_digest_quantiles(void)
{
	const struct resolved r = {
		.limit_ns = 5000,
		.trial = { .hot = { .bytes = 40960, .touches = 200000 },
			   .scan = { .bytes = 32768,
				     .buffer = 4096,
				     .passes = 1 } },
	};
	struct trial_sample s = { .total = 32768, .hot.pages = 10 };
	struct trial_result result = { 0 };
	struct watch *watch;
	const struct trial_observer *o;
	struct hot_read read = { 0 };
	static struct watched w;

	unit_page_size = 4096;
	watch = watch_new(&r);
	o = watch_observer(watch);
	o->sample(o->arg, &s);
	for (int us = 1000; us; us--) {
		read.end_ns = read.start_ns + 1000 * us;
		o->hot_read(o->arg, &read);
	}
	s.done = s.total;
	o->sample(o->arg, &s);
	IS(watch_digest(watch, &result, 49152, &w, NULL), 0);
	watch_free(watch);
	IS(w.pass[0].of[FIG_P50], 500);
	IS(w.pass[0].of[FIG_P99], 990);
	IS(w.pass[0].of[FIG_P999], 999);
	IS(w.pass[0].of[FIG_MAX], 1000);
}

/* Of @read_by and what else is in @r: four reads in each of two passes of a scan. */
static void digest_of(const struct resolved *r, bool unknown, struct watched *w,
		      struct curve_bin *curve)
{
	struct trial_result result = { 0 };
	struct trial_sample s = { .total = 8 * 4096, .hot.pages = 10 };
	struct watch *watch = watch_new(r);
	const struct trial_observer *o = watch_observer(watch);
	struct hot_read read = { .missed = true, .unknown = unknown };

	for (s.pass = 0; s.pass < 2; s.pass++) {
		s.done = 0;
		o->sample(o->arg, &s);
		for (read.page = 0; read.page < 4; read.page++) {
			o->hot_read(o->arg, &read);
			o->scan_read(o->arg, s.pass, (read.page + 1) * 8192);
		}
		s.done = s.total;
		s.scan_ns = 1000000;
		o->sample(o->arg, &s);
	}
	memset(curve, 0, CURVE_BINS * sizeof(*curve));
	IS(watch_digest(watch, &result, 12 * 4096, w, curve), 0);
	watch_free(watch);
}

static uint64_t reads_of(const struct curve_bin *curve)
{
	uint64_t reads = 0;

	for (unsigned int i = 0; i < CURVE_BINS; i++)
		reads += curve[i].reads;
	return reads;
}

/* A figure that would tell nothing is not there. */
static void test_digest_without(void)
{
	struct resolved r = {
		.trial = {
			.hot = { .bytes = 10 * 4096, .warm = 1, .touches = 4 },
			.scan = { .bytes = 8 * 4096, .buffer = 4096,
				  .passes = 2, .read_by = &reader_pread },
		},
	};
	static struct watched w;
	struct curve_bin curve[CURVE_BINS];

	unit_page_size = 4096;
	unit_case("pread");
	digest_of(&r, false, &w, curve);
	IS(w.pass[1].of[FIG_THROUGHPUT] * 1000, 8 * 4096);
	IS(w.pass[1].of[FIG_AMPLIFICATION], 0);
	IS(w.pass[0].of[FIG_LRU_KEPT] * 1000, 400);
	IS(w.pass[1].of[FIG_MISSED], 1);
	IS(w.point[3].missed, 8);
	IS(reads_of(curve), 8);
	IS(isnan(w.pass[2].of[FIG_KEPT]), true);

	unit_case("no scan");
	r.trial.scan.read_by = &reader_null;
	digest_of(&r, false, &w, curve);
	IS(isnan(w.pass[1].of[FIG_THROUGHPUT]), true);
	IS(isnan(w.pass[1].of[FIG_AMPLIFICATION]), true);
	IS(w.pass[1].of[FIG_LRU_KEPT], 1);
	IS(w.pass[1].of[FIG_LRU_MISSED], 0);

	unit_case("past the cache");
	r.trial.scan.read_by = &reader_direct;
	digest_of(&r, false, &w, curve);
	IS(w.pass[1].of[FIG_THROUGHPUT] * 1000, 8 * 4096);
	IS(w.pass[1].of[FIG_LRU_KEPT], 1);

	unit_case("each pass in another order");
	r.trial.scan.read_by = &reader_pread;
	r.trial.scan.random = true;
	digest_of(&r, false, &w, curve);
	IS(isnan(w.pass[0].of[FIG_LRU_KEPT]), true);
	IS(isnan(w.pass[0].of[FIG_LRU_MISSED]), true);
	IS(isnan(w.pass[0].of[FIG_OPT_MISSED]), true);
	IS(reads_of(curve), 0);
	r.trial.scan.random = false;

	unit_case("no RWF_NOWAIT");
	digest_of(&r, true, &w, curve);
	IS(isnan(w.pass[1].of[FIG_MISSED]), true);
	IS(w.pass[1].of[FIG_AMPLIFICATION], 0);
	IS(w.point[3].missed, -1);
	IS(reads_of(curve), 0);

	unit_case("holes");
	r.trial.sparse = true;
	digest_of(&r, false, &w, curve);
	IS(isnan(w.pass[1].of[FIG_MISSED]), true);
	IS(isnan(w.pass[1].of[FIG_AMPLIFICATION]), true);
	IS(w.point[3].missed, -1);
}

/* Requests to a store have no samples: all is in the result. */
static void test_digest_store(void)
{
	struct resolved r = {
		.trial = {
			.mem_bytes = 12 * 4096,
			.scan = { .bytes = 100 * 4096, .buffer = 4096,
				  .passes = 1 },
			.get_scan = { .records = 400, .run = 20 },
		},
	};
	struct trial_result result = {
		.hits = { .warm_windows = 3,
			  .reads = 50,
			  .gets = 40,
			  .get_hits = 30,
			  .scan_pages = 50,
			  .scan_hits = 5,
			  .scanned = 200,
			  .ns = 2000000000,
			  .wait_ns = 80000 },
		.stat = { .refault_file = 7, .activate_file = -1 },
	};
	static struct watched w;
	struct watch *watch;

	unit_page_size = 4096;
	watch = watch_new(&r);
	result.metric[LRU_GET_HITS] = 600;
	IS(watch_digest(watch, &result, 12 * 4096, &w, NULL), 0);
	IS(w.nr_passes, 1);
	IS(w.pass[0].of[FIG_MISSED] * 1000, 250);
	IS(w.pass[0].of[FIG_LRU_MISSED] * 1000, 400);
	IS(w.pass[0].of[FIG_SCAN_MISSED] * 1000, 900);
	IS(w.pass[0].of[FIG_GETS], 20);
	IS(w.pass[0].of[FIG_SCANS], 5);
	IS(w.pass[0].of[FIG_WAIT], 2);
	IS(w.pass[0].of[FIG_REFAULTS], 7);
	IS(isnan(w.pass[0].of[FIG_ACTIVATED]), true);
	IS(w.pass[0].of[FIG_WINDOWS], 3);
	IS(isnan(w.pass[0].of[FIG_KEPT]), true);
	unit_case("SCANs alone");
	result.hits.gets = 0;
	result.metric[LRU_GET_HITS] = NOT_MEASURED;
	IS(watch_digest(watch, &result, 12 * 4096, &w, NULL), 0);
	IS(isnan(w.pass[0].of[FIG_MISSED]), true);
	IS(isnan(w.pass[0].of[FIG_LRU_MISSED]), true);
	IS(isnan(w.pass[0].of[FIG_GETS]), true);
	watch_free(watch);
}

const struct unit_test tests_of_explore[] = {
	{ "replay_optimal", test_replay_optimal },
	{ "replay_distance", test_replay_distance },
	{ "setting_refuses", test_setting_refuses },
	{ "setting_scales", test_setting_scales },
	{ "setting_store", test_setting_store },
	{ "recipe", test_recipe },
	{ "recipe_refuses", test_recipe_refuses },
	{ "recipe_rows", test_recipe_rows },
	{ "sweep", test_sweep },
	{ "digest", test_digest },
	{ "digest_quantiles", test_digest_quantiles },
	{ "digest_without", test_digest_without },
	{ "digest_store", test_digest_store },
	{ 0 },
};
