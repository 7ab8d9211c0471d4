// SPDX-License-Identifier: GPL-2.0
/*
 * What a trial takes in its memcg beyond the pages of its two files.
 */
#include "bench.h"
#include "failure.h"
#include "trial.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* 3 % of the memcg that is usual: what the files lose of the limit. */
#define BEYOND_MAX_KIB 2048
#define WARM_PASSES 2

/* Lives in memory shared with the process of the trial. */
struct charge {
	struct trial_result result;
	struct residency hot;
	struct memcg_stat stat;
};

/* The last one is at the end of the scan. */
static void on_sample(void *arg, const struct trial_sample *sample)
{
	struct charge *charge = arg;

	charge->hot = sample->hot;
	charge->stat = sample->stat;
}

/* Each hot page once, on average, while the file is scanned. */
static int run_trial(struct bench *b, struct charge *charge)
{
	const struct trial_observer observer = { .arg = charge,
						 .sample = on_sample };
	const struct trial trial = {
		.name = "charge",
		.seed = 1,
		.mem_bytes = b->lab.options.mem_bytes,
		.hot = { .bytes = bench_hot_bytes(b),
			 .warm = WARM_PASSES,
			 .readers = 1,
			 .touches = bench_hot_bytes(b) / sysconf(_SC_PAGESIZE),
			 .warm_by = &reader_pread,
			 .read_by = &reader_pread },
		.scan = { .bytes = bench_scan_bytes(b),
			  .passes = 1,
			  .scanners = 1,
			  .buffer = BENCH_MIB,
			  .read_by = &reader_pread },
		.settle_max = INT64_MAX,
		.observer = &observer,
	};
	int err = trial_run(&b->lab, &trial, &charge->result);

	if (!err &&
	    (charge->stat.usage_bytes < 0 || charge->stat.anon_bytes < 0 ||
	     charge->stat.file_bytes < 0))
		return failure_note(&b->lab.failure, -ENOENT,
				    "read the charges of a memcg");
	return err ? failure_note(&b->lab.failure, err, "run a trial") : 0;
}

static int run_trials(struct bench *b, struct charge *charge)
{
	unsigned int n = b->effort.trials;
	int64_t anon[BENCH_VALUES];
	int64_t metadata[BENCH_VALUES]; /* cached, but of neither file */
	int64_t beyond[BENCH_VALUES]; /* all but the two files */
	struct summary s;

	for (unsigned int i = 0; i < n; i++) {
		int err = run_trial(b, charge);
		int64_t files =
			charge->hot.cached + charge->result.metric[SCAN_LEFT];

		if (err)
			return err;
		files *= sysconf(_SC_PAGESIZE);
		anon[i] = charge->stat.anon_bytes / BENCH_KIB;
		metadata[i] = (charge->stat.file_bytes - files) / BENCH_KIB;
		beyond[i] = (charge->stat.usage_bytes - files) / BENCH_KIB;
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
	err = run_trials(b, charge);
	munmap(charge, sizeof(*charge));
	return err;
}
