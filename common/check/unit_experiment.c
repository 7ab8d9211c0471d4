// SPDX-License-Identifier: GPL-2.0
/* How an experiment goes: the order of its arms, and when it ends. */
#include "unit.h"

#include "experiment.h"
#include "lab.h"
#include "pattern.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define KIB ((uint64_t)1024)
#define MIB (KIB * KIB)
#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define NR_ARMS 3

/*
 * What the scans of all trials did, in shared memory: each trial has a process
 * of its own. The readers make the data good or bad as a script says, so that
 * the bound on BAD_WORDS holds or not: a letter per repetition of the first
 * arm, the last one for all that follow; g: good, b: bad, e: EIO, k: SIGKILL,
 * w: good, but somebody writes to the file.
 */
struct script {
	const char *letters;
	unsigned int trials;
	char order[128];
};

static struct script *shared;

static int scripted(struct reader *r, off_t pos, size_t len, int arm)
{
	unsigned int rep = shared->trials / NR_ARMS;
	unsigned int last = (unsigned int)strlen(shared->letters) - 1;
	char letter = shared->letters[rep < last ? rep : last];

	if (arm)
		letter = 'g';
	if (shared->trials < sizeof(shared->order) - 1)
		shared->order[shared->trials] = (char)('A' + arm);
	shared->trials++;
	if (letter == 'k')
		raise(SIGKILL);
	if (letter == 'e')
		return -EIO;
	if (letter == 'w')
		unit_write(r->path, "w");
	pattern_fill(r->buf, len, pos, SCAN_SEED);
	if (letter == 'b')
		r->buf[0] ^= 1;
	return 0;
}

static int read_a(struct reader *r, off_t pos, size_t len)
{
	return scripted(r, pos, len, 0);
}

static int read_b(struct reader *r, off_t pos, size_t len)
{
	return scripted(r, pos, len, 1);
}

static int read_c(struct reader *r, off_t pos, size_t len)
{
	return scripted(r, pos, len, 2);
}

static const struct reader_ops readers[NR_ARMS] = {
	{ .name = "a", .read = read_a },
	{ .name = "b", .read = read_b },
	{ .name = "c", .read = read_c },
};

static const struct arm arms[NR_ARMS] = {
	{ .name = "a",
	  .scan_by = &readers[0],
	  .bounds = { { BAD_WORDS, AT_MOST, 0, .why = "bad" } } },
	{ .name = "b",
	  .scan_by = &readers[1],
	  .bounds = { { BAD_WORDS, AT_MOST, 0, .why = "bad" } } },
	{ .name = "c", .scan_by = &readers[2] },
};

static struct lab lab;
static struct experiment exp = {
	.lab = &lab,
	.workload = {
		.sparse = true,
		.scan = { .pct = 100, .buffer = MIB, .verify = true },
	},
	.mem_bytes = MIB,
	.scan_bytes = MIB,
};

static void open_lab(void)
{
	unit_lab_open(&lab);
	IS(scratch_hole(&lab.scratch, SCAN_FILE, MIB, &lab.failure), 0);
	shared = unit_shared(sizeof(*shared));
}

static int run_script(const char *letters, struct outcome *outcomes)
{
	memset(shared, 0, sizeof(*shared));
	shared->letters = letters;
	memset(&lab.failure, 0, sizeof(lab.failure));
	return experiment_run(&exp, arms, NR_ARMS, outcomes);
}

static void test_ends_when_clear(void)
{
	static const struct {
		const char *letters;
		unsigned int asked_by_user;
		unsigned int asked_by_test;
		unsigned int reps;
		int64_t median;
	} cases[] = {
		/* Holds in all of 3, or in none of 5. */
		{ "g", 0, 0, 3, 0 },
		{ "b", 0, 0, 5, 1 },
		/* One that differs: until most of 11 agree. */
		{ "bg", 0, 0, 7, 0 },
		{ "gb", 0, 0, 7, 1 },
		{ "ggb", 0, 0, 8, 1 },
		{ "bbbbg", 0, 0, 10, 0 },
		{ "bgbgbgbgbgb", 0, 0, 11, 1 },
		{ "gbgbgbgbgbg", 0, 0, 11, 0 },
		/* Clear before the change came. */
		{ "gggb", 0, 0, 3, 0 },
		{ "bbbbbg", 0, 0, 5, 1 },
		/* Exactly as many as asked for; the user comes first. */
		{ "b", 1, 0, 1, 1 },
		{ "gb", 2, 0, 2, 0 },
		{ "g", 0, 7, 7, 0 },
		{ "g", 2, 7, 2, 0 },
	};
	struct outcome outcomes[NR_ARMS];

	open_lab();
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct summary *s = &outcomes[0].metric[BAD_WORDS];

		unit_case("\"%s\", %u and %u asked", cases[i].letters,
			  cases[i].asked_by_user, cases[i].asked_by_test);
		lab.options.reps = cases[i].asked_by_user;
		exp.workload.reps = cases[i].asked_by_test;
		IS(run_script(cases[i].letters, outcomes), 0);
		IS_TEXT(lab.failure.text, "");
		IS(s->n, cases[i].reps);
		IS(s->median, cases[i].median);
		IS(shared->trials, cases[i].reps * NR_ARMS);
		IS(outcomes[1].metric[BAD_WORDS].max, 0);
		/* No hot set, no memcg: nothing about them. */
		IS(outcomes[0].metric[KEPT].n, 0);
		IS(outcomes[0].metric[REFAULTS].n, 0);
		IS(outcomes[0].metric[THROUGHPUT].n, cases[i].reps);
	}
	unit_lab_close(&lab);
}

/* A bound that never holds says not ok, whatever another one wavers about. */
static void test_one_failure_decides(void)
{
	struct arm judged[NR_ARMS];
	struct outcome outcomes[NR_ARMS];

	open_lab();
	memcpy(judged, arms, sizeof(judged));
	judged[0].bounds[1] = (struct bound){ BAD_WORDS, AT_MOST, -1, "bad" };
	memset(shared, 0, sizeof(*shared));
	shared->letters = "bgbgb";
	lab.options.reps = 0;
	exp.workload.reps = 0;
	IS(experiment_run(&exp, judged, NR_ARMS, outcomes), 0);
	IS(outcomes[0].metric[BAD_WORDS].n, 5);

	unit_case("unless that one is a control");
	judged[0].bounds[0].doubt = "doubt";
	memset(shared, 0, sizeof(*shared));
	shared->letters = "bgbgb";
	IS(experiment_run(&exp, judged, NR_ARMS, outcomes), 0);
	IS(outcomes[0].metric[BAD_WORDS].n, 11);
	unit_lab_close(&lab);
}

static void test_arms_rotate(void)
{
	struct outcome outcomes[NR_ARMS];

	open_lab();
	exp.workload.reps = 4;
	IS(run_script("g", outcomes), 0);
	IS_TEXT(shared->order, "ABCBCACABABC");
	unit_lab_close(&lab);
}

static void test_trial_fails(void)
{
	struct outcome outcomes[NR_ARMS];

	open_lab();
	IS(run_script("ge", outcomes), -EIO);
	HAS_TEXT(lab.failure.text, "/scan by a at 0: Input/output error");
	IS(run_script("k", outcomes), -EINTR);
	HAS_TEXT(lab.failure.text, "arm a was killed by signal 9");
	IS(run_script("gw", outcomes), -ESTALE);
	IS_TEXT(lab.failure.text, "");
	/* The next one finds nothing of it. */
	IS(run_script("g", outcomes), 0);
	unit_lab_close(&lab);
}

const struct unit_test tests_of_experiment[] = {
	{ "ends_when_clear", test_ends_when_clear },
	{ "one_failure_decides", test_one_failure_decides },
	{ "arms_rotate", test_arms_rotate },
	{ "trial_fails", test_trial_fails },
	{ 0 },
};
