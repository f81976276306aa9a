// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Targets of the dynamically connected (DC) transport: ibv_exp_create_dct() and
 * related calls, and the events of targets.
 *
 * A target is implemented by a QP that the backend creates and programs do not
 * see.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs_exp.h>

#include "backend.h"
#include "calls.h"
#include "dct.h"
#include "fork.h"
#include "std.h"
#include "wr.h"

/*
 * Lifetime: remains in the list until ibv_destroy_qp() has returned, because
 * that waits for events to be acknowledged.
 */
struct exp_dct {
	struct ibv_exp_dct dct;		/* part for programs */
	struct exp_dct *next;
	struct ibv_qp *qp;
	struct ibv_exp_dct_init_attr attr;
};

static pthread_mutex_t dcts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct exp_dct *dcts;	/* the list, protected by dcts_lock */

EXP_FORK_HOLD(dcts, dcts_lock)

static struct exp_dct *to_exp_dct(struct ibv_exp_dct *dct)
{
	return (struct exp_dct *)dct;
}

static void dct_link(struct exp_dct *dct)
{
	pthread_mutex_lock(&dcts_lock);
	dct->next = dcts;
	dcts = dct;
	pthread_mutex_unlock(&dcts_lock);
}

static void dct_unlink(struct exp_dct *dct)
{
	struct exp_dct **link = &dcts;

	pthread_mutex_lock(&dcts_lock);
	while (*link != dct)
		link = &(*link)->next;
	*link = dct->next;
	pthread_mutex_unlock(&dcts_lock);
}

/* ---- creation ------------------------------------------------------------ */

/* inline_size and OOO_RW_DATA_PLACEMENT are hints, which are ignored. */
static int check_attr(const struct ibv_exp_dct_init_attr *attr, int *access)
{
	if (exp_bad_mask("ibv_exp_create_dct", attr->comp_mask,
			 IBV_EXP_DCT_INIT_ATTR_RESERVED) ||
	    attr->create_flags & ~(uint32_t)IBV_EXP_DCT_CREATE_FLAGS_MASK ||
	    !attr->pd || !attr->cq || !attr->srq)
		return EINVAL;
	return exp_access_to_std(attr->access_flags, access);
}

static int to_init(struct ibv_qp *qp, const struct ibv_exp_dct_init_attr *attr,
		   int access)
{
	struct ibv_qp_attr std = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = attr->pkey_index,
		.port_num = attr->port,
		.qp_access_flags = access,
	};

	return exp_std()->modify_qp(qp, &std, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/*
 * Responses use the address vector. Its destination is not used, but
 * the standard verbs require one of the same address family as the source.
 */
static int to_rtr(struct ibv_qp *qp, const struct ibv_exp_dct_init_attr *attr)
{
	struct ibv_qp_attr std = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = attr->mtu,
		.min_rnr_timer = attr->min_rnr_timer,
		.ah_attr = {
			.is_global = 1,
			.port_num = attr->port,
			.grh = {
				.sgid_index = attr->gid_index,
				.traffic_class = attr->tclass,
				.flow_label = attr->flow_label,
				.hop_limit = attr->hop_limit,
			},
		},
	};

	if (ibv_query_gid(qp->context, attr->port, attr->gid_index,
			  &std.ah_attr.grh.dgid))
		return EINVAL;
	return exp_std()->modify_qp(qp, &std, IBV_QP_STATE | IBV_QP_PATH_MTU |
				    IBV_QP_MIN_RNR_TIMER | IBV_QP_AV);
}

/*
 * Creates the QP of a target in INIT. Its qp_context is the target. Returns
 * NULL with errno.
 */
static struct ibv_qp *create_target(struct ibv_context *context,
				    const struct ibv_exp_dct_init_attr *attr,
				    int access, struct exp_dct *dct)
{
	struct ibv_qp_init_attr_ex std = {
		.qp_context = dct,
		.send_cq = attr->cq,
		.recv_cq = attr->cq,
		.srq = attr->srq,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = attr->pd,
	};
	struct ibv_qp *qp;
	int err;

	qp = exp_backend_of(context)->create_dct(context, &std, attr->dc_key);
	if (!qp)
		return NULL;
	err = to_init(qp, attr, access);
	if (err) {
		exp_std()->destroy_qp(qp);
		return exp_null(err);
	}
	return qp;
}

/* Returns 0, or a positive errno, and the target exists. */
static int destroy_target(struct exp_dct *dct)
{
	int ret = exp_std()->destroy_qp(dct->qp);

	if (ret)
		return ret;
	dct_unlink(dct);
	pthread_cond_destroy(&dct->dct.cond);
	pthread_mutex_destroy(&dct->dct.mutex);
	free(dct);
	return 0;
}

EXP_EXPORT
struct ibv_exp_dct *ibv_exp_create_dct(struct ibv_context *context,
				       struct ibv_exp_dct_init_attr *attr)
{
	struct exp_caps caps;
	struct exp_dct *dct;
	int access, err;

	err = exp_backend_query(context, &caps);
	if (!err)
		err = exp_check_dc(__func__, context, &caps);
	if (!err)
		err = check_attr(attr, &access);
	if (err)
		return exp_null(err);
	dct = calloc(1, sizeof(*dct));
	if (!dct)
		return NULL;
	dct->qp = create_target(context, attr, access, dct);
	if (!dct->qp) {
		err = exp_errno_from_std(errno);
		free(dct);
		return exp_null(err);
	}
	dct->attr = *attr;
	dct->dct.context = context;
	dct->dct.handle = dct->qp->handle;
	dct->dct.pd = attr->pd;
	dct->dct.srq = attr->srq;
	dct->dct.cq = attr->cq;
	pthread_mutex_init(&dct->dct.mutex, NULL);
	pthread_cond_init(&dct->dct.cond, NULL);
	/* From RTR on, packets can cause events of the target. */
	dct_link(dct);
	err = to_rtr(dct->qp, attr);
	if (err) {
		destroy_target(dct);
		return exp_null(exp_errno_from_std(err));
	}
	/* Valid on mlx5 only from RTR on. */
	dct->dct.dct_num = dct->qp->qp_num;
	return &dct->dct;
}

EXP_EXPORT
int ibv_exp_destroy_dct(struct ibv_exp_dct *ibdct)
{
	return exp_err(destroy_target(to_exp_dct(ibdct)));
}

/* ---- attributes ---------------------------------------------------------- */

/* Leaves 0 if the device does not report the number. */
static int query_violations(const struct exp_dct *dct, uint32_t *key_violations)
{
	const struct exp_backend *backend = exp_backend_of(dct->qp->context);
	int ret;

	if (!backend->query_dct)
		return 0;
	ret = backend->query_dct(dct->qp, key_violations);
	return ret == EOPNOTSUPP ? 0 : ret;
}

EXP_EXPORT
int ibv_exp_query_dct(struct ibv_exp_dct *ibdct, struct ibv_exp_dct_attr *attr)
{
	const struct exp_dct *dct = to_exp_dct(ibdct);
	const struct ibv_exp_dct_init_attr *init = &dct->attr;
	struct ibv_qp_init_attr std_init;
	uint32_t key_violations = 0;
	struct ibv_qp_attr std;
	int ret;

	if (exp_bad_mask(__func__, attr->comp_mask, IBV_EXP_DCT_ATTR_RESERVED))
		return exp_err(EINVAL);
	ret = ibv_query_qp(dct->qp, &std, IBV_QP_STATE, &std_init);
	if (!ret)
		ret = query_violations(dct, &key_violations);
	if (ret)
		return exp_err(ret);
	*attr = (struct ibv_exp_dct_attr) {
		.dc_key = init->dc_key,
		.port = init->port,
		.access_flags = init->access_flags,
		.min_rnr_timer = init->min_rnr_timer,
		.tclass = init->tclass,
		.flow_label = init->flow_label,
		.mtu = init->mtu,
		.pkey_index = init->pkey_index,
		.gid_index = init->gid_index,
		.hop_limit = init->hop_limit,
		.key_violations = key_violations,
		.state = std.qp_state == IBV_QPS_RTR ?
			 IBV_EXP_DCT_STATE_ACTIVE : IBV_EXP_DCT_STATE_DRAINED,
		.srq = init->srq,
		.cq = init->cq,
		.pd = init->pd,
	};
	return 0;
}

EXP_EXPORT
int ibv_exp_arm_dct(struct ibv_exp_dct *ibdct, struct ibv_exp_arm_attr *attr)
{
	const struct exp_backend *backend;
	const struct exp_dct *dct = to_exp_dct(ibdct);
	int ret;

	if (!dct || exp_bad_mask(__func__, attr->comp_mask,
				 IBV_EXP_ARM_ATTR_RESERVED))
		return exp_err(EINVAL);
	backend = exp_backend_of(dct->qp->context);
	ret = backend->arm_dct ? backend->arm_dct(dct->qp) : EOPNOTSUPP;
	if (ret == EOPNOTSUPP) {
		fprintf(stderr, "%s: the driver of %s cannot arm DC targets\n",
			__func__, dct->qp->context->device->name);
		return exp_err(ENOSYS);
	}
	return ret ? exp_err(ret) : 0;
}

/* ---- asynchronous events ------------------------------------------------- */

static const struct {
	int exp;
	enum ibv_event_type std;
} event_types[] = {
	{ IBV_EXP_EVENT_DCT_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR },
	{ IBV_EXP_EVENT_DCT_REQ_ERR, IBV_EVENT_QP_REQ_ERR },
	{ IBV_EXP_EVENT_DCT_KEY_VIOLATION, IBV_EVENT_QP_ACCESS_ERR },
};

#define EVENT_TYPES (sizeof(event_types) / sizeof(event_types[0]))

/* In struct ibv_async_event, as MLNX_OFED had it. */
static struct ibv_exp_dct **event_dct(struct ibv_async_event *event)
{
	return (struct ibv_exp_dct **)&event->element;
}

/*
 * A target remains in the list a little longer than its QP exists. A new QP may
 * have the same address then, but not the same qp_context, because the target
 * is still allocated.
 */
static struct exp_dct *dct_of_qp(const struct ibv_qp *qp)
{
	struct exp_dct *dct;

	pthread_mutex_lock(&dcts_lock);
	for (dct = dcts; dct; dct = dct->next)
		if (dct->qp == qp && qp->qp_context == dct)
			break;
	pthread_mutex_unlock(&dcts_lock);
	return dct;
}

/**
 * exp_dct_get_event() - Implement ibv_get_async_event().
 * @context: as for ibv_get_async_event()
 * @event: as for ibv_get_async_event(); has a type IBV_EXP_EVENT_DCT_* and the
 *	target if it is an access or request error, or a key violation, of one
 * @std: ibv_get_async_event() of libibverbs
 *
 * Return: as ibv_get_async_event().
 */
int exp_dct_get_event(struct ibv_context *context,
		      struct ibv_async_event *event,
		      int (*std)(struct ibv_context *context,
				 struct ibv_async_event *event))
{
	int ret = std(context, event);
	struct exp_dct *dct;
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < EVENT_TYPES; i++)
		if (event->event_type == event_types[i].std)
			break;
	if (i == EVENT_TYPES)
		return 0;
	dct = dct_of_qp(event->element.qp);
	if (!dct)
		return 0;
	event->event_type = (enum ibv_event_type)event_types[i].exp;
	/* A target that can be armed has no other access error (backend.h). */
	if (event_types[i].std == IBV_EVENT_QP_ACCESS_ERR &&
	    exp_backend_of(context)->arm_dct)
		event->event_type =
			(enum ibv_event_type)IBV_EXP_EVENT_DCT_KEY_VIOLATION;
	*event_dct(event) = &dct->dct;
	return 0;
}

/**
 * exp_dct_ack_event() - Implement ibv_ack_async_event().
 * @event: event of exp_dct_get_event()
 * @std: ibv_ack_async_event() of libibverbs
 */
void exp_dct_ack_event(struct ibv_async_event *event,
		       void (*std)(struct ibv_async_event *event))
{
	struct ibv_async_event ours = *event;
	size_t i;

	for (i = 0; i < EVENT_TYPES; i++) {
		if ((int)event->event_type != event_types[i].exp)
			continue;
		ours.event_type = event_types[i].std;
		ours.element.qp = to_exp_dct(*event_dct(event))->qp;
		break;
	}
	std(&ours);
}
