// SPDX-License-Identifier: GPL-2.0
/* Replaces the kernel below the protocol engine. See kernel.h. */
#include <linux/crypto.h>
#include <linux/hrtimer.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/radix-tree.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/swait.h>
#include <linux/timer.h>
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ipv6_stubs.h>
#include <net/net_namespace.h>
#include <net/route.h>
#include <net/sch_generic.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_umem.h>

#include "device.h"
#include "kernel.h"
#include "memory/dmabuf.h"
#include "memory/pin.h"

void abort(void) __noreturn;

void fk_fail(const char *file, int line, const char *what)
{
	dprintf(2, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

/* ---- memory ------------------------------------------------------------- */

u8 fk_memory[FK_PAGES][PAGE_SIZE] __aligned(PAGE_SIZE);
static struct page fk_pages[FK_PAGES];
struct page *mem_map = fk_pages;
unsigned long uml_physmem;
unsigned long task_size = ~0UL;
struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];

unsigned long fk_failed_allocs;
static unsigned int fk_good_allocs, fk_bad_allocs;

void fk_fail_allocs(unsigned int after, unsigned int num)
{
	fk_good_allocs = after;
	fk_bad_allocs = num;
}

static bool fk_alloc_fails(void)
{
	if (!fk_bad_allocs)
		return false;
	if (fk_good_allocs) {
		fk_good_allocs--;
		return false;
	}
	fk_bad_allocs--;
	fk_failed_allocs++;
	return true;
}

void *__kmalloc(size_t size, gfp_t flags)
{
	if (fk_alloc_fails())
		return NULL;
	return flags & __GFP_ZERO ? calloc(1, size) : malloc(size);
}

void *kmalloc_trace(struct kmem_cache *cache, gfp_t flags, size_t size)
{
	return __kmalloc(size, flags);
}

void *kvmalloc_node(size_t size, gfp_t flags, int node)
{
	return __kmalloc(size, flags);
}

/* There is only one CPU. */
void __percpu *__alloc_percpu(size_t size, size_t align)
{
	return (__force void __percpu *)__kmalloc(size, GFP_KERNEL | __GFP_ZERO);
}

void *__vmalloc(unsigned long size, gfp_t flags)
{
	return __kmalloc(size, flags);
}

void kfree(const void *p)
{
	free((void *)p);
}

void kvfree(const void *p)
{
	free((void *)p);
}

void vfree(const void *p)
{
	free((void *)p);
}

/* Only the xarray uses a slab cache. */
struct kmem_cache *radix_tree_node_cachep;

void *kmem_cache_alloc_lru(struct kmem_cache *cache, struct list_lru *lru,
			   gfp_t flags)
{
	struct radix_tree_node *node;

	if (fk_alloc_fails())
		return NULL;
	node = calloc(1, sizeof(*node));
	INIT_LIST_HEAD(&node->private_list);
	return node;
}

void radix_tree_node_rcu_free(struct rcu_head *head)
{
	free(container_of(head, struct radix_tree_node, rcu_head));
}

unsigned long raw_copy_from_user(void *to, const void __user *from,
				 unsigned long n)
{
	memcpy(to, (__force const void *)from, n);
	return 0;
}

unsigned long raw_copy_to_user(void __user *to, const void *from,
			       unsigned long n)
{
	memcpy((__force void *)to, from, n);
	return 0;
}

void *memdup_user(const void __user *from, size_t size)
{
	void *p = __kmalloc(size, 0);

	return p ? memcpy(p, (__force const void *)from, size) : ERR_PTR(-ENOMEM);
}

/* The xarray uses this, too. */
void __bitmap_clear(unsigned long *map, unsigned int start, int len)
{
	while (len-- > 0)
		__clear_bit(start++, map);
}

void *memchr_inv(const void *p, int c, size_t n)
{
	const u8 *b = p;

	for (; n--; b++)
		if (*b != (u8)c)
			return (void *)b;
	return NULL;
}

int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int nents,
		   unsigned int *offset, int (*set_page)(struct ib_mr *, u64))
{
	struct scatterlist *sg;
	int i;

	mr->iova = (u64)sg_virt(sgl);
	mr->length = 0;
	for_each_sg(sgl, sg, nents, i) {
		if (set_page(mr, (u64)sg_virt(sg)))
			break;
		mr->length += sg->length;
	}
	return i;
}

void sg_init_table(struct scatterlist *sg, unsigned int n)
{
	memset(sg, 0, n * sizeof(*sg));
	sg_mark_end(sg + n - 1);
}

struct scatterlist *sg_next(struct scatterlist *sg)
{
	return sg_is_last(sg) ? NULL : sg + 1;
}

/* Rings are not mapped. The target writes to them directly. */
int rdma_user_mmap_entry_insert(struct ib_ucontext *uctx,
				struct rdma_user_mmap_entry *entry, size_t len)
{
	entry->npages = len >> PAGE_SHIFT;
	entry->ucontext = uctx;
	return 0;
}

void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry)
{
	entry->ucontext->device->ops.mmap_free(entry);
}

/* Of memory of the process. A page is a block. */
struct mxe_pin *mxe_pin_get(struct mxe_dev *dev, u64 start, u64 length,
			    int access)
{
	u64 offset = start - (unsigned long)fk_memory[0];
	u32 first = offset / PAGE_SIZE, i;
	struct mxe_pin *pin;

	if (offset >= FK_PAGES / 2 * PAGE_SIZE ||
	    length > FK_PAGES / 2 * PAGE_SIZE - offset)
		return ERR_PTR(-EFAULT);
	pin = __kmalloc(sizeof(*pin), __GFP_ZERO);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	pin->key = (struct mxe_pin_key) {
		.mm = current->mm, .start = start, .length = length,
	};
	pin->block_shift = PAGE_SHIFT;
	pin->first_offset = offset % PAGE_SIZE;
	pin->num_blocks = DIV_ROUND_UP(pin->first_offset + length, PAGE_SIZE);
	pin->blocks = __kmalloc((pin->num_blocks ?: 1) * sizeof(*pin->blocks), 0);
	if (!pin->blocks) {
		kfree(pin);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < pin->num_blocks; i++)
		pin->blocks[i] = fk_memory[2 * (first + i)];
	return pin;
}

/* One page, which both the buffer and the process can name. */
struct mxe_dmabuf *mxe_dmabuf_open(struct mxe_dev *dev, int fd, u64 offset,
				   u64 length, bool writable, void **mem)
{
	if (offset > PAGE_SIZE || length > PAGE_SIZE - offset)
		return ERR_PTR(-EINVAL);
	*mem = fk_memory[0] + offset;
	return (struct mxe_dmabuf *)fk_memory[0];
}

void mxe_dmabuf_close(struct mxe_dmabuf *dmabuf)
{
	CHECK((u8 *)dmabuf == fk_memory[0]);
}

void mxe_pin_put(struct mxe_dev *dev, struct mxe_pin *pin)
{
	kfree(pin->blocks);
	kfree(pin);
}

/* ---- the module ---------------------------------------------------------- */

/* The module parameters refer to both. Nothing sets a parameter. */
struct module __this_module;
const struct kernel_param_ops param_ops_bool;

/* ---- complaints, time, work --------------------------------------------- */

void warn_slowpath_fmt(const char *file, int line, unsigned int taint,
		       const char *fmt, ...)
{
	fk_fail(file, line, "WARN_ON");
}

void panic(const char *fmt, ...)
{
	fk_fail(__FILE__, __LINE__, "BUG_ON");
}

int _printk(const char *fmt, ...)
{
	return 0;
}

void refcount_warn_saturate(refcount_t *r, enum refcount_saturation_type t)
{
	fk_fail(__FILE__, __LINE__, "a reference count saturates");
}

bool static_key_initialized = true;
int signals_enabled = 1;

int um_set_signals(int enable)
{
	return 0;
}

void block_signals(void)
{
}

void unblock_signals(void)
{
}

int fk_preempt_count;

void __local_bh_enable_ip(unsigned long ip, unsigned int cnt)
{
	fk_preempt_count -= cnt;
}

void __mutex_init(struct mutex *lock, const char *name,
		  struct lock_class_key *key)
{
}

void mutex_lock(struct mutex *lock)
{
}

void mutex_unlock(struct mutex *lock)
{
}

void __init_swait_queue_head(struct swait_queue_head *q, const char *name,
			     struct lock_class_key *key)
{
}

void complete(struct completion *c)
{
	c->done++;
}

static struct thread_info fk_thread_info;
struct task_struct fk_current = { .stack = &fk_thread_info };

int __cond_resched(void)
{
	return 0;
}

bool single_task_running(void)
{
	return true;
}

unsigned long long sched_clock(void)
{
	return 0;
}

/* Nothing waits here. See never.c. */
void wake_up_var(void *var)
{
}

void usleep_range_state(unsigned long min, unsigned long max, unsigned int state)
{
	CHECK(!"sleeps");
}

/* Nothing else can complete it, so a reference has leaked. */
void wait_for_completion(struct completion *c)
{
	CHECK(c->done);
}

static struct rcu_head *fk_rcu;

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	head->func = func;
	head->next = (void *)fk_rcu;
	fk_rcu = head;
}

void fk_run_rcu(void)
{
	while (fk_rcu) {
		struct rcu_head *head = fk_rcu;
		unsigned long offset = (unsigned long)head->func;

		fk_rcu = (void *)head->next;
		/*
		 * kfree_rcu() passes the offset of the rcu_head as the
		 * function.
		 */
		if (offset < 4096)
			free((void *)head - offset);
		else
			head->func(head);
	}
}

void synchronize_rcu(void)
{
	fk_run_rcu();
}

static LIST_HEAD(fk_work);

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags,
					 int max_active, ...)
{
	return NULL;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
}

bool queue_work_on(int cpu, struct workqueue_struct *wq,
		   struct work_struct *work)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	list_add_tail(&work->entry, &fk_work);
	return true;
}

unsigned int work_busy(struct work_struct *work)
{
	return work_pending(work) ? WORK_BUSY_PENDING : 0;
}

bool cancel_work_sync(struct work_struct *work)
{
	if (!test_and_clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	list_del_init(&work->entry);
	return true;
}

bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq,
			   struct delayed_work *dwork, unsigned long delay)
{
	struct work_struct *work = &dwork->work;

	if (!delay)
		return queue_work_on(cpu, wq, work);
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	mod_timer(&dwork->timer, jiffies + delay);
	return true;
}

void delayed_work_timer_fn(struct timer_list *timer)
{
	struct delayed_work *dwork = from_timer(dwork, timer, timer);

	list_add_tail(&dwork->work.entry, &fk_work);
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	timer_delete(&dwork->timer);
	return cancel_work_sync(&dwork->work);
}

bool mod_delayed_work_on(int cpu, struct workqueue_struct *wq,
			 struct delayed_work *dwork, unsigned long delay)
{
	bool pending = cancel_delayed_work_sync(dwork);

	queue_delayed_work_on(cpu, wq, dwork, delay);
	return pending;
}

bool fk_run_work(void)
{
	struct work_struct *work;

	work = list_first_entry_or_null(&fk_work, struct work_struct, entry);
	if (!work)
		return false;
	cancel_work_sync(work);
	work->func(work);
	return true;
}

static HLIST_HEAD(fk_timers);

void init_timer_key(struct timer_list *timer,
		    void (*func)(struct timer_list *), unsigned int flags,
		    const char *name, struct lock_class_key *key)
{
	timer->entry.pprev = NULL;
	timer->function = func;
	timer->flags = flags;
}

int timer_delete(struct timer_list *timer)
{
	bool pending = timer_pending(timer);

	if (pending)
		hlist_del_init(&timer->entry);
	return pending;
}

int timer_delete_sync(struct timer_list *timer)
{
	return timer_delete(timer);
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	int pending = timer_delete(timer);

	CHECK(timer->function);
	timer->expires = expires;
	hlist_add_head(&timer->entry, &fk_timers);
	return pending;
}

bool fk_run_timers(void)
{
	struct hlist_node *first = fk_timers.first;
	struct timer_list *timer;

	if (!first)
		return false;
	timer = hlist_entry(first, struct timer_list, entry);
	if (time_before(jiffies, timer->expires))
		jiffies = timer->expires;
	timer_delete(timer);
	timer->function(timer);
	return true;
}

void hrtimer_init(struct hrtimer *timer, clockid_t clock,
		  enum hrtimer_mode mode)
{
	memset(timer, 0, sizeof(*timer));
}

/* Completion events are not moderated here, so the timer never runs. */
void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t time, u64 range,
			    const enum hrtimer_mode mode)
{
}

int hrtimer_cancel(struct hrtimer *timer)
{
	return 0;
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	return 0;
}

ktime_t ktime_get(void)
{
	return jiffies * (NSEC_PER_SEC / HZ);
}

ktime_t ktime_get_with_offset(enum tk_offsets offset)
{
	return ktime_get();
}

ktime_t ktime_get_coarse_with_offset(enum tk_offsets offset)
{
	return ktime_get();
}

unsigned long nsecs_to_jiffies(u64 ns)
{
	return ns / (NSEC_PER_SEC / HZ);
}

unsigned long __msecs_to_jiffies(const unsigned int ms)
{
	return DIV_ROUND_UP((unsigned long)ms, MSEC_PER_SEC / HZ);
}

unsigned long __usecs_to_jiffies(const unsigned int us)
{
	return us / (USEC_PER_SEC / HZ);
}

static u64 fk_seed;

u32 get_random_u32(void)
{
	fk_seed = fk_seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return fk_seed >> 32;
}

void get_random_bytes(void *buf, size_t len)
{
	u8 *p = buf;

	while (len--)
		*p++ = get_random_u32();
}

/* ---- packets ------------------------------------------------------------ */

int fk_skbs;

static struct sk_buff *fk_alloc_skb(unsigned int size)
{
	struct sk_buff *skb = fk_buf_alloc(sizeof(*skb));
	unsigned int end = ALIGN(size, 8);

	memset(skb, 0, offsetof(struct sk_buff, tail));
	skb->head = fk_buf_alloc(end + sizeof(struct skb_shared_info));
	skb->data = skb->head;
	skb_reset_tail_pointer(skb);
	skb->end = end;
	memset(skb_shinfo(skb), 0, sizeof(struct skb_shared_info));
	refcount_set(&skb->users, 1);
	fk_skbs++;
	return skb;
}

struct sk_buff *__alloc_skb(unsigned int size, gfp_t mask, int flags, int node)
{
	return fk_alloc_fails() ? NULL : fk_alloc_skb(size);
}

/* The fragment caches are empty, so the engine uses other memory. */
void *__napi_alloc_frag_align(unsigned int size, unsigned int mask)
{
	return NULL;
}

bool skb_page_frag_refill(unsigned int size, struct page_frag *frag, gfp_t mask)
{
	return false;
}

void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason)
{
	if (!skb || !skb_unref(skb))
		return;
	kfree_skb_list_reason(skb_shinfo(skb)->frag_list, reason);
	skb_dst_drop(skb);
	fk_buf_free(skb->head);
	fk_buf_free(skb);
	fk_skbs--;
}

void kfree_skb_list_reason(struct sk_buff *list, enum skb_drop_reason reason)
{
	struct sk_buff *next;

	for (; list; list = next) {
		next = list->next;
		kfree_skb_reason(list, reason);
	}
}

/* Copies the data, too. */
struct sk_buff *skb_clone(struct sk_buff *skb, gfp_t mask)
{
	struct sk_buff *copy;

	if (fk_alloc_fails())
		return NULL;
	copy = fk_skb(skb_network_header(skb),
		      skb_tail_pointer(skb) - skb_network_header(skb));
	skb_pull(copy, skb->data - skb_network_header(skb));
	memcpy(copy->cb, skb->cb, sizeof(copy->cb));
	return copy;
}

void napi_consume_skb(struct sk_buff *skb, int budget)
{
	kfree_skb(skb);
}

void *skb_put(struct sk_buff *skb, unsigned int len)
{
	void *p = skb_tail_pointer(skb);

	CHECK(len <= skb->end - skb->tail);
	skb->tail += len;
	skb->len += len;
	return p;
}

void *skb_pull(struct sk_buff *skb, unsigned int len)
{
	CHECK(len <= skb->len);
	return __skb_pull(skb, len);
}

void *skb_push(struct sk_buff *skb, unsigned int len)
{
	CHECK(len <= skb_headroom(skb));
	skb->data -= len;
	skb->len += len;
	return skb->data;
}

void skb_queue_purge(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		kfree_skb(skb);
}

/* Headroom in front of the IP header, as drivers leave it. */
#define FK_HEADROOM	128

/* The tailroom of a received packet, which must not be accessed. */
#define FK_GAP	64

struct sk_buff *fk_skb(const u8 *data, size_t len)
{
	struct sk_buff *skb = fk_alloc_skb(FK_HEADROOM + ALIGN(len, 8) + FK_GAP);
	u8 *p;

	skb_reserve(skb, FK_HEADROOM);
	p = skb_put(skb, len);

	memcpy(p, data, len);
	fk_buf_guard(p + ALIGN(len, 8), FK_GAP);
	skb->dev = fk_rx_netdev;
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_hdr(skb)->version == 4 ?
				      ip_hdr(skb)->ihl * 4 :
				      sizeof(struct ipv6hdr));
	return skb;
}

/* ---- the IP layer ------------------------------------------------------- */

struct net fk_net;
static struct sock fk_sock;
struct socket fk_socket = { .sk = &fk_sock };
struct net_device fk_netdev = {
	.ifindex = 2, .mtu = 1100, .features = NETIF_F_GSO_FRAGLIST,
};
struct net_device fk_vlan = { .ifindex = 3, .priv_flags = IFF_802_1Q_VLAN };
struct net_device fk_vrf = { .ifindex = 4, .priv_flags = IFF_L3MDEV_MASTER };
struct net_device fk_foreign = { .ifindex = 5 };
struct net_device *fk_rx_netdev = &fk_netdev;
/* Nothing on the loopback netdev could act on packets (hooks.h). */
static struct Qdisc fk_noqueue;
static struct netdev_queue fk_loopback_queue = { .qdisc = &fk_noqueue };
static struct net_device fk_loopback = {
	.ifindex = 1, .flags = IFF_LOOPBACK, ._tx = &fk_loopback_queue,
	.num_tx_queues = 1,
};
static struct in_device fk_in_dev;
struct ib_gid_attr fk_gid[2];
bool fk_is_local;
void (*fk_sent)(const u8 *data, size_t len);
void (*fk_take)(struct sk_buff *skb);

/* Without an MTU. */
static const struct dst_metrics fk_metrics;

/*
 * Any route of either family. Its refcount is one more than the number of
 * references in use.
 */
static union {
	struct rtable rt;
	struct rt6_info rt6;
	struct dst_entry dst;
} fk_route = {
	.dst.__refcnt = ATOMIC_INIT(1),
};

static struct dst_entry *fk_dst(void)
{
	fk_route.dst._metrics = (unsigned long)&fk_metrics;
	fk_route.dst.dev = fk_is_local ? &fk_loopback : &fk_netdev;
	dst_hold(&fk_route.dst);
	return &fk_route.dst;
}

/* Packets have no socket, because no route has an MTU. */
void sock_efree(struct sk_buff *skb)
{
	CHECK(0);
}

void fk_set_route(struct sk_buff *skb)
{
	skb_dst_set(skb, fk_dst());
}

struct rtable *ip_route_output_flow(struct net *net, struct flowi4 *fl,
				    const struct sock *sk)
{
	if (fk_alloc_fails())
		return ERR_PTR(-ENOBUFS);
	return (struct rtable *)fk_dst();
}

static struct dst_entry *fk_dst6(struct net *net, const struct sock *sk,
				 struct flowi6 *fl6,
				 const struct in6_addr *final)
{
	return fk_alloc_fails() ? ERR_PTR(-ENOBUFS) : fk_dst();
}

static const struct ipv6_stub fk_ipv6_stub = {
	.ipv6_dst_lookup_flow = fk_dst6,
};
const struct ipv6_stub *ipv6_stub = &fk_ipv6_stub;

/* Sets the lengths in the headers of a packet and passes it to the target. */
static void fk_out_one(u8 *packet, size_t len)
{
	struct iphdr *ip4 = (struct iphdr *)packet;
	struct ipv6hdr *ip6 = (struct ipv6hdr *)packet;
	size_t ip_len = ip4->version == 4 ? sizeof(*ip4) : sizeof(*ip6);
	struct udphdr *udp = (struct udphdr *)(packet + ip_len);

	if (ip4->version == 4)
		ip4->tot_len = htons(len);
	else
		ip6->payload_len = htons(len - ip_len);
	udp->len = htons(len - ip_len);
	fk_sent(packet, len);
}

/*
 * Passes on each packet of a GSO batch with the headers of the first, as GSO
 * does.
 */
static int fk_out(struct sk_buff *skb)
{
	size_t hdr_len = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct sk_buff *other;

	if (fk_take) {
		fk_take(skb);
		return 0;
	}
	fk_out_one(skb->data, skb_headlen(skb));
	skb_walk_frags(skb, other) {
		CHECK(other->len <= skb_headlen(skb) - hdr_len);
		CHECK(skb_headroom(other) >= hdr_len);
		memcpy(skb_push(other, hdr_len), skb->data, hdr_len);
		fk_out_one(other->data, other->len);
	}
	kfree_skb(skb);
	return 0;
}

void ip_send_check(struct iphdr *iph)
{
	iph->check = 0;
	iph->check = ip_fast_csum(iph, iph->ihl);
}

int ip_local_out(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return fk_out(skb);
}

int ip6_local_out(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return fk_out(skb);
}

void dst_release(struct dst_entry *dst)
{
	if (dst)
		CHECK(atomic_dec_return(&dst->__refcnt) > 0);
}

const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *ibdev,
						const union ib_gid *gid,
						enum ib_gid_type type, u32 port,
						struct net_device *ndev)
{
	int i;

	if (ndev && ndev != &fk_netdev)
		return ERR_PTR(-ENOENT);
	for (i = 0; i < ARRAY_SIZE(fk_gid); i++)
		if (!memcmp(gid, &fk_gid[i].gid, sizeof(*gid)))
			return &fk_gid[i];
	return ERR_PTR(-ENOENT);
}

void rdma_put_gid_attr(const struct ib_gid_attr *attr)
{
}

struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr)
{
	return &fk_netdev;
}

struct net_device *dev_get_by_index_rcu(struct net *net, int ifindex)
{
	return ifindex == fk_netdev.ifindex ? &fk_netdev : NULL;
}

bool netdev_has_upper_dev_all_rcu(struct net_device *ndev, struct net_device *upper)
{
	return ndev == &fk_netdev && (upper == &fk_vlan || upper == &fk_vrf);
}

struct net_device *vlan_dev_real_dev(const struct net_device *ndev)
{
	return &fk_netdev;
}

u16 vlan_dev_vlan_id(const struct net_device *ndev)
{
	return 7;
}

int fk_groups;

void rtnl_lock(void)
{
}

void rtnl_unlock(void)
{
}

void ip_mc_inc_group(struct in_device *in_dev, __be32 addr)
{
	fk_groups++;
}

void __ip_mc_dec_group(struct in_device *in_dev, __be32 addr, gfp_t gfp)
{
	fk_groups--;
}

int ipv6_dev_mc_inc(struct net_device *ndev, const struct in6_addr *addr)
{
	fk_groups++;
	return 0;
}

int ipv6_dev_mc_dec(struct net_device *ndev, const struct in6_addr *addr)
{
	fk_groups--;
	return 0;
}

/* ---- the core ----------------------------------------------------------- */

enum {
	FK_RTR = IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	FK_RTS = IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
		 IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
	FK_ANY = IB_QP_ACCESS_FLAGS | IB_QP_QKEY | IB_QP_PKEY_INDEX |
		 IB_QP_MIN_RNR_TIMER,
};

/* The tables of the core are longer. This allows all that the targets need. */
static const struct {
	enum ib_qp_state from, to;
	int required, optional;
} fk_transitions[] = {
	{ IB_QPS_RESET, IB_QPS_INIT, IB_QP_PORT, FK_ANY },
	{ IB_QPS_INIT, IB_QPS_INIT, 0, FK_ANY },
	{ IB_QPS_INIT, IB_QPS_RTR, FK_RTR, FK_ANY | IB_QP_AV },
	{ IB_QPS_RTR, IB_QPS_RTS, FK_RTS, FK_ANY },
	{ IB_QPS_RTS, IB_QPS_RTS, 0, FK_ANY },
	{ IB_QPS_SQE, IB_QPS_RTS, 0, FK_ANY },
	{ IB_QPS_RTS, IB_QPS_SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IB_QPS_SQD, IB_QPS_SQD, 0,
	  FK_ANY | IB_QP_AV | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
	  IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC },
	{ IB_QPS_SQD, IB_QPS_RTS, 0, FK_ANY },
};

bool ib_modify_qp_is_ok(enum ib_qp_state from, enum ib_qp_state to,
			enum ib_qp_type type, enum ib_qp_attr_mask mask)
{
	int bits = mask & ~(IB_QP_STATE | IB_QP_CUR_STATE);
	unsigned int i;

	if (to == IB_QPS_RESET || to == IB_QPS_ERR)
		return !bits;
	/* Only a UD queue pair has no path of its own. */
	if (to == IB_QPS_RTR && !(bits & IB_QP_AV) && type != IB_QPT_UD)
		return false;
	for (i = 0; i < ARRAY_SIZE(fk_transitions); i++)
		if (fk_transitions[i].from == from && fk_transitions[i].to == to)
			return !(fk_transitions[i].required & ~bits) &&
			       !(bits & ~(fk_transitions[i].required |
					  fk_transitions[i].optional));
	return false;
}

bool mxe_resource_try_take(struct mxe_dev *dev, enum mxe_resource type)
{
	/* Few DC sessions, so that a target runs out of them. */
	int limit = type == MXE_RESOURCE_DC_SESSION ? 4 : 64;

	return atomic_add_unless(&dev->resources[type], 1, limit);
}

int mxe_resource_take(struct mxe_dev *dev, enum mxe_resource type)
{
	return mxe_resource_try_take(dev, type) ? 0 : -ENOMEM;
}

void mxe_resource_give(struct mxe_dev *dev, enum mxe_resource type)
{
	CHECK(atomic_dec_return(&dev->resources[type]) >= 0);
}

void fk_begin(void)
{
	uml_physmem = (unsigned long)fk_memory;
	dev_net_set(&fk_netdev, &fk_net);
	dev_net_set(&fk_vlan, &fk_net);
	dev_net_set(&fk_vrf, &fk_net);
	dev_net_set(&fk_foreign, &fk_net);
	fk_net.loopback_dev = &fk_loopback;
	jiffies = 1000;
	fk_seed = 1;
	fk_fail_allocs(0, 0);
	rcu_assign_pointer(fk_netdev.ip_ptr, &fk_in_dev);
	fk_is_local = false;
	CHECK(!fk_rcu && list_empty(&fk_work) && hlist_empty(&fk_timers));
	CHECK(!fk_skbs);
	CHECK(atomic_read(&fk_route.dst.__refcnt) == 1);
}
