// SPDX-License-Identifier: GPL-2.0
/* What the kernel says in text: knobs, memory.stat, mountinfo, lru_gen. */
#include "unit.h"

#include "env.h"
#include "failure.h"
#include "foreign_link.h"
#include "keeper.h"
#include "knob.h"
#include "memcg.h"
#include "mountinfo.h"
#include "need.h"
#include "options.h"
#include "reclaim.h"
#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof(*(array)))

/* Stand for the kernel's while a test runs. */
static const char *const run_only[] = { "/run", NULL };
static const char *const run_and_proc[] = { "/run", "/proc", NULL };
static const char *const run_and_mm[] = { "/run", "/sys/kernel/mm", NULL };

static void test_keyed_u64(void)
{
	static const char text[] = "cache 8192\n"
				   "pgscan_kswapd 11\n"
				   "workingset_refault_file 3\n"
				   "pgscan 22\n"
				   "total_cache 1\n"
				   "read_bytes: 4096\n"
				   "MemAvailable:   12345 kB\n"
				   "max max\n"
				   "negative -5\n"
				   "hex 0x10\n"
				   "empty\n"
				   "blank \t\nbig 18446744073709551615\n"
				   "bigger 18446744073709551616\n"
				   "trailing 7x\n"
				   "twice 1\n"
				   "twice 2\n"
				   "last 9";
	static const struct {
		const char *key;
		int err;
		uint64_t value;
	} cases[] = {
		{ "cache", 0, 8192 },
		/* A key is a whole word, wherever longer ones stand. */
		{ "pgscan", 0, 22 },
		{ "pgscan_kswapd", 0, 11 },
		{ "refault_file", -ENOENT, 0 },
		{ "workingset_refault", -ENOENT, 0 },
		{ "read_bytes", 0, 4096 },
		{ "MemAvailable", 0, 12345 },
		{ "max", -EINVAL, 0 },
		{ "negative", -EINVAL, 0 },
		{ "hex", 0, 16 },
		{ "blank", -EINVAL, 0 },
		{ "empty", -ENOENT, 0 },
		{ "big", 0, UINT64_MAX },
		{ "bigger", -ERANGE, 0 },
		{ "trailing", -EINVAL, 0 },
		{ "twice", 0, 1 },
		/* No newline at the end of the text. */
		{ "last", 0, 9 },
		{ "missing", -ENOENT, 0 },
	};
	uint64_t value;

	for (size_t i = 0; i < LEN(cases); i++) {
		value = 77;
		unit_case("%s", cases[i].key);
		if (IS(keyed_u64(text, cases[i].key, &value), cases[i].err) &&
		    !cases[i].err)
			IS(value, cases[i].value);
	}
	unit_case("no text");
	IS(keyed_u64("", "cache", &value), -ENOENT);
	IS(keyed_u64("\n\n", "cache", &value), -ENOENT);
}

static void test_knob_read(void)
{
	char buf[8];
	char one[1];
	uint64_t value;

	unit_private(run_only);
	IS(knob_read("/run/knob", buf, sizeof(buf)), -ENOENT);
	unit_write("/run/knob", "abc\n");
	IS(knob_read("/run/knob", buf, sizeof(buf)), 3);
	IS_TEXT(buf, "abc");
	unit_write("/run/knob", "abc");
	IS(knob_read("/run/knob", buf, sizeof(buf)), 3);
	IS_TEXT(buf, "abc");
	unit_write("/run/knob", "");
	IS(knob_read("/run/knob", buf, sizeof(buf)), 0);
	IS_TEXT(buf, "");
	IS(knob_read_u64("/run/knob", &value), -EINVAL);
	unit_write("/run/knob", "a\nb\n\n");
	IS(knob_read("/run/knob", buf, sizeof(buf)), 4);
	IS_TEXT(buf, "a\nb\n");
	unit_write("/run/knob", "0123456789");
	IS(knob_read("/run/knob", buf, sizeof(buf)), 7);
	IS_TEXT(buf, "0123456");
	IS(knob_read("/run/knob", one, sizeof(one)), 0);
	IS(one[0], 0);
	IS(knob_read("/run", buf, sizeof(buf)), -EISDIR);
}

static void test_knob_u64(void)
{
	static const struct {
		const char *text;
		int err;
		uint64_t value;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ "128\n", 0, 128 },
		{ "0x0007\n", 0, 7 },
		{ " \t12\n", 0, 12 },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", -ERANGE, 0 },
		{ "max\n", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "[always] never\n", -EINVAL, 0 },
		{ "12 34\n", 0, 12 },
		{ "1x\n", -EINVAL, 0 },
	};
	char buf[32];
	uint64_t value;

	unit_private(run_only);
	for (size_t i = 0; i < LEN(cases); i++) {
		unit_write("/run/knob", cases[i].text);
		unit_case("\"%.*s\"", (int)strcspn(cases[i].text, "\n"),
			  cases[i].text);
		if (IS(knob_read_u64("/run/knob", &value), cases[i].err) &&
		    !cases[i].err)
			IS(value, cases[i].value);
	}
	unit_case("write");
	unit_write("/run/knob", "");
	IS(knob_write_u64("/run/knob", UINT64_MAX), 0);
	IS(knob_read("/run/knob", buf, sizeof(buf)), 20);
	IS_TEXT(buf, "18446744073709551615");
	/* A knob that is not there is never made. */
	IS(knob_write("/run/none", "1"), -ENOENT);
	IS(access("/run/none", F_OK), -1);
	IS(knob_write("/dev/full", "1"), -ENOSPC);
}

static const char stat_v1[] = "cache 268435456\n"
			      "rss 1310720\n"
			      "rss_huge 0\n"
			      "shmem 0\n"
			      "mapped_file 16384\n"
			      "dirty 0\n"
			      "writeback 0\n"
			      "workingset_refault_anon 1\n"
			      "workingset_refault_file 31337\n"
			      "workingset_activate_anon 2\n"
			      "workingset_activate_file 4711\n"
			      "pgpgin 70000\n"
			      "pgpgout 6000\n"
			      "inactive_anon 1310720\n"
			      "active_file 8192\n"
			      "hierarchical_memory_limit 67108864\n"
			      "total_cache 999\n"
			      "total_rss 999\n"
			      "total_workingset_refault_file 999\n";

static const char stat_v2[] = "anon 1310720\n"
			      "file 61865984\n"
			      "kernel 917504\n"
			      "anon_thp 0\n"
			      "file_mapped 0\n"
			      "file_dirty 0\n"
			      "inactive_file 12345\n"
			      "workingset_refault_anon 1\n"
			      "workingset_refault_file 16000\n"
			      "workingset_activate_file 42\n"
			      "pgscan 90001\n"
			      "pgsteal 90000\n"
			      "pgscan_kswapd 5\n"
			      "pgscan_direct 6\n"
			      "pgsteal_kswapd 7\n"
			      "pgfault 8\n";

static void test_memcg_pressure_parse(void)
{
	IS(memcg_pressure_parse(
		   "some avg10=1.00 avg60=0.20 avg300=0.00 total=12345\n"
		   "full avg10=0.00 avg60=0.00 avg300=0.00 total=678\n"),
	   12345);
	IS(memcg_pressure_parse("full avg10=0.00 total=678\n"), -1);
	IS(memcg_pressure_parse("some avg10=0.00 avg60=0.00\n"), -1);
	IS(memcg_pressure_parse(""), -1);
}

static void test_memcg_stat_parse(void)
{
	struct memcg_stat s;

	memset(&s, 0x55, sizeof(s));
	unit_case("v1");
	memcg_stat_parse(stat_v1, &s);
	IS(s.refault_file, 31337);
	IS(s.activate_file, 4711);
	IS(s.scanned, -1);
	IS(s.stolen, -1);
	IS(s.anon_bytes, 1310720);
	IS(s.file_bytes, 268435456);

	memset(&s, 0x55, sizeof(s));
	unit_case("v2");
	memcg_stat_parse(stat_v2, &s);
	IS(s.refault_file, 16000);
	IS(s.activate_file, 42);
	IS(s.scanned, 90001);
	IS(s.stolen, 90000);
	IS(s.anon_bytes, 1310720);
	IS(s.file_bytes, 61865984);

	memset(&s, 0x55, sizeof(s));
	unit_case("vmstat");
	memcg_stat_parse(
		"workingset_refault_file 7\nworkingset_activate_file 5\n"
		"pgscan_kswapd 80\npgscan_direct 20\npgscan_anon 30\n"
		"pgscan_file 70\npgsteal_anon 1\npgsteal_file 60\n",
		&s);
	IS(s.refault_file, 7);
	IS(s.activate_file, 5);
	IS(s.scanned, 100);
	IS(s.stolen, 61);
	IS(s.anon_bytes, -1);

	memset(&s, 0x55, sizeof(s));
	unit_case("empty");
	memcg_stat_parse("", &s);
	IS(s.refault_file, -1);
	IS(s.anon_bytes, -1);
	IS(s.file_bytes, -1);
}

static void expect_file(const char *path, const char *want)
{
	char text[64];
	int len = knob_read(path, text, sizeof(text));

	unit_case("%s", path);
	if (IS(len < 0 ? len : 0, 0))
		IS_TEXT(text, want);
	unit_case("%s", "");
}

static void test_memcg_v2_files(void)
{
	struct memcg m = { .flavour = MEMCG_V2, .path = "/run/m" };
	struct memcg_stat s;
	char text[128];
	struct memcg child;

	unit_private(run_only);
	IS(memcg_make(&m), 0);
	IS(memcg_make(&m), -EEXIST);
	IS(memcg_child(&m, "trial", &child), 0);
	IS(child.flavour, MEMCG_V2);
	IS_TEXT(child.path, "/run/m/trial");

	/* Without swap accounting there is no memory.swap.max. */
	unit_write("/run/m/memory.max", "max");
	IS(memcg_limit(&m, 67108864, 0), 0);
	expect_file("/run/m/memory.max", "67108864");
	IS(memcg_limit(&m, 67108864, 22369621), -ENOENT);
	unit_write("/run/m/memory.high", "max");
	unit_write("/run/m/memory.swap.max", "max");
	IS(memcg_limit(&m, 67108864, 22369621), 0);
	expect_file("/run/m/memory.high", "22369621");
	/* A plain file keeps what a shorter write does not reach. */
	expect_file("/run/m/memory.swap.max", "0ax");

	unit_write("/run/m/cgroup.procs", "");
	IS(memcg_enter(&m, 4321), 0);
	expect_file("/run/m/cgroup.procs", "4321");

	IS(memcg_read(&m, &s), -ENOENT);
	unit_write("/run/m/memory.stat", stat_v2);
	unit_write("/run/m/memory.events",
		   "low 0\nhigh 12\nmax 34\noom 2\noom_kill 1\n"
		   "oom_group_kill 0\n");
	IS(memcg_read(&m, &s), 0);
	IS(s.oom_kills, 1);
	IS_TEXT(memcg_oom_text(MEMCG_V2, &s, text, sizeof(text)),
		"memory.events: max 34, oom 2, oom_kill 1");
	IS(s.refault_file, 16000);
	IS(s.usage_bytes, -1);
	unit_write("/run/m/memory.current", "65011712\n");
	IS(memcg_read(&m, &s), 0);
	IS(s.usage_bytes, 65011712);
}

static void test_memcg_v1_files(void)
{
	struct memcg m = { .flavour = MEMCG_V1, .path = "/run/m" };
	struct memcg_stat s;
	char text[128];
	char path[64];

	unit_private(run_only);
	IS(memcg_make(&m), 0);
	IS(memcg_limit(&m, 67108864, 0), -ENOENT);
	unit_write("/run/m/memory.limit_in_bytes", "");
	unit_write("/run/m/memory.swappiness", "60\n");
	IS(memcg_limit(&m, 67108864, 1), -EOPNOTSUPP);
	expect_file("/run/m/memory.limit_in_bytes", "");
	IS(memcg_limit(&m, 67108864, 0), 0);
	expect_file("/run/m/memory.limit_in_bytes", "67108864");
	expect_file("/run/m/memory.swappiness", "00");

	IS(memcg_delegates(&m), true);
	IS(memcg_subtree_knob(&m, path, sizeof(path)), -ENODEV);

	unit_write("/run/m/memory.stat", stat_v1);
	unit_write("/run/m/memory.usage_in_bytes", "67096576\n");
	unit_write("/run/m/memory.failcnt", "77\n");
	unit_write("/run/m/memory.oom_control",
		   "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
	IS(memcg_read(&m, &s), 0);
	IS(s.oom_kills, 3);
	IS_TEXT(memcg_oom_text(MEMCG_V1, &s, text, sizeof(text)),
		"memory.failcnt: 77, memory.oom_control: oom_kill 3");
	IS(s.usage_bytes, 67096576);
	IS(s.file_bytes, 268435456);
}

static void test_memcg_delegates(void)
{
	static const struct {
		const char *controllers;
		bool want;
	} cases[] = {
		{ "", false },
		{ "memory\n", true },
		{ "cpuset cpu io memory hugetlb pids\n", true },
		{ "cpu memory_recursive pids\n", false },
		{ "cpu my_memory pids\n", false },
		{ "cpu memory", true },
	};
	struct memcg m = { .flavour = MEMCG_V2, .path = "/run" };
	char path[64];

	unit_private(run_only);
	IS(memcg_delegates(&m), false);
	IS(memcg_subtree_knob(&m, path, sizeof(path)), 0);
	IS_TEXT(path, "/run/cgroup.subtree_control");
	for (size_t i = 0; i < LEN(cases); i++) {
		unit_write(path, cases[i].controllers);
		unit_case("\"%s\"", cases[i].controllers);
		IS(memcg_delegates(&m), cases[i].want);
	}
}

/* The mounts of a machine, with its cgroups below /run. */
static const char root_mount[] =
	"22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
	"23 22 0:22 / /proc rw,nosuid - proc none rw\n";
static const char v1_mounts[] =
	"30 22 0:26 / /run/cg/cpu rw - cgroup none rw,cpu,cpuacct\n"
	"31 22 0:27 / /run/cg/my_memory rw - cgroup none rw,name=memory_x\n"
	"32 22 0:28 / /run/cg/memory rw shared:9 - cgroup none rw,memory\n";
static const char v2_mount[] =
	"40 22 0:29 / /run/cg/unified rw shared:4 master:7 - cgroup2 none rw,nsdelegate\n";
static const char blank_mount[] =
	"41 22 0:30 / /run/a\\040b\\011c\\134d rw - cgroup2 none rw\n";

static void show_mounts(const char *a, const char *b, const char *c)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s%s%s", a, b, c);
	mkdir("/proc/self", 0755);
	unit_write("/proc/self/mountinfo", text);
}

static bool count_all(const struct mount_entry *m, void *arg)
{
	unsigned int *nr = arg;

	IS(m->target && m->fs_type && m->fs_options && m->source, true);
	++*nr;
	return false;
}

static bool is_target(const struct mount_entry *m, void *arg)
{
	return !strcmp(m->target, arg);
}

static void test_mountinfo_find(void)
{
	unsigned int nr = 0;

	unit_private(run_only);
	unit_write("/run/mountinfo", root_mount);
	if (mountinfo_find("/run/mountinfo", count_all, &nr) == -EOPNOTSUPP)
		unit_skip("built without libmount");
	IS(nr, 2);
	IS(mountinfo_find("/run/mountinfo", is_target, "/proc"), 0);
	IS(mountinfo_find("/run/mountinfo", is_target, "/pro"), -ENOENT);
	IS(mountinfo_find("/run/none", is_target, "/"), -ENOENT);
	unit_write("/run/mountinfo", blank_mount);
	IS(mountinfo_find("/run/mountinfo", is_target, "/run/a b\tc\\d"), 0);
	nr = 0;
	unit_write("/run/mountinfo", "");
	IS(mountinfo_find("/run/mountinfo", count_all, &nr), -ENOENT);
	IS(nr, 0);
}

static void test_memcg_find(void)
{
	struct needs needs = { 0 };
	char reason[128];
	struct memcg m;

	unit_private(run_and_proc);
	mkdir("/run/cg", 0755);
	mkdir("/run/cg/unified", 0755);
	mkdir("/run/a b\tc\\d", 0755);

	unit_case("no cgroup mounted");
	show_mounts(root_mount, "", "");
	IS(memcg_find(&m, &needs), -ENOENT);
	if (!strcmp(needs.list[0].what, "libmount"))
		unit_skip("built without libmount");
	IS(m.flavour, MEMCG_NONE);
	IS_TEXT(needs_reason(&needs, reason, sizeof(reason)),
		"need: a memory cgroup controller");

	unit_case("v1 only");
	needs.nr = 0;
	show_mounts(root_mount, v1_mounts, "");
	IS(memcg_find(&m, &needs), 0);
	IS(m.flavour, MEMCG_V1);
	IS_TEXT(m.path, "/run/cg/memory");

	unit_case("v2 only");
	show_mounts(root_mount, v2_mount, "");
	unit_write("/run/cg/unified/cgroup.controllers",
		   "cpuset cpu io memory pids\n");
	IS(memcg_find(&m, &needs), 0);
	IS(m.flavour, MEMCG_V2);
	IS_TEXT(m.path, "/run/cg/unified");

	unit_case("both, the controller with v2");
	show_mounts(root_mount, v2_mount,
		    "30 22 0:26 / /run/cg/cpu rw - cgroup none rw,cpu\n");
	IS(memcg_find(&m, &needs), 0);
	IS(m.flavour, MEMCG_V2);

	unit_case("both, the controller with v1");
	unit_write("/run/cg/unified/cgroup.controllers", "\n");
	show_mounts(root_mount, v2_mount, v1_mounts);
	IS(memcg_find(&m, &needs), 0);
	IS(m.flavour, MEMCG_V1);
	show_mounts(root_mount, v1_mounts, v2_mount);
	IS(memcg_find(&m, &needs), 0);
	IS(m.flavour, MEMCG_V1);

	unit_case("v2 without the controller");
	show_mounts(root_mount, v2_mount, "");
	IS(memcg_find(&m, &needs), -ENOENT);
	IS(m.flavour, MEMCG_NONE);
	needs.nr = 0;

	unit_case("blanks in the path");
	show_mounts(root_mount, blank_mount, "");
	unit_write("/run/a b\tc\\d/cgroup.controllers", "memory\n");
	IS(memcg_find(&m, &needs), 0);
	IS_TEXT(m.path, "/run/a b\tc\\d");
	IS(needs.nr, 0);
}

static void test_mountinfo_fs_of(void)
{
	char type[32] = "";

	unit_private(run_only);
	mkdir("/run/dir", 0755);
	if (mountinfo_fs_of("/run/dir", type, sizeof(type)) == -EOPNOTSUPP)
		unit_skip("built without libmount");
	IS_TEXT(type, "tmpfs");
	IS(mountinfo_fs_of("/proc/self", type, sizeof(type)), 0);
	IS_TEXT(type, "proc");
}

/* What is no directory on a block device of this machine, by its own name. */
static void test_scratch_refuses(void)
{
	static const char *const types[] = {
		"tmpfs", "overlay", "9p", "virtiofs", "nfs4", "fuse.sshfs"
	};
	struct options options = { .fs = "ext4", .dir = "/run/dir" };
	struct failure failure = { 0 };
	struct scratch scratch;
	char want[64];

	unit_private(run_and_proc);
	mkdir("/run/dir", 0755);
	for (size_t i = 0; i < LEN(types); i++) {
		struct needs needs = { 0 };

		unit_case("%s", types[i]);
		snprintf(want, sizeof(want),
			 "40 22 0:29 / /run rw - %s none rw\n", types[i]);
		show_mounts(root_mount, want, "");
		if (mountinfo_fs_of("/run", want, sizeof(want)) == -EOPNOTSUPP)
			unit_skip("built without libmount");
		IS(scratch_open(&scratch, &options, 0, NULL, &needs, &failure),
		   -ENOENT);
		IS(needs.nr, 1);
		IS_TEXT(needs.list[0].what,
			"a scratch directory on a block file system");
		snprintf(want, sizeof(want), "=/run/dir is on %s;", types[i]);
		HAS_TEXT(needs.list[0].detail, want);
	}
}

static void test_foreign_link(void)
{
	static const struct {
		const char *path;
		int want;
	} cases[] = {
		{ "/run", 0 },
		{ "/run/dir", 0 },
		{ "/run/none/at/all", 0 },
		/* Root's own links, and other people's directories, will do. */
		{ "/run/ours", 0 },
		{ "/run/ours/in", 0 },
		{ "/run/theirs", -ENOENT },
		{ "/run/theirs/", -ENOENT },
		{ "/run/theirs/in", -ENOENT },
		{ "/run//theirs/../dir", -ENOENT },
		{ "/run/dir/broken", -ENOENT },
	};
	struct needs needs = { 0 };

	unit_private(run_only);
	mkdir("/run/dir", 0755);
	IS(symlink("dir", "/run/ours"), 0);
	IS(symlink("dir", "/run/theirs"), 0);
	IS(symlink("none", "/run/dir/broken"), 0);
	if (lchown("/run/theirs", 1234, 1234) ||
	    lchown("/run/dir/broken", 1234, 1234) ||
	    lchown("/run/dir", 1234, 1234))
		unit_skip("cannot give a file away: %s", strerror(errno));
	for (size_t i = 0; i < LEN(cases); i++) {
		needs.nr = 0;
		unit_case("%s", cases[i].path);
		IS(foreign_link("TMPDIR", cases[i].path, &needs),
		   cases[i].want);
		IS(needs.nr, !!cases[i].want);
	}
	HAS_TEXT(
		needs.list[0].detail,
		"/run/dir/broken: the symbolic link /run/dir/broken belongs to user 1234");
}

static void test_proactive_reclaim(void)
{
#define SCHEMES "/sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes"
	static const char *const dirs[] = {
		"/sys/kernel/mm/damon",
		"/sys/kernel/mm/damon/admin",
		"/sys/kernel/mm/damon/admin/kdamonds",
		"/sys/kernel/mm/damon/admin/kdamonds/0",
		"/sys/kernel/mm/damon/admin/kdamonds/0/contexts",
		"/sys/kernel/mm/damon/admin/kdamonds/0/contexts/0",
		SCHEMES,
		SCHEMES "/0",
		SCHEMES "/1",
		"/proc/1",
		"/proc/77",
		"/proc/self",
	};
	static const char *const machine[] = { "/proc", "/sys/kernel/mm",
					       "/sys/module", NULL };
	char buf[160];

	unit_private(machine);
	for (size_t i = 0; i < LEN(dirs); i++)
		IS(mkdir(dirs[i], 0755), 0);
	IS(!env_proactive_reclaim(buf, sizeof(buf)), true);
	unit_write("/proc/1/comm", "init\n");
	unit_write("/proc/self/comm", "kdamond.9\n");
	unit_write(SCHEMES "/0/action", "pageout\n");
	IS(!env_proactive_reclaim(buf, sizeof(buf)), true);
	unit_write("/proc/77/comm", "kdamond.0\n");
	IS_TEXT(env_proactive_reclaim(buf, sizeof(buf)),
		"kdamond.0 (DAMON: pageout)");
	/* A thread that only looks on, and one more that does not. */
	unit_write(SCHEMES "/0/action", "stat\n");
	IS(!env_proactive_reclaim(buf, sizeof(buf)), true);
	unit_write(SCHEMES "/1/action", "lru_deprio\n");
	unit_write("/proc/1/comm", "kdamond.12\n");
	HAS_TEXT(env_proactive_reclaim(buf, sizeof(buf)), "kdamond.12");
	HAS_TEXT(buf, "kdamond.0");
	HAS_TEXT(buf, " (DAMON: lru_deprio)");
	/* However little room there is. */
	for (size_t len = 1; len < 30; len++)
		IS(strlen(env_proactive_reclaim(buf, len)), len - 1);
}

static void test_reclaim_names(void)
{
	enum reclaim r;

	IS(reclaim_by_name("classic", &r), 0);
	IS(r, RECLAIM_CLASSIC);
	IS(reclaim_by_name(reclaim_name(RECLAIM_MGLRU), &r), 0);
	IS(r, RECLAIM_MGLRU);
	IS(reclaim_by_name("any", &r), -EINVAL);
	IS(reclaim_by_name("", &r), -EINVAL);
}

#define LRU_GEN "/sys/kernel/mm/lru_gen"

static void test_reclaim_current(void)
{
	static const struct {
		const char *text;
		int err;
		enum reclaim want;
	} cases[] = {
		{ "0x0000\n", 0, RECLAIM_CLASSIC },
		{ "0x0007\n", 0, RECLAIM_MGLRU },
		{ "0x0003\n", 0, RECLAIM_MGLRU },
		/* The other bits without the core are nothing. */
		{ "0x0006\n", 0, RECLAIM_CLASSIC },
		{ "1\n", 0, RECLAIM_MGLRU },
		{ "y\n", -EINVAL, RECLAIM_ANY },
		{ "\n", -EINVAL, RECLAIM_ANY },
	};
	enum reclaim r = RECLAIM_ANY;

	unit_private(run_and_mm);
	unit_case("no lru_gen");
	IS(reclaim_current(&r), 0);
	IS(r, RECLAIM_CLASSIC);
	mkdir(LRU_GEN, 0755);
	for (size_t i = 0; i < LEN(cases); i++) {
		unit_write(LRU_GEN "/enabled", cases[i].text);
		r = RECLAIM_ANY;
		unit_case("%.*s", (int)strcspn(cases[i].text, "\n"),
			  cases[i].text);
		IS(reclaim_current(&r), cases[i].err);
		IS(r, cases[i].want);
	}
}

/* A file has no kernel behind it: a write of "7" over "0" reads back as 7. */
static void test_reclaim_select(void)
{
	struct keeper_report report;
	struct needs needs = { 0 };
	struct keeper keeper;
	char reason[128];
	pid_t holder;

	unit_private(run_and_mm);
	IS(keeper_start(&keeper, keeper_lock(0, &holder), &report), 0);

	unit_case("no lru_gen");
	IS(reclaim_select(RECLAIM_CLASSIC, &keeper, &needs), 0);
	IS(reclaim_select(RECLAIM_ANY, &keeper, &needs), 0);
	IS(needs.nr, 0);
	IS(reclaim_select(RECLAIM_MGLRU, &keeper, &needs), -ENOENT);
	IS_TEXT(needs_reason(&needs, reason, sizeof(reason)),
		"need: CONFIG_LRU_GEN");
	needs.nr = 0;

	unit_case("off, and on again");
	mkdir(LRU_GEN, 0755);
	unit_write(LRU_GEN "/enabled", "7");
	unit_write(LRU_GEN "/min_ttl_ms", "1000");
	IS(reclaim_select(RECLAIM_CLASSIC, &keeper, &needs), 0);
	expect_file(LRU_GEN "/enabled", "0");
	expect_file(LRU_GEN "/min_ttl_ms", "1000");
	/* Eviction must not be forbidden while MGLRU runs. */
	IS(reclaim_select(RECLAIM_MGLRU, &keeper, &needs), 0);
	expect_file(LRU_GEN "/enabled", "7");
	expect_file(LRU_GEN "/min_ttl_ms", "0000");
	IS(reclaim_select(RECLAIM_CLASSIC, &keeper, &needs), 0);
	IS(needs.nr, 0);

	unit_case("a switch that does nothing");
	unlink(LRU_GEN "/enabled");
	IS(symlink("/dev/null", LRU_GEN "/enabled"), 0);
	IS(reclaim_select(RECLAIM_MGLRU, &keeper, &needs) < 0, true);
	unlink(LRU_GEN "/enabled");
	unit_write(LRU_GEN "/enabled", "0");

	unit_case("at the end");
	IS(keeper_finish(&keeper, &report), 0);
	IS(report.failed, 0);
	expect_file(LRU_GEN "/enabled", "7");
	expect_file(LRU_GEN "/min_ttl_ms", "1000");
}

const struct unit_test tests_of_texts[] = {
	{ "keyed_u64", test_keyed_u64 },
	{ "knob_read", test_knob_read },
	{ "knob_u64", test_knob_u64 },
	{ "memcg_pressure_parse", test_memcg_pressure_parse },
	{ "memcg_stat_parse", test_memcg_stat_parse },
	{ "memcg_v2_files", test_memcg_v2_files },
	{ "memcg_v1_files", test_memcg_v1_files },
	{ "memcg_delegates", test_memcg_delegates },
	{ "mountinfo_find", test_mountinfo_find },
	{ "memcg_find", test_memcg_find },
	{ "mountinfo_fs_of", test_mountinfo_fs_of },
	{ "scratch_refuses", test_scratch_refuses },
	{ "foreign_link", test_foreign_link },
	{ "proactive_reclaim", test_proactive_reclaim },
	{ "reclaim_names", test_reclaim_names },
	{ "reclaim_current", test_reclaim_current },
	{ "reclaim_select", test_reclaim_select },
	{ 0 },
};
