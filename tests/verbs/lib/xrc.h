/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Extended reliable connections (XRC) for the tests. End a of a pair is the
 * initiator, end b the target with its SRQ. One file of a program includes
 * this.
 */
#ifndef XRC_H
#define XRC_H

#include <fcntl.h>
#include "vt.h"

enum { XRC_SRQ_WR = 16, XRC_SRQ_SGE = 2 };

/**
 * xrc_open_domain() - Open an XRC domain.
 * @dev: device
 * @fd: file of the domain, or -1 (with O_CREAT) for a domain without a file
 * @oflags: O_CREAT and O_EXCL
 *
 * Return: the domain, or NULL with errno set.
 */
static inline struct ibv_xrcd *xrc_open_domain(struct vt_dev *dev, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};

	return ibv_open_xrcd(dev->ctx, &attr);
}

/**
 * xrc_make_srq() - Create an XRC SRQ.
 * @pd: protection domain
 * @xrcd: XRC domain
 * @cq: completion queue of the receives
 * @max_wr: number of receive requests
 * @max_sge: SGEs of each
 *
 * Return: the SRQ, or NULL with errno set.
 */
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

/**
 * xrc_make_target() - Create an XRC target QP.
 * @dev: device
 * @xrcd: XRC domain
 *
 * Return: the QP, or NULL with errno set.
 */
static inline struct ibv_qp *xrc_make_target(struct vt_dev *dev, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};

	return ibv_create_qp_ex(dev->ctx, &attr);
}

/**
 * xrc_receiver_open() - Create the buffer, CQ and XRC SRQ of a target, but no
 *	QP.
 * @e: end to fill in
 * @dev: device
 * @xrcd: XRC domain
 * @conf: configuration
 */
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

/**
 * xrc_receiver_close() - Destroy a target and, if it has one, its QP.
 * @e: end
 */
static inline void xrc_receiver_close(struct vt_end *e)
{
	if (e->qp && ibv_destroy_qp(e->qp))
		vt_bail("ibv_destroy_qp of a target");
	e->qp = NULL;
	if (e->xsrq && ibv_destroy_srq(e->xsrq))
		vt_bail("ibv_destroy_srq");
	vt_end_close(e);
}

/**
 * xrc_defaults() - Return the default configuration of an XRC pair.
 *
 * Return: the configuration.
 */
static inline struct vt_conf xrc_defaults(void)
{
	struct vt_conf conf = vt_defaults();

	conf.qp_type = IBV_QPT_XRC_SEND;
	return conf;
}

/**
 * xrc_pair_open() - Create and connect an XRC initiator and a target.
 * @p: pair to fill in
 * @a: device of the initiator
 * @b: device of the target
 * @xrcd: XRC domain of the target
 * @conf: configuration
 */
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

/**
 * xrc_pair_close() - Destroy an XRC pair.
 * @p: pair
 */
static inline void xrc_pair_close(struct vt_pair *p)
{
	vt_end_close(&p->a);
	xrc_receiver_close(&p->b);
}

#endif /* XRC_H */
