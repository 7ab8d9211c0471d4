// SPDX-License-Identifier: GPL-2.0
#include "explore_run.h"

#include "failure.h"
#include "keeper.h"
#include "knob.h"
#include "lab.h"
#include "reclaim.h"
#include "scan.h"
#include "trial.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define KEEPER_WAIT_MS 10000
#define KEEPER_STEP_MS 20
#define TRIES 3 /* of a trial whose files somebody else held or wrote to */
#define TELL_NS 250000000

/* ----- signals ----- */

static volatile sig_atomic_t stopped;
static volatile pid_t worker; /* of the process that waits for one */
static struct trial_result *volatile running; /* of a worker */
static volatile sig_atomic_t patient; /* a worker that must not be cut short */

/* A trial that is under way tells nothing any more. */
static void on_signal(int sig)
{
	stopped = sig;
	if (worker)
		kill(worker, SIGTERM);
	if (running && running->pid)
		kill(running->pid, SIGKILL);
	else if (running && !patient)
		_exit(1); /* the keeper cleans up */
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = on_signal };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		/* One that nohup had ignored stays so. */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/* ----- what it gave ----- */

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct spread spread_of(const struct run_result *result, unsigned int pass,
			enum figure figure)
{
	struct spread s = { 0 };
	double v[REPS_MAX];

	for (unsigned int i = 0; i < result->reps; i++) {
		double x = result->watched[i].pass[pass - 1].of[figure];

		if (isnan(x))
			continue;
		v[s.n++] = x;
		s.mean += x;
	}
	if (!s.n)
		return s;
	qsort(v, s.n, sizeof(*v), compare_doubles);
	s.mean /= s.n;
	s.median = (v[(s.n - 1) / 2] + v[s.n / 2]) / 2;
	s.min = v[0];
	s.max = v[s.n - 1];
	return s;
}

const char *run_title(const struct plan *plan, unsigned int run, char *buf,
		      size_t len)
{
	size_t n = 0;

	*buf = '\0';
	for (int k = 0; k < NR_KNOBS; k++) {
		bool differs = false;

		for (unsigned int i = 0; !differs && i < plan->nr_runs; i++)
			differs = strcmp(plan->runs[i].value[k],
					 plan->runs[run].value[k]) != 0;
		if (differs && n < len)
			n += snprintf(buf + n, len - n, "%s%s=%s", n ? " " : "",
				      knobs[k].name, plan->runs[run].value[k]);
	}
	return *buf ? buf : "as set";
}

int exploration_new(struct exploration *e)
{
	size_t runs = e->plan->nr_runs;
	size_t bytes = sizeof(struct env) + runs * sizeof(struct run_result) +
		       runs * e->reps * sizeof(struct watched);
	struct watched *watched;
	char *shared;

	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		return -ENOMEM;
	e->env = (struct env *)shared;
	e->results = (struct run_result *)(e->env + 1);
	watched = (struct watched *)(e->results + runs);
	for (size_t i = 0; i < runs; i++)
		e->results[i].watched = watched + i * e->reps;
	return 0;
}

/* ----- progress ----- */

struct progress {
	unsigned int done, total;
	uint64_t start;
};

static void show_progress(const struct exploration *e, struct progress *p,
			  unsigned int run, const char *what)
{
	double s = (double)(clock_ns() - p->start) / 1e9;
	bool terminal = isatty(STDERR_FILENO);
	char title[300];

	if (e->quiet)
		return;
	fprintf(stderr, "%s%u of %u, %.0f s%s: %s: %s%s",
		terminal ? "\r\033[K" : "", p->done, p->total, s,
		p->done ? "" : " so far",
		run_title(e->plan, run, title, sizeof(title)), what,
		terminal ? "" : "\n");
	if (terminal && p->done && p->done < p->total)
		fprintf(stderr, " (%.0f s to go)",
			s / p->done * (p->total - p->done));
	fflush(stderr);
}

/* Within a trial, on a terminal, not oftener than can be read. */
struct telling {
	const struct exploration *e;
	struct progress *progress;
	unsigned int run;
	unsigned int passes;
	uint64_t told_ns;
};

static void tell_sample(void *arg, const struct trial_sample *sample)
{
	struct telling *t = arg;
	char what[80];

	if (sample->ns - t->told_ns < TELL_NS)
		return;
	t->told_ns = sample->ns;
	snprintf(what, sizeof(what), "pass %u of %u, %.0f %% scanned",
		 sample->pass + 1, t->passes,
		 100.0 * (double)sample->done / (double)sample->total);
	show_progress(t->e, t->progress, t->run, what);
}

static void end_progress(const struct exploration *e)
{
	if (!e->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static void say(const struct exploration *e, const char *text)
{
	end_progress(e);
	fprintf(stderr, "%s\n", text);
}

/* ----- the process that has a lab ----- */

/* Runs that may have one lab. */
static bool same_lab(const struct setting *a, const struct setting *b)
{
	return !strcmp(a->value[KNOB_FS], b->value[KNOB_FS]) &&
	       !strcmp(a->value[KNOB_MEM], "machine") ==
		       !strcmp(b->value[KNOB_MEM], "machine");
}

static bool same_files(const struct trial *a, const struct trial *b)
{
	return a->hot.bytes == b->hot.bytes && a->scan.bytes == b->scan.bytes &&
	       a->sparse == b->sparse;
}

struct work {
	struct exploration *e;
	struct lab lab;
	struct resolved *resolved; /* of each run */
	bool *mine; /* of each run: not refused, and of this lab */
	struct trial_result *result; /* shared with the trials */
	struct timespec written[2];
	struct progress progress;
};

static void refuse_run(struct run_result *result, const struct needs *needs)
{
	size_t n = 0;

	for (unsigned int i = 0; i < needs->nr && n < sizeof(result->why); i++)
		n += snprintf(result->why + n, sizeof(result->why) - n,
			      "%sneeds %s: %s", i ? "; " : "",
			      needs->list[i].what, needs->list[i].detail);
}

/* What the kernel and the machine lack for a run. */
static int run_needs(struct work *w, unsigned int run, struct needs *needs)
{
	const struct resolved *r = &w->resolved[run];
	const struct trial *t = &r->trial;
	int err;

	if (t->mem_bytes)
		needs_merge(needs, &w->lab.memcg_needs);
	if (t->high_bytes && w->lab.memcg.flavour == MEMCG_V1)
		need_add(
			needs, "memory.high",
			"only cgroup v2 has it, and here the memory controller is on v1");
	err = reclaim_select(r->reclaim, &w->lab.keeper, needs);
	if (err && err != -ENOENT)
		return failure_note(&w->lab.failure, err, "select %s reclaim",
				    reclaim_name(r->reclaim));
	err = trial_lay_out(&w->lab, t, needs);
	if (err == -ENOENT && !w->lab.failure.err)
		return 0;
	if (!err)
		err = trial_reader_need(&w->lab, t->scan.read_by, SCAN_FILE,
					needs);
	if (!err && t->hot.bytes)
		err = trial_reader_need(&w->lab, t->hot.read_by, HOT_FILE,
					needs);
	return err;
}

static void note_digest(struct work *w, unsigned int run)
{
	static const struct {
		enum figure figure;
		bool store;
		const char *text;
	} said[] = {
		{ FIG_KEPT, false, "kept" },
		{ FIG_THROUGHPUT, false, "scanned at" },
		{ FIG_MISSED, true, "GETs missed" },
		{ FIG_SCAN_MISSED, true, "SCANs missed" },
	};
	struct run_result *result = &w->e->results[run];
	const struct watched *last = &result->watched[result->reps - 1];
	const double *of = last->pass[last->nr_passes - 1].of;
	bool store = !isnan(of[FIG_WINDOWS]);
	char what[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		enum figure f = said[i].figure;

		if (said[i].store == store && !isnan(of[f]))
			n += snprintf(what + n, sizeof(what) - n,
				      "%s%s %.1f %s", n ? ", " : "",
				      said[i].text,
				      figure_is_share(f) ? 100 * of[f] : of[f],
				      figures[f].unit);
	}
	show_progress(w->e, &w->progress, run, what);
}

/* Of the wanted pace, and of what could be recorded. */
static void check_digest(struct work *w, unsigned int run)
{
	struct run_result *result = &w->e->results[run];
	const struct watched *last = &result->watched[result->reps - 1];
	double rate = last->pass[0].of[FIG_RATE];
	char text[300], buf[160];
	const char *title = run_title(w->e->plan, run, buf, sizeof(buf));

	if (!isnan(rate) &&
	    fabs(rate - result->wanted) > 0.01 * result->wanted) {
		snprintf(
			text, sizeof(text),
			"%s: %.0f hot reads a second, %.0f were wanted: this machine cannot keep the pace (try more --readers, or --pace=logical)",
			title, rate, result->wanted);
		say(w->e, text);
	}
	if (last->lost) {
		snprintf(
			text, sizeof(text),
			"%s: %llu requests were too many to record: latency, misses and the curve are of those before",
			title, (unsigned long long)last->lost);
		say(w->e, text);
	}
}

static int run_once(struct work *w, unsigned int run, unsigned int rep)
{
	struct run_result *result = &w->e->results[run];
	struct resolved *r = &w->resolved[run];
	struct trial trial = r->trial;
	struct telling telling = {
		.e = w->e,
		.progress = &w->progress,
		.run = run,
		.passes = r->trial.scan.passes,
	};
	struct watch *watch;
	int err = -EBUSY;

	w->lab.options.read_ahead_kb = r->read_ahead_kb;
	trial.name = "explore";
	trial.seed = rep + 1;
	trial.get_scan.seed = trial.seed;
	trial.written = w->written;
	trial_written(&w->lab, w->written);
	for (int i = 0; i < TRIES && !stopped; i++) {
		if ((err != -EBUSY && err != -ESTALE) || w->lab.failure.err)
			break;
		watch = watch_new(r);
		if (!watch)
			return failure_note(&w->lab.failure, -ENOMEM,
					    "record a trial");
		trial.observer = watch_observer(watch);
		if (!w->e->quiet && isatty(STDERR_FILENO))
			watch_tell(watch, tell_sample, &telling);
		patient = 1;
		err = trial_run(&w->lab, &trial, w->result);
		patient = 0;
		if (!err)
			err = watch_digest(watch, w->result, result->memory,
					   &result->watched[result->reps],
					   result->curve);
		watch_free(watch);
	}
	return err;
}

static int run_rep(struct work *w, unsigned int run, unsigned int rep)
{
	struct run_result *result = &w->e->results[run];
	char oom[200];
	int err;

	err = run_once(w, run, rep);
	if (stopped)
		return 0;
	w->progress.done++;
	if (!err) {
		result->reps++;
		note_digest(w, run);
		check_digest(w, run);
		return 0;
	}
	if (err == -ENOMEM && w->result->stat.oom_kills > 0)
		snprintf(result->why, sizeof(result->why),
			 "the memcg OOM killer ended it: %s",
			 memcg_oom_text(w->lab.memcg.flavour, &w->result->stat,
					oom, sizeof(oom)));
	else if (err == -EBUSY && !w->lab.failure.err)
		snprintf(
			result->why, sizeof(result->why),
			"a file cannot be dropped from the cache: somebody maps it");
	else if (err == -ESTALE)
		snprintf(result->why, sizeof(result->why),
			 "somebody else wrote to a file of the trial");
	else
		return err;
	show_progress(w->e, &w->progress, run, result->why);
	w->mine[run] = false;
	return 0;
}

static int prepare_run(struct work *w, unsigned int run, unsigned int rep)
{
	struct run_result *result = &w->e->results[run];
	struct needs needs = { 0 };
	int err;

	if (rep) /* which reclaim the last run had is all that may differ */
		return reclaim_select(w->resolved[run].reclaim, &w->lab.keeper,
				      &needs);
	err = run_needs(w, run, &needs);
	if (needs_any(&needs)) {
		refuse_run(result, &needs);
		w->mine[run] = false;
		w->progress.done += w->e->reps;
		show_progress(w->e, &w->progress, run, result->why);
	}
	return err;
}

/* All repetitions of the runs that have the files of @first. */
static int run_group(struct work *w, unsigned int first)
{
	unsigned int n = w->e->plan->nr_runs;
	bool *group = calloc(n, sizeof(*group));
	int err = group ? 0 : -ENOMEM;

	for (unsigned int i = first; !err && i < n; i++)
		group[i] = w->mine[i] && same_files(&w->resolved[first].trial,
						    &w->resolved[i].trial);
	for (unsigned int rep = 0; !err && rep < w->e->reps; rep++)
		for (unsigned int i = 0; !err && i < n; i++) {
			/* Each time another one first. */
			unsigned int run = (i + rep) % n;

			if (stopped || !group[run] || !w->mine[run])
				continue;
			err = prepare_run(w, run, rep);
			if (!err && w->mine[run])
				err = run_rep(w, run, rep);
		}
	for (unsigned int i = first; group && i < n; i++)
		if (group[i])
			w->mine[i] = false;
	free(group);
	return err;
}

static void on_waiting(pid_t holder)
{
	fprintf(stderr, "waiting for the run of process %d to end\n", holder);
}

/* The largest of what its runs need. */
static uint64_t prepare_lab(struct work *w, const struct setting *like)
{
	struct options *o = &w->lab.options;
	uint64_t bytes = 0;

	*o = w->e->options;
	o->fs = like->value[KNOB_FS];
	o->machine = !strcmp(like->value[KNOB_MEM], "machine");
	o->mem_bytes = 0;
	o->scanners = 1;
	o->hot_readers = 1;
	o->buffer = 0;
	for (unsigned int i = 0; i < w->e->plan->nr_runs; i++) {
		const struct trial *t = &w->resolved[i].trial;

		if (!w->mine[i])
			continue;
		if (!t->sparse && t->hot.bytes + t->scan.bytes > bytes)
			bytes = t->hot.bytes + t->scan.bytes;
		if (t->mem_bytes > o->mem_bytes)
			o->mem_bytes = t->mem_bytes;
	}
	if (o->machine)
		memory_available(&o->mem_bytes);
	return bytes;
}

static void refuse_all(struct work *w, const struct needs *needs)
{
	for (unsigned int i = 0; i < w->e->plan->nr_runs; i++)
		if (w->mine[i])
			refuse_run(&w->e->results[i], needs);
}

static void print_report(const struct exploration *e, const char *text)
{
	if (*text)
		say(e, text);
}

/* It is of the largest run, and each has its own. */
static void drop_limit(struct env *env)
{
	for (unsigned int i = 0; i < env->nr; i++) {
		char *limit = strstr(env->facts[i].value, ", limit ");

		if (!strcmp(env->facts[i].key, "memcg") && limit)
			*limit = '\0';
	}
}

/* What "any" is: the runs beside it may select another one. */
static int find_reclaim(struct work *w)
{
	enum reclaim found;
	int err = reclaim_current(&found);

	if (err)
		return failure_note(&w->lab.failure, err, "tell which reclaim");
	for (unsigned int i = 0; i < w->e->plan->nr_runs; i++)
		if (w->mine[i] && w->resolved[i].reclaim == RECLAIM_ANY)
			w->resolved[i].reclaim = found;
	return 0;
}

static int work_in_lab(struct work *w, const struct setting *like)
{
	uint64_t bytes = prepare_lab(w, like);
	struct lab *lab = &w->lab;
	struct keeper_report report;
	bool ours, refused;
	int err;

	err = lab_open(lab, bytes, on_waiting);
	print_report(w->e, lab->repaired.text);
	refused = err && needs_any(&lab->needs) && !lab->failure.err;
	if (!err) {
		env_read(w->e->env, lab);
		drop_limit(w->e->env);
		err = find_reclaim(w);
	} else if (needs_any(&lab->needs)) {
		refuse_all(w, &lab->needs);
	}
	for (unsigned int i = 0; !err && !stopped && i < w->e->plan->nr_runs;
	     i++)
		if (w->mine[i])
			err = run_group(w, i);
	running = NULL;
	end_progress(w->e);
	if (err && !refused && !stopped) {
		if (!lab->failure.err)
			failure_note(&lab->failure, err, "measure");
		say(w->e, lab->failure.text);
	}
	ours = lab->keeper.sock >= 0;
	lab_close(lab, &report);
	if (ours && (report.foreign || report.failed))
		print_report(w->e, report.text);
	/* That this lab cannot be had is told, and is no error of the others. */
	return refused ? 0 : err;
}

/* A process of its own: a mount namespace and a keeper are for good. */
static void worker_process(struct exploration *e, struct resolved *resolved,
			   bool *mine, const struct setting *like,
			   struct progress progress, pid_t parent)
{
	struct work w = {
		.e = e, .resolved = resolved, .mine = mine, .progress = progress
	};

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	w.result = mmap(NULL, sizeof(*w.result), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.result == MAP_FAILED)
		_exit(1);
	running = w.result;
	_exit(work_in_lab(&w, like) ? 1 : 0);
}

/* ----- the process that asks for it ----- */

/*
 * What a worker that died owed is its keeper's, which holds the lock until it is
 * done; but whoever holds it may also be another run.
 */
static void wait_for_keeper(void)
{
	const struct timespec step = { .tv_nsec = KEEPER_STEP_MS * 1000000L };
	pid_t holder;
	int lock;

	for (int ms = 0; ms < KEEPER_WAIT_MS; ms += KEEPER_STEP_MS) {
		lock = keeper_lock(0, &holder);
		if (lock >= 0)
			close(lock);
		if (lock != -EWOULDBLOCK)
			return;
		nanosleep(&step, NULL);
	}
}

static int run_lab(struct exploration *e, struct resolved *resolved, bool *mine,
		   const struct setting *like, struct progress *progress)
{
	pid_t parent = getpid();
	char text[120];
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid)
		worker_process(e, resolved, mine, like, *progress, parent);
	if (pid < 0) {
		snprintf(text, sizeof(text), "fork: %s", strerror(errno));
		say(e, text);
		return -EAGAIN;
	}
	worker = pid;
	if (stopped)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	worker = 0;
	if (WIFSIGNALED(status) && !stopped) {
		snprintf(text, sizeof(text),
			 "the process that measures was killed: %s",
			 strsignal(WTERMSIG(status)));
		say(e, text);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		wait_for_keeper();
		return -EIO;
	}
	return 0;
}

static void resolve_all(struct exploration *e, struct resolved *resolved,
			bool *open)
{
	uint64_t available = 0;

	memory_available(&available);
	for (unsigned int i = 0; i < e->plan->nr_runs; i++) {
		struct run_result *result = &e->results[i];

		open[i] = !setting_resolve(&e->plan->runs[i], e->scale,
					   available, &resolved[i], result->why,
					   sizeof(result->why));
		result->wanted = resolved[i].wanted;
		result->memory = resolved[i].memory;
	}
}

int exploration_run(struct exploration *e)
{
	unsigned int n = e->plan->nr_runs;
	struct resolved *resolved = calloc(n, sizeof(*resolved));
	bool *open = calloc(n, sizeof(*open));
	bool *mine = calloc(n, sizeof(*mine));
	struct progress progress = { .start = clock_ns() };
	int err = resolved && open && mine ? 0 : -ENOMEM;

	catch_signals();
	if (!err)
		resolve_all(e, resolved, open);
	for (unsigned int i = 0; !err && i < n; i++)
		progress.total += open[i] * e->reps;
	for (unsigned int i = 0; !err && i < n && !stopped; i++) {
		if (!open[i])
			continue;
		for (unsigned int j = 0; j < n; j++) {
			mine[j] = open[j] && same_lab(&e->plan->runs[i],
						      &e->plan->runs[j]);
			open[j] &= !mine[j];
		}
		err = run_lab(e, resolved, mine, &e->plan->runs[i], &progress);
		for (unsigned int j = 0; j < n; j++)
			progress.done += mine[j] * e->reps;
	}
	e->stopped = stopped;
	free(resolved);
	free(open);
	free(mine);
	return stopped ? 0 : err;
}
