// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reads completions of extended CQs, and corrects the opcodes of atomics. */
#include <string.h>

#include "wc.h"

/**
 * exp_wc_fix_atomic() - Implement exp_backend.fix_wc() for backends whose
 * completions of atomics have the opcodes of OFED.
 * @std: the completion
 * @wc: the same for the program, to be corrected
 */
void exp_wc_fix_atomic(const struct ibv_wc *std, struct ibv_exp_wc *wc)
{
	/* 9 and 10 are masked atomics. The standard verbs use 9 differently. */
	switch ((int)std->opcode) {
	case IBV_EXP_WC_MASKED_COMP_SWAP:
	case IBV_EXP_WC_MASKED_FETCH_ADD:
	case IBV_EXP_WC_COMP_SWAP:
	case IBV_EXP_WC_FETCH_ADD:
		break;
	default:
		return;
	}
	wc->exp_opcode = (enum ibv_exp_wc_opcode)std->opcode;
	if (std->status == IBV_WC_SUCCESS && !wc->byte_len)
		wc->byte_len = sizeof(uint64_t);
}

/**
 * exp_wc_read() - Read the current completion of an extended CQ.
 * @cq: the CQ, between ibv_start_poll() and ibv_end_poll()
 * @calls: has the functions to read with: @cq, or a copy from before they were
 *	replaced
 * @wc_flags: IBV_WC_EX_WITH_* flags with which @cq was created
 * @wc: filled in
 */
void exp_wc_read(struct ibv_cq_ex *cq, const struct ibv_cq_ex *calls,
		 uint64_t wc_flags, struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->vendor_err = calls->read_vendor_err(cq);
	wc->qp_num = calls->read_qp_num(cq);
	/*
	 * No other member is valid in an error completion, but tag matching
	 * has statuses that are no errors.
	 */
	if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_TM_ERR &&
	    wc->status != IBV_WC_TM_RNDV_INCOMPLETE)
		return;
	wc->opcode = calls->read_opcode(cq);
	wc->wc_flags = calls->read_wc_flags(cq);
	wc->byte_len = calls->read_byte_len(cq);
	if (wc_flags & IBV_WC_EX_WITH_IMM &&
	    wc->wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
		wc->imm_data = calls->read_imm_data(cq);
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		wc->src_qp = calls->read_src_qp(cq);
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		wc->slid = calls->read_slid(cq);
	if (wc_flags & IBV_WC_EX_WITH_SL)
		wc->sl = calls->read_sl(cq);
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		wc->dlid_path_bits = calls->read_dlid_path_bits(cq);
}
