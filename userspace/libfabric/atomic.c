// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FI_ATOMIC. An operation is cut into units (atomic_plan.h), each of them one
 * request at a time (atomic_wr.c). All units of an operation are in flight
 * together. While one of them is a loop, later requests to that peer wait
 * (peer.c), so operations are executed in order.
 *
 * With FI_TAGGED, the operands are a message, which the peer matches with a
 * tagged receive. It executes the operation on the receive buffer, and sends a
 * FIN with the results (tagged_atomic.c).
 */
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "atomic.h"
#include "atomic_op.h"
#include "atomic_plan.h"
#include "atomic_wr.h"
#include "deferred.h"
#include "domain.h"
#include "ep.h"
#include "op.h"
#include "peer.h"
#include "route.h"
#include "send.h"
#include "sizes.h"
#include "tagged_atomic.h"
#include "wr.h"

/* An atomic call of the program. */
struct call {
	const struct fi_msg_atomic *msg;
	enum mxefi_form form;
	const struct fi_ioc *compare;
	size_t compare_count;
	const struct fi_ioc *result;
	size_t result_count;
	uint64_t flags;
	const struct mxefi_report *report;
};

/* ---- the operation ----------------------------------------------------- */

static size_t elements(const struct fi_ioc *iov, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (iov[i].count > MXEFI_MAX_ATOMIC_COUNT)
			return SIZE_MAX;
		sum += iov[i].count;
	}
	return sum;
}

static void gather(uint8_t *to, const struct fi_ioc *iov, size_t count,
		   size_t size)
{
	for (size_t i = 0; i < count; i++) {
		memcpy(to, iov[i].addr, iov[i].count * size);
		to += iov[i].count * size;
	}
}

/*
 * Returns the number of elements, or a negative error if the vectors do not
 * match or are too long. An atomic read has no operands.
 */
static ssize_t check_vectors(const struct call *c)
{
	const struct fi_msg_atomic *m = c->msg;
	size_t count = 0;

	if (!m->rma_iov_count || m->rma_iov_count > MXEFI_IOV_LIMIT ||
	    m->iov_count > MXEFI_IOV_LIMIT ||
	    c->compare_count > MXEFI_IOV_LIMIT ||
	    c->result_count > MXEFI_IOV_LIMIT)
		return -FI_EINVAL;
	for (size_t i = 0; i < m->rma_iov_count; i++) {
		/* Only the peer knows where a tagged buffer begins. */
		if (!(c->flags & FI_TAGGED) &&
		    m->rma_iov[i].addr % mxefi_type_align(m->datatype))
			return -FI_EINVAL;
		if (m->rma_iov[i].count > MXEFI_MAX_ATOMIC_COUNT - count)
			return -FI_EMSGSIZE;
		count += m->rma_iov[i].count;
	}
	if (!count ||
	    (m->op != FI_ATOMIC_READ &&
	     elements(m->msg_iov, m->iov_count) != count) ||
	    (c->form == MXEFI_COMPARE &&
	     elements(c->compare, c->compare_count) != count) ||
	    (c->form != MXEFI_BASE &&
	     elements(c->result, c->result_count) != count))
		return -FI_EINVAL;
	return (ssize_t)count;
}

/* Tells the target of the operation. Returns 0 or a negative error. */
static int add_access(struct mxefi_op *op, enum mxefi_form form,
		      const uint64_t *keys, size_t num_keys,
		      struct mxefi_wr ***tail)
{
	const struct mxefi_access access = {
		.reads = form != MXEFI_BASE,
		.writes = op->atomic != FI_ATOMIC_READ,
		.keys = keys,
		.num_keys = num_keys,
	};

	return mxefi_access_add(op, &access, tail);
}

/* Makes the requests of all units. Returns the first, or NULL. */
static struct mxefi_wr *make_requests(struct mxefi_op *op,
				      const struct call *c,
				      const uint8_t *src, const uint8_t *cmp)
{
	const struct fi_msg_atomic *m = c->msg;
	size_t size = mxefi_type_size(m->datatype);
	struct mxefi_wr *list = NULL, **tail = &list;
	struct mxefi_unit *unit = op->units;
	uint64_t keys[MXEFI_IOV_LIMIT];
	size_t first = 0;

	for (size_t i = 0; i < m->rma_iov_count; i++) {
		const struct fi_rma_ioc *r = &m->rma_iov[i];
		size_t done = 0;

		keys[i] = r->key;
		while (done < r->count) {
			size_t at = first * size;

			done += mxefi_unit_plan(unit, op->ep->dom->dev.sizes,
						m->op, m->datatype,
						r->addr + done * size,
						r->count - done,
						src ? src + at : NULL,
						cmp ? cmp + at : NULL);
			*tail = mxefi_atomic_wr(op, unit, r->key, first);
			if (!*tail)
				goto fail;
			tail = &(*tail)->next;
			first += unit->count;
			unit++;
		}
	}
	if (op->peer->wants_events &&
	    add_access(op, c->form, keys, m->rma_iov_count, &tail))
		goto fail;
	return list;

fail:
	mxefi_wr_free_list(list);
	return NULL;
}

static bool supported(const struct mxefi_domain *dom, enum mxefi_form form,
		      enum fi_op op, enum fi_datatype datatype)
{
	return mxefi_op_valid(form, op, datatype) &&
	       (dom->atomic_types >> datatype) & 1;
}

/* True if peers on such a device can execute it on a tagged receive buffer. */
static bool supported_tagged(const struct mxefi_domain *dom,
			     enum mxefi_form form, enum fi_op op,
			     enum fi_datatype datatype)
{
	return supported(dom, form, op, datatype) &&
	       mxefi_tagged_atomic_supported(&dom->dev, form, op, datatype);
}

/* Checks what does not depend on vectors. Returns 0 or a negative error. */
static inline __attribute__((always_inline))
int check(const struct mxefi_handle *by, enum mxefi_form form, enum fi_op op,
	  enum fi_datatype datatype, uint64_t flags)
{
	uint64_t need = FI_ATOMIC | (form == MXEFI_BASE ? FI_WRITE : FI_READ);
	const struct mxefi_ep *ep = by->ep;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (!by->tx || (ep->caps & need) != need ||
	    flags & (FI_TAGGED | FI_REMOTE_CQ_DATA) ||
	    !supported(ep->dom, form, op, datatype))
		return -FI_EOPNOTSUPP;
	return 0;
}

/*
 * Takes an operation whose results and units the caller fills in. Returns NULL
 * with the error in *ret if there is none.
 */
static struct mxefi_op *begin(const struct mxefi_handle *by, enum mxefi_form form,
			      enum fi_op atomic, enum fi_datatype datatype,
			      fi_addr_t dest, void *context, uint64_t flags,
			      const struct mxefi_report *report, int *ret)
{
	struct mxefi_peer *peer = mxefi_route_get(by->ep, dest);
	struct mxefi_op *op;

	if (!peer) {
		*ret = mxefi_route_error(by->ep);
		return NULL;
	}
	op = mxefi_op_alloc(by, peer, context, flags,
			    FI_ATOMIC | (form == MXEFI_BASE ? FI_WRITE : FI_READ),
			    report);
	if (!op) {
		*ret = -FI_EAGAIN;
		return NULL;
	}
	op->atomic = atomic;
	op->datatype = datatype;
	return op;
}

/* As begin(), with the results of a call. */
static struct mxefi_op *begin_vector(const struct mxefi_handle *by,
				     const struct call *c, int *ret)
{
	const struct fi_msg_atomic *m = c->msg;
	struct mxefi_op *op = begin(by, c->form, m->op, m->datatype, m->addr,
				    m->context, c->flags, c->report, ret);

	if (!op)
		return NULL;
	op->num_results = c->result_count;
	for (size_t i = 0; i < c->result_count; i++)
		op->results[i] = c->result[i];
	return op;
}

/* Sends the operands of an atomic to a tagged receive buffer. */
static ssize_t start_tagged(const struct mxefi_handle *by, const struct call *c,
			    size_t count)
{
	const struct fi_msg_atomic *m = c->msg;
	size_t size = mxefi_type_size(m->datatype);
	size_t len = count * size;
	bool has_src = m->op != FI_ATOMIC_READ;
	bool has_cmp = c->form == MXEFI_COMPARE;
	struct mxefi_msg msg = {
		.type = MXEFI_MSG_ATOMIC,
		.flags = MXEFI_MSG_TAGGED | MXEFI_MSG_WANT_FIN,
		.rx_index = mxefi_route_index(by->ep, m->addr),
		.tag = m->rma_iov[0].key,
		.len = len,
		.addr = m->rma_iov[0].addr,
		.atomic = {
			.form = (uint8_t)c->form,
			.op = (uint8_t)m->op,
			.datatype = (uint8_t)m->datatype,
		},
	};
	struct mxefi_wr *wr;
	struct mxefi_op *op;
	int ret;

	/* One operation has one receive. */
	if (m->rma_iov_count != 1)
		return -FI_EINVAL;
	op = begin_vector(by, c, &ret);
	if (!op)
		return ret;
	op->flags |= FI_TAGGED;
	msg.cookie = mxefi_op_cookie(op);
	wr = mxefi_wr_alloc_send(op->peer, &msg, (has_src + has_cmp) * len);
	if (!wr) {
		mxefi_op_free(op);
		return -FI_EAGAIN;
	}
	if (has_src)
		gather(wr->buf + sizeof(msg), m->msg_iov, m->iov_count, size);
	if (has_cmp)
		gather(wr->buf + sizeof(msg) + len, c->compare,
		       c->compare_count, size);
	mxefi_send_submit(op, wr, true);
	return 0;
}

static ssize_t start(const struct mxefi_handle *by, const struct call *c)
{
	const struct fi_msg_atomic *m = c->msg;
	uint8_t src[MXEFI_MAX_ATOMIC_SIZE], cmp[MXEFI_MAX_ATOMIC_SIZE];
	bool has_src = m->op != FI_ATOMIC_READ;
	struct mxefi_wr *wr;
	struct mxefi_op *op;
	ssize_t count;
	size_t size;
	int ret = check(by, c->form, m->op, m->datatype, c->flags & ~FI_TAGGED);

	if (!ret && c->flags & FI_TAGGED &&
	    (!(by->ep->caps & FI_TAGGED) ||
	     !supported_tagged(by->ep->dom, c->form, m->op, m->datatype)))
		ret = -FI_EOPNOTSUPP;
	if (ret)
		return ret;
	size = mxefi_type_size(m->datatype);
	count = check_vectors(c);
	if (count < 0)
		return count;
	if (c->flags & FI_TAGGED)
		return start_tagged(by, c, (size_t)count);
	op = begin_vector(by, c, &ret);
	if (!op)
		return ret;
	if (has_src)
		gather(src, m->msg_iov, m->iov_count, size);
	if (c->form == MXEFI_COMPARE)
		gather(cmp, c->compare, c->compare_count, size);
	/* Not zeroed: mxefi_unit_plan() sets every field that is read. */
	op->units = count == 1 ? &op->one_unit :
		    malloc((size_t)count * sizeof(*op->units));
	wr = op->units ? make_requests(op, c, has_src ? src : NULL,
				       c->form == MXEFI_COMPARE ? cmp : NULL) :
			 NULL;
	if (!wr) {
		mxefi_op_free(op);
		return -FI_EAGAIN;
	}
	mxefi_wr_submit_list(wr);
	return 0;
}

/*
 * A call with one element, which needs no vectors and is the most frequent. The
 * structure stays in registers, as the functions that use it are inlined.
 */
struct single {
	enum mxefi_form form;
	enum fi_op op;
	enum fi_datatype datatype;
	const void *src, *cmp;
	void *result;
	fi_addr_t dest;
	uint64_t addr, key;
	void *context;
	uint64_t flags;
	const struct mxefi_report *report;
};

static inline __attribute__((always_inline))
ssize_t start_single(const struct mxefi_handle *by, const struct single *c)
{
	struct mxefi_op *op;
	struct mxefi_wr *wr, **tail;
	int ret = check(by, c->form, c->op, c->datatype, c->flags);

	if (ret)
		return ret;
	if (c->addr & (mxefi_type_align(c->datatype) - 1))
		return -FI_EINVAL;
	op = begin(by, c->form, c->op, c->datatype, c->dest, c->context,
		   c->flags, c->report, &ret);
	if (!op)
		return ret;
	op->num_results = !!c->result;
	op->results[0].addr = c->result;
	op->results[0].count = 1;
	op->units = &op->one_unit;
	mxefi_unit_plan(op->units, by->ep->dom->dev.sizes, c->op, c->datatype,
			c->addr, 1, c->op == FI_ATOMIC_READ ? NULL : c->src,
			c->cmp);
	wr = mxefi_atomic_wr(op, op->units, c->key, 0);
	if (!wr) {
		mxefi_op_free(op);
		return -FI_EAGAIN;
	}
	tail = &wr->next;
	if (op->peer->wants_events &&
	    add_access(op, c->form, &c->key, 1, &tail)) {
		mxefi_wr_free_list(wr);
		mxefi_op_free(op);
		return -FI_EAGAIN;
	}
	mxefi_wr_submit_list(wr);
	return 0;
}

/* A call that waits for a trigger is kept with its vectors. */
static bool is_single(struct fid_ep *ep, size_t count)
{
	return count == 1 && !(to_handle(ep)->tx_flags & FI_TRIGGER);
}

static inline __attribute__((always_inline))
ssize_t single_call(struct fid_ep *fid, const struct single *c)
{
	const struct mxefi_handle *by = to_handle(fid);

	pthread_mutex_lock(&by->ep->dom->lock);
	return mxefi_call_end(by->ep, start_single(by, c));
}

/* Leaves the call to the counter that triggers it. */
static ssize_t defer(const struct mxefi_handle *by, const struct call *c)
{
	static const enum fi_op_type types[] = {
		[MXEFI_BASE] = FI_OP_ATOMIC,
		[MXEFI_FETCH] = FI_OP_FETCH_ATOMIC,
		[MXEFI_COMPARE] = FI_OP_COMPARE_ATOMIC,
	};
	const struct mxefi_call args = {
		.flags = c->flags,
		.atomic = {
			.msg = *c->msg,
			.fetch = {
				.msg_iov = (struct fi_ioc *)(uintptr_t)c->result,
				.iov_count = c->result_count,
			},
			.compare = {
				.msg_iov = c->compare,
				.iov_count = c->compare_count,
			},
		},
	};

	return by->ep->on_trigger(by, types[c->form], &args);
}

/**
 * mxefi_atomic_start() - Start an atomic.
 * @by: endpoint or context with the call
 * @form: form of the call
 * @args: the call
 * @report: how it reports its end, or NULL
 *
 * Return: 0, or a negative error of libfabric.
 */
ssize_t mxefi_atomic_start(const struct mxefi_handle *by,
			   enum mxefi_form form, const struct mxefi_call *args,
			   const struct mxefi_report *report)
{
	const struct call c = {
		.msg = &args->atomic.msg,
		.form = form,
		.compare = args->atomic.compare.msg_iov,
		.compare_count = args->atomic.compare.iov_count,
		.result = args->atomic.fetch.msg_iov,
		.result_count = args->atomic.fetch.iov_count,
		.flags = args->flags,
		.report = report,
	};

	return start(by, &c);
}

static ssize_t call(struct fid_ep *fid, const struct call *c)
{
	const struct mxefi_handle *by = to_handle(fid);

	pthread_mutex_lock(&by->ep->dom->lock);
	return mxefi_call_end(by->ep, c->flags & FI_TRIGGER ? defer(by, c) :
							      start(by, c));
}

/* A call of one contiguous array at the target. Fills in @c->msg. */
static ssize_t simple_call(struct fid_ep *ep, struct call *c,
			   const struct fi_ioc *iov, size_t count,
			   fi_addr_t dest, uint64_t addr, uint64_t key,
			   enum fi_datatype datatype, enum fi_op op,
			   void *context)
{
	struct fi_rma_ioc rma = { .addr = addr, .key = key };
	struct fi_msg_atomic m = {
		.msg_iov = iov,
		.iov_count = count,
		.addr = dest,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.datatype = datatype,
		.op = op,
		.context = context,
	};

	if (op == FI_ATOMIC_READ)
		rma.count = elements(c->result, c->result_count);
	else
		rma.count = elements(iov, count);
	c->msg = &m;
	return call(ep, c);
}

static ssize_t vector_call(struct fid_ep *ep, enum mxefi_form form,
			   const struct fi_ioc *iov, size_t count,
			   const struct fi_ioc *compare, size_t compare_count,
			   const struct fi_ioc *result, size_t result_count,
			   fi_addr_t dest, uint64_t addr, uint64_t key,
			   enum fi_datatype datatype, enum fi_op op,
			   void *context)
{
	struct call c = {
		.form = form,
		.compare = compare,
		.compare_count = compare_count,
		.result = result,
		.result_count = result_count,
		.flags = to_handle(ep)->tx_flags,
	};

	return simple_call(ep, &c, iov, count, dest, addr, key, datatype, op,
			   context);
}

static ssize_t msg_call(struct fid_ep *ep, enum mxefi_form form,
			const struct fi_msg_atomic *msg,
			const struct fi_ioc *compare, size_t compare_count,
			const struct fi_ioc *result, size_t result_count,
			uint64_t flags)
{
	struct call c = {
		.msg = msg,
		.form = form,
		.compare = compare,
		.compare_count = compare_count,
		.result = result,
		.result_count = result_count,
		.flags = flags,
	};

	return call(ep, &c);
}

static struct fi_ioc one_ioc(const void *buf, size_t count)
{
	return (struct fi_ioc){
		.addr = (void *)(uintptr_t)buf,
		.count = count,
	};
}

/* ---- calls ------------------------------------------------------------- */

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov,
			     void **desc, size_t count, fi_addr_t dest,
			     uint64_t addr, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op,
			     void *context)
{
	return vector_call(ep, MXEFI_BASE, iov, count, NULL, 0, NULL, 0, dest,
			   addr, key, datatype, op, context);
}

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count,
			    void *desc, fi_addr_t dest, uint64_t addr,
			    uint64_t key, enum fi_datatype datatype,
			    enum fi_op op, void *context)
{
	struct fi_ioc iov = one_ioc(buf, count);

	if (is_single(ep, count))
		return single_call(ep, &(struct single){
			.form = MXEFI_BASE, .op = op, .datatype = datatype,
			.src = buf, .dest = dest, .addr = addr, .key = key,
			.context = context, .flags = to_handle(ep)->tx_flags,
		});
	return atomic_writev(ep, &iov, &desc, 1, dest, addr, key, datatype, op,
			     context);
}

static ssize_t atomic_writemsg(struct fid_ep *ep,
			       const struct fi_msg_atomic *msg, uint64_t flags)
{
	return msg_call(ep, MXEFI_BASE, msg, NULL, 0, NULL, 0, flags);
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
			     fi_addr_t dest, uint64_t addr, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op)
{
	struct fi_ioc iov = one_ioc(buf, count);
	struct call c = {
		.form = MXEFI_BASE, .flags = FI_INJECT,
		.report = &mxefi_report_errors,
	};

	if (is_single(ep, count))
		return single_call(ep, &(struct single){
			.form = MXEFI_BASE, .op = op, .datatype = datatype,
			.src = buf, .dest = dest, .addr = addr, .key = key,
			.flags = FI_INJECT, .report = &mxefi_report_errors,
		});
	return simple_call(ep, &c, &iov, 1, dest, addr, key, datatype, op,
			   NULL);
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov,
				 void **desc, size_t count,
				 struct fi_ioc *result, void **result_desc,
				 size_t result_count, fi_addr_t dest,
				 uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	return vector_call(ep, MXEFI_FETCH, iov, count, NULL, 0, result,
			   result_count, dest, addr, key, datatype, op,
			   context);
}

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf,
				size_t count, void *desc, void *result,
				void *result_desc, fi_addr_t dest,
				uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	struct fi_ioc iov = one_ioc(buf, count);
	struct fi_ioc results = one_ioc(result, count);

	if (is_single(ep, count))
		return single_call(ep, &(struct single){
			.form = MXEFI_FETCH, .op = op, .datatype = datatype,
			.src = buf, .result = result, .dest = dest,
			.addr = addr, .key = key, .context = context,
			.flags = to_handle(ep)->tx_flags,
		});
	return atomic_readwritev(ep, &iov, &desc, 1, &results, &result_desc, 1,
				 dest, addr, key, datatype, op, context);
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep,
				   const struct fi_msg_atomic *msg,
				   struct fi_ioc *result, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	return msg_call(ep, MXEFI_FETCH, msg, NULL, 0, result, result_count,
			flags);
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov,
				 void **desc, size_t count,
				 const struct fi_ioc *compare,
				 void **compare_desc, size_t compare_count,
				 struct fi_ioc *result, void **result_desc,
				 size_t result_count, fi_addr_t dest,
				 uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	return vector_call(ep, MXEFI_COMPARE, iov, count, compare,
			   compare_count, result, result_count, dest, addr, key,
			   datatype, op, context);
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf,
				size_t count, void *desc, const void *compare,
				void *compare_desc, void *result,
				void *result_desc, fi_addr_t dest,
				uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	struct fi_ioc iov = one_ioc(buf, count);
	struct fi_ioc compares = one_ioc(compare, count);
	struct fi_ioc results = one_ioc(result, count);

	if (is_single(ep, count))
		return single_call(ep, &(struct single){
			.form = MXEFI_COMPARE, .op = op, .datatype = datatype,
			.src = buf, .cmp = compare, .result = result,
			.dest = dest, .addr = addr, .key = key,
			.context = context, .flags = to_handle(ep)->tx_flags,
		});
	return atomic_compwritev(ep, &iov, &desc, 1, &compares, &compare_desc,
				 1, &results, &result_desc, 1, dest, addr, key,
				 datatype, op, context);
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep,
				   const struct fi_msg_atomic *msg,
				   const struct fi_ioc *compare,
				   void **compare_desc, size_t compare_count,
				   struct fi_ioc *result, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	return msg_call(ep, MXEFI_COMPARE, msg, compare, compare_count, result,
			result_count, flags);
}

static int valid(const struct mxefi_domain *dom, enum mxefi_form form,
		 enum fi_datatype datatype, enum fi_op op, size_t *count)
{
	if (!supported(dom, form, op, datatype))
		return -FI_EOPNOTSUPP;
	*count = MXEFI_MAX_ATOMIC_COUNT;
	return 0;
}

static int atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype,
			     enum fi_op op, size_t *count)
{
	return valid(to_ep(ep)->dom, MXEFI_BASE, datatype, op, count);
}

static int atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
				 enum fi_op op, size_t *count)
{
	return valid(to_ep(ep)->dom, MXEFI_FETCH, datatype, op, count);
}

static int atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
				 enum fi_op op, size_t *count)
{
	return valid(to_ep(ep)->dom, MXEFI_COMPARE, datatype, op, count);
}

int mxefi_atomic_query(struct fid_domain *domain, enum fi_datatype datatype,
		       enum fi_op op, struct fi_atomic_attr *attr,
		       uint64_t flags)
{
	const struct mxefi_domain *dom = to_domain(domain);
	uint64_t forms = flags & ~FI_TAGGED;
	enum mxefi_form form = MXEFI_BASE;

	if (forms & ~(uint64_t)(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC) ||
	    forms == (FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC))
		return -FI_EINVAL;
	if (forms)
		form = forms & FI_FETCH_ATOMIC ? MXEFI_FETCH : MXEFI_COMPARE;
	attr->size = mxefi_type_size(datatype);
	if (flags & FI_TAGGED && !supported_tagged(dom, form, op, datatype))
		return -FI_EOPNOTSUPP;
	return valid(dom, form, datatype, op, &attr->count);
}

struct fi_ops_atomic mxefi_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = atomic_write,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = atomic_writevalid,
	.readwritevalid = atomic_readwritevalid,
	.compwritevalid = atomic_compwritevalid,
};
