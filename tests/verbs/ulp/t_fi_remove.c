// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric when the device of host h2 of tools/two-hosts
 * is removed and a domain is open: the operations of both hosts end, and the
 * process does not spin. This process is on both hosts: a on h1, and b on h2.
 * It makes the device again.
 *
 * t_fi.sh runs it.
 */
#include <poll.h>
#include <stdlib.h>
#include "fi_end.h"

#define LONG_SIZE 100000	/* bytes: read by the receiver */

static struct end a, b;
static uint8_t out[LONG_SIZE], in[LONG_SIZE];

int main(void)
{
	fi_addr_t to_a, to_b;
	long cpu;

	plan(0);
	enter("h2");
	open_end(&b, FI_MSG);
	enter("h1");
	open_end(&a, FI_MSG);
	to_a = insert(&b, a.ep);
	to_b = insert(&a, b.ep);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	must(-wait_one(b.cq, in), "the first receive");
	must(-wait_one(a.cq, out), "the first send");
	/* Sends that wait for receives. */
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	must(fi_send(b.ep, out, LONG_SIZE, NULL, to_a, &out[1]), "fi_send");
	enter("h2");
	must(-system("rdma link delete mxe2"), "rdma link delete");
	is_int(wait_one(b.cq, &out[1]), FI_ENODEV,
	       "a send ends when the device is removed");
	is_int((int)fi_send(b.ep, out, 8, NULL, to_a, NULL), -FI_ENODEV,
	       "no further send");
	cpu = cpu_ms();
	poll(NULL, 0, 2000);
	cpu = cpu_ms() - cpu;
	ok(cpu < 1000, "the process does not spin: %ld ms of 2 s", cpu);
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "the peer notices");
	close_end(&b);
	must(-system("rdma link add mxe2 type mxe netdev eth0"),
	     "rdma link add");
	is_int(close_end(&a), 0, "the objects of the peer are closed");
	return done_testing();
}
