/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a number was measured on.
 */
#ifndef MM_CACHE_ENV_H
#define MM_CACHE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab;

#define ENV_FACTS 32

struct env {
	unsigned int nr;
	struct {
		char key[24];
		char value[160];
	} facts[ENV_FACTS];
};

/* env_read() - all facts; what cannot be found out is "unknown". */
void env_read(struct env *env, const struct lab *lab);

/* env_taint() - /proc/sys/kernel/tainted, 0 where that cannot be read. */
uint64_t env_taint(void);

/*
 * env_machine() - "tcg" for a CPU that QEMU emulates, "kvm", another
 * hypervisor's signature, "none" on bare metal, "unknown" where the CPU does
 * not tell (only x86 does).
 */
const char *env_machine(void);

/*
 * env_slow() - why throughput is no property of the kernel here: emulation, or
 * KSFT_MACHINE_SLOW. NULL when it is.
 */
const char *env_slow(const struct lab *lab);

/*
 * env_proactive_reclaim() - who reclaims memory here though none is short: the
 * threads of DAMON, if any scheme has them take pages, with its action,
 * "kdamond.0 (DAMON: pageout)"; in @buf of @len bytes. @buf, or NULL when there
 * are none. Other agents are processes like any other, and are not seen.
 */
const char *env_proactive_reclaim(char *buf, size_t len);

#endif
