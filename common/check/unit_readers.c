// SPDX-License-Identifier: GPL-2.0
/* Reading and counting: readers, scans, hot sets, residency. */
#include "unit.h"

#include "failure.h"
#include "folio.h"
#include "hot_set.h"
#include "other.h"
#include "pattern.h"
#include "reader.h"
#include "residency.h"
#include "scan.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((uint64_t)1024)
#define MIB (KIB * KIB)
#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define SEED 99

/* What a reader was asked for. */
static struct {
	unsigned int nr;
	off_t pos[64];
	size_t len[64];
	off_t fail_at; /* a read that reaches it fails; 0: none */
	unsigned int seen[64]; /* reads of each page */
} asked;

static int record(struct reader *r, off_t pos, size_t len)
{
	uint64_t page = (uint64_t)pos / (uint64_t)sysconf(_SC_PAGESIZE);

	IS_WITHIN(pos, 0, r->size - 1);
	if (asked.nr < LEN(asked.pos)) {
		asked.pos[asked.nr] = pos;
		asked.len[asked.nr] = len;
	}
	asked.nr++;
	if (page < LEN(asked.seen))
		asked.seen[page]++;
	if (asked.fail_at && pos + (off_t)len > asked.fail_at)
		return -EIO;
	return 0;
}

static const struct reader_ops recorder = { .name = "recorder",
					    .read = record };

static struct scratch scratch;

static void make_scratch(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(scratch.dir, sizeof(scratch.dir), "%.200s/unit.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch.dir))
		unit_skip("cannot make %s: %s", scratch.dir, strerror(errno));
}

static void drop_scratch(const char *const *names)
{
	char path[PATH_MAX];

	for (; *names; names++)
		if (!scratch_path(&scratch, *names, path, sizeof(path)))
			unlink(path);
	rmdir(scratch.dir);
}

static const char *const one_file[] = { "f", NULL };

static const char *make_file(uint64_t bytes)
{
	static char path[PATH_MAX];
	struct failure failure = { 0 };

	make_scratch();
	IS(scratch_file(&scratch, "f", bytes, SEED, &failure), 0);
	IS_TEXT(failure.text, "");
	scratch_path(&scratch, "f", path, sizeof(path));
	return path;
}

static void test_scratch_file(void)
{
	struct failure failure = { 0 };
	char path[PATH_MAX];
	struct scratch deep;

	make_file(3 * MIB + 12345);
	/* Never over one that is there, nor through a link. */
	IS(scratch_file(&scratch, "f", 4096, SEED, &failure), -EEXIST);
	HAS_TEXT(failure.text, "/f: File exists");
	snprintf(path, sizeof(path), "%.4000s/link", scratch.dir);
	IS(symlink("/dev/null", path), 0);
	failure.err = 0;
	IS(scratch_file(&scratch, "link", 4096, SEED, &failure), -EEXIST);
	failure.err = 0;
	IS(scratch_hole(&scratch, "link", 4096, &failure), -EEXIST);
	unlink(path);

	memset(deep.dir, 'd', sizeof(deep.dir));
	deep.dir[sizeof(deep.dir) - 4] = '\0';
	IS(scratch_path(&deep, "ab", path, sizeof(path)), 0);
	IS(scratch_path(&deep, "abc", path, sizeof(path)), -ENAMETOOLONG);
	drop_scratch(one_file);
}

static int note_progress(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *sum = arg;

	IS(done <= total, true);
	sum[0] = done;
	sum[1] = total;
	sum[2]++;
	return sum[2] == sum[3] ? -EINTR : 0;
}

static void test_scan_reads_all_once(void)
{
	const char *path = make_file(3 * MIB + 4096 + 5);
	uint64_t sum[4] = { 0 };
	struct scan scan = { .buffer = MIB,
			     .progress = note_progress,
			     .arg = sum };
	struct failure failure = { 0 };
	struct scan_result result;
	struct reader r;

	IS(reader_open(&r, &recorder, path, MIB), 0);
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS(asked.nr, 4);
	for (int i = 0; i < 4; i++) {
		IS(asked.pos[i], i * MIB);
		IS(asked.len[i], i < 3 ? MIB : 4096 + 5);
	}
	IS(result.bytes, r.size);
	IS(result.bad_words, 0);
	IS(sum[0], r.size);
	IS(sum[1], r.size);
	IS(sum[2], 4);

	unit_case("a part");
	asked.nr = 0;
	scan.from = 8192;
	scan.to = 8192 + 3 * 4096;
	scan.buffer = 8192;
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS(asked.nr, 2);
	IS(asked.pos[0], 8192);
	IS(asked.len[0], 8192);
	IS(asked.len[1], 4096);
	IS(result.bytes, 3 * 4096);
	IS(sum[1], 3 * 4096);

	unit_case("stopped");
	asked.nr = 0;
	memset(sum, 0, sizeof(sum));
	sum[3] = 1;
	IS(scan_run(&r, &scan, &result, &failure), -EINTR);
	IS(asked.nr, 1);
	reader_close(&r);
	drop_scratch(one_file);
}

static void test_scan_fails(void)
{
	const char *path = make_file(3 * MIB);
	const struct scan scan = { .buffer = 64 * KIB };
	struct failure failure = { 0 };
	struct scan_result result;
	char want[PATH_MAX + 80];
	struct reader r;

	asked.fail_at = MIB + 1;
	IS(reader_open(&r, &recorder, path, MIB), 0);
	IS(scan_run(&r, &scan, &result, &failure), -EIO);
	snprintf(want, sizeof(want),
		 "read %s by recorder at %llu: Input/output error", path,
		 (unsigned long long)MIB);
	IS_TEXT(failure.text, want);
	reader_close(&r);

	unit_case("a file that shrank");
	IS(reader_open(&r, &reader_pread, path, MIB), 0);
	IS(truncate(path, 100 * KIB), 0);
	failure.err = 0;
	IS(scan_run(&r, &scan, &result, &failure), -EIO);
	HAS_TEXT(failure.text, "by pread at 65536: ");
	reader_close(&r);
	drop_scratch(one_file);
}

/* What pread() is told by an error, a mapping is told by SIGBUS. */
static void test_mapping_fails(void)
{
	const char *path = make_file(MIB);
	const struct scan scan = { .buffer = 64 * KIB };
	struct failure failure = { 0 };
	struct scan_result result;
	struct reader r;

	IS(reader_open(&r, &reader_mmap, path, MIB), 0);
	IS(truncate(path, 128 * KIB), 0);
	/* Again and again: the signal must not stay blocked. */
	for (int i = 0; i < 3; i++) {
		failure.err = 0;
		IS(scan_run(&r, &scan, &result, &failure), -EIO);
		HAS_TEXT(failure.text, "by mmap at 131072: Input/output error");
		IS(reader_read(&r, 0, 128 * KIB), 0);
	}
	reader_close(&r);
	drop_scratch(one_file);
}

static void flip_bit(const char *path, long pos)
{
	FILE *file = fopen(path, "r+e");
	int byte;

	if (!IS(!!file, true))
		return;
	fseek(file, pos, SEEK_SET);
	byte = fgetc(file);
	fseek(file, pos, SEEK_SET);
	fputc(byte ^ 4, file);
	fclose(file);
}

static void test_scan_verifies(void)
{
	const char *path = make_file(2 * MIB + 12);
	struct scan scan = { .buffer = 100 * KIB,
			     .verify = true,
			     .seed = SEED };
	struct failure failure = { 0 };
	struct scan_result result;
	struct reader r;

	/* Every reader that copies must find what was written. */
	IS(reader_open(&r, &reader_pread, path, scan.buffer), 0);
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS(result.bad_words, 0);
	IS(result.bytes, 2 * MIB + 12);
	scan.seed++;
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS_WITHIN(result.bad_words, 2 * MIB / 8, 2 * MIB / 8 + 2);
	scan.seed--;

	flip_bit(path, MIB + 1);
	flip_bit(path, 2 * MIB + 11);
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS(result.bad_words, 2);
	reader_close(&r);
	drop_scratch(one_file);
}

static void test_reader_open(void)
{
	struct reader r;
	char path[300];

	IS(reader_open(&r, &reader_pread, "/nonexistent", 4096), -ENOENT);
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	IS(reader_open(&r, &reader_pread, path, 4096), -ENAMETOOLONG);
	/* Closed all the same, and twice: no descriptor of anybody else's. */
	reader_close(&r);
	reader_close(&r);
	memset(&r, 0, sizeof(r));
	reader_close(&r);
	IS(fcntl(0, F_GETFD) < 0, false);
	/* A link planted by somebody is not followed. */
	make_scratch();
	snprintf(path, sizeof(path), "%.250s/f", scratch.dir);
	IS(symlink("/etc/passwd", path), 0);
	IS(reader_open(&r, &reader_pread, path, 4096), -ELOOP);
	drop_scratch(one_file);
}

static void test_reader_cuts_at_the_end(void)
{
	static const struct reader_ops *const all[] = { &reader_pread,
							&reader_mmap,
							&reader_null };
	const char *path = make_file(8192 + 100);

	for (size_t i = 0; i < LEN(all); i++) {
		struct reader r;

		unit_case("%s", all[i]->name);
		IS(reader_open(&r, all[i], path, 8192), 0);
		IS(reader_read(&r, 4096, 8192), 0);
		IS(reader_read(&r, 8192, 4096), 0);
		IS(reader_read(&r, 8292, 4096), 0);
		IS(reader_read(&r, 1 << 20, 4096), 0);
		reader_close(&r);
	}
	drop_scratch(one_file);
}

static void test_hot_set(void)
{
	static const long sizes[] = { 4096, 65536 };

	for (size_t i = 0; i < LEN(sizes); i++) {
		struct failure failure = { 0 };
		struct hot_set hot, same;
		off_t first[8];
		const char *path;

		unit_page_size = sizes[i];
		unit_case("pages of %ld", sizes[i]);
		memset(&asked, 0, sizeof(asked));
		path = make_file(32 * sizes[i]);
		IS(hot_set_open(&hot, &recorder, path, 1), 0);
		IS(hot.pages, 32);
		IS(hot_set_touch(&hot, 8, &failure), 0);
		IS(hot.touched, 8);
		memcpy(first, asked.pos, sizeof(first));
		/* Up to a target: no more when it is reached. */
		IS(hot_set_touch(&hot, 8, &failure), 0);
		IS(hot_set_touch(&hot, 3, &failure), 0);
		IS(asked.nr, 8);
		IS(hot_set_touch(&hot, 3200, &failure), 0);
		IS(asked.nr, 3200);
		for (int p = 0; p < 32; p++)
			IS_WITHIN(asked.seen[p], 60, 140);
		for (int n = 0; n < 64; n++)
			if (asked.pos[n] % sizes[i] || asked.len[n] != 4096)
				IS(asked.pos[n], asked.len[n]);
		hot_set_close(&hot);

		/* The order is the seed's. */
		asked.nr = 0;
		IS(hot_set_open(&same, &recorder, path, 1), 0);
		IS(hot_set_touch(&same, 8, &failure), 0);
		IS(memcmp(first, asked.pos, sizeof(first)), 0);
		hot_set_close(&same);
		asked.nr = 0;
		IS(hot_set_open(&same, &recorder, path, 2), 0);
		IS(hot_set_touch(&same, 8, &failure), 0);
		IS(!memcmp(first, asked.pos, sizeof(first)), false);

		asked.fail_at = 1;
		IS(hot_set_touch(&same, 9, &failure), -EIO);
		HAS_TEXT(failure.text, "by recorder at ");
		hot_set_close(&same);
		drop_scratch(one_file);
	}
}

static void test_hot_set_warm(void)
{
	const char *path = make_file(2 * MIB + 4096);
	struct failure failure = { 0 };
	struct hot_set hot;

	IS(hot_set_open(&hot, &recorder, path, 1), 0);
	IS(hot_set_warm(&hot, &recorder, &failure), 0);
	IS(asked.nr, 17);
	IS(asked.pos[16], 2 * MIB);
	IS(asked.len[16], 4096);
	IS(hot.touched, 0);
	/* By another reader: that one has a descriptor of its own. */
	IS(hot_set_warm(&hot, &reader_pread, &failure), 0);
	IS(asked.nr, 17);
	hot_set_close(&hot);
	drop_scratch(one_file);
}

static void test_permute(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 16, 17, 1000, 4097 };
	static unsigned char seen[4097];
	unsigned int moved = 0;

	for (size_t k = 0; k < LEN(sizes); k++) {
		uint64_t n = sizes[k], hit = 0;

		unit_case("%llu things", (unsigned long long)n);
		memset(seen, 0, sizeof(seen));
		for (uint64_t i = 0; i < n; i++) {
			uint64_t at = permute(i, n, 7);

			if (IS_WITHIN(at, 0, n - 1))
				hit += !seen[at]++;
			moved += at != i;
			moved += permute(i, n, 8) != at;
		}
		IS(hit, n);
	}
	/* Neither in order, nor in the same order for another seed. */
	IS_WITHIN(moved, 2 * 5000, 2 * 5136);
	/* Far ends are no further away than near ones. */
	IS_WITHIN(permute(0, 1ULL << 40, 1), 0, (1ULL << 40) - 1);
}

static void test_scan_at_random(void)
{
	const long page = sysconf(_SC_PAGESIZE);
	const char *path = make_file(40 * page + 10);
	uint64_t sum[4] = { 0 };
	struct scan scan = { .buffer = page,
			     .random = true,
			     .order = 5,
			     .progress = note_progress,
			     .arg = sum };
	struct failure failure = { 0 };
	struct scan_result result;
	unsigned int in_order = 0;
	struct reader r;

	IS(reader_open(&r, &recorder, path, page), 0);
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS(asked.nr, 41);
	for (int i = 0; i < 41; i++) {
		IS(asked.seen[i], 1);
		IS(asked.len[i], asked.pos[i] == 40 * page ? 10 : page);
		in_order += i && asked.pos[i] == asked.pos[i - 1] + page;
	}
	IS_WITHIN(in_order, 0, 8);
	IS(result.bytes, r.size);
	IS(sum[0], r.size);
	reader_close(&r);
	drop_scratch(one_file);
}

/* Three take turns: each goes through a slice of its own. */
static void test_scan_in_turns(void)
{
	static const int64_t want[] = { 0, 3, 6, 1, 4, 7, 2, 5 };
	const char *path = make_file(8 * 4096);
	struct failure failure = { 0 };
	struct scan_result result;
	struct reader r, others[2];
	const struct scan scan = { .buffer = 4096,
				   .others = others,
				   .nr_others = 2 };

	IS(reader_open(&r, &recorder, path, 4096), 0);
	IS(reader_open(&others[0], &recorder, path, 4096), 0);
	IS(reader_open(&others[1], &recorder, path, 4096), 0);
	IS(scan_run(&r, &scan, &result, &failure), 0);
	IS(asked.nr, 8);
	for (size_t i = 0; i < LEN(want); i++)
		IS(asked.pos[i] / 4096, want[i]);
	IS(result.bytes, r.size);

	unit_case("on as many CPUs");
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		int cpu;

		take_turn(0);
		cpu = sched_getcpu();
		take_turn(1);
		IS(sched_getcpu() != cpu, true);
		take_turn(sysconf(_SC_NPROCESSORS_ONLN));
	}
	reader_close(&r);
	reader_close(&others[0]);
	reader_close(&others[1]);
	drop_scratch(one_file);
}

static void test_hot_set_in_order(void)
{
	const long page = sysconf(_SC_PAGESIZE);
	const char *path = make_file(4 * page);
	struct failure failure = { 0 };
	struct hot_set hot;

	IS(hot_set_open(&hot, &recorder, path, 1), 0);
	hot.sequential = true;
	IS(hot_set_touch(&hot, 6, &failure), 0);
	IS(asked.nr, 6);
	for (int i = 0; i < 6; i++)
		IS(asked.pos[i], i % 4 * page);

	unit_case("three readers");
	hot.reader.count_missed = true;
	IS(hot_set_join(&hot, 3), 0);
	IS(hot.nr_others, 2);
	hot.reader.missed = 1;
	hot.others[0].missed = 10;
	hot.others[1].missed = 100;
	IS(hot_set_missed(&hot), 111);
	hot.others[1].count_missed = false; /* RWF_NOWAIT was refused */
	IS(hot_set_missed(&hot), -1);
	IS(hot_set_touch(&hot, 12, &failure), 0);
	IS(asked.nr, 12);
	IS(hot.others[0].fd != hot.reader.fd, true);
	hot_set_close(&hot);
	drop_scratch(one_file);
}

static int64_t cached_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct residency r = { .cached = -1 };

	/* Batches of pages on their way to an LRU list cannot be dropped. */
	if (residency_read(METER_CACHESTAT, fd, 0, lseek(fd, 0, SEEK_END), &r))
		unit_skip("no cachestat");
	close(fd);
	return r.cached;
}

/* A read that had to wait for its page is counted, and only such a one. */
static void test_missed(void)
{
	static const struct reader_ops *const ways[] = { &reader_pread,
							 &reader_uring_plain };
	const char *path = make_file(3 * MIB);

	for (size_t i = 0; i < LEN(ways); i++) {
		struct reader r;

		unit_case("%s", ways[i]->name);
		IS(reader_open(&r, &reader_pread, path, 4096), 0);
		/* Not by one advice: others may hold a page for a moment. */
		if (residency_drop(METER_CACHESTAT, r.fd, 2000))
			unit_skip("the file cannot be dropped");
		reader_close(&r);
		if (reader_open(&r, ways[i], path, 4096))
			continue; /* not on this kernel */
		posix_fadvise(r.fd, 0, 0, POSIX_FADV_RANDOM);
		r.count_missed = true;
		for (int round = 0; round < 2; round++)
			for (int page = 0; page < 40; page++) {
				off_t pos = page * 64 * KIB;

				IS(reader_read(&r, pos, 4096), 0);
				IS(pattern_bad(r.buf, 4096, pos, SEED), 0);
			}
		/* A fast disk may have a page by the time it is looked for. */
		IS_WITHIN(r.missed, 4, 40);
		reader_close(&r);
	}
}

/* What each leaves in the cache, of 3 MiB and a bit that nobody else reads. */
static void test_ways_to_read(void)
{
	static const struct {
		const struct reader_ops *ops;
		int64_t least, most;
	} ways[] = {
		{ &reader_pread, 769, 769 },
		{ &reader_random, 769, 769 },
		{ &reader_dontneed_before, 769, 769 },
		{ &reader_dontneed_from_0, 0, 40 },
		{ &reader_dontneed, 0, 300 },
		{ &reader_direct, 0, 0 },
		{ &reader_dontcache, 0, 40 },
		{ &reader_uring_plain, 769, 769 },
		{ &reader_uring_1, 0, 40 },
		{ &reader_uring_8, 0, 200 },
		{ &reader_uring_64, 0, 400 },
		{ &reader_uring_fixed, 0, 200 },
	};
	const char *path = make_file(3 * MIB + 512);

	for (size_t i = 0; i < LEN(ways); i++) {
		const struct scan scan = { .buffer = 512 * KIB,
					   .verify = true,
					   .seed = SEED };
		struct failure failure = { 0 };
		struct scan_result result;
		struct reader r;
		int err;

		unit_case("%s", ways[i].ops->name);
		/* Each from an empty cache. */
		IS(reader_open(&r, &reader_pread, path, 4096), 0);
		posix_fadvise(r.fd, 0, 0, POSIX_FADV_DONTNEED);
		reader_close(&r);
		err = reader_open(&r, ways[i].ops, path, scan.buffer);
		if (!err) {
			err = scan_run(&r, &scan, &result, &failure);
			reader_close(&r);
		}
		if (ways[i].ops->need && err)
			continue; /* not on this kernel or file system */
		IS(err, 0);
		IS_TEXT(failure.text, "");
		IS(result.bad_words, 0);
		IS(result.bytes, 3 * MIB + 512);
		IS_WITHIN(cached_of(path), ways[i].least, ways[i].most);
	}
	drop_scratch(one_file);
}

static void test_ways_to_map(void)
{
	static const struct reader_ops *const ways[] = {
		&reader_mmap, &reader_mmap_random, &reader_mmap_sequential,
		&reader_mmap_noreuse
	};
	const char *path = make_file(MIB);

	for (size_t i = 0; i < LEN(ways); i++) {
		struct reader r;

		unit_case("%s", ways[i]->name);
		IS(reader_open(&r, ways[i], path, 4096), 0);
		IS(reader_read(&r, 0, MIB), 0);
		IS(cached_of(path), 256);
		reader_close(&r);
	}
	drop_scratch(one_file);
}

static void test_ways_to_write(void)
{
	static const struct reader_ops *const ways[] = {
		&reader_write, &reader_dontcache_write
	};
	const char *path = make_file(MIB + 8);

	for (size_t i = 0; i < LEN(ways); i++) {
		struct scan scan = { .buffer = 256 * KIB };
		struct failure failure = { 0 };
		struct scan_result result;
		struct reader r;
		int err;

		unit_case("%s", ways[i]->name);
		IS(reader_open(&r, ways[i], path, scan.buffer), 0);
		r.seed = SEED + 1 + i;
		err = scan_run(&r, &scan, &result, &failure);
		reader_close(&r);
		if (err == -EOPNOTSUPP && ways[i]->need)
			continue;
		IS(err, 0);
		IS(reader_open(&r, &reader_pread, path, scan.buffer), 0);
		IS(r.size, MIB + 8);
		scan.verify = true;
		scan.seed = SEED + 1 + i;
		IS(scan_run(&r, &scan, &result, &failure), 0);
		IS(result.bad_words, 0);
		reader_close(&r);
	}
	drop_scratch(one_file);
}

static void test_other(void)
{
	const char *path = make_file(4 * MIB);
	struct other other;

	IS(other_start(&other, "/nonexistent"), -ENOENT);
	IS(other.pid, 0);
	IS(other_start(&other, path), 0);
	IS(kill(other.pid, 0), 0);
	/* It waits for the device once in each window, and never again. */
	IS_WITHIN(other_touch(&other, 0, 4 * MIB), 1, 1024);
	IS(other_touch(&other, 0, 4 * MIB), 0);
	IS(cached_of(path), 1024);
	kill(other.pid, SIGKILL);
	IS(other_touch(&other, 0, 4096) < 0, true);
	other_end(&other);
	IS(other.pid, 0);
	other_end(&other);
	drop_scratch(one_file);
}

static void test_folio_median(void)
{
	const char *path = make_file(2 * MIB);
	struct reader r;
	int64_t kib;

	unit_page_size = 0; /* the kernel's own are counted */
	IS(reader_open(&r, &reader_random, path, MIB), 0);
	kib = folio_median_kib(r.fd, r.size);
	if (kib == -EPERM || kib == -ENOENT || kib == -EACCES)
		unit_skip("no /proc/kpageflags");
	IS(kib, -ENODATA);
	IS(cached_of(path), 0);
	unit_case("page by page");
	IS(reader_read(&r, 0, 64 * KIB), 0);
	IS(folio_median_kib(r.fd, r.size), sysconf(_SC_PAGESIZE) / 1024);
	reader_close(&r);

	unit_case("with readahead");
	IS(reader_open(&r, &reader_pread, path, MIB), 0);
	for (off_t pos = 0; pos < r.size; pos += MIB)
		IS(reader_read(&r, pos, MIB), 0);
	kib = folio_median_kib(r.fd, r.size);
	IS_WITHIN(kib, 4, 2048);
	IS(kib & (kib - 1), 0);
	IS(cached_of(path), 512);
	reader_close(&r);
	drop_scratch(one_file);
}

/* Pages of a range, however it lies; counted before any meter is asked. */
static void test_residency_pages(void)
{
	static const struct {
		long page;
		off_t pos;
		off_t len;
		int64_t want;
	} cases[] = {
		{ 4096, 0, 1, 1 },	     { 4096, 0, 4096, 1 },
		{ 4096, 0, 4097, 2 },	     { 4096, 4095, 2, 2 },
		{ 4096, 4096, 4096, 1 },     { 65536, 0, 65536, 1 },
		{ 65536, 0, 65537, 2 },	     { 65536, 65535, 2, 2 },
		{ 65536, 4096, 4096, 1 },    { 65536, 0, 26843545, 410 },
		{ 4096, 0, 26843545, 6554 },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		struct residency r;

		unit_page_size = cases[i].page;
		unit_case("%lld bytes at %lld, pages of %ld",
			  (long long)cases[i].len, (long long)cases[i].pos,
			  cases[i].page);
		IS(residency_read(METER_NONE, -1, cases[i].pos, cases[i].len,
				  &r),
		   -EINVAL);
		IS(r.pages, cases[i].want);
	}
}

const struct unit_test tests_of_readers[] = {
	{ "scratch_file", test_scratch_file },
	{ "scan_reads_all_once", test_scan_reads_all_once },
	{ "scan_fails", test_scan_fails },
	{ "mapping_fails", test_mapping_fails },
	{ "scan_verifies", test_scan_verifies },
	{ "reader_open", test_reader_open },
	{ "reader_cuts_at_the_end", test_reader_cuts_at_the_end },
	{ "hot_set", test_hot_set },
	{ "hot_set_warm", test_hot_set_warm },
	{ "permute", test_permute },
	{ "scan_at_random", test_scan_at_random },
	{ "scan_in_turns", test_scan_in_turns },
	{ "hot_set_in_order", test_hot_set_in_order },
	{ "missed", test_missed },
	{ "ways_to_read", test_ways_to_read },
	{ "ways_to_map", test_ways_to_map },
	{ "ways_to_write", test_ways_to_write },
	{ "other", test_other },
	{ "folio_median", test_folio_median },
	{ "residency_pages", test_residency_pages },
	{ 0 },
};
