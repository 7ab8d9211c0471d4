// SPDX-License-Identifier: GPL-2.0
/* Functions of values alone: no file, no process. */
#include "unit.h"

#include "exact_lru.h"
#include "experiment.h"
#include "failure.h"
#include "need.h"
#include "options.h"
#include "pattern.h"
#include "permille.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((uint64_t)1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)
#define LEN(array) (sizeof(array) / sizeof(*(array)))

static void test_permille(void)
{
	static const struct {
		uint64_t part;
		uint64_t whole;
		int64_t want;
	} cases[] = {
		{ 0, 0, 0 },
		{ 5, 0, 0 },
		{ 0, 7, 0 },
		{ 7, 7, 1000 },
		{ 1, 2, 500 },
		/* To nearest. */
		{ 14, 10000, 1 },
		{ 15, 10000, 2 },
		{ 1, 3, 333 },
		{ 2, 3, 667 },
		/* A lone page, cached or missing, must show. */
		{ 1, 6553, 1 },
		{ 1, UINT64_MAX / 2, 1 },
		{ 6552, 6553, 999 },
		{ 999999, 1000000, 999 },
		/* An amplification exceeds the whole. */
		{ 15, 8, 1875 },
		{ 1000001, 1000000, 1000 },
		{ UINT64_MAX / 1001, UINT64_MAX / 1001, 1000 },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		unit_case("%llu of %llu", (unsigned long long)cases[i].part,
			  (unsigned long long)cases[i].whole);
		IS(permille(cases[i].part, cases[i].whole), cases[i].want);
	}
}

static void test_summarize(void)
{
	static const struct {
		int64_t values[6];
		unsigned int n;
		struct summary want;
	} cases[] = {
		{ { 0 }, 0, { 0, 0, 0, 0 } },
		{ { 7 }, 1, { 1, 7, 7, 7 } },
		{ { 9, 3 }, 2, { 2, 3, 3, 9 } },
		{ { 5, 1, 9 }, 3, { 3, 5, 1, 9 } },
		/* Even: the lower of the two middle ones, never a mean. */
		{ { 40, 10, 30, 20 }, 4, { 4, 20, 10, 40 } },
		{ { 4, 4, 4, 4, 4, 1 }, 6, { 6, 4, 1, 4 } },
		{ { -1, -5, 3 }, 3, { 3, -1, -5, 3 } },
		/* Farther apart than an int64_t can say. */
		{ { INT64_MAX, INT64_MIN, 0 },
		  3,
		  { 3, 0, INT64_MIN, INT64_MAX } },
	};
	int64_t values[6];

	for (size_t i = 0; i < LEN(cases); i++) {
		struct summary s;

		memcpy(values, cases[i].values, sizeof(values));
		s = summarize(values, cases[i].n);
		unit_case("case %zu", i);
		IS(s.n, cases[i].want.n);
		IS(s.median, cases[i].want.median);
		IS(s.min, cases[i].want.min);
		IS(s.max, cases[i].want.max);
		IS(memcmp(values, cases[i].values, sizeof(values)), 0);
	}
}

static void test_size_parse(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t bytes;
	} cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "1K", 0, KIB },
		{ "64M", 0, 64 * MIB },
		{ "3G", 0, 3 * GIB },
		{ "010", 0, 10 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "17179869183G", 0, 17179869183 * GIB },
		{ "17179869184G", -EINVAL, 0 },
		{ "18446744073709551616", -EINVAL, 0 },
		{ "18446744073709551615K", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "M", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1m", -EINVAL, 0 },
		{ "1T", -EINVAL, 0 },
		{ "1MB", -EINVAL, 0 },
		{ "1MM", -EINVAL, 0 },
		{ "1.5G", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		uint64_t bytes = 0;

		unit_case("\"%s\"", cases[i].text);
		IS(size_parse(cases[i].text, &bytes), cases[i].err);
		if (!cases[i].err)
			IS(bytes, cases[i].bytes);
	}
}

static void set_env(const char *pair)
{
	char text[160];
	char *value;

	snprintf(text, sizeof(text), "%s", pair);
	value = strchr(text, '=');
	*value++ = '\0';
	setenv(text, value, 1);
}

static void test_options_defaults(void)
{
	struct options o;
	char why[320] = "";

	clearenv();
	IS(options_read(&o, why, sizeof(why)), 0);
	IS_TEXT(why, "");
	IS(!o.dir, true);
	IS(!o.dev, true);
	IS_TEXT(o.fs, "ext4");
	IS_TEXT(o.image_dir, "/var/tmp");
	IS(o.mem_bytes, 64 * MIB);
	IS(o.reps, 0);
	IS(o.machine, false);
	IS(o.scanners, 1);
	IS(o.hot_readers, 1);
	IS(o.buffer, 0);
	IS(o.block, 0);
	IS_TEXT(o.mount_options, "");
	IS(o.read_ahead_kb, 128);
	IS(o.reclaim, RECLAIM_ANY);
	IS(o.slow, false);

	set_env("TMPDIR=");
	set_env("KSFT_MACHINE_SLOW=");
	IS(options_read(&o, why, sizeof(why)), 0);
	IS_TEXT(o.image_dir, "/var/tmp");
	IS(o.slow, false);
}

static void test_options_good(void)
{
	struct options o;
	char why[320] = "";

	clearenv();
	set_env("TMPDIR=/disk");
	set_env("MM_CACHE_DIR=/a b\nc");
	set_env("MM_CACHE_FS=xfs");
	set_env("MM_CACHE_MEM=1G");
	set_env("MM_CACHE_REPS=99");
	set_env("MM_CACHE_READ_AHEAD_KB=0");
	set_env("MM_CACHE_RECLAIM=mglru");
	set_env("MM_CACHE_FILES=data");
	set_env("MM_CACHE_BLOCK_SIZE=1024");
	set_env("MM_CACHE_MOUNT=data=journal");
	set_env("MM_CACHE_BUFFER=64K");
	set_env("MM_CACHE_SCANNERS=8");
	set_env("MM_CACHE_HOT_READERS=2");
	set_env("KSFT_MACHINE_SLOW=yes");
	/* Not ours. */
	set_env("MM_CACHEX=1");
	set_env("XMM_CACHE_X=1");
	IS(options_read(&o, why, sizeof(why)), 0);
	IS_TEXT(why, "");
	IS_TEXT(o.image_dir, "/disk");
	IS_TEXT(o.dir, "/a b\nc");
	IS_TEXT(o.fs, "xfs");
	IS(o.mem_bytes, GIB);
	IS(o.reps, 99);
	IS(o.read_ahead_kb, 0);
	IS(o.reclaim, RECLAIM_MGLRU);
	IS(o.data, true);
	IS(o.slow, true);
	IS(o.block, 1024);
	IS_TEXT(o.mount_options, "data=journal");
	IS(o.buffer, 64 * 1024);
	IS(o.scanners, 8);
	IS(o.hot_readers, 2);

	set_env("MM_CACHE_MEM=machine");
	IS(options_read(&o, why, sizeof(why)), 0);
	IS(o.machine, true);
	IS_WITHIN(o.mem_bytes, 32 * MIB, 1024 * GIB);
}

static void test_options_bad(void)
{
	/* What is set, and what the sentence must tell besides. */
	static const char *const cases[][2] = {
		{ "MM_CACHE_DIR=", "an absolute path of a directory" },
		{ "MM_CACHE_DIR=.", "an absolute path" },
		{ "MM_CACHE_DIR=a/b", "an absolute path" },
		{ "MM_CACHE_DEV=vdb", "an absolute path" },
		{ "MM_CACHE_FS=zfs", "ext4, xfs or btrfs" },
		{ "MM_CACHE_FS=", "ext4, xfs or btrfs" },
		{ "MM_CACHE_FS=EXT4", "ext4, xfs or btrfs" },
		{ "MM_CACHE_MEM=machines", "or machine" },
		{ "MM_CACHE_BLOCK_SIZE=256", "a power of two from 512" },
		{ "MM_CACHE_BLOCK_SIZE=4095", "a power of two" },
		{ "MM_CACHE_BLOCK_SIZE=131072", "to 65536" },
		{ "MM_CACHE_MOUNT=", "mount options" },
		{ "MM_CACHE_BUFFER=2K", "a power of two from 4K" },
		{ "MM_CACHE_BUFFER=96K", "a power of two" },
		{ "MM_CACHE_BUFFER=32M", "to 16M" },
		{ "MM_CACHE_SCANNERS=0", "a number from 1 to 8" },
		{ "MM_CACHE_HOT_READERS=9", "a number from 1 to 8" },
		{ "MM_CACHE_MEM=lots", "a size from 32M to 64G" },
		{ "MM_CACHE_MEM=32767K", "a size from 32M" },
		{ "MM_CACHE_MEM=65G", "to 64G" },
		{ "MM_CACHE_MEM=64m", "a size" },
		{ "MM_CACHE_REPS=0", "a number from 1 to 99" },
		{ "MM_CACHE_REPS=100", "a number from 1 to 99" },
		{ "MM_CACHE_REPS=-1", "a number" },
		{ "MM_CACHE_REPS=5x", "a number" },
		{ "MM_CACHE_REPS=4294967297", "a number" },
		{ "MM_CACHE_REPS=99999999999999999999", "a number" },
		{ "MM_CACHE_READ_AHEAD_KB=65537", "a number from 0 to 65536" },
		{ "MM_CACHE_READ_AHEAD_KB=", "a number" },
		{ "MM_CACHE_RECLAIM=MGLRU", "classic or mglru" },
		{ "MM_CACHE_RECLAIM=any", "classic or mglru" },
		{ "MM_CACHE_FILES=Data", "sparse or data" },
		/* Names that nobody would obey. */
		{ "MM_CACHE_REP=3", "no such variable" },
		{ "MM_CACHE_REPSX=3", "no such variable" },
		{ "MM_CACHE_reps=3", "no such variable" },
		{ "MM_CACHE_=3", "no such variable" },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct options o;
		char why[320] = "";
		char name[40];

		clearenv();
		set_env(cases[i][0]);
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(cases[i][0], "="), cases[i][0]);
		unit_case("%s", cases[i][0]);
		IS(options_read(&o, why, sizeof(why)), -EINVAL);
		HAS_TEXT(why, name);
		HAS_TEXT(why, cases[i][1]);
	}
}

static void test_options_dir_and_dev(void)
{
	struct options o;
	char why[320] = "";
	char small[8];

	clearenv();
	set_env("MM_CACHE_DIR=/a");
	set_env("MM_CACHE_DEV=/dev/b");
	IS(options_read(&o, why, sizeof(why)), -EINVAL);
	HAS_TEXT(why, "MM_CACHE_DIR");
	HAS_TEXT(why, "MM_CACHE_DEV");
	/* A sentence that does not fit is cut, no more. */
	memset(small, 'x', sizeof(small));
	IS(options_read(&o, small, 4), -EINVAL);
	IS_TEXT(small, "MM_");
	IS(small[4], 'x');
}

static void test_options_xfail(void)
{
	static const struct {
		const char *list;
		const char *name;
		bool want;
	} cases[] = {
		{ "", "a.b", false },	   { "a.b", "a.b", true },
		{ "a.b", "a", false },	   { "a.b", "a.bc", false },
		{ "a.bc", "a.b", false },  { "x,a.b", "a.b", true },
		{ "a.b,x", "a.b", true },  { "x,a.b,y", "a.b", true },
		{ ",,a.b,", "a.b", true }, { "x a.b", "a.b", false },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		const struct options o = { .xfail = cases[i].list };

		unit_case("%s in \"%s\"", cases[i].name, cases[i].list);
		IS(options_xfail(&o, cases[i].name), cases[i].want);
	}
}

static void test_needs(void)
{
	struct needs needs = { 0 };
	struct needs more = { 0 };
	char reason[512];
	char small[12];

	IS(needs_any(&needs), false);
	IS_TEXT(needs_reason(&needs, reason, sizeof(reason)), "");
	need_add(&needs, "root", "run by %s", "sudo");
	IS(needs_any(&needs), true);
	IS_TEXT(needs_reason(&needs, reason, sizeof(reason)), "need: root");
	IS_TEXT(needs.list[0].detail, "run by sudo");

	/* All at once, each once, the first detail. */
	need_add(&needs, "a loop device", "x");
	need_add(&needs, "root", "another detail");
	need_add(&more, "root", "y");
	need_add(&more, "mkfs", "z %%");
	needs_merge(&needs, &more);
	IS_TEXT(needs_reason(&needs, reason, sizeof(reason)),
		"need: root, a loop device, mkfs");
	IS_TEXT(needs.list[0].detail, "run by sudo");
	IS_TEXT(needs.list[2].detail, "z %");

	/* A reason is cut where the buffer ends. */
	memset(small, 'x', sizeof(small));
	IS_TEXT(needs_reason(&needs, small, 10), "need: roo");
	IS(small[10], 'x');
}

static void test_needs_max(void)
{
	struct needs needs = { 0 };
	struct needs more = { 0 };
	char reason[512];
	char what[8];
	char huge[600];

	for (int i = 0; i < NEEDS_MAX + 3; i++) {
		snprintf(what, sizeof(what), "n%d", i);
		need_add(&needs, what, "d");
	}
	IS(needs.nr, NEEDS_MAX);
	IS_TEXT(needs_reason(&needs, reason, sizeof(reason)),
		"need: n0, n1, n2, n3, n4, n5, n6, n7");
	need_add(&more, "late", "d");
	needs_merge(&needs, &more);
	IS(needs.nr, NEEDS_MAX);

	memset(huge, 'h', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	needs.nr = 0;
	need_add(&needs, huge, "%s", huge);
	IS(strlen(needs.list[0].what), sizeof(needs.list[0].what) - 1);
	IS(strlen(needs.list[0].detail), sizeof(needs.list[0].detail) - 1);
}

static void test_failure_keeps_the_first(void)
{
	struct failure f = { 0 };
	char huge[600];

	IS(failure_note(&f, -EIO, "read %s at %d", "scan", 4096), -EIO);
	IS_TEXT(f.text, "read scan at 4096: Input/output error");
	IS(failure_note(&f, -ENOSPC, "later"), -ENOSPC);
	IS(f.err, -EIO);
	IS_TEXT(f.text, "read scan at 4096: Input/output error");

	memset(huge, 'h', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	f.err = 0;
	IS(failure_note(&f, -EIO, "%s", huge), -EIO);
	IS(strlen(f.text), sizeof(f.text) - 1);
}

/* What a user named may hold anything; what is printed is one line of KTAP. */
static void test_one_line(void)
{
	struct failure failure = { 0 };
	struct needs needs = { 0 };
	struct options o;
	char why[320] = "";

	failure_note(&failure, -EIO, "read %s", "/a\nok 1 b");
	IS_TEXT(failure.text, "read /a?ok 1 b: Input/output error");
	need_add(&needs, "a\tb", "%s", "\033[1m\177\303\244\r\n");
	IS_TEXT(needs.list[0].what, "a?b");
	IS_TEXT(needs.list[0].detail, "?[1m?\303\244??");
	clearenv();
	set_env("MM_CACHE_FS=x\nok 1 b");
	IS(options_read(&o, why, sizeof(why)), -EINVAL);
	HAS_TEXT(why, "MM_CACHE_FS=x?ok 1 b: must be");
	clearenv();
	set_env("MM_CACHE_\nX=1");
	IS(options_read(&o, why, sizeof(why)), -EINVAL);
	HAS_TEXT(why, "MM_CACHE_?X: no such variable");
}

static void test_pattern(void)
{
	uint64_t words[512];
	uint64_t one;
	char *bytes = (char *)words;

	/* The first outputs for seed 0, from the paper's reference code. */
	IS(splitmix64(0), 0xe220a8397b1dcdafULL);
	IS(splitmix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);

	pattern_fill(words, sizeof(words), 8192, 7);
	IS(pattern_bad(words, sizeof(words), 8192, 7), 0);
	/* Any part of it is what it is by its position. */
	pattern_fill(&one, sizeof(one), 8192 + 8 * 100, 7);
	IS(words[100], one);
	IS(pattern_bad(words + 3, 8 * 50, 8192 + 24, 7), 0);
	/* Other places and files hold other words. */
	IS(pattern_bad(words, sizeof(words), 0, 7), LEN(words));
	IS(pattern_bad(words, sizeof(words), 8192, 8 << 20), LEN(words));

	bytes[4095] ^= 0x80;
	IS(pattern_bad(words, sizeof(words), 8192, 7), 1);
	bytes[0] ^= 1;
	bytes[1] ^= 1;
	IS(pattern_bad(words, sizeof(words), 8192, 7), 2);
	memset(words, 0, sizeof(words));
	IS(pattern_bad(words, sizeof(words), 8192, 7), LEN(words));
}

/* A file need not end at a word: what there is of the last one is checked. */
static void test_pattern_partial_word(void)
{
	uint64_t words[4];
	char *bytes = (char *)words;

	pattern_fill(words, sizeof(words), 0, 7);
	IS(pattern_bad(words, 29, 0, 7), 0);
	bytes[28] ^= 1;
	IS(pattern_bad(words, 29, 0, 7), 1);
	IS(pattern_bad(words, 28, 0, 7), 0);
	IS(pattern_bad(words, 0, 0, 7), 0);
}

/* A cache with exact LRU, of @memory pages: oldest to newest is a list. */
struct cache {
	uint64_t memory;
	uint64_t used;
	uint32_t *older;
	uint32_t *newer;
	bool *cached;
	uint32_t head; /* of the ring */
};

static void unlink_page(struct cache *c, uint32_t page)
{
	c->newer[c->older[page]] = c->newer[page];
	c->older[c->newer[page]] = c->older[page];
}

static void use_page(struct cache *c, uint32_t page)
{
	if (c->cached[page]) {
		unlink_page(c, page);
	} else if (c->used == c->memory) {
		uint32_t oldest = c->newer[c->head];

		unlink_page(c, oldest);
		c->cached[oldest] = false;
	} else {
		c->used++;
	}
	c->cached[page] = true;
	c->older[page] = c->older[c->head];
	c->newer[page] = c->head;
	c->newer[c->older[page]] = page;
	c->older[c->head] = page;
}

/* Permille of the hot pages that are left, by doing it. */
static int64_t simulate(uint64_t memory, uint64_t hot, uint64_t scan,
			unsigned int touches, uint64_t random)
{
	uint32_t pages = (uint32_t)(hot + scan);
	uint64_t reads = hot * touches / 1000;
	struct cache c = { .memory = memory, .head = pages };
	uint64_t kept = 0;
	uint64_t done = 0;

	c.older = calloc(pages + 1, sizeof(*c.older));
	c.newer = calloc(pages + 1, sizeof(*c.newer));
	c.cached = calloc(pages + 1, sizeof(*c.cached));
	if (!c.older || !c.newer || !c.cached)
		unit_skip("too little memory");
	c.older[c.head] = c.head;
	c.newer[c.head] = c.head;
	for (uint32_t i = 0; i < hot; i++)
		use_page(&c, i);
	for (uint64_t i = 0; i < scan; i++) {
		use_page(&c, (uint32_t)(hot + i));
		for (; done < reads * (i + 1) / scan; done++)
			use_page(&c, (uint32_t)(splitmix64(random++) % hot));
	}
	for (uint32_t i = 0; i < hot; i++)
		kept += c.cached[i];
	free(c.older);
	free(c.newer);
	free(c.cached);
	return permille(kept, hot);
}

static void test_exact_lru(void)
{
	static const unsigned int touches[] = { 0,    50,   300,  1000,
						2000, 4000, 8000, 20000 };
	static const uint64_t scans[] = { 50, 90, 100, 150, 300, 1000 };
	/* In pages of 4 KiB: 64 MiB, a hot set of 40 %, scans in percent. */
	const uint64_t memory = 16384;
	const uint64_t hot = memory * 40 / 100;

	for (size_t t = 0; t < LEN(touches); t++)
		for (size_t s = 0; s < LEN(scans); s++) {
			uint64_t scan = memory * scans[s] / 100;
			int64_t sum = 0;
			int64_t kept;

			for (int i = 0; i < 4; i++)
				sum += simulate(memory, hot, scan, touches[t],
						splitmix64(i));
			kept = exact_lru_kept(memory, hot, scan, touches[t]);
			unit_case("touches %u, scan %u %%", touches[t],
				  (unsigned int)scans[s]);
			IS_WITHIN(kept, sum / 4 - 6, sum / 4 + 6);
		}
}

static void test_exact_lru_limits(void)
{
	/* Everything fits. */
	IS(exact_lru_kept(100, 40, 60, 50), 1000);
	IS(exact_lru_kept(100, 40, 60, 0), 1000);
	/* Nobody reads it again. */
	IS(exact_lru_kept(100, 40, 300, 0), 0);
	/* Larger than the memory: no more than the memory holds. */
	IS_WITHIN(exact_lru_kept(100, 200, 1000, 1000), 0, 500);
	/* The unit does not matter, nor do sizes of a large machine. */
	IS(exact_lru_kept(64 * MIB, 25 * MIB, 192 * MIB, 1000),
	   exact_lru_kept(64, 25, 192, 1000));
	IS(exact_lru_kept(64ULL << 40, 25ULL << 40, 192ULL << 40, 1000),
	   exact_lru_kept(64, 25, 192, 1000));
}

static void test_bound_holds(void)
{
	const struct bound least = { .kind = AT_LEAST, .value = 500 };
	const struct bound most = { .kind = AT_MOST, .value = 500 };
	const struct bound none = { .kind = NO_BOUND, .value = 500 };

	IS(bound_holds(&least, 499), false);
	IS(bound_holds(&least, 500), true);
	IS(bound_holds(&least, INT64_MAX), true);
	IS(bound_holds(&most, 500), true);
	IS(bound_holds(&most, 501), false);
	IS(bound_holds(&most, INT64_MIN), true);
	IS(bound_holds(&none, 0), true);
	IS(bound_holds(&none, 1000), true);
}

static void test_experiment_doubt(void)
{
	static const struct arm arms[] = {
		{ .name = "hot",
		  .bounds = { { KEPT, AT_LEAST, 900, .why = "property" } } },
		{ .name = "once",
		  .bounds = { { KEPT, AT_MOST, 100, .doubt = "spared" },
			      { REFAULTS, AT_LEAST, 1, .doubt = "idle" } } },
		{ .name = "unscanned",
		  .bounds = { { KEPT, AT_LEAST, 990, .doubt = "shrank" } } },
	};
	const struct summary all = { 3, 1000, 1000, 1000 };
	const struct summary nothing = { 3, 0, 0, 0 };
	struct outcome o[LEN(arms)] = { 0 };
	const char *none = "(none)";
#define DOUBT (experiment_doubt(arms, LEN(arms), o) ?: none)

	/* The property is no control: that it fails casts no doubt. */
	o[0].metric[KEPT] = nothing;
	o[1].metric[KEPT] = nothing;
	o[1].metric[REFAULTS] = all;
	o[2].metric[KEPT] = all;
	IS_TEXT(DOUBT, none);
	/* Judged by the median. */
	o[1].metric[KEPT].max = 1000;
	IS_TEXT(DOUBT, none);
	o[2].metric[KEPT].median = 989;
	IS_TEXT(DOUBT, "shrank");
	/* The first of several. */
	o[1].metric[KEPT].median = 101;
	IS_TEXT(DOUBT, "spared");
	/* A control that measured nothing is none. */
	o[1].metric[KEPT] = nothing;
	o[1].metric[REFAULTS] = (struct summary){ 0 };
	IS_TEXT(DOUBT, "idle");
	o[1].metric[REFAULTS] = all;
	o[2].metric[KEPT] = (struct summary){ 0 };
	IS_TEXT(DOUBT, "shrank");
	o[1].metric[KEPT] = (struct summary){ 0 };
	IS_TEXT(DOUBT, "spared");
#undef DOUBT
}

static void test_metric_names(void)
{
	for (int i = 0; i < NR_METRICS; i++) {
		unit_case("metric %d", i);
		IS(metric_name(i) && metric_unit(i), true);
		for (int k = 0; k < i; k++)
			IS(!strcmp(metric_name(i), metric_name(k)), false);
	}
}

static void test_experiment_bytes(void)
{
	const struct workload whole = { .mem_pct = 100,
					.hot.pct = 40,
					.scan.pct = 300 };
	const struct workload half = { .mem_pct = 50, .scan.pct = 150 };
	const struct workload no_memcg = { .scan.pct = 75 };
	const struct workload sparse = {
		.mem_pct = 100, .sparse = true, .hot.pct = 40, .scan.pct = 300
	};
	const long sizes[] = { 4096, 16384, 65536 };

	for (size_t i = 0; i < LEN(sizes); i++) {
		struct options o = { .mem_bytes = 64 * MIB };
		uint64_t page = sizes[i];

		unit_page_size = sizes[i];
		unit_case("pages of %ld", sizes[i]);
		/* Whole pages of each file, of the stated size or less. */
		IS(experiment_bytes(&whole, &o) % page, 0);
		IS_WITHIN(experiment_bytes(&whole, &o),
			  64 * MIB * 34 / 10 - 2 * page, 64 * MIB * 34 / 10);
		IS(experiment_bytes(&half, &o), 48 * MIB);
		IS(experiment_bytes(&no_memcg, &o), 48 * MIB);
		IS(experiment_bytes(&sparse, &o), 0);
		o.data = true;
		IS(experiment_bytes(&sparse, &o), experiment_bytes(&whole, &o));
		o.mem_bytes = 64 * GIB;
		IS(experiment_bytes(&whole, &o) / MIB, 64 * 1024 * 34 / 10);
	}
}

const struct unit_test tests_of_values[] = {
	{ "permille", test_permille },
	{ "summarize", test_summarize },
	{ "size_parse", test_size_parse },
	{ "options_defaults", test_options_defaults },
	{ "options_good", test_options_good },
	{ "options_bad", test_options_bad },
	{ "options_dir_and_dev", test_options_dir_and_dev },
	{ "options_xfail", test_options_xfail },
	{ "needs", test_needs },
	{ "needs_max", test_needs_max },
	{ "failure_keeps_the_first", test_failure_keeps_the_first },
	{ "one_line", test_one_line },
	{ "pattern", test_pattern },
	{ "pattern_partial_word", test_pattern_partial_word },
	{ "exact_lru", test_exact_lru },
	{ "exact_lru_limits", test_exact_lru_limits },
	{ "bound_holds", test_bound_holds },
	{ "experiment_doubt", test_experiment_doubt },
	{ "metric_names", test_metric_names },
	{ "experiment_bytes", test_experiment_bytes },
	{ 0 },
};
