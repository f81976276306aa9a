// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that every remote operation reaches the memory of a DMA-BUF, which a
 * virtual graphics card (vgem) exports, that mxedv_sync_mr() accepts its ranges
 * only, that the buffer exists as long as a region refers to it, and that
 * invalid registrations are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>
#include "memory.h"

#define LEN 16384	/* 64 lines of 64 pixels */

static struct vt_dev *a, *b;
static int card;

struct buffer {
	int fd;
	uint8_t *mem;
};

static struct buffer export(uint32_t flags)
{
	uint32_t handle, pitch;
	struct buffer buf;
	uint64_t size;

	if (drmModeCreateDumbBuffer(card, 64, 64, 32, 0, &handle, &pitch,
				    &size) || size != LEN ||
	    drmPrimeHandleToFD(card, handle, DRM_CLOEXEC | flags, &buf.fd) ||
	    drmCloseBufferHandle(card, handle))
		vt_bail("no buffer of vgem: %s", strerror(errno));
	buf.mem = mmap(NULL, LEN, PROT_READ | (flags & DRM_RDWR ? PROT_WRITE : 0),
		       MAP_SHARED, buf.fd, 0);
	if (buf.mem == MAP_FAILED)
		vt_bail("mmap() of a buffer: %s", strerror(errno));
	return buf;
}

static void drop(struct buffer *buf)
{
	munmap(buf->mem, LEN);
	close(buf->fd);
}

/* Returns the number of DMA-BUFs that the kernel lists. */
static int buffers(void)
{
	FILE *f = fopen("/sys/kernel/debug/dma_buf/bufinfo", "r");
	char line[256];
	int n = -1;

	if (!f)
		vt_bail("no /sys/kernel/debug/dma_buf");
	while (fgets(line, sizeof(line), f))
		sscanf(line, "Total %d objects", &n);
	fclose(f);
	return n;
}

/*
 * Waits until there are n DMA-BUFs. The kernel releases the last reference to a
 * file a little later than its user closes it.
 */
static bool buffers_become(int n)
{
	uint64_t end = vt_now_ms() + VT_MS;

	while (buffers() != n && vt_now_ms() < end)
		usleep(10000);
	return buffers() == n;
}

static int reg_errno(int fd, uint64_t offset, size_t length, uint64_t iova,
		     int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_dmabuf_mr(a->pd, offset, length, iova, fd, access);
	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

static void test_registration(void)
{
	struct buffer buf = export(DRM_RDWR), ro = export(0);
	struct ibv_mr *mr;
	int null;

	is_int(reg_errno(buf.fd, 0, LEN, 0, VT_ACCESS_ALL), 0,
	       "a region of the whole buffer");
	is_int(reg_errno(buf.fd, 5, 7, 0x1005, VT_ACCESS_ALL), 0,
	       "a region of a few bytes");
	is_int(reg_errno(buf.fd, LEN - 1, 1, 4095, VT_ACCESS_ALL), 0,
	       "a region of the last byte");
	is_int(reg_errno(buf.fd, 5, 7, 0, VT_ACCESS_ALL), EINVAL,
	       "an IOVA with another offset in its page");
	is_int(reg_errno(buf.fd, 1, LEN, 1, VT_ACCESS_ALL), EINVAL,
	       "a region beyond the end of the buffer");
	is_int(reg_errno(buf.fd, LEN, 0, 0, VT_ACCESS_ALL), EINVAL,
	       "a region of length 0");
	is_int(reg_errno(buf.fd, 4096, SIZE_MAX - 4000, 0, VT_ACCESS_ALL),
	       EINVAL, "a length that wraps");
	is_int(reg_errno(buf.fd, 0, LEN, UINT64_MAX - 4095, VT_ACCESS_ALL),
	       EINVAL, "an IOVA that wraps");
	is_int(reg_errno(buf.fd, 0, LEN, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL,
	       "remote write without local write");
	is_int(reg_errno(buf.fd, 0, LEN, 0, IBV_ACCESS_ON_DEMAND), EINVAL,
	       "on-demand paging");
	is_int(reg_errno(-1, 0, LEN, 0, VT_ACCESS_ALL), EBADF, "no file");
	null = open("/dev/null", O_RDWR);
	is_int(reg_errno(null, 0, LEN, 0, VT_ACCESS_ALL), EINVAL,
	       "a file that is not a DMA-BUF");
	close(null);

	is_int(reg_errno(ro.fd, 0, LEN, 0, IBV_ACCESS_LOCAL_WRITE), EACCES,
	       "write access to a buffer that is exported read-only");
	is_int(reg_errno(ro.fd, 0, LEN, 0, IBV_ACCESS_REMOTE_READ), 0,
	       "... read access");

	mr = ibv_reg_dmabuf_mr(a->pd, 0, LEN, 0, buf.fd, VT_ACCESS_ALL);
	is_int(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_REMOTE_READ), IBV_REREG_MR_ERR_INPUT,
	       "a region of a DMA-BUF cannot be changed");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	drop(&ro);
	drop(&buf);
}

static void get(void *of, size_t offset, void *to, size_t len)
{
	memcpy(to, ((struct buffer *)of)->mem + offset, len);
}

static void put(void *of, size_t offset, const void *from, size_t len)
{
	memcpy(((struct buffer *)of)->mem + offset, from, len);
}

/* Exports a buffer and registers a region of it with an IOVA. */
static struct memory memory_of(struct vt_dev *dev, struct buffer *buf, size_t start,
			       size_t len)
{
	struct memory m = {
		.of = buf, .addr = 0x70000 + start % 4096, .start = start, .len = len,
		.get = get, .put = put,
	};

	*buf = export(DRM_RDWR);
	m.mr = ibv_reg_dmabuf_mr(dev->pd, start, len, m.addr, buf->fd, VT_ACCESS_ALL);
	if (!m.mr)
		vt_bail("ibv_reg_dmabuf_mr");
	return m;
}

static void memory_free(struct memory *m)
{
	is_int(ibv_dereg_mr(m->mr), 0, "deregistered");
	drop(m->of);
}

static void test_remote(void)
{
	struct vt_conf conf = vt_defaults();
	struct buffer buf;
	struct memory m = memory_of(b, &buf, 4108, 9000);
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	memory_test_remote(&p, &m);
	vt_pair_close(&p);
	memory_free(&m);
}

static void test_atomics(void)
{
	struct vt_conf conf = vt_defaults();
	struct buffer buf;
	struct memory m = memory_of(b, &buf, 4096, LEN - 4096);
	struct vt_pair p;

	conf.max_atomic_arg = 32;
	vt_pair_open(&p, a, b, &conf);
	memory_test_masked(&p, &m);
	vt_pair_close(&p);
	memory_free(&m);
}

/* Sends from a DMA-BUF and receives into another. */
static void test_local(void)
{
	struct vt_conf conf = vt_defaults();
	struct buffer from_buf, to_buf;
	struct memory from = memory_of(a, &from_buf, 0, LEN);
	struct memory to = memory_of(b, &to_buf, 0, LEN);
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	memory_test_send(&p, &from, &to);
	vt_pair_close(&p);
	memory_free(&from);
	memory_free(&to);
}

/* mxedv_sync_mr() takes the address of peers, which is not a pointer here. */
static void test_sync(void)
{
	const uint32_t cpu = MXEDV_SYNC_MR_FOR_CPU, device = MXEDV_SYNC_MR_FOR_DEVICE;
	struct vt_conf conf = vt_defaults();
	struct buffer buf;
	struct memory m = memory_of(b, &buf, 4108, 9000);
	struct vt_pair p;

	vt_pair_open(&p, a, b, &conf);
	memset(buf.mem + 4108, 0x11, 9000);
	is_int(mxedv_sync_mr(m.mr, m.addr, 9000, device), 0,
	       "a region of a DMA-BUF is synchronised for peers");
	is_int(vt_rdma(&p.a, VT_READ, m.mr, m.addr + 8999, 1), IBV_WC_SUCCESS,
	       "... a READ of its last byte");
	is_int(p.a.buf[0], 0x11, "... gets what the process has written");
	p.a.buf[0] = 0x22;
	is_int(vt_rdma(&p.a, VT_WRITE, m.mr, m.addr, 1), IBV_WC_SUCCESS, "a WRITE");
	is_int(mxedv_sync_mr(m.mr, m.addr, 1, cpu), 0, "... synchronised for the process");
	is_int(buf.mem[4108], 0x22, "... is in the buffer");
	is_int(buf.mem[4109], 0x11, "... and the byte after it is unchanged");
	is_int(mxedv_sync_mr(m.mr, m.addr + 8999, 1, cpu | device), 0,
	       "the last byte, in both directions");
	is_int(mxedv_sync_mr(m.mr, m.addr + 8999, 2, cpu), EINVAL, "one byte more");
	is_int(mxedv_sync_mr(m.mr, m.addr - 1, 2, cpu), EINVAL, "one byte before the region");
	is_int(mxedv_sync_mr(m.mr, (uintptr_t)buf.mem + 4108, 8, cpu), EINVAL,
	       "the address of the mapping");
	is_int(mxedv_sync_mr(m.mr, m.addr, 8, 0), EINVAL, "no direction");
	drop(&buf);
	is_int(mxedv_sync_mr(m.mr, m.addr, 9000, cpu | device), 0,
	       "a region of a buffer whose file is closed");
	is_int(ibv_dereg_mr(m.mr), 0, "deregistered");
	vt_pair_close(&p);
}

static void test_lifetime(void)
{
	struct vt_conf conf = vt_defaults();
	int before = buffers(), status;
	struct buffer buf = export(DRM_RDWR);
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(b->pd, 0, LEN, 0, buf.fd, VT_ACCESS_ALL);
	struct vt_pair p;
	pid_t pid;

	vt_pair_open(&p, a, b, &conf);
	buf.mem[77] = 0x77;
	drop(&buf);
	is_int(buffers(), before + 1, "a region keeps a buffer whose file is closed");
	is_int(vt_rdma(&p.a, VT_READ, mr, 77, 1), IBV_WC_SUCCESS,
	       "... a READ of it");
	is_int(p.a.buf[0], 0x77, "... returns its data");
	is_int(ibv_dereg_mr(mr), 0, "deregistered");
	ok(buffers_become(before), "... and the buffer is released");
	is_int(vt_rdma(&p.a, VT_READ, mr, 77, 1), IBV_WC_REM_ACCESS_ERR,
	       "... and its key is invalid");
	vt_pair_close(&p);

	pid = fork();
	if (!pid) {
		struct vt_dev *dev = vt_open(vt_name_a());

		buf = export(DRM_RDWR);
		if (!ibv_reg_dmabuf_mr(dev->pd, 0, LEN, 0, buf.fd, VT_ACCESS_ALL))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid)
		vt_bail("child");
	ok(WIFSIGNALED(status), "a process with a region is killed");
	ok(buffers_become(before), "... and its buffer is released");
}

int main(void)
{
	plan(0);
	card = drmOpen("vgem", NULL);
	if (card < 0)
		vt_bail("no vgem: %s", strerror(errno));
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_registration();
	test_remote();
	test_atomics();
	test_local();
	test_sync();
	test_lifetime();
	vt_close(a);
	vt_close(b);
	close(card);
	return done_testing();
}
