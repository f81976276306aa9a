// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process: triggered
 * operations, deferred work (fi_trigger(3)), and aliases.
 */
#define TIMEOUT_MS 10000
#include <rdma/fi_trigger.h>
#include "fake_device.h"
#include "fi_end.h"
#include "sizes.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER)
#define ACCESS (FI_REMOTE_READ | FI_REMOTE_WRITE)

static struct end a, b;
static fi_addr_t to_b;
static struct fid_mr *mr;
static struct fid_cntr *trigger, *done;
static uint64_t words[8], local[8];

static void open_pair(void)
{
	open_end(&a, CAPS);
	open_end(&b, CAPS);
	to_b = insert(&a, b.ep);
	trigger = open_cntr(a.domain);
	done = open_cntr(a.domain);
	must(fi_mr_reg(b.domain, words, sizeof(words), ACCESS, 0, 0, 0, &mr,
		       NULL), "fi_mr_reg");
	memset(words, 0, sizeof(words));
	for (uint64_t i = 0; i < 8; i++)
		local[i] = 100 + i;
}

static void close_pair(void)
{
	must(fi_close(&mr->fid), "fi_close mr");
	must(fi_close(&a.ep->fid), "fi_close ep");
	a.ep = NULL;
	is_int(fi_close(&trigger->fid), 0, "a counter is closed after its waiters");
	is_int(fi_close(&done->fid), 0, "... and one of completions");
	is_int(close_end(&a), 0, "... and an endpoint");
	is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

static int no_events(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e;

	return fi_cq_read(cq, &e, 1) == -FI_EAGAIN;
}

/* ---- triggered operations ----------------------------------------------- */

static struct fi_triggered_context at(uint64_t threshold)
{
	return (struct fi_triggered_context){
		.event_type = FI_TRIGGER_THRESHOLD,
		.trigger.threshold = { .cntr = trigger, .threshold = threshold },
	};
}

/* Writes words[to] from local[from]. The structures end with the call. */
static int write_at(struct fi_triggered_context *context, int from, int to,
		    uint64_t flags)
{
	struct iovec iov = { &local[from], 8 };
	struct fi_rma_iov rma = { (uintptr_t)&words[to], 8, fi_mr_key(mr) };
	struct fi_msg_rma m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_b, .rma_iov = &rma,
		.rma_iov_count = 1, .context = context,
	};
	int ret = (int)fi_writemsg(a.ep, &m, FI_TRIGGER | flags);

	memset(&iov, 0xff, sizeof(iov));
	memset(&rma, 0xff, sizeof(rma));
	return ret;
}

static void test_order(void)
{
	static const uint64_t thresholds[] = { 3, 1, 2, 3, 9 };
	static const int order[] = { 1, 2, 0, 3 };
	struct fi_triggered_context c[5];
	struct fid_ep *other;

	open_pair();
	for (int i = 0; i < 5; i++) {
		c[i] = at(thresholds[i]);
		must(write_at(&c[i], i, 0, 0), "fi_writemsg");
	}
	is_int(fi_close(&trigger->fid), -FI_EBUSY,
	       "a counter that triggers cannot be closed");
	ok(no_events(a.cq) && !words[0], "nothing happens before");
	/* Read when the operation starts. */
	local[2] = 77;
	fi_cntr_add(trigger, 1);
	is_int(wait_one(a.cq, &c[1]), 0, "a counter triggers");
	is_u64(words[0], 101, "... one write");
	fi_cntr_adderr(trigger, 3);
	for (int i = 1; i < 4; i++)
		is_int(wait_one(a.cq, &c[order[i]]), 0,
		       "... and an error the others in order: %d", i);
	is_u64(words[0], 103, "... so the last one remains");
	c[0] = at(4);
	must(write_at(&c[0], 2, 1, 0), "fi_writemsg");
	is_u64(words[1], 77, "a threshold that was reached triggers at once");
	is_int(wait_one(a.cq, &c[0]), 0, "... and the operation completes");
	is_int(fi_cancel(&a.ep->fid, &c[0]), -FI_ENOENT,
	       "what has started is not canceled");
	other = open_ep(&a, a.cq);
	is_int(fi_cancel(&other->fid, &c[4]), -FI_ENOENT,
	       "another endpoint cancels nothing");
	must(fi_close(&other->fid), "fi_close ep");
	is_int(fi_cancel(&a.ep->fid, &c[4]), 0, "what waits is canceled");
	is_int(wait_one(a.cq, &c[4]), FI_ECANCELED, "... and says so");
	c[4] = at(9);
	must(write_at(&c[4], 2, 1, 0), "fi_writemsg");
	close_pair();
}

/*
 * An endpoint without room for another operation delays its own transfers, in
 * their order, but neither its receives nor those of other endpoints.
 */
static void test_full(void)
{
	struct fi_triggered_context c[4];
	struct iovec iov = { &words[7], 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = &c[2],
	};
	struct fid_ep *first, *other;
	struct fi_cq_tagged_entry e;
	fi_addr_t to_a;
	int early = 0;

	open_pair();
	first = a.ep;
	to_a = insert(&b, a.ep);
	other = open_ep(&a, a.cq);
	fake_device_set(reads_stop, true);
	for (int i = 0; i < MXEFI_TX_SIZE; i++)
		must(fi_read(a.ep, &local[7], 8, NULL, to_b,
			     (uintptr_t)&words[6], fi_mr_key(mr), &a),
		     "fi_read");
	for (int i = 0; i < 4; i++)
		c[i] = at(1);
	must(write_at(&c[0], 0, 0, 0), "fi_writemsg");
	must(write_at(&c[1], 1, 0, 0), "fi_writemsg");
	must(fi_recvmsg(a.ep, &m, FI_TRIGGER), "fi_recvmsg");
	a.ep = other;
	must(write_at(&c[3], 3, 1, 0), "fi_writemsg");
	a.ep = first;
	fi_cntr_set(trigger, 1);
	is_int(wait_one(a.cq, &c[3]), 0,
	       "a full endpoint does not delay the trigger of another one");
	must(fi_send(b.ep, &local[4], 8, NULL, to_a, &b), "fi_send");
	is_int(wait_one(a.cq, &c[2]), 0, "... nor its own receives");
	is_int(wait_one(b.cq, &b), 0, "... so a message arrives");
	ok(no_events(a.cq) && !words[0], "... but its own writes");
	fake_device_set(reads_stop, false);
	for (int i = 0; i < MXEFI_TX_SIZE; i++)
		early += fi_cq_sread(a.cq, &e, 1, NULL, TIMEOUT_MS) != 1 ||
			 e.op_context != &a;
	is_int(early, 0, "... until the operations in flight complete");
	is_int(wait_one(a.cq, &c[0]), 0, "... and they are started");
	is_int(wait_one(a.cq, &c[1]), 0, "... both");
	is_u64(words[0], 101, "... in order");
	must(fi_close(&other->fid), "fi_close ep");
	close_pair();
}

static void test_triggered_messages(void)
{
	struct fi_triggered_context c[2];
	struct iovec iov[2] = { { &local[0], 8 }, { &local[1], 8 } };
	struct fi_msg m = {
		.msg_iov = &iov[0], .iov_count = 1, .context = &c[0],
	};
	struct fi_msg_tagged t = {
		.msg_iov = &iov[1], .iov_count = 1, .tag = 5, .context = &c[1],
	};

	open_pair();
	c[0] = at(1);
	c[1] = at(1);
	m.addr = to_b;
	t.addr = to_b;
	must(fi_sendmsg(a.ep, &m, FI_TRIGGER), "fi_sendmsg");
	must(fi_tsendmsg(a.ep, &t, FI_TRIGGER), "fi_tsendmsg");
	must(fi_recv(b.ep, &words[0], 8, NULL, FI_ADDR_UNSPEC, &words[0]),
	     "fi_recv");
	must(fi_trecv(b.ep, &words[1], 8, NULL, FI_ADDR_UNSPEC, 5, 0, &words[1]),
	     "fi_trecv");
	ok(no_events(b.cq), "no message is sent before");
	fi_cntr_set(trigger, 1);
	is_int(wait_one(b.cq, &words[0]), 0, "a message is sent");
	is_int(wait_one(b.cq, &words[1]), 0, "... and one with a tag");
	is_int(wait_one(a.cq, &c[0]), 0, "... and they complete");
	is_int(wait_one(a.cq, &c[1]), 0, "... both");
	ok(words[0] == 100 && words[1] == 101, "... with their data");
	close_pair();
}

static void test_triggered_receive(void)
{
	struct fi_triggered_context c;
	struct iovec iov = { &words[0], 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = &c,
	};
	fi_addr_t to_a;

	open_pair();
	to_a = insert(&b, a.ep);
	c = at(1);
	must(fi_recvmsg(a.ep, &m, FI_TRIGGER), "fi_recvmsg");
	must(fi_send(b.ep, &local[3], 8, NULL, to_a, &c), "fi_send");
	is_int(wait_one(b.cq, &c), 0, "a message arrives before its receive");
	ok(no_events(a.cq) && !words[0], "... and waits");
	fi_cntr_set(trigger, 1);
	is_int(wait_one(a.cq, &c), 0, "... until that is triggered");
	is_u64(words[0], 103, "... with its data");
	close_pair();
}

/* An alias has flags of its own, such as FI_TRIGGER. */
static void test_alias(void)
{
	struct fi_triggered_context c[2];
	uint64_t flags = FI_TRANSMIT, one = 1;
	struct fid_ep *alias;

	open_pair();
	is_int(fi_ep_alias(a.ep, &alias, FI_TRANSMIT | FI_RECV), -FI_EINVAL,
	       "an alias with flags of both directions is refused");
	is_int(fi_ep_alias(a.ep, &alias, FI_TRIGGER), -FI_EINVAL,
	       "... and of none");
	is_int(fi_ep_alias(a.ep, &alias, FI_TRANSMIT | FI_PEEK), -FI_EINVAL,
	       "... and with a flag that is no default");
	must(fi_ep_alias(a.ep, &alias, FI_TRANSMIT | FI_TRIGGER), "fi_ep_alias");
	c[0] = at(1);
	c[1] = at(1);
	must(fi_write(alias, &local[0], 8, NULL, to_b, (uintptr_t)&words[0],
		      fi_mr_key(mr), &c[0]), "fi_write");
	must(fi_atomic(alias, &one, 1, NULL, to_b, (uintptr_t)&words[1],
		       fi_mr_key(mr), FI_UINT64, FI_SUM, &c[1]), "fi_atomic");
	must(fi_write(a.ep, &local[2], 8, NULL, to_b, (uintptr_t)&words[2],
		      fi_mr_key(mr), &a), "fi_write");
	is_int(wait_one(a.cq, &a), 0, "the endpoint itself does not wait");
	ok(!words[0] && !words[1] && words[2] == 102, "... but its alias does");
	fi_cntr_set(trigger, 1);
	is_int(wait_one(a.cq, &c[0]), 0, "... until it is triggered");
	is_int(wait_one(a.cq, &c[1]), 0, "... and an atomic, too");
	ok(words[0] == 100 && words[1] == 1, "... and is executed");
	must(fi_control(&alias->fid, FI_GETOPSFLAG, &flags), "FI_GETOPSFLAG");
	is_u64(flags, FI_TRIGGER, "the flags of an alias can be read");
	flags = FI_TRANSMIT | FI_DELIVERY_COMPLETE;
	must(fi_control(&alias->fid, FI_SETOPSFLAG, &flags), "FI_SETOPSFLAG");
	must(fi_write(alias, &local[3], 8, NULL, to_b, (uintptr_t)&words[3],
		      fi_mr_key(mr), &c[0]), "fi_write");
	is_int(wait_one(a.cq, &c[0]), 0, "... and changed");
	flags = FI_TRANSMIT;
	must(fi_control(&a.ep->fid, FI_GETOPSFLAG, &flags), "FI_GETOPSFLAG");
	is_u64(flags, 0, "... without those of the endpoint");
	flags = 0;
	is_int(fi_control(&a.ep->fid, FI_GETOPSFLAG, &flags), -FI_EINVAL,
	       "flags without a direction are refused");
	is_int(fi_close(&a.ep->fid), -FI_EBUSY,
	       "an endpoint with an alias cannot be closed");
	is_int(fi_close(&alias->fid), 0, "... before the alias");
	close_pair();
}

/* ---- deferred work ------------------------------------------------------ */

/* Any of the structures of deferred work. */
union args {
	struct fi_op_msg msg;
	struct fi_op_tagged tagged;
	struct fi_op_rma rma;
	struct fi_op_atomic atomic;
	struct fi_op_fetch_atomic fetch_atomic;
	struct fi_op_compare_atomic compare_atomic;
	struct fi_op_cntr cntr;
};

static int queue(struct fi_deferred_work *work, enum fi_op_type type,
		 uint64_t threshold, union args *args)
{
	int ret;

	work->op_type = type;
	work->threshold = threshold;
	work->triggering_cntr = trigger;
	work->completion_cntr = done;
	work->op.msg = &args->msg;
	ret = fi_control(&a.domain->fid, FI_QUEUE_WORK, work);
	memset(args, 0xff, sizeof(*args));
	return ret;
}

static int queue_write(struct fi_deferred_work *work, uint64_t threshold,
		       uint64_t key, uint64_t flags)
{
	struct iovec iov = { &local[0], 8 };
	struct fi_rma_iov rma = { (uintptr_t)&words[0], 8, key };
	union args args = { .rma = {
		.ep = a.ep, .flags = flags,
		.msg = {
			.msg_iov = &iov, .iov_count = 1, .addr = to_b,
			.rma_iov = &rma, .rma_iov_count = 1,
			.context = &work->context,
		},
	} };

	return queue(work, FI_OP_WRITE, threshold, &args);
}

/* A call in each structure. All wait for the same value. */
static void test_kinds(void)
{
	static struct fi_deferred_work work[10];
	static uint64_t results[2], one = 1, two = 2;
	struct iovec iov = { &local[0], 8 }, to = { &results[0], 8 };
	struct fi_rma_iov rma = { (uintptr_t)&words[0], 8, fi_mr_key(mr) };
	struct fi_ioc src = { &one, 1 }, swap = { &two, 1 }, cmp = { &one, 1 };
	struct fi_ioc fetched = { &results[1], 1 };
	struct fi_rma_ioc word = { (uintptr_t)&words[1], 1, fi_mr_key(mr) };
	struct fi_msg_rma r = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_b, .rma_iov = &rma,
		.rma_iov_count = 1,
	};
	struct fi_msg_atomic m = {
		.msg_iov = &src, .iov_count = 1, .addr = to_b, .rma_iov = &word,
		.rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM,
	};
	union args args;

	args.rma = (struct fi_op_rma){ .ep = a.ep, .msg = r };
	must(queue(&work[0], FI_OP_WRITE, 1, &args), "write");
	r.msg_iov = &to;
	args.rma = (struct fi_op_rma){ .ep = a.ep, .msg = r };
	must(queue(&work[1], FI_OP_READ, 1, &args), "read");
	args.atomic = (struct fi_op_atomic){ .ep = a.ep, .msg = m };
	must(queue(&work[2], FI_OP_ATOMIC, 1, &args), "atomic");
	m.msg_iov = &swap;
	m.op = FI_CSWAP;
	args.compare_atomic = (struct fi_op_compare_atomic){
		.ep = a.ep, .msg = m,
		.fetch = { .msg_iov = &fetched, .iov_count = 1 },
		.compare = { .msg_iov = &cmp, .iov_count = 1 },
	};
	must(queue(&work[3], FI_OP_COMPARE_ATOMIC, 1, &args), "compare atomic");
	m.op = FI_SUM;
	args.fetch_atomic = (struct fi_op_fetch_atomic){
		.ep = a.ep, .msg = m,
		.fetch = { .msg_iov = &fetched, .iov_count = 1 },
	};
	must(queue(&work[4], FI_OP_FETCH_ATOMIC, 1, &args), "fetch atomic");
	/* What the calls point to is copied, too. */
	memset(&rma, 0xff, sizeof(rma));
	memset(&word, 0xff, sizeof(word));
	memset(&iov, 0xff, sizeof(iov));
	memset(&to, 0xff, sizeof(to));
	memset(&src, 0xff, sizeof(src));
	memset(&swap, 0xff, sizeof(swap));
	memset(&cmp, 0xff, sizeof(cmp));
	memset(&fetched, 0xff, sizeof(fetched));
	is_u64(fi_cntr_read(done), 0, "deferred work waits");
	fi_cntr_add(trigger, 1);
	is_int(fi_cntr_wait(done, 5, TIMEOUT_MS), 0, "... and completes");
	ok(words[0] == 100 && results[0] == 100, "... a write and a read");
	/* 0 + 1, compared with 1 and replaced by 2, + 2. */
	ok(words[1] == 4 && results[1] == 2, "... and the atomics, in order");
	ok(no_events(a.cq), "... without events");
	is_u64(fi_cntr_read(a.cntr), 0, "... and the endpoint counts nothing");
}

static void test_messages(void)
{
	static struct fi_deferred_work work[4];
	struct iovec out[2] = { { &local[4], 8 }, { &local[5], 8 } };
	struct iovec in[2] = { { &words[4], 8 }, { &words[5], 8 } };
	fi_addr_t self = insert(&a, a.ep);
	union args args;

	fi_cntr_set(done, 0);
	args.msg = (struct fi_op_msg){
		.ep = a.ep,
		.msg = { .msg_iov = &in[0], .iov_count = 1,
			 .addr = FI_ADDR_UNSPEC, .context = &work[0].context },
		.flags = FI_COMPLETION,
	};
	must(queue(&work[0], FI_OP_RECV, 2, &args), "recv");
	args.tagged = (struct fi_op_tagged){
		.ep = a.ep,
		.msg = { .msg_iov = &in[1], .iov_count = 1, .tag = 9,
			 .addr = FI_ADDR_UNSPEC },
	};
	must(queue(&work[1], FI_OP_TRECV, 2, &args), "trecv");
	args.msg = (struct fi_op_msg){
		.ep = a.ep,
		.msg = { .msg_iov = &out[0], .iov_count = 1, .addr = self },
	};
	must(queue(&work[2], FI_OP_SEND, 3, &args), "send");
	args.tagged = (struct fi_op_tagged){
		.ep = a.ep,
		.msg = { .msg_iov = &out[1], .iov_count = 1, .tag = 9,
			 .addr = self },
	};
	must(queue(&work[3], FI_OP_TSEND, 3, &args), "tsend");
	fi_cntr_set(trigger, 2);
	is_u64(fi_cntr_read(done), 0, "receives are posted");
	fi_cntr_set(trigger, 3);
	is_int(fi_cntr_wait(done, 4, TIMEOUT_MS), 0, "... and messages sent");
	ok(words[4] == 104 && words[5] == 105, "... and have arrived");
	is_int(wait_one(a.cq, &work[0].context), 0,
	       "... with one event, as FI_COMPLETION says");
	ok(no_events(a.cq), "... and no other");
}

/* One work starts the next, and counters are changed. */
static void test_chain(void)
{
	static struct fi_deferred_work work[4];
	struct fid_cntr *first = trigger, *second = open_cntr(a.domain);
	union args args;

	fi_cntr_set(done, 0);
	fi_cntr_set(first, 0);
	must(queue_write(&work[0], 1, fi_mr_key(mr), 0), "write");
	trigger = done;
	args.cntr = (struct fi_op_cntr){ .cntr = second, .value = 5 };
	must(queue(&work[1], FI_OP_CNTR_SET, 1, &args), "set");
	trigger = second;
	args.cntr = (struct fi_op_cntr){ .cntr = second, .value = 2 };
	must(queue(&work[2], FI_OP_CNTR_ADD, 5, &args), "add");
	must(queue_write(&work[3], 7, fi_mr_key(mr), 0), "write");
	trigger = first;
	fi_cntr_add(trigger, 1);
	is_int(fi_cntr_wait(done, 2, TIMEOUT_MS), 0, "a chain of work ends");
	is_u64(fi_cntr_read(second), 7, "... and has changed a counter");
	is_int(fi_close(&second->fid), 0, "... which nothing uses any more");
}

static void test_cancel(void)
{
	static struct fi_deferred_work work[3];

	fi_cntr_set(trigger, 0);
	fi_cntr_set(done, 0);
	for (int i = 0; i < 3; i++)
		must(queue_write(&work[i], 1, fi_mr_key(mr), 0), "write");
	is_int(fi_close(&done->fid), -FI_EBUSY,
	       "a counter of completions cannot be closed before");
	is_int(fi_control(&a.domain->fid, FI_CANCEL_WORK, &work[1]), 0,
	       "work is canceled");
	is_int(fi_control(&a.domain->fid, FI_CANCEL_WORK, &work[1]), -FI_ENOENT,
	       "... once");
	fi_cntr_set(trigger, 1);
	is_int(fi_cntr_wait(done, 2, TIMEOUT_MS), 0, "... and the rest is done");
	is_int(fi_cntr_wait(done, 3, 100), -FI_ETIMEDOUT, "... but not that");
	for (int i = 0; i < 3; i++)
		must(queue_write(&work[i], 2, fi_mr_key(mr), 0), "write");
	is_int(fi_control(&a.domain->fid, FI_FLUSH_WORK, NULL), 0,
	       "all work is canceled");
	fi_cntr_set(trigger, 2);
	is_int(fi_cntr_wait(done, 3, 100), -FI_ETIMEDOUT, "... and not done");
	ok(no_events(a.cq), "... and reports nothing");
}

/* The counter is held until the work has completed, not until it starts. */
static void test_in_flight(void)
{
	static struct fi_deferred_work work[2];
	struct fid_cntr *own = done;
	struct iovec iov = { &local[6], 8 };
	struct fi_rma_iov rma = { (uintptr_t)&words[0], 8, fi_mr_key(mr) };
	union args args = { .rma = {
		.ep = a.ep,
		.msg = {
			.msg_iov = &iov, .iov_count = 1, .addr = to_b,
			.rma_iov = &rma, .rma_iov_count = 1,
		},
	} };

	fi_cntr_set(trigger, 1);
	done = open_cntr(a.domain);
	fake_device_set(reads_stop, true);
	must(queue(&work[0], FI_OP_READ, 1, &args), "read");
	while (!fake_device_get(num_stopped))
		fi_cntr_read(done);
	is_int(fi_close(&done->fid), -FI_EBUSY,
	       "a counter of a read in flight cannot be closed");
	fake_device_set(reads_stop, false);
	is_int(fi_cntr_wait(done, 1, TIMEOUT_MS), 0, "... which ends");
	args.msg = (struct fi_op_msg){
		.ep = a.ep,
		.msg = { .msg_iov = &iov, .iov_count = 1,
			 .addr = FI_ADDR_UNSPEC, .context = &work[1].context },
	};
	must(queue(&work[1], FI_OP_RECV, 1, &args), "recv");
	is_int(fi_close(&done->fid), -FI_EBUSY,
	       "... nor that of a receive that is posted");
	must(fi_cancel(&a.ep->fid, &work[1].context), "fi_cancel");
	is_int(wait_one(a.cq, &work[1].context), FI_ECANCELED,
	       "... until it is canceled");
	is_int(fi_close(&done->fid), 0, "... and then the counter is closed");
	done = own;
}

static void test_failures(void)
{
	static struct fi_deferred_work work;
	struct fi_triggered_context c = at(1);
	struct iovec iov[MXEFI_IOV_LIMIT + 1] = { { &local[0], 8 } };
	struct fi_msg m = {
		.msg_iov = iov, .iov_count = MXEFI_IOV_LIMIT + 1, .addr = to_b,
		.context = &c,
	};
	union args args = { .msg = { .ep = a.ep, .msg = m } };
	struct fid_cntr *other = open_cntr(b.domain), *own = trigger;

	is_int(queue(&work, FI_OP_SEND, 1, &args), -FI_EINVAL,
	       "work with a long vector is refused");
	is_int(queue(&work, (enum fi_op_type)99, 1, &args), -FI_ENOSYS,
	       "... and of no known type");
	is_int((int)fi_sendmsg(a.ep, &m, FI_TRIGGER), -FI_EINVAL,
	       "... and a call with a long vector");
	m.iov_count = 1;
	is_int((int)fi_sendmsg(a.ep, &m, FI_TRIGGER | FI_INJECT), -FI_EOPNOTSUPP,
	       "... or whose data may change");
	c.event_type = (enum fi_trigger_event)9;
	is_int((int)fi_sendmsg(a.ep, &m, FI_TRIGGER), -FI_ENOSYS,
	       "... or with an unknown trigger");
	c = at(1);
	c.trigger.threshold.cntr = NULL;
	is_int((int)fi_sendmsg(a.ep, &m, FI_TRIGGER), -FI_EINVAL,
	       "... or without a counter");
	m.context = NULL;
	is_int((int)fi_sendmsg(a.ep, &m, FI_TRIGGER), -FI_EINVAL,
	       "... or without a context");
	trigger = other;
	is_int(queue_write(&work, 1, 0, 0), -FI_EINVAL,
	       "a counter of another domain triggers nothing");
	trigger = NULL;
	is_int(queue_write(&work, 1, 0, 0), -FI_EINVAL, "... nor does none");
	trigger = own;
	is_int(fi_control(&a.domain->fid, FI_QUEUE_WORK, NULL), -FI_EINVAL,
	       "no work is refused");
	must(fi_close(&other->fid), "fi_close cntr");

	fi_cntr_set(trigger, 0);
	fi_cntr_set(done, 0);
	fi_cntr_seterr(done, 0);
	to_b = 1000;
	must(queue_write(&work, 1, fi_mr_key(mr), 0), "write");
	to_b = 0;
	fi_cntr_set(trigger, 1);
	is_int(wait_one(a.cq, &work.context), FI_EINVAL,
	       "work that cannot start reports an error");
	is_u64(fi_cntr_readerr(done), 1, "... and counts it");
	must(queue_write(&work, 1, 0xdead, 0), "write");
	is_int(wait_one(a.cq, &work.context), FI_EACCES,
	       "work that fails, too");
	is_u64(fi_cntr_readerr(done), 2, "... and counts it");
}

/* The endpoint, and then the device, end what waits. */
static void test_end(void)
{
	static struct fi_deferred_work work;
	struct fi_triggered_context c;

	open_pair();
	c = at(1);
	must(write_at(&c, 0, 0, 0), "fi_writemsg");
	must(queue_write(&work, 1, fi_mr_key(mr), 0), "write");
	fake_device_remove(true);
	is_int(wait_one(a.cq, &c), FI_ENODEV,
	       "a removed device ends what waits");
	is_int(wait_one(a.cq, &work.context), FI_ENODEV, "... and work");
	is_u64(fi_cntr_readerr(done), 1, "... and counts it");
	close_pair();
	fake_device.removed = false;
}

static void test_without_capability(void)
{
	struct fi_triggered_context c;
	struct fi_msg m = { .context = &c };

	open_end(&a, FI_MSG);
	trigger = open_cntr(a.domain);
	c = at(1);
	is_int((int)fi_sendmsg(a.ep, &m, FI_TRIGGER), -FI_EOPNOTSUPP,
	       "without FI_TRIGGER there are no triggers");
	must(fi_close(&trigger->fid), "fi_close cntr");
	is_int(close_end(&a), 0, "... and the endpoint is closed");
}

int main(void)
{
	plan(0);
	test_order();
	test_full();
	test_triggered_messages();
	test_triggered_receive();
	test_alias();
	open_pair();
	test_kinds();
	test_messages();
	test_chain();
	test_cancel();
	test_in_flight();
	test_failures();
	close_pair();
	test_end();
	test_without_capability();
	return done_testing();
}
