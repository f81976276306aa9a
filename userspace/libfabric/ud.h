/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* UD queue pairs, over which hellos are exchanged. */
#ifndef MXEFI_UD_H
#define MXEFI_UD_H

#include <stdbool.h>
#include <stdint.h>

#include "progress.h"
#include "wire.h"

struct ibv_mr;
struct ibv_qp;
struct mxefi_ah;
struct mxefi_domain;
struct mxefi_name;

struct mxefi_ud_buf {
	struct mxefi_work work;
	struct mxefi_ud *ud;
	/* Room for a GRH, a hello and its data. */
	uint8_t data[40 + sizeof(struct mxefi_hello) + MXEFI_CM_DATA];
};

struct mxefi_ud {
	struct mxefi_domain *dom;
	struct mxefi_addr name;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct mxefi_ud_buf *bufs;	/* receive buffers, then send buffers */
	struct mxefi_work sent;
	uint32_t service;		/* UDP port, set before opening; or 0 */
	struct mxefi_name *listener;	/* on that port, or NULL */
	unsigned int posted, slot;
	bool closing;
	/* Called for a valid hello. */
	void (*on_hello)(struct mxefi_ud *ud, const struct mxefi_hello *hello,
			 const uint8_t *data);
};

int mxefi_ud_open(struct mxefi_ud *ud, struct mxefi_domain *dom);
void mxefi_ud_close(struct mxefi_ud *ud);
void mxefi_ud_send(struct mxefi_ud *ud, const struct mxefi_addr *to,
		   struct mxefi_ah *ah, struct mxefi_hello *hello,
		   const void *data);

#endif /* MXEFI_UD_H */
