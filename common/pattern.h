/* SPDX-License-Identifier: GPL-2.0 */
/*
 * File contents that look random to a device and can be checked anywhere.
 *
 * Each aligned 8-byte word at file position p holds splitmix64(seed + p / 8)
 * (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014),
 * so no two blocks are alike and none is a hole.
 */
#ifndef MM_CACHE_PATTERN_H
#define MM_CACHE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64() - the generator's output for state @x; a bijection. */
uint64_t splitmix64(uint64_t x);

/* splitmix64_next() - step the state @x, any number, and give its output. */
uint64_t splitmix64_next(uint64_t *x);

/* pattern_fill() - @len bytes for file position @pos; both multiples of 8. */
void pattern_fill(void *buf, size_t len, uint64_t pos, uint64_t seed);

/*
 * pattern_bad() - how many 8-byte words in @buf are not what was filled in; the
 * last one may be a part of a word.
 */
size_t pattern_bad(const void *buf, size_t len, uint64_t pos, uint64_t seed);

#endif
