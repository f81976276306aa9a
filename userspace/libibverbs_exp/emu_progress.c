// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A thread that continues emulated requests while the program does not poll the
 * CQ, because other hosts may wait for their effect.
 *
 * It runs once per millisecond while requests are in the loop and for
 * EMU_IDLE_TICKS afterwards. Otherwise it sleeps. Thus a program that polls
 * rarely has to wake it.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "emu_progress.h"

#define EMU_TICK_NS 1000000
#define EMU_IDLE_TICKS 50

enum emu_thread {
	EMU_THREAD_NONE,
	EMU_THREAD_RUNNING,
	EMU_THREAD_ASLEEP,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static enum emu_thread state;	/* atomic, written under lock */
static const struct emu_progress_ops *progress_ops;	/* protected by lock */

/*
 * Held by the thread while it continues requests, and by fork(), so that the
 * thread holds no other lock at fork(). Outside all other locks.
 */
static pthread_mutex_t tick_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t process = 1;	/* changes only in the child, in fork() */

static void set_state(enum emu_thread new)
{
	__atomic_store_n(&state, new, __ATOMIC_SEQ_CST);
}

/*
 * No wakeup is lost: this stores the state before it calls is_busy(), and the
 * other side makes is_busy() true before it loads the state. All of these are
 * sequentially consistent, so at least one side sees the store of the other.
 */
static void sleep_until_kicked(const struct emu_progress_ops *ops)
{
	pthread_mutex_lock(&lock);
	set_state(EMU_THREAD_ASLEEP);
	while (!ops->is_busy())
		pthread_cond_wait(&wake, &lock);
	set_state(EMU_THREAD_RUNNING);
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
		pthread_mutex_lock(&tick_lock);
		ops->tick();
		pthread_mutex_unlock(&tick_lock);
	}
	return NULL;
}

/*
 * Creates the thread with signals blocked, so that the threads of the program
 * handle them. Signals that an instruction of the thread causes cannot be
 * handled by another thread. Blocked, they would kill the process without its
 * handler being called.
 */
static int create_thread(const struct emu_progress_ops *ops)
{
	static const int own[] = {
		SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, 0,
	};
	sigset_t blocked, old;
	pthread_t thread;
	int err, i;

	sigfillset(&blocked);
	for (i = 0; own[i]; i++)
		sigdelset(&blocked, own[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	err = pthread_create(&thread, NULL, progress, (void *)ops);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_detach(thread);
	return err;
}

/* Creates the thread, unless the process has it. The caller holds lock. */
static int start(void)
{
	int err;

	if (state != EMU_THREAD_NONE)
		return 0;
	err = create_thread(progress_ops);
	if (!err)
		set_state(EMU_THREAD_RUNNING);
	return err;
}

/**
 * emu_progress_start() - Start the thread of the process, unless it runs.
 * @ops: callbacks
 *
 * Return: 0 or a positive errno.
 */
int emu_progress_start(const struct emu_progress_ops *ops)
{
	int err;

	pthread_mutex_lock(&lock);
	progress_ops = ops;
	err = start();
	pthread_mutex_unlock(&lock);
	return err;
}

/**
 * emu_progress_kick() - Wake the thread after is_busy() has become true.
 *
 * Starts it in a forked child. If that fails, only polling continues requests.
 */
void emu_progress_kick(void)
{
	if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) == EMU_THREAD_RUNNING)
		return;
	pthread_mutex_lock(&lock);
	start();
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
}

/**
 * emu_progress_process() - Get the number of this process.
 *
 * Return: a number that fork() increments in the child, never 0.
 */
uint32_t emu_progress_process(void)
{
	return process;
}

/* ---- fork() -------------------------------------------------------------- */

static void fork_hold(void)
{
	pthread_mutex_lock(&tick_lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&tick_lock);
}

/*
 * The child has no thread. Another thread of the parent may have held lock,
 * which protects nothing else that matters to the child.
 */
static void fork_child(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&wake, NULL);
	set_state(EMU_THREAD_NONE);
	process++;
	pthread_mutex_unlock(&tick_lock);
}

__attribute__((constructor)) static void fork_register(void)
{
	pthread_atfork(fork_hold, fork_parent, fork_child);
}
