/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On a device that has only the standard atomics, a masked one is one
 * compare-and-swap after the other, each of which guesses the word and swaps what the
 * masked atomic makes of the guess.  It returns the word as it was.  If that is the
 * guess, the masked atomic was done at that moment; if not, nothing was done, and the
 * word is the next guess.  So every try reads by an atomic.
 *
 * So that nothing overtakes such a request, those behind it stay here until it is
 * done.  So that the program sees none of this, what it calls through
 * ibv_context.ops is replaced (emu_hook.c): all that it posts to an emulated
 * queue pair goes through a ring of this library (emu_qp.c) with a wr_id of this
 * library, and all that it polls from its send completion queue through a list
 * (emu_cq.c).  What waits for a completion goes on when the program polls, or
 * after a moment by a thread (emu_progress.c).
 *
 * Locks: emu_cq.lock, then emu_qp.lock.  Posting takes only the second one.
 *
 * The structures come first, then the functions by file, the lowest layer first (see the
 * Makefile).
 */
#ifndef EXP_EMU_H
#define EXP_EMU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "table.h"

/*
 * Contexts are closed with ibv_close_device(), which this library may not see.
 * An entry is filled anew when there is another context at that address.
 */
struct emu_device {
	struct exp_entry entry;		/* of the context */
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	int (*poll_cq)(struct ibv_cq *cq, int num, struct ibv_wc *wc);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
};

/* What only an extended completion queue tells of a completion. */
struct emu_wc_ex {
	uint64_t ts;
	uint64_t wallclock_ns;
	uint32_t flow_tag;
	uint16_t cvlan;
	struct ibv_wc_tm_info tm;
};

#define EMU_QP_BITS 6

/*
 * A completion queue to which an emulated queue pair sends.
 *
 * Found by its address, and kept when it is destroyed, for the next one at that
 * address.  `entry`, `cq` and `lock` never change; `busy` is atomic; all else is
 * protected by lock.
 */
struct emu_cq {
	struct exp_entry entry;
	struct ibv_cq *cq;
	pthread_mutex_t lock;

	bool active;		/* this completion queue has not been destroyed */
	const struct emu_device *device;
	struct emu_qp *qps[1 << EMU_QP_BITS];

	struct ibv_cq_ex *ex;	/* NULL: not extended */
	uint64_t wc_flags;	/* of its creation */
	struct ibv_cq_ex std;	/* only for the device's calls, which it had */
	struct emu_wc_ex now;	/* of what is being sorted out */
	struct ibv_wc polled;	/* between ibv_start_poll() and ibv_end_poll() */
	struct emu_wc_ex polled_ex;

	/* The program's completions: rings. */
	struct ibv_wc *wcs;
	struct emu_wc_ex *exs;	/* NULL: not extended */
	uint32_t size;
	uint32_t first;
	uint32_t count;
	uint32_t flushable;	/* requests that its queue pairs may hold */

	/* The program waits for an event: solicited_only + 1, or 0. */
	int armed;

	uint32_t polls;		/* by the program */
	uint32_t polls_seen;	/* by the thread */
	uint32_t busy;		/* queue pairs with a request in the loop */
};

enum emu_kind {
	EMU_PASS,	/* goes to the device as it is */
	EMU_ONCE,	/* a standard atomic whose result is converted */
	EMU_CMP_SWAP,	/* a loop */
	EMU_FETCH_ADD,	/* a loop */
	/*
	 * Not at a multiple of 8, which some providers refuse to post: an empty
	 * write in its place says when the peer would have refused it.
	 */
	EMU_FAIL,
};

/* The operands of a masked atomic, as in RFC 7306. */
struct emu_masked {
	bool is_cmp_swap;
	uint64_t compare_add;
	uint64_t compare_mask;	/* FETCH_ADD: the field boundaries */
	uint64_t swap;
	uint64_t swap_mask;
};

/* A request, from when it is posted by the program until it is done. */
struct emu_wr {
	struct ibv_send_wr std;	/* the device's: of a loop, the try */
	void *posted;		/* the program's, while it is being posted */
	uint64_t wr_id;		/* the program's */
	enum emu_kind kind;
	bool signaled;		/* for the program */
	bool probing;		/* the try is one of the program's buffers */
	int wc_opcode;		/* for the program; 0: the device's */
	enum ibv_wr_opcode opcode;	/* of EMU_ONCE */
	struct emu_masked masked;
	struct ibv_sge *sges;	/* the program's */
	int num_sge;
};

/* Memory of one region that the device has been seen to write. */
struct emu_range {
	uint32_t lkey;
	uint64_t begin;
	uint64_t end;
};

#define EMU_RANGES 4

/*
 * An emulated queue pair.  Requests are numbered as they are posted: those from
 * `done` on are in the ring, those from `posted` on not yet at the device.
 *
 * Owned by the entry in qp_table.c.  `next` is protected by the lock of cq;
 * what is not set at creation, by lock.
 */
struct emu_qp {
	struct emu_qp *next;
	uint64_t tag;		/* of its wr_ids, as the device knows them */

	struct ibv_qp *qp;
	const struct emu_device *device;
	struct emu_cq *cq;
	bool sig_all;
	bool be_reply;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t size;		/* of the ring */
	struct emu_wr *wrs;
	struct ibv_sge *sges;
	char *inlines;
	void *page;		/* of its own: the result of a try */
	struct ibv_mr *mr;
	struct ibv_sge result;

	pthread_mutex_t lock;
	uint64_t done;
	uint64_t posted;
	uint64_t head;
	bool busy;		/* request posted - 1 is in the loop */
	uint64_t guess;
	/* What this queue pair has left in the word it has changed last. */
	uint64_t last_addr;
	uint32_t last_rkey;
	uint64_t last_word;
	struct emu_range ranges[EMU_RANGES];
	unsigned int next_range;
};

/* The low bits of a wr_id number the request. */
#define EMU_SEQ_BITS 18
#define EMU_SEQ_MASK ((1ull << EMU_SEQ_BITS) - 1)

/* ---- emu_progress.c: the thread ----------------------------------------- */

/* What the thread calls. */
struct emu_progress_ops {
	bool (*is_busy)(void);	/* there is something to do */
	void (*tick)(void);	/* does it */
};

/* Starts the thread, once; 0 or errno. */
int emu_progress_start(const struct emu_progress_ops *ops);
/* Wakes the thread, because there is something to do. */
void emu_progress_kick(void);

/* ---- emu_busy.c: which queue pairs have a request in the loop ------------ */

/* A queue pair that sends to cq begins, or ends, to have a request in the loop. */
void emu_busy_set(struct emu_cq *cq, bool busy);
/* cq has been destroyed, and its queue pairs with it. */
void emu_busy_clear(struct emu_cq *cq);
bool emu_busy_any(void);

/* ---- emu_qp.c: queue pairs ---------------------------------------------- */

/* A completion for the program.  There is room.  Under lock. */
static inline void emu_cq_push(struct emu_cq *cq, const struct ibv_wc *wc)
{
	uint32_t at = (cq->first + cq->count++) % cq->size;

	cq->wcs[at] = *wc;
	if (cq->ex)
		cq->exs[at] = cq->now;
	cq->armed = 0;
}

/*
 * Called before a request is posted because of a completion that the program does not
 * see: that one may have used up the event that the program waits for.
 */
static inline void emu_cq_rearm(struct emu_cq *cq)
{
	if (cq->armed)
		cq->device->req_notify_cq(cq->cq, cq->armed - 1);
}

/* cap is what the device has given; NULL with errno.  To be attached. */
struct emu_qp *emu_qp_new(const struct emu_device *device, struct ibv_qp *qp,
			  const struct ibv_qp_cap *cap, bool sig_all,
			  bool be_reply);
void emu_qp_free(struct emu_qp *qp);
/* Its queues are empty. */
void emu_qp_reset(struct emu_qp *qp);

/*
 * Requests are added between emu_qp_post_begin() and emu_qp_post_end().  `wr` is the
 * program's request, of any type.
 */
void emu_qp_post_begin(struct emu_qp *qp);
int emu_qp_post_add(struct emu_qp *qp, const struct ibv_send_wr *std,
		    const struct emu_masked *masked, void *wr);
/*
 * Posts those added.  `wr` is the request that was refused with *err, or NULL.
 * Returns the first one that is not posted; if it is another, sets *err to its errno.
 */
void *emu_qp_post_end(struct emu_qp *qp, void *wr, int *err);

/* A completion of the device, under the lock of cq. */
void emu_qp_completion(struct emu_qp *qp, const struct ibv_wc *wc);

/* ---- emu_cq.c: completion queues ---------------------------------------- */

/* The entry of cq, made if needed; NULL with errno. */
struct emu_cq *emu_cq_get(const struct emu_device *device, struct ibv_cq *cq);
/* There has been one in this process. */
bool emu_cq_in_use(void);
/* From now on completions of qp are sorted out.  0 or errno. */
int emu_cq_attach(struct emu_qp *qp);
void emu_cq_detach(struct emu_qp *qp);

/* The entry of one that is not being destroyed. */
struct emu_cq *emu_cq_of(const struct ibv_cq *cq);
/* Locked, or NULL: none of these completion queues. */
struct emu_cq *emu_cq_lock(const struct ibv_cq *cq);
/* The next one for the program, to `polled`.  0, ENOENT or errno.  Under lock. */
int emu_cq_next(struct emu_cq *cq);

/* Of the program; false: none of these completion queues. */
bool emu_cq_poll(struct ibv_cq *cq, int num, struct ibv_wc *wc, int *n);
bool emu_cq_notify(struct ibv_cq *cq, int solicited_only, int *ret);
int emu_destroy_cq(struct ibv_cq *cq, int (*std)(struct ibv_cq *cq));

/* Goes on with what the program has not polled since the last call. */
void emu_cq_tick(void);

/* ---- emu_hook.c: the device's own operations ---------------------------- */

/* Takes the operations over; NULL with errno. */
const struct emu_device *emu_hook(struct ibv_context *context);

/* ---- emu_cq_ex.c: extended completion queues ----------------------------- */

/*
 * Takes ibv_start_poll() and all that goes with it over.  While the program polls
 * by them it has the lock of the completion queue.  0 or errno.
 */
int emu_cq_ex_adopt(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif /* EXP_EMU_H */
