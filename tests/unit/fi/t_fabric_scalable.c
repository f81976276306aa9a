// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process: scalable endpoints,
 * whose contexts are called instead of the endpoint.
 */
#define TIMEOUT_MS 10000
#include <rdma/fi_trigger.h>
#include "fake_device.h"
#include "fi_end.h"
#include "sizes.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RMA_EVENT | \
	      FI_TRIGGER | FI_MULTI_RECV | FI_NAMED_RX_CTX)
#define NUM 3		/* contexts of each kind */
#define BITS 2		/* of an address */
#define LONG_SIZE 100000

/* A scalable endpoint with its contexts. */
struct side {
	struct end e;
	struct fid_av *av;
	struct fid_ep *sep, *tx[NUM], *rx[NUM];
	struct fid_cq *tx_cq[NUM], *rx_cq[NUM];
};

static struct side a, b;
static fi_addr_t to_b[NUM];
static uint64_t words[8], local[8];
static uint8_t in[LONG_SIZE], out[LONG_SIZE];

static struct fid_cq *open_cq(struct side *s)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED,
				   .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cq *cq;

	must(fi_cq_open(s->e.domain, &attr, &cq, NULL), "fi_cq_open");
	return cq;
}

static void open_side(struct side *s, uint64_t caps)
{
	struct fi_av_attr av = { .type = FI_AV_MAP, .rx_ctx_bits = BITS };

	open_end(&s->e, caps);
	s->e.info->ep_attr->tx_ctx_cnt = NUM;
	s->e.info->ep_attr->rx_ctx_cnt = NUM;
	must(fi_av_open(s->e.domain, &av, &s->av, NULL), "fi_av_open");
	must(fi_scalable_ep(s->e.domain, s->e.info, &s->sep, NULL),
	     "fi_scalable_ep");
	must(fi_scalable_ep_bind(s->sep, &s->av->fid, 0), "fi_scalable_ep_bind");
	for (int i = 0; i < NUM; i++) {
		s->tx_cq[i] = open_cq(s);
		s->rx_cq[i] = open_cq(s);
		must(fi_tx_context(s->sep, i, NULL, &s->tx[i], NULL),
		     "fi_tx_context");
		must(fi_rx_context(s->sep, i, NULL, &s->rx[i], NULL),
		     "fi_rx_context");
		must(fi_ep_bind(s->tx[i], &s->tx_cq[i]->fid, FI_TRANSMIT),
		     "fi_ep_bind tx");
		must(fi_ep_bind(s->rx[i], &s->rx_cq[i]->fid, FI_RECV),
		     "fi_ep_bind rx");
		must(fi_enable(s->tx[i]), "fi_enable tx");
		must(fi_enable(s->rx[i]), "fi_enable rx");
	}
	must(fi_enable(s->sep), "fi_enable");
}

static void close_side(struct side *s)
{
	is_int(fi_close(&s->sep->fid), -FI_EBUSY,
	       "an endpoint with contexts cannot be closed");
	for (int i = 0; i < NUM; i++) {
		is_int(fi_close(&s->tx[i]->fid), 0, "... a context is closed");
		is_int(fi_close(&s->rx[i]->fid), 0, "... and one that receives");
		must(fi_close(&s->tx_cq[i]->fid), "fi_close cq");
		must(fi_close(&s->rx_cq[i]->fid), "fi_close cq");
	}
	is_int(fi_close(&s->sep->fid), 0, "... and the endpoint");
	must(fi_close(&s->av->fid), "fi_close av");
	is_int(close_end(&s->e), 0, "... and what it has used");
}

static void open_both(uint64_t caps)
{
	uint8_t name[64];
	size_t len = sizeof(name);
	fi_addr_t addr;

	open_side(&a, caps);
	open_side(&b, caps);
	must(fi_getname(&b.sep->fid, name, &len), "fi_getname");
	must(fi_av_insert(a.av, name, 1, &addr, 0, NULL) - 1, "fi_av_insert");
	for (int i = 0; i < NUM; i++)
		to_b[i] = fi_rx_addr(addr, i, BITS);
	for (uint64_t i = 0; i < 8; i++)
		local[i] = 100 + i;
	memset(words, 0, sizeof(words));
	memset(in, 0, sizeof(in));
	for (int i = 0; i < LONG_SIZE; i++)
		out[i] = (uint8_t)(i * 5 + 3);
}

static void close_both(void)
{
	close_side(&a);
	close_side(&b);
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
}

static int no_events(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e;

	return fi_cq_read(cq, &e, 1) == -FI_EAGAIN;
}

static int are_silent(struct fid_cq **cqs)
{
	int silent = 1;

	for (int i = 0; i < NUM; i++)
		silent &= no_events(cqs[i]);
	return silent;
}

/* The address names the context that receives, any context may send. */
static void test_messages(void)
{
	for (int i = 0; i < NUM; i++)
		must(fi_recv(b.rx[i], &words[i], 8, NULL, FI_ADDR_UNSPEC,
			     &words[i]), "fi_recv");
	for (int i = 0; i < NUM; i++) {
		int to = (i + 1) % NUM;

		must(fi_send(a.tx[i], &local[i], 8, NULL, to_b[to], &local[i]),
		     "fi_send");
		is_int(wait_one(b.rx_cq[to], &words[to]), 0,
		       "context %d receives a message", to);
		is_u64(words[to], local[i], "... with its data");
		is_int(wait_one(a.tx_cq[i], &local[i]), 0,
		       "... and the sender reports it");
	}
	/* Messages that come first wait for their context. */
	must(fi_send(a.tx[0], out, LONG_SIZE, NULL, to_b[2], out), "fi_send");
	must(fi_tsend(a.tx[0], &local[5], 8, NULL, to_b[1], 7, &local[5]),
	     "fi_tsend");
	is_int(wait_one(a.tx_cq[0], &local[5]), 0, "messages arrive first");
	must(fi_trecv(b.rx[0], &words[5], 8, NULL, FI_ADDR_UNSPEC, 7, 0,
		      &words[5]), "fi_trecv");
	must(fi_recv(b.rx[1], &words[6], 8, NULL, FI_ADDR_UNSPEC, &words[6]),
	     "fi_recv");
	ok(are_silent(b.rx_cq), "... and other contexts do not get them");
	must(fi_trecv(b.rx[1], &words[5], 8, NULL, FI_ADDR_UNSPEC, 7, 0,
		      &words[4]), "fi_trecv");
	is_int(wait_one(b.rx_cq[1], &words[4]), 0, "... but their own");
	must(fi_recv(b.rx[2], in, LONG_SIZE, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	is_int(wait_one(b.rx_cq[2], in), 0, "... also a long one");
	ok(!memcmp(in, out, LONG_SIZE), "... with its data");
	is_int(wait_one(a.tx_cq[0], out), 0, "... and it is reported");
	is_int(fi_cancel(&b.rx[0]->fid, &words[6]), -FI_ENOENT,
	       "a context cancels only its own receives");
	is_int(fi_cancel(&b.rx[0]->fid, &words[5]), 0, "... this one");
	is_int(wait_one(b.rx_cq[0], &words[5]), FI_ECANCELED, "... says so");
	is_int(fi_cancel(&b.rx[1]->fid, &words[6]), 0, "... and that one");
	is_int(wait_one(b.rx_cq[1], &words[6]), FI_ECANCELED, "... too");
	/* A context that the peer does not have. */
	must(fi_send(a.tx[0], out, LONG_SIZE, NULL,
		     fi_rx_addr(to_b[0], NUM, BITS), out), "fi_send");
	is_int(wait_one(a.tx_cq[0], out), FI_EINVAL,
	       "a message for a context that does not exist fails");
	ok(are_silent(a.tx_cq) && are_silent(b.rx_cq), "... and nothing else");
}

static void post_data(struct fid_mr *mr, fi_addr_t to)
{
	must(fi_writedata(a.tx[0], &local[4], 8, NULL, 0x55, to,
			  (uintptr_t)&words[4], fi_mr_key(mr), &local[4]),
	     "fi_writedata");
}

static void write_data(struct fid_mr *mr)
{
	struct fi_cq_tagged_entry e = { 0 };

	post_data(mr, to_b[2]);
	is_int((int)fi_cq_sread(b.rx_cq[2], &e, 1, NULL, TIMEOUT_MS), 1,
	       "CQ data go to the context of the address");
	ok(e.data == 0x55 && e.len == 8, "... with the length");
	is_int(wait_one(a.tx_cq[0], &local[4]), 0, "... and are reported");
}

/* Without events of RMA, too. */
static void test_data(void)
{
	struct fid_mr *mr;

	open_both(CAPS & ~(uint64_t)FI_RMA_EVENT);
	must(fi_mr_reg(b.e.domain, words, sizeof(words), FI_REMOTE_WRITE, 0, 0,
		       0, &mr, NULL), "fi_mr_reg");
	/* A context that the peer does not have. */
	post_data(mr, fi_rx_addr(to_b[0], NUM, BITS));
	is_int(wait_one(a.tx_cq[0], &local[4]), 0,
	       "a write with CQ data for a context that does not exist completes");
	is_u64(words[4], local[4], "... and is executed");
	write_data(mr);
	ok(are_silent(b.rx_cq), "... but its data are dropped");
	must(fi_close(&mr->fid), "fi_close mr");
	/* A receive ends with its context. */
	must(fi_recv(b.rx[0], in, 8, NULL, FI_ADDR_UNSPEC, in), "fi_recv");
	must(fi_close(&b.rx[0]->fid), "fi_close rx");
	must(fi_rx_context(b.sep, 0, NULL, &b.rx[0], NULL), "fi_rx_context");
	is_int(fi_cancel(&b.rx[0]->fid, in), -FI_ENOENT,
	       "a receive ends with its context");
	close_both();
}

/* Closes a counter as soon as nothing refers to it. Returns 0 or an error. */
static int close_cntr_soon(struct fid_cntr *cntr)
{
	int ret = -FI_EBUSY;

	for (int i = 0; i < 1000 && ret; i++) {
		no_events(a.tx_cq[0]);
		usleep(1000);
		ret = fi_close(&cntr->fid);
	}
	return ret;
}

static void test_rma(void)
{
	struct fid_cntr *writes, *own;
	uint64_t one = 1, old;
	struct fid_mr *mr;

	writes = open_cntr(b.e.domain);
	own = open_cntr(a.e.domain);
	must(fi_ep_bind(b.rx[2], &writes->fid, FI_REMOTE_WRITE), "fi_ep_bind");
	must(fi_ep_bind(a.tx[1], &own->fid, FI_WRITE), "fi_ep_bind");
	must(fi_mr_reg(b.e.domain, words, sizeof(words),
		       FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 0, 0, &mr, NULL),
	     "fi_mr_reg");
	must(fi_write(a.tx[1], &local[3], 8, NULL, to_b[0], (uintptr_t)&words[3],
		      fi_mr_key(mr), &local[3]), "fi_write");
	is_int(wait_one(a.tx_cq[1], &local[3]), 0, "a context writes");
	ok(words[3] == local[3] && fi_cntr_read(own) == 1,
	   "... and counts for itself");
	write_data(mr);
	is_u64(fi_cntr_read(writes), 1, "... and it counts the write");
	must(fi_fetch_atomic(a.tx[2], &one, 1, NULL, &old, NULL, to_b[1],
			     (uintptr_t)&words[4], fi_mr_key(mr), FI_UINT64,
			     FI_SUM, &old), "fi_fetch_atomic");
	is_int(wait_one(a.tx_cq[2], &old), 0, "a context has atomics");
	ok(old == local[4] && words[4] == old + 1, "... which are executed");
	ok(are_silent(a.tx_cq) && are_silent(b.rx_cq), "... and nothing else");
	is_int(fi_close(&own->fid), -FI_EBUSY,
	       "a counter of a context is in use");
	is_int(fi_close(&writes->fid), -FI_EBUSY, "... of either kind");
	fake_device_set(atomics_stop, true);
	must(fi_atomic(a.tx[1], &one, 1, NULL, to_b[1], (uintptr_t)&words[4],
		       fi_mr_key(mr), FI_UINT64, FI_SUM, &one), "fi_atomic");
	/* They are free when the context is closed. It can be opened again. */
	must(fi_close(&a.tx[1]->fid), "fi_close tx");
	must(fi_close(&b.rx[2]->fid), "fi_close rx");
	is_int(fi_close(&writes->fid), 0, "... until that is closed");
	is_int(fi_close(&own->fid), -FI_EBUSY, "... and its operations have ended");
	fake_device_set(atomics_stop, false);
	is_int(close_cntr_soon(own), 0, "... as they do");
	must(fi_close(&mr->fid), "fi_close mr");
	must(fi_tx_context(a.sep, 1, NULL, &a.tx[1], NULL), "fi_tx_context");
	must(fi_rx_context(b.sep, 2, NULL, &b.rx[2], NULL), "fi_rx_context");
}

/* Work is kept for the context, also when an alias of it is closed. */
static void test_triggers(void)
{
	struct fid_cntr *cntr = open_cntr(a.e.domain);
	struct fi_triggered_context c = {
		.event_type = FI_TRIGGER_THRESHOLD,
		.trigger.threshold = { .cntr = cntr, .threshold = 1 },
	};
	struct fid_ep *alias;

	must(fi_ep_alias(a.tx[2], &alias, FI_TRANSMIT | FI_TRIGGER),
	     "fi_ep_alias");
	must(fi_recv(b.rx[1], &words[7], 8, NULL, FI_ADDR_UNSPEC, &words[7]),
	     "fi_recv");
	must(fi_send(alias, &local[7], 8, NULL, to_b[1], &c), "fi_send");
	is_int(fi_close(&alias->fid), 0, "an alias of a context is closed");
	ok(are_silent(b.rx_cq), "... and its message waits");
	fi_cntr_set(cntr, 1);
	is_int(wait_one(b.rx_cq[1], &words[7]), 0, "... until it is triggered");
	is_int(wait_one(a.tx_cq[2], &c), 0, "... and is reported");
	must(fi_close(&cntr->fid), "fi_close cntr");
}

static void test_refused(void)
{
	struct fi_av_attr av = { .type = FI_AV_MAP, .rx_ctx_bits = 40 };
	struct fid_cq *cq = open_cq(&b);
	struct fid_ep *ep;
	struct fid_av *fid;

	is_int(fi_tx_context(a.sep, 0, NULL, &ep, NULL), -FI_EBUSY,
	       "a context that is open cannot be opened");
	is_int(fi_tx_context(a.sep, NUM, NULL, &ep, NULL), -FI_EINVAL,
	       "... nor one beyond the number");
	is_int(fi_rx_context(a.sep, -1, NULL, &ep, NULL), -FI_EINVAL,
	       "... or below");
	is_int(fi_rx_context(a.e.ep, 0, NULL, &ep, NULL), -FI_EINVAL,
	       "... nor one of an endpoint that is not scalable");
	is_int((int)fi_send(a.sep, out, 8, NULL, to_b[0], out), -FI_EOPNOTSUPP,
	       "the endpoint itself sends nothing");
	is_int((int)fi_recv(a.sep, out, 8, NULL, FI_ADDR_UNSPEC, out),
	       -FI_EOPNOTSUPP, "... and receives nothing");
	is_int((int)fi_send(a.rx[0], out, 8, NULL, to_b[0], out),
	       -FI_EOPNOTSUPP, "... nor does a receive context send");
	is_int((int)fi_write(a.rx[0], out, 8, NULL, to_b[0], 0, 0, out),
	       -FI_EOPNOTSUPP, "... or write");
	is_int((int)fi_atomic(a.rx[0], out, 1, NULL, to_b[0], 0, 0, FI_UINT64,
			      FI_SUM, out), -FI_EOPNOTSUPP, "... or add");
	is_int((int)fi_recv(a.tx[0], out, 8, NULL, FI_ADDR_UNSPEC, out),
	       -FI_EOPNOTSUPP, "... or a transmit context receive");
	is_int(fi_ep_bind(b.rx[2], &cq->fid, FI_TRANSMIT), -FI_EINVAL,
	       "a context has no completions of the other kind");
	is_int(fi_enable(b.rx[2]), -FI_ENOCQ,
	       "... and is not enabled without its own");
	must(fi_ep_bind(b.rx[2], &cq->fid, FI_RECV), "fi_ep_bind");
	is_int(fi_close(&cq->fid), -FI_EBUSY, "... which it then uses");
	must(fi_close(&b.rx[2]->fid), "fi_close rx");
	must(fi_close(&cq->fid), "fi_close cq");
	must(fi_rx_context(b.sep, 2, NULL, &b.rx[2], NULL), "fi_rx_context");
	is_int(fi_av_open(a.e.domain, &av, &fid, NULL), -FI_EINVAL,
	       "addresses have few bits for contexts");
	a.e.info->ep_attr->tx_ctx_cnt = MXEFI_MAX_CTX + 1;
	is_int(fi_scalable_ep(a.e.domain, a.e.info, &ep, NULL), -FI_EINVAL,
	       "an endpoint has few contexts");
}

static void test_info(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->fabric_attr->prov_name = strdup("mxe");
	hints->ep_attr->tx_ctx_cnt = 4;
	hints->ep_attr->rx_ctx_cnt = 2;
	must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
	     "fi_getinfo");
	ok(info->ep_attr->type == FI_EP_RDM && !info->next &&
	   info->ep_attr->tx_ctx_cnt == 4 && info->ep_attr->rx_ctx_cnt == 2,
	   "FI_EP_RDM alone has several contexts");
	is_u64(info->domain_attr->max_ep_tx_ctx, MXEFI_MAX_CTX,
	       "... and says how many");
	fi_freeinfo(info);
	hints->ep_attr->tx_ctx_cnt = MXEFI_MAX_CTX + 1;
	is_int(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
	       -FI_ENODATA, "... and not more");
	fi_freeinfo(hints);
}

int main(void)
{
	plan(0);
	for (int dc = 0; dc < 2; dc++) {
		fake_device_use_dc(dc);
		open_both(CAPS);
		test_messages();
		test_rma();
		test_triggers();
		test_refused();
		close_both();
		test_data();
		test_info();
	}
	return done_testing();
}
