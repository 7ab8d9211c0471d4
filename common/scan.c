// SPDX-License-Identifier: GPL-2.0
#include "scan.h"

#include "failure.h"
#include "knob.h"
#include "pattern.h"
#include "reader.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#define NS_PER_S 1000000000ULL

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

void sleep_until(uint64_t ns)
{
	const struct timespec t = { .tv_sec = ns / NS_PER_S,
				    .tv_nsec = ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}

int64_t read_bytes_now(void)
{
	char text[512];
	uint64_t bytes;

	if (knob_read("/proc/self/io", text, sizeof(text)) < 0 ||
	    keyed_u64(text, "read_bytes", &bytes))
		return -1;
	return (int64_t)bytes;
}

uint64_t permute(uint64_t i, uint64_t n, uint64_t seed)
{
	unsigned int half = 1;

	while (half < 32 && 1ULL << 2 * half < n)
		half++;
	do {
		uint64_t mask = (1ULL << half) - 1;
		uint64_t left = i >> half, right = i & mask;

		for (unsigned int round = 0; round < 4; round++) {
			uint64_t next =
				left ^
				(splitmix64(seed + round + right * 4) & mask);

			left = right;
			right = next;
		}
		i = left << half | right;
	} while (i >= n);
	return i;
}

void take_turn(unsigned int turn)
{
	static cpu_set_t allowed;
	static int nr;
	cpu_set_t one;

	if (!nr && !sched_getaffinity(0, sizeof(allowed), &allowed))
		nr = CPU_COUNT(&allowed);
	if (nr < 2)
		return;
	turn %= nr;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || turn--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

/* Which read comes @i-th of @n, when @team take turns; @n or more: none. */
static uint64_t place_of(const struct scan *scan, uint64_t i, uint64_t n,
			 unsigned int team)
{
	if (scan->random)
		return i < n ? permute(i, n, scan->order) : n;
	return i % team * ((n + team - 1) / team) + i / team;
}

static int read_at(struct reader *r, const struct scan *scan, off_t pos,
		   size_t len, struct scan_result *result,
		   struct failure *failure)
{
	int err = reader_read(r, pos, len);

	if (err)
		return failure_note(failure, err, "read %s by %s at %lld",
				    r->path, r->ops->name, (long long)pos);
	if (scan->verify)
		result->bad_words += pattern_bad(r->buf, len, pos, scan->seed);
	result->bytes += len;
	return 0;
}

int scan_run(struct reader *r, const struct scan *scan,
	     struct scan_result *result, struct failure *failure)
{
	off_t to = scan->to ? scan->to : r->size;
	uint64_t n = (to - scan->from + scan->buffer - 1) / scan->buffer;
	unsigned int team = 1 + scan->nr_others;
	uint64_t turns = (n + team - 1) / team * team;
	int64_t read_bytes = read_bytes_now();
	uint64_t start = clock_ns();
	int err = 0;

	*result = (struct scan_result){ 0 };
	for (uint64_t i = 0; !err && i < turns; i++) {
		uint64_t place = place_of(scan, i, n, team);
		off_t pos = scan->from + (off_t)(place * scan->buffer);
		unsigned int member = i % team;
		size_t len = scan->buffer;

		if (place >= n)
			continue;
		if ((off_t)len > to - pos)
			len = to - pos;
		if (team > 1)
			take_turn(member);
		err = read_at(member ? &scan->others[member - 1] : r, scan, pos,
			      len, result, failure);
		if (!err && scan->progress)
			err = scan->progress(scan->arg, result->bytes,
					     to - scan->from);
	}
	result->ns = clock_ns() - start;
	result->read_bytes = read_bytes < 0 ? -1 :
					      read_bytes_now() - read_bytes;
	return err;
}
