// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves masked_atomic.h against a bit-serial reference, for words of 4, 8, 16
 * and 32 bytes.
 *
 *	t_masked_atomic [seed]
 *
 * The reference is the pseudo-code by which masked atomics were published, with
 * its fetch-and-add corrected: the sum is written to memory, and the requester
 * gets the old value.
 */
#include "tap.h"
#include "masked_atomic.h"
#include "random.h"

#define DEFAULT_SEED 0x6d78655f61746f6dULL
#define RANDOM_CASES 250000	/* for each size and operation */

/* A word of any size. w[0] is the least significant part. */
struct word {
	uint64_t w[4];
};

struct cas {
	struct word old, compare, compare_mask, swap, swap_mask;
};

struct fadd {
	struct word old, add, boundary;
};

static const unsigned int sizes[] = { 32, 64, 128, 256 };

#define for_each_size(bits) \
	for (unsigned int i_ = 0, bits; \
	     i_ < ARRAY_SIZE(sizes) && (bits = sizes[i_], true); \
	     i_++)

/* ---- words ------------------------------------------------------------- */

static bool bit(const struct word *a, unsigned int i)
{
	return a->w[i / 64] >> (i % 64) & 1;
}

static void set_bit(struct word *a, unsigned int i)
{
	a->w[i / 64] |= 1ULL << (i % 64);
}

static struct word trim(struct word a, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (bits <= 64 * i)
			a.w[i] = 0;
		else if (bits < 64 * (i + 1))
			a.w[i] &= (1ULL << (bits % 64)) - 1;
	}
	return a;
}

static struct word one_bit(unsigned int i)
{
	struct word a = {};

	set_bit(&a, i);
	return a;
}

static struct word repeat(uint64_t pattern, unsigned int bits)
{
	struct word a = { { pattern, pattern, pattern, pattern } };

	return trim(a, bits);
}

static struct word ones(unsigned int bits)
{
	return repeat(~0ULL, bits);
}

/* The most significant bit of each field of `width` bits. */
static struct word borders(unsigned int width, unsigned int bits)
{
	struct word a = {};
	unsigned int i;

	for (i = width; i <= bits; i += width)
		set_bit(&a, i - 1);
	return a;
}

static bool same(const struct word *a, const struct word *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void show(const char *name, const struct word *a, unsigned int bits)
{
	char text[65] = "";
	unsigned int n = 0;
	int i;

	for (i = bits / 4 - 1; i >= 0; i--)
		text[n++] = "0123456789abcdef"[a->w[i / 16] >> (i % 16 * 4) & 15];
	diag("  %-12s 0x%s", name, text);
}

/* ---- reference --------------------------------------------------------- */

static bool bit_adder(bool ci, bool b1, bool b2, bool *co)
{
	unsigned int value = ci + b1 + b2;

	*co = value & 2;
	return value & 1;
}

static struct word ref_fetch_add(const struct fadd *c, unsigned int bits)
{
	struct word sum = {};
	bool carry = false, co;
	unsigned int i;

	for (i = 0; i < bits; i++) {
		if (bit_adder(carry, bit(&c->old, i), bit(&c->add, i), &co))
			set_bit(&sum, i);
		carry = co && !bit(&c->boundary, i);
	}
	return sum;
}

static struct word ref_cmp_swap(const struct cas *c, unsigned int bits)
{
	struct word res = {};
	unsigned int i;

	for (i = 0; i < bits; i++)
		if (bit(&c->compare_mask, i) &&
		    bit(&c->old, i) != bit(&c->compare, i))
			return c->old;
	for (i = 0; i < bits; i++)
		if (bit(&c->swap_mask, i) ? bit(&c->swap, i) : bit(&c->old, i))
			set_bit(&res, i);
	return res;
}

/* ---- the functions under test, by size --------------------------------- */

static struct masked_u128 u128(const struct word *a)
{
	return (struct masked_u128){ { a->w[0], a->w[1] } };
}

static struct masked_u256 u256(const struct word *a)
{
	return (struct masked_u256){ { a->w[0], a->w[1], a->w[2], a->w[3] } };
}

static struct word fetch_add_128(const struct fadd *c)
{
	struct masked_u128 old = u128(&c->old), add = u128(&c->add);
	struct masked_u128 boundary = u128(&c->boundary);
	struct masked_u128 r = masked_fetch_add_u128(&old, &add, &boundary);

	return (struct word){ { r.w[0], r.w[1] } };
}

static struct word fetch_add_256(const struct fadd *c)
{
	struct masked_u256 old = u256(&c->old), add = u256(&c->add);
	struct masked_u256 boundary = u256(&c->boundary);
	struct masked_u256 r = masked_fetch_add_u256(&old, &add, &boundary);

	return (struct word){ { r.w[0], r.w[1], r.w[2], r.w[3] } };
}

static struct word fetch_add(const struct fadd *c, unsigned int bits)
{
	switch (bits) {
	case 32:
		return (struct word){ { masked_fetch_add_u32(
			c->old.w[0], c->add.w[0], c->boundary.w[0]) } };
	case 64:
		return (struct word){ { masked_fetch_add_u64(
			c->old.w[0], c->add.w[0], c->boundary.w[0]) } };
	case 128:
		return fetch_add_128(c);
	default:
		return fetch_add_256(c);
	}
}

static struct word cmp_swap_128(const struct cas *c)
{
	struct masked_u128 old = u128(&c->old), compare = u128(&c->compare);
	struct masked_u128 compare_mask = u128(&c->compare_mask);
	struct masked_u128 swap = u128(&c->swap);
	struct masked_u128 swap_mask = u128(&c->swap_mask);
	struct masked_u128 r;

	r = masked_cmp_swap_u128(&old, &compare, &compare_mask, &swap,
				 &swap_mask);
	return (struct word){ { r.w[0], r.w[1] } };
}

static struct word cmp_swap_256(const struct cas *c)
{
	struct masked_u256 old = u256(&c->old), compare = u256(&c->compare);
	struct masked_u256 compare_mask = u256(&c->compare_mask);
	struct masked_u256 swap = u256(&c->swap);
	struct masked_u256 swap_mask = u256(&c->swap_mask);
	struct masked_u256 r;

	r = masked_cmp_swap_u256(&old, &compare, &compare_mask, &swap,
				 &swap_mask);
	return (struct word){ { r.w[0], r.w[1], r.w[2], r.w[3] } };
}

static struct word cmp_swap(const struct cas *c, unsigned int bits)
{
	switch (bits) {
	case 32:
		return (struct word){ { masked_cmp_swap_u32(
			c->old.w[0], c->compare.w[0], c->compare_mask.w[0],
			c->swap.w[0], c->swap_mask.w[0]) } };
	case 64:
		return (struct word){ { masked_cmp_swap_u64(
			c->old.w[0], c->compare.w[0], c->compare_mask.w[0],
			c->swap.w[0], c->swap_mask.w[0]) } };
	case 128:
		return cmp_swap_128(c);
	default:
		return cmp_swap_256(c);
	}
}

/* ---- comparing the two ------------------------------------------------- */

static bool agree_fadd(const struct fadd *c, unsigned int bits)
{
	struct word got = fetch_add(c, bits), want = ref_fetch_add(c, bits);

	if (same(&got, &want))
		return true;
	diag("masked fetch-and-add of %u bits is wrong:", bits);
	show("old", &c->old, bits);
	show("add", &c->add, bits);
	show("boundary", &c->boundary, bits);
	show("got", &got, bits);
	show("expected", &want, bits);
	return false;
}

static bool agree_cas(const struct cas *c, unsigned int bits)
{
	struct word got = cmp_swap(c, bits), want = ref_cmp_swap(c, bits);

	if (same(&got, &want))
		return true;
	diag("masked compare-and-swap of %u bits is wrong:", bits);
	show("old", &c->old, bits);
	show("compare", &c->compare, bits);
	show("compare_mask", &c->compare_mask, bits);
	show("swap", &c->swap, bits);
	show("swap_mask", &c->swap_mask, bits);
	show("got", &got, bits);
	show("expected", &want, bits);
	return false;
}

/* ---- known answers ----------------------------------------------------- */

static void test_known_answers(void)
{
	/*
	 * Two counters of 32 bits: the lower one wraps, and the upper one is
	 * incremented.
	 */
	is_u64(masked_fetch_add_u64(0x00000001ffffffffULL, 0x0000000100000001ULL,
				    0x0000000080000000ULL),
	       0x0000000200000000ULL, "two counters of 32 bits");
	/* Eight bytes, each added without touching its neighbour. */
	is_u64(masked_fetch_add_u64(0xff00ff00ff00ff01ULL, 0x0102030405060708ULL,
				    0x8080808080808080ULL),
	       0x0002020404060609ULL, "eight counters of 8 bits");
	/* Negative addends: two's complement within a field. */
	is_u64(masked_fetch_add_u32(0x00050005, 0xffff0001, 0x00008000),
	       0x00040006, "minus one in the upper half of 32 bits");
	/* Take a lock in bit 0 beside a version in the upper half. */
	is_u64(masked_cmp_swap_u64(0x1234567800000000ULL, 0, 1, 1, 1),
	       0x1234567800000001ULL, "set bit 0 if it is clear");
	is_u64(masked_cmp_swap_u64(0x1234567800000001ULL, 0, 1, ~0ULL, ~0ULL),
	       0x1234567800000001ULL, "leave the word if bit 0 is set");
	is_u64(masked_cmp_swap_u32(0xaabbccdd, 0xffbbffff, 0x00ff0000,
				   0x11223344, 0xff0000ff),
	       0x11bbcc44, "compare one byte, swap two others");
}

/* ---- rows of boundaries ------------------------------------------------ */

#define MAX_ROWS 288

static unsigned int boundary_rows(struct word *rows, unsigned int bits)
{
	unsigned int n = 0, i;

	rows[n++] = repeat(0, bits);
	rows[n++] = ones(bits);
	rows[n++] = repeat(0x5555555555555555ULL, bits);
	rows[n++] = repeat(0xaaaaaaaaaaaaaaaaULL, bits);
	for (i = 2; i <= bits; i++)	/* 2, 4, 8, ... and odd widths */
		if (!(i & (i - 1)) || i == 3 || i == 7 || i == 24 || i == 31)
			rows[n++] = borders(i, bits);
	for (i = 0; i < bits; i++)
		rows[n++] = one_bit(i);
	return n;
}

static unsigned int value_rows(struct word *rows, unsigned int bits)
{
	unsigned int n = 0;

	rows[n++] = repeat(0, bits);
	rows[n++] = one_bit(0);
	rows[n++] = one_bit(bits - 1);
	rows[n++] = ones(bits);
	rows[n++] = ones(bits - 1);
	rows[n++] = ones(bits / 2);
	rows[n++] = repeat(0x5555555555555555ULL, bits);
	rows[n++] = repeat(0xaaaaaaaaaaaaaaaaULL, bits);
	rows[n++] = repeat(0x0123456789abcdefULL, bits);
	rows[n++] = repeat(0xff00ff00ff00ff00ULL, bits);
	return n;
}

static bool rows_fadd(unsigned int bits)
{
	struct word boundaries[MAX_ROWS], values[MAX_ROWS];
	unsigned int n = boundary_rows(boundaries, bits);
	unsigned int m = value_rows(values, bits);
	unsigned int i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j < m; j++)
			for (k = 0; k < m; k++) {
				struct fadd c = { values[j], values[k],
						  boundaries[i] };

				if (!agree_fadd(&c, bits))
					return false;
			}
	return true;
}

static bool rows_cas(unsigned int bits)
{
	struct word masks[MAX_ROWS], values[MAX_ROWS];
	unsigned int n = boundary_rows(masks, bits);
	unsigned int m = value_rows(values, bits);
	unsigned int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < m * m * m; j++) {
			struct cas c = {
				.old = values[j % m],
				.compare = values[j / m % m],
				.swap = values[j / m / m],
				.compare_mask = masks[i],
				.swap_mask = masks[(i + j) % n],
			};

			if (!agree_cas(&c, bits))
				return false;
		}
	return true;
}

/*
 * Builds a window of five bits. The tests try every old value, addend and
 * boundary in a window at each end of the word and across each border between
 * its parts.
 */
static struct word window(unsigned int value, unsigned int at)
{
	struct word a = {};
	unsigned int i;

	for (i = 0; i < 5; i++)
		if (value >> i & 1)
			set_bit(&a, at + i);
	return a;
}

static bool window_fadd(unsigned int at, unsigned int bits)
{
	unsigned int v;

	for (v = 0; v < 1 << 15; v++) {
		struct fadd c = { window(v & 31, at), window(v >> 5 & 31, at),
				  window(v >> 10, at) };

		if (!agree_fadd(&c, bits))
			return false;
	}
	return true;
}

static bool windows_fadd(unsigned int bits)
{
	unsigned int at;

	for (at = 61; at + 5 < bits; at += 64)
		if (!window_fadd(at, bits))
			return false;
	return window_fadd(0, bits) && window_fadd(bits - 5, bits);
}

/* ---- random cases ------------------------------------------------------ */

static uint64_t seed;

static uint64_t rng(void)
{
	return random_next(&seed);
}

/* Uniform, sparse, dense, or long runs, so that carries travel far. */
static struct word random_word(unsigned int bits)
{
	unsigned int kind = rng() % 6;
	struct word a;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		a.w[i] = rng();
		if (kind == 1)
			a.w[i] &= rng() & rng() & rng();
		else if (kind == 2)
			a.w[i] |= rng() | rng() | rng();
		else if (kind == 3)
			a.w[i] = rng() & 1 ? ~0ULL : 0;
		else if (kind == 4)
			a.w[i] = ~0ULL << rng() % 64;
	}
	return trim(a, bits);
}

static bool random_fadd(unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < RANDOM_CASES; i++) {
		struct fadd c = { random_word(bits), random_word(bits),
				  random_word(bits) };

		if (!agree_fadd(&c, bits))
			return false;
	}
	return true;
}

static bool random_cas(unsigned int bits)
{
	unsigned int i, j;

	for (i = 0; i < RANDOM_CASES; i++) {
		struct cas c = { random_word(bits), random_word(bits),
				 random_word(bits), random_word(bits),
				 random_word(bits) };

		/*
		 * Half of the comparisons match, and a quarter differ in at
		 * most one bit.
		 */
		for (j = 0; i % 4 && j < 4; j++)
			c.compare.w[j] = c.old.w[j] ^
				(c.compare.w[j] & ~c.compare_mask.w[j]);
		if (i % 4 == 1) {
			j = rng() % bits;
			c.compare.w[j / 64] ^= 1ULL << (j % 64);
		}
		if (!agree_cas(&c, bits))
			return false;
	}
	return true;
}

/* ---- identities -------------------------------------------------------- */

enum identity {
	ID_AND, ID_OR, ID_XOR, ID_SWAP, ID_PLAIN_ADD, ID_PLAIN_CAS, ID_TOP_BIT,
	ID_INVERSE, ID_SWAP_NOTHING, ID_COUNT
};

static const char *const identity_names[ID_COUNT] = {
	"and: no comparison, swap 0 under the complement",
	"or: no comparison, swap all ones under the operand",
	"exclusive or: every bit is a boundary",
	"swap: no comparison, full swap mask",
	"plain add: no boundary",
	"plain compare-and-swap: full masks",
	"a boundary at the top bit changes nothing",
	"adding the sum of the field complements and ones undoes an add",
	"an empty swap mask changes nothing",
};

static struct word word_add(struct word a, const struct word *b,
			    unsigned int bits)
{
	unsigned __int128 sum = 0;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		sum += (unsigned __int128)a.w[i] + b->w[i];
		a.w[i] = (uint64_t)sum;
		sum >>= 64;
	}
	return trim(a, bits);
}

/* The 1 of each field: bit 0 and the bit above each boundary. */
static struct word field_ones(const struct word *boundary, unsigned int bits)
{
	struct word a = one_bit(0);
	unsigned int i;

	for (i = 0; i + 1 < bits; i++)
		if (bit(boundary, i))
			set_bit(&a, i + 1);
	return a;
}

static bool identity(enum identity id, unsigned int bits)
{
	struct word a = random_word(bits), b = random_word(bits);
	struct word m = random_word(bits), all = ones(bits), want = a, got;
	struct cas cas = { .old = a, .compare = b, .swap = b };
	struct fadd add = { .old = a, .add = b, .boundary = m };
	unsigned int i;

	switch (id) {
	case ID_AND:
		memset(&cas.swap, 0, sizeof(cas.swap));
		for (i = 0; i < 4; i++) {
			cas.swap_mask.w[i] = ~b.w[i];
			want.w[i] = a.w[i] & b.w[i];
		}
		cas.swap_mask = trim(cas.swap_mask, bits);
		got = cmp_swap(&cas, bits);
		break;
	case ID_OR:
		cas.swap = all;
		cas.swap_mask = b;
		for (i = 0; i < 4; i++)
			want.w[i] = a.w[i] | b.w[i];
		got = cmp_swap(&cas, bits);
		break;
	case ID_XOR:
		add.boundary = all;
		for (i = 0; i < 4; i++)
			want.w[i] = a.w[i] ^ b.w[i];
		got = fetch_add(&add, bits);
		break;
	case ID_SWAP:
		cas.swap_mask = all;
		want = b;
		got = cmp_swap(&cas, bits);
		break;
	case ID_PLAIN_ADD:
		memset(&add.boundary, 0, sizeof(add.boundary));
		want = word_add(a, &b, bits);
		got = fetch_add(&add, bits);
		break;
	case ID_PLAIN_CAS:
		cas.compare_mask = all;
		cas.swap_mask = all;
		cas.swap = m;
		if (rng() & 1)
			cas.compare = a;
		want = same(&a, &cas.compare) ? m : a;
		got = cmp_swap(&cas, bits);
		break;
	case ID_TOP_BIT:
		want = fetch_add(&add, bits);
		add.boundary.w[(bits - 1) / 64] ^= 1ULL << ((bits - 1) % 64);
		got = fetch_add(&add, bits);
		break;
	case ID_INVERSE:
		/* old + b + ~b + 1 == old, in each field */
		add.old = fetch_add(&add, bits);
		for (i = 0; i < 4; i++)
			add.add.w[i] = ~b.w[i];
		add.add = trim(add.add, bits);
		add.old = fetch_add(&add, bits);
		add.add = field_ones(&m, bits);
		got = fetch_add(&add, bits);
		break;
	default:
		if (rng() & 1)
			cas.compare = a;
		cas.compare_mask = m;
		got = cmp_swap(&cas, bits);
		break;
	}
	if (same(&got, &want))
		return true;
	show("old", &a, bits);
	show("operand", &b, bits);
	show("mask", &m, bits);
	show("got", &got, bits);
	show("expected", &want, bits);
	return false;
}

static void test_identities(void)
{
	unsigned int id, i;

	for (id = 0; id < ID_COUNT; id++) {
		bool good = true;

		for_each_size(bits)
			for (i = 0; good && i < 2000; i++)
				good = identity(id, bits);
		ok(good, "%s", identity_names[id]);
	}
}

/* ---- predicates -------------------------------------------------------- */

/*
 * Returns true if the operation equals the plain one for every value. One pair
 * of operands for each bit is enough, because a mask that differs from the
 * plain one in a bit (except for the top one of a boundary) changes the result
 * for the operands of that bit.
 */
static bool fadd_means_plain(uint64_t boundary, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits; i++) {
		struct fadd c = { one_bit(i), one_bit(i), { { boundary } } };
		struct word got = fetch_add(&c, bits);
		struct word want = word_add(c.old, &c.add, bits);

		if (!same(&got, &want))
			return false;
	}
	return true;
}

static bool cas_means_plain(uint64_t compare_mask, uint64_t swap_mask,
			    unsigned int bits)
{
	struct cas c = { .compare_mask = { { compare_mask } },
			 .swap_mask = { { swap_mask } } };
	unsigned int i;

	for (i = 0; i < bits; i++) {
		struct word got;

		/* One bit differs, so the plain operation stores nothing. */
		c.compare = one_bit(i);
		c.swap = ones(bits);
		got = cmp_swap(&c, bits);
		if (!same(&got, &c.old))
			return false;
		/* No bit differs, so it stores every bit. */
		c.compare = c.old;
		c.swap = one_bit(i);
		got = cmp_swap(&c, bits);
		if (!same(&got, &c.swap))
			return false;
	}
	return true;
}

static bool fadd_predicate(uint64_t boundary, unsigned int bits)
{
	bool is = bits == 32 ? masked_fetch_add_is_plain_u32(boundary) :
			       masked_fetch_add_is_plain_u64(boundary);

	if (is == fadd_means_plain(boundary, bits))
		return true;
	diag("boundary 0x%" PRIx64 " of %u bits: plain is %d", boundary, bits,
	     is);
	return false;
}

static bool cas_predicate(uint64_t compare_mask, uint64_t swap_mask,
			  unsigned int bits)
{
	bool is = bits == 32 ?
		masked_cmp_swap_is_plain_u32(compare_mask, swap_mask) :
		masked_cmp_swap_is_plain_u64(compare_mask, swap_mask);

	if (is == cas_means_plain(compare_mask, swap_mask, bits))
		return true;
	diag("masks 0x%" PRIx64 ", 0x%" PRIx64 " of %u bits: plain is %d",
	     compare_mask, swap_mask, bits, is);
	return false;
}

/*
 * All masks with at most two bits set, or at most two clear, and random ones.
 */
static bool predicates_fadd(unsigned int bits)
{
	uint64_t all = ones(bits).w[0];
	unsigned int i, j;

	if (!fadd_predicate(0, bits) || !fadd_predicate(all, bits))
		return false;
	for (i = 0; i < bits; i++)
		for (j = 0; j < bits; j++) {
			uint64_t two = 1ULL << i | 1ULL << j;

			if (!fadd_predicate(two, bits) ||
			    !fadd_predicate(all ^ two, bits) ||
			    !fadd_predicate(random_word(bits).w[0], bits))
				return false;
		}
	return true;
}

static bool predicates_cas(unsigned int bits)
{
	uint64_t all = ones(bits).w[0];
	unsigned int i, j;

	if (!cas_predicate(all, all, bits) || !cas_predicate(all, 0, bits) ||
	    !cas_predicate(0, all, bits) || !cas_predicate(0, 0, bits))
		return false;
	for (i = 0; i < bits; i++)
		for (j = 0; j < bits; j++) {
			uint64_t a = 1ULL << i, b = 1ULL << j;

			if (!cas_predicate(all ^ a, all, bits) ||
			    !cas_predicate(all, all ^ b, bits) ||
			    !cas_predicate(all ^ a, all ^ b, bits) ||
			    !cas_predicate(a, b, bits) ||
			    !cas_predicate(random_word(bits).w[0],
					   random_word(bits).w[0], bits))
				return false;
		}
	return true;
}

int main(int argc, char **argv)
{
	plan(6 + 4 * 5 + ID_COUNT + 4);
	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : DEFAULT_SEED;
	diag("seed 0x%" PRIx64, seed);

	test_known_answers();
	for_each_size(bits) {
		ok(rows_fadd(bits), "%u bits: add, rows of boundaries", bits);
		ok(windows_fadd(bits), "%u bits: add, every five bits", bits);
		ok(random_fadd(bits), "%u bits: add, %d random cases", bits,
		   RANDOM_CASES);
		ok(rows_cas(bits), "%u bits: swap, rows of masks", bits);
		ok(random_cas(bits), "%u bits: swap, %d random cases", bits,
		   RANDOM_CASES);
	}
	test_identities();
	for (unsigned int bits = 32; bits <= 64; bits += 32) {
		ok(predicates_fadd(bits), "%u bits: detects plain adds", bits);
		ok(predicates_cas(bits), "%u bits: detects plain swaps", bits);
	}
	return done_testing();
}
