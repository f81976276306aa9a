// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe with a libibverbs whose structures differ from those that it
 * was built with.
 */
#include <stdio.h>

#include "fake_kernel.h"

enum {
	LAST_BUILDERS = RDMAV_QP_EX_WITH_ATOMIC_WRITE | RDMAV_QP_EX_WITH_FLUSH,
	/* Sizes of struct ibv_qp_ex. */
	SIZE_36 = offsetof(struct verbs_qp, wr_atomic_write),
	SIZE_44 = SIZE_36 + 8,
	SIZE_45 = SIZE_44 + 8,
};

/* Loads the library with a struct ibv_qp_ex of that size in libibverbs. */
static bool load(size_t qp_ex_size)
{
	fake.qp_ex_size = qp_ex_size;
	return mxe_rdmav_check_qp();
}

static struct ibv_qp *create_qp_ops(struct ibv_cq *cq, uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);

	attr.send_ops_flags = send_ops;
	return mxedv_create_qp(fake.context, &attr, NULL);
}

/* A QP is extended, whatever size struct ibv_qp_ex has in libibverbs. */
static void test_size(size_t size)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp;

	if (!ok(load(size), "libibverbs with a struct ibv_qp_ex of %zu bytes", size))
		return;
	qp = create_qp_ops(cq, IBV_QP_EX_WITH_SEND);
	if (!qp)
		bail_out("no queue pair: %s", strerror(errno));
	ok(ibv_qp_to_qp_ex(qp) == to_qpx(qp), "a queue pair with builders is extended");
	ok(mxedv_qp_ex_from_ibv_qp_ex(to_qpx(qp))->wr_masked_atomic_cmp_swp,
	   "it has the builders of masked atomics");
	is_int(*(uint32_t *)((char *)qp + size), VERBS_QP_EX,
	       "no builder was written over comp_mask");
	destroy(qp, cq);
}

static void test_sizes(void)
{
	size_t size;

	/* Also of what may follow. */
	for (size = SIZE_36; size <= SIZE_45 + 64; size += 8)
		test_size(size);
	load(sizeof(struct ibv_qp_ex));
}

static void test_builders_of(size_t size, uint64_t send_ops, bool accepted)
{
	struct ibv_cq *cq = create_cq();
	struct ibv_qp *qp;

	load(size);
	errno = 0;
	qp = create_qp_ops(cq, send_ops);
	if (accepted) {
		if (!ok(qp, "builders that libibverbs has are accepted"))
			bail_out("no queue pair: %s", strerror(errno));
		ok(!(send_ops & RDMAV_QP_EX_WITH_FLUSH) || to_mqp(qp)->vqp.wr_flush,
		   "they are set");
		destroy(qp, cq);
	} else {
		ok(!qp && errno == EOPNOTSUPP, "builders that it lacks are refused");
		fake.ops->destroy_cq(cq);
	}
	load(sizeof(struct ibv_qp_ex));
}

/* It depends on the libibverbs of the process, not on the headers. */
static void test_builders(void)
{
	test_builders_of(SIZE_36, RDMAV_QP_EX_WITH_ATOMIC_WRITE, false);
	test_builders_of(SIZE_44, RDMAV_QP_EX_WITH_ATOMIC_WRITE, true);
	test_builders_of(SIZE_44, RDMAV_QP_EX_WITH_FLUSH, false);
	test_builders_of(SIZE_45, LAST_BUILDERS, true);
}

/* A libibverbs that libmxe does not work with is refused with one line. */
static void test_refused(void)
{
	struct ibv_context *context;

	ok(!load(sizeof(struct verbs_qp)), "a struct ibv_qp_ex that is too large");
	load(sizeof(struct ibv_qp_ex));

	fake.context_size += sizeof(void *);
	errno = 0;
	context = open_context();
	ok(!context && errno == EPROTO, "another size of struct verbs_context");
	fake.context_size -= sizeof(void *);

	fake.shift_ops = true;
	errno = 0;
	context = open_context();
	ok(!context && errno == EPROTO, "another table of functions");
	fake.shift_ops = false;
	is_int(fake.contexts, 1, "no context is left");
}

int main(void)
{
	static const test_fn tests[] = {
		open_device, test_sizes, test_builders, test_refused, close_device,
	};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}
