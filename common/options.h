/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the user may choose, by environment variables MM_CACHE_*: a kselftest
 * gets no arguments through the runner.
 */
#ifndef MM_CACHE_OPTIONS_H
#define MM_CACHE_OPTIONS_H

#include "reclaim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
	const char *dir; /* MM_CACHE_DIR: measure in this directory */
	const char *dev; /* MM_CACHE_DEV: format and measure on this device */
	const char *fs; /* MM_CACHE_FS: what to format with, ext4 */
	const char *image_dir; /* TMPDIR, /var/tmp: where the loop image lies */
	const char *xfail; /* MM_CACHE_XFAIL: names expected to fail */
	uint64_t mem_bytes; /* MM_CACHE_MEM: memory limit, 64M */
	unsigned int reps; /* MM_CACHE_REPS: repetitions; 0: as clear */
	unsigned int read_ahead_kb; /* MM_CACHE_READ_AHEAD_KB, 128 */
	unsigned int scanners; /* MM_CACHE_SCANNERS: take turns, 1 */
	unsigned int hot_readers; /* MM_CACHE_HOT_READERS: take turns, 1 */
	uint64_t buffer; /* MM_CACHE_BUFFER: of the scan; 0: as the test says */
	unsigned int block; /* MM_CACHE_BLOCK_SIZE; 0: 4096 */
	const char *mount_options; /* MM_CACHE_MOUNT: besides our own; "" */
	bool machine; /* MM_CACHE_MEM=machine: all of it, in no memcg */
	bool data; /* MM_CACHE_FILES: files hold data even where holes would do */
	enum reclaim reclaim; /* MM_CACHE_RECLAIM: only this one */
	bool slow; /* KSFT_MACHINE_SLOW: no bound on throughput */
};

/*
 * options_read() - from @environ. Strings point into it. 0, or -EINVAL with
 * one sentence in @why: which variable, what it holds, what it may hold. A
 * MM_CACHE_ name that is not listed above is an error, too: a misspelt one
 * would otherwise be obeyed by nobody.
 */
int options_read(struct options *options, char *why, size_t len);

/* size_parse() - "64M", "1G", "4096": bytes (K, M, G by 1024); 0 or -EINVAL. */
int size_parse(const char *text, uint64_t *bytes);

/* options_xfail() - whether test @name is listed in options->xfail. */
bool options_xfail(const struct options *options, const char *name);

#endif
