/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tests of memory that is not an ordinary buffer of the process: device memory
 * (t_dm) and DMA-BUFs (t_dmabuf). One file of a program includes this.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

/*
 * Memory, which is zeroed, and a region of len bytes that begins at start.
 */
struct memory {
	struct ibv_mr *mr;
	uint64_t addr;		/* remote address of the first byte */
	size_t start, len;
	void *of;		/* argument of get() and put() */
	void (*get)(void *of, size_t offset, void *to, size_t len);
	void (*put)(void *of, size_t offset, const void *from, size_t len);
};

enum { MEMORY_AT = 64 };

/**
 * memory_is_zero() - Check whether all bytes are 0.
 * @p: bytes
 * @len: number of bytes
 *
 * Return: true if all bytes are 0.
 */
static bool memory_is_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

/**
 * memory_test_remote() - Test RDMA READ and WRITE up to the last byte of a
 *	region.
 * @p: connected pair, whose end a posts the requests
 * @m: memory on the device of end b
 */
static void memory_test_remote(struct vt_pair *p, const struct memory *m)
{
	enum { AT = 1000 };	/* in the region */
	size_t len = m->len - AT, end = m->start + m->len;
	uint8_t *data = malloc(len), *got = malloc(end + 4);

	if (!data || !got)
		vt_bail("malloc");
	vt_fill_random(data, len);
	memcpy(p->a.buf, data, len);
	is_int(vt_rdma(&p->a, VT_WRITE, m->mr, m->addr + AT, (uint32_t)len),
	       IBV_WC_SUCCESS, "RDMA WRITE to byte %d", AT);
	m->get(m->of, 0, got, end + 4);
	ok(!memcmp(got + m->start + AT, data, len), "... arrives");
	ok(memory_is_zero(got, m->start + AT), "... changes nothing before it");
	ok(memory_is_zero(got + end, 4), "... or after it");

	for (size_t i = 0; i < 4; i++)
		data[i] ^= 0xff;
	m->put(m->of, m->start + AT, data, 4);
	memset(p->a.buf, 0, len);
	is_int(vt_rdma(&p->a, VT_READ, m->mr, m->addr + AT, (uint32_t)len),
	       IBV_WC_SUCCESS, "RDMA READ after a change by the owner");
	ok(!memcmp(p->a.buf, data, len), "... returns the changed data");
	is_int(vt_rdma(&p->a, VT_READ, m->mr, m->addr + m->len - 1, 1), IBV_WC_SUCCESS,
	       "RDMA READ of the last byte");
	is_int(vt_rdma(&p->a, VT_READ, m->mr, m->addr + m->len - 1, 2),
	       IBV_WC_REM_ACCESS_ERR, "RDMA READ of one byte more");
	free(data);
	free(got);
}

/**
 * memory_test_masked() - Test masked atomics of every size on a region.
 * @p: connected pair, whose end a posts the requests
 * @m: memory on the device of end b
 *
 * Adds 1 to fields of all ones, and checks that no carry leaves a field and
 * that the bytes after the operand are unchanged.
 */
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
			.num_sge = 1, .raddr = m->addr + MEMORY_AT,
			.rkey = m->mr->rkey,
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
		ok(good, "... is executed");
	}
}

/**
 * memory_test_send() - Test a SEND from one memory into another.
 * @p: connected pair
 * @from: memory of the sender
 * @to: memory of the receiver
 *
 * The offsets in the two regions differ.
 */
static void memory_test_send(struct vt_pair *p, const struct memory *from,
			     const struct memory *to)
{
	enum { LEN = 3000, FROM = 4000, TO = 3100 };
	struct ibv_sge from_sge = { from->addr + FROM, LEN, from->mr->lkey };
	struct ibv_sge to_sge = { to->addr + TO, LEN, to->mr->lkey };
	struct vt_wr wr = { .op = VT_SEND, .sge = &from_sge, .num_sge = 1 };
	uint8_t data[LEN], got[LEN];
	struct ibv_wc wc;

	vt_fill_random(data, sizeof(data));
	from->put(from->of, from->start + FROM, data, sizeof(data));
	is_int(vt_recv_sge(&p->b, 1, &to_sge, 1), 0, "a receive into the memory");
	is_int(vt_do(&p->a, &wr, NULL), IBV_WC_SUCCESS, "SEND from the memory");
	ok(vt_poll(p->b.rcq, &wc, VT_MS) && !wc.status, "... is received");
	to->get(to->of, to->start + TO, got, sizeof(got));
	ok(!memcmp(got, data, sizeof(got)), "... with its data");
}

#endif /* MEMORY_H */
