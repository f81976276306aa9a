// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A trigger fires when a counter has reached a threshold. Triggers fire in the
 * order of their thresholds, those of the same one in the order in which they
 * were added (fi_trigger(3)). If there is no room for the operation of one, it
 * is tried again later. The others do not wait for it.
 */
#include "cntr.h"
#include "domain.h"
#include "trigger.h"

static void append(struct mxefi_trigger **list, struct mxefi_trigger *trigger)
{
	while (*list)
		list = &(*list)->next;
	trigger->next = NULL;
	*list = trigger;
}

/* The count that thresholds are compared with. */
static uint64_t events_of(const struct mxefi_cntr *cntr)
{
	return cntr->value + cntr->errors;
}

/**
 * mxefi_trigger_add() - Wait for a counter.
 * @trigger: trigger with its counter, its threshold and its callback
 *
 * The callback may be due at once: mxefi_trigger_fire() has to be called then.
 */
void mxefi_trigger_add(struct mxefi_trigger *trigger)
{
	struct mxefi_domain *dom = trigger->cntr->dom;
	struct mxefi_trigger **p = &dom->triggers;

	trigger->is_waiting = events_of(trigger->cntr) < trigger->threshold;
	if (!trigger->is_waiting) {
		append(&dom->fired, trigger);
		return;
	}
	trigger->cntr->users++;
	while (*p && (*p)->threshold <= trigger->threshold)
		p = &(*p)->next;
	trigger->next = *p;
	*p = trigger;
}

/* Removes the trigger at @p from those that wait. */
static struct mxefi_trigger *stop_waiting(struct mxefi_trigger **p)
{
	struct mxefi_trigger *trigger = *p;

	*p = trigger->next;
	trigger->is_waiting = false;
	trigger->cntr->users--;
	return trigger;
}

/**
 * mxefi_trigger_remove() - Remove a trigger that has not fired.
 * @dom: domain
 * @trigger: trigger, whose counter need not exist any more if it does not wait
 */
void mxefi_trigger_remove(struct mxefi_domain *dom,
			  struct mxefi_trigger *trigger)
{
	struct mxefi_trigger **p = trigger->is_waiting ? &dom->triggers :
							 &dom->fired;

	while (*p != trigger)
		p = &(*p)->next;
	if (trigger->is_waiting)
		stop_waiting(p);
	else
		*p = trigger->next;
}

/**
 * mxefi_trigger_check() - Find out what a counter has triggered.
 * @cntr: counter that has changed
 *
 * It happens when mxefi_trigger_fire() is called.
 */
void mxefi_trigger_check(struct mxefi_cntr *cntr)
{
	struct mxefi_domain *dom = cntr->dom;
	struct mxefi_trigger **p = &dom->triggers;
	uint64_t count = events_of(cntr);

	while (*p && (*p)->threshold <= count) {
		if ((*p)->cntr == cntr)
			append(&dom->fired, stop_waiting(p));
		else
			p = &(*p)->next;
	}
}

/**
 * mxefi_trigger_fire_all() - Do what counters have triggered.
 * @dom: domain
 */
void mxefi_trigger_fire_all(struct mxefi_domain *dom)
{
	struct mxefi_trigger **p = &dom->fired;

	/* Starting an operation may change counters, and make progress. */
	if (dom->is_firing)
		return;
	dom->is_firing = true;
	dom->firing++;
	while (*p) {
		struct mxefi_trigger *trigger = *p;

		*p = trigger->next;
		if (trigger->fire(trigger))
			continue;
		/* Others may not have to wait. */
		trigger->next = *p;
		*p = trigger;
		p = &trigger->next;
	}
	dom->is_firing = false;
}
