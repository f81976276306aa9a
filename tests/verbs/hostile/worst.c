// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Holds the helpers of t_worst; see worst.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "worst.h"

struct vt_dev *worst_a, *worst_b;

/* ---- tracing ------------------------------------------------------------ */

static void trace(const char *value)
{
	const char *dir = getenv("MXE_TRACING");
	static int fd = -1;
	char path[256];

	if (!dir)
		return;
	if (fd < 0) {
		snprintf(path, sizeof(path), "%s/tracing_on", dir);
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (write(fd, value, 1) != 1)
		vt_bail("%s/tracing_on", dir);
}

void worst_begin(void)
{
	trace("1");
}

void worst_end(void)
{
	trace("0");
}

void worst_fifo(pid_t pid, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(pid, priority ? SCHED_FIFO : SCHED_OTHER, &param))
		vt_bail("sched_setscheduler");
}

void worst_starve_work(bool on)
{
	static cpu_set_t before;
	char path[64], comm[32];
	cpu_set_t cpus;
	FILE *f;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (on && sched_getaffinity(0, sizeof(before), &before))
		vt_bail("sched_getaffinity");
	if (sched_setaffinity(0, sizeof(cpus), on ? &cpus : &before))
		vt_bail("sched_setaffinity");
	worst_fifo(0, on ? 1 : 0);
	/* The kernel starts this thread early. */
	for (pid_t pid = 2; pid < 100; pid++) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f) &&
		    !strcmp(comm, "ksoftirqd/0\n"))
			worst_fifo(pid, on ? 2 : 0);
		fclose(f);
	}
}

/* ---- requests ---------------------------------------------------------- */

struct vt_conf worst_conf(uint32_t depth, size_t size)
{
	struct vt_conf conf = vt_defaults();

	conf.depth = depth;
	conf.size = size;
	conf.max_sge = WORST_SGE;
	conf.max_atomic_arg = 32;
	conf.rd_atomic = WORST_RD_ATOMIC;
	conf.psn = 0;
	/*
	 * An emulated machine is slow, and a retransmission would be another
	 * attack.
	 */
	conf.timeout = 0;
	conf.create_flags = MXEDV_QP_CREATE_DEFER_DOORBELL;
	return conf;
}

void worst_fill(struct ibv_qp *qp, uint32_t n, const struct worst_wr *w)
{
	struct ibv_send_wr *bad, wr = {
		.sg_list = w->sge,
		.num_sge = w->num_sge,
		.opcode = w->opcode,
		.send_flags = w->unsignaled ? 0 : IBV_SEND_SIGNALED,
		.wr.rdma = { w->raddr, w->rkey },
	};

	if (w->srqn)
		wr.qp_type.xrc.remote_srqn = w->srqn;
	if (w->ah) {
		wr.wr.ud.ah = w->ah;
		wr.wr.ud.remote_qpn = w->qpn;
		wr.wr.ud.remote_qkey = 0x11223344;
	}
	for (uint32_t i = 0; i < n; i++) {
		wr.wr_id = i;
		errno = ibv_post_send(qp, &wr, &bad);
		if (errno)
			vt_bail("ibv_post_send: %u of %u", i, n);
	}
}

void worst_fill_recv(struct vt_end *e, uint32_t n, struct ibv_sge *sge,
		     int num_sge)
{
	for (uint32_t i = 0; i < n; i++) {
		errno = vt_recv_sge(e, i, sge, num_sge);
		if (errno)
			vt_bail("ibv_post_recv: %u of %u", i, n);
	}
}

void worst_ring(struct ibv_qp *qp)
{
	errno = mxedv_ring_doorbells(qp->context, &qp, 1);
	if (errno)
		vt_bail("mxedv_ring_doorbells");
}

void worst_pair_open(struct vt_pair *p, struct vt_dev *to,
		     const struct vt_conf *conf)
{
	struct worst_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

	vt_pair_open(p, worst_a, to, conf);
	worst_fill(p->a.qp, 1, &wr);
	worst_ring(p->a.qp);
	if (!worst_wait(p->a.cq, 1, IBV_WC_SUCCESS))
		vt_bail("the first request");
}

bool worst_wait(struct ibv_cq *cq, uint32_t n, int status)
{
	struct ibv_wc wc;

	for (uint32_t i = 0; i < n; i++) {
		if (!vt_poll(cq, &wc, VT_MS)) {
			printf("# %u of %u completions arrived, %ld packets were dropped\n",
			       i, n, vt_counter(vt_name_b(), "drop_*") +
				     vt_counter(vt_name_a(), "drop_*"));
			return false;
		}
		if (status >= 0 && (int)wc.status != status) {
			printf("# completion %u of %u: %s\n", i, n,
			       vt_status((int)wc.status));
			return false;
		}
	}
	return true;
}

void worst_list_open(struct worst_list *l, struct vt_dev *dev, uint32_t len,
		     uint32_t shift)
{
	uint32_t each = len / WORST_SGE, room = (each + shift + 8191) & ~4095U;

	l->size = (size_t)room * WORST_SGE;
	l->buf = mmap(NULL, l->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->buf == MAP_FAILED)
		vt_bail("mmap of %zu bytes", l->size);
	for (int i = 0; i < WORST_SGE; i++) {
		uint8_t *buf = l->buf + (size_t)room * (size_t)i;
		uint32_t own = each;

		/* The total length stays len. */
		if (i == 0)
			own += shift;
		else if (i == WORST_SGE - 1)
			own -= shift;
		l->mr[i] = ibv_reg_mr(dev->pd, buf, room, VT_ACCESS_ALL);
		if (!l->mr[i])
			vt_bail("ibv_reg_mr of %u bytes", room);
		l->sge[i] = (struct ibv_sge){
			(uintptr_t)buf + 4000, own, l->mr[i]->lkey,
		};
	}
}

void worst_list_close(struct worst_list *l)
{
	for (int i = 0; i < WORST_SGE; i++)
		if (ibv_dereg_mr(l->mr[i]))
			vt_bail("ibv_dereg_mr");
	munmap(l->buf, l->size);
}
