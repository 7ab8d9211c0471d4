// SPDX-License-Identifier: GPL-2.0
#include "compare_figure.h"

#include "gnuplot.h"
#include "text.h"

#include <err.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200 /* pixels */
#define ROW 22
#define HEAD 60 /* above a panel */
#define FOOT 60 /* below, for its axis */
#define LABELS 0.46 /* of the width, left of both panels */
/* Numbers without any change are left out beyond so many rows. */
#define ROWS_MAX 60
/* Where the axis of the intervals ends, in margins */
#define EDGE 4.0

static const char *const colours[] = { "#1f4e9c", "#d9660a", "#5b8c2a",
				       "#8a3b8f", "#7f6a00", "#008b8b" };
#define NR_COLOURS (sizeof(colours) / sizeof(*colours))

static bool is_kept(const struct compare_number *n)
{
	return n->kind && !strcmp(n->kind->name, "kept") &&
	       !strcmp(n->unit, "permille");
}

static bool is_retention(const struct compare_number *n, bool all)
{
	return is_kept(n) && !n->why_shown && (all || !n->identical);
}

static bool is_interval(const struct compare_number *n, bool all)
{
	return !n->why_shown && !n->one_sided && n->claim.margin > 0 &&
	       !isnan(n->effect) && (all || !n->identical);
}

typedef bool (*listed_fn)(const struct compare_number *n, bool all);

static size_t count_rows(const struct compare_report *report,
			 size_t comparisons, listed_fn listed, bool *all)
{
	size_t nr = 0;

	*all = true;
	for (;;) {
		nr = 0;
		for (size_t i = 0; i < comparisons; i++)
			for (size_t j = 0;
			     j < report->comparisons[i].nr_numbers; j++)
				nr += listed(&report->comparisons[i].numbers[j],
					     *all);
		if (nr <= ROWS_MAX || !*all)
			return nr;
		*all = false;
	}
}

static const struct compare_number *find(const struct comparison *c,
					 const char *owner, const char *name)
{
	for (size_t i = 0; i < c->nr_numbers; i++)
		if (!strcmp(c->numbers[i].owner, owner) &&
		    !strcmp(c->numbers[i].name, name))
			return &c->numbers[i];
	return NULL;
}

/* Of set @s, 0 being the base; NULL when it has none. */
static const struct compare_summary *
summary_of(const struct compare_report *report, size_t s, const char *owner,
	   const char *name)
{
	const struct compare_number *n =
		find(&report->comparisons[s ? s - 1 : 0], owner, name);
	const struct compare_summary *summary;

	if (!n)
		return NULL;
	summary = s ? &n->b : &n->a;
	return summary->logs ? summary : NULL;
}

static double row_y(size_t row, size_t s, size_t sets)
{
	return row + 1 + 0.32 * ((double)s / (sets - 1) - 0.5);
}

struct panel {
	FILE *out;
	const struct compare_report *report;
	size_t rows;
	bool all;
	double top; /* of the figure's height, from below */
	double bottom;
	double height; /* pixels */
};

static void open_panel(const struct panel *p, const char *title,
		       const char *axis)
{
	fprintf(p->out,
		"set tmargin at screen %.4f\nset bmargin at screen %.4f\n"
		"set lmargin at screen %.2f\nset rmargin at screen 0.97\n"
		"set yrange [%.1f:0.4]\nunset ytics\n"
		"set key at screen 0.01,%.4f left bottom horizontal width 1\n"
		"set title ",
		p->top, p->bottom, LABELS, p->rows + 0.6,
		p->bottom - (FOOT - 12) / p->height);
	gnuplot_quote(p->out, title);
	fputs("\nset xlabel ", p->out);
	gnuplot_quote(p->out, axis);
	fputs("\nset ytics nomirror scale 0 (", p->out);
}

static void print_retention(const struct panel *p)
{
	static const struct {
		const char *name;
		int point;
	} controls[] = { { "once_kept", 2 },
			 { "left_alone_kept", 8 },
			 { "exact_lru_kept", 1 } };
	const struct comparison *c = &p->report->comparisons[0];
	size_t sets = p->report->nr + 1, row;
	const char *comma = "";

	open_panel(p, "Retention: median and range of all repetitions",
		   "share of the set still cached, %");
	row = 0;
	for (size_t i = 0; i < c->nr_numbers; i++) {
		const struct compare_number *n = &c->numbers[i];

		if (!is_retention(n, p->all))
			continue;
		fputs(comma, p->out);
		gnuplot_quote(p->out, n->owner);
		fprintf(p->out, " %zu", ++row);
		comma = ", ";
	}
	fputs(")\nset xrange [-2:102]\nset xtics 0,10,100\nplot ", p->out);
	comma = "";
	for (size_t s = 0; s < sets; s++) {
		const struct compare_set *set =
			s ? p->report->comparisons[s - 1].b : c->a;

		fprintf(p->out,
			"%s'-' using 2:1:3:4 with xerrorbars lw 2 pt 7 ps 0.8 lc rgb '%s' title ",
			comma, colours[s % NR_COLOURS]);
		gnuplot_quote(p->out, set->name);
		comma = ", ";
	}
	for (size_t k = 0; k < sizeof(controls) / sizeof(*controls); k++) {
		fprintf(p->out,
			", '-' using 2:1 with points pt %d ps 0.9 lc rgb '#555555' title ",
			controls[k].point);
		gnuplot_quote(p->out, controls[k].name);
	}
	fputc('\n', p->out);
	for (size_t s = 0; s < sets; s++) {
		row = 0;
		for (size_t i = 0; i < c->nr_numbers; i++) {
			const struct compare_number *n = &c->numbers[i];
			const struct compare_summary *m;

			if (!is_retention(n, p->all))
				continue;
			m = summary_of(p->report, s, n->owner, n->name);
			if (m)
				fprintf(p->out, "%.3f %.2f %.2f %.2f\n",
					row_y(row, s, sets), m->median / 10,
					m->min / 10, m->max / 10);
			row++;
		}
		fputs("e\n", p->out);
	}
	for (size_t k = 0; k < sizeof(controls) / sizeof(*controls); k++) {
		row = 0;
		for (size_t i = 0; i < c->nr_numbers; i++) {
			const struct compare_number *n = &c->numbers[i];

			if (!is_retention(n, p->all))
				continue;
			for (size_t s = 0; s < sets; s++) {
				const struct compare_summary *m =
					summary_of(p->report, s, n->owner,
						   controls[k].name);

				if (m)
					fprintf(p->out, "%.3f %.2f\n",
						row_y(row, s, sets),
						m->median / 10);
			}
			row++;
		}
		/* A plot of no points would be an error. */
		fputs("NaN NaN\ne\n", p->out);
	}
}

static double clip(double margins)
{
	return margins < -EDGE ? -EDGE : margins > EDGE ? EDGE : margins;
}

static void print_interval_rows(const struct panel *p,
				enum stat_verdict verdict)
{
	size_t row = 0;

	for (size_t i = 0; i < p->report->nr; i++) {
		const struct comparison *c = &p->report->comparisons[i];

		for (size_t j = 0; j < c->nr_numbers; j++) {
			const struct compare_number *n = &c->numbers[j];

			if (!is_interval(n, p->all))
				continue;
			row++;
			if (n->claim.verdict == verdict)
				fprintf(p->out, "%zu %.4f %.4f %.4f\n", row,
					clip(-n->claim.loss / n->claim.margin),
					clip(-n->claim.high / n->claim.margin),
					clip(-n->claim.low / n->claim.margin));
		}
	}
	fputs("NaN NaN NaN NaN\ne\n", p->out);
}

static void print_intervals(const struct panel *p)
{
	static const char *const titles[] = {
		[STAT_PASS] = "pass",
		[STAT_FAIL] = "fail",
		[STAT_UNDECIDED] = "undecided",
	};
	static const char *const tints[] = {
		[STAT_PASS] = "#2a7f3f",
		[STAT_FAIL] = "#c01c28",
		[STAT_UNDECIDED] = "#888888",
	};
	const char *comma = "";
	size_t row = 0;

	open_panel(
		p, "Change from the base, 95 % intervals",
		"in margins of the number (worse < 0 < better); what lies beyond is drawn at the edge");
	for (size_t i = 0; i < p->report->nr; i++) {
		const struct comparison *c = &p->report->comparisons[i];

		for (size_t j = 0; j < c->nr_numbers; j++) {
			const struct compare_number *n = &c->numbers[j];
			char *margin, *label;

			if (!is_interval(n, p->all))
				continue;
			margin = compare_amount(n->unit, n->claim.margin, true,
						true);
			label = text("%s%s%s %s (%s)",
				     p->report->nr > 1 ? c->b->name : "",
				     p->report->nr > 1 ? ": " : "", n->owner,
				     n->name, margin + 1);
			fputs(comma, p->out);
			gnuplot_quote(p->out, label);
			fprintf(p->out, " %zu", ++row);
			comma = ", ";
			free(label);
			free(margin);
		}
	}
	fprintf(p->out,
		")\nset xrange [-%.1f:%.1f]\nset xtics -%.0f,1,%.0f\n"
		"set arrow 1 from 0,graph 0 to 0,graph 1 nohead lc rgb '#888888'\n"
		"set arrow 2 from -1,graph 0 to -1,graph 1 nohead lw 2 dt 2 lc rgb '#c01c28'\n"
		"plot ",
		EDGE + 0.1, EDGE + 0.1, EDGE, EDGE);
	comma = "";
	for (int v = STAT_PASS; v <= STAT_UNDECIDED; v++) {
		fprintf(p->out,
			"%s'-' using 2:1:3:4 with xerrorbars lw 2 pt 7 ps 0.8 lc rgb '%s' title '%s'",
			comma, tints[v], titles[v]);
		comma = ", ";
	}
	fputc('\n', p->out);
	for (int v = STAT_PASS; v <= STAT_UNDECIDED; v++)
		print_interval_rows(p, v);
}

struct drawing {
	struct panel kept, change;
	double height;
};

static void make_drawing(struct drawing *d, const struct compare_report *report)
{
	double used = HEAD;

	*d = (struct drawing){ .kept.report = report, .change.report = report };
	d->kept.rows = count_rows(report, 1, is_retention, &d->kept.all);
	d->change.rows =
		count_rows(report, report->nr, is_interval, &d->change.all);
	d->height =
		2 * (HEAD + FOOT) + ROW * (d->kept.rows + d->change.rows + 2);
	d->kept.height = d->height;
	d->change.height = d->height;
	d->kept.top = 1 - used / d->height;
	used += ROW * (d->kept.rows + 1);
	d->kept.bottom = 1 - used / d->height;
	used += FOOT + HEAD;
	d->change.top = 1 - used / d->height;
	used += ROW * (d->change.rows + 1);
	d->change.bottom = 1 - used / d->height;
}

static void print_script(FILE *out, const void *arg)
{
	const struct drawing *d = arg;
	struct panel kept = d->kept, change = d->change;

	kept.out = out;
	change.out = out;
	fputs("set multiplot\nset grid xtics lc rgb '#dddddd'\n"
	      "set border 3\n"
	      "set xtics nomirror\n",
	      out);
	if (kept.rows)
		print_retention(&kept);
	if (change.rows)
		print_intervals(&change);
	if (!kept.rows && !change.rows)
		fputs("set label 1 'no retention and no interval to show' at screen 0.3,0.5\n"
		      "unset border\nunset tics\nplot [0:1][0:1] NaN notitle\n",
		      out);
	fputs("unset multiplot\n", out);
}

bool compare_figure(const char *path, const struct compare_report *report)
{
	struct drawing d;
	int err;

	make_drawing(&d, report);
	err = gnuplot_draw(path, WIDTH, (unsigned int)d.height, print_script,
			   &d);
	if (err == -EOPNOTSUPP)
		warnx("%s: not drawn: gnuplot is missing (Debian: gnuplot-nox)",
		      path);
	else if (err == -EIO)
		warnx("%s: not drawn: gnuplot failed, see above", path);
	else if (err)
		warnx("%s: not drawn: %s", path, strerror(-err));
	return !err;
}
