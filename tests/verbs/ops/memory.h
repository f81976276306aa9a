/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tests of memory that is not an ordinary buffer of the process: device memory
 * (t_dm) and DMA-BUFs (t_dmabuf). Included by one file per program.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <string.h>
#include "tap.h"
#include "vt.h"

/* The memory, and a region of it whose address 0 is byte `start` of the memory. */
struct memory {
	struct ibv_mr *mr;
	size_t start;
	void *of;		/* for get() and put() */
	void (*get)(void *of, size_t offset, void *to, size_t len);
	void (*put)(void *of, size_t offset, const void *from, size_t len);
};

enum { MEMORY_AT = 64 };

/* Masked atomics of every size add to fields that are all ones, and carry no further. */
static void memory_test_masked(struct vt_pair *p, const struct memory *m)
{
	static const uint64_t one[4] = { 1, 1, 1, 1 };
	static const uint64_t edges[4] = { 0x8000, 0x8000, 0x8000, 0x8000 };
	static const uint64_t start[4] = { 0xffff, 0xffff, 0xffff, 0xffff };
	uint64_t got[4];
	struct ibv_sge sge;

	for (uint32_t log = 2; log <= 5; log++) {
		struct vt_wr wr = {
			.op = VT_MFADD, .via = VT_WR, .log_arg_sz = log,
			.operands = { one, NULL, edges }, .sge = &sge,
			.num_sge = 1, .raddr = MEMORY_AT, .rkey = m->mr->rkey,
		};
		unsigned int words = log > 3 ? 1U << (log - 3) : 1;
		bool good = true;

		sge = vt_sge(&p->a, 0, 1U << log);
		m->put(m->of, m->start + MEMORY_AT, start, sizeof(start));
		is_int(vt_do(&p->a, &wr, NULL), IBV_WC_SUCCESS,
		       "a masked atomic of %u bytes", 1U << log);
		m->get(m->of, m->start + MEMORY_AT, got, sizeof(got));
		for (unsigned int i = 0; i < 4; i++)
			good = good && got[i] == (i < words ? 0 : 0xffff);
		ok(good, "... executed");
	}
}

/* SEND from one memory, and a receive into another at a place of its own. */
static void memory_test_send(struct vt_pair *p, const struct memory *from,
			     const struct memory *to)
{
	enum { LEN = 3000, FROM = 4000, TO = 3100 };
	struct ibv_sge from_sge = { FROM, LEN, from->mr->lkey };
	struct ibv_sge to_sge = { TO, LEN, to->mr->lkey };
	struct vt_wr wr = { .op = VT_SEND, .sge = &from_sge, .num_sge = 1 };
	uint8_t data[LEN], got[LEN];
	struct ibv_wc wc;

	vt_fill_random(data, sizeof(data));
	from->put(from->of, from->start + FROM, data, sizeof(data));
	is_int(vt_recv_sge(&p->b, 1, &to_sge, 1), 0, "a receive into it");
	is_int(vt_do(&p->a, &wr, NULL), IBV_WC_SUCCESS, "SEND from it");
	ok(vt_poll(p->b.rcq, &wc, VT_MS) && !wc.status, "received");
	to->get(to->of, to->start + TO, got, sizeof(got));
	ok(!memcmp(got, data, sizeof(got)), "the same");
}

#endif /* MEMORY_H */
