// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Implements the attacks of t_worst with the tags of a hostile process. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <infiniband/tm_types.h>
#include <rdma/mxe-abi.h>
#include "tm.h"
#include "worst.h"

enum {
	TAGS = 1024,		/* of an SRQ, also operations in its ring */
	LEN = 4096,		/* bytes of a receive buffer */
	SOME = 4 * WORST_BURST,
};

struct tags {
	struct vt_pair p;
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
};

static void tags_open(struct tags *t)
{
	struct vt_conf conf = worst_conf(SOME, 2 * LEN);
	struct ibv_recv_wr *bad;

	t->cq = tm_cq(worst_b);
	t->srq = tm_srq(worst_b, t->cq, SOME, TAGS, TAGS);
	if (!t->srq)
		vt_bail("ibv_create_srq_ex");
	conf.srq_b = t->srq;
	worst_pair_open(&t->p, worst_b, &conf);
	for (int i = 0; i < SOME; i++) {
		struct ibv_sge sge = vt_sge(&t->p.b, 0, LEN);
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

		if (ibv_post_srq_recv(t->srq, &wr, &bad))
			vt_bail("ibv_post_srq_recv");
	}
}

static void tags_close(struct tags *t)
{
	vt_pair_close(&t->p);
	if (ibv_destroy_srq(t->srq) || ibv_destroy_cq(ibv_cq_ex_to_cq(t->cq)))
		vt_bail("ibv_destroy_srq");
}

/* Posts tags that match no message, each with its own mask, from...to-1. */
static bool add_tags(struct tags *t, uint32_t from, uint32_t to)
{
	static struct ibv_ops_wr wr[TAGS];
	struct ibv_ops_wr *bad;

	for (uint32_t i = from; i < to; i++)
		wr[i] = (struct ibv_ops_wr){
			.next = i + 1 < to ? &wr[i + 1] : NULL,
			.opcode = IBV_WR_TAG_ADD,
			.tm.add = { .tag = 1ULL << 63, .mask = 1ULL << 63 | i },
		};
	return !ibv_post_srq_ops(t->srq, &wr[from], &bad);
}

static bool tag_ops(void)
{
	struct tags t;
	bool done;

	tags_open(&t);
	worst_begin();
	done = add_tags(&t, 0, TAGS);
	worst_end();
	tags_close(&t);
	return done;
}

/*
 * Sends w->n messages, each after w->shift messages without a tag.  The first
 * executes w->len operations.
 */
static bool tag_masks(const struct worst *w)
{
	struct ibv_tmh *tmh;
	struct ibv_sge sge[2];
	struct worst_wr plain, tagged;
	struct tags t;
	bool done;

	tags_open(&t);
	done = add_tags(&t, 0, TAGS - w->len) && (!w->len || add_tags(&t, TAGS - w->len, TAGS));
	tmh = (void *)t.p.a.buf;
	*tmh = (struct ibv_tmh){ .opcode = IBV_TMH_EAGER };
	tmh = (void *)(t.p.a.buf + LEN);
	*tmh = (struct ibv_tmh){ .opcode = IBV_TMH_NO_TAG };
	sge[0] = vt_sge(&t.p.a, 0, sizeof(*tmh));
	sge[1] = vt_sge(&t.p.a, LEN, LEN);
	tagged = (struct worst_wr){ .opcode = IBV_WR_SEND, .sge = &sge[0], .num_sge = 1 };
	plain = (struct worst_wr){ .opcode = IBV_WR_SEND, .sge = &sge[1], .num_sge = 1 };
	for (uint32_t i = 0; i < w->n; i++) {
		worst_fill(t.p.a.qp, w->shift, &plain);
		worst_fill(t.p.a.qp, 1, &tagged);
	}
	worst_begin();
	worst_ring(t.p.a.qp);
	done = worst_wait(t.p.a.cq, w->n * (w->shift + 1), IBV_WC_SUCCESS) && done;
	worst_end();
	tags_close(&t);
	return done;
}

const struct worst worst_tags[] = {
	{ "tag_ops", "1,024 tags, each with its own mask, are posted", .run = tag_ops },
	{ "tag_masks", "messages that 1,024 masks are tried on", .run_with = tag_masks,
	  .n = SOME },
	{ "tag_masks_unrung", "a message executes 8 operations, then tries 1,024 masks",
	  .run_with = tag_masks, .n = 1, .len = MXE_TM_MAX_UNRUNG },
	{ "tag_masks_beside", "such messages beside 4-KiB ones", .run_with = tag_masks,
	  .n = SOME / 32, .shift = 30 },
	{ .name = NULL },
};
