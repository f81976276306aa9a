// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that messages over unreliable connections arrive complete, and that
 * lost ones cause no completion at the receiver.
 */
#include <errno.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

static struct vt_conf uc_conf(void)
{
	struct vt_conf conf = vt_defaults();

	conf.qp_type = IBV_QPT_UC;
	return conf;
}

static long dropped(const struct vt_dev *dev)
{
	return vt_dev_counter(dev, "drop_uc_message");
}

/*
 * One CPU may send the start of a message and another CPU the rest. If the
 * softirq of the first is delayed, the packets are reordered, and the receiver
 * drops and counts the message. This then repeats the transfer. *lost is the
 * count before.
 */
static const char *transfer(struct vt_pair *p, const struct vt_conf *conf,
			    enum vt_opcode op, enum vt_via via, uint32_t size,
			    long *lost)
{
	struct vt_dev *a = p->a.dev, *b = p->b.dev;
	const char *wrong = NULL;

	for (int i = 0; i < 10; i++) {
		long now;

		wrong = vt_transfer(p, op, via, size, 0);
		if (!wrong || !b->is_mxe)
			break;
		now = dropped(b);
		if (now == *lost)
			break;
		*lost = now;
		diag("%u bytes: %s, and counted as lost", size, wrong);
		vt_pair_close(p);
		vt_pair_open(p, a, b, conf);
	}
	return wrong;
}

static void test_data(struct vt_dev *a, struct vt_dev *b, bool ipv6)
{
	static const uint32_t sizes[] = { 0, 1, 255, 256, 257, 1024, 20001 };
	struct vt_conf conf = uc_conf();
	struct vt_pair p;
	long lost = 0;

	conf.mtu = IBV_MTU_256;
	conf.ipv6 = ipv6;
	vt_pair_open(&p, a, b, &conf);
	if (b->is_mxe)
		lost = dropped(b);
	for (int via = VT_POST_SEND; via <= (a->is_mxe ? VT_WR : VT_POST_SEND);
	     via++)
		for (int op = VT_SEND; op <= VT_WRITE_IMM; op++) {
			const char *wrong = NULL;

			for (size_t i = 0; i < 7 && !wrong; i++)
				wrong = transfer(&p, &conf, op, via, sizes[i],
						 &lost);
			if (!ok(!wrong, "%s by %s, IPv%d", vt_op_name[op],
				vt_via_name[via], ipv6 ? 6 : 4))
				diag("  %s", wrong);
		}
	vt_pair_close(&p);
}

static int send_len(struct vt_pair *p, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, len);
	struct vt_wr wr = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };
	struct ibv_wc wc;

	return vt_do(&p->a, &wr, &wc);
}

/* A lost message succeeds at the sender and takes no receive request. */
static void test_lost(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = uc_conf();
	struct vt_pair p;
	struct ibv_wc wc;

	conf.mtu = IBV_MTU_256;
	vt_pair_open(&p, a, b, &conf);
	is_int(send_len(&p, 1000), IBV_WC_SUCCESS, "a message without a receive request is sent");
	ok(!vt_poll(p.b.rcq, &wc, 200), "... and lost");
	is_int(vt_recv(&p.b, 7, 0, 600), 0, "a receive of 600 bytes");
	is_int(send_len(&p, 1000), IBV_WC_SUCCESS, "a longer message is sent");
	ok(!vt_poll(p.b.rcq, &wc, 200), "... and lost");
	is_int(send_len(&p, 600), IBV_WC_SUCCESS, "a message that fits is sent");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.status == IBV_WC_SUCCESS &&
	   wc.wr_id == 7 && wc.byte_len == 600, "... and takes the receive");
	is_int(vt_state(&p.b), IBV_QPS_RTS, "the receiver is still in RTS");
	vt_pair_close(&p);
}

static void test_bad_write(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = uc_conf();
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_open(&p, a, b, &conf);
	memset(p.b.buf, 0x5a, 64);
	for (int i = 0; i < 2; i++) {
		struct ibv_sge sge = vt_sge(&p.a, 0, 32);
		struct vt_wr wr = {
			.op = VT_WRITE, .sge = &sge, .num_sge = 1,
			.raddr = vt_addr(&p.b, i ? p.b.size - 16 : 0),
			.rkey = p.b.mr->rkey ^ (i ? 0 : 0x100),
		};

		is_int(vt_do(&p.a, &wr, &wc), IBV_WC_SUCCESS,
		       i ? "WRITE beyond the end" : "WRITE with a wrong key");
	}
	is_int(vt_recv(&p.b, 1, 128, 8), 0, "a receive");
	is_int(send_len(&p, 8), IBV_WC_SUCCESS, "SEND after them");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 1, "... arrives");
	for (int i = 0; i < 64; i++)
		if (p.b.buf[i] != 0x5a)
			vt_bail("byte %d was written", i);
	vt_pair_close(&p);
}

static void test_refused(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = uc_conf();
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	for (int op = VT_READ; op <= VT_FADD; op++) {
		struct ibv_sge sge = vt_sge(&p.a, 0, 8);
		struct vt_wr wr = {
			.op = op, .sge = &sge, .num_sge = 1,
			.raddr = vt_addr(&p.b, 0), .rkey = p.b.mr->rkey,
		};

		is_int(vt_post(&p.a, &wr), EINVAL, "%s is refused",
		       vt_op_name[op]);
	}
	vt_pair_close(&p);
}

/* A local error stops only the send queue, until it is moved back to RTS. */
static void test_sqe(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = uc_conf();
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE,
	};
	struct ibv_sge sge;
	struct vt_wr bad = { .op = VT_SEND, .sge = &sge, .num_sge = 1 };
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_open(&p, a, b, &conf);
	sge = vt_sge(&p.a, 0, 8);
	sge.lkey ^= 0x100;
	is_int(vt_do(&p.a, &bad, &wc), IBV_WC_LOC_PROT_ERR, "a bad lkey");
	for (int i = 0; i < VT_MS / 10 && vt_state(&p.a) == IBV_QPS_RTS; i++)
		vt_poll(p.a.cq, &wc, 10);
	is_int(vt_state(&p.a), IBV_QPS_SQE, "... moves the queue pair to SQE");
	is_int(vt_recv(&p.a, 3, 0, 8), 0, "a receive request in SQE");
	p.b.buf[0] = 1;
	sge = vt_sge(&p.b, 0, 8);
	is_int(vt_do(&p.b, &bad, &wc), IBV_WC_SUCCESS, "... and a message");
	ok(vt_poll(p.a.rcq, &wc, VT_MS) && wc.wr_id == 3, "... is received");
	is_int(send_len(&p, 8), IBV_WC_WR_FLUSH_ERR, "a send in SQE is flushed");
	is_int(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0,
	       "back to RTS");
	is_int(vt_recv(&p.b, 4, 0, 8), 0, "a receive");
	is_int(send_len(&p, 8), IBV_WC_SUCCESS, "a send in RTS");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 4, "... arrives");
	vt_pair_close(&p);
}

/* The first packet of a message is accepted with any PSN. */
static void test_resync(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = uc_conf(), other = uc_conf();
	struct vt_pair p;
	struct ibv_wc wc;

	conf.mtu = IBV_MTU_256;
	other.mtu = IBV_MTU_256;
	other.psn = conf.psn + 1000;
	vt_pair_create(&p, a, b, &conf);
	if (vt_to_init(&p.a, &conf) || vt_to_init(&p.b, &conf) ||
	    vt_to_rtr(&p.a, &p.b, &conf) || vt_to_rtr(&p.b, &p.a, &other) ||
	    vt_to_rts(&p.a, &conf))
		vt_bail("cannot connect");
	is_int(vt_recv(&p.b, 9, 0, 1000), 0, "a receive");
	is_int(send_len(&p, 1000), IBV_WC_SUCCESS, "a message with an unexpected PSN");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 9 &&
	   wc.byte_len == 1000, "... is received");
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());

	plan(0);
	test_data(a, b, false);
	test_data(a, b, true);
	if (a->is_mxe && b->is_mxe) {
		test_lost(a, b);
		test_bad_write(a, b);
		test_refused(a, b);
		test_sqe(a, b);
		test_resync(a, b);
	}
	vt_close(a);
	vt_close(b);
	return done_testing();
}
