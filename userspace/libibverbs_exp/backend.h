/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The backend of a context implements the experimental verbs for its device.
 * backend.c chooses it.
 *
 * Every context has a backend. The emulating one is the last choice and
 * supports all devices. On a device without atomics it uses only the standard
 * verbs. A new backend needs a file, and a line in choose_backend().
 */
#ifndef EXP_BACKEND_H
#define EXP_BACKEND_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs_exp.h>

struct exp_qp;

/*
 * The capabilities of a device beyond the standard verbs. In a bitmap of sizes,
 * bit n is the size of 2^n bytes.
 */
struct exp_caps {
	enum ibv_exp_atomic_cap atomic_cap;
	bool masked;		/* has both masked atomics */
	bool emulated;		/* the library emulates them */
	bool masked_xrc;	/* XRC initiators have them, too */
	bool be_reply;		/* IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY */
	uint64_t sizes;
	uint64_t sizes_be;	/* sizes with big-endian results in any case */
	uint32_t max_fa_bit_boundary;
	uint32_t max_inl_recv;	/* bytes, see create_inline() */
	/* Dynamically connected (DC) transport. The limits need dc. */
	bool dc;
	int max_dct;
	int max_dc_req_rd_atom;	/* of an initiator */
	int max_dc_res_rd_atom;	/* of a target, for each initiator */
};

/* The builders that send.c calls on QPs of backends without post_send. */
#define EXP_SEND_OPS							\
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |		\
	 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |	\
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)

#define EXP_ATOMIC_OPS							\
	(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |				\
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

struct exp_backend {
	/* Returns true if this backend supports the device of the context. */
	bool (*serves)(struct ibv_context *context);

	/*
	 * Optional: replaces the operations in the context, if that is possible
	 * now. Called before the program gets the context, so that a pointer
	 * that it saves from there is not one to the operation of the provider.
	 */
	void (*adopt)(struct ibv_context *context);

	/*
	 * Fills in caps, which is zeroed except for atomic_cap, the value of
	 * the standard verbs, and max_dct, the number of QPs. Returns 0 or a
	 * positive errno.
	 */
	int (*query)(struct ibv_context *context, struct exp_caps *caps);

	/*
	 * Creates a QP for masked atomics: RC, an XRC initiator if
	 * exp_caps.masked_xrc is set, or a DC initiator if exp_caps.dc is set.
	 * The latter has entry->is_dci and the type IBV_QPT_DRIVER, and may
	 * lack masked atomics. Unless there is a post_send, the QP needs
	 * the builders EXP_SEND_OPS and EXP_ATOMIC_OPS. The atomic capabilities
	 * in entry, and inline_recv, are set before the call. This sets
	 * entry->qpx and the members of the backend. Returns NULL with errno,
	 * EOPNOTSUPP if inline_recv cannot be fulfilled.
	 */
	struct ibv_qp *(*create_qp)(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr,
				    uint32_t exp_create_flags,
				    struct exp_qp *entry);

	/*
	 * Optional, if exp_caps.max_inl_recv is set: creates a QP without
	 * masked atomics that has inline receive.  Returns NULL with errno,
	 * EOPNOTSUPP if such a QP has no inline receive.
	 */
	struct ibv_qp *(*create_inline)(struct ibv_context *context,
					struct ibv_qp_init_attr_ex *attr);

	/*
	 * Optional, if exp_caps.dc is set: creates a DC target, in the state
	 * RESET. attr has the SRQ, the CQ and the PD. Returns NULL with errno.
	 */
	struct ibv_qp *(*create_dct)(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr,
				     uint64_t key);

	/*
	 * Optional: sets the number of requests with a wrong key that a DC
	 * target has received. Returns 0 or a positive errno, EOPNOTSUPP if the
	 * device does not report the number.
	 */
	int (*query_dct)(struct ibv_qp *qp, uint32_t *key_violations);

	/*
	 * Optional: makes the next request with a wrong key raise
	 * IBV_EVENT_QP_ACCESS_ERR of a DC target, which no other request then
	 * raises. Returns 0 or a positive errno.
	 */
	int (*arm_dct)(struct ibv_qp *qp);

	/* Optional: frees the backend's members after the QP was destroyed. */
	void (*release)(struct exp_qp *entry);

	/* Optional: ibv_exp_post_send(). If NULL, send.c uses the builders. */
	int (*post_send)(const struct exp_qp *entry, struct ibv_exp_send_wr *wr,
			 struct ibv_exp_send_wr **bad_wr);

	/*
	 * Builds a masked atomic, its SGEs, and its XRC SRQ or DC target,
	 * between ibv_wr_start() and ibv_wr_complete(), after exp_wr_check().
	 * NULL if there is a post_send.
	 */
	void (*build_masked)(const struct exp_qp *entry,
			     const struct ibv_exp_send_wr *wr);

	/*
	 * Optional, if exp_caps.dc is set: sets the DC target of a request that
	 * was built, but not by build_masked().
	 */
	void (*set_dc_addr)(const struct exp_qp *entry,
			    const struct ibv_exp_send_wr *wr);

	/* Corrects wc, which cq.c has filled in from std. */
	void (*fix_wc)(const struct ibv_wc *std, struct ibv_exp_wc *wc);

	/*
	 * Optional, for a backend that tracks the send queue. batch_begin() is
	 * called before ibv_wr_start(), and batch_end() after ibv_wr_complete()
	 * or ibv_wr_abort(), with posted set if the batch was posted.
	 * batch_add() is called before each request is built, and may refuse it
	 * with a positive errno.
	 */
	void (*batch_begin)(const struct exp_qp *entry);
	int (*batch_add)(const struct exp_qp *entry,
			 const struct ibv_exp_send_wr *wr);
	void (*batch_end)(const struct exp_qp *entry, bool posted);

	/*
	 * Optional: called for a new extended CQ before the program gets it.
	 * Returns 0 or a positive errno.
	 */
	int (*adopt_cq_ex)(struct ibv_cq_ex *cq, uint64_t wc_flags);

	/*
	 * Optional, for a backend that uses a QP not only in calls for it.
	 * pause() is called before a QP is destroyed or reset, and may be
	 * called again before resume(). The backend must not use the QP until
	 * resume(), which is called if that fails. Otherwise release() or
	 * reset() is called.
	 */
	void (*pause)(const struct exp_qp *entry);
	void (*resume)(const struct exp_qp *entry);

	/* Optional: called after a QP was reset. Its queues are empty. */
	void (*reset)(const struct exp_qp *entry);
};

const struct exp_backend *exp_backend_of(struct ibv_context *context);
const struct exp_backend *exp_backend_adopt(struct ibv_context *context);
int exp_close_device(struct ibv_context *context,
		     int (*std)(struct ibv_context *context));
int exp_backend_query(struct ibv_context *context, struct exp_caps *caps);
int exp_backend_query_std(struct ibv_context *context,
			  const struct ibv_device_attr *std,
			  struct exp_caps *caps);

#endif /* EXP_BACKEND_H */
