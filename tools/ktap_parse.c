// SPDX-License-Identifier: GPL-2.0
/*
 * One pass over the lines. Each line is cleaned of what consoles and runners
 * put around it, its leading "# " are counted, and the rest is matched against
 * the few forms known. A level is the number of "# " before the results of a
 * program: 0 for a program alone, 1 below the kselftest runner. At each level
 * one stream is open at most; a result at a level ends the streams above it.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ktap_parse.h"

/*
 * The runner nests once; anything deeper than this is not kselftest's. At the
 * last level nothing is read, so that every level read has one above it.
 */
#define MAX_LEVELS 17
#define BLOCK_SIZE (64 * 1024)
#define READ_SIZE (256 * 1024)
#define EXCERPT 60

/* The parser's own memory for strings, freed all at once */
struct block {
	struct block *next;
	size_t used;
	size_t size;
	char bytes[];
};

/* What the lines at one level have said since its last program began */
struct stream {
	bool open;
	bool version;
	bool has_plan;
	bool has_totals;
	bool bailed;
	bool runner; /* its results are about programs */
	bool disordered;
	uint64_t plan;
	uint64_t seen;
	uint64_t last;
	size_t first_child; /* the first program since its last result */
	size_t next_metric; /* the first one no result has claimed */
	size_t next_why;
	size_t line;
	const char *xpass; /* of # xpass NAME:, or NULL */
	struct ktap_program *program;
};

/* From "# selftests: collection: name", for the level of that program */
struct header {
	bool present;
	const char *collection;
	const char *name;
	size_t line;
};

/* Where each name stands, to find duplicates; open addressing */
struct seen_name {
	struct ktap_program *program;
	size_t result;
	uint64_t hash;
};

/* How much a line that has no end may mislead */
enum weight { NOISE, HARMLESS, MATTERS };

struct ktap_parser {
	struct ktap_log log;
	int err;
	struct block *blocks;
	struct stream streams[MAX_LEVELS];
	struct header headers[MAX_LEVELS];
	struct seen_name *names;
	size_t nr_names;
	size_t names_size; /* 0 or a power of two */
	const char *source;
	size_t source_results; /* results and skips of this source */
	bool deep; /* depth was complained about in this source */
	size_t line; /* number of the line in work */
	bool cut; /* that line has no end */
	bool noise; /* that line, begun, is of no use */
	enum weight weight;
	char *buffer; /* a line, when feeds cut it, or to clean it */
	size_t used;
	size_t size;
};

/* The directive of a result line */
struct directive {
	enum { NONE, SKIP, XFAIL, XPASS, TODO, TIMEOUT, ERROR } kind;
	const char *reason;
	bool exact; /* spelled as every parser reads it */
};

/* --- memory ------------------------------------------------------------- */

static char *keep_room(struct ktap_parser *p, size_t len)
{
	struct block *block = p->blocks;
	size_t size = BLOCK_SIZE;
	char *s;

	if (!block || block->size - block->used <= len) {
		if (len >= size)
			size = len + 1;
		block = malloc(sizeof(*block) + size);
		if (!block) {
			p->err = -ENOMEM;
			return NULL;
		}
		block->next = p->blocks;
		block->used = 0;
		block->size = size;
		p->blocks = block;
	}
	s = block->bytes + block->used;
	block->used += len + 1;
	s[len] = '\0';
	return s;
}

static const char *keep(struct ktap_parser *p, const char *s, size_t len)
{
	char *kept;

	if (!len)
		return "";
	kept = keep_room(p, len);
	if (!kept)
		return "";
	memcpy(kept, s, len);
	return kept;
}

__attribute__((format(printf, 2, 0))) static const char *
vkeep(struct ktap_parser *p, const char *fmt, va_list args)
{
	va_list again;
	char *kept;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	kept = len < 0 ? NULL : keep_room(p, len);
	if (kept)
		vsnprintf(kept, len + 1, fmt, again);
	va_end(again);
	return kept ? kept : "";
}

__attribute__((format(printf, 2, 3))) static const char *
keep_text(struct ktap_parser *p, const char *fmt, ...)
{
	const char *kept;
	va_list args;

	va_start(args, fmt);
	kept = vkeep(p, fmt, args);
	va_end(args);
	return kept;
}

/*
 * A zeroed element more at the end of *array, a pointer to a pointer; NULL
 * with p->err set. The room doubles whenever *nr is a power of two, so no
 * array needs to remember its size.
 */
static void *append(struct ktap_parser *p, void *array, size_t *nr, size_t size)
{
	char *elements, *bigger;

	memcpy(&elements, array, sizeof(elements));
	if (!(*nr & (*nr - 1))) {
		bigger = reallocarray(elements, *nr ? 2 * *nr : 1, size);
		if (!bigger) {
			p->err = -ENOMEM;
			return NULL;
		}
		elements = bigger;
		memcpy(array, &elements, sizeof(elements));
	}
	return memset(elements + (*nr)++ * size, 0, size);
}

__attribute__((format(printf, 6, 7))) static void
complain(struct ktap_parser *p, enum ktap_trouble trouble, bool fatal,
	 const struct ktap_program *program, size_t line, const char *fmt, ...)
{
	struct ktap_problem *problem;
	va_list args;

	problem = append(p, &p->log.problems, &p->log.nr_problems,
			 sizeof(*p->log.problems));
	if (!problem)
		return;
	problem->trouble = trouble;
	problem->fatal = fatal;
	problem->source = p->source;
	problem->program = program ? program->name : "";
	problem->line = line;
	va_start(args, fmt);
	problem->text = vkeep(p, fmt, args);
	va_end(args);
}

/* --- words -------------------------------------------------------------- */

static bool skip_prefix(const char **s, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*s, prefix, len))
		return false;
	*s += len;
	return true;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

static size_t word_len(const char *s)
{
	return strcspn(s, " \t");
}

static size_t trimmed_len(const char *s, size_t len)
{
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return len;
}

static const char *keep_trimmed(struct ktap_parser *p, const char *s)
{
	s = skip_blanks(s);
	return keep(p, s, trimmed_len(s, strlen(s)));
}

static bool take_u64(const char **s, uint64_t *value)
{
	const char *c = *s;
	uint64_t v = 0;

	if (!isdigit((unsigned char)*c))
		return false;
	for (; isdigit((unsigned char)*c); c++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *c - '0', &v))
			return false;
	}
	*value = v;
	*s = c;
	return true;
}

static bool take_i64(const char **s, int64_t *value)
{
	const char *c = *s;
	bool negative = *c == '-';
	uint64_t v;

	c += negative;
	if (!take_u64(&c, &v) || v > INT64_MAX)
		return false;
	*value = negative ? -(int64_t)v : (int64_t)v;
	*s = c;
	return true;
}

/* Whole upper-case words: what NIPA, LKFT and people grep a log for */
static bool has_verdict_word(const char *s)
{
	static const char *const words[] = {
		"FAIL", "FAILED", "FAILURE", "SKIP", "SKIPPED",
	};
	size_t i, len;

	while (*s) {
		len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		for (i = 0; len && i < sizeof(words) / sizeof(*words); i++) {
			if (strlen(words[i]) == len &&
			    !strncmp(s, words[i], len) &&
			    !islower((unsigned char)s[len]))
				return true;
		}
		s += len ? len : 1;
	}
	return false;
}

/* --- cleaning a line ---------------------------------------------------- */

/* Colours and cursor moves of a terminal: ESC [ ... letter */
static size_t drop_escapes(char *s, size_t len)
{
	size_t from, to = 0;

	for (from = 0; from < len; from++) {
		if (s[from] != '\033' || from + 1 >= len ||
		    s[from + 1] != '[') {
			s[to++] = s[from];
			continue;
		}
		from += 2;
		while (from < len && s[from] >= 0x20 && s[from] < 0x40)
			from++;
	}
	return to;
}

/* "12:34:56" with or without a fraction */
static const char *skip_clock(const char *s)
{
	int i;

	for (i = 0; i < 8; i++) {
		if (i % 3 == 2 ? s[i] != ':' : !isdigit((unsigned char)s[i]))
			return NULL;
	}
	s += 8;
	if ((*s == '.' || *s == ',') && isdigit((unsigned char)s[1]))
		s += 1 + strspn(s + 1, "0123456789");
	return s;
}

/* "2026-01-31T12:34:56.789Z", as LAVA, GitHub and GitLab put it */
static const char *skip_date(const char *s)
{
	int i;

	for (i = 0; i < 10; i++) {
		if (i == 4 || i == 7 ? s[i] != '-' :
				       !isdigit((unsigned char)s[i]))
			return NULL;
	}
	if (s[10] != 'T' && s[10] != ' ')
		return NULL;
	s = skip_clock(s + 11);
	if (!s)
		return NULL;
	if (*s == 'Z')
		return s + 1;
	if ((*s == '+' || *s == '-') && isdigit((unsigned char)s[1]))
		return s + 1 + strspn(s + 1, "0123456789:");
	return s;
}

/* "[   12.345678]", "[  T123]", "[2026-01-31T12:34:56Z]" and "<6>" */
static const char *skip_bracket(const char *s)
{
	size_t len;

	if (*s == '<') {
		len = strspn(s + 1, "0123456789");
		return len && s[1 + len] == '>' ? s + len + 2 : NULL;
	}
	if (*s != '[')
		return NULL;
	len = strspn(s + 1, " 0123456789.,:+-TZC");
	if (s[1 + len] != ']' || strcspn(s + 1, "0123456789") > len)
		return NULL;
	return s + len + 2;
}

static const char *skip_stamps(const char *s)
{
	const char *next;

	for (;;) {
		next = skip_bracket(s);
		if (!next) {
			next = skip_date(s);
			if (!next)
				next = skip_clock(s);
			if (next && *next && *next != ' ' && *next != '\t')
				next = NULL;
		}
		if (!next)
			return s;
		s = skip_blanks(next);
		/* GitLab names the stream after the stamp: "00O ", "01E+" */
		if (isxdigit((unsigned char)s[0]) &&
		    isxdigit((unsigned char)s[1]) &&
		    (s[2] == 'O' || s[2] == 'E') &&
		    (s[3] == ' ' || s[3] == '+'))
			s += 4;
	}
}

static const char *clean(char *s, size_t len)
{
	char *c;

	while (len && s[len - 1] == '\r')
		len--;
	while (len && (*s == '\0' || *s == '\r')) {
		s++;
		len--;
	}
	if (memchr(s, '\033', len))
		len = drop_escapes(s, len);
	while ((c = memchr(s, '\0', len)))
		*c = '?';
	s[len] = '\0';
	return skip_stamps(s);
}

/* --- names -------------------------------------------------------------- */

/* The form in which two names must still differ */
static unsigned char mapped(char c)
{
	unsigned char u = tolower((unsigned char)c);

	return isalnum(u) || u == '.' ? u : '_';
}

static bool same_name(const char *a, const char *b)
{
	while (*a && *b && mapped(*a) == mapped(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static uint64_t name_hash(const char *s)
{
	uint64_t hash = 14695981039346656037ULL;

	for (; *s; s++)
		hash = (hash ^ mapped(*s)) * 1099511628211ULL;
	return hash ^ hash >> 29;
}

static bool grow_names(struct ktap_parser *p)
{
	size_t size = p->names_size ? 2 * p->names_size : 64;
	struct seen_name *names;
	size_t i, at;

	if (p->nr_names < p->names_size / 2)
		return true;
	names = calloc(size, sizeof(*names));
	if (!names) {
		p->err = -ENOMEM;
		return false;
	}
	for (i = 0; i < p->names_size; i++) {
		if (!p->names[i].program)
			continue;
		at = p->names[i].hash & (size - 1);
		while (names[at].program)
			at = (at + 1) & (size - 1);
		names[at] = p->names[i];
	}
	free(p->names);
	p->names = names;
	p->names_size = size;
	return true;
}

static void forget_names(struct ktap_parser *p)
{
	free(p->names);
	p->names = NULL;
	p->names_size = 0;
	p->nr_names = 0;
}

static void complain_twice(struct ktap_parser *p,
			   const struct ktap_program *program,
			   const struct ktap_result *result,
			   const struct ktap_result *other, bool same_program)
{
	complain(p, same_program ? KTAP_T_DUPLICATE : KTAP_T_AGAIN,
		 same_program, program, result->line, "%s: %s line %zu",
		 result->name,
		 same_program ? "was already in" : "a second run, after",
		 other->line);
}

/* The last result of the program is new: was its name there before? */
static void check_duplicate(struct ktap_parser *p, struct stream *s)
{
	struct ktap_program *program = s->program;
	size_t index = program->nr_results - 1;
	const struct ktap_result *result = &program->results[index];
	const struct ktap_result *other;
	struct seen_name *name;
	uint64_t hash;
	size_t at;

	if (!*result->name || !grow_names(p))
		return;
	hash = name_hash(result->name);
	for (at = hash & (p->names_size - 1); p->names[at].program;
	     at = (at + 1) & (p->names_size - 1)) {
		name = &p->names[at];
		other = &name->program->results[name->result];
		if (name->hash != hash || !same_name(other->name, result->name))
			continue;
		if (name->program == program) {
			complain_twice(p, program, result, other, true);
			return;
		}
		/* Of a second run only the first result is complained about */
		if (!index)
			complain_twice(p, program, result, other, false);
		name->program = program;
		name->result = index;
		return;
	}
	p->names[at] = (struct seen_name){ program, index, hash };
	p->nr_names++;
}

/* --- programs and streams ----------------------------------------------- */

static struct ktap_program *new_program(struct ktap_parser *p,
					unsigned int level)
{
	const struct header *header = &p->headers[level];
	struct ktap_program *program, **slot;

	program = calloc(1, sizeof(*program));
	if (!program) {
		p->err = -ENOMEM;
		return NULL;
	}
	slot = append(p, &p->log.programs, &p->log.nr_programs,
		      sizeof(*p->log.programs));
	if (!slot) {
		free(program);
		return NULL;
	}
	*slot = program;
	program->source = p->source;
	program->collection = header->present ? header->collection : "";
	program->name = header->present ? header->name : "";
	program->running = "";
	program->level = level;
	program->line = p->line;
	program->outer.exit_code = -1;
	return program;
}

static struct ktap_program *stream_program(struct ktap_parser *p,
					   unsigned int level)
{
	struct stream *s = &p->streams[level];

	if (!s->program)
		s->program = new_program(p, level);
	return s->program;
}

static struct stream *open_stream(struct ktap_parser *p, unsigned int level)
{
	struct stream *s = &p->streams[level];

	if (!s->open) {
		memset(s, 0, sizeof(*s));
		s->open = true;
		s->first_child = p->log.nr_programs;
		s->line = p->line;
	}
	return s;
}

/* Where it hung or died, for people */
static const char *in_test(struct ktap_parser *p,
			   const struct ktap_program *program)
{
	if (!program || !*program->running)
		return "";
	return keep_text(p, ", last begun: %s", program->running);
}

static void check_plan(struct ktap_parser *p, unsigned int level, bool at_end)
{
	struct stream *s = &p->streams[level];
	struct ktap_program *program;

	if (!s->has_plan) {
		if (!s->bailed)
			complain(p, KTAP_T_NO_PLAN, true, s->program, s->line,
				 "no plan: nobody can tell whether all ran%s",
				 in_test(p, s->program));
		return;
	}
	if (s->seen == s->plan)
		return;
	program = s->runner ? NULL : stream_program(p, level);
	if (program && s->plan > s->seen)
		program->missing = s->plan - s->seen;
	complain(p,
		 at_end && s->plan > s->seen ? KTAP_T_TRUNCATED : KTAP_T_PLAN,
		 true, program, p->line, "%splanned %llu, but %llu came%s",
		 at_end && s->plan > s->seen ? "the log ends early: " : "",
		 (unsigned long long)s->plan, (unsigned long long)s->seen,
		 in_test(p, program));
}

/* Metrics and whys that no result followed: its test died */
static void check_left_over(struct ktap_parser *p, const struct stream *s)
{
	const struct ktap_program *program = s->program;

	if (s->next_metric < program->nr_metrics)
		complain(p, KTAP_T_METRIC, false, program,
			 program->metrics[s->next_metric].line,
			 "a metric of %s has no result after it",
			 program->metrics[s->next_metric].owner);
}

static void finish(struct ktap_parser *p, unsigned int level, bool at_end,
		   bool has_outer)
{
	struct stream *s = &p->streams[level];
	struct header *header = &p->headers[level];
	bool spoke = s->open && (s->version || s->has_plan || s->seen);

	if (spoke) {
		check_plan(p, level, at_end);
		if (!s->has_totals && !s->runner && s->seen && !has_outer)
			complain(p, KTAP_T_NO_END, true, s->program, p->line,
				 "no Totals line: did it end by itself?");
	} else if (header->present && at_end) {
		complain(p, KTAP_T_TRUNCATED, true, s->program, p->line,
			 "the log ends early: %s has begun and not ended",
			 header->name);
	}
	if (s->open && s->program)
		check_left_over(p, s);
	s->open = false;
	s->program = NULL;
	if (at_end || has_outer)
		header->present = false;
}

static void close_from(struct ktap_parser *p, unsigned int level, bool at_end,
		       bool has_outer)
{
	unsigned int l;

	for (l = MAX_LEVELS; l-- > level;)
		finish(p, l, at_end, has_outer);
}

/* --- the lines ---------------------------------------------------------- */

static void version_line(struct ktap_parser *p, unsigned int level)
{
	struct stream *s = &p->streams[level];

	/* Twice in a row is one beginning: main() and the harness both say it */
	if (s->open && (s->has_plan || s->seen || s->has_totals || s->bailed))
		close_from(p, level, false, false);
	if (!level && !s->open)
		memset(p->headers, 0, sizeof(p->headers));
	open_stream(p, level)->version = true;
	p->weight = HARMLESS;
}

static struct ktap_result *new_result(struct ktap_parser *p,
				      struct ktap_program *program)
{
	struct ktap_result *result;

	result = append(p, &program->results, &program->nr_results,
			sizeof(*program->results));
	if (!result)
		return NULL;
	result->name = "";
	result->reason = "";
	result->first_metric = program->nr_metrics;
	result->first_why = program->nr_whys;
	result->line = p->line;
	p->source_results++;
	return result;
}

static enum ktap_verdict skip_verdict(const char *reason)
{
	return skip_prefix(&reason, "inconclusive:") ? KTAP_INCONCLUSIVE :
						       KTAP_SKIP;
}

static struct directive parse_directive(struct ktap_parser *p, const char *s)
{
	static const struct {
		const char *word;
		int kind;
	} known[] = {
		{ "SKIP", SKIP },   { "SKIPPED", SKIP }, { "XFAIL", XFAIL },
		{ "XPASS", XPASS }, { "TODO", TODO },	 { "TIMEOUT", TIMEOUT },
		{ "ERROR", ERROR },
	};
	struct directive d = { .kind = NONE, .exact = true };
	const char *word = skip_blanks(s);
	size_t len = 0, i;

	while (isalpha((unsigned char)word[len]))
		len++;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strlen(known[i].word) != len ||
		    strncasecmp(word, known[i].word, len))
			continue;
		d.kind = known[i].kind;
		d.exact = word == s + 1 && *s == ' ' &&
			  !strncmp(word, known[i].word, len) &&
			  strcmp(known[i].word, "SKIPPED") &&
			  (!word[len] ||
			   (word[len] == ' ' && word[len + 1] != ' '));
		/* These two say what happened themselves */
		if (d.kind == TIMEOUT || d.kind == ERROR)
			break;
		word += len;
		word += *word == ':';
		break;
	}
	d.reason = keep_trimmed(p, word);
	return d;
}

static enum ktap_verdict directed(bool ok, const struct directive *d)
{
	switch (d->kind) {
	case SKIP:
		return skip_verdict(d->reason);
	case XFAIL:
		return KTAP_XFAIL;
	case XPASS:
		return KTAP_XPASS;
	case TODO:
		return ok ? KTAP_XPASS : KTAP_XFAIL;
	case TIMEOUT:
	case ERROR:
		return KTAP_NOT_OK;
	case NONE:
		break;
	}
	return ok ? KTAP_OK : KTAP_NOT_OK;
}

/* The program itself is the result; all its words are about that. */
static void whole_program(struct ktap_parser *p, struct ktap_program *program,
			  enum ktap_verdict verdict, const char *reason)
{
	struct ktap_result *result = new_result(p, program);

	if (!result)
		return;
	result->name = program->name;
	result->verdict = verdict;
	result->reason = reason;
	result->first_why = 0;
	result->nr_whys = program->nr_whys;
}

static void plan_line(struct ktap_parser *p, unsigned int level, uint64_t plan,
		      const char *rest)
{
	struct stream *s = &p->streams[level];
	struct ktap_program *program;
	struct directive d = { .kind = NONE };

	if (s->open && s->has_plan) {
		complain(p, KTAP_T_PLAN, true, s->program, p->line,
			 "a second plan, without a version line");
		close_from(p, level, false, false);
	}
	s = open_stream(p, level);
	s->has_plan = true;
	s->plan = plan;
	p->weight = MATTERS;
	rest = skip_blanks(rest);
	if (*rest == '#')
		d = parse_directive(p, rest + 1);
	if (plan || d.kind != SKIP)
		return;
	program = stream_program(p, level);
	if (program)
		whole_program(p, program, skip_verdict(d.reason), d.reason);
}

static void check_number(struct ktap_parser *p, struct stream *s,
			 uint64_t number)
{
	/* The runner's may finish in any order (-n); its plan tells enough */
	if (number != s->last + 1 && !s->disordered) {
		complain(p, KTAP_T_ORDER, !s->runner, s->program, p->line,
			 "result %llu follows result %llu",
			 (unsigned long long)number,
			 (unsigned long long)s->last);
		s->disordered = true;
	}
	s->last = number;
	s->seen++;
}

/* Is the owner the result's name less its last component? */
static bool owns(const char *name, const char *owner)
{
	const char *dot = strrchr(name, '.');
	size_t len = dot ? (size_t)(dot - name) : strlen(name);

	return strlen(owner) == len && !strncmp(name, owner, len);
}

static void claim(struct ktap_parser *p, struct stream *s,
		  struct ktap_result *result)
{
	struct ktap_program *program = s->program;
	const struct ktap_metric *measured;
	const struct ktap_why *why;
	struct ktap_metric *metric;
	size_t i;

	result->first_metric = s->next_metric;
	result->nr_metrics = program->nr_metrics - s->next_metric;
	result->first_why = s->next_why;
	result->nr_whys = program->nr_whys - s->next_why;
	s->next_metric = program->nr_metrics;
	s->next_why = program->nr_whys;
	for (i = result->first_metric; i < program->nr_metrics; i++) {
		metric = &program->metrics[i];
		metric->stray = !owns(result->name, metric->owner);
		if (metric->stray)
			complain(p, KTAP_T_METRIC, true, program, metric->line,
				 "a metric of %s is before %s", metric->owner,
				 result->name);
	}
	for (i = result->first_why; i < program->nr_whys; i++) {
		why = &program->whys[i];
		if (why->kind == KTAP_WHY && !owns(result->name, why->owner))
			complain(p, KTAP_T_METRIC, false, program, why->line,
				 "a why of %s is before %s", why->owner,
				 result->name);
	}
	measured = ktap_measured(program, result);
	if (result->verdict == KTAP_OK && measured &&
	    ktap_beyond(measured, measured->median))
		complain(p, KTAP_T_BOUND, true, program, measured->line,
			 "%s is ok, but its %s is beyond the bound",
			 result->name, measured->name);
}

/* What the runner's word must agree with */
struct tally {
	size_t results;
	size_t not_ok;
	size_t skips;
};

/* What is wrong with the exit code of a program that is not ok, or NULL */
static const char *wrong_exit(struct ktap_parser *p,
			      const struct ktap_program *program,
			      const struct tally *t)
{
	long long code = program->outer.exit_code;

	if (!t->not_ok)
		return keep_text(p, "not ok by the runner (exit=%lld) alone%s",
				 code, in_test(p, program));
	if (code > 128 && code < 128 + 65)
		return keep_text(p, "exit=%lld: killed by signal %lld%s", code,
				 code - 128, in_test(p, program));
	if (code >= 0 && code != 1)
		return keep_text(p, "exit=%lld where 1 is due", code);
	return NULL;
}

static void check_agreement(struct ktap_parser *p,
			    const struct ktap_program *program,
			    const struct tally *t, const char *reason)
{
	const struct ktap_outer *outer = &program->outer;
	const char *wrong = NULL;
	bool fatal = true;

	if (outer->timeout) {
		complain(p, KTAP_T_TIMEOUT, true, program, p->line, "%s%s",
			 reason, in_test(p, program));
		return;
	}
	if (outer->verdict == KTAP_NOT_OK) {
		if (t->results)
			wrong = wrong_exit(p, program, t);
	} else if (outer->verdict == KTAP_SKIP ||
		   outer->verdict == KTAP_INCONCLUSIVE) {
		if (t->skips != t->results)
			wrong = "the runner says skip, but tests ran";
	} else if (!t->results) {
		wrong = "the runner says ok, but no result is in the log";
	} else if (t->not_ok) {
		wrong = "the runner says ok, but not all results are";
	} else if (t->skips == t->results) {
		wrong = "the runner says ok, but exit 4 is due: all skipped";
		fatal = false;
	}
	if (wrong)
		complain(p, KTAP_T_DISAGREE, fatal, program, p->line, "%s",
			 wrong);
}

/* "ok 1 selftests: mm-cache: pread_hot_set" after that program's lines */
static void outer_result(struct ktap_parser *p, unsigned int level,
			 const char *name, enum ktap_verdict verdict,
			 const struct directive *d)
{
	struct ktap_outer outer = {
		.present = true,
		.verdict = verdict,
		.timeout = d->kind == TIMEOUT,
		.exit_code = -1,
		.line = p->line,
	};
	struct ktap_program *program = NULL, *last = NULL;
	const char *collection = "", *reason = d->reason, *colon;
	struct stream *s = &p->streams[level];
	struct tally t = { 0 };
	size_t i, j;

	s->runner = true;
	close_from(p, level + 1, false, true);
	if (skip_prefix(&name, "selftests: ")) {
		colon = strstr(name, ": ");
		if (colon) {
			collection = keep(p, name, colon - name);
			name = colon + 2;
		}
	}
	if (skip_prefix(&reason, "exit=") &&
	    !take_i64(&reason, &outer.exit_code))
		outer.exit_code = -1;
	reason = d->reason;

	for (i = s->first_child; i < p->log.nr_programs; i++) {
		program = p->log.programs[i];
		if (program->level <= level)
			continue;
		last = program;
		if (!program->outer.present)
			program->outer = outer;
		if (!*program->name) {
			program->name = name;
			program->collection = collection;
		}
		t.results += program->nr_results;
		for (j = 0; j < program->nr_results; j++) {
			verdict = program->results[j].verdict;
			t.not_ok += verdict == KTAP_NOT_OK;
			t.skips += verdict == KTAP_SKIP ||
				   verdict == KTAP_INCONCLUSIVE;
			if (!*program->results[j].name)
				program->results[j].name = program->name;
		}
	}
	if (!last) {
		last = new_program(p, level + 1);
		if (!last)
			return;
		last->name = name;
		last->collection = collection;
		last->outer = outer;
	}
	check_agreement(p, last, &t, reason);
	if (!t.results && outer.verdict != KTAP_OK)
		whole_program(p, last, outer.verdict, reason);
	s->first_child = p->log.nr_programs;
}

static bool has_children(const struct ktap_parser *p, unsigned int level)
{
	const struct stream *s = &p->streams[level];
	size_t i;

	if (p->streams[level + 1].open || p->headers[level + 1].present)
		return true;
	for (i = p->log.nr_programs; i-- > s->first_child;) {
		if (p->log.programs[i]->level > level)
			return true;
	}
	return false;
}

static void leaf_result(struct ktap_parser *p, unsigned int level,
			uint64_t number, const char *name,
			enum ktap_verdict verdict, const char *reason)
{
	struct stream *s = &p->streams[level];
	struct ktap_program *program = stream_program(p, level);
	struct ktap_result *result = program ? new_result(p, program) : NULL;

	if (!result)
		return;
	result->name = name;
	result->number = number;
	result->verdict = verdict;
	if (verdict == KTAP_OK && s->xpass && !strcmp(s->xpass, name))
		result->verdict = KTAP_XPASS;
	s->xpass = NULL;
	result->reason = reason;
	claim(p, s, result);
	check_duplicate(p, s);
}

/* Where the comment begins: a # that no backslash guards */
static const char *find_comment(const char *s)
{
	const char *c = s;

	while ((c = strchr(c, '#'))) {
		if (c == s || c[-1] != '\\')
			return c;
		c++;
	}
	return NULL;
}

static void check_form(struct ktap_parser *p, const struct stream *s, bool ok,
		       const char *name, const struct directive *d)
{
	if (!*name)
		complain(p, KTAP_T_FORM, false, s->program, p->line,
			 "a result without a name before the #");
	else if (!d->exact)
		complain(p, KTAP_T_FORM, false, s->program, p->line,
			 "%s: not exactly 'ok N name # DIRECTIVE reason'",
			 name);
	if (!ok && d->kind == SKIP)
		complain(p, KTAP_T_FORM, false, s->program, p->line,
			 "%s: a skip that says not ok", name);
	if (ok && (d->kind == TIMEOUT || d->kind == ERROR))
		complain(p, KTAP_T_FORM, true, s->program, p->line,
			 "%s: says ok, and that it failed", name);
}

static void result_line(struct ktap_parser *p, unsigned int level, bool ok,
			uint64_t number, const char *rest)
{
	struct directive d = { .kind = NONE, .reason = "", .exact = true };
	const char *comment = find_comment(rest);
	enum ktap_verdict verdict;
	const char *name, *end;
	struct stream *s;
	bool outer;
	size_t len;

	s = open_stream(p, level);
	rest = skip_blanks(rest);
	if (skip_prefix(&rest, "- "))
		rest = skip_blanks(rest);
	end = comment ? comment : rest + strlen(rest);
	len = end > rest ? trimmed_len(rest, end - rest) : 0;
	name = keep(p, rest, len);
	if (comment) {
		d = parse_directive(p, comment + 1);
		/* Two blanks, or none, before the # mislead some parsers */
		if (d.kind != NONE && len && rest + len + 1 != comment)
			d.exact = false;
	}
	verdict = directed(ok, &d);
	outer = has_children(p, level) || !strncmp(name, "selftests: ", 11);
	if (!outer)
		stream_program(p, level);
	p->weight = outer ? HARMLESS : MATTERS;
	check_form(p, s, ok, name, &d);
	if (!*name && *d.reason) {
		/* ksft_test_result_skip() puts the name behind the directive */
		name = d.reason;
		d.reason = "";
	}
	if (outer)
		outer_result(p, level, name, verdict, &d);
	else
		leaf_result(p, level, number, name, verdict, d.reason);
	check_number(p, s, number);
	if (verdict == KTAP_OK &&
	    (has_verdict_word(name) || has_verdict_word(d.reason)))
		complain(p, KTAP_T_WORDS, false, s->program, p->line,
			 "%s: FAIL or SKIP in a passing line", name);
}

static void bail_out(struct ktap_parser *p, unsigned int level,
		     const char *text)
{
	struct stream *s = open_stream(p, level);

	s->bailed = true;
	p->weight = MATTERS;
	complain(p, KTAP_T_BAIL_OUT, true, s->program, p->line, "Bail out!%s%s",
		 *text && *text != ' ' ? " " : "", text);
}

static bool metric_field(struct ktap_metric *m, const char *s, size_t len,
			 unsigned int *have)
{
	static const char *const keys[] = {
		"n=",	   "median=", "min=",	 "max=",
		"bound>=", "bound<=", "bound==",
	};
	int64_t *const values[] = {
		&m->n,	   &m->median, &m->min,	  &m->max,
		&m->bound, &m->bound,  &m->bound,
	};
	const char *end = s + len;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!skip_prefix(&s, keys[i]))
			continue;
		if (!take_i64(&s, values[i]) || s != end)
			return false;
		if (i >= 4)
			m->relation = KTAP_AT_LEAST + (i - 4);
		/* All three bounds are one field */
		i = i < 4 ? i : 4;
		if (*have & 1U << i)
			return false;
		*have |= 1U << i;
		return true;
	}
	/* A bound not understood must not become no bound */
	return strncmp(s, "bound", 5) != 0;
}

static bool known_field(const char *s)
{
	return skip_prefix(&s, "n=") || skip_prefix(&s, "median=") ||
	       skip_prefix(&s, "min=") || skip_prefix(&s, "max=") ||
	       skip_prefix(&s, "bound");
}

static bool parse_metric(struct ktap_parser *p, const char *s,
			 struct ktap_metric *m)
{
	const char **const words[] = { &m->owner, &m->name, &m->unit };
	unsigned int have = 0;
	char *more = NULL;
	size_t i, len;

	for (i = 0; i < 3; i++) {
		s = skip_blanks(s);
		len = word_len(s);
		if (!len || memchr(s, '=', len))
			return false;
		*words[i] = keep(p, s, len);
		s += len;
	}
	m->more = "";
	for (s = skip_blanks(s); *s; s = skip_blanks(s + len)) {
		len = word_len(s);
		if (!metric_field(m, s, len, &have))
			return false;
		if (known_field(s))
			continue;
		if (!more) {
			more = keep_room(p, strlen(s) + 1);
			if (!more)
				return false;
			m->more = more;
		} else {
			*more++ = ' ';
		}
		memcpy(more, s, len);
		more += len;
		*more = '\0';
	}
	return (have & 0xf) == 0xf && m->n > 0 && m->min <= m->median &&
	       m->median <= m->max;
}

static void metric_line(struct ktap_parser *p, unsigned int level,
			const char *s)
{
	struct ktap_program *program = stream_program(p, level);
	struct ktap_metric metric = { 0 }, *slot;

	p->weight = MATTERS;
	if (!program)
		return;
	metric.line = p->line;
	if (!parse_metric(p, s, &metric)) {
		complain(p, KTAP_T_METRIC, true, program, p->line,
			 "not a metric: %.*s%s", EXCERPT, skip_blanks(s),
			 strlen(s) > EXCERPT ? "..." : "");
		return;
	}
	slot = append(p, &program->metrics, &program->nr_metrics,
		      sizeof(*program->metrics));
	if (slot)
		*slot = metric;
}

static void env_line(struct ktap_parser *p, unsigned int level, const char *s)
{
	struct ktap_program *program = stream_program(p, level);
	struct ktap_env *env;
	size_t len;

	p->weight = HARMLESS;
	env = program ? append(p, &program->env, &program->nr_env,
			       sizeof(*program->env)) :
			NULL;
	if (!env)
		return;
	s = skip_blanks(s);
	len = word_len(s);
	env->key = keep(p, s, len);
	env->value = keep_trimmed(p, s + len);
	env->line = p->line;
}

static void add_why(struct ktap_parser *p, unsigned int level, int kind,
		    const char *text)
{
	struct ktap_program *program = stream_program(p, level);
	struct ktap_why *why = NULL;
	size_t len = 0;

	p->weight = HARMLESS;
	if (program)
		why = append(p, &program->whys, &program->nr_whys,
			     sizeof(*why));
	if (!why)
		return;
	if (kind == KTAP_WHY)
		len = strcspn(text, ":");
	why->kind = kind;
	why->owner = keep(p, text, len);
	why->text = keep_trimmed(p, text + len + (len > 0));
	why->line = p->line;
}

/* The pass of the next result, if that is its name, is not expected. */
static void xpass_line(struct ktap_parser *p, unsigned int level,
		       const char *name)
{
	p->streams[level].xpass = keep(p, name, strcspn(name, ": \t"));
	p->weight = MATTERS;
}

/* "file.c:12:test:Expected ..." and "test: Test terminated by timeout" */
static bool harness_says(const char *s)
{
	const char *c = s + strcspn(s, ": \t");

	if (*c != ':' || c == s)
		return false;
	if (skip_prefix(&c, ": Test ") || skip_prefix(&c, ": No test "))
		return true;
	return c - s > 2 && !strncmp(c - 2, ".c:", 3) &&
	       isdigit((unsigned char)c[1]);
}

static void check_totals(struct ktap_parser *p,
			 const struct ktap_program *program,
			 const uint64_t totals[KTAP_NR_VERDICTS])
{
	uint64_t count[KTAP_NR_VERDICTS] = { 0 };
	size_t i;

	for (i = 0; i < program->nr_results; i++)
		count[program->results[i].verdict]++;
	count[KTAP_SKIP] += count[KTAP_INCONCLUSIVE];
	count[KTAP_INCONCLUSIVE] = 0;
	/* A pass that # xpass is about is for the harness one like any other */
	if (count[KTAP_XPASS] != totals[KTAP_XPASS]) {
		count[KTAP_OK] += count[KTAP_XPASS];
		count[KTAP_XPASS] = 0;
	}
	if (memcmp(count, totals, sizeof(count)))
		complain(p, KTAP_T_TOTALS, true, program, p->line,
			 "the Totals line counts other results than came");
}

static void totals_line(struct ktap_parser *p, struct stream *s,
			const char *rest)
{
	static const struct {
		const char *word;
		enum ktap_verdict verdict;
	} fields[] = {
		{ "pass:", KTAP_OK },	  { "fail:", KTAP_NOT_OK },
		{ "xfail:", KTAP_XFAIL }, { "xpass:", KTAP_XPASS },
		{ "skip:", KTAP_SKIP },	  { "error:", KTAP_NOT_OK },
	};
	uint64_t totals[KTAP_NR_VERDICTS] = { 0 }, value;
	size_t i;

	p->weight = HARMLESS;
	s->has_totals = true;
	if (!s->program)
		return;
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		rest = skip_blanks(rest);
		if (!skip_prefix(&rest, fields[i].word) ||
		    !take_u64(&rest, &value))
			return;
		totals[fields[i].verdict] += value;
	}
	check_totals(p, s->program, totals);
}

static void header_line(struct ktap_parser *p, unsigned int level,
			const char *rest)
{
	const char *colon = strstr(rest, ": ");
	struct header *header = &p->headers[level];

	if (!colon || colon == rest || !colon[2] || p->cut)
		return;
	close_from(p, level, false, false);
	if (header->present)
		complain(p, KTAP_T_TRUNCATED, true, NULL, header->line,
			 "%s has begun and not ended", header->name);
	header->present = true;
	header->collection = keep(p, rest, colon - rest);
	header->name = keep_trimmed(p, colon + 2);
	header->line = p->line;
}

/* A line with level times "# " before it, printed by the stream below */
static void comment_line(struct ktap_parser *p, unsigned int level,
			 const char *s)
{
	const char *rest = s;
	struct stream *stream;
	unsigned int l;

	if (skip_prefix(&rest, "selftests: ")) {
		if (level < MAX_LEVELS)
			header_line(p, level, rest);
		return;
	}
	l = level - 1 < MAX_LEVELS ? level - 1 : MAX_LEVELS - 1;
	while (l && !p->streams[l].open && !p->headers[l].present)
		l--;
	stream = &p->streams[l];
	if (skip_prefix(&rest, "metric ")) {
		open_stream(p, l);
		metric_line(p, l, rest);
	} else if (skip_prefix(&rest, "env ")) {
		open_stream(p, l);
		env_line(p, l, rest);
	} else if (skip_prefix(&rest, "why ")) {
		if (rest[strcspn(rest, ": \t")] != ':')
			return;
		open_stream(p, l);
		add_why(p, l, KTAP_WHY, rest);
	} else if (skip_prefix(&rest, "need ")) {
		open_stream(p, l);
		add_why(p, l, KTAP_NEED, rest);
	} else if (skip_prefix(&rest, "error ")) {
		open_stream(p, l);
		add_why(p, l, KTAP_ERROR, rest);
	} else if (skip_prefix(&rest, "xpass ")) {
		open_stream(p, l);
		xpass_line(p, l, rest);
	} else if (!stream->open) {
		return;
	} else if (skip_prefix(&rest, "Totals: ")) {
		totals_line(p, stream, rest);
	} else if (skip_prefix(&rest, " RUN ")) {
		struct ktap_program *program = stream_program(p, l);

		rest = skip_blanks(rest);
		if (program)
			program->running = keep(p, rest, word_len(rest));
	} else if (harness_says(rest)) {
		add_why(p, l, KTAP_SAID, rest);
	}
}

/* Is a program at this level awaited or at work? Else "# ok 3" is a remark. */
static bool level_expected(const struct ktap_parser *p, unsigned int level)
{
	return !level || p->streams[level].open || p->headers[level].present;
}

static bool tap_line(struct ktap_parser *p, unsigned int level, const char *s)
{
	const char *rest = s;
	uint64_t number;
	bool ok = true;

	if (skip_prefix(&rest, "TAP version ") ||
	    skip_prefix(&rest, "KTAP version ")) {
		if (!take_u64(&rest, &number) || *skip_blanks(rest))
			return false;
		version_line(p, level);
		return true;
	}
	if (!level_expected(p, level))
		return false;
	if (skip_prefix(&rest, "1..")) {
		if (!take_u64(&rest, &number))
			return false;
		if (*skip_blanks(rest) && *skip_blanks(rest) != '#')
			return false;
		plan_line(p, level, number, rest);
		return true;
	}
	if (skip_prefix(&rest, "Bail out!")) {
		bail_out(p, level, rest);
		return true;
	}
	if (skip_prefix(&rest, "not "))
		ok = false;
	if (!skip_prefix(&rest, "ok"))
		return false;
	if (*rest && *rest != ' ')
		return false;
	rest = skip_blanks(rest);
	if (!take_u64(&rest, &number) || (*rest && *rest != ' ')) {
		if (p->streams[level].open && !ok)
			complain(p, KTAP_T_FORM, true,
				 p->streams[level].program, p->line,
				 "a not ok without a number");
		return false;
	}
	result_line(p, level, ok, number, rest);
	return true;
}

static void too_deep(struct ktap_parser *p)
{
	if (p->deep)
		return;
	p->deep = true;
	complain(p, KTAP_T_DEPTH, true, NULL, p->line,
		 "results nested more than %d deep are not read",
		 MAX_LEVELS - 2);
}

static void read_line(struct ktap_parser *p, char *line, size_t len)
{
	const char *s = clean(line, len);
	unsigned int level = 0;

	while (s[0] == '#' && s[1] == ' ') {
		s += 2;
		if (level < UINT_MAX)
			level++;
	}
	if (level >= MAX_LEVELS - 1) {
		if (!strncmp(s, "ok ", 3) || !strncmp(s, "not ok ", 7) ||
		    !strncmp(s, "TAP version ", 12))
			too_deep(p);
	} else if (tap_line(p, level, s)) {
		return;
	}
	if (level)
		comment_line(p, level, s);
}

/* What a line of use can begin with; most console noise ends here */
static bool may_matter(const char *line, size_t len)
{
	/* strchr() finds NUL too, which some consoles put first */
	return len && strchr("#onTKB[<0123456789\033\r\xef", *line);
}

static int buffer_add(struct ktap_parser *p, const char *data, size_t len)
{
	size_t size = p->size ? p->size : 4096;
	char *bigger;

	while (size - p->used <= len) {
		if (__builtin_mul_overflow(size, 2, &size))
			return p->err = -ENOMEM;
	}
	if (size != p->size) {
		bigger = realloc(p->buffer, size);
		if (!bigger)
			return p->err = -ENOMEM;
		p->buffer = bigger;
		p->size = size;
	}
	memcpy(p->buffer + p->used, data, len);
	p->used += len;
	return 0;
}

/* The line in the buffer is whole, or the source ends in it */
static void buffer_line(struct ktap_parser *p)
{
	size_t len = p->used;
	char *line = p->buffer;

	p->used = 0;
	if (p->line == 1 && len >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		len -= 3;
	}
	read_line(p, line, len);
}

int ktap_feed(struct ktap_parser *p, const char *data, size_t len)
{
	const char *end = data + len, *newline;
	size_t piece;

	if (!p->err && !p->source)
		return -EINVAL;
	while (!p->err && data < end) {
		newline = memchr(data, '\n', end - data);
		piece = (newline ? newline : end) - data;
		if (!p->used && !p->noise)
			p->noise = !may_matter(data, piece);
		if (!p->noise)
			buffer_add(p, data, piece);
		if (!newline)
			break;
		p->line++;
		if (p->used && !p->err)
			buffer_line(p);
		p->noise = false;
		data = newline + 1;
	}
	return p->err;
}

static void end_source(struct ktap_parser *p)
{
	if (p->used) {
		p->line++;
		p->cut = true;
		p->weight = NOISE;
		buffer_line(p);
		if (p->weight != NOISE)
			complain(p, KTAP_T_CUT_LINE, p->weight == MATTERS, NULL,
				 p->line, "the last line has no end");
		p->cut = false;
	}
	close_from(p, 0, true, false);
	if (!p->source_results)
		complain(p, KTAP_T_NOTHING, true, NULL, p->line,
			 "not one test result");
	forget_names(p);
	p->source = NULL;
}

int ktap_end(struct ktap_parser *p)
{
	if (!p->err && p->source)
		end_source(p);
	return p->err;
}

int ktap_source(struct ktap_parser *p, const char *name)
{
	if (ktap_end(p))
		return p->err;
	p->source = keep(p, name, strlen(name));
	p->source_results = 0;
	p->line = 0;
	p->noise = false;
	p->deep = false;
	return p->err;
}

int ktap_read(struct ktap_parser *p, const char *name, FILE *stream)
{
	char *data;
	size_t len;

	if (ktap_source(p, name))
		return p->err;
	data = malloc(READ_SIZE);
	if (!data)
		return p->err = -ENOMEM;
	do {
		errno = 0;
		len = fread(data, 1, READ_SIZE, stream);
		ktap_feed(p, data, len);
	} while (len && !p->err);
	if (!p->err && ferror(stream))
		p->err = errno ? -errno : -EIO;
	free(data);
	return p->err;
}

struct ktap_parser *ktap_new(void)
{
	return calloc(1, sizeof(struct ktap_parser));
}

void ktap_free(struct ktap_parser *p)
{
	struct block *next;
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->log.nr_programs; i++) {
		free(p->log.programs[i]->results);
		free(p->log.programs[i]->metrics);
		free(p->log.programs[i]->whys);
		free(p->log.programs[i]->env);
		free(p->log.programs[i]);
	}
	free(p->log.programs);
	free(p->log.problems);
	free(p->names);
	free(p->buffer);
	for (; p->blocks; p->blocks = next) {
		next = p->blocks->next;
		free(p->blocks);
	}
	free(p);
}

const struct ktap_log *ktap_log(const struct ktap_parser *p)
{
	return &p->log;
}

/* --- what it comes to --------------------------------------------------- */

const struct ktap_metric *ktap_measured(const struct ktap_program *program,
					const struct ktap_result *result)
{
	const struct ktap_metric *metric;
	size_t i;

	for (i = 0; i < result->nr_metrics; i++) {
		metric = &program->metrics[result->first_metric + i];
		if (!metric->stray && metric->relation != KTAP_UNBOUNDED)
			return metric;
	}
	return NULL;
}

bool ktap_beyond(const struct ktap_metric *metric, int64_t value)
{
	switch (metric->relation) {
	case KTAP_AT_LEAST:
		return value < metric->bound;
	case KTAP_AT_MOST:
		return value > metric->bound;
	case KTAP_EQUAL:
		return value != metric->bound;
	case KTAP_UNBOUNDED:
		break;
	}
	return false;
}

size_t ktap_count(const struct ktap_log *log, size_t count[KTAP_NR_VERDICTS])
{
	size_t i, j, sum = 0;

	memset(count, 0, KTAP_NR_VERDICTS * sizeof(*count));
	for (i = 0; i < log->nr_programs; i++) {
		const struct ktap_program *program = log->programs[i];

		for (j = 0; j < program->nr_results; j++)
			count[program->results[j].verdict]++;
		sum += program->nr_results;
	}
	return sum;
}

enum ktap_status ktap_status(const struct ktap_log *log)
{
	size_t count[KTAP_NR_VERDICTS], sum = ktap_count(log, count), i;
	bool nothing = !sum;

	if (count[KTAP_NOT_OK])
		return KTAP_S_NOT_OK;
	for (i = 0; sum && i < log->nr_problems; i++) {
		if (log->problems[i].trouble == KTAP_T_NOTHING)
			nothing = true;
		else if (log->problems[i].fatal)
			return KTAP_S_NOT_OK;
	}
	if (nothing)
		return KTAP_S_NOTHING;
	if (count[KTAP_INCONCLUSIVE])
		return KTAP_S_INCONCLUSIVE;
	return count[KTAP_SKIP] == sum ? KTAP_S_SKIPPED : KTAP_S_OK;
}
