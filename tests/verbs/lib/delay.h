/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Look-ups that mxe_delay.ko holds, for tests that delayed.sh runs.  What looks up
 * runs on CPU 0, the test on CPU 1.
 */
#ifndef DELAY_H
#define DELAY_H

#include <pthread.h>
#include <stdbool.h>

/* Ends the program with a skip if there is no second CPU, and moves to CPU 1. */
void delay_begin(void);

/* send(arg) sends a packet, by a thread on CPU 0, where that is received. */
struct delay {
	void (*send)(void *arg);
	void *arg;
	unsigned long ended;
	pthread_t thread;
};

/* Returns when a look-up for the packet is held, for that many microseconds. */
void delay_request(struct delay *d, unsigned long us);
/* True if the look-up is still held. */
bool delay_is_held(const struct delay *d);
/* Ends the delays, and waits for the end of send(). */
void delay_end(struct delay *d);

#endif /* DELAY_H */
