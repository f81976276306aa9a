// SPDX-License-Identifier: GPL-2.0
/*
 * The processes at both ends of the packet target: valid and invalid requests,
 * and overwritten rings.
 */
#include "packet.h"
#include "packet_dc.h"
#include "rc/send.h"
#include "tm/tm.h"
#include "world.h"

u32 packet_some_key(bool window, int end)
{
	return window ? to_mmw(&w.mw[end].ibmw)->key : w.mr->key;
}

static void put_sge(struct mxe_sge *sge, struct input *in)
{
	u16 offset = take(in, 2), length = take(in, 2);

	*sge = (struct mxe_sge) {
		.addr = w.mr->iova + offset % (REGION_SIZE + 16),
		.length = length & 0x1fff,
		.lkey = w.mr->key,
	};
}

/* Few tags, so that messages match. */
static u64 some_tag(struct input *in)
{
	return take(in, 1) & 3;
}

/* Writes the headers of a message to a tag-matching SRQ. */
static void put_message(struct mxe_rndv_hdr *hdr, struct input *in)
{
	*hdr = (struct mxe_rndv_hdr) {
		.tmh.opcode = take(in, 1) & 3,
		.tmh.tag = cpu_to_be64(some_tag(in)),
		.rvh.va = cpu_to_be64(w.mr->iova + take(in, 1)),
		.rvh.rkey = cpu_to_be32(packet_some_key(true, A)),
		.rvh.len = cpu_to_be32(take(in, 2)),
	};
}

/*
 * Builds a message to a tag-matching SRQ: inline data, or of any length from
 * the region, where its headers are written.
 */
static void put_tagged(struct mxe_send_wqe *wqe, u8 choice, struct input *in)
{
	struct mxe_sge *sge = (void *)(wqe + 1);
	u32 offset;

	if (!(choice & 0x40)) {
		put_message((void *)(wqe + 1), in);
		wqe->flags = MXE_SEND_INLINE;
		wqe->inline_len = 30 + choice % 34;
		return;
	}
	put_sge(sge, in);
	offset = (sge->addr - w.mr->iova) % REGION_SIZE & ~63;
	sge->addr = w.mr->iova + offset;
	put_message((void *)(fk_memory[offset / PAGE_SIZE * 2] +
			     offset % PAGE_SIZE), in);
	wqe->num_sge = 1;
}

/* Cuts the operands of an atomic to its size. */
static void shorten_atomic(struct mxe_send_wqe *wqe)
{
	u64 mask = GENMASK_ULL((8 << wqe->log_arg_sz) - 1, 0);

	wqe->atomic.compare_add &= mask;
	wqe->atomic.swap &= mask;
	wqe->atomic.compare_add_mask &= mask;
	wqe->atomic.swap_mask &= mask;
}

/*
 * Builds a request that is valid except for the members that the input chooses.
 */
static void put_request(struct mxe_send_wqe *wqe, int end, struct input *in)
{
	u8 choice = take(in, 1);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = choice;
	wqe->opcode = take(in, 1) & 0xf;
	wqe->flags = take(in, 1);
	wqe->remote_addr = w.mr->iova + take(in, 2) % (REGION_SIZE + 16);
	if (choice & 1)
		wqe->remote_addr &= ~31ULL;
	wqe->rkey = packet_some_key(choice & 2, !end);
	wqe->remote_srqn = w.kind == KIND_XRC ? w.srq.num : 0;
	if (wqe->opcode == IB_UVERBS_WR_BIND_MW) {
		wqe->rkey = packet_some_key(true, end) ^ (choice >> 4);
		wqe->bind.addr = w.mr->iova + take(in, 1);
		wqe->bind.length = take(in, 2);
		wqe->bind.mr_lkey = w.mr->key;
		wqe->bind.access = take(in, 1);
		return;
	}
	if (wqe->opcode == IB_UVERBS_WR_SEND_WITH_INV)
		wqe->invalidate_rkey = packet_some_key(choice & 4, !end);
	if (wqe->opcode == IB_UVERBS_WR_LOCAL_INV) {
		wqe->invalidate_rkey = packet_some_key(choice & 4, end);
		return;
	}
	if (w.kind != KIND_UD && wqe->opcode == MXE_WR_FLUSH) {
		wqe->flush.length = take(in, 1);
		wqe->flush.type = IB_FLUSH_GLOBAL;
		wqe->flush.level = take(in, 1) & 1;
		return;
	}
	if (w.kind == KIND_UD) {
		wqe->ud.ah_num = w.ah[end].num;
		wqe->ud.remote_qpn = w.qp[!end].ibqp.qp_num;
		if (choice & 2) {
			wqe->ud.ah_num = w.mcast_ah.num;
			wqe->ud.remote_qpn = IB_MULTICAST_QPN;
		}
		wqe->ud.remote_qkey = QKEY;
	} else {
		wqe->atomic.compare_add = take(in, 2);
		wqe->atomic.swap = take(in, 2);
		wqe->atomic.compare_add_mask = (u64)take(in, 4) << 32 | 0x80;
		wqe->atomic.swap_mask = ~0ULL << (choice & 63);
	}
	if (wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP ||
	    wqe->opcode == IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD) {
		wqe->log_arg_sz = (choice >> 3) % 6;
		/* Otherwise most short operands had bits that must be 0. */
		if (wqe->log_arg_sz < 3 && !(choice & 1))
			shorten_atomic(wqe);
	}
	if (wqe->opcode == MXE_WR_ATOMIC_WRITE && choice & 4) {
		memset(wqe->atomic_write.reserved, 0,
		       sizeof(wqe->atomic_write.reserved));
		return;
	}
	if (wqe->flags & MXE_SEND_INLINE) {
		wqe->inline_len = take(in, 1) % 80;
		return;
	}
	if (w.has_tags && end == A && wqe->opcode == IB_UVERBS_WR_SEND) {
		put_tagged(wqe, choice, in);
		return;
	}
	wqe->num_sge = 1;
	if (wqe->log_arg_sz > 3)
		put_sge((void *)(wqe + 1) + (4 << wqe->log_arg_sz), in);
	else
		put_sge((void *)(wqe + 1), in);
}

/* Writes arbitrary bytes into an entry, as a process can. */
static void put_bytes(u8 *entry, size_t room, struct input *in)
{
	size_t len = min_t(size_t, take(in, 1), room);

	len = min_t(size_t, len, in->end - in->p);
	memcpy(entry, in->p, len);
	in->p += len;
}

void packet_post_send(int end, struct input *in, bool sane)
{
	struct mxe_ring *ring = &world_qp(end)->req.ring;
	void *entry;

	if (!ring->hdr)
		return;
	entry = mxe_ring_entry(ring, ring->hdr->producer);
	if (sane) {
		put_request(entry, end, in);
		if (w.kind == KIND_DC)
			packet_dc_put_dest(entry, take(in, 1));
	} else {
		put_bytes(entry, ring->stride, in);
	}
	ring->hdr->producer++;
	mxe_send_doorbell(world_qp(end));
}

static struct mxe_ring *recv_ring(int end)
{
	return end == B && w.has_srq ? &w.srq.q.ring : &world_qp(end)->resp.q.ring;
}

void packet_post_recv(int end, struct input *in, bool sane)
{
	struct mxe_ring *ring = recv_ring(end);
	struct mxe_recv_wqe *wqe;

	if (!ring->hdr)
		return;
	wqe = mxe_ring_entry(ring, ring->hdr->producer);
	if (sane) {
		*wqe = (struct mxe_recv_wqe) { .num_sge = 1 };
		put_sge((void *)(wqe + 1), in);
	} else {
		put_bytes((u8 *)wqe, ring->stride, in);
	}
	ring->hdr->producer++;
}

void packet_post_tag(struct input *in)
{
	struct mxe_ring *ring;
	struct mxe_tm_wqe *op;
	u8 choice = take(in, 1);

	if (!w.has_tags)
		return;
	ring = &w.srq.tm->ops;
	op = mxe_ring_entry(ring, ring->hdr->producer);
	if (choice & 0x80) {
		put_bytes((u8 *)op, ring->stride, in);
	} else {
		*op = (struct mxe_tm_wqe) {
			.opcode = choice & 4 ? choice & 3 : MXE_TM_ADD,
			.flags = choice >> 3 & 3,
			.handle = take(in, 1) & 7,
			.unexpected_cnt = w.srq.tm->unexpected - !(choice & 0x60),
		};
		if (op->opcode == MXE_TM_ADD) {
			op->tag = some_tag(in);
			op->mask = choice & 0x20 ? ~0ULL : 3;
			op->num_sge = 1;
			put_sge((void *)(op + 1), in);
		}
	}
	ring->hdr->producer += choice == 0xff ? 100 : 1;
	/* As libmxe, which leaves a few tags to the next message. */
	if (!(choice & 0x98) && ring->hdr->producer - w.srq.tm->consumed <= MXE_TM_MAX_UNRUNG)
		return;
	while (mxe_tm_ring(&w.srq))
		;
}

void packet_scribble(int end, struct input *in)
{
	struct mxe_ring *rings[] = {
		&world_qp(end)->req.ring, recv_ring(end), &w.cq[end].ring,
	};
	struct mxe_ring *ring = rings[take(in, 1) % 3];
	u8 what = take(in, 1);

	if (!ring->hdr)
		return;
	if (what & 1)
		ring->hdr->producer += (s8)take(in, 1) << (what >> 3);
	if (what & 2)
		ring->hdr->consumer += (s8)take(in, 1) << (what >> 3);
	if (what & 4)
		ring->hdr->flags = take(in, 1);
}
