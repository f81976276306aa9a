// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: every operation of fi_atomic(3) with every
 * datatype, compared with a model, on the memory of a process that is stopped;
 * RMA; counters; errors. The two processes are on the hosts of tools/two-hosts
 * and share the target memory, so that this process can check what the target's
 * memory contains.
 *
 * t_fi.sh runs it, also with $MXE_FI_ONE_SIDED for endpoints without messages,
 * and t_fi_rxe.sh with $MXE_FI_EMULATED on a device that emulates masked
 * atomics of 4 and 8 bytes.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <complex.h>
#include "random.h"
#include "fi_end.h"
#include "fi_float.h"

#if FI_MAJOR_VERSION >= 2
#define LIBFABRIC_2 true
#else
/* These are numbers that libfabric 1 does not define, so they are refused. */
#define LIBFABRIC_2 false
#define FI_FLOAT16 (FI_UINT128 + 1)
#define FI_BFLOAT16 (FI_UINT128 + 2)
#define FI_FLOAT8_E4M3 (FI_UINT128 + 3)
#define FI_FLOAT8_E5M2 (FI_UINT128 + 4)
#define FI_DIFF FI_ATOMIC_OP_LAST
#endif

#define MEM_SIZE 65536
#define ATOMIC_SIZE 256		/* bytes that atomics change */
#define READ_ONLY (MEM_SIZE - 4096)	/* offset of a read-only region */
#define EDGE (MEM_SIZE - 8192 + 3)	/* offset of a region of 3 bytes */
#define MAX_COUNT 5
#define ROUNDS 4

enum form { BASE, FETCH, COMPARE, FORMS };

static const char *const form_names[] = { "base", "fetch", "compare" };

/* The address and keys of the target, sent over a pipe. */
struct target {
	uint8_t name[64];
	size_t name_len;
	uint64_t key;
	uint64_t read_key;	/* of the read-only region */
	uint64_t edge_key;	/* of a region of 3 bytes */
};

/* Endpoints with messages do not use DC. */
static uint64_t caps = FI_MSG | FI_RMA | FI_ATOMIC;
static uint8_t *memory;		/* of the target, shared */
static struct end end;
static struct target target;
static fi_addr_t peer;
static uint64_t seed = 26;
static size_t max_size = 32;	/* of datatypes, in bytes */

/* The other process: offers its memory, and does nothing. */
static void run_target(int to, int from)
{
	struct target t = { .name_len = sizeof(t.name) };
	struct end e;
	struct fid_mr *mr, *read_mr, *edge_mr;
	char byte;

	enter("h2");
	open_end(&e, caps);
	must(fi_mr_reg(e.domain, memory, MEM_SIZE,
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	must(fi_mr_reg(e.domain, memory + READ_ONLY, MEM_SIZE - READ_ONLY,
		       FI_REMOTE_READ, 0, 0, 0, &read_mr, NULL), "fi_mr_reg");
	must(fi_mr_reg(e.domain, memory + EDGE, 3, FI_REMOTE_WRITE, 0, 0, 0,
		       &edge_mr, NULL), "fi_mr_reg");
	must(fi_getname(&e.ep->fid, t.name, &t.name_len), "fi_getname");
	t.key = fi_mr_key(mr);
	t.read_key = fi_mr_key(read_mr);
	t.edge_key = fi_mr_key(edge_mr);
	if (write(to, &t, sizeof(t)) != sizeof(t) || read(from, &byte, 1) < 0)
		exit(1);
	must(fi_close(&mr->fid), "fi_close mr");
	must(fi_close(&read_mr->fid), "fi_close mr");
	must(fi_close(&edge_mr->fid), "fi_close mr");
	must(close_end(&e), "fi_close");
	exit(0);
}

/* ---- the model --------------------------------------------------------- */

enum class { INTEGER, UNSIGNED, REAL, COMPLEX };

static const struct type {
	unsigned int type;	/* enum fi_datatype */
	enum class class;
	size_t size;
	size_t value;	/* bytes of a real number that are not padding */
} types[] = {
	{ FI_INT8, INTEGER, 1, 0 }, { FI_UINT8, UNSIGNED, 1, 0 },
	{ FI_INT16, INTEGER, 2, 0 }, { FI_UINT16, UNSIGNED, 2, 0 },
	{ FI_INT32, INTEGER, 4, 0 }, { FI_UINT32, UNSIGNED, 4, 0 },
	{ FI_INT64, INTEGER, 8, 0 }, { FI_UINT64, UNSIGNED, 8, 0 },
	{ FI_FLOAT, REAL, 4, 4 }, { FI_DOUBLE, REAL, 8, 8 },
	{ FI_FLOAT_COMPLEX, COMPLEX, 8, 4 },
	{ FI_DOUBLE_COMPLEX, COMPLEX, 16, 8 },
	{ FI_LONG_DOUBLE, REAL, sizeof(long double), 10 },
	{ FI_LONG_DOUBLE_COMPLEX, COMPLEX, 2 * sizeof(long double), 10 },
	{ FI_INT128, INTEGER, 16, 0 }, { FI_UINT128, UNSIGNED, 16, 0 },
	{ FI_FLOAT16, REAL, 2, 2 }, { FI_BFLOAT16, REAL, 2, 2 },
	{ FI_FLOAT8_E4M3, REAL, 1, 1 }, { FI_FLOAT8_E5M2, REAL, 1, 1 },
};

/* True if libfabric 1 has an operation with a datatype. */
static bool in_libfabric_1(enum fi_op op, const struct type *t)
{
	return op != FI_DIFF && t->type <= FI_UINT128;
}

/* The model of a floating-point format of 8 or 16 bits. */
static const struct fi_float *small_float(const struct type *t)
{
	static const enum fi_float_id ids[] = { FLOAT16, BFLOAT16, E4M3, E5M2 };

	return &fi_floats[ids[t->type - FI_FLOAT16]];
}

/*
 * A number of any type. Reals are small, so that the results of large types are
 * exact.
 */
struct number {
	unsigned __int128 bits;
	long double re, im;
};

static struct number load(const struct type *t, const uint8_t *p)
{
	struct number n = { 0 };
	size_t half = t->class == COMPLEX ? t->size / 2 : t->size;

	if (t->class == INTEGER || t->class == UNSIGNED) {
		memcpy(&n.bits, p, t->size);
		if (t->class == INTEGER && p[t->size - 1] & 0x80 &&
		    t->size < 16)
			n.bits |= ~(unsigned __int128)0 << (8 * t->size);
		return n;
	}
	for (int i = 0; i < (t->class == COMPLEX ? 2 : 1); i++) {
		long double *to = i ? &n.im : &n.re;
		float f;
		double d;

		if (half <= 2) {
			*to = fi_float_value(small_float(t),
					     fi_float_get(small_float(t), p));
		} else if (half == 4) {
			memcpy(&f, p + i * half, 4);
			*to = f;
		} else if (half == 8) {
			memcpy(&d, p + i * half, 8);
			*to = d;
		} else {
			memcpy(to, p + i * half, sizeof(*to));
		}
	}
	return n;
}

static void store(const struct type *t, uint8_t *p, struct number n)
{
	size_t half = t->class == COMPLEX ? t->size / 2 : t->size;

	if (t->class == INTEGER || t->class == UNSIGNED) {
		memcpy(p, &n.bits, t->size);
		return;
	}
	for (int i = 0; i < (t->class == COMPLEX ? 2 : 1); i++) {
		long double from = i ? n.im : n.re;
		float f = (float)from;
		double d = (double)from;

		if (half <= 2)
			fi_float_put(small_float(t), p,
				     fi_float_nearest(small_float(t), from));
		else if (half == 4)
			memcpy(p + i * half, &f, 4);
		else if (half == 8)
			memcpy(p + i * half, &d, 8);
		else
			memcpy(p + i * half, &from, 10);
	}
}

/* Compares elements, but not their padding. */
static bool same(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	size_t half = t->class == COMPLEX ? t->size / 2 : t->size;

	if (!t->value)
		return !memcmp(a, b, t->size);
	return !memcmp(a, b, t->value) &&
	       (t->class == REAL || !memcmp(a + half, b + half, t->value));
}

static bool is_true(const struct number *n)
{
	return n->bits || n->re != 0 || n->im != 0;
}

static bool less(const struct type *t, const struct number *a,
		 const struct number *b)
{
	if (t->class == INTEGER)
		return (__int128)a->bits < (__int128)b->bits;
	return t->class == UNSIGNED ? a->bits < b->bits : a->re < b->re;
}

static bool equal(const struct number *a, const struct number *b)
{
	return a->bits == b->bits && a->re == b->re && a->im == b->im;
}

static struct number truth(const struct type *t, bool value)
{
	struct number n = { 0 };

	if (t->class == INTEGER || t->class == UNSIGNED)
		n.bits = value;
	else
		n.re = value;
	return n;
}

/* Changes the element at @p as the man page says. */
static void model(const struct type *t, enum fi_op op, const uint8_t *src,
		  const uint8_t *cmp, uint8_t *p)
{
	struct number o = load(t, p), s = load(t, src), c = load(t, cmp), r = o;
	bool lt = less(t, &c, &o), gt = less(t, &o, &c), eq = equal(&c, &o);

	switch (op) {
	case FI_MIN:
		r = less(t, &s, &o) ? s : o;
		break;
	case FI_MAX:
		r = less(t, &o, &s) ? s : o;
		break;
	case FI_SUM:
		r.bits = o.bits + s.bits;
		r.re = o.re + s.re;
		r.im = o.im + s.im;
		break;
	case FI_DIFF:
		r.bits = o.bits - s.bits;
		r.re = o.re - s.re;
		r.im = o.im - s.im;
		break;
	case FI_PROD:
		r.bits = o.bits * s.bits;
		r.re = o.re * s.re - o.im * s.im;
		if (t->class == REAL)
			r.re = o.re * s.re;
		r.im = o.re * s.im + o.im * s.re;
		break;
	case FI_LOR:
		r = truth(t, is_true(&o) || is_true(&s));
		break;
	case FI_LAND:
		r = truth(t, is_true(&o) && is_true(&s));
		break;
	case FI_LXOR:
		r = truth(t, is_true(&o) != is_true(&s));
		break;
	case FI_BOR:
		r.bits |= s.bits;
		break;
	case FI_BAND:
		r.bits &= s.bits;
		break;
	case FI_BXOR:
		r.bits ^= s.bits;
		break;
	case FI_ATOMIC_WRITE:
		r = s;
		break;
	case FI_CSWAP:
		r = same(t, cmp, p) ? s : o;
		break;
	case FI_CSWAP_NE:
		r = eq ? o : s;
		break;
	case FI_CSWAP_LE:
		r = lt || eq ? s : o;
		break;
	case FI_CSWAP_LT:
		r = lt ? s : o;
		break;
	case FI_CSWAP_GE:
		r = gt || eq ? s : o;
		break;
	case FI_CSWAP_GT:
		r = gt ? s : o;
		break;
	case FI_MSWAP:
		r.bits = (s.bits & c.bits) | (o.bits & ~c.bits);
		break;
	default:
		break;
	}
	store(t, p, r);
}

/* True if fi_atomic(3) has the operation for the class in this form. */
static bool sensible(enum form form, enum fi_op op, enum class class)
{
	bool integer = class == INTEGER || class == UNSIGNED;

	if (op == FI_ATOMIC_READ)
		return form == FETCH;
	if (op >= FI_CSWAP && op <= FI_MSWAP) {
		if (form != COMPARE)
			return false;
		if (op == FI_MSWAP)
			return integer;
		return op <= FI_CSWAP_NE || class != COMPLEX;
	}
	if (form == COMPARE)
		return false;
	if (op == FI_BOR || op == FI_BAND || op == FI_BXOR)
		return integer;
	return (op != FI_MIN && op != FI_MAX) || class != COMPLEX;
}

/* ---- the table --------------------------------------------------------- */

static void random_element(const struct type *t, uint8_t *p)
{
	static const long double reals[] = { 0, 1, -1, 2.5, -3, 0.5 };
	struct number n = { 0 };
	uint64_t r = random_next(&seed);

	memset(p, 0, t->size);
	if (t->class == INTEGER || t->class == UNSIGNED) {
		if (r % 4 == 0)
			random_fill(&seed, &n.bits, sizeof(n.bits));
		else if (r % 4 == 1)
			n.bits = (unsigned __int128)1 << (8 * t->size - 1);
		else
			n.bits = (unsigned __int128)(r / 4 % 3) - 1;
	} else {
		n.re = reals[r % ARRAY_SIZE(reals)];
		n.im = reals[r / 64 % ARRAY_SIZE(reals)];
	}
	store(t, p, n);
}

static void random_elements(const struct type *t, uint8_t *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		random_element(t, p + i * t->size);
}

static ssize_t issue(enum form form, enum fi_op op, const struct type *t,
		     const uint8_t *src, const uint8_t *cmp, uint8_t *result,
		     size_t count, uint64_t addr, void *context)
{
	switch (form) {
	case BASE:
		return fi_atomic(end.ep, src, count, NULL, peer, addr,
				 target.key, t->type, op, context);
	case FETCH:
		return fi_fetch_atomic(end.ep,
				       op == FI_ATOMIC_READ ? NULL : src,
				       count, NULL, result, NULL, peer, addr,
				       target.key, t->type, op, context);
	default:
		return fi_compare_atomic(end.ep, src, count, NULL, cmp, NULL,
					 result, NULL, peer, addr, target.key,
					 t->type, op, context);
	}
}

/*
 * One operation on random elements. Returns true if memory and results match
 * the model.
 */
static bool one_operation(enum form form, enum fi_op op, const struct type *t)
{
	uint8_t src[MAX_COUNT * 32], cmp[MAX_COUNT * 32];
	uint8_t result[MAX_COUNT * 32] = { 0 };
	uint8_t before[ATOMIC_SIZE], want[ATOMIC_SIZE];
	size_t count = 1 + random_next(&seed) % MAX_COUNT;
	size_t room = ATOMIC_SIZE / t->size;
	size_t first = random_next(&seed) % (room - count + 1);
	/* C aligns complex types to half of their size. */
	uint8_t *base = memory + (t->size > 8 ? t->size / 2 * (random_next(&seed) % 2) : 0);
	ssize_t ret;
	int err;

	random_elements(t, src, count);
	random_elements(t, cmp, count);
	random_elements(t, base, room);
	/* Often equal, so that compare-and-swaps swap. */
	if (random_next(&seed) % 2)
		memcpy(cmp, base + first * t->size, count * t->size);
	memcpy(before, base, sizeof(before));
	memcpy(want, base, sizeof(want));
	for (size_t i = 0; i < count; i++)
		model(t, op, src + i * t->size, cmp + i * t->size,
		      want + (first + i) * t->size);
	do
		ret = issue(form, op, t, src, cmp, result, count,
			    (uintptr_t)base + first * t->size, result);
	while (ret == -FI_EAGAIN);
	err = ret ? (int)-ret : wait_one(end.cq, result);
	if (err) {
		diag("%s", fi_strerror(err));
		return false;
	}
	for (size_t i = 0; i < room; i++) {
		if (same(t, base + i * t->size, want + i * t->size))
			continue;
		diag("element %zu of %zu at %zu is wrong", i, count, first);
		return false;
	}
	for (size_t i = 0; form != BASE && i < count; i++) {
		if (same(t, result + i * t->size,
			 before + (first + i) * t->size))
			continue;
		diag("result %zu of %zu at %zu is wrong", i, count, first);
		return false;
	}
	return true;
}

static void test_table(void)
{
	unsigned int pairs = 0, common = 0, passed = 0, answers = 0, fit = 0;

	for (int form = 0; form < FORMS; form++) {
		for (int op = 0; op <= FI_DIFF; op++) {
			for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
				const struct type *t = &types[i];
				struct fi_atomic_attr attr = { 0 };
				bool want = sensible(form, op, t->class);
				int got = fi_query_atomic(end.domain, t->type,
							  op, &attr,
							  form == FETCH ?
							  FI_FETCH_ATOMIC :
							  form == COMPARE ?
							  FI_COMPARE_ATOMIC :
							  0);
				bool good = true;

				if (!LIBFABRIC_2 && !in_libfabric_1(op, t))
					want = false;
				fit += want;
				want = want && t->size <= max_size;
				answers += want ? !got && attr.count >= 1 &&
						  attr.size == t->size :
						  got == -FI_EOPNOTSUPP;
				if (!want)
					continue;
				pairs++;
				common += in_libfabric_1(op, t);
				for (int n = 0; good && n < ROUNDS; n++)
					good = one_operation(form, op, t);
				passed += good;
				if (!good)
					diag("%s, op %d, type %d",
					     form_names[form], op, t->type);
			}
		}
	}
	is_u64(answers, FORMS * (FI_DIFF + 1) * ARRAY_SIZE(types),
	       "fi_query_atomic() knows which pairs are sensible");
	is_u64(fit, LIBFABRIC_2 ? 546 : 414, "... %u pairs", fit);
	if (max_size < 32)
		is_u64(pairs, LIBFABRIC_2 ? 423 : 301,
		       "... %u of up to 8 bytes", pairs);
	else
		is_u64(common, 414, "... 414 of libfabric 1");
	is_u64(passed, pairs, "all pairs do what the model does");
}

/* ---- vectors, order, several endpoints --------------------------------- */

static void test_vectors(void)
{
	uint32_t a[2] = { 1, 2 }, b[3] = { 3, 4, 5 }, r1 = 9, r4[4] = { 9 };
	uint32_t *m = (uint32_t *)memory;
	struct fi_ioc iov[2] = { { a, 2 }, { b, 3 } };
	struct fi_ioc result[2] = { { &r1, 1 }, { r4, 4 } };
	struct fi_rma_ioc rma[2] = {
		{ (uintptr_t)&m[1], 4, target.key },
		{ (uintptr_t)&m[9], 1, target.key },
	};
	struct fi_msg_atomic msg = {
		.msg_iov = iov, .iov_count = 2, .addr = peer, .rma_iov = rma,
		.rma_iov_count = 2, .datatype = FI_UINT32, .op = FI_SUM,
		.context = &msg,
	};

	for (uint32_t i = 0; i < 10; i++)
		m[i] = 100 * i;
	is_int(fi_fetch_atomicmsg(end.ep, &msg, result, NULL, 2,
				  FI_COMPLETION), 0, "fi_fetch_atomicmsg()");
	is_int(wait_one(end.cq, &msg), 0, "... completes");
	ok(m[0] == 0 && m[1] == 101 && m[2] == 202 && m[3] == 303 &&
	   m[4] == 404 && m[5] == 500 && m[9] == 905,
	   "... has added the vectors");
	ok(r1 == 100 && r4[0] == 200 && r4[1] == 300 && r4[2] == 400 &&
	   r4[3] == 900, "... has fetched the vectors");
}

/* Later operations see what earlier ones did, loops or not. */
static void test_order(void)
{
	float one = 1, result[8];
	int good = 0;

	memset(memory, 0, 8);
	for (int i = 0; i < 8; i++) {
		must(fi_atomic(end.ep, &one, 1, NULL, peer, (uintptr_t)memory,
			       target.key, FI_FLOAT, FI_SUM, &one),
		     "fi_atomic");
		must(fi_fetch_atomic(end.ep, NULL, 1, NULL, &result[i], NULL,
				     peer, (uintptr_t)memory, target.key,
				     FI_FLOAT, FI_ATOMIC_READ, &one),
		     "fi_fetch_atomic");
	}
	for (int i = 0; i < 16; i++)
		good += !wait_one(end.cq, &one);
	is_int(good, 16, "operations that are in flight together complete");
	good = 0;
	for (int i = 0; i < 8; i++)
		good += result[i] == (float)(i + 1);
	is_int(good, 8, "... and are executed in order");
}

/* A write with a fence follows atomics that are loops. */
static void test_fence(void)
{
	float two[64], last = 7;
	struct fi_ioc iov = { &last, 1 };
	struct fi_rma_ioc rma = { (uintptr_t)memory, 1, target.key };
	struct fi_msg_atomic msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = peer, .rma_iov = &rma,
		.rma_iov_count = 1, .datatype = FI_FLOAT, .op = FI_ATOMIC_WRITE,
		.context = &last,
	};
	float *v = (float *)memory;
	int good = 0;

	for (int i = 0; i < 64; i++) {
		two[i] = 2;
		v[i] = 1;
	}
	for (int i = 0; i < 3; i++)
		must(fi_atomic(end.ep, two, 64, NULL, peer, (uintptr_t)memory,
			       target.key, FI_FLOAT, FI_PROD, two), "fi_atomic");
	must(fi_atomicmsg(end.ep, &msg, FI_FENCE), "fi_atomicmsg");
	for (int i = 0; i < 3; i++)
		good += !wait_one(end.cq, two);
	is_int(good, 3, "three products complete");
	is_int(wait_one(end.cq, &last), 0, "... before a write with a fence");
	for (int i = 1; i < 64; i++)
		good += v[i] == 8;
	is_int(good, 66, "... and multiply");
	ok(v[0] == 7, "... and the write is last");
}

static void test_contention(void)
{
	struct fid_ep *eps[3] = { end.ep };
	double half = 0.5, sum;
	int good = 0;

	memset(memory, 0, 8);
	for (int i = 1; i < 3; i++)
		eps[i] = open_ep(&end, end.cq);
	for (int n = 0; n < 50; n++)
		for (int i = 0; i < 3; i++)
			must(fi_atomic(eps[i], &half, 1, NULL, peer,
				       (uintptr_t)memory, target.key,
				       FI_DOUBLE, FI_SUM, &half), "fi_atomic");
	for (int i = 0; i < 150; i++)
		good += !wait_one(end.cq, &half);
	memcpy(&sum, memory, sizeof(sum));
	is_int(good, 150, "operations of three endpoints complete");
	ok(sum == 75, "... and the sum is exact: %g", sum);
	for (int i = 1; i < 3; i++)
		is_int(fi_close(&eps[i]->fid), 0, "fi_close()");
}

/* ---- RMA, counters, errors --------------------------------------------- */

static void test_rma(void)
{
	static uint8_t out[20000], in[20000];
	uint64_t count = fi_cntr_read(end.cntr);

	random_fill(&seed, out, sizeof(out));
	is_int(fi_write(end.ep, out, sizeof(out), NULL, peer,
			(uintptr_t)memory + 3, target.key, out), 0,
	       "fi_write()");
	is_int(wait_one(end.cq, out), 0, "... completes");
	ok(!memcmp(memory + 3, out, sizeof(out)), "... has written");
	is_int(fi_read(end.ep, in, sizeof(in), NULL, peer,
		       (uintptr_t)memory + 3, target.key, in), 0, "fi_read()");
	is_int(wait_one(end.cq, in), 0, "... completes");
	ok(!memcmp(in, out, sizeof(out)), "... has read");
	is_int(fi_inject_write(end.ep, "inject", 6, peer, (uintptr_t)memory,
			       target.key), 0, "fi_inject_write()");
	is_int(fi_cntr_wait(end.cntr, count + 2, TIMEOUT_MS), 0,
	       "fi_cntr_wait() until both writes are counted");
	ok(!memcmp(memory, "inject", 6), "... has written");
	is_int(fi_inject_write(end.ep, out, 1025, peer, (uintptr_t)memory, target.key),
	       -FI_EMSGSIZE, "... at most 1024 bytes");
}

static void test_refused(void)
{
	uint32_t v[65] = { 0 };
	uint64_t addr = (uintptr_t)memory;
	struct fi_ioc iov = { v, 1 };
	struct fi_rma_ioc rma = { addr, 1, target.key };
	struct fi_msg_atomic msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = peer, .rma_iov = &rma,
		.rma_iov_count = 1, .datatype = FI_UINT32, .op = FI_SUM,
	};

	is_int(fi_atomic(end.ep, v, 65, NULL, peer, addr, target.key,
			 FI_UINT32, FI_SUM, NULL), -FI_EMSGSIZE,
	       "more than 64 elements are refused");
	is_int(fi_atomic(end.ep, v, 1, NULL, peer, addr + 2, target.key,
			 FI_UINT32, FI_SUM, NULL), -FI_EINVAL,
	       "an unaligned address is refused");
	is_int(fi_atomic(end.ep, v, 1, NULL, peer, addr + 4, target.key,
			 FI_FLOAT_COMPLEX, FI_SUM, NULL), -FI_EINVAL,
	       "... and one that is not aligned to 8 for a complex float");
	is_int(fi_atomic(end.ep, v, 1, NULL, peer, addr, target.key,
			 FI_FLOAT, FI_BOR, NULL), -FI_EOPNOTSUPP,
	       "FI_BOR of floats is refused");
	is_int(fi_atomic(end.ep, v, 1, NULL, 77, addr, target.key,
			 FI_UINT32, FI_SUM, NULL), -FI_EINVAL,
	       "an address that was not inserted is refused");
	is_int(fi_atomicmsg(end.ep, &msg, FI_TAGGED), -FI_EOPNOTSUPP,
	       "FI_TAGGED is refused");
	is_int(fi_tsend(end.ep, v, 4, NULL, peer, 0, NULL), -FI_EOPNOTSUPP,
	       "tagged messages are refused, as they were not asked for");
	is_int(fi_close(&end.cq->fid), -FI_EBUSY,
	       "a completion queue in use is not closed");
	is_int(fi_close(&end.domain->fid), -FI_EBUSY,
	       "a domain in use is not closed");
}

/*
 * An operation is refused by a NAK, which is not sent again. With
 * $MXE_FI_LOSSY, it may have been lost.
 */
static void is_refused(void *context, const char *what)
{
	int err = wait_one(end.cq, context);

	if (err != FI_ECONNABORTED || !getenv("MXE_FI_LOSSY"))
		is_int(err, FI_EACCES, "%s", what);
	else
		ok(true, "%s, without the NAK", what);
}

/*
 * The target must be running, because its thread accepts the new connection.
 */
static void test_bad_key(void)
{
	uint32_t one = 1;

	memset(memory, 0, 4);
	must(fi_atomic(end.ep, &one, 1, NULL, peer, (uintptr_t)memory,
		       target.key ^ 0x5500, FI_UINT32, FI_SUM, &one),
	     "fi_atomic");
	is_refused(&one, "a wrong key is an error");
	must(fi_atomic(end.ep, &one, 1, NULL, peer, (uintptr_t)memory,
		       target.key, FI_UINT32, FI_SUM, &one), "fi_atomic");
	is_int(wait_one(end.cq, &one), 0, "the next operation connects again");
	is_u64(*(uint32_t *)memory, 1, "... and is executed");
}

/* FI_REMOTE_READ does not allow atomics. The target must be running. */
static void test_read_only(void)
{
	uint8_t *word = memory + READ_ONLY;
	uint64_t zero = 0, one = 1, result = 0;

	memset(word, 0, sizeof(one));
	must(fi_compare_atomic(end.ep, &one, 1, NULL, &zero, NULL, &result,
			       NULL, peer, (uintptr_t)word, target.read_key,
			       FI_UINT64, FI_CSWAP, &one), "fi_compare_atomic");
	is_refused(&one, "a compare-and-swap in a region with FI_REMOTE_READ is an error");
	ok(!memcmp(word, &zero, sizeof(zero)), "... and changes nothing");
	must(fi_fetch_atomic(end.ep, NULL, 1, NULL, &result, NULL, peer,
			     (uintptr_t)word, target.read_key, FI_UINT64,
			     FI_ATOMIC_READ, &one), "fi_fetch_atomic");
	is_refused(&one, "... and so is an atomic read");
	memcpy(word, &one, sizeof(one));
	must(fi_read(end.ep, &result, sizeof(result), NULL, peer,
		     (uintptr_t)word, target.read_key, &one), "fi_read");
	is_int(wait_one(end.cq, &one), 0, "fi_read() is allowed");
	is_u64(result, 1, "... and reads the word");
}

/* Atomics reach the bytes of a region, and no byte before or after it. */
static void test_edge(void)
{
	uint8_t add[3] = { 1, 2, 3 }, *word = memory + EDGE - 3;
	uint64_t addr = (uintptr_t)memory + EDGE;

	memset(word, 0xff, 8);
	must(fi_atomic(end.ep, add, 3, NULL, peer, addr, target.edge_key,
		       FI_UINT8, FI_SUM, add), "fi_atomic");
	is_int(wait_one(end.cq, add), 0, "three bytes at the odd end of a word");
	ok(!memcmp(word, "\xff\xff\xff\0\1\2\xff\xff", 8),
	   "... are added without a carry");
	for (int i = -1; i < 4; i += 4) {
		must(fi_atomic(end.ep, add, 1, NULL, peer,
			       addr + (uint64_t)i, target.edge_key, FI_UINT8,
			       FI_SUM, add), "fi_atomic");
		is_refused(add, i < 0 ? "a byte before them" : "a byte after them");
	}
	ok(!memcmp(word, "\xff\xff\xff\0\1\2\xff\xff", 8),
	   "... is not changed");
	/* Connects again, for the tests after this one. */
	must(fi_atomic(end.ep, add, 1, NULL, peer, addr, target.edge_key,
		       FI_UINT8, FI_SUM, add), "fi_atomic");
	is_int(wait_one(end.cq, add), 0, "the first byte");
}

int main(void)
{
	int status = -1;
	uint32_t zero = 0;
	struct child child;

	plan(0);
	fi_float_init();
	if (getenv("MXE_FI_EMULATED"))
		max_size = 8;
	if (getenv("MXE_FI_ONE_SIDED"))
		caps &= ~FI_MSG;
	memory = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		must(-errno, "mmap");
	fork_target(&child, run_target, &target, sizeof(target));
	enter("h1");
	open_end(&end, caps);
	must(fi_av_insert(end.av, target.name, 1, &peer, 0, NULL) - 1,
	     "fi_av_insert");

	must(fi_atomic(end.ep, &zero, 1, NULL, peer, (uintptr_t)memory,
		       target.key, FI_UINT32, FI_SUM, &zero), "fi_atomic");
	is_int(wait_one(end.cq, &zero), 0, "the first operation connects");
	test_contention();
	test_bad_key();
	test_read_only();
	/* Emulated atomics of a byte change the word around it. */
	if (max_size == 32)
		test_edge();
	kill(child.pid, SIGSTOP);
	test_table();
	test_vectors();
	test_order();
	test_fence();
	test_rma();
	test_refused();
	kill(child.pid, SIGCONT);
	close(child.to);
	is_int(close_end(&end), 0, "all objects are closed");
	waitpid(child.pid, &status, 0);
	is_int(status, 0, "the target exits with 0");
	return done_testing();
}
