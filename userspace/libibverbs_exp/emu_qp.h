/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The send queues of emulated QPs. */
#ifndef EXP_EMU_QP_H
#define EXP_EMU_QP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "emu_cq.h"

struct emu_wr;

/* The operands of a masked atomic, as in RFC 7306. */
struct emu_masked {
	bool is_cmp_swap;
	uint32_t size;		/* of each operand, 1, 2, 4 or 8 bytes */
	uint64_t compare_add;
	uint64_t compare_mask;	/* fetch-and-add: field boundaries */
	uint64_t swap;
	uint64_t swap_mask;
};

/* A range of one region to which the device was able to write. */
struct emu_range {
	uint32_t lkey;
	uint64_t begin;
	uint64_t end;
};

#define EMU_RANGES 4

/*
 * An emulated QP. Requests are numbered in the order of posting by the program.
 * Those from done to head are in the ring, and those from posted to head are
 * not at the device yet.
 *
 * Owned by the entry in qp_table.c. The lock of cq protects next. lock protects
 * the members below it. The others do not change after creation.
 */
struct emu_qp {
	struct emu_qp *next;
	uint64_t tag;		/* upper bits of its wr_ids at the device */

	struct ibv_qp *qp;
	const struct emu_device *device;
	struct emu_cq *cq;
	bool sig_all;
	bool be_reply;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t size;		/* entries of the ring */
	struct emu_wr *wrs;
	struct ibv_sge *sges;
	char *inlines;
	void *page;		/* one page, for the result of a try */
	struct ibv_mr *mr;
	struct ibv_sge result;

	pthread_mutex_t lock;
	uint64_t done;
	uint64_t posted;
	uint64_t head;
	bool busy;		/* request posted - 1 is in the loop */
	bool paused;		/* the QP must not be used */
	bool has_late;		/* ... and its request in the loop completed */
	struct ibv_wc late;
	struct emu_wc_ex late_ex;
	uint64_t guess;
	/* The value that the last emulated request left in its word. */
	uint64_t last_addr;
	uint32_t last_rkey;
	uint64_t last_word;
	struct emu_range ranges[EMU_RANGES];
	unsigned int next_range;
	unsigned int deregs;	/* when a range was last used */
};

/* The low bits of a wr_id are the low bits of the number of the request. */
#define EMU_SEQ_BITS 18
#define EMU_SEQ_MASK ((1ull << EMU_SEQ_BITS) - 1)

/**
 * emu_qp_new() - Create the send queue of an emulated QP.
 * @device: the device
 * @qp: its new QP
 * @cap: capabilities of @qp, as the provider returned them
 * @sig_all: true if @qp was created with sq_sig_all
 * @be_reply: true if results are big-endian
 *
 * The caller passes it to emu_cq_attach() next.
 *
 * Return: the send queue, or NULL with errno.
 */
struct emu_qp *emu_qp_new(const struct emu_device *device, struct ibv_qp *qp,
			  const struct ibv_qp_cap *cap, bool sig_all,
			  bool be_reply);

/**
 * emu_qp_free() - Free the send queue of an emulated QP.
 * @qp: the send queue, not attached
 */
void emu_qp_free(struct emu_qp *qp);

/**
 * emu_qp_set_busy() - Note whether a request of the QP is in the loop.
 * @qp: the send queue, locked, or paused with the lock of its CQ held
 * @busy: true if one is: the thread continues it
 */
void emu_qp_set_busy(struct emu_qp *qp, bool busy);

/**
 * emu_qp_pause() - Stop using the QP before it is destroyed or reset.
 * @qp: the send queue, which may be paused already
 */
void emu_qp_pause(struct emu_qp *qp);

/**
 * emu_qp_resume() - Use the QP again after that has failed.
 * @qp: the send queue
 */
void emu_qp_resume(struct emu_qp *qp);

/**
 * emu_qp_reset() - Drop all requests after the QP was reset, and resume.
 * @qp: the send queue
 */
void emu_qp_reset(struct emu_qp *qp);

/**
 * emu_qp_forget_buffers() - Check the buffers of all QPs again.
 *
 * To be called after a region was deregistered: its lkey is no longer valid,
 * and may be that of another region later.
 */
void emu_qp_forget_buffers(void);

/**
 * emu_qp_post_begin() - Begin to post a list of requests.
 * @qp: the send queue, which is locked until emu_qp_post_end()
 */
void emu_qp_post_begin(struct emu_qp *qp);

/**
 * emu_qp_post_add() - Add a request to the list.
 * @qp: the send queue
 * @std: the request; for a masked atomic, without opcode and operands
 * @masked: operands of a masked atomic, or NULL
 * @wr: the request as the program passed it, of any type
 *
 * Return: 0, EINVAL, or ENOMEM if the send queue is full.
 */
int emu_qp_post_add(struct emu_qp *qp, const struct ibv_send_wr *std,
		    const struct emu_masked *masked, void *wr);

/**
 * emu_qp_post_end() - Post the added requests.
 * @qp: the send queue
 * @wr: request that the caller did not add because of *@err, or NULL
 * @err: 0 or the errno of @wr; set to the errno of the device if that refuses
 *	one of the requests
 *
 * Return: the first request that was not posted, or NULL.
 */
void *emu_qp_post_end(struct emu_qp *qp, void *wr, int *err);

/**
 * emu_qp_completion() - Process a completion of the device.
 * @qp: send queue, the lock of whose CQ is held
 * @wc: the completion, with a wr_id of @qp
 */
void emu_qp_completion(struct emu_qp *qp, const struct ibv_wc *wc);

#endif /* EXP_EMU_QP_H */
