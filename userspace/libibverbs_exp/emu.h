/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Emulation of masked atomics on a device with only the standard ones.
 *
 * A masked atomic is emulated by a loop of standard compare-and-swaps. Each try
 * guesses the word, and swaps in the result of the masked atomic on the guess.
 * It returns the old word. If the old word equals the guess, the masked atomic
 * was executed at that moment. Otherwise the try has changed nothing, and the
 * old word is the next guess. The word is thus only ever read by an atomic.
 *
 * To keep the order, requests that are posted after an emulated one are held
 * back until it is done. To hide all this from the program, the library
 * replaces operations of the context (emu_hook.c). Requests on an
 * emulated QP pass through a ring of the library and are posted with its own
 * wr_ids (emu_qp.c). Completions of the send CQ pass through a second ring
 * (emu_cq.c). Requests that wait for a completion continue when the program
 * polls, or after a short time in a thread (emu_progress.c).
 *
 * Locks: emu_qp.lock nests inside emu_cq.lock. Posting takes only emu_qp.lock.
 *
 * A QP is paused before it is destroyed or reset. From then on only the program
 * uses it. If the call fails, the QP is resumed.
 *
 * A forked child has no thread until a QP of its own needs it. A child cannot
 * use the QPs and CQs of its parent, because the kernel refuses that and the
 * device writes to the memory of the parent. The thread of the child does not
 * poll these CQs.
 *
 * The structures precede the functions, which are listed by file, the lowest
 * layer first (see the Makefile).
 */
#ifndef EXP_EMU_H
#define EXP_EMU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "table.h"

/*
 * The original operations of a context. Programs close contexts with
 * ibv_close_device(), which this library may not intercept. An entry is filled
 * in again for a new context at the same address.
 *
 * Of the operations that destroy or reset objects all are NULL if emu_hook.c
 * cannot replace them, because ibv_destroy_qp() and the like are interposed.
 */
struct emu_device {
	struct exp_entry entry;		/* of the context */
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	int (*poll_cq)(struct ibv_cq *cq, int num, struct ibv_wc *wc);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
};

/* Members of a completion that only extended CQs have. */
struct emu_wc_ex {
	uint64_t ts;
	uint64_t wallclock_ns;
	uint32_t flow_tag;
	uint16_t cvlan;
	struct ibv_wc_tm_info tm;
};

#define EMU_QP_BITS 6

enum emu_cq_state {
	EMU_CQ_NONE,	/* no CQ at this address is known */
	EMU_CQ_ALIVE,
	EMU_CQ_DYING,	/* ibv_destroy_cq() has begun, and may fail */
};

/*
 * The send CQ of an emulated QP, or an adopted extended CQ.
 *
 * Entries are found by the address of the CQ. An entry remains after its CQ was
 * destroyed, and is reused for the next CQ at that address. entry, cq and lock
 * never change. busy and process are atomic. lock protects all other members.
 */
struct emu_cq {
	struct exp_entry entry;
	struct ibv_cq *cq;
	pthread_mutex_t lock;

	enum emu_cq_state state;
	pthread_cond_t settled;	/* the state is no longer EMU_CQ_DYING */
	const struct emu_device *device;
	struct emu_qp *qps[1 << EMU_QP_BITS];

	/*
	 * Each QP may have one completion that the program does not expect. The
	 * CQ has room for as many as resized_cqe exceeds base_cqe.
	 */
	uint32_t num_qps;
	int base_cqe;		/* without that room */
	int resized_cqe;	/* size as this library left it */

	struct ibv_cq_ex *ex;	/* NULL: not extended */
	uint64_t wc_flags;	/* with which it was created */
	struct ibv_cq_ex std;	/* copy, for the functions of the provider */
	struct emu_wc_ex now;	/* of the completion being processed */
	struct ibv_wc polled;	/* completion read by the program */
	struct emu_wc_ex polled_ex;

	/* Rings of the completions for the program. */
	struct ibv_wc *wcs;
	struct emu_wc_ex *exs;	/* NULL: not extended */
	uint32_t size;
	uint32_t first;
	uint32_t count;
	uint32_t flushable;	/* maximum number of requests of its QPs */

	/* solicited_only + 1 if the program waits for an event, or 0. */
	int armed;

	uint32_t polls;		/* by the program */
	uint32_t polls_seen;	/* by the thread */
	uint32_t busy;		/* number of QPs that are busy */
	uint32_t process;	/* number of the process that created its QPs */
};

enum emu_kind {
	EMU_PASS,	/* is posted unchanged */
	EMU_ONCE,	/* a standard atomic whose result is converted */
	EMU_CMP_SWAP,	/* a loop */
	EMU_FETCH_ADD,	/* a loop */
	/*
	 * An atomic at an unaligned address, which some providers refuse to
	 * post. An empty write is posted instead. The request fails when that
	 * completes, as if the peer had refused it.
	 */
	EMU_FAIL,
};

/* The operands of a masked atomic, as in RFC 7306. */
struct emu_masked {
	bool is_cmp_swap;
	uint32_t size;		/* of each operand, 1, 2, 4 or 8 bytes */
	uint64_t compare_add;
	uint64_t compare_mask;	/* fetch-and-add: field boundaries */
	uint64_t swap;
	uint64_t swap_mask;
};

/* A request, from its posting by the program until it is done. */
struct emu_wr {
	struct ibv_send_wr std;	/* request or try posted to the device */
	void *posted;		/* the program's request, during the call */
	uint64_t wr_id;		/* of the program */
	enum emu_kind kind;
	bool signaled;		/* the program wants a completion */
	bool probing;		/* the try only tests the buffers */
	int wc_opcode;		/* for the program; 0: the device's */
	enum ibv_wr_opcode opcode;	/* of EMU_ONCE */
	struct emu_masked masked;	/* operands of 8 bytes */
	uint32_t size;		/* of the program's operands and result */
	unsigned int shift;	/* position of the result in the word */
	struct ibv_sge *sges;	/* of the program */
	int num_sge;
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

/* ---- emu_progress.c: the thread ----------------------------------------- */

/* Callbacks of the thread. */
struct emu_progress_ops {
	bool (*is_busy)(void);	/* returns true if requests are in progress */
	void (*tick)(void);	/* continues them */
};

/**
 * emu_progress_start() - Start the thread of the process, unless it runs.
 * @ops: callbacks
 *
 * Return: 0 or a positive errno.
 */
int emu_progress_start(const struct emu_progress_ops *ops);

/**
 * emu_progress_kick() - Wake the thread after is_busy() has become true.
 *
 * Starts it in a forked child. If that fails, only polling continues requests.
 */
void emu_progress_kick(void);

/**
 * emu_progress_process() - Get the number of this process.
 *
 * Return: a number that fork() increments in the child, never 0.
 */
uint32_t emu_progress_process(void);

/* ---- emu_qp.c: queue pairs ---------------------------------------------- */

/**
 * emu_cq_push() - Add a completion for the program.
 * @cq: the CQ, whose lock is held and whose ring has room
 * @wc: the completion
 */
static inline void emu_cq_push(struct emu_cq *cq, const struct ibv_wc *wc)
{
	uint32_t at = (cq->first + cq->count++) % cq->size;

	cq->wcs[at] = *wc;
	if (cq->ex)
		cq->exs[at] = cq->now;
	cq->armed = 0;
}

/**
 * emu_cq_rearm() - Request the next event for a program that waits for one.
 * @cq: the CQ, whose lock is held
 *
 * Called before a request is posted because of a completion that is hidden from
 * the program. That completion may have consumed the requested event.
 */
static inline void emu_cq_rearm(struct emu_cq *cq)
{
	if (cq->armed)
		cq->device->req_notify_cq(cq->cq, cq->armed - 1);
}

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

/* ---- emu_cq.c: completion queues ---------------------------------------- */

/**
 * emu_cq_get() - Get the entry of a CQ, or create it.
 * @device: the device
 * @cq: the CQ
 * @is_new: true if @cq was created just now, so that the state of an earlier CQ
 *	at its address is dropped
 *
 * Return: the entry, or NULL with errno.
 */
struct emu_cq *emu_cq_get(const struct emu_device *device, struct ibv_cq *cq,
			  bool is_new);

/**
 * emu_cq_in_use() - Check if the process has ever had an emulated QP.
 *
 * Return: true if it had.
 */
bool emu_cq_in_use(void);

/**
 * emu_cq_attach() - Attach a new send queue to its CQ.
 * @qp: the send queue
 *
 * Enlarges the CQ if it has no room for the completions that this library hides
 * from the program. If the device cannot do that, the program must provide the
 * room.
 *
 * Return: 0 or a positive errno.
 */
int emu_cq_attach(struct emu_qp *qp);

/**
 * emu_cq_detach() - Undo emu_cq_attach().
 * @qp: the send queue
 */
void emu_cq_detach(struct emu_qp *qp);

/**
 * emu_cq_of() - Find the entry of a CQ that is not being destroyed.
 * @cq: the CQ
 *
 * Return: the entry, or NULL.
 */
struct emu_cq *emu_cq_of(const struct ibv_cq *cq);

/**
 * emu_cq_lock() - Find the entry of any CQ, and lock it.
 * @cq: the CQ
 *
 * Return: the entry, or NULL if the CQ has none.
 */
struct emu_cq *emu_cq_lock(const struct ibv_cq *cq);

/**
 * emu_cq_next() - Move the next completion for the program to @cq->polled.
 * @cq: an extended CQ, whose lock is held
 *
 * Return: 0, ENOENT if there is none, or another positive errno.
 */
int emu_cq_next(struct emu_cq *cq);

/**
 * emu_cq_poll() - Implement ibv_poll_cq().
 * @cq: any CQ
 * @num: as for ibv_poll_cq()
 * @wc: as for ibv_poll_cq()
 * @n: set to the return value of ibv_poll_cq()
 *
 * Return: false if @cq has no entry. Nothing was done then.
 */
bool emu_cq_poll(struct ibv_cq *cq, int num, struct ibv_wc *wc, int *n);

/**
 * emu_cq_notify() - Implement ibv_req_notify_cq().
 * @cq: any CQ
 * @solicited_only: as for ibv_req_notify_cq()
 * @ret: set to the return value of ibv_req_notify_cq()
 *
 * Return: false if @cq has no entry. Nothing was done then.
 */
bool emu_cq_notify(struct ibv_cq *cq, int solicited_only, int *ret);

/**
 * emu_destroy_cq() - Implement ibv_destroy_cq().
 * @cq: any CQ
 * @std: function that destroys it
 *
 * Return: as ibv_destroy_cq().
 */
int emu_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq));

/**
 * emu_cq_any_busy() - Check if the thread has anything to do.
 *
 * Return: true if a CQ of this process has a busy QP.
 */
bool emu_cq_any_busy(void);

/**
 * emu_cq_tick() - Poll the device for all busy CQs that the program has not
 * polled since the last call.
 */
void emu_cq_tick(void);

/* ---- emu_hook.c: the operations of contexts ----------------------------- */

/**
 * emu_hook() - Replace the operations of a context, unless that is done.
 * @context: the context
 *
 * Return: its original operations, or NULL with errno: ENOTSUP if this library
 * would not learn that a QP is destroyed.
 */
const struct emu_device *emu_hook(struct ibv_context *context);

/* ---- emu_cq_ex.c: extended completion queues ----------------------------- */

/**
 * emu_cq_ex_adopt() - Replace the functions of a new extended CQ.
 * @cq: the CQ
 * @wc_flags: IBV_WC_EX_WITH_* flags with which it was created
 *
 * The lock of the CQ is held from ibv_start_poll() to ibv_end_poll().
 *
 * Return: 0 or a positive errno.
 */
int emu_cq_ex_adopt(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif /* EXP_EMU_H */
