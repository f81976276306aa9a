/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Extended reliable connections for the tests.  End a of a pair is the initiator,
 * end b the target with its receive queue.  Included by one file per program.
 */
#ifndef XRC_H
#define XRC_H

#include <fcntl.h>
#include "vt.h"

enum { XRC_SRQ_WR = 16, XRC_SRQ_SGE = 2 };

/* A domain of no file has fd -1 and O_CREAT. */
static inline struct ibv_xrcd *xrc_open_domain(struct vt_dev *dev, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};

	return ibv_open_xrcd(dev->ctx, &attr);
}

static inline struct ibv_srq *xrc_make_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd,
					   struct ibv_cq *cq, uint32_t max_wr,
					   uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	return ibv_create_srq_ex(pd->context, &attr);
}

static inline struct ibv_qp *xrc_make_target(struct vt_dev *dev, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};

	return ibv_create_qp_ex(dev->ctx, &attr);
}

/* Buffer, completion queue and receive queue of a target, but no queue pair. */
static inline void xrc_receiver_open(struct vt_end *e, struct vt_dev *dev,
				     struct ibv_xrcd *xrcd, const struct vt_conf *conf)
{
	struct vt_conf own = *conf;

	own.qp_type = IBV_QPT_XRC_RECV;
	vt_end_create(e, dev, &own, NULL, NULL);
	e->xsrq = xrc_make_srq(dev->pd, xrcd, e->rcq, XRC_SRQ_WR, XRC_SRQ_SGE);
	if (!e->xsrq || ibv_get_srq_num(e->xsrq, &e->srqn))
		vt_bail("a shared receive queue of XRC");
}

static inline void xrc_receiver_close(struct vt_end *e)
{
	if (e->qp && ibv_destroy_qp(e->qp))
		vt_bail("ibv_destroy_qp of a target");
	e->qp = NULL;
	if (e->xsrq && ibv_destroy_srq(e->xsrq))
		vt_bail("ibv_destroy_srq");
	vt_end_close(e);
}

static inline struct vt_conf xrc_defaults(void)
{
	struct vt_conf conf = vt_defaults();

	conf.qp_type = IBV_QPT_XRC_SEND;
	return conf;
}

static inline void xrc_pair_open(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
				 struct ibv_xrcd *xrcd, const struct vt_conf *conf)
{
	vt_end_create(&p->a, a, conf, NULL, NULL);
	xrc_receiver_open(&p->b, b, xrcd, conf);
	p->b.qp = xrc_make_target(b, xrcd);
	if (!p->b.qp)
		vt_bail("a target of XRC");
	vt_pair_connect(p, conf);
}

static inline void xrc_pair_close(struct vt_pair *p)
{
	vt_end_close(&p->a);
	xrc_receiver_close(&p->b);
}

#endif /* XRC_H */
