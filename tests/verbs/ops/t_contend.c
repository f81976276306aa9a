// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that masked and plain atomics are atomic: four processes and the CPU
 * of the host change one word at the same time, and no change is lost. The
 * processes then do the same with overlapping atomics of 1 to 32 bytes.
 *
 * t_contend [OPERATIONS]: number of operations of each process (default 400).
 */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

#define CHILDREN 4
#define WINDOW 8
#define MAX_ANSWER 32
#define SIZES_TIMES 10

struct shared {
	/* The contended words, each in a cache line of its own. */
	_Alignas(64) _Atomic uint64_t fields;	/* masked add, own 16 bits */
	_Alignas(64) _Atomic uint64_t mixed;	/* plain, masked, CPU */
	_Alignas(64) _Atomic uint64_t lock;	/* four locks of 16 bits */
	/* Guarded by the locks, changed by reads and writes. */
	_Alignas(64) uint64_t guarded[4];
	_Alignas(64) uint64_t block[4];	/* atomics of 4 to 32 bytes */
	uint16_t bytes[2];		/* atomics of 1 and 2 bytes */
	_Alignas(64) uint64_t halves[8];	/* atomics of 32 bytes at 16 and 32 */
	_Alignas(64) atomic_int ready;
	atomic_int overlaps;
	atomic_bool failed;	/* a process failed and may hold a lock */
};

static struct shared *sh;

static struct vt_wr add_wr(const struct vt_pair *p, void *word,
			   enum vt_opcode op, uint64_t add, uint64_t boundary)
{
	struct vt_wr wr = {
		.op = op, .via = VT_WR, .raddr = (uintptr_t)word,
		.rkey = p->b.mr->rkey, .compare_add = add,
		.compare_mask = boundary,
	};

	return wr;
}

/*
 * Posts count copies of *proto, with WINDOW of them in flight. Calls right(),
 * unless it is NULL, with the len bytes of each result, in order.
 */
static bool run_window(struct vt_pair *p, const struct vt_wr *proto, uint32_t len, int count,
		       bool (*right)(const uint8_t *answer, int i, void *arg), void *arg)
{
	struct vt_wr wr = *proto;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int posted = 0;

	wr.sge = &sge;
	wr.num_sge = 1;
	wr.flags = IBV_SEND_SIGNALED;
	for (int done = 0; done < count; done++) {
		while (posted < count && posted - done < WINDOW) {
			sge = vt_sge(&p->a, MAX_ANSWER * (size_t)(posted % WINDOW), len);
			wr.wr_id = (uint64_t)posted++;
			if (vt_post(&p->a, &wr))
				return false;
		}
		if (!vt_poll(p->a.cq, &wc, VT_MS) || wc.status ||
		    wc.wr_id != (uint64_t)done) {
			diag("operation %d: %s", done, vt_status(wc.status));
			return false;
		}
		if (right && !right(p->a.buf + MAX_ANSWER * (done % WINDOW), done, arg))
			return false;
	}
	return true;
}

/* Bits of a word that only one process changes. */
struct field {
	uint64_t mask, add, expected;
};

static bool field_right(const uint8_t *answer, int i, void *arg)
{
	struct field *field = arg;
	uint64_t old;

	memcpy(&old, answer, sizeof(old));
	if ((old & field->mask) != field->expected) {
		diag("operation %d: old %#" PRIx64 ", expected %#" PRIx64, i, old,
		     field->expected);
		return false;
	}
	field->expected = (field->expected + field->add) & field->mask;
	return true;
}

static bool rdma(struct vt_pair *p, enum vt_opcode op, void *at, uint64_t *val)
{
	struct ibv_sge sge = vt_sge(&p->a, 512, 8);
	struct vt_wr wr = {
		.op = op, .sge = &sge, .num_sge = 1, .raddr = (uintptr_t)at,
		.rkey = p->b.mr->rkey,
	};

	*vt_word(&p->a, 512) = *val;
	if (vt_do(&p->a, &wr, NULL) != IBV_WC_SUCCESS)
		return false;
	*val = *vt_word(&p->a, 512);
	return true;
}

/* Masked compare-and-swap of 16 bits. Sets *old to their old value. */
static bool cas16(struct vt_pair *p, int field, uint64_t from, uint64_t to,
		  uint64_t *old)
{
	struct vt_wr wr = {
		.op = VT_MCAS, .via = VT_WR,
		.compare_add = from << (16 * field),
		.compare_mask = 0xffffULL << (16 * field),
		.swap = to << (16 * field),
		.swap_mask = 0xffffULL << (16 * field),
	};
	size_t offset = (uintptr_t)&sh->lock - (uintptr_t)p->b.buf;

	if (vt_atomic(p, &wr, offset, old) != IBV_WC_SUCCESS)
		return false;
	*old = *old >> (16 * field) & 0xffff;
	return true;
}

/*
 * Takes lock 0 or 1, changes the data that it protects without atomics, and
 * releases it.
 */
static bool run_locks(struct vt_pair *p, int me, int count)
{
	for (int i = 0; i < count; i++) {
		int field = (me + i) & 1;
		uint64_t mine = (uint64_t)me + 1, old, value = 0;

		do {
			if (atomic_load(&sh->failed) ||
			    !cas16(p, field, 0, mine, &old))
				return false;
		} while (old);
		if (!rdma(p, VT_READ, &sh->guarded[field], &value))
			return false;
		value++;
		if (!rdma(p, VT_WRITE, &sh->guarded[field], &value))
			return false;
		if (!cas16(p, field, mine, 0, &old))
			return false;
		if (old != mine)
			atomic_fetch_add(&sh->overlaps, 1);
	}
	return true;
}

/* Returns true if the result has i in the process's 16 bits of each word. */
static bool size_right(const uint8_t *answer, int i, void *arg)
{
	int me = *(const int *)arg, words = me > 1 ? 1 << (me - 1) : 1;
	uint64_t old[4] = { 0 };
	uint32_t half;

	memcpy(&half, answer, sizeof(half));
	memcpy(old, answer, 4U << me);
	/* Results of all sizes but 8 bytes are big-endian words. */
	for (int j = 0; j < words; j++) {
		uint64_t v = me == 0 ? be32toh(half) :
			     me == 1 ? old[j] : be64toh(old[j]);

		if ((v >> (16 * me) & 0xffff) == ((uint64_t)i & 0xffff))
			continue;
		diag("%d bytes, operation %d, word %d: old %#" PRIx64, 4 << me,
		     i, j, v);
		return false;
	}
	return true;
}

/*
 * Adds 1 to the process's 16 bits of each word in 4 << me bytes, often and
 * without pauses, because two CPUs rarely change the same word at the same
 * time.
 */
static bool run_sizes(struct vt_pair *p, int me, int count)
{
	static const uint32_t one = 1, top = 0x80008000;
	uint64_t add[4], boundary[4];
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .log_arg_sz = (uint32_t)me + 2,
		.operands = { add, NULL, boundary },
		.raddr = (uintptr_t)sh->block, .rkey = p->b.mr->rkey,
	};

	for (int i = 0; i < 4; i++) {
		add[i] = 1ULL << (16 * me);
		boundary[i] = 0x8000800080008000;
	}
	if (me == 0) {
		wr.operands[0] = &one;
		wr.operands[2] = &top;
		/* The 4 bytes with the low bits of the word. */
		if (BYTE_ORDER == BIG_ENDIAN)
			wr.raddr += 4;
	}
	return run_window(p, &wr, 4U << me, count, size_right, &me);
}

/*
 * Adds 1 to the process's 16 bits of each word in 32 bytes. Those of two
 * processes begin with the second half of those of the other two.
 */
static bool run_halves(struct vt_pair *p, int me, int count)
{
	uint64_t add[4], boundary[4];
	const struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .log_arg_sz = 5,
		.operands = { add, NULL, boundary },
		.raddr = (uintptr_t)&sh->halves[2 + me / 2 * 2], .rkey = p->b.mr->rkey,
	};

	for (int i = 0; i < 4; i++) {
		add[i] = 1ULL << (16 * me);
		boundary[i] = 0x8000800080008000;
	}
	return run_window(p, &wr, 32, count, NULL, NULL);
}

/* Returns true if the result has i in the byte of the process. */
static bool small_right(const uint8_t *answer, int i, void *arg)
{
	int size = *(const int *)arg;
	/* A result of two bytes is big-endian: its upper byte is the first. */
	uint8_t old = answer[0];

	if (old == (uint8_t)i)
		return true;
	diag("%d bytes, operation %d: old %#x", size, i, old);
	return false;
}

/*
 * Each process adds 1 to a byte of sh->bytes: 0 and 2 with atomics of this
 * byte, 1 and 3 with atomics of the word that the byte is in.
 */
static bool run_small(struct vt_pair *p, int me, int count)
{
	static const uint8_t one = 1, top = 0x80;
	static const uint16_t one16 = 0x100, top16 = 0x8080;
	int size = me % 2 + 1;
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .log_arg_sz = me % 2 ? 1 : VT_LOG_0,
		.operands = { &one, NULL, &top },
		.raddr = (uintptr_t)&sh->bytes[me / 2], .rkey = p->b.mr->rkey,
	};

	if (size == 2) {
		wr.operands[0] = &one16;
		wr.operands[2] = &top16;
	} else if (BYTE_ORDER == BIG_ENDIAN) {
		wr.raddr++;
	}
	return run_window(p, &wr, (uint32_t)size, count, small_right, &size);
}

static int child(int me, int count)
{
	struct vt_conf conf = vt_defaults();
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());
	struct field field = {
		.mask = 0xffffULL << (16 * me), .add = 0x0123ULL << (16 * me),
	};
	struct vt_pair p;
	struct vt_wr wr;
	bool good;

	conf.timeout = 16;	/* 0.27 s */
	conf.max_atomic_arg = 32;
	conf.buf = sh;
	conf.size = sizeof(*sh) + 4096;
	vt_pair_open(&p, a, b, &conf);
	atomic_fetch_add(&sh->ready, 1);
	/*
	 * All start at once, but do not wait forever if another one has failed.
	 */
	for (int i = 0; i < VT_MS && atomic_load(&sh->ready) < CHILDREN; i++)
		usleep(1000);

	wr = add_wr(&p, &sh->fields, VT_MFADD, field.add, 0x8000800080008000);
	good = run_window(&p, &wr, 8, count, field_right, &field);
	/*
	 * Odd workers use the standard atomic, even ones a masked atomic with a
	 * boundary that has no effect.
	 */
	if (me & 1)
		wr = add_wr(&p, &sh->mixed, VT_FADD, 3, 0);
	else
		wr = add_wr(&p, &sh->mixed, VT_MFADD, 3, 1ULL << 40);
	good = good && run_window(&p, &wr, 8, count, NULL, NULL);
	good = good && run_locks(&p, me, count / 16);
	good = good && run_sizes(&p, me, SIZES_TIMES * count);
	good = good && run_small(&p, me, SIZES_TIMES * count);
	good = good && run_halves(&p, me, SIZES_TIMES * count);
	vt_pair_close(&p);
	vt_close(a);
	vt_close(b);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 400;
	uint64_t want = 0, mine = 0, start = vt_now_ms();
	int running = CHILDREN, status;

	plan(0);
	sh = mmap(NULL, sizeof(*sh) + 4096, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		vt_bail("mmap");
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			vt_bail("fork");
		if (!pid)
			_exit(child(i, count));
		want |= ((uint64_t)count * 0x0123 & 0xffff) << (16 * i);
	}
	/* Add with the CPU, too. */
	while (running) {
		if (atomic_load(&sh->ready) == CHILDREN) {
			for (int i = 0; i < 100; i++)
				atomic_fetch_add(&sh->mixed, 7);
			mine += 100;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
		if (waitpid(-1, &status, WNOHANG) <= 0)
			continue;
		running--;
		if (!ok(WIFEXITED(status) && !WEXITSTATUS(status),
			"a process exits with status 0"))
			atomic_store(&sh->failed, true);
	}
	is_u64(atomic_load(&sh->fields), want,
	       "%d masked additions to each of four fields of one word",
	       count);
	is_u64(atomic_load(&sh->mixed),
	       (uint64_t)CHILDREN * (uint64_t)count * 3 + mine * 7,
	       "plain and masked additions, and %d by the CPU",
	       (int)mine);
	is_u64(sh->guarded[0] + sh->guarded[1], (uint64_t)count / 16 * CHILDREN,
	       "READs and WRITEs guarded by two 16-bit locks of one word");
	is_u64(atomic_load(&sh->lock), 0, "... both locks are free");
	is_int(atomic_load(&sh->overlaps), 0, "... and never had two owners");
	count *= SIZES_TIMES;
	is_u64(sh->block[0], (uint64_t)count * 0x0001000100010001,
	       "overlapping atomics of 4, 8, 16 and 32 bytes: the first word");
	is_u64(sh->block[1], (uint64_t)count * 0x0001000100000000,
	       "... the second");
	ok(sh->block[2] == (uint64_t)count << 48 &&
	   sh->block[3] == (uint64_t)count << 48, "... the others");
	for (int i = 0; i < 2; i++) {
		is_u64(sh->bytes[i], (uint64_t)(count & 0xff) * 0x101,
		       "overlapping atomics of 1 and 2 bytes: word %d", i);
	}
	for (int i = 2; i < 8; i++) {
		is_u64(sh->halves[i], (uint64_t)count * ((i < 6 ? 0x00010001ULL : 0) |
							 (i > 3 ? 0x00010001ULL << 32 : 0)),
		       "overlapping atomics of 32 bytes: word %d", i);
	}
	diag("%d ms", (int)(vt_now_ms() - start));
	return done_testing();
}
