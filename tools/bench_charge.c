// SPDX-License-Identifier: GPL-2.0
/*
 * What a trial takes in its memcg beyond the pages of its two files.
 */
#include "bench.h"
#include "failure.h"
#include "hot_set.h"
#include "scan.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* 3 % of the memcg that is usual: what the files lose of the limit. */
#define BEYOND_MAX_KIB 2048
#define WARM_PASSES 2

/* Lives in memory shared with the process of the trial; sizes in bytes. */
struct charge {
	struct bench *b;
	int err;
	struct failure failure;
	struct hot_set hot;
	int64_t anon;
	int64_t metadata; /* cached, but of neither file */
	int64_t beyond; /* all but the two files */
};

/* Each hot page once, on average, while the file is scanned. */
static int touch_on(void *arg, uint64_t done, uint64_t total)
{
	struct charge *charge = arg;

	return hot_set_touch(&charge->hot, charge->hot.pages * done / total,
			     &charge->b->lab.failure);
}

static int read_charge(struct charge *charge, const struct memcg *memcg,
		       const struct reader *scan)
{
	struct residency hot_count, scan_count;
	struct bench *b = charge->b;
	struct memcg_stat stat;
	int64_t files;
	int err;

	err = bench_count(b, &charge->hot.reader, &hot_count);
	if (!err)
		err = bench_count(b, scan, &scan_count);
	if (err)
		return err;
	err = memcg_read(memcg, &stat);
	if (!err && (stat.usage_bytes < 0 || stat.anon_bytes < 0 ||
		     stat.file_bytes < 0))
		err = -ENOENT;
	if (err)
		return failure_note(&b->lab.failure, err,
				    "read the charges of %s", memcg->path);
	files = (hot_count.cached + scan_count.cached) * sysconf(_SC_PAGESIZE);
	charge->anon = stat.anon_bytes;
	charge->metadata = stat.file_bytes - files;
	charge->beyond = stat.usage_bytes - files;
	return 0;
}

/* The steps of a trial of an experiment, with a 1 MiB buffer as they have. */
static int do_trial(struct charge *charge, const struct memcg *memcg)
{
	struct bench *b = charge->b;
	const struct scan scan = {
		.to = (off_t)(b->lab.options.mem_bytes * BENCH_SCAN_LIMITS),
		.buffer = BENCH_MIB,
		.progress = touch_on,
		.arg = charge,
	};
	struct scan_result result;
	struct reader reader;
	int err;

	err = memcg_enter(memcg, 0);
	if (err)
		return failure_note(&b->lab.failure, err, "enter %s",
				    memcg->path);
	err = bench_open_hot(b, &charge->hot);
	for (int pass = 0; !err && pass < WARM_PASSES; pass++)
		err = hot_set_warm(&charge->hot, &reader_pread,
				   &b->lab.failure);
	if (!err)
		err = bench_open(b, &reader, SCAN_FILE, scan.buffer);
	if (err)
		return err;
	charge->hot.reader.count_missed = true;
	err = scan_run(&reader, &scan, &result, &b->lab.failure);
	return err ? err : read_charge(charge, memcg, &reader);
}

static void trial_process(struct charge *charge, const struct memcg *memcg,
			  pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	charge->err = do_trial(charge, memcg);
	charge->failure = charge->b->lab.failure;
	_exit(0);
}

static int wait_for(pid_t pid, const struct charge *charge)
{
	struct failure *failure = &charge->b->lab.failure;
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return failure_note(failure, -errno,
					    "wait for a trial");
	if (WIFSIGNALED(status))
		return failure_note(failure, -EINTR,
				    "the trial was killed by signal %d",
				    WTERMSIG(status));
	if (charge->err)
		*failure = charge->failure;
	return charge->err;
}

/* What a dead memcg was charged for must not be found by the next one. */
static int drop_files(struct bench *b)
{
	int err = bench_drop(b, HOT_FILE);

	return err ? err : bench_drop(b, SCAN_FILE);
}

static int run_in(struct charge *charge, const struct memcg *memcg)
{
	struct failure *failure = &charge->b->lab.failure;
	pid_t self = getpid();
	pid_t pid;
	int err;

	err = memcg_limit(memcg, charge->b->lab.options.mem_bytes, 0);
	if (err)
		return failure_note(failure, err, "limit %s", memcg->path);
	pid = fork();
	if (pid < 0)
		return failure_note(failure, -errno, "fork");
	if (!pid)
		trial_process(charge, memcg, self);
	err = wait_for(pid, charge);
	return err ? err : drop_files(charge->b);
}

static int run_trial(struct charge *charge)
{
	struct lab *lab = &charge->b->lab;
	struct memcg memcg;
	int err;

	err = drop_files(charge->b);
	if (err)
		return err;
	err = memcg_child(&lab->memcg, "trial", &memcg);
	if (!err)
		err = memcg_make(&memcg);
	if (err)
		return failure_note(&lab->failure, err, "make %s", memcg.path);
	err = run_in(charge, &memcg);
	if (memcg_remove(memcg.path) && !err)
		err = failure_note(&lab->failure, -EBUSY, "remove %s",
				   memcg.path);
	return err;
}

static int run_trials(struct charge *charge)
{
	struct bench *b = charge->b;
	unsigned int n = b->effort.trials;
	int64_t anon[BENCH_VALUES];
	int64_t metadata[BENCH_VALUES];
	int64_t beyond[BENCH_VALUES];
	struct summary s;

	for (unsigned int i = 0; i < n; i++) {
		int err = run_trial(charge);

		if (err)
			return err;
		anon[i] = charge->anon / BENCH_KIB;
		metadata[i] = charge->metadata / BENCH_KIB;
		beyond[i] = charge->beyond / BENCH_KIB;
	}
	s = summarize(anon, n);
	bench_report(b, "charge", "anon", "KiB", &s, NO_BOUND, 0);
	s = summarize(metadata, n);
	bench_report(b, "charge", "metadata", "KiB", &s, NO_BOUND, 0);
	/* Besides: memory of the kernel, and what each CPU drew in advance. */
	s = summarize(beyond, n);
	bench_report(b, "charge", "beyond_files", "KiB", &s, AT_MOST,
		     BEYOND_MAX_KIB);
	return 0;
}

int bench_charge(struct bench *b)
{
	struct charge *charge;
	char reason[512];
	int err;

	if (needs_any(&b->lab.memcg_needs))
		return failure_note(&b->lab.failure, -ENOENT, "%s",
				    needs_reason(&b->lab.memcg_needs, reason,
						 sizeof(reason)));
	charge = mmap(NULL, sizeof(*charge), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (charge == MAP_FAILED)
		return failure_note(&b->lab.failure, -errno, "mmap");
	charge->b = b;
	err = run_trials(charge);
	munmap(charge, sizeof(*charge));
	return err;
}
