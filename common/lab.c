// SPDX-License-Identifier: GPL-2.0
#include "lab.h"

#include "knob.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
/* The memcg, and as much again for everybody else. */
#define MEMORY_FACTOR 2
#define MACHINE_MAX (4096 * MIB)
/* 8 do; the rest is for whatever the program inherited. */
#define DESCRIPTORS_MIN 32

static pid_t forker;

static void note_forker(void)
{
	forker = getpid();
}

static void die_with_forker(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != forker)
		_exit(1);
}

static int start_keeper(struct lab *lab, void (*waiting)(pid_t holder))
{
	uint64_t start = clock_ns();
	pid_t holder = 0;
	int lock;
	int err;

	lock = keeper_lock(0, &holder);
	if (lock == -EWOULDBLOCK) {
		waiting(holder);
		lock = keeper_lock(1, &holder);
		lab->waited_ns = clock_ns() - start;
	}
	if (lock < 0)
		return failure_note(&lab->failure, lock, "lock " KEEPER_DIR);
	err = keeper_start(&lab->keeper, lock, &lab->repaired);
	if (err)
		return failure_note(&lab->failure, err, "start the keeper");
	/*
	 * All but the keeper: the harness forks, too, and a process of its own
	 * would keep the scratch device in use when keeper and program are dead.
	 */
	err = -pthread_atfork(note_forker, NULL, die_with_forker);
	if (err)
		return failure_note(&lab->failure, err, "prepare to fork");
	return 0;
}

static int choose_meter(struct lab *lab)
{
	char path[PATH_MAX];
	int fd;

	if (scratch_path(&lab->scratch, "probe", path, sizeof(path)))
		return failure_note(&lab->failure, -ENAMETOOLONG, "%s",
				    lab->scratch.dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return failure_note(&lab->failure, -errno, "create %s", path);
	lab->meter = residency_choose(fd, &lab->needs);
	close(fd);
	unlink(path);
	return lab->meter == METER_NONE ? -ENOENT : 0;
}

/* All of a large machine would take minutes a repetition, and disturb others. */
static void check_machine(struct lab *lab)
{
	if (lab->options.mem_bytes > MACHINE_MAX)
		need_add(&lab->needs, "a smaller machine",
			 "MM_CACHE_MEM=machine wants one of at most %" PRIu64
			 " MiB, this has %" PRIu64
			 " available: set a size, for a memcg",
			 MACHINE_MAX / MIB, lab->options.mem_bytes / MIB);
}

static void check_memory(struct lab *lab)
{
	uint64_t want = lab->options.mem_bytes * MEMORY_FACTOR;
	uint64_t have = 0;

	memory_available(&have);
	if (have < want)
		need_add(&lab->memcg_needs, "more memory",
			 "needs %" PRIu64 " MiB available, has %" PRIu64
			 "; set MM_CACHE_MEM lower",
			 want / MIB, have / MIB);
}

static void deny_memcg(struct lab *lab, const char *what, const char *path,
		       int err)
{
	need_add(
		&lab->memcg_needs, "permission to make memory cgroups",
		"cannot %s %s: %s; run as root outside a container, or have the memory controller delegated",
		what, path, strerror(-err));
}

/* Parent of the memcgs, with a memory controller for them. */
static void open_memcg(struct lab *lab)
{
	char knob[PATH_MAX];
	struct memcg root;
	char name[32];
	int err;

	check_memory(lab);
	if (memcg_find(&root, &lab->memcg_needs))
		return;
	if (!memcg_delegates(&root)) {
		err = memcg_subtree_knob(&root, knob, sizeof(knob));
		if (!err)
			err = keeper_delegate(&lab->keeper, knob);
		if (err) {
			deny_memcg(lab, "write", knob, err);
			return;
		}
	}
	snprintf(name, sizeof(name), "mm-cache.%d", getpid());
	err = memcg_child(&root, name, &lab->memcg);
	if (!err)
		err = keeper_cgroup(&lab->keeper, lab->memcg.path);
	if (!err)
		err = memcg_make(&lab->memcg);
	if (err) {
		deny_memcg(lab, "make", lab->memcg.path, err);
		return;
	}
	if (memcg_delegates(&lab->memcg))
		return;
	/* Removed with the cgroup: nothing for the keeper to take back. */
	err = memcg_subtree_knob(&lab->memcg, knob, sizeof(knob));
	if (!err)
		err = knob_write(knob, "+memory");
	if (err)
		deny_memcg(lab, "write", knob, err);
}

/* A low limit of ours may be raised; one that somebody set for us may not. */
static void raise_descriptors(struct needs *needs)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur >= DESCRIPTORS_MIN)
		return;
	limit.rlim_cur = DESCRIPTORS_MIN;
	if (limit.rlim_max < DESCRIPTORS_MIN ||
	    setrlimit(RLIMIT_NOFILE, &limit))
		need_add(needs, "more file descriptors",
			 "RLIMIT_NOFILE is %llu, needs %d: ulimit -n %d",
			 (unsigned long long)limit.rlim_max, DESCRIPTORS_MIN,
			 DESCRIPTORS_MIN);
}

int lab_open(struct lab *lab, uint64_t bytes, void (*waiting)(pid_t holder))
{
	int err;

	lab->keeper.sock = -1;
	raise_descriptors(&lab->needs);
	if (geteuid())
		need_add(
			&lab->needs, "root",
			"mounting, memory cgroups and LRU settings need it: run by sudo");
	/* Nothing else can be tried without these. */
	if (needs_any(&lab->needs))
		return -ENOENT;
	err = start_keeper(lab, waiting);
	if (err)
		return err;
	/* All that is missing, at once: go on after an entry in needs. */
	if (lab->options.machine)
		check_machine(lab);
	else
		open_memcg(lab);
	err = scratch_open(&lab->scratch, &lab->options, bytes, &lab->keeper,
			   &lab->needs, &lab->failure);
	if (!err)
		err = choose_meter(lab);
	return err;
}

void lab_close(struct lab *lab, struct keeper_report *report)
{
	memset(report, 0, sizeof(*report));
	if (lab->keeper.sock < 0 || lab->keeper.owner != getpid())
		return;
	if (keeper_finish(&lab->keeper, report))
		report->failed++;
}
