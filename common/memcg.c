// SPDX-License-Identifier: GPL-2.0
#include "memcg.h"

#include "failure.h"
#include "knob.h"
#include "mountinfo.h"
#include "need.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STAT_TEXT_MAX 16384
#define FLUSHES 4 /* while as much as the limit is read */
#define REMOVE_TRIES 500
#define REMOVE_WAIT_NS (10 * 1000 * 1000)

static int path_join(char *out, size_t len, const char *dir, const char *name)
{
	int n = snprintf(out, len, "%s/%s", dir, name);

	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ' || at[-1] == ',') &&
		    (!at[len] || strchr(",\n ", at[len])))
			return true;
	return false;
}

static bool offers_memory(const char *root, const char *file)
{
	char path[PATH_MAX];
	char text[512];

	return !path_join(path, sizeof(path), root, file) &&
	       knob_read(path, text, sizeof(text)) >= 0 &&
	       has_word(text, "memory");
}

/* First hit wins: a hybrid machine may mount cgroup2 without controllers. */
static bool is_memory_root(const struct mount_entry *m, void *arg)
{
	struct memcg *root = arg;

	if (!strcmp(m->fs_type, "cgroup2") &&
	    offers_memory(m->target, "cgroup.controllers"))
		root->flavour = MEMCG_V2;
	else if (!strcmp(m->fs_type, "cgroup") &&
		 has_word(m->fs_options, "memory"))
		root->flavour = MEMCG_V1;
	else
		return false;
	return snprintf(root->path, sizeof(root->path), "%s", m->target) <
	       (int)sizeof(root->path);
}

int memcg_find(struct memcg *root, struct needs *needs)
{
	int err;

	memset(root, 0, sizeof(*root));
	err = mountinfo_find("/proc/self/mountinfo", is_memory_root, root);
	if (!err)
		return 0;
	root->flavour = MEMCG_NONE;
	if (err == -EOPNOTSUPP)
		need_add(
			needs, "libmount",
			"built without libmount: install its development files (libmount-dev) and build again");
	else
		need_add(
			needs, "a memory cgroup controller",
			"no mounted cgroup hierarchy offers one: needs CONFIG_MEMCG, not cgroup_disable=memory, and in a container that it is delegated");
	return -ENOENT;
}

const char *memcg_flavour_name(enum memcg_flavour flavour)
{
	switch (flavour) {
	case MEMCG_V1:
		return "v1";
	case MEMCG_V2:
		return "v2";
	case MEMCG_NONE:
		break;
	}
	return "none";
}

int memcg_child(const struct memcg *parent, const char *name,
		struct memcg *child)
{
	child->flavour = parent->flavour;
	return path_join(child->path, sizeof(child->path), parent->path, name);
}

int memcg_make(const struct memcg *memcg)
{
	return mkdir(memcg->path, 0755) ? -errno : 0;
}

int memcg_subtree_knob(const struct memcg *memcg, char *path, size_t len)
{
	if (memcg->flavour != MEMCG_V2)
		return -ENODEV;
	return path_join(path, len, memcg->path, "cgroup.subtree_control");
}

bool memcg_delegates(const struct memcg *memcg)
{
	return memcg->flavour == MEMCG_V1 ||
	       offers_memory(memcg->path, "cgroup.subtree_control");
}

static int memcg_set(const struct memcg *memcg, const char *name,
		     uint64_t value)
{
	char path[PATH_MAX];
	int err = path_join(path, sizeof(path), memcg->path, name);

	return err ? err : knob_write_u64(path, value);
}

static int64_t memcg_get(const struct memcg *memcg, const char *name)
{
	char path[PATH_MAX];
	uint64_t value;

	if (path_join(path, sizeof(path), memcg->path, name) ||
	    knob_read_u64(path, &value))
		return -1;
	return (int64_t)value;
}

int memcg_limit(const struct memcg *memcg, uint64_t bytes, uint64_t high)
{
	int err;

	if (memcg->flavour == MEMCG_V1) {
		if (high)
			return -EOPNOTSUPP;
		err = memcg_set(memcg, "memory.limit_in_bytes", bytes);
		if (!err)
			err = memcg_set(memcg, "memory.swappiness", 0);
		return err;
	}
	/* A kernel without swap accounting has no such file, and no swap. */
	err = memcg_set(memcg, "memory.swap.max", 0);
	if (err && err != -ENOENT)
		return err;
	if (high) {
		err = memcg_set(memcg, "memory.high", high);
		if (err)
			return err;
	}
	return memcg_set(memcg, "memory.max", bytes);
}

int memcg_enter(const struct memcg *memcg, pid_t pid)
{
	return memcg_set(memcg, "cgroup.procs", (uint64_t)pid);
}

static int64_t keyed_or_none(const char *text, const char *key)
{
	uint64_t value;

	return keyed_u64(text, key, &value) ? -1 : (int64_t)value;
}

void memcg_stat_none(struct memcg_stat *stat)
{
	*stat = (struct memcg_stat){
		.refault_file = -1,
		.activate_file = -1,
		.scanned = -1,
		.stolen = -1,
		.limit_hits = -1,
		.ooms = -1,
		.oom_kills = -1,
		.anon_bytes = -1,
		.file_bytes = -1,
		.usage_bytes = -1,
		.pressure_us = -1,
	};
}

static int64_t both_or_none(const char *text, const char *a, const char *b)
{
	int64_t of_a = keyed_or_none(text, a), of_b = keyed_or_none(text, b);

	return of_a < 0 || of_b < 0 ? -1 : of_a + of_b;
}

void memcg_stat_parse(const char *text, struct memcg_stat *stat)
{
	stat->refault_file = keyed_or_none(text, "workingset_refault_file");
	stat->activate_file = keyed_or_none(text, "workingset_activate_file");
	stat->scanned = keyed_or_none(text, "pgscan");
	if (stat->scanned < 0)
		stat->scanned = both_or_none(text, "pgscan_anon",
					     "pgscan_file"); /* vmstat */
	stat->stolen = keyed_or_none(text, "pgsteal");
	if (stat->stolen < 0)
		stat->stolen =
			both_or_none(text, "pgsteal_anon", "pgsteal_file");
	stat->anon_bytes = keyed_or_none(text, "anon"); /* v2 */
	if (stat->anon_bytes < 0)
		stat->anon_bytes = keyed_or_none(text, "rss"); /* v1 */
	stat->file_bytes = keyed_or_none(text, "file");
	if (stat->file_bytes < 0)
		stat->file_bytes = keyed_or_none(text, "cache");
}

/* Its length or -errno. */
static int read_stat(const struct memcg *memcg, char *text, size_t len)
{
	char path[PATH_MAX];
	int err;

	err = path_join(path, sizeof(path), memcg->path, "memory.stat");
	return err ? err : knob_read(path, text, len);
}

int memcg_flush_due(const struct memcg *memcg, uint64_t limit, uint64_t done,
		    uint64_t *due, struct failure *failure)
{
	static char text[STAT_TEXT_MAX];
	int err;

	if (done < *due)
		return 0;
	*due = done + limit / FLUSHES;
	err = read_stat(memcg, text, sizeof(text));
	return err < 0 ? failure_note(failure, err, "read memory.stat of %s",
				      memcg->path) :
			 0;
}

int64_t memcg_pressure_parse(const char *text)
{
	const char *some = strstr(text, "some ");
	const char *total = some ? strstr(some, "total=") : NULL;
	uint64_t us;

	if (!total || sscanf(total, "total=%" SCNu64, &us) != 1)
		return -1;
	return (int64_t)us;
}

static int64_t read_pressure(const struct memcg *memcg)
{
	char path[PATH_MAX];
	char text[256];

	if (path_join(path, sizeof(path), memcg->path, "memory.pressure") ||
	    knob_read(path, text, sizeof(text)) < 0)
		return -1;
	return memcg_pressure_parse(text);
}

int memcg_read(const struct memcg *memcg, struct memcg_stat *stat)
{
	static char text[STAT_TEXT_MAX];
	bool v2 = memcg->flavour == MEMCG_V2;
	char path[PATH_MAX];
	int err;

	err = read_stat(memcg, text, sizeof(text));
	if (err < 0)
		return err;
	memcg_stat_parse(text, stat);
	stat->usage_bytes = memcg_get(memcg, v2 ? "memory.current" :
						  "memory.usage_in_bytes");

	err = path_join(path, sizeof(path), memcg->path,
			v2 ? "memory.events" : "memory.oom_control");
	if (err)
		return err;
	err = knob_read(path, text, sizeof(text));
	if (err < 0)
		return err;
	stat->limit_hits = v2 ? keyed_or_none(text, "max") :
				memcg_get(memcg, "memory.failcnt");
	stat->ooms = keyed_or_none(text, "oom");
	stat->oom_kills = keyed_or_none(text, "oom_kill");
	stat->pressure_us = read_pressure(memcg);
	return 0;
}

int memcg_read_machine(struct memcg_stat *stat)
{
	static char text[STAT_TEXT_MAX];
	int err = knob_read("/proc/vmstat", text, sizeof(text));

	if (err < 0)
		return err;
	memcg_stat_none(stat);
	memcg_stat_parse(text, stat);
	if (knob_read("/proc/pressure/memory", text, sizeof(text)) > 0)
		stat->pressure_us = memcg_pressure_parse(text);
	return 0;
}

const char *memcg_oom_text(enum memcg_flavour flavour,
			   const struct memcg_stat *stat, char *buf, size_t len)
{
	if (flavour == MEMCG_V2)
		snprintf(buf, len,
			 "memory.events: max %" PRId64 ", oom %" PRId64
			 ", oom_kill %" PRId64,
			 stat->limit_hits, stat->ooms, stat->oom_kills);
	else
		snprintf(buf, len,
			 "memory.failcnt: %" PRId64
			 ", memory.oom_control: oom_kill %" PRId64,
			 stat->limit_hits, stat->oom_kills);
	return buf;
}

/* v1 has no cgroup.kill, and a process may fork while we read the list. */
static void kill_members(const char *path)
{
	char file[PATH_MAX];
	FILE *procs;
	int pid;

	if (!path_join(file, sizeof(file), path, "cgroup.kill") &&
	    !knob_write(file, "1"))
		return;
	if (path_join(file, sizeof(file), path, "cgroup.procs"))
		return;
	procs = fopen(file, "re");
	if (!procs)
		return;
	while (fscanf(procs, "%d", &pid) == 1)
		if (pid > 0)
			kill(pid, SIGKILL);
	fclose(procs);
}

/* Cache left behind would pin the dead cgroup; v2 gives it to the parent. */
static void empty_v1(const char *path)
{
	char file[PATH_MAX];

	if (!path_join(file, sizeof(file), path, "memory.force_empty") &&
	    !access(file, W_OK))
		knob_write(file, "0");
}

static int remove_children(const char *path)
{
	char child[PATH_MAX];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		err = path_join(child, sizeof(child), path, entry->d_name);
		if (!err)
			err = memcg_remove(child);
		/* Its own test may have removed it just now. */
		if (err == -ENOENT)
			err = 0;
	}
	closedir(dir);
	return err;
}

int memcg_remove(const char *path)
{
	const struct timespec wait = { .tv_nsec = REMOVE_WAIT_NS };
	int err;

	err = remove_children(path);
	for (int i = 0; !err && i < REMOVE_TRIES; i++) {
		kill_members(path);
		empty_v1(path);
		if (!rmdir(path))
			return 0;
		if (errno != EBUSY)
			return -errno;
		nanosleep(&wait, NULL);
	}
	return err ? err : -EBUSY;
}
