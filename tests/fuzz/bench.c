// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the protocol engine in real time, on the CPU of this host: the
 * sources of the module in a process, with kernel.c below them.
 *
 *	bench [RUNS]
 *
 * A queue pair sends BATCH requests one at a time to another, and each step of
 * the engine is timed for all of them together. Buffers are allocated and freed
 * between the steps, and a sent packet is handed over by a pointer, so IP, the
 * netdevs and system calls are not part of any figure. Each result is verified.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "ip/rx.h"
#include "rc/complete.h"
#include "rc/deliver.h"
#include "rc/send.h"
#include "wire/hdr.h"
#include "world.h"

int printf(const char *fmt, ...);
int puts(const char *text);
int atoi(const char *text);
int main(int argc, char **argv);
int clock_gettime(int clock, struct __kernel_timespec *time);

enum {
	BATCH = 16,
	SAMPLES = 500,			/* batches in a run */
	MAX_RUNS = 99,
	LOCAL = 2048,			/* offset of the requester's buffer */
	KIB = 1024,
};

static const struct world_conf conf = {
	.path_mtu = IB_MTU_4096, .sq_depth = BATCH, .cq_depth = 2 * BATCH,
	.rd_atomic = BATCH,
};

/* ---- time --------------------------------------------------------------- */

static u64 ticks(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) :: "memory");
	return (u64)high << 32 | low;
}

static u64 now_ns(void)
{
	struct __kernel_timespec time;

	clock_gettime(1, &time);	/* CLOCK_MONOTONIC */
	return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static u64 empty;			/* ticks of an empty section */

static void sort(u32 *v, unsigned int n)
{
	unsigned int i, j;

	for (i = 1; i < n; i++) {
		u32 x = v[i];

		for (j = i; j && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* A step that is measured: ticks for a batch. */
struct step {
	u32 samples[SAMPLES];
	u32 runs[MAX_RUNS];		/* median of each run */
};

static unsigned int run, sample, num_runs;

static void note(struct step *step, u64 from)
{
	u64 spent = ticks() - from;

	step->samples[sample] = spent > empty ? spent - empty : 0;
}

static void end_run(struct step *step)
{
	sort(step->samples, SAMPLES);
	step->runs[run] = step->samples[SAMPLES / 2];
}

#define TIME(step, code) do {						\
	u64 __from = ticks();						\
									\
	code;								\
	note(step, __from);						\
} while (0)

static void calibrate(void)
{
	static struct step nothing;

	for (sample = 0; sample < SAMPLES; sample++)
		TIME(&nothing, {});
	sort(nothing.samples, SAMPLES);
	empty = nothing.samples[SAMPLES / 2];
}

/* ---- packets ------------------------------------------------------------ */

static struct sk_buff *sent[BATCH], *received[BATCH];
static struct mxe_pkt pkts[BATCH];
static __le32 icrcs[BATCH];
static unsigned int num_sent;

static void take_sent(struct sk_buff *skb)
{
	CHECK(num_sent < BATCH && !skb_shinfo(skb)->frag_list);
	sent[num_sent++] = skb;
}

/* Replaces the sent packets by received ones. */
static void cross_wire(void)
{
	unsigned int i;

	CHECK(num_sent == BATCH);
	num_sent = 0;
	for (i = 0; i < BATCH; i++) {
		struct iphdr *iph = (struct iphdr *)sent[i]->data;
		struct udphdr *udph = (struct udphdr *)(iph + 1);
		size_t len = sent[i]->len;

		iph->tot_len = htons(len);
		udph->len = htons(len - sizeof(*iph));
		received[i] = fk_skb(sent[i]->data, len);
		kfree_skb(sent[i]);
	}
}

static noinline void parse(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		CHECK(mxe_hdr_parse(received[i], &pkts[i]) == MXE_PKT_OK);
}

/* Bytes of a packet that its ICRC covers, from the BTH on. */
static size_t bth_len(const struct sk_buff *skb)
{
	return skb_tail_pointer(skb) - (u8 *)(udp_hdr(skb) + 1) - MXE_ICRC_SIZE;
}

static noinline void icrc(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		const struct udphdr *udph = udp_hdr(received[i]);

		icrcs[i] = mxe_icrc_ipv4(ip_hdr(received[i]), udph,
					 (const u8 *)(udph + 1),
					 bth_len(received[i]));
	}
}

/*
 * The CRC of all bytes in front of the ICRC, by the routine that the module
 * would choose: for less than 256 bytes, saving the vector unit costs a kernel
 * more than the vector instructions save.
 */
static u32 crc_of(const u8 *packet, size_t len)
{
	len -= MXE_ICRC_SIZE;
	return len < 256 ? crc32_le(MXE_ICRC_SEED, packet, len) :
			   fk_crc32(MXE_ICRC_SEED, packet, len);
}

static noinline void plain_crc(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		icrcs[i] = (__force __le32)crc_of(received[i]->data,
						  received[i]->len);
}

static noinline void plain_copy(u32 len)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		memcpy(fk_memory[2], received[i]->data, len);
}

/*
 * Verifies the ICRCs against those of the sender, and against the plain routine
 * with ones in place of the fields that routers change.
 */
static void check_icrc(void)
{
	static u8 masked[PAGE_SIZE];
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		struct iphdr *iph = (struct iphdr *)masked;
		struct udphdr *udph = (struct udphdr *)(iph + 1);
		struct mxe_bth *bth = (struct mxe_bth *)(udph + 1);
		size_t len = received[i]->len;

		memcpy(masked, received[i]->data, len);
		CHECK(!memcmp(&icrcs[i], masked + len - MXE_ICRC_SIZE,
			      MXE_ICRC_SIZE));
		iph->tos = 0xff;
		iph->ttl = 0xff;
		iph->check = (__force __sum16)0xffff;
		udph->check = (__force __sum16)0xffff;
		*(u8 *)&bth->qpn = 0xff;	/* FECN, BECN, resv8a */
		CHECK(icrcs[i] == cpu_to_le32(~crc_of(masked, len)));
	}
}

/* ---- operations --------------------------------------------------------- */

static const struct op {
	const char *name;
	u8 opcode;
	u32 len;			/* of the payload */
	u64 mask;			/* masked atomics */
} ops[] = {
	{ "fetch-and-add", IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8, 0 },
	{ "masked compare-and-swap",
	  IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP, 8, 0xffff },
	{ "WRITE 8 B", IB_UVERBS_WR_RDMA_WRITE, 8, 0 },
	{ "WRITE 1 KiB", IB_UVERBS_WR_RDMA_WRITE, KIB, 0 },
	{ "READ 8 B", IB_UVERBS_WR_RDMA_READ, 8, 0 },
	{ "READ 1 KiB", IB_UVERBS_WR_RDMA_READ, KIB, 0 },
};

/*
 * The steps of an operation. RECEIVE is a whole reception, which includes the
 * three before. Then crc32 of both packets, and a copy of the payload.
 */
enum {
	REQUEST, PARSE, ICRC, RESPOND, RECEIVE, PARSE_2, ICRC_2, COMPLETE,
	RECEIVE_2, NUM_PARTS,
	BOUND_CRC = NUM_PARTS, BOUND_CRC_2, BOUND_COPY, NUM_STEPS,
};

static struct step steps[ARRAY_SIZE(ops)][NUM_STEPS];

/* Fills the queue. Each compare-and-swap finds the value of the one before. */
static void put_requests(const struct op *op)
{
	struct mxe_ring *ring = &world_qp(A)->req.ring;
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		u32 at = ring->hdr->producer + i;
		struct mxe_send_wqe *wqe = mxe_ring_entry(ring, at);

		*wqe = (struct mxe_send_wqe) {
			.wr_id = i,
			.opcode = op->opcode,
			.flags = MXE_SEND_SIGNALED,
			.num_sge = 1,
			.log_arg_sz = op->mask ? 3 : 0,
			.remote_addr = w.mr->iova,
			.rkey = w.mr->ibmr.rkey,
		};
		if (op->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD)
			wqe->atomic.compare_add = 1;
		if (op->mask) {
			wqe->atomic.compare_add = i;
			wqe->atomic.compare_add_mask = op->mask;
			wqe->atomic.swap = (i + 1) % BATCH;
			wqe->atomic.swap_mask = op->mask;
		}
		*(struct mxe_sge *)(wqe + 1) = (struct mxe_sge) {
			.addr = w.mr->iova + LOCAL,
			.length = op->len,
			.lkey = w.mr->ibmr.lkey,
		};
	}
}

static noinline void request(void)
{
	struct mxe_qp *qp = world_qp(A);
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		qp->req.ring.hdr->producer++;
		mxe_send_doorbell(qp);
	}
}

static noinline void respond(void)
{
	struct mxe_qp *qp = world_qp(B);
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		mxe_qp_recv_begin(qp);
		mxe_deliver(qp, &pkts[i], received[i]);
		mxe_tx_flush(qp, &qp->resp.tx);
		mxe_qp_recv_end(qp);
	}
}

static noinline void complete_responses(void)
{
	struct mxe_qp *qp = world_qp(A);
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		mxe_qp_send_begin(qp);
		mxe_complete_pkt(qp, &pkts[i]);
		mxe_qp_send_end(qp);
	}
}

/* Finds the QP of a connection by a packet, as early_demux.c does. */
static struct mxe_qp *find(const struct sk_buff *skb)
{
	const struct mxe_bth *bth = (const void *)(udp_hdr(skb) + 1);
	struct mxe_qp *qp = mxe_qpn_find(&w.mnet, be32_to_cpu(bth->qpn) &
						  MXE_BTH_QPN_MASK);

	return qp && mxe_qp_is_from_peer(qp, skb) ? qp : NULL;
}

static noinline void receive(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		mxe_rx(&w.mnet, received[i], find(received[i]));
}

static void poll(void)
{
	struct mxe_ring *ring = &w.cq[A].ring;
	unsigned int i;

	CHECK(ring->hdr->producer - ring->hdr->consumer == BATCH);
	for (i = 0; i < BATCH; i++) {
		struct mxe_cqe *cqe = mxe_ring_entry(ring, ring->hdr->consumer++);

		CHECK(cqe->status == IB_WC_SUCCESS && cqe->wr_id == i);
	}
}

/* Operations by the steps that the receive function has. */
static void do_parts(const struct op *op, struct step *step)
{
	unsigned int i;

	put_requests(op);
	TIME(&step[REQUEST], request());
	cross_wire();
	TIME(&step[PARSE], parse());
	TIME(&step[ICRC], icrc());
	check_icrc();
	TIME(&step[BOUND_CRC], plain_crc());
	TIME(&step[BOUND_COPY], plain_copy(op->len));
	TIME(&step[RESPOND], respond());
	cross_wire();
	TIME(&step[PARSE_2], parse());
	TIME(&step[ICRC_2], icrc());
	check_icrc();
	TIME(&step[BOUND_CRC_2], plain_crc());
	TIME(&step[COMPLETE], complete_responses());
	for (i = 0; i < BATCH; i++)
		kfree_skb(received[i]);
	poll();
}

/* The same operations by the receive function. */
static void do_whole(const struct op *op, struct step *step)
{
	put_requests(op);
	request();
	cross_wire();
	TIME(&step[RECEIVE], receive());
	cross_wire();
	TIME(&step[RECEIVE_2], receive());
	poll();
}

/* Verifies that each operation of a run was executed once. */
static void check_result(const struct op *op, u64 before)
{
	const u8 *to = fk_memory[0], *from = to + LOCAL;
	u64 word = *(const u64 *)to;

	if (op->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD)
		CHECK(word == before + 2 * SAMPLES * BATCH &&
		      *(const u64 *)from == word - 1);
	else if (op->mask)
		CHECK(word == before &&
		      *(const u64 *)from == (before | (BATCH - 1)));
	else
		CHECK(!memcmp(to, from, op->len));
}

static void run_op(const struct op *op, struct step *step)
{
	u64 *word = (u64 *)fk_memory[0];
	unsigned int i;

	/* Differs from run to run and, until it is copied, at both ends. */
	memset(fk_memory[0], 2 * run + 1, LOCAL);
	memset(fk_memory[0] + LOCAL, 2 * run + 2, LOCAL);
	*word = 0x1122334455660000;
	for (sample = 0; sample < SAMPLES; sample++) {
		do_parts(op, step);
		do_whole(op, step);
	}
	check_result(op, 0x1122334455660000);
	for (i = 0; i < NUM_STEPS; i++)
		end_run(&step[i]);
}

/* ---- plain routines ------------------------------------------------------ */

static const u32 lengths[] = { 8, 64, 128, KIB };

enum { CRC, CRC_FAST, COPY, LOCKED, NUM_PLAIN };

static struct step plain[ARRAY_SIZE(lengths)][NUM_PLAIN];

static noinline void crc_all(const u8 *p, u32 len)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		icrcs[i] = (__force __le32)crc32_le(i, p, len);
}

static noinline void crc_fast_all(const u8 *p, u32 len)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		icrcs[i] = (__force __le32)fk_crc32(i, p, len);
}

static noinline void copy_all(u8 *to, const u8 *from, u32 len)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		memcpy(to, from, len);
		barrier();
	}
}

static noinline void lock_all(u64 *word)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		cmpxchg(word, i, i + 1);
	CHECK(*word == BATCH);
}

static void run_plain(u32 len, struct step *step)
{
	u8 *p = fk_memory[0];
	unsigned int i;

	for (sample = 0; sample < SAMPLES; sample++) {
		TIME(&step[CRC], crc_all(p, len));
		TIME(&step[CRC_FAST], crc_fast_all(p, len));
		TIME(&step[COPY], copy_all(p + LOCAL, p, len));
		*(u64 *)p = 0;
		TIME(&step[LOCKED], lock_all((u64 *)p));
	}
	for (i = 0; i < NUM_PLAIN; i++)
		end_run(&step[i]);
}

/* ---- the table ---------------------------------------------------------- */

static u64 all_ticks, all_ns;

/* Returns the least or the median of the runs, in ticks for a batch. */
static u32 figure(struct step *step, bool least)
{
	sort(step->runs, num_runs);
	return step->runs[least ? 0 : num_runs / 2];
}

/* Prints ticks for a batch as ns for each operation, with one decimal. */
static void print_ns(u32 ticks_of_batch)
{
	u64 tenths = ticks_of_batch * 10ULL * all_ns / all_ticks / BATCH;

	printf(" %5llu.%llu", tenths / 10, tenths % 10);
}

static void print_ratio(u32 a, u32 b)
{
	u64 hundredths = b ? a * 100ULL / b : 0;

	printf(" %4llu.%02llu", hundredths / 100, hundredths % 100);
}

/* Returns the ticks of all three parties, which a batch of operations takes. */
static u32 sum_of(struct step *step, bool least)
{
	return figure(&step[REQUEST], least) + figure(&step[RECEIVE], least) +
	       figure(&step[RECEIVE_2], least);
}

static void print_ops(bool least)
{
	unsigned int i, j;

	printf("%-24s    send  the responder receives a request, the requester a response\n"
	       "%-24s         parse    ICRC respond     all   parse    ICRC    done     all     sum  cycles\n",
	       "", least ? "least, ns" : "median, ns");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		u32 sum = sum_of(steps[i], least);

		printf("%-24s", ops[i].name);
		for (j = 0; j < NUM_PARTS; j++)
			print_ns(figure(&steps[i][j], least));
		print_ns(sum);
		printf(" %7u\n", sum / BATCH);
	}
	puts("");
}

static void print_bounds(void)
{
	unsigned int i;

	puts("                           crc32   crc32    copy   bound     sum    sum/   ICRC/\n"
	     "least, ns                request respons payload                   bound   crc32");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		u32 crc = figure(&steps[i][BOUND_CRC], true);
		u32 crc_2 = figure(&steps[i][BOUND_CRC_2], true);
		u32 copy = figure(&steps[i][BOUND_COPY], true);
		u32 bound = 2 * (crc + crc_2 + copy);
		u32 sum = sum_of(steps[i], true);

		printf("%-24s", ops[i].name);
		print_ns(crc);
		print_ns(crc_2);
		print_ns(copy);
		print_ns(bound);
		print_ns(sum);
		print_ratio(sum, bound);
		print_ratio(figure(&steps[i][ICRC], true) +
			    figure(&steps[i][ICRC_2], true), crc + crc_2);
		puts("");
	}
	puts("");
}

static void print_plain(void)
{
	unsigned int i;

	puts("                           crc32   crc32  memcpy  locked\n"
	     "least, ns                 tables  vector         cmpxchg");
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		printf("%4u bytes              ", lengths[i]);
		print_ns(figure(&plain[i][CRC], true));
		print_ns(figure(&plain[i][CRC_FAST], true));
		print_ns(figure(&plain[i][COPY], true));
		print_ns(figure(&plain[i][LOCKED], true));
		puts("");
	}
}

int main(int argc, char **argv)
{
	unsigned int i;

	num_runs = argc > 1 ? atoi(argv[1]) : 9;
	CHECK(num_runs >= 1 && num_runs <= MAX_RUNS);
	CHECK(!mxe_icrc_init());
	fk_netdev.mtu = 9000;
	fk_take = take_sent;
	world_make(KIND_RC, &conf);
	calibrate();
	all_ns = now_ns();
	all_ticks = ticks();
	for (run = 0; run < num_runs; run++) {
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			run_op(&ops[i], steps[i]);
		for (i = 0; i < ARRAY_SIZE(lengths); i++)
			run_plain(lengths[i], plain[i]);
	}
	all_ticks = ticks() - all_ticks;
	all_ns = now_ns() - all_ns;
	world_destroy();
	printf("%u runs of %u operations; the time stamp counter has %llu MHz\n\n",
	       num_runs, 2 * SAMPLES * BATCH, all_ticks * 1000 / all_ns);
	print_ops(true);
	print_ops(false);
	print_bounds();
	print_plain();
	return 0;
}
