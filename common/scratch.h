/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the test files lie: by default a file system on a loop device of our
 * own with direct I/O, the same on every machine; or a block device or
 * directory that the user names.
 */
#ifndef MM_CACHE_SCRATCH_H
#define MM_CACHE_SCRATCH_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct keeper;
struct needs;
struct options;

struct scratch {
	char dir[PATH_MAX];
	char fs[32]; /* type of the file system */
	char device[64]; /* what lies below it, for people */
	char read_ahead_knob[128]; /* "": not ours to set */
	unsigned int read_ahead_kb; /* as found; 0 when it cannot be known */
};

/*
 * scratch_open() - room for @bytes of files in @scratch->dir.
 *
 * Mounts in a mount namespace that the caller is moved to. Mount and loop device
 * go with the last process in it, and not before: a test that the harness gave
 * up may still write there, and would else write to the mount point. The image
 * of the loop device has no name. What is in a named directory is the keeper's.
 * A named block device is formatted only if it is empty or carries our label;
 * in a named directory a directory of our own is made.
 *
 * 0; -ENOENT with entries in @needs; or -errno with @failure.
 */
int scratch_open(struct scratch *scratch, const struct options *options,
		 uint64_t bytes, struct keeper *keeper, struct needs *needs,
		 struct failure *failure);

/*
 * scratch_read_ahead() - files opened from now on are read ahead by @kb KiB
 * (0: not at all). 0; -ENODEV for a device that is not ours; or -errno.
 */
int scratch_read_ahead(const struct scratch *scratch, struct keeper *keeper,
		       unsigned int kb);

/*
 * scratch_file() - write @bytes of pattern (pattern.h, @seed) to new file
 * @name, on the device and out of the cache when this returns. A partial last
 * page is allowed. 0, or -errno with @failure.
 */
int scratch_file(const struct scratch *scratch, const char *name,
		 uint64_t bytes, uint64_t seed, struct failure *failure);

/*
 * scratch_hole() - make new file @name of @bytes without any data: reading it
 * fills the page cache as any file does, but waits for no device.
 * 0, or -errno with @failure.
 */
int scratch_hole(const struct scratch *scratch, const char *name,
		 uint64_t bytes, struct failure *failure);

/* scratch_path() - path of file @name in @path; 0 or -ENAMETOOLONG. */
int scratch_path(const struct scratch *scratch, const char *name, char *path,
		 size_t len);

#endif
