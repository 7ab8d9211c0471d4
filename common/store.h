/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GET and SCAN requests to a store: one file of records of RECORD_BYTES in the
 * order of their keys. A GET reads one record, by pread(); its keys follow Zipf's
 * law, and the popular ones lie all over the file. A SCAN begins at a random
 * record and reads a run of records in order, SCAN_ALIGN or the buffer at a time.
 *
 * The requests are a sequence that a seed decides, so that they can be made of a
 * kernel, and then again of a simulated exact LRU. Time is logical: a fixed number
 * of GETs to a SCAN, in one process that takes turns over the CPUs as workers with
 * descriptors of their own would.
 *
 * Hits are counted by the meter of the lab just before a read, page by page:
 * RWF_NOWAIT tells nothing of a hole, which it fills without waiting. Of a SCAN
 * that is what was cached when its run began, for it reads ahead of itself.
 */
#ifndef MM_CACHE_STORE_H
#define MM_CACHE_STORE_H

#include "zipf.h"

#include <stdbool.h>
#include <stdint.h>

struct failure;
struct lab;
struct memcg;
struct reader_ops;

#define RECORD_BYTES 1024
#define SCAN_ALIGN 16 /* records; a run begins at a multiple */
#define WORKERS_MAX 8
#define STORE_BUFFER_MAX (1024 * 1024)

/*
 * Sizes are in records, but for @memory in bytes.
 * @records:  of the store; 0: no store
 * @scanned:  the SCANs go over the first so many, a multiple of SCAN_ALIGN, and
 *            from the last on to the first
 * @memory:   that the cache may take; for the simulation
 * @run:      of one SCAN; 0: no SCANs
 * @gets:     GETs for each 1000 SCANs; without SCANs: any; 0: no GETs
 * @zipf:     exponent of the popularity of GET's keys; 0: all alike
 * @workers:  that take turns, at least 2; the first one makes the SCANs
 * @mixed:    each makes GETs, and SCANs in turn
 * @window:   bytes asked for (a GET asks for a page) in one window
 * @measured: windows, after a warm-up that ends by WARM_PERMILLE
 * @buffer:   bytes that a SCAN reads at a time, STORE_BUFFER_MAX at most
 */
struct get_scan {
	uint64_t records;
	uint64_t scanned;
	uint64_t memory;
	uint64_t run;
	uint64_t gets;
	double zipf;
	unsigned int workers;
	bool mixed;
	uint64_t window;
	unsigned int measured;
	uint64_t seed;
	uint64_t buffer;
	const struct reader_ops *read_by;
};

/*
 * The warm-up ends when the hit rates of two successive windows differ by less:
 * that of the GETs, or of the SCANs where there are no GETs. Or after the most.
 */
#define WARM_PERMILLE 30
#define WARM_WINDOWS_MAX 6

/*
 * get_scan_windows() - set @window and @measured, by what else is in @of: GETs
 * beside SCANs, and runs of SCANs, are few; GETs alone are thousands in one window.
 */
void get_scan_windows(struct get_scan *of);

/*
 * One read, of @records from @record on.
 * @run: a SCAN begins, with so many records; else 0
 */
struct store_request {
	bool is_scan;
	uint64_t record;
	uint64_t records;
	uint64_t run;
	unsigned int worker;
};

struct store_requests {
	const struct get_scan *of;
	uint64_t chunk; /* records that a SCAN reads at a time */
	uint64_t turn; /* GETs that one worker makes at a time */
	struct zipf zipf;
	uint64_t get_random;
	uint64_t scan_random;
	uint64_t gets;
	uint64_t scans;
	uint64_t scanned; /* records, of all SCANs */
	uint64_t at; /* the next one of this SCAN */
	uint64_t left; /* of this SCAN */
};

void store_requests_begin(struct store_requests *requests,
			  const struct get_scan *of);

void store_requests_next(struct store_requests *requests,
			 struct store_request *request);

/*
 * What became of them, in the measured windows.
 * @warm:       reads of the warm-up, which took @warm_windows
 * @settled:    it ended by the rule, not after the most windows
 * @reads:      of the measured windows
 * @get_hits:   of @gets
 * @scan_hits:  of @scan_pages
 * @scanned:    records
 * @ns:         that all took
 * @wait_ns:    that GETs took which missed
 * @cached:     of the @pages of the store, at the end
 */
struct hits {
	uint64_t warm;
	unsigned int warm_windows;
	bool settled;
	uint64_t reads;
	uint64_t gets;
	uint64_t get_hits;
	uint64_t scan_pages;
	uint64_t scan_hits;
	uint64_t scanned;
	uint64_t ns;
	uint64_t wait_ns;
	uint64_t pages;
	uint64_t cached;
};

/*
 * get_scan_run() - make the requests of the store at @path, in a process that is
 * in @memcg (or NULL) already. 0, or -errno with @failure.
 */
int get_scan_run(struct lab *lab, const struct get_scan *of, const char *path,
		 const struct memcg *memcg, struct hits *hits,
		 struct failure *failure);

/*
 * get_scan_replay() - what exact LRU makes of the same requests, by simulation in
 * the memory of the caller: @hits has the warm and reads of a run, and gets the
 * hits. 0 or -ENOMEM.
 */
int get_scan_replay(const struct get_scan *of, struct hits *hits);

#endif
