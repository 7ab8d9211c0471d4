/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is mounted where, by libmount. statfs() is no substitute: 9p passes the
 * host's f_type through.
 */
#ifndef MM_CACHE_MOUNTINFO_H
#define MM_CACHE_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

/* Valid during the call that hands it out. */
struct mount_entry {
	const char *target;
	const char *fs_type;
	const char *fs_options; /* of the superblock */
	const char *source;
};

/*
 * mountinfo_find() - call @match for each mount in @file (the format of
 * /proc/self/mountinfo), in order, until it returns true. 0 then, -ENOENT when
 * it never did, -EOPNOTSUPP when built without libmount, or -errno.
 */
int mountinfo_find(const char *file,
		   bool (*match)(const struct mount_entry *m, void *arg),
		   void *arg);

/*
 * mountinfo_fs_of() - the type of the file system that holds @path in @type.
 * 0 or as mountinfo_find().
 */
int mountinfo_fs_of(const char *path, char *type, size_t len);

#endif
