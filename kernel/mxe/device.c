// SPDX-License-Identifier: GPL-2.0
/*
 * The ib_device: attributes, port, tables of verbs and uverbs methods,
 * registration.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_types.h>

#include "dc/dct_uverbs.h"
#include "device.h"
#include "ip/ah.h"
#include "ip/mcast.h"
#include "memory/atomic.h"
#include "memory/dm.h"
#include "memory/mr.h"
#include "memory/mr_sync.h"
#include "memory/mw.h"
#include "memory/pin.h"
#include "memory/ring.h"
#include "mxe.h"
#include "netns.h"
#include "queues/cq.h"
#include "queues/doorbell.h"
#include "queues/post.h"
#include "queues/qp.h"
#include "queues/qp_resize.h"
#include "queues/qp_verbs.h"
#include "queues/srq.h"
#include "queues/srq_verbs.h"
#include "queues/xrc.h"
#include "queues/xrcd.h"
#include "restrack.h"
#include "stats.h"
#include "ucontext.h"
#include "wire/hdr.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

/* MODULE_VERSION(), with 8 bits for each number. */
#define MXE_FW_VER	(0 << 16 | 1 << 8 | 0)

#define MXE_VENDOR_PART_ID	1

bool mxe_device_reply_be;
bool mxe_device_coherent = true;

/*
 * Lock classes of their own. Otherwise these xarrays would share a class with
 * mrs, whose lock, unlike theirs, is not taken in softirqs.
 */
static struct lock_class_key mxe_ahs_lock_key;
static struct lock_class_key mxe_srqs_lock_key;

/* Without coherence, peers and the CPU execute atomics on different memory. */
static enum ib_atomic_cap mxe_device_full_atomic_cap(const struct mxe_dev *dev)
{
	return dev->coherent ? IB_ATOMIC_GLOB : IB_ATOMIC_HCA;
}

/*
 * A consumer of the standard query cannot know that results are big-endian, so
 * a device with atomic_reply=be reports no atomics to it, as Connect-IB did.
 * The driver's own query, MXE_METHOD_DEVICE_QUERY_ATOMICS, reports the full
 * capabilities.
 */
static enum ib_atomic_cap mxe_device_atomic_cap(const struct mxe_dev *dev)
{
	return dev->reply_be ? IB_ATOMIC_NONE : mxe_device_full_atomic_cap(dev);
}

/*
 * FLUSH promises that all of the host sees the data, which needs a
 * synchronisation without coherence.
 */
static u64 mxe_device_placement(const struct mxe_dev *dev)
{
	return MXE_DEVICE_PLACEMENT &
	       ~(dev->coherent ? 0ULL : (u64)MXE_DEVICE_FLUSH);
}

static void mxe_device_query_exp(struct ib_device *ibdev,
				 struct ib_exp_driver_attr *attr)
{
	bool reply_be = to_mdev(ibdev)->reply_be;

	attr->masked_cmp_swap = !reply_be;
	attr->masked_fetch_add = !reply_be;
	attr->log_arg_sizes = MXE_ATOMIC_LOG_SIZES;
	attr->reply = reply_be ? IB_EXP_REPLY_BE : IB_EXP_REPLY_HOST;
	if (reply_be)
		attr->reason = "with atomic_reply=be only processes get results";
}

struct ib_exp_driver mxe_exp_driver = {
	.driver_id = MXE_DRIVER_ID,
	.query = mxe_device_query_exp,
};

static int mxe_query_device(struct ib_device *ibdev,
			    struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibdev);

	/* Linux 7.3 passes no udata when ib_core itself queries. */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	*attr = (struct ib_device_attr) {
		.fw_ver = MXE_FW_VER,
		.sys_image_guid = ibdev->node_guid,
		.vendor_id = MXE_VENDOR_ID,
		.vendor_part_id = MXE_VENDOR_PART_ID,
		.max_mr_size = U64_MAX,
		.page_size_cap = PAGE_SIZE,
		.max_qp = MXE_MAX_QP,
		.max_qp_wr = MXE_MAX_QP_WR,
		.device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_CURR_QP_STATE_MOD |
				    IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_XRC |
				    mxe_device_placement(dev),
		/* Allows `rdma link del`. */
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG,
		.max_send_sge = MXE_MAX_SGE,
		.max_recv_sge = MXE_MAX_SGE,
		.max_sge_rd = MXE_MAX_SGE,
		.max_cq = MXE_MAX_CQ,
		.max_cqe = MXE_MAX_CQE,
		/* A region can have a second one, see struct mxe_mr. */
		.max_mr = dev->coherent ? MXE_MAX_MR : MXE_MAX_MR / 2,
		.max_mw = MXE_MAX_MW,
		.max_pd = MXE_MAX_PD,
		.max_qp_rd_atom = MXE_MAX_RD_ATOMIC,
		.max_res_rd_atom = MXE_MAX_RD_ATOMIC * MXE_MAX_QP,
		.max_qp_init_rd_atom = MXE_MAX_RD_ATOMIC,
		.atomic_cap = mxe_device_atomic_cap(dev),
		.masked_atomic_cap = mxe_device_atomic_cap(dev),
		.max_ah = MXE_MAX_AH,
		.max_mcast_grp = MXE_MAX_MCAST_GRP,
		.max_mcast_qp_attach = MXE_MAX_MCAST_QP_ATTACH,
		.max_total_mcast_qp_attach = MXE_MAX_MCAST_GRP *
					     MXE_MAX_MCAST_QP_ATTACH,
		.max_srq = MXE_MAX_SRQ,
		.max_srq_wr = MXE_MAX_SRQ_WR,
		.max_srq_sge = MXE_MAX_SGE,
		.tm_caps = {
			.max_rndv_hdr_size = MXE_TM_MAX_RNDV_HDR,
			.max_num_tags = MXE_TM_MAX_TAGS,
			.flags = IB_TM_CAP_RNDV_RC,
			.max_ops = MXE_TM_MAX_OPS,
			.max_sge = MXE_TM_MAX_SGE,
		},
		.max_fast_reg_page_list_len = MXE_MAX_FAST_REG_PAGES,
		.max_dm_size = MXE_MAX_DM_SIZE,
		.max_pkeys = 1,
		/* Completion timestamps are 64 bits of nanoseconds. */
		.timestamp_mask = U64_MAX,
		.hca_core_clock = NSEC_PER_SEC / 1000,
		.cq_caps = {
			.max_cq_moderation_count = U16_MAX,
			.max_cq_moderation_period = U16_MAX,
		},
		.local_ca_ack_delay = 15,	/* 4.096 us * 2^15 = 134 ms */
	};
	return 0;
}

static bool mxe_device_port_up(const struct mxe_dev *dev)
{
	return netif_running(dev->ndev) && netif_carrier_ok(dev->ndev);
}

static int mxe_query_port(struct ib_device *ibdev, u32 port,
			  struct ib_port_attr *attr)
{
	struct net_device *ndev = to_mdev(ibdev)->ndev;
	bool up = mxe_device_port_up(to_mdev(ibdev));

	/* ib_core has zeroed attr, and also calls this after ndev is gone. */
	if (ib_get_eth_speed(ibdev, port, &attr->active_speed,
			     &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
	attr->gid_tbl_len = MXE_GID_TABLE_LEN;
	attr->max_msg_sz = MXE_MAX_MSG_SIZE;
	attr->pkey_tbl_len = 1;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	return 0;
}

static int mxe_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			  u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = 0xffff;
	return 0;
}

static int mxe_get_port_immutable(struct ib_device *ibdev, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = MXE_GID_TABLE_LEN;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer mxe_get_link_layer(struct ib_device *ibdev,
					       u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/*
 * ib_core knows the netdev by ib_device_set_netdev(). SMC asks the driver only,
 * and finds no device of a netdev otherwise.
 */
static struct net_device *mxe_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *ndev = to_mdev(ibdev)->ndev;

	if (READ_ONCE(ndev->reg_state) != NETREG_REGISTERED)
		return NULL;
	dev_hold(ndev);
	return ndev;
}

static void mxe_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%s", THIS_MODULE->version);
}

/*
 * Report a change of the port state. The netdev may have changed its own.
 * Context: RTNL held.
 */
void mxe_device_port_event(struct mxe_dev *dev)
{
	bool up = mxe_device_port_up(dev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ASSERT_RTNL();
	if (up == dev->port_up || mxe_core_reports_ports())
		return;
	dev->port_up = up;
	ib_dispatch_event(&event);
}

static void mxe_device_dealloc(struct ib_device *ibdev)
{
	struct mxe_dev *dev = to_mdev(ibdev);

	mxe_netns_detach(dev);
	WARN_ON(mxe_xa_has_entries(&dev->mrs) || mxe_xa_has_entries(&dev->ahs));
	WARN_ON(mxe_xa_has_entries(&dev->srqs));
	mxe_mcast_uninit(&dev->mcast);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->ahs);
	xa_destroy(&dev->mrs);
	mxe_pin_exit(dev);
	free_percpu(dev->stats);
	netdev_put(dev->ndev, &dev->ndev_tracker);
}

static const struct ib_device_ops mxe_device_ops = {
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
	.fill_res_cq_entry = mxe_fill_res_cq_entry,
	.fill_res_mr_entry = mxe_fill_res_mr_entry,
	.fill_res_qp_entry = mxe_fill_res_qp_entry,
	.get_dev_fw_str = mxe_get_dev_fw_str,
	.get_dma_mr = mxe_get_dma_mr,
	.get_hw_stats = mxe_stats_get,
	.get_link_layer = mxe_get_link_layer,
	.get_netdev = mxe_get_netdev,
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
	.query_ucontext = mxe_query_ucontext,
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

static int UVERBS_HANDLER(MXE_METHOD_DEVICE_QUERY_ATOMICS)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *uctx = ib_uverbs_get_ucontext(attrs);
	struct mxe_atomic_caps caps = {
		.masked_ops = MXE_MASKED_ATOMIC_CMP_SWAP |
			      MXE_MASKED_ATOMIC_FETCH_ADD,
		.log_arg_sizes = MXE_ATOMIC_LOG_SIZES,
		.log_arg_sizes_be = MXE_ATOMIC_LOG_SIZES_BE,
		.max_fa_bit_boundary = 8 * MXE_ATOMIC_MAX_SIZE,
	};
	struct mxe_dev *dev;

	if (IS_ERR(uctx))
		return PTR_ERR(uctx);
	dev = to_mdev(uctx->device);

	/* atomic_reply affects only the byte order of the reply. */
	caps.atomic_cap = mxe_device_full_atomic_cap(dev);
	caps.masked_atomic_cap = caps.atomic_cap;
	if (!dev->coherent)
		caps.comp_mask = MXE_ATOMIC_CAPS_NONCOHERENT;
	caps.reply_modes = MXE_ATOMIC_REPLY_BE;
	if (dev->reply_be)
		caps.log_arg_sizes_be = MXE_ATOMIC_LOG_SIZES;
	else
		caps.reply_modes |= MXE_ATOMIC_REPLY_HOST;

	return uverbs_copy_to_struct_or_zero(
		attrs, MXE_ATTR_DEVICE_QUERY_ATOMICS_CAPS, &caps,
		sizeof(caps));
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_DEVICE_QUERY_ATOMICS,
	UVERBS_ATTR_PTR_OUT(MXE_ATTR_DEVICE_QUERY_ATOMICS_CAPS,
			    UVERBS_ATTR_STRUCT(struct mxe_atomic_caps,
					       reply_modes),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(mxe_device_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(MXE_METHOD_DEVICE_QUERY_ATOMICS));

static const struct uapi_definition mxe_device_defs[] = {
	UAPI_DEF_CHAIN(mxe_doorbell_defs),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &mxe_device_methods),
	UAPI_DEF_CHAIN(mxe_dm_defs),
	UAPI_DEF_CHAIN(mxe_mr_sync_defs),
	UAPI_DEF_CHAIN(mxe_dct_uverbs_defs),
	UAPI_DEF_CHAIN(mxe_qp_resize_defs),
	{},
};

static int mxe_device_init(struct mxe_dev *dev, struct net_device *ndev)
{
	struct ib_device *ibdev = &dev->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	addrconf_addr_eui48((u8 *)&ibdev->node_guid, ndev->dev_addr);
	strscpy(ibdev->node_desc, "mxe", sizeof(ibdev->node_desc));
	ib_set_device_ops(ibdev, &mxe_device_ops);
	ibdev->driver_def = mxe_device_defs;

	dev->reply_be = mxe_device_reply_be;
	dev->coherent = READ_ONCE(mxe_device_coherent);
	/* The memory of nodes is charged to the process that causes it. */
	xa_init_flags(&dev->mrs, XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH |
				 XA_FLAGS_ACCOUNT);
	lockdep_set_class(&dev->ahs.xa_lock, &mxe_ahs_lock_key);
	xa_init_flags(&dev->srqs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH |
				  XA_FLAGS_ACCOUNT);
	lockdep_set_class(&dev->srqs.xa_lock, &mxe_srqs_lock_key);
	mxe_mcast_init(&dev->mcast);
	dev->stats = alloc_percpu(struct mxe_stats);
	return dev->stats ? mxe_pin_init(dev) : -ENOMEM;
}

/*
 * @name may contain a %d.
 * Context: Process context, without RTNL. May sleep.
 */
int mxe_device_add(const char *name, struct net_device *ndev)
{
	struct mxe_dev *dev;
	int err;

	dev = ib_alloc_device(mxe_dev, ibdev);
	if (!dev)
		return -ENOMEM;

	err = mxe_device_init(dev, ndev);
	if (err)
		goto err_dealloc;
	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	dev->port_up = mxe_device_port_up(dev);

	err = mxe_netns_attach(dev, dev_net(ndev));
	if (err) {
		netdev_err(ndev, "mxe: cannot use UDP port %u: %pe\n",
			   mxe_udp_port, ERR_PTR(err));
		goto err_put_netdev;
	}

	mxe_device_set_netns(&dev->ibdev, dev_net(ndev));
	err = ib_device_set_netdev(&dev->ibdev, ndev, 1);
	if (!err)
		err = ib_register_device(&dev->ibdev, name, NULL);
	/* From here on, mxe_device_dealloc() undoes everything. */
	if (err) {
		dev->ibdev.ops.dealloc_driver = mxe_device_dealloc;
		ib_dealloc_device(&dev->ibdev);
	}
	return err;

err_put_netdev:
	netdev_put(ndev, &dev->ndev_tracker);
	mxe_pin_exit(dev);
err_dealloc:
	free_percpu(dev->stats);
	/* mxe_device_dealloc() would undo steps that were not taken yet. */
	dev->ibdev.ops.dealloc_driver = NULL;
	ib_dealloc_device(&dev->ibdev);
	return err;
}
