// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

#include "failure.h"
#include "hot_set.h"
#include "knob.h"
#include "scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define HOT_LIMIT_PCT 40 /* of the memory limit */
#define DROP_TIMEOUT_MS 5000

/* --- figures ------------------------------------------------------------ */

static const char *sign_of(enum bound_kind kind)
{
	return kind == AT_LEAST ? ">=" : "<=";
}

void bench_report(struct bench *b, const char *group, const char *name,
		  const char *unit, const struct summary *s,
		  enum bound_kind kind, int64_t wanted)
{
	struct bench_row *row = &b->rows[b->nr_rows];

	printf("# bench %s.%s %s n=%u median=%" PRId64 " min=%" PRId64
	       " max=%" PRId64,
	       group, name, unit, s->n, s->median, s->min, s->max);
	if (kind != NO_BOUND)
		printf(" wanted%s%" PRId64, sign_of(kind), wanted);
	putchar('\n');
	if (kind == NO_BOUND || b->nr_rows == BENCH_ROWS)
		return;
	snprintf(row->name, sizeof(row->name), "%s.%s", group, name);
	row->unit = unit;
	row->s = *s;
	row->wanted = (struct bound){ .kind = kind, .value = wanted };
	b->nr_rows++;
}

void bench_report_one(struct bench *b, const char *group, const char *name,
		      const char *unit, int64_t value)
{
	const struct summary s = { 1, value, value, value };

	bench_report(b, group, name, unit, &s, NO_BOUND, 0);
}

static const char *mark_of(const struct bench_row *row)
{
	if (bound_holds(&row->wanted, row->s.median))
		return "ok";
	return row->wanted.kind == AT_LEAST ? "below" : "above";
}

void bench_table(const struct bench *b)
{
	if (!b->nr_rows)
		return;
	printf("\n%-24s %-8s %8s %8s %8s   %s\n", "measured", "unit", "median",
	       "min", "max", "wanted");
	for (unsigned int i = 0; i < b->nr_rows; i++) {
		const struct bench_row *row = &b->rows[i];

		printf("%-24s %-8s %8" PRId64 " %8" PRId64 " %8" PRId64
		       "   %s %-5" PRId64 " %s\n",
		       row->name, row->unit, row->s.median, row->s.min,
		       row->s.max, sign_of(row->wanted.kind), row->wanted.value,
		       mark_of(row));
	}
}

/* --- load --------------------------------------------------------------- */

/* Interrupts and what the hypervisor took are among it. */
static uint64_t machine_ns(void)
{
	/* user nice system idle iowait irq softirq steal */
	static const bool busy[] = { true,  true, true, false,
				     false, true, true, true };
	uint64_t ticks = 0;
	char text[256];
	char *at;

	if (knob_read("/proc/stat", text, sizeof(text)) < 0)
		return 0;
	at = text + strcspn(text, " ");
	for (size_t i = 0; i < sizeof(busy) / sizeof(*busy); i++) {
		uint64_t value = strtoull(at, &at, 10);

		ticks += busy[i] ? value : 0;
	}
	return ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static uint64_t usage_ns(int who)
{
	struct rusage u;

	if (getrusage(who, &u))
		return 0;
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ULL;
}

struct bench_load bench_load_begin(void)
{
	return (struct bench_load){
		.machine_ns = machine_ns(),
		.own_ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN),
		.ns = clock_ns(),
	};
}

int64_t bench_load_end(const struct bench_load *before)
{
	struct bench_load now = bench_load_begin();
	uint64_t machine = now.machine_ns - before->machine_ns;
	uint64_t own = now.own_ns - before->own_ns;

	return permille(machine > own ? machine - own : 0,
			(now.ns - before->ns) * sysconf(_SC_NPROCESSORS_ONLN));
}

/* --- files -------------------------------------------------------------- */

static uint64_t page_round(uint64_t bytes)
{
	return bytes - bytes % sysconf(_SC_PAGESIZE);
}

uint64_t bench_hot_bytes(const struct bench *b)
{
	return page_round(b->lab.options.mem_bytes * HOT_LIMIT_PCT / 100);
}

uint64_t bench_scan_bytes(const struct bench *b)
{
	return page_round(b->lab.options.mem_bytes * b->effort.scan_limits);
}

int bench_lay_out(struct bench *b)
{
	struct lab *lab = &b->lab;
	int err;

	err = scratch_file(&lab->scratch, SCAN_FILE, bench_scan_bytes(b),
			   SCAN_SEED, &lab->failure);
	if (err)
		return err;
	return scratch_file(&lab->scratch, HOT_FILE, bench_hot_bytes(b),
			    HOT_SEED, &lab->failure);
}

static int path_of(struct bench *b, const char *file, char *path)
{
	int err = scratch_path(&b->lab.scratch, file, path, PATH_MAX);

	return err ? failure_note(&b->lab.failure, err, "%s", file) : 0;
}

int bench_open(struct bench *b, struct reader *r, const char *file,
	       size_t buffer)
{
	char path[PATH_MAX];
	int err = path_of(b, file, path);

	if (err)
		return err;
	err = reader_open(r, &reader_pread, path, buffer);
	return err ? failure_note(&b->lab.failure, err, "open %s", path) : 0;
}

int bench_open_hot(struct bench *b, struct hot_set *hot)
{
	char path[PATH_MAX];
	int err = path_of(b, HOT_FILE, path);

	if (err)
		return err;
	err = hot_set_open(hot, &reader_pread, path, 1);
	return err ? failure_note(&b->lab.failure, err, "open %s", path) : 0;
}

int bench_count(struct bench *b, const struct reader *r,
		struct residency *count)
{
	int err = residency_read(b->lab.meter, r->fd, 0, r->size, count);

	return err ? failure_note(&b->lab.failure, err,
				  "count cached pages of %s", r->path) :
		     0;
}

int bench_drop(struct bench *b, const char *file)
{
	struct reader r;
	int err = bench_open(b, &r, file, BENCH_KIB);

	if (err)
		return err;
	err = residency_drop(b->lab.meter, r.fd, DROP_TIMEOUT_MS);
	if (err)
		failure_note(&b->lab.failure, err, "drop %s from the cache",
			     r.path);
	reader_close(&r);
	return err;
}

int bench_cache(struct bench *b, const char *file)
{
	const struct scan whole = { .buffer = BENCH_MIB };
	struct scan_result result;
	struct residency count;
	struct reader r;
	int err = bench_open(b, &r, file, BENCH_MIB);

	if (err)
		return err;
	err = bench_count(b, &r, &count);
	if (!err && count.cached < count.pages) {
		err = scan_run(&r, &whole, &result, &b->lab.failure);
		if (!err)
			err = bench_count(b, &r, &count);
	}
	if (!err && count.cached < count.pages)
		err = failure_note(&b->lab.failure, -ENOMEM,
				   "keep %s in the cache", r.path);
	reader_close(&r);
	return err;
}

int bench_readahead(struct bench *b, bool on)
{
	struct lab *lab = &b->lab;
	int err;

	err = scratch_read_ahead(&lab->scratch, &lab->keeper,
				 on ? lab->options.read_ahead_kb : 0);
	/* That of a device that is not ours stays as it is. */
	if (!err || (on && err == -ENODEV))
		return 0;
	return failure_note(
		&lab->failure, err, "set read_ahead_kb%s",
		err == -ENODEV ? " (not ours to set: unset MM_CACHE_DIR)" : "");
}
