// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that wait until a counter triggers them (fi_trigger(3)): triggered
 * operations, which a call with FI_TRIGGER starts, and deferred work, which is
 * queued to the domain and may also change a counter.
 *
 * Programs reuse the structures of a call at once, so they are copied. The data
 * are read when the operation starts.
 */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "cntr.h"
#include "container.h"
#include "cq.h"
#include "deferred.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "recv.h"
#include "rma.h"
#include "send.h"
#include "sizes.h"
#include "trigger.h"

struct mxefi_deferred {
	struct mxefi_trigger trigger;
	/* Key to cancel it: struct fi_deferred_work, or the context. */
	const void *id;
	bool is_deferred;
	enum fi_op_type type;
	/* A copy, as aliases may be closed. Without endpoint: changes cntr. */
	struct mxefi_handle by;
	struct mxefi_cntr *cntr;	/* of the completion, or NULL; held */
	uint64_t value;
	struct mxefi_call call;
	/* Copies of the arrays that the call refers to. */
	struct iovec iov[MXEFI_IOV_LIMIT];
	void *desc[MXEFI_IOV_LIMIT];
	struct fi_rma_iov rma_iov[MXEFI_IOV_LIMIT];
	struct fi_ioc ioc[MXEFI_IOV_LIMIT], fetch[MXEFI_IOV_LIMIT];
	struct fi_ioc compare[MXEFI_IOV_LIMIT];
	struct fi_rma_ioc rma_ioc[MXEFI_IOV_LIMIT];
};

/* ---- copies ------------------------------------------------------------- */

static void *copy(void *to, const void *from, size_t count, size_t size)
{
	return from ? memcpy(to, from, count * size) : NULL;
}

static int copy_msg(struct mxefi_deferred *work)
{
	struct fi_msg_tagged *m = &work->call.msg;

	if (m->iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	m->msg_iov = copy(work->iov, m->msg_iov, m->iov_count,
			  sizeof(*m->msg_iov));
	m->desc = copy(work->desc, m->desc, m->iov_count, sizeof(*m->desc));
	return 0;
}

static int copy_rma(struct mxefi_deferred *work)
{
	struct fi_msg_rma *m = &work->call.rma;

	if (m->iov_count > MXEFI_IOV_LIMIT ||
	    m->rma_iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	m->msg_iov = copy(work->iov, m->msg_iov, m->iov_count,
			  sizeof(*m->msg_iov));
	m->desc = copy(work->desc, m->desc, m->iov_count, sizeof(*m->desc));
	m->rma_iov = copy(work->rma_iov, m->rma_iov, m->rma_iov_count,
			  sizeof(*m->rma_iov));
	return 0;
}

/* Atomics need no descriptors. */
static int copy_atomic(struct mxefi_deferred *work)
{
	struct fi_msg_atomic *m = &work->call.atomic.msg;
	struct fi_msg_fetch *fetch = &work->call.atomic.fetch;
	struct fi_msg_compare *compare = &work->call.atomic.compare;

	if (m->iov_count > MXEFI_IOV_LIMIT ||
	    m->rma_iov_count > MXEFI_IOV_LIMIT ||
	    fetch->iov_count > MXEFI_IOV_LIMIT ||
	    compare->iov_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	m->msg_iov = copy(work->ioc, m->msg_iov, m->iov_count,
			  sizeof(*m->msg_iov));
	m->rma_iov = copy(work->rma_ioc, m->rma_iov, m->rma_iov_count,
			  sizeof(*m->rma_iov));
	fetch->msg_iov = copy(work->fetch, fetch->msg_iov, fetch->iov_count,
			      sizeof(*fetch->msg_iov));
	compare->msg_iov = copy(work->compare, compare->msg_iov,
				compare->iov_count, sizeof(*compare->msg_iov));
	return 0;
}

static int copy_call(struct mxefi_deferred *work)
{
	switch (work->type) {
	case FI_OP_RECV:
	case FI_OP_SEND:
	case FI_OP_TRECV:
	case FI_OP_TSEND:
		return copy_msg(work);
	case FI_OP_READ:
	case FI_OP_WRITE:
		return copy_rma(work);
	default:
		return copy_atomic(work);
	}
}

/* ---- the end of the wait ------------------------------------------------ */

static ssize_t start(struct mxefi_deferred *work)
{
	const struct mxefi_report deferred = {
		.to_cq = work->call.flags & FI_COMPLETION,
		.to_cntr = true,
		.cntr = work->cntr,
	};
	const struct mxefi_report *report = work->is_deferred ? &deferred : NULL;
	struct mxefi_call *c = &work->call;
	const struct mxefi_handle *by = &work->by;

	switch (work->type) {
	case FI_OP_RECV:
		return mxefi_recv_start(by, FI_MSG, &c->msg, c->flags, report);
	case FI_OP_SEND:
		return mxefi_send_start(by, FI_MSG, &c->msg, c->flags, report);
	case FI_OP_TRECV:
		return mxefi_recv_start(by, FI_TAGGED, &c->msg, c->flags,
					report);
	case FI_OP_TSEND:
		return mxefi_send_start(by, FI_TAGGED, &c->msg, c->flags,
					report);
	case FI_OP_READ:
		return mxefi_rma_start(by, &c->rma, c->flags, true, report);
	case FI_OP_WRITE:
		return mxefi_rma_start(by, &c->rma, c->flags, false, report);
	case FI_OP_ATOMIC:
		return mxefi_atomic_start(by, MXEFI_BASE, c, report);
	case FI_OP_FETCH_ATOMIC:
		return mxefi_atomic_start(by, MXEFI_FETCH, c, report);
	case FI_OP_COMPARE_ATOMIC:
		return mxefi_atomic_start(by, MXEFI_COMPARE, c, report);
	case FI_OP_CNTR_ADD:
		mxefi_cntr_set(work->cntr, work->cntr->value + work->value);
		return 0;
	default:
		mxefi_cntr_set(work->cntr, work->value);
		return 0;
	}
}

static void *context_of(const struct mxefi_deferred *work)
{
	switch (work->type) {
	case FI_OP_RECV:
	case FI_OP_SEND:
	case FI_OP_TRECV:
	case FI_OP_TSEND:
		return work->call.msg.context;
	case FI_OP_READ:
	case FI_OP_WRITE:
		return work->call.rma.context;
	default:
		return work->call.atomic.msg.context;
	}
}

/* Reports the error of a call that was not started. */
static void fail(struct mxefi_deferred *work, int err)
{
	static const uint64_t flags[] = {
		[FI_OP_RECV] = FI_MSG | FI_RECV,
		[FI_OP_SEND] = FI_MSG | FI_SEND,
		[FI_OP_TRECV] = FI_TAGGED | FI_RECV,
		[FI_OP_TSEND] = FI_TAGGED | FI_SEND,
		[FI_OP_READ] = FI_RMA | FI_READ,
		[FI_OP_WRITE] = FI_RMA | FI_WRITE,
		[FI_OP_ATOMIC] = FI_ATOMIC | FI_WRITE,
		[FI_OP_FETCH_ATOMIC] = FI_ATOMIC | FI_READ,
		[FI_OP_COMPARE_ATOMIC] = FI_ATOMIC | FI_READ,
	};
	const struct mxefi_handle *by = &work->by;
	struct mxefi_cq *cq;

	if (!by->ep)
		return;
	cq = flags[work->type] & FI_RECV ? by->rx->cq : by->tx->cq;
	mxefi_cntr_count(work->is_deferred ? work->cntr :
			 mxefi_context_cntr(by, flags[work->type]), true);
	if (cq && mxefi_cq_begin(cq, context_of(work), flags[work->type], err))
		mxefi_cq_add(cq);
}

static bool is_recv(enum fi_op_type type)
{
	return type == FI_OP_RECV || type == FI_OP_TRECV;
}

static void free_deferred(struct mxefi_deferred *work)
{
	if (work->cntr)
		work->cntr->users--;
	free(work);
}

static bool fire(struct mxefi_trigger *trigger)
{
	struct mxefi_deferred *work =
		container_of(trigger, struct mxefi_deferred, trigger);
	struct mxefi_ep *ep = work->by.ep;
	ssize_t ret = -FI_EAGAIN;

	/* Transfers of an endpoint begin in order. Receives need no room. */
	if (!ep || is_recv(work->type) || ep->full_at != ep->dom->firing)
		ret = start(work);
	if (ret == -FI_EAGAIN) {
		ep->full_at = ep->dom->firing;
		return false;
	}
	if (ret)
		fail(work, (int)-ret);
	free_deferred(work);
	return true;
}

static void wait_for(struct mxefi_deferred *work, struct mxefi_cntr *cntr,
		     uint64_t threshold)
{
	work->trigger.cntr = cntr;
	work->trigger.threshold = threshold;
	work->trigger.fire = fire;
	mxefi_trigger_add(&work->trigger);
}

/* Selects calls that agree in all members that are set. */
struct pattern {
	const struct mxefi_ep *ep;
	const void *id;
	bool is_triggered, is_deferred;
};

static bool matches(const struct mxefi_deferred *work, const struct pattern *p)
{
	return (!p->ep || work->by.ep == p->ep) && (!p->id || work->id == p->id) &&
	       !(p->is_triggered && work->is_deferred) &&
	       !(p->is_deferred && !work->is_deferred);
}

static struct mxefi_deferred *find_in(struct mxefi_trigger *list,
				      const struct pattern *pattern)
{
	for (; list; list = list->next) {
		struct mxefi_deferred *work =
			container_of(list, struct mxefi_deferred, trigger);

		if (matches(work, pattern))
			return work;
	}
	return NULL;
}

/*
 * Ends what waits, or waits for room, and matches. Returns false if there is
 * none. @err is reported unless it is 0.
 */
static bool end(struct mxefi_domain *dom, const struct pattern *pattern, int err)
{
	struct mxefi_deferred *work = find_in(dom->fired, pattern) ? :
				      find_in(dom->triggers, pattern);

	if (!work)
		return false;
	mxefi_trigger_remove(dom, &work->trigger);
	if (err)
		fail(work, err);
	free_deferred(work);
	return true;
}

/* ---- triggered operations ----------------------------------------------- */

/* True if the operation is of a direction that the handle has. */
static bool can_start(const struct mxefi_handle *by, enum fi_op_type type)
{
	return is_recv(type) ? !!by->rx : !!by->tx;
}

static ssize_t on_trigger(const struct mxefi_handle *by, enum fi_op_type type,
			  const struct mxefi_call *call)
{
	const struct fi_triggered_context *context;
	struct mxefi_deferred *work;
	struct mxefi_cntr *cntr;
	ssize_t ret;

	if (!by->ep->enabled)
		return -FI_EOPBADSTATE;
	/* The data would have to be copied. */
	if (!can_start(by, type) || !(by->ep->caps & FI_TRIGGER) ||
	    call->flags & FI_INJECT)
		return -FI_EOPNOTSUPP;
	work = calloc(1, sizeof(*work));
	if (!work)
		return -FI_ENOMEM;
	work->type = type;
	work->by = *by;
	work->call = *call;
	work->call.flags &= ~(uint64_t)FI_TRIGGER;
	context = context_of(work);
	work->id = context;
	ret = context ? copy_call(work) : -FI_EINVAL;
	if (!ret && context->event_type != FI_TRIGGER_THRESHOLD)
		ret = -FI_ENOSYS;
	if (ret)
		goto fail;
	cntr = container_of(context->trigger.threshold.cntr, struct mxefi_cntr,
			    fid);
	if (!context->trigger.threshold.cntr || cntr->dom != by->ep->dom) {
		ret = -FI_EINVAL;
		goto fail;
	}
	wait_for(work, cntr, context->trigger.threshold.threshold);
	return 0;

fail:
	free(work);
	return ret;
}

/**
 * mxefi_deferred_cancel() - Cancel a call that waits for its trigger.
 * @ep: endpoint
 * @context: context of the call
 *
 * Return: 0, or -FI_ENOENT if no such call has this context.
 */
ssize_t mxefi_deferred_cancel(struct mxefi_ep *ep, const void *context)
{
	const struct pattern pattern = {
		.ep = ep, .id = context, .is_triggered = true,
	};

	if (!context || !end(ep->dom, &pattern, FI_ECANCELED))
		return -FI_ENOENT;
	return 0;
}

/**
 * mxefi_deferred_forget() - Drop the calls of an endpoint that is closed.
 * @ep: endpoint
 */
void mxefi_deferred_forget(struct mxefi_ep *ep)
{
	const struct pattern pattern = { .ep = ep };

	while (end(ep->dom, &pattern, 0))
		;
}

/**
 * mxefi_deferred_setup() - Prepare an endpoint for calls with FI_TRIGGER.
 * @ep: endpoint
 */
void mxefi_deferred_setup(struct mxefi_ep *ep)
{
	ep->on_trigger = on_trigger;
}

/* ---- deferred work ------------------------------------------------------ */

/* Takes the arguments from the structure of the type. */
static int take_args(struct mxefi_deferred *work, const struct fi_deferred_work *d)
{
	struct mxefi_call *c = &work->call;
	struct fid_ep *ep;

	switch (d->op_type) {
	case FI_OP_RECV:
	case FI_OP_SEND:
		c->msg.msg_iov = d->op.msg->msg.msg_iov;
		c->msg.desc = d->op.msg->msg.desc;
		c->msg.iov_count = d->op.msg->msg.iov_count;
		c->msg.addr = d->op.msg->msg.addr;
		c->msg.context = d->op.msg->msg.context;
		c->msg.data = d->op.msg->msg.data;
		c->flags = d->op.msg->flags;
		ep = d->op.msg->ep;
		break;
	case FI_OP_TRECV:
	case FI_OP_TSEND:
		c->msg = d->op.tagged->msg;
		c->flags = d->op.tagged->flags;
		ep = d->op.tagged->ep;
		break;
	case FI_OP_READ:
	case FI_OP_WRITE:
		c->rma = d->op.rma->msg;
		c->flags = d->op.rma->flags;
		ep = d->op.rma->ep;
		break;
	case FI_OP_ATOMIC:
		c->atomic.msg = d->op.atomic->msg;
		c->flags = d->op.atomic->flags;
		ep = d->op.atomic->ep;
		break;
	case FI_OP_FETCH_ATOMIC:
		c->atomic.msg = d->op.fetch_atomic->msg;
		c->atomic.fetch = d->op.fetch_atomic->fetch;
		c->flags = d->op.fetch_atomic->flags;
		ep = d->op.fetch_atomic->ep;
		break;
	case FI_OP_COMPARE_ATOMIC:
		c->atomic.msg = d->op.compare_atomic->msg;
		c->atomic.fetch = d->op.compare_atomic->fetch;
		c->atomic.compare = d->op.compare_atomic->compare;
		c->flags = d->op.compare_atomic->flags;
		ep = d->op.compare_atomic->ep;
		break;
	case FI_OP_CNTR_SET:
	case FI_OP_CNTR_ADD:
		if (!d->op.cntr->cntr)
			return -FI_EINVAL;
		work->cntr = container_of(d->op.cntr->cntr, struct mxefi_cntr,
					  fid);
		work->value = d->op.cntr->value;
		return 0;
	default:
		return -FI_ENOSYS;
	}
	if (!ep)
		return -FI_EINVAL;
	work->by = *to_handle(ep);
	if (!can_start(&work->by, d->op_type))
		return -FI_EINVAL;
	if (d->completion_cntr)
		work->cntr = container_of(d->completion_cntr, struct mxefi_cntr,
					  fid);
	return copy_call(work);
}

static int queue(struct mxefi_domain *dom, const struct fi_deferred_work *d)
{
	struct mxefi_deferred *work;
	struct mxefi_cntr *cntr;
	int ret;

	if (!d || !d->triggering_cntr)
		return -FI_EINVAL;
	cntr = container_of(d->triggering_cntr, struct mxefi_cntr, fid);
	work = calloc(1, sizeof(*work));
	if (!work)
		return -FI_ENOMEM;
	work->id = d;
	work->is_deferred = true;
	work->type = d->op_type;
	ret = take_args(work, d);
	if (!ret && (cntr->dom != dom || (work->cntr && work->cntr->dom != dom) ||
		     (work->by.ep && work->by.ep->dom != dom)))
		ret = -FI_EINVAL;
	if (!ret && work->by.ep && !work->by.ep->enabled)
		ret = -FI_EOPBADSTATE;
	if (ret) {
		free(work);
		return ret;
	}
	if (work->cntr)
		work->cntr->users++;
	wait_for(work, cntr, d->threshold);
	mxefi_trigger_fire(dom);
	return 0;
}

/**
 * mxefi_deferred_control() - Queue or cancel deferred work. Takes the lock.
 * @dom: domain
 * @command: FI_QUEUE_WORK, FI_CANCEL_WORK or FI_FLUSH_WORK
 * @work: work; for FI_FLUSH_WORK, NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_deferred_control(struct mxefi_domain *dom, int command,
			   struct fi_deferred_work *work)
{
	const struct pattern pattern = { .id = work, .is_deferred = true };
	int ret = 0;

	pthread_mutex_lock(&dom->lock);
	switch (command) {
	case FI_QUEUE_WORK:
		ret = queue(dom, work);
		break;
	case FI_CANCEL_WORK:
		ret = work && end(dom, &pattern, 0) ? 0 : -FI_ENOENT;
		break;
	case FI_FLUSH_WORK:
		while (end(dom, &(struct pattern){ .is_deferred = true }, 0))
			;
		break;
	default:
		ret = -FI_ENOSYS;
	}
	pthread_mutex_unlock(&dom->lock);
	return ret;
}

static void on_lost(struct mxefi_domain *dom)
{
	const struct pattern any = { 0 };

	while (end(dom, &any, FI_ENODEV))
		;
}

/**
 * mxefi_deferred_setup_domain() - Prepare a domain for deferred work.
 * @dom: domain
 */
void mxefi_deferred_setup_domain(struct mxefi_domain *dom)
{
	dom->on_lost = on_lost;
}
