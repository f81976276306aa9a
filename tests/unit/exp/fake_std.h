/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An addition to the fake of fake.h: the calls of libibverbs, and of the device
 * with only the standard verbs, for the experimental calls that need no
 * backend.
 */
#ifndef EXP_FAKE_STD_H
#define EXP_FAKE_STD_H

#include "fake.h"

/* The arguments of the last calls of libibverbs, and the results to return. */
struct std {
	int calls;
	int err;
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint64_t offset;
	unsigned int access;
	struct ibv_cq cq;
	struct ibv_mr mr;
	struct ibv_dm dm;
	unsigned char memory[64];
	struct ibv_modify_cq_attr modify_cq;
	struct ibv_srq srq;
	struct ibv_srq_init_attr_ex srq_attr;
	struct ibv_qp_attr qp_attr;
	int qp_mask;
	struct ibv_gid_entry gid;
	struct ibv_port_attr port;
	enum ibv_advise_mr_advice advice;
	struct ibv_sge sge;
	struct ibv_mw_bind bind;
	uint64_t cycles;
	struct ibv_flow flow;
	unsigned char flow_attr[512];
	struct ibv_context opened;
	struct ibv_device *list[2];
};

extern struct std std;

#define ctx std_ctx

/**
 * reset() - Reset the fake to a device that implements every call.
 */
void reset(void);

/**
 * reset_bare() - Reset the fake to a device that implements no optional call.
 */
void reset_bare(void);

/**
 * f_dereg_mr() - Implement ibv_dereg_mr().
 * @mr: region, which must be std.mr
 *
 * Return: std.err.
 */
int f_dereg_mr(struct ibv_mr *mr);

#endif /* EXP_FAKE_STD_H */
