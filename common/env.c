// SPDX-License-Identifier: GPL-2.0
#include "env.h"

#include "knob.h"
#include "lab.h"
#include "one_line.h"
#include "reclaim.h"

#include <fnmatch.h>
#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define KIB 1024
#define MIB ((uint64_t)KIB * KIB)

__attribute__((format(printf, 3, 4))) static void
fact(struct env *env, const char *key, const char *fmt, ...)
{
	va_list ap;

	if (env->nr == ENV_FACTS)
		return;
	snprintf(env->facts[env->nr].key, sizeof(env->facts[0].key), "%s", key);
	va_start(ap, fmt);
	vsnprintf(env->facts[env->nr].value, sizeof(env->facts[0].value), fmt,
		  ap);
	va_end(ap);
	one_line(env->facts[env->nr].value);
	env->nr++;
}

uint64_t env_taint(void)
{
	uint64_t taint;

	return knob_read_u64("/proc/sys/kernel/tainted", &taint) ? 0 : taint;
}

const char *env_machine(void)
{
#if defined(__x86_64__) || defined(__i386__)
	static char signature[13];
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return "unknown";
	if (!(ecx & (1u << 31))) /* CPUID.1:ECX.31, hypervisor present */
		return "none";
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(signature, &ebx, 4);
	memcpy(signature + 4, &ecx, 4);
	memcpy(signature + 8, &edx, 4);
	if (!strcmp(signature, "TCGTCGTCGTCG"))
		return "tcg";
	if (!strcmp(signature, "KVMKVMKVM"))
		return "kvm";
	return signature;
#else
	return "unknown";
#endif
}

const char *env_slow(const struct lab *lab)
{
	if (!strcmp(env_machine(), "tcg"))
		return "emulated CPU";
	if (lab->options.slow)
		return "KSFT_MACHINE_SLOW is set";
	return NULL;
}

static void fact_of_file(struct env *env, const char *key, const char *path)
{
	char text[128];

	if (knob_read(path, text, sizeof(text)) < 0)
		snprintf(text, sizeof(text), "unknown");
	fact(env, key, "%s", text);
}

static void fact_of_meminfo(struct env *env, const char *key, const char *field)
{
	char text[4096];
	uint64_t kib;

	if (knob_read("/proc/meminfo", text, sizeof(text)) < 0 ||
	    keyed_u64(text, field, &kib))
		fact(env, key, "unknown");
	else
		fact(env, key, "%" PRIu64 " MiB", kib / KIB);
}

/*
 * Add to @buf what the files that match @pattern hold, if it matches one of
 * @accepted, or what it stands for where @as says so: "a, b".
 */
static void join_files(const char *pattern, const char *const accepted[],
		       const char *as, char *buf, size_t len)
{
	char text[64];
	glob_t found;

	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t used = strlen(buf);
		const char *const *a = accepted;

		if (knob_read(found.gl_pathv[i], text, sizeof(text)) <= 0)
			continue;
		while (*a && fnmatch(*a, text, 0))
			a++;
		if (*a)
			snprintf(buf + used, len - used, "%s%s",
				 used ? ", " : "", as ? as : text);
	}
	globfree(&found);
}

const char *env_proactive_reclaim(char *buf, size_t len)
{
	static const char *const names[] = { "kdamond.*", NULL };
	/* Those that take pages away, or have them taken sooner. */
	static const char *const taking[] = { "pageout", "cold", "lru_deprio",
					      "migrate_cold", NULL };
	static const char *const yes[] = { "Y", NULL };
	char threads[64] = "";
	char actions[64] = "";

	join_files("/proc/[0-9]*/comm", names, NULL, threads, sizeof(threads));
	join_files(
		"/sys/kernel/mm/damon/admin/kdamonds/*/contexts/*/schemes/*/action",
		taking, NULL, actions, sizeof(actions));
	join_files("/sys/module/damon_reclaim/parameters/enabled", yes,
		   "damon_reclaim", actions, sizeof(actions));
	join_files("/sys/module/damon_lru_sort/parameters/enabled", yes,
		   "damon_lru_sort", actions, sizeof(actions));
	/* A thread may only look on, and a scheme may have no thread. */
	if (!threads[0] || !actions[0])
		return NULL;
	snprintf(buf, len, "%s (DAMON: %s)", threads, actions);
	return buf;
}

void env_read(struct env *env, const struct lab *lab)
{
	char proactive[160];
	struct utsname uts;
	enum reclaim now;

	env->nr = 0;
	if (!uname(&uts)) {
		fact(env, "kernel", "%s %s %s", uts.sysname, uts.release,
		     uts.machine);
		fact(env, "build", "%s", uts.version);
	}
	fact(env, "taint", "%" PRIu64, env_taint());
	fact(env, "machine", "%s", env_machine());
	fact(env, "cpus", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	fact(env, "page_size", "%ld", sysconf(_SC_PAGESIZE));
	fact_of_meminfo(env, "memory", "MemTotal");
	fact_of_meminfo(env, "swap", "SwapTotal");
	fact_of_file(env, "thp", "/sys/kernel/mm/transparent_hugepage/enabled");
	fact(env, "reclaim", "%s",
	     reclaim_current(&now) ? "unknown" : reclaim_name(now));
	fact(env, "proactive_reclaim", "%s",
	     env_proactive_reclaim(proactive, sizeof(proactive)) ? proactive :
								   "none seen");
	if (lab->options.machine)
		fact(env, "memcg", "none, %" PRIu64 " MiB available",
		     lab->options.mem_bytes / MIB);
	else
		fact(env, "memcg", "%s, limit %" PRIu64 " MiB",
		     memcg_flavour_name(lab->memcg.flavour),
		     lab->options.mem_bytes / MIB);
	fact(env, "fs", "%s", lab->scratch.fs);
	if (lab->options.block)
		fact(env, "block_size", "%u", lab->options.block);
	if (*lab->options.mount_options)
		fact(env, "mount", "%s", lab->options.mount_options);
	if (lab->options.buffer)
		fact(env, "buffer", "%" PRIu64 " KiB",
		     lab->options.buffer / KIB);
	if (lab->options.scanners > 1)
		fact(env, "scanners", "%u", lab->options.scanners);
	if (lab->options.hot_readers > 1)
		fact(env, "hot_readers", "%u", lab->options.hot_readers);
	fact(env, "device", "%s", lab->scratch.device);
	if (lab->scratch.read_ahead_knob[0])
		fact(env, "read_ahead_kb", "%u", lab->options.read_ahead_kb);
	else
		fact(env, "read_ahead_kb", "%u, as found",
		     lab->scratch.read_ahead_kb);
	fact(env, "files", "%s",
	     lab->options.data ? "data" : "sparse where a test allows it");
	fact(env, "meter", "%s", residency_meter_name(lab->meter));
}
