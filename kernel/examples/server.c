// SPDX-License-Identifier: GPL-2.0
/*
 * The server, which has a page of words and registers it for each connection.
 * main.c starts and stops it. It calls the RDMA CM.
 *
 * Lifetime: the handler of a CONNECT_REQUEST creates the connection and adds it
 * to the list. The release work removes and destroys it. This work is queued
 * once, by the first of the following: the peer disconnects, an error, the
 * removal of the device, locks_server_stop(). The RDMA CM does not complete the
 * removal of a device before the work has destroyed the identifier.
 *
 * Every connection has its own PD, so that the rkey of a client is invalid on
 * other connections and after its own connection has ended.
 */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/idr.h>
#include <linux/inet.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_exp.h>
#include <rdma/rdma_cm.h>

#include "proto.h"
#include "server.h"

#define BACKLOG		64

/*
 * Lock order: listen_lock, handler mutex of an identifier, lock.
 *
 * Event handlers run with the handler mutex of their identifier held, and take
 * lock. Therefore rdma_destroy_id(), which takes the handler mutex, must not be
 * called with lock held. It is called with listen_lock held, which no event
 * handler takes.
 */
static struct {
	struct mutex lock;		/* protects up to recovered */
	struct list_head conns;
	u64 accepted;
	u64 refused;
	u64 recovered;			/* locks recovered from lost clients */

	struct mutex listen_lock;	/* protects listener, start and stop */
	struct rdma_cm_id *listener;
	bool listener_lost;		/* its device is being removed */
	struct work_struct lost;

	wait_queue_head_t idle;		/* woken when conns becomes empty */
	struct workqueue_struct *wq;	/* of the release work */
	struct ida owners;
	struct locks_table *table;	/* a page */
} server;

struct conn {
	struct list_head entry;		/* server.lock */
	struct work_struct release;
	unsigned long flags;

	struct rdma_cm_id *id;
	const struct ib_device *dev;	/* only compared, may be stale */
	bool glob;			/* IB_ATOMIC_GLOB */
	u16 owner;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_mr *mr;
	struct scatterlist sg;		/* the table */
	bool mapped;

	struct ib_cqe reg_done;
	struct ib_cqe send_done;
	struct locks_offer *offer;
	u64 offer_dma;
};

enum conn_flags {
	CONN_RELEASED,
};

/* Any context. */
static void conn_release(struct conn *conn)
{
	if (!test_and_set_bit(CONN_RELEASED, &conn->flags))
		queue_work(server.wq, &conn->release);
}

/* ---- the table --------------------------------------------------------- */

/*
 * Releases a lock if owner holds it, or any client if owner is 0. Sets the
 * count to the guarded word, in case the holder had incremented that already.
 * Returns true if the lock was released.
 */
static bool table_recover(unsigned int i, u16 owner)
{
	u64 *word = &server.table->locks[i];
	u64 old = READ_ONCE(*word), new;

	if (!(old & LOCKS_OWNER_MASK) ||
	    (owner && (old & LOCKS_OWNER_MASK) != owner))
		return false;
	new = le64_to_cpu(READ_ONCE(server.table->guarded[i]));
	/*
	 * The owner is gone, and no other client changes a lock that is held.
	 */
	return cmpxchg64(word, old, new << LOCKS_GRANTS_SHIFT) == old;
}

/*
 * Releases the locks of a client that has disconnected. The CPU must not change
 * words that a device may access, unless the atomics of the device are also
 * atomic against CPUs (IB_ATOMIC_GLOB). With IB_ATOMIC_HCA the locks therefore
 * stay taken until the last client has disconnected.
 */
static void table_recover_all(const struct conn *conn)
{
	unsigned int i;

	lockdep_assert_held(&server.lock);
	if (!conn->glob && !list_empty(&server.conns))
		return;
	for (i = 0; i < LOCKS_NUM; i++)
		if (table_recover(i, conn->glob ? conn->owner : 0))
			server.recovered++;
}

/* ---- objects of a connection ------------------------------------------- */

static void conn_wr_done(struct ib_wc *wc, const char *what, struct conn *conn)
{
	if (wc->status == IB_WC_SUCCESS)
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		pr_warn_ratelimited("%s: %s: %s\n",
				    dev_name(&conn->id->device->dev), what,
				    ib_wc_status_msg(wc->status));
	conn_release(conn);
}

static void conn_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	conn_wr_done(wc, "registration",
		     container_of(wc->wr_cqe, struct conn, reg_done));
}

static void conn_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	conn_wr_done(wc, "send",
		     container_of(wc->wr_cqe, struct conn, send_done));
}

/* Undoes conn_map(), which may have failed halfway. */
static void conn_unmap(struct conn *conn)
{
	struct ib_device *dev = conn->id->device;

	if (!IS_ERR_OR_NULL(conn->mr))
		ib_dereg_mr(conn->mr);
	if (conn->mapped)
		ib_dma_unmap_sg(dev, &conn->sg, 1, DMA_BIDIRECTIONAL);
	if (conn->offer_dma)
		ib_dma_unmap_single(dev, conn->offer_dma, sizeof(*conn->offer),
				    DMA_TO_DEVICE);
	kfree(conn->offer);
}

/* Only maps the table. conn_offer() registers it once the QP can send. */
static int conn_map(struct conn *conn)
{
	struct ib_device *dev = conn->id->device;
	int n;

	sg_init_one(&conn->sg, server.table, PAGE_SIZE);
	if (ib_dma_map_sg(dev, &conn->sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -ENOMEM;
	conn->mapped = true;
	conn->mr = ib_alloc_mr(conn->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(conn->mr))
		return PTR_ERR(conn->mr);
	n = ib_map_mr_sg(conn->mr, &conn->sg, 1, NULL, PAGE_SIZE);
	if (n != 1)
		return n < 0 ? n : -EINVAL;
	ib_update_fast_reg_key(conn->mr, ib_inc_rkey(conn->mr->rkey));

	conn->offer = kzalloc(sizeof(*conn->offer), GFP_KERNEL);
	if (!conn->offer)
		return -ENOMEM;
	conn->offer->addr = cpu_to_be64(conn->mr->iova);
	conn->offer->rkey = cpu_to_be32(conn->mr->rkey);
	conn->offer_dma = ib_dma_map_single(dev, conn->offer,
					    sizeof(*conn->offer),
					    DMA_TO_DEVICE);
	if (ib_dma_mapping_error(dev, conn->offer_dma)) {
		conn->offer_dma = 0;
		return -ENOMEM;
	}
	return 0;
}

/* Undoes conn_create_objects(), which may have failed halfway. */
static void conn_destroy_objects(struct conn *conn)
{
	if (conn->id->qp) {
		ib_drain_qp(conn->id->qp);
		rdma_destroy_qp(conn->id);
	}
	conn_unmap(conn);
	if (!IS_ERR_OR_NULL(conn->cq))
		ib_free_cq(conn->cq);
	if (!IS_ERR_OR_NULL(conn->pd))
		ib_dealloc_pd(conn->pd);
}

static int conn_create_objects(struct conn *conn)
{
	struct ib_device *dev = conn->id->device;
	/* One registration, one message, and one entry for ib_drain_qp(). */
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = 3,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int err;

	conn->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(conn->pd))
		return PTR_ERR(conn->pd);
	conn->cq = ib_alloc_cq_any(dev, conn, init.cap.max_send_wr +
				   init.cap.max_recv_wr, IB_POLL_WORKQUEUE);
	if (IS_ERR(conn->cq))
		return PTR_ERR(conn->cq);
	init.send_cq = conn->cq;
	init.recv_cq = conn->cq;
	err = rdma_create_qp(conn->id, conn->pd, &init);
	if (err)
		return err;
	return conn_map(conn);
}

/*
 * Destroys a connection. After the QP is destroyed the client cannot access the
 * table, and after the identifier is destroyed no event handler runs.
 */
static void conn_release_work(struct work_struct *work)
{
	struct conn *conn = container_of(work, struct conn, release);

	rdma_disconnect(conn->id);
	conn_destroy_objects(conn);
	rdma_destroy_id(conn->id);

	mutex_lock(&server.lock);
	list_del(&conn->entry);
	table_recover_all(conn);
	ida_free(&server.owners, conn->owner);
	if (list_empty(&server.conns))
		wake_up_all(&server.idle);
	mutex_unlock(&server.lock);
	kfree(conn);
}

/* ---- creation and events of a connection ------------------------------- */

static struct conn *conn_alloc(struct rdma_cm_id *id)
{
	struct conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	int owner;

	if (!conn)
		return NULL;
	owner = ida_alloc_range(&server.owners, 1, U16_MAX, GFP_KERNEL);
	if (owner < 0) {
		kfree(conn);
		return NULL;
	}
	conn->owner = owner;
	conn->id = id;
	conn->dev = id->device;
	conn->glob = id->device->attrs.atomic_cap == IB_ATOMIC_GLOB;
	conn->reg_done.done = conn_reg_done;
	conn->send_done.done = conn_send_done;
	INIT_WORK(&conn->release, conn_release_work);
	return conn;
}

static void conn_free(struct conn *conn)
{
	ida_free(&server.owners, conn->owner);
	kfree(conn);
}

/*
 * Adds a connection to the list. Returns -EOPNOTSUPP if another connection uses
 * another device and not both are IB_ATOMIC_GLOB, because their atomics would
 * not be atomic against each other.
 */
static int conn_publish(struct conn *conn)
{
	struct conn *other;
	int err = 0;

	mutex_lock(&server.lock);
	list_for_each_entry(other, &server.conns, entry)
		if (other->dev != conn->dev && !(other->glob && conn->glob))
			err = -EOPNOTSUPP;
	if (!err) {
		list_add_tail(&conn->entry, &server.conns);
		server.accepted++;
	}
	mutex_unlock(&server.lock);
	return err;
}

/*
 * Returns true if the device executes masked atomics. If it does not, only
 * clients whose device emulates them can use the table.
 */
static bool executes_masked(struct ib_device *dev)
{
	struct ib_exp_device_attr attr;

	return !ib_exp_query_device(dev, &attr) &&
	       attr.masked_cmp_swap == IB_EXP_NATIVE &&
	       attr.masked_fetch_add == IB_EXP_NATIVE;
}

static int conn_accept(struct conn *conn, const struct rdma_conn_param *asked)
{
	const struct ib_device_attr *attrs = &conn->id->device->attrs;
	struct locks_reply reply = {
		.magic = cpu_to_be32(LOCKS_MAGIC),
		.version = cpu_to_be16(LOCKS_VERSION),
		.owner = cpu_to_be16(conn->owner),
		.num_locks = cpu_to_be16(LOCKS_NUM),
		.num_counters = cpu_to_be16(LOCKS_NUM_COUNTERS),
	};
	struct rdma_conn_param param = {
		.private_data = &reply,
		.private_data_len = sizeof(reply),
		.responder_resources = min_t(int, asked->responder_resources,
					     attrs->max_qp_rd_atom),
		.rnr_retry_count = 7,
	};

	if (executes_masked(conn->id->device))
		reply.flags = cpu_to_be16(LOCKS_REPLY_MASKED);
	return rdma_accept(conn->id, &param);
}

/*
 * Registers the table and sends its rkey. The two requests can be posted
 * together, because the registration is complete before the next request
 * starts.
 */
static void conn_offer(struct conn *conn)
{
	struct ib_sge sge = {
		.addr = conn->offer_dma,
		.length = sizeof(*conn->offer),
		.lkey = conn->pd->local_dma_lkey,
	};
	struct ib_send_wr send = {
		.wr_cqe = &conn->send_done,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_reg_wr reg = {
		.wr.next = &send,
		.wr.wr_cqe = &conn->reg_done,
		.wr.opcode = IB_WR_REG_MR,
		.mr = conn->mr,
		.key = conn->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC,
	};

	if (ib_post_send(conn->id->qp, &reg.wr, NULL))
		conn_release(conn);
}

/*
 * Handles the events of a connection after its CONNECT_REQUEST.
 *
 * Context: Workqueue of the RDMA CM, with the handler mutex of id held.
 */
static int conn_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		conn_offer(conn);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		conn_release(conn);
		break;
	default:
		break;
	}
	return 0;
}

/* ---- the listener ------------------------------------------------------ */

static bool is_request(const struct rdma_conn_param *param)
{
	const struct locks_request *request = param->private_data;

	return request && param->private_data_len >= sizeof(*request) &&
	       be32_to_cpu(request->magic) == LOCKS_MAGIC &&
	       be16_to_cpu(request->version) == LOCKS_VERSION;
}

/*
 * Returns the error for the event handler to return. The RDMA CM then destroys
 * the identifier.
 */
static int server_refuse(struct rdma_cm_id *id, enum locks_refusal_reason reason)
{
	struct locks_refusal refusal = {
		.magic = cpu_to_be32(LOCKS_MAGIC),
		.version = cpu_to_be16(LOCKS_VERSION),
		.reason = cpu_to_be16(reason),
	};

	mutex_lock(&server.lock);
	server.refused++;
	mutex_unlock(&server.lock);
	rdma_reject(id, &refusal, sizeof(refusal), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static int server_connect_request(struct rdma_cm_id *id,
				  const struct rdma_conn_param *param)
{
	struct conn *conn;

	if (!is_request(param))
		return server_refuse(id, LOCKS_REFUSED_VERSION);
	if (id->device->attrs.atomic_cap == IB_ATOMIC_NONE)
		return server_refuse(id, LOCKS_REFUSED_DEVICE);
	conn = conn_alloc(id);
	if (!conn)
		return server_refuse(id, LOCKS_REFUSED_RESOURCES);
	if (conn_create_objects(conn)) {
		conn_destroy_objects(conn);
		conn_free(conn);
		return server_refuse(id, LOCKS_REFUSED_RESOURCES);
	}
	if (conn_publish(conn)) {
		conn_destroy_objects(conn);
		conn_free(conn);
		return server_refuse(id, LOCKS_REFUSED_DEVICE);
	}

	/* From here on only the release work destroys conn and id. */
	id->context = conn;
	id->event_handler = conn_event;
	if (conn_accept(conn, param))
		conn_release(conn);
	return 0;
}

/* Handles the events of the listener and all CONNECT_REQUESTs. */
static int server_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return server_connect_request(id, &event->param.conn);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		WRITE_ONCE(server.listener_lost, true);
		schedule_work(&server.lost);
		return 0;
	default:
		return 0;
	}
}

/* No connection is added after this. */
static void server_destroy_listener(void)
{
	lockdep_assert_held(&server.listen_lock);
	if (server.listener)
		rdma_destroy_id(server.listener);
	WRITE_ONCE(server.listener, NULL);
	WRITE_ONCE(server.listener_lost, false);
}

/*
 * Destroys the listener after its device was removed. The connections get their
 * own DEVICE_REMOVAL events.
 */
static void server_lost_work(struct work_struct *work)
{
	mutex_lock(&server.listen_lock);
	if (READ_ONCE(server.listener_lost))
		server_destroy_listener();
	mutex_unlock(&server.listen_lock);
}

static bool server_has_conns(void)
{
	bool has;

	mutex_lock(&server.lock);
	has = !list_empty(&server.conns);
	mutex_unlock(&server.lock);
	return has;
}

/**
 * locks_server_listen() - Clear the table and listen on an address.
 * @net: network namespace of @addr
 * @addr: IP address and port
 *
 * Context: Process context. May sleep.
 * Return: 0, -EBUSY if it listens already or still has connections, or an error
 * of the RDMA CM.
 */
int locks_server_listen(struct net *net, struct sockaddr *addr)
{
	struct rdma_cm_id *id;
	int err = -EBUSY;

	mutex_lock(&server.listen_lock);
	/* Connections may outlive a listener that lost its device. */
	if (server.listener || server_has_conns())
		goto unlock;
	id = rdma_create_id(net, server_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		err = PTR_ERR(id);
		goto unlock;
	}
	WRITE_ONCE(server.listener, id);
	memset(server.table, 0, PAGE_SIZE);
	err = rdma_bind_addr(id, addr);
	if (!err)
		err = rdma_listen(id, BACKLOG);
	if (err)
		server_destroy_listener();
unlock:
	mutex_unlock(&server.listen_lock);
	return err;
}

/**
 * locks_server_stop() - Stop listening, and disconnect all clients.
 *
 * Context: Process context. Sleeps until all connections are freed.
 */
void locks_server_stop(void)
{
	struct conn *conn;

	mutex_lock(&server.listen_lock);
	server_destroy_listener();
	mutex_lock(&server.lock);
	list_for_each_entry(conn, &server.conns, entry)
		conn_release(conn);
	mutex_unlock(&server.lock);
	wait_event(server.idle, list_empty(&server.conns));
	flush_workqueue(server.wq);
	mutex_unlock(&server.listen_lock);
}

/* ---- debugfs ----------------------------------------------------------- */

/**
 * locks_server_show() - Print the statistics.
 * @m: output
 *
 * Context: Process context. May sleep.
 */
void locks_server_show(struct seq_file *m)
{
	struct conn *conn;
	unsigned int num = 0;

	mutex_lock(&server.lock);
	list_for_each_entry(conn, &server.conns, entry)
		num++;
	seq_printf(m, "listening %d\n", !!READ_ONCE(server.listener));
	seq_printf(m, "connections %u\n", num);
	seq_printf(m, "accepted %llu\n", server.accepted);
	seq_printf(m, "refused %llu\n", server.refused);
	seq_printf(m, "recovered %llu\n", server.recovered);
	mutex_unlock(&server.lock);
}

/**
 * locks_server_show_table() - Print the words of the table.
 * @m: output
 *
 * Context: Any.
 */
void locks_server_show_table(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < LOCKS_NUM; i++) {
		u64 word = READ_ONCE(server.table->locks[i]);

		seq_printf(m, "lock %u owner %llu grants %llu guarded %llu\n",
			   i, word & LOCKS_OWNER_MASK,
			   word >> LOCKS_GRANTS_SHIFT,
			   le64_to_cpu(READ_ONCE(server.table->guarded[i])));
	}
	for (i = 0; i < LOCKS_NUM_COUNTERS; i++) {
		u64 word = READ_ONCE(server.table->counters[i]);

		seq_printf(m, "counters %u %u %u %u %u\n", i, (u16)word,
			   (u16)(word >> 16), (u16)(word >> 32),
			   (u16)(word >> 48));
	}
}

/**
 * locks_server_init() - Initialise the server.
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int locks_server_init(void)
{
	mutex_init(&server.lock);
	INIT_LIST_HEAD(&server.conns);
	mutex_init(&server.listen_lock);
	INIT_WORK(&server.lost, server_lost_work);
	init_waitqueue_head(&server.idle);
	ida_init(&server.owners);
	server.table = (struct locks_table *)get_zeroed_page(GFP_KERNEL);
	if (!server.table)
		return -ENOMEM;
	server.wq = alloc_workqueue("masked_locks", WQ_UNBOUND, 0);
	if (!server.wq) {
		free_page((unsigned long)server.table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * locks_server_exit() - Stop the server, if necessary, and free its resources.
 *
 * Context: Process context. May sleep.
 */
void locks_server_exit(void)
{
	locks_server_stop();
	cancel_work_sync(&server.lost);
	destroy_workqueue(server.wq);
	free_page((unsigned long)server.table);
	ida_destroy(&server.owners);
}
