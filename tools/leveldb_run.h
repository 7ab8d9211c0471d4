/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GETs and SCANs by threads of a LevelDB database, in a process that is in a memcg
 * already: a warm-up, then what is measured.
 */
#ifndef MM_CACHE_LEVELDB_RUN_H
#define MM_CACHE_LEVELDB_RUN_H

#include "db_load.h"
#include "failure.h"
#include "leveldb_db.h"
#include "memcg.h"

/*
 * The warm-up ends when the shares of GETs that missed in two successive windows
 * differ by less, or after the most windows.
 */
#define WARM_PERMILLE 30

/*
 * @filler:   directory for leveldb_fill_maps(), or NULL
 * @window:   bytes asked for in one; logical time
 * @measured: windows
 * @say:      progress; @arg is its first argument
 */
struct leveldb_run {
	const char *dir;
	const char *filler;
	struct leveldb_shape shape;
	uint64_t block_cache;
	struct load_plan plan;
	uint64_t window;
	unsigned int warm_max;
	unsigned int measured;
	void (*say)(void *arg, const char *stage, unsigned int n,
		    unsigned int of, double miss);
	void *arg;
};

/*
 * @err:     0; -EBADMSG after a wrong answer; or -errno; with @failure
 * @warm:    windows that the warm-up took
 * @settled: it ended by the rule
 * @tally:   of the measured windows, as all that follows; without counters of
 *           delay accounting the ticks are 0
 * @before, @after: the memcg's counters
 * @tables:  of the database; so many were @mapped
 * @changed: LevelDB changed the tables
 */
struct leveldb_result {
	int err;
	struct failure failure;
	unsigned int warm;
	bool settled;
	uint64_t ns;
	struct load_tally tally;
	struct memcg_stat before;
	struct memcg_stat after;
	uint64_t tables;
	uint64_t mapped;
	bool changed;
};

/* leveldb_run() - what it gave is in @result, also after an error. */
void leveldb_run(const struct leveldb_run *run, struct leveldb_result *result);

#endif
