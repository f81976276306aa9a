// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creates traffic for tests that remove objects while they are in use.
 *
 *	t_traffic [-s SECONDS] [-6] [-c TRAFFIC-CLASS]
 *		  [-f FLOW-LABEL] MODE
 *
 * run	 posts and checks writes, reads and masked atomics, many in flight,
 *	 until the time is up (default 2 s) or SIGTERM arrives. Prints
 *	 "running" after the first operations. Exit status 0: success; 3: the
 *	 connection ended, as when a device is removed; 1: failure.
 * fork	 does the same, and repeatedly forks children that write to the
 *	 buffers.
 * destroy
 *	 repeatedly destroys queue pairs with requests in flight.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "traffic.h"

#define LEN 3000

static struct vt_dev *a, *b;
static struct vt_conf conf;
static struct vt_pair p;
static pid_t pid;		/* of the child, or 0 */

static int post_one(uint64_t n)
{
	size_t slot = (n % TRAFFIC_WINDOW) * 4096;
	struct ibv_sge sge = vt_sge(&p.a, slot, n % 4 < 2 ? LEN : 8);
	struct vt_wr wr = {
		.via = VT_WR, .wr_id = n, .flags = IBV_SEND_SIGNALED,
		.sge = &sge, .num_sge = 1, .raddr = vt_addr(&p.b, slot),
		.rkey = p.b.mr->rkey, .compare_add = 1, .compare_mask = 0x8000,
	};

	switch (n % 4) {
	case 0:
		memset(p.a.buf + slot, (int)(n & 0xff), LEN);
		wr.op = VT_WRITE;
		break;
	case 1:
		/* Reads the data of the WRITE before. */
		wr.op = VT_READ;
		wr.raddr -= 4096;
		break;
	default:
		wr.op = VT_MFADD;
		wr.raddr = vt_addr(&p.b, TRAFFIC_WINDOW * 4096);
	}
	return vt_post(&p.a, &wr);
}

static bool check_one(uint64_t n)
{
	size_t slot = (n % TRAFFIC_WINDOW) * 4096;
	uint64_t atomics = n / 4 * 2 + (n % 4 - 2);

	if (n % 4 == 1) {
		for (int i = 0; i < LEN; i++)
			if (p.a.buf[slot + (size_t)i] != ((n - 1) & 0xff))
				return false;
	} else if (n % 4 >= 2) {
		/* The lower field wraps. */
		return *vt_word(&p.a, slot) == (atomics & 0xffff);
	}
	return true;
}

/* Has one child at a time. */
static void fork_one(void)
{
	if (pid && waitpid(pid, NULL, WNOHANG) == pid)
		pid = 0;
	if (pid)
		return;
	pid = fork();
	if (!pid) {
		/*
		 * The child writes to its private copy, which must not affect
		 * the parent.
		 */
		memset(p.a.buf, 0xaa, p.a.size);
		memset(p.b.buf, 0xaa, p.b.size);
		usleep(10000);
		_exit(0);
	}
}

static int run(int seconds, bool forks)
{
	struct traffic t = {
		.a = a,
		.b = b,
		.post = post_one,
		.check = check_one,
		.after = forks ? fork_one : NULL,
	};
	int ret;

	conf.size = (TRAFFIC_WINDOW + 1) * 4096;
	vt_pair_open(&p, a, b, &conf);
	t.cq = p.a.cq;
	ret = traffic_run(&t, vt_now_ms() + (uint64_t)seconds * 1000);
	if (ret)
		return ret;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	vt_pair_close(&p);
	return 0;
}

static int destroy(int seconds)
{
	uint64_t end = vt_now_ms() + (uint64_t)seconds * 1000;
	int rounds = 0;

	conf.size = (TRAFFIC_WINDOW + 1) * 4096;
	conf.timeout = 8;
	while (traffic_time_left(end)) {
		struct ibv_qp **first, **second;

		vt_pair_open(&p, a, b, &conf);
		for (uint64_t n = 0; n < TRAFFIC_WINDOW; n++)
			if (post_one(n))
				return 1;
		/* Destroy either end first, after a random time. */
		usleep((unsigned int)(vt_random_u64() % 4000));
		first = rounds & 1 ? &p.a.qp : &p.b.qp;
		second = rounds & 1 ? &p.b.qp : &p.a.qp;
		if (ibv_destroy_qp(*first))
			return 1;
		if (rounds & 2)
			usleep(2000);
		if (ibv_destroy_qp(*second))
			return 1;
		p.a.qp = p.b.qp = NULL;
		vt_pair_close(&p);
		if (++rounds == 3)
			traffic_running();
	}
	printf("%d pairs\n", rounds);
	return 0;
}

int main(int argc, char **argv)
{
	int seconds = 2, opt, ret;
	const char *mode;

	signal(SIGTERM, traffic_on_term);
	conf = vt_defaults();
	while ((opt = getopt(argc, argv, "s:6c:f:")) != -1) {
		switch (opt) {
		case 's':
			seconds = atoi(optarg);
			break;
		case '6':
			conf.ipv6 = true;
			break;
		case 'c':
			conf.tclass = (uint8_t)strtoul(optarg, NULL, 0);
			break;
		case 'f':
			conf.flow_label = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	mode = optind < argc ? argv[optind] : "run";
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	if (!strcmp(mode, "run"))
		ret = run(seconds, false);
	else if (!strcmp(mode, "fork"))
		ret = run(seconds, true);
	else if (!strcmp(mode, "destroy"))
		ret = destroy(seconds);
	else
		ret = 2;
	/* After a removal the objects cannot be destroyed. */
	if (ret != TRAFFIC_GONE) {
		vt_close(a);
		vt_close(b);
	}
	return ret;
}
