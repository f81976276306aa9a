// SPDX-License-Identifier: GPL-2.0
/*
 * Determines which masked atomics a device executes, from its driver's announcement,
 * a table of the kernel's drivers and the module parameter.  client.c calls it for
 * each device; it calls only announced drivers.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "caps.h"
#include "device.h"

/* ---- the drivers of the kernel ----------------------------------------- */

/* Of later kernels than 6.1. */
#define IB_EXP_DRIVER_IONIC	21

/*
 * Only what differs from the rule, which is: a device that reports standard
 * atomics executes those and no masked ones.  Read in the post_send() of Linux
 * 6.1 unless said; the other releases up to 7.3 are no different.
 */
struct ib_exp_known {
	u32 driver_id;
	/* If it reports masked ones; otherwise the rule. */
	bool native;
	/* Whatever it reports. */
	bool refuses_all;
	const char *reason;
};

static const struct ib_exp_known ib_exp_known[] = {
	{
		/*
		 * hw/mlx4/qp.c: mlx4_ib_opcode[], set_masked_atomic_seg();
		 * hw/mlx4/cq.c: MLX4_OPCODE_MASKED_ATOMIC_{CS,FA}.
		 */
		.driver_id = RDMA_DRIVER_MLX4,
		.native = true,
	}, {
		/*
		 * hw/mlx5/wr.c, handle_qpt_rc(): EOPNOTSUPP for all atomics
		 * but IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, which has no case and
		 * goes out without its operands.  main.c, get_atomic_caps(),
		 * reports standard ones, which are for processes.
		 */
		.driver_id = RDMA_DRIVER_MLX5,
		.refuses_all = true,
		.reason = "mlx5 does no atomics for the kernel, only for processes",
	}, {
		/*
		 * hw/bnxt_re/ib_verbs.c, bnxt_re_query_device(): GLOB;
		 * bnxt_re_build_atomic_wqe() knows the standard ones, for
		 * others bnxt_re_post_send() has EINVAL.
		 */
		.driver_id = RDMA_DRIVER_BNXT_RE,
		.reason = "bnxt_re reports masked atomics but refuses them",
	}, {
		/*
		 * hw/vmw_pvrdma/pvrdma_verbs.c, pvrdma_query_device(): as the
		 * standard ones; pvrdma_qp.c, pvrdma_post_send() has no case.
		 */
		.driver_id = RDMA_DRIVER_VMW_PVRDMA,
		.reason = "vmw_pvrdma reports masked atomics but refuses them",
	}, {
		/*
		 * 7.3 hw/ionic/ionic_ibdev.c, ionic_query_device(): GLOB;
		 * ionic_datapath.c, ionic_prep_one_rc() has the standard ones.
		 */
		.driver_id = IB_EXP_DRIVER_IONIC,
		.reason = "ionic reports masked atomics but refuses them",
	}, {
		/*
		 * 7.3 hw/irdma/verbs.c, irdma_query_device(): as the standard
		 * ones; irdma_post_send() has only those.
		 */
		.driver_id = RDMA_DRIVER_IRDMA,
		.reason = "irdma reports masked atomics but refuses them",
	}, {
		/*
		 * hw/hns/hns_roce_hw_v2.c: hns_roce_op_code[] has the opcodes,
		 * set_rc_opcode() warns of them and fails.
		 */
		.driver_id = RDMA_DRIVER_HNS,
		.reason = "hns takes masked atomics for an error",
	},
};

static void ib_exp_set_emulated(struct ib_exp_device_attr *attr,
				const char *reason)
{
	attr->masked_cmp_swap = IB_EXP_EMULATED;
	attr->masked_fetch_add = IB_EXP_EMULATED;
	attr->reason = reason;
}

static void ib_exp_caps_known(const struct ib_device *ibdev,
			      struct ib_exp_device_attr *attr)
{
	bool claims = ibdev->attrs.masked_atomic_cap != IB_ATOMIC_NONE;
	const struct ib_exp_known *known = NULL;
	int i;

	for (i = 0; i < ARRAY_SIZE(ib_exp_known); i++)
		if (ib_exp_known[i].driver_id == ibdev->ops.driver_id)
			known = &ib_exp_known[i];

	if (known && known->refuses_all) {
		attr->reason = known->reason;
	} else if (known && known->native && claims) {
		attr->masked_cmp_swap = IB_EXP_NATIVE;
		attr->masked_fetch_add = IB_EXP_NATIVE;
	} else if (ibdev->attrs.atomic_cap == IB_ATOMIC_NONE) {
		attr->reason = "the device reports no atomics";
	} else if (known && known->reason) {
		ib_exp_set_emulated(attr, known->reason);
	} else if (claims) {
		ib_exp_set_emulated(attr, "masked atomics are reported, but not known to work");
	} else {
		ib_exp_set_emulated(attr, "the device has standard atomics only");
	}
}

/* ---- drivers that announce themselves ---------------------------------- */

static LIST_HEAD(ib_exp_drivers);
static DEFINE_MUTEX(ib_exp_drivers_lock);

static struct ib_exp_driver *ib_exp_driver_find(u32 driver_id)
{
	struct ib_exp_driver *driver;

	lockdep_assert_held(&ib_exp_drivers_lock);
	list_for_each_entry(driver, &ib_exp_drivers, entry)
		if (driver->driver_id == driver_id)
			return driver;
	return NULL;
}

int ib_exp_register_driver(struct ib_exp_driver *driver)
{
	int err = 0;

	mutex_lock(&ib_exp_drivers_lock);
	if (ib_exp_driver_find(driver->driver_id))
		err = -EEXIST;
	else
		list_add(&driver->entry, &ib_exp_drivers);
	mutex_unlock(&ib_exp_drivers_lock);
	return err;
}
EXPORT_SYMBOL_GPL(ib_exp_register_driver);

void ib_exp_unregister_driver(struct ib_exp_driver *driver)
{
	mutex_lock(&ib_exp_drivers_lock);
	list_del(&driver->entry);
	mutex_unlock(&ib_exp_drivers_lock);
}
EXPORT_SYMBOL_GPL(ib_exp_unregister_driver);

static enum ib_exp_mode ib_exp_announced_mode(const struct ib_device *ibdev,
					      bool native)
{
	if (native)
		return IB_EXP_NATIVE;
	return ibdev->attrs.atomic_cap == IB_ATOMIC_NONE ? IB_EXP_NONE :
							   IB_EXP_EMULATED;
}

/* Does the driver speak for itself? */
static bool ib_exp_caps_announced(struct ib_device *ibdev,
				  struct ib_exp_device_attr *attr)
{
	struct ib_exp_driver_attr says = {};
	struct ib_exp_driver *driver;

	mutex_lock(&ib_exp_drivers_lock);
	driver = ib_exp_driver_find(ibdev->ops.driver_id);
	if (driver)
		driver->query(ibdev, &says);
	mutex_unlock(&ib_exp_drivers_lock);
	if (!driver)
		return false;

	attr->masked_cmp_swap = ib_exp_announced_mode(ibdev,
						      says.masked_cmp_swap);
	attr->masked_fetch_add = ib_exp_announced_mode(ibdev,
						       says.masked_fetch_add);
	attr->log_arg_sizes = says.log_arg_sizes;
	attr->reply = says.reply;
	if (says.reason)
		attr->reason = says.reason;
	else if (!says.masked_cmp_swap || !says.masked_fetch_add)
		attr->reason = "the driver does not announce all masked atomics";
	return true;
}

/* ---- the administrator ------------------------------------------------- */

char *ib_exp_overrides[IB_EXP_MAX_OVERRIDES];
int ib_exp_num_overrides;

/* The mode that NAME=MODE asks for; -EINVAL. */
static int ib_exp_override_mode(const char *text)
{
	static const char * const names[] = {
		[IB_EXP_NONE] = "none",
		[IB_EXP_EMULATED] = "emulated",
		[IB_EXP_NATIVE] = "native",
	};
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return -EINVAL;
	return match_string(names, ARRAY_SIZE(names), equals + 1);
}

int ib_exp_caps_check_overrides(void)
{
	int i;

	for (i = 0; i < ib_exp_num_overrides; i++) {
		if (ib_exp_override_mode(ib_exp_overrides[i]) >= 0)
			continue;
		pr_err("ib_exp: override \"%s\" is not NAME=native, NAME=emulated or NAME=none\n",
		       ib_exp_overrides[i]);
		return -EINVAL;
	}
	return 0;
}

static void ib_exp_caps_override(const struct ib_device *ibdev,
				 struct ib_exp_device_attr *attr)
{
	const char *name = dev_name(&ibdev->dev);
	size_t len = strlen(name);
	int i;

	for (i = 0; i < ib_exp_num_overrides; i++) {
		const char *text = ib_exp_overrides[i];
		int mode;

		if (strncmp(text, name, len) || text[len] != '=')
			continue;
		mode = ib_exp_override_mode(text);
		attr->masked_cmp_swap = mode;
		attr->masked_fetch_add = mode;
		attr->reason = mode == IB_EXP_NATIVE ?
			"" : "the parameter override of ib_exp says so";
	}
}

/* ---- all together ------------------------------------------------------ */

void ib_exp_caps_query(struct ib_device *ibdev, struct ib_exp_device_attr *attr)
{
	*attr = (struct ib_exp_device_attr) {
		.atomic_cap = ibdev->attrs.atomic_cap,
		.masked_atomic_cap_reported = ibdev->attrs.masked_atomic_cap,
		.max_retries = IB_EXP_MAX_RETRIES,
		.reason = "",
	};
	if (!ibdev->kverbs_provider) {
		attr->reason = "the driver does not serve the kernel";
		return;
	}
	if (!ib_exp_caps_announced(ibdev, attr))
		ib_exp_caps_known(ibdev, attr);
	ib_exp_caps_override(ibdev, attr);

	if (attr->masked_cmp_swap == IB_EXP_NONE &&
	    attr->masked_fetch_add == IB_EXP_NONE)
		return;
	if (!attr->log_arg_sizes)
		attr->log_arg_sizes = BIT(3);
	if (attr->reply == IB_EXP_REPLY_NONE)
		attr->reply = IB_EXP_REPLY_HOST;
}
