// SPDX-License-Identifier: GPL-2.0
#include "ah.h"
#include "cq.h"
#include "device.h"
#include "dm.h"
#include "mcast.h"
#include "mr.h"
#include "mw.h"
#include "mxe.h"
#include "post.h"
#include "qp.h"
#include "qp_verbs.h"
#include "recv.h"
#include "restrack.h"
#include "ring.h"
#include "srq.h"
#include "srq_verbs.h"
#include "ucontext.h"
#include "verbs.h"
#include "xrc.h"
#include "xrcd.h"

const struct ib_device_ops mxe_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)MXE_DRIVER_ID,
	.uverbs_abi_ver = MXE_UVERBS_ABI_VERSION,

	.alloc_dm = mxe_alloc_dm,
	.alloc_hw_port_stats = mxe_stats_alloc,
	.alloc_mr = mxe_alloc_mr,
	.alloc_mw = mxe_alloc_mw,
	.alloc_pd = mxe_alloc_pd,
	.alloc_ucontext = mxe_alloc_ucontext,
	.alloc_xrcd = mxe_alloc_xrcd,
	.attach_mcast = mxe_attach_mcast,
	.create_ah = mxe_create_ah,
	.create_cq = mxe_op_create_cq,
	.create_qp = mxe_create_qp,
	.create_srq = mxe_create_srq,
	.create_user_ah = mxe_create_ah,
	.dealloc_dm = mxe_dealloc_dm,
	.dealloc_driver = mxe_device_dealloc,
	.dealloc_mw = mxe_dealloc_mw,
	.dealloc_pd = mxe_dealloc_pd,
	.dealloc_ucontext = mxe_dealloc_ucontext,
	.dealloc_xrcd = mxe_dealloc_xrcd,
	.dereg_mr = mxe_dereg_mr,
	.destroy_ah = mxe_destroy_ah,
	.destroy_cq = mxe_destroy_cq,
	.destroy_qp = mxe_destroy_qp,
	.destroy_srq = mxe_destroy_srq,
	.detach_mcast = mxe_detach_mcast,
	.disassociate_ucontext = mxe_disassociate_ucontext,
	.fill_res_cq_entry = mxe_fill_res_cq,
	.fill_res_mr_entry = mxe_fill_res_mr,
	.fill_res_qp_entry = mxe_fill_res_qp,
	.get_dev_fw_str = mxe_get_fw_str,
	.get_dma_mr = mxe_get_dma_mr,
	.get_hw_stats = mxe_stats_get,
	.get_link_layer = mxe_get_link_layer,
	.get_port_immutable = mxe_get_port_immutable,
	.map_mr_sg = mxe_map_mr_sg,
	.mmap = mxe_mmap,
	.mmap_free = mxe_mmap_free,
	.modify_cq = mxe_modify_cq,
	.modify_qp = mxe_modify_qp,
	.modify_srq = mxe_modify_srq,
	.poll_cq = mxe_poll_cq,
	.post_recv = mxe_post_recv,
	.post_send = mxe_post_send,
	.post_srq_recv = mxe_post_srq_recv,
	.query_device = mxe_query_device,
	.query_pkey = mxe_query_pkey,
	.query_port = mxe_query_port,
	.query_qp = mxe_query_qp,
	.query_srq = mxe_query_srq,
	.reg_dm_mr = mxe_reg_dm_mr,
	.reg_user_mr = mxe_op_reg_user_mr,
	.reg_user_mr_dmabuf = mxe_op_reg_user_mr_dmabuf,
	.req_notify_cq = mxe_req_notify_cq,
	.rereg_user_mr = mxe_rereg_user_mr,
	.mxe_ops_resize_cq = mxe_op_resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, mxe_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mxe_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, mxe_ib_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, mxe_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, mxe_ib_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, mxe_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, mxe_ucontext, ibuc),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, mxe_xrcd, ibxrcd),
};
