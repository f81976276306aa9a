/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * This header comes before libibverbs's own, for programs that include nothing
 * but <infiniband/verbs.h> and expect the experimental verbs there, as they
 * were in MLNX_OFED. It is in a directory of its own, which ibv-exp-env(1) puts
 * in the way of the compiler.
 *
 * MLNX_OFED had added members to three structures of verbs.h. Libibverbs's own
 * structures get other names here, and those that programs see are defined in
 * verbs_members.h, with the same layout and the additional members.
 */
#ifndef _INFINIBAND_VERBS_WITH_EXP_H
#define _INFINIBAND_VERBS_WITH_EXP_H

/* #include_next is an extension, which is no concern of the program's. */
#pragma GCC system_header

#define ibv_send_wr		ibv_std_send_wr
#define ibv_post_send		ibv_std_post_send
#define ibv_qp_init_attr	ibv_std_qp_init_attr
#define ibv_create_qp		ibv_std_create_qp
#define ibv_query_qp		ibv_std_query_qp
#define ibv_async_event		ibv_std_async_event
#define ibv_get_async_event	ibv_std_get_async_event
#define ibv_ack_async_event	ibv_std_ack_async_event

struct ibv_context;
struct ibv_pd;
struct ibv_qp;
struct ibv_qp_attr;
struct ibv_qp_init_attr;
struct ibv_async_event;

/* Under their other names, these functions keep their symbols. */
#ifdef __cplusplus
extern "C" {
#endif
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd,
			     struct ibv_qp_init_attr *qp_init_attr)
	__asm__("ibv_create_qp");
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr)
	__asm__("ibv_query_qp");
int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
	__asm__("ibv_get_async_event");
void ibv_ack_async_event(struct ibv_async_event *event)
	__asm__("ibv_ack_async_event");
#ifdef __cplusplus
}
#endif

#include <infiniband/verbs_exp_enums.h>
#include_next <infiniband/verbs.h>
#include <infiniband/verbs_exp_enums.h>

#undef ibv_send_wr
#undef ibv_post_send
#undef ibv_qp_init_attr
#undef ibv_create_qp
#undef ibv_query_qp
#undef ibv_async_event
#undef ibv_get_async_event
#undef ibv_ack_async_event

#include <infiniband/verbs_members.h>
#include <infiniband/verbs_exp.h>

#endif /* _INFINIBAND_VERBS_WITH_EXP_H */
