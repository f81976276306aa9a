/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adds enumerators of OFED to the enumerations of libibverbs's verbs.h.
 * Included before it and after it, and by no program.
 *
 * A macro for one enumerator of each enumeration expands to those of OFED and
 * to itself, so that compilers know them: -Wswitch, which is part of -Wall,
 * warns of a case label that the enumeration lacks. verbs.h uses each of these
 * enumerators nowhere else.
 */
#ifndef INFINIBAND_VERBS_H

/* The enumerators exist, unless the program has included verbs.h before. */
#define _IBV_EXP_ENUMS

#define IBV_NODE_UNKNOWN						\
	IBV_EXP_NODE_TYPE_START		= 32,				\
	IBV_EXP_NODE_MIC		= IBV_EXP_NODE_TYPE_START,	\
	IBV_NODE_UNKNOWN

#define IBV_TRANSPORT_UNKNOWN						\
	IBV_EXP_TRANSPORT_TYPE_START	= 32,				\
	IBV_EXP_TRANSPORT_SCIF		= IBV_EXP_TRANSPORT_TYPE_START,	\
	IBV_TRANSPORT_UNKNOWN

#define IBV_PORT_SM							\
	IBV_PORT_VENDOR_CLASS		= 1 << 24,			\
	IBV_PORT_SM

/* verbs.h gives this one no value. */
#define IBV_EVENT_CQ_ERR						\
	IBV_EXP_EVENT_DCT_KEY_VIOLATION	= 32,				\
	IBV_EXP_EVENT_DCT_ACCESS_ERR	= 33,				\
	IBV_EXP_EVENT_DCT_REQ_ERR	= 34,				\
	IBV_EVENT_CQ_ERR		= 0

#define IBV_REREG_MR_CHANGE_TRANSLATION					\
	IBV_REREG_MR_KEEP_VALID		= 1 << 3,			\
	IBV_REREG_MR_CHANGE_TRANSLATION

/* IBV_QPT_XRC is the same as IBV_QPT_XRC_SEND in ibv_create_qp(). */
#define IBV_QPT_RC							\
	IBV_QPT_XRC			= 5,				\
	IBV_QPT_RAW_ETH			= 8,				\
	IBV_EXP_QP_TYPE_START		= 32,				\
	IBV_EXP_QPT_DC_INI		= IBV_EXP_QP_TYPE_START,	\
	IBV_QPT_RC

#define IBV_QP_INIT_ATTR_RX_HASH					\
	IBV_QP_INIT_ATTR_RESERVED	= 1 << 2,			\
	IBV_QP_INIT_ATTR_RX_HASH

#define IBV_FLOW_ATTR_FLAGS_DONT_TRAP					\
	IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK	= 1,			\
	IBV_FLOW_ATTR_FLAGS_DONT_TRAP

#else

#undef IBV_NODE_UNKNOWN
#undef IBV_TRANSPORT_UNKNOWN
#undef IBV_PORT_SM
#undef IBV_EVENT_CQ_ERR
#undef IBV_REREG_MR_CHANGE_TRANSLATION
#undef IBV_QPT_RC
#undef IBV_QP_INIT_ATTR_RX_HASH
#undef IBV_FLOW_ATTR_FLAGS_DONT_TRAP

#endif
