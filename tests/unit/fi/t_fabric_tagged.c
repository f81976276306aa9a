// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process: atomics whose
 * target is a tagged receive buffer.
 */
#define TIMEOUT_MS 10000
#include <rdma/fi_trigger.h>
#include "conn.h"
#include "domain.h"
#include "ep.h"
#include "fake_device.h"
#include "fi_end.h"
#include "progress.h"
#include "random.h"
#include "wire.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER)
#define WORDS 8

static struct end a, b;
static fi_addr_t to_b;
static uint64_t buf[WORDS];
static int posted;	/* its address is the context of receives */

static void open_pair(uint64_t caps_a, uint64_t caps_b)
{
	fake_device.is_glob = true;
	open_end(&a, caps_a);
	open_end(&b, caps_b);
	to_b = insert(&a, b.ep);
	for (uint64_t i = 0; i < WORDS; i++)
		buf[i] = 100 + i;
}

static void close_pair(void)
{
	is_int(close_end(&a), 0, "... an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

/* An atomic and its memory, whose address is its context. */
struct atomic {
	uint64_t src[WORDS], cmp[WORDS], result[WORDS];
	enum fi_op op;
	enum fi_datatype type;
	int form;		/* 0: base, 1: fetch, 2: compare */
	size_t count;
	uint64_t offset, tag;
	uint64_t flags;
	size_t num_targets;
	void *context;
};

/* A SUM of 5. */
static struct atomic sum(uint64_t offset, uint64_t tag)
{
	return (struct atomic){
		.src = { 5 }, .op = FI_SUM, .type = FI_UINT64, .count = 1,
		.offset = offset, .tag = tag, .flags = FI_TAGGED,
		.num_targets = 1,
	};
}

/* Registers a word. Returns a SUM of 5 to it that needs no receive. */
static struct atomic untagged_sum(uint64_t *word, struct fid_mr **mr)
{
	struct atomic t = sum((uintptr_t)word, 0);

	must(fi_mr_reg(b.domain, word, 8, FI_REMOTE_WRITE, 0, 0, 0, mr, NULL),
	     "fi_mr_reg");
	t.tag = fi_mr_key(*mr);
	t.flags = 0;
	return t;
}

static ssize_t start(struct atomic *t)
{
	struct fi_ioc src = { t->src, t->count }, cmp = { t->cmp, t->count };
	struct fi_ioc result = { t->result, t->count };
	struct fi_rma_ioc target[2] = {
		{ t->offset, t->count, t->tag }, { t->offset, t->count, t->tag },
	};
	struct fi_msg_atomic m = {
		.msg_iov = &src, .iov_count = 1, .addr = to_b,
		.rma_iov = target, .rma_iov_count = t->num_targets,
		.datatype = t->type, .op = t->op,
		.context = t->context ? t->context : t,
	};

	if (t->form == 0)
		return fi_atomicmsg(a.ep, &m, t->flags);
	if (t->form == 1)
		return fi_fetch_atomicmsg(a.ep, &m, &result, NULL, 1, t->flags);
	return fi_compare_atomicmsg(a.ep, &m, &cmp, NULL, 1, &result, NULL, 1,
				    t->flags);
}

static void post(uint64_t tag)
{
	must(fi_trecv(b.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, tag, 0,
		      &posted), "fi_trecv");
}

static int has_none(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e;

	return fi_cq_read(cq, &e, 1) == -FI_EAGAIN;
}

/* True if nothing completes within 100 ms. */
static bool is_quiet(void)
{
	for (int i = 0; i < 50; i++) {
		if (!has_none(a.cq) || !has_none(b.cq))
			return false;
		usleep(2000);
	}
	return true;
}

/* ---- queries ------------------------------------------------------------ */

static int query(enum fi_datatype type, enum fi_op op, uint64_t flags)
{
	struct fi_atomic_attr attr = { 0 };
	int ret = fi_query_atomic(b.domain, type, op, &attr, flags);

	return ret ? ret : attr.count == 64 && attr.size ? 0 : -FI_EOTHER;
}

static void test_query(void)
{
	struct atomic t = sum(0, 1);
	const uint64_t both = FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC;

	open_pair(CAPS, CAPS);
	is_int(query(FI_UINT64, FI_SUM, FI_TAGGED), 0, "the base form is supported");
	is_int(query(FI_INT8, FI_ATOMIC_READ, FI_TAGGED | FI_FETCH_ATOMIC), 0,
	       "... and the fetch form");
	is_int(query(FI_FLOAT_COMPLEX, FI_CSWAP, FI_TAGGED | FI_COMPARE_ATOMIC),
	       0, "... and the compare form");
	is_int(query(FI_UINT64, FI_CSWAP, FI_TAGGED), -FI_EOPNOTSUPP,
	       "FI_CSWAP has no base form");
	is_int(query(FI_LONG_DOUBLE, FI_SUM, FI_TAGGED), -FI_EOPNOTSUPP,
	       "elements of 16 bytes are not supported");
	is_int(query(FI_UINT64, FI_SUM, FI_TAGGED | both), -FI_EINVAL,
	       "a query has one form");
	close_pair();
	fake_device.is_glob = false;
	open_end(&a, CAPS);
	open_end(&b, CAPS);
	to_b = insert(&a, b.ep);
	is_int(query(FI_UINT64, FI_SUM, 0), 0, "a device that the CPU disturbs");
	is_int(query(FI_UINT64, FI_SUM, FI_TAGGED), -FI_EOPNOTSUPP,
	       "... has atomics, but no tagged ones");
	is_int((int)start(&t), -FI_EOPNOTSUPP, "... and refuses them");
	close_pair();
	open_pair(FI_RMA | FI_ATOMIC, CAPS);
	is_int((int)start(&t), -FI_EOPNOTSUPP, "they need FI_TAGGED");
	close_pair();
}

/* ---- single operations -------------------------------------------------- */

static void test_events(void)
{
	struct atomic t = sum(16, 7);
	struct fi_cq_tagged_entry e;

	open_pair(CAPS, CAPS);
	post(7);
	must(start(&t), "start");
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1,
	       "an atomic takes a receive");
	ok(e.op_context == &posted && e.buf == buf && e.len == 8 && e.tag == 7,
	   "... whose event has the buffer, the length and the tag");
	ok(e.flags == (FI_TAGGED | FI_RECV | FI_ATOMIC), "... and FI_ATOMIC");
	ok(buf[2] == 107 && buf[1] == 101 && buf[3] == 103,
	   "... and changes the word at the offset alone");
	is_int((int)fi_cq_sread(a.cq, &e, 1, NULL, TIMEOUT_MS), 1,
	       "the initiator has an event");
	ok(e.op_context == &t && e.flags == (FI_TAGGED | FI_ATOMIC | FI_WRITE),
	   "... with its flags");
	is_u64(fi_cntr_read(a.cntr), 1, "... and counts a write");

	must(start(&t), "start");
	ok(is_quiet() && buf[2] == 107, "a second one waits for a receive");
	post(6);
	ok(is_quiet(), "... of its tag");
	post(7);
	is_int(wait_one(b.cq, &posted), 0, "... which it takes");
	is_int(wait_one(a.cq, &t), 0, "... and completes");
	is_u64(buf[2], 112, "... with the result");
	is_int((int)fi_cancel(&b.ep->fid, &posted), 0, "the other is canceled");
	is_int(wait_one(b.cq, &posted), FI_ECANCELED, "... with an event");
	close_pair();
}

static void test_forms(void)
{
	struct atomic fetch = sum(8, 1), read = sum(0, 1), swap = sum(24, 1);
	struct atomic inject = sum(0, 1);
	struct iovec iov[2] = { { buf, 16 }, { &buf[4], 16 } };

	open_pair(CAPS, CAPS);
	fetch.form = 1;
	post(1);
	must(start(&fetch), "start");
	is_int(wait_one(a.cq, &fetch), 0, "a fetching atomic completes");
	ok(fetch.result[0] == 101 && buf[1] == 106, "... with the old value");
	is_int(wait_one(b.cq, &posted), 0, "... at the target, too");

	read.form = 1;
	read.op = FI_ATOMIC_READ;
	read.count = WORDS;
	post(1);
	must(start(&read), "start");
	is_int(wait_one(a.cq, &read), 0, "FI_ATOMIC_READ completes");
	ok(!memcmp(read.result, buf, sizeof(buf)), "... with the buffer");
	is_int(wait_one(b.cq, &posted), 0, "... at the target, too");

	swap.form = 2;
	swap.op = FI_CSWAP;
	swap.cmp[0] = 103;
	post(1);
	must(start(&swap), "start");
	is_int(wait_one(a.cq, &swap), 0, "FI_CSWAP completes");
	ok(swap.result[0] == 103 && buf[3] == 5, "... and swaps");
	is_int(wait_one(b.cq, &posted), 0, "... at the target, too");

	must(fi_trecvv(b.ep, iov, NULL, 2, FI_ADDR_UNSPEC, 1, 0, &posted),
	     "fi_trecvv");
	inject.offset = 8;
	inject.count = 2;
	inject.src[1] = 7;
	inject.flags |= FI_INJECT | FI_MORE;
	must(start(&inject), "start");
	inject.src[0] = 0;
	inject.src[1] = 0;
	is_int(wait_one(b.cq, &posted), 0, "FI_INJECT, and a buffer in pieces");
	is_int(wait_one(a.cq, &inject), 0, "... complete");
	ok(buf[1] == 111 && buf[4] == 111 && buf[2] == 102,
	   "... with an element in each piece");
	close_pair();
}

/* ---- errors ------------------------------------------------------------- */

static void fail_at_target(struct atomic t, const char *what)
{
	struct fi_cq_err_entry e = { 0 };
	struct fi_cq_tagged_entry entry;
	uint64_t before[WORDS];

	memcpy(before, buf, sizeof(buf));
	post(t.tag);
	must(start(&t), "start");
	is_int(wait_one(a.cq, &t), FI_EINVAL, "%s fails", what);
	is_int((int)fi_cq_sread(b.cq, &entry, 1, NULL, TIMEOUT_MS), -FI_EAVAIL,
	       "... at the target, too");
	fi_cq_readerr(b.cq, &e, 0);
	ok(e.err == FI_EINVAL && e.op_context == &posted && !e.len,
	   "... with an event of no bytes");
	ok(!memcmp(before, buf, sizeof(buf)), "... and changes nothing");
}

static void test_errors(void)
{
	struct atomic t = sum(0, 1), two = sum(0, 1), discarded = sum(0, 9);
	struct fi_msg_tagged peek = { .tag = 9, .context = &posted,
				      .addr = FI_ADDR_UNSPEC };
	struct fi_cq_tagged_entry e;

	open_pair(CAPS, CAPS);
	fail_at_target(sum(sizeof(buf), 1), "an offset beyond the buffer");
	fail_at_target(sum(sizeof(buf) - 4, 1), "a part of an element");
	fail_at_target(sum(4, 1), "an element that is not aligned");
	fail_at_target(sum(UINT64_MAX - 7, 1), "the largest offset");
	t.count = 2;
	t.offset = UINT64_MAX - 7;
	fail_at_target(t, "an element at the largest offset, and one at 0");
	t.offset = sizeof(buf) - 8;
	fail_at_target(t, "a second element beyond the buffer");
	two.num_targets = 2;
	is_int((int)start(&two), -FI_EINVAL, "two targets are refused");
	two = sum(0, 1);
	two.op = FI_ATOMIC_READ;
	is_int((int)start(&two), -FI_EOPNOTSUPP, "FI_ATOMIC_READ has no base form");

	/* The same connection. */
	must(start(&discarded), "start");
	ok(is_quiet(), "an atomic waits for its receive");
	must(fi_trecvmsg(b.ep, &peek, FI_PEEK), "peek");
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1,
	       "... FI_PEEK finds it");
	ok(e.flags == (FI_TAGGED | FI_RECV | FI_ATOMIC) && e.len == 8,
	   "... and says what it is");
	must(fi_trecvmsg(b.ep, &peek, FI_PEEK | FI_DISCARD), "discard");
	is_int(wait_one(b.cq, &posted), 0, "... FI_DISCARD drops it");
	is_int(wait_one(a.cq, &discarded), FI_ECANCELED, "... with an error");
	close_pair();
}

/* The target's program has not asked for the atomics of peers. */
static void test_rights(void)
{
	struct atomic t = sum(0, 1);

	open_pair(CAPS, FI_MSG | FI_TAGGED);
	post(1);
	must(start(&t), "start");
	is_int(wait_one(a.cq, &t), FI_EACCES, "a target without FI_ATOMIC refuses");
	t.form = 1;
	must(start(&t), "start");
	is_int(wait_one(a.cq, &t), FI_EACCES, "... the fetch form, too");
	ok(buf[0] == 100 && has_none(b.cq), "... and keeps its receive");
	must(fi_tsend(a.ep, t.src, 8, NULL, to_b, 1, &t), "fi_tsend");
	is_int(wait_one(b.cq, &posted), 0, "... for a message");
	is_int(wait_one(a.cq, &t), 0, "... of the same connection");
	close_pair();
}

/* ---- forged messages ---------------------------------------------------- */

static void forge_form(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	if (msg->type == MXEFI_MSG_ATOMIC)
		msg->atomic.form = 3;
}

static void forge_op(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	if (msg->type == MXEFI_MSG_ATOMIC)
		msg->atomic.op = 255;
}

static void forge_datatype(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	if (msg->type == MXEFI_MSG_ATOMIC)
		msg->atomic.datatype = 255;
}

/* Claims a length, and has operands of another. */
static void forge_len(void *message, uint32_t *len, uint32_t claims, uint32_t has)
{
	struct mxefi_msg *msg = message;

	if (msg->type != MXEFI_MSG_ATOMIC)
		return;
	msg->len = claims;
	*len = (uint32_t)sizeof(*msg) + has;
}

static void forge_short(void *message, uint32_t *len)
{
	forge_len(message, len, 16, 8);
}

static void forge_long(void *message, uint32_t *len)
{
	forge_len(message, len, 65 * 8, 65 * 8);
}

/* More elements than an atomic may have, in no more bytes. */
static void forge_many(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	if (msg->type != MXEFI_MSG_ATOMIC)
		return;
	msg->atomic.datatype = FI_UINT8;
	forge_len(message, len, 64 * 8, 64 * 8);
}

static void forge_part(void *message, uint32_t *len)
{
	forge_len(message, len, 4, 4);
}

static void forge_empty(void *message, uint32_t *len)
{
	forge_len(message, len, 0, 0);
}

static void forge_no_fin(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	if (msg->type == MXEFI_MSG_ATOMIC)
		msg->flags &= (typeof(msg->flags))~MXEFI_MSG_WANT_FIN;
}

static void forge_untagged(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	if (msg->type != MXEFI_MSG_ATOMIC)
		return;
	msg->flags &= (typeof(msg->flags))~MXEFI_MSG_TAGGED;
	msg->tag = 0;	/* as in messages without one */
}

/* The results of an atomic, without their last byte. */
static void forge_results(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	if (msg->type == MXEFI_MSG_FIN && *len > sizeof(*msg))
		(*len)--;
}

/* A target refuses what a correct initiator does not send. */
static void test_forged(void)
{
	static const struct {
		void (*forge)(void *message, uint32_t *len);
		int err;
		const char *name;
	} refused[] = {
		{ forge_form, FI_EINVAL, "a form that does not exist" },
		{ forge_op, FI_EOPNOTSUPP, "an operation that does not exist" },
		{ forge_datatype, FI_EOPNOTSUPP, "a datatype that does not exist" },
		{ forge_short, FI_EINVAL, "fewer operands than the length" },
		{ forge_long, FI_EINVAL, "65 elements" },
		{ forge_many, FI_EINVAL, "512 elements of a byte" },
		{ forge_part, FI_EINVAL, "a part of an element" },
		{ forge_empty, FI_EINVAL, "no element" },
	};
	struct atomic t = sum(0, 1);
	uint64_t before[WORDS];

	open_pair(CAPS, CAPS);
	t.form = 1;
	memcpy(before, buf, sizeof(buf));
	post(1);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		fake_device_set(forge_send, refused[i].forge);
		must(start(&t), "start");
		is_int(wait_one(a.cq, &t), refused[i].err, "%s: refused",
		       refused[i].name);
		ok(!memcmp(before, buf, sizeof(buf)) && has_none(b.cq),
		   "... and nothing changes");
	}
	fake_device_set(forge_send, forge_results);
	must(start(&t), "start");
	is_int(wait_one(a.cq, &t), FI_EREMOTEIO, "a part of the results fails");
	is_u64(t.result[0], 0, "... and stores none");
	is_int(wait_one(b.cq, &posted), 0, "... after the execution");

	post(1);
	must(fi_recv(b.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf), "fi_recv");
	fake_device_set(forge_send, forge_no_fin);
	must(start(&t), "start");
	fake_device_set(forge_send, forge_untagged);
	must(start(&t), "start");
	ok(is_quiet() && buf[0] == before[0] + 5,
	   "without the flags, an atomic is ignored");
	fake_device_set(forge_send, NULL);
	close_pair();
}

/* ---- order and loss ----------------------------------------------------- */

static void test_fence(void)
{
	struct atomic t = sum(0, 1), later;
	static uint64_t word;
	struct fid_mr *mr;

	open_pair(CAPS, CAPS);
	later = untagged_sum(&word, &mr);
	must(start(&t), "start");
	must(start(&later), "start");
	is_int(wait_one(a.cq, &later), 0, "an atomic that waits holds up nothing");
	later.flags = FI_FENCE;
	must(start(&later), "start");
	ok(is_quiet(), "... but a fence");
	post(1);
	is_int(wait_one(a.cq, &t), 0, "... until it is executed");
	is_int(wait_one(a.cq, &later), 0, "... and then the fence is");
	is_int(wait_one(b.cq, &posted), 0, "... both complete");
	is_u64(__atomic_load_n(&word, __ATOMIC_SEQ_CST), 10, "... once");
	word = 0;
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
}

static void test_trigger(void)
{
	struct fi_triggered_context context = {
		.event_type = FI_TRIGGER_THRESHOLD,
		.trigger.threshold.threshold = 2,
	};
	struct atomic t = sum(0, 1);
	struct fid_cntr *cntr;

	open_pair(CAPS, CAPS);
	cntr = open_cntr(a.domain);
	context.trigger.threshold.cntr = cntr;
	t.flags |= FI_TRIGGER;
	t.context = &context;
	post(1);
	must(start(&t), "start");
	ok(is_quiet() && buf[0] == 100, "an atomic waits for a counter");
	must(fi_cntr_add(cntr, 2), "fi_cntr_add");
	is_int(wait_one(a.cq, &context), 0, "... and is executed");
	is_int(wait_one(b.cq, &posted), 0, "... at the target");
	is_u64(buf[0], 105, "... on its buffer");
	must(fi_close(&cntr->fid), "fi_close cntr");
	close_pair();
}

/* An atomic whose initiator has reported an error is not executed. */
static void test_loss(void)
{
	struct atomic t = sum(0, 1), kept = sum(0, 2);

	open_pair(CAPS, CAPS);
	must(start(&t), "start");
	ok(is_quiet(), "an atomic waits for its receive");
	is_int(close_end(&a), 0, "... and its initiator is closed");
	open_end(&a, CAPS);
	to_b = insert(&a, b.ep);
	must(start(&kept), "start");
	ok(is_quiet(), "... another one has a connection");
	post(1);
	ok(is_quiet() && buf[0] == 100, "... and the first one is not executed");
	must(start(&t), "start");
	is_int(wait_one(b.cq, &posted), 0, "... but a later one is");
	is_int(wait_one(a.cq, &t), 0, "... and completes");
	is_u64(buf[0], 105, "... once");
	is_int(close_end(&b), 0, "the target is closed");
	is_int(wait_one(a.cq, &kept), FI_ESHUTDOWN, "... the last one fails");
	is_int(close_end(&a), 0, "... and its initiator is closed");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

static void break_conn(struct mxefi_ep *ep)
{
	pthread_mutex_lock(&ep->dom->lock);
	if (ep->conns)
		mxefi_conn_abort(ep->conns, FI_ECONNABORTED);
	pthread_mutex_unlock(&ep->dom->lock);
}

/* An atomic of a connection over DC that has broken at the target alone. */
static void test_stale(void)
{
	struct atomic t = sum(0, 1), tsend = sum(0, 1);

	open_pair(CAPS, CAPS);
	must(fi_tsend(a.ep, tsend.src, 8, NULL, to_b, 1, &tsend), "fi_tsend");
	post(1);
	must(-wait_one(b.cq, &posted), "the receive");
	must(-wait_one(a.cq, &tsend), "the send");
	buf[0] = 100;
	break_conn(to_ep(b.ep));
	/* Until it is idle. */
	usleep(200000);
	post(1);
	must(start(&t), "start");
	is_int(wait_one(a.cq, &t), FI_ECONNABORTED, "a stale atomic fails");
	ok(is_quiet() && buf[0] == 100, "... and is not executed");
	must(start(&t), "start");
	is_int(wait_one(b.cq, &posted), 0, "... but a later one is");
	is_int(wait_one(a.cq, &t), 0, "... and completes");
	is_u64(buf[0], 105, "... once");
	close_pair();
}

static void test_removal(void)
{
	struct atomic t = sum(0, 1);

	open_pair(CAPS, CAPS);
	must(start(&t), "start");
	ok(is_quiet(), "an atomic waits for its receive");
	fake_device_remove(true);
	is_int(wait_one(a.cq, &t), FI_ENODEV, "... and the device is removed");
	is_int(close_end(&a), 0, "... an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
	fake_device.removed = false;
}

/* Takes all requests of the target, by operations on a peer that is absent. */
static void take_requests(void)
{
	static uint64_t ones[64];
	uint8_t name[64];
	size_t len = sizeof(name);
	fi_addr_t nobody;

	/* The last bytes of an address are the id. */
	must(fi_getname(&a.ep->fid, name, &len), "fi_getname");
	name[len - 8] += 2;
	must(fi_av_insert(b.av, name, 1, &nobody, 0, NULL) - 1, "fi_av_insert");
	while (!fi_atomic(b.ep, ones, 64, NULL, nobody, 0, 0, FI_UINT64, FI_SUM,
			  ones))
		;
}

/*
 * When operations take all requests, more results than requests are reserved
 * wait, and the initiators get them.
 */
static void test_no_requests(void)
{
	static struct atomic ops[100];
	const int num = 100;
	int wrong = 0;

	open_pair(CAPS, CAPS);
	for (int i = 0; i < num; i++) {
		ops[i] = sum(0, 1);
		ops[i].form = 1;
		must(start(&ops[i]), "start");
	}
	ok(is_quiet(), "%d atomics wait", num);
	take_requests();
	for (int i = 0; i < num; i++)
		post(1);
	for (int i = 0; i < num; i++)
		wrong += wait_one(a.cq, &ops[i]) ||
			 ops[i].result[0] != 100 + 5 * (uint64_t)i;
	is_int(wrong, 0, "... and get their results");
	is_u64(buf[0], 100 + 5 * (uint64_t)num, "... once");
	close_pair();
}

/* A message for a context that does not exist, and that wants an answer. */
static void forge_context(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	if (msg->type != MXEFI_MSG_EAGER)
		return;
	msg->flags |= MXEFI_MSG_WANT_FIN;
	msg->rx_index = 999;
}

/* An endpoint drops messages for which it can have no receive. */
static void test_no_receive(void)
{
	uint64_t word = 7, received = 0;
	struct iovec iov = { &word, sizeof(word) };
	struct fi_msg_tagged m = {
		.msg_iov = &iov, .iov_count = 1, .tag = 1, .context = &word,
	};

	open_pair(CAPS, FI_MSG);
	m.addr = to_b;
	must(fi_tsendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_tsendmsg");
	is_int(wait_one(a.cq, &word), FI_EOPNOTSUPP,
	       "a tagged message for an endpoint without FI_TAGGED fails");
	must(fi_tsendmsg(a.ep, &m, 0), "fi_tsendmsg");
	is_int(wait_one(a.cq, &word), 0, "... or is lost");
	must(fi_send(a.ep, &word, 8, NULL, to_b, &word), "fi_send");
	is_int(wait_one(a.cq, &word), 0, "... and another message");
	must(fi_recv(b.ep, &received, 8, NULL, FI_ADDR_UNSPEC, &received),
	     "fi_recv");
	is_int(wait_one(b.cq, &received), 0, "... is received");
	is_u64(received, 7, "... with its data");
	close_pair();
}

/* A peer that never waits for answers cannot make them pile up. */
static void test_many_answers(void)
{
	uint64_t word = 0;
	int num = 0, err;

	open_pair(CAPS, CAPS);
	must(fi_send(a.ep, &word, 8, NULL, to_b, &word), "fi_send");
	is_int(wait_one(a.cq, &word), 0, "a peer is connected");
	take_requests();
	fake_device_set(stopped_send, MXEFI_MSG_FIN);
	fake_device_set(forge_send, forge_context);
	do {
		must(fi_send(a.ep, &word, 8, NULL, to_b, &word), "fi_send");
		num++;
		err = wait_one(a.cq, &word);
	} while (!err && num < 2000);
	ok(num > 512 && err == FI_ECONNABORTED,
	   "... and loses the connection after %d messages", num);
	fake_device_set(forge_send, NULL);
	fake_device_set(stopped_send, -1);
	is_int(close_end(&a), 0, "... an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
}

/* ---- atomicity ---------------------------------------------------------- */

#define ADDS 2000

static bool stop_adding;

/* Adds until it is told to stop. Returns how often. */
static void *add_by_cpu(void *arg)
{
	uint64_t *word = arg;
	uintptr_t num = 0;

	for (; !__atomic_load_n(&stop_adding, __ATOMIC_RELAXED); num++)
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	return (void *)num;
}

/* Takes an event of each that is there. Returns their number. */
static int drain(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e;
	int num = 0;
	ssize_t ret;

	while ((ret = fi_cq_read(cq, &e, 1)) == 1)
		num++;
	if (ret != -FI_EAGAIN)
		must(-FI_EOTHER, "an event");
	return num;
}

/* The CPU, the device and tagged atomics add to a word at the same time. */
static void test_atomicity(void)
{
	static uint64_t word;
	struct atomic tagged = sum(0, 1), direct;
	int started = 0, ended = 0, received = 0;
	struct fid_mr *mr;
	pthread_t thread;
	void *added;

	open_pair(CAPS, CAPS);
	direct = untagged_sum(&word, &mr);
	must(-pthread_create(&thread, NULL, add_by_cpu, &word), "pthread_create");
	/* Not before the thread runs. */
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		;
	while (started < ADDS) {
		must(fi_trecv(b.ep, &word, 8, NULL, FI_ADDR_UNSPEC, 1, 0,
			      &posted), "fi_trecv");
		while (start(&tagged))
			ended += drain(a.cq);
		while (start(&direct))
			ended += drain(a.cq);
		started++;
	}
	while (ended < 2 * ADDS || received < ADDS) {
		ended += drain(a.cq);
		received += drain(b.cq);
	}
	__atomic_store_n(&stop_adding, true, __ATOMIC_RELAXED);
	pthread_join(thread, &added);
	is_u64(word, (uintptr_t)added + 10 * ADDS, "no addition is lost");
	word = 0;
	stop_adding = false;
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
}

/* ---- a model of random operations and receives --------------------------- */

#define NUM 600
#define TAGS 3

struct model {
	struct atomic ops[NUM];
	uint64_t bufs[NUM][WORDS], want[NUM][WORDS], want_result[NUM][WORDS];
	bool ended[NUM], received[NUM];
	int num_ops, num_bufs, num_ended, num_received, wrong;
	/* Numbers of those that wait for the other, in order, for each tag. */
	int ops_wait[TAGS][NUM], bufs_wait[TAGS][NUM];
	int ops_in[TAGS], ops_out[TAGS], bufs_in[TAGS], bufs_out[TAGS];
};

static struct model model;

static uint64_t compute(const struct atomic *t, int i, uint64_t old)
{
	uint64_t src = t->src[i], cmp = t->cmp[i];

	switch (t->op) {
	case FI_SUM:
		return old + src;
	case FI_MAX:
		return src > old ? src : old;
	case FI_BXOR:
		return old ^ src;
	case FI_ATOMIC_WRITE:
		return src;
	case FI_CSWAP:
		return cmp == old ? src : old;
	case FI_MSWAP:
		return (src & cmp) | (old & ~cmp);
	default:
		return old;
	}
}

/* What the next operation with a tag does to the next receive. */
static void match(int tag)
{
	while (model.ops_out[tag] < model.ops_in[tag] &&
	       model.bufs_out[tag] < model.bufs_in[tag]) {
		int n = model.ops_wait[tag][model.ops_out[tag]++];
		int r = model.bufs_wait[tag][model.bufs_out[tag]++];
		const struct atomic *t = &model.ops[n];

		for (size_t i = 0; i < t->count; i++) {
			uint64_t *word = &model.want[r][t->offset / 8 + i];

			if (t->form)
				model.want_result[n][i] = *word;
			*word = compute(t, (int)i, *word);
		}
	}
}

static void add_op(int tag, uint64_t *seed)
{
	static const enum fi_op ops[3][4] = {
		{ FI_SUM, FI_MAX, FI_BXOR, FI_ATOMIC_WRITE },
		{ FI_SUM, FI_MAX, FI_ATOMIC_READ, FI_ATOMIC_WRITE },
		{ FI_CSWAP, FI_MSWAP, FI_CSWAP, FI_MSWAP },
	};
	int n = model.num_ops;
	struct atomic *t = &model.ops[n];

	*t = sum(8 * (random_next(seed) % 4), (uint64_t)tag);
	t->form = (int)(random_next(seed) % 3);
	t->op = ops[t->form][random_next(seed) % 4];
	t->count = 1 + random_next(seed) % 4;
	if (!(random_next(seed) % 8))
		t->flags |= FI_FENCE;
	for (int i = 0; i < WORDS; i++) {
		t->src[i] = random_next(seed) % 8;
		t->cmp[i] = random_next(seed) % 8;
	}
	if (start(t))
		return;
	model.ops_wait[tag][model.ops_in[tag]++] = n;
	model.num_ops++;
	match(tag);
}

static void add_buf(int tag, uint64_t *seed)
{
	int r = model.num_bufs++;

	for (int i = 0; i < WORDS; i++)
		model.want[r][i] = random_next(seed) % 8;
	memcpy(model.bufs[r], model.want[r], sizeof(model.bufs[r]));
	must(fi_trecv(b.ep, model.bufs[r], sizeof(model.bufs[r]), NULL,
		      FI_ADDR_UNSPEC, (uint64_t)tag, 0, model.bufs[r]),
	     "fi_trecv");
	model.bufs_wait[tag][model.bufs_in[tag]++] = r;
	match(tag);
}

/* Compares the results and the buffers that have completed. */
static void check_model(void)
{
	struct fi_cq_tagged_entry e;

	while (fi_cq_read(a.cq, &e, 1) == 1) {
		long n = (struct atomic *)e.op_context - model.ops;

		model.wrong += model.ended[n] ||
			       memcmp(model.ops[n].result, model.want_result[n],
				      sizeof(model.want_result[n]));
		model.ended[n] = true;
		model.num_ended++;
	}
	while (fi_cq_read(b.cq, &e, 1) == 1) {
		long r = (uint64_t (*)[WORDS])e.op_context - model.bufs;

		model.wrong += model.received[r] ||
			       memcmp(model.bufs[r], model.want[r],
				      sizeof(model.want[r]));
		model.received[r] = true;
		model.num_received++;
	}
}

static void test_model(uint64_t seed)
{
	uint64_t end_ms;

	memset(&model, 0, sizeof(model));
	open_pair(CAPS, CAPS);
	for (int i = 0; i < NUM; i++) {
		int tag = (int)(random_next(&seed) % TAGS);

		if (random_next(&seed) % 2)
			add_op(tag, &seed);
		else
			add_buf(tag, &seed);
		if (!(random_next(&seed) % 4))
			check_model();
	}
	/* A receive for each operation, so that all end. */
	for (int tag = 0; tag < TAGS; tag++)
		while (model.ops_out[tag] < model.ops_in[tag])
			add_buf(tag, &seed);
	for (end_ms = 0; end_ms < TIMEOUT_MS && model.num_ended < model.num_ops;
	     end_ms++) {
		check_model();
		usleep(1000);
	}
	check_model();
	is_int(model.num_ended, model.num_ops, "%d random atomics complete",
	       model.num_ops);
	is_int(model.num_received, model.num_ops, "... each with a receive");
	is_int(model.wrong, 0, "... with the values of the model, once");
	close_pair();
}

/* ---- a model of connections that break, and of a peer that dies ---------- */

#define NUM_SUMS 300

/* Each atomic adds an odd number to a buffer that is 0: its own. */
struct sums {
	struct atomic ops[NUM_SUMS];
	int outcomes[NUM_SUMS];		/* 1: success, -1: failure */
	int num_ops, num_ended;
	uint64_t bufs[NUM_SUMS];
	bool received[NUM_SUMS];
	int num_bufs;
};

static struct sums sums;

static void add_sum(void)
{
	struct atomic *t = &sums.ops[sums.num_ops];

	*t = sum(0, 1);
	t->form = sums.num_ops % 2;
	t->src[0] = 2 * (uint64_t)sums.num_ops + 1;
	if (!start(t))
		sums.num_ops++;
}

static void add_sum_buf(void)
{
	uint64_t *word = &sums.bufs[sums.num_bufs++];

	must(fi_trecv(b.ep, word, 8, NULL, FI_ADDR_UNSPEC, 1, 0, word),
	     "fi_trecv");
}

/* Takes an event. Returns its context, or NULL. */
static void *take_event(struct fid_cq *cq, bool *good)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t ret = fi_cq_read(cq, &e, 1);

	*good = ret == 1;
	if (ret == -FI_EAVAIL)
		must(fi_cq_readerr(cq, &err, 0), "fi_cq_readerr");
	return ret == 1 ? e.op_context : ret == -FI_EAVAIL ? err.op_context : NULL;
}

static void take_events(bool has_target)
{
	struct atomic *t;
	uint64_t *word;
	bool good;

	while (has_target && (word = take_event(b.cq, &good)))
		sums.received[word - sums.bufs] = good;
	while ((t = take_event(a.cq, &good))) {
		sums.outcomes[t - sums.ops] += good ? 1 : -1;
		sums.num_ended++;
	}
}

/* Returns how many outcomes and buffers do not fit each other. */
static int count_wrong(bool has_target)
{
	static int executed[2 * NUM_SUMS];
	int wrong = 0;

	memset(executed, 0, sizeof(executed));
	for (int i = 0; i < sums.num_bufs; i++) {
		uint64_t value = sums.bufs[i];

		/* The events are lost with their target. */
		wrong += has_target && sums.received[i] != !!value;
		if (value)
			executed[value / 2]++;
		/* The sum of two odd numbers is even. */
		wrong += value && value % 2 == 0;
	}
	for (int i = 0; i < sums.num_ops; i++)
		wrong += executed[i] > 1 || abs(sums.outcomes[i]) != 1 ||
			 (sums.outcomes[i] > 0 && !executed[i]);
	return wrong;
}

static void test_model_faults(uint64_t seed, bool dies)
{
	int total = NUM_SUMS, failed = 0;
	bool has_target = true;
	uint64_t end_ms;

	memset(&sums, 0, sizeof(sums));
	setenv("FI_MXE_CONNECT_TIMEOUT", "1000", 1);
	open_pair(CAPS, CAPS);
	end_ms = mxefi_now_ms() + TIMEOUT_MS;
	while (sums.num_ended < total && mxefi_now_ms() < end_ms) {
		uint64_t r = random_next(&seed);

		if (!dies && r % 41 == 0 && sums.num_ops < total)
			break_conn(to_ep(r & 256 ? a.ep : b.ep));
		if (dies && has_target && sums.num_ops == NUM_SUMS / 2) {
			fake_device_set(refused_send, MXEFI_MSG_BYE);
			is_int(close_end(&b), 0, "a target dies");
			fake_device_set(refused_send, -1);
			has_target = false;
			total = sums.num_ops;
		}
		if (r & 512 && sums.num_ops < total)
			add_sum();
		if (has_target && sums.num_bufs < NUM_SUMS &&
		    (r & 1024 || sums.num_ops == total))
			add_sum_buf();
		if (!(r & 0xf0000) || sums.num_ops == total)
			take_events(has_target);
	}
	take_events(has_target);
	for (int i = 0; i < sums.num_ops; i++)
		failed += sums.outcomes[i] < 0;
	is_int(sums.num_ended, total, "%d random atomics end, %d of them fail",
	       total, failed);
	is_int(count_wrong(has_target), 0,
	       "... those that succeed are executed once, and none twice");
	is_int(close_end(&a), 0, "... an endpoint is closed");
	if (has_target)
		is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
}

int main(void)
{
	plan(0);
	for (int dc = 0; dc < 2; dc++) {
		fake_device_use_dc(dc);
		test_query();
		test_events();
		test_forms();
		test_errors();
		test_rights();
		test_forged();
		test_fence();
		test_trigger();
		test_no_requests();
		test_no_receive();
		/* Over DC, it connects again, and no message fails. */
		if (!dc)
			test_many_answers();
		test_loss();
		if (dc)
			test_stale();
		test_atomicity();
		for (uint64_t seed = 1; seed <= 8; seed++)
			test_model(seed);
		for (uint64_t seed = 1; seed <= 6; seed++)
			test_model_faults(seed, seed % 2);
		test_removal();
	}
	return done_testing();
}
