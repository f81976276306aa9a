/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attacks for t_worst: rings and packets that keep the module in one section
 * with BHs disabled for as long as possible.
 */
#ifndef WORST_H
#define WORST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "vt.h"

/* Limits of the device, from kernel/mxe/mxe.h and kernel/mxe/queues/qp.h. */
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
	 * An attack has one of these two functions. They return true if all
	 * requests completed and all packets were counted as expected, or if
	 * the verb under attack succeeded.
	 */
	bool (*run)(void);
	bool (*run_with)(const struct worst *w);
	/* For run_with(). */
	struct vt_dev *const *to;	/* worst_a: loopback, worst_b: wire */
	enum ibv_wr_opcode opcode;
	enum ibv_qp_type qp_type;	/* 0: RC */
	bool ipv6;
	uint32_t n;			/* requests */
	uint32_t len;			/* bytes of each */
	uint32_t shift;			/* of struct worst_list */
};

extern struct vt_dev *worst_a, *worst_b;

/* ---- tracing ---------------------------------------------------------- */

/**
 * worst_begin() - Start tracing if $MXE_TRACING names the tracing directory.
 */
void worst_begin(void);

/**
 * worst_end() - Stop tracing.
 */
void worst_end(void);

/**
 * worst_fifo() - Change the real-time priority of a process.
 * @pid: process, or 0 for the caller
 * @priority: SCHED_FIFO priority, or 0 for SCHED_OTHER
 */
void worst_fifo(pid_t pid, int priority);

/**
 * worst_starve_work() - Keep the work of QPs from running on CPU 0.
 * @on: begin, or end
 *
 * Meanwhile, the caller runs on CPU 0 only, and packets are received there.
 */
void worst_starve_work(bool on);

/* ---- pairs and requests ------------------------------------------------ */

/**
 * worst_conf() - Return a configuration with deferred doorbells, 32 SGEs and
 *	large atomics.
 * @depth: entries of each queue
 * @size: size of each buffer in bytes
 *
 * Return: the configuration.
 */
struct vt_conf worst_conf(uint32_t depth, size_t size);

/* A send request for worst_fill(). */
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

/**
 * worst_fill() - Post a send request several times without ringing the
 *	doorbell.
 * @qp: QP
 * @n: number of times
 * @wr: request
 */
void worst_fill(struct ibv_qp *qp, uint32_t n, const struct worst_wr *wr);

/**
 * worst_fill_recv() - Post a receive request several times.
 * @e: end
 * @n: number of times
 * @sge: SGEs
 * @num_sge: number of SGEs
 */
void worst_fill_recv(struct vt_end *e, uint32_t n, struct ibv_sge *sge,
		     int num_sge);

/**
 * worst_ring() - Ring the doorbell of a QP.
 * @qp: QP
 */
void worst_ring(struct ibv_qp *qp);

/**
 * worst_pair_open() - Open a pair whose end a has sent a request already.
 * @p: pair to fill in, whose end a is on worst_a
 * @to: device of end b
 * @conf: configuration
 *
 * The first packets of a connection take the slow path one by one, so an attack
 * must not begin with them.
 */
void worst_pair_open(struct vt_pair *p, struct vt_dev *to,
		     const struct vt_conf *conf);

/**
 * worst_wait() - Wait for completions.
 * @cq: completion queue
 * @n: number of completions
 * @status: expected status of each
 *
 * Return: true if all have arrived with that status.
 */
bool worst_wait(struct ibv_cq *cq, uint32_t n, int status);

/* A list of SGEs, each in a region of its own. */
struct worst_list {
	struct ibv_sge sge[WORST_SGE];
	struct ibv_mr *mr[WORST_SGE];
	uint8_t *buf;
	size_t size;
};

/**
 * worst_list_open() - Register a separate region for each of WORST_SGE SGEs.
 * @l: list to fill in
 * @dev: device
 * @len: total length of the SGEs in bytes
 * @shift: number of bytes by which the boundaries between the SGEs move
 */
void worst_list_open(struct worst_list *l, struct vt_dev *dev, uint32_t len,
		     uint32_t shift);

/**
 * worst_list_close() - Deregister the regions of a list.
 * @l: list
 */
void worst_list_close(struct worst_list *l);

/* ---- attacks by file --------------------------------------------------- */

extern const struct worst worst_rings[];	/* of a process */
extern const struct worst worst_packets[];	/* of a peer */
extern const struct worst worst_tags[];		/* with tag matching */
extern const struct worst worst_dc[];		/* of and to DC QPs */

#endif /* WORST_H */
