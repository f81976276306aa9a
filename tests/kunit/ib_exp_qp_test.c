// SPDX-License-Identifier: GPL-2.0
/*
 * Proves which QPs can be enabled, which requests can be posted, and which of
 * them are passed to the driver unchanged. QPs and the device can be removed
 * while requests are in flight.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/workqueue.h>

#include "ib_exp_fake.h"

/* ---- enabling ---------------------------------------------------------- */

static void expect_enable(struct kunit *test, int err)
{
	struct fake *fake = fake_of(test);
	struct ib_exp_qp *eqp = ib_exp_qp_enable(&fake->qp, NULL, NULL);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(eqp), err);
	if (!IS_ERR(eqp))
		ib_exp_qp_disable(eqp);
}

/* Adds the device again, as one of another driver. The QP is not enabled. */
static void be(struct fake *fake, u32 driver_id, enum ib_atomic_cap cap,
	       enum ib_atomic_cap masked_cap)
{
	ib_exp_qp_disable(fake->eqp);
	fake->eqp = NULL;
	fake_remove(fake);
	fake_add(fake, driver_id, cap, masked_cap);
}

static void qp_enable(struct kunit *test)
{
	static const enum ib_qp_type types[] = {
		IB_QPT_UC, IB_QPT_UD, IB_QPT_GSI, IB_QPT_XRC_TGT,
		IB_QPT_RAW_PACKET,
	};
	struct fake *fake = fake_of(test);
	int i;

	expect_enable(test, 0);
	fake->qp.qp_type = IB_QPT_XRC_INI;
	expect_enable(test, 0);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fake->qp.qp_type = types[i];
		expect_enable(test, -EOPNOTSUPP);
	}
	fake->qp.qp_type = IB_QPT_RC;

	fake->qp.uobject = (void *)fake;
	expect_enable(test, -EINVAL);
	fake->qp.uobject = NULL;
	fake->cq.wc = NULL;
	expect_enable(test, -EINVAL);
	fake->cq.wc = fake->wcs;
	fake->qp.send_cq = NULL;
	expect_enable(test, -EINVAL);
	fake->qp.send_cq = &fake->cq;

	be(fake, RDMA_DRIVER_SIW, IB_ATOMIC_NONE, IB_ATOMIC_NONE);
	expect_enable(test, -EOPNOTSUPP);
	fake_remove(fake);
	expect_enable(test, -ENODEV);
}

/* ---- posting ----------------------------------------------------------- */

struct rule {
	const char *desc;
	void (*break_it)(struct fake_request *req);
};

static void a_plain_opcode(struct fake_request *req)
{
	req->wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
}

static void a_send(struct fake_request *req)
{
	req->wr.wr.opcode = IB_WR_SEND;
}

static void a_list(struct fake_request *req)
{
	req->wr.wr.next = &req->wr.wr;
}

static void no_sge(struct fake_request *req)
{
	req->wr.wr.num_sge = 0;
}

static void two_sges(struct fake_request *req)
{
	req->wr.wr.num_sge = 2;
}

static void four_bytes(struct fake_request *req)
{
	req->sge.length = 4;
}

static void sixteen_bytes(struct fake_request *req)
{
	req->sge.length = 16;
}

static void unsignalled(struct fake_request *req)
{
	req->wr.wr.send_flags = 0;
}

static void inline_data(struct fake_request *req)
{
	req->wr.wr.send_flags |= IB_SEND_INLINE;
}

static void solicited(struct fake_request *req)
{
	req->wr.wr.send_flags |= IB_SEND_SOLICITED;
}

static void no_cqe(struct fake_request *req)
{
	req->wr.wr.wr_cqe = NULL;
}

static void another_result(struct fake_request *req)
{
	req->sge.addr += 8;
}

static const struct rule rules[] = {
	{ "a plain opcode", a_plain_opcode },
	{ "a send", a_send },
	{ "a list", a_list },
	{ "no sge", no_sge },
	{ "two sges", two_sges },
	{ "four bytes", four_bytes },
	{ "sixteen bytes", sixteen_bytes },
	{ "unsignalled", unsignalled },
	{ "inline", inline_data },
	{ "solicited", solicited },
	{ "no cqe", no_cqe },
	{ "another result", another_result },
};

KT_ARRAY_PARAM(rule, rules);

/* An invalid request is refused, whether it would be emulated or lowered. */
static void qp_post_rules(struct kunit *test)
{
	const struct rule *rule = test->param_value;
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake_fetch_add(&req, 1, 0x8000);
	rule->break_it(&req);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), -EINVAL);
	fake_cmp_swap(&req, 1, KT_ONES, 1, 1);
	rule->break_it(&req);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake->total_posted, 0U);
	fake_expect_waiting(fake, &req);
}

static void qp_post_no_result(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake_fetch_add(&req, 1, 0x8000);
	KUNIT_EXPECT_EQ(test, ib_exp_post_send(fake->eqp, &req.wr, NULL),
			-EINVAL);
}

/* Removes the oldest request without executing it. */
static void forget(struct fake *fake)
{
	struct fake_wr *wr = fake_oldest(fake);

	list_del(&wr->entry);
	fake->num_posted--;
	kfree(wr);
}

static void qp_native_goes_straight(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	be(fake, RDMA_DRIVER_MLX4, IB_ATOMIC_HCA, IB_ATOMIC_HCA);
	fake->eqp = ib_exp_qp_enable(&fake->qp, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->eqp));
	KUNIT_EXPECT_TRUE(test, fake->eqp->native);

	fake_fetch_add(&req, 1, 0x8000);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), 0);
	KUNIT_EXPECT_PTR_EQ(test, fake->last, (const void *)&req.wr.wr);
	forget(fake);
	fake_cmp_swap(&req, 1, 2, 3, 4);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), 0);
	KUNIT_EXPECT_PTR_EQ(test, fake->last, (const void *)&req.wr.wr);
	forget(fake);

	/* A standard request is lowered even if the QP is native. */
	fake_fetch_add(&req, 1, 0);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), 0);
	KUNIT_EXPECT_EQ(test, fake_oldest(fake)->wr.wr.opcode,
			IB_WR_ATOMIC_FETCH_AND_ADD);
	forget(fake);
}

static void announce_half(struct ib_device *ibdev,
			  struct ib_exp_driver_attr *attr)
{
	attr->masked_cmp_swap = true;
}

static void qp_one_of_two_is_native(struct kunit *test)
{
	struct ib_exp_driver driver = {
		.driver_id = 0x68616c66,
		.query = announce_half,
	};
	struct fake *fake = fake_of(test);
	struct fake_request req;

	KUNIT_ASSERT_EQ(test, ib_exp_register_driver(&driver), 0);
	be(fake, driver.driver_id, IB_ATOMIC_NONE, IB_ATOMIC_NONE);
	ib_exp_unregister_driver(&driver);
	fake->eqp = ib_exp_qp_enable(&fake->qp, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->eqp));
	KUNIT_EXPECT_FALSE(test, fake->eqp->native);

	fake_cmp_swap(&req, 1, 2, 3, 4);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), 0);
	KUNIT_EXPECT_PTR_EQ(test, fake->last, (const void *)&req.wr.wr);
	forget(fake);
	fake_fetch_add(&req, 1, 0x8000);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), -EOPNOTSUPP);
	fake_fetch_add(&req, 1, 0);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), -EOPNOTSUPP);
}

/* ---- disabling --------------------------------------------------------- */

static void disable(struct fake *fake)
{
	ib_exp_qp_disable(fake->eqp);
	fake->eqp = NULL;
}

static void qp_disable_idle(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake_fetch_add(&req, 1, 0x8000);
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	fake_execute(fake, fake_oldest(fake));
	disable(fake);
	KUNIT_EXPECT_FALSE(test, fake->error);
	fake_expect(fake, &req, IB_WC_SUCCESS, 0);
}

static void post_three(struct fake *fake, struct fake_request *reqs)
{
	int i;

	fake->word = 1;
	for (i = 0; i < 3; i++) {
		fake_fetch_add(&reqs[i], 1, 0x8000);
		KUNIT_ASSERT_EQ(fake->test, fake_post(fake, &reqs[i]), 0);
	}
}

static void expect_flushed(struct fake *fake, const struct fake_request *reqs)
{
	int i;

	KUNIT_EXPECT_TRUE(fake->test, fake->error);
	KUNIT_EXPECT_EQ(fake->test, fake->word, 1ULL);
	for (i = 0; i < 3; i++)
		fake_expect(fake, &reqs[i], IB_WC_WR_FLUSH_ERR, 0);
}

static void qp_disable_flushes(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request reqs[3];

	post_three(fake, reqs);
	disable(fake);
	expect_flushed(fake, reqs);
}

/* Requests in flight are still executed, but not tried again. */
static void qp_disable_stops_the_loop(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request reqs[3];

	fake->on_error = FAKE_EXECUTE;
	post_three(fake, reqs);
	disable(fake);
	expect_flushed(fake, reqs);
	KUNIT_EXPECT_EQ(test, fake->total_posted, 3U);
}

static void qp_disable_polls_direct(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request reqs[3];

	fake->on_error = FAKE_HOLD;
	fake->cq.poll_ctx = IB_POLL_DIRECT;
	post_three(fake, reqs);
	disable(fake);
	expect_flushed(fake, reqs);
}

/* Enables and disables the QP concurrently with the test. */
struct helper {
	struct delayed_work work;
	struct fake *fake;
	bool done;
	int enable_err;
	unsigned int told;
};

static void helper_disable(struct work_struct *work)
{
	struct helper *h = container_of(to_delayed_work(work), struct helper,
					work);

	struct ib_exp_qp *more = ib_exp_qp_enable(&h->fake->qp, NULL, NULL);

	h->enable_err = PTR_ERR_OR_ZERO(more);
	if (!IS_ERR(more))
		ib_exp_qp_disable(more);
	disable(h->fake);
	WRITE_ONCE(h->done, true);
}

static void helper_init(struct helper *h, struct fake *fake)
{
	*h = (struct helper) { .fake = fake };
	INIT_DELAYED_WORK_ONSTACK(&h->work, helper_disable);
}

static void helper_exit(struct helper *h)
{
	flush_delayed_work(&h->work);
	destroy_delayed_work_on_stack(&h->work);
}

static void qp_disable_waits(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request reqs[3];
	struct ib_exp_qp *eqp = fake->eqp;
	struct helper h;

	fake->on_error = FAKE_HOLD;
	helper_init(&h, fake);
	post_three(fake, reqs);
	schedule_delayed_work(&h.work, 0);
	msleep(50);
	KUNIT_EXPECT_TRUE(test, fake->error);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(h.done));
	/* No request is accepted while it waits. */
	KUNIT_EXPECT_EQ(test, ib_exp_post_send(eqp, &reqs[0].wr, &reqs[0].old),
			-ESHUTDOWN);
	fake_flush(fake);
	helper_exit(&h);
	KUNIT_EXPECT_TRUE(test, h.done);
	expect_flushed(fake, reqs);
	KUNIT_EXPECT_EQ(test, h.enable_err, 0);
}

/* ---- removal of the device ---------------------------------------------- */

static void helper_told(struct ib_exp_qp *eqp, void *context)
{
	struct helper *h = context;

	KUNIT_EXPECT_PTR_EQ(h->fake->test, eqp, h->fake->eqp);
	h->told++;
	schedule_delayed_work(&h->work, HZ / 20);
}

static void qp_removal_tells_and_waits(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request reqs[3];
	struct helper h;

	helper_init(&h, fake);
	disable(fake);
	fake->eqp = ib_exp_qp_enable(&fake->qp, helper_told, &h);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->eqp));
	post_three(fake, reqs);
	fake_remove(fake);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(h.done));
	KUNIT_EXPECT_EQ(test, h.told, 1U);
	KUNIT_EXPECT_EQ(test, h.enable_err, -ENODEV);
	helper_exit(&h);
	expect_flushed(fake, reqs);
}

static void qp_removal_waits_for_who_knows(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct helper h;

	helper_init(&h, fake);
	schedule_delayed_work(&h.work, HZ / 10);
	fake_remove(fake);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(h.done));
	KUNIT_EXPECT_EQ(test, h.enable_err, -ENODEV);
	helper_exit(&h);
}

static void qp_query(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct ib_exp_device_attr attr;

	KUNIT_ASSERT_EQ(test, ib_exp_query_device(&fake->ibdev, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_EMULATED);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, IB_ATOMIC_HCA);
	KUNIT_EXPECT_EQ(test, attr.max_retries, (u32)FAKE_MAX_RETRIES);
	disable(fake);
	fake_remove(fake);
	KUNIT_EXPECT_EQ(test, ib_exp_query_device(&fake->ibdev, &attr),
			-ENODEV);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(qp_query),
	KUNIT_CASE(qp_enable),
	KUNIT_CASE_PARAM(qp_post_rules, rule_gen_params),
	KUNIT_CASE(qp_post_no_result),
	KUNIT_CASE(qp_native_goes_straight),
	KUNIT_CASE(qp_one_of_two_is_native),
	KUNIT_CASE(qp_disable_idle),
	KUNIT_CASE(qp_disable_flushes),
	KUNIT_CASE(qp_disable_stops_the_loop),
	KUNIT_CASE(qp_disable_polls_direct),
	KUNIT_CASE(qp_disable_waits),
	KUNIT_CASE(qp_removal_tells_and_waits),
	KUNIT_CASE(qp_removal_waits_for_who_knows),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "ib_exp_qp",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);
