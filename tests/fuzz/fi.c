// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fuzzes what the provider mxe of libfabric makes of the hellos and messages of
 * a peer. Two endpoints are connected over RC or DC on the device in the
 * process of tests/unit/fi. The input is a program: it receives hellos and
 * messages that are plausible and then spoiled, calls libfabric, and lets time
 * pass, requests stop, and the device refuse them.
 *
 * Checks that no operation completes more than once, that nothing outside the
 * buffers and regions of the program changes (AddressSanitizer), and that
 * nothing is left when the endpoints are closed.
 *
 * The threads of the provider do not run: the input makes progress, and address
 * handles are created at once or when the input says so.
 */
#define TAP_UNUSED __attribute__((unused))
#define TIMEOUT_MS 0
#include <poll.h>

#include "ah.h"
#include "conn.h"
#include "domain.h"
#include "ep.h"
#include "fake_device.h"
#include "fi_end.h"
#include "input.h"
#include "op.h"
#include "progress.h"
#include "queues.h"
#include "recv.h"
#include "sizes.h"
#include "tagged_atomic.h"
#include "ud.h"
#include "wire.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV)
enum { MAX_STEPS = 300, GRH = 40, BUF = 8192, MAX_OPS = 4096 };

static struct input in;
static struct end ends[2];
static fi_addr_t addrs[2];	/* of the other end */
static struct fid_mr *mrs[2];
static uint8_t memory[2][BUF] __attribute__((aligned(16)));
static int ops[MAX_OPS];	/* contexts: 1 until they complete */
static unsigned int num_ops;
static uint64_t now_ms = 1000, step_ms;

/* ---- what replaces the threads and the clock ----------------------------- */

int __wrap_mxefi_progress_start(struct mxefi_domain *dom);
void __wrap_mxefi_progress_stop(struct mxefi_domain *dom);
uint64_t __wrap_mxefi_now_ms(void);
int __wrap_poll(struct pollfd *fds, nfds_t num, int timeout);

int __wrap_mxefi_progress_start(struct mxefi_domain *dom)
{
	dom->wake_fd = -1;
	return 0;
}

void __wrap_mxefi_progress_stop(struct mxefi_domain *dom)
{
	(void)dom;
}

/* Passes only while an endpoint is closed, and by the input. */
uint64_t __wrap_mxefi_now_ms(void)
{
	now_ms += step_ms;
	return now_ms;
}

int __wrap_poll(struct pollfd *fds, nfds_t num, int timeout)
{
	(void)fds;
	(void)num;
	(void)timeout;
	return 0;
}

/* Address handles, in the place of ah.c. */
struct mxefi_ah {
	struct mxefi_ah *next;
	struct mxefi_domain *dom;
	uint8_t gid[16];
	void (*ready)(void *arg);
	void *arg;
	struct ibv_ah *ah;
	bool is_wanted;
	bool has_failed;	/* the host does not exist */
};

static struct mxefi_ah *ahs;
static bool is_resolving;

struct ibv_ah_attr mxefi_ah_attr(const struct mxefi_domain *dom,
				 const uint8_t gid[16])
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	(void)dom;
	memcpy(attr.grh.dgid.raw, gid, 16);
	return attr;
}

struct mxefi_ah *mxefi_ah_new(struct mxefi_domain *dom, const uint8_t gid[16],
			      void (*ready)(void *arg), void *arg)
{
	struct mxefi_ah *ah = calloc(1, sizeof(*ah));

	*ah = (struct mxefi_ah){ .next = ahs, .dom = dom, .ready = ready,
				 .arg = arg };
	memcpy(ah->gid, gid, 16);
	ahs = ah;
	return ah;
}

static void create(struct mxefi_ah *ah)
{
	struct ibv_ah_attr attr = mxefi_ah_attr(ah->dom, ah->gid);

	ah->ah = ibv_create_ah(ah->dom->pd, &attr);
	ah->has_failed = !ah->ah;
}

struct ibv_ah *mxefi_ah_get(struct mxefi_ah *ah)
{
	if (!ah->ah && !is_resolving && !ah->has_failed)
		create(ah);
	ah->is_wanted = !ah->ah && !ah->has_failed;
	return ah->ah;
}

bool mxefi_ah_refresh(struct mxefi_ah *ah)
{
	return mxefi_ah_get(ah);
}

void mxefi_ah_free(struct mxefi_ah *ah)
{
	struct mxefi_ah **p = &ahs;

	if (!ah)
		return;
	while (*p != ah)
		p = &(*p)->next;
	*p = ah->next;
	if (ah->ah)
		ibv_destroy_ah(ah->ah);
	free(ah);
}

void mxefi_ah_stop(struct mxefi_domain *dom)
{
	(void)dom;
}

/* Creates the handles that are waited for. A callback may free any of them. */
static void resolve(void)
{
	struct mxefi_ah *ah = ahs;
	pthread_mutex_t *lock;

	is_resolving = false;
	while (ah) {
		if (!ah->is_wanted) {
			ah = ah->next;
			continue;
		}
		ah->is_wanted = false;
		create(ah);
		if (!ah->ah)
			continue;
		lock = &ah->dom->lock;
		pthread_mutex_lock(lock);
		ah->ready(ah->arg);
		pthread_mutex_unlock(lock);
		ah = ahs;
	}
}

/* ---- time and progress --------------------------------------------------- */

static void run_tickers(struct mxefi_domain *dom)
{
	struct mxefi_ticker *t, *next;

	for (t = dom->tickers; t; t = next) {
		next = t->next;
		t->tick(t, now_ms);
	}
}

/* As the thread of each domain does. */
static void progress(unsigned int ms)
{
	now_ms += ms;
	for (int i = 0; i < 2; i++) {
		struct mxefi_domain *dom = to_domain(ends[i].domain);

		pthread_mutex_lock(&dom->lock);
		mxefi_progress(dom);
		if (ms)
			run_tickers(dom);
		pthread_mutex_unlock(&dom->lock);
	}
}

/* Takes the completions of an end. */
static void read_cq(struct end *e)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret;
	int *op;

	while ((ret = fi_cq_read(e->cq, &entry, 1)) != -FI_EAGAIN) {
		if (ret == -FI_EAVAIL)
			CHECK(fi_cq_readerr(e->cq, &err, 0) == 1);
		op = ret == 1 ? entry.op_context : err.op_context;
		if (op < ops || op >= ops + MAX_OPS)
			continue;
		/* Buffers of several messages complete several times. */
		CHECK(*op);
		if (*op == 1)
			*op = 0;
	}
}

static void *new_op(int value)
{
	ops[num_ops] = value;
	return &ops[num_ops++];
}

/* ---- what a peer sends --------------------------------------------------- */

static struct mxefi_ep *ep_of(int end)
{
	return to_ep(ends[end].ep);
}

/* The connection that a spoiled message is for; or NULL. */
static struct mxefi_conn *first_conn(int end)
{
	return ep_of(end)->conns;
}

static void receive_hello(int end)
{
	static uint8_t packet[GRH + sizeof(struct mxefi_hello) + MXEFI_CM_DATA];
	const struct mxefi_conn *conn = first_conn(end);
	struct mxefi_ud *ud = &ep_of(end)->ud;
	struct ibv_wc wc = { .wc_flags = IBV_WC_GRH };
	uint8_t what = take_8(&in);
	struct mxefi_hello hello = {
		.magic = MXEFI_WIRE_MAGIC,
		.flags = take_8(&in),
		.src = ep_of(!end)->ud.name,
		.dst_id = ud->name.id,
		.qpn = what & 1 ? MXEFI_DC_CONN | take_8(&in) : 100,
		.mtu = IBV_MTU_4096,
		.epoch = 1 + take_8(&in),
		.token = 1,
	};

	/* A peer without a connection, which may know the DC target. */
	if (what & 2)
		hello.src.id += 2 * (1 + take_8(&in) % 8);
	if (conn && what & 4)
		hello.peer_token = conn->token;
	if (conn && what & 8)
		hello.peer_qpn = conn->number;
	if (conn && what & 16) {
		hello.token = conn->peer_token;
		hello.qpn = conn->peer_qpn;
		hello.epoch = conn->peer_epoch;
	}
	if (what & 32)
		hello.data_len = take_8(&in);
	if (what & 64)
		spoil(&in, &hello, sizeof(hello));
	memset(packet, 0, sizeof(packet));
	packet[20] = 0x45;
	memcpy(packet + 32, hello.src.gid + 12, 4);
	memcpy(packet + GRH, &hello, sizeof(hello));
	wc.byte_len = (uint32_t)(GRH + sizeof(hello) + hello.data_len % 512);
	if (wc.byte_len > sizeof(packet))
		wc.byte_len = sizeof(packet);
	wc.src_qp = hello.src.qpn;
	memcpy(ud->bufs[0].data, packet, sizeof(packet));
	pthread_mutex_lock(&ud->dom->lock);
	ud->bufs[0].work.done(&ud->bufs[0].work, &wc);
	pthread_mutex_unlock(&ud->dom->lock);
}

/* The cookie of an operation that waits for an answer, or one that is not. */
static uint64_t a_cookie(struct mxefi_ep *ep)
{
	uint64_t cookie = take_8(&in);

	for (size_t i = 0; i < MXEFI_TX_SIZE; i++)
		if (ep->ops[i].used && ep->ops[i].wants_fin)
			return mxefi_op_cookie(&ep->ops[i]);
	return cookie;
}

static void receive_message(int end)
{
	const struct mxefi_conn *conn = first_conn(end);
	struct mxefi_ep *ep = ep_of(end);
	struct mxefi_rxbuf *rx = &ep->rx[0];
	struct ibv_wc wc = { .opcode = IBV_WC_RECV };
	uint8_t what = take_8(&in);
	size_t len = take_8(&in) * (what & 1 ? 16 : 1);
	struct mxefi_msg msg = {
		.type = take_8(&in) % (MXEFI_MSG_ATOMIC + 2),
		.flags = take_8(&in),
		.tag = take_8(&in) % 4,
		.len = what & 2 ? len : take_8(&in) * 64UL,
		.cookie = a_cookie(ep),
		.addr = (uintptr_t)memory[!end] + take_8(&in),
		.rkey = (uint32_t)fi_mr_key(mrs[!end]),
	};

	if (msg.type == MXEFI_MSG_ATOMIC) {
		msg.addr = take_8(&in);
		msg.atomic.form = take_8(&in) % 4;
		msg.atomic.op = take_8(&in) % 24;
		msg.atomic.datatype = take_8(&in) % 24;
		msg.len = take_8(&in);
	}
	if (conn) {
		msg.token = conn->token;
		msg.qpn = conn->number;
		wc.qp_num = conn->qp ? conn->qp->qp_num : 0;
	}
	if (ep->dct && !wc.qp_num)
		wc.qp_num = ep->dct->dct_num;
	if (what & 4)
		wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	if (what & 8)
		spoil(&in, &msg, sizeof(msg));
	wc.byte_len = (uint32_t)(sizeof(msg) + len);
	if (what & 16)
		wc.byte_len = take_8(&in);
	memcpy(rx->buf, &msg, sizeof(msg));
	take(&in, rx->buf + sizeof(msg), 64);
	pthread_mutex_lock(&ep->dom->lock);
	rx->work.done(&rx->work, &wc);
	pthread_mutex_unlock(&ep->dom->lock);
}

/* ---- what the program calls ---------------------------------------------- */

static void post_recv(int end)
{
	uint8_t what = take_8(&in), *buf = memory[end] + take_8(&in) * 8;
	struct iovec iov[2] = { { buf, take_8(&in) }, { buf + 512, take_8(&in) } };
	size_t count = what & 1 ? 2 : 1;

	if (what & 2)
		iov[0].iov_len *= 16;
	if (what & 4) {
		struct fi_msg m = {
			.msg_iov = iov, .iov_count = what & 8 ? 1 : count,
			.addr = FI_ADDR_UNSPEC,
			.context = new_op(what & 8 ? 2 : 1),
		};

		fi_recvmsg(ends[end].ep, &m, what & 8 ? FI_MULTI_RECV : 0);
	} else {
		static const uint64_t flags[] = {
			FI_PEEK, FI_PEEK | FI_CLAIM, FI_CLAIM,
			FI_PEEK | FI_DISCARD, FI_CLAIM | FI_DISCARD, 0, 0, 0,
		};
		uint64_t f = flags[what >> 4 & 7];
		/* A claim has the context of its peek. */
		struct fi_msg_tagged m = {
			.msg_iov = iov, .iov_count = count,
			.addr = FI_ADDR_UNSPEC, .tag = take_8(&in) % 4,
			.ignore = what & 8,
			.context = f & (FI_PEEK | FI_CLAIM) ? &in : new_op(1),
		};

		fi_trecvmsg(ends[end].ep, &m, f);
	}
}

static void send_message(int end)
{
	uint8_t what = take_8(&in);
	size_t len = take_8(&in) * (what & 1 ? 32 : 1);
	struct iovec iov = { memory[end], len };
	uint64_t flags = (what & 2 ? FI_DELIVERY_COMPLETE : 0) |
			 (what & 4 ? FI_FENCE : 0);
	struct fi_msg_tagged t = {
		.msg_iov = &iov, .iov_count = 1, .addr = addrs[end],
		.tag = take_8(&in) % 4, .context = new_op(1),
	};
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = addrs[end],
		.context = t.context,
	};

	if (what & 8)
		fi_sendmsg(ends[end].ep, &m, flags);
	else
		fi_tsendmsg(ends[end].ep, &t, flags);
}

static void access_memory(int end)
{
	uint8_t what = take_8(&in);
	size_t offset = take_8(&in) * 8, count = 1 + take_8(&in) % 8;
	uint64_t target = (uintptr_t)memory[!end] + offset;
	uint64_t key = fi_mr_key(mrs[!end]);
	uint8_t *local = memory[end] + 4096;
	struct fi_ioc src = { local, count }, result = { local + 512, count };
	struct fi_rma_ioc rma = { target, count, key };
	struct fi_msg_atomic m = {
		.msg_iov = &src, .iov_count = 1, .addr = addrs[end],
		.rma_iov = &rma, .rma_iov_count = 1, .datatype = FI_UINT64,
		.op = what & 16 ? FI_MAX : FI_SUM, .context = new_op(1),
	};

	if (what & 8) {
		rma.addr = offset;
		rma.key = take_8(&in) % 4;
	}
	switch (what % 4) {
	case 0:
		fi_write(ends[end].ep, local, count * 8, NULL, addrs[end],
			 target, key, m.context);
		break;
	case 1:
		fi_read(ends[end].ep, local, count * 8, NULL, addrs[end],
			target, key, m.context);
		break;
	case 2:
		fi_atomicmsg(ends[end].ep, &m, what & 8 ? FI_TAGGED : 0);
		break;
	default:
		fi_fetch_atomicmsg(ends[end].ep, &m, &result, NULL, 1,
				   what & 8 ? FI_TAGGED : 0);
	}
}

/* ---- faults -------------------------------------------------------------- */

static void set_faults(void)
{
	uint8_t what = take_8(&in);

	fake_device.reads_stop = what & 1;
	fake_device.atomics_stop = what & 2;
	fake_device.refused_send = what & 4 ? take_8(&in) % 10 : -1;
	fake_device.stopped_send = what & 8 ? take_8(&in) % 10 : -1;
	fake_device.refused_size = what & 16 ? sizeof(struct mxefi_recv) : 0;
	fake_device.dcis_fail = what & 32;
	if (what & 64)
		is_resolving = true;
	else
		resolve();
	fake_device.stopped_dct = what & 128 ? ep_of(what & 1)->ud.name.dct &
					       MXEFI_DCT_NUMBER : 0;
}

static void clear_faults(void)
{
	fake_device.reads_stop = false;
	fake_device.atomics_stop = false;
	fake_device.refused_send = -1;
	fake_device.stopped_send = -1;
	fake_device.refused_size = 0;
	fake_device.dcis_fail = false;
	fake_device.stopped_dct = 0;
	resolve();
}

static void change_address(int end)
{
	if (take_8(&in) % 2)
		fi_av_remove(ends[end].av, &addrs[end], 1, 0);
	else
		addrs[end] = insert(&ends[end], ends[!end].ep);
}

/* ---- an input ------------------------------------------------------------ */

/* The domains remain open, as opening them would take most of the time. */
static void open_domains(void)
{
	if (ends[0].domain)
		return;
	fake_device_use_dc(true);
	fake_device.is_glob = true;
	for (int i = 0; i < 2; i++) {
		open_end(&ends[i], CAPS);
		must(fi_close(&ends[i].ep->fid), "fi_close ep");
	}
}

static void open_ends(uint8_t mode)
{
	open_domains();
	for (int i = 0; i < 2; i++) {
		struct mxefi_domain *dom = to_domain(ends[i].domain);

		dom->dc_mode = mode & 1 ? MXEFI_DC_ALWAYS : MXEFI_DC_NEVER;
		dom->connect_timeout_ms = 1000;
		dom->max_conns = mode & 2 ? 2 : 100;
		ends[i].ep = open_ep(&ends[i], ends[i].cq);
	}
	for (int i = 0; i < 2; i++) {
		addrs[i] = insert(&ends[i], ends[!i].ep);
		must(fi_mr_reg(ends[i].domain, memory[i], BUF,
			       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0,
			       &mrs[i], NULL), "fi_mr_reg");
	}
	if (mode & 4)
		return;
	must(fi_send(ends[0].ep, memory[0], 8, NULL, addrs[0], &in), "fi_send");
	must(fi_recv(ends[1].ep, memory[1], 8, NULL, FI_ADDR_UNSPEC, &in),
	     "fi_recv");
	for (int i = 0; i < 10; i++)
		progress(10);
}

static void close_ends(void)
{
	clear_faults();
	step_ms = 200;
	for (int i = 0; i < 2; i++) {
		must(fi_close(&mrs[i]->fid), "fi_close mr");
		must(fi_close(&ends[i].ep->fid), "fi_close ep");
		read_cq(&ends[i]);
		for (fi_addr_t addr = 0; addr < MAX_STEPS; addr++)
			fi_av_remove(ends[i].av, &addr, 1, 0);
	}
	step_ms = 0;
	CHECK(!fake_device.num_mrs);
	CHECK(!fake_device.num_ahs);
	CHECK(!ahs);
}

static void step(void)
{
	uint8_t what = take_8(&in);
	int end = what >> 7;

	switch (what % 16) {
	case 0:
	case 1:
		receive_hello(end);
		break;
	case 2:
	case 3:
	case 4:
		receive_message(end);
		break;
	case 5:
	case 6:
		post_recv(end);
		break;
	case 7:
		send_message(end);
		break;
	case 8:
		access_memory(end);
		break;
	case 9:
		set_faults();
		break;
	case 10:
		change_address(end);
		break;
	case 11:
		fi_cancel(&ends[end].ep->fid, &ops[take_8(&in)]);
		break;
	case 12:
		read_cq(&ends[end]);
		break;
	default:
		progress(what & 16 ? 60 : what & 32 ? 1200 : 10);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in = (struct input){ data, size };
	num_ops = 0;
	open_ends(take_8(&in));
	for (int i = 0; i < MAX_STEPS && in.left; i++)
		step();
	close_ends();
	return 0;
}
