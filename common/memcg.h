/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory cgroups, v2 where its memory controller is available, else v1.
 */
#ifndef MM_CACHE_MEMCG_H
#define MM_CACHE_MEMCG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct failure;
struct needs;

enum memcg_flavour { MEMCG_NONE, MEMCG_V1, MEMCG_V2 };

struct memcg {
	enum memcg_flavour flavour;
	char path[PATH_MAX];
};

/*
 * Counters over the life of a memcg, in pages or events; -1 where this flavour
 * or kernel has none.
 */
struct memcg_stat {
	int64_t refault_file; /* workingset_refault_file */
	int64_t activate_file; /* workingset_activate_file */
	int64_t scanned; /* pgscan, v2 only */
	int64_t stolen; /* pgsteal, v2 only */
	int64_t limit_hits; /* v2: memory.events max, v1: memory.failcnt */
	int64_t ooms; /* reclaim gave up, v2 only */
	int64_t oom_kills;
	int64_t anon_bytes;
	int64_t file_bytes;
	int64_t usage_bytes;
	int64_t pressure_us; /* stalled for memory, some task; v2 with PSI */
};

/*
 * memcg_find() - the mounted hierarchy with a usable memory controller; its
 * root cgroup in @root. v2 is usable when the controller is offered there.
 * Adds to @needs and returns -ENOENT when there is none.
 */
int memcg_find(struct memcg *root, struct needs *needs);

/* memcg_flavour_name() - "v1", "v2" or "none". */
const char *memcg_flavour_name(enum memcg_flavour flavour);

/*
 * memcg_child() - name the child @name of @parent, without making it;
 * 0 or -ENAMETOOLONG.
 */
int memcg_child(const struct memcg *parent, const char *name,
		struct memcg *child);

/* memcg_make() - make the cgroup; 0 or -errno. */
int memcg_make(const struct memcg *memcg);

/*
 * memcg_subtree_knob() - path of the v2 knob that hands the memory controller
 * to the children of @memcg. 0, -ENAMETOOLONG, or -ENODEV on v1, which has no
 * such knob.
 */
int memcg_subtree_knob(const struct memcg *memcg, char *path, size_t len);

/* memcg_delegates() - whether children of @memcg have a memory controller. */
bool memcg_delegates(const struct memcg *memcg);

/*
 * memcg_limit() - hard limit of @bytes (memory.max), no swap, and where @high
 * is not 0 a throttling limit (memory.high). 0 or -errno; -EOPNOTSUPP for
 * @high on v1.
 */
int memcg_limit(const struct memcg *memcg, uint64_t bytes, uint64_t high);

/* memcg_enter() - move process @pid (0: the caller) into it; 0 or -errno. */
int memcg_enter(const struct memcg *memcg, pid_t pid);

/* memcg_stat_none() - all -1: not counted. */
void memcg_stat_none(struct memcg_stat *stat);

/* memcg_read() - its counters; 0 or -errno. */
int memcg_read(const struct memcg *memcg, struct memcg_stat *stat);

/*
 * memcg_read_machine() - what /proc/vmstat and /proc/pressure/memory count of these,
 * for all that runs on the machine; 0 or -errno.
 */
int memcg_read_machine(struct memcg_stat *stat);

/*
 * memcg_flush_due() - now and then, have the kernel add up what each CPU counted
 * for it: when byte @done of what is read has come to *@due, which is moved on, so
 * that it is done four times while as much as @limit is read. That is what the
 * kernel does by itself every two seconds, of 2.5 GiB at 300 MB/s. It does nothing
 * for fewer than 64 pages per CPU. 0, or -errno with @failure.
 *
 * Classic reclaim compares the sizes of the LRU lists by these sums. Left to the
 * kernel's clock they are up to four seconds old, older than a whole trial: by
 * chance from when the hot set was warm and nothing else cached, so that all of it
 * seems too much. That took 0 to 83 % of a set which it keeps when it knows.
 */
int memcg_flush_due(const struct memcg *memcg, uint64_t limit, uint64_t done,
		    uint64_t *due, struct failure *failure);

/*
 * memcg_oom_text() - what @stat says about an OOM, by the names of the files it
 * is from: "memory.events: max 34, oom 2, oom_kill 1"; in @buf of @len bytes.
 * @buf.
 */
const char *memcg_oom_text(enum memcg_flavour flavour,
			   const struct memcg_stat *stat, char *buf,
			   size_t len);

/*
 * memcg_stat_parse() - the part of memcg_read() that parses memory.stat, or vmstat:
 * what is not there is -1.
 */
void memcg_stat_parse(const char *text, struct memcg_stat *stat);

/*
 * memcg_pressure_parse() - microseconds behind "some ... total=" in the @text of
 * a pressure file; -1 without.
 */
int64_t memcg_pressure_parse(const char *text);

/*
 * memcg_remove() - kill whoever is in cgroup @path or below, and remove it
 * with its children. 0 or -errno; -EBUSY when processes would not die in 5 s.
 */
int memcg_remove(const char *path);

#endif
