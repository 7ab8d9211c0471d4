// SPDX-License-Identifier: GPL-2.0
#include "other.h"

#include "reader.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOUCH_LEN 4096

struct range {
	int64_t from;
	int64_t to;
};

static int64_t major_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? -EINVAL : usage.ru_majflt;
}

/* It says 0, or -errno, once; then it serves until the socket is closed. */
static void serve(int sock, const char *path, pid_t parent)
{
	struct reader r;
	struct range range;
	int64_t answer;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	answer = reader_open(&r, &reader_mmap, path, TOUCH_LEN);
	while (send(sock, &answer, sizeof(answer), MSG_NOSIGNAL) ==
	       sizeof(answer)) {
		int64_t before = major_faults();
		int err;

		if (recv(sock, &range, sizeof(range), 0) != sizeof(range))
			break;
		err = reader_read(&r, range.from, range.to - range.from);
		answer = err ? err : major_faults() - before;
	}
	reader_close(&r);
	close(sock);
	_exit(0);
}

static int64_t hear(struct other *other)
{
	int64_t answer;
	ssize_t got;

	do
		got = recv(other->sock, &answer, sizeof(answer), 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return got == sizeof(answer) ? answer : -EPIPE;
}

int other_start(struct other *other, const char *path)
{
	pid_t self = getpid();
	int pair[2];
	int64_t err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	other->pid = fork();
	if (!other->pid) {
		close(pair[0]);
		serve(pair[1], path, self);
	}
	err = other->pid < 0 ? -errno : 0;
	close(pair[1]);
	other->sock = pair[0];
	if (err) {
		other->pid = 0;
		close(pair[0]);
		return (int)err;
	}
	err = hear(other);
	if (err)
		other_end(other);
	return (int)err;
}

int64_t other_touch(struct other *other, off_t from, off_t to)
{
	struct range range = { from, to };

	if (send(other->sock, &range, sizeof(range), MSG_NOSIGNAL) !=
	    sizeof(range))
		return -errno;
	return hear(other);
}

void other_end(struct other *other)
{
	if (!other->pid)
		return;
	close(other->sock);
	while (waitpid(other->pid, NULL, 0) < 0 && errno == EINTR)
		;
	other->pid = 0;
}
