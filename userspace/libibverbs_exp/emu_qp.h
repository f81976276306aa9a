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

struct emu_qp *emu_qp_new(const struct emu_device *device, struct ibv_qp *qp,
			  const struct ibv_qp_cap *cap, bool sig_all,
			  bool be_reply);
void emu_qp_free(struct emu_qp *qp);
void emu_qp_set_busy(struct emu_qp *qp, bool busy);
void emu_qp_pause(struct emu_qp *qp);
void emu_qp_resume(struct emu_qp *qp);
void emu_qp_reset(struct emu_qp *qp);
void emu_qp_forget_buffers(void);
void emu_qp_post_begin(struct emu_qp *qp);
int emu_qp_post_add(struct emu_qp *qp, const struct ibv_send_wr *std,
		    const struct emu_masked *masked, void *program_wr);
void *emu_qp_post_end(struct emu_qp *qp, void *wr, int *err);
void emu_qp_completion(struct emu_qp *qp, const struct ibv_wc *wc);

#endif /* EXP_EMU_QP_H */
