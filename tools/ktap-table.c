// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what a run came to: one line per property with what was measured,
 * against which bound, and the verdict; below it why something is not ok or
 * told nothing, what was skipped for which reason, and what is wrong with the
 * log itself. The exit code is the verdict on the whole.
 */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap_parse.h"
#include "printable.h"
#include "text.h"

/* Columns that a line may take before it is wrapped */
#define LINE_COLUMNS 100
/* Problems of one kind that are shown without -v */
#define PROBLEMS_SHOWN 8
#define COLUMN_GAP 2

enum { PROPERTY, LRU, MEASURED, BOUND, VERDICT, NR_COLUMNS };

static const char *const titles[NR_COLUMNS] = {
	"property", "LRU", "measured", "bound", "verdict",
};

struct options {
	bool markdown;
	bool strict;
	bool verbose;
	char **files;
	int nr_files;
};

struct row {
	char *cells[NR_COLUMNS]; /* printable */
	const char *colour; /* of the verdict, or NULL */
	bool heading; /* only the first cell, no property */
};

struct table {
	struct row *rows;
	size_t nr_rows;
	bool short_names; /* without the test, where one is enough */
};

/* A result with the program that it is of */
struct place {
	const struct ktap_program *program;
	const struct ktap_result *result;
	size_t order;
};

static struct options options;
static bool colours;

#define RED "\033[1;31m"
#define YELLOW "\033[33m"
#define GREEN "\033[32m"

static const struct {
	const char *word;
	const char *colour;
	const char *title; /* of the list below the table, or NULL */
} verdicts[KTAP_NR_VERDICTS] = {
	[KTAP_OK] = { "ok", GREEN, NULL },
	[KTAP_NOT_OK] = { "NOT OK", RED, "not ok" },
	[KTAP_INCONCLUSIVE] = { "inconclusive", YELLOW,
				"inconclusive: the test could tell nothing" },
	[KTAP_SKIP] = { "skip", NULL, NULL },
	[KTAP_XFAIL] = { "xfail", YELLOW, "failed, as expected" },
	[KTAP_XPASS] = { "XPASS", YELLOW, "passed, though expected to fail" },
};

/* --- strings ------------------------------------------------------------ */

static bool is_markup(const char *s)
{
	/* A < begins a tag only before these */
	if (*s == '<')
		return isalpha((unsigned char)s[1]) || strchr("/!?", s[1]);
	return strchr("\\|*`", *s);
}

/* What a terminal, and Markdown if that is asked for, can be given */
static char *shown(const char *s)
{
	char *plain = need_memory(printable(s)), *from = plain, *out, *to;

	if (!options.markdown)
		return plain;
	out = need_memory(malloc(2 * strlen(plain) + 1));
	for (to = out; *from; from++) {
		if (is_markup(from))
			*to++ = '\\';
		*to++ = *from;
	}
	*to = '\0';
	free(plain);
	return out;
}

static void pad(size_t have, size_t want)
{
	if (have < want)
		printf("%*s", (int)(want - have), "");
}

/* Where the next word goes */
struct wrap {
	size_t indent;
	size_t column;
	bool begun;
};

/* Words within LINE_COLUMNS. Markdown is wrapped by whoever shows it. */
static void print_wrapped(struct wrap *wrap, const char *raw)
{
	char *s = shown(raw), *word = s, *next;

	for (; *word; word = next) {
		size_t len = strcspn(word, " "), width;
		bool more = word[len];

		word[len] = '\0';
		next = word + len + more;
		width = printable_columns(word);
		if (wrap->begun && !options.markdown &&
		    wrap->column + 1 + width > LINE_COLUMNS) {
			putchar('\n');
			pad(0, wrap->indent);
			wrap->column = wrap->indent;
		} else if (wrap->begun) {
			putchar(' ');
			wrap->column++;
		}
		fputs(word, stdout);
		wrap->column += width;
		wrap->begun = true;
	}
	free(s);
}

static struct wrap begin_item(unsigned int depth)
{
	struct wrap wrap = { .column = 2 * (depth + 1) };

	wrap.indent = wrap.column + (depth ? 0 : 2);
	if (options.markdown)
		printf("%*s- ", (int)(2 * depth), "");
	else
		pad(0, wrap.column);
	return wrap;
}

static void print_item(unsigned int depth, const char *raw)
{
	struct wrap wrap = begin_item(depth);

	print_wrapped(&wrap, raw);
	putchar('\n');
}

static void print_title(const char *title)
{
	if (options.markdown)
		printf("\n**%s**\n\n", title);
	else
		printf("\n%s\n", title);
}

/* --- names and numbers -------------------------------------------------- */

static const char *program_name(const struct ktap_program *program)
{
	return *program->name ? program->name : program->source;
}

static const char *result_name(const struct place *at)
{
	return *at->result->name ? at->result->name : program_name(at->program);
}

/*
 * The variant, the second of three components or more, begins with the LRU:
 * mglru, or mglru_rare. Returns the LRU; *variant and *rest are what stands
 * before it and behind it.
 */
static const char *split_lru(const char *name, size_t *before,
			     const char **rest)
{
	static const char *const lrus[] = { "classic", "mglru" };
	const char *variant = strchr(name, '.');
	size_t i, len;

	*before = strlen(name);
	*rest = "";
	if (!variant || !strchr(variant + 1, '.'))
		return "-";
	variant++;
	for (i = 0; i < sizeof(lrus) / sizeof(*lrus); i++) {
		len = strlen(lrus[i]);
		if (strncmp(variant, lrus[i], len) ||
		    (variant[len] != '.' && variant[len] != '_'))
			continue;
		*before = variant - name;
		*rest = variant + len + 1;
		return lrus[i];
	}
	return "-";
}

static size_t without_test(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

/* Is the result that many places on of the same fixture.variant? */
static bool same_variant(const struct place *at, int on)
{
	const struct ktap_program *program = at->program;
	size_t index = at->result - program->results + on;
	const char *name = at->result->name, *other;
	size_t len = without_test(name);

	if (index >= program->nr_results)
		return false;
	other = program->results[index].name;
	return without_test(other) == len && !strncmp(other, name, len);
}

/* The name without the LRU, which is the next column */
static char *property_name(const struct place *at, const char **lru)
{
	const char *name = result_name(at), *rest;
	size_t before;

	*lru = split_lru(name, &before, &rest);
	return text("%.*s%s", (int)before, name, rest);
}

/* A share reads as percent; how many times over, as a factor. */
static bool is_factor(const struct ktap_metric *m)
{
	const char *last = strrchr(m->name, '_');

	last = last ? last + 1 : m->name;
	return !strcmp(last, "amplification");
}

static char *value_text(const struct ktap_metric *m, int64_t value, bool exact)
{
	const char *sign = value < 0 ? "-" : "";
	unsigned long long size = value;

	if (value < 0)
		size = -size;
	if (strcmp(m->unit, "permille"))
		return text("%s%llu", sign, size);
	if (is_factor(m))
		return text("%s%llu.%03llu", sign, size / 1000, size % 1000);
	if (!exact && !(size % 10))
		return text("%s%llu", sign, size / 10);
	return text("%s%llu.%llu", sign, size / 10, size % 10);
}

static const char *unit_text(const struct ktap_metric *m)
{
	if (strcmp(m->unit, "permille"))
		return m->unit;
	return is_factor(m) ? "" : "%";
}

static char *printable_and_free(char *raw)
{
	char *s = shown(raw);

	free(raw);
	return s;
}

static char *measured_cell(const struct ktap_metric *m)
{
	char *median = value_text(m, m->median, true);
	char *min = value_text(m, m->min, true);
	char *max = value_text(m, m->max, true);
	const char *unit = unit_text(m);
	char *cell;

	if (m->min == m->max)
		cell = text("%s%s%s", median, *unit ? " " : "", unit);
	else
		cell = text("%s%s%s [%s..%s]", median, *unit ? " " : "", unit,
			    min, max);
	free(median);
	free(min);
	free(max);
	return printable_and_free(cell);
}

static char *bound_cell(const struct ktap_metric *m)
{
	static const char *const signs[] = {
		[KTAP_AT_LEAST] = ">=",
		[KTAP_AT_MOST] = "<=",
		[KTAP_EQUAL] = "==",
	};
	const char *unit = unit_text(m);
	char *value, *cell;

	if (m->relation == KTAP_UNBOUNDED)
		return text("-");
	value = value_text(m, m->bound, false);
	cell = text("%s %s%s%s", signs[m->relation], value,
		    strcmp(unit, "%") ? "" : " ",
		    strcmp(unit, "%") ? "" : unit);
	free(value);
	return printable_and_free(cell);
}

/* --- the table ---------------------------------------------------------- */

static struct row *new_row(struct table *table)
{
	return one_more(&table->rows, &table->nr_rows, sizeof(*table->rows));
}

static void free_rows(struct table *table)
{
	size_t i, c;

	for (i = 0; i < table->nr_rows; i++) {
		for (c = 0; c < NR_COLUMNS; c++)
			free(table->rows[i].cells[c]);
	}
	free(table->rows);
	*table = (struct table){ 0 };
}

static char *indented(unsigned int indent, const char *raw)
{
	char *s = shown(raw);
	char *cell = text("%*s%s", (int)indent, "", s);

	free(s);
	return cell;
}

/* A control is news when its median, by which it is judged, is beyond. */
static void add_metric_row(struct table *table, const struct ktap_metric *m,
			   unsigned int indent)
{
	bool violated = ktap_beyond(m, m->median);
	struct row *row;
	char *name;

	if (!violated && !options.verbose)
		return;
	row = new_row(table);
	name = text("%s%s", m->name, m->stray ? " (stray)" : "");
	row->cells[PROPERTY] = indented(indent, name);
	free(name);
	row->cells[LRU] = text("%s", "");
	row->cells[MEASURED] = measured_cell(m);
	row->cells[BOUND] = bound_cell(m);
	row->cells[VERDICT] = text("%s", violated ? "beyond" : "");
	row->colour = YELLOW;
}

static void add_heading(struct table *table, const char *name)
{
	struct row *row = new_row(table);

	row->cells[PROPERTY] = shown(name);
	row->heading = true;
}

/*
 * Where short names are called for, the test is left out if it is the only one
 * of its fixture.variant; else the tests stand below that. Returns how far they
 * are set in.
 */
static unsigned int shorten(struct table *table, const struct place *at,
			    char *name)
{
	const char *full = at->result->name;
	bool follows = same_variant(at, -1);
	size_t len = without_test(name);

	if (!table->short_names || !memchr(full, '.', without_test(full)))
		return 0;
	name[len] = '\0';
	if (!follows && !same_variant(at, 1))
		return 0;
	if (!follows)
		add_heading(table, name);
	name[0] = '.';
	memmove(name + 1, name + len + 1, strlen(name + len + 1) + 1);
	return 2;
}

static void add_result_rows(struct table *table, const struct place *at)
{
	const struct ktap_result *result = at->result;
	const struct ktap_metric *measured = ktap_measured(at->program, result);
	const char *lru;
	char *name = property_name(at, &lru);
	unsigned int indent = shorten(table, at, name);
	struct row *row = new_row(table);
	size_t i;

	row->cells[PROPERTY] = indented(indent, name);
	free(name);
	row->cells[LRU] = text("%s", lru);
	row->cells[MEASURED] = measured ? measured_cell(measured) : text("-");
	row->cells[BOUND] = measured ? bound_cell(measured) : text("-");
	row->cells[VERDICT] = text("%s", verdicts[result->verdict].word);
	row->colour = verdicts[result->verdict].colour;
	for (i = 0; i < result->nr_metrics; i++) {
		const struct ktap_metric *m =
			&at->program->metrics[result->first_metric + i];

		if (m != measured)
			add_metric_row(table, m, indent + 2);
	}
}

static void add_missing_row(struct table *table,
			    const struct ktap_program *program)
{
	struct row *row;
	char *name;

	if (!program->missing)
		return;
	row = new_row(table);
	name = shown(program_name(program));
	row->cells[PROPERTY] = text("%s: %llu planned result%s", name,
				    (unsigned long long)program->missing,
				    program->missing == 1 ? "" : "s");
	free(name);
	row->cells[LRU] = text("-");
	row->cells[MEASURED] = text("-");
	row->cells[BOUND] = text("-");
	row->cells[VERDICT] =
		text("%s", program->outer.timeout ? "TIMEOUT" : "MISSING");
	row->colour = RED;
}

static const char *env_value(const struct ktap_program *program,
			     const char *key)
{
	size_t i;

	for (i = 0; i < program->nr_env; i++) {
		if (!strcmp(program->env[i].key, key))
			return program->env[i].value;
	}
	return NULL;
}

/* With several files, each has its own part of the table. */
static void add_source(struct table *table, const struct ktap_program *program)
{
	const char *kernel = env_value(program, "kernel");
	char *name = text("%s%s%s:", program->source, kernel ? ", kernel " : "",
			  kernel ? kernel : "");

	add_heading(table, name);
	free(name);
}

static void fill_table(struct table *table, const struct ktap_log *log,
		       bool short_names)
{
	const char *source = NULL;
	size_t i, j;

	free_rows(table);
	table->short_names = short_names;
	for (i = 0; i < log->nr_programs; i++) {
		const struct ktap_program *program = log->programs[i];

		if (options.nr_files > 1 && program->source != source)
			add_source(table, program);
		source = program->source;
		for (j = 0; j < program->nr_results; j++) {
			struct place at = { program, &program->results[j], 0 };

			add_result_rows(table, &at);
		}
		add_missing_row(table, program);
	}
}

/* Returns what a whole line takes. */
static size_t measure_table(const struct table *table, size_t width[NR_COLUMNS])
{
	size_t i, c, len, sum = 0;

	for (c = 0; c < NR_COLUMNS; c++) {
		width[c] = printable_columns(titles[c]);
		for (i = 0; i < table->nr_rows; i++) {
			if (table->rows[i].heading)
				continue;
			len = printable_columns(table->rows[i].cells[c]);
			if (len > width[c])
				width[c] = len;
		}
		sum += width[c] + (c ? COLUMN_GAP : 0);
	}
	return sum;
}

/* Blanks come before a cell, so that none end a line. */
static void print_row(const struct row *row, const size_t width[NR_COLUMNS])
{
	size_t c, blanks = 0;

	for (c = 0; c < NR_COLUMNS; c++) {
		const char *cell = row->cells[c];
		size_t len = printable_columns(cell);
		bool coloured = colours && row->colour && c == VERDICT;

		if (len) {
			pad(0, blanks);
			blanks = 0;
			printf("%s%s%s", coloured ? row->colour : "", cell,
			       coloured ? "\033[0m" : "");
		}
		if (len > width[c]) {
			putchar('\n');
			len = 0;
		}
		blanks += width[c] - len + COLUMN_GAP;
	}
	putchar('\n');
}

/* A name too long for the line gets a line of its own. */
static void print_table(const struct table *table, size_t width[NR_COLUMNS],
			size_t sum)
{
	struct row head = { .colour = NULL };
	size_t i, c, rest = sum - width[PROPERTY];

	if (sum > LINE_COLUMNS)
		width[PROPERTY] =
			rest + 20 < LINE_COLUMNS ? LINE_COLUMNS - rest : 20;
	for (c = 0; c < NR_COLUMNS; c++)
		head.cells[c] = (char *)titles[c];
	print_row(&head, width);
	for (i = 0; i < table->nr_rows; i++) {
		if (table->rows[i].heading)
			printf("%s\n", table->rows[i].cells[PROPERTY]);
		else
			print_row(&table->rows[i], width);
	}
}

static void print_markdown(const struct table *table)
{
	const struct row *row;
	size_t i, c;

	printf("| property | LRU | measured | bound | verdict |\n"
	       "|---|---|---|---|---|\n");
	for (i = 0; i < table->nr_rows; i++) {
		row = &table->rows[i];
		if (row->heading) {
			printf("| **%s** | | | | |\n", row->cells[PROPERTY]);
			continue;
		}
		for (c = 0; c < NR_COLUMNS; c++)
			printf("| %s ", row->cells[c]);
		puts("|");
	}
}

static void print_properties(const struct ktap_log *log)
{
	struct table table = { 0 };
	size_t width[NR_COLUMNS], sum;
	const char *kernel;
	char *s;

	if (options.nr_files <= 1 && log->nr_programs) {
		kernel = env_value(log->programs[0], "kernel");
		if (kernel) {
			s = shown(kernel);
			printf("kernel %s\n\n", s);
			free(s);
		}
	}
	fill_table(&table, log, false);
	if (options.markdown) {
		print_markdown(&table);
	} else if (table.nr_rows) {
		sum = measure_table(&table, width);
		if (sum > LINE_COLUMNS) {
			fill_table(&table, log, true);
			sum = measure_table(&table, width);
		}
		print_table(&table, width, sum);
	}
	free_rows(&table);
}

/* --- below the table ---------------------------------------------------- */

/* Of the harness's own messages only where the test gave no words, or -v */
static void print_why(const struct place *at)
{
	const struct ktap_result *result = at->result;
	const struct ktap_why *why;
	const char *reason = result->reason;
	bool told = false;
	size_t i;

	if (result->verdict == KTAP_INCONCLUSIVE)
		reason += strlen("inconclusive:");
	reason += strspn(reason, " ");
	/* What the harness writes when it has no reason */
	if (*reason && strcmp(reason, "unknown")) {
		print_item(1, reason);
		told = true;
	}
	for (i = 0; i < result->nr_whys; i++) {
		why = &at->program->whys[result->first_why + i];
		if (why->kind != KTAP_SAID) {
			print_item(1, why->text);
			told = true;
		}
	}
	for (i = 0; i < result->nr_whys; i++) {
		why = &at->program->whys[result->first_why + i];
		if (why->kind == KTAP_SAID && (!told || options.verbose))
			print_item(1, why->text);
	}
	if (!told && !result->nr_whys && result->verdict != KTAP_XPASS)
		print_item(1, "(it gave no reason)");
}

/* Calls show() for every result of that verdict; returns their number. */
static size_t each_result(const struct ktap_log *log, enum ktap_verdict verdict,
			  void (*show)(const struct place *at, void *data),
			  void *data)
{
	struct place at = { 0 };
	size_t i, j;

	for (i = 0; i < log->nr_programs; i++) {
		at.program = log->programs[i];
		for (j = 0; j < at.program->nr_results; j++) {
			at.result = &at.program->results[j];
			if (at.result->verdict != verdict)
				continue;
			show(&at, data);
			at.order++;
		}
	}
	return at.order;
}

static void show_with_why(const struct place *at, void *data)
{
	const char *title = data;
	char *name;

	if (!at->order)
		print_title(title);
	if (options.nr_files > 1) {
		name = text("%s (%s)", result_name(at), at->program->source);
		print_item(0, name);
		free(name);
	} else {
		print_item(0, result_name(at));
	}
	print_why(at);
}

static void collect(const struct place *at, void *data)
{
	struct place *places = data;

	places[at->order] = *at;
}

static int by_reason(const void *a, const void *b)
{
	const struct place *pa = a, *pb = b;
	int order = strcmp(pa->result->reason, pb->result->reason);

	if (order)
		return order;
	return pa->order < pb->order ? -1 : pa->order > pb->order;
}

/* What one of them found and needs, they all do. */
static void print_needs(const struct place *at)
{
	const struct ktap_why *why;
	char *need;
	size_t i;

	for (i = 0; i < at->result->nr_whys; i++) {
		why = &at->program->whys[at->result->first_why + i];
		if (why->kind != KTAP_NEED)
			continue;
		need = text("(%s)", why->text);
		print_item(1, need);
		free(need);
	}
}

static void print_skip_group(const struct place *places, size_t nr)
{
	const char *reason = places->result->reason;
	struct wrap wrap;
	char *name;
	size_t i;

	print_item(0, *reason ? reason : "(no reason given)");
	print_needs(places);
	wrap = begin_item(1);
	for (i = 0; i < nr; i++) {
		name = text("%s%s", result_name(&places[i]),
			    i + 1 < nr ? "," : "");
		print_wrapped(&wrap, name);
		free(name);
	}
	putchar('\n');
}

static void print_skips(const struct ktap_log *log, size_t nr)
{
	struct place *places;
	size_t i, first;

	if (!nr)
		return;
	places = need_memory(calloc(nr, sizeof(*places)));
	each_result(log, KTAP_SKIP, collect, places);
	qsort(places, nr, sizeof(*places), by_reason);
	print_title("skipped");
	for (first = 0; first < nr; first = i) {
		for (i = first + 1; i < nr; i++) {
			if (strcmp(places[i].result->reason,
				   places[first].result->reason))
				break;
		}
		print_skip_group(&places[first], i - first);
	}
	free(places);
}

static void print_problem(const struct ktap_problem *problem)
{
	const char *program = problem->program;
	char *s;

	/* The names of a program's results begin with its own */
	if (!strncmp(problem->text, program, strlen(program)))
		program = "";
	s = text("%s:%zu: %s%s%s%s", problem->source, problem->line,
		 problem->fatal ? "" : "note: ", program, *program ? ": " : "",
		 problem->text);
	print_item(0, s);
	free(s);
}

static void print_problems(const struct ktap_log *log)
{
	size_t shown[KTAP_T_DEPTH + 1] = { 0 }, more = 0, i;
	char *s;

	for (i = 0; i < log->nr_problems; i++) {
		if (!i)
			print_title("problems of the log");
		if (options.verbose ||
		    shown[log->problems[i].trouble]++ < PROBLEMS_SHOWN)
			print_problem(&log->problems[i]);
		else
			more++;
	}
	if (more) {
		s = text("and %zu more of these kinds: see -v", more);
		print_item(0, s);
		free(s);
	}
}

/* In full for the first program, and for the others where they differ */
static void print_env(const struct ktap_log *log)
{
	const struct ktap_program *first = NULL, *program;
	bool titled = false;
	size_t i, j;
	char *s;

	for (i = 0; i < log->nr_programs; i++) {
		program = log->programs[i];
		for (j = 0; j < program->nr_env; j++) {
			const struct ktap_env *e = &program->env[j];

			if (first && j < first->nr_env &&
			    !strcmp(first->env[j].key, e->key) &&
			    !strcmp(first->env[j].value, e->value))
				continue;
			if (!titled)
				print_title("environment");
			titled = true;
			s = text("%s%s%s: %s",
				 first ? program_name(program) : "",
				 first ? ": " : "", e->key, e->value);
			print_item(0, s);
			free(s);
		}
		if (program->nr_env && !first)
			first = program;
	}
}

static void print_counts(const struct ktap_log *log,
			 const size_t count[KTAP_NR_VERDICTS], size_t sum)
{
	size_t i, fatal = 0, notes = 0;
	uint64_t missing = 0;

	for (i = 0; i < log->nr_programs; i++) {
		if (__builtin_add_overflow(missing, log->programs[i]->missing,
					   &missing))
			missing = UINT64_MAX;
	}
	for (i = 0; i < log->nr_problems; i++) {
		fatal += log->problems[i].fatal;
		notes += !log->problems[i].fatal;
	}
	printf("\n%zu propert%s: %zu ok, %zu not ok, %zu inconclusive, %zu skip",
	       sum, sum == 1 ? "y" : "ies", count[KTAP_OK], count[KTAP_NOT_OK],
	       count[KTAP_INCONCLUSIVE], count[KTAP_SKIP]);
	if (count[KTAP_XFAIL])
		printf(", %zu xfail", count[KTAP_XFAIL]);
	if (count[KTAP_XPASS])
		printf(", %zu xpass", count[KTAP_XPASS]);
	if (missing)
		printf(", %llu missing", (unsigned long long)missing);
	if (fatal)
		printf("; %zu problem%s", fatal, fatal == 1 ? "" : "s");
	if (options.strict && notes)
		printf("; %zu note%s", notes, notes == 1 ? "" : "s");
	putchar('\n');
}

static void print_log(const struct ktap_log *log)
{
	size_t count[KTAP_NR_VERDICTS], sum = ktap_count(log, count), v;

	print_properties(log);
	for (v = 0; v < KTAP_NR_VERDICTS; v++) {
		if (verdicts[v].title)
			each_result(log, v, show_with_why,
				    (void *)verdicts[v].title);
	}
	print_skips(log, count[KTAP_SKIP]);
	if (options.verbose)
		print_env(log);
	print_problems(log);
	print_counts(log, count, sum);
}

/* --- the command -------------------------------------------------------- */

static const char doc[] =
	"Prints the table of verdicts of KTAP logs: what was measured, against\n"
	"which bound, and why something is not ok. Reads standard input when no\n"
	"FILE is given, or when it is -.\n"
	"\vA log is what a test program, make run_tests or run_kselftest.sh printed;\n"
	"time stamps, console noise and CRLF do no harm. Pipe the runner: into a\n"
	"file, it loses lines.\n"
	"\n"
	"The measured value is the median [lowest..highest] of the repetitions. Of\n"
	"a test's bounded metrics the first is its property; the others are\n"
	"controls, shown when they are beyond their bound, or with -v.\n"
	"\n"
	"Exit status:\n"
	"  0   nothing is not ok, and nothing inconclusive\n"
	"  1   something is not ok, timed out, or is missing against the plan, or\n"
	"      the log contradicts itself\n"
	"  2   something was inconclusive, nothing is not ok\n"
	"  4   everything was skipped\n"
	"  5   no test ran, or the input is broken\n"
	"  64  wrong usage\n";

static const struct argp_option option_list[] = {
	{ "markdown", 'm', NULL, 0, "Print Markdown, for a mail or a report",
	  0 },
	{ "strict", 's', NULL, 0,
	  "Exit with 1 for every remark on the log, notes as well", 0 },
	{ "verbose", 'v', NULL, 0,
	  "Show all metrics, the environment, and all messages", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case 'm':
		options.markdown = true;
		return 0;
	case 's':
		options.strict = true;
		return 0;
	case 'v':
		options.verbose = true;
		return 0;
	case ARGP_KEY_ARGS:
		options.files = state->argv + state->next;
		options.nr_files = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A file that cannot be opened is reported, and the others are still read. */
static bool read_file(struct ktap_parser *parser, const char *name)
{
	bool is_stdin = !strcmp(name, "-");
	FILE *stream = is_stdin ? stdin : fopen(name, "re");
	int ret;

	if (!stream) {
		warn("%s", name);
		return false;
	}
	ret = ktap_read(parser, is_stdin ? "stdin" : name, stream);
	if (!is_stdin)
		fclose(stream);
	if (ret) {
		errno = -ret;
		err(KTAP_S_NOTHING, "%s", name);
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.args_doc = "[FILE...]",
		.doc = doc,
	};
	const char *term = getenv("TERM");
	struct ktap_parser *parser;
	enum ktap_status status;
	bool all_read;
	int i, ret;

	text_status = KTAP_S_NOTHING;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	colours = !options.markdown && isatty(STDOUT_FILENO) &&
		  !getenv("NO_COLOR") && term && strcmp(term, "dumb");

	parser = need_memory(ktap_new());
	all_read = options.nr_files || read_file(parser, "-");
	for (i = 0; i < options.nr_files; i++)
		all_read &= read_file(parser, options.files[i]);
	ret = ktap_end(parser);
	if (ret) {
		errno = -ret;
		err(KTAP_S_NOTHING, "the last line");
	}
	print_log(ktap_log(parser));
	status = ktap_status(ktap_log(parser));
	if (!all_read && status != KTAP_S_NOT_OK)
		status = KTAP_S_NOTHING;
	if (options.strict && status != KTAP_S_NOTHING &&
	    ktap_log(parser)->nr_problems)
		status = KTAP_S_NOT_OK;
	ktap_free(parser);
	if (fflush(stdout) || ferror(stdout))
		err(KTAP_S_NOTHING, "standard output");
	return status;
}
