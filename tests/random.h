/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pseudo-random numbers for tests in C, the same in each run. The generator is
 * SplitMix64, which accepts any seed.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * random_next() - Return the next number of a SplitMix64 sequence.
 * @state: state of the sequence, initially the seed
 *
 * Return: the next number.
 */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/**
 * random_fill() - Fill a buffer with the next numbers of a sequence.
 * @state: state of the sequence, as for random_next()
 * @buf: buffer to fill
 * @len: size of @buf in bytes
 */
static inline void random_fill(uint64_t *state, void *buf, size_t len)
{
	uint8_t *p = buf;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t value = random_next(state);

		memcpy(p + i, &value, len - i < 8 ? len - i : 8);
	}
}

#endif /* RANDOM_H */
