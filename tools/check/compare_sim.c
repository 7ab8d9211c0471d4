// SPDX-License-Identifier: GPL-2.0
/*
 * How often the gate is wrong: two kernels are compared again and again by the
 * rules of compare_stat.h, on retention (permille, margin 50) with the spreads
 * that were measured on real boots. One comparison is the whole procedure: two
 * ABBA blocks, then as many more as it asks for, and again, until it has decided.
 *
 *   none     no spread at all, but none known to be exact
 *   3        700, standard deviation 3 % of it
 *   24       700, standard deviation 24 % of it, cut at 0 and 1000
 *   bimodal  by boot: 60 or 620, each in every second boot
 *   family   30 numbers at once: 15 without spread, 15 with 3 %
 *   mixed    12 at once: 4, 4, 2 and 2 of the four
 *   unpaired as 3, in no blocks: the labels are permuted
 *   drift    as 3, and each boot in a block keeps 20 more than the one before
 *   verdict  a test that is ok in every second boot: 0 or 1000, margin 250; and
 *            ok in all of A and none of B fails at once
 *
 * For each, COMPARISONS of A with itself: at most 1 % may fail. And DETECTIONS of
 * a B that lost 100 (of the bimodal one, because its boots are in the lower mode
 * more often): at least 90 % must fail, none may go on for ever, and the number of
 * blocks first asked for must be of use.
 *
 * One line each, "ok" or "not ok"; exit status 1 if one is not ok.
 */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "compare_stat.h"

#define SEED 42
#define MARGIN 50
#define VERDICT_MARGIN 250
#define LOSS 100
#define FIRST_BLOCKS 2
#define LOOKS_MAX 12
#define BLOCKS_MAX 20000
#define FAMILY 30
#define MIXED 12
#define LEVEL 0.01
#define POWER 0.90

enum shape { NONE, SMALL, LARGE, BIMODAL, DRIFT, VERDICT };

static const struct kind {
	const char *name;
	enum shape shape;
	size_t family;
	bool unpaired;
} kinds[] = {
	{ "none", NONE, 1, false },	    { "3", SMALL, 1, false },
	{ "24", LARGE, 1, false },	    { "bimodal", BIMODAL, 1, false },
	{ "family", SMALL, FAMILY, false }, { "mixed", BIMODAL, MIXED, false },
	{ "unpaired", SMALL, 1, true },	    { "drift", DRIFT, 1, false },
	{ "verdict", VERDICT, 1, false },
};

static gsl_rng *rng;

static enum shape shape_of(const struct kind *kind, size_t number)
{
	if (kind->family == 1)
		return kind->shape;
	if (kind->shape == SMALL)
		return number < FAMILY / 2 ? NONE : SMALL;
	if (number < 4)
		return NONE;
	if (number < 8)
		return SMALL;
	return number < 10 ? LARGE : BIMODAL;
}

static double margin_of(enum shape its)
{
	return its == VERDICT ? VERDICT_MARGIN : MARGIN;
}

static double cut(double value)
{
	return value < 0 ? 0 : value > 1000 ? 1000 : rint(value);
}

/* What one boot keeps; @lost of it is the kernel's doing. */
static double boot(enum shape its, int position, double lost)
{
	double mean = 700 - lost;

	switch (its) {
	case NONE:
		return mean;
	case SMALL:
		return cut(mean + gsl_ran_gaussian(rng, 0.03 * 700));
	case LARGE:
		return cut(mean + gsl_ran_gaussian(rng, 0.24 * 700));
	case BIMODAL:
		return gsl_rng_uniform(rng) < 0.5 - lost / (620 - 60) ? 620 :
									60;
	case DRIFT:
		return cut(mean + 20 * position +
			   gsl_ran_gaussian(rng, 0.03 * 700));
	case VERDICT:
		return gsl_rng_uniform(rng) < 0.5 - lost / 1000 ? 1000 : 0;
	}
	return NAN;
}

/* The values of one number, block by block */
struct series {
	double a[2 * BLOCKS_MAX];
	double b[2 * BLOCKS_MAX];
	double losses[2 * BLOCKS_MAX];
};

static void add_block(struct series *s, enum shape its, size_t block,
		      double lost)
{
	size_t at = 2 * block;

	s->a[at] = boot(its, 1, 0);
	s->b[at] = boot(its, 2, lost);
	s->b[at + 1] = boot(its, 3, lost);
	s->a[at + 1] = boot(its, 4, 0);
	for (size_t i = at; i < at + 2; i++)
		s->losses[i] = s->a[i] - s->b[i];
}

/* ok in every boot of A, and in none of B: that fails without a test. */
static bool is_reversed(const struct series *s, size_t nr)
{
	return stat_mean(s->a, nr) >= 1000 && stat_mean(s->b, nr) <= 0;
}

struct tally {
	unsigned int verdicts[3];
	unsigned int endless;
	unsigned int looks;
	double blocks;
	double asked; /* at first */
};

/* The whole procedure, once */
static void compare(const struct kind *kind, struct series *series, double lost,
		    struct tally *tally)
{
	struct stat_claim claims[FAMILY];
	size_t blocks = 0, further = FIRST_BLOCKS;
	enum stat_verdict verdict = STAT_UNDECIDED;
	int looks;

	for (looks = 0; looks < LOOKS_MAX && verdict == STAT_UNDECIDED;
	     looks++) {
		size_t end = blocks + further;

		if (end > BLOCKS_MAX)
			break;
		memset(claims, 0, sizeof(claims));
		for (size_t i = 0; i < kind->family; i++) {
			enum shape its = shape_of(kind, i);
			struct stat_claim *claim = &claims[i];

			for (size_t b = blocks; b < end; b++)
				add_block(&series[i], its, b,
					  i + 1 == kind->family ? lost : 0);
			claim->margin = margin_of(its);
			claim->data.nr_a = 2 * end;
			if (kind->unpaired) {
				claim->data.a = series[i].a;
				claim->data.b = series[i].b;
				claim->data.nr_b = 2 * end;
			} else {
				claim->data.a = series[i].losses;
			}
		}
		blocks = end;
		if (kind->shape == VERDICT && !looks &&
		    is_reversed(&series[0], 2 * blocks)) {
			verdict = STAT_FAIL;
			break;
		}
		if (stat_decide(claims, kind->family, kind->family, false,
				&verdict, &further))
			errx(2, "no memory");
		if (!looks)
			tally->asked += further;
	}
	tally->verdicts[verdict]++;
	tally->endless += verdict == STAT_UNDECIDED;
	tally->looks += looks;
	tally->blocks += blocks;
}

static bool run(const struct kind *kind, struct series *series, double lost,
		unsigned int times)
{
	struct tally tally = { 0 };
	clock_t begin = clock();
	double share;
	bool good;

	for (unsigned int i = 0; i < times; i++)
		compare(kind, series, lost, &tally);
	share = (double)tally.verdicts[STAT_FAIL] / times;
	good = lost > 0 ? share >= POWER : share <= LEVEL;
	/* Who never decides is never wrong. */
	if (tally.endless > times / 100 ||
	    (!lost && tally.verdicts[STAT_PASS] < times * 0.9))
		good = false;
	printf("%s %s-%s: of %u, %u failed, %u passed, %u undecided; ",
	       good ? "ok" : "not ok", lost > 0 ? "detects" : "same",
	       kind->name, times, tally.verdicts[STAT_FAIL],
	       tally.verdicts[STAT_PASS], tally.endless);
	printf("asked for %.1f blocks after %d, had %.1f after %.1f looks; %.1f s\n",
	       tally.asked / times, FIRST_BLOCKS, tally.blocks / times,
	       (double)tally.looks / times,
	       (double)(clock() - begin) / CLOCKS_PER_SEC);
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	unsigned int comparisons = argc > 1 ? atoi(argv[1]) : 2000;
	unsigned int detections = argc > 2 ? atoi(argv[2]) : 300;
	const char *only = argc > 3 ? argv[3] : NULL;
	struct series *series = calloc(FAMILY, sizeof(*series));
	bool good = true;

	rng = gsl_rng_alloc(gsl_rng_mt19937);
	if (!rng || !series)
		errx(2, "no memory");
	if (!comparisons || !detections)
		errx(2, "usage: compare_sim [COMPARISONS [DETECTIONS [KIND]]]");
	gsl_rng_set(rng, SEED);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (only && strcmp(only, kinds[i].name))
			continue;
		good &= run(&kinds[i], series, 0, comparisons);
		good &= run(&kinds[i], series,
			    kinds[i].shape == VERDICT ? 499 : LOSS, detections);
	}
	gsl_rng_free(rng);
	free(series);
	return good ? 0 : 1;
}
