/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keeper puts the machine back as it was found.
 *
 * It is a process of its own that never runs a test. Whoever changes something
 * global tells it first; it writes a journal under KEEPER_DIR, answers, and
 * only then is the change made. When the program that started it ends, in
 * whatever way, the keeper undoes everything, newest first, and removes its
 * journal. A journal without a living keeper is replayed by the next
 * keeper_start(), or by keeper_repair(). What could not be undone stays in the
 * journal, to be tried again; what a keeper could tell nobody, for its program
 * was dead, the next one tells. A
 * program whose output nobody reads any longer is killed.
 *
 * What dies with its process needs no keeper: the private mount namespace, and
 * the loop device (autoclear) with its unlinked image.
 */
#ifndef MM_CACHE_KEEPER_H
#define MM_CACHE_KEEPER_H

#include <sys/types.h>

#define KEEPER_DIR "/run/mm-cache"

struct keeper {
	int sock; /* to the keeper process, -1 when there is none */
	pid_t pid; /* the keeper */
	pid_t owner; /* who started it, and alone may finish it */
	unsigned int seq;
};

/*
 * What was undone.
 * @restored: how many things were put back
 * @foreign:  things left alone: knobs that hold neither the value found nor the
 *            one set here, for somebody else changed them meanwhile; what is
 *            no directory at the path of one
 * @failed:   things that could not be put back
 * @text:     one line for each of them, ended by newline
 */
struct keeper_report {
	unsigned int restored;
	unsigned int foreign;
	unsigned int failed;
	char text[2048];
};

/*
 * keeper_lock() - take the lock that serialises runs on this machine.
 * @wait: sleep until it is free
 * @holder: with -EWOULDBLOCK the process that holds it, 0 if it did not say
 *
 * A descriptor for keeper_start(), or -errno. The kernel drops the lock when
 * its last holder dies, so a stale lock does not exist.
 */
int keeper_lock(int wait, pid_t *holder);

/*
 * keeper_repair() - undo what is in stale journals, and take over what keepers
 * had to say when nobody was left to hear it; @report is begun anew. The caller
 * holds the lock.
 */
void keeper_repair(struct keeper_report *report);

/*
 * keeper_start() - repair, then fork the keeper, which holds @lock_fd (closed
 * here) until everything is undone.
 * @repaired: as keeper_repair() gives it
 *
 * 0 or -errno. Call before any private mount namespace: the keeper must not
 * keep it alive.
 */
int keeper_start(struct keeper *keeper, int lock_fd,
		 struct keeper_report *repaired);

/* keeper_knob() - set knob @path to @value until the end; 0 or -errno. */
int keeper_knob(struct keeper *keeper, const char *path, const char *value);

/*
 * keeper_delegate() - write "+memory" to the cgroup.subtree_control at @path,
 * and "-memory" at the end; 0 or -errno.
 */
int keeper_delegate(struct keeper *keeper, const char *path);

/*
 * keeper_cgroup() - have cgroup @path, about to be made, killed and removed
 * with its children at the end; 0 or -errno.
 */
int keeper_cgroup(struct keeper *keeper, const char *path);

/*
 * keeper_dir() - have directory @path, about to be made, removed at the end
 * with the plain files in it; 0 or -errno. Symlinks are never followed.
 */
int keeper_dir(struct keeper *keeper, const char *path);

/*
 * keeper_group() - have the caller's process group killed if the program dies
 * before it: a runner that ends the program does not reach it. One group at a
 * time; 0 or -errno.
 */
int keeper_group(struct keeper *keeper);

/*
 * keeper_finish() - undo everything now and wait for it. 0, or -errno when the
 * keeper had died: then all of it is undone here, and @report says so.
 * Does nothing in a process other than the one that called keeper_start().
 */
int keeper_finish(struct keeper *keeper, struct keeper_report *report);

#endif
