/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the unit tests are written with. Each test is a function that runs in a
 * process of its own; it fails when one of its assertions did, or when the
 * process dies. Assertions go on after a failure, and say what they saw.
 */
#ifndef MM_CACHE_UNIT_H
#define MM_CACHE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab;

struct unit_test {
	const char *name;
	void (*run)(void);
};

/* Each list ends with an entry without a name. */
extern const struct unit_test tests_of_values[];
extern const struct unit_test tests_of_texts[];
extern const struct unit_test tests_of_readers[];
extern const struct unit_test tests_of_experiment[];
extern const struct unit_test tests_of_keeper[];
extern const struct unit_test tests_of_trial[];
extern const struct unit_test tests_of_explore[];
extern const struct unit_test tests_of_store[];
extern const struct unit_test tests_of_load[];

/* The page size that sysconf() tells the rest of the program; 0: the real one. */
extern long unit_page_size;

/* An integer, or whatever converts to one. True when it is. */
#define IS(saw, want) \
	unit_is(__FILE__, __LINE__, #saw, (int64_t)(saw), (int64_t)(want))

/* Within @low and @high, both included. */
#define IS_WITHIN(saw, low, high)                                \
	unit_is_within(__FILE__, __LINE__, #saw, (int64_t)(saw), \
		       (int64_t)(low), (int64_t)(high))

/* A text; and one with @part in it. */
#define IS_TEXT(saw, want) unit_is_text(__FILE__, __LINE__, #saw, saw, want)
#define HAS_TEXT(saw, part) unit_has_text(__FILE__, __LINE__, #saw, saw, part)

bool unit_is(const char *file, int line, const char *what, int64_t saw,
	     int64_t want);
bool unit_is_within(const char *file, int line, const char *what, int64_t saw,
		    int64_t low, int64_t high);
bool unit_is_text(const char *file, int line, const char *what, const char *saw,
		  const char *want);
bool unit_has_text(const char *file, int line, const char *what,
		   const char *saw, const char *part);

/* unit_case() - what the next assertions are about, for a table of cases. */
__attribute__((format(printf, 1, 2))) void unit_case(const char *fmt, ...);

/* unit_skip() - end the test: it cannot run here. */
__attribute__((format(printf, 1, 2), noreturn)) void unit_skip(const char *fmt,
							       ...);

/* unit_write() - make file @path hold @text; ends the test when it cannot. */
void unit_write(const char *path, const char *text);

/*
 * unit_private() - give the test a mount namespace of its own, as root of this
 * machine or of a user namespace, in which an empty file system is mounted at
 * each of the @dirs, up to a NULL. Skips the test when that is not allowed.
 */
void unit_private(const char *const *dirs);

/* unit_shared() - @len zero bytes, shared with child processes. */
void *unit_shared(size_t len);

/*
 * unit_lab_open() - a lab without a keeper, a device or a memcg, in a directory
 * made for it: trials run there, and the kernel's pages are what they are.
 */
void unit_lab_open(struct lab *lab);

/* unit_lab_close() - remove the directory, and the files of trials in it. */
void unit_lab_close(struct lab *lab);

#endif
