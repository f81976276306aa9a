// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a thread of the process can poll its send queues in the kernel:
 * posting makes no system call, no request is stuck, and everything that is to
 * end the thread does.
 *
 *	t_poll [NAME...]	all tests, or only those
 *	t_poll hold busy|idle	sends, or idles, until the device is removed,
 *				and exits with status 3
 *
 * t_poll.sh tests the exit of processes and the removal of devices.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <rdma/mxe-abi.h>
#include "tap.h"
#include "fd_object.h"
#include "vt.h"

enum { LONG_US = 20000000, BURST = 32 };

static struct vt_dev *a, *b;

/* Returns a smaller number on one CPU, where the threads have to alternate. */
static int times(int n)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? n : n / 20;
}

static int start(struct vt_dev *dev, uint32_t idle_us)
{
	struct mxedv_poll_thread_attr attr = { .idle_us = idle_us };

	return mxedv_start_poll_thread(dev->ctx, &attr);
}

static int stop(struct vt_dev *dev)
{
	return mxedv_stop_poll_thread(dev->ctx);
}

static struct vt_conf polled(void)
{
	struct vt_conf conf = vt_defaults();

	conf.create_flags = MXEDV_QP_CREATE_POLLED;
	return conf;
}

/* Opens a pair in which only the requester's queue pair is polled. */
static void open_pair(struct vt_pair *p, struct vt_dev *dev,
		      const struct vt_conf *conf)
{
	struct vt_conf other = *conf;

	other.create_flags = 0;
	vt_end_create(&p->a, dev, conf, NULL, NULL);
	vt_end_create(&p->b, b, &other, NULL, NULL);
	vt_pair_connect(p, conf);
}

/* Posts an atomic that adds 1 to a word of the peer. */
static int post_add(struct vt_pair *p, enum vt_via via, uint64_t wr_id)
{
	struct ibv_sge sge = vt_sge(&p->a, 8, 8);
	struct vt_wr wr = {
		.op = via == VT_WR ? VT_MFADD : VT_FADD, .via = via,
		.flags = IBV_SEND_SIGNALED, .wr_id = wr_id,
		.sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
		.compare_add = 1,
	};

	return vt_post(&p->a, &wr);
}

/* Returns NULL or an error message. */
static const char *add(struct vt_pair *p, enum vt_via via)
{
	uint64_t old = *vt_word(&p->b, 0);
	struct ibv_wc wc;

	if (post_add(p, via, old))
		return "cannot post";
	if (!vt_poll(p->a.cq, &wc, VT_MS))
		return "stuck";
	if (wc.status || wc.wr_id != old)
		return "a wrong completion";
	return *vt_word(&p->b, 0) == old + 1 ? NULL : "not executed once";
}

static bool needs_doorbell(const struct mxe_ring_hdr *hdr)
{
	return __atomic_load_n(&hdr->flags, __ATOMIC_RELAXED) &
	       MXE_RING_NEED_DOORBELL;
}

/*
 * Returns the number of rings at the beginning of a mapping that need a
 * doorbell, and sets *hdr to the last of them.  The receive queue of a QP is
 * behind its send queue in the same mapping.
 */
static int find_flagged(struct mxe_ring_hdr **hdr)
{
	struct vt_mapping maps[64];
	int n = vt_find_rings(maps, 64), count = 0;

	for (int i = 0; i < n; i++) {
		if (!needs_doorbell((struct mxe_ring_hdr *)maps[i].addr))
			continue;
		*hdr = (struct mxe_ring_hdr *)maps[i].addr;
		count++;
	}
	return count;
}

static int flagged(void)
{
	struct mxe_ring_hdr *hdr;

	return find_flagged(&hdr);
}

static bool flagged_within(int want, int ms)
{
	uint64_t end = vt_now_ms() + (uint64_t)ms;

	while (flagged() != want) {
		if (vt_now_ms() > end)
			return false;
		usleep(1000);
	}
	return true;
}

static bool soon_flagged(int want)
{
	return flagged_within(want, VT_MS);
}

static int poller_fd(void)
{
	char path[32], name[64];

	for (int fd = 255; fd > 2; fd--) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, name, sizeof(name) - 1);
		name[n < 0 ? 0 : n] = 0;
		if (strstr(name, "mxe-poller"))
			return fd;
	}
	return -1;
}

/* ---- traffic ------------------------------------------------------------- */

static void test_traffic(void)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC };
	static const uint32_t lens[] = { 0, 1, 64, 5000, 20000 };
	struct vt_conf conf = polled();
	const char *wrong;
	struct vt_pair p;

	is_int(start(a, LONG_US), 0, "a poll thread");
	for (int t = 0; t < 2; t++) {
		conf.qp_type = types[t];
		open_pair(&p, a, &conf);
		for (int via = VT_POST_SEND; via <= VT_WR; via++)
			for (int op = VT_SEND; op <= VT_READ; op++) {
				if (t && op == VT_READ)
					continue;
				wrong = NULL;
				for (int i = 0; i < 5 && !wrong; i++)
					wrong = vt_transfer(&p, op, via, lens[i],
							    0);
				ok(!wrong, "%s %s, %s: %s", t ? "UC" : "RC",
				   vt_op_name[op], vt_via_name[via],
				   wrong ? wrong : "right");
			}
		if (!t) {
			memset(p.b.buf, 0, 8);
			wrong = NULL;
			for (int i = 0; i < 200 && !wrong; i++)
				wrong = add(&p, i & 1);
			ok(!wrong, "atomics: %s", wrong ? wrong : "right");
		}
		vt_pair_close(&p);
	}
	is_int(stop(a), 0, "stopped");
}

static void test_many(void)
{
	enum { PAIRS = 150 };
	static struct vt_pair pairs[PAIRS];
	struct vt_conf conf = polled();
	struct ibv_qp *qps[PAIRS];
	struct ibv_wc wc;
	int done = 0;

	conf.depth = 4;
	conf.size = 4096;
	is_int(start(a, LONG_US), 0, "a poll thread");
	for (int i = 0; i < PAIRS; i++) {
		open_pair(&pairs[i], a, &conf);
		memset(pairs[i].b.buf, 0, 8);
		qps[i] = pairs[i].a.qp;
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < PAIRS; i++)
			post_add(&pairs[i], i & 1, 7);
		/* A doorbell is permitted, although it is not needed. */
		if (round == 1 && mxedv_ring_doorbells(a->ctx, qps, PAIRS))
			break;
		for (int i = 0; i < PAIRS; i++)
			done += vt_poll(pairs[i].a.cq, &wc, VT_MS) &&
				!wc.status &&
				*vt_word(&pairs[i].b, 0) == (uint64_t)round + 1;
	}
	is_int(done, 3 * PAIRS, "150 queue pairs of one thread");
	for (int i = 0; i < PAIRS; i += 2)
		vt_pair_close(&pairs[i]);
	done = 0;
	for (int i = 1; i < PAIRS; i += 2)
		done += !add(&pairs[i], VT_WR);
	is_int(done, PAIRS / 2, "... and the rest after half are destroyed");
	for (int i = 1; i < PAIRS; i += 2)
		vt_pair_close(&pairs[i]);
	is_int(stop(a), 0, "stopped");
}

/* ---- system calls -------------------------------------------------------- */

static atomic_int trapped;

/*
 * Counts a system call and makes it return -ENOENT, as a doorbell for an
 * unknown queue pair does.
 */
static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
	trapped++;
#if defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RAX] = -ENOENT;
#elif defined(__aarch64__)
	u->uc_mcontext.regs[0] = (uint64_t)-ENOENT;
#else
	(void)u;
	_exit(77);
#endif
}

/* Makes on_sigsys() count the system calls of this thread, which then fail. */
static void trap_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog prog = {
		.len = ARRAY_SIZE(code), .filter = code,
	};
	struct sigaction act = {
		.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO,
	};

	if (sigaction(SIGSYS, &act, NULL) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		vt_bail("seccomp: %s", strerror(errno));
}

struct counts {
	int done, trapped, control;
};

static void count_calls(struct counts *c, int posts)
{
	struct vt_conf conf = polled(), other = vt_defaults();
	struct vt_pair p, q;
	struct ibv_wc wc;

	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	open_pair(&p, a, &conf);
	vt_pair_open(&q, a, b, &other);
	if (start(a, LONG_US) || !soon_flagged(0) || add(&p, VT_WR))
		vt_bail("no thread that polls");
	trap_calls();
	for (int i = 0; i < posts; i++) {
		if (post_add(&p, i & 1, 0))
			_exit(1);
		while (!ibv_poll_cq(p.a.cq, 1, &wc))
			;
		c->done += !wc.status;
	}
	c->trapped = trapped;
	for (int i = 0; i < 10; i++)
		post_add(&q, i & 1, 0);
	c->control = trapped - c->trapped;
	_exit(0);
}

static void test_calls(void)
{
	const int posts = times(5000);
	struct counts *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		count_calls(c, posts);
	waitpid(pid, &status, 0);
	is_int(status, 0, "a process whose system calls are counted");
	is_int(c->done, posts, "... its requests are executed");
	/* Newer kernels interrupt the thread now and then. */
	ok(c->trapped <= posts / 50, "... with %d system calls for %d requests",
	   c->trapped, posts);
	is_int(c->control, 10, "... and without polling one for each request");
	munmap(c, sizeof(*c));
}

/* ---- asleep and awake ---------------------------------------------------- */

static uint64_t cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void test_idle(void)
{
	struct vt_conf conf = polled();
	uint64_t before;
	int woken = 0;
	struct vt_pair p;

	open_pair(&p, a, &conf);
	ok(soon_flagged(1), "without a thread the ring needs a doorbell");
	ok(!add(&p, VT_WR), "... and a request is executed");
	is_int(start(a, 1000), 0, "a thread that sleeps after 1 ms");
	ok(soon_flagged(1), "... sleeps");
	before = cpu_us();
	sleep(1);
	ok(cpu_us() - before < 500000, "... using little CPU time");
	for (int i = 0; i < 5; i++) {
		ok(!add(&p, i & 1), "... and executes a request");
		usleep(20000);
	}
	is_int(stop(a), 0, "stopped");

	is_int(start(a, 300000), 0, "a thread that sleeps after 0.3 s");
	/*
	 * On a slow machine, the thread may wake up and sleep again before this
	 * notices. The first time may be the start of the thread, hence two.
	 */
	for (int i = 0; i < 20 && woken < 2 && soon_flagged(1); i++)
		woken += !add(&p, VT_WR) && flagged_within(0, 200);
	is_int(woken, 2, "... is woken by a doorbell");
	ok(soon_flagged(1), "... and sleeps again");
	is_int(stop(a), 0, "stopped");

	is_int(start(a, LONG_US), 0, "a thread that sleeps after 20 s");
	ok(soon_flagged(0), "... polls the queue");
	before = cpu_us();
	sleep(1);
	is_int(flagged(), 0, "... and still does after 1 s");
	ok(cpu_us() - before > 200000, "... using CPU time");
	is_int(stop(a), 0, "stopped");
	ok(soon_flagged(1), "the ring needs a doorbell again");
	ok(!add(&p, VT_WR), "... and a request is executed");
	vt_pair_close(&p);
}

static void spin_us(uint64_t us)
{
	uint64_t end = vt_now_ns() + 1000 * us;

	while (vt_now_ns() < end)
		;
}

/* Posts requests at about the time when the thread falls asleep. */
static void test_pauses(void)
{
	static const uint32_t idles[] = { 0, 30, 200, 1000 };
	struct mxe_ring_hdr *hdr = NULL;
	const int num = times(8000);
	struct vt_conf conf = polled();
	struct vt_pair p;

	open_pair(&p, a, &conf);
	if (find_flagged(&hdr) != 1)
		vt_bail("not exactly one ring needs a doorbell");
	for (int k = 0; k < 4; k++) {
		const char *wrong = NULL;
		int asleep = 0, i;

		is_int(start(a, idles[k]), 0, "a thread that sleeps after %u us",
		       idles[k]);
		for (i = 0; i < num && !wrong; i++) {
			spin_us(vt_random_u64() % (2 * idles[k] + 20));
			asleep += needs_doorbell(hdr);
			wrong = add(&p, i & 1);
		}
		ok(!wrong, "%d requests, %s", i, wrong ? wrong : "none is stuck");
		diag("asleep before %d of %d", asleep, num);
		is_int(stop(a), 0, "stopped");
	}
	vt_pair_close(&p);
}

/* ---- states -------------------------------------------------------------- */

static int count_flushed(struct ibv_cq *cq, int n)
{
	struct ibv_wc wc;
	int flushed = 0;

	while (n--)
		flushed += vt_poll(cq, &wc, VT_MS) &&
			   wc.status == IBV_WC_WR_FLUSH_ERR;
	return flushed;
}

static void test_error(uint32_t idle_us)
{
	struct vt_conf conf = polled();
	struct vt_pair p;
	int good = 0;

	open_pair(&p, a, &conf);
	is_int(start(a, idle_us), 0, "a thread that sleeps after %u us", idle_us);
	ok(!add(&p, VT_WR), "a request");
	is_int(vt_to_state(&p.a, IBV_QPS_ERR), 0, "to ERR");
	is_int(flagged(), 1, "... where its send queue needs a doorbell");
	for (int i = 0; i < 10; i++)
		good += !post_add(&p, i & 1, 0) && !vt_recv(&p.a, 0, 0, 8);
	is_int(good, 10, "... where 10 sends and 10 receives can be posted");
	is_int(count_flushed(p.a.cq, 10), 10, "... the sends are flushed");
	is_int(count_flushed(p.a.rcq, 10), 10, "... and the receives");
	/*
	 * Each round posts the same number of requests, so a stale ring index
	 * of the previous round would be noticed.
	 */
	good = 0;
	for (int i = 0; i < 100; i++) {
		vt_pair_reconnect(&p, &conf);
		good += !add(&p, VT_WR) && !add(&p, VT_POST_SEND);
	}
	is_int(good, 100, "reset 100 times, and used");
	vt_pair_close(&p);
	is_int(stop(a), 0, "stopped");
}

static void test_states(void)
{
	struct vt_conf conf = polled();
	int flushed = 0, rounds = 0;
	struct ibv_wc wc;
	struct vt_pair p;

	test_error(LONG_US);
	test_error(0);

	open_pair(&p, a, &conf);
	is_int(start(a, LONG_US), 0, "a poll thread");
	for (; rounds < 50; rounds++) {
		int n = 0;

		for (int i = 0; i < BURST; i++)
			if (post_add(&p, VT_WR, 0))
				vt_bail("post");
		spin_us(vt_random_u64() % 1000);
		if (vt_to_state(&p.a, IBV_QPS_ERR))
			vt_bail("to ERR");
		while (n < BURST && vt_poll(p.a.cq, &wc, VT_MS)) {
			flushed += wc.status != 0;
			n++;
		}
		if (n < BURST || ibv_poll_cq(p.a.cq, 1, &wc))
			break;
		vt_pair_reconnect(&p, &conf);
	}
	is_int(rounds, 50, "to ERR under traffic: each completes once");
	diag("%d of %d were flushed", flushed, 50 * BURST);
	for (rounds = 0; rounds < 50; rounds++) {
		for (int i = 0; i < BURST; i++)
			if (post_add(&p, VT_WR, 0))
				vt_bail("post");
		spin_us(vt_random_u64() % 500);
		vt_pair_reconnect(&p, &conf);
		if (add(&p, VT_WR))
			break;
	}
	is_int(rounds, 50, "to RESET under traffic: works afterwards");
	vt_pair_close(&p);
	is_int(stop(a), 0, "stopped");
}

/* ---- removal under traffic ----------------------------------------------- */

static void test_destroy(void)
{
	struct vt_conf conf = polled();
	struct vt_pair p, other;
	int good = 0;

	is_int(start(a, 300), 0, "a poll thread");
	open_pair(&other, a, &conf);
	for (int i = 0; i < 200; i++) {
		open_pair(&p, a, &conf);
		for (int n = 0; n < BURST; n++)
			post_add(&p, n & 1, 0);
		spin_us(vt_random_u64() % 500);
		vt_pair_close(&p);
		good += !add(&other, i & 1);
	}
	is_int(good, 200, "200 queue pairs destroyed with requests in flight");
	vt_pair_close(&other);
	is_int(stop(a), 0, "stopped");
}

struct stream {
	pthread_t thread;
	struct vt_pair p;
	atomic_bool stop;
	uint64_t posted;
	atomic_ulong completed;
	const char *_Atomic wrong;
};

static void *keep_posting(void *arg)
{
	struct stream *s = arg;
	struct ibv_wc wc;

	while (!s->wrong && (!s->stop || s->completed < s->posted)) {
		for (; !s->stop && s->posted - s->completed < BURST; s->posted++)
			if (post_add(&s->p, s->posted & 1, s->posted))
				s->wrong = "cannot post";
		if (!vt_poll(s->p.a.cq, &wc, VT_MS))
			s->wrong = "stuck";
		else if (wc.status || wc.wr_id != s->completed++)
			s->wrong = "a wrong completion";
	}
	return NULL;
}

static void stream_start(struct stream *s, struct vt_dev *dev)
{
	struct vt_conf conf = polled();

	memset(s, 0, sizeof(*s));
	open_pair(&s->p, dev, &conf);
	memset(s->p.b.buf, 0, 8);
	if (pthread_create(&s->thread, NULL, keep_posting, s))
		vt_bail("pthread_create");
}

static void stream_end(struct stream *s, const char *what)
{
	/* The thread may not have run yet. */
	while (s->completed < BURST && !s->wrong)
		usleep(100);
	s->stop = true;
	pthread_join(s->thread, NULL);
	ok(!s->wrong && s->posted > BURST && s->completed == s->posted &&
	   *vt_word(&s->p.b, 0) == s->posted, "%s: %s", what,
	   s->wrong ? s->wrong : "each executed once");
	vt_pair_close(&s->p);
}

static void test_stop(void)
{
	static struct stream s;
	int good = 0;

	stream_start(&s, a);
	for (int i = 0; i < 100; i++) {
		good += !start(a, i & 1 ? LONG_US : 50);
		spin_us(vt_random_u64() % 5000);
		good += !stop(a);
		/* Requests are executed without a poll thread, too. */
		for (uint64_t n = s.completed + BURST; i % 10 == 0 &&
		     s.completed < n && !s.wrong;)
			usleep(100);
	}
	is_int(good, 200, "started and stopped 100 times under traffic");
	stream_end(&s, "the traffic");
}

/* Two contexts have a thread each, which polls only the queues of its own. */
static void test_contexts(void)
{
	static struct stream s, t;
	struct vt_dev *other = vt_open(vt_name_a());
	struct vt_conf conf = polled();
	struct vt_pair p;

	is_int(start(a, LONG_US), 0, "a poll thread");
	open_pair(&p, other, &conf);
	ok(soon_flagged(1), "a queue pair of another context is not polled");
	ok(!add(&p, VT_WR), "... and works");
	is_int(start(other, 1000), 0, "a poll thread of the other context");
	stream_start(&s, a);
	stream_start(&t, other);
	usleep(300000);
	is_int(stop(other), 0, "... is stopped");
	usleep(100000);
	stream_end(&s, "traffic of the first context");
	stream_end(&t, "... and of the other");
	vt_pair_close(&p);
	/* Closing the context ends its thread. */
	is_int(start(other, LONG_US), 0, "another poll thread of that context");
	vt_close(other);
	is_int(stop(a), 0, "stopped");
}

static int num_threads(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	int n = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Threads: %d", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* The kernel counts a thread for a short time after it was joined. */
static int soon_threads(int want)
{
	for (int i = 0; i < VT_MS && num_threads() != want; i++)
		usleep(1000);
	return num_threads();
}

static void test_close(void)
{
	for (int i = 0; i < 20; i++) {
		struct vt_dev *dev = vt_open(vt_name_a());
		struct vt_conf conf = polled();
		struct vt_pair p;

		open_pair(&p, dev, &conf);
		if (start(dev, i & 1 ? LONG_US : 0) || add(&p, VT_WR))
			vt_bail("no thread");
		vt_pair_close(&p);
		vt_close(dev);
	}
	is_int(soon_threads(1), 1, "20 contexts closed with their threads");
	is_int(poller_fd(), -1, "... and their files");
}

static void test_fork(void)
{
	static struct stream s;
	int status = -1, good = 0;
	pid_t pid;

	is_int(start(a, LONG_US), 0, "a poll thread");
	stream_start(&s, a);
	for (int i = 0; i < 20; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid && i & 1)
			_exit(stop(a));
		if (!pid)
			_exit(close(poller_fd()));
		waitpid(pid, &status, 0);
		good += !status;
	}
	is_int(good, 20, "children that stop it, or close its file");
	is_int(soon_threads(3), 3, "... do not end the thread of the parent");
	usleep(100000);
	stream_end(&s, "the traffic of the parent");
	is_int(stop(a), 0, "stopped");
}

/* ---- the file ------------------------------------------------------------ */

static int raw_alloc(int *fd)
{
	*fd = fd_object_poller(a->ctx);
	return *fd < 0 ? errno : 0;
}

static int run(int fd, uint32_t idle_us, uint32_t flags, uint64_t reserved)
{
	struct mxe_poll_run arg = { idle_us, flags, reserved };

	return ioctl(fd, MXE_IOC_POLL_RUN, &arg) ? errno : 0;
}

static void test_input(void)
{
	struct mxedv_poll_thread_attr attr = { .idle_us = LONG_US };
	struct mxedv_qp_init_attr mxe_attr = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = MXEDV_QP_CREATE_POLLED |
				MXEDV_QP_CREATE_DEFER_DOORBELL,
	};
	struct ibv_qp_init_attr_ex init = { 0 };
	struct vt_conf conf = polled();
	struct vt_pair p;
	char byte = 0;
	int fd, fd2;

	is_int(stop(a), ENOENT, "stopped without a thread");
	is_int(mxedv_start_poll_thread(a->ctx, NULL), EINVAL, "no attributes");
	attr.flags = 1;
	is_int(mxedv_start_poll_thread(a->ctx, &attr), EINVAL, "unknown flag");
	attr.flags = 0;
	attr.comp_mask = 1;
	is_int(mxedv_start_poll_thread(a->ctx, &attr), EINVAL,
	       "unknown comp_mask bit");
	attr.comp_mask = 0;
	open_pair(&p, a, &conf);
	is_int(mxedv_start_poll_thread(a->ctx, &attr), 0, "a thread");
	/*
	 * Wait until the thread polls. Before that, run() below would become
	 * the first to run the file.
	 */
	ok(soon_flagged(0), "... polls the queue");
	is_int(mxedv_start_poll_thread(a->ctx, &attr), EBUSY, "a second one");
	is_int(raw_alloc(&fd2), EBUSY, "... through the kernel interface");
	is_int(run(poller_fd(), 0, 0, 0), EBUSY, "a second thread cannot run the same file");
	is_int(stop(a), 0, "stopped");
	is_int(stop(a), ENOENT, "stopped again");
	vt_pair_close(&p);
	ok(!mxedv_create_qp(a->ctx, &init, &mxe_attr) && errno == EINVAL,
	   "a queue pair cannot be polled and have deferred doorbells");

	is_int(raw_alloc(&fd), 0, "a file");
	is_int(raw_alloc(&fd2), EBUSY, "a second one");
	is_int(run(fd, 0, 1, 0), EINVAL, "unknown flag");
	is_int(run(fd, 0, 0, 1ULL << 63), EINVAL, "reserved field not zero");
	ok(ioctl(fd, MXE_IOC_POLL_RUN, (void *)8) && errno == EFAULT,
	   "unmapped memory");
	ok(ioctl(fd, _IOW(0x1b, 0x80, uint64_t), &attr) && errno == ENOTTY,
	   "a command of another size");
	ok(ioctl(fd, _IO(0x1b, 0x82)) && errno == ENOTTY, "unknown command");
	ok(ioctl(vt_doorbell_fd(), MXE_IOC_POLL_STOP) && errno == ENOTTY,
	   "a doorbell file does not know MXE_IOC_POLL_STOP");
	ok(write(fd, &byte, 1) < 0, "the file cannot be written");
	ok(read(fd, &byte, 1) < 0, "... or read");
	ok(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED,
	   "... or mapped");
	is_int(ioctl(fd, MXE_IOC_POLL_STOP), 0, "stopped before it runs");
	is_int(run(fd, LONG_US, 0, 0), 0, "... so MXE_IOC_POLL_RUN returns at once");
	is_int(close(fd), 0, "closed");
	is_int(raw_alloc(&fd), 0, "another file after the first is closed");
	is_int(close(fd), 0, "closed");
}

static int run_result;

static void *run_thread(void *arg)
{
	run_result = run(*(int *)arg, UINT32_MAX, 0, 0);
	return NULL;
}

static void on_usr1(int sig)
{
	(void)sig;
}

static void test_ends(void)
{
	struct sigaction act = { .sa_handler = on_usr1 };
	struct vt_conf conf = polled();
	pthread_t thread;
	struct vt_pair p;
	int fd;

	open_pair(&p, a, &conf);
	for (int i = 0; i < 3; i++) {
		static const char *const how[] = {
			"closing the file ends it", "a signal ends it",
			"a signal with SA_RESTART does not end it",
		};

		if (raw_alloc(&fd))
			vt_bail("alloc");
		act.sa_flags = i == 2 ? SA_RESTART : 0;
		sigaction(SIGUSR1, &act, NULL);
		run_result = -1;
		pthread_create(&thread, NULL, run_thread, &fd);
		ok(soon_flagged(0), "a thread that polls");
		if (i)
			pthread_kill(thread, SIGUSR1);
		else
			close(fd);
		if (i == 2) {
			usleep(100000);
			is_int(run_result, -1, "%s", how[i]);
			ok(soon_flagged(0), "... it still polls");
			ioctl(fd, MXE_IOC_POLL_STOP);
		}
		pthread_join(thread, NULL);
		is_int(run_result, i == 1 ? EINTR : 0, "%s", i == 2 ? "stopped" :
		       how[i]);
		is_int(flagged(), 1, "the ring needs a doorbell");
		ok(!add(&p, VT_WR), "... and a request is executed");
		if (i)
			close(fd);
	}
	vt_pair_close(&p);
}

/* ---- removal of the device ----------------------------------------------- */

static int hold(bool busy)
{
	struct vt_conf conf = polled();
	struct vt_pair p;
	struct ibv_wc wc;

	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	open_pair(&p, a, &conf);
	if (start(a, busy ? LONG_US : 100) || add(&p, VT_WR))
		vt_bail("no thread");
	if (!soon_flagged(busy ? 0 : 1))
		vt_bail("the thread does not %s", busy ? "poll" : "sleep");
	printf("running\n");
	fflush(stdout);
	while (vt_async(a, 0) != IBV_EVENT_DEVICE_FATAL) {
		if (!busy)
			usleep(1000);
		else if (!post_add(&p, VT_WR, 0))
			vt_poll(p.a.cq, &wc, 1000);
	}
	/* The removal ends the thread. */
	return soon_threads(1) == 1 && !stop(a) ? 3 : 4;
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "calls", test_calls },
	{ "input", test_input },
	{ "ends", test_ends },
	{ "idle", test_idle },
	{ "traffic", test_traffic },
	{ "many", test_many },
	{ "states", test_states },
	{ "destroy", test_destroy },
	{ "stop", test_stop },
	{ "contexts", test_contexts },
	{ "close", test_close },
	{ "fork", test_fork },
	{ "pauses", test_pauses },
};

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "hold"))
		return hold(!strcmp(argv[2], "busy"));
	plan(0);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!vt_wanted(tests[i].name, argv + 1))
			continue;
		diag("%s", tests[i].name);
		/* test_calls() forks, and its child opens the devices. */
		if (tests[i].run != test_calls) {
			a = vt_open(vt_name_a());
			b = vt_open(vt_name_b());
		}
		tests[i].run();
		if (tests[i].run != test_calls) {
			vt_close(a);
			vt_close(b);
		}
	}
	return done_testing();
}
