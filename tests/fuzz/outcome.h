/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts what the inputs of the packet target have reached (outcome.c), so that
 * a run notices if a part of the engine is not tested any more.
 */
#ifndef FUZZ_OUTCOME_H
#define FUZZ_OUTCOME_H

#include <linux/types.h>

/**
 * outcome_before() - Look at a packet before it is received.
 * @bth: the packet, from the BTH on
 * @len: its length
 */
void outcome_before(const u8 *bth, size_t len);

/**
 * outcome_after() - Look at the effect of the packet of outcome_before().
 */
void outcome_after(void);

/**
 * outcome_end() - Add the counters of an input, before its world is destroyed.
 */
void outcome_end(void);

/**
 * outcome_report() - Print how often each outcome was reached, one in a line.
 */
void outcome_report(void);

#endif /* FUZZ_OUTCOME_H */
