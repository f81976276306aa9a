// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process: endpoints that
 * share a receive context, and a transmit context.
 */
#define TIMEOUT_MS 10000
#include "fake_device.h"
#include "fi_end.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_MULTI_RECV)
#define LONG_SIZE 100000	/* bytes: read by the receiver */

static struct end a, b;
static struct fid_ep *srx;
static struct fid_stx *stx;
static struct fid_ep *eps[2];
static struct fid_cq *cqs[2];
static fi_addr_t to[2];
static uint8_t in[2 * LONG_SIZE], out[LONG_SIZE];

/* Opens an endpoint that shares the contexts. */
static void open_shared(int i, uint64_t cq_flags)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED,
				   .wait_obj = FI_WAIT_UNSPEC };

	must(fi_cq_open(b.domain, &attr, &cqs[i], NULL), "fi_cq_open");
	must(fi_endpoint(b.domain, b.info, &eps[i], NULL), "fi_endpoint");
	must(fi_ep_bind(eps[i], &b.av->fid, 0), "fi_ep_bind av");
	must(fi_ep_bind(eps[i], &cqs[i]->fid, FI_TRANSMIT), "fi_ep_bind cq");
	must(fi_ep_bind(eps[i], &cqs[i]->fid, FI_RECV | cq_flags),
	     "fi_ep_bind cq");
	must(fi_ep_bind(eps[i], &srx->fid, 0), "fi_ep_bind srx");
	is_int(fi_ep_bind(eps[i], &srx->fid, 0), -FI_EINVAL,
	       "an endpoint has one shared receive context");
	must(fi_ep_bind(eps[i], &stx->fid, 0), "fi_ep_bind stx");
	must(fi_enable(eps[i]), "fi_enable");
	to[i] = insert(&a, eps[i]);
}

static void open_all(uint64_t cq_flags)
{
	open_end(&a, CAPS);
	open_end(&b, CAPS);
	must(fi_srx_context(b.domain, NULL, &srx, NULL), "fi_srx_context");
	must(fi_stx_context(b.domain, NULL, &stx, NULL), "fi_stx_context");
	for (int i = 0; i < 2; i++)
		open_shared(i, cq_flags);
	memset(in, 0, sizeof(in));
	for (int i = 0; i < LONG_SIZE; i++)
		out[i] = (uint8_t)(i * 7 + 1);
}

static void close_shared(int i)
{
	if (eps[i])
		must(fi_close(&eps[i]->fid), "fi_close ep");
	eps[i] = NULL;
	if (cqs[i])
		must(fi_close(&cqs[i]->fid), "fi_close cq");
	cqs[i] = NULL;
}

static void close_all(void)
{
	is_int(fi_close(&srx->fid), -FI_EBUSY,
	       "a receive context with endpoints cannot be closed");
	is_int(fi_close(&stx->fid), 0, "... but a transmit context can");
	close_shared(0);
	close_shared(1);
	is_int(fi_close(&srx->fid), 0, "... and that without");
	is_int(close_end(&a), 0, "... and an endpoint");
	is_int(close_end(&b), 0, "... and the domain");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

static void send_to(int i, size_t len)
{
	must(fi_send(a.ep, out, len, NULL, to[i], &to[i]), "fi_send");
}

static void post(void *buf, size_t len)
{
	must(fi_recv(srx, buf, len, NULL, FI_ADDR_UNSPEC, buf), "fi_recv");
}

static int no_events(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e;

	return fi_cq_read(cq, &e, 1) == -FI_EAGAIN;
}

/* Whichever endpoint a message is for, it takes the next receive. */
static void test_messages(void)
{
	open_all(0);
	post(&in[0], 8);
	post(&in[8], 8);
	send_to(1, 8);
	is_int(wait_one(cqs[1], &in[0]), 0, "the first receive has a message");
	send_to(0, 8);
	is_int(wait_one(cqs[0], &in[8]), 0, "... and the second one of another");
	ok(!memcmp(in, out, 8) && !memcmp(in + 8, out, 8), "... with their data");
	for (int i = 0; i < 2; i++)
		is_int(wait_one(a.cq, &to[1 - i]), 0, "... and both are sent");
	/* Messages that come first wait in the order of their arrival. */
	send_to(0, 8);
	is_int(wait_one(a.cq, &to[0]), 0, "a message is sent");
	send_to(1, LONG_SIZE);
	must(fi_tsend(a.ep, out, 8, NULL, to[0], 5, &to[0]), "fi_tsend");
	is_int(wait_one(a.cq, &to[0]), 0, "... and one with a tag");
	post(&in[0], 8);
	is_int(wait_one(cqs[0], &in[0]), 0, "... and received");
	post(in, LONG_SIZE);
	is_int(wait_one(cqs[1], in), 0, "... and a long one for the other");
	ok(!memcmp(in, out, LONG_SIZE), "... with its data");
	is_int(wait_one(a.cq, &to[1]), 0, "... and sent");
	must(fi_trecv(srx, &in[8], 8, NULL, FI_ADDR_UNSPEC, 5, 0, &in[8]),
	     "fi_trecv");
	is_int(wait_one(cqs[0], &in[8]), 0, "... and that with a tag");
	ok(no_events(cqs[0]) && no_events(cqs[1]) && no_events(b.cq),
	   "... each at its endpoint");
	close_all();
}

/* A buffer for several messages gets those of both endpoints. */
static void test_multi(void)
{
	struct iovec iov = { in, 300 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = in,
	};
	struct fi_cq_tagged_entry e = { 0 };
	size_t min = 100, len = sizeof(min);

	open_all(0);
	must(fi_setopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
		       sizeof(min)), "fi_setopt");
	min = 0;
	must(fi_getopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
		       &len), "fi_getopt");
	is_int((int)min, 100, "the minimum is that of the context");
	must(fi_recvmsg(srx, &m, FI_MULTI_RECV), "fi_recvmsg");
	send_to(0, 120);
	is_int((int)fi_cq_sread(cqs[0], &e, 1, NULL, TIMEOUT_MS), 1,
	       "a message gets a part of a buffer");
	ok(e.buf == in && e.len == 120 && !(e.flags & FI_MULTI_RECV),
	   "... which remains");
	send_to(1, 120);
	is_int((int)fi_cq_sread(cqs[1], &e, 1, NULL, TIMEOUT_MS), 1,
	       "... and one of the other endpoint, too");
	ok(e.buf == in + 120 && e.len == 120 && e.flags & FI_MULTI_RECV,
	   "... which is the last");
	for (int i = 0; i < 2; i++)
		is_int(wait_one(a.cq, &to[i]), 0, "... and it is sent");

	/* A long message that is being read keeps its part. */
	iov.iov_len = 2 * LONG_SIZE;
	must(fi_recvmsg(srx, &m, FI_MULTI_RECV), "fi_recvmsg");
	fake_device_set(reads_stop, true);
	send_to(0, LONG_SIZE);
	while (!fake_device_get(num_stopped))
		no_events(cqs[0]);
	is_int(fi_cancel(&srx->fid, in), 0, "a buffer in use is canceled");
	fake_device_set(reads_stop, false);
	is_int((int)fi_cq_sread(cqs[0], &e, 1, NULL, TIMEOUT_MS), 1,
	       "... and its message arrives");
	ok(e.len == LONG_SIZE && e.flags & FI_MULTI_RECV &&
	   !memcmp(in, out, LONG_SIZE), "... and is the last");
	is_int(wait_one(a.cq, &to[0]), 0, "... and it is sent");
	close_all();
}

/* The context reports as the endpoint of the message does. */
static void test_selective(void)
{
	struct iovec iov = { &in[8], 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = &in[8],
	};

	open_all(FI_SELECTIVE_COMPLETION);
	post(&in[0], 8);
	send_to(0, 8);
	is_int(wait_one(a.cq, &to[0]), 0, "a message is sent");
	must(fi_recvmsg(srx, &m, FI_COMPLETION), "fi_recvmsg");
	send_to(0, 8);
	is_int(wait_one(cqs[0], &in[8]), 0,
	       "only a receive that asks for it is reported");
	is_int(wait_one(a.cq, &to[0]), 0, "... and it is sent");
	ok(!memcmp(in, out, 8), "... but the other one, too, is done");
	close_all();
}

static void test_refused(void)
{
	struct iovec iov = { in, 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
	};
	struct fi_msg_tagged t = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
	};
	struct fid_ep *ep;

	open_all(0);
	is_int((int)fi_recv(eps[0], in, 8, NULL, FI_ADDR_UNSPEC, in),
	       -FI_EOPNOTSUPP, "an endpoint with a context has no receives");
	is_int((int)fi_send(srx, in, 8, NULL, to[0], in), -FI_EOPNOTSUPP,
	       "... and a context sends nothing");
	is_int((int)fi_inject(srx, in, 8, to[0]), -FI_EOPNOTSUPP,
	       "... by no call");
	is_int((int)fi_recvmsg(srx, &m, FI_TRIGGER), -FI_EOPNOTSUPP,
	       "... and has no triggers");
	is_int((int)fi_trecvmsg(srx, &t, FI_PEEK), -FI_EOPNOTSUPP,
	       "... and cannot be searched");
	is_int(fi_ep_bind(b.ep, &srx->fid, 0), -FI_EINVAL,
	       "an endpoint that is enabled gets no context");
	post(in, 8);
	is_int(fi_cancel(&srx->fid, in), 0, "a receive is canceled");
	is_int(fi_cancel(&srx->fid, in), -FI_ENOENT, "... once");
	is_int(fi_cancel(&eps[0]->fid, in), -FI_ENOENT,
	       "... and not by an endpoint");
	must(fi_endpoint(a.domain, a.info, &ep, NULL), "fi_endpoint");
	is_int(fi_ep_bind(ep, &srx->fid, 0), -FI_EINVAL,
	       "contexts of other domains are refused");
	is_int(fi_ep_bind(ep, &stx->fid, 0), -FI_EINVAL, "... of either kind");
	must(fi_close(&ep->fid), "fi_close ep");
	post(in, 8);
	close_all();
}

/* The messages of an endpoint end with it, and those of the other remain. */
static void test_close(void)
{
	open_all(0);
	send_to(0, 8);
	is_int(wait_one(a.cq, &to[0]), 0, "a message arrives at an endpoint");
	send_to(1, 8);
	is_int(wait_one(a.cq, &to[1]), 0, "... and one at another");
	send_to(0, LONG_SIZE);
	close_shared(0);
	is_int(wait_one(a.cq, &to[0]), FI_ESHUTDOWN,
	       "... and a long one, whose endpoint is closed");
	post(&in[0], 8);
	is_int(wait_one(cqs[1], &in[0]), 0,
	       "the next receive is for the endpoint that remains");
	post(&in[8], 8);
	send_to(1, 8);
	is_int(wait_one(cqs[1], &in[8]), 0, "... as are others");
	is_int(wait_one(a.cq, &to[1]), 0, "... which are sent");
	close_all();
}

static void test_removed(void)
{
	struct fi_cq_tagged_entry e;

	open_all(0);
	post(&in[0], 8);
	fake_device_remove(true);
	for (int i = 0; i < 2; i++)
		is_int((int)fi_cq_sread(cqs[i], &e, 1, NULL, TIMEOUT_MS),
		       -FI_ENODEV,
		       "a removed device ends no receive of a context");
	is_int((int)fi_recv(srx, &in[8], 8, NULL, FI_ADDR_UNSPEC, &in[8]),
	       -FI_ENODEV, "... but no further one is posted");
	is_int(fi_cancel(&srx->fid, &in[0]), 0, "... and that can be canceled");
	close_all();
	fake_device.removed = false;
}

static void test_info(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->fabric_attr->prov_name = strdup("mxe");
	hints->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
	     "fi_getinfo");
	ok(info->ep_attr->tx_ctx_cnt == FI_SHARED_CONTEXT &&
	   info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT,
	   "shared contexts are offered");
	ok(info->domain_attr->max_ep_stx_ctx &&
	   info->domain_attr->max_ep_srx_ctx, "... and the domain has them");
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

int main(void)
{
	plan(0);
	for (int dc = 0; dc < 2; dc++) {
		fake_device_use_dc(dc);
		test_messages();
		test_multi();
		test_selective();
		test_refused();
		test_close();
		test_removed();
		test_info();
	}
	return done_testing();
}
