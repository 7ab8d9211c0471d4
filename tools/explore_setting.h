/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One point of what may be explored: a text for every knob, as it is given on the
 * command line and in a recipe, and the trial that they make together.
 */
#ifndef MM_CACHE_EXPLORE_SETTING_H
#define MM_CACHE_EXPLORE_SETTING_H

#include "reclaim.h"
#include "trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options;

enum knob_id {
	KNOB_RECLAIM,
	KNOB_MEM,
	KNOB_HIGH,
	KNOB_FS,
	KNOB_FILES,
	KNOB_READ_AHEAD,
	KNOB_HOT,
	KNOB_ACCESS,
	KNOB_WARM,
	KNOB_WARM_BY,
	KNOB_ZIPF,
	KNOB_HOT_ORDER,
	KNOB_READERS,
	KNOB_PACE,
	KNOB_TOUCHES,
	KNOB_RATE,
	KNOB_PERIOD,
	KNOB_LEAD,
	KNOB_GAP,
	KNOB_LIMIT,
	KNOB_SCAN,
	KNOB_SCAN_BY,
	KNOB_SCAN_ORDER,
	KNOB_BUFFER,
	KNOB_SCANNERS,
	KNOB_THROTTLE,
	KNOB_SPEED,
	KNOB_PASSES,
	KNOB_WORKERS,
	KNOB_MIXED,
	KNOB_GETS,
	KNOB_RUN,
	NR_KNOBS
};

#define KNOB_TEXT 24 /* longest value, with its NUL */
#define PASSES_MAX 16

struct setting {
	char value[NR_KNOBS][KNOB_TEXT];
};

/* What a knob is, for --help and for messages. */
struct knob {
	const char *name;
	const char *preset;
	const char *domain; /* what it may hold */
	const char *help;
};

extern const struct knob knobs[NR_KNOBS];

/* knob_by_name() - NR_KNOBS when there is none of that name. */
enum knob_id knob_by_name(const char *name);

/* setting_preset() - every knob as it is when nobody says otherwise. */
void setting_preset(struct setting *setting);

/*
 * setting_set() - give knob @id the value @text. 0, or -EINVAL with one sentence
 * in @why: the knob, what it was given, what it may be given.
 */
int setting_set(struct setting *setting, enum knob_id id, const char *text,
		char *why, size_t len);

/*
 * What a setting comes to.
 * @trial:    without name, seed, observer and written
 * @reclaim:  that the kernel is to run
 * @memory:   bytes that the cache may take: memory.high, the limit, or all of the
 *            machine; 0: neither
 * @scan_s:   seconds that a pass of the scan is taken to last; 0: not known
 * @wanted:   hot reads a second by the clock; 0 in logical time
 * @limit_ns: a hot read that takes longer is a slow one
 */
struct resolved {
	struct trial trial;
	enum reclaim reclaim;
	unsigned int read_ahead_kb;
	bool machine;
	uint64_t memory;
	double scan_s;
	double wanted;
	uint64_t limit_ns;
};

/*
 * setting_resolve() - @scale multiplies sizes and seconds: what has no unit, and
 * the rates, stay. @available: bytes of the machine, for --mem=machine.
 * 0, or -EINVAL with one sentence in @why about knobs that do not go together.
 */
int setting_resolve(const struct setting *setting, double scale,
		    uint64_t available, struct resolved *resolved, char *why,
		    size_t len);

/* refuse() - -EINVAL, with the sentence in @why, as by printf(). */
__attribute__((format(printf, 3, 4))) int refuse(char *why, size_t len,
						 const char *fmt, ...);

/* scale_parse() - "1/16", "0.5", "1": above 0 and at most 64; 0 or -EINVAL. */
int scale_parse(const char *text, double *scale);

#endif
