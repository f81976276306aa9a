// SPDX-License-Identifier: GPL-2.0
/*
 * Proves which accesses memory windows allow, and that an access holds a
 * reference to the window.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "harness.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "memory/rkey.h"

#define RR	IB_ACCESS_REMOTE_READ
#define RW	IB_ACCESS_REMOTE_WRITE
#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | RR | RW)

#define QPN	0x123U

/* A window, and the request that opens it to bytes 100 to 299 of a region. */
struct window {
	struct mxe_ib_mw *mw;
	struct ib_mr *mr;
	struct mxe_bind bind;
	u32 key;
};

static struct window window_alloc(struct kt *kt, enum ib_mw_type type, int access)
{
	struct kunit *test = kt->test;
	struct window w = { .mw = kunit_kzalloc(test, sizeof(*w.mw), GFP_KERNEL) };

	KUNIT_ASSERT_NOT_NULL(test, w.mw);
	w.mw->ibmw.device = &kt->dev->ibdev;
	w.mw->ibmw.pd = kt->pd;
	w.mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(test, mxe_alloc_mw(&w.mw->ibmw, NULL), 0);
	w.mr = kt_reg(kt, kt->pd, RIGHTS);
	w.key = ib_inc_rkey(w.mw->ibmw.rkey);
	w.bind = (struct mxe_bind) {
		.addr = kt_va(w.mr, 100),
		.length = 200,
		.mr_lkey = w.mr->lkey,
		.access = access,
	};
	return w;
}

static struct window window_open(struct kt *kt, enum ib_mw_type type, int access)
{
	struct window w = window_alloc(kt, type, access);

	KUNIT_ASSERT_EQ(kt->test,
			mxe_mw_bind(kt->dev, kt->pd, QPN, w.key, &w.bind), 0);
	return w;
}

static int window_target(struct kt *kt, const struct window *w, u64 offset,
			 struct mxe_target *target)
{
	struct mxe_rights rights = { .dev = kt->dev, .pd = kt->pd, .qpn = QPN };
	u64 addr = kt_va(w->mr, offset);

	memset(target, 0, sizeof(*target));
	return mxe_rkey_get(&rights, w->key, RR, &addr, 1, target);
}

static bool window_is_held(const struct window *w)
{
	return lockdep_is_held(&w->mw->mw->lock);
}

struct check_row {
	const char *desc;
	int access;		/* requested; the window grants RR */
	s64 from, len;		/* from the first byte of the window */
	u32 qpn, key_xor;
	bool foreign, type_1;
	int err;
};

static const struct check_row check_rows[] = {
	{ "all of it", RR, 0, 200, QPN },
	{ "its last byte", RR, 199, 1, QPN },
	{ "no byte, after the last", RR, 200, 0, QPN },
	{ "one byte more", RR, 0, 201, QPN, .err = -EFAULT },
	{ "the byte after it", RR, 200, 1, QPN, .err = -EFAULT },
	{ "the byte before it", RR, -1, 1, QPN, .err = -EFAULT },
	{ "a right that only the region has", RW, 0, 1, QPN, .err = -EACCES },
	{ "another queue pair", RR, 0, 1, QPN + 1, .err = -EPERM },
	{ "another queue pair, type 1", RR, 0, 1, QPN + 1, .type_1 = true },
	{ "another domain", RR, 0, 1, QPN, .foreign = true, .err = -EPERM },
	{ "an old key", RR, 0, 1, QPN, .key_xor = 1, .err = -ENOENT },
	{ "a key of nothing", RR, 0, 1, QPN, .key_xor = 0x100, .err = -ENOENT },
};

KT_ARRAY_PARAM(check, check_rows);

static void mw_check_table(struct kunit *test)
{
	const struct check_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	enum ib_mw_type type = row->type_1 ? IB_MW_TYPE_1 : IB_MW_TYPE_2;
	struct window w = window_open(kt, type, RR);
	struct mxe_rights rights = {
		.dev = kt->dev,
		.pd = row->foreign ? kt->other_pd : kt->pd,
		.qpn = row->qpn,
	};

	KUNIT_EXPECT_EQ(test, mxe_rkey_check(&rights, w.key ^ row->key_xor,
					     row->access,
					     kt_va(w.mr, 100) + row->from,
					     row->len), row->err);
	KUNIT_EXPECT_FALSE(test, window_is_held(&w));
	KUNIT_EXPECT_EQ(test, mxe_dealloc_mw(&w.mw->ibmw), 0);
}

/*
 * Invalidating, binding and destroying a window take its lock, so an access
 * holds the lock until it ends.
 */
static void mw_access_holds(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct window w = window_open(kt, IB_MW_TYPE_2, RR);
	struct mxe_mr *mr = to_mmr(w.mr);
	struct mxe_target target;

	KUNIT_ASSERT_EQ(test, window_target(kt, &w, 100, &target), 0);
	KUNIT_EXPECT_PTR_EQ(test, target.mw, w.mw->mw);
	KUNIT_EXPECT_PTR_EQ(test, target.mr, mr);
	KUNIT_EXPECT_TRUE(test, window_is_held(&w));
	mxe_rkey_put(&target);
	KUNIT_EXPECT_FALSE(test, window_is_held(&w));

	KUNIT_EXPECT_EQ(test, window_target(kt, &w, 99, &target), -EFAULT);
	KUNIT_EXPECT_FALSE(test, window_is_held(&w));

	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 1);
	KUNIT_EXPECT_EQ(test, mxe_mw_invalidate(kt->dev, kt->pd, QPN, w.key), 0);
	KUNIT_EXPECT_EQ(test, window_target(kt, &w, 100, &target), -ENOENT);
	KUNIT_EXPECT_FALSE(test, window_is_held(&w));
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	/* It may be invalidated again, but not by another key or domain. */
	KUNIT_EXPECT_EQ(test, mxe_mw_invalidate(kt->dev, kt->pd, QPN, w.key), 0);
	KUNIT_EXPECT_EQ(test, mxe_mw_invalidate(kt->dev, kt->pd, QPN, w.key ^ 1),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, mxe_mw_invalidate(kt->dev, kt->other_pd, QPN, w.key),
			-EPERM);
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->windows), 0);
	KUNIT_EXPECT_FALSE(test, window_is_held(&w));
	KUNIT_EXPECT_EQ(test, mxe_dealloc_mw(&w.mw->ibmw), 0);
}

/* A bind may have the flags of the region that mean nothing to a window. */
static void mw_region_flags(struct kunit *test)
{
	static const enum ib_mw_type types[] = { IB_MW_TYPE_1, IB_MW_TYPE_2 };
	struct kt *kt = kt_of(test);
	struct window w;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		w = window_open(kt, types[i], RIGHTS);
		KUNIT_EXPECT_EQ(test, w.mw->mw->access, (u32)(RR | RW));
		KUNIT_EXPECT_EQ(test, mxe_dealloc_mw(&w.mw->ibmw), 0);
	}
}

/* Binding moves a type 1 window to another range, or closes it. */
static void mw_bound_again(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct window w = window_open(kt, IB_MW_TYPE_1, RR);
	struct mxe_bind none = {};
	struct mxe_bind bind = {
		.addr = kt_va(w.mr, 400), .length = 8,
		.mr_lkey = w.mr->lkey, .access = RR,
	};
	struct mxe_target target;

	KUNIT_EXPECT_EQ(test, mxe_mw_invalidate(kt->dev, kt->pd, QPN, w.key),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, mxe_mw_bind(kt->dev, kt->pd, QPN, w.key, &bind), 0);
	KUNIT_EXPECT_EQ(test, window_target(kt, &w, 100, &target), -EFAULT);
	KUNIT_ASSERT_EQ(test, window_target(kt, &w, 400, &target), 0);
	mxe_rkey_put(&target);
	KUNIT_EXPECT_EQ(test, atomic_read(&to_mmr(w.mr)->windows), 1);

	KUNIT_ASSERT_EQ(test, mxe_mw_bind(kt->dev, kt->pd, QPN, w.key, &none), 0);
	KUNIT_EXPECT_EQ(test, window_target(kt, &w, 400, &target), -ENOENT);
	KUNIT_EXPECT_FALSE(test, window_is_held(&w));
	KUNIT_EXPECT_EQ(test, atomic_read(&to_mmr(w.mr)->windows), 0);
	KUNIT_EXPECT_EQ(test, mxe_dealloc_mw(&w.mw->ibmw), 0);
}

/*
 * A new window may be bound to any key, also to the one that it was created
 * with. After it was invalidated it needs another one, because the peer knows
 * the old one.
 */
static void mw_new_key(struct kunit *test)
{
	struct kt *kt = kt_of(test);
	struct mxe_rights rights = { .dev = kt->dev, .pd = kt->pd, .qpn = QPN };
	struct window w = window_alloc(kt, IB_MW_TYPE_2, RR);
	u32 first = w.mw->ibmw.rkey;
	u32 next = ib_inc_rkey(first);

	KUNIT_EXPECT_EQ(test, mxe_rkey_invalidate(&rights, first, MXE_INV_LOCAL), 0);
	KUNIT_EXPECT_EQ(test, mxe_rkey_invalidate(&rights, next, MXE_INV_LOCAL),
			-ENOENT);
	KUNIT_ASSERT_EQ(test, mxe_mw_bind(kt->dev, kt->pd, QPN, first, &w.bind), 0);
	KUNIT_EXPECT_EQ(test, mxe_mw_bind(kt->dev, kt->pd, QPN, next, &w.bind),
			-EINVAL);
	KUNIT_ASSERT_EQ(test, mxe_mw_invalidate(kt->dev, kt->pd, QPN, first), 0);
	KUNIT_EXPECT_EQ(test, mxe_mw_bind(kt->dev, kt->pd, QPN, first, &w.bind),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, mxe_mw_bind(kt->dev, kt->pd, QPN, next, &w.bind), 0);
	KUNIT_EXPECT_EQ(test, mxe_dealloc_mw(&w.mw->ibmw), 0);
}

struct inv_row {
	const char *desc;
	u32 qpn;
	bool foreign, type_1;
	int err;
};

static const struct inv_row inv_rows[] = {
	{ "its queue pair", QPN },
	{ "another queue pair", QPN + 1, .err = -EPERM },
	{ "another domain", QPN, .foreign = true, .err = -EPERM },
	{ "type 1", QPN, .type_1 = true, .err = -EACCES },
};

KT_ARRAY_PARAM(inv, inv_rows);

/* The errors that a SEND with invalidate turns into NAK Remote Access Error. */
static void mw_inv_remote(struct kunit *test)
{
	const struct inv_row *row = test->param_value;
	struct kt *kt = kt_of(test);
	enum ib_mw_type type = row->type_1 ? IB_MW_TYPE_1 : IB_MW_TYPE_2;
	struct window w = window_open(kt, type, RR);
	struct mxe_rights rights = {
		.dev = kt->dev,
		.pd = row->foreign ? kt->other_pd : kt->pd,
		.qpn = row->qpn,
	};

	KUNIT_EXPECT_EQ(test, mxe_rkey_invalidate(&rights, w.key, MXE_INV_REMOTE),
			row->err);
	KUNIT_EXPECT_EQ(test, !w.mw->mw->mr, !row->err);
	KUNIT_EXPECT_EQ(test, mxe_dealloc_mw(&w.mw->ibmw), 0);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE_PARAM(mw_check_table, check_gen_params),
	KUNIT_CASE(mw_access_holds),
	KUNIT_CASE(mw_region_flags),
	KUNIT_CASE(mw_bound_again),
	KUNIT_CASE(mw_new_key),
	KUNIT_CASE_PARAM(mw_inv_remote, inv_gen_params),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "mxe_mw",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);
