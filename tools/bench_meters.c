// SPDX-License-Identifier: GPL-2.0
/*
 * cachestat() and mincore() against each other, and against what is known: a
 * file is read and dropped in random ranges, without readahead, so that each
 * page is cached or not by what was done last. With readahead, large folios
 * come into it, and only the meters are left to be compared.
 */
#include "bench.h"
#include "failure.h"
#include "pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 48 /* ranges read or dropped in one case, ... */
#define STEP_PAGES 64 /* ... each of so many pages at most */
#define KEEP_OF 3 /* one range of so many is dropped */
#define RANGES 8 /* counted in one case, besides the whole file */
#define DROP_TIMEOUT_MS 5000
#define SETTLE_TRIES 50
#define SETTLE_US 2000

struct meters {
	struct bench *b;
	const char *name;
	struct reader reader;
	uint64_t random;
	int64_t pages;
	bool *known; /* pages that must be cached; NULL: readahead decides */
	int64_t counts; /* compared */
	int64_t at_once; /* of these, unequal at first */
	int64_t unequal; /* and for a while after */
	int64_t untrue; /* not what is known */
	int64_t reclaimed; /* pages that the machine took meanwhile */
};

static uint64_t random_below(struct meters *m, uint64_t end)
{
	return splitmix64(m->random++) % end;
}

/* Read a random range of pages, or drop it. */
static int change(struct meters *m)
{
	long page = sysconf(_SC_PAGESIZE);
	int64_t first = (int64_t)random_below(m, m->pages);
	int64_t n = 1 + (int64_t)random_below(m, STEP_PAGES);
	bool keep = random_below(m, KEEP_OF);
	int err;

	if (n > m->pages - first)
		n = m->pages - first;
	if (keep)
		err = reader_read(&m->reader, first * page, n * page);
	else
		err = -posix_fadvise(m->reader.fd, first * page, n * page,
				     POSIX_FADV_DONTNEED);
	if (err)
		return failure_note(&m->b->lab.failure, err,
				    "%s %" PRId64 " pages of %s",
				    keep ? "read" : "drop", n, m->reader.path);
	for (int64_t i = first; m->known && i < first + n; i++)
		m->known[i] = keep;
	return 0;
}

static int count_by(struct meters *m, enum residency_meter meter, off_t pos,
		    off_t len, struct residency *count)
{
	int err = residency_read(meter, m->reader.fd, pos, len, count);

	return err ? failure_note(&m->b->lab.failure, err, "count by %s",
				  residency_meter_name(meter)) :
		     0;
}

static int64_t known_in(const struct meters *m, off_t pos, off_t len)
{
	long page = sysconf(_SC_PAGESIZE);
	int64_t n = 0;

	for (int64_t i = pos / page; i <= (pos + len - 1) / page; i++)
		n += m->known[i];
	return n;
}

/*
 * Count bytes [pos, pos + len) by both, again for a while if they differ, for
 * reads ahead may be under way and reclaim strike at any time. What was read
 * and not dropped is cached, or reclaim took it, as machines do that page out
 * what looks cold, and left a trace that cachestat() counts.
 */
static int compare(struct meters *m, off_t pos, off_t len)
{
	struct residency cachestat, mincore;
	int tries = 0;

	do {
		int err;

		if (tries)
			usleep(SETTLE_US);
		err = count_by(m, METER_CACHESTAT, pos, len, &cachestat);
		if (!err)
			err = count_by(m, METER_MINCORE, pos, len, &mincore);
		if (err)
			return err;
	} while (cachestat.cached != mincore.cached && ++tries < SETTLE_TRIES);
	m->counts++;
	m->at_once += tries > 0;
	m->unequal += cachestat.cached != mincore.cached;
	if (m->known)
		m->untrue += cachestat.cached + cachestat.evicted !=
			     known_in(m, pos, len);
	if (len == m->reader.size)
		m->reclaimed += cachestat.evicted;
	return 0;
}

static int run_case(struct meters *m)
{
	int err;

	err = residency_drop(m->b->lab.meter, m->reader.fd, DROP_TIMEOUT_MS);
	if (err)
		return failure_note(&m->b->lab.failure, err,
				    "drop %s from the cache", m->reader.path);
	if (m->known)
		memset(m->known, 0, m->pages * sizeof(*m->known));
	for (int i = 0; !err && i < STEPS; i++)
		err = change(m);
	if (!err)
		err = compare(m, 0, m->reader.size);
	for (int i = 0; !err && i < RANGES; i++) {
		off_t pos = (off_t)random_below(m, m->reader.size);
		off_t len = 1 + (off_t)random_below(m, m->reader.size - pos);

		err = compare(m, pos, len);
	}
	return err;
}

static void report_none(const struct meters *m, const char *name, int64_t value)
{
	const struct summary s = { m->counts, value, value, value };

	bench_report(m->b, m->name, name, "counts", &s, AT_MOST, 0);
}

static void report(const struct meters *m)
{
	bench_report_one(m->b, m->name, "compared", "counts", m->counts);
	bench_report_one(m->b, m->name, "unequal_at_once", "counts",
			 m->at_once);
	bench_report_one(m->b, m->name, "reclaimed", "pages", m->reclaimed);
	report_none(m, "unequal", m->unequal);
	if (m->known)
		report_none(m, "untrue", m->untrue);
}

static int run(struct bench *b, const char *name, bool readahead)
{
	long page = sysconf(_SC_PAGESIZE);
	struct meters m = { .b = b, .name = name };
	int err;

	err = bench_readahead(b, readahead);
	if (!err)
		err = bench_open(b, &m.reader, HOT_FILE, STEP_PAGES * page);
	if (err)
		return err;
	m.pages = m.reader.size / page;
	if (!readahead) {
		m.known = calloc(m.pages, sizeof(*m.known));
		if (!m.known)
			err = failure_note(&b->lab.failure, -ENOMEM, "%s",
					   name);
	}
	for (unsigned int i = 0; !err && i < b->effort.cases; i++)
		err = run_case(&m);
	if (!err)
		report(&m);
	free(m.known);
	reader_close(&m.reader);
	return err;
}

int bench_meters(struct bench *b)
{
	int err = run(b, "meters.by_page", false);

	return err ? err : run(b, "meters.readahead", true);
}
