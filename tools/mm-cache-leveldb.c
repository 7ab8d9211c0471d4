// SPDX-License-Identifier: GPL-2.0
/*
 * GETs beside SCANs of a real database, LevelDB, in a memcg: what the program
 * get_scan of the suite asks in seconds with one file, as those who run databases
 * know it. It speaks KTAP for mm-cache-compare, and asserts only that what was
 * measured means something: right answers, from the device, by the access asked for.
 */
#include "env.h"
#include "knob.h"
#include "lab.h"
#include "leveldb_run.h"
#include "permille.h"
#include "reclaim.h"
#include "scan.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <leveldb/c.h>
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
#define REPS_MAX 99
#define DROP_TIMEOUT_MS 5000
#define DELAYACCT "/proc/sys/kernel/task_delayacct"
/* The store of the report was so many times its memory. */
#define SIZE_FACTOR 11
/* Tables have an index, and their last blocks are not full. */
#define SPARE_PCT 10
#define FILLER_BYTES (16 * MIB)

enum exit_code { ALL_OK = 0, NOT_OK = 1, ALL_SKIPPED = 4, USAGE = 64 };

enum access_asked { ACCESS_AUTO, ACCESS_MAPPED, ACCESS_PREAD };

static const char *const access_names[] = { "auto", "mapped", "pread" };

static struct {
	struct options options; /* of the environment, and --mem, --reps, ... */
	const struct load_layout *layouts[NR_LOAD_LAYOUTS];
	unsigned int nr_layouts;
	uint64_t size; /* of the database; 0: by the memory */
	struct leveldb_shape shape;
	double zipf;
	uint64_t run;
	double gets; /* to a SCAN; below 0: as the layout says; 0: free */
	enum access_asked access;
	uint64_t block_cache;
	uint64_t window_pct;
	uint64_t measured;
	uint64_t warm_max;
	uint64_t seed;
	const char *database;
	bool make_only, print_shape, quiet;
} asked = {
	.shape = { .value = 1008, .table = 2 * MIB },
	.zipf = 0.99,
	.run = 10000,
	.gets = -1,
	.block_cache = MIB,
	.window_pct = 200,
	.measured = 8,
	.warm_max = 6,
	.seed = 1,
};

static struct lab lab;
static struct leveldb_result *result; /* shared with the children */
static volatile sig_atomic_t stopped;
static volatile pid_t child;

/* ----- options ----- */

enum key {
	KEY_LAYOUTS = 1000,
	KEY_RECLAIM,
	KEY_MEM,
	KEY_SIZE,
	KEY_VALUE,
	KEY_TABLE_SIZE,
	KEY_ZIPF,
	KEY_SCAN_LENGTH,
	KEY_GETS_PER_SCAN,
	KEY_ACCESS,
	KEY_BLOCK_CACHE,
	KEY_WINDOW,
	KEY_MEASURED,
	KEY_WARM_MAX,
	KEY_REPS,
	KEY_SEED,
	KEY_DATABASE,
	KEY_MAKE,
	KEY_PRINT_SHAPE,
};

static const char doc[] =
	"Measures GETs beside SCANs of a LevelDB database in a memcg, with threads.\n"
	"\vLayouts: 1_3 has one thread that SCANs and three that GET, 92.5 GETs to a SCAN;\n"
	"mixed four threads, 99.5 % of the requests are GETs; 1_7 one and seven, 237.2\n"
	"GETs to a SCAN.\n"
	"\n"
	"Each repetition has a fresh copy of the database, verified absent from the\n"
	"cache, in a fresh memcg without swap. Time is logical: a window ends after so\n"
	"many GETs that with the SCANs beside them --window percent of the memory are\n"
	"asked for. The warm-up ends when the shares of GETs that missed in two successive\n"
	"windows differ by less than 3 points, or after --warm-max windows, which is told.\n"
	"\n"
	"A GET misses when its thread read from the device for it. Waits are those for\n"
	"block devices by the kernel's delay accounting, which is switched on meanwhile.\n"
	"Throughput is by the clock, waits for the other side's turn included.\n"
	"\n"
	"LevelDB maps the first 1000 tables that it opens, and reads others by pread().\n"
	"--access=pread uses these mappings up by tables of another database; mapped wants\n"
	"at most 1000 tables. What each run really had is told, and a run that had not\n"
	"what was asked for is inconclusive.\n"
	"\n"
	"A database needs disk space twice, for the copy: in TMPDIR (/var/tmp), on a loop\n"
	"device with direct I/O, or in MM_CACHE_DIR or on MM_CACHE_DEV. These and\n"
	"MM_CACHE_MEM, _RECLAIM, _REPS, _FS, _BLOCK_SIZE, _MOUNT and _READ_AHEAD_KB mean\n"
	"what they mean to the tests; options win.\n"
	"\n"
	"  mm-cache-leveldb --layouts=1_3 --reclaim=mglru\n"
	"  mm-cache-leveldb --mem=2560M --size=28G --database=/data/db\n"
	"\n"
	"Exit status:\n"
	"  0   all was measured\n"
	"  1   not ok: a wrong answer, an error, an OOM kill; or it was stopped\n"
	"  4   nothing could be measured: the reasons are printed\n"
	"  64  wrong usage\n";

static const struct argp_option option_list[] = {
	{ NULL, 0, NULL, 0, "The requests:", 1 },
	{ "layouts", KEY_LAYOUTS, "A,B", 0, "1_3, mixed, 1_7 (all)", 1 },
	{ "gets-per-scan", KEY_GETS_PER_SCAN, "N", 0,
	  "Hold this ratio, or free: each as fast as it can, not of mixed (the layout's)",
	  1 },
	{ "scan-length", KEY_SCAN_LENGTH, "N", 0, "Records of a SCAN (10000)",
	  1 },
	{ "zipf", KEY_ZIPF, "X", 0,
	  "Exponent of the popularity of GET's keys, 0: all alike (0.99)", 1 },
	{ "seed", KEY_SEED, "N", 0,
	  "Decides which keys; repetition i has N + i - 1 (1)", 1 },
	{ NULL, 0, NULL, 0, "The database:", 2 },
	{ "size", KEY_SIZE, "SIZE", 0, "Of all records (11 times the memory)",
	  2 },
	{ "value", KEY_VALUE, "BYTES", 0,
	  "Of a value, a multiple of 8; keys have 16 (1008)", 2 },
	{ "table-size", KEY_TABLE_SIZE, "SIZE", 0, "Of a table, 1M to 1G (2M)",
	  2 },
	{ "block-cache", KEY_BLOCK_CACHE, "SIZE", 0, "LevelDB's own (1M)", 2 },
	{ "access", KEY_ACCESS, "HOW", 0,
	  "auto (as LevelDB does), mapped or pread", 2 },
	{ "database", KEY_DATABASE, "DIR", 0,
	  "Make it in DIR and keep it, or take what is there (made anew each time)",
	  2 },
	{ "make", KEY_MAKE, NULL, 0, "Make --database, measure nothing", 2 },
	{ "print-shape", KEY_PRINT_SHAPE, NULL, 0,
	  "Say what the database would be, in a line, and stop", 2 },
	{ NULL, 0, NULL, 0, "What is measured:", 3 },
	{ "reclaim", KEY_RECLAIM, "R", 0, "classic or mglru (both)", 3 },
	{ "mem", KEY_MEM, "SIZE", 0, "Limit of the memcg, 32M to 64G (64M)",
	  3 },
	{ "window", KEY_WINDOW, "PERCENT", 0,
	  "Of the memory, asked for in a window (200)", 3 },
	{ "measured", KEY_MEASURED, "N", 0, "Windows that are measured (8)",
	  3 },
	{ "warm-max", KEY_WARM_MAX, "N", 0, "Windows of a warm-up, at most (6)",
	  3 },
	{ "reps", KEY_REPS, "N", 0, "Repetitions, 1 to 99 (1)", 3 },
	{ "quiet", 'q', NULL, 0, "No progress", 3 },
	{ 0 },
};

static uint64_t number_of(const char *name, const char *arg, uint64_t min,
			  uint64_t max, struct argp_state *state)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno || n < min || n > max)
		argp_error(state, "--%s=%s: must be %" PRIu64 " to %" PRIu64,
			   name, arg, min, max);
	return n;
}

static uint64_t size_of(const char *name, const char *arg, uint64_t min,
			uint64_t max, struct argp_state *state)
{
	uint64_t bytes = 0;

	if (size_parse(arg, &bytes) || bytes < min || bytes > max)
		argp_error(state,
			   "--%s=%s: must be a size such as 64M, %" PRIu64
			   "K to %" PRIu64 "M",
			   name, arg, min / 1024, max / MIB);
	return bytes;
}

static double real_of(const char *name, const char *arg, double max,
		      struct argp_state *state)
{
	char *end;
	double x = strtod(arg, &end);

	if (*arg < '0' || *arg > '9' || *end || !(x <= max))
		argp_error(state, "--%s=%s: must be 0 to %g", name, arg, max);
	return x;
}

static void take_layouts(char *arg, struct argp_state *state)
{
	char *list = strdup(arg), *rest, *name;

	asked.nr_layouts = 0;
	for (name = strtok_r(list, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		const struct load_layout *l = load_layout_by_name(name);

		for (unsigned int i = 0; i < asked.nr_layouts; i++)
			if (asked.layouts[i] == l)
				l = NULL;
		if (!l) {
			argp_error(
				state,
				"--layouts=%s: '%s' is none, or is there twice: there are 1_3, mixed and 1_7",
				arg, name);
			break;
		}
		asked.layouts[asked.nr_layouts++] = l;
	}
	free(list);
	if (!asked.nr_layouts)
		argp_error(state, "--layouts: none given");
}

static void take_access(const char *arg, struct argp_state *state)
{
	for (int i = ACCESS_AUTO; i <= ACCESS_PREAD; i++)
		if (!strcmp(arg, access_names[i])) {
			asked.access = i;
			return;
		}
	argp_error(state, "--access=%s: must be auto, mapped or pread", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_LAYOUTS:
		take_layouts(arg, state);
		return 0;
	case KEY_GETS_PER_SCAN:
		if (!strcmp(arg, "free"))
			asked.gets = 0;
		else
			asked.gets = real_of("gets-per-scan", arg, 1e6, state);
		if (strcmp(arg, "free") && asked.gets < 1)
			argp_error(
				state,
				"--gets-per-scan=%s: must be 1 to 1e+06, or free",
				arg);
		return 0;
	case KEY_SCAN_LENGTH:
		asked.run = number_of("scan-length", arg, 1, 100000000, state);
		return 0;
	case KEY_ZIPF:
		asked.zipf = real_of("zipf", arg, 10, state);
		return 0;
	case KEY_SEED:
		asked.seed = number_of("seed", arg, 0, UINT32_MAX, state);
		return 0;
	case KEY_SIZE:
		asked.size = size_of("size", arg, MIB, MIB * MIB, state);
		return 0;
	case KEY_VALUE:
		asked.shape.value =
			number_of("value", arg, 8, LEVELDB_VALUE_MAX, state);
		if (asked.shape.value % 8)
			argp_error(state, "--value=%s: must be a multiple of 8",
				   arg);
		return 0;
	case KEY_TABLE_SIZE:
		asked.shape.table =
			size_of("table-size", arg, MIB, 1024 * MIB, state);
		return 0;
	case KEY_BLOCK_CACHE:
		asked.block_cache =
			size_of("block-cache", arg, 0, 64 * 1024 * MIB, state);
		return 0;
	case KEY_ACCESS:
		take_access(arg, state);
		return 0;
	case KEY_DATABASE:
		asked.database = arg;
		return 0;
	case KEY_MAKE:
		asked.make_only = true;
		return 0;
	case KEY_PRINT_SHAPE:
		asked.print_shape = true;
		return 0;
	case KEY_RECLAIM:
		if (reclaim_by_name(arg, &asked.options.reclaim))
			argp_error(state,
				   "--reclaim=%s: must be classic or mglru",
				   arg);
		return 0;
	case KEY_MEM:
		asked.options.mem_bytes =
			size_of("mem", arg, 32 * MIB, 64 * 1024 * MIB, state);
		asked.options.machine = false;
		return 0;
	case KEY_WINDOW:
		asked.window_pct = number_of("window", arg, 1, 100000, state);
		return 0;
	case KEY_MEASURED:
		asked.measured = number_of("measured", arg, 1, 100000, state);
		return 0;
	case KEY_WARM_MAX:
		asked.warm_max = number_of("warm-max", arg, 2, 100000, state);
		return 0;
	case KEY_REPS:
		asked.options.reps = number_of("reps", arg, 1, REPS_MAX, state);
		return 0;
	case 'q':
		asked.quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: not an option", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static uint64_t record_bytes(void)
{
	return LEVELDB_KEY_BYTES + asked.shape.value;
}

/* What only all options together tell; a sentence, or NULL. */
static const char *check_options(void)
{
	static char why[200];

	if (!asked.nr_layouts)
		for (int i = 0; i < NR_LOAD_LAYOUTS; i++)
			asked.layouts[asked.nr_layouts++] = &load_layouts[i];
	if (!asked.options.reps)
		asked.options.reps = 1;
	if (!asked.size)
		asked.size = SIZE_FACTOR * asked.options.mem_bytes;
	asked.shape.records = asked.size / record_bytes();
	if (asked.options.machine)
		return "MM_CACHE_MEM=machine: LevelDB is measured in a memcg: give a size";
	if (asked.make_only && !asked.database)
		return "--make: needs --database=DIR";
	for (unsigned int i = 0; !asked.gets && i < asked.nr_layouts; i++)
		if (asked.layouts[i]->mixed)
			return "--gets-per-scan=free: not of mixed: give --layouts=1_3,1_7";
	if (asked.shape.records < asked.run || asked.shape.records < 1000) {
		snprintf(why, sizeof(why),
			 "--size=%" PRIu64 "K holds %" PRIu64
			 " records: must be 1000, and --scan-length=%" PRIu64
			 ", or more",
			 asked.size / 1024, asked.shape.records, asked.run);
		return why;
	}
	if (asked.access == ACCESS_MAPPED &&
	    asked.size / asked.shape.table > LEVELDB_MAPS) {
		snprintf(
			why, sizeof(why),
			"--access=mapped: about %" PRIu64
			" tables, and LevelDB maps %d: give a larger --table-size",
			asked.size / asked.shape.table, LEVELDB_MAPS);
		return why;
	}
	return NULL;
}

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

static int remove_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return failure_note(&lab.failure, -errno, "open %s", path);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dirfd(dir), entry->d_name, 0))
			err = failure_note(&lab.failure, -errno,
					   "remove %s of %s", entry->d_name,
					   path);
	closedir(dir);
	return err;
}

/* @dir gets its name when it is whole: until then it is the keeper's. */
static int make_kept(const char *dir)
{
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s.new", dir) >= (int)sizeof(path))
		return failure_note(&lab.failure, -ENAMETOOLONG, "%s", dir);
	err = make_dir(path);
	if (err)
		return err;
	err = in_child(make_work, path);
	if (!err && rename(path, dir))
		err = failure_note(&lab.failure, -errno, "rename %s to %s",
				   path, dir);
	if (err) {
		remove_files(path);
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

static int drop_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return failure_note(&lab.failure, -errno, "open %s", path);
	while (!err && (entry = readdir(dir)))
		if (entry->d_type == DT_REG)
			err = drop_file(dirfd(dir), entry->d_name);
	closedir(dir);
	return err;
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
		.record = record_bytes(),
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
	int err;

	memcg_stat_none(stat);
	err = in_child(copy_work, &files);
	if (!err)
		err = drop_files(copy);
	if (!err)
		err = make_memcg(&trial.memcg);
	if (err)
		return err;
	set_up(&trial, layout, rep);
	err = in_child(run_work, &trial);
	memcg_read(&trial.memcg, stat);
	memcg_remove(trial.memcg.path);
	if (remove_files(copy) && !err)
		err = lab.failure.err;
	return err;
}

/* ----- what it gave ----- */

enum figure {
	FIG_WRONG,
	FIG_READ,
	FIG_OPS,
	FIG_GET_RATE,
	FIG_SCAN_RATE,
	FIG_GET_MISS,
	FIG_SCAN_MISS,
	FIG_GET_WAIT,
	FIG_SCAN_WAIT,
	FIG_GET_READ,
	FIG_GET_FAULTS,
	FIG_SCAN_FAULTS,
	FIG_PER_SCAN,
	FIG_REFAULTS,
	FIG_ACTIVATIONS,
	FIG_MAPPED,
	FIG_ANON,
	FIG_WARM_UP,
	FIG_SETTLED,
	FIG_TIME,
	NR_FIGURES
};

/*
 * Printed, with a bound if there is one. Of GETs and SCANs: "read" is from the
 * device. SCANs miss by the bytes read of those that they asked for, which may be
 * more than all, for what is read ahead, evicted, and read again counts twice.
 */
static const struct {
	const char *name;
	const char *unit;
	const char *bound;
} figures[NR_FIGURES] = {
	[FIG_WRONG] = { "wrong_answers", "answers", "<=0" },
	[FIG_READ] = { "read", "KiB", ">=1" },
	[FIG_OPS] = { "throughput", "ops/s" },
	[FIG_GET_RATE] = { "get_throughput", "GETs/s" },
	[FIG_SCAN_RATE] = { "scan_throughput", "records/s" },
	[FIG_GET_MISS] = { "get_miss", "permille" },
	[FIG_SCAN_MISS] = { "scan_miss", "permille" },
	[FIG_GET_WAIT] = { "get_wait", "us" },
	[FIG_SCAN_WAIT] = { "scan_wait", "us" },
	[FIG_GET_READ] = { "get_read", "bytes" },
	[FIG_GET_FAULTS] = { "get_faults_per_1000", "faults" },
	[FIG_SCAN_FAULTS] = { "scan_faults", "faults" },
	[FIG_PER_SCAN] = { "gets_per_1000_scans", "GETs" },
	[FIG_REFAULTS] = { "refaults", "pages" },
	[FIG_ACTIVATIONS] = { "activations", "pages" },
	[FIG_MAPPED] = { "tables_mapped", "permille" },
	[FIG_ANON] = { "anon", "KiB" },
	[FIG_WARM_UP] = { "warm_up", "windows" },
	[FIG_SETTLED] = { "warm_up_ended_by_rule", "times" },
	[FIG_TIME] = { "time", "ms" },
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

static void take_figures(const struct leveldb_result *r, bool waits,
			 int64_t v[NR_FIGURES])
{
	const struct load_tally *t = &r->tally;
	double s = (double)r->ns / 1e9, gets = (double)t->gets;
	double scanned = (double)t->scanned,
	       scans = scanned / (double)asked.run;
	double tick_us = 1e6 / (double)sysconf(_SC_CLK_TCK);

	v[FIG_WRONG] = (int64_t)t->wrong;
	v[FIG_READ] = (int64_t)((t->get_bytes + t->scan_bytes) / 1024);
	v[FIG_OPS] = per(gets + scans, s);
	v[FIG_GET_RATE] = per(gets, s);
	v[FIG_SCAN_RATE] = per(scanned, s);
	v[FIG_GET_MISS] = permille(t->get_misses, t->gets);
	v[FIG_SCAN_MISS] = per(1000.0 * (double)t->scan_bytes,
			       scanned * (double)record_bytes());
	v[FIG_GET_WAIT] = per((double)t->get_ticks * tick_us, gets);
	v[FIG_SCAN_WAIT] = per((double)t->scan_ticks * tick_us, scans);
	if (!waits) {
		v[FIG_GET_WAIT] = NOT_MEASURED;
		v[FIG_SCAN_WAIT] = NOT_MEASURED;
	}
	v[FIG_GET_READ] = per((double)t->get_bytes, gets);
	v[FIG_GET_FAULTS] = per(1000.0 * (double)t->get_faults, gets);
	v[FIG_SCAN_FAULTS] = per((double)t->scan_faults, scans);
	v[FIG_PER_SCAN] = per(1000.0 * gets, scans);
	v[FIG_REFAULTS] = grown(r->before.refault_file, r->after.refault_file);
	v[FIG_ACTIVATIONS] =
		grown(r->before.activate_file, r->after.activate_file);
	v[FIG_MAPPED] = permille(r->mapped, r->tables);
	v[FIG_ANON] = r->after.anon_bytes / 1024;
	v[FIG_WARM_UP] = r->warm;
	v[FIG_SETTLED] = r->settled;
	v[FIG_TIME] = (int64_t)(r->ns / 1000000);
}

static void print_figures(const char *label, unsigned int reps,
			  int64_t values[NR_FIGURES][REPS_MAX])
{
	for (int f = 0; f < NR_FIGURES; f++) {
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

/* Why a repetition tells nothing, if it does. */
static const char *doubt_of(const struct leveldb_result *r)
{
	const char *access = load_access_name(r->mapped, r->tables);
	const struct load_tally *t = &r->tally;

	if (!t->get_bytes && !t->scan_bytes)
		return "nothing was read from the device";
	if (asked.access != ACCESS_AUTO &&
	    strcmp(access, access_names[asked.access]))
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
	static int64_t values[NR_FIGURES][REPS_MAX];
	const char *filler = asked.access == ACCESS_PREAD ? paths->filler :
							    NULL;
	static char skip[200];
	const char *doubt = NULL;
	struct memcg_stat stat;

	for (unsigned int rep = 0; rep < asked.options.reps; rep++) {
		int64_t v[NR_FIGURES];
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
		take_figures(result, waits, v);
		for (int f = 0; f < NR_FIGURES; f++)
			values[f][rep] = v[f];
		doubt = doubt ? doubt : doubt_of(result);
		printf("# access %s: %s, %" PRIu64 " of %" PRIu64
		       " tables are mapped\n",
		       label, load_access_name(result->mapped, result->tables),
		       result->mapped, result->tables);
	}
	print_figures(label, asked.options.reps, values);
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
	printf("# env leveldb %d.%d\n", leveldb_major_version(),
	       leveldb_minor_version());
	printf("# env database %" PRIu64 " records of %d + %" PRIu64
	       " bytes, tables of %" PRIu64 " KiB\n",
	       asked.shape.records, LEVELDB_KEY_BYTES, asked.shape.value,
	       asked.shape.table / 1024);
	printf("# env block_cache %" PRIu64 " KiB\n", asked.block_cache / 1024);
	printf("# env access %s\n", access_names[asked.access]);
	printf("# env zipf %g\n", asked.zipf);
	printf("# env scan_length %" PRIu64 "\n", asked.run);
	if (asked.gets < 0)
		printf("# env gets_per_scan the layout's\n");
	else if (asked.gets > 0)
		printf("# env gets_per_scan %g\n", asked.gets);
	else
		printf("# env gets_per_scan free\n");
	printf("# env windows %" PRIu64 " %% of the memory, %" PRIu64
	       " after a warm-up of at most %" PRIu64 "\n",
	       asked.window_pct, asked.measured, asked.warm_max);
	printf("# env seed %" PRIu64 "\n", asked.seed);
	printf("# env delay_accounting %s\n",
	       waits ? "on" :
		       "off: no waits, this kernel lacks CONFIG_TASK_DELAY_ACCT or " DELAYACCT
		       " (5.14)");
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
	bool waits = !keeper_knob(&lab.keeper, DELAYACCT, "1");
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
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.doc = doc,
	};
	struct keeper_report report;
	enum exit_code code;
	const char *wrong;
	char why[600];

	argp_err_exit_status = USAGE;
	if (options_read(&asked.options, why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
		return USAGE;
	}
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	wrong = check_options();
	if (wrong) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name,
			wrong);
		return USAGE;
	}
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
