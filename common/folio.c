// SPDX-License-Identifier: GPL-2.0
#include "folio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_PRESENT 0x8000000000000000ULL
#define PAGEMAP_PFN 0x007fffffffffffffULL
#define KPF_COMPOUND_TAIL 0x10000ULL

#define ORDERS 32

struct view {
	int pagemap;
	int kpageflags;
	const volatile char *map;
	unsigned char *cached;
	uint64_t pages;
	long page;
};

static bool is_tail(const struct view *v, uint64_t pfn)
{
	uint64_t flags;

	return pread(v->kpageflags, &flags, sizeof(flags),
		     (off_t)(pfn * sizeof(flags))) == sizeof(flags) &&
	       flags & KPF_COMPOUND_TAIL;
}

/* The frame of page @i, when it is mapped now. */
static int64_t frame_of(const struct view *v, uint64_t i)
{
	uint64_t at = (uint64_t)(uintptr_t)v->map / v->page + i;
	uint64_t entry;

	if (pread(v->pagemap, &entry, sizeof(entry),
		  (off_t)(at * sizeof(entry))) != sizeof(entry))
		return -EIO;
	if (!(entry & PAGEMAP_PRESENT))
		return -ENODATA;
	return entry & PAGEMAP_PFN ? (int64_t)(entry & PAGEMAP_PFN) : -EPERM;
}

/* Pages of the folio that begins at frame @pfn: it and its tails. */
static unsigned int folio_pages(const struct view *v, uint64_t pfn)
{
	unsigned int n = 1;

	while (n < 1u << 16 && is_tail(v, pfn + n))
		n++;
	return n;
}

static int64_t median_of(const uint64_t *pages_in, uint64_t seen, long page)
{
	uint64_t below = 0;

	for (int order = 0; order < ORDERS; order++) {
		below += pages_in[order];
		if (2 * below >= seen)
			return ((int64_t)page << order) / 1024;
	}
	return -ENODATA;
}

static int64_t look(const struct view *v)
{
	uint64_t pages_in[ORDERS] = { 0 };
	uint64_t seen = 0;

	for (uint64_t i = 0; i < v->pages;) {
		unsigned int n = 1;
		int order = 0;
		int64_t pfn;

		if (!(v->cached[i] & 1)) {
			i++;
			continue;
		}
		(void)v->map[(off_t)i * v->page];
		pfn = frame_of(v, i);
		if (pfn < 0)
			return pfn;
		/* Where its head is not at the head of the file's range, skip. */
		if (!is_tail(v, pfn))
			n = folio_pages(v, pfn);
		while (1u << order < n)
			order++;
		pages_in[order] += n;
		seen += n;
		i += n;
	}
	return seen ? median_of(pages_in, seen, v->page) : -ENODATA;
}

int64_t folio_median_kib(int fd, off_t len)
{
	struct view v = { .page = sysconf(_SC_PAGESIZE) };
	int64_t kib = -ENOMEM;
	void *map;

	v.pages = len / v.page;
	v.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	v.kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (v.pagemap < 0 || v.kpageflags < 0)
		kib = -errno;
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	v.cached = malloc(v.pages ? v.pages : 1);
	if (map != MAP_FAILED && v.cached && v.pagemap >= 0 &&
	    v.kpageflags >= 0) {
		v.map = map;
		kib = mincore(map, len, v.cached) ? -errno : look(&v);
	}
	free(v.cached);
	if (map != MAP_FAILED)
		munmap(map, len);
	if (v.pagemap >= 0)
		close(v.pagemap);
	if (v.kpageflags >= 0)
		close(v.kpageflags);
	return kib;
}
