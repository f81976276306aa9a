/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD QPs for the tests, the counterpart of the connected QPs of vt.h. An end is
 * a QP with its CQs and a buffer. One file of a program includes this.
 */
#ifndef UD_H
#define UD_H

#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

enum {
	UD_QKEY = 0x11223344,
	UD_GRH = 40,		/* bytes before the data of a datagram */
	UD_DEPTH = 16,
	UD_SLOT = 8192,		/* buffer bytes for one datagram */
	UD_RECV = 8 * UD_SLOT,	/* the upper half is for receives */
	UD_SIZE = 16 * UD_SLOT,
	UD_QUIET_MS = 200,
};

struct ud {
	struct vt_dev *dev;
	struct ibv_cq *cq, *rcq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_mr *mr;
	uint8_t *buf;
};

/* A datagram to send: destination, and data in the buffer of the sender. */
struct ud_wr {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
	size_t offset;
	uint32_t len;
	unsigned int flags;
	uint32_t imm;		/* host order; 0: none */
	bool builders;
};

/**
 * ud_init_attr() - Return the attributes of a UD QP.
 * @u: end with its CQs and device
 *
 * Return: the attributes, for ibv_create_qp_ex().
 */
static inline struct ibv_qp_init_attr_ex ud_init_attr(const struct ud *u)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = u->cq,
		.recv_cq = u->rcq,
		.cap = {
			.max_send_wr = UD_DEPTH,
			.max_recv_wr = UD_DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64,
		},
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = u->dev->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
}

/**
 * ud_to() - Move a UD QP to one state.
 * @u: end
 * @state: new state
 * @qkey: Q_Key, for INIT
 *
 * Return: 0 or an errno value.
 */
static inline int ud_to(struct ud *u, enum ibv_qp_state state, uint32_t qkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qkey = qkey,
		.sq_psn = 0xfffffe,
	};
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	else if (state == IBV_QPS_RTS)
		mask |= IBV_QP_SQ_PSN;
	return ibv_modify_qp(u->qp, &attr, mask);
}

/**
 * ud_create() - Create the buffer, CQs and QP of an end, and leave the QP in
 *	RESET.
 * @u: end to fill in
 * @dev: device
 */
static inline void ud_create(struct ud *u, struct vt_dev *dev)
{
	struct ibv_qp_init_attr_ex attr;

	memset(u, 0, sizeof(*u));
	u->dev = dev;
	u->buf = aligned_alloc(4096, UD_SIZE);
	u->mr = ibv_reg_mr(dev->pd, u->buf, UD_SIZE, IBV_ACCESS_LOCAL_WRITE);
	u->cq = ibv_create_cq(dev->ctx, UD_DEPTH, NULL, NULL, 0);
	u->rcq = ibv_create_cq(dev->ctx, UD_DEPTH, NULL, NULL, 0);
	if (!u->mr || !u->cq || !u->rcq)
		vt_bail("buffer and completion queues");
	attr = ud_init_attr(u);
	if (!dev->is_mxe)
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	u->qp = ibv_create_qp_ex(dev->ctx, &attr);
	if (!u->qp)
		vt_bail("ibv_create_qp_ex: UD");
	u->qpx = dev->is_mxe ? ibv_qp_to_qp_ex(u->qp) : NULL;
}

/**
 * ud_open() - Create an end and move its QP to RTS.
 * @u: end to fill in
 * @dev: device
 */
static inline void ud_open(struct ud *u, struct vt_dev *dev)
{
	ud_create(u, dev);
	if (ud_to(u, IBV_QPS_INIT, UD_QKEY) || ud_to(u, IBV_QPS_RTR, 0) ||
	    ud_to(u, IBV_QPS_RTS, 0))
		vt_bail("to RTS");
}

/**
 * ud_close() - Destroy an end.
 * @u: end
 */
static inline void ud_close(struct ud *u)
{
	if (ibv_destroy_qp(u->qp) || ibv_destroy_cq(u->cq) ||
	    ibv_destroy_cq(u->rcq) || ibv_dereg_mr(u->mr))
		vt_bail("destroy");
	free(u->buf);
}

/**
 * ud_ah_gid() - Create an address handle for a GID.
 * @dev: device
 * @sgid_index: index of the source GID
 * @dgid: destination GID
 *
 * Return: the address handle, or NULL with errno set.
 */
static inline struct ibv_ah *ud_ah_gid(struct vt_dev *dev, int sgid_index,
				       const union ibv_gid *dgid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = *dgid,
			.sgid_index = (uint8_t)sgid_index,
			.hop_limit = 33,
			.traffic_class = 0x48,
			.flow_label = 0x12345,
		},
	};

	return ibv_create_ah(dev->pd, &attr);
}

/**
 * ud_ah() - Create an address handle from one device to another.
 * @from: source device
 * @to: destination device
 * @ipv6: use the IPv6 addresses
 *
 * Return: the address handle.
 */
static inline struct ibv_ah *ud_ah(struct vt_dev *from, struct vt_dev *to,
				   bool ipv6)
{
	struct ibv_ah *ah;

	ah = ipv6 ? ud_ah_gid(from, from->gid6_index, &to->gid6) :
		    ud_ah_gid(from, from->gid4_index, &to->gid4);
	if (!ah)
		vt_bail("ibv_create_ah");
	return ah;
}

/**
 * ud_send_built() - Post a datagram with the builders (ibv_wr_*()).
 * @u: end, on a device of mxe
 * @w: datagram
 *
 * Return: 0 or an errno value.
 */
static inline int ud_send_built(struct ud *u, const struct ud_wr *w)
{
	ibv_wr_start(u->qpx);
	u->qpx->wr_id = w->offset;
	u->qpx->wr_flags = w->flags & ~IBV_SEND_INLINE;
	if (w->imm)
		ibv_wr_send_imm(u->qpx, htobe32(w->imm));
	else
		ibv_wr_send(u->qpx);
	ibv_wr_set_ud_addr(u->qpx, w->ah, w->qpn, w->qkey);
	if (w->flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(u->qpx, u->buf + w->offset, w->len);
	else
		ibv_wr_set_sge(u->qpx, u->mr->lkey,
			       (uintptr_t)u->buf + w->offset, w->len);
	return ibv_wr_complete(u->qpx);
}

/**
 * ud_send() - Post a datagram.
 * @u: end
 * @w: datagram, whose offset becomes the wr_id
 *
 * Return: 0 or an errno value.
 */
static inline int ud_send(struct ud *u, const struct ud_wr *w)
{
	struct ibv_sge sge = {
		(uintptr_t)u->buf + w->offset, w->len, u->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = w->offset,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = w->imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.send_flags = w->flags,
		.imm_data = htobe32(w->imm),
		.wr.ud = { w->ah, w->qpn, w->qkey },
	};

	return w->builders ? ud_send_built(u, w) :
			     ibv_post_send(u->qp, &wr, &bad);
}

/**
 * ud_send_wait() - Post a signalled datagram and wait for its completion.
 * @u: end
 * @w: datagram
 *
 * Return: the status of the completion, or -1 if none has arrived.
 */
static inline int ud_send_wait(struct ud *u, struct ud_wr w)
{
	struct ibv_wc wc;
	int ret;

	w.flags |= IBV_SEND_SIGNALED;
	ret = ud_send(u, &w);
	if (ret) {
		errno = ret;
		vt_bail("cannot post a datagram");
	}
	if (!vt_poll(u->cq, &wc, VT_MS))
		return -1;
	return wc.status;
}

/**
 * ud_recv() - Post a receive request.
 * @u: end
 * @offset: offset in the buffer in bytes, which becomes the wr_id
 * @len: length in bytes
 *
 * Return: 0 or an errno value.
 */
static inline int ud_recv(struct ud *u, size_t offset, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)u->buf + offset, len, u->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = offset, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_recv(u->qp, &wr, &bad);
}

/**
 * ud_must_recv() - Post a receive request, and end the program on failure.
 * @u: end
 * @offset: offset in the buffer in bytes, which becomes the wr_id
 * @len: length in bytes
 */
static inline void ud_must_recv(struct ud *u, size_t offset, uint32_t len)
{
	int ret = ud_recv(u, offset, len);

	if (ret) {
		errno = ret;
		vt_bail("cannot post a receive request");
	}
}

/**
 * ud_next() - Wait for a datagram and check that its completion is a success.
 * @u: end
 * @what: name of the check
 *
 * Return: the completion.
 */
static inline struct ibv_wc ud_next(struct ud *u, const char *what)
{
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	if (!vt_poll(u->rcq, &wc, VT_MS))
		ok(false, "%s: no datagram arrives", what);
	else
		is_int(wc.status, IBV_WC_SUCCESS, "%s: received", what);
	return wc;
}

#endif /* UD_H */
