/* SPDX-License-Identifier: GPL-2.0 */
/* Allocation of socket buffers for packets that are sent (skb.c). */
#ifndef MXE_SKB_H
#define MXE_SKB_H

#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

/**
 * mxe_skb_clear() - Clear memory by inlined stores.
 * @p: first byte
 * @len: bytes, a constant between 100 and 200
 *
 * For a memset() of this length gcc emits REP STOS, whose start-up cost is as
 * high as that of all the stores.
 */
static __always_inline void mxe_skb_clear(void *p, size_t len)
{
	for (; len > 32; p += 32, len -= 32)
		memset(p, 0, 32);
	memset(p, 0, len);
}

#ifndef MXE_WITHOUT_SKB

/**
 * mxe_skb_alloc() - Allocate an empty socket buffer.
 * @size: room in bytes; the memory is uninitialised
 *
 * skb->cb is zeroed.
 *
 * Context: BHs disabled.
 * Return: the socket buffer or NULL.
 */
struct sk_buff *mxe_skb_alloc(size_t size);

/**
 * mxe_skb_reuse() - Reuse a received packet, or allocate a socket buffer.
 * @old: a received packet that is not needed any more, or NULL; set to NULL if
 *	it is reused
 * @size: room in bytes
 *
 * The packet is not reused if it is shared, for example with a packet socket,
 * or too small.
 *
 * Context: BHs disabled.
 * Return: an empty socket buffer as from mxe_skb_alloc(), or NULL.
 */
struct sk_buff *mxe_skb_reuse(struct sk_buff **old, size_t size);

/**
 * mxe_skb_consume() - Free a received packet that was processed.
 * @skb: the packet
 *
 * The CPU may keep it for mxe_skb_alloc().
 *
 * Context: BHs disabled.
 */
void mxe_skb_consume(struct sk_buff *skb);

/**
 * mxe_skb_exit() - Free the per-CPU memory, after the last allocation.
 *
 * Context: Process context.
 */
void mxe_skb_exit(void);

#else

static inline struct sk_buff *mxe_skb_alloc(size_t size)
{
	return alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
}

static inline struct sk_buff *mxe_skb_reuse(struct sk_buff **old, size_t size)
{
	return mxe_skb_alloc(size);
}

static inline void mxe_skb_consume(struct sk_buff *skb)
{
	napi_consume_skb(skb, 1);
}

static inline void mxe_skb_exit(void)
{
}

#endif /* MXE_WITHOUT_SKB */

#endif /* MXE_SKB_H */
