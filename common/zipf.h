/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of which the k-th is drawn with a probability proportional to
 * k^-exponent.
 *
 * Exact, and in constant time and memory for any number of them: Hoermann,
 * Derflinger: Rejection-inversion to generate variates from monotone discrete
 * distributions, ACM TOMACS 6(3), 1996. The density is covered by the integral of
 * x^-exponent; a point below it is drawn by inversion, and rejected when it lies
 * in what the integral covers too much.
 */
#ifndef MM_CACHE_ZIPF_H
#define MM_CACHE_ZIPF_H

#include <stdint.h>

/*
 * @low, @high: the integral from there on, at the first and after the last one
 * @accept:     a point that near to the number above it is never rejected
 */
struct zipf {
	uint64_t n;
	double exponent;
	double low;
	double high;
	double accept;
};

/* zipf_init() - @n numbers, at least 1; @exponent is 0 (all alike) or more. */
void zipf_init(struct zipf *zipf, uint64_t n, double exponent);

/* zipf_next() - 0 (the most probable) to n - 1; @random: state, any number. */
uint64_t zipf_next(const struct zipf *zipf, uint64_t *random);

#endif
