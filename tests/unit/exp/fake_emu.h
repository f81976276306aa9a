/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fake of libibverbs and of a device with the standard atomics, for tests of
 * what libibverbs_exp emulates on it.  It does nothing by itself: run() carries
 * out one request.  It gives a place in the send queue back when a completion is
 * polled, and bails out if more is posted than there is room for.
 */
#ifndef EXP_FAKE_EMU_H
#define EXP_FAKE_EMU_H

#include <stdbool.h>
#include <infiniband/verbs_exp.h>

#include "cq_ex.h"
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
	uint64_t freed;		/* all before have been polled */
	uint64_t done;
	uint64_t posted;
	bool error;
	int posts;		/* calls of post_send */
	int refuse;		/* the errno of posting */
};

/* A completion, and which request's. */
struct fake_wc {
	struct ibv_wc wc;
	struct fake_qp *qp;	/* NULL: nothing to give back */
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
	int mrs;
	int resized;
	int modified;		/* to the error state */
	int kicks;
	void *place;		/* where the next queue pair comes to be */
	uint32_t next_qpn;
	uint64_t clock;		/* counts the completions that are polled */
	int create_cq_errno;	/* of ibv_create_cq_ex() */
};

extern struct fake_emu fake;
extern struct verbs_context emu_vctx;
#define emu_ctx (&emu_vctx.context)
extern struct ibv_pd emu_pd;

void fake_reset(void);
struct fake_cq *new_cq(void);
/* Extended, by ibv_create_cq_ex(). */
struct fake_cq *new_cq_ex(uint64_t wc_flags);
/* Emulated; sig_all is 0. */
struct fake_qp *new_qp(struct fake_cq *cq, uint32_t flags);
void drop_qp(struct fake_qp *qp);
void drop_cq(struct fake_cq *cq);

/* The next request; false: there is none. */
bool run(struct fake_qp *qp);
/* All that can be done, with the program polling: its completions in wcs. */
int run_all(struct fake_cq *cq, struct fake_qp *a, struct fake_qp *b,
	    struct ibv_wc *wcs, int max);
void add_wc(struct fake_cq *cq, const struct ibv_wc *wc);

#endif /* EXP_FAKE_EMU_H */
