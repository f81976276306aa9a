/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fake kernel for tests of libmxe.
 *
 * The sources of the provider are linked into a test together with
 * fake_kernel.c, which replaces libibverbs (the functions of rdmav.h) and the
 * kernel. A memfd is the uverbs file and contains the rings, the doorbell file
 * is a pipe, and the test itself implements the kernel side of the ring
 * protocol.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <rdma/mxe_user_ioctl_cmds.h>

#include "infiniband/mxedv.h"
#include "cq.h"
#include "qp.h"
#include "rdmav.h"
#include "ring.h"
#include "tap.h"

enum {
	SQ_ENTRIES = 8,
	RQ_ENTRIES = 4,
	CQ_ENTRIES = 8,
	MAX_SGE = 3,
	MAX_INLINE = 40,
	SIZES = 1 | 2 | 4 | 8 | 16 | 32,	/* of operands, as in log_arg_sizes */
	SQ_STRIDE = 128,	/* unless there are operands above 8 bytes */
	AREA = 1 << 16,		/* bytes of the memfd for one ring */
	AREAS = 64,
	QPN = 0x11,
	SRQ_NUM = 0x33,
	TM_OPS = 16,
	AH_NUM = 0x71,
	MW_RKEY = 0x7788ff,
	DM_HANDLE = 0x55,
	MR_HANDLE = 0x56,
	PD_HANDLE = 0x57,
	COMP_VECTORS = 3,
};

struct mxe_qp;

struct fake_kernel {
	const struct verbs_device_ops *driver;
	const struct verbs_context_ops *ops;
	struct verbs_device *device;
	struct ibv_context *context;
	struct ibv_pd *pd;

	/* the layout of this libibverbs */
	size_t context_size, qp_ex_size;
	bool shift_ops;

	int cmd_fd;
	int bell_rd, bell_wr;
	char *mem;			/* the kernel's mapping of the memfd */
	uint32_t areas;
	uint32_t next_qpn;
	uint32_t next_ah;

	/* Errors to inject: a positive errno value, or 0. */
	int fail_get_context, fail_query_context;
	int fail_query_atomics, fail_doorbell;
	int fail_create_srq, fail_alloc_mw, fail_resize_cq, fail_resize_qp;
	int fail_create_cq, fail_create_qp, fail_destroy_qp;
	int fail_create_ah, fail_alloc_dm, fail_free_dm, fail_sync_mr;
	int fail_mmap_nth;		/* counts down; 1: the next one */
	int write_errno, write_failures;
	int writes;			/* system calls */
	void (*break_ring)(struct mxe_ring_info *info);
	/* Offset of the receive queue with MXE_QP_CREATE_ONE_MAPPING. */
	uint64_t second_offset;

	/* Called in a resize, after the completions were copied; or NULL. */
	void (*in_resize)(struct ibv_cq *cq);
	uint32_t cq_entries;		/* of the CQ that is resized */

	/* The clocks, if mono is not 0: each reading takes a delay. */
	uint64_t mono;			/* ns */
	int64_t wall_offset;		/* ns, CLOCK_REALTIME - CLOCK_MONOTONIC */
	const uint64_t *delays;		/* ns, of the next readings */
	uint32_t num_delays;

	struct mxe_atomic_caps caps;
	struct mxe_create_qp_req qp_req;
	struct mxe_qp *qp;		/* the last one */
	struct ibv_qp_init_attr_ex qp_attr;

	struct mxe_query_dct_resp dct;	/* of every target */
	uint64_t dct_handle;		/* of the last query or arming */
	int fail_dct;

	uint64_t dm_length;
	uint32_t dm_align;
	char *dm_mem;			/* the last one */

	int syncs;			/* successful MXE_METHOD_MR_SYNC */
	uint64_t sync_addr, sync_length;
	uint32_t sync_flags;		/* the arguments of the last one */

	uint32_t srq_limit;
	struct ibv_moderate_cq moderation;
	uint64_t cq_wc_flags;

	/* alive */
	int contexts, pds, cqs, qps, srqs, ahs, xrcds, dms, maps;
	int resets;
	int locks;			/* initialised spinlocks */
};

extern struct fake_kernel fake;

/**
 * __wrap_ioctl() - Handle ioctl() of the provider.
 * @fd: file
 * @request: RDMA_VERBS_IOCTL
 *
 * Return: 0, or -1 with errno set.
 */
int __wrap_ioctl(int fd, unsigned long request, ...);

/**
 * __real_mmap() - Call mmap() of libc.
 * @addr: as for mmap()
 * @len: as for mmap()
 * @prot: as for mmap()
 * @flags: as for mmap()
 * @fd: as for mmap()
 * @off: as for mmap()
 *
 * Return: as of mmap().
 */
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t off);

/**
 * __wrap_mmap() - Handle mmap() of the provider.
 * @addr: as for mmap()
 * @len: as for mmap()
 * @prot: as for mmap()
 * @flags: as for mmap()
 * @fd: as for mmap()
 * @off: as for mmap()
 *
 * Return: as of mmap().
 */
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
		  off_t off);

/**
 * __real_munmap() - Call munmap() of libc.
 * @addr: as for munmap()
 * @len: as for munmap()
 *
 * Return: as of munmap().
 */
int __real_munmap(void *addr, size_t len);

/**
 * __wrap_munmap() - Handle munmap() of the provider.
 * @addr: as for munmap()
 * @len: as for munmap()
 *
 * Return: as of munmap().
 */
int __wrap_munmap(void *addr, size_t len);

/**
 * __real_write() - Call write() of libc.
 * @fd: as for write()
 * @buf: as for write()
 * @len: as for write()
 *
 * Return: as of write().
 */
ssize_t __real_write(int fd, const void *buf, size_t len);

/**
 * __wrap_write() - Handle write() of the provider.
 * @fd: as for write()
 * @buf: as for write()
 * @len: as for write()
 *
 * Return: as of write().
 */
ssize_t __wrap_write(int fd, const void *buf, size_t len);

/**
 * __real_clock_gettime() - Call clock_gettime() of libc.
 * @clock: as for clock_gettime()
 * @ts: as for clock_gettime()
 *
 * Return: as of clock_gettime().
 */
int __real_clock_gettime(clockid_t clock, struct timespec *ts);

/**
 * __wrap_clock_gettime() - Read the clocks of the fake kernel, if it has any.
 * @clock: as for clock_gettime()
 * @ts: as for clock_gettime()
 *
 * Return: as of clock_gettime().
 */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

/**
 * __real_pthread_spin_init() - Call pthread_spin_init() of libc.
 * @lock: as for pthread_spin_init()
 * @pshared: as for pthread_spin_init()
 *
 * Return: as of pthread_spin_init().
 */
int __real_pthread_spin_init(pthread_spinlock_t *lock, int pshared);

/**
 * __wrap_pthread_spin_init() - Count a lock of the provider.
 * @lock: as for pthread_spin_init()
 * @pshared: as for pthread_spin_init()
 *
 * Return: as of pthread_spin_init().
 */
int __wrap_pthread_spin_init(pthread_spinlock_t *lock, int pshared);

/**
 * __real_pthread_spin_destroy() - Call pthread_spin_destroy() of libc.
 * @lock: as for pthread_spin_destroy()
 *
 * Return: as of pthread_spin_destroy().
 */
int __real_pthread_spin_destroy(pthread_spinlock_t *lock);

/**
 * __wrap_pthread_spin_destroy() - Stop counting a lock of the provider.
 * @lock: as for pthread_spin_destroy()
 *
 * Return: as of pthread_spin_destroy().
 */
int __wrap_pthread_spin_destroy(pthread_spinlock_t *lock);

/**
 * fake_kernel_init() - Create the uverbs file and the doorbell.
 *
 * Return: 0 or a positive errno value.
 */
int fake_kernel_init(void);

/* ---- the kernel's side of the rings ------------------------------------ */

/**
 * bells() - Count the doorbells since the last call.
 * @db: is set to the last doorbell, or NULL
 *
 * Return: the number of doorbells.
 */
static inline int bells(struct mxe_doorbell *db)
{
	struct mxe_doorbell got;
	int n = 0;

	while (read(fake.bell_rd, &got, sizeof(got)) == sizeof(got)) {
		if (db)
			*db = got;
		n++;
	}
	return n;
}

/**
 * sq_wqe() - Return a WQE of the send queue.
 * @qp: QP
 * @index: index in the ring
 *
 * Return: the WQE.
 */
static inline struct mxe_send_wqe *sq_wqe(struct ibv_qp *qp, uint32_t index)
{
	return mxe_ring_at(&to_mqp(qp)->sq, index);
}

/**
 * sq_producer() - Read the producer index of the send queue.
 * @qp: QP
 *
 * Return: the index.
 */
static inline uint32_t sq_producer(struct ibv_qp *qp)
{
	return mxe_load_acquire(&to_mqp(qp)->sq.hdr->producer);
}

/**
 * set_indices() - Set the producer and consumer index of a ring.
 * @ring: ring
 * @index: value of both
 */
static inline void set_indices(struct mxe_ring *ring, uint32_t index)
{
	ring->index = index;
	ring->hdr->producer = index;
	ring->hdr->consumer = index;
}

/**
 * soil_sq() - Fill the send queue with garbage.
 * @qp: QP
 *
 * Tests use it to show that old contents of a WQE do not matter.
 */
static inline void soil_sq(struct ibv_qp *qp)
{
	struct mxe_ring *sq = &to_mqp(qp)->sq;

	memset(sq->entry, 0xee, (size_t)sq->entries * sq->stride);
}

/**
 * push_cqe() - Add a CQE as the kernel does.
 * @cq: CQ
 * @cqe: CQE
 */
static inline void push_cqe(struct ibv_cq *cq, struct mxe_cqe cqe)
{
	struct mxe_ring *ring = &to_mcq(cq)->ring;
	uint32_t producer = ring->hdr->producer;

	*(struct mxe_cqe *)mxe_ring_at(ring, producer) = cqe;
	mxe_store_release(&ring->hdr->producer, producer + 1);
}

/* ---- fixtures ---------------------------------------------------------- */

typedef void (*test_fn)(void);

/**
 * run_tests() - Implement main() of a test program.
 * @tests: test functions
 * @num: number of test functions
 *
 * Return: the exit status.
 */
static inline int run_tests(const test_fn tests[], size_t num)
{
	int err = fake_kernel_init();
	size_t i;

	if (err)
		bail_out("fake kernel: %s", strerror(err));
	plan(0);
	for (i = 0; i < num; i++)
		tests[i]();
	return done_testing();
}

/**
 * open_context() - Open a context of fake.device.
 *
 * Return: the context, or NULL with errno set.
 */
static inline struct ibv_context *open_context(void)
{
	struct verbs_context *vctx =
		fake.driver->alloc_context(&fake.device->device, fake.cmd_fd, NULL);

	return vctx ? &vctx->context : NULL;
}

/**
 * open_device() - Open fake.device, fake.context and fake.pd.
 *
 * The first test, except in programs that test these calls themselves.
 */
static inline void open_device(void)
{
	fake.device = fake.driver->alloc_device(NULL);
	fake.device->ops = fake.driver;
	fake.context = open_context();
	if (!fake.context)
		bail_out("alloc_context: %s", strerror(errno));
	fake.pd = fake.ops->alloc_pd(fake.context);
}

/**
 * close_device() - Close what open_device() opened.
 *
 * The last test, except in programs that test these calls themselves.
 */
static inline void close_device(void)
{
	fake.ops->dealloc_pd(fake.pd);
	fake.ops->free_context(fake.context);
	fake.driver->uninit_device(fake.device);
}

/**
 * create_cq() - Create a CQ with CQ_ENTRIES entries.
 *
 * Return: the CQ.
 */
static inline struct ibv_cq *create_cq(void)
{
	struct ibv_cq *cq = fake.ops->create_cq(fake.context, CQ_ENTRIES, NULL, 0);

	if (!cq)
		bail_out("no completion queue: %s", strerror(errno));
	return cq;
}

/**
 * qp_attr() - Return the attributes of an RC QP.
 * @cq: CQ of sends and receives
 *
 * Return: the attributes.
 */
static inline struct ibv_qp_init_attr_ex qp_attr(struct ibv_cq *cq)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = SQ_ENTRIES, .max_recv_wr = RQ_ENTRIES },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.pd = fake.pd,
	};
}

/**
 * ready() - Move a new QP to RTS and discard its doorbells.
 * @qp: QP, or NULL, which ends the program
 *
 * Return: @qp.
 */
static inline struct ibv_qp *ready(struct ibv_qp *qp)
{
	if (!qp)
		bail_out("no queue pair: %s", strerror(errno));
	qp->state = IBV_QPS_RTS;
	bells(NULL);
	return qp;
}

/**
 * create_qp_arg() - Create a QP with builders in RTS.
 * @cq: CQ of sends and receives
 * @dv_flags: MXEDV_QP_CREATE_* flags
 * @max_atomic_arg: largest operand in bytes
 *
 * Return: the QP.
 */
static inline struct ibv_qp *create_qp_arg(struct ibv_cq *cq, uint32_t dv_flags,
					   uint32_t max_atomic_arg)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(cq);
	struct mxedv_qp_init_attr dv = {
		.comp_mask = MXEDV_QP_INIT_ATTR_CREATE_FLAGS |
			     MXEDV_QP_INIT_ATTR_MAX_ATOMIC_ARG,
		.create_flags = dv_flags,
		.max_atomic_arg = max_atomic_arg,
	};

	return ready(mxedv_create_qp(fake.context, &attr, &dv));
}

/**
 * create_qp() - Create a QP with builders in RTS and the default size of
 *	operands.
 * @cq: CQ of sends and receives
 * @dv_flags: MXEDV_QP_CREATE_* flags
 *
 * Return: the QP.
 */
static inline struct ibv_qp *create_qp(struct ibv_cq *cq, uint32_t dv_flags)
{
	return create_qp_arg(cq, dv_flags, 0);
}

/**
 * to_qpx() - Return the builders of a QP.
 * @qp: QP
 *
 * Return: the extended QP.
 */
static inline struct ibv_qp_ex *to_qpx(struct ibv_qp *qp)
{
	return &to_mqp(qp)->vqp.qp_ex;
}

/**
 * nothing_is_left() - Check that all QPs, CQs, mappings and locks are gone,
 *	and clear the memfd.
 */
static inline void nothing_is_left(void)
{
	is_int(fake.qps + fake.cqs + fake.maps + fake.locks, 0, "nothing is left");
	memset(fake.mem, 0, (size_t)AREA * fake.areas);
	fake.areas = 0;
}

/**
 * destroy() - Destroy a QP and its CQ, and check that nothing is left.
 * @qp: QP
 * @cq: CQ
 */
static inline void destroy(struct ibv_qp *qp, struct ibv_cq *cq)
{
	is_int(fake.ops->destroy_qp(qp), 0, "queue pair destroyed");
	is_int(fake.ops->destroy_cq(cq), 0, "completion queue destroyed");
	nothing_is_left();
}

#endif /* FAKE_KERNEL_H */
