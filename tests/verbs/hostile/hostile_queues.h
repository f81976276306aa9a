/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The queues that t_hostile_budget keeps full, one kind for each attack. */
#ifndef HOSTILE_QUEUES_H
#define HOSTILE_QUEUES_H

#include "hostile.h"

struct hostile_attack {
	const char *name;
	/*
	 * Opens the devices, fills the send queue without a doorbell, and adds
	 * its ring first. Sets the doorbell record for this queue.
	 */
	void (*open)(struct hostile_rings *rings);
	/* Requests complete before the doorbell call returns. */
	bool completes_in_call;
	/* The kernel checks the queue without a doorbell. */
	bool rings_itself;
};

/* Ends with an entry without a name. */
extern const struct hostile_attack hostile_attacks[];

#endif /* HOSTILE_QUEUES_H */
