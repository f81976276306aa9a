// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An MPI program for t_mpi.sh: messages around a ring, and one-sided put, get,
 * accumulate and fetch-and-op. Each rank prints the checks that fail, and exits
 * with 1 if there are any.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 30000	/* ints: more than an eager message */
#define ROUNDS 100

static int rank, ranks, failed;

static void check(int good, const char *what)
{
	if (good)
		return;
	failed = 1;
	printf("rank %d: %s is wrong\n", rank, what);
}

static void ring(int count)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	int *out = calloc((size_t)count, sizeof(*out));
	int *in = calloc((size_t)count, sizeof(*in));

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < count; i++)
			out[i] = rank * 1000 + round + i;
		MPI_Sendrecv(out, count, MPI_INT, next, round, in, count,
			     MPI_INT, last, round, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		for (int i = 0; i < count; i++)
			out[i] = last * 1000 + round + i;
		check(!memcmp(in, out, (size_t)count * sizeof(*in)),
		      count == 1 ? "a short message" : "a long message");
	}
	free(out);
	free(in);
}

static void one_sided(void)
{
	long *mem, got[4] = { 0 }, one = 1, put[4];
	double *real, half = 0.5;
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	MPI_Win win, real_win;

	MPI_Win_allocate(64 * sizeof(*mem), sizeof(*mem), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mem, &win);
	MPI_Win_allocate(sizeof(*real), sizeof(*real), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &real, &real_win);
	memset(mem, 0, 64 * sizeof(*mem));
	*real = 0;
	for (int i = 0; i < 4; i++)
		put[i] = rank * 100 + i;
	MPI_Barrier(MPI_COMM_WORLD);

	MPI_Win_lock_all(0, win);
	MPI_Put(put, 4, MPI_LONG, next, 8, 4, MPI_LONG, win);
	MPI_Win_flush(next, win);
	MPI_Get(got, 4, MPI_LONG, next, 8, 4, MPI_LONG, win);
	MPI_Win_flush(next, win);
	check(!memcmp(got, put, sizeof(got)), "MPI_Get() after MPI_Put()");
	/* All ranks count in the memory of rank 0. */
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM,
			       win);
		MPI_Fetch_and_op(&one, got, MPI_LONG, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		check(got[0] >= i && got[0] < ranks * ROUNDS,
		      "the result of MPI_Fetch_and_op()");
	}
	MPI_Win_unlock_all(win);
	MPI_Win_lock_all(0, real_win);
	for (int i = 0; i < ROUNDS; i++)
		MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE,
			       MPI_SUM, real_win);
	MPI_Win_unlock_all(real_win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	if (!rank) {
		check(mem[0] == ranks * ROUNDS, "the sum of MPI_Fetch_and_op()");
		check(mem[1] == ranks * ROUNDS, "the sum of MPI_Accumulate()");
		check(*real == ranks * ROUNDS * half, "the sum of doubles");
	}
	check(mem[8] == last * 100, "what MPI_Put() has written");
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&real_win);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	ring(1);
	ring(COUNT);
	one_sided();
	MPI_Finalize();
	if (!failed)
		printf("rank %d of %d: passed\n", rank, ranks);
	return failed;
}
