/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a test program sets up once: the keeper, a scratch file system, a
 * trusted meter, and a cgroup in which each repetition gets a memcg.
 */
#ifndef MM_CACHE_LAB_H
#define MM_CACHE_LAB_H

#include "failure.h"
#include "keeper.h"
#include "memcg.h"
#include "need.h"
#include "options.h"
#include "residency.h"
#include "scratch.h"

#include <stdint.h>

struct lab {
	struct options options;
	struct keeper keeper;
	struct scratch scratch;
	struct memcg memcg; /* parent of those of the repetitions */
	enum residency_meter meter;
	struct needs needs; /* without these nothing runs */
	struct needs memcg_needs; /* without these nothing runs in a memcg */
	struct failure failure;
	struct keeper_report repaired; /* left by a run that died */
	uint64_t waited_ns; /* for another run to end; 0: there was none */
};

/*
 * lab_open() - set everything up for @bytes of files; lab->options is read.
 * @waiting: called with the process that holds the lock before waiting for it
 *
 * 0; -ENOENT with entries in lab->needs; or -errno with lab->failure. Call
 * lab_close() in any case. Processes forked from here on die with their parent.
 */
int lab_open(struct lab *lab, uint64_t bytes, void (*waiting)(pid_t holder));

/*
 * lab_close() - undo all of it; what the keeper had to say is in @report.
 * Does nothing in a process other than the one that called lab_open().
 */
void lab_close(struct lab *lab, struct keeper_report *report);

#endif
