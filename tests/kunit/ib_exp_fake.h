/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fake RDMA device whose "remote" memory is one word. Posted requests stay in
 * the send queue until the test executes, fails or flushes them, in any order.
 */
#ifndef IB_EXP_KUNIT_FAKE_H
#define IB_EXP_KUNIT_FAKE_H

#include <kunit/test.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/ib_exp.h>

#include "common.h"
#include "device.h"

#define FAKE_MAX_RETRIES	5

struct fake {
	struct ib_device ibdev;		/* first, for ib_alloc_device() */
	struct kunit *test;
	struct ib_exp_device *dev;
	struct ib_port_data ports[2];	/* ib_modify_qp() reads it */
	struct ib_cq cq;
	struct ib_wc wcs[1];
	struct ib_qp qp;
	struct ib_exp_qp *eqp;

	u64 word;
	spinlock_t lock;		/* protects the members below */
	struct list_head posted;	/* struct fake_wr */
	unsigned int num_posted;	/* in the list */
	unsigned int max_posted;	/* at any time */
	unsigned int total_posted;
	int post_error;			/* result of post_send() */
	unsigned int post_error_after;	/* requests before that */
	bool error;			/* the QP is in ERR */
	/* Effect of the move to ERR: flush, nothing yet, or execute. */
	enum { FAKE_FLUSH, FAKE_HOLD, FAKE_EXECUTE } on_error;
	const void *last;		/* last pointer passed, only compared */
};

/* A work request in the queue. */
struct fake_wr {
	struct list_head entry;
	struct ib_atomic_wr wr;
	struct ib_sge sge;
};

/* A request of the consumer, and its completion. */
struct fake_request {
	struct ib_cqe cqe;
	struct ib_atomic_wr wr;
	struct ib_sge sge;
	u64 old;
	unsigned int completions;
	struct ib_wc wc;
	void (*then)(struct fake_request *req);	/* called by the completion */
	struct fake *fake;
};

/**
 * fake_of() - Return the fixture of a test case.
 * @test: test case that is running
 *
 * Return: the fixture.
 */
static inline struct fake *fake_of(struct kunit *test)
{
	return test->priv;
}

/**
 * fake_init() - Create the fake device with an enabled QP in emulated mode.
 * @test: test case that is about to run
 *
 * The init callback of struct kunit_suite.
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int fake_init(struct kunit *test);

/**
 * fake_exit() - Destroy what fake_init() created.
 * @test: test case that has ended
 *
 * The exit callback of struct kunit_suite.
 *
 * Context: Process context. May sleep.
 */
void fake_exit(struct kunit *test);

/**
 * fake_add() - Add the device to ib_exp as ib_core does.
 * @fake: fixture
 * @driver_id: driver of the device
 * @cap: atomic capability
 * @masked_cap: masked atomic capability
 *
 * Context: Process context. May sleep.
 */
void fake_add(struct fake *fake, u32 driver_id, enum ib_atomic_cap cap,
	      enum ib_atomic_cap masked_cap);

/**
 * fake_remove() - Remove the device from ib_exp as ib_core does.
 * @fake: fixture
 *
 * Context: Process context. May sleep.
 */
void fake_remove(struct fake *fake);

/**
 * fake_cmp_swap() - Fill in a masked compare-and-swap request.
 * @req: request to fill in
 * @compare: value to compare with
 * @compare_mask: bits to compare
 * @swap: new value
 * @swap_mask: bits to replace
 */
void fake_cmp_swap(struct fake_request *req, u64 compare, u64 compare_mask,
		   u64 swap, u64 swap_mask);

/**
 * fake_fetch_add() - Fill in a masked fetch-and-add request.
 * @req: request to fill in
 * @add: value to add
 * @boundary: most significant bits of the fields
 */
void fake_fetch_add(struct fake_request *req, u64 add, u64 boundary);

/**
 * fake_post() - Post a request through ib_exp.
 * @fake: fixture
 * @req: request to post
 *
 * Return: 0 or the negative errno of the post.
 */
int fake_post(struct fake *fake, struct fake_request *req);

/**
 * fake_oldest() - Return the oldest request in the send queue of the device.
 * @fake: fixture
 *
 * Ends the test case if the queue is empty.
 *
 * Return: the request.
 */
struct fake_wr *fake_oldest(struct fake *fake);

/**
 * fake_execute() - Execute a request and complete it successfully.
 * @fake: fixture
 * @wr: request in the send queue, which is freed
 */
void fake_execute(struct fake *fake, struct fake_wr *wr);

/**
 * fake_fail() - Complete a request with an error.
 * @fake: fixture
 * @wr: request in the send queue, which is freed
 * @status: status of the completion
 * @vendor_err: vendor error of the completion
 */
void fake_fail(struct fake *fake, struct fake_wr *wr,
	       enum ib_wc_status status, u32 vendor_err);

/**
 * fake_flush() - Complete all requests in the send queue with a flush error.
 * @fake: fixture
 */
void fake_flush(struct fake *fake);

/**
 * fake_expect() - Expect that a request has completed once.
 * @fake: fixture
 * @req: request that was posted
 * @status: expected status
 * @vendor_err: expected vendor error
 */
void fake_expect(struct fake *fake, const struct fake_request *req,
		 enum ib_wc_status status, u32 vendor_err);

/**
 * fake_expect_waiting() - Expect that a request has not completed.
 * @fake: fixture
 * @req: request that was posted
 */
void fake_expect_waiting(struct fake *fake, const struct fake_request *req);

#endif /* IB_EXP_KUNIT_FAKE_H */
