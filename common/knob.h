/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small files that hold a value: sysfs and cgroup knobs, procfs counters.
 */
#ifndef MM_CACHE_KNOB_H
#define MM_CACHE_KNOB_H

#include <stddef.h>
#include <stdint.h>

/*
 * knob_read() - the text of @path in @buf, ended by NUL, last newline cut.
 * Text beyond @len - 1 bytes is dropped. Its length, or -errno.
 */
int knob_read(const char *path, char *buf, size_t len);

/* knob_read_u64() - as knob_read(), parsed (decimal, 0x or 0); 0 or -errno. */
int knob_read_u64(const char *path, uint64_t *value);

/* knob_write() - write @text in one write(); 0 or -errno. */
int knob_write(const char *path, const char *text);

/* knob_write_u64() - write @value in decimal; 0 or -errno. */
int knob_write_u64(const char *path, uint64_t value);

/*
 * keyed_u64() - the number behind @key in "key value" lines (memory.stat,
 * memory.events, /proc/PID/io with its "key: value"). 0, -ENOENT without such
 * a line, -EINVAL when no number follows.
 */
int keyed_u64(const char *text, const char *key, uint64_t *value);

/* memory_available() - MemAvailable of /proc/meminfo in @bytes; 0 or -errno. */
int memory_available(uint64_t *bytes);

#endif
