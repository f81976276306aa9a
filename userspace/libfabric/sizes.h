/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sizes of queues, buffers and messages. */
#ifndef MXEFI_SIZES_H
#define MXEFI_SIZES_H

#include <stddef.h>

#include "wire.h"

#define MXEFI_IOV_LIMIT 4
#define MXEFI_BUF_SIZE 4096	/* bytes of data in a work buffer */
#define MXEFI_INJECT_SIZE 1024	/* bytes */
#define MXEFI_TX_SIZE 512	/* operations of an endpoint */
#define MXEFI_RX_SIZE 512	/* receive buffers of an endpoint */
/*
 * Requests of a connection, at first and at most, and its READs and atomics in
 * flight. With 4 and 12, the kernel memory of mxe for them is a page, and 1 KiB
 * for each of the two.
 */
#define MXEFI_SQ_MIN 4
#define MXEFI_SQ_SIZE 128
#define MXEFI_RD_ATOMIC 12
/* Bytes of the longest SEND. */
#define MXEFI_RX_BUF (sizeof(struct mxefi_msg) + MXEFI_BUF_SIZE)
/* Longest message or RMA, in bytes. */
#define MXEFI_MAX_MSG_SIZE ((size_t)1 << 30)

#define MXEFI_MAX_CTX 16	/* contexts of a scalable endpoint */

#endif /* MXEFI_SIZES_H */
