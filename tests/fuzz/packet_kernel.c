// SPDX-License-Identifier: GPL-2.0
/* Consumers in the kernel at both ends of the packet target: their requests. */
#include "packet.h"
#include "queues/post.h"
#include "queues/srq_verbs.h"
#include "world.h"

/* In struct ib_rdma_wr and so on, the generic request is the first member. */
union request {
	struct ib_send_wr wr;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
	struct ib_ud_wr ud;
	struct ib_reg_wr reg;
};

static u64 some_address(struct input *in)
{
	return w.mr->iova + take(in, 2) % (REGION_SIZE + 16);
}

static void set_sge(struct ib_sge *sge, struct input *in)
{
	*sge = (struct ib_sge) {
		.addr = some_address(in),
		.length = take(in, 2) & 0x1fff,
		.lkey = w.mr->key,
	};
}

static void set_atomic(struct ib_atomic_wr *wr, u8 choice, int end,
		       struct input *in)
{
	wr->remote_addr = some_address(in) & ~7ULL;
	wr->rkey = packet_some_key(choice & 2, !end);
	wr->compare_add = take(in, 2);
	wr->swap = take(in, 2);
	wr->compare_add_mask = 0x80;
	wr->swap_mask = ~0ULL << (choice & 63);
}

/* Sets the members that depend on the opcode. */
static void set_operands(union request *r, u8 choice, int end, struct input *in)
{
	switch (r->wr.opcode) {
	case IB_WR_REG_MR:
		r->reg.mr = &w.mr->ibmr;
		r->reg.key = w.mr->key + (choice >> 7);
		r->reg.access = ALL_RIGHTS;
		break;
	case IB_WR_LOCAL_INV:
		r->wr.ex.invalidate_rkey = packet_some_key(choice & 4, end);
		break;
	case IB_WR_SEND_WITH_INV:
		r->wr.ex.invalidate_rkey = packet_some_key(choice & 4, !end);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		set_atomic(&r->atomic, choice, end, in);
		break;
	default:
		r->rdma.remote_addr = some_address(in);
		r->rdma.rkey = packet_some_key(choice & 2, !end);
		break;
	}
	if (w.kind != KIND_UD)
		return;
	r->ud.ah = choice & 2 ? &w.mcast_ah.ibah : &w.ah[end].ibah;
	r->ud.remote_qpn = choice & 2 ? IB_MULTICAST_QPN :
					w.qp[!end].ibqp.qp_num;
	r->ud.remote_qkey = QKEY;
}

void packet_kernel_send(int end, struct input *in)
{
	const struct ib_send_wr *bad;
	union request r = {};
	u8 choice = take(in, 1), opcode = take(in, 1);
	struct ib_sge sge[3];
	int i;

	r.wr.wr_id = choice;
	/* One in 8 is a registration. */
	r.wr.opcode = opcode >> 4 & 7 ? opcode & 0xf : IB_WR_REG_MR;
	r.wr.send_flags = take(in, 1) & (IB_SEND_FENCE | IB_SEND_SIGNALED |
					 IB_SEND_SOLICITED | IB_SEND_INLINE);
	set_operands(&r, choice, end, in);
	r.wr.sg_list = sge;
	/* The queue has room for two. */
	r.wr.num_sge = choice >> 3 & 3;
	for (i = 0; i < r.wr.num_sge; i++) {
		set_sge(&sge[i], in);
		/* Inline data have addresses in the kernel. */
		if (r.wr.send_flags & IB_SEND_INLINE) {
			sge[i].addr = (unsigned long)fk_memory[0];
			sge[i].length %= 80;
		}
	}
	mxe_post_send(&w.qp[end].ibqp, &r.wr, &bad);
}

void packet_kernel_recv(int end, struct input *in)
{
	const struct ib_recv_wr *bad;
	struct ib_recv_wr wr = {};
	struct ib_sge sge[3];
	int i;

	set_sge(&sge[0], in);
	set_sge(&sge[1], in);
	sge[2] = sge[0];
	i = take(in, 1);
	wr.wr_id = i;
	wr.sg_list = sge;
	wr.num_sge = i & 3;
	if (end == B && w.has_srq)
		mxe_post_srq_recv(&w.srq.ibsrq, &wr, &bad);
	else
		mxe_post_recv(&w.qp[end].ibqp, &wr, &bad);
}
