/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Targets of libibverbs_exp read their input with these functions. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *data;
	size_t left;
};

/**
 * take() - Take the next bytes of the input.
 * @in: input
 * @to: is filled with the bytes, and with zeros after the end of the input
 * @len: number of bytes
 */
static inline void take(struct input *in, void *to, size_t len)
{
	size_t n = len < in->left ? len : in->left;

	memset(to, 0, len);
	if (n)
		memcpy(to, in->data, n);
	in->data += n;
	in->left -= n;
}

/**
 * take_8() - Take a byte of the input.
 * @in: input
 *
 * Return: the byte.
 */
static inline uint8_t take_8(struct input *in)
{
	uint8_t value;

	take(in, &value, sizeof(value));
	return value;
}

/**
 * take_64() - Take 8 bytes of the input.
 * @in: input
 *
 * Return: the number, in host byte order.
 */
static inline uint64_t take_64(struct input *in)
{
	uint64_t value;

	take(in, &value, sizeof(value));
	return value;
}

/**
 * spoil() - Change words of a valid structure as the input demands.
 * @in: input
 * @what: structure
 * @size: size of the structure in bytes
 *
 * Each change replaces one or two words, or flips one bit.
 */
static inline void spoil(struct input *in, void *what, size_t size)
{
	unsigned int n = take_8(in) % 8;

	while (n--) {
		uint8_t *at = (uint8_t *)what + take_8(in) * 4 % size;
		size_t len = 4 + 4 * (take_8(in) % 2);
		size_t room = (uint8_t *)what + size - at;
		uint8_t how = take_8(in);

		if (how & 1)
			take(in, at, len < room ? len : room);
		else
			*at ^= 1 << (how >> 1) % 8;
	}
}

/**
 * LLVMFuzzerTestOneInput() - Run the fuzz target on one input.
 * @data: input
 * @size: size of the input in bytes
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* FUZZ_INPUT_H */
