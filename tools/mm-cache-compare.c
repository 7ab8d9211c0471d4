// SPDX-License-Identifier: GPL-2.0
/*
 * Two kernels in, one verdict out: reads sets of KTAP logs, compares each with
 * the first, and says whether it got worse. The rules are in compare.h and
 * compare_stat.h; what is refused in compare_read.h.
 */
#include <argp.h>
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "compare_figure.h"
#include "gnuplot.h"
#include "compare_print.h"
#include "text.h"

enum format { TABLE, MARKDOWN, JSON, JUNIT };

static struct options {
	enum format format;
	const char *output;
	const char **figures;
	size_t nr_figures;
	bool verbose;
	bool blocks_more;
	struct compare_options compare;
	char **sets;
	int nr_sets;
} options;

static struct compare_input input;

static const char doc[] =
	"Compares sets of KTAP logs, each with the first, and decides: did it get\n"
	"worse?\n"
	"\vA set is a KTAP log, a directory of logs (*.log, *.txt, packed or not, however\n"
	"deep) or a tarball; [NAME=]PATH names it, else they are A, B, ... Logs named\n"
	"BLOCK-POSITION.log, as scripts/gate.sh leaves them, are compared within\n"
	"their blocks; others as independent samples.\n"
	"\n"
	"It fails when a test was ok in all of A and is not ok in all of B, when the\n"
	"sets differ in what was skipped or inconclusive, when a guest of B died, or\n"
	"when a number is worse by more than its margin for certain. It passes when\n"
	"every asserted number is not worse by its margin for certain. Else it is\n"
	"undecided, and says how many more blocks it takes.\n"
	"\n"
	"Exit status:\n"
	"  0   pass\n"
	"  1   fail\n"
	"  2   undecided\n"
	"  3   wrong usage or broken input, named on standard error\n";

enum {
	ACROSS = 256,
	FIGURE,
	MARGIN,
	ONLY,
	ALLOW_SKIPS,
	ALLOW_INCONCLUSIVE,
	BLOCKS_MORE
};

static const struct argp_option option_list[] = {
	{ "format", 'f', "FORMAT", 0,
	  "table (default), markdown, json or junit", 0 },
	{ "output", 'o', "FILE", 0, "Write there, not to standard output", 0 },
	{ "figure", FIGURE, "FILE", 0,
	  "Draw FILE.svg or FILE.png by gnuplot; may be repeated", 0 },
	{ "across", ACROSS, "KEY", 0,
	  "The sets differ in this # env key on purpose; may be repeated. reclaim: one set ran classic and the other mglru, and their variants are the same property",
	  0 },
	{ "margin", MARGIN, "METRIC=VALUE", 0,
	  "Another margin for kept, hot_kept or OWNER.hot_kept, in the unit of the metric, or VALUE%; may be repeated",
	  0 },
	{ "only", ONLY, "PATTERN", 0,
	  "Only results that match the shell pattern; choose it before you look, for it makes the family smaller",
	  0 },
	{ "allow-skips", ALLOW_SKIPS, NULL, 0,
	  "Do not fail for what one set skipped or has not", 0 },
	{ "allow-inconclusive", ALLOW_INCONCLUSIVE, NULL, 0,
	  "Do not fail for what was inconclusive in one set", 0 },
	{ "blocks-more", BLOCKS_MORE, NULL, 0,
	  "Print only how many more blocks it takes: 0 when it is decided", 0 },
	{ "verbose", 'v', NULL, 0,
	  "Also the numbers that are only shown, and results that did not change",
	  0 },
	{ 0 }
};

static enum format format_of(struct argp_state *state, const char *arg)
{
	static const char *const names[] = {
		[TABLE] = "table",
		[MARKDOWN] = "markdown",
		[JSON] = "json",
		[JUNIT] = "junit",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(arg, names[i]))
			return i;
	argp_error(state, "--format=%s: table, markdown, json or junit", arg);
	return TABLE;
}

static void add_figure(struct argp_state *state, const char *path)
{
	if (!gnuplot_kind(path))
		argp_error(state, "--figure %s: ends in neither .svg nor .png",
			   path);
	*(const char **)one_more(&options.figures, &options.nr_figures,
				 sizeof(*options.figures)) = path;
}

static void add_margin(struct argp_state *state, const char *arg)
{
	struct compare_options *o = &options.compare;
	struct compare_margin margin = { 0 };
	const char *equals = strrchr(arg, '=');
	char *end;

	if (!equals || equals == arg)
		argp_error(state, "--margin %s: METRIC=VALUE expected", arg);
	margin.metric = need_memory(strndup(arg, equals - arg));
	margin.value = strtod(equals + 1, &end);
	margin.percent = *end == '%';
	if (end == equals + 1 || end[margin.percent] || !(margin.value > 0) ||
	    isinf(margin.value))
		argp_error(state,
			   "--margin %s: a number above 0, or one with a %%",
			   arg);
	if (!compare_known_margin(margin.metric))
		argp_error(state,
			   "--margin %s: %s is no number with a direction", arg,
			   margin.metric);
	*(struct compare_margin *)one_more(&o->margins, &o->nr_margins,
					   sizeof(*o->margins)) = margin;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'f':
		options.format = format_of(state, arg);
		return 0;
	case 'o':
		options.output = arg;
		return 0;
	case 'v':
		options.verbose = true;
		return 0;
	case FIGURE:
		add_figure(state, arg);
		return 0;
	case ACROSS:
		compare_say(&input.across, "%s", arg);
		return 0;
	case MARGIN:
		add_margin(state, arg);
		return 0;
	case ONLY:
		compare_say(&input.strings, "%s", arg);
		input.only = input.strings.words[input.strings.nr - 1];
		return 0;
	case ALLOW_SKIPS:
		options.compare.allow_skips = true;
		return 0;
	case ALLOW_INCONCLUSIVE:
		options.compare.allow_inconclusive = true;
		return 0;
	case BLOCKS_MORE:
		options.blocks_more = true;
		return 0;
	case ARGP_KEY_ARGS:
		options.sets = state->argv + state->next;
		options.nr_sets = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (options.nr_sets < 2)
			argp_error(state, "two sets or more expected");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_report(FILE *out, const struct compare_report *report)
{
	if (options.blocks_more) {
		if (report->verdict != COMPARE_BROKEN)
			fprintf(out, "%zu\n", report->further);
		return;
	}
	switch (options.format) {
	case TABLE:
		compare_print_table(out, report, options.verbose);
		break;
	case MARKDOWN:
		compare_print_markdown(out, report, options.verbose);
		break;
	case JUNIT:
		compare_print_junit(out, report);
		break;
	case JSON:
		if (compare_print_json(out, report))
			errx(COMPARE_BROKEN, "the JSON cannot be written");
		break;
	}
}

static void write_report(const struct compare_report *report)
{
	FILE *out = stdout;

	if (options.output) {
		out = fopen(options.output, "we");
		if (!out)
			err(COMPARE_BROKEN, "%s", options.output);
	}
	print_report(out, report);
	if (fflush(out) || ferror(out) || (options.output && fclose(out)))
		err(COMPARE_BROKEN, "%s",
		    options.output ? options.output : "standard output");
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.args_doc = "BASE OTHER [OTHER...]",
		.doc = doc,
	};
	struct compare_report report = { .input = &input,
					 .options = &options.compare };
	enum compare_verdict verdict;

	text_status = COMPARE_BROKEN;
	argp_err_exit_status = COMPARE_BROKEN;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	options.compare.all_intervals = options.verbose ||
					options.format == JSON;
	for (int i = 0; i < options.nr_sets; i++)
		compare_add_set(&input, options.sets[i]);
	compare_check_sets(&input);
	if (input.refused.nr)
		report.verdict = COMPARE_BROKEN;
	else
		compare_decide(&report);
	verdict = report.verdict;
	for (size_t i = 0; i < input.refused.nr; i++)
		warnx("%s", input.refused.words[i]);
	write_report(&report);
	for (size_t i = 0; verdict != COMPARE_BROKEN && i < options.nr_figures;
	     i++)
		if (!compare_figure(options.figures[i], &report))
			verdict = COMPARE_BROKEN;
	compare_report_free(&report);
	compare_free(&input);
	for (size_t i = 0; i < options.compare.nr_margins; i++)
		free(options.compare.margins[i].metric);
	free(options.compare.margins);
	free(options.figures);
	return verdict;
}
