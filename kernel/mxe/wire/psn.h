/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on packet sequence numbers, which have 24 bits and are compared
 * modulo 2^24 (IBTA 9.7.2).
 */
#ifndef MXE_PSN_H
#define MXE_PSN_H

#include <linux/types.h>

#define MXE_PSN_MASK	0xffffffU

/* @n is a number of packets, and may be "negative", as in (u32)-1. */
static inline u32 mxe_psn_add(u32 psn, u32 n)
{
	return (psn + n) & MXE_PSN_MASK;
}

/*
 * Return the distance from @b to @a in packets, -2^23 to 2^23 - 1. Positive if
 * @a is later.
 */
static inline s32 mxe_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* MXE_PSN_H */
