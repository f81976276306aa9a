/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the calls of libibverbs_exp need from a kind of device.
 *
 * Each context has a backend, of which the last one takes all that the others do
 * not.  A device without atomics is served with the standard verbs alone.  A new
 * backend is a new file and a line in choose_backend().
 */
#ifndef EXP_BACKEND_H
#define EXP_BACKEND_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

#include "table.h"

struct exp_mlx5_sq;
struct mlx5dv_qp_ex;
struct mxedv_qp_ex;

#define EXP_EXPORT __attribute__((visibility("default")))

/* The flags of a work request that the standard verbs have too. */
#define EXP_SEND_STD_FLAGS						\
	(IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SIGNALED |			\
	 IBV_EXP_SEND_SOLICITED | IBV_EXP_SEND_INLINE)

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

/*
 * A queue pair that takes masked atomics.
 *
 * Lifetime: queue pairs are destroyed with ibv_destroy_qp(), which this library
 * sees if it stands before libibverbs (interpose.c).  Entries are found by the
 * address of the queue pair (table.h); one whose queue pair is gone stays until
 * one is created at that address.  A match must be proved by exp_qp_find().
 *
 * Locking: `entry` and `qp` never change.  The other fields are written before
 * the caller of ibv_exp_create_qp() knows the queue pair.
 */
struct exp_qp {
	struct exp_entry entry;
	struct ibv_qp *qp;

	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq;
	uint32_t handle;
	uint32_t qp_num;
	struct ibv_qp_ex *qpx;	/* NULL: made without builders */
	const struct exp_backend *backend;	/* NULL: entry not in use */

	enum ibv_exp_atomic_cap atomic_cap;
	bool has_atomics;	/* false: all atomics are refused */
	uint32_t max_atomic_arg;
	uint32_t max_send_sge;
	uint64_t sizes;

	struct mxedv_qp_ex *mqp;	/* of backend_mxe.c */
	struct emu_qp *emu;		/* of backend_emu.c, owned */
	struct mlx5dv_qp_ex *mlx5_qpx;	/* of backend_mlx5.c */
	struct exp_mlx5_sq *mlx5_sq;	/* as well, owned */
};

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
	 * Builds a masked atomic that send.c has checked, with its buffers,
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

/* device.c: what serves a context does so until it is closed. */
const struct exp_backend *exp_backend_of(struct ibv_context *context);
/* ibv_close_device(), with `std` as the one of libibverbs. */
int exp_close_device(struct ibv_context *context,
		     int (*std)(struct ibv_context *context));
/* 0 or errno. */
int exp_query_caps(struct ibv_context *context, struct exp_caps *caps);

/* qp.c: NULL if qp is no queue pair of ibv_exp_create_qp() with a backend. */
const struct exp_qp *exp_qp_find(struct ibv_qp *qp);

/* qp.c: ibv_modify_qp(), with `std` as the one of libibverbs. */
int exp_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  int (*std)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask));

/* qp.c: ibv_destroy_qp(), with `std` as the one of libibverbs. */
int exp_destroy_qp(struct ibv_qp *qp, int (*std)(struct ibv_qp *qp));

/*
 * cq_ex.c: from now on extended completion queues of the context are known, and
 * adopted by its backend.
 */
void exp_context_seen(struct ibv_context *context);

/*
 * cq_ex.c: cq, if it is known to be extended, and what can be read of its
 * completions; else NULL.
 */
struct ibv_cq_ex *exp_cq_ex_of(struct ibv_cq *cq, uint64_t *wc_flags);

/*
 * cq_ex.c: the completion between ibv_start_poll() and ibv_end_poll(), by the
 * readers in `calls`, which are of cq or have been.
 */
void exp_read_wc(struct ibv_cq_ex *cq, const struct ibv_cq_ex *calls,
		 uint64_t wc_flags, struct ibv_wc *wc);

/* cq_ex.c: ibv_destroy_cq(), with `std` as the one of libibverbs. */
int exp_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq));

/* cq.c: fix_wc where the opcode of an atomic is already that of OFED. */
void exp_fix_atomic_wc(const struct ibv_wc *std, struct ibv_exp_wc *wc);

/* send.c: 0, or the errno with which wr is refused on that queue pair. */
int exp_check_wr(const struct exp_qp *entry, const struct ibv_exp_send_wr *wr);

/* send.c: a request that the standard verbs have too. */
int exp_wr_to_std(const struct ibv_qp *qp, struct ibv_send_wr *std,
		  const struct ibv_exp_send_wr *wr);

#endif /* EXP_BACKEND_H */
