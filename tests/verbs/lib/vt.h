/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Helpers of the end-to-end tests: devices, connected pairs of queue pairs
 * that both live in this process, and one way to say a work request however it
 * is posted.
 *
 * A set-up step that cannot fail in a working system ends the program ("Bail
 * out!"); whatever a test is about is returned to it.
 */
#ifndef VT_H
#define VT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <infiniband/mxedv.h>

/* Patience with a slow, emulated machine that may stand still for a while. */
#define VT_MS 60000

#define VT_ACCESS_ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct vt_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	bool is_mxe;
	enum ibv_mtu active_mtu;
	uint32_t max_msg_sz;
	/* RoCE v2 GIDs of the global addresses; index -1: none. */
	int gid4_index;
	int gid6_index;
	union ibv_gid gid4;
	union ibv_gid gid6;
};

struct vt_conf {
	enum ibv_qp_type qp_type;	/* IBV_QPT_RC, _UC or _XRC_* */
	struct ibv_srq *srq_b;	/* of end b's queue pair, or NULL */
	enum ibv_mtu mtu;	/* 0: the smaller active_mtu */
	bool ipv6;
	bool exp;		/* made with ibv_exp_create_qp() */
	bool be_reply;		/* ... with the big-endian reply flag */
	bool exp_wc_opcode;	/* MXEDV_QP_CREATE_EXP_WC_OPCODE */
	uint32_t create_flags;	/* more of enum mxedv_qp_create_flags */
	bool channel;		/* completion queues with a channel */
	bool ex_cq;		/* completion queues by ibv_create_cq_ex() */
	uint64_t wc_flags;	/* ... with these beside the standard ones */
	uint8_t tclass;
	uint32_t flow_label;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t rd_atomic;
	uint32_t psn;
	uint32_t depth;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t max_atomic_arg;
	unsigned int qp_access;
	unsigned int mr_access;
	size_t size;		/* of each end's buffer */
	void *buf;		/* end b's buffer, NULL: allocated */
};

struct vt_end {
	struct vt_dev *dev;
	struct ibv_comp_channel *chan;
	struct ibv_cq *cq;	/* of sends */
	struct ibv_cq *rcq;	/* of receives */
	struct ibv_qp *qp;
	struct ibv_srq *xsrq;	/* where a target of XRC receives, and its */
	uint32_t srqn;		/* number */
	struct ibv_qp_ex *qpx;	/* NULL: not made for the builders */
	struct mxedv_qp_ex *mqp;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t size;
	bool own_buf;
};

struct vt_pair {
	struct vt_end a;	/* the requester, as a rule */
	struct vt_end b;
};

enum vt_opcode {
	VT_SEND,
	VT_SEND_IMM,
	VT_WRITE,
	VT_WRITE_IMM,
	VT_READ,
	VT_CAS,
	VT_FADD,
	VT_MCAS,
	VT_MFADD,
};

enum vt_via {
	VT_POST_SEND,		/* ibv_post_send() */
	VT_WR,			/* ibv_wr_*(), mxedv_wr_*() */
	VT_EXP,			/* ibv_exp_post_send() */
};

/* A send work request.  A compare-and-swap compares with compare_add. */
struct vt_wr {
	enum vt_opcode op;
	enum vt_via via;
	unsigned int flags;	/* IBV_SEND_* */
	uint64_t wr_id;
	struct ibv_sge *sge;
	int num_sge;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t srqn;		/* XRC */
	uint32_t imm;		/* host order */
	uint64_t compare_add;
	uint64_t swap;
	uint64_t compare_mask;	/* VT_MFADD: the field boundaries */
	uint64_t swap_mask;
	/*
	 * Masked atomics of 1 << log_arg_sz bytes if it is not 0: operands of
	 * these many bytes, in the order of the members above.
	 */
	uint32_t log_arg_sz;
	const void *operands[4];
};

void vt_bail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* Names of the two devices: $MXE_A and $MXE_B, or mxe1 and mxe2. */
const char *vt_name_a(void);
const char *vt_name_b(void);
/*
 * The sum of the counters of that device whose names match the glob pattern. From
 * netlink, for which the driver is asked: sysfs repeats what it read in the last
 * 10 ms, by a clock that may stand still for longer where a processor of an emulated
 * machine does.
 */
long vt_counter(const char *device, const char *pattern);
/* The same for an open device. */
long vt_dev_counter(const struct vt_dev *dev, const char *pattern);
/* Waits until that sum is not `before`, or VT_MS have passed. */
void vt_dev_wait_counted(const struct vt_dev *dev, const char *pattern, long before);

struct vt_dev *vt_open(const char *name);
/* NULL with errno instead of the end of the program. */
struct vt_dev *vt_try_open(const char *name);
void vt_close(struct vt_dev *dev);

struct vt_conf vt_defaults(void);
void vt_pair_open(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		  const struct vt_conf *conf);
/* The same up to, not including, the connection. */
void vt_pair_create(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		    const struct vt_conf *conf);
void vt_pair_connect(struct vt_pair *p, const struct vt_conf *conf);
/*
 * By RESET, and from another PSN each time: packets of before may be under way, and
 * as far as the protocol goes they are of now if their PSN is.
 */
void vt_pair_reconnect(struct vt_pair *p, const struct vt_conf *conf);
void vt_pair_close(struct vt_pair *p);

/*
 * One end by itself; a target of XRC gets its queue pair from the caller, who
 * has its domain.
 */
void vt_end_create(struct vt_end *e, struct vt_dev *dev,
		   const struct vt_conf *conf, struct ibv_srq *srq, void *buf);
void vt_end_close(struct vt_end *e);

/* State transitions; 0 or errno. */
int vt_to_init(struct vt_end *e, const struct vt_conf *conf);
int vt_to_rtr(struct vt_end *e, const struct vt_end *peer,
	      const struct vt_conf *conf);
int vt_to_rts(struct vt_end *e, const struct vt_conf *conf);
int vt_to_state(struct vt_end *e, enum ibv_qp_state state);
enum ibv_qp_state vt_state(struct vt_end *e);

/* All return 0 or errno. */
int vt_post(struct vt_end *e, const struct vt_wr *wr);
int vt_recv(struct vt_end *e, uint64_t wr_id, size_t offset, uint32_t len);
/*
 * The request of this number in one of the rings that are mapped, to be spoilt:
 * in SQD it stays there until the queue pair goes back to RTS.
 */
struct mxe_send_wqe *vt_find_wqe(uint64_t wr_id);
/* Its field of `size` bytes at `offset` is `value` then. */
void vt_change_wqe(uint64_t wr_id, size_t offset, size_t size, uint64_t value);
int vt_recv_sge(struct vt_end *e, uint64_t wr_id, struct ibv_sge *sge, int n);

/* A scatter/gather element in the end's buffer. */
struct ibv_sge vt_sge(const struct vt_end *e, size_t offset, uint32_t len);
/* The address of an offset in the end's buffer, as a peer names it. */
uint64_t vt_addr(const struct vt_end *e, size_t offset);
/* The 8 bytes there. */
uint64_t *vt_word(const struct vt_end *e, size_t offset);

/* One completion: true, or false after ms milliseconds. */
bool vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, int ms);
/* Posts, signalled, and waits: the completion's status, -1: none came. */
int vt_do(struct vt_end *e, struct vt_wr *wr, struct ibv_wc *wc);
/* RDMA between the first len bytes of the buffer and raddr of another region. */
int vt_rdma(struct vt_end *e, enum vt_opcode op, const struct ibv_mr *mr,
	    uint64_t raddr, uint32_t len);
/* An atomic of 8 bytes on offset of the peer; the result goes to *old. */
int vt_atomic(struct vt_pair *p, struct vt_wr *wr, size_t offset,
	      uint64_t *old);
/* The next asynchronous event of the device within ms, acknowledged; or -1. */
int vt_any_async(struct vt_dev *dev, int ms);
/* The same without those of the port, whose addresses come when they come. */
int vt_async(struct vt_dev *dev, int ms);
/* Takes all events, those of the port too, until none has come for 50 ms. */
void vt_drain_async(struct vt_dev *dev);
/* The rings that this process has mapped; how many. */
struct vt_mapping {
	uint8_t *addr;
	size_t size;
};
int vt_find_rings(struct vt_mapping *maps, int max);
/* The doorbell file of the first device that was opened, or -1. */
int vt_doorbell_fd(void);
const char *vt_status(int status);
/* By CLOCK_MONOTONIC. */
uint64_t vt_now_ns(void);
uint64_t vt_now_ms(void);
/* Whether the arguments, up to NULL, name it, or nothing. */
bool vt_wanted(const char *name, char **argv);

/*
 * Moves len random bytes from a to b (VT_READ: from b to a) between guards, and
 * checks the data, the guards and every field of the completions.  NULL, or
 * what was wrong.
 */
const char *vt_transfer(struct vt_pair *p, enum vt_opcode op, enum vt_via via,
			uint32_t len, unsigned int flags);
/* Room that vt_transfer() needs in the buffers beside the data. */
#define VT_GUARD 64

extern const char *const vt_op_name[];
extern const char *const vt_via_name[];

/* random.h with a fixed seed. */
uint64_t vt_random_u64(void);
void vt_fill_random(void *buf, size_t len);

#endif /* VT_H */
