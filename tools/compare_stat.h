/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two groups of boots say about one number, and about a family of them.
 *
 * Everything here is about a loss: by how much B is worse than A, in the unit of
 * the number, above 0 when B is worse. Two designs:
 *
 *   pairs    A and B of one block stand next to each other in time, and each
 *            pair gives one loss. If A and B are the same, either could have been
 *            either: the sign of each pair is exchangeable.
 *   samples  nothing pairs the boots: the labels A and B are exchangeable.
 *
 * Both tests come from one list, the contrasts: one for every relabelling but
 * the one observed. Of pairs it is the mean loss over the pairs whose sign is
 * flipped; of samples the mean of what left A less the mean of what left B. As
 * relabelling turns the mean loss less theta into something not smaller exactly
 * where its contrast is not above theta, the permutation test of "the loss is
 * theta or less" has
 *
 *   p(theta) = (1 + number of contrasts <= theta) / (1 + number of contrasts)
 *
 * and the limits of the interval that inverts it are order statistics of the
 * contrasts. With n pairs p is never below 2^-n, and the interval unbounded while
 * that is above 2.5 %. All relabellings are gone through up to STAT_ALL of them;
 * beyond, random ones with a fixed seed, which keeps the test valid (the observed
 * one counts among them). Assumed: a pair's loss, or a boot's value, differs
 * between A and B by a shift. A mode that B has in few boots, and A has not, is
 * seen only when such a boot is among those compared.
 *
 * The rules of a family of numbers, each with a margin, are:
 *
 *   fail       "the loss is the margin or less" is rejected for one of them, at
 *              STAT_FAIL_LEVEL over the whole family by Holm's procedure
 *   pass       "the loss is the margin or more" is rejected for each of them, at
 *              STAT_PASS_LEVEL: all must, so nothing is to be corrected for
 *   undecided  neither; then more blocks, and again
 *
 * An exact number (a counter that is a function of the reads, and showed no
 * spread) is not tested: the difference itself decides. It still counts in the
 * size of the family.
 *
 * Functions return 0 or -ENOMEM.
 */
#ifndef COMPARE_STAT_H
#define COMPARE_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most so many relabellings are all gone through. */
#define STAT_ALL (UINT64_C(1) << 20)
/*
 * For one look. Who runs two blocks, then as many more as are asked for, and
 * again, looks a few times: tools/check/compare_sim.c counts what the whole
 * comes to, and must find 1 % or less.
 */
#define STAT_FAIL_LEVEL 0.005
#define STAT_PASS_LEVEL 0.05
#define STAT_CONFIDENCE 0.95

enum stat_verdict { STAT_PASS, STAT_FAIL, STAT_UNDECIDED };

/*
 * Of pairs, @a holds the losses and @b is NULL. Of samples, @a and @b hold the
 * values, the lower the worse.
 */
struct stat_data {
	const double *a;
	size_t nr_a;
	const double *b;
	size_t nr_b;
};

/* @margin is above 0, but for an exact number. */
struct stat_claim {
	struct stat_data data;
	double margin;
	bool exact;
	/* By stat_decide(): */
	double loss; /* mean */
	double low; /* of the loss, STAT_CONFIDENCE; may be infinite */
	double high;
	double p_fail; /* 1: not computed, for it is above one half */
	double p_pass;
	enum stat_verdict verdict;
	size_t further; /* blocks, when undecided; 2 boots a side each */
};

double stat_mean(const double *values, size_t nr);

/* stat_loss() - mean loss; NAN without data. */
double stat_loss(const struct stat_data *data);

/* stat_interval() - of the loss; an end that the data cannot tell is infinite. */
int stat_interval(const struct stat_data *data, double confidence, double *low,
		  double *high);

/*
 * stat_decide() - each claim, in a family of @family numbers, which is @nr or
 * more; the verdict is that on all of them. @intervals: compute these as well.
 */
int stat_decide(struct stat_claim *claims, size_t nr, size_t family,
		bool intervals, enum stat_verdict *verdict, size_t *further);

#endif
