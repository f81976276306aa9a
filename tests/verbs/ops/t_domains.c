// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a parent domain, with and without a thread domain, works in place
 * of its protection domain.
 */
#include <errno.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

enum { LEN = 8192 };

static struct vt_dev *a, *b;

/* ---- parent domains ---------------------------------------------------- */

static struct ibv_pd *alloc_parent(struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = a->pd, .td = td };
	struct ibv_pd *parent = ibv_alloc_parent_domain(a->ctx, &attr);

	if (!parent)
		vt_bail("ibv_alloc_parent_domain");
	return parent;
}

static int write_and_read(struct vt_end *from, struct vt_end *to, uint32_t lkey)
{
	struct ibv_sge sge = vt_sge(from, 0, LEN);
	struct vt_wr wr = {
		.op = VT_WRITE, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(to, LEN), .rkey = to->mr->rkey,
	};
	int ret;

	sge.lkey = lkey;
	vt_fill_random(from->buf, LEN);
	ret = vt_do(from, &wr, NULL);
	if (ret)
		return ret;
	wr.op = VT_READ;
	sge = vt_sge(from, LEN, LEN);
	ret = vt_do(from, &wr, NULL);
	return ret ? ret : memcmp(from->buf, from->buf + LEN, LEN);
}

/* The QP of the first end and its region are in the parent domain. */
static void test_traffic(struct ibv_pd *parent, const char *name)
{
	struct vt_conf conf = vt_defaults();
	struct vt_dev dev = *a;
	struct ibv_mr *mr;
	struct vt_pair p;

	dev.pd = parent;
	vt_pair_open(&p, &dev, b, &conf);
	is_int(write_and_read(&p.a, &p.b, p.a.mr->lkey), 0, "traffic in %s", name);
	is_int(write_and_read(&p.b, &p.a, p.b.mr->lkey), 0, "... from the peer");
	mr = ibv_reg_mr(a->pd, p.a.buf, p.a.size, IBV_ACCESS_LOCAL_WRITE);
	if (ok(mr, "a region of the protection domain"))
		is_int(write_and_read(&p.a, &p.b, mr->lkey), 0, "... is of the same");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	vt_pair_close(&p);
}

static void test_objects(struct ibv_pd *parent)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 8, 1, 0 } };
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent,
	};
	struct ibv_ah_attr ah_attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->gid4, .sgid_index = a->gid4_index },
	};
	struct ibv_srq *srq = ibv_create_srq(parent, &srq_attr);
	struct ibv_cq_ex *cq = ibv_create_cq_ex(a->ctx, &cq_attr);
	struct ibv_mw *mw = ibv_alloc_mw(parent, IBV_MW_TYPE_2);
	struct ibv_ah *ah = ibv_create_ah(parent, &ah_attr);

	if (ok(srq, "a shared receive queue in a parent domain"))
		is_int(ibv_destroy_srq(srq), 0, "... is destroyed");
	if (ok(cq, "a completion queue"))
		is_int(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0, "... is destroyed");
	if (ok(mw, "a memory window"))
		is_int(ibv_dealloc_mw(mw), 0, "... is freed");
	if (ok(ah, "an address handle"))
		is_int(ibv_destroy_ah(ah), 0, "... is destroyed");
}

static void test_parent_domains(void)
{
	struct ibv_td_init_attr attr = { 0 };
	struct ibv_td *td = ibv_alloc_td(a->ctx, &attr);
	struct ibv_pd *plain = alloc_parent(NULL), *threaded;

	if (!td)
		vt_bail("ibv_alloc_td");
	threaded = alloc_parent(td);
	test_traffic(plain, "a parent domain");
	test_traffic(threaded, "a parent domain with a thread domain");
	test_objects(threaded);
	is_int(ibv_dealloc_td(td), EBUSY, "a thread domain in use is not freed");
	is_int(ibv_dealloc_pd(a->pd), EBUSY, "nor is a protection domain");
	is_int(ibv_dealloc_pd(threaded), 0, "one parent domain is freed");
	is_int(ibv_dealloc_pd(plain), 0, "... and the other");
	is_int(ibv_dealloc_td(td), 0, "... and the thread domain");
}

int main(void)
{
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_parent_domains();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
