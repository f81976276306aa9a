/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Model of the floating-point formats of 8 and 16 bits. It lists the values of
 * a format in the order of their codes, and looks for the code that is nearest
 * to a number.
 */
#ifndef FI_FLOAT_H
#define FI_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A format. Its sign bit is above the codes. */
struct fi_float {
	const char *name;
	unsigned int sign;	/* the sign bit */
	unsigned int step;	/* codes after which the distance doubles */
	double least;		/* the value of code 1 */
	unsigned int last;	/* code of infinity, or of NaN without infinity */
	bool finite;		/* there is no infinity */
	/* Those of all codes up to the last one as if that were a number. */
	double values[0x8000];
};

enum fi_float_id { FLOAT16, BFLOAT16, E4M3, E5M2, FLOATS };

static struct fi_float fi_floats[FLOATS] = {
	[FLOAT16] = { "float16", 0x8000, 1024, 0x1p-24, 0x7c00, false, {} },
	[BFLOAT16] = { "bfloat16", 0x8000, 128, 0x1p-133, 0x7f80, false, {} },
	[E4M3] = { "E4M3", 0x80, 8, 0x1p-9, 0x7f, true, {} },
	[E5M2] = { "E5M2", 0x80, 4, 0x1p-16, 0x7c, false, {} },
};

/* Computes the values of all formats, before any other call. */
static inline void fi_float_init(void)
{
	for (int i = 0; i < FLOATS; i++) {
		struct fi_float *f = &fi_floats[i];
		double value = 0, distance = f->least;

		for (unsigned int code = 0; code <= f->last; code++) {
			f->values[code] = value;
			if (code > f->step && code % f->step == 0)
				distance *= 2;
			value += distance;
		}
	}
}

/* Returns the bits of an element, which is in the byte order of the host. */
static inline unsigned int fi_float_get(const struct fi_float *f,
					const uint8_t *p)
{
	uint16_t of_2;

	if (f->sign == 0x80)
		return *p;
	memcpy(&of_2, p, 2);
	return of_2;
}

/* Stores the bits of an element. */
static inline void fi_float_put(const struct fi_float *f, uint8_t *p,
				unsigned int bits)
{
	uint16_t of_2 = (uint16_t)bits;

	if (f->sign == 0x80)
		*p = (uint8_t)bits;
	else
		memcpy(p, &of_2, 2);
}

/* Returns true if the element is not a number. */
static inline bool fi_float_is_nan(const struct fi_float *f, unsigned int bits)
{
	bits &= f->sign - 1;
	return f->finite ? bits == f->last : bits > f->last;
}

/* Returns the value of an element. */
static inline double fi_float_value(const struct fi_float *f, unsigned int bits)
{
	unsigned int code = bits & (f->sign - 1);
	double value = fi_float_is_nan(f, bits) ? NAN :
		       code == f->last ? INFINITY : f->values[code];

	return bits & f->sign ? -value : value;
}

/* Returns the element that is nearest to a number, with an even code of two. */
static inline unsigned int fi_float_nearest(const struct fi_float *f,
					    long double x)
{
	long double m = signbit(x) ? -x : x;
	unsigned int low = 0, high = f->last;

	if (isnan(x))
		return f->last | 1;
	while (low < high) {
		unsigned int middle = (low + high + 1) / 2;

		if (f->values[middle] <= m)
			low = middle;
		else
			high = middle - 1;
	}
	if (low < f->last) {
		long double half = ((long double)f->values[low] +
				    f->values[low + 1]) / 2;

		if (m > half || (m == half && low % 2))
			low++;
	}
	return signbit(x) ? low | f->sign : low;
}

#endif /* FI_FLOAT_H */
