// SPDX-License-Identifier: GPL-2.0
#include "leveldb_db.h"

#include "failure.h"
#include "pattern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <leveldb/c.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
/* Not a name of LevelDB's, which leaves it alone. */
#define NOTE "mm-cache"
#define BATCH_BYTES MIB
#define SETTLE_NS (200 * 1000 * 1000)
#define SETTLE_TRIES 300
#define COPY_BYTES (8 * MIB)
/*
 * For LevelDB to keep so many tables open. It spreads them over 16 caches by a hash,
 * and one of these may get twice its share.
 */
#define OPEN_FILES(tables) (2 * (int)(tables) + 512)

/* ----- records ----- */

static void key_of(uint64_t record, char key[LEVELDB_KEY_BYTES])
{
	for (int i = LEVELDB_KEY_BYTES; i--; record /= 10)
		key[i] = (char)('0' + record % 10);
}

/* Takes over LevelDB's words, which it frees; -EIO. */
static int note_error(struct failure *failure, const char *what, char *error)
{
	int err = failure_note(failure, -EIO, "%s: LevelDB says: %s", what,
			       error);

	leveldb_free(error);
	return err;
}

static int write_note(const char *dir, const struct leveldb_shape *shape,
		      struct failure *failure)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/" NOTE, dir);
	out = fopen(path, "wxe");
	if (!out)
		return failure_note(failure, -errno, "make %s", path);
	fprintf(out,
		"records %" PRIu64 " value %" PRIu64 " table %" PRIu64 "\n",
		shape->records, shape->value, shape->table);
	if (fflush(out) || fsync(fileno(out)))
		failure_note(failure, -errno, "write %s", path);
	fclose(out);
	return failure->err;
}

int leveldb_db_check(const char *dir, const struct leveldb_shape *shape,
		     struct failure *failure)
{
	struct leveldb_shape has;
	char path[PATH_MAX];
	FILE *in;
	int n;

	if (access(dir, F_OK))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/" NOTE, dir);
	in = fopen(path, "re");
	if (!in)
		return failure_note(
			failure, -EINVAL,
			"%s is no database that this program has made to its end: remove it, or name another directory",
			dir);
	n = fscanf(in, "records %" SCNu64 " value %" SCNu64 " table %" SCNu64,
		   &has.records, &has.value, &has.table);
	fclose(in);
	if (n == 3 && has.records == shape->records &&
	    has.value == shape->value && has.table == shape->table)
		return 0;
	if (n != 3)
		return failure_note(failure, -EINVAL, "%s: not readable", path);
	return failure_note(failure, -EINVAL,
			    "%s has %" PRIu64 " records with values of %" PRIu64
			    " bytes in tables of %" PRIu64
			    ", asked for were %" PRIu64 ", %" PRIu64
			    " and %" PRIu64
			    ": ask for what it has, or name another directory",
			    dir, has.records, has.value, has.table,
			    shape->records, shape->value, shape->table);
}

/* ----- making one ----- */

static leveldb_options_t *make_options(uint64_t table, int open_files)
{
	leveldb_options_t *options = leveldb_options_create();

	leveldb_options_set_compression(options, leveldb_no_compression);
	leveldb_options_set_max_open_files(options, open_files);
	/* What is written in the order of keys becomes a table at a time. */
	leveldb_options_set_write_buffer_size(options, table);
	leveldb_options_set_max_file_size(options, table);
	return options;
}

static leveldb_t *open_db(const char *dir, leveldb_options_t *options,
			  struct failure *failure)
{
	char *error = NULL;
	leveldb_t *db = leveldb_open(options, dir, &error);

	if (error)
		note_error(failure, dir, error);
	return error ? NULL : db;
}

static int put_all(leveldb_t *db, const struct leveldb_shape *shape,
		   leveldb_progress *progress, void *arg,
		   struct failure *failure)
{
	uint64_t record_bytes = LEVELDB_KEY_BYTES + shape->value;
	uint64_t batch_records = BATCH_BYTES / record_bytes + 1;
	leveldb_writeoptions_t *options = leveldb_writeoptions_create();
	leveldb_writebatch_t *batch = leveldb_writebatch_create();
	char *value = malloc(shape->value);
	char key[LEVELDB_KEY_BYTES];
	char *error = NULL;
	int err = value ? 0 : -ENOMEM;

	for (uint64_t i = 0; !err && i < shape->records; i++) {
		key_of(i, key);
		pattern_fill(value, shape->value, i * shape->value, 0);
		leveldb_writebatch_put(batch, key, LEVELDB_KEY_BYTES, value,
				       shape->value);
		if ((i + 1) % batch_records && i + 1 < shape->records)
			continue;
		leveldb_write(db, options, batch, &error);
		leveldb_writebatch_clear(batch);
		if (error)
			err = note_error(failure, "write", error);
		else
			err = progress(arg, "making the database",
				       (i + 1) * record_bytes,
				       shape->records * record_bytes);
	}
	free(value);
	leveldb_writebatch_destroy(batch);
	leveldb_writeoptions_destroy(options);
	return err;
}

/* Until the tables stay as they are: what is due is compacted in the background. */
static int settle(const char *dir, struct failure *failure)
{
	const struct timespec wait = { .tv_nsec = SETTLE_NS };
	uint64_t tables, sum, before = 0;

	for (int same = 0, i = 0; i < SETTLE_TRIES; i++) {
		int err = leveldb_db_tables(dir, &tables, &sum, failure);

		if (err)
			return err;
		same = sum == before ? same + 1 : 0;
		if (same == 3)
			return 0;
		before = sum;
		nanosleep(&wait, NULL);
	}
	return failure_note(failure, -ETIMEDOUT,
			    "%s: LevelDB goes on compacting", dir);
}

static int sync_files(const char *dir, struct failure *failure)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || syncfs(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err ? failure_note(failure, err, "sync %s", dir) : 0;
}

int leveldb_db_make(const char *dir, const struct leveldb_shape *shape,
		    leveldb_progress *progress, void *arg,
		    struct failure *failure)
{
	leveldb_options_t *options = make_options(shape->table, 1000);
	leveldb_t *db;
	int err = 0;

	leveldb_options_set_create_if_missing(options, 1);
	leveldb_options_set_error_if_exists(options, 1);
	db = open_db(dir, options, failure);
	if (db) {
		err = put_all(db, shape, progress, arg, failure);
		if (!err)
			leveldb_compact_range(db, NULL, 0, NULL, 0);
		leveldb_close(db);
	}
	leveldb_options_destroy(options);
	if (!db || err)
		return err ? err : failure->err;
	/* As it is opened from now on. */
	options = make_options(shape->table, 1000);
	db = open_db(dir, options, failure);
	if (db) {
		err = settle(dir, failure);
		leveldb_close(db);
	}
	leveldb_options_destroy(options);
	if (db && !err)
		err = write_note(dir, shape, failure);
	if (db && !err)
		err = sync_files(dir, failure);
	return err ? err : failure->err;
}

/* ----- its files ----- */

static bool is_table(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".ldb") || !strcmp(dot, ".sst"));
}

int leveldb_db_tables(const char *dir, uint64_t *tables, uint64_t *sum,
		      struct failure *failure)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	struct stat st;

	*tables = 0;
	*sum = 0;
	if (!d)
		return failure_note(failure, -errno, "open %s", dir);
	while ((entry = readdir(d))) {
		uint64_t hash = 0;

		/* One may just be going. */
		if (!is_table(entry->d_name) ||
		    fstatat(dirfd(d), entry->d_name, &st, 0))
			continue;
		for (const char *s = entry->d_name; *s; s++)
			hash = splitmix64(hash + (unsigned char)*s);
		++*tables;
		*sum += splitmix64(hash + (uint64_t)st.st_size);
	}
	closedir(d);
	return 0;
}

static int open_at(int dir, const char *name, int flags,
		   struct failure *failure)
{
	int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? failure_note(failure, -errno, "open %s", name) : fd;
}

struct copying {
	leveldb_progress *progress;
	void *arg;
	uint64_t done;
	uint64_t total;
	struct failure *failure;
};

static int copy_file(struct copying *c, int from, int to, const char *name)
{
	int in = open_at(from, name, O_RDONLY, c->failure);
	int out = in < 0 ? in :
			   open_at(to, name, O_WRONLY | O_CREAT | O_EXCL,
				   c->failure);
	ssize_t n = 1;
	int err = out < 0 ? out : 0;

	while (!err && n > 0) {
		n = sendfile(out, in, NULL, COPY_BYTES);
		if (n < 0) {
			err = failure_note(c->failure, -errno, "copy %s", name);
			break;
		}
		c->done += n;
		err = c->progress(c->arg, "copying the database", c->done,
				  c->total);
	}
	if (!err && fsync(out))
		err = failure_note(c->failure, -errno, "fsync %s", name);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return err;
}

static bool is_copied(const char *name)
{
	return *name != '.' && strcmp(name, "LOCK") && strcmp(name, "LOG") &&
	       strcmp(name, "LOG.old");
}

static uint64_t bytes_in(DIR *dir)
{
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while ((entry = readdir(dir)))
		if (is_copied(entry->d_name) &&
		    !fstatat(dirfd(dir), entry->d_name, &st, 0))
			bytes += st.st_size;
	rewinddir(dir);
	return bytes;
}

int leveldb_db_copy(const char *from, const char *to,
		    leveldb_progress *progress, void *arg,
		    struct failure *failure)
{
	struct copying c = { progress, arg, .failure = failure };
	int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *source = opendir(from);
	struct dirent *entry;
	int err = 0;

	if (!source || target < 0)
		err = failure_note(failure, -errno, "open %s",
				   source ? to : from);
	if (!err)
		c.total = bytes_in(source);
	while (!err && (entry = readdir(source)))
		if (is_copied(entry->d_name))
			err = copy_file(&c, dirfd(source), target,
					entry->d_name);
	if (source)
		closedir(source);
	if (target >= 0)
		close(target);
	return err;
}

/* ----- reading one ----- */

struct db {
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_cache_t *cache;
	leveldb_readoptions_t *read;
	struct leveldb_shape shape;
	uint64_t tables;
};

struct db_scan {
	struct db *db;
	leveldb_iterator_t *at;
};

struct db *leveldb_db_open(const char *dir, const struct leveldb_shape *shape,
			   uint64_t block_cache, struct failure *failure)
{
	struct db *db = calloc(1, sizeof(*db));
	uint64_t sum;

	if (!db) {
		failure_note(failure, -ENOMEM, "open %s", dir);
		return NULL;
	}
	db->shape = *shape;
	if (leveldb_db_tables(dir, &db->tables, &sum, failure)) {
		free(db);
		return NULL;
	}
	db->options = make_options(shape->table, OPEN_FILES(db->tables));
	db->cache = leveldb_cache_create_lru(block_cache);
	leveldb_options_set_cache(db->options, db->cache);
	db->read = leveldb_readoptions_create();
	db->db = open_db(dir, db->options, failure);
	if (db->db)
		return db;
	leveldb_db_close(db);
	return NULL;
}

void leveldb_db_close(struct db *db)
{
	if (db->db)
		leveldb_close(db->db);
	leveldb_readoptions_destroy(db->read);
	leveldb_options_destroy(db->options);
	leveldb_cache_destroy(db->cache);
	free(db);
}

int leveldb_db_get(struct db *db, uint64_t record, struct failure *failure)
{
	char key[LEVELDB_KEY_BYTES];
	char *error = NULL;
	size_t len, bad = 0;
	char *value;

	key_of(record, key);
	value = leveldb_get(db->db, db->read, key, LEVELDB_KEY_BYTES, &len,
			    &error);
	if (error)
		return note_error(failure, "GET", error);
	if (value && len == db->shape.value)
		bad = pattern_bad(value, len, record * len, 0);
	if (value && len == db->shape.value && !bad) {
		leveldb_free(value);
		return 0;
	}
	failure_note(failure, -EBADMSG,
		     "GET of record %" PRIu64 ": %s (%zu of %" PRIu64
		     " bytes, %zu words are wrong)",
		     record, value ? "another value" : "nothing found",
		     value ? len : 0, db->shape.value, bad);
	leveldb_free(value);
	return 1;
}

int leveldb_db_touch(struct db *db, struct failure *failure)
{
	/* A line each, "5:2097152['0000000000000000' @ 1 : 1 .. '...". */
	char *list = leveldb_property_value(db->db, "leveldb.sstables");
	uint64_t tables = 0;
	int err = 0;

	for (const char *at = list; !err && at && (at = strstr(at, "['"));
	     at++, tables++)
		err = leveldb_db_get(db, strtoull(at + 2, NULL, 10), failure);
	leveldb_free(list);
	if (err || tables == db->tables)
		return err;
	return failure_note(failure, -EIO,
			    "LevelDB knows %" PRIu64
			    " tables of the database, there are %" PRIu64,
			    tables, db->tables);
}

struct db_scan *leveldb_scan_begin(struct db *db)
{
	struct db_scan *scan = calloc(1, sizeof(*scan));

	if (scan) {
		scan->db = db;
		scan->at = leveldb_create_iterator(db->db, db->read);
	}
	return scan;
}

void leveldb_scan_end(struct db_scan *scan)
{
	leveldb_iter_destroy(scan->at);
	free(scan);
}

/* The value's length and both ends are looked at; GETs look at all of it. */
static bool is_right(const struct db_scan *scan, uint64_t record)
{
	uint64_t value = scan->db->shape.value;
	char want[LEVELDB_KEY_BYTES];
	const char *key, *found;
	size_t len;

	if (!leveldb_iter_valid(scan->at))
		return false;
	key_of(record, want);
	key = leveldb_iter_key(scan->at, &len);
	if (len != LEVELDB_KEY_BYTES || memcmp(key, want, len))
		return false;
	found = leveldb_iter_value(scan->at, &len);
	return len == value && !pattern_bad(found, 8, record * value, 0) &&
	       !pattern_bad(found + value - 8, 8, (record + 1) * value - 8, 0);
}

int leveldb_scan_next(struct db_scan *scan, uint64_t record, uint64_t n,
		      bool begins, struct failure *failure)
{
	char key[LEVELDB_KEY_BYTES];
	char *error = NULL;

	if (begins) {
		key_of(record, key);
		leveldb_iter_seek(scan->at, key, LEVELDB_KEY_BYTES);
	}
	for (uint64_t i = 0; i < n; i++) {
		if (!is_right(scan, record + i)) {
			leveldb_iter_get_error(scan->at, &error);
			if (error)
				return note_error(failure, "SCAN", error);
			failure_note(failure, -EBADMSG,
				     "SCAN: record %" PRIu64
				     " is not there, or has another value",
				     record + i);
			return 1;
		}
		leveldb_iter_next(scan->at);
	}
	return 0;
}

/* ----- without mappings ----- */

static leveldb_t *filler;

static int make_filler(leveldb_t *db, struct failure *failure)
{
	leveldb_writeoptions_t *options = leveldb_writeoptions_create();
	char key[LEVELDB_KEY_BYTES];
	char *error = NULL;

	/* Before a compaction, even of nothing, LevelDB writes out what it holds. */
	for (uint64_t i = 1; !error && i <= LEVELDB_MAPS; i++) {
		key_of(i, key);
		leveldb_put(db, options, key, LEVELDB_KEY_BYTES, "x", 1,
			    &error);
		if (!error)
			leveldb_compact_range(db, "!", 1, "!", 1);
	}
	leveldb_writeoptions_destroy(options);
	return error ? note_error(failure, "fill the mappings", error) : 0;
}

/* Going through all opens all. */
static int open_tables(leveldb_t *db, struct failure *failure)
{
	leveldb_readoptions_t *read = leveldb_readoptions_create();
	leveldb_iterator_t *at = leveldb_create_iterator(db, read);
	uint64_t n = 0;

	for (leveldb_iter_seek_to_first(at); leveldb_iter_valid(at);
	     leveldb_iter_next(at))
		n++;
	leveldb_iter_destroy(at);
	leveldb_readoptions_destroy(read);
	if (n == LEVELDB_MAPS)
		return 0;
	return failure_note(failure, -EIO,
			    "fill the mappings: %" PRIu64 " tables, not %d", n,
			    LEVELDB_MAPS);
}

int leveldb_fill_maps(const char *dir, struct failure *failure)
{
	leveldb_options_t *options =
		make_options(MIB, OPEN_FILES(LEVELDB_MAPS));
	uint64_t tables, sum;
	int err;

	leveldb_options_set_create_if_missing(options, 1);
	err = leveldb_db_tables(dir, &tables, &sum, failure);
	if (!err) {
		filler = open_db(dir, options, failure);
		err = filler ? 0 : failure->err;
	}
	if (!err && !tables)
		err = make_filler(filler, failure);
	if (!err)
		err = open_tables(filler, failure);
	leveldb_options_destroy(options);
	return err;
}
