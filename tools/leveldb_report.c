// SPDX-License-Identifier: GPL-2.0
#include "leveldb_report.h"

#include "permille.h"

#include <inttypes.h>
#include <leveldb/c.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Printed, with a bound if there is one. Of GETs and SCANs: "read" is from the
 * device. SCANs miss by the bytes read of those that they asked for, which may be
 * more than all, for what is read ahead, evicted, and read again counts twice.
 */
static const struct {
	const char *name;
	const char *unit;
	const char *bound;
} figures[NR_LEVELDB_FIGURES] = {
	[LDB_WRONG] = { "wrong_answers", "answers", "<=0" },
	[LDB_READ] = { "read", "KiB", ">=1" },
	[LDB_OPS] = { "throughput", "ops/s" },
	[LDB_GET_RATE] = { "get_throughput", "GETs/s" },
	[LDB_SCAN_RATE] = { "scan_throughput", "records/s" },
	[LDB_GET_MISS] = { "get_miss", "permille" },
	[LDB_SCAN_MISS] = { "scan_miss", "permille" },
	[LDB_GET_WAIT] = { "get_wait", "us" },
	[LDB_SCAN_WAIT] = { "scan_wait", "us" },
	[LDB_GET_READ] = { "get_read", "bytes" },
	[LDB_GET_FAULTS] = { "get_faults_per_1000", "faults" },
	[LDB_SCAN_FAULTS] = { "scan_faults", "faults" },
	[LDB_PER_SCAN] = { "gets_per_1000_scans", "GETs" },
	[LDB_REFAULTS] = { "refaults", "pages" },
	[LDB_ACTIVATIONS] = { "activations", "pages" },
	[LDB_MAPPED] = { "tables_mapped", "permille" },
	[LDB_ANON] = { "anon", "KiB" },
	[LDB_WARM_UP] = { "warm_up", "windows" },
	[LDB_SETTLED] = { "warm_up_ended_by_rule", "times" },
	[LDB_TIME] = { "time", "ms" },
};

#define NOT_MEASURED INT64_MIN

static int64_t per(double part, double whole)
{
	return whole > 0 ? (int64_t)(part / whole + 0.5) : NOT_MEASURED;
}

static int64_t grown(int64_t before, int64_t after)
{
	return before < 0 || after < 0 ? NOT_MEASURED : after - before;
}

void leveldb_figures(const struct leveldb_setting *asked,
		     const struct leveldb_result *r, bool waits,
		     int64_t v[NR_LEVELDB_FIGURES])
{
	const struct load_tally *t = &r->tally;
	double s = (double)r->ns / 1e9, gets = (double)t->gets;
	double scanned = (double)t->scanned,
	       scans = scanned / (double)asked->run;
	double tick_us = 1e6 / (double)sysconf(_SC_CLK_TCK);

	v[LDB_WRONG] = (int64_t)t->wrong;
	v[LDB_READ] = (int64_t)((t->get_bytes + t->scan_bytes) / 1024);
	v[LDB_OPS] = per(gets + scans, s);
	v[LDB_GET_RATE] = per(gets, s);
	v[LDB_SCAN_RATE] = per(scanned, s);
	v[LDB_GET_MISS] = permille(t->get_misses, t->gets);
	v[LDB_SCAN_MISS] = per(1000.0 * (double)t->scan_bytes,
			       scanned * (double)leveldb_record_bytes(asked));
	v[LDB_GET_WAIT] = per((double)t->get_ticks * tick_us, gets);
	v[LDB_SCAN_WAIT] = per((double)t->scan_ticks * tick_us, scans);
	if (!waits) {
		v[LDB_GET_WAIT] = NOT_MEASURED;
		v[LDB_SCAN_WAIT] = NOT_MEASURED;
	}
	v[LDB_GET_READ] = per((double)t->get_bytes, gets);
	v[LDB_GET_FAULTS] = per(1000.0 * (double)t->get_faults, gets);
	v[LDB_SCAN_FAULTS] = per((double)t->scan_faults, scans);
	v[LDB_PER_SCAN] = per(1000.0 * gets, scans);
	v[LDB_REFAULTS] = grown(r->before.refault_file, r->after.refault_file);
	v[LDB_ACTIVATIONS] =
		grown(r->before.activate_file, r->after.activate_file);
	v[LDB_MAPPED] = permille(r->mapped, r->tables);
	v[LDB_ANON] = r->after.anon_bytes < 0 ? NOT_MEASURED :
						r->after.anon_bytes / 1024;
	v[LDB_WARM_UP] = r->warm;
	v[LDB_SETTLED] = r->settled;
	v[LDB_TIME] = (int64_t)(r->ns / 1000000);
}

void leveldb_print_figures(const char *label, unsigned int reps,
			   int64_t values[NR_LEVELDB_FIGURES][LEVELDB_REPS_MAX])
{
	for (int f = 0; f < NR_LEVELDB_FIGURES; f++) {
		struct summary s = summarize(values[f], reps);

		if (s.min == NOT_MEASURED)
			continue;
		printf("# metric %s %s %s n=%u median=%" PRId64 " min=%" PRId64
		       " max=%" PRId64 "%s%s\n",
		       label, figures[f].name, figures[f].unit, s.n, s.median,
		       s.min, s.max, figures[f].bound ? " bound" : "",
		       figures[f].bound ? figures[f].bound : "");
	}
}

void leveldb_print_setting(const struct leveldb_setting *asked, bool waits)
{
	printf("# env leveldb %d.%d\n", leveldb_major_version(),
	       leveldb_minor_version());
	printf("# env database %" PRIu64 " records of %d + %" PRIu64
	       " bytes, tables of %" PRIu64 " KiB\n",
	       asked->shape.records, LEVELDB_KEY_BYTES, asked->shape.value,
	       asked->shape.table / 1024);
	printf("# env block_cache %" PRIu64 " KiB\n",
	       asked->block_cache / 1024);
	printf("# env access %s\n", leveldb_access_name(asked->access));
	printf("# env zipf %g\n", asked->zipf);
	printf("# env scan_length %" PRIu64 "\n", asked->run);
	if (asked->gets < 0)
		printf("# env gets_per_scan the layout's\n");
	else if (asked->gets > 0)
		printf("# env gets_per_scan %g\n", asked->gets);
	else
		printf("# env gets_per_scan free\n");
	printf("# env windows %" PRIu64 " %% of the memory, %" PRIu64
	       " after a warm-up of at most %" PRIu64 "\n",
	       asked->window_pct, asked->measured, asked->warm_max);
	printf("# env seed %" PRIu64 "\n", asked->seed);
	printf("# env delay_accounting %s\n",
	       waits ? "on" :
		       "off: no waits: needs CONFIG_TASK_DELAY_ACCT and Linux 5.14");
}
