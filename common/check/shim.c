// SPDX-License-Identifier: GPL-2.0
/*
 * Faults for LD_PRELOAD: each makes one thing that the suite relies on go wrong,
 * so that a check can demand the one right outcome.
 *
 *   CACHE_SHIM=FAULT[=VALUE][,FAULT[=VALUE]...]
 *
 * The name does not start with MM_CACHE_, for the suite refuses what it does not
 * know there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef HAVE_LIBURING
#include <liburing.h>
#endif

#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

#define DONTCACHE 0x80 /* RWF_DONTCACHE */
#define LRU_GEN "/sys/kernel/mm/lru_gen/"
#define HOARD_MIB 256
#define PAGE 4096
/* Of get_scan's store: reads of a GET, and of a SCAN; 11 times 32 MiB. */
#define GET_LEN 1024
#define SCAN_LEN 4096
#define STORE_PAGES 90112LL
#define PRIME 7919
#define STORE_PART (13LL * 1024 * 1024)
#define EVICT_GETS 2000

/*
 * The function of the next library. A shim that finds none has nothing to fall
 * back on.
 */
#define NEXT(name) ((typeof(name) *)next(#name))

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		fprintf(stderr, "shim: no %s()\n", name);
		abort();
	}
	return found;
}

/* The text behind "FAULT=" in CACHE_SHIM, "" for a bare FAULT, else NULL. */
static const char *fault(const char *name)
{
	const char *at = getenv("CACHE_SHIM");
	size_t len = strlen(name);

	while (at && *at) {
		if (!strncmp(at, name, len)) {
			if (!at[len] || at[len] == ',')
				return "";
			if (at[len] == '=')
				return at + len + 1;
		}
		at = strchr(at, ',');
		at += !!at;
	}
	return NULL;
}

static long long fault_number(const char *name)
{
	const char *value = fault(name);

	return value ? strtoll(value, NULL, 0) : -1;
}

static bool is_file(int fd, const char *name)
{
	char path[4096];
	char link[40];
	ssize_t len;
	char *base;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return false;
	path[len] = '\0';
	base = strrchr(path, '/');
	return base && !strcmp(base + 1, name);
}

static bool is_scan(int fd)
{
	return is_file(fd, "scan") || is_file(fd, "hole");
}

/* More memory than the memcg has, touched: its OOM killer strikes. */
static void hoard(void)
{
	static pid_t done;
	size_t len = HOARD_MIB * (size_t)1024 * 1024;
	char *map;

	if (done == getpid())
		return;
	done = getpid();
	map = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map != MAP_FAILED)
		memset(map, 1, len);
}

/*
 * hot-lost-after=BYTES: the hot file leaves the cache when the process has read
 * so many of the scan file, or has mapped it: as if the scan had evicted it.
 */
static void lose_hot(int fd, long long bytes)
{
	static pid_t counted;
	static long long sum;
	long long limit = fault_number("hot-lost-after");
	char path[4096];
	char link[40];
	ssize_t len;
	int hot;

	if (limit < 0 || !is_file(fd, "scan"))
		return;
	if (counted != getpid())
		sum = 0;
	counted = getpid();
	sum += bytes;
	if (sum < limit || sum - bytes >= limit)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 4)
		return;
	strcpy(path + len - 4, "hot");
	hot = NEXT(open64)(path, O_RDONLY);
	NEXT(posix_fadvise64)(hot, 0, 0, POSIX_FADV_DONTNEED);
	close(hot);
}

/*
 * Before a read of @len bytes at @pos: true when it is not to be made, and
 * *@result is what the caller gets.
 */
static bool before_read(int fd, size_t len, long long pos, ssize_t *result)
{
	long long bad = fault_number("scan-eio");

	if (fault("hot-hoards") && is_file(fd, "hot"))
		hoard();
	lose_hot(fd, len);
	if ((fault("hot-reads-nothing") && is_file(fd, "hot")) ||
	    (fault("scan-reads-nothing") && is_scan(fd))) {
		*result = (ssize_t)len;
		return true;
	}
	if (bad >= 0 && pos + (long long)len > bad && is_scan(fd)) {
		errno = EIO;
		*result = -1;
		return true;
	}
	return false;
}

/* Whether the process that scans does so with the flag; shared with the other. */
static bool *dontcache_reader;

__attribute__((constructor)) static void share(void)
{
	dontcache_reader = mmap(NULL, sizeof(*dontcache_reader),
				PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static size_t iov_len(const struct iovec *iov, int nr)
{
	size_t len = 0;

	for (int i = 0; i < nr; i++)
		len += iov[i].iov_len;
	return len;
}

static bool before_preadv2(int fd, const struct iovec *iov, int nr,
			   long long pos, int *flags, ssize_t *result)
{
	if (before_read(fd, iov_len(iov, nr), pos, result))
		return true;
	if (*flags & DONTCACHE && fault("dontcache-unsupported")) {
		errno = EOPNOTSUPP;
		*result = -1;
		return true;
	}
	if (*flags & RWF_NOWAIT && fault("nowait-unsupported")) {
		errno = EOPNOTSUPP;
		*result = -1;
		return true;
	}
	if (fault("dontcache-stripped"))
		*flags &= ~DONTCACHE;
	*dontcache_reader = *flags & DONTCACHE;
	return false;
}

/*
 * scan-promotes: each page that a SCAN reads is read five times more. What is read
 * twice in a row counts once, so another page is read between.
 */
static void promote(int fd, ssize_t len, long long pos)
{
	static pid_t opened;
	static int again;
	char link[40];
	char byte;

	if (!fault("scan-promotes") || len < SCAN_LEN || !is_file(fd, "scan"))
		return;
	if (opened != getpid()) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		again = NEXT(open64)(link, O_RDONLY);
		NEXT(posix_fadvise64)(again, 0, 0, POSIX_FADV_RANDOM);
		opened = getpid();
	}
	for (int i = 0; i < 5; i++) {
		for (long long at = pos; at < pos + len; at += PAGE)
			NEXT(pread64)(again, &byte, 1, at);
		NEXT(pread64)(again, &byte, 1, 0);
	}
}

/*
 * scan-skipped: SCANs of a store read nothing. get-never-repeats: a GET reads not
 * what it should, but the next page in an order without repetitions.
 * gets-evict-scanned: now and then one takes the part that SCANs repeat.
 */
static bool before_pread(int fd, size_t len, off64_t *pos)
{
	static long long gets;

	if (len >= SCAN_LEN)
		return fault("scan-skipped") && is_file(fd, "scan");
	if (len != GET_LEN || !is_file(fd, "scan"))
		return false;
	gets++;
	if (fault("get-never-repeats"))
		*pos = gets * PRIME % STORE_PAGES * PAGE;
	if (fault("gets-evict-scanned") && !(gets % EVICT_GETS))
		NEXT(posix_fadvise64)(fd, 0, STORE_PART, POSIX_FADV_DONTNEED);
	return false;
}

/* Turn over one bit of the byte at the file offset given. */
static void after_preadv2(const struct iovec *iov, long long pos, int flags,
			  ssize_t got)
{
	long long bad = fault_number("dontcache-corrupts");

	if (flags & DONTCACHE && bad >= pos && bad < pos + got)
		((char *)iov[0].iov_base)[bad - pos] ^= 1;
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t pos)
{
	ssize_t result;

	*dontcache_reader = false;
	if (before_read(fd, len, pos, &result))
		return result;
	if (before_pread(fd, len, &pos))
		return (ssize_t)len;
	result = NEXT(pread64)(fd, buf, len, pos);
	promote(fd, result, pos);
	return result;
}

ssize_t preadv64v2(int fd, const struct iovec *iov, int nr, off64_t pos,
		   int flags)
{
	ssize_t result;

	if (before_preadv2(fd, iov, nr, pos, &flags, &result))
		return result;
	result = NEXT(preadv64v2)(fd, iov, nr, pos, flags);
	after_preadv2(iov, pos, flags, result);
	return result;
}

/* write-corrupts=OFFSET: one bit of what is written there is another. */
ssize_t pwritev64v2(int fd, const struct iovec *iov, int nr, off64_t pos,
		    int flags)
{
	long long bad = fault_number("write-corrupts");

	if (bad >= pos && bad < pos + (long long)iov_len(iov, nr))
		((char *)iov[0].iov_base)[bad - pos] ^= 1;
	return NEXT(pwritev64v2)(fd, iov, nr, pos, flags);
}

#ifdef HAVE_LIBURING
/* dontcache-stripped, for what is about to be submitted. */
int io_uring_submit(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;

	for (unsigned int i = sq->sqe_head; i != sq->sqe_tail; i++)
		if (fault("dontcache-stripped"))
			sq->sqes[i & *sq->kring_mask].rw_flags &= ~DONTCACHE;
	return NEXT(io_uring_submit)(ring);
}
#endif

/* What a program calls depends on its off_t, and on _FORTIFY_SOURCE. */

ssize_t pread(int fd, void *buf, size_t len, off_t pos)
{
	return pread64(fd, buf, len, pos);
}

ssize_t __pread_chk(int fd, void *buf, size_t len, off_t pos, size_t size)
{
	return pread64(fd, buf, len < size ? len : size, pos);
}

ssize_t __pread64_chk(int fd, void *buf, size_t len, off64_t pos, size_t size)
{
	return pread64(fd, buf, len < size ? len : size, pos);
}

ssize_t preadv2(int fd, const struct iovec *iov, int nr, off_t pos, int flags)
{
	return preadv64v2(fd, iov, nr, pos, flags);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int nr, off_t pos, int flags)
{
	return pwritev64v2(fd, iov, nr, pos, flags);
}

/* The last mapping of the scan file, for other-loses-pages. */
static struct {
	void *map;
	size_t len;
	int fd;
} shared;

/*
 * The other process is asked to touch its mapping: before that, its pages are
 * dropped, if the reader drops what it has read.
 */
ssize_t recv(int sock, void *buf, size_t len, int flags)
{
	ssize_t got = NEXT(recv)(sock, buf, len, flags);

	if (fault("other-loses-pages") && shared.map && *dontcache_reader) {
		madvise(shared.map, shared.len, MADV_DONTNEED);
		NEXT(posix_fadvise64)(shared.fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	return got;
}

/* A mapping of the hot file becomes one of nothing. */
static void *map_file(void *addr, size_t len, int prot, int flags, int fd,
		      off_t pos)
{
	if (fd >= 0 && fault("hot-reads-nothing") && is_file(fd, "hot")) {
		flags = MAP_PRIVATE | MAP_ANONYMOUS;
		fd = -1;
		pos = 0;
	}
	return NEXT(mmap)(addr, len, prot, flags, fd, pos);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t pos)
{
	void *map = map_file(addr, len, prot, flags, fd, pos);

	if (fd >= 0)
		lose_hot(fd, len);
	if (fault("other-loses-pages") && fd >= 0 && is_file(fd, "scan")) {
		shared.map = map;
		shared.len = len;
		shared.fd = fd;
	}
	return map;
}

int mincore(void *addr, size_t len, unsigned char *vec)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!fault("all-resident"))
		return NEXT(mincore)(addr, len, vec);
	memset(vec, 1, (len + page - 1) / page);
	return 0;
}

int posix_fadvise64(int fd, off64_t pos, off64_t len, int advice)
{
	if (fault("fadvise-does-nothing") ||
	    (len && fault("fadvise-of-a-part-does-nothing")) ||
	    (advice == POSIX_FADV_NOREUSE && fault("noreuse-does-nothing")))
		return 0;
	return NEXT(posix_fadvise64)(fd, pos, len, advice);
}

int posix_fadvise(int fd, off_t pos, off_t len, int advice)
{
	return posix_fadvise64(fd, pos, len, advice);
}

int posix_fallocate64(int fd, off64_t pos, off64_t len)
{
	int err = 0;

	/* It returns what others put into errno. */
	if (fault("disk-full"))
		err = ENOSPC;
	if (fault("image-quota"))
		err = EDQUOT;
	return err ? err : NEXT(posix_fallocate64)(fd, pos, len);
}

/* file-quota=BYTES: no more than these in the scan file. */
ssize_t write(int fd, const void *buf, size_t len)
{
	long long quota = fault_number("file-quota");

	if (quota > 0 && is_file(fd, "scan") &&
	    lseek(fd, 0, SEEK_CUR) + (long long)len > quota) {
		errno = EDQUOT;
		return -1;
	}
	return NEXT(write)(fd, buf, len);
}

int posix_fallocate(int fd, off_t pos, off_t len)
{
	return posix_fallocate64(fd, pos, len);
}

int mkdir(const char *path, mode_t mode)
{
	const char *base = strrchr(path, '/');

	if (fault("cgroup-denied") && base &&
	    !strncmp(base, "/mm-cache.", 10)) {
		errno = EACCES;
		return -1;
	}
	return NEXT(mkdir)(path, mode);
}

int access(const char *path, int mode)
{
	if (fault("no-mkfs") && strstr(path, "/mkfs.")) {
		errno = ENOENT;
		return -1;
	}
	return NEXT(access)(path, mode);
}

/*
 * -errno of opening *@path, or 0: then *@path is what to open. With
 * lru-gen=DIRECTORY that directory is the kernel's lru_gen.
 */
static int before_open(const char **path, int flags, char *buf, size_t len)
{
	const char *dir = fault("lru-gen");
	bool writes = (flags & O_ACCMODE) != O_RDONLY;

	if (fault("no-io-accounting") && !strcmp(*path, "/proc/self/io"))
		return -ENOENT;
	if (fault("no-loop-control") && !strcmp(*path, "/dev/loop-control"))
		return -ENOENT;
	if (!dir || strncmp(*path, LRU_GEN, strlen(LRU_GEN)))
		return 0;
	if (writes && fault("lru-gen-read-only"))
		return -EROFS;
	snprintf(buf, len, "%.*s/%s", (int)strcspn(dir, ","), dir,
		 *path + strlen(LRU_GEN));
	*path = writes && fault("lru-gen-stuck") ? "/dev/null" : buf;
	return 0;
}

static int open_mode(const char *path, int flags, mode_t mode)
{
	char buf[4096];
	int err = before_open(&path, flags, buf, sizeof(buf));

	if (fault("direct-stripped"))
		flags &= ~O_DIRECT;
	if (!err)
		return NEXT(open64)(path, flags, mode);
	errno = -err;
	return -1;
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(ap, flags);
		mode = va_arg(ap, int);
		va_end(ap);
	}
	return open_mode(path, flags, mode);
}

/* Without large files this would refuse what open64() takes; no test needs it. */
int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(ap, flags);
		mode = va_arg(ap, int);
		va_end(ap);
	}
	return open_mode(path, flags, mode);
}

int __open_2(const char *path, int flags)
{
	return open_mode(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return open_mode(path, flags, 0);
}

/* The suite calls cachestat() this way only: libc has no function for it. */
long syscall(long nr, ...)
{
	long arg[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == __NR_cachestat && fault("cachestat-fails")) {
		errno = (int)fault_number("cachestat-fails");
		return -1;
	}
	return NEXT(syscall)(nr, arg[0], arg[1], arg[2], arg[3], arg[4],
			     arg[5]);
}
