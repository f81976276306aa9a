// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A minimal program with a masked atomic, without error handling.  It executes
 * one masked compare-and-swap on a queue pair that is connected to itself, on
 * the first RDMA device.
 *
 *	gcc hello_masked.c -o hello_masked -lmxe -libverbs
 */
#include <stdio.h>
#include <infiniband/mxedv.h>

/* Connects an RC queue pair, in the three steps that verbs require. */
static void connect_to_itself(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_1024,
		.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC, .dest_qp_num = qp->qp_num,
		.max_rd_atomic = 1, .max_dest_rd_atomic = 1, .timeout = 14, .retry_cnt = 7,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh.hop_limit = 1 },
	};

	ibv_query_gid(qp->context, 1, 0, &a.ah_attr.grh.dgid);
	ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		      IBV_QP_ACCESS_FLAGS);
	a.qp_state = IBV_QPS_RTR;
	ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	a.qp_state = IBV_QPS_RTS;
	ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int main(void)
{
	_Alignas(8) unsigned long word = 0x1111222233334444, old;
	struct ibv_context *ctx = ibv_open_device(*ibv_get_device_list(NULL));
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, &word, 8, IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_ATOMIC);
	struct ibv_mr *old_mr = ibv_reg_mr(pd, &old, 8, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .pd = pd, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(mxedv_create_qp(ctx, &init, NULL));
	struct ibv_wc wc;

	connect_to_itself(&qp->qp_base);

	/* If bits 0 to 15 are 0x4444, set bits 16 to 31 to 0xabcd. */
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	mxedv_wr_masked_atomic_cmp_swp(mxedv_qp_ex_from_ibv_qp_ex(qp), mr->rkey, (uintptr_t)&word,
				       0x4444, 0xffff, 0xabcd0000, 0xffff0000);
	ibv_wr_set_sge(qp, old_mr->lkey, (uintptr_t)&old, 8);
	ibv_wr_complete(qp);

	while (!ibv_poll_cq(cq, 1, &wc))
		;
	printf("%s: old %#lx, new %#lx\n", ibv_wc_status_str(wc.status), old, word);
	return wc.status || old != 0x1111222233334444 || word != 0x11112222abcd4444;
}
