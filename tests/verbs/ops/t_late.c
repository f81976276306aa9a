// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that destroying a queue pair and its queues does not wait for a packet
 * that has looked up the queue pair but has not locked it yet. mxe_delay.ko
 * holds the packet at this point. The packet then finds the queue pair dying
 * and is dropped.
 */
#include <endian.h>
#include <fcntl.h>
#include "tap.h"
#include "delay.h"
#include "raw.h"
#include "vt.h"
#include "xrc.h"

enum { HELD_US = 1000000, MAX_TRIES = 10 };
enum { WRITE_LEN = 8 };

static struct vt_dev *a, *b;
static int raw_fd;

/*
 * Creates and destroys a queue pair. That invalidates the queue pair that each
 * CPU remembers from its last look-up.
 */
static void forget_qps(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_end e;

	vt_end_create(&e, b, &conf, NULL, NULL);
	vt_end_close(&e);
}

static void destroy_queues(struct vt_end *e)
{
	if (ibv_destroy_qp(e->qp))
		vt_bail("ibv_destroy_qp");
	e->qp = NULL;
	if (e->xsrq && ibv_destroy_srq(e->xsrq))
		vt_bail("ibv_destroy_srq");
	e->xsrq = NULL;
	if (ibv_destroy_cq(e->rcq))
		vt_bail("ibv_destroy_cq");
	e->rcq = NULL;
}

/* Sends an RDMA WRITE of 8 bytes to the target, as its peer would. */
static void send_write(void *arg)
{
	const struct vt_end *to = arg;
	struct raw r = {
		.opcode = BTH_RDMA_WRITE_ONLY, .qpn = to->qp->qp_num,
		.psn = vt_defaults().psn,
		/*
		 * Makes the packet take the path through the socket, where the
		 * queue pair is looked up only once.
		 */
		.checksum = true,
	};
	struct {
		uint64_t va;
		uint32_t rkey, len;
		uint8_t data[WRITE_LEN];
	} write = {
		htobe64(vt_addr(to, 0)), htonl(to->mr->rkey), htonl(WRITE_LEN), "",
	};
	uint32_t srqn = htonl(to->srqn);

	if (to->qp->qp_type == IBV_QPT_UC)
		r.opcode |= BTH_UC;
	if (to->xsrq) {
		r.opcode |= BTH_XRC;
		memcpy(r.body, &srqn, sizeof(srqn));
		r.len = sizeof(srqn);
	}
	memcpy(r.body + r.len, &write, sizeof(write));
	r.len += sizeof(write);
	raw_send(raw_fd, a, b, &r);
}

/*
 * Returns false if the machine was so slow that the packet continued before the
 * destroy had ended.
 */
static bool destroy_before_packet(struct vt_end *e)
{
	struct delay d = { .send = send_write, .arg = e };
	bool held;

	forget_qps();
	delay_request(&d, HELD_US);
	destroy_queues(e);
	held = delay_is_held(&d);
	delay_end(&d);
	return held;
}

static void test_type(enum ibv_qp_type type, const char *name)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_xrcd *xrcd = xrc_open_domain(b, -1, O_CREAT);
	bool xrc = type == IBV_QPT_XRC_SEND;
	long found = 0, dropped = 0;
	struct vt_pair pair;
	bool held = false;

	if (!xrcd)
		vt_bail("ibv_open_xrcd");
	conf.qp_type = type;
	for (int i = 0; i < MAX_TRIES && !held; i++) {
		if (xrc)
			xrc_pair_open(&pair, a, b, xrcd, &conf);
		else
			vt_pair_open(&pair, a, b, &conf);
		found = vt_dev_counter(b, "rcvd_pkts");
		dropped = vt_dev_counter(b, "drop_address");
		held = destroy_before_packet(&pair.b);
		if (xrc)
			xrc_pair_close(&pair);
		else
			vt_pair_close(&pair);
	}
	ok(held, "%s: the destroys do not wait for the packet", name);
	if (held)
		vt_dev_wait_counted(b, "drop_address", dropped);
	is_int(vt_dev_counter(b, "rcvd_pkts") - found, 1, "%s: the packet found the queue pair",
	       name);
	is_int(vt_dev_counter(b, "drop_address") - dropped, 1,
	       "%s: ... and is dropped, since a dying one has no peer", name);
	if (ibv_close_xrcd(xrcd))
		vt_bail("ibv_close_xrcd");
}

int main(void)
{
	delay_begin();
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	raw_fd = raw_open();
	test_type(IBV_QPT_RC, "RC");
	test_type(IBV_QPT_UC, "UC");
	test_type(IBV_QPT_XRC_SEND, "XRC");
	close(raw_fd);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
