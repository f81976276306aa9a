// SPDX-License-Identifier: GPL-2.0
/*
 * Implements the fake device, which executes, fails or flushes posted requests
 * when a test asks for it. See ib_exp_fake.h.
 */
#include <linux/slab.h>

#include "client.h"
#include "ib_exp_fake.h"

/* ---- verbs ------------------------------------------------------------- */

static int fake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	struct fake *fake = container_of(qp, struct fake, qp);
	struct fake_wr *copy;
	unsigned long flags;

	fake->last = wr;
	*bad_wr = wr;
	if (fake->post_error && !fake->post_error_after--)
		return fake->post_error;
	copy = kzalloc(sizeof(*copy), GFP_ATOMIC);
	if (!copy)
		return -ENOMEM;
	copy->wr = *atomic_wr(wr);
	if (wr->num_sge)
		copy->sge = wr->sg_list[0];
	spin_lock_irqsave(&fake->lock, flags);
	list_add_tail(&copy->entry, &fake->posted);
	fake->total_posted++;
	fake->max_posted = max(fake->max_posted, ++fake->num_posted);
	spin_unlock_irqrestore(&fake->lock, flags);
	return 0;
}

void fake_flush(struct fake *fake)
{
	while (!list_empty(&fake->posted))
		fake_fail(fake, fake_oldest(fake), IB_WC_WR_FLUSH_ERR, 0);
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct fake *fake = container_of(qp, struct fake, qp);

	fake->error = attr->qp_state == IB_QPS_ERR;
	if (fake->on_error == FAKE_FLUSH)
		fake_flush(fake);
	while (fake->on_error == FAKE_EXECUTE && !list_empty(&fake->posted))
		fake_execute(fake, fake_oldest(fake));
	return 0;
}

/* ib_exp calls this only for a CQ that nothing else polls. */
static int fake_poll_cq(struct ib_cq *cq, int num, struct ib_wc *wc)
{
	struct fake *fake = container_of(cq, struct fake, cq);
	struct fake_wr *wr;

	if (!fake->error || list_empty(&fake->posted))
		return 0;
	wr = fake_oldest(fake);
	*wc = (struct ib_wc) {
		.wr_cqe = wr->wr.wr.wr_cqe,
		.status = IB_WC_WR_FLUSH_ERR,
		.qp = &fake->qp,
	};
	list_del(&wr->entry);
	fake->num_posted--;
	kfree(wr);
	return 1;
}

static const struct ib_device_ops fake_ops = {
	.post_send = fake_post_send,
	.modify_qp = fake_modify_qp,
	.poll_cq = fake_poll_cq,
};

/* ---- the device -------------------------------------------------------- */

void fake_add(struct fake *fake, u32 driver_id, enum ib_atomic_cap cap,
	      enum ib_atomic_cap masked_cap)
{
	struct kunit *test = fake->test;

	fake->ibdev.ops.driver_id = driver_id;
	fake->ibdev.attrs.atomic_cap = cap;
	fake->ibdev.attrs.masked_atomic_cap = masked_cap;
	KUNIT_ASSERT_EQ(test, ib_exp_client.add(&fake->ibdev), 0);
	fake->dev = ib_get_client_data(&fake->ibdev, &ib_exp_client);
	KUNIT_ASSERT_NOT_NULL(test, fake->dev);
	fake->dev->attr.max_retries = FAKE_MAX_RETRIES;
}

void fake_remove(struct fake *fake)
{
	if (!fake->dev)
		return;
	ib_exp_client.remove(&fake->ibdev, fake->dev);
	fake->dev = NULL;
	xa_erase(&fake->ibdev.client_data, ib_exp_client.client_id);
}

int fake_init(struct kunit *test)
{
	struct fake *fake = ib_alloc_device(fake, ibdev);

	if (!fake)
		return -ENOMEM;
	test->priv = fake;
	fake->test = test;
	spin_lock_init(&fake->lock);
	INIT_LIST_HEAD(&fake->posted);
	ib_set_device_ops(&fake->ibdev, &fake_ops);
	fake->ibdev.kverbs_provider = true;
	dev_set_name(&fake->ibdev.dev, "ibexpfake");

	fake->ibdev.port_data = fake->ports;
	fake->cq.device = &fake->ibdev;
	fake->cq.poll_ctx = IB_POLL_SOFTIRQ;
	fake->cq.wc = fake->wcs;
	fake->qp.device = &fake->ibdev;
	fake->qp.real_qp = &fake->qp;
	fake->qp.send_cq = &fake->cq;
	fake->qp.qp_type = IB_QPT_RC;

	fake_add(fake, RDMA_DRIVER_RXE, IB_ATOMIC_HCA, IB_ATOMIC_NONE);
	fake->eqp = ib_exp_qp_enable(&fake->qp, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->eqp));
	return 0;
}

void fake_exit(struct kunit *test)
{
	struct fake *fake = test->priv;

	if (!fake)
		return;
	if (!IS_ERR_OR_NULL(fake->eqp))
		ib_exp_qp_disable(fake->eqp);
	fake_remove(fake);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->posted));
	fake->ibdev.port_data = NULL;
	ib_dealloc_device(&fake->ibdev);
}

/* ---- requests ---------------------------------------------------------- */

static void fake_request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct fake_request *req = container_of(wc->wr_cqe,
						struct fake_request, cqe);

	req->completions++;
	req->wc = *wc;
	if (req->then)
		req->then(req);
}

static void fake_request_init(struct fake_request *req,
			      enum ib_wr_opcode opcode)
{
	*req = (struct fake_request) {
		.cqe.done = fake_request_done,
		.sge.addr = (uintptr_t)&req->old,
		.sge.length = sizeof(req->old),
		.sge.lkey = 0x1e1,
		.wr.wr.wr_cqe = &req->cqe,
		.wr.wr.sg_list = &req->sge,
		.wr.wr.num_sge = 1,
		.wr.wr.opcode = opcode,
		.wr.wr.send_flags = IB_SEND_SIGNALED,
		.wr.remote_addr = 0x7000,
		.wr.rkey = 0x2e2,
	};
}

void fake_cmp_swap(struct fake_request *req, u64 compare, u64 compare_mask,
		   u64 swap, u64 swap_mask)
{
	fake_request_init(req, IB_WR_MASKED_ATOMIC_CMP_AND_SWP);
	req->wr.compare_add = compare;
	req->wr.compare_add_mask = compare_mask;
	req->wr.swap = swap;
	req->wr.swap_mask = swap_mask;
}

void fake_fetch_add(struct fake_request *req, u64 add, u64 boundary)
{
	fake_request_init(req, IB_WR_MASKED_ATOMIC_FETCH_AND_ADD);
	req->wr.compare_add = add;
	req->wr.compare_add_mask = boundary;
}

int fake_post(struct fake *fake, struct fake_request *req)
{
	req->fake = fake;
	return ib_exp_post_send(fake->eqp, &req->wr, &req->old);
}

/* ---- execution and completion ------------------------------------------- */

struct fake_wr *fake_oldest(struct fake *fake)
{
	KUNIT_ASSERT_FALSE(fake->test, list_empty(&fake->posted));
	return list_first_entry(&fake->posted, struct fake_wr, entry);
}

/* The entry of the queue is freed before the completion is delivered. */
static void fake_complete(struct fake *fake, struct fake_wr *wr,
			  enum ib_wc_opcode opcode, enum ib_wc_status status,
			  u32 vendor_err)
{
	struct ib_wc wc = {
		.wr_cqe = wr->wr.wr.wr_cqe,
		.status = status,
		.opcode = opcode,
		.vendor_err = vendor_err,
		.qp = &fake->qp,
	};
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	list_del(&wr->entry);
	fake->num_posted--;
	spin_unlock_irqrestore(&fake->lock, flags);
	kfree(wr);
	wc.wr_cqe->done(&fake->cq, &wc);
}

void fake_execute(struct fake *fake, struct fake_wr *wr)
{
	struct kunit *test = fake->test;
	u64 old = fake->word;
	enum ib_wc_opcode opcode;

	/* The emulation must not change these values of the consumer. */
	KUNIT_EXPECT_EQ(test, wr->wr.remote_addr, 0x7000ULL);
	KUNIT_EXPECT_EQ(test, wr->wr.rkey, 0x2e2U);
	KUNIT_EXPECT_EQ(test, wr->sge.lkey, 0x1e1U);
	KUNIT_EXPECT_EQ(test, wr->sge.length, 8U);
	KUNIT_EXPECT_TRUE(test, wr->wr.wr.send_flags & IB_SEND_SIGNALED);

	switch (wr->wr.wr.opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		opcode = IB_WC_COMP_SWAP;
		if (old == wr->wr.compare_add)
			fake->word = wr->wr.swap;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		opcode = IB_WC_FETCH_ADD;
		fake->word += wr->wr.compare_add;
		break;
	default:
		KUNIT_FAIL(test, "opcode %d is not a standard atomic",
			   wr->wr.wr.opcode);
		return;
	}
	*(u64 *)(uintptr_t)wr->sge.addr = old;
	fake_complete(fake, wr, opcode, IB_WC_SUCCESS, 0);
}

/* The opcode of a failed completion is undefined. */
void fake_fail(struct fake *fake, struct fake_wr *wr,
	       enum ib_wc_status status, u32 vendor_err)
{
	fake_complete(fake, wr, IB_WC_SEND, status, vendor_err);
}

void fake_expect(struct fake *fake, const struct fake_request *req,
		 enum ib_wc_status status, u32 vendor_err)
{
	struct kunit *test = fake->test;

	KUNIT_EXPECT_EQ(test, req->completions, 1U);
	KUNIT_EXPECT_EQ(test, req->wc.status, status);
	KUNIT_EXPECT_EQ(test, req->wc.vendor_err, vendor_err);
	KUNIT_EXPECT_PTR_EQ(test, req->wc.qp, &fake->qp);
	KUNIT_EXPECT_EQ(test, req->wc.opcode,
			req->wr.wr.opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP ?
			IB_WC_MASKED_COMP_SWAP : IB_WC_MASKED_FETCH_ADD);
}

void fake_expect_waiting(struct fake *fake, const struct fake_request *req)
{
	KUNIT_EXPECT_EQ(fake->test, req->completions, 0U);
}
