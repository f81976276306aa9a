// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The loop-back connections of the self-test: port, GID, memory, and pairs of
 * queue pairs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "case.h"
#include "loop.h"
#include "operands.h"
#include "options.h"
#include "post.h"

#define PAGE 4096

/* ---- the port and the GID ---------------------------------------------- */

/* Returns false if the port cannot be queried. */
static bool query_port(struct st_loop *loop, unsigned int port)
{
	loop->port = port;
	return !ibv_query_port(loop->context, port, &loop->port_attr);
}

static bool find_port(struct st_loop *loop, unsigned int port,
		      unsigned int ports, char *error)
{
	const char *name = ibv_get_device_name(loop->context->device);

	if (port > ports) {
		snprintf(error, ST_TEXT, "%s has no port %u, its last one is %u",
			 name, port, ports);
		return false;
	}
	if (port) {
		if (!query_port(loop, port)) {
			snprintf(error, ST_TEXT,
				 "port %u of %s cannot be queried", port, name);
			return false;
		}
		if (loop->port_attr.state == IBV_PORT_ACTIVE)
			return true;
		snprintf(error, ST_TEXT,
			 "port %u of %s is not active (%s): bring its link up",
			 port, name, ibv_port_state_str(loop->port_attr.state));
		return false;
	}
	for (port = 1; port <= ports; port++)
		if (query_port(loop, port) &&
		    loop->port_attr.state == IBV_PORT_ACTIVE)
			return true;
	snprintf(error, ST_TEXT, "no port of %s is active: bring its link up",
		 name);
	return false;
}

static bool is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* More is better; 0 is unusable. */
static int gid_rank(const struct ibv_gid_entry *entry)
{
	switch (entry->gid_type) {
	case IBV_GID_TYPE_ROCE_V2:
		return is_link_local(&entry->gid) ? 2 : 3;
	case IBV_GID_TYPE_ROCE_V1:
	case IBV_GID_TYPE_IB:
		return 1;
	default:
		return 0;
	}
}

static void use_gid(struct st_loop *loop, const struct ibv_gid_entry *entry)
{
	const char *type = "IB";

	if (entry->gid_type == IBV_GID_TYPE_ROCE_V2)
		type = "RoCE v2";
	else if (entry->gid_type == IBV_GID_TYPE_ROCE_V1)
		type = "RoCE v1";
	loop->has_gid = true;
	loop->gid_index = entry->gid_index;
	loop->gid = entry->gid;
	snprintf(loop->gid_type, sizeof(loop->gid_type), "%s", type);
}

/* The best entry of the port, only of that index unless it is negative. */
static const struct ibv_gid_entry *
best_gid(const struct st_loop *loop, const struct ibv_gid_entry *entries,
	 ssize_t num, int index)
{
	const struct ibv_gid_entry *best = NULL;
	int rank = 0;

	for (ssize_t i = 0; i < num; i++) {
		if (entries[i].port_num != loop->port ||
		    (index >= 0 && entries[i].gid_index != (uint32_t)index) ||
		    gid_rank(&entries[i]) <= rank)
			continue;
		best = &entries[i];
		rank = gid_rank(best);
	}
	return best;
}

static bool find_gid(struct st_loop *loop, int index, unsigned int ports,
		     char *error)
{
	const char *name = ibv_get_device_name(loop->context->device);
	/* The table has the GIDs of every port. */
	size_t max = (size_t)loop->port_attr.gid_tbl_len * ports + 1;
	const struct ibv_gid_entry *best;
	struct ibv_gid_entry *entries;
	ssize_t num;

	entries = calloc(max, sizeof(*entries));
	if (!entries) {
		snprintf(error, ST_TEXT, "%s", strerror(ENOMEM));
		return false;
	}
	num = ibv_query_gid_table(loop->context, entries, max, 0);
	best = best_gid(loop, entries, num, index);
	if (best)
		use_gid(loop, best);
	else if (num < 0)
		snprintf(error, ST_TEXT, "%s: ibv_query_gid_table: %s", name,
			 strerror(-(int)num));
	else if (index >= 0)
		snprintf(error, ST_TEXT, "port %u of %s has no GID with index %d",
			 loop->port, name, index);
	else
		snprintf(error, ST_TEXT,
			 "port %u of %s has no GID: give its network interface an address",
			 loop->port, name);
	free(entries);
	return best;
}

/* ---- memory ------------------------------------------------------------ */

static bool make_memory(struct st_loop *loop, char *error)
{
	uint8_t *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		snprintf(error, ST_TEXT, "mmap: %s", strerror(errno));
		return false;
	}
	loop->memory = memory;
	loop->result = memory + PAGE;
	loop->pd = ibv_alloc_pd(loop->context);
	if (!loop->pd) {
		snprintf(error, ST_TEXT, "ibv_alloc_pd: %s", strerror(errno));
		return false;
	}
	loop->memory_mr = ibv_reg_mr(loop->pd, loop->memory, PAGE,
				     IBV_ACCESS_LOCAL_WRITE |
				     IBV_ACCESS_REMOTE_ATOMIC);
	loop->result_mr = ibv_reg_mr(loop->pd, loop->result, PAGE,
				     IBV_ACCESS_LOCAL_WRITE);
	if (!loop->memory_mr || !loop->result_mr) {
		snprintf(error, ST_TEXT, "ibv_reg_mr of %u bytes: %s", PAGE,
			 strerror(errno));
		return false;
	}
	return true;
}

/**
 * st_loop_open() - Find the port and the GID, and register the memory.
 * @loop: result; to be closed in any case
 * @context: the device, which stays the caller's
 * @options: port and GID index
 * @ports: number of the last port of the device
 * @error: ST_TEXT bytes; names the problem and, where there is one, the remedy
 *
 * Return: true if connections can be made.
 */
bool st_loop_open(struct st_loop *loop, struct ibv_context *context,
		  const struct st_options *options, unsigned int ports,
		  char *error)
{
	*loop = (struct st_loop){ .context = context };
	if (!find_port(loop, options->port, ports, error))
		return false;
	/* InfiniBand finds the way by LID, unless a GID is asked for. */
	if ((loop->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET ||
	     options->gid_index >= 0) &&
	    !find_gid(loop, options->gid_index, ports, error))
		return false;
	return make_memory(loop, error);
}

/**
 * st_loop_close() - Undo st_loop_open().
 * @loop: without open pairs
 */
void st_loop_close(struct st_loop *loop)
{
	if (loop->memory_mr)
		ibv_dereg_mr(loop->memory_mr);
	if (loop->result_mr)
		ibv_dereg_mr(loop->result_mr);
	if (loop->pd)
		ibv_dealloc_pd(loop->pd);
	if (loop->memory)
		munmap(loop->memory, 2 * PAGE);
	*loop = (struct st_loop){ };
}

/* ---- pairs ------------------------------------------------------------- */

static void set_up_failed(struct st_mismatch *m, const char *call, int err)
{
	*m = (struct st_mismatch){ .what = call, .set = -1 };
	snprintf(m->expected, sizeof(m->expected), "success");
	snprintf(m->got, sizeof(m->got), "errno %d (%s)", err, strerror(err));
}

static int to_init(const struct st_loop *loop, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = loop->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr(const struct st_loop *loop, struct ibv_qp *qp,
		  const struct ibv_qp *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = loop->port_attr.active_mtu,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.dlid = loop->port_attr.lid,
			.port_num = loop->port,
			.is_global = loop->has_gid,
			.grh = {
				.dgid = loop->gid,
				.sgid_index = loop->gid_index,
				.hop_limit = 64,
			},
		},
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ibv_qp *qp)
{
	/* 0.5 s and 7 retries; see ST_COMPLETION_MS. */
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int connect_qps(struct st_pair *pair, const char **call)
{
	int err = 0;

	*call = "ibv_modify_qp to INIT";
	for (int i = 0; i < 2 && !err; i++)
		err = to_init(pair->loop, pair->qp[i]);
	if (err)
		return err;
	*call = "ibv_modify_qp to RTR";
	for (int i = 0; i < 2 && !err; i++)
		err = to_rtr(pair->loop, pair->qp[i], pair->qp[!i]);
	if (err)
		return err;
	*call = "ibv_modify_qp to RTS";
	for (int i = 0; i < 2 && !err; i++)
		err = to_rts(pair->qp[i]);
	return err;
}

/**
 * st_pair_open() - Create two queue pairs and connect them to each other.
 * @pair: result; to be closed in any case
 * @loop: the device
 * @c: the case: backend, largest operand and kind of queue pair
 * @m: describes the call that failed; written on failure only
 *
 * Return: true if requests can be posted.
 */
bool st_pair_open(struct st_pair *pair, const struct st_loop *loop,
		  const struct st_case *c, struct st_mismatch *m)
{
	const char *call = "ibv_create_cq";
	int err;

	*pair = (struct st_pair){ .loop = loop, .backend = c->backend };
	pair->cq = ibv_create_cq(loop->context, 16, NULL, NULL, 0);
	if (!pair->cq) {
		set_up_failed(m, call, errno);
		return false;
	}
	for (int i = 0; i < 2; i++) {
		pair->qp[i] = st_qp_create(loop, pair->cq, c, &call);
		if (!pair->qp[i]) {
			set_up_failed(m, call, errno);
			return false;
		}
	}
	err = connect_qps(pair, &call);
	if (err) {
		set_up_failed(m, call, err);
		return false;
	}
	return true;
}

/**
 * st_pair_close() - Destroy the queue pairs.
 * @pair: connected or not
 *
 * Ends all access to the memory.
 */
void st_pair_close(struct st_pair *pair)
{
	for (int i = 0; i < 2; i++)
		if (pair->qp[i])
			ibv_destroy_qp(pair->qp[i]);
	if (pair->cq)
		ibv_destroy_cq(pair->cq);
	*pair = (struct st_pair){ };
}

/* ---- completions ------------------------------------------------------- */

/**
 * st_now_ms() - Get the monotonic time.
 *
 * Return: milliseconds.
 */
uint64_t st_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/**
 * st_pair_wait() - Wait for one completion.
 * @pair: connected
 * @ms: time limit in milliseconds
 * @wc: the completion
 *
 * Return: 0, ETIMEDOUT, or EIO if polling itself fails.
 */
int st_pair_wait(struct st_pair *pair, unsigned int ms,
		 struct st_completion *wc)
{
	uint64_t end = st_now_ms() + ms;
	unsigned int polls = 0;

	for (;;) {
		/*
		 * The clock is read before polling, because the process may
		 * lose the CPU in between.
		 */
		bool late = st_now_ms() > end;
		int n = st_poll(pair, wc);

		if (n)
			return n < 0 ? EIO : 0;
		if (late)
			return ETIMEDOUT;
		/* A software device needs the CPU, too. */
		if (++polls > 100)
			nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	}
}
