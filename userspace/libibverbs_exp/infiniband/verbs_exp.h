/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Experimental verbs, source compatible with MLNX_OFED 4.9.
 *
 * Names, types, values, order, sizes and offsets are those of OFED: programs
 * use positional initialisers, and some declare the structures themselves. All
 * of the interface is declared; what this library does not serve fails with
 * ENOSYS when it is called, as it did in OFED where a device lacked it. The
 * manual pages ibv_exp_*(3) tell what is served.
 *
 * Link with -libverbs_exp -libverbs.
 */
#ifndef _INFINIBAND_VERBS_EXP_H
#define _INFINIBAND_VERBS_EXP_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs_exp_enums.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp_enums.h>

/* Where values begin that the standard verbs do not have. */
enum ibv_exp_start_values {
	IBV_EXP_START_ENUM	= 0x40,
	IBV_EXP_START_FLAG_LOC	= 32,
	IBV_EXP_START_FLAG	= 1ULL << IBV_EXP_START_FLAG_LOC,
};

/*
 * OFED had these in enumerations of verbs.h, as verbs_exp_enums.h adds them. If
 * a program has included libibverbs's verbs.h before, they are macros. Those
 * that programs only compare with are plain numbers then: C++ does not let all
 * of them be values of today's enumerations.
 */
#ifndef _IBV_EXP_ENUMS
#define IBV_EXP_QP_TYPE_START		((enum ibv_qp_type)32)
#define IBV_EXP_QPT_DC_INI		((enum ibv_qp_type)32)
#define IBV_QPT_XRC			((enum ibv_qp_type)5)
#define IBV_QPT_RAW_ETH			IBV_QPT_RAW_PACKET
#define IBV_EXP_EVENT_DCT_KEY_VIOLATION	32
#define IBV_EXP_EVENT_DCT_ACCESS_ERR	33
#define IBV_EXP_EVENT_DCT_REQ_ERR	34
#define IBV_EXP_NODE_TYPE_START		32
#define IBV_EXP_NODE_MIC		IBV_EXP_NODE_TYPE_START
#define IBV_EXP_TRANSPORT_TYPE_START	32
#define IBV_EXP_TRANSPORT_SCIF		IBV_EXP_TRANSPORT_TYPE_START
#define IBV_QP_INIT_ATTR_RESERVED	(1 << 2)
#define IBV_REREG_MR_KEEP_VALID		(1 << 3)
#define IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK	1
#define IBV_PORT_VENDOR_CLASS		(1 << 24)
#endif

/* Of link_layer, whose enumeration has no name. */
enum {
	IBV_EXP_LINK_LAYER_START	= 32,
	IBV_EXP_LINK_LAYER_SCIF		= IBV_EXP_LINK_LAYER_START,
};

/* The length of a memory region that is the whole address space. */
#define IBV_EXP_IMPLICIT_MR_SIZE	(~(size_t)0)

#define IBV_EXP_PEER_IOMEMORY		((struct ibv_exp_peer_buf *)-1UL)

#define VERBS_MAX_ENV_VAL		4096
/* Newer releases of rdma-core have it, too, in other words. */
#ifndef ETHERNET_LL_SIZE
#define ETHERNET_LL_SIZE		6
#endif

/* caps is a mask of enum ibv_exp_supported_qp_types. */
#define ibv_is_qpt_supported(caps, qpt)	((caps) & (1 << (qpt)))

/* Return from a function if a comp_mask has bits that it does not know. */
#define IBV_EXP_RET_ON_INVALID_COMP_MASK(val, valid_mask, ret)		\
	do {								\
		unsigned long long exp_val_ = (val);			\
		unsigned long long exp_valid_ = (valid_mask);		\
									\
		if (exp_val_ > exp_valid_) {				\
			fprintf(stderr,					\
				"%s: invalid comp_mask 0x%llx (valid: 0x%llx)\n", \
				__func__, exp_val_, exp_valid_);	\
			errno = EINVAL;					\
			return ret;					\
		}							\
	} while (0)
#define IBV_EXP_RET_NULL_ON_INVALID_COMP_MASK(val, valid_mask)		\
	IBV_EXP_RET_ON_INVALID_COMP_MASK(val, valid_mask, NULL)
#define IBV_EXP_RET_EINVAL_ON_INVALID_COMP_MASK(val, valid_mask)	\
	IBV_EXP_RET_ON_INVALID_COMP_MASK(val, valid_mask, EINVAL)
#define IBV_EXP_RET_ZERO_ON_INVALID_COMP_MASK(val, valid_mask)		\
	IBV_EXP_RET_ON_INVALID_COMP_MASK(val, valid_mask, 0)

/* Objects that only a pointer is needed to. */
struct ibv_exp_dct;
struct ibv_exp_mkey_list_container;
struct ibv_exp_peer_buf;
struct ibv_exp_peer_direct_attr;
struct ibv_exp_res_domain;
struct ibv_exp_rwq_ind_table;

#include <infiniband/verbs_exp_device.h>
#include <infiniband/verbs_exp_qp.h>
#include <infiniband/verbs_exp_objects.h>
#include <infiniband/verbs_exp_offload.h>
#include <infiniband/verbs_exp_xrc.h>

#endif /* _INFINIBAND_VERBS_EXP_H */
