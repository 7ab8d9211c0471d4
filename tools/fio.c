// SPDX-License-Identifier: GPL-2.0
#include "fio.h"

#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its report on one job takes a tenth of that. */
#define OUTPUT_MAX (64 * 1024)
#define ARG_LEN 64
#define NO_PROGRAM 127

/* What @fd gives until its end, as far as there is room, as text. */
static int read_text(int fd, char *text, size_t len)
{
	size_t have = 0;
	char rest[512];

	for (;;) {
		bool full = have + 1 >= len;
		ssize_t got = read(fd, full ? rest : text + have,
				   full ? sizeof(rest) : len - 1 - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		have += full ? 0 : got;
	}
	text[have] = '\0';
	return 0;
}

static void become_fio(char *const argv[], const char *dir, int output,
		       pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir(dir))
		_exit(1);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(NO_PROGRAM);
}

/* Its exit status with all that it printed in @text, or -errno. */
static int run(char *const argv[], const char *dir, char *text, size_t len)
{
	pid_t parent = getpid();
	int pipe_fds[2];
	int status;
	pid_t pid;
	int err;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		become_fio(argv, dir, pipe_fds[1], parent);
	err = pid < 0 ? -errno : 0;
	close(pipe_fds[1]);
	if (!err)
		err = read_text(pipe_fds[0], text, len);
	close(pipe_fds[0]);
	if (pid < 0)
		return err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (err)
		return err;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int fio_version(char *buf, size_t len)
{
	char *const argv[] = { (char *)"fio", (char *)"--version", NULL };
	int status = run(argv, "/", buf, len);

	if (status)
		return status < 0 ? status : -ENOENT;
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

/* What stands behind "@key" : from @at on; NULL when there is no such key. */
static const char *json_value(const char *at, const char *key)
{
	size_t len = strlen(key);

	while (at && (at = strchr(at, '"'))) {
		const char *end = strchr(++at, '"');

		if (!end)
			return NULL;
		if ((size_t)(end - at) == len && !strncmp(at, key, len)) {
			end += 1 + strspn(end + 1, " ");
			if (*end == ':')
				return end + 1 + strspn(end + 1, " ");
		}
		at = end + 1;
	}
	return NULL;
}

static int json_u64(const char *at, const char *key, uint64_t *value)
{
	const char *text = json_value(at, key);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return -EPROTO;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || !strchr(",\n }", *end) ? -EPROTO : 0;
}

int fio_parse(const char *json, struct fio_result *result)
{
	const char *job = json_value(json, "jobs");
	const char *reads = job;
	uint64_t error;

	/* An option of the job may have that name, too, but is no object. */
	do
		reads = json_value(reads, "read");
	while (reads && *reads != '{');
	if (!reads || json_u64(job, "error", &error) || error ||
	    json_u64(reads, "io_bytes", &result->bytes) ||
	    json_u64(reads, "runtime", &result->ms))
		return -EPROTO;
	return result->bytes && result->ms ? 0 : -EPROTO;
}

int fio_run(const struct fio_job *job, struct fio_result *result,
	    struct failure *failure)
{
	char file[ARG_LEN], rw[ARG_LEN], buffer[ARG_LEN], bytes[ARG_LEN];
	char *const argv[] = {
		(char *)"fio",
		(char *)"--name=read",
		(char *)"--ioengine=psync",
		(char *)"--fadvise_hint=0",
		(char *)"--invalidate=0",
		(char *)"--gtod_reduce=1",
		(char *)"--norandommap",
		(char *)"--iomem_align=4096",
		(char *)"--allow_file_create=0",
		(char *)"--readonly",
		(char *)"--eta=never",
		(char *)"--output-format=json",
		file,
		rw,
		buffer,
		bytes,
		NULL,
	};
	static char text[OUTPUT_MAX];
	int status;

	snprintf(file, sizeof(file), "--filename=%s", job->file);
	snprintf(rw, sizeof(rw), "--rw=%s", job->random ? "randread" : "read");
	snprintf(buffer, sizeof(buffer), "--bs=%zu", job->buffer);
	snprintf(bytes, sizeof(bytes), "--io_size=%" PRIu64, job->bytes);
	status = run(argv, job->dir, text, sizeof(text));
	if (status < 0)
		return failure_note(failure, status, "run fio");
	if (status) {
		text[strcspn(text, "\n")] = '\0';
		return failure_note(failure, -EIO,
				    "fio (exit status %d): %.200s", status,
				    text);
	}
	if (fio_parse(text, result))
		return failure_note(failure, -EPROTO,
				    "find the reads in what fio printed");
	if (result->bytes != job->bytes)
		return failure_note(failure, -EIO,
				    "fio read %" PRIu64 " bytes, not %" PRIu64,
				    result->bytes, job->bytes);
	return 0;
}
