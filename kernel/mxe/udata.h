/* SPDX-License-Identifier: GPL-2.0 */
/* Driver data (udata) of the uverbs commands of a process (udata.c). */
#ifndef MXE_UDATA_H
#define MXE_UDATA_H

#include <rdma/ib_verbs.h>

/**
 * mxe_udata_ucontext() - Get the user context of a verb that a process called.
 * @udata: driver data of the verb
 *
 * Return: the user context.
 */
struct ib_ucontext *mxe_udata_ucontext(struct ib_udata *udata);

/**
 * mxe_udata_in() - Copy a request from the process.
 * @udata: driver data of the verb
 * @req: set to the request; missing bytes are 0
 * @min: minimum length of the request in bytes
 * @size: size of @req in bytes; further bytes of the request must be 0
 *
 * Context: Process context. May sleep.
 * Return: 0, -EINVAL for a bad length or non-zero bytes, or -EFAULT.
 */
int mxe_udata_in(struct ib_udata *udata, void *req, size_t min, size_t size);

/**
 * mxe_udata_cleared() - Check the request of a verb that has no driver data.
 * @udata: driver data of the verb, or NULL for a kernel consumer
 *
 * Context: Process context. May sleep.
 * Return: true if the request is missing or zero.
 */
bool mxe_udata_cleared(struct ib_udata *udata);

/**
 * mxe_udata_out() - Copy a response to the process, as far as it has room.
 * @udata: driver data of the verb
 * @resp: the response
 * @size: size of @resp in bytes
 *
 * Context: Process context. May sleep.
 * Return: 0 or -EFAULT.
 */
int mxe_udata_out(struct ib_udata *udata, const void *resp, size_t size);

#endif /* MXE_UDATA_H */
