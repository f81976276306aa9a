/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Targets and initiators of dynamically connected (DC) QPs for the tests, and
 * requests between them.  One file of a program includes this.
 */
#ifndef DC_H
#define DC_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ud.h"
#include "vt.h"

enum {
	DC_BUF_SIZE = 1 << 16,
	DC_HALF = DC_BUF_SIZE / 2,
	DC_SRQ_WR = 64,
	DC_DEPTH = 64,
	DC_ACCESS_FLUSH_GLOBAL = 1 << 8,
	DC_SEND_OPS = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
		   IBV_QP_EX_WITH_SEND_WITH_INV |
#ifdef HAVE_ATOMIC_WRITE
		   IBV_QP_EX_WITH_ATOMIC_WRITE |
#endif
		   IBV_QP_EX_WITH_RDMA_WRITE |
		   IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		   IBV_QP_EX_WITH_RDMA_READ |
		   IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
};

struct dc_target {
	struct vt_dev *dev;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	uint64_t key;
	/* Address of the target's host, for the initiator. */
	struct ibv_ah *ah;
};

struct dc_initiator {
	struct vt_dev *dev;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct mxedv_qp_ex *mqp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

/* Initiators have short queues without inline data and wide atomics. */
static bool dc_small;
static uint8_t dc_retry_cnt = 7;
static uint8_t dc_timeout = 14;
static uint8_t dc_rnr_timer = 1;
static enum ibv_mtu dc_path_mtu = IBV_MTU_1024;

/* ---- objects ----------------------------------------------------------- */

/**
 * dc_create() - Create a DC QP.
 * @dev: device
 * @cq: completion queue
 * @srq: SRQ of a target, or NULL
 * @dc_type: MXEDV_DCTYPE_*
 * @key: access key of a target
 *
 * Return: the QP in RESET, or NULL with errno set.
 */
static inline struct ibv_qp *dc_create(struct vt_dev *dev, struct ibv_cq *cq,
				       struct ibv_srq *srq, uint32_t dc_type, uint64_t key)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {
			.max_send_wr = dc_small ? 4 : DC_DEPTH,
			.max_send_sge = dc_small ? 1 : 2,
			.max_inline_data = dc_small ? 0 : 64,
		},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (srq ? 0 : IBV_QP_INIT_ATTR_SEND_OPS_FLAGS),
		.pd = dev->pd,
		.send_ops_flags = srq ? 0 : DC_SEND_OPS,
	};
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_DC |
			     (srq ? 0 : MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG),
		.max_atomic_arg = dc_small ? 8 : 32,
		.dc_type = dc_type,
		.dct_access_key = key,
	};

	return mxedv_create_qp(dev->ctx, &attr, &mxe_attr);
}

/**
 * dc_to_init() - Move a QP to INIT.
 * @qp: DC QP
 * @is_target: it is a target
 *
 * Return: 0 or an errno value.
 */
static inline int dc_to_init(struct ibv_qp *qp, bool is_target)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = VT_ACCESS_ALL,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT |
			     (is_target ? IBV_QP_ACCESS_FLAGS : 0));
}

/**
 * dc_to_rtr() - Move a QP from INIT to RTR.
 * @qp: DC QP
 * @is_target: it is a target
 *
 * Return: 0 or an errno value.
 */
static inline int dc_to_rtr(struct ibv_qp *qp, bool is_target)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = dc_path_mtu,
		.min_rnr_timer = dc_rnr_timer,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU |
			     (is_target ? IBV_QP_MIN_RNR_TIMER : 0));
}

/**
 * dc_to_rts() - Move an initiator from RTR to RTS.
 * @qp: DC QP
 *
 * Return: 0 or an errno value.
 */
static inline int dc_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = dc_timeout,
		.retry_cnt = dc_retry_cnt,
		.rnr_retry = 7,
		.max_rd_atomic = 8,
		.sq_psn = 0xfffff0,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN);
}

/**
 * dc_to_state() - Move a QP to a state that needs no attributes.
 * @qp: DC QP
 * @state: RESET or ERR
 *
 * Return: 0 or an errno value.
 */
static inline int dc_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	return vt_to_state(&(struct vt_end){ .qp = qp }, state);
}

/**
 * dc_target_qp() - Create the QP of a target, in RTR.
 * @t: target, which has all other objects
 */
static inline void dc_target_qp(struct dc_target *t)
{
	t->qp = dc_create(t->dev, t->cq, t->srq, MXEDV_DCTYPE_DCT, t->key);
	if (!t->qp || dc_to_init(t->qp, true) || dc_to_rtr(t->qp, true))
		vt_bail("a target");
}

/**
 * dc_target_open() - Create a target in RTR, with memory.
 * @t: set to the target
 * @dev: its device
 * @from: device of the initiators that use it
 * @key: access key
 * @ipv6: initiators use its IPv6 address
 */
static inline void dc_target_open(struct dc_target *t, struct vt_dev *dev,
				  struct vt_dev *from, uint64_t key, bool ipv6)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = DC_SRQ_WR, .max_sge = 1 },
	};

	*t = (struct dc_target){ .dev = dev, .key = key };
	t->buf = aligned_alloc(4096, DC_BUF_SIZE);
	t->cq = ibv_create_cq(dev->ctx, 4 * DC_SRQ_WR, NULL, NULL, 0);
	t->srq = ibv_create_srq(dev->pd, &srq_attr);
	if (!t->buf || !t->cq || !t->srq)
		vt_bail("objects of a target");
	memset(t->buf, 0, DC_BUF_SIZE);
	t->mr = ibv_reg_mr(dev->pd, t->buf, DC_BUF_SIZE, VT_ACCESS_ALL);
	if (!t->mr)
		vt_bail("memory of a target");
	dc_target_qp(t);
	t->ah = ud_ah(from, dev, ipv6);
}

/**
 * dc_target_close() - Destroy what dc_target_open() made.
 * @t: target, whose qp may be NULL
 */
static inline void dc_target_close(struct dc_target *t)
{
	if (t->qp)
		ibv_destroy_qp(t->qp);
	ibv_destroy_ah(t->ah);
	ibv_destroy_srq(t->srq);
	ibv_destroy_cq(t->cq);
	ibv_dereg_mr(t->mr);
	free(t->buf);
}

/**
 * dc_target_recv() - Post a receive request to the SRQ.
 * @t: target
 * @wr_id: of the request
 * @offset: of its memory in t->buf
 * @len: bytes
 */
static inline void dc_target_recv(struct dc_target *t, uint64_t wr_id, size_t offset, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)t->buf + offset, len, t->mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (ibv_post_srq_recv(t->srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
}

/**
 * dc_initiator_qp() - Create the QP of an initiator, in RTS.
 * @i: initiator, which has all other objects
 */
static inline void dc_initiator_qp(struct dc_initiator *i)
{
	i->qp = dc_create(i->dev, i->cq, NULL, MXEDV_DCTYPE_DCI, 0);
	if (!i->qp || dc_to_init(i->qp, false) || dc_to_rtr(i->qp, false) ||
	    dc_to_rts(i->qp))
		vt_bail("an initiator");
	i->qpx = ibv_qp_to_qp_ex(i->qp);
	i->mqp = mxedv_qp_ex_from_ibv_qp_ex(i->qpx);
}

/**
 * dc_initiator_open() - Create an initiator in RTS, with memory.
 * @i: set to the initiator
 * @dev: its device
 */
static inline void dc_initiator_open(struct dc_initiator *i, struct vt_dev *dev)
{
	*i = (struct dc_initiator){ .dev = dev };
	i->buf = calloc(1, DC_BUF_SIZE);
	i->cq = ibv_create_cq(dev->ctx, 2 * DC_DEPTH, NULL, NULL, 0);
	if (!i->buf || !i->cq)
		vt_bail("objects of an initiator");
	i->mr = ibv_reg_mr(dev->pd, i->buf, DC_BUF_SIZE, VT_ACCESS_ALL);
	if (!i->mr)
		vt_bail("memory of an initiator");
	dc_initiator_qp(i);
}

/**
 * dc_initiator_close() - Destroy what dc_initiator_open() made.
 * @i: initiator
 */
static inline void dc_initiator_close(struct dc_initiator *i)
{
	ibv_destroy_qp(i->qp);
	ibv_destroy_cq(i->cq);
	ibv_dereg_mr(i->mr);
	free(i->buf);
}

/**
 * dc_initiator_reset() - Move an initiator through RESET to RTS.
 * @i: initiator, for example after an error
 */
static inline void dc_initiator_reset(struct dc_initiator *i)
{
	if (dc_to_state(i->qp, IBV_QPS_RESET) || dc_to_init(i->qp, false) ||
	    dc_to_rtr(i->qp, false) || dc_to_rts(i->qp))
		vt_bail("reset of an initiator");
}

/* ---- requests ---------------------------------------------------------- */

/**
 * dc_begin() - Begin a signaled request.
 * @i: initiator
 * @wr_id: of the request
 */
static inline void dc_begin(struct dc_initiator *i, uint64_t wr_id)
{
	ibv_wr_start(i->qpx);
	i->qpx->wr_id = wr_id;
	i->qpx->wr_flags = IBV_SEND_SIGNALED;
}

/**
 * dc_end() - Complete a request and post it.
 * @i: initiator, which has begun the request
 * @t: target
 * @len: bytes of the local data, which begin at i->buf
 *
 * Return: 0 or an errno value.
 */
static inline int dc_end(struct dc_initiator *i, struct dc_target *t, uint32_t len)
{
	mxedv_wr_set_dc_addr(i->mqp, t->ah, t->qp->qp_num, t->key);
	ibv_wr_set_sge(i->qpx, i->mr->lkey, (uintptr_t)i->buf, len);
	return ibv_wr_complete(i->qpx);
}

/**
 * dc_wait() - Wait for a completion.
 * @cq: completion queue
 * @wr_id: of the request that must complete next
 *
 * Return: its status.
 */
static inline enum ibv_wc_status dc_wait(struct ibv_cq *cq, uint64_t wr_id)
{
	struct ibv_wc wc;

	if (!vt_poll(cq, &wc, VT_MS))
		vt_bail("no completion of request %d", (int)wr_id);
	if (wc.wr_id != wr_id)
		vt_bail("completion of request %d instead of %d", (int)wc.wr_id,
			(int)wr_id);
	return wc.status;
}

/**
 * dc_addr() - Return a remote address.
 * @t: target
 * @offset: in t->buf
 *
 * Return: the address.
 */
static inline uint64_t dc_addr(const struct dc_target *t, size_t offset)
{
	return (uintptr_t)t->buf + offset;
}

/**
 * dc_post_fadd() - Post a fetch-and-add of 1.
 * @i: initiator
 * @t: target
 * @wr_id: of the request
 * @offset: of the word in t->buf
 *
 * Return: 0 or an errno value.
 */
static inline int dc_post_fadd(struct dc_initiator *i, struct dc_target *t, uint64_t wr_id,
			       size_t offset)
{
	dc_begin(i, wr_id);
	ibv_wr_atomic_fetch_add(i->qpx, t->mr->rkey, dc_addr(t, offset), 1);
	return dc_end(i, t, 8);
}

/**
 * dc_fadd() - Add 1 to the first word of a target.
 * @i: initiator
 * @t: target
 *
 * Return: the status of the completion.
 */
static inline enum ibv_wc_status dc_fadd(struct dc_initiator *i, struct dc_target *t)
{
	if (dc_post_fadd(i, t, 1, 0))
		return IBV_WC_GENERAL_ERR;
	return dc_wait(i->cq, 1);
}

/**
 * dc_word() - Read a word.
 * @buf: memory of 8 bytes
 *
 * Return: its value.
 */
static inline uint64_t dc_word(const uint8_t *buf)
{
	uint64_t value;

	memcpy(&value, buf, sizeof(value));
	return value;
}

/* ---- resources --------------------------------------------------------- */

/**
 * dc_resource_of() - Look at what the rdma tool shows of a QP.
 * @dev: device
 * @qp: QP
 * @what: text
 *
 * Return: true if the tool shows the text.
 */
static inline bool dc_resource_of(const struct vt_dev *dev, const struct ibv_qp *qp,
				  const char *what)
{
	char command[128], line[1024];
	bool found = false;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "rdma -dd resource show qp link %s/1 lqpn %u",
		 ibv_get_device_name(dev->ctx->device), qp->qp_num);
	pipe = popen(command, "r");
	if (!pipe)
		vt_bail("popen");
	while (fgets(line, sizeof(line), pipe))
		found |= !!strstr(line, what);
	pclose(pipe);
	return found;
}

/**
 * dc_resource_has() - Look at what the rdma tool shows of a target.
 * @t: target
 * @what: text
 *
 * Return: true if the tool shows the text.
 */
static inline bool dc_resource_has(const struct dc_target *t, const char *what)
{
	return dc_resource_of(t->dev, t->qp, what);
}

#endif /* DC_H */
