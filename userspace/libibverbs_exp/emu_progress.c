// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A thread that continues emulated requests while the program does not poll the
 * CQ, because other hosts may wait for their effect. backend_emu.c starts it
 * and passes the callbacks. emu_busy.c wakes it.
 *
 * It runs once per millisecond while requests are in the loop and for
 * EMU_IDLE_TICKS afterwards. Otherwise it sleeps. Thus a program that polls
 * rarely has to wake it.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "emu.h"

#define EMU_TICK_NS 1000000
#define EMU_IDLE_TICKS 50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool started;	/* protected by lock */
static bool asleep;	/* written under lock */

/*
 * No wakeup is lost: this stores asleep before it calls is_busy(), and the
 * other side makes is_busy() true before it loads asleep. All of these are
 * sequentially consistent, so at least one side sees the store of the other.
 */
static void sleep_until_kicked(const struct emu_progress_ops *ops)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&asleep, true, __ATOMIC_SEQ_CST);
	while (!ops->is_busy())
		pthread_cond_wait(&wake, &lock);
	__atomic_store_n(&asleep, false, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&lock);
}

void emu_progress_kick(void)
{
	if (!__atomic_load_n(&asleep, __ATOMIC_SEQ_CST))
		return;
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
}

static void *progress(void *arg)
{
	const struct emu_progress_ops *ops = arg;
	const struct timespec pause = { .tv_nsec = EMU_TICK_NS };
	int idle = 0;

	for (;;) {
		if (ops->is_busy())
			idle = 0;
		else if (++idle > EMU_IDLE_TICKS)
			sleep_until_kicked(ops);
		nanosleep(&pause, NULL);
		ops->tick();
	}
	return NULL;
}

/*
 * Creates the thread with all signals blocked, so that the threads of the
 * program handle them.
 */
int emu_progress_start(const struct emu_progress_ops *ops)
{
	sigset_t all, old;
	pthread_t thread;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!started) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		err = pthread_create(&thread, NULL, progress,
				     (void *)ops);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		if (!err)
			pthread_detach(thread);
		started = !err;
	}
	pthread_mutex_unlock(&lock);
	return err;
}
