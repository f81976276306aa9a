/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions for the events of DC targets, called by interpose.c (dct.c). */
#ifndef EXP_DCT_H
#define EXP_DCT_H

#include <infiniband/verbs_exp.h>

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
				 struct ibv_async_event *event));

/**
 * exp_dct_ack_event() - Implement ibv_ack_async_event().
 * @event: event of exp_dct_get_event()
 * @std: ibv_ack_async_event() of libibverbs
 */
void exp_dct_ack_event(struct ibv_async_event *event,
		       void (*std)(struct ibv_async_event *event));

#endif /* EXP_DCT_H */
