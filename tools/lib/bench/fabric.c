// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bench-fabric tsc|monotonic PROVIDER ADDRESS COUNT
 *
 * Measures fetch-and-adds of libfabric, one at a time.  Both endpoints are in
 * this thread, which drives them in turn.  The output has the form of mxe-perf
 * --json.
 */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "one.h"

struct end {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_mr *mr;
	uint64_t words[2];	/* target or result, addend */
	fi_addr_t peer;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct end a = { .words = { 0, 1 } }, b;

static void must(const char *what, ssize_t ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "bench-fabric: %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

static void find(const char *provider, const char *address)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = FI_ATOMIC;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->fabric_attr->prov_name = strdup(provider);
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 14), address, NULL,
				      FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
}

static void make(struct end *end, uint64_t key)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	const uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ |
				FI_REMOTE_WRITE;

	must("fi_cq_open", fi_cq_open(domain, &cq, &end->cq, NULL));
	must("fi_av_open", fi_av_open(domain, &av, &end->av, NULL));
	must("fi_endpoint", fi_endpoint(domain, info, &end->ep, NULL));
	must("fi_ep_bind", fi_ep_bind(end->ep, &end->cq->fid,
				      FI_TRANSMIT | FI_RECV));
	must("fi_ep_bind", fi_ep_bind(end->ep, &end->av->fid, 0));
	must("fi_enable", fi_enable(end->ep));
	must("fi_mr_reg", fi_mr_reg(domain, end->words, sizeof(end->words),
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
	uint64_t addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
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

int main(int argc, char **argv)
{
	struct bench bench = { .test = "fabric" };

	if (argc != 5) {
		fputs("Usage: bench-fabric tsc|monotonic PROVIDER ADDRESS COUNT\n", stderr);
		return 2;
	}
	bench.tsc = !strcmp(argv[1], "tsc");
	bench.n = strtoul(argv[4], NULL, 0);
	if (!bench.n)
		return 2;
	find(argv[2], argv[3]);
	bench.device = info->fabric_attr->prov_name;
	make(&a, 1);
	make(&b, 2);
	know(&a, &b);
	know(&b, &a);
	bench_run(&bench, "fadd", 0, add);
	bench_end();
	return 0;
}
