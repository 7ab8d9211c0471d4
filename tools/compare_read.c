// SPDX-License-Identifier: GPL-2.0
#include "compare_read.h"

#include "printable.h"
#include "text.h"

#include <archive.h>
#include <archive_entry.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE (64 * 1024)
#define REFUSED_MAX 40
#define DIED_LINES 6
#define DIED_BYTES 2048
/* MemTotal is the machine's memory less what the kernel keeps for itself. */
#define MEMORY_TOLERANCE_PCT 2

__attribute__((format(printf, 2, 0))) static void
say_args(struct compare_words *words, const char *fmt, va_list args)
{
	char *raw, *shown;
	size_t at = words->nr;

	if (vasprintf(&raw, fmt, args) < 0)
		raw = NULL;
	shown = need_memory(printable(need_memory(raw)));
	free(raw);
	one_more(&words->words, &words->nr, sizeof(*words->words));
	words->words[at] = shown;
}

void compare_say(struct compare_words *words, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_args(words, fmt, args);
	va_end(args);
}

/* One more reason for which nothing is compared; so many will do. */
__attribute__((format(printf, 2, 3))) static void
refuse(struct compare_input *input, const char *fmt, ...)
{
	va_list args;

	if (input->refused.nr == REFUSED_MAX)
		return;
	va_start(args, fmt);
	say_args(&input->refused, fmt, args);
	va_end(args);
}

static const char *keep(struct compare_input *input, const char *s)
{
	compare_say(&input->strings, "%s", s);
	return input->strings.words[input->strings.nr - 1];
}

/* ----- indices of names ----- */

struct slot {
	const char *name; /* NULL: free */
	uint64_t hash;
	size_t value;
};

/* Open addressing; names of results and metrics, and their places */
struct index {
	struct slot *slots;
	size_t size; /* a power of two */
	size_t nr;
};

static uint64_t hash_bytes(uint64_t hash, const char *s, size_t len)
{
	while (len--)
		hash = (hash ^ (unsigned char)*s++) * UINT64_C(0x100000001b3);
	return hash;
}

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static struct slot *find_slot(const struct index *index, const char *name,
			      uint64_t hash)
{
	size_t i = hash & (index->size - 1);

	while (index->slots[i].name && (index->slots[i].hash != hash ||
					strcmp(index->slots[i].name, name)))
		i = (i + 1) & (index->size - 1);
	return &index->slots[i];
}

static void grow_index(struct index *index)
{
	struct index bigger = { .size = index->size ? 2 * index->size : 1024,
				.nr = index->nr };

	bigger.slots = need_memory(calloc(bigger.size, sizeof(*bigger.slots)));
	for (size_t i = 0; i < index->size; i++)
		if (index->slots[i].name)
			*find_slot(&bigger, index->slots[i].name,
				   index->slots[i].hash) = index->slots[i];
	free(index->slots);
	*index = bigger;
}

/* Where @name is; *@value is set to @next and true returned when it is new. */
static bool enter(struct compare_input *input, const char *name, size_t next,
		  size_t *value)
{
	struct index *index = input->index;
	char *shown = need_memory(printable(name));
	uint64_t hash = hash_bytes(HASH_BEGIN, shown, strlen(shown));
	struct slot *slot;
	bool is_new;

	if (2 * (index->nr + 1) > index->size)
		grow_index(index);
	slot = find_slot(index, shown, hash);
	is_new = !slot->name;
	if (is_new) {
		index->nr++;
		slot->name = keep(input, shown);
		slot->hash = hash;
		slot->value = next;
	}
	*value = slot->value;
	free(shown);
	return is_new;
}

/* ----- names ----- */

static bool is_across(const struct compare_input *input, const char *key)
{
	for (size_t i = 0; i < input->across.nr; i++)
		if (!strcmp(input->across.words[i], key))
			return true;
	return false;
}

static const char *const reclaims[] = { "classic", "mglru" };

/*
 * The variant is what stands behind the first dot of a name, and begins with the
 * reclaim where the test has one: mglru, mglru_rare. Returns it or NULL; *@at is
 * where it stands.
 */
static const char *reclaim_of(const char *name, const char **at)
{
	const char *variant = strchr(name, '.');

	for (size_t i = 0; variant && i < 2; i++) {
		size_t len = strlen(reclaims[i]);

		*at = variant + 1;
		if (!strncmp(*at, reclaims[i], len) &&
		    ((*at)[len] == '\0' || strchr("._", (*at)[len])))
			return reclaims[i];
	}
	return NULL;
}

/* With --across reclaim both names of a property are one, with a *. */
static char *common_name(const struct compare_input *input, const char *name)
{
	const char *at, *reclaim = reclaim_of(name, &at);
	char *s;

	if (!reclaim || !is_across(input, "reclaim"))
		return need_memory(strdup(name));
	s = text("%.*s*%s", (int)(at - name), name, at + strlen(reclaim));
	return s;
}

/* "BB-P", and what must follow it; behind a colon: at the top of an archive */
static bool block_of(const char *path, const char *suffix, unsigned int *block,
		     unsigned int *position)
{
	const char *s = path + strlen(path);
	size_t digits;

	while (s > path && !strchr("/:", s[-1]))
		s--;
	digits = strspn(s, "0123456789");
	if (digits < 2 || digits > 6 || s[digits] != '-' ||
	    s[digits + 1] < '1' || s[digits + 1] > '4' ||
	    strcmp(s + digits + 2, suffix))
		return false;
	*block = strtoul(s, NULL, 10);
	*position = s[digits + 1] - '0';
	return *block > 0;
}

static bool ends_in(const char *s, const char *end)
{
	size_t len = strlen(s), e = strlen(end);

	return len >= e && !strcmp(s + len - e, end);
}

/* Of a packed log, ".gz"; else the end of @name */
static const char *packed_suffix(const char *name)
{
	static const char *const ends[] = { ".gz", ".xz", ".zst", ".bz2" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_in(name, ends[i]))
			return name + len - strlen(ends[i]);
	return name + len;
}

/* ----- one log ----- */

unsigned int compare_verdict_of(const struct compare_log *log, size_t result)
{
	return result < log->nr_verdicts ? log->verdicts[result] :
					   COMPARE_ABSENT;
}

const char *compare_words_of(const struct compare_log *log, size_t result)
{
	return result < log->nr_verdicts ? log->words[result] : NULL;
}

const struct compare_value *compare_value_of(const struct compare_log *log,
					     size_t metric)
{
	static const struct compare_value none;

	return metric < log->nr_values ? &log->values[metric] : &none;
}

static void set_verdict(struct compare_log *log, size_t result,
			unsigned int verdict, const char *words)
{
	while (log->nr_verdicts <= result) {
		size_t nr = log->nr_verdicts;

		one_more(&log->words, &nr, sizeof(*log->words));
		*(unsigned char *)one_more(&log->verdicts, &log->nr_verdicts,
					   1) = COMPARE_ABSENT;
	}
	log->verdicts[result] = verdict;
	log->words[result] = words;
}

static size_t enter_result(struct compare_input *input, const char *name,
			   bool whole)
{
	size_t at;

	if (enter(input, name, input->nr_results, &at)) {
		struct compare_result *result =
			one_more(&input->results, &input->nr_results,
				 sizeof(*input->results));

		result->name = keep(input, name);
		result->whole = whole;
	}
	return at;
}

static const char *why_of(struct compare_input *input,
			  const struct ktap_program *program,
			  const struct ktap_result *result)
{
	const struct ktap_why *why, *said = NULL;

	if (*result->reason && strcmp(result->reason, "unknown"))
		return keep(input, result->reason);
	for (size_t i = 0; i < result->nr_whys; i++) {
		why = &program->whys[result->first_why + i];
		if (why->kind != KTAP_SAID)
			return keep(input, why->text);
		said = said ? said : why;
	}
	return said ? keep(input, said->text) : NULL;
}

static void add_metric(struct compare_input *input, struct compare_log *log,
		       const struct ktap_metric *metric, size_t result)
{
	char *owner = common_name(input, metric->owner), *key;
	struct compare_value *value;
	const char *at, *reclaim;
	size_t i;

	/* A blank: names of results have none, so that these cannot meet. */
	key = text("%s %s", owner, metric->name);
	if (enter(input, key, input->nr_metrics, &i)) {
		struct compare_metric *new = one_more(&input->metrics,
						      &input->nr_metrics,
						      sizeof(*input->metrics));

		reclaim = reclaim_of(owner, &at);
		new->owner = keep(input, owner);
		new->name = keep(input, metric->name);
		new->unit = keep(input, metric->unit);
		new->relation = metric->relation;
		new->result = result;
		new->classic = reclaim && !strcmp(reclaim, "classic");
	} else if (strcmp(input->metrics[i].unit, metric->unit)) {
		refuse(input, "%s:%zu: %s is in %s, and in %s in a log before",
		       log->name, metric->line, key, metric->unit,
		       input->metrics[i].unit);
	}
	free(owner);
	while (log->nr_values <= i)
		one_more(&log->values, &log->nr_values, sizeof(*log->values));
	value = &log->values[i];
	if (value->n)
		refuse(input, "%s:%zu: %s is there twice", log->name,
		       metric->line, key);
	free(key);
	if (metric->n < 1 || metric->min > metric->median ||
	    metric->median > metric->max) {
		refuse(input,
		       "%s:%zu: %s %s: n=%lld median=%lld min=%lld max=%lld cannot be",
		       log->name, metric->line, metric->owner, metric->name,
		       (long long)metric->n, (long long)metric->median,
		       (long long)metric->min, (long long)metric->max);
		return;
	}
	value->n = metric->n;
	value->median = metric->median;
	value->min = metric->min;
	value->max = metric->max;
	if (metric->min != metric->max || !strcmp(metric->unit, "us") ||
	    !strcmp(metric->unit, "KiB/s"))
		log->spread = true;
}

static bool told_nothing(enum ktap_verdict verdict)
{
	return verdict == KTAP_SKIP || verdict == KTAP_INCONCLUSIVE;
}

static void add_result(struct compare_input *input, struct compare_log *log,
		       const struct ktap_program *program,
		       const struct ktap_result *result)
{
	char *name = common_name(input,
				 *result->name ? result->name : program->name);
	enum ktap_verdict verdict = result->verdict;
	size_t i;

	if (!*name)
		refuse(input, "%s:%zu: a result without a name", log->name,
		       result->line);
	if (input->only && fnmatch(input->only, name, 0)) {
		free(name);
		return;
	}
	i = enter_result(input, name, false);
	if (compare_verdict_of(log, i) != COMPARE_ABSENT)
		refuse(input, "%s:%zu: %s is there twice", log->name,
		       result->line, name);
	free(name);
	set_verdict(log, i, verdict,
		    verdict == KTAP_OK ? NULL : why_of(input, program, result));
	if (told_nothing(verdict))
		return;
	for (size_t m = 0; m < result->nr_metrics; m++)
		add_metric(input, log,
			   &program->metrics[result->first_metric + m], i);
}

/* Without a runner, the fixture of the first result has to do. */
static char *program_name(const struct ktap_program *program)
{
	const char *name = program->name;
	size_t len = strlen(name);

	if (!len && program->nr_results) {
		name = program->results[0].name;
		len = strcspn(name, ".");
	}
	return need_memory(strndup(name, len));
}

static void add_whole(struct compare_input *input, struct compare_log *log,
		      const struct ktap_program *program,
		      const char *unfinished)
{
	char *name = program_name(program), *full;
	size_t i;

	full = text("%s (whole program)", name);
	free(name);
	/* A pattern that leaves the program out leaves its end out as well. */
	if (!input->only || unfinished) {
		i = enter_result(input, full, true);
		if (unfinished) {
			log->unfinished = true;
			set_verdict(log, i, KTAP_NOT_OK,
				    keep(input, unfinished));
		} else if (compare_verdict_of(log, i) == COMPARE_ABSENT) {
			set_verdict(log, i, KTAP_OK, NULL);
		}
	}
	free(full);
}

static struct ktap_program *program_at(const struct ktap_log *ktap,
				       const struct ktap_problem *problem)
{
	struct ktap_program *found = NULL;

	for (size_t i = 0; i < ktap->nr_programs; i++)
		if (ktap->programs[i]->line <= problem->line &&
		    (!*problem->program ||
		     !strcmp(ktap->programs[i]->name, problem->program)))
			found = ktap->programs[i];
	return found;
}

/*
 * What is wrong with a log is either what the kernel did to a program of it, and
 * is then a result, or makes the log worthless. A log that ends in a program may
 * have been cut, so it is the latter.
 */
static bool is_kernels_doing(const struct ktap_log *ktap,
			     const struct ktap_problem *problem,
			     const struct ktap_program *program)
{
	bool last = program == ktap->programs[ktap->nr_programs - 1];

	switch (problem->trouble) {
	case KTAP_T_TIMEOUT:
	case KTAP_T_BAIL_OUT:
		return true;
	case KTAP_T_PLAN:
		return program->missing;
	case KTAP_T_NO_END:
		return !last;
	case KTAP_T_DISAGREE:
		return program->outer.verdict == KTAP_NOT_OK;
	default:
		return false;
	}
}

/* Returns for each program why it did not finish, or NULL. */
static const char **check_problems(struct compare_input *input,
				   const struct compare_log *log,
				   const struct ktap_log *ktap)
{
	const char **unfinished =
		need_memory(calloc(ktap->nr_programs + 1, sizeof(*unfinished)));

	for (size_t i = 0; i < ktap->nr_problems; i++) {
		const struct ktap_problem *problem = &ktap->problems[i];
		const struct ktap_program *program = program_at(ktap, problem);

		if (problem->trouble == KTAP_T_CUT_LINE && !problem->fatal)
			compare_say(&input->notes, "%s:%zu: %s: was it cut?",
				    log->name, problem->line, problem->text);
		if (!problem->fatal)
			continue;
		if (!program || !is_kernels_doing(ktap, problem, program)) {
			refuse(input, "%s:%zu: %s%s%s", log->name,
			       problem->line, problem->program,
			       *problem->program ? ": " : "", problem->text);
			continue;
		}
		for (size_t p = 0; p < ktap->nr_programs; p++)
			if (ktap->programs[p] == program && !unfinished[p])
				unfinished[p] = problem->text;
	}
	return unfinished;
}

/* The reclaim of the judged results of this log; NULL when none has one. */
static const char *ran_reclaim(struct compare_input *input,
			       const struct compare_log *log,
			       const struct ktap_log *ktap)
{
	const char *found = NULL, *at;

	for (size_t p = 0; p < ktap->nr_programs; p++) {
		const struct ktap_program *program = ktap->programs[p];

		for (size_t r = 0; r < program->nr_results; r++) {
			const struct ktap_result *result = &program->results[r];
			const char *reclaim = reclaim_of(result->name, &at);

			if (!reclaim || told_nothing(result->verdict))
				continue;
			if (found && found != reclaim) {
				refuse(input,
				       "%s: it ran both reclaims; with --across reclaim each set has one (MM_CACHE_RECLAIM)",
				       log->name);
				return found;
			}
			found = reclaim;
		}
	}
	return found;
}

static void check_reclaim(struct compare_input *input, struct compare_set *set,
			  const struct compare_log *log,
			  const struct ktap_log *ktap)
{
	const char *ran;

	if (!is_across(input, "reclaim"))
		return;
	ran = ran_reclaim(input, log, ktap);
	if (!set->reclaim)
		set->reclaim = ran;
	else if (ran && ran != set->reclaim)
		refuse(input, "%s: it ran %s, and a log before it %s",
		       log->name, ran, set->reclaim);
	if (!set->reclaim)
		refuse(input,
		       "%s: no test in it ran under a reclaim of its own: --across reclaim has nothing to compare",
		       log->name);
}

/* ----- what it ran on ----- */

const char *compare_env_value(const struct compare_set *set, const char *key)
{
	for (size_t i = 0; i < set->nr_env; i++)
		if (!strcmp(set->env[i].key, key))
			return set->env[i].value;
	return NULL;
}

/* "960 MiB" and "967 MiB" are the same machine under two kernels. */
static bool same_memory(const char *a, const char *b)
{
	unsigned long long x, y;
	char end_a, end_b;

	if (sscanf(a, "%llu MiB%c", &x, &end_a) != 1 ||
	    sscanf(b, "%llu MiB%c", &y, &end_b) != 1)
		return false;
	return (x > y ? x - y : y - x) * 100 <=
	       MEMORY_TOLERANCE_PCT * (x > y ? x : y);
}

static bool same_env(const char *key, const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return !strcmp(a, b) || (!strcmp(key, "memory") && same_memory(a, b));
}

/*
 * Within a set everything must be the same but the taint, which a kernel may get
 * on the way, and the reclaim that a program found where tests switch it.
 */
static bool may_vary_in_set(const char *key)
{
	return !strcmp(key, "taint") || !strcmp(key, "reclaim");
}

static bool may_vary_between_sets(const struct compare_input *input,
				  const char *key)
{
	return !strcmp(key, "kernel") || !strcmp(key, "build") ||
	       !strcmp(key, "taint") || is_across(input, key);
}

static void check_env(struct compare_input *input, struct compare_set *set,
		      const struct compare_log *log,
		      const struct ktap_program *program)
{
	char *value, *key;
	const char *known;

	if (!program->nr_env)
		return;
	if (!set->nr_env) {
		for (size_t i = 0; i < program->nr_env; i++) {
			struct compare_env *e =
				one_more(&set->env, &set->nr_env, sizeof(*e));

			e->key = keep(input, program->env[i].key);
			e->value = keep(input, program->env[i].value);
		}
		return;
	}
	for (size_t i = 0; i < program->nr_env; i++) {
		key = need_memory(printable(program->env[i].key));
		value = need_memory(printable(program->env[i].value));
		known = compare_env_value(set, key);
		if (!may_vary_in_set(key) && !same_env(key, known, value))
			refuse(input,
			       "%s:%zu: %s is \"%s\", and \"%s\" before in the set %s",
			       log->name, program->env[i].line, key, value,
			       known ? known : "not given", set->name);
		free(key);
		free(value);
	}
	if (program->nr_env < set->nr_env)
		refuse(input,
		       "%s:%zu: %zu lines of # env, and %zu before in the set %s",
		       log->name, program->line, program->nr_env, set->nr_env,
		       set->name);
}

/* ----- files ----- */

static struct compare_log *add_log(struct compare_input *input,
				   struct compare_set *set, const char *name)
{
	struct compare_log *log =
		one_more(&set->logs, &set->nr_logs, sizeof(*set->logs));
	char *unpacked = text("%.*s", (int)(packed_suffix(name) - name), name);

	log->name = keep(input, name);
	log->hash = HASH_BEGIN;
	if (!block_of(unpacked, ".log", &log->block, &log->position)) {
		log->block = 0;
		log->position = 0;
	}
	free(unpacked);
	return log;
}

static void use_log(struct compare_input *input, struct compare_set *set,
		    struct compare_log *log, const struct ktap_log *ktap)
{
	const char **unfinished = check_problems(input, log, ktap), *at;

	check_reclaim(input, set, log, ktap);
	for (size_t p = 0; p < ktap->nr_programs; p++) {
		const struct ktap_program *program = ktap->programs[p];

		check_env(input, set, log, program);
		for (size_t r = 0; r < program->nr_results; r++) {
			const struct ktap_result *result = &program->results[r];
			const char *reclaim = reclaim_of(result->name, &at);

			/* Killed before its first word, it is all that is there. */
			if (!result->number && result->verdict == KTAP_NOT_OK) {
				unfinished[p] =
					*result->reason ?
						result->reason :
						"not ok, without a result";
				continue;
			}
			/* The half that was not asked for is all skipped. */
			if (set->reclaim && reclaim && reclaim != set->reclaim)
				continue;
			add_result(input, log, program, result);
		}
		add_whole(input, log, program, unfinished[p]);
	}
	free(unfinished);
}

/* Where the bytes of a file come from: a descriptor, or an archive */
struct stream {
	int fd;
	struct archive *archive;
};

static ssize_t read_some(const struct stream *stream, char *buf)
{
	ssize_t n;

	if (stream->archive)
		return archive_read_data(stream->archive, buf, READ_SIZE);
	do
		n = read(stream->fd, buf, READ_SIZE);
	while (n < 0 && errno == EINTR);
	return n;
}

static const char *read_error(const struct stream *stream)
{
	const char *words = stream->archive ?
				    archive_error_string(stream->archive) :
				    strerror(errno);

	return words ? words : "unknown error";
}

static void read_log(struct compare_input *input, struct compare_set *set,
		     const char *name, const struct stream *stream,
		     const struct stat *st)
{
	struct ktap_parser *parser = need_memory(ktap_new());
	struct compare_log *log = add_log(input, set, name);
	static char buf[READ_SIZE];
	ssize_t n = 0;
	int ret;

	if (st) {
		log->dev = st->st_dev;
		log->ino = st->st_ino;
	}
	ret = ktap_source(parser, log->name);
	while (!ret && (n = read_some(stream, buf)) > 0) {
		log->hash = hash_bytes(log->hash, buf, n);
		log->bytes += n;
		if (log->bytes > COMPARE_LOG_MAX) {
			refuse(input, "%s: larger than %llu MiB: no log",
			       log->name,
			       (unsigned long long)COMPARE_LOG_MAX >> 20);
			break;
		}
		ret = ktap_feed(parser, buf, n);
	}
	if (!ret && n < 0)
		refuse(input, "%s: %s", log->name, read_error(stream));
	if (!ret)
		ret = ktap_end(parser);
	if (ret) {
		errno = -ret;
		err(text_status, "%s", log->name);
	}
	if (n == 0)
		use_log(input, set, log, ktap_log(parser));
	ktap_free(parser);
}

/* The last lines of what a guest left that died */
static void read_died(struct compare_input *input, struct compare_set *set,
		      const char *name, const struct stream *stream)
{
	struct compare_died *died =
		one_more(&set->died, &set->nr_died, sizeof(*set->died));
	static char buf[READ_SIZE + DIED_BYTES + 1];
	size_t have = 0, lines = 0;
	char *from, *s, *to;
	ssize_t n;

	died->name = keep(input, name);
	while ((n = read_some(stream, buf + have)) > 0) {
		have += n;
		if (have > DIED_BYTES) {
			memmove(buf, buf + have - DIED_BYTES, DIED_BYTES);
			have = DIED_BYTES;
		}
	}
	if (n < 0)
		refuse(input, "%s: %s", died->name, read_error(stream));
	/* Blank lines and carriage returns of a console do not count. */
	for (to = buf, s = buf; s < buf + have; s++)
		if (*s && *s != '\r' &&
		    (*s != '\n' || (to > buf && to[-1] != '\n')))
			*to++ = *s;
	while (to > buf && to[-1] == '\n')
		to--;
	*to = '\0';
	for (from = to; from > buf && lines < DIED_LINES; from--)
		lines += from[-1] == '\n';
	if (*from == '\n')
		from++;
	for (s = from; *s; s++)
		if (*s == '\n')
			*s = '|';
	died->tail = keep(input, from);
}

static bool is_log(const char *name)
{
	return ends_in(name, ".log") || ends_in(name, ".txt");
}

/* As CI systems leave them: boot.log.gz */
static bool is_packed_log(const char *name)
{
	const char *end = packed_suffix(name);
	char *unpacked;
	bool is;

	if (!*end)
		return false;
	unpacked = text("%.*s", (int)(end - name), name);
	is = is_log(unpacked);
	free(unpacked);
	return is;
}

static bool is_died(const char *name)
{
	unsigned int block, position;

	return block_of(name, ".died", &block, &position);
}

static void read_packed(struct compare_input *input, struct compare_set *set,
			const char *path, int fd, const struct stat *st)
{
	struct stream stream = { .archive = need_memory(archive_read_new()) };
	struct archive_entry *entry;

	archive_read_support_filter_gzip(stream.archive);
	archive_read_support_filter_xz(stream.archive);
	archive_read_support_filter_zstd(stream.archive);
	archive_read_support_filter_bzip2(stream.archive);
	archive_read_support_format_raw(stream.archive);
	if (archive_read_open_fd(stream.archive, fd, READ_SIZE) ||
	    archive_read_next_header(stream.archive, &entry))
		refuse(input, "%s: cannot be unpacked: %s", path,
		       read_error(&stream));
	else
		read_log(input, set, path, &stream, st);
	archive_read_free(stream.archive);
}

static void read_file(struct compare_input *input, struct compare_set *set,
		      const char *path, bool died)
{
	struct stream stream = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	struct stat st;

	if (stream.fd < 0 || fstat(stream.fd, &st)) {
		refuse(input, "%s: %s", path, strerror(errno));
		if (stream.fd >= 0)
			close(stream.fd);
		return;
	}
	if (died)
		read_died(input, set, path, &stream);
	else if (is_packed_log(path))
		read_packed(input, set, path, stream.fd, &st);
	else
		read_log(input, set, path, &stream, &st);
	close(stream.fd);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void read_directory(struct compare_input *input, struct compare_set *set,
			   char *path)
{
	char *const paths[] = { path, NULL };
	FTS *fts = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	if (!fts) {
		refuse(input, "%s: %s", path, strerror(errno));
		return;
	}
	while ((entry = fts_read(fts))) {
		bool died = is_died(entry->fts_name);
		bool wanted = died || is_log(entry->fts_name) ||
			      is_packed_log(entry->fts_name);

		switch (entry->fts_info) {
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			refuse(input, "%s: %s", entry->fts_path,
			       strerror(entry->fts_errno));
			break;
		case FTS_F:
			if (wanted)
				read_file(input, set, entry->fts_path, died);
			break;
		case FTS_SLNONE:
			if (wanted)
				refuse(input, "%s: a link to nothing",
				       entry->fts_path);
			break;
		default:
			break;
		}
	}
	fts_close(fts);
}

static struct archive *open_archive(const char *path,
				    struct archive_entry **entry, int *ret)
{
	struct archive *archive = need_memory(archive_read_new());

	archive_read_support_filter_all(archive);
	archive_read_support_format_tar(archive);
	archive_read_support_format_zip(archive);
	*ret = archive_read_open_filename(archive, path, READ_SIZE);
	if (*ret == ARCHIVE_OK)
		*ret = archive_read_next_header(archive, entry);
	return archive;
}

/* Nothing is unpacked: names with .. or from the root are but names. */
static void read_archive(struct compare_input *input, struct compare_set *set,
			 const char *path, struct archive *archive,
			 struct archive_entry *entry, int ret)
{
	struct stream stream = { .archive = archive };
	const char *name;
	char *full;

	for (; ret == ARCHIVE_OK || ret == ARCHIVE_WARN;
	     ret = archive_read_next_header(archive, &entry)) {
		bool link = archive_entry_symlink(entry) ||
			    archive_entry_hardlink(entry);

		name = archive_entry_pathname(entry);
		if (!name ||
		    (!link && archive_entry_filetype(entry) != AE_IFREG))
			continue;
		if (!is_log(name) && !is_died(name) && !is_packed_log(name))
			continue;
		full = text("%s:%s", path, name);
		if (link)
			refuse(input,
			       "%s: a link within an archive: pack what it leads to (tar --dereference --hard-dereference)",
			       full);
		else if (is_packed_log(name))
			refuse(input,
			       "%s: packed within an archive: unpack that, and give the directory",
			       full);
		else if (is_died(name))
			read_died(input, set, full, &stream);
		else
			read_log(input, set, full, &stream, NULL);
		free(full);
	}
	if (ret != ARCHIVE_EOF)
		refuse(input, "%s: %s", path, read_error(&stream));
}

static bool is_archive_name(const char *path)
{
	static const char *const ends[] = { ".tar",    ".tgz",	   ".tar.gz",
					    ".tar.xz", ".tar.zst", ".tar.bz2",
					    ".txz",    ".zip" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_in(path, ends[i]))
			return true;
	return false;
}

static void read_path(struct compare_input *input, struct compare_set *set,
		      char *path)
{
	struct archive_entry *entry;
	struct archive *archive;
	struct stat st;
	int ret;

	if (stat(path, &st)) {
		refuse(input, "%s: %s", path, strerror(errno));
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		read_directory(input, set, path);
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		refuse(input, "%s: neither a file nor a directory", path);
		return;
	}
	archive = open_archive(path, &entry, &ret);
	if (ret == ARCHIVE_OK || ret == ARCHIVE_WARN || is_archive_name(path))
		read_archive(input, set, path, archive, entry, ret);
	else
		read_file(input, set, path, false);
	archive_read_free(archive);
}

void compare_add_set(struct compare_input *input, const char *arg)
{
	const char *equals = strchr(arg, '='), *slash = strchr(arg, '/');
	bool named = equals && equals > arg && (!slash || equals < slash);
	size_t before = input->refused.nr;
	struct compare_set *set;
	char *path, *name;

	if (!input->index)
		input->index = need_memory(calloc(1, sizeof(*input->index)));
	set = one_more(&input->sets, &input->nr_sets, sizeof(*input->sets));
	path = need_memory(strdup(named ? equals + 1 : arg));
	if (named)
		name = need_memory(strndup(arg, equals - arg));
	else
		name = text("%c", 'A' + (int)(input->nr_sets - 1) % 26);
	set->name = keep(input, name);
	set->path = keep(input, path);
	for (size_t i = 0; i + 1 < input->nr_sets; i++)
		if (!strcmp(input->sets[i].name, set->name))
			refuse(input, "two sets have the name %s", set->name);
	read_path(input, set, path);
	if (!set->nr_logs && !set->nr_died && input->refused.nr == before)
		refuse(input, "%s: no log in it: no *.log and no *.txt", path);
	free(name);
	free(path);
}

/* ----- what only all sets together show ----- */

static void check_twice(struct compare_input *input,
			const struct compare_log *a,
			const struct compare_log *b)
{
	if (a->ino && a->ino == b->ino && a->dev == b->dev) {
		refuse(input, "%s and %s are one file", a->name, b->name);
		return;
	}
	if (a->bytes != b->bytes || a->hash != b->hash || !a->bytes)
		return;
	/* Two boots agree to the last digit only if nothing in them has spread. */
	if (a->spread)
		refuse(input, "%s and %s have the same content: one run, twice",
		       a->name, b->name);
	else
		compare_say(
			&input->notes,
			"%s and %s have the same content; nothing in them has spread, so it may be two runs",
			a->name, b->name);
}

static int by_hash(const void *a, const void *b)
{
	const struct compare_log *const *x = a, *const *y = b;

	if ((*x)->hash != (*y)->hash)
		return (*x)->hash < (*y)->hash ? -1 : 1;
	return strcmp((*x)->name, (*y)->name);
}

/* A file that is given twice has the same content as well. */
static void check_doubled(struct compare_input *input)
{
	const struct compare_log **all;
	size_t nr = 0;

	for (size_t s = 0; s < input->nr_sets; s++)
		nr += input->sets[s].nr_logs;
	all = need_memory(calloc(nr + 1, sizeof(*all)));
	nr = 0;
	for (size_t s = 0; s < input->nr_sets; s++)
		for (size_t i = 0; i < input->sets[s].nr_logs; i++)
			all[nr++] = &input->sets[s].logs[i];
	qsort(all, nr, sizeof(*all), by_hash);
	for (size_t i = 1; i < nr; i++)
		check_twice(input, all[i - 1], all[i]);
	free(all);
}

static int by_place(const void *a, const void *b)
{
	const struct compare_log *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void check_places(struct compare_input *input, struct compare_set *set)
{
	if (!set->nr_logs)
		return;
	qsort(set->logs, set->nr_logs, sizeof(*set->logs), by_place);
	for (size_t i = 1; i < set->nr_logs; i++) {
		const struct compare_log *a = &set->logs[i - 1], *b = a + 1;

		if (a->block && a->block == b->block &&
		    a->position == b->position)
			refuse(input,
			       "%s and %s are both block %u, position %u",
			       a->name, b->name, a->block, a->position);
	}
}

/* All logs of a set ran the same tests, unless one of theirs was killed. */
static void check_results(struct compare_input *input,
			  const struct compare_set *set)
{
	for (size_t r = 0; r < input->nr_results; r++) {
		const struct compare_log *with = NULL, *without = NULL;

		if (input->results[r].whole)
			continue;
		for (size_t i = 0; i < set->nr_logs; i++) {
			const struct compare_log *log = &set->logs[i];

			if (compare_verdict_of(log, r) != COMPARE_ABSENT)
				with = log;
			else if (!log->unfinished)
				without = log;
		}
		if (with && without)
			refuse(input, "%s: %s is not in it, but in %s",
			       without->name, input->results[r].name,
			       with->name);
	}
}

static bool has_key(const struct compare_input *input, const char *key)
{
	for (size_t s = 0; s < input->nr_sets; s++)
		if (compare_env_value(&input->sets[s], key))
			return true;
	return false;
}

static void check_env_key(struct compare_input *input,
			  const struct compare_set *set, const char *key)
{
	const struct compare_set *base = &input->sets[0];
	const char *a = compare_env_value(base, key);
	const char *b = compare_env_value(set, key);

	if (may_vary_between_sets(input, key) || same_env(key, a, b))
		return;
	refuse(input,
	       "%s is \"%s\" in %s and \"%s\" in %s: not the same conditions; if it differs on purpose: --across %s",
	       key, a ? a : "(not given)", base->name, b ? b : "(not given)",
	       set->name, key);
}

static void check_sets_env(struct compare_input *input,
			   const struct compare_set *set)
{
	const struct compare_set *base = &input->sets[0];

	for (size_t i = 0; i < base->nr_env; i++)
		check_env_key(input, set, base->env[i].key);
	for (size_t i = 0; i < set->nr_env; i++)
		if (!compare_env_value(base, set->env[i].key))
			check_env_key(input, set, set->env[i].key);
}

static void check_across(struct compare_input *input)
{
	const struct compare_set *base = &input->sets[0];

	for (size_t i = 0; i < input->across.nr; i++) {
		const char *key = input->across.words[i];

		if (strcmp(key, "reclaim") && !has_key(input, key))
			refuse(input, "--across %s: no log has a line # env %s",
			       key, key);
	}
	for (size_t s = 1; s < input->nr_sets; s++)
		if (base->reclaim && base->reclaim == input->sets[s].reclaim)
			refuse(input, "--across reclaim: both %s and %s ran %s",
			       base->name, input->sets[s].name, base->reclaim);
}

void compare_check_sets(struct compare_input *input)
{
	/* What a broken log does not say is no difference of conditions. */
	bool readable = !input->refused.nr, silent = true;

	check_doubled(input);
	for (size_t s = 0; s < input->nr_sets; s++) {
		check_places(input, &input->sets[s]);
		check_results(input, &input->sets[s]);
		if (s && readable && input->sets[s].nr_logs &&
		    input->sets[0].nr_logs)
			check_sets_env(input, &input->sets[s]);
		silent &= !input->sets[s].nr_env;
	}
	check_across(input);
	if (silent)
		compare_say(
			&input->notes,
			"the logs have no # env lines: whether they are of the same conditions cannot be seen");
}

void compare_words_free(struct compare_words *words)
{
	for (size_t i = 0; i < words->nr; i++)
		free(words->words[i]);
	free(words->words);
}

void compare_free(struct compare_input *input)
{
	for (size_t s = 0; s < input->nr_sets; s++) {
		struct compare_set *set = &input->sets[s];

		for (size_t i = 0; i < set->nr_logs; i++) {
			free(set->logs[i].verdicts);
			free(set->logs[i].words);
			free(set->logs[i].values);
		}
		free(set->logs);
		free(set->died);
		free(set->env);
	}
	free(input->sets);
	free(input->results);
	free(input->metrics);
	if (input->index)
		free(input->index->slots);
	free(input->index);
	compare_words_free(&input->across);
	compare_words_free(&input->refused);
	compare_words_free(&input->notes);
	compare_words_free(&input->strings);
}
