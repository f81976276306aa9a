// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that memory windows of type 1 and 2B grant a peer access to exactly
 * their range, that they can be unbound, and that invalid binds are refused.
 */
#include <errno.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

enum { WIN = 4096, WIN_LEN = 256 };

static struct vt_conf mw_conf(void)
{
	struct vt_conf conf = vt_defaults();

	conf.mr_access = VT_ACCESS_ALL | IBV_ACCESS_MW_BIND;
	return conf;
}

static struct ibv_mw *make_mw(struct vt_end *e, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(e->dev->pd, type);

	if (!mw)
		vt_bail("ibv_alloc_mw");
	return mw;
}

static struct ibv_mw_bind_info window(struct vt_end *e, uint64_t len,
				      unsigned int access)
{
	return (struct ibv_mw_bind_info){
		.mr = e->mr, .addr = vt_addr(e, WIN), .length = len,
		.mw_access_flags = access,
	};
}

/*
 * Returns the status of the next completion, -1 if there is none, or -2 if its
 * opcode is wrong.
 */
static int completion(struct vt_end *e, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	if (!vt_poll(e->cq, &wc, VT_MS))
		return -1;
	if (wc.status == IBV_WC_SUCCESS && wc.opcode != opcode)
		return -2;
	return wc.status;
}

static int bind_1(struct vt_end *e, struct ibv_mw *mw,
		  struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = {
		.wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = info,
	};

	if (ibv_bind_mw(e->qp, mw, &bind))
		return -3;
	return completion(e, IBV_WC_BIND_MW);
}

static int bind_2(struct vt_end *e, struct ibv_mw *mw, uint32_t rkey,
		  struct ibv_mw_bind_info info)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = rkey, .bind_info = info },
	};

	if (ibv_post_send(e->qp, &wr, &bad))
		return -3;
	return completion(e, IBV_WC_BIND_MW);
}

static int local_inv(struct vt_end *e, uint32_t rkey)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	};

	if (ibv_post_send(e->qp, &wr, &bad))
		return -3;
	return completion(e, IBV_WC_LOCAL_INV);
}

static int access_key(struct vt_pair *p, enum vt_opcode op, uint32_t rkey,
		      uint64_t raddr, uint32_t len)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, len);
	struct vt_wr wr = {
		.op = op, .via = op >= VT_MCAS ? VT_WR : VT_POST_SEND,
		.sge = &sge, .num_sge = 1, .raddr = raddr, .rkey = rkey,
		.compare_add = 1, .compare_mask = 0x8080808080808080ULL,
		.swap = 1, .swap_mask = 0xff,
	};
	struct ibv_wc wc;

	return vt_do(&p->a, &wr, &wc);
}

/*
 * A refused access moves the queue pairs to ERR, so this connects them again.
 */
static void refused(struct vt_pair *p, const struct vt_conf *conf,
		    enum vt_opcode op, uint32_t rkey, uint64_t raddr,
		    uint32_t len, const char *what)
{
	is_int(access_key(p, op, rkey, raddr, len), IBV_WC_REM_ACCESS_ERR, "%s",
	       what);
	vt_pair_reconnect(p, conf);
}

static void test_type_1(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = mw_conf();
	struct ibv_mw_bind_info none = { 0 };
	struct ibv_mw *mw;
	struct vt_pair p;
	uint32_t old;

	vt_pair_open(&p, a, b, &conf);
	mw = make_mw(&p.b, IBV_MW_TYPE_1);
	refused(&p, &conf, VT_READ, mw->rkey, vt_addr(&p.b, WIN), 8,
		"a READ by the key of a window that is not bound");
	is_int(bind_1(&p.b, mw, window(&p.b, WIN_LEN, IBV_ACCESS_REMOTE_READ)),
	       IBV_WC_SUCCESS, "a bind for remote read");
	*vt_word(&p.b, WIN) = 0x1122334455667788;
	is_int(access_key(&p, VT_READ, mw->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "a READ through the window");
	is_u64(*vt_word(&p.a, 0), 0x1122334455667788, "... returns the data");
	is_int(access_key(&p, VT_READ, mw->rkey,
			  vt_addr(&p.b, WIN + WIN_LEN - 8), 8),
	       IBV_WC_SUCCESS, "a READ of its last bytes");
	is_int(ibv_dereg_mr(p.b.mr), EBUSY,
	       "a region with a window cannot be deregistered");
	refused(&p, &conf, VT_READ, mw->rkey,
		vt_addr(&p.b, WIN + WIN_LEN - 7), 8, "a READ beyond its end");
	refused(&p, &conf, VT_READ, mw->rkey, vt_addr(&p.b, WIN - 1), 8,
		"a READ before its start");
	refused(&p, &conf, VT_WRITE, mw->rkey, vt_addr(&p.b, WIN), 8,
		"a WRITE through the window");

	old = mw->rkey;
	is_int(bind_1(&p.b, mw, window(&p.b, WIN_LEN,
				       IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_REMOTE_ATOMIC)),
	       IBV_WC_SUCCESS, "a second bind, for remote write and atomics");
	ok(mw->rkey != old, "... changes the key");
	is_int(access_key(&p, VT_WRITE, mw->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "a WRITE through the window");
	*vt_word(&p.b, WIN) = 0x00ff00ff00ff00ff;
	is_int(access_key(&p, VT_MFADD, mw->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "a masked atomic through the window");
	is_u64(*vt_word(&p.b, WIN), 0x00ff00ff00ff0000, "... is executed");
	refused(&p, &conf, VT_WRITE, old, vt_addr(&p.b, WIN), 8,
		"a WRITE by the old key");
	is_int(bind_1(&p.b, mw, window(&p.b, WIN_LEN, conf.mr_access)),
	       IBV_WC_SUCCESS, "a bind with the access flags of the region");
	is_int(access_key(&p, VT_WRITE, mw->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "a WRITE through the window");
	old = mw->rkey;
	is_int(bind_2(&p.b, mw, old, window(&p.b, 8, IBV_ACCESS_REMOTE_WRITE)),
	       IBV_WC_SUCCESS, "a bind by ibv_post_send(), to the same key");
	is_u64(mw->rkey, old, "... keeps the key");
	is_int(access_key(&p, VT_WRITE, old, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "a WRITE through the window");
	refused(&p, &conf, VT_WRITE, old, vt_addr(&p.b, WIN + 8), 8,
		"a WRITE beyond its new end");
	is_int(bind_1(&p.b, mw, none), IBV_WC_SUCCESS,
	       "a bind of length 0 unbinds the window");
	refused(&p, &conf, VT_WRITE, mw->rkey, vt_addr(&p.b, WIN), 8,
		"... and a WRITE by its key is refused");
	is_int(ibv_dealloc_mw(mw), 0, "deallocated");
	vt_pair_close(&p);
}

static void test_type_2(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = mw_conf();
	unsigned int rw = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_sge sge;
	struct ibv_send_wr *bad, inv = {
		.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};
	struct vt_pair p, other;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	vt_pair_open(&p, a, b, &conf);
	vt_pair_open(&other, a, b, &conf);
	mw = make_mw(&p.b, IBV_MW_TYPE_2);
	key = ibv_inc_rkey(mw->rkey);
	is_int(bind_2(&p.b, mw, key, window(&p.b, WIN_LEN, rw)), IBV_WC_SUCCESS,
	       "a bind of type 2");
	is_int(access_key(&p, VT_WRITE, key, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "a WRITE through the window");
	refused(&other, &conf, VT_WRITE, key, vt_addr(&p.b, WIN), 8,
		"a WRITE to another queue pair by its key");
	is_int(local_inv(&p.b, key), IBV_WC_SUCCESS, "a local invalidate");
	refused(&p, &conf, VT_WRITE, key, vt_addr(&p.b, WIN), 8,
		"... and a WRITE by its key is refused");

	key = ibv_inc_rkey(key);
	is_int(bind_2(&p.b, mw, key,
		      window(&p.b, WIN_LEN, rw | IBV_ACCESS_ZERO_BASED)),
	       IBV_WC_SUCCESS, "a zero-based bind");
	*vt_word(&p.b, WIN + 16) = 0xabcdef;
	is_int(access_key(&p, VT_READ, key, 16, 8), IBV_WC_SUCCESS,
	       "a READ at offset 16 of the window");
	is_u64(*vt_word(&p.a, 0), 0xabcdef, "... returns the data");
	sge = vt_sge(&p.a, 0, 8);
	inv.invalidate_rkey = key;
	is_int(vt_recv(&p.b, 3, 0, 8), 0, "a receive");
	is_int(ibv_post_send(p.a.qp, &inv, &bad), 0, "SEND with invalidate");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.status == IBV_WC_SUCCESS &&
	   wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == key,
	   "... the receive completion reports the key");
	is_int(completion(&p.a, IBV_WC_SEND), IBV_WC_SUCCESS,
	       "... the SEND completes");
	refused(&p, &conf, VT_READ, key, 0, 8,
		"... and a READ by its key is refused");
	is_int(ibv_dealloc_mw(mw), 0, "deallocated");
	vt_pair_close(&p);
	vt_pair_close(&other);
}

/* The window is named by mw, and of the new rkey only the key counts. */
static void test_identity(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = mw_conf();
	struct ibv_mw *mw, *other;
	struct vt_pair p;
	uint32_t key;

	vt_pair_open(&p, a, b, &conf);
	mw = make_mw(&p.b, IBV_MW_TYPE_2);
	other = make_mw(&p.b, IBV_MW_TYPE_2);
	key = mw->rkey;
	is_int(bind_2(&p.b, mw, (other->rkey & ~0xffU) | (key & 0xff),
		      window(&p.b, WIN_LEN, IBV_ACCESS_REMOTE_READ)),
	       IBV_WC_SUCCESS,
	       "a bind to the first key, with the index of another window");
	is_u64(mw->rkey, key, "... is to an rkey of the window itself");
	is_int(access_key(&p, VT_READ, mw->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "... which can be read");
	is_int(bind_2(&p.b, other, 0x77,
		      window(&p.b, 8, IBV_ACCESS_REMOTE_READ)), IBV_WC_SUCCESS,
	       "the other window is not bound yet, and needs no index");
	is_u64(other->rkey & 0xff, 0x77, "... its rkey has the new key");
	is_int(access_key(&p, VT_READ, other->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "... which can be read");

	is_int(local_inv(&p.b, mw->rkey), IBV_WC_SUCCESS, "a local invalidate");
	is_int(bind_2(&p.b, mw, key, window(&p.b, 8, IBV_ACCESS_REMOTE_READ)),
	       IBV_WC_MW_BIND_ERR, "a bind to the key that the peer knows");
	ibv_dealloc_mw(mw);
	ibv_dealloc_mw(other);
	vt_pair_close(&p);
}

/* Both sides learn at once that a key may not be invalidated. */
static void test_inv_refused(struct vt_dev *a, struct vt_dev *b)
{
	struct vt_conf conf = mw_conf();
	struct ibv_send_wr *bad, inv = {
		.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_mw *mw;
	struct vt_pair p;
	struct ibv_wc wc;

	vt_pair_open(&p, a, b, &conf);
	mw = make_mw(&p.b, IBV_MW_TYPE_1);
	is_int(bind_1(&p.b, mw, window(&p.b, WIN_LEN, IBV_ACCESS_REMOTE_READ)),
	       IBV_WC_SUCCESS, "a bind of type 1");
	inv.invalidate_rkey = mw->rkey;
	is_int(vt_recv(&p.b, 3, 0, 8), 0, "a receive");
	is_int(ibv_post_send(p.a.qp, &inv, &bad), 0,
	       "SEND with invalidate of its key");
	is_int(completion(&p.a, IBV_WC_SEND), IBV_WC_REM_ACCESS_ERR,
	       "... is refused");
	ok(vt_poll(p.b.rcq, &wc, VT_MS) && wc.wr_id == 3 &&
	   wc.status == IBV_WC_LOC_ACCESS_ERR, "... and so is the receive");
	vt_pair_reconnect(&p, &conf);
	is_int(access_key(&p, VT_READ, mw->rkey, vt_addr(&p.b, WIN), 8),
	       IBV_WC_SUCCESS, "... the window is still open");
	ibv_dealloc_mw(mw);
	vt_pair_close(&p);
}

static void fails(struct vt_dev *a, struct vt_dev *b, unsigned int mr_access,
		  struct ibv_mw_bind_info info, const char *what)
{
	struct vt_conf conf = mw_conf();
	struct ibv_mw *mw;
	struct vt_pair p;

	conf.mr_access = mr_access;
	vt_pair_open(&p, a, b, &conf);
	mw = make_mw(&p.b, IBV_MW_TYPE_2);
	info.mr = p.b.mr;
	info.addr += vt_addr(&p.b, 0);
	is_int(bind_2(&p.b, mw, ibv_inc_rkey(mw->rkey), info),
	       IBV_WC_MW_BIND_ERR, "%s", what);
	ibv_dealloc_mw(mw);
	vt_pair_close(&p);
}

static void test_refused(struct vt_dev *a, struct vt_dev *b)
{
	const unsigned int rights = VT_ACCESS_ALL | IBV_ACCESS_MW_BIND;
	struct ibv_mw_bind_info info = {
		.length = 8, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_mw_bind bind = { 0 };
	struct vt_conf conf = mw_conf();
	struct ibv_mw *mw2;
	struct vt_pair p;

	fails(a, b, VT_ACCESS_ALL, info, "a region without IBV_ACCESS_MW_BIND");
	fails(a, b, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND, info,
	      "remote write to a region without local write");
	info.length = 65537;
	fails(a, b, rights, info, "a length beyond the region");
	info.length = 0;
	fails(a, b, rights, info, "length 0");
	info.length = 8;
	info.mw_access_flags = IBV_ACCESS_ON_DEMAND;
	fails(a, b, rights, info, "an access flag that windows do not have");

	vt_pair_open(&p, a, b, &conf);
	mw2 = make_mw(&p.b, IBV_MW_TYPE_2);
	is_int(ibv_bind_mw(p.b.qp, mw2, &bind), EINVAL,
	       "ibv_bind_mw() of type 2");
	is_int(ibv_dealloc_mw(mw2), 0, "deallocated");
	vt_pair_close(&p);
}

int main(void)
{
	struct vt_dev *a = vt_open(vt_name_a()), *b = vt_open(vt_name_b());

	plan(0);
	test_type_1(a, b);
	test_type_2(a, b);
	test_identity(a, b);
	test_inv_refused(a, b);
	test_refused(a, b);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
