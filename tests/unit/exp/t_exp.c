// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of libibverbs_exp against the fake device of fake.c: what a query
 * returns, the creation of queue pairs, and completions.
 */
#include <errno.h>
#include <limits.h>
#include <unistd.h>
#include <sys/mman.h>

#include "fake.h"
#include "tap.h"

/* ---- standard error ---------------------------------------------------- */

static int saved_stderr, caught_stderr;

static void catch_stderr(void)
{
	fflush(stderr);
	saved_stderr = dup(2);
	caught_stderr = memfd_create("stderr", 0);
	if (saved_stderr < 0 || caught_stderr < 0)
		bail_out("cannot redirect standard error");
	dup2(caught_stderr, 2);
}

/* Returns how many bytes have been written to standard error. */
static long caught(void)
{
	long len;

	fflush(stderr);
	len = lseek(caught_stderr, 0, SEEK_END);
	dup2(saved_stderr, 2);
	close(saved_stderr);
	close(caught_stderr);
	return len;
}

/* ---- query device ------------------------------------------------------ */

#define BASE_SIZE offsetof(struct ibv_exp_device_attr, comp_mask)
#define GATED_START offsetof(struct ibv_exp_device_attr, calc_cap)
#define PATTERN 0x5a

/* The flags of the fake, and that the library can allocate memory regions. */
#define ALWAYS_CAPS \
	(0x00102040 | IBV_EXP_DEVICE_MR_ALLOCATE | IBV_EXP_DEVICE_NOP)

struct gate {
	uint32_t bit;
	size_t offset;
	size_t size;
};

#define GATE(bit, field) { bit,						\
	offsetof(struct ibv_exp_device_attr, field),			\
	sizeof(((struct ibv_exp_device_attr *)0)->field) }

static const struct gate gates[] = {
	GATE(IBV_EXP_DEVICE_ATTR_CALC_CAP, calc_cap),
	GATE(IBV_EXP_DEVICE_DC_RD_REQ, max_dc_req_rd_atom),
	GATE(IBV_EXP_DEVICE_DC_RD_RES, max_dc_res_rd_atom),
	GATE(IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ, inline_recv_sz),
	GATE(IBV_EXP_DEVICE_ATTR_RSS_TBL_SZ, max_rss_tbl_sz),
	GATE(IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS, ext_atom),
	GATE(IBV_EXP_DEVICE_ATTR_UMR, umr_caps),
	GATE(IBV_EXP_DEVICE_ATTR_ODP, odp_caps),
	GATE(IBV_EXP_DEVICE_ATTR_MAX_DCT, max_dct),
	GATE(IBV_EXP_DEVICE_ATTR_RX_HASH, rx_hash_caps),
	GATE(IBV_EXP_DEVICE_ATTR_MAX_WQ_TYPE_RQ, max_wq_type_rq),
	GATE(IBV_EXP_DEVICE_ATTR_MP_RQ, mp_rq_caps),
	GATE(IBV_EXP_DEVICE_ATTR_VLAN_OFFLOADS, wq_vlan_offloads_cap),
	GATE(IBV_EXP_DEVICE_ATTR_EC_CAPS, ec_caps),
	GATE(IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS, masked_atomic),
	GATE(IBV_EXP_DEVICE_ATTR_RX_PAD_END_ALIGN, rx_pad_end_addr_align),
	GATE(IBV_EXP_DEVICE_ATTR_TSO_CAPS, tso_caps),
	GATE(IBV_EXP_DEVICE_ATTR_PACKET_PACING_CAPS, packet_pacing_caps),
	GATE(IBV_EXP_DEVICE_ATTR_EC_GF_BASE, ec_w_mask),
	GATE(IBV_EXP_DEVICE_ATTR_OOO_CAPS, ooo_caps),
	GATE(IBV_EXP_DEVICE_ATTR_SW_PARSING_CAPS, sw_parsing_caps),
	GATE(IBV_EXP_DEVICE_ATTR_ODP_MAX_SIZE, odp_mr_max_size),
	GATE(IBV_EXP_DEVICE_ATTR_TM_CAPS, tm_caps),
	GATE(IBV_EXP_DEVICE_ATTR_TUNNEL_OFFLOADS_CAPS, tunnel_offloads_caps),
	GATE(IBV_EXP_DEVICE_ATTR_TUNNELED_ATOMIC, tunneled_atomic_caps),
	GATE(IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK, timestamp_mask),
	GATE(IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK, hca_core_clock),
	GATE(IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS, exp_device_cap_flags),
	GATE(IBV_EXP_DEVICE_ATTR_MAX_CTX_RES_DOMAIN, max_ctx_res_domain),
	GATE(IBV_EXP_DEVICE_ATTR_MAX_DEVICE_CTX, max_device_ctx),
	GATE(IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE, max_dm_size),
	GATE(IBV_EXP_DEVICE_ATTR_COMP_MASK_2, comp_mask_2),
};

static void query_prepare(struct ibv_exp_device_attr *attr, uint32_t comp_mask)
{
	memset(attr, PATTERN, sizeof(*attr));
	attr->comp_mask = comp_mask;
	if (comp_mask & IBV_EXP_DEVICE_ATTR_COMP_MASK_2)
		attr->comp_mask_2 = 0;
}

static const struct gate *gate_of(uint32_t bit)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gates); i++)
		if (gates[i].bit == bit)
			return &gates[i];
	return NULL;
}

/* Returns true if no gated field but that of `gate` was written. */
static bool untouched(const struct ibv_exp_device_attr *attr,
		      const struct gate *gate)
{
	const unsigned char *byte = (const unsigned char *)attr;
	size_t i;

	for (i = GATED_START; i < sizeof(*attr); i++) {
		if (gate && i >= gate->offset && i < gate->offset + gate->size)
			continue;
		if (byte[i] != PATTERN)
			return false;
	}
	return true;
}

static bool touched(const struct ibv_exp_device_attr *attr,
		    const struct gate *gate)
{
	const unsigned char *byte = (const unsigned char *)attr;
	size_t i;

	for (i = gate->offset; i < gate->offset + gate->size; i++)
		if (byte[i] != PATTERN)
			return true;
	return false;
}

static void query_each_bit(struct ibv_context *context, uint32_t supported,
			   const char *name)
{
	struct ibv_exp_device_attr attr;
	int i;

	for (i = 0; i < 32; i++) {
		uint32_t bit = 1u << i;
		const struct gate *gate = bit & supported ? gate_of(bit) : NULL;
		int ret;

		query_prepare(&attr, bit);
		ret = ibv_exp_query_device(context, &attr);
		ok(ret == 0 && attr.comp_mask == (bit & supported) &&
		   untouched(&attr, gate) && (!gate || touched(&attr, gate)),
		   "%s: bit %d requested alone is %s", name, i,
		   gate ? "answered" : "cleared");
	}
}

static void test_query_base(void)
{
	struct ibv_exp_device_attr attr;
	struct ibv_device_attr want;

	fake_reset();
	query_prepare(&attr, 0);
	is_int(ibv_exp_query_device(mxe_ctx, &attr), 0, "nothing requested");
	is_u64(attr.comp_mask, 0, "nothing reported");
	want = fake.std.orig_attr;
	want.device_cap_flags = 0;
	is_mem(&attr, &want, BASE_SIZE, "all standard attributes are filled");
	is_int(attr.exp_atomic_cap, IBV_EXP_ATOMIC_GLOB, "exp_atomic_cap");
	ok(untouched(&attr, NULL), "and no other");

	mxe_vctx.query_device_ex = NULL;
	query_prepare(&attr, 0);
	is_int(ibv_exp_query_device(mxe_ctx, &attr), 0,
	       "a provider without query_device_ex");
	is_int(attr.max_qp, 1234, "its max_qp");
	mxe_vctx.query_device_ex = fake_query_device_ex;
}

static void test_query_gates(void)
{
	const uint32_t clocks = IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK |
				IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK;

	fake_reset();
	query_each_bit(mxe_ctx, ~clocks, "mxe");
	query_each_bit(std_ctx, ~clocks, "other");

	fake.std.hca_core_clock = 156250;
	fake.std.completion_timestamp_mask = ~0ULL;
	fake.std.odp_caps.general_caps = IBV_ODP_SUPPORT;
	fake.std.max_dm_size = 1 << 18;
	query_each_bit(std_ctx, ~0u, "rich other");
}

static void query_all(struct ibv_context *context,
		      struct ibv_exp_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->comp_mask = IBV_EXP_DEVICE_ATTR_RESERVED - 1;
	attr->comp_mask_2 = IBV_EXP_DEVICE_ATTR_RESERVED_2 - 1;
	is_int(ibv_exp_query_device(context, attr), 0, "everything requested");
}

static void test_query_values(void)
{
	struct ibv_exp_device_attr attr;

	fake_reset();
	query_all(mxe_ctx, &attr);
	is_u64(attr.exp_device_cap_flags,
	       1ULL << 46 | 1ULL << 36 | 1ULL << 32 | ALWAYS_CAPS,
	       "capability flags");
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes, 8, "sizes");
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes_network_endianness,
	       0, "sizes in big-endian");
	is_int(attr.masked_atomic.max_fa_bit_boundary, 64, "boundary");
	is_int(attr.masked_atomic.log_max_atomic_inline, 3, "inline");
	is_u64(attr.ext_atom.log_atomic_arg_sizes, 8, "ext sizes");
	is_int(attr.ext_atom.max_fa_bit_boundary, 64, "ext boundary");
	is_int(attr.ext_atom.log_max_atomic_inline, 3, "ext inline");
	is_u64(attr.comp_mask_2, IBV_EXP_DEVICE_ATTR_RESERVED_2 - 1,
	       "all of comp_mask_2");
	ok(!attr.pci_atomic_caps.swap &&
	   !attr.umr_fixed_size_caps.max_entity_size,
	   "no PCI atomics, no UMR");
	ok(!attr.calc_cap.data_types && !attr.inline_recv_sz &&
	   !attr.tso_caps.max_tso &&
	   !attr.tm_caps.max_num_tags, "no other offloads");
	is_int(attr.max_ctx_res_domain, INT_MAX, "resource domains");

	fake.mxe.max_inline_recv = 16;
	query_all(mxe_ctx, &attr);
	is_int(attr.inline_recv_sz, 16, "inline receive");

	/* A later mxe with the limits of a ConnectX-6. */
	fake.mxe.log_arg_sizes = SIZES;
	fake.mxe.log_arg_sizes_be = SIZES & ~8;
	query_all(mxe_ctx, &attr);
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes, SIZES,
	       "wide: sizes");
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes_network_endianness,
	       SIZES & ~8, "wide: sizes in big-endian");
	is_int(attr.masked_atomic.log_max_atomic_inline, 5, "wide: inline");
	is_u64(attr.ext_atom.log_atomic_arg_sizes, 8, "wide: ext sizes");

	fake_be_device();
	fake.mxe.log_arg_sizes_be = 0;
	query_all(mxe_ctx, &attr);
	is_int(attr.exp_atomic_cap, IBV_EXP_ATOMIC_HCA_REPLY_BE,
	       "be: exp_atomic_cap");
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes_network_endianness,
	       8, "be: sizes in big-endian");
	is_u64(attr.ext_atom.log_atomic_arg_sizes, 8, "be: ext sizes");
	ok(attr.exp_device_cap_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS,
	   "be: capability flags");

	fake_reset();
	fake.mxe.masked_ops = MXEDV_MASKED_ATOMIC_CMP_SWP;
	query_all(mxe_ctx, &attr);
	is_u64(attr.exp_device_cap_flags,
	       IBV_EXP_DEVICE_DC_TRANSPORT | ALWAYS_CAPS, "one operation alone is not claimed");

	fake_reset();
	fake.std.pci_atomic_caps.swap = 3;
	fake.std.odp_caps.general_caps = IBV_ODP_SUPPORT;
	fake.std.odp_caps.per_transport_caps.rc_odp_caps =
		IBV_ODP_SUPPORT_ATOMIC;
	query_all(std_ctx, &attr);
	is_u64(attr.exp_device_cap_flags, 1ULL << 39 | ALWAYS_CAPS,
	       "other: capability flags");
	is_u64(attr.comp_mask_2, IBV_EXP_DEVICE_ATTR_RESERVED_2 - 1,
	       "other: comp_mask_2");
	is_int(attr.pci_atomic_caps.swap, 3, "other: PCI atomics");
	is_int(attr.odp_caps.per_transport_caps.rc_odp_caps,
	       IBV_EXP_ODP_SUPPORT_ATOMIC, "other: ODP");
	is_u64(attr.masked_atomic.masked_log_atomic_arg_sizes, 0,
	       "other: no masked atomics");
}

static void test_query_errors(void)
{
	struct ibv_exp_device_attr attr, before;
	int ret;

	fake_reset();
	query_prepare(&attr, IBV_EXP_DEVICE_ATTR_COMP_MASK_2);
	attr.comp_mask_2 = IBV_EXP_DEVICE_ATTR_RESERVED_2;
	before = attr;
	catch_stderr();
	ret = ibv_exp_query_device(mxe_ctx, &attr);
	ok(caught() > 0, "an unknown comp_mask_2 bit causes a message");
	is_int(ret, EINVAL, "and refused");
	is_mem(&attr, &before, sizeof(attr), "and nothing is written");

	query_prepare(&attr, 0);
	attr.comp_mask_2 = ~0ULL;
	is_int(ibv_exp_query_device(mxe_ctx, &attr), 0,
	       "comp_mask_2 is not read unless announced");

	query_prepare(&attr, 8);
	before = attr;
	fake.query_errno = EIO;
	is_int(ibv_exp_query_device(mxe_ctx, &attr), EIO, "device fails");
	is_mem(&attr, &before, sizeof(attr), "and nothing is written");
	fake.query_errno = 0;
	fake.mxe_query_errno = ENODEV;
	is_int(ibv_exp_query_device(mxe_ctx, &attr), ENODEV, "mxe fails");
	is_mem(&attr, &before, sizeof(attr), "and nothing is written");
	is_int(ibv_exp_query_device(std_ctx, &attr), 0,
	       "the other device is not queried by mxedv");
}

/* ---- create QP --------------------------------------------------------- */

enum { MXE_QP, PLAIN_QP, EX_QP };

static const struct create_row {
	const char *name;
	uint32_t comp_mask;
	uint32_t flags;
	int mxe;		/* kind of queue pair, or -errno */
	int other;
	bool message;		/* on standard error */
} create_rows[] = {
	{ "PD alone", PD, 0, PLAIN_QP, PLAIN_QP, false },
	{ "flags of 0", PD | FLAGS, 0, MXE_QP, PLAIN_QP, false },
	{ "atomic argument", PD | ARG, 0, MXE_QP, PLAIN_QP, false },
	{ "as Sherman", PD | FLAGS | ARG, 0, MXE_QP, PLAIN_QP, false },
	{ "big-endian reply", PD | FLAGS | ARG, BE, MXE_QP, -EINVAL, false },
	{ "no PD", FLAGS | ARG, 0, -EINVAL, -EINVAL, false },
	{ "nothing", 0, 0, -EINVAL, -EINVAL, false },
	{ "comp_mask bit 13", PD | 1 << 13, 0, -EINVAL, -EINVAL, true },
	{ "comp_mask bit 13 alone", 1 << 13, 0, -EINVAL, -EINVAL, true },
	{ "comp_mask bit 31", PD | 1u << 31, 0, -EINVAL, -EINVAL, true },
	{ "flag bit 0", PD | FLAGS, 1 << 0, -EINVAL, -EINVAL, true },
	{ "flag bit 5", PD | FLAGS, 1 << 5, -EINVAL, -EINVAL, true },
	{ "flag bit 14", PD | FLAGS, 1 << 14, -EINVAL, -EINVAL, true },
	{ "internal flag", PD | FLAGS, IBV_EXP_QP_CREATE_INTERNAL_USE,
	  -EINVAL, -EINVAL, true },
	{ "flag bit 17", PD | FLAGS, 1 << 17, -EINVAL, -EINVAL, true },
	{ "cross channel", PD | FLAGS, IBV_EXP_QP_CREATE_CROSS_CHANNEL,
	  -EINVAL, -EINVAL, false },
	{ "managed send", PD | FLAGS, IBV_EXP_QP_CREATE_MANAGED_SEND | BE,
	  -EINVAL, -EINVAL, false },
	{ "ignore overflow", PD | FLAGS, IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW,
	  -EINVAL, -EINVAL, false },
	{ "credit mode", PD | FLAGS, IBV_EXP_QP_CREATE_PACKET_BASED_CREDIT_MODE,
	  -EINVAL, -EINVAL, false },
	{ "flags not announced", PD, ~0u, PLAIN_QP, PLAIN_QP, false },
	{ "flags not announced, argument", PD | ARG, ~0u, MXE_QP, PLAIN_QP,
	  false },
	{ "queue pair group", PD | IBV_EXP_QP_INIT_ATTR_QPG, 0,
	  -ENOSYS, -ENOSYS, false },
	{ "inline KLMs", PD | IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS, 0,
	  -ENOSYS, -ENOSYS, false },
	{ "resource domain", PD | IBV_EXP_QP_INIT_ATTR_RES_DOMAIN, 0,
	  MXE_QP, PLAIN_QP, false },
	{ "hash", PD | IBV_EXP_QP_INIT_ATTR_RX_HASH, 0,
	  -ENOSYS, -ENOSYS, false },
	{ "port", PD | IBV_EXP_QP_INIT_ATTR_PORT, 0, -ENOSYS, -ENOSYS, false },
	{ "peer-direct", PD | IBV_EXP_QP_INIT_ATTR_PEER_DIRECT, 0,
	  -ENOSYS, -ENOSYS, false },
	{ "TSO", PD | IBV_EXP_QP_INIT_ATTR_MAX_TSO_HEADER, 0,
	  -ENOSYS, -ENOSYS, false },
	{ "associated QPN", PD | IBV_EXP_QP_INIT_ATTR_ASSOCIATED_QPN, 0,
	  -ENOSYS, -ENOSYS, false },
};

static void create_one(const struct create_row *row,
		       struct ibv_context *context, int want, const char *dev)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;
	long len;

	fake_reset();
	init_attr(&attr, context, row->comp_mask);
	if (row->flags)
		attr.exp_create_flags = row->flags;
	errno = 0;
	catch_stderr();
	qp = ibv_exp_create_qp(context, &attr);
	len = caught();
	ok(!!len == row->message, "%s, %s: message", dev, row->name);
	if (want < 0) {
		ok(!qp && errno == -want, "%s, %s: %s", dev, row->name,
		   strerror(-want));
		is_int(attr.cap.max_send_wr, 16, "%s, %s: cap as it was", dev,
		       row->name);
		return;
	}
	ok(qp && fake.mxe_created == (want == MXE_QP) &&
	   fake.plain_created == (want == PLAIN_QP) &&
	   fake.ex_created == (want == EX_QP), "%s, %s: created", dev,
	   row->name);
	is_int(attr.cap.max_send_wr, 32, "%s, %s: cap is updated", dev,
	       row->name);
	is_int(fake.last.sq_sig_all, 1, "%s, %s: attributes arrive", dev,
	       row->name);
	if (qp)
		ibv_destroy_qp(qp);
}

/* Creates a QP that asks for inline receive, and returns the size it has. */
static uint32_t inline_of(struct ibv_context *context, enum ibv_qp_type type,
			  uint32_t asked)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;

	init_attr(&attr, context, PD | ARG | IBV_EXP_QP_INIT_ATTR_INL_RECV);
	attr.qp_type = type;
	attr.max_inl_recv = asked;
	qp = ibv_exp_create_qp(context, &attr);
	if (!qp)
		return UINT32_MAX;
	ibv_destroy_qp(qp);
	return attr.max_inl_recv;
}

static void test_inline_recv(void)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;

	fake_reset();
	is_int(inline_of(mxe_ctx, IBV_QPT_RC, 16), 0, "an mxe without inline receive");
	is_int(inline_of(std_ctx, IBV_QPT_RC, 16), 0, "another device");
	fake.mxe.max_inline_recv = 16;
	is_int(inline_of(mxe_ctx, IBV_QPT_RC, 0), 0, "none asked for");
	is_int(inline_of(mxe_ctx, IBV_QPT_RC, 8), 16, "a request for 8 bytes is rounded up");
	is_int(inline_of(mxe_ctx, IBV_QPT_RC, 64), 16, "64 bytes are too many");
	is_int(inline_of(std_ctx, IBV_QPT_RC, 16), 0, "another device still has none");
	is_int(fake.inline_created, 0, "RC has masked atomics, too");
	is_int(inline_of(mxe_ctx, IBV_QPT_UC, 16), 16, "UC");
	is_int(fake.inline_created, 1, "... is created by libmxe, too");

	init_attr(&attr, mxe_ctx, PD | ARG | IBV_EXP_QP_INIT_ATTR_INL_RECV);
	attr.max_inl_recv = 16;
	qp = ibv_exp_create_qp(mxe_ctx, &attr);
	ok(qp && to_fake(qp)->create_flags == (MXEDV_QP_CREATE_EXP_WC_OPCODE |
					       MXEDV_QP_CREATE_INLINE_RECV),
	   "the flag is passed to libmxe");
	if (qp)
		ibv_destroy_qp(qp);

	fake.no_inline_recv = true;
	is_int(inline_of(mxe_ctx, IBV_QPT_RC, 16), 0, "a QP that cannot have it");
	is_int(inline_of(mxe_ctx, IBV_QPT_UD, 16), 0, "... of a type that cannot");
	fake.create_errno = ENOMEM;
	ok(inline_of(mxe_ctx, IBV_QPT_RC, 16) == UINT32_MAX && errno == ENOMEM,
	   "other errors are returned");
	fake_reset();
}

static void test_create(void)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_qp *qp;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(create_rows); i++) {
		const struct create_row *row = &create_rows[i];

		create_one(row, mxe_ctx, row->mxe, "mxe");
		create_one(row, std_ctx, row->other, "other");
	}

	fake_reset();
	init_attr(&attr, mxe_ctx, 0x1fff & ~IBV_EXP_QP_INIT_ATTR_XRCD);
	attr.exp_create_flags = 0;
	attr.qpg.qpg_type = IBV_EXP_QPG_NONE;
	attr.max_atomic_arg = 8;
	attr.max_inl_send_klms = 0;
	attr.res_domain = NULL;
	attr.rx_hash_conf = NULL;
	attr.port_num = 0;
	attr.peer_direct_attrs = NULL;
	attr.max_tso_header = 0;
	attr.associated_qpn = 0;
	attr.max_inl_recv = 64;
	qp = ibv_exp_create_qp(mxe_ctx, &attr);
	ok(qp, "all attributes announced and neutral");
	is_int(attr.max_inl_recv, 0, "nothing is received inline");
	if (qp)
		ibv_destroy_qp(qp);

	init_attr(&attr, std_ctx, PD | IBV_EXP_QP_INIT_ATTR_XRCD);
	attr.xrcd = (struct ibv_xrcd *)&attr;
	qp = ibv_exp_create_qp(std_ctx, &attr);
	ok(qp && fake.ex_created == 1 && fake.last.xrcd == attr.xrcd &&
	   fake.last.comp_mask == (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD),
	   "an XRC domain is passed on");
	if (qp)
		ibv_destroy_qp(qp);

	init_attr(&attr, mxe_ctx, PD | FLAGS | ARG);
	attr.qp_type = IBV_QPT_UD;
	fake.plain_created = 0;
	qp = ibv_exp_create_qp(mxe_ctx, &attr);
	ok(qp && fake.plain_created == 1, "a datagram queue pair is plain");
	if (qp)
		ibv_destroy_qp(qp);
	attr.exp_create_flags = BE;
	errno = 0;
	ok(!ibv_exp_create_qp(mxe_ctx, &attr) && errno == EINVAL,
	   "and has no atomics to reply to");
}

/* Uninitialised pointers, which no QP of the type uses. */
static void test_create_xrc(void)
{
	struct ibv_exp_qp_init_attr attr;
	struct ibv_cq *send_cq;
	struct ibv_qp *qp;

	fake_reset();
	init_attr(&attr, std_ctx, PD | IBV_EXP_QP_INIT_ATTR_XRCD);
	attr.qp_type = IBV_QPT_XRC_RECV;
	attr.xrcd = (struct ibv_xrcd *)&attr;
	attr.pd = (void *)8;
	attr.send_cq = (void *)8;
	attr.recv_cq = (void *)8;
	attr.srq = (void *)8;
	qp = ibv_exp_create_qp(std_ctx, &attr);
	ok(qp && fake.last.comp_mask == IBV_QP_INIT_ATTR_XRCD &&
	   fake.last.xrcd == attr.xrcd && !fake.last.pd && !fake.last.send_cq &&
	   !fake.last.recv_cq && !fake.last.srq,
	   "an XRC receiver has only its domain");
	if (qp)
		ibv_destroy_qp(qp);

	init_attr(&attr, std_ctx, PD);
	send_cq = attr.send_cq;
	attr.qp_type = IBV_QPT_XRC_SEND;
	attr.recv_cq = (void *)8;
	attr.srq = (void *)8;
	qp = ibv_exp_create_qp(std_ctx, &attr);
	ok(qp && fake.last.comp_mask == IBV_QP_INIT_ATTR_PD &&
	   fake.last.send_cq == send_cq && !fake.last.recv_cq &&
	   !fake.last.srq, "an XRC sender has no queue to receive");
	if (qp)
		ibv_destroy_qp(qp);
	attr.qp_type = IBV_QPT_XRC;
	qp = ibv_exp_create_qp(std_ctx, &attr);
	ok(qp && fake.last.qp_type == IBV_QPT_XRC_SEND,
	   "IBV_QPT_XRC is an XRC sender");
	is_int(attr.qp_type, IBV_QPT_XRC, "... and the type remains");
	if (qp)
		ibv_destroy_qp(qp);
}

static void test_create_flags(void)
{
	struct ibv_qp *qp;

	fake_reset();
	qp = must_create(mxe_ctx, PD | FLAGS | ARG, 0, 8);
	is_u64(to_fake(qp)->create_flags, MXEDV_QP_CREATE_EXP_WC_OPCODE,
	       "completions have the opcodes of OFED");
	ibv_destroy_qp(qp);
	qp = must_create(mxe_ctx, PD | FLAGS | ARG, BE, 8);
	is_u64(to_fake(qp)->create_flags, MXEDV_QP_CREATE_EXP_WC_OPCODE |
	       MXEDV_QP_CREATE_ATOMIC_BE_REPLY, "big-endian reply");
	ibv_destroy_qp(qp);

	fake_be_device();
	qp = must_create(mxe_ctx, PD | FLAGS | ARG, BE, 8);
	ok(to_fake(qp)->create_flags & MXEDV_QP_CREATE_ATOMIC_BE_REPLY,
	   "big-endian reply on a device with big-endian replies only");
	ibv_destroy_qp(qp);

	fake_reset();
	fake.mxe.reply_modes = MXEDV_ATOMIC_REPLY_HOST;
	errno = 0;
	ok(!create(mxe_ctx, PD | FLAGS | ARG, BE, 8) && errno == EINVAL,
	   "big-endian reply on a device without it");
}

static void test_create_errors(void)
{
	fake_reset();
	fake.create_errno = ENOMEM;
	errno = 0;
	ok(!create(mxe_ctx, PD | ARG, 0, 8) && errno == ENOMEM, "mxe fails");
	errno = 0;
	ok(!create(mxe_ctx, PD, 0, 8) && errno == ENOMEM, "plain verbs fail");
	fake_reset();
	fake.mxe_query_errno = EIO;
	errno = 0;
	ok(!create(mxe_ctx, PD | ARG, 0, 8) && errno == EIO, "query fails");
	fake_reset();
	fake.no_builders = true;
	errno = 0;
	ok(!create(mxe_ctx, PD | ARG, 0, 8) && errno == EOPNOTSUPP,
	   "no builders");
	is_int(fake.destroyed, 1, "and the queue pair is destroyed");
}

/* ---- poll CQ ----------------------------------------------------------- */

static void cq_fill(int n)
{
	int i;

	memset(&fake_cq, 0, sizeof(fake_cq));
	fake_cq.num = n;
	fake_cq.error_at = -1;
	for (i = 0; i < n; i++) {
		fake_cq.wcs[i].wr_id = i;
		fake_cq.wcs[i].opcode = IBV_WC_RECV;
	}
}

static const struct wc_row {
	int std;
	int mxe;
	int other;
	uint32_t mxe_len;	/* if the device reports 0 */
} wc_rows[] = {
	{ IBV_WC_SEND, IBV_EXP_WC_SEND, IBV_EXP_WC_SEND, 0 },
	{ IBV_WC_RDMA_WRITE, IBV_EXP_WC_RDMA_WRITE, IBV_EXP_WC_RDMA_WRITE, 0 },
	{ IBV_WC_RDMA_READ, IBV_EXP_WC_RDMA_READ, IBV_EXP_WC_RDMA_READ, 0 },
	{ IBV_WC_COMP_SWAP, IBV_EXP_WC_COMP_SWAP, IBV_EXP_WC_COMP_SWAP, 8 },
	{ IBV_WC_FETCH_ADD, IBV_EXP_WC_FETCH_ADD, IBV_EXP_WC_FETCH_ADD, 8 },
	{ IBV_WC_BIND_MW, IBV_EXP_WC_BIND_MW, IBV_EXP_WC_BIND_MW, 0 },
	{ IBV_WC_LOCAL_INV, IBV_EXP_WC_LOCAL_INV, IBV_EXP_WC_LOCAL_INV, 0 },
	{ IBV_WC_TSO, IBV_EXP_WC_TSO, IBV_EXP_WC_TSO, 0 },
	/* IBV_WC_ATOMIC_WRITE on other devices */
	{ 9, IBV_EXP_WC_MASKED_COMP_SWAP, IBV_EXP_WC_RDMA_WRITE, 8 },
	{ 10, IBV_EXP_WC_MASKED_FETCH_ADD, 10, 8 },
	{ IBV_WC_RECV, IBV_EXP_WC_RECV, IBV_EXP_WC_RECV, 0 },
	{ IBV_WC_RECV_RDMA_WITH_IMM, IBV_EXP_WC_RECV_RDMA_WITH_IMM,
	  IBV_EXP_WC_RECV_RDMA_WITH_IMM, 0 },
	{ IBV_WC_TM_ADD, IBV_EXP_WC_TM_ADD, IBV_EXP_WC_TM_ADD, 0 },
	{ IBV_WC_TM_DEL, IBV_EXP_WC_TM_DEL, IBV_EXP_WC_TM_DEL, 0 },
	{ IBV_WC_TM_SYNC, IBV_EXP_WC_TM_SYNC, IBV_EXP_WC_TM_SYNC, 0 },
	{ IBV_WC_TM_RECV, IBV_EXP_WC_TM_RECV, IBV_EXP_WC_TM_RECV, 0 },
	{ IBV_WC_TM_NO_TAG, IBV_EXP_WC_TM_NO_TAG, IBV_EXP_WC_TM_NO_TAG, 0 },
};

static struct ibv_cq mxe_cq = { .context = mxe_ctx };
static struct ibv_cq std_cq = { .context = std_ctx };

static void test_poll_opcodes(void)
{
	struct ibv_exp_wc wc;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wc_rows); i++) {
		const struct wc_row *row = &wc_rows[i];

		cq_fill(1);
		fake_cq.wcs[0].opcode = (enum ibv_wc_opcode)row->std;
		ibv_exp_poll_cq(&mxe_cq, 1, &wc, sizeof(wc));
		is_int(wc.exp_opcode, row->mxe, "mxe: opcode %d", row->std);
		is_int(wc.byte_len, row->mxe_len, "mxe: byte_len of opcode %d",
		       row->std);
		cq_fill(1);
		fake_cq.wcs[0].opcode = (enum ibv_wc_opcode)row->std;
		ibv_exp_poll_cq(&std_cq, 1, &wc, sizeof(wc));
		is_int(wc.exp_opcode, row->other, "other: opcode %d", row->std);
	}

	cq_fill(1);
	fake_cq.wcs[0].opcode = (enum ibv_wc_opcode)10;
	fake_cq.wcs[0].byte_len = 16;
	ibv_exp_poll_cq(&mxe_cq, 1, &wc, sizeof(wc));
	is_int(wc.byte_len, 16, "byte_len of the device");

	cq_fill(1);
	fake_cq.wcs[0].opcode = (enum ibv_wc_opcode)9;
	fake_cq.wcs[0].status = IBV_WC_REM_ACCESS_ERR;
	ibv_exp_poll_cq(&mxe_cq, 1, &wc, sizeof(wc));
	ok(wc.status == IBV_WC_REM_ACCESS_ERR && !wc.byte_len,
	   "no byte_len in an error");
}

static void test_poll_fields(void)
{
	static const struct {
		unsigned int std;
		uint64_t exp;
	} flags[] = {
		{ IBV_WC_GRH, IBV_EXP_WC_GRH },
		{ IBV_WC_WITH_IMM, IBV_EXP_WC_WITH_IMM },
		{ IBV_WC_WITH_INV, IBV_EXP_WC_WITH_INV },
		{ IBV_WC_IP_CSUM_OK, IBV_EXP_WC_RX_IP_CSUM_OK |
				     IBV_EXP_WC_RX_TCP_UDP_CSUM_OK },
		{ IBV_WC_TM_SYNC_REQ, IBV_EXP_WC_TM_SYNC_REQ },
		{ IBV_WC_TM_MATCH, IBV_EXP_WC_TM_MATCH },
		{ IBV_WC_TM_DATA_VALID, IBV_EXP_WC_TM_DATA_VALID },
	};
	struct ibv_exp_wc wc;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		cq_fill(1);
		fake_cq.wcs[0].wc_flags = flags[i].std;
		ibv_exp_poll_cq(&mxe_cq, 1, &wc, sizeof(wc));
		is_u64(wc.exp_wc_flags, flags[i].exp, "wc_flags 0x%x",
		       flags[i].std);
	}

	cq_fill(1);
	fake_cq.wcs[0] = (struct ibv_wc) {
		.wr_id = 1, .status = IBV_WC_GENERAL_ERR,
		.opcode = IBV_WC_RECV, .vendor_err = 2, .byte_len = 3,
		.imm_data = 4, .qp_num = 5, .src_qp = 6, .pkey_index = 7,
		.slid = 8, .sl = 9, .dlid_path_bits = 10,
	};
	memset(&wc, PATTERN, sizeof(wc));
	is_int(ibv_exp_poll_cq(&mxe_cq, 1, &wc, sizeof(wc)), 1, "poll one");
	ok(wc.wr_id == 1 && wc.status == IBV_WC_GENERAL_ERR &&
	   wc.exp_opcode == IBV_EXP_WC_RECV && wc.vendor_err == 2 &&
	   wc.byte_len == 3 && wc.imm_data == 4 && wc.qp_num == 5 &&
	   wc.src_qp == 6 && wc.pkey_index == 7 && wc.slid == 8 && wc.sl == 9 &&
	   wc.dlid_path_bits == 10, "every field arrives");
	ok(!wc.qp && !wc.srq && !wc.dct && !wc.exp_wc_flags && !wc.timestamp,
	   "unknown fields are zero, and their flags are not set");
}

/* Entries are wc_size apart, and nothing is written outside of them. */
static void test_poll_size(uint32_t wc_size)
{
	enum { N = 40 };
	const size_t len = wc_size < sizeof(struct ibv_exp_wc) ?
			   wc_size : sizeof(struct ibv_exp_wc);
	unsigned char *area = malloc((size_t)N * wc_size + 64);
	bool good = true;
	int i;

	if (!area)
		bail_out("out of memory");
	memset(area, PATTERN, (size_t)N * wc_size + 64);
	cq_fill(N);
	is_int(ibv_exp_poll_cq(&mxe_cq, N, (struct ibv_exp_wc *)area, wc_size),
	       N, "wc_size %u: number", wc_size);
	for (i = 0; i < N; i++) {
		uint64_t wr_id;
		size_t j;

		memcpy(&wr_id, area + (size_t)i * wc_size, sizeof(wr_id));
		good = good && wr_id == (uint64_t)i;
		for (j = len; j < wc_size; j++)
			good = good && area[(size_t)i * wc_size + j] == PATTERN;
	}
	for (i = 0; i < 64; i++)
		good = good && area[(size_t)N * wc_size + i] == PATTERN;
	ok(good, "wc_size %u: contents and bounds", wc_size);
	free(area);
}

static void test_poll_counts(void)
{
	static struct ibv_exp_wc wcs[MAX_WCS];

	test_poll_size(offsetof(struct ibv_exp_wc, timestamp));
	test_poll_size(88);
	test_poll_size(sizeof(struct ibv_exp_wc));
	test_poll_size(128);

	cq_fill(1);
	is_int(ibv_exp_poll_cq(&mxe_cq, 1, wcs, 40), -EINVAL,
	       "a structure too short for any caller");
	is_int(ibv_exp_poll_cq(&mxe_cq, 1, wcs, 0), -EINVAL, "a size of 0");
	is_int(ibv_exp_poll_cq(&mxe_cq, -1, wcs, sizeof(*wcs)), -EINVAL,
	       "a negative number");
	is_int(fake_cq.taken, 0, "took no completion");
	is_int(ibv_exp_poll_cq(&mxe_cq, 0, wcs, sizeof(*wcs)), 0, "none requested");
	is_int(fake_cq.taken, 0, "none taken");
	is_int(ibv_exp_poll_cq(&mxe_cq, 5, wcs, sizeof(*wcs)), 1, "one available");
	is_int(ibv_exp_poll_cq(&mxe_cq, 5, wcs, sizeof(*wcs)), 0, "none available");

	cq_fill(20);
	is_int(ibv_exp_poll_cq(&mxe_cq, 18, wcs, sizeof(*wcs)), 18,
	       "no more than requested");
	is_int(fake_cq.taken, 18, "the others stay");

	cq_fill(20);
	fake_cq.error_at = 16;
	is_int(ibv_exp_poll_cq(&mxe_cq, 20, wcs, sizeof(*wcs)), 16,
	       "what precedes an error is returned");
	is_int(ibv_exp_poll_cq(&mxe_cq, 20, wcs, sizeof(*wcs)), -EIO,
	       "then the error");
}

int main(void)
{
	plan(0);
	fake_init();

	test_query_base();
	test_query_gates();
	test_query_values();
	test_query_errors();

	test_inline_recv();
	test_create();
	test_create_xrc();
	test_create_flags();
	test_create_errors();

	test_poll_opcodes();
	test_poll_fields();
	test_poll_counts();
	return done_testing();
}
