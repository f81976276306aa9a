// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FI_DIFF, and the floating-point formats of 8 and 16 bits: their values,
 * rounding, and all operations, compared with a model. Runs with libfabric 1,
 * too, which has neither.
 */
#include "atomic_plan.h"
#include "fi_float.h"
#include "random.h"
#include "small_float.h"
#include "tap.h"

#define PAIRS_OF_16 200000	/* random ones of each operation */

static const struct {
	const struct mxefi_float *format;
	unsigned int type;	/* enum fi_datatype */
	double largest, least_normal;
} formats[FLOATS] = {
	[FLOAT16] = { &mxefi_float16, FI_FLOAT16, 65504, 0x1p-14 },
	[BFLOAT16] = {
		&mxefi_bfloat16, FI_BFLOAT16, 0x1.fep127, 0x1p-126,
	},
	[E4M3] = { &mxefi_float8_e4m3, FI_FLOAT8_E4M3, 448, 0x1p-6 },
	[E5M2] = { &mxefi_float8_e5m2, FI_FLOAT8_E5M2, 57344, 0x1p-14 },
};

static uint64_t seed = 16;

static bool same_value(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

/* ---- conversions ------------------------------------------------------- */

static double load(int i, unsigned int bits)
{
	uint8_t p[2];

	fi_float_put(&fi_floats[i], p, bits);
	return mxefi_float_load(formats[i].format, p);
}

static unsigned int store(int i, double value)
{
	uint8_t p[2];

	mxefi_float_store(formats[i].format, p, value);
	return fi_float_get(&fi_floats[i], p);
}

static void test_values(int i)
{
	const struct fi_float *f = &fi_floats[i];
	unsigned int good = 0, back = 0, nans = 0;

	for (unsigned int bits = 0; bits < 2 * f->sign; bits++) {
		double value = load(i, bits);

		good += same_value(value, fi_float_value(f, bits));
		if (isnan(value)) {
			nans++;
			back += fi_float_is_nan(f, store(i, value));
		} else {
			back += store(i, value) == bits;
		}
	}
	is_u64(good, 2 * f->sign, "%s: all elements have their values",
	       f->name);
	is_u64(back, 2 * f->sign, "... and come back");
	is_u64(nans, f->finite ? 2 : 2 * (f->step - 1), "... %u are NaN", nans);
	ok(f->values[f->last - 1] == formats[i].largest &&
	   f->values[f->step] == formats[i].least_normal,
	   "... the largest is %g, the least normal one %g",
	   formats[i].largest, formats[i].least_normal);
}

/* Checks what a number and its opposite are rounded to. */
static bool rounds_to(int i, double value, unsigned int code)
{
	return store(i, value) == code &&
	       store(i, -value) == (code | fi_floats[i].sign);
}

/* Numbers in the middle between two elements, and just beside it. */
static void test_rounding(int i)
{
	const struct fi_float *f = &fi_floats[i];
	unsigned int good = 0;

	for (unsigned int code = 0; code < f->last; code++) {
		double low = f->values[code], high = f->values[code + 1];
		double half = low + (high - low) / 2;

		good += rounds_to(i, half, code + code % 2) &&
			rounds_to(i, nextafter(half, low), code) &&
			rounds_to(i, nextafter(half, high), code + 1) &&
			rounds_to(i, nextafter(high, low), code + 1);
	}
	is_u64(good, f->last, "%s: all numbers are rounded to nearest, to even",
	       f->name);
	ok(rounds_to(i, INFINITY, f->last) && rounds_to(i, 0x1p1000, f->last) &&
	   rounds_to(i, 0x1p-1000, 0),
	   "... infinite, huge and tiny ones, too");
}

/* ---- operations -------------------------------------------------------- */

static const char *const op_names[] = {
	[FI_MIN] = "FI_MIN", [FI_MAX] = "FI_MAX", [FI_SUM] = "FI_SUM",
	[FI_DIFF] = "FI_DIFF", [FI_PROD] = "FI_PROD", [FI_LOR] = "FI_LOR",
	[FI_LAND] = "FI_LAND", [FI_LXOR] = "FI_LXOR",
	[FI_ATOMIC_READ] = "FI_ATOMIC_READ",
	[FI_ATOMIC_WRITE] = "FI_ATOMIC_WRITE", [FI_CSWAP] = "FI_CSWAP",
	[FI_CSWAP_NE] = "FI_CSWAP_NE", [FI_CSWAP_LE] = "FI_CSWAP_LE",
	[FI_CSWAP_LT] = "FI_CSWAP_LT", [FI_CSWAP_GE] = "FI_CSWAP_GE",
	[FI_CSWAP_GT] = "FI_CSWAP_GT",
};

/*
 * What fi_atomic(3) says, of the operand s, the compare operand c and the old
 * value o. A long double has more bits than the double of the provider on most
 * machines.
 */
static unsigned int model(const struct fi_float *f, unsigned int op,
			  unsigned int s, unsigned int c, unsigned int o)
{
	long double vs = fi_float_value(f, s), vc = fi_float_value(f, c);
	long double vo = fi_float_value(f, o);

	switch (op) {
	case FI_MIN:
		return vs < vo ? s : o;
	case FI_MAX:
		return vs > vo ? s : o;
	case FI_SUM:
		return fi_float_nearest(f, vo + vs);
	case FI_DIFF:
		return fi_float_nearest(f, vo - vs);
	case FI_PROD:
		return fi_float_nearest(f, vo * vs);
	case FI_LOR:
		return fi_float_nearest(f, vo || vs);
	case FI_LAND:
		return fi_float_nearest(f, vo && vs);
	case FI_LXOR:
		return fi_float_nearest(f, !vo != !vs);
	case FI_ATOMIC_WRITE:
		return s;
	case FI_CSWAP:
		return c == o ? s : o;
	case FI_CSWAP_NE:
		return vc != vo ? s : o;
	case FI_CSWAP_LE:
		return vc <= vo ? s : o;
	case FI_CSWAP_LT:
		return vc < vo ? s : o;
	case FI_CSWAP_GE:
		return vc >= vo ? s : o;
	case FI_CSWAP_GT:
		return vc > vo ? s : o;
	default:
		return o;
	}
}

static bool one(int i, unsigned int op, unsigned int s, unsigned int c,
		unsigned int o)
{
	const struct fi_float *f = &fi_floats[i];
	unsigned int want = model(f, op, s, c, o), got;
	bool computes = op == FI_SUM || op == FI_DIFF || op == FI_PROD;
	uint8_t src[2], cmp[2], old[2], value[2];

	fi_float_put(f, src, s);
	fi_float_put(f, cmp, c);
	fi_float_put(f, old, o);
	mxefi_op_apply(op, formats[i].type, src, cmp, old, value);
	got = fi_float_get(f, value);
	/* A result that is not a number is any NaN. */
	if (got == want || (computes && fi_float_is_nan(f, got) &&
			    fi_float_is_nan(f, want)))
		return true;
	diag("%s of %#x, %#x, %#x is %#x, not %#x", op_names[op], s, c, o, got,
	     want);
	return false;
}

/* Elements at the bounds, and what lies between them. */
static unsigned int random_bits(const struct fi_float *f)
{
	const unsigned int bounds[] = {
		0, 1, f->step - 1, f->step, f->last - 1, f->last, f->sign - 1,
		fi_float_nearest(f, 1),
	};
	uint64_t r = random_next(&seed);
	unsigned int bits = (unsigned int)(r >> 32) & (2 * f->sign - 1);

	if (r % 4)
		return bits;
	return bounds[r / 4 % ARRAY_SIZE(bounds)] | (bits & f->sign);
}

/* Every pair of an operand, or a compare operand, and an old value. */
static bool all_pairs(int i, unsigned int op)
{
	bool good = true, compares = op >= FI_CSWAP && op <= FI_CSWAP_GT;

	for (unsigned int a = 0; good && a < 256; a++) {
		for (unsigned int o = 0; good && o < 256; o++) {
			unsigned int b = random_bits(&fi_floats[i]);

			good = compares ? one(i, op, b, a, o) :
					  one(i, op, a, b, o);
		}
	}
	return good;
}

static bool random_pairs(int i, unsigned int op)
{
	const struct fi_float *f = &fi_floats[i];
	bool good = true;

	for (int n = 0; good && n < PAIRS_OF_16; n++) {
		unsigned int o = random_bits(f);
		/* Often near each other, so that differences are small. */
		unsigned int near = (o ^ (n & 3)) & 0xffff;

		good = one(i, op, n & 4 ? near : random_bits(f),
			   n & 8 ? near : random_bits(f), o);
	}
	return good;
}

static void test_ops(int i)
{
	const struct fi_float *f = &fi_floats[i];

	for (unsigned int op = 0; op < ARRAY_SIZE(op_names); op++) {
		if (!op_names[op])
			continue;
		if (f->sign == 0x80)
			ok(all_pairs(i, op), "%s: %s of all pairs", f->name,
			   op_names[op]);
		else
			ok(random_pairs(i, op), "%s: %s of random pairs",
			   f->name, op_names[op]);
	}
}

/* Known results: ties, overflow, signs of zero, NaN, infinity. */
static void test_known(void)
{
	static const struct {
		int i;
		unsigned int op, s, o, want;
		const char *name;
	} rows[] = {
		{ E4M3, FI_SUM, 0x58, 0x7e, 0x7e, "448 + 16 is a tie: 448" },
		{ E4M3, FI_SUM, 0x59, 0x7e, 0x7f, "448 + 18 is NaN" },
		{ E4M3, FI_DIFF, 0x7e, 0xfe, 0xff, "-448 - 448 is NaN" },
		{ E5M2, FI_SUM, 0x6c, 0x7b, 0x7c, "57344 + 4096 is infinite" },
		{ E5M2, FI_SUM, 0x6b, 0x7b, 0x7b, "57344 + 3584 is 57344" },
		{ FLOAT16, FI_SUM, 0x4c00, 0x7bff, 0x7c00,
		  "65504 + 16 is infinite" },
		{ FLOAT16, FI_PROD, 0x0001, 0x3800, 0, "2^-24 * 0.5 is 0" },
		{ FLOAT16, FI_PROD, 0x8001, 0x3800, 0x8000,
		  "-2^-24 * 0.5 is -0" },
		{ FLOAT16, FI_MIN, 0x8000, 0, 0, "-0 is not less than 0" },
		{ FLOAT16, FI_MAX, 0x3c00, 0x7e01, 0x7e01, "a NaN stays" },
		{ BFLOAT16, FI_DIFF, 0x3f80, 0x3f80, 0, "1 - 1 is 0" },
		{ BFLOAT16, FI_SUM, 0x3b80, 0x3f80, 0x3f80,
		  "1 + 2^-8 is a tie: 1" },
		{ BFLOAT16, FI_LXOR, 0x8000, 0x7fc0, 0x3f80,
		  "-0 is false, NaN is true" },
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++) {
		const struct fi_float *f = &fi_floats[rows[n].i];
		uint8_t src[2], old[2], value[2];

		fi_float_put(f, src, rows[n].s);
		fi_float_put(f, old, rows[n].o);
		mxefi_op_apply(rows[n].op, formats[rows[n].i].type, src, NULL,
			       old, value);
		is_u64(fi_float_get(f, value), rows[n].want, "%s: %s", f->name,
		       rows[n].name);
	}
}

/* ---- FI_DIFF of integers ----------------------------------------------- */

/* One fetch-and-add: each element of the word is a field of its own. */
static void test_diff_plan(void)
{
	uint16_t src[4] = { 1, 0x8000, 0, 0xffff }, add[4], boundary[4];
	uint64_t one = 1, sum;
	float one_f = 1;
	struct mxefi_unit unit;

	is_u64(mxefi_unit_plan(&unit, 0x3f, FI_DIFF, FI_UINT16, 0x1000, 4, src,
			       NULL), 4, "FI_DIFF of four uint16_t is one unit");
	is_int(unit.kind, MXEFI_UNIT_FETCH_ADD, "... a fetch-and-add");
	memcpy(add, unit.swap, sizeof(add));
	memcpy(boundary, unit.swap_mask, sizeof(boundary));
	ok(add[0] == 0xffff && add[1] == 0x8000 && add[2] == 0 && add[3] == 1,
	   "... of the opposites");
	ok(boundary[0] == 0x8000 && boundary[1] == 0x8000 &&
	   boundary[2] == 0x8000 && boundary[3] == 0x8000, "... in four fields");
	mxefi_unit_plan(&unit, 0x3f, FI_DIFF, FI_INT64, 0x1000, 1, &one, NULL);
	memcpy(&sum, unit.swap, sizeof(sum));
	ok(unit.kind == MXEFI_UNIT_FETCH_ADD && sum == UINT64_MAX,
	   "FI_DIFF of int64_t is a fetch-and-add, too");
	mxefi_unit_plan(&unit, 0x3f, FI_DIFF, FI_FLOAT, 0x1000, 1, &one_f, NULL);
	is_int(unit.kind, MXEFI_UNIT_LOOP, "FI_DIFF of float is a loop");
}

int main(void)
{
	plan(0);
	fi_float_init();
	for (int i = 0; i < FLOATS; i++) {
		test_values(i);
		test_rounding(i);
		test_ops(i);
	}
	test_known();
	test_diff_plan();
	return done_testing();
}
