// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The memory of requests: each has a registered buffer of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "domain.h"
#include "ep.h"
#include "peer.h"
#include "sizes.h"
#include "wire.h"
#include "wr.h"

#define WR_CHUNK 32
/* Limits the pinned memory of an endpoint to 32 MiB. */
#define MAX_WRS 8192

/* Work requests are allocated in chunks with registered buffers. */
struct wr_chunk {
	struct mxefi_wr wrs[WR_CHUNK];
	struct ibv_mr *mr;
	struct mxefi_wr *next_chunk;
	uint8_t buf[WR_CHUNK][MXEFI_RX_BUF] __attribute__((aligned(64)));
};

/* Allocates a chunk. Returns false if memory is short. */
static bool add_chunk(struct mxefi_ep *ep, struct mxefi_wr **list,
		      bool is_spare)
{
	struct wr_chunk *chunk = aligned_alloc(64, sizeof(*chunk));

	if (!chunk)
		return false;
	memset(chunk, 0, offsetof(struct wr_chunk, buf));
	chunk->mr = ibv_reg_mr(ep->dom->pd, chunk->buf, sizeof(chunk->buf),
			       IBV_ACCESS_LOCAL_WRITE);
	if (!chunk->mr) {
		free(chunk);
		return false;
	}
	chunk->next_chunk = ep->wrs;
	ep->wrs = chunk->wrs;
	for (int i = 0; i < WR_CHUNK; i++) {
		chunk->wrs[i].buf = chunk->buf[i];
		chunk->wrs[i].lkey = chunk->mr->lkey;
		chunk->wrs[i].wr.wr_id = (uintptr_t)&chunk->wrs[i].work;
		chunk->wrs[i].wr.sg_list = chunk->wrs[i].sge;
		chunk->wrs[i].masked.wr_id = chunk->wrs[i].wr.wr_id;
		chunk->wrs[i].masked.sg_list = chunk->wrs[i].sge;
		chunk->wrs[i].is_spare = is_spare;
		chunk->wrs[i].next = *list;
		*list = &chunk->wrs[i];
	}
	return true;
}

static bool grow_wrs(struct mxefi_ep *ep)
{
	if (ep->num_wrs >= MAX_WRS || !add_chunk(ep, &ep->free_wrs, false))
		return false;
	ep->num_wrs += WR_CHUNK;
	return true;
}

/**
 * mxefi_wr_setup() - Reserve requests for answers.
 * @ep: endpoint
 *
 * Return: 0 or -FI_ENOMEM. Then mxefi_wr_free_all() has to be called, too.
 */
int mxefi_wr_setup(struct mxefi_ep *ep)
{
	return add_chunk(ep, &ep->spare_wrs, true) ? 0 : -FI_ENOMEM;
}

static void dereg_mrs(struct mxefi_wr *wr)
{
	for (int i = 0; i < MXEFI_IOV_LIMIT; i++) {
		if (wr->mrs[i])
			ibv_dereg_mr(wr->mrs[i]);
		wr->mrs[i] = NULL;
	}
	wr->has_mrs = false;
}

/* Ends the requests of a chunk that the device has not completed. */
static void end_all(struct wr_chunk *chunk)
{
	for (int i = 0; i < WR_CHUNK; i++) {
		struct mxefi_wr *wr = &chunk->wrs[i];

		if (!wr->peer)
			continue;
		wr->complete(wr, FI_ECANCELED);
		if (wr->has_mrs)
			dereg_mrs(wr);
	}
}

/**
 * mxefi_wr_flush() - Complete all posted requests as the device would.
 * @ep: endpoint
 * @status: status of the completions
 */
void mxefi_wr_flush(struct mxefi_ep *ep, enum ibv_wc_status status)
{
	const struct ibv_wc wc = { .status = status };
	struct mxefi_wr *wrs = ep->wrs;

	while (wrs) {
		for (int i = 0; i < WR_CHUNK; i++)
			if (wrs[i].posted)
				wrs[i].work.done(&wrs[i].work, &wc);
		wrs = container_of(wrs, struct wr_chunk, wrs[0])->next_chunk;
	}
}

/**
 * mxefi_wr_free_all() - Free the memory of all requests of an endpoint.
 * @ep: endpoint, which is closing and has no queue pairs
 *
 * Requests that the device has not completed end with FI_ECANCELED.
 */
void mxefi_wr_free_all(struct mxefi_ep *ep)
{
	while (ep->wrs) {
		struct wr_chunk *chunk =
			container_of(ep->wrs, struct wr_chunk, wrs[0]);

		ep->wrs = chunk->next_chunk;
		end_all(chunk);
		ibv_dereg_mr(chunk->mr);
		free(chunk);
	}
	ep->free_wrs = NULL;
	ep->spare_wrs = NULL;
}

static inline __attribute__((always_inline))
struct mxefi_wr *take(struct mxefi_wr **list, struct mxefi_peer *peer)
{
	struct mxefi_wr *wr = *list;

	*list = wr->next;
	wr->next = NULL;
	wr->peer = peer;
	wr->op = NULL;
	wr->loop = false;
	wr->is_message = false;
	wr->is_access = false;
	wr->is_answer = false;
	wr->recv = NULL;
	wr->unit = NULL;
	/* The user of the request sets what its opcode needs of the rest. */
	wr->wr.num_sge = 0;
	wr->wr.send_flags = IBV_SEND_SIGNALED;
	wr->is_masked = false;
	return wr;
}

/**
 * mxefi_wr_alloc() - Allocate a request.
 * @peer: peer
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_wr_alloc(struct mxefi_peer *peer)
{
	struct mxefi_ep *ep = peer->ep;

	if (!ep->free_wrs && !grow_wrs(ep))
		return NULL;
	return take(&ep->free_wrs, peer);
}

/**
 * mxefi_wr_alloc_answer() - Allocate a request that a peer waits for.
 * @peer: peer
 *
 * Operations of the program may have taken all requests but those that are
 * reserved for answers.
 *
 * Return: the request, or NULL if these are in use, too.
 */
struct mxefi_wr *mxefi_wr_alloc_answer(struct mxefi_peer *peer)
{
	struct mxefi_wr *wr = mxefi_wr_alloc(peer);

	if (!wr && peer->ep->spare_wrs)
		wr = take(&peer->ep->spare_wrs, peer);
	return wr;
}

/**
 * mxefi_wr_free() - Free a request that is not in flight.
 * @wr: request
 */
void mxefi_wr_free(struct mxefi_wr *wr)
{
	struct mxefi_ep *ep = wr->peer->ep;
	struct mxefi_wr **list = wr->is_spare ? &ep->spare_wrs : &ep->free_wrs;

	if (wr->has_mrs)
		dereg_mrs(wr);
	wr->peer = NULL;
	wr->next = *list;
	*list = wr;
}

/**
 * mxefi_wr_free_list() - Free the requests of an operation.
 * @wr: the first, linked by next, or NULL. None is in flight.
 */
void mxefi_wr_free_list(struct mxefi_wr *wr)
{
	while (wr) {
		struct mxefi_wr *next = wr->next;

		mxefi_wr_free(wr);
		wr = next;
	}
}

/**
 * mxefi_wr_add() - Add local memory to a request.
 * @wr: request
 * @buf: local memory
 * @len: its length in bytes
 * @desc: descriptor of its memory region, or NULL
 * @access: access that the request needs (IBV_ACCESS_*)
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_wr_add(struct mxefi_wr *wr, void *buf, size_t len, void *desc,
		 int access)
{
	int n = wr->wr.num_sge;
	struct ibv_mr *mr = desc;

	if (!len)
		return 0;
	if (n == MXEFI_IOV_LIMIT || len > UINT32_MAX)
		return -FI_EINVAL;
	if (!mr) {
		mr = ibv_reg_mr(wr->peer->ep->dom->pd, buf, len, access);
		if (!mr)
			return -errno;
		wr->mrs[n] = mr;
		wr->has_mrs = true;
	}
	wr->sge[n].addr = (uintptr_t)buf;
	wr->sge[n].length = (uint32_t)len;
	wr->sge[n].lkey = mr->lkey;
	wr->wr.num_sge++;
	return 0;
}

/**
 * mxefi_wr_set_send() - Make a SEND of a header and the bytes after it.
 * @wr: request
 * @msg: header
 * @len: number of bytes, which the caller copies to the buffer
 */
void mxefi_wr_set_send(struct mxefi_wr *wr, const struct mxefi_msg *msg,
		       size_t len)
{
	memcpy(wr->buf, msg, sizeof(*msg));
	wr->wr.opcode = IBV_WR_SEND;
	wr->sge[0].addr = (uintptr_t)wr->buf;
	wr->sge[0].length = (uint32_t)(sizeof(*msg) + len);
	wr->sge[0].lkey = wr->lkey;
	wr->wr.num_sge = 1;
}

/**
 * mxefi_wr_set_conn() - Name the connection of a message over DC.
 * @wr: SEND
 * @token: token of the peer
 * @qpn: number of the connection of the peer
 */
void mxefi_wr_set_conn(struct mxefi_wr *wr, uint64_t token, uint32_t qpn)
{
	struct mxefi_msg *msg = (struct mxefi_msg *)wr->buf;

	msg->token = token;
	msg->qpn = qpn;
}

/**
 * mxefi_wr_alloc_send() - Make a SEND of a header and the bytes after it.
 * @peer: peer
 * @msg: header
 * @len: number of bytes, which the caller copies to the buffer
 *
 * Return: the request, or NULL if memory is short.
 */
struct mxefi_wr *mxefi_wr_alloc_send(struct mxefi_peer *peer,
				     const struct mxefi_msg *msg, size_t len)
{
	struct mxefi_wr *wr = mxefi_wr_alloc(peer);

	if (wr)
		mxefi_wr_set_send(wr, msg, len);
	return wr;
}
