/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ARRAY_SIZE(), and random numbers that a seed repeats, for test programs.
 */
#ifndef UTIL_H
#define UTIL_H

#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* splitmix64: any seed will do, 0 too. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

#endif /* UTIL_H */
