/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.c replaces the kernel below the protocol engine: memory, time, work
 * and the IP layer, on one CPU and without interrupts. The engine is compiled
 * with the headers of the kernel and calls no other functions.
 */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

/* Checks a condition that must hold for every input. A failure is a finding. */
#define CHECK(cond) do {						\
	if (!(cond))							\
		fk_fail(__FILE__, __LINE__, #cond);			\
} while (0)

void fk_fail(const char *file, int line, const char *what) __noreturn;
int dprintf(int fd, const char *fmt, ...);
void *calloc(size_t n, size_t size);
void *malloc(size_t size);
void free(void *p);

enum { FK_PAGES = 6 };

/*
 * Memory that has struct pages. The process maps every second page, one after
 * the other from the address of the first on.
 */
extern u8 fk_memory[FK_PAGES][PAGE_SIZE];

/* Lets allocations fail: num of them, after some that succeed. */
void fk_fail_allocs(unsigned int after, unsigned int num);
/* Number of allocations that have failed. */
extern unsigned long fk_failed_allocs;

/* Resets all state except for allocated memory. */
void fk_begin(void);
/* Runs the queued work. Returns false if none was queued. */
bool fk_run_work(void);
/* Expires all pending timers. Returns false if there were none. */
bool fk_run_timers(void);
/* Ends a grace period: runs the queued RCU callbacks. */
void fk_run_rcu(void);

/* ---- the network -------------------------------------------------------- */

/* The netns, a netdev, and the addresses of two netdevs on one wire. */
extern struct net fk_net;
extern struct net_device fk_netdev;
/* A VLAN and a VRF of it, and a netdev without RoCE. */
extern struct net_device fk_vlan, fk_vrf, fk_foreign;
/* The one on which the next packets arrive. */
extern struct net_device *fk_rx_netdev;
extern struct socket fk_socket;
extern struct ib_gid_attr fk_gid[2];
/* True if all routes lead back to this host (see loopback.c). */
extern bool fk_is_local;

/*
 * Called with each sent packet from the IP header on. Must not keep the data.
 */
extern void (*fk_sent)(const u8 *data, size_t len);
/*
 * If set, it is called with each sent packet instead, with incomplete lengths
 * in its headers, and owns it.
 */
extern void (*fk_take)(struct sk_buff *skb);
/* Creates a received packet of exactly this size, from the IP header on. */
struct sk_buff *fk_skb(const u8 *data, size_t len);
/* Gives a received packet the route that the IP layer would give it. */
void fk_set_route(struct sk_buff *skb);
/* Number of skbs that are allocated. */
extern int fk_skbs;
/* Number of multicast groups of which the host is a member. */
extern int fk_groups;

/* ---- exact.c for the fuzz targets, fast.c for the benchmark ------------- */

/* Memory of a socket buffer. Its content is arbitrary. */
void *fk_buf_alloc(size_t size);
void fk_buf_free(void *buf);
/* Makes each access to these bytes of a buffer a finding. */
void fk_buf_guard(const void *at, size_t size);
/* Only in fast.c: the kernel's fastest CRC-32 of this length. */
u32 fk_crc32(u32 crc, const u8 *p, size_t len);

#endif /* FUZZ_KERNEL_H */
