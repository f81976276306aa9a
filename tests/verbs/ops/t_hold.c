// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a process that holds one of each object of a device survives the
 * removal of that device.
 *
 *	t_hold		creates the objects, prints "holding", waits for a line
 *			on standard input, and checks that calls fail with EIO
 *	t_hold events	prints asynchronous events until the device is removed
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "vt.h"

static int print_events(void)
{
	struct vt_dev *dev = vt_open(vt_name_a());
	int event;

	printf("waiting\n");
	fflush(stdout);
	do {
		event = vt_any_async(dev, 1000000);
		printf("%s\n", event < 0 ? "none" :
		       ibv_event_type_str((enum ibv_event_type)event));
		fflush(stdout);
	} while (event >= 0 && event != IBV_EVENT_DEVICE_FATAL);
	return 0;
}

/* Rings the doorbell with libmxe's file. Returns 0 or an errno value. */
static int ring_doorbell(uint32_t qpn)
{
	struct mxe_doorbell db = { qpn, MXE_DOORBELL_SEND };

	return write(vt_doorbell_fd(), &db, sizeof(db)) < 0 ? errno : 0;
}

static void test_gone(struct vt_pair *p, struct vt_dev *a)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_port_attr port;
	struct ibv_sge sge = vt_sge(&p->a, 0, 64);
	struct vt_wr wr = {
		.op = VT_WRITE, .via = VT_WR, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
		.flags = IBV_SEND_SIGNALED,
	};
	struct pollfd pfd = { .fd = p->a.chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int event;

	do {
		event = vt_async(a, VT_MS);
	} while (event >= 0 && event != IBV_EVENT_DEVICE_FATAL);
	is_int(event, IBV_EVENT_DEVICE_FATAL, "IBV_EVENT_DEVICE_FATAL is raised");
	is_int(vt_post(&p->a, &wr), 0, "posting succeeds, as on hardware");
	is_int(ring_doorbell(p->a.qp->qp_num), EIO, "a write to the doorbell file fails");
	is_int(ibv_query_qp(p->a.qp, &attr, IBV_QP_STATE, &init) ? 1 : 0, 1,
	       "ibv_query_qp() fails");
	is_int(ibv_query_port(a->ctx, 1, &port) ? 1 : 0, 1,
	       "ibv_query_port() fails");
	ok(!ibv_reg_mr(a->pd, p->a.buf, 4096, IBV_ACCESS_LOCAL_WRITE) &&
	   errno == EIO, "ibv_reg_mr(): %s", strerror(errno));
	/* The rings stay mapped until the process unmaps them. */
	ok(ibv_poll_cq(p->a.cq, 1, &wc) >= 0, "ibv_poll_cq() does no harm");
	is_int(poll(&pfd, 1, 0), 1, "the completion channel wakes up");
	if (fcntl(pfd.fd, F_SETFL, O_NONBLOCK))
		vt_bail("fcntl");
	ok(ibv_get_cq_event(p->a.chan, &cq, &context) && errno == EIO,
	   "... with %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct vt_conf conf = vt_defaults();
	struct vt_dev *a, *b;
	struct vt_pair p;
	char line[16];

	if (argc > 1 && !strcmp(argv[1], "events"))
		return print_events();
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	conf.channel = true;
	vt_pair_open(&p, a, b, &conf);
	diag("holding");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		vt_bail("no line");
	test_gone(&p, a);
	/* The removal has destroyed the objects in the kernel. */
	return done_testing();
}
