/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of logs, read for a comparison, and refused where a number would come out
 * that means nothing.
 *
 * A set is one KTAP log, or a directory or an archive of them: every *.log and
 * *.txt in it, however deep; in a directory also packed ones, *.log.gz.
 * scripts/gate.sh names a log BLOCK-POSITION.log: block from 01, and which of its
 * four boots, 1 to 4; where a guest died it leaves BLOCK-POSITION.died in place of
 * the log.
 *
 * A result is found again by its name, a metric by its owner and name: each has
 * an index, the same in all sets, and every log has its verdicts and values by
 * these. A program that was killed, timed out or ended before its plan was done
 * is a result, too: "NAME (whole program)" is not ok. What of this is the log's
 * fault (it is cut, doubled, contradicts itself, is no log) is refused.
 *
 * Strings are printable UTF-8. All memory belongs to the input. Functions end the
 * process, with text_status, only when there is no memory.
 */
#ifndef COMPARE_READ_H
#define COMPARE_READ_H

#include "ktap_parse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In place of a verdict: the log does not have the result. */
#define COMPARE_ABSENT KTAP_NR_VERDICTS

/* A larger file is no log. */
#define COMPARE_LOG_MAX (UINT64_C(256) << 20)

struct compare_result {
	const char *name;
	bool whole; /* of a program */
};

struct compare_metric {
	const char *owner;
	const char *name;
	const char *unit;
	enum ktap_relation relation; /* as the first log has it */
	size_t result; /* the one it was printed for */
	bool classic; /* its variant runs the classic LRU, in every set */
};

/* @n: 0 where the log has none, or its result told nothing. */
struct compare_value {
	int64_t n;
	int64_t median;
	int64_t min;
	int64_t max;
};

/* @block, @position: 0 when the name does not tell */
struct compare_log {
	const char *name;
	unsigned int block;
	unsigned int position;
	bool unfinished; /* a program in it */
	bool spread; /* some number in it is not the same in every run */
	uint64_t bytes;
	uint64_t hash;
	dev_t dev;
	ino_t ino; /* 0: in an archive */
	unsigned char *verdicts; /* by result */
	const char **words; /* by result: why, or NULL */
	size_t nr_verdicts;
	struct compare_value *values; /* by metric */
	size_t nr_values;
};

struct compare_died {
	const char *name;
	const char *tail; /* its last lines */
};

struct compare_env {
	const char *key;
	const char *value;
};

struct compare_set {
	const char *name;
	const char *path;
	const char *reclaim; /* with --across reclaim: the one it ran, or NULL */
	struct compare_log *logs;
	size_t nr_logs;
	struct compare_died *died;
	size_t nr_died;
	struct compare_env *env; /* of its first log */
	size_t nr_env;
};

/* A growing list of strings */
struct compare_words {
	char **words;
	size_t nr;
};

struct compare_input {
	struct compare_set *sets; /* the first is the base */
	size_t nr_sets;
	struct compare_result *results;
	size_t nr_results;
	struct compare_metric *metrics;
	size_t nr_metrics;
	struct compare_words
		across; /* keys that may differ; set before reading */
	const char *only; /* names to look at, a shell pattern; or NULL */
	struct compare_words refused; /* any: there is nothing to compare */
	struct compare_words notes;
	struct index *index;
	struct compare_words strings; /* all others, to be freed */
};

/* compare_say() - one more, printable. */
__attribute__((format(printf, 2, 3))) void
compare_say(struct compare_words *words, const char *fmt, ...);
void compare_words_free(struct compare_words *words);

/* compare_add_set() - read "[NAME=]PATH". */
void compare_add_set(struct compare_input *input, const char *arg);

/* compare_check_sets() - what only shows when all are read. */
void compare_check_sets(struct compare_input *input);

void compare_free(struct compare_input *input);

/* compare_env_value() - NULL when its logs do not say. */
const char *compare_env_value(const struct compare_set *set, const char *key);

/* By index, for logs read before it was given. */
unsigned int compare_verdict_of(const struct compare_log *log, size_t result);
const char *compare_words_of(const struct compare_log *log, size_t result);
const struct compare_value *compare_value_of(const struct compare_log *log,
					     size_t metric);

#endif
