/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fake of libibverbs, libmxe and two devices, for tests of libibverbs_exp:
 * one device of mxe and one that knows only the standard verbs and no atomics.
 * The fake records what reaches it.
 */
#ifndef EXP_FAKE_H
#define EXP_FAKE_H

#include <stdbool.h>
#include <infiniband/mxedv.h>
#include <infiniband/verbs_exp.h>

#include "random.h"
#include "short_names.h"
#include "tap.h"

struct exp_mlx5dv;

#define PD IBV_EXP_QP_INIT_ATTR_PD
#define FLAGS IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS
#define ARG IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG

/*
 * Sizes of operands in bytes, each of which is its bit in a log_arg_sizes mask.
 */
#define SIZES (4 | 8 | 16 | 32)

#define MAX_OPS 64

struct op {
	uint64_t wr_id;
	unsigned int flags;
	int opcode;		/* enum ibv_exp_wr_opcode */
	uint32_t rkey;
	uint64_t addr;
	uint64_t arg[4];
	uint32_t log_arg_sz;	/* of masked atomics */
	uint64_t wide[4][4];	/* operands of more than 8 bytes */
	uint32_t imm;
	size_t num_sge;
	uint64_t sge_addr;
	bool is_inline;
	uint32_t srqn;		/* of XRC */
	int num_dc_addrs;	/* of DC; how often the target was set */
	const struct ibv_ah *dc_ah;
	uint32_t dct_num;
	uint64_t dct_key;
	const struct ibv_mw *mw;	/* of BIND_MW */
	struct ibv_mw_bind_info bind;
};

struct fake_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qpx;
	};
	struct mxedv_qp_ex mqp;
	bool has_ex;
	uint32_t create_flags;		/* enum mxedv_qp_create_flags */
	uint32_t max_atomic_arg;	/* as requested */
	uint32_t dc_type;		/* enum mxedv_dc_type, or 0 */
	uint64_t dct_key;

	struct op ops[MAX_OPS];		/* posted */
	int num_ops;
	int building;			/* further ops that the builders have begun */
	int room;			/* in the send queue */
	uint64_t poison;		/* a wr_id that is refused */
	int doorbells;
	bool started;
};

extern struct verbs_context mxe_vctx, std_vctx;
#define mxe_ctx (&mxe_vctx.context)
#define std_ctx (&std_vctx.context)

extern struct ibv_pd mxe_pd, std_pd;

struct fake {
	struct ibv_device_attr_ex std;
	struct mxedv_device_attr mxe;
	const struct exp_mlx5dv *mlx5dv; /* NULL: no libmlx5 */
	int query_errno;
	int mxe_query_errno;
	int create_errno;
	bool no_builders;
	uint32_t next_qpn;
	struct fake_qp *reuse;		/* memory of the next QP, or NULL */
	bool no_inline_recv;		/* mxedv_create_qp() refuses it */
	int plain_created, ex_created, mxe_created, destroyed;
	int inline_created;		/* without masked atomics */
	int dct_created;
	struct mxedv_dct_attr dct;	/* of every target */
	struct ibv_qp *armed;		/* the last one */
	int dct_errno;			/* of querying and arming */
	bool old_mxedv;			/* libmxe has neither call */
	struct ibv_qp_init_attr_ex last;
};

extern struct fake fake;

#define MAX_WCS 64

/* The CQ of both devices. */
struct fake_cq {
	struct ibv_wc wcs[MAX_WCS];
	int num;
	int taken;
	int error_at;			/* -1: none */
};

extern struct fake_cq fake_cq;

/**
 * to_fake() - Return the fake QP that contains a QP.
 * @qp: QP of one of the devices
 *
 * Return: the fake QP.
 */
static inline struct fake_qp *to_fake(struct ibv_qp *qp)
{
	return (struct fake_qp *)qp;
}

/**
 * fake_init() - Initialize the devices once per program.
 */
void fake_init(void);

/**
 * fake_reset() - Restore the usual capabilities of the devices before a test.
 */
void fake_reset(void);

/**
 * fake_be_device() - Reset the fake and make the device of mxe return
 *	big-endian results.
 *
 * The counterpart of the module parameter atomic_reply=be.
 */
void fake_be_device(void);

/**
 * fake_query_device_ex() - Implement ibv_query_device_ex().
 * @context: context
 * @input: ignored
 * @attr: is set to fake.std
 * @size: size of @attr in bytes
 *
 * Return: 0 or fake.query_errno.
 */
int fake_query_device_ex(struct ibv_context *context,
			 const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t size);

/**
 * init_attr() - Fill in valid attributes.
 * @attr: attributes
 * @context: context of the device
 * @comp_mask: IBV_EXP_QP_INIT_ATTR_* bits
 *
 * Fields whose bit is not set contain garbage.
 */
void init_attr(struct ibv_exp_qp_init_attr *attr, struct ibv_context *context,
	       uint32_t comp_mask);

/**
 * create() - Create a QP through the library.
 * @context: context of the device
 * @comp_mask: IBV_EXP_QP_INIT_ATTR_* bits
 * @flags: IBV_EXP_QP_CREATE_* flags
 * @max_atomic_arg: largest operand in bytes
 *
 * Return: the QP, or NULL with errno set.
 */
struct ibv_qp *create(struct ibv_context *context, uint32_t comp_mask,
		      uint32_t flags, uint32_t max_atomic_arg);

/**
 * must_create() - Create a QP through the library, and end the program on
 *	failure.
 * @context: context of the device
 * @comp_mask: IBV_EXP_QP_INIT_ATTR_* bits
 * @flags: IBV_EXP_QP_CREATE_* flags
 * @max_atomic_arg: largest operand in bytes
 *
 * Return: the QP.
 */
struct ibv_qp *must_create(struct ibv_context *context, uint32_t comp_mask,
			   uint32_t flags, uint32_t max_atomic_arg);

#endif /* EXP_FAKE_H */
