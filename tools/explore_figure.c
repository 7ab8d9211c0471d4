// SPDX-License-Identifier: GPL-2.0
#include "explore_figure.h"

#include "explore_report.h"
#include "gnuplot.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1000
#define HEIGHT 560
#define TALL 760
#define LINES_MAX 8 /* runs in one figure that can be told apart */
#define BIN_READS_MIN 20 /* of a point on the curve */

/* What it was measured on, below the title. */
static void put_title(FILE *to, const struct exploration *e, const char *title)
{
	const char *kernel = "", *machine = "";
	char text[400];
	char scale[40] = "";

	for (unsigned int i = 0; i < e->env->nr; i++) {
		if (!strcmp(e->env->facts[i].key, "kernel"))
			kernel = e->env->facts[i].value;
		if (!strcmp(e->env->facts[i].key, "machine"))
			machine = e->env->facts[i].value;
	}
	if (e->scale != 1)
		snprintf(scale, sizeof(scale), ", scaled by 1/%.4g",
			 1 / e->scale);
	snprintf(text, sizeof(text), "%s\n%s, machine %s%s", title, kernel,
		 machine, scale);
	fprintf(to, "set title ");
	for (char *line = text; line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		gnuplot_quote(to, line);
		if (end)
			fprintf(to, ".\"\\n\".");
		line = end;
	}
	fputc('\n', to);
}

struct drawing {
	const struct exploration *e;
	void (*draw)(FILE *to, const struct exploration *e);
	unsigned int height;
};

static void print_script(FILE *to, const void *arg)
{
	const struct drawing *d = arg;

	d->draw(to, d->e);
}

static int draw(const struct drawing *d, const char *name)
{
	static const char *const kinds[] = { "svg", "png" };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(kinds) / sizeof(*kinds); i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s.%s", name, kinds[i]) >=
		    (int)sizeof(path))
			return -ENAMETOOLONG;
		err = gnuplot_draw(path, WIDTH, d->height, print_script, d);
	}
	return err;
}

/* ----- the table ----- */

static bool is_drawn(const struct exploration *e, unsigned int row)
{
	return e->plan->rows[row].figure == e->plan->drawn;
}

static void put_points(FILE *to, const struct exploration *e, unsigned int c)
{
	const struct plan *plan = e->plan;
	double by = figure_is_share(plan->drawn) ? 100 : 1;
	unsigned int at = 0;

	fprintf(to, "$here%u << END\n", c);
	for (unsigned int r = 0; r < plan->nr_rows; r++) {
		int run = report_run(e, &plan->rows[r], &plan->columns[c]);

		if (!is_drawn(e, r))
			continue;
		if (run >= 0) {
			struct spread s = spread_of(&e->results[run],
						    plan->rows[r].pass,
						    plan->drawn);

			fprintf(to, "%u %g %g %g\n", at, by * s.mean,
				by * s.min, by * s.max);
		}
		at++;
	}
	fprintf(to, "END\n$report%u << END\n", c);
	at = 0;
	for (unsigned int r = 0; r < plan->nr_rows; r++) {
		const char *text = plan->rows[r].report[c];

		if (!is_drawn(e, r))
			continue;
		/* Its first number, if it begins with one. */
		if (*text >= '0' && *text <= '9')
			fprintf(to, "%u %g\n", at, strtod(text, NULL));
		at++;
	}
	fprintf(to, "END\n");
}

static bool has_report(const struct exploration *e, unsigned int c)
{
	for (unsigned int r = 0; r < e->plan->nr_rows; r++)
		if (is_drawn(e, r) && e->plan->rows[r].report[c][0] >= '0' &&
		    e->plan->rows[r].report[c][0] <= '9')
			return true;
	return false;
}

static bool has_points(const struct exploration *e, unsigned int c)
{
	for (unsigned int r = 0; r < e->plan->nr_rows; r++)
		if (is_drawn(e, r) &&
		    report_run(e, &e->plan->rows[r], &e->plan->columns[c]) >= 0)
			return true;
	return false;
}

static void draw_table(FILE *to, const struct exploration *e)
{
	const struct plan *plan = e->plan;
	const struct figure_info *f = &figures[plan->drawn];
	unsigned int at = 0;
	const char *comma = "";

	put_title(to, e, plan->title);
	fprintf(to, "set ylabel \"%s%s%s\"\n", f->label, *f->unit ? ", " : "",
		f->unit);
	if (figure_is_share(plan->drawn))
		fprintf(to, "set yrange [-2:105]\n");
	else if (plan->log)
		fprintf(to, "set logscale y\n");
	else
		fprintf(to, "set yrange [0:*]\n");
	fprintf(to,
		"set lmargin at screen 0.13\nset xtics rotate by 50 right (");
	for (unsigned int r = 0; r < plan->nr_rows; r++) {
		if (!is_drawn(e, r))
			continue;
		fprintf(to, "%s", at ? ", " : "");
		gnuplot_quote(to, plan->rows[r].label);
		fprintf(to, " %u", at++);
	}
	fprintf(to, ")\nset xrange [-0.6:%g]\nset grid y\n", at - 0.4);
	fprintf(to, "set key outside right top\nset bars small\n");
	for (unsigned int c = 0; c < plan->nr_columns; c++)
		put_points(to, e, c);
	fprintf(to, "plot ");
	for (unsigned int c = 0; c < plan->nr_columns; c++) {
		double off = 0.5 * ((c + 0.5) / plan->nr_columns - 0.5);

		if (has_points(e, c)) {
			fprintf(to,
				"%s$here%u using ($1+%g):2:3:4 with yerrorbars pt 7 ps 0.8 lc %u title ",
				comma, c, off, c + 1);
			gnuplot_quote(to, plan->columns[c].label);
			comma = ", ";
		}
		if (has_report(e, c)) {
			fprintf(to,
				"%s$report%u using ($1+%g):2 with points pt 4 ps 1.4 lc %u title \"report\"",
				comma, c, off, c + 1);
			comma = ", ";
		}
	}
	fprintf(to, "\n");
}

int figure_table(const struct exploration *e, const char *name)
{
	const struct drawing d = { e, draw_table, HEIGHT };

	for (unsigned int c = 0; c < e->plan->nr_columns; c++)
		if (e->plan->drawn < NR_FIGURES && has_points(e, c))
			return draw(&d, name);
	return -ENODATA;
}

/* ----- runs, a line each ----- */

/* The first LINES_MAX for which @has says so. How many. */
static unsigned int choose_runs(const struct exploration *e,
				bool (*has)(const struct exploration *e,
					    unsigned int run),
				unsigned int runs[LINES_MAX])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->plan->nr_runs && n < LINES_MAX; i++)
		if (has(e, i))
			runs[n++] = i;
	return n;
}

/* Its knobs that differ among the @n. @buf. */
static const char *line_title(const struct exploration *e,
			      const unsigned int *runs, unsigned int n,
			      unsigned int which, char *buf, size_t len)
{
	static struct plan chosen;

	chosen.nr_runs = n;
	for (unsigned int i = 0; i < n; i++)
		chosen.runs[i] = e->plan->runs[runs[i]];
	return run_title(&chosen, which, buf, len);
}

/* ----- the timeline ----- */

static bool by_clock(const struct exploration *e, unsigned int run)
{
	return !strcmp(e->plan->runs[run].value[KNOB_PACE], "clock");
}

static bool has_timeline(const struct exploration *e, unsigned int run)
{
	const struct run_result *r = &e->results[run];

	return r->reps && r->watched[r->reps - 1].nr_points &&
	       !isnan(r->watched[r->reps - 1].point[0].kept);
}

static void put_timeline(FILE *to, const struct exploration *e,
			 unsigned int run)
{
	const struct run_result *r = &e->results[run];
	const struct watched *w = &r->watched[r->reps - 1];
	bool clock = by_clock(e, run);

	fprintf(to, "$time%u << END\n", run);
	for (unsigned int i = 0; i < w->nr_points; i++) {
		const struct timeline_point *p = &w->point[i];
		uint64_t reads = p->reads - (i ? p[-1].reads : p->reads);
		uint64_t missed = p->missed - (i ? p[-1].missed : p->missed);

		bool known = p->pass < PASSES_MAX &&
			     !isnan(w->pass[p->pass].of[FIG_MISSED]);

		fprintf(to, "%g %g ", clock ? p->s : p->scanned, 100 * p->kept);
		if (reads && known)
			fprintf(to, "%g\n", 100.0 * missed / reads);
		else
			fprintf(to, "NaN\n");
	}
	fprintf(to, "END\n");
}

static void plot_timelines(FILE *to, const struct exploration *e, int column)
{
	unsigned int runs[LINES_MAX];
	unsigned int n = choose_runs(e, has_timeline, runs);
	char title[300];

	fprintf(to, "plot ");
	for (unsigned int i = 0; i < n; i++) {
		fprintf(to, "%s$time%u using 1:%d with lines lw 2 lc %u title ",
			i ? ", " : "", runs[i], column, i + 1);
		gnuplot_quote(to,
			      line_title(e, runs, n, i, title, sizeof(title)));
	}
	fprintf(to, "\n");
}

static void draw_timeline(FILE *to, const struct exploration *e)
{
	bool clock = false;

	for (unsigned int i = 0; i < e->plan->nr_runs; i++)
		if (has_timeline(e, i)) {
			clock |= by_clock(e, i);
			put_timeline(to, e, i);
		}
	fprintf(to, "set multiplot layout 2,1\nset grid\n");
	fprintf(to, "set key below vertical maxrows 8\n");
	put_title(to, e, e->plan->title);
	fprintf(to, "set yrange [-2:105]\nset xlabel \"%s\" offset 0,0.6\n",
		clock ? "time, seconds" : "scanned, passes");
	fprintf(to, "set ylabel \"hot set cached, %%\"\n");
	plot_timelines(to, e, 2);
	fprintf(to, "unset title\nset ylabel \"hot reads missed, %%\"\n");
	plot_timelines(to, e, 3);
	fprintf(to, "unset multiplot\n");
}

int figure_timeline(const struct exploration *e, const char *name)
{
	const struct drawing d = { e, draw_timeline, TALL };

	for (unsigned int i = 0; i < e->plan->nr_runs; i++)
		if (has_timeline(e, i))
			return draw(&d, name);
	return -ENODATA;
}

/* ----- the curve ----- */

static bool has_curve(const struct exploration *e, unsigned int run)
{
	for (unsigned int i = 0; i < CURVE_BINS; i++)
		if (e->results[run].curve[i].reads >= BIN_READS_MIN)
			return true;
	return false;
}

static void draw_curve(FILE *to, const struct exploration *e)
{
	/* Other caches have no name of a run: all of one kind are dashed alike. */
	static const char *const of[] = { NULL, "exact LRU, same reads",
					  "optimal, same reads" };
	unsigned int runs[LINES_MAX];
	unsigned int n = choose_runs(e, has_curve, runs);
	char title[300];
	const char *comma = "";

	put_title(to, e, e->plan->title);
	fprintf(to,
		"set logscale x 2\nset grid\nset yrange [-2:105]\nset key below vertical maxrows 10\n");
	fprintf(to,
		"set xtics (\"1/4096\" 1./4096, \"1/1024\" 1./1024, \"1/256\" 1./256, \"1/64\" 1./64, \"1/16\" 1./16, \"1/4\" 1./4, \"1\" 1, \"4\" 4, \"16\" 16, \"64\" 64)\n");
	fprintf(to,
		"set xlabel \"reuse distance, distinct pages by pages of memory\" offset 0,0.6\n");
	fprintf(to, "set ylabel \"hot reads that found their page, %%\"\n");
	for (unsigned int r = 0; r < n; r++) {
		const struct curve_bin *bin = e->results[runs[r]].curve;

		fprintf(to, "$curve%u << END\n", runs[r]);
		for (unsigned int i = 0; i < CURVE_BINS; i++)
			if (bin[i].reads >= BIN_READS_MIN)
				fprintf(to, "%g %g %g %g\n", curve_bin_end(i),
					100.0 * bin[i].kept / bin[i].reads,
					100.0 * bin[i].lru_kept / bin[i].reads,
					100.0 * bin[i].opt_kept / bin[i].reads);
		fprintf(to, "END\n");
	}
	fprintf(to, "plot ");
	for (unsigned int r = 0; r < n; r++) {
		line_title(e, runs, n, r, title, sizeof(title));
		for (int i = 0; i < 3; i++) {
			fprintf(to,
				"%s$curve%u using 1:%d with linespoints lw 2 pt 7 ps %s dt %d lc %u title ",
				comma, runs[r], i + 2, i ? "0" : "0.6", i + 1,
				r + 1);
			gnuplot_quote(to, !i ? title : !r ? of[i] : "");
			comma = ", ";
		}
	}
	fprintf(to, "\n");
}

int figure_curve(const struct exploration *e, const char *name)
{
	const struct drawing d = { e, draw_curve, TALL };

	for (unsigned int i = 0; i < e->plan->nr_runs; i++)
		if (has_curve(e, i))
			return draw(&d, name);
	return -ENODATA;
}
