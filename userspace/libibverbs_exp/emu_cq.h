/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CQs of emulated QPs. */
#ifndef EXP_EMU_CQ_H
#define EXP_EMU_CQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "emu_device.h"
#include "table.h"

struct emu_qp;

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

/* Adds a completion for the program. The ring has room, and lock is held. */
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

struct emu_cq *emu_cq_get(const struct emu_device *device, struct ibv_cq *ibcq,
			  bool is_new);
bool emu_cq_in_use(void);
int emu_cq_attach(struct emu_qp *qp);
void emu_cq_detach(struct emu_qp *qp);
struct emu_cq *emu_cq_of(const struct ibv_cq *ibcq);
struct emu_cq *emu_cq_lock(const struct ibv_cq *ibcq);
int emu_cq_next(struct emu_cq *cq);
bool emu_cq_poll(struct ibv_cq *ibcq, int num, struct ibv_wc *wc, int *n);
bool emu_cq_notify(struct ibv_cq *ibcq, int solicited_only, int *ret);
int emu_destroy_cq(struct ibv_cq *ibcq, int (*std)(struct ibv_cq *ibcq));
bool emu_cq_any_busy(void);
void emu_cq_tick(void);

#endif /* EXP_EMU_CQ_H */
