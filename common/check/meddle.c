// SPDX-License-Identifier: GPL-2.0
/*
 * Somebody who gets in the way of a test, until killed:
 *
 *   meddle map FILE     maps FILE and reads every page of it, again and again
 *   meddle write FILE   writes every page of FILE with what it holds, likewise
 *   meddle deny COMMAND...
 *                       runs COMMAND where a seccomp filter answers EPERM to
 *                       cachestat(), as the runtimes of containers do
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

#define PAUSE_US 1000

static int fail(const char *what)
{
	fprintf(stderr, "meddle: %s: %s\n", what, strerror(errno));
	return 1;
}

static int map_file(int fd, off_t size, long page)
{
	const volatile char *map =
		mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return fail("mmap");
	for (;; usleep(PAUSE_US))
		for (off_t pos = 0; pos < size; pos += page)
			(void)map[pos];
}

static int write_file(int fd, off_t size, long page)
{
	char byte;

	for (;; usleep(PAUSE_US))
		for (off_t pos = 0; pos < size; pos += page)
			if (pread(fd, &byte, 1, pos) != 1 ||
			    pwrite(fd, &byte, 1, pos) != 1)
				return fail("write");
}

static int meddle(const char *how, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		return fail(path);
	return (*how == 'm' ? map_file : write_file)(fd, st.st_size,
						     sysconf(_SC_PAGESIZE));
}

static int deny(char *const argv[])
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_cachestat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(*code),
		.filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return fail("seccomp");
	execvp(argv[0], argv);
	return fail(argv[0]);
}

int main(int argc, char **argv)
{
	if (argc == 3 && (!strcmp(argv[1], "map") || !strcmp(argv[1], "write")))
		return meddle(argv[1], argv[2]);
	if (argc > 2 && !strcmp(argv[1], "deny"))
		return deny(argv + 2);
	fprintf(stderr,
		"usage: meddle map|write FILE, meddle deny COMMAND...\n");
	return 64;
}
