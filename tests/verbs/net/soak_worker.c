// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements a worker of the soak test. It keeps a window of requests of all
 * kinds on one QP full, and checks each result when the completion of the
 * request, or of a later one if it is unsignaled, arrives. See soak.h.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "random.h"
#include "soak.h"

#define WINDOW 16
#define SLOT 8192		/* bytes of one transfer at most */

struct op {
	enum soak_kind kind;
	bool signalled;
	unsigned int lock;	/* which one, of 16 bits */
	uint64_t expected;	/* the own 16 bits; the next number of a history */
	size_t offset;
	uint32_t len;
};

enum lock_state {
	LOCK_NONE,
	LOCK_BUSY,		/* a step is in flight */
	LOCK_HELD,		/* next: READ the record */
	LOCK_SEEN,		/* next: WRITE the record */
	LOCK_CHANGED,		/* next: release the lock */
};

struct worker {
	const struct soak_options *opt;
	struct soak_shared *sh;
	struct soak_worker_state *state;
	unsigned int id;
	int fd;			/* to the server */
	struct vt_end end;
	uint64_t words;		/* the server's addresses */
	uint64_t region;
	uint32_t rkey;

	uint64_t posted;	/* requests, and their wr_id */
	uint64_t done;
	uint64_t count[SOAK_KINDS];	/* posted of a kind */
	struct op ops[WINDOW];

	unsigned int lock;
	enum lock_state lock_state;
	struct soak_record record;

	uint64_t random;
	uint8_t shadow[SOAK_REGION];		/* expected bytes of the own region */
	uint8_t snapshots[WINDOW][SLOT];	/* expected result of a READ */
};

__attribute__((format(printf, 2, 3)))
static bool wrong(struct worker *w, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s: worker %u, request %llu: %s\n", w->opt->device, w->id,
	       (unsigned long long)w->done, text);
	fflush(stdout);
	w->state->failed = true;
	return false;
}

static uint64_t random_below(struct worker *w, uint64_t limit)
{
	return random_next(&w->random) % limit;
}

static uint8_t *slot(struct worker *w, uint64_t id)
{
	return w->end.buf + id % WINDOW * SLOT;
}

/* Returns the address of the word with the worker's own 16 bits. */
static uint64_t own_word(const struct worker *w, size_t offset)
{
	return w->words + offset + 8 * (w->id / 4);
}

static unsigned int own_shift(const struct worker *w)
{
	return 16 * (w->id % 4);
}

/*
 * ---- posting ---------------------------------------------------------------
 */

static void build_locks(struct worker *w, struct vt_wr *wr, const struct op *op)
{
	unsigned int shift = 16 * op->lock;
	uint64_t me = w->id + 1ULL;

	wr->op = VT_MCAS;
	wr->raddr = w->words + offsetof(struct soak_words, locks);
	wr->compare_mask = 0xffffULL << shift;
	wr->swap_mask = 0xffffULL << shift;
	wr->compare_add = op->kind == SOAK_GIVE ? me << shift : 0;
	wr->swap = op->kind == SOAK_TRY ? me << shift : 0;
}

static void build_record(struct worker *w, struct vt_wr *wr, struct op *op)
{
	op->len = sizeof(w->record);
	wr->op = op->kind == SOAK_LOOK ? VT_READ : VT_WRITE;
	wr->raddr = w->words + offsetof(struct soak_words, records) +
		    op->lock * sizeof(w->record);
	if (op->kind == SOAK_LOOK)
		return;
	w->record.version++;
	w->record.holder = w->id + 1;
	w->record.check = soak_check(&w->record);
	memcpy(slot(w, w->posted), &w->record, sizeof(w->record));
}

/* Builds a READ or WRITE of a part of the own region. */
static void build_region(struct worker *w, struct vt_wr *wr, struct op *op)
{
	uint8_t *buf = slot(w, w->posted);
	uint64_t value = 0;

	op->len = 1 + (uint32_t)random_below(w, SLOT);
	op->offset = random_below(w, SOAK_REGION - op->len + 1);
	wr->raddr = w->region + op->offset;
	if (op->kind == SOAK_READ) {
		wr->op = VT_READ;
		memcpy(w->snapshots[w->posted % WINDOW], w->shadow + op->offset,
		       op->len);
		return;
	}
	wr->op = VT_WRITE;
	/*
	 * An earlier READ may be executed again until it has completed. The
	 * ordering rules of the IBTA require IBV_SEND_FENCE to prevent that.
	 */
	wr->flags |= IBV_SEND_FENCE;
	for (uint32_t i = 0; i < op->len; i++) {
		if (i % 8 == 0)
			value = random_below(w, UINT64_MAX);
		buf[i] = (uint8_t)(value >> (i % 8 * 8));
	}
	memcpy(w->shadow + op->offset, buf, op->len);
}

static void build_atomic(struct worker *w, struct vt_wr *wr, struct op *op)
{
	unsigned int shift = own_shift(w);
	uint64_t n = w->count[op->kind] & 0xffff;

	op->expected = n;
	switch (op->kind) {
	case SOAK_FIELD:
		wr->op = VT_MFADD;
		wr->raddr = own_word(w, offsetof(struct soak_words, fields));
		wr->compare_add = 1ULL << shift;
		wr->compare_mask = 0x8000800080008000;
		break;
	case SOAK_SWAP:
		wr->op = VT_MCAS;
		wr->raddr = own_word(w, offsetof(struct soak_words, swaps));
		wr->compare_add = n << shift;
		wr->swap = ((n + 1) & 0xffff) << shift;
		wr->compare_mask = 0xffffULL << shift;
		wr->swap_mask = 0xffffULL << shift;
		break;
	case SOAK_TICKET:
		wr->op = VT_FADD;
		wr->raddr = w->words + offsetof(struct soak_words, tickets);
		wr->compare_add = 1;
		op->expected = atomic_load(&w->sh->tickets.next);
		break;
	default:
		wr->op = VT_MFADD;
		wr->raddr = w->words + offsetof(struct soak_words, twins);
		wr->compare_add = 1 | 1ULL << 48;
		wr->compare_mask = 1ULL << 47 | 1ULL << 63;
		op->expected = atomic_load(&w->sh->twins.next);
		break;
	}
}

static bool post(struct worker *w, enum soak_kind kind, bool signalled)
{
	struct op *op = &w->ops[w->posted % WINDOW];
	uint8_t *buf = slot(w, w->posted);
	uint64_t add[4], boundary[4];
	struct ibv_sge sge;
	struct vt_wr wr = {
		.via = VT_WR, .wr_id = w->posted, .rkey = w->rkey, .sge = &sge,
		.num_sge = 1, .flags = signalled ? IBV_SEND_SIGNALED : 0,
		.operands = { add, NULL, boundary },
	};
	int ret;

	*op = (struct op){ .kind = kind, .signalled = signalled, .len = 8,
			   .lock = w->lock };
	memset(buf, 0xa5, 64);
	switch (kind) {
	case SOAK_TRY:
	case SOAK_GIVE:
		build_locks(w, &wr, op);
		break;
	case SOAK_LOOK:
	case SOAK_CHANGE:
		build_record(w, &wr, op);
		break;
	case SOAK_WRITE:
	case SOAK_READ:
		build_region(w, &wr, op);
		break;
	case SOAK_SEND:
		wr.op = VT_SEND;
		op->len = sizeof(struct soak_message) + (uint32_t)random_below(w,
				SOAK_MESSAGE - sizeof(struct soak_message) + 1);
		soak_fill_message(buf, w->count[kind], op->len);
		break;
	case SOAK_WIDE:
		wr.op = VT_MFADD;
		wr.log_arg_sz = 5;
		wr.raddr = w->words + offsetof(struct soak_words, wide);
		for (int i = 0; i < 4; i++) {
			add[i] = 1ULL << own_shift(w);
			boundary[i] = 0x8000800080008000;
		}
		op->len = 32;
		op->expected = w->count[kind] & 0xffff;
		break;
	default:
		build_atomic(w, &wr, op);
		break;
	}
	if (wr.op < VT_MCAS && random_below(w, 2))
		wr.via = VT_POST_SEND;
	sge = vt_sge(&w->end, (size_t)(buf - w->end.buf), op->len);
	ret = vt_post(&w->end, &wr);
	if (ret)
		return wrong(w, "cannot post: %s", strerror(ret));
	w->count[kind]++;
	w->posted++;
	return true;
}

static enum soak_kind choose(struct worker *w)
{
	static const uint8_t percent[SOAK_KINDS] = {
		[SOAK_FIELD] = 25, [SOAK_SWAP] = 20, [SOAK_TICKET] = 10,
		[SOAK_TWIN] = 15, [SOAK_WIDE] = 5, [SOAK_TRY] = 8,
		[SOAK_WRITE] = 6, [SOAK_READ] = 6, [SOAK_SEND] = 5,
	};
	uint64_t n = random_below(w, 100);
	enum soak_kind kind = SOAK_FIELD;

	while (n >= percent[kind]) {
		n -= percent[kind];
		kind++;
	}
	/* Only four workers have bits in these words. */
	if (kind == SOAK_WIDE && w->id >= 4)
		return SOAK_FIELD;
	return kind;
}

static bool lock_waits(const struct worker *w)
{
	return w->lock_state == LOCK_HELD || w->lock_state == LOCK_SEEN ||
	       w->lock_state == LOCK_CHANGED;
}

/* Posts the next step with the lock that the worker holds. */
static bool post_lock(struct worker *w, bool signalled)
{
	switch (w->lock_state) {
	case LOCK_HELD:
		w->lock_state = LOCK_BUSY;
		return post(w, SOAK_LOOK, signalled);
	case LOCK_SEEN:
		w->lock_state = LOCK_CHANGED;
		return post(w, SOAK_CHANGE, signalled);
	default:
		w->lock_state = LOCK_BUSY;
		atomic_store(&w->sh->holders[w->lock], 0);
		return post(w, SOAK_GIVE, signalled);
	}
}

static bool post_next(struct worker *w)
{
	bool last = w->posted + 1 - w->done == WINDOW;
	/*
	 * The last request of a full window is signaled, so that a completion
	 * arrives.
	 */
	bool signalled = last || random_below(w, 4);
	enum soak_kind kind;

	if (lock_waits(w))
		return post_lock(w, signalled);
	kind = choose(w);
	if (kind == SOAK_TRY && w->lock_state == LOCK_BUSY)
		kind = SOAK_SWAP;
	if (kind == SOAK_TRY) {
		w->lock_state = LOCK_BUSY;
		w->lock = (unsigned int)random_below(w, SOAK_LOCKS);
	}
	return post(w, kind, signalled);
}

/*
 * ---- results ---------------------------------------------------------------
 */

static bool take_number(struct worker *w, struct soak_history *h,
			uint64_t number, uint64_t at_least)
{
	uint64_t next = atomic_load(&h->next), bit = 1ULL << number % 64;

	if (number >= SOAK_TICKETS)
		return wrong(w, "number %#llx", (unsigned long long)number);
	if (number < at_least)
		return wrong(w, "number %llu, when %llu had been given out",
			     (unsigned long long)number,
			     (unsigned long long)at_least - 1);
	if (atomic_fetch_or(&h->seen[number / 64], bit) & bit)
		return wrong(w, "number %llu is given out twice",
			     (unsigned long long)number);
	while (next <= number &&
	       !atomic_compare_exchange_weak(&h->next, &next, number + 1))
		;
	return true;
}

static bool lock_result(struct worker *w, const struct op *op, uint64_t old)
{
	uint64_t holder = old >> (16 * op->lock) & 0xffff, me = w->id + 1;

	if (holder > w->opt->workers)
		return wrong(w, "lock %u is held by %llu", op->lock,
			     (unsigned long long)holder);
	if (op->kind == SOAK_GIVE) {
		if (holder != me)
			return wrong(w, "own lock %u is held by %llu", op->lock,
				     (unsigned long long)holder);
		w->lock_state = LOCK_NONE;
		return true;
	}
	if (holder == me)
		return wrong(w, "lock %u was held already", op->lock);
	w->lock_state = holder ? LOCK_NONE : LOCK_HELD;
	if (!holder && atomic_exchange(&w->sh->holders[op->lock], (unsigned int)me))
		return wrong(w, "lock %u has two holders", op->lock);
	return true;
}

static bool record_result(struct worker *w, const struct op *op)
{
	memcpy(&w->record, slot(w, w->done), sizeof(w->record));
	if (w->record.check != soak_check(&w->record))
		return wrong(w, "the record of lock %u is torn", op->lock);
	w->lock_state = LOCK_SEEN;
	return take_number(w, &w->sh->versions[op->lock], w->record.version, 0);
}

static bool wide_result(struct worker *w, const struct op *op)
{
	uint64_t old[4];

	memcpy(old, slot(w, w->done), sizeof(old));
	/* Each operation changes all four words at once in the same way. */
	if (old[0] != old[1] || old[0] != old[2] || old[0] != old[3])
		return wrong(w, "32 bytes are torn");
	if ((be64toh(old[0]) >> own_shift(w) & 0xffff) != op->expected)
		return wrong(w, "own bits of 32 bytes: %#llx, expected %#llx",
			     (unsigned long long)be64toh(old[0]),
			     (unsigned long long)op->expected);
	return true;
}

static bool own_result(struct worker *w, const struct op *op, uint64_t old)
{
	if ((old >> own_shift(w) & 0xffff) == op->expected)
		return true;
	return wrong(w, "%s: own bits of %#llx, expected %#llx",
		     op->kind == SOAK_FIELD ? "addition" : "swap",
		     (unsigned long long)old, (unsigned long long)op->expected);
}

/* Checks the result of the oldest request, which has completed. */
static bool check_result(struct worker *w)
{
	const struct op *op = &w->ops[w->done % WINDOW];
	const uint8_t *buf = slot(w, w->done);
	uint64_t old;

	memcpy(&old, buf, sizeof(old));
	switch (op->kind) {
	case SOAK_FIELD:
	case SOAK_SWAP:
		return own_result(w, op, old);
	case SOAK_TICKET:
		return take_number(w, &w->sh->tickets, old, op->expected);
	case SOAK_TWIN:
		if (old >> 48 != (old & 0xffff))
			return wrong(w, "fields of %#llx differ",
				     (unsigned long long)old);
		return take_number(w, &w->sh->twins, old & 0xffffffffffff,
				   op->expected);
	case SOAK_WIDE:
		return wide_result(w, op);
	case SOAK_TRY:
	case SOAK_GIVE:
		return lock_result(w, op, old);
	case SOAK_LOOK:
		return record_result(w, op);
	case SOAK_READ:
		if (memcmp(buf, w->snapshots[w->done % WINDOW], op->len))
			return wrong(w, "%u bytes read at %zu are wrong",
				     op->len, op->offset);
		return true;
	case SOAK_CHANGE:
		w->state->taken[op->lock]++;
		return true;
	default:
		return true;
	}
}

static bool is_masked(enum soak_kind kind)
{
	return kind == SOAK_FIELD || kind == SOAK_SWAP || kind == SOAK_TWIN ||
	       kind == SOAK_WIDE || kind == SOAK_TRY || kind == SOAK_GIVE;
}

/*
 * The connection is lost: requests in flight may have been executed, in order.
 */
static bool lose(struct worker *w, const struct ibv_wc *wc)
{
	if (!w->opt->may_lose || wc->status != IBV_WC_RETRY_EXC_ERR)
		return wrong(w, "%s (request %llu)", vt_status(wc->status),
			     (unsigned long long)wc->wr_id);
	for (; w->done < w->posted; w->done++)
		w->state->unknown[w->ops[w->done % WINDOW].kind]++;
	w->state->lost = true;
	return false;
}

/* Waits for one completion. Returns false if this worker must end. */
static bool complete(struct worker *w)
{
	uint64_t expected = w->done;
	struct ibv_wc wc;

	if (!vt_poll(w->end.cq, &wc, VT_MS))
		return wrong(w, "no completion");
	w->state->completions++;
	if (wc.status != IBV_WC_SUCCESS)
		return lose(w, &wc);
	while (!w->ops[expected % WINDOW].signalled)
		expected++;
	if (wc.wr_id != expected)
		return wrong(w, "completion of %llu, not of %llu",
			     (unsigned long long)wc.wr_id,
			     (unsigned long long)expected);
	for (; w->done <= expected; w->done++) {
		enum soak_kind kind = w->ops[w->done % WINDOW].kind;

		if (!check_result(w))
			return false;
		w->state->done[kind]++;
		if (is_masked(kind))
			atomic_fetch_add(&w->sh->masked, 1);
	}
	return true;
}

/*
 * ---- the stages ------------------------------------------------------------
 */

static bool traffic(struct worker *w)
{
	while (atomic_load(&w->sh->stage) == SOAK_TRAFFIC) {
		while (w->posted - w->done < WINDOW)
			if (!post_next(w))
				return false;
		/* Room for requests without a completion of their own. */
		while (w->posted - w->done > WINDOW / 2)
			if (!complete(w))
				return false;
	}
	return true;
}

/* Completes all requests and releases the lock. */
static bool drain(struct worker *w)
{
	while (w->posted > w->done || w->lock_state != LOCK_NONE) {
		bool full = w->posted - w->done == WINDOW;
		bool comes = w->posted > w->done &&
			     w->ops[(w->posted - 1) % WINDOW].signalled;
		bool good = true;

		if (lock_waits(w) && !full)
			good = post_lock(w, true);
		else if (!comes)
			good = post(w, SOAK_FIELD, true);
		if (!good || !complete(w))
			return false;
	}
	return true;
}

static bool verify(struct worker *w)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(w->end.cq, 1, &wc))
		return wrong(w, "one completion too many");
	for (size_t at = 0; at < SOAK_REGION; at += SLOT) {
		struct ibv_sge sge = vt_sge(&w->end, 0, SLOT);
		struct vt_wr wr = {
			.op = VT_READ, .via = VT_WR, .sge = &sge, .num_sge = 1,
			.raddr = w->region + at, .rkey = w->rkey,
		};

		if (vt_do(&w->end, &wr, NULL) != IBV_WC_SUCCESS ||
		    memcmp(w->end.buf, w->shadow + at, SLOT))
			return wrong(w, "the region at %zu is wrong", at);
	}
	if (!soak_write(w->fd, "", 1) ||
	    !soak_read(w->fd, &w->state->received, sizeof(w->state->received)))
		return wrong(w, "the server does not answer");
	return true;
}

static void await(struct soak_shared *sh, enum soak_stage stage)
{
	while (atomic_load(&sh->stage) < (int)stage)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

int soak_ask(const struct soak_options *opt, const struct soak_hello *hello)
{
	struct addrinfo hints = {
		.ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *addr;
	int fd, ret;

	ret = getaddrinfo(opt->server, opt->port, &hints, &addr);
	if (ret)
		vt_bail("%s: %s", opt->server, gai_strerror(ret));
	for (int tries = 0;; tries++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			vt_bail("socket");
		if (!connect(fd, addr->ai_addr, addr->ai_addrlen))
			break;
		if (tries == 100)
			vt_bail("cannot connect to %s", opt->server);
		close(fd);
		usleep(100000);
	}
	freeaddrinfo(addr);
	if (!soak_write(fd, hello, sizeof(*hello)))
		vt_bail("%s has hung up", opt->server);
	return fd;
}

static void prepare(struct worker *w, struct vt_dev *dev)
{
	struct soak_hello hello = {
		.request = SOAK_CONNECT, .worker = w->id, .gid = dev->gid4,
		.mtu = dev->active_mtu,
	};
	struct vt_conf conf = soak_conf();
	struct soak_answer answer;

	conf.size = WINDOW * SLOT;
	conf.timeout = w->opt->timeout;
	vt_end_create(&w->end, dev, &conf, NULL, NULL);
	hello.qp_num = w->end.qp->qp_num;
	w->fd = soak_ask(w->opt, &hello);
	if (!soak_read(w->fd, &answer, sizeof(answer)))
		vt_bail("%s has hung up", w->opt->server);
	soak_connect(&w->end, &conf, answer.qp_num, answer.mtu, &answer.gid);
	w->rkey = answer.rkey;
	w->words = answer.addr + offsetof(struct soak_memory, words);
	w->region = answer.addr + offsetof(struct soak_memory, regions) +
		    w->id * SOAK_REGION;
}

int soak_work(const struct soak_options *opt, struct soak_shared *sh,
	      unsigned int id)
{
	struct worker *w = calloc(1, sizeof(*w));
	struct vt_dev *dev = vt_open(opt->device);
	bool good;

	if (!w)
		vt_bail("out of memory");
	w->opt = opt;
	w->sh = sh;
	w->id = id;
	w->state = &sh->workers[id];
	w->random = opt->seed + id;
	prepare(w, dev);
	atomic_fetch_add(&sh->arrived, 1);
	await(sh, SOAK_TRAFFIC);
	good = traffic(w) && drain(w);
	atomic_fetch_add(&sh->arrived, 1);
	await(sh, SOAK_VERIFY);
	good = good && verify(w);
	close(w->fd);
	vt_end_close(&w->end);
	vt_close(dev);
	free(w);
	return good || sh->workers[id].lost ? 0 : 1;
}
