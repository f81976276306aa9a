/* SPDX-License-Identifier: GPL-2.0 */
/* Allocation of socket buffers for packets that are sent (skb.c). */
#ifndef MXE_SKB_H
#define MXE_SKB_H

#include <linux/skbuff.h>
#include <linux/types.h>

#ifndef MXE_WITHOUT_SKB

struct sk_buff *mxe_skb_alloc(size_t size);
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
