// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that datagrams are received with their headers in front of the data or
 * dropped for the right reason, and that the members of a multicast group get
 * copies.
 */
#include <kunit/test.h>
#include <linux/ip.h>
#include <net/addrconf.h>

#include "harness.h"
#include "memory/mr.h"
#include "queues/qp_verbs.h"

#define GROUP	0xef010203	/* 239.1.2.3 */

static struct ib_mr *ud_begin(struct kt *kt)
{
	kt_create_qp_of(kt, IB_QPT_UD);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, IB_ACCESS_LOCAL_WRITE);
}

static struct test_pkt ud_pkt(struct kt *kt)
{
	struct test_pkt out = kt_pkt(kt, IB_OPCODE_UD_SEND_ONLY, 0x77);

	out.ack_req = false;
	out.qkey = KT_QKEY;
	out.src_qpn = KT_PEER_QPN;
	out.payload_len = 30;
	return out;
}

static void ud_received(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = ud_begin(kt);
	struct test_pkt out = ud_pkt(kt);
	const struct iphdr *iph = (void *)(kt->mem + 20);
	struct ib_wc wc;

	memset(kt->mem, 0xee, 100);
	kt_post_recv(kt, 3, mr, 0, 100);
	kt_inject(kt, &out);
	wc = kt_poll(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, (int)wc.status, (int)IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 3ULL);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 70U);
	KUNIT_EXPECT_EQ(test, wc.src_qp, KT_PEER_QPN);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_GRH);
	/*
	 * An IPv4 header is in the second half of the 40 bytes before the data.
	 */
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(kt->mem, 0, 20), NULL);
	KUNIT_EXPECT_EQ(test, (int)iph->version, 4);
	KUNIT_EXPECT_EQ(test, ntohl(iph->saddr), 0x0a4d0002U);
	KUNIT_EXPECT_EQ(test, kt->mem[40], 1);
	KUNIT_EXPECT_EQ(test, kt->mem[69], 30);
	KUNIT_EXPECT_EQ(test, kt->mem[70], 0xee);
	kt_expect_nothing(kt);
}

/* A dropped datagram uses up no receive request and does not stop the QP. */
static void ud_dropped(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = ud_begin(kt);
	struct test_pkt out = ud_pkt(kt);

	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_no_recv), 1ULL);
	kt_post_recv(kt, 3, mr, 0, 70);
	out.qkey++;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_qkey), 1ULL);
	out.qkey--;
	out.payload_len = 31;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_recv_too_short), 1ULL);
	out.opcode = KT_SEND_ONLY;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_transport), 1ULL);
	kt_expect_no_wc(kt, kt->recv_cq);
	out = ud_pkt(kt);
	kt_inject(kt, &out);
	kt_expect_wc(kt, kt->recv_cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)kt_state(kt), (int)IB_QPS_RTS);
	kt_expect_nothing(kt);
}

static void ud_sent(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = ud_begin(kt);
	struct ib_sge sge = {
		.addr = kt_va(mr, 0), .length = 100, .lkey = mr->lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_id = 9,
			.opcode = IB_WR_SEND_WITH_IMM,
			.send_flags = IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(0x12345678),
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_qpn = KT_PEER_QPN,
		.remote_qkey = 0x1234,
	};
	struct test_pkt pkt;

	wr.ah = kt_create_ah(kt);
	KUNIT_EXPECT_EQ(test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
	/* A Q_Key with the upper bit set selects the Q_Key of the QP. */
	wr.remote_qkey = BIT(31);
	KUNIT_EXPECT_EQ(test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
	/* The requests have references to its flow. */
	rdma_destroy_ah(wr.ah, 0);
	kt_settle(kt);
	kt_expect_wc(kt, kt->send_cq, 9, IB_WC_SUCCESS);
	kt_expect_wc(kt, kt->send_cq, 9, IB_WC_SUCCESS);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE);
	KUNIT_EXPECT_EQ(test, pkt.qkey, 0x1234U);
	KUNIT_EXPECT_EQ(test, pkt.src_qpn, kt->qp->qpn);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(pkt.imm), 0x12345678U);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 100U);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.qkey, KT_QKEY);
	kt_expect_nothing(kt);
}

static void ud_post_to(struct kt *kt, struct ib_ah *ah)
{
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED },
		.ah = ah,
		.remote_qpn = KT_PEER_QPN,
		.remote_qkey = KT_QKEY,
	};

	KUNIT_EXPECT_EQ(kt->test, ib_post_send(kt->qp->ibqp, &wr.wr, NULL), 0);
}

/* Each datagram has the headers of its own handle, whatever was sent before. */
static void ud_flows(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_ah *ahs[2];
	int i;

	ud_begin(kt);
	for (i = 0; i < 2; i++) {
		kt->tclass = 4 * (i + 1);
		ahs[i] = kt_create_ah(kt);
	}
	for (i = 0; i < 6; i++)
		ud_post_to(kt, ahs[i % 2]);
	rdma_destroy_ah(ahs[0], 0);
	ud_post_to(kt, ahs[1]);
	kt_settle(kt);
	for (i = 0; i < 7; i++) {
		kt_expect_wc(kt, kt->send_cq, 0, IB_WC_SUCCESS);
		kt_sent(kt);
		KUNIT_EXPECT_EQ(test, ip_hdr(kt->last)->tos, i == 6 ? 8 : 4 * (i % 2 + 1));
	}
	kt_expect_nothing(kt);

	/* A reset drops the reference of a request that was never sent. */
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_SQD, &kt_default_conn), 0);
	ud_post_to(kt, ahs[1]);
	rdma_destroy_ah(ahs[1], 0);
	KUNIT_ASSERT_EQ(test, kt_modify(kt, IB_QPS_RESET, &kt_default_conn), 0);
	kt_expect_nothing(kt);
}

static void mcast_gid(union ib_gid *gid, u32 addr)
{
	ipv6_addr_set_v4mapped(htonl(addr), (struct in6_addr *)gid);
}

static void mcast_members(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = ud_begin(kt);
	struct ib_qp *ibqp = kt->qp->ibqp;
	struct test_pkt out = ud_pkt(kt);
	union ib_gid gid, other;

	mcast_gid(&gid, GROUP);
	mcast_gid(&other, GROUP + 1);
	KUNIT_ASSERT_EQ(test, mxe_attach_mcast(ibqp, &gid, 0), 0);
	KUNIT_EXPECT_EQ(test, mxe_attach_mcast(ibqp, &gid, 0), 0);
	KUNIT_EXPECT_EQ(test, kt->qp->mcast_groups, 1U);
	KUNIT_EXPECT_EQ(test, mxe_detach_mcast(ibqp, &other, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, mxe_destroy_qp(ibqp, NULL), -EBUSY);

	kt_post_recv(kt, 3, mr, 0, 100);
	kt_post_recv(kt, 4, mr, 0, 100);
	out.qpn = IB_MULTICAST_QPN;
	kt->group = htonl(GROUP);
	kt_inject(kt, &out);
	kt_expect_wc(kt, kt->recv_cq, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, kt->mem[40], 1);
	/* A member receives only datagrams with its Q_Key. */
	out.qkey++;
	kt_inject(kt, &out);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_qkey), 1ULL);
	out.qkey--;

	/* The QP joins another group and leaves the first one. */
	KUNIT_ASSERT_EQ(test, mxe_attach_mcast(ibqp, &other, 0), 0);
	KUNIT_EXPECT_EQ(test, mxe_detach_mcast(ibqp, &gid, 0), 0);
	kt_inject(kt, &out);
	kt_expect_no_wc(kt, kt->recv_cq);
	kt->group = htonl(GROUP + 1);
	kt_inject(kt, &out);
	kt_expect_wc(kt, kt->recv_cq, 4, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, mxe_detach_mcast(ibqp, &other, 0), 0);
	KUNIT_EXPECT_EQ(test, kt->qp->mcast_groups, 0U);
}

/*
 * A datagram with the multicast QP number, but with the address of the device
 * as its destination, is dropped.
 */
static void mcast_stray(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = ud_begin(kt);
	struct test_pkt out = ud_pkt(kt);

	kt_post_recv(kt, 3, mr, 0, 100);
	out.qpn = IB_MULTICAST_QPN;
	kt_inject(kt, &out);
	kt_expect_no_wc(kt, kt->recv_cq);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_drop_mcast), 1ULL);
}

static struct kunit_case ud_cases[] = {
	KUNIT_CASE(ud_received),
	KUNIT_CASE(ud_dropped),
	KUNIT_CASE(ud_sent),
	KUNIT_CASE(ud_flows),
	{}
};

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(mcast_members),
	KUNIT_CASE(mcast_stray),
	{}
};

static struct kunit_suite ud_suite = {
	.name = "mxe_ud",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = ud_cases,
};

static struct kunit_suite mcast_suite = {
	.name = "mxe_mcast",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = mcast_cases,
};

kunit_test_suites(&ud_suite, &mcast_suite);
