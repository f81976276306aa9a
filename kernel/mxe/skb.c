// SPDX-License-Identifier: GPL-2.0
/*
 * Socket buffers for packets that are sent, from per-CPU memory or from a
 * received packet. tx.c, rx.c, dc_rx.c, deliver.c and respond.c call it. It
 * calls the page allocator and napi_build_skb().
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "skb.h"

/* Shorter buffers come from the per-CPU page fragments of NAPI. */
#define MXE_SKB_LONG	1024

/* Bytes of a buffer behind its data. */
#define MXE_SKB_INFO	SKB_DATA_ALIGN(sizeof(struct skb_shared_info))

/*
 * Number of chunks (32 KiB of pages) for long packets, on each CPU. The page
 * allocator clears new pages (init_on_alloc), which costs more than building
 * the packet. skb_page_frag_refill() reuses a chunk if everything in it has
 * been freed. The chunks are used in turn, and there are enough for a burst of
 * 64 packets of 4 KiB, and some more.
 */
#define MXE_SKB_CHUNKS	16

/*
 * Maximum number of received packets that each CPU keeps for packets to be
 * sent: those of a GSO batch. Each may keep 32 KiB of page fragments.
 */
#define MXE_SKB_SPARES	16

/* Accessed with BHs disabled. */
struct mxe_skb_store {
	struct page_frag chunks[MXE_SKB_CHUNKS];
	unsigned int current_chunk;
	unsigned int num_spares;
	struct sk_buff *spares;		/* renewed, linked by next */
};

static DEFINE_PER_CPU(struct mxe_skb_store, mxe_skb_stores);

static void *mxe_skb_long(size_t size)
{
	struct mxe_skb_store *store = this_cpu_ptr(&mxe_skb_stores);
	struct page_frag *chunk = &store->chunks[store->current_chunk];
	void *data;

	if (chunk->offset + size > chunk->size) {
		store->current_chunk = (store->current_chunk + 1) %
				       MXE_SKB_CHUNKS;
		chunk = &store->chunks[store->current_chunk];
	}
	/* The chunk is kept, so it must not be from the memory reserves. */
	if (!skb_page_frag_refill(size, chunk, GFP_ATOMIC | __GFP_NOWARN |
				  __GFP_NOMEMALLOC))
		return NULL;
	/*
	 * The allocator returned a single page, which is too small. Drop it, to
	 * try again for a large one when it is the turn of this chunk.
	 */
	if (chunk->offset + size > chunk->size) {
		put_page(chunk->page);
		*chunk = (struct page_frag) {};
		return NULL;
	}
	data = page_address(chunk->page) + chunk->offset;
	get_page(chunk->page);
	chunk->offset += size;
	return data;
}

/*
 * Builds the skb like a driver does for reception, because napi_consume_skb()
 * recycles both parts of it.
 */
static struct sk_buff *mxe_skb_build(size_t size)
{
	struct sk_buff *skb;
	void *data;

	size = SKB_DATA_ALIGN(size) + MXE_SKB_INFO;
	data = size < MXE_SKB_LONG ? napi_alloc_frag(size) :
					mxe_skb_long(size);
	if (!data)
		return NULL;
	skb = napi_build_skb(data, size);
	if (!skb)
		skb_free_frag(data);
	return skb;
}

/* Allocates a buffer that is not one of the spare ones. */
static noinline struct sk_buff *mxe_skb_alloc_new(size_t size)
{
	struct sk_buff *skb = mxe_skb_build(size);

	/*
	 * mxe_skb_build() fails for more than a page if no large chunk can be
	 * allocated.
	 */
	return skb ?: alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
}

struct sk_buff *mxe_skb_alloc(size_t size)
{
	struct mxe_skb_store *store = this_cpu_ptr(&mxe_skb_stores);
	struct sk_buff *skb = store->spares;

	if (!skb || skb_end_offset(skb) < size)
		return mxe_skb_alloc_new(size);
	store->num_spares--;
	store->spares = skb->next;
	skb_mark_not_on_list(skb);
	return skb;
}

/*
 * Returns true if the packet is not shared, linear, and has room for size
 * bytes.
 */
static __always_inline bool mxe_skb_is_plain(struct sk_buff *skb, size_t size)
{
	return !skb_shared(skb) && !skb_cloned(skb) &&
	       skb->fclone == SKB_FCLONE_UNAVAILABLE &&
	       !skb_is_nonlinear(skb) && !skb_zcopy(skb) && !skb_pfmemalloc(skb) &&
	       skb_end_offset(skb) >= size;
}

/*
 * Resets the skb to its state after build_skb(), except for the members that
 * describe the owner of its memory.
 */
static __always_inline void mxe_skb_renew(struct sk_buff *skb)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	bool head_frag = skb->head_frag, pp_recycle = skb->pp_recycle;

	skb_orphan(skb);
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	nf_reset_ct(skb);
	mxe_skb_clear(skb, offsetof(struct sk_buff, tail));
	mxe_skb_clear(shinfo, offsetof(struct skb_shared_info, dataref));
	skb->head_frag = head_frag;
	skb->pp_recycle = pp_recycle;
	skb->mac_header = (typeof(skb->mac_header))~0U;
	skb->transport_header = (typeof(skb->transport_header))~0U;
	skb->data = skb->head;
	skb_reset_tail_pointer(skb);
	/*
	 * Segmentation by skb_segment_list() may leave that of the whole GSO
	 * batch to its first packet.
	 */
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
}

struct sk_buff *mxe_skb_reuse(struct sk_buff **old, size_t size)
{
	struct sk_buff *skb = *old;

	if (!skb || !mxe_skb_is_plain(skb, size))
		return mxe_skb_alloc(size);
	*old = NULL;
	mxe_skb_renew(skb);
	return skb;
}

/*
 * Returns true if the packet may be kept: a short one, whose memory belongs to
 * no page pool of a driver, which would wait for it.
 */
static bool mxe_skb_may_keep(struct sk_buff *skb)
{
	return skb->head_frag && !skb->pp_recycle &&
	       skb_end_offset(skb) < MXE_SKB_LONG - MXE_SKB_INFO &&
	       mxe_skb_is_plain(skb, 0);
}

void mxe_skb_consume(struct sk_buff *skb)
{
	struct mxe_skb_store *store = this_cpu_ptr(&mxe_skb_stores);

	if (store->num_spares == MXE_SKB_SPARES || !mxe_skb_may_keep(skb)) {
		napi_consume_skb(skb, 1);
		return;
	}
	/* Drop its references now, because it may be kept for long. */
	mxe_skb_renew(skb);
	skb->next = store->spares;
	store->spares = skb;
	store->num_spares++;
}

void mxe_skb_exit(void)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct mxe_skb_store *store = &per_cpu(mxe_skb_stores, cpu);

		kfree_skb_list(store->spares);
		for (i = 0; i < MXE_SKB_CHUNKS; i++)
			if (store->chunks[i].page)
				put_page(store->chunks[i].page);
	}
}
