/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* DC targets. */
#ifndef EXP_DCT_H
#define EXP_DCT_H

#include <errno.h>
#include <stdio.h>
#include <infiniband/verbs.h>

#include "backend.h"

/**
 * exp_check_dc() - Check if a device has the DC transport, and print an error
 * if it has not.
 * @call: name of the calling function
 * @context: context of the device
 * @caps: its capabilities
 *
 * Return: 0 or ENOSYS.
 */
static inline int exp_check_dc(const char *call, struct ibv_context *context,
			       const struct exp_caps *caps)
{
	if (caps->dc)
		return 0;
	fprintf(stderr, "%s: %s has no dynamically connected transport\n", call,
		context->device->name);
	return ENOSYS;
}

int exp_dct_get_event(struct ibv_context *context,
		      struct ibv_async_event *event,
		      int (*std)(struct ibv_context *context,
				 struct ibv_async_event *event));
void exp_dct_ack_event(struct ibv_async_event *event,
		       void (*std)(struct ibv_async_event *event));

#endif /* EXP_DCT_H */
