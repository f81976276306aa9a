// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: tagged messages and the ways to find them,
 * directed receives, receives of several messages, and atomics to tagged
 * receive buffers. This process has an endpoint on each of the hosts of
 * tools/two-hosts.
 *
 * t_fi.sh runs it.
 */
#include "random.h"
#include "fi_end.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_ATOMIC)
#define LONG_SIZE 100000	/* bytes: read by the receiver */
#define SHORT_SIZE 600

static struct end a, b;		/* a sends to b */
static struct fid_ep *other;	/* of host h1, sends to b, too */
static fi_addr_t to_b, other_to_b, from_a, from_other;
static uint8_t out[LONG_SIZE], in[LONG_SIZE];

/* Waits for an event of b. Returns its error or 0, and the event. */
static int receive(struct fi_cq_tagged_entry *entry)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_sread(b.cq, entry, 1, NULL, TIMEOUT_MS);

	if (ret == 1)
		return 0;
	if (ret != -FI_EAVAIL)
		return (int)-ret;
	fi_cq_readerr(b.cq, &err, 0);
	*entry = (struct fi_cq_tagged_entry){
		.op_context = err.op_context, .flags = err.flags,
		.len = err.len, .tag = err.tag,
	};
	return err.err;
}

static void tsend(const void *buf, size_t len, uint64_t tag)
{
	must(fi_tsend(a.ep, buf, len, NULL, to_b, tag, &a), "fi_tsend");
}

/*
 * Sends short messages. They have arrived when the last one is acknowledged.
 */
static void tsend_wait(const void *buf, size_t len, uint64_t tag)
{
	tsend(buf, len, tag);
	must(-wait_one(a.cq, &a), "wait for fi_tsend");
}

static void test_tags(void)
{
	struct fi_cq_tagged_entry e[3];
	char bufs[3][16] = { "" };

	must(fi_trecv(b.ep, bufs[0], 16, NULL, FI_ADDR_UNSPEC, 7, 0, bufs[0]),
	     "fi_trecv");
	must(fi_trecv(b.ep, bufs[1], 16, NULL, FI_ADDR_UNSPEC, 0x120, 0xf,
		      bufs[1]), "fi_trecv");
	must(fi_recv(b.ep, bufs[2], 16, NULL, FI_ADDR_UNSPEC, bufs[2]),
	     "fi_recv");
	tsend_wait("mask", 5, 0x12c);
	is_int(receive(&e[0]), 0, "a receive with an ignore mask gets a message");
	ok(e[0].op_context == bufs[1] && e[0].tag == 0x12c && e[0].len == 5 &&
	   e[0].flags == (FI_TAGGED | FI_RECV) && !strcmp(bufs[1], "mask"),
	   "... with its tag, length, flags and data");
	must(fi_inject(a.ep, "plain", 6, to_b), "fi_inject");
	is_int(receive(&e[1]), 0, "a message without a tag arrives");
	ok(e[1].op_context == bufs[2] && e[1].flags == (FI_MSG | FI_RECV) &&
	   !strcmp(bufs[2], "plain"), "... at the receive without a tag");
	must(fi_tinjectdata(a.ep, "seven", 6, 0xabcdef, to_b, 7),
	     "fi_tinjectdata");
	is_int(receive(&e[2]), 0, "fi_tinjectdata() arrives");
	ok(e[2].op_context == bufs[0] && e[2].data == 0xabcdef &&
	   e[2].flags == (FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA) &&
	   !strcmp(bufs[0], "seven"), "... with its CQ data");
}

/* Messages that wait for a receive, short and long ones in turn. */
static void test_unexpected(void)
{
	struct fi_cq_tagged_entry e;
	int good = 0, order = 0;

	for (uint64_t i = 0; i < 6; i++)
		tsend(out + i, i % 2 ? LONG_SIZE / 2 : 50, 100 + i / 3);
	for (int i = 0; i < 6; i++) {
		/* Tags 101 first, then 100, each in the order of sending. */
		size_t sent = (size_t)(i + 3) % 6;
		size_t len = sent % 2 ? LONG_SIZE / 2 : 50;

		memset(in, 0, LONG_SIZE);
		must(fi_trecv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC,
			      100 + sent / 3, 0, in), "fi_trecv");
		good += !receive(&e) && e.op_context == in;
		order += e.len == len && !memcmp(in, out + sent, len);
	}
	is_int(good, 6, "short and long messages wait for receives");
	is_int(order, 6, "... and are matched in order");
	good = 0;
	for (int i = 0; i < 6; i++)
		good += !wait_one(a.cq, &a);
	is_int(good, 6, "... and their sends complete");
}

static void test_truncated(size_t len)
{
	struct fi_cq_tagged_entry e;

	must(fi_trecv(b.ep, in, 10, NULL, FI_ADDR_UNSPEC, 1, 0, in),
	     "fi_trecv");
	tsend(out, len, 1);
	is_int(receive(&e), FI_ETRUNC, "a buffer of 10 bytes for %zu", len);
	ok(e.len == 10 && !memcmp(in, out, 10), "... gets 10 bytes");
	is_int(wait_one(a.cq, &a), 0, "... and the send completes");
}

static int search(uint64_t tag, uint64_t flags, void *context)
{
	struct iovec iov = { in, LONG_SIZE };
	struct fi_msg_tagged m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.tag = tag, .context = context,
	};

	return (int)fi_trecvmsg(b.ep, &m, flags);
}

static void test_peek(void)
{
	struct fi_cq_tagged_entry e;
	struct fi_context c1, c2;

	tsend_wait("one", 4, 1);
	tsend(out, LONG_SIZE, 2);
	tsend_wait("three", 6, 3);
	must(search(9, FI_PEEK, &c1), "peek");
	is_int(receive(&e), FI_ENOMSG, "a peek at a tag without a message");
	ok(e.op_context == &c1 && e.tag == 9, "... reports context and tag");
	must(search(2, FI_PEEK, &c1), "peek");
	is_int(receive(&e), 0, "a peek at a long message");
	ok(e.op_context == &c1 && e.tag == 2 && e.len == LONG_SIZE,
	   "... reports its length");
	must(search(2, FI_PEEK | FI_CLAIM, &c2), "claim");
	is_int(receive(&e), 0, "a claim");
	must(search(2, FI_PEEK, &c1), "peek");
	is_int(receive(&e), FI_ENOMSG, "... hides the message from peeks");
	must(search(1, FI_PEEK | FI_DISCARD, &c1), "discard");
	is_int(receive(&e), 0, "a discard");
	must(search(1, FI_PEEK, &c1), "peek");
	is_int(receive(&e), FI_ENOMSG, "... frees the message");
	is_int(search(0, FI_CLAIM, &c1), -FI_EINVAL,
	       "a context that has claimed nothing is refused");
	must(search(0, FI_CLAIM, &c2), "receive the claimed message");
	is_int(receive(&e), 0, "the claimed message is received");
	ok(e.op_context == &c2 && e.tag == 2 && e.len == LONG_SIZE &&
	   !memcmp(in, out, LONG_SIZE), "... with its data");
	is_int(wait_one(a.cq, &a), 0, "... and its send completes");
	must(search(3, FI_PEEK | FI_CLAIM, &c2), "claim");
	must(-receive(&e), "claim");
	must(search(3, FI_CLAIM | FI_DISCARD, &c2), "discard");
	is_int(receive(&e), 0, "a claimed message is discarded");
	is_int(search(3, FI_DISCARD, &c2), -FI_EINVAL,
	       "FI_DISCARD alone is refused");
}

static void test_cancel(void)
{
	struct fi_cq_tagged_entry e;
	char buf[8];

	must(fi_trecv(b.ep, buf, 8, NULL, FI_ADDR_UNSPEC, 5, 0, buf),
	     "fi_trecv");
	is_int((int)fi_cancel(&b.ep->fid, in), -FI_ENOENT,
	       "fi_cancel() of another context");
	is_int((int)fi_cancel(&b.ep->fid, buf), 0, "fi_cancel()");
	is_int(receive(&e), FI_ECANCELED, "... ends the receive");
	ok(e.op_context == buf, "... with its context");
	tsend_wait("x", 2, 5);
	must(search(5, FI_PEEK | FI_DISCARD, &e), "discard");
	is_int(receive(&e), 0, "... which gets no message any more");
}

static void test_directed(void)
{
	struct fi_cq_tagged_entry e;
	char bufs[2][8] = { "" };

	must(fi_trecv(b.ep, bufs[0], 8, NULL, from_other, 1, 0, bufs[0]),
	     "fi_trecv");
	must(fi_trecv(b.ep, bufs[1], 8, NULL, from_a, 1, 0, bufs[1]),
	     "fi_trecv");
	tsend_wait("a", 2, 1);
	is_int(receive(&e), 0, "a directed receive");
	ok(e.op_context == bufs[1] && !strcmp(bufs[1], "a"),
	   "... gets the message of its peer");
	must(fi_tinject(other, "other", 6, other_to_b, 1), "fi_tinject");
	is_int(receive(&e), 0, "the directed receive of another peer");
	ok(e.op_context == bufs[0] && !strcmp(bufs[0], "other"),
	   "... gets the message of that one");
}

static void post_multi(void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = buf,
	};

	must(fi_recvmsg(b.ep, &m, FI_MULTI_RECV), "fi_recvmsg");
}

static void send(const void *buf, size_t len)
{
	must(fi_send(a.ep, buf, len, NULL, to_b, &a), "fi_send");
}

static void test_multi_recv(void)
{
	struct fi_cq_tagged_entry e;
	size_t min = SHORT_SIZE, at = 0;
	int good = 0;

	is_int(fi_setopt(&b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			 &min, sizeof(min)), 0, "FI_OPT_MIN_MULTI_RECV is set");
	memset(in, 0, LONG_SIZE);
	/* One message before the receive, one long one, two after it. */
	send(out, SHORT_SIZE);
	must(-wait_one(a.cq, &a), "wait");
	post_multi(in, LONG_SIZE);
	send(out, SHORT_SIZE);
	send(out, LONG_SIZE - 3 * SHORT_SIZE - 1);
	send(out, SHORT_SIZE + 1);
	for (int i = 0; i < 4; i++) {
		if (receive(&e) || e.op_context != in)
			break;
		good += !memcmp(e.buf, out, e.len) &&
			(uint8_t *)e.buf >= in &&
			(uint8_t *)e.buf + e.len <= in + LONG_SIZE;
		at += e.len;
		if (e.flags & FI_MULTI_RECV)
			break;
	}
	is_int(good, 4, "one buffer receives four messages");
	is_u64(at, LONG_SIZE, "... and they fill it");
	ok(e.flags & FI_MULTI_RECV, "... and the last one frees it");
	for (int i = 0; i < 3; i++)
		must(-wait_one(a.cq, &a), "wait");
	post_multi(in, LONG_SIZE);
	send(out, 9);
	is_int(receive(&e), 0, "a message in the next buffer");
	ok(!(e.flags & FI_MULTI_RECV), "... does not free it");
	must(-wait_one(a.cq, &a), "wait");
	is_int((int)fi_cancel(&b.ep->fid, in), 0, "the buffer is canceled");
	is_int(receive(&e), FI_ECANCELED, "... with an event");
	ok(e.flags & FI_MULTI_RECV, "... that frees it");
}

static bool is_mxe(const struct end *e)
{
	return !strncmp(e->info->domain_attr->name, "mxe", 3);
}

/* Atomics of rxe are not atomic with respect to the CPU, so it refuses. */
static void test_tagged_atomics(void)
{
	uint64_t words[4] = { 10, 20, 30, 40 }, add = 5, old = 0;
	struct fi_ioc src = { &add, 1 }, result = { &old, 1 };
	struct fi_rma_ioc target = { .addr = 16, .count = 1, .key = 77 };
	struct fi_msg_atomic m = {
		.msg_iov = &src, .iov_count = 1, .addr = to_b,
		.rma_iov = &target, .rma_iov_count = 1, .datatype = FI_UINT64,
		.op = FI_SUM, .context = &add,
	};
	const uint64_t form = FI_TAGGED | FI_FETCH_ATOMIC;
	struct fi_atomic_attr attr = { 0 };
	struct fi_cq_tagged_entry e;
	int ret = fi_query_atomic(a.domain, FI_UINT64, FI_SUM, &attr, form);

	is_int(ret, is_mxe(&a) ? 0 : -FI_EOPNOTSUPP,
	       "fi_query_atomic() knows if the device has tagged atomics");
	ret = (int)fi_fetch_atomicmsg(a.ep, &m, &result, NULL, 1, FI_TAGGED);
	is_int(ret, is_mxe(&a) ? 0 : -FI_EOPNOTSUPP, "... and so does the call");
	if (ret)
		return;
	if (!is_mxe(&b)) {
		is_int(wait_one(a.cq, &add), FI_EOPNOTSUPP,
		       "... and the target");
		return;
	}
	/* It has arrived when a message behind it has. */
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, &a), "fi_send");
	must(-wait_one(a.cq, &a), "wait for fi_send");
	must(-wait_one(b.cq, in), "wait for fi_recv");
	is_u64(words[2], 30, "a tagged atomic waits for its receive");
	must(fi_trecv(b.ep, words, sizeof(words), NULL, FI_ADDR_UNSPEC, 77, 0,
		      words), "fi_trecv");
	is_int(receive(&e), 0, "... which completes");
	ok(e.op_context == words && e.tag == 77 && e.len == 8 &&
	   e.flags == (FI_TAGGED | FI_RECV | FI_ATOMIC),
	   "... with the tag, the length and FI_ATOMIC");
	is_int(wait_one(a.cq, &add), 0, "... as the atomic does");
	ok(words[1] == 20 && words[2] == 35 && words[3] == 40 && old == 30,
	   "... after it has changed the word at the offset");
}

int main(void)
{
	uint64_t seed = 5;

	plan(0);
	random_fill(&seed, out, sizeof(out));
	enter("h2");
	open_end(&b, CAPS);
	enter("h1");
	open_end(&a, CAPS);
	other = open_ep(&a, a.cq);
	to_b = insert(&a, b.ep);
	other_to_b = to_b;
	from_a = insert(&b, a.ep);
	from_other = insert(&b, other);

	test_tags();
	test_unexpected();
	test_truncated(50);
	test_truncated(LONG_SIZE);
	test_peek();
	test_cancel();
	test_directed();
	test_multi_recv();
	test_tagged_atomics();
	is_int(fi_close(&other->fid), 0, "fi_close()");
	is_int(close_end(&a), 0, "all objects of a host are closed");
	is_int(close_end(&b), 0, "... and of the other one");
	return done_testing();
}
