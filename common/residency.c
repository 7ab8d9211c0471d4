// SPDX-License-Identifier: GPL-2.0
#include "residency.h"

#include "need.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

#define RETRY_MS 5
#define PROBE_FAR (64L * 1024 * 1024)

/* The layout of mm.h, which libc headers lacked for years. */
struct cachestat_pages {
	uint64_t cache;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

struct cachestat_bytes {
	uint64_t pos;
	uint64_t len;
};

static int read_cachestat(int fd, off_t pos, off_t len, struct residency *r)
{
	struct cachestat_bytes range = { .pos = pos, .len = len };
	struct cachestat_pages pages;

	if (syscall(__NR_cachestat, fd, &range, &pages, 0))
		return -errno;
	r->cached = (int64_t)pages.cache;
	r->evicted = (int64_t)pages.evicted;
	r->dirty = (int64_t)(pages.dirty + pages.writeback);
	return 0;
}

static int read_mincore(int fd, off_t pos, off_t len, struct residency *r)
{
	off_t start = pos - pos % sysconf(_SC_PAGESIZE);
	size_t bytes = len + (pos - start);
	unsigned char *vec;
	int err = 0;
	void *map;

	/* Nobody reads through it, and no debugger may: it would be cached. */
	map = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, start);
	if (map == MAP_FAILED)
		return -errno;
	vec = malloc(r->pages);
	if (!vec)
		err = -ENOMEM;
	else if (mincore(map, bytes, vec))
		err = -errno;
	r->cached = 0;
	for (int64_t i = 0; !err && i < r->pages; i++)
		r->cached += vec[i] & 1;
	r->evicted = -1;
	r->dirty = -1;
	free(vec);
	munmap(map, bytes);
	return err;
}

int residency_read(enum residency_meter meter, int fd, off_t pos, off_t len,
		   struct residency *residency)
{
	long page = sysconf(_SC_PAGESIZE);

	residency->pages = (pos + len + page - 1) / page - pos / page;
	switch (meter) {
	case METER_CACHESTAT:
		return read_cachestat(fd, pos, len, residency);
	case METER_MINCORE:
		return read_mincore(fd, pos, len, residency);
	case METER_NONE:
		break;
	}
	return -EINVAL;
}

static void sleep_ms(int ms)
{
	const struct timespec t = { .tv_sec = ms / 1000,
				    .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

int residency_drop(enum residency_meter meter, int fd, int timeout_ms)
{
	struct residency r;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	for (int waited = 0;; waited += RETRY_MS) {
		err = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (err)
			return -err;
		err = residency_read(meter, fd, 0, st.st_size, &r);
		if (err || (!r.cached && r.evicted <= 0))
			return err;
		if (waited >= timeout_ms)
			return -EBUSY;
		sleep_ms(RETRY_MS);
	}
}

const char *residency_meter_name(enum residency_meter meter)
{
	switch (meter) {
	case METER_CACHESTAT:
		return "cachestat";
	case METER_MINCORE:
		return "mincore";
	case METER_NONE:
		break;
	}
	return "none";
}

/* 0 when @meter tells a page just read from one never read. */
static int meter_try(enum residency_meter meter, int fd, long page)
{
	struct residency read_one, never_read;
	int err;

	err = residency_read(meter, fd, 0, page, &read_one);
	if (!err)
		err = residency_read(meter, fd, PROBE_FAR, page, &never_read);
	if (err)
		return err;
	return read_one.cached == 1 && never_read.cached == 0 ? 0 : -EDOM;
}

enum residency_meter residency_choose(int fd, struct needs *needs)
{
	static const enum residency_meter meters[] = { METER_CACHESTAT,
						       METER_MINCORE };
	long page = sysconf(_SC_PAGESIZE);
	char found[2][64];
	char byte;
	int err;

	/* Far apart, so that no readahead reaches the second one. */
	if (ftruncate(fd, PROBE_FAR + page) || pread(fd, &byte, 1, 0) != 1)
		err = -EIO;
	else
		err = 0;
	for (int i = 0; i < 2; i++) {
		int tried = err ? err : meter_try(meters[i], fd, page);

		if (!tried)
			return meters[i];
		snprintf(found[i], sizeof(found[i]), "%s",
			 tried == -EDOM ? "lies about a page never read" :
					  strerror(-tried));
	}
	need_add(
		needs, "a way to see what is cached",
		"cachestat(): %s; mincore(): %s. Needs Linux 6.5 with CONFIG_CACHESTAT_SYSCALL and no seccomp filter on it, or the right to write the file",
		found[0], found[1]);
	return METER_NONE;
}
