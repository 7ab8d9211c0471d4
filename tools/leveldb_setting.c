// SPDX-License-Identifier: GPL-2.0
#include "leveldb_setting.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1024 * 1024)
/* The store of the report was so many times its memory. */
#define SIZE_FACTOR 11

static const char *const access_names[] = { "auto", "mapped", "pread" };

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
	"\vLayouts: 1_3 has one thread that SCANs and three that GET, 92.5 GETs to a\n"
	"SCAN; mixed four threads, 99.5 % of the requests are GETs; 1_7 one and seven,\n"
	"237.2 GETs to a SCAN.\n"
	"\n"
	"Each repetition has a fresh copy of the database, verified absent from the\n"
	"cache, in a fresh memcg without swap. Time is logical: a window ends after so\n"
	"many GETs that with the SCANs beside them --window percent of the memory are\n"
	"asked for. The warm-up ends when the shares of GETs that missed in two\n"
	"successive windows differ by less than 3 points, or after --warm-max windows,\n"
	"which is told.\n"
	"\n"
	"A GET misses when its thread read from the device for it. Waits are those for\n"
	"block devices by the kernel's delay accounting, which is switched on\n"
	"meanwhile. Throughput is by the clock, waits for the other side's turn\n"
	"included.\n"
	"\n"
	"LevelDB maps the first 1000 tables that it opens, and reads others by pread().\n"
	"--access=pread uses these mappings up by tables of another database; mapped\n"
	"wants at most 1000 tables. What each run really had is told, and a run that\n"
	"had not what was asked for is inconclusive.\n"
	"\n"
	"A database needs disk space twice, for the copy: in TMPDIR (/var/tmp), on a\n"
	"loop device with direct I/O, or in MM_CACHE_DIR or on MM_CACHE_DEV. These and\n"
	"MM_CACHE_MEM, _RECLAIM, _REPS, _FS, _BLOCK_SIZE, _MOUNT and _READ_AHEAD_KB\n"
	"mean what they mean to the tests; options win.\n"
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
	struct leveldb_setting *asked = state->input;
	char *list = strdup(arg), *rest, *name;

	asked->nr_layouts = 0;
	for (name = strtok_r(list, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		const struct load_layout *l = load_layout_by_name(name);

		for (unsigned int i = 0; i < asked->nr_layouts; i++)
			if (asked->layouts[i] == l)
				l = NULL;
		if (!l) {
			argp_error(
				state,
				"--layouts=%s: '%s' is none, or is there twice: there are 1_3, mixed and 1_7",
				arg, name);
			break;
		}
		asked->layouts[asked->nr_layouts++] = l;
	}
	free(list);
	if (!asked->nr_layouts)
		argp_error(state, "--layouts: none given");
}

static void take_access(const char *arg, struct argp_state *state)
{
	struct leveldb_setting *asked = state->input;

	for (int i = ACCESS_AUTO; i <= ACCESS_PREAD; i++)
		if (!strcmp(arg, access_names[i])) {
			asked->access = i;
			return;
		}
	argp_error(state, "--access=%s: must be auto, mapped or pread", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct leveldb_setting *asked = state->input;

	switch (key) {
	case KEY_LAYOUTS:
		take_layouts(arg, state);
		return 0;
	case KEY_GETS_PER_SCAN:
		if (!strcmp(arg, "free"))
			asked->gets = 0;
		else
			asked->gets = real_of("gets-per-scan", arg, 1e6, state);
		if (strcmp(arg, "free") && asked->gets < 1)
			argp_error(
				state,
				"--gets-per-scan=%s: must be 1 to 1e+06, or free",
				arg);
		return 0;
	case KEY_SCAN_LENGTH:
		asked->run = number_of("scan-length", arg, 1, 100000000, state);
		return 0;
	case KEY_ZIPF:
		asked->zipf = real_of("zipf", arg, 10, state);
		return 0;
	case KEY_SEED:
		asked->seed = number_of("seed", arg, 0, UINT32_MAX, state);
		return 0;
	case KEY_SIZE:
		asked->size = size_of("size", arg, MIB, MIB * MIB, state);
		return 0;
	case KEY_VALUE:
		asked->shape.value =
			number_of("value", arg, 8, LEVELDB_VALUE_MAX, state);
		if (asked->shape.value % 8)
			argp_error(state, "--value=%s: must be a multiple of 8",
				   arg);
		return 0;
	case KEY_TABLE_SIZE:
		asked->shape.table =
			size_of("table-size", arg, MIB, 1024 * MIB, state);
		return 0;
	case KEY_BLOCK_CACHE:
		asked->block_cache =
			size_of("block-cache", arg, 0, 64 * 1024 * MIB, state);
		return 0;
	case KEY_ACCESS:
		take_access(arg, state);
		return 0;
	case KEY_DATABASE:
		asked->database = arg;
		return 0;
	case KEY_MAKE:
		asked->make_only = true;
		return 0;
	case KEY_PRINT_SHAPE:
		asked->print_shape = true;
		return 0;
	case KEY_RECLAIM:
		if (reclaim_by_name(arg, &asked->options.reclaim))
			argp_error(state,
				   "--reclaim=%s: must be classic or mglru",
				   arg);
		return 0;
	case KEY_MEM:
		asked->options.mem_bytes =
			size_of("mem", arg, 32 * MIB, 64 * 1024 * MIB, state);
		asked->options.machine = false;
		return 0;
	case KEY_WINDOW:
		asked->window_pct = number_of("window", arg, 1, 100000, state);
		return 0;
	case KEY_MEASURED:
		asked->measured = number_of("measured", arg, 1, 100000, state);
		return 0;
	case KEY_WARM_MAX:
		asked->warm_max = number_of("warm-max", arg, 2, 100000, state);
		return 0;
	case KEY_REPS:
		asked->options.reps =
			number_of("reps", arg, 1, LEVELDB_REPS_MAX, state);
		return 0;
	case 'q':
		asked->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: not an option", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const char *leveldb_access_name(enum access_asked access)
{
	return access_names[access];
}

uint64_t leveldb_record_bytes(const struct leveldb_setting *asked)
{
	return LEVELDB_KEY_BYTES + asked->shape.value;
}

/* What only all options together tell; a sentence, or NULL. */
static const char *check_options(struct leveldb_setting *asked)
{
	static char why[200];

	if (!asked->nr_layouts)
		for (int i = 0; i < NR_LOAD_LAYOUTS; i++)
			asked->layouts[asked->nr_layouts++] = &load_layouts[i];
	if (!asked->options.reps)
		asked->options.reps = 1;
	if (!asked->size)
		asked->size = SIZE_FACTOR * asked->options.mem_bytes;
	asked->shape.records = asked->size / leveldb_record_bytes(asked);
	if (asked->options.machine)
		return "MM_CACHE_MEM=machine: LevelDB is measured in a memcg: give a size";
	if (asked->make_only && !asked->database)
		return "--make: needs --database=DIR";
	for (unsigned int i = 0; !asked->gets && i < asked->nr_layouts; i++)
		if (asked->layouts[i]->mixed)
			return "--gets-per-scan=free: not of mixed: give --layouts=1_3,1_7";
	if (asked->shape.records < asked->run || asked->shape.records < 1000) {
		snprintf(why, sizeof(why),
			 "--size=%" PRIu64 "K holds %" PRIu64
			 " records: must be 1000, and --scan-length=%" PRIu64
			 ", or more",
			 asked->size / 1024, asked->shape.records, asked->run);
		return why;
	}
	if (asked->access == ACCESS_MAPPED &&
	    asked->size / asked->shape.table > LEVELDB_MAPS) {
		snprintf(
			why, sizeof(why),
			"--access=mapped: about %" PRIu64
			" tables, and LevelDB maps %d: give a larger --table-size",
			asked->size / asked->shape.table, LEVELDB_MAPS);
		return why;
	}
	return NULL;
}

static _Noreturn void wrong_usage(const char *why)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
	exit(LEVELDB_USAGE);
}

void leveldb_setting_read(int argc, char **argv, struct leveldb_setting *asked)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.doc = doc,
	};
	const char *wrong;
	char why[600];

	*asked = (struct leveldb_setting){
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
	argp_err_exit_status = LEVELDB_USAGE;
	if (options_read(&asked->options, why, sizeof(why)))
		wrong_usage(why);
	argp_parse(&argp, argc, argv, 0, NULL, asked);
	wrong = check_options(asked);
	if (wrong)
		wrong_usage(wrong);
}
