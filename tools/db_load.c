// SPDX-License-Identifier: GPL-2.0
#include "db_load.h"

#include "memcg.h"
#include "pattern.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* GETs to a SCAN as a store of 28 GiB in 2.5 GiB had them. */
const struct load_layout load_layouts[NR_LOAD_LAYOUTS] = {
	{ "1_3", .workers = 4, .gets = 92500 },
	{ "mixed", .workers = 4, .mixed = true, .gets = 199000 },
	{ "1_7", .workers = 8, .gets = 237200 },
};

const struct load_layout *load_layout_by_name(const char *name)
{
	for (int i = 0; i < NR_LOAD_LAYOUTS; i++)
		if (!strcmp(load_layouts[i].name, name))
			return &load_layouts[i];
	return NULL;
}

void load_begin(struct load *load, const struct load_plan *plan,
		struct failure *failure)
{
	*load = (struct load){ .plan = *plan, .failure = failure };
	pthread_mutex_init(&load->lock, NULL);
	pthread_cond_init(&load->moved, NULL);
	zipf_init(&load->zipf, plan->records, plan->zipf);
}

void load_end(struct load *load)
{
	pthread_cond_destroy(&load->moved);
	pthread_mutex_destroy(&load->lock);
}

void load_window(struct load *load, uint64_t gets)
{
	pthread_mutex_lock(&load->lock);
	load->end = load->gets + gets;
	pthread_mutex_unlock(&load->lock);
}

void load_fail(struct load *load, int err)
{
	pthread_mutex_lock(&load->lock);
	if (!load->err)
		load->err = err;
	pthread_cond_broadcast(&load->moved);
	pthread_mutex_unlock(&load->lock);
}

/* So many GETs and records either may be ahead of the other: a tenth of a SCAN. */
static bool may_get(const struct load *l)
{
	uint64_t ahead = l->plan.run / 10 + LOAD_CHUNK;

	return !l->plan.gets || l->plan.layout->mixed ||
	       l->gets * l->plan.run * 1000 <=
		       (l->scanned + ahead) * l->plan.gets;
}

static bool may_scan(const struct load *l)
{
	uint64_t ahead = l->plan.gets / 10000 + l->plan.layout->workers;

	return !l->plan.gets || l->plan.layout->mixed ||
	       l->scanned * l->plan.gets <=
		       (l->gets + ahead) * l->plan.run * 1000;
}

static bool scan_is_due(const struct load *l, const struct load_worker *w)
{
	if (w->left || w->scanner)
		return true;
	return l->plan.layout->mixed &&
	       l->scans * l->plan.gets <= l->gets * 1000;
}

static void next_scan(struct load *l, struct load_worker *w,
		      struct load_request *request)
{
	const struct load_plan *plan = &l->plan;

	*request = (struct load_request){ .kind = LOAD_SCAN };
	if (!w->left) {
		uint64_t random = splitmix64(plan->seed + 1) + l->scans++;

		w->at = splitmix64(random) % (plan->records - plan->run + 1);
		w->left = plan->run;
		request->begins = true;
	}
	request->record = w->at;
	request->records = w->left < LOAD_CHUNK ? w->left : LOAD_CHUNK;
	w->at += request->records;
	w->left -= request->records;
	request->ends = !w->left;
	l->scanned += request->records;
}

static void next_get(struct load *l, struct load_request *request)
{
	const struct load_plan *plan = &l->plan;
	uint64_t random = splitmix64(splitmix64(plan->seed) + l->gets++);

	*request = (struct load_request){
		.kind = LOAD_GET,
		.record = permute(zipf_next(&l->zipf, &random), plan->records,
				  plan->seed),
		.records = 1,
	};
}

/* Of each GET a page is asked for. */
static void flush(struct load *l)
{
	uint64_t asked =
		l->gets * sysconf(_SC_PAGESIZE) + l->scanned * l->plan.record;
	int err;

	if (!l->plan.memcg)
		return;
	err = memcg_flush_due(l->plan.memcg, l->plan.memory, asked,
			      &l->flush_at, l->failure);
	if (err && !l->err)
		l->err = err;
}

enum load_kind load_next(struct load *load, struct load_worker *worker,
			 struct load_request *request)
{
	*request = (struct load_request){ .kind = LOAD_OVER };
	pthread_mutex_lock(&load->lock);
	while (!load->err && load->gets < load->end) {
		bool scan = scan_is_due(load, worker);

		if (scan ? may_scan(load) : may_get(load)) {
			if (scan)
				next_scan(load, worker, request);
			else
				next_get(load, request);
			flush(load);
			break;
		}
		pthread_cond_wait(&load->moved, &load->lock);
	}
	/* Others may wait for what was begun, or for the end. */
	pthread_cond_broadcast(&load->moved);
	pthread_mutex_unlock(&load->lock);
	return request->kind;
}

uint64_t load_window_gets(const struct load_plan *plan, uint64_t bytes)
{
	uint64_t gets = plan->gets ? plan->gets : plan->layout->gets;
	double each = (double)sysconf(_SC_PAGESIZE) +
		      (double)(plan->run * plan->record) * 1000 / (double)gets;

	return (uint64_t)((double)bytes / each) + 1;
}

void load_tally_add(struct load_tally *to, const struct load_tally *from)
{
	to->gets += from->gets;
	to->get_misses += from->get_misses;
	to->get_bytes += from->get_bytes;
	to->get_faults += from->get_faults;
	to->get_ticks += from->get_ticks;
	to->scanned += from->scanned;
	to->scan_bytes += from->scan_bytes;
	to->scan_faults += from->scan_faults;
	to->scan_ticks += from->scan_ticks;
	to->wrong += from->wrong;
}

#define STAT_TICKS 42

int64_t load_ticks_parse(const char *stat)
{
	const char *at = strrchr(stat, ')');
	long long ticks;

	/* Behind the name a blank stands before each field, from the third on. */
	for (int field = 3; at && field <= STAT_TICKS; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %lld", &ticks) != 1)
		return -1;
	return ticks;
}

static bool is_table(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".ldb") || !strcmp(dot, ".sst"));
}

uint64_t load_count_mapped(FILE *maps, const char *dir)
{
	size_t len = strlen(dir), size = 0;
	char *line = NULL, *last = NULL;
	uint64_t mapped = 0;
	ssize_t n;

	while ((n = getline(&line, &size, maps)) > 0) {
		char *path = strchr(line, '/');

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (!path || strncmp(path, dir, len) ||
		    strrchr(path, '/') != path + len || !is_table(path))
			continue;
		/* One mapping may be split; its parts follow each other. */
		if (!last || strcmp(last, path))
			mapped++;
		free(last);
		last = strdup(path);
	}
	free(last);
	free(line);
	return mapped;
}

const char *load_access_name(uint64_t mapped, uint64_t tables)
{
	if (!mapped)
		return "pread";
	return mapped == tables ? "mapped" : "both";
}
