/* SPDX-License-Identifier: GPL-2.0 */
/* skb.c allocates socket buffers for packets that are sent. */
#ifndef MXE_SKB_H
#define MXE_SKB_H

#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

/*
 * Clear len bytes, a constant between 100 and 200.  For longer ones gcc emits
 * REP STOS, which takes as long as all of this.
 */
static __always_inline void mxe_skb_clear(void *p, size_t len)
{
	for (; len > 32; p += 32, len -= 32)
		memset(p, 0, 32);
	memset(p, 0, len);
}

#ifndef MXE_WITHOUT_SKB

/*
 * One that has no data yet, and room for `size` bytes; NULL without memory.  What is
 * in it is undefined.  Bottom halves off.
 */
struct sk_buff *mxe_skb_alloc(size_t size);
/*
 * The same, but of a received packet that nobody needs any more, as a router sends
 * what it received: *old is NULL then.  It is not, if somebody else has it as well,
 * like a packet socket, or it is too short.  *old may be NULL.  Bottom halves off.
 */
struct sk_buff *mxe_skb_reuse(struct sk_buff **old, size_t size);
/* Free the memory that the CPUs keep, once nothing allocates any more. */
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

static inline void mxe_skb_exit(void)
{
}

#endif /* MXE_WITHOUT_SKB */

/* Done with a received packet.  Context: bottom halves off. */
static inline void mxe_skb_consume(struct sk_buff *skb)
{
	napi_consume_skb(skb, 1);
}

#endif /* MXE_SKB_H */
