/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* RMA and atomics that are reported to the target. */
#ifndef MXEFI_ACCESS_H
#define MXEFI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mxefi_ep;
struct mxefi_op;
struct mxefi_wr;

/* The effects of an operation at the target. */
struct mxefi_access {
	bool reads, writes;
	bool has_data;			/* remote CQ data */
	uint32_t data;
	uint64_t len;			/* in bytes, if there are data */
	uint16_t rx_index;		/* receive context of the target */
	const uint64_t *keys;		/* of the memory regions */
	size_t num_keys;
};

/**
 * mxefi_access_setup() - Prepare an endpoint to learn of accesses.
 * @ep: endpoint
 */
void mxefi_access_setup(struct mxefi_ep *ep);

/**
 * mxefi_access_add() - Make the requests that tell the target of an operation.
 * @op: operation, whose other requests were made
 * @access: its accesses at the target
 * @tail: where its last request has its pointer to the next one
 *
 * To be called if the operation has remote CQ data or the peer wants events.
 *
 * Return: 0, or -FI_EAGAIN if no request is free.
 */
int mxefi_access_add(struct mxefi_op *op, const struct mxefi_access *access,
		     struct mxefi_wr ***tail);

#endif /* MXEFI_ACCESS_H */
