/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Mutexes across fork(). */
#ifndef EXP_FORK_H
#define EXP_FORK_H

#include <pthread.h>

/**
 * EXP_FORK_HOLD() - Hold a mutex of the file across fork().
 * @name: part of the names of the functions that this defines
 * @mutex: the mutex
 *
 * In a forked child only the thread that called fork() exists. A mutex that
 * another thread held would stay locked in the child, and the data that it
 * protects could be incomplete.
 *
 * The order in which the mutexes are locked is that of linking. Therefore the
 * holder of one must not wait for another one.
 */
#define EXP_FORK_HOLD(name, mutex)					\
	static void name ## _fork_hold(void)				\
	{								\
		pthread_mutex_lock(&(mutex));				\
	}								\
									\
	static void name ## _fork_release(void)				\
	{								\
		pthread_mutex_unlock(&(mutex));				\
	}								\
									\
	__attribute__((constructor)) static void name ## _fork_register(void) \
	{								\
		pthread_atfork(name ## _fork_hold, name ## _fork_release, \
			       name ## _fork_release);			\
	}

#endif /* EXP_FORK_H */
