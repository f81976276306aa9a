// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the protocol engine. The input plays the wire between two queue pairs
 * that are connected to each other, and the processes at both ends.
 *
 * Two bytes select the kind of the queue pairs and their options. Actions
 * follow, each of one byte and its arguments. QPNs, PSNs and keys of the input
 * are relative to the correct ones, and the ICRC is correct unless the action
 * spoils it, so that most packets get as far as valid ones.
 *
 * A finding is a report of a sanitizer, a WARN_ON of the engine, BHs that stay
 * disabled, a malformed packet that is sent, a write outside the region, a
 * leaked reference or buffer, an index of a queue out of order, or a forged
 * packet that changes anything except counters.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "dc/dct.h"
#include "ip/rx.h"
#include "kernel.h"
#include "outcome.h"
#include "packet.h"
#include "packet_dc.h"
#include "queues/wr.h"
#include "wire/psn.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int atexit(void (*func)(void));

/* ---- the wire ----------------------------------------------------------- */

enum {
	MTU = 256,
	MAX_WIRE = 64,			/* packets on the wire */
	MAX_PACKET = 1024,
};

static const struct world_conf conf = {
	.path_mtu = IB_MTU_256, .sq_depth = 8, .cq_depth = 32, .rd_atomic = 3,
	.traffic_class = INET_ECN_ECT_0,
};

struct packet {
	size_t len;
	u8 data[MAX_PACKET];
};

static struct packet wire[MAX_WIRE];
static unsigned int wire_len;
static unsigned long packets;

static void report(void)
{
	dprintf(2, "packets: %lu\n", packets);
	packet_dc_report();
	outcome_report();
}

/* ---- invariants --------------------------------------------------------- */

/*
 * Returns true if the queue has a READ that is longer than those that are not
 * arbitrary bytes. It has a PSN for each packet of its response.
 */
static bool has_long_read(const struct mxe_requester *req)
{
	u32 i;

	for (i = req->tail; i != req->fetched; i++) {
		const struct mxe_send_wr *wr = mxe_sq_wr(req, i);

		if (mxe_wr_is_read(wr->opcode) && wr->length > 2 * 0x1fff)
			return true;
	}
	return false;
}

static void check_sq(const struct mxe_qp *qp)
{
	const struct mxe_requester *req = &qp->req;

	CHECK(req->fetched - req->tail <= req->wr_mask + 1);
	/* A failed request may move tail past cur until the flush. */
	if (req->halted)
		return;
	CHECK(req->next - req->tail <= req->fetched - req->tail);
	CHECK(req->cur - req->tail <= req->next - req->tail);
	CHECK(req->rd_atomic <= qp->attr.max_rd_atomic);
	if (w.kind == KIND_RC || w.kind == KIND_XRC || w.kind == KIND_DC) {
		CHECK(mxe_psn_diff(req->una, req->max_psn) <= 0);
		CHECK(mxe_psn_diff(req->psn, req->max_psn) <= 0);
		CHECK(mxe_psn_diff(req->psn, req->una) <= 2 * MXE_MAX_UNACKED ||
		      has_long_read(req));
	}
}

/* While no section is open. */
static void check_budgets(const struct mxe_qp *qp)
{
	CHECK(qp->req.budget == MXE_SLICE);
	CHECK(qp->resp.budget == MXE_SLICE);
}

static void check_world(void)
{
	int i;

	for (i = 0; i < FK_PAGES; i += 2)
		CHECK(!memcmp(fk_memory[i + 1], world_foreign_page, PAGE_SIZE));
	for (i = 0; i < 2; i++)
		check_sq(world_qp(i));
	CHECK(!(atomic_read(&w.mr->accesses) & ~MXE_MR_CLOSED));
}

/* ---- packets ------------------------------------------------------------ */

static struct iphdr *ip_of(u8 *data)
{
	return (struct iphdr *)data;
}

static size_t ip_len(const u8 *data)
{
	return data[0] >> 4 == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

static __le32 icrc_of(const u8 *data, size_t len)
{
	const struct udphdr *udph = (const void *)(data + ip_len(data));
	const u8 *bth = (const u8 *)(udph + 1);

	len -= bth - data + MXE_ICRC_SIZE;
	return data[0] >> 4 == 4 ?
	       mxe_icrc_ipv4((const void *)data, udph, bth, len) :
	       mxe_icrc_ipv6((const void *)data, udph, bth, len);
}

/* The engine sends only packets that it would accept itself. */
static void sent(const u8 *data, size_t len)
{
	size_t hdr = ip_len(data) + sizeof(struct udphdr);
	struct packet *packet;
	struct mxe_pkt pkt;
	__le32 icrc;

	CHECK(mxe_pkt_parse(&pkt, data + hdr, len - hdr) == MXE_PKT_OK);
	icrc = icrc_of(data, len);
	CHECK(!memcmp(&icrc, data + len - MXE_ICRC_SIZE, MXE_ICRC_SIZE));
	CHECK(len <= MAX_PACKET);
	if (wire_len == MAX_WIRE)
		return;
	packet = &wire[wire_len++];
	packet->len = len;
	memcpy(packet->data, data, len);
}

static void unwire(unsigned int i)
{
	wire_len--;
	memmove(&wire[i], &wire[i + 1],
		(wire_len - i) * sizeof(wire[0]));
}

/* Returns the QP that early_demux.c would find for a packet, or NULL. */
static struct mxe_qp *hint_of(const struct sk_buff *skb)
{
	const struct mxe_bth *bth = (const void *)(udp_hdr(skb) + 1);
	struct mxe_qp *qp;

	if (skb_tail_pointer(skb) < (const u8 *)(bth + 1))
		return NULL;
	qp = mxe_qpn_find(&w.mnet, be32_to_cpu(bth->qpn) & MXE_BTH_QPN_MASK);
	return qp && mxe_qp_is_from_peer(qp, skb) ? qp : NULL;
}

/* The hooks leave the packets of this action to the IP layer. */
static bool by_socket;

static void receive_any(const u8 *data, size_t len)
{
	struct sk_buff *skb = fk_skb(data, len);
	bool is_early = !by_socket && skb->dev == &fk_netdev;
	struct mxe_qp *hint = is_early ? hint_of(skb) : NULL;

	packets++;
	packet_dc_before();
	if (hint) {
		mxe_rx(&w.mnet, skb, hint);
	} else {
		fk_set_route(skb);
		CHECK(!mxe_rx_udp(fk_socket.sk, skb));
	}
	packet_dc_after();
}

static void receive_forged(const u8 *data, size_t len, bool is_answered);

/* Nothing that arrives on a netdev without RoCE may have an effect. */
static void receive(const u8 *data, size_t len)
{
	if (fk_rx_netdev == &fk_foreign)
		receive_forged(data, len, false);
	else
		receive_any(data, len);
}

static void receive_good(u8 *data, size_t len)
{
	size_t hdr = ip_len(data) + sizeof(struct udphdr);
	__le32 icrc;

	/* Shorter packets have no ICRC. */
	if (len >= hdr + sizeof(struct mxe_bth) + MXE_ICRC_SIZE) {
		icrc = icrc_of(data, len);
		memcpy(data + len - MXE_ICRC_SIZE, &icrc, sizeof(icrc));
	}
	receive(data, len);
}

/*
 * Builds IP and UDP headers for len bytes from one end to the other. Returns
 * the position of the BTH.
 */
static u8 *put_headers(u8 *data, int from, size_t len)
{
	size_t udp_len = sizeof(struct udphdr) + len;
	struct udphdr *udph;

	if (w.ipv6) {
		struct ipv6hdr *ip6h = (void *)data;

		memset(ip6h, 0, sizeof(*ip6h));
		ip6h->version = 6;
		ip6h->payload_len = htons(udp_len);
		ip6h->nexthdr = IPPROTO_UDP;
		memcpy(&ip6h->saddr, &fk_gid[from].gid, 16);
		memcpy(&ip6h->daddr, &fk_gid[!from].gid, 16);
		udph = (void *)(ip6h + 1);
	} else {
		struct iphdr *iph = (void *)data;

		*iph = (struct iphdr) {
			.version = 4, .ihl = 5, .ttl = 64,
			.tot_len = htons(sizeof(*iph) + udp_len),
			.protocol = IPPROTO_UDP,
		};
		memcpy(&iph->saddr, fk_gid[from].gid.raw + 12, 4);
		memcpy(&iph->daddr, fk_gid[!from].gid.raw + 12, 4);
		udph = (void *)(iph + 1);
	}
	*udph = (struct udphdr) {
		.source = htons(0xc000), .dest = htons(mxe_udp_port),
		.len = htons(udp_len),
	};
	return (u8 *)(udph + 1);
}

enum craft_flags {
	CRAFT_KEEP_QPN		= BIT(0),
	CRAFT_KEEP_PSN		= BIT(1),
	CRAFT_KEEP_ADDRESS	= BIT(2),	/* memory address and key */
	CRAFT_BAD_ICRC		= BIT(3),
	CRAFT_STRANGER		= BIT(4),
	CRAFT_FROM_B		= BIT(5),
	CRAFT_CE		= BIT(6),	/* marked by a switch */
	CRAFT_WINDOW		= BIT(7),	/* use the key of the window */
};

/* Fills in the numbers that an attacker on the path would know. */
static void make_plausible(u8 *p, size_t len, u8 flags, s8 ahead)
{
	struct mxe_bth *bth = (void *)p;
	u32 op = mxe_opcodes[bth->opcode].flags;
	struct mxe_qp *to = world_qp(flags & CRAFT_FROM_B ? A : B);
	u32 psn = op & MXE_OP_RESPONSE ? to->req.una : to->resp.epsn;
	struct mxe_reth *reth;
	u8 *end = p + len;

	if (!(flags & CRAFT_KEEP_QPN))
		bth->qpn = cpu_to_be32(to->qpn);
	if (!(flags & CRAFT_KEEP_PSN))
		bth->apsn = (bth->apsn & cpu_to_be32(MXE_BTH_ACK_REQ)) |
			    cpu_to_be32(mxe_psn_add(psn, ahead));
	p += sizeof(*bth);
	if (op & MXE_OP_DCETH && w.kind == KIND_DC)
		p += packet_dc_plausible(p, end - p, flags & CRAFT_STRANGER);
	if (op & MXE_OP_DETH && end - p >= sizeof(struct mxe_deth)) {
		((struct mxe_deth *)p)->qkey = cpu_to_be32(QKEY);
		p += sizeof(struct mxe_deth);
	}
	if (op & MXE_OP_XRCETH && end - p >= sizeof(struct mxe_xrceth)) {
		((struct mxe_xrceth *)p)->srqn = cpu_to_be32(w.srq.num);
		p += sizeof(struct mxe_xrceth);
	}
	if (op & MXE_OP_FETH)
		p += sizeof(struct mxe_feth);
	/* All headers that address memory begin with an address and a key. */
	if (!(op & (MXE_OP_RETH | MXE_OP_ATOMICETH | MXE_OP_MSKATOMICETH)) ||
	    flags & CRAFT_KEEP_ADDRESS || end - p < (long)sizeof(*reth))
		return;
	reth = (void *)p;
	reth->va = cpu_to_be64(w.mr->iova + be64_to_cpu(reth->va) %
					    (REGION_SIZE + 64));
	reth->rkey = cpu_to_be32(packet_some_key(flags & CRAFT_WINDOW,
						 flags & CRAFT_FROM_B ? A : B));
	if (op & MXE_OP_RETH)
		reth->len &= cpu_to_be32(0x80001fff);
}

/* ---- forged packets ----------------------------------------------------- */

/* State that no packet without the right numbers may change. */
struct snapshot {
	u8 memory[REGION_PAGES][PAGE_SIZE];
	struct mxe_requester req[2];
	struct mxe_responder resp[2];
	enum ib_qp_state state[2];
	u32 completions[2];
	struct mxe_dct_info dct;
	unsigned int wire_len;
};

static void snapshot(struct snapshot *s)
{
	int i;

	for (i = 0; i < REGION_PAGES; i++)
		memcpy(s->memory[i], fk_memory[2 * i], PAGE_SIZE);
	for (i = 0; i < 2; i++) {
		s->req[i] = world_qp(i)->req;
		s->resp[i] = world_qp(i)->resp;
		/* The next section acts on them, whoever begins it. */
		s->req[i].pending = 0;
		s->resp[i].pending = 0;
		s->state[i] = world_qp(i)->state;
		s->completions[i] = w.cq[i].producer;
	}
	packet_dc_query(&s->dct);
	s->wire_len = wire_len;
}

static bool is_forged(const u8 *bth, u8 flags)
{
	u32 qpn = be32_to_cpu(((const struct mxe_bth *)bth)->qpn) &
		  MXE_BTH_QPN_MASK;

	if (flags & CRAFT_BAD_ICRC || !xa_load(&w.mnet.qps, qpn))
		return true;
	/* A datagram may arrive from any address. */
	return flags & CRAFT_STRANGER && w.kind != KIND_UD;
}

/*
 * A DC target answers a stranger, and tells its process of a wrong key, but
 * keeps nothing.
 */
static void forget_answer(struct snapshot *before, struct snapshot *after)
{
	CHECK(after->wire_len <= before->wire_len + 1);
	after->wire_len = before->wire_len;
}

static void receive_forged(const u8 *data, size_t len, bool is_answered)
{
	static struct snapshot before, after;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	snapshot(&before);
	receive_any(data, len);
	snapshot(&after);
	if (is_answered)
		forget_answer(&before, &after);
	CHECK(!memcmp(&before, &after, sizeof(before)));
}

/* Delivers a packet that neither end has sent. */
static void craft(struct input *in)
{
	u8 data[MAX_PACKET], flags = take(in, 1);
	int from = flags & CRAFT_FROM_B ? B : A;
	s8 ahead = take(in, 1);
	size_t len = take(in, 2) % (MTU + 128), hdr;
	u8 *bth = put_headers(data, from, len + MXE_ICRC_SIZE);

	hdr = bth - data;
	len = min_t(size_t, len, in->end - in->p);
	memset(bth, 0, sizeof(struct mxe_bth) + MXE_ICRC_SIZE);
	memcpy(bth, in->p, len);
	in->p += len;
	if (len >= sizeof(struct mxe_bth))
		make_plausible(bth, len, flags, ahead);
	if (flags & CRAFT_STRANGER)
		data[w.ipv6 ? 23 : 15] ^= 0x80;
	if (flags & CRAFT_CE && !w.ipv6)
		ip_of(data)->tos = 3;
	len += hdr + MXE_ICRC_SIZE;
	if (len < hdr + sizeof(struct mxe_bth) + MXE_ICRC_SIZE ||
	    !is_forged(bth, flags)) {
		receive_good(data, len);
		return;
	}
	{
		__le32 icrc = icrc_of(data, len);

		if (flags & CRAFT_BAD_ICRC)
			icrc ^= cpu_to_le32(1 << (ahead & 31));
		memcpy(data + len - MXE_ICRC_SIZE, &icrc, sizeof(icrc));
	}
	receive_forged(data, len, w.kind == KIND_DC && flags & CRAFT_STRANGER &&
				  fk_rx_netdev != &fk_foreign);
}

/* ---- actions ------------------------------------------------------------ */

enum action {
	SEND, SEND_BYTES, RECV, RECV_BYTES, DELIVER, DELIVER_ALL, LOSE, DOUBLE,
	LATER, SPOIL, CUT, CRAFT, SCRIBBLE, TICK, WORK, MODIFY, TAG, FAIL, VERB,
	MARK, BATCH, NUM_ACTIONS,
};

static void deliver(void)
{
	struct packet packet = wire[0];
	size_t hdr = ip_len(packet.data) + sizeof(struct udphdr);

	unwire(0);
	outcome_before(packet.data + hdr, packet.len - hdr);
	receive(packet.data, packet.len);
	outcome_after();
}

/*
 * Delivers the first packet on the wire with one byte changed and a correct
 * ICRC.
 */
static void spoil(struct input *in)
{
	struct packet packet = wire[0];
	size_t hdr = ip_len(packet.data) + sizeof(struct udphdr);
	size_t i = take(in, 1) % (packet.len - hdr - MXE_ICRC_SIZE);

	unwire(0);
	packet.data[hdr + i] ^= take(in, 1);
	receive_good(packet.data, packet.len);
}

/* Delivers the first packet on the wire with another length. */
static void cut(struct input *in)
{
	struct packet packet = wire[0];
	size_t hdr = ip_len(packet.data) + sizeof(struct udphdr);
	size_t len = packet.len + (s8)take(in, 1);

	unwire(0);
	receive_good(packet.data, clamp_t(size_t, len, hdr, MAX_PACKET));
}

/* Delivers the first packet on the wire with the mark of a congested switch. */
static void mark(void)
{
	u8 *data = wire[0].data;

	if (data[0] >> 4 == 4)
		IP_ECN_set_ce((struct iphdr *)data);
	else
		ipv6_change_dsfield((struct ipv6hdr *)data, 0xff, INET_ECN_CE);
	deliver();
}

/* Delivers packets in a list, as the hooks do with those of a GSO batch. */
static void deliver_batch(unsigned int num)
{
	struct sk_buff *list = NULL, **last = &list;

	fk_rx_netdev = &fk_netdev;
	packet_dc_before();
	for (; num && wire_len; num--) {
		*last = fk_skb(wire[0].data, wire[0].len);
		last = &(*last)->next;
		unwire(0);
		packets++;
	}
	mxe_rx(&w.mnet, list, hint_of(list));
	packet_dc_after();
}

static void on_wire(enum action action, struct input *in)
{
	if (!wire_len)
		return;
	switch (action) {
	case DELIVER:
		deliver();
		break;
	case LOSE:
		unwire(0);
		break;
	case DOUBLE:
		receive(wire[0].data, wire[0].len);
		break;
	case LATER:
		if (wire_len < MAX_WIRE) {
			wire[wire_len++] = wire[0];
			unwire(0);
		}
		break;
	case SPOIL:
		spoil(in);
		break;
	case MARK:
		mark();
		break;
	case BATCH:
		deliver_batch(2 + take(in, 1) % 16);
		break;
	default:
		cut(in);
		break;
	}
}

static void deliver_all(void)
{
	int budget = 256;

	while (budget-- && (wire_len || fk_run_work()))
		if (wire_len)
			deliver();
}

static void change_state(int end, u8 state)
{
	if (state & 4)
		packet_dc_arm();
	switch (state & 3) {
	case 0:
		world_modify(end, IB_QPS_ERR);
		break;
	case 1:
		world_modify(end, IB_QPS_RESET);
		world_connect(end);
		break;
	case 2:
		world_modify(end, IB_QPS_SQD);
		break;
	default:
		world_modify(end, IB_QPS_RTS);
		break;
	}
}

/* Up to 31 allocations succeed. Then 1, 2, 3 or all others fail. */
static void fail_allocs(u8 choice)
{
	unsigned int num = choice >> 5 & 3;

	fk_fail_allocs(choice & 31, num ?: UINT_MAX);
}

static void act(struct input *in)
{
	/* The rest of the byte selects the netdev of packets. */
	static struct net_device *const netdevs[] = {
		&fk_netdev, &fk_netdev, &fk_netdev, &fk_vlan, &fk_vrf,
		&fk_foreign,
	};
	u8 byte = take(in, 1);
	enum action action = (byte & 0x7f) % NUM_ACTIONS;
	int end = byte >> 7;

	by_socket = end;
	fk_rx_netdev = netdevs[(byte & 0x7f) / NUM_ACTIONS % ARRAY_SIZE(netdevs)];
	switch (action) {
	case SEND:
	case SEND_BYTES:
		if (w.is_kernel)
			packet_kernel_send(end, in);
		else
			packet_post_send(end, in, action == SEND);
		break;
	case RECV:
	case RECV_BYTES:
		if (w.is_kernel)
			packet_kernel_recv(end, in);
		else
			packet_post_recv(end, in, action == RECV);
		break;
	case CRAFT:
		craft(in);
		break;
	case DELIVER_ALL:
		deliver_all();
		break;
	case SCRIBBLE:
		packet_scribble(end, in);
		break;
	case TICK:
		if (end)
			jiffies += take(in, 1) * HZ;
		else
			fk_run_timers();
		break;
	case WORK:
		fk_run_work();
		break;
	case MODIFY:
		change_state(end, take(in, 1));
		break;
	case TAG:
		packet_post_tag(in);
		break;
	case FAIL:
		fail_allocs(take(in, 1));
		break;
	case VERB:
		packet_verb(end, in);
		break;
	default:
		on_wire(action, in);
		break;
	}
	/* The process polls. SCRIBBLE may corrupt the index again. */
	if (action != SCRIBBLE && end)
		world_poll(A);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static bool is_ready;
	struct input in = { data, data + size };
	int budget = 64;
	u32 options;

	if (!is_ready) {
		is_ready = true;
		atexit(report);
		CHECK(!mxe_icrc_init());
	}
	fk_sent = sent;
	wire_len = 0;
	options = take(&in, 1);
	world_make(options | take(&in, 1) << 8, &conf);
	by_socket = false;
	fk_rx_netdev = &fk_netdev;
	while (in.p < in.end && budget--) {
		act(&in);
		check_sq(world_qp(A));
		check_sq(world_qp(B));
		check_budgets(world_qp(A));
		check_budgets(world_qp(B));
		CHECK(!preempt_count());
	}
	fk_rx_netdev = &fk_netdev;
	deliver_all();
	check_world();
	outcome_end();
	world_destroy();
	return 0;
}
