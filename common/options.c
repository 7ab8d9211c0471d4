// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include "knob.h"
#include "one_line.h"
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define MEM_MIN (32 * MIB)
#define MEM_MAX (64 * 1024 * MIB)
#define BUFFER_MIN 4096
#define BUFFER_MAX (16 * MIB)

static const char *const fs_names[] = { "ext4", "xfs", "btrfs", NULL };

/* Each known variable, and what it may hold. */
static const struct {
	const char *name;
	const char *domain;
} known[] = {
	{ "MM_CACHE_DIR", "an absolute path of a directory" },
	{ "MM_CACHE_DEV", "an absolute path of an empty block device" },
	{ "MM_CACHE_FS", "ext4, xfs or btrfs" },
	{ "MM_CACHE_BLOCK_SIZE", "a power of two from 512 to 65536" },
	{ "MM_CACHE_MOUNT", "mount options, separated by commas" },
	{ "MM_CACHE_XFAIL", "test names, separated by commas" },
	{ "MM_CACHE_MEM", "a size from 32M to 64G, or machine" },
	{ "MM_CACHE_BUFFER", "a power of two from 4K to 16M" },
	{ "MM_CACHE_SCANNERS", "a number from 1 to 8" },
	{ "MM_CACHE_HOT_READERS", "a number from 1 to 8" },
	{ "MM_CACHE_REPS", "a number from 1 to 99" },
	{ "MM_CACHE_READ_AHEAD_KB", "a number from 0 to 65536" },
	{ "MM_CACHE_RECLAIM", "classic or mglru" },
	{ "MM_CACHE_FILES", "sparse or data" },
};

int size_parse(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (!*end)
		return 0;
	unit = strchr(units, *end);
	if (!unit || end[1])
		return -EINVAL;
	for (; unit >= units; unit--) {
		if (*bytes > UINT64_MAX / 1024)
			return -EINVAL;
		*bytes *= 1024;
	}
	return 0;
}

static int number(const char *text, unsigned int min, unsigned int max,
		  unsigned int *value)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || n < min || n > max)
		return -EINVAL;
	*value = n;
	return 0;
}

static int one_of(const char *value, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(value, *names))
			return 0;
	return -EINVAL;
}

static int option_set(struct options *o, const char *name, const char *value)
{
	if (!strcmp(name, "MM_CACHE_DIR") || !strcmp(name, "MM_CACHE_DEV")) {
		*(name[10] == 'I' ? &o->dir : &o->dev) = value;
		return *value == '/' ? 0 : -EINVAL;
	}
	if (!strcmp(name, "MM_CACHE_FS")) {
		o->fs = value;
		return one_of(value, fs_names);
	}
	if (!strcmp(name, "MM_CACHE_MOUNT")) {
		o->mount_options = value;
		return *value ? 0 : -EINVAL;
	}
	if (!strcmp(name, "MM_CACHE_BLOCK_SIZE")) {
		if (number(value, 512, 65536, &o->block))
			return -EINVAL;
		return o->block & (o->block - 1) ? -EINVAL : 0;
	}
	if (!strcmp(name, "MM_CACHE_BUFFER")) {
		if (size_parse(value, &o->buffer) || o->buffer < BUFFER_MIN ||
		    o->buffer > BUFFER_MAX)
			return -EINVAL;
		return o->buffer & (o->buffer - 1) ? -EINVAL : 0;
	}
	if (!strcmp(name, "MM_CACHE_SCANNERS"))
		return number(value, 1, READERS_MAX, &o->scanners);
	if (!strcmp(name, "MM_CACHE_HOT_READERS"))
		return number(value, 1, READERS_MAX, &o->hot_readers);
	if (!strcmp(name, "MM_CACHE_XFAIL")) {
		o->xfail = value;
		return 0;
	}
	if (!strcmp(name, "MM_CACHE_MEM") && !strcmp(value, "machine")) {
		o->machine = true;
		return memory_available(&o->mem_bytes);
	}
	if (!strcmp(name, "MM_CACHE_MEM")) {
		if (size_parse(value, &o->mem_bytes) || o->mem_bytes < MEM_MIN)
			return -EINVAL;
		return o->mem_bytes > MEM_MAX ? -EINVAL : 0;
	}
	if (!strcmp(name, "MM_CACHE_REPS"))
		return number(value, 1, 99, &o->reps);
	if (!strcmp(name, "MM_CACHE_READ_AHEAD_KB"))
		return number(value, 0, 65536, &o->read_ahead_kb);
	if (!strcmp(name, "MM_CACHE_RECLAIM"))
		return reclaim_by_name(value, &o->reclaim);
	o->data = !strcmp(value, "data");
	return o->data || !strcmp(value, "sparse") ? 0 : -EINVAL;
}

static int refuse_unknown(char *why, size_t len)
{
	for (char **var = environ; var && *var; var++) {
		size_t n = strcspn(*var, "=");
		bool ok = strncmp(*var, "MM_CACHE_", 9);

		for (size_t i = 0; !ok && i < sizeof(known) / sizeof(*known);
		     i++)
			ok = strlen(known[i].name) == n &&
			     !strncmp(*var, known[i].name, n);
		if (!ok) {
			snprintf(
				why, len,
				"%.*s: no such variable; the README lists those there are",
				(int)n, *var);
			one_line(why);
			return -EINVAL;
		}
	}
	return 0;
}

int options_read(struct options *options, char *why, size_t len)
{
	const char *tmp = getenv("TMPDIR");
	const char *slow = getenv("KSFT_MACHINE_SLOW");

	*options = (struct options){
		.fs = "ext4",
		.image_dir = tmp && *tmp ? tmp : "/var/tmp",
		.xfail = "",
		.mount_options = "",
		.mem_bytes = 64 * MIB,
		.scanners = 1,
		.hot_readers = 1,
		.read_ahead_kb = 128,
		.reclaim = RECLAIM_ANY,
		.slow = slow && *slow,
	};
	if (refuse_unknown(why, len))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const char *value = getenv(known[i].name);

		if (value && option_set(options, known[i].name, value)) {
			snprintf(why, len, "%s=%s: must be %s", known[i].name,
				 value, known[i].domain);
			one_line(why);
			return -EINVAL;
		}
	}
	if (options->dir && options->dev) {
		snprintf(
			why, len,
			"MM_CACHE_DIR and MM_CACHE_DEV are both set: choose one");
		return -EINVAL;
	}
	return 0;
}

bool options_xfail(const struct options *options, const char *name)
{
	size_t len = strlen(name);
	const char *at = options->xfail;

	while (*at) {
		size_t n = strcspn(at, ",");

		if (n == len && !strncmp(at, name, n))
			return true;
		at += n;
		at += *at == ',';
	}
	return false;
}
