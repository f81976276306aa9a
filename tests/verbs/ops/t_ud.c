// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that datagrams arrive unmodified behind a GRH, and that Q_Keys, size
 * limits, errors, states and address handles are handled correctly, including
 * hostile changes to requests in the ring.
 */
#include <poll.h>
#include <stddef.h>
#include <rdma/mxe-abi.h>
#include "ud.h"

static struct vt_dev *a, *b;
static struct ibv_ah *ah[2];		/* from a to b: IPv4, IPv6 */

static uint32_t mtu_of(const struct vt_dev *dev)
{
	return 128U << dev->active_mtu;
}

/* ---- transfers --------------------------------------------------------- */

static void check_grh4(const uint8_t *grh, const char *what)
{
	static const uint8_t none[20];
	struct iphdr ip;

	memcpy(&ip, grh + 20, sizeof(ip));
	is_mem(grh, none, 20, "%s: nothing before the IPv4 header", what);
	ok(ip.version == 4 && ip.ihl == 5 && ip.protocol == IPPROTO_UDP,
	   "%s: an IPv4 header", what);
	is_int(ip.ttl, 64, "%s: the hop limit of the route", what);
	is_int(ip.tos & 0xfc, 0x48, "%s: the traffic class", what);
	ok(!memcmp(&ip.saddr, a->gid4.raw + 12, 4) &&
	   !memcmp(&ip.daddr, b->gid4.raw + 12, 4), "%s: the addresses", what);
}

static void check_grh6(const uint8_t *grh, const char *what)
{
	struct ip6_hdr ip;

	memcpy(&ip, grh, sizeof(ip));
	is_u64(be32toh(ip.ip6_flow) & 0xfffcffff, 0x64812345 & 0xfffcffff,
	       "%s: version, traffic class and flow label", what);
	is_int(ip.ip6_nxt, IPPROTO_UDP, "%s: next header", what);
	is_int(ip.ip6_hlim, 64, "%s: the hop limit of the route", what);
	ok(!memcmp(&ip.ip6_src, &a->gid6, 16) &&
	   !memcmp(&ip.ip6_dst, &b->gid6, 16), "%s: the addresses", what);
}

/* Sends a datagram and checks its completion, GRH and data. */
static void transfer(struct ud *from, struct ud *to, bool ipv6,
		     struct ud_wr w, const char *what)
{
	uint8_t *got = to->buf + UD_RECV;
	struct ibv_wc wc;

	w.ah = ah[ipv6];
	w.qpn = to->qp->qp_num;
	w.qkey = UD_QKEY;
	vt_fill_random(from->buf, w.len);
	memset(got, 0xa5, UD_SLOT);
	ud_must_recv(to, UD_RECV, UD_SLOT);
	is_int(ud_send_wait(from, w), IBV_WC_SUCCESS, "%s: sent", what);
	wc = ud_next(to, what);
	ok(wc.opcode == IBV_WC_RECV && wc.wr_id == UD_RECV &&
	   wc.qp_num == to->qp->qp_num && wc.pkey_index == 0,
	   "%s: the receive request", what);
	is_u64(wc.byte_len, w.len + UD_GRH, "%s: length with the GRH", what);
	is_u64(wc.src_qp, from->qp->qp_num, "%s: the sender", what);
	is_int(wc.wc_flags, IBV_WC_GRH | (w.imm ? IBV_WC_WITH_IMM : 0),
	       "%s: flags", what);
	is_int(wc.sl, ipv6 ? 9 : 10, "%s: the network header type", what);
	if (w.imm)
		is_u64(be32toh(wc.imm_data), w.imm, "%s: immediate data",
		       what);
	is_mem(got + UD_GRH, from->buf, w.len, "%s: the data", what);
	is_int(got[UD_GRH + w.len], 0xa5, "%s: nothing beyond the data", what);
	if (ipv6)
		check_grh6(got, what);
	else
		check_grh4(got, what);
}

static void test_transfer(bool ipv6)
{
	const uint32_t mtu = mtu_of(a) < mtu_of(b) ? mtu_of(a) : mtu_of(b);
	const struct ud_wr wrs[] = {
		{ .len = 100 },
		{ .len = 1, .imm = 0x89abcdef },
		{ .len = 0 },
		{ .len = 0, .imm = 7 },
		{ .len = 47, .flags = IBV_SEND_INLINE },
		{ .len = 64, .flags = IBV_SEND_INLINE, .imm = 1 },
		{ .len = mtu },
		{ .len = mtu - 1, .imm = 2 },
		{ .len = 50, .builders = true },
		{ .len = 51, .builders = true, .imm = 3 },
		{ .len = 52, .builders = true, .flags = IBV_SEND_INLINE },
		{ .len = 10, .flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED },
	};
	struct ud from, to;
	char what[64];

	ud_open(&from, a);
	ud_open(&to, b);
	for (size_t i = 0; i < ARRAY_SIZE(wrs); i++) {
		snprintf(what, sizeof(what), "%s, %u bytes%s%s%s",
			 ipv6 ? "IPv6" : "IPv4", wrs[i].len,
			 wrs[i].imm ? ", immediate" : "",
			 wrs[i].flags & IBV_SEND_INLINE ? ", inline" : "",
			 wrs[i].builders ? ", by ibv_wr_*" : "");
		transfer(&from, &to, ipv6, wrs[i], what);
	}
	ud_close(&from);
	ud_close(&to);
}

/* The elements are filled in order with the GRH and the data. */
static void test_sges(void)
{
	static const uint32_t lens[4] = { 3, 50, 1, 100 };
	struct ibv_recv_wr *bad, wr = { .num_sge = 4 };
	struct ud_wr w = { .len = 90, .qkey = UD_QKEY };
	uint8_t got[154], *at;
	struct ibv_sge sge[4];
	struct ud from, to;
	struct ibv_wc wc;

	ud_open(&from, a);
	ud_open(&to, b);
	for (int i = 0; i < 4; i++)
		sge[i] = (struct ibv_sge){
			(uintptr_t)to.buf + (size_t)i * UD_SLOT, lens[i],
			to.mr->lkey,
		};
	wr.sg_list = sge;
	if (ibv_post_recv(to.qp, &wr, &bad))
		vt_bail("ibv_post_recv");
	vt_fill_random(from.buf, w.len);
	w.ah = ah[1];
	w.qpn = to.qp->qp_num;
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "four elements: sent");
	wc = ud_next(&to, "four elements");
	is_u64(wc.byte_len, UD_GRH + w.len, "four elements: length");
	at = got;
	for (int i = 0; i < 4; i++) {
		memcpy(at, to.buf + (size_t)i * UD_SLOT, lens[i]);
		at += lens[i];
	}
	check_grh6(got, "four elements");
	is_mem(got + UD_GRH, from.buf, w.len, "four elements: the data");
	ud_close(&from);
	ud_close(&to);
}

/* A queue pair sends to itself and to another queue pair of its device. */
static void test_self(void)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct ibv_ah *own = ud_ah(a, a, ipv6);
		struct ud_wr w = { .ah = own, .len = 30, .qkey = UD_QKEY };
		struct ud one, two;

		ud_open(&one, a);
		ud_open(&two, a);
		ud_must_recv(&one, UD_RECV, UD_SLOT);
		ud_must_recv(&two, UD_RECV, UD_SLOT);
		vt_fill_random(one.buf, w.len);
		w.qpn = one.qp->qp_num;
		is_int(ud_send_wait(&one, w), IBV_WC_SUCCESS, "to itself");
		is_u64(ud_next(&one, "to itself").src_qp, one.qp->qp_num,
		       "to itself: the sender");
		is_mem(one.buf + UD_RECV + UD_GRH, one.buf, w.len,
		       "to itself: the data");
		w.qpn = two.qp->qp_num;
		is_int(ud_send_wait(&one, w), IBV_WC_SUCCESS, "same device");
		ud_next(&two, "same device");
		is_mem(two.buf + UD_RECV + UD_GRH, one.buf, w.len,
		       "same device: the data");
		ud_close(&one);
		ud_close(&two);
		ibv_destroy_ah(own);
	}
}

/* A server responds to the address from the completion and the GRH. */
static void test_answer(void)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct ud_wr w = { .ah = ah[ipv6], .len = 8, .qkey = UD_QKEY };
		struct ud_wr back = { .len = 9, .qkey = UD_QKEY };
		struct ud from, to;
		struct ibv_wc wc;

		ud_open(&from, a);
		ud_open(&to, b);
		ud_must_recv(&from, UD_RECV, UD_SLOT);
		ud_must_recv(&to, UD_RECV, UD_SLOT);
		w.qpn = to.qp->qp_num;
		ud_send_wait(&from, w);
		wc = ud_next(&to, "a request");
		back.ah = ibv_create_ah_from_wc(b->pd, &wc,
						(void *)(to.buf + UD_RECV), 1);
		if (!ok(back.ah != NULL, "an address handle from the GRH"))
			continue;
		back.qpn = wc.src_qp;
		ud_send_wait(&to, back);
		is_u64(ud_next(&from, "the response").src_qp, to.qp->qp_num,
		       "the response: the sender");
		ibv_destroy_ah(back.ah);
		ud_close(&from);
		ud_close(&to);
	}
}

/* With notification for solicited datagrams only, others raise no event. */
static void test_solicited(void)
{
	struct ibv_comp_channel *chan = ibv_create_comp_channel(b->ctx);
	struct pollfd pfd = { .fd = chan->fd, .events = POLLIN };
	struct ud_wr w = { .ah = ah[0], .len = 8, .qkey = UD_QKEY };
	struct ibv_cq *plain, *cq;
	struct ud from, to;
	void *context;

	ud_open(&from, a);
	/* Create the queue pair again, with a completion channel. */
	ud_create(&to, b);
	plain = to.rcq;
	ibv_destroy_qp(to.qp);
	to.rcq = ibv_create_cq(b->ctx, UD_DEPTH, NULL, chan, 0);
	{
		struct ibv_qp_init_attr_ex attr = ud_init_attr(&to);

		to.qp = ibv_create_qp_ex(b->ctx, &attr);
	}
	if (!to.rcq || !to.qp || ud_to(&to, IBV_QPS_INIT, UD_QKEY) ||
	    ud_to(&to, IBV_QPS_RTR, 0))
		vt_bail("a queue pair with a completion channel");
	ud_must_recv(&to, UD_RECV, UD_SLOT);
	ud_must_recv(&to, UD_RECV, UD_SLOT);
	ibv_req_notify_cq(to.rcq, 1);
	w.qpn = to.qp->qp_num;
	ud_send_wait(&from, w);
	ud_next(&to, "not solicited");
	is_int(poll(&pfd, 1, UD_QUIET_MS), 0, "not solicited: no event");
	w.flags = IBV_SEND_SOLICITED;
	ud_send_wait(&from, w);
	is_int(poll(&pfd, 1, VT_MS), 1, "solicited: an event");
	if (!ibv_get_cq_event(chan, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	ud_next(&to, "solicited");
	ibv_destroy_cq(plain);
	ud_close(&from);
	ud_close(&to);
	ibv_destroy_comp_channel(chan);
}

/* ---- keys -------------------------------------------------------------- */

/*
 * Checks that a datagram is dropped and counted. Datagrams keep their order
 * here, so if a good one that is sent after a bad one is received first, the
 * bad one was dropped. The receive request is posted only after the drop was
 * counted, because the bad datagram may not arrive at once.
 */
static void dropped(struct ud *from, struct ud *to, struct ud_wr bad,
		    const char *counter, const char *what)
{
	struct ud_wr good = {
		.ah = ah[0], .qpn = to->qp->qp_num, .qkey = UD_QKEY,
		.len = 9, .offset = 64,
	};
	long before = vt_dev_counter(to->dev, counter);
	struct ibv_wc wc;

	is_int(ud_send_wait(from, bad), IBV_WC_SUCCESS, "%s: sent", what);
	vt_dev_wait_counted(to->dev, counter, before);
	ud_must_recv(to, UD_RECV, UD_SLOT);
	is_int(ud_send_wait(from, good), IBV_WC_SUCCESS, "%s: another is sent",
	       what);
	wc = ud_next(to, what);
	is_u64(wc.byte_len, UD_GRH + 9, "%s: only the other arrives", what);
	is_int(vt_dev_counter(to->dev, counter) - before, 1, "%s: %s counts it",
	       what, counter);
}

static void test_keys(void)
{
	struct ibv_qp_attr attr = { .qkey = 0x5555 };
	struct ud_wr w = { .ah = ah[0], .len = 8, .qkey = UD_QKEY + 1 };
	struct ud from, to;

	ud_open(&from, a);
	ud_open(&to, b);
	w.qpn = to.qp->qp_num;
	ud_must_recv(&to, UD_RECV, UD_SLOT);
	dropped(&from, &to, w, "drop_qkey", "a wrong Q_Key");
	w.qkey = 0;
	dropped(&from, &to, w, "drop_qkey", "no Q_Key");

	/* IBTA 10.2.5: a Q_Key with the top bit set means the queue pair's. */
	w.qkey = 0x80000000;
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "a controlled Q_Key");
	ud_next(&to, "the queue pair's own Q_Key");

	is_int(ibv_modify_qp(from.qp, &attr, IBV_QP_QKEY), 0,
	       "another Q_Key in RTS");
	ud_must_recv(&to, UD_RECV, UD_SLOT);
	dropped(&from, &to, w, "drop_qkey", "the changed Q_Key of the sender");
	is_int(ibv_modify_qp(to.qp, &attr, IBV_QP_QKEY), 0,
	       "the same Q_Key at the receiver");
	ud_must_recv(&to, UD_RECV, UD_SLOT);
	w.qkey = 0x5555;
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "the new Q_Key");
	ud_next(&to, "the new Q_Key");
	ud_close(&from);
	ud_close(&to);
}

static void test_drops(void)
{
	struct ud_wr w = { .ah = ah[0], .len = 100, .qkey = UD_QKEY };
	struct ud from, to, other;
	struct vt_conf conf = vt_defaults();
	struct vt_pair rc;

	ud_open(&from, a);
	ud_open(&to, b);
	w.qpn = to.qp->qp_num;
	dropped(&from, &to, w, "drop_no_recv", "no receive request");

	/* A datagram that is too long must not consume a receive request. */
	ud_must_recv(&to, UD_RECV + UD_SLOT, UD_GRH + 99);
	dropped(&from, &to, w, "drop_recv_too_short", "a buffer too short");

	ud_create(&other, b);
	w.qpn = other.qp->qp_num;
	dropped(&from, &to, w, "drop_state", "a queue pair in RESET");
	ud_to(&other, IBV_QPS_INIT, UD_QKEY);
	dropped(&from, &to, w, "drop_state", "a queue pair in INIT");
	ud_close(&other);
	dropped(&from, &to, w, "drop_qpn", "no such queue pair");
	w.qpn = 0;
	dropped(&from, &to, w, "drop_qpn", "QP 0");
	w.qpn = 0xffffff;
	dropped(&from, &to, w, "drop_mcast", "QP 0xffffff");

	vt_pair_open(&rc, a, b, &conf);
	w.qpn = rc.b.qp->qp_num;
	dropped(&from, &to, w, "drop_transport", "a connected queue pair");
	vt_pair_close(&rc);
	ud_close(&from);
	ud_close(&to);
}

/* ---- errors of the sender ---------------------------------------------- */

/*
 * Checks that a request fails and that the next one is flushed, and that the
 * queue pair works again after SQE to RTS.
 */
static void failing(struct ud *from, struct ud *to, struct ud_wr bad,
		    enum ibv_wc_status status, const char *what)
{
	struct ud_wr good = {
		.ah = ah[0], .qpn = to->qp->qp_num, .qkey = UD_QKEY, .len = 5,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_init_attr init;

	is_int(ud_send_wait(from, bad), (int)status, "%s: %s", what,
	       vt_status(status));
	ibv_query_qp(from->qp, &attr, IBV_QP_STATE, &init);
	is_int(attr.qp_state, IBV_QPS_SQE, "%s: SQE", what);
	is_int(ud_send_wait(from, good), IBV_WC_WR_FLUSH_ERR,
	       "%s: the next is flushed", what);
	attr.qp_state = IBV_QPS_RTS;
	is_int(ibv_modify_qp(from->qp, &attr, IBV_QP_STATE), 0,
	       "%s: SQE to RTS", what);
	ud_must_recv(to, UD_RECV, UD_SLOT);
	is_int(ud_send_wait(from, good), IBV_WC_SUCCESS, "%s: a send in RTS", what);
	is_u64(ud_next(to, what).byte_len, UD_GRH + 5, "%s: ... arrives", what);
}

static void test_send_errors(void)
{
	struct ud_wr w = { .ah = ah[0], .qkey = UD_QKEY };
	struct ibv_pd *pd = ibv_alloc_pd(a->ctx);
	struct ibv_mr *own, *foreign;
	struct ud from, to;

	ud_open(&from, a);
	ud_open(&to, b);
	w.qpn = to.qp->qp_num;
	w.len = mtu_of(a) + 1;
	failing(&from, &to, w, IBV_WC_LOC_LEN_ERR, "longer than the MTU");
	w.len = 100;
	w.offset = UD_SIZE - 50;
	failing(&from, &to, w, IBV_WC_LOC_PROT_ERR, "beyond the region");
	w.offset = 0;
	own = from.mr;
	foreign = ibv_reg_mr(pd, from.buf, UD_SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!foreign)
		vt_bail("ibv_reg_mr");
	from.mr = foreign;
	w.flags = IBV_SEND_SIGNALED;
	is_int(ud_send(&from, &w), 0, "another domain's region: posted");
	from.mr = own;
	{
		struct ibv_wc wc = { 0 };

		ok(vt_poll(from.cq, &wc, VT_MS), "... completes");
		is_int(wc.status, IBV_WC_LOC_PROT_ERR,
		       "... with a protection error");
	}
	ibv_dereg_mr(foreign);
	ibv_dealloc_pd(pd);
	ud_close(&from);
	ud_close(&to);
}

static void test_recv_error(void)
{
	struct ud_wr w = { .ah = ah[0], .qkey = UD_QKEY, .len = 100 };
	struct ud from, to;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct ibv_wc wc = { 0 };

	ud_open(&from, a);
	ud_open(&to, b);
	w.qpn = to.qp->qp_num;
	ud_must_recv(&to, UD_SIZE - 100, 200);
	ud_must_recv(&to, UD_RECV, UD_SLOT);
	ud_send_wait(&from, w);
	ok(vt_poll(to.rcq, &wc, VT_MS), "a receive buffer beyond the region");
	is_int(wc.status, IBV_WC_LOC_PROT_ERR,
	       "... completes with a protection error");
	wc.status = IBV_WC_SUCCESS;
	ok(vt_poll(to.rcq, &wc, VT_MS), "the next receive request completes");
	is_int(wc.status, IBV_WC_WR_FLUSH_ERR, "... flushed");
	ibv_query_qp(to.qp, &attr, IBV_QP_STATE, &init);
	is_int(attr.qp_state, IBV_QPS_ERR, "the queue pair is in ERR");
	is_int(vt_async(b, VT_MS), IBV_EVENT_QP_FATAL, "... with an event");
	ud_close(&from);
	ud_close(&to);
}

/* ---- states and attributes --------------------------------------------- */

static void test_states(void)
{
	struct ud_wr w = { .ah = ah[0], .qkey = UD_QKEY, .len = 5 };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
	};
	struct ibv_qp_init_attr init;
	struct ud u;

	ud_create(&u, a);
	w.qpn = u.qp->qp_num;
	is_int(ud_recv(&u, 0, 100), EINVAL, "RESET takes no receive request");
	is_int(ud_send(&u, &w), EINVAL, "RESET takes no send request");
	is_int(ibv_modify_qp(u.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT), EINVAL, "INIT needs a Q_Key");
	is_int(ibv_modify_qp(u.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), EINVAL,
	       "INIT has no access flags");
	is_int(ud_to(&u, IBV_QPS_INIT, 0x777), 0, "INIT");
	is_int(ud_recv(&u, 0, 100), 0, "INIT takes receive requests");
	is_int(ud_send(&u, &w), EINVAL, "INIT takes no send request");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	is_int(ibv_modify_qp(u.qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU),
	       EINVAL, "RTR has no path MTU");
	is_int(ud_to(&u, IBV_QPS_RTR, 0), 0, "RTR");
	is_int(ud_send(&u, &w), EINVAL, "RTR takes no send request");
	attr.qp_state = IBV_QPS_RTS;
	is_int(ibv_modify_qp(u.qp, &attr, IBV_QP_STATE), EINVAL,
	       "RTS needs a PSN");
	is_int(ud_to(&u, IBV_QPS_RTS, 0), 0, "RTS");
	ibv_query_qp(u.qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_CAP,
		     &init);
	is_u64(attr.qkey, 0x777, "query: Q_Key");
	is_int(init.qp_type, IBV_QPT_UD, "query: type");
	is_int((int)attr.qp_state, IBV_QPS_RTS, "query: state");
	ud_close(&u);
}

/* ---- hostile requests -------------------------------------------------- */

#define CHANGE(what, member, value) \
	{ what, offsetof(struct mxe_send_wqe, member), \
	  sizeof(((struct mxe_send_wqe *)0)->member), value }

static const struct {
	const char *what;
	size_t offset, size;
	uint64_t value;
} changes[] = {
	CHANGE("address handle 0", ud.ah_num, 0),
	CHANGE("an unknown address handle", ud.ah_num, 65000),
	CHANGE("a huge address handle", ud.ah_num, UINT32_MAX),
	/* The values of the next two are known when the test runs. */
	CHANGE("a stale address handle", ud.ah_num, 0),
	CHANGE("a handle of another domain", ud.ah_num, 0),
	CHANGE("a reserved word", ud.reserved1, 1),
	CHANGE("a second reserved word", ud.reserved[0], 1),
	CHANGE("a third reserved word", ud.reserved[1], 1ULL << 63),
	CHANGE("a WRITE", opcode, IB_UVERBS_WR_RDMA_WRITE),
	CHANGE("a READ", opcode, IB_UVERBS_WR_RDMA_READ),
	CHANGE("an atomic", opcode, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD),
	CHANGE("a masked atomic", opcode,
	       IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD),
	CHANGE("a local invalidate", opcode, IB_UVERBS_WR_LOCAL_INV),
	CHANGE("opcode 200", opcode, 200),
	CHANGE("an unknown flag", flags, 0x40),
	CHANGE("the size of an atomic", log_arg_sz, 3),
	CHANGE("too many elements", num_sge, 255),
};

enum { STALE = 3, FOREIGN = 4, CHANGES = ARRAY_SIZE(changes) };

/* Returns the kernel's number of a handle, which is visible in the ring. */
static uint32_t number_of(struct ud *u, struct ibv_ah *handle, size_t wr_id)
{
	struct ud_wr w = { .ah = handle, .offset = wr_id };

	if (ud_send(u, &w))
		vt_bail("post in SQD");
	return vt_find_wqe(wr_id)->ud.ah_num;
}

static void to_sqd(struct ud *u)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	if (ibv_modify_qp(u->qp, &attr, IBV_QP_STATE))
		vt_bail("RTS to SQD");
}

static void back_to_rts(struct ud *u)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	if (ibv_modify_qp(u->qp, &attr, IBV_QP_STATE))
		vt_bail("SQD to RTS");
}

/*
 * In SQD, posted requests stay in the ring, where a process can change them
 * before the kernel reads them.
 */
static void test_hostile(void)
{
	struct ibv_pd *own = a->pd, *pd = ibv_alloc_pd(a->ctx);
	struct ibv_ah *stale, *foreign;
	long before = vt_dev_counter(a, "bad_wqe");
	uint32_t nums[2];
	struct ud from, to;
	struct ibv_wc wc;

	ud_open(&from, a);
	ud_open(&to, b);
	a->pd = pd;
	foreign = ud_ah(a, b, false);
	a->pd = own;
	stale = ud_ah(a, b, false);
	to_sqd(&from);
	nums[0] = number_of(&from, stale, 0x7ab1e000);
	nums[1] = number_of(&from, foreign, 0x7ab1e001);
	ok(nums[0] && nums[1] && nums[0] != nums[1], "handles have numbers");
	ibv_destroy_ah(stale);
	ud_close(&from);

	for (int i = 0; i < CHANGES; i++) {
		struct ud_wr w = {
			.ah = ah[0], .qpn = to.qp->qp_num, .qkey = UD_QKEY,
			.offset = 0x7ab1e100 + (size_t)i,
			.flags = IBV_SEND_SIGNALED,
		};
		uint64_t value = changes[i].value;

		if (i == STALE || i == FOREIGN)
			value = nums[i - STALE];

		ud_open(&from, a);
		to_sqd(&from);
		if (ud_send(&from, &w))
			vt_bail("post in SQD");
		is_int(vt_poll(from.cq, &wc, 1), 0, "SQD sends nothing");
		vt_change_wqe(w.offset, changes[i].offset, changes[i].size, value);
		back_to_rts(&from);
		wc.status = IBV_WC_SUCCESS;
		ok(vt_poll(from.cq, &wc, VT_MS), "%s: completes", changes[i].what);
		is_int(wc.status, IBV_WC_LOC_QP_OP_ERR, "%s: %s",
		       changes[i].what, vt_status(IBV_WC_LOC_QP_OP_ERR));
		ud_close(&from);
	}
	ok(vt_dev_counter(a, "bad_wqe") - before >= CHANGES, "each is counted");
	is_int(vt_poll(to.rcq, &wc, 1), 0, "... and none was sent");
	ibv_destroy_ah(foreign);
	ibv_dealloc_pd(pd);
	ud_close(&to);
}

/*
 * The number of a destroyed handle is reused for one with another path, which
 * the next datagram takes.
 */
static void test_many_handles(void)
{
	struct ud_wr w = { .qkey = UD_QKEY, .len = 5 };
	struct ud from, to, held;
	uint32_t first = 0;
	int reused = 0;

	ud_open(&from, a);
	ud_open(&to, b);
	ud_open(&held, a);
	to_sqd(&held);
	w.qpn = to.qp->qp_num;
	for (int i = 0; i < UD_DEPTH; i++) {
		bool ipv6 = i & 1;
		uint32_t num;

		w.ah = ud_ah(a, b, ipv6);
		num = number_of(&held, w.ah, 0x7ab1e200 + (size_t)i);
		if (i)
			reused += num == first;
		else
			first = num;
		ud_must_recv(&to, UD_RECV, UD_SLOT);
		is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS,
		       "handle %d: sent", i);
		is_int(ibv_destroy_ah(w.ah), 0, "handle %d: destroyed", i);
		is_int(ud_next(&to, "a handle for each").sl, ipv6 ? 9 : 10,
		       "handle %d: the network header type", i);
	}
	ok(reused, "the number of the first handle is reused %d times", reused);
	ud_close(&from);
	ud_close(&to);
	ud_close(&held);
}

static void test_ah_errors(void)
{
	union ibv_gid nobody = b->gid4;
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = (uint8_t)a->gid4_index, .dgid = b->gid4 },
	};

	ok(!ud_ah_gid(a, 127, &b->gid4), "a GID index that is empty");
	ok(!ud_ah_gid(a, a->gid6_index, &b->gid4), "an IPv4 address with an IPv6 GID");
	ok(!ud_ah_gid(a, a->gid4_index, &b->gid6),
	   "an IPv6 address with an IPv4 GID");
	nobody.raw[15] = 99;
	ok(!ud_ah_gid(a, a->gid4_index, &nobody), "an address that no host has");
	attr.is_global = 0;
	ok(!ibv_create_ah(a->pd, &attr), "no GRH");
	attr.is_global = 1;
	attr.port_num = 2;
	ok(!ibv_create_ah(a->pd, &attr), "port 2");
}

/*
 * One call posts datagrams to two QPs by two handles.  Runs of them share a
 * batch, and each reaches its QP by its own path.
 */
static void test_batch(void)
{
	enum { N = UD_DEPTH };
	struct ud from, to[2];
	struct ibv_wc wc;
	int right = 0, next[2] = { 0 };

	ud_open(&from, a);
	ud_open(&to[0], b);
	ud_open(&to[1], b);
	for (int i = 0; i < N; i++)
		for (int k = 0; k < 2; k++)
			ud_must_recv(&to[k], UD_RECV + (size_t)i * 128, 128);
	ibv_wr_start(from.qpx);
	from.qpx->wr_flags = IBV_SEND_SIGNALED;
	for (int i = 0; i < N; i++) {
		from.qpx->wr_id = (uint64_t)i;
		from.buf[i * 8] = (uint8_t)i;
		ibv_wr_send(from.qpx);
		/* The handle changes after four, the QP after two. */
		ibv_wr_set_ud_addr(from.qpx, ah[i / 4 % 2], to[i / 2 % 2].qp->qp_num, UD_QKEY);
		ibv_wr_set_sge(from.qpx, from.mr->lkey, (uintptr_t)from.buf + (size_t)i * 8, 8);
	}
	is_int(ibv_wr_complete(from.qpx), 0, "%d datagrams in one call", N);
	for (int i = 0; i < N; i++)
		right += vt_poll(from.cq, &wc, VT_MS) && !wc.status && wc.wr_id == (uint64_t)i;
	is_int(right, N, "... complete in order");
	right = 0;
	for (int i = 0; i < N; i++) {
		int k = i / 2 % 2;
		const uint8_t *data = to[k].buf + UD_RECV + next[k]++ * 128 + 40;

		right += vt_poll(to[k].rcq, &wc, VT_MS) && !wc.status &&
			 wc.byte_len == 48 && *data == i && wc.sl == (i / 4 % 2 ? 9 : 10);
	}
	is_int(right, N, "... and arrive at their QPs, by their paths");
	ud_close(&from);
	ud_close(&to[0]);
	ud_close(&to[1]);
}

int main(void)
{
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	ah[0] = ud_ah(a, b, false);
	ah[1] = ud_ah(a, b, true);
	test_transfer(false);
	test_transfer(true);
	test_sges();
	test_self();
	test_answer();
	test_solicited();
	test_keys();
	test_drops();
	test_send_errors();
	test_recv_error();
	test_states();
	test_hostile();
	test_many_handles();
	test_batch();
	test_ah_errors();
	ibv_destroy_ah(ah[0]);
	ibv_destroy_ah(ah[1]);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
