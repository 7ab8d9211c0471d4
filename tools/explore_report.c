// SPDX-License-Identifier: GPL-2.0
#include "explore_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#define CELL_MAX 96

int report_run(const struct exploration *e, const struct row *row,
	       const struct column *column)
{
	for (unsigned int i = 0; i < e->plan->nr_runs; i++)
		if (filter_matches(&row->filter, &e->plan->runs[i]) &&
		    filter_matches(&column->filter, &e->plan->runs[i]) &&
		    spread_of(&e->results[i], row->pass, row->figure).n)
			return (int)i;
	return -1;
}

/* As many places as tell something. */
static int places(double v)
{
	if (v == floor(v) && fabs(v) < 1e6)
		return 0;
	return fabs(v) < 10 ? 2 : fabs(v) < 1000 ? 1 : 0;
}

static void print_spread(const struct spread *s, enum figure what, char *buf,
			 size_t len)
{
	bool share = figure_is_share(what);
	double by = share ? 100 : 1;
	int p = share ? 1 : places(s->max);

	if (!s->n)
		snprintf(buf, len, "-");
	else if (s->n == 1)
		snprintf(buf, len, "%.*f", p, by * s->mean);
	else
		snprintf(buf, len, "%.*f / %.*f [%.*f..%.*f]", p, by * s->mean,
			 p, by * s->median, p, by * s->min, p, by * s->max);
}

static int column_width(char (*cells)[CELL_MAX], unsigned int rows,
			unsigned int columns, unsigned int column)
{
	size_t width = 3;

	for (unsigned int r = 0; r < rows; r++) {
		size_t n = strlen(cells[r * columns + column]);

		width = n > width ? n : width;
	}
	return (int)width;
}

/* One table, of cells that are all there; columns as wide as what is in them. */
static void print_cells(char (*cells)[CELL_MAX], unsigned int rows,
			unsigned int columns, FILE *out)
{
	for (unsigned int r = 0; r < rows; r++) {
		for (unsigned int c = 0; c < columns; c++)
			fprintf(out, "| %-*s ",
				column_width(cells, rows, columns, c),
				cells[r * columns + c]);
		fprintf(out, "|\n");
		for (unsigned int c = 0; !r && c < columns; c++) {
			int width = column_width(cells, rows, columns, c);

			fprintf(out, "|");
			for (int i = 0; i < width + 2; i++)
				fputc('-', out);
		}
		if (!r)
			fprintf(out, "|\n");
	}
}

static void set_cell(char (*cells)[CELL_MAX], unsigned int at, const char *text)
{
	snprintf(cells[at], CELL_MAX, "%s", text);
}

static void print_scale(const struct exploration *e, FILE *out)
{
	if (e->scale == 1)
		return;
	if (strcmp(e->plan->runs[0].value[KNOB_WORKERS], "0")) {
		fprintf(out,
			"Scaled by 1/%.4g: sizes are that much smaller, the store by limit and GETs by byte\n"
			"scanned as at full size; the length of a SCAN and readahead are not scaled.\n",
			1 / e->scale);
		return;
	}
	fprintf(out,
		"Scaled by 1/%.4g: sizes and seconds are that much smaller, hot set and scan by\n"
		"limit and reads of each page by scan as at full size; buffer and readahead are\n"
		"not scaled.\n",
		1 / e->scale);
}

static void print_refused(const struct exploration *e, FILE *out)
{
	char title[300];
	const char *last = "";

	for (unsigned int i = 0; i < e->plan->nr_runs; i++) {
		const char *why = e->results[i].why;

		if (!*why)
			continue;
		if (strcmp(why, last))
			fprintf(out, "not measured: %s\n", why);
		fprintf(out, "    %s\n",
			run_title(e->plan, i, title, sizeof(title)));
		last = why;
	}
}

/* What stands in the table of a run by the clock is then of another pace. */
static void print_pace(const struct exploration *e, FILE *out)
{
	char title[300];
	bool told = false;

	for (unsigned int i = 0; i < e->plan->nr_runs; i++) {
		struct spread s = spread_of(&e->results[i], 1, FIG_RATE);
		double wanted = e->results[i].wanted;
		char cell[CELL_MAX];

		if (!s.n || !(wanted > 0) ||
		    (s.min > 0.99 * wanted && s.max < 1.01 * wanted))
			continue;
		if (!told)
			fprintf(out, "not at the pace that was wanted:\n");
		told = true;
		print_spread(&s, FIG_RATE, cell, sizeof(cell));
		fprintf(out, "    %s: %s of %.0f hot reads a second\n",
			run_title(e->plan, i, title, sizeof(title)), cell,
			wanted);
	}
}

static bool mixed_figures(const struct plan *plan)
{
	for (unsigned int i = 1; i < plan->nr_rows; i++)
		if (plan->rows[i].figure != plan->rows[0].figure)
			return true;
	return false;
}

/*
 * From column 0 to column 1: of the means, and of the two runs of each repetition
 * from the least to the most.
 */
static void print_change(const struct exploration *e, const struct row *row,
			 char *buf, size_t len)
{
	const struct run_result *r[2];
	double min = INFINITY, max = -INFINITY, mean[2];
	unsigned int pairs = 0;

	snprintf(buf, len, "-");
	for (int i = 0; i < 2; i++) {
		int run = report_run(e, row, &e->plan->columns[i]);

		if (run < 0)
			return;
		r[i] = &e->results[run];
		mean[i] = spread_of(r[i], row->pass, row->figure).mean;
	}
	if (!(mean[0] > 0))
		return;
	for (unsigned int n = 0; n < r[0]->reps && n < r[1]->reps; n++) {
		double a = r[0]->watched[n].pass[row->pass - 1].of[row->figure];
		double b = r[1]->watched[n].pass[row->pass - 1].of[row->figure];

		if (!(a > 0) || isnan(b))
			continue;
		min = fmin(min, 100 * (b / a - 1));
		max = fmax(max, 100 * (b / a - 1));
		pairs++;
	}
	if (pairs > 1)
		snprintf(buf, len, "%+.2f %% [%+.2f..%+.2f]",
			 100 * (mean[1] / mean[0] - 1), min, max);
	else
		snprintf(buf, len, "%+.2f %%", 100 * (mean[1] / mean[0] - 1));
}

static unsigned int table_columns(const struct plan *plan)
{
	return 1 + plan->nr_columns * (plan->reported ? 2 : 1) +
	       !!plan->change[0];
}

static void make_row(const struct exploration *e, const struct row *row,
		     char (*cells)[CELL_MAX], unsigned int at)
{
	const struct plan *plan = e->plan;
	unsigned int by = plan->reported ? 2 : 1;
	const struct figure_info *f = &figures[row->figure];

	if (mixed_figures(plan))
		snprintf(cells[at], CELL_MAX, "%s: %s%s%s", row->label, f->name,
			 *f->unit ? ", " : "", f->unit);
	else
		set_cell(cells, at, row->label);
	for (unsigned int c = 0; c < plan->nr_columns; c++) {
		int run = report_run(e, row, &plan->columns[c]);
		struct spread s = { 0 };

		if (run >= 0)
			s = spread_of(&e->results[run], row->pass, row->figure);
		print_spread(&s, row->figure, cells[at + 1 + c * by], CELL_MAX);
		if (plan->reported)
			set_cell(cells, at + 2 + c * by,
				 row->report[c][0] ? row->report[c] : "-");
	}
	if (plan->change[0])
		print_change(e, row, cells[at + table_columns(plan) - 1],
			     CELL_MAX);
}

void report_table(const struct exploration *e, FILE *out)
{
	const struct plan *plan = e->plan;
	unsigned int by = plan->reported ? 2 : 1;
	unsigned int columns = table_columns(plan);
	unsigned int rows = 1 + plan->nr_rows;
	char(*cells)[CELL_MAX] = calloc((size_t)rows * columns, CELL_MAX);
	unsigned int most = 0;

	if (!cells)
		return;
	for (unsigned int i = 0; i < plan->nr_runs; i++)
		most = e->results[i].reps > most ? e->results[i].reps : most;
	fprintf(out, "%s\n\n", plan->title);
	if (plan->nr_rows && !mixed_figures(plan))
		snprintf(cells[0], CELL_MAX, "%s, %s",
			 figures[plan->rows[0].figure].name,
			 figures[plan->rows[0].figure].unit);
	else
		set_cell(cells, 0, "setting");
	for (unsigned int c = 0; c < plan->nr_columns; c++) {
		set_cell(cells, 1 + c * by, plan->columns[c].label);
		if (plan->reported)
			set_cell(cells, 2 + c * by, "report");
	}
	if (plan->change[0])
		set_cell(cells, columns - 1, plan->change);
	for (unsigned int r = 0; r < plan->nr_rows; r++)
		make_row(e, &plan->rows[r], cells, (1 + r) * columns);
	print_cells(cells, rows, columns, out);
	free(cells);
	fprintf(out, "\nmean / median [min..max] of %u repetition%s%s%s\n",
		most, most == 1 ? "" : "s",
		plan->reported ? "; beside it, what the report gave" : "",
		e->stopped ? ", stopped early: what there is so far" : "");
	if (plan->change[0])
		fprintf(out,
			"change: of the means [least..most, each repetition by itself]\n");
	print_scale(e, out);
	print_pace(e, out);
	print_refused(e, out);
}

void report_details(const struct exploration *e, FILE *out)
{
	char title[300], cell[CELL_MAX];

	for (unsigned int i = 0; i < e->plan->nr_runs; i++) {
		const struct run_result *r = &e->results[i];

		if (!r->reps)
			continue;
		fprintf(out, "\n%s\n",
			run_title(e->plan, i, title, sizeof(title)));
		for (unsigned int p = 1; p <= r->watched[0].nr_passes; p++)
			for (int f = 0; f < NR_FIGURES; f++) {
				struct spread s = spread_of(r, p, f);

				if (!s.n)
					continue;
				print_spread(&s, f, cell, sizeof(cell));
				fprintf(out, "  pass %u  %-13s %s %s\n", p,
					figures[f].name, cell, figures[f].unit);
			}
	}
}

void report_csv(const struct exploration *e, FILE *out)
{
	fprintf(out, "setting,repetition,pass,scale");
	for (int k = 0; k < NR_KNOBS; k++)
		fprintf(out, ",%s", knobs[k].name);
	for (int f = 0; f < NR_FIGURES; f++)
		fprintf(out, ",%s_measured", figures[f].name);
	fprintf(out, "\n");
	for (unsigned int i = 0; i < e->plan->nr_runs; i++) {
		const struct run_result *r = &e->results[i];

		for (unsigned int n = 0; n < r->reps; n++)
			for (unsigned int p = 0; p < r->watched[n].nr_passes;
			     p++) {
				fprintf(out, "%u,%u,%u,%.9g", i + 1, n + 1,
					p + 1, e->scale);
				for (int k = 0; k < NR_KNOBS; k++)
					fprintf(out, ",%s",
						e->plan->runs[i].value[k]);
				for (int f = 0; f < NR_FIGURES; f++) {
					double v = r->watched[n].pass[p].of[f];

					if (isnan(v))
						fprintf(out, ",");
					else
						fprintf(out, ",%.9g", v);
				}
				fprintf(out, "\n");
			}
	}
}

#ifdef HAVE_JANSSON

static json_t *json_knobs(const struct setting *setting)
{
	json_t *object = json_object();

	for (int k = 0; k < NR_KNOBS; k++)
		json_object_set_new(object, knobs[k].name,
				    json_string(setting->value[k]));
	return object;
}

static json_t *json_figure(const struct run_result *r, unsigned int pass,
			   enum figure figure)
{
	struct spread s = spread_of(r, pass, figure);
	json_t *values = json_array();

	for (unsigned int n = 0; n < r->reps; n++) {
		double v = r->watched[n].pass[pass - 1].of[figure];

		json_array_append_new(values,
				      isnan(v) ? json_null() : json_real(v));
	}
	return json_pack(
		"{s:i, s:f, s:f, s:f, s:f, s:s, s:o}", "n", (int)s.n, "mean",
		s.mean, "median", s.median, "min", s.min, "max", s.max, "unit",
		figure_is_share(figure) ? "share" : figures[figure].unit,
		"values", values);
}

static json_t *json_passes(const struct run_result *r)
{
	json_t *passes = json_array();

	for (unsigned int p = 1; r->reps && p <= r->watched[0].nr_passes; p++) {
		json_t *pass = json_object();

		for (int f = 0; f < NR_FIGURES; f++)
			if (spread_of(r, p, f).n)
				json_object_set_new(pass, figures[f].name,
						    json_figure(r, p, f));
		json_array_append_new(passes, pass);
	}
	return passes;
}

static json_t *json_curve(const struct run_result *r)
{
	json_t *curve = json_array();

	for (unsigned int i = 0; i < CURVE_BINS; i++)
		if (r->curve[i].reads)
			json_array_append_new(
				curve,
				json_pack("{s:f, s:I, s:I, s:I, s:I}",
					  "distance_below", curve_bin_end(i),
					  "reads",
					  (json_int_t)r->curve[i].reads, "kept",
					  (json_int_t)r->curve[i].kept,
					  "lru_kept",
					  (json_int_t)r->curve[i].lru_kept,
					  "opt_kept",
					  (json_int_t)r->curve[i].opt_kept));
	return curve;
}

/* Of the last repetition. */
static json_t *json_timeline(const struct run_result *r)
{
	const struct watched *w = r->reps ? &r->watched[r->reps - 1] : NULL;
	json_t *timeline = json_array();

	for (unsigned int i = 0; w && i < w->nr_points; i++) {
		const struct timeline_point *p = &w->point[i];

		json_array_append_new(
			timeline,
			json_pack("{s:i, s:f, s:f, s:I, s:o, s:I, s:o}", "pass",
				  (int)p->pass + 1, "seconds", p->s, "passes",
				  p->scanned, "scanned", (json_int_t)p->done,
				  "kept",
				  isnan(p->kept) ? json_null() :
						   json_real(p->kept),
				  "reads", (json_int_t)p->reads, "missed",
				  p->missed < 0 ? json_null() :
						  json_integer(p->missed)));
	}
	return timeline;
}

int report_json(const struct exploration *e, FILE *out)
{
	json_t *env = json_object(), *runs = json_array();
	json_t *all;
	int err;

	for (unsigned int i = 0; i < e->env->nr; i++)
		json_object_set_new(env, e->env->facts[i].key,
				    json_string(e->env->facts[i].value));
	for (unsigned int i = 0; i < e->plan->nr_runs; i++) {
		const struct run_result *r = &e->results[i];

		json_array_append_new(
			runs,
			json_pack("{s:o, s:i, s:s, s:o, s:o, s:o}", "knobs",
				  json_knobs(&e->plan->runs[i]), "repetitions",
				  (int)r->reps, "not_measured", r->why,
				  "passes", json_passes(r), "curve",
				  json_curve(r), "timeline", json_timeline(r)));
	}
	all = json_pack("{s:s, s:f, s:b, s:o, s:o}", "title", e->plan->title,
			"scale", e->scale, "complete", !e->stopped, "env", env,
			"runs", runs);
	err = json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) ||
			      fputc('\n', out) == EOF ?
		      -EIO :
		      0;
	json_decref(all);
	return err;
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void load_pass(const json_t *pass, unsigned int p, struct run_result *r)
{
	for (unsigned int n = 0; n < r->reps; n++)
		for (int f = 0; f < NR_FIGURES; f++) {
			const json_t *figure =
				json_object_get(pass, figures[f].name);
			const json_t *value = json_array_get(
				json_object_get(figure, "values"), n);

			r->watched[n].nr_passes = p + 1;
			r->watched[n].pass[p].of[f] =
				json_is_number(value) ?
					json_number_value(value) :
					NAN;
		}
}

static void load_curve(const json_t *curve, struct run_result *r)
{
	const json_t *bin;
	size_t i;

	json_array_foreach(curve, i, bin)
	{
		double end = number(bin, "distance_below");

		for (unsigned int b = 0; b < CURVE_BINS; b++) {
			if (fabs(curve_bin_end(b) / end - 1) > 0.01)
				continue;
			r->curve[b] = (struct curve_bin){
				.reads = (uint64_t)number(bin, "reads"),
				.kept = (uint64_t)number(bin, "kept"),
				.lru_kept = (uint64_t)number(bin, "lru_kept"),
				.opt_kept = (uint64_t)number(bin, "opt_kept"),
			};
		}
	}
}

static void load_timeline(const json_t *timeline, struct watched *w)
{
	const json_t *point;
	size_t i;

	json_array_foreach(timeline, i, point)
	{
		double missed = number(point, "missed");

		if (i == TIMELINE_MAX)
			return;
		w->nr_points = (unsigned int)i + 1;
		w->point[i] = (struct timeline_point){
			.pass = (unsigned int)number(point, "pass") - 1,
			.s = number(point, "seconds"),
			.scanned = number(point, "passes"),
			.done = (uint64_t)number(point, "scanned"),
			.kept = number(point, "kept"),
			.reads = (int64_t)number(point, "reads"),
			.missed = isnan(missed) ? -1 : (int64_t)missed,
		};
	}
}

static bool same_knobs(const json_t *object, const struct setting *setting)
{
	for (int k = 0; k < NR_KNOBS; k++) {
		const json_t *knob = json_object_get(object, knobs[k].name);
		/* One that did not exist when this was written. */
		const char *value = knob ? json_string_value(knob) :
					   knobs[k].preset;

		if (!value || strcmp(value, setting->value[k]))
			return false;
	}
	return true;
}

static int load_run(const json_t *run, const struct setting *setting,
		    unsigned int reps, struct run_result *r)
{
	const char *why =
		json_string_value(json_object_get(run, "not_measured"));
	const json_t *passes = json_object_get(run, "passes");
	const json_t *pass;
	size_t p;

	if (!same_knobs(json_object_get(run, "knobs"), setting) || !why)
		return -EINVAL;
	snprintf(r->why, sizeof(r->why), "%s", why);
	r->reps = (unsigned int)number(run, "repetitions");
	if (r->reps > reps || (r->reps && !json_array_size(passes)))
		return -EINVAL;
	for (unsigned int n = 0; n < r->reps; n++)
		watched_nothing(&r->watched[n]);
	json_array_foreach(passes, p, pass)
	{
		if (p < PASSES_MAX)
			load_pass(pass, (unsigned int)p, r);
	}
	load_curve(json_object_get(run, "curve"), r);
	if (r->reps)
		load_timeline(json_object_get(run, "timeline"),
			      &r->watched[r->reps - 1]);
	return 0;
}

static void load_env(json_t *env, struct env *to)
{
	const char *key;
	json_t *value;

	json_object_foreach(env, key, value)
	{
		if (to->nr == ENV_FACTS || !json_is_string(value))
			continue;
		snprintf(to->facts[to->nr].key, sizeof(to->facts[0].key), "%s",
			 key);
		snprintf(to->facts[to->nr].value, sizeof(to->facts[0].value),
			 "%s", json_string_value(value));
		to->nr++;
	}
}

int report_load(struct exploration *e, const char *path, char *why, size_t len)
{
	json_error_t error;
	json_t *all = json_load_file(path, 0, &error);
	const json_t *runs = json_object_get(all, "runs");
	int err = 0;

	if (!all) {
		snprintf(why, len, "%s:%d: %s", path, error.line, error.text);
		return -EINVAL;
	}
	if (json_array_size(runs) != e->plan->nr_runs ||
	    number(all, "scale") != e->scale)
		err = -EINVAL;
	for (unsigned int i = 0; !err && i < e->plan->nr_runs; i++)
		err = load_run(json_array_get(runs, i), &e->plan->runs[i],
			       e->reps, &e->results[i]);
	if (err)
		snprintf(
			why, len,
			"%s is of another plan: give the recipe, knobs, --scale and --reps that it was made with",
			path);
	load_env(json_object_get(all, "env"), e->env);
	e->stopped = !json_is_true(json_object_get(all, "complete"));
	json_decref(all);
	return err;
}

#else

int report_json(const struct exploration *e, FILE *out)
{
	(void)e;
	(void)out;
	return -EOPNOTSUPP;
}

int report_load(struct exploration *e, const char *path, char *why, size_t len)
{
	(void)e;
	snprintf(
		why, len,
		"%s: no JSON: it was built without jansson (Debian: libjansson-dev)",
		path);
	return -EOPNOTSUPP;
}

#endif
