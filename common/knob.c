// SPDX-License-Identifier: GPL-2.0
#include "knob.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int knob_read(const char *path, char *buf, size_t len)
{
	size_t used = 0;
	ssize_t got;
	int err = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < len - 1) {
		got = read(fd, buf + used, len - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		used += got;
	}
	close(fd);
	if (err)
		return err;
	if (used && buf[used - 1] == '\n')
		used--;
	buf[used] = '\0';
	return (int)used;
}

static int parse_u64(const char *text, uint64_t *value)
{
	char *end;

	while (*text == ' ' || *text == '\t')
		text++;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return -errno;
	if (*end && !strchr(" \t\n", *end))
		return -EINVAL;
	return 0;
}

int knob_read_u64(const char *path, uint64_t *value)
{
	char text[64];
	int len = knob_read(path, text, sizeof(text));

	return len < 0 ? len : parse_u64(text, value);
}

int knob_write(const char *path, const char *text)
{
	size_t len = strlen(text);
	int err = 0;
	ssize_t put;
	int fd;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	put = write(fd, text, len);
	if (put < 0)
		err = -errno;
	else if ((size_t)put != len)
		err = -EIO;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int knob_write_u64(const char *path, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return knob_write(path, text);
}

int keyed_u64(const char *text, const char *key, uint64_t *value)
{
	size_t len = strlen(key);

	while (text) {
		if (!strncmp(text, key, len) &&
		    (text[len] == ' ' || text[len] == ':'))
			return parse_u64(text + len + 1, value);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return -ENOENT;
}

int memory_available(uint64_t *bytes)
{
	char text[4096];
	int err;

	err = knob_read("/proc/meminfo", text, sizeof(text));
	if (err >= 0)
		err = keyed_u64(text, "MemAvailable", bytes);
	*bytes *= 1024;
	return err;
}
