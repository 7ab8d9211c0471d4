/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A LevelDB database of numbered records: the key is the number, 16 digits, the
 * value a pattern that the number decides, so that an answer can be checked. No
 * compression, and each record in one table only, so that reading compacts nothing.
 *
 * LevelDB maps the first LEVELDB_MAPS tables that a process opens, on 64 bits, and
 * reads further ones by pread(). It has no option for that.
 */
#ifndef MM_CACHE_LEVELDB_DB_H
#define MM_CACHE_LEVELDB_DB_H

#include <stdbool.h>
#include <stdint.h>

struct failure;

#define LEVELDB_MAPS 1000
#define LEVELDB_KEY_BYTES 16
#define LEVELDB_VALUE_MAX (1024 * 1024)

/*
 * @value: bytes, a multiple of 8
 * @table: bytes of a table; LevelDB has 1 MiB to 1 GiB
 */
struct leveldb_shape {
	uint64_t records;
	uint64_t value;
	uint64_t table;
};

struct db;
struct db_scan;

/*
 * Of work that takes its time: what is done, of what, in bytes. Others than 0 end
 * it.
 */
typedef int leveldb_progress(void *arg, const char *what, uint64_t done,
			     uint64_t total);

/*
 * leveldb_db_make() - in new directory @dir, which is there and empty; when this
 * returns 0, all of it is on the device.
 */
int leveldb_db_make(const char *dir, const struct leveldb_shape *shape,
		    leveldb_progress *progress, void *arg,
		    struct failure *failure);

/*
 * leveldb_db_check() - that @dir holds a whole database of @shape, by the note that
 * leveldb_db_make() left. 0; -ENOENT: nothing there; or -EINVAL with @failure.
 */
int leveldb_db_check(const char *dir, const struct leveldb_shape *shape,
		     struct failure *failure);

/* leveldb_db_copy() - its files, to directory @to, which is empty. */
int leveldb_db_copy(const char *from, const char *to,
		    leveldb_progress *progress, void *arg,
		    struct failure *failure);

/*
 * leveldb_db_tables() - count tables in @dir; a hash of their names and sizes in
 * @sum, to see whether any was changed. 0, or -errno with @failure.
 */
int leveldb_db_tables(const char *dir, uint64_t *tables, uint64_t *sum,
		      struct failure *failure);

/*
 * leveldb_fill_maps() - have LevelDB use up its mappings in this process, by tables
 * of one record each in @dir, which are made if it is empty. To the end of the
 * process.
 */
int leveldb_fill_maps(const char *dir, struct failure *failure);

/*
 * leveldb_db_open() - @block_cache in bytes. All tables stay open once they are.
 * NULL with @failure.
 */
struct db *leveldb_db_open(const char *dir, const struct leveldb_shape *shape,
			   uint64_t block_cache, struct failure *failure);
void leveldb_db_close(struct db *db);

/*
 * leveldb_db_get() - 0: the right answer; 1: another one, or none, and @failure
 * says which; or -errno with @failure. By any thread.
 */
int leveldb_db_get(struct db *db, uint64_t record, struct failure *failure);

/* leveldb_db_touch() - open all tables, by a GET of a record of each. As a GET. */
int leveldb_db_touch(struct db *db, struct failure *failure);

/*
 * leveldb_scan_begin() - NULL: no memory. leveldb_scan_next() - go on to record
 * @record, which is that after the last one unless a SCAN @begins, and read @n: as
 * leveldb_db_get().
 */
struct db_scan *leveldb_scan_begin(struct db *db);
int leveldb_scan_next(struct db_scan *scan, uint64_t record, uint64_t n,
		      bool begins, struct failure *failure);
void leveldb_scan_end(struct db_scan *scan);

#endif
