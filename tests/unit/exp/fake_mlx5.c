// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The libmlx5 that fake_mlx5.h declares.  It hands WQEs to the device of
 * fake_mlx5_hw.c.
 */
#include <endian.h>
#include <errno.h>

#include "backend.h"
#include "backend_mlx5_dv.h"
#include "fake_mlx5_hw.h"
#include "qp_table.h"
#include "tap.h"

static struct ibv_device mlx5_device;
struct verbs_context mlx5_vctx;
struct ibv_pd mlx5_pd = { .context = mlx5_ctx };
struct fake_mlx5_cq mlx5_cq, mlx5_cq2;
struct fake_mlx5 fake_mlx5;

static void put16(uint8_t *to, unsigned int value)
{
	to[0] = value >> 8;
	to[1] = value;
}

/* ---- the functions that the library loads ------------------------------- */

/* Offsets in the atomic capabilities, in bits. */
enum {
	CAP_ENDIANNESS_MODE = 0x40,
	CAP_OPERATIONS = 0x90,
	CAP_SIZE_QP = 0xb0,
	CAP_SIZE_DC = 0xd0,
};

/* In the general capabilities. */
enum {
	CAP_LOG_RA_REQ_DC = 0x12a,	/* 6 bits, which end a byte */
	CAP_LOG_RA_RES_DC = 0x13a,
	CAP_DCT = 0x21a,
};

static bool f_is_supported(struct ibv_device *device)
{
	return device == &mlx5_device;
}

static int f_devx(struct ibv_context *context, const void *in, size_t inlen,
		  void *out, size_t outlen)
{
	/* QUERY_HCA_CAP; atomic or general, current */
	static const uint8_t want[16] = { 0x01, 0x00, 0, 0, 0, 0, 0, 0x07 };
	static const uint8_t general[16] = { 0x01, 0x00, 0, 0, 0, 0, 0, 0x01 };
	bool is_general = inlen == sizeof(general) &&
			  !memcmp(in, general, sizeof(general));
	uint8_t *caps = (uint8_t *)out + 16;

	if (context != mlx5_ctx || inlen != sizeof(want) || outlen != 16 + 4096 ||
	    (!is_general && memcmp(in, want, sizeof(want))))
		bail_out("unexpected DEVX command");
	if (fake_mlx5.devx_errno)
		return fake_mlx5.devx_errno;
	memset(out, 0, outlen);
	*(uint8_t *)out = fake_mlx5.devx_status;
	if (is_general) {
		caps[CAP_LOG_RA_REQ_DC / 8] = 4;
		caps[CAP_LOG_RA_RES_DC / 8] = 5;
		caps[CAP_DCT / 8] = fake_mlx5.no_dct ? 0 :
				    1 << (7 - CAP_DCT % 8);
		return 0;
	}
	caps[CAP_ENDIANNESS_MODE / 8] = fake_mlx5.endianness_mode << 6;
	put16(caps + CAP_OPERATIONS / 8, fake_mlx5.operations);
	put16(caps + CAP_SIZE_QP / 8, fake_mlx5.size_qp);
	put16(caps + CAP_SIZE_DC / 8, fake_mlx5.size_dc);
	return 0;
}

/* ---- send queue ---------------------------------------------------------- */

static bool is_full(const struct fake_mlx5_qp *qp)
{
	return qp->head + qp->nreq - qp->tail >= qp->max_post;
}

static struct fake_mlx5_qp *of_qpx(struct ibv_qp_ex *qpx)
{
	return (struct fake_mlx5_qp *)qpx;
}

/*
 * Does what _common_wqe_init() of libmlx5 does, except that libmlx5 continues
 * if the queue is full and overwrites the last request.
 */
static void init_wqe(struct fake_mlx5_qp *qp, int wr_data)
{
	uint32_t index = qp->cur_post & (qp->wqe_cnt - 1);

	if (!qp->f.started)
		bail_out("a builder outside of ibv_wr_start()");
	if (is_full(qp))
		bail_out("a builder while the send queue is full");
	qp->wrid[index] = qp->f.qpx.wr_id;
	qp->wqe_head[index] = qp->head + qp->nreq;
	qp->wr_data[index] = wr_data;
	qp->nreq++;
	qp->cur_size = 0;
	qp->ctrl = qp->wqe;
}

/* Copies the request to the ring, and wraps at its end. */
static void finish_wqe(struct fake_mlx5_qp *qp)
{
	uint32_t index = qp->cur_post & (qp->wqe_cnt - 1);
	uint32_t blocks = (qp->cur_size + BB - 1) / BB;
	uint32_t size = qp->wqe_cnt * BB;
	uint32_t i;

	if (qp->cur_post + blocks - qp->tail_post > qp->wqe_cnt)
		bail_out("the send queue is overrun");
	qp->wqe[1] = qp->cur_post >> 8;
	qp->wqe[2] = qp->cur_post;
	for (i = 0; i < qp->cur_size; i++)
		qp->sq[(index * BB + i) % size] = qp->wqe[i];
	qp->cur_post += blocks;
	qp->wqe_end[index] = qp->cur_post;
}

static void put(struct fake_mlx5_qp *qp, uint64_t value, int bytes)
{
	while (bytes--)
		qp->ctrl[qp->cur_size++] = value >> (8 * bytes);
}

static void put_ctrl(struct fake_mlx5_qp *qp, int opcode, __be32 imm)
{
	unsigned int flags = qp->f.qpx.wr_flags;

	put(qp, opcode, 4);
	put(qp, 0, 7);
	put(qp, (flags & IBV_SEND_SIGNALED || qp->sig_all ?
		 MLX5_WQE_CTRL_CQ_UPDATE : 0) |
	    (flags & IBV_SEND_SOLICITED ? MLX5_WQE_CTRL_SOLICITED : 0) |
	    (flags & IBV_SEND_FENCE ? MLX5_WQE_CTRL_FENCE : 0), 1);
	put(qp, be32toh(imm), 4);
	/* Set later, see f_set_dc_addr(). */
	if (qp->dc_type)
		qp->cur_size += sizeof(struct mlx5_wqe_av);
	qp->setters = 0;
}

/* A request of a DC initiator needs two setters, in any order. */
static void end_ctrl(struct fake_mlx5_qp *qp)
{
	uint32_t qpn_ds = qp->f.qp.qp_num << 8 | (qp->cur_size + 15) / 16;
	uint32_t size = qp->cur_size;

	if (qp->dc_type && ++qp->setters < 2)
		return;
	qp->cur_size = 4;
	put(qp, qpn_ds, 4);
	qp->cur_size = (size + 15) / 16 * 16;
	finish_wqe(qp);
}

static void put_raddr(struct fake_mlx5_qp *qp, uint32_t rkey, uint64_t addr)
{
	put(qp, addr, 8);
	put(qp, rkey, 4);
	put(qp, 0, 4);
}

static void f_send(struct ibv_qp_ex *qpx)
{
	init_wqe(of_qpx(qpx), 0);
	put_ctrl(of_qpx(qpx), MLX5_OPCODE_SEND, 0);
}

static void f_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	init_wqe(of_qpx(qpx), 0);
	put_ctrl(of_qpx(qpx), MLX5_OPCODE_SEND_IMM, imm);
}

static void rdma(struct ibv_qp_ex *qpx, int opcode, uint32_t rkey,
		 uint64_t addr, __be32 imm)
{
	init_wqe(of_qpx(qpx), 0);
	put_ctrl(of_qpx(qpx), opcode, imm);
	put_raddr(of_qpx(qpx), rkey, addr);
}

static void f_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	rdma(qpx, MLX5_OPCODE_RDMA_WRITE, rkey, addr, 0);
}

static void f_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
			__be32 imm)
{
	rdma(qpx, MLX5_OPCODE_RDMA_WRITE_IMM, rkey, addr, imm);
}

static void f_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	rdma(qpx, MLX5_OPCODE_RDMA_READ, rkey, addr, 0);
}

static void f_cas(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
		  uint64_t compare, uint64_t swap)
{
	rdma(qpx, MLX5_OPCODE_ATOMIC_CS, rkey, addr, 0);
	put(of_qpx(qpx), swap, 8);
	put(of_qpx(qpx), compare, 8);
}

static void f_faa(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
		  uint64_t add)
{
	rdma(qpx, MLX5_OPCODE_ATOMIC_FA, rkey, addr, 0);
	put(of_qpx(qpx), add, 8);
	put(of_qpx(qpx), 0, 8);
}

static void f_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge,
			   const struct ibv_sge *sg_list)
{
	struct fake_mlx5_qp *qp = of_qpx(qpx);
	size_t i;

	if (num_sge > qp->max_gs) {
		qp->err = ENOMEM;
		return;
	}
	for (i = 0; i < num_sge; i++) {
		if (!sg_list[i].length)
			continue;
		put(qp, sg_list[i].length, 4);
		put(qp, sg_list[i].lkey, 4);
		put(qp, sg_list[i].addr, 8);
	}
	end_ctrl(qp);
}

static void f_set_inline_list(struct ibv_qp_ex *qpx, size_t num,
			      const struct ibv_data_buf *bufs)
{
	struct fake_mlx5_qp *qp = of_qpx(qpx);
	size_t i, j, length = 0;

	for (i = 0; i < num; i++)
		length += bufs[i].length;
	if (length > qp->max_inline) {
		qp->err = ENOMEM;
		return;
	}
	if (length)
		put(qp, MLX5_INLINE_SEG | length, 4);
	for (i = 0; i < num; i++)
		for (j = 0; j < bufs[i].length; j++)
			put(qp, ((uint8_t *)bufs[i].addr)[j], 1);
	end_ctrl(qp);
}

/* What libmlx5 has in all address handles of the fake. */
static struct mlx5_wqe_av fake_av = { .rmac = { 1, 2, 3, 4, 5, 6 } };

static int f_init_obj(struct mlx5dv_obj *obj, uint64_t obj_type)
{
	if (obj_type != MLX5DV_OBJ_AH)
		bail_out("an unexpected object");
	if (obj->ah.in->context != mlx5_ctx)
		return EOPNOTSUPP;
	obj->ah.out->av = &fake_av;
	return 0;
}

static void f_set_dc_addr(struct mlx5dv_qp_ex *mqp, struct ibv_ah *ah,
			  uint32_t remote_dctn, uint64_t remote_dc_key)
{
	struct fake_mlx5_qp *qp = (void *)((char *)mqp -
		offsetof(struct fake_mlx5_qp, mqp));
	struct mlx5_wqe_av av = fake_av;

	if (!ah || !qp->dc_type)
		bail_out("an address of no target");
	av.key.dc_key = htobe64(remote_dc_key);
	av.dqp_dct = htobe32(remote_dctn | MLX5_EXTENDED_UD_AV);
	memcpy(qp->wqe + sizeof(struct mlx5_wqe_ctrl_seg), &av, sizeof(av));
	end_ctrl(qp);
}

static void f_raw_wqe(struct mlx5dv_qp_ex *mqp, const void *wqe)
{
	struct fake_mlx5_qp *qp = (void *)((char *)mqp -
		offsetof(struct fake_mlx5_qp, mqp));
	const uint8_t *bytes = wqe;

	init_wqe(qp, IBV_WC_DRIVER2);
	qp->cur_size = (bytes[7] & 0x3f) * 16;
	memcpy(qp->wqe, wqe, qp->cur_size);
	finish_wqe(qp);
}

static void f_start(struct ibv_qp_ex *qpx)
{
	struct fake_mlx5_qp *qp = of_qpx(qpx);

	pthread_mutex_lock(&qp->lock);
	qp->f.started = true;
	qp->nreq = 0;
	qp->err = 0;
	qp->cur_post_rb = qp->cur_post;
}

static void ring_doorbell(struct fake_mlx5_qp *qp)
{
	qp->head += qp->nreq;
	qp->nreq = 0;
	qp->doorbells++;
	__atomic_store_n(&qp->doorbell, qp->cur_post, __ATOMIC_RELEASE);
	while (!fake_mlx5.defer && fake_mlx5_run(&qp->f.qp))
		;
}

static int f_complete(struct ibv_qp_ex *qpx)
{
	struct fake_mlx5_qp *qp = of_qpx(qpx);
	int err = qp->err;

	if (!qp->f.started)
		bail_out("ibv_wr_complete() without ibv_wr_start()");
	qp->f.started = false;
	if (err) {
		qp->cur_post = qp->cur_post_rb;
		qp->nreq = 0;
	} else {
		ring_doorbell(qp);
	}
	pthread_mutex_unlock(&qp->lock);
	return err;
}

static void f_abort(struct ibv_qp_ex *qpx)
{
	struct fake_mlx5_qp *qp = of_qpx(qpx);

	if (!qp->f.started)
		bail_out("ibv_wr_abort() without ibv_wr_start()");
	qp->f.started = false;
	qp->cur_post = qp->cur_post_rb;
	qp->nreq = 0;
	pthread_mutex_unlock(&qp->lock);
}

static void build_std(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags;
	switch ((int)wr->opcode) {
	case IBV_WR_SEND:
		f_send(qpx);
		break;
	case IBV_WR_RDMA_WRITE:
		f_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_READ:
		f_read(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		f_cas(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
		      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		f_faa(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
		      wr->wr.atomic.compare_add);
		break;
	default:
		bail_out("a plain request that the fake does not know");
	}
	f_set_sge_list(qpx, wr->num_sge, wr->sg_list);
}

/* Checks for room first, as mlx5_post_send() of libmlx5 does. */
static int f_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad_wr)
{
	struct fake_mlx5_qp *qp = to_fake_mlx5(ibqp);
	int ret = 0;

	if (!to_fake(ibqp)->has_ex) {
		fake_mlx5.plain_posts++;
		return 0;
	}
	f_start(&qp->f.qpx);
	for (; wr; wr = wr->next) {
		if (is_full(qp)) {
			*bad_wr = wr;
			ret = ENOMEM;
			break;
		}
		build_std(&qp->f.qpx, wr);
	}
	f_complete(&qp->f.qpx);
	return ret;
}

/* ---- completions --------------------------------------------------------- */

static void good_wc(struct ibv_wc *wc, const struct fake_mlx5_cqe *cqe)
{
	/* Raw requests have this opcode and no length. */
	if (cqe->qp->wr_data[cqe->index] == IBV_WC_DRIVER2) {
		wc->opcode = IBV_WC_DRIVER2;
		return;
	}
	switch (cqe->opcode) {
	case MLX5_OPCODE_SEND:
	case MLX5_OPCODE_SEND_IMM:
		wc->opcode = IBV_WC_SEND;
		break;
	case MLX5_OPCODE_RDMA_WRITE:
	case MLX5_OPCODE_RDMA_WRITE_IMM:
		wc->opcode = IBV_WC_RDMA_WRITE;
		break;
	case MLX5_OPCODE_RDMA_READ:
		wc->opcode = IBV_WC_RDMA_READ;
		break;
	case MLX5_OPCODE_ATOMIC_CS:
		wc->opcode = IBV_WC_COMP_SWAP;
		wc->byte_len = 8;
		break;
	case MLX5_OPCODE_ATOMIC_FA:
		wc->opcode = IBV_WC_FETCH_ADD;
		wc->byte_len = 8;
		break;
	}
}

static void poll_one(const struct fake_mlx5_cqe *cqe, struct ibv_wc *wc)
{
	struct fake_mlx5_qp *qp = cqe->qp;

	memset(wc, GARBAGE, sizeof(*wc));
	wc->wc_flags = 0;
	wc->status = cqe->status;
	wc->wr_id = cqe->wr_id;
	wc->qp_num = cqe->qp_num;
	if (!qp) {
		if (cqe->status == IBV_WC_SUCCESS)
			wc->opcode = (enum ibv_wc_opcode)cqe->opcode;
		return;
	}
	wc->wr_id = qp->wrid[cqe->index];
	qp->tail = qp->wqe_head[cqe->index] + 1;
	qp->tail_post = qp->wqe_end[cqe->index];
	if (cqe->status == IBV_WC_SUCCESS)
		good_wc(wc, cqe);
}

static int f_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct fake_mlx5_cq *cq = (struct fake_mlx5_cq *)ibcq;
	int n = 0;

	fake_mlx5_hw_lock();
	while (n < num && cq->head != cq->tail)
		poll_one(&cq->cqes[cq->head++ % MAX_CQES], &wc[n++]);
	fake_mlx5_hw_unlock();
	return n;
}

int fake_mlx5_poll(struct fake_mlx5_cq *cq, int num, struct ibv_wc *wc)
{
	return f_poll_cq(&cq->cq, num, wc);
}

void fake_mlx5_other(uint32_t qp_num, struct fake_mlx5_cq *cq, uint64_t wr_id,
		     enum ibv_wc_opcode opcode, enum ibv_wc_status status)
{
	cq->cqes[cq->tail++ % MAX_CQES] = (struct fake_mlx5_cqe) {
		.opcode = opcode, .status = status, .wr_id = wr_id,
		.qp_num = qp_num,
	};
}

static int f_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_mlx5_qp *qp = to_fake_mlx5(ibqp);

	if (fake_mlx5.modify_errno)
		return fake_mlx5.modify_errno;
	if (!(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RESET ||
	    !qp->f.has_ex)
		return 0;
	qp->head = qp->tail = 0;
	qp->cur_post = qp->tail_post = qp->doorbell = qp->run = 0;
	qp->failed = false;
	qp->cq->head = qp->cq->tail;	/* no other QP uses it */
	return 0;
}

int fake_mlx5_modify(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return exp_modify_qp(qp, &attr, IBV_QP_STATE, f_modify);
}

/* ---- creation ------------------------------------------------------------ */

static uint32_t align(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

/* mlx5_calc_send_wqe() */
static uint32_t nominal_size(const struct ibv_qp_init_attr_ex *attr)
{
	uint64_t ops = attr->send_ops_flags;
	uint32_t size = 16 + 16;
	uint32_t inl;

	if (ops & (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD))
		size += 16;
	if (ops & (IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV))
		size = 16 + 48 + 64 + 64;
	if (attr->qp_type == IBV_QPT_DRIVER)
		size += sizeof(struct mlx5_wqe_av);
	inl = attr->cap.max_inline_data ?
	      size + align(4 + attr->cap.max_inline_data, 16) : 0;
	size += attr->cap.max_send_sge * 16;
	return align(size > inl ? size : inl, BB);
}

static void set_builders(struct fake_mlx5_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->f.qpx;

	qpx->wr_send = f_send;
	qpx->wr_send_imm = f_send_imm;
	qpx->wr_rdma_write = f_write;
	qpx->wr_rdma_write_imm = f_write_imm;
	qpx->wr_rdma_read = f_read;
	qpx->wr_atomic_cmp_swp = fake_mlx5.no_atomic_builders ? NULL : f_cas;
	qpx->wr_atomic_fetch_add = fake_mlx5.no_atomic_builders ? NULL : f_faa;
	qpx->wr_set_sge_list = f_set_sge_list;
	qpx->wr_set_inline_data_list = f_set_inline_list;
	qpx->wr_start = f_start;
	qpx->wr_complete = f_complete;
	qpx->wr_abort = f_abort;
	qp->mqp.wr_set_dc_addr = f_set_dc_addr;
	qp->mqp.wr_raw_wqe = fake_mlx5.no_raw_wqe ? NULL : f_raw_wqe;
}

/* One allocation, which ibv_destroy_qp() of fake.c frees. */
static struct fake_mlx5_qp *new_qp(uint32_t wqe_cnt)
{
	size_t per_block = BB + sizeof(uint64_t) + 2 * sizeof(uint32_t) +
			   sizeof(int);
	struct fake_mlx5_qp *qp = (struct fake_mlx5_qp *)fake.reuse;

	if (!qp)
		qp = malloc(sizeof(*qp) + wqe_cnt * per_block);
	if (!qp)
		bail_out("out of memory");
	memset(qp, 0, sizeof(*qp) + wqe_cnt * per_block);
	qp->wqe_cnt = wqe_cnt;
	qp->wrid = (uint64_t *)(qp + 1);
	qp->wqe_head = (uint32_t *)(qp->wrid + wqe_cnt);
	qp->wqe_end = qp->wqe_head + wqe_cnt;
	qp->wr_data = (int *)(qp->wqe_end + wqe_cnt);
	qp->sq = (uint8_t *)(qp->wr_data + wqe_cnt);
	return qp;
}

static struct ibv_qp *f_create_qp(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr,
				  struct mlx5dv_qp_init_attr *mlx5_attr)
{
	uint32_t wqe_size = nominal_size(attr);
	uint32_t wq_size = BB;
	struct fake_mlx5_qp *qp;

	fake_mlx5.last = *attr;
	fake_mlx5.last_mlx5 = *mlx5_attr;
	if (fake_mlx5.create_errno) {
		errno = fake_mlx5.create_errno;
		return NULL;
	}
	while (wq_size < attr->cap.max_send_wr * wqe_size)
		wq_size *= 2;
	qp = new_qp(wq_size / BB);
	qp->f.qp.context = context;
	qp->f.qp.qp_num = __atomic_add_fetch(&fake.next_qpn, 1,
					     __ATOMIC_RELAXED);
	qp->f.qp.handle = qp->f.qp.qp_num;
	qp->f.qp.qp_type = attr->qp_type;
	qp->f.qp.send_cq = attr->send_cq;
	if (mlx5_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DC)
		qp->dc_type = mlx5_attr->dc_init_attr.dc_type;
	qp->f.has_ex = !fake_mlx5.no_qpx;
	pthread_mutex_init(&qp->lock, NULL);
	qp->cq = (struct fake_mlx5_cq *)attr->send_cq;
	qp->sig_all = attr->sq_sig_all;
	qp->max_gs = attr->cap.max_send_sge;
	qp->wqe_size = wqe_size;
	qp->max_post = wq_size / wqe_size;
	qp->max_inline = attr->cap.max_inline_data;
	attr->cap.max_send_wr = qp->max_post;
	set_builders(qp);
	fake_mlx5.created++;
	return &qp->f.qp;
}

static struct mlx5dv_qp_ex *f_qp_ex(struct ibv_qp_ex *qpx)
{
	return fake_mlx5.no_dv_qpx ? NULL : &of_qpx(qpx)->mqp;
}

static const struct exp_mlx5dv dv = {
	.is_supported = f_is_supported,
	.create_qp = f_create_qp,
	.qp_ex_from_ibv_qp_ex = f_qp_ex,
	.devx_general_cmd = f_devx,
	.init_obj = f_init_obj,
	.has_raw_wqe = true,
};

void fake_mlx5_init(void)
{
	mlx5_vctx.sz = sizeof(mlx5_vctx);
	mlx5_vctx.query_device_ex = fake_query_device_ex;
	mlx5_vctx.create_qp_ex = std_vctx.create_qp_ex;
	mlx5_vctx.context.abi_compat = std_vctx.context.abi_compat;
	mlx5_vctx.context.device = &mlx5_device;
	mlx5_cq.cq.context = mlx5_ctx;
	mlx5_cq2.cq.context = mlx5_ctx;
}

static int f_close_device(struct ibv_context *context)
{
	(void)context;
	return 0;
}

void fake_mlx5_reopen(void)
{
	exp_close_device(mlx5_ctx, f_close_device);
	mlx5_ctx->ops.post_send = f_post_send;
	mlx5_ctx->ops.poll_cq = f_poll_cq;
}

void fake_mlx5_reset(void)
{
	fake_reset();
	fake_mlx5_reopen();
	fake.mlx5dv = &dv;
	fake.std.orig_attr.atomic_cap = IBV_ATOMIC_HCA;
	memset(&fake_mlx5, 0, sizeof(fake_mlx5));
	fake_mlx5.endianness_mode = 1;
	fake_mlx5.operations = OPS;
	fake_mlx5.size_qp = SIZES;
	fake_mlx5.size_dc = SIZES;
	mlx5_cq.head = mlx5_cq.tail = 0;
	mlx5_cq2.head = mlx5_cq2.tail = 0;
}

void mlx5_init_attr(struct ibv_exp_qp_init_attr *attr, uint32_t max_send_wr,
		    uint32_t exp_create_flags, bool sig_all)
{
	init_attr(attr, mlx5_ctx, PD | FLAGS | ARG);
	attr->pd = &mlx5_pd;
	attr->send_cq = &mlx5_cq.cq;
	attr->recv_cq = &mlx5_cq.cq;
	attr->cap.max_send_wr = max_send_wr;
	attr->sq_sig_all = sig_all;
	attr->exp_create_flags = exp_create_flags;
	attr->max_atomic_arg = 32;
}

struct ibv_qp *mlx5_qp(uint32_t max_send_wr, uint32_t exp_create_flags,
		       bool sig_all)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;

	mlx5_init_attr(&attr, max_send_wr, exp_create_flags, sig_all);
	qp = ibv_exp_create_qp(mlx5_ctx, &attr);
	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	return qp;
}
