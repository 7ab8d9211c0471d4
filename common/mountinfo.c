// SPDX-License-Identifier: GPL-2.0
#include "mountinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_LIBMOUNT
#include <libmount.h>

int mountinfo_find(const char *file,
		   bool (*match)(const struct mount_entry *m, void *arg),
		   void *arg)
{
	struct libmnt_table *table;
	struct libmnt_iter *iter;
	struct libmnt_fs *fs;
	int err = -ENOENT;

	table = mnt_new_table_from_file(file);
	if (!table)
		return errno ? -errno : -EIO;
	iter = mnt_new_iter(MNT_ITER_FORWARD);
	if (!iter) {
		mnt_unref_table(table);
		return -ENOMEM;
	}
	while (err && !mnt_table_next_fs(table, iter, &fs)) {
		const char *options = mnt_fs_get_fs_options(fs);
		const char *source = mnt_fs_get_source(fs);
		const struct mount_entry entry = {
			.target = mnt_fs_get_target(fs),
			.fs_type = mnt_fs_get_fstype(fs),
			.fs_options = options ? options : "",
			.source = source ? source : "",
		};

		if (entry.target && entry.fs_type && match(&entry, arg))
			err = 0;
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return err;
}

int mountinfo_fs_of(const char *path, char *type, size_t len)
{
	struct libmnt_table *table;
	struct libmnt_fs *fs;
	char *target;
	int err = -ENOENT;

	table = mnt_new_table_from_file("/proc/self/mountinfo");
	if (!table)
		return errno ? -errno : -EIO;
	target = mnt_get_mountpoint(path);
	fs = target ? mnt_table_find_target(table, target, MNT_ITER_BACKWARD) :
		      NULL;
	if (fs && mnt_fs_get_fstype(fs)) {
		snprintf(type, len, "%s", mnt_fs_get_fstype(fs));
		err = 0;
	}
	free(target);
	mnt_unref_table(table);
	return err;
}

#else

int mountinfo_find(const char *file,
		   bool (*match)(const struct mount_entry *m, void *arg),
		   void *arg)
{
	(void)file;
	(void)match;
	(void)arg;
	return -EOPNOTSUPP;
}

int mountinfo_fs_of(const char *path, char *type, size_t len)
{
	(void)path;
	snprintf(type, len, "unknown");
	return -EOPNOTSUPP;
}

#endif
