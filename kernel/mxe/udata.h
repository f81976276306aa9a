/* SPDX-License-Identifier: GPL-2.0 */
/* A process and the driver exchange udata beside the arguments of a verb (udata.c). */
#ifndef MXE_UDATA_H
#define MXE_UDATA_H

#include <rdma/ib_verbs.h>

/* The user context of a verb that a process called. */
struct ib_ucontext *mxe_udata_ucontext(struct ib_udata *udata);
/*
 * Copy a request of `size` bytes, of which at least `min` must be there.  A
 * longer one must be zero in what is not known here.  0 or -EINVAL, -EFAULT.
 */
int mxe_udata_in(struct ib_udata *udata, void *req, size_t min, size_t size);
/* A command of which no request of ours is known: none, or zeros, is there. */
bool mxe_udata_cleared(struct ib_udata *udata);
/* Copy as much of a response as the caller has room for. */
int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size);

#endif /* MXE_UDATA_H */
