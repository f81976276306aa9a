/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protection domains and user contexts are compared, and hold little else
 * (ucontext.c).
 */
#ifndef MXE_UCONTEXT_H
#define MXE_UCONTEXT_H

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

int mxe_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mxe_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mxe_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata);
void mxe_dealloc_ucontext(struct ib_ucontext *uctx);
void mxe_disassociate_ucontext(struct ib_ucontext *uctx);

#endif /* MXE_UCONTEXT_H */
