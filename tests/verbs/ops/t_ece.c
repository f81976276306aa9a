// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that two QPs exchange the masked atomics that they execute (enhanced
 * connection establishment), through the program or through librdmacm. A
 * request that the peer does not execute is refused when it is posted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "vt.h"

#define ALL_SIZES (MXEDV_ECE_MASKED_ATOMIC_1 | MXEDV_ECE_MASKED_ATOMIC_2 | \
		   MXEDV_ECE_MASKED_ATOMIC_4 | MXEDV_ECE_MASKED_ATOMIC_8 | \
		   MXEDV_ECE_MASKED_ATOMIC_16 | MXEDV_ECE_MASKED_ATOMIC_32)
#define OTHER_VENDOR 0x15b3
#define PORT 7475

static struct vt_dev *a, *b;

static uint32_t options_of(struct ibv_qp *qp)
{
	struct ibv_ece ece = { 0 };

	if (ibv_query_ece(qp, &ece) || ece.vendor_id != MXE_VENDOR_ID ||
	    ece.comp_mask)
		vt_bail("ibv_query_ece");
	return ece.options;
}

/* Sets the capabilities of the peer. Returns the common ones. */
static uint32_t negotiate(struct ibv_qp *qp, uint32_t options)
{
	struct ibv_ece ece = {
		.vendor_id = MXE_VENDOR_ID, .options = options,
	};
	int ret = ibv_set_ece(qp, &ece);

	if (ret)
		vt_bail("ibv_set_ece: %s", strerror(ret));
	return ece.options;
}

/* Returns a masked addition of 1 << log bytes, for vt_post() or vt_do(). */
static struct vt_wr addition(struct vt_pair *p, enum vt_via via, uint32_t log,
			     struct ibv_sge *sge)
{
	static const uint64_t one[4] = { 1 }, boundary[4] = { 0x80 };

	*sge = vt_sge(&p->a, 0, 1U << log);
	return (struct vt_wr){
		.op = VT_MFADD, .via = via, .sge = sge, .num_sge = 1,
		.flags = IBV_SEND_SIGNALED,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
		.log_arg_sz = log ? log : VT_LOG_0,
		.operands = { one, one, boundary, boundary },
	};
}

/* ---- exchanged by the program ------------------------------------------ */

static void test_sizes(enum vt_via via, const char *name)
{
	struct vt_conf conf = vt_defaults();
	uint32_t log, have;
	struct vt_pair p;

	conf.max_atomic_arg = 32;
	conf.exp = via == VT_EXP;
	vt_pair_create(&p, a, b, &conf);
	is_u64(options_of(p.a.qp), ALL_SIZES, "%s: all sizes are offered", name);
	have = MXEDV_ECE_MASKED_ATOMIC_1 | MXEDV_ECE_MASKED_ATOMIC_4 |
	       MXEDV_ECE_MASKED_ATOMIC_16;
	is_u64(negotiate(p.b.qp, have | 1 << 6), have, "... the peer accepts the common ones");
	is_u64(negotiate(p.a.qp, options_of(p.b.qp)), have,
	       "... and so does this side");
	vt_pair_connect(&p, &conf);

	for (log = 0; log <= 5; log++) {
		struct ibv_sge sge;
		struct vt_wr wr = addition(&p, via, log, &sge);
		struct ibv_wc wc;

		memset(p.b.buf, 0, 32);
		if (have >> log & 1)
			is_int(vt_do(&p.a, &wr, &wc), IBV_WC_SUCCESS,
			       "%d bytes are executed", 1 << log);
		else
			is_int(vt_post(&p.a, &wr), EOPNOTSUPP,
			       "%d bytes are refused", 1 << log);
		is_u64(*vt_word(&p.b, 0), have >> log & 1,
		       "... and memory is changed only if executed");
	}
	vt_pair_close(&p);
}

/*
 * To a peer without masked atomics, a masked atomic that is equal to a standard
 * one is sent as that.
 */
static void test_none(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_wr masked, wr = {
		.op = VT_MFADD, .via = VT_WR, .compare_add = 5,
		.compare_mask = 1ULL << 63,
	};
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct vt_pair p;
	uint64_t old;

	vt_pair_create(&p, a, b, &conf);
	is_u64(negotiate(p.a.qp, 0), 0, "a peer without masked atomics");
	vt_pair_connect(&p, &conf);
	masked = addition(&p, VT_WR, 3, &sge);
	is_int(vt_post(&p.a, &masked), EOPNOTSUPP, "... a masked atomic is refused");
	*vt_word(&p.b, 0) = 7;
	is_int(vt_atomic(&p, &wr, 0, &old), IBV_WC_SUCCESS, "a masked atomic of one field");
	is_u64(old, 7, "... returns the old value");
	is_u64(*vt_word(&p.b, 0), 12, "... and changes memory");
	wr.op = VT_FADD;
	is_int(vt_atomic(&p, &wr, 0, &old), IBV_WC_SUCCESS, "a standard atomic");
	is_u64(*vt_word(&p.b, 0), 17, "... changes memory");

	is_u64(negotiate(p.a.qp, ~0U), ALL_SIZES, "a peer with masked atomics");
	is_int(vt_do(&p.a, &masked, &wc), IBV_WC_SUCCESS, "... a masked atomic");
	is_u64(*vt_word(&p.b, 0), 18, "... changes memory");
	negotiate(p.a.qp, 0);
	if (vt_to_state(&p.a, IBV_QPS_RESET))
		vt_bail("to RESET");
	is_u64(options_of(p.a.qp), ALL_SIZES, "RESET clears the options of the peer");
	vt_pair_close(&p);
}

static void test_refused(void)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_device_attr attr;
	struct ibv_ece ece;
	struct vt_pair p;

	vt_pair_create(&p, a, b, &conf);
	if (ibv_query_device(a->ctx, &attr))
		vt_bail("ibv_query_device");
	is_u64(attr.vendor_id, MXE_VENDOR_ID, "the device's vendor is that of ECE");
	ece = (struct ibv_ece){ .vendor_id = OTHER_VENDOR, .options = 1 };
	is_int(ibv_set_ece(p.a.qp, &ece), EINVAL, "another vendor's options");
	ece.vendor_id = 0;
	is_int(ibv_set_ece(p.a.qp, &ece), EOPNOTSUPP, "options without a vendor");
	ece = (struct ibv_ece){ .vendor_id = MXE_VENDOR_ID, .comp_mask = 1 };
	is_int(ibv_set_ece(p.a.qp, &ece), EINVAL, "an unknown comp_mask bit");
	is_u64(options_of(p.a.qp), ALL_SIZES, "... these change nothing");
	vt_pair_close(&p);

	conf.qp_type = IBV_QPT_UC;
	vt_pair_create(&p, a, b, &conf);
	is_u64(options_of(p.a.qp), 0, "UC has no masked atomics");
	is_u64(negotiate(p.a.qp, ~0U), 0, "... even if the peer has them");
	vt_pair_close(&p);
}

/* ---- exchanged by librdmacm -------------------------------------------- */

/* One side of a connection. The id of the passive side is not the listener. */
struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint64_t word;
};

/* Moves this thread to the network namespace of a host. */
static void enter(const char *host)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", host);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		vt_bail("%s: %s", path, strerror(errno));
	close(fd);
}

static struct sockaddr_in address(const char *text)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(PORT),
	};

	inet_pton(AF_INET, text, &sin.sin_addr);
	return sin;
}

static struct rdma_cm_id *expect(struct side *s, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(s->channel, &event))
		vt_bail("rdma_get_cm_event: %s", strerror(errno));
	if (event->event != type)
		vt_bail("%s (%d) instead of %s", rdma_event_str(event->event),
			event->status, rdma_event_str(type));
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static struct rdma_cm_id *open_side(struct side *s)
{
	struct rdma_cm_id *id;

	memset(s, 0, sizeof(*s));
	s->channel = rdma_create_event_channel();
	if (!s->channel || rdma_create_id(s->channel, &id, s, RDMA_PS_TCP))
		vt_bail("rdma_create_id: %s", strerror(errno));
	return id;
}

static void listen_on(struct side *s, const char *host, const char *text)
{
	struct sockaddr_in sin = address(text);

	enter(host);
	s->listener = open_side(s);
	if (rdma_bind_addr(s->listener, (struct sockaddr *)&sin) ||
	    rdma_listen(s->listener, 1))
		vt_bail("rdma_listen: %s", strerror(errno));
}

static void resolve(struct side *s, const char *host, const char *text)
{
	struct sockaddr_in sin = address(text);

	enter(host);
	s->id = open_side(s);
	if (rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&sin, VT_MS))
		vt_bail("rdma_resolve_addr: %s", strerror(errno));
	expect(s, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(s->id, VT_MS))
		vt_bail("rdma_resolve_route: %s", strerror(errno));
	expect(s, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Creates a queue pair with librdmacm, and a region for its atomics. */
static void create_qp(struct side *s)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = s->id->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};

	if (rdma_create_qp_ex(s->id, &attr))
		vt_bail("rdma_create_qp_ex: %s", strerror(errno));
	s->mr = ibv_reg_mr(s->id->pd, &s->word, sizeof(s->word), VT_ACCESS_ALL);
	if (!s->mr)
		vt_bail("ibv_reg_mr");
}

static struct rdma_conn_param param(void)
{
	return (struct rdma_conn_param){
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
		.qp_num = 0x123456,	/* used without a queue pair */
	};
}

static void request(struct side *s)
{
	struct rdma_conn_param p = param();

	if (rdma_connect(s->id, &p))
		vt_bail("rdma_connect: %s", strerror(errno));
}

static void take_request(struct side *s)
{
	s->id = expect(s, RDMA_CM_EVENT_CONNECT_REQUEST);
}

static void answer(struct side *s)
{
	struct rdma_conn_param p = param();

	if (rdma_accept(s->id, &p))
		vt_bail("rdma_accept: %s", strerror(errno));
}

static void close_side(struct side *s)
{
	if (s->mr)
		ibv_dereg_mr(s->mr);
	if (s->id->qp)
		rdma_destroy_qp(s->id);
	rdma_destroy_id(s->id);
	if (s->listener)
		rdma_destroy_id(s->listener);
	rdma_destroy_event_channel(s->channel);
}

/*
 * Adds 1 to the peer's word with a masked atomic. Returns the status of the
 * completion, -1, or the errno of the post.
 */
static int add_to(struct side *s, struct side *peer)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(s->id->qp);
	struct mxedv_qp_ex *mqp = mxedv_qp_ex_from_ibv_qp_ex(qpx);
	uint64_t raddr = (uintptr_t)&peer->word;
	struct ibv_wc wc;
	int ret;

	if (!mqp)
		vt_bail("no builders");
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	mxedv_wr_masked_atomic_fetch_add(mqp, peer->mr->rkey, raddr, 1, 0x80);
	ibv_wr_set_sge(qpx, s->mr->lkey, (uintptr_t)&s->word, sizeof(s->word));
	ret = ibv_wr_complete(qpx);
	if (ret)
		return ret;
	return vt_poll(s->id->send_cq, &wc, VT_MS) ? (int)wc.status : -1;
}

/* librdmacm exchanges the options without calls of the program. */
static void test_cm(void)
{
	struct side passive, active;

	listen_on(&passive, "h2", "10.77.0.2");
	resolve(&active, "h1", "10.77.0.2");
	create_qp(&active);
	request(&active);
	take_request(&passive);
	create_qp(&passive);
	answer(&passive);
	expect(&active, RDMA_CM_EVENT_ESTABLISHED);
	expect(&passive, RDMA_CM_EVENT_ESTABLISHED);
	is_u64(options_of(active.id->qp), ALL_SIZES, "librdmacm: options of the active side");
	is_u64(options_of(passive.id->qp), ALL_SIZES, "... and of the passive side");
	is_int(add_to(&active, &passive), IBV_WC_SUCCESS,
	       "... an atomic of the active side");
	is_u64(passive.word, 1, "... changes memory");
	is_int(add_to(&passive, &active), IBV_WC_SUCCESS,
	       "... an atomic of the passive side");
	close_side(&active);
	close_side(&passive);
}

/* The active side has no queue pair of librdmacm and sets its own options. */
static void test_cm_active(uint32_t vendor, uint32_t options, uint32_t want,
			   const char *name)
{
	struct ibv_ece ece = { .vendor_id = vendor, .options = options };
	struct side passive, active;

	listen_on(&passive, "h2", "10.77.0.2");
	resolve(&active, "h1", "10.77.0.2");
	if (vendor && rdma_set_local_ece(active.id, &ece))
		vt_bail("rdma_set_local_ece: %s", strerror(errno));
	request(&active);
	take_request(&passive);
	create_qp(&passive);
	is_u64(options_of(passive.id->qp), want, "%s: options of the passive side", name);
	answer(&passive);
	expect(&active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	is_int(rdma_get_remote_ece(active.id, &ece), 0, "... the response");
	is_u64(ece.vendor_id, vendor, "... has the vendor of the request");
	/* Without a vendor, librdmacm does not clear the options. */
	if (vendor)
		is_u64(ece.options, want, "... and the common options");
	if (rdma_establish(active.id))
		vt_bail("rdma_establish: %s", strerror(errno));
	expect(&passive, RDMA_CM_EVENT_ESTABLISHED);
	if (!want)
		is_int(add_to(&passive, &passive), EOPNOTSUPP,
		       "... a masked atomic is refused");
	close_side(&active);
	close_side(&passive);
}

/* The passive side sends no options, as with a device of another vendor. */
static void test_cm_passive(void)
{
	struct side passive, active;
	struct ibv_ece ece;

	listen_on(&passive, "h2", "10.77.0.2");
	resolve(&active, "h1", "10.77.0.2");
	create_qp(&active);
	request(&active);
	take_request(&passive);
	is_int(rdma_get_remote_ece(passive.id, &ece), 0, "the connection request");
	is_u64(ece.vendor_id, MXE_VENDOR_ID, "... has the vendor of mxe");
	is_u64(ece.options, ALL_SIZES, "... and all options");
	answer(&passive);
	expect(&active, RDMA_CM_EVENT_ESTABLISHED);
	expect(&passive, RDMA_CM_EVENT_ESTABLISHED);
	is_u64(options_of(active.id->qp), 0, "a response without options leaves none");
	is_int(add_to(&active, &active), EOPNOTSUPP,
	       "... a masked atomic is refused");
	negotiate(active.id->qp, ALL_SIZES);
	is_u64(options_of(active.id->qp), ALL_SIZES, "... until the program sets the peer's options");
	close_side(&active);
	close_side(&passive);
}

int main(void)
{
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	plan(0);
	test_sizes(VT_WR, "mxedv");
	test_sizes(VT_EXP, "experimental verbs");
	test_none();
	test_refused();
	test_cm();
	test_cm_active(MXE_VENDOR_ID, MXEDV_ECE_MASKED_ATOMIC_8 | 1 << 6,
		       MXEDV_ECE_MASKED_ATOMIC_8, "a peer with 8 bytes");
	test_cm_active(MXE_VENDOR_ID, 0, 0, "a peer without options");
	test_cm_active(OTHER_VENDOR, ALL_SIZES, 0, "a peer of another vendor");
	test_cm_active(0, 0, ALL_SIZES, "a peer without ECE");
	test_cm_passive();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
