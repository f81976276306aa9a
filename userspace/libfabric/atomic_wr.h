/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The requests of atomic operations. */
#ifndef MXEFI_ATOMIC_WR_H
#define MXEFI_ATOMIC_WR_H

#include <stddef.h>
#include <stdint.h>

struct mxefi_op;
struct mxefi_unit;
struct mxefi_wr;

struct mxefi_wr *mxefi_atomic_wr(struct mxefi_op *op, struct mxefi_unit *unit,
				 uint64_t key, size_t first);

#endif /* MXEFI_ATOMIC_WR_H */
