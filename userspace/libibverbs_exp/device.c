// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_query_device(), which programs call. It combines the attributes of
 * the standard verbs with the atomic capabilities from the backend.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* The members that are always filled in, without bits in comp_mask. */
#define EXP_BASE_SIZE offsetof(struct ibv_exp_device_attr, comp_mask)

static_assert(offsetof(struct ibv_exp_device_attr, reserved) ==
	      offsetof(struct ibv_device_attr, device_cap_flags),
	      "the standard attributes come first");
static_assert(offsetof(struct ibv_exp_device_attr, exp_atomic_cap) ==
	      offsetof(struct ibv_device_attr, atomic_cap),
	      "the standard attributes come first");
static_assert(offsetof(struct ibv_exp_device_attr, phys_port_cnt) ==
	      offsetof(struct ibv_device_attr, phys_port_cnt) &&
	      EXP_BASE_SIZE <= sizeof(struct ibv_device_attr),
	      "the standard attributes come first");

static void fill_masked(struct ibv_exp_masked_atomic_params *masked,
			const struct exp_caps *caps)
{
	int top = 63 - __builtin_clzll(caps->sizes);

	masked->max_fa_bit_boundary = caps->max_fa_bit_boundary;
	masked->log_max_atomic_inline = top < 6 ? top : 6;
	masked->masked_log_atomic_arg_sizes = caps->sizes;
	masked->masked_log_atomic_arg_sizes_network_endianness = caps->sizes_be;
}

/* The older structure, which cannot report which sizes are big-endian. */
static void fill_ext(struct ibv_exp_ext_atomics_params *ext,
		     const struct exp_caps *caps)
{
	struct ibv_exp_masked_atomic_params masked;

	fill_masked(&masked, caps);
	ext->max_fa_bit_boundary = masked.max_fa_bit_boundary;
	ext->log_max_atomic_inline = masked.log_max_atomic_inline;
	ext->log_atomic_arg_sizes = caps->sizes;
	if (caps->atomic_cap != IBV_EXP_ATOMIC_HCA_REPLY_BE)
		ext->log_atomic_arg_sizes &= sizeof(uint64_t);
}

static void fill_odp(struct ibv_exp_odp_caps *odp,
		     const struct ibv_device_attr_ex *std)
{
	memset(odp, 0, sizeof(*odp));
	odp->general_odp_caps = std->odp_caps.general_caps;
	odp->per_transport_caps.rc_odp_caps =
		std->odp_caps.per_transport_caps.rc_odp_caps;
	odp->per_transport_caps.uc_odp_caps =
		std->odp_caps.per_transport_caps.uc_odp_caps;
	odp->per_transport_caps.ud_odp_caps =
		std->odp_caps.per_transport_caps.ud_odp_caps;
	odp->per_transport_caps.xrc_odp_caps = std->xrc_odp_caps;
}

static uint64_t cap_flags(const struct ibv_device_attr_ex *std,
			  const struct exp_caps *caps)
{
	uint64_t flags = std->orig_attr.device_cap_flags;

	/* ibv_exp_reg_mr() allocates memory for all devices. */
	flags |= IBV_EXP_DEVICE_MR_ALLOCATE;
	if (std->odp_caps.general_caps)
		flags |= IBV_EXP_DEVICE_ODP;
	if (flags & IBV_DEVICE_MANAGED_FLOW_STEERING)
		flags |= IBV_EXP_DEVICE_MANAGED_FLOW_STEERING;
	if (caps->masked)
		flags |= IBV_EXP_DEVICE_EXT_ATOMICS |
			 IBV_EXP_DEVICE_EXT_MASKED_ATOMICS;
	if (caps->emulated)
		flags |= IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED;
	return flags;
}

static bool has_pci_atomics(const struct ibv_device_attr_ex *std)
{
	return std->pci_atomic_caps.fetch_add || std->pci_atomic_caps.swap ||
	       std->pci_atomic_caps.compare_swap;
}

/* Returns the fields of asked that this device supports. */
static uint32_t supported_fields(uint32_t asked,
				 const struct ibv_device_attr_ex *std,
				 const struct exp_caps *caps)
{
	uint32_t fields = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			  IBV_EXP_DEVICE_ATTR_COMP_MASK_2;

	if (caps->masked)
		fields |= IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS |
			  IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS;
	if (std->odp_caps.general_caps)
		fields |= IBV_EXP_DEVICE_ATTR_ODP;
	if (std->hca_core_clock)
		fields |= IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK;
	if (std->max_dm_size)
		fields |= IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE;
	if (std->completion_timestamp_mask)
		fields |= IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK;
	return asked & fields;
}

static void fill_gated(struct ibv_exp_device_attr *attr,
		       const struct ibv_device_attr_ex *std,
		       const struct exp_caps *caps)
{
	attr->comp_mask = supported_fields(attr->comp_mask, std, caps);

	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS)
		attr->exp_device_cap_flags = cap_flags(std, caps);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS)
		fill_ext(&attr->ext_atom, caps);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS)
		fill_masked(&attr->masked_atomic, caps);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_ODP)
		fill_odp(&attr->odp_caps, std);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK)
		attr->hca_core_clock = std->hca_core_clock;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK)
		attr->timestamp_mask = std->completion_timestamp_mask;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE)
		attr->max_dm_size = std->max_dm_size;

	if (!(attr->comp_mask & IBV_EXP_DEVICE_ATTR_COMP_MASK_2))
		return;
	attr->comp_mask_2 &= has_pci_atomics(std) ?
			     IBV_EXP_DEVICE_ATTR_PCI_ATOMIC_CAPS : 0;
	if (attr->comp_mask_2 & IBV_EXP_DEVICE_ATTR_PCI_ATOMIC_CAPS) {
		attr->pci_atomic_caps.fetch_add = std->pci_atomic_caps.fetch_add;
		attr->pci_atomic_caps.swap = std->pci_atomic_caps.swap;
		attr->pci_atomic_caps.compare_swap =
			std->pci_atomic_caps.compare_swap;
	}
}

EXP_EXPORT
int ibv_exp_query_device(struct ibv_context *context,
			 struct ibv_exp_device_attr *attr)
{
	struct ibv_device_attr_ex std;
	struct exp_caps caps;
	int ret;

	if ((attr->comp_mask & IBV_EXP_DEVICE_ATTR_COMP_MASK_2) &&
	    attr->comp_mask_2 >= IBV_EXP_DEVICE_ATTR_RESERVED_2) {
		fprintf(stderr, "%s: invalid comp_mask_2 0x%llx (valid: 0x%x)\n",
			__func__, (unsigned long long)attr->comp_mask_2,
			IBV_EXP_DEVICE_ATTR_RESERVED_2 - 1);
		errno = EINVAL;
		return errno;
	}

	ret = ibv_query_device_ex(context, NULL, &std);
	if (ret)
		return ret;
	ret = exp_backend_query_std(context, &std.orig_attr, &caps);
	if (ret)
		return ret;

	memcpy(attr, &std.orig_attr, EXP_BASE_SIZE);
	attr->reserved = 0;
	attr->exp_atomic_cap = caps.atomic_cap;
	fill_gated(attr, &std, &caps);
	return 0;
}
