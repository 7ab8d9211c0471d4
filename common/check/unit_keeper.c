// SPDX-License-Identifier: GPL-2.0
/*
 * The keeper, on files that stand for knobs, in a /run of the test's own: so
 * neither the lock nor the journals of the machine are touched.
 */
#include "unit.h"

#include "keeper.h"
#include "knob.h"
#include "memcg.h"
#include "need.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define DEADLINE_MS 2000
#define NOBODY 65534

static const char *const run_only[] = { "/run", NULL };

static struct keeper keeper;
static struct keeper_report report;
static void (*before_start)(void); /* in the process that start_owner() makes */

static void sleep_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000,
				    .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static const char *value_of(const char *path)
{
	static char text[64];

	if (knob_read(path, text, sizeof(text)) < 0)
		return "(none)";
	return text;
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static const char *journal_of(pid_t owner)
{
	static char path[64];

	snprintf(path, sizeof(path), KEEPER_DIR "/journal.%d", owner);
	return path;
}

static int start(void)
{
	pid_t holder;
	int lock = keeper_lock(0, &holder);

	return lock < 0 ? lock : keeper_start(&keeper, lock, &report);
}

/* Processes whose parents die become children of the test. */
static void begin(void)
{
	unit_private(run_only);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	unit_write("/run/knob", "128");
	unit_write("/run/other", "1");
}

static bool ends(pid_t pid)
{
	for (int waited = 0; waited < DEADLINE_MS; waited += 10) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		sleep_ms(10);
	}
	return false;
}

/*
 * Start a process that starts a keeper, does @body, tells of it, and then
 * sleeps until it is killed. *@keeper_pid is the keeper's.
 */
static pid_t start_owner(void (*body)(void), pid_t *keeper_pid)
{
	int pair[2];
	pid_t pid;

	*keeper_pid = 0;
	if (pipe(pair))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Ignored in what a script runs in the background. */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		setpgid(0, 0);
		close(pair[0]);
		if (before_start)
			before_start();
		IS(start(), 0);
		body();
		fflush(stdout);
		if (write(pair[1], &keeper.pid, sizeof(keeper.pid)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(pair[1]);
	if (read(pair[0], keeper_pid, sizeof(*keeper_pid)) < 0)
		*keeper_pid = 0;
	close(pair[0]);
	return pid;
}

static void test_knob_is_restored(void)
{
	begin();
	IS(start(), 0);
	IS(is_there(journal_of(getpid())), true);
	/* What it holds already needs no keeper. */
	IS(keeper_knob(&keeper, "/run/other", "0x1"), 0);
	IS(keeper_knob(&keeper, "/run/none", "1"), -ENOENT);
	IS(keeper_knob(&keeper, "/run/knob", "000"), 0);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_knob(&keeper, "/run/knob", "256"), 0);
	IS(keeper_knob(&keeper, "/run/knob", "512"), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS_TEXT(value_of("/run/knob"), "128");
	IS(report.restored, 1);
	IS(report.foreign, 0);
	IS(report.failed, 0);
	IS_TEXT(report.text, "/run/knob: restored 128\n");
	IS(is_there(journal_of(getpid())), false);
	IS(ends(keeper.pid), false); /* waited for already */

	unit_case("again, and without a keeper");
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 0);
	IS(keeper_knob(&keeper, "/run/knob", "1"), -ENOTCONN);
	IS_TEXT(value_of("/run/knob"), "128");
}

static void test_knob_set_back_by_the_test(void)
{
	begin();
	IS(start(), 0);
	IS(keeper_knob(&keeper, "/run/knob", "512"), 0);
	IS(keeper_knob(&keeper, "/run/knob", "128"), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS_TEXT(value_of("/run/knob"), "128");
	IS(report.restored + report.foreign + report.failed, 0);
}

static void test_knob_of_somebody_else(void)
{
	begin();
	IS(start(), 0);
	IS(keeper_knob(&keeper, "/run/knob", "512"), 0);
	IS(keeper_knob(&keeper, "/run/other", "2"), 0);
	unit_write("/run/knob", "64");
	/* Somebody set it to what was found. */
	unit_write("/run/other", "0x1");
	IS(keeper_finish(&keeper, &report), 0);
	IS_TEXT(value_of("/run/knob"), "64");
	IS_TEXT(value_of("/run/other"), "0x1");
	IS(report.restored, 0);
	IS(report.foreign, 1);
	HAS_TEXT(report.text, "/run/knob: left at 64: ");
	HAS_TEXT(report.text, "512");
	HAS_TEXT(report.text, "128");
}

static void test_knob_that_vanished(void)
{
	begin();
	IS(start(), 0);
	IS(keeper_knob(&keeper, "/run/knob", "512"), 0);
	unlink("/run/knob");
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored + report.foreign + report.failed, 0);
}

/*
 * The change was told, and not made: as when the test is killed in between. The
 * knob still holds what this run set it to before.
 */
static void test_knob_told_and_not_set(void)
{
	begin();
	mkdir("/run/ro", 0755);
	if (mount("none", "/run/ro", "tmpfs", 0, NULL))
		unit_skip("cannot mount: %s", strerror(errno));
	unit_write("/run/ro/knob", "4096");
	IS(start(), 0);
	IS(keeper_knob(&keeper, "/run/ro/knob", "0128"), 0);
	IS(mount("none", "/run/ro", "none", MS_REMOUNT | MS_RDONLY, NULL), 0);
	IS(keeper_knob(&keeper, "/run/ro/knob", "0000"), -EROFS);
	IS(mount("none", "/run/ro", "none", MS_REMOUNT, NULL), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS_TEXT(value_of("/run/ro/knob"), "4096");
	IS(report.restored, 1);
	IS(report.foreign, 0);
}

static pid_t kill_both(void);

static void test_knob_that_cannot_be_restored(void)
{
	begin();
	mkdir("/run/ro", 0755);
	if (mount("none", "/run/ro", "tmpfs", 0, NULL))
		unit_skip("cannot mount: %s", strerror(errno));
	unit_write("/run/ro/knob", "4096");
	IS(start(), 0);
	IS(keeper_knob(&keeper, "/run/ro/knob", "0000"), 0);
	IS(mount("none", "/run/ro", "none", MS_REMOUNT | MS_RDONLY, NULL), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 0);
	IS(report.failed, 1);
	HAS_TEXT(report.text, "/run/ro/knob: cannot restore 4096: ");

	unit_case("tried again by every start, until it can be");
	IS(is_there(journal_of(getpid())), true);
	kill_both();
	IS(start(), 0);
	IS(report.failed, 1);
	IS(report.restored, 2);
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.failed, 0);
	IS(mount("none", "/run/ro", "none", MS_REMOUNT, NULL), 0);
	IS(start(), 0);
	IS(report.failed, 0);
	IS(report.restored, 1);
	IS_TEXT(value_of("/run/ro/knob"), "4096");
	IS(keeper_finish(&keeper, &report), 0);
	keeper_repair(&report);
	IS(report.restored + report.foreign + report.failed, 0);
	IS_TEXT(report.text, "");
}

static void make_mess(void)
{
	IS(keeper_knob(&keeper, "/run/knob", "512"), 0);
	IS(keeper_knob(&keeper, "/run/knob", "000"), 0);
	IS(keeper_dir(&keeper, "/run/dir"), 0);
	IS(mkdir("/run/dir", 0700), 0);
	unit_write("/run/dir/hot", "x");
	unit_write("/run/dir/scan", "x");
}

static void expect_clean(void)
{
	IS_TEXT(value_of("/run/knob"), "128");
	IS(is_there("/run/dir"), false);
}

static void test_owner_killed(void)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGINT };

	begin();
	for (size_t i = 0; i < LEN(signals); i++) {
		pid_t kept_by;
		pid_t owner = start_owner(make_mess, &kept_by);

		unit_case("signal %d", signals[i]);
		IS_TEXT(value_of("/run/knob"), "000");
		kill(owner, signals[i]);
		IS(ends(owner), true);
		IS(ends(kept_by), true);
		expect_clean();
		IS(is_there(journal_of(owner)), false);
	}
}

/* Nobody is there to hear of it but the next. */
static void test_last_words_of_a_keeper(void)
{
	pid_t kept_by;
	pid_t owner;

	begin();
	owner = start_owner(make_mess, &kept_by);
	unit_write("/run/knob", "64");
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(kept_by), true);
	IS(is_there("/run/dir"), false);
	IS(start(), 0);
	IS(report.foreign, 1);
	IS(report.restored + report.failed, 0);
	HAS_TEXT(report.text, "after the end of process ");
	HAS_TEXT(report.text, "/run/knob: left at 64: ");
	IS_TEXT(value_of("/run/knob"), "64");
	IS(keeper_finish(&keeper, &report), 0);

	unit_case("told once");
	IS(start(), 0);
	IS(report.foreign, 0);
	IS_TEXT(report.text, "");
	IS(keeper_finish(&keeper, &report), 0);
}

static void test_group_of_the_owner_killed(void)
{
	pid_t kept_by;
	pid_t owner;

	begin();
	owner = start_owner(make_mess, &kept_by);
	kill(-owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(kept_by), true);
	expect_clean();
}

static int output[2];

static void print_to_output(void)
{
	dup2(output[1], STDOUT_FILENO);
	close(output[0]);
	close(output[1]);
}

static void test_owner_whose_output_nobody_reads(void)
{
	pid_t kept_by;
	pid_t owner;

	begin();
	IS(pipe(output), 0);
	before_start = print_to_output;
	owner = start_owner(make_mess, &kept_by);
	close(output[1]);
	sleep_ms(50);
	IS_TEXT(value_of("/run/knob"), "000");
	close(output[0]);
	IS(ends(owner), true);
	IS(ends(kept_by), true);
	expect_clean();
}

static void test_keeper_heeds_no_signal(void)
{
	static const int signals[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGTERM,
				       SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2 };

	begin();
	IS(start(), 0);
	make_mess();
	for (size_t i = 0; i < LEN(signals); i++)
		kill(keeper.pid, signals[i]);
	sleep_ms(50);
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 2);
	expect_clean();
}

static pid_t kill_both(void)
{
	pid_t kept_by;
	pid_t owner = start_owner(make_mess, &kept_by);

	kill(kept_by, SIGKILL);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(kept_by), true);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(is_there("/run/dir/scan"), true);
	IS(is_there(journal_of(owner)), true);
	return owner;
}

static void test_next_start_repairs(void)
{
	pid_t owner;

	begin();
	owner = kill_both();
	IS(start(), 0);
	IS(report.restored, 2);
	IS(report.failed + report.foreign, 0);
	HAS_TEXT(report.text, "/run/knob: restored 128\n");
	HAS_TEXT(report.text, "/run/dir: removed the directory\n");
	expect_clean();
	IS(is_there(journal_of(owner)), false);
	/* Nothing is left for the end. */
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 0);
}

static void close_stdio(void)
{
	for (int fd = 0; fd < 3; fd++)
		close(fd);
}

/* What is opened then must not be taken for the standard streams. */
static void test_no_standard_streams(void)
{
	pid_t holder = 0;
	pid_t kept_by;
	pid_t owner;

	begin();
	before_start = close_stdio;
	owner = start_owner(make_mess, &kept_by);
	before_start = NULL;
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_lock(0, &holder), -EWOULDBLOCK);
	kill(kept_by, SIGKILL);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(kept_by), true);
	IS(start(), 0);
	IS(report.restored, 2);
	expect_clean();
	IS(keeper_finish(&keeper, &report), 0);
}

static void test_torn_record(void)
{
	pid_t owner;
	char junk[1000];
	int fd;

	begin();
	owner = kill_both();
	memset(junk, 1, sizeof(junk));
	fd = open(journal_of(owner), O_WRONLY | O_APPEND | O_CLOEXEC);
	IS(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	IS(start(), 0);
	IS(report.restored, 2);
	IS(report.failed, 0);
	expect_clean();
	IS(keeper_finish(&keeper, &report), 0);
}

static void test_torn_first_record(void)
{
	pid_t owner;

	begin();
	owner = kill_both();
	IS(truncate(journal_of(owner), 100), 0);
	IS(start(), 0);
	IS(report.restored + report.failed + report.foreign, 0);
	IS(is_there(journal_of(owner)), false);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_finish(&keeper, &report), 0);
}

static void test_journal_of_another_user(void)
{
	pid_t owner;

	begin();
	owner = kill_both();
	if (chown(journal_of(owner), NOBODY, NOBODY))
		unit_skip("there is no other user: %s", strerror(errno));
	IS(start(), 0);
	IS(report.restored, 0);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_finish(&keeper, &report), 0);
}

static void test_journal_of_a_living_keeper(void)
{
	pid_t kept_by;
	pid_t owner;
	int fd;

	begin();
	owner = start_owner(make_mess, &kept_by);
	/* As if the lock had been lost. */
	unlink(KEEPER_DIR "/lock");
	fd = keeper_lock(0, &kept_by);
	IS(fd >= 0, true);
	IS(keeper_start(&keeper, fd, &report), 0);
	IS(report.restored, 0);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_finish(&keeper, &report), 0);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
}

static void test_keeper_killed(void)
{
	begin();
	IS(start(), 0);
	make_mess();
	kill(keeper.pid, SIGKILL);
	sleep_ms(50);
	/* What nobody will restore is not changed. */
	IS(keeper_knob(&keeper, "/run/other", "2"), -EPIPE);
	IS_TEXT(value_of("/run/other"), "1");
	/* The owner then does the keeper's work. */
	keeper_finish(&keeper, &report);
	expect_clean();
	IS(report.restored, 2);
	HAS_TEXT(report.text, "keeper");
}

static void test_finish_is_for_the_owner(void)
{
	pid_t pid;

	begin();
	IS(start(), 0);
	make_mess();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		keeper_finish(&keeper, &report);
		_exit(keeper.sock < 0);
	}
	IS(ends(pid), true);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_finish(&keeper, &report), 0);
	expect_clean();
}

/* A test in a process and a process group of its own uses the same socket. */
static void test_knob_of_a_test_process(void)
{
	int status = 1;
	pid_t pid;

	begin();
	IS(start(), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		_exit(keeper_group(&keeper) ||
		      keeper_knob(&keeper, "/run/knob", "000"));
	}
	IS(waitpid(pid, &status, 0), pid);
	IS(status, 0);
	IS_TEXT(value_of("/run/knob"), "000");
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 1);
	expect_clean();
}

static pid_t *shared_pid;

static void start_test_process(void)
{
	*shared_pid = fork();
	if (!*shared_pid) {
		setpgid(0, 0);
		keeper_group(&keeper);
		unit_write("/run/ready", "");
		for (;;)
			pause();
	}
	while (!is_there("/run/ready"))
		sleep_ms(1);
	unit_write("/run/pid", "");
	knob_write_u64("/run/pid", *shared_pid);
}

static void test_group_dies_with_the_owner(void)
{
	uint64_t pid = 0;
	pid_t kept_by;
	pid_t owner;
	pid_t local;

	begin();
	shared_pid = &local;
	owner = start_owner(start_test_process, &kept_by);
	IS(knob_read_u64("/run/pid", &pid), 0);
	IS(kill(pid, 0), 0);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(pid), true);
	IS(ends(kept_by), true);
}

static void test_dir_follows_no_link(void)
{
	begin();
	mkdir("/run/precious", 0755);
	unit_write("/run/precious/file", "x");
	IS(start(), 0);
	IS(keeper_dir(&keeper, "/run/dir"), 0);
	IS(keeper_dir(&keeper, "/run/link"), 0);
	IS(keeper_dir(&keeper, "/run/gone"), 0);
	IS(mkdir("/run/dir", 0700), 0);
	unit_write("/run/dir/hot", "x");
	IS(symlink("/run/precious", "/run/dir/link"), 0);
	IS(symlink("/run/precious/file", "/run/dir/scan"), 0);
	/* Planted where the directory was to be. */
	IS(symlink("/run/precious", "/run/link"), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS(is_there("/run/dir"), false);
	IS(is_there("/run/precious/file"), true);
	IS(report.restored, 1);
	IS(report.foreign, 1);
	HAS_TEXT(report.text, "/run/link: left alone: ");
}

static void test_dir_in_a_dir(void)
{
	begin();
	IS(start(), 0);
	IS(keeper_dir(&keeper, "/run/dir"), 0);
	IS(mkdir("/run/dir", 0700), 0);
	IS(keeper_dir(&keeper, "/run/dir/dir"), 0);
	IS(mkdir("/run/dir/dir", 0700), 0);
	/* Newest first. */
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 2);
	IS(is_there("/run/dir"), false);

	unit_case("a directory that nobody told of");
	IS(start(), 0);
	IS(keeper_dir(&keeper, "/run/dir"), 0);
	IS(mkdir("/run/dir", 0700), 0);
	IS(mkdir("/run/dir/dir", 0700), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.failed, 1);
	IS(is_there("/run/dir/dir"), true);
}

static void test_delegate(void)
{
	begin();
	unit_write("/run/cgroup.subtree_control", "");
	IS(start(), 0);
	IS(keeper_delegate(&keeper, "/run/none"), -ENOENT);
	/* Told, and then it cannot be written: there is nothing to take back. */
	mkdir("/run/box", 0755);
	mkdir("/run/box/cgroup.subtree_control", 0755);
	IS(keeper_delegate(&keeper, "/run/box/cgroup.subtree_control"),
	   -EISDIR);
	IS(keeper_delegate(&keeper, "/run/cgroup.subtree_control"), 0);
	IS_TEXT(value_of("/run/cgroup.subtree_control"), "+memory");
	IS(keeper_finish(&keeper, &report), 0);
	IS_TEXT(value_of("/run/cgroup.subtree_control"), "-memory");
	IS(report.restored, 1);
	IS(report.failed, 0);
}

static void test_too_much_to_keep(void)
{
	char path[5000];
	int err = 0;
	int nr = 0;

	begin();
	IS(start(), 0);
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	IS(keeper_dir(&keeper, path), -ENAMETOOLONG);
	for (; !err && nr < 1000; nr++) {
		snprintf(path, sizeof(path), "/run/dir%d", nr);
		err = keeper_dir(&keeper, path);
	}
	IS(err, -ENOSPC);
	IS_WITHIN(nr, 17, 999);
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.failed, 0);
}

static void test_lock_names_its_holder(void)
{
	pid_t holder = 0;
	pid_t kept_by;
	pid_t owner;
	int fd;

	begin();
	owner = start_owner(make_mess, &kept_by);
	IS(keeper_lock(0, &holder), -EWOULDBLOCK);
	IS(holder, owner);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	/* Waits for the keeper: all is undone when the lock is had. */
	fd = keeper_lock(1, &holder);
	IS(fd >= 0, true);
	expect_clean();
	close(fd);
	IS(ends(kept_by), true);
}

static void hold_lock(void)
{
	/* The keeper has it. */
}

static void test_lock_waits(void)
{
	pid_t holder = 0;
	pid_t kept_by;
	pid_t waiter;
	pid_t owner;

	begin();
	owner = start_owner(hold_lock, &kept_by);
	fflush(stdout);
	waiter = fork();
	if (!waiter)
		_exit(keeper_lock(1, &holder) < 0);
	sleep_ms(300);
	IS(waitpid(waiter, NULL, WNOHANG), 0);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(waiter), true);
	IS(ends(kept_by), true);
}

static void test_lock_is_never_stale(void)
{
	pid_t holder = 0;
	pid_t kept_by;
	pid_t owner;
	int fd;

	begin();
	owner = start_owner(hold_lock, &kept_by);
	kill(kept_by, SIGKILL);
	kill(owner, SIGKILL);
	IS(ends(owner), true);
	IS(ends(kept_by), true);
	IS(is_there(KEEPER_DIR "/lock"), true);
	fd = keeper_lock(0, &holder);
	IS(fd >= 0, true);
	close(fd);
}

static void test_lock_of_somebody_else(void)
{
	pid_t holder;

	begin();
	unit_case("the directory is a link");
	mkdir("/run/theirs", 0777);
	IS(symlink("/run/theirs", KEEPER_DIR), 0);
	IS(keeper_lock(0, &holder), -EPERM);
	unlink(KEEPER_DIR);

	unit_case("the lock is a link");
	mkdir(KEEPER_DIR, 0700);
	IS(symlink("/run/theirs/lock", KEEPER_DIR "/lock"), 0);
	IS(keeper_lock(0, &holder), -ELOOP);
	IS(is_there("/run/theirs/lock"), false);
	unlink(KEEPER_DIR "/lock");

	unit_case("the directory is another's");
	if (chown(KEEPER_DIR, NOBODY, NOBODY))
		unit_skip("there is no other user: %s", strerror(errno));
	IS(keeper_lock(0, &holder), -EPERM);
}

/* Descriptors end at the socket, or at the journal. */
static void test_start_fails(void)
{
	static const rlim_t limits[] = { 5, 4 };

	begin();
	for (size_t i = 0; i < LEN(limits); i++) {
		struct rlimit limit;
		pid_t holder;
		int lock = keeper_lock(0, &holder);

		unit_case("limit %d", (int)limits[i]);
		IS(lock >= 0, true);
		getrlimit(RLIMIT_NOFILE, &limit);
		limit.rlim_cur = limits[i];
		setrlimit(RLIMIT_NOFILE, &limit);
		IS(keeper_start(&keeper, lock, &report), -EMFILE);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		IS(is_there(journal_of(getpid())), false);
		IS(keeper.sock, -1);
		/* The lock is free again. */
		lock = keeper_lock(0, &holder);
		IS(lock >= 0, true);
		close(lock);
	}
}

static void test_cgroup_is_emptied(void)
{
	struct memcg root, parent, child;
	struct needs needs = { 0 };
	char name[32];
	pid_t pid;

	begin();
	snprintf(name, sizeof(name), "mm-cache-unit.%d", getpid());
	if (memcg_find(&root, &needs) || !memcg_delegates(&root))
		unit_skip("no memory cgroups");
	memcg_child(&root, name, &parent);
	memcg_child(&parent, "trial", &child);
	IS(start(), 0);
	IS(keeper_cgroup(&keeper, parent.path), 0);
	if (memcg_make(&parent))
		unit_skip("no permission to make memory cgroups");
	IS(memcg_make(&child), 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	IS(memcg_enter(&child, pid), 0);
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.restored, 1);
	IS(report.failed, 0);
	IS(ends(pid), true);
	IS(is_there(parent.path), false);
}

const struct unit_test tests_of_keeper[] = {
	{ "keeper_knob_is_restored", test_knob_is_restored },
	{ "keeper_knob_set_back_by_the_test", test_knob_set_back_by_the_test },
	{ "keeper_knob_of_somebody_else", test_knob_of_somebody_else },
	{ "keeper_knob_that_vanished", test_knob_that_vanished },
	{ "keeper_knob_told_and_not_set", test_knob_told_and_not_set },
	{ "keeper_knob_that_cannot_be_restored",
	  test_knob_that_cannot_be_restored },
	{ "keeper_owner_killed", test_owner_killed },
	{ "keeper_last_words", test_last_words_of_a_keeper },
	{ "keeper_group_of_the_owner_killed", test_group_of_the_owner_killed },
	{ "keeper_owner_whose_output_nobody_reads",
	  test_owner_whose_output_nobody_reads },
	{ "keeper_heeds_no_signal", test_keeper_heeds_no_signal },
	{ "keeper_next_start_repairs", test_next_start_repairs },
	{ "keeper_no_standard_streams", test_no_standard_streams },
	{ "keeper_torn_record", test_torn_record },
	{ "keeper_torn_first_record", test_torn_first_record },
	{ "keeper_journal_of_another_user", test_journal_of_another_user },
	{ "keeper_journal_of_a_living_keeper",
	  test_journal_of_a_living_keeper },
	{ "keeper_killed", test_keeper_killed },
	{ "keeper_finish_is_for_the_owner", test_finish_is_for_the_owner },
	{ "keeper_knob_of_a_test_process", test_knob_of_a_test_process },
	{ "keeper_group_dies_with_the_owner", test_group_dies_with_the_owner },
	{ "keeper_dir_follows_no_link", test_dir_follows_no_link },
	{ "keeper_dir_in_a_dir", test_dir_in_a_dir },
	{ "keeper_delegate", test_delegate },
	{ "keeper_too_much_to_keep", test_too_much_to_keep },
	{ "lock_names_its_holder", test_lock_names_its_holder },
	{ "lock_waits", test_lock_waits },
	{ "lock_is_never_stale", test_lock_is_never_stale },
	{ "lock_of_somebody_else", test_lock_of_somebody_else },
	{ "keeper_start_fails", test_start_fails },
	{ "keeper_cgroup_is_emptied", test_cgroup_is_emptied },
	{ 0 },
};
