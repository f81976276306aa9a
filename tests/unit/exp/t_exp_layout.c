// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that infiniband/verbs_exp.h has the sizes, offsets, types and values
 * of layout.table, which are those of MLNX_OFED 4.9. A wrong one does not
 * compile. layout.cc is the same for C++.
 */
#include <infiniband/verbs_exp.h>

#include "tap.h"

#define SIZE(type, size) \
	_Static_assert(sizeof(type) == (size), "size of " #type)
#define AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), \
		       "offset of " #member " in " #type)
#define FIELD(type, member, offset, member_type) \
	_Static_assert(offsetof(type, member) == (offset) && \
		       __builtin_types_compatible_p( \
				__typeof__(((type *)0)->member), member_type), \
		       "offset and type of " #member " in " #type)
#include "exp_offsets.h"

#define IS(name, value) \
	_Static_assert((uint64_t)(name) == (value), "value of " #name)

/* Values that are not enumerators in the table. */
IS(IBV_EXP_START_ENUM, 0x40);
IS(IBV_EXP_START_FLAG_LOC, 32);
IS(IBV_EXP_START_FLAG, 0x100000000);
IS(IBV_EXP_DEVICE_ATTR_RESERVED, 0x100000000);
IS((uint32_t)(IBV_EXP_DEVICE_ATTR_RESERVED - 1), 0xffffffff);
IS(IBV_EXP_RX_HASH_INNER, 0x80000000);
IS(IBV_EXP_IMPLICIT_MR_SIZE, UINT64_MAX);
IS(IBV_EXP_QPT_DC_INI, 32);
IS(IBV_EXP_QP_TYPE_START, 32);
IS(IBV_EXP_EVENT_DCT_KEY_VIOLATION, 32);
IS(IBV_EXP_EVENT_DCT_ACCESS_ERR, 33);
IS(IBV_EXP_EVENT_DCT_REQ_ERR, 34);
IS(IBV_EXP_NODE_MIC, 32);
IS(IBV_EXP_TRANSPORT_SCIF, 32);
IS(IBV_EXP_LINK_LAYER_SCIF, 32);
IS(VERBS_MAX_ENV_VAL, 4096);
IS(ETHERNET_LL_SIZE, 6);
IS(ibv_is_qpt_supported(IBV_EXP_QPT_UD, 2), 4);

/* Programs post plain opcodes and flags through the experimental call. */
IS(IBV_EXP_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP);
IS(IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD);
IS(IBV_EXP_WR_SEND_WITH_INV, IBV_WR_SEND_WITH_INV);
IS(IBV_EXP_SEND_INLINE, IBV_SEND_INLINE);
IS(IBV_EXP_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_ATOMIC);
IS(IBV_EXP_QP_DEST_QPN, IBV_QP_DEST_QPN);

/* The standard structures that our structures begin with. */
#define SAME(type, exp_type, member) \
	AT(type, member, offsetof(exp_type, member))

SAME(struct ibv_qp_init_attr, struct ibv_exp_qp_init_attr, sq_sig_all);
SAME(struct ibv_qp_attr, struct ibv_exp_qp_attr, alt_timeout);
SAME(struct ibv_device_attr, struct ibv_exp_device_attr, phys_port_cnt);
SAME(struct ibv_port_attr, struct ibv_exp_port_attr, link_layer);

/*
 * Each enumeration exists under its tag, and a variable of it holds its values.
 */
static uint64_t wrong;

#define PLAIN(name, value)						\
	static void try_##name(void)					\
	{								\
		IS(name, value);					\
	}
#define VALUE(tag, name, value)						\
	static void try_##name(void)					\
	{								\
		enum tag variable = name;				\
									\
		IS(name, value);					\
		if ((uint64_t)variable != (value))			\
			wrong++;					\
	}
#include "exp_values.h"
#undef VALUE
#undef PLAIN

static void (*const tries[])(void) = {
#define PLAIN(name, value) try_##name,
#define VALUE(tag, name, value) try_##name,
#include "exp_values.h"
};

int main(void)
{
	size_t i;

	plan(0);
	pass("every size, offset, type and value was checked at compile time");
	for (i = 0; i < ARRAY_SIZE(tries); i++)
		tries[i]();
	is_u64(wrong, 0, "%zu enumerators in variables of their enumerations",
	       ARRAY_SIZE(tries));
	return done_testing();
}
