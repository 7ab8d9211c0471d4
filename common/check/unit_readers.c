// SPDX-License-Identifier: GPL-2.0
/* Reading and counting: readers, scans, hot sets, residency. */
#include "unit.h"

#include "failure.h"
#include "hot_set.h"
#include "pattern.h"
#include "reader.h"
#include "residency.h"
#include "scan.h"
#include "scratch.h"

#include <errno.h>
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
	{ "residency_pages", test_residency_pages },
	{ 0 },
};
