// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves the promises of Documentation/security.rst about memory keys and about
 * processes without privileges.
 *
 *	t_security keys		keys look random, and only the right key gives
 *				access
 *	t_security nobody	limits of an unprivileged user
 *	t_security objects N	exactly N objects can be created: the
 *				protection domain and N - 1 CQs
 */
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "tap.h"
#include "vt.h"

#define KEYS 512
#define NOBODY 65534

static int status_of(struct vt_pair *p, uint32_t rkey)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_MFADD, .via = VT_WR, .sge = &sge, .num_sge = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = rkey, .compare_add = 1,
	};

	return vt_do(&p->a, &wr, NULL);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The index of a key has 24 bits. A counter as index would make the keys
 * ascend, with a constant step, in a part of the range.
 */
static void keys_are_random(struct vt_dev *dev, void *buf)
{
	static uint32_t keys[KEYS];
	struct ibv_mr *mrs[KEYS];
	int ascending = 0, same_step = 0;

	for (int i = 0; i < KEYS; i++) {
		mrs[i] = ibv_reg_mr(dev->pd, buf, 4096, VT_ACCESS_ALL);
		if (!mrs[i])
			vt_bail("ibv_reg_mr");
		keys[i] = mrs[i]->rkey;
	}
	for (int i = 2; i < KEYS; i++) {
		ascending += keys[i] > keys[i - 1];
		same_step += keys[i] - keys[i - 1] == keys[i - 1] - keys[i - 2];
	}
	ok(ascending > KEYS / 3 && ascending < 2 * KEYS / 3,
	   "keys are in no order (%d of %d ascend)", ascending, KEYS - 2);
	ok(same_step < 3, "... have no constant step");
	qsort(keys, KEYS, sizeof(keys[0]), compare);
	for (int i = 1; i < KEYS; i++)
		if (keys[i] >> 8 == keys[i - 1] >> 8)
			fail("two regions have the same index");
	ok(keys[0] < 0x20000000 && keys[KEYS - 1] > 0xe0000000,
	   "... and use all 24 bits (%#x to %#x)", keys[0], keys[KEYS - 1]);
	for (int i = 0; i < KEYS; i++)
		ibv_dereg_mr(mrs[i]);
}

static void keys_open_nothing(struct vt_dev *a, struct vt_dev *b, void *buf)
{
	static const int32_t wrong[] = { 1, -1, 0x80, 0x100, -0x100, 0x10000 };
	struct vt_conf conf = vt_defaults();
	struct ibv_mr *gone, *other;
	struct ibv_pd *pd;
	struct vt_pair p;
	uint32_t key;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		vt_pair_open(&p, a, b, &conf);
		key = p.b.mr->rkey + (uint32_t)wrong[i];
		is_int(status_of(&p, key), IBV_WC_REM_ACCESS_ERR,
		       "the key %+d is refused", wrong[i]);
		is_u64(*vt_word(&p.b, 0), 0, "... and nothing changes");
		vt_pair_close(&p);
	}

	vt_pair_open(&p, a, b, &conf);
	gone = ibv_reg_mr(b->pd, p.b.buf, 4096, VT_ACCESS_ALL);
	key = gone->rkey;
	is_int(status_of(&p, key), IBV_WC_SUCCESS, "a second region of the same memory");
	ibv_dereg_mr(gone);
	is_int(status_of(&p, key), IBV_WC_REM_ACCESS_ERR,
	       "... its key is refused once it is deregistered");
	is_u64(*vt_word(&p.b, 0), 1, "... and nothing changes");
	vt_pair_close(&p);

	vt_pair_open(&p, a, b, &conf);
	pd = ibv_alloc_pd(b->ctx);
	other = ibv_reg_mr(pd, buf, 4096, VT_ACCESS_ALL);
	if (!pd || !other)
		vt_bail("another protection domain");
	is_int(status_of(&p, other->rkey), IBV_WC_REM_ACCESS_ERR,
	       "a key of another protection domain is refused");
	ibv_dereg_mr(other);
	ibv_dealloc_pd(pd);
	vt_pair_close(&p);
}

static void keys(void)
{
	struct vt_dev *a = vt_open(vt_name_a());
	struct vt_dev *b = vt_open(vt_name_b());
	void *buf = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buf == MAP_FAILED)
		vt_bail("mmap");
	keys_are_random(b, buf);
	keys_open_nothing(a, b, buf);
	munmap(buf, 4096);
	vt_close(a);
	vt_close(b);
}

/* Pinned memory counts as locked. */
static void memlock(struct vt_dev *dev)
{
	struct rlimit limit = { .rlim_cur = 1 << 16, .rlim_max = 1 << 16 };
	size_t large = 1 << 20;
	struct ibv_mr *mr;
	void *buf = mmap(NULL, large, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buf == MAP_FAILED || setrlimit(RLIMIT_MEMLOCK, &limit))
		vt_bail("setrlimit");
	mr = ibv_reg_mr(dev->pd, buf, 1 << 15, VT_ACCESS_ALL);
	ok(mr, "32 KiB of the 64 KiB that may be locked");
	ok(!ibv_reg_mr(dev->pd, buf, large, VT_ACCESS_ALL) && errno == ENOMEM,
	   "1 MiB is refused");
	ok(!ibv_reg_mr(dev->pd, buf, 1 << 16, VT_ACCESS_ALL) && errno == ENOMEM,
	   "64 KiB more are refused, too");
	if (mr)
		ibv_dereg_mr(mr);
	mr = ibv_reg_mr(dev->pd, buf, 1 << 16, VT_ACCESS_ALL);
	ok(mr, "... but not once the 32 KiB are deregistered");
	if (mr)
		ibv_dereg_mr(mr);
	munmap(buf, large);
}

/* With the Q_Key of QP 1, a process could pose as the connection manager. */
static void qkeys(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x80010000,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	struct ibv_qp *qp = cq ? ibv_create_qp(dev->pd, &init) : NULL;

	if (!qp)
		vt_bail("a UD queue pair");
	is_int(ibv_modify_qp(qp, &attr, mask), EPERM, "a controlled Q_Key is refused");
	attr.qkey = 0x11111111;
	is_int(ibv_modify_qp(qp, &attr, mask), 0, "another Q_Key is accepted");
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
}

static void nobody(void)
{
	struct vt_dev *dev = vt_open(vt_name_a());

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		vt_bail("cannot become nobody");
	memlock(dev);
	qkeys(dev);
	vt_close(dev);
}

/* The protection domain of vt_open() is one object, too. */
static void objects(int expected)
{
	struct vt_dev *dev = vt_open(vt_name_a());
	struct ibv_cq *cqs[64] = { NULL };
	int n = 1, err = 0;

	while (n < 64) {
		cqs[n] = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
		if (!cqs[n]) {
			err = errno;
			break;
		}
		n++;
	}
	is_int(n, expected, "objects of this control group");
	is_int(err, EAGAIN, "... and the group refuses one more");
	while (n-- > 1)
		ibv_destroy_cq(cqs[n]);
	vt_close(dev);
}

int main(int argc, char **argv)
{
	plan(0);
	if (argc == 2 && !strcmp(argv[1], "keys"))
		keys();
	else if (argc == 2 && !strcmp(argv[1], "nobody"))
		nobody();
	else if (argc == 3 && !strcmp(argv[1], "objects"))
		objects(atoi(argv[2]));
	else
		bail_out("t_security keys, nobody or objects N?");
	return done_testing();
}
