/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Masked atomics for kernel consumers, on every RDMA device.
 *
 * Documentation/ib-exp.rst is the guide; the rules are here.
 */
#ifndef RDMA_IB_EXP_H
#define RDMA_IB_EXP_H

#include <rdma/ib_verbs.h>

/**
 * enum ib_exp_mode - how a device carries out a masked atomic
 * @IB_EXP_NONE: not at all; &ib_exp_device_attr.reason says why
 * @IB_EXP_EMULATED: ib_exp does it from the requester's side, by standard
 *	compare-and-swaps until one of them finds the word unchanged
 * @IB_EXP_NATIVE: the device's peer does it, in one request
 */
enum ib_exp_mode {
	IB_EXP_NONE,
	IB_EXP_EMULATED,
	IB_EXP_NATIVE,
};

/**
 * enum ib_exp_reply - byte order of the old value in memory
 * @IB_EXP_REPLY_NONE: there is none
 * @IB_EXP_REPLY_HOST: that of the host, as the InfiniBand atomics have it
 * @IB_EXP_REPLY_BE: big-endian
 */
enum ib_exp_reply {
	IB_EXP_REPLY_NONE,
	IB_EXP_REPLY_HOST,
	IB_EXP_REPLY_BE,
};

/**
 * struct ib_exp_device_attr - what a device really does
 * @masked_cmp_swap: how IB_WR_MASKED_ATOMIC_CMP_AND_SWP is done
 * @masked_fetch_add: how IB_WR_MASKED_ATOMIC_FETCH_AND_ADD is done
 * @atomic_cap: &ib_device_attr.atomic_cap, as the driver reports it
 * @masked_atomic_cap_reported: &ib_device_attr.masked_atomic_cap, as the driver
 *	reports it; several drivers report what they do not do, so it is here
 *	to be shown and not to be relied on
 * @log_arg_sizes: operands the device can take: bit n stands for 2^n bytes.
 *	Requests of kernel consumers always have 8, bit 3.
 * @reply: byte order of the old value
 * @max_retries: how often an emulated request tries again before it fails
 * @reason: why not native, a sentence without a full stop; empty if native.
 *	Valid as long as the device is registered.
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
 * ib_exp_query_device - what a device really does
 * @ibdev: the device, which the caller keeps from going away
 * @attr: filled in
 *
 * Context: may sleep.
 * Return: 0, or -ENODEV if the device is being added or removed just now.
 */
int ib_exp_query_device(struct ib_device *ibdev,
			struct ib_exp_device_attr *attr);

/**
 * enum ib_exp_vendor_err - &ib_wc.vendor_err of completions by ib_exp itself
 * @IB_EXP_VENDOR_ERR_RETRIES: every try found the word changed by somebody
 *	else, and max_retries is used up
 * @IB_EXP_VENDOR_ERR_POST: the driver refused the work request of the next try
 *
 * They come with IB_WC_GENERAL_ERR.  The request has changed nothing, and the
 * queue pair goes on as before: it may simply be posted again.
 */
enum ib_exp_vendor_err {
	IB_EXP_VENDOR_ERR_RETRIES = 0x45585001,
	IB_EXP_VENDOR_ERR_POST = 0x45585002,
};

/**
 * struct ib_exp_qp - a queue pair on which masked atomics can be posted
 * @qp: the queue pair, which remains the consumer's
 * @native: both masked atomics are native
 *
 * Made by ib_exp_qp_enable().  Consumers read it at most.
 */
struct ib_exp_qp {
	struct ib_qp *qp;
	bool native;
};

/**
 * ib_exp_qp_enable - let masked atomics be posted on a queue pair
 * @qp: an RC or XRC initiator queue pair of a kernel consumer, in any state,
 *	whose send completion queue is from ib_alloc_cq() or ib_cq_pool_get()
 * @removed: called once if the device goes while the queue pair is enabled
 * @context: for @removed
 *
 * The device cannot go before ib_exp_qp_disable(): ib_exp calls @removed and
 * then waits for that.  @removed must not wait for it nor call it: it queues
 * work that does, and that destroys the queue pair.  It is called in process
 * context and may sleep, but takes no lock which is held around
 * ib_exp_qp_enable() or ib_exp_qp_disable().
 *
 * @removed may be NULL if the consumer is a client of ib_core itself (&struct
 * ib_client) and disables its queue pairs in its own remove(): modules that
 * use ib_exp register after it and so are told before it.  A consumer that
 * learns of removals from the RDMA connection manager needs @removed, since the
 * connection manager may be told later than ib_exp.
 *
 * Context: may sleep.
 * Return: the handle for ib_exp_post_send(), or an ERR_PTR():
 * -EOPNOTSUPP: the device does neither of the masked atomics
 * (ib_exp_query_device() says why), or not on this type of queue pair;
 * -EINVAL: the queue pair belongs to a process, or its completions are not
 * delivered by &ib_cqe.done;
 * -ENODEV: the device is being removed; -ENOMEM.
 */
struct ib_exp_qp *ib_exp_qp_enable(struct ib_qp *qp,
				   void (*removed)(struct ib_exp_qp *eqp,
						   void *context),
				   void *context);

/**
 * ib_exp_qp_disable - no more masked atomics on a queue pair
 * @eqp: the handle, which is freed
 *
 * To be called before ib_drain_sq(), ib_drain_qp() and ib_destroy_qp(): these do
 * not wait for emulated requests, whose next try is not posted yet.  The consumer
 * has stopped posting through @eqp.
 *
 * If emulated requests are in flight, the queue pair is moved to the error state
 * and they are waited for: every one has completed when the function returns,
 * those that were not carried out with IB_WC_WR_FLUSH_ERR.  If none are, the
 * queue pair is left alone.
 *
 * Context: may sleep.  Not from a completion handler of the queue pair's send
 * completion queue.
 */
void ib_exp_qp_disable(struct ib_exp_qp *eqp);

/* How ib_exp_post_send() goes on where it is not straight to the driver. */
int ib_exp_post_send_slow(struct ib_exp_qp *eqp, const struct ib_atomic_wr *wr,
			  u64 *result);

/**
 * ib_exp_wr_is_standard - do the masks leave a standard atomic?
 * @wr: IB_WR_MASKED_ATOMIC_CMP_AND_SWP or IB_WR_MASKED_ATOMIC_FETCH_AND_ADD
 *
 * True for a compare-and-swap that compares all bits (it can as well swap all:
 * what it does not swap, it has compared) or that swaps none (it adds nothing),
 * and for a fetch-and-add of one field.
 *
 * Context: any.
 */
static inline bool ib_exp_wr_is_standard(const struct ib_atomic_wr *wr)
{
	if (wr->wr.opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP)
		return !~wr->compare_add_mask || !wr->swap_mask;
	return !(wr->compare_add_mask << 1);
}

/**
 * ib_exp_post_send - post a masked atomic
 * @eqp: the queue pair's handle
 * @wr: the request: IB_WR_MASKED_ATOMIC_CMP_AND_SWP with compare_add,
 *	compare_add_mask, swap and swap_mask, or
 *	IB_WR_MASKED_ATOMIC_FETCH_AND_ADD with compare_add, the summands, and
 *	compare_add_mask, where a bit set is the most significant of a field.
 *	One request, wr.next is NULL.  One SGE of 8 bytes, for the old value.
 *	wr.wr_cqe, not wr_id.  IB_SEND_SIGNALED must be set, whether or not the
 *	queue pair signals all requests; IB_SEND_FENCE may be.
 * @result: the 8 bytes of the SGE as the processor addresses them
 *
 * Nothing of @wr is needed after the call.  The memory of the SGE is mapped for
 * the device (DMA_FROM_DEVICE or DMA_BIDIRECTIONAL) and left alone until the
 * completion, which comes by wr_cqe->done().  Then the old value is there, a
 * number in the byte order of the host.
 *
 * The request takes one entry of the send queue and one of the completion queue
 * from this call to its completion, on every device, however often it tries.
 *
 * A request whose masks make it a standard one (ib_exp_wr_is_standard()) is
 * posted as that, on every device, and works with every peer.  &ib_wc.opcode is
 * IB_WC_COMP_SWAP or IB_WC_FETCH_ADD then, otherwise IB_WC_MASKED_COMP_SWAP or
 * IB_WC_MASKED_FETCH_ADD.
 *
 * Where it is native, the function is ib_post_send(), with the rules of that.
 * Where it is emulated, this differs:
 *
 * - It is atomic against all atomics that the same device of the peer executes,
 *   whoever posts them and how, but needs &ib_device_attr.atomic_cap of the
 *   peer to be IB_ATOMIC_GLOB to be so against others.
 * - It takes two round trips or more, one if the word is as guessed: equal to
 *   compare_add in the bits that are compared, and 0 in all others.
 * - Requests posted later may be carried out earlier, by the peer too, and may
 *   complete earlier.  IB_SEND_FENCE makes it wait for the reads and atomics
 *   posted before it, and makes a later request wait for it, only as far as
 *   they were not emulated.  Who needs an order waits for the completion.
 * - It may fail with IB_WC_GENERAL_ERR, see &enum ib_exp_vendor_err.
 * - If the queue pair goes to the error state on the way, it completes with
 *   IB_WC_WR_FLUSH_ERR and has changed nothing; if its last try was on the way,
 *   as with every atomic, nobody knows.
 * - No right but IB_ACCESS_REMOTE_ATOMIC is needed.
 *
 * What these rules forbid is refused where it is emulated or standard, and is
 * not looked at where it is native.
 *
 * Context: any, as ib_post_send().
 * Return: 0; or an error and there will be no completion: those of
 * ib_post_send(), -EINVAL against the rules above, -EOPNOTSUPP if the device
 * does the other masked atomic only, -ENOMEM, -ESHUTDOWN after
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
 * struct ib_exp_driver_attr - what a driver says of one of its devices
 * @masked_cmp_swap: executes IB_WR_MASKED_ATOMIC_CMP_AND_SWP
 * @masked_fetch_add: executes IB_WR_MASKED_ATOMIC_FETCH_AND_ADD
 * @log_arg_sizes: as in &struct ib_exp_device_attr
 * @reply: as in &struct ib_exp_device_attr
 * @reason: why one of the two is false, a string that stays
 */
struct ib_exp_driver_attr {
	bool masked_cmp_swap;
	bool masked_fetch_add;
	u32 log_arg_sizes;
	enum ib_exp_reply reply;
	const char *reason;
};

/**
 * struct ib_exp_driver - a driver that speaks for its devices
 * @driver_id: of &struct ib_device_ops
 * @query: fill in @attr, which is cleared, for a device of this driver.  Called
 *	while the device is registered.  Context: may sleep; must not use ib_exp.
 *
 * What a driver does not execute is emulated if the device reports standard
 * atomics.
 */
struct ib_exp_driver {
	u32 driver_id;
	void (*query)(struct ib_device *ibdev, struct ib_exp_driver_attr *attr);
	/* private: */
	struct list_head entry;
};

/**
 * ib_exp_register_driver - announce a driver that speaks for its devices
 * @driver: stays the caller's
 *
 * To be called before the driver registers a device: others are not looked at
 * again.
 *
 * Context: may sleep.
 * Return: 0, or -EEXIST if the driver id is taken.
 */
int ib_exp_register_driver(struct ib_exp_driver *driver);

/**
 * ib_exp_unregister_driver - the opposite
 * @driver: registered before; it has no devices any more
 *
 * Context: may sleep.
 */
void ib_exp_unregister_driver(struct ib_exp_driver *driver);

#endif /* RDMA_IB_EXP_H */
