// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bench-fabric [-o fadd|send] tsc|monotonic PROVIDER ADDRESS COUNT
 * bench-fabric [-o fadd|send] tsc|monotonic mxe HOST COUNT [TARGET_HOST]
 *
 * Measures fetch-and-adds and messages of libfabric, one at a time, and with
 * TARGET_HOST fetch-and-adds of 16 endpoints to one word, 16 at a time; or with
 * -o one of these.  Both endpoints are in this thread, which drives them in
 * turn.  The output has the form of mxe-perf --json.
 *
 * The provider mxe uses the device of a network namespace: that of HOST, and of
 * TARGET_HOST for the target.
 */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "one.h"

struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_mr *mr;
	uint64_t words[2];	/* target or result, addend */
	fi_addr_t peer;
};

#define RIVALS 16

static struct end a = { .words = { 0, 1 } }, b;
static struct fid_ep *rivals[RIVALS];
static uint64_t olds[RIVALS];

static void must(const char *what, ssize_t ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "bench-fabric: %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

static void enter(const char *host)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", host);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void find(struct end *end, const char *provider, const char *address)
{
	struct fi_info *hints = fi_allocinfo();
	int is_mxe = !strcmp(provider, "mxe");

	if (is_mxe)
		enter(address);
	hints->caps = FI_ATOMIC | FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	if (!is_mxe)
		hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = strdup(provider);
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 14),
				      is_mxe ? NULL : address, NULL,
				      is_mxe ? 0 : FI_SOURCE, hints,
				      &end->info));
	fi_freeinfo(hints);
	must("fi_fabric", fi_fabric(end->info->fabric_attr, &end->fabric, NULL));
	must("fi_domain", fi_domain(end->fabric, end->info, &end->domain, NULL));
}

static void make(struct end *end, uint64_t key)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	const uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE |
				FI_REMOTE_READ | FI_REMOTE_WRITE;

	must("fi_cq_open", fi_cq_open(end->domain, &cq, &end->cq, NULL));
	must("fi_av_open", fi_av_open(end->domain, &av, &end->av, NULL));
	must("fi_endpoint", fi_endpoint(end->domain, end->info, &end->ep, NULL));
	must("fi_ep_bind", fi_ep_bind(end->ep, &end->cq->fid,
				      FI_TRANSMIT | FI_RECV));
	must("fi_ep_bind", fi_ep_bind(end->ep, &end->av->fid, 0));
	must("fi_enable", fi_enable(end->ep));
	must("fi_mr_reg", fi_mr_reg(end->domain, end->words, sizeof(end->words),
				    access, 0, key, 0, &end->mr, NULL));
}

static void know(struct end *end, struct end *peer)
{
	char name[128];
	size_t len = sizeof(name);

	must("fi_getname", fi_getname(&peer->ep->fid, name, &len));
	must("fi_av_insert", fi_av_insert(end->av, name, 1, &end->peer, 0,
					  NULL) == 1 ? 0 : -FI_EINVAL);
}

/* Executes a fetch-and-add of 1.  Returns the old value. */
static uint64_t add(uint64_t expected)
{
	uint64_t addr = a.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
			(uintptr_t)b.words : 0;
	static struct fi_context2 context;
	struct fi_cq_entry entry;
	ssize_t ret;

	(void)expected;
	do {
		ret = fi_fetch_atomic(a.ep, &a.words[1], 1, fi_mr_desc(a.mr),
				      &a.words[0], fi_mr_desc(a.mr), a.peer,
				      addr, fi_mr_key(b.mr), FI_UINT64, FI_SUM,
				      &context);
		if (ret == -FI_EAGAIN) {
			fi_cq_read(a.cq, &entry, 1);
			fi_cq_read(b.cq, &entry, 1);
		}
	} while (ret == -FI_EAGAIN);
	must("fi_fetch_atomic", ret);
	while ((ret = fi_cq_read(a.cq, &entry, 1)) == -FI_EAGAIN)
		fi_cq_read(b.cq, &entry, 1);
	must("fi_cq_read", ret);
	return a.words[0];
}

/* Sends a message of 8 bytes.  Returns the value that was received. */
static uint64_t send_one(uint64_t expected)
{
	static struct fi_context2 sent, received;
	struct fi_cq_entry entry;
	int left = 2;
	ssize_t ret;

	must("fi_recv", fi_recv(b.ep, &b.words[1], 8, fi_mr_desc(b.mr),
				FI_ADDR_UNSPEC, &received));
	a.words[1] = expected;
	do
		ret = fi_send(a.ep, &a.words[1], 8, fi_mr_desc(a.mr), a.peer,
			      &sent);
	while (ret == -FI_EAGAIN);
	must("fi_send", ret);
	while (left) {
		ret = fi_cq_read(b.cq, &entry, 1);
		if (ret == -FI_EAGAIN)
			ret = fi_cq_read(a.cq, &entry, 1);
		if (ret == -FI_EAGAIN)
			continue;
		must("fi_cq_read", ret);
		left--;
	}
	return b.words[1];
}

/*
 * Executes a fetch-and-add of 1 by each of the rivals.  Returns the expected
 * value if RIVALS times that was the old value of the first of them.
 */
static uint64_t contend(uint64_t expected)
{
	static struct fi_context2 contexts[RIVALS];
	struct fi_cq_entry entry;
	uint64_t old = UINT64_MAX;
	ssize_t ret;

	for (int i = 0; i < RIVALS; i++)
		must("fi_fetch_atomic",
		     fi_fetch_atomic(rivals[i], &a.words[1], 1,
				     fi_mr_desc(a.mr), &olds[i], NULL, a.peer,
				     (uintptr_t)b.words, fi_mr_key(b.mr),
				     FI_UINT64, FI_SUM, &contexts[i]));
	for (int left = RIVALS; left;) {
		ret = fi_cq_read(a.cq, &entry, 1);
		if (ret == -FI_EAGAIN)
			continue;
		must("fi_cq_read", ret);
		left--;
	}
	for (int i = 0; i < RIVALS; i++)
		if (olds[i] < old)
			old = olds[i];
	return old == expected * RIVALS ? expected : old;
}

/* The endpoint and 15 more. */
static void make_rivals(void)
{
	rivals[0] = a.ep;
	for (int i = 1; i < RIVALS; i++) {
		must("fi_endpoint", fi_endpoint(a.domain, a.info, &rivals[i],
						NULL));
		must("fi_ep_bind", fi_ep_bind(rivals[i], &a.cq->fid,
					      FI_TRANSMIT | FI_RECV));
		must("fi_ep_bind", fi_ep_bind(rivals[i], &a.av->fid, 0));
		must("fi_enable", fi_enable(rivals[i]));
	}
	a.words[1] = 1;
	b.words[0] = 0;
}

int main(int argc, char **argv)
{
	struct bench bench = { .test = "fabric" };
	const char *only = NULL;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		only = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (argc < 5 || argc > 6) {
		fputs("Usage: bench-fabric [-o OPERATION] tsc|monotonic PROVIDER ADDRESS COUNT [TARGET]\n",
		      stderr);
		return 2;
	}
	bench.tsc = !strcmp(argv[1], "tsc");
	bench.n = strtoul(argv[4], NULL, 0);
	if (!bench.n)
		return 2;
	find(&a, argv[2], argv[3]);
	if (argc == 6) {
		find(&b, argv[2], argv[5]);
	} else {
		b.info = a.info;
		b.domain = a.domain;
	}
	bench.device = a.info->fabric_attr->prov_name;
	make(&a, 1);
	make(&b, 2);
	know(&a, &b);
	know(&b, &a);
	if (!only || !strcmp(only, "fadd"))
		bench_run(&bench, "fadd", 0, add);
	if (!only || !strcmp(only, "send"))
		bench_run(&bench, "send", 0, send_one);
	if (!only && argc == 6) {
		make_rivals();
		bench_run(&bench, "contend16", 0, contend);
	}
	bench_end();
	return 0;
}
