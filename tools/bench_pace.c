// SPDX-License-Identifier: GPL-2.0
/*
 * The hot reader by the clock.
 */
#include "bench.h"
#include "failure.h"
#include "hot_set.h"
#include "scan.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define PER_SECOND 2000 /* Report 1's rate */
#define PERIOD_NS (1000000000 / PER_SECOND)
#define DEVIATION_MAX 10 /* permille of it: what a drifting clock exceeds */

struct pace {
	int64_t rate;
	int64_t deviation;
	int64_t late;
};

static volatile bool over;

static void end(int signal)
{
	(void)signal;
	over = true;
}

static int run_pace(struct bench *b, struct pace *pace)
{
	struct hot_set hot;
	uint64_t start, ns;
	int err;

	err = bench_cache(b, HOT_FILE);
	if (!err)
		err = bench_open_hot(b, &hot);
	if (err)
		return err;
	hot.reader.count_missed = true;
	over = false;
	alarm(b->effort.pace_s);
	start = clock_ns();
	err = hot_set_pace(&hot, PERIOD_NS, &over, &b->lab.failure);
	ns = clock_ns() - start;
	alarm(0);
	pace->rate = (int64_t)(hot.touched * 1e9 / ns + 0.5);
	pace->deviation = permille(llabs(pace->rate - PER_SECOND), PER_SECOND);
	pace->late = (int64_t)hot.late;
	hot_set_close(&hot);
	return err;
}

int bench_pace(struct bench *b)
{
	const struct sigaction action = { .sa_handler = end };
	unsigned int n = b->effort.pace_runs;
	struct bench_load load = bench_load_begin();
	int64_t rate[BENCH_VALUES];
	int64_t deviation[BENCH_VALUES];
	int64_t late[BENCH_VALUES];
	struct summary s;

	if (sigaction(SIGALRM, &action, NULL))
		return failure_note(&b->lab.failure, -errno, "sigaction");
	for (unsigned int i = 0; i < n; i++) {
		struct pace pace;
		int err = run_pace(b, &pace);

		if (err)
			return err;
		rate[i] = pace.rate;
		deviation[i] = pace.deviation;
		late[i] = pace.late;
	}
	bench_report_one(b, "pace", "others", "permille",
			 bench_load_end(&load));
	s = summarize(rate, n);
	bench_report(b, "pace", "rate", "reads/s", &s, NO_BOUND, 0);
	s = summarize(late, n);
	bench_report(b, "pace", "late", "reads", &s, NO_BOUND, 0);
	s = summarize(deviation, n);
	bench_report(b, "pace", "deviation", "permille", &s, AT_MOST,
		     DEVIATION_MAX);
	return 0;
}
