// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The poll thread, a thread of the process that runs in the kernel and polls
 * the send queues of a context. mxedv.c starts and stops it. device.c stops it
 * before it frees the context.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "mxe.h"

/*
 * The ioctl returns EINTR whenever the thread has other work to do. Until it is
 * called again, posting rings the doorbell.
 */
static void *mxe_poll_thread(void *arg)
{
	const struct mxe_poll_thread *poll = arg;
	const struct mxe_poll_run run = { .idle_us = poll->idle_us };
	int fd = poll->fd;

	while (ioctl(fd, MXE_IOC_POLL_RUN, &run) && errno == EINTR)
		;
	return NULL;
}

/*
 * Creates the thread with all signals blocked, so that the threads of the
 * program handle them. Returns 0 or a positive errno.
 */
static int mxe_poll_thread_create(struct mxe_poll_thread *poll)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	ret = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (ret)
		return ret;
	ret = pthread_create(&poll->thread, NULL, mxe_poll_thread, poll);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

static int mxe_alloc_poller(struct mxe_context *ctx, int *fd)
{
	struct ib_uverbs_attr attr = {
		.attr_id = MXE_ATTR_POLLER_ALLOC_FD,
	};
	int ret;

	ret = mxe_ioctl_optional(&ctx->vctx.context, MXE_OBJECT_POLLER,
				 MXE_METHOD_POLLER_ALLOC, &attr, 1);
	if (ret)
		return ret;
	*fd = attr.data_s64;
	return 0;
}

/* Called with poll.lock held. */
static int mxe_poll_thread_run(struct mxe_context *ctx, uint32_t idle_us)
{
	struct mxe_poll_thread *poll = &ctx->poll;
	int ret;

	if (poll->pid)
		return EBUSY;
	ret = mxe_alloc_poller(ctx, &poll->fd);
	if (ret)
		return ret;
	poll->idle_us = idle_us;
	ret = mxe_poll_thread_create(poll);
	if (ret) {
		close(poll->fd);
		return ret;
	}
	poll->pid = getpid();
	return 0;
}

/*
 * After fork() the thread runs only in the parent. The child just closes its
 * copy of the file.
 */
static int mxe_poll_thread_end(struct mxe_poll_thread *poll)
{
	if (!poll->pid)
		return ENOENT;
	if (poll->pid == getpid()) {
		ioctl(poll->fd, MXE_IOC_POLL_STOP);
		pthread_join(poll->thread, NULL);
	}
	close(poll->fd);
	poll->pid = 0;
	return 0;
}

int mxe_poll_thread_start(struct mxe_context *ctx, uint32_t idle_us)
{
	int ret;

	pthread_mutex_lock(&ctx->poll.lock);
	ret = mxe_poll_thread_run(ctx, idle_us);
	pthread_mutex_unlock(&ctx->poll.lock);
	return ret;
}

int mxe_poll_thread_stop(struct mxe_context *ctx)
{
	int ret;

	pthread_mutex_lock(&ctx->poll.lock);
	ret = mxe_poll_thread_end(&ctx->poll);
	pthread_mutex_unlock(&ctx->poll.lock);
	return ret;
}

void mxe_poll_thread_init(struct mxe_context *ctx)
{
	pthread_mutex_init(&ctx->poll.lock, NULL);
}

void mxe_poll_thread_free(struct mxe_context *ctx)
{
	mxe_poll_thread_end(&ctx->poll);
	pthread_mutex_destroy(&ctx->poll.lock);
}
