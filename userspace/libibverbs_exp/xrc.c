// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The XRC interface of OFED 1.3 over today's verbs: ibv_open_xrc_domain() and
 * related calls, and what the interposed calls do for it.
 *
 * A domain is an XRCD of libibverbs. Programs know receiving QPs by their
 * numbers, so this file keeps a list of these QPs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"
#include "fork.h"
#include "std.h"
#include "table.h"
#include "xrc.h"

/* The structure of MLNX_OFED (compat/infiniband/verbs_members.h). */
struct xrc_qp_init_attr {
	struct ibv_qp_init_attr std;
	struct ibv_xrc_domain *domain;
};

/* Programs have these declarations only together with that structure. */
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr,
			  uint32_t *xrc_rcv_qpn);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain,
			 uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_qp_init_attr *init_attr);

/* In struct ibv_async_event, as MLNX_OFED had it. */
static uint32_t *event_qp_num(struct ibv_async_event *event)
{
	return (uint32_t *)&event->element;
}

static struct ibv_xrcd *to_xrcd(struct ibv_xrc_domain *domain)
{
	return (struct ibv_xrcd *)domain;
}

EXP_EXPORT
struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd,
					   int oflag)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflag,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &attr);

	if (!xrcd)
		errno = exp_errno_from_std(errno);
	return (struct ibv_xrc_domain *)xrcd;
}

EXP_EXPORT
int ibv_close_xrc_domain(struct ibv_xrc_domain *d)
{
	return ibv_close_xrcd(to_xrcd(d));
}

/* ---- shared receive queues ---------------------------------------------- */

/*
 * An SRQ of ibv_create_xrc_srq(). Programs read its number as xrc_srq_num,
 * which is a macro for events_completed of struct ibv_srq. Therefore
 * acknowledged events are counted here until the SRQ is destroyed.
 *
 * The entry remains after the SRQ was destroyed (table.h). acked and active are
 * protected by the mutex of the SRQ.
 */
struct xrc_srq {
	struct exp_entry entry;
	uint32_t num;
	uint32_t acked;
	bool active;
};

static struct exp_table srqs = EXP_TABLE_INIT;

EXP_FORK_HOLD(srqs, srqs.lock)

static int srq_add(struct ibv_srq *srq, uint32_t num)
{
	struct xrc_srq *entry;

	pthread_mutex_lock(&srqs.lock);
	entry = exp_table_find(&srqs, srq);
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (entry)
			exp_table_add(&srqs, &entry->entry, srq);
	}
	pthread_mutex_unlock(&srqs.lock);
	if (!entry)
		return ENOMEM;
	pthread_mutex_lock(&srq->mutex);
	entry->num = num;
	entry->acked = srq->events_completed;
	entry->active = true;
	srq->events_completed = num;
	pthread_mutex_unlock(&srq->mutex);
	return 0;
}

EXP_EXPORT
struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd,
				   struct ibv_xrc_domain *xrc_domain,
				   struct ibv_cq *xrc_cq,
				   struct ibv_srq_init_attr *srq_init_attr)
{
	struct ibv_srq_init_attr_ex attr = {
		.srq_context = srq_init_attr->srq_context,
		.attr = srq_init_attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = to_xrcd(xrc_domain),
		.cq = xrc_cq,
	};
	struct ibv_srq *srq;
	uint32_t num;
	int err;

	srq = ibv_create_srq_ex(pd->context, &attr);
	if (!srq)
		return exp_null(exp_errno_from_std(errno));
	err = ibv_get_srq_num(srq, &num);
	if (!err)
		err = srq_add(srq, num);
	if (err) {
		exp_std()->destroy_srq(srq);
		return exp_null(exp_errno_from_std(err));
	}
	srq_init_attr->attr = attr.attr;
	return srq;
}

/* Returns true if the event was counted. */
static bool srq_ack(struct ibv_srq *srq)
{
	struct xrc_srq *entry = exp_table_find(&srqs, srq);
	bool active;

	if (!entry)
		return false;
	pthread_mutex_lock(&srq->mutex);
	active = entry->active;
	if (active)
		entry->acked++;
	pthread_mutex_unlock(&srq->mutex);
	return active;
}

/**
 * exp_destroy_srq() - Implement ibv_destroy_srq().
 * @srq: any SRQ
 * @std: ibv_destroy_srq() of libibverbs
 *
 * ibv_destroy_srq() waits until events_completed has all events.
 *
 * Return: as ibv_destroy_srq().
 */
int exp_destroy_srq(struct ibv_srq *srq, int (*std)(struct ibv_srq *srq))
{
	struct xrc_srq *entry = exp_table_find(&srqs, srq);
	bool was_active = false;
	int ret;

	if (entry) {
		pthread_mutex_lock(&srq->mutex);
		was_active = entry->active;
		if (was_active)
			srq->events_completed = entry->acked;
		entry->active = false;
		pthread_mutex_unlock(&srq->mutex);
	}
	ret = std(srq);
	if (ret && was_active)
		srq_add(srq, entry->num);
	return ret;
}

/* ---- receiving queue pairs ---------------------------------------------- */

/*
 * A QP of ibv_create_xrc_rcv_qp() or ibv_reg_xrc_rcv_qp(). closing means that
 * ibv_unreg_xrc_rcv_qp() destroys it, when its users are gone. It then remains
 * in the list, because ibv_destroy_qp() waits for events to be acknowledged.
 */
struct xrc_qp {
	struct xrc_qp *next;
	struct ibv_qp *qp;
	uint32_t users;		/* calls in progress */
	uint32_t events;	/* got and not acknowledged */
	bool closing;
};

static pthread_mutex_t qps_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t qps_unused = PTHREAD_COND_INITIALIZER;
static struct xrc_qp *qps;	/* with its members protected by qps_lock */

EXP_FORK_HOLD(qps, qps_lock)

/* Needs qps_lock. */
static struct xrc_qp *qp_find(const struct ibv_xrc_domain *domain, uint32_t num)
{
	struct xrc_qp *entry;

	for (entry = qps; entry; entry = entry->next)
		if (!entry->closing && entry->qp->qp_num == num &&
		    entry->qp->context == domain->context)
			break;
	return entry;
}

/* Returns the QP, which is not destroyed before qp_put(), or NULL. */
static struct xrc_qp *qp_get(const struct ibv_xrc_domain *domain, uint32_t num)
{
	struct xrc_qp *entry;

	pthread_mutex_lock(&qps_lock);
	entry = qp_find(domain, num);
	if (entry)
		entry->users++;
	pthread_mutex_unlock(&qps_lock);
	return entry;
}

static void qp_put(struct xrc_qp *entry)
{
	pthread_mutex_lock(&qps_lock);
	if (!--entry->users)
		pthread_cond_broadcast(&qps_unused);
	pthread_mutex_unlock(&qps_lock);
}

/* Adds a QP. Destroys it if that fails. */
static int qp_add(struct ibv_xrc_domain *domain, struct ibv_qp *qp)
{
	struct xrc_qp *entry = calloc(1, sizeof(*entry));
	int err = entry ? 0 : ENOMEM;

	pthread_mutex_lock(&qps_lock);
	if (!err && qp_find(domain, qp->qp_num))
		err = EEXIST;
	if (!err) {
		entry->qp = qp;
		entry->next = qps;
		qps = entry;
	}
	pthread_mutex_unlock(&qps_lock);
	if (err) {
		free(entry);
		exp_std()->destroy_qp(qp);
	}
	return err;
}

EXP_EXPORT
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr,
			  uint32_t *xrc_rcv_qpn)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct ibv_xrc_domain *domain;
	struct ibv_qp *qp;

	if (!init_attr)
		return exp_err(EINVAL);
	domain = ((struct xrc_qp_init_attr *)init_attr)->domain;
	if (!domain)
		return exp_err(EINVAL);
	attr.xrcd = to_xrcd(domain);
	qp = ibv_create_qp_ex(domain->context, &attr);
	if (!qp)
		return exp_err(exp_errno_from_std(errno));
	*xrc_rcv_qpn = qp->qp_num;
	return exp_err(qp_add(domain, qp));
}

EXP_EXPORT
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = xrc_qp_num,
		.xrcd = to_xrcd(xrc_domain),
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *qp = ibv_open_qp(xrc_domain->context, &attr);

	if (!qp)
		return exp_err(exp_errno_from_std(errno));
	return exp_err(qp_add(xrc_domain, qp));
}

EXP_EXPORT
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain,
			  uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			  int attr_mask)
{
	struct xrc_qp *entry = qp_get(xrc_domain, xrc_qp_num);
	int ret;

	if (!entry)
		return exp_err(EINVAL);
	ret = exp_std()->modify_qp(entry->qp, attr, attr_mask);
	qp_put(entry);
	return exp_err(ret);
}

EXP_EXPORT
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain,
			 uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_qp_init_attr *init_attr)
{
	struct xrc_qp *entry = qp_get(xrc_domain, xrc_qp_num);
	int ret;

	if (!entry)
		return exp_err(EINVAL);
	ret = ibv_query_qp(entry->qp, attr, attr_mask, init_attr);
	qp_put(entry);
	if (!ret)
		((struct xrc_qp_init_attr *)init_attr)->domain = xrc_domain;
	return exp_err(ret);
}

EXP_EXPORT
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num)
{
	struct xrc_qp **link, *entry;
	int ret;

	pthread_mutex_lock(&qps_lock);
	entry = qp_find(xrc_domain, xrc_qp_num);
	if (entry)
		entry->closing = true;
	while (entry && entry->users)
		pthread_cond_wait(&qps_unused, &qps_lock);
	pthread_mutex_unlock(&qps_lock);
	if (!entry)
		return exp_err(EINVAL);

	ret = exp_std()->destroy_qp(entry->qp);
	pthread_mutex_lock(&qps_lock);
	if (ret) {
		entry->closing = false;
	} else {
		for (link = &qps; *link != entry; link = &(*link)->next)
			;
		*link = entry->next;
	}
	pthread_mutex_unlock(&qps_lock);
	if (!ret)
		free(entry);
	return exp_err(ret);
}

/**
 * exp_create_qp() - Implement ibv_create_qp().
 * @pd: as for ibv_create_qp()
 * @attr: as for ibv_create_qp(); the type may be IBV_QPT_XRC
 * @std: ibv_create_qp() of libibverbs
 *
 * IBV_QPT_XRC is a sender, which needs no domain today.
 *
 * Return: as ibv_create_qp().
 */
struct ibv_qp *exp_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
			     struct ibv_qp *(*std)(struct ibv_pd *pd,
						   struct ibv_qp_init_attr *attr))
{
	struct ibv_qp_init_attr sender;
	struct ibv_qp *qp;

	if (attr->qp_type != IBV_QPT_XRC)
		return std(pd, attr);
	sender = *attr;
	sender.qp_type = IBV_QPT_XRC_SEND;
	sender.srq = NULL;
	qp = std(pd, &sender);
	if (qp)
		attr->cap = sender.cap;
	return qp;
}

/* ---- asynchronous events ------------------------------------------------- */

static bool is_qp_event(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return true;
	default:
		return false;
	}
}

/**
 * exp_get_async_event() - Implement ibv_get_async_event().
 * @context: as for ibv_get_async_event()
 * @event: as for ibv_get_async_event(); has IBV_XRC_QP_EVENT_FLAG and the
 *	number of the QP if that is from ibv_create_xrc_rcv_qp() or
 *	ibv_reg_xrc_rcv_qp()
 * @std: ibv_get_async_event() of libibverbs
 *
 * Return: as ibv_get_async_event().
 */
int exp_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event,
			int (*std)(struct ibv_context *context,
				   struct ibv_async_event *event))
{
	int ret = std(context, event);
	struct xrc_qp *entry;

	if (ret || !is_qp_event(event->event_type))
		return ret;
	pthread_mutex_lock(&qps_lock);
	for (entry = qps; entry; entry = entry->next)
		if (entry->qp == event->element.qp)
			break;
	if (entry) {
		entry->events++;
		event->event_type = (enum ibv_event_type)
			(event->event_type | IBV_XRC_QP_EVENT_FLAG);
		event->element.qp = NULL;
		*event_qp_num(event) = entry->qp->qp_num;
	}
	pthread_mutex_unlock(&qps_lock);
	return 0;
}

/*
 * Restores the event as libibverbs knows it. If several devices have a QP of
 * this number with an event, any of them is used, because libibverbs only
 * counts the events of a QP. Returns false if there is none.
 */
static bool restore_event(struct ibv_async_event *event)
{
	uint32_t num = *event_qp_num(event);
	struct xrc_qp *entry;

	pthread_mutex_lock(&qps_lock);
	for (entry = qps; entry; entry = entry->next)
		if (entry->qp->qp_num == num && entry->events)
			break;
	if (entry) {
		entry->events--;
		event->event_type = (enum ibv_event_type)
			(event->event_type & ~IBV_XRC_QP_EVENT_FLAG);
		event->element.qp = entry->qp;
	}
	pthread_mutex_unlock(&qps_lock);
	return entry;
}

/**
 * exp_ack_async_event() - Implement ibv_ack_async_event().
 * @event: event of exp_get_async_event()
 * @std: ibv_ack_async_event() of libibverbs
 */
void exp_ack_async_event(struct ibv_async_event *event,
			 void (*std)(struct ibv_async_event *event))
{
	struct ibv_async_event ours = *event;

	if (event->event_type & IBV_XRC_QP_EVENT_FLAG) {
		if (restore_event(&ours))
			std(&ours);
		return;
	}
	if ((event->event_type == IBV_EVENT_SRQ_ERR ||
	     event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED) &&
	    srq_ack(event->element.srq))
		return;
	std(event);
}
