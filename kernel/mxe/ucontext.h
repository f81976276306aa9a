/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protection domains and user contexts (ucontext.c). The contracts of the verbs
 * are those of the members of struct ib_device_ops with the same names.
 */
#ifndef MXE_UCONTEXT_H
#define MXE_UCONTEXT_H

#include <rdma/ib_verbs.h>

struct mxe_pd {
	struct ib_pd ibpd;
};

/* Lifetime: outlives all objects of the process, including QPs and files. */
struct mxe_ucontext {
	struct ib_ucontext ibuc;
};

int mxe_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mxe_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int mxe_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata);
int mxe_query_ucontext(struct ib_ucontext *uctx,
		       struct uverbs_attr_bundle *attrs);
void mxe_dealloc_ucontext(struct ib_ucontext *uctx);
void mxe_disassociate_ucontext(struct ib_ucontext *uctx);

#endif /* MXE_UCONTEXT_H */
