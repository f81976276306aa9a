/* SPDX-License-Identifier: GPL-2.0 */
/* Driver data (udata) of the uverbs commands of a process (udata.c). */
#ifndef MXE_UDATA_H
#define MXE_UDATA_H

#include <rdma/ib_verbs.h>

struct ib_ucontext *mxe_udata_ucontext(struct ib_udata *udata);

/*
 * Copy a request of at least @min bytes from the process. Missing bytes of @req
 * are 0. Bytes beyond @size must be 0.
 * Context: Process context. May sleep.
 * Return: 0, -EINVAL for a bad length or non-zero bytes, or -EFAULT.
 */
int mxe_udata_in(struct ib_udata *udata, void *req, size_t min, size_t size);

/*
 * Check that the request of a verb that has no driver data is missing or zero.
 * @udata is NULL for a kernel consumer.
 * Context: Process context. May sleep.
 */
bool mxe_udata_cleared(struct ib_udata *udata);

/*
 * Copy a response of @size bytes to the process, as far as it has room.
 * Context: Process context. May sleep.
 * Return: 0 or -EFAULT.
 */
int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size);

#endif /* MXE_UDATA_H */
