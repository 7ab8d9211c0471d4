// SPDX-License-Identifier: GPL-2.0
#include "pattern.h"

#include <string.h>

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15ULL /* the step of the state */

uint64_t splitmix64(uint64_t x)
{
	x += GOLDEN_GAMMA;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

uint64_t splitmix64_next(uint64_t *x)
{
	*x += GOLDEN_GAMMA;
	return splitmix64(*x);
}

void pattern_fill(void *buf, size_t len, uint64_t pos, uint64_t seed)
{
	uint64_t *word = buf;

	for (size_t i = 0; i < len / sizeof(*word); i++)
		word[i] = splitmix64(seed + pos / sizeof(*word) + i);
}

size_t pattern_bad(const void *buf, size_t len, uint64_t pos, uint64_t seed)
{
	const uint64_t *word = buf;
	size_t bad = 0;

	for (size_t i = 0; i < len / sizeof(*word); i++)
		bad += word[i] != splitmix64(seed + pos / sizeof(*word) + i);
	if (len % sizeof(*word)) {
		size_t whole = len / sizeof(*word);
		uint64_t last = splitmix64(seed + pos / sizeof(*word) + whole);

		bad += !!memcmp(word + whole, &last, len % sizeof(*word));
	}
	return bad;
}
