// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: endpoints of type FI_EP_MSG, which connect,
 * reject and shut down. This process has both endpoints, on the hosts of
 * tools/two-hosts: a connects, and b listens.
 *
 * t_fi.sh runs it.
 */
#include <assert.h>
#include "fi_end.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC)

static struct end a, b;
static struct fid_pep *pep;
static uint8_t pep_name[64];
static uint64_t word;		/* target of an atomic at b */

/* An event of a connection and its data. */
struct event {
	uint32_t type;
	union {
		struct fi_eq_cm_entry entry;
		char room[sizeof(struct fi_eq_cm_entry) + 300];
	};
};

/* Waits for an event. Returns 0 or its error. */
static int wait_event(struct end *e, struct event *event)
{
	struct fi_eq_err_entry err = { 0 };
	ssize_t ret;

	memset(event, 0, sizeof(*event));
	ret = fi_eq_sread(e->eq, &event->type, &event->entry,
			  sizeof(event->room), TIMEOUT_MS, 0);
	if (ret >= 0)
		return 0;
	if (ret != -FI_EAVAIL)
		return (int)-ret;
	must(fi_eq_readerr(e->eq, &err, 0), "fi_eq_readerr");
	event->entry.fid = err.fid;
	memcpy(event->entry.data, err.err_data, err.err_data_size);
	return err.err;
}

static struct fid_ep *start_connect(void)
{
	struct fid_ep *ep = open_ep_of(&a, a.cq, a.info);

	must(fi_connect(ep, pep_name, "please", 7), "fi_connect");
	return ep;
}

static void test_connect(struct fid_ep **ep_a, struct fid_ep **ep_b)
{
	uint8_t name[64], peer[64];
	size_t len = 64, peer_len = 64;
	struct event e;

	*ep_a = start_connect();
	is_int(wait_event(&b, &e), 0, "a request arrives");
	ok(e.type == FI_CONNREQ && e.entry.fid == &pep->fid && e.entry.info,
	   "... as FI_CONNREQ of the passive endpoint");
	is_str((char *)e.entry.data, "please", "... with its data");
	is_int((int)fi_send(*ep_a, &word, 8, NULL, 0, NULL), -FI_ENOTCONN,
	       "a send before the connection is refused");
	*ep_b = open_ep_of(&b, b.cq, e.entry.info);
	fi_freeinfo(e.entry.info);
	is_int(fi_accept(*ep_b, "welcome", 8), 0, "fi_accept()");
	is_int(wait_event(&a, &e), 0, "the active endpoint is connected");
	ok(e.type == FI_CONNECTED && e.entry.fid == &(*ep_a)->fid,
	   "... with FI_CONNECTED");
	is_str((char *)e.entry.data, "welcome", "... and the data of the accept");
	is_int(wait_event(&b, &e), 0, "the accepting endpoint is connected");
	ok(e.type == FI_CONNECTED && e.entry.fid == &(*ep_b)->fid,
	   "... with FI_CONNECTED");
	must(fi_getname(&(*ep_b)->fid, name, &len), "fi_getname");
	is_int(fi_getpeer(*ep_a, peer, &peer_len), 0, "fi_getpeer()");
	ok(len == peer_len && !memcmp(name, peer, len),
	   "... is the accepting endpoint");
}

static void test_transfers(struct fid_ep *ep_a, struct fid_ep *ep_b)
{
	static char out[50000] = "short", in[50000];
	uint64_t add = 5, old = 0;
	struct fid_mr *mr;

	for (size_t len = 6; len <= sizeof(out); len += sizeof(out) - 6) {
		memset(out + 6, (int)len, sizeof(out) - 6);
		must(fi_trecv(ep_b, in, sizeof(in), NULL, 0, 7, 0, in),
		     "fi_trecv");
		must(fi_tsend(ep_a, out, len, NULL, 0, 7, out), "fi_tsend");
		is_int(wait_one(b.cq, in), 0, "a message of %zu bytes", len);
		ok(!memcmp(in, out, len), "... arrives");
		is_int(wait_one(a.cq, out), 0, "... and its send completes");
	}
	must(fi_mr_reg(b.domain, &word, 8, FI_REMOTE_WRITE | FI_REMOTE_READ, 0,
		       0, 0, &mr, NULL), "fi_mr_reg");
	must(fi_fetch_atomic(ep_a, &add, 1, NULL, &old, NULL, 0,
			     (uintptr_t)&word, fi_mr_key(mr), FI_UINT64, FI_SUM,
			     &add), "fi_fetch_atomic");
	is_int(wait_one(a.cq, &add), 0, "an atomic completes");
	is_u64(word, 5, "... and has added");
	must(fi_close(&mr->fid), "fi_close mr");
}

static void test_shutdown(struct fid_ep *ep_a, struct fid_ep *ep_b, bool close)
{
	struct event e;
	char buf[8];

	must(fi_recv(ep_b, buf, 8, NULL, 0, buf), "fi_recv");
	must(fi_inject(ep_a, "last", 5, 0), "fi_inject");
	if (close)
		is_int(fi_close(&ep_a->fid), 0, "fi_close()");
	else
		is_int(fi_shutdown(ep_a, 0), 0, "fi_shutdown()");
	is_int(wait_one(b.cq, buf), 0, "... does not lose the last message");
	is_int(wait_event(&b, &e), 0, "... and the peer has an event");
	ok(e.type == FI_SHUTDOWN && e.entry.fid == &ep_b->fid,
	   "... FI_SHUTDOWN");
	is_int((int)fi_send(ep_b, buf, 8, NULL, 0, NULL), -FI_ENOTCONN,
	       "... and a send of the peer is refused");
	if (!close)
		is_int((int)fi_send(ep_a, buf, 8, NULL, 0, NULL), -FI_ENOTCONN,
		       "... and one here");
	if (close) {
		is_int((int)fi_eq_read(a.eq, &e.type, &e.entry,
				       sizeof(e.entry), 0), -FI_EAGAIN,
		       "... and there is no event of a closed endpoint");
	} else {
		is_int(wait_event(&a, &e), 0, "... and there is an event here");
		ok(e.type == FI_SHUTDOWN && e.entry.fid == &ep_a->fid,
		   "... FI_SHUTDOWN, too");
		must(fi_close(&ep_a->fid), "fi_close");
	}
	is_int(fi_close(&ep_b->fid), 0, "the endpoint of the peer is closed");
}

/* Each end gets one event, whichever was shut down first. */
static void test_shutdown_both(struct fid_ep *ep_a, struct fid_ep *ep_b)
{
	struct event e;

	is_int(fi_shutdown(ep_a, 0), 0, "fi_shutdown() of one end");
	is_int(fi_shutdown(ep_b, 0), 0, "... and of the other one");
	is_int(wait_event(&a, &e), 0, "one end has an event");
	is_int((int)e.type, FI_SHUTDOWN, "... FI_SHUTDOWN");
	is_int(wait_event(&b, &e), 0, "the other end has an event");
	is_int((int)e.type, FI_SHUTDOWN, "... FI_SHUTDOWN");
	is_int((int)fi_eq_read(a.eq, &e.type, &e.entry, sizeof(e.entry), 0),
	       -FI_EAGAIN, "... and none has a second one");
	must(fi_close(&ep_a->fid), "fi_close");
	must(fi_close(&ep_b->fid), "fi_close");
}

static void test_reject(void)
{
	struct fid_ep *ep = start_connect();
	struct event e;

	is_int(wait_event(&b, &e), 0, "another request arrives");
	is_int(fi_reject(pep, e.entry.info->handle, "no", 3), 0, "fi_reject()");
	fi_freeinfo(e.entry.info);
	is_int(wait_event(&a, &e), FI_ECONNREFUSED, "the request is refused");
	ok(e.entry.fid == &ep->fid, "... at its endpoint");
	is_str((char *)e.entry.data, "no", "... with the data of the rejection");
	is_int(fi_close(&ep->fid), 0, "fi_close()");
}

static void test_refused(void)
{
	static uint8_t data[300];
	struct fid_ep *ep = open_ep_of(&a, a.cq, a.info);
	size_t size = 0, len = sizeof(size);

	is_int(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size,
			 &len), 0, "FI_OPT_CM_DATA_SIZE");
	is_u64(size, 256, "... is 256");
	is_int(fi_connect(ep, pep_name, data, 257), -FI_EINVAL,
	       "more data are refused");
	is_int(fi_accept(ep, NULL, 0), -FI_EOPBADSTATE,
	       "fi_accept() without a request is refused");
	is_int(fi_shutdown(ep, 0), -FI_ENOTCONN,
	       "fi_shutdown() without a connection is refused");
	must(fi_close(&ep->fid), "fi_close");
}

/* Requests that are open when the passive endpoint is closed. */
static void test_closed(void)
{
	struct fid_ep *ep = start_connect(), *late;
	struct event e;

	must(wait_event(&b, &e), "fi_eq_sread");
	late = open_ep_of(&b, b.cq, e.entry.info);
	fi_freeinfo(e.entry.info);
	is_int(fi_close(&pep->fid), 0, "the passive endpoint is closed");
	is_int(wait_event(&a, &e), FI_EHOSTUNREACH,
	       "a request without an answer ends");
	ok(e.entry.fid == &ep->fid, "... at its endpoint");
	must(fi_close(&ep->fid), "fi_close");
	/* The peer is gone. */
	is_int(fi_accept(late, NULL, 0), 0, "a late fi_accept()");
	is_int(wait_event(&b, &e), FI_EHOSTUNREACH, "... ends, too");
	must(fi_close(&late->fid), "fi_close");
}

static void open_ends(void)
{
	size_t len = sizeof(pep_name);

	enter("h2");
	open_end_of(&b, FI_EP_MSG, CAPS);
	must(fi_passive_ep(b.fabric, b.info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &b.eq->fid, 0), "fi_pep_bind");
	is_int(fi_listen(pep), 0, "fi_listen()");
	must(fi_getname(&pep->fid, pep_name, &len), "fi_getname");
	enter("h1");
	open_end_of(&a, FI_EP_MSG, CAPS);
}

static void close_ends(void)
{
	is_int(close_end(&a), 0, "all objects of a host are closed");
	is_int(close_end(&b), 0, "... and of the other one");
}

int main(void)
{
	struct fid_ep *ep_a, *ep_b;

	plan(0);
	open_ends();
	test_connect(&ep_a, &ep_b);
	test_transfers(ep_a, ep_b);
	test_shutdown(ep_a, ep_b, false);
	test_connect(&ep_a, &ep_b);
	test_shutdown(ep_a, ep_b, true);
	test_connect(&ep_a, &ep_b);
	test_shutdown_both(ep_a, ep_b);
	test_reject();
	test_refused();
	must(fi_close(&pep->fid), "fi_close");
	close_ends();
	/* The others take longer than this on a busy host. */
	setenv("FI_MXE_CONNECT_TIMEOUT", "700", 1);
	open_ends();
	test_closed();
	close_ends();
	return done_testing();
}
