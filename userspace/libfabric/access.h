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

void mxefi_access_setup(struct mxefi_ep *ep);
int mxefi_access_add(struct mxefi_op *op, const struct mxefi_access *access,
		     struct mxefi_wr ***tail);

#endif /* MXEFI_ACCESS_H */
