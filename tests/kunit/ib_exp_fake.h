/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fake is an RDMA device made of one word of "remote" memory.  Nothing happens by
 * itself: what is posted waits until the test lets it be executed, fail, or be
 * flushed, in any order it likes.
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
	struct ib_port_data ports[2];	/* ib_modify_qp() looks there */
	struct ib_cq cq;
	struct ib_wc wcs[1];
	struct ib_qp qp;
	struct ib_exp_qp *eqp;

	u64 word;
	spinlock_t lock;		/* of what follows */
	struct list_head posted;	/* struct fake_wr */
	unsigned int num_posted;	/* in the list */
	unsigned int max_posted;	/* at any time */
	unsigned int total_posted;
	int post_error;			/* what post_send() returns */
	unsigned int post_error_after;	/* so many that it takes */
	bool error;			/* the queue pair's state */
	/* What moving it to ERR does: flush, nothing yet, or execute. */
	enum { FAKE_FLUSH, FAKE_HOLD, FAKE_EXECUTE } on_error;
	const void *last;		/* what was passed, only to compare */
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
	void (*then)(struct fake_request *req);	/* in the completion */
	struct fake *fake;
};

static inline struct fake *fake_of(struct kunit *test)
{
	return test->priv;
}

/* For struct kunit_suite.  The mode is emulated, the queue pair is enabled. */
int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);

/* Add and remove the device as ib_core does, with these attributes. */
void fake_add(struct fake *fake, u32 driver_id, enum ib_atomic_cap cap,
	      enum ib_atomic_cap masked_cap);
void fake_remove(struct fake *fake);

void fake_cmp_swap(struct fake_request *req, u64 compare, u64 compare_mask,
		   u64 swap, u64 swap_mask);
void fake_fetch_add(struct fake_request *req, u64 add, u64 boundary);
int fake_post(struct fake *fake, struct fake_request *req);

/* The oldest one that waits, which must be there. */
struct fake_wr *fake_oldest(struct fake *fake);
/* Execute one, or let it fail. */
void fake_execute(struct fake *fake, struct fake_wr *wr);
void fake_fail(struct fake *fake, struct fake_wr *wr,
	       enum ib_wc_status status, u32 vendor_err);
void fake_flush(struct fake *fake);

/* Expect what has become of a request. */
void fake_expect(struct fake *fake, const struct fake_request *req,
		 enum ib_wc_status status, u32 vendor_err);
void fake_expect_waiting(struct fake *fake, const struct fake_request *req);

#endif /* IB_EXP_KUNIT_FAKE_H */
