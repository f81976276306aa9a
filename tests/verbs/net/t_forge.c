// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a process without CAP_NET_RAW cannot send packets for the queue
 * pairs of others from a UDP socket, although it knows their numbers, PSNs and
 * keys, and that packets that a tunnel decapsulates are not received.
 *
 * Each packet is sent with require_net_raw=N first, and must have an effect, to
 * show that nothing else is wrong with it. With require_net_raw=Y, the sender
 * gets EPERM and the packet has no effect.
 *
 * The senders are processes that are forked before a device is opened.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/rxrpc.h>
#include "tap.h"
#include "raw.h"
#include "ud.h"
#include "vt.h"
#include "xrc.h"

#define PARAMETER "/sys/module/mxe/parameters/require_net_raw"

enum {
	NOBODY = 65534,
	QUIET_MS = 300,		/* in which a packet would have an effect */
	HDR_UDP = 8,
	PORT_OTHER = 4790,
	PORT_NAT = 5791,
	PORT_VXLAN = 4789,
	PORT_GUE = 6080,
};

/* ---- senders ----------------------------------------------------------- */

/* Ways to send a datagram. Only with PLAIN, the ICRC can be correct. */
enum via {
	PLAIN,
	CONNECTED,		/* connect(), send() */
	CORKED,			/* in two pieces with MSG_MORE */
	BATCHED,		/* two of them, by GSO */
	OPTIONS,		/* with IP options, or a routing header */
	MAPPED,			/* over a socket of the other family */
	INHERITED,		/* over a UDP socket that root opened */
	RAW_SOCKET,		/* over a raw socket that root opened */
	LENT,			/* by root, over the socket of another user */
	RXRPC,			/* over AF_RXRPC */
};

struct order {
	enum via via;
	bool ipv6;
	uint16_t port;		/* destination */
	uint8_t from[16], to[16];	/* IPv4: the last 4 bytes */
	size_t len;
	uint8_t data[RAW_MAX];
};

struct sender {
	pid_t pid;
	int fd;
};

/* The sockets that root opened for a sender. */
static int inherited[2], raw_sockets[2];

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_rxrpc rx;
};

static socklen_t address(union address *u, const struct order *o,
			 const uint8_t *ip, uint16_t port)
{
	memset(u, 0, sizeof(*u));
	if (o->ipv6 || o->via == MAPPED) {
		u->in6.sin6_family = AF_INET6;
		u->in6.sin6_port = htons(port);
		memcpy(&u->in6.sin6_addr, ip, 16);
		return sizeof(u->in6);
	}
	u->in.sin_family = AF_INET;
	u->in.sin_port = htons(port);
	memcpy(&u->in.sin_addr, ip + 12, 4);
	return sizeof(u->in);
}

static int open_socket(const struct order *o)
{
	int fd;

	if (o->via == INHERITED)
		return dup(inherited[o->ipv6]);
	if (o->via == RAW_SOCKET)
		return dup(raw_sockets[o->ipv6]);
	if (o->via == LENT && seteuid(NOBODY))
		return -1;
	fd = socket(o->ipv6 || o->via == MAPPED ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
	if (o->via == LENT && seteuid(0))
		return -1;
	return fd;
}

/* The identification of the IP header is part of the ICRC, and 0 like this. */
static int set_do_not_fragment(int fd, bool ipv6)
{
	int on = IP_PMTUDISC_DO;

	return ipv6 ? 0 : setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &on, sizeof(on));
}

/* Adds options to an IPv4 header, and a routing header to an IPv6 header. */
static int set_options(int fd, const struct order *o)
{
	static const uint8_t options[4] = { 1, 1, 1, 1 };	/* no operation */
	/* A segment routing header with one segment (RFC 8754). */
	uint8_t srh[24] = { [1] = 2, [2] = 4 };

	memcpy(srh + 8, o->to, 16);
	return o->ipv6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RTHDR, srh, sizeof(srh)) :
			 setsockopt(fd, IPPROTO_IP, IP_OPTIONS, options, sizeof(options));
}

/* Sends a UDP header and the data over a raw socket. */
static ssize_t send_raw(int fd, const struct order *o)
{
	const uint16_t udp[4] = { htons(RAW_SOURCE_PORT), htons(o->port),
				  htons((uint16_t)(HDR_UDP + o->len)) };
	uint8_t packet[HDR_UDP + RAW_MAX];
	union address to;
	socklen_t len = address(&to, o, o->to, 0);

	memcpy(packet, udp, HDR_UDP);
	memcpy(packet + HDR_UDP, o->data, o->len);
	return sendto(fd, packet, HDR_UDP + o->len, 0, &to.sa, len);
}

static ssize_t send_udp(int fd, const struct order *o)
{
	union address from, to;
	socklen_t len = address(&to, o, o->to, o->port);
	uint8_t twice[2 * RAW_MAX];
	int size = (int)o->len;

	if (o->via == PLAIN) {
		address(&from, o, o->from, RAW_SOURCE_PORT);
		if (bind(fd, &from.sa, len) || set_do_not_fragment(fd, o->ipv6))
			return -1;
	}
	switch (o->via) {
	case CONNECTED:
		if (connect(fd, &to.sa, len))
			return -1;
		return send(fd, o->data, o->len, 0);
	case CORKED:
		if (sendto(fd, o->data, 12, MSG_MORE, &to.sa, len) != 12)
			return -1;
		return sendto(fd, o->data + 12, o->len - 12, 0, &to.sa, len);
	case BATCHED:
		if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
			return -1;
		memcpy(twice, o->data, o->len);
		memcpy(twice + o->len, o->data, o->len);
		return sendto(fd, twice, 2 * o->len, 0, &to.sa, len);
	case OPTIONS:
		if (set_options(fd, o))
			return -1;
		return sendto(fd, o->data, o->len, 0, &to.sa, len);
	default:
		return sendto(fd, o->data, o->len, 0, &to.sa, len);
	}
}

/* Begins a call, whose first packet goes to a port that the caller chooses. */
static ssize_t send_rxrpc(const struct order *o)
{
	unsigned long id = 1;
	union {
		struct cmsghdr hdr;
		uint8_t room[CMSG_SPACE(sizeof(id))];
	} call = {
		.hdr = { CMSG_LEN(sizeof(id)), SOL_RXRPC, RXRPC_USER_CALL_ID },
	};
	union address to = { .rx = {
		.srx_family = AF_RXRPC, .srx_service = 1,
		.transport_type = SOCK_DGRAM, .transport_len = sizeof(to.rx.transport.sin),
	} };
	struct iovec iov = { (void *)(uintptr_t)o->data, o->len };
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to.rx), .msg_iov = &iov,
		.msg_iovlen = 1, .msg_control = &call, .msg_controllen = sizeof(call),
	};
	int fd = socket(AF_RXRPC, SOCK_DGRAM, AF_INET);
	ssize_t ret;

	memcpy(CMSG_DATA(&call.hdr), &id, sizeof(id));
	to.rx.transport.sin.sin_family = AF_INET;
	to.rx.transport.sin.sin_port = htons(o->port);
	memcpy(&to.rx.transport.sin.sin_addr, o->to + 12, 4);
	if (fd < 0)
		return -1;
	ret = sendmsg(fd, &msg, 0);
	close(fd);
	return ret;
}

/* Returns 0 or an errno value. */
static int carry_out(const struct order *o)
{
	ssize_t ret;
	int fd, err;

	if (o->via == RXRPC)
		return send_rxrpc(o) < 0 ? errno : 0;
	fd = open_socket(o);
	if (fd < 0)
		return errno;
	ret = o->via == RAW_SOCKET ? send_raw(fd, o) : send_udp(fd, o);
	err = ret < 0 ? errno : 0;
	close(fd);
	return err;
}

static void serve(const char *host, uid_t uid, int fd)
{
	struct order o;
	int err;

	raw_enter(host);
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		int domain = ipv6 ? AF_INET6 : AF_INET;

		inherited[ipv6] = socket(domain, SOCK_DGRAM, 0);
		raw_sockets[ipv6] = socket(domain, SOCK_RAW, IPPROTO_UDP);
		if (inherited[ipv6] < 0 || raw_sockets[ipv6] < 0)
			vt_bail("sockets to inherit");
	}
	if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		vt_bail("setuid");
	while (read(fd, &o, sizeof(o)) == sizeof(o)) {
		err = carry_out(&o);
		if (write(fd, &err, sizeof(err)) != sizeof(err))
			break;
	}
	_exit(0);
}

/* Starts a process that sends from a host. */
static struct sender start(const char *host, uid_t uid)
{
	struct sender s;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd))
		vt_bail("socketpair");
	s.pid = fork();
	if (s.pid < 0)
		vt_bail("fork");
	if (!s.pid) {
		close(fd[0]);
		serve(host, uid, fd[1]);
	}
	close(fd[1]);
	s.fd = fd[0];
	return s;
}

static void stop(struct sender *s)
{
	close(s->fd);
	/* Others have inherited the file. */
	kill(s->pid, SIGKILL);
	if (waitpid(s->pid, NULL, 0) != s->pid)
		vt_bail("waitpid");
}

/* Returns 0, or the errno of the sender. */
static int send_order(const struct sender *s, const struct order *o)
{
	int err = -1;

	if (write(s->fd, o, sizeof(*o)) != sizeof(*o) ||
	    read(s->fd, &err, sizeof(err)) != sizeof(err))
		vt_bail("a sender has died");
	return err;
}

/* ---- packets ----------------------------------------------------------- */

/* A RoCE packet, from the BTH on. */
struct forged {
	uint8_t opcode;
	uint32_t qpn, psn;
	size_t len;		/* of body */
	uint8_t body[64];
};

static void add(struct forged *f, const void *data, size_t len)
{
	memcpy(f->body + f->len, data, len);
	f->len += len;
}

static void add32(struct forged *f, uint32_t value)
{
	value = htobe32(value);
	add(f, &value, sizeof(value));
}

static void add64(struct forged *f, uint64_t value)
{
	value = htobe64(value);
	add(f, &value, sizeof(value));
}

/* Writes the IP and UDP headers that the kernel will send, for the ICRC. */
static size_t write_headers(uint8_t *packet, const struct order *o, size_t len)
{
	size_t udp_len = HDR_UDP + len;
	const uint16_t udp[4] = { htons(RAW_SOURCE_PORT), htons(RAW_PORT),
				  htons((uint16_t)udp_len) };
	struct iphdr ip4 = {
		.version = 4, .ihl = 5, .ttl = 64, .frag_off = htons(IP_DF),
		.protocol = IPPROTO_UDP, .tot_len = htons((uint16_t)(20 + udp_len)),
	};
	struct ip6_hdr ip6 = {
		.ip6_flow = htonl(6 << 28), .ip6_plen = htons((uint16_t)udp_len),
		.ip6_nxt = IPPROTO_UDP,
	};

	if (o->ipv6) {
		memcpy(&ip6.ip6_src, o->from, 16);
		memcpy(&ip6.ip6_dst, o->to, 16);
		memcpy(packet, &ip6, 40);
		memcpy(packet + 40, udp, HDR_UDP);
		return 48;
	}
	memcpy(&ip4.saddr, o->from + 12, 4);
	memcpy(&ip4.daddr, o->to + 12, 4);
	memcpy(packet, &ip4, 20);
	memcpy(packet + 20, udp, HDR_UDP);
	return 28;
}

/* Fills in the datagram that carries a packet from one device to another. */
static void fill(struct order *o, const struct vt_dev *from, const struct vt_dev *to,
		 const struct forged *f, bool ipv6)
{
	const struct raw_bth bth = { f->opcode, 0, htons(BTH_DEFAULT_PKEY), htonl(f->qpn),
				     htonl(f->psn) };
	uint8_t packet[RAW_MAX];
	uint32_t icrc;
	size_t hdr;

	memset(o, 0, sizeof(*o));
	o->ipv6 = ipv6;
	o->port = RAW_PORT;
	memcpy(o->from, ipv6 ? from->gid6.raw : from->gid4.raw, 16);
	memcpy(o->to, ipv6 ? to->gid6.raw : to->gid4.raw, 16);
	o->len = sizeof(bth) + f->len + 4;
	hdr = write_headers(packet, o, o->len);
	memcpy(packet + hdr, &bth, sizeof(bth));
	memcpy(packet + hdr + sizeof(bth), f->body, f->len);
	icrc = ipv6 ? raw_icrc6(packet, hdr + o->len - 4) :
		      raw_icrc(packet, hdr + o->len - 4);
	memcpy(packet + hdr + o->len - 4, &icrc, 4);
	memcpy(o->data, packet + hdr, o->len);
}

/* ---- senders without the capability ------------------------------------- */

static struct vt_dev *a, *b;
/* At the hosts of both devices; and root at the first one. */
static struct sender near_a, near_b, root;

static void require(bool on)
{
	FILE *f = fopen(PARAMETER, "w");

	if (!f || fputs(on ? "Y" : "N", f) < 0 || fclose(f))
		vt_bail("%s", PARAMETER);
}

static long refused(void)
{
	return vt_counter(vt_name_a(), "refused_datagrams") +
	       (strcmp(vt_name_a(), vt_name_b()) ?
		vt_counter(vt_name_b(), "refused_datagrams") : 0);
}

/* One kind of packet. Each round has its own queue pairs. */
struct kind {
	const char *what;
	uint8_t transport;	/* BTH_RC, BTH_UC, BTH_XRC */
	uint8_t operation;
};

/* The queue pairs of a round. */
struct round {
	const struct kind *kind;
	struct vt_conf conf;
	struct vt_pair p;
	struct ibv_xrcd *xrcd;
};

static bool is_response(const struct kind *k)
{
	return k->operation == BTH_ACKNOWLEDGE || k->operation == BTH_ATOMIC_ACKNOWLEDGE;
}

/* Begins a request that end b, which is in INIT, does not answer. */
static void begin_request(struct round *r)
{
	struct ibv_sge sge = vt_sge(&r->p.a, 0, 8);
	struct vt_wr wr = {
		.op = r->kind->operation == BTH_ACKNOWLEDGE ? VT_WRITE : VT_FADD,
		.sge = &sge, .num_sge = 1, .flags = IBV_SEND_SIGNALED, .compare_add = 1,
		.raddr = vt_addr(&r->p.b, 64), .rkey = r->p.b.mr->rkey,
	};

	if (vt_to_init(&r->p.a, &r->conf) || vt_to_init(&r->p.b, &r->conf) ||
	    vt_to_rtr(&r->p.a, &r->p.b, &r->conf) || vt_to_rts(&r->p.a, &r->conf) ||
	    vt_post(&r->p.a, &wr))
		vt_bail("a request without an answer");
}

static void round_open(struct round *r, const struct kind *k, bool ipv6)
{
	memset(r, 0, sizeof(*r));
	r->kind = k;
	r->conf = k->transport == BTH_XRC ? xrc_defaults() : vt_defaults();
	if (k->transport == BTH_UC)
		r->conf.qp_type = IBV_QPT_UC;
	r->conf.ipv6 = ipv6;
	r->conf.psn = (uint32_t)vt_random_u64() & BTH_PSN_MASK;
	r->conf.timeout = 18;		/* 1 s */
	r->conf.retry_cnt = 7;
	if (k->transport == BTH_XRC) {
		r->xrcd = xrc_open_domain(b, -1, O_CREAT);
		if (!r->xrcd)
			vt_bail("ibv_open_xrcd");
		xrc_pair_open(&r->p, a, b, r->xrcd, &r->conf);
	} else if (is_response(k)) {
		vt_pair_create(&r->p, a, b, &r->conf);
		begin_request(r);
	} else {
		vt_pair_open(&r->p, a, b, &r->conf);
	}
	memset(r->p.a.buf, 0, 64);
	memset(r->p.b.buf, 0, 192);
	if (k->operation == BTH_SEND_ONLY && vt_recv(&r->p.b, 1, 0, 64))
		vt_bail("a receive request");
}

static void round_close(struct round *r)
{
	if (!r->xrcd) {
		vt_pair_close(&r->p);
		return;
	}
	xrc_pair_close(&r->p);
	if (ibv_close_xrcd(r->xrcd))
		vt_bail("ibv_close_xrcd");
}

/* The packet that the connection would accept next. */
static struct forged packet_of(const struct round *r)
{
	struct forged f = {
		.opcode = r->kind->transport | r->kind->operation,
		.qpn = is_response(r->kind) ? r->p.a.qp->qp_num : r->p.b.qp->qp_num,
		.psn = r->conf.psn,
	};

	if (r->kind->transport == BTH_XRC)
		add32(&f, r->p.b.srqn);
	switch (r->kind->operation) {
	case BTH_SEND_ONLY:
		add(&f, "FORGED!!", 8);
		break;
	case BTH_RDMA_WRITE_ONLY:
	case BTH_RDMA_READ_REQUEST:
		add64(&f, vt_addr(&r->p.b, 64));
		add32(&f, r->p.b.mr->rkey);
		add32(&f, 8);
		if (r->kind->operation == BTH_RDMA_WRITE_ONLY)
			add(&f, "FORGED!!", 8);
		break;
	case BTH_FETCH_ADD:
		add64(&f, vt_addr(&r->p.b, 64));
		add32(&f, r->p.b.mr->rkey);
		add64(&f, 7);
		add64(&f, 0);
		break;
	default:
		add32(&f, AETH_ACK_NO_CREDITS << 24 | 1);
		if (r->kind->operation == BTH_ATOMIC_ACKNOWLEDGE)
			add(&f, "FORGED!!", 8);
	}
	return f;
}

static uint32_t next_psn(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_RQ_PSN, &init))
		vt_bail("ibv_query_qp");
	return attr.rq_psn;
}

/* Returns true if the packet has had its effect, for which it waits. */
static bool has_effect(struct round *r)
{
	uint64_t end = vt_now_ms() + QUIET_MS;
	struct ibv_wc wc;

	switch (r->kind->operation) {
	case BTH_SEND_ONLY:
		return vt_poll(r->p.b.rcq, &wc, QUIET_MS) && !memcmp(r->p.b.buf, "FORGED!!", 8);
	case BTH_ACKNOWLEDGE:
		return vt_poll(r->p.a.cq, &wc, QUIET_MS) && wc.status == IBV_WC_SUCCESS;
	case BTH_ATOMIC_ACKNOWLEDGE:
		return vt_poll(r->p.a.cq, &wc, QUIET_MS) && wc.status == IBV_WC_SUCCESS &&
		       *vt_word(&r->p.a, 0);
	default:
		/* Executed: the responder expects the next PSN. */
		while (next_psn(r->p.b.qp) == r->conf.psn)
			if (vt_now_ms() > end)
				return *vt_word(&r->p.b, 64);
		return true;
	}
}

/* Returns true if the genuine traffic of the connection has its results. */
static bool works(struct round *r)
{
	struct ibv_sge sge = vt_sge(&r->p.a, 0, 8);
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1, .srqn = r->p.b.srqn };
	struct ibv_wc wc;

	if (is_response(r->kind)) {
		if (vt_to_rtr(&r->p.b, &r->p.a, &r->conf) || vt_to_rts(&r->p.b, &r->conf))
			vt_bail("to RTS");
		return vt_poll(r->p.a.cq, &wc, VT_MS) && wc.status == IBV_WC_SUCCESS &&
		       (r->kind->operation == BTH_ACKNOWLEDGE || *vt_word(&r->p.b, 64) == 1);
	}
	memcpy(r->p.a.buf, "genuine", 8);
	if (r->kind->operation != BTH_SEND_ONLY && vt_recv(&r->p.b, 1, 0, 64))
		vt_bail("a receive request");
	return vt_do(&r->p.a, &wr, NULL) == IBV_WC_SUCCESS &&
	       vt_poll(r->p.b.rcq, &wc, VT_MS) && !memcmp(r->p.b.buf, "genuine", 8);
}

static void test_kind(const struct kind *k, bool ipv6)
{
	const struct vt_dev *from = is_response(k) ? b : a, *to = is_response(k) ? a : b;
	const struct sender *s = is_response(k) ? &near_b : &near_a;
	struct forged f;
	struct round r;
	struct order o;
	long before;

	require(false);
	round_open(&r, k, ipv6);
	f = packet_of(&r);
	fill(&o, from, to, &f, ipv6);
	is_int(send_order(s, &o), 0, "IPv%d, %s with require_net_raw=N", ipv6 ? 6 : 4, k->what);
	ok(has_effect(&r), "... it has an effect");
	round_close(&r);

	require(true);
	round_open(&r, k, ipv6);
	f = packet_of(&r);
	fill(&o, from, to, &f, ipv6);
	before = refused();
	is_int(send_order(s, &o), EPERM, "... with require_net_raw=Y");
	is_int(refused() - before, 1, "... it is counted");
	ok(!has_effect(&r), "... it has no effect");
	ok(works(&r), "... and the connection works");
	round_close(&r);
}

static void test_datagram(bool ipv6)
{
	struct forged f = { .opcode = 0x64 };	/* UD SEND ONLY */
	struct ibv_wc wc;
	struct order o;
	struct ud u;

	ud_open(&u, b);
	ud_must_recv(&u, UD_RECV, UD_SLOT);
	f.qpn = u.qp->qp_num;
	add32(&f, UD_QKEY);
	add32(&f, 1);			/* source QP: the kernel's */
	add(&f, "FORGED!!", 8);
	fill(&o, a, b, &f, ipv6);
	is_int(send_order(&near_a, &o), EPERM, "IPv%d, a UD datagram with require_net_raw=Y",
	       ipv6 ? 6 : 4);
	ok(!vt_poll(u.rcq, &wc, QUIET_MS), "... it is not received");
	require(false);
	is_int(send_order(&near_a, &o), 0, "... with require_net_raw=N");
	ok(vt_poll(u.rcq, &wc, VT_MS), "... it is received");
	require(true);
	ud_close(&u);
}

static void test_kinds(bool ipv6)
{
	static const struct kind kinds[] = {
		{ "a SEND", BTH_RC, BTH_SEND_ONLY },
		{ "a WRITE", BTH_RC, BTH_RDMA_WRITE_ONLY },
		{ "a READ", BTH_RC, BTH_RDMA_READ_REQUEST },
		{ "an atomic", BTH_RC, BTH_FETCH_ADD },
		{ "an ACK", BTH_RC, BTH_ACKNOWLEDGE },
		{ "the result of an atomic", BTH_RC, BTH_ATOMIC_ACKNOWLEDGE },
		{ "a SEND of UC", BTH_UC, BTH_SEND_ONLY },
		{ "a WRITE of UC", BTH_UC, BTH_RDMA_WRITE_ONLY },
		{ "a SEND of XRC", BTH_XRC, BTH_SEND_ONLY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		test_kind(&kinds[i], ipv6);
	test_datagram(ipv6);
}

/* ---- ways to send ------------------------------------------------------- */

/* A datagram to nobody's queue pair. */
static struct order any_order(bool ipv6)
{
	struct forged f = { .opcode = BTH_RC | BTH_SEND_ONLY, .qpn = RAW_NOBODY };
	struct order o;

	fill(&o, a, b, &f, ipv6);
	return o;
}

static void expect(const struct sender *s, const struct order *o, int err, const char *what)
{
	long before = refused();

	is_int(send_order(s, o), err, "IPv%d, %s", o->ipv6 ? 6 : 4, what);
	is_int(refused() - before, err == EPERM, "... it is %scounted",
	       err == EPERM ? "" : "not ");
}

static void test_ways(bool ipv6)
{
	static const struct {
		enum via via;
		const char *what;
	} ways[] = {
		{ CONNECTED, "a connected socket" },
		{ CORKED, "a datagram in two pieces" },
		{ BATCHED, "two datagrams by GSO" },
		{ OPTIONS, "IP options or a routing header" },
		{ INHERITED, "a socket that root has opened" },
	};
	struct order o = any_order(ipv6);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		o.via = ways[i].via;
		expect(&near_a, &o, EPERM, ways[i].what);
		require(false);
		expect(&near_a, &o, 0, "... with require_net_raw=N");
		require(true);
	}
	o.via = RAW_SOCKET;
	expect(&near_a, &o, 0, "a raw socket that root has opened");
	o.via = LENT;
	expect(&root, &o, EPERM, "root on the socket of another user");
	o.via = PLAIN;
	expect(&root, &o, 0, "root");
	o.port = PORT_OTHER;
	expect(&near_a, &o, 0, "another port");
}

/* An IPv4 datagram over a socket of IPv6. */
static void test_mapped(void)
{
	struct order o = any_order(false);

	memset(o.to + 10, 0xff, 2);
	o.via = MAPPED;
	expect(&near_a, &o, EPERM, "over a socket of IPv6");
}

static void must(const char *command)
{
	if (system(command))
		vt_bail("failed: %s", command);
}

static void test_nat(bool ipv6)
{
	struct order o = any_order(ipv6);

	o.port = PORT_NAT;
	expect(&near_a, &o, 0, "a port");
	must("ip netns exec h1 nft add table inet mxe");
	must("ip netns exec h1 nft 'add chain inet mxe c { type nat hook output priority 0; }'");
	must("ip netns exec h1 nft add rule inet mxe c udp dport 5791 redirect to :4791");
	expect(&near_a, &o, EPERM, "... that NAT turns into the RoCE port");
	must("ip netns exec h1 nft delete table inet mxe");
}

/* The kernel sends for the process, over a socket that no process opened. */
static void test_rxrpc(void)
{
	struct order o = any_order(false);
	uint64_t end = vt_now_ms() + VT_MS;
	long before = refused();

	o.via = RXRPC;
	send_order(&near_a, &o);
	while (refused() == before && vt_now_ms() < end)
		usleep(1000);
	ok(refused() > before, "a call of AF_RXRPC to the RoCE port is refused");
}

/* ---- tunnels ------------------------------------------------------------ */

/* Sends a packet in a tunnel that ends at the host of the queue pair. */
static void test_tunnel(const char *what, uint16_t port, const char *counter,
			size_t (*wrap)(uint8_t *, const struct order *))
{
	static const struct kind send = { "", BTH_RC, BTH_SEND_ONLY };
	long before = vt_dev_counter(b, counter);
	struct order inner, o;
	struct forged f;
	struct round r;

	round_open(&r, &send, false);
	f = packet_of(&r);
	fill(&inner, a, b, &f, false);
	o = inner;
	o.port = port;
	o.len = wrap(o.data, &inner);
	is_int(send_order(&near_a, &o), 0, "a SEND %s", what);
	vt_dev_wait_counted(b, counter, before);
	is_int(vt_dev_counter(b, counter) - before, 1, "... it is dropped (%s)", counter);
	ok(!has_effect(&r), "... it has no effect");
	ok(works(&r), "... and the connection works");
	round_close(&r);
}

static size_t wrap_gue(uint8_t *to, const struct order *inner)
{
	static const uint8_t gue[4] = { 0, IPPROTO_UDP };
	uint8_t packet[RAW_MAX];
	size_t hdr = write_headers(packet, inner, inner->len);

	memcpy(to, gue, sizeof(gue));
	memcpy(to + 4, packet + hdr - HDR_UDP, HDR_UDP);
	memcpy(to + 4 + HDR_UDP, inner->data, inner->len);
	return 4 + HDR_UDP + inner->len;
}

static void set_ip_checksum(uint8_t *packet)
{
	struct iphdr *ip = (void *)packet;
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(*ip); i += 2)
		sum += (uint32_t)(packet[i] << 8 | packet[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	ip->check = htons((uint16_t)~sum);
}

static size_t wrap_vxlan(uint8_t *to, const struct order *inner)
{
	static const uint8_t hdr[8 + 14] = {
		0x08, 0, 0, 0, 0, 0, 7, 0,	/* network 7 */
		2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8, 0x08, 0x00,
	};
	size_t len;

	memcpy(to, hdr, sizeof(hdr));
	len = write_headers(to + sizeof(hdr), inner, inner->len);
	set_ip_checksum(to + sizeof(hdr));
	memcpy(to + sizeof(hdr) + len, inner->data, inner->len);
	return sizeof(hdr) + len + inner->len;
}

int main(void)
{
	bool alone = !strcmp(vt_name_a(), vt_name_b());

	plan(0);
	near_a = start("h1", NOBODY);
	near_b = start(alone ? "h1" : "h2", NOBODY);
	root = start("h1", 0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		test_kinds(ipv6);
		test_ways(ipv6);
		test_nat(ipv6);
	}
	test_mapped();
	must("modprobe rxrpc");
	test_rxrpc();
	if (!alone) {
		must("modprobe fou && ip -n h2 fou add port 6080 gue");
		test_tunnel("in a GUE tunnel", PORT_GUE, "drop_length", wrap_gue);
		must("modprobe vxlan");
		must("ip -n h2 link add vxlan0 type vxlan id 7 dstport 4789 dev eth0");
		must("ip -n h2 link set vxlan0 address 02:00:00:00:00:07 up");
		test_tunnel("in a VXLAN tunnel", PORT_VXLAN, "drop_address", wrap_vxlan);
	}
	vt_close(b);
	vt_close(a);
	stop(&near_a);
	stop(&near_b);
	stop(&root);
	return done_testing();
}
