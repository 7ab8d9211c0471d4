// SPDX-License-Identifier: GPL-2.0
/*
 * Attacks the KTAP parser; meant to be built with sanitizers. Given logs that
 * are complete, it checks for each
 *
 *   cut     a log cut before its last line comes to no success
 *   drop    nor does one without one of its results or plans
 *   twice   nor one with a result line doubled
 *   memory  every allocation may fail: -ENOMEM, and nothing leaks
 *   split   pieces of any size come to the same as the whole
 *   mutate  random changes, ROUNDS of them: no crash, and split holds
 *
 * One line per log and check, "ok" or "not ok"; exit status 1 if one is not
 * ok. With -DLIBFUZZER it has no main() and is a target of libFuzzer.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ktap_parse.h"

struct text {
	char *data;
	size_t len;
};

/* What two ways to read the same log must agree on */
struct digest {
	enum ktap_status status;
	size_t programs;
	size_t problems;
	size_t fatal;
	size_t metrics;
	size_t whys;
	size_t count[KTAP_NR_VERDICTS];
	unsigned long long strings;
};

static void broken(const char *what)
{
	fprintf(stderr, "ktap_fuzz: %s\n", what);
	abort();
}

static void add_string(struct digest *d, const char *s)
{
	if (!s)
		broken("a string is NULL");
	while (*s)
		d->strings = d->strings * 31 + (unsigned char)*s++;
	d->strings = d->strings * 31 + 1;
}

static void add_program(struct digest *d, const struct ktap_program *program)
{
	size_t i, metric = 0;

	d->metrics += program->nr_metrics;
	d->whys += program->nr_whys;
	add_string(d, program->name);
	add_string(d, program->collection);
	add_string(d, program->running);
	for (i = 0; i < program->nr_results; i++) {
		const struct ktap_result *r = &program->results[i];

		add_string(d, r->name);
		add_string(d, r->reason);
		if (r->verdict >= KTAP_NR_VERDICTS)
			broken("a verdict out of range");
		if (r->first_metric < metric ||
		    r->nr_metrics > program->nr_metrics - r->first_metric ||
		    r->nr_whys > program->nr_whys - r->first_why)
			broken("a result owns what is not there");
		metric = r->first_metric + r->nr_metrics;
		ktap_measured(program, r);
	}
	for (i = 0; i < program->nr_metrics; i++) {
		const struct ktap_metric *m = &program->metrics[i];

		add_string(d, m->owner);
		add_string(d, m->name);
		add_string(d, m->unit);
		add_string(d, m->more);
		if (m->min > m->median || m->median > m->max || m->n < 1)
			broken("a metric out of order");
	}
	for (i = 0; i < program->nr_whys; i++) {
		add_string(d, program->whys[i].owner);
		add_string(d, program->whys[i].text);
	}
	for (i = 0; i < program->nr_env; i++) {
		add_string(d, program->env[i].key);
		add_string(d, program->env[i].value);
	}
}

static struct digest digest(const struct ktap_log *log)
{
	struct digest d = { .status = ktap_status(log) };
	size_t i;

	d.programs = log->nr_programs;
	d.problems = log->nr_problems;
	ktap_count(log, d.count);
	for (i = 0; i < log->nr_programs; i++)
		add_program(&d, log->programs[i]);
	for (i = 0; i < log->nr_problems; i++) {
		d.fatal += log->problems[i].fatal;
		add_string(&d, log->problems[i].program);
		add_string(&d, log->problems[i].text);
	}
	return d;
}

/* Pieces of 1 to max bytes; max 0: all at once */
static int parse(const char *data, size_t len, size_t max, struct digest *d)
{
	struct ktap_parser *p = ktap_new();
	size_t piece;
	int ret;

	if (!p)
		return -ENOMEM;
	ret = ktap_source(p, "log");
	while (!ret && len) {
		piece = max ? 1 + len * 7 % max : len;
		if (piece > len)
			piece = len;
		ret = ktap_feed(p, data, piece);
		data += piece;
		len -= piece;
	}
	if (!ret)
		ret = ktap_end(p);
	if (!ret)
		*d = digest(ktap_log(p));
	ktap_free(p);
	return ret;
}

static struct digest parsed(const char *data, size_t len)
{
	struct digest d = { 0 };

	if (parse(data, len, 0, &d))
		broken("a log cannot be read");
	return d;
}

static bool same_in_pieces(const char *data, size_t len)
{
	struct digest whole = parsed(data, len), pieces = { 0 };
	size_t max;

	for (max = 1; max < 5000; max = max * 9 + 1) {
		if (parse(data, len, max, &pieces) ||
		    memcmp(&whole, &pieces, sizeof(whole)))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	if (!same_in_pieces((const char *)data, size))
		broken("pieces come to something else than the whole");
	return 0;
}

#ifndef LIBFUZZER
/* Allocations until the one that fails; negative: none does */
static long allocations_left = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t nr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t nr, size_t size);

static bool allocation_fails(void)
{
	return allocations_left >= 0 && !allocations_left--;
}

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t size)
{
	return allocation_fails() ? NULL : __real_reallocarray(old, nr, size);
}

static bool succeeds(enum ktap_status status)
{
	return status != KTAP_S_NOT_OK && status != KTAP_S_NOTHING;
}

static size_t line_len(const char *s, const char *end)
{
	const char *newline = memchr(s, '\n', end - s);

	return (newline ? newline + 1 : end) - s;
}

static const char *skip_levels(const char *s, const char *end)
{
	while (end - s > 2 && s[0] == '#' && s[1] == ' ')
		s += 2;
	return s;
}

/* Is what comes up to here complete: does the next program begin, or nothing? */
static bool is_seam(const char *s, const char *end)
{
	s = skip_levels(s, end);
	return s == end || !strncmp(s, "TAP version ", 12) ||
	       !strncmp(s, "timeout set ", 12);
}

static bool check_cut(const struct text *log)
{
	const char *end = log->data + log->len, *line;
	size_t i, len, cut;

	for (line = log->data; line < end; line += len) {
		len = line_len(line, end);
		/* Of a last line the end may be lost, of a first one all */
		if (is_seam(line, end) || is_seam(line + len, end))
			continue;
		for (i = 1; i <= len; i++) {
			cut = line - log->data + i;
			if (!succeeds(parsed(log->data, cut).status))
				continue;
			fprintf(stderr, "cut to %zu bytes\n", cut);
			return false;
		}
	}
	return true;
}

/* After the levels: a result or a plan */
static bool is_vital(const char *s, const char *end)
{
	s = skip_levels(s, end);
	return !strncmp(s, "ok ", 3) || !strncmp(s, "not ok ", 7) ||
	       !strncmp(s, "1..", 3);
}

/* Each vital line is left out, or there times */
static bool check_lines(const struct text *log, unsigned int times)
{
	const char *end = log->data + log->len, *line;
	char *changed = malloc(2 * log->len + 1);
	bool good = true;
	size_t len;

	if (!changed)
		broken("no memory");
	for (line = log->data; good && line < end; line += len) {
		size_t before = line - log->data, used = before;
		enum ktap_status status;
		unsigned int i;

		len = line_len(line, end);
		if (!is_vital(line, end))
			continue;
		memcpy(changed, log->data, before);
		for (i = 0; i < times; i++) {
			memcpy(changed + used, line, len);
			used += len;
		}
		memcpy(changed + used, line + len, end - line - len);
		used += end - line - len;
		status = parsed(changed, used).status;
		if (succeeds(status)) {
			fprintf(stderr, "%u times: status %d: %.*s", times,
				status, (int)len, line);
			good = false;
		}
	}
	free(changed);
	return good;
}

static bool check_drop(const struct text *log)
{
	return check_lines(log, 0);
}

static bool check_twice(const struct text *log)
{
	return check_lines(log, 2);
}

static bool check_memory(const struct text *log)
{
	struct digest d;
	long nth;
	int ret;

	for (nth = 0; nth < 1000000; nth++) {
		allocations_left = nth;
		ret = parse(log->data, log->len, 4096, &d);
		if (allocations_left >= 0) {
			allocations_left = -1;
			return nth > 3 && !ret;
		}
		allocations_left = -1;
		if (ret != -ENOMEM) {
			fprintf(stderr, "allocation %ld fails: %d\n", nth, ret);
			return false;
		}
	}
	return false;
}

static bool check_split(const struct text *log)
{
	return same_in_pieces(log->data, log->len);
}

static unsigned long long state;

static size_t random_below(size_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return limit ? state % limit : 0;
}

static const char *const tokens[] = {
	"\n",
	"\r\n",
	"# ",
	"ok 1 ",
	"not ok 2 ",
	"TAP version 13\n",
	"1..3\n",
	"1..0 # SKIP x\n",
	" # SKIP ",
	" # XFAIL ",
	" # TIMEOUT 45 seconds",
	" # exit=137",
	"Bail out!",
	"# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0\n",
	"# selftests: a: b\n",
	"selftests: a: b",
	"# metric a.b c permille n=1 median=1 min=1 max=1 bound>=1\n",
	"# env kernel 1\n",
	"# why a.b: c\n",
	"# x.c:1:y:z\n",
	"# need root: x\n",
	"# error x\n",
	"# xpass a.b.c: x\n",
	"#  RUN           a.b.c ...\n",
	"[    1.234567] ",
	"<6>",
	"2026-01-31T12:34:56.789Z ",
	"12:34:56 ",
	"\033[1m",
	"\xef\xbb\xbf",
	"\xff",
	"99999999999999999999",
	"9223372036854775808",
	"-1",
	"inconclusive: ",
};

static void splice(struct text *t, size_t at, size_t cut, const char *with,
		   size_t len)
{
	char *old = t->data;

	t->data = malloc(t->len - cut + len + 1);
	if (!t->data)
		broken("no memory");
	memcpy(t->data, old, at);
	memcpy(t->data + at, with, len);
	memcpy(t->data + at + len, old + at + cut, t->len - at - cut);
	t->len += len - cut;
	free(old);
}

static void change(struct text *t, const struct text *other)
{
	size_t at = random_below(t->len + 1);
	size_t left = t->len - at, from;
	const char *token;

	switch (random_below(6)) {
	case 0:
		if (left)
			t->data[at] = random_below(256);
		break;
	case 1:
		splice(t, at, random_below(left < 200 ? left : 200), "", 0);
		break;
	case 2:
		/* A whole line goes */
		while (at && t->data[at - 1] != '\n')
			at--;
		splice(t, at, line_len(t->data + at, t->data + t->len), "", 0);
		break;
	case 3:
		from = random_below(other->len);
		splice(t, at, 0, other->data + from,
		       random_below(other->len - from < 400 ?
					    other->len - from :
					    400));
		break;
	default:
		token = tokens[random_below(sizeof(tokens) / sizeof(*tokens))];
		splice(t, at, 0, token, strlen(token));
	}
}

static void mutate(const struct text *logs, size_t nr, unsigned long rounds)
{
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		const struct text *log, *other;
		struct text changed;
		size_t n;

		state = 0x9e3779b97f4a7c15ULL * (i + 1);
		log = &logs[random_below(nr)];
		other = &logs[random_below(nr)];
		changed.len = log->len;
		changed.data = malloc(log->len + 1);
		if (!changed.data)
			broken("no memory");
		memcpy(changed.data, log->data, log->len);
		for (n = 1 + random_below(8); n; n--)
			change(&changed, other);
		LLVMFuzzerTestOneInput((unsigned char *)changed.data,
				       changed.len);
		free(changed.data);
	}
}

static struct text read_file(const char *name)
{
	FILE *stream = fopen(name, "re");
	struct text t = { 0 };

	if (!stream || fseek(stream, 0, SEEK_END))
		broken(name);
	t.len = ftell(stream);
	rewind(stream);
	t.data = malloc(t.len + 1);
	if (!t.data || fread(t.data, 1, t.len, stream) != t.len)
		broken(name);
	t.data[t.len] = '\0';
	fclose(stream);
	return t;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*check)(const struct text *log);
		bool success_only; /* there is a success to be lost */
	} checks[] = {
		{ "cut", check_cut, true },
		{ "drop", check_drop, true },
		{ "twice", check_twice, true },
		{ "memory", check_memory, false },
		{ "split", check_split, false },
	};
	int i, failed = 0;
	struct text *logs;
	size_t c;

	if (argc < 3) {
		fprintf(stderr, "Usage: ktap_fuzz ROUNDS LOG...\n");
		return 64;
	}
	logs = calloc(argc, sizeof(*logs));
	if (!logs)
		broken("no memory");
	for (i = 2; i < argc; i++) {
		logs[i] = read_file(argv[i]);
		for (c = 0; c < sizeof(checks) / sizeof(*checks); c++) {
			if (checks[c].success_only &&
			    !succeeds(parsed(logs[i].data, logs[i].len).status))
				continue;
			if (checks[c].check(&logs[i])) {
				printf("ok %s %s\n", checks[c].name, argv[i]);
			} else {
				printf("not ok %s %s\n", checks[c].name,
				       argv[i]);
				failed = 1;
			}
			fflush(stdout);
		}
	}
	mutate(logs + 2, argc - 2, strtoul(argv[1], NULL, 0));
	printf("ok mutate %s\n", argv[1]);
	for (i = 2; i < argc; i++)
		free(logs[i].data);
	free(logs);
	return failed;
}
#endif
