/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tests of mxe run a real device on a netdev whose other end is the test.  What
 * the device sends is kept in a list, and what the test makes up is received through
 * IP and UDP like any packet.  Everything happens in the caller's context but what
 * timers and qp->work do.
 */
#ifndef MXE_KUNIT_HARNESS_H
#define MXE_KUNIT_HARNESS_H

#include <kunit/test.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "bth.h"
#include "common.h"
#include "mxe.h"
#include "qp.h"
#include "pkt.h"

/* Memory that both sides of a test work on, registered with kt_reg(). */
#define KT_PAGES	8
#define KT_SIZE		(KT_PAGES * PAGE_SIZE)

/* QP number that the peer pretends to have, and where sequences begin. */
#define KT_PEER_QPN	0x00abcdU
#define KT_RQ_PSN	0x000100U	/* peer to device */
#define KT_SQ_PSN	0x800100U	/* device to peer */
#define KT_QKEY		0x00c0ffeeU	/* of datagrams */

/* Memory that the peer pretends to have. */
#define KT_REMOTE_VA	0x10000ULL
#define KT_REMOTE_KEY	0x7700U

/* What kt_default_conn connects with. */
#define KT_MTU		256
#define KT_ALL_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/* Syndromes and opcodes of RC, short enough for tables. */
#define KT_ACK		MXE_AETH_ACK_UNLIMITED
#define KT_NAK_SEQ	MXE_AETH_NAK_PSN_SEQ
#define KT_NAK_INV	MXE_AETH_NAK_INV_REQ
#define KT_NAK_ACC	MXE_AETH_NAK_REM_ACC
#define KT_NAK_OP	MXE_AETH_NAK_REM_OP

#define KT_SEND_FIRST	IB_OPCODE_RC_SEND_FIRST
#define KT_SEND_MIDDLE	IB_OPCODE_RC_SEND_MIDDLE
#define KT_SEND_LAST	IB_OPCODE_RC_SEND_LAST
#define KT_SEND_ONLY	IB_OPCODE_RC_SEND_ONLY
#define KT_WRITE_FIRST	IB_OPCODE_RC_RDMA_WRITE_FIRST
#define KT_WRITE_MIDDLE	IB_OPCODE_RC_RDMA_WRITE_MIDDLE
#define KT_WRITE_LAST	IB_OPCODE_RC_RDMA_WRITE_LAST
#define KT_WRITE_ONLY	IB_OPCODE_RC_RDMA_WRITE_ONLY
#define KT_READ_REQ	IB_OPCODE_RC_RDMA_READ_REQUEST
#define KT_CSWAP	IB_OPCODE_RC_COMPARE_SWAP
#define KT_FADD		IB_OPCODE_RC_FETCH_ADD
#define KT_MCSWAP	BTH_RC_MASKED_CMP_SWAP
#define KT_MFADD	BTH_RC_MASKED_FETCH_ADD

struct kt {
	struct kunit *test;
	struct net_device *ndev;
	struct sk_buff_head sent;	/* packets the device has sent */
	struct sk_buff *last;		/* the one kt_sent() returned last */
	struct mxe_dev *dev;
	struct ib_pd *pd, *other_pd;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_srq *srq;		/* of qp, or NULL */
	struct mxe_qp *qp;
	u8 *mem;			/* vmalloc'ed: pages are not in order */
	struct scatterlist *sg;
	struct ib_mr *mrs[4];
	unsigned int num_mrs;
	unsigned long events;		/* enum ib_event_type of QP and SRQ */
	u8 tos, tclass;			/* injected; of the path of the QP */
	__be32 group;			/* injected to; 0: to the device */
	bool tap;			/* keep a clone of what is injected: */
	struct sk_buff *tapped;		/* ... the last, or NULL */
	const u8 *injected;		/* where the last was in memory */
};

/* How kt_connect() connects. */
struct kt_conn {
	u32 rq_psn, sq_psn;
	enum ib_mtu mtu;
	int access;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
};

/* No timer, every right, MTU 256. */
extern const struct kt_conn kt_default_conn;

/* For struct kunit_suite. */
int kt_init(struct kunit *test);
void kt_exit(struct kunit *test);

static inline struct kt *kt_of(struct kunit *test)
{
	return test->priv;
}

/* A queue pair in RESET, and its way to RTS. */
void kt_create_qp(struct kt *kt);
void kt_create_qp_signal_all(struct kt *kt);
/* Of another type, or after kt_create_srq() with that queue. */
void kt_create_qp_of(struct kt *kt, enum ib_qp_type type);
void kt_create_srq(struct kt *kt, u32 max_wr);
int kt_modify(struct kt *kt, enum ib_qp_state to, const struct kt_conn *conn);
void kt_connect(struct kt *kt, const struct kt_conn *conn);

/* Of the device's address: RoCEv2, IPv4. */
int kt_gid_index(struct kt *kt);

/* Register all of kt->mem; the address of byte n is kt_va(mr, n). */
struct ib_mr *kt_reg(struct kt *kt, struct ib_pd *pd, int access);
/* What the execution of a REG_MR posted now does. */
int kt_fast_reg(struct ib_mr *mr, struct ib_pd *pd, u32 key, int access);
static inline u64 kt_va(const struct ib_mr *mr, u64 offset)
{
	return mr->iova + offset;
}

/* ---- packets ----------------------------------------------------------- */

/* A packet of the peer, in RTS to the queue pair. */
struct mxe_pkt_out kt_pkt(struct kt *kt, u8 opcode, u32 psn);

/* Give it to the device; the payload is made of bytes 1, 2, 3, ... */
void kt_inject(struct kt *kt, const struct mxe_pkt_out *out);
/* The same in two steps: the transport part, to be spoilt, and its way in. */
u8 *kt_build(struct kt *kt, const struct mxe_pkt_out *out, size_t *len);
enum kt_spoil { KT_GOOD, KT_BAD_ICRC, KT_BAD_SOURCE };
void kt_inject_bth(struct kt *kt, const u8 *bth, size_t len,
		   enum kt_spoil spoil);

/*
 * The next packet that the device has sent, with a good ICRC; fails the test
 * if there is none.  What pkt points to is good until the next call.
 */
struct mxe_pkt kt_sent(struct kt *kt);
/* Bytes of the last one from BTH on, ICRC included. */
const u8 *kt_sent_bytes(struct kt *kt, size_t *len);
unsigned int kt_num_sent(struct kt *kt);
void kt_drop_sent(struct kt *kt);

/* Expect a certain answer, and nothing more after it. */
void kt_expect_ack(struct kt *kt, u32 psn, u8 syndrome, u32 msn);
void kt_expect_atomic_ack(struct kt *kt, u32 psn, u64 orig, u32 msn);
void kt_expect_nothing(struct kt *kt);

/* ---- the local side ---------------------------------------------------- */

/* Wait for qp->work. */
void kt_settle(struct kt *kt);

u64 kt_counter(struct kt *kt, enum mxe_counter counter);

/* Expect a completion, or none. */
struct ib_wc kt_poll(struct kt *kt, struct ib_cq *cq);
void kt_expect_wc(struct kt *kt, struct ib_cq *cq, u64 wr_id,
		  enum ib_wc_status status);
void kt_expect_no_wc(struct kt *kt, struct ib_cq *cq);

/* Post a receive of len bytes into mr at offset. */
void kt_post_recv(struct kt *kt, u64 wr_id, struct ib_mr *mr, u64 offset,
		  u32 len);

/*
 * Post an operation between len bytes of mr at offset and KT_REMOTE_VA by
 * KT_REMOTE_KEY; what ib_post_send() returns.
 */
int kt_post_rdma(struct kt *kt, enum ib_wr_opcode opcode, u64 wr_id,
		 struct ib_mr *mr, u64 offset, u32 len, int flags);
/* The same, signalled, from the beginning, and it has to succeed. */
void kt_post_write(struct kt *kt, enum ib_wr_opcode opcode, u64 wr_id,
		   struct ib_mr *mr, u32 len);

enum ib_qp_state kt_state(struct kt *kt);

/* An address handle of the peer's. */
struct ib_ah *kt_create_ah(struct kt *kt);

#endif /* MXE_KUNIT_HARNESS_H */
