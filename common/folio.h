/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large the folios are that hold a cached file.
 */
#ifndef MM_CACHE_FOLIO_H
#define MM_CACHE_FOLIO_H

#include <stdint.h>
#include <sys/types.h>

/*
 * folio_median_kib() - KiB of the folio that holds the median cached page of
 * bytes [0, @len) of @fd: half of what is cached lies in folios that are not
 * larger. From /proc/self/pagemap and /proc/kpageflags (root,
 * CONFIG_PROC_PAGE_MONITOR) over a mapping, which this makes, touches where
 * a page is cached, and takes away. -ENODATA when nothing is cached; -errno.
 */
int64_t folio_median_kib(int fd, off_t len);

#endif
