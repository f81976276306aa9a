// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: messages over the dynamically connected (DC)
 * transport. An endpoint on host h1 of tools/two-hosts has many peers on h2,
 * the first of them by RC; a connection over DC breaks at both ends; and a
 * stranger sends messages to the DC target of an endpoint.
 *
 * t_fi.sh runs it.
 */
#include <endian.h>
#include <infiniband/verbs_exp.h>
#include "fi_end.h"
#include "dc.h"
#include "wire.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA)
#define NUM_DOMAINS 6		/* each has CQEs for some endpoints */
#define NUM_TARGETS 90
#define RC_PEERS 64		/* reached without DC by default */
#define LONG_SIZE 20000		/* bytes: read by the receiver */
#define QUIET_MS 300

static struct end a, b;
static fi_addr_t to_a, to_b;
static uint8_t out[LONG_SIZE], in[LONG_SIZE];

static void open_pair(void)
{
	enter("h2");
	open_end(&b, CAPS);
	enter("h1");
	open_end(&a, CAPS);
	to_b = insert(&a, b.ep);
	to_a = insert(&b, a.ep);
}

static void close_pair(void)
{
	is_int(close_end(&a), 0, "an endpoint is closed");
	is_int(close_end(&b), 0, "... and its peer");
}

/* Returns 0 if a message arrives, and its send completes. */
static int send_one(struct end *from, struct end *to, fi_addr_t addr, size_t len)
{
	memset(in, 0, len);
	must(fi_recv(to->ep, in, len, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(from->ep, out, len, NULL, addr, out), "fi_send");
	return wait_one(to->cq, in) ? : wait_one(from->cq, out) ? :
	       memcmp(in, out, len);
}

/* ---- many peers -------------------------------------------------------- */

/* Counts the queue pairs of a type that h1 has. */
static int count_qps(const char *type)
{
	char command[96], line[16];
	int n = -1;
	FILE *f;

	snprintf(command, sizeof(command),
		 "rdma resource show qp link mxe1/1 | grep -c 'type %s '", type);
	f = popen(command, "r");
	if (f && fgets(line, sizeof(line), f))
		n = atoi(line);
	if (f)
		pclose(f);
	return n;
}

/* Each peer returns what it receives. */
static void test_many(void)
{
	static struct end ends[NUM_DOMAINS];
	static struct fid_ep *targets[NUM_TARGETS];
	int good = 0, before = count_qps("RC");

	unsetenv("FI_MXE_DC");
	enter("h2");
	open_many(ends, NUM_DOMAINS, CAPS, targets, NUM_TARGETS);
	enter("h1");
	open_end(&a, CAPS);
	for (int i = 0; i < NUM_TARGETS; i++) {
		struct end *e = &ends[i % NUM_DOMAINS];
		struct end target = *e;

		target.ep = targets[i];
		good += !send_one(&a, &target, insert(&a, target.ep),
				  i % 2 ? 8 : LONG_SIZE) &&
			!send_one(&target, &a, insert(&target, a.ep), 8);
	}
	is_int(good, NUM_TARGETS, "each of %d peers has received and sent", NUM_TARGETS);
	is_int(count_qps("RC") - before, RC_PEERS, "... most of them by RC");
	close_many(ends, NUM_DOMAINS, targets, NUM_TARGETS);
	is_int(close_end(&a), 0, "an endpoint with many peers is closed");
	setenv("FI_MXE_DC", "1", 1);
}

/* ---- a connection that breaks ------------------------------------------ */

/*
 * A request that fails breaks the connection. The peer does not notice that, as
 * it would over RC, until its next message is answered with a hello: then what
 * it waits for fails. Messages that have arrived before are received.
 */
static void test_broken(void)
{
	struct iovec iov = { out, 8 };
	struct fi_msg m = { .msg_iov = &iov, .iov_count = 1, .context = out };

	open_pair();
	is_int(send_one(&a, &b, to_b, 8), 0, "a message by DC");
	is_int(send_one(&b, &a, to_a, LONG_SIZE), 0, "... and a long one back");
	is_int(count_qps("RC"), 0, "... without a queue pair of RC");
	memset(out, 0x11, 8);
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	is_int(wait_one(a.cq, out), 0, "a message waits for its receive");
	m.addr = to_a;
	must(fi_sendmsg(b.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	must(fi_write(a.ep, out, 8, NULL, to_b, 4096, 12345, in), "fi_write");
	is_int(wait_one(a.cq, in), FI_EACCES, "a write with a wrong key fails");
	is_int(wait_one(b.cq, out), FI_ECONNABORTED,
	       "... and what the peer waits for");
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	is_int(wait_one(b.cq, in), 0, "the message is received");
	is_int(in[7], 0x11, "... with its data");
	must(fi_recv(a.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	is_int(wait_one(a.cq, in), 0, "... and so is that of the peer");
	for (int i = 0; i < 3; i++) {
		is_int(send_one(&a, &b, to_b, LONG_SIZE), 0,
		       "the connection is opened anew");
		is_int(send_one(&b, &a, to_a, 8), 0, "... in both directions");
	}
	close_pair();
}

/* ---- strangers --------------------------------------------------------- */

static struct mxefi_addr name_of(struct fid_ep *ep)
{
	struct mxefi_addr name;
	size_t len = sizeof(name);

	must(fi_getname(&ep->fid, &name, &len), "fi_getname");
	return name;
}

/* Sends a message to an endpoint. Passes if its device acknowledges it. */
static bool send_as_stranger(struct dc_initiator *i, struct ibv_ah *ah,
			     const struct mxefi_addr *to,
			     const struct mxefi_msg *msg)
{
	struct ibv_wc wc;

	memcpy(i->buf, msg, sizeof(*msg));
	memset(i->buf + sizeof(*msg), 0x66, 8);
	dc_begin(i, 1);
	ibv_wr_send(i->qpx);
	mxedv_wr_set_dc_addr(i->mqp, ah, to->dct & MXEFI_DCT_NUMBER, to->id);
	ibv_wr_set_sge(i->qpx, i->mr->lkey, (uintptr_t)i->buf,
		       sizeof(*msg) + 8);
	if (ibv_wr_complete(i->qpx))
		vt_bail("a request");
	while (!ibv_poll_cq(i->cq, 1, &wc))
		;
	return wc.status == IBV_WC_SUCCESS;
}

/*
 * Whoever knows the address of an endpoint can send to its DC target, but only
 * a connection's peer knows its token.
 */
static void test_strangers(void)
{
	static const struct mxefi_msg forged[] = {
		{ .type = MXEFI_MSG_EAGER, .len = 8 },
		{ .type = MXEFI_MSG_EAGER, .len = 8, .token = 1,
		  .qpn = MXEFI_DC_CONN | 1 },
		{ .type = MXEFI_MSG_EAGER, .len = 8, .token = UINT64_MAX,
		  .qpn = MXEFI_DC_CONN | 1 },
		{ .type = MXEFI_MSG_BYE, .token = 0 },
		{ .type = MXEFI_MSG_STOP, .qpn = MXEFI_DC_CONN | 1 },
		{ .type = MXEFI_MSG_RTS, .len = 4096, .addr = 4096,
		  .flags = MXEFI_MSG_WANT_FIN, .rkey = 1 },
		{ .type = 200 },
	};
	struct fi_cq_tagged_entry e;
	struct dc_initiator stranger;
	struct mxefi_addr name;
	union ibv_gid gid;
	struct vt_dev *dev;
	struct ibv_ah *ah;
	int good = 0;

	open_pair();
	is_int(send_one(&a, &b, to_b, 8), 0, "two endpoints are connected");
	name = name_of(b.ep);
	dev = vt_open("mxe1");
	dc_path_mtu = IBV_MTU_4096;
	dc_initiator_open(&stranger, dev);
	memcpy(gid.raw, name.gid, sizeof(gid));
	ah = ud_ah_gid(dev, dev->gid4_index, &gid);
	if (!ah)
		vt_bail("an address handle");
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	/* More than the endpoint has receive buffers. */
	for (int i = 0; i < 700; i++)
		good += send_as_stranger(&stranger, ah, &name,
					 &forged[(size_t)i % ARRAY_SIZE(forged)]);
	is_int(good, 700, "messages of a stranger are acknowledged");
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, QUIET_MS), -FI_EAGAIN,
	       "... but not received");
	memset(out, 0x22, 8);
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "a message of the peer is");
	is_int(in[7], 0x22, "... with its data");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	is_int(send_one(&b, &a, to_a, LONG_SIZE), 0, "... as one back does");
	dc_initiator_close(&stranger);
	ibv_destroy_ah(ah);
	vt_close(dev);
	close_pair();
}

int main(void)
{
	plan(0);
	enter("h1");
	setenv("FI_MXE_DC", "1", 1);
	test_broken();
	test_strangers();
	test_many();
	return done_testing();
}
