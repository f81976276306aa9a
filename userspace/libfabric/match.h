/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Posted receives and unexpected messages. */
#ifndef MXEFI_MATCH_H
#define MXEFI_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "sizes.h"
#include "wire.h"

struct mxefi_cntr;
struct mxefi_conn;
struct mxefi_peer;
struct mxefi_rx;

/* A receive of the program, or one whose data are being read. */
struct mxefi_recv {
	struct mxefi_recv *next;
	struct mxefi_recvs *recvs;
	/* In a shared context: NULL until a message has matched. */
	struct mxefi_rx *rx;
	void *context;
	bool completion;		/* report success to the CQ */
	bool by_rx;			/* also if its context reports all */
	bool has_cntr;			/* of its own, which may be NULL */
	bool holds_cntr;
	struct mxefi_cntr *cntr;
	bool tagged;
	uint64_t tag, ignore;		/* 0 for a message without a tag */
	/* Only matches this peer, which has a connection; or NULL. */
	struct mxefi_peer *from;
	struct iovec iov[MXEFI_IOV_LIMIT];
	void *desc[MXEFI_IOV_LIMIT];
	size_t iov_count;
	/* FI_MULTI_RECV */
	bool multi;
	bool retired;			/* no longer queued */
	unsigned int parts;		/* messages that are being received */
	/* The receive of the whole buffer, which may be this one; or NULL. */
	struct mxefi_recv *parent;
	/* The message. */
	struct mxefi_msg msg;
	struct mxefi_conn *conn;
	uint32_t epoch;			/* of the connection when it arrived */
	/* Requests in flight, and one until all are made. */
	unsigned int reads;
	size_t next_iov, done;		/* what the next one reads */
	int err;
};

/* A message for which no receive was posted. */
struct mxefi_unexpected {
	struct mxefi_unexpected *next;
	struct mxefi_rx *rx;
	struct mxefi_conn *conn;
	uint32_t epoch;			/* of the connection when it arrived */
	void *claim;			/* context of the peek that claimed it */
	struct mxefi_msg msg;
	size_t len;			/* of data */
	uint8_t data[];
};

/* Receives and messages in the order of their arrival. */
struct mxefi_queue {
	struct mxefi_recv *recvs, **recvs_tail;
	struct mxefi_unexpected *unexpected, **unexpected_tail;
};

/* The queues of a receive context, or those that endpoints share (srx.c). */
struct mxefi_recvs {
	struct mxefi_queue queues[2];	/* messages, and tagged messages */
	struct mxefi_unexpected *claimed;
	size_t min_multi_recv;
};

void mxefi_match_setup(struct mxefi_recvs *recvs);
int mxefi_match_set_min(struct mxefi_recvs *recvs, const void *optval,
			size_t optlen);
void mxefi_match_teardown(struct mxefi_recvs *recvs);
void mxefi_match_forget(const struct mxefi_rx *rx);
struct mxefi_recv *mxefi_match_new(struct mxefi_recvs *recvs,
				   struct mxefi_peer *from,
				   struct mxefi_cntr *cntr);
void mxefi_match_free(struct mxefi_recv *recv);
struct mxefi_recv *mxefi_match_arrival(struct mxefi_rx *rx,
				       const struct mxefi_conn *conn,
				       const struct mxefi_msg *msg);
struct mxefi_recv *mxefi_match_post(struct mxefi_recv *recv, bool first,
				    struct mxefi_unexpected **found);
bool mxefi_match_is_posted(struct mxefi_recvs *recvs,
			   const struct mxefi_recv *recv);
struct mxefi_unexpected *mxefi_match_find(const struct mxefi_recv *recv);
void mxefi_match_keep(struct mxefi_unexpected *u);
void mxefi_match_unlink(struct mxefi_unexpected *u);
struct mxefi_recv *mxefi_match_cancel(struct mxefi_recvs *recvs,
				      const void *context, bool any);
void mxefi_match_claim(struct mxefi_unexpected *u, void *context);
struct mxefi_unexpected *mxefi_match_claimed(struct mxefi_recvs *recvs,
					     const void *context);

#endif /* MXEFI_MATCH_H */
