// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel consumer ("upper layer protocol") of masked atomics.
 *
 * Connects two RDMA devices of this host, or one with itself, registers a page
 * on one side and works on it from the other with the verbs API that every
 * kernel consumer has: IB_WR_MASKED_ATOMIC_CMP_AND_SWP and
 * IB_WR_MASKED_ATOMIC_FETCH_AND_ADD need nothing else.
 *
 *	insmod mxe_ulp.ko device=mxe0 peer=mxe1
 *	cat /sys/kernel/debug/mxe_ulp/result
 *
 * It all happens while the module is loaded, which fails with EIO if a value
 * is not the expected one; nothing but the text of the result is left.
 */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include <masked_atomic.h>

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device that posts the requests");

static char *peer;
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "RDMA device that executes them (default: the same)");

/* ---- what is shown ----------------------------------------------------- */

static char result_text[4096];
static struct debugfs_blob_wrapper result_blob = { .data = result_text };
static struct dentry *result_dir;

/* To the kernel log, and to debugfs. */
static __printf(1, 2) void report(const char *fmt, ...)
{
	size_t start = result_blob.size;
	va_list args;

	va_start(args, fmt);
	result_blob.size += vscnprintf(result_text + start,
				       sizeof(result_text) - start, fmt, args);
	va_end(args);
	pr_info("%s", result_text + start);
}

/* ---- devices ----------------------------------------------------------- */

static const char *find_name;
static struct ib_device *find_result;

/* Called for every device there is; keeps none as a client. */
static int find_add(struct ib_device *dev)
{
	if (!strcmp(dev_name(&dev->dev), find_name) && !find_result &&
	    ib_device_try_get(dev))
		find_result = dev;
	return -EOPNOTSUPP;
}

static struct ib_client find_client = {
	.name = KBUILD_MODNAME,
	.add = find_add,
};

/* The device of that name, for ib_device_put(); or NULL. */
static struct ib_device *find_device(const char *name)
{
	find_name = name;
	find_result = NULL;
	if (ib_register_client(&find_client))
		return NULL;
	ib_unregister_client(&find_client);
	return find_result;
}

/* ---- one end of the connection ----------------------------------------- */

#define PORT	1
#define PSN	0x123456

struct endpoint {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	union ib_gid gid;
	int gid_index;
};

/* A work request that is waited for. */
struct request {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/* Context: that of the completion queue, here softirq. */
static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *req = container_of(wc->wr_cqe, struct request, cqe);

	req->status = wc->status;
	complete(&req->done);
}

/*
 * Post and wait.  There is no time limit: the queue pair has one, after which
 * it completes the request with an error.
 */
static int post_and_wait(struct endpoint *ep, struct ib_send_wr *wr,
			 bool irqs_off)
{
	struct request req = { .cqe.done = request_done };
	unsigned long flags;
	int err;

	init_completion(&req.done);
	wr->wr_cqe = &req.cqe;
	wr->send_flags |= IB_SEND_SIGNALED;

	if (irqs_off) {
		/* Posting is allowed in any context (core_locking.rst). */
		local_irq_save(flags);
		err = ib_post_send(ep->qp, wr, NULL);
		local_irq_restore(flags);
	} else {
		err = ib_post_send(ep->qp, wr, NULL);
	}
	if (err) {
		pr_err("ib_post_send: %pe\n", ERR_PTR(err));
		return err;
	}

	wait_for_completion(&req.done);
	if (req.status != IB_WC_SUCCESS) {
		pr_err("request failed: %s\n", ib_wc_status_msg(req.status));
		return -EIO;
	}
	return 0;
}

/* The GID that stands for an IPv4 address of RoCEv2. */
static int endpoint_find_gid(struct endpoint *ep)
{
	const struct ib_gid_attr *attr;
	struct ib_port_attr port;
	int err, i;

	err = ib_query_port(ep->dev, PORT, &port);
	if (err)
		return err;

	for (i = 0; i < port.gid_tbl_len; i++) {
		bool found;

		attr = rdma_get_gid_attr(ep->dev, PORT, i);
		if (IS_ERR(attr))
			continue;
		found = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
			ipv6_addr_v4mapped((const void *)&attr->gid);
		ep->gid = attr->gid;
		ep->gid_index = i;
		rdma_put_gid_attr(attr);
		if (found)
			return 0;
	}
	pr_err("%s has no IPv4 address\n", dev_name(&ep->dev->dev));
	return -EADDRNOTAVAIL;
}

static int endpoint_create(struct endpoint *ep, const char *name)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = 8,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};

	ep->dev = find_device(name);
	if (!ep->dev) {
		pr_err("no RDMA device %s\n", name);
		return -ENODEV;
	}
	if (ep->dev->attrs.masked_atomic_cap == IB_ATOMIC_NONE) {
		pr_err("%s has no masked atomics\n", name);
		return -EOPNOTSUPP;
	}

	ep->pd = ib_alloc_pd(ep->dev, 0);
	if (IS_ERR(ep->pd))
		return PTR_ERR(ep->pd);
	ep->cq = ib_alloc_cq_any(ep->dev, NULL, 16, IB_POLL_SOFTIRQ);
	if (IS_ERR(ep->cq))
		return PTR_ERR(ep->cq);
	init.send_cq = ep->cq;
	init.recv_cq = ep->cq;
	ep->qp = ib_create_qp(ep->pd, &init);
	if (IS_ERR(ep->qp))
		return PTR_ERR(ep->qp);
	return endpoint_find_gid(ep);
}

/*
 * Every request was waited for, so there is nothing to drain; from here on no
 * packet of the peer reaches memory.
 */
static void endpoint_stop(struct endpoint *ep)
{
	if (!IS_ERR_OR_NULL(ep->qp))
		ib_destroy_qp(ep->qp);
}

/* Undo the rest of endpoint_create(), as far as it went. */
static void endpoint_destroy(struct endpoint *ep)
{
	if (!IS_ERR_OR_NULL(ep->cq))
		ib_free_cq(ep->cq);
	if (!IS_ERR_OR_NULL(ep->pd))
		ib_dealloc_pd(ep->pd);
	if (ep->dev)
		ib_device_put(ep->dev);
}

static int endpoint_connect(struct endpoint *ep, const struct endpoint *to)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_ATOMIC,
	};
	union ib_gid dgid = to->gid;
	int err;

	err = ib_modify_qp(ep->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;

	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = to->qp->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
	};
	attr.ah_attr.type = rdma_ah_find_type(ep->dev, PORT);
	rdma_ah_set_port_num(&attr.ah_attr, PORT);
	rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, ep->gid_index, 64, 0);
	err = ib_modify_qp(ep->qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;

	attr = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTS,
		.sq_psn = PSN,
		.timeout = 14,		/* 67 ms */
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	return ib_modify_qp(ep->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

/* ---- memory ------------------------------------------------------------ */

/* What the peer lets us work on: one page of words. */
struct target {
	struct endpoint *ep;
	u64 *words;
	struct scatterlist sg;
	bool mapped;
	struct ib_mr *mr;
};

/* Fast registration: the page gets its key by a work request. */
static int target_create(struct target *t, struct endpoint *ep)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC,
	};
	int n;

	t->ep = ep;
	t->words = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (!t->words)
		return -ENOMEM;
	sg_init_one(&t->sg, t->words, PAGE_SIZE);
	n = ib_dma_map_sg(ep->dev, &t->sg, 1, DMA_BIDIRECTIONAL);
	if (n != 1)
		return -ENOMEM;
	t->mapped = true;

	t->mr = ib_alloc_mr(ep->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(t->mr))
		return PTR_ERR(t->mr);
	n = ib_map_mr_sg(t->mr, &t->sg, 1, NULL, PAGE_SIZE);
	if (n != 1)
		return n < 0 ? n : -EINVAL;

	ib_update_fast_reg_key(t->mr, ib_inc_rkey(t->mr->rkey));
	wr.mr = t->mr;
	wr.key = t->mr->rkey;
	return post_and_wait(ep, &wr.wr, false);
}

static void target_destroy(struct target *t)
{
	if (!IS_ERR_OR_NULL(t->mr))
		ib_dereg_mr(t->mr);
	if (t->mapped)
		ib_dma_unmap_sg(t->ep->dev, &t->sg, 1, DMA_BIDIRECTIONAL);
	free_page((unsigned long)t->words);
}

/* ---- the operations ---------------------------------------------------- */

struct operation {
	const char *what;
	enum ib_wr_opcode opcode;
	unsigned int word;		/* of the target */
	u64 compare_add;
	u64 compare_add_mask;		/* fetch-and-add: field boundaries */
	u64 swap;
	u64 swap_mask;
	bool irqs_off;
};

/*
 * Word 0 has a lock of 16 bits in its second field, and other things that must
 * not change around it.  Word 1 is four counters of 16 bits.
 */
#define LOCK_FIELD	0x00000000ffff0000ULL
#define COUNTER_TOPS	0x8000800080008000ULL

static const u64 initial_words[] = {
	0x1111222200003333ULL,
	0x000700020001ffffULL,
};

static const struct operation operations[] = {
	{
		.what = "masked compare-and-swap, the lock is free: take it",
		.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.word = 0,
		.compare_add = 0,
		.compare_add_mask = LOCK_FIELD,
		.swap = 0x002a0000,
		.swap_mask = LOCK_FIELD,
	}, {
		.what = "masked compare-and-swap, the lock is held: no change",
		.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.word = 0,
		.compare_add = 0,
		.compare_add_mask = LOCK_FIELD,
		.swap = 0x00510000,
		.swap_mask = LOCK_FIELD,
	}, {
		.what = "masked fetch-and-add, four counters, one wraps",
		.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.word = 1,
		.compare_add = 0x0004000300020001ULL,
		.compare_add_mask = COUNTER_TOPS,
	}, {
		.what = "masked fetch-and-add, posted with interrupts off",
		.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.word = 1,
		.compare_add = 0x0001000100010001ULL,
		.compare_add_mask = COUNTER_TOPS,
		.irqs_off = true,
	},
};

static u64 operation_expect(const struct operation *op, u64 old)
{
	if (op->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP)
		return masked_cmp_swap_u64(old, op->compare_add,
					   op->compare_add_mask, op->swap,
					   op->swap_mask);
	return masked_fetch_add_u64(old, op->compare_add,
				    op->compare_add_mask);
}

static void operation_report(const struct operation *op, u64 old, u64 new)
{
	report("%s\n", op->what);
	if (op->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP) {
		report("  compare %016llx mask     %016llx\n",
		       op->compare_add, op->compare_add_mask);
		report("  swap    %016llx mask     %016llx\n", op->swap,
		       op->swap_mask);
	} else {
		report("  add     %016llx boundary %016llx\n",
		       op->compare_add, op->compare_add_mask);
	}
	report("  old     %016llx new      %016llx\n", old, new);
}

/* result: one word of ours for the old value, where the device writes it. */
static int operation_run(const struct operation *op, struct endpoint *ep,
			 struct target *t, u64 *result)
{
	u64 before = READ_ONCE(t->words[op->word]);
	struct ib_sge sge = {
		.length = sizeof(*result),
		.lkey = ep->pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr.opcode = op->opcode,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = t->mr->iova + op->word * sizeof(u64),
		.rkey = t->mr->rkey,
		.compare_add = op->compare_add,
		.compare_add_mask = op->compare_add_mask,
		.swap = op->swap,
		.swap_mask = op->swap_mask,
	};
	u64 expect, new;
	int err;

	sge.addr = ib_dma_map_single(ep->dev, result, sizeof(*result),
				     DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ep->dev, sge.addr))
		return -ENOMEM;
	err = post_and_wait(ep, &wr.wr, op->irqs_off);
	ib_dma_unmap_single(ep->dev, sge.addr, sizeof(*result),
			    DMA_FROM_DEVICE);
	if (err)
		return err;

	/* The peer's memory is this host's too. */
	new = READ_ONCE(t->words[op->word]);
	operation_report(op, *result, new);
	expect = operation_expect(op, before);
	if (*result != before || new != expect) {
		pr_err("expected old %016llx new %016llx\n", before, expect);
		return -EIO;
	}
	return 0;
}

static int run_operations(struct endpoint *ep, struct target *t)
{
	u64 *result = kzalloc(sizeof(*result), GFP_KERNEL);
	int err = 0;
	int i;

	if (!result)
		return -ENOMEM;
	memcpy(t->words, initial_words, sizeof(initial_words));
	for (i = 0; i < ARRAY_SIZE(operations) && !err; i++)
		err = operation_run(&operations[i], ep, t, result);
	kfree(result);
	return err;
}

/* ---- all of it --------------------------------------------------------- */

static int __init run(const char *name, const char *peer_name)
{
	struct endpoint ep = {}, peer_ep = {};
	struct target target = {};
	int err;

	err = endpoint_create(&ep, name);
	if (!err)
		err = endpoint_create(&peer_ep, peer_name);
	if (!err)
		err = endpoint_connect(&ep, &peer_ep);
	if (!err)
		err = endpoint_connect(&peer_ep, &ep);
	if (!err)
		err = target_create(&target, &peer_ep);
	if (!err) {
		report("%s to %s\n", name, peer_name);
		err = run_operations(&ep, &target);
	}

	/* First what can reach the memory, then the memory. */
	endpoint_stop(&ep);
	endpoint_stop(&peer_ep);
	target_destroy(&target);
	endpoint_destroy(&peer_ep);
	endpoint_destroy(&ep);
	return err;
}

static int __init mxe_ulp_init(void)
{
	int err;

	if (!device) {
		pr_err("which device? device=NAME\n");
		return -EINVAL;
	}
	err = run(device, peer ?: device);
	if (err) {
		pr_err("failed: %pe\n", ERR_PTR(err));
		return err;
	}
	report("all values as expected\n");

	result_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_blob("result", 0444, result_dir, &result_blob);
	return 0;
}

static void __exit mxe_ulp_exit(void)
{
	debugfs_remove_recursive(result_dir);
}

module_init(mxe_ulp_init);
module_exit(mxe_ulp_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Example of a kernel consumer of masked atomics");
MODULE_LICENSE("GPL");
MODULE_VERSION(MXE_VERSION);
