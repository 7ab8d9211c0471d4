// SPDX-License-Identifier: GPL-2.0
/*
 * The unit tests of the workload core.
 *
 *   unit [-v] [NAME...]   all tests, or the named ones; -v: what every
 *                         assertion saw
 *   unit -l               the names of all tests
 *
 * TAP; exit status 0 when nothing failed, 4 when everything was skipped.
 */
#include "unit.h"

#include "lab.h"
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_LIMIT 60 /* seconds */
#define FAILED 1
#define SKIPPED 4

static const struct unit_test *const lists[] = {
	tests_of_values,     tests_of_texts,  tests_of_readers,
	tests_of_experiment, tests_of_keeper, tests_of_trial,
	tests_of_explore,    tests_of_store,  tests_of_load,
};

#define NR_LISTS (sizeof(lists) / sizeof(*lists))

#ifndef UNIT_PAGE_SIZE
#define UNIT_PAGE_SIZE 0
#endif
long unit_page_size = UNIT_PAGE_SIZE;

static bool verbose;
static bool failed; /* in the process of a test */
static char about[160];
static char *skip_reason; /* shared with the processes of the tests */

#define SKIP_REASON_LEN 200

#ifdef __GLIBC__
long __sysconf(int name);
#endif

/* Takes the place of the one in libc, also for the modules under test. */
long sysconf(int name)
{
	if (name == _SC_PAGESIZE)
		return unit_page_size ? unit_page_size :
					(long)getauxval(AT_PAGESZ);
#ifdef __GLIBC__
	return __sysconf(name);
#else
	errno = EINVAL;
	return -1;
#endif
}

__attribute__((format(printf, 4, 5))) static bool
report(bool ok, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	failed |= !ok;
	if (ok && !verbose)
		return ok;
	printf("# %s:%d: %s%s",
	       strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line, about,
	       *about ? ": " : "");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	return ok;
}

bool unit_is(const char *file, int line, const char *what, int64_t saw,
	     int64_t want)
{
	if (saw == want)
		return report(true, file, line, "%s is %" PRId64, what, saw);
	return report(false, file, line, "%s is %" PRId64 ", must be %" PRId64,
		      what, saw, want);
}

bool unit_is_within(const char *file, int line, const char *what, int64_t saw,
		    int64_t low, int64_t high)
{
	if (saw >= low && saw <= high)
		return report(true, file, line, "%s is %" PRId64, what, saw);
	return report(false, file, line,
		      "%s is %" PRId64 ", must be within %" PRId64
		      " and %" PRId64,
		      what, saw, low, high);
}

bool unit_is_text(const char *file, int line, const char *what, const char *saw,
		  const char *want)
{
	if (!strcmp(saw, want))
		return report(true, file, line, "%s is \"%s\"", what, saw);
	return report(false, file, line, "%s is \"%s\", must be \"%s\"", what,
		      saw, want);
}

bool unit_has_text(const char *file, int line, const char *what,
		   const char *saw, const char *part)
{
	if (strstr(saw, part))
		return report(true, file, line, "%s is \"%s\"", what, saw);
	return report(false, file, line, "%s is \"%s\", must have \"%s\"", what,
		      saw, part);
}

void unit_case(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(about, sizeof(about), fmt, ap);
	va_end(ap);
}

void unit_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, SKIP_REASON_LEN, fmt, ap);
	va_end(ap);
	fflush(stdout);
	_exit(failed ? FAILED : SKIPPED);
}

void unit_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (file && fputs(text, file) >= 0 && !fclose(file))
		return;
	printf("# cannot write %s: %s\n", path, strerror(errno));
	fflush(stdout);
	_exit(FAILED);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool become_root(void)
{
	char uid[32];
	char gid[32];

	snprintf(uid, sizeof(uid), "0 %u 1", geteuid());
	snprintf(gid, sizeof(gid), "0 %u 1", getegid());
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", uid) &&
	       write_file("/proc/self/gid_map", gid);
}

void unit_private(const char *const *dirs)
{
	if (geteuid() ? !become_root() : unshare(CLONE_NEWNS))
		unit_skip("no mount namespace: %s", strerror(errno));
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL))
		unit_skip("no private mounts: %s", strerror(errno));
	for (; *dirs; dirs++)
		if (mount("none", *dirs, "tmpfs", 0, "mode=755"))
			unit_skip("cannot mount at %s: %s", *dirs,
				  strerror(errno));
}

void *unit_shared(size_t len)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		unit_skip("no memory");
	return map;
}

void unit_lab_open(struct lab *lab)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	unit_page_size = 0;
	*lab = (struct lab){ .keeper.sock = -1,
			     .options = { .scanners = 1, .hot_readers = 1 } };
	snprintf(lab->scratch.dir, sizeof(lab->scratch.dir),
		 "%.200s/unit.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(lab->scratch.dir))
		unit_skip("cannot make %s", lab->scratch.dir);
	IS(scratch_path(&lab->scratch, "probe", path, sizeof(path)), 0);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	lab->meter = residency_choose(fd, &lab->needs);
	close(fd);
	unlink(path);
}

void unit_lab_close(struct lab *lab)
{
	static const char *const names[] = { HOT_FILE, SCAN_FILE };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		scratch_path(&lab->scratch, names[i], path, sizeof(path));
		unlink(path);
	}
	rmdir(lab->scratch.dir);
}

static int run_test(const struct unit_test *test)
{
	int status;
	pid_t pid;

	skip_reason[0] = '\0';
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(TEST_LIMIT);
		test->run();
		fflush(stdout);
		_exit(failed ? FAILED : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		printf("# cannot run it: %s\n", strerror(errno));
		return FAILED;
	}
	if (WIFSIGNALED(status))
		printf("# killed by signal %d\n", WTERMSIG(status));
	return WIFSIGNALED(status) ? FAILED : WEXITSTATUS(status);
}

static bool is_chosen(const struct unit_test *test, int argc, char **argv)
{
	bool all = true;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], test->name))
			return true;
		all &= argv[i][0] == '-';
	}
	return all;
}

static int list_all(void)
{
	for (size_t i = 0; i < NR_LISTS; i++)
		for (const struct unit_test *t = lists[i]; t->name; t++)
			printf("%s\n", t->name);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, nr_failed = 0, nr_skipped = 0;

	if (argc > 1 && !strcmp(argv[1], "-l"))
		return list_all();
	verbose = argc > 1 && !strcmp(argv[1], "-v");
	skip_reason = mmap(NULL, SKIP_REASON_LEN, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED)
		return 1;
	printf("TAP version 13\n");
	for (size_t i = 0; i < NR_LISTS; i++)
		for (const struct unit_test *t = lists[i]; t->name; t++)
			nr += is_chosen(t, argc, argv);
	printf("1..%u\n", nr);
	nr = 0;
	for (size_t i = 0; i < NR_LISTS; i++)
		for (const struct unit_test *t = lists[i]; t->name; t++) {
			int result;

			if (!is_chosen(t, argc, argv))
				continue;
			result = run_test(t);
			printf("%sok %u %s%s%s\n",
			       result && result != SKIPPED ? "not " : "", ++nr,
			       t->name, result == SKIPPED ? " # SKIP " : "",
			       result == SKIPPED ? skip_reason : "");
			nr_skipped += result == SKIPPED;
			nr_failed += result && result != SKIPPED;
		}
	printf("# %u tests, %u failed, %u skipped\n", nr, nr_failed,
	       nr_skipped);
	if (nr_failed || !nr)
		return FAILED;
	return nr_skipped == nr ? SKIPPED : 0;
}
