// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Extended CQs on devices with emulation; see backend_emu.c.
 *
 * ibv_start_poll() and related functions are inline functions that call these
 * pointers. All pointers are replaced when the CQ is created, so that no poll
 * starts with the functions of the provider and ends with these.
 */
#include <errno.h>

#include "emu_cq.h"
#include "emu_cq_ex.h"
#include "emu_hook.h"

static int next_poll(struct ibv_cq_ex *ex)
{
	struct emu_cq *cq = emu_cq_of(ibv_cq_ex_to_cq(ex));
	int ret = emu_cq_next(cq);

	if (ret)
		return ret;
	ex->wr_id = cq->polled.wr_id;
	ex->status = cq->polled.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct emu_cq *cq;
	int ret;

	if (attr->comp_mask)
		return EINVAL;
	cq = emu_cq_lock(ibv_cq_ex_to_cq(ex));
	if (!cq)
		return EINVAL;
	ret = next_poll(ex);
	if (ret)
		pthread_mutex_unlock(&cq->lock);
	return ret;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&emu_cq_of(ibv_cq_ex_to_cq(ex))->lock);
}

static const struct ibv_wc *wc_of(struct ibv_cq_ex *ex)
{
	return &emu_cq_of(ibv_cq_ex_to_cq(ex))->polled;
}

static const struct emu_wc_ex *ex_of(struct ibv_cq_ex *ex)
{
	return &emu_cq_of(ibv_cq_ex_to_cq(ex))->polled_ex;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return wc_of(ex)->dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return ex_of(ex)->ts;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	return ex_of(ex)->wallclock_ns;
}

static uint16_t read_cvlan(struct ibv_cq_ex *ex)
{
	return ex_of(ex)->cvlan;
}

static uint32_t read_flow_tag(struct ibv_cq_ex *ex)
{
	return ex_of(ex)->flow_tag;
}

static void read_tm_info(struct ibv_cq_ex *ex, struct ibv_wc_tm_info *tm_info)
{
	*tm_info = ex_of(ex)->tm;
}

static void take_over(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
	ex->read_completion_ts = read_completion_ts;
	ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
	ex->read_cvlan = read_cvlan;
	ex->read_flow_tag = read_flow_tag;
	ex->read_tm_info = read_tm_info;
}

/**
 * emu_cq_ex_adopt() - Replace the functions of a new extended CQ.
 * @ex: the CQ
 * @wc_flags: IBV_WC_EX_WITH_* flags with which it was created
 *
 * The lock of the CQ is held from ibv_start_poll() to ibv_end_poll().
 *
 * Return: 0 or a positive errno.
 */
int emu_cq_ex_adopt(struct ibv_cq_ex *ex, uint64_t wc_flags)
{
	const struct emu_device *device = emu_hook(ex->context);
	struct emu_cq *cq;

	/* Without the hooks no QP of this context is emulated. */
	if (!device)
		return errno == ENOTSUP ? 0 : errno;
	cq = emu_cq_get(device, ibv_cq_ex_to_cq(ex), true);
	if (!cq)
		return errno;
	pthread_mutex_lock(&cq->lock);
	cq->ex = ex;
	cq->wc_flags = wc_flags;
	cq->std = *ex;
	take_over(ex);
	pthread_mutex_unlock(&cq->lock);
	return 0;
}
