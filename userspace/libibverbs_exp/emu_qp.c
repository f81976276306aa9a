// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The send queue of an emulated QP; see backend_emu.c.
 *
 * The ring has as many entries as the send queue of the device. The device
 * never holds more requests than the ring, because a try is posted only after
 * the previous one has completed.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

#include "masked_atomic.h"
#include "emu_cq.h"
#include "emu_device.h"
#include "emu_progress.h"
#include "emu_qp.h"
#include "std.h"

enum emu_kind {
	EMU_PASS,	/* is posted unchanged */
	EMU_ONCE,	/* a standard atomic whose result is converted */
	EMU_CMP_SWAP,	/* a loop */
	EMU_FETCH_ADD,	/* a loop */
	/*
	 * An atomic at an unaligned address, which some providers refuse to
	 * post. An empty write is posted instead. The request fails when that
	 * completes, as if the peer had refused it.
	 */
	EMU_FAIL,
};

/* A request, from its posting by the program until it is done. */
struct emu_wr {
	struct ibv_send_wr std;	/* request or try posted to the device */
	void *posted;		/* the program's request, during the call */
	uint64_t wr_id;		/* of the program */
	enum emu_kind kind;
	bool signaled;		/* the program wants a completion */
	bool probing;		/* the try only tests the buffers */
	int wc_opcode;		/* for the program; 0: the device's */
	enum ibv_wr_opcode opcode;	/* of EMU_ONCE */
	struct emu_masked masked;	/* operands of 8 bytes */
	uint32_t size;		/* of the program's operands and result */
	unsigned int shift;	/* position of the result in the word */
	struct ibv_sge *sges;	/* of the program */
	int num_sge;
};

static struct emu_wr *wr_at(struct emu_qp *qp, uint64_t seq)
{
	return &qp->wrs[seq % qp->size];
}

/* ---- masked operations ------------------------------------------------- */

/* Returns the value that the masked atomic stores if the word is old. */
static uint64_t apply(const struct emu_wr *wr, uint64_t old)
{
	const struct emu_masked *m = &wr->masked;

	if (wr->kind == EMU_CMP_SWAP)
		return masked_cmp_swap_u64(old, m->compare_add, m->compare_mask,
					   m->swap, m->swap_mask);
	return masked_fetch_add_u64(old, m->compare_add, m->compare_mask);
}

/*
 * Returns the bit offset of an operand of less than 8 bytes in the value of the
 * aligned 8-byte word that contains it. Assumes that the responder has the byte
 * order of this host.
 */
static unsigned int part_shift(uint64_t addr, uint32_t size)
{
	unsigned int at = addr & (sizeof(uint64_t) - size);

	return 8 * (BYTE_ORDER == LITTLE_ENDIAN ?
		    at : (unsigned int)sizeof(uint64_t) - size - at);
}

/* Widens a masked atomic to 8 bytes. The other bytes keep their value. */
static void widen(struct emu_masked *m, unsigned int shift)
{
	uint64_t part = (1ull << 8 * m->size) - 1;

	m->compare_add = (m->compare_add & part) << shift;
	m->compare_mask = (m->compare_mask & part) << shift;
	m->swap = (m->swap & part) << shift;
	m->swap_mask = (m->swap_mask & part) << shift;
	/* No carry leaves the operand. */
	if (!m->is_cmp_swap)
		m->compare_mask |= 1ull << (shift + 8 * m->size - 1);
}

/*
 * Selects the standard atomic of a masked one. One standard atomic suffices if
 * the masks have no effect, or if the masked atomic changes nothing.
 */
static void lower(struct emu_wr *wr, const struct emu_masked *masked)
{
	struct emu_masked *m = &wr->masked;

	*m = *masked;
	if (m->size != sizeof(uint64_t)) {
		wr->shift = part_shift(wr->std.wr.atomic.remote_addr, m->size);
		widen(m, wr->shift);
	}
	wr->size = m->size;
	wr->wc_opcode = m->is_cmp_swap ? IBV_EXP_WC_MASKED_COMP_SWAP :
					 IBV_EXP_WC_MASKED_FETCH_ADD;
	wr->kind = EMU_PASS;
	wr->std.wr.atomic.compare_add = m->compare_add;
	wr->std.wr.atomic.swap = m->swap;

	if (!m->is_cmp_swap) {
		wr->std.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		if (!masked_fetch_add_is_plain_u64(m->compare_mask))
			wr->kind = EMU_FETCH_ADD;
	} else if (!m->swap_mask) {
		wr->std.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->std.wr.atomic.compare_add = 0;
	} else {
		wr->std.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		if (!masked_cmp_swap_is_plain_u64(m->compare_mask,
						  m->swap_mask))
			wr->kind = EMU_CMP_SWAP;
	}
}

static uint64_t first_guess(const struct emu_qp *qp, const struct emu_wr *wr)
{
	if (qp->last_addr == wr->std.wr.atomic.remote_addr &&
	    qp->last_rkey == wr->std.wr.atomic.rkey)
		return qp->last_word;
	if (wr->kind == EMU_CMP_SWAP)
		return wr->masked.compare_add & wr->masked.compare_mask;
	return 0;
}

/* ---- buffers of the program --------------------------------------------- */

/* Regions that were deregistered; wraps. */
static unsigned int deregs;

/**
 * emu_qp_forget_buffers() - Check the buffers of all QPs again.
 *
 * To be called after a region was deregistered: its lkey is no longer valid,
 * and may be that of another region later.
 */
void emu_qp_forget_buffers(void)
{
	__atomic_add_fetch(&deregs, 1, __ATOMIC_SEQ_CST);
}

static void drop_stale_ranges(struct emu_qp *qp)
{
	unsigned int now = __atomic_load_n(&deregs, __ATOMIC_SEQ_CST);

	if (qp->deregs == now)
		return;
	memset(qp->ranges, 0, sizeof(qp->ranges));
	qp->deregs = now;
}

/*
 * The device must not write the result of a try to the buffer of the program,
 * because other requests may share a buffer whose contents are not needed, and
 * the result decides about the next try. Therefore the CPU copies the final
 * result, which does not check the lkey. Before the first use of a buffer a
 * fetch-and-add of 0 into it is posted, which fails as the request would have
 * failed. The device can write to the whole range between two buffers of the
 * same region, because a region has no holes. There is no such request for a
 * buffer of less than 8 bytes, so its lkey is not checked.
 */
static bool is_known(const struct emu_qp *qp, const struct ibv_sge *sge)
{
	int i;

	for (i = 0; i < EMU_RANGES; i++)
		if (qp->ranges[i].lkey == sge->lkey &&
		    qp->ranges[i].begin <= sge->addr &&
		    qp->ranges[i].end >= sge->addr + sge->length)
			return true;
	return false;
}

static bool must_probe(struct emu_qp *qp, const struct emu_wr *wr)
{
	int i;

	if (wr->size != sizeof(uint64_t))
		return false;
	drop_stale_ranges(qp);
	for (i = 0; i < wr->num_sge; i++)
		if (!is_known(qp, &wr->sges[i]))
			return true;
	return false;
}

static void learn(struct emu_qp *qp, const struct ibv_sge *sge)
{
	struct emu_range *range = NULL;
	int i;

	for (i = 0; i < EMU_RANGES; i++)
		if (qp->ranges[i].end && qp->ranges[i].lkey == sge->lkey)
			range = &qp->ranges[i];
	if (!range) {
		range = &qp->ranges[qp->next_range++ % EMU_RANGES];
		range->lkey = sge->lkey;
		range->begin = sge->addr;
		range->end = sge->addr + sge->length;
	}
	if (range->begin > sge->addr)
		range->begin = sge->addr;
	if (range->end < sge->addr + sge->length)
		range->end = sge->addr + sge->length;
}

static void put_result(const struct emu_qp *qp, const struct emu_wr *wr,
		       uint64_t old)
{
	const char *from = (const char *)&old;
	size_t left = wr->size;
	int i;

	old >>= wr->shift;
	if (qp->be_reply)
		old = htobe64(old);
	/* The least significant bytes come last in big-endian. */
	if (qp->be_reply || BYTE_ORDER == BIG_ENDIAN)
		from += sizeof(old) - left;
	for (i = 0; i < wr->num_sge && left; i++) {
		size_t part = wr->sges[i].length;

		if (part > left)
			part = left;
		memcpy((void *)(uintptr_t)wr->sges[i].addr, from, part);
		from += part;
		left -= part;
	}
}

/* ---- posting to the device ---------------------------------------------- */

/**
 * emu_qp_set_busy() - Note whether a request of the QP is in the loop.
 * @qp: the send queue, locked, or paused with the lock of its CQ held
 * @busy: true if one is: the thread continues it
 */
void emu_qp_set_busy(struct emu_qp *qp, bool busy)
{
	if (qp->busy == busy)
		return;
	qp->busy = busy;
	__atomic_add_fetch(&qp->cq->busy, busy ? 1 : -1, __ATOMIC_SEQ_CST);
	if (busy)
		emu_progress_kick();
}

static void prepare_try(struct emu_qp *qp, struct emu_wr *wr)
{
	struct ibv_send_wr *std = &wr->std;

	std->next = NULL;
	if (wr->kind == EMU_FAIL) {
		std->opcode = IBV_WR_RDMA_WRITE;
		std->num_sge = 0;
		std->wr.rdma.remote_addr = 0;
		std->wr.rdma.rkey = 0;
		return;
	}
	std->sg_list = wr->probing ? wr->sges : &qp->result;
	std->num_sge = wr->probing ? wr->num_sge : 1;
	if (wr->probing) {
		std->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		std->wr.atomic.compare_add = 0;
	} else if (wr->kind == EMU_ONCE) {
		std->opcode = wr->opcode;
		std->wr.atomic.compare_add = wr->masked.compare_add;
		std->wr.atomic.swap = wr->masked.swap;
	} else {
		std->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		std->wr.atomic.compare_add = qp->guess;
		std->wr.atomic.swap = apply(wr, qp->guess);
	}
}

/*
 * Posts the requests that are held back, up to and including the first one that
 * needs processing by this library. Returns 0, or the errno of the request with
 * the number posted.
 */
static int push(struct emu_qp *qp)
{
	struct ibv_send_wr *bad = NULL;
	struct emu_wr *first = wr_at(qp, qp->posted), *wr = NULL;
	uint64_t seq;
	int ret;

	if (qp->busy || qp->paused || qp->posted == qp->head)
		return 0;
	for (seq = qp->posted; seq != qp->head; ) {
		if (wr)
			wr->std.next = &wr_at(qp, seq)->std;
		wr = wr_at(qp, seq++);
		wr->std.next = NULL;
		if (wr->kind != EMU_PASS) {
			qp->guess = first_guess(qp, wr);
			wr->probing = wr->kind != EMU_FAIL && must_probe(qp, wr);
			prepare_try(qp, wr);
			break;
		}
	}

	ret = qp->device->post_send(qp->qp, &first->std, &bad);
	if (!ret) {
		qp->posted = seq;
		emu_qp_set_busy(qp, wr->kind != EMU_PASS);
		return 0;
	}
	while (bad && qp->posted != seq && &wr_at(qp, qp->posted)->std != bad)
		qp->posted++;
	return ret;
}

/* ---- completions --------------------------------------------------------- */

/* Flushes all requests from seq on, as the device does in the error state. */
static void flush(struct emu_qp *qp, uint64_t seq, uint32_t vendor_err)
{
	struct ibv_wc wc = {
		.status = IBV_WC_WR_FLUSH_ERR, .vendor_err = vendor_err,
		.qp_num = qp->qp->qp_num,
	};

	for (; seq != qp->head; seq++) {
		wc.wr_id = wr_at(qp, seq)->wr_id;
		emu_cq_push(qp->cq, &wc);
	}
	qp->done = qp->head;
	qp->posted = qp->head;
}

static void to_error(struct emu_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	exp_std()->modify_qp(qp->qp, &attr, IBV_QP_STATE);
}

/*
 * Handles the refusal by the device of a request that was posted successfully
 * for the program. Flushes all outstanding requests. Some of them may have been
 * executed, which a program must expect of flushed requests.
 */
static void refused(struct emu_qp *qp, int err)
{
	to_error(qp);
	emu_qp_set_busy(qp, false);
	flush(qp, qp->done, err);
}

/* Posts the requests after one that is done. */
static void go_on(struct emu_qp *qp)
{
	int ret;

	emu_qp_set_busy(qp, false);
	if (qp->posted == qp->head)
		return;
	emu_cq_rearm(qp->cq);
	ret = push(qp);
	if (ret)
		refused(qp, ret);
}

static void try_again(struct emu_qp *qp, struct emu_wr *wr)
{
	struct ibv_send_wr *bad;
	int ret;

	wr->std.send_flags = IBV_SEND_SIGNALED;
	prepare_try(qp, wr);
	emu_cq_rearm(qp->cq);
	ret = qp->device->post_send(qp->qp, &wr->std, &bad);
	if (ret)
		refused(qp, ret);
}

/* Processes the result of a try. Returns true if the request is done. */
static bool try_ended(struct emu_qp *qp, struct emu_wr *wr)
{
	uint64_t old = __atomic_load_n((uint64_t *)qp->page, __ATOMIC_ACQUIRE);
	int i;

	if (wr->probing) {
		for (i = 0; i < wr->num_sge; i++)
			learn(qp, &wr->sges[i]);
		wr->probing = false;
		return false;
	}
	if (wr->kind != EMU_ONCE) {
		/* If the word would not change, no swap is needed. */
		if (old != qp->guess && apply(wr, old) != old) {
			qp->guess = old;
			return false;
		}
		qp->last_addr = wr->std.wr.atomic.remote_addr;
		qp->last_rkey = wr->std.wr.atomic.rkey;
		qp->last_word = apply(wr, old);
	}
	put_result(qp, wr, old);
	return true;
}

static void deliver(struct emu_qp *qp, const struct emu_wr *wr,
		    const struct ibv_wc *from)
{
	struct ibv_wc wc = *from;

	wc.wr_id = wr->wr_id;
	if (wc.status == IBV_WC_SUCCESS && wr->wc_opcode) {
		wc.opcode = (enum ibv_wc_opcode)wr->wc_opcode;
		wc.byte_len = wr->size;
	}
	emu_cq_push(qp->cq, &wc);
}

static void complete(struct emu_qp *qp, uint64_t seq, const struct ibv_wc *wc)
{
	struct emu_wr *wr = wr_at(qp, seq);
	bool in_loop = qp->busy && seq + 1 == qp->posted;
	struct ibv_wc failed;

	if (wc->status == IBV_WC_SUCCESS && wr->kind == EMU_FAIL) {
		to_error(qp);
		failed = *wc;
		failed.status = IBV_WC_REM_INV_REQ_ERR;
		wc = &failed;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		deliver(qp, wr, wc);
		qp->done = seq + 1;
		if (in_loop) {
			emu_qp_set_busy(qp, false);
			flush(qp, seq + 1, 0);
		}
		return;
	}
	if (in_loop && !try_ended(qp, wr)) {
		try_again(qp, wr);
		return;
	}
	if (wr->signaled)
		deliver(qp, wr, wc);
	qp->done = seq + 1;
	if (in_loop)
		go_on(qp);
}

/*
 * The completion of a request in the loop may need the QP. While that is
 * paused, the completion is kept. No request of the QP is behind it at the
 * device.
 */
static void keep(struct emu_qp *qp, const struct ibv_wc *wc)
{
	qp->has_late = true;
	qp->late = *wc;
	if (qp->cq->ex)
		qp->late_ex = qp->cq->now;
}

/**
 * emu_qp_completion() - Process a completion of the device.
 * @qp: send queue, the lock of whose CQ is held
 * @wc: the completion, with a wr_id of @qp
 */
void emu_qp_completion(struct emu_qp *qp, const struct ibv_wc *wc)
{
	uint64_t seq;

	pthread_mutex_lock(&qp->lock);
	seq = qp->done + ((wc->wr_id - qp->done) & EMU_SEQ_MASK);
	/* Otherwise the request was flushed here, or the QP was reset. */
	if (seq < qp->posted) {
		if (qp->paused && qp->busy && seq + 1 == qp->posted)
			keep(qp, wc);
		else
			complete(qp, seq, wc);
	}
	pthread_mutex_unlock(&qp->lock);
}

/* ---- destruction and reset by the program -------------------------------- */

/**
 * emu_qp_pause() - Stop using the QP before it is destroyed or reset.
 * @qp: the send queue, which may be paused already
 */
void emu_qp_pause(struct emu_qp *qp)
{
	pthread_mutex_lock(&qp->lock);
	qp->paused = true;
	pthread_mutex_unlock(&qp->lock);
}

/**
 * emu_qp_resume() - Use the QP again after that has failed.
 * @qp: the send queue
 *
 * The ring of the CQ has room, because that was made for all requests of the QP
 * before a completion was kept, and none of them has used it since.
 */
void emu_qp_resume(struct emu_qp *qp)
{
	struct emu_cq *cq = qp->cq;

	pthread_mutex_lock(&cq->lock);
	pthread_mutex_lock(&qp->lock);
	qp->paused = false;
	if (qp->has_late) {
		qp->has_late = false;
		cq->now = qp->late_ex;
		complete(qp, qp->posted - 1, &qp->late);
	} else if (!qp->busy) {
		go_on(qp);
	}
	pthread_mutex_unlock(&qp->lock);
	pthread_mutex_unlock(&cq->lock);
}

/**
 * emu_qp_reset() - Drop all requests after the QP was reset, and resume.
 * @qp: the send queue
 */
void emu_qp_reset(struct emu_qp *qp)
{
	pthread_mutex_lock(&qp->lock);
	emu_qp_set_busy(qp, false);
	qp->done = qp->head;
	qp->posted = qp->head;
	qp->paused = false;
	qp->has_late = false;
	pthread_mutex_unlock(&qp->lock);
}

/* ---- posting by the program ---------------------------------------------- */

static int copy_buffers(const struct emu_qp *qp, struct emu_wr *wr,
			const struct ibv_send_wr *from, size_t slot)
{
	char *data = qp->inlines + slot * qp->max_inline;
	size_t length = 0;
	int i;

	if (from->num_sge < 0 || (uint32_t)from->num_sge > qp->max_sge)
		return EINVAL;
	wr->num_sge = from->num_sge;
	if (!(from->send_flags & IBV_SEND_INLINE)) {
		if (from->num_sge)
			memcpy(wr->sges, from->sg_list,
			       from->num_sge * sizeof(*wr->sges));
		return 0;
	}
	for (i = 0; i < from->num_sge; i++) {
		const struct ibv_sge *sge = &from->sg_list[i];

		if (sge->length > qp->max_inline - length)
			return EINVAL;
		memcpy(data + length, (void *)(uintptr_t)sge->addr,
		       sge->length);
		length += sge->length;
	}
	wr->sges[0] = (struct ibv_sge) { (uintptr_t)data, length, 0 };
	wr->num_sge = length ? 1 : 0;
	return 0;
}

static bool is_atomic(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Returns true if the SGEs have no room for the result. */
static bool is_short(const struct ibv_send_wr *wr, uint32_t size)
{
	uint64_t length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length < size;
}

/**
 * emu_qp_post_begin() - Begin to post a list of requests.
 * @qp: the send queue, which is locked until emu_qp_post_end()
 */
void emu_qp_post_begin(struct emu_qp *qp)
{
	pthread_mutex_lock(&qp->lock);
}

/**
 * emu_qp_post_add() - Add a request to the list.
 * @qp: the send queue
 * @std: the request; for a masked atomic, without opcode and operands
 * @masked: operands of a masked atomic, or NULL
 * @program_wr: the request as the program passed it, of any type
 *
 * Return: 0, EINVAL, or ENOMEM if the send queue is full.
 */
int emu_qp_post_add(struct emu_qp *qp, const struct ibv_send_wr *std,
		    const struct emu_masked *masked, void *program_wr)
{
	struct emu_wr *wr = wr_at(qp, qp->head);
	int err;

	if (qp->head - qp->done == qp->size)
		return ENOMEM;
	if (masked && is_short(std, masked->size))
		return EINVAL;
	err = copy_buffers(qp, wr, std, qp->head % qp->size);
	if (err)
		return err;

	wr->std = *std;
	wr->std.wr_id = qp->tag | (qp->head & EMU_SEQ_MASK);
	wr->std.sg_list = wr->sges;
	wr->std.num_sge = wr->num_sge;
	wr->posted = program_wr;
	wr->wr_id = std->wr_id;
	wr->signaled = qp->sig_all || (std->send_flags & IBV_SEND_SIGNALED);
	wr->probing = false;
	wr->wc_opcode = 0;
	wr->kind = EMU_PASS;
	wr->size = sizeof(uint64_t);
	wr->shift = 0;
	if (masked) {
		lower(wr, masked);
		wr->std.wr.atomic.remote_addr &= ~(sizeof(uint64_t) - 1);
		if (std->wr.atomic.remote_addr % masked->size)
			wr->kind = EMU_FAIL;
	}
	if ((qp->be_reply || wr->size != sizeof(uint64_t)) &&
	    wr->kind == EMU_PASS && is_atomic(&wr->std)) {
		wr->kind = EMU_ONCE;
		wr->opcode = wr->std.opcode;
		wr->masked.compare_add = wr->std.wr.atomic.compare_add;
		wr->masked.swap = wr->std.wr.atomic.swap;
	}
	if (wr->kind != EMU_PASS)
		wr->std.send_flags |= IBV_SEND_SIGNALED;
	qp->head++;
	return 0;
}

/**
 * emu_qp_post_end() - Post the added requests.
 * @qp: the send queue
 * @wr: request that the caller did not add because of *@err, or NULL
 * @err: 0 or the errno of @wr; set to the errno of the device if that refuses
 *	one of the requests
 *
 * Return: the first request that was not posted, or NULL.
 */
void *emu_qp_post_end(struct emu_qp *qp, void *wr, int *err)
{
	int ret = push(qp);

	if (ret) {
		*err = ret;
		/*
		 * The refused request is one of this call, because push() does
		 * nothing while earlier requests are held back.
		 */
		if (qp->posted != qp->head)
			wr = wr_at(qp, qp->posted)->posted;
		qp->head = qp->posted;
	}
	pthread_mutex_unlock(&qp->lock);
	return wr;
}

/* ---- creation and destruction -------------------------------------------- */

static int alloc_ring(struct emu_qp *qp)
{
	uint32_t i;

	qp->wrs = calloc(qp->size, sizeof(*qp->wrs));
	qp->sges = calloc(qp->size, qp->max_sge * sizeof(*qp->sges));
	qp->inlines = calloc(qp->size, qp->max_inline + 1);
	if (!qp->wrs || !qp->sges || !qp->inlines)
		return ENOMEM;
	for (i = 0; i < qp->size; i++)
		qp->wrs[i].sges = &qp->sges[i * qp->max_sge];
	return 0;
}

/* Not on the heap, because ibv_fork_init() removes the page from children. */
static int alloc_result(struct emu_qp *qp)
{
	size_t length = sysconf(_SC_PAGESIZE);

	qp->page = mmap(NULL, length, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (qp->page == MAP_FAILED) {
		qp->page = NULL;
		return ENOMEM;
	}
	qp->mr = ibv_reg_mr(qp->qp->pd, qp->page, length,
			    IBV_ACCESS_LOCAL_WRITE);
	if (!qp->mr)
		return errno;
	qp->result = (struct ibv_sge) {
		(uintptr_t)qp->page, sizeof(uint64_t), qp->mr->lkey,
	};
	return 0;
}

/**
 * emu_qp_free() - Free the send queue of an emulated QP.
 * @qp: the send queue, not attached
 */
void emu_qp_free(struct emu_qp *qp)
{
	if (qp->mr)
		exp_std()->dereg_mr(qp->mr);
	if (qp->page)
		munmap(qp->page, sysconf(_SC_PAGESIZE));
	free(qp->inlines);
	free(qp->sges);
	free(qp->wrs);
	free(qp);
}

/**
 * emu_qp_new() - Create the send queue of an emulated QP.
 * @device: the device
 * @qp: its new QP
 * @cap: capabilities of @qp, as the provider returned them
 * @sig_all: true if @qp was created with sq_sig_all
 * @be_reply: true if results are big-endian
 *
 * The caller passes it to emu_cq_attach() next.
 *
 * Return: the send queue, or NULL with errno.
 */
struct emu_qp *emu_qp_new(const struct emu_device *device, struct ibv_qp *qp,
			  const struct ibv_qp_cap *cap, bool sig_all,
			  bool be_reply)
{
	struct emu_qp *emu = calloc(1, sizeof(*emu));
	int err;

	if (!emu)
		return NULL;
	emu->qp = qp;
	emu->device = device;
	emu->sig_all = sig_all;
	emu->be_reply = be_reply;
	emu->max_sge = cap->max_send_sge;
	emu->max_inline = cap->max_inline_data;
	emu->size = cap->max_send_wr;
	pthread_mutex_init(&emu->lock, NULL);

	err = emu->size && emu->size <= EMU_SEQ_MASK ? 0 : EINVAL;
	if (!err)
		err = alloc_ring(emu);
	if (!err)
		err = alloc_result(emu);
	if (err) {
		emu_qp_free(emu);
		errno = err;
		return NULL;
	}
	return emu;
}
