// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: parent domains and thread domains,
 * and imported contexts and objects.
 */
#include "context.h"
#include "fake_kernel.h"
#include "srq.h"

static struct ibv_pd *alloc_parent(struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };
	struct ibv_pd *parent = fake.ops->alloc_parent_domain(fake.context, &attr);

	if (!parent)
		bail_out("no parent domain: %s", strerror(errno));
	return parent;
}

static struct ibv_td *alloc_td(void)
{
	struct ibv_td_init_attr attr = { 0 };
	struct ibv_td *td = fake.ops->alloc_td(fake.context, &attr);

	if (!td)
		bail_out("no thread domain: %s", strerror(errno));
	return td;
}

static int parent_errno(struct ibv_parent_domain_init_attr attr)
{
	struct ibv_pd *parent;

	errno = 0;
	parent = fake.ops->alloc_parent_domain(fake.context, &attr);
	if (parent)
		fake.ops->dealloc_pd(parent);
	return errno;
}

/* The kernel has one protection domain throughout. */
static void test_parent_domain(void)
{
	struct ibv_pd *parent = alloc_parent(fake.pd, NULL);
	struct ibv_pd *grandparent = alloc_parent(parent, NULL);
	struct ibv_cq_init_attr_ex no_pd = {
		.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_parent_domain_init_attr attr = {
		.pd = fake.pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
	};

	ok(parent->handle == PD_HANDLE && parent->context == fake.context,
	   "a parent domain has the handle of its protection domain");
	is_int(grandparent->handle, PD_HANDLE,
	       "... also if it extends a parent domain");
	is_int(fake.ops->dealloc_pd(fake.pd), EBUSY,
	       "a protection domain with a parent domain is not freed");
	is_int(fake.ops->dealloc_pd(parent), EBUSY, "nor is its parent domain");
	is_int(fake.ops->dealloc_pd(grandparent), 0, "the last one is freed");
	is_int(fake.ops->dealloc_pd(parent), 0, "... then the one that it extends");
	is_int(fake.pds, 1, "the protection domain still exists");

	is_int(parent_errno(attr), 0, "allocators are accepted");
	attr.comp_mask = 4;
	is_int(parent_errno(attr), EOPNOTSUPP, "an unknown attribute is not");
	is_int(parent_errno((struct ibv_parent_domain_init_attr){ 0 }), EINVAL,
	       "a protection domain is needed");
	ok(!fake.ops->create_cq_ex(fake.context, &no_pd) && errno == EINVAL,
	   "a completion queue whose parent domain is missing is refused");
}

static void test_thread_domain(void)
{
	struct ibv_td_init_attr unknown = { .comp_mask = 1 };
	struct ibv_td *td = alloc_td();
	struct ibv_pd *one = alloc_parent(fake.pd, td);
	struct ibv_pd *two = alloc_parent(fake.pd, td);

	ok(td->context == fake.context, "context");
	is_int(fake.ops->dealloc_td(td), EBUSY,
	       "a thread domain with parent domains is not freed");
	is_int(fake.ops->dealloc_pd(one), 0, "one is freed");
	is_int(fake.ops->dealloc_td(td), EBUSY, "... the other remains");
	is_int(fake.ops->dealloc_pd(two), 0, "the other is freed");
	is_int(fake.ops->dealloc_td(td), 0, "... then the thread domain");
	ok(!fake.ops->alloc_td(fake.context, &unknown) && errno == EOPNOTSUPP,
	   "an unknown attribute is refused");
}

/*
 * The test holds the locks, so a function that takes one does not return, and
 * the alarm ends the program.
 */
static void test_no_locks(void)
{
	struct ibv_td *td = alloc_td();
	struct ibv_pd *parent = alloc_parent(fake.pd, td);
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = CQ_ENTRIES, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent,
	};
	struct ibv_srq_init_attr srq_attr = { .attr = { RQ_ENTRIES, MAX_SGE, 0 } };
	struct ibv_cq_ex *cqx = fake.ops->create_cq_ex(fake.context, &cq_attr);
	struct ibv_cq *cq = ibv_cq_ex_to_cq(cqx);
	struct ibv_srq *srq = fake.ops->create_srq(parent, &srq_attr);
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv_wr = { .wr_id = 1 }, *bad_recv;
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_qp_ex *qpx;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	attr.pd = parent;
	qp = ready(mxedv_create_qp(fake.context, &attr, NULL));
	qpx = to_qpx(qp);
	pthread_spin_lock(&to_mqp(qp)->sq.lock);
	pthread_spin_lock(&to_mqp(qp)->rq.lock);
	pthread_spin_lock(&to_mcq(cq)->ring.lock);
	pthread_spin_lock(&to_msrq(srq)->ring.lock);
	alarm(30);

	is_int(ibv_post_send(qp, &wr, &bad), 0, "a send is posted");
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	is_int(ibv_wr_complete(qpx), 0, "... and one by a builder");
	ibv_wr_start(qpx);
	ibv_wr_abort(qpx);
	is_int(ibv_post_recv(qp, &recv_wr, &bad_recv), 0, "a receive is posted");
	is_int(fake.ops->post_srq_recv(srq, &recv_wr, &bad_recv), 0,
	       "... and one to the shared queue");
	push_cqe(cq, (struct mxe_cqe){ .wr_id = 1 });
	push_cqe(cq, (struct mxe_cqe){ .wr_id = 2 });
	is_int(ibv_poll_cq(cq, 1, &wc), 1, "a completion is polled");
	is_int(ibv_start_poll(cqx, &poll_attr), 0, "... and another");
	ibv_end_poll(cqx);
	is_int(fake.ops->destroy_srq(srq), 0, "shared receive queue destroyed");
	destroy(qp, cq);
	alarm(0);
	is_int(fake.ops->dealloc_pd(parent), 0, "parent domain freed");
	is_int(fake.ops->dealloc_td(td), 0, "thread domain freed");
}

/* The flag that makes a completion queue single-threaded does without, too. */
static void test_locks(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_cq_ex *cqx = fake.ops->create_cq_ex(fake.context, &attr);
	struct ibv_cq *cq = ibv_cq_ex_to_cq(cqx), *other = create_cq();
	struct ibv_qp *qp = create_qp(other, 0);

	ok(to_mcq(cq)->ring.is_single_threaded, "a single-threaded queue has no lock");
	ok(!to_mcq(other)->ring.is_single_threaded, "another has one");
	ibv_wr_start(to_qpx(qp));
	is_int(pthread_spin_trylock(&to_mqp(qp)->sq.lock), EBUSY,
	       "a builder locks the send queue");
	ibv_wr_abort(to_qpx(qp));
	is_int(pthread_spin_trylock(&to_mqp(qp)->sq.lock), 0, "... until its end");
	pthread_spin_unlock(&to_mqp(qp)->sq.lock);
	is_int(fake.ops->destroy_cq(cq), 0, "destroyed");
	destroy(qp, other);
}

/* ---- imported objects -------------------------------------------------- */

static void test_import_context(void)
{
	struct ibv_context *context;
	struct verbs_context *vctx;

	fake.fail_query_context = EOPNOTSUPP;
	ok(!fake.driver->import_context(&fake.device->device, fake.cmd_fd) &&
	   errno == EOPNOTSUPP, "query_context fails");
	fake.fail_query_context = 0;
	is_int(fake.contexts, 1, "... and cleans up");

	/* A second user context in the same file is an error. */
	fake.fail_get_context = EINVAL;
	vctx = fake.driver->import_context(&fake.device->device, fake.cmd_fd);
	fake.fail_get_context = 0;
	if (!ok(vctx, "a context is imported"))
		return;
	context = &vctx->context;
	is_int(context->num_comp_vectors, COMP_VECTORS, "completion vectors");
	is_int(to_mctx(context)->caps.max_fa_bit_boundary, 64, "masked atomics");
	ok(to_mctx(context)->doorbell_fd != to_mctx(fake.context)->doorbell_fd,
	   "a doorbell of its own");
	fake.ops->free_context(context);
	is_int(fake.contexts, 1, "... and closed");
}

static void test_import_pd_mr(void)
{
	struct ibv_pd *pd = fake.ops->import_pd(fake.context, PD_HANDLE);
	struct ibv_mr *mr;

	ok(pd && pd->handle == PD_HANDLE && pd->context == fake.context,
	   "a protection domain is imported");
	ok(!fake.ops->import_mr(pd, MR_HANDLE + 1) && errno == ENOENT,
	   "no region has this handle");
	mr = fake.ops->import_mr(pd, MR_HANDLE);
	ok(mr && mr->handle == MR_HANDLE && mr->pd == pd, "a region is imported");
	fake.ops->unimport_mr(mr);
	fake.ops->unimport_pd(pd);
	is_int(fake.pds, 1, "the protection domain still exists");

	pd = fake.ops->import_pd(fake.context, PD_HANDLE);
	is_int(fake.ops->dealloc_pd(pd), 0, "the importer can free it instead");
	is_int(fake.pds, 0, "... in the kernel");
	fake.pds++;	/* fake.pd is still to be freed */
}

static void test_import_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 100 };
	struct ibv_dm *dm = fake.ops->alloc_dm(fake.context, &attr);
	char out[8] = "masked", in[8] = "";
	struct ibv_dm *import;

	ok(!fake.ops->import_dm(fake.context, DM_HANDLE + 1) && errno == ENOENT,
	   "no device memory has this handle");
	fake.fail_mmap_nth = 1;
	ok(!fake.ops->import_dm(fake.context, DM_HANDLE) && errno == EAGAIN,
	   "no mapping");
	import = fake.ops->import_dm(fake.context, DM_HANDLE);
	if (!ok(import, "device memory is imported"))
		return;
	is_int(import->handle, DM_HANDLE, "handle");
	is_int(ibv_memcpy_to_dm(dm, 92, out, 8), 0, "written by the owner");
	is_int(ibv_memcpy_from_dm(in, import, 92, 8), 0, "read by the importer");
	is_str(in, out, "... is the same");
	is_int(ibv_memcpy_from_dm(in, import, 96, 8), EFAULT,
	       "the importer knows the length");
	fake.ops->unimport_dm(import);
	ok(fake.dms == 1 && fake.maps == 1, "only its mapping is removed");
	is_int(fake.ops->free_dm(dm), 0, "the owner frees it");
	ok(!fake.dms && !fake.maps, "nothing is left");
}

static void (*const tests[])(void) = {
	open_device, test_parent_domain, test_thread_domain, test_no_locks,
	test_locks, test_import_context, test_import_pd_mr, test_import_dm,
	close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
