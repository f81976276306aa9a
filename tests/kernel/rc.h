/* SPDX-License-Identifier: GPL-2.0 */
/* RC queue pairs of kernel consumers that the modules of this folder share. */
#ifndef MXE_TESTS_RC_H
#define MXE_TESTS_RC_H

#include <linux/etherdevice.h>
#include <linux/scatterlist.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

/* One end of the connections between two devices. */
struct side {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	union ib_gid gid;		/* of an IPv4 address */
	int gid_index;
	u8 mac[ETH_ALEN];
	struct net *net;		/* of the netdev; no reference */
};

static const char *find_name;
static struct ib_device *find_result;

/**
 * find_add() - Keep the device that find_device() looks for.
 * @dev: any device
 *
 * Context: Callback of ib_core.
 * Return: -EOPNOTSUPP, because this client uses no device.
 */
static int find_add(struct ib_device *dev)
{
	if (!strcmp(dev_name(&dev->dev), find_name) && !find_result &&
	    ib_device_try_get(dev))
		find_result = dev;
	return -EOPNOTSUPP;
}

static struct ib_client find_client = { .name = "mxe_tests_find",
					.add = find_add };

/**
 * find_device() - Find a device by its name.
 * @name: name of the device
 *
 * Context: Process context. May sleep.
 * Return: the device with a reference, or NULL.
 */
static struct ib_device *find_device(const char *name)
{
	find_name = name;
	find_result = NULL;
	if (ib_register_client(&find_client))
		return NULL;
	ib_unregister_client(&find_client);
	return find_result;
}

/**
 * side_find_mac() - Set the MAC address and the network namespace of a side.
 * @s: the side
 * @attr: attributes of its GID
 *
 * Kernel consumers resolve the MAC address of a peer. Some devices do it
 * themselves.
 *
 * Context: Any.
 * Return: true if the GID has a netdev.
 */
static bool side_find_mac(struct side *s, const struct ib_gid_attr *attr)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev)) {
		ether_addr_copy(s->mac, ndev->dev_addr);
		s->net = dev_net(ndev);
	}
	rcu_read_unlock();
	return !IS_ERR(ndev);
}

/**
 * side_find_gid() - Set the GID of a side, the first one of an IPv4 address.
 * @s: the side, with its device
 *
 * Context: Process context. May sleep.
 * Return: 0, -EADDRNOTAVAIL or an error of the device.
 */
static int side_find_gid(struct side *s)
{
	const struct ib_gid_attr *attr;
	struct ib_port_attr port;
	int i, err;

	err = ib_query_port(s->dev, 1, &port);
	for (i = 0; !err && i < port.gid_tbl_len; i++) {
		bool hit;

		attr = rdma_get_gid_attr(s->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		hit = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		      ipv6_addr_v4mapped((const void *)&attr->gid) &&
		      side_find_mac(s, attr);
		s->gid = attr->gid;
		s->gid_index = i;
		rdma_put_gid_attr(attr);
		if (hit)
			return 0;
	}
	return err ?: -EADDRNOTAVAIL;
}

/**
 * side_create() - Open a device and create a PD and a CQ.
 * @s: zeroed side
 * @name: name of the device
 * @cqes: entries of the CQ
 * @poll_ctx: context of the callbacks of the CQ
 *
 * Call side_destroy() after a failure, too.
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno value.
 */
static int side_create(struct side *s, const char *name, int cqes,
		       enum ib_poll_context poll_ctx)
{
	s->dev = find_device(name);
	if (!s->dev)
		return -ENODEV;
	s->pd = ib_alloc_pd(s->dev, 0);
	if (IS_ERR(s->pd))
		return PTR_ERR(s->pd);
	s->cq = ib_alloc_cq_any(s->dev, NULL, cqes, poll_ctx);
	if (IS_ERR(s->cq))
		return PTR_ERR(s->cq);
	return side_find_gid(s);
}

/**
 * side_destroy() - Destroy what side_create() created.
 * @s: the side, without QPs and memory regions
 *
 * Context: Process context. May sleep.
 */
static void side_destroy(struct side *s)
{
	if (!IS_ERR_OR_NULL(s->cq))
		ib_free_cq(s->cq);
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
	if (s->dev)
		ib_device_put(s->dev);
	*s = (struct side) {};
}

/**
 * qp_create() - Create an RC QP with one SGE for each request.
 * @s: side that it belongs to
 * @send_wr: depth of its send queue
 * @recv_wr: depth of its receive queue
 *
 * Context: Process context. May sleep.
 * Return: the QP or an error pointer.
 */
static struct ib_qp *qp_create(struct side *s, unsigned int send_wr,
			       unsigned int recv_wr)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap.max_send_wr = send_wr,
		.cap.max_recv_wr = recv_wr,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};

	return ib_create_qp(s->pd, &init);
}

/**
 * qp_connect() - Connect one end of a connection.
 * @s: side of the QP
 * @qp: QP in RESET
 * @to: side of the peer
 * @to_qp: QP of the peer
 * @access: IB_ACCESS_REMOTE_* rights of the peer
 * @rd_atomic: READs and atomics that may be outstanding
 *
 * Context: Process context. May sleep.
 * Return: 0 or an error of ib_modify_qp().
 */
static int qp_connect(struct side *s, struct ib_qp *qp, struct side *to,
		      struct ib_qp *to_qp, int access, u8 rd_atomic)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = access,
	};
	int err;

	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = to_qp->qp_num,
		.max_dest_rd_atomic = rd_atomic,
		.min_rnr_timer = 12,
	};
	attr.ah_attr.type = rdma_ah_find_type(s->dev, 1);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &to->gid, 0, s->gid_index, 64, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, to->mac);
	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTS,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = rd_atomic,
	};
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

/**
 * mr_create() - Create a memory region for a page.
 * @s: side that it belongs to
 * @page: the page
 * @dma: its DMA address
 * @access: IB_ACCESS_* rights
 * @wr: becomes the request that registers it
 *
 * Context: Process context. May sleep.
 * Return: the region or an error pointer.
 */
static struct ib_mr *mr_create(struct side *s, void *page, u64 dma, int access,
			       struct ib_reg_wr *wr)
{
	struct ib_mr *mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, 1);
	struct scatterlist sg;
	int n;

	if (IS_ERR(mr))
		return mr;
	sg_init_one(&sg, page, PAGE_SIZE);
	sg_dma_address(&sg) = dma;
	sg_dma_len(&sg) = PAGE_SIZE;
	n = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (n != 1) {
		ib_dereg_mr(mr);
		return ERR_PTR(n < 0 ? n : -EINVAL);
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	*wr = (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.access = access,
		.mr = mr,
		.key = mr->rkey,
	};
	return mr;
}

#endif
