/* SPDX-License-Identifier: GPL-2.0 */
/* Driver data (udata) of the uverbs commands of a process (udata.c). */
#ifndef MXE_UDATA_H
#define MXE_UDATA_H

#include <rdma/ib_verbs.h>

struct ib_ucontext *mxe_udata_ucontext(struct ib_udata *udata);

int mxe_udata_in(struct ib_udata *udata, void *req, size_t min, size_t size);
bool mxe_udata_cleared(struct ib_udata *udata);
int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size);

#endif /* MXE_UDATA_H */
