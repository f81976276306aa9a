// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The operations of dat_extensions.h. Each is posted as an operation of the
 * inner provider, and its event becomes one of dat_extensions.h.
 *
 * The inner provider gets the address of a struct dm_op as the cookie. An event
 * is converted if its cookie is the address of an operation of its endpoint. A
 * program's pointer never equals such an address, because the memory is in use
 * until the event is taken. A number can equal it only by chance.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <dat/dat_extensions.h>
#include <dat2/dat_ib_extensions.h>
#include <infiniband/mxedv.h>

#include "inner.h"
#include "op.h"

enum {
	OP_BUCKETS = 1024,
	ATOMIC_BYTES = 8,
	EXT_FLAGS = DAT_EXT_WRITE_IMMED_FLAG | DAT_EXT_WRITE_CONFIRM_FLAG,
};

/*
 * An operation of dat_extensions.h whose event was not taken. The endpoint may
 * have been freed since, so the handle is only compared.
 */
struct dm_op {
	struct dm_op *next;
	DAT_IA_HANDLE ia;
	DAT_EP_HANDLE ep;
	DAT_DTO_COOKIE cookie;		/* of the program */
	DAT_EXT_EVENT_TYPE type;	/* of its event, without immediate data */
};

/* Protects the table. The inner provider is never called with it held. */
static pthread_mutex_t dm_op_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dm_op *dm_ops[OP_BUCKETS];
/* Number of entries, so that programs without extensions take no lock. */
static atomic_uint dm_num_ops;

static struct dm_op **dm_op_bucket(const void *op)
{
	return &dm_ops[((uintptr_t)op >> 5) % OP_BUCKETS];
}

static void dm_op_add(struct dm_op *op)
{
	struct dm_op **bucket = dm_op_bucket(op);

	pthread_mutex_lock(&dm_op_lock);
	op->next = *bucket;
	*bucket = op;
	atomic_fetch_add(&dm_num_ops, 1);
	pthread_mutex_unlock(&dm_op_lock);
}

/*
 * Returns the operation of the endpoint with that address, which the caller
 * frees, or NULL.
 */
static struct dm_op *dm_op_take(DAT_EP_HANDLE ep, const void *address)
{
	struct dm_op **p, *op = NULL;

	if (!atomic_load(&dm_num_ops))
		return NULL;
	pthread_mutex_lock(&dm_op_lock);
	for (p = dm_op_bucket(address); *p; p = &(*p)->next)
		if (*p == address && (*p)->ep == ep) {
			op = *p;
			*p = op->next;
			atomic_fetch_sub(&dm_num_ops, 1);
			break;
		}
	pthread_mutex_unlock(&dm_op_lock);
	return op;
}

/**
 * dm_op_forget() - Forget the operations of an IA that was closed.
 * @ia: the inner provider's handle
 */
void dm_op_forget(DAT_IA_HANDLE ia)
{
	struct dm_op **p, *dead;
	int i;

	if (!atomic_load(&dm_num_ops))
		return;
	pthread_mutex_lock(&dm_op_lock);
	for (i = 0; i < OP_BUCKETS; i++)
		for (p = &dm_ops[i]; *p;) {
			if ((*p)->ia != ia) {
				p = &(*p)->next;
				continue;
			}
			dead = *p;
			*p = dead->next;
			atomic_fetch_sub(&dm_num_ops, 1);
			free(dead);
		}
	pthread_mutex_unlock(&dm_op_lock);
}

/* ---- events ------------------------------------------------------------ */

static bool dm_op_is_receive(const struct dm_op *op)
{
	return op->type == DAT_EXT_RECV_NO_IMMED;
}

/* Converts the inner provider's event of an extended operation. */
static void dm_op_event(DAT_EVENT *event)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto =
		&event->event_data.dto_completion_event_data;
	DAT_IB_EXTENSION_EVENT_DATA ib;
	DAT_EXTENSION_DATA data;
	struct dm_op *op;

	if (event->event_number != DAT_DTO_COMPLETION_EVENT &&
	    event->event_number != (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT)
		return;
	op = dm_op_take(dto->ep_handle, dto->user_cookie.as_ptr);
	if (!op)
		return;

	data = (DAT_EXTENSION_DATA){ .type = op->type, .status = dto->status };
	if (dm_op_is_receive(op) && dto->status == DAT_DTO_SUCCESS &&
	    event->event_number == (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT) {
		data.type = DAT_EXT_RECV_IMMED_DATA_EVENT;
		memcpy(&ib, event->event_extension_data, sizeof(ib));
		data.val.immed.data = ib.val.immed.data;
	}
	event->event_number = DAT_EXTENSION_EVENT;
	dto->user_cookie = op->cookie;
	*DAT_EVENT_EXTENSION_DATA(event) = data;
	free(op);
}

DAT_RETURN dm_op_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout,
			  DAT_COUNT threshold, DAT_EVENT *event,
			  DAT_COUNT *nmore)
{
	DAT_RETURN ret = dm_inner.evd_wait_func(evd, timeout, threshold, event,
						nmore);

	if (ret == DAT_SUCCESS)
		dm_op_event(event);
	return ret;
}

DAT_RETURN dm_op_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_RETURN ret = dm_inner.evd_dequeue_func(evd, event);

	if (ret == DAT_SUCCESS)
		dm_op_event(event);
	return ret;
}

/* ---- posting ----------------------------------------------------------- */

static DAT_RETURN dm_op_inner(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
	DAT_RETURN ret;
	va_list args;

	va_start(args, op);
	ret = dm_inner.handle_extendedop_func(handle, op, args);
	va_end(args);
	return ret;
}

/*
 * A suppressed operation that succeeds has no event, so nothing would free an
 * entry. None is added: the inner provider gets the program's cookie, and a
 * failure has the inner provider's event.
 */
static DAT_RETURN dm_op_begin(DAT_EP_HANDLE ep, DAT_EXT_EVENT_TYPE type,
			      DAT_COMPLETION_FLAGS flags, DAT_DTO_COOKIE *cookie,
			      struct dm_op **op)
{
	DAT_EP_PARAM param;
	struct dm_op *new;
	DAT_RETURN ret;

	*op = NULL;
	if (flags & DAT_COMPLETION_SUPPRESS_FLAG)
		return DAT_SUCCESS;
	ret = dm_inner.ep_query_func(ep, DAT_EP_FIELD_IA_HANDLE, &param);
	if (ret != DAT_SUCCESS)
		return ret;
	new = malloc(sizeof(*new));
	if (!new)
		return DM_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	*new = (struct dm_op){
		.ia = param.ia_handle, .ep = ep, .cookie = *cookie, .type = type,
	};
	dm_op_add(new);
	cookie->as_64 = 0;
	cookie->as_ptr = new;
	*op = new;
	return DAT_SUCCESS;
}

static DAT_RETURN dm_op_end(struct dm_op *op, DAT_RETURN ret)
{
	if (ret != DAT_SUCCESS && op)
		free(dm_op_take(op->ep, op));
	return ret;
}

static DAT_RETURN dm_op_check_local(DAT_COUNT num, const DAT_LMR_TRIPLET *local)
{
	if (num < 0)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (num && !local)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	return DAT_SUCCESS;
}

static DAT_RETURN dm_op_write(DAT_EP_HANDLE ep, va_list args)
{
	DAT_COUNT num = va_arg(args, DAT_COUNT);
	DAT_LMR_TRIPLET *local = va_arg(args, DAT_LMR_TRIPLET *);
	DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
	const DAT_RMR_TRIPLET *remote = va_arg(args, const DAT_RMR_TRIPLET *);
	DAT_UINT32 data = va_arg(args, DAT_UINT32);
	unsigned int ext_flags = va_arg(args, unsigned int);
	DAT_COMPLETION_FLAGS flags = va_arg(args, DAT_COMPLETION_FLAGS);
	struct dm_op *op;
	DAT_RETURN ret;

	ret = dm_op_check_local(num, local);
	if (ret != DAT_SUCCESS)
		return ret;
	if (!remote)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (ext_flags & ~(unsigned int)EXT_FLAGS)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	ret = dm_op_begin(ep, DAT_EXT_RDMA_WRITE_IMMED_STATUS, flags, &cookie, &op);
	if (ret != DAT_SUCCESS)
		return ret;
	if (ext_flags & DAT_EXT_WRITE_IMMED_FLAG)
		ret = dm_op_inner(ep, DAT_IB_RDMA_WRITE_IMMED_OP, num, local,
				  cookie, remote, data, flags);
	else
		ret = dm_inner.ep_post_rdma_write_func(ep, num, local, cookie,
						       remote, flags);
	return dm_op_end(op, ret);
}

static DAT_RETURN dm_op_recv(DAT_EP_HANDLE ep, va_list args)
{
	DAT_COUNT num = va_arg(args, DAT_COUNT);
	DAT_LMR_TRIPLET *local = va_arg(args, DAT_LMR_TRIPLET *);
	DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
	DAT_COMPLETION_FLAGS flags = va_arg(args, DAT_COMPLETION_FLAGS);
	struct dm_op *op;
	DAT_RETURN ret;

	ret = dm_op_check_local(num, local);
	if (ret != DAT_SUCCESS)
		return ret;
	ret = dm_op_begin(ep, DAT_EXT_RECV_NO_IMMED, flags, &cookie, &op);
	if (ret != DAT_SUCCESS)
		return ret;
	return dm_op_end(op, dm_inner.ep_post_recv_func(ep, num, local, cookie,
							flags));
}

/* The arguments of an atomic. masks is NULL for a standard one. */
struct dm_atomic {
	DAT_EXT_EVENT_TYPE type;
	bool is_swap;
	DAT_UINT64 compare_add;
	DAT_UINT64 swap;
	const struct mxedv_atomic_masks *masks;
};

static DAT_RETURN dm_op_atomic(DAT_EP_HANDLE ep, const struct dm_atomic *a,
			       va_list args)
{
	DAT_LMR_TRIPLET *local = va_arg(args, DAT_LMR_TRIPLET *);
	DAT_DTO_COOKIE cookie = va_arg(args, DAT_DTO_COOKIE);
	const DAT_RMR_TRIPLET *remote = va_arg(args, const DAT_RMR_TRIPLET *);
	DAT_COMPLETION_FLAGS flags = va_arg(args, DAT_COMPLETION_FLAGS);
	struct dm_op *op;
	DAT_RETURN ret;

	if (!local || local->segment_length != ATOMIC_BYTES)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (!remote || remote->segment_length != ATOMIC_BYTES ||
	    remote->virtual_address % ATOMIC_BYTES)
		return DM_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	ret = dm_op_begin(ep, a->type, flags, &cookie, &op);
	if (ret != DAT_SUCCESS)
		return ret;
	mxedv_mask_next_atomic(a->masks);
	if (a->is_swap)
		ret = dm_op_inner(ep, DAT_IB_CMP_AND_SWAP_OP, a->compare_add,
				  a->swap, local, cookie, remote, flags);
	else
		ret = dm_op_inner(ep, DAT_IB_FETCH_AND_ADD_OP, a->compare_add,
				  local, cookie, remote, flags);
	/*
	 * Remove the masks if the inner provider refused the request before
	 * posting it.
	 */
	mxedv_mask_next_atomic(NULL);
	return dm_op_end(op, ret);
}

/**
 * dm_op_extended() - Execute dat_extension_op().
 * @handle: endpoint or other handle of the inner provider
 * @op: DAT_EXT_OP_BASE + DAT_EXT_OP, or an operation of the inner provider
 * @args: arguments of the operation
 *
 * Return: DAT_RETURN.
 */
DAT_RETURN dm_op_extended(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	struct mxedv_atomic_masks masks = { 0 };
	struct dm_atomic a = { 0 };

	switch (op) {
	case DAT_EXT_OP_BASE + DAT_EXT_RDMA_WRITE_IMMED:
		return dm_op_write(handle, args);
	case DAT_EXT_OP_BASE + DAT_EXT_RECV_IMMED:
		return dm_op_recv(handle, args);
	case DAT_EXT_OP_BASE + DAT_EXT_FETCH_AND_ADD:
		a.type = DAT_EXT_FETCH_AND_ADD_STATUS;
		a.compare_add = va_arg(args, DAT_UINT64);
		return dm_op_atomic(handle, &a, args);
	case DAT_EXT_OP_BASE + DAT_EXT_CMP_AND_SWAP:
		a.type = DAT_EXT_CMP_AND_SWAP_STATUS;
		a.is_swap = true;
		a.compare_add = va_arg(args, DAT_UINT64);
		a.swap = va_arg(args, DAT_UINT64);
		return dm_op_atomic(handle, &a, args);
	case DAT_EXT_OP_BASE + DAT_EXT_MASKED_FETCH_AND_ADD:
		a.type = DAT_EXT_MASKED_FETCH_AND_ADD_STATUS;
		a.masks = &masks;
		a.compare_add = va_arg(args, DAT_UINT64);
		masks.compare_add_mask = va_arg(args, DAT_UINT64);
		return dm_op_atomic(handle, &a, args);
	case DAT_EXT_OP_BASE + DAT_EXT_MASKED_CMP_AND_SWAP:
		a.type = DAT_EXT_MASKED_CMP_AND_SWAP_STATUS;
		a.is_swap = true;
		a.masks = &masks;
		a.compare_add = va_arg(args, DAT_UINT64);
		masks.compare_add_mask = va_arg(args, DAT_UINT64);
		a.swap = va_arg(args, DAT_UINT64);
		masks.swap_mask = va_arg(args, DAT_UINT64);
		return dm_op_atomic(handle, &a, args);
	default:
		return dm_inner.handle_extendedop_func(handle, op, args);
	}
}

DAT_RETURN dm_op_extended_plain(DAT_HANDLE handle, DAT_EXTENDED_OP op,
				va_list args)
{
	switch (op) {
	case DAT_EXT_OP_BASE + DAT_EXT_MASKED_FETCH_AND_ADD:
	case DAT_EXT_OP_BASE + DAT_EXT_MASKED_CMP_AND_SWAP:
		return DM_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	default:
		return dm_op_extended(handle, op, args);
	}
}
