/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload, run as several arms beside each other, again and again until the
 * answer is clear. Each time an arm is a trial (trial.h), in logical time.
 */
#ifndef MM_CACHE_EXPERIMENT_H
#define MM_CACHE_EXPERIMENT_H

#include "memcg.h"
#include "permille.h"
#include "reader.h"
#include "reclaim.h"
#include "trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct failure;
struct lab;
struct needs;
struct options;

enum bound_kind { NO_BOUND, AT_LEAST, AT_MOST };

/*
 * @why:   what it means when the bound does not hold
 * @doubt: NULL for the property itself. For a control, why the run then tells
 *         nothing: constant, for it becomes the reason of a SKIP.
 */
struct bound {
	enum metric of;
	enum bound_kind kind;
	int64_t value;
	const char *why;
	const char *doubt;
};

#define ARM_BOUNDS 6

/*
 * @warm:     passes over the hot set before the scan; 0: as the workload says
 * @warm_by:  NULL: as the workload says
 * @idle:     the hot set is not re-read during the scan
 * @scan_by:  NULL: as the workload says; &reader_null: no scan
 * @no_get, @no_scan: of the requests to a store only the others
 * @no_skew:  all keys are as popular
 * @scan_all: SCANs go over all of the store
 * @alone:    number of the arm that GET_OF_ALONE and SCAN_OF_ALONE are shares of;
 *            0: of none
 * @measured: metrics worth a line without a bound: a mask of 1 << metric
 */
struct arm {
	const char *name;
	unsigned int warm;
	const struct reader_ops *warm_by;
	bool idle;
	const struct reader_ops *scan_by;
	bool no_get;
	bool no_scan;
	bool no_skew;
	bool scan_all;
	unsigned int alone;
	unsigned int measured;
	struct bound bounds[ARM_BOUNDS];
};

/*
 * As in struct trial what has the same name, but sizes are in percent of the memory
 * limit, and:
 * @hot.touches: reads per hot page while the scan file is read once, permille
 * @scan.passes: times that the file is scanned; 0: once
 * @scan.needs_room: what is read ahead must have room beside the hot set and the
 *               part, or it could not but evict
 * @store: GET and SCAN (store.h), the scan file is what they read; no hot set
 * @store.run: records of a SCAN
 * @store.gets: for each 1000 SCANs
 * @store.scanned_pct: what SCANs go over, from the start of the store; 0: all
 * @sparse: the files are holes unless MM_CACHE_FILES says data. Their pages go
 *          the same way through readahead, the LRU and reclaim, but no read
 *          waits for a device, and none is delayed by other load on it.
 */
struct workload {
	unsigned int mem_pct; /* the limit, of MM_CACHE_MEM; 0: no memcg */
	unsigned int high_pct; /* memory.high, of the limit; 0: none */
	bool sparse;
	unsigned int reps; /* exactly so many; 0: until it is clear */
	struct {
		unsigned int pct;
		unsigned int warm;
		unsigned int touches;
		bool sequential;
		bool no_readahead;
		const struct reader_ops *warm_by;
		const struct reader_ops *read_by;
	} hot;
	struct {
		unsigned int pct;
		unsigned int part_pct;
		unsigned int passes;
		size_t buffer;
		enum share share;
		bool random;
		bool same_file;
		bool no_readahead;
		bool verify;
		bool needs_room;
		const struct reader_ops *read_by;
	} scan;
	struct {
		unsigned int workers; /* 0: no store */
		bool mixed;
		unsigned int run;
		unsigned int gets;
		unsigned int scanned_pct;
	} store;
};

/* What an arm gave. */
struct outcome {
	struct summary metric[NR_METRICS];
};

/*
 * @written: when the hot and the scan file were last written, to see whether
 *           somebody else does
 * @oom:     what the memcg counted when it killed a trial for lack of memory;
 *           without oom_kills it never did
 */
struct experiment {
	struct lab *lab;
	struct workload workload;
	uint64_t mem_bytes;
	uint64_t hot_bytes;
	uint64_t scan_bytes;
	struct timespec written[2];
	struct memcg_stat oom;
};

/* experiment_bytes() - of files that @workload needs on the device. */
uint64_t experiment_bytes(const struct workload *workload,
			  const struct options *options);

/*
 * experiment_open() - have the kernel run @reclaim, lay out the files unless
 * they are there from an earlier test, and try what the readers of @workload
 * and of the @nr_arms @arms cannot do without.
 * 0, with entries in @needs when something is missing; or -errno with
 * lab->failure.
 */
int experiment_open(struct experiment *exp, struct lab *lab,
		    const struct workload *workload, enum reclaim reclaim,
		    const struct arm *arms, unsigned int nr_arms,
		    struct needs *needs);

/*
 * experiment_run() - all arms in every repetition, each time another one
 * first. Ends after MM_CACHE_REPS repetitions; or else after 3 in which every bound
 * held; after 5 or more, as soon as 6 of at most 11 agree on each bound of the
 * property, or one of these never held, and controls held in all or none; or after 11.
 *
 * 0; -EBUSY when a file could not be dropped from the cache; -ESTALE when
 * somebody else wrote to one; -ENOMEM when the memcg OOM killer struck
 * (exp->oom); or -errno with lab->failure.
 */
int experiment_run(struct experiment *exp, const struct arm *arms,
		   unsigned int nr_arms, struct outcome *outcomes);

/* bound_holds() - whether @value is within @bound. */
bool bound_holds(const struct bound *bound, int64_t value);

/*
 * experiment_doubt() - the reason of the first control whose median is out of
 * bounds, or that measured nothing; NULL when all held.
 */
const char *experiment_doubt(const struct arm *arms, unsigned int nr_arms,
			     const struct outcome *outcomes);

#endif
