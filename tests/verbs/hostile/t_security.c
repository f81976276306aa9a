// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves what Documentation/security.rst promises of a process without
 * privileges, and of what a peer can guess.
 *
 *	t_security keys		a key reveals nothing about other keys
 *	t_security nobody	operations denied to an unprivileged user
 *	t_security objects N	exactly N CQs can be created until ENOMEM or
 *				EAGAIN
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
 * The index of a key has 24 bits.  Of 512 at random, one in 45 pairs of
 * neighbours is nearer than 2^24 / 512 / 45; a counter, or a counter with
 * steps, makes all of them as near as the next.
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
	   "keys do not follow one another (%d of %d ascend)", ascending, KEYS);
	ok(same_step < 3, "... with no step between them");
	qsort(keys, KEYS, sizeof(keys[0]), compare);
	for (int i = 1; i < KEYS; i++)
		if (keys[i] >> 8 == keys[i - 1] >> 8)
			fail("two regions with one index");
	ok(keys[0] < 0x20000000 && keys[KEYS - 1] > 0xe0000000,
	   "... and are of all 24 bits (%#x to %#x)", keys[0], keys[KEYS - 1]);
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
		       "the key %+d: refused", wrong[i]);
		is_u64(*vt_word(&p.b, 0), 0, "... and nothing changes");
		vt_pair_close(&p);
	}

	vt_pair_open(&p, a, b, &conf);
	gone = ibv_reg_mr(b->pd, p.b.buf, 4096, VT_ACCESS_ALL);
	key = gone->rkey;
	is_int(status_of(&p, key), IBV_WC_SUCCESS, "a second region of it");
	ibv_dereg_mr(gone);
	is_int(status_of(&p, key), IBV_WC_REM_ACCESS_ERR, "... and its key when it is gone");
	is_u64(*vt_word(&p.b, 0), 1, "... nothing changes");
	vt_pair_close(&p);

	vt_pair_open(&p, a, b, &conf);
	pd = ibv_alloc_pd(b->ctx);
	other = ibv_reg_mr(pd, buf, 4096, VT_ACCESS_ALL);
	if (!pd || !other)
		vt_bail("another protection domain");
	is_int(status_of(&p, other->rkey), IBV_WC_REM_ACCESS_ERR,
	       "the right key of another protection domain");
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

/* Memory that is pinned counts as locked. */
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
	   "1 MiB is too much");
	ok(!ibv_reg_mr(dev->pd, buf, 1 << 16, VT_ACCESS_ALL) && errno == ENOMEM,
	   "64 KiB beside them, too");
	if (mr)
		ibv_dereg_mr(mr);
	mr = ibv_reg_mr(dev->pd, buf, 1 << 16, VT_ACCESS_ALL);
	ok(mr, "... not when they are gone");
	if (mr)
		ibv_dereg_mr(mr);
	munmap(buf, large);
}

/* With that of QP 1 he would speak for the connection manager. */
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
		vt_bail("a queue pair of UD");
	is_int(ibv_modify_qp(qp, &attr, mask), EPERM, "a controlled Q_Key");
	attr.qkey = 0x11111111;
	is_int(ibv_modify_qp(qp, &attr, mask), 0, "another one");
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
	int n = 1;

	while (n < 64) {
		cqs[n] = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
		if (!cqs[n])
			break;
		n++;
	}
	is_int(n, expected, "objects of this control group (then: %s)",
	       strerror(errno));
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
