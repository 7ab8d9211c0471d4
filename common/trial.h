/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One trial of a workload, in this order: the files are dropped and verified
 * absent; a fresh memcg is made (an lruvec remembers); a process enters it, warms
 * the hot set, caches a part of the scan file in advance where asked to, scans,
 * and meanwhile re-reads the hot set. Then it counts.
 *
 * The hot set is re-read in logical time: so many reads per byte scanned, in
 * one thread, whatever the speed of the disk; and as often the statistics of the
 * memcg are flushed. Or by the clock: so many reads a second, in threads of their
 * own, beside the scan.
 */
#ifndef MM_CACHE_TRIAL_H
#define MM_CACHE_TRIAL_H

#include "failure.h"
#include "memcg.h"
#include "reader.h"
#include "residency.h"
#include "store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct hot_read;
struct lab;
struct needs;

#define HOT_FILE "hot"
#define SCAN_FILE "scan"

/* Seeds of the two files: their contents have nothing in common. */
#define HOT_SEED 0x10000000000ULL
#define SCAN_SEED 0x20000000000ULL

#define NOT_MEASURED INT64_MIN

/* What a trial measures; metric_unit() tells the units. */
enum metric {
	KEPT, /* share of the hot set still cached, or of a store */
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
	GET_HITS, /* GETs that found their page cached; the rest missed */
	GET_OF_LRU, /* of those that hit in exact LRU's cache: may be over 1000 */
	LRU_GET_HITS, /* the share that would */
	GET_OF_ALONE, /* of the share that hit without SCANs, in another trial */
	GET_WAIT, /* time in GETs that missed, per GET */
	GET_RATE,
	SCAN_HITS, /* pages of SCANs that were cached when the SCAN began */
	SCAN_OF_LRU,
	SCAN_OF_ALONE,
	LRU_SCAN_HITS,
	SCAN_RATE,
	ACTIVATIONS, /* of the refaults: pages that were active before */
	WARM_UP, /* windows that it took */
	SETTLED, /* 1: it ended because they were alike; 0: after the most */
	NR_METRICS
};

/*
 * Another process that has the scan file mapped:
 * SHARE_PART:  it touched the part before the scan, in place of pread()
 * SHARE_AHEAD: it touches, after each read of the scan, the page that the next
 *              one begins with, which may have been read ahead
 */
enum share { NOT_SHARED, SHARE_PART, SHARE_AHEAD };

/*
 * @pass:       the first one is 0
 * @ns:         on the monotonic clock
 * @done:       bytes of @total that the pass has scanned; all of them: its end
 * @scan_ns:    that the pass has taken so far, without taking samples
 * @read_bytes: that storage delivered in the pass so far; -1: not counted
 * @stat: of the memcg; where there is none, of the machine
 */
struct trial_sample {
	unsigned int pass;
	uint64_t ns;
	uint64_t done;
	uint64_t total;
	uint64_t scan_ns;
	int64_t read_bytes;
	struct residency hot;
	struct memcg_stat stat;
};

/*
 * What a trial shows while it runs; it runs in the process of the trial, which
 * shares with the caller only what was mapped so before. Memory that is touched
 * here first is charged to the memcg of the trial.
 *
 * @samples:   how often in each pass, besides at its begin and its end
 * @hot_read:  after each read of the hot set, from the thread that made it
 * @scan_read: after each read of the scan: it has come to byte @done of the pass
 * @sample:    what is cached, and the counters of the memcg
 */
struct trial_observer {
	void *arg;
	unsigned int samples;
	void (*hot_read)(void *arg, const struct hot_read *read);
	void (*scan_read)(void *arg, unsigned int pass, uint64_t done);
	void (*sample)(void *arg, const struct trial_sample *sample);
};

/*
 * Sizes are in bytes, whole pages.
 * @mem_bytes: limit of the memcg; 0: none
 * @hot.touches: reads of the hot set while the scan file is read once, evenly
 *               spread over it; in logical time
 * @hot.lead, @hot.gap: reads before the first pass, and between two
 * @hot.period_ns: by the clock instead, every so often, over all readers
 * @hot.lead_ns, @hot.gap_ns: time before the first pass, and between two
 * @hot.readers: in logical time they take turns; by the clock each is a thread
 * @hot.zipf: exponent of the popularity of its pages; 0: all alike
 * @hot.sequential: reads go through the set in order, round and round
 * @hot.no_readahead: the device has read_ahead_kb 0 when the file is opened, so
 *               that it is read, or faulted in, page by page; else it has what
 *               MM_CACHE_READ_AHEAD_KB says
 * @scan.part_bytes: of the scan file, from its start: cached in advance
 * @scan.random: in random order, each pass in another one
 * @scan.same_file: the hot set itself is what is scanned; @scan.bytes is 0
 * A scan that writes is followed by fsync(), so that what is left is clean.
 * @scan.verify: check what the scan reads; or reads of a file that it wrote, by
 *               O_DIRECT, when it has been measured
 * @scan.per_second: bytes it reads at most in a second; 0: as many as it can
 * @settle_max: wait a while for SCAN_LEFT to be at most this; INT64_MAX: do not
 * @get_scan: requests to the scan file as a store, in place of all that is said of
 *            a hot set and a scan but for the scan file, its buffer and reader
 * @measured: a mask of 1 << metric, for what is measured only when asked for
 * @observer: NULL: nobody watches
 * @written: when the two files were last written, by trial_written(); kept up to
 *           date. NULL: do not ask.
 */
struct trial {
	const char *name;
	uint64_t seed;
	uint64_t mem_bytes;
	uint64_t high_bytes;
	bool sparse;
	struct {
		uint64_t bytes;
		unsigned int warm;
		unsigned int readers;
		uint64_t touches, lead, gap;
		uint64_t period_ns, lead_ns, gap_ns;
		double zipf;
		bool sequential;
		bool no_readahead;
		const struct reader_ops *warm_by;
		const struct reader_ops *read_by;
	} hot;
	struct {
		uint64_t bytes;
		uint64_t part_bytes;
		unsigned int passes;
		unsigned int scanners;
		size_t buffer;
		uint64_t per_second;
		enum share share;
		bool random;
		bool same_file;
		bool no_readahead;
		bool verify;
		const struct reader_ops *read_by;
	} scan;
	int64_t settle_max;
	struct get_scan get_scan;
	unsigned int measured;
	const struct trial_observer *observer;
	struct timespec *written;
};

/*
 * What it gave; it must lie in memory that is shared with child processes.
 * @pid:     of the trial while it runs, for who wants to end it
 * @stat:    counters of its memcg at the end, all -1 without one
 * @hits:    of the requests to a store
 * @touched: hot reads since the warm-up
 * @late:    of them, by the clock: issued when the next one was due
 * @hot_ns:  that the scan and its pauses took, in which they were made
 */
struct trial_result {
	volatile pid_t pid;
	int err;
	struct failure failure;
	int64_t metric[NR_METRICS];
	struct memcg_stat stat;
	struct hits hits;
	uint64_t touched;
	uint64_t late;
	uint64_t hot_ns;
};

/* trial_scan_file() - the name of the file that it scans. */
const char *trial_scan_file(const struct trial *trial);

/*
 * trial_lay_out() - make the two files, unless they are there already, of that
 * size and kind. 0; -ENOENT with an entry in @needs when there is no room; or
 * -errno with lab->failure.
 */
int trial_lay_out(struct lab *lab, const struct trial *trial,
		  struct needs *needs);

/*
 * trial_reader_need() - try what @ops cannot do without on file @name. 0, with
 * an entry in @needs when it is missing, or -errno with lab->failure.
 */
int trial_reader_need(struct lab *lab, const struct reader_ops *ops,
		      const char *name, struct needs *needs);

/* trial_written() - when the two files were last written; 0 without one. */
void trial_written(const struct lab *lab, struct timespec written[2]);

/*
 * trial_run() - 0; -EBUSY when a file could not be dropped from the cache;
 * -ESTALE when somebody else wrote to one; -ENOMEM when the memcg OOM killer
 * struck (result->stat); or -errno with lab->failure.
 */
int trial_run(struct lab *lab, const struct trial *trial,
	      struct trial_result *result);

/* metric_name(), metric_unit() - as printed: "kept", "permille". */
const char *metric_name(enum metric metric);
const char *metric_unit(enum metric metric);

#endif
