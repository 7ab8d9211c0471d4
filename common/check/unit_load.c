// SPDX-License-Identifier: GPL-2.0
/* Requests of threads to a database: which, in what ratio, and what is counted. */
#include "unit.h"

#include "db_load.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define RUN 1000
#define RECORDS 50000

static struct load_plan plan_of(const char *layout)
{
	const struct load_layout *l = load_layout_by_name(layout);

	return (struct load_plan){
		.layout = l,
		.gets = l->gets,
		.run = RUN,
		.records = RECORDS,
		.record = 1024,
		.zipf = 0.99,
		.seed = 7,
		.memory = 1 << 20,
	};
}

/* What one worker was given in a window. */
struct given {
	struct load *load;
	struct load_worker worker;
	bool idle; /* takes nothing */
	uint64_t gets;
	uint64_t get_sum; /* of the keys */
	uint64_t lowest; /* how often the most popular key of all */
	uint64_t scans;
	uint64_t scanned;
	uint64_t next; /* record of the SCAN */
	unsigned int wrong;
};

static uint64_t popular;

static void take(struct given *g, const struct load_request *request)
{
	if (request->kind == LOAD_GET) {
		g->gets++;
		g->get_sum += request->record;
		g->lowest += request->record == popular;
		g->wrong += request->record >= RECORDS;
		return;
	}
	g->scans += request->begins;
	g->wrong += !request->begins && request->record != g->next;
	g->wrong += request->record + request->records > RECORDS;
	g->next = request->record + request->records;
	g->scanned += request->records;
	g->wrong += request->ends != (g->scanned % RUN == 0);
}

static void *work(void *arg)
{
	struct given *g = arg;
	struct load_request request;

	while (!g->idle &&
	       load_next(g->load, &g->worker, &request) != LOAD_OVER)
		take(g, &request);
	return NULL;
}

/* All workers of the layout, for one window more. */
static void run_window(struct load *load, struct given *given, uint64_t gets)
{
	const struct load_layout *layout = load->plan.layout;
	pthread_t threads[LOAD_WORKERS_MAX];

	load_window(load, gets);
	for (unsigned int i = 0; i < layout->workers; i++) {
		given[i].load = load;
		given[i].worker.scanner = !layout->mixed && !i;
		pthread_create(&threads[i], NULL, work, &given[i]);
	}
	for (unsigned int i = 0; i < layout->workers; i++)
		pthread_join(threads[i], NULL);
}

static struct given sum_of(const struct given *given, unsigned int n)
{
	struct given sum = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		sum.gets += given[i].gets;
		sum.get_sum += given[i].get_sum;
		sum.lowest += given[i].lowest;
		sum.scans += given[i].scans;
		sum.scanned += given[i].scanned;
		sum.wrong += given[i].wrong;
	}
	return sum;
}

/* Those of a mixed layout, taken by one thread. */
static struct given by_one(uint64_t seed, double zipf, uint64_t gets)
{
	struct load_plan plan = plan_of("mixed");
	struct given g = { 0 };
	struct load load;

	plan.seed = seed;
	plan.zipf = zipf;
	load_begin(&load, &plan, NULL);
	g.load = &load;
	load_window(&load, gets);
	work(&g);
	load_end(&load);
	return g;
}

static void test_load_mix(void)
{
	struct given one, again, other, flat;

	one = by_one(7, 0.99, 19900);
	unit_case("one worker of mixed");
	IS(one.gets, 19900);
	/* The first one at once, then one in 200 requests. */
	IS_WITHIN(one.scans, 100, 101);
	IS(one.scanned, one.scans * RUN);
	IS(one.wrong, 0);

	unit_case("seeds");
	again = by_one(7, 0.99, 19900);
	other = by_one(8, 0.99, 19900);
	IS(again.get_sum, one.get_sum);
	IS(other.get_sum != one.get_sum, true);

	/* With exponent 10 nearly all ask for one key: that is the popular one. */
	one = by_one(7, 10, 1);
	popular = one.get_sum;
	unit_case("popularity");
	/* Which is not simply the first one. */
	IS_WITHIN(popular, RECORDS / 100, RECORDS);
	flat = by_one(7, 0, 19900);
	one = by_one(7, 0.99, 19900);
	IS_WITHIN(flat.lowest, 0, 10);
	/* 1 / (1 + 2^-0.99 + ... + 50000^-0.99) is 8.4 % */
	IS_WITHIN(one.lowest, 1400, 1950);
}

/* GETs and records that either side may be ahead by, at most. */
static void test_load_pace(void)
{
	static const char *const names[] = { "1_3", "1_7" };

	for (size_t i = 0; i < LEN(names); i++) {
		struct load_plan plan = plan_of(names[i]);
		struct given given[LOAD_WORKERS_MAX] = { 0 }, sum;
		struct load load;
		double want;

		load_begin(&load, &plan, NULL);
		for (uint64_t window = 1; window <= 3; window++) {
			unit_case("%s, window %d", names[i], (int)window);
			run_window(&load, given, 3000);
			sum = sum_of(given, plan.layout->workers);
			IS(sum.gets, 3000 * window);
			IS(sum.get_sum, by_one(7, 0.99, 3000 * window).get_sum);
			IS(sum.wrong, 0);
			IS(given[0].gets, 0);
			IS(sum.scanned, given[0].scanned);
			want = (double)sum.gets * RUN * 1000 /
			       (double)plan.gets;
			/* A tenth of a SCAN, and what was being asked for. */
			IS_WITHIN(sum.scanned, want - 2 * LOAD_CHUNK - 20,
				  want + RUN / 10.0 + 2 * LOAD_CHUNK);
		}
		load_end(&load);
	}
}

static void test_load_free(void)
{
	struct load_plan plan = plan_of("1_3");
	struct given given[LOAD_WORKERS_MAX] = { 0 }, sum;
	struct load load;

	/* Nobody waits for a scanner that does nothing. */
	plan.gets = 0;
	load_begin(&load, &plan, NULL);
	given[0].idle = true;
	run_window(&load, given, 5000);
	sum = sum_of(given, plan.layout->workers);
	IS(sum.gets, 5000);
	IS(sum.scanned, 0);
	load_end(&load);
}

static void test_load_fail(void)
{
	struct load_plan plan = plan_of("1_3");
	struct given given[LOAD_WORKERS_MAX] = { 0 };
	struct load load;

	load_begin(&load, &plan, NULL);
	load_fail(&load, -5);
	load_fail(&load, -6);
	run_window(&load, given, 5000);
	IS(sum_of(given, plan.layout->workers).gets, 0);
	IS(load.err, -5);
	load_end(&load);
}

static void test_load_window_gets(void)
{
	struct load_plan plan = plan_of("1_3");
	long page = sysconf(_SC_PAGESIZE);

	/* Of one SCAN of 1000 KiB, and 92.5 pages. */
	IS_WITHIN(load_window_gets(&plan, 1024000 + page * 925 / 10), 92, 94);
	IS_WITHIN(load_window_gets(&plan, 10 * (1024000 + page * 925 / 10)),
		  925, 926);
	/* Free has no ratio of its own: the report's. */
	plan.gets = 0;
	IS_WITHIN(load_window_gets(&plan, 10 * (1024000 + page * 925 / 10)),
		  925, 926);
}

#define TO_41                                                               \
	" S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24" \
	" 25 26 27 28 29 30 31 32 33 34 35 36 37 38"

static void test_load_ticks(void)
{
	IS(load_ticks_parse("1 (a)" TO_41 " 4711 43 44\n"), 4711);
	IS(load_ticks_parse("1 (a) b) (c)" TO_41 " 12 43\n"), 12);
	IS(load_ticks_parse("1 (a)" TO_41 " 0 43\n"), 0);
	IS(load_ticks_parse("1 (a)" TO_41), -1);
	IS(load_ticks_parse("1 a" TO_41 " 4711 43\n"), -1);
	IS(load_ticks_parse(""), -1);
}

static void test_load_access(void)
{
	static char maps[] =
		"7f01-7f02 r--s 00000000 07:00 12   /run/x/copy/000005.ldb\n"
		"7f02-7f03 r--s 00001000 07:00 12   /run/x/copy/000005.ldb\n"
		"7f03-7f04 r--s 00000000 07:00 13   /run/x/copy/000007.ldb\n"
		"7f04-7f05 r--s 00000000 07:00 14   /run/x/copy/000009.sst\n"
		"7f05-7f06 r--s 00000000 07:00 15   /run/x/copy/LOG\n"
		"7f06-7f07 r--s 00000000 07:00 16   /run/x/copy2/000005.ldb\n"
		"7f07-7f08 r--s 00000000 07:00 17   /run/x/filler/000005.ldb\n"
		"7f08-7f09 rw-p 00000000 00:00 0\n"
		"7f09-7f0a rw-p 00000000 00:00 0    [heap]\n"
		"7f0a-7f0b r-xp 00000000 07:00 18   /usr/lib/libx.so\n";
	FILE *in = fmemopen(maps, strlen(maps), "r");

	IS(load_count_mapped(in, "/run/x/copy"), 3);
	rewind(in);
	IS(load_count_mapped(in, "/run/x/filler"), 1);
	rewind(in);
	IS(load_count_mapped(in, "/run/x"), 0);
	fclose(in);
	IS_TEXT(load_access_name(0, 3), "pread");
	IS_TEXT(load_access_name(3, 3), "mapped");
	IS_TEXT(load_access_name(2, 3), "both");
}

const struct unit_test tests_of_load[] = {
	{ "load_mix", test_load_mix },
	{ "load_pace", test_load_pace },
	{ "load_free", test_load_free },
	{ "load_fail", test_load_fail },
	{ "load_window_gets", test_load_window_gets },
	{ "load_ticks", test_load_ticks },
	{ "load_access", test_load_access },
	{ 0 },
};
