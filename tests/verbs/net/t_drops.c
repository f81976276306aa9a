// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a packet that must not be accepted is dropped, that only the
 * counter of its reason counts it, once, and that the connection that it tries
 * to disturb continues. The test builds the packets in the netns of the first
 * host.
 */
#include "tap.h"
#include "raw.h"
#include "vt.h"

static struct vt_dev *a, *b;
static int raw_fd;

/* Executes an addition and checks that nothing else was added. */
static void add_one(struct vt_pair *p, const char *what)
{
	struct vt_wr wr = { .op = VT_FADD, .compare_add = 1 };
	uint64_t before = *vt_word(&p->b, 128), got;

	is_int(vt_atomic(p, &wr, 128, &got), IBV_WC_SUCCESS,
	       "%s: the connection continues", what);
	is_u64(*vt_word(&p->b, 128), before + 1, "... and nothing else is executed");
}

static void dropped(struct vt_pair *p, const struct raw *r)
{
	long before = vt_dev_counter(b, r->counter), all = vt_dev_counter(b, "drop_*");

	raw_send(raw_fd, a, b, r);
	vt_dev_wait_counted(b, r->counter, before);
	is_int(vt_dev_counter(b, r->counter) - before, 1, "%s: %s", r->what,
	       r->counter);
	is_int(vt_dev_counter(b, "drop_*") - all, 1, "... and no other drop counter");
	if (p)
		add_one(p, r->what);
}

static void test_malformed(struct vt_pair *p)
{
	const struct raw raws[] = {
		{ "drop_short", "cut within BTH", .cut = 8 },
		{ "drop_short", "without the header of its opcode",
		  .opcode = BTH_RC | BTH_FETCH_ADD },
		{ "drop_version", "transport header version 1", .flags = BTH_VERSION_1 },
		{ "drop_opcode", "an unassigned opcode", .opcode = BTH_RC | BTH_UNASSIGNED },
		{ "drop_length", "an acknowledgment with data",
		  .opcode = BTH_RC | BTH_ACKNOWLEDGE, .len = 8 },
		{ "drop_length", "a length that is no multiple of 4",
		  .flags = BTH_PAD_3, .len = 6 },
		{ "drop_length", "IP options", .options = true },
		{ "drop_icrc", "a wrong ICRC", .icrc_error = 1 },
		{ "drop_qpn", "an unassigned QP number", .qpn = RAW_NOBODY },
		{ "drop_pkey", "another P_Key", .pkey = 0x1234 },
		{ "drop_address", "an unknown source address", .stranger = true },
		{ "drop_transport", "an opcode of UC", .opcode = BTH_UC | BTH_SEND_MIDDLE,
		  .len = 4 },
		{ "drop_unsolicited_response", "a response without a request",
		  .opcode = BTH_RC | BTH_ACKNOWLEDGE, .len = 4, .psn = 0x123 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(raws); i++) {
		struct raw r = raws[i];

		if (!r.opcode)
			r.opcode = BTH_RC | BTH_SEND_ONLY;
		if (!r.qpn)
			r.qpn = p->b.qp->qp_num;
		dropped(p, &r);
	}
}

/* AtomicETH: address, key, value to add. */
static void fill_add(struct raw *r, struct vt_pair *p, uint64_t add)
{
	uint64_t va = htobe64(vt_addr(&p->b, 128));
	uint32_t rkey = htobe32(p->b.mr->rkey);

	add = htobe64(add);
	r->opcode = BTH_RC | BTH_FETCH_ADD;
	r->qpn = p->b.qp->qp_num;
	r->len = 28;
	memcpy(r->body, &va, 8);
	memcpy(r->body + 8, &rkey, 4);
	memcpy(r->body + 12, &add, 8);
}

/* A repeated atomic is never executed twice, whether changed or not. */
static void test_repeated(struct vt_pair *p, uint32_t psn)
{
	struct raw unknown = {
		"drop_duplicate_unknown", "an atomic from before the beginning",
		.psn = (psn - 5) & BTH_PSN_MASK,
	}, mismatch = {
		"drop_duplicate_mismatch", "the last atomic, with another sum",
		.psn = psn,
	};

	add_one(p, "the first");
	fill_add(&unknown, p, 1);
	dropped(NULL, &unknown);
	fill_add(&mismatch, p, 7);
	dropped(NULL, &mismatch);
	add_one(p, mismatch.what);
}

static void test_uc(void)
{
	struct vt_conf conf = vt_defaults();
	struct raw r = {
		"drop_uc_message", "the middle of a message over UC",
		.opcode = BTH_UC | BTH_SEND_MIDDLE, .len = 64,
	};
	struct vt_pair p;

	conf.qp_type = IBV_QPT_UC;
	vt_pair_open(&p, a, b, &conf);
	r.qpn = p.b.qp->qp_num;
	r.psn = conf.psn;
	dropped(NULL, &r);
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	plan(0);
	raw_fd = raw_open();
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	vt_pair_open(&p, a, b, &conf);
	test_repeated(&p, conf.psn);
	test_malformed(&p);
	vt_pair_close(&p);
	test_uc();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
