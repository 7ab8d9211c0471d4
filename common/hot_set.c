// SPDX-License-Identifier: GPL-2.0
#include "hot_set.h"

#include "failure.h"
#include "pattern.h"
#include "scan.h"
#include "zipf.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define TOUCH_LEN 4096
#define WARM_BUFFER (128 * 1024) /* charged to the memcg, too */

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
	hot->due = 0;
	hot->zipf = NULL;
	hot->observe = NULL;
	return err;
}

int hot_set_zipf(struct hot_set *hot, double exponent, uint64_t order)
{
	hot->zipf = malloc(sizeof(*hot->zipf));
	if (!hot->zipf)
		return -ENOMEM;
	zipf_init(hot->zipf, hot->pages, exponent);
	hot->order = order;
	return 0;
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

int64_t hot_set_missed(const struct hot_set *hot)
{
	int64_t missed = (int64_t)hot->reader.missed;
	bool told = hot->reader.count_missed;

	for (unsigned int i = 0; i < hot->nr_others; i++) {
		missed += (int64_t)hot->others[i].missed;
		told &= hot->others[i].count_missed;
	}
	return told ? missed : -1;
}

void hot_set_close(struct hot_set *hot)
{
	while (hot->nr_others)
		reader_close(&hot->others[--hot->nr_others]);
	reader_close(&hot->reader);
	free(hot->zipf);
	hot->zipf = NULL;
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

static uint64_t choose_page(struct hot_set *hot)
{
	if (hot->sequential)
		return hot->touched % hot->pages;
	if (hot->zipf)
		return permute(zipf_next(hot->zipf, &hot->random), hot->pages,
			       hot->order);
	return splitmix64_next(&hot->random) % hot->pages;
}

static int64_t own_major_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_majflt;
}

static int observed_read(struct hot_set *hot, struct reader *r, uint64_t page,
			 uint64_t due)
{
	uint64_t missed = r->missed;
	int64_t faults = own_major_faults();
	struct hot_read read = { .page = page, .start_ns = clock_ns() };
	int err;

	err = reader_read(r, (off_t)(page * sysconf(_SC_PAGESIZE)), TOUCH_LEN);
	read.end_ns = clock_ns();
	read.due_ns = due ? due : read.start_ns;
	read.missed = r->missed > missed || own_major_faults() > faults;
	read.unknown = !r->count_missed;
	if (!err)
		hot->observe(hot->observe_arg, &read);
	return err;
}

/* @due: when it was to be made; 0: now */
static int touch_one(struct hot_set *hot, uint64_t due, struct failure *failure)
{
	unsigned int turn = hot->touched % (1 + hot->nr_others);
	struct reader *r = turn ? &hot->others[turn - 1] : &hot->reader;
	uint64_t page = choose_page(hot);
	off_t pos = (off_t)(page * sysconf(_SC_PAGESIZE));
	int err;

	if (hot->nr_others)
		take_turn(turn);
	if (hot->observe)
		err = observed_read(hot, r, page, due);
	else
		err = reader_read(r, pos, TOUCH_LEN);
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
		err = touch_one(hot, 0, failure);
	return err;
}

int hot_set_pace(struct hot_set *hot, uint64_t period_ns,
		 const volatile bool *stop, struct failure *failure)
{
	int err = 0;

	if (!hot->due)
		hot->due = clock_ns();
	while (!err && !*stop) {
		if (period_ns) {
			hot->due += period_ns;
			sleep_until(hot->due);
			hot->late += clock_ns() >= hot->due + period_ns;
		}
		err = touch_one(hot, period_ns ? hot->due : 0, failure);
	}
	return err;
}
