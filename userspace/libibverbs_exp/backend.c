// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Chooses the backend of a context, and queries the capabilities of the device.
 */
#include <pthread.h>
#include <stdlib.h>

#include "backend.h"
#include "backend_emu.h"
#include "backend_mlx5.h"
#include "backend_mxe.h"
#include "fork.h"
#include "table.h"

/*
 * Caches the backend of a context, because querying the device at every poll
 * would be too slow.
 *
 * In the entry (table.h) of a closed context backend is NULL. It is accessed
 * atomically.
 */
struct exp_context {
	struct exp_entry entry;
	const struct exp_backend *backend;
};

static struct exp_table contexts = EXP_TABLE_INIT;

EXP_FORK_HOLD(contexts, contexts.lock)

static const struct exp_backend *choose_backend(struct ibv_context *context)
{
	if (exp_backend_mxe.serves(context))
		return &exp_backend_mxe;
	if (exp_backend_mlx5.serves(context))
		return &exp_backend_mlx5;
	return &exp_backend_emu;
}

/* If this runs out of memory, exp_backend_of() chooses again each time. */
static void set_backend(const struct ibv_context *context,
			const struct exp_backend *backend)
{
	struct exp_context *entry;

	pthread_mutex_lock(&contexts.lock);
	entry = exp_table_find(&contexts, context);
	if (entry) {
		__atomic_store_n(&entry->backend, backend, __ATOMIC_RELEASE);
	} else if (backend) {
		entry = calloc(1, sizeof(*entry));
		if (entry) {
			entry->backend = backend;
			exp_table_add(&contexts, &entry->entry, context);
		}
	}
	pthread_mutex_unlock(&contexts.lock);
}

/**
 * exp_backend_adopt() - Choose the backend of a new context.
 * @context: the context
 *
 * Return: the backend.
 */
const struct exp_backend *exp_backend_adopt(struct ibv_context *context)
{
	const struct exp_backend *backend = choose_backend(context);

	if (backend->adopt)
		backend->adopt(context);
	set_backend(context, backend);
	return backend;
}

/**
 * exp_backend_of() - Get the backend of a context.
 * @context: the context
 *
 * Return: the backend, which stays the same until the context is closed.
 */
const struct exp_backend *exp_backend_of(struct ibv_context *context)
{
	const struct exp_context *entry = exp_table_find(&contexts, context);
	const struct exp_backend *backend = NULL;

	if (entry)
		backend = __atomic_load_n(&entry->backend, __ATOMIC_ACQUIRE);
	return backend ? backend : exp_backend_adopt(context);
}

/**
 * exp_close_device() - Implement ibv_close_device().
 * @context: the context
 * @std: ibv_close_device() of libibverbs
 *
 * Clears the entry before the context is closed, because its address may be
 * reused immediately.
 *
 * Return: as ibv_close_device().
 */
int exp_close_device(struct ibv_context *context,
		     int (*std)(struct ibv_context *context))
{
	set_backend(context, NULL);
	return std(context);
}

/**
 * exp_backend_query_std() - Query the capabilities of a device whose standard
 * attributes are known.
 * @context: context of the device
 * @std: attributes from ibv_query_device()
 * @caps: filled in
 *
 * Return: 0 or a positive errno.
 */
int exp_backend_query_std(struct ibv_context *context,
			  const struct ibv_device_attr *std,
			  struct exp_caps *caps)
{
	*caps = (struct exp_caps) {
		.atomic_cap = (enum ibv_exp_atomic_cap)std->atomic_cap,
		.max_dct = std->max_qp,
	};
	return exp_backend_of(context)->query(context, caps);
}

/**
 * exp_backend_query() - Query the capabilities of a device.
 * @context: context of the device
 * @caps: filled in
 *
 * Return: 0 or a positive errno.
 */
int exp_backend_query(struct ibv_context *context, struct exp_caps *caps)
{
	struct ibv_device_attr std;
	int ret;

	ret = ibv_query_device(context, &std);
	return ret ? ret : exp_backend_query_std(context, &std, caps);
}
