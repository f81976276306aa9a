// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the experimental verbs other than QPs and work requests work on
 * the device. Like programs of that time, the test calls an ibv_exp_*()
 * function wherever one exists.
 */
#include <errno.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "vt.h"

static void test_ports(struct vt_dev *dev)
{
	struct ibv_exp_gid_attr gid = {
		.comp_mask = IBV_EXP_QUERY_GID_ATTR_TYPE |
			     IBV_EXP_QUERY_GID_ATTR_GID,
	};
	struct ibv_exp_port_attr exp;
	struct ibv_port_attr std;

	memset(&exp, 0, sizeof(exp));
	exp.comp_mask = IBV_EXP_QUERY_PORT_ATTR_MASK1;
	exp.mask1 = IBV_EXP_QUERY_PORT_STD_MASK;
	is_int(ibv_exp_query_port(dev->ctx, 1, &exp), 0, "ibv_exp_query_port()");
	if (ibv_query_port(dev->ctx, 1, &std))
		vt_bail("ibv_query_port");
	is_mem(&exp, &std, offsetof(struct ibv_port_attr, flags),
	       "the standard attributes");
	is_int(ibv_exp_query_gid_attr(dev->ctx, 1, dev->gid4_index, &gid), 0,
	       "ibv_exp_query_gid_attr()");
	is_int(gid.type, IBV_EXP_ROCE_V2_GID_TYPE, "its type is RoCEv2");
	is_mem(&gid.gid, &dev->gid4, sizeof(gid.gid), "the GID");
	ok(ibv_exp_query_gid_attr(dev->ctx, 1, 100000, &gid) != 0,
	   "no such GID");
}

/*
 * Uses memory that the library allocates, including for the result of an
 * atomic.
 */
static void test_allocated(struct vt_pair *p)
{
	struct ibv_exp_reg_mr_in in = {
		.pd = p->a.dev->pd, .length = 4096,
		.exp_access = IBV_EXP_ACCESS_ALLOCATE_MR |
			      IBV_EXP_ACCESS_LOCAL_WRITE,
	};
	struct ibv_mr *mr = ibv_exp_reg_mr(&in);
	struct vt_wr wr = {
		.op = VT_MCAS, .via = VT_EXP, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
		.swap = 1, .compare_mask = 1, .swap_mask = 1,
	};
	struct ibv_sge sge;
	struct ibv_wc wc;

	if (!ok(mr && in.addr && mr->addr == in.addr,
		"ibv_exp_reg_mr() allocates"))
		return;
	sge = (struct ibv_sge) { (uintptr_t)in.addr, 8, mr->lkey };
	wr.sge = &sge;
	*vt_word(&p->b, 0) = 0xabc0;
	is_int(vt_do(&p->a, &wr, &wc), IBV_WC_SUCCESS, "a lock is taken");
	is_u64(*(uint64_t *)in.addr, 0xabc0, "its old value is returned");
	is_u64(*vt_word(&p->b, 0), 0xabc1, "the peer has the new value");
	is_int(ibv_dereg_mr(mr), 0, "ibv_dereg_mr()");
}

static void test_objects(struct vt_dev *dev)
{
	struct ibv_exp_res_domain_init_attr domain_attr = {
		.comp_mask = IBV_EXP_RES_DOMAIN_THREAD_MODEL,
		.thread_model = IBV_EXP_THREAD_SINGLE,
	};
	struct ibv_exp_res_domain *domain =
		ibv_exp_create_res_domain(dev->ctx, &domain_attr);
	struct ibv_exp_cq_init_attr cq_attr = {
		.comp_mask = IBV_EXP_CQ_INIT_ATTR_RES_DOMAIN,
		.res_domain = domain,
	};
	struct ibv_cq *cq = ibv_exp_create_cq(dev->ctx, 16, NULL, NULL, 0,
					      &cq_attr);
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .pd = dev->pd,
		.cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_RES_DOMAIN |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.max_atomic_arg = 8, .res_domain = domain,
	};
	struct ibv_exp_qp_attr to_init;
	struct ibv_exp_wc wc;
	struct ibv_qp *qp;

	if (!ok(domain && cq, "a domain, and a completion queue of it"))
		return;
	qp = ibv_exp_create_qp(dev->ctx, &attr);
	if (!ok(qp, "a queue pair of it"))
		return;
	/* Programs do not initialize the other members. */
	memset(&to_init, 0xa5, sizeof(to_init));
	to_init.comp_mask = 0;
	to_init.qp_state = IBV_QPS_INIT;
	to_init.pkey_index = 0;
	to_init.port_num = 1;
	to_init.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC;
	is_int(ibv_exp_modify_qp(qp, &to_init,
				 IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
				 IBV_EXP_QP_PORT | IBV_EXP_QP_ACCESS_FLAGS), 0,
	       "ibv_exp_modify_qp()");
	is_int(qp->state, IBV_QPS_INIT, "the state");
	is_int(ibv_exp_poll_cq(cq, 1, &wc, sizeof(wc)), 0, "no completion");
	is_int(ibv_destroy_qp(qp), 0, "ibv_destroy_qp()");
	is_int(ibv_destroy_cq(cq), 0, "ibv_destroy_cq()");
	is_int(ibv_exp_destroy_res_domain(dev->ctx, domain, NULL), 0,
	       "ibv_exp_destroy_res_domain()");
}

static void test_srq(struct vt_dev *dev)
{
	struct ibv_exp_create_srq_attr attr = {
		.base = { .attr = { .max_wr = 16, .max_sge = 1 } },
		.srq_type = IBV_EXP_SRQT_BASIC, .pd = dev->pd,
	};
	struct ibv_srq *srq = ibv_exp_create_srq(dev->ctx, &attr);

	if (!ok(srq, "ibv_exp_create_srq()"))
		return;
	ok(attr.base.attr.max_wr >= 16, "... returns the actual size");
	is_int(ibv_destroy_srq(srq), 0, "ibv_destroy_srq()");
}

/* Device memory works, or the library returns ENOSYS and no size. */
static void test_dm(struct vt_dev *dev)
{
	struct ibv_exp_device_attr device = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE,
	};
	struct ibv_exp_alloc_dm_attr attr = { .length = 4096 };
	struct ibv_exp_memcpy_dm_attr copy = { .length = 7 };
	struct ibv_exp_reg_mr_in in = {
		.pd = dev->pd, .length = 4096, .exp_access = VT_ACCESS_ALL,
		.comp_mask = IBV_EXP_REG_MR_DM,
	};
	char out[8] = "masked", back[8] = "";
	struct ibv_mr *mr;

	is_int(ibv_exp_query_device(dev->ctx, &device), 0, "query of the size of device memory");
	in.dm = ibv_exp_alloc_dm(dev->ctx, &attr);
	if (!device.comp_mask) {
		ok(!in.dm && errno == ENOSYS, "no device memory: ENOSYS");
		return;
	}
	if (!ok(in.dm, "ibv_exp_alloc_dm()"))
		return;
	mr = ibv_exp_reg_mr(&in);
	ok(mr, "ibv_exp_reg_mr() of it");
	copy.host_addr = out;
	is_int(ibv_exp_memcpy_dm(in.dm, &copy), 0, "7 bytes are copied to the device");
	copy.memcpy_dir = IBV_EXP_DM_CPY_TO_HOST;
	copy.host_addr = back;
	is_int(ibv_exp_memcpy_dm(in.dm, &copy), 0, "and back");
	is_str(back, out, "... unchanged");
	if (mr)
		is_int(ibv_dereg_mr(mr), 0, "ibv_dereg_mr()");
	is_int(ibv_exp_free_dm(in.dm), 0, "ibv_exp_free_dm()");
}

int main(void)
{
	struct vt_conf conf = vt_defaults();
	struct vt_dev *a, *b;
	struct vt_pair p;

	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_ports(a);
	test_objects(a);
	test_srq(a);
	test_dm(a);
	conf.exp = true;
	vt_pair_open(&p, a, b, &conf);
	test_allocated(&p);
	vt_pair_close(&p);
	vt_close(a);
	vt_close(b);
	return done_testing();
}
