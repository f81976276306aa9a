// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Measures messages that are matched to tags: by the device, or by this program
 * over a plain SRQ.
 *
 * A number of tags is always posted, each with a buffer of its own.  In a
 * round, messages are sent to some of them in random order, and these tags are
 * posted again when all have been matched.  A message is a tag-matching header
 * and data, which begin with the number of the message.  This program copies
 * them from the buffer of the SRQ to that of the tag.
 */
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/tm_types.h>

#include "clock.h"
#include "endpoint.h"
#include "match.h"
#include "options.h"
#include "result.h"
#include "stats.h"
#include "status.h"
#include "tags.h"

struct tag {
	struct perf_tag posted;
	uint64_t began;
	uint64_t number;	/* of the message in flight; 0: none */
};

struct tags {
	const struct perf_options *o;	/* of the command line */
	struct perf_options own;	/* depth, batch and size as used here */
	enum perf_how how;
	uint32_t num;
	struct perf_endpoint ep;
	struct perf_endpoint responder;
	struct perf_match match;
	struct tag tags[PERF_MAX_TAGS];
	uint32_t order[PERF_MAX_TAGS];	/* tags of a round come first */
	uint64_t numbers;		/* of messages so far */
	uint64_t random;
	uint64_t *samples;		/* of the next message; NULL: none */
	uint32_t sent;			/* completions in this round */
	uint32_t matched;
	uint32_t used[PERF_MAX_DEPTH];	/* buffers of the SRQ, this round */
	struct ibv_send_wr send[PERF_MAX_DEPTH];
	struct ibv_recv_wr recv[PERF_MAX_DEPTH];
	struct ibv_ops_wr ops[PERF_MAX_DEPTH];
	struct ibv_sge sge[PERF_MAX_DEPTH];
};

static int failed(const struct tags *t, const char *what, int err)
{
	fprintf(stderr, "mxe-perf: %u tags, by %s: %s: %s\n", t->num,
		perf_how_name[t->how], what, strerror(err));
	return STATUS_FAILED;
}

static int wrong(const struct tags *t, const char *what, uint64_t got,
		 uint64_t want)
{
	fprintf(stderr, "mxe-perf: %u tags, by %s: %s is 0x%llx instead of 0x%llx\n",
		t->num, perf_how_name[t->how], what, (unsigned long long)got,
		(unsigned long long)want);
	return STATUS_FAILED;
}

/* Bytes of the data of a message. */
static uint32_t data_size(const struct tags *t)
{
	return t->o->size;
}

/* The buffers of the SRQ precede those of the tags. */
static uint8_t *recv_buf(const struct tags *t, uint32_t slot)
{
	return t->responder.buf + (size_t)slot * t->responder.stride;
}

static uint8_t *tag_buf(const struct tags *t, uint32_t tag)
{
	return recv_buf(t, 2 * t->own.depth + tag);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- posting ------------------------------------------------------------- */

/* Sends n messages to the tags of the round from its element `first`. */
static int post_sends(struct tags *t, uint32_t first, uint32_t n)
{
	struct ibv_send_wr *bad;
	uint64_t began = perf_now(t->o->tsc);
	int err;

	for (uint32_t i = 0; i < n; i++) {
		struct tag *tag = &t->tags[t->order[first + i]];
		uint8_t *buf = t->ep.buf + (size_t)(first + i) * t->ep.stride;
		struct ibv_tmh *tmh = (void *)buf;

		tag->began = began;
		tag->number = ++t->numbers;
		*tmh = (struct ibv_tmh){
			.opcode = IBV_TMH_EAGER,
			.tag = htobe64(tag->posted.tag),
		};
		memcpy(tmh + 1, &tag->number, least(data_size(t), 8));
		t->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)buf,
			.length = t->own.size,
			.lkey = t->ep.mr->lkey,
		};
		t->send[i] = (struct ibv_send_wr){
			.next = i + 1 < n ? &t->send[i + 1] : NULL,
			.sg_list = &t->sge[i],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};
	}
	err = ibv_post_send(t->ep.qp[0], t->send, &bad);
	return err ? failed(t, "ibv_post_send", err) : 0;
}

/* Posts n of these buffers to the SRQ. */
static int post_recvs(struct tags *t, const uint32_t *slots, uint32_t n)
{
	struct ibv_recv_wr *bad;
	int err;

	for (uint32_t i = 0; i < n; i++) {
		t->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)recv_buf(t, slots[i]),
			.length = t->own.size,
			.lkey = t->responder.mr->lkey,
		};
		t->recv[i] = (struct ibv_recv_wr){
			.wr_id = slots[i],
			.next = i + 1 < n ? &t->recv[i + 1] : NULL,
			.sg_list = &t->sge[i],
			.num_sge = 1,
		};
	}
	err = ibv_post_srq_recv(t->responder.srq, t->recv, &bad);
	return err ? failed(t, "ibv_post_srq_recv", err) : 0;
}

static int post_tags_device(struct tags *t, const uint32_t *tags, uint32_t n)
{
	struct ibv_ops_wr *bad;
	int err;

	for (uint32_t i = 0; i < n; i++) {
		const struct perf_tag *tag = &t->tags[tags[i]].posted;

		t->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)tag_buf(t, tags[i]),
			.length = data_size(t),
			.lkey = t->responder.mr->lkey,
		};
		t->ops[i] = (struct ibv_ops_wr){
			.next = i + 1 < n ? &t->ops[i + 1] : NULL,
			.opcode = IBV_WR_TAG_ADD,
			.tm.add = {
				.recv_wr_id = tags[i],
				.sg_list = &t->sge[i],
				.num_sge = 1,
				.tag = tag->tag,
				.mask = tag->mask,
			},
		};
	}
	err = ibv_post_srq_ops(t->responder.srq, t->ops, &bad);
	return err ? failed(t, "ibv_post_srq_ops", err) : 0;
}

/* Posts the tags of a round, and the buffers of the SRQ that it has used. */
static int post_again(struct tags *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += t->own.batch) {
		uint32_t now = least(t->own.batch, n - i);

		if (t->how == PERF_DEVICE) {
			if (post_tags_device(t, t->order + i, now))
				return STATUS_FAILED;
			continue;
		}
		for (uint32_t k = i; k < i + now; k++)
			perf_match_add(&t->match, &t->tags[t->order[k]].posted);
		if (post_recvs(t, t->used + i, now))
			return STATUS_FAILED;
	}
	return 0;
}

/* ---- completions --------------------------------------------------------- */

/* Checks that a message is in the buffer of its tag, and counts it. */
static int arrived(struct tags *t, uint64_t index, uint64_t now)
{
	uint32_t stamp = least(data_size(t), 8), size = data_size(t);
	uint64_t number = 0;
	const uint8_t *p;

	if (index >= t->num || !t->tags[index].number)
		return wrong(t, "wr_id", index, t->num);
	p = tag_buf(t, (uint32_t)index);
	memcpy(&number, &t->tags[index].number, stamp);
	if (memcmp(p, &number, stamp))
		return wrong(t, "first byte", p[0], number & 0xff);
	if (size > stamp && p[size - 1] != perf_pattern(size - 1))
		return wrong(t, "last byte", p[size - 1],
			     perf_pattern(size - 1));
	if (t->samples)
		*t->samples++ = now - t->tags[index].began;
	t->tags[index].number = 0;
	t->matched++;
	return 0;
}

static int by_device(struct tags *t, struct ibv_cq_ex *cq, uint64_t now)
{
	unsigned int flags = ibv_wc_read_wc_flags(cq);
	struct ibv_wc_tm_info info;

	if (ibv_wc_read_opcode(cq) != IBV_WC_TM_RECV ||
	    !(flags & (IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID)))
		return wrong(t, "opcode", ibv_wc_read_opcode(cq), IBV_WC_TM_RECV);
	if (cq->wr_id < t->num && flags & IBV_WC_TM_MATCH) {
		ibv_wc_read_tm_info(cq, &info);
		if (info.tag != t->tags[cq->wr_id].posted.tag)
			return wrong(t, "tag", info.tag,
				     t->tags[cq->wr_id].posted.tag);
	}
	return flags & IBV_WC_TM_DATA_VALID ? arrived(t, cq->wr_id, now) : 0;
}

static int by_program(struct tags *t, struct ibv_cq_ex *cq, uint64_t now)
{
	uint8_t *buf = recv_buf(t, (uint32_t)cq->wr_id);
	const struct ibv_tmh *tmh = (const void *)buf;
	struct perf_tag *posted;
	uint32_t index;

	if (ibv_wc_read_byte_len(cq) != t->own.size)
		return wrong(t, "length", ibv_wc_read_byte_len(cq), t->own.size);
	posted = tmh->opcode == IBV_TMH_EAGER ?
		 perf_match_take(&t->match, be64toh(tmh->tag)) : NULL;
	if (!posted)
		return wrong(t, "number of matches", 0, 1);
	index = (uint32_t)((struct tag *)(void *)posted - t->tags);
	memcpy(tag_buf(t, index), tmh + 1, data_size(t));
	t->used[t->matched] = (uint32_t)cq->wr_id;
	return arrived(t, index, now);
}

/* Takes the completions of the SRQ's CQ. */
static int poll_matches(struct tags *t)
{
	struct ibv_poll_cq_attr attr = { };
	struct ibv_cq_ex *cq = t->responder.rcqx;
	uint64_t now;
	int err = ibv_start_poll(cq, &attr), status = 0;

	if (err == ENOENT)
		return 0;
	if (err)
		return failed(t, "ibv_start_poll", err);
	now = perf_now(t->o->tsc);
	do {
		if (cq->status)
			status = wrong(t, ibv_wc_status_str(cq->status),
				       cq->status, IBV_WC_SUCCESS);
		else
			status = t->how == PERF_DEVICE ? by_device(t, cq, now) :
							 by_program(t, cq, now);
	} while (!status && !ibv_next_poll(cq));
	ibv_end_poll(cq);
	return status;
}

static int poll_sends(struct tags *t)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(t->ep.cq, 16, wc);

	for (int i = 0; i < n; i++)
		if (wc[i].status)
			return wrong(t, ibv_wc_status_str(wc[i].status),
				     wc[i].status, IBV_WC_SUCCESS);
	if (n < 0)
		return failed(t, "ibv_poll_cq", -n);
	t->sent += (uint32_t)n;
	return 0;
}

/* Waits until all messages of a round have been matched. */
static int wait_for(struct tags *t, uint32_t n)
{
	uint64_t patience = 0;

	for (uint64_t spins = 1; ; spins++) {
		if (poll_matches(t) || poll_sends(t))
			return STATUS_FAILED;
		if (t->matched >= n && t->sent >= n)
			return 0;
		if (spins % 64)
			continue;
		sched_yield();
		if (!patience)
			patience = perf_ns() + t->o->timeout * 1000000000ull;
		else if (perf_ns() > patience)
			return failed(t, "waiting for messages", ETIMEDOUT);
	}
}

/* ---- the loop ------------------------------------------------------------ */

/* Moves n random tags to the front of the order (Fisher and Yates). */
static void shuffle(struct tags *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k, tag;

		t->random = t->random * 6364136223846793005ull +
			    1442695040888963407ull;
		k = i + (uint32_t)(t->random >> 33) % (t->num - i);
		tag = t->order[i];
		t->order[i] = t->order[k];
		t->order[k] = tag;
	}
}

static int rounds(struct tags *t, uint64_t messages)
{
	while (messages) {
		uint32_t n = messages < t->own.depth ? (uint32_t)messages :
			     t->own.depth;

		shuffle(t, n);
		t->sent = 0;
		t->matched = 0;
		for (uint32_t i = 0; i < n; i += t->own.batch)
			if (post_sends(t, i, least(t->own.batch, n - i)))
				return STATUS_FAILED;
		if (wait_for(t, n) || post_again(t, n))
			return STATUS_FAILED;
		messages -= n;
	}
	return 0;
}

static int measure(struct tags *t, struct perf_result *result)
{
	uint64_t start;

	if (rounds(t, t->o->warmup))
		return STATUS_FAILED;
	t->samples = result->samples;
	start = perf_now(t->o->tsc);
	if (rounds(t, t->o->iterations))
		return STATUS_FAILED;
	result->total = perf_now(t->o->tsc) - start;
	perf_summarize(result->samples, result->operations, &result->stats);
	return 0;
}

/* ---- setup --------------------------------------------------------------- */

static int connect_both(struct tags *t)
{
	const struct perf_options *o = &t->own;
	struct perf_address own, peer;
	int status = perf_endpoint_open(&t->ep, o->device, o->gid, o);

	if (!status)
		status = perf_endpoint_open(&t->responder,
					    o->remote ? o->remote : o->device,
					    o->remote_gid >= 0 ? o->remote_gid :
					    o->remote ? -1 : o->gid, o);
	if (status)
		return status;
	perf_endpoint_address(&t->ep, &own);
	perf_endpoint_address(&t->responder, &peer);
	status = perf_endpoint_connect(&t->ep, &peer, o);
	return status ? status : perf_endpoint_connect(&t->responder, &own, o);
}

/* Posts all tags, and twice as many buffers as messages are in flight. */
static int post_all(struct tags *t)
{
	uint32_t recvs = 2 * t->own.depth;

	for (uint32_t i = 0; i < recvs; i++)
		if (post_recvs(t, &i, 1))
			return STATUS_FAILED;
	perf_match_init(&t->match, t->how == PERF_HASH);
	for (uint32_t i = 0; i < t->num; i++) {
		t->tags[i].posted.tag = (i + 1) * 0xd1342543de82ef95ull;
		t->tags[i].posted.mask = UINT64_MAX;
		t->order[i] = i;
		if (t->how != PERF_DEVICE)
			perf_match_add(&t->match, &t->tags[i].posted);
		else if (post_tags_device(t, &i, 1))
			return STATUS_FAILED;
	}
	for (uint32_t i = 0; i < t->own.depth; i++)
		for (uint32_t k = 0; k < data_size(t); k++)
			t->ep.buf[(size_t)i * t->ep.stride +
				  sizeof(struct ibv_tmh) + k] = perf_pattern(k);
	return 0;
}

/**
 * perf_run_tags() - Run the test tags with one number of tags.
 * @o: options
 * @tags: number of tags that are posted, at most PERF_MAX_TAGS
 * @how: PERF_DEVICE, PERF_HASH or PERF_LIST
 * @result: result; the caller frees its samples
 *
 * Prints a message to stderr if it fails.
 *
 * Return: 0 or an exit status.
 */
int perf_run_tags(const struct perf_options *o, uint32_t tags,
		  enum perf_how how, struct perf_result *result)
{
	struct tags *t = calloc(1, sizeof(*t));
	int status;

	*result = (struct perf_result){
		.op = "match",
		.how = how,
		.tags = tags,
		.operations = o->iterations,
		.posts = o->iterations,
		.samples = calloc(o->iterations, sizeof(uint64_t)),
	};
	if (!t || !result->samples) {
		fputs("mxe-perf: out of memory\n", stderr);
		free(t);
		return STATUS_FAILED;
	}
	/* Avoids page faults during the measurement. */
	memset(result->samples, 0xff, o->iterations * sizeof(uint64_t));
	t->o = o;
	t->own = *o;
	t->own.size += sizeof(struct ibv_tmh);
	t->own.depth = least(o->depth, tags);
	t->own.batch = least(o->batch, t->own.depth);
	t->how = how;
	t->num = tags;
	t->responder.num_tags = tags;
	t->responder.matches = how == PERF_DEVICE;

	status = connect_both(t);
	if (!status)
		status = post_all(t);
	if (!status)
		status = measure(t, result);
	perf_endpoint_close(&t->ep);
	perf_endpoint_close(&t->responder);
	free(t);
	return status;
}
