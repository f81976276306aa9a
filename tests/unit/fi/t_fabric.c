// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process, which fails or
 * stops where a real one does only now and then: each operation ends, in order
 * and once, and nothing is leaked.
 */
#define TIMEOUT_MS 10000
#include "fake_device.h"
#include "fi_end.h"
#include "wire.h"

#define LONG_SIZE 100000	/* bytes: read by the receiver */
#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV)

static struct end a, b;
static fi_addr_t to_a, to_b;
static uint8_t out[LONG_SIZE], in[LONG_SIZE];

static fi_addr_t insert(struct end *e, struct fid_ep *ep)
{
	uint8_t name[64];
	size_t len = sizeof(name);
	fi_addr_t addr;

	must(fi_getname(&ep->fid, name, &len), "fi_getname");
	must(fi_av_insert(e->av, name, 1, &addr, 0, NULL) - 1, "fi_av_insert");
	return addr;
}

/* Opens two endpoints and connects them. */
static void open_pair(uint64_t caps)
{
	open_end(&a, caps);
	open_end(&b, caps);
	to_b = insert(&a, b.ep);
	to_a = insert(&b, a.ep);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	must(-wait_one(b.cq, in), "the first receive");
	must(-wait_one(a.cq, out), "the first send");
}

static void close_pair(void)
{
	is_int(close_end(&a), 0, "... an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

static void test_messages(void)
{
	open_pair(CAPS);
	memset(out, 0x5a, LONG_SIZE);
	must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "a long message arrives");
	is_mem(in, out, LONG_SIZE, "... with its data");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	close_pair();
}

/* The receiver of a message cannot post the FIN. */
static void test_fin_refused(void)
{
	struct iovec iov = { out, 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .context = out,
	};

	open_pair(CAPS);
	fake_device_set(refused_send, MXEFI_MSG_FIN);
	m.addr = to_b;
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_sendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	is_int(wait_one(b.cq, in), 0, "a message whose FIN cannot be posted");
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "... fails at its sender");
	fake_device_set(refused_send, -1);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	m.addr = to_b;
	must(fi_sendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	is_int(wait_one(a.cq, out), 0, "... and the next one connects again");
	close_pair();
}

/*
 * An endpoint is closed while it reads a message, but its queue pair cannot
 * enter the error state. AddressSanitizer finds what is leaked.
 */
static void test_close_fails(void)
{
	unsigned int reads;

	open_pair(CAPS);
	fake_device_set(reads_stop, true);
	reads = fake_device_get(num_sent[IBV_WR_RDMA_READ]);
	must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	while (fake_device_get(num_sent[IBV_WR_RDMA_READ]) == reads)
		sched_yield();
	fake_device_set(err_fails, true);
	is_int(close_end(&b), 0,
	       "an endpoint with a READ in flight is closed without a flush");
	fake_device_set(err_fails, false);
	fake_device_set(reads_stop, false);
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "... its peer notices");
	is_int(close_end(&a), 0, "... and is closed");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

int main(void)
{
	plan(0);
	test_messages();
	test_fin_refused();
	test_close_fails();
	return done_testing();
}
