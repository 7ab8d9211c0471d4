// SPDX-License-Identifier: GPL-2.0
/*
 * GETs beside SCANs of a real database, LevelDB, in a memcg: what the program
 * get_scan of the suite asks in seconds with one file, as those who run databases
 * know it. It speaks KTAP for mm-cache-compare, and asserts only that what was
 * measured means something: right answers, from the device, by the access asked for.
 */
#include "env.h"
#include "lab.h"
#include "leveldb_report.h"
#include "reclaim.h"
#include "scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((uint64_t)1024 * 1024)
#define DROP_TIMEOUT_MS 5000
/* Tables have an index, and their last blocks are not full. */
#define SPARE_PCT 10
#define FILLER_BYTES (16 * MIB)

enum exit_code {
	ALL_OK = 0,
	NOT_OK = 1,
	ALL_SKIPPED = 4,
};

static struct leveldb_setting asked;
static struct lab lab;
static struct leveldb_result *result; /* shared with the children */
static volatile sig_atomic_t stopped;
static volatile pid_t child;

/* ----- progress ----- */

static uint64_t said_at;
static char doing[120];

static void say_line(bool last, const char *text)
{
	bool terminal = isatty(STDERR_FILENO);

	if (asked.quiet)
		return;
	fprintf(stderr, "%s# %s%s", terminal ? "\r\033[K" : "", text,
		terminal && !last ? "" : "\n");
	fflush(stderr);
}

/* On a terminal four times a second, else each tenth. */
static int say_bytes(void *arg, const char *what, uint64_t done, uint64_t total)
{
	static unsigned int tenth;
	uint64_t now = clock_ns();
	unsigned int at = total ? (unsigned int)(10 * done / total) : 10;
	bool due = at != tenth;
	char text[200];

	(void)arg;
	if (isatty(STDERR_FILENO))
		due |= now - said_at > 250000000;
	if (due) {
		tenth = at;
		said_at = now;
		snprintf(text, sizeof(text),
			 "%s%s: %" PRIu64 " of %" PRIu64 " MiB", doing, what,
			 done / MIB, total / MIB);
		say_line(done >= total, text);
	}
	return 0;
}

static void say_window(void *arg, const char *stage, unsigned int n,
		       unsigned int of, double miss)
{
	char text[200];

	(void)arg;
	snprintf(text, sizeof(text),
		 "%s%s: window %u of %u, %.1f %% of GETs miss", doing, stage, n,
		 of, miss);
	say_line(n == of, text);
}

/* ----- children ----- */

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
	if (child > 0)
		kill(child, SIGKILL);
}

static void set_signals(void (*handler)(int signal))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = handler };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		/* One that nohup had ignored stays so. */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/*
 * All that takes time is done by a child, which dies with this process or by its
 * signals. 0, -EINTR when it was killed, or its -errno with
 * the failure of the lab.
 */
static int in_child(void (*work)(void *arg), void *arg)
{
	pid_t parent = getpid();
	sigset_t all, before;
	int status;
	pid_t pid;

	*result = (struct leveldb_result){ 0 };
	fflush(NULL);
	/* No signal may come between the fork and the number being known. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		set_signals(SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		work(arg);
		_exit(0);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return failure_note(&lab.failure, -errno, "fork");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return failure_note(&lab.failure, -errno,
					    "wait for a process");
	child = 0;
	if (stopped)
		return -EINTR;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return WIFSIGNALED(status) ? -EINTR : -EIO;
	if (result->err && result->err != -EBADMSG)
		lab.failure = result->failure;
	return result->err;
}

static void make_work(void *dir)
{
	result->err = leveldb_db_make(dir, &asked.shape, say_bytes, NULL,
				      &result->failure);
}

struct copy {
	const char *from;
	const char *to;
};

static void copy_work(void *arg)
{
	struct copy *copy = arg;

	result->err = leveldb_db_copy(copy->from, copy->to, say_bytes, NULL,
				      &result->failure);
}

struct trial {
	struct memcg memcg;
	struct leveldb_run run;
};

static void run_work(void *arg)
{
	struct trial *trial = arg;
	int err = memcg_enter(&trial->memcg, 0);

	if (err)
		result->err = failure_note(&result->failure, err, "enter %s",
					   trial->memcg.path);
	else
		leveldb_run(&trial->run, result);
}

/* ----- the database ----- */

/* A new directory, the keeper's. Its @path must not be there. */
static int make_dir(const char *path)
{
	int err;

	if (mkdir(path, 0700))
		return failure_note(&lab.failure, -errno, "mkdir %s", path);
	/* Without a lab there is none. */
	err = lab.keeper.sock < 0 ? 0 : keeper_dir(&lab.keeper, path);
	return err ? failure_note(&lab.failure, err, "tell the keeper of %s",
				  path) :
		     0;
}

/* Of a directory of files only: do @work to each. The first failure. */
static int each_file(const char *path, int (*work)(int dir, const char *name))
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return failure_note(&lab.failure, -errno, "open %s", path);
	while ((entry = readdir(dir))) {
		int one = 0;

		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			one = work(dirfd(dir), entry->d_name);
		err = err ? err : one;
	}
	closedir(dir);
	return err;
}

static int remove_file(int dir, const char *name)
{
	if (unlinkat(dir, name, 0))
		return failure_note(&lab.failure, -errno, "remove %s", name);
	return 0;
}

/* @dir gets its name when it is whole: until then it is the keeper's. */
static int make_kept(const char *dir)
{
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s.new", dir) >= (int)sizeof(path))
		return failure_note(&lab.failure, -ENAMETOOLONG, "%s", dir);
	if (!access(path, F_OK))
		return failure_note(
			&lab.failure, -EEXIST,
			"%s: is left of a making that was killed, or one is under way: remove it, or wait",
			path);
	err = make_dir(path);
	if (err)
		return err;
	err = in_child(make_work, path);
	if (!err && rename(path, dir))
		err = failure_note(&lab.failure, -errno, "rename %s to %s",
				   path, dir);
	if (err) {
		each_file(path, remove_file);
		rmdir(path);
	}
	return err;
}

/* Path of the database in @dir. */
static int get_database(char *dir, size_t len)
{
	char cwd[PATH_MAX] = "";
	int err;

	if (!asked.database) {
		scratch_path(&lab.scratch, "database", dir, len);
		err = make_dir(dir);
		return err ? err : in_child(make_work, dir);
	}
	/* The keeper is elsewhere. */
	if (*asked.database != '/' && !getcwd(cwd, sizeof(cwd)))
		return failure_note(&lab.failure, -errno, "getcwd");
	if (snprintf(dir, len, "%s%s%s", cwd, *cwd ? "/" : "",
		     asked.database) >= (int)len)
		return failure_note(&lab.failure, -ENAMETOOLONG, "%s",
				    asked.database);
	err = leveldb_db_check(dir, &asked.shape, &lab.failure);
	return err == -ENOENT ? make_kept(dir) : err;
}

static int drop_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int err;

	if (fd < 0)
		return failure_note(&lab.failure, -errno, "open %s", name);
	/* An empty one has no pages. */
	err = lseek(fd, 0, SEEK_END) > 0 ?
		      residency_drop(lab.meter, fd, DROP_TIMEOUT_MS) :
		      0;
	close(fd);
	return err ? failure_note(&lab.failure, err, "drop %s from the cache",
				  name) :
		     0;
}

/* ----- a repetition ----- */

static int make_memcg(struct memcg *memcg)
{
	int err = memcg_child(&lab.memcg, "leveldb", memcg);

	if (!err)
		err = memcg_make(memcg);
	if (!err)
		err = memcg_limit(memcg, lab.options.mem_bytes, 0);
	return err ? failure_note(&lab.failure, err, "make and limit %s",
				  memcg->path) :
		     0;
}

static uint64_t gets_of(const struct load_layout *layout)
{
	return asked.gets < 0 ? layout->gets : (uint64_t)(1000 * asked.gets);
}

static void set_up(struct trial *trial, const struct load_layout *layout,
		   unsigned int rep)
{
	trial->run.shape = asked.shape;
	trial->run.block_cache = asked.block_cache;
	trial->run.window = lab.options.mem_bytes * asked.window_pct / 100;
	trial->run.warm_max = asked.warm_max;
	trial->run.measured = asked.measured;
	trial->run.say = say_window;
	trial->run.plan = (struct load_plan){
		.layout = layout,
		.gets = gets_of(layout),
		.run = asked.run,
		.records = asked.shape.records,
		.record = leveldb_record_bytes(&asked),
		.zipf = asked.zipf,
		.seed = asked.seed + rep,
		.memory = lab.options.mem_bytes,
		.memcg = &trial->memcg,
	};
}

/* The counters of the memcg of a child that was killed, too. */
static int run_once(const struct load_layout *layout, const char *database,
		    const char *copy, const char *filler, unsigned int rep,
		    struct memcg_stat *stat)
{
	struct trial trial = { .run = { .dir = copy, .filler = filler } };
	struct copy files = { database, copy };
	int err, removed;

	memcg_stat_none(stat);
	err = in_child(copy_work, &files);
	if (!err)
		err = each_file(copy, drop_file);
	if (!err)
		err = make_memcg(&trial.memcg);
	if (err)
		return err;
	set_up(&trial, layout, rep);
	err = in_child(run_work, &trial);
	memcg_read(&trial.memcg, stat);
	memcg_remove(trial.memcg.path);
	removed = each_file(copy, remove_file);
	return err ? err : removed;
}

/* Why a repetition tells nothing, if it does. */
static const char *doubt_of(const struct leveldb_result *r)
{
	const char *access = load_access_name(r->mapped, r->tables);
	const struct load_tally *t = &r->tally;

	if (!t->get_bytes && !t->scan_bytes)
		return "nothing was read from the device";
	if (asked.access != ACCESS_AUTO &&
	    strcmp(access, leveldb_access_name(asked.access)))
		return "the tables were not accessed as asked for";
	if (r->changed)
		return "LevelDB compacted the database meanwhile";
	if (t->get_misses == t->gets)
		return "no GET found anything cached";
	return NULL;
}

/* ----- tests ----- */

struct counts {
	unsigned int pass, fail, skip;
};

struct paths {
	char database[PATH_MAX];
	char copy[PATH_MAX];
	char filler[PATH_MAX];
};

static void conclude(struct counts *counts, unsigned int n, const char *label,
		     bool ok, const char *skip)
{
	printf("%s %u %s.answers_all%s%s\n", ok || skip ? "ok" : "not ok", n,
	       label, skip ? " # SKIP " : "", skip ? skip : "");
	counts->pass += ok && !skip;
	counts->fail += !ok && !skip;
	counts->skip += !!skip;
}

static void explain(const char *label, const struct memcg_stat *stat, int err)
{
	char text[160];

	if (err == -EBADMSG)
		printf("# why %s: %s\n", label, result->failure.text);
	else if (stat->oom_kills > 0)
		printf("# why %s: OOM: the memcg killed it at a limit of %" PRIu64
		       " KiB; %s\n",
		       label, lab.options.mem_bytes / 1024,
		       memcg_oom_text(lab.memcg.flavour, stat, text,
				      sizeof(text)));
	else
		printf("# error %s\n",
		       lab.failure.err ? lab.failure.text : "a process died");
}

static void run_test(unsigned int n, const char *label,
		     const struct load_layout *layout,
		     const struct paths *paths, bool waits,
		     struct counts *counts)
{
	static int64_t values[NR_LEVELDB_FIGURES][LEVELDB_REPS_MAX];
	const char *filler = asked.access == ACCESS_PREAD ? paths->filler :
							    NULL;
	static char skip[200];
	const char *doubt = NULL;
	struct memcg_stat stat;

	for (unsigned int rep = 0; rep < asked.options.reps; rep++) {
		int64_t v[NR_LEVELDB_FIGURES];
		int err;

		snprintf(doing, sizeof(doing), "%s, repetition %u of %u, ",
			 label, rep + 1, asked.options.reps);
		err = run_once(layout, paths->database, paths->copy, filler,
			       rep, &stat);
		if (stopped)
			return;
		if (err) {
			explain(label, &stat, err);
			conclude(counts, n, label, false, NULL);
			return;
		}
		leveldb_figures(&asked, result, waits, v);
		for (int f = 0; f < NR_LEVELDB_FIGURES; f++)
			values[f][rep] = v[f];
		doubt = doubt ? doubt : doubt_of(result);
		printf("# access %s: %s, %" PRIu64 " of %" PRIu64
		       " tables are mapped\n",
		       label, load_access_name(result->mapped, result->tables),
		       result->mapped, result->tables);
	}
	leveldb_print_figures(label, asked.options.reps, values);
	if (doubt)
		snprintf(skip, sizeof(skip), "inconclusive: %s", doubt);
	conclude(counts, n, label, true, doubt ? skip : NULL);
}

static const char *print_needs(const struct needs *needs)
{
	static char reason[512];

	for (unsigned int i = 0; i < needs->nr; i++)
		printf("# need %s: %s\n", needs->list[i].what,
		       needs->list[i].detail);
	return needs_reason(needs, reason, sizeof(reason));
}

static void run_reclaim(enum reclaim reclaim, const struct paths *paths,
			bool waits, unsigned int *n, struct counts *counts)
{
	struct needs needs = { 0 };
	char label[64];
	int err;

	err = reclaim_select(reclaim, &lab.keeper, &needs);
	if (err && err != -ENOENT)
		failure_note(&lab.failure, err, "select %s reclaim",
			     reclaim_name(reclaim));
	for (unsigned int i = 0; i < asked.nr_layouts && !stopped; i++) {
		snprintf(label, sizeof(label), "leveldb.%s_%s",
			 reclaim_name(reclaim), asked.layouts[i]->name);
		if (needs_any(&needs)) {
			conclude(counts, ++*n, label, true,
				 print_needs(&needs));
		} else if (err) {
			printf("# error %s\n", lab.failure.text);
			conclude(counts, ++*n, label, false, NULL);
		} else {
			lab.failure = (struct failure){ 0 };
			run_test(++*n, label, asked.layouts[i], paths, waits,
				 counts);
		}
		fflush(stdout);
	}
}

/* ----- all of it ----- */

static void print_env(bool waits)
{
	struct env env;

	env_read(&env, &lab);
	for (unsigned int i = 0; i < env.nr; i++)
		/* Database, not files. */
		if (strcmp(env.facts[i].key, "files"))
			printf("# env %s %s\n", env.facts[i].key,
			       env.facts[i].value);
	leveldb_print_setting(&asked, waits);
}

/* Its @path is as the kernel tells it in maps. */
static int make_scratch(const char *name, char path[PATH_MAX])
{
	char given[PATH_MAX];
	int err;

	err = scratch_path(&lab.scratch, name, given, sizeof(given));
	if (!err)
		err = make_dir(given);
	if (!err && !realpath(given, path))
		err = failure_note(&lab.failure, -errno, "find %s", given);
	return err;
}

static int prepare(struct paths *paths)
{
	int err;

	err = scratch_read_ahead(&lab.scratch, &lab.keeper,
				 lab.options.read_ahead_kb);
	/* Of a directory that others use it is as found. */
	if (err && err != -ENODEV)
		return failure_note(&lab.failure, err, "set read_ahead_kb");
	err = get_database(paths->database, sizeof(paths->database));
	if (!err)
		err = make_scratch("copy", paths->copy);
	if (!err && asked.access == ACCESS_PREAD)
		err = make_scratch("filler", paths->filler);
	return err;
}

static void on_waiting(pid_t holder)
{
	printf("# waiting for the run of process %d to end\n", holder);
	fflush(stdout);
}

static enum exit_code bail_out(const char *why)
{
	printf("Bail out! %s\n", stopped ? "stopped" : why);
	return NOT_OK;
}

static enum exit_code skip_all(const struct needs *needs)
{
	printf("1..0 # SKIP %s\n", print_needs(needs));
	return ALL_SKIPPED;
}

static enum exit_code measure(void)
{
	bool waits = !keeper_knob(&lab.keeper, LEVELDB_DELAYACCT, "1");
	unsigned int of = lab.options.reclaim == RECLAIM_ANY ? 2 : 1, n = 0;
	static struct paths paths;
	struct counts counts = { 0 };

	if (prepare(&paths))
		return bail_out(lab.failure.text);
	print_env(waits);
	printf("1..%u\n", of * asked.nr_layouts);
	for (enum reclaim r = RECLAIM_CLASSIC; r <= RECLAIM_MGLRU; r++)
		if (!stopped && (lab.options.reclaim == RECLAIM_ANY ||
				 lab.options.reclaim == r))
			run_reclaim(r, &paths, waits, &n, &counts);
	if (stopped)
		return bail_out("");
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n",
	       counts.pass, counts.fail, counts.skip);
	if (counts.fail)
		return NOT_OK;
	return counts.pass ? ALL_OK : ALL_SKIPPED;
}

static void print_report(const char *text)
{
	const char *end;

	for (; (end = strchr(text, '\n')); text = end + 1)
		printf("# keeper %.*s\n", (int)(end - text), text);
}

/* Nothing of the machine is touched for that: no lab, and anybody may. */
static enum exit_code make_only(void)
{
	char dir[PATH_MAX];

	if (!get_database(dir, sizeof(dir)))
		return ALL_OK;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name,
		stopped ? "stopped" : lab.failure.text);
	return NOT_OK;
}

static enum exit_code in_lab(void)
{
	/* The base, unless it is elsewhere, and the copy. */
	uint64_t each = asked.size + asked.size * SPARE_PCT / 100;
	uint64_t bytes = (asked.database ? 1 : 2) * each;
	int err;

	if (asked.access == ACCESS_PREAD)
		bytes += FILLER_BYTES;
	err = lab_open(&lab, bytes, on_waiting);
	print_report(lab.repaired.text);
	if (!needs_any(&lab.needs) && read_bytes_now() < 0)
		need_add(
			&lab.needs, "CONFIG_TASK_IO_ACCOUNTING",
			"no read_bytes in /proc/self/io: boot a kernel with CONFIG_TASK_IO_ACCOUNTING=y");
	needs_merge(&lab.needs, &lab.memcg_needs);
	if (needs_any(&lab.needs))
		return skip_all(&lab.needs);
	if (err)
		return bail_out(lab.failure.text);
	return measure();
}

int main(int argc, char **argv)
{
	struct keeper_report report;
	enum exit_code code;

	leveldb_setting_read(argc, argv, &asked);
	if (asked.print_shape) {
		printf("records %" PRIu64 " value %" PRIu64 " table %" PRIu64
		       "\n",
		       asked.shape.records, asked.shape.value,
		       asked.shape.table);
		return ALL_OK;
	}
	/* Whoever started us may ignore these; we wait for children. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	umask(022);
	setvbuf(stdout, NULL, _IOLBF, 0);
	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED) {
		perror("mmap");
		return NOT_OK;
	}
	set_signals(on_signal);
	lab.options = asked.options;
	lab.keeper.sock = -1;
	if (asked.make_only)
		return make_only();
	printf("TAP version 13\n");
	code = in_lab();
	lab_close(&lab, &report);
	if (report.foreign || report.failed)
		print_report(report.text);
	if (fflush(stdout) || ferror(stdout))
		return NOT_OK;
	return code;
}
