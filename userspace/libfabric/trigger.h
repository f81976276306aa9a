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

/**
 * mxefi_trigger_add() - Wait for a counter.
 * @trigger: trigger with its counter, its threshold and its callback
 *
 * The callback may be due at once: mxefi_trigger_fire() has to be called then.
 */
void mxefi_trigger_add(struct mxefi_trigger *trigger);

/**
 * mxefi_trigger_remove() - Remove a trigger that has not fired.
 * @dom: domain
 * @trigger: trigger, whose counter need not exist any more if it does not wait
 */
void mxefi_trigger_remove(struct mxefi_domain *dom,
			  struct mxefi_trigger *trigger);

/**
 * mxefi_trigger_check() - Find out what a counter has triggered.
 * @cntr: counter that has changed
 *
 * It happens when mxefi_trigger_fire() is called.
 */
void mxefi_trigger_check(struct mxefi_cntr *cntr);

/**
 * mxefi_trigger_fire_all() - Do what counters have triggered.
 * @dom: domain
 */
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
