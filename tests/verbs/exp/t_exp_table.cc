// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Proves that a C++ program of the experimental verbs works: hash tables in
// remote memory, each bucket of 8 bytes with a lock, a version and a counter in
// fields of its own. Threads of several processes take the lock of a bucket by
// a masked compare-and-swap, and release it and add to its version by one
// masked fetch-and-add, unsignaled. The devices are $MXE_A and $MXE_B.
//
// t_exp_table [ROUNDS]

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs_exp.h>

namespace {

constexpr int buckets = 4, processes = 2, threads = 2;

// Bits of a bucket: a lock, 15 unused bits, a version, a counter.
constexpr uint64_t lock_bit = 1;
constexpr uint64_t version_one = 1ull << 16;
constexpr uint64_t counter_one = 1ull << 32;
// A field ends at bit 0, at bit 31 and at bit 63.
constexpr uint64_t boundaries = 1ull << 0 | 1ull << 31 | 1ull << 63;

struct table {
	alignas(64) uint64_t bucket[buckets];
	alignas(64) uint64_t guarded[buckets];
	std::atomic<bool> failed;	// a process, which may hold a lock
};

template <typename T, typename... Args>
T *must(T *object, const char *what)
{
	if (!object)
		throw std::runtime_error(std::string(what) + ": " +
					 strerror(errno));
	return object;
}

void must(int err, const char *what)
{
	if (err)
		throw std::runtime_error(std::string(what) + ": " +
					 strerror(err));
}

class device {
public:
	ibv_context *context = nullptr;
	ibv_pd *pd = nullptr;
	int gid_index = -1;
	union ibv_gid gid;

	explicit device(const char *name)
	{
		ibv_device **list = ibv_get_device_list(nullptr);

		for (int i = 0; list && list[i]; i++)
			if (!strcmp(ibv_get_device_name(list[i]), name))
				context = ibv_open_device(list[i]);
		ibv_free_device_list(list);
		must(context, name);
		pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
		find_gid();
	}

	~device()
	{
		if (ibv_dealloc_pd(pd) || ibv_close_device(context))
			fprintf(stderr, "cannot close a device\n");
	}

	bool has_masked() const
	{
		ibv_exp_device_attr attr{};

		attr.comp_mask = IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS;
		return !ibv_exp_query_device(context, &attr) &&
		       (attr.exp_device_cap_flags &
			IBV_EXP_DEVICE_EXT_MASKED_ATOMICS);
	}

private:
	// Finds the RoCEv2 GID of the IPv4 address.
	void find_gid()
	{
		static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
						    0xff, 0xff };
		ibv_exp_gid_attr attr{};

		attr.comp_mask = IBV_EXP_QUERY_GID_ATTR_TYPE |
				 IBV_EXP_QUERY_GID_ATTR_GID;
		for (int i = 0; i < 16 && gid_index < 0; i++) {
			if (ibv_exp_query_gid_attr(context, 1, i, &attr) ||
			    attr.type != IBV_EXP_ROCE_V2_GID_TYPE ||
			    memcmp(attr.gid.raw, mapped, sizeof(mapped)))
				continue;
			gid = attr.gid;
			gid_index = i;
		}
		if (gid_index < 0)
			throw std::runtime_error("no GID");
	}
};

// A queue pair, its completion queue and 64 bytes for results.
class endpoint {
public:
	device &dev;
	ibv_cq *cq;
	ibv_qp *qp;
	alignas(64) uint64_t words[8] = {};
	ibv_mr *mr;

	explicit endpoint(device &d) : dev(d)
	{
		ibv_exp_cq_init_attr cq_attr{};
		ibv_exp_qp_init_attr attr{};

		cq = must(ibv_exp_create_cq(dev.context, 16, nullptr, nullptr, 0,
					    &cq_attr), "ibv_exp_create_cq");
		mr = must(ibv_reg_mr(dev.pd, words, sizeof(words),
				     IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
		attr.send_cq = cq;
		attr.recv_cq = cq;
		attr.cap = { 16, 1, 1, 1, 0 };
		attr.qp_type = IBV_QPT_RC;
		attr.comp_mask = IBV_EXP_QP_INIT_ATTR_PD |
				 IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG;
		attr.pd = dev.pd;
		attr.max_atomic_arg = 8;
		qp = must(ibv_exp_create_qp(dev.context, &attr),
			  "ibv_exp_create_qp");
	}

	~endpoint()
	{
		if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) ||
		    ibv_dereg_mr(mr))
			fprintf(stderr, "cannot destroy an endpoint\n");
	}

	void connect(const endpoint &peer)
	{
		ibv_exp_qp_attr attr{};

		attr.qp_state = IBV_QPS_INIT;
		attr.port_num = 1;
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_ATOMIC;
		must(ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE |
				       IBV_EXP_QP_PKEY_INDEX | IBV_EXP_QP_PORT |
				       IBV_EXP_QP_ACCESS_FLAGS), "to INIT");
		attr = {};
		attr.qp_state = IBV_QPS_RTR;
		attr.path_mtu = IBV_MTU_1024;
		attr.dest_qp_num = peer.qp->qp_num;
		attr.max_dest_rd_atomic = 8;
		attr.min_rnr_timer = 12;
		attr.ah_attr.is_global = 1;
		attr.ah_attr.port_num = 1;
		attr.ah_attr.grh.dgid = peer.dev.gid;
		attr.ah_attr.grh.sgid_index = dev.gid_index;
		attr.ah_attr.grh.hop_limit = 64;
		must(ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE |
				       IBV_EXP_QP_AV | IBV_EXP_QP_PATH_MTU |
				       IBV_EXP_QP_DEST_QPN | IBV_EXP_QP_RQ_PSN |
				       IBV_EXP_QP_MAX_DEST_RD_ATOMIC |
				       IBV_EXP_QP_MIN_RNR_TIMER), "to RTR");
		attr = {};
		attr.qp_state = IBV_QPS_RTS;
		attr.timeout = 17;
		attr.retry_cnt = 7;
		attr.rnr_retry = 7;
		attr.max_rd_atomic = 8;
		must(ibv_exp_modify_qp(qp, &attr, IBV_EXP_QP_STATE |
				       IBV_EXP_QP_TIMEOUT |
				       IBV_EXP_QP_RETRY_CNT |
				       IBV_EXP_QP_RNR_RETRY | IBV_EXP_QP_SQ_PSN |
				       IBV_EXP_QP_MAX_QP_RD_ATOMIC), "to RTS");
	}
};

// Access of one thread to the table.
class client {
public:
	client(endpoint &e, table *t, uint32_t k) : end(e), at(t), rkey(k) {}

	void lock(int n)
	{
		do {
			auto wr = masked<IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP>(
				&at->bucket[n], 0);
			auto &op = wr.ext_op.masked_atomics.wr_data.inline_data
					   .op.cmp_swap;

			op.compare_val = 0;
			op.compare_mask = lock_bit;
			op.swap_val = lock_bit;
			op.swap_mask = lock_bit;
			if (at->failed)
				throw std::runtime_error("another process has failed");
			post(wr, true);
		} while (end.words[0] & lock_bit);
	}

	// Changes lock, version and counter at once. Does not wait for the
	// result.
	void unlock(int n)
	{
		auto wr = masked<IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD>(
			&at->bucket[n], 1);
		auto &op = wr.ext_op.masked_atomics.wr_data.inline_data.op
				   .fetch_add;

		op.add_val = lock_bit + version_one + counter_one;
		op.field_boundary = boundaries;
		post(wr, false);
	}

	uint64_t read(const uint64_t *from)
	{
		auto wr = rdma(IBV_EXP_WR_RDMA_READ, from, 2);

		post(wr, true);
		return end.words[2];
	}

	void write(const uint64_t *to, uint64_t value)
	{
		auto wr = rdma(IBV_EXP_WR_RDMA_WRITE, to, 3);

		end.words[3] = value;
		post(wr, false);
	}

private:
	endpoint &end;
	table *at;
	uint32_t rkey;
	ibv_sge sge{};
	uint64_t next_id = 1;

	ibv_exp_send_wr request(ibv_exp_wr_opcode opcode, int word)
	{
		ibv_exp_send_wr wr{};

		sge = { reinterpret_cast<uintptr_t>(&end.words[word]), 8,
			end.mr->lkey };
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.exp_opcode = opcode;
		return wr;
	}

	template <ibv_exp_wr_opcode opcode>
	ibv_exp_send_wr masked(const uint64_t *to, int word)
	{
		ibv_exp_send_wr wr = request(opcode, word);

		wr.exp_send_flags = IBV_EXP_SEND_EXT_ATOMIC_INLINE;
		wr.ext_op.masked_atomics.log_arg_sz = 3;
		wr.ext_op.masked_atomics.remote_addr =
			reinterpret_cast<uintptr_t>(to);
		wr.ext_op.masked_atomics.rkey = rkey;
		return wr;
	}

	ibv_exp_send_wr rdma(ibv_exp_wr_opcode opcode, const uint64_t *at,
			     int word)
	{
		ibv_exp_send_wr wr = request(opcode, word);

		wr.wr.rdma.remote_addr = reinterpret_cast<uintptr_t>(at);
		wr.wr.rdma.rkey = rkey;
		return wr;
	}

	void post(ibv_exp_send_wr &wr, bool wait)
	{
		ibv_exp_send_wr *bad;
		ibv_exp_wc wc;
		int n;

		wr.wr_id = next_id++;
		if (wait)
			wr.exp_send_flags |= IBV_EXP_SEND_SIGNALED;
		must(ibv_exp_post_send(end.qp, &wr, &bad), "ibv_exp_post_send");
		if (!wait)
			return;
		while (!(n = ibv_exp_poll_cq(end.cq, 1, &wc, sizeof(wc))))
			std::this_thread::yield();
		if (n != 1 || wc.status != IBV_WC_SUCCESS ||
		    wc.wr_id != wr.wr_id)
			throw std::runtime_error(
				std::string("completion: ") +
				ibv_wc_status_str(wc.status));
	}
};

void work(device &a, device &b, table *t, uint32_t rkey, int rounds, bool *good)
try {
	endpoint here(a), there(b);

	here.connect(there);
	there.connect(here);
	client c(here, t, rkey);
	for (int i = 0; i < rounds; i++) {
		int n = i % buckets;

		c.lock(n);
		c.write(&t->guarded[n], c.read(&t->guarded[n]) + 1);
		c.unlock(n);
	}
	c.read(&t->guarded[0]);	// completes after the last unlock
	*good = true;
} catch (const std::exception &e) {
	t->failed = true;
	printf("# %s\n", e.what());
}

int process(table *t, int rounds)
{
	device a(getenv("MXE_A") ? getenv("MXE_A") : "mxe1");
	device b(getenv("MXE_B") ? getenv("MXE_B") : "mxe2");
	std::vector<std::thread> running;
	bool good[threads] = {};
	ibv_mr *mr;

	if (!a.has_masked())
		throw std::runtime_error("no masked atomics");
	mr = must(ibv_reg_mr(b.pd, t, sizeof(*t), IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			     IBV_ACCESS_REMOTE_ATOMIC), "ibv_reg_mr");
	for (auto &g : good)
		running.emplace_back(work, std::ref(a), std::ref(b), t, mr->rkey,
				     rounds, &g);
	for (auto &r : running)
		r.join();
	ibv_dereg_mr(mr);
	for (auto g : good)
		if (!g)
			return 1;
	return 0;
}

void ok(bool good, const char *what)
{
	static int n;

	printf("%sok %d - %s\n", good ? "" : "not ", ++n, what);
}

}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	uint64_t per_bucket = static_cast<uint64_t>(rounds) / buckets *
			      processes * threads;
	bool buckets_good = true, guarded_good = true, children_good = true;
	int status;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	puts("TAP version 13");
	void *memory = mmap(nullptr, sizeof(table), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	auto t = static_cast<table *>(memory);
	// The unused bits must keep their value.
	for (auto &b : t->bucket)
		b = 0x5aaa & ~lock_bit;
	for (int i = 0; i < processes; i++) {
		if (fork())
			continue;
		int rc = 1;
		try {
			rc = process(t, rounds);
		} catch (const std::exception &e) {
			printf("# %s\n", e.what());
		}
		_exit(rc);
	}
	while (wait(&status) > 0) {
		children_good &= WIFEXITED(status) && !WEXITSTATUS(status);
		if (!children_good)
			t->failed = true;
	}
	for (int i = 0; i < buckets; i++) {
		uint64_t want = (0x5aaa & ~lock_bit) +
				per_bucket * (version_one + counter_one);

		if (t->bucket[i] != want)
			printf("# bucket %d: %#" PRIx64 ", not %#" PRIx64 "\n", i,
			       t->bucket[i], want);
		buckets_good &= t->bucket[i] == want;
		guarded_good &= t->guarded[i] == per_bucket;
	}
	ok(children_good, "all processes succeed");
	ok(buckets_good, "locks, versions and counters in one word");
	ok(guarded_good, "the words that the locks guard have the right sum");
	puts("1..3");
	return !(children_good && buckets_good && guarded_good);
}
