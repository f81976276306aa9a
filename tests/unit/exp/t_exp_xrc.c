// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The XRC interface of OFED 1.3 (xrc.c) over a fake device, with the members
 * that verbs.h has in ibv-exp-env.
 */
#include <infiniband/verbs.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "std.h"
#include "tap.h"
#include "xrc.h"

#define QPN 0x123456
#define SRQN 0xabcdef

static struct {
	int err;		/* returned by the next call */
	int closed, srqs_destroyed, qps_destroyed;
	int acked;		/* by libibverbs */
	struct ibv_xrcd_init_attr xrcd_attr;
	struct ibv_srq_init_attr_ex srq_attr;
	struct ibv_qp_init_attr_ex qp_attr;
	struct ibv_qp_open_attr open_attr;
	enum ibv_qp_type created;
	struct ibv_qp *modified;
	void (*during)(void);	/* runs in the next modify or query of a QP */
	struct ibv_async_event event;
	struct ibv_async_event ack;
} fake;

static struct verbs_context vctx;
static struct ibv_pd pd = { .context = &vctx.context };
static struct ibv_xrcd xrcd = { .context = &vctx.context };

static int next_err(void)
{
	int err = fake.err;

	fake.err = 0;
	errno = err;
	return err;
}

static struct ibv_xrcd *f_open_xrcd(struct ibv_context *context,
				    struct ibv_xrcd_init_attr *attr)
{
	(void)context;
	fake.xrcd_attr = *attr;
	return next_err() ? NULL : &xrcd;
}

static int f_close_xrcd(struct ibv_xrcd *domain)
{
	fake.closed += domain == &xrcd;
	return 0;
}

static struct ibv_srq *f_create_srq_ex(struct ibv_context *context,
				       struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;

	if (next_err())
		return NULL;
	srq = calloc(1, sizeof(*srq));
	srq->context = context;
	pthread_mutex_init(&srq->mutex, NULL);
	fake.srq_attr = *attr;
	attr->attr.max_wr *= 2;
	return srq;
}

static int f_get_srq_num(struct ibv_srq *srq, uint32_t *num)
{
	(void)srq;
	*num = SRQN;
	return next_err();
}

static int f_destroy_srq(struct ibv_srq *srq)
{
	int err = next_err();

	if (err)
		return err;
	/* A provider waits for as many events as the kernel has reported. */
	is_int(srq->events_completed, 2, "destroy: all events are counted");
	fake.srqs_destroyed++;
	free(srq);
	return 0;
}

/* The additional members move no other. */
static_assert(sizeof(struct ibv_send_wr) == sizeof(struct ibv_std_send_wr) &&
	      offsetof(struct ibv_send_wr, xrc_remote_srq_num) ==
	      offsetof(struct ibv_std_send_wr, qp_type) &&
	      offsetof(struct ibv_send_wr, bind_mw) ==
	      offsetof(struct ibv_std_send_wr, bind_mw) &&
	      offsetof(struct ibv_send_wr, tso) ==
	      offsetof(struct ibv_std_send_wr, tso) &&
	      offsetof(struct ibv_send_wr, wr) ==
	      offsetof(struct ibv_std_send_wr, wr), "struct ibv_send_wr");
static_assert(offsetof(struct ibv_qp_init_attr, xrc_domain) ==
	      sizeof(struct ibv_std_qp_init_attr) &&
	      offsetof(struct ibv_qp_init_attr, sq_sig_all) ==
	      offsetof(struct ibv_std_qp_init_attr, sq_sig_all),
	      "struct ibv_qp_init_attr");
static_assert(sizeof(struct ibv_async_event) ==
	      sizeof(struct ibv_std_async_event) &&
	      offsetof(struct ibv_async_event, event_type) ==
	      offsetof(struct ibv_std_async_event, event_type),
	      "struct ibv_async_event");

static struct ibv_qp *new_qp(uint32_t num)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	qp->context = &vctx.context;
	qp->qp_num = num;
	return qp;
}

static struct ibv_qp *f_create_qp_ex(struct ibv_context *context,
				     struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	fake.qp_attr = *attr;
	return next_err() ? NULL : new_qp(QPN);
}

static struct ibv_qp *f_open_qp(struct ibv_context *context,
				struct ibv_qp_open_attr *attr)
{
	(void)context;
	fake.open_attr = *attr;
	return next_err() ? NULL : new_qp(attr->qp_num);
}

static int f_destroy_qp(struct ibv_qp *qp)
{
	int err = next_err();

	if (err)
		return err;
	fake.qps_destroyed++;
	free(qp);
	return 0;
}

static void in_call(void)
{
	void (*during)(void) = fake.during;

	fake.during = NULL;
	if (during)
		during();
}

static int f_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)mask;
	fake.modified = qp;
	in_call();
	attr->dest_qp_num = qp->qp_num;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	(void)mask;
	in_call();
	attr->dest_qp_num = qp->qp_num;
	init_attr->qp_type = IBV_QPT_XRC_RECV;
	return 0;
}

/* libibverbs's, for the SRQs of other types. */
struct ibv_srq *ibv_create_srq(struct ibv_pd *parent,
			       struct ibv_srq_init_attr *attr)
{
	(void)parent;
	(void)attr;
	return NULL;
}

static struct ibv_qp *f_create_qp(struct ibv_pd *parent,
				  struct ibv_qp_init_attr *attr)
{
	(void)parent;
	fake.created = attr->qp_type;
	attr->cap.max_send_wr = 64;
	return attr->srq && attr->qp_type == IBV_QPT_XRC_SEND ? NULL :
							       new_qp(QPN + 1);
}

static int f_get_async_event(struct ibv_context *context,
			     struct ibv_async_event *event)
{
	(void)context;
	*event = fake.event;
	return 0;
}

static void f_ack_async_event(struct ibv_async_event *event)
{
	fake.acked++;
	fake.ack = *event;
}

const struct exp_std *exp_std(void)
{
	static const struct exp_std std = {
		.ack_async_event = f_ack_async_event,
		.create_qp = f_create_qp,
		.destroy_qp = f_destroy_qp,
		.destroy_srq = f_destroy_srq,
		.get_async_event = f_get_async_event,
		.modify_qp = f_modify_qp,
	};

	return &std;
}

static void ack(struct ibv_async_event *event)
{
	exp_ack_async_event(event, exp_std()->ack_async_event);
}

static struct ibv_xrc_domain *open_domain(void)
{
	struct ibv_xrc_domain *domain;

	domain = ibv_open_xrc_domain(&vctx.context, -1, O_CREAT);
	if (!domain)
		bail_out("no domain");
	return domain;
}

static void test_domain(void)
{
	struct ibv_xrc_domain *domain = open_domain();

	ok(domain->context == &vctx.context, "domain: its context");
	ok(fake.xrcd_attr.fd == -1 && fake.xrcd_attr.oflags == O_CREAT &&
	   fake.xrcd_attr.comp_mask == (IBV_XRCD_INIT_ATTR_FD |
					IBV_XRCD_INIT_ATTR_OFLAGS),
	   "domain: the file and the flags arrive");
	is_int(ibv_close_xrc_domain(domain), 0, "domain: closed");
	is_int(fake.closed, 1, "domain: in libibverbs");
	fake.err = EOPNOTSUPP;
	ok(!ibv_open_xrc_domain(&vctx.context, -1, O_CREAT) && errno == ENOSYS,
	   "domain: a device without XRC");
}

static void test_srq(void)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = &fake,
		.attr = { .max_wr = 10, .max_sge = 2 },
	};
	struct ibv_async_event event = {
		.event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
	};
	struct ibv_xrc_domain *domain = open_domain();
	struct ibv_srq *srq, other = { .mutex = PTHREAD_MUTEX_INITIALIZER };
	struct ibv_cq cq;

	fake.err = EINVAL;
	ok(!ibv_create_xrc_srq(&pd, domain, &cq, &attr) && errno == EINVAL,
	   "srq: refused by the device");
	srq = ibv_create_xrc_srq(&pd, domain, &cq, &attr);
	if (!srq)
		bail_out("no SRQ");
	is_u64(srq->xrc_srq_num, SRQN, "srq: its number");
	is_int(attr.attr.max_wr, 20, "srq: its size");
	ok(fake.srq_attr.srq_type == IBV_SRQT_XRC && fake.srq_attr.cq == &cq &&
	   fake.srq_attr.xrcd == &xrcd && fake.srq_attr.pd == &pd &&
	   fake.srq_attr.srq_context == &fake, "srq: its attributes");

	event.element.srq = srq;
	ack(&event);
	ack(&event);
	is_u64(srq->xrc_srq_num, SRQN, "srq: its number after two events");
	is_int(fake.acked, 0, "srq: libibverbs has not counted them");
	event.element.srq = &other;
	ack(&event);
	is_int(fake.acked, 1, "srq: events of others are passed on");

	fake.err = EBUSY;
	is_int(exp_destroy_srq(srq, exp_std()->destroy_srq), EBUSY,
	       "srq: in use");
	is_u64(srq->xrc_srq_num, SRQN, "srq: its number then");
	is_int(exp_destroy_srq(srq, exp_std()->destroy_srq), 0,
	       "srq: destroyed");
	is_int(fake.srqs_destroyed, 1, "srq: by libibverbs");
}

static void test_rcv_qp(void)
{
	struct ibv_xrc_domain *domain = open_domain();
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_XRC };
	struct ibv_qp_attr mod = { };
	uint32_t num = 0;

	is_int(ibv_create_xrc_rcv_qp(&attr, &num), EINVAL, "qp: no domain");
	attr.xrc_domain = domain;
	fake.err = ENOMEM;
	is_int(ibv_create_xrc_rcv_qp(&attr, &num), ENOMEM,
	       "qp: refused by the device");
	is_int(ibv_create_xrc_rcv_qp(&attr, &num), 0, "qp: created");
	is_u64(num, QPN, "qp: its number");
	ok(fake.qp_attr.qp_type == IBV_QPT_XRC_RECV &&
	   fake.qp_attr.comp_mask == IBV_QP_INIT_ATTR_XRCD &&
	   fake.qp_attr.xrcd == &xrcd, "qp: its attributes");

	is_int(ibv_modify_xrc_rcv_qp(domain, num, &mod, IBV_QP_STATE), 0,
	       "qp: modified");
	is_u64(fake.modified->qp_num, num, "qp: in libibverbs");
	is_int(ibv_modify_xrc_rcv_qp(domain, num + 1, &mod, IBV_QP_STATE),
	       EINVAL, "qp: another number");
	memset(&attr, 0, sizeof(attr));
	is_int(ibv_query_xrc_rcv_qp(domain, num, &mod, IBV_QP_STATE, &attr), 0,
	       "qp: queried");
	ok(mod.dest_qp_num == num && attr.qp_type == IBV_QPT_XRC_RECV &&
	   attr.xrc_domain == domain, "qp: its state");
	is_int(ibv_query_xrc_rcv_qp(domain, 1, &mod, IBV_QP_STATE, &attr),
	       EINVAL, "qp: query of another number");

	is_int(ibv_reg_xrc_rcv_qp(domain, num), EEXIST,
	       "qp: registered by this process already");
	is_int(fake.qps_destroyed, 1, "qp: the second handle is closed");
	fake.err = EINVAL;
	is_int(ibv_reg_xrc_rcv_qp(domain, 99), EINVAL, "qp: no such QP");
	is_int(ibv_reg_xrc_rcv_qp(domain, 77), 0, "qp: that of another process");
	ok(fake.open_attr.qp_num == 77 && fake.open_attr.xrcd == &xrcd &&
	   fake.open_attr.qp_type == IBV_QPT_XRC_RECV, "qp: it is opened");

	fake.err = EBUSY;
	is_int(ibv_unreg_xrc_rcv_qp(domain, 77), EBUSY, "qp: in use");
	is_int(ibv_unreg_xrc_rcv_qp(domain, 77), 0, "qp: released");
	is_int(ibv_unreg_xrc_rcv_qp(domain, 77), EINVAL, "qp: only once");
	is_int(ibv_unreg_xrc_rcv_qp(domain, num), 0, "qp: the first one");
	is_int(fake.qps_destroyed, 3, "qp: destroyed by libibverbs");
}

/* ---- a QP that is released during a call for it -------------------------- */

static struct ibv_xrc_domain *domain_of_thread;
static uint32_t num_of_thread;
static pthread_t thread;

static void *unreg(void *arg)
{
	(void)arg;
	is_int(ibv_unreg_xrc_rcv_qp(domain_of_thread, num_of_thread), 0,
	       "... released by another thread");
	return NULL;
}

/* Runs while the first thread uses the QP. */
static void unreg_by_thread(void)
{
	int destroyed = fake.qps_destroyed, i;
	struct ibv_qp_attr attr = { };

	pthread_create(&thread, NULL, unreg, NULL);
	/* The QP does not exist for new calls, once it is being released. */
	while (ibv_modify_xrc_rcv_qp(domain_of_thread, num_of_thread, &attr,
				     0) != EINVAL)
		sched_yield();
	for (i = 0; i < 50 && fake.qps_destroyed == destroyed; i++)
		usleep(1000);
	is_int(fake.qps_destroyed, destroyed, "... but not destroyed");
}

static void test_unreg_during(const char *what, bool query)
{
	struct ibv_xrc_domain *domain = open_domain();
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	int destroyed = fake.qps_destroyed;
	struct ibv_qp_attr mod = { };
	uint32_t num;

	if (ibv_create_xrc_rcv_qp(&attr, &num))
		bail_out("no QP");
	domain_of_thread = domain;
	num_of_thread = num;
	fake.during = unreg_by_thread;
	is_int(query ? ibv_query_xrc_rcv_qp(domain, num, &mod, 0, &attr) :
		       ibv_modify_xrc_rcv_qp(domain, num, &mod, 0), 0,
	       "qp: %s during its release", what);
	is_u64(mod.dest_qp_num, num, "... of the QP");
	pthread_join(thread, NULL);
	is_int(fake.qps_destroyed, destroyed + 1, "... which is destroyed then");
}

static void test_events(void)
{
	struct ibv_xrc_domain *domain = open_domain();
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	struct ibv_async_event event;
	struct ibv_qp other = { .qp_num = QPN };
	struct ibv_qp *qp;
	uint32_t num;

	if (ibv_create_xrc_rcv_qp(&attr, &num))
		bail_out("no QP");
	ibv_modify_xrc_rcv_qp(domain, num, &(struct ibv_qp_attr){ }, 0);
	qp = fake.modified;
	fake.acked = 0;

	fake.event.event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
	fake.event.element.qp = qp;
	exp_get_async_event(&vctx.context, &event, f_get_async_event);
	ok((event.event_type & ~IBV_XRC_QP_EVENT_FLAG) ==
	   IBV_EVENT_QP_LAST_WQE_REACHED &&
	   (event.event_type & IBV_XRC_QP_EVENT_FLAG), "event: flagged");
	is_u64(event.element.xrc_qp_num, num, "event: the number of the QP");
	ack(&event);
	ok(fake.acked == 1 && fake.ack.element.qp == qp &&
	   fake.ack.event_type == IBV_EVENT_QP_LAST_WQE_REACHED,
	   "event: libibverbs counts it");
	ack(&event);
	is_int(fake.acked, 1, "event: only once");

	fake.event.element.qp = &other;
	exp_get_async_event(&vctx.context, &event, f_get_async_event);
	ok(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED &&
	   event.element.qp == &other, "event: that of another QP as it is");
	ack(&event);
	is_int(fake.acked, 2, "event: counted");
	fake.event.event_type = IBV_EVENT_PORT_ACTIVE;
	fake.event.element.port_num = 3;
	exp_get_async_event(&vctx.context, &event, f_get_async_event);
	is_int(event.element.port_num, 3, "event: that of a port as it is");
	ibv_unreg_xrc_rcv_qp(domain, num);
}

/* ibv_create_qp() with the type of OFED. */
static void test_sender(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_XRC, .srq = (void *)8,
		.cap = { .max_send_wr = 10 },
	};
	struct ibv_std_send_wr std;
	struct ibv_send_wr wr = { };
	struct ibv_qp *qp;

	qp = exp_create_qp(&pd, &attr, f_create_qp);
	ok(qp && fake.created == IBV_QPT_XRC_SEND, "sender: created");
	is_int(attr.cap.max_send_wr, 64, "sender: its size");
	is_int(attr.qp_type, IBV_QPT_XRC, "sender: the type remains");
	free(qp);
	attr.qp_type = IBV_QPT_RC;
	qp = exp_create_qp(&pd, &attr, f_create_qp);
	ok(qp && fake.created == IBV_QPT_RC, "another type is passed on");
	free(qp);

	wr.xrc_remote_srq_num = 0x77;
	memcpy(&std, &wr, sizeof(std));
	is_int(std.qp_type.xrc.remote_srqn, 0x77,
	       "sender: the receive queue of a request");
}

int main(void)
{
	plan(0);
	vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx.sz = sizeof(vctx);
	vctx.open_xrcd = f_open_xrcd;
	vctx.close_xrcd = f_close_xrcd;
	vctx.create_srq_ex = f_create_srq_ex;
	vctx.get_srq_num = f_get_srq_num;
	vctx.create_qp_ex = f_create_qp_ex;
	vctx.open_qp = f_open_qp;
	test_domain();
	test_srq();
	test_rcv_qp();
	test_unreg_during("modified", false);
	test_unreg_during("queried", true);
	test_events();
	test_sender();
	return done_testing();
}
