/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The internal structures of the provider, and its functions by file, the
 * lowest layer first (see the Makefile). Functions with the name of a member of
 * struct verbs_context_ops have the contract of that member.
 *
 * Locks: every ring has one spinlock, which protects the index of the process
 * and the entries that the process may access. The library never holds two of
 * them, and makes no system call with one held. Only the program may do so,
 * between ibv_wr_start() and ibv_wr_complete(), or ibv_start_poll() and
 * ibv_end_poll(). The rings of objects with a thread domain, and of
 * single-threaded CQs, are not locked. A CQ also has a mutex, resize_lock,
 * which is taken before the lock of its ring and held over the system calls of
 * a resize.
 */
#ifndef MXE_H
#define MXE_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/mxe-abi.h>
#include <rdma/mxe_user_ioctl_cmds.h>
#include "infiniband/mxedv.h"
#include "rdmav.h"
#include "ring.h"

#define MXE_EXPORT __attribute__((visibility("default")))

#define mxe_container(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct mxe_device {
	struct verbs_device vdev;
};

struct mxe_context {
	struct verbs_context vctx;
	struct mxe_atomic_caps caps;
	uint32_t max_inline_recv;	/* bytes; 0: not supported */
	bool has_one_mapping;		/* MXE_QP_CREATE_ONE_MAPPING */
	int doorbell_fd;
};

struct mxe_td {
	struct ibv_td ibtd;
	int users;			/* parent domains */
};

/* A protection domain, or a parent domain, which extends another domain. */
struct mxe_pd {
	struct ibv_pd ibpd;
	struct mxe_pd *extends;		/* NULL: a protection domain */
	struct mxe_td *td;		/* NULL: none */
	int users;			/* parent domains that extend it */
};

struct mxe_ah {
	struct ibv_ah ibah;
	uint32_t num;			/* in WQEs */
};

struct mxe_cq {
	struct verbs_cq vcq;
	struct mxe_ring ring;		/* without entries during a resize */
	pthread_mutex_t resize_lock;	/* keeps the memory of the ring */
	struct mxe_cqe cqe;		/* current one, ibv_start_poll() */
	int64_t wall_offset;		/* ns, to CLOCK_REALTIME; under ring.lock */
};

struct mxe_srq {
	struct verbs_srq vsrq;
	struct mxe_ring ring;
	/* Tag matching.  Without it, the ring has no entries. */
	struct mxe_ring tm_ops;
	struct ibv_cq *tm_cq;
	uint32_t num;			/* for the doorbell */
	uint32_t max_num_tags;
	uint32_t tags_added;		/* modulo 2^32, under tm_ops.lock */
};

struct mxe_qp {
	struct verbs_qp vqp;
	struct mxedv_qp_ex dv;
	struct mxe_ring sq;
	struct mxe_ring rq;
	uint32_t wr_opcodes;		/* bit n: builders accept opcode n */
	uint32_t post_opcodes;		/* bit n: ibv_post_send() does */
	bool has_builders;
	bool defers_doorbell;		/* mxedv_ring_doorbells() */
	bool is_dci;			/* DC initiator */
	uint8_t masked_flags;		/* added to masked atomics */
	uint32_t max_atomic_arg;	/* bytes */
	/*
	 * Under sq.lock. Without ECE the peer is assumed to support everything.
	 */
	bool has_ece;
	uint32_t ece_options;		/* common to both sides */
	uint32_t masked_sizes;		/* by ECE: bit n for 2^n bytes */

	/* The batch between ibv_wr_start() and ibv_wr_complete(). */
	struct mxe_send_wqe *batch_wqe;	/* the WQE being built, or NULL */
	uint32_t batch_index;		/* index after it */
	uint32_t batch_dests;		/* DC: requests that have a target */
	struct mxe_send_wqe *dest_wqe;	/* DC: the last of them */
	int batch_err;			/* first error, a positive errno */
};

/**
 * to_mctx() - Cast an ibv_context.
 * @context: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_context *to_mctx(struct ibv_context *context)
{
	return mxe_container(context, struct mxe_context, vctx.context);
}

/**
 * to_mtd() - Cast an ibv_td.
 * @td: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_td *to_mtd(struct ibv_td *td)
{
	return mxe_container(td, struct mxe_td, ibtd);
}

/**
 * to_mpd() - Cast an ibv_pd.
 * @pd: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_pd *to_mpd(struct ibv_pd *pd)
{
	return mxe_container(pd, struct mxe_pd, ibpd);
}

/**
 * mxe_pd_is_single_threaded() - Check a domain for a thread domain.
 * @pd: protection domain or parent domain
 *
 * Return: true if one thread at a time uses the objects that are created in it.
 */
static inline bool mxe_pd_is_single_threaded(struct ibv_pd *pd)
{
	return to_mpd(pd)->td;
}

/**
 * to_mah() - Cast an ibv_ah.
 * @ah: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_ah *to_mah(struct ibv_ah *ah)
{
	return mxe_container(ah, struct mxe_ah, ibah);
}

/**
 * to_mcq() - Cast an ibv_cq.
 * @cq: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_cq *to_mcq(struct ibv_cq *cq)
{
	return mxe_container(cq, struct mxe_cq, vcq.cq);
}

/**
 * to_mcq_ex() - Cast an ibv_cq_ex.
 * @cq: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_cq *to_mcq_ex(struct ibv_cq_ex *cq)
{
	return mxe_container(cq, struct mxe_cq, vcq.cq_ex);
}

/**
 * to_msrq() - Cast an ibv_srq.
 * @srq: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_srq *to_msrq(struct ibv_srq *srq)
{
	return mxe_container(srq, struct mxe_srq, vsrq.srq);
}

/**
 * to_mqp() - Cast an ibv_qp.
 * @qp: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_qp *to_mqp(struct ibv_qp *qp)
{
	return mxe_container(qp, struct mxe_qp, vqp.qp);
}

/**
 * to_mqp_ex() - Cast an ibv_qp_ex.
 * @qp: object of this provider
 *
 * Return: the structure around it.
 */
static inline struct mxe_qp *to_mqp_ex(struct ibv_qp_ex *qp)
{
	return mxe_container(qp, struct mxe_qp, vqp.qp_ex);
}

/* ---- rdmav.c ----------------------------------------------------------- */

/**
 * mxe_rdmav_check_qp() - Check struct verbs_qp when the library is loaded.
 *
 * Return: true if libmxe works with this libibverbs. Otherwise a message is
 * printed, as by the other checks.
 */
bool mxe_rdmav_check_qp(void);

/**
 * mxe_rdmav_qp_ex_size() - Get the size of libibverbs' struct ibv_qp_ex.
 *
 * Return: number of bytes.
 */
size_t mxe_rdmav_qp_ex_size(void);

/* True if libibverbs' struct ibv_qp_ex has this member of struct verbs_qp. */
#define mxe_rdmav_has(member) \
	(offsetof(struct verbs_qp, member) < mxe_rdmav_qp_ex_size())

/**
 * mxe_rdmav_set_qp_ex() - Make ibv_qp_to_qp_ex() return the QP.
 * @vqp: the QP, initialised by libibverbs
 */
void mxe_rdmav_set_qp_ex(struct verbs_qp *vqp);

/**
 * mxe_rdmav_check_context() - Check struct verbs_context.
 * @vctx: a context, initialised by libibverbs
 *
 * Return: true if it is as large as here.
 */
bool mxe_rdmav_check_context(const struct verbs_context *vctx);

/**
 * mxe_rdmav_check_ops() - Check struct verbs_context_ops.
 * @vctx: the context, after verbs_set_ops()
 * @ops: the table that was set
 *
 * Return: true if libibverbs found the functions where they are here.
 */
bool mxe_rdmav_check_ops(const struct verbs_context *vctx,
			 const struct verbs_context_ops *ops);

/* ---- ioctl.c ----------------------------------------------------------- */

struct ib_uverbs_attr;

enum { MXE_IOCTL_ATTRS = 4 };

/**
 * mxe_ioctl() - Call a uverbs method.
 * @context: the context
 * @object: object id
 * @method: method id
 * @attrs: attributes
 * @num_attrs: number of attributes, at most MXE_IOCTL_ATTRS
 *
 * Return: 0 or a positive errno.
 */
int mxe_ioctl(struct ibv_context *context, uint16_t object, uint16_t method,
	      struct ib_uverbs_attr *attrs, unsigned int num_attrs);

/**
 * mxe_ioctl_optional() - Call a uverbs method that older kernel modules lack.
 * @context: the context
 * @object: object id
 * @method: method id
 * @attrs: attributes
 * @num_attrs: number of attributes, at most MXE_IOCTL_ATTRS
 *
 * Return: as mxe_ioctl(), but EOPNOTSUPP if uverbs does not know the method.
 */
int mxe_ioctl_optional(struct ibv_context *context, uint16_t object,
		       uint16_t method, struct ib_uverbs_attr *attrs,
		       unsigned int num_attrs);

/* ---- send.c ------------------------------------------------------------ */

int mxe_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr);

/**
 * mxe_send_set_builders() - Set the builders of an extended QP.
 * @qp: the QP
 */
void mxe_send_set_builders(struct mxe_qp *qp);

/**
 * mxe_send_ops() - Get the operations of a type of QP.
 * @type: type of the QP
 *
 * Return: IBV_QP_EX_WITH_* flags that send_ops_flags may have.
 */
uint64_t mxe_send_ops(enum ibv_qp_type type);

/**
 * mxe_send_init() - Set the opcodes that a new QP accepts.
 * @qp: the QP, whose is_dci is set
 * @type: its type
 * @atomics: true if atomics are accepted
 */
void mxe_send_init(struct mxe_qp *qp, enum ibv_qp_type type, bool atomics);

/* ---- recv.c ------------------------------------------------------------ */

/**
 * mxe_recv_map() - Map the receive queue of a QP or SRQ.
 * @rq: filled in
 * @cmd_fd: uverbs file
 * @info: the kernel's description of the ring
 * @sq: mapped send queue of the QP, or NULL for an SRQ
 *
 * Return: 0 or a positive errno.
 */
int mxe_recv_map(struct mxe_ring *rq, int cmd_fd,
		 const struct mxe_ring_info *info, const struct mxe_ring *sq);

/**
 * mxe_recv_post() - Post receive requests.
 * @rq: the queue
 * @wr: list of requests
 * @bad_wr: on error, the first request that was not posted
 * @need_doorbell: set to true if the doorbell must be rung; may be NULL
 *
 * Return: 0 or a positive errno.
 */
int mxe_recv_post(struct mxe_ring *rq, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr, bool *need_doorbell);
int mxe_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr);

/* ---- cq.c -------------------------------------------------------------- */

struct ibv_cq *mxe_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *mxe_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr);
int mxe_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int mxe_resize_cq(struct ibv_cq *ibcq, int cqe);
int mxe_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int mxe_destroy_cq(struct ibv_cq *ibcq);

/**
 * mxe_cq_purge() - Remove the completions of a QP from a CQ.
 * @ibcq: the CQ
 * @qp_num: number of the QP
 */
void mxe_cq_purge(struct ibv_cq *ibcq, uint32_t qp_num);

/* ---- pd.c -------------------------------------------------------------- */

struct ibv_pd *mxe_alloc_pd(struct ibv_context *context);
struct ibv_pd *mxe_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr);
int mxe_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *mxe_import_pd(struct ibv_context *context, uint32_t handle);
void mxe_unimport_pd(struct ibv_pd *pd);
struct ibv_td *mxe_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr);
int mxe_dealloc_td(struct ibv_td *td);
struct ibv_xrcd *mxe_open_xrcd(struct ibv_context *context,
			       struct ibv_xrcd_init_attr *attr);
int mxe_close_xrcd(struct ibv_xrcd *ibxrcd);

/* ---- mr.c -------------------------------------------------------------- */

struct ibv_mr *mxe_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access);
struct ibv_mr *mxe_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t hca_va, int fd,
				 int access);
int mxe_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access);
int mxe_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *mxe_import_mr(struct ibv_pd *pd, uint32_t handle);
void mxe_unimport_mr(struct ibv_mr *mr);

/**
 * mxe_ioctl_sync_mr() - Call MXE_METHOD_MR_SYNC.
 * @mr: region of an mxe device
 * @addr: first address, as peers use it
 * @length: bytes
 * @flags: enum mxe_sync_mr_flags
 *
 * Return: 0 or a positive errno.
 */
int mxe_ioctl_sync_mr(struct ibv_mr *mr, uint64_t addr, uint64_t length,
		      uint32_t flags);

/* ---- dm.c -------------------------------------------------------------- */

struct ibv_dm *mxe_alloc_dm(struct ibv_context *context,
			    struct ibv_alloc_dm_attr *attr);
int mxe_free_dm(struct ibv_dm *dm);
struct ibv_dm *mxe_import_dm(struct ibv_context *context, uint32_t handle);
void mxe_unimport_dm(struct ibv_dm *dm);
struct ibv_mr *mxe_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			     uint64_t offset, size_t length,
			     unsigned int access);

/* ---- ah.c -------------------------------------------------------------- */

struct ibv_ah *mxe_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int mxe_destroy_ah(struct ibv_ah *ah);

/* ---- mw.c -------------------------------------------------------------- */

struct ibv_mw *mxe_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int mxe_dealloc_mw(struct ibv_mw *mw);
int mxe_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind);

/* ---- srq.c ------------------------------------------------------------- */

struct ibv_srq *mxe_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr);
struct ibv_srq *mxe_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr);
int mxe_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		   int attr_mask);
int mxe_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int mxe_destroy_srq(struct ibv_srq *ibsrq);
int mxe_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num);
int mxe_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *wr,
		     struct ibv_ops_wr **bad_wr);
int mxe_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr);

/* ---- ece.c ------------------------------------------------------------- */

enum {
	MXE_ECE_MASKED_ATOMICS = MXEDV_ECE_MASKED_ATOMIC_1 |
				 MXEDV_ECE_MASKED_ATOMIC_2 |
				 MXEDV_ECE_MASKED_ATOMIC_4 |
				 MXEDV_ECE_MASKED_ATOMIC_8 |
				 MXEDV_ECE_MASKED_ATOMIC_16 |
				 MXEDV_ECE_MASKED_ATOMIC_32,
};

int mxe_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);
int mxe_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

/**
 * mxe_ece_reset() - Forget the options that were negotiated with a peer.
 * @qp: the QP, also a new one, whose max_atomic_arg is set
 */
void mxe_ece_reset(struct mxe_qp *qp);

/* ---- qp.c -------------------------------------------------------------- */

struct ibv_qp *mxe_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *mxe_create_qp_ex(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr);

/**
 * mxe_create_qp_dv() - Create a QP for mxedv_create_qp().
 * @context: the context
 * @attr: as for ibv_create_qp_ex()
 * @create_flags: enum mxedv_qp_create_flags, validated
 * @max_atomic_arg: bytes, validated
 * @dc: dc_type and dct_access_key, validated; NULL: not a DC QP
 *
 * Return: the QP, or NULL with errno.
 */
struct ibv_qp *mxe_create_qp_dv(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				uint32_t create_flags, uint32_t max_atomic_arg,
				const struct mxedv_qp_init_attr *dc);

int mxe_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask);
int mxe_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);
int mxe_destroy_qp(struct ibv_qp *ibqp);
struct ibv_qp *mxe_open_qp(struct ibv_context *context,
			   struct ibv_qp_open_attr *attr);

/**
 * mxe_qp_query_dct() - Call MXE_METHOD_DCT_QUERY.
 * @qp: QP of an mxe device
 * @resp: zeroed by the caller, filled in
 *
 * Return: 0 or a positive errno.
 */
int mxe_qp_query_dct(struct ibv_qp *qp, struct mxe_query_dct_resp *resp);

/**
 * mxe_qp_arm_dct() - Call MXE_METHOD_DCT_ARM.
 * @qp: QP of an mxe device
 * @events: enum mxe_arm_dct_events
 *
 * Return: 0 or a positive errno.
 */
int mxe_qp_arm_dct(struct ibv_qp *qp, uint32_t events);

/* ---- device.c ---------------------------------------------------------- */

/**
 * mxe_is_device() - Check if a device is an mxe device.
 * @device: the device
 *
 * Return: true if this provider drives it.
 */
bool mxe_is_device(struct ibv_device *device);

#endif /* MXE_H */
