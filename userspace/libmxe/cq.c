// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues, which the program polls without a system call. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cq.h"
#include "pd.h"
#include "rdmav.h"
#include "ring.h"

/* Opcodes of masked atomics in the experimental verbs of MLNX_OFED. */
enum {
	EXP_WC_MASKED_COMP_SWAP	= 9,
	EXP_WC_MASKED_FETCH_ADD	= 10,
};

struct mxe_create_cq {
	struct ibv_create_cq_ex cmd;
	struct mxe_create_cq_req drv;
};

struct mxe_create_cq_resp_full {
	__aligned_u64 core[sizeof(struct ib_uverbs_ex_create_cq_resp) / 8];
	struct mxe_create_cq_resp drv;
};

enum {
	MXE_WC_FLAGS = IBV_WC_STANDARD_FLAGS |
		       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
		       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK |
		       IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG |
		       IBV_WC_EX_WITH_TM_INFO,
};

enum {
	MXE_CQ_INIT_ATTRS = IBV_CQ_INIT_ATTR_MASK_FLAGS |
			    IBV_CQ_INIT_ATTR_MASK_PD,
};

/*
 * Indexed by enum mxe_wc_opcode. Older headers of libibverbs have no names for
 * FLUSH and ATOMIC WRITE.
 */
static const uint8_t mxe_wc_opcodes[] = {
	[MXE_WC_SEND] = IBV_WC_SEND,
	[MXE_WC_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[MXE_WC_RDMA_READ] = IBV_WC_RDMA_READ,
	[MXE_WC_COMP_SWAP] = IBV_WC_COMP_SWAP,
	[MXE_WC_FETCH_ADD] = IBV_WC_FETCH_ADD,
	[MXE_WC_BIND_MW] = IBV_WC_BIND_MW,
	[MXE_WC_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[MXE_WC_FLUSH] = MXE_WC_FLUSH,
	[MXE_WC_ATOMIC_WRITE] = MXE_WC_ATOMIC_WRITE,
	[MXE_WC_MASKED_COMP_SWAP] = IBV_WC_COMP_SWAP,
	[MXE_WC_MASKED_FETCH_ADD] = IBV_WC_FETCH_ADD,
};

/* Of a failed request, only the distinction of send and receive is valid. */
static inline enum ibv_wc_opcode mxe_wc_opcode(const struct mxe_cqe *cqe)
{
	unsigned int opcode = cqe->opcode;

	if (opcode >= sizeof(mxe_wc_opcodes))
		/* Those of receives have the values of libibverbs. */
		return opcode >= MXE_WC_RECV && opcode <= MXE_WC_TM_NO_TAG ?
		       (enum ibv_wc_opcode)opcode : IBV_WC_SEND;
	if (cqe->flags & MXE_CQE_USER && opcode == MXE_WC_MASKED_COMP_SWAP)
		return (enum ibv_wc_opcode)EXP_WC_MASKED_COMP_SWAP;
	if (cqe->flags & MXE_CQE_USER && opcode == MXE_WC_MASKED_FETCH_ADD)
		return (enum ibv_wc_opcode)EXP_WC_MASKED_FETCH_ADD;
	return mxe_wc_opcodes[opcode];
}

static unsigned int mxe_wc_flags(const struct mxe_cqe *cqe)
{
	unsigned int flags = 0;

	if (cqe->flags & MXE_CQE_GRH)
		flags |= IBV_WC_GRH;
	if (cqe->flags & MXE_CQE_WITH_IMM)
		flags |= IBV_WC_WITH_IMM;
	if (cqe->flags & MXE_CQE_WITH_INV)
		flags |= IBV_WC_WITH_INV;
	if (cqe->flags & MXE_CQE_TM_MATCH)
		flags |= IBV_WC_TM_MATCH;
	if (cqe->flags & MXE_CQE_TM_DATA_VALID)
		flags |= IBV_WC_TM_DATA_VALID;
	if (cqe->flags & MXE_CQE_TM_SYNC_REQ)
		flags |= IBV_WC_TM_SYNC_REQ;
	return flags;
}

/*
 * RoCE has no service level. The completion of a datagram must report the type
 * of its network header (IBTA A17.4.5.1), for which the verbs have no field.
 * Applications expect it in sl, in the encoding of ConnectX: 8 for UDP, plus 1
 * for IPv6 or 2 for IPv4.
 */
static uint8_t mxe_wc_sl(const struct mxe_cqe *cqe)
{
	if (!(cqe->flags & MXE_CQE_GRH))
		return 0;
	return 8 | (cqe->flags & MXE_CQE_IPV4 ? 2 : 1);
}

/* Copies inline data to the receive buffer. */
static __attribute__((noinline)) void mxe_cq_scatter_inline(const struct mxe_cqe *cqe)
{
	uint32_t len = cqe->byte_len;

	memcpy((void *)(uintptr_t)cqe->recv_addr, cqe->inline_data,
	       len < MXE_CQE_INLINE_SIZE ? len : MXE_CQE_INLINE_SIZE);
}

/* Waits for the end of a resize, without spinning. */
static __attribute__((cold, noinline)) void mxe_cq_wait(struct mxe_cq *cq)
{
	pthread_mutex_lock(&cq->resize_lock);
	pthread_mutex_unlock(&cq->resize_lock);
}

/*
 * Locks the ring and returns the number of completions in it. A ring that is
 * being resized has no entries and so no completions. The caller must not see
 * an empty CQ then, because the program might wait for an event that was
 * already sent.
 */
static inline uint32_t mxe_cq_lock(struct mxe_cq *cq)
{
	struct mxe_ring *ring = &cq->ring;
	uint32_t pending;

	for (;;) {
		mxe_ring_lock(ring);
		pending = mxe_ring_pending(ring);
		if (pending || ring->entries)
			return pending;
		mxe_ring_unlock(ring);
		mxe_cq_wait(cq);
	}
}

int mxe_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct mxe_ring *ring = &to_mcq(ibcq)->ring;
	uint32_t pending = mxe_cq_lock(to_mcq(ibcq));
	uint32_t index = ring->index;
	int n;

	for (n = 0; n < num_entries && pending; n++, pending--, wc++) {
		const struct mxe_cqe *cqe = mxe_ring_at(ring, index++);

		*wc = (struct ibv_wc){
			.wr_id = cqe->wr_id,
			.status = cqe->status,
			.opcode = mxe_wc_opcode(cqe),
			.vendor_err = cqe->vendor_err,
			.byte_len = cqe->byte_len,
			.imm_data = cqe->imm_data,
			.qp_num = cqe->qp_num,
			.src_qp = cqe->src_qp,
			.pkey_index = cqe->pkey_index,
		};
		if (cqe->flags) {
			wc->wc_flags = mxe_wc_flags(cqe);
			wc->sl = mxe_wc_sl(cqe);
			if (cqe->flags & MXE_CQE_INLINE)
				mxe_cq_scatter_inline(cqe);
		}
	}
	if (n > 0) {
		ring->index = index;
		mxe_store_release(&ring->hdr->consumer, index);
	}
	mxe_ring_unlock(ring);
	return n;
}

/**
 * mxe_cq_purge() - Remove the completions of a QP from a CQ.
 * @ibcq: the CQ
 * @qp_num: number of the QP
 *
 * Moves the remaining completions towards the producer index, in their order,
 * and then advances the consumer index. The kernel adds no completions of this
 * QP any more. No resize is in progress meanwhile, because the kernel might
 * have copied the completions already.
 */
void mxe_cq_purge(struct ibv_cq *ibcq, uint32_t qp_num)
{
	struct mxe_cq *cq = to_mcq(ibcq);
	struct mxe_ring *ring = &cq->ring;
	uint32_t dropped = 0;
	uint32_t i;

	pthread_mutex_lock(&cq->resize_lock);
	mxe_ring_lock(ring);
	i = ring->index + mxe_ring_pending(ring);
	while (i != ring->index) {
		struct mxe_cqe *cqe = mxe_ring_at(ring, --i);

		if (cqe->qp_num == qp_num)
			dropped++;
		else if (dropped)
			*(struct mxe_cqe *)mxe_ring_at(ring, i + dropped) =
				*cqe;
	}
	if (dropped) {
		ring->index += dropped;
		mxe_store_release(&ring->hdr->consumer, ring->index);
	}
	mxe_ring_unlock(ring);
	pthread_mutex_unlock(&cq->resize_lock);
}

/* ---- ibv_start_poll() and its family ----------------------------------- */

static inline void mxe_cq_take(struct mxe_cq *cq)
{
	struct mxe_ring *ring = &cq->ring;

	cq->cqe = *(struct mxe_cqe *)mxe_ring_at(ring, ring->index++);
	cq->vcq.cq_ex.wr_id = cq->cqe.wr_id;
	cq->vcq.cq_ex.status = cq->cqe.status;
	if (cq->cqe.flags & MXE_CQE_INLINE)
		mxe_cq_scatter_inline(&cq->cqe);
}

static int mxe_next_poll(struct ibv_cq_ex *ibcq)
{
	struct mxe_cq *cq = to_mcq_ex(ibcq);

	if (!mxe_ring_pending(&cq->ring))
		return ENOENT;
	mxe_cq_take(cq);
	return 0;
}

static int mxe_start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct mxe_cq *cq = to_mcq_ex(ibcq);

	if (attr->comp_mask)
		return EINVAL;
	if (!mxe_cq_lock(cq)) {
		mxe_ring_unlock(&cq->ring);
		return ENOENT;
	}
	mxe_cq_take(cq);
	return 0;
}

static void mxe_end_poll(struct ibv_cq_ex *ibcq)
{
	struct mxe_ring *ring = &to_mcq_ex(ibcq)->ring;

	mxe_store_release(&ring->hdr->consumer, ring->index);
	mxe_ring_unlock(ring);
}

static enum ibv_wc_opcode mxe_read_opcode(struct ibv_cq_ex *ibcq)
{
	return mxe_wc_opcode(&to_mcq_ex(ibcq)->cqe);
}

static uint32_t mxe_read_vendor_err(struct ibv_cq_ex *ibcq)
{
	return to_mcq_ex(ibcq)->cqe.vendor_err;
}

static uint32_t mxe_read_byte_len(struct ibv_cq_ex *ibcq)
{
	return to_mcq_ex(ibcq)->cqe.byte_len;
}

static __be32 mxe_read_imm_data(struct ibv_cq_ex *ibcq)
{
	return to_mcq_ex(ibcq)->cqe.imm_data;
}

static uint32_t mxe_read_qp_num(struct ibv_cq_ex *ibcq)
{
	return to_mcq_ex(ibcq)->cqe.qp_num;
}

static uint32_t mxe_read_src_qp(struct ibv_cq_ex *ibcq)
{
	return to_mcq_ex(ibcq)->cqe.src_qp;
}

static unsigned int mxe_read_wc_flags(struct ibv_cq_ex *ibcq)
{
	return mxe_wc_flags(&to_mcq_ex(ibcq)->cqe);
}

/* Only the match of a message has its header. */
static void mxe_read_tm_info(struct ibv_cq_ex *ibcq,
			     struct ibv_wc_tm_info *tm_info)
{
	const struct mxe_cqe *cqe = &to_mcq_ex(ibcq)->cqe;
	bool valid = cqe->flags & MXE_CQE_TM_INFO;

	tm_info->tag = valid ? cqe->tm_tag : 0;
	tm_info->priv = valid ? cqe->tm_priv : 0;
}

/* The netdev removes VLAN headers, and there are no flow rules. */
static uint16_t mxe_read_cvlan(struct ibv_cq_ex *ibcq)
{
	(void)ibcq;
	return 0;
}

static uint32_t mxe_read_flow_tag(struct ibv_cq_ex *ibcq)
{
	(void)ibcq;
	return 0;
}

/* RoCE has no LIDs. */
static uint32_t mxe_read_slid(struct ibv_cq_ex *ibcq)
{
	(void)ibcq;
	return 0;
}

static uint8_t mxe_read_sl(struct ibv_cq_ex *ibcq)
{
	return mxe_wc_sl(&to_mcq_ex(ibcq)->cqe);
}

static uint8_t mxe_read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	(void)ibcq;
	return 0;
}

static uint64_t mxe_read_completion_ts(struct ibv_cq_ex *ibcq)
{
	return to_mcq_ex(ibcq)->cqe.timestamp;
}

static uint64_t mxe_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * The offset between the clocks is constant until CLOCK_REALTIME is set.
 * However, the thread may lose the CPU between two readings, so a sample gives
 * only bounds of the offset. The CQ keeps the greatest lower bound. Later
 * completions therefore never have earlier times, unless CLOCK_REALTIME was set
 * back, and each sample can only make the times more exact.
 */
static uint64_t mxe_read_completion_wallclock_ns(struct ibv_cq_ex *ibcq)
{
	struct mxe_cq *cq = to_mcq_ex(ibcq);
	uint64_t before = mxe_now_ns(CLOCK_MONOTONIC);
	uint64_t wall = mxe_now_ns(CLOCK_REALTIME);
	uint64_t after = mxe_now_ns(CLOCK_MONOTONIC);
	int64_t least = (int64_t)(wall - after);
	int64_t most = (int64_t)(wall - before);

	if (cq->wall_offset < least || cq->wall_offset > most)
		cq->wall_offset = least;
	return cq->cqe.timestamp + (uint64_t)cq->wall_offset;
}

static void mxe_set_readers(struct ibv_cq_ex *ibcq)
{
	ibcq->start_poll = mxe_start_poll;
	ibcq->next_poll = mxe_next_poll;
	ibcq->end_poll = mxe_end_poll;
	ibcq->read_opcode = mxe_read_opcode;
	ibcq->read_vendor_err = mxe_read_vendor_err;
	ibcq->read_byte_len = mxe_read_byte_len;
	ibcq->read_imm_data = mxe_read_imm_data;
	ibcq->read_qp_num = mxe_read_qp_num;
	ibcq->read_src_qp = mxe_read_src_qp;
	ibcq->read_wc_flags = mxe_read_wc_flags;
	ibcq->read_completion_ts = mxe_read_completion_ts;
	ibcq->read_completion_wallclock_ns = mxe_read_completion_wallclock_ns;
	ibcq->read_slid = mxe_read_slid;
	ibcq->read_sl = mxe_read_sl;
	ibcq->read_dlid_path_bits = mxe_read_dlid_path_bits;
	ibcq->read_cvlan = mxe_read_cvlan;
	ibcq->read_flow_tag = mxe_read_flow_tag;
	ibcq->read_tm_info = mxe_read_tm_info;
}

/* ---- creation and destruction ------------------------------------------ */

static bool mxe_cq_is_single_threaded(const struct ibv_cq_init_attr_ex *attr)
{
	return (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
		attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) ||
	       (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
		mxe_pd_is_single_threaded(attr->parent_domain));
}

static struct mxe_cq *mxe_make_cq(struct ibv_context *context,
				  const struct ibv_cq_init_attr_ex *attr)
{
	struct mxe_create_cq cmd = { 0 };
	struct mxe_create_cq_resp_full resp = { 0 };
	struct mxe_cq *cq;
	int ret;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	pthread_mutex_init(&cq->resize_lock, NULL);

	ret = ibv_cmd_create_cq_ex(context, attr, RDMAV_ARG_59(NULL)
				   &cq->vcq, &cmd.cmd, sizeof(cmd),
				   (void *)&resp, sizeof(resp), 0);
	if (ret)
		goto err_free;
	if (!resp.drv.ring.entries) {
		ret = EPROTO;
		goto err_destroy;
	}
	ret = mxe_ring_map(&cq->ring, context->cmd_fd, &resp.drv.ring,
			   sizeof(struct mxe_cqe), NULL);
	if (ret)
		goto err_destroy;
	return cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	pthread_mutex_destroy(&cq->resize_lock);
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *mxe_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct mxe_cq *cq = mxe_make_cq(context, &attr);

	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *mxe_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr)
{
	struct mxe_cq *cq;

	if (attr->wc_flags & ~(uint64_t)MXE_WC_FLAGS ||
	    attr->comp_mask & ~MXE_CQ_INIT_ATTRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->cqe > INT_MAX || attr->comp_vector > INT_MAX ||
	    (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	     !attr->parent_domain)) {
		errno = EINVAL;
		return NULL;
	}

	cq = mxe_make_cq(context, attr);
	if (!cq)
		return NULL;
	cq->ring.is_single_threaded = mxe_cq_is_single_threaded(attr);
	mxe_set_readers(&cq->vcq.cq_ex);
	return &cq->vcq.cq_ex;
}

struct mxe_resize_cq_resp_full {
	__aligned_u64 core[sizeof(struct ib_uverbs_resize_cq_resp) / 8];
	struct mxe_resize_cq_resp drv;
};

static uint32_t mxe_cq_set_entries(struct mxe_cq *cq, uint32_t entries)
{
	struct mxe_ring *ring = &cq->ring;
	uint32_t old;

	mxe_ring_lock(ring);
	old = ring->entries;
	ring->entries = entries;
	mxe_ring_unlock(ring);
	return old;
}

/*
 * Nothing is polled meanwhile. The kernel does not see that completions are
 * polled from the old ring after it has copied them, so it would take the new
 * ring for full too early. If the new ring cannot be mapped, this fails and the
 * CQ delivers no more completions than those in the old one.
 */
int mxe_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct mxe_resize_cq_resp_full resp = { 0 };
	struct ibv_resize_cq cmd = { 0 };
	struct mxe_cq *cq = to_mcq(ibcq);
	struct mxe_ring ring;
	uint32_t entries;
	int ret;

	pthread_mutex_lock(&cq->resize_lock);
	entries = mxe_cq_set_entries(cq, 0);
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), (void *)&resp,
				sizeof(resp));
	if (!ret && !resp.drv.ring.entries)
		ret = EPROTO;
	if (!ret)
		ret = mxe_ring_map(&ring, ibcq->context->cmd_fd,
				   &resp.drv.ring, sizeof(struct mxe_cqe), NULL);
	if (!ret) {
		mxe_ring_lock(&cq->ring);
		mxe_ring_swap(&cq->ring, &ring);
		mxe_ring_unlock(&cq->ring);
		mxe_ring_unmap(&ring);
	} else {
		mxe_cq_set_entries(cq, entries);
	}
	pthread_mutex_unlock(&cq->resize_lock);
	return ret;
}

int mxe_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = { 0 };

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

int mxe_destroy_cq(struct ibv_cq *ibcq)
{
	struct mxe_cq *cq = to_mcq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;
	mxe_ring_unmap(&cq->ring);
	pthread_mutex_destroy(&cq->resize_lock);
	free(cq);
	return 0;
}
