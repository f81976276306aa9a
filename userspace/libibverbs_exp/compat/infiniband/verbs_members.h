/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Structures of verbs.h with the members that they had in MLNX_OFED 4.9, for
 * verbs.h of this directory. Their layout is that of libibverbs, which gets
 * pointers to them.
 */
#ifndef _INFINIBAND_VERBS_MEMBERS_H
#define _INFINIBAND_VERBS_MEMBERS_H

#pragma GCC system_header

struct ibv_exp_dct;
struct ibv_xrc_domain;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The number of an SRQ from ibv_create_xrc_srq(). libibverbs_exp counts the
 * events of such an SRQ elsewhere.
 */
#define xrc_srq_num events_completed

struct ibv_send_wr {
	uint64_t		wr_id;
	struct ibv_send_wr	*next;
	struct ibv_sge		*sg_list;
	int			num_sge;
	enum ibv_wr_opcode	opcode;
	unsigned int		send_flags;
	union {
		__be32		imm_data;
		uint32_t	invalidate_rkey;
	};
	union {
		struct {
			uint64_t	remote_addr;
			uint32_t	rkey;
		} rdma;
		struct {
			uint64_t	remote_addr;
			uint64_t	compare_add;
			uint64_t	swap;
			uint32_t	rkey;
		} atomic;
		struct {
			struct ibv_ah	*ah;
			uint32_t	remote_qpn;
			uint32_t	remote_qkey;
		} ud;
	} wr;
	union {
		union {
			struct {
				uint32_t	remote_srqn;
			} xrc;
		} qp_type;
		uint32_t	xrc_remote_srq_num;
	};
	union {
		struct {
			struct ibv_mw		*mw;
			uint32_t		rkey;
			struct ibv_mw_bind_info	bind_info;
		} bind_mw;
		struct {
			void		*hdr;
			uint16_t	hdr_sz;
			uint16_t	mss;
		} tso;
	};
};

static inline int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	return qp->context->ops.post_send(qp, (struct ibv_std_send_wr *)wr,
					  (struct ibv_std_send_wr **)bad_wr);
}

struct ibv_qp_init_attr {
	void			*qp_context;
	struct ibv_cq		*send_cq;
	struct ibv_cq		*recv_cq;
	struct ibv_srq		*srq;
	struct ibv_qp_cap	cap;
	enum ibv_qp_type	qp_type;
	int			sq_sig_all;
	/* Only for ibv_create_xrc_rcv_qp(). */
	struct ibv_xrc_domain	*xrc_domain;
};

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd,
			     struct ibv_qp_init_attr *qp_init_attr);
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);

struct ibv_async_event {
	union {
		struct ibv_cq		*cq;
		struct ibv_qp		*qp;
		struct ibv_srq		*srq;
		struct ibv_wq		*wq;
		struct ibv_exp_dct	*dct;
		int			port_num;
		uint32_t		xrc_qp_num;
	} element;
	enum ibv_event_type	event_type;
};

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event);
void ibv_ack_async_event(struct ibv_async_event *event);

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_VERBS_MEMBERS_H */
