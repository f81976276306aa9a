// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that emulated masked atomics survive ibv_destroy_qp() with requests in
 * flight, and fork(), and that they keep nothing of a destroyed QP and do not
 * disturb standard QPs, in each order of libibverbs and libibverbs_exp:
 *
 *	t_exp_orders preloaded	libibverbs_exp by LD_PRELOAD
 *	t_exp_orders behind	libibverbs, then libibverbs_exp, by LD_PRELOAD
 *	t_exp_orders dlopened	libibverbs_exp by dlopen()
 *
 * The program is linked with libibverbs only. The device is $MXE_A, which is
 * connected with itself.
 */
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

#include "random.h"
#include "tap.h"

#define DEPTH 16
#define CHAIN 8
#define ROUNDS 60
#define WAIT_MS 60000
#define WORDS 64

static struct ibv_qp *(*create_qp)(struct ibv_context *context,
				   struct ibv_exp_qp_init_attr *attr);
static int (*post_send)(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
			struct ibv_exp_send_wr **bad_wr);

struct device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint64_t *mem;	/* WORDS of the responder, then of results */
	union ibv_gid gid;
	int gid_index;
	enum ibv_mtu mtu;
};

struct pair {
	struct ibv_cq *cq;
	struct ibv_qp *a;	/* requester */
	struct ibv_qp *b;
};

/* ---- libraries ---------------------------------------------------------- */

static void *call_of(void *library, const char *name)
{
	void *call = dlsym(library, name);

	if (!call)
		bail_out("%s", dlerror());
	return call;
}

static void find_library(const char *order)
{
	void *library = RTLD_DEFAULT;
	bool is_first = !strcmp(order, "preloaded");
	Dl_info info;

	if (!strcmp(order, "dlopened"))
		library = dlopen("libibverbs_exp.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!strcmp(order, "dlopened") && !library)
		bail_out("%s", dlerror());
	create_qp = call_of(library, "ibv_exp_create_qp");
	post_send = call_of(library, "ibv_exp_post_send");
	if (!dladdr(call_of(RTLD_DEFAULT, "ibv_destroy_qp"), &info))
		bail_out("dladdr");
	is_int(!!strstr(info.dli_fname, "libibverbs_exp"), is_first,
	       "%s: ibv_destroy_qp() is of %s", order, info.dli_fname);
}

/* ---- devices and QPs ---------------------------------------------------- */

static struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		bail_out("cannot open %s", name);
	ibv_free_device_list(list);
	return ctx;
}

static struct device open_device(void)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	const char *name = getenv("MXE_A");
	size_t size = 2 * WORDS * sizeof(uint64_t);
	struct device dev = { .ctx = open_by_name(name ? name : "rxe0") };
	struct ibv_port_attr port;
	void *mem;

	dev.pd = ibv_alloc_pd(dev.ctx);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!dev.pd || mem == MAP_FAILED || ibv_query_port(dev.ctx, 1, &port))
		bail_out("set-up: %s", strerror(errno));
	dev.mr = ibv_reg_mr(dev.pd, mem, size, IBV_ACCESS_LOCAL_WRITE |
			    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!dev.mr)
		bail_out("ibv_reg_mr: %s", strerror(errno));
	dev.mem = mem;
	dev.mtu = port.active_mtu;
	for (int i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid(dev.ctx, 1, i, &dev.gid) ||
		    memcmp(dev.gid.raw, ipv4, sizeof(ipv4)))
			continue;
		dev.gid_index = i;
		return dev;
	}
	bail_out("no GID of an IPv4 address");
	return dev;
}

static void close_device(struct device *dev)
{
	is_int(ibv_dereg_mr(dev->mr), 0, "ibv_dereg_mr()");
	is_int(ibv_dealloc_pd(dev->pd), 0, "ibv_dealloc_pd()");
	is_int(ibv_close_device(dev->ctx), 0, "ibv_close_device()");
}

static struct ibv_qp *new_qp(struct device *dev, struct ibv_cq *cq,
			     uint32_t flags)
{
	struct ibv_exp_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .pd = dev->pd,
		.cap = { DEPTH, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
			     IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.exp_create_flags = flags, .max_atomic_arg = 8,
	};
	struct ibv_qp *qp = create_qp(dev->ctx, &attr);

	if (!qp)
		bail_out("ibv_exp_create_qp: %s", strerror(errno));
	return qp;
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int err = ibv_modify_qp(qp, attr, mask);

	if (err)
		bail_out("ibv_modify_qp: %s", strerror(err));
}

static void connect_qp(struct device *dev, struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = dev->mtu, .dest_qp_num = dest,
		.max_rd_atomic = 4, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = dev->gid, .hop_limit = 64,
				      .sgid_index = dev->gid_index } },
	};

	modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
	       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	       IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	modify(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static struct pair new_pair(struct device *dev, struct ibv_cq *cq,
			    uint32_t flags)
{
	struct pair p = {
		.cq = cq, .a = new_qp(dev, cq, flags), .b = new_qp(dev, cq, 0),
	};

	connect_qp(dev, p.a, p.b->qp_num);
	connect_qp(dev, p.b, p.a->qp_num);
	return p;
}

static struct ibv_cq *new_cq(struct device *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 127, NULL, NULL, 0);

	if (!cq)
		bail_out("ibv_create_cq: %s", strerror(errno));
	return cq;
}

/* ---- requests ----------------------------------------------------------- */

/* Posts a masked fetch-and-add of 1 to a field that ends at bit 31. */
static void post_add(struct device *dev, struct ibv_qp *qp, uint64_t addr,
		     int log_arg_sz, bool signaled)
{
	struct ibv_sge sge = {
		(uintptr_t)(dev->mem + WORDS), 1 << log_arg_sz, dev->mr->lkey,
	};
	struct ibv_exp_send_wr *bad, wr = {
		.wr_id = 5, .sg_list = &sge, .num_sge = 1,
		.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
		.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE |
				  (signaled ? IBV_EXP_SEND_SIGNALED : 0),
	};
	int err;

	wr.ext_op.masked_atomics.log_arg_sz = log_arg_sz;
	wr.ext_op.masked_atomics.remote_addr = addr;
	wr.ext_op.masked_atomics.rkey = dev->mr->rkey;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add.add_val = 1;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add
		.field_boundary = 1ull << 31;
	err = post_send(qp, &wr, &bad);
	if (err)
		bail_out("ibv_exp_post_send: %s", strerror(err));
}

static void post_chain(struct device *dev, struct ibv_qp *qp, int word,
		       bool signaled)
{
	for (int i = 0; i < CHAIN; i++)
		post_add(dev, qp, (uintptr_t)&dev->mem[word], 3, signaled);
}

/* Polls one completion. Returns its status, or -1 at the end of the time. */
static int poll_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = 0;

	for (int ms = 0; ms < WAIT_MS && !n; ms++) {
		n = ibv_poll_cq(cq, 1, wc);
		if (!n)
			usleep(1000);
	}
	return n == 1 ? (int)wc->status : -1;
}

static bool wait_word(struct device *dev, int word, uint64_t value)
{
	for (int ms = 0; ms < WAIT_MS; ms++) {
		if (__atomic_load_n(&dev->mem[word], __ATOMIC_ACQUIRE) == value)
			return true;
		usleep(1000);
	}
	return false;
}

/* ---- tests -------------------------------------------------------------- */

static bool stop;	/* atomic */

static void *poll_until_stopped(void *arg)
{
	struct ibv_wc wc;
	uintptr_t wrong = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		if (ibv_poll_cq(arg, 1, &wc) > 0)
			wrong += wc.wr_id != 5;
	return (void *)wrong;
}

/* The thread of the library continues the requests, or also one that polls. */
static void test_destroy(struct device *dev, bool poller)
{
	struct ibv_cq *cq = new_cq(dev);
	int wrong = 0, cqe = 0, i;
	uint64_t seed = 1;
	pthread_t thread;
	struct ibv_wc wc;
	struct pair p;
	void *others;

	stop = false;
	if (poller) {
		/* The first emulated QP replaces the operations. */
		p.a = new_qp(dev, cq, 0);
		wrong += !!ibv_destroy_qp(p.a);
		if (pthread_create(&thread, NULL, poll_until_stopped, cq))
			bail_out("pthread_create");
	}
	for (i = 0; i < ROUNDS; i++) {
		p = new_pair(dev, cq, 0);
		if (!i)
			cqe = cq->cqe;
		post_chain(dev, p.a, 0, i & 1);
		usleep(random_next(&seed) % 4000);
		wrong += !!ibv_destroy_qp(p.a);
		wrong += !!ibv_destroy_qp(p.b);
	}
	is_int(wrong, 0, "%d QPs are destroyed in flight%s", ROUNDS,
	       poller ? ", beside a poller" : "");
	if (poller) {
		__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
		pthread_join(thread, &others);
		ok(!others, "... only completions of the program were polled");
	}
	is_int(cq->cqe, cqe, "... the CQ has not grown");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	p = new_pair(dev, cq, 0);
	post_add(dev, p.a, (uintptr_t)&dev->mem[1], 3, true);
	is_int(poll_one(cq, &wc), 0, "... the next QP works");
	is_int(ibv_destroy_qp(p.a) || ibv_destroy_qp(p.b) || ibv_destroy_cq(cq),
	       0, "... and all is destroyed");
}

/* A CQ is not destroyed while it has QPs, which goes on working. */
static void test_busy_cq(struct device *dev)
{
	struct ibv_cq *cq = new_cq(dev);
	struct pair p = new_pair(dev, cq, 0);
	struct ibv_wc wc;

	dev->mem[2] = 0;
	post_chain(dev, p.a, 2, true);
	is_int(ibv_destroy_cq(cq), EBUSY, "a CQ with QPs is not destroyed");
	for (int i = 0; i < CHAIN; i++)
		if (poll_one(cq, &wc) || wc.wr_id != 5)
			break;
	is_u64(dev->mem[2], CHAIN, "... the requests complete");
	is_int(ibv_destroy_qp(p.a) || ibv_destroy_qp(p.b) || ibv_destroy_cq(cq),
	       0, "... then it is destroyed");
}

static void test_room(struct device *dev)
{
	struct ibv_cq *cq = new_cq(dev);
	struct ibv_qp *qps[8];
	int cqe;

	qps[0] = new_qp(dev, cq, 0);
	cqe = cq->cqe;
	for (int i = 1; i < 8; i++)
		qps[i] = new_qp(dev, cq, 0);
	is_int(cq->cqe, cqe, "a CQ of 127 does not grow with each QP");
	ok(cqe <= 255, "... beyond 255");
	for (int i = 0; i < 8; i++)
		ibv_destroy_qp(qps[i]);
	ibv_destroy_cq(cq);
}

static void test_half(struct device *dev)
{
	struct ibv_cq *cq = new_cq(dev);
	struct ibv_wc wc;
	struct pair p;

	for (int be = 0; be < 2; be++) {
		p = new_pair(dev, cq, be ? IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY : 0);
		for (int second = 0; second < 2; second++) {
			uint32_t *half = (void *)&dev->mem[3];
			uint32_t *result = (void *)&dev->mem[WORDS];

			half[second] = 0x7fffffff;
			half[!second] = UINT32_MAX;
			dev->mem[WORDS] = ~0ull;
			post_add(dev, p.a, (uintptr_t)&half[second], 2, true);
			is_int(poll_one(cq, &wc), 0, "4 bytes, half %d", second);
			is_int(wc.byte_len, 4, "... the length");
			is_u64(half[second], 0x80000000, "... the sum");
			is_u64(half[!second], UINT32_MAX, "... the other half");
			is_u64(result[0], be ? htobe32(0x7fffffff) : 0x7fffffff,
			       "... the result");
			is_u64(result[1], UINT32_MAX, "... and no more bytes");
		}
		ibv_destroy_qp(p.a);
		ibv_destroy_qp(p.b);
	}
	ibv_destroy_cq(cq);
}

/* A destroyed QP keeps nothing that would refer to its protection domain. */
static void test_pd(struct device *dev)
{
	struct ibv_pd *pd = ibv_alloc_pd(dev->ctx);
	struct device other = *dev;
	struct ibv_cq *cq;
	struct pair p;

	if (!pd)
		bail_out("ibv_alloc_pd: %s", strerror(errno));
	other.pd = pd;
	cq = new_cq(dev);
	p = new_pair(&other, cq, 0);
	is_int(ibv_destroy_qp(p.a) || ibv_destroy_qp(p.b) || ibv_destroy_cq(cq),
	       0, "emulated QPs of another PD are destroyed");
	is_int(ibv_dealloc_pd(pd), 0, "... and that PD is deallocated");
}

static struct ibv_qp *new_std_qp(struct device *dev, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { DEPTH, 1, 1, 1, 0 },
	};
	struct ibv_qp *qp = ibv_create_qp(dev->pd, &attr);

	if (!qp)
		bail_out("ibv_create_qp: %s", strerror(errno));
	return qp;
}

static void post_std_add(struct device *dev, struct ibv_qp *qp, int word)
{
	struct ibv_sge sge = {
		(uintptr_t)(dev->mem + WORDS + 1), 8, dev->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)&dev->mem[word],
			       .compare_add = 1, .rkey = dev->mr->rkey },
	};
	int err = ibv_post_send(qp, &wr, &bad);

	if (err)
		bail_out("ibv_post_send: %s", strerror(err));
}

/* Standard calls of the program, and experimental ones, at the same time. */
static void test_share(struct device *dev)
{
	struct ibv_cq *cq = new_cq(dev), *std_cq = new_cq(dev);
	struct pair p = new_pair(dev, cq, 0);
	struct pair std = {
		.cq = std_cq, .a = new_std_qp(dev, std_cq),
		.b = new_std_qp(dev, std_cq),
	};
	int wrong = 0, std_wrong = 0;
	struct ibv_wc wc;

	connect_qp(dev, std.a, std.b->qp_num);
	connect_qp(dev, std.b, std.a->qp_num);
	dev->mem[6] = 0;
	dev->mem[7] = 0;
	for (int i = 0; i < ROUNDS; i++) {
		post_add(dev, p.a, (uintptr_t)&dev->mem[6], 3, true);
		post_std_add(dev, std.a, 7);
		std_wrong += poll_one(std_cq, &wc) || wc.wr_id != 7;
		wrong += poll_one(cq, &wc) || wc.wr_id != 5;
	}
	is_int(std_wrong, 0, "standard QPs work beside emulated ones");
	is_int(wrong, 0, "... and emulated ones beside them");
	is_u64(dev->mem[7], ROUNDS, "... with the right sum");
	is_u64(dev->mem[6], ROUNDS, "... of both");
	is_int(ibv_destroy_qp(std.a) || ibv_destroy_qp(std.b) ||
	       ibv_destroy_cq(std_cq), 0, "... the standard ones are destroyed");
	post_add(dev, p.a, (uintptr_t)&dev->mem[6], 3, true);
	is_int(poll_one(cq, &wc), 0, "... and the others still work");
	is_int(ibv_destroy_qp(p.a) || ibv_destroy_qp(p.b) || ibv_destroy_cq(cq),
	       0, "... until they are destroyed");
}

/* Opens the device itself, and does not poll. */
static int child(void)
{
	struct device dev;
	struct ibv_cq *cq;
	struct pair p;

	alarm(WAIT_MS / 1000);
	dev = open_device();
	cq = new_cq(&dev);
	p = new_pair(&dev, cq, 0);
	post_chain(&dev, p.a, 0, false);
	if (!wait_word(&dev, 0, CHAIN))
		return 1;
	if (ibv_destroy_qp(p.a) || ibv_destroy_qp(p.b) || ibv_destroy_cq(cq))
		return 2;
	return 0;
}

static void test_fork(struct device *dev, const char *how)
{
	struct ibv_cq *cq = new_cq(dev);
	struct pair p = new_pair(dev, cq, 0);
	struct ibv_wc wc;
	int status;
	pid_t pid;

	post_chain(dev, p.a, 5, true);
	pid = fork();
	if (!pid)
		_exit(child());
	for (int i = 0; i < CHAIN; i++)
		if (poll_one(cq, &wc) || wc.wr_id != 5)
			fail("a completion of the parent");
	if (waitpid(pid, &status, 0) != pid)
		bail_out("waitpid: %s", strerror(errno));
	is_int(status, 0, "requests proceed in a forked child, %s", how);
	is_int(ibv_destroy_qp(p.a) || ibv_destroy_qp(p.b) || ibv_destroy_cq(cq),
	       0, "... and the parent goes on");
}

int main(int argc, char **argv)
{
	struct device dev;

	if (argc < 2)
		bail_out("usage: t_exp_orders preloaded|behind|dlopened [fork-init]");
	plan(0);
	find_library(argv[1]);
	if (argc > 2 && ibv_fork_init())
		bail_out("ibv_fork_init");
	dev = open_device();
	test_destroy(&dev, false);
	test_destroy(&dev, true);
	test_busy_cq(&dev);
	test_room(&dev);
	test_half(&dev);
	test_pd(&dev);
	test_share(&dev);
	test_fork(&dev, argc > 2 ? "after ibv_fork_init()" : "plain");
	close_device(&dev);
	return done_testing();
}
