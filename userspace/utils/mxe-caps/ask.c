// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Finds the devices and queries the libraries for the abilities of each. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mxedv.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>

#include "ask.h"
#include "caps.h"
#include "class.h"

/* ---- the devices ------------------------------------------------------- */

static struct caps_device *find(const struct caps *caps, const char *name)
{
	for (size_t i = 0; i < caps->num; i++)
		if (!strcmp(caps->devices[i].name, name))
			return &caps->devices[i];
	return NULL;
}

/* Returns the device of that name, which is added if it is new, or NULL. */
static struct caps_device *add(struct caps *caps, const char *name)
{
	struct caps_device *dev = find(caps, name);

	if (dev)
		return dev;
	dev = realloc(caps->devices, (caps->num + 1) * sizeof(*dev));
	if (!dev)
		return NULL;
	caps->devices = dev;
	dev = &caps->devices[caps->num++];
	*dev = (struct caps_device){ };
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	return dev;
}

/*
 * Adds the devices of a class.  Those that libibverbs does not show have no
 * provider installed or belong to another network namespace.
 */
static int add_class(struct caps *caps, const char *class, const char *only)
{
	char path[4096];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/%s", caps_sysfs(), class);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    (only && strcmp(entry->d_name, only)))
			continue;
		if (!add(caps, entry->d_name))
			err = ENOMEM;
	}
	closedir(dir);
	return err;
}

static int add_verbs(struct caps *caps, const char *only)
{
	/* Fails with ENOSYS if the module ib_uverbs is not loaded. */
	caps->list = ibv_get_device_list(NULL);
	for (int i = 0; caps->list && caps->list[i]; i++) {
		const char *name = ibv_get_device_name(caps->list[i]);
		struct caps_device *dev;

		if (only && strcmp(name, only))
			continue;
		dev = add(caps, name);
		if (!dev)
			return ENOMEM;
		dev->ibv = caps->list[i];
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct caps_device *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* ---- libraries ---------------------------------------------------------- */

static void set_atomic_cap(struct caps_source *source, int cap)
{
	static const char *const names[] = {
		[IBV_EXP_ATOMIC_NONE] = "none",
		[IBV_EXP_ATOMIC_HCA] = "hca",
		[IBV_EXP_ATOMIC_GLOB] = "glob",
		[IBV_EXP_ATOMIC_HCA_REPLY_BE] = "hca_reply_be",
	};

	if (cap >= 0 && (size_t)cap < sizeof(names) / sizeof(names[0]))
		snprintf(source->atomic_cap, sizeof(source->atomic_cap), "%s",
			 names[cap]);
}

/* The standard verbs do not report masked atomics. */
static void ask_verbs(struct ibv_context *context, struct caps_source *verbs)
{
	struct ibv_device_attr_ex attr;
	int err = ibv_query_device_ex(context, NULL, &attr);

	if (err) {
		snprintf(verbs->error, sizeof(verbs->error),
			 "ibv_query_device_ex: %s", strerror(err));
		return;
	}
	verbs->asked = true;
	set_atomic_cap(verbs, attr.orig_attr.atomic_cap);
	verbs->has_sizes = true;
	if (attr.orig_attr.atomic_cap != IBV_ATOMIC_NONE)
		verbs->sizes = 1 << 3;
	/* Bit 0 of enum ibv_pci_atomic_op_size is 4 bytes. */
	verbs->pci_fetch_add = (uint64_t)attr.pci_atomic_caps.fetch_add << 2;
	verbs->pci_swap = (uint64_t)attr.pci_atomic_caps.swap << 2;
	verbs->pci_compare_swap =
		(uint64_t)attr.pci_atomic_caps.compare_swap << 2;
}

static void ask_mxe(struct ibv_context *context, struct caps_source *provider)
{
	struct mxedv_device_attr attr;
	int err = mxedv_query_device(context, &attr, sizeof(attr));

	if (err) {
		snprintf(provider->error, sizeof(provider->error),
			 "mxedv_query_device: %s", strerror(err));
		return;
	}
	provider->asked = true;
	set_atomic_cap(provider, attr.atomic_cap);
	provider->cmp_swap = attr.masked_ops & MXEDV_MASKED_ATOMIC_CMP_SWP ?
			     CAPS_NATIVE : CAPS_NONE;
	provider->fetch_add = attr.masked_ops & MXEDV_MASKED_ATOMIC_FETCH_ADD ?
			      CAPS_NATIVE : CAPS_NONE;
	provider->has_sizes = true;
	provider->sizes = attr.log_arg_sizes;
	provider->sizes_be = attr.log_arg_sizes_be;
	provider->max_fa_bit_boundary = attr.max_fa_bit_boundary;
	snprintf(provider->reply, sizeof(provider->reply), "%s%s%s",
		 attr.reply_modes & MXEDV_ATOMIC_REPLY_HOST ? "host" : "",
		 attr.reply_modes == (MXEDV_ATOMIC_REPLY_HOST |
				      MXEDV_ATOMIC_REPLY_BE) ? " " : "",
		 attr.reply_modes & MXEDV_ATOMIC_REPLY_BE ? "be" : "");
}

/*
 * Returns true if mlx5dv supports the device.  The library is loaded at run
 * time because most hosts do not need it.
 */
static bool is_mlx5(struct ibv_device *device)
{
	bool (*is_supported)(struct ibv_device *device);
	void *mlx5 = dlopen("libmlx5.so.1", RTLD_LAZY | RTLD_LOCAL);
	bool is = false;

	if (!mlx5)
		return false;
	is_supported = (bool (*)(struct ibv_device *))
		       dlsym(mlx5, "mlx5dv_is_supported");
	if (is_supported)
		is = is_supported(device);
	dlclose(mlx5);
	return is;
}

static void ask_provider(struct caps_device *dev, struct ibv_context *context)
{
	struct caps_source *provider = &dev->source[CAPS_PROVIDER];

	if (mxedv_is_supported(dev->ibv)) {
		strcpy(dev->provider, "mxe");
		ask_mxe(context, provider);
	} else if (is_mlx5(dev->ibv)) {
		strcpy(dev->provider, "mlx5");
		snprintf(provider->error, sizeof(provider->error),
			 "mlx5dv does not report masked atomics");
	} else {
		snprintf(provider->error, sizeof(provider->error),
			 "no direct verbs for masked atomics");
	}
}

/* OFED did not have the flag for emulation: libibverbs_exp adds it. */
static void ask_exp(struct caps_device *dev, struct ibv_context *context)
{
	struct caps_source *exp = &dev->source[CAPS_EXP];
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
	};
	enum caps_mode mode = CAPS_NATIVE;
	int err = ibv_exp_query_device(context, &attr);

	if (err) {
		snprintf(exp->error, sizeof(exp->error),
			 "ibv_exp_query_device: %s", strerror(err));
		return;
	}
	exp->asked = true;
	set_atomic_cap(exp, attr.exp_atomic_cap);
	exp->cmp_swap = CAPS_NONE;
	exp->fetch_add = CAPS_NONE;
	exp->has_sizes = true;
	if (attr.comp_mask & IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS &&
	    attr.exp_device_cap_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS) {
		if (attr.exp_device_cap_flags &
		    IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED)
			mode = CAPS_EMULATED;
		exp->cmp_swap = mode;
		exp->fetch_add = mode;
	}
	if (!(attr.comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS))
		return;
	exp->sizes = attr.masked_atomic.masked_log_atomic_arg_sizes;
	exp->sizes_be =
		attr.masked_atomic.masked_log_atomic_arg_sizes_network_endianness;
	exp->max_fa_bit_boundary = attr.masked_atomic.max_fa_bit_boundary;
	snprintf(exp->reply, sizeof(exp->reply), "%s",
		 exp->sizes_be == exp->sizes ? "be" : "host");
}

static void ask_user(struct caps_device *dev)
{
	struct ibv_context *context;
	char why[CAPS_TEXT];

	if (!dev->ibv) {
		snprintf(why, sizeof(why), "not shown by libibverbs");
		context = NULL;
	} else {
		context = ibv_open_device(dev->ibv);
		if (!context)
			snprintf(why, sizeof(why), "cannot be opened: %s",
				 strerror(errno));
	}
	if (!context) {
		for (int i = 0; i < CAPS_KERNEL; i++)
			strcpy(dev->source[i].error, why);
		return;
	}
	ask_verbs(context, &dev->source[CAPS_VERBS]);
	ask_provider(dev, context);
	ask_exp(dev, context);
	ibv_close_device(context);
}

/* ---- all sources -------------------------------------------------------- */

/**
 * caps_ask() - Find the devices and query all sources of each.
 * @caps: result; to be freed with caps_free() after success
 * @only: name of the only device to find; NULL finds all of them
 *
 * A source that fails is not an error of this function.
 *
 * Return: 0, or ENOMEM.
 */
int caps_ask(struct caps *caps, const char *only)
{
	int err;

	*caps = (struct caps){ .has_class = caps_class_exists() };
	err = add_verbs(caps, only);
	if (!err)
		err = add_class(caps, "infiniband", only);
	if (!err)
		err = add_class(caps, "infiniband_exp", only);
	if (err) {
		caps_free(caps);
		return err;
	}
	if (caps->num)
		qsort(caps->devices, caps->num, sizeof(*caps->devices),
		      by_name);
	for (size_t i = 0; i < caps->num; i++) {
		struct caps_device *dev = &caps->devices[i];

		ask_user(dev);
		caps_ask_class(dev->name, caps->has_class,
			       &dev->source[CAPS_KERNEL]);
	}
	return 0;
}

/**
 * caps_free() - Free the devices and the list of libibverbs.
 * @caps: of caps_ask()
 */
void caps_free(struct caps *caps)
{
	free(caps->devices);
	if (caps->list)
		ibv_free_device_list(caps->list);
	*caps = (struct caps){ };
}

static enum caps_mode better(enum caps_mode a, enum caps_mode b)
{
	return a > b ? a : b;
}

/**
 * caps_user_cmp_swap() - Get how processes can compare and swap.
 * @dev: device of caps_ask()
 *
 * Return: the best mode that the libraries report.
 */
enum caps_mode caps_user_cmp_swap(const struct caps_device *dev)
{
	return better(dev->source[CAPS_PROVIDER].cmp_swap,
		      dev->source[CAPS_EXP].cmp_swap);
}

/**
 * caps_user_fetch_add() - Get how processes can fetch and add.
 * @dev: device of caps_ask()
 *
 * Return: the best mode that the libraries report.
 */
enum caps_mode caps_user_fetch_add(const struct caps_device *dev)
{
	return better(dev->source[CAPS_PROVIDER].fetch_add,
		      dev->source[CAPS_EXP].fetch_add);
}
