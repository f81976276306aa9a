// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: doorbells that are deferred, and one
 * call that rings them for many queue pairs.
 */
#include "fake_kernel.h"

enum { NUM_QPS = 16, MANY = 300 };

static struct ibv_cq *cq;
static struct ibv_qp *qps[NUM_QPS];

static int post(struct ibv_qp *qp)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static int post_builder(struct ibv_qp *qp)
{
	ibv_wr_start(to_qpx(qp));
	ibv_wr_send(to_qpx(qp));
	return ibv_wr_complete(to_qpx(qp));
}

static void test_many(void)
{
	struct mxe_doorbell db[NUM_QPS];
	int posted = 0, right = 0;
	int i;

	fake.writes = 0;
	for (i = 0; i < NUM_QPS; i++)
		if (!(i & 1 ? post(qps[i]) : post_builder(qps[i])) &&
		    sq_producer(qps[i]) == 1)
			posted++;
	is_int(posted, NUM_QPS, "each queue pair has a request published");
	is_int(fake.writes, 0, "without a doorbell");

	is_int(mxedv_ring_doorbells(fake.context, qps, NUM_QPS), 0, "rung");
	is_int(fake.writes, 1, "in one system call");
	is_int((int)read(fake.bell_rd, db, sizeof(db)), sizeof(db),
	       "a record for each");
	for (i = 0; i < NUM_QPS; i++)
		if (db[i].qp_num == qps[i]->qp_num &&
		    db[i].queues == MXE_DOORBELL_SEND)
			right++;
	is_int(right, NUM_QPS, "in order, for the send queues");
	is_int(bells(NULL), 0, "and no more");
}

static void test_more_than_fit(void)
{
	struct ibv_qp *many[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		many[i] = qps[i % NUM_QPS];
	fake.writes = 0;
	is_int(mxedv_ring_doorbells(fake.context, many, MANY), 0, "300 are rung");
	is_int(fake.writes, 3, "in three system calls");
	is_int(bells(NULL), MANY, "each");
	fake.writes = 0;
	is_int(mxedv_ring_doorbells(fake.context, many, 128), 0, "128 are rung");
	is_int(fake.writes, 1, "in one");
	is_int(bells(NULL), 128, "each");
	is_int(mxedv_ring_doorbells(fake.context, NULL, 0), 0, "none are rung");
	is_int(fake.writes, 1, "in none");
}

static void test_errors(void)
{
	struct ibv_context *other = open_context();
	struct verbs_device strange = { .ops = NULL };
	struct ibv_context foreign = { .device = &strange.device };
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct ibv_qp *target, *wrong[2] = { qps[0], NULL };

	attr.qp_type = IBV_QPT_XRC_RECV;
	attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	target = mxedv_create_qp(fake.context, &attr, NULL);
	fake.writes = 0;
	is_int(mxedv_ring_doorbells(NULL, qps, 1), EINVAL, "no context");
	is_int(mxedv_ring_doorbells(fake.context, NULL, 1), EINVAL, "no array");
	is_int(mxedv_ring_doorbells(fake.context, wrong, 2), EINVAL,
	       "no queue pair");
	wrong[1] = target;
	is_int(mxedv_ring_doorbells(fake.context, wrong, 2), EINVAL,
	       "no send queue");
	is_int(mxedv_ring_doorbells(other, qps, 1), EINVAL, "of another context");
	is_int(mxedv_ring_doorbells(&foreign, qps, 1), EOPNOTSUPP,
	       "of another driver");
	is_int(fake.writes, 0, "nothing was rung");
	fake.ops->destroy_qp(target);
	fake.ops->free_context(other);

	fake.write_errno = EINTR;
	fake.write_failures = 2;
	is_int(mxedv_ring_doorbells(fake.context, qps, 3), 0, "interrupted");
	is_int(bells(NULL), 3, "and rung all the same");
	fake.write_errno = ENOENT;
	fake.write_failures = 1;
	is_int(mxedv_ring_doorbells(fake.context, qps, 3), ENOENT, "one queue pair is gone");
	is_int(bells(NULL), 2, "the others are rung");
	fake.write_errno = EIO;
	fake.write_failures = 1;
	errno = 77;
	is_int(mxedv_ring_doorbells(fake.context, qps, 3), EIO, "the device is gone");
	is_int(errno, 77, "errno is unchanged");
	is_int(bells(NULL), 0, "the kernel is not called again");
}

/* Doorbells of receives and of QPs without the flag are not deferred. */
static void test_others(void)
{
	struct ibv_qp *plain = create_qp(cq, 0);
	struct ibv_recv_wr wr = { .num_sge = 0 };
	struct ibv_recv_wr *bad;
	struct mxe_doorbell db = { 0 };

	is_int(post(plain), 0, "another queue pair");
	is_int(bells(NULL), 1, "rings at once");
	is_int(mxedv_ring_doorbells(fake.context, &plain, 1), 0, "or is rung");
	is_int(bells(NULL), 1, "... by the call");
	fake.ops->destroy_qp(plain);

	to_mqp(qps[0])->rq.hdr->flags = MXE_RING_NEED_DOORBELL;
	is_int(ibv_post_recv(qps[0], &wr, &bad), 0, "receive, flushed");
	is_int(bells(&db), 1, "rings");
	is_u64(db.queues, MXE_DOORBELL_RECV, "for the receive queue");
}

static void create_qps(void)
{
	int i;

	cq = create_cq();
	for (i = 0; i < NUM_QPS; i++)
		qps[i] = create_qp(cq, MXEDV_QP_CREATE_DEFER_DOORBELL);
	is_u64(fake.qp_req.flags, 0, "the kernel does not see the flag");
}

static void destroy_qps(void)
{
	int i;

	is_int(post(qps[0]), 0, "a request that is not rung for");
	for (i = 0; i < NUM_QPS; i++)
		fake.ops->destroy_qp(qps[i]);
	is_int(bells(NULL), 0, "... rings no doorbell when its queue pair is destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	nothing_is_left();
}

static void (*const tests[])(void) = {
	open_device, create_qps, test_many, test_more_than_fit, test_errors,
	test_others, destroy_qps, close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
