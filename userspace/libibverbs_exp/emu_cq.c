// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CQs of emulated QPs; see backend_emu.c.
 *
 * Completions are polled from the device in batches and distinguished by wr_id.
 * A wr_id of this library begins with a random nonce of the process, whose form
 * excludes addresses and small numbers. The number of the QP and that of the
 * request follow. wr_ids of the program occur in the same CQ only for receive
 * requests, and for QPs that are not emulated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "emu_cq.h"
#include "emu_device.h"
#include "emu_progress.h"
#include "emu_qp.h"
#include "fork.h"
#include "table.h"
#include "wc.h"

/* Maximum number of completions per poll. */
#define EMU_WC_BATCH 16

/* A wr_id: 24 bits of nonce, 22 bits for the QP, 18 bits for the request. */
#define EMU_TAG_SHIFT EMU_SEQ_BITS
#define EMU_NONCE_SHIFT 40
#define EMU_TAG_MASK ((1ull << EMU_NONCE_SHIFT) - 1)

static struct exp_table cqs = EXP_TABLE_INIT;
static uint64_t nonce;		/* 0: not drawn yet; set under cqs.lock */
static uint64_t next_tag;	/* atomic */

EXP_FORK_HOLD(cqs, cqs.lock)

/* ---- table --------------------------------------------------------------- */

/**
 * emu_cq_of() - Find the entry of a CQ that is not being destroyed.
 * @ibcq: the CQ
 *
 * Return: the entry, or NULL.
 */
struct emu_cq *emu_cq_of(const struct ibv_cq *ibcq)
{
	return exp_table_find(&cqs, ibcq);
}

/**
 * emu_cq_lock() - Find the entry of any CQ, and lock it.
 * @ibcq: the CQ
 *
 * Return: the entry, or NULL if the CQ has none.
 */
struct emu_cq *emu_cq_lock(const struct ibv_cq *ibcq)
{
	struct emu_cq *cq = emu_cq_of(ibcq);

	if (!cq)
		return NULL;
	pthread_mutex_lock(&cq->lock);
	if (cq->state != EMU_CQ_NONE)
		return cq;
	pthread_mutex_unlock(&cq->lock);
	return NULL;
}

static int draw_nonce(void)
{
	uint32_t random;

	if (nonce)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return EAGAIN;
	/* 0xa... in the topmost bits is not a user-space address. */
	nonce = (uint64_t)((random & 0x0fffff) | 0xa00000) << EMU_NONCE_SHIFT;
	return 0;
}

/* Returns the entry of the CQ, with any state, or NULL with errno. */
static struct emu_cq *find_or_add(struct ibv_cq *ibcq)
{
	struct emu_cq *cq = NULL;

	pthread_mutex_lock(&cqs.lock);
	errno = draw_nonce();
	if (!errno)
		cq = emu_cq_of(ibcq);
	if (!errno && !cq) {
		cq = calloc(1, sizeof(*cq));
		if (cq) {
			cq->cq = ibcq;
			pthread_mutex_init(&cq->lock, NULL);
			pthread_cond_init(&cq->settled, NULL);
			exp_table_add(&cqs, &cq->entry, ibcq);
		}
	}
	pthread_mutex_unlock(&cqs.lock);
	return cq;
}

/* All QPs of the CQ were destroyed before, possibly without emu_cq_detach(). */
static void forget(struct emu_cq *cq)
{
	cq->state = EMU_CQ_NONE;
	memset(cq->qps, 0, sizeof(cq->qps));
	free(cq->wcs);
	free(cq->exs);
	cq->wcs = NULL;
	cq->exs = NULL;
	cq->ex = NULL;
	cq->size = 0;
	cq->first = 0;
	cq->count = 0;
	cq->flushable = 0;
	cq->num_qps = 0;
	cq->resized_cqe = 0;
	cq->armed = 0;
	/* The next CQ at this address has not been polled yet. */
	cq->polls = 0;
	cq->polls_seen = 0;
	__atomic_store_n(&cq->busy, 0, __ATOMIC_SEQ_CST);
}

/**
 * emu_cq_get() - Get the entry of a CQ, or create it.
 * @device: the device
 * @ibcq: the CQ
 * @is_new: true if @ibcq was created just now, so that the state of an earlier
 *	CQ at its address is dropped
 *
 * Return: the entry, or NULL with errno.
 */
struct emu_cq *emu_cq_get(const struct emu_device *device, struct ibv_cq *ibcq,
			  bool is_new)
{
	struct emu_cq *cq = find_or_add(ibcq);

	if (!cq)
		return NULL;
	pthread_mutex_lock(&cq->lock);
	/*
	 * Either an earlier CQ at this address was destroyed, and its state is
	 * going to be dropped, or this one is not going to be destroyed.
	 */
	while (cq->state == EMU_CQ_DYING)
		pthread_cond_wait(&cq->settled, &cq->lock);
	if (is_new)
		forget(cq);
	cq->state = EMU_CQ_ALIVE;
	cq->device = device;
	__atomic_store_n(&cq->process, emu_progress_process(),
			 __ATOMIC_RELAXED);
	pthread_mutex_unlock(&cq->lock);
	return cq;
}

/**
 * emu_cq_in_use() - Check if the process has ever had an emulated QP.
 *
 * Return: true if it had.
 */
bool emu_cq_in_use(void)
{
	return __atomic_load_n(&next_tag, __ATOMIC_RELAXED);
}

/* ---- queue pairs --------------------------------------------------------- */

static struct emu_qp **qp_bucket(struct emu_cq *cq, uint64_t tag)
{
	return &cq->qps[(tag >> EMU_TAG_SHIFT) % (1 << EMU_QP_BITS)];
}

static void link_qp(struct emu_cq *cq, struct emu_qp *qp)
{
	uint64_t n = __atomic_add_fetch(&next_tag, 1, __ATOMIC_RELAXED);
	struct emu_qp **bucket;

	qp->tag = nonce | ((n << EMU_TAG_SHIFT) & EMU_TAG_MASK);
	bucket = qp_bucket(cq, qp->tag);
	qp->next = *bucket;
	*bucket = qp;
}

/* Returns false if the CQ was destroyed before the QP. */
static bool unlink_qp(struct emu_cq *cq, struct emu_qp *qp)
{
	struct emu_qp **link = qp_bucket(cq, qp->tag);

	while (*link && *link != qp)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = qp->next;
	return true;
}

static struct emu_qp *qp_of_wr_id(struct emu_cq *cq, uint64_t wr_id)
{
	uint64_t tag = wr_id & ~EMU_SEQ_MASK;
	struct emu_qp *qp = *qp_bucket(cq, tag);

	while (qp && qp->tag != tag)
		qp = qp->next;
	return qp;
}

/* QPs for which room is made at a time, because resizing is slow. */
#define EMU_ROOM 16

/*
 * Makes room for one more completion of each QP, because a QP may have one
 * completion of an emulated request that is not signaled. Counts from the size
 * that the program has chosen, because the device may round up each size that
 * it is asked for. The CQ does not shrink. The room of a destroyed QP is used
 * again.
 */
static void make_room(struct emu_cq *cq)
{
	int need = (cq->num_qps + EMU_ROOM - 1) / EMU_ROOM * EMU_ROOM;

	/* The CQ is new, or the program has resized it. */
	if (cq->cq->cqe != cq->resized_cqe)
		cq->base_cqe = cq->cq->cqe;
	if (cq->cq->cqe - cq->base_cqe < (int)cq->num_qps)
		ibv_resize_cq(cq->cq, cq->base_cqe + need);
	cq->resized_cqe = cq->cq->cqe;
}

/**
 * emu_cq_attach() - Attach a new send queue to its CQ.
 * @qp: the send queue
 *
 * Enlarges the CQ if it has no room for the completions that this library hides
 * from the program. If the device cannot do that, the program must provide the
 * room.
 *
 * Resizes the CQ with the lock of the CQ held, because libibverbs does not
 * exclude polling meanwhile on all devices.
 *
 * Return: 0 or a positive errno.
 */
int emu_cq_attach(struct emu_qp *qp)
{
	struct emu_cq *cq = emu_cq_get(qp->device, qp->qp->send_cq, false);

	if (!cq)
		return errno;
	qp->cq = cq;
	pthread_mutex_lock(&cq->lock);
	link_qp(cq, qp);
	cq->num_qps++;
	make_room(cq);
	cq->flushable += qp->size;
	pthread_mutex_unlock(&cq->lock);
	return 0;
}

/**
 * emu_cq_detach() - Undo emu_cq_attach().
 * @qp: the send queue
 */
void emu_cq_detach(struct emu_qp *qp)
{
	struct emu_cq *cq = qp->cq;

	pthread_mutex_lock(&cq->lock);
	if (unlink_qp(cq, qp)) {
		cq->num_qps--;
		cq->flushable -= qp->size;
		emu_qp_set_busy(qp, false);
	}
	pthread_mutex_unlock(&cq->lock);
}

/* ---- completions --------------------------------------------------------- */

/* Returns a larger copy of a ring, which begins with the first completion. */
static void *grow(const struct emu_cq *cq, const void *ring, size_t entry,
		  uint32_t size)
{
	char *new = malloc(size * entry);
	uint32_t i;

	for (i = 0; new && i < cq->count; i++)
		memcpy(new + i * entry, (const char *)ring +
		       (cq->first + i) % cq->size * entry, entry);
	return new;
}

/* Makes room for more completions. Returns false if it runs out of memory. */
static bool have_room(struct emu_cq *cq, uint32_t more)
{
	uint32_t need = cq->count + more;
	uint32_t size = cq->size ? cq->size : 64;
	struct emu_wc_ex *exs = NULL;
	struct ibv_wc *wcs;

	if (need <= cq->size)
		return true;
	while (size < need)
		size *= 2;
	wcs = grow(cq, cq->wcs, sizeof(*wcs), size);
	if (cq->ex)
		exs = grow(cq, cq->exs, sizeof(*exs), size);
	if (!wcs || (cq->ex && !exs)) {
		free(wcs);
		free(exs);
		return false;
	}
	free(cq->wcs);
	free(cq->exs);
	cq->wcs = wcs;
	cq->exs = exs;
	cq->size = size;
	cq->first = 0;
	return true;
}

static int take(struct emu_cq *cq, int num, struct ibv_wc *wc)
{
	int n;

	for (n = 0; n < num && cq->count; n++, cq->count--) {
		wc[n] = cq->wcs[cq->first];
		cq->first = (cq->first + 1) % cq->size;
	}
	return n;
}

/*
 * Returns true if the completion has a wr_id of this library. If a receive
 * completion has such a wr_id by chance, its opcode shows that, unless it
 * failed.
 */
static bool is_ours(const struct ibv_wc *wc)
{
	if (wc->wr_id >> EMU_NONCE_SHIFT != nonce >> EMU_NONCE_SHIFT)
		return false;
	return wc->status != IBV_WC_SUCCESS || !(wc->opcode & IBV_WC_RECV);
}

static void sort_out(struct emu_cq *cq, const struct ibv_wc *wc)
{
	struct emu_qp *qp;

	if (!is_ours(wc)) {
		emu_cq_push(cq, wc);
		return;
	}
	/* Completions of a destroyed QP are dropped. */
	qp = qp_of_wr_id(cq, wc->wr_id);
	if (qp)
		emu_qp_completion(qp, wc);
}

static void read_ex(const struct emu_cq *cq, struct emu_wc_ex *ex)
{
	const struct ibv_cq_ex *std = &cq->std;

	memset(ex, 0, sizeof(*ex));
	if (cq->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->ts = std->read_completion_ts(cq->ex);
	if (cq->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->wallclock_ns = std->read_completion_wallclock_ns(cq->ex);
	if (cq->ex->status != IBV_WC_SUCCESS)
		return;
	if (cq->wc_flags & IBV_WC_EX_WITH_FLOW_TAG)
		ex->flow_tag = std->read_flow_tag(cq->ex);
	if (cq->wc_flags & IBV_WC_EX_WITH_CVLAN)
		ex->cvlan = std->read_cvlan(cq->ex);
	if (cq->wc_flags & IBV_WC_EX_WITH_TM_INFO)
		std->read_tm_info(cq->ex, &ex->tm);
}

/*
 * Polls the device. Returns the number of completions, or a negative errno.
 * Each completion is polled separately, because ibv_next_poll() of rxe ends the
 * poll if there are no more completions, whereas that of other providers does
 * not.
 */
static int fetch_ex(struct emu_cq *cq, int num, struct ibv_wc *wcs,
		    struct emu_wc_ex *exs)
{
	struct ibv_poll_cq_attr attr = { };
	int n, ret;

	for (n = 0; n < num; n++) {
		ret = cq->std.start_poll(cq->ex, &attr);
		if (ret)
			return n || ret == ENOENT ? n : -ret;
		exp_wc_read(cq->ex, &cq->std, cq->wc_flags, &wcs[n]);
		read_ex(cq, &exs[n]);
		cq->std.end_poll(cq->ex);
	}
	return n;
}

/*
 * Polls until the device has no more completions, or there are want of them for
 * the program. Returns 0 or a negative errno. Each completion adds one for the
 * program at most, and may also flush a QP. Each request is flushed only once.
 */
static int drain(struct emu_cq *cq, uint32_t want)
{
	struct emu_wc_ex exs[EMU_WC_BATCH];
	struct ibv_wc wcs[EMU_WC_BATCH];
	int n, i;

	while (cq->count < want) {
		if (!have_room(cq, EMU_WC_BATCH + cq->flushable))
			return -ENOMEM;
		if (cq->ex)
			n = fetch_ex(cq, EMU_WC_BATCH, wcs, exs);
		else
			n = cq->device->poll_cq(cq->cq, EMU_WC_BATCH, wcs);
		for (i = 0; i < n; i++) {
			if (cq->ex)
				cq->now = exs[i];
			sort_out(cq, &wcs[i]);
		}
		if (n < EMU_WC_BATCH)
			return n < 0 ? n : 0;
	}
	return 0;
}

/**
 * emu_cq_poll() - Implement ibv_poll_cq().
 * @ibcq: any CQ
 * @num: as for ibv_poll_cq()
 * @wc: as for ibv_poll_cq()
 * @n: set to the return value of ibv_poll_cq()
 *
 * Return: false if @ibcq has no entry. Nothing was done then.
 */
bool emu_cq_poll(struct ibv_cq *ibcq, int num, struct ibv_wc *wc, int *n)
{
	struct emu_cq *cq = emu_cq_lock(ibcq);
	int ret = 0;

	if (!cq)
		return false;
	cq->polls++;
	if (num > 0 && cq->count < (uint32_t)num)
		ret = drain(cq, num);
	*n = take(cq, num, wc);
	pthread_mutex_unlock(&cq->lock);
	if (!*n)
		*n = ret;
	return true;
}

/**
 * emu_cq_next() - Move the next completion for the program to @cq->polled.
 * @cq: an extended CQ, whose lock is held
 *
 * Return: 0, ENOENT if there is none, or another positive errno.
 */
int emu_cq_next(struct emu_cq *cq)
{
	int ret = 0;

	cq->polls++;
	if (!cq->count)
		ret = drain(cq, 1);
	if (!cq->count)
		return ret ? -ret : ENOENT;
	cq->polled_ex = cq->exs[cq->first];
	take(cq, 1, &cq->polled);
	return 0;
}

/**
 * emu_cq_notify() - Implement ibv_req_notify_cq().
 * @ibcq: any CQ
 * @solicited_only: as for ibv_req_notify_cq()
 * @ret: set to the return value of ibv_req_notify_cq()
 *
 * Return: false if @ibcq has no entry. Nothing was done then.
 */
bool emu_cq_notify(struct ibv_cq *ibcq, int solicited_only, int *ret)
{
	struct emu_cq *cq = emu_cq_lock(ibcq);

	if (!cq)
		return false;
	cq->armed = !!solicited_only + 1;
	*ret = cq->device->req_notify_cq(ibcq, solicited_only);
	pthread_mutex_unlock(&cq->lock);
	return true;
}

/* ---- polling by the thread ----------------------------------------------- */

static void tick(struct emu_cq *cq)
{
	/* The holder of the lock is polling. */
	if (pthread_mutex_trylock(&cq->lock))
		return;
	/* Stop when the ring has as many completions as the CQ can hold. */
	if (cq->state == EMU_CQ_ALIVE && cq->polls == cq->polls_seen &&
	    cq->count < (uint32_t)cq->cq->cqe)
		drain(cq, cq->count + EMU_WC_BATCH);
	cq->polls_seen = cq->polls;
	pthread_mutex_unlock(&cq->lock);
}

/* Returns true if a QP of the CQ is busy and the CQ is of this process. */
static bool is_busy(const struct emu_cq *cq)
{
	return __atomic_load_n(&cq->busy, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&cq->process, __ATOMIC_RELAXED) ==
	       emu_progress_process();
}

/* Calls the function, unless it is NULL, for each CQ with something to do. */
static bool visit_busy(void (*call)(struct emu_cq *cq))
{
	struct exp_entry *entry;
	struct emu_cq *cq;
	bool any = false;
	int i;

	for (i = 0; i < EXP_TABLE_SIZE; i++) {
		entry = __atomic_load_n(&cqs.heads[i], __ATOMIC_ACQUIRE);
		for (; entry; entry = entry->next) {
			cq = (struct emu_cq *)entry;
			if (!is_busy(cq))
				continue;
			any = true;
			if (call)
				call(cq);
		}
	}
	return any;
}

/**
 * emu_cq_any_busy() - Check if the thread has anything to do.
 *
 * Return: true if a CQ of this process has a busy QP.
 */
bool emu_cq_any_busy(void)
{
	return visit_busy(NULL);
}

/**
 * emu_cq_tick() - Poll the device for all busy CQs that the program has not
 * polled since the last call.
 */
void emu_cq_tick(void)
{
	visit_busy(tick);
}

/* ---- destruction --------------------------------------------------------- */

/**
 * emu_destroy_cq() - Implement ibv_destroy_cq().
 * @ibcq: any CQ
 * @std: function that destroys it
 *
 * While the CQ is dying, the program may still poll it, because the call may
 * fail, or wait until the program has acknowledged the events of the CQ. The
 * thread does not use it. Its address may be reused before std() returns, for
 * which emu_cq_get() waits.
 *
 * If the call is interposed and the operation is replaced, too, this runs
 * within itself.
 *
 * Return: as ibv_destroy_cq().
 */
int emu_destroy_cq(struct ibv_cq *ibcq, int (*std)(struct ibv_cq *cq))
{
	struct emu_cq *cq = emu_cq_lock(ibcq);
	bool nested;
	int ret;

	if (!cq)
		return std(ibcq);
	nested = cq->state == EMU_CQ_DYING;
	cq->state = EMU_CQ_DYING;
	pthread_mutex_unlock(&cq->lock);

	ret = std(ibcq);
	if (nested)
		return ret;

	pthread_mutex_lock(&cq->lock);
	if (ret)
		cq->state = EMU_CQ_ALIVE;
	else
		forget(cq);
	pthread_cond_broadcast(&cq->settled);
	pthread_mutex_unlock(&cq->lock);
	return ret;
}
