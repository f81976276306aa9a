/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The options of the self-test. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

/*
 * Default time limits.  A device gives up retransmitting after 8 timeouts of
 * 0.5 s, and may round each up to 2 s, so its error arrives before
 * ST_COMPLETION_MS.
 */
#define ST_COMPLETION_MS 30000
#define ST_CASE_MS 120000

struct st_options {
	unsigned int port;	/* 0: the first one that is active */
	int gid_index;		/* -1: chosen by link layer and type */
	uint32_t seed;
	unsigned int count;	/* pseudo-random operand sets of each case */
	unsigned int completion_ms;
	unsigned int case_ms;
};

#endif /* OPTIONS_H */
