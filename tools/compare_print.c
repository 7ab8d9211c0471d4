// SPDX-License-Identifier: GPL-2.0
#include "compare_print.h"

#include "printable.h"
#include "text.h"

#include <err.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A mail is quoted, so it stays below 80. */
#define LINE_COLUMNS 76
#define NAME_COLUMNS 20
#define NR_COLUMNS 8
#define COLUMN_GAP 2

/* ----- text ----- */

struct page {
	FILE *out;
	bool markdown;
	bool verbose;
};

static void print_n(FILE *out, char c, size_t n)
{
	while (n--)
		fputc(c, out);
}

/* What Markdown would take for its own is escaped. */
static void print_escaped(const struct page *page, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (page->markdown && strchr("\\|*`<", s[i]))
			fputc('\\', page->out);
		fputc(s[i], page->out);
	}
}

/* From @column on; lines but the first begin at @indent. */
static void print_wrapped(const struct page *page, const char *s, size_t column,
			  size_t indent)
{
	bool begun = false;
	size_t len;

	for (; *s; s += len) {
		s += strspn(s, " ");
		len = strcspn(s, " ");
		if (!len)
			break;
		if (begun && column + 1 + len > LINE_COLUMNS) {
			fputc('\n', page->out);
			column = indent;
			print_n(page->out, ' ', column);
		} else if (begun) {
			fputc(' ', page->out);
			column++;
		}
		print_escaped(page, s, len);
		column += len;
		begun = true;
	}
	fputc('\n', page->out);
}

static void print_item(const struct page *page, const char *s)
{
	size_t indent = page->markdown ? 3 : 4;

	fputs(page->markdown ? "-  " : "  - ", page->out);
	print_wrapped(page, s, indent, indent);
}

static void print_title(const struct page *page, const char *title)
{
	fprintf(page->out, page->markdown ? "\n**%s**\n\n" : "\n%s\n", title);
}

/* Cells of a heading line but the first are NULL: it stands over all columns. */
struct line {
	char *cells[NR_COLUMNS];
	bool heading;
};

struct grid {
	const char *titles[NR_COLUMNS];
	size_t columns;
	struct line *lines;
	size_t nr;
};

static struct line *add_line(struct grid *grid)
{
	return one_more(&grid->lines, &grid->nr, sizeof(*grid->lines));
}

static size_t escaped_columns(const struct page *page, const char *s)
{
	size_t n = printable_columns(s);

	for (; page->markdown && *s; s++)
		n += !!strchr("\\|*`<", *s);
	return n;
}

static void print_cells(const struct page *page, const struct grid *grid,
			const size_t *width, const char *const *cells)
{
	size_t blanks = 0;

	if (page->markdown)
		fputs("| ", page->out);
	else
		blanks = 2;
	for (size_t c = 0; c < grid->columns; c++) {
		const char *cell = cells[c] ? cells[c] : "";
		size_t have = escaped_columns(page, cell);

		if (*cell || page->markdown) {
			print_n(page->out, ' ', blanks);
			blanks = 0;
		}
		print_escaped(page, cell, strlen(cell));
		if (page->markdown)
			fprintf(page->out, "%*s |%s", (int)(width[c] - have),
				"", c + 1 < grid->columns ? " " : "");
		else
			blanks += width[c] - have + COLUMN_GAP;
	}
	fputc('\n', page->out);
}

static void print_grid(const struct page *page, const struct grid *grid)
{
	size_t width[NR_COLUMNS] = { 0 };

	if (!grid->nr)
		return;
	for (size_t c = 0; c < grid->columns; c++) {
		width[c] = printable_columns(grid->titles[c]);
		for (size_t i = 0; i < grid->nr; i++) {
			const char *cell = grid->lines[i].cells[c];
			size_t n = cell ? escaped_columns(page, cell) : 0;

			if (grid->lines[i].heading)
				continue;
			width[c] = n > width[c] ? n : width[c];
		}
	}
	print_cells(page, grid, width, grid->titles);
	if (page->markdown) {
		fputc('|', page->out);
		for (size_t c = 0; c < grid->columns; c++) {
			print_n(page->out, '-', width[c] + 2);
			fputc('|', page->out);
		}
		fputc('\n', page->out);
	}
	for (size_t i = 0; i < grid->nr; i++) {
		const struct line *line = &grid->lines[i];

		if (!line->heading) {
			print_cells(page, grid, width,
				    (const char *const *)line->cells);
			continue;
		}
		/* Markdown takes cells that a row lacks for empty ones. */
		fputs(page->markdown ? "| " : "", page->out);
		print_escaped(page, line->cells[0], strlen(line->cells[0]));
		fputs(page->markdown ? " |\n" : "\n", page->out);
	}
}

static void free_grid(struct grid *grid)
{
	for (size_t i = 0; i < grid->nr; i++)
		for (size_t c = 0; c < NR_COLUMNS; c++)
			free(grid->lines[i].cells[c]);
	free(grid->lines);
}

/* ----- numbers ----- */

static char *range_of(const char *unit, const struct compare_summary *s)
{
	char *median, *min, *max, *out;

	if (!s->logs)
		return need_memory(strdup("-"));
	median = compare_amount(unit, s->median, false, false);
	min = compare_amount(unit, s->min, false, false);
	max = compare_amount(unit, s->max, false, false);
	if (s->min == s->max)
		out = need_memory(strdup(median));
	else
		out = text("%s [%s..%s]", median, min, max);
	free(median);
	free(min);
	free(max);
	return out;
}

static char *effect_of(const struct compare_number *n)
{
	char *effect = compare_amount(n->unit, n->effect, true, false), *out;

	if (isnan(n->effect_pct))
		return effect;
	out = text("%s (%+.0f %%)", effect,
		   fabs(n->effect_pct) < 0.5 ? 0 : n->effect_pct);
	free(effect);
	return out;
}

/* The interval of the effect; that of the loss has the direction in it. */
static void effect_interval(const struct compare_number *n, double *low,
			    double *high)
{
	bool flip = !n->kind || n->kind->direction != LOWER_IS_BETTER;

	*low = flip ? -n->claim.high : n->claim.low;
	*high = flip ? -n->claim.low : n->claim.high;
}

static char *interval_of(const struct compare_number *n)
{
	char *low, *high, *out;
	double a, b;

	if (isnan(n->effect))
		return need_memory(strdup("-"));
	if (n->claim.exact)
		return need_memory(strdup("exact"));
	effect_interval(n, &a, &b);
	if (isinf(a) && isinf(b))
		return need_memory(strdup("unbounded"));
	low = compare_amount(n->unit, a, true, false);
	high = compare_amount(n->unit, b, true, false);
	out = text("[%s..%s]", low, high);
	free(low);
	free(high);
	return out;
}

static char *pairs_of(const struct compare_number *n)
{
	char *first, *second, *out;

	if (isnan(n->pairs[0]))
		return need_memory(strdup("-"));
	first = compare_amount(n->unit, n->pairs[0], true, false);
	second = compare_amount(n->unit, n->pairs[1], true, false);
	out = text("%s, %s", first, second);
	free(first);
	free(second);
	return out;
}

/* The median did not move by as much as the margin, and it passes. */
static bool is_small_pass(const struct compare_number *n)
{
	return n->claim.verdict == STAT_PASS &&
	       fabs(n->effect) < n->claim.margin;
}

/*
 * Is it in the table? What is equal, or only shown, is not by itself; nor is, in
 * a mail, what passes as it was expected to.
 */
static bool is_listed(const struct page *page, const struct compare_number *n)
{
	if (page->verbose || n->one_sided)
		return true;
	if (n->why_shown || n->identical)
		return false;
	return !page->markdown || !is_small_pass(n);
}

static char *evidence_of(const struct compare_number *n)
{
	if (n->nr_pairs)
		return text("%zu pairs", n->nr_pairs);
	return text("%zu+%zu", n->a.logs, n->b.logs);
}

static void add_heading(struct grid *grid, char *heading)
{
	struct line *line = add_line(grid);

	line->heading = true;
	line->cells[0] = heading;
}

static void add_number_line(struct grid *grid, const struct compare_number *n)
{
	struct line *line = add_line(grid);

	line->cells[0] = text("%s, %s", n->name, compare_unit(n->unit));
	line->cells[1] = range_of(n->unit, &n->a);
	line->cells[2] = range_of(n->unit, &n->b);
	line->cells[3] = effect_of(n);
	line->cells[4] = interval_of(n);
	line->cells[5] = pairs_of(n);
	line->cells[6] = evidence_of(n);
	if (n->why_shown && !n->one_sided)
		line->cells[7] = text("(%s)", n->why_shown);
	else
		line->cells[7] = text("%s", compare_number_verdict(n));
}

static void print_table_numbers(const struct page *page,
				const struct comparison *c)
{
	struct grid grid = { .titles = { "number", c->a->name, c->b->name,
					 "change", "95 %", "pairs 1-2, 4-3",
					 "n", "verdict" },
			     .columns = NR_COLUMNS };
	const char *owner = NULL;

	for (size_t i = 0; i < c->nr_numbers; i++) {
		const struct compare_number *n = &c->numbers[i];

		if (!is_listed(page, n))
			continue;
		if (!owner || strcmp(owner, n->owner))
			add_heading(&grid, text("%s", n->owner));
		owner = n->owner;
		add_number_line(&grid, n);
	}
	print_grid(page, &grid);
	free_grid(&grid);
}

/*
 * Titles of the columns of a mail; names that are too long are told once, in the
 * list of what is compared.
 */
static bool names_fit(const struct comparison *c)
{
	return printable_columns(c->a->name) <= NAME_COLUMNS &&
	       printable_columns(c->b->name) <= NAME_COLUMNS;
}

/* One table for all of it would be too wide for a mail. */
static void print_mail_numbers(const struct page *page,
			       const struct comparison *c)
{
	bool fit = names_fit(c);
	struct grid values = { .titles = { fit ? c->a->name : "A",
					   fit ? c->b->name : "B", "change",
					   "verdict" },
			       .columns = 4 };
	struct grid evidence = { .titles = { "number", "95 % of the change",
					     "pairs 1-2", "pairs 4-3", "n" },
				 .columns = 5 };
	struct line *line;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_numbers; i++) {
		const struct compare_number *n = &c->numbers[i];
		bool shown = n->why_shown && !n->one_sided;

		if (!is_listed(page, n))
			continue;
		add_heading(&values,
			    text("%zu: %s %s, %s%s%s%s", ++nr, n->owner,
				 n->name, compare_unit(n->unit),
				 shown ? " (" : "", shown ? n->why_shown : "",
				 shown ? ")" : ""));
		line = add_line(&values);
		line->cells[0] = range_of(n->unit, &n->a);
		line->cells[1] = range_of(n->unit, &n->b);
		line->cells[2] = effect_of(n);
		line->cells[3] = text("%s", compare_number_verdict(n));
		line = add_line(&evidence);
		line->cells[0] = text("%zu", nr);
		line->cells[1] = interval_of(n);
		for (int pair = 0; pair < 2; pair++)
			line->cells[2 + pair] = compare_amount(
				n->unit, n->pairs[pair], true, false);
		line->cells[4] = evidence_of(n);
	}
	print_grid(page, &values);
	if (nr)
		fputc('\n', page->out);
	print_grid(page, &evidence);
	free_grid(&values);
	free_grid(&evidence);
}

/* What the tables leave out */
__attribute__((format(printf, 3, 4))) static void
print_more(const struct page *page, size_t nr, const char *fmt, ...)
{
	va_list args;

	if (!nr)
		return;
	fprintf(page->out, "%s%zu more ", page->markdown ? "-  " : "", nr);
	va_start(args, fmt);
	vfprintf(page->out, fmt, args);
	va_end(args);
	fputc('\n', page->out);
}

static void print_numbers(const struct page *page, const struct comparison *c)
{
	size_t listed = 0, identical = 0, undecided = 0, small = 0, shown = 0;

	if (!c->nr_numbers)
		return;
	for (size_t i = 0; i < c->nr_numbers; i++) {
		const struct compare_number *n = &c->numbers[i];

		if (is_listed(page, n)) {
			listed++;
		} else if (n->why_shown) {
			shown++;
		} else if (n->identical) {
			identical++;
			undecided += n->claim.verdict == STAT_UNDECIDED;
		} else {
			small++;
		}
	}
	print_title(page, "numbers");
	if (page->markdown)
		print_mail_numbers(page, c);
	else
		print_table_numbers(page, c);
	if (page->markdown && listed && (identical || small || shown))
		fputc('\n', page->out);
	if (undecided)
		print_more(
			page, identical,
			"asserted, with no spread and no difference (%zu of them undecided)",
			undecided);
	else
		print_more(page, identical,
			   "asserted, with no spread and no difference");
	print_more(page, small, "passed, changed by less than the margin");
	print_more(page, shown, "that are shown only: see -v");
}

/* ----- results ----- */

static const char *change_word(const struct compare_row *row)
{
	switch (row->change) {
	case CHANGE_WORSE:
		return "worse";
	case CHANGE_BETTER:
		return "better";
	case CHANGE_DIFFERS:
		return row->fails ? "differs" : "differs, allowed";
	case CHANGE_MIXED:
		return "not stable";
	case CHANGE_NONE:
		break;
	}
	return "same";
}

/* Those that got worse are reasons of the verdict: a mail has them above. */
static bool print_result_item(const struct page *page,
			      const struct comparison *c,
			      const struct compare_row *row)
{
	char *a, *b, *s;

	if (row->change == CHANGE_WORSE)
		return false;
	a = compare_counts(row->a);
	b = compare_counts(row->b);
	s = text("%s: %s (%s in %s, %s in %s)", row->result->name,
		 change_word(row), a, c->a->name, b, c->b->name);
	print_item(page, s);
	free(a);
	free(b);
	free(s);
	return true;
}

static void print_results(const struct page *page, const struct comparison *c)
{
	static const char *const words[] = {
		[CHANGE_NONE] = "the same",
		[CHANGE_WORSE] = "worse",
		[CHANGE_BETTER] = "better",
		[CHANGE_DIFFERS] = "told in one set only",
		[CHANGE_MIXED] = "not stable",
	};
	struct grid grid = { .titles = { "result", c->a->name, c->b->name,
					 "change" },
			     .columns = 4 };
	size_t count[CHANGE_MIXED + 1] = { 0 }, silent = 0, items = 0;
	struct line *line;

	print_title(page, "results");

	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct compare_row *row = &c->rows[i];

		if (!row->result)
			continue;
		/* That a program ends is worth a word only where it does not. */
		if (row->result->whole && row->change == CHANGE_NONE &&
		    !row->a[KTAP_NOT_OK])
			continue;
		count[row->change]++;
		silent += row->change == CHANGE_NONE && !row->judged;
		if (row->change == CHANGE_NONE && !page->verbose)
			continue;
		if (page->markdown) {
			items += print_result_item(page, c, row);
			continue;
		}
		line = add_line(&grid);
		line->cells[0] = text("%s", row->result->name);
		line->cells[1] = compare_counts(row->a);
		line->cells[2] = compare_counts(row->b);
		line->cells[3] = text("%s", change_word(row));
	}
	print_grid(page, &grid);
	if (items)
		fputc('\n', page->out);
	free_grid(&grid);
	for (size_t i = 0; i <= CHANGE_MIXED; i++)
		if (count[i] || i == CHANGE_NONE) {
			fprintf(page->out, "%s%zu %s", i ? ", " : "", count[i],
				words[i]);
			if (i == CHANGE_NONE && silent)
				fprintf(page->out,
					" (%zu of them told nothing)", silent);
		}
	fputc('\n', page->out);
}

/* ----- a page ----- */

/* @letter: the title of its column, or NULL if that is its name */
static void print_set(const struct page *page, const struct compare_set *set,
		      const char *letter)
{
	const char *kernel = compare_env_value(set, "kernel");
	static const char *const shown[] = { "machine", "cpus", "memory",
					     "memcg", "fs" };
	char *s = text("%s%s%s: %s%s%s, %zu log%s (%s)", letter ? letter : "",
		       letter ? " is " : "", set->name,
		       kernel ? kernel : "kernel not known",
		       set->reclaim ? ", " : "",
		       set->reclaim ? set->reclaim : "", set->nr_logs,
		       set->nr_logs == 1 ? "" : "s", set->path);
	char *longer;

	for (size_t i = 0; page->verbose && i < sizeof(shown) / sizeof(*shown);
	     i++) {
		const char *value = compare_env_value(set, shown[i]);

		longer = text("%s; %s %s", s, shown[i], value ? value : "-");
		free(s);
		s = longer;
	}
	print_item(page, s);
	free(s);
}

static void print_design(const struct page *page,
			 const struct compare_report *report,
			 const struct comparison *c)
{
	char *s;

	if (c->blocked)
		s = text(
			"%zu complete block%s, compared within: the signs of %zu pairs are permuted",
			c->nr_blocks, c->nr_blocks == 1 ? "" : "s",
			2 * c->nr_blocks);
	else
		s = text(
			"independent samples, no blocks: the labels of %zu and %zu logs are permuted, and a drift of the machine counts as an effect",
			c->a->nr_logs, c->b->nr_logs);
	print_item(page, s);
	free(s);
	if (report->input->only) {
		s = text("only results that match %s", report->input->only);
		print_item(page, s);
		free(s);
	}
}

static void print_words(const struct page *page, const char *title,
			const struct compare_words *words)
{
	if (!words->nr)
		return;
	print_title(page, title);
	for (size_t i = 0; i < words->nr; i++)
		print_item(page, words->words[i]);
}

static void print_verdict(const struct page *page, enum compare_verdict verdict,
			  const char *what)
{
	static const char *const loud[] = {
		[COMPARE_PASS] = "PASS",
		[COMPARE_FAIL] = "FAIL",
		[COMPARE_UNDECIDED] = "UNDECIDED",
		[COMPARE_BROKEN] = "BROKEN INPUT",
	};

	fprintf(page->out, page->markdown ? "**%s**: " : "%s: ", loud[verdict]);
	print_wrapped(page, what,
		      strlen(loud[verdict]) + (page->markdown ? 6 : 2), 0);
	fputs(page->markdown ? "\n" : "", page->out);
}

static void print_comparison(const struct page *page,
			     const struct compare_report *report,
			     const struct comparison *c)
{
	char *what =
		text("%s against %s: %zu number%s asserted, in a family of %zu",
		     c->b->name, c->a->name, c->nr_asserted,
		     c->nr_asserted == 1 ? "" : "s", report->family);
	bool letters = page->markdown && !names_fit(c);

	print_verdict(page, c->verdict, what);
	free(what);
	for (size_t i = 0; i < c->reasons.nr; i++)
		print_item(page, c->reasons.words[i]);
	print_title(page, "compared");
	print_set(page, c->a, letters ? "A" : NULL);
	print_set(page, c->b, letters ? "B" : NULL);
	print_design(page, report, c);
	if (c->nr_rows) {
		print_results(page, c);
		print_numbers(page, c);
	}
}

static void print_page(const struct page *page,
		       const struct compare_report *report)
{
	if (report->verdict == COMPARE_BROKEN) {
		print_verdict(page, report->verdict, "nothing is compared");
		for (size_t i = 0; i < report->input->refused.nr; i++)
			print_item(page, report->input->refused.words[i]);
		return;
	}
	for (size_t i = 0; i < report->nr; i++) {
		if (i)
			fputc('\n', page->out);
		print_comparison(page, report, &report->comparisons[i]);
	}
	print_words(page, "notes", &report->input->notes);
}

void compare_print_table(FILE *out, const struct compare_report *report,
			 bool verbose)
{
	const struct page page = { .out = out, .verbose = verbose };

	print_page(&page, report);
}

void compare_print_markdown(FILE *out, const struct compare_report *report,
			    bool verbose)
{
	const struct page page = { .out = out,
				   .markdown = true,
				   .verbose = verbose };

	print_page(&page, report);
}

/* ----- JUnit ----- */

/* XML 1.0 allows no control characters; printable strings have none. */
static void print_xml(FILE *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*s, out);
		}
	}
}

struct junit_count {
	size_t tests;
	size_t failures;
	size_t errors;
	size_t skipped;
};

/* @kind: failure, error or skipped; NULL: passed. @out: NULL to count only. */
static void junit_case(FILE *out, struct junit_count *count,
		       const char *class_name, const char *name,
		       const char *kind, const char *message)
{
	count->tests++;
	if (kind) {
		count->failures += !strcmp(kind, "failure");
		count->errors += !strcmp(kind, "error");
		count->skipped += !strcmp(kind, "skipped");
	}
	if (!out)
		return;
	fputs("    <testcase classname=\"", out);
	print_xml(out, class_name);
	fputs("\" name=\"", out);
	print_xml(out, name);
	if (!kind) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\">\n      <%s message=\"", kind);
	print_xml(out, message);
	fputs("\"/>\n    </testcase>\n", out);
}

static void junit_row(FILE *out, struct junit_count *count,
		      const struct comparison *c, const struct compare_row *row)
{
	char *a, *b, *message;
	const char *kind = NULL;

	if (!row->result)
		return;
	a = compare_counts(row->a);
	b = compare_counts(row->b);
	message = text("%s in %s, %s in %s%s%s", a, c->a->name, b, c->b->name,
		       row->words_b ? ": " : "",
		       row->words_b ? row->words_b : "");
	if (row->fails)
		kind = "failure";
	else if (!row->judged)
		kind = "skipped";
	junit_case(out, count, c->b->name, row->result->name, kind, message);
	free(a);
	free(b);
	free(message);
}

static void junit_number(FILE *out, struct junit_count *count,
			 const struct comparison *c,
			 const struct compare_number *n)
{
	char *name = text("%s %s", n->owner, n->name);
	char *effect = effect_of(n), *interval = interval_of(n);
	char *a = range_of(n->unit, &n->a), *b = range_of(n->unit, &n->b);
	const char *kind = NULL;
	char *message = text("%s %s in %s, %s in %s; change %s, 95 %% %s%s", a,
			     compare_unit(n->unit), c->a->name, b, c->b->name,
			     effect, interval,
			     n->claim.verdict == STAT_UNDECIDED ?
				     "; undecided: too little evidence" :
				     "");

	if (n->one_sided)
		kind = n->why_shown ? "skipped" : "failure";
	else if (n->why_shown)
		kind = "skipped";
	else if (n->claim.verdict == STAT_FAIL)
		kind = "failure";
	else if (n->claim.verdict == STAT_UNDECIDED)
		kind = "error";
	junit_case(out, count, c->b->name, name, kind, message);
	free(name);
	free(effect);
	free(interval);
	free(a);
	free(b);
	free(message);
}

static void junit_cases(FILE *out, struct junit_count *count,
			const struct comparison *c)
{
	for (size_t i = 0; i < c->b->nr_died; i++)
		junit_case(out, count, c->b->name, c->b->died[i].name,
			   "failure", c->b->died[i].tail);
	for (size_t i = 0; i < c->nr_rows; i++)
		junit_row(out, count, c, &c->rows[i]);
	for (size_t i = 0; i < c->nr_numbers; i++)
		junit_number(out, count, c, &c->numbers[i]);
}

static void junit_suite(FILE *out, const char *name,
			const struct junit_count *count)
{
	fputs("  <testsuite name=\"", out);
	print_xml(out, name);
	fprintf(out,
		"\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		count->tests, count->failures, count->errors, count->skipped);
}

void compare_print_junit(FILE *out, const struct compare_report *report)
{
	const struct compare_words *refused = &report->input->refused;
	struct junit_count count = { 0 };

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
	      out);
	if (report->verdict == COMPARE_BROKEN) {
		count.tests = refused->nr;
		count.errors = refused->nr;
		junit_suite(out, "mm-cache-compare", &count);
		for (size_t i = 0; i < refused->nr; i++)
			junit_case(out, &count, "input", "input", "error",
				   refused->words[i]);
		fputs("  </testsuite>\n</testsuites>\n", out);
		return;
	}
	for (size_t i = 0; i < report->nr; i++) {
		const struct comparison *c = &report->comparisons[i];
		char *name = text("%s against %s", c->b->name, c->a->name);

		memset(&count, 0, sizeof(count));
		junit_cases(NULL, &count, c);
		junit_suite(out, name, &count);
		junit_cases(out, &count, c);
		fputs("  </testsuite>\n", out);
		free(name);
	}
	fputs("</testsuites>\n", out);
}

/* ----- JSON ----- */

static json_t *need_json(json_t *value)
{
	return need_memory(value);
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, need_json(value)))
		errx(text_status, "memory");
}

static void add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, need_json(value)))
		errx(text_status, "memory");
}

/* What is not known, or has no end, is null. */
static json_t *real_of(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *string_of(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *list_of(const struct compare_words *words)
{
	json_t *list = need_json(json_array());

	for (size_t i = 0; i < words->nr; i++)
		add(list, json_string(words->words[i]));
	return list;
}

static json_t *json_of_set(const struct compare_set *set)
{
	json_t *o = need_json(json_object()), *env = need_json(json_object());
	json_t *logs = need_json(json_array()), *died = need_json(json_array());

	put(o, "name", json_string(set->name));
	put(o, "path", json_string(set->path));
	put(o, "reclaim", string_of(set->reclaim));
	for (size_t i = 0; i < set->nr_env; i++)
		put(env, set->env[i].key, json_string(set->env[i].value));
	put(o, "env", env);
	for (size_t i = 0; i < set->nr_logs; i++)
		add(logs, json_string(set->logs[i].name));
	put(o, "logs", logs);
	for (size_t i = 0; i < set->nr_died; i++) {
		json_t *d = need_json(json_object());

		put(d, "name", json_string(set->died[i].name));
		put(d, "last_lines", json_string(set->died[i].tail));
		add(died, d);
	}
	put(o, "died", died);
	return o;
}

static json_t *json_of_row(const struct compare_row *row)
{
	json_t *o = need_json(json_object());
	char *a = compare_counts(row->a), *b = compare_counts(row->b);

	put(o, "name", json_string(row->result->name));
	put(o, "a", json_string(a));
	put(o, "b", json_string(b));
	put(o, "change", json_string(change_word(row)));
	put(o, "fails", json_boolean(row->fails));
	put(o, "words_a", string_of(row->words_a));
	put(o, "words_b", string_of(row->words_b));
	free(a);
	free(b);
	return o;
}

static json_t *json_of_summary(const struct compare_summary *s)
{
	json_t *o = need_json(json_object());

	put(o, "logs", json_integer(s->logs));
	put(o, "median", s->logs ? real_of(s->median) : json_null());
	put(o, "min", s->logs ? real_of(s->min) : json_null());
	put(o, "max", s->logs ? real_of(s->max) : json_null());
	return o;
}

static json_t *json_of_number(const struct compare_number *n)
{
	json_t *o = need_json(json_object());
	double low, high;

	effect_interval(n, &low, &high);
	put(o, "owner", json_string(n->owner));
	put(o, "name", json_string(n->name));
	put(o, "unit", json_string(n->unit));
	put(o, "a", json_of_summary(&n->a));
	put(o, "b", json_of_summary(&n->b));
	put(o, "effect", real_of(n->effect));
	put(o, "effect_percent", real_of(n->effect_pct));
	put(o, "low", real_of(low));
	put(o, "high", real_of(high));
	put(o, "pairs", json_integer(n->nr_pairs));
	put(o, "pair_1_2", real_of(n->pairs[0]));
	put(o, "pair_4_3", real_of(n->pairs[1]));
	put(o, "exact", json_boolean(n->claim.exact));
	put(o, "asserted", json_boolean(!n->why_shown));
	put(o, "why_shown", string_of(n->why_shown));
	if (!n->why_shown && !n->one_sided) {
		put(o, "direction",
		    json_string(n->kind && n->kind->direction ==
							LOWER_IS_BETTER ?
					"lower is better" :
					"higher is better"));
		put(o, "margin", real_of(n->claim.margin));
		put(o, "p_fail", real_of(n->claim.p_fail));
		put(o, "p_pass", real_of(n->claim.p_pass));
		put(o, "further_blocks", json_integer(n->claim.further));
	}
	put(o, "verdict", json_string(compare_number_verdict(n)));
	return o;
}

static json_t *json_of_comparison(const struct comparison *c)
{
	json_t *o = need_json(json_object());
	json_t *rows = need_json(json_array()),
	       *numbers = need_json(json_array());

	put(o, "a", json_of_set(c->a));
	put(o, "b", json_of_set(c->b));
	put(o, "verdict", json_string(compare_verdict_name(c->verdict)));
	put(o, "reasons", list_of(&c->reasons));
	put(o, "design", json_string(c->blocked ? "pairs" : "samples"));
	put(o, "blocks", json_integer(c->nr_blocks));
	put(o, "incomplete_blocks", json_integer(c->nr_incomplete));
	put(o, "further_blocks", json_integer(c->further));
	for (size_t i = 0; i < c->nr_rows; i++)
		if (c->rows[i].result)
			add(rows, json_of_row(&c->rows[i]));
	put(o, "results", rows);
	for (size_t i = 0; i < c->nr_numbers; i++)
		add(numbers, json_of_number(&c->numbers[i]));
	put(o, "numbers", numbers);
	return o;
}

int compare_print_json(FILE *out, const struct compare_report *report)
{
	json_t *o = need_json(json_object()), *list = need_json(json_array());
	bool broken = report->verdict == COMPARE_BROKEN;
	int ret;

	put(o, "verdict", json_string(compare_verdict_name(report->verdict)));
	put(o, "further_blocks", json_integer(report->further));
	put(o, "family", json_integer(report->family));
	put(o, "fail_level", json_real(STAT_FAIL_LEVEL));
	put(o, "pass_level", json_real(STAT_PASS_LEVEL));
	put(o, "only", string_of(report->input->only));
	put(o, "across", list_of(&report->input->across));
	put(o, "refused", list_of(&report->input->refused));
	put(o, "notes", list_of(&report->input->notes));
	for (size_t i = 0; !broken && i < report->nr; i++)
		add(list, json_of_comparison(&report->comparisons[i]));
	put(o, "comparisons", list);
	ret = json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
	json_decref(o);
	fputc('\n', out);
	return ret ? -EIO : 0;
}
