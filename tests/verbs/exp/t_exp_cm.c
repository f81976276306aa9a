// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that QPs of ibv_exp_create_qp() leak nothing when librdmacm, another
 * library, destroys them. The device is $MXE_A (mxe1).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"

#define ROUNDS 100

static struct ibv_context *open_device(void)
{
	const char *name = getenv("MXE_A");
	struct ibv_context *context = NULL;
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!strcmp(name ? name : "mxe1",
			    ibv_get_device_name(list[i])))
			context = ibv_open_device(list[i]);
	if (!context)
		bail_out("no device $MXE_A");
	ibv_free_device_list(list);
	return context;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;

	memset(&attr, 0, sizeof(attr));
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.cap.max_send_wr = 8;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_wr = 1;
	attr.cap.max_recv_sge = 1;
	attr.qp_type = IBV_QPT_RC;
	attr.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			 IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG;
	attr.pd = pd;
	attr.max_atomic_arg = 8;
	qp = ibv_exp_create_qp(pd->context, &attr);
	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	return qp;
}

int main(void)
{
	struct ibv_context *context = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	struct rdma_cm_id *id;
	int i, destroyed = 0;

	plan(0);
	if (!pd || !cq)
		bail_out("no protection domain or completion queue");
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		bail_out("rdma_create_id: %s", strerror(errno));
	for (i = 0; i < ROUNDS; i++) {
		id->qp = create_qp(pd, cq);
		rdma_destroy_qp(id);
		destroyed += !id->qp;
	}
	is_int(destroyed, ROUNDS, "librdmacm destroys the queue pairs");
	is_int(rdma_destroy_id(id), 0, "rdma_destroy_id");
	is_int(ibv_destroy_cq(cq), 0, "nothing uses the completion queue");
	is_int(ibv_dealloc_pd(pd), 0, "nothing uses the protection domain");
	is_int(ibv_close_device(context), 0, "ibv_close_device");
	return done_testing();
}
