/* SPDX-License-Identifier: GPL-2.0 */
/* Clearing what every packet has: some 100 to 200 bytes, known when it is compiled. */
#ifndef MXE_CLEAR_H
#define MXE_CLEAR_H

#include <linux/string.h>
#include <linux/types.h>

/* For more at a time gcc has REP STOS, which takes as long as all of this. */
static __always_inline void mxe_clear(void *p, size_t len)
{
	for (; len > 32; p += 32, len -= 32)
		memset(p, 0, 32);
	memset(p, 0, len);
}

#endif /* MXE_CLEAR_H */
