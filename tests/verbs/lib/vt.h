/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Helpers of the end-to-end tests: devices, two connected QPs in this process
 * (a "pair" of two "ends"), and one description of a work request for all
 * interfaces that can post it.
 *
 * A set-up step that cannot fail in a working system ends the program ("Bail
 * out!"). Results that a test checks are returned.
 */
#ifndef VT_H
#define VT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <infiniband/mxedv.h>

/* The log_arg_sz of 1 byte in struct vt_wr. */
#define VT_LOG_0 0x1000

/* Timeout in ms, long enough for an emulated machine that stops for a while. */
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
	struct ibv_srq *srq_b;	/* of the QP of end b, or NULL */
	enum ibv_mtu mtu;	/* 0: the smaller active_mtu */
	bool ipv6;
	bool exp;		/* created by ibv_exp_create_qp() */
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
	struct ibv_srq *xsrq;	/* SRQ of an XRC target */
	uint32_t srqn;		/* number of xsrq */
	struct ibv_qp_ex *qpx;	/* NULL: QP without builders */
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

/* A send request. A compare-and-swap compares with compare_add. */
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
	 * If log_arg_sz is not 0, a masked atomic has 1 << log_arg_sz bytes, or
	 * 1 byte with VT_LOG_0, and its operands are these, in the order of the
	 * members above.
	 */
	uint32_t log_arg_sz;
	const void *operands[4];
};

/**
 * vt_bail() - End the program with "Bail out!" and the current errno.
 * @fmt: printf() format of the message
 */
void vt_bail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * vt_name_a() - Return the name of the first device.
 *
 * Return: $MXE_A, or "mxe1".
 */
const char *vt_name_a(void);

/**
 * vt_name_b() - Return the name of the second device.
 *
 * Return: $MXE_B, or "mxe2".
 */
const char *vt_name_b(void);

/**
 * vt_counter() - Sum the counters of a device whose names match a pattern.
 * @device: name of the device
 * @pattern: glob pattern of the counter names
 *
 * Reads the counters with netlink, which makes the driver return current
 * values. sysfs caches them for 10 ms, and on an emulated CPU that clock can
 * stop for longer.
 *
 * Return: the sum.
 */
long vt_counter(const char *device, const char *pattern);

/**
 * vt_has_loopback() - Check whether the module has a loopback path.
 *
 * Return: false for one that was built with MXE_PLAIN=1, or without loopback.
 */
bool vt_has_loopback(void);

/**
 * vt_set_loopback() - Switch the loopback path on or off.
 * @on: the setting, which is ignored without a loopback path
 */
void vt_set_loopback(bool on);

/**
 * vt_dev_counter() - Sum the counters of an open device whose names match a
 *	pattern.
 * @dev: device
 * @pattern: glob pattern of the counter names
 *
 * Return: the sum, as of vt_counter().
 */
long vt_dev_counter(const struct vt_dev *dev, const char *pattern);

/**
 * vt_dev_wait_counted() - Wait until a sum of counters has changed.
 * @dev: device
 * @pattern: glob pattern of the counter names
 * @before: sum that vt_dev_counter() returned before
 *
 * Returns after at most VT_MS.
 */
void vt_dev_wait_counted(const struct vt_dev *dev, const char *pattern, long before);

/**
 * vt_open() - Open a device and allocate a protection domain.
 * @name: name of the device
 *
 * Ends the program on failure.
 *
 * Return: the device.
 */
struct vt_dev *vt_open(const char *name);

/**
 * vt_try_open() - Open a device and allocate a protection domain.
 * @name: name of the device
 *
 * Return: the device, or NULL with errno set.
 */
struct vt_dev *vt_try_open(const char *name);

/**
 * vt_close() - Close a device.
 * @dev: device from vt_open() or vt_try_open()
 */
void vt_close(struct vt_dev *dev);

/**
 * vt_defaults() - Return the default configuration of a pair.
 *
 * Return: the configuration.
 */
struct vt_conf vt_defaults(void);

/**
 * vt_pair_open() - Create and connect a pair of QPs.
 * @p: pair to fill in
 * @a: device of end a
 * @b: device of end b, which may be @a
 * @conf: configuration
 */
void vt_pair_open(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		  const struct vt_conf *conf);

/**
 * vt_pair_create() - Create a pair of QPs and leave them in RESET.
 * @p: pair to fill in
 * @a: device of end a
 * @b: device of end b, which may be @a
 * @conf: configuration
 */
void vt_pair_create(struct vt_pair *p, struct vt_dev *a, struct vt_dev *b,
		    const struct vt_conf *conf);

/**
 * vt_pair_connect() - Move both QPs of a pair from RESET to RTS.
 * @p: pair
 * @conf: configuration
 */
void vt_pair_connect(struct vt_pair *p, const struct vt_conf *conf);

/**
 * vt_pair_reconnect() - Move both QPs of a pair through RESET to RTS again.
 * @p: pair
 * @conf: configuration
 *
 * Uses another PSN each time, because packets of the old connection can still
 * be in flight. With the old PSNs, the new connection would accept them.
 */
void vt_pair_reconnect(struct vt_pair *p, const struct vt_conf *conf);

/**
 * vt_pair_close() - Destroy both ends of a pair.
 * @p: pair
 */
void vt_pair_close(struct vt_pair *p);

/**
 * vt_end_create() - Create one end.
 * @e: end to fill in
 * @dev: device
 * @conf: configuration
 * @srq: SRQ of the QP, or NULL
 * @buf: buffer to register, or NULL to allocate one
 *
 * The caller creates the QP of an XRC target itself, in its own XRC domain.
 */
void vt_end_create(struct vt_end *e, struct vt_dev *dev,
		   const struct vt_conf *conf, struct ibv_srq *srq, void *buf);

/**
 * vt_end_close() - Destroy one end.
 * @e: end
 */
void vt_end_close(struct vt_end *e);

/**
 * vt_to_init() - Move a QP to INIT.
 * @e: end
 * @conf: configuration
 *
 * Return: 0 or an errno value.
 */
int vt_to_init(struct vt_end *e, const struct vt_conf *conf);

/**
 * vt_to_rtr() - Move a QP to RTR.
 * @e: end
 * @peer: end to connect to
 * @conf: configuration
 *
 * Return: 0 or an errno value.
 */
int vt_to_rtr(struct vt_end *e, const struct vt_end *peer,
	      const struct vt_conf *conf);

/**
 * vt_to_rts() - Move a QP to RTS.
 * @e: end
 * @conf: configuration
 *
 * Return: 0 or an errno value.
 */
int vt_to_rts(struct vt_end *e, const struct vt_conf *conf);

/**
 * vt_to_state() - Move a QP to a state that needs no other attributes.
 * @e: end
 * @state: new state
 *
 * Return: 0 or an errno value.
 */
int vt_to_state(struct vt_end *e, enum ibv_qp_state state);

/**
 * vt_state() - Query the state of a QP.
 * @e: end
 *
 * Return: the state.
 */
enum ibv_qp_state vt_state(struct vt_end *e);

/**
 * vt_post() - Post a send request through wr->via.
 * @e: end
 * @wr: request
 *
 * Return: 0 or an errno value.
 */
int vt_post(struct vt_end *e, const struct vt_wr *wr);

/**
 * vt_recv() - Post a receive request for a part of the end's buffer.
 * @e: end
 * @wr_id: wr_id of the request
 * @offset: offset in the buffer in bytes
 * @len: length in bytes
 *
 * Return: 0 or an errno value.
 */
int vt_recv(struct vt_end *e, uint64_t wr_id, size_t offset, uint32_t len);

/**
 * vt_find_wqe() - Find a WQE in the rings that are mapped into this process.
 * @wr_id: wr_id of the request
 *
 * For tests that change a WQE. A request that is posted in SQD stays in the
 * ring until the QP returns to RTS.
 *
 * Ends the program if there is none.
 *
 * Return: the WQE.
 */
struct mxe_send_wqe *vt_find_wqe(uint64_t wr_id);

/**
 * vt_change_wqe() - Change one field of a WQE.
 * @wr_id: wr_id of the request
 * @offset: offset of the field in the WQE in bytes
 * @size: size of the field in bytes, at most 8
 * @value: new value, in host byte order
 */
void vt_change_wqe(uint64_t wr_id, size_t offset, size_t size, uint64_t value);

/**
 * vt_recv_sge() - Post a receive request.
 * @e: end
 * @wr_id: wr_id of the request
 * @sge: SGEs
 * @n: number of SGEs
 *
 * Return: 0 or an errno value.
 */
int vt_recv_sge(struct vt_end *e, uint64_t wr_id, struct ibv_sge *sge, int n);

/**
 * vt_sge() - Return an SGE in the end's buffer.
 * @e: end
 * @offset: offset in the buffer in bytes
 * @len: length in bytes
 *
 * Return: the SGE.
 */
struct ibv_sge vt_sge(const struct vt_end *e, size_t offset, uint32_t len);

/**
 * vt_addr() - Return the remote address of a byte in the end's buffer.
 * @e: end
 * @offset: offset in the buffer in bytes
 *
 * Return: the address, as the requests of the other end name it.
 */
uint64_t vt_addr(const struct vt_end *e, size_t offset);

/**
 * vt_word() - Return a pointer to 8 bytes in the end's buffer.
 * @e: end
 * @offset: offset in the buffer in bytes
 *
 * Return: the pointer.
 */
uint64_t *vt_word(const struct vt_end *e, size_t offset);

/**
 * vt_poll() - Wait for one completion.
 * @cq: completion queue
 * @wc: is set to the completion
 * @ms: timeout in ms
 *
 * Return: false if the timeout has expired.
 */
bool vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, int ms);

/**
 * vt_do() - Post a signalled request and wait for its completion.
 * @e: end
 * @wr: request
 * @wc: is set to the completion, or NULL
 *
 * Return: the status of the completion, or -1 if none has arrived.
 */
int vt_do(struct vt_end *e, struct vt_wr *wr, struct ibv_wc *wc);

/**
 * vt_rdma() - Run an RDMA operation on the start of the end's buffer.
 * @e: end
 * @op: VT_WRITE or VT_READ
 * @mr: remote region, for its rkey
 * @raddr: remote address
 * @len: length in bytes
 *
 * Return: the status of the completion, or -1 if none has arrived.
 */
int vt_rdma(struct vt_end *e, enum vt_opcode op, const struct ibv_mr *mr,
	    uint64_t raddr, uint32_t len);

/**
 * vt_atomic() - Run an 8-byte atomic of end a on the buffer of end b.
 * @p: pair
 * @wr: request, with operation and operands
 * @offset: offset in the buffer of end b in bytes
 * @old: is set to the value that the atomic returned
 *
 * Return: the status of the completion, or -1 if none has arrived.
 */
int vt_atomic(struct vt_pair *p, struct vt_wr *wr, size_t offset,
	      uint64_t *old);

/**
 * vt_any_async() - Wait for an asynchronous event and acknowledge it.
 * @dev: device
 * @ms: timeout in ms
 *
 * Return: the type of the event, or -1 if the timeout has expired.
 */
int vt_any_async(struct vt_dev *dev, int ms);

/**
 * vt_async() - Wait for an asynchronous event that is not an event of the port.
 * @dev: device
 * @ms: timeout in ms
 *
 * Events of the port are ignored, because changes of its addresses can raise
 * them at any time.
 *
 * Return: the type of the event, or -1 if the timeout has expired.
 */
int vt_async(struct vt_dev *dev, int ms);

/**
 * vt_drain_async() - Take all asynchronous events until none arrives for 50 ms.
 * @dev: device
 */
void vt_drain_async(struct vt_dev *dev);
/* A ring that this process has mapped, or both rings of a QP. */
struct vt_mapping {
	uint8_t *addr;
	size_t size;
};

/**
 * vt_find_rings() - List the rings that are mapped into this process, with the
 *	receive queue of a QP in the mapping of its send queue.
 * @maps: is filled with the mappings
 * @max: number of entries of @maps
 *
 * Return: the number of mappings.
 */
int vt_find_rings(struct vt_mapping *maps, int max);

/**
 * vt_doorbell_fd() - Return the doorbell file of the device that was opened
 *	first.
 *
 * Return: the file descriptor, or -1.
 */
int vt_doorbell_fd(void);

/**
 * vt_status() - Name the result of vt_do().
 * @status: status of a completion, or -1
 *
 * Return: the name.
 */
const char *vt_status(int status);

/**
 * vt_now_ns() - Read CLOCK_MONOTONIC.
 *
 * Return: the time in ns.
 */
uint64_t vt_now_ns(void);

/**
 * vt_now_ms() - Read CLOCK_MONOTONIC.
 *
 * Return: the time in ms.
 */
uint64_t vt_now_ms(void);

/**
 * vt_wanted() - Check whether the command line selects a test.
 * @name: name of the test
 * @argv: arguments of the program, terminated by NULL
 *
 * Return: true if @name is among the arguments or there are none.
 */
bool vt_wanted(const char *name, char **argv);

/**
 * vt_transfer() - Transfer random bytes and check the result.
 * @p: pair
 * @op: operation
 * @via: interface to post with
 * @len: length in bytes
 * @flags: IBV_SEND_* flags
 *
 * The bytes move from end a to end b, or from b to a for VT_READ. Checks the
 * data, the guard bytes around them, and every field of the completions.
 *
 * Return: NULL, or a description of the error.
 */
const char *vt_transfer(struct vt_pair *p, enum vt_opcode op, enum vt_via via,
			uint32_t len, unsigned int flags);
/* Bytes that vt_transfer() needs in the buffers in addition to the data. */
#define VT_GUARD 64

extern const char *const vt_op_name[];
extern const char *const vt_via_name[];

/**
 * vt_random_u64() - Return the next number of a sequence with a fixed seed.
 *
 * Return: the number.
 */
uint64_t vt_random_u64(void);

/**
 * vt_fill_random() - Fill a buffer from the sequence of vt_random_u64().
 * @buf: buffer
 * @len: size in bytes
 */
void vt_fill_random(void *buf, size_t len);

#endif /* VT_H */
