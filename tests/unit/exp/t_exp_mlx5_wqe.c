// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks every byte of the WQEs that the mlx5 backend of libibverbs_exp builds
 * for masked atomics.
 */
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "backend_mlx5_wqe.h"

#define CS IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP
#define FA IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD

/* Words of wide operands. Those of 16 bytes have the first two. */
static const uint64_t swap_words[4] = {
	0x1011121314151617, 0x18191a1b1c1d1e1f,
	0x2021222324252627, 0x28292a2b2c2d2e2f,
};
static const uint64_t compare_words[4] = {
	0x3031323334353637, 0x38393a3b3c3d3e3f,
	0x4041424344454647, 0x48494a4b4c4d4e4f,
};
static const uint64_t swap_mask_words[4] = {
	0x5051525354555657, 0x58595a5b5c5d5e5f,
	0x6061626364656667, 0x68696a6b6c6d6e6f,
};
static const uint64_t compare_mask_words[4] = {
	0x7071727374757677, 0x78797a7b7c7d7e7f,
	0x8081828384858687, 0x88898a8b8c8d8e8f,
};

/* The QP number, the remote address and the buffer in the expected WQEs. */
#define QPN 0xabcdef
#define RADDR "f1f2f3f4f5f6f7f8 e1e2e3e4 00000000"
#define DATA(len) "000000" len " c1c2c3c4 d1d2d3d4d5d6d7d8"

static const struct row {
	const char *name;
	int opcode;
	uint32_t log_arg_sz;
	bool signaled;
	uint64_t flags;
	const char *wqe[12];	/* in pieces */
} rows[] = {
	{ "CAS of 4 bytes", CS, 2, true, 0,
	  { "08000014 abcdef04 00 0000 08 00000000" RADDR,
	    "14151617 34353637 54555657 74757677" DATA("04") } },
	{ "CAS of 8 bytes", CS, 3, true, 0,
	  { "09000014 abcdef05 00 0000 08 00000000" RADDR,
	    "1011121314151617 3031323334353637",
	    "5051525354555657 7071727374757677" DATA("08") } },
	{ "CAS of 16 bytes", CS, 4, true, 0,
	  { "0a000014 abcdef07 00 0000 08 00000000" RADDR,
	    "1011121314151617 18191a1b1c1d1e1f",
	    "3031323334353637 38393a3b3c3d3e3f",
	    "5051525354555657 58595a5b5c5d5e5f",
	    "7071727374757677 78797a7b7c7d7e7f" DATA("10") } },
	{ "CAS of 32 bytes", CS, 5, true, 0,
	  { "0b000014 abcdef0b 00 0000 08 00000000" RADDR,
	    "1011121314151617 18191a1b1c1d1e1f",
	    "2021222324252627 28292a2b2c2d2e2f",
	    "3031323334353637 38393a3b3c3d3e3f",
	    "4041424344454647 48494a4b4c4d4e4f",
	    "5051525354555657 58595a5b5c5d5e5f",
	    "6061626364656667 68696a6b6c6d6e6f",
	    "7071727374757677 78797a7b7c7d7e7f",
	    "8081828384858687 88898a8b8c8d8e8f" DATA("20") } },
	{ "FAA of 4 bytes", FA, 2, true, 0,
	  { "08000015 abcdef04 00 0000 08 00000000" RADDR,
	    "14151617 34353637 0000000000000000" DATA("04") } },
	{ "FAA of 8 bytes", FA, 3, true, 0,
	  { "09000015 abcdef04 00 0000 08 00000000" RADDR,
	    "1011121314151617 3031323334353637" DATA("08") } },
	{ "FAA of 16 bytes", FA, 4, true, 0,
	  { "0a000015 abcdef05 00 0000 08 00000000" RADDR,
	    "1011121314151617 18191a1b1c1d1e1f",
	    "3031323334353637 38393a3b3c3d3e3f" DATA("10") } },
	{ "FAA of 32 bytes", FA, 5, true, 0,
	  { "0b000015 abcdef07 00 0000 08 00000000" RADDR,
	    "1011121314151617 18191a1b1c1d1e1f",
	    "2021222324252627 28292a2b2c2d2e2f",
	    "3031323334353637 38393a3b3c3d3e3f",
	    "4041424344454647 48494a4b4c4d4e4f" DATA("20") } },

	{ "unsignalled", FA, 3, false, 0,
	  { "09000015 abcdef04 00 0000 00 00000000" RADDR,
	    "1011121314151617 3031323334353637" DATA("08") } },
	{ "flags of the queue pair decide", FA, 3, false,
	  IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_EXT_ATOMIC_INLINE,
	  { "09000015 abcdef04 00 0000 00 00000000" RADDR,
	    "1011121314151617 3031323334353637" DATA("08") } },
	{ "fence", FA, 3, false, IBV_EXP_SEND_FENCE,
	  { "09000015 abcdef04 00 0000 80 00000000" RADDR,
	    "1011121314151617 3031323334353637" DATA("08") } },
	{ "solicited", FA, 3, false, IBV_EXP_SEND_SOLICITED,
	  { "09000015 abcdef04 00 0000 02 00000000" RADDR,
	    "1011121314151617 3031323334353637" DATA("08") } },
	{ "all flags", CS, 2, true,
	  IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SOLICITED,
	  { "08000014 abcdef04 00 0000 8a 00000000" RADDR,
	    "14151617 34353637 54555657 74757677" DATA("04") } },
};

static size_t from_hex(uint8_t *to, const char *const *pieces)
{
	unsigned int value;
	const char *hex;
	size_t n = 0;

	for (; *pieces; pieces++) {
		for (hex = *pieces; *hex; hex++) {
			if (*hex == ' ')
				continue;
			if (sscanf(hex++, "%2x", &value) != 1)
				bail_out("bad hex");
			to[n++] = value;
		}
	}
	return n;
}

static void dump(const char *what, const uint8_t *bytes, size_t n)
{
	char line[3 * 16 + 1];
	size_t i;

	for (i = 0; i < n; i++) {
		sprintf(line + 3 * (i % 16), " %02x", bytes[i]);
		if (i % 16 == 15 || i + 1 == n)
			diag("%s %3zu:%s", what, i / 16 * 16, line);
	}
}

static void init_wr(struct ibv_exp_send_wr *wr, int opcode, uint32_t log_arg_sz,
		    struct ibv_sge *sge)
{
	bool by_address = log_arg_sz > 3;
#define OPERAND(words) (by_address ? (uintptr_t)(words) : (words)[0])

	memset(wr, 0xa5, sizeof(*wr));
	wr->exp_opcode = (enum ibv_exp_wr_opcode)opcode;
	wr->exp_send_flags = 0;
	wr->sg_list = sge;
	wr->num_sge = 1;
	*sge = (struct ibv_sge) {
		.addr = 0xd1d2d3d4d5d6d7d8, .length = 1u << log_arg_sz,
		.lkey = 0xc1c2c3c4,
	};
	wr->ext_op.masked_atomics.log_arg_sz = log_arg_sz;
	wr->ext_op.masked_atomics.remote_addr = 0xf1f2f3f4f5f6f7f8;
	wr->ext_op.masked_atomics.rkey = 0xe1e2e3e4;
	if (opcode == CS) {
		struct ibv_exp_cmp_swap *cs = &wr->ext_op.masked_atomics
			.wr_data.inline_data.op.cmp_swap;

		cs->swap_val = OPERAND(swap_words);
		cs->compare_val = OPERAND(compare_words);
		cs->swap_mask = OPERAND(swap_mask_words);
		cs->compare_mask = OPERAND(compare_mask_words);
	} else {
		struct ibv_exp_fetch_add *fa = &wr->ext_op.masked_atomics
			.wr_data.inline_data.op.fetch_add;

		fa->add_val = OPERAND(swap_words);
		fa->field_boundary = OPERAND(compare_words);
	}
#undef OPERAND
}

union wqe {
	uint64_t align;
	uint8_t bytes[EXP_MLX5_MAX_WQE + 16];
};

static void is_wqe(const union wqe *wqe, size_t length,
		   const char *const *want_hex, const char *name)
{
	uint8_t want[EXP_MLX5_MAX_WQE];
	size_t n = from_hex(want, want_hex);
	bool same = length == n && !memcmp(wqe->bytes, want, n);

	if (!ok(same, "%s: %zu bytes", name, n)) {
		dump("got ", wqe->bytes, length);
		dump("want", want, n);
	}
}

static void test_rows(void)
{
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	union wqe wqe;
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		memset(&wqe, 0x5a, sizeof(wqe));
		init_wr(&wr, row->opcode, row->log_arg_sz, &sge);
		wr.exp_send_flags = row->flags;
		n = exp_mlx5_wqe(&wqe, QPN, false, NULL, row->signaled, &wr);
		is_wqe(&wqe, n, row->wqe, row->name);
		is_int(wqe.bytes[n], 0x5a, "%s: nothing after it", row->name);
	}
}

/* Operands by address need not be aligned. */
static void test_unaligned(void)
{
	char bytes[16 + 3];
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	union wqe wqe;
	size_t n;

	init_wr(&wr, FA, 4, &sge);
	memcpy(bytes + 3, swap_words, 16);
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add.add_val =
		(uintptr_t)bytes + 3;
	n = exp_mlx5_wqe(&wqe, QPN, false, NULL, true, &wr);
	is_wqe(&wqe, n, rows[6].wqe, "operand at an odd address");
}

static void test_sges(void)
{
	static const char *const no_buffer[] = {
		"09000015 abcdef03 00 0000 08 00000000" RADDR,
		"1011121314151617 3031323334353637", NULL
	};
	static const char *const two_buffers[] = {
		"09000015 abcdef05 00 0000 08 00000000" RADDR,
		"1011121314151617 3031323334353637",
		"00000004 22222222 1111111111111111",
		"00000004 66666666 5555555555555555", NULL
	};
	struct ibv_sge sges[EXP_MLX5_MAX_SGE];
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	union wqe wqe;
	size_t i, n;

	init_wr(&wr, FA, 3, &sge);
	wr.num_sge = 0;
	wr.sg_list = NULL;
	n = exp_mlx5_wqe(&wqe, QPN, false, NULL, true, &wr);
	is_wqe(&wqe, n, no_buffer, "no buffer");

	sges[0] = (struct ibv_sge) { 0x1111111111111111, 4, 0x22222222 };
	sges[1] = (struct ibv_sge) { 0x3333333333333333, 0, 0x44444444 };
	sges[2] = (struct ibv_sge) { 0x5555555555555555, 4, 0x66666666 };
	wr.num_sge = 3;
	wr.sg_list = sges;
	n = exp_mlx5_wqe(&wqe, QPN, false, NULL, true, &wr);
	is_wqe(&wqe, n, two_buffers, "two buffers and an empty one");

	for (i = 0; i < EXP_MLX5_MAX_SGE; i++)
		sges[i] = (struct ibv_sge) { i, 1, i };
	init_wr(&wr, CS, 5, &sge);
	wr.num_sge = EXP_MLX5_MAX_SGE;
	wr.sg_list = sges;
	memset(&wqe, 0x5a, sizeof(wqe));
	n = exp_mlx5_wqe(&wqe, QPN, true, NULL, true, &wr);
	is_int(n, 1008, "the largest");
	is_int(wqe.bytes[7], 63, "the largest: its units");
	is_int(wqe.bytes[1007], EXP_MLX5_MAX_SGE - 1, "the largest: its end");
	is_int(wqe.bytes[1008], 0x5a, "the largest: nothing after it");
}

static void test_xrc(void)
{
	static const char *const want[] = {
		"09000015 abcdef05 00 0000 08 00000000",
		"00123456 00000000 00000000 00000000" RADDR,
		"1011121314151617 3031323334353637" DATA("08"), NULL
	};
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	union wqe wqe;
	size_t n;

	init_wr(&wr, FA, 3, &sge);
	wr.qp_type.xrc.remote_srqn = 0x123456;
	n = exp_mlx5_wqe(&wqe, QPN, true, NULL, true, &wr);
	is_wqe(&wqe, n, want, "XRC initiator");
}

static void test_dc(void)
{
	static const char *const want[] = {
		"09000015 abcdef07 00 0000 08 00000000",
		"fedcba9876543210 80123456 a1 a2 a3a4",
		"00000000 b1b2b3b4b5b6 b7 b8 a5a6a7a8",
		"000102030405060708090a0b0c0d0e0f" RADDR,
		"1011121314151617 3031323334353637" DATA("08"), NULL
	};
	/* As libmlx5 has it in an address handle. */
	struct mlx5_wqe_av av = {
		.dqp_dct = htobe32(0xffffff),
		.stat_rate_sl = 0xa1,
		.fl_mlid = 0xa2,
		.rlid = htobe16(0xa3a4),
		.rmac = { 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6 },
		.tclass = 0xb7,
		.hop_limit = 0xb8,
		.grh_gid_fl = htobe32(0xa5a6a7a8),
	};
	struct ibv_sge sge, sges[EXP_MLX5_MAX_SGE_DC];
	struct ibv_exp_send_wr wr;
	union wqe wqe;
	uint8_t i;
	size_t n;

	for (i = 0; i < sizeof(av.rgid); i++)
		av.rgid[i] = i;
	init_wr(&wr, FA, 3, &sge);
	wr.dc.dct_number = 0x123456;
	wr.dc.dct_access_key = 0xfedcba9876543210;
	n = exp_mlx5_wqe(&wqe, QPN, false, &av, true, &wr);
	is_wqe(&wqe, n, want, "DC initiator");
	ok(av.dqp_dct == htobe32(0xffffff) && !av.key.dc_key,
	   "the address handle is not changed");

	for (i = 0; i < EXP_MLX5_MAX_SGE_DC; i++)
		sges[i] = (struct ibv_sge) { i, 1, i };
	init_wr(&wr, CS, 5, &sge);
	wr.num_sge = EXP_MLX5_MAX_SGE_DC;
	wr.sg_list = sges;
	is_int(exp_mlx5_wqe(&wqe, QPN, false, &av, true, &wr), 1008,
	       "the largest of a DC initiator");
}

int main(void)
{
	plan(0);
	test_rows();
	test_unaligned();
	test_sges();
	test_xrc();
	test_dc();
	return done_testing();
}
