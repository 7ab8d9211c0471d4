// SPDX-License-Identifier: GPL-2.0
/*
 * The workload of the suite with every knob on the command line: sweeps, recipes
 * of the reports that the suite comes from, tables and figures. It reports and
 * judges nothing.
 */
#include "explore_figure.h"
#include "explore_plan.h"
#include "explore_report.h"
#include "explore_run.h"
#include "gnuplot.h"
#include "std_streams.h"
#include "text.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum exit_code {
	ALL_MEASURED = 0,
	NOT_ALL = 1,
	NOTHING = 4,
	USAGE = 64,
};

/* Options that are no knobs; knob k is option KEY_KNOB + k. */
enum key {
	KEY_KNOB = 1000,
	KEY_REPS = 2000,
	KEY_SCALE,
	KEY_SHOW,
	KEY_CSV,
	KEY_JSON,
	KEY_FIGURE,
	KEY_TIMELINE,
	KEY_CURVE,
	KEY_DETAILS,
	KEY_DRY_RUN,
	KEY_LOAD,
};

static struct {
	struct lists given;
	const char *recipe;
	enum figure show;
	double scale;
	unsigned int reps;
	const char *csv, *json, *figure, *timeline, *curve, *load;
	bool details, dry_run, quiet;
} asked = { .scale = 1, .reps = 5, .show = NR_FIGURES };

static struct plan plan;

static const char doc[] =
	"Measures what a scan leaves of a hot set, and how fast it reads, with every\n"
	"knob of the workload. Without a RECIPE, one setting, or each combination of\n"
	"those knobs that are given several values: --period=102,51,20,5.\n"
	"\vRECIPE is a file, or the name of one of those that lie in recipes/ beside the\n"
	"sources of this program: report1, report2, report3. Knobs on the command line\n"
	"win over it. --scale=1/16 shrinks sizes and seconds, and has hot reads in\n"
	"logical time: then reads of each page by scan are as at full size, however\n"
	"fast the device.\n"
	"\n"
	"A table goes to standard output, progress to standard error. --csv has the\n"
	"figures of every pass of every repetition, --json those, the timelines and the\n"
	"retention curves. Ctrl-C puts the machine back as it was and prints what was\n"
	"measured so far.\n"
	"\n"
	"The variables MM_CACHE_DIR, _DEV, _BLOCK_SIZE, _MOUNT and TMPDIR mean what\n"
	"they mean to the tests; in place of others there are the options above.\n"
	"\n"
	"Exit status:\n"
	"  0   everything was measured\n"
	"  1   something was not, or it was stopped\n"
	"  4   nothing could be measured: the reasons are printed\n"
	"  64  wrong usage\n";

#define MIB 1048576.0
static const struct argp_option plain_options[] = {
	{ NULL, 0, NULL, 0, "What is measured, and shown:", 2 },
	{ "reps", KEY_REPS, "N", 0, "Repetitions, 1 to 99 (5)", 2 },
	{ "scale", KEY_SCALE, "1/N", 0, "Shrink sizes and seconds", 2 },
	{ "show", KEY_SHOW, "FIGURE", 0,
	  "In the table of a sweep (kept; throughput without a hot set; missed of a store)",
	  2 },
	{ "details", KEY_DETAILS, NULL, 0, "Print every figure of every run",
	  2 },
	{ "csv", KEY_CSV, "FILE", 0,
	  "Write every figure to FILE (- for stdout)", 2 },
	{ "json", KEY_JSON, "FILE", 0, "The same as JSON, and more", 2 },
	{ "figure", KEY_FIGURE, "NAME", 0,
	  "Draw the table: NAME.svg and NAME.png", 2 },
	{ "timeline", KEY_TIMELINE, "NAME", 0,
	  "Draw what is cached and missed over time, of the last repetition",
	  2 },
	{ "curve", KEY_CURVE, "NAME", 0,
	  "Draw hits by reuse distance, with exact LRU and an optimal policy",
	  2 },
	{ "load", KEY_LOAD, "FILE", 0,
	  "Measure nothing: what --json wrote of the same plan", 2 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Say what would be run", 2 },
	{ "quiet", 'q', NULL, 0, "No progress", 2 },
	{ 0 },
};

static struct argp_option
	option_list[NR_KNOBS + sizeof(plain_options) / sizeof(*plain_options)];

static void make_options(void)
{
	static char help[NR_KNOBS][400];

	for (int k = 0; k < NR_KNOBS; k++) {
		snprintf(help[k], sizeof(help[k]), "%s: %s (%s)", knobs[k].help,
			 knobs[k].domain, knobs[k].preset);
		option_list[k] = (struct argp_option){
			.name = knobs[k].name,
			.key = KEY_KNOB + k,
			.arg = "VALUE",
			.doc = help[k],
			.group = 1,
		};
	}
	memcpy(option_list + NR_KNOBS, plain_options, sizeof(plain_options));
}

static void set_knob(enum knob_id id, const char *text,
		     struct argp_state *state)
{
	if (!*text || strlen(text) >= sizeof(asked.given.value[id]))
		argp_error(state, "--%s=%s: must be %s, or several with commas",
			   knobs[id].name, text, knobs[id].domain);
	else
		strcpy(asked.given.value[id], text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	unsigned long n;
	char *end;

	if (key >= KEY_KNOB && key < KEY_KNOB + NR_KNOBS) {
		set_knob(key - KEY_KNOB, arg, state);
		return 0;
	}
	switch (key) {
	case KEY_REPS:
		n = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || n < 1 || n > REPS_MAX)
			argp_error(state, "--reps=%s: must be 1 to %d", arg,
				   REPS_MAX);
		asked.reps = n;
		return 0;
	case KEY_SCALE:
		if (scale_parse(arg, &asked.scale))
			argp_error(
				state,
				"--scale=%s: must be 1/N, or a number above 0 and at most 64",
				arg);
		return 0;
	case KEY_SHOW:
		asked.show = figure_by_name(arg);
		if (asked.show == NR_FIGURES)
			argp_error(
				state,
				"--show=%s: no such figure; --details has their names",
				arg);
		return 0;
	case KEY_CSV:
		asked.csv = arg;
		return 0;
	case KEY_JSON:
		asked.json = arg;
		return 0;
	case KEY_FIGURE:
		asked.figure = arg;
		return 0;
	case KEY_TIMELINE:
		asked.timeline = arg;
		return 0;
	case KEY_CURVE:
		asked.curve = arg;
		return 0;
	case KEY_DETAILS:
		asked.details = true;
		return 0;
	case KEY_LOAD:
		asked.load = arg;
		return 0;
	case KEY_DRY_RUN:
		asked.dry_run = true;
		return 0;
	case 'q':
		asked.quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (asked.recipe)
			argp_error(state, "%s: one recipe at a time", arg);
		asked.recipe = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A file, or one of ours. */
static const char *find_recipe(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", name);
	if (strchr(name, '/') || !access(path, R_OK))
		return path;
	snprintf(path, sizeof(path), RECIPES_DIR "/%s", name);
	return path;
}

/* A variable of the tests that has an option here would go unnoticed. */
static int check_variables(char *why, size_t len)
{
	static const struct {
		const char *variable;
		const char *option;
	} of[] = {
		{ "MM_CACHE_RECLAIM", "reclaim" },
		{ "MM_CACHE_REPS", "reps" },
		{ "MM_CACHE_MEM", "mem" },
		{ "MM_CACHE_READ_AHEAD_KB", "read-ahead" },
		{ "MM_CACHE_FILES", "files" },
		{ "MM_CACHE_FS", "fs" },
		{ "MM_CACHE_BUFFER", "buffer" },
		{ "MM_CACHE_SCANNERS", "scanners" },
		{ "MM_CACHE_HOT_READERS", "readers" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (getenv(of[i].variable))
			return refuse(
				why, len,
				"%s is of the tests: unset it, and give --%s",
				of[i].variable, of[i].option);
	return 0;
}

static int make_plan(const struct options *options, char *why, size_t len)
{
	struct lists *given = &asked.given;

	if (check_variables(why, len))
		return -EINVAL;
	if (options->dir &&
	    (given->value[KNOB_FS][0] || given->value[KNOB_READ_AHEAD][0])) {
		snprintf(
			why, len,
			"the file system of MM_CACHE_DIR is taken as it is: no --fs, no --read-ahead, or unset it");
		return -EINVAL;
	}

	/* A device slower or faster than the report's must not change the ratios. */
	if (asked.scale != 1 && !given->value[KNOB_PACE][0])
		strcpy(given->value[KNOB_PACE], "logical");
	if (asked.recipe)
		return plan_read(&plan, find_recipe(asked.recipe), given, why,
				 len);
	if (asked.show == NR_FIGURES)
		asked.show = given->value[KNOB_WORKERS][0] ? FIG_MISSED :
			     strcmp(given->value[KNOB_HOT], "0") ?
							     FIG_KEPT :
							     FIG_THROUGHPUT;
	return plan_sweep(&plan, given, asked.show, why, len);
}

static bool reclaim_given(void)
{
	for (unsigned int i = 0; i < plan.nr_runs; i++)
		if (!strcmp(plan.runs[i].value[KNOB_RECLAIM], "any"))
			return false;
	return true;
}

static void print_env(const struct exploration *e)
{
	bool given = false;

	for (unsigned int i = 0; i < e->env->nr; i++)
		/* What differs by run is in the table, or was given. */
		if ((strcmp(e->env->facts[i].key, "reclaim") ||
		     !reclaim_given()) &&
		    strcmp(e->env->facts[i].key, "files"))
			printf("# env %s %s\n", e->env->facts[i].key,
			       e->env->facts[i].value);
	if (asked.recipe)
		printf("# env recipe %s\n", asked.recipe);
	for (int k = 0; k < NR_KNOBS; k++) {
		if (!asked.given.value[k][0])
			continue;
		printf("%s %s=%s", given ? "" : "# env knobs", knobs[k].name,
		       asked.given.value[k]);
		given = true;
	}
	if (given)
		printf("\n");
	printf("# env scale %g\n# env repetitions %u\n\n", e->scale, e->reps);
}

/* What cannot be had is said, and lost; the rest is still written. */
static int write_file(const struct exploration *e, const char *path,
		      int (*write)(const struct exploration *e, FILE *out))
{
	FILE *out;
	int err;

	if (!path)
		return 0;
	out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!out) {
		fprintf(stderr, "mm-cache-explore: %s: %s\n", path,
			strerror(errno));
		return -errno;
	}
	err = write(e, out);
	if (out != stdout && fclose(out) && !err)
		err = -errno;
	if (err == -EOPNOTSUPP)
		fprintf(stderr,
			"mm-cache-explore: no JSON: it was built without jansson (Debian: libjansson-dev)\n");
	else if (err)
		fprintf(stderr, "mm-cache-explore: cannot write %s: %s\n", path,
			strerror(-err));
	return err;
}

/* Nobody shall measure for hours and then be told that nothing can be written. */
static int check_file(const char *name, const char *ending)
{
	bool there;
	struct stat st;
	char *path;
	int fd;

	if (!name || !strcmp(name, "-"))
		return 0;
	path = text("%s%s", name, ending);
	there = !stat(path, &st);
	/* A pipe cannot be tried. */
	if (!there || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0) {
			fprintf(stderr, "mm-cache-explore: %s: %s\n", path,
				strerror(errno));
			free(path);
			return -EACCES;
		}
		close(fd);
		if (!there)
			unlink(path);
	}
	free(path);
	return 0;
}

static int check_files(void)
{
	if ((asked.figure || asked.timeline || asked.curve) &&
	    !gnuplot_found()) {
		fprintf(stderr,
			"mm-cache-explore: gnuplot is missing, which draws the figures: install it (Debian: gnuplot-nox)\n");
		return -EOPNOTSUPP;
	}
	return check_file(asked.csv, "")		  ?:
		       check_file(asked.json, "")	  ?:
		       check_file(asked.figure, ".svg")	  ?:
		       check_file(asked.timeline, ".svg") ?:
		       check_file(asked.curve, ".svg");
}

static int draw(const struct exploration *e, const char *name,
		int (*figure)(const struct exploration *e, const char *name))
{
	int err = name ? figure(e, name) : 0;

	if (err == -EOPNOTSUPP)
		fprintf(stderr,
			"mm-cache-explore: %s is not drawn: no gnuplot (Debian: make deps)\n",
			name);
	else if (err == -ENODATA)
		fprintf(stderr,
			"mm-cache-explore: %s is not drawn: nothing of it was measured\n",
			name);
	else if (err)
		fprintf(stderr, "mm-cache-explore: %s could not be drawn: %s\n",
			name, strerror(-err));
	return err;
}

static int write_csv(const struct exploration *e, FILE *out)
{
	report_csv(e, out);
	return ferror(out) ? -EIO : 0;
}

static enum exit_code report(const struct exploration *e)
{
	bool all = !e->stopped, any = false;
	int err = 0;

	for (unsigned int i = 0; i < plan.nr_runs; i++) {
		any |= e->results[i].reps > 0;
		all &= e->results[i].reps == e->reps;
	}
	print_env(e);
	report_table(e, stdout);
	if (asked.details || plan.nr_runs == 1)
		report_details(e, stdout);
	/* Drawing may take a while, and may be cut short. */
	fflush(stdout);
	err |= write_file(e, asked.csv, write_csv);
	err |= write_file(e, asked.json, report_json);
	err |= draw(e, asked.figure, figure_table);
	err |= draw(e, asked.timeline, figure_timeline);
	err |= draw(e, asked.curve, figure_curve);
	if (!any && !e->stopped)
		return NOTHING;
	return all && !err ? ALL_MEASURED : NOT_ALL;
}

/* Reads of each hot page while the scan file is read once; 0: not known. */
static double touches_of(const struct resolved *r)
{
	double pages = (double)(r->trial.hot.bytes / sysconf(_SC_PAGESIZE));

	if (!(pages > 0))
		return 0;
	if (r->wanted > 0)
		return r->wanted * r->scan_s / pages;
	return (double)r->trial.hot.touches / pages;
}

static enum exit_code print_plan(const struct exploration *e)
{
	enum exit_code code = ALL_MEASURED;
	char title[300], why[320];

	for (unsigned int i = 0; i < plan.nr_runs; i++) {
		const struct trial *t;
		struct resolved r;

		*why = '\0';
		/* A machine large enough for whatever was asked for. */
		if (setting_resolve(&plan.runs[i], e->scale, UINT64_MAX >> 1,
				    &r, why, sizeof(why)))
			code = NOT_ALL;
		t = &r.trial;
		printf("%s: ", run_title(&plan, i, title, sizeof(title)));
		if (*why) {
			printf("refused: %s\n", why);
			continue;
		}
		printf("limit %.1f MiB, hot %.1f MiB, scan %.1f MiB, ",
		       t->mem_bytes / MIB, t->hot.bytes / MIB,
		       t->scan.bytes / MIB);
		if (t->get_scan.records && !t->get_scan.run)
			printf("GETs only\n");
		else if (t->get_scan.records)
			printf("%.4f GETs by MiB scanned\n",
			       (double)t->get_scan.gets / 1000 * MIB /
				       ((double)t->get_scan.run *
					RECORD_BYTES));
		else if (r.wanted > 0 && !(r.scan_s > 0))
			printf("%.0f hot reads a second\n", r.wanted);
		else
			printf("%.4f reads by page and pass\n", touches_of(&r));
	}
	return code;
}

static enum exit_code run_plan(struct exploration *e)
{
	enum exit_code code;
	char why[600];
	int err;

	if (asked.dry_run)
		return print_plan(e);
	err = exploration_new(e);
	if (err) {
		fprintf(stderr, "mm-cache-explore: no memory\n");
		return NOT_ALL;
	}
	if (asked.load && report_load(e, asked.load, why, sizeof(why))) {
		fprintf(stderr, "mm-cache-explore: %s\n", why);
		return USAGE;
	}
	if (!asked.load && check_files())
		return USAGE;
	err = asked.load ? 0 : exploration_run(e);
	code = report(e);
	return err ? NOT_ALL : code;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.args_doc = "[RECIPE]",
		.doc = doc,
	};
	const char *name = program_invocation_short_name;
	struct exploration exploration = { .plan = &plan };
	enum exit_code code;
	char why[600];

	if (std_streams_open())
		return NOT_ALL;
	argp_err_exit_status = USAGE;
	make_options();
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (options_read(&exploration.options, why, sizeof(why)) ||
	    make_plan(&exploration.options, why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", name, why);
		return USAGE;
	}
	exploration.scale = asked.scale;
	exploration.reps = asked.reps;
	exploration.quiet = asked.quiet;
	/* Whoever started us may ignore these; we wait for children. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(022);
	code = run_plan(&exploration);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write: %s\n", name,
			strerror(errno));
		return NOT_ALL;
	}
	return code;
}
