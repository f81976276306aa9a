/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The XRC interface of OFED 1.3, which MLNX_OFED 4.9 still had. See
 * ibv_open_xrc_domain(3).
 *
 * Its members of structures of verbs.h (xrc_srq_num of struct ibv_srq,
 * xrc_remote_srq_num of struct ibv_send_wr and others) are declared only by the
 * verbs.h that ibv-exp-env(1) lets programs find. So are the calls that access
 * xrc_domain of struct ibv_qp_init_attr, which is not there otherwise.
 */
#ifndef _INFINIBAND_VERBS_EXP_XRC_H
#define _INFINIBAND_VERBS_EXP_XRC_H

#ifndef _INFINIBAND_VERBS_EXP_H
#error "include <infiniband/verbs_exp.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Set in event_type if element.xrc_qp_num is valid. */
enum ibv_event_flags {
	IBV_XRC_QP_EVENT_FLAG	= 0x80000000,
};

struct ibv_xrc_domain {
	struct ibv_context	*context;
	uint32_t		handle;
};

struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd,
					   int oflag);
int ibv_close_xrc_domain(struct ibv_xrc_domain *d);

struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd,
				   struct ibv_xrc_domain *xrc_domain,
				   struct ibv_cq *xrc_cq,
				   struct ibv_srq_init_attr *srq_init_attr);

#ifdef _INFINIBAND_VERBS_MEMBERS_H
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr,
			  uint32_t *xrc_rcv_qpn);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain,
			 uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_qp_init_attr *init_attr);
#endif
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain,
			  uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			  int attr_mask);
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num);
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain,
			 uint32_t xrc_qp_num);

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_VERBS_EXP_XRC_H */
