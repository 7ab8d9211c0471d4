/* SPDX-License-Identifier: GPL-2.0 */
/* What mm-cache-leveldb was asked for: its command line and the environment. */
#ifndef MM_CACHE_LEVELDB_SETTING_H
#define MM_CACHE_LEVELDB_SETTING_H

#include "db_load.h"
#include "options.h"
#include "leveldb_db.h"

#include <stdbool.h>
#include <stdint.h>

#define LEVELDB_REPS_MAX 99
#define LEVELDB_USAGE 64 /* exit status after wrong usage */

enum access_asked { ACCESS_AUTO, ACCESS_MAPPED, ACCESS_PREAD };

/*
 * @options:    of the environment, and --mem, --reps and --reclaim
 * @size:       bytes of all records; those of @shape follow from it
 * @run:        records of a SCAN
 * @gets:       to a SCAN; below 0: as the layout says; 0: free
 * @window_pct: of the memory, asked for in a window
 * @database:   directory to keep it in, or NULL
 */
struct leveldb_setting {
	struct options options;
	const struct load_layout *layouts[NR_LOAD_LAYOUTS];
	unsigned int nr_layouts;
	uint64_t size;
	struct leveldb_shape shape;
	double zipf;
	uint64_t run;
	double gets;
	enum access_asked access;
	uint64_t block_cache;
	uint64_t window_pct;
	uint64_t measured;
	uint64_t warm_max;
	uint64_t seed;
	const char *database;
	bool make_only, print_shape, quiet;
};

/*
 * leveldb_setting_read() - all of it, with what was not given preset. Ends the
 * process with LEVELDB_USAGE, and the reason, when something is wrong; after --help,
 * too.
 */
void leveldb_setting_read(int argc, char **argv, struct leveldb_setting *asked);

const char *leveldb_access_name(enum access_asked access);

/* leveldb_record_bytes() - of a record, key and value. */
uint64_t leveldb_record_bytes(const struct leveldb_setting *asked);

#endif
