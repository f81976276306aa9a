// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posts the work requests of the end-to-end tests through each interface. See
 * vt.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>
#include "vt.h"

struct ibv_sge vt_sge(const struct vt_end *e, size_t offset, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = vt_addr(e, offset),
		.length = len,
		.lkey = e->mr->lkey,
	};

	return sge;
}

uint64_t vt_addr(const struct vt_end *e, size_t offset)
{
	return (uintptr_t)e->buf + offset;
}

uint64_t *vt_word(const struct vt_end *e, size_t offset)
{
	return (uint64_t *)(void *)(e->buf + offset);
}

static int post_send(struct vt_end *e, const struct vt_wr *w)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[VT_SEND] = IBV_WR_SEND,
		[VT_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[VT_WRITE] = IBV_WR_RDMA_WRITE,
		[VT_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[VT_READ] = IBV_WR_RDMA_READ,
		[VT_CAS] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[VT_FADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_send_wr *bad;
	struct ibv_send_wr wr = {
		.wr_id = w->wr_id,
		.sg_list = w->sge,
		.num_sge = w->num_sge,
		.send_flags = w->flags,
		.imm_data = htonl(w->imm),
	};

	if (e->qp->qp_type == IBV_QPT_XRC_SEND)
		wr.qp_type.xrc.remote_srqn = w->srqn;
	if (w->op > VT_FADD)
		return EOPNOTSUPP;
	wr.opcode = opcodes[w->op];
	if (w->op >= VT_CAS) {
		wr.wr.atomic.remote_addr = w->raddr;
		wr.wr.atomic.rkey = w->rkey;
		wr.wr.atomic.compare_add = w->compare_add;
		wr.wr.atomic.swap = w->swap;
	} else {
		wr.wr.rdma.remote_addr = w->raddr;
		wr.wr.rdma.rkey = w->rkey;
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

static void build_wr(struct vt_end *e, const struct vt_wr *w)
{
	struct ibv_qp_ex *qpx = e->qpx;

	uint32_t log = w->log_arg_sz == VT_LOG_0 ? 0 : w->log_arg_sz;

	if (w->log_arg_sz && w->op == VT_MCAS) {
		mxedv_wr_ext_masked_atomic_cmp_swp(e->mqp, w->rkey, w->raddr,
						   log, w->operands[0],
						   w->operands[2],
						   w->operands[1],
						   w->operands[3]);
		return;
	}
	if (w->log_arg_sz) {
		mxedv_wr_ext_masked_atomic_fetch_add(e->mqp, w->rkey, w->raddr,
						     log, w->operands[0],
						     w->operands[2]);
		return;
	}
	switch (w->op) {
	case VT_SEND:
		ibv_wr_send(qpx);
		break;
	case VT_SEND_IMM:
		ibv_wr_send_imm(qpx, htonl(w->imm));
		break;
	case VT_WRITE:
		ibv_wr_rdma_write(qpx, w->rkey, w->raddr);
		break;
	case VT_WRITE_IMM:
		ibv_wr_rdma_write_imm(qpx, w->rkey, w->raddr, htonl(w->imm));
		break;
	case VT_READ:
		ibv_wr_rdma_read(qpx, w->rkey, w->raddr);
		break;
	case VT_CAS:
		ibv_wr_atomic_cmp_swp(qpx, w->rkey, w->raddr, w->compare_add,
				      w->swap);
		break;
	case VT_FADD:
		ibv_wr_atomic_fetch_add(qpx, w->rkey, w->raddr,
					w->compare_add);
		break;
	case VT_MCAS:
		mxedv_wr_masked_atomic_cmp_swp(e->mqp, w->rkey, w->raddr,
					       w->compare_add, w->compare_mask,
					       w->swap, w->swap_mask);
		break;
	case VT_MFADD:
		mxedv_wr_masked_atomic_fetch_add(e->mqp, w->rkey, w->raddr,
						 w->compare_add,
						 w->compare_mask);
		break;
	}
}

static int post_wr(struct vt_end *e, const struct vt_wr *w)
{
	struct ibv_qp_ex *qpx = e->qpx;

	if (!qpx)
		return EOPNOTSUPP;
	ibv_wr_start(qpx);
	qpx->wr_id = w->wr_id;
	qpx->wr_flags = w->flags & ~(unsigned int)IBV_SEND_INLINE;
	build_wr(e, w);
	if (e->qp->qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qpx, w->srqn);
	if ((w->flags & IBV_SEND_INLINE) && w->num_sge == 1)
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)w->sge->addr,
				       w->sge->length);
	else if (w->flags & IBV_SEND_INLINE) {
		struct ibv_data_buf bufs[16];

		for (int i = 0; i < w->num_sge; i++) {
			bufs[i].addr = (void *)(uintptr_t)w->sge[i].addr;
			bufs[i].length = w->sge[i].length;
		}
		ibv_wr_set_inline_data_list(qpx, (size_t)w->num_sge, bufs);
	} else if (w->num_sge == 1)
		ibv_wr_set_sge(qpx, w->sge->lkey, w->sge->addr,
			       w->sge->length);
	else
		ibv_wr_set_sge_list(qpx, (size_t)w->num_sge, w->sge);
	return ibv_wr_complete(qpx);
}

/* The field of ibv_exp_post_send() for an operand. */
static uint64_t exp_operand(const struct vt_wr *w, int index, uint64_t value)
{
	uint32_t half;
	uint16_t quarter;

	switch (w->log_arg_sz) {
	case 0:
		return value;
	/* Of these, only the low part counts. */
	case VT_LOG_0:
		return 0xdead000000000000 | *(const uint8_t *)w->operands[index];
	case 1:
		memcpy(&quarter, w->operands[index], sizeof(quarter));
		return 0xdead000000000000 | quarter;
	case 2:
		memcpy(&half, w->operands[index], sizeof(half));
		return 0xdead000000000000 | half;
	case 3:
		memcpy(&value, w->operands[index], sizeof(value));
		return value;
	default:
		return (uintptr_t)w->operands[index];
	}
}

static int post_exp(struct vt_end *e, const struct vt_wr *w)
{
	static const enum ibv_exp_wr_opcode opcodes[] = {
		[VT_SEND] = IBV_EXP_WR_SEND,
		[VT_SEND_IMM] = IBV_EXP_WR_SEND_WITH_IMM,
		[VT_WRITE] = IBV_EXP_WR_RDMA_WRITE,
		[VT_WRITE_IMM] = IBV_EXP_WR_RDMA_WRITE_WITH_IMM,
		[VT_READ] = IBV_EXP_WR_RDMA_READ,
		[VT_CAS] = IBV_EXP_WR_ATOMIC_CMP_AND_SWP,
		[VT_FADD] = IBV_EXP_WR_ATOMIC_FETCH_AND_ADD,
		[VT_MCAS] = IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
		[VT_MFADD] = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_exp_send_wr *bad;
	struct ibv_exp_send_wr wr = {
		.wr_id = w->wr_id,
		.sg_list = w->sge,
		.num_sge = w->num_sge,
		.exp_opcode = opcodes[w->op],
		.exp_send_flags = w->flags,
		.ex.imm_data = htonl(w->imm),
	};

	if (e->qp->qp_type == IBV_QPT_XRC_SEND)
		wr.qp_type.xrc.remote_srqn = w->srqn;
	if (w->op >= VT_MCAS) {
		wr.exp_send_flags |= IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr.ext_op.masked_atomics.log_arg_sz =
			w->log_arg_sz == VT_LOG_0 ? 0 :
			w->log_arg_sz ? w->log_arg_sz : 3;
		wr.ext_op.masked_atomics.remote_addr = w->raddr;
		wr.ext_op.masked_atomics.rkey = w->rkey;
	}
	if (w->op == VT_MCAS) {
		struct ibv_exp_cmp_swap *cs =
			&wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;

		cs->compare_val = exp_operand(w, 0, w->compare_add);
		cs->compare_mask = exp_operand(w, 2, w->compare_mask);
		cs->swap_val = exp_operand(w, 1, w->swap);
		cs->swap_mask = exp_operand(w, 3, w->swap_mask);
	} else if (w->op == VT_MFADD) {
		struct ibv_exp_fetch_add *fa =
			&wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

		fa->add_val = exp_operand(w, 0, w->compare_add);
		fa->field_boundary = exp_operand(w, 2, w->compare_mask);
	} else if (w->op >= VT_CAS) {
		wr.wr.atomic.remote_addr = w->raddr;
		wr.wr.atomic.rkey = w->rkey;
		wr.wr.atomic.compare_add = w->compare_add;
		wr.wr.atomic.swap = w->swap;
	} else {
		wr.wr.rdma.remote_addr = w->raddr;
		wr.wr.rdma.rkey = w->rkey;
	}
	return ibv_exp_post_send(e->qp, &wr, &bad);
}

int vt_post(struct vt_end *e, const struct vt_wr *wr)
{
	switch (wr->via) {
	case VT_WR:
		return post_wr(e, wr);
	case VT_EXP:
		return post_exp(e, wr);
	default:
		return post_send(e, wr);
	}
}

int vt_recv_sge(struct vt_end *e, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr *bad;
	struct ibv_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = n,
	};

	if (e->xsrq)
		return ibv_post_srq_recv(e->xsrq, &wr, &bad);
	return ibv_post_recv(e->qp, &wr, &bad);
}

int vt_recv(struct vt_end *e, uint64_t wr_id, size_t offset, uint32_t len)
{
	struct ibv_sge sge = vt_sge(e, offset, len);

	return vt_recv_sge(e, wr_id, &sge, len ? 1 : 0);
}

struct mxe_send_wqe *vt_find_wqe(uint64_t wr_id)
{
	FILE *f = fopen("/proc/self/maps", "r");
	struct mxe_send_wqe *wqe = NULL;
	unsigned long from, to;
	char line[512];

	while (f && !wqe && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/dev/infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		for (; from < to && !wqe; from += 8)
			if (*(uint64_t *)from == wr_id)
				wqe = (void *)from;
	}
	if (f)
		fclose(f);
	if (!wqe)
		vt_bail("no work request %#llx in any ring",
			(unsigned long long)wr_id);
	return wqe;
}

void vt_change_wqe(uint64_t wr_id, size_t offset, size_t size, uint64_t value)
{
	size_t skip = BYTE_ORDER == BIG_ENDIAN ? sizeof(value) - size : 0;

	memcpy((char *)vt_find_wqe(wr_id) + offset, (char *)&value + skip, size);
}
