// SPDX-License-Identifier: GPL-2.0
#include "compare.h"

#include "text.h"

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a result that is not the same in all logs of a set, permille */
#define MIXED_MARGIN 250
/* Names of results that differ, in the reasons */
#define DIFFERING_SHOWN 3

/*
 * Margins: 50 permille of a retention or an amplification is the least that a
 * maintainer would act on, and several times what deterministic counters vary by;
 * pages left behind 1 MiB of 4 KiB pages or a tenth; a rate a tenth.
 *
 * What is shown only has its own bound in the test, and is noise beyond it
 * (evicted, missed, refaults: they follow kept), is a property of the set-up
 * (folio), or is what the bound waits for (settle_time). A wrong word is not a
 * matter of margins: the test is not ok.
 */
static const struct compare_kind kinds[] = {
	{ "kept", HIGHER_IS_BETTER, .margin = 50, .resolution = 2 },
	{ "kept_first", HIGHER_IS_BETTER, .margin = 50, .resolution = 2 },
	{ "kept_change", HIGHER_IS_BETTER, .margin = 50, .resolution = 2 },
	{ "part_kept", HIGHER_IS_BETTER, .margin = 50, .resolution = 2 },
	{ "scan_left", LOWER_IS_BETTER, .margin = 256, .margin_pct = 10,
	  .resolution = 2 },
	{ "other_faults", LOWER_IS_BETTER, .margin = 10 },
	{ "amplification", LOWER_IS_BETTER, .margin = 50, .resolution = 2 },
	{ "get_miss", LOWER_IS_BETTER, .margin = 30, .resolution = 2 },
	{ "scan_miss", LOWER_IS_BETTER, .margin = 50, .resolution = 2 },
	{ "throughput", HIGHER_IS_BETTER, .margin_pct = 10, .clock = true },
	{ "best_throughput_ratio", HIGHER_IS_BETTER, .margin = 100,
	  .clock = true },
	{ "evicted", SHOWN_ONLY },
	{ "missed", SHOWN_ONLY },
	{ "refaults", SHOWN_ONLY },
	{ "folio", SHOWN_ONLY },
	{ "bad_words", SHOWN_ONLY },
	{ "settle_time", SHOWN_ONLY, .clock = true },
};

/* Arms that are there to show that the test could tell, or what it is set against */
static const char *const controls[] = {
	"once",	 "unscanned",	"left_alone", "exact_lru",  "normal",
	"plain", "cold_mapped", "dropped",    "read_again", "to_size",
};

static const char *const verdict_words[] = {
	[KTAP_OK] = "ok",
	[KTAP_NOT_OK] = "not ok",
	[KTAP_INCONCLUSIVE] = "inconclusive",
	[KTAP_SKIP] = "skip",
	[KTAP_XFAIL] = "xfail",
	[KTAP_XPASS] = "xpass",
	[COMPARE_ABSENT] = "absent",
};

/* ----- words ----- */

const char *compare_verdict_name(enum compare_verdict verdict)
{
	static const char *const names[] = {
		[COMPARE_PASS] = "pass",
		[COMPARE_FAIL] = "fail",
		[COMPARE_UNDECIDED] = "undecided",
		[COMPARE_BROKEN] = "broken input",
	};

	return names[verdict];
}

char *compare_counts(const size_t count[COMPARE_ABSENT + 1])
{
	char *s = need_memory(strdup("")), *longer;
	size_t kinds_seen = 0;

	for (size_t v = 0; v <= COMPARE_ABSENT; v++)
		kinds_seen += count[v] > 0;
	for (size_t v = 0; v <= COMPARE_ABSENT; v++) {
		if (!count[v])
			continue;
		if (kinds_seen == 1)
			longer = text("%s", verdict_words[v]);
		else
			longer = text("%s%s%s %zu", s, *s ? ", " : "",
				      verdict_words[v], count[v]);
		free(s);
		s = longer;
	}
	return s;
}

/* Units as they are shown. A change of a share is one of points. */
static const char *shown_unit(const char *unit, bool sign, double *value)
{
	if (!strcmp(unit, "permille")) {
		*value /= 10;
		return sign ? "points" : "%";
	}
	if (!strcmp(unit, "KiB/s")) {
		*value /= 1024;
		return "MiB/s";
	}
	return unit;
}

const char *compare_unit(const char *unit)
{
	double value = 0;

	return shown_unit(unit, false, &value);
}

char *compare_amount(const char *unit, double value, bool sign, bool unit_shown)
{
	const char *shown = shown_unit(unit, sign, &value);
	/* A tenth of a MiB/s is worth a word only of a few. */
	bool whole =
		strcmp(unit, "permille") &&
		(value == rint(value) || (shown != unit && fabs(value) >= 100));

	if (isnan(value))
		return need_memory(strdup("-"));
	if (isinf(value))
		return need_memory(strdup(value < 0 ? "-inf" : "+inf"));
	/* No sign before a value that is shown as 0 */
	if (fabs(value) < 0.05)
		value = 0;
	return text(sign ? "%+.*f%s%s" : "%.*f%s%s", whole ? 0 : 1, value,
		    unit_shown ? " " : "", unit_shown ? shown : "");
}

const char *compare_number_verdict(const struct compare_number *number)
{
	static const char *const names[] = {
		[STAT_PASS] = "pass",
		[STAT_FAIL] = "FAIL",
		[STAT_UNDECIDED] = "undecided",
	};

	if (number->one_sided)
		return number->why_shown ? "one set only" : "FAIL";
	return number->why_shown ? "shown" : names[number->claim.verdict];
}

/* ----- kinds and margins ----- */

/* The kind whose name ends the metric's; *@arm gets the length before it. */
static const struct compare_kind *kind_of(const char *name, size_t *arm)
{
	const struct compare_kind *found = NULL;
	size_t len = strlen(name), longest = 0;

	*arm = len;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t k = strlen(kinds[i].name);

		if (k > len || k <= longest ||
		    strcmp(name + len - k, kinds[i].name) ||
		    (k < len && name[len - k - 1] != '_'))
			continue;
		longest = k;
		found = &kinds[i];
		*arm = k < len ? len - k - 1 : 0;
	}
	return found;
}

/* "once" and "once_plain", but not "oncemore"; and every "..._plain" */
static bool is_control(const char *name, size_t arm)
{
	static const char plain[] = "_plain";
	size_t p = strlen(plain);

	if (arm > p && !strncmp(name + arm - p, plain, p))
		return true;
	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++) {
		size_t len = strlen(controls[i]);

		if (arm >= len && !strncmp(name, controls[i], len) &&
		    (arm == len || name[len] == '_'))
			return true;
	}
	return false;
}

/* Its bound says that the test wants it the other way. */
static bool is_opposed(const struct compare_metric *metric,
		       const struct compare_kind *kind)
{
	if (kind->direction == HIGHER_IS_BETTER)
		return metric->relation == KTAP_AT_MOST;
	return metric->relation == KTAP_AT_LEAST;
}

static bool is_emulated(const struct compare_set *set)
{
	const char *machine = compare_env_value(set, "machine");

	return machine && !strcmp(machine, "tcg");
}

static const char *why_shown(const struct compare_metric *metric,
			     const struct compare_kind *kind, size_t arm,
			     const struct comparison *c)
{
	if (!kind)
		return "unknown kind";
	if (kind->direction == SHOWN_ONLY)
		return "no direction";
	if (is_control(metric->name, arm))
		return "control";
	if (is_opposed(metric, kind))
		return "its bound is the other way";
	if (kind->clock && (is_emulated(c->a) || is_emulated(c->b)))
		return "clock on an emulated CPU";
	return NULL;
}

bool compare_known_margin(const char *metric)
{
	size_t arm;
	const struct compare_kind *kind;
	const char *dot = strrchr(metric, '.');

	kind = kind_of(dot ? dot + 1 : metric, &arm);
	return kind && kind->direction != SHOWN_ONLY;
}

/* Of those given that fit, the last one. */
static double margin_of(const struct compare_number *n,
			const struct compare_options *options, double mean_a)
{
	const struct compare_kind *kind = n->kind;
	double percent = fabs(mean_a) * kind->margin_pct / 100;
	double margin = fmax(kind->margin, percent);

	for (size_t i = 0; i < options->nr_margins; i++) {
		struct compare_margin *m = &options->margins[i];
		char *full = text("%s.%s", n->owner, n->name);

		if (!strcmp(m->metric, kind->name) ||
		    !strcmp(m->metric, n->name) || !strcmp(m->metric, full)) {
			m->used = true;
			margin = m->percent ? fabs(mean_a) * m->value / 100 :
					      m->value;
		}
		free(full);
	}
	return margin;
}

/* ----- blocks ----- */

/* The boots of a block, by position from 1; NULL where there is no log */
struct boots {
	const struct compare_log *logs[5];
	bool of_b[5];
};

/* Complete blocks, in order */
struct blocks {
	struct boots *boots;
	size_t nr;
};

static bool all_have_places(const struct compare_set *set)
{
	for (size_t i = 0; i < set->nr_logs; i++)
		if (!set->logs[i].block)
			return false;
	return set->nr_logs;
}

static const struct compare_log *
log_at(const struct compare_set *set, unsigned int block, unsigned int position)
{
	size_t low = 0, high = set->nr_logs;

	/* They are in order of their places. */
	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct compare_log *log = &set->logs[mid];

		if (log->block == block && log->position == position)
			return log;
		if (log->block < block ||
		    (log->block == block && log->position < position))
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static bool has_block(const struct compare_set *set, unsigned int block)
{
	for (unsigned int p = 1; p <= 4; p++)
		if (log_at(set, block, p))
			return true;
	return false;
}

/* Fills @boots of a block that both sets have; says how many there are. */
static int boots_of(struct compare_input *input, const struct comparison *c,
		    unsigned int block, struct boots *boots)
{
	int nr = 0;

	memset(boots, 0, sizeof(*boots));
	for (unsigned int p = 1; p <= 4; p++) {
		const struct compare_log *a = log_at(c->a, block, p);
		const struct compare_log *b = log_at(c->b, block, p);

		if (a && b)
			compare_say(&input->refused,
				    "%s and %s are both block %u, position %u",
				    a->name, b->name, block, p);
		boots->logs[p] = a ? a : b;
		boots->of_b[p] = !a && b;
		nr += a || b;
	}
	if (nr == 4 && (boots->of_b[1] == boots->of_b[2] ||
			boots->of_b[3] == boots->of_b[4]))
		compare_say(
			&input->refused,
			"block %u: positions 1 and 2, and 3 and 4, must have one boot of each set (%s has %s)",
			block, boots->of_b[1] ? c->b->name : c->a->name,
			boots->logs[1]->name);
	return nr;
}

static void find_blocks(struct compare_input *input, struct comparison *c,
			struct blocks *blocks)
{
	memset(blocks, 0, sizeof(*blocks));
	if (!all_have_places(c->a) || !all_have_places(c->b))
		return;
	blocks->boots =
		need_memory(calloc(c->a->nr_logs + 1, sizeof(*blocks->boots)));
	/* Every block of A, once; one that only B has is in no pair. */
	for (size_t i = 0; i < c->a->nr_logs; i++) {
		unsigned int block = c->a->logs[i].block;

		if (i && c->a->logs[i - 1].block == block)
			continue;
		if (!has_block(c->b, block)) {
			c->nr_incomplete++;
			continue;
		}
		c->blocked = true;
		if (boots_of(input, c, block, &blocks->boots[blocks->nr]) == 4)
			blocks->nr++;
		else
			c->nr_incomplete++;
	}
	for (size_t i = 0; i < c->b->nr_logs; i++) {
		unsigned int block = c->b->logs[i].block;

		if (i && c->b->logs[i - 1].block == block)
			continue;
		c->nr_incomplete += !has_block(c->a, block);
	}
	if (!c->blocked)
		c->nr_incomplete = 0;
	c->nr_blocks = blocks->nr;
}

/* ----- numbers ----- */

/* The value of a log for a number; false when it has none. */
typedef bool (*value_fn)(const struct compare_log *log, size_t which,
			 double *value);

static bool value_of_metric(const struct compare_log *log, size_t which,
			    double *value)
{
	const struct compare_value *v = compare_value_of(log, which);

	*value = v->median;
	return v->n;
}

static bool is_judged(unsigned int verdict)
{
	return verdict == KTAP_OK || verdict == KTAP_NOT_OK ||
	       verdict == KTAP_XFAIL || verdict == KTAP_XPASS;
}

static bool is_good(unsigned int verdict)
{
	return verdict == KTAP_OK || verdict == KTAP_XPASS;
}

static bool value_of_good(const struct compare_log *log, size_t which,
			  double *value)
{
	unsigned int verdict = compare_verdict_of(log, which);

	*value = is_good(verdict) ? 1000 : 0;
	return is_judged(verdict);
}

static bool value_of_judged(const struct compare_log *log, size_t which,
			    double *value)
{
	*value = is_judged(compare_verdict_of(log, which)) ? 1000 : 0;
	return true;
}

/* The losses of pairs, where a block has all four values. */
static void pair_up(struct compare_number *n, const struct blocks *blocks,
		    value_fn value_of, size_t which, double sign)
{
	double sums[2] = { 0, 0 }, v[5];
	struct stat_data *data = &n->claim.data;

	n->values_a =
		need_memory(calloc(2 * blocks->nr + 1, sizeof(*n->values_a)));
	for (size_t i = 0; i < blocks->nr; i++) {
		const struct boots *boots = &blocks->boots[i];
		bool complete = true;

		for (int p = 1; p <= 4; p++)
			complete &= value_of(boots->logs[p], which, &v[p]);
		if (!complete)
			continue;
		/* B less A at positions 1-2, then at 4-3 */
		for (int pair = 0; pair < 2; pair++) {
			int x = pair ? 4 : 1, y = pair ? 3 : 2;
			double d = boots->of_b[x] ? v[x] - v[y] : v[y] - v[x];

			sums[pair] += d;
			n->values_a[data->nr_a++] = -sign * d;
		}
	}
	data->a = n->values_a;
	n->nr_pairs = data->nr_a;
	if (!data->nr_a)
		return;
	n->pairs[0] = sums[0] * 2 / data->nr_a;
	n->pairs[1] = sums[1] * 2 / data->nr_a;
	n->effect = (sums[0] + sums[1]) / data->nr_a;
}

static double *values_of(const struct compare_set *set, value_fn value_of,
			 size_t which, size_t *nr)
{
	double *values = need_memory(calloc(set->nr_logs + 1, sizeof(*values)));

	*nr = 0;
	for (size_t i = 0; i < set->nr_logs; i++)
		*nr += value_of(&set->logs[i], which, &values[*nr]);
	return values;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts @values; returns their mean. */
static double summarize(struct compare_summary *s, double *values, size_t nr)
{
	double mean = stat_mean(values, nr);

	s->logs = nr;
	s->median = NAN;
	if (nr) {
		qsort(values, nr, sizeof(*values), by_value);
		s->median = (values[nr / 2] + values[(nr - 1) / 2]) / 2;
		s->min = values[0];
		s->max = values[nr - 1];
	}
	return mean;
}

/* Everything but the margin and whether it is exact; returns the mean of A. */
static double fill_number(struct compare_number *n, const struct comparison *c,
			  const struct blocks *blocks, value_fn value_of,
			  size_t which, double sign)
{
	struct stat_data *data = &n->claim.data;
	double *a, *b, mean_a, mean_b;
	size_t nr_a, nr_b;

	n->effect = NAN;
	n->effect_pct = NAN;
	n->pairs[0] = NAN;
	n->pairs[1] = NAN;
	a = values_of(c->a, value_of, which, &nr_a);
	b = values_of(c->b, value_of, which, &nr_b);
	mean_a = summarize(&n->a, a, nr_a);
	mean_b = summarize(&n->b, b, nr_b);
	if (c->blocked) {
		pair_up(n, blocks, value_of, which, sign);
		free(a);
		free(b);
	} else {
		for (size_t i = 0; i < nr_a; i++)
			a[i] *= sign;
		for (size_t i = 0; i < nr_b; i++)
			b[i] *= sign;
		n->values_a = a;
		n->values_b = b;
		data->a = a;
		data->nr_a = nr_a;
		data->b = b;
		data->nr_b = nr_b;
		if (nr_a && nr_b)
			n->effect = mean_b - mean_a;
	}
	if (nr_a && mean_a != 0)
		n->effect_pct = n->effect * 100 / fabs(mean_a);
	return mean_a;
}

/* The range of all repetitions, and whether there is none to speak of */
static bool widen(struct compare_summary *s, const struct compare_set *set,
		  size_t which, double resolution)
{
	bool still = true;

	for (size_t i = 0; i < set->nr_logs; i++) {
		const struct compare_value *v =
			compare_value_of(&set->logs[i], which);

		if (!v->n) {
			still = false;
			continue;
		}
		s->min = fmin(s->min, v->min);
		s->max = fmax(s->max, v->max);
	}
	return still && s->logs >= 2 && s->max - s->min <= resolution;
}

static struct compare_number *new_number(struct comparison *c)
{
	return one_more(&c->numbers, &c->nr_numbers, sizeof(*c->numbers));
}

static void add_number(struct compare_report *report, struct comparison *c,
		       const struct blocks *blocks, size_t which)
{
	const struct compare_metric *metric = &report->input->metrics[which];
	const struct compare_row *row = &c->rows[metric->result];
	struct compare_number *n = new_number(c);
	bool still_a, still_b;
	double mean_a, resolution;
	size_t arm;

	n->kind = kind_of(metric->name, &arm);
	n->owner = metric->owner;
	n->name = metric->name;
	n->unit = metric->unit;
	n->why_shown = why_shown(metric, n->kind, arm, c);
	mean_a = fill_number(
		n, c, blocks, value_of_metric, which,
		n->kind && n->kind->direction == LOWER_IS_BETTER ? -1 : 1);
	resolution = n->kind ? n->kind->resolution : 0;
	still_a = widen(&n->a, c->a, which, resolution);
	still_b = widen(&n->b, c->b, which, resolution);
	if (!n->a.logs && !n->b.logs) {
		c->nr_numbers--;
		free(n->values_a);
		free(n->values_b);
		return;
	}
	if (!n->a.logs || !n->b.logs) {
		/* Where one set told nothing, the result has said so. */
		n->one_sided = row->judged;
		if (!row->judged)
			n->why_shown = "one set told nothing";
		else if (report->options->allow_skips)
			n->why_shown = "one set has it, which is allowed";
		return;
	}
	n->claim.exact = metric->classic && n->kind && !n->kind->clock &&
			 still_a && still_b &&
			 (!c->blocked || n->nr_pairs >= 2);
	n->identical = still_a && still_b &&
		       fmax(n->a.max, n->b.max) - fmin(n->a.min, n->b.min) <=
			       resolution;
	if (n->why_shown)
		return;
	n->claim.margin = margin_of(n, report->options, mean_a);
	c->nr_asserted++;
}

static void add_mixed(struct comparison *c, const struct blocks *blocks,
		      const char *name, value_fn value_of, size_t which,
		      const struct compare_result *result)
{
	struct compare_number *n = new_number(c);

	n->owner = result->name;
	n->name = name;
	n->unit = "permille";
	fill_number(n, c, blocks, value_of, which, 1);
	n->claim.margin = MIXED_MARGIN;
	c->nr_asserted++;
}

/* ----- results ----- */

static void count_verdicts(const struct compare_set *set, size_t which,
			   size_t count[COMPARE_ABSENT + 1], const char **words)
{
	for (size_t i = 0; i < set->nr_logs; i++) {
		const char *why = compare_words_of(&set->logs[i], which);

		count[compare_verdict_of(&set->logs[i], which)]++;
		if (why && !*words)
			*words = why;
	}
}

struct shares {
	size_t judged;
	size_t good;
	size_t inconclusive;
	size_t all;
};

static struct shares shares_of(const size_t count[COMPARE_ABSENT + 1])
{
	struct shares s = { 0 };

	for (unsigned int v = 0; v <= COMPARE_ABSENT; v++) {
		s.all += count[v];
		s.judged += is_judged(v) ? count[v] : 0;
		s.good += is_good(v) ? count[v] : 0;
	}
	s.inconclusive = count[KTAP_INCONCLUSIVE];
	return s;
}

/* May the sets differ in what they could tell? */
static bool is_allowed(const struct compare_options *options,
		       const struct shares *a, const struct shares *b)
{
	size_t inconclusive = a->inconclusive + b->inconclusive;
	size_t silent = a->all - a->judged + b->all - b->judged;

	return (options->allow_inconclusive || !inconclusive) &&
	       (options->allow_skips || silent == inconclusive);
}

static void judge_row(struct compare_report *report, struct comparison *c,
		      const struct blocks *blocks, size_t which)
{
	const struct compare_result *result = &report->input->results[which];
	struct compare_row *row = &c->rows[which];
	struct shares a, b;
	bool allowed;

	count_verdicts(c->a, which, row->a, &row->words_a);
	count_verdicts(c->b, which, row->b, &row->words_b);
	a = shares_of(row->a);
	b = shares_of(row->b);
	/* Only the other comparisons have it. */
	if (row->a[COMPARE_ABSENT] + row->b[COMPARE_ABSENT] == a.all + b.all)
		return;
	row->result = result;
	allowed = is_allowed(report->options, &a, &b);
	row->judged = a.judged && b.judged;
	if (!a.judged != !b.judged && (a.judged % a.all || b.judged % b.all)) {
		/* None of one set, some of the other: mixed, as below. */
		row->change = CHANGE_MIXED;
		if (!allowed)
			add_mixed(c, blocks, "could be judged", value_of_judged,
				  which, result);
	} else if (!a.judged != !b.judged) {
		row->change = CHANGE_DIFFERS;
		row->fails = !allowed;
	} else if (!a.judged) {
		if (a.inconclusive == a.all && b.inconclusive == b.all)
			return;
		if (a.inconclusive || b.inconclusive ||
		    !row->a[KTAP_SKIP] != !row->b[KTAP_SKIP]) {
			row->change = CHANGE_DIFFERS;
			row->fails = !allowed;
		}
	} else {
		if (a.judged != a.all || b.judged != b.all) {
			row->change = CHANGE_MIXED;
			if (!allowed)
				add_mixed(c, blocks, "could be judged",
					  value_of_judged, which, result);
		}
		if (a.good == a.judged && !b.good) {
			row->change = CHANGE_WORSE;
			row->fails = true;
		} else if (!a.good && b.good == b.judged) {
			row->change = CHANGE_BETTER;
		} else if ((a.good && a.good != a.judged) ||
			   (b.good && b.good != b.judged)) {
			row->change = CHANGE_MIXED;
			add_mixed(c, blocks, "ok", value_of_good, which,
				  result);
		}
	}
}

/* ----- the verdict ----- */

static void worse(enum compare_verdict *verdict, enum compare_verdict other)
{
	/* From the best: pass, undecided, fail, broken */
	static const int rank[] = {
		[COMPARE_PASS] = 0,
		[COMPARE_UNDECIDED] = 1,
		[COMPARE_FAIL] = 2,
		[COMPARE_BROKEN] = 3,
	};

	if (rank[other] > rank[*verdict])
		*verdict = other;
}

static void fail(struct comparison *c)
{
	worse(&c->verdict, COMPARE_FAIL);
}

static void compare_died(struct compare_report *report, struct comparison *c)
{
	struct compare_input *input = report->input;

	for (size_t i = 0; i < c->a->nr_died; i++)
		compare_say(
			&input->refused,
			"%s: a guest of %s, the base, died; its last lines: %s",
			c->a->died[i].name, c->a->name, c->a->died[i].tail);
	for (size_t i = 0; i < c->b->nr_died; i++) {
		if (c->a->nr_died) {
			compare_say(
				&input->refused,
				"%s: one of %s died as well; its last lines: %s",
				c->b->died[i].name, c->b->name,
				c->b->died[i].tail);
			continue;
		}
		compare_say(
			&c->reasons,
			"a guest of %s died, and none of %s (%s); its last lines: %s",
			c->b->name, c->a->name, c->b->died[i].name,
			c->b->died[i].tail);
		fail(c);
	}
}

static void say_row(struct comparison *c, const struct compare_row *row)
{
	char *a = compare_counts(row->a), *b = compare_counts(row->b);
	const char *words = row->words_b ? row->words_b : row->words_a;

	compare_say(&c->reasons, "%s: %s in %s, %s in %s%s%s%s",
		    row->result->name, a, c->a->name, b, c->b->name,
		    words ? " (" : "", words ? words : "", words ? ")" : "");
	free(a);
	free(b);
}

/* What only one set could tell may be much: the table has it, and here a few. */
static void say_differing(struct comparison *c)
{
	char *names = need_memory(strdup("")), *longer;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_rows; i++) {
		if (!c->rows[i].fails || c->rows[i].change != CHANGE_DIFFERS)
			continue;
		if (nr++ < DIFFERING_SHOWN) {
			longer = text("%s%s%s", names, *names ? ", " : "",
				      c->rows[i].result->name);
			free(names);
			names = longer;
		}
	}
	if (nr)
		compare_say(
			&c->reasons,
			"%zu result%s told in one set only, which fails unless it is allowed (--allow-skips, --allow-inconclusive): %s%s",
			nr, nr == 1 ? " was" : "s were", names,
			nr > DIFFERING_SHOWN ? ", ..." : "");
	free(names);
}

static void say_failed(struct comparison *c, const struct compare_number *n,
		       size_t family)
{
	char *a = compare_amount(n->unit, n->a.median, false, true);
	char *b = compare_amount(n->unit, n->b.median, false, true);
	char *loss = compare_amount(n->unit, n->claim.loss, true, true);
	char *low = compare_amount(n->unit, n->claim.low, true, true);
	char *margin = compare_amount(n->unit, n->claim.margin, true, true);

	if (n->claim.exact)
		compare_say(
			&c->reasons,
			"%s %s: %s in %s, %s in %s, without spread; worse by more than the margin of %s",
			n->owner, n->name, a, c->a->name, b, c->b->name,
			margin + 1);
	else
		compare_say(
			&c->reasons,
			"%s %s: %s in %s, %s in %s; worse by %s, by %s at least (95 %%), margin %s (p = %.2g, one of %zu)",
			n->owner, n->name, a, c->a->name, b, c->b->name,
			loss + 1, low + (*low == '+'), margin + 1,
			n->claim.p_fail, family);
	free(a);
	free(b);
	free(loss);
	free(low);
	free(margin);
}

static void say_one_sided(struct comparison *c, const struct compare_number *n)
{
	compare_say(&c->reasons,
		    "%s %s: only in %s, though both judged the test", n->owner,
		    n->name, n->a.logs ? c->a->name : c->b->name);
}

/* Who asks for the most, and what the others would do with */
static void say_undecided(struct comparison *c)
{
	const struct compare_number *most = NULL;
	size_t nr = 0, next = 0;

	for (size_t i = 0; i < c->nr_numbers; i++) {
		const struct compare_number *n = &c->numbers[i];

		if (n->why_shown || n->one_sided ||
		    n->claim.verdict != STAT_UNDECIDED)
			continue;
		nr++;
		if (!most || n->claim.further > most->claim.further) {
			next = most ? most->claim.further : 0;
			most = n;
		} else if (n->claim.further > next) {
			next = n->claim.further;
		}
	}
	if (!most)
		return;
	compare_say(
		&c->reasons,
		"%zu of %zu asserted numbers undecided: %zu more block%s of four boots",
		nr, c->nr_asserted, most->claim.further,
		most->claim.further == 1 ? "" : "s");
	if (c->verdict == COMPARE_UNDECIDED && next &&
	    next < most->claim.further)
		compare_say(
			&c->reasons,
			"that many for %s %s alone; the others need %zu (see --only)",
			most->owner, most->name, next);
}

/* A number that is not asserted, or that one set only has */
static void finish_shown(struct compare_report *report, struct comparison *c,
			 struct compare_number *n)
{
	bool has_both = n->a.logs && n->b.logs;

	n->claim.loss = stat_loss(&n->claim.data);
	n->claim.low = -INFINITY;
	n->claim.high = INFINITY;
	if (n->claim.exact) {
		n->claim.low = n->claim.loss;
		n->claim.high = n->claim.loss;
	} else if (has_both && report->options->all_intervals &&
		   stat_interval(&n->claim.data, STAT_CONFIDENCE, &n->claim.low,
				 &n->claim.high)) {
		err(text_status, "memory");
	}
	if (n->one_sided && !n->why_shown) {
		say_one_sided(c, n);
		fail(c);
	}
}

static void test_numbers(struct compare_report *report, struct comparison *c)
{
	struct stat_claim *claims =
		need_memory(calloc(c->nr_asserted + 1, sizeof(*claims)));
	enum stat_verdict verdict;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_numbers; i++) {
		struct compare_number *n = &c->numbers[i];

		if (!n->why_shown && !n->one_sided)
			claims[nr++] = n->claim;
	}
	if (stat_decide(claims, nr, report->family, true, &verdict,
			&c->further))
		err(text_status, "memory");
	nr = 0;
	for (size_t i = 0; i < c->nr_numbers; i++) {
		struct compare_number *n = &c->numbers[i];

		if (n->why_shown || n->one_sided) {
			finish_shown(report, c, n);
			continue;
		}
		n->claim = claims[nr++];
		if (n->claim.verdict == STAT_FAIL)
			say_failed(c, n, report->family);
	}
	free(claims);
	if (verdict == STAT_FAIL)
		fail(c);
	else if (verdict == STAT_UNDECIDED)
		worse(&c->verdict, COMPARE_UNDECIDED);
}

static void compare_one(struct compare_report *report, struct comparison *c)
{
	struct compare_input *input = report->input;
	struct blocks blocks;

	compare_died(report, c);
	find_blocks(input, c, &blocks);
	c->rows = need_memory(calloc(input->nr_results + 1, sizeof(*c->rows)));
	c->nr_rows = input->nr_results;
	/* Without a log of one set there is nothing that could differ. */
	if (c->a->nr_logs && c->b->nr_logs) {
		for (size_t i = 0; i < c->nr_rows; i++)
			judge_row(report, c, &blocks, i);
		for (size_t i = 0; i < input->nr_metrics; i++)
			add_number(report, c, &blocks, i);
	} else {
		c->nr_rows = 0;
	}
	free(blocks.boots);
	if (c->nr_incomplete)
		compare_say(
			&input->notes,
			"%zu block%s of %s and %s not complete: no pair of %s is used",
			c->nr_incomplete, c->nr_incomplete == 1 ? "" : "s",
			c->a->name, c->b->name,
			c->nr_incomplete == 1 ? "it" : "them");
	report->family += c->nr_asserted;
}

/* Nothing compared is no success. */
static void check_vacuous(struct compare_report *report, struct comparison *c)
{
	for (size_t i = 0; i < c->nr_rows; i++)
		if ((c->rows[i].judged && !c->rows[i].result->whole) ||
		    c->rows[i].fails)
			return;
	if (c->b->nr_died)
		return;
	compare_say(
		&report->input->refused,
		"%s and %s: no test%s%s was judged in both: nothing is compared",
		c->a->name, c->b->name,
		report->input->only ? " that matches " : "",
		report->input->only ? report->input->only : "");
}

static void check_margins(struct compare_report *report)
{
	for (size_t i = 0; i < report->options->nr_margins; i++)
		if (!report->options->margins[i].used)
			compare_say(
				&report->input->notes,
				"--margin %s: no asserted number has that name",
				report->options->margins[i].metric);
}

void compare_decide(struct compare_report *report)
{
	struct compare_input *input = report->input;

	report->nr = input->nr_sets - 1;
	report->comparisons =
		need_memory(calloc(report->nr, sizeof(*report->comparisons)));
	for (size_t i = 0; i < report->nr; i++) {
		struct comparison *c = &report->comparisons[i];

		c->a = &input->sets[0];
		c->b = &input->sets[i + 1];
		compare_one(report, c);
	}
	for (size_t i = 0; i < report->nr; i++) {
		struct comparison *c = &report->comparisons[i];

		for (size_t r = 0; r < c->nr_rows; r++) {
			if (!c->rows[r].fails)
				continue;
			if (c->rows[r].change != CHANGE_DIFFERS)
				say_row(c, &c->rows[r]);
			fail(c);
		}
		test_numbers(report, c);
		say_differing(c);
		say_undecided(c);
		check_vacuous(report, c);
		worse(&report->verdict, c->verdict);
		if (c->verdict == COMPARE_UNDECIDED &&
		    c->further > report->further)
			report->further = c->further;
	}
	check_margins(report);
	if (report->verdict != COMPARE_UNDECIDED)
		report->further = 0;
	if (input->refused.nr)
		report->verdict = COMPARE_BROKEN;
}

void compare_report_free(struct compare_report *report)
{
	for (size_t i = 0; i < report->nr; i++) {
		struct comparison *c = &report->comparisons[i];

		for (size_t n = 0; n < c->nr_numbers; n++) {
			free(c->numbers[n].values_a);
			free(c->numbers[n].values_b);
		}
		free(c->numbers);
		free(c->rows);
		compare_words_free(&c->reasons);
	}
	free(report->comparisons);
}
