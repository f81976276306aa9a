// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of programs that save the operations of a context when they open it.
 * Requests and polls through the saved operations must be emulated, too.
 */
#include <endian.h>

#include "cq_ex.h"
#include "emu_req.h"

static struct ibv_context *f_open_device(struct ibv_device *device)
{
	(void)device;
	return emu_ctx;
}

static void init_std(struct ibv_send_wr *wr, struct ibv_sge *sge, uint64_t wr_id,
		     int word)
{
	memset(wr, 0, sizeof(*wr));
	*sge = (struct ibv_sge) { (uintptr_t)&fake.buf[word], 8, LKEY };
	wr->wr_id = wr_id;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr.atomic.remote_addr = (uintptr_t)&fake.mem[word];
	wr->wr.atomic.rkey = RKEY;
	wr->wr.atomic.compare_add = 1;
}

static void test_saved(void)
{
	struct ibv_send_wr std, *bad;
	struct ibv_context_ops saved;
	struct ibv_sge sge;
	struct fake_cq *cq;
	struct fake_qp *qp;
	struct ibv_wc wc;
	struct req r;

	fake_reset();
	saved = exp_open_device(emu_ctx->device, f_open_device)->ops;
	cq = new_cq();
	qp = new_qp(cq, BE);
	fake.mem[0] = 0x10;
	fake.mem[1] = 0x20;

	cas(&r, 5, SIGNALED, 0, 0x10, 0xff, 0x22, 0xff);
	is_int(post(qp, &r.wr), 0, "a masked atomic");
	init_std(&std, &sge, 6, 1);
	is_int(saved.post_send(&qp->qp, &std, &bad), 0,
	       "a standard one, by the saved post_send");

	while (!saved.poll_cq(&cq->cq, 1, &wc))
		if (!run(qp))
			break;
	ok(wc.wr_id == 5 && (int)wc.opcode == IBV_EXP_WC_MASKED_COMP_SWAP,
	   "the first completion, by the saved poll_cq");
	is_u64(fake.mem[0], 0x22, "the word of the masked atomic");
	is_u64(fake.buf[0], htobe64(0x10), "its result");
	while (!saved.poll_cq(&cq->cq, 1, &wc))
		if (!run(qp))
			break;
	is_u64(wc.wr_id, 6, "the second completion");
	is_u64(fake.mem[1], 0x21, "the word of the standard atomic");
	is_u64(fake.buf[1], htobe64(0x20), "its result is big-endian, too");
	drop_qp(qp);
}

/* The address of a closed context is used again. */
static void test_reopened(void)
{
	struct ibv_context_ops provider, saved;

	fake_reset();
	provider = emu_ctx->ops;
	saved = exp_open_device(emu_ctx->device, f_open_device)->ops;
	ok(saved.poll_cq != provider.poll_cq &&
	   saved.post_send != provider.post_send,
	   "a device that was closed by another call");
	fake_reset();
	fake.atomic_cap = IBV_ATOMIC_NONE;
	saved = exp_open_device(emu_ctx->device, f_open_device)->ops;
	ok(saved.poll_cq == provider.poll_cq &&
	   saved.post_send == provider.post_send,
	   "a device without atomics keeps its operations");
}

int main(void)
{
	test_saved();
	test_reopened();
	return done_testing();
}
