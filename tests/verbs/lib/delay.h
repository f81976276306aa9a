/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control of mxe_delay.ko, which delays look-ups, for tests that delayed.sh
 * runs. The look-ups run on CPU 0, the test on CPU 1.
 */
#ifndef DELAY_H
#define DELAY_H

#include <pthread.h>
#include <stdbool.h>

/**
 * delay_begin() - Move the caller to CPU 1.
 *
 * Skips the whole program if there is no second CPU.
 */
void delay_begin(void);

/* A thread on CPU 0 calls send(arg), so CPU 0 also receives the packet. */
struct delay {
	void (*send)(void *arg);
	void *arg;
	unsigned long ended;
	pthread_t thread;
};

/**
 * delay_request() - Start d->send() on CPU 0 and wait until a look-up is held.
 * @d: delay, with the callback
 * @us: duration for which the look-up is held, in microseconds
 */
void delay_request(struct delay *d, unsigned long us);

/**
 * delay_is_held() - Check whether the look-up is still held.
 * @d: delay
 *
 * Return: true if it is still held.
 */
bool delay_is_held(const struct delay *d);

/**
 * delay_end() - End the delays and wait until d->send() has returned.
 * @d: delay
 */
void delay_end(struct delay *d);

#endif /* DELAY_H */
