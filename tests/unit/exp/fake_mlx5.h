/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A third device for the fake of fake.h: libmlx5, whose send queue consists of
 * basic blocks, and a device that executes the posted requests. Calls that
 * would corrupt memory in libmlx5 end the test.
 */
#ifndef EXP_FAKE_MLX5_H
#define EXP_FAKE_MLX5_H

#include <infiniband/mlx5dv.h>

#include "fake.h"

/* The atomic operations in the capabilities of the device. */
enum {
	OP_CS = 1,
	OP_FA = 2,
	OP_MASKED_CS = 4,
	OP_MASKED_FA = 8,
	OPS = OP_CS | OP_FA | OP_MASKED_CS | OP_MASKED_FA,
};

#define BB 64
#define MAX_REGIONS 8
#define GARBAGE 0xee	/* in bytes that libmlx5 does not write */

extern struct verbs_context mlx5_vctx;
#define mlx5_ctx (&mlx5_vctx.context)

extern struct ibv_pd mlx5_pd;

struct fake_mlx5_cqe {
	struct fake_mlx5_qp *qp;	/* NULL: of a receive */
	uint32_t index;			/* of the basic block */
	int opcode;			/* of mlx5; if qp is NULL, IBV_WC_* */
	/* The members below are valid if qp is NULL. */
	enum ibv_wc_status status;
	uint64_t wr_id;
	uint32_t qp_num;
};

#define MAX_CQES 4096

struct fake_mlx5_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex;	/* of t_exp_mlx5_ex.c */
	};
	struct fake_mlx5_cqe cqes[MAX_CQES];
	uint32_t head, tail;
};

extern struct fake_mlx5_cq mlx5_cq, mlx5_cq2;

struct fake_mlx5 {
	/* The answer to QUERY_HCA_CAP. */
	int devx_errno;
	uint8_t devx_status;
	int endianness_mode;		/* 1: replies of 8 bytes in host order */
	uint16_t operations, size_qp, size_dc;
	bool no_dct;

	int create_errno;
	bool no_qpx, no_dv_qpx, no_raw_wqe, no_atomic_builders;
	struct ibv_qp_init_attr_ex last;
	struct mlx5dv_qp_init_attr last_mlx5;
	int created;

	int modify_errno;
	bool quiet_flush;		/* unsignaled requests are flushed without a CQE */
	bool defer;			/* nothing runs before fake_mlx5_run() */
	int executed;
	int plain_posts;		/* to other queue pairs */
	uint64_t dc_key;		/* of the last request of a DC initiator */
	uint32_t dct_num;

	/* Registered memory, by key. */
	struct {
		uint8_t *start;
		size_t size;
		uint32_t key;
	} regions[MAX_REGIONS];
};

extern struct fake_mlx5 fake_mlx5;

struct fake_mlx5_qp {
	struct fake_qp f;
	struct mlx5dv_qp_ex mqp;
	pthread_mutex_t lock;
	struct fake_mlx5_cq *cq;
	bool sig_all;
	enum mlx5dv_dc_type dc_type;	/* or 0 */
	int setters;			/* called for the request, of a DC initiator */
	uint32_t max_gs;
	uint32_t max_inline;
	uint32_t wqe_size;		/* nominal */
	uint32_t wqe_cnt;		/* basic blocks */
	uint32_t max_post;

	/* As in libmlx5: counters of requests, and of blocks. */
	uint32_t head, tail;
	uint32_t cur_post, cur_post_rb;
	uint32_t tail_post;		/* blocks before this one are free */
	int nreq;
	int err;
	uint8_t *ctrl;			/* being built, contiguous */
	uint32_t cur_size;
	uint8_t wqe[1024];

	uint64_t *wrid;
	uint32_t *wqe_head;
	uint32_t *wqe_end;
	int *wr_data;
	uint8_t *sq;

	/* The device. */
	uint32_t doorbell, run;
	int doorbells;
	bool failed;
};

/**
 * to_fake_mlx5() - Return the fake QP that contains a QP.
 * @qp: QP of this device
 *
 * Return: the fake QP.
 */
static inline struct fake_mlx5_qp *to_fake_mlx5(struct ibv_qp *qp)
{
	return (struct fake_mlx5_qp *)qp;
}

/**
 * fake_mlx5_init() - Initialize the device once per program, after fake_init().
 */
void fake_mlx5_init(void);

/**
 * fake_mlx5_reset() - Reset the device to a ConnectX-6 that supports all sizes.
 *
 * Tests call it first, instead of fake_reset().
 */
void fake_mlx5_reset(void);

/**
 * fake_mlx5_reopen() - Make the library forget the context.
 *
 * The test then uses the same context as a process that opens the device again.
 */
void fake_mlx5_reopen(void);

/**
 * fake_mlx5_run() - Execute one request of a QP.
 * @qp: QP
 *
 * Return: false if the QP has no request.
 */
bool fake_mlx5_run(struct ibv_qp *qp);

/**
 * fake_mlx5_region() - Register memory for the device.
 * @start: first byte
 * @size: size in bytes
 * @key: key that names the region
 */
void fake_mlx5_region(void *start, size_t size, uint32_t key);

/**
 * fake_mlx5_other() - Add a completion that does not belong to a send request.
 * @qp_num: QP number in the completion
 * @cq: CQ
 * @wr_id: wr_id
 * @opcode: opcode, for example that of a receive
 * @status: status
 */
void fake_mlx5_other(uint32_t qp_num, struct fake_mlx5_cq *cq, uint64_t wr_id,
		     enum ibv_wc_opcode opcode, enum ibv_wc_status status);

/**
 * fake_mlx5_poll() - Poll a CQ without the library.
 * @cq: CQ
 * @num: number of entries of @wc
 * @wc: is filled with the completions
 *
 * Return: the number of completions.
 */
int fake_mlx5_poll(struct fake_mlx5_cq *cq, int num, struct ibv_wc *wc);

/**
 * fake_mlx5_modify() - Move a QP to another state through the library.
 * @qp: QP
 * @state: new state, which may be RESET
 *
 * Return: 0 or an errno value.
 */
int fake_mlx5_modify(struct ibv_qp *qp, enum ibv_qp_state state);

/**
 * mlx5_init_attr() - Fill in valid attributes for this device, as init_attr()
 *	does.
 * @attr: attributes
 * @max_send_wr: number of send requests
 * @exp_create_flags: IBV_EXP_QP_CREATE_* flags
 * @sig_all: sq_sig_all
 */
void mlx5_init_attr(struct ibv_exp_qp_init_attr *attr, uint32_t max_send_wr,
		    uint32_t exp_create_flags, bool sig_all);

/**
 * mlx5_qp() - Create a QP, and end the program on failure.
 * @max_send_wr: number of send requests
 * @exp_create_flags: IBV_EXP_QP_CREATE_* flags
 * @sig_all: sq_sig_all
 *
 * Return: the QP.
 */
struct ibv_qp *mlx5_qp(uint32_t max_send_wr, uint32_t exp_create_flags,
		       bool sig_all);

#endif /* EXP_FAKE_MLX5_H */
