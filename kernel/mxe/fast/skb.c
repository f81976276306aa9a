// SPDX-License-Identifier: GPL-2.0
/* Socket buffers for packets that are sent, from per-CPU memory. */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "fast/skb.h"

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

/* Accessed with BHs disabled. */
struct mxe_skb_store {
	struct page_frag chunks[MXE_SKB_CHUNKS];
	unsigned int current_chunk;
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

/*
 * Allocate an empty socket buffer with room for @size bytes, which are
 * uninitialised. skb->cb is zeroed. Return NULL if there is no memory.
 * Context: BHs disabled.
 */
struct sk_buff *mxe_skb_alloc(size_t size)
{
	struct sk_buff *skb = mxe_skb_build(size);

	/*
	 * mxe_skb_build() fails for more than a page if no large chunk can be
	 * allocated.
	 */
	return skb ?: alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
}

/*
 * Free the per-CPU memory, after the last allocation.
 * Context: Process context.
 */
void mxe_skb_exit(void)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct mxe_skb_store *store = &per_cpu(mxe_skb_stores, cpu);

		for (i = 0; i < MXE_SKB_CHUNKS; i++)
			if (store->chunks[i].page)
				put_page(store->chunks[i].page);
	}
}
