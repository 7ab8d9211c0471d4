/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload, run as several arms beside each other, again and again until the
 * answer is clear.
 *
 * One trial, in this order: the files are dropped and verified absent; a fresh
 * memcg is made (an lruvec remembers); a process enters it, warms the hot set,
 * caches a part of the scan file in advance where the workload says so, scans,
 * and meanwhile re-reads the hot set in logical time: so many reads per byte
 * scanned, in one thread, whatever the speed of the disk. Then it counts.
 */
#ifndef MM_CACHE_EXPERIMENT_H
#define MM_CACHE_EXPERIMENT_H

#include "memcg.h"
#include "permille.h"
#include "reader.h"
#include "reclaim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct failure;
struct lab;
struct needs;
struct options;

#define HOT_FILE "hot"
#define SCAN_FILE "scan"

/* What a trial measures; metric_unit() tells the units. */
enum metric {
	KEPT, /* share of the hot set still cached */
	KEPT_FIRST, /* the same after the first of several passes */
	KEPT_CHANGE, /* from there to the end */
	EVICTED, /* pages of the hot set that reclaim took and nobody read again */
	MISSED, /* hot reads that had to wait for storage */
	REFAULTS, /* pages read again after reclaim, in the whole memcg */
	SCAN_LEFT, /* pages of the scan file cached, less those before the scan */
	PART_KEPT, /* share still cached of the part cached in advance */
	OTHER_FAULTS, /* major faults of another on what it had touched before */
	AMPLIFICATION, /* bytes that storage delivered per byte of the scan file */
	FOLIO, /* size of the folio of the median page of the scan file */
	THROUGHPUT, /* of the scan */
	SETTLE_TIME, /* from the end of the scan until SCAN_LEFT was in bounds */
	BAD_WORDS, /* 8-byte words that were not what the file holds */
	NR_METRICS
};

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
 * Another process that has the scan file mapped:
 * SHARE_PART:  it touched the part before the scan, in place of pread()
 * SHARE_AHEAD: it touches, after each read of the scan, the page that the next
 *              one begins with, which may have been read ahead
 */
enum share { NOT_SHARED, SHARE_PART, SHARE_AHEAD };

/*
 * @warm:     passes over the hot set before the scan; 0: as the workload says
 * @warm_by:  NULL: as the workload says
 * @idle:     the hot set is not re-read during the scan
 * @scan_by:  NULL: as the workload says; &reader_null: no scan
 * @measured: metrics worth a line without a bound: a mask of 1 << metric
 */
struct arm {
	const char *name;
	unsigned int warm;
	const struct reader_ops *warm_by;
	bool idle;
	const struct reader_ops *scan_by;
	unsigned int measured;
	struct bound bounds[ARM_BOUNDS];
};

/*
 * Sizes are in percent of the memory limit.
 * @hot.touches: reads per hot page while the scan file is read once, permille
 * @hot.sequential: they go through the set in order, round and round
 * @no_readahead: the device has read_ahead_kb 0 when the file is opened, so that
 *               it is read, or faulted in, page by page; else it has what
 *               MM_CACHE_READ_AHEAD_KB says
 * @scan.part_pct: of the scan file, from its start: cached in advance by pread()
 * @scan.needs_room: what is read ahead must have room beside the hot set and the
 *               part, or it could not but evict
 * @scan.passes: times that the file is scanned; 0: once
 * @scan.random: in random order, each pass in another one
 * @scan.same_file: the hot set itself is what is scanned; @scan.pct is not used
 * A scan that writes is followed by fsync(), so that what is left is clean.
 * @scan.verify: check what the scan reads; or reads of a file that it wrote, by
 *               O_DIRECT, when it has been measured
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
 * first. Ends after MM_CACHE_REPS repetitions; or else when each bound held in
 * all of at least 3, or in all or none of at least 5, or after 11. A bound of the
 * property that held in none lets others of the property waver.
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

/* metric_name(), metric_unit() - as printed: "kept", "permille". */
const char *metric_name(enum metric metric);
const char *metric_unit(enum metric metric);

#endif
