// SPDX-License-Identifier: GPL-2.0
/* GET and SCAN: the sequence of the requests, exact LRU, and what is counted. */
#include "unit.h"

#include "exact_lru.h"
#include "explore_replay.h"
#include "lab.h"
#include "need.h"
#include "pattern.h"
#include "reader.h"
#include "store.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define LEN(array) (sizeof(array) / sizeof(*(array)))

/* A cache of three pages, done by hand: what is held then, the oldest first. */
static void test_lru_by_hand(void)
{
	static const struct {
		char page;
		bool hit;
		const char *held;
	} trace[] = {
		{ 'a', false, "a" },   { 'b', false, "ab" },
		{ 'b', true, "ab" },   { 'c', false, "abc" },
		{ 'a', true, "bca" },  { 'd', false, "cad" },
		{ 'b', false, "adb" }, { 'e', false, "dbe" },
		{ 'a', false, "bea" }, { 'b', true, "eab" },
		{ 'e', true, "abe" },  { 'e', true, "abe" },
		{ 'd', false, "bed" }, { 'b', true, "edb" },
	};
	struct lru lru;

	IS(lru_begin(&lru, 5, 3), 0);
	for (size_t i = 0; i < LEN(trace); i++) {
		char held[8] = "";
		uint32_t page;

		unit_case("request %zu, page %c", i, trace[i].page);
		IS(lru_ask(&lru, trace[i].page - 'a'), trace[i].hit);
		page = lru.newer[lru.pages];
		for (int k = 0; page != lru.pages && k < 7; k++) {
			held[k] = (char)('a' + page);
			page = lru.newer[page];
		}
		IS_TEXT(held, trace[i].held);
	}
	lru_end(&lru);

	unit_case("a cache of one page");
	IS(lru_begin(&lru, 2, 1), 0);
	IS(lru_ask(&lru, 1), false);
	IS(lru_ask(&lru, 1), true);
	IS(lru_ask(&lru, 0), false);
	IS(lru_ask(&lru, 1), false);
	lru_end(&lru);
}

/* Two programs that know nothing of each other: a hit is a short distance. */
static void test_lru_and_distances(void)
{
	enum { REQUESTS = 20000, PAGES = 300 };
	static uint32_t requests[REQUESTS];
	static struct replayed replayed[REQUESTS];
	static const uint32_t capacities[] = { 1, 2, 17, 100, 299, 300, 1000 };

	for (uint32_t i = 0; i < REQUESTS; i++)
		requests[i] = splitmix64(i) % (i % 3 ? PAGES : PAGES / 10);
	for (size_t c = 0; c < LEN(capacities); c++) {
		unsigned int differ = 0;
		struct lru lru;

		unit_case("capacity %u", capacities[c]);
		IS(replay(requests, REQUESTS, PAGES, capacities[c], replayed),
		   0);
		IS(lru_begin(&lru, PAGES, capacities[c]), 0);
		for (int i = 0; i < REQUESTS; i++)
			differ += lru_ask(&lru, requests[i]) !=
				  (replayed[i].distance < capacities[c]);
		IS(differ, 0);
		lru_end(&lru);
	}
}

static const struct get_scan example = {
	.records = 4096,
	.scanned = 4096,
	.memory = MIB,
	.run = 1000,
	.gets = 92500,
	.zipf = 0.99,
	.workers = 4,
	.window = MIB,
	.measured = 1,
	.seed = 1,
	.buffer = 16 * 1024,
	.read_by = &reader_random,
};

static void test_requests_have_their_ratio(void)
{
	static const uint64_t gets[] = { 1000, 92500, 237200, 250000 };

	for (size_t i = 0; i < LEN(gets); i++) {
		struct get_scan of = example;
		struct store_requests r;
		struct store_request q;

		unit_case("%d GETs for 1000 SCANs", (int)gets[i]);
		of.gets = gets[i];
		store_requests_begin(&r, &of);
		for (int n = 0; n < 500000; n++)
			store_requests_next(&r, &q);
		IS_WITHIN(r.gets * 1000 * of.run / r.scanned,
			  gets[i] * 99 / 100, gets[i] * 101 / 100);
	}
}

/* The next read of a SCAN, after the GETs before it. */
static void next_scan(struct store_requests *r, struct store_request *q)
{
	do
		store_requests_next(r, q);
	while (!q->is_scan);
}

static void test_scans_are_runs(void)
{
	struct get_scan of = example;
	struct store_requests r;
	struct store_request q;
	unsigned int wrapped = 0;

	of.scanned = 1600;
	store_requests_begin(&r, &of);
	next_scan(&r, &q);
	for (int scan = 0; scan < 200; scan++) {
		uint64_t sum = 0, at = q.record;

		unit_case("SCAN %d", scan);
		IS(q.run, of.run);
		IS(q.record % SCAN_ALIGN, 0);
		do {
			IS(q.record, at);
			IS_WITHIN(q.records, 1, 16);
			IS_WITHIN(q.record + q.records, 1, of.scanned);
			sum += q.records;
			at = (at + q.records) % of.scanned;
			wrapped += !at;
			next_scan(&r, &q);
		} while (!q.run);
		IS(sum, of.run);
	}
	IS_WITHIN(wrapped, 50, 200);
}

static void test_workers_take_turns(void)
{
	for (int mixed = 0; mixed < 2; mixed++) {
		struct get_scan of = example;
		unsigned int gets[4] = { 0 }, scans[4] = { 0 };
		unsigned int busy = 0, wrong = 0;
		struct store_requests r;
		struct store_request q;

		unit_case("mixed %d", mixed);
		of.mixed = mixed;
		store_requests_begin(&r, &of);
		for (int n = 0; n < 200000; n++) {
			store_requests_next(&r, &q);
			if (q.worker >= 4) {
				wrong++;
			} else if (q.is_scan) {
				scans[q.worker]++;
				busy = q.worker;
			} else {
				gets[q.worker]++;
				/* A worker does one thing at a time. */
				wrong += q.worker == busy;
			}
		}
		IS(wrong, 0);
		for (int i = 0; i < 4; i++) {
			unit_case("mixed %d, worker %d", mixed, i);
			IS(scans[i] > 0, mixed || !i);
			IS(gets[i] > 0, mixed || i);
		}
	}
}

/* What GET asks for does not depend on the SCANs: arms can be compared. */
static void test_keys_are_the_same_alone(void)
{
	struct get_scan alone = example;
	struct store_requests beside_r, alone_r;
	struct store_request q, p;
	unsigned int differ = 0;

	alone.run = 0;
	store_requests_begin(&beside_r, &example);
	store_requests_begin(&alone_r, &alone);
	for (int n = 0; n < 2000; n++) {
		do
			store_requests_next(&beside_r, &q);
		while (q.is_scan);
		store_requests_next(&alone_r, &p);
		differ += q.record != p.record;
	}
	IS(differ, 0);
}

/*
 * A store that fits into the memory, from which nothing is read ahead: the kernel
 * and the simulation have the same hits, one by one.
 */
static void test_kernel_is_lru_where_all_fits(void)
{
	static struct lab lab;
	struct trial_result *result = unit_shared(sizeof(*result));
	struct trial trial = {
		.name = "fits",
		.seed = 1,
		.sparse = true,
		.scan = { .bytes = 4096 * RECORD_BYTES,
			  .buffer = 16 * 1024,
			  .scanners = 1,
			  .read_by = &reader_random },
		.settle_max = INT64_MAX,
		.get_scan = example,
	};
	struct hits lru = { 0 };
	struct needs needs = { 0 };

	unit_lab_open(&lab);
	IS(trial_lay_out(&lab, &trial, &needs), 0);
	trial.get_scan.memory = 4 * MIB;
	trial.get_scan.run = 0;

	unit_case("the first window, from nothing: hits and misses");
	trial.get_scan.window = 4 * MIB;
	IS(trial_run(&lab, &trial, result), 0);
	IS_TEXT(lab.failure.text, "");
	lru.reads = result->hits.warm;
	IS(get_scan_replay(&trial.get_scan, &lru), 0);
	IS_WITHIN(lru.get_hits, lru.gets / 10, lru.gets - 10);
	/* Somebody else's proactive reclaim may take a page or two. */
	IS_WITHIN(result->metric[GET_OF_LRU], 997, 1000);
	lru = (struct hits){ .warm = result->hits.warm,
			     .reads = result->hits.reads };
	IS(get_scan_replay(&trial.get_scan, &lru), 0);
	IS_WITHIN(lru.gets, 1, lru.reads);
	IS(result->hits.gets, lru.gets);
	IS_WITHIN(result->hits.get_hits, lru.get_hits - 2, lru.get_hits);
	IS_WITHIN(lru.get_hits, 1, lru.gets - 1);
	IS(result->metric[SCAN_HITS], NOT_MEASURED);

	unit_case("beside SCANs");
	trial.get_scan.run = 100;
	IS(trial_run(&lab, &trial, result), 0);
	lru = (struct hits){ .warm = result->hits.warm,
			     .reads = result->hits.reads };
	IS(get_scan_replay(&trial.get_scan, &lru), 0);
	IS(result->hits.gets, lru.gets);
	IS_WITHIN(result->hits.get_hits, lru.get_hits - 2, lru.get_hits);
	IS_WITHIN(result->metric[WARM_UP], 2, WARM_WINDOWS_MAX);
	IS_WITHIN(result->metric[SCAN_OF_LRU], 900, 1100);

	unit_case("a warm-up ends when windows are alike, or after the most");
	IS(result->metric[SETTLED], 1);
	trial.get_scan.window = 20 * 4096;
	IS(trial_run(&lab, &trial, result), 0);
	IS(result->metric[WARM_UP], WARM_WINDOWS_MAX);
	IS(result->metric[SETTLED], 0);
	trial.get_scan.window = 4 * MIB;

	unit_case("a cache that forgets is not LRU's");
	trial.get_scan.memory = 4 * MIB / 8;
	trial.get_scan.run = 0;
	IS(trial_run(&lab, &trial, result), 0);
	IS_WITHIN(result->metric[GET_OF_LRU], 1050, 10000);
	unit_lab_close(&lab);
}

const struct unit_test tests_of_store[] = {
	{ "lru_by_hand", test_lru_by_hand },
	{ "lru_and_distances", test_lru_and_distances },
	{ "requests_have_their_ratio", test_requests_have_their_ratio },
	{ "scans_are_runs", test_scans_are_runs },
	{ "workers_take_turns", test_workers_take_turns },
	{ "keys_are_the_same_alone", test_keys_are_the_same_alone },
	{ "kernel_is_lru_where_all_fits", test_kernel_is_lru_where_all_fits },
	{ 0 },
};
