// SPDX-License-Identifier: GPL-2.0
/*
 * Creates the netdev, the device and the QPs of the tests of mxe, queues the
 * packets that the device sends, and injects packets. See harness.h.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/net.h>
#include <linux/rtnetlink.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/ip.h>
#include <net/netlink.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "harness.h"
#include "memory/mr.h"
#include "netns.h"
#include "queues/wqe.h"
#include "wire/psn.h"

#define KT_ADDR		0x0a4d0001	/* 10.77.0.1, the device */
#define KT_PEER_ADDR	0x0a4d0002	/* 10.77.0.2, the test */
#define KT_STRANGER	0x0a4d0003

/* ---- netdev ------------------------------------------------------------ */

struct kt_netdev {
	struct kt *kt;
};

static bool kt_is_roce(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);

	return skb->protocol == htons(ETH_P_IP) &&
	       iph->protocol == IPPROTO_UDP &&
	       udp_hdr(skb)->dest == htons(mxe_udp_port);
}

static netdev_tx_t kt_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct kt_netdev *priv = netdev_priv(ndev);

	if (kt_is_roce(skb))
		skb_queue_tail(&priv->kt->sent, skb);
	else
		consume_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops kt_netdev_ops = {
	.ndo_start_xmit = kt_xmit,
};

static int kt_link_ksettings(struct net_device *ndev,
			     struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_10000;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops kt_ethtool_ops = {
	.get_link_ksettings = kt_link_ksettings,
};

static void kt_netdev_setup(struct net_device *ndev)
{
	ether_setup(ndev);
	ndev->netdev_ops = &kt_netdev_ops;
	ndev->ethtool_ops = &kt_ethtool_ops;
	ndev->flags |= IFF_NOARP;
	ndev->priv_flags |= IFF_NO_QUEUE;
	ndev->mtu = 4200;
	ndev->max_mtu = 9000;
	eth_hw_addr_random(ndev);
}

/* Adds the address of the device as `ip addr add` does. */
static int kt_add_addr(struct net_device *ndev)
{
	struct {
		struct nlmsghdr nlh;
		struct ifaddrmsg ifa;
		struct nlattr local_attr;
		__be32 local;
		struct nlattr address_attr;
		__be32 address;
	} req = {
		.nlh = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = RTM_NEWADDR,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE,
		},
		.ifa = {
			.ifa_family = AF_INET,
			.ifa_prefixlen = 24,
			.ifa_index = ndev->ifindex,
		},
		.local_attr = { sizeof(req.local_attr) + 4, IFA_LOCAL },
		.local = htonl(KT_ADDR),
		.address_attr = { sizeof(req.address_attr) + 4, IFA_ADDRESS },
		.address = htonl(KT_ADDR),
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = {
		.msg_name = &kernel,
		.msg_namelen = sizeof(kernel),
	};
	struct kvec vec = { &req, sizeof(req) };
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE,
			       &sock);
	if (err)
		return err;
	err = kernel_sendmsg(sock, &msg, &vec, 1, sizeof(req));
	sock_release(sock);
	return min(err, 0);
}

static void kt_netdev_create(struct kt *kt)
{
	struct kunit *test = kt->test;
	struct kt_netdev *priv;
	int err;

	skb_queue_head_init(&kt->sent);
	kt->ndev = alloc_netdev(sizeof(*priv), "mxekt%d", NET_NAME_ENUM,
				kt_netdev_setup);
	KUNIT_ASSERT_NOT_NULL(test, kt->ndev);
	priv = netdev_priv(kt->ndev);
	priv->kt = kt;
	err = register_netdev(kt->ndev);
	if (err) {
		free_netdev(kt->ndev);
		kt->ndev = NULL;
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	rtnl_lock();
	err = dev_open(kt->ndev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, kt_add_addr(kt->ndev), 0);
}

/* ---- device and objects ------------------------------------------------ */

static void kt_device_create(struct kt *kt)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 512 };
	struct kunit *test = kt->test;
	struct ib_device *ibdev;

	KUNIT_ASSERT_EQ(test, mxe_device_add("mxekt%d", kt->ndev), 0);
	ibdev = ib_device_get_by_netdev(kt->ndev,
					(enum rdma_driver_id)MXE_DRIVER_ID);
	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	/* Only the test unregisters the device, so no reference is needed. */
	ib_device_put(ibdev);
	kt->dev = to_mdev(ibdev);

	kt->pd = ib_alloc_pd(ibdev, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kt->pd);
	kt->other_pd = ib_alloc_pd(ibdev, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kt->other_pd);
	kt->send_cq = ib_create_cq(ibdev, NULL, NULL, NULL, &cq_attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kt->send_cq);
	kt->recv_cq = ib_create_cq(ibdev, NULL, NULL, NULL, &cq_attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kt->recv_cq);
}

int kt_init(struct kunit *test)
{
	struct kt *kt = kunit_kzalloc(test, sizeof(*kt), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kt);
	kt->test = test;
	test->priv = kt;
	kt->mem = vzalloc(KT_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, kt->mem);
	kt->sg = kunit_kcalloc(test, KT_PAGES, sizeof(*kt->sg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kt->sg);
	kt_netdev_create(kt);
	kt_device_create(kt);
	return 0;
}

static void kt_destroy_qp(struct kt *kt)
{
	struct ib_qp *ibqp = kt->qp->ibqp;

	kt_settle(kt);
	KUNIT_EXPECT_EQ(kt->test, ib_destroy_qp(ibqp), 0);
}

/* The engine must have released all references that it took. */
static void kt_device_destroy(struct kt *kt)
{
	struct kunit *test = kt->test;
	unsigned int i;

	if (kt->qp)
		kt_destroy_qp(kt);
	if (!IS_ERR_OR_NULL(kt->srq)) {
		KUNIT_EXPECT_EQ(test, atomic_read(&kt->srq->usecnt), 0);
		ib_destroy_srq(kt->srq);
	}
	for (i = 0; i < kt->num_mrs; i++) {
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&to_mmr(kt->mrs[i])->accesses) &
				    ~MXE_MR_CLOSED, 0, "accesses to region %u", i);
		KUNIT_EXPECT_EQ(test, ib_dereg_mr(kt->mrs[i]), 0);
	}
	if (!IS_ERR_OR_NULL(kt->recv_cq)) {
		KUNIT_EXPECT_EQ(test, atomic_read(&kt->recv_cq->usecnt), 0);
		ib_destroy_cq(kt->recv_cq);
	}
	if (!IS_ERR_OR_NULL(kt->send_cq)) {
		KUNIT_EXPECT_EQ(test, atomic_read(&kt->send_cq->usecnt), 0);
		ib_destroy_cq(kt->send_cq);
	}
	if (!IS_ERR_OR_NULL(kt->other_pd)) {
		KUNIT_EXPECT_EQ(test, atomic_read(&kt->other_pd->usecnt), 0);
		ib_dealloc_pd(kt->other_pd);
	}
	if (!IS_ERR_OR_NULL(kt->pd)) {
		KUNIT_EXPECT_EQ(test, atomic_read(&kt->pd->usecnt), 0);
		ib_dealloc_pd(kt->pd);
	}
	KUNIT_EXPECT_TRUE(test, xa_empty(&kt->dev->mnet->qps));
	ib_unregister_device(&kt->dev->ibdev);
}

void kt_exit(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	if (!kt)
		return;
	if (kt->dev)
		kt_device_destroy(kt);
	if (kt->ndev) {
		skb_queue_purge(&kt->sent);
		kfree_skb(kt->last);
		/* Waits until all references are released. */
		unregister_netdev(kt->ndev);
		free_netdev(kt->ndev);
	}
	vfree(kt->mem);
}

int kt_fast_reg(struct ib_mr *mr, struct ib_pd *pd, u32 key, int access)
{
	struct ib_reg_wr wr = { .mr = mr, .key = key, .access = access };
	struct mxe_reg reg = mxe_mr_reg_from_ib(&wr);

	return mxe_mr_reg(pd, &reg);
}

struct ib_mr *kt_reg(struct kt *kt, struct ib_pd *pd, int access)
{
	struct kunit *test = kt->test;
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, KT_PAGES);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_ASSERT_LT(test, kt->num_mrs, (unsigned int)ARRAY_SIZE(kt->mrs));
	kt->mrs[kt->num_mrs++] = mr;

	sg_init_table(kt->sg, KT_PAGES);
	for (i = 0; i < KT_PAGES; i++)
		sg_set_page(&kt->sg[i], vmalloc_to_page(kt->mem + i * PAGE_SIZE),
			    PAGE_SIZE, 0);
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(&kt->dev->ibdev, kt->sg, KT_PAGES,
					    DMA_BIDIRECTIONAL), KT_PAGES);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, kt->sg, KT_PAGES, NULL, PAGE_SIZE),
			KT_PAGES);
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	KUNIT_ASSERT_EQ(test, kt_fast_reg(mr, pd, mr->rkey, access), 0);
	return mr;
}

/* ---- queue pair -------------------------------------------------------- */

const struct kt_conn kt_default_conn = {
	.rq_psn = KT_RQ_PSN,
	.sq_psn = KT_SQ_PSN,
	.mtu = IB_MTU_256,
	.access = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
		  IB_ACCESS_REMOTE_ATOMIC,
	.retry_cnt = 3,
	.rnr_retry = 3,
	.max_rd_atomic = 4,
	.max_dest_rd_atomic = 4,
};

static void kt_qp_event(struct ib_event *event, void *context)
{
	struct kt *kt = context;

	set_bit(event->event, &kt->events);
}

static void kt_create_qp_type(struct kt *kt, enum ib_qp_type type,
			      enum ib_sig_type sig_type)
{
	struct ib_qp_init_attr init = {
		.event_handler = kt_qp_event,
		.qp_context = kt,
		.send_cq = kt->send_cq,
		.recv_cq = kt->recv_cq,
		.cap = {
			.max_send_wr = 256,
			.max_recv_wr = 16,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64,
		},
		.sq_sig_type = sig_type,
		.srq = kt->srq,
		.qp_type = type,
	};
	struct ib_qp *ibqp = ib_create_qp(kt->pd, &init);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(kt->test, ibqp);
	kt->qp = to_mqp(ibqp);
}

void kt_create_qp(struct kt *kt)
{
	kt_create_qp_type(kt, IB_QPT_RC, IB_SIGNAL_REQ_WR);
}

void kt_create_qp_of(struct kt *kt, enum ib_qp_type type)
{
	kt_create_qp_type(kt, type, IB_SIGNAL_REQ_WR);
}

void kt_create_srq(struct kt *kt, u32 max_wr)
{
	struct ib_srq_init_attr init = {
		.event_handler = kt_qp_event,
		.srq_context = kt,
		.attr = { .max_wr = max_wr, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};

	kt->srq = ib_create_srq(kt->pd, &init);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(kt->test, kt->srq);
}

void kt_create_qp_signal_all(struct kt *kt)
{
	kt_create_qp_type(kt, IB_QPT_RC, IB_SIGNAL_ALL_WR);
}

int kt_gid_index(struct kt *kt)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < MXE_GID_TABLE_LEN; i++) {
		bool found;

		attr = rdma_get_gid_attr(&kt->dev->ibdev, 1, i);
		if (IS_ERR(attr))
			continue;
		found = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
			ipv6_addr_v4mapped((const void *)&attr->gid);
		rdma_put_gid_attr(attr);
		if (found)
			return i;
	}
	KUNIT_FAIL(kt->test, "no GID of RoCEv2 and IPv4");
	return 0;
}

static void kt_set_path(struct kt *kt, struct rdma_ah_attr *attr)
{
	union ib_gid gid;

	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	ipv6_addr_set_v4mapped(htonl(KT_PEER_ADDR), (struct in6_addr *)&gid);
	rdma_ah_set_grh(attr, &gid, 0, kt_gid_index(kt), 64, kt->tclass);
}

struct ib_ah *kt_create_ah(struct kt *kt)
{
	struct rdma_ah_attr attr = {};
	struct ib_ah *ah;

	kt_set_path(kt, &attr);
	ah = rdma_create_ah(kt->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(kt->test, ah);
	return ah;
}

static int kt_modify_rtr(struct kt *kt, const struct kt_conn *conn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = conn->mtu,
		.dest_qp_num = KT_PEER_QPN,
		.rq_psn = conn->rq_psn,
		.max_dest_rd_atomic = conn->max_dest_rd_atomic,
		.min_rnr_timer = 7,
	};
	int mask = IB_QP_STATE;

	if (kt->qp->type != IB_QPT_UD)
		mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			IB_QP_RQ_PSN;
	if (kt->qp->type == IB_QPT_RC)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	kt_set_path(kt, &attr.ah_attr);
	return ib_modify_qp(kt->qp->ibqp, &attr, mask);
}

int kt_modify(struct kt *kt, enum ib_qp_state to, const struct kt_conn *conn)
{
	struct ib_qp_attr attr = {
		.qp_state = to,
		.port_num = 1,
		.qp_access_flags = conn->access,
		.sq_psn = conn->sq_psn,
		.timeout = conn->timeout,
		.retry_cnt = conn->retry_cnt,
		.rnr_retry = conn->rnr_retry,
		.max_rd_atomic = conn->max_rd_atomic,
		.qkey = KT_QKEY,
	};
	enum ib_qp_type type = kt->qp->type;
	int mask = IB_QP_STATE;

	switch (to) {
	case IB_QPS_RTR:
		return kt_modify_rtr(kt, conn);
	case IB_QPS_INIT:
		mask |= IB_QP_PKEY_INDEX | IB_QP_PORT |
			(type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS);
		break;
	case IB_QPS_RTS:
		/* Only the transition from RTR needs attributes. */
		if (kt_state(kt) != IB_QPS_RTR)
			break;
		mask |= IB_QP_SQ_PSN;
		if (type == IB_QPT_RC)
			mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
		break;
	default:
		break;
	}
	return ib_modify_qp(kt->qp->ibqp, &attr, mask);
}

void kt_connect(struct kt *kt, const struct kt_conn *conn)
{
	KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_INIT, conn), 0);
	KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_RTR, conn), 0);
	KUNIT_ASSERT_EQ(kt->test, kt_modify(kt, IB_QPS_RTS, conn), 0);
	kt_settle(kt);
}

enum ib_qp_state kt_state(struct kt *kt)
{
	return READ_ONCE(kt->qp->state);
}

/* ---- packets in -------------------------------------------------------- */

struct test_pkt kt_pkt(struct kt *kt, u8 opcode, u32 psn)
{
	return (struct test_pkt) {
		.opcode = opcode,
		.ack_req = true,
		.pkey = 0xffff,
		.qpn = kt->qp->qpn,
		.psn = psn & MXE_PSN_MASK,
		.syndrome = KT_ACK,
		.atomic.log_size = 3,
	};
}

u8 *kt_build(struct kt *kt, const struct test_pkt *out, size_t *len)
{
	u8 *buf, *payload;
	u32 i;

	*len = test_pkt_len(out);
	buf = kunit_kmalloc(kt->test, *len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(kt->test, buf);
	payload = test_pkt_build(out, buf);
	for (i = 0; i < out->payload_len; i++)
		payload[i] = i + 1;
	return buf;
}

struct sk_buff *kt_skb(struct kt *kt, const u8 *bth, size_t len, enum kt_spoil spoil)
{
	size_t udp_len = sizeof(struct udphdr) + len + MXE_ICRC_SIZE;
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + sizeof(struct iphdr) +
					udp_len, GFP_KERNEL);
	struct udphdr *udph;
	struct iphdr *iph;
	__le32 icrc;
	u8 *data;

	KUNIT_ASSERT_NOT_NULL(kt->test, skb);
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	iph = skb_put(skb, sizeof(*iph));
	*iph = (struct iphdr) {
		.version = IPVERSION,
		.ihl = 5,
		.tos = kt->tos,
		.tot_len = htons(sizeof(*iph) + udp_len),
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.saddr = htonl(spoil == KT_BAD_SOURCE ? KT_STRANGER :
							KT_PEER_ADDR),
		.daddr = kt->group ?: htonl(KT_ADDR),
	};
	ip_send_check(iph);
	skb_set_transport_header(skb, sizeof(*iph));
	udph = skb_put(skb, sizeof(*udph));
	*udph = (struct udphdr) {
		.source = htons(0xc000),
		.dest = htons(mxe_udp_port),
		.len = htons(udp_len),
	};
	data = skb_put_data(skb, bth, len);
	local_bh_disable();
	icrc = mxe_icrc_ipv4(iph, udph, data, len);
	local_bh_enable();
	if (spoil == KT_BAD_ICRC)
		icrc ^= cpu_to_le32(1);
	skb_put_data(skb, &icrc, sizeof(icrc));

	skb->dev = kt->ndev;
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = kt->group ? PACKET_MULTICAST : PACKET_HOST;
	return skb;
}

void kt_inject_bth(struct kt *kt, const u8 *bth, size_t len,
		   enum kt_spoil spoil)
{
	struct sk_buff *skb = kt_skb(kt, bth, len, spoil);

	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
}

void kt_inject(struct kt *kt, const struct test_pkt *out)
{
	size_t len;
	u8 *buf = kt_build(kt, out, &len);

	kt_inject_bth(kt, buf, len, KT_GOOD);
	kunit_kfree(kt->test, buf);
}

/* ---- packets out ------------------------------------------------------- */

unsigned int kt_num_sent(struct kt *kt)
{
	return skb_queue_len(&kt->sent);
}

void kt_expect_nothing(struct kt *kt)
{
	KUNIT_EXPECT_EQ(kt->test, kt_num_sent(kt), 0U);
}

void kt_drop_sent(struct kt *kt)
{
	skb_queue_purge(&kt->sent);
}

const u8 *kt_sent_bytes(struct kt *kt, size_t *len)
{
	const u8 *bth = (const u8 *)(udp_hdr(kt->last) + 1);

	*len = skb_tail_pointer(kt->last) - bth;
	return bth;
}

struct test_pkt kt_sent(struct kt *kt)
{
	struct kunit *test = kt->test;
	struct test_pkt pkt = {};
	struct iphdr *iph;
	const u8 *bth;
	__le32 icrc;
	size_t len;

	kfree_skb(kt->last);
	kt->last = skb_dequeue(&kt->sent);
	KUNIT_ASSERT_NOT_NULL_MSG(test, kt->last, "nothing was sent");
	KUNIT_ASSERT_EQ(test, skb_linearize(kt->last), 0);

	iph = ip_hdr(kt->last);
	KUNIT_EXPECT_EQ(test, ntohl(iph->saddr), (u32)KT_ADDR);
	KUNIT_EXPECT_EQ(test, ntohl(iph->daddr), (u32)KT_PEER_ADDR);
	bth = kt_sent_bytes(kt, &len);
	KUNIT_ASSERT_EQ(test, (int)test_pkt_read(&pkt, bth, len),
			(int)MXE_PKT_OK);
	KUNIT_EXPECT_EQ(test, pkt.qpn, KT_PEER_QPN);
	KUNIT_EXPECT_EQ(test, pkt.pkey, 0xffff);
	local_bh_disable();
	icrc = mxe_icrc_ipv4(iph, udp_hdr(kt->last), bth, len - MXE_ICRC_SIZE);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, memcmp(&icrc, bth + len - MXE_ICRC_SIZE,
				     MXE_ICRC_SIZE), 0);
	return pkt;
}

void kt_expect_ack(struct kt *kt, u32 psn, u8 syndrome, u32 msn)
{
	struct test_pkt pkt = kt_sent(kt);

	KUNIT_EXPECT_EQ(kt->test, pkt.opcode, IB_OPCODE_RC_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn & MXE_PSN_MASK);
	KUNIT_EXPECT_EQ(kt->test, pkt.syndrome, syndrome);
	KUNIT_EXPECT_EQ(kt->test, pkt.msn, msn);
	kt_expect_nothing(kt);
}

void kt_expect_atomic_ack(struct kt *kt, u32 psn, u64 orig, u32 msn)
{
	struct test_pkt pkt = kt_sent(kt);

	KUNIT_EXPECT_EQ(kt->test, pkt.opcode, IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(kt->test, pkt.psn, psn & MXE_PSN_MASK);
	KUNIT_EXPECT_EQ(kt->test, pkt.syndrome, KT_ACK);
	KUNIT_EXPECT_EQ(kt->test, pkt.atomic_orig, orig);
	KUNIT_EXPECT_EQ(kt->test, pkt.msn, msn);
	kt_expect_nothing(kt);
}

/* ---- a ring ------------------------------------------------------------ */

struct kt_ring *kt_ring_enter(struct kt *kt)
{
	struct kt_ring *area;

	kt_create_qp(kt);
	area = kunit_kzalloc(kt->test, sizeof(*area), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(kt->test, area);
	kt->qp->is_user = true;
	kt->qp->req.opcodes = mxe_wqe_user_opcodes(kt->qp);
	kt->qp->req.atomic_log_sizes = BIT(2) | BIT(3);
	kt->qp->resp.q.entries = 0;	/* no receive queue */
	kt->qp->req.entries = KT_RING_ENTRIES;
	kt->qp->req.wr_mask = KT_RING_ENTRIES - 1;
	kt->qp->req.ring = (struct mxe_ring) {
		.hdr = &area->hdr,
		.entries_base = area->entry,
		.entries = KT_RING_ENTRIES,
		.stride = sizeof(area->entry[0]),
	};
	kt_connect(kt, &kt_default_conn);
	return area;
}

void kt_ring_leave(struct kt *kt)
{
	kt_settle(kt);
	mxe_qp_begin(kt->qp);
	memset(&kt->qp->req.ring, 0, sizeof(kt->qp->req.ring));
	kt->qp->is_user = false;
	mxe_qp_end(kt->qp);
}

/* ---- completions ------------------------------------------------------- */

void kt_hold_work(void)
{
	sched_set_fifo_low(current);
}

void kt_settle(struct kt *kt)
{
	int slices;

	/* Work that is not finished queues itself again. */
	for (slices = 0; slices < 16; slices++)
		flush_workqueue(mxe_qp_wq);
}

u64 kt_counter(struct kt *kt, enum mxe_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(kt->dev->stats, cpu)->value[counter];
	return sum;
}

struct ib_wc kt_poll(struct kt *kt, struct ib_cq *cq)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_EQ_MSG(kt->test, ib_poll_cq(cq, 1, &wc), 1,
			    "no completion");
	KUNIT_EXPECT_PTR_EQ(kt->test, wc.qp, kt->qp->ibqp);
	return wc;
}

void kt_expect_wc(struct kt *kt, struct ib_cq *cq, u64 wr_id,
		  enum ib_wc_status status)
{
	struct ib_wc wc = kt_poll(kt, cq);

	KUNIT_EXPECT_EQ(kt->test, wc.wr_id, wr_id);
	KUNIT_EXPECT_EQ_MSG(kt->test, (int)wc.status, (int)status, "%s",
			    ib_wc_status_msg(wc.status));
}

void kt_expect_no_wc(struct kt *kt, struct ib_cq *cq)
{
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(kt->test, ib_poll_cq(cq, 1, &wc), 0);
}

int kt_post_rdma(struct kt *kt, enum ib_wr_opcode opcode, u64 wr_id,
		 struct ib_mr *mr, u64 offset, u32 len, int flags)
{
	struct ib_sge sge = {
		.addr = kt_va(mr, offset), .length = len, .lkey = mr->lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_id = wr_id,
		.wr.opcode = opcode,
		.wr.send_flags = flags,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = KT_REMOTE_VA,
		.rkey = KT_REMOTE_KEY,
	};

	return ib_post_send(kt->qp->ibqp, &wr.wr, NULL);
}

void kt_post_write(struct kt *kt, enum ib_wr_opcode opcode, u64 wr_id,
		   struct ib_mr *mr, u32 len)
{
	KUNIT_ASSERT_EQ(kt->test, kt_post_rdma(kt, opcode, wr_id, mr, 0, len,
					       IB_SEND_SIGNALED), 0);
}

void kt_post_recv(struct kt *kt, u64 wr_id, struct ib_mr *mr, u64 offset,
		  u32 len)
{
	struct ib_sge sge = {
		.addr = kt_va(mr, offset),
		.length = len,
		.lkey = mr->lkey,
	};
	struct ib_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	KUNIT_ASSERT_EQ(kt->test, ib_post_recv(kt->qp->ibqp, &wr, NULL), 0);
}
