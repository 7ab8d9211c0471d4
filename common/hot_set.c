// SPDX-License-Identifier: GPL-2.0
#include "hot_set.h"

#include "failure.h"
#include "pattern.h"
#include "scan.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define TOUCH_LEN 4096
#define WARM_BUFFER (128 * 1024) /* charged to the memcg, too */
#define NS_PER_S 1000000000ULL

int hot_set_open(struct hot_set *hot, const struct reader_ops *ops,
		 const char *path, uint64_t seed)
{
	int err = reader_open(&hot->reader, ops, path, WARM_BUFFER);

	hot->nr_others = 0;
	hot->sequential = false;
	hot->pages = err ? 0 : hot->reader.size / sysconf(_SC_PAGESIZE);
	hot->random = splitmix64(seed);
	hot->touched = 0;
	hot->late = 0;
	return err;
}

int hot_set_join(struct hot_set *hot, unsigned int readers)
{
	while (hot->nr_others + 1 < readers) {
		struct reader *r = &hot->others[hot->nr_others];
		int err = reader_open(r, hot->reader.ops, hot->reader.path,
				      TOUCH_LEN);

		if (err)
			return err;
		r->count_missed = hot->reader.count_missed;
		hot->nr_others++;
	}
	return 0;
}

uint64_t hot_set_missed(const struct hot_set *hot)
{
	uint64_t missed = hot->reader.missed;

	for (unsigned int i = 0; i < hot->nr_others; i++)
		missed += hot->others[i].missed;
	return missed;
}

void hot_set_close(struct hot_set *hot)
{
	while (hot->nr_others)
		reader_close(&hot->others[--hot->nr_others]);
	reader_close(&hot->reader);
}

int hot_set_warm(struct hot_set *hot, const struct reader_ops *ops,
		 struct failure *failure)
{
	const struct scan scan = { .buffer = WARM_BUFFER };
	struct scan_result result;
	struct reader other;
	int err;

	if (ops == hot->reader.ops)
		return scan_run(&hot->reader, &scan, &result, failure);
	err = reader_open(&other, ops, hot->reader.path, WARM_BUFFER);
	if (err)
		return failure_note(failure, err, "open %s by %s",
				    hot->reader.path, ops->name);
	err = scan_run(&other, &scan, &result, failure);
	reader_close(&other);
	return err;
}

static int touch_one(struct hot_set *hot, struct failure *failure)
{
	unsigned int turn = hot->touched % (1 + hot->nr_others);
	uint64_t page = hot->touched % hot->pages;
	off_t pos;
	int err;

	if (!hot->sequential) {
		hot->random += 0x9e3779b97f4a7c15ULL;
		page = splitmix64(hot->random) % hot->pages;
	}
	pos = (off_t)(page * sysconf(_SC_PAGESIZE));
	if (hot->nr_others)
		take_turn(turn);
	err = reader_read(turn ? &hot->others[turn - 1] : &hot->reader, pos,
			  TOUCH_LEN);
	if (err)
		return failure_note(failure, err, "read %s by %s at %lld",
				    hot->reader.path, hot->reader.ops->name,
				    (long long)pos);
	hot->touched++;
	return 0;
}

int hot_set_touch(struct hot_set *hot, uint64_t target, struct failure *failure)
{
	int err = 0;

	while (!err && hot->touched < target)
		err = touch_one(hot, failure);
	return err;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec t = { .tv_sec = ns / NS_PER_S,
				    .tv_nsec = ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}

int hot_set_pace(struct hot_set *hot, unsigned int per_second,
		 const volatile bool *stop, struct failure *failure)
{
	uint64_t period = per_second ? NS_PER_S / per_second : 0;
	uint64_t due = clock_ns();
	int err = 0;

	while (!err && !*stop) {
		if (period) {
			due += period;
			sleep_until(due);
			hot->late += clock_ns() >= due + period;
		}
		err = touch_one(hot, failure);
	}
	return err;
}
