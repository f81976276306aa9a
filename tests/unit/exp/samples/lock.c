// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program as written for MLNX_OFED 4: it includes one header, links with one
 * library, and has a masked lock. It runs without a device, so main() makes
 * only calls that need none.
 */
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>

int lock(struct ibv_qp *qp, struct ibv_sge *result, uint64_t addr, uint32_t rkey);

int lock(struct ibv_qp *qp, struct ibv_sge *result, uint64_t addr, uint32_t rkey)
{
	struct ibv_exp_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.sg_list = result;
	wr.num_sge = 1;
	wr.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP;
	wr.exp_send_flags = IBV_EXP_SEND_SIGNALED |
			    IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	wr.ext_op.masked_atomics.log_arg_sz = 3;
	wr.ext_op.masked_atomics.remote_addr = addr;
	wr.ext_op.masked_atomics.rkey = rkey;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap.compare_mask = 1;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap.swap_val = 1;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap.swap_mask = 1;
	return ibv_exp_post_send(qp, &wr, &bad);
}

int main(void)
{
	struct ibv_exp_clock_info info;
	struct ibv_device **list;
	int num = -1;

	memset(&info, 0, sizeof(info));
	info.mask = UINT64_MAX;
	info.mult = 3;
	list = ibv_exp_get_device_list(&num);
	if (list)
		ibv_free_device_list(list);
	printf("%d %s\n", (int)ibv_exp_cqe_ts_to_ns(&info, 7),
	       ibv_wc_status_str(IBV_WC_SUCCESS));
	return 0;
}
