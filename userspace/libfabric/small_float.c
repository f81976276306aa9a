// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Converts the floating-point formats of 8 and 16 bits. */
#include <math.h>
#include <string.h>

#include "small_float.h"

const struct mxefi_float mxefi_float16 = { 2, 10, -24, 0x7c00 };
const struct mxefi_float mxefi_bfloat16 = { 2, 7, -133, 0x7f80 };
const struct mxefi_float mxefi_float8_e4m3 = { 1, 3, -9, 0x7f };
const struct mxefi_float mxefi_float8_e5m2 = { 1, 2, -16, 0x7c };

static unsigned int get_bits(const struct mxefi_float *format,
			     const void *element)
{
	uint16_t of_2;

	if (format->size == 1)
		return *(const uint8_t *)element;
	memcpy(&of_2, element, sizeof(of_2));
	return of_2;
}

static void put_bits(const struct mxefi_float *format, void *element,
		     unsigned int bits)
{
	uint16_t of_2 = (uint16_t)bits;

	if (format->size == 1)
		*(uint8_t *)element = (uint8_t)bits;
	else
		memcpy(element, &of_2, sizeof(of_2));
}

static unsigned int sign_bit(const struct mxefi_float *format)
{
	return 1U << (8 * format->size - 1);
}

/**
 * mxefi_float_load() - Return the value of an element.
 * @format: its format
 * @element: the element, in host byte order
 *
 * Return: the value, which a double has exactly.
 */
double mxefi_float_load(const struct mxefi_float *format, const void *element)
{
	unsigned int one = 1U << format->mantissa, sign = sign_bit(format);
	unsigned int bits = get_bits(format, element), code = bits & (sign - 1);
	unsigned int mantissa = code % one, exponent = code / one;
	double value;

	if (code >= format->infinity)
		value = mantissa ? NAN : INFINITY;
	else if (exponent)
		value = ldexp(one + mantissa, (int)exponent - 1 + format->least);
	else
		value = ldexp(mantissa, format->least);
	return bits & sign ? -value : value;
}

/* Returns the code of a finite number that is not negative. */
static unsigned int encode(const struct mxefi_float *format, double value)
{
	unsigned int mantissa, code;
	int exponent;
	double rest;

	/* The distance between codes is 2^least, doubled exponent times. */
	frexp(value, &exponent);
	exponent -= format->least + format->mantissa + 1;
	if (exponent < 0 || value == 0)
		exponent = 0;
	value = ldexp(value, -format->least - exponent);
	mantissa = (unsigned int)value;
	rest = value - mantissa;
	if (rest > 0.5 || (rest == 0.5 && mantissa % 2))
		mantissa++;
	code = ((unsigned int)exponent << format->mantissa) + mantissa;
	return code < format->infinity ? code : format->infinity;
}

/**
 * mxefi_float_store() - Store a value, rounded to nearest, ties to even.
 * @format: format of the element
 * @element: where it is stored, in host byte order
 * @value: value; if it is too large after rounding, infinity is stored, or NaN
 *	in E4M3
 */
void mxefi_float_store(const struct mxefi_float *format, void *element,
		       double value)
{
	unsigned int code = format->infinity;

	/* The top bit of the mantissa makes a quiet NaN. */
	if (isnan(value))
		code |= 1U << (format->mantissa - 1);
	else if (!isinf(value))
		code = encode(format, fabs(value));
	put_bits(format, element, signbit(value) ? code | sign_bit(format) : code);
}
