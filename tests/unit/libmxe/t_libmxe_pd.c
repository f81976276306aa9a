// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: parent domains and thread domains.
 */
#include "fake_kernel.h"

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

static void (*const tests[])(void) = {
	open_device, test_parent_domain, test_thread_domain, close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
