// SPDX-License-Identifier: GPL-2.0
#include "compare_stat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_combination.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>

/* Random relabellings: the seed, and how many speak for it until it is clear. */
#define SEED 20260101
#define CLEAR 25
#define ROUNDS 999
#define INTERVAL_ROUNDS 999
/* Sums of whole numbers come out of a double with less error than this. */
#define EPSILON 0.000000001
/* A set is kept as bytes, with the sums over all sets that a byte can be. */
#define BYTE 8
#define WORD 32
#define BYTE_SETS 256
/* How surely the number of boots asked for decides, as planned */
#define PLANNED_POWER 0.95
/* Blocks that are too many to be meant */
#define FURTHER_MAX 1000000

static bool is_paired(const struct stat_data *data)
{
	return !data->b;
}

double stat_mean(const double *values, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += values[i];
	return nr ? sum / nr : NAN;
}

double stat_loss(const struct stat_data *data)
{
	double loss = stat_mean(data->a, data->nr_a);

	return is_paired(data) ? loss : loss - stat_mean(data->b, data->nr_b);
}

/* ----- the contrasts, one after another ----- */

/*
 * @left: contrasts to come
 * @nr: of pairs, or of boots: A's, then B's
 * @bits: a set of them
 * @sums: what each byte of @bits adds to the sum over the set
 * @set: of pairs, the set as a number, when all are gone through
 * @chosen: of samples, the boots that are called A, when all are gone through
 */
struct contrasts {
	const struct stat_data *data;
	bool all;
	uint64_t left;
	gsl_rng *rng;
	size_t nr;
	size_t bytes;
	unsigned char *bits;
	double *sums;
	uint64_t set;
	double sum_a;
	gsl_combination *chosen;
};

static void close_contrasts(struct contrasts *c)
{
	if (c->rng)
		gsl_rng_free(c->rng);
	if (c->chosen)
		gsl_combination_free(c->chosen);
	free(c->sums);
	free(c->bits);
}

static double relabellings(const struct stat_data *data)
{
	if (is_paired(data))
		return ldexp(1, data->nr_a > 1000 ? 1000 : (int)data->nr_a);
	/* Beyond, the number itself does not matter. */
	if (data->nr_a + data->nr_b > 1000)
		return 1e300;
	return rint(gsl_sf_choose(data->nr_a + data->nr_b, data->nr_a));
}

static double value_at(const struct stat_data *data, size_t i)
{
	return i < data->nr_a ? data->a[i] : data->b[i - data->nr_a];
}

static int open_sets(struct contrasts *c)
{
	c->nr = c->data->nr_a + (is_paired(c->data) ? 0 : c->data->nr_b);
	c->bytes = (c->nr + WORD - 1) / WORD * WORD / BYTE;
	c->bits = calloc(c->bytes, 1);
	c->sums = calloc(c->bytes, BYTE_SETS * sizeof(*c->sums));
	if (!c->bits || !c->sums)
		return -ENOMEM;
	for (size_t b = 0; b < c->bytes; b++) {
		double *sums = c->sums + b * BYTE_SETS;

		for (unsigned int set = 1; set < BYTE_SETS; set++) {
			size_t i = b * BYTE + __builtin_ctz(set);

			sums[set] = sums[set & (set - 1)] +
				    (i < c->nr ? value_at(c->data, i) : 0);
		}
	}
	for (size_t i = 0; i < c->data->nr_a; i++)
		c->sum_a += c->data->a[i];
	if (is_paired(c->data) || !c->all)
		return 0;
	c->chosen = gsl_combination_calloc(c->nr, c->data->nr_a);
	return c->chosen ? 0 : -ENOMEM;
}

static int open_contrasts(struct contrasts *c, const struct stat_data *data,
			  uint64_t rounds)
{
	double nr = relabellings(data);
	int err;

	memset(c, 0, sizeof(*c));
	c->data = data;
	c->all = nr <= STAT_ALL;
	c->left = c->all ? (uint64_t)nr - 1 : rounds;
	if (!c->all) {
		c->rng = gsl_rng_alloc(gsl_rng_mt19937);
		if (!c->rng)
			return -ENOMEM;
		gsl_rng_set(c->rng, SEED);
	}
	err = open_sets(c);
	if (err)
		close_contrasts(c);
	return err;
}

/* Each is in the set, or not, by a coin; returns how many are. */
static size_t draw_set(struct contrasts *c)
{
	size_t in_set = 0;

	for (size_t i = 0; i < c->nr; i += WORD) {
		uint32_t random = gsl_rng_get(c->rng);

		if (c->nr - i < WORD)
			random &= (UINT32_C(1) << (c->nr - i)) - 1;
		for (size_t b = 0; b < WORD / BYTE; b++)
			c->bits[i / BYTE + b] = random >> (b * BYTE);
		in_set += __builtin_popcount(random);
	}
	return in_set;
}

/* Two sums at a time, or each addition waits for the one before it. */
static double sum_of_set(const struct contrasts *c)
{
	double even = 0, odd = 0;

	for (size_t b = 0; b < c->bytes; b += 2) {
		even += c->sums[b * BYTE_SETS + c->bits[b]];
		odd += c->sums[(b + 1) * BYTE_SETS + c->bits[b + 1]];
	}
	return even + odd;
}

static double next_pairs(struct contrasts *c)
{
	size_t in_set;

	if (c->all) {
		c->set++;
		for (size_t b = 0; b < c->bytes; b++)
			c->bits[b] = c->set >> (b * BYTE) & (BYTE_SETS - 1);
		in_set = __builtin_popcountll(c->set);
	} else {
		in_set = draw_set(c);
	}
	return in_set ? sum_of_set(c) / in_set : -INFINITY;
}

static bool is_in_set(const struct contrasts *c, size_t i)
{
	return c->bits[i / BYTE] >> (i % BYTE) & 1;
}

/*
 * As many boots as A has, at random: of a set of any size, random ones are taken
 * out, or put in, until the number is right. That favours none.
 */
static void draw_choice(struct contrasts *c)
{
	size_t in_set = draw_set(c);

	while (in_set != c->data->nr_a) {
		size_t i = gsl_rng_uniform_int(c->rng, c->nr);
		bool too_many = in_set > c->data->nr_a;

		if (is_in_set(c, i) != too_many)
			continue;
		c->bits[i / BYTE] ^= 1u << i % BYTE;
		in_set += too_many ? -1 : 1;
	}
}

/* What a choice of the boots that are called A comes to */
static double next_samples(struct contrasts *c)
{
	size_t moved = 0;

	if (c->all) {
		gsl_combination_next(c->chosen);
		memset(c->bits, 0, c->bytes);
		for (size_t i = 0; i < c->data->nr_a; i++) {
			size_t at = gsl_combination_get(c->chosen, i);

			c->bits[at / BYTE] |= 1u << at % BYTE;
		}
	} else {
		draw_choice(c);
	}
	for (size_t i = 0; i < c->data->nr_a; i++)
		moved += !is_in_set(c, i);
	return moved ? (c->sum_a - sum_of_set(c)) / moved : -INFINITY;
}

/*
 * A random relabelling may be the one observed: it speaks for every theta, which
 * -INFINITY does; callers that count from the other end mirror the data.
 */
static double next_contrast(struct contrasts *c)
{
	c->left--;
	return is_paired(c->data) ? next_pairs(c) : next_samples(c);
}

/* ----- tests and intervals ----- */

static double tolerance(double theta)
{
	return EPSILON * (1 + fabs(theta));
}

/* The sums over all sets of @x, in order, each less @less for every member. */
static double *sorted_sums(const double *x, size_t n, double less)
{
	double *sums = calloc((size_t)1 << n, sizeof(*sums));
	double *with = calloc((size_t)1 << n, sizeof(*with));
	size_t nr = 1;

	for (size_t i = 0; i < n && sums && with; i++, nr *= 2) {
		double *merged = with;
		size_t a = 0, b = 0;

		/* Those without x[i], and those with it: both are in order. */
		for (size_t at = 0; at < 2 * nr; at++) {
			if (b == nr ||
			    (a < nr && sums[a] <= sums[b] + x[i] - less))
				merged[at] = sums[a++];
			else
				merged[at] = sums[b++] + x[i] - less;
		}
		with = sums;
		sums = merged;
	}
	if (!with) {
		free(sums);
		sums = NULL;
	}
	free(with);
	return sums;
}

/*
 * How many sets of pairs have a mean of @limit or less: those whose sum is 0 or
 * less when each pair is taken less @limit. Of each half of the pairs the sums are
 * brought in order; as one of the first half grows, less of the second will do.
 */
static int count_pairs(const struct stat_data *data, double limit,
		       uint64_t *count)
{
	size_t n = data->nr_a / 2, m = data->nr_a - n;
	double *first = sorted_sums(data->a, n, limit);
	double *second = sorted_sums(data->a + n, m, limit);
	size_t below = (size_t)1 << m;
	int err = first && second ? 0 : -ENOMEM;

	*count = 0;
	for (size_t i = 0; !err && i < (size_t)1 << n; i++) {
		while (below && first[i] + second[below - 1] > 0)
			below--;
		*count += below;
	}
	free(first);
	free(second);
	return err;
}

/*
 * Of "the loss is @theta or less". Exact, or of at most @rounds random
 * relabellings; these end when so many spoke for it that the rest does not matter.
 */
static int p_above(const struct stat_data *data, double theta, uint64_t rounds,
		   double *p)
{
	double limit = theta + tolerance(theta);
	uint64_t seen = 0, against = 0;
	struct contrasts c;
	int err;

	*p = 1;
	if (!data->nr_a || (!is_paired(data) && !data->nr_b))
		return 0;
	if (is_paired(data) && relabellings(data) <= STAT_ALL) {
		/* The empty set, which is the relabelling observed, has sum 0. */
		err = count_pairs(data, limit, &against);
		*p = against / relabellings(data);
		return err;
	}
	err = open_contrasts(&c, data, rounds);
	if (err)
		return err;
	while (c.left) {
		seen++;
		against += next_contrast(&c) <= limit;
		if (!c.all && against == CLEAR)
			break;
	}
	/* Stopped early, the share seen is itself a valid p. */
	if (!c.all && against == CLEAR)
		*p = (double)against / seen;
	else
		*p = (1.0 + against) / (1.0 + seen);
	close_contrasts(&c);
	return 0;
}

/* The other side is the same test of the negative values. */
static int mirror(const struct stat_data *data, struct stat_data *out)
{
	size_t nr = data->nr_a + (is_paired(data) ? 0 : data->nr_b);
	double *values = calloc(nr ? nr : 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	*out = *data;
	for (size_t i = 0; i < data->nr_a; i++)
		values[i] = -data->a[i];
	for (size_t i = data->nr_a; i < nr; i++)
		values[i] = -data->b[i - data->nr_a];
	out->a = values;
	if (!is_paired(data))
		out->b = values + data->nr_a;
	return 0;
}

/* Of "the loss is @theta or more" */
static int p_below(const struct stat_data *data, double theta, uint64_t rounds,
		   double *p)
{
	struct stat_data mirrored;
	int err = mirror(data, &mirrored);

	if (err)
		return err;
	err = p_above(&mirrored, -theta, rounds, p);
	free((double *)mirrored.a);
	return err;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The k-th smallest from 0; partitions @v. */
static double order_statistic(double *v, size_t nr, size_t k)
{
	size_t low = 0, high = nr;

	while (high - low > 32) {
		double pivot = v[low + (high - low) / 2];
		size_t below = low, at = low, above = high;

		while (at < above) {
			double x = v[at];

			if (x < pivot) {
				v[at++] = v[below];
				v[below++] = x;
			} else if (x > pivot) {
				v[at] = v[--above];
				v[above] = x;
			} else {
				at++;
			}
		}
		if (k < below)
			high = below;
		else if (k >= above)
			low = above;
		else
			return pivot;
	}
	qsort(v + low, high - low, sizeof(*v), by_value);
	return v[k];
}

/*
 * p(theta) <= alpha as long as fewer than k contrasts are at theta or below, with
 * k = alpha * (1 + their number): the k-th smallest is where the interval begins,
 * and the k-th largest where it ends.
 */
static int fill_interval(struct contrasts *c, size_t k, double *low,
			 double *high)
{
	size_t nr = c->left;
	double *values = calloc(nr, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		values[i] = next_contrast(c);
	*low = order_statistic(values, nr, k - 1);
	/* The relabelling observed speaks for every theta at this end as well. */
	for (size_t i = 0; i < nr; i++)
		if (!isinf(values[i]))
			values[i] = -values[i];
	*high = -order_statistic(values, nr, k - 1);
	free(values);
	return 0;
}

int stat_interval(const struct stat_data *data, double confidence, double *low,
		  double *high)
{
	double alpha = (1 - confidence) / 2;
	struct contrasts c;
	size_t k;
	int err;

	*low = -INFINITY;
	*high = INFINITY;
	if (!data->nr_a || (!is_paired(data) && !data->nr_b))
		return 0;
	err = open_contrasts(&c, data, INTERVAL_ROUNDS);
	if (err)
		return err;
	k = (size_t)floor(alpha * (1.0 + c.left) * (1 + EPSILON));
	if (k)
		err = fill_interval(&c, k, low, high);
	close_contrasts(&c);
	return err;
}

/* ----- a family ----- */

static double variance(const double *values, size_t nr)
{
	double mean = stat_mean(values, nr), sum = 0;

	if (nr < 2)
		return 0;
	for (size_t i = 0; i < nr; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / (nr - 1);
}

/* Boots a side, or pairs, with which p can be as small as @alpha */
static double needed_to_resolve(bool paired, double alpha)
{
	double n = 1;

	if (paired)
		return ceil(-log2(alpha) - EPSILON);
	while (n < 500 && gsl_sf_choose(2 * n, n) * alpha < 1 - EPSILON)
		n++;
	return n;
}

/*
 * With how many boots this claim should be decided the way it leans: as many as
 * p takes to be small enough, and as many as the spread takes. The distance to
 * the margin is known no better than its spread, so it is taken for half a margin
 * at least, and a whole one at most.
 */
static size_t further_blocks(const struct stat_claim *claim, size_t family)
{
	const struct stat_data *d = &claim->data;
	bool paired = is_paired(d), leans_to_fail = claim->loss > claim->margin;
	double alpha = leans_to_fail ? STAT_FAIL_LEVEL / family :
				       STAT_PASS_LEVEL;
	double distance = fabs(claim->margin - claim->loss);
	double need = needed_to_resolve(paired, alpha);
	double have = d->nr_a, spread, z;

	if (!(distance > claim->margin / 2))
		distance = claim->margin / 2;
	if (distance > claim->margin)
		distance = claim->margin;
	spread = variance(d->a, d->nr_a);
	if (!paired) {
		/* Each group has its own; pairs have both in theirs. */
		spread += variance(d->b, d->nr_b);
		if (d->nr_b < d->nr_a)
			have = d->nr_b;
	}
	z = gsl_cdf_ugaussian_Qinv(alpha) +
	    gsl_cdf_ugaussian_Pinv(PLANNED_POWER);
	if (distance > 0)
		need = fmax(need, z * z * spread / (distance * distance));
	need = ceil((need - have) / 2);
	if (!(need >= 1))
		return 1;
	return need > FURTHER_MAX ? FURTHER_MAX : (size_t)need;
}

static int by_p_fail(const void *a, const void *b)
{
	const struct stat_claim *const *x = a, *const *y = b;

	return ((*x)->p_fail > (*y)->p_fail) - ((*x)->p_fail < (*y)->p_fail);
}

static int test_claim(struct stat_claim *claim, size_t family, bool interval)
{
	double resolve = ceil(4 * family / STAT_FAIL_LEVEL);
	uint64_t rounds = resolve > ROUNDS ? (uint64_t)resolve : ROUNDS;
	int err = 0;

	claim->verdict = STAT_UNDECIDED;
	claim->further = 0;
	claim->p_fail = 1;
	claim->p_pass = 1;
	claim->loss = stat_loss(&claim->data);
	claim->low = claim->loss;
	claim->high = claim->loss;
	if (claim->exact) {
		claim->verdict = claim->loss > claim->margin ? STAT_FAIL :
							       STAT_PASS;
		return 0;
	}
	/* On the wrong side of the margin p is above one half. */
	if (claim->loss > claim->margin)
		err = p_above(&claim->data, claim->margin, rounds,
			      &claim->p_fail);
	else if (claim->loss < claim->margin)
		err = p_below(&claim->data, claim->margin, ROUNDS,
			      &claim->p_pass);
	if (!err && interval)
		err = stat_interval(&claim->data, STAT_CONFIDENCE, &claim->low,
				    &claim->high);
	return err;
}

int stat_decide(struct stat_claim *claims, size_t nr, size_t family,
		bool intervals, enum stat_verdict *verdict, size_t *further)
{
	struct stat_claim **order;
	bool failed = false, passed = true;
	int err;

	*further = 0;
	*verdict = STAT_PASS;
	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		err = test_claim(&claims[i], family, intervals);
		if (err)
			return err;
	}
	order = calloc(nr, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = &claims[i];
	qsort(order, nr, sizeof(*order), by_p_fail);
	/* Holm: the smallest p against level / family, the next / family - 1, ... */
	for (size_t i = 0; i < nr; i++) {
		if (order[i]->p_fail * (family - i) > STAT_FAIL_LEVEL)
			break;
		order[i]->verdict = STAT_FAIL;
	}
	free(order);
	for (size_t i = 0; i < nr; i++) {
		struct stat_claim *claim = &claims[i];

		if (claim->verdict == STAT_UNDECIDED &&
		    claim->p_pass <= STAT_PASS_LEVEL)
			claim->verdict = STAT_PASS;
		if (claim->verdict == STAT_UNDECIDED) {
			claim->further = further_blocks(claim, family);
			if (claim->further > *further)
				*further = claim->further;
		}
		failed |= claim->verdict == STAT_FAIL;
		passed &= claim->verdict == STAT_PASS;
	}
	if (failed)
		*verdict = STAT_FAIL;
	else if (!passed)
		*verdict = STAT_UNDECIDED;
	return 0;
}
