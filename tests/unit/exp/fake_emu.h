/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fake of libibverbs and of a device with the standard atomics, for tests of
 * the emulation of masked atomics in libibverbs_exp. The device is passive:
 * each run() executes one request, unless fake.active is set. An entry of the
 * send queue becomes free when its completion is polled. A post to a full send
 * queue ends the program.
 *
 * Several threads may use an active device.
 */
#ifndef EXP_FAKE_EMU_H
#define EXP_FAKE_EMU_H

#include <stdbool.h>
#include <infiniband/verbs_exp.h>

#include "random.h"
#include "tap.h"

#define DEPTH 8
#define MAX_INLINE 32
#define WORDS 16
#define RKEY 0x99
#define LKEY 0x11

struct fake_wr {
	struct ibv_send_wr wr;
	struct ibv_sge sges[4];
	char data[MAX_INLINE];
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_wr wrs[DEPTH];
	uint64_t freed;		/* requests before have been polled */
	uint64_t done;
	uint64_t posted;
	bool error;
	int posts;		/* calls of post_send */
	int refuse;		/* errno value that post_send returns, or 0 */
};

/* A completion, with its request. */
struct fake_wc {
	struct ibv_wc wc;
	struct fake_qp *qp;	/* NULL: frees no entry of a send queue */
	uint64_t seq;
};

struct fake_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex;
	};
	struct fake_wc wcs[1024];
	int num;
	int taken;
	bool armed;
	int arms;		/* calls of req_notify_cq */
	int events;
	struct ibv_wc polled;	/* by ibv_start_poll() */
	bool polling;
};

struct fake_emu {
	uint64_t mem[WORDS];	/* the peer's */
	uint64_t buf[WORDS];	/* the program's */
	int atomic_cap;
	bool active;		/* requests are executed when they are posted */
	int mrs;
	int resized;
	int modified;		/* to the error state */
	int kicks;
	void *place;		/* memory of the next QP, or NULL */
	void *cq_place;		/* memory of the next CQ, or NULL */
	int round_up;		/* ibv_resize_cq() rounds up to a multiple */
	/*
	 * The provider destroys a QP or a CQ, or resets a QP: an errno value
	 * with which it fails, or 0. Before it returns, and after the memory
	 * was freed, it calls meanwhile(), if that is not NULL, as another
	 * thread could.
	 */
	int destroy_errno;
	int reset_errno;
	void (*meanwhile)(void);
	uint32_t next_qpn;
	uint64_t clock;		/* number of completions polled */
	int create_cq_errno;	/* of ibv_create_cq_ex() */
	bool lkey_gone;		/* LKEY is that of no region any more */
};

extern struct fake_emu fake;
extern struct verbs_context emu_vctx;
#define emu_ctx (&emu_vctx.context)
extern struct ibv_pd emu_pd;

/**
 * fake_reset() - Reset the fake.
 */
void fake_reset(void);

/**
 * new_cq() - Create a CQ.
 *
 * Return: the CQ.
 */
struct fake_cq *new_cq(void);

/**
 * new_cq_ex() - Create an extended CQ with ibv_create_cq_ex().
 * @wc_flags: IBV_WC_EX_* flags
 *
 * Return: the CQ.
 */
struct fake_cq *new_cq_ex(uint64_t wc_flags);

/**
 * new_qp() - Create an emulated QP with sig_all 0.
 * @cq: CQ of the QP
 * @flags: IBV_EXP_QP_CREATE_* flags
 *
 * Return: the QP.
 */
struct fake_qp *new_qp(struct fake_cq *cq, uint32_t flags);

/**
 * drop_qp() - Destroy a QP by the call that the library interposes.
 * @qp: QP
 */
void drop_qp(struct fake_qp *qp);

/**
 * drop_cq() - Destroy a CQ by the call that the library interposes.
 * @cq: CQ
 */
void drop_cq(struct fake_cq *cq);

/**
 * interposed_destroy_cq() - Call the interposed ibv_destroy_cq().
 * @cq: CQ
 *
 * Return: as ibv_destroy_cq().
 */
int interposed_destroy_cq(struct ibv_cq *cq);

/**
 * run() - Execute the next request of a QP.
 * @qp: QP
 *
 * Return: false if the QP has no request.
 */
bool run(struct fake_qp *qp);

/**
 * mem_at() - Read a word of the peer while the device is active.
 * @word: index in fake.mem
 *
 * Return: the word.
 */
uint64_t mem_at(int word);

/**
 * run_all() - Execute requests and poll completions until nothing is left.
 * @cq: CQ to poll
 * @a: first QP
 * @b: second QP, or NULL
 * @wcs: is filled with the completions that reach the consumer
 * @max: number of entries of @wcs
 *
 * Return: the number of completions.
 */
int run_all(struct fake_cq *cq, struct fake_qp *a, struct fake_qp *b,
	    struct ibv_wc *wcs, int max);

/**
 * add_wc() - Add a completion that belongs to no request of the fake.
 * @cq: CQ
 * @wc: completion
 */
void add_wc(struct fake_cq *cq, const struct ibv_wc *wc);

#endif /* EXP_FAKE_EMU_H */
