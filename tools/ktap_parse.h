/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads KTAP as kselftest programs and the kselftest runner write it, with this
 * suite's own lines (# metric, env, why, need, error, xpass), out of logs in any
 * state: several after each other, CRLF, time stamps before each line, console
 * noise between, cut anywhere. One pass, linear in the input, no limit on the
 * length of a line or the number of anything.
 *
 * The shape of what comes out: a log holds programs in the order of their
 * first line; a program holds results; a result owns the metrics and whys
 * printed since the result before it. The runner's line about a program is not
 * a result but the program's "outer". Everything that makes the log doubtful
 * is a problem with a line number; nothing is repaired without one.
 *
 * Nothing here prints, exits or judges a bound. Functions that can fail return
 * 0 or -errno; after a failure the parser stays failed with the same error and
 * may only be freed. All memory, strings included, belongs to the parser and
 * lives until ktap_free(). Strings are never NULL, end in NUL, and are the
 * bytes of the log: not necessarily UTF-8, possibly with control characters.
 */
#ifndef KTAP_PARSE_H
#define KTAP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ktap_verdict {
	KTAP_OK,
	KTAP_NOT_OK,
	KTAP_INCONCLUSIVE, /* a SKIP whose reason starts so */
	KTAP_SKIP,
	KTAP_XFAIL,
	KTAP_XPASS, /* by its directive, or an ok after # xpass NAME: */
	KTAP_NR_VERDICTS
};

enum ktap_relation {
	KTAP_UNBOUNDED,
	KTAP_AT_LEAST, /* bound>= */
	KTAP_AT_MOST, /* bound<= */
	KTAP_EQUAL, /* bound== */
};

/* # metric OWNER NAME UNIT n= median= min= max= [bound>=|<=|==] */
struct ktap_metric {
	const char *owner; /* the result's name less its last component */
	const char *name;
	const char *unit; /* of median, min, max and bound; as printed */
	const char *more; /* fields not known here, blanks between, or "" */
	int64_t n; /* repetitions */
	int64_t median;
	int64_t min;
	int64_t max;
	int64_t bound; /* 0 when unbounded */
	enum ktap_relation relation;
	bool stray; /* the owner is not that of the result */
	size_t line;
};

/* Words that explain a result */
struct ktap_why {
	enum {
		KTAP_WHY, /* # why OWNER: TEXT */
		KTAP_NEED, /* # need TEXT, of a skip */
		KTAP_ERROR, /* # error TEXT, of what could not be set up */
		KTAP_SAID, /* a message of the harness, as printed */
	} kind;
	const char *owner; /* "" but for KTAP_WHY */
	const char *text;
	size_t line;
};

/* # env KEY VALUE, the value to the end of the line */
struct ktap_env {
	const char *key;
	const char *value;
	size_t line;
};

struct ktap_result {
	const char *name; /* "" only when the line had none */
	const char *reason; /* what follows the directive, or "" */
	enum ktap_verdict verdict;
	/*
	 * As printed, from 1. 0 when the program as a whole is the result: it
	 * said 1..0 # SKIP, or the runner's line is all there is of it.
	 */
	uint64_t number;
	size_t first_metric; /* into the program's metrics */
	size_t nr_metrics;
	size_t first_why; /* into the program's whys */
	size_t nr_whys;
	size_t line;
};

/* The runner's word on a program */
struct ktap_outer {
	bool present;
	bool timeout;
	enum ktap_verdict verdict;
	int64_t exit_code; /* of # exit=N; -1 when not printed */
	size_t line;
};

struct ktap_program {
	const char *source; /* as given to ktap_source() */
	const char *collection; /* of "selftests: COLLECTION: NAME", or "" */
	const char *name; /* or "" when no runner named it */
	const char *running; /* the test begun last, of # RUN, or "" */
	unsigned int level; /* how many "# " stood before its results */
	struct ktap_outer outer;
	uint64_t missing; /* planned results that are not there */
	struct ktap_result *results;
	size_t nr_results;
	struct ktap_metric *metrics;
	size_t nr_metrics;
	struct ktap_why *whys;
	size_t nr_whys;
	struct ktap_env *env;
	size_t nr_env;
	size_t line;
};

enum ktap_trouble {
	KTAP_T_NOTHING, /* a source without a result or a skip */
	KTAP_T_TRUNCATED, /* the source ends before the plan is done */
	KTAP_T_CUT_LINE, /* the last line has no end */
	KTAP_T_PLAN, /* other than the number of results */
	KTAP_T_NO_PLAN,
	KTAP_T_NO_END, /* no Totals line, and no runner's word */
	KTAP_T_TOTALS, /* the Totals line counts other results */
	KTAP_T_DUPLICATE, /* names that are one after [a-z0-9_.] */
	KTAP_T_AGAIN, /* a program that was in this source before */
	KTAP_T_ORDER, /* result numbers do not count up from 1 */
	KTAP_T_TIMEOUT,
	KTAP_T_DISAGREE, /* the runner's word and the results */
	KTAP_T_BOUND, /* ok, with the median beyond its first bound */
	KTAP_T_BAIL_OUT,
	KTAP_T_WORDS, /* FAIL or SKIP in a passing line */
	KTAP_T_FORM, /* a line that other parsers may misread */
	KTAP_T_METRIC, /* unreadable, or without its result */
	KTAP_T_DEPTH, /* nested too deep to be followed */
};

struct ktap_problem {
	enum ktap_trouble trouble;
	bool fatal; /* the log as it is proves no success */
	const char *source;
	const char *program; /* or "" */
	const char *text; /* a phrase, without source and line */
	size_t line; /* from 1 */
};

struct ktap_log {
	struct ktap_program **programs;
	size_t nr_programs;
	struct ktap_problem *problems;
	size_t nr_problems;
};

/* What a log comes to; the values are the exit codes of ktap-table */
enum ktap_status {
	KTAP_S_OK = 0,
	KTAP_S_NOT_OK = 1, /* a not ok, or a fatal problem */
	KTAP_S_INCONCLUSIVE = 2,
	KTAP_S_SKIPPED = 4, /* nothing but skips */
	KTAP_S_NOTHING = 5, /* a source without a single test */
};

struct ktap_parser;

/* NULL: no memory. */
struct ktap_parser *ktap_new(void);
void ktap_free(struct ktap_parser *p);

/* Ends the source before, and begins one of that name. Lines count from 1. */
int ktap_source(struct ktap_parser *p, const char *name);
/* Any piece of the source, cut anywhere. -EINVAL before ktap_source(). */
int ktap_feed(struct ktap_parser *p, const char *data, size_t len);
/* ktap_source(), and the whole of the stream. Does not close it. */
int ktap_read(struct ktap_parser *p, const char *name, FILE *stream);
/* Ends the last source. Until then the log is incomplete. */
int ktap_end(struct ktap_parser *p);

/* Owned by the parser. */
const struct ktap_log *ktap_log(const struct ktap_parser *p);

/*
 * The first metric that the test printed with a bound is what the property is
 * about; those after it are controls. NULL when there is none.
 */
const struct ktap_metric *ktap_measured(const struct ktap_program *program,
					const struct ktap_result *result);
/* Is the value on the wrong side of the metric's bound? */
bool ktap_beyond(const struct ktap_metric *metric, int64_t value);

/* Counts results by verdict; returns their sum. */
size_t ktap_count(const struct ktap_log *log, size_t count[KTAP_NR_VERDICTS]);
enum ktap_status ktap_status(const struct ktap_log *log);

#endif /* KTAP_PARSE_H */
