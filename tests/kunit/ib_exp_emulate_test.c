// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that masked atomics are emulated with standard atomics, with and
 * without a loop, on a device that loses, fails and delays requests at every
 * step.
 */
#include <linux/prandom.h>
#include <linux/slab.h>

#include <masked_atomic.h>

#include "emulate.h"
#include "ib_exp_fake.h"

/* ---- lowering ---------------------------------------------------------- */

static u64 masked(const struct ib_atomic_wr *wr, u64 old)
{
	if (wr->wr.opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP)
		return masked_cmp_swap_u64(old, wr->compare_add,
					   wr->compare_add_mask, wr->swap,
					   wr->swap_mask);
	return masked_fetch_add_u64(old, wr->compare_add,
				    wr->compare_add_mask);
}

static u64 standard(struct kunit *test, const struct ib_atomic_wr *wr, u64 old)
{
	KUNIT_EXPECT_EQ(test, wr->compare_add_mask | wr->swap_mask, 0ULL);
	if (wr->wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP)
		return old == wr->compare_add ? wr->swap : old;
	KUNIT_EXPECT_EQ(test, wr->wr.opcode, IB_WR_ATOMIC_FETCH_AND_ADD);
	return old + wr->compare_add;
}

struct lower_case {
	const char *desc;
	enum ib_wr_opcode opcode;
	u64 compare_add_mask, swap_mask;
	bool standard;
};

#define CAS	IB_WR_MASKED_ATOMIC_CMP_AND_SWP
#define FADD	IB_WR_MASKED_ATOMIC_FETCH_AND_ADD

static const struct lower_case lower_cases[] = {
	{ "compares and swaps all", CAS, KT_ONES, KT_ONES, true },
	{ "compares all, swaps some", CAS, KT_ONES, 0xff00, true },
	{ "compares all, swaps none", CAS, KT_ONES, 0, true },
	{ "compares some, swaps none", CAS, 0xff, 0, true },
	{ "compares and swaps none", CAS, 0, 0, true },
	{ "compares all but the top", CAS, ~KT_TOP, KT_ONES, false },
	{ "compares all but the lowest", CAS, ~1ULL, KT_ONES, false },
	{ "compares none, swaps all", CAS, 0, KT_ONES, false },
	{ "compares none, swaps one", CAS, 0, 1, false },
	{ "one field", FADD, 0, 0, true },
	{ "one field, its top marked", FADD, KT_TOP, 0, true },
	{ "a field of one bit", FADD, 1, 0, false },
	{ "a field of 63 bits", FADD, BIT_ULL(62), 0, false },
	{ "four fields", FADD, 0x8000800080008000ULL, 0, false },
	{ "64 fields", FADD, KT_ONES, 0, false },
};

KT_ARRAY_PARAM(lower, lower_cases);

/* A standard request has the same result after lowering, for any word. */
static void lower_table(struct kunit *test)
{
	const struct lower_case *c = test->param_value;
	struct ib_atomic_wr wr = {
		.wr.opcode = c->opcode,
		.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE,
		.compare_add_mask = c->compare_add_mask,
		.swap_mask = c->swap_mask,
		.remote_addr = 5,
		.rkey = 6,
	};
	struct ib_atomic_wr lowered;
	struct rnd_state rnd;
	int i;

	KUNIT_EXPECT_EQ(test, ib_exp_wr_is_standard(&wr), c->standard);
	if (!c->standard)
		return;
	prandom_seed_state(&rnd, 0x6d7865);
	for (i = 0; i < 1000; i++) {
		u64 old = (u64)prandom_u32_state(&rnd) << 32 |
			  prandom_u32_state(&rnd);

		/* Half of the comparisons succeed. */
		wr.compare_add = i & 1 ? old : ~old + i;
		wr.swap = (u64)prandom_u32_state(&rnd) << 32 |
			  prandom_u32_state(&rnd);
		ib_exp_emulate_lower(&wr, &lowered);
		KUNIT_ASSERT_EQ(test, standard(test, &lowered, old),
				masked(&wr, old));
	}
	KUNIT_EXPECT_EQ(test, lowered.wr.send_flags, wr.wr.send_flags);
	KUNIT_EXPECT_EQ(test, lowered.remote_addr, 5ULL);
	KUNIT_EXPECT_EQ(test, lowered.rkey, 6U);
}

/* The request is posted once, and the device's completion is passed on. */
static void lower_posted(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake->word = 0x1234;
	fake_cmp_swap(&req, 0x1234, KT_ONES, 0xffff, 0xff);
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	KUNIT_EXPECT_PTR_EQ(test, fake_oldest(fake)->wr.wr.wr_cqe, &req.cqe);
	fake_execute(fake, fake_oldest(fake));
	KUNIT_EXPECT_EQ(test, fake->word, 0x12ffULL);
	KUNIT_EXPECT_EQ(test, req.old, 0x1234ULL);
	KUNIT_EXPECT_EQ(test, req.completions, 1U);
	KUNIT_EXPECT_EQ(test, req.wc.opcode, IB_WC_COMP_SWAP);
	KUNIT_EXPECT_EQ(test, fake->total_posted, 1U);
}

/* ---- the loop, alone --------------------------------------------------- */

/* Executes all requests, including those that their completions post. */
static void run(struct fake *fake)
{
	while (!list_empty(&fake->posted))
		fake_execute(fake, fake_oldest(fake));
}

struct loop_case {
	const char *desc;
	enum ib_wr_opcode opcode;
	u64 compare_add, compare_add_mask, swap, swap_mask;
	u64 old, new;
	unsigned int tries;
};

static const struct loop_case loop_cases[] = {
	{ "lock, free, nothing beside it", CAS, 0, 0xffff, 7, 0xffff,
	  0, 7, 1 },
	{ "lock, free", CAS, 0, 0xffff, 7, 0xffff,
	  0xabcd0000, 0xabcd0007, 2 },
	{ "lock, held", CAS, 0, 0xffff, 7, 0xffff,
	  0xabcd0005, 0xabcd0005, 1 },
	{ "unlock, as guessed", CAS, 7, 0xffff, 0, 0xffff, 7, 0, 1 },
	{ "unlock", CAS, 7, 0xffff, 0, 0xffff, 0xabcd0007, 0xabcd0000, 2 },
	{ "bits that are not compared do not count", CAS,
	  0xffff0007, 0xffff, 0, 0xffff, 7, 0, 1 },
	{ "matches, and swaps another field", CAS,
	  7, 0xff, 0x100, 0xff00, 0x1107, 0x0107, 2 },
	{ "matches, and changes nothing", CAS, 7, 0xff, 0x100, 0xff00,
	  0x0107, 0x0107, 1 },
	{ "exchange", CAS, 0, 0, 0x55, 0xff, 0xaa, 0x55, 2 },
	{ "counters at 0", FADD, 0x0001000200030004ULL,
	  0x8000800080008000ULL, 0, 0, 0, 0x0001000200030004ULL, 1 },
	{ "counters", FADD, 0x0001000200030004ULL, 0x8000800080008000ULL,
	  0, 0, 0xffff000100010001ULL, 0x0000000300040005ULL, 2 },
	{ "exclusive or", FADD, 0xff00ff00ff00ff00ULL, KT_ONES, 0, 0,
	  KT_ONES, 0x00ff00ff00ff00ffULL, 2 },
	{ "adds nothing", FADD, 0, 0x80008000, 0, 0, 0x1234, 0x1234, 1 },
};

KT_ARRAY_PARAM(loop, loop_cases);

static void loop_table(struct kunit *test)
{
	const struct loop_case *c = test->param_value;
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake->word = c->old;
	if (c->opcode == CAS)
		fake_cmp_swap(&req, c->compare_add, c->compare_add_mask,
			      c->swap, c->swap_mask);
	else
		fake_fetch_add(&req, c->compare_add, c->compare_add_mask);
	KUNIT_EXPECT_EQ(test, masked(&req.wr, c->old), c->new);
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	fake_expect_waiting(fake, &req);
	run(fake);
	fake_expect(fake, &req, IB_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, req.old, c->old);
	KUNIT_EXPECT_EQ(test, fake->word, c->new);
	KUNIT_EXPECT_EQ(test, fake->total_posted, c->tries);
}

/* Only the first try is fenced, because the others follow it anyway. */
static void loop_fence(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake->word = 1;
	fake_fetch_add(&req, 1, 0x8000);
	req.wr.wr.send_flags |= IB_SEND_FENCE;
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	KUNIT_EXPECT_EQ(test, fake_oldest(fake)->wr.wr.send_flags,
			(int)(IB_SEND_SIGNALED | IB_SEND_FENCE));
	fake_execute(fake, fake_oldest(fake));
	KUNIT_EXPECT_EQ(test, fake_oldest(fake)->wr.wr.send_flags,
			(int)IB_SEND_SIGNALED);
	run(fake);
	fake_expect(fake, &req, IB_WC_SUCCESS, 0);
}

/* ---- the loop, losing -------------------------------------------------- */

/* Others change the word before each of the first `lost` tries. */
static void lose(struct fake *fake, struct fake_request *req,
		 unsigned int lost)
{
	fake->word = 0x10000;
	fake_fetch_add(req, 1, 0x8000);
	KUNIT_ASSERT_EQ(fake->test, fake_post(fake, req), 0);
	while (lost--) {
		fake->word += 0x10000;
		fake_execute(fake, fake_oldest(fake));
	}
}

static void loop_loses_until_the_last(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;
	unsigned int lost;

	for (lost = 0; lost <= FAKE_MAX_RETRIES; lost++) {
		fake->total_posted = 0;
		lose(fake, &req, lost);
		fake_expect_waiting(fake, &req);
		run(fake);
		fake_expect(fake, &req, IB_WC_SUCCESS, 0);
		KUNIT_EXPECT_EQ(test, req.old, 0x10000ULL * (lost + 1));
		KUNIT_EXPECT_EQ(test, fake->word, req.old + 1);
		/* The first guess is wrong without a loss. */
		KUNIT_EXPECT_EQ(test, fake->total_posted,
				max(lost + 1, 2U));
	}
}

static void loop_is_bounded(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;
	u64 word;

	lose(fake, &req, FAKE_MAX_RETRIES + 1);
	word = fake->word;
	fake_expect(fake, &req, IB_WC_GENERAL_ERR, IB_EXP_VENDOR_ERR_RETRIES);
	KUNIT_EXPECT_EQ(test, fake->total_posted, FAKE_MAX_RETRIES + 1U);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->posted));
	KUNIT_EXPECT_EQ(test, word, 0x10000ULL * (FAKE_MAX_RETRIES + 2));

	/* The QP continues to work. */
	KUNIT_EXPECT_FALSE(test, fake->error);
	req.completions = 0;
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	run(fake);
	fake_expect(fake, &req, IB_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, fake->word, word + 1);
}

/*
 * Without retries, a request whose comparison fails completes, and one whose
 * guess is wrong fails.
 */
static void loop_without_retries(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake->dev->attr.max_retries = 0;
	fake->word = 5;
	fake_cmp_swap(&req, 0, 0xff, 1, 0xff);
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	run(fake);
	fake_expect(fake, &req, IB_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, req.old, 5ULL);

	fake->word = 0x500;
	fake_cmp_swap(&req, 0, 0xff, 1, 0xff);
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	run(fake);
	fake_expect(fake, &req, IB_WC_GENERAL_ERR, IB_EXP_VENDOR_ERR_RETRIES);
	KUNIT_EXPECT_EQ(test, fake->word, 0x500ULL);
}

/* The word changes and changes back between two tries, which does no harm. */
static void loop_same_word_again(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	lose(fake, &req, 1);
	fake->word = 77;
	fake->word = 0x20000;
	run(fake);
	fake_expect(fake, &req, IB_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, fake->word, 0x20001ULL);
	KUNIT_EXPECT_EQ(test, fake->total_posted, 2U);
}

/* ---- the loop, failing ------------------------------------------------- */

static void loop_fails_at_every_step(struct kunit *test)
{
	static const enum ib_wc_status statuses[] = {
		IB_WC_RETRY_EXC_ERR, IB_WC_REM_ACCESS_ERR, IB_WC_WR_FLUSH_ERR,
		IB_WC_GENERAL_ERR,
	};
	struct fake *fake = fake_of(test);
	struct fake_request req;
	unsigned int step, i;

	for (step = 0; step <= FAKE_MAX_RETRIES; step++) {
		for (i = 0; i < ARRAY_SIZE(statuses); i++) {
			fake->total_posted = 0;
			lose(fake, &req, step);
			fake_fail(fake, fake_oldest(fake), statuses[i], 0x42);
			fake_expect(fake, &req, statuses[i], 0x42);
			KUNIT_EXPECT_EQ(test, fake->total_posted, step + 1);
			KUNIT_EXPECT_TRUE(test, list_empty(&fake->posted));
		}
	}
}

static void loop_post_fails_at_every_step(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;
	unsigned int step;

	fake->post_error = -ENOMEM;
	fake->post_error_after = 0;
	fake_fetch_add(&req, 1, 0x8000);
	KUNIT_EXPECT_EQ(test, fake_post(fake, &req), -ENOMEM);
	fake_expect_waiting(fake, &req);

	for (step = 1; step <= FAKE_MAX_RETRIES; step++) {
		fake->post_error = -EIO;
		fake->post_error_after = step;
		lose(fake, &req, step);
		fake_expect(fake, &req, IB_WC_GENERAL_ERR,
			    IB_EXP_VENDOR_ERR_POST);
		KUNIT_EXPECT_TRUE(test, list_empty(&fake->posted));
		KUNIT_EXPECT_EQ(test, fake->word, 0x10000ULL * (step + 1));
	}
}

/* ---- the loop, many at a time ------------------------------------------ */

#define MANY	200

/*
 * Many requests for one word are executed in any order, as if they were of
 * different QPs. Each one takes effect once, and never takes more than one
 * entry of the send queue.
 */
static void loop_many(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request *reqs;
	struct rnd_state rnd;
	u64 sum = 0;
	int i, j;

	reqs = kunit_kcalloc(test, MANY, sizeof(*reqs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, reqs);
	fake->dev->attr.max_retries = MANY * MANY;
	prandom_seed_state(&rnd, 0x6c6f7365);
	for (i = 0; i < MANY; i++) {
		fake_fetch_add(&reqs[i], BIT_ULL(16 * (i % 4)) * (i + 1),
			       0x8000800080008000ULL);
		sum = masked(&reqs[i].wr, sum);
		KUNIT_ASSERT_EQ(test, fake_post(fake, &reqs[i]), 0);
	}
	while (fake->num_posted) {
		struct fake_wr *wr = fake_oldest(fake);

		for (j = prandom_u32_state(&rnd) % fake->num_posted; j; j--)
			wr = list_next_entry(wr, entry);
		fake_execute(fake, wr);
	}
	for (i = 0; i < MANY; i++)
		fake_expect(fake, &reqs[i], IB_WC_SUCCESS, 0);
	KUNIT_EXPECT_EQ(test, fake->word, sum);
	KUNIT_EXPECT_EQ(test, fake->max_posted, (unsigned int)MANY);
}

/*
 * A completion handler may post, because the entry of the send queue is free.
 */
static void post_again(struct fake_request *req)
{
	req->then = NULL;
	KUNIT_EXPECT_EQ(req->fake->test, req->fake->num_posted, 0U);
	KUNIT_EXPECT_EQ(req->fake->test, fake_post(req->fake, req), 0);
}

static void loop_posted_from_completion(struct kunit *test)
{
	struct fake *fake = fake_of(test);
	struct fake_request req;

	fake->word = 9;
	fake_fetch_add(&req, 1, 0x8000);
	req.then = post_again;
	KUNIT_ASSERT_EQ(test, fake_post(fake, &req), 0);
	run(fake);
	KUNIT_EXPECT_EQ(test, req.completions, 2U);
	KUNIT_EXPECT_EQ(test, fake->word, 11ULL);
}

static struct kunit_case emulate_cases[] = {
	KUNIT_CASE_PARAM(lower_table, lower_gen_params),
	KUNIT_CASE(lower_posted),
	KUNIT_CASE_PARAM(loop_table, loop_gen_params),
	KUNIT_CASE(loop_fence),
	KUNIT_CASE(loop_loses_until_the_last),
	KUNIT_CASE(loop_is_bounded),
	KUNIT_CASE(loop_without_retries),
	KUNIT_CASE(loop_same_word_again),
	KUNIT_CASE(loop_fails_at_every_step),
	KUNIT_CASE(loop_post_fails_at_every_step),
	KUNIT_CASE(loop_many),
	KUNIT_CASE(loop_posted_from_completion),
	{}
};

static struct kunit_suite emulate_suite = {
	.name = "ib_exp_emulate",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = emulate_cases,
};

kunit_test_suite(emulate_suite);
