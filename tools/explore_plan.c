// SPDX-License-Identifier: GPL-2.0
#include "explore_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64
#define LINE_MAX_LEN 1024

bool filter_matches(const struct filter *filter, const struct setting *setting)
{
	for (int k = 0; k < NR_KNOBS; k++)
		if (filter->value[k][0] &&
		    strcmp(filter->value[k], setting->value[k]))
			return false;
	return true;
}

static int add_run(struct plan *plan, const struct setting *setting, char *why,
		   size_t len)
{
	for (unsigned int i = 0; i < plan->nr_runs; i++)
		if (!memcmp(&plan->runs[i], setting, sizeof(*setting)))
			return 0;
	if (plan->nr_runs == RUNS_MAX)
		return refuse(why, len, "more than %d combinations", RUNS_MAX);
	plan->runs[plan->nr_runs++] = *setting;
	return 0;
}

/* The value that @text begins with, in @value; what follows it, or NULL. */
static const char *next_value(const char *text, char *value)
{
	size_t n = strcspn(text, ",");

	snprintf(value, KNOB_TEXT, "%.*s", (int)n, text);
	/* One that was cut must not pass for another one. */
	if (n >= KNOB_TEXT)
		value[0] = '?';
	return text[n] ? text + n + 1 : NULL;
}

/* All combinations of the values from knob @k on. */
static int expand(struct plan *plan, const struct lists *lists, int k,
		  struct setting *setting, char *why, size_t len)
{
	const char *rest;
	int err = 0;

	while (k < NR_KNOBS && !lists->value[k][0])
		k++;
	if (k == NR_KNOBS)
		return add_run(plan, setting, why, len);
	rest = lists->value[k];
	while (!err && rest) {
		char value[KNOB_TEXT];

		rest = next_value(rest, value);
		err = setting_set(setting, k, value, why, len);
		if (!err)
			err = expand(plan, lists, k + 1, setting, why, len);
	}
	return err;
}

static void override(struct lists *lists, const struct lists *given)
{
	for (int k = 0; k < NR_KNOBS; k++)
		if (given->value[k][0])
			memcpy(lists->value[k], given->value[k],
			       sizeof(lists->value[k]));
}

static int add_runs(struct plan *plan, const struct lists *lists, char *why,
		    size_t len)
{
	struct setting setting;

	setting_preset(&setting);
	return expand(plan, lists, 0, &setting, why, len);
}

/* ----- a recipe ----- */

/* Words of a line, quoted ones without their quotes. How many; -EINVAL. */
static int split(char *line, char *words[WORDS_MAX])
{
	int n = 0;

	for (;;) {
		char end = ' ';

		line += strspn(line, " \t\n");
		if (!*line || *line == '#' || n == WORDS_MAX)
			return *line && *line != '#' ? -EINVAL : n;
		if (*line == '"') {
			end = '"';
			line++;
		}
		words[n++] = line;
		line += end == '"' ? strcspn(line, "\"") :
				     strcspn(line, " \t\n");
		if (end == '"' && !*line)
			return -EINVAL;
		if (*line)
			*line++ = '\0';
	}
}

/* KNOB=VALUE in @word: the knob, and where its value begins. */
static int split_word(char *word, enum knob_id *id, char **value, char *why,
		      size_t len)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return refuse(why, len, "\"%s\" is no KNOB=VALUE", word);
	*equals = '\0';
	*id = knob_by_name(word);
	*value = equals + 1;
	if (*id == NR_KNOBS)
		return refuse(why, len, "%s: no such knob", word);
	return 0;
}

static int read_lists(char **words, int n, struct lists *lists, char *why,
		      size_t len)
{
	for (int i = 0; i < n; i++) {
		enum knob_id id;
		char *value;

		if (split_word(words[i], &id, &value, why, len))
			return -EINVAL;
		if (!*value || strlen(value) >= sizeof(lists->value[0]))
			return refuse(why, len, "%s: %s", knobs[id].name,
				      *value ? "too many values" : "no value");
		memset(lists->value[id], 0, sizeof(lists->value[id]));
		strcpy(lists->value[id], value);
	}
	return 0;
}

static int read_filter(char **words, int n, struct filter *filter, char *why,
		       size_t len)
{
	struct setting setting;

	setting_preset(&setting);
	for (int i = 0; i < n; i++) {
		enum knob_id id;
		char *value;

		if (split_word(words[i], &id, &value, why, len) ||
		    setting_set(&setting, id, value, why, len))
			return -EINVAL;
		strcpy(filter->value[id], setting.value[id]);
	}
	return 0;
}

static int read_column(struct plan *plan, char **words, int n, char *why,
		       size_t len)
{
	struct column *column = &plan->columns[plan->nr_columns];

	if (n < 1 || plan->nr_columns == COLUMNS_MAX)
		return refuse(why, len, "a column needs a label; at most %d",
			      COLUMNS_MAX);
	snprintf(column->label, sizeof(column->label), "%s", words[0]);
	plan->nr_columns++;
	return read_filter(words + 1, n - 1, &column->filter, why, len);
}

static int read_row(struct plan *plan, char **words, int n, char *why,
		    size_t len)
{
	struct row *row = &plan->rows[plan->nr_rows];
	int knobs_end = 3;

	if (n < 3 || plan->nr_rows == ROWS_MAX)
		return refuse(
			why, len,
			"a row needs a label, a figure and pass=N; at most %d",
			ROWS_MAX);
	snprintf(row->label, sizeof(row->label), "%s", words[0]);
	row->figure = figure_by_name(words[1]);
	if (row->figure == NR_FIGURES)
		return refuse(why, len, "%s: no such figure", words[1]);
	if (sscanf(words[2], "pass=%2u", &row->pass) != 1 || !row->pass ||
	    row->pass > PASSES_MAX)
		return refuse(why, len, "%s: must be pass=1 to pass=%d",
			      words[2], PASSES_MAX);
	while (knobs_end < n && strcmp(words[knobs_end], "report"))
		knobs_end++;
	for (int i = knobs_end + 1; i < n && i <= knobs_end + COLUMNS_MAX;
	     i++) {
		snprintf(row->report[i - knobs_end - 1], LABEL_MAX, "%s",
			 words[i]);
		plan->reported = true;
	}
	plan->nr_rows++;
	return read_filter(words + 3, knobs_end - 3, &row->filter, why, len);
}

static int read_line(struct plan *plan, char *line, struct lists *set,
		     const struct lists *given, char *why, size_t len)
{
	char *words[WORDS_MAX];
	struct lists lists;
	int n = split(line, words);
	int err;

	if (n < 0)
		return refuse(why, len, "too many words, or a quote left open");
	if (!n)
		return 0;
	if (!strcmp(words[0], "set"))
		return read_lists(words + 1, n - 1, set, why, len);
	if (!strcmp(words[0], "run")) {
		lists = *set;
		err = read_lists(words + 1, n - 1, &lists, why, len);
		override(&lists, given);
		return err ? err : add_runs(plan, &lists, why, len);
	}
	if (!strcmp(words[0], "title") && n == 2) {
		snprintf(plan->title, sizeof(plan->title), "%s", words[1]);
		return 0;
	}
	if (!strcmp(words[0], "change") && n == 2) {
		snprintf(plan->change, sizeof(plan->change), "%s", words[1]);
		return 0;
	}
	if (!strcmp(words[0], "column"))
		return read_column(plan, words + 1, n - 1, why, len);
	if (!strcmp(words[0], "row"))
		return read_row(plan, words + 1, n - 1, why, len);
	if (!strcmp(words[0], "figure") && n >= 2) {
		plan->drawn = figure_by_name(words[1]);
		plan->log = n > 2 && !strcmp(words[2], "log");
		if (plan->drawn == NR_FIGURES)
			return refuse(why, len, "%s: no such figure", words[1]);
		return 0;
	}
	return refuse(
		why, len,
		"%s: must be title TEXT, set, run, column, change LABEL, row or figure FIGURE",
		words[0]);
}

int plan_read(struct plan *plan, const char *path, const struct lists *given,
	      char *why, size_t len)
{
	static struct lists set;
	char line[LINE_MAX_LEN];
	char what[200] = "";
	unsigned int nr = 0;
	FILE *file;
	int err = 0;

	*plan = (struct plan){ .drawn = NR_FIGURES };
	memset(&set, 0, sizeof(set));
	file = fopen(path, "re");
	if (!file) {
		err = -errno;
		snprintf(why, len, "%s: %s", path, strerror(errno));
		return err;
	}
	while (!err && fgets(line, sizeof(line), file)) {
		nr++;
		if (strlen(line) == sizeof(line) - 1)
			err = refuse(what, sizeof(what),
				     "the line is too long");
		else
			err = read_line(plan, line, &set, given, what,
					sizeof(what));
	}
	if (ferror(file)) {
		err = -errno;
		snprintf(what, sizeof(what), "%s", strerror(errno));
		nr++;
	}
	fclose(file);
	if (err)
		snprintf(why, len, "%s:%u: %s", path, nr, what);
	else if (!plan->nr_runs)
		err = refuse(why, len, "%s: it has no run line", path);
	else if (plan->change[0] && plan->nr_columns != 2)
		err = refuse(
			why, len,
			"%s: change is from one column to another: of two, not of %u",
			path, plan->nr_columns);
	return err;
}

/* ----- the command line ----- */

static int add_row(struct plan *plan, int swept, const char *value,
		   enum figure show, unsigned int pass, unsigned int passes,
		   char *why, size_t len)
{
	struct row *row = &plan->rows[plan->nr_rows];
	size_t n;

	if (plan->nr_rows == ROWS_MAX)
		return refuse(why, len, "more than %d rows", ROWS_MAX);
	plan->nr_rows++;
	row->figure = show;
	row->pass = pass;
	strcpy(row->label, "as set");
	if (swept < NR_KNOBS) {
		strcpy(row->filter.value[swept], value);
		snprintf(row->label, LABEL_MAX, "%s %.*s", knobs[swept].name,
			 KNOB_TEXT, value);
	}
	n = strlen(row->label);
	if (passes > 1)
		snprintf(row->label + n, LABEL_MAX - n, ", pass %u", pass);
	return 0;
}

static int add_rows(struct plan *plan, const struct lists *given, int swept,
		    enum figure show, char *why, size_t len)
{
	const char *rest = swept < NR_KNOBS ? given->value[swept] : "";
	unsigned int passes = 1;
	int err = 0;

	for (unsigned int i = 0; i < plan->nr_runs; i++) {
		unsigned long n =
			strtoul(plan->runs[i].value[KNOB_PASSES], NULL, 10);

		passes = n > passes ? n : passes;
	}
	while (!err && rest) {
		char value[KNOB_TEXT];

		rest = next_value(rest, value);
		for (unsigned int p = 1; !err && p <= passes; p++)
			err = add_row(plan, swept, value, show, p, passes, why,
				      len);
	}
	return err;
}

/* A column for each combination of the swept knobs after the first. */
static int add_columns(struct plan *plan, const struct lists *given, int first,
		       char *why, size_t len)
{
	for (unsigned int i = 0; i < plan->nr_runs; i++) {
		struct column column = { .label = "" };
		unsigned int at = 0;

		for (int k = 0; k < NR_KNOBS; k++) {
			size_t n = strlen(column.label);

			if (k == first || !strchr(given->value[k], ','))
				continue;
			strcpy(column.filter.value[k], plan->runs[i].value[k]);
			snprintf(column.label + n, LABEL_MAX - n, "%s%s %s",
				 n ? ", " : "", knobs[k].name,
				 plan->runs[i].value[k]);
		}
		if (!column.label[0])
			strcpy(column.label, "here");
		while (at < plan->nr_columns &&
		       memcmp(&plan->columns[at].filter, &column.filter,
			      sizeof(column.filter)))
			at++;
		if (at == COLUMNS_MAX)
			return refuse(
				why, len,
				"more than %d columns: sweep fewer values beside those of --%s",
				COLUMNS_MAX, knobs[first].name);
		if (at == plan->nr_columns)
			plan->columns[plan->nr_columns++] = column;
	}
	return 0;
}

int plan_sweep(struct plan *plan, const struct lists *given, enum figure show,
	       char *why, size_t len)
{
	int first = NR_KNOBS;
	unsigned int most = 1;
	int err;

	*plan = (struct plan){ .drawn = show };
	snprintf(plan->title, sizeof(plan->title), "%s", figures[show].label);
	/* The knob with most values makes the rows. */
	for (int k = 0; k < NR_KNOBS; k++) {
		unsigned int n = 1;

		for (const char *c = given->value[k]; *c; c++)
			n += *c == ',';
		if (n > most) {
			most = n;
			first = k;
		}
	}
	err = add_runs(plan, given, why, len);
	if (!err)
		err = add_rows(plan, given, first, show, why, len);
	return err ? err : add_columns(plan, given, first, why, len);
}
