// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libmxe against the fake kernel: what mxedv_sync_mr() passes to the
 * kernel, and which errors it returns.
 */
#include "fake_kernel.h"

static void test_sync(void)
{
	struct ibv_mr *mr = fake.ops->import_mr(fake.pd, MR_HANDLE);
	struct ibv_mr other;

	is_int(mxedv_sync_mr(mr, 0x123456789a0, 0x100000001, MXEDV_SYNC_MR_FOR_CPU), 0,
	       "a region is synchronised");
	is_int(fake.syncs, 1, "... by one call of the kernel");
	is_u64(fake.sync_addr, 0x123456789a0, "... which gets the address");
	is_u64(fake.sync_length, 0x100000001, "... the length");
	is_u64(fake.sync_flags, MXE_SYNC_MR_FOR_CPU, "... and the direction");
	is_int(mxedv_sync_mr(mr, 0, 0, MXEDV_SYNC_MR_FOR_DEVICE), 0, "an empty range");
	is_int(fake.syncs, 2, "... is checked by the kernel, too");
	is_u64(fake.sync_flags, MXE_SYNC_MR_FOR_DEVICE, "... the other direction");
	is_int(mxedv_sync_mr(mr, 0, 0, ~0U), 0, "flags");
	is_u64(fake.sync_flags, ~0U, "... are checked by the kernel");

	other = *mr;
	other.handle++;
	is_int(mxedv_sync_mr(&other, 0, 8, MXEDV_SYNC_MR_FOR_CPU), ENOENT,
	       "no region has this handle");
	is_int(mxedv_sync_mr(NULL, 0, 8, MXEDV_SYNC_MR_FOR_CPU), EINVAL, "no region");
	is_int(fake.syncs, 3, "none of them is synchronised");
	fake.ops->unimport_mr(mr);
}

static void test_errors(void)
{
	struct ibv_mr *mr = fake.ops->import_mr(fake.pd, MR_HANDLE);
	struct verbs_device_ops foreign_ops = { .name = "foreign" };
	struct verbs_device foreign = { .ops = &foreign_ops };
	struct ibv_context context = { .device = &foreign.device };
	struct ibv_mr other = *mr;
	int syncs = fake.syncs;

	fake.fail_sync_mr = EINVAL;
	is_int(mxedv_sync_mr(mr, 0, 8, MXEDV_SYNC_MR_FOR_CPU), EINVAL,
	       "an error of the kernel is returned");
	fake.fail_sync_mr = EINTR;
	is_int(mxedv_sync_mr(mr, 0, 8, MXEDV_SYNC_MR_FOR_CPU), EINTR,
	       "... EINTR as well, without another call");
	fake.fail_sync_mr = EPROTONOSUPPORT;
	is_int(mxedv_sync_mr(mr, 0, 8, MXEDV_SYNC_MR_FOR_CPU), EOPNOTSUPP,
	       "a kernel module without the call");
	fake.fail_sync_mr = 0;
	other.context = &context;
	is_int(mxedv_sync_mr(&other, 0, 8, MXEDV_SYNC_MR_FOR_CPU), EOPNOTSUPP,
	       "the device of another provider");
	is_int(fake.syncs, syncs, "none of them is synchronised");
	fake.ops->unimport_mr(mr);
}

static void test_last(void)
{
	struct ibv_mr *mr;

	mxedv_take_last_mr();
	mr = fake.ops->reg_mr(fake.pd, fake.mem, 8, 0, 0);
	ok(mr && mxedv_take_last_mr() == mr, "the last region that was registered");
	ok(!mxedv_take_last_mr(), "... can be taken once");
	fake.ops->dereg_mr((struct verbs_mr *)mr);
}

static void (*const tests[])(void) = {
	open_device, test_sync, test_errors, test_last, close_device,
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}
