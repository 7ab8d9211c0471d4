/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What went wrong, in words: the operation, its object, and the errno.
 */
#ifndef MM_CACHE_FAILURE_H
#define MM_CACHE_FAILURE_H

struct failure {
	int err; /* -errno, 0: nothing */
	char text[400];
};

/*
 * failure_note() - keep @err (-errno) and the text, to which what @err means
 * is added, unless an earlier failure is kept already: the first one is the
 * cause. Returns @err.
 */
__attribute__((format(printf, 3, 4))) int
failure_note(struct failure *failure, int err, const char *fmt, ...);

#endif
