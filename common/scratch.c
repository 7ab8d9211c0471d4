// SPDX-License-Identifier: GPL-2.0
#include "scratch.h"

#include "failure.h"
#include "foreign_link.h"
#include "keeper.h"
#include "knob.h"
#include "loop.h"
#include "mountinfo.h"
#include "need.h"
#include "options.h"
#include "pattern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LIBMOUNT
#include <blkid.h>
#include <libmount.h>
#endif

#define MIB ((uint64_t)1024 * 1024)
#define LABEL "mm-cache"
#define MOUNT_POINT KEEPER_DIR "/mnt"
#define WRITE_CHUNK (1024 * 1024)
#define DEFAULT_BLOCK 4096
/* mkfs.xfs refuses less than 300 MiB; journal and inodes of ext4 take 3 %. */
#define IMAGE_MIN (320 * MIB)
#define IMAGE_SPARE (64 * MIB)
#define DIRECTORY_SPARE (8 * MIB)
#define BUSY_TRIES 100
#define BUSY_WAIT_NS (20 * 1000 * 1000)

int scratch_path(const struct scratch *scratch, const char *name, char *path,
		 size_t len)
{
	int n = snprintf(path, len, "%s/%s", scratch->dir, name);

	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/* The queue belongs to the whole disk, one level above a partition. */
static void find_read_ahead(struct scratch *scratch, dev_t dev)
{
	static const char *const forms[] = {
		"/sys/dev/block/%u:%u/queue/read_ahead_kb",
		"/sys/dev/block/%u:%u/../queue/read_ahead_kb",
	};
	uint64_t kb;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		snprintf(scratch->read_ahead_knob,
			 sizeof(scratch->read_ahead_knob), forms[i], major(dev),
			 minor(dev));
		if (knob_read_u64(scratch->read_ahead_knob, &kb))
			continue;
		scratch->read_ahead_kb = (unsigned int)kb;
		return;
	}
	scratch->read_ahead_knob[0] = '\0';
}

/* Numbered in the order of mounting; ours was the last. */
static void find_bdi_read_ahead(struct scratch *scratch, const char *prefix)
{
	unsigned int newest = 0, nr;
	struct dirent *entry;
	uint64_t kb = 0;
	char form[32];
	DIR *dir;

	snprintf(form, sizeof(form), "%s-%%u", prefix);
	dir = opendir("/sys/class/bdi");
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, form, &nr) == 1 && nr > newest)
			newest = nr;
	if (dir)
		closedir(dir);
	snprintf(scratch->read_ahead_knob, sizeof(scratch->read_ahead_knob),
		 "/sys/class/bdi/%s-%u/read_ahead_kb", prefix, newest);
	if (knob_read_u64(scratch->read_ahead_knob, &kb))
		scratch->read_ahead_knob[0] = '\0';
	scratch->read_ahead_kb = (unsigned int)kb;
}

int scratch_read_ahead(const struct scratch *scratch, struct keeper *keeper,
		       unsigned int kb)
{
	char text[16];

	if (!scratch->read_ahead_knob[0])
		return -ENODEV;
	snprintf(text, sizeof(text), "%u", kb);
	return keeper_knob(keeper, scratch->read_ahead_knob, text);
}

/* Its exit status, or -errno. */
static int run(char *const argv[])
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3 && null >= 0; fd++)
			dup2(null, fd);
		execv(argv[0], argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

#define MKFS_ARGS 16

/*
 * mkfs overwrites: an empty device may hold what an earlier run left.
 * @block_size: its option, which the number follows at once
 * @bdi: prefix of the bdi that it reads ahead by; NULL: the device's own
 */
static const struct fs_kind {
	const char *name;
	const char *mkfs[MKFS_ARGS];
	const char *block_size;
	const char *package;
	const char *config;
	const char *bdi;
} fs_kinds[] = {
	{
		.name = "ext4",
		.mkfs = { "mkfs.ext4", "-q", "-F", "-m", "0", "-L", LABEL, "-E",
			  "lazy_itable_init=0,lazy_journal_init=0,nodiscard" },
		.block_size = "-b",
		.package = "e2fsprogs",
		.config = "CONFIG_EXT4_FS",
	},
	{
		.name = "xfs",
		.mkfs = { "mkfs.xfs", "-q", "-f", "-K", "-L", LABEL },
		.block_size = "-bsize=",
		.package = "xfsprogs",
		.config = "CONFIG_XFS_FS",
	},
	{
		.name = "btrfs",
		.mkfs = { "mkfs.btrfs", "-q", "-f", "-K", "-m", "single", "-L",
			  LABEL },
		.block_size = "-s",
		.package = "btrfs-progs",
		.config = "CONFIG_BTRFS_FS",
		.bdi = "btrfs",
	},
};

static const struct fs_kind *kind_of(const char *name)
{
	const struct fs_kind *kind = fs_kinds;

	while (strcmp(kind->name, name))
		kind++;
	return kind;
}

/* Path of the program that makes it, in @mkfs; 0, or -ENOENT with a need. */
static int find_mkfs(const struct fs_kind *kind, char *mkfs, size_t len,
		     struct needs *needs)
{
	/* Not every root has the sbin directories in its path. */
	static const char *const dirs[] = { "/usr/sbin", "/sbin", "/usr/bin",
					    "/bin" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(mkfs, len, "%s/%s", dirs[i], kind->mkfs[0]);
		if (!access(mkfs, X_OK))
			return 0;
	}
	need_add(needs, kind->mkfs[0],
		 "not found: install %s, or choose another MM_CACHE_FS",
		 kind->package);
	return -ENOENT;
}

static int format(const char *device, const struct fs_kind *kind,
		  const char *mkfs, unsigned int block, struct needs *needs,
		  struct failure *failure)
{
	const char *argv[MKFS_ARGS + 3] = { mkfs };
	char option[32];
	int status;
	int n;

	for (n = 1; kind->mkfs[n]; n++)
		argv[n] = kind->mkfs[n];
	snprintf(option, sizeof(option), "%s%u", kind->block_size,
		 block ? block : DEFAULT_BLOCK);
	argv[n++] = option;
	argv[n++] = device;
	status = run((char *const *)argv);
	if (status > 0 && block) {
		need_add(
			needs, "a block size that mkfs takes",
			"%s refused MM_CACHE_BLOCK_SIZE=%u (exit status %d): choose another",
			mkfs, block, status);
		return -ENOENT;
	}
	if (status)
		return failure_note(failure, status < 0 ? status : -EIO,
				    "%s %s (exit status %d)", argv[0], device,
				    status);
	return 0;
}

static int deny_device(const char *device, int error, struct needs *needs)
{
	need_add(
		needs, "an empty block device",
		"MM_CACHE_DEV=%s: %s; name a block device that is empty and not in use, or unset MM_CACHE_DEV for a loop device",
		device, strerror(error));
	return -ENOENT;
}

#ifdef HAVE_LIBMOUNT

static int mount_at(const char *device, const char *fs, const char *target,
		    const char *asked)
{
	struct libmnt_context *cxt = mnt_new_context();
	char options[PATH_MAX];
	int err = -ENOMEM;

	if (!cxt)
		return err;
	snprintf(options, sizeof(options), "noatime,nosuid,nodev,noexec%s%s",
		 *asked ? "," : "", asked);
	mnt_context_disable_mtab(cxt, 1);
	mnt_context_disable_helpers(cxt, 1);
	if (!mnt_context_set_source(cxt, device) &&
	    !mnt_context_set_target(cxt, target) &&
	    !mnt_context_set_fstype(cxt, fs) &&
	    !mnt_context_set_options(cxt, options)) {
		int rc = mnt_context_mount(cxt);

		err = rc > 0 ? -rc : rc;
		if (err && mnt_context_get_syscall_errno(cxt))
			err = -mnt_context_get_syscall_errno(cxt);
	}
	mnt_free_context(cxt);
	return err;
}

/* Empty, or ours from an earlier run: anything else is somebody's data. */
static int check_empty(const char *device, struct needs *needs)
{
	blkid_probe probe = blkid_new_probe_from_filename(device);
	const char *type = "unknown data";
	const char *label = "";
	int err = 0;
	int found;

	if (!probe)
		return deny_device(device, errno ? errno : EIO, needs);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_LABEL |
							 BLKID_SUBLKS_TYPE);
	found = blkid_do_safeprobe(probe);
	if (found != 1) {
		blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
		blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
		if (strcmp(label, LABEL)) {
			need_add(
				needs, "an empty block device",
				"MM_CACHE_DEV=%s holds %s: if it may go, run wipefs -a on it first",
				device, type);
			err = -ENOENT;
		}
	}
	blkid_free_probe(probe);
	return err;
}

#else

static int mount_at(const char *device, const char *fs, const char *target,
		    const char *asked)
{
	(void)device;
	(void)fs;
	(void)target;
	(void)asked;
	return -EOPNOTSUPP;
}

static int check_empty(const char *device, struct needs *needs)
{
	(void)device;
	(void)needs;
	return 0;
}

#endif

static int private_namespace(struct needs *needs, struct failure *failure)
{
	if (unshare(CLONE_NEWNS))
		return failure_note(failure, -errno,
				    "unshare the mount namespace");
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL)) {
		if (errno == EINVAL) {
			need_add(
				needs, "a root that is a mount point",
				"a chroot is none: bind it to itself first (mount --bind DIR DIR)");
			return -ENOENT;
		}
		return failure_note(failure, -errno, "make the mounts private");
	}
	if (mkdir(MOUNT_POINT, 0700) && errno != EEXIST)
		return failure_note(failure, -errno, "mkdir " MOUNT_POINT);
	return 0;
}

static int format_and_mount(struct scratch *scratch, const char *device,
			    const char *mkfs, const struct options *options,
			    struct needs *needs, struct failure *failure)
{
	const struct fs_kind *kind = kind_of(options->fs);
	const char *fs = kind->name;
	struct stat st;
	int err;

	err = format(device, kind, mkfs, options->block, needs, failure);
	if (!err)
		err = private_namespace(needs, failure);
	if (err)
		return err;
	err = mount_at(device, fs, MOUNT_POINT, options->mount_options);
	if (err == -ENODEV) {
		need_add(needs, "the scratch file system",
			 "this kernel has no %s: needs %s", fs, kind->config);
		return -ENOENT;
	}
	if (err == -EINVAL && (options->block || *options->mount_options)) {
		need_add(
			needs, "the scratch file system as asked for",
			"this kernel does not mount %s with blocks of %u bytes and the options \"%s\": choose another MM_CACHE_BLOCK_SIZE or MM_CACHE_MOUNT",
			fs, options->block ? options->block : DEFAULT_BLOCK,
			options->mount_options);
		return -ENOENT;
	}
	if (err)
		return failure_note(failure, err, "mount %s (%s) at %s", device,
				    fs, MOUNT_POINT);
	snprintf(scratch->dir, sizeof(scratch->dir), "%s", MOUNT_POINT);
	snprintf(scratch->fs, sizeof(scratch->fs), "%s", fs);
	if (stat(device, &st))
		return failure_note(failure, -errno, "stat %s", device);
	if (kind->bdi)
		find_bdi_read_ahead(scratch, kind->bdi);
	else
		find_read_ahead(scratch, st.st_rdev);
	return 0;
}

static uint64_t image_size(uint64_t bytes)
{
	uint64_t size = bytes + bytes / 20 + IMAGE_SPARE;

	return size > IMAGE_MIN ? size : IMAGE_MIN;
}

/* Files in memory are cached nowhere else, and no device is ever read. */
static bool is_in_memory(const char *fs)
{
	return !strcmp(fs, "tmpfs") || !strcmp(fs, "ramfs");
}

/* Allocated at once: a full disk must show here, not as EIO of the loop. */
static int image_open(const char *dir, uint64_t size, struct needs *needs)
{
	char name[PATH_MAX];
	struct statvfs vfs;
	char fs[32] = "";
	int err;
	int fd;

	if (foreign_link("TMPDIR", dir, needs))
		return -ENOENT;
	mountinfo_fs_of(dir, fs, sizeof(fs));
	if (is_in_memory(fs)) {
		need_add(
			needs, "a disk for the loop image",
			"%s is on %s, and an image in memory measures nothing; set TMPDIR to a directory on ext4 or xfs, or name a block device by MM_CACHE_DEV",
			dir, fs);
		return -ENOENT;
	}
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		snprintf(name, sizeof(name), "%.4000s/mm-cache.XXXXXX", dir);
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd < 0) {
		need_add(needs, "a writable directory for the loop image",
			 "%s: %s; set TMPDIR to one on a disk", dir,
			 strerror(errno));
		return -ENOENT;
	}
	/* Leave the last 5 % to others, even where root may take them. */
	if (!fstatvfs(fd, &vfs) &&
	    (uint64_t)vfs.f_bavail * vfs.f_frsize < size + size / 20)
		err = ENOSPC;
	else
		err = posix_fallocate(fd, 0, (off_t)size);
	if (err) {
		need_add(
			needs, "free space for the loop image",
			"%" PRIu64
			" MiB in %s: %s; set TMPDIR to a directory with room, or MM_CACHE_MEM lower",
			size / MIB, dir, strerror(err));
		close(fd);
		return -ENOENT;
	}
	return fd;
}

static int deny_loop(int err, struct needs *needs)
{
	need_add(
		needs, "a loop device",
		"/dev/loop-control: %s; needs CONFIG_BLK_DEV_LOOP, or name a block device by MM_CACHE_DEV or a directory by MM_CACHE_DIR",
		strerror(-err));
	return -ENOENT;
}

/* A file system cannot have smaller blocks than its device. */
static unsigned int loop_block(const struct options *options)
{
	unsigned int block = options->block;

	return block && block < DEFAULT_BLOCK ? block : DEFAULT_BLOCK;
}

static int open_loop(struct scratch *scratch, const struct options *options,
		     uint64_t bytes, struct needs *needs,
		     struct failure *failure)
{
	char device[32];
	char mkfs[32];
	int image;
	int loop;
	int err;

	/* Each is looked for, so that all that are missing are told at once. */
	find_mkfs(kind_of(options->fs), mkfs, sizeof(mkfs), needs);
	err = loop_available();
	if (err)
		deny_loop(err, needs);
	image = image_open(options->image_dir, image_size(bytes), needs);
	if (needs_any(needs)) {
		if (image >= 0)
			close(image);
		return -ENOENT;
	}
	loop = loop_attach(image, loop_block(options), device, sizeof(device));
	close(image);
	if (loop == -EINVAL) {
		need_add(
			needs, "direct I/O for the loop image",
			"%s: the file system there has none, so the loop device would cache twice; set TMPDIR to a directory on ext4 or xfs",
			options->image_dir);
		return -ENOENT;
	}
	if (loop < 0)
		return deny_loop(loop, needs);
	err = format_and_mount(scratch, device, mkfs, options, needs, failure);
	snprintf(scratch->device, sizeof(scratch->device),
		 "loop with direct I/O");
	/* Autoclear: from here on the mount alone keeps the device. */
	close(loop);
	return err;
}

/*
 * Not while it is mounted or part of something. A file system whose last user
 * was killed is still mounted for a moment.
 */
static int open_unused(const char *path)
{
	const struct timespec wait = { .tv_nsec = BUSY_WAIT_NS };
	int fd = -1;

	for (int i = 0; i < BUSY_TRIES; i++) {
		fd = open(path, O_RDWR | O_CLOEXEC | O_EXCL);
		if (fd >= 0 || errno != EBUSY)
			break;
		nanosleep(&wait, NULL);
	}
	return fd;
}

static int open_device(struct scratch *scratch, const struct options *options,
		       uint64_t bytes, struct needs *needs,
		       struct failure *failure)
{
	off_t size = 0;
	char mkfs[32];
	int fd;

	find_mkfs(kind_of(options->fs), mkfs, sizeof(mkfs), needs);
	if (foreign_link("MM_CACHE_DEV", options->dev, needs))
		return -ENOENT;
	fd = open_unused(options->dev);
	if (fd >= 0) {
		size = lseek(fd, 0, SEEK_END);
		close(fd);
	}
	if (fd < 0 || size <= 0)
		return deny_device(options->dev, fd < 0 ? errno : ENOTBLK,
				   needs);
	if ((uint64_t)size < image_size(bytes))
		need_add(needs, "a larger block device",
			 "MM_CACHE_DEV=%s has %" PRIu64 " MiB, needs %" PRIu64
			 ": name a larger one, or set MM_CACHE_MEM lower",
			 options->dev, size / MIB, image_size(bytes) / MIB);
	check_empty(options->dev, needs);
	if (needs_any(needs))
		return -ENOENT;
	snprintf(scratch->device, sizeof(scratch->device), "%.60s",
		 options->dev);
	return format_and_mount(scratch, options->dev, mkfs, options, needs,
				failure);
}

/* Block file systems have a device; btrfs hides its own. */
static bool fs_is_local(const struct stat *st, const char *fs)
{
	return major(st->st_dev) || !strcmp(fs, "btrfs");
}

static int deny_directory(const char *dir, int error, struct needs *needs)
{
	need_add(
		needs, "a writable scratch directory",
		"MM_CACHE_DIR=%s: %s; make it, name another, or unset MM_CACHE_DIR for a loop device",
		dir, strerror(error));
	return -ENOENT;
}

static int check_directory(struct scratch *scratch, const char *dir,
			   struct stat *st, uint64_t bytes, struct needs *needs)
{
	struct statvfs vfs;

	if (foreign_link("MM_CACHE_DIR", dir, needs))
		return -ENOENT;
	if (stat(dir, st) || statvfs(dir, &vfs))
		return deny_directory(dir, errno, needs);
	if (!S_ISDIR(st->st_mode))
		return deny_directory(dir, ENOTDIR, needs);
	if (access(dir, W_OK))
		deny_directory(dir, errno, needs);
	mountinfo_fs_of(dir, scratch->fs, sizeof(scratch->fs));
	if (!fs_is_local(st, scratch->fs))
		need_add(
			needs, "a scratch directory on a block file system",
			"MM_CACHE_DIR=%s is on %s; name one on ext4 or xfs, or unset MM_CACHE_DIR for a loop device",
			dir, scratch->fs);
	if ((uint64_t)vfs.f_bavail * vfs.f_frsize < bytes + DIRECTORY_SPARE)
		need_add(needs, "free space in the scratch directory",
			 "MM_CACHE_DIR=%s: needs %" PRIu64 " MiB, has %" PRIu64
			 "; make room, or name another",
			 dir, (bytes + DIRECTORY_SPARE) / MIB,
			 (uint64_t)vfs.f_bavail * vfs.f_frsize / MIB);
	return needs_any(needs) ? -ENOENT : 0;
}

static int open_directory(struct scratch *scratch,
			  const struct options *options, uint64_t bytes,
			  struct keeper *keeper, struct needs *needs,
			  struct failure *failure)
{
	struct stat st;
	int err;

	err = check_directory(scratch, options->dir, &st, bytes, needs);
	if (err)
		return err;
	if (snprintf(scratch->dir, sizeof(scratch->dir), "%s/mm-cache.XXXXXX",
		     options->dir) >= (int)sizeof(scratch->dir))
		return failure_note(failure, -ENAMETOOLONG, "%s", options->dir);
	/*
	 * Made first, told next: the keeper must never remove a directory that
	 * somebody else had under this name.
	 */
	if (!mkdtemp(scratch->dir))
		return failure_note(failure, -errno, "mkdir %s", scratch->dir);
	err = keeper_dir(keeper, scratch->dir);
	if (err) {
		rmdir(scratch->dir);
		return failure_note(failure, err, "tell the keeper of %s",
				    scratch->dir);
	}
	/* Known, and left alone: others use that device. */
	find_read_ahead(scratch, st.st_dev);
	scratch->read_ahead_knob[0] = '\0';
	snprintf(scratch->device, sizeof(scratch->device), "device %u:%u",
		 major(st.st_dev), minor(st.st_dev));
	return 0;
}

int scratch_open(struct scratch *scratch, const struct options *options,
		 uint64_t bytes, struct keeper *keeper, struct needs *needs,
		 struct failure *failure)
{
	memset(scratch, 0, sizeof(*scratch));
	if (options->dir)
		return open_directory(scratch, options, bytes, keeper, needs,
				      failure);
#ifndef HAVE_LIBMOUNT
	need_add(
		needs, "libmount",
		"built without libmount: install its development files (libmount-dev) and build again, or name a directory by MM_CACHE_DIR");
	return -ENOENT;
#endif
	if (options->dev)
		return open_device(scratch, options, bytes, needs, failure);
	return open_loop(scratch, options, bytes, needs, failure);
}

static int write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t put = write(fd, buf, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		buf += put;
		len -= put;
	}
	return 0;
}

static int create(const struct scratch *scratch, const char *name, char *path,
		  struct failure *failure)
{
	int fd;

	if (scratch_path(scratch, name, path, PATH_MAX))
		return failure_note(failure, -ENAMETOOLONG, "%s", name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	return fd < 0 ? failure_note(failure, -errno, "make %s", path) : fd;
}

int scratch_hole(const struct scratch *scratch, const char *name,
		 uint64_t bytes, struct failure *failure)
{
	char path[PATH_MAX];
	int err = 0;
	int fd;

	fd = create(scratch, name, path, failure);
	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)bytes) || fsync(fd))
		err = failure_note(failure, -errno, "extend %s", path);
	close(fd);
	return err;
}

int scratch_file(const struct scratch *scratch, const char *name,
		 uint64_t bytes, uint64_t seed, struct failure *failure)
{
	char path[PATH_MAX];
	int err = 0;
	char *buf;
	int fd;

	fd = create(scratch, name, path, failure);
	if (fd < 0)
		return fd;
	buf = malloc(WRITE_CHUNK);
	if (!buf)
		err = failure_note(failure, -ENOMEM, "write %s", path);
	for (uint64_t pos = 0; !err && pos < bytes; pos += WRITE_CHUNK) {
		uint64_t len = bytes - pos;

		if (len > WRITE_CHUNK)
			len = WRITE_CHUNK;
		pattern_fill(buf, (len + 7) & ~7ULL, pos, seed);
		err = write_all(fd, buf, len);
		if (err)
			failure_note(failure, err, "write %s at %" PRIu64, path,
				     pos);
	}
	if (!err && fsync(fd))
		err = failure_note(failure, -errno, "fsync %s", path);
	if (!err)
		err = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	/* What does not fit must not stay in the way of what does. */
	if (err)
		unlink(path);
	free(buf);
	close(fd);
	return err;
}
