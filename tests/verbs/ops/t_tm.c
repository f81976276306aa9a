// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves tag matching end to end: the operations, matching in order and with
 * wildcards, eager messages of many packets, the phases, rendezvous, and that
 * each tag is consumed or deleted exactly once.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <infiniband/tm_types.h>
#include "tap.h"
#include "tm.h"
#include "vt.h"

enum {
	SRQ_WR = 64,
	SRQ_LEN = 256,
	OPS = 256,
	SIZE = 4 << 20,
	/* Parts of the buffers: data, receives of the SRQ or of the sender. */
	RECV_AT = SIZE - SRQ_WR * SRQ_LEN,
	LOOP_MAX = 64 * 1024,		/* bytes that the loopback path sends at once */
};

static const uint64_t ALL = UINT64_MAX;

/* A pair whose end b has a tag-matching SRQ. */
struct side {
	struct vt_pair p;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	uint32_t unexpected;		/* handled by this program */
};

/* A completion of the SRQ. */
struct done {
	uint64_t wr_id;
	int status;
	int opcode;
	unsigned int flags;
	uint32_t len;
	uint64_t tag;
	uint32_t priv;
};

/* ---- creation ---------------------------------------------------------- */

static struct ibv_tm_caps caps_of(struct vt_dev *dev)
{
	struct ibv_device_attr_ex attr;

	if (ibv_query_device_ex(dev->ctx, NULL, &attr))
		vt_bail("ibv_query_device_ex");
	return attr.tm_caps;
}

static void post_srq_recv(struct side *t, uint64_t slot)
{
	struct ibv_sge sge = vt_sge(&t->p.b, RECV_AT + slot * SRQ_LEN, SRQ_LEN);
	struct ibv_recv_wr *bad, wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };

	if (ibv_post_srq_recv(t->srq, &wr, &bad))
		vt_bail("ibv_post_srq_recv");
}

static struct vt_conf tm_conf(struct ibv_srq *srq)
{
	struct vt_conf conf = vt_defaults();

	conf.srq_b = srq;
	conf.size = SIZE;
	conf.depth = SRQ_WR;
	conf.mtu = IBV_MTU_1024;
	return conf;
}

static void begin(struct side *t, struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf;
	int i;

	t->unexpected = 0;
	t->cq = tm_cq(b);
	t->srq = tm_srq(b, t->cq, SRQ_WR, caps_of(b).max_num_tags, OPS);
	if (!t->srq)
		vt_bail("ibv_create_srq_ex");
	conf = tm_conf(t->srq);
	vt_pair_open(&t->p, a, b, &conf);
	for (i = 0; i < SRQ_WR; i++)
		post_srq_recv(t, i);
	/* The sender gets the FINs here. */
	for (i = 0; i < SRQ_WR; i++)
		if (vt_recv(&t->p.a, i, RECV_AT + i * SRQ_LEN, SRQ_LEN))
			vt_bail("vt_recv");
}

static void end(struct side *t)
{
	vt_pair_close(&t->p);
	is_int(ibv_destroy_srq(t->srq), 0, "the SRQ is destroyed");
	is_int(ibv_destroy_cq(ibv_cq_ex_to_cq(t->cq)), 0, "... and its CQ");
}

/* ---- operations and messages ------------------------------------------- */

static int add(struct side *t, uint64_t id, uint64_t tag, uint64_t mask,
	       size_t offset, uint32_t len, int flags, uint32_t *handle)
{
	struct ibv_sge sge = vt_sge(&t->p.b, offset, len);
	struct ibv_ops_wr *bad, wr = {
		.wr_id = id,
		.opcode = IBV_WR_TAG_ADD,
		.flags = flags,
		.tm = {
			.unexpected_cnt = t->unexpected,
			.add = {
				.recv_wr_id = id,
				.sg_list = &sge,
				.num_sge = 1,
				.tag = tag,
				.mask = mask,
			},
		},
	};
	int ret = ibv_post_srq_ops(t->srq, &wr, &bad);

	if (handle)
		*handle = wr.tm.handle;
	return ret;
}

static int del(struct side *t, uint64_t id, uint32_t handle)
{
	struct ibv_ops_wr *bad, wr = {
		.wr_id = id,
		.opcode = IBV_WR_TAG_DEL,
		.flags = IBV_OPS_SIGNALED,
		.tm.handle = handle,
	};

	return ibv_post_srq_ops(t->srq, &wr, &bad);
}

static void sync_count(struct side *t, uint64_t id)
{
	struct ibv_ops_wr *bad, wr = {
		.wr_id = id,
		.opcode = IBV_WR_TAG_SYNC,
		.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
		.tm.unexpected_cnt = t->unexpected,
	};

	is_int(ibv_post_srq_ops(t->srq, &wr, &bad), 0, "TAG_SYNC");
}

/* Posts a SEND of @len bytes from @offset of end a. */
static void post_send(struct side *t, size_t offset, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&t->p.a, offset, len);
	struct vt_wr wr = {
		.op = VT_SEND, .sge = &sge, .num_sge = 1, .flags = IBV_SEND_SIGNALED,
	};

	if (vt_post(&t->p.a, &wr))
		vt_bail("vt_post");
}

static void sent(struct side *t)
{
	struct ibv_wc wc;

	if (!vt_poll(t->p.a.cq, &wc, VT_MS) || wc.status)
		vt_bail("a SEND failed");
}

static void put_tmh(struct side *t, size_t offset, uint8_t opcode, uint64_t tag)
{
	struct ibv_tmh *tmh = (void *)(t->p.a.buf + offset);

	*tmh = (struct ibv_tmh){
		.opcode = opcode,
		.app_ctx = htobe32((uint32_t)tag ^ 0x5a5a5a5a),
		.tag = htobe64(tag),
	};
}

/* Sends @len bytes of data behind a TMH at the beginning of the buffer. */
static void eager(struct side *t, uint64_t tag, uint32_t len)
{
	put_tmh(t, 0, IBV_TMH_EAGER, tag);
	post_send(t, 0, (uint32_t)sizeof(struct ibv_tmh) + len);
	sent(t);
}

/* Offers @len bytes at @data, with headers at @hdr. */
static void rndv(struct side *t, uint64_t tag, size_t hdr, size_t data, uint32_t len)
{
	struct ibv_rvh *rvh = (void *)(t->p.a.buf + hdr + sizeof(struct ibv_tmh));

	put_tmh(t, hdr, IBV_TMH_RNDV, tag);
	*rvh = (struct ibv_rvh){
		.va = htobe64(vt_addr(&t->p.a, data)),
		.rkey = htobe32(t->p.a.mr->rkey),
		.len = htobe32(len),
	};
	post_send(t, hdr, sizeof(struct ibv_tmh) + sizeof(*rvh));
}

static bool poll_tm(struct side *t, struct done *d, int ms)
{
	uint64_t until = vt_now_ms() + (uint64_t)ms;
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_wc_tm_info info;

	while (ibv_start_poll(t->cq, &attr))
		if (vt_now_ms() >= until)
			return false;
	ibv_wc_read_tm_info(t->cq, &info);
	*d = (struct done){
		.wr_id = t->cq->wr_id,
		.status = t->cq->status,
		.opcode = ibv_wc_read_opcode(t->cq),
		.flags = ibv_wc_read_wc_flags(t->cq),
		.len = ibv_wc_read_byte_len(t->cq),
		.tag = info.tag,
		.priv = info.priv,
	};
	ibv_end_poll(t->cq);
	return true;
}

static struct done next(struct side *t)
{
	struct done d;

	if (!poll_tm(t, &d, VT_MS))
		vt_bail("no completion");
	return d;
}

/* Checks that the next completion is this one. */
static struct done expect(struct side *t, const char *what, int opcode,
			  uint64_t wr_id, unsigned int flags)
{
	struct done d = next(t);

	ok(!d.status && d.opcode == opcode && d.wr_id == wr_id && d.flags == flags,
	   "%s", what);
	if (d.status || d.opcode != opcode || d.wr_id != wr_id || d.flags != flags)
		diag("%s, opcode %d, wr_id %llu, flags %#x", vt_status(d.status),
		     d.opcode, (unsigned long long)d.wr_id, d.flags);
	return d;
}

/* Returns true if messages between the two devices need no packets. */
static bool is_loop(void)
{
	return !strcmp(vt_name_a(), vt_name_b()) && vt_has_loopback();
}

static const unsigned int WHOLE = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;

/* ---- tests ------------------------------------------------------------- */

static void test_create(struct vt_dev *dev)
{
	struct ibv_tm_caps caps = caps_of(dev);
	struct ibv_cq_ex *cq = tm_cq(dev);
	struct ibv_srq_init_attr plain_attr = { .attr = { 1, 1, 0 } };
	struct ibv_srq *srq, *plain = ibv_create_srq(dev->pd, &plain_attr);
	struct ibv_qp_init_attr qp_attr = {
		.send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq),
		.qp_type = IBV_QPT_UD, .cap = { .max_send_wr = 1 },
	};
	struct ibv_ops_wr *bad, wr = { .opcode = IBV_WR_TAG_SYNC };

	ok(caps.flags & IBV_TM_CAP_RC, "tag matching on RC");
	ok(caps.max_num_tags >= 1024, "at least 1024 tags");
	ok(caps.max_ops && caps.max_sge && caps.max_rndv_hdr_size >= 32,
	   "the other limits");
	srq = tm_srq(dev, cq, SRQ_WR, caps.max_num_tags, caps.max_ops);
	ok(srq, "an SRQ with the greatest limits");
	if (!srq || !plain)
		vt_bail("ibv_create_srq");
	qp_attr.srq = srq;
	ok(!ibv_create_qp(dev->pd, &qp_attr) && errno == EINVAL,
	   "not with a UD QP");
	is_int(ibv_post_srq_ops(plain, &wr, &bad), EINVAL, "no tags in a plain SRQ");
	is_int(ibv_destroy_srq(srq), 0, "destroyed");
	is_int(ibv_destroy_srq(plain), 0, "destroyed");
	ok(!tm_srq(dev, cq, SRQ_WR, caps.max_num_tags + 1, 1) && errno == EINVAL,
	   "too many tags");
	ok(!tm_srq(dev, cq, SRQ_WR, 0, 1) && errno == EINVAL, "no tags");
	ok(!tm_srq(dev, cq, SRQ_WR, 1, caps.max_ops + 1) && errno == EINVAL,
	   "too many operations");
	ok(!tm_srq(dev, cq, SRQ_WR, 1, 0) && errno == EINVAL, "no operations");
	is_int(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0, "destroyed");
}

static void test_list(struct vt_dev *a, struct vt_dev *b)
{
	uint32_t max = caps_of(b).max_num_tags, i, first, handle = 0;
	struct side t;
	int err = 0;

	begin(&t, a, b);
	is_int(add(&t, 0, 0, ALL, 0, 8, 0, &first), 0, "a tag");
	for (i = 1; i < max && !err; i++)
		err = add(&t, i, i, ALL, 0, 8, 0, &handle);
	is_int(err, 0, "as many tags as the list has");
	is_int(add(&t, i, i, ALL, 0, 8, 0, NULL), ENOMEM, "one too many");
	ok(!poll_tm(&t, &(struct done){ 0 }, 0), "no completion without a flag");
	is_int(del(&t, 77, handle), 0, "TAG_DEL");
	expect(&t, "... completes", IBV_WC_TM_DEL, 77, 0);
	is_int(del(&t, 78, handle), 0, "TAG_DEL of the same tag");
	is_int(next(&t).status, IBV_WC_TM_ERR, "... fails");
	is_int(add(&t, 79, i, ALL, 0, 8, IBV_OPS_SIGNALED, NULL), 0, "room again");
	expect(&t, "TAG_ADD completes", IBV_WC_TM_ADD, 79, 0);
	eager(&t, 0, 8);
	expect(&t, "the first tag matches", IBV_WC_TM_RECV, 0, WHOLE);
	is_int(del(&t, 80, first), 0, "TAG_DEL of a consumed tag");
	is_int(next(&t).status, IBV_WC_TM_ERR, "... fails");
	end(&t);
}

static void test_order(struct vt_dev *a, struct vt_dev *b)
{
	struct side t;
	struct done d;

	begin(&t, a, b);
	add(&t, 1, 0x10, 0xf0, 0, 64, 0, NULL);
	add(&t, 2, 0x15, ALL, 64, 64, 0, NULL);
	add(&t, 3, 0, 0, 128, 64, 0, NULL);
	add(&t, 4, 0x15, ALL, 192, 64, 0, NULL);
	vt_fill_random(t.p.a.buf, 256);
	eager(&t, 0x15, 64);
	d = expect(&t, "the wildcard that was posted first", IBV_WC_TM_RECV, 1, WHOLE);
	is_u64(d.tag, 0x15, "... the tag of the message");
	is_u64(d.priv, 0x15 ^ 0x5a5a5a5a, "... its context");
	is_u64(d.len, 64, "... the length without the header");
	ok(!memcmp(t.p.b.buf, t.p.a.buf + 16, 64), "... the data without the header");
	eager(&t, 0x15, 10);
	expect(&t, "then the exact tag", IBV_WC_TM_RECV, 2, WHOLE);
	eager(&t, 0x99, 10);
	expect(&t, "a tag that matches anything", IBV_WC_TM_RECV, 3, WHOLE);
	eager(&t, 0x99, 10);
	d = expect(&t, "no match", IBV_WC_TM_RECV, 0, 0);
	is_u64(d.len, 26, "... the length with the header");
	ok(!memcmp(t.p.b.buf + RECV_AT, t.p.a.buf, 26), "... the whole message");
	is_u64(d.tag, 0, "... no tag in the completion");
	eager(&t, 0x15, 10);
	expect(&t, "a tag from before the unexpected message", IBV_WC_TM_RECV, 4, WHOLE);
	put_tmh(&t, 0, IBV_TMH_NO_TAG, 0x15);
	post_send(&t, 0, 20);
	sent(&t);
	expect(&t, "a message without a tag", IBV_WC_TM_NO_TAG, 1, 0);
	end(&t);
}

static void test_phase(struct vt_dev *a, struct vt_dev *b)
{
	struct side t;

	begin(&t, a, b);
	eager(&t, 5, 10);
	expect(&t, "an unexpected message", IBV_WC_TM_RECV, 0, 0);
	add(&t, 1, 5, ALL, 0, 64, IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC, NULL);
	expect(&t, "the list is not synchronised", IBV_WC_TM_ADD, 1, IBV_WC_TM_SYNC_REQ);
	eager(&t, 5, 10);
	expect(&t, "the new tag does not match", IBV_WC_TM_RECV, 1, 0);
	t.unexpected = 2;
	sync_count(&t, 9);
	expect(&t, "the list is synchronised", IBV_WC_TM_SYNC, 9, 0);
	eager(&t, 5, 10);
	expect(&t, "the tag matches", IBV_WC_TM_RECV, 1, WHOLE);
	end(&t);
}

static void test_eager_sizes(struct vt_dev *a, struct vt_dev *b)
{
	static const uint32_t sizes[] = { 0, 1, 1008, 1009, 4096, 100000, 1 << 20 };
	unsigned int i;
	struct done d;
	struct side t;

	begin(&t, a, b);
	vt_fill_random(t.p.a.buf, 2 << 20);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		bool one = sizes[i] <= (is_loop() ? LOOP_MAX - 16 : 1008);

		add(&t, i, i, ALL, 0, sizes[i], 0, NULL);
		memset(t.p.b.buf, 0, sizes[i] + 1);
		eager(&t, i, sizes[i]);
		d = expect(&t, "the match", IBV_WC_TM_RECV, i, one ? WHOLE : IBV_WC_TM_MATCH);
		is_u64(d.tag, i, "... of this tag");
		if (!one)
			d = expect(&t, "the data", IBV_WC_TM_RECV, i, IBV_WC_TM_DATA_VALID);
		is_u64(d.len, sizes[i], "%u bytes", sizes[i]);
		ok(!memcmp(t.p.b.buf, t.p.a.buf + 16, sizes[i]), "... are right");
		is_int(t.p.b.buf[sizes[i]], 0, "... and no more");
	}
	add(&t, 50, 50, ALL, 0, 2000, 0, NULL);
	put_tmh(&t, 0, IBV_TMH_EAGER, 50);
	post_send(&t, 0, 16 + 2001);
	expect(&t, "the match of a message that is too long", IBV_WC_TM_RECV, 50,
	       IBV_WC_TM_MATCH);
	d = next(&t);
	is_int(d.status, IBV_WC_LOC_LEN_ERR, "... fails");
	is_u64(d.wr_id, 50, "... for this tag");
	end(&t);
}

/* The elements of a message end within its header, or within its data. */
static void test_gather(struct vt_dev *a, struct vt_dev *b)
{
	static const uint32_t firsts[] = { 1, 15, 16, 17, 31, 40, 299 };
	uint8_t message[300];
	const uint32_t all = sizeof(message), data = all - sizeof(struct ibv_tmh);
	struct done d;
	struct side t;

	begin(&t, a, b);
	for (unsigned int i = 0; i < ARRAY_SIZE(firsts); i++) {
		struct ibv_sge sge[] = {
			vt_sge(&t.p.a, 0, firsts[i]),
			vt_sge(&t.p.a, 4096, all - firsts[i]),
		};
		struct vt_wr wr = {
			.op = VT_SEND, .sge = sge, .num_sge = 2,
			.flags = IBV_SEND_SIGNALED,
		};

		add(&t, i, i, ALL, 0, data, 0, NULL);
		vt_fill_random(t.p.a.buf, all);
		put_tmh(&t, 0, IBV_TMH_EAGER, i);
		memcpy(message, t.p.a.buf, all);
		memcpy(t.p.a.buf + 4096, message + firsts[i], all - firsts[i]);
		memset(t.p.b.buf, 0, all);
		if (vt_post(&t.p.a, &wr))
			vt_bail("vt_post");
		sent(&t);
		d = expect(&t, "a message of two elements", IBV_WC_TM_RECV, i, WHOLE);
		is_u64(d.len, data, "... the first of %u bytes", firsts[i]);
		ok(!memcmp(t.p.b.buf, message + all - data, data), "... the data");
		is_int(t.p.b.buf[data], 0, "... and no more");
	}
	end(&t);
}

static void check_fin(struct side *t, uint64_t tag, uint32_t len)
{
	const struct ibv_tmh *tmh;
	struct ibv_wc wc;

	if (!vt_poll(t->p.a.rcq, &wc, VT_MS))
		vt_bail("no FIN");
	tmh = (void *)(t->p.a.buf + RECV_AT + wc.wr_id * SRQ_LEN);
	ok(!wc.status && wc.byte_len == 32 && tmh->opcode == IBV_TMH_FIN &&
	   be64toh(tmh->tag) == tag &&
	   be32toh(((const struct ibv_rvh *)(tmh + 1))->len) == len,
	   "the FIN");
	if (vt_recv(&t->p.a, wc.wr_id, RECV_AT + wc.wr_id * SRQ_LEN, SRQ_LEN))
		vt_bail("vt_recv");
}

static void test_rndv_sizes(struct vt_dev *a, struct vt_dev *b)
{
	static const uint32_t sizes[] = { 0, 1, 1024, 1025, 4096, 100000, 1 << 20 };
	const size_t data = 4096;
	unsigned int i;
	struct done d;
	struct side t;

	begin(&t, a, b);
	vt_fill_random(t.p.a.buf, 2 << 20);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		add(&t, i, i, ALL, 0, sizes[i], 0, NULL);
		memset(t.p.b.buf, 0, sizes[i] + 1);
		rndv(&t, i, 0, data, sizes[i]);
		sent(&t);
		d = expect(&t, "the match", IBV_WC_TM_RECV, i, IBV_WC_TM_MATCH);
		is_u64(d.tag, i, "... of this tag");
		d = expect(&t, "the data", IBV_WC_TM_RECV, i, IBV_WC_TM_DATA_VALID);
		is_u64(d.len, sizes[i], "%u bytes", sizes[i]);
		ok(!memcmp(t.p.b.buf, t.p.a.buf + data, sizes[i]), "... are right");
		is_int(t.p.b.buf[sizes[i]], 0, "... and no more");
		check_fin(&t, i, sizes[i]);
	}
	add(&t, 50, 50, ALL, 0, 99, 0, NULL);
	rndv(&t, 50, 0, data, 100);
	sent(&t);
	d = next(&t);
	is_int(d.status, IBV_WC_TM_RNDV_INCOMPLETE, "a buffer that is too small");
	ok(d.wr_id == 50 && !memcmp(t.p.b.buf, t.p.a.buf, 32), "... gets the headers");
	rndv(&t, 51, 0, data, 100);
	sent(&t);
	d = expect(&t, "no match", IBV_WC_TM_RECV, 0, 0);
	is_u64(d.len, 32, "... the headers");
	end(&t);
}

/*
 * More rendezvous than the device has in progress, beside requests of the
 * program in both directions.
 */
static void test_rndv_many(struct vt_dev *a, struct vt_dev *b)
{
	enum { N = 200, LEN = 5000 };
	unsigned int i, matched = 0, valid = 0, good = 0, acked = 0, fins = 0;
	unsigned int writes = 0;
	struct ibv_wc wc;
	struct done d;
	struct side t;

	begin(&t, a, b);
	vt_fill_random(t.p.a.buf, N * LEN);
	for (i = 0; i < N; i++)
		add(&t, i, i, ALL, (size_t)i * LEN, LEN, 0, NULL);
	for (i = 0; i < N; i++) {
		struct ibv_sge sge = vt_sge(&t.p.b, 3 << 20, 8);
		struct vt_wr wr = {
			.op = VT_WRITE, .sge = &sge, .num_sge = 1,
			.raddr = vt_addr(&t.p.a, 3 << 20), .rkey = t.p.a.mr->rkey,
			.flags = IBV_SEND_SIGNALED,
		};

		/* 32 SENDs at a time, in the order N - 1 ... 0. */
		rndv(&t, N - 1 - i, (2 << 20) + i * 64, (size_t)(N - 1 - i) * LEN, LEN);
		if (i % 32 == 31 || i == N - 1)
			for (; acked <= i; acked++)
				sent(&t);
		if (vt_post(&t.p.b, &wr))
			vt_bail("vt_post");
		while (writes <= i && vt_poll(t.p.b.cq, &wc, VT_MS) && !wc.status &&
		       wc.opcode == IBV_WC_RDMA_WRITE)
			writes++;
		for (; vt_poll(t.p.a.rcq, &wc, 0); fins++)
			vt_recv(&t.p.a, wc.wr_id, RECV_AT + wc.wr_id * SRQ_LEN, SRQ_LEN);
	}
	is_int(writes, N, "the WRITEs of the program complete");
	while (valid < N && poll_tm(&t, &d, VT_MS)) {
		if (d.status || d.opcode != IBV_WC_TM_RECV)
			break;
		if (d.flags == IBV_WC_TM_MATCH) {
			good += d.wr_id == N - 1 - matched && d.tag == d.wr_id;
			matched++;
		} else {
			good += d.flags == IBV_WC_TM_DATA_VALID &&
				d.wr_id == N - 1 - valid;
			valid++;
		}
	}
	is_int(matched, N, "all match");
	is_int(valid, N, "... and get their data");
	is_int(good, 2 * N, "... in the order of the messages");
	ok(!memcmp(t.p.a.buf, t.p.b.buf, N * LEN), "... the right data");
	while (fins < N && vt_poll(t.p.a.rcq, &wc, VT_MS))
		fins++;
	is_int(fins, N, "... and a FIN each");
	end(&t);
}

/* A remote key that cannot be read is the sender's error, seen by both. */
static void test_rndv_error(struct vt_dev *a, struct vt_dev *b)
{
	struct ibv_rvh *rvh;
	struct done d;
	struct side t;

	begin(&t, a, b);
	add(&t, 1, 1, ALL, 0, 100, 0, NULL);
	put_tmh(&t, 0, IBV_TMH_RNDV, 1);
	rvh = (void *)(t.p.a.buf + 16);
	*rvh = (struct ibv_rvh){ .va = 1, .rkey = 1, .len = htobe32(100) };
	post_send(&t, 0, 32);
	expect(&t, "the match", IBV_WC_TM_RECV, 1, IBV_WC_TM_MATCH);
	d = next(&t);
	is_int(d.status, IBV_WC_REM_ACCESS_ERR, "a key that cannot be read");
	is_u64(d.wr_id, 1, "... fails for the tag");
	while (vt_state(&t.p.b) != IBV_QPS_ERR)
		;
	ok(1, "... and the QP");
	end(&t);
}

/* ---- races ------------------------------------------------------------- */

struct sender {
	struct side *t;
	unsigned int n;
};

static void *send_all(void *arg)
{
	struct sender *s = arg;
	unsigned int i;

	for (i = 0; i < s->n; i++)
		eager(s->t, i, 8);
	return NULL;
}

enum { RACE_TAGS = 500 };

/* What became of the tags of test_del_race(). */
struct race {
	unsigned int deleted, failed, consumed, unexpected, twice;
	uint8_t seen[RACE_TAGS];
};

/* The operation i deletes the tag RACE_TAGS - 1 - i. */
static void race_count(struct race *r, struct side *t, const struct done *d)
{
	bool is_del = d->opcode == IBV_WC_TM_DEL;
	uint64_t tag = is_del ? RACE_TAGS - 1 - d->wr_id : d->wr_id;

	if (d->status == IBV_WC_TM_ERR) {
		r->failed++;
	} else if (is_del || d->flags == WHOLE) {
		r->twice += r->seen[tag]++;
		r->deleted += is_del;
		r->consumed += !is_del;
	} else {
		r->unexpected++;
		post_srq_recv(t, d->wr_id);
	}
}

/*
 * Messages and TAG_DELs for the same tags at the same time.  Each tag is either
 * deleted or consumed.
 */
static void test_del_race(struct vt_dev *a, struct vt_dev *b)
{
	enum { N = RACE_TAGS };
	struct race r = { 0 };
	uint32_t handles[N];
	struct sender s;
	pthread_t thread;
	struct done d;
	struct side t;

	begin(&t, a, b);
	s = (struct sender){ &t, N };
	for (unsigned int i = 0; i < N; i++)
		add(&t, i, i, ALL, 0, 64, 0, &handles[i]);
	if (pthread_create(&thread, NULL, send_all, &s))
		vt_bail("pthread_create");
	for (unsigned int i = 0; i < N; i++) {
		if (del(&t, i, handles[N - 1 - i]))
			vt_bail("TAG_DEL");
		while (poll_tm(&t, &d, 0))
			race_count(&r, &t, &d);
	}
	while (r.deleted + r.failed < N || r.consumed + r.unexpected < N) {
		d = next(&t);
		race_count(&r, &t, &d);
	}
	pthread_join(thread, NULL);
	diag("%u deleted, %u consumed", r.deleted, r.consumed);
	is_int(r.twice, 0, "no tag is both deleted and consumed");
	is_int(r.deleted + r.consumed, N, "each tag is one of them");
	is_int(r.failed, r.consumed, "TAG_DEL fails for the consumed ones");
	is_int(r.unexpected, r.deleted, "messages for the deleted ones are unexpected");
	end(&t);
}

/* The QP and the SRQ are destroyed while the device reads. */
static void test_destroy(struct vt_dev *a, struct vt_dev *b)
{
	unsigned int i, j;
	struct side t;

	for (i = 0; i < 10; i++) {
		begin(&t, a, b);
		for (j = 0; j < 20; j++) {
			add(&t, j, j, ALL, 0, 1 << 20, 0, NULL);
			rndv(&t, j, (2 << 20) + j * 64, 0, 1 << 20);
		}
		for (j = 0; j < i; j++)
			next(&t);
		if (i % 2)
			vt_to_state(&t.p.b, IBV_QPS_RESET);
		end(&t);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct vt_dev *a, struct vt_dev *b);
	} tests[] = {
		{ "list", test_list },
		{ "order", test_order },
		{ "phase", test_phase },
		{ "eager", test_eager_sizes },
		{ "gather", test_gather },
		{ "rndv", test_rndv_sizes },
		{ "many", test_rndv_many },
		{ "error", test_rndv_error },
		{ "del", test_del_race },
		{ "destroy", test_destroy },
	};
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());
	long loops = vt_dev_counter(a, "loop_requests");

	(void)argc;
	argv++;
	if (vt_wanted("create", argv))
		test_create(a);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		if (vt_wanted(tests[i].name, argv))
			tests[i].run(a, b);
	loops = vt_dev_counter(a, "loop_requests") - loops;
	if (!*argv)
		ok((loops > 0) == is_loop(), "%ld requests without packets", loops);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
