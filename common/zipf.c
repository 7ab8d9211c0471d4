// SPDX-License-Identifier: GPL-2.0
#include "zipf.h"

#include "pattern.h"

#include <math.h>

#define NEARLY_ONE \
	0.000000001 /* that far from exponent 1 the formulas for 1 serve */

/* The density, h(x) = x^-s. */
static double density(const struct zipf *z, double x)
{
	return exp(-z->exponent * log(x));
}

/* H(x), an integral of it; log(x) for s = 1. */
static double integral(const struct zipf *z, double x)
{
	double t = 1 - z->exponent;

	if (fabs(t) < NEARLY_ONE)
		return log(x);
	return expm1(t * log(x)) / t;
}

/* The x with integral(x) = @u. */
static double inverse(const struct zipf *z, double u)
{
	double t = 1 - z->exponent;

	if (fabs(t) < NEARLY_ONE)
		return exp(u);
	return exp(log1p(fmax(t * u, -1)) / t);
}

void zipf_init(struct zipf *zipf, uint64_t n, double exponent)
{
	zipf->n = n;
	zipf->exponent = exponent;
	/* The first number has its density, not what the integral has there. */
	zipf->low = integral(zipf, 1.5) - 1;
	zipf->high = integral(zipf, (double)n + 0.5);
	zipf->accept =
		2 - inverse(zipf, integral(zipf, 2.5) - density(zipf, 2));
}

uint64_t zipf_next(const struct zipf *zipf, uint64_t *random)
{
	for (;;) {
		double u, x, k;

		u = ldexp((double)(splitmix64_next(random) >> 11), -53);
		u = zipf->high + u * (zipf->low - zipf->high);
		x = inverse(zipf, u);
		k = fmin(fmax(floor(x + 0.5), 1), (double)zipf->n);
		if (k - x <= zipf->accept ||
		    u >= integral(zipf, k + 0.5) - density(zipf, k))
			return (uint64_t)k - 1;
	}
}
