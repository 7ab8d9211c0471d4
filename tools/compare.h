/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two sets of logs compared: which results changed, which numbers got worse, and
 * the verdict. The rules on numbers are in compare_stat.h; those on results:
 *
 *   ok in every log of A, not ok in every log of B: it failed
 *   the reverse: it improved, which is shown
 *   skipped, inconclusive or absent in every log of one set, judged in every log
 *     of the other: they differ, and that fails unless it was allowed
 *   some of one kind and some of another within a set: a number of its own, 0 or
 *     1000 permille in each log, in the family of numbers with a margin of
 *     250 permille; until that is decided the comparison is undecided
 *
 * xfail counts as not ok and xpass as ok: the property does not ask who expected
 * what. Numbers of a result that was skipped or inconclusive are not used.
 *
 * A number is asserted when its kind has a direction (see kinds[] in compare.c),
 * its arm is no control, and it is no clock on an emulated CPU. It is the median
 * of its log. It is exact, so that one block decides, when it is a counter, its
 * variant runs the classic LRU, whose state in logical time is a function of the
 * reads, and it has no spread in any log nor between the two logs or more of each
 * set. Under MGLRU it is never: figures there may differ by boot.
 *
 * In blocks the loss of a pair is that of B against A at positions 1 and 2, and at
 * 4 and 3. A drift along the block adds to one what it takes from the other, so
 * the mean of both is free of it; a block counts only with both pairs.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "compare_read.h"
#include "compare_stat.h"

/* Also the exit status of mm-cache-compare */
enum compare_verdict {
	COMPARE_PASS,
	COMPARE_FAIL,
	COMPARE_UNDECIDED,
	COMPARE_BROKEN
};

enum compare_direction { SHOWN_ONLY, HIGHER_IS_BETTER, LOWER_IS_BETTER };

/*
 * @margin, @margin_pct: whichever is more; the latter of the mean of A
 * @resolution: of a counter; below it there is no difference
 */
struct compare_kind {
	const char *name;
	enum compare_direction direction;
	double margin;
	double margin_pct;
	double resolution;
	bool clock;
};

/* --margin METRIC=VALUE[%]: METRIC is a kind, a metric, or OWNER.METRIC */
struct compare_margin {
	char *metric;
	double value;
	bool percent;
	bool used;
};

/* @all_intervals: also of numbers that are only shown; these take their time */
struct compare_options {
	bool all_intervals;
	bool allow_skips;
	bool allow_inconclusive;
	struct compare_margin *margins;
	size_t nr_margins;
};

struct compare_summary {
	size_t logs;
	double median; /* of the medians */
	double min; /* of all repetitions */
	double max;
};

/* @why_shown: why it is not asserted, or NULL */
struct compare_number {
	const struct compare_kind *kind; /* NULL: not known, or of a result */
	const char *name;
	const char *owner;
	const char *unit;
	const char *why_shown;
	bool one_sided; /* one set has it, the other has the result without */
	bool identical; /* exact, and no difference at all */
	struct compare_summary a;
	struct compare_summary b;
	double effect; /* B less A; NAN when one has none */
	double effect_pct; /* of A; NAN when that is 0 */
	double pairs[2]; /* the same at positions 1-2 and 4-3; NAN without blocks */
	size_t nr_pairs;
	double *values_a; /* what claim.data points to */
	double *values_b;
	struct stat_claim claim;
};

enum compare_change {
	CHANGE_NONE,
	CHANGE_WORSE,
	CHANGE_BETTER,
	CHANGE_DIFFERS,
	CHANGE_MIXED
};

struct compare_row {
	const struct compare_result *result; /* NULL: neither set has it */
	size_t a[COMPARE_ABSENT + 1]; /* logs by verdict */
	size_t b[COMPARE_ABSENT + 1];
	enum compare_change change;
	bool fails;
	bool judged; /* in both */
	const char *words_a; /* why, from the first log that says */
	const char *words_b;
};

struct comparison {
	const struct compare_set *a;
	const struct compare_set *b;
	bool blocked;
	size_t nr_blocks; /* complete */
	size_t nr_incomplete;
	struct compare_row *rows;
	size_t nr_rows;
	struct compare_number *numbers;
	size_t nr_numbers;
	size_t nr_asserted;
	enum compare_verdict verdict;
	size_t further; /* blocks, when undecided */
	struct compare_words reasons; /* of a verdict other than pass */
};

struct compare_report {
	struct compare_input *input;
	const struct compare_options *options;
	struct comparison *comparisons; /* each other set against the base */
	size_t nr;
	size_t family;
	enum compare_verdict verdict; /* the worst */
	size_t further;
};

/* compare_known_margin() - is there a number that could have it? */
bool compare_known_margin(const char *metric);

/*
 * compare_decide() - compare all sets of @input, which has nothing refused, with
 * the first. May itself refuse; then the verdict is COMPARE_BROKEN.
 */
void compare_decide(struct compare_report *report);
void compare_report_free(struct compare_report *report);

/* "fail" */
const char *compare_verdict_name(enum compare_verdict verdict);
/* "ok 3, skip 1", or the verdict alone when all have it; to be freed. */
char *compare_counts(const size_t count[COMPARE_ABSENT + 1]);
/* The unit that values are shown in: "%" of permille, "MiB/s" of "KiB/s" */
const char *compare_unit(const char *unit);
/* "54.3 points", "12 pages": with its unit, for people; to be freed. */
char *compare_amount(const char *unit, double value, bool sign,
		     bool unit_shown);
/* Of a number that is asserted: "pass", "fail", "undecided"; else "shown". */
const char *compare_number_verdict(const struct compare_number *number);

#endif
