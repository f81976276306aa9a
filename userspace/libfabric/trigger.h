/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers fire when a counter has reached a threshold. */
#ifndef MXEFI_TRIGGER_H
#define MXEFI_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "domain.h"

struct mxefi_cntr;

struct mxefi_trigger {
	struct mxefi_trigger *next;
	struct mxefi_cntr *cntr;
	uint64_t threshold;		/* of successes and errors */
	bool is_waiting;		/* and counted as a user of cntr */
	/* Returns false if it has to be called again after some progress. */
	bool (*fire)(struct mxefi_trigger *trigger);
};

void mxefi_trigger_add(struct mxefi_trigger *trigger);
void mxefi_trigger_remove(struct mxefi_domain *dom,
			  struct mxefi_trigger *trigger);
void mxefi_trigger_check(struct mxefi_cntr *cntr);
void mxefi_trigger_fire_all(struct mxefi_domain *dom);

/**
 * mxefi_trigger_fire() - Do what counters have triggered, if anything.
 * @dom: domain
 *
 * To be called where operations may be started: at the end of the calls of the
 * program, and of mxefi_progress().
 */
static inline void mxefi_trigger_fire(struct mxefi_domain *dom)
{
	if (dom->fired)
		mxefi_trigger_fire_all(dom);
}

#endif /* MXEFI_TRIGGER_H */
