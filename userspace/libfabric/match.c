// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posted receives and unexpected messages of an endpoint, and how they match.
 * Messages and tagged messages have queues of their own.
 *
 * A receive with FI_MULTI_RECV stays queued while its buffer has room. Each of
 * its messages gets a receive of its own for the next part of the buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "cntr.h"
#include "conn.h"
#include "ep.h"
#include "match.h"
#include "queues.h"
#include "wire.h"

#define MIN_MULTI_RECV 64	/* bytes; the default */

/**
 * mxefi_match_new() - Allocate a receive.
 * @recvs: queues that it is for
 * @from: peer that it is from, or NULL
 * @cntr: counter of its own, or NULL
 *
 * Return: the receive, whose other members are 0, or NULL if memory is short.
 */
struct mxefi_recv *mxefi_match_new(struct mxefi_recvs *recvs,
				   struct mxefi_peer *from,
				   struct mxefi_cntr *cntr)
{
	/* calloc() does not use the cache of the thread. */
	struct mxefi_recv *recv = malloc(sizeof(*recv));

	if (!recv)
		return NULL;
	*recv = (struct mxefi_recv){
		.recvs = recvs,
		.from = from,
		.cntr = cntr,
		.holds_cntr = cntr,
	};
	if (from)
		to_conn(from)->kept++;
	if (cntr)
		cntr->users++;
	return recv;
}

/**
 * mxefi_match_free() - Free a receive that is not queued.
 * @recv: receive
 */
void mxefi_match_free(struct mxefi_recv *recv)
{
	if (recv->from)
		to_conn(recv->from)->kept--;
	if (recv->holds_cntr)
		recv->cntr->users--;
	free(recv);
}

static bool matches(const struct mxefi_recv *recv,
		    const struct mxefi_conn *conn, const struct mxefi_msg *msg)
{
	return (!recv->from || recv->from == &conn->peer) &&
	       !((recv->tag ^ msg->tag) & ~recv->ignore);
}

static struct mxefi_queue *queue_of(struct mxefi_recvs *recvs, bool tagged)
{
	return &recvs->queues[tagged];
}

static void unlink_recv(struct mxefi_queue *q, struct mxefi_recv **p)
{
	*p = (*p)->next;
	if (!*p)
		q->recvs_tail = p;
}

/*
 * Makes the receive of a message for the next part of a buffer. If memory is
 * short, the receive of the buffer itself takes the message, and the rest of
 * the buffer is not used: later messages must not overtake this one.
 */
static struct mxefi_recv *split(struct mxefi_queue *q, struct mxefi_recv **p,
				size_t len)
{
	struct mxefi_recv *multi = *p, *part;
	struct iovec *left = &multi->iov[0];

	multi->parts++;
	part = malloc(sizeof(*part));
	if (!part) {
		multi->parent = multi;
		multi->retired = true;
		unlink_recv(q, p);
		return multi;
	}
	*part = *multi;
	part->next = NULL;
	part->multi = false;
	part->from = NULL;
	part->holds_cntr = false;
	part->parts = 0;
	part->parent = multi;
	if (len > left->iov_len)
		len = left->iov_len;
	left->iov_base = (uint8_t *)left->iov_base + len;
	left->iov_len -= len;
	if (left->iov_len < multi->recvs->min_multi_recv) {
		multi->retired = true;
		unlink_recv(q, p);
	}
	return part;
}

/* Takes the receive at @p for a message of a receive context. */
static struct mxefi_recv *take(struct mxefi_queue *q, struct mxefi_recv **p,
			       const struct mxefi_msg *msg, struct mxefi_rx *rx)
{
	struct mxefi_recv *recv = *p;

	if (recv->multi)
		recv = split(q, p, msg->len);
	else
		unlink_recv(q, p);
	recv->rx = rx;
	return recv;
}

/**
 * mxefi_match_arrival() - Take the receive that a message matches.
 * @rx: receive context that the message is for
 * @conn: its connection
 * @msg: message
 *
 * Return: the receive, which is no longer queued, or NULL.
 */
struct mxefi_recv *mxefi_match_arrival(struct mxefi_rx *rx,
				       const struct mxefi_conn *conn,
				       const struct mxefi_msg *msg)
{
	struct mxefi_queue *q = queue_of(rx->recvs,
					 msg->flags & MXEFI_MSG_TAGGED);
	struct mxefi_recv **p;

	for (p = &q->recvs; *p; p = &(*p)->next)
		if (matches(*p, conn, msg))
			return take(q, p, msg, rx);
	return NULL;
}

/**
 * mxefi_match_post() - Queue a receive and match it with a message.
 * @recv: receive
 * @first: false if the receive is queued already
 * @found: the message, if there is one. The caller frees it.
 *
 * Return: the receive of the message, or NULL if the receive remains queued.
 */
struct mxefi_recv *mxefi_match_post(struct mxefi_recv *recv, bool first,
				    struct mxefi_unexpected **found)
{
	struct mxefi_queue *q = queue_of(recv->recvs, recv->tagged);
	struct mxefi_recv **p;

	if (first) {
		recv->next = NULL;
		*q->recvs_tail = recv;
		q->recvs_tail = &recv->next;
	}
	*found = mxefi_match_find(recv);
	if (!*found)
		return NULL;
	for (p = &q->recvs; *p != recv; p = &(*p)->next)
		;
	recv = take(q, p, &(*found)->msg, (*found)->rx);
	mxefi_match_unlink(*found);
	return recv;
}

/**
 * mxefi_match_is_posted() - Check whether a buffer may get further messages.
 * @recvs: queues
 * @recv: receive with FI_MULTI_RECV, which may have been freed
 *
 * Return: true if the receive is queued.
 */
bool mxefi_match_is_posted(struct mxefi_recvs *recvs,
			   const struct mxefi_recv *recv)
{
	const struct mxefi_recv *posted = queue_of(recvs, false)->recvs;

	while (posted && posted != recv)
		posted = posted->next;
	return posted;
}

/**
 * mxefi_match_find() - Find the first unexpected message for a receive.
 * @recv: receive
 *
 * Return: the message, which remains queued, or NULL.
 */
struct mxefi_unexpected *mxefi_match_find(const struct mxefi_recv *recv)
{
	struct mxefi_queue *q = queue_of(recv->recvs, recv->tagged);
	struct mxefi_unexpected *u, *next;

	for (u = q->unexpected; u; u = next) {
		next = u->next;
		if (u->msg.type != MXEFI_MSG_EAGER &&
		    !mxefi_conn_is_current(u->conn, u->epoch)) {
			/* The sender has reported an error. */
			mxefi_match_unlink(u);
			free(u);
		} else if (matches(recv, u->conn, &u->msg)) {
			return u;
		}
	}
	return NULL;
}

/**
 * mxefi_match_keep() - Queue an unexpected message.
 * @u: message
 */
void mxefi_match_keep(struct mxefi_unexpected *u)
{
	struct mxefi_ep *ep = u->rx->ep;
	struct mxefi_queue *q = queue_of(u->rx->recvs,
					 u->msg.flags & MXEFI_MSG_TAGGED);

	u->conn->kept++;
	u->next = NULL;
	*q->unexpected_tail = u;
	q->unexpected_tail = &u->next;
	ep->unexpected_bytes += sizeof(*u) + u->len;
}

/**
 * mxefi_match_unlink() - Remove an unexpected message from its queue.
 * @u: message
 */
void mxefi_match_unlink(struct mxefi_unexpected *u)
{
	struct mxefi_ep *ep = u->rx->ep;
	struct mxefi_queue *q = queue_of(u->rx->recvs,
					 u->msg.flags & MXEFI_MSG_TAGGED);
	struct mxefi_unexpected **p;

	for (p = &q->unexpected; *p != u; p = &(*p)->next)
		;
	*p = u->next;
	if (!*p)
		q->unexpected_tail = p;
	u->conn->kept--;
	ep->unexpected_bytes -= sizeof(*u) + u->len;
	mxefi_queues_resume(ep);
}

/**
 * mxefi_match_cancel() - Remove a posted receive.
 * @recvs: queues
 * @context: context of the receive
 * @any: true removes the first one, whatever its context is
 *
 * Return: the receive, or NULL if there is none.
 */
struct mxefi_recv *mxefi_match_cancel(struct mxefi_recvs *recvs,
				      const void *context, bool any)
{
	for (int i = 0; i < 2; i++) {
		struct mxefi_queue *q = &recvs->queues[i];
		struct mxefi_recv **p, *recv;

		for (p = &q->recvs; *p; p = &(*p)->next) {
			recv = *p;
			if (!any && recv->context != context)
				continue;
			unlink_recv(q, p);
			recv->retired = true;
			return recv;
		}
	}
	return NULL;
}

/**
 * mxefi_match_claim() - Reserve an unexpected message.
 * @u: message
 * @context: context of the program
 */
void mxefi_match_claim(struct mxefi_unexpected *u, void *context)
{
	mxefi_match_unlink(u);
	u->conn->kept++;
	u->claim = context;
	u->next = u->rx->recvs->claimed;
	u->rx->recvs->claimed = u;
}

/**
 * mxefi_match_claimed() - Take a claimed message.
 * @recvs: queues
 * @context: context of the claim
 *
 * Return: the message, or NULL.
 */
struct mxefi_unexpected *mxefi_match_claimed(struct mxefi_recvs *recvs,
					     const void *context)
{
	struct mxefi_unexpected **p, *u;

	for (p = &recvs->claimed; *p; p = &(*p)->next) {
		u = *p;
		if (u->claim != context)
			continue;
		*p = u->next;
		u->conn->kept--;
		return u;
	}
	return NULL;
}

/**
 * mxefi_match_setup() - Prepare queues.
 * @recvs: queues, all zeros
 */
void mxefi_match_setup(struct mxefi_recvs *recvs)
{
	recvs->min_multi_recv = MIN_MULTI_RECV;
	for (int i = 0; i < 2; i++) {
		recvs->queues[i].recvs_tail = &recvs->queues[i].recvs;
		recvs->queues[i].unexpected_tail = &recvs->queues[i].unexpected;
	}
}

/**
 * mxefi_match_forget() - Free the unexpected messages of a receive context.
 * @rx: receive context, which shares queues with others
 *
 * The connections of the messages may be gone.
 */
void mxefi_match_forget(const struct mxefi_rx *rx)
{
	for (int i = 0; i < 2; i++) {
		struct mxefi_queue *q = &rx->recvs->queues[i];
		struct mxefi_unexpected **p = &q->unexpected, *u;

		while (*p) {
			u = *p;
			if (u->rx != rx) {
				p = &u->next;
				continue;
			}
			*p = u->next;
			free(u);
		}
		q->unexpected_tail = p;
	}
}

/**
 * mxefi_match_set_min() - Set FI_OPT_MIN_MULTI_RECV.
 * @recvs: queues
 * @optval: value
 * @optlen: its length
 *
 * Return: 0 or -FI_EINVAL.
 */
int mxefi_match_set_min(struct mxefi_recvs *recvs, const void *optval,
			size_t optlen)
{
	if (optlen != sizeof(size_t))
		return -FI_EINVAL;
	/* A buffer with less room than a byte is full. */
	recvs->min_multi_recv = *(const size_t *)optval ? : 1;
	return 0;
}

static void free_messages(struct mxefi_unexpected *u)
{
	while (u) {
		struct mxefi_unexpected *next = u->next;

		free(u);
		u = next;
	}
}

/**
 * mxefi_match_teardown() - Free posted receives and unexpected messages.
 * @recvs: queues
 */
void mxefi_match_teardown(struct mxefi_recvs *recvs)
{
	for (int i = 0; i < 2; i++) {
		while (recvs->queues[i].recvs) {
			struct mxefi_recv *recv = recvs->queues[i].recvs;

			recvs->queues[i].recvs = recv->next;
			/* The connection is gone. */
			recv->from = NULL;
			mxefi_match_free(recv);
		}
		free_messages(recvs->queues[i].unexpected);
	}
	free_messages(recvs->claimed);
}
