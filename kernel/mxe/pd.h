/* SPDX-License-Identifier: GPL-2.0 */
/* Protection domains and user contexts: only their identity matters. */
#ifndef MXE_PD_H
#define MXE_PD_H

#include <rdma/ib_verbs.h>

struct mxe_pd {
	struct ib_pd ibpd;
};

struct mxe_sqpoll_set;

/* Lifetime: outlives the objects of the process, its queue pairs and files. */
struct mxe_ucontext {
	struct ib_ucontext ibuc;
	struct mxe_sqpoll_set *sqpoll_set;	/* owned; see sqpoll.h */
};

static inline struct mxe_ucontext *to_muctx(struct ib_ucontext *uctx)
{
	return container_of(uctx, struct mxe_ucontext, ibuc);
}

/* The user context of a verb that a process called. */
struct ib_ucontext *mxe_udata_ucontext(struct ib_udata *udata);

int mxe_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mxe_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mxe_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata);
void mxe_dealloc_ucontext(struct ib_ucontext *uctx);
void mxe_disassociate_ucontext(struct ib_ucontext *uctx);

/*
 * Copy a request of `size` bytes, of which at least `min` must be there.  A
 * longer one must be zero in what is not known here.  0 or -EINVAL, -EFAULT.
 */
int mxe_udata_in(struct ib_udata *udata, void *req, size_t min, size_t size);
/* A command of which no request of ours is known: none, or zeros, is there. */
bool mxe_udata_cleared(struct ib_udata *udata);
/* Copy as much of a response as the caller has room for. */
int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size);

#endif /* MXE_PD_H */
