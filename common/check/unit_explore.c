// SPDX-License-Identifier: GPL-2.0
/* The explorer: its knobs, its recipes, and what it makes of the requests. */
#include "unit.h"

#include "explore_replay.h"
#include "explore_setting.h"
#include "pattern.h"

#include <stdio.h>
#include <string.h>

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
		unsigned int m = fewest(requests, n, at + 1, kept | page,
					capacity);

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
				requests[i] = splitmix64(seed * 100 + i) %
					      PAGES;
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

const struct unit_test tests_of_explore[] = {
	{ "replay_optimal", test_replay_optimal },
	{ "replay_distance", test_replay_distance },
	{ "setting_refuses", test_setting_refuses },
	{ "setting_scales", test_setting_scales },
	{ 0 },
};
