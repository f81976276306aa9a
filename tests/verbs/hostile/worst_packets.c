// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the attacks of t_worst with datagrams, SRQs and packets of a
 * hostile peer.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "raw.h"
#include "worst.h"
#include "xrc.h"

enum {
	QKEY = 0x11223344,
	GRH = 40,
	SOME = 4 * WORST_BURST,
};

/* ---- datagrams --------------------------------------------------------- */

static void open_ud(struct vt_end *e, struct vt_dev *dev, uint32_t depth,
		    size_t size)
{
	struct vt_conf conf = worst_conf(depth, size);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
	};
	struct ibv_qp_init_attr_ex init;
	struct mxedv_qp_init_attr own = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL,
	};

	/* Create everything of an end except for its QP. */
	conf.qp_type = IBV_QPT_XRC_RECV;
	vt_end_create(e, dev, &conf, NULL, NULL);
	init = (struct ibv_qp_init_attr_ex){
		.send_cq = e->cq,
		.recv_cq = e->rcq,
		.cap = { depth, depth, WORST_SGE, WORST_SGE, 0 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = dev->pd,
	};
	e->qp = mxedv_create_qp(dev->ctx, &init, &own);
	if (!e->qp)
		vt_bail("a UD QP");
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_QKEY))
		vt_bail("to INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE))
		vt_bail("to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		vt_bail("to RTS");
}

static struct ibv_ah *make_ah(struct vt_dev *from, int gid_index,
			      const union ibv_gid *to)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = *to,
			.sgid_index = (uint8_t)gid_index,
			.hop_limit = 64,
		},
	};
	struct ibv_ah *ah = ibv_create_ah(from->pd, &attr);

	if (!ah)
		vt_bail("ibv_create_ah");
	return ah;
}

/* Sends datagrams from 32 regions each. */
static bool ud_sends(uint32_t len, uint32_t n, bool ipv6)
{
	struct worst_wr wr = { .opcode = IBV_WR_SEND, .num_sge = WORST_SGE };
	struct worst_list list;
	struct vt_end from, to;
	struct ibv_sge recv;
	bool done;

	open_ud(&from, worst_a, n, 8192);
	open_ud(&to, worst_b, n, 8192);
	worst_list_open(&list, worst_a, len, 0);
	recv = vt_sge(&to, 0, GRH + len);
	worst_fill_recv(&to, n, &recv, 1);
	wr.sge = list.sge;
	wr.ah = ipv6 ? make_ah(worst_a, worst_a->gid6_index, &worst_b->gid6) :
		       make_ah(worst_a, worst_a->gid4_index, &worst_b->gid4);
	wr.qpn = to.qp->qp_num;
	worst_fill(from.qp, n, &wr);
	worst_begin();
	worst_ring(from.qp);
	done = worst_wait(from.cq, n, IBV_WC_SUCCESS) &&
	       worst_wait(to.rcq, n, IBV_WC_SUCCESS);
	worst_end();
	ibv_destroy_ah(wr.ah);
	vt_end_close(&from);
	vt_end_close(&to);
	worst_list_close(&list);
	return done;
}

static bool ud_send_32(void)
{
	return ud_sends(WORST_SGE, SOME, false);
}

static bool ud_send_4k(void)
{
	return ud_sends(WORST_MTU, SOME, false);
}

static bool ud6_send_4k(void)
{
	return ud_sends(WORST_MTU, SOME, true);
}

/* Sends datagrams that 64 members of a group receive. */
static bool mcast_members(void)
{
	enum { MEMBERS = 64, TIMES = 4 };
	static struct vt_end members[MEMBERS];
	union ibv_gid gid = {
		.raw = { [10] = 0xff, [11] = 0xff, 239, 77, 1, 1 },
	};
	struct worst_list into;
	struct vt_end from;
	struct worst_wr wr = {
		.opcode = IBV_WR_SEND, .num_sge = 1, .qpn = 0xffffff,
	};
	struct ibv_sge sge;
	bool done = true;

	open_ud(&from, worst_a, TIMES, 8192);
	worst_list_open(&into, worst_b, GRH + WORST_MTU + WORST_SGE, 0);
	for (int i = 0; i < MEMBERS; i++) {
		struct vt_end *e = &members[i];

		open_ud(e, worst_b, TIMES, 8192);
		worst_fill_recv(e, TIMES, into.sge, WORST_SGE);
		if (ibv_attach_mcast(e->qp, &gid, 0))
			vt_bail("ibv_attach_mcast");
	}
	sge = vt_sge(&from, 0, WORST_MTU);
	wr.sge = &sge;
	wr.ah = make_ah(worst_a, worst_a->gid4_index, &gid);
	worst_fill(from.qp, TIMES, &wr);
	worst_begin();
	worst_ring(from.qp);
	for (int i = 0; i < MEMBERS; i++)
		done = worst_wait(members[i].rcq, TIMES, IBV_WC_SUCCESS) && done;
	worst_end();
	ibv_destroy_ah(wr.ah);
	for (int i = 0; i < MEMBERS; i++) {
		if (ibv_detach_mcast(members[i].qp, &gid, 0))
			vt_bail("ibv_detach_mcast");
		vt_end_close(&members[i]);
	}
	vt_end_close(&from);
	worst_list_close(&into);
	return done;
}

/* ---- into long lists ---------------------------------------------------- */

/* Sends messages of 4 KiB, each into 32 regions of the receiver. */
static bool sends_into_list(struct vt_pair *p, uint32_t n)
{
	struct worst_wr wr = {
		.opcode = IBV_WR_SEND, .num_sge = 1, .srqn = p->b.srqn,
	};
	struct ibv_sge sge = vt_sge(&p->a, 0, WORST_MTU);
	struct worst_list into;
	bool done;

	worst_list_open(&into, worst_b, WORST_MTU, 0);
	worst_fill_recv(&p->b, n, into.sge, WORST_SGE);
	wr.sge = &sge;
	worst_fill(p->a.qp, n, &wr);
	worst_begin();
	worst_ring(p->a.qp);
	done = worst_wait(p->a.cq, n, IBV_WC_SUCCESS) &&
	       worst_wait(p->b.rcq, n, IBV_WC_SUCCESS);
	worst_end();
	worst_list_close(&into);
	return done;
}

/* Packets of a UC QP arrive in GSO batches. */
static bool uc_sends(void)
{
	struct vt_conf conf = worst_conf(SOME, WORST_MTU);
	struct vt_pair p;
	bool done;

	conf.qp_type = IBV_QPT_UC;
	worst_pair_open(&p, worst_b, &conf);
	done = sends_into_list(&p, SOME);
	vt_pair_close(&p);
	return done;
}

static bool srq_sends(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = SOME, .max_sge = WORST_SGE },
	};
	struct vt_conf conf = worst_conf(SOME, WORST_MTU);
	struct vt_pair p;
	bool done;

	conf.srq_b = ibv_create_srq(worst_b->pd, &init);
	if (!conf.srq_b)
		vt_bail("ibv_create_srq");
	worst_pair_open(&p, worst_b, &conf);
	p.b.xsrq = conf.srq_b;
	done = sends_into_list(&p, SOME);
	vt_pair_close(&p);
	if (ibv_destroy_srq(conf.srq_b))
		vt_bail("ibv_destroy_srq");
	return done;
}

static bool xrc_sends(void)
{
	struct vt_conf conf = worst_conf(SOME, WORST_MTU), own = conf;
	struct ibv_xrcd *xrcd = xrc_open_domain(worst_b, -1, O_CREAT);
	struct vt_pair p;
	bool done;

	conf.qp_type = IBV_QPT_XRC_SEND;
	own.qp_type = IBV_QPT_XRC_RECV;
	vt_end_create(&p.a, worst_a, &conf, NULL, NULL);
	vt_end_create(&p.b, worst_b, &own, NULL, NULL);
	p.b.xsrq = xrc_make_srq(worst_b->pd, xrcd, p.b.rcq, SOME, WORST_SGE);
	p.b.qp = xrc_make_target(worst_b, xrcd);
	if (!p.b.xsrq || !p.b.qp || ibv_get_srq_num(p.b.xsrq, &p.b.srqn))
		vt_bail("a target of XRC");
	vt_pair_connect(&p, &conf);
	done = sends_into_list(&p, 1) && sends_into_list(&p, SOME);
	xrc_pair_close(&p);
	if (ibv_close_xrcd(xrcd))
		vt_bail("ibv_close_xrcd");
	return done;
}

/* ---- packets made by hand ---------------------------------------------- */

/*
 * Waits until a counter of a device has reached a value. Returns false after
 * VT_MS.
 */
static bool wait_counter(const struct vt_dev *dev, const char *name, long value)
{
	uint64_t end = vt_now_ms() + VT_MS;
	long now;

	while ((now = vt_dev_counter(dev, name)) < value && vt_now_ms() < end)
		usleep(1000);
	if (now < value)
		printf("# %s: %ld, not %ld\n", name, now, value);
	return now >= value;
}

/* Sends a READ request as the peer of `to`, which is on worst_b. */
static void read_request(int fd, const struct vt_end *to, uint32_t psn,
			 uint32_t len)
{
	struct raw r = {
		.opcode = BTH_RC | BTH_RDMA_READ_REQUEST,
		.qpn = to->qp->qp_num, .psn = psn,
	};
	struct {
		uint64_t va;
		uint32_t rkey, len;
	} reth = {
		htobe64(vt_addr(to, 0)), htonl(to->mr->rkey), htonl(len),
	};

	memcpy(r.body, &reth, sizeof(reth));
	r.len = sizeof(reth);
	raw_send(fd, worst_a, worst_b, &r);
}

/*
 * The peer repeats the oldest of 128 READs, whose answer is a burst of packets.
 * The other QP of the pair did not request it and drops the packets.
 */
static bool dup_read(void)
{
	enum { LEN = WORST_BURST * WORST_MTU, TIMES = 4 };
	struct vt_conf conf = worst_conf(16, LEN);
	long before = vt_dev_counter(worst_a, "drop_unsolicited_response");
	long sent = WORST_BURST + WORST_RD_ATOMIC - 1;
	int fd = raw_open();
	struct vt_pair p;
	bool done;

	worst_pair_open(&p, worst_b, &conf);
	read_request(fd, &p.b, 1, LEN);
	for (uint32_t i = 1; i < WORST_RD_ATOMIC; i++)
		read_request(fd, &p.b, WORST_BURST + i, 0);
	done = wait_counter(worst_a, "drop_unsolicited_response", before + sent);
	worst_begin();
	for (int i = 0; i < TIMES; i++) {
		read_request(fd, &p.b, 1, LEN);
		sent += WORST_BURST;
		done = wait_counter(worst_a, "drop_unsolicited_response",
				    before + sent) && done;
	}
	worst_end();
	close(fd);
	vt_pair_close(&p);
	return done;
}

/*
 * The peer repeats a READ longer than a burst, for which as many others wait as
 * may. The responder drops these, and begins again.
 */
static bool read_again(void)
{
	uint32_t size = (WORST_BURST + 1) * WORST_MTU;
	struct vt_conf conf = worst_conf(16, size);
	long before = vt_dev_counter(worst_a, "drop_unsolicited_response");
	int fd = raw_open();
	struct vt_pair p;
	bool done;

	worst_pair_open(&p, worst_b, &conf);
	worst_starve_work(true);
	worst_begin();
	read_request(fd, &p.b, 1, size);
	for (uint32_t i = 1; i < WORST_RD_ATOMIC; i++)
		read_request(fd, &p.b, 1 + WORST_BURST + i, 0);
	read_request(fd, &p.b, 1, size);
	worst_starve_work(false);
	done = wait_counter(worst_a, "drop_unsolicited_response",
			    before + WORST_BURST + 1);
	worst_end();
	close(fd);
	vt_pair_close(&p);
	return done;
}

/*
 * READs that wait for a READ longer than a burst, so that qp->work has to
 * answer all of them. It must not run before they have arrived.
 */
static bool deferred_reads(uint32_t n, uint32_t len, bool reset)
{
	uint32_t size = (WORST_BURST + 1) * WORST_MTU;
	uint32_t psn = 1, num_pkts = len ? len / WORST_MTU : 1;
	struct vt_conf conf = worst_conf(16, size);
	long before = vt_dev_counter(worst_a, "drop_unsolicited_response");
	int fd = raw_open();
	struct vt_pair p;
	bool done = true;

	worst_pair_open(&p, worst_b, &conf);
	worst_starve_work(true);
	worst_begin();
	read_request(fd, &p.b, psn, size);
	psn += WORST_BURST + 1;
	for (uint32_t i = 0; i < n; i++, psn += num_pkts)
		read_request(fd, &p.b, psn, len);
	if (reset)
		done = !vt_to_state(&p.b, IBV_QPS_RESET);
	worst_starve_work(false);
	if (!reset)
		done = wait_counter(worst_a, "drop_unsolicited_response",
				    before + psn - 1);
	worst_end();
	close(fd);
	vt_pair_close(&p);
	return done;
}

static bool defer_read(void)
{
	return deferred_reads(8, WORST_BURST * WORST_MTU, false);
}

static bool defer_nothing(void)
{
	return deferred_reads(120, 0, false);
}

static bool reset_deferred(void)
{
	return deferred_reads(120, 0, true);
}

/* One ACK completes a window of requests, and the next ones begin. */
static bool ack_window(bool binds)
{
	enum { NEXT = 4096 };
	struct vt_conf conf = worst_conf(2 * NEXT, WORST_MTU);
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	struct worst_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .num_sge = 1 };
	uint32_t next = binds ? NEXT : WORST_BURST;
	struct raw ack = {
		.opcode = BTH_RC | BTH_ACKNOWLEDGE, .psn = WORST_WINDOW, .len = 4,
		.body = { AETH_ACK_NO_CREDITS },
	};
	struct ibv_mw *mw = ibv_alloc_mw(worst_b->pd, IBV_MW_TYPE_1);
	long before = vt_dev_counter(worst_b, "sent_pkts");
	int fd = raw_open();
	struct ibv_sge sge;
	struct vt_pair p;
	bool done;

	if (!mw)
		vt_bail("ibv_alloc_mw");
	/* The requester is on worst_b. The peer will not respond. */
	vt_pair_open(&p, worst_b, worst_a, &conf);
	wr.sge = &sge;
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	sge = vt_sge(&p.a, 0, 8);
	worst_fill(p.a.qp, 1, &wr);
	worst_ring(p.a.qp);
	done = worst_wait(p.a.cq, 1, IBV_WC_SUCCESS);
	if (vt_to_state(&p.b, IBV_QPS_ERR))
		vt_bail("to ERR");
	worst_fill(p.a.qp, WORST_WINDOW, &wr);
	sge = vt_sge(&p.a, 0, WORST_MTU);
	if (binds)
		for (uint32_t i = 0; i < next; i++)
			ibv_bind_mw(p.a.qp, mw, &bind);
	else
		worst_fill(p.a.qp, next, &wr);
	worst_ring(p.a.qp);
	done = wait_counter(worst_b, "sent_pkts", before + 1 + WORST_WINDOW) &&
	       done;
	ack.qpn = p.a.qp->qp_num;
	worst_begin();
	raw_send(fd, worst_a, worst_b, &ack);
	done = worst_wait(p.a.cq, WORST_WINDOW, IBV_WC_SUCCESS) && done;
	if (binds)
		done = worst_wait(p.a.cq, next, IBV_WC_SUCCESS) && done;
	worst_end();
	close(fd);
	vt_pair_close(&p);
	if (ibv_dealloc_mw(mw))
		vt_bail("ibv_dealloc_mw");
	return done;
}

static bool ack_write_4k(void)
{
	return ack_window(false);
}

static bool ack_bind(void)
{
	return ack_window(true);
}

/* The peer does not respond, so the timer retransmits a window repeatedly. */
static bool retransmit(void)
{
	struct vt_conf conf = worst_conf(SOME, WORST_MTU);
	struct worst_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .num_sge = 1 };
	long before = vt_dev_counter(worst_a, "retransmit_timeouts");
	struct ibv_sge sge;
	struct vt_pair p;
	bool done;

	/* 17 ms */
	conf.timeout = 12;
	worst_pair_open(&p, worst_b, &conf);
	if (vt_to_state(&p.b, IBV_QPS_ERR))
		vt_bail("to ERR");
	sge = vt_sge(&p.a, 0, WORST_MTU);
	wr.sge = &sge;
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	worst_fill(p.a.qp, SOME, &wr);
	worst_begin();
	worst_ring(p.a.qp);
	done = worst_wait(p.a.cq, 1, IBV_WC_RETRY_EXC_ERR) &&
	       wait_counter(worst_a, "retransmit_timeouts", before + 7);
	worst_end();
	vt_pair_close(&p);
	return done;
}

const struct worst worst_packets[] = {
	{ "ud_send_32", "32-byte datagrams from 32 SGEs", .run = ud_send_32 },
	{ "ud_send_4k", "4-KiB datagrams from 32 SGEs", .run = ud_send_4k },
	{ "ud6_send_4k", "4-KiB datagrams over IPv6 from 32 SGEs", .run = ud6_send_4k },
	{ "mcast_members", "a 4-KiB datagram to 64 QPs of a group, into 32 SGEs",
	  .run = mcast_members },
	{ "uc_send_4k", "4-KiB SENDs of UC, into 32 SGEs", .run = uc_sends },
	{ "srq_send_4k", "4-KiB SENDs to an SRQ, into 32 SGEs", .run = srq_sends },
	{ "xrc_send_4k", "4-KiB SENDs to an SRQ of XRC, into 32 SGEs", .run = xrc_sends },
	{ "dup_read", "the oldest of 128 READs is repeated, 64 packets", .run = dup_read },
	{ "read_again", "a READ is repeated, and 127 that wait are dropped", .run = read_again },
	{ "defer_read", "8 READs of 64 packets wait for one of 65", .run = defer_read },
	{ "defer_nothing", "120 READs of length 0 wait for one of 65 packets",
	  .run = defer_nothing },
	{ "reset_deferred", "a QP with 120 deferred READs moves to RESET",
	  .run = reset_deferred },
	{ "ack_write_4k", "an ACK completes 128 requests, 64 of 4 KiB follow",
	  .run = ack_write_4k },
	{ "ack_bind", "an ACK completes 128 requests, 4,096 binds follow",
	  .run = ack_bind },
	{ "retransmit", "a window of 4-KiB packets is sent again by the timer",
	  .run = retransmit },
	{ .name = NULL },
};
