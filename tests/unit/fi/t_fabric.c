// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process, which fails or
 * stops where a real one does only now and then: each operation ends, in order
 * and once, and nothing is leaked.
 */
#include <poll.h>

#define TIMEOUT_MS 10000
#include <rdma/fi_trigger.h>
#include "conn.h"
#include "domain.h"
#include "ep.h"
#include "fake_device.h"
#include "fi_end.h"
#include "match.h"
#include "progress.h"
#include "random.h"
#include "sizes.h"
#include "wire.h"

#define LONG_SIZE 100000	/* bytes: read by the receiver */
#define FLOOD_SIZE 4000
#define MAX_FLOOD 40000		/* messages */
#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV)

static struct end a, b;
static fi_addr_t to_a, to_b;
static uint8_t out[LONG_SIZE], in[LONG_SIZE];

/* Opens two endpoints and connects them. */
static void open_pair(uint64_t caps)
{
	open_end(&a, caps);
	open_end(&b, caps);
	to_b = insert(&a, b.ep);
	to_a = insert(&b, a.ep);
	if (!(caps & FI_MSG))
		return;
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	must(-wait_one(b.cq, in), "the first receive");
	must(-wait_one(a.cq, out), "the first send");
}

static void close_pair(void)
{
	is_int(close_end(&a), 0, "... an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

/* Writes need the rights that the capabilities of the target give. */
static void test_rights(void)
{
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr;

	open_end(&a, FI_MSG | FI_RMA | FI_ATOMIC);
	open_end(&b, FI_MSG);
	to_b = insert(&a, b.ep);
	must(fi_mr_reg(b.domain, in, LONG_SIZE, FI_REMOTE_WRITE, 0, 0, 0, &mr,
		       NULL), "fi_mr_reg");
	must(fi_writedata(a.ep, NULL, 0, NULL, 5, to_b, 0, 0, out),
	     "fi_writedata");
	is_int(wait_one(a.cq, out), FI_EINVAL,
	       "a write to an endpoint without FI_RMA, with a key of 0, fails");
	is_int((int)fi_cq_read(b.cq, &e, 1), -FI_EAGAIN, "... unnoticed");
	memset(in, 0, 8);
	memset(out, 0xff, 8);
	must(fi_write(a.ep, out, 8, NULL, to_b, (uintptr_t)in, fi_mr_key(mr),
		      out), "fi_write");
	is_int(wait_one(a.cq, out), FI_EINVAL, "... and so does one with a key");
	must(fi_atomic(a.ep, out, 1, NULL, to_b, (uintptr_t)in, fi_mr_key(mr),
		       FI_UINT64, FI_SUM, out), "fi_atomic");
	is_int(wait_one(a.cq, out), FI_EINVAL, "... and an atomic");
	is_u64(*(uint64_t *)in, 0, "... and the memory is not changed");
	must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "a long message still arrives");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
}

static void test_messages(void)
{
	open_pair(CAPS);
	memset(out, 0x5a, LONG_SIZE);
	must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "a long message arrives");
	is_mem(in, out, LONG_SIZE, "... with its data");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	close_pair();
}

/* The receiver of a message cannot post the FIN. */
static void test_fin_refused(void)
{
	struct iovec iov = { out, 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .context = out,
	};

	open_pair(CAPS);
	fake_device_set(refused_send, MXEFI_MSG_FIN);
	m.addr = to_b;
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_sendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	is_int(wait_one(b.cq, in), 0, "a message whose FIN cannot be posted");
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "... fails at its sender");
	fake_device_set(refused_send, -1);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	m.addr = to_b;
	must(fi_sendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	is_int(wait_one(a.cq, out), 0, "... and the next one connects again");
	close_pair();
}

/* Waits until so many READs are in flight. */
static void wait_reads(unsigned int num)
{
	while (fake_device_get(num_stopped) != num)
		sched_yield();
}

/*
 * An endpoint is closed while it reads a message, but its queue pair cannot
 * enter the error state. AddressSanitizer finds what is leaked.
 */
static void test_close_fails(void)
{
	open_pair(CAPS);
	fake_device_set(reads_stop, true);
	must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	wait_reads(1);
	fake_device_set(err_fails, true);
	is_int(close_end(&b), 0,
	       "an endpoint with a READ in flight is closed without a flush");
	fake_device_set(err_fails, false);
	fake_device_set(reads_stop, false);
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "... its peer notices");
	is_int(close_end(&a), 0, "... and is closed");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

static void post_multi(void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = buf,
	};

	must(fi_recvmsg(b.ep, &m, FI_MULTI_RECV), "fi_recvmsg");
}

/* The next message at b: its buffer, where it is, and whether it is the last */
static void is_part(const void *buf, size_t at, size_t len, bool last,
		    const char *name)
{
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_cq_data_entry *d = (struct fi_cq_data_entry *)&e;

	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1, "%s", name);
	ok(e.op_context == buf, "... in the right buffer");
	ok(d->buf == (const uint8_t *)buf + at && e.len == len,
	   "... at %zu with %zu bytes", at, len);
	is_int(!!(e.flags & FI_MULTI_RECV), last, "... is the last: %d", last);
}

/*
 * Memory is short when a message arrives for a buffer that has room for more.
 * No later message may get into the buffer before it.
 */
static void test_multi_recv(size_t size)
{
	static uint8_t next[LONG_SIZE];

	open_pair(CAPS);
	post_multi(in, LONG_SIZE);
	/* A long message is being read while others arrive. */
	fake_device_set(reads_stop, true);
	must(fi_send(a.ep, out, 5000, NULL, to_b, out), "fi_send");
	must(fi_send(a.ep, out, 100, NULL, to_b, out), "fi_send");
	is_part(in, 5000, 100, false, "a buffer for several messages");
	must(-wait_one(a.cq, out), "fi_send");
	fake_device_set(refused_size, sizeof(struct mxefi_recv));
	must(fi_send(a.ep, out, size, NULL, to_b, out), "fi_send");
	if (size <= MXEFI_BUF_SIZE)
		is_part(in, 5100, size, false, "one without memory for it");
	else
		wait_reads(2);
	fake_device_set(refused_size, 0);
	post_multi(next, LONG_SIZE);
	must(fi_send(a.ep, out, 200, NULL, to_b, out), "fi_send");
	is_part(next, 0, 200, false, "a later message");
	fake_device_set(reads_stop, false);
	is_part(in, 0, 5000, size <= MXEFI_BUF_SIZE, "the long message");
	if (size > MXEFI_BUF_SIZE)
		is_part(in, 5100, size, true, "one without memory for it");
	for (int i = 0; i < 3; i++)
		must(-wait_one(a.cq, out), "fi_send");
	close_pair();
}

static void wait_cm(struct end *e, uint32_t want, struct fi_eq_cm_entry *entry)
{
	uint32_t type = 0;

	must(fi_eq_sread(e->eq, &type, entry, sizeof(*entry), TIMEOUT_MS, 0),
	     "fi_eq_sread");
	is_u64(type, want, "event %u", want);
}

/* Connects two endpoints of type FI_EP_MSG. */
static struct fid_pep *open_msg_pair(void)
{
	struct fi_eq_cm_entry entry;
	uint8_t name[64];
	size_t len = sizeof(name);
	struct fid_pep *pep;

	open_end_of(&a, FI_EP_MSG, FI_MSG | FI_MULTI_RECV);
	open_end_of(&b, FI_EP_MSG, FI_MSG | FI_MULTI_RECV);
	must(fi_passive_ep(b.fabric, b.info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &b.eq->fid, 0), "fi_pep_bind");
	must(fi_listen(pep), "fi_listen");
	must(fi_getname(&pep->fid, name, &len), "fi_getname");
	a.ep = open_ep(&a, a.cq);
	must(fi_connect(a.ep, name, NULL, 0), "fi_connect");
	wait_cm(&b, FI_CONNREQ, &entry);
	b.ep = open_ep_of(&b, b.cq, entry.info);
	fi_freeinfo(entry.info);
	must(fi_accept(b.ep, NULL, 0), "fi_accept");
	wait_cm(&b, FI_CONNECTED, &entry);
	wait_cm(&a, FI_CONNECTED, &entry);
	return pep;
}

/* The values of FI_MR_UNSPEC, FI_MR_BASIC and FI_MR_SCALABLE. */
enum { MR_UNSPEC, MR_BASIC, MR_SCALABLE };
#define MR_MODES (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define TARGET (FI_REMOTE_READ | FI_REMOTE_WRITE)
#define NO_INFO -1

/* Modes of memory regions, as other providers get them from libfabric. */
static void test_mr_modes(void)
{
	static const struct {
		int minor;
		uint64_t caps;
		int hints, mode;	/* NO_INFO */
		uint64_t target;	/* remaining capabilities */
	} cases[] = {
		{ 4, FI_RMA, MR_UNSPEC, MR_BASIC, TARGET },
		{ 4, FI_RMA, MR_BASIC, MR_BASIC, TARGET },
		{ 4, FI_RMA, MR_SCALABLE, NO_INFO, 0 },
		{ 4, FI_RMA, MR_MODES, NO_INFO, 0 },
		{ 4, FI_MSG, MR_UNSPEC, MR_BASIC, 0 },
		{ 4, FI_MSG, MR_SCALABLE, NO_INFO, 0 },
		{ 5, FI_RMA, MR_UNSPEC, 0, 0 },
		{ 5, FI_RMA, MR_BASIC, MR_BASIC, TARGET },
		{ 5, FI_RMA, MR_SCALABLE, NO_INFO, 0 },
		{ 5, FI_RMA, MR_MODES, MR_MODES, TARGET },
		{ 5, FI_RMA, MR_MODES | FI_MR_LOCAL, MR_MODES, TARGET },
		{ 5, FI_RMA, MR_MODES | MR_BASIC, NO_INFO, 0 },
		{ 5, FI_RMA, FI_MR_VIRT_ADDR, NO_INFO, 0 },
		{ 5, FI_RMA | FI_WRITE, FI_MR_VIRT_ADDR, 0, 0 },
		{ 5, FI_ATOMIC | FI_REMOTE_READ, FI_MR_LOCAL, NO_INFO, 0 },
		{ 5, FI_ATOMIC | FI_REMOTE_READ, MR_MODES, MR_MODES,
		  FI_REMOTE_READ },
		{ 5, FI_MSG, FI_MR_LOCAL, 0, 0 },
		{ 5, 0, MR_UNSPEC, 0, 0 },
		{ 5, 0, MR_MODES, MR_MODES, TARGET },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fi_info *info = NULL, *hints = fi_allocinfo();
		int ret;

		hints->caps = cases[i].caps;
		hints->domain_attr->mr_mode = cases[i].hints;
		ret = fi_getinfo(FI_VERSION(1, cases[i].minor), NULL, NULL, 0,
				 hints, &info);
		is_int(info ? info->domain_attr->mr_mode : NO_INFO,
		       cases[i].mode, "mr_mode %d, API 1.%d, case %zu",
		       cases[i].hints, cases[i].minor, i);
		if (info) {
			is_u64(info->caps & TARGET, cases[i].target,
			       "... the capabilities of a target");
			is_u64(info->rx_attr->caps & TARGET, cases[i].target,
			       "... also in the attributes");
		} else {
			is_int(ret, -FI_ENODATA, "... is an error");
		}
		fi_freeinfo(info);
		fi_freeinfo(hints);
	}
	for (uint32_t minor = 4; minor <= 5; minor++) {
		struct fi_info *info;

		must(fi_getinfo(FI_VERSION(1, minor), NULL, NULL, 0, NULL,
				&info), "fi_getinfo");
		is_int(info->domain_attr->mr_mode,
		       minor < 5 ? MR_BASIC : MR_MODES,
		       "mr_mode without hints, API 1.%u", minor);
		is_u64(info->caps & TARGET, TARGET, "... all capabilities");
		fi_freeinfo(info);
	}
}

/* What programs for an API before 1.5 have behind an error of a queue. */
#define GUARD 0x5a5a5a5a5a5a5a5aULL

union old_cq_err {
	struct fi_cq_err_entry entry;
	struct {
		uint8_t known[offsetof(struct fi_cq_err_entry, err_data_size)];
		uint64_t guard;
	};
};

/* Errors of queues, for programs that use a version of the API. */
static void test_errors(uint32_t version)
{
	bool is_old = FI_VERSION_LT(version, FI_VERSION(1, 5));
	union old_cq_err cq_err = { .guard = GUARD };
	struct fi_eq_err_entry eq_err = { 0 };
	struct fi_eq_cm_entry entry;
	struct fi_cq_tagged_entry e;
	struct fid_pep *pep;
	uint8_t name[64], buf[2] = { 0 };
	size_t len = sizeof(name);
	uint32_t type;

	end_version = version;
	open_end_of(&a, FI_EP_MSG, FI_MSG);
	open_end_of(&b, FI_EP_MSG, FI_MSG);
	end_version = FI_VERSION(1, 15);
	must(fi_passive_ep(b.fabric, b.info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &b.eq->fid, 0), "fi_pep_bind");
	must(fi_listen(pep), "fi_listen");
	must(fi_getname(&pep->fid, name, &len), "fi_getname");
	a.ep = open_ep(&a, a.cq);
	must(fi_recv(a.ep, in, 8, NULL, 0, in), "fi_recv");
	must(fi_connect(a.ep, name, NULL, 0), "fi_connect");
	wait_cm(&b, FI_CONNREQ, &entry);
	must(fi_reject(pep, entry.info->handle, "why", 4), "fi_reject");
	fi_freeinfo(entry.info);
	is_int((int)fi_eq_sread(a.eq, &type, &entry, sizeof(entry), TIMEOUT_MS,
				0), -FI_EAVAIL, "API 1.%u: a rejection",
	       FI_MINOR(version));
	/* Old programs initialise neither. */
	eq_err.err_data = is_old ? (void *)1 : buf;
	eq_err.err_data_size = is_old ? (size_t)GUARD : sizeof(buf);
	is_int((int)fi_eq_readerr(a.eq, &eq_err, 0), sizeof(eq_err),
	       "... is read");
	is_u64(eq_err.err_data_size, is_old ? 4 : sizeof(buf),
	       "... with its data");
	ok(is_old ? !memcmp(eq_err.err_data, "why", 4) :
		    eq_err.err_data == buf && !memcmp(buf, "wh", 2),
	   "... in the buffer of the provider or of the program");
	is_int((int)fi_cq_sread(a.cq, &e, 1, NULL, TIMEOUT_MS), -FI_EAVAIL,
	       "... and the receive fails");
	is_int((int)fi_cq_readerr(a.cq, &cq_err.entry, 0), 1, "... is read");
	is_int(cq_err.entry.err, FI_ECANCELED, "... with its error");
	is_u64(cq_err.guard, is_old ? GUARD : 0,
	       "... and nothing behind the entry is changed");
	must(fi_close(&pep->fid), "fi_close pep");
	close_pair();
}

/* Probes need no rights of RDMA. */
static void test_probe(void)
{
	struct fid_pep *pep = open_msg_pair();
	unsigned int before = fake_device_get(num_sends[MXEFI_MSG_PROBE]);
	struct fi_eq_cm_entry entry;
	uint32_t type;

	while (fake_device_get(num_sends[MXEFI_MSG_PROBE]) < before + 4)
		poll(NULL, 0, 10);
	must(fi_recv(b.ep, in, 8, NULL, 0, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, 0, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "a message after probes arrives");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	is_int((int)fi_eq_read(a.eq, &type, &entry, sizeof(entry), 0),
	       -FI_EAGAIN, "... and there is no event");
	must(fi_close(&pep->fid), "fi_close pep");
	close_pair();
}

/* Receives that are posted when a connection has ended. */
static void test_after_shutdown(void)
{
	struct fid_pep *pep = open_msg_pair();
	struct fi_eq_cm_entry entry;

	/* Three messages have arrived before. */
	for (int i = 0; i < 3; i++)
		must(fi_send(a.ep, out, 100, NULL, 0, out), "fi_send");
	for (int i = 0; i < 3; i++)
		must(-wait_one(a.cq, out), "fi_send");
	must(fi_shutdown(a.ep, 0), "fi_shutdown");
	wait_cm(&b, FI_SHUTDOWN, &entry);
	is_int((int)fi_recv(b.ep, in, 100, NULL, 0, in), 0,
	       "after the shutdown, a message can be received");
	is_int(wait_one(b.cq, in), 0, "... that arrived before it");
	post_multi(in, LONG_SIZE);
	is_part(in, 0, 100, false, "... and two in one buffer");
	is_part(in, 100, 100, false, "... the second");
	is_int(wait_one(b.cq, in), FI_ECANCELED, "... which ends then");
	is_int((int)fi_recv(b.ep, in, 100, NULL, 0, in), -FI_ENOTCONN,
	       "another receive is refused");
	is_int((int)fi_send(b.ep, in, 100, NULL, 0, in), -FI_ENOTCONN,
	       "... and so is a send");
	must(fi_close(&pep->fid), "fi_close pep");
	close_pair();
}

/* A connection does not time out in the moment in which it begins. */
static void test_elapsed(void)
{
	is_u64(mxefi_elapsed_ms(1000, 900), 100, "100 ms after an event");
	is_u64(mxefi_elapsed_ms(1000, 1001), 0, "... and 1 ms before it");
}

/* A message of an epoch that the connection never had. */
static void forge_number(void *message, uint32_t *len)
{
	struct mxefi_msg *msg = message;

	(void)len;
	msg->qpn = 1;
}

/* Makes the only connection of an endpoint one that a hello alone has made. */
static void make_guest(struct mxefi_ep *ep)
{
	pthread_mutex_lock(&ep->dom->lock);
	ep->conns->is_used = false;
	ep->conns->is_confirmed = false;
	ep->num_guests++;
	pthread_mutex_unlock(&ep->dom->lock);
}

/*
 * Only the first message of the right epoch confirms a guest. If others were
 * kept, they would refer to it when it is freed.
 */
static void test_guest(void)
{
	struct fi_cq_tagged_entry e;

	open_pair(CAPS);
	make_guest(to_ep(b.ep));
	fake_device_set(forge_send, forge_number);
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	is_int(wait_one(a.cq, out), 0, "a guest sends a message of another epoch");
	fake_device_set(forge_send, NULL);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, 100), -FI_EAGAIN,
	       "... which is dropped");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "... but not one of its own");
	is_int(wait_one(a.cq, out), 0, "... which completes");
	close_pair();
}

/* Opens an endpoint that accepts so many peers. */
static void open_limited(struct end *end, const char *limit)
{
	setenv("FI_MXE_MAX_CONNECTIONS", limit, 1);
	open_end(end, CAPS);
	unsetenv("FI_MXE_MAX_CONNECTIONS");
}

/* Sends a message to b. Returns the result of the sender. */
static int send_to_b(struct end *from)
{
	fi_addr_t addr = insert(from, b.ep);

	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(from->ep, out, 8, NULL, addr, out), "fi_send");
	return wait_one(from->cq, out);
}

/*
 * An endpoint that accepts no further peers probes those that it has, and keeps
 * those that live.
 */
static void test_limit(void)
{
	struct end peers[3];

	open_limited(&b, "2");
	setenv("FI_MXE_CONNECT_TIMEOUT", "300", 1);
	for (int i = 0; i < 3; i++)
		open_end(&peers[i], CAPS);
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	for (int i = 0; i < 2; i++) {
		is_int(send_to_b(&peers[i]), 0, "peer %d of 2 sends", i + 1);
		is_int(wait_one(b.cq, in), 0, "... and is received");
	}
	is_int(send_to_b(&peers[2]), FI_EHOSTUNREACH, "another one does not");
	is_int(send_to_b(&peers[0]), 0, "the first one still does");
	for (int i = 0; i < 3; i++)
		is_int(close_end(&peers[i]), 0, "a peer is closed");
	is_int(close_end(&b), 0, "... and the endpoint");
}

/*
 * No message is sent over DC before its receiver could tell the sender to stop.
 * For that, it resolves the address once more.
 */
static void test_resolved(void)
{
	struct fi_cq_tagged_entry entry;
	struct end c;

	open_pair(CAPS);
	is_int(send_to_b(&a), 0, "an address is resolved by a message");
	is_int(wait_one(b.cq, in), 0, "... which is received");
	open_end(&c, CAPS);
	/* One for the hellos of each side. */
	fake_device_set(max_ahs, fake_device.num_ahs + 2);
	must(fi_recv(c.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, insert(&a, c.ep), out), "fi_send");
	is_int((int)fi_cq_sread(a.cq, &entry, 1, NULL, 300), -FI_EAGAIN,
	       "a message waits until its receiver can answer");
	fake_device_set(max_ahs, 0);
	is_int(wait_one(c.cq, in), 0, "... and then arrives");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	is_int(close_end(&c), 0, "the receiver is closed");
	close_pair();
}

/* Breaks the connection to a peer, which does not notice. */
static void break_quietly(struct mxefi_ep *ep, const struct fid_ep *peer)
{
	struct mxefi_addr name;
	size_t len = sizeof(name);
	struct mxefi_conn *conn;

	must(fi_getname((struct fid *)&peer->fid, &name, &len), "fi_getname");
	pthread_mutex_lock(&ep->dom->lock);
	conn = mxefi_conn_find(ep, &name);
	mxefi_conn_abort(conn, FI_ECONNABORTED);
	while (conn->state != MXEFI_CONN_IDLE) {
		pthread_mutex_unlock(&ep->dom->lock);
		poll(NULL, 0, 10);
		pthread_mutex_lock(&ep->dom->lock);
	}
	pthread_mutex_unlock(&ep->dom->lock);
}

/* Receives a message of 8 bytes, and not an older one. */
static void gets_short(const char *name)
{
	struct fi_cq_tagged_entry e = { 0 };

	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1, "%s", name);
	ok(e.op_context == in && e.len == 8, "... takes the receive");
}

/*
 * The sender of a long message reports an error when its connection has broken.
 * The message must not take a receive, whether it has arrived before or after
 * the receiver's side has broken.
 */
static void test_stale(void)
{
	open_pair(CAPS);
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	/* Arrives behind the long one. */
	must(fi_tsend(a.ep, out, 8, NULL, to_b, 1, out + 1), "fi_tsend");
	must(fi_trecv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, in), "fi_trecv");
	is_int(wait_one(b.cq, in), 0, "a long message has arrived");
	is_int(wait_one(a.cq, out + 1), 0, "... and is not received");
	break_quietly(to_ep(b.ep), a.ep);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	is_int(wait_one(a.cq, out), FI_ECONNABORTED,
	       "... when its connection has broken, it fails");
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "... with the next one");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	gets_short("... and a later message");
	is_int(wait_one(a.cq, out), 0, "... and completes");
	close_pair();
}

/*
 * A broken connection that has to make room is not forgotten as long as the
 * peer relies on it: its messages would be lost.
 */
static void test_not_forgotten(void)
{
	struct end c;

	open_limited(&b, "1");
	open_end(&a, CAPS);
	open_end(&c, CAPS);
	is_int(send_to_b(&a), 0, "a peer sends");
	is_int(wait_one(b.cq, in), 0, "... and is received");
	break_quietly(to_ep(b.ep), a.ep);
	is_int(send_to_b(&c), 0, "... and then another one");
	is_int(wait_one(b.cq, in), 0, "... which needs its room");
	/* Time to forget it, or to ask it. */
	poll(NULL, 0, 500);
	is_int(send_to_b(&a), 0, "the first one sends again");
	is_int(wait_one(b.cq, in), 0, "... and is received");
	is_int(close_end(&c), 0, "a peer is closed");
	close_pair();
}

static int count_peers(struct mxefi_ep *ep)
{
	int num = 0;

	pthread_mutex_lock(&ep->dom->lock);
	for (int i = 0; i < MXEFI_CONN_HASH; i++)
		for (struct mxefi_peer *p = ep->by_id[i]; p; p = p->next_id)
			num++;
	pthread_mutex_unlock(&ep->dom->lock);
	return num;
}

/* Waits for up to a second until an endpoint has so many peers. */
static void has_peers(const struct end *end, int num, const char *name)
{
	for (int i = 0; i < 100 && count_peers(to_ep(end->ep)) != num; i++)
		poll(NULL, 0, 10);
	is_int(count_peers(to_ep(end->ep)), num, "%s: %d peers", name, num);
}

/* A peer is freed when its address was removed, and nothing refers to it. */
static void test_removed(void)
{
	open_pair(CAPS | FI_DIRECTED_RECV);
	has_peers(&a, 1, "an endpoint with one address");
	must(fi_recv(a.ep, in, 8, NULL, to_b, in), "fi_recv");
	must(fi_av_remove(a.av, &to_b, 1, 0), "fi_av_remove");
	must(fi_recv(a.ep, in + 8, 8, NULL, FI_ADDR_UNSPEC, in + 8), "fi_recv");
	must(fi_send(b.ep, out, 8, NULL, to_a, out), "fi_send");
	is_int(wait_one(a.cq, in), 0, "... without it, receives from the peer");
	is_int(wait_one(b.cq, out), 0, "... which can go on");
	must(fi_recv(a.ep, in, 8, NULL, insert(&a, b.ep), in), "fi_recv");
	must(fi_av_remove(a.av, &to_b, 1, 0), "fi_av_remove");
	is_int(close_end(&b), 0, "... until it is closed");
	poll(NULL, 0, 200);
	has_peers(&a, 1, "... a receive is posted");
	must(fi_cancel(&a.ep->fid, in), "fi_cancel");
	is_int(wait_one(a.cq, in), FI_ECANCELED, "... which is canceled");
	has_peers(&a, 0, "... and the peer is freed");
	open_end(&b, CAPS);
	is_int(send_to_b(&a), 0, "another peer in its place receives");
	is_int(wait_one(b.cq, in), 0, "... a message");
	close_pair();
}

/* The same of one-sided operations, over DC. */
static void test_removed_dc(void)
{
	fi_addr_t twice, to_c;
	struct fid_mr *mr;
	uint64_t got[2];
	struct end c;

	fake_device_use_dc(true);
	open_pair(FI_RMA);
	open_end(&c, FI_RMA);
	twice = insert(&a, b.ep);
	must(fi_mr_reg(b.domain, in, 8, FI_REMOTE_READ, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	fake_device_set(reads_stop, true);
	must(fi_read(a.ep, &got[0], 8, NULL, to_b, (uintptr_t)in, mr->key,
		     got), "fi_read");
	must(fi_read(a.ep, &got[1], 8, NULL, twice, (uintptr_t)in, mr->key,
		     got), "fi_read");
	wait_reads(2);
	has_peers(&a, 1, "two addresses of a peer by DC");
	must(fi_av_remove(a.av, &twice, 1, 0), "fi_av_remove");
	must(fi_av_remove(a.av, &to_b, 1, 0), "fi_av_remove");
	poll(NULL, 0, 200);
	has_peers(&a, 1, "... are removed, reads are in flight");
	/* Takes the place of the first address. */
	to_c = insert(&a, c.ep);
	is_u64(to_c, to_b, "another peer has the address of the first");
	must(fi_read(a.ep, NULL, 0, NULL, to_c, 0, 0, got), "fi_read");
	has_peers(&a, 2, "... and is in use, too");
	fake_device_set(reads_stop, false);
	for (int i = 0; i < 3; i++)
		is_int(wait_one(a.cq, got), 0, "... a read completes");
	has_peers(&a, 1, "... and the first peer is freed");
	to_b = insert(&a, b.ep);
	must(fi_read(a.ep, &got[0], 8, NULL, to_b, (uintptr_t)in, mr->key,
		     got), "fi_read");
	is_int(wait_one(a.cq, got), 0, "... and read from again");
	must(fi_close(&mr->fid), "fi_close mr");
	must(close_end(&c), "close_end");
	close_pair();
	fake_device_use_dc(false);
}

/*
 * One endpoint uses DC for all peers. The other one has a DC target, but cannot
 * create initiators when it needs them, so both agree on RC.
 */
static void test_no_initiators(bool both_start)
{
	fake_device_use_dc(true);
	open_end(&a, CAPS);
	unsetenv("FI_MXE_DC");
	open_end(&b, CAPS);
	to_b = insert(&a, b.ep);
	to_a = insert(&b, a.ep);
	fake_device.dcis_fail = true;
	must(fi_recv(a.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_recv(b.ep, in + 8, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	if (both_start)
		must(fi_send(b.ep, out, 8, NULL, to_a, in), "fi_send");
	must(fi_send(a.ep, out, 8, NULL, to_b, in), "fi_send");
	is_int(wait_one(a.cq, in), 0,
	       "the peer has no DC initiators, both start: %d", both_start);
	if (!both_start)
		must(fi_send(b.ep, out, 8, NULL, to_a, in), "fi_send");
	is_int(wait_one(a.cq, in), 0, "... a message in each direction");
	is_int(wait_one(b.cq, in), 0, "... completes");
	is_int(wait_one(b.cq, in), 0, "... at both ends");
	fake_device.dcis_fail = false;
	close_pair();
	fake_device_use_dc(false);
}

/*
 * A connection over DC is remembered when it has failed, since the peer may not
 * know that yet. Peers that die do not fill the memory: each has sent a message
 * that the endpoint cannot read.
 */
static void test_remembered(void)
{
	struct end peer;
	fi_addr_t addr;

	setenv("FI_MXE_CONNECT_TIMEOUT", "300", 1);
	open_limited(&b, "6");
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	for (int i = 0; i < 10; i++) {
		open_end(&peer, CAPS);
		is_int(send_to_b(&peer), 0, "peer %d of 10 sends", i + 1);
		is_int(wait_one(b.cq, in), 0, "... and is received");
		addr = insert(&peer, b.ep);
		must(fi_send(peer.ep, out, LONG_SIZE, NULL, addr, out),
		     "fi_send");
		must(fi_send(peer.ep, out, 8, NULL, addr, out), "fi_send");
		is_int(wait_one(peer.cq, out), 0, "... two more messages");
		fake_device_set(refused_send, MXEFI_MSG_BYE);
		is_int(close_end(&peer), 0, "... and dies");
		fake_device_set(refused_send, -1);
		must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in),
		     "fi_recv");
		ok(wait_one(b.cq, in) > 0, "... so that the long one fails");
		must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
		is_int(wait_one(b.cq, in), 0, "... and the other is received");
	}
	/* One for the host, and one for each connection. */
	for (int i = 0; i < 500 && fake_device_get(num_ahs) > 7; i++)
		poll(NULL, 0, 10);
	is_int((int)fake_device_get(num_ahs), 7, "six are remembered");
	is_int(close_end(&b), 0, "... until the endpoint is closed");
	is_int((int)fake_device.num_ahs, 0, "... and none is left");
}

/* Takes all requests that operations can have, by atomics that wait. */
static void use_all_requests(void)
{
	static uint64_t ones[64];
	struct mxefi_addr name;
	size_t len = sizeof(name);
	fi_addr_t nobody;

	must(fi_getname(&b.ep->fid, &name, &len), "fi_getname");
	name.id += 2;
	must(fi_av_insert(a.av, &name, 1, &nobody, 0, NULL) - 1,
	     "fi_av_insert");
	while (!fi_atomic(a.ep, ones, 64, NULL, nobody, 0, 0, FI_UINT64, FI_SUM,
			  ones))
		;
	is_int((int)fi_send(a.ep, out, 8, NULL, to_b, out), -FI_EAGAIN,
	       "an endpoint has no more requests for operations");
}

static void delivery_complete(size_t len)
{
	struct iovec iov = { out, len };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_a, .context = out,
	};

	must(fi_sendmsg(b.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
}

/* What peers wait for is sent when operations use all requests. */
static void test_no_requests(void)
{
	const int num = 100;	/* more READs than are reserved */
	int good = 0;

	setenv("FI_MXE_CONNECT_TIMEOUT", "60000", 1);
	open_pair(CAPS);
	use_all_requests();
	must(fi_recv(a.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	delivery_complete(8);
	is_int(wait_one(a.cq, in), 0, "... but receives a short message");
	is_int(wait_one(b.cq, out), 0, "... and tells its sender");
	fake_device_set(reads_stop, true);
	for (int i = 0; i < num; i++) {
		must(fi_recv(a.ep, in + i * 500, LONG_SIZE - i * 500, NULL,
			     FI_ADDR_UNSPEC, in + i * 500), "fi_recv");
		delivery_complete(5000);
	}
	wait_reads(32);
	fake_device_set(reads_stop, false);
	for (int i = 0; i < num; i++)
		good += !wait_one(a.cq, in + i * 500);
	is_int(good, num, "... and long messages");
	for (good = 0; good < num && !wait_one(b.cq, out);)
		good++;
	is_int(good, num, "... and tells their senders");
	close_pair();
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
}

/*
 * An operation waits for the peer, which dies. A probe notices that, although
 * operations use all requests.
 */
static void test_no_requests_dies(void)
{
	struct iovec iov = { out, 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .context = out,
	};

	setenv("FI_MXE_CONNECT_TIMEOUT", "60000", 1);
	open_pair(CAPS);
	m.addr = to_b;
	must(fi_sendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	/* When the next message is sent, the first has freed its request. */
	must(fi_send(a.ep, out, 8, NULL, to_b, in), "fi_send");
	must(-wait_one(a.cq, in), "the next message");
	use_all_requests();
	fake_device_set(refused_send, MXEFI_MSG_BYE);
	is_int(close_end(&b), 0, "... and its peer dies");
	fake_device_set(refused_send, -1);
	is_int(wait_one(a.cq, out), FI_ECONNABORTED,
	       "... so an operation that waits for it ends");
	is_int(close_end(&a), 0, "... and the endpoint is closed");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
}

/* A connection fails, and an endpoint is closed, while answers wait. */
static void test_no_requests_close(bool fails)
{
	int good = 0;

	setenv("FI_MXE_CONNECT_TIMEOUT", "60000", 1);
	open_pair(CAPS);
	use_all_requests();
	fake_device_set(reads_stop, true);
	for (int i = 0; i < 50; i++) {
		must(fi_recv(a.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in),
		     "fi_recv");
		delivery_complete(5000);
	}
	wait_reads(32);
	must(fi_recv(a.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	delivery_complete(8);
	is_int(wait_one(a.cq, in), 0, "... but receives a message");
	if (fails) {
		/* The peer breaks the connection. */
		is_int(close_end(&b), 0, "... the peer is closed");
		while (good < 50 && wait_one(a.cq, in) != FI_EAGAIN)
			good++;
		is_int(good, 50, "... and all receives end");
	}
	is_int(close_end(&a), 0, "... and is closed while answers wait");
	fake_device_set(reads_stop, false);
	if (!fails)
		is_int(close_end(&b), 0, "... and so is its peer");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
}

/* No more memory can be registered, as with RLIMIT_MEMLOCK. */
static void test_no_memory(void)
{
	struct fid_mr *mr;
	void *desc;

	open_pair(CAPS);
	must(fi_mr_reg(b.domain, in, LONG_SIZE, FI_RECV, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	desc = fi_mr_desc(mr);
	must(fi_send(a.ep, out, LONG_SIZE, NULL, to_b, out), "fi_send");
	fake_device_set(max_mrs, fake_device.num_mrs);
	must(fi_recv(b.ep, in, LONG_SIZE, desc, FI_ADDR_UNSPEC, in), "fi_recv");
	is_int(wait_one(b.cq, in), 0,
	       "without memory for requests, a long message is received");
	is_int(wait_one(a.cq, out), 0, "... and its send completes");
	/* The region of the message was freed. */
	fake_device_set(max_mrs, fake_device.num_mrs);
	is_int((int)fi_send(b.ep, out, 8, NULL, to_a, out), -FI_ENOMEM,
	       "... but none can be sent");
	fake_device_set(max_mrs, 0);
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
}

/*
 * Sends numbered messages to b until it takes no more for a second. Returns
 * their number, and the number of those that have completed.
 */
static uint32_t flood(uint32_t *completed)
{
	struct fi_cq_tagged_entry entries[64];
	uint32_t sent = 0, done = 0;
	ssize_t n;

	do {
		do
			memcpy(out, &sent, sizeof(sent));
		while (sent < MAX_FLOOD && !fi_send(a.ep, out, FLOOD_SIZE, NULL,
						    to_b, out) && ++sent);
		n = fi_cq_sread(a.cq, entries, 64, NULL, 1000);
		done += n > 0 ? (uint32_t)n : 0;
	} while (n > 0);
	*completed = done;
	return sent;
}

/* Messages that nobody receives stop only the messages in their direction. */
static void test_flood(void)
{
	uint32_t sent, done, good = 0, number;
	static uint8_t back[LONG_SIZE];

	open_pair(CAPS);
	sent = flood(&done);
	ok(done * FLOOD_SIZE > 60 << 20 && done * FLOOD_SIZE < 80 << 20,
	   "about 64 MiB of messages arrive without a receive (%u)", done);
	is_int((int)(sent - done), MXEFI_TX_SIZE, "... and no more");
	must(fi_trecv(a.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, 1, 0, in),
	     "fi_trecv");
	must(fi_tsend(b.ep, back, LONG_SIZE, NULL, to_a, 1, back), "fi_tsend");
	is_int(wait_one(a.cq, in), 0, "a long message the other way is received");
	is_int(wait_one(b.cq, back), 0, "... and its send completes");
	for (uint32_t i = 0; i < sent; i++) {
		must(fi_recv(b.ep, in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in),
		     "fi_recv");
		if (wait_one(b.cq, in))
			break;
		memcpy(&number, in, sizeof(number));
		good += number == i;
		/* Most of the messages are still kept. */
		while (i == 2000 && done < sent && !wait_one(a.cq, out))
			done++;
	}
	is_int((int)done, (int)sent, "the sends that wait complete soon");
	is_int((int)good, (int)sent, "... and all are received in order");
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "another message arrives");
	is_int(wait_one(a.cq, out), 0, "... and completes");
	close_pair();
}

/* The peer whose messages have stopped us dies, and does not say so. */
static void test_flood_dies(void)
{
	uint32_t sent, done, failed = 0;

	open_pair(CAPS);
	sent = flood(&done);
	fake_device_set(refused_send, MXEFI_MSG_BYE);
	is_int(close_end(&b), 0, "a peer that takes no more messages dies");
	fake_device_set(refused_send, -1);
	while (failed < sent - done && wait_one(a.cq, out) == FI_ECONNABORTED)
		failed++;
	is_int((int)failed, (int)(sent - done), "... and the sends fail");
	is_int(close_end(&a), 0, "... and the endpoint is closed");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

/*
 * Messages that the peer does not take. As many are posted as fit in the send
 * queue, which becomes deeper if the device can, and the others wait.
 */
static void test_depth(bool resizes, bool fails, int depth)
{
	static uint64_t numbers[200];
	int before, n = ARRAY_SIZE(numbers), good = 0;
	uint64_t number;

	fake_device.resizes_qps = resizes;
	fake_device.resize_fails = fails;
	open_pair(CAPS);
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	is_int(wait_one(b.cq, in), 0, "a peer is connected");
	is_int(wait_one(a.cq, out), 0, "... and the send completes");
	before = (int)fake_device_get(num_sends[MXEFI_MSG_EAGER]);
	fake_device_set(stopped_send, MXEFI_MSG_EAGER);
	for (int i = 0; i < n; i++) {
		numbers[i] = (uint64_t)i;
		must(fi_send(a.ep, &numbers[i], 8, NULL, to_b, &numbers[i]),
		     "fi_send");
	}
	is_int((int)fake_device_get(num_sends[MXEFI_MSG_EAGER]) - before, depth,
	       "... %d of %d messages are in the send queue", depth, n);
	fake_device_set(stopped_send, -1);
	for (int i = 0; i < n; i++) {
		must(fi_recv(b.ep, &number, 8, NULL, FI_ADDR_UNSPEC, &number),
		     "fi_recv");
		if (wait_one(b.cq, &number) || wait_one(a.cq, &numbers[i]))
			break;
		good += number == (uint64_t)i;
	}
	is_int(good, n, "... and all arrive in their order");
	close_pair();
	fake_device.resizes_qps = false;
	fake_device.resize_fails = false;
}

/* A write of several segments with remote CQ data is one event. */
static void test_vector_write(bool dc)
{
	const uint64_t flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
	struct iovec iov[] = { { out, 100 }, { out + 100, 5000 } };
	struct fi_rma_iov rma[] = { { .len = 300 }, { .len = 4800 } };
	struct fi_msg_rma m = {
		.msg_iov = iov, .iov_count = 2, .rma_iov = rma,
		.rma_iov_count = 2, .data = 0x1234, .context = out,
	};
	struct fi_cq_tagged_entry e = { 0 };
	struct fid_mr *mr;

	fake_device_use_dc(dc);
	open_pair(dc ? FI_RMA : CAPS);
	must(fi_mr_reg(b.domain, in, LONG_SIZE, FI_REMOTE_WRITE, 0, 0, 0, &mr,
		       NULL), "fi_mr_reg");
	for (int i = 0; i < 2; i++) {
		rma[i].addr = (uintptr_t)in + (uintptr_t)i * 1000;
		rma[i].key = fi_mr_key(mr);
	}
	m.addr = to_b;
	memset(out, 0x77, 5100);
	must(fi_writemsg(a.ep, &m, FI_REMOTE_CQ_DATA), "fi_writemsg");
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1,
	       "a write of two segments with CQ data, DC: %d", dc);
	ok(e.flags == flags && e.data == 0x1234, "... has the data");
	is_u64(e.len, 5100, "... and the length of both");
	ok(!memcmp(in, out, 300) && !memcmp(in + 1000, out, 4800),
	   "... and both have arrived");
	is_int(wait_one(a.cq, out), 0, "... and it completes");
	m.iov_count = 1;
	m.rma_iov_count = 1;
	iov[0].iov_len = 300;
	must(fi_writemsg(a.ep, &m, FI_REMOTE_CQ_DATA), "fi_writemsg");
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1,
	       "... and one of one segment");
	ok(e.flags == flags && e.len == 300, "... with its length");
	is_int(wait_one(a.cq, out), 0, "... completes");
	is_int((int)fi_cq_read(b.cq, &e, 1), -FI_EAGAIN, "... as one event");
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
	fake_device_use_dc(false);
}

/* A program that does not say how long entries are reads the shortest ones. */
static void test_cq_format(void)
{
	struct fi_cq_attr attr = { 0 };
	struct { struct fi_cq_entry entry; uint64_t guard; } e = { .guard = 7 };
	struct fid_cq *cq;
	struct fid_ep *ep;

	open_end(&a, CAPS);
	must(fi_cq_open(a.domain, &attr, &cq, NULL), "fi_cq_open");
	ep = open_ep(&a, cq);
	must(fi_recv(ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(ep, out, 8, NULL, insert(&a, ep), in), "fi_send");
	for (int i = 0; i < 2; i++)
		is_int((int)fi_cq_sread(cq, &e, 1, NULL, TIMEOUT_MS), 1,
		       "a queue without a format has an entry");
	ok(e.entry.op_context == in && e.guard == 7, "... with a context alone");
	must(fi_close(&ep->fid), "fi_close ep");
	must(fi_close(&cq->fid), "fi_close cq");
	is_int(close_end(&a), 0, "... and the endpoint is closed");
}

/* What no device has is refused before any device is opened. */
static void test_info(void)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	unsigned int before = fake_device_get(num_opens);

	hints->caps = FI_MSG | FI_MULTICAST;
	is_int(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
	       -FI_ENODATA, "no entry has multicast");
	is_int(fake_device_get(num_opens), before, "... and no device is opened");
	fi_freeinfo(hints);
}

/* Addresses have the provider's own format. */
static void test_addr_format(void)
{
	static const uint32_t others[] = {
		FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_SOCKADDR_IB,
		FI_ADDR_STR,
	};
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		hints->addr_format = others[i];
		is_int(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints,
				  &info),
		       -FI_ENODATA, "no entry has address format %u", others[i]);
	}
	hints->addr_format = FI_FORMAT_UNSPEC;
	must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
	     "fi_getinfo");
	hints->addr_format = info->addr_format;
	fi_freeinfo(info);
	must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
	     "fi_getinfo with the format of an entry");
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/*
 * A target that holds up the other peers of an initiator answers when its
 * requests are about to be aborted. Those of the next peer are executed once.
 */
static void test_late_answer(enum ibv_qp_state state)
{
	static uint64_t word, one = 1;
	struct mxefi_addr name;
	size_t len = sizeof(name);
	struct fid_mr *mr_b, *mr_c;
	struct end c;
	fi_addr_t to_c;
	int good = 0;

	fake_device_use_dc(true);
	setenv("FI_MXE_DC_INITIATORS", "1", 1);
	setenv("FI_MXE_CONNECT_TIMEOUT", "300", 1);
	open_pair(FI_RMA | FI_ATOMIC);
	open_end(&c, FI_RMA | FI_ATOMIC);
	to_c = insert(&a, c.ep);
	must(fi_mr_reg(b.domain, in, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr_b, NULL),
	     "fi_mr_reg");
	must(fi_mr_reg(c.domain, &word, 8, FI_REMOTE_WRITE, 0, 0, 0, &mr_c,
		       NULL), "fi_mr_reg");
	/* Resolves the address of the host. */
	must(fi_atomic(a.ep, &one, 1, NULL, to_c, (uintptr_t)&word,
		       fi_mr_key(mr_c), FI_UINT64, FI_SUM, &one), "fi_atomic");
	must(-wait_one(a.cq, &one), "the first atomic");
	word = 0;
	must(fi_getname(&b.ep->fid, &name, &len), "fi_getname");
	fake_device_set(dct_answers_at, state);
	fake_device_set(stopped_dct, name.dct & MXEFI_DCT_NUMBER);
	must(fi_write(a.ep, out, 8, NULL, to_b, (uintptr_t)in,
		      fi_mr_key(mr_b), out), "fi_write");
	for (int i = 0; i < 3; i++)
		must(fi_atomic(a.ep, &one, 1, NULL, to_c, (uintptr_t)&word,
			       fi_mr_key(mr_c), FI_UINT64, FI_SUM, &one),
		     "fi_atomic");
	is_int(wait_one(a.cq, out), 0, "a target answers before state %d",
	       (int)state);
	for (int i = 0; i < 3; i++)
		good += !wait_one(a.cq, &one);
	is_int(good, 3, "... and the requests of the next peer complete");
	is_u64(word, 3, "... and are executed once");
	fake_device_set(stopped_dct, name.dct & MXEFI_DCT_NUMBER);
	fake_device_set(dct_answers_at, IBV_QPS_UNKNOWN);
	must(fi_write(a.ep, out, 8, NULL, to_b, (uintptr_t)in,
		      fi_mr_key(mr_b), out), "fi_write");
	must(fi_atomic(a.ep, &one, 1, NULL, to_c, (uintptr_t)&word,
		       fi_mr_key(mr_c), FI_UINT64, FI_SUM, &one), "fi_atomic");
	is_int(wait_one(a.cq, out), FI_ECONNABORTED, "one that does not, fails");
	is_int(wait_one(a.cq, &one), 0, "... and the next peer does not");
	is_u64(word, 4, "... and its request is executed once");
	fake_device_set(stopped_dct, 0);
	must(fi_close(&mr_b->fid), "fi_close mr");
	must(fi_close(&mr_c->fid), "fi_close mr");
	must(close_end(&c), "close_end");
	close_pair();
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	unsetenv("FI_MXE_DC_INITIATORS");
	fake_device_use_dc(false);
}

/* Lets the only connection to a peer take messages, or not. */
static void stop_messages(struct mxefi_ep *ep, const struct mxefi_addr *peer,
			  bool is_stopped)
{
	struct mxefi_conn *conn;

	pthread_mutex_lock(&ep->dom->lock);
	conn = mxefi_conn_find(ep, peer);
	conn->peer.is_stopped = is_stopped;
	mxefi_peer_flush(&conn->peer);
	pthread_mutex_unlock(&ep->dom->lock);
}

/*
 * An initiator is reset while a message and an answer to the same peer wait
 * behind a target that does not answer. The peer takes no messages then, but
 * still gets the answer: it may wait for that before it takes messages.
 */
static void test_answer_requeued(void)
{
	struct mxefi_addr name_b, name_c;
	size_t len = sizeof(name_b);
	static uint64_t word;
	struct end c;
	fi_addr_t to_c;

	fake_device_use_dc(true);
	setenv("FI_MXE_DC_INITIATORS", "1", 1);
	setenv("FI_MXE_CONNECT_TIMEOUT", "300", 1);
	open_pair(CAPS);
	open_end(&c, CAPS);
	to_c = insert(&a, c.ep);
	must(fi_recv(c.ep, &word, 8, NULL, FI_ADDR_UNSPEC, &word), "fi_recv");
	must(fi_send(a.ep, out, 8, NULL, to_c, out), "fi_send");
	must(-wait_one(c.cq, &word), "the receive");
	must(-wait_one(a.cq, out), "the send");
	must(fi_getname(&b.ep->fid, &name_b, &len), "fi_getname");
	must(fi_getname(&c.ep->fid, &name_c, &len), "fi_getname");
	fake_device_set(dct_answers_at, IBV_QPS_UNKNOWN);
	fake_device_set(stopped_dct, name_c.dct & MXEFI_DCT_NUMBER);
	must(fi_send(a.ep, out, 8, NULL, to_c, &word), "fi_send");
	must(fi_send(a.ep, out, 8, NULL, to_b, out), "fi_send");
	must(fi_recv(a.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	delivery_complete(8);
	is_int(wait_one(a.cq, in), 0, "a message arrives, whose answer waits");
	stop_messages(to_ep(a.ep), &name_b, true);
	is_int(wait_one(a.cq, &word), FI_ECONNABORTED,
	       "... until a request of the initiator is aborted");
	is_int(wait_one(b.cq, out), 0,
	       "... and then overtakes a message that has to wait");
	must(fi_recv(b.ep, &word, 8, NULL, FI_ADDR_UNSPEC, &word), "fi_recv");
	stop_messages(to_ep(a.ep), &name_b, false);
	is_int(wait_one(b.cq, &word), 0, "... which arrives later");
	is_int(wait_one(a.cq, out), 0, "... and completes");
	fake_device_set(stopped_dct, 0);
	must(close_end(&c), "close_end");
	close_pair();
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	unsetenv("FI_MXE_DC_INITIATORS");
	fake_device_use_dc(false);
}

/* Sends a message to b.  Returns the result of fi_cq_sreadfrom() there. */
static ssize_t send_from(struct end *from, fi_addr_t to, struct fi_cq_tagged_entry *e,
			 fi_addr_t *src)
{
	must(fi_recv(b.ep, in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_send(from->ep, out, 8, NULL, to, out), "fi_send");
	must(-wait_one(from->cq, out), "the send");
	return fi_cq_sreadfrom(b.cq, e, 1, src, NULL, TIMEOUT_MS);
}

/* A completion has the source address of its message. */
static void test_source(bool errors)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	uint8_t name[64], data[64];
	size_t len = sizeof(name);
	fi_addr_t src = 0, to_c, c_to_b;
	struct end c;
	ssize_t ret;

	open_pair(FI_MSG | FI_SOURCE | (errors ? FI_SOURCE_ERR : 0));
	open_end(&c, FI_MSG);
	c_to_b = insert(&c, b.ep);
	must(fi_getname(&c.ep->fid, name, &len), "fi_getname");
	is_int((int)send_from(&a, to_b, &e, &src), 1, "a message, errors: %d", errors);
	is_u64(src, to_a, "... has its source");
	ret = send_from(&c, c_to_b, &e, &src);
	if (errors) {
		is_int((int)ret, -FI_EAVAIL, "one of an unknown sender is an error");
		is_int((int)fi_cq_readerr(b.cq, &err, 0), 1, "... which is read");
		is_int(err.err, FI_EADDRNOTAVAIL, "... FI_EADDRNOTAVAIL");
		ok(err.op_context == in && err.len == 8, "... of the message");
		ok(err.err_data_size == len && !memcmp(err.err_data, name, len),
		   "... with the address in memory of the provider");
		ret = send_from(&c, c_to_b, &e, &src);
		is_int((int)ret, -FI_EAVAIL, "... and so is the next one");
		err.err_data = data;
		err.err_data_size = 10;
		data[10] = 0x5a;
		is_int((int)fi_cq_readerr(b.cq, &err, 0), 1, "... which is read");
		ok(err.err_data == data && err.err_data_size == 10 &&
		   !memcmp(data, name, 10) && data[10] == 0x5a,
		   "... with a part of the address in memory of the program");
	} else {
		is_int((int)ret, 1, "one of an unknown sender is none");
		is_u64(src, FI_ADDR_NOTAVAIL, "... but has no source");
	}
	to_c = insert(&b, c.ep);
	is_int((int)send_from(&c, c_to_b, &e, &src), 1, "... until it is inserted");
	is_u64(src, to_c, "... and has its source");
	must(fi_av_remove(b.av, &to_a, 1, 0), "fi_av_remove");
	is_int((int)send_from(&a, to_b, &e, &src), errors ? -FI_EAVAIL : 1,
	       "a sender that was removed is unknown");
	must(close_end(&c), "close_end");
	close_pair();
}

/* Starts a read or write of 8 bytes of in, with a fence. */
static ssize_t fenced_rma(bool is_read, void *local, const struct fid_mr *mr, size_t offset)
{
	struct iovec iov = { local, 8 };
	struct fi_rma_iov rma = { (uintptr_t)in + offset, 8, mr->key };
	struct fi_msg_rma m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_b, .rma_iov = &rma,
		.rma_iov_count = 1, .context = local,
	};

	return is_read ? fi_readmsg(a.ep, &m, FI_FENCE) :
			 fi_writemsg(a.ep, &m, FI_FENCE);
}

/* An operation with a fence, and those behind it, wait for those before it. */
static void test_fence(bool dc)
{
	struct fi_cq_tagged_entry e;
	uint64_t got[4] = { 0 };
	struct fid_mr *mr;
	int early = 0;

	fake_device_use_dc(dc);
	open_pair(dc ? FI_RMA : CAPS);
	must(fi_mr_reg(b.domain, in, LONG_SIZE, FI_REMOTE_WRITE | FI_REMOTE_READ,
		       0, 0, 0, &mr, NULL), "fi_mr_reg");
	fake_device_set(reads_stop, true);
	must(fi_read(a.ep, &got[0], 8, NULL, to_b, (uintptr_t)in, mr->key,
		     &got[0]), "fi_read");
	wait_reads(1);
	must(fi_read(a.ep, &got[1], 8, NULL, to_b, (uintptr_t)in, mr->key,
		     &got[1]), "fi_read");
	wait_reads(2);
	must(fenced_rma(true, &got[2], mr, 0), "fi_readmsg");
	must(fi_read(a.ep, &got[3], 8, NULL, to_b, (uintptr_t)in, mr->key,
		     &got[3]), "fi_read");
	for (int i = 0; i < 100; i++)
		early += fi_cq_read(a.cq, &e, 1) != -FI_EAGAIN;
	is_int(early, 0, "reads that are stopped do not complete");
	is_int((int)fake_device_get(num_stopped), 2,
	       "a read with a fence and the next one wait, DC: %d", dc);
	fake_device_set(reads_stop, false);
	for (int i = 0; i < 4; i++)
		is_int(wait_one(a.cq, &got[i]), 0, "... read %d completes", i);
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
	fake_device_use_dc(false);
}

/* A fence waits until an earlier message is received, and delays no answers. */
static void test_fence_messages(bool dies)
{
	struct iovec iov = { out, 8 };
	struct fi_msg m = {
		.msg_iov = &iov, .iov_count = 1, .context = out,
	};
	static uint64_t word = 7, got;
	struct fid_mr *mr;

	open_pair(CAPS);
	m.addr = to_b;
	must(fi_mr_reg(b.domain, in, 16, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	memset(in, 0, 16);
	must(fi_sendmsg(a.ep, &m, FI_DELIVERY_COMPLETE), "fi_sendmsg");
	must(fi_write(a.ep, &word, 8, NULL, to_b, (uintptr_t)in, mr->key, &word),
	     "fi_write");
	is_int(wait_one(a.cq, &word), 0, "a write overtakes a message");
	must(fenced_rma(false, &word, mr, 8), "fi_writemsg");
	/* Both ends of this message answer. */
	must(fi_recv(a.ep, in + 16, LONG_SIZE - 16, NULL, FI_ADDR_UNSPEC, in),
	     "fi_recv");
	must(fi_send(b.ep, out + 16, LONG_SIZE - 16, NULL, to_a, in), "fi_send");
	is_int(wait_one(a.cq, in), 0, "... one with a fence holds back no answers");
	is_int(wait_one(b.cq, in), 0, "... of either endpoint");
	is_u64(((uint64_t *)in)[1], 0, "... and waits");
	if (dies) {
		must(fi_close(&mr->fid), "fi_close mr");
		is_int(close_end(&b), 0, "... the peer is closed");
		is_int(wait_one(a.cq, &word), FI_ESHUTDOWN, "... and it fails");
		is_int(wait_one(a.cq, out), FI_ESHUTDOWN, "... with the message");
		is_int(close_end(&a), 0, "... and the endpoint is closed");
		return;
	}
	must(fi_recv(b.ep, &got, 8, NULL, FI_ADDR_UNSPEC, &got), "fi_recv");
	is_int(wait_one(b.cq, &got), 0, "... until the message is received");
	is_int(wait_one(a.cq, out), 0, "... and has completed");
	is_int(wait_one(a.cq, &word), 0, "... and completes");
	is_u64(((uint64_t *)in)[1], 7, "... with its data");
	must(fi_close(&mr->fid), "fi_close mr");
	close_pair();
}

/*
 * Operations in a random order, a device that stops at random, and maybe
 * connections that break, or a peer that dies.
 */
#define NUM_MODEL 400

enum fault { NO_FAULT, BREAKS, DEATH };
enum kind { WRITE, SUM, LOOP, READ, MESSAGE, DELIVERED, MORE, DEFERRED, KINDS };

struct model {
	uint64_t words[NUM_MODEL];	/* of the target; an operation sets its word */
	uint64_t local[NUM_MODEL];	/* number of the operation + 1 */
	uint64_t got;
	enum kind kind[NUM_MODEL];
	bool fence[NUM_MODEL], completed[NUM_MODEL], failed[NUM_MODEL];
	struct fi_deferred_work work[NUM_MODEL];
	struct fid_mr *mr;
	struct fid_cntr *cntr;
};

static struct model model;

static ssize_t start_rma(int i, uint64_t flags)
{
	struct iovec iov = { &model.local[i], 8 };
	struct fi_rma_iov rma = { (uintptr_t)&model.words[i], 8,
				  fi_mr_key(model.mr) };
	struct fi_msg_rma m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_b, .rma_iov = &rma,
		.rma_iov_count = 1, .context = &model.local[i],
	};
	struct fi_op_rma op = { .ep = a.ep, .flags = flags | FI_COMPLETION };

	switch (model.kind[i]) {
	case WRITE:
		return fi_writemsg(a.ep, &m, flags);
	case MORE:
		return fi_writemsg(a.ep, &m, flags | FI_MORE);
	case DEFERRED:
		op.msg = m;
		model.work[i] = (struct fi_deferred_work){
			.op_type = FI_OP_WRITE, .triggering_cntr = model.cntr,
			.op.rma = &op,
		};
		return fi_control(&a.domain->fid, FI_QUEUE_WORK, &model.work[i]);
	default:
		iov.iov_base = &model.got;
		return fi_readmsg(a.ep, &m, flags);
	}
}

static ssize_t start_sum(int i, uint64_t flags)
{
	struct fi_ioc ioc = { &model.local[i], 1 };
	struct fi_rma_ioc word = { (uintptr_t)&model.words[i], 1,
				   fi_mr_key(model.mr) };
	struct fi_msg_atomic m = {
		.msg_iov = &ioc, .iov_count = 1, .addr = to_b, .rma_iov = &word,
		.rma_iov_count = 1, .datatype = FI_UINT64,
		/* FI_MAX is a loop: a read and a compare-and-swap. */
		.op = model.kind[i] == LOOP ? FI_MAX : FI_SUM,
		.context = &model.local[i],
	};

	return fi_atomicmsg(a.ep, &m, flags);
}

/* Sends a message with its number as the tag, whose receive is posted. */
static ssize_t start_message(int i, uint64_t flags)
{
	struct iovec iov = { &model.local[i], 8 };
	struct fi_msg_tagged m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_b,
		.tag = (uint64_t)i, .context = &model.local[i],
	};

	if (model.kind[i] == DELIVERED)
		flags |= FI_DELIVERY_COMPLETE;
	return fi_tsendmsg(a.ep, &m, flags);
}

/* Starts an operation with its own word. */
static ssize_t start_model(int i)
{
	uint64_t flags = model.fence[i] ? FI_FENCE : 0;

	switch (model.kind[i]) {
	case SUM:
	case LOOP:
		return start_sum(i, flags);
	case MESSAGE:
	case DELIVERED:
		return start_message(i, flags);
	default:
		return start_rma(i, flags);
	}
}

/* Returns the number of completions. */
static int take_completions(int num)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t ret;
	long i;

	while ((ret = fi_cq_read(a.cq, &e, 1)) != -FI_EAGAIN) {
		if (ret == -FI_EAVAIL)
			must(fi_cq_readerr(a.cq, &err, 0), "fi_cq_readerr");
		i = (uint64_t *)(ret == 1 ? e.op_context : err.op_context) -
		    model.local;
		model.completed[i] = true;
		model.failed[i] = ret != 1;
		num++;
	}
	return num;
}

/*
 * Returns how many operations were executed although one before the last fence
 * had not completed. It reads the words before the completions.
 */
static int count_early(int num, int *completed)
{
	static bool executed[NUM_MODEL];
	int early = 0, pending = 0, fenced = 0;

	for (int i = 0; i < num; i++)
		executed[i] = __atomic_load_n(&model.words[i], __ATOMIC_ACQUIRE);
	*completed = take_completions(*completed);
	for (int i = 0; i < num; i++) {
		if (model.fence[i])
			fenced = pending;
		early += executed[i] && fenced;
		pending += !model.completed[i];
	}
	return early;
}

/*
 * Returns how many operations were not executed as their completion says. A
 * message that has only been sent may be received later, or not if the peer
 * dies.
 */
static int count_wrong(int num, bool received, int *failed)
{
	int wrong = 0;

	*failed = 0;
	for (int i = 0; i < num; i++) {
		uint64_t word = __atomic_load_n(&model.words[i], __ATOMIC_ACQUIRE);
		bool must_execute = !model.failed[i] && model.kind[i] != READ &&
				    (received || model.kind[i] != MESSAGE);

		*failed += model.failed[i];
		wrong += word ? word != (uint64_t)i + 1 : must_execute;
	}
	return wrong;
}

/* Breaks the connection of an endpoint, which has one peer. */
static void break_conn(struct mxefi_ep *ep)
{
	pthread_mutex_lock(&ep->dom->lock);
	if (ep->conns)
		mxefi_conn_abort(ep->conns, FI_ECONNABORTED);
	pthread_mutex_unlock(&ep->dom->lock);
}

/* The peer goes without a word. */
static void kill_b(void)
{
	fake_device_set(reads_stop, false);
	fake_device_set(atomics_stop, false);
	must(fi_close(&model.mr->fid), "fi_close mr");
	fake_device_set(refused_send, MXEFI_MSG_BYE);
	must(close_end(&b), "close_end");
	fake_device_set(refused_send, -1);
}

static void test_fence_model(uint64_t seed, bool dc, enum fault fault)
{
	bool is_one_sided = fault == NO_FAULT && seed % 4 < 2;
	int total = NUM_MODEL, num = 0, completed = 0, early = 0, failed, wrong;
	uint64_t end_ms;

	fake_device_use_dc(dc);
	setenv("FI_MXE_CONNECT_TIMEOUT", "1000", 1);
	memset(&model, 0, sizeof(model));
	open_pair(is_one_sided ? FI_RMA | FI_ATOMIC : CAPS);
	model.cntr = open_cntr(a.domain);
	must(fi_mr_reg(b.domain, &model, sizeof(model),
		       FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 0, 0, &model.mr,
		       NULL), "fi_mr_reg");
	for (int i = 0; i < NUM_MODEL && !is_one_sided; i++)
		must(fi_trecv(b.ep, &model.words[i], 8, NULL, FI_ADDR_UNSPEC,
			      (uint64_t)i, 0, NULL), "fi_trecv");
	end_ms = mxefi_now_ms() + TIMEOUT_MS;
	while (completed < total && mxefi_now_ms() < end_ms) {
		unsigned int r = (unsigned int)random_next(&seed);

		if (r % 7 == 0 || num == total) {
			fake_device_set(reads_stop, r & 64 && num < total);
			fake_device_set(atomics_stop, r & 128 && num < total);
		}
		if (fault == BREAKS && num < total && r % 61 == 0)
			break_conn(to_ep(r & 256 ? a.ep : b.ep));
		if (fault == DEATH && num == NUM_MODEL / 2 && total > num) {
			kill_b();
			total = num;
		}
		if (num < total) {
			model.local[num] = (uint64_t)num + 1;
			model.fence[num] = !(r & 0x300);
			model.kind[num] = (r >> 10) % (is_one_sided ? MESSAGE :
								      KINDS);
			if (!start_model(num))
				num++;
		}
		early += count_early(num, &completed);
	}
	is_int(completed, total, "random operations complete, DC: %d, fault: %d",
	       dc, (int)fault);
	is_int(early, 0, "... and fences wait for the earlier ones");
	do {
		sched_yield();
		wrong = count_wrong(num, fault != DEATH, &failed);
	} while (wrong && mxefi_now_ms() < end_ms);
	is_int(wrong, 0,
	       "... and all that succeed are executed, and none twice");
	ok(fault || !failed, "... and %d fail", failed);
	must(fi_close(&model.cntr->fid), "fi_close cntr");
	if (fault != DEATH) {
		must(fi_close(&model.mr->fid), "fi_close mr");
		close_pair();
	} else {
		is_int(close_end(&a), 0, "... and the endpoint is closed");
		is_int(fake_device.num_mrs, 0, "... without memory regions left");
	}
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	fake_device_use_dc(false);
}

/* Messages, over RC or over DC. */
static void test_transport(bool dc)
{
	fake_device_use_dc(dc);
	test_messages();
	test_fin_refused();
	test_close_fails();
	test_multi_recv(300);
	test_multi_recv(6000);
	test_probe();
	test_rights();
	test_no_requests();
	test_no_requests_dies();
	test_no_requests_close(false);
	test_no_requests_close(true);
	test_no_memory();
	test_flood();
	test_flood_dies();
	test_source(false);
	test_source(true);
	test_fence_messages(false);
	test_fence_messages(true);
	test_limit();
	test_removed();
	if (dc) {
		test_resolved();
		test_guest();
		test_remembered();
		test_not_forgotten();
		test_stale();
		test_no_initiators(false);
		test_no_initiators(true);
	}
	fake_device_use_dc(false);
}

int main(void)
{
	plan(0);
	test_info();
	test_addr_format();
	test_cq_format();
	test_after_shutdown();
	test_mr_modes();
	test_errors(FI_VERSION(1, 4));
	test_errors(FI_VERSION(1, 15));
	test_depth(false, false, MXEFI_SQ_SIZE);
	test_depth(true, false, MXEFI_SQ_SIZE);
	test_depth(true, true, MXEFI_SQ_MIN);
	test_elapsed();
	test_transport(false);
	test_transport(true);
	test_vector_write(false);
	test_vector_write(true);
	test_fence(false);
	test_fence(true);
	for (uint64_t seed = 1; seed <= 12; seed++)
		test_fence_model(seed, seed % 2, seed / 4 % 3);
	test_late_answer(IBV_QPS_SQD);
	test_late_answer(IBV_QPS_ERR);
	test_answer_requeued();
	test_removed_dc();
	return done_testing();
}
