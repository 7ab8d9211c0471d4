/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which requests threads make of a database, in which order, and what these cost.
 * Nothing here knows the database.
 *
 * A GET asks for one record; its keys follow Zipf's law, and the popular ones lie
 * all over the database. A SCAN begins anywhere and goes through a run of records
 * in the order of their keys, LOAD_CHUNK at a time. GETs and SCANs are numbered, and
 * number and seed decide the key: so many GETs ask for the same records in every
 * run, whichever thread makes them.
 *
 * Time is logical: a window is a number of GETs, and the pace holds a ratio of GETs
 * and SCANs. Who is ahead of it by more than a tenth of a SCAN waits.
 */
#ifndef MM_CACHE_DB_LOAD_H
#define MM_CACHE_DB_LOAD_H

#include "zipf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct failure;
struct memcg;

#define LOAD_WORKERS_MAX 8
#define LOAD_CHUNK 100 /* records */

/*
 * @gets:  for each 1000 SCANs
 * @mixed: each worker makes GETs, and a SCAN when one is due; else the first one
 *         makes the SCANs, and the others GETs
 */
struct load_layout {
	const char *name;
	unsigned int workers;
	bool mixed;
	uint64_t gets;
};

#define NR_LOAD_LAYOUTS 3
extern const struct load_layout load_layouts[NR_LOAD_LAYOUTS];

/* load_layout_by_name() - NULL when there is none of that name. */
const struct load_layout *load_layout_by_name(const char *name);

/*
 * @gets:   for each 1000 SCANs; 0: as fast as each can, which is not for mixed
 * @run:    records of a SCAN, at most @records
 * @record: bytes of one
 * @zipf:   exponent of the popularity of GET's keys; 0: all alike
 * @memory: bytes; so often as much as a quarter of it was asked for, the statistics
 *          of @memcg are flushed (memcg_flush_due())
 */
struct load_plan {
	const struct load_layout *layout;
	uint64_t gets;
	uint64_t run;
	uint64_t records;
	uint64_t record;
	double zipf;
	uint64_t seed;
	uint64_t memory;
	const struct memcg *memcg;
};

struct load {
	struct load_plan plan;
	struct zipf zipf;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t gets; /* all of these: begun */
	uint64_t scans;
	uint64_t scanned; /* records */
	uint64_t end; /* of the window, in GETs */
	uint64_t flush_at;
	int err; /* a worker's, which ends the window */
	struct failure *failure;
};

enum load_kind { LOAD_GET, LOAD_SCAN, LOAD_OVER };

/*
 * @record:  the one that is asked for; of a SCAN the next one
 * @records: of a SCAN, to read now
 * @begins:  a SCAN does
 * @ends:    with these records
 */
struct load_request {
	enum load_kind kind;
	uint64_t record;
	uint64_t records;
	bool begins;
	bool ends;
};

/* A worker, and the SCAN that it is in, which may go on in the next window. */
struct load_worker {
	bool scanner;
	uint64_t at;
	uint64_t left;
};

void load_begin(struct load *load, const struct load_plan *plan,
		struct failure *failure);
void load_end(struct load *load);

/* load_window() - the next @gets GETs, and the SCANs with them. */
void load_window(struct load *load, uint64_t gets);

/* load_next() - waits for its turn; LOAD_OVER at the end of the window. */
enum load_kind load_next(struct load *load, struct load_worker *worker,
			 struct load_request *request);

/* load_fail() - end the window for all, with @err. */
void load_fail(struct load *load, int err);

/* load_window_gets() - GETs of a window in which @bytes are asked for. */
uint64_t load_window_gets(const struct load_plan *plan, uint64_t bytes);

/*
 * What requests cost. Bytes are those that the thread made the device deliver,
 * faults major ones, waits for block devices in clock ticks.
 * @get_misses: GETs of which the thread read from the device
 */
struct load_tally {
	uint64_t gets;
	uint64_t get_misses;
	uint64_t get_bytes;
	uint64_t get_faults;
	uint64_t get_ticks;
	uint64_t scanned; /* records */
	uint64_t scan_bytes;
	uint64_t scan_faults;
	uint64_t scan_ticks;
	uint64_t wrong; /* answers */
};

void load_tally_add(struct load_tally *to, const struct load_tally *from);

/*
 * load_ticks_parse() - delayacct_blkio_ticks, field 42, of the text of
 * /proc/PID/stat; -1 when it is not there. The second field may hold blanks and
 * parentheses.
 */
int64_t load_ticks_parse(const char *stat);

/*
 * load_count_mapped() - how many different table files (*.ldb, *.sst) in directory
 * @dir the process has mapped whose /proc/PID/maps is @maps.
 */
uint64_t load_count_mapped(FILE *maps, const char *dir);

/* load_access_name() - "mapped", "pread" or "both". */
const char *load_access_name(uint64_t mapped, uint64_t tables);

#endif
