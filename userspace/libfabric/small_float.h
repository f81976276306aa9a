/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The floating-point formats of 8 and 16 bits, which C does not have
 * everywhere. An element has a sign bit above a code. Codes below that of
 * infinity are in the order of their values.
 */
#ifndef MXEFI_SMALL_FLOAT_H
#define MXEFI_SMALL_FLOAT_H

#include <stdint.h>

struct mxefi_float {
	uint8_t size;		/* in bytes */
	uint8_t mantissa;	/* in bits */
	int16_t least;		/* code 1 has the value 2^least */
	uint16_t infinity;	/* the code; E4M3 has its only NaN there */
};

extern const struct mxefi_float mxefi_float16;		/* IEEE 754 binary16 */
extern const struct mxefi_float mxefi_bfloat16;		/* upper half of binary32 */
extern const struct mxefi_float mxefi_float8_e4m3;	/* OCP OFP8 */
extern const struct mxefi_float mxefi_float8_e5m2;	/* OCP OFP8 */

double mxefi_float_load(const struct mxefi_float *format, const void *element);
void mxefi_float_store(const struct mxefi_float *format, void *element,
		       double value);

#endif /* MXEFI_SMALL_FLOAT_H */
