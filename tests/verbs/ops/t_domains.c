// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that a parent domain, with and without a thread domain, works in place
 * of its protection domain, and that a process can use the device, the
 * protection domain, the region and the device memory of another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

enum { LEN = 8192, AT = 4000 };

static struct vt_dev *a, *b;

/* ---- parent domains ---------------------------------------------------- */

static struct ibv_pd *alloc_parent(struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = a->pd, .td = td };
	struct ibv_pd *parent = ibv_alloc_parent_domain(a->ctx, &attr);

	if (!parent)
		vt_bail("ibv_alloc_parent_domain");
	return parent;
}

static int write_and_read(struct vt_end *from, struct vt_end *to, uint32_t lkey)
{
	struct ibv_sge sge = vt_sge(from, 0, LEN);
	struct vt_wr wr = {
		.op = VT_WRITE, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(to, LEN), .rkey = to->mr->rkey,
	};
	int ret;

	sge.lkey = lkey;
	vt_fill_random(from->buf, LEN);
	ret = vt_do(from, &wr, NULL);
	if (ret)
		return ret;
	wr.op = VT_READ;
	sge = vt_sge(from, LEN, LEN);
	ret = vt_do(from, &wr, NULL);
	return ret ? ret : memcmp(from->buf, from->buf + LEN, LEN);
}

/* The QP of the first end and its region are in the parent domain. */
static void test_traffic(struct ibv_pd *parent, const char *name)
{
	struct vt_conf conf = vt_defaults();
	struct vt_dev dev = *a;
	struct ibv_mr *mr;
	struct vt_pair p;

	dev.pd = parent;
	vt_pair_open(&p, &dev, b, &conf);
	is_int(write_and_read(&p.a, &p.b, p.a.mr->lkey), 0, "traffic in %s", name);
	is_int(write_and_read(&p.b, &p.a, p.b.mr->lkey), 0, "... from the peer");
	mr = ibv_reg_mr(a->pd, p.a.buf, p.a.size, IBV_ACCESS_LOCAL_WRITE);
	if (ok(mr, "a region of the protection domain"))
		is_int(write_and_read(&p.a, &p.b, mr->lkey), 0, "... is of the same");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	vt_pair_close(&p);
}

static void test_objects(struct ibv_pd *parent)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 8, 1, 0 } };
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent,
	};
	struct ibv_ah_attr ah_attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->gid4, .sgid_index = a->gid4_index },
	};
	struct ibv_srq *srq = ibv_create_srq(parent, &srq_attr);
	struct ibv_cq_ex *cq = ibv_create_cq_ex(a->ctx, &cq_attr);
	struct ibv_mw *mw = ibv_alloc_mw(parent, IBV_MW_TYPE_2);
	struct ibv_ah *ah = ibv_create_ah(parent, &ah_attr);

	if (ok(srq, "a shared receive queue in a parent domain"))
		is_int(ibv_destroy_srq(srq), 0, "... is destroyed");
	if (ok(cq, "a completion queue"))
		is_int(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0, "... is destroyed");
	if (ok(mw, "a memory window"))
		is_int(ibv_dealloc_mw(mw), 0, "... is freed");
	if (ok(ah, "an address handle"))
		is_int(ibv_destroy_ah(ah), 0, "... is destroyed");
}

static void test_parent_domains(void)
{
	struct ibv_td_init_attr attr = { 0 };
	struct ibv_td *td = ibv_alloc_td(a->ctx, &attr);
	struct ibv_pd *plain = alloc_parent(NULL), *threaded;

	if (!td)
		vt_bail("ibv_alloc_td");
	threaded = alloc_parent(td);
	test_traffic(plain, "a parent domain");
	test_traffic(threaded, "a parent domain with a thread domain");
	test_objects(threaded);
	is_int(ibv_dealloc_td(td), EBUSY, "a thread domain in use is not freed");
	is_int(ibv_dealloc_pd(a->pd), EBUSY, "nor is a protection domain");
	is_int(ibv_dealloc_pd(threaded), 0, "one parent domain is freed");
	is_int(ibv_dealloc_pd(plain), 0, "... and the other");
	is_int(ibv_dealloc_td(td), 0, "... and the thread domain");
}

/* ---- importing --------------------------------------------------------- */

/* What the owner sends to the importer with the uverbs file. */
struct offer {
	struct vt_dev dev;		/* its pointers mean nothing there */
	uint32_t pd, mr, dm;		/* handles */
	uint32_t lkey, rkey;
	uint64_t addr;
};

union fd_room {
	struct cmsghdr hdr;
	char room[CMSG_SPACE(sizeof(int))];
};

static void send_offer(int sock, struct offer *offer, int fd)
{
	struct iovec iov = { offer, sizeof(*offer) };
	union fd_room control = { .hdr = {
		.cmsg_len = CMSG_LEN(sizeof(fd)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.hdr), &fd, sizeof(fd));
	if (sendmsg(sock, &msg, 0) != sizeof(*offer))
		vt_bail("sendmsg");
}

static int receive_offer(int sock, struct offer *offer)
{
	struct iovec iov = { offer, sizeof(*offer) };
	union fd_room control;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(sock, &msg, 0) != sizeof(*offer))
		vt_bail("recvmsg");
	memcpy(&fd, CMSG_DATA(&control.hdr), sizeof(fd));
	return fd;
}

static void need(bool is_met, const char *what)
{
	if (is_met)
		return;
	fprintf(stderr, "# importer: %s: %s\n", what, strerror(errno));
	_exit(1);
}

/*
 * Writes to the region of the owner with queues of its own, and to the device
 * memory. If leave is true, dies without destroying anything.
 */
static void importer(int sock, bool leave)
{
	struct vt_conf conf = vt_defaults();
	struct offer offer;
	int fd = receive_offer(sock, &offer);
	struct vt_dev dev = offer.dev;
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	struct ibv_sge sge;
	struct vt_wr wr = {
		.op = VT_WRITE, .sge = &sge, .num_sge = 1,
		.raddr = offer.addr, .rkey = offer.rkey,
	};
	struct vt_pair p;

	dev.ctx = ibv_import_device(fd);
	need(dev.ctx, "ibv_import_device");
	dev.pd = ibv_import_pd(dev.ctx, offer.pd);
	need(dev.pd, "ibv_import_pd");
	mr = ibv_import_mr(dev.pd, offer.mr);
	need(mr && mr->lkey == offer.lkey && mr->rkey == offer.rkey &&
	     mr->length == LEN, "ibv_import_mr");
	dm = ibv_import_dm(dev.ctx, offer.dm);
	need(dm && !ibv_memcpy_to_dm(dm, AT, "masked", 8), "ibv_import_dm");
	need(ibv_memcpy_to_dm(dm, LEN, "masked", 8) == EFAULT, "length");
	errno = 0;
	need(!ibv_import_mr(dev.pd, ~0U) && errno, "region of no handle");
	errno = 0;
	need(!ibv_import_dm(dev.ctx, ~0U) && errno, "device memory of no handle");

	vt_pair_open(&p, &dev, &dev, &conf);
	need(!write_and_read(&p.a, &p.b, p.a.mr->lkey), "own traffic");
	memset(p.a.buf, 0x5a, LEN);
	sge = vt_sge(&p.a, 0, LEN);
	need(!vt_do(&p.a, &wr, NULL), "write to the owner");
	if (leave)
		_exit(0);
	vt_pair_close(&p);
	ibv_unimport_dm(dm);
	ibv_unimport_mr(mr);
	ibv_unimport_pd(dev.pd);
	need(!ibv_close_device(dev.ctx), "ibv_close_device");
	_exit(0);
}

/* Forks before a device is opened, so that the importer inherits nothing. */
static pid_t fork_importer(int *sock, bool leave)
{
	int socks[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks))
		vt_bail("socketpair");
	pid = fork();
	if (pid < 0)
		vt_bail("fork");
	if (!pid)
		importer(socks[1], leave);
	close(socks[1]);
	*sock = socks[0];
	return pid;
}

static bool is_filled(const uint8_t *buf, uint8_t with)
{
	return buf[0] == with && !memcmp(buf, buf + 1, LEN - 1);
}

static void test_import(pid_t pid, int sock, const char *end)
{
	struct ibv_alloc_dm_attr attr = { .length = LEN };
	struct ibv_dm *dm = ibv_alloc_dm(a->ctx, &attr);
	uint8_t *buf = calloc(1, LEN);
	struct ibv_mr *mr = ibv_reg_mr(a->pd, buf, LEN, VT_ACCESS_ALL);
	struct offer offer = { .dev = *a };
	char got[8] = "";
	int status;

	if (!dm || !mr)
		vt_bail("set-up");
	offer.pd = a->pd->handle;
	offer.mr = mr->handle;
	offer.dm = dm->handle;
	offer.lkey = mr->lkey;
	offer.rkey = mr->rkey;
	offer.addr = (uintptr_t)buf;
	send_offer(sock, &offer, a->ctx->cmd_fd);
	if (waitpid(pid, &status, 0) != pid)
		vt_bail("waitpid");
	is_int(status, 0, "a process imports objects, and %s", end);
	ok(is_filled(buf, 0x5a), "... its RDMA WRITE arrives in the region");
	is_int(ibv_memcpy_from_dm(got, dm, AT, sizeof(got)), 0, "device memory");
	is_str(got, "masked", "... has what the process wrote");
	is_int(ibv_dereg_mr(mr), 0, "the region still exists");
	is_int(ibv_free_dm(dm), 0, "... and the device memory");
	free(buf);
	close(sock);
}

/* The file of a device that has no user context. */
static void test_import_nothing(void)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", a->ctx->device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		vt_bail("%s", path);
	errno = 0;
	ok(!ibv_import_device(fd) && errno == EINVAL,
	   "a file without a context is not imported");
}

int main(void)
{
	pid_t tidy, untidy;
	int tidy_sock, untidy_sock;

	plan(0);
	tidy = fork_importer(&tidy_sock, false);
	untidy = fork_importer(&untidy_sock, true);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_parent_domains();
	test_import(tidy, tidy_sock, "closes the device");
	test_import_nothing();
	vt_close(a);
	a = vt_open(vt_name_a());
	test_import(untidy, untidy_sock, "dies with them");
	is_int(ibv_dealloc_pd(a->pd), EBUSY,
	       "what it has created stays, and uses the protection domain");
	is_int(ibv_close_device(a->ctx), 0, "... until the owner closes the device");
	free(a);
	vt_close(b);
	return done_testing();
}
