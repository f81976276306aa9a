// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the kernel memory that a process causes is charged to it. A
 * process of user 65534, with 8 MiB of RLIMIT_MEMLOCK, in a memory control
 * group with 100 MiB, creates as many objects as it can. It may succeed, get
 * ENOMEM, or be killed by its group. The test asserts that
 *
 * - MemAvailable of the host falls by less than memory.max and 20 MiB,
 * - for regions of one buffer, it falls by less than the charge of the group
 *   and 20 MiB.
 *
 *	t_hostile_mem [NAME...]	only these kinds
 *
 * An attack ends early when the host has lost much more than allowed.  What
 * kmemleak records of the objects does not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>
#include "tap.h"
#include "cgroup.h"
#include "fd_object.h"
#include "hostile.h"
#include "kmem.h"
#include "raw.h"
#include "xrc.h"

enum {
	NOBODY = 65534,
	MIB = 1 << 20,
	MEMLOCK = 8 * MIB,
	MAX_MIB = 100,		/* memory.max */
	SLACK_MIB = 20,
	HOPELESS_MIB = 150,	/* beyond memory.max: the attack is ended */
	BUFFER = 16 * MIB,	/* device memory, or a DMA-BUF */
	ATTACK_MS = 8000,
	ATTACK_FULL_MS = 60000,
	SETTLE_MS = 300,
	PROBE = 100,		/* objects to destroy within PROBE_MS */
	PROBE_MS = 1000,
	PAIRS = 100,
	RD_ATOMIC = 128,	/* MXE_MAX_RD_ATOMIC */
	PEER_PRIORITY = 50,
	DEFERRED = 256,		/* packets: MXE_MAX_DEFERRED_PKTS */
	PAYLOAD = 4096,
};

/* Context of the attacker: device, memory and queues to create objects with. */
struct victim {
	struct vt_dev *dev;
	struct ibv_dm *dm;
	struct ibv_cq *cq;
	struct ibv_xrcd *xrcd;
};

struct kind {
	const char *name;
	int number;
	bool (*make)(struct victim *v);
	/* All that the process causes must be charged to it. */
	bool is_charged;
	/* Action of the peer once all objects exist, or NULL. */
	void (*peer)(void);
	bool only_full;
	/*
	 * Structures of ib_core for each object, which are not charged to any
	 * process.
	 */
	int core_kib;
};

static struct {
	atomic_int made, error, done;
	int number;
	/* For the peer: the receiving QPs and the memory that it may read. */
	uint32_t qpn[PAIRS], rkey;
	uint8_t from[4], to[4];
} *sh;

/*
 * The largest loss of the host so far, and the part of it that was not charged.
 */
struct loss {
	long before, lost, uncharged, charged;	/* KiB */
};

static const struct kind *kind;
static int dmabuf = -1;
static pid_t pid;		/* of the attacker */
static struct loss loss;

static void look(void);

/* ---- objects ------------------------------------------------------------- */

static bool make_dm_mr(struct victim *v)
{
	struct ibv_alloc_dm_attr attr = { .length = BUFFER };

	if (!v->dm)
		v->dm = ibv_alloc_dm(v->dev->ctx, &attr);
	return v->dm && ibv_reg_dm_mr(v->dev->pd, v->dm, 0, BUFFER,
				      VT_ACCESS_ALL | IBV_ACCESS_ZERO_BASED);
}

static bool make_dmabuf_mr(struct victim *v)
{
	return ibv_reg_dmabuf_mr(v->dev->pd, 0, BUFFER, 0, dmabuf,
				 VT_ACCESS_ALL);
}

static bool make_doorbell(struct victim *v)
{
	return fd_object_doorbell(v->dev->ctx) >= 0;
}

static bool make_qp(struct victim *v)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!v->cq)
		v->cq = ibv_create_cq(v->dev->ctx, 1, NULL, NULL, 0);
	attr.send_cq = v->cq;
	attr.recv_cq = v->cq;
	return v->cq && ibv_create_qp(v->dev->pd, &attr);
}

/* The cheapest queue pair, because it has no rings. */
static bool make_xrc_target(struct victim *v)
{
	if (!v->xrcd)
		v->xrcd = xrc_open_domain(v->dev, -1, O_CREAT);
	return v->xrcd && xrc_make_target(v->dev, v->xrcd);
}

static bool make_mw(struct victim *v)
{
	return ibv_alloc_mw(v->dev->pd, IBV_MW_TYPE_1);
}

static bool make_cq(struct victim *v)
{
	return ibv_create_cq(v->dev->ctx, 1, NULL, NULL, 0);
}

static bool make_srq(struct victim *v)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};

	return ibv_create_srq(v->dev->pd, &attr);
}

/* ---- results of atomics -------------------------------------------------- */

/*
 * Creates a QP that keeps as many results as possible, and executes an atomic
 * of 32 bytes on it. The responder then has memory for as many such results.
 */
static bool make_wide_responder(struct victim *v)
{
	static const uint64_t operands[4][4];
	struct vt_conf conf = vt_defaults();
	struct ibv_sge sge;
	struct vt_pair p;
	struct vt_wr wr = {
		.op = VT_MCAS, .via = VT_WR, .sge = &sge, .num_sge = 1,
		.log_arg_sz = 5,
		.operands = { operands[0], operands[1], operands[2], operands[3] },
	};

	conf.size = 4096;
	conf.depth = 1;
	conf.rd_atomic = RD_ATOMIC;
	conf.max_atomic_arg = 32;
	vt_pair_open(&p, v->dev, v->dev, &conf);
	sge = vt_sge(&p.a, 0, 32);
	wr.raddr = vt_addr(&p.b, 0);
	wr.rkey = p.b.mr->rkey;
	return vt_do(&p.a, &wr, NULL) == IBV_WC_SUCCESS;
}

/* ---- packets that wait --------------------------------------------------- */

/* Creates a queue pair. defer_packets() acts as its peer. */
static bool make_responder(struct victim *v)
{
	static struct vt_dev *peer;
	struct vt_conf conf = vt_defaults();
	struct ibv_alloc_dm_attr attr = { .length = BUFFER };
	struct vt_end e, other = { 0 };
	struct ibv_mr *mr;

	if (!peer) {
		peer = vt_open(vt_name_b());
		v->dm = ibv_alloc_dm(v->dev->ctx, &attr);
		mr = v->dm ? ibv_reg_dm_mr(v->dev->pd, v->dm, 0, BUFFER,
					   VT_ACCESS_ALL |
					   IBV_ACCESS_ZERO_BASED) : NULL;
		if (!mr)
			return false;
		sh->rkey = mr->rkey;
		memcpy(sh->from, peer->gid4.raw + 12, sizeof(sh->from));
		memcpy(sh->to, v->dev->gid4.raw + 12, sizeof(sh->to));
	}
	conf.size = 4096;
	conf.depth = 1;
	conf.psn = 0;
	vt_end_create(&e, v->dev, &conf, NULL, NULL);
	sh->qpn[sh->made] = e.qp->qp_num;
	/*
	 * The QP number of the peer does not matter, because the QP sends
	 * nothing.
	 */
	other.dev = peer;
	other.qp = e.qp;
	if (vt_to_init(&e, &conf) || vt_to_rtr(&e, &other, &conf))
		vt_bail("to RTR");
	return true;
}

/* Builds an RC packet from the second host with a body of `len` bytes. */
static size_t build(uint8_t *packet, uint8_t opcode, uint32_t qpn, uint32_t psn,
		    const void *body, size_t len)
{
	const struct raw_bth bth = {
		BTH_RC | opcode, 0, htons(BTH_DEFAULT_PKEY), htonl(qpn), htonl(psn),
	};

	return raw_plain(packet, sh->from, sh->to, &bth, body, len);
}

static void send_packet(int fd, const uint8_t *packet, size_t len)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	memcpy(&addr.sin_addr, sh->to, 4);
	/* Packets that do not fit into the queue of the netdev are lost. */
	if (sendto(fd, packet, len, 0, (struct sockaddr *)&addr,
		   sizeof(addr)) < 0 && errno != ENOBUFS)
		vt_bail("sendto");
}

/* Sets the real-time priority of ksoftirqd/0. 0 restores SCHED_OTHER. */
static void ksoftirqd_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	FILE *f = popen("pgrep -x ksoftirqd/0", "r");
	int pid = 0;

	if (!f || fscanf(f, "%d", &pid) != 1 || pclose(f) ||
	    sched_setscheduler(pid, priority ? SCHED_FIFO : SCHED_OTHER, &param))
		vt_bail("ksoftirqd/0");
}

static void spin_on_1(void *arg)
{
	(void)arg;
	hostile_pin(1);
	hostile_fifo(PEER_PRIORITY);
	for (;;)
		;
}

/*
 * Posts a long READ to each QP, and after it as many packets as the QP queues.
 * Meanwhile no kworker of the host runs, so the READs are not executed.
 */
static void defer_packets(void)
{
	static uint8_t packet[PAYLOAD + 64], body[PAYLOAD];
	struct { uint64_t va; uint32_t rkey, len; } __attribute__((packed))
		reth = { 0, htonl(sh->rkey), htonl(BUFFER) };
	int before = raw_enter("h2");
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW), room = 1 << 30;
	pid_t spinner;
	size_t len;

	/* Queued packets at the receiver are still charged to the sender. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room,
				 sizeof(room)))
		vt_bail("raw socket");
	raw_leave(before);
	hostile_rt_unlimited(true);
	ksoftirqd_fifo(PEER_PRIORITY + 1);
	spinner = hostile_fork(spin_on_1, NULL);
	hostile_pin(0);
	hostile_fifo(PEER_PRIORITY);
	for (int i = 0; i < sh->made; i++) {
		len = build(packet, BTH_RDMA_READ_REQUEST, sh->qpn[i], 0, &reth,
			    sizeof(reth));
		send_packet(fd, packet, len);
		len = build(packet, BTH_SEND_ONLY, sh->qpn[i], BUFFER / PAYLOAD,
			    body, sizeof(body));
		for (int n = 0; n < DEFERRED; n++)
			send_packet(fd, packet, len);
	}
	/* Measure while no kworker can process the queued packets. */
	look();
	ksoftirqd_fifo(0);
	hostile_kill(spinner);
	hostile_fifo(0);
	hostile_rt_unlimited(false);
	close(fd);
}

static const struct kind kinds[] = {
	{ "dm_regions", 30000, make_dm_mr, true, NULL, false, 0 },
	{ "dmabuf_regions", 4000, make_dmabuf_mr, true, NULL, false, 0 },
	{ "deferred", PAIRS, make_responder, false, defer_packets, false, 0 },
	{ "wide_atomics", 800, make_wide_responder, true, NULL, false, 0 },
	{ "doorbells", 60000, make_doorbell, false, NULL, false, 0 },
	{ "qps", 65000, make_qp, false, NULL, false, 0 },
	{ "xrc_targets", 65000, make_xrc_target, false, NULL, false, 2 },
	{ "windows", 1000000, make_mw, false, NULL, false, 0 },
	{ "cqs", 65000, make_cq, false, NULL, true, 0 },
	{ "srqs", 65000, make_srq, false, NULL, true, 0 },
};

/* ---- the attacker -------------------------------------------------------- */

static void attacker(void *arg)
{
	struct rlimit memlock = { MEMLOCK, MEMLOCK }, files = { 65536, 65536 };
	uint64_t end;
	struct victim v = { 0 };

	(void)arg;
	cgroup_write(GROUP "/cgroup.procs", "0");
	if (setrlimit(RLIMIT_MEMLOCK, &memlock) ||
	    setrlimit(RLIMIT_NOFILE, &files) || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		vt_bail("to user %d", NOBODY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	v.dev = vt_open(vt_name_a());
	end = vt_now_ms() + (hostile_full() ? ATTACK_FULL_MS : ATTACK_MS);
	errno = 0;
	for (; sh->made < sh->number && vt_now_ms() < end; sh->made++)
		if (!kind->make(&v)) {
			sh->error = errno ? errno : EIO;
			break;
		}
	sh->done = 1;
	for (;;)
		pause();
}

/* ---- measurement -------------------------------------------------------- */

/*
 * The records of kmemleak, one for each allocation of the kernel, which are not
 * charged to any process.  0 in a kernel without kmemleak.
 */
static long kmemleak_kib(void)
{
	FILE *f = fopen("/proc/slabinfo", "r");
	long objects, size, kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "kmemleak_object %*d %ld %ld", &objects, &size) == 2)
			kib = objects * size / 1024;
	if (f)
		fclose(f);
	return kib;
}

static long available_kib(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	if (!f || kib < 0)
		vt_bail("/proc/meminfo");
	fclose(f);
	return kib + kmemleak_kib();
}

static bool has_died(void)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
		vt_bail("waitid");
	return info.si_pid;
}

static void look(void)
{
	long charged = cgroup_value(GROUP "/memory.current") / 1024;
	long lost = loss.before - available_kib();

	if (lost > loss.lost)
		loss.lost = lost;
	if (charged > loss.charged)
		loss.charged = charged;
	/* The memory of a dead process is freed a little after its charge. */
	if (lost - charged > loss.uncharged && !has_died())
		loss.uncharged = lost - charged;
}

static bool is_hopeless(void)
{
	return loss.lost > (MAX_MIB + HOPELESS_MIB) * 1024 ||
	       loss.uncharged > HOPELESS_MIB * 1024;
}

static void watch(void)
{
	uint64_t end = vt_now_ms() + VT_MS + ATTACK_FULL_MS;

	while (vt_now_ms() < end && !sh->done && !is_hopeless() &&
	       !has_died()) {
		look();
		hostile_sleep_ms(5);
	}
	if (sh->done && kind->peer)
		kind->peer();
	/* Continue to measure, because the loss may still grow for a moment. */
	for (int i = 0; i < SETTLE_MS / 20; i++) {
		look();
		hostile_sleep_ms(20);
	}
}

/*
 * Creates and kills a process with some objects. If that takes too long, the
 * test could not end in time with all objects.
 */
static bool goes_soon(void)
{
	uint64_t ns;

	memset(sh, 0, sizeof(*sh));
	sh->number = kind->number < PROBE ? kind->number : PROBE;
	pid = hostile_fork(attacker, NULL);
	hostile_wait(&sh->done, "process with some objects");
	ns = hostile_kill(pid);
	if (ns < hostile_limit(PROBE_MS))
		return true;
	diag("%s: %d are destroyed in %.1f ms", kind->name, sh->made, (double)ns / 1e6);
	return false;
}

static void make_buffer(void)
{
	uint32_t handle, pitch;
	uint64_t size;
	int card = drmOpen("vgem", NULL);

	if (card < 0 ||
	    drmModeCreateDumbBuffer(card, 2048, 2048, 32, 0, &handle, &pitch,
				    &size) || size != BUFFER ||
	    drmPrimeHandleToFD(card, handle, DRM_CLOEXEC | DRM_RDWR, &dmabuf))
		vt_bail("no buffer of vgem");
	close(card);
	/* Allocate the pages now. They belong to the exporter. */
	if (mmap(NULL, BUFFER, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_POPULATE, dmabuf, 0) == MAP_FAILED)
		vt_bail("mmap of a DMA-BUF");
}

static void check_kind(void)
{
	const char *how;
	uint64_t ns;
	int status;

	if (!goes_soon()) {
		fail("%s: objects are destroyed quickly (all were not tried)", kind->name);
		return;
	}
	memset(sh, 0, sizeof(*sh));
	sh->number = kind->number;
	kmem_drop_caches();
	loss = (struct loss){ .before = available_kib() };
	/* Only a packet has a result that the responder keeps. */
	vt_set_loopback(kind->make != make_wide_responder);
	pid = hostile_fork(attacker, NULL);
	watch();
	ns = vt_now_ns();
	kill(pid, SIGKILL);
	status = hostile_join(pid);
	how = WIFEXITED(status) ? "ended by itself" :
	      sh->error ? strerror(sh->error) :
	      sh->done ? "all that were requested" :
	      is_hopeless() ? "stopped by the test" : "killed by its group";
	diag("%s: %d created, %s, destroyed in %.1f ms", kind->name, sh->made, how,
	     (double)(vt_now_ns() - ns) / 1e6);
	diag("%s: the host lost up to %ld MiB, the group was charged up to %ld MiB, %ld MiB were not charged",
	     kind->name, loss.lost / 1024, loss.charged / 1024,
	     loss.uncharged / 1024);
	ok(WIFSIGNALED(status) && sh->made, "%s: objects are created", kind->name);
	ok(loss.lost < (MAX_MIB + SLACK_MIB) * 1024 + sh->made * kind->core_kib,
	   "%s: the host loses less than memory.max, %d MiB and %d KiB for each object",
	   kind->name, SLACK_MIB, kind->core_kib);
	if (kind->is_charged)
		ok(loss.uncharged < SLACK_MIB * 1024,
		   "%s: the host loses less than the group is charged and %d MiB",
		   kind->name, SLACK_MIB);
}

int main(int argc, char **argv)
{
	char text[32];
	int err;

	sh = hostile_begin(sizeof(*sh));
	err = cgroup_open();
	if (err == ENODEV)
		vt_bail("no control groups");
	if (err)
		skip_all("the kernel has no memory control groups (CONFIG_MEMCG)");
	plan(0);
	snprintf(text, sizeof(text), "%d", MAX_MIB * MIB);
	make_buffer();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		kind = &kinds[i];
		if (!vt_wanted(kind->name, argv + 1) ||
		    (kind->only_full && argc == 1 && !hostile_full()))
			continue;
		/*
		 * A new group for each, because the charges of an old one are
		 * released late.
		 */
		if (mkdir(GROUP, 0755))
			vt_bail(GROUP);
		cgroup_write(GROUP "/memory.max", text);
		check_kind();
		if (rmdir(GROUP))
			vt_bail(GROUP);
	}
	cgroup_close();
	return done_testing();
}
