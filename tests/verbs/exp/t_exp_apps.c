// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that programs of the experimental verbs get the same results from
 * native and from emulated masked atomics, with small versions of typical
 * programs. The devices are $MXE_A and $MXE_B, which may be the same.
 *
 * t_exp_apps [OPERATIONS]: number of operations of each process (default 200).
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

#include "tap.h"
#include "vt.h"

#define CHILDREN 3
#define CHAIN 8
#define FIELD(n, value) ((uint64_t)(value) << (16 * (n)))
#define TOPS 0x8000800080008000ull

struct shared {
	_Alignas(64) uint64_t fields;	/* four counters of 16 bits */
	_Alignas(64) uint64_t chained;	/* the same, by chains */
	_Alignas(64) uint64_t locks;	/* four locks of 16 bits */
	_Alignas(64) uint64_t guarded[4];
	_Alignas(64) atomic_int ready;
	atomic_int overlaps;
	atomic_bool failed;		/* a process, which may hold a lock */
};

static struct shared *sh;

/* ---- requests ------------------------------------------------------------ */

static struct ibv_exp_send_wr masked_wr(const struct vt_pair *p, int opcode,
					struct ibv_sge *sge, void *word)
{
	struct ibv_exp_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.exp_opcode = opcode;
	wr.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE;
	wr.ext_op.masked_atomics.log_arg_sz = 3;
	wr.ext_op.masked_atomics.remote_addr = (uintptr_t)word;
	wr.ext_op.masked_atomics.rkey = p->b.mr->rkey;
	return wr;
}

static struct ibv_exp_send_wr add_wr(const struct vt_pair *p,
				     struct ibv_sge *sge, void *word,
				     uint64_t add, uint64_t boundary)
{
	struct ibv_exp_send_wr wr =
		masked_wr(p, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, sge,
			  word);
	struct ibv_exp_fetch_add *fa =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;

	fa->add_val = add;
	fa->field_boundary = boundary;
	return wr;
}

/* Swaps the bits of mask from one value to another. */
static struct ibv_exp_send_wr cas_wr(const struct vt_pair *p,
				     struct ibv_sge *sge, void *word,
				     uint64_t from, uint64_t to, uint64_t mask)
{
	struct ibv_exp_send_wr wr =
		masked_wr(p, IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, sge,
			  word);
	struct ibv_exp_cmp_swap *cs =
		&wr.ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;

	cs->compare_val = from;
	cs->compare_mask = mask;
	cs->swap_val = to;
	cs->swap_mask = mask;
	return wr;
}

static struct ibv_exp_send_wr rdma_wr(int opcode, struct ibv_sge *sge,
				      void *at, uint32_t rkey)
{
	struct ibv_exp_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.exp_opcode = opcode;
	wr.wr.rdma.remote_addr = (uintptr_t)at;
	wr.wr.rdma.rkey = rkey;
	return wr;
}

/*
 * Posts a chain of n requests, signals only the last, and waits for its
 * completion.
 */
static bool run_chain(struct vt_pair *p, struct ibv_exp_send_wr *wrs, int n)
{
	static uint64_t next_id = 1000;
	struct ibv_exp_send_wr *bad;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < n; i++) {
		wrs[i].next = i + 1 < n ? &wrs[i + 1] : NULL;
		wrs[i].wr_id = next_id++;
	}
	wrs[n - 1].exp_send_flags |= IBV_EXP_SEND_SIGNALED;
	if (ibv_exp_post_send(p->a.qp, wrs, &bad)) {
		diag("cannot post");
		return false;
	}
	if (!vt_poll(p->a.cq, &wc, VT_MS) || wc.status ||
	    wc.wr_id != wrs[n - 1].wr_id) {
		diag("wr_id %" PRIu64 ", not %" PRIu64 ": %s", wc.wr_id,
		     wrs[n - 1].wr_id, vt_status(wc.status));
		return false;
	}
	return true;
}

/*
 * ---- processes that contend -----------------------------------------------
 */

/* Each process increments its own field of a word and sees it grow. */
static bool run_counters(struct vt_pair *p, int me, int count)
{
	uint64_t seen = 0;

	for (int i = 0; i < count; i++) {
		struct ibv_sge sge = vt_sge(&p->a, 0, 8);
		struct ibv_exp_send_wr wr =
			add_wr(p, &sge, &sh->fields, FIELD(me, 0x0123), TOPS);

		if (!run_chain(p, &wr, 1))
			return false;
		if ((*vt_word(&p->a, 0) & FIELD(me, 0xffff)) != seen) {
			diag("%#" PRIx64 ", not %#" PRIx64,
			     *vt_word(&p->a, 0), seen);
			return false;
		}
		seen = (seen + FIELD(me, 0x0123)) & FIELD(me, 0xffff);
	}
	return true;
}

/* Chains with one completion each. All results use one buffer. */
static bool run_chains(struct vt_pair *p, int me, int count)
{
	struct ibv_exp_send_wr wrs[CHAIN];
	struct ibv_sge sge = vt_sge(&p->a, 8, 8);

	for (int i = 0; i < count / CHAIN; i++) {
		for (int j = 0; j < CHAIN; j++)
			wrs[j] = add_wr(p, &sge, &sh->chained, FIELD(me, 1),
					TOPS);
		if (!run_chain(p, wrs, CHAIN))
			return false;
		if ((*vt_word(&p->a, 8) >> (16 * me) & 0xffff) !=
		    (uint64_t)(i + 1) * CHAIN - 1)
			return false;
	}
	return true;
}

/*
 * A lock table: a process takes a lock with a masked compare-and-swap, reads
 * the data that the lock protects, and writes them in one chain with the
 * release.
 */
static bool run_locks(struct vt_pair *p, int me, int count)
{
	struct ibv_sge old = vt_sge(&p->a, 16, 8), data = vt_sge(&p->a, 24, 8);
	struct ibv_exp_send_wr wrs[2];

	for (int i = 0; i < count; i++) {
		int n = (me + i) & 1;
		uint64_t mask = FIELD(n, 0xffff), mine = FIELD(n, me + 1);

		do {
			wrs[0] = cas_wr(p, &old, &sh->locks, 0, mine, mask);
			if (atomic_load(&sh->failed) || !run_chain(p, wrs, 1))
				return false;
		} while (*vt_word(&p->a, 16) & mask);
		wrs[0] = rdma_wr(IBV_EXP_WR_RDMA_READ, &data, &sh->guarded[n],
				 p->b.mr->rkey);
		if (!run_chain(p, wrs, 1))
			return false;
		++*vt_word(&p->a, 24);
		wrs[0] = rdma_wr(IBV_EXP_WR_RDMA_WRITE, &data, &sh->guarded[n],
				 p->b.mr->rkey);
		wrs[1] = cas_wr(p, &old, &sh->locks, mine, 0, mask);
		if (!run_chain(p, wrs, 2))
			return false;
		if ((*vt_word(&p->a, 16) & mask) != mine)
			atomic_fetch_add(&sh->overlaps, 1);
	}
	return true;
}

static void open_pair(struct vt_pair *p, struct vt_conf *conf, void *buf)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());

	conf->exp = true;
	conf->timeout = 16;	/* 0.27 s */
	conf->buf = buf;
	if (buf)
		conf->size = sizeof(*sh);
	vt_pair_open(p, a, b, conf);
}

static void close_pair(struct vt_pair *p)
{
	struct vt_dev *a = p->a.dev, *b = p->b.dev;

	vt_pair_close(p);
	vt_close(a);
	vt_close(b);
}

static int child(int me, int count)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	bool good;

	conf.size = sizeof(*sh);
	open_pair(&p, &conf, sh);
	atomic_fetch_add(&sh->ready, 1);
	for (int i = 0; i < VT_MS && atomic_load(&sh->ready) < CHILDREN; i++)
		usleep(1000);
	good = run_counters(&p, me, count) && run_chains(&p, me, count) &&
	       run_locks(&p, me, count / 8);
	close_pair(&p);
	return good ? 0 : 1;
}

static void test_contention(int count)
{
	uint64_t want = 0, chained = 0;
	int status;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			vt_bail("fork");
		if (!pid)
			_exit(child(i, count));
		want |= FIELD(i, (uint64_t)count * 0x0123 & 0xffff);
		chained |= FIELD(i, count / CHAIN * CHAIN);
	}
	while (wait(&status) > 0)
		if (!ok(WIFEXITED(status) && !WEXITSTATUS(status), "a process succeeds"))
			atomic_store(&sh->failed, true);
	is_u64(sh->fields, want, "counters of 16 bits in one word");
	is_u64(sh->chained, chained, "... by chains with one completion");
	is_u64(sh->guarded[0] + sh->guarded[1],
	       (uint64_t)(count / 8 * CHILDREN),
	       "the words that the locks guard have the right sum");
	is_u64(sh->locks, 0, "... all locks are free");
	is_int(atomic_load(&sh->overlaps), 0, "... and had one owner at a time");
}

/*
 * ---- one at a time ---------------------------------------------------------
 */

static void test_query(struct vt_dev *dev)
{
	struct ibv_exp_device_attr attr = {
		.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS |
			     IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS |
			     IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS,
	};

	is_int(ibv_exp_query_device(dev->ctx, &attr), 0,
	       "ibv_exp_query_device()");
	ok(attr.exp_device_cap_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS,
	   "... masked atomics");
	ok(attr.masked_atomic.masked_log_atomic_arg_sizes & 8, "... of 8 bytes");
	ok(attr.ext_atom.log_atomic_arg_sizes & 8, "... in both attributes");
	ok(attr.masked_atomic.max_fa_bit_boundary >= 64, "... any field");
	ok(!(attr.exp_device_cap_flags &
	     IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED) == dev->is_mxe,
	   "... reported as emulated if they are");
}

static void test_completions(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8), read = vt_sge(&p->a, 64, 8);
	struct ibv_exp_send_wr wrs[4], *bad;
	struct ibv_exp_wc wc[8];
	int n = 0;

	*vt_word(&p->b, 0) = 0xabcd000000000011;
	wrs[0] = cas_wr(p, &sge, p->b.buf, 0x10, 0x20, 0xf0);
	wrs[1] = add_wr(p, &sge, p->b.buf, 0xf0, 0x80);
	wrs[2] = rdma_wr(IBV_EXP_WR_RDMA_READ, &read, p->b.buf,
			 p->b.mr->rkey);
	wrs[3] = cas_wr(p, &sge, p->b.buf, 0, 0xffff, 0xff00);
	for (int i = 0; i < 4; i++) {
		wrs[i].wr_id = ~(uint64_t)i;
		wrs[i].next = i < 3 ? &wrs[i + 1] : NULL;
		wrs[i].exp_send_flags |= IBV_EXP_SEND_SIGNALED;
	}
	is_int(ibv_exp_post_send(p->a.qp, wrs, &bad), 0, "four requests");
	for (int i = 0; i < VT_MS && n < 4; i++) {
		n += ibv_exp_poll_cq(p->a.cq, 8 - n, &wc[n], sizeof(wc[0]));
		usleep(100);
	}
	if (!is_int(n, 4, "four completions"))
		return;
	for (int i = 0; i < 4; i++)
		ok(wc[i].wr_id == ~(uint64_t)i && !wc[i].status &&
		   wc[i].qp_num == p->a.qp->qp_num, "number %d", i);
	is_int(wc[0].exp_opcode, IBV_EXP_WC_MASKED_COMP_SWAP, "its opcode");
	is_int(wc[1].exp_opcode, IBV_EXP_WC_MASKED_FETCH_ADD, "its opcode");
	is_int(wc[2].exp_opcode, IBV_EXP_WC_RDMA_READ, "its opcode");
	is_int(wc[3].exp_opcode, IBV_EXP_WC_MASKED_COMP_SWAP, "its opcode");
	is_int(wc[1].byte_len, 8, "its length");
	is_u64(*vt_word(&p->a, 64), 0xabcd000000000011,
	       "the READ follows a swap and an addition without carry");
	is_u64(*vt_word(&p->a, 0), 0xabcd000000000011, "the last result");
	is_u64(*vt_word(&p->b, 0), 0xabcd00000000ff11, "... precedes the last swap");
	is_int(ibv_exp_poll_cq(p->a.cq, 8, wc, sizeof(wc[0])), 0, "no more");
}

/* An unlock that is never polled for must not stay in the queue. */
static void test_not_polled(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8), data = vt_sge(&p->a, 64, 8);
	struct ibv_exp_send_wr wrs[2], *bad;
	int i;

	*vt_word(&p->b, 128) = 0x5555000000000001;
	*vt_word(&p->b, 136) = 0;
	*vt_word(&p->a, 64) = 0x77;
	wrs[0] = cas_wr(p, &sge, p->b.buf + 128, 1, 0, 0xffff);
	wrs[1] = rdma_wr(IBV_EXP_WR_RDMA_WRITE, &data, p->b.buf + 136,
			 p->b.mr->rkey);
	wrs[0].next = &wrs[1];
	wrs[1].next = NULL;
	is_int(ibv_exp_post_send(p->a.qp, wrs, &bad), 0, "nothing signaled");
	for (i = 0; i < VT_MS; i++) {
		if (__atomic_load_n(vt_word(&p->b, 136), __ATOMIC_RELAXED))
			break;
		usleep(1000);
	}
	is_u64(*vt_word(&p->b, 128), 0x5555000000000000,
	       "a lock is released without polling");
	is_u64(*vt_word(&p->b, 136), 0x77, "... before the next request");
	/*
	 * The completion of this request frees the entries of the earlier ones.
	 */
	ok(run_chain(p, &wrs[1], 1), "... and the queue continues");
}

static void test_events(void)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_exp_send_wr wr, *bad;
	struct ibv_sge sge;
	struct ibv_cq *cq;
	struct vt_pair p;
	struct ibv_wc wc;
	int done = 0;
	void *context;

	conf.channel = true;
	open_pair(&p, &conf, NULL);
	sge = vt_sge(&p.a, 0, 8);
	*vt_word(&p.b, 0) = 0x1234;
	for (int i = 0; i < 20; i++) {
		struct pollfd pfd = { p.a.chan->fd, POLLIN, 0 };
		int n = 0;

		/* The word never has the guessed value. */
		*vt_word(&p.b, 0) += 0x10000;
		if (ibv_req_notify_cq(p.a.cq, 0))
			break;
		wr = add_wr(&p, &sge, p.b.buf, 1, 0x8000);
		wr.exp_send_flags |= IBV_EXP_SEND_SIGNALED;
		if (ibv_exp_post_send(p.a.qp, &wr, &bad))
			break;
		while (!n) {
			if (poll(&pfd, 1, VT_MS) != 1 ||
			    ibv_get_cq_event(p.a.chan, &cq, &context))
				break;
			ibv_ack_cq_events(cq, 1);
			if (ibv_req_notify_cq(cq, 0))
				break;
			n = ibv_poll_cq(cq, 1, &wc);
		}
		if (n != 1 || wc.status)
			break;
		done++;
	}
	is_int(done, 20, "a program that sleeps until an event arrives");
	is_u64(*vt_word(&p.b, 0), 0x141234 + 20, "... and the sum is right");
	close_pair(&p);
}

static void test_be_reply(void)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_exp_send_wr wr;
	struct ibv_sge sge;
	struct vt_pair p;

	conf.be_reply = true;
	open_pair(&p, &conf, NULL);
	sge = vt_sge(&p.a, 0, 8);
	*vt_word(&p.b, 0) = 0x0102030405060708;
	wr = add_wr(&p, &sge, p.b.buf, 0xff, 0x80);
	ok(run_chain(&p, &wr, 1), "a queue pair with big-endian replies");
	is_u64(be64toh(*vt_word(&p.a, 0)), 0x0102030405060708,
	       "... of a masked atomic");
	wr = rdma_wr(IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, &sge, NULL, 0);
	wr.wr.atomic.remote_addr = (uintptr_t)p.b.buf;
	wr.wr.atomic.rkey = p.b.mr->rkey;
	wr.wr.atomic.compare_add = 1;
	ok(run_chain(&p, &wr, 1), "a plain one");
	is_u64(be64toh(*vt_word(&p.a, 0)), 0x0102030405060707, "... its reply");
	is_u64(*vt_word(&p.b, 0), 0x0102030405060708, "the word is not swapped");
	close_pair(&p);
}

/* Returns the status of a plain compare-and-swap with a wrong key. */
static int plain_error(uint32_t rkey_flip, uint32_t lkey_flip)
{
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr = { .op = VT_CAS, .sge = &sge, .num_sge = 1 };
	int status;

	open_pair(&p, &conf, NULL);
	sge = vt_sge(&p.a, 0, 8);
	sge.lkey ^= lkey_flip;
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey ^ rkey_flip;
	status = vt_do(&p.a, &wr, NULL);
	diag("fails with: %s", vt_status(status));
	close_pair(&p);
	return status;
}

/* Checks that the failed request and all later ones complete once, in order. */
static void test_error(const char *what, uint32_t rkey_flip,
		       uint32_t lkey_flip, size_t offset)
{
	int status = offset ? IBV_WC_REM_INV_REQ_ERR :
			      plain_error(rkey_flip, lkey_flip);
	struct vt_conf conf = vt_defaults();
	struct ibv_exp_send_wr wrs[4], *bad;
	struct ibv_sge sge, wrong;
	struct vt_pair p;
	struct ibv_wc wc;

	open_pair(&p, &conf, NULL);
	sge = vt_sge(&p.a, 0, 8);
	wrong = sge;
	wrong.lkey ^= lkey_flip;
	wrs[0] = add_wr(&p, &sge, p.b.buf, 1, 0x80);
	wrs[1] = cas_wr(&p, &wrong, p.b.buf + offset, 0, 1, 0xff);
	wrs[1].ext_op.masked_atomics.rkey ^= rkey_flip;
	wrs[2] = rdma_wr(IBV_EXP_WR_RDMA_WRITE, &sge, p.b.buf + 8,
			 p.b.mr->rkey);
	wrs[3] = add_wr(&p, &sge, p.b.buf, 1, 0x80);
	for (int i = 0; i < 4; i++) {
		wrs[i].wr_id = 7 + (uint64_t)i;
		wrs[i].next = i < 3 ? &wrs[i + 1] : NULL;
	}
	is_int(ibv_exp_post_send(p.a.qp, wrs, &bad), 0, "%s", what);
	for (int i = 1; i < 4; i++) {
		if (!ok(vt_poll(p.a.cq, &wc, VT_MS), "... a completion"))
			break;
		is_u64(wc.wr_id, 7 + (uint64_t)i, "... of request %d", i);
		is_int(wc.status, i == 1 ? status : IBV_WC_WR_FLUSH_ERR,
		       "... its status");
	}
	wrs[3].wr_id = 99;
	is_int(ibv_exp_post_send(p.a.qp, &wrs[3], &bad), 0,
	       "... posted afterwards");
	ok(vt_poll(p.a.cq, &wc, VT_MS) && wc.wr_id == 99 &&
	   wc.status == IBV_WC_WR_FLUSH_ERR, "... flushed");
	is_int(ibv_poll_cq(p.a.cq, 1, &wc), 0, "... no more");
	is_u64(*vt_word(&p.b, 8), 0, "... and nothing was written");
	close_pair(&p);
}

static void test_full(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct ibv_exp_send_wr wr, *bad;
	uint32_t posted = 0, done = 0;
	struct ibv_wc wc;
	int err = 0;

	*vt_word(&p->b, 0) = 0x77;
	/* The completion queue has no room for more. */
	while (posted < 64) {
		wr = add_wr(p, &sge, p->b.buf, 0x100, TOPS);
		wr.wr_id = posted;
		wr.exp_send_flags |= IBV_EXP_SEND_SIGNALED;
		err = ibv_exp_post_send(p->a.qp, &wr, &bad);
		if (err)
			break;
		posted++;
	}
	ok(posted == 64, "the send queue takes 64 requests: %u (%s)",
	   posted, strerror(err));
	while (done < posted && vt_poll(p->a.cq, &wc, VT_MS) && !wc.status &&
	       wc.wr_id == done)
		done++;
	is_int(done, posted, "... all complete in order");
	is_u64(*vt_word(&p->b, 0), 0x77 + ((uint64_t)posted * 0x100 & 0xffff),
	       "... the sum");
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 200;
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;

	plan(0);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		vt_bail("mmap");
	test_contention(count);
	open_pair(&p, &conf, NULL);
	test_query(p.a.dev);
	test_completions(&p);
	test_not_polled(&p);
	test_full(&p);
	close_pair(&p);
	test_events();
	test_be_reply();
	test_error("an invalid remote key", 0xffff00, 0, 0);
	test_error("an invalid local key", 0, 0xffff00, 0);
	test_error("an unaligned word", 0, 0, 4);
	return done_testing();
}
