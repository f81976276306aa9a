/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The queues of an endpoint. */
#ifndef MXEFI_QUEUES_H
#define MXEFI_QUEUES_H

#include <stdint.h>

#include "progress.h"

struct mxefi_ep;

/* A receive buffer of the SRQ. */
struct mxefi_rxbuf {
	struct mxefi_work work;
	struct mxefi_rxbuf *next;	/* if it is held */
	struct mxefi_ep *ep;
	uint8_t *buf;
};

int mxefi_queues_setup(struct mxefi_ep *ep);
void mxefi_queues_teardown(struct mxefi_ep *ep);
void mxefi_queues_resume(struct mxefi_ep *ep);

#endif /* MXEFI_QUEUES_H */
