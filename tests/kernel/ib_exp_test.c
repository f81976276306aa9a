// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that kernel queue pairs that contend for two words by
 * ib_exp_post_send() see every old value exactly once.
 * tests/verbs/exp/t_ib_exp_load.sh loads this module.
 *
 *	insmod ib_exp_test.ko device=rxe0 [peer=mxe1] [qps=4] [depth=8]
 *		[rounds=1000] [forever=1] [client=1]
 *
 * Each of the `depth` workers of each queue pair repeats `rounds` times: take a
 * lock, add to a counter, release the lock, add to another field. Loading
 * fails if a value is wrong. With forever=1, the workers run until the module
 * is unloaded or a device is removed. A callback of ib_exp reports the removal
 * or, with client=1, ib_core does, as the module is its client.
 */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_exp.h>

#include "rc.h"

static char *device;
module_param(device, charp, 0444);
static char *peer;
module_param(peer, charp, 0444);
static uint qps = 4;
module_param(qps, uint, 0444);
static uint depth = 8;
module_param(depth, uint, 0444);
static uint rounds = 1000;
module_param(rounds, uint, 0444);
static bool forever;
module_param(forever, bool, 0444);
static bool client;
module_param(client, bool, 0444);
static uint poll_ctx = IB_POLL_SOFTIRQ;
module_param(poll_ctx, uint, 0444);

/* ---- the words --------------------------------------------------------- */

/*
 * Word 0 has a lock, the number of times it was taken, and a field that other
 * workers increment at the same time. Word 1 has four counters.
 */
#define LOCK		0x000000000000ffffULL
#define TAKEN_SHIFT	16
#define TAKEN		0x00000000ffff0000ULL
#define BESIDE_SHIFT	32
#define BESIDE_TOPS	(BIT_ULL(15) | BIT_ULL(31) | BIT_ULL(63))
#define COUNTER_TOPS	0x8000800080008000ULL

enum step { TAKE, COUNT, RELEASE, BESIDE };

/* Has one request in flight. Only its completions write to it. */
struct worker {
	struct ib_cqe cqe;
	struct pair *pair;
	u16 id;				/* in the lock; not 0 */
	enum step step;
	unsigned int rounds;
	u16 taken;			/* when it took the lock */
	u64 *old;
	u64 old_dma;
};

/* A connection: the consumer's queue pair and that of the peer. */
struct pair {
	struct ib_qp *qp, *peer_qp;
	struct ib_exp_qp *eqp;
};

static struct side near, far;
static struct pair *pairs;
static struct worker *workers;
static unsigned int num_workers;
static u64 *olds;
static u64 olds_dma;
static u64 *words;
static u64 words_dma;
static struct ib_mr *words_mr;

static bool stopping;
static atomic_t running, posted, completed, errors, wrong, out_of_retries;
static DECLARE_COMPLETION(all_ended);

/* Holder of the lock, from the completion of TAKE to that of COUNT. */
static atomic_t holder;
/* For each counter: the old values that were returned. */
static unsigned long *found[4];
static unsigned long *found_taken;

static void complain(const struct worker *w, const char *what, u64 value)
{
	if (atomic_inc_return(&wrong) < 10)
		pr_err("worker %u, round %u: %s: %llx\n", w->id, w->rounds,
		       what, value);
}

/* ---- requests ---------------------------------------------------------- */

static int worker_post(struct worker *w)
{
	struct ib_sge sge = {
		.addr = w->old_dma,
		.length = sizeof(*w->old),
		.lkey = near.pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr.wr_cqe = &w->cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.remote_addr = words_mr->iova,
		.rkey = words_mr->rkey,
	};
	int err;

	switch (w->step) {
	case TAKE:
		wr.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP;
		wr.compare_add_mask = LOCK;
		wr.swap = w->id;
		wr.swap_mask = LOCK;
		break;
	case RELEASE:
		wr.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP;
		wr.compare_add = w->id | (u64)w->taken << TAKEN_SHIFT;
		wr.compare_add_mask = LOCK | TAKEN;
		wr.swap = (u64)(u16)(w->taken + 1) << TAKEN_SHIFT;
		wr.swap_mask = LOCK | TAKEN;
		break;
	case COUNT:
		wr.remote_addr += sizeof(u64);
		wr.compare_add = BIT_ULL(16 * (w->id % 4));
		wr.compare_add_mask = COUNTER_TOPS;
		break;
	default:
		wr.compare_add = BIT_ULL(BESIDE_SHIFT);
		wr.compare_add_mask = BESIDE_TOPS;
		break;
	}
	atomic_inc(&posted);
	err = ib_exp_post_send(w->pair->eqp, &wr, w->old);
	if (err)
		atomic_dec(&posted);
	return err;
}

/*
 * Posts the next request unless tear_down() has begun, which waits for callers
 * in this RCU read-side section.
 */
static int worker_post_unless_stopping(struct worker *w)
{
	int err = -ESHUTDOWN;

	rcu_read_lock();
	if (!READ_ONCE(stopping))
		err = worker_post(w);
	rcu_read_unlock();
	return err;
}

static void worker_end(void)
{
	if (atomic_dec_and_test(&running))
		complete_all(&all_ended);
}

/*
 * Records a value. Complains if it was recorded before, unless forever is set.
 */
static void worker_found(struct worker *w, unsigned long *map, u16 value)
{
	if (!forever && test_and_set_bit(value, map))
		complain(w, "found a second time", value);
}

/* Checks the old value that TAKE returned, and selects the next step. */
static void worker_took(struct worker *w, u64 old)
{
	if (old & LOCK)
		return;			/* held by another worker: try again */
	if (atomic_cmpxchg(&holder, 0, w->id))
		complain(w, "took a lock that is held", old);
	w->taken = old >> TAKEN_SHIFT;
	worker_found(w, found_taken, w->taken);
	w->step = COUNT;
}

static void worker_advance(struct worker *w, u64 old)
{
	switch (w->step) {
	case TAKE:
		worker_took(w, old);
		return;
	case COUNT:
		worker_found(w, found[w->id % 4], old >> (16 * (w->id % 4)));
		if (atomic_cmpxchg(&holder, w->id, 0) != w->id)
			complain(w, "lost the lock", old);
		w->step = RELEASE;
		return;
	case RELEASE:
		if ((u16)(old & LOCK) != w->id ||
		    (u16)(old >> TAKEN_SHIFT) != w->taken)
			complain(w, "released a lock of another", old);
		w->step = BESIDE;
		return;
	default:
		w->step = TAKE;
		w->rounds++;
		return;
	}
}

static enum ib_wc_opcode worker_opcode(const struct worker *w)
{
	return w->step == TAKE || w->step == RELEASE ? IB_WC_MASKED_COMP_SWAP :
						       IB_WC_MASKED_FETCH_ADD;
}

/* Returns true if the worker continues. */
static bool worker_completed(struct worker *w, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_SUCCESS) {
		if (wc->opcode != worker_opcode(w))
			complain(w, "opcode", wc->opcode);
		ib_dma_sync_single_for_cpu(near.dev, w->old_dma,
					   sizeof(*w->old), DMA_FROM_DEVICE);
		worker_advance(w, *w->old);
		return true;
	}
	/* Post the same request again. */
	if (wc->status == IB_WC_GENERAL_ERR &&
	    wc->vendor_err == IB_EXP_VENDOR_ERR_RETRIES) {
		atomic_inc(&out_of_retries);
		return true;
	}
	if (!READ_ONCE(stopping) && atomic_inc_return(&errors) < 10)
		pr_info("worker %u: %s, vendor error %x\n", w->id,
			ib_wc_status_msg(wc->status), wc->vendor_err);
	return false;
}

static void worker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct worker *w = container_of(wc->wr_cqe, struct worker, cqe);

	atomic_inc(&completed);
	if (!worker_completed(w, wc) || (!forever && w->rounds == rounds) ||
	    worker_post_unless_stopping(w))
		worker_end();
}

/* ---- set-up ------------------------------------------------------------ */

static void removed(struct ib_exp_qp *eqp, void *context);

static int pair_create(struct pair *p)
{
	int err;

	/* Room for the workers, and for ib_drain_qp(). */
	p->qp = qp_create(&near, depth + 1, 1);
	if (IS_ERR(p->qp))
		return PTR_ERR(p->qp);
	p->peer_qp = qp_create(&far, depth + 1, 1);
	if (IS_ERR(p->peer_qp))
		return PTR_ERR(p->peer_qp);
	p->eqp = ib_exp_qp_enable(p->qp, client ? NULL : removed, p);
	if (IS_ERR(p->eqp))
		return PTR_ERR(p->eqp);
	err = qp_connect(&near, p->qp, &far, p->peer_qp, IB_ACCESS_REMOTE_ATOMIC, 4);
	return err ?: qp_connect(&far, p->peer_qp, &near, p->qp, IB_ACCESS_REMOTE_ATOMIC, 4);
}

static void pair_destroy(struct pair *p)
{
	if (!IS_ERR_OR_NULL(p->eqp))
		ib_exp_qp_disable(p->eqp);
	if (!IS_ERR_OR_NULL(p->qp)) {
		ib_drain_sq(p->qp);
		ib_destroy_qp(p->qp);
	}
	if (!IS_ERR_OR_NULL(p->peer_qp))
		ib_destroy_qp(p->peer_qp);
	*p = (struct pair) {};
}

static DECLARE_COMPLETION(registered);
static enum ib_wc_status registered_status;

static void fast_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	registered_status = wc->status;
	complete(&registered);
}

/* Registers the words with a request on the peer's first queue pair. */
static int words_create(void)
{
	static struct ib_cqe cqe = { .done = fast_reg_done };
	struct ib_reg_wr wr;
	int err;

	words_mr = mr_create(&far, words, words_dma,
			     IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC, &wr);
	if (IS_ERR(words_mr))
		return PTR_ERR(words_mr);
	wr.wr.wr_cqe = &cqe;
	err = ib_post_send(pairs[0].peer_qp, &wr.wr, NULL);
	if (err)
		return err;
	wait_for_completion(&registered);
	return registered_status == IB_WC_SUCCESS ? 0 : -EIO;
}

static int memory_create(void)
{
	int i;

	workers = kcalloc(num_workers, sizeof(*workers), GFP_KERNEL);
	pairs = kcalloc(qps, sizeof(*pairs), GFP_KERNEL);
	olds = kcalloc(num_workers, sizeof(*olds), GFP_KERNEL);
	words = (u64 *)get_zeroed_page(GFP_KERNEL);
	found_taken = bitmap_zalloc(BIT(16), GFP_KERNEL);
	if (!workers || !pairs || !olds || !words || !found_taken)
		return -ENOMEM;
	for (i = 0; i < 4; i++) {
		found[i] = bitmap_zalloc(BIT(16), GFP_KERNEL);
		if (!found[i])
			return -ENOMEM;
	}
	return 0;
}

static void memory_destroy(void)
{
	int i;

	for (i = 0; i < 4; i++)
		bitmap_free(found[i]);
	bitmap_free(found_taken);
	free_page((unsigned long)words);
	kfree(olds);
	kfree(pairs);
	kfree(workers);
}

static int map_memory(void)
{
	olds_dma = ib_dma_map_single(near.dev, olds,
				     num_workers * sizeof(*olds),
				     DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(near.dev, olds_dma))
		return -ENOMEM;
	words_dma = ib_dma_map_single(far.dev, words, PAGE_SIZE,
				      DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(far.dev, words_dma);
}

static void workers_init(void)
{
	unsigned int i;

	for (i = 0; i < num_workers; i++) {
		workers[i].cqe.done = worker_done;
		workers[i].pair = &pairs[i % qps];
		workers[i].id = i + 1;
		workers[i].old = &olds[i];
		workers[i].old_dma = olds_dma + i * sizeof(*olds);
	}
}

static int set_up(void)
{
	unsigned int i;
	int err;

	err = side_create(&near, device, qps * (depth + 2), poll_ctx);
	if (!err)
		err = side_create(&far, peer ?: device, qps * (depth + 2), poll_ctx);
	if (!err)
		err = map_memory();
	for (i = 0; !err && i < qps; i++)
		err = pair_create(&pairs[i]);
	if (!err)
		err = words_create();
	workers_init();
	return err;
}

/* ---- tear-down --------------------------------------------------------- */

static DEFINE_MUTEX(tear_down_lock);

/* Destroys everything that was set up, once. */
static void tear_down(void)
{
	unsigned int i;

	mutex_lock(&tear_down_lock);
	WRITE_ONCE(stopping, true);
	synchronize_rcu();
	for (i = 0; i < qps; i++)
		pair_destroy(&pairs[i]);
	if (!IS_ERR_OR_NULL(words_mr))
		ib_dereg_mr(words_mr);
	words_mr = NULL;
	if (near.dev && olds_dma)
		ib_dma_unmap_single(near.dev, olds_dma,
				    num_workers * sizeof(*olds),
				    DMA_FROM_DEVICE);
	if (far.dev && words_dma)
		ib_dma_unmap_single(far.dev, words_dma, PAGE_SIZE,
				    DMA_BIDIRECTIONAL);
	olds_dma = 0;
	words_dma = 0;
	side_destroy(&far);
	side_destroy(&near);
	mutex_unlock(&tear_down_lock);
}

static void tear_down_work(struct work_struct *work)
{
	tear_down();
}

static DECLARE_WORK(work, tear_down_work);
static atomic_t told;

static void removed(struct ib_exp_qp *eqp, void *context)
{
	atomic_inc(&told);
	schedule_work(&work);
}

static int client_add(struct ib_device *dev)
{
	return 0;
}

static void client_remove(struct ib_device *dev, void *client_data)
{
	if (dev == READ_ONCE(near.dev) || dev == READ_ONCE(far.dev))
		tear_down();
}

static struct ib_client test_client = {
	.name = "ib_exp_test",
	.add = client_add,
	.remove = client_remove,
};

/* ---- the run ----------------------------------------------------------- */

static void start(void)
{
	unsigned int i;

	atomic_set(&running, num_workers + 1);
	for (i = 0; i < num_workers; i++)
		if (worker_post_unless_stopping(&workers[i]))
			worker_end();
	worker_end();
}

/* After the last completion: checks the final values of the words. */
static int verdict(void)
{
	u64 total = (u64)num_workers * rounds;
	u64 expect[2] = {
		(total & 0xffff) << TAKEN_SHIFT | total << BESIDE_SHIFT, 0,
	};
	unsigned int i;

	for (i = 0; i < num_workers; i++)
		expect[1] += (u64)rounds << (16 * (workers[i].id % 4));
	if (words[0] != expect[0] || words[1] != expect[1])
		pr_err("words are %016llx %016llx, not %016llx %016llx\n",
		       words[0], words[1], expect[0], expect[1]);
	pr_info("%s to %s: %u queue pairs, %d requests, %d out of retries, %d errors, %d wrong\n",
		device, peer ?: device, qps, atomic_read(&posted),
		atomic_read(&out_of_retries), atomic_read(&errors),
		atomic_read(&wrong));
	if (words[0] != expect[0] || words[1] != expect[1] ||
	    atomic_read(&wrong) || atomic_read(&errors))
		return -EIO;
	return 0;
}

static struct dentry *dir;

static void show(void)
{
	dir = debugfs_create_dir("ib_exp_test", NULL);
	debugfs_create_atomic_t("posted", 0444, dir, &posted);
	debugfs_create_atomic_t("completed", 0444, dir, &completed);
	debugfs_create_atomic_t("running", 0444, dir, &running);
	debugfs_create_atomic_t("wrong", 0444, dir, &wrong);
	debugfs_create_atomic_t("errors", 0444, dir, &errors);
	debugfs_create_atomic_t("told", 0444, dir, &told);
	debugfs_create_atomic_t("out_of_retries", 0444, dir, &out_of_retries);
}

static int __init ib_exp_test_init(void)
{
	int err;

	num_workers = qps * depth;
	if (!device || !num_workers || num_workers > 1024)
		return -EINVAL;
	/*
	 * A counter has 16 bits and must not wrap, because each old value may
	 * be returned only once.
	 */
	if (!forever && (u64)num_workers * rounds > BIT(16))
		return -EINVAL;

	err = memory_create();
	if (!err)
		err = set_up();
	if (!err && client)
		err = ib_register_client(&test_client);
	if (err) {
		pr_err("not set up: %pe\n", ERR_PTR(err));
		goto err_tear_down;
	}
	start();
	if (!forever) {
		wait_for_completion(&all_ended);
		err = verdict();
		if (err)
			goto err_unregister;
	}
	show();
	return 0;

err_unregister:
	if (client)
		ib_unregister_client(&test_client);
err_tear_down:
	flush_work(&work);
	if (pairs)
		tear_down();
	memory_destroy();
	return err;
}

static void __exit ib_exp_test_exit(void)
{
	debugfs_remove_recursive(dir);
	if (client)
		ib_unregister_client(&test_client);
	/* All QPs are disabled, and no callback is called any more. */
	tear_down();
	flush_work(&work);
	wait_for_completion(&all_ended);
	if (atomic_read(&posted) != atomic_read(&completed))
		pr_err("%d requests posted, %d completed\n",
		       atomic_read(&posted), atomic_read(&completed));
	else
		pr_info("every one of %d requests has completed\n",
			atomic_read(&posted));
	memory_destroy();
}

module_init(ib_exp_test_init);
module_exit(ib_exp_test_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Load for the tests of ib_exp");
MODULE_LICENSE("GPL");
MODULE_VERSION(MXE_VERSION);
