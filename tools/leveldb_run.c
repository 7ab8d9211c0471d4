// SPDX-License-Identifier: GPL-2.0
#include "leveldb_run.h"

#include "knob.h"
#include "permille.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK_BYTES 512 /* of ru_inblock, which is read_bytes in these */
#define DESCRIPTORS 65536

struct state {
	const struct leveldb_run *run;
	struct leveldb_result *result;
	struct db *db;
	struct load load;
	pthread_barrier_t begin;
	pthread_barrier_t end;
	bool over;
};

struct worker {
	struct state *state;
	pthread_t thread;
	struct load_worker load;
	struct load_tally tally;
	struct db_scan *scan;
	struct failure failure;
	int stat_fd;
	int64_t scan_from; /* ticks when this part of a SCAN began; -1: in none */
};

/* ----- a thread ----- */

static int64_t ticks_now(const struct worker *w)
{
	char text[1024];
	ssize_t n = pread(w->stat_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return load_ticks_parse(text);
}

/* The counters of this thread in /proc/self/task/TID/io and stat, cheaper. */
static void usage_now(uint64_t *bytes, uint64_t *faults)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	*bytes = (uint64_t)usage.ru_inblock * BLOCK_BYTES;
	*faults = (uint64_t)usage.ru_majflt;
}

static void end_part(struct worker *w)
{
	if (w->scan_from < 0)
		return;
	w->tally.scan_ticks += (uint64_t)(ticks_now(w) - w->scan_from);
	w->scan_from = -1;
}

static int serve(struct worker *w, const struct load_request *request)
{
	struct load_tally *t = &w->tally;
	uint64_t bytes, faults, bytes_after, faults_after;
	int ret;

	usage_now(&bytes, &faults);
	if (request->kind == LOAD_GET)
		ret = leveldb_db_get(w->state->db, request->record,
				     &w->failure);
	else
		ret = leveldb_scan_next(w->scan, request->record,
					request->records, request->begins,
					&w->failure);
	usage_now(&bytes_after, &faults_after);
	bytes = bytes_after - bytes;
	faults = faults_after - faults;
	if (request->kind == LOAD_GET) {
		t->gets++;
		t->get_misses += bytes > 0;
		t->get_bytes += bytes;
		t->get_faults += faults;
	} else {
		t->scanned += request->records;
		t->scan_bytes += bytes;
		t->scan_faults += faults;
	}
	t->wrong += ret > 0;
	return ret > 0 ? -EBADMSG : ret;
}

static void work_window(struct worker *w)
{
	struct load *load = &w->state->load;
	struct load_request request;
	int64_t from = ticks_now(w);

	while (load_next(load, &w->load, &request) != LOAD_OVER) {
		int err;

		if (request.kind == LOAD_SCAN && w->scan_from < 0)
			w->scan_from = ticks_now(w);
		err = serve(w, &request);
		if (err)
			load_fail(load, err);
		if (request.ends)
			end_part(w);
	}
	end_part(w);
	w->tally.get_ticks += (uint64_t)(ticks_now(w) - from);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct state *s = w->state;

	w->stat_fd = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
	for (;;) {
		pthread_barrier_wait(&s->begin);
		if (s->over)
			break;
		work_window(w);
		pthread_barrier_wait(&s->end);
	}
	if (w->stat_fd >= 0)
		close(w->stat_fd);
	return NULL;
}

/* ----- all of them ----- */

static struct load_tally run_window(struct state *s, struct worker *workers)
{
	const struct load_plan *plan = &s->run->plan;
	struct load_tally sum = { 0 };

	load_window(&s->load, load_window_gets(plan, s->run->window));
	pthread_barrier_wait(&s->begin);
	pthread_barrier_wait(&s->end);
	for (unsigned int i = 0; i < plan->layout->workers; i++) {
		load_tally_add(&sum, &workers[i].tally);
		workers[i].tally = (struct load_tally){ 0 };
	}
	/* Each window's ticks are of all that its thread did. */
	sum.get_ticks -= sum.scan_ticks < sum.get_ticks ? sum.scan_ticks :
							  sum.get_ticks;
	return sum;
}

static void say(const struct state *s, const char *stage, unsigned int n,
		unsigned int of, const struct load_tally *tally)
{
	s->run->say(s->run->arg, stage, n, of,
		    100.0 * (double)tally->get_misses /
			    (double)(tally->gets ? tally->gets : 1));
}

static void warm_up(struct state *s, struct worker *workers)
{
	struct leveldb_result *result = s->result;
	int64_t before = -1;

	while (!s->load.err && !result->settled &&
	       result->warm < s->run->warm_max) {
		struct load_tally tally = run_window(s, workers);
		int64_t miss = permille(tally.get_misses, tally.gets);

		result->warm++;
		result->settled = before >= 0 &&
				  llabs(miss - before) < WARM_PERMILLE;
		before = miss;
		say(s, "warm-up, at most", result->warm, s->run->warm_max,
		    &tally);
	}
}

static int read_stat(const struct state *s, struct memcg_stat *stat)
{
	const struct memcg *memcg = s->run->plan.memcg;
	int err = memcg_read(memcg, stat);

	return err ? failure_note(&s->result->failure, err, "read %s",
				  memcg->path) :
		     0;
}

static int measure(struct state *s, struct worker *workers)
{
	struct leveldb_result *result = s->result;
	uint64_t start;
	int err;

	err = read_stat(s, &result->before);
	if (err)
		return err;
	for (unsigned int i = 0; !s->load.err && i < s->run->measured; i++) {
		struct load_tally tally;

		start = clock_ns();
		tally = run_window(s, workers);
		result->ns += clock_ns() - start;
		load_tally_add(&result->tally, &tally);
		say(s, "measured", i + 1, s->run->measured, &tally);
	}
	return s->load.err ? s->load.err : read_stat(s, &result->after);
}

static void first_failure(struct state *s, const struct worker *workers)
{
	for (unsigned int i = 0; i < s->run->plan.layout->workers; i++)
		if (workers[i].failure.err && !s->result->failure.err)
			s->result->failure = workers[i].failure;
}

static int start_workers(struct state *s, struct worker *workers)
{
	const struct load_layout *layout = s->run->plan.layout;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < layout->workers; i++) {
		workers[i] = (struct worker){ .state = s, .scan_from = -1 };
		workers[i].load.scanner = !layout->mixed && !i;
		workers[i].scan = leveldb_scan_begin(s->db);
		err = workers[i].scan ?
			      -pthread_create(&workers[i].thread, NULL, work,
					      &workers[i]) :
			      -ENOMEM;
	}
	/* Those there are wait for the rest: the process ends with them. */
	return err ? failure_note(&s->result->failure, err, "start thread %u",
				  i) :
		     0;
}

static void end_workers(struct state *s, struct worker *workers)
{
	s->over = true;
	pthread_barrier_wait(&s->begin);
	for (unsigned int i = 0; i < s->run->plan.layout->workers; i++) {
		pthread_join(workers[i].thread, NULL);
		leveldb_scan_end(workers[i].scan);
	}
}

static int count_mapped(const struct leveldb_run *run, uint64_t *mapped,
			struct failure *failure)
{
	FILE *maps = fopen("/proc/self/maps", "re");

	if (!maps)
		return failure_note(failure, -errno, "open /proc/self/maps");
	*mapped = load_count_mapped(maps, run->dir);
	fclose(maps);
	return 0;
}

static int run_open(struct state *s)
{
	const struct leveldb_run *run = s->run;
	struct leveldb_result *result = s->result;
	struct worker workers[LOAD_WORKERS_MAX];
	uint64_t before, after, tables;
	int err;

	err = leveldb_db_touch(s->db, &result->failure);
	if (err)
		return err > 0 ? -EBADMSG : err;
	err = leveldb_db_tables(run->dir, &result->tables, &before,
				&result->failure);
	if (!err)
		err = start_workers(s, workers);
	if (err)
		return err;
	warm_up(s, workers);
	err = measure(s, workers);
	first_failure(s, workers);
	end_workers(s, workers);
	if (!err)
		err = count_mapped(run, &result->mapped, &result->failure);
	if (!err)
		err = leveldb_db_tables(run->dir, &tables, &after,
					&result->failure);
	if (!err)
		result->changed = before != after;
	return err;
}

/* LevelDB keeps a fifth of these for tables that it does not map. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max :
							DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void leveldb_run(const struct leveldb_run *run, struct leveldb_result *result)
{
	struct state s = { .run = run, .result = result };
	unsigned int waiting = run->plan.layout->workers + 1;

	raise_descriptors();
	if (run->filler)
		result->err = leveldb_fill_maps(run->filler, &result->failure);
	if (result->err)
		return;
	s.db = leveldb_db_open(run->dir, &run->shape, run->block_cache,
			       &result->failure);
	if (!s.db) {
		result->err = result->failure.err;
		return;
	}
	load_begin(&s.load, &run->plan, &result->failure);
	pthread_barrier_init(&s.begin, NULL, waiting);
	pthread_barrier_init(&s.end, NULL, waiting);
	result->err = run_open(&s);
	if (!result->err)
		leveldb_db_close(s.db);
}
