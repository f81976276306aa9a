// SPDX-License-Identifier: GPL-2.0
/*
 * Determines which masked atomics a device executes, from its driver's
 * announcement, a table of in-tree drivers, and the module parameter.  It calls
 * only drivers that have registered.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "caps.h"
#include "device.h"

/* ---- in-tree drivers --------------------------------------------------- */

/* RDMA_DRIVER_IONIC, which Linux 6.1 does not define. */
#define IB_EXP_DRIVER_IONIC	21

/*
 * Exceptions from the default rule.  The default is that a device with standard
 * atomics executes only these, whatever it reports about masked ones.  Each row
 * cites the code it was derived from.  The citations are of Linux 6.1 unless
 * they name a release, and hold up to Linux 7.3.
 */
struct ib_exp_known {
	u32 driver_id;
	bool native;		/* executes masked atomics if it reports them */
	bool refuses_all;	/* executes no atomics, whatever it reports */
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
		 * hw/mlx5/wr.c, handle_qpt_rc(): returns EOPNOTSUPP for every
		 * atomic except IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, which has
		 * no case and is sent without operands.  The atomics that
		 * main.c, get_atomic_caps(), reports are for processes.
		 */
		.driver_id = RDMA_DRIVER_MLX5,
		.refuses_all = true,
		.reason = "mlx5 executes no atomics for kernel consumers, only for processes",
	}, {
		/*
		 * hw/bnxt_re/ib_verbs.c: bnxt_re_query_device() reports GLOB.
		 * bnxt_re_build_atomic_wqe() handles only the standard
		 * atomics, and bnxt_re_post_send() returns EINVAL for others.
		 */
		.driver_id = RDMA_DRIVER_BNXT_RE,
		.reason = "bnxt_re reports masked atomics but refuses them",
	}, {
		/*
		 * hw/vmw_pvrdma/pvrdma_verbs.c: pvrdma_query_device() reports
		 * the capability of the standard atomics for the masked ones.
		 * pvrdma_qp.c: pvrdma_post_send() has no case for them.
		 */
		.driver_id = RDMA_DRIVER_VMW_PVRDMA,
		.reason = "vmw_pvrdma reports masked atomics but refuses them",
	}, {
		/*
		 * Linux 7.3, hw/ionic/ionic_ibdev.c: ionic_query_device()
		 * reports GLOB.  ionic_datapath.c: ionic_prep_one_rc() handles
		 * only the standard atomics.
		 */
		.driver_id = IB_EXP_DRIVER_IONIC,
		.reason = "ionic reports masked atomics but refuses them",
	}, {
		/*
		 * Linux 7.3, hw/irdma/verbs.c: irdma_query_device() reports
		 * the capability of the standard atomics for the masked ones.
		 * irdma_post_send() handles only the standard ones.
		 */
		.driver_id = RDMA_DRIVER_IRDMA,
		.reason = "irdma reports masked atomics but refuses them",
	}, {
		/*
		 * hw/hns/hns_roce_hw_v2.c: hns_roce_op_code[] has the opcodes,
		 * but set_rc_opcode() warns about them and fails.
		 */
		.driver_id = RDMA_DRIVER_HNS,
		.reason = "hns rejects masked atomics",
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
		ib_exp_set_emulated(attr, "masked atomics are reported but not known to work");
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

/* Returns true and fills in attr if the driver has registered with ib_exp. */
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

/* ---- module parameter -------------------------------------------------- */

char *ib_exp_overrides[IB_EXP_MAX_OVERRIDES];
int ib_exp_num_overrides;

/* Returns the enum ib_exp_mode of a NAME=MODE string, or -EINVAL. */
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

/**
 * ib_exp_caps_check_overrides() - Validate the module parameter "override".
 *
 * Context: Module initialisation. Logs the first malformed element.
 * Return: 0, or -EINVAL.
 */
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
			"" : "set by the module parameter override of ib_exp";
	}
}

/* ---- result ------------------------------------------------------------ */

/**
 * ib_exp_caps_query() - Determine what a device really executes.
 * @ibdev: a registered device
 * @attr: filled in completely
 *
 * Context: Process context. May sleep.
 */
void ib_exp_caps_query(struct ib_device *ibdev, struct ib_exp_device_attr *attr)
{
	*attr = (struct ib_exp_device_attr) {
		.atomic_cap = ibdev->attrs.atomic_cap,
		.masked_atomic_cap_reported = ibdev->attrs.masked_atomic_cap,
		.max_retries = IB_EXP_MAX_RETRIES,
		.reason = "",
	};
	if (!ibdev->kverbs_provider) {
		attr->reason = "the driver has no kernel verbs";
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
