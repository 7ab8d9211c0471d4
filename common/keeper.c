// SPDX-License-Identifier: GPL-2.0
#include "keeper.h"

#include "knob.h"
#include "memcg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS_MAX 32
#define JOURNALS_MAX 100
#define VALUE_LEN 64
#define OWNER_POLL_MS 100

enum record_kind {
	RECORD_KNOB = 1,
	RECORD_DELEGATE,
	RECORD_CGROUP,
	RECORD_DIR,
	RECORD_GROUP, /* only told, never in a journal: pids are reused */
	RECORD_FINISH
};

/* One thing to undo; the journal is an array of these. */
struct record {
	uint32_t kind;
	uint32_t seq;
	int32_t group;
	char path[PATH_MAX];
	char found[VALUE_LEN]; /* knob: what it held before the first change */
	char ours[VALUE_LEN]; /* knob: what it was set to last */
	char was[VALUE_LEN]; /* knob: what it held just before that */
};

struct answer {
	uint32_t seq;
	int32_t err;
};

struct journal {
	int fd;
	char path[64];
	unsigned int nr;
	struct record records[RECORDS_MAX];
};

__attribute__((format(printf, 2, 3))) static void
say(struct keeper_report *report, const char *fmt, ...)
{
	size_t used = strlen(report->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(report->text + used, sizeof(report->text) - used, fmt, ap);
	va_end(ap);
}

/* "0x0007" and "7" are one value; so are equal texts. */
static bool same_value(const char *a, const char *b)
{
	unsigned long long x, y;
	char *end_a, *end_b;

	if (!strcmp(a, b))
		return true;
	x = strtoull(a, &end_a, 0);
	y = strtoull(b, &end_b, 0);
	return end_a != a && end_b != b && !*end_a && !*end_b && x == y;
}

static void restore_knob(const struct record *r, struct keeper_report *report)
{
	char now[VALUE_LEN];
	int err;

	err = knob_read(r->path, now, sizeof(now));
	if (err == -ENOENT)
		return; /* went away with its device */
	if (err >= 0 && same_value(now, r->found))
		return;
	/* Told and not set, when the test was killed in between: still ours. */
	if (err >= 0 && !same_value(now, r->ours) && !same_value(now, r->was)) {
		report->foreign++;
		say(report,
		    "%s: left at %s: somebody changed it from the %s set here (found: %s)\n",
		    r->path, now, r->ours, r->found);
		return;
	}
	err = knob_write(r->path, r->found);
	if (err) {
		report->failed++;
		say(report, "%s: cannot restore %s: %s\n", r->path, r->found,
		    strerror(-err));
		return;
	}
	report->restored++;
	say(report, "%s: restored %s\n", r->path, r->found);
}

static void restore_cgroup(const struct record *r, struct keeper_report *report)
{
	int err = memcg_remove(r->path);

	if (err == -ENOENT)
		return;
	if (err) {
		report->failed++;
		say(report, "%s: cannot remove the cgroup: %s\n", r->path,
		    strerror(-err));
		return;
	}
	report->restored++;
	say(report, "%s: removed the cgroup\n", r->path);
}

static bool is_delegated(const char *subtree_knob)
{
	const char *name = strrchr(subtree_knob, '/');
	struct memcg memcg = { .flavour = MEMCG_V2 };

	memcpy(memcg.path, subtree_knob, name ? name - subtree_knob : 0);
	return memcg_delegates(&memcg);
}

static void restore_delegate(const struct record *r,
			     struct keeper_report *report)
{
	int err = knob_write(r->path, "-memory");

	/* Told and not made, where the same write failed before. */
	if (err == -ENOENT || (err && !is_delegated(r->path)))
		return;
	if (err) {
		report->failed++;
		say(report, "%s: cannot take the memory controller back: %s\n",
		    r->path, strerror(-err));
		return;
	}
	report->restored++;
	say(report, "%s: took the memory controller back\n", r->path);
}

static int remove_dir(const char *path)
{
	struct dirent *entry;
	int err = 0;
	DIR *dir;
	int fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(fd, entry->d_name, 0))
			err = -errno;
	closedir(dir);
	return rmdir(path) && !err ? -errno : err;
}

static void restore_dir(const struct record *r, struct keeper_report *report)
{
	int err = remove_dir(r->path);

	if (err == -ENOENT)
		return;
	/* A link, for one: planted where the directory was to be. */
	if (err == -ELOOP || err == -ENOTDIR) {
		report->foreign++;
		say(report, "%s: left alone: it is no directory made here\n",
		    r->path);
		return;
	}
	if (err) {
		report->failed++;
		say(report, "%s: cannot remove the directory: %s\n", r->path,
		    strerror(-err));
		return;
	}
	report->restored++;
	say(report, "%s: removed the directory\n", r->path);
}

static void restore(const struct record *r, struct keeper_report *report)
{
	switch (r->kind) {
	case RECORD_KNOB:
		restore_knob(r, report);
		break;
	case RECORD_DELEGATE:
		restore_delegate(r, report);
		break;
	case RECORD_CGROUP:
		restore_cgroup(r, report);
		break;
	case RECORD_DIR:
		restore_dir(r, report);
		break;
	}
}

static int journal_write(struct journal *j, const struct record *r)
{
	ssize_t put = write(j->fd, r, sizeof(*r));

	if (put != sizeof(*r))
		return put < 0 ? -errno : -ENOSPC;
	return fdatasync(j->fd) ? -errno : 0;
}

/* Newest first. What fails stays in the journal, in its order, for the next. */
static void journal_undo(struct journal *j, struct keeper_report *report)
{
	unsigned int kept = RECORDS_MAX;

	while (j->nr) {
		const struct record *r = &j->records[--j->nr];
		unsigned int failed = report->failed;

		restore(r, report);
		if (report->failed != failed)
			j->records[--kept] = *r;
	}
	if (kept == RECORDS_MAX)
		unlink(j->path);
	else if (!ftruncate(j->fd, 0) && lseek(j->fd, 0, SEEK_SET) == 0)
		while (kept < RECORDS_MAX &&
		       !journal_write(j, &j->records[kept]))
			kept++;
	close(j->fd);
}

/* A knob is restored to the value it had before its first change. */
static int journal_note(struct journal *j, const struct record *r)
{
	for (unsigned int i = 0; i < j->nr; i++) {
		if (j->records[i].kind != r->kind ||
		    strcmp(j->records[i].path, r->path))
			continue;
		memcpy(j->records[i].ours, r->ours, sizeof(r->ours));
		memcpy(j->records[i].was, r->was, sizeof(r->was));
		return 0;
	}
	if (j->nr == RECORDS_MAX)
		return -ENOSPC;
	j->records[j->nr++] = *r;
	return 0;
}

static int journal_append(struct journal *j, const struct record *r)
{
	int err = journal_note(j, r);

	return err ? err : journal_write(j, r);
}

/* A torn last record was never answered, so nothing was changed for it. */
static void journal_load(struct journal *j)
{
	struct record r;

	while (read(j->fd, &r, sizeof(r)) == sizeof(r)) {
		r.path[sizeof(r.path) - 1] = '\0';
		r.found[sizeof(r.found) - 1] = '\0';
		r.ours[sizeof(r.ours) - 1] = '\0';
		r.was[sizeof(r.was) - 1] = '\0';
		journal_note(j, &r);
	}
}

/*
 * Where the program was started without a standard stream, a new descriptor
 * takes its number, and the keeper would lose it to /dev/null.
 */
static int above_stdio(int fd)
{
	int copy, err;

	if (fd < 0 || fd > 2)
		return fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	err = errno;
	close(fd);
	errno = err;
	return copy;
}

static int journal_open(struct journal *j, const char *name, int flags)
{
	struct stat st;

	memset(j, 0, sizeof(*j));
	snprintf(j->path, sizeof(j->path), KEEPER_DIR "/%.40s", name);
	j->fd = open(j->path, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
	j->fd = above_stdio(j->fd);
	if (j->fd < 0)
		return -errno;
	/* Whoever could write it could have any file of the machine removed. */
	if (fstat(j->fd, &st) || st.st_uid != geteuid() ||
	    flock(j->fd, LOCK_EX | LOCK_NB)) {
		close(j->fd);
		return -EWOULDBLOCK;
	}
	return 0;
}

/* One of that name may hold what a process of the same pid could not undo. */
static int journal_create(struct journal *j, pid_t owner)
{
	char name[32];
	int err = -EEXIST;

	for (int i = 0; i < JOURNALS_MAX && err == -EEXIST; i++) {
		snprintf(name, sizeof(name), i ? "journal.%d.%d" : "journal.%d",
			 owner, i);
		err = journal_open(j, name, O_CREAT | O_EXCL);
	}
	return err;
}

/* The keeper's last words, when its program is not there to print them. */
static void leave_word(pid_t owner, const struct keeper_report *report)
{
	char path[64];
	int fd;

	if (!report->foreign && !report->failed)
		return;
	snprintf(path, sizeof(path), KEEPER_DIR "/report.%d", owner);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return;
	if (write(fd, report, sizeof(*report)) != sizeof(*report))
		unlink(path);
	close(fd);
}

static void take_word(const char *name, struct keeper_report *report)
{
	static struct keeper_report left;
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), KEEPER_DIR "/%.40s", name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() &&
	    read(fd, &left, sizeof(left)) == sizeof(left)) {
		left.text[sizeof(left.text) - 1] = '\0';
		report->foreign += left.foreign;
		say(report, "after the end of process %s:\n%s",
		    name + strlen("report."), left.text);
	}
	close(fd);
	unlink(path);
}

static void repair_stale(struct keeper_report *report)
{
	static struct journal j;
	struct dirent *entry;
	DIR *dir;

	dir = opendir(KEEPER_DIR);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (!strncmp(entry->d_name, "report.", 7))
			take_word(entry->d_name, report);
		if (strncmp(entry->d_name, "journal.", 8) ||
		    journal_open(&j, entry->d_name, 0))
			continue;
		journal_load(&j);
		journal_undo(&j, report);
	}
	closedir(dir);
}

void keeper_repair(struct keeper_report *report)
{
	memset(report, 0, sizeof(*report));
	repair_stale(report);
}

static int keeper_dir_open(void)
{
	struct stat st;

	if (mkdir(KEEPER_DIR, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(KEEPER_DIR, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	return 0;
}

int keeper_lock(int wait, pid_t *holder)
{
	char text[16] = "";
	int err;
	int fd;

	err = keeper_dir_open();
	if (err)
		return err;
	fd = above_stdio(open(KEEPER_DIR "/lock",
			      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
	if (fd < 0)
		return -errno;
	if (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) {
		err = -errno;
		if (pread(fd, text, sizeof(text) - 1, 0) > 0)
			*holder = atoi(text);
		close(fd);
		return err;
	}
	snprintf(text, sizeof(text), "%-8d\n", getpid());
	if (pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int keeper_do(struct journal *j, const struct record *r, pid_t *group,
		     struct keeper_report *report)
{
	switch (r->kind) {
	case RECORD_GROUP:
		*group = r->group;
		return 0;
	case RECORD_FINISH:
		journal_undo(j, report);
		return 0;
	}
	return journal_append(j, r);
}

/*
 * Until told to finish, or until the owner is gone, who goes when nobody reads
 * any longer what it prints to @out: a runner that was killed leaves it behind.
 */
static void keeper_serve(struct journal *j, int sock, int out, pid_t owner)
{
	struct pollfd pfd[] = { { .fd = sock, .events = POLLIN },
				{ .fd = out } };
	static struct keeper_report report;
	static struct record r;
	struct answer answer;
	pid_t group = 0;
	ssize_t got;

	while (getppid() == owner) {
		if (poll(pfd, 2, OWNER_POLL_MS) <= 0)
			continue;
		if (pfd[1].revents) {
			kill(owner, SIGKILL);
			pfd[1].fd = -1;
		}
		if (!pfd[0].revents)
			continue;
		got = recv(sock, &r, sizeof(r), 0);
		if (got <= 0)
			break;
		if (got != sizeof(r))
			continue;
		answer.seq = r.seq;
		answer.err = keeper_do(j, &r, &group, &report);
		if (send(sock, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
		if (r.kind == RECORD_FINISH) {
			send(sock, &report, sizeof(report), MSG_NOSIGNAL);
			_exit(0);
		}
	}
	if (group > 1)
		kill(-group, SIGKILL);
	journal_undo(j, &report);
	leave_word(owner, &report);
	_exit(0);
}

/* What was its standard output. */
static int keeper_detach(int sock, int journal_fd, int lock_fd)
{
	static const int ignored[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGTERM,
				       SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2 };
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int null;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	setsid();
	prctl(PR_SET_NAME, "mm-cache-keeper");
	if (chdir("/"))
		_exit(1);
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != sock && fd != journal_fd && fd != lock_fd &&
		    fd != out)
			close(fd);
	return out;
}

int keeper_start(struct keeper *keeper, int lock_fd,
		 struct keeper_report *repaired)
{
	static struct journal journal;
	pid_t owner = getpid();
	int pair[2];
	int err;

	*keeper = (struct keeper){ .sock = -1 };
	keeper_repair(repaired);
	err = journal_create(&journal, owner);
	if (err)
		goto out_lock;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		goto out_journal;
	}
	pair[0] = above_stdio(pair[0]);
	pair[1] = above_stdio(pair[1]);
	if (pair[0] < 0 || pair[1] < 0) {
		err = -EMFILE;
		goto out_pair;
	}
	keeper->pid = fork();
	if (keeper->pid < 0) {
		err = -errno;
		goto out_pair;
	}
	if (!keeper->pid) {
		int out = keeper_detach(pair[1], journal.fd, lock_fd);

		keeper_serve(&journal, pair[1], out, owner);
	}
	close(pair[1]);
	close(journal.fd);
	close(lock_fd);
	keeper->sock = pair[0];
	keeper->owner = owner;
	return 0;

out_pair:
	close(pair[0]);
	close(pair[1]);
out_journal:
	unlink(journal.path);
	close(journal.fd);
out_lock:
	close(lock_fd);
	return err;
}

static int keeper_tell(struct keeper *keeper, struct record *r)
{
	struct answer answer;
	ssize_t got;

	if (keeper->sock < 0)
		return -ENOTCONN;
	/*
	 * Test processes share the socket, one after the other. One that was
	 * killed may have left an answer unread; the number tells it apart.
	 */
	r->seq = ((uint32_t)getpid() << 8) + ++keeper->seq;
	if (send(keeper->sock, r, sizeof(*r), MSG_NOSIGNAL) != sizeof(*r))
		return -errno;
	do {
		got = recv(keeper->sock, &answer, sizeof(answer), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got != sizeof(answer))
			return -EPIPE;
	} while (got < 0 || answer.seq != r->seq);
	return answer.err;
}

static int record_init(struct record *r, enum record_kind kind,
		       const char *path)
{
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	if (strlen(path) >= sizeof(r->path))
		return -ENAMETOOLONG;
	strcpy(r->path, path);
	return 0;
}

int keeper_knob(struct keeper *keeper, const char *path, const char *value)
{
	struct record r;
	int err;

	err = record_init(&r, RECORD_KNOB, path);
	if (err)
		return err;
	err = knob_read(path, r.found, sizeof(r.found));
	if (err < 0)
		return err;
	if (same_value(r.found, value))
		return 0;
	memcpy(r.was, r.found, sizeof(r.was));
	snprintf(r.ours, sizeof(r.ours), "%s", value);
	err = keeper_tell(keeper, &r);
	if (err)
		return err;
	err = knob_write(path, value);
	if (err)
		return err;
	err = knob_read(path, r.ours, sizeof(r.ours));
	if (err < 0)
		return err;
	/* A knob may round, or show 0x0007 for y: what it shows now is ours. */
	return same_value(r.ours, value) ? 0 : keeper_tell(keeper, &r);
}

static int keeper_path(struct keeper *keeper, enum record_kind kind,
		       const char *path)
{
	struct record r;
	int err = record_init(&r, kind, path);

	return err ? err : keeper_tell(keeper, &r);
}

int keeper_group(struct keeper *keeper)
{
	struct record r;

	record_init(&r, RECORD_GROUP, "");
	r.group = getpgrp();
	return keeper_tell(keeper, &r);
}

int keeper_delegate(struct keeper *keeper, const char *path)
{
	int err = keeper_path(keeper, RECORD_DELEGATE, path);

	return err ? err : knob_write(path, "+memory");
}

int keeper_cgroup(struct keeper *keeper, const char *path)
{
	return keeper_path(keeper, RECORD_CGROUP, path);
}

int keeper_dir(struct keeper *keeper, const char *path)
{
	return keeper_path(keeper, RECORD_DIR, path);
}

int keeper_finish(struct keeper *keeper, struct keeper_report *report)
{
	struct record r;
	int err;

	memset(report, 0, sizeof(*report));
	if (keeper->sock < 0 || keeper->owner != getpid())
		return 0;
	record_init(&r, RECORD_FINISH, "");
	err = keeper_tell(keeper, &r);
	if (!err &&
	    recv(keeper->sock, report, sizeof(*report), 0) != sizeof(*report))
		err = -EPIPE;
	close(keeper->sock);
	keeper->sock = -1;
	waitpid(keeper->pid, NULL, 0);
	/* Nobody else holds its journal now. */
	if (err) {
		say(report, "the keeper died too early; done without it:\n");
		repair_stale(report);
	}
	return err;
}
