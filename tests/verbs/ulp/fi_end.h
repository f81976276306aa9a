/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints of libfabric's provider mxe, for tests between the hosts of
 * tools/two-hosts.
 */
#ifndef FI_END_H
#define FI_END_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "tap.h"

#ifndef TIMEOUT_MS
#define TIMEOUT_MS 60000
#endif

/* Version of the API that open_end() uses. */
static uint32_t end_version TAP_UNUSED = FI_VERSION(1, 15);

/* An endpoint and the objects that it uses. */
struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_ep *ep;
};

/**
 * must() - End the test if a call has failed.
 * @ret: what the call has returned
 * @what: name of the call
 */
static inline void must(long ret, const char *what)
{
	if (ret >= 0)
		return;
	printf("Bail out!  %s: %s\n", what, fi_strerror((int)-ret));
	exit(1);
}

/**
 * enter() - Move this thread to a host.
 * @host: "h1" or "h2". If $MXE_FI_STAY contains it, the host is the namespace
 *	in which the program began, because rxe is in the initial namespace.
 */
static inline void enter(const char *host)
{
	const char *stay = getenv("MXE_FI_STAY");
	static int first = -1;
	char path[64];
	int fd;

	if (first < 0)
		first = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (stay && strstr(stay, host)) {
		if (first >= 0 && !setns(first, CLONE_NEWNET))
			return;
		printf("Bail out!  setns: %s\n", strerror(errno));
		exit(1);
	}
	snprintf(path, sizeof(path), "/run/netns/%s", host);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		printf("Bail out!  %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
}

/**
 * open_ep_of() - Open and enable an endpoint.
 * @e: objects that it uses
 * @cq: completion queue
 * @info: info with its type
 *
 * Return: the endpoint.
 */
static inline struct fid_ep *open_ep_of(struct end *e, struct fid_cq *cq,
					struct fi_info *info)
{
	struct fid_ep *ep;

	must(fi_endpoint(e->domain, info, &ep, NULL), "fi_endpoint");
	if (info->ep_attr->type == FI_EP_RDM)
		must(fi_ep_bind(ep, &e->av->fid, 0), "fi_ep_bind av");
	must(fi_ep_bind(ep, &e->eq->fid, 0), "fi_ep_bind eq");
	must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV),
	     "fi_ep_bind cq");
	must(fi_ep_bind(ep, &e->cntr->fid, FI_WRITE), "fi_ep_bind cntr");
	must(fi_enable(ep), "fi_enable");
	return ep;
}

/**
 * open_ep() - Open and enable another endpoint of the same type.
 * @e: objects that it uses
 * @cq: completion queue
 *
 * Return: the endpoint.
 */
static inline struct fid_ep *open_ep(struct end *e, struct fid_cq *cq)
{
	return open_ep_of(e, cq, e->info);
}

/**
 * open_cntr() - Open a counter.
 * @domain: domain
 *
 * Return: the counter.
 */
static inline struct fid_cntr *open_cntr(struct fid_domain *domain)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP,
				     .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr;

	must(fi_cntr_open(domain, &attr, &cntr, NULL), "fi_cntr_open");
	return cntr;
}

/**
 * open_end_of() - Open all objects, with an endpoint if it is of FI_EP_RDM.
 * @e: filled in
 * @type: type of endpoints
 * @caps: capabilities
 */
static inline void open_end_of(struct end *e, enum fi_ep_type type,
			       uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED,
				 .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_MAP };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_UNSPEC };

	hints->fabric_attr->prov_name = strdup("mxe");
	hints->ep_attr->type = type;
	hints->caps = caps;
	hints->domain_attr->mr_mode =
		FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	/* FI_MR_BASIC, whose name gives a warning in libfabric 2. */
	if (FI_VERSION_LT(end_version, FI_VERSION(1, 5)))
		hints->domain_attr->mr_mode = 1;
	must(fi_getinfo(end_version, NULL, NULL, 0, hints, &e->info),
	     "fi_getinfo");
	fi_freeinfo(hints);
	must(fi_fabric(e->info->fabric_attr, &e->fabric, NULL), "fi_fabric");
	must(fi_eq_open(e->fabric, &eq, &e->eq, NULL), "fi_eq_open");
	must(fi_domain(e->fabric, e->info, &e->domain, NULL), "fi_domain");
	must(fi_av_open(e->domain, &av, &e->av, NULL), "fi_av_open");
	must(fi_cq_open(e->domain, &cq, &e->cq, NULL), "fi_cq_open");
	e->cntr = open_cntr(e->domain);
	e->ep = NULL;
	if (type == FI_EP_RDM)
		e->ep = open_ep(e, e->cq);
}

/**
 * open_end() - Open an endpoint of FI_EP_RDM and the objects that it uses.
 * @e: filled in
 * @caps: capabilities
 */
static inline void open_end(struct end *e, uint64_t caps)
{
	open_end_of(e, FI_EP_RDM, caps);
}

/**
 * open_many() - Open many endpoints of FI_EP_RDM, as each domain has CQEs for
 *	some of them only.
 * @ends: domains with all objects, filled in
 * @num_ends: number of domains
 * @caps: capabilities
 * @eps: endpoints, filled in. Endpoint i uses @ends[i % @num_ends].
 * @num: number of endpoints, at least @num_ends
 */
static inline void open_many(struct end *ends, int num_ends, uint64_t caps,
			     struct fid_ep **eps, int num)
{
	for (int i = 0; i < num; i++) {
		struct end *e = &ends[i % num_ends];

		if (i < num_ends)
			open_end(e, caps);
		eps[i] = i < num_ends ? e->ep : open_ep(e, e->cq);
	}
}

/**
 * close_end() - Close all objects.
 * @e: objects
 *
 * Return: 0 if all objects could be closed.
 */
static inline int close_end(struct end *e)
{
	int ret = (e->ep ? fi_close(&e->ep->fid) : 0) ? : fi_close(&e->cntr->fid) ? :
		  fi_close(&e->cq->fid) ? : fi_close(&e->av->fid) ? :
		  fi_close(&e->domain->fid) ? : fi_close(&e->eq->fid) ? :
		  fi_close(&e->fabric->fid);

	fi_freeinfo(e->info);
	return ret;
}

/**
 * close_many() - Close what open_many() has opened.
 * @ends: domains
 * @num_ends: their number
 * @eps: endpoints
 * @num: their number
 */
static inline void close_many(struct end *ends, int num_ends,
			      struct fid_ep **eps, int num)
{
	for (int i = num_ends; i < num; i++)
		must(fi_close(&eps[i]->fid), "fi_close ep");
	for (int i = 0; i < num_ends; i++)
		must(close_end(&ends[i]), "fi_close");
}

/**
 * wait_one() - Wait for one completion.
 * @cq: completion queue
 * @context: context that it should have
 *
 * Return: its error, or 0.
 */
static inline int wait_one(struct fid_cq *cq, void *context)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_sread(cq, &entry, 1, NULL, TIMEOUT_MS);

	if (ret == 1)
		return entry.op_context == context ? 0 : FI_EOTHER;
	if (ret != -FI_EAVAIL)
		return (int)-ret;
	fi_cq_readerr(cq, &err, 0);
	return err.err;
}

/**
 * insert() - Insert an endpoint of this process into the address vector.
 * @e: endpoint with the address vector
 * @ep: endpoint to insert
 *
 * Return: its address.
 */
static inline fi_addr_t insert(struct end *e, struct fid_ep *ep)
{
	uint8_t name[64];
	size_t len = sizeof(name);
	fi_addr_t addr;

	must(fi_getname(&ep->fid, name, &len), "fi_getname");
	must(fi_av_insert(e->av, name, 1, &addr, 0, NULL) - 1, "fi_av_insert");
	return addr;
}

/**
 * cpu_ms() - Return the CPU time of this process.
 *
 * Return: milliseconds.
 */
static inline long cpu_ms(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

/* The process of a target, and the pipes to and from it. */
struct child {
	pid_t pid;
	int to, from;
};

/**
 * fork_target() - Run a target in a process of its own.
 * @child: filled in
 * @run: what the process does, without a return. It writes to @to, and reads
 *	from @from.
 * @target: set to what @run writes first
 * @len: length of @target in bytes
 */
static inline void fork_target(struct child *child, void (*run)(int to, int from),
			       void *target, size_t len)
{
	int down[2], up[2];

	if (pipe(down) || pipe(up))
		must(-errno, "pipe");
	child->pid = fork();
	if (!child->pid) {
		close(down[1]);
		run(up[1], down[0]);
	}
	close(up[1]);
	child->to = down[1];
	child->from = up[0];
	if (read(child->from, target, len) != (ssize_t)len)
		must(-EIO, "start of the target");
}

#endif /* FI_END_H */
