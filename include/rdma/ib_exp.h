/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Masked atomics for kernel consumers on every RDMA device.
 *
 * Documentation/ib-exp.rst is the guide. The kernel-doc below is the reference.
 */
#ifndef RDMA_IB_EXP_H
#define RDMA_IB_EXP_H

#include <rdma/ib_verbs.h>

/**
 * enum ib_exp_mode - How a device executes a masked atomic.
 * @IB_EXP_NONE: not at all; &ib_exp_device_attr.reason says why
 * @IB_EXP_EMULATED: ib_exp posts standard compare-and-swaps until one of them
 *	finds the word unchanged
 * @IB_EXP_NATIVE: the responder executes it, in one request
 */
enum ib_exp_mode {
	IB_EXP_NONE,
	IB_EXP_EMULATED,
	IB_EXP_NATIVE,
};

/**
 * enum ib_exp_reply - Byte order of the old value in the requester's memory.
 * @IB_EXP_REPLY_NONE: the device executes no masked atomics
 * @IB_EXP_REPLY_HOST: host byte order, as for the standard atomics
 * @IB_EXP_REPLY_BE: big-endian
 */
enum ib_exp_reply {
	IB_EXP_REPLY_NONE,
	IB_EXP_REPLY_HOST,
	IB_EXP_REPLY_BE,
};

/**
 * struct ib_exp_device_attr - The masked atomics that a device really executes.
 * @masked_cmp_swap: how IB_WR_MASKED_ATOMIC_CMP_AND_SWP is executed
 * @masked_fetch_add: how IB_WR_MASKED_ATOMIC_FETCH_AND_ADD is executed
 * @atomic_cap: &ib_device_attr.atomic_cap, as the driver reports it
 * @masked_atomic_cap_reported: &ib_device_attr.masked_atomic_cap, as the driver
 *	reports it. For display only: several drivers report masked atomics that
 *	they do not execute.
 * @log_arg_sizes: supported operand sizes; bit n stands for 2^n bytes. Requests
 *	of kernel consumers always have 8 bytes (bit 3).
 * @reply: byte order of the old value
 * @max_retries: number of retries after which an emulated request fails
 * @reason: why the device is not native, a sentence without a full stop. Empty
 *	if it is native. Valid as long as the device is registered.
 */
struct ib_exp_device_attr {
	enum ib_exp_mode masked_cmp_swap;
	enum ib_exp_mode masked_fetch_add;
	enum ib_atomic_cap atomic_cap;
	enum ib_atomic_cap masked_atomic_cap_reported;
	u32 log_arg_sizes;
	enum ib_exp_reply reply;
	u32 max_retries;
	const char *reason;
};

/**
 * ib_exp_query_device() - Query the masked atomics that a device really
 * executes.
 * @ibdev: the device, to which the caller holds a reference
 * @attr: filled in
 *
 * Context: Process context. May sleep.
 * Return: 0, or -ENODEV if the device is being added or removed.
 */
int ib_exp_query_device(struct ib_device *ibdev,
			struct ib_exp_device_attr *attr);

/**
 * enum ib_exp_vendor_err - &ib_wc.vendor_err of completions that ib_exp
 * generates.
 * @IB_EXP_VENDOR_ERR_RETRIES: the word changed before every try, and
 *	max_retries is exhausted
 * @IB_EXP_VENDOR_ERR_POST: the driver refused the work request of the next try
 *
 * &ib_wc.status is IB_WC_GENERAL_ERR. The request has changed nothing and the
 * state of the QP is the same, so the request may be posted again.
 */
enum ib_exp_vendor_err {
	IB_EXP_VENDOR_ERR_RETRIES = 0x45585001,
	IB_EXP_VENDOR_ERR_POST = 0x45585002,
};

/**
 * struct ib_exp_qp - A QP on which masked atomics can be posted.
 * @qp: the QP, which the consumer still owns
 * @native: both masked atomics are native
 *
 * Allocated by ib_exp_qp_enable(). Read-only for consumers.
 */
struct ib_exp_qp {
	struct ib_qp *qp;
	bool native;
};

/**
 * ib_exp_qp_enable() - Enable masked atomics on a QP.
 * @qp: RC or XRC initiator QP of a kernel consumer, in any state, whose send CQ
 *	is from ib_alloc_cq() or ib_cq_pool_get()
 * @removed: called once if the device is removed while the QP is enabled
 * @context: passed to @removed
 *
 * An enabled QP blocks the removal of its device: ib_exp calls @removed, and
 * then waits for ib_exp_qp_disable(). @removed must neither call
 * ib_exp_qp_disable() nor wait for it. It queues work that disables and
 * destroys the QP. @removed is called in process context and may sleep, but
 * must not take a lock that is held around ib_exp_qp_enable() or
 * ib_exp_qp_disable().
 *
 * @removed may be NULL if the consumer is itself a &struct ib_client and
 * disables its QPs in its own remove(). A module that uses ib_exp registers its
 * client later than ib_exp, so ib_core calls its remove() first. A consumer
 * that learns of removals from the RDMA CM needs @removed, because ib_core may
 * tell the CM later than ib_exp.
 *
 * Context: Process context. May sleep.
 * Return: the handle for ib_exp_post_send(), or an ERR_PTR():
 *
 * * -EOPNOTSUPP: the device executes neither masked atomic
 *   (&ib_exp_device_attr.reason), or not on this type of QP
 * * -EINVAL: the QP belongs to a process, or &ib_cqe.done does not deliver its
 *   completions
 * * -ENODEV: the device is being removed
 * * -ENOMEM
 */
struct ib_exp_qp *ib_exp_qp_enable(struct ib_qp *qp,
				   void (*removed)(struct ib_exp_qp *eqp,
						   void *context),
				   void *context);

/**
 * ib_exp_qp_disable() - Disable masked atomics on a QP.
 * @eqp: the handle, which is freed
 *
 * Stop posting through @eqp first. Call this before ib_drain_sq(),
 * ib_drain_qp() and ib_destroy_qp(), because these do not wait for an emulated
 * request between two tries.
 *
 * If emulated requests are in flight, this moves the QP to the error state and
 * waits until all of them have completed. A request that was not executed
 * completes with IB_WC_WR_FLUSH_ERR. Without requests in flight the state of
 * the QP does not change.
 *
 * Context: Process context. May sleep. Not from a completion handler of the
 * QP's send CQ.
 */
void ib_exp_qp_disable(struct ib_exp_qp *eqp);

/**
 * ib_exp_post_send_slow() - Do the out-of-line part of ib_exp_post_send().
 * @eqp: as for ib_exp_post_send()
 * @wr: as for ib_exp_post_send()
 * @result: as for ib_exp_post_send()
 *
 * Context: Any, as ib_post_send().
 * Return: as ib_exp_post_send().
 */
int ib_exp_post_send_slow(struct ib_exp_qp *eqp, const struct ib_atomic_wr *wr,
			  u64 *result);

/**
 * ib_exp_wr_is_standard() - Determine if the masks leave a standard atomic.
 * @wr: IB_WR_MASKED_ATOMIC_CMP_AND_SWP or IB_WR_MASKED_ATOMIC_FETCH_AND_ADD
 *
 * A compare-and-swap that compares all bits is equal to a standard one, which
 * swaps in the compared value wherever the masked one would not swap. A
 * compare-and-swap that swaps no bits is equal to a fetch-and-add of 0. A
 * fetch-and-add with a single field is a standard one.
 *
 * Context: Any.
 * Return: true if a standard atomic has the same effect.
 */
static inline bool ib_exp_wr_is_standard(const struct ib_atomic_wr *wr)
{
	if (wr->wr.opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP)
		return !~wr->compare_add_mask || !wr->swap_mask;
	return !(wr->compare_add_mask << 1);
}

/**
 * ib_exp_post_send() - Post a masked atomic.
 * @eqp: handle of the QP
 * @wr: the request: either IB_WR_MASKED_ATOMIC_CMP_AND_SWP with compare_add,
 *	compare_add_mask, swap and swap_mask, or
 *	IB_WR_MASKED_ATOMIC_FETCH_AND_ADD with compare_add, the summands, and
 *	compare_add_mask, in which a set bit is the most significant bit of a
 *	field. All of them are in host byte order. wr.next is NULL. There is one
 *	SGE of 8 bytes, for the old value. wr.wr_cqe is set, not wr_id.
 *	IB_SEND_SIGNALED must be set, even if the QP signals all requests.
 *	IB_SEND_FENCE may be set.
 * @result: CPU address of the 8 bytes of the SGE
 *
 * @wr may be freed after the call. The memory of the SGE must be mapped for the
 * device (DMA_FROM_DEVICE or DMA_BIDIRECTIONAL) and must not be touched until
 * wr_cqe->done() is called. It then holds the old value in host byte order.
 *
 * On every device, and however many tries it takes, the request occupies one
 * send queue entry and one CQ entry from this call to its completion.
 *
 * A request whose masks make it a standard one (ib_exp_wr_is_standard()) is
 * posted as the standard atomic on every device, and so works with every peer.
 * &ib_wc.opcode is IB_WC_COMP_SWAP or IB_WC_FETCH_ADD for such a request, and
 * IB_WC_MASKED_COMP_SWAP or IB_WC_MASKED_FETCH_ADD for others.
 *
 * On a native device this is ib_post_send(), with the same rules. An emulated
 * request differs in the following:
 *
 * - It is atomic against all atomics that the same device of the peer executes,
 *   emulated or not, from every requester. It is atomic against other devices
 *   and CPUs only if &ib_device_attr.atomic_cap of the peer is IB_ATOMIC_GLOB.
 * - It takes at least two round trips, or one if the first guess is right: the
 *   word equals compare_add in the bits that are compared, and is 0 elsewhere.
 * - Requests that are posted later may be executed and may complete earlier.
 *   IB_SEND_FENCE orders the request with READs and atomics before and after it
 *   only if these are not emulated. A consumer that needs an order waits for
 *   the completion.
 * - It may fail with IB_WC_GENERAL_ERR, see &enum ib_exp_vendor_err.
 * - If the QP enters the error state between two tries, the request completes
 *   with IB_WC_WR_FLUSH_ERR and has changed nothing. If a try is in flight at
 *   that moment, it may have been executed, as with every atomic.
 * - The remote memory needs no access right except IB_ACCESS_REMOTE_ATOMIC.
 *
 * Emulated and standard requests are checked against these rules. Native ones
 * are checked only by the driver.
 *
 * Context: Any, as ib_post_send().
 * Return: 0, or an error, after which there is no completion: those of
 * ib_post_send(), -EINVAL if @wr violates the rules above, -EOPNOTSUPP if the
 * device executes only the other masked atomic, -ENOMEM, or -ESHUTDOWN once
 * ib_exp_qp_disable() has begun.
 */
static inline int ib_exp_post_send(struct ib_exp_qp *eqp,
				   const struct ib_atomic_wr *wr, u64 *result)
{
	if (likely(eqp->native) && !ib_exp_wr_is_standard(wr))
		return ib_post_send(eqp->qp, &wr->wr, NULL);
	return ib_exp_post_send_slow(eqp, wr, result);
}

/**
 * struct ib_exp_driver_attr - The masked atomics of a device, as its driver
 * announces.
 * @masked_cmp_swap: the device executes IB_WR_MASKED_ATOMIC_CMP_AND_SWP
 * @masked_fetch_add: the device executes IB_WR_MASKED_ATOMIC_FETCH_AND_ADD
 * @log_arg_sizes: as in &struct ib_exp_device_attr
 * @reply: as in &struct ib_exp_device_attr
 * @reason: why one of the two is false; a string with static lifetime
 */
struct ib_exp_driver_attr {
	bool masked_cmp_swap;
	bool masked_fetch_add;
	u32 log_arg_sizes;
	enum ib_exp_reply reply;
	const char *reason;
};

/**
 * struct ib_exp_driver - A driver that announces what its devices execute.
 * @driver_id: &ib_device_ops.driver_id
 * @query: fills in @attr, which is zeroed, for a registered device of this
 *	driver. Called in process context. May sleep. Must not call ib_exp.
 *
 * Masked atomics that the driver does not announce are emulated if the device
 * reports standard atomics.
 */
struct ib_exp_driver {
	u32 driver_id;
	void (*query)(struct ib_device *ibdev, struct ib_exp_driver_attr *attr);
	/* private: */
	struct list_head entry;
};

/**
 * ib_exp_register_driver() - Register a driver that announces its devices.
 * @driver: must stay valid until ib_exp_unregister_driver()
 *
 * Call this before the driver registers its first device. ib_exp does not query
 * devices that are registered already.
 *
 * Context: Process context. May sleep.
 * Return: 0, or -EEXIST if a driver with this id has registered.
 */
int ib_exp_register_driver(struct ib_exp_driver *driver);

/**
 * ib_exp_unregister_driver() - Undo ib_exp_register_driver().
 * @driver: a registered driver, which has no registered devices left
 *
 * Context: Process context. May sleep.
 */
void ib_exp_unregister_driver(struct ib_exp_driver *driver);

#endif /* RDMA_IB_EXP_H */
