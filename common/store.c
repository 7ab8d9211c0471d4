// SPDX-License-Identifier: GPL-2.0
#include "store.h"

#include "exact_lru.h"
#include "failure.h"
#include "lab.h"
#include "memcg.h"
#include "pattern.h"
#include "permille.h"
#include "reader.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A worker's turn lasts while about this part of the memory is asked for. */
#define TURNS 32

#define WINDOWS 3
#define WINDOWS_GET_ALONE 1

void get_scan_windows(struct get_scan *of)
{
	of->window = of->run && of->gets ? of->memory * 2 : of->memory;
	of->measured = of->run ? WINDOWS : WINDOWS_GET_ALONE;
}

/* ----- which requests ----- */

/* GETs that a worker makes before the next one has its turn. */
static uint64_t turn_of(const struct get_scan *of)
{
	uint64_t bytes = of->memory / TURNS;
	double turn;

	if (of->run)
		turn = (double)bytes / RECORD_BYTES * (double)of->gets /
		       (double)of->run / 1000;
	else
		turn = (double)bytes / (double)sysconf(_SC_PAGESIZE);
	return turn < 1 ? 1 : (uint64_t)turn;
}

void store_requests_begin(struct store_requests *requests,
			  const struct get_scan *of)
{
	uint64_t bytes = of->buffer < STORE_BUFFER_MAX ? of->buffer :
							 STORE_BUFFER_MAX;

	*requests = (struct store_requests){
		.of = of,
		.chunk = bytes / RECORD_BYTES,
		.turn = turn_of(of),
		.get_random = splitmix64(of->seed),
		.scan_random = splitmix64(of->seed + 1),
	};
	zipf_init(&requests->zipf, of->records, of->zipf);
}

static bool scan_is_due(const struct store_requests *r)
{
	const struct get_scan *of = r->of;

	if (!of->run || !of->gets)
		return of->run;
	/* A worker's turn is not divided. */
	if (r->gets % r->turn)
		return false;
	return r->scanned * of->gets <= r->gets * of->run * 1000;
}

static void next_scan(struct store_requests *r, struct store_request *request)
{
	const struct get_scan *of = r->of;
	uint64_t n;

	*request = (struct store_request){ .is_scan = true };
	if (!r->left) {
		r->at = splitmix64_next(&r->scan_random) %
			(of->scanned / SCAN_ALIGN) * SCAN_ALIGN;
		r->left = of->run;
		r->scans++;
		request->run = of->run;
	}
	n = r->chunk < r->left ? r->chunk : r->left;
	if (n > of->scanned - r->at)
		n = of->scanned - r->at;
	request->record = r->at;
	request->records = n;
	request->worker = of->mixed ? (r->scans - 1) % of->workers : 0;
	r->at = (r->at + n) % of->scanned;
	r->left -= n;
	r->scanned += n;
}

static void next_get(struct store_requests *r, struct store_request *request)
{
	const struct get_scan *of = r->of;
	unsigned int turn = r->gets / r->turn % (of->workers - 1);
	unsigned int scanner =
		of->mixed && r->scans ? (r->scans - 1) % of->workers : 0;

	*request = (struct store_request){
		.record = permute(zipf_next(&r->zipf, &r->get_random),
				  of->records, of->seed),
		.records = 1,
		.worker = (scanner + 1 + turn) % of->workers,
	};
	r->gets++;
}

void store_requests_next(struct store_requests *requests,
			 struct store_request *request)
{
	if (scan_is_due(requests))
		next_scan(requests, request);
	else
		next_get(requests, request);
}

/* Bytes asked for: logical time. */
static uint64_t asked_by(const struct store_request *request)
{
	return request->is_scan ? request->records * RECORD_BYTES :
				  (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ----- of the kernel ----- */

struct work {
	struct lab *lab;
	const struct get_scan *of;
	const struct memcg *memcg; /* NULL: none */
	struct hits *hits;
	struct failure *failure;
	struct store_requests requests;
	struct reader readers[WORKERS_MAX];
	unsigned int worker; /* whose turn it is */
	uint64_t asked; /* bytes so far */
	uint64_t flush_at;
	uint64_t wait_ns; /* that GETs of absent pages took */
};

static int count_cached(struct work *work, uint64_t record, uint64_t records,
			struct residency *sum)
{
	struct reader *r = &work->readers[0];
	struct residency one;
	int err;

	err = residency_read(work->lab->meter, r->fd,
			     (off_t)(record * RECORD_BYTES),
			     (off_t)(records * RECORD_BYTES), &one);
	if (err)
		return failure_note(work->failure, err,
				    "count cached pages of %s", r->path);
	sum->pages += one.pages;
	sum->cached += one.cached;
	return 0;
}

/* Of a run that may go on at the first record of the scanned ones. */
static int count_run(struct work *work, const struct store_request *request,
		     struct residency *sum)
{
	uint64_t behind = work->of->scanned - request->record;
	uint64_t first = request->run < behind ? request->run : behind;
	int err = count_cached(work, request->record, first, sum);

	if (!err && first < request->run)
		err = count_cached(work, 0, request->run - first, sum);
	return err;
}

static int read_records(struct work *work, const struct store_request *request)
{
	struct reader *r = &work->readers[request->worker];
	off_t pos = (off_t)(request->record * RECORD_BYTES);
	int err = reader_read(r, pos, request->records * RECORD_BYTES);

	return err ? failure_note(work->failure, err, "read %s by %s at %lld",
				  r->path, r->ops->name, (long long)pos) :
		     0;
}

static int make_request(struct work *work, struct hits *hits)
{
	struct residency found = { 0 };
	struct store_request request;
	uint64_t start;
	int err = 0;

	store_requests_next(&work->requests, &request);
	if (request.worker != work->worker)
		take_turn(request.worker);
	work->worker = request.worker;
	if (!request.is_scan)
		err = count_cached(work, request.record, 1, &found);
	else if (request.run)
		err = count_run(work, &request, &found);
	start = clock_ns();
	if (!err)
		err = read_records(work, &request);
	hits->reads++;
	if (request.is_scan) {
		hits->scan_pages += found.pages;
		hits->scan_hits += found.cached;
	} else {
		hits->gets++;
		hits->get_hits += found.cached > 0;
		if (!found.cached)
			work->wait_ns += clock_ns() - start;
	}
	work->asked += asked_by(&request);
	if (err || !work->memcg)
		return err;
	return memcg_flush_due(work->memcg, work->of->memory, work->asked,
			       &work->flush_at, work->failure);
}

static int run_windows(struct work *work, unsigned int n, struct hits *hits)
{
	uint64_t end = work->asked + work->of->window * n;
	int err = 0;

	*hits = (struct hits){ 0 };
	while (!err && work->asked < end)
		err = make_request(work, hits);
	return err;
}

static int64_t hit_rate(const struct hits *hits)
{
	return hits->gets ? permille(hits->get_hits, hits->gets) :
			    permille(hits->scan_hits, hits->scan_pages);
}

static int warm_up(struct work *work)
{
	int64_t before = 0;
	unsigned int n;

	for (n = 0; n < WARM_WINDOWS_MAX;) {
		struct hits hits;
		int err = run_windows(work, 1, &hits);
		int64_t rate = hit_rate(&hits);

		if (err)
			return err;
		work->hits->warm += hits.reads;
		if (n++ && llabs(rate - before) < WARM_PERMILLE) {
			work->hits->settled = true;
			break;
		}
		before = rate;
	}
	work->hits->warm_windows = n;
	return 0;
}

static int measure(struct work *work)
{
	struct hits *hits = work->hits;
	uint64_t scanned = work->requests.scanned;
	struct hits measured;
	uint64_t start;
	int err;

	work->wait_ns = 0;
	start = clock_ns();
	err = run_windows(work, work->of->measured, &measured);
	measured.ns = clock_ns() - start;
	measured.wait_ns = work->wait_ns;
	measured.scanned = work->requests.scanned - scanned;
	measured.warm = hits->warm;
	measured.warm_windows = hits->warm_windows;
	measured.settled = hits->settled;
	*hits = measured;
	return err;
}

int get_scan_run(struct lab *lab, const struct get_scan *of, const char *path,
		 const struct memcg *memcg, struct hits *hits,
		 struct failure *failure)
{
	struct work work = { .lab = lab,
			     .of = of,
			     .memcg = memcg,
			     .hits = hits,
			     .failure = failure };
	struct residency left = { 0 };
	int err = 0;

	*hits = (struct hits){ 0 };
	store_requests_begin(&work.requests, of);
	for (unsigned int i = 0; !err && i < of->workers; i++)
		err = reader_open(&work.readers[i], of->read_by, path,
				  work.requests.chunk * RECORD_BYTES);
	if (err)
		failure_note(failure, err, "open %s by %s", path,
			     of->read_by->name);
	else
		take_turn(0);
	if (!err)
		err = warm_up(&work);
	if (!err)
		err = measure(&work);
	if (!err)
		err = count_cached(&work, 0, of->records, &left);
	hits->pages = left.pages;
	hits->cached = left.cached;
	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		reader_close(&work.readers[i]);
	return err;
}

/* ----- of exact LRU ----- */

static void ask_lru(struct lru *lru, const struct store_request *request,
		    struct hits *hits)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t from = request->record * RECORD_BYTES;
	uint64_t to = from + request->records * RECORD_BYTES;

	for (uint64_t i = from / page; i * page < to; i++) {
		bool hit = lru_ask(lru, (uint32_t)i);

		if (request->is_scan) {
			hits->scan_pages++;
			hits->scan_hits += hit;
		} else {
			hits->gets++;
			hits->get_hits += hit;
		}
	}
}

int get_scan_replay(const struct get_scan *of, struct hits *hits)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct store_requests requests;
	struct store_request request;
	struct hits warm = { 0 };
	struct lru lru;
	int err;

	err = lru_begin(&lru, (uint32_t)(of->records * RECORD_BYTES / page + 1),
			(uint32_t)(of->memory / page));
	if (err)
		return err;
	store_requests_begin(&requests, of);
	for (uint64_t i = 0; i < hits->warm + hits->reads; i++) {
		store_requests_next(&requests, &request);
		ask_lru(&lru, &request, i < hits->warm ? &warm : hits);
	}
	lru_end(&lru);
	return 0;
}
