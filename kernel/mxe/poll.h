/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polling: a thread of a process, in the kernel, that looks at its send queues
 * so that posting takes no system call.
 */
#ifndef MXE_POLL_H
#define MXE_POLL_H

#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/wait.h>

struct files_struct;
struct mxe_qp;
struct mxe_ucontext;

enum mxe_poller_flags {
	MXE_POLLER_RUNNING,		/* by one thread */
	MXE_POLLER_STOP,		/* for ever */
	MXE_POLLER_KICKED,		/* a doorbell was rung */
};

/*
 * Lifetime: part of a uverbs object, whose file the thread that runs it holds.
 * The object may die before, with the context or the device: then uctx becomes
 * NULL, and a grace period is waited for, so that the thread, which reads it
 * with bottom halves off, has let go of the context.  It is not waited for
 * otherwise: a process may stand still in it for as long as it likes.
 */
struct mxe_poller {
	struct mxe_ucontext __rcu *uctx;	/* NULL: dead */
	unsigned long flags;		/* bits of enum mxe_poller_flags */
	struct files_struct *owner;	/* of who runs it; compared only */
	wait_queue_head_t wait;		/* of who runs it, while idle */
};

/* A context has one.  0 or -EBUSY. */
int mxe_poller_init(struct mxe_poller *poller, struct mxe_ucontext *uctx);
/* The object dies.  Context: may sleep. */
void mxe_poller_detach(struct mxe_poller *poller);

/*
 * Poll in the calling thread until stopped (0), a signal comes (-ERESTARTSYS),
 * the thread has other things to do (-EINTR), or the poller dies (-EIO).
 */
int mxe_poller_run(struct mxe_poller *poller, u32 idle_us);
void mxe_poller_stop(struct mxe_poller *poller);
/* Those files are closing the poller: if theirs is who runs it he stops. */
void mxe_poller_closed(struct mxe_poller *poller, const void *files);

/* A doorbell was rung for the queue pair.  Context: bottom halves off. */
void mxe_poller_wake(struct mxe_qp *qp);

/* A queue pair that may be polled comes, and goes.  Others are left alone. */
int mxe_poller_add(struct mxe_qp *qp);
/* True if it was there; it may be looked at until a grace period is over. */
bool mxe_poller_remove(struct mxe_qp *qp);

#endif /* MXE_POLL_H */
