/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The test programs' voice: the only place that includes the kselftest
 * harness, prints KTAP, and knows exit codes.
 *
 * Lines for parsers, one per fact, besides the harness's own:
 *
 *   # env KEY VALUE
 *   # metric FIXTURE.VARIANT ARM_METRIC UNIT n=5 median=17 min=16 max=17 bound>=750
 *   # why FIXTURE.VARIANT: what a violated bound means
 *   # need WHAT: what was found, and what would do
 *   # error WHAT: a set-up or a trial that failed
 *   # keeper WHAT: what was left by a run that died, or could not be put back
 *   # waiting ..., # waited ...: for another run
 */
#ifndef MM_CACHE_KTAP_H
#define MM_CACHE_KTAP_H

#include "kselftest_harness.h"

#include "env.h"
#include "exact_lru.h"
#include "experiment.h"
#include "knob.h"
#include "lab.h"

#include <inttypes.h>
#include <sys/stat.h>

/*
 * Seconds for one test: many times what it takes, for slow machines. The
 * harness's own 30 are meant for tests without I/O.
 */
#define KTAP_TIMEOUT 600

/* Everything a program sets up once; test processes inherit it. */
static struct lab lab;
static uint64_t taint_before;

/* ktap_label() - "fixture.variant" of a running test in @buf; @buf. */
static inline const char *ktap_label(struct __test_metadata *_metadata,
				     const void *variant, char *buf, size_t len)
{
	struct __fixture_variant_metadata *v;

	for (v = _metadata->fixture->variant; v; v = v->next)
		if (v->data == variant)
			break;
	snprintf(buf, len, "%s%s%s", _metadata->fixture->name, v ? "." : "",
		 v ? v->name : "");
	return buf;
}

/* ktap_needs() - print each entry's detail; the reason for SKIP. */
static inline const char *ktap_needs(const struct needs *needs)
{
	static char reason[512];

	for (unsigned int i = 0; i < needs->nr; i++)
		ksft_print_msg("need %s: %s\n", needs->list[i].what,
			       needs->list[i].detail);
	return needs_reason(needs, reason, sizeof(reason));
}

static inline void ktap_failure(const struct failure *failure)
{
	ksft_print_msg("error %s\n", failure->text);
}

static inline void ktap_metric(const char *label, const char *arm,
			       const char *name, const char *unit,
			       const struct summary *s,
			       const struct bound *bound)
{
	char limit[40] = "";

	if (bound && bound->kind != NO_BOUND)
		snprintf(limit, sizeof(limit), " bound%s%" PRId64,
			 bound->kind == AT_LEAST ? ">=" : "<=", bound->value);
	ksft_print_msg("metric %s %s%s%s %s n=%u median=%" PRId64
		       " min=%" PRId64 " max=%" PRId64 "%s\n",
		       label, arm, *arm ? "_" : "", name, unit, s->n, s->median,
		       s->min, s->max, limit);
}

/*
 * Print what the bounds of @arms are about: the properties, or the controls.
 * A metric is printed once per arm, with its first bound; @shown says which.
 */
static inline void ktap_bounded(const char *label, const struct arm *arms,
				unsigned int nr_arms,
				const struct outcome *outcomes, bool controls,
				unsigned int *shown)
{
	for (unsigned int a = 0; a < nr_arms; a++)
		for (int b = 0; b < ARM_BOUNDS; b++) {
			const struct bound *bound = &arms[a].bounds[b];
			const struct summary *s =
				&outcomes[a].metric[bound->of];

			if (bound->kind == NO_BOUND || !s->n ||
			    !bound->doubt == controls ||
			    shown[a] & 1u << bound->of)
				continue;
			shown[a] |= 1u << bound->of;
			ktap_metric(label, arms[a].name, metric_name(bound->of),
				    metric_unit(bound->of), s, bound);
		}
}

/* Print what is worth a line without a bound. */
static inline void ktap_unbounded(const char *label, const struct arm *arms,
				  unsigned int nr_arms,
				  const struct outcome *outcomes,
				  const unsigned int *shown)
{
	for (unsigned int a = 0; a < nr_arms; a++)
		for (int m = 0; m < NR_METRICS; m++)
			if (arms[a].measured & ~shown[a] & 1u << m &&
			    outcomes[a].metric[m].n)
				ktap_metric(label, arms[a].name, metric_name(m),
					    metric_unit(m),
					    &outcomes[a].metric[m], NULL);
}

/*
 * What exact LRU would keep of the hot set, had it seen the same reads: random
 * ones, beside one scan.
 */
static inline void ktap_exact_lru(const char *label,
				  const struct experiment *exp)
{
	const struct workload *w = &exp->workload;
	struct summary s = { .n = 1 };

	if (!exp->hot_bytes || w->scan.read_by != &reader_pread ||
	    w->hot.sequential || w->scan.same_file || w->scan.passes > 1)
		return;
	s.median = exact_lru_kept(exp->mem_bytes, exp->hot_bytes,
				  exp->scan_bytes, exp->workload.hot.touches);
	s.min = s.median;
	s.max = s.median;
	ktap_metric(label, "exact_lru", metric_name(KEPT), metric_unit(KEPT),
		    &s, NULL);
}

/* ktap_why() - say what the violated bound of an arm means. */
static inline void ktap_why(const char *label, const char *arm,
			    const char *name, const char *unit,
			    const struct summary *s, const struct bound *bound)
{
	ksft_print_msg("why %s: %s %s is %" PRId64 " %s (%" PRId64
		       " to %" PRId64
		       " in %u repetitions), must be at %s %" PRId64 ": %s\n",
		       label, arm, name, s->median, unit, s->min, s->max, s->n,
		       bound->kind == AT_LEAST ? "least" : "most", bound->value,
		       bound->doubt ? bound->doubt : bound->why);
}

/* A set that shrank though nothing was scanned: who else may have done it. */
static inline void ktap_suspect(const char *label, const struct arm *arm,
				const struct bound *bound)
{
	char who[160];

	if (arm->scan_by == &reader_null && bound->of == KEPT &&
	    env_proactive_reclaim(who, sizeof(who)))
		ksft_print_msg(
			"why %s: %s may have reclaimed it: stop that while the test runs\n",
			label, who);
}

/* ktap_doubts() - say which controls did not hold; they are not the property. */
static inline void ktap_doubts(const char *label, const struct arm *arms,
			       unsigned int nr_arms,
			       const struct outcome *outcomes)
{
	for (unsigned int a = 0; a < nr_arms; a++)
		for (int b = 0; b < ARM_BOUNDS; b++) {
			const struct bound *bound = &arms[a].bounds[b];
			const struct summary *s =
				&outcomes[a].metric[bound->of];

			if (!bound->doubt || bound_holds(bound, s->median))
				continue;
			ktap_why(label, arms[a].name, metric_name(bound->of),
				 metric_unit(bound->of), s, bound);
			ktap_suspect(label, &arms[a], bound);
		}
}

/*
 * ktap_run() - run all arms. NULL, or the reason of an inconclusive run. A
 * failure, or an OOM kill, fails the test and ends it.
 */
static inline const char *ktap_run(struct __test_metadata *_metadata,
				   const void *variant, struct experiment *exp,
				   const struct arm *arms, unsigned int nr_arms,
				   struct outcome *outcomes)
{
	char label[128];
	char text[128];
	int err;

	ktap_label(_metadata, variant, label, sizeof(label));
	err = experiment_run(exp, arms, nr_arms, outcomes);
	if (err == -EBUSY && !lab.failure.err)
		return "a file cannot be dropped from the cache";
	if (err == -ESTALE)
		return "somebody else wrote to a file of the test";
	if (exp->oom.oom_kills > 0) {
		ksft_print_msg(
			"why %s: OOM: the memcg killed the workload at a limit of %" PRIu64
			" KiB; %s\n",
			label, exp->mem_bytes / 1024,
			memcg_oom_text(lab.memcg.flavour, &exp->oom, text,
				       sizeof(text)));
		ASSERT_EQ(0, exp->oom.oom_kills);
	}
	ASSERT_EQ(0, err)
	{
		ktap_failure(&lab.failure);
	}
	return NULL;
}

/*
 * ktap_report() - print what was measured: first what the properties are
 * about, then the controls, then the rest. The reason when a control did not
 * hold, so that the run tells nothing; else NULL.
 */
static inline const char *
ktap_report(struct __test_metadata *_metadata, const void *variant,
	    const struct experiment *exp, const struct arm *arms,
	    unsigned int nr_arms, const struct outcome *outcomes)
{
	unsigned int shown[nr_arms];
	char label[128];

	memset(shown, 0, sizeof(shown));
	ktap_label(_metadata, variant, label, sizeof(label));
	ktap_bounded(label, arms, nr_arms, outcomes, false, shown);
	ktap_bounded(label, arms, nr_arms, outcomes, true, shown);
	ktap_unbounded(label, arms, nr_arms, outcomes, shown);
	ktap_exact_lru(label, exp);
	ktap_doubts(label, arms, nr_arms, outcomes);
	return experiment_doubt(arms, nr_arms, outcomes);
}

/* ktap_expect() - fail the test unless @bound holds for @s; say why. */
static inline void ktap_expect(struct __test_metadata *_metadata,
			       const char *label, const char *arm,
			       const char *name, const char *unit,
			       const struct summary *s,
			       const struct bound *bound)
{
	EXPECT_NE(0U, s->n);
	if (!bound_holds(bound, s->median))
		ktap_why(label, arm, name, unit, s, bound);
	EXPECT_TRUE(bound_holds(bound, s->median));
}

/*
 * ktap_judge() - fail the test for each bound that states the property and
 * does not hold in the median, and say why. A bound on what was not measured
 * fails, too, but for EVICTED, which only one of the meters knows.
 */
static inline void ktap_judge(struct __test_metadata *_metadata,
			      const void *variant, const struct arm *arms,
			      unsigned int nr_arms,
			      const struct outcome *outcomes)
{
	char label[128];

	ktap_label(_metadata, variant, label, sizeof(label));
	for (unsigned int a = 0; a < nr_arms; a++)
		for (int b = 0; b < ARM_BOUNDS; b++) {
			const struct bound *bound = &arms[a].bounds[b];
			const struct summary *s =
				&outcomes[a].metric[bound->of];

			if (bound->kind == NO_BOUND || bound->doubt)
				continue;
			if (bound->of == EVICTED && !s->n)
				continue;
			ktap_expect(_metadata, label, arms[a].name,
				    metric_name(bound->of),
				    metric_unit(bound->of), s, bound);
		}
}

/*
 * ktap_setup() - body of a FIXTURE_SETUP: prepare @exp, or skip the test for
 * all that it needs and that is missing. What the harness does with that ends
 * the test.
 */
static inline void ktap_setup(struct __test_metadata *_metadata,
			      struct experiment *exp,
			      const struct workload *workload,
			      enum reclaim reclaim, const struct arm *arms,
			      unsigned int nr_arms)
{
	struct needs needs = { 0 };

	ASSERT_EQ(0, experiment_open(exp, &lab, workload, reclaim, arms,
				     nr_arms, &needs))
	{
		ktap_failure(&lab.failure);
	}
	if (needs_any(&needs))
		SKIP(return, "%s", ktap_needs(&needs));
}

/*
 * ktap_test() - body of a test whose verdict is in the bounds of its arms: run
 * them, judge the controls, then the properties.
 */
static inline void ktap_test(struct __test_metadata *_metadata,
			     const void *variant, struct experiment *exp,
			     const struct arm *arms, unsigned int nr_arms)
{
	struct outcome outcomes[nr_arms];
	const char *doubt;

	doubt = ktap_run(_metadata, variant, exp, arms, nr_arms, outcomes);
	if (!doubt)
		doubt = ktap_report(_metadata, variant, exp, arms, nr_arms,
				    outcomes);
	if (doubt)
		SKIP(return, "inconclusive: %s", doubt);
	ktap_judge(_metadata, variant, arms, nr_arms, outcomes);
}

/*
 * ktap_conclude() - last word of a test: new taint fails it, and a failure
 * that MM_CACHE_XFAIL lists by the full name of the test becomes an XFAIL.
 */
static inline void ktap_conclude(struct __test_metadata *_metadata,
				 const void *variant)
{
	char label[128];
	char name[256];

	ktap_label(_metadata, variant, label, sizeof(label));
	snprintf(name, sizeof(name), "%s.%s", label, _metadata->name);
	if (env_taint() != taint_before)
		ksft_print_msg(
			"why %s: the kernel was tainted during the test: %" PRIu64
			" before, %" PRIu64 " after; see dmesg\n",
			label, taint_before, env_taint());
	EXPECT_EQ(taint_before, env_taint());
	if (!options_xfail(&lab.options, name) || _metadata->aborted)
		return;
	if (_metadata->exit_code == KSFT_FAIL) {
		_metadata->exit_code = KSFT_XFAIL;
		snprintf(_metadata->results->reason,
			 sizeof(_metadata->results->reason),
			 "listed in MM_CACHE_XFAIL");
	} else if (_metadata->exit_code == KSFT_PASS) {
		ksft_print_msg(
			"xpass %s: listed in MM_CACHE_XFAIL, but it holds\n",
			name);
	}
}

static inline void ktap_waiting(pid_t holder)
{
	char path[32];
	char name[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", holder);
	if (knob_read(path, name, sizeof(name)) < 0)
		strcpy(name, "which is dead");
	ksft_print_msg("waiting for the run of process %d (%s) to end\n",
		       holder, name);
	fflush(stdout);
}

static inline void ktap_keeper(const struct keeper_report *report)
{
	char text[sizeof(report->text)];
	char *line, *rest;

	memcpy(text, report->text, sizeof(text));
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		ksft_print_msg("keeper %s\n", line);
}

/* The harness calls a run in which all was skipped passed. */
static inline bool ktap_all_skipped(void)
{
	return ksft_cnt.ksft_xskip && ksft_cnt.ksft_xskip == ksft_test_num();
}

/* At exit: the harness ends the program by exit(). */
static inline void ktap_close(void)
{
	bool ours = lab.keeper.sock >= 0 && lab.keeper.owner == getpid();
	struct keeper_report report;

	lab_close(&lab, &report);
	if (ours && (report.foreign || report.failed))
		ktap_keeper(&report);
	fflush(stdout);
	if (ours && ktap_all_skipped())
		_exit(KSFT_SKIP);
}

static inline bool ktap_only_asks(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-l") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

/*
 * ktap_main() - the body of a program's main(): set the lab up for @nr
 * workloads, print the facts, run the tests. Without what all tests need the
 * program is skipped (exit code 4); bad variables fail it (exit code 1).
 */
static inline int ktap_main(int argc, char **argv,
			    const struct workload *const workloads[],
			    unsigned int nr)
{
	struct env env;
	uint64_t bytes = 0;
	char why[320];
	int err;

	if (ktap_only_asks(argc, argv))
		return test_harness_run(argc, argv);
	/* Whoever started us may ignore these; we wait for children. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* EFBIG tells more than a death */
	umask(022);
	/* Two streams into one pipe keep their order only line by line. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	ksft_print_header();
	setenv("KSFT_TAP_LEVEL", "1", 0); /* the harness prints no second */
	if (options_read(&lab.options, why, sizeof(why)))
		ksft_exit_fail_msg("%s\n", why);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t need = experiment_bytes(workloads[i], &lab.options);

		if (need > bytes)
			bytes = need;
	}
	atexit(ktap_close);
	err = lab_open(&lab, bytes, ktap_waiting);
	if (lab.waited_ns)
		ksft_print_msg("waited %" PRIu64 " s for it\n",
			       lab.waited_ns / 1000000000);
	ktap_keeper(&lab.repaired);
	if (err && !needs_any(&lab.needs)) {
		ktap_failure(&lab.failure);
		ksft_exit_fail_msg("%s\n", lab.failure.text);
	}
	if (needs_any(&lab.needs)) {
		needs_merge(&lab.needs, &lab.memcg_needs);
		ksft_exit_skip("%s\n", ktap_needs(&lab.needs));
	}
	taint_before = env_taint();
	env_read(&env, &lab);
	for (unsigned int i = 0; i < env.nr; i++)
		ksft_print_msg("env %s %s\n", env.facts[i].key,
			       env.facts[i].value);
	return test_harness_run(argc, argv);
}

#endif
