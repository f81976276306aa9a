/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.c stands in for the kernel below the protocol engine: memory, time, work and
 * the IP layer, on one CPU and without interrupts.  The engine is compiled with the
 * kernel's own headers; this is all it calls.
 */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

/* What is certain whatever comes: if not, that is a finding. */
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

/* Memory that has struct pages. */
extern u8 fk_memory[FK_PAGES][PAGE_SIZE];

/* Everything is as if nothing had been done yet, but for what is allocated. */
void fk_begin(void);
/* Run what was queued; false if there was nothing. */
bool fk_run_work(void);
/* Let the timers fire that are set; the same. */
bool fk_run_timers(void);
/* A grace period passes. */
void fk_run_rcu(void);

/* ---- the network -------------------------------------------------------- */

/* Of the host: the addresses of two netdevs on one wire, IPv4 mapped or not. */
extern struct net fk_net;
extern struct net_device fk_netdev;
extern struct ib_gid_attr fk_gid[2];
/* Do routes lead back to this host (see loopback.c)? */
extern bool fk_is_local;

/* What is sent goes here, from the IP header on; the data are gone afterwards. */
extern void (*fk_sent)(const u8 *data, size_t len);
/* A packet that has come, from the IP header on, of this very size. */
struct sk_buff *fk_skb(const u8 *data, size_t len);
/* Buffers that are there. */
extern int fk_skbs;

#endif /* FUZZ_KERNEL_H */
