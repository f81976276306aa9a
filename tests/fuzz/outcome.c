// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what the inputs of the packet target have reached: see outcome.h. The
 * linker puts the functions with __wrap_ in front of those of the engine.
 */
#include <linux/err.h>

#include "dc/dc.h"
#include "outcome.h"
#include "tm/rndv.h"
#include "tm/tm.h"
#include "wire/pkt.h"
#include "world.h"

enum outcome {
	/* completions */
	INLINE_COMPLETION, KERNEL_COMPLETION, FLUSHED, REGISTERED, BOUND,
	INVALIDATED, ATOMIC_WRITTEN,
	/* tags */
	TAG_MATCHED, EAGER_OF_PACKETS, UNEXPECTED, NO_TAG, TAG_REMOVED,
	TAG_NOT_FOUND, RENDEZVOUS_DONE, RENDEZVOUS_INCOMPLETE,
	RENDEZVOUS_FLUSHED,
	/* windows */
	WINDOW_ACCESS, WINDOW_REFUSED,
	/* DC */
	TOKEN_EXPIRED, BUSY_WITHOUT_MEMORY,
	NUM_OUTCOMES,
};

static const char *const names[] = {
	[INLINE_COMPLETION] = "inline completion",
	[KERNEL_COMPLETION] = "completion in the kernel",
	[FLUSHED] = "request flushed",
	[REGISTERED] = "region registered",
	[BOUND] = "window bound",
	[INVALIDATED] = "key invalidated",
	[ATOMIC_WRITTEN] = "atomic write",
	[TAG_MATCHED] = "tag matched",
	[EAGER_OF_PACKETS] = "eager message of packets",
	[UNEXPECTED] = "unexpected message",
	[NO_TAG] = "message without tag",
	[TAG_REMOVED] = "tag removed",
	[TAG_NOT_FOUND] = "tag not found",
	[RENDEZVOUS_DONE] = "rendezvous done",
	[RENDEZVOUS_INCOMPLETE] = "rendezvous incomplete",
	[RENDEZVOUS_FLUSHED] = "rendezvous flushed",
	[WINDOW_ACCESS] = "window access",
	[WINDOW_REFUSED] = "window refused",
	[TOKEN_EXPIRED] = "token expired",
	[BUSY_WITHOUT_MEMORY] = "busy without memory",
};

/* One after the other. */
#define X(name) #name "\0"
static const char counters[] = MXE_COUNTERS(X);
#undef X

/* Of all inputs. */
static unsigned long reached[NUM_OUTCOMES];
static u64 totals[MXE_CNT_COUNT];

/* ---- completions --------------------------------------------------------- */

static void count_tag(const struct mxe_qp *qp, const struct mxe_wc *wc)
{
	if (wc->opcode == MXE_WC_TM_DEL)
		reached[wc->status ? TAG_NOT_FOUND : TAG_REMOVED]++;
	reached[RENDEZVOUS_INCOMPLETE] +=
		wc->status == (enum ib_wc_status)MXE_WC_TM_RNDV_INCOMPLETE;
	if (wc->status)
		return;
	reached[NO_TAG] += wc->opcode == MXE_WC_TM_NO_TAG;
	if (wc->opcode != MXE_WC_TM_RECV)
		return;
	if (!(wc->flags & MXE_CQE_TM_MATCH)) {
		/* Not the data of a match. */
		reached[UNEXPECTED] += !(wc->flags & MXE_CQE_TM_DATA_VALID);
		return;
	}
	reached[TAG_MATCHED]++;
	/* The data follow. */
	if (!(wc->flags & MXE_CQE_TM_DATA_VALID))
		reached[EAGER_OF_PACKETS] += qp->resp.tm_msg.kind == MXE_TM_EAGER;
}

static void count_completion(const struct mxe_cq *cq, const struct mxe_qp *qp,
			     const struct mxe_wc *wc)
{
	if (w.has_tags)
		count_tag(qp, wc);
	reached[FLUSHED] += wc->status == IB_WC_WR_FLUSH_ERR;
	if (wc->status)
		return;
	reached[KERNEL_COMPLETION] += !cq->is_user;
	reached[INLINE_COMPLETION] += !!(wc->flags & MXE_CQE_INLINE);
	reached[REGISTERED] += wc->opcode == MXE_WC_REG_MR;
	reached[BOUND] += wc->opcode == MXE_WC_BIND_MW;
	reached[INVALIDATED] += wc->opcode == MXE_WC_LOCAL_INV ||
				wc->flags & MXE_CQE_WITH_INV;
	reached[ATOMIC_WRITTEN] += wc->opcode == MXE_WC_ATOMIC_WRITE;
}

enum mxe_cq_result __real_mxe_cq_add(struct mxe_cq *cq, struct mxe_qp *qp,
				     const struct mxe_wc *wc);

enum mxe_cq_result __wrap_mxe_cq_add(struct mxe_cq *cq, struct mxe_qp *qp,
				     const struct mxe_wc *wc)
{
	enum mxe_cq_result result = __real_mxe_cq_add(cq, qp, wc);

	if (result == MXE_CQ_ADDED || result == MXE_CQ_ADDED_NOTIFY)
		count_completion(cq, qp, wc);
	return result;
}

/* ---- rendezvous and windows ---------------------------------------------- */

bool __real_mxe_rndv_free(struct mxe_qp *qp, enum ib_wc_status status);

bool __wrap_mxe_rndv_free(struct mxe_qp *qp, enum ib_wc_status status)
{
	u32 finished = qp->rndv->finished;
	bool result = __real_mxe_rndv_free(qp, status);

	if (qp->rndv->finished != finished)
		reached[status ? RENDEZVOUS_FLUSHED : RENDEZVOUS_DONE]++;
	return result;
}

struct mxe_mw *__real_mxe_mw_begin(struct mxe_dev *dev, const struct ib_pd *pd,
				   u32 qpn, u32 key, int access, u64 addr,
				   u64 len);

struct mxe_mw *__wrap_mxe_mw_begin(struct mxe_dev *dev, const struct ib_pd *pd,
				   u32 qpn, u32 key, int access, u64 addr,
				   u64 len)
{
	struct mxe_mw *mw = __real_mxe_mw_begin(dev, pd, qpn, key, access, addr,
						len);

	if (!IS_ERR(mw))
		reached[WINDOW_ACCESS]++;
	else if (PTR_ERR(mw) != -ENOENT)
		reached[WINDOW_REFUSED]++;
	return mw;
}

/* ---- DC ------------------------------------------------------------------ */

/* The packet that is being received has CONNECT and a token. */
static bool has_token;
static u64 challenges, busy;
static unsigned long failed;

void outcome_before(const u8 *bth, size_t len)
{
	struct mxe_dc_hdr hdr;
	struct mxe_pkt pkt;

	has_token = w.kind == KIND_DC &&
		    mxe_pkt_parse(&pkt, bth, len) == MXE_PKT_OK &&
		    pkt.flags & MXE_OP_DCETH && mxe_dc_parse(&pkt, &hdr) &&
		    hdr.connect && hdr.token;
	challenges = w.stats.value[MXE_CNT_dc_challenges];
	busy = w.stats.value[MXE_CNT_dc_busy];
	failed = fk_failed_allocs;
}

void outcome_after(void)
{
	if (w.kind != KIND_DC)
		return;
	reached[TOKEN_EXPIRED] += has_token &&
		challenges != w.stats.value[MXE_CNT_dc_challenges];
	reached[BUSY_WITHOUT_MEMORY] += failed != fk_failed_allocs &&
		busy != w.stats.value[MXE_CNT_dc_busy];
}

/* ---- the report ---------------------------------------------------------- */

void outcome_end(void)
{
	unsigned int i;

	for (i = 0; i < MXE_CNT_COUNT; i++)
		totals[i] += w.stats.value[i];
}

void outcome_report(void)
{
	const char *counter = counters;
	unsigned int i;

	for (i = 0; i < NUM_OUTCOMES; i++)
		dprintf(2, "reached: %lu %s\n", reached[i], names[i]);
	for (i = 0; i < MXE_CNT_COUNT; i++, counter += strlen(counter) + 1)
		dprintf(2, "counted: %llu %s\n", totals[i], counter);
}
