// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One-sided atomics of MPI for t_mpi.sh: all predefined operations on datatypes
 * of C, by rank 1 in a window of rank 0. The model is MPI_Reduce_local().
 *
 *	mpi_ops [OPERATION...]
 *
 * Runs the named operations, by default all, and prints a line for each. Exits
 * with 1 if a result is wrong.
 */
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_size.h"
#include "random.h"

#define MAX_COUNT 40	/* elements */
#define MAX_SIZE 32	/* bytes of an element */

/* Classes of datatypes and of operations (MPI 3.1, 5.9.2). */
#define INTEGER 0x01
#define REAL 0x02
#define COMPLEX 0x04
#define LOGICAL 0x08
#define BYTE 0x10
/* A value and an int for MPI_MINLOC, without and with padding behind them. */
#define PAIR 0x20
#define PADDED 0x40
/* Open MPI 4.1.4 mixes data and padding of such pairs in MPI_REPLACE and in
 * MPI_NO_OP.
 */
#define ANY (INTEGER | REAL | COMPLEX | LOGICAL | BYTE | PAIR)

struct long_int {
	long val;
	int loc;
};

struct double_int {
	double val;
	int loc;
};

/* Only the value's bytes and those of the int at @loc are compared: the others
 * are padding.
 */
struct type {
	const char *name;
	MPI_Datatype type;
	unsigned int class, size, value, loc;
};

struct op {
	const char *name;
	MPI_Op op;
	unsigned int classes;
};

static int rank;
static unsigned int wrong, done;
static uint64_t state = 1;
static unsigned char *mem;
static MPI_Win win;

static void fill_one(const struct type *type, unsigned char *at)
{
	/* Results of sums and products of such numbers are exact. */
	int small = (int)(random_next(&state) % 33) - 16;

	memset(at, 0, type->size);
	switch (type->class) {
	case INTEGER:
	case BYTE:
		/* The logical operations shall have operands of 0, too. */
		if (random_next(&state) % 4)
			random_fill(&state, at, type->size);
		break;
	case LOGICAL:
		*(bool *)at = small & 1;
		break;
	case REAL:
		if (type->type == MPI_FLOAT)
			*(float *)at = (float)small;
		else if (type->type == MPI_DOUBLE)
			*(double *)at = small;
		else
			*(long double *)at = small;
		break;
	case COMPLEX:
		if (type->type == MPI_C_FLOAT_COMPLEX)
			*(float complex *)at = (float)small + 2.0f * I;
		else
			*(double complex *)at = small + 2.0 * I;
		break;
	case PAIR:
	case PADDED:
		if (type->type == MPI_2INT)
			*(int *)at = small;
		else if (type->type == MPI_LONG_INT)
			*(long *)at = small;
		else
			*(double *)at = small;
		*(int *)(at + type->loc) = (int)(random_next(&state) % 100);
		break;
	}
}

static void fill(const struct type *type, unsigned char *at, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		fill_one(type, at + (size_t)i * type->size);
}

static bool same(const struct type *type, const unsigned char *a,
		 const unsigned char *b, unsigned int count)
{
	for (; count; count--, a += type->size, b += type->size)
		if (memcmp(a, b, type->value) ||
		    ((type->class & (PAIR | PADDED)) &&
		     memcmp(a + type->loc, b + type->loc, sizeof(int))))
			return false;
	return true;
}

static void apply(const struct type *type, const struct op *op,
		  unsigned char *operand, unsigned char *model,
		  unsigned int count)
{
	if (op->op == MPI_REPLACE)
		memcpy(model, operand, (size_t)count * type->size);
	else if (op->op != MPI_NO_OP)
		MPI_Reduce_local(operand, model, (int)count, type->type,
				 op->op);
}

static void check(bool good, const char *call, const struct type *type,
		  const char *op, unsigned int count)
{
	done++;
	if (good)
		return;
	wrong++;
	printf("# %s of %u %s, %s: wrong result\n", call, count, type->name,
	       op);
}

/* Passes if the window has the values of the model. */
static void check_window(const struct type *type, const unsigned char *model,
			 const char *call, const char *op, unsigned int count)
{
	unsigned char got[MAX_COUNT * MAX_SIZE];

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Get(got, (int)(count * type->size), MPI_BYTE, 0, 0,
		(int)(count * type->size), MPI_BYTE, win);
	MPI_Win_unlock(0, win);
	check(same(type, got, model, count), call, type, op, count);
}

static void start(const struct type *type, unsigned char *model,
		  unsigned int count)
{
	fill(type, model, count);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Put(model, (int)(count * type->size), MPI_BYTE, 0, 0,
		(int)(count * type->size), MPI_BYTE, win);
	MPI_Win_unlock(0, win);
}

static void run(const struct type *type, const struct op *op,
		unsigned int count)
{
	unsigned char operand[MAX_COUNT * MAX_SIZE] = { 0 };
	unsigned char result[MAX_COUNT * MAX_SIZE] = { 0 };
	unsigned char model[MAX_COUNT * MAX_SIZE] = { 0 };
	unsigned char before[MAX_COUNT * MAX_SIZE];
	int n = (int)count;

	start(type, model, count);
	/* The other calls read, MPI_Accumulate() cannot have MPI_NO_OP. */
	if (op->op != MPI_NO_OP) {
		fill(type, operand, count);
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		MPI_Accumulate(operand, n, type->type, 0, 0, n, type->type,
			       op->op, win);
		MPI_Win_unlock(0, win);
		apply(type, op, operand, model, count);
		check_window(type, model, "MPI_Accumulate", op->name, count);
	}

	fill(type, operand, count);
	memcpy(before, model, sizeof(before));
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get_accumulate(operand, n, type->type, result, n, type->type, 0, 0,
			   n, type->type, op->op, win);
	MPI_Win_unlock(0, win);
	apply(type, op, operand, model, count);
	check(same(type, result, before, count), "result of MPI_Get_accumulate",
	      type, op->name, count);
	check_window(type, model, "MPI_Get_accumulate", op->name, count);
	if (count != 1)
		return;

	fill(type, operand, 1);
	memcpy(before, model, sizeof(before));
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Fetch_and_op(operand, result, type->type, 0, 0, op->op, win);
	MPI_Win_unlock(0, win);
	apply(type, op, operand, model, 1);
	check(same(type, result, before, 1), "result of MPI_Fetch_and_op",
	      type, op->name, 1);
	check_window(type, model, "MPI_Fetch_and_op", op->name, 1);
}

static void compare_and_swap(const struct type *type, bool equal)
{
	unsigned char operand[MAX_SIZE] = { 0 }, result[MAX_SIZE] = { 0 };
	unsigned char model[MAX_SIZE] = { 0 }, compare[MAX_SIZE];
	bool match;

	start(type, model, 1);
	fill(type, operand, 1);
	memcpy(compare, model, sizeof(compare));
	if (!equal)
		fill(type, compare, 1);
	match = same(type, compare, model, 1);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Compare_and_swap(operand, compare, result, type->type, 0, 0, win);
	MPI_Win_unlock(0, win);
	check(same(type, result, model, 1), "result of MPI_Compare_and_swap",
	      type, "compare-and-swap", 1);
	check_window(type, match ? operand : model, "MPI_Compare_and_swap",
		     "compare-and-swap", 1);
}

static bool wanted(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 1;
}

/* Prints the results since the last report, and returns how many are wrong. */
static unsigned int report(const char *name)
{
	unsigned int bad = wrong;

	printf("%s: %u results, %u wrong\n", name, done, wrong);
	fflush(stdout);
	done = 0;
	wrong = 0;
	return bad;
}

int main(int argc, char **argv)
{
	const struct type types[] = {
/* The name is for messages: Open MPI's MPI_INT is a macro. */
#define TYPE(name, ctype, class, value, loc) \
	{ #name, MPI_##name, class, sizeof(ctype), value, loc }
#define PLAIN(name, ctype, class) \
	{ #name, MPI_##name, class, sizeof(ctype), sizeof(ctype), 0 }
		PLAIN(SIGNED_CHAR, signed char, INTEGER),
		PLAIN(UNSIGNED_CHAR, unsigned char, INTEGER),
		PLAIN(SHORT, short, INTEGER),
		PLAIN(UNSIGNED_SHORT, unsigned short, INTEGER),
		PLAIN(INT, int, INTEGER),
		PLAIN(UNSIGNED, unsigned int, INTEGER),
		PLAIN(LONG, long, INTEGER),
		PLAIN(UNSIGNED_LONG, unsigned long, INTEGER),
		PLAIN(LONG_LONG, long long, INTEGER),
		PLAIN(BYTE, unsigned char, BYTE),
		PLAIN(C_BOOL, bool, LOGICAL),
		PLAIN(FLOAT, float, REAL),
		PLAIN(DOUBLE, double, REAL),
		/* x86-64 keeps 10 bytes in 16. */
		TYPE(LONG_DOUBLE, long double, REAL, 10, 0),
		PLAIN(C_FLOAT_COMPLEX, float complex, COMPLEX),
		PLAIN(C_DOUBLE_COMPLEX, double complex, COMPLEX),
		TYPE(2INT, int[2], PAIR, sizeof(int), sizeof(int)),
		TYPE(LONG_INT, struct long_int, PADDED, sizeof(long),
		     offsetof(struct long_int, loc)),
		TYPE(DOUBLE_INT, struct double_int, PADDED, sizeof(double),
		     offsetof(struct double_int, loc)),
	};
	const struct op ops[] = {
		{ "max", MPI_MAX, INTEGER | REAL },
		{ "min", MPI_MIN, INTEGER | REAL },
		{ "sum", MPI_SUM, INTEGER | REAL | COMPLEX },
		{ "prod", MPI_PROD, INTEGER | REAL | COMPLEX },
		{ "land", MPI_LAND, INTEGER | LOGICAL },
		{ "lor", MPI_LOR, INTEGER | LOGICAL },
		{ "lxor", MPI_LXOR, INTEGER | LOGICAL },
		{ "band", MPI_BAND, INTEGER | BYTE },
		{ "bor", MPI_BOR, INTEGER | BYTE },
		{ "bxor", MPI_BXOR, INTEGER | BYTE },
		{ "maxloc", MPI_MAXLOC, PAIR | PADDED },
		{ "minloc", MPI_MINLOC, PAIR | PADDED },
		{ "replace", MPI_REPLACE, ANY },
		{ "no_op", MPI_NO_OP, ANY },
	};
	unsigned int failed = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(MAX_COUNT * MAX_SIZE, 1, MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mem, &win);
	for (size_t i = 0; rank == 1 && i < ARRAY_SIZE(ops); i++) {
		if (!wanted(argc, argv, ops[i].name))
			continue;
		for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
			if (!(types[t].class & ops[i].classes))
				continue;
			run(&types[t], &ops[i], 1);
			run(&types[t], &ops[i], 7);
			run(&types[t], &ops[i], MAX_COUNT);
		}
		failed += report(ops[i].name);
	}
	if (rank == 1 && wanted(argc, argv, "cswap")) {
		for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
			if (!(types[t].class & (INTEGER | LOGICAL | BYTE)))
				continue;
			compare_and_swap(&types[t], true);
			compare_and_swap(&types[t], false);
		}
		failed += report("cswap");
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return failed != 0;
}
