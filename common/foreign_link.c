// SPDX-License-Identifier: GPL-2.0
#include "foreign_link.h"

#include "need.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int foreign_link(const char *variable, const char *path, struct needs *needs)
{
	size_t len = strlen(path);
	char part[PATH_MAX];
	struct stat st;

	for (size_t n = 1; n <= len && n < sizeof(part); n++) {
		if (n < len && path[n] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		if (lstat(part, &st) || !S_ISLNK(st.st_mode) || !st.st_uid ||
		    st.st_uid == geteuid())
			continue;
		need_add(
			needs, "a path that nobody else can redirect",
			"%s=%s: the symbolic link %s belongs to user %u, and is not followed; name what it points to",
			variable, path, part, st.st_uid);
		return -ENOENT;
	}
	return 0;
}
