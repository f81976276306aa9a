// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The slow path of the lock of a domain: waiting, and waking other threads. The
 * functions of lock.h call it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mxefi.h"

/* libc has no function for this system call. */
static void futex(uint32_t *word, int op, uint32_t value,
		  const struct timespec *until)
{
	int err = errno;

	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, until, NULL,
		FUTEX_BITSET_MATCH_ANY);
	errno = err;
}

void mxefi_lock_take_slowly(struct mxefi_lock *lock)
{
	/* From now on, mxefi_lock_release() wakes a thread. */
	while (__atomic_exchange_n(&lock->state, MXEFI_LOCK_WANTED,
				   __ATOMIC_ACQUIRE))
		futex(&lock->state, FUTEX_WAIT, MXEFI_LOCK_WANTED, NULL);
}

void mxefi_lock_wake_one(struct mxefi_lock *lock)
{
	futex(&lock->state, FUTEX_WAKE, 1, NULL);
}

void mxefi_lock_sleep(struct mxefi_lock *lock, const struct timespec *until)
{
	uint32_t wakes = __atomic_load_n(&lock->wakes, __ATOMIC_RELAXED);

	lock->sleepers++;
	mxefi_lock_release(lock);
	/* Returns at once if mxefi_lock_wake_all() has run since. */
	futex(&lock->wakes, FUTEX_WAIT_BITSET, wakes, until);
	mxefi_lock_take(lock);
	lock->sleepers--;
}

void mxefi_lock_wake_all(struct mxefi_lock *lock)
{
	__atomic_fetch_add(&lock->wakes, 1, __ATOMIC_RELAXED);
	futex(&lock->wakes, FUTEX_WAKE, INT_MAX, NULL);
}
