// SPDX-License-Identifier: GPL-2.0
#include "scan.h"

#include "failure.h"
#include "knob.h"
#include "pattern.h"
#include "reader.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t read_bytes_now(void)
{
	char text[512];
	uint64_t bytes;

	if (knob_read("/proc/self/io", text, sizeof(text)) < 0 ||
	    keyed_u64(text, "read_bytes", &bytes))
		return -1;
	return (int64_t)bytes;
}

int scan_run(struct reader *r, const struct scan *scan,
	     struct scan_result *result, struct failure *failure)
{
	off_t to = scan->to ? scan->to : r->size;
	int64_t read_bytes = read_bytes_now();
	uint64_t start = clock_ns();
	int err = 0;

	*result = (struct scan_result){ 0 };
	for (off_t pos = scan->from; !err && pos < to;) {
		size_t len = scan->buffer;

		if ((off_t)len > to - pos)
			len = to - pos;
		err = reader_read(r, pos, len);
		if (err)
			return failure_note(failure, err,
					    "read %s by %s at %lld", r->path,
					    r->ops->name, (long long)pos);
		if (scan->verify)
			result->bad_words +=
				pattern_bad(r->buf, len, pos, scan->seed);
		result->bytes += len;
		pos += len;
		if (scan->progress)
			err = scan->progress(scan->arg, result->bytes,
					     to - scan->from);
	}
	result->ns = clock_ns() - start;
	result->read_bytes = read_bytes < 0 ? -1 :
					      read_bytes_now() - read_bytes;
	return err;
}
