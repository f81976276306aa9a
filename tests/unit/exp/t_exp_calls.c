// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the calls of libibverbs_exp that need no backend: the arguments of
 * the standard calls, refusals, and fields that stay unchanged. The library
 * prints its complaints about masks on standard error.
 */
#include <errno.h>
#include <time.h>
#include <sys/mman.h>

#include "fake_std.h"
#include "mr.h"
#include "tap.h"

static void refused(bool failed, int want, const char *name)
{
	ok(failed, "%s is refused", name);
	is_int(errno, want, "with errno");
	is_int(std.calls, 0, "and nothing is done");
}

/* ---- memory regions ----------------------------------------------------- */

static const struct reg_row {
	const char *name;
	uint64_t access;
	uint32_t comp_mask;
	uint32_t create_flags;
	int err;
	unsigned int std;
	bool allocates;		/* where addr is NULL */
} reg_rows[] = {
	{ "none", 0, 0, 0, 0, 0, false },
	{ "standard flags", 0x1f, 0, 0, 0, 0x1f, false },
	{ "a standard flag of today", IBV_ACCESS_HUGETLB, 0, 0, 0,
	  IBV_ACCESS_HUGETLB, false },
	{ "on demand", 1ULL << 46, 0, 0, 0, IBV_ACCESS_ON_DEMAND, false },
	{ "relaxed ordering", 1 | 1ULL << 50, 0, 0, 0,
	  1 | IBV_ACCESS_RELAXED_ORDERING, false },
	{ "zero based", 1ULL << 45, 0, 0, 0, IBV_ACCESS_ZERO_BASED, false },
	{ "allocate", 1 | 1ULL << 37, 0, 0, 0, 1, true },
	{ "contiguous", 1, 1, 1, 0, 1, true },
	{ "contiguous, not announced", 1, 0, 1, 0, 1, false },
	{ "shared", 1ULL << 38, 0, 0, ENOSYS, 0, false },
	{ "physical", 1ULL << 48, 0, 0, ENOSYS, 0, false },
	{ "tunneled atomics", 1ULL << 49, 0, 0, ENOSYS, 0, false },
	{ "bit 51", 1ULL << 51, 0, 0, EINVAL, 0, false },
	{ "bit 63", 1ULL << 63, 0, 0, EINVAL, 0, false },
	{ "comp_mask bit 2", 0, 4, 0, EINVAL, 0, false },
	{ "comp_mask bit 31", 0, 1u << 31, 0, EINVAL, 0, false },
};

static void reg_row(const struct reg_row *row, void *addr)
{
	struct ibv_exp_reg_mr_in in = {
		&std_pd, addr, 5000, row->access, row->comp_mask,
		row->create_flags, (struct ibv_exp_dm *)1	/* garbage */
	};
	struct ibv_mr *mr;

	reset();
	mr = ibv_exp_reg_mr(&in);
	if (row->err) {
		refused(!mr, row->err, row->name);
		return;
	}
	ok(mr == &std.mr && std.pd == &std_pd && std.length == 5000,
	   "%s: registered", row->name);
	is_u64(std.access, row->std, "%s: access", row->name);
	ok(std.offset == (uintptr_t)std.addr, "addressed as in the process");
	if (row->allocates && !addr) {
		ok(in.addr && in.addr == std.addr && mr->addr == in.addr,
		   "%s: its address is returned", row->name);
		memset(in.addr, 1, 5000);
	} else {
		ok(std.addr == addr, "%s: the program's memory", row->name);
	}
	std.err = EBUSY;
	is_int(exp_dereg_mr(mr, f_dereg_mr), EBUSY, "not deregistered");
	if (row->allocates && !addr)
		is_int(((char *)in.addr)[4999], 1, "and still there");
	std.err = 0;
	is_int(exp_dereg_mr(mr, f_dereg_mr), 0, "deregistered");
	if (row->allocates && !addr)
		ok(msync(in.addr, 4096, MS_ASYNC) && errno == ENOMEM,
		   "and the memory is freed");
}

static void test_reg_mr(void)
{
	struct ibv_exp_reg_mr_in in = { .pd = &std_pd, .length = 4096,
					.exp_access = 1ULL << 37 };
	struct ibv_exp_reg_shared_mr_in shared = { };
	char memory[8];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reg_rows); i++) {
		reg_row(&reg_rows[i], memory);
		reg_row(&reg_rows[i], NULL);
	}

	reset();
	std.err = ENOMEM;
	ok(!ibv_exp_reg_mr(&in) && errno == ENOMEM, "the kernel refuses");
	ok(!in.addr, "and no address is returned");
	std.err = 0;
	in.length = SIZE_MAX;
	std.calls = 0;
	refused(!ibv_exp_reg_mr(&in), ENOMEM, "to allocate everything");

	in.exp_access = IBV_EXP_ACCESS_ON_DEMAND;
	in.length = IBV_EXP_IMPLICIT_MR_SIZE;
	ok(ibv_exp_reg_mr(&in) && !std.addr && std.length == SIZE_MAX,
	   "the whole address space");

	reset();
	refused(!ibv_exp_reg_shared_mr(&shared), ENOSYS, "a shared region");
}

static void test_prefetch(void)
{
	struct ibv_exp_prefetch_attr attr = { 0, &attr, 64, 0 };

	reset();
	is_int(ibv_exp_prefetch_mr(&std.mr, &attr), 0, "prefetched");
	is_int(std.advice, IBV_ADVISE_MR_ADVICE_PREFETCH, "for reading");
	ok(std.sge.addr == (uintptr_t)&attr && std.sge.length == 64 &&
	   std.sge.lkey == 0x1234 && std.pd == &std_pd, "the range");
	attr.flags = IBV_EXP_PREFETCH_WRITE_ACCESS;
	is_int(ibv_exp_prefetch_mr(&std.mr, &attr), 0, "prefetched");
	is_int(std.advice, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, "for writing");
	std.err = ENOENT;
	is_int(ibv_exp_prefetch_mr(&std.mr, &attr), ENOENT, "fails");

	reset();
	attr.flags = 2;
	refused(ibv_exp_prefetch_mr(&std.mr, &attr), EINVAL, "flag 2");
	attr.flags = 0;
	attr.comp_mask = 1;
	refused(ibv_exp_prefetch_mr(&std.mr, &attr), EINVAL, "comp_mask 1");
	reset_bare();
	attr.comp_mask = 0;
	is_int(ibv_exp_prefetch_mr(&std.mr, &attr), ENOSYS, "bare device");
}

static void test_bind_mw(void)
{
	struct ibv_mw mw = { .context = ctx, .pd = &std_pd,
			     .type = IBV_MW_TYPE_1 };
	struct ibv_exp_mw_bind bind = {
		.mw = &mw, .wr_id = 5,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED,
		.bind_info = { &std.mr, 0x1000, 32, 0x6 | 1ULL << 45 },
	};

	reset();
	std.mr.addr = (void *)0x1000;
	std.mr.length = 64;
	is_int(ibv_exp_bind_mw(&bind), 0, "bound");
	ok(std.bind.wr_id == 5 && std.bind.send_flags == IBV_SEND_SIGNALED &&
	   std.bind.bind_info.mr == &std.mr &&
	   std.bind.bind_info.addr == 0x1000 &&
	   std.bind.bind_info.length == 32, "the arguments of the caller");
	is_u64(std.bind.bind_info.mw_access_flags,
	       6 | IBV_ACCESS_ZERO_BASED, "access");
	std.calls = 0;
	bind.comp_mask = 1;
	refused(ibv_exp_bind_mw(&bind), EINVAL, "comp_mask 1");
	bind.comp_mask = 0;
	bind.exp_send_flags = 1ULL << 33;
	refused(ibv_exp_bind_mw(&bind), EINVAL, "a calculation");
}

/* ---- device memory ------------------------------------------------------ */

static const struct copy_row {
	uint64_t offset;
	size_t length;
	int err;
} copy_rows[] = {
	{ 0, 0, 0 }, { 0, 4, 0 }, { 0, 1, 0 }, { 4, 7, 0 }, { 0, 61, 0 },
	{ 60, 1, 0 }, { 1, 4, EINVAL }, { 2, 1, EINVAL }, { 0, 62, EINVAL },
	{ 60, 2, EINVAL }, { 64, 0, EINVAL }, { UINT64_MAX - 3, 4, EINVAL },
	{ 4, SIZE_MAX, EINVAL },
};

static void copy_row(struct ibv_exp_dm *dm, const struct copy_row *row)
{
	unsigned char host[64], back[64], want[64] = { 0 };
	struct ibv_exp_memcpy_dm_attr attr = {
		IBV_EXP_DM_CPY_TO_DEVICE, host, row->offset, row->length, 0
	};
	size_t word;
	int ret;

	memset(host, 0xab, sizeof(host));
	memset(back, 0x11, sizeof(back));
	memset(std.memory, 0xcd, sizeof(std.memory));
	ret = ibv_exp_memcpy_dm(dm, &attr);
	is_int(ret, row->err, "copy of %zu to %llu", row->length,
	       (unsigned long long)row->offset);
	if (ret)
		return;
	word = (row->length + 3) / 4 * 4;
	memset(want, 0xab, row->length);
	is_mem(std.memory + row->offset, want, word,
	       "and zeros to the end of the word");
	ok(row->offset + word == 64 || std.memory[row->offset + word] == 0xcd,
	   "and nothing after it");
	attr.memcpy_dir = IBV_EXP_DM_CPY_TO_HOST;
	attr.host_addr = back;
	is_int(ibv_exp_memcpy_dm(dm, &attr), 0, "and back");
	ok(!memcmp(back, host, row->length) && back[row->length] == 0x11,
	   "unchanged, and nothing after it");
}

static void test_dm(void)
{
	struct ibv_exp_alloc_dm_attr attr = { 61, 0 };
	struct ibv_exp_memcpy_dm_attr copy = { 2, &attr, 0, 4, 0 };
	struct ibv_exp_dm *dm;
	size_t i;

	reset();
	dm = ibv_exp_alloc_dm(ctx, &attr);
	if (!dm)
		bail_out("no device memory");
	ok(dm->context == ctx && dm->handle == 77 && !dm->comp_mask, "handle");
	is_int(std.length, 64, "allocated in words");
	for (i = 0; i < ARRAY_SIZE(copy_rows); i++)
		copy_row(dm, &copy_rows[i]);
	std.calls = 0;
	refused(ibv_exp_memcpy_dm(dm, &copy), EINVAL, "direction 2");
	copy.memcpy_dir = IBV_EXP_DM_CPY_TO_DEVICE;
	copy.comp_mask = 1;
	refused(ibv_exp_memcpy_dm(dm, &copy), EINVAL, "comp_mask 1");
	std.err = EBUSY;
	is_int(ibv_exp_free_dm(dm), EBUSY, "in use");
	std.err = 0;
	is_int(ibv_exp_free_dm(dm), 0, "freed");

	std.calls = 0;
	attr.length = 63;
	refused(!ibv_exp_alloc_dm(ctx, &attr), EINVAL, "more than the device has");
	attr.length = 8;
	attr.comp_mask = 1;
	refused(!ibv_exp_alloc_dm(ctx, &attr), EINVAL, "comp_mask 1");
	attr.comp_mask = 0;
	reset_bare();
	refused(!ibv_exp_alloc_dm(ctx, &attr), ENOSYS, "a bare device");
}

static void test_dm_mr(void)
{
	const uint64_t good = 0xf | IBV_EXP_ACCESS_RELAXED_ORDERING;
	struct ibv_exp_alloc_dm_attr attr = { 32, 0 };
	struct ibv_exp_reg_mr_in in = { .pd = &std_pd, .addr = (void *)8,
					.length = 16, .exp_access = good,
					.comp_mask = IBV_EXP_REG_MR_DM };
	int bit;

	reset();
	in.dm = ibv_exp_alloc_dm(ctx, &attr);
	ok(ibv_exp_reg_mr(&in) == &std.mr, "a region of device memory");
	ok(std.offset == 8 && std.length == 16 && std.pd == &std_pd,
	   "of this part");
	is_u64(std.access, 0xf | IBV_ACCESS_RELAXED_ORDERING |
	       IBV_ACCESS_ZERO_BASED, "addressed from 0");
	for (bit = 0; bit < 64; bit++) {
		if (good & 1ULL << bit)
			continue;
		std.calls = 0;
		in.exp_access = 1 | 1ULL << bit;
		refused(!ibv_exp_reg_mr(&in), EINVAL, "other access");
	}
	ibv_exp_free_dm(in.dm);
	in.dm = NULL;
	in.exp_access = 1;
	std.calls = 0;
	refused(!ibv_exp_reg_mr(&in), EINVAL, "no device memory");
}

/* ---- queues ------------------------------------------------------------- */

static const struct cq_row {
	const char *name;
	uint32_t comp_mask;
	uint32_t flags;
	int err;
} cq_rows[] = {
	{ "zero", 0, 0, 0 },
	{ "flags not announced", 0, ~0u, 0 },
	{ "no flags", 1, 0, 0 },
	{ "compressed", 1, 8, 0 },
	{ "domain", 2, 0, 0 },
	{ "time stamps in system time", 1, 4, EINVAL },
	{ "unknown flag", 1, 32, EINVAL },
	{ "cross channel", 1, 1, ENOSYS },
	{ "as notify", 1, 16, ENOSYS },
	{ "peer direct", 4, 0, ENOSYS },
	{ "comp_mask bit 3", 8, 0, EINVAL },
};

static void test_cq(void)
{
	struct ibv_exp_cq_attr modify = { 0, { 7, 9 }, 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cq_rows); i++) {
		const struct cq_row *row = &cq_rows[i];
		struct ibv_exp_cq_init_attr attr = {
			row->comp_mask, row->flags, (void *)1, (void *)1
		};
		struct ibv_cq *cq;

		reset();
		cq = ibv_exp_create_cq(ctx, 100, &i, NULL, 3, &attr);
		if (row->err)
			refused(!cq, row->err, row->name);
		else
			ok(cq == &std.cq && cq->cq_context == &i, "%s",
			   row->name);
	}

	reset();
	is_int(ibv_exp_modify_cq(&std.cq, &modify, IBV_EXP_CQ_MODERATION), 0,
	       "moderation");
	ok(std.modify_cq.attr_mask == IBV_CQ_ATTR_MODERATE &&
	   std.modify_cq.moderate.cq_count == 7 &&
	   std.modify_cq.moderate.cq_period == 9, "as requested");
	std.calls = 0;
	is_int(ibv_exp_modify_cq(&std.cq, &modify, 0), 0, "nothing");
	is_int(std.calls, 0, "is nothing");
	refused(ibv_exp_modify_cq(&std.cq, &modify, 4), EINVAL, "bit 2");
	modify.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN;
	is_int(ibv_exp_modify_cq(&std.cq, &modify, IBV_EXP_CQ_CAP_FLAGS), 0,
	       "ignored overrun");
	is_int(std.calls, 0, "is a hint");
	modify.cq_cap_flags = 2;
	refused(ibv_exp_modify_cq(&std.cq, &modify, IBV_EXP_CQ_CAP_FLAGS),
		EINVAL, "unknown capability");
	modify.comp_mask = 4;
	refused(ibv_exp_modify_cq(&std.cq, &modify, 1), EINVAL, "comp_mask 4");
	reset_bare();
	modify.comp_mask = 0;
	is_int(ibv_exp_modify_cq(&std.cq, &modify, 1), ENOSYS, "bare device");
}

static void test_srq(void)
{
	struct ibv_srq std_srq = { .context = ctx };
	struct ibv_exp_ops_wr op = { }, *bad_op = NULL;
	struct ibv_exp_create_srq_attr attr = {
		.base = { &attr, { .max_wr = 16, .max_sge = 2 } },
		.pd = &std_pd, .cq = &std.cq, .xrcd = (void *)8,
	};

	reset();
	ok(ibv_exp_create_srq(ctx, &attr) == &std.srq, "basic");
	is_int(attr.base.attr.max_wr, 32, "the actual size is returned");
	std.calls = 0;
	attr.comp_mask = 32;
	refused(!ibv_exp_create_srq(ctx, &attr), EINVAL, "comp_mask 32");
	attr.comp_mask = IBV_EXP_CREATE_SRQ_TM;
	refused(!ibv_exp_create_srq(ctx, &attr), EINVAL, "tags in a basic SRQ");
	attr.comp_mask = IBV_EXP_CREATE_SRQ_MP_WR;
	refused(!ibv_exp_create_srq(ctx, &attr), ENOSYS, "multi-packet");
	attr.comp_mask = 0;
	attr.srq_type = IBV_EXP_SRQT_TAG_MATCHING;
	refused(!ibv_exp_create_srq(ctx, &attr), EINVAL, "tag matching without tags");
	attr.comp_mask = IBV_EXP_CREATE_SRQ_TM | IBV_EXP_CREATE_SRQ_CQ;
	attr.tm_cap = (struct ibv_exp_tm_cap){ .max_num_tags = 5, .max_ops = 6 };
	ok(ibv_exp_create_srq(ctx, &attr) == &std.srq, "tag matching");
	ok(std.srq_attr.srq_type == IBV_SRQT_TM && std.srq_attr.cq == &std.cq &&
	   std.srq_attr.tm_cap.max_num_tags == 5 && std.srq_attr.tm_cap.max_ops == 6 &&
	   std.srq_attr.pd == &std_pd && std.srq_attr.srq_context == &attr,
	   "as requested");
	is_int(attr.base.attr.max_wr, 64, "the actual size is returned");
	/* No device has IBV_EXP_TM_CAP_DC, so the pointer is not read. */
	attr.comp_mask |= IBV_EXP_CREATE_SRQ_DC_OFFLOAD_PARAMS;
	attr.dc_offload_params = (void *)8;
	ok(ibv_exp_create_srq(ctx, &attr) == &std.srq &&
	   std.srq_attr.srq_type == IBV_SRQT_TM,
	   "tag matching with parameters of DC");
	is_int(ibv_exp_post_srq_ops(&std_srq, &op, &bad_op), ENOSYS,
	       "a provider without operations");
	ok(bad_op == &op, "... none has been posted");
	std.calls = 0;
	attr.base.attr.max_wr = 32;
	attr.comp_mask = 0;
	attr.srq_type = 7;
	refused(!ibv_exp_create_srq(ctx, &attr), EINVAL, "type 7");
	attr.srq_type = IBV_EXP_SRQT_XRC;
	refused(!ibv_exp_create_srq(ctx, &attr), EINVAL, "XRC without a domain");
	attr.comp_mask = IBV_EXP_CREATE_SRQ_CQ | IBV_EXP_CREATE_SRQ_XRCD;
	ok(ibv_exp_create_srq(ctx, &attr) == &std.srq, "XRC");
	ok(std.srq_attr.srq_type == IBV_SRQT_XRC &&
	   std.srq_attr.cq == &std.cq && std.srq_attr.xrcd == (void *)8 &&
	   std.srq_attr.pd == &std_pd && std.srq_attr.srq_context == &attr,
	   "as requested");
	is_int(attr.base.attr.max_wr, 64, "the actual size is returned");
	reset_bare();
	ok(!ibv_exp_create_srq(ctx, &attr) && errno == ENOSYS, "bare device");
}

static void test_domain(void)
{
	struct ibv_exp_res_domain_init_attr attr = { 0, 99, 99 };
	struct ibv_exp_destroy_res_domain_attr destroy = { 0 };
	struct ibv_exp_res_domain *domain;

	reset();
	domain = ibv_exp_create_res_domain(ctx, &attr);
	ok(domain && domain->context == ctx, "a domain");
	is_int(ibv_exp_destroy_res_domain(mxe_ctx, domain, NULL), EINVAL,
	       "of another device");
	destroy.comp_mask = 1;
	is_int(ibv_exp_destroy_res_domain(ctx, domain, &destroy), EINVAL,
	       "comp_mask 1");
	is_int(ibv_exp_destroy_res_domain(ctx, domain, NULL), 0, "destroyed");
	attr.comp_mask = IBV_EXP_RES_DOMAIN_THREAD_MODEL;
	refused(!ibv_exp_create_res_domain(ctx, &attr), EINVAL, "model 99");
	attr.comp_mask = IBV_EXP_RES_DOMAIN_MSG_MODEL;
	refused(!ibv_exp_create_res_domain(ctx, &attr), EINVAL, "model 99");
	attr.comp_mask = 4;
	refused(!ibv_exp_create_res_domain(ctx, &attr), EINVAL, "comp_mask 4");
	attr = (struct ibv_exp_res_domain_init_attr) {
		3, IBV_EXP_THREAD_SINGLE, IBV_EXP_MSG_FORCE_LOW_LATENCY };
	domain = ibv_exp_create_res_domain(ctx, &attr);
	ok(domain, "with both models");
	destroy.comp_mask = 0;
	is_int(ibv_exp_destroy_res_domain(ctx, domain, &destroy), 0,
	       "destroyed");
}

static void test_modify_qp(void)
{
	struct ibv_exp_qp_attr attr;
	struct ibv_qp qp = { .context = ctx };
	int bit;

	reset();
	memset(&attr, 0x3c, sizeof(attr));
	attr.comp_mask = 0;
	for (bit = 0; bit < 64; bit++) {
		/* 54 is the key of a DC initiator, see t_exp_dc.c. */
		int want = bit < 21 ? 0 :
			   bit < 53 || bit == 54 || bit > 57 ? EINVAL :
			   bit == 57 ? 0 : ENOSYS;

		is_int(ibv_exp_modify_qp(&qp, &attr, 1ULL << bit), want,
		       "modify by bit %d", bit);
		if (!want)
			is_int(std.qp_mask, bit == 57 ? IBV_QP_RATE_LIMIT :
			       1 << bit, "its standard bit");
	}
	is_mem(&std.qp_attr, &attr, offsetof(struct ibv_qp_attr, rate_limit),
	       "standard attributes");
	is_int(std.qp_attr.rate_limit, 0x3c3c3c3c, "rate limit");
	is_int(ibv_exp_modify_qp(&qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0,
	       "standard names");
	is_int(std.qp_mask, IBV_QP_STATE | IBV_QP_PORT, "its standard bits");
	std.err = EINVAL;
	is_int(ibv_exp_modify_qp(&qp, &attr, 1), EINVAL, "fails");
	std.err = std.calls = 0;
	attr.comp_mask = 4;
	refused(ibv_exp_modify_qp(&qp, &attr, 1), EINVAL, "comp_mask 4");
	attr.comp_mask = IBV_EXP_QP_ATTR_BURST_INFO;
	refused(ibv_exp_modify_qp(&qp, &attr, 1ULL << 57), ENOSYS, "bursts");
}

/* ---- clock, ports ------------------------------------------------------- */

static void test_values(void)
{
	struct ibv_exp_values v;
	struct timespec now;

	reset();
	std.cycles = 156250000ull * 20;		/* 20 s */
	memset(&v, 0x77, sizeof(v));
	is_int(ibv_exp_query_values(ctx, 0, &v), 0, "no value");
	ok(v.comp_mask == 0 && v.hwclock == 0x7777777777777777, "none written");
	is_int(ibv_exp_query_values(ctx, IBV_EXP_VALUES_HW_CLOCK, &v), 0,
	       "clock");
	ok(v.comp_mask == IBV_EXP_VALUES_HW_CLOCK && v.hwclock == std.cycles &&
	   v.hwclock_ns == 0x7777777777777777, "and nothing else");
	is_int(ibv_exp_query_values(ctx, 7, &v), 0, "all");
	is_u64(v.comp_mask, 7, "all values");
	is_u64(v.hwclock_ns, 20000000000ull, "20 seconds");
	clock_gettime(CLOCK_REALTIME, &now);
	ok(now.tv_sec - v.clock_info.nsec / 1000000000 < 10, "the time");
	is_u64(v.clock_info.mask, UINT64_MAX, "mask");
	is_u64(ibv_exp_cqe_ts_to_ns(&v.clock_info, std.cycles) -
	       v.clock_info.nsec, 0, "now");
	is_u64((ibv_exp_cqe_ts_to_ns(&v.clock_info, std.cycles + 156250) -
		v.clock_info.nsec + 500) / 1000, 1000, "a millisecond later");
	is_u64((v.clock_info.nsec - ibv_exp_cqe_ts_to_ns(&v.clock_info,
		std.cycles - 156250) + 500) / 1000, 1000,
	       "a millisecond before");
	v.comp_mask = 3;
	is_int(ibv_exp_query_values(ctx, 8, &v), EINVAL, "bit 3");
	is_int(v.comp_mask, 0, "no value");
	std.err = EIO;
	is_int(ibv_exp_query_values(ctx, 2, &v), EIO, "fails");
	reset_bare();
	is_int(ibv_exp_query_values(ctx, 2, &v), ENOSYS, "bare device");
}

static void test_ts_to_ns(void)
{
	struct ibv_exp_clock_info info = {
		.cycles = 0x10, .nsec = 1000, .frac = 0,
		.mask = 0xffff, .shift = 4, .mult = 32,	/* 2 ns each */
	};

	is_u64(ibv_exp_cqe_ts_to_ns(&info, 0x20), 1032, "ahead");
	is_u64(ibv_exp_cqe_ts_to_ns(&info, 0x0), 968, "behind");
	is_u64(ibv_exp_cqe_ts_to_ns(&info, 0xfff0), 936, "behind, wrapped");
	info.nsec = 1000000;
	is_u64(ibv_exp_cqe_ts_to_ns(&info, 0x10 + 0x7fff), 1065534,
	       "as far ahead as possible");
	is_u64(ibv_exp_cqe_ts_to_ns(&info, 0x10 + 0x8000), 934464,
	       "as far behind as possible");
	info.frac = 15;
	info.mult = 33;
	is_u64(ibv_exp_cqe_ts_to_ns(&info, 0x11), 1000003, "the fraction");
}

static void test_port(void)
{
	struct ibv_exp_port_attr attr;
	struct ibv_exp_gid_attr gid;

	reset();
	memset(&std.port, 0x42, sizeof(std.port));
	memset(&attr, 0x5a, sizeof(attr));
	attr.comp_mask = 0;
	is_int(ibv_exp_query_port(ctx, 1, &attr), 0, "port");
	is_mem(&attr, &std.port, 47, "its attributes");
	ok(attr.mask1 == 0x5a5a5a5a && !attr.comp_mask && !attr.reserved,
	   "and nothing after them");
	attr.comp_mask = IBV_EXP_QUERY_PORT_ATTR_MASK1;
	attr.mask1 = IBV_EXP_QUERY_PORT_MASK;
	is_int(ibv_exp_query_port(ctx, 1, &attr), 0, "all bits");
	std.calls = 0;
	attr.mask1 = 1 << 20;
	refused(ibv_exp_query_port(ctx, 1, &attr), EINVAL, "bit 20");
	attr.comp_mask = 2;
	refused(ibv_exp_query_port(ctx, 1, &attr), EINVAL, "comp_mask 2");

	std.gid.gid_type = IBV_GID_TYPE_ROCE_V2;
	memset(&std.gid.gid, 0x22, 16);
	memset(&gid, 0x5a, sizeof(gid));
	gid.comp_mask = 0;
	is_int(ibv_exp_query_gid_attr(ctx, 2, 5, &gid), 0, "no attribute of a GID");
	ok((int)gid.type == 0x5a5a5a5a && gid.gid.raw[0] == 0x5a, "untouched");
	gid.comp_mask = IBV_EXP_QUERY_GID_ATTR_TYPE;
	is_int(ibv_exp_query_gid_attr(ctx, 2, 5, &gid), 0, "its type");
	ok(gid.type == IBV_EXP_ROCE_V2_GID_TYPE && gid.gid.raw[0] == 0x5a,
	   "RoCEv2, the rest untouched");
	std.gid.gid_type = IBV_GID_TYPE_ROCE_V1;
	gid.comp_mask = 3;
	is_int(ibv_exp_query_gid_attr(ctx, 2, 5, &gid), 0, "both");
	ok(gid.type == IBV_EXP_IB_ROCE_V1_GID_TYPE && gid.gid.raw[15] == 0x22,
	   "RoCEv1 and the GID");
	std.calls = 0;
	gid.comp_mask = 4;
	refused(ibv_exp_query_gid_attr(ctx, 2, 5, &gid), EINVAL, "comp_mask 4");
}

/* The operations of a backend that replaces those of the context. */
static int hook_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad_wr)
{
	return qp->context == ctx && !wr && !bad_wr ? 11 : -1;
}

static int hook_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cq == &std.cq && num_entries == 3 && !wc ? 12 : -1;
}

static int hook_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad_wr)
{
	return qp->context == ctx && !wr && !bad_wr ? 13 : -1;
}

/* The program gets the functions before the operations are replaced. */
static void test_std_funcs(void)
{
	int (*send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);
	int (*poll)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
	struct ibv_context_ops saved = ctx->ops;
	struct ibv_qp qp = { .context = ctx };

	send = ibv_exp_get_provider_func(ctx, IBV_POST_SEND_FUNC);
	poll = ibv_exp_get_provider_func(ctx, IBV_POLL_CQ_FUNC);
	recv = ibv_exp_get_provider_func(ctx, IBV_POST_RECV_FUNC);
	ctx->ops.post_send = hook_post_send;
	ctx->ops.poll_cq = hook_poll_cq;
	ctx->ops.post_recv = hook_post_recv;
	is_int(send(&qp, NULL, NULL), 11, "post function, replaced later");
	is_int(poll(&std.cq, 3, NULL), 12, "poll function, replaced later");
	is_int(recv(&qp, NULL, NULL), 13, "receive function, replaced later");
	ctx->ops = saved;
}

static void test_open(void)
{
	struct ibv_exp_open_device_attr attr = { 0 };
	struct ibv_device device;
	int num;

	reset();
	ok(ibv_exp_get_device_list(&num) == std.list && num == 1, "devices");
	ok(ibv_exp_open_device(&device, &attr) == &std.opened &&
	   std.opened.device == &device, "open");
	std.calls = 0;
	attr.comp_mask = IBV_EXP_SET_ATTR_PEER_INFO;
	refused(!ibv_exp_open_device(&device, &attr), ENOSYS, "a peer");
	attr.comp_mask = 2;
	refused(!ibv_exp_open_device(&device, &attr), EINVAL, "comp_mask 2");

	is_int(ibv_exp_setenv(ctx, "EXP_TEST", "a", 1), 0, "environment");
	is_int(ibv_exp_setenv(ctx, "EXP_TEST", "b", 0), 0, "kept");
	is_str(getenv("EXP_TEST"), "a", "as setenv() does");
	is_int(ibv_exp_setenv(ctx, "A=B", "b", 0), EINVAL, "bad name");
	is_int(ibv_exp_use_priv_env(ctx), ENOSYS, "no private environment");

	ok(ibv_exp_get_provider_func(ctx, IBV_EXP_POST_SEND_FUNC) ==
	   (void *)ibv_exp_post_send, "post function");
	ok(ibv_exp_get_provider_func(ctx, IBV_EXP_POLL_CQ_FUNC) ==
	   (void *)ibv_exp_poll_cq, "poll function");
	test_std_funcs();
	ok(!ibv_exp_get_provider_func(ctx, 5) && errno == EINVAL, "no function");
}

/* ---- flows -------------------------------------------------------------- */

struct flow {
	struct ibv_exp_flow_attr attr;
	struct ibv_exp_flow_spec_eth eth;
	struct ibv_exp_flow_spec_ipv6 ipv6;
	struct ibv_exp_flow_spec_ipv6_ext ext;
};

static void test_flow(void)
{
	struct flow f = {
		.attr = { IBV_EXP_FLOW_ATTR_NORMAL, sizeof(f), 2, 3, 1, 2, 0 },
		.eth = { .type = IBV_EXP_FLOW_SPEC_ETH, .size = sizeof(f.eth) },
		.ipv6 = { .type = IBV_EXP_FLOW_SPEC_IPV6, .size = sizeof(f.ipv6) },
		.ext = { .type = IBV_EXP_FLOW_SPEC_IPV6_EXT, .size = sizeof(f.ext) },
	};
	struct ibv_qp qp = { .context = ctx };
	struct flow good;
	struct ibv_flow_attr *got = (void *)std.flow_attr;
	char *spec = (char *)(got + 1);
	struct ibv_flow_spec_ipv6 *ipv6 = (void *)(spec + sizeof(f.eth));
	struct ibv_exp_flow *flow;

	reset();
	memset(&f.eth.val, 0x11, 32);
	memset(&f.ipv6.val, 0x22, 64);
	memset(&f.ext.val, 0x33, 80);
	good = f;
	flow = ibv_exp_create_flow(&qp, &f.attr);
	if (!flow)
		bail_out("no flow");
	ok(flow->context == ctx && flow->handle == 9, "a flow");
	ok(got->comp_mask == 0 && got->type == IBV_FLOW_ATTR_NORMAL &&
	   got->priority == 2 && got->num_of_specs == 3 && got->port == 1 &&
	   got->flags == 2, "attributes");
	is_int(got->size, sizeof(*got) + sizeof(f.eth) + 2 * sizeof(*ipv6),
	       "size");
	is_mem(spec, &f.eth, sizeof(f.eth), "Ethernet");
	ok(ipv6->type == IBV_FLOW_SPEC_IPV6 && ipv6->size == sizeof(*ipv6) &&
	   ipv6->val.dst_ip[15] == 0x22 && ipv6->mask.src_ip[0] == 0x22 &&
	   !ipv6->val.flow_label && !ipv6->mask.hop_limit, "IPv6");
	ipv6++;
	ok(ipv6->type == IBV_FLOW_SPEC_IPV6 && ipv6->size == sizeof(*ipv6) &&
	   ipv6->val.flow_label == 0x33333333, "extended IPv6");
	std.err = EBUSY;
	is_int(ibv_exp_destroy_flow(flow), EBUSY, "in use");
	std.err = 0;
	is_int(ibv_exp_destroy_flow(flow), 0, "destroyed");

	std.calls = 0;
	f.attr.size--;
	refused(!ibv_exp_create_flow(&qp, &f.attr), EINVAL, "a short size");
	f.attr.size = 8;
	refused(!ibv_exp_create_flow(&qp, &f.attr), EINVAL, "a tiny size");
	f = good;
	f.attr.num_of_specs++;
	refused(!ibv_exp_create_flow(&qp, &f.attr), EINVAL, "a missing one");
	f = good;
	f.ipv6.size -= 8;
	refused(!ibv_exp_create_flow(&qp, &f.attr), EINVAL, "a wrong length");
	f = good;
	f.eth.type = IBV_EXP_FLOW_SPEC_IB;
	refused(!ibv_exp_create_flow(&qp, &f.attr), EINVAL, "one of IB");
	reset_bare();
	f = good;
	ok(!ibv_exp_create_flow(&qp, &f.attr) && errno == ENOSYS,
	   "bare device");
}

/* ---- calls without an implementation ------------------------------------ */

#define NO_OBJECT(call) \
	(errno = 0, ok((call) == NULL && errno == ENOSYS, "%s", #call))
#define NO_CALL(call) \
	(errno = 0, ok((call) == ENOSYS && errno == ENOSYS, "%s", #call))

static void test_unsupported(void)
{
	enum ibv_exp_query_intf_status status = IBV_EXP_INTF_STAT_OK;
	struct ibv_exp_task task, *bad_task = NULL;

	reset();
	is_int(ibv_exp_poll_dc_info(ctx, NULL, 1, 1), -ENOSYS, "poll_dc_info");
	NO_OBJECT(ibv_exp_create_mr(NULL));
	NO_CALL(ibv_exp_query_mkey(NULL, NULL));
	NO_OBJECT(ibv_exp_alloc_mkey_list_memory(NULL));
	NO_CALL(ibv_exp_dealloc_mkey_list_memory(NULL));
	NO_CALL(ibv_exp_post_task(ctx, &task, &bad_task));
	ok(bad_task == &task, "none has been posted");
	NO_OBJECT(ibv_exp_create_wq(ctx, NULL));
	NO_CALL(ibv_exp_modify_wq(NULL, NULL));
	NO_CALL(ibv_exp_destroy_wq(NULL));
	NO_OBJECT(ibv_exp_create_rwq_ind_table(ctx, NULL));
	NO_CALL(ibv_exp_destroy_rwq_ind_table(NULL));
	NO_OBJECT(ibv_exp_query_intf(ctx, NULL, &status));
	is_int(status, IBV_EXP_INTF_STAT_VENDOR_NOT_SUPPORTED, "its status");
	NO_CALL(ibv_exp_release_intf(ctx, NULL, NULL));
	NO_OBJECT(ibv_exp_alloc_ec_calc(NULL, NULL));
	NO_CALL(ibv_exp_ec_encode_async(NULL, NULL, NULL));
	NO_CALL(ibv_exp_ec_encode_sync(NULL, NULL));
	NO_CALL(ibv_exp_ec_decode_async(NULL, NULL, NULL, NULL, NULL));
	NO_CALL(ibv_exp_ec_decode_sync(NULL, NULL, NULL, NULL));
	NO_CALL(ibv_exp_ec_update_async(NULL, NULL, NULL, NULL, NULL));
	NO_CALL(ibv_exp_ec_update_sync(NULL, NULL, NULL, NULL));
	is_int(ibv_exp_ec_poll(NULL, 1), -ENOSYS, "ec_poll");
	NO_CALL(ibv_exp_ec_encode_send(NULL, NULL, NULL, NULL));
	ibv_exp_dealloc_ec_calc(NULL);
}

int main(void)
{
	fake_init();
	plan(0);
	test_reg_mr();
	test_prefetch();
	test_bind_mw();
	test_dm();
	test_dm_mr();
	test_cq();
	test_srq();
	test_domain();
	test_modify_qp();
	test_values();
	test_ts_to_ns();
	test_port();
	test_open();
	test_flow();
	test_unsupported();
	return done_testing();
}
