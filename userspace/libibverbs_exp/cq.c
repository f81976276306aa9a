// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_poll_cq(), which polls with the standard verbs and translates the
 * completions. The backend then corrects them.
 */
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "backend.h"
#include "calls.h"
#include "cq_ex.h"
#include "wc.h"

/* Maximum number of completions per poll. */
#define EXP_WC_BATCH 16

/* Minimum wc_size: the members that the standard verbs have. */
#define EXP_WC_MIN_SIZE offsetof(struct ibv_exp_wc, timestamp)

static enum ibv_exp_wc_opcode opcode_from_std(enum ibv_wc_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WC_TSO:
		return IBV_EXP_WC_TSO;
	case 9:	/* IBV_WC_ATOMIC_WRITE, missing in older verbs.h */
		return IBV_EXP_WC_RDMA_WRITE;
	case IBV_WC_TM_ADD:
		return IBV_EXP_WC_TM_ADD;
	case IBV_WC_TM_DEL:
		return IBV_EXP_WC_TM_DEL;
	case IBV_WC_TM_SYNC:
		return IBV_EXP_WC_TM_SYNC;
	case IBV_WC_TM_RECV:
		return IBV_EXP_WC_TM_RECV;
	case IBV_WC_TM_NO_TAG:
		return IBV_EXP_WC_TM_NO_TAG;
	default:	/* same value in both */
		return (enum ibv_exp_wc_opcode)opcode;
	}
}

static uint64_t flags_from_std(unsigned int std)
{
	uint64_t flags = std & (IBV_EXP_WC_GRH | IBV_EXP_WC_WITH_IMM |
				IBV_EXP_WC_WITH_INV);

	if (std & IBV_WC_IP_CSUM_OK)
		flags |= IBV_EXP_WC_RX_IP_CSUM_OK |
			 IBV_EXP_WC_RX_TCP_UDP_CSUM_OK;
	if (std & IBV_WC_TM_SYNC_REQ)
		flags |= IBV_EXP_WC_TM_SYNC_REQ;
	if (std & IBV_WC_TM_MATCH)
		flags |= IBV_EXP_WC_TM_MATCH;
	if (std & IBV_WC_TM_DATA_VALID)
		flags |= IBV_EXP_WC_TM_DATA_VALID;
	return flags;
}

/*
 * Does not set qp, srq and dct, nor their flags, because a QP that is found by
 * its number may have been destroyed meanwhile.
 */
static void wc_from_std(struct ibv_exp_wc *wc, const struct ibv_wc *std)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = std->wr_id;
	wc->status = std->status;
	wc->exp_opcode = opcode_from_std(std->opcode);
	wc->vendor_err = std->vendor_err;
	wc->byte_len = std->byte_len;
	wc->imm_data = std->imm_data;
	wc->qp_num = std->qp_num;
	wc->src_qp = std->src_qp;
	wc->pkey_index = std->pkey_index;
	wc->slid = std->slid;
	wc->sl = std->sl;
	wc->dlid_path_bits = std->dlid_path_bits;
	wc->exp_wc_flags = flags_from_std(std->wc_flags);
}

/* Fields that only the completions of extended CQs have. */
struct wc_ex {
	uint64_t time;
	struct ibv_wc_tm_info tm;
};

/* OFED has flags for what the standard verbs have statuses for. */
static void fix_tm_status(struct ibv_exp_wc *wc)
{
	if (wc->status == IBV_WC_TM_ERR)
		wc->exp_wc_flags |= IBV_EXP_WC_TM_DEL_FAILED;
	else if (wc->status == IBV_WC_TM_RNDV_INCOMPLETE)
		wc->exp_wc_flags |= IBV_EXP_WC_TM_RNDV_INCOMPLETE;
	else
		return;
	wc->status = IBV_WC_SUCCESS;
}

static void put_ex(struct ibv_exp_wc *wc, const struct wc_ex *ex,
		   uint64_t wc_flags)
{
	if ((wc_flags & EXP_CQ_TIMED_FLAGS) == EXP_CQ_TIMED_FLAGS) {
		wc->timestamp = ex->time;
		wc->exp_wc_flags |= IBV_EXP_WC_WITH_TIMESTAMP;
	}
	if (wc_flags & EXP_CQ_HAS_TM) {
		wc->tm_info.tag = ex->tm.tag;
		wc->tm_info.priv = ex->tm.priv;
		fix_tm_status(wc);
	}
}

/*
 * Writes n structures of wc_size bytes each.  wc_flags are those of an extended
 * CQ, or 0.
 */
static void put_wcs(struct ibv_cq *cq, const struct ibv_wc *std,
		    const struct wc_ex *ex, uint64_t wc_flags, int n, char *to,
		    uint32_t wc_size)
{
	const struct exp_backend *backend = exp_backend_of(cq->context);
	struct ibv_exp_wc wc;
	int i;

	for (i = 0; i < n; i++) {
		wc_from_std(&wc, &std[i]);
		backend->fix_wc(&std[i], &wc);
		if (wc_flags)
			put_ex(&wc, &ex[i], wc_flags);
		memcpy(to, &wc, wc_size < sizeof(wc) ? wc_size : sizeof(wc));
		to += wc_size;
	}
}

/*
 * Returns the number of completions, or a negative errno. Does not use
 * ibv_next_poll(); see fetch_ex() in emu_cq.c.
 */
static int poll_ex(struct ibv_cq_ex *cq, uint64_t wc_flags, int num,
		   struct ibv_wc *wc, struct wc_ex *ex)
{
	struct ibv_poll_cq_attr attr = { };
	int n, ret;

	for (n = 0; n < num; n++) {
		ret = ibv_start_poll(cq, &attr);
		if (ret)
			return n || ret == ENOENT ? n : -ret;
		exp_wc_read(cq, cq, wc_flags, &wc[n]);
		if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
			ex[n].time = ibv_wc_read_completion_ts(cq);
		if (wc_flags & EXP_CQ_HAS_TM)
			ibv_wc_read_tm_info(cq, &ex[n].tm);
		ibv_end_poll(cq);
	}
	return n;
}

EXP_EXPORT
int ibv_exp_poll_cq(struct ibv_cq *ibcq, int num_entries,
		    struct ibv_exp_wc *wc, uint32_t wc_size)
{
	struct wc_ex info[EXP_WC_BATCH];
	struct ibv_wc std[EXP_WC_BATCH];
	char *to = (char *)wc;
	struct ibv_cq_ex *ex;
	uint64_t wc_flags;
	int done = 0;

	if (num_entries < 0 || wc_size < EXP_WC_MIN_SIZE)
		return -EINVAL;

	ex = exp_cq_ex_of(ibcq, &wc_flags);
	if ((wc_flags & EXP_CQ_TIMED_FLAGS) != EXP_CQ_TIMED_FLAGS &&
	    !(wc_flags & EXP_CQ_HAS_TM))
		wc_flags = 0;
	while (done < num_entries) {
		int want = num_entries - done;
		int n;

		if (want > EXP_WC_BATCH)
			want = EXP_WC_BATCH;
		n = wc_flags ? poll_ex(ex, wc_flags, want, std, info) :
			       ibv_poll_cq(ibcq, want, std);
		if (n < 0)
			return done ? done : n;
		put_wcs(ibcq, std, info, wc_flags, n, to, wc_size);
		to += (size_t)n * wc_size;
		done += n;
		if (n < want)
			break;
	}
	return done;
}
