// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that ib_exp derives the right capabilities from the attributes of a
 * driver.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "caps.h"
#include "common.h"

#define NONE	IB_ATOMIC_NONE
#define HCA	IB_ATOMIC_HCA
#define GLOB	IB_ATOMIC_GLOB

#define MINE	0x6d696e65		/* not the ID of any driver */
#define IONIC	21

struct caps_case {
	const char *desc;
	u32 driver_id;
	bool no_kverbs;
	enum ib_atomic_cap cap, masked_cap;
	enum ib_exp_mode mode;
	const char *reason;		/* part of the text */
};

static const struct caps_case caps_cases[] = {
	{ "mlx4", RDMA_DRIVER_MLX4, false, HCA, HCA, IB_EXP_NATIVE },
	{ "mlx4 without masked atomics", RDMA_DRIVER_MLX4, false, HCA, NONE,
	  IB_EXP_EMULATED, "standard atomics only" },
	{ "mlx4 without atomics", RDMA_DRIVER_MLX4, false, NONE, NONE,
	  IB_EXP_NONE, "no atomics" },
	{ "mlx5", RDMA_DRIVER_MLX5, false, HCA, NONE, IB_EXP_NONE, "mlx5" },
	{ "mlx5 without atomics", RDMA_DRIVER_MLX5, false, NONE, NONE,
	  IB_EXP_NONE, "mlx5" },
	{ "mlx5 that claims", RDMA_DRIVER_MLX5, false, HCA, HCA, IB_EXP_NONE,
	  "mlx5" },
	{ "bnxt_re", RDMA_DRIVER_BNXT_RE, false, GLOB, GLOB, IB_EXP_EMULATED,
	  "bnxt_re reports" },
	{ "bnxt_re without atomics", RDMA_DRIVER_BNXT_RE, false, NONE, NONE,
	  IB_EXP_NONE, "no atomics" },
	{ "vmw_pvrdma", RDMA_DRIVER_VMW_PVRDMA, false, HCA, HCA,
	  IB_EXP_EMULATED, "vmw_pvrdma reports" },
	{ "ionic", IONIC, false, GLOB, GLOB, IB_EXP_EMULATED,
	  "ionic reports" },
	{ "irdma", RDMA_DRIVER_IRDMA, false, HCA, HCA, IB_EXP_EMULATED,
	  "irdma reports" },
	{ "irdma without atomics", RDMA_DRIVER_IRDMA, false, NONE, NONE,
	  IB_EXP_NONE, "no atomics" },
	{ "hns", RDMA_DRIVER_HNS, false, HCA, NONE, IB_EXP_EMULATED, "hns" },
	{ "usnic", RDMA_DRIVER_USNIC, true, NONE, NONE, IB_EXP_NONE,
	  "no kernel verbs" },
	{ "efa", RDMA_DRIVER_EFA, true, NONE, NONE, IB_EXP_NONE,
	  "no kernel verbs" },
	{ "rxe", RDMA_DRIVER_RXE, false, HCA, NONE, IB_EXP_EMULATED,
	  "standard atomics only" },
	{ "siw", RDMA_DRIVER_SIW, false, NONE, NONE, IB_EXP_NONE,
	  "no atomics" },
	{ "hfi1", RDMA_DRIVER_HFI1, false, GLOB, NONE, IB_EXP_EMULATED,
	  "standard atomics only" },
	{ "unknown that claims", MINE, false, GLOB, GLOB, IB_EXP_EMULATED,
	  "not known" },
	{ "unknown that claims them only", MINE, false, NONE, GLOB,
	  IB_EXP_NONE, "no atomics" },
	{ "claims, but not to the kernel", MINE, true, GLOB, GLOB,
	  IB_EXP_NONE, "no kernel verbs" },
};

KT_ARRAY_PARAM(caps, caps_cases);

static struct ib_device *device(struct kunit *test,
				const struct caps_case *c)
{
	struct ib_device *ibdev = kunit_kzalloc(test, sizeof(*ibdev),
						GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	ibdev->ops.driver_id = c->driver_id;
	ibdev->kverbs_provider = !c->no_kverbs;
	ibdev->attrs.atomic_cap = c->cap;
	ibdev->attrs.masked_atomic_cap = c->masked_cap;
	ibdev->dev.init_name = "caps0";
	return ibdev;
}

static void caps_table(struct kunit *test)
{
	const struct caps_case *c = test->param_value;
	struct ib_exp_device_attr attr;

	ib_exp_caps_query(device(test, c), &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, c->mode);
	KUNIT_EXPECT_EQ(test, attr.masked_fetch_add, c->mode);
	KUNIT_EXPECT_EQ(test, attr.atomic_cap, c->cap);
	KUNIT_EXPECT_EQ(test, attr.masked_atomic_cap_reported, c->masked_cap);
	KUNIT_EXPECT_EQ(test, attr.log_arg_sizes,
			c->mode == IB_EXP_NONE ? 0U : 8U);
	KUNIT_EXPECT_EQ(test, attr.reply,
			c->mode == IB_EXP_NONE ? IB_EXP_REPLY_NONE :
						 IB_EXP_REPLY_HOST);
	if (c->reason)
		KUNIT_EXPECT_NOT_NULL(test, strstr(attr.reason, c->reason));
	else
		KUNIT_EXPECT_STREQ(test, attr.reason, "");
}

/* ---- announced --------------------------------------------------------- */

static struct ib_exp_driver_attr announcement;

static void announce(struct ib_device *ibdev, struct ib_exp_driver_attr *attr)
{
	*attr = announcement;
}

static void caps_announced(struct kunit *test)
{
	static const struct caps_case claims_nothing = {
		.driver_id = MINE, .cap = HCA, .masked_cap = NONE,
	};
	struct ib_device *ibdev = device(test, &claims_nothing);
	struct ib_exp_driver driver = { .driver_id = MINE, .query = announce };
	struct ib_exp_driver again = { .driver_id = MINE, .query = announce };
	struct ib_exp_device_attr attr;

	KUNIT_ASSERT_EQ(test, ib_exp_register_driver(&driver), 0);
	KUNIT_EXPECT_EQ(test, ib_exp_register_driver(&again), -EEXIST);

	announcement = (struct ib_exp_driver_attr) {
		.masked_cmp_swap = true,
		.masked_fetch_add = true,
		.log_arg_sizes = 0x3c,
		.reply = IB_EXP_REPLY_HOST,
	};
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NATIVE);
	KUNIT_EXPECT_EQ(test, attr.masked_fetch_add, IB_EXP_NATIVE);
	KUNIT_EXPECT_EQ(test, attr.log_arg_sizes, 0x3cU);
	KUNIT_EXPECT_STREQ(test, attr.reason, "");

	announcement.masked_fetch_add = false;
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NATIVE);
	KUNIT_EXPECT_EQ(test, attr.masked_fetch_add, IB_EXP_EMULATED);
	KUNIT_EXPECT_STRNEQ(test, attr.reason, "");

	announcement.reason = "today is Sunday";
	ibdev->attrs.atomic_cap = NONE;
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NATIVE);
	KUNIT_EXPECT_EQ(test, attr.masked_fetch_add, IB_EXP_NONE);
	KUNIT_EXPECT_STREQ(test, attr.reason, "today is Sunday");

	/* The driver is not asked if the device lacks kernel verbs. */
	ibdev->kverbs_provider = false;
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NONE);

	ibdev->kverbs_provider = true;
	ib_exp_unregister_driver(&driver);
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NONE);
}

/* ---- overridden -------------------------------------------------------- */

static char *saved[IB_EXP_MAX_OVERRIDES];
static int num_saved;

static int override_init(struct kunit *test)
{
	memcpy(saved, ib_exp_overrides, sizeof(saved));
	num_saved = ib_exp_num_overrides;
	return 0;
}

static void override_exit(struct kunit *test)
{
	memcpy(ib_exp_overrides, saved, sizeof(saved));
	ib_exp_num_overrides = num_saved;
}

static void caps_override(struct kunit *test)
{
	static const struct caps_case mlx5 = {
		.driver_id = RDMA_DRIVER_MLX5, .cap = HCA, .masked_cap = NONE,
	};
	struct ib_device *ibdev = device(test, &mlx5);
	struct ib_exp_device_attr attr;

	/* Other names, one of which has this name as a prefix. */
	ib_exp_num_overrides = 2;
	ib_exp_overrides[0] = "caps=native";
	ib_exp_overrides[1] = "caps01=native";
	KUNIT_EXPECT_EQ(test, ib_exp_caps_check_overrides(), 0);
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NONE);

	ib_exp_overrides[1] = "caps0=native";
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_NATIVE);
	KUNIT_EXPECT_EQ(test, attr.masked_fetch_add, IB_EXP_NATIVE);
	KUNIT_EXPECT_STREQ(test, attr.reason, "");
	KUNIT_EXPECT_EQ(test, attr.log_arg_sizes, 8U);

	/* The last one counts. */
	ib_exp_num_overrides = 3;
	ib_exp_overrides[2] = "caps0=emulated";
	ib_exp_caps_query(ibdev, &attr);
	KUNIT_EXPECT_EQ(test, attr.masked_cmp_swap, IB_EXP_EMULATED);
	KUNIT_EXPECT_STRNEQ(test, attr.reason, "");
}

static void caps_override_malformed(struct kunit *test)
{
	static char * const bad[] = {
		"caps0", "caps0=", "=native", "caps0=fast", "caps0=native=",
		"caps0=nativ", "", "=",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ib_exp_num_overrides = 2;
		ib_exp_overrides[0] = "other=none";
		ib_exp_overrides[1] = bad[i];
		KUNIT_EXPECT_EQ(test, ib_exp_caps_check_overrides(), -EINVAL);
	}
}

static struct kunit_case caps_cases_list[] = {
	KUNIT_CASE_PARAM(caps_table, caps_gen_params),
	KUNIT_CASE(caps_announced),
	KUNIT_CASE(caps_override),
	KUNIT_CASE(caps_override_malformed),
	{}
};

static struct kunit_suite caps_suite = {
	.name = "ib_exp_caps",
	.init = override_init,
	.exit = override_exit,
	.test_cases = caps_cases_list,
};

kunit_test_suite(caps_suite);
