// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_query_device(), which combines the attributes of the standard verbs
 * with the atomic capabilities from the backend.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "backend.h"
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
	/* NOP is not supported on raw packet QPs, where programs use it. */
	if (!std->raw_packet_caps)
		flags |= IBV_EXP_DEVICE_NOP;
	if (caps->emulated)
		flags |= IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED;
	if (caps->dc)
		flags |= IBV_EXP_DEVICE_DC_TRANSPORT;
	return flags;
}

/*
 * Members that are 0 unless fill_gated() knows better: features that the device
 * does not have, or for which this library has no call.
 */
static const struct {
	uint32_t bit;
	uint16_t offset;
	uint16_t size;
} cleared[] = {
#define MEMBER(bit, member) {						\
	bit, offsetof(struct ibv_exp_device_attr, member),		\
	sizeof(((struct ibv_exp_device_attr *)0)->member) }
	MEMBER(IBV_EXP_DEVICE_ATTR_CALC_CAP, calc_cap),
	MEMBER(IBV_EXP_DEVICE_DC_RD_REQ, max_dc_req_rd_atom),
	MEMBER(IBV_EXP_DEVICE_DC_RD_RES, max_dc_res_rd_atom),
	MEMBER(IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ, inline_recv_sz),
	MEMBER(IBV_EXP_DEVICE_ATTR_RSS_TBL_SZ, max_rss_tbl_sz),
	MEMBER(IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS, ext_atom),
	MEMBER(IBV_EXP_DEVICE_ATTR_UMR, umr_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_ODP, odp_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_MAX_DCT, max_dct),
	MEMBER(IBV_EXP_DEVICE_ATTR_RX_HASH, rx_hash_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_MAX_WQ_TYPE_RQ, max_wq_type_rq),
	MEMBER(IBV_EXP_DEVICE_ATTR_MP_RQ, mp_rq_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_VLAN_OFFLOADS, wq_vlan_offloads_cap),
	MEMBER(IBV_EXP_DEVICE_ATTR_EC_CAPS, ec_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS, masked_atomic),
	MEMBER(IBV_EXP_DEVICE_ATTR_RX_PAD_END_ALIGN, rx_pad_end_addr_align),
	MEMBER(IBV_EXP_DEVICE_ATTR_TSO_CAPS, tso_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_PACKET_PACING_CAPS, packet_pacing_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_EC_GF_BASE, ec_w_mask),
	MEMBER(IBV_EXP_DEVICE_ATTR_OOO_CAPS, ooo_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_SW_PARSING_CAPS, sw_parsing_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_ODP_MAX_SIZE, odp_mr_max_size),
	MEMBER(IBV_EXP_DEVICE_ATTR_TM_CAPS, tm_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_TUNNEL_OFFLOADS_CAPS, tunnel_offloads_caps),
	MEMBER(IBV_EXP_DEVICE_ATTR_TUNNELED_ATOMIC, tunneled_atomic_caps),
};

/* Writes only the members of comp_mask. The others may not even exist. */
static void clear_gated(struct ibv_exp_device_attr *attr)
{
	size_t i;

	for (i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++)
		if (attr->comp_mask & cleared[i].bit)
			memset((char *)attr + cleared[i].offset, 0,
			       cleared[i].size);
}

/*
 * Returns the members of asked that have an answer. A clock of 0 is none,
 * because programs divide by it.
 */
static uint32_t answered(uint32_t asked, const struct ibv_device_attr_ex *std)
{
	if (!std->hca_core_clock)
		asked &= ~IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK;
	if (!std->completion_timestamp_mask)
		asked &= ~IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK;
	return asked;
}

static void fill_pacing(struct ibv_exp_packet_pacing_caps *pacing,
			const struct ibv_device_attr_ex *std)
{
	uint32_t qpts = std->packet_pacing_caps.supported_qpts;

	pacing->qp_rate_limit_min = std->packet_pacing_caps.qp_rate_limit_min;
	pacing->qp_rate_limit_max = std->packet_pacing_caps.qp_rate_limit_max;
	if (ibv_is_qpt_supported(qpts, IBV_QPT_RC))
		pacing->supported_qpts |= IBV_EXP_QPT_RC;
	if (ibv_is_qpt_supported(qpts, IBV_QPT_UD))
		pacing->supported_qpts |= IBV_EXP_QPT_UD;
	if (ibv_is_qpt_supported(qpts, IBV_QPT_RAW_PACKET))
		pacing->supported_qpts |= IBV_EXP_QPT_RAW_PACKET;
}

static void fill_tm(struct ibv_exp_tm_caps *tm,
		    const struct ibv_device_attr_ex *std)
{
	tm->max_rndv_hdr_size = std->tm_caps.max_rndv_hdr_size;
	tm->max_num_tags = std->tm_caps.max_num_tags;
	tm->capability_flags = std->tm_caps.flags & IBV_TM_CAP_RC ?
			       IBV_EXP_TM_CAP_RC : 0;
	tm->max_ops = std->tm_caps.max_ops;
	tm->max_sge = std->tm_caps.max_sge;
}

static void fill_dc(struct ibv_exp_device_attr *attr,
		    const struct exp_caps *caps)
{
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_MAX_DCT)
		attr->max_dct = caps->max_dct;
	if (attr->comp_mask & IBV_EXP_DEVICE_DC_RD_REQ)
		attr->max_dc_req_rd_atom = caps->max_dc_req_rd_atom;
	if (attr->comp_mask & IBV_EXP_DEVICE_DC_RD_RES)
		attr->max_dc_res_rd_atom = caps->max_dc_res_rd_atom;
}

static void fill_mask_2(struct ibv_exp_device_attr *attr,
			const struct ibv_device_attr_ex *std)
{
	if (attr->comp_mask_2 & IBV_EXP_DEVICE_ATTR_UMR_FIXED_SIZE_CAPS)
		memset(&attr->umr_fixed_size_caps, 0,
		       sizeof(attr->umr_fixed_size_caps));
	if (attr->comp_mask_2 & IBV_EXP_DEVICE_ATTR_PCI_ATOMIC_CAPS) {
		attr->pci_atomic_caps.fetch_add = std->pci_atomic_caps.fetch_add;
		attr->pci_atomic_caps.swap = std->pci_atomic_caps.swap;
		attr->pci_atomic_caps.compare_swap =
			std->pci_atomic_caps.compare_swap;
	}
}

static void fill_gated(struct ibv_exp_device_attr *attr,
		       const struct ibv_device_attr_ex *std,
		       const struct exp_caps *caps)
{
	attr->comp_mask = answered(attr->comp_mask, std);
	clear_gated(attr);

	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS)
		attr->exp_device_cap_flags = cap_flags(std, caps);
	if (caps->masked && (attr->comp_mask &
			     IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS))
		fill_ext(&attr->ext_atom, caps);
	if (caps->masked && (attr->comp_mask &
			     IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS))
		fill_masked(&attr->masked_atomic, caps);
	if (caps->dc)
		fill_dc(attr, caps);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ)
		attr->inline_recv_sz = (int)caps->max_inl_recv;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_ODP)
		fill_odp(&attr->odp_caps, std);
	if (std->odp_caps.general_caps && (attr->comp_mask &
					   IBV_EXP_DEVICE_ATTR_ODP_MAX_SIZE))
		attr->odp_mr_max_size = std->orig_attr.max_mr_size;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_PACKET_PACING_CAPS)
		fill_pacing(&attr->packet_pacing_caps, std);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_TM_CAPS)
		fill_tm(&attr->tm_caps, std);
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK)
		attr->hca_core_clock = std->hca_core_clock;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK)
		attr->timestamp_mask = std->completion_timestamp_mask;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE)
		attr->max_dm_size = std->max_dm_size;
	/* Only memory and file descriptors limit these. */
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_MAX_CTX_RES_DOMAIN)
		attr->max_ctx_res_domain = INT_MAX;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_MAX_DEVICE_CTX)
		attr->max_device_ctx = INT_MAX;
	if (attr->comp_mask & IBV_EXP_DEVICE_ATTR_COMP_MASK_2)
		fill_mask_2(attr, std);
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
