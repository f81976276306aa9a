/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tests of mxe run a real device on a netdev of their own. The test acts as
 * the peer: packets that the device sends are queued for kt_sent(), and packets
 * of kt_inject() are received through IP and UDP like any other. Everything
 * runs in the context of the caller, except for timers and qp->work.
 */
#ifndef MXE_KUNIT_HARNESS_H
#define MXE_KUNIT_HARNESS_H

#include <kunit/test.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "bth.h"
#include "common.h"
#include "mxe.h"
#include "queues/qp.h"
#include "test_pkt.h"
#include "wire/pkt.h"

/* Memory of a test, registered with kt_reg(). */
#define KT_PAGES	8
#define KT_SIZE		(KT_PAGES * PAGE_SIZE)

/* QP number of the peer, and the first PSNs. */
#define KT_PEER_QPN	0x00abcdU
#define KT_RQ_PSN	0x000100U	/* peer to device */
#define KT_SQ_PSN	0x800100U	/* device to peer */
#define KT_QKEY		0x00c0ffeeU	/* of UD */

/* Address and key of the memory of the peer. */
#define KT_REMOTE_VA	0x10000ULL
#define KT_REMOTE_KEY	0x7700U

/* Values of kt_default_conn. */
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
	struct sk_buff *last;		/* last one that kt_sent() returned */
	struct mxe_dev *dev;
	struct ib_pd *pd, *other_pd;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_srq *srq;		/* of qp, or NULL */
	struct mxe_qp *qp;
	u8 *mem;			/* from vmalloc(), not physically contiguous */
	struct scatterlist *sg;
	struct ib_mr *mrs[4];
	unsigned int num_mrs;
	unsigned long events;		/* enum ib_event_type of QP and SRQ */
	u8 tos, tclass;			/* of injected packets, of the QP's path */
	__be32 group;			/* destination of injected packets, 0: device */
};

/* Attributes of a connection, for kt_connect() and kt_modify(). */
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

/* No retransmit timer, all access rights, MTU 256. */
extern const struct kt_conn kt_default_conn;

/**
 * kt_init() - Create the device, its netdev and the fixture of a test case.
 * @test: test case that is about to run
 *
 * The init callback of struct kunit_suite.
 *
 * Context: Process context. May sleep.
 * Return: 0 or a negative errno.
 */
int kt_init(struct kunit *test);

/**
 * kt_exit() - Destroy everything that kt_init() and the test case created.
 * @test: test case that has ended
 *
 * The exit callback of struct kunit_suite.
 *
 * Context: Process context. May sleep.
 */
void kt_exit(struct kunit *test);

/**
 * kt_of() - Return the fixture of a test case.
 * @test: test case that is running
 *
 * Return: the fixture.
 */
static inline struct kt *kt_of(struct kunit *test)
{
	return test->priv;
}

/**
 * kt_create_qp() - Create kt->qp, an RC QP in RESET.
 * @kt: fixture
 *
 * Context: Process context. May sleep.
 */
void kt_create_qp(struct kt *kt);

/**
 * kt_create_qp_signal_all() - Create kt->qp with IB_SIGNAL_ALL_WR.
 * @kt: fixture
 *
 * Context: Process context. May sleep.
 */
void kt_create_qp_signal_all(struct kt *kt);

/**
 * kt_create_qp_of() - Create kt->qp with a given type.
 * @kt: fixture
 * @type: type of the QP
 *
 * The QP uses kt->srq if kt_create_srq() was called before.
 *
 * Context: Process context. May sleep.
 */
void kt_create_qp_of(struct kt *kt, enum ib_qp_type type);

/**
 * kt_create_srq() - Create kt->srq.
 * @kt: fixture
 * @max_wr: number of receive requests it can hold
 *
 * Context: Process context. May sleep.
 */
void kt_create_srq(struct kt *kt, u32 max_wr);

/**
 * kt_modify() - Move kt->qp to one state.
 * @kt: fixture
 * @to: state to move to
 * @conn: attributes of the connection
 *
 * Context: Process context. May sleep.
 * Return: 0 or the negative errno of ib_modify_qp().
 */
int kt_modify(struct kt *kt, enum ib_qp_state to, const struct kt_conn *conn);

/**
 * kt_connect() - Move kt->qp from RESET to RTS.
 * @kt: fixture
 * @conn: attributes of the connection
 *
 * Context: Process context. May sleep.
 */
void kt_connect(struct kt *kt, const struct kt_conn *conn);

/**
 * kt_gid_index() - Return the index of the RoCEv2 GID of the device's IPv4
 *	address.
 * @kt: fixture
 *
 * Context: Process context. May sleep.
 * Return: the index in the GID table.
 */
int kt_gid_index(struct kt *kt);

/**
 * kt_reg() - Register all of kt->mem.
 * @kt: fixture
 * @pd: protection domain of the region
 * @access: access rights, IB_ACCESS_*
 *
 * kt_va(mr, n) is the address of byte n of the memory.
 *
 * Context: Process context. May sleep.
 * Return: the region.
 */
struct ib_mr *kt_reg(struct kt *kt, struct ib_pd *pd, int access);

/**
 * kt_fast_reg() - Register a region as a REG_MR request does when it executes.
 * @mr: region to register
 * @pd: protection domain of the QP
 * @key: new key of the region
 * @access: access rights, IB_ACCESS_*
 *
 * Return: 0 or a negative errno.
 */
int kt_fast_reg(struct ib_mr *mr, struct ib_pd *pd, u32 key, int access);

/**
 * kt_va() - Return the address of a byte of a region.
 * @mr: region
 * @offset: offset of the byte in the region
 *
 * Return: the address, as a work request or the peer names it.
 */
static inline u64 kt_va(const struct ib_mr *mr, u64 offset)
{
	return mr->iova + offset;
}

/* ---- packets ----------------------------------------------------------- */

/**
 * kt_pkt() - Fill in a packet of the peer to kt->qp.
 * @kt: fixture
 * @opcode: opcode of the BTH
 * @psn: PSN of the BTH
 *
 * Return: the packet, for kt_inject() or kt_build().
 */
struct test_pkt kt_pkt(struct kt *kt, u8 opcode, u32 psn);

/**
 * kt_inject() - Let the device receive a packet.
 * @kt: fixture
 * @out: packet to receive
 *
 * The bytes of the payload are 1, 2, 3, ...
 */
void kt_inject(struct kt *kt, const struct test_pkt *out);

/**
 * kt_build() - Build the transport part of a packet, from the BTH to the
 *	payload.
 * @kt: fixture
 * @out: packet to build
 * @len: is set to the length in bytes
 *
 * A test changes the result and passes it to kt_inject_bth().
 *
 * Return: the bytes.
 */
u8 *kt_build(struct kt *kt, const struct test_pkt *out, size_t *len);
enum kt_spoil { KT_GOOD, KT_BAD_ICRC, KT_BAD_SOURCE };

/**
 * kt_skb() - Add the headers and the ICRC to a packet that is not received.
 * @kt: fixture
 * @bth: transport part of the packet, from kt_build()
 * @len: length of @bth in bytes
 * @spoil: error to put into the packet
 *
 * Return: the packet, whose network and transport headers are set.
 */
struct sk_buff *kt_skb(struct kt *kt, const u8 *bth, size_t len, enum kt_spoil spoil);

/**
 * kt_inject_bth() - Add the ICRC and let the device receive the packet.
 * @kt: fixture
 * @bth: transport part of the packet, from kt_build()
 * @len: length of @bth in bytes
 * @spoil: error to put into the packet
 */
void kt_inject_bth(struct kt *kt, const u8 *bth, size_t len,
		   enum kt_spoil spoil);

/**
 * kt_sent() - Take the next packet that the device sent.
 * @kt: fixture
 *
 * Fails the test if there is none or its ICRC is wrong. The buffers that the
 * result points to are valid until the next call.
 *
 * Return: the packet.
 */
struct test_pkt kt_sent(struct kt *kt);

/**
 * kt_sent_bytes() - Return the bytes of the packet that kt_sent() returned
 *	last.
 * @kt: fixture
 * @len: is set to the length in bytes
 *
 * Return: the bytes from the BTH to the ICRC, both included.
 */
const u8 *kt_sent_bytes(struct kt *kt, size_t *len);

/**
 * kt_num_sent() - Return how many sent packets the test has not taken yet.
 * @kt: fixture
 *
 * Return: the number of packets.
 */
unsigned int kt_num_sent(struct kt *kt);

/**
 * kt_drop_sent() - Discard all sent packets that the test has not taken.
 * @kt: fixture
 */
void kt_drop_sent(struct kt *kt);

/**
 * kt_expect_ack() - Expect one acknowledge packet, and no packet after it.
 * @kt: fixture
 * @psn: expected PSN
 * @syndrome: expected syndrome of the AETH
 * @msn: expected MSN of the AETH
 */
void kt_expect_ack(struct kt *kt, u32 psn, u8 syndrome, u32 msn);

/**
 * kt_expect_atomic_ack() - Expect one atomic acknowledge, and no packet after
 *	it.
 * @kt: fixture
 * @psn: expected PSN
 * @orig: expected original value, in host byte order
 * @msn: expected MSN of the AETH
 */
void kt_expect_atomic_ack(struct kt *kt, u32 psn, u64 orig, u32 msn);

/**
 * kt_expect_nothing() - Expect that the device has sent no packet.
 * @kt: fixture
 */
void kt_expect_nothing(struct kt *kt);

/* ---- a ring ------------------------------------------------------------ */

#define KT_RING_ENTRIES	8

/* The send ring of a process. */
struct kt_ring {
	struct mxe_ring_hdr hdr;
	struct {
		struct mxe_send_wqe wqe;
		u8 data[64];
	} entry[KT_RING_ENTRIES];
};

/**
 * kt_ring_enter() - Create and connect kt->qp as one of a process.
 * @kt: fixture
 *
 * kt_ring_leave() undoes this at the end of the test.
 *
 * Context: Process context. May sleep.
 * Return: its send ring.
 */
struct kt_ring *kt_ring_enter(struct kt *kt);

/**
 * kt_ring_leave() - Turn kt->qp into one of a kernel consumer again.
 * @kt: fixture
 *
 * Context: Process context. May sleep.
 */
void kt_ring_leave(struct kt *kt);

/* ---- the local side ---------------------------------------------------- */

/**
 * kt_hold_work() - Keep work from running until the test sleeps.
 *
 * Gives the thread of the test case a real-time priority. Otherwise the
 * scheduler may run work whenever the test allocates memory. This suffices
 * because the tests run on one CPU, and each case has its own thread.
 */
void kt_hold_work(void);

/**
 * kt_settle() - Wait until qp->work has run.
 * @kt: fixture
 *
 * Context: Process context. May sleep.
 */
void kt_settle(struct kt *kt);

/**
 * kt_counter() - Read a counter of the device.
 * @kt: fixture
 * @counter: counter to read
 *
 * Return: its value.
 */
u64 kt_counter(struct kt *kt, enum mxe_counter counter);

/**
 * kt_poll() - Expect a completion.
 * @kt: fixture
 * @cq: completion queue to poll
 *
 * Return: the completion.
 */
struct ib_wc kt_poll(struct kt *kt, struct ib_cq *cq);

/**
 * kt_expect_wc() - Expect a completion of a given request.
 * @kt: fixture
 * @cq: completion queue to poll
 * @wr_id: expected wr_id
 * @status: expected status
 */
void kt_expect_wc(struct kt *kt, struct ib_cq *cq, u64 wr_id,
		  enum ib_wc_status status);

/**
 * kt_expect_no_wc() - Expect that a completion queue is empty.
 * @kt: fixture
 * @cq: completion queue to poll
 */
void kt_expect_no_wc(struct kt *kt, struct ib_cq *cq);

/**
 * kt_post_recv() - Post a receive request with one SGE.
 * @kt: fixture
 * @wr_id: wr_id of the request
 * @mr: region to receive into
 * @offset: offset of the buffer in @mr
 * @len: size of the buffer in bytes
 */
void kt_post_recv(struct kt *kt, u64 wr_id, struct ib_mr *mr, u64 offset,
		  u32 len);

/**
 * kt_post_rdma() - Post a send request for KT_REMOTE_VA and KT_REMOTE_KEY.
 * @kt: fixture
 * @opcode: operation
 * @wr_id: wr_id of the request
 * @mr: region of the local buffer
 * @offset: offset of the buffer in @mr
 * @len: size of the buffer in bytes
 * @flags: send flags, IB_SEND_*
 *
 * Return: the result of ib_post_send().
 */
int kt_post_rdma(struct kt *kt, enum ib_wr_opcode opcode, u64 wr_id,
		 struct ib_mr *mr, u64 offset, u32 len, int flags);

/**
 * kt_post_write() - Post a signalled request that must be accepted.
 * @kt: fixture
 * @opcode: operation
 * @wr_id: wr_id of the request
 * @mr: region of the local buffer, which begins at offset 0
 * @len: size of the buffer in bytes
 */
void kt_post_write(struct kt *kt, enum ib_wr_opcode opcode, u64 wr_id,
		   struct ib_mr *mr, u32 len);

/**
 * kt_state() - Return the state of kt->qp.
 * @kt: fixture
 *
 * Return: the state.
 */
enum ib_qp_state kt_state(struct kt *kt);

/**
 * kt_create_ah() - Create an address handle for the peer.
 * @kt: fixture
 *
 * Context: Process context. May sleep.
 * Return: the address handle.
 */
struct ib_ah *kt_create_ah(struct kt *kt);

#endif /* MXE_KUNIT_HARNESS_H */
