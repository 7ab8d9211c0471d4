/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another process that has a file mapped.
 */
#ifndef MM_CACHE_OTHER_H
#define MM_CACHE_OTHER_H

#include <stdint.h>
#include <sys/types.h>

struct other {
	pid_t pid; /* 0: there is none */
	int sock;
};

/*
 * other_start() - a child of the caller, in its cgroups, that maps all of @path
 * and touches nothing yet. It dies with the caller. 0 or -errno.
 */
int other_start(struct other *other, const char *path);

/*
 * other_touch() - have it read a byte of each page in [@from, @to) of its
 * mapping, and wait for that. Its major faults meanwhile, or -errno.
 */
int64_t other_touch(struct other *other, off_t from, off_t to);

/* other_end() - end it, if there is one. */
void other_end(struct other *other);

#endif
