/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connected queue pairs of one device, with memory, for the fuzz target of
 * the protocol engine and for the benchmark.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "ip/qpn.h"
#include "kernel.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "mxe.h"
#include "queues/qp.h"
#include "queues/srq.h"
#include "queues/xrc.h"
#include "queues/xrcd.h"
#include "ucontext.h"

enum kind { KIND_RC, KIND_UC, KIND_UD, KIND_XRC, KIND_DC };

/* Bits of the options besides the kind. */
enum world_options {
	WORLD_SRQ		= BIT(2),
	WORLD_IPV6		= BIT(3),
	WORLD_BE_REPLY		= BIT(4),
	WORLD_LOOPBACK		= BIT(5),
	WORLD_TAGS		= BIT(6),
	/* End A is a DC initiator, and end B a target, instead of the kind. */
	WORLD_DC		= BIT(7),
	/* Completions contain short messages (RC and UC without tags). */
	WORLD_INLINE_RECV	= BIT(8),
	/* Both ends are consumers in the kernel (RC, UC, UD; no tags). */
	WORLD_KERNEL		= BIT(9),
	WORLD_ONE_MAPPING	= BIT(10),
	WORLD_TIMESTAMPS	= BIT(11),
	WORLD_MW_TYPE_1		= BIT(12),
	/* The region is memory of a process, and not a fast registration. */
	WORLD_PINNED		= BIT(13),
};

enum {
	A, B,				/* ends */
	REGION_PAGES = FK_PAGES / 2,	/* each is followed by a foreign page */
	REGION_SIZE = REGION_PAGES * PAGE_SIZE,
	GUARD = 0xa5,
	FIRST_PSN = 0xfffff8,		/* wraps soon */
	QKEY = 0x1234,
	WORLD_DC_KEY = 0xdc,
	ALL_RIGHTS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
		     IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
		     IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL,
};

struct world_conf {
	enum ib_mtu path_mtu;
	u32 sq_depth, cq_depth;
	u8 rd_atomic, traffic_class;
};

struct world {
	struct world_conf conf;
	enum kind kind;
	bool ipv6;
	struct mxe_netns mnet;
	struct mxe_qp_recent recent;
	struct mxe_stats stats;
	struct mxe_dev dev;
	struct mxe_ucontext uctx;
	struct mxe_pd pd;
	struct mxe_cq cq[2];
	struct mxe_xrcd xrcd;
	struct mxe_srq srq;
	bool has_srq;
	bool has_tags;			/* it is a tag-matching SRQ */
	bool is_kernel;
	struct mxe_ib_qp qp[2];
	struct mxe_ah ah[2];
	/* Another route from A to B: a request with it needs a new session. */
	struct mxe_ah dc_ah;
	/* A multicast group that the UD queue pair of end B joins. */
	union ib_gid mcast_gid;
	struct mxe_ah mcast_ah;
	struct mxe_ib_mw mw[2];		/* bound to the queue pair of each end */
	struct mxe_mr *mr;
};

extern struct world w;
/* The content of each page that does not belong to the region. */
extern u8 world_foreign_page[PAGE_SIZE];

/**
 * world_make() - Make all objects and connect the queue pairs.
 * @options: kind of queue pair, and options
 * @conf: attributes of the objects
 */
void world_make(u32 options, const struct world_conf *conf);

/**
 * world_destroy() - Destroy all objects.
 *
 * Waits for references, so that a leaked one is found.
 */
void world_destroy(void);

/**
 * world_qp() - Return a queue pair.
 * @end: 0 or 1
 *
 * Return: the queue pair.
 */
struct mxe_qp *world_qp(int end);

/**
 * world_modify() - Change the state of a queue pair, if it can.
 * @end: 0 or 1
 * @state: the new state
 */
void world_modify(int end, enum ib_qp_state state);

/**
 * world_connect() - Bring a queue pair from RESET to RTS.
 * @end: 0 or 1
 */
void world_connect(int end);

/**
 * world_bind() - Bind the memory window of an end to the whole region.
 * @end: 0 or 1
 */
void world_bind(int end);

/**
 * world_poll() - Poll all completions of an end.
 * @end: 0 or 1
 */
void world_poll(int end);

/**
 * world_udata() - Make the request of a process to a verb.
 * @req: the request of the driver
 * @req_len: its length
 *
 * Return: the request, with room for the response, or NULL for a consumer in
 * the kernel.
 */
struct ib_udata *world_udata(void *req, size_t req_len);

#endif /* FUZZ_WORLD_H */
