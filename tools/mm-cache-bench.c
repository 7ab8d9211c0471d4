// SPDX-License-Identifier: GPL-2.0
/*
 * What the suite's instruments cost, and how far they can be trusted: the scan
 * and the hot reader beside fio, the clock of the paced reader, the memory that
 * a trial takes in its memcg, and whether the meters of the cache agree with
 * each other and with what is known to be cached.
 *
 * It reports and judges nothing: a figure that is not what is wanted is marked
 * as such, and only one that could not be measured is a failure. Each comparison
 * with fio is made in pairs, one directly after the other, on the same file in
 * the same state of the cache; the ratio is that of a pair. Other load on the
 * machine moves most figures, so it is stated beside them.
 */
#include "bench.h"
#include "env.h"
#include "failure.h"
#include "fio.h"
#include "knob.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

enum exit_code { ALL_MEASURED = 0, NOT_ALL = 1, NOTHING = 4, USAGE = 64 };

static const struct bench_effort thorough = {
	.pairs = 7,
	.scan_limits = 8,
	.pass_ns = 600 * 1000 * 1000,
	.pace_runs = 3,
	.pace_s = 5,
	.trials = 3,
	.cases = 300,
};

/* For a look, not for a figure */
static const struct bench_effort quick = {
	.pairs = 3,
	.scan_limits = BENCH_SCAN_LIMITS,
	.pass_ns = 250 * 1000 * 1000,
	.pace_runs = 1,
	.pace_s = 1,
	.trials = 1,
	.cases = 50,
};

struct section {
	const char *name;
	int (*run)(struct bench *b);
	bool by_fio;
};

static const struct section sections[] = {
	{ "scan", bench_scan, true },	   { "touch", bench_touch, true },
	{ "pace", bench_pace, false },	   { "charge", bench_charge, false },
	{ "meters", bench_meters, false },
};

static struct bench bench;
static bool chosen[ARRAY_SIZE(sections)];
static bool any_chosen;
static unsigned int pairs_asked;

static void print_lines(const char *what, char *text)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		printf("# %s %s\n", what, line);
}

static void print_needs(const struct needs *needs)
{
	for (unsigned int i = 0; i < needs->nr; i++)
		printf("# need %s: %s\n", needs->list[i].what,
		       needs->list[i].detail);
}

static void print_loadavg(const char *when)
{
	char text[128];

	/* Three averages; then processes, which say nothing. */
	if (knob_read("/proc/loadavg", text, sizeof(text)) > 0)
		printf("# env load_%s %.*s\n", when,
		       (int)strspn(text, "0123456789. ") - 2, text);
}

static void print_env(const char *fio)
{
	struct env env;

	env_read(&env, &bench.lab);
	for (unsigned int i = 0; i < env.nr; i++)
		printf("# env %s %s\n", env.facts[i].key, env.facts[i].value);
	printf("# env fio %s\n", fio ? fio : "none");
	print_needs(&bench.lab.memcg_needs);
}

static int run_section(const struct section *section, bool have_fio)
{
	struct failure *failure = &bench.lab.failure;
	int err;

	*failure = (struct failure){ 0 };
	if (section->by_fio && !have_fio)
		err = failure_note(failure, -ENOENT,
				   "run fio (Debian: make deps bench)");
	else
		err = bench_readahead(&bench, true);
	if (!err)
		err = section->run(&bench);
	if (err)
		printf("# error %s could not be measured: %s\n", section->name,
		       failure->text);
	return err;
}

static enum exit_code run_sections(void)
{
	enum exit_code code = ALL_MEASURED;
	bool have_fio;
	char fio[64];

	have_fio = !fio_version(fio, sizeof(fio));
	print_env(have_fio ? fio : NULL);
	print_loadavg("before");
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if ((chosen[i] || !any_chosen) &&
		    run_section(&sections[i], have_fio))
			code = NOT_ALL;
	print_loadavg("after");
	bench_table(&bench);
	return code;
}

static void on_waiting(pid_t holder)
{
	printf("# waiting for the run of process %d to end\n", holder);
}

static enum exit_code set_up_and_run(void)
{
	struct lab *lab = &bench.lab;
	int err;

	err = lab_open(lab, bench_scan_bytes(&bench) + bench_hot_bytes(&bench),
		       on_waiting);
	print_lines("keeper", lab->repaired.text);
	if (!err)
		err = bench_lay_out(&bench);
	if (!err)
		return run_sections();
	if (needs_any(&lab->needs)) {
		print_needs(&lab->needs);
		return NOTHING;
	}
	printf("# error %s\n", lab->failure.text);
	return NOT_ALL;
}

static void close_lab(void)
{
	bool ours = bench.lab.keeper.sock >= 0;
	struct keeper_report report;

	lab_close(&bench.lab, &report);
	if (ours && (report.foreign || report.failed))
		print_lines("keeper", report.text);
}

/* --- the command -------------------------------------------------------- */

static const char doc[] =
	"Measures the instruments of the suite: what they cost, and how far they\n"
	"can be trusted. Without a SECTION, all of them:\n"
	"\n"
	"  scan    the scan beside fio, cold and from the cache, by three buffers\n"
	"  touch   the hot reader without pauses beside fio, from the cache\n"
	"  pace    the hot reader by the clock, 2000 reads a second\n"
	"  charge  what a trial takes in its memcg beyond the pages of its files\n"
	"  meters  cachestat and mincore, against each other and what is known\n"
	"\vA figure is the median of its repetitions; a ratio that of ours to fio's\n"
	"in one pair. NAME.others is the share of the CPUs that other processes took\n"
	"meanwhile, in permille: a busy machine moves every ratio.\n"
	"\n"
	"The variables MM_CACHE_DIR, _DEV, _FS, _MEM and _READ_AHEAD_KB mean what\n"
	"they mean to the tests.\n"
	"\n"
	"Exit status:\n"
	"  0   everything was measured, whatever came of it\n"
	"  1   something could not be measured\n"
	"  4   nothing could: what is missing is printed\n"
	"  64  wrong usage\n";

static const struct argp_option option_list[] = {
	{ "pairs", 'p', "N", 0, "Compare with fio N times, 1 to 99 (7)", 0 },
	{ "quick", 'q', NULL, 0, "A short look: small files, 3 pairs", 0 },
	{ 0 }
};

static void choose_section(const char *name, struct argp_state *state)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strcmp(name, sections[i].name)) {
			chosen[i] = true;
			any_chosen = true;
			return;
		}
	argp_error(state, "%s: no such section", name);
}

static unsigned int parse_pairs(const char *text, struct argp_state *state)
{
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < 1 || n > BENCH_VALUES)
		argp_error(state, "--pairs=%s: must be a number from 1 to %d",
			   text, BENCH_VALUES);
	return n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		pairs_asked = parse_pairs(arg, state);
		return 0;
	case 'q':
		bench.effort = quick;
		return 0;
	case ARGP_KEY_ARG:
		choose_section(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.args_doc = "[SECTION...]",
		.doc = doc,
	};
	const char *name = program_invocation_short_name;
	enum exit_code code;
	char why[320];

	argp_err_exit_status = USAGE;
	bench.effort = thorough;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (pairs_asked)
		bench.effort.pairs = pairs_asked;
	if (options_read(&bench.lab.options, why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", name, why);
		return USAGE;
	}
	/* Whoever started us may ignore these; we wait for children. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	setvbuf(stdout, NULL, _IOLBF, 0);
	code = set_up_and_run();
	close_lab();
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write: %s\n", name,
			strerror(errno));
		return NOT_ALL;
	}
	return code;
}
