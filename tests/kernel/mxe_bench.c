// SPDX-License-Identifier: GPL-2.0
/*
 * Measures operations of kernel consumers on mxe and rxe, and datagrams of
 * kernel sockets, in turn. tools/lib/guest/native loads this module in User
 * Mode Linux.
 *
 *	insmod mxe_bench.ko mxe=mxe1,mxe2 rxe=rxe1,rxe2 [rounds=100]
 *		[batch=200] [turns=1,100,10000]
 *
 * In each round, each of the contestants executes a batch of operations. The
 * results are in the kernel log, in cycles of the time stamp counter. Loading
 * fails if an operation fails or a value is wrong.
 */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>
#include <net/sock.h>

#include "rc.h"

#define MAX_DEPTH	16
#define MAX_TURNS	8
#define TIMEOUT		(10 * HZ)

static char *mxe[2], *rxe[2];
module_param_array(mxe, charp, NULL, 0444);
module_param_array(rxe, charp, NULL, 0444);
static uint rounds = 100;
module_param(rounds, uint, 0444);
static uint batch = 200;
module_param(batch, uint, 0444);
static uint turns[MAX_TURNS];
static uint num_turns;
module_param_array(turns, uint, &num_turns, 0444);

static u64 cycles(void)
{
#if defined(CONFIG_UML) && defined(CONFIG_X86_64)
	u32 low, high;

	/* User Mode Linux has no get_cycles(). */
	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return (u64)high << 32 | low;
#else
	return get_cycles();
#endif
}

/* ---- operations -------------------------------------------------------- */

enum operation { OP_WRITE, OP_READ, OP_SEND, OP_CAS, OP_FADD, OP_MCAS, OP_MFADD, NUM_OPS };

#define LOW	0x00000000ffffffffULL
#define TOPS	(BIT_ULL(31) | BIT_ULL(63))	/* of two fields of 32 bits */

/*
 * Datagrams of UDP have the lengths of the request and of the response of the
 * operation: BTH, its other headers, data and ICRC.
 */
static const struct {
	const char *name;
	enum ib_wr_opcode wr;
	enum ib_wc_opcode wc;
	u8 request, response;		/* bytes */
} ops[NUM_OPS] = {
	[OP_WRITE] = { "write", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, 12 + 16 + 8 + 4, 12 + 4 + 4 },
	[OP_READ] = { "read", IB_WR_RDMA_READ, IB_WC_RDMA_READ, 12 + 16 + 4, 12 + 4 + 8 + 4 },
	[OP_SEND] = { "send", IB_WR_SEND, IB_WC_SEND, 12 + 8 + 4, 12 + 4 + 4 },
	[OP_CAS] = { "cas", IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP,
		  12 + 28 + 4, 12 + 4 + 8 + 4 },
	[OP_FADD] = { "fadd", IB_WR_ATOMIC_FETCH_AND_ADD, IB_WC_FETCH_ADD,
		   12 + 28 + 4, 12 + 4 + 8 + 4 },
	[OP_MCAS] = { "mcas", IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WC_MASKED_COMP_SWAP,
		   12 + 48 + 4, 12 + 4 + 8 + 4 },
	[OP_MFADD] = { "mfadd", IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, IB_WC_MASKED_FETCH_ADD,
		    12 + 48 + 4, 12 + 4 + 8 + 4 },
};

/* Returns the word after an atomic. */
static u64 word_after(enum operation op, u64 word)
{
	u64 low = (u32)(word + 1);

	if (op == OP_MCAS)
		return (word & ~LOW) | low;
	if (op == OP_MFADD)
		return ((word & ~LOW) + BIT_ULL(32)) | low;
	return word + 1;
}

static void fill_atomic(struct ib_atomic_wr *wr, enum operation op, u64 word)
{
	switch (op) {
	case OP_CAS:
		wr->compare_add = word;
		wr->swap = word_after(op, word);
		break;
	case OP_FADD:
		wr->compare_add = 1;
		break;
	case OP_MCAS:
		wr->compare_add = word & LOW;
		wr->compare_add_mask = LOW;
		wr->swap = word_after(op, word) & LOW;
		wr->swap_mask = LOW;
		break;
	default:
		wr->compare_add = BIT_ULL(32) | 1;
		wr->compare_add_mask = TOPS;
		break;
	}
}

/* ---- contestants ------------------------------------------------------- */

struct pair {
	struct ib_qp *near, *far;
};

/* mxe or rxe on one path: the sides are of one device in loop. */
struct rdma {
	struct side near, far;
	struct pair *pairs;
	unsigned int num_pairs;
	unsigned int turn;		/* pair of the next operation */
	struct ib_mr *mr;		/* of far_mem */
	u64 *near_mem, *far_mem;	/* a page each */
	u64 near_dma, far_dma;
	u64 word;			/* expected value of far_mem[0] */
};

struct udp {
	struct socket *near, *far;
};

static struct rdma mxe_rdma, rxe_rdma;
static struct udp udp;
static u64 serial;			/* makes all data different */

static void wait_a_moment(void)
{
	/* Runs the softirqs that are pending. */
	local_bh_disable();
	local_bh_enable();
	cond_resched();
}

/* Polls completions of one kind. */
static int poll_cq(struct ib_cq *cq, unsigned int num, enum ib_wc_opcode opcode)
{
	unsigned long end = jiffies + TIMEOUT;
	struct ib_wc wc[MAX_DEPTH];

	while (num) {
		int i, n = ib_poll_cq(cq, num, wc);

		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (wc[i].status == IB_WC_SUCCESS && wc[i].opcode == opcode)
				continue;
			pr_err("completion of opcode %d: %s\n", wc[i].opcode,
			       ib_wc_status_msg(wc[i].status));
			return -EIO;
		}
		num -= n;
		if (n)
			continue;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		wait_a_moment();
	}
	return 0;
}

/* With BHs disabled, rxe does not wake the thread of softirqs. */
static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr)
{
	int err;

	local_bh_disable();
	err = ib_post_send(qp, wr, NULL);
	local_bh_enable();
	return err;
}

static int post_recvs(struct rdma *r, struct ib_qp *qp, unsigned int depth)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < depth; i++) {
		struct ib_sge sge = { r->far_dma + i * sizeof(u64), sizeof(u64),
				      r->far.pd->local_dma_lkey };
		struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

		err = ib_post_recv(qp, &wr, NULL);
	}
	return err;
}

/*
 * Posts depth requests in one call and polls their completions. Returns the
 * cycles in *spent.
 */
static int rdma_run(struct rdma *r, enum operation op, unsigned int depth, u64 *spent)
{
	struct pair *p = &r->pairs[r->turn++ % r->num_pairs];
	bool atomic = op >= OP_CAS;
	u64 word = r->word, start;
	/* Too large for the stack, and only the loading task is here. */
	static union {
		struct ib_atomic_wr atomic;
		struct ib_rdma_wr rdma;
		struct ib_send_wr send;
	} wr[MAX_DEPTH];
	static struct ib_sge sge[MAX_DEPTH];
	static u64 want[MAX_DEPTH];	/* in near_mem, or in far_mem */
	unsigned int i;
	int err = 0;

	memset(wr, 0, depth * sizeof(wr[0]));
	for (i = 0; i < depth; i++) {
		u64 va = r->mr->iova + i * sizeof(u64);

		sge[i] = (struct ib_sge) { r->near_dma + i * sizeof(u64), sizeof(u64),
					   r->near.pd->local_dma_lkey };
		wr[i].send.sg_list = &sge[i];
		wr[i].send.num_sge = 1;
		wr[i].send.send_flags = IB_SEND_SIGNALED;
		wr[i].send.opcode = ops[op].wr;
		wr[i].send.next = i + 1 < depth ? &wr[i + 1].send : NULL;
		want[i] = ++serial;
		r->near_mem[i] = op == OP_READ || atomic ? 0 : want[i];
		if (atomic) {
			want[i] = word;
			wr[i].atomic.remote_addr = r->mr->iova;
			wr[i].atomic.rkey = r->mr->rkey;
			fill_atomic(&wr[i].atomic, op, word);
			word = word_after(op, word);
		} else if (op != OP_SEND) {
			wr[i].rdma.remote_addr = va;
			wr[i].rdma.rkey = r->mr->rkey;
			r->far_mem[i] = op == OP_READ ? want[i] : 0;
		}
	}
	if (atomic)
		r->far_mem[0] = r->word;
	if (op == OP_SEND)
		err = post_recvs(r, p->far, depth);
	if (err)
		return err;

	start = cycles();
	err = post_send(p->near, &wr[0].send);
	if (!err)
		err = poll_cq(r->near.cq, depth, ops[op].wc);
	if (!err && op == OP_SEND)
		err = poll_cq(r->far.cq, depth, IB_WC_RECV);
	*spent = cycles() - start;
	if (err)
		return err;

	r->word = word;
	if (atomic && r->far_mem[0] != word) {
		pr_err("the word is %llx, not %llx\n", r->far_mem[0], word);
		return -EIO;
	}
	for (i = 0; i < depth; i++) {
		u64 got = op == OP_WRITE || op == OP_SEND ? r->far_mem[i] : r->near_mem[i];

		if (got == want[i])
			continue;
		pr_err("value %u is %llx, not %llx\n", i, got, want[i]);
		return -EIO;
	}
	return 0;
}

static int udp_send(struct socket *sock, void *data, size_t len)
{
	struct kvec vec = { data, len };
	struct msghdr msg = {};
	int n = kernel_sendmsg(sock, &msg, &vec, 1, len);

	return n == len ? 0 : n < 0 ? n : -EIO;
}

static int udp_recv(struct socket *sock, void *data, size_t len)
{
	unsigned long end = jiffies + TIMEOUT;
	struct kvec vec = { data, len };
	struct msghdr msg = {};
	int n;

	while ((n = kernel_recvmsg(sock, &msg, &vec, 1, len, MSG_DONTWAIT)) == -EAGAIN) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		wait_a_moment();
	}
	return n == len ? 0 : n < 0 ? n : -EIO;
}

/* Sends depth datagrams, and one for each of them back. */
static int udp_run(enum operation op, unsigned int depth, u64 *spent)
{
	u64 data[64 / sizeof(u64)] = {}, start, base = serial;
	unsigned int i;
	int err = 0;

	start = cycles();
	for (i = 0; !err && i < depth; i++) {
		data[0] = ++serial;
		err = udp_send(udp.near, data, ops[op].request);
	}
	for (i = 0; !err && i < depth; i++) {
		err = udp_recv(udp.far, data, ops[op].request);
		if (!err && data[0] != base + i + 1)
			err = -EIO;
		data[0]++;
		if (!err)
			err = udp_send(udp.far, data, ops[op].response);
	}
	for (i = 0; !err && i < depth; i++) {
		err = udp_recv(udp.near, data, ops[op].response);
		if (!err && data[0] != base + i + 2)
			err = -EIO;
	}
	*spent = cycles() - start;
	return err;
}

/* ---- set-up and tear-down ---------------------------------------------- */

static void pairs_destroy(struct rdma *r)
{
	unsigned int i;

	for (i = 0; i < r->num_pairs; i++) {
		if (!IS_ERR_OR_NULL(r->pairs[i].near))
			ib_destroy_qp(r->pairs[i].near);
		if (!IS_ERR_OR_NULL(r->pairs[i].far))
			ib_destroy_qp(r->pairs[i].far);
	}
	vfree(r->pairs);
	r->pairs = NULL;
	r->num_pairs = 0;
}

static int pair_create(struct rdma *r, struct pair *p)
{
	int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
		     IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
	int err;

	p->near = qp_create(&r->near, MAX_DEPTH, MAX_DEPTH);
	if (IS_ERR(p->near))
		return PTR_ERR(p->near);
	p->far = qp_create(&r->far, MAX_DEPTH, MAX_DEPTH);
	if (IS_ERR(p->far))
		return PTR_ERR(p->far);
	err = qp_connect(&r->near, p->near, &r->far, p->far, access, MAX_DEPTH);
	return err ?: qp_connect(&r->far, p->far, &r->near, p->near, access, MAX_DEPTH);
}

static int pairs_create(struct rdma *r, unsigned int num)
{
	int err = 0;

	r->pairs = vzalloc(array_size(num, sizeof(*r->pairs)));
	if (!r->pairs)
		return -ENOMEM;
	r->turn = 0;
	while (!err && r->num_pairs < num) {
		err = pair_create(r, &r->pairs[r->num_pairs++]);
		cond_resched();
	}
	return err;
}

static int mem_create(struct side *s, u64 **mem, u64 *dma)
{
	*mem = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (!*mem)
		return -ENOMEM;
	*dma = ib_dma_map_single(s->dev, *mem, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(s->dev, *dma))
		return 0;
	free_page((unsigned long)*mem);
	*mem = NULL;
	return -ENOMEM;
}

static void mem_destroy(struct side *s, u64 *mem, u64 dma)
{
	if (!mem)
		return;
	ib_dma_unmap_single(s->dev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	free_page((unsigned long)mem);
}

static void rdma_destroy(struct rdma *r)
{
	pairs_destroy(r);
	if (!IS_ERR_OR_NULL(r->mr))
		ib_dereg_mr(r->mr);
	mem_destroy(&r->near, r->near_mem, r->near_dma);
	mem_destroy(&r->far, r->far_mem, r->far_dma);
	side_destroy(&r->near);
	side_destroy(&r->far);
	*r = (struct rdma) {};
}

static int rdma_create(struct rdma *r, const char *near, const char *far)
{
	struct ib_reg_wr wr;
	int err;

	err = side_create(&r->near, near, 4 * MAX_DEPTH, IB_POLL_DIRECT);
	if (!err)
		err = side_create(&r->far, far, 4 * MAX_DEPTH, IB_POLL_DIRECT);
	if (!err)
		err = mem_create(&r->near, &r->near_mem, &r->near_dma);
	if (!err)
		err = mem_create(&r->far, &r->far_mem, &r->far_dma);
	if (!err)
		err = pairs_create(r, 1);
	if (err)
		return err;
	r->mr = mr_create(&r->far, r->far_mem, r->far_dma,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC, &wr);
	if (IS_ERR(r->mr))
		return PTR_ERR(r->mr);
	err = post_send(r->pairs[0].far, &wr.wr);
	return err ?: poll_cq(r->far.cq, 1, IB_WC_REG_MR);
}

static int sock_create_at(const struct side *s, u16 port, struct socket **sock,
			  struct sockaddr_in *address)
{
	int err = sock_create_kern(s->net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, sock);

	if (err) {
		*sock = NULL;
		return err;
	}
	*address = (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	memcpy(&address->sin_addr, &s->gid.raw[12], 4);
	return kernel_bind(*sock, (void *)address, sizeof(*address));
}

static int udp_create(const struct side *near, const struct side *far)
{
	struct sockaddr_in a, b;
	int err;

	err = sock_create_at(near, 7001, &udp.near, &a);
	if (!err)
		err = sock_create_at(far, 7002, &udp.far, &b);
	if (!err)
		err = kernel_connect(udp.near, (void *)&b, sizeof(b), 0);
	return err ?: kernel_connect(udp.far, (void *)&a, sizeof(a), 0);
}

static void udp_destroy(void)
{
	if (udp.near)
		sock_release(udp.near);
	if (udp.far)
		sock_release(udp.far);
	udp = (struct udp) {};
}

/* ---- the run ----------------------------------------------------------- */

enum contestant { MXE, RXE, UDP, NUM_CONTESTANTS };

static const char * const names[] = { "mxe", "rxe", "udp" };
static u32 *samples[NUM_CONTESTANTS];

/* Executes an operation, or depth of them. */
static int run_once(enum contestant who, enum operation op, unsigned int depth, u64 *spent)
{
	if (who == UDP)
		return udp_run(op, depth, spent);
	return rdma_run(who == MXE ? &mxe_rdma : &rxe_rdma, op, depth, spent);
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Measures contestants (bits) in turn, after operations that are not measured.
 * Prints the median and the 99th percentile of each, for one operation.
 */
static int measure(const char *path, const char *name, enum operation op, unsigned int depth,
		   unsigned int qps, unsigned int contestants)
{
	unsigned int who, i, round, num = rounds * batch;
	u64 spent;
	int err;

	for (round = 0; round <= rounds; round++) {
		for (who = 0; who < NUM_CONTESTANTS; who++) {
			if (!(contestants & BIT(who)))
				continue;
			for (i = 0; i < (round ? batch : max(batch, qps)); i++) {
				err = run_once(who, op, depth, &spent);
				if (err) {
					pr_err("%s %s %u %s: %pe\n", path, name,
					       depth, names[who], ERR_PTR(err));
					return err;
				}
				if (round)
					samples[who][(round - 1) * batch + i] =
						min_t(u64, spent / depth, U32_MAX);
			}
		}
		cond_resched();
	}
	for (who = 0; who < NUM_CONTESTANTS; who++) {
		if (!(contestants & BIT(who)))
			continue;
		sort(samples[who], num, sizeof(u32), compare, NULL);
		pr_info("row %s %s %u %u %s %u %u\n", path, name, depth, qps,
			names[who], samples[who][num / 2], samples[who][num - 1 - num / 100]);
	}
	return 0;
}

static int measure_ops(const char *path)
{
	static const unsigned int depths[] = { 1, MAX_DEPTH };
	unsigned int i;
	enum operation op;
	int err;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		for (op = 0; op < NUM_OPS; op++) {
			/* rxe has no masked atomics. */
			err = measure(path, ops[op].name, op, depths[i], 1,
				      BIT(MXE) | BIT(UDP) | (op < OP_MCAS ? BIT(RXE) : 0));
			if (err)
				return err;
		}
	}
	return 0;
}

/* Measures fetch-and-adds of many queue pairs, one after the other. */
static int measure_turns(const char *path)
{
	unsigned int i;
	int err;

	for (i = 0; i < num_turns; i++) {
		pairs_destroy(&mxe_rdma);
		pairs_destroy(&rxe_rdma);
		err = pairs_create(&mxe_rdma, turns[i]);
		if (!err)
			err = pairs_create(&rxe_rdma, turns[i]);
		if (err) {
			pr_err("%u queue pairs: %pe\n", turns[i], ERR_PTR(err));
			return err;
		}
		err = measure(path, "turns", OP_FADD, 1, turns[i], BIT(MXE) | BIT(RXE));
		if (err)
			return err;
	}
	return 0;
}

static int measure_path(const char *path, unsigned int far)
{
	int err;

	err = rdma_create(&mxe_rdma, mxe[0], mxe[far]);
	if (!err)
		err = rdma_create(&rxe_rdma, rxe[0], rxe[far]);
	if (!err)
		err = udp_create(&mxe_rdma.near, &mxe_rdma.far);
	if (err)
		pr_err("%s: not set up: %pe\n", path, ERR_PTR(err));
	if (!err)
		err = measure_ops(path);
	if (!err)
		err = measure_turns(path);
	udp_destroy();
	rdma_destroy(&rxe_rdma);
	rdma_destroy(&mxe_rdma);
	return err;
}

static int __init mxe_bench_init(void)
{
	u64 ns, start, num = (u64)rounds * batch;
	int i, err = 0;

	if (!mxe[0] || !mxe[1] || !rxe[0] || !rxe[1] || !num || num > SZ_1M)
		return -EINVAL;
	for (i = 0; i < num_turns; i++)
		if (!turns[i])
			return -EINVAL;
	for (i = 0; i < NUM_CONTESTANTS; i++) {
		samples[i] = vmalloc(array_size(num, sizeof(u32)));
		if (!samples[i])
			err = -ENOMEM;
	}
	ns = ktime_get_ns();
	start = cycles();
	if (!err)
		err = measure_path("loop", 0);
	if (!err)
		err = measure_path("wire", 1);
	start = cycles() - start;
	ns = ktime_get_ns() - ns;
	if (!err)
		pr_info("clock %llu cycles %llu ns\n", start, ns);
	for (i = 0; i < NUM_CONTESTANTS; i++)
		vfree(samples[i]);
	return err;
}

static void __exit mxe_bench_exit(void)
{
}

module_init(mxe_bench_init);
module_exit(mxe_bench_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Measures operations of kernel consumers");
MODULE_LICENSE("GPL");
MODULE_VERSION(MXE_VERSION);
