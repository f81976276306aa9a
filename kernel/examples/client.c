// SPDX-License-Identifier: GPL-2.0
/*
 * The client, a thread that does the work of work.h on a connection. main.c
 * starts and stops clients. The thread calls work.c and the RDMA CM.
 *
 * Lifetime: only the thread creates, uses and destroys the objects of its
 * connection. The event handler of the RDMA CM, the callback of ib_exp and the
 * completion handlers only notify it. locks_clients_stop() frees struct client
 * after the thread has ended.
 */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_exp.h>
#include <rdma/rdma_cm.h>

#include "client.h"
#include "proto.h"
#include "work.h"

#define RESOLVE_TIMEOUT_MS	5000
#define OFFER_TIMEOUT		(20 * HZ)
#define ACK_TIMEOUT		15	/* 134 ms */
#define COUNTS_PER_ROUND	(4 * LOCKS_COUNT_DEPTH)

/* One entry is reserved for ib_drain_qp(). */
#define MAX_SEND_WR		(LOCKS_MAX_SEND_WR + 1)
#define MAX_RECV_WR		(1 + 1)

/* A lock that was held. */
struct client_grant {
	u64 grant;
	unsigned int lock;
};

enum client_step {
	STEP_NONE,
	STEP_ADDR,
	STEP_ROUTE,
	STEP_CONNECTED,
};

struct client {
	struct list_head entry;		/* clients.lock */
	unsigned int id;
	struct locks_client_job job;
	struct task_struct *task;	/* holds a reference */

	/* Written by the event handler, step after reply. */
	enum client_step step;
	struct locks_reply reply;

	/* Used by the thread. */
	struct rdma_cm_id *cm;
	struct ib_cq *cq;
	struct locks_op offer;		/* receipt of the server's message */
	struct locks_work work;

	/* Written by the thread, done and len last. Read by any context. */
	bool done;
	int result;
	bool native;
	unsigned int len;
	struct client_grant *history;
};

static struct {
	struct mutex lock;		/* also held while clients stop */
	struct list_head list;
	unsigned int next_id;
} clients = {
	.lock = __MUTEX_INITIALIZER(clients.lock),
	.list = LIST_HEAD_INIT(clients.list),
};

/* ---- events ------------------------------------------------------------ */

static void client_reached(struct client *c, enum client_step step)
{
	/* Pairs with client_wait(). */
	smp_store_release(&c->step, step);
	wake_up_all(&c->work.wait);
}

static int client_check_reply(struct client *c,
			      const struct rdma_conn_param *param)
{
	const struct locks_reply *reply = param->private_data;

	if (!reply || param->private_data_len < sizeof(*reply) ||
	    be32_to_cpu(reply->magic) != LOCKS_MAGIC ||
	    be16_to_cpu(reply->version) != LOCKS_VERSION ||
	    be16_to_cpu(reply->num_locks) < LOCKS_NUM ||
	    be16_to_cpu(reply->num_counters) < LOCKS_NUM_COUNTERS ||
	    !reply->owner)
		return -EPROTO;
	c->reply = *reply;
	return 0;
}

static int client_refused(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	const struct locks_refusal *refusal;
	u8 len;

	refusal = rdma_consumer_reject_data(cm, event, &len);
	if (!refusal || len < sizeof(*refusal) ||
	    be32_to_cpu(refusal->magic) != LOCKS_MAGIC)
		return -ECONNREFUSED;
	switch (be16_to_cpu(refusal->reason)) {
	case LOCKS_REFUSED_VERSION:
		return -EPROTO;
	case LOCKS_REFUSED_DEVICE:
		return -EOPNOTSUPP;
	default:
		return -ECONNREFUSED;
	}
}

/*
 * rdma_disconnect() moves the QP to the error state, so that outstanding
 * requests are flushed and the thread does not wait forever.
 *
 * Context: Workqueue of the RDMA CM, with the handler mutex of cm held.
 */
static int client_event(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	struct client *c = cm->context;
	int err;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		client_reached(c, STEP_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		client_reached(c, STEP_ROUTE);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		err = client_check_reply(c, &event->param.conn);
		if (err)
			locks_work_fail(&c->work, err);
		else
			client_reached(c, STEP_CONNECTED);
		break;
	case RDMA_CM_EVENT_REJECTED:
		locks_work_fail(&c->work, client_refused(cm, event));
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		locks_work_fail(&c->work, event->status < 0 ? event->status :
			    -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		locks_work_fail(&c->work, -ECONNRESET);
		rdma_disconnect(cm);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		locks_work_fail(&c->work, -ENODEV);
		rdma_disconnect(cm);
		break;
	default:
		break;
	}
	return 0;
}

/*
 * ib_exp calls this when the device is being removed. The removal waits for
 * ib_exp_qp_disable(), which the thread calls.
 */
static void client_removed(struct ib_exp_qp *eqp, void *context)
{
	struct client *c = context;

	locks_work_fail(&c->work, -ENODEV);
	rdma_disconnect(c->cm);
}

/* ---- the connection ---------------------------------------------------- */

/* Waits for an event, an error, or locks_clients_stop(). */
static int client_wait(struct client *c, enum client_step step)
{
	/* Pairs with client_reached(). The reply is visible. */
	wait_event_idle(c->work.wait, smp_load_acquire(&c->step) >= step ||
			READ_ONCE(c->work.error) || kthread_should_stop());
	if (kthread_should_stop())
		locks_work_fail(&c->work, -EINTR);
	return READ_ONCE(c->work.error);
}

static int client_post_recv(struct client *c)
{
	struct locks_work *w = &c->work;
	struct ib_sge sge = {
		.addr = locks_buf_dma(w, &w->buf->offer),
		.length = sizeof(w->buf->offer),
		.lkey = w->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &c->offer.cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	locks_op_init(&c->offer);
	return ib_post_recv(c->cm->qp, &wr, NULL);
}

static int client_create_buf(struct locks_work *w)
{
	w->buf = kzalloc(sizeof(*w->buf), GFP_KERNEL);
	if (!w->buf)
		return -ENOMEM;
	w->buf_dma = ib_dma_map_single(w->dev, w->buf, sizeof(*w->buf),
				       DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(w->dev, w->buf_dma)) {
		w->buf_dma = 0;
		return -ENOMEM;
	}
	return 0;
}

static int client_create_qp(struct client *c)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = c->cq,
		.recv_cq = c->cq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = MAX_SEND_WR,
			.max_recv_wr = MAX_RECV_WR,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ib_exp_qp *eqp;
	int err;

	err = rdma_create_qp(c->cm, c->work.pd, &init);
	if (err)
		return err;
	eqp = ib_exp_qp_enable(c->cm->qp, client_removed, c);
	if (IS_ERR(eqp))
		return PTR_ERR(eqp);
	c->work.eqp = eqp;
	c->native = eqp->native;
	return 0;
}

/* The device is not removed before rdma_destroy_id(). */
static int client_create_objects(struct client *c)
{
	struct locks_work *w = &c->work;
	int err;

	w->dev = c->cm->device;
	err = client_create_buf(w);
	if (err)
		return err;
	w->pd = ib_alloc_pd(w->dev, 0);
	if (IS_ERR(w->pd))
		return PTR_ERR(w->pd);
	c->cq = ib_alloc_cq_any(w->dev, c, MAX_SEND_WR + MAX_RECV_WR,
				IB_POLL_SOFTIRQ);
	if (IS_ERR(c->cq))
		return PTR_ERR(c->cq);
	err = client_create_qp(c);
	if (err)
		return err;
	return client_post_recv(c);
}

/* Undoes client_create_objects(), which may have failed halfway. */
static void client_destroy_objects(struct client *c)
{
	struct locks_work *w = &c->work;

	if (w->eqp)
		ib_exp_qp_disable(w->eqp);
	if (c->cm->qp) {
		ib_drain_qp(c->cm->qp);
		rdma_destroy_qp(c->cm);
	}
	if (!IS_ERR_OR_NULL(c->cq))
		ib_free_cq(c->cq);
	if (!IS_ERR_OR_NULL(w->pd))
		ib_dealloc_pd(w->pd);
	if (w->buf_dma)
		ib_dma_unmap_single(w->dev, w->buf_dma, sizeof(*w->buf),
				    DMA_BIDIRECTIONAL);
	kfree(w->buf);
}

/* Needs a timeout, because the server may have crashed. */
static int client_take_offer(struct client *c)
{
	struct locks_work *w = &c->work;
	int err;

	if (!wait_for_completion_timeout(&c->offer.done, OFFER_TIMEOUT))
		return -ETIMEDOUT;
	err = locks_op_result(&c->offer);
	if (err)
		return err;
	locks_buf_for_cpu(w);
	w->table = be64_to_cpu(w->buf->offer.addr);
	w->rkey = be32_to_cpu(w->buf->offer.rkey);
	w->owner = be16_to_cpu(c->reply.owner);
	return 0;
}

static int client_resolve(struct client *c)
{
	struct sockaddr *addr = (struct sockaddr *)&c->job.addr;
	int err;

	err = rdma_resolve_addr(c->cm, NULL, addr, RESOLVE_TIMEOUT_MS) ?:
	      client_wait(c, STEP_ADDR);
	if (err)
		return err;
	return rdma_resolve_route(c->cm, RESOLVE_TIMEOUT_MS) ?:
	       client_wait(c, STEP_ROUTE);
}

static int client_connect(struct client *c)
{
	struct locks_request request = {
		.magic = cpu_to_be32(LOCKS_MAGIC),
		.version = cpu_to_be16(LOCKS_VERSION),
	};
	struct rdma_conn_param param = {
		.private_data = &request,
		.private_data_len = sizeof(request),
		.initiator_depth = min_t(int, LOCKS_MAX_SEND_WR,
					 c->cm->device->attrs.max_qp_init_rd_atom),
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	int err;

	rdma_set_ack_timeout(c->cm, ACK_TIMEOUT);
	err = rdma_connect(c->cm, &param) ?: client_wait(c, STEP_CONNECTED);
	if (err)
		return err;
	/* Native masked atomics need a responder that executes them. */
	if (c->native && !(be16_to_cpu(c->reply.flags) & LOCKS_REPLY_MASKED))
		return -EOPNOTSUPP;
	return client_take_offer(c);
}

/* ---- the thread -------------------------------------------------------- */

static int client_round(struct client *c, unsigned int round)
{
	struct locks_work *w = &c->work;
	unsigned int lock = (round + w->owner) % LOCKS_NUM;
	u64 grant;
	int err;

	err = locks_work_lock(w, lock, &grant);
	if (err)
		return err == -EBUSY ? 0 : err;
	err = locks_work_guarded(w, lock, grant);
	if (err)
		return err;
	err = locks_work_unlock(w, lock, grant);
	if (err)
		return err;

	c->history[c->len].lock = lock;
	c->history[c->len].grant = grant;
	/* Pairs with locks_clients_show_history(). */
	smp_store_release(&c->len, c->len + 1);
	return 0;
}

static int client_run(struct client *c)
{
	unsigned int round;
	int err;

	for (round = 0; round < c->job.rounds; round++) {
		if (READ_ONCE(c->work.error) || kthread_should_stop())
			break;
		/*
		 * The number of additions per round is limited, because their
		 * completions post the next ones. Without a limit, softirqs
		 * could monopolise the CPU.
		 */
		locks_work_count_start(&c->work, COUNTS_PER_ROUND);
		err = client_round(c, round);
		if (err)
			locks_work_fail(&c->work, err);
		locks_work_count_finish(&c->work);
	}
	return READ_ONCE(c->work.error);
}

static int client_thread(void *arg)
{
	struct client *c = arg;

	c->result = client_resolve(c) ?: client_create_objects(c) ?:
		    client_connect(c) ?: client_run(c);
	rdma_disconnect(c->cm);
	client_destroy_objects(c);
	rdma_destroy_id(c->cm);
	/* Pairs with locks_clients_show(). */
	smp_store_release(&c->done, true);
	return 0;
}

static void client_free(struct client *c)
{
	kvfree(c->history);
	kfree(c);
}

static struct client *client_alloc(const struct locks_client_job *job)
{
	struct client *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	c->history = kvcalloc(job->rounds, sizeof(*c->history), GFP_KERNEL);
	if (!c->history) {
		kfree(c);
		return NULL;
	}
	c->job = *job;
	locks_work_init(&c->work);
	return c;
}

static int client_start(struct net *net, const struct locks_client_job *job)
{
	struct client *c = client_alloc(job);
	int err;

	lockdep_assert_held(&clients.lock);
	if (!c)
		return -ENOMEM;
	c->cm = rdma_create_id(net, client_event, c, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(c->cm)) {
		err = PTR_ERR(c->cm);
		goto free_client;
	}
	c->id = clients.next_id++;
	c->task = kthread_create(client_thread, c, "mlocks/%u", c->id);
	if (IS_ERR(c->task)) {
		err = PTR_ERR(c->task);
		goto destroy_id;
	}
	/* The thread may end before kthread_stop() is called. */
	get_task_struct(c->task);
	list_add_tail(&c->entry, &clients.list);
	wake_up_process(c->task);
	return 0;

destroy_id:
	rdma_destroy_id(c->cm);
free_client:
	client_free(c);
	return err;
}

/**
 * locks_clients_start() - Start clients.
 * @net: network namespace of the connections
 * @job: their job
 * @num: number of clients
 *
 * Context: Process context. May sleep.
 * Return: 0, or a negative errno, after which some clients may have started.
 */
int locks_clients_start(struct net *net, const struct locks_client_job *job,
			unsigned int num)
{
	int err = 0;

	mutex_lock(&clients.lock);
	while (num-- && !err)
		err = client_start(net, job);
	mutex_unlock(&clients.lock);
	return err;
}

/**
 * locks_clients_stop() - Stop all clients and free them.
 *
 * Context: Process context. Sleeps until all clients have stopped.
 */
void locks_clients_stop(void)
{
	struct client *c, *next;

	mutex_lock(&clients.lock);
	list_for_each_entry_safe(c, next, &clients.list, entry) {
		/* Fails only if the thread function has never run. */
		if (kthread_stop(c->task))
			rdma_destroy_id(c->cm);
		put_task_struct(c->task);
		list_del(&c->entry);
		client_free(c);
	}
	mutex_unlock(&clients.lock);
}

/* ---- debugfs ----------------------------------------------------------- */

/**
 * locks_clients_show() - Print one line for each client.
 * @m: output
 *
 * Context: Process context. May sleep.
 */
void locks_clients_show(struct seq_file *m)
{
	struct client *c;

	mutex_lock(&clients.lock);
	list_for_each_entry(c, &clients.list, entry) {
		const struct locks_work *w = &c->work;
		/* Pairs with client_thread(). The result is visible. */
		bool done = smp_load_acquire(&c->done);

		seq_printf(m, "client %u state %s mode %s owner %u taken %u",
			   c->id, done ? "done" : "running",
			   c->native ? "native" : "emulated", w->owner, c->len);
		seq_printf(m, " busy %llu given_up %llu counted %llu",
			   w->busy, w->given_up, w->counted);
		seq_printf(m, " exhausted %llu wrong %llu error %d\n",
			   w->exhausted, w->wrong, done ? c->result : 0);
	}
	mutex_unlock(&clients.lock);
}

/**
 * locks_clients_show_history() - Print "LOCK GRANT OWNER" for each time that a
 * client has held a lock.
 * @m: output
 *
 * Context: Process context. May sleep.
 */
void locks_clients_show_history(struct seq_file *m)
{
	unsigned int i, len;
	struct client *c;

	mutex_lock(&clients.lock);
	list_for_each_entry(c, &clients.list, entry) {
		/* Pairs with client_round(). The entries are visible. */
		len = smp_load_acquire(&c->len);
		for (i = 0; i < len; i++)
			seq_printf(m, "%u %llu %u\n", c->history[i].lock,
				   c->history[i].grant, c->work.owner);
	}
	mutex_unlock(&clients.lock);
}
