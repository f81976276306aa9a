/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lock of a domain, and waiting for events under it. Each call of the
 * program takes the lock, which is usually free. Without function calls, it
 * costs a tenth of a mutex.
 */
#ifndef MXEFI_LOCK_H
#define MXEFI_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum {
	MXEFI_LOCK_FREE,
	MXEFI_LOCK_TAKEN,
	MXEFI_LOCK_WANTED,	/* taken, and threads may wait for it */
};

/* All zeros is a free lock. */
struct mxefi_lock {
	uint32_t state;
	uint32_t wakes;		/* counts mxefi_lock_wake_all() */
	unsigned int sleepers;	/* threads in mxefi_lock_sleep() */
};

/**
 * mxefi_lock_take_slowly() - Waits for a lock. See mxefi_lock_take().
 * @lock: lock
 */
void mxefi_lock_take_slowly(struct mxefi_lock *lock);

/**
 * mxefi_lock_wake_one() - Wakes a thread that waits. See mxefi_lock_release().
 * @lock: lock
 */
void mxefi_lock_wake_one(struct mxefi_lock *lock);

/**
 * mxefi_lock_take() - Takes a lock.
 * @lock: lock that this thread does not have
 */
static inline void mxefi_lock_take(struct mxefi_lock *lock)
{
	uint32_t state = MXEFI_LOCK_FREE;

	if (!__atomic_compare_exchange_n(&lock->state, &state,
					 MXEFI_LOCK_TAKEN, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		mxefi_lock_take_slowly(lock);
}

/**
 * mxefi_lock_release() - Releases a lock.
 * @lock: lock that this thread has
 */
static inline void mxefi_lock_release(struct mxefi_lock *lock)
{
	if (__atomic_exchange_n(&lock->state, MXEFI_LOCK_FREE,
				__ATOMIC_RELEASE) == MXEFI_LOCK_WANTED)
		mxefi_lock_wake_one(lock);
}

/**
 * mxefi_lock_sleep() - Releases a lock until it is woken or the time is over.
 * @lock: lock that this thread has, and has again afterwards
 * @until: end of the wait on CLOCK_MONOTONIC
 */
void mxefi_lock_sleep(struct mxefi_lock *lock, const struct timespec *until);

/**
 * mxefi_lock_wake_all() - Ends mxefi_lock_sleep() of all threads.
 * @lock: lock that this thread has
 */
void mxefi_lock_wake_all(struct mxefi_lock *lock);

#endif /* MXEFI_LOCK_H */
