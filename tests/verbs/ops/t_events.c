// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the asynchronous events that no other test covers are raised:
 * communication established, send queue drained, port up and down with the
 * interface and its carrier, and changes of the GID table. t_errors and t_ud
 * cover events of queue pairs, t_cq those of completion queues, t_srq and t_xrc
 * those of shared receive queues, and t_hold the removal of the device.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

/*
 * Waits for an event of the type, for the queue pair or, if qp is NULL, for the
 * port.  Discards other events.
 */
static bool got(struct vt_dev *dev, enum ibv_event_type type, struct ibv_qp *qp,
		int ms)
{
	uint64_t end = vt_now_ms() + (uint64_t)ms;
	struct pollfd pfd = { .fd = dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool match = false;

	while (!match && vt_now_ms() <= end) {
		if (poll(&pfd, 1, 50) != 1)
			continue;
		if (ibv_get_async_event(dev->ctx, &event))
			vt_bail("ibv_get_async_event");
		match = event.event_type == type &&
			(qp ? event.element.qp == qp :
			      event.element.port_num == 1);
		ibv_ack_async_event(&event);
	}
	return match;
}

static void run(const char *command)
{
	if (system(command))
		vt_bail("%s", command);
}

static int send_word(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };

	return vt_do(&p->a, &wr, NULL);
}

/* The first message that arrives in RTR raises the event. */
static void test_comm_est(struct vt_dev *a, struct vt_dev *b,
			  enum ibv_qp_type type)
{
	const char *name = type == IBV_QPT_RC ? "RC" : "UC";
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	conf.qp_type = type;
	vt_pair_create(&p, a, b, &conf);
	if (vt_to_init(&p.a, &conf) || vt_to_init(&p.b, &conf) ||
	    vt_to_rtr(&p.a, &p.b, &conf) || vt_to_rtr(&p.b, &p.a, &conf) ||
	    vt_to_rts(&p.a, &conf))
		vt_bail("to RTS and RTR");
	vt_recv(&p.b, 1, 0, 8);
	vt_recv(&p.b, 2, 0, 8);
	vt_drain_async(b);
	is_int(send_word(&p), IBV_WC_SUCCESS, "%s: a message in RTR", name);
	ok(got(b, IBV_EVENT_COMM_EST, p.b.qp, VT_MS), "%s: ... raises an event",
	   name);
	is_int(send_word(&p), IBV_WC_SUCCESS, "%s: a second message", name);
	ok(!got(b, IBV_EVENT_COMM_EST, p.b.qp, 300), "%s: ... raises none", name);
	vt_pair_close(&p);
}

static void test_drained(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	vt_recv(&p.b, 1, 0, 8);
	vt_drain_async(a);
	is_int(send_word(&p), IBV_WC_SUCCESS, "a message");
	is_int(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0, "to SQD");
	ok(!got(a, IBV_EVENT_SQ_DRAINED, p.a.qp, 300),
	   "... raises no event without en_sqd_async_notify");
	is_int(vt_to_state(&p.a, IBV_QPS_RTS), 0, "to RTS");
	attr.en_sqd_async_notify = 1;
	is_int(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE |
			     IBV_QP_EN_SQD_ASYNC_NOTIFY), 0, "to SQD");
	ok(got(a, IBV_EVENT_SQ_DRAINED, p.a.qp, VT_MS), "... raises an event with en_sqd_async_notify");
	vt_pair_close(&p);
}

static enum ibv_port_state port_state(struct vt_dev *dev)
{
	struct ibv_port_attr attr;

	if (ibv_query_port(dev->ctx, 1, &attr))
		vt_bail("ibv_query_port");
	return attr.state;
}

/*
 * Sets the interface of a down, so that the interface of b loses its carrier.
 */
static void test_port(struct vt_dev *a, struct vt_dev *b)
{
	vt_drain_async(a);
	vt_drain_async(b);
	is_int(port_state(a), IBV_PORT_ACTIVE, "the port is active");
	run("ip -n h1 link set eth0 down");
	ok(got(a, IBV_EVENT_PORT_ERR, NULL, VT_MS), "an interface is set down");
	is_int(port_state(a), IBV_PORT_DOWN, "... and its port is down");
	ok(got(b, IBV_EVENT_PORT_ERR, NULL, VT_MS), "the other interface loses its carrier");
	is_int(port_state(b), IBV_PORT_DOWN, "... and its port is down");
	run("ip -n h1 link set eth0 up");
	ok(got(a, IBV_EVENT_PORT_ACTIVE, NULL, VT_MS), "the interface is set up");
	is_int(port_state(a), IBV_PORT_ACTIVE, "... and its port is active");
	ok(got(b, IBV_EVENT_PORT_ACTIVE, NULL, VT_MS),
	   "the other interface has a carrier");
	is_int(port_state(b), IBV_PORT_ACTIVE, "... and its port is active");
	run("ip -n h1 link set eth0 mtu 3000");
	ok(!got(a, IBV_EVENT_PORT_ACTIVE, NULL, 300),
	   "a port that stays active raises no event");
}

static bool has_gid(struct vt_dev *dev, uint8_t last)
{
	const uint8_t want[16] = { [10] = 0xff, [11] = 0xff, 10, 77, 0, last };
	struct ibv_gid_entry entries[64];
	ssize_t n = ibv_query_gid_table(dev->ctx, entries, 64, 0);

	for (ssize_t i = 0; i < n; i++)
		if (!memcmp(entries[i].gid.raw, want, sizeof(want)))
			return true;
	return false;
}

/* Earlier events may be for another address that was added late. */
static bool gid_changed(struct vt_dev *dev, uint8_t last, bool there)
{
	bool event;

	do
		event = got(dev, IBV_EVENT_GID_CHANGE, NULL, VT_MS);
	while (event && has_gid(dev, last) != there);
	return event;
}

static void test_gid(struct vt_dev *a)
{
	vt_drain_async(a);
	ok(!has_gid(a, 78), "an address that the host does not have: no GID");
	run("ip -n h1 addr add 10.77.0.78/24 dev eth0");
	ok(gid_changed(a, 78, true), "the address is added: a GID and an event");
	vt_drain_async(a);
	run("ip -n h1 addr del 10.77.0.78/24 dev eth0");
	ok(gid_changed(a, 78, false), "the address is removed: no GID and an event");
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());

	plan(0);
	test_comm_est(a, b, IBV_QPT_RC);
	test_comm_est(a, b, IBV_QPT_UC);
	test_drained(a, b);
	test_gid(a);
	test_port(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
