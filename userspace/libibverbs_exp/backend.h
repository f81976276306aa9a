/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The calls of libibverbs_exp need these functions from a kind of device; backend.c
 * says which kind a context has.
 *
 * Each context has a backend.  The last one takes all devices that the others do not; on a
 * device without atomics it uses the standard verbs alone.  A new backend is a new file and
 * a line in choose_backend().
 */
#ifndef EXP_BACKEND_H
#define EXP_BACKEND_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

#include "qp_table.h"

/* What a device can do beyond the standard verbs; sizes: bit n, 2^n bytes. */
struct exp_caps {
	enum ibv_exp_atomic_cap atomic_cap;
	bool masked;		/* both masked atomics */
	bool emulated;		/* ... which the device does not execute */
	bool masked_xrc;	/* ... also for initiators of XRC */
	bool be_reply;		/* IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY */
	uint64_t sizes;
	uint64_t sizes_be;	/* those always answered in big-endian */
	uint32_t max_fa_bit_boundary;
};

/* The builders that send.c calls on a queue pair of a backend. */
#define EXP_SEND_OPS							\
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |		\
	 IBV_QP_EX_WITH_RDMA_READ)

#define EXP_ATOMIC_OPS							\
	(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |				\
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

struct exp_backend {
	/* False: a later backend may. */
	bool (*serves)(struct ibv_context *context);

	/* caps->atomic_cap is set to the standard one before the call. */
	int (*query)(struct ibv_context *context, struct exp_caps *caps);

	/*
	 * Creates a queue pair of a reliable connection, or an initiator of
	 * XRC if the backend has said that it can, that masked atomics can be
	 * posted to, with the builders of the standard operations unless there
	 * is a post_send.  Finds in entry what the device and the program say of
	 * atomics, and fills entry->qpx and the backend's own fields.  Returns
	 * NULL with errno.
	 */
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    uint32_t exp_create_flags,
				    struct exp_qp *entry);

	/* Frees what is the backend's of an entry whose queue pair is gone. */
	void (*release)(struct exp_qp *entry);

	/* ibv_exp_post_send(); NULL: with the builders. */
	int (*post_send)(const struct exp_qp *entry, struct ibv_exp_send_wr *wr,
			 struct ibv_exp_send_wr **bad_wr);

	/*
	 * Builds a masked atomic that exp_wr_check() has passed, with its buffers,
	 * between ibv_wr_start() and ibv_wr_complete().
	 */
	void (*build_masked)(const struct exp_qp *entry,
			     const struct ibv_exp_send_wr *wr);

	/* Corrects what cq.c made of a completion. */
	void (*fix_wc)(const struct ibv_wc *std, struct ibv_exp_wc *wc);

	/*
	 * Optional, for a backend that keeps account of the send queue:
	 * begin and end stand around ibv_wr_start() and ibv_wr_complete() or
	 * ibv_wr_abort(), and are told whether the batch is posted.  add stands
	 * before each request is built, which it refuses with an errno.
	 */
	void (*batch_begin)(const struct exp_qp *entry);
	int (*batch_add)(const struct exp_qp *entry,
			 const struct ibv_exp_send_wr *wr);
	void (*batch_end)(const struct exp_qp *entry, bool posted);

	/*
	 * Optional: an extended completion queue has just been created, before
	 * the program knows it.  0 or errno.
	 */
	int (*adopt_cq_ex)(struct ibv_cq_ex *cq, uint64_t wc_flags);

	/* Optional: the queue pair has been reset, its queues are empty. */
	void (*reset)(const struct exp_qp *entry);
};

extern const struct exp_backend exp_backend_mxe;
extern const struct exp_backend exp_backend_mlx5;
extern const struct exp_backend exp_backend_emu;

/* What serves a context does so until it is closed. */
const struct exp_backend *exp_backend_of(struct ibv_context *context);

/* ibv_close_device(), with `std` as the one of libibverbs. */
int exp_close_device(struct ibv_context *context,
		     int (*std)(struct ibv_context *context));

/* What the device of a context can do.  Both return 0 or errno. */
int exp_backend_query(struct ibv_context *context, struct exp_caps *caps);
int exp_backend_query_std(struct ibv_context *context,
			  const struct ibv_device_attr *std,
			  struct exp_caps *caps);

#endif /* EXP_BACKEND_H */
