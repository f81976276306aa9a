/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attacks for t_worst: rings and packets that keep the module in one section with
 * bottom halves off for as long as they can.
 */
#ifndef WORST_H
#define WORST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "vt.h"

/* Limits of the device, from kernel/mxe/mxe.h and kernel/mxe/qp.h. */
enum {
	WORST_RING = 16384,	/* requests of one queue */
	WORST_SGE = 32,
	WORST_WINDOW = 128,	/* packets that are sent unacknowledged */
	WORST_RD_ATOMIC = 128,
	WORST_BURST = 64,
	WORST_MTU = 4096,
};

struct worst {
	const char *name;
	const char *what;
	/*
	 * Each returns whether the module has done what the attack asks for. An attack
	 * has one of the two.
	 */
	bool (*run)(void);
	bool (*run_with)(const struct worst *w);
	/* For run_with(). */
	struct vt_dev *const *to;	/* worst_a: the loopback path; worst_b: the wire */
	enum ibv_wr_opcode opcode;
	enum ibv_qp_type qp_type;	/* 0: RC */
	bool ipv6;
	uint32_t n;			/* requests */
	uint32_t len;			/* bytes of each */
	uint32_t shift;			/* of struct worst_list */
};

extern struct vt_dev *worst_a, *worst_b;

/* ---- what is traced --------------------------------------------------- */

/* Tracing is on between these two, if $MXE_TRACING names the tracing directory. */
void worst_begin(void);
void worst_end(void);

/* Makes that process, or with 0 the caller, a real-time one; priority 0: ends it. */
void worst_fifo(pid_t pid, int priority);

/* ---- pairs and requests ------------------------------------------------ */

/* Deferred doorbells, a ring of `depth`, 32 SGEs, large atomics. */
struct vt_conf worst_conf(uint32_t depth, size_t size);

/* A request that is posted n times. */
struct worst_wr {
	enum ibv_wr_opcode opcode;
	struct ibv_sge *sge;
	int num_sge;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t srqn;
	struct ibv_ah *ah;	/* UD */
	uint32_t qpn;		/* UD */
	bool unsignaled;
};

/* Posts without ringing. */
void worst_fill(struct ibv_qp *qp, uint32_t n, const struct worst_wr *wr);
void worst_fill_recv(struct vt_end *e, uint32_t n, struct ibv_sge *sge,
		     int num_sge);
void worst_ring(struct ibv_qp *qp);
/*
 * A pair from worst_a to that device that has sent a request already: the first
 * packets of a connection take the slow path, one by one.
 */
void worst_pair_open(struct vt_pair *p, struct vt_dev *to,
		     const struct vt_conf *conf);
/* True when n requests have completed, all with that status. */
bool worst_wait(struct ibv_cq *cq, uint32_t n, int status);
/*
 * Regions of their own, of which each SGE names one. The bytes of the SGEs are
 * `len` in all. `shift` moves the boundaries between the SGEs.
 */
struct worst_list {
	struct ibv_sge sge[WORST_SGE];
	struct ibv_mr *mr[WORST_SGE];
	uint8_t *buf;
	size_t size;
};
void worst_list_open(struct worst_list *l, struct vt_dev *dev, uint32_t len,
		     uint32_t shift);
void worst_list_close(struct worst_list *l);

/* ---- attacks by file --------------------------------------------------- */

extern const struct worst worst_rings[];	/* of a process */
extern const struct worst worst_packets[];	/* of a peer */

#endif /* WORST_H */
