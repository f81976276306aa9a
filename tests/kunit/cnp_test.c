// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that the responder answers ECN-marked packets with CNPs, and that CNPs
 * slow down the requester.
 */
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "harness.h"
#include "wire/psn.h"

#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define DSCP	0x68

static struct ib_mr *connect(struct kt *kt, u8 tclass)
{
	kt->tclass = tclass;
	kt_create_qp(kt);
	kt_connect(kt, &kt_default_conn);
	return kt_reg(kt, kt->pd, RIGHTS);
}

/* Injects a WRITE of no bytes that requests an ACK. */
static void inject_write(struct kt *kt, u32 n, u8 tos)
{
	struct test_pkt out = kt_pkt(kt, KT_WRITE_ONLY,
					KT_RQ_PSN + n);

	out.ack_req = true;
	kt->tos = tos;
	kt_inject(kt, &out);
}

static void cnp_for_marked(struct kunit *test)
{
	static const u8 reserved[MXE_CNP_RESERVED_SIZE];
	struct kt *kt = kt_of(test);
	const struct mxe_bth *bth;
	struct test_pkt pkt;
	size_t len;

	connect(kt, DSCP | INET_ECN_ECT_0);
	inject_write(kt, 0, DSCP | INET_ECN_ECT_0);
	kt_expect_ack(kt, KT_RQ_PSN, KT_ACK, 1);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_ecn_marked), 0ULL);

	inject_write(kt, 1, DSCP | INET_ECN_CE);
	pkt = kt_sent(kt);
	KUNIT_EXPECT_EQ(test, pkt.opcode, MXE_OPCODE_CNP);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0U);
	/* The CNP itself is not ECN-capable. */
	KUNIT_EXPECT_EQ(test, ip_hdr(kt->last)->tos, DSCP);
	bth = (const void *)kt_sent_bytes(kt, &len);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(bth->qpn),
			KT_PEER_QPN | MXE_BTH_BECN);
	KUNIT_ASSERT_EQ(test, len, sizeof(*bth) + sizeof(reserved) +
				   MXE_ICRC_SIZE);
	KUNIT_EXPECT_EQ(test, memcmp(bth + 1, reserved, sizeof(reserved)), 0);
	/* The marked request is executed nevertheless. */
	kt_expect_ack(kt, KT_RQ_PSN + 1, KT_ACK, 2);

	/* The last CNP was sent only recently, so none is sent. */
	kt->qp->cnp_sent = ktime_get_ns() + NSEC_PER_SEC;
	inject_write(kt, 2, DSCP | INET_ECN_CE);
	kt_expect_ack(kt, KT_RQ_PSN + 2, KT_ACK, 3);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_ecn_marked), 2ULL);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_sent_cnp), 1ULL);
}

static void inject_cnp(struct kt *kt)
{
	struct test_pkt out = kt_pkt(kt, MXE_OPCODE_CNP, 0);

	kt->tos = DSCP;
	kt_inject(kt, &out);
}

static void answer(struct kt *kt, u32 psn)
{
	struct test_pkt out = kt_pkt(kt, IB_OPCODE_RC_ACKNOWLEDGE, psn);

	out.syndrome = KT_ACK;
	kt_inject(kt, &out);
}

static void cnp_slows_down(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, DSCP | INET_ECN_ECT_0);
	struct mxe_requester *req = &kt->qp->req;
	u32 i;

	/* Several CNPs for the same packets in flight halve the window once. */
	kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 4 * KT_MTU);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 4U);
	kt_drop_sent(kt);
	for (i = 0; i < 3; i++)
		inject_cnp(kt);
	KUNIT_EXPECT_EQ(test, req->window, (u32)MXE_MAX_UNACKED / 2);
	answer(kt, KT_SQ_PSN + 3);
	KUNIT_EXPECT_EQ(test, req->window, (u32)MXE_MAX_UNACKED / 2 + 1);
	kt_expect_wc(kt, kt->send_cq, 1, IB_WC_SUCCESS);

	/* The smallest window is one packet, which requests an ACK. */
	req->window = 2;
	inject_cnp(kt);
	inject_cnp(kt);
	KUNIT_EXPECT_EQ(test, req->window, 1U);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_cnp), 5ULL);
	kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 8 * KT_MTU);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 1U);
	KUNIT_EXPECT_TRUE(test, kt_sent(kt).ack_req);
	/* The ACK widens the window to two packets. */
	answer(kt, KT_SQ_PSN + 4);
	KUNIT_EXPECT_EQ(test, kt_num_sent(kt), 2U);
	kt_drop_sent(kt);
	for (i = 0; i < 8; i++)
		answer(kt, KT_SQ_PSN + 5 + i);
	kt_expect_wc(kt, kt->send_cq, 1, IB_WC_SUCCESS);
}

/* Advances the PSNs as if n packets had been sent and acknowledged. */
static void skip_packets(struct kt *kt, u32 n)
{
	struct mxe_requester *req = &kt->qp->req;

	mxe_qp_send_begin(kt->qp);
	req->psn = mxe_psn_add(req->psn, n);
	req->sent_psn = req->psn;
	req->max_psn = req->psn;
	req->una = req->psn;
	mxe_qp_send_end(kt->qp);
}

/*
 * The requester reacts to a CNP after any number of packets without one, even
 * if that number is more than half of the PSN range.
 */
static void cnp_after_many_packets(struct kunit *test)
{
	const u32 step = 1U << 22;
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, DSCP | INET_ECN_ECT_0);
	struct mxe_requester *req = &kt->qp->req;
	u32 window, i, round;

	/*
	 * No CNP has arrived before the first round, and one has before the
	 * others. In the last round there are no ACKs, as on the loopback path.
	 */
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 3; i++) {
			skip_packets(kt, step);
			if (round == 3)
				continue;
			kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 4);
			kt_drop_sent(kt);
			answer(kt, mxe_psn_add(req->psn, -1));
			kt_expect_wc(kt, kt->send_cq, 1, IB_WC_SUCCESS);
		}
		window = req->window;
		KUNIT_ASSERT_GT(test, window, 1U);
		inject_cnp(kt);
		KUNIT_EXPECT_EQ(test, req->window, window / 2);
	}
}

/*
 * A CNP for packets that were in flight at the last CNP reports the same
 * congestion.
 */
static void cnp_of_one_flight(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct ib_mr *mr = connect(kt, DSCP | INET_ECN_ECT_0);
	struct mxe_requester *req = &kt->qp->req;

	kt_post_write(kt, IB_WR_RDMA_WRITE, 1, mr, 4 * KT_MTU);
	kt_drop_sent(kt);
	inject_cnp(kt);
	KUNIT_EXPECT_EQ(test, req->window, (u32)MXE_MAX_UNACKED / 2);
	/* ACKs have widened the window again, and the next one completes it. */
	req->window = MXE_MAX_UNACKED - 1;
	answer(kt, KT_SQ_PSN + 1);
	KUNIT_EXPECT_EQ(test, req->window, (u32)MXE_MAX_UNACKED);
	inject_cnp(kt);
	KUNIT_EXPECT_EQ(test, req->window, (u32)MXE_MAX_UNACKED);
	answer(kt, KT_SQ_PSN + 3);
	kt_expect_wc(kt, kt->send_cq, 1, IB_WC_SUCCESS);
	inject_cnp(kt);
	KUNIT_EXPECT_EQ(test, req->window, (u32)MXE_MAX_UNACKED / 2);
}

/* A CNP does not slow down a QP that does not use ECN. */
static void cnp_without_ecn(struct kunit *test)
{
	struct kt *kt = kt_of(test);

	connect(kt, DSCP);
	inject_cnp(kt);
	KUNIT_EXPECT_EQ(test, kt_counter(kt, MXE_CNT_rcvd_cnp), 1ULL);
	KUNIT_EXPECT_EQ(test, kt->qp->req.window, (u32)MXE_MAX_UNACKED);
	kt_expect_nothing(kt);
}

static struct kunit_case cnp_cases[] = {
	KUNIT_CASE(cnp_for_marked),
	KUNIT_CASE(cnp_slows_down),
	KUNIT_CASE(cnp_after_many_packets),
	KUNIT_CASE(cnp_of_one_flight),
	KUNIT_CASE(cnp_without_ecn),
	{}
};

static struct kunit_suite cnp_suite = {
	.name = "mxe_cnp",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = cnp_cases,
};

kunit_test_suites(&cnp_suite);
