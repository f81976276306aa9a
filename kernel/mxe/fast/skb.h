/* SPDX-License-Identifier: GPL-2.0 */
/* Allocation of socket buffers for packets that are sent (skb.c). */
#ifndef MXE_SKB_H
#define MXE_SKB_H

#include <linux/skbuff.h>
#include <linux/types.h>

#ifndef MXE_WITHOUT_SKB

/*
 * Allocate an empty socket buffer with room for @size bytes, which are
 * uninitialised. skb->cb is zeroed. Return NULL if there is no memory.
 * Context: BHs disabled.
 */
struct sk_buff *mxe_skb_alloc(size_t size);

/*
 * Free the per-CPU memory, after the last allocation.
 * Context: Process context.
 */
void mxe_skb_exit(void);

#else

static inline struct sk_buff *mxe_skb_alloc(size_t size)
{
	return alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
}

static inline void mxe_skb_exit(void)
{
}

#endif /* MXE_WITHOUT_SKB */

#endif /* MXE_SKB_H */
