/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mxe-caps --selftest executes every atomic operation that a device offers on
 * memory of this process, over a loop-back connection of that device, and
 * compares the results with include/masked_atomic.h.
 *
 * A case is one line of the report: a backend, an operation, an operand size
 * and a kind of queue pair.  It runs many operand sets on a pair of queue pairs
 * of its own, so an error never affects the next case.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <infiniband/verbs.h>

struct caps;
struct caps_device;

#define ST_TEXT 256

/*
 * Time limits.  A device gives up retransmitting after 8 timeouts of 0.5 s, and
 * may round each up to 2 s, so its error arrives before ST_COMPLETION_MS.
 */
#define ST_COMPLETION_MS 30000
#define ST_CASE_MS 120000
#define ST_SET_MS 100		/* added for each pseudo-random operand set */
#define ST_LATE_MS 20

enum st_op {
	ST_CMP_SWAP,		/* the standard atomics, 8 bytes */
	ST_FETCH_ADD,
	ST_MASKED_CMP_SWAP,
	ST_MASKED_FETCH_ADD,	/* no field extends across words of 8 bytes */
	ST_WIDE_FETCH_ADD,	/* fields of more than 8 bytes */
	ST_NUM_OPS,
};

enum st_backend {
	ST_VERBS,		/* ibv_post_send() */
	ST_MXEDV,		/* the builders mxedv_wr_*() */
	ST_EXP,			/* ibv_exp_post_send() */
};

/* A number of up to 32 bytes.  w[0] is the least significant part. */
struct st_word {
	uint64_t w[4];
};

/* In a fetch-and-add, compare is the addend and compare_mask the boundary. */
struct st_operands {
	struct st_word old;	/* in memory before the operation */
	struct st_word compare;
	struct st_word compare_mask;
	struct st_word swap;
	struct st_word swap_mask;
};

/* The first wrong result of a case. */
struct st_mismatch {
	const char *what;	/* NULL: nothing is wrong */
	int set;		/* operand set; -1: set-up failed */
	struct st_operands operands;
	char expected[ST_TEXT];
	char got[ST_TEXT];
	const char *note;	/* NULL: none */
};

enum st_result {
	ST_NOT_OFFERED,
	ST_PASS,
	ST_FAIL,
};

struct st_case {
	enum st_backend backend;
	char backend_name[16];
	enum st_op op;		/* ST_NUM_OPS: every operation of the backend */
	uint32_t size;		/* bytes; 0: every size */
	bool any_qp;		/* the next two are not valid */
	bool be_qp;		/* queue pair with big-endian replies */
	bool be_reply;		/* byte order in which the result is expected */

	enum st_result result;
	char reason[ST_TEXT];	/* of ST_NOT_OFFERED */
	unsigned int sets;	/* that were executed */
	unsigned int wrong;
	unsigned int late;	/* right only ST_LATE_MS after the completion */
	struct st_mismatch first;
};

struct st_options {
	unsigned int port;	/* 0: the first one that is active */
	int gid_index;		/* -1: chosen by link layer and type */
	uint32_t seed;
	unsigned int count;	/* pseudo-random operand sets of each case */
	unsigned int completion_ms;
	unsigned int case_ms;
};

struct st_report {
	struct st_options options;
	char kernel[ST_TEXT];
	char libibverbs[ST_TEXT];	/* path of the library */
	char libmlx5[ST_TEXT];		/* empty: not used */
	struct ibv_device_attr attr;
	uint8_t link_layer;		/* of the port; 0 if nothing was run */
	char gid_type[16];		/* empty: no GID is used */

	struct st_case *cases;
	size_t num;
	size_t num_of[ST_FAIL + 1];	/* by result */
};

/* ---- operands.c: pure arithmetic --------------------------------------- */

/*
 * The word and what surrounds it.  The operation must not change a byte of an
 * area beside its word.
 */
#define ST_AREA 96

/**
 * st_op_is_masked() - Returns true if @op needs masked atomics.
 * @op: operation
 *
 * Return: false for the standard compare-and-swap and fetch-and-add.
 */
static inline bool st_op_is_masked(enum st_op op)
{
	return op >= ST_MASKED_CMP_SWAP;
}

/**
 * st_op_is_cmp_swap() - Returns true if @op compares and swaps.
 * @op: operation
 *
 * Return: false for every fetch-and-add.
 */
static inline bool st_op_is_cmp_swap(enum st_op op)
{
	return op == ST_CMP_SWAP || op == ST_MASKED_CMP_SWAP;
}

/**
 * st_num_edges() - Returns the number of operand sets with edge values.
 * @op: operation
 *
 * Return: the first pseudo-random set has this number.
 */
unsigned int st_num_edges(enum st_op op);

/**
 * st_operands_make() - Makes one operand set.
 * @op: operation
 * @size: 4, 8, 16 or 32 bytes; 8 for the standard atomics
 * @seed: selects the pseudo-random sets
 * @set: number of the set, from 0; the edge cases come first
 * @o: result; depends on the other arguments only
 */
void st_operands_make(enum st_op op, uint32_t size, uint32_t seed,
		      unsigned int set, struct st_operands *o);

/**
 * st_expected() - Returns the word that the operation must store.
 * @op: operation
 * @size: bytes
 * @o: operands
 *
 * Return: by the functions of include/masked_atomic.h.
 */
struct st_word st_expected(enum st_op op, uint32_t size,
			   const struct st_operands *o);

/**
 * st_encode() - Writes a word as it is in memory.
 * @word: number, of which the low @size bytes are written
 * @size: 1, 2, 4, 8, 16 or 32 bytes
 * @be: each piece of up to 8 bytes is written in big-endian; otherwise in host
 *	byte order.  The first piece is the least significant in both cases.
 * @to: at least @size bytes
 */
void st_encode(const struct st_word *word, uint32_t size, bool be, void *to);

/**
 * st_area_offset() - Returns where the word is in its area.
 * @size: bytes
 * @set: number of the operand set
 *
 * Return: bytes, a multiple of @size that varies with @set.
 */
size_t st_area_offset(uint32_t size, unsigned int set);

/**
 * st_areas_fill() - Writes both areas as they are before the operation.
 * @size: bytes
 * @set: number of the operand set
 * @o: operands
 * @memory: area of the responder, ST_AREA bytes
 * @result: area of the requester, ST_AREA bytes
 */
void st_areas_fill(uint32_t size, unsigned int set, const struct st_operands *o,
		   uint8_t *memory, uint8_t *result);

/**
 * st_check() - Compares both areas with what the operation must leave there.
 * @c: the case: operation, size and byte order of the result
 * @set: number of the operand set
 * @o: operands
 * @memory: area of the responder, ST_AREA bytes
 * @result: area of the requester, ST_AREA bytes
 * @m: describes the first difference; not written if there is none
 *
 * Return: true if every byte is right.
 */
bool st_check(const struct st_case *c, unsigned int set,
	      const struct st_operands *o, const uint8_t *memory,
	      const uint8_t *result, struct st_mismatch *m);

/* Room for 32 bytes in hexadecimal, "0x" and the final 0. */
#define ST_HEX (2 + 64 + 1)

/**
 * st_hex() - Prints a word as one hexadecimal number.
 * @word: number
 * @size: bytes; all leading zeros are printed
 * @text: at least ST_HEX bytes
 *
 * Return: @text.
 */
const char *st_hex(const struct st_word *word, uint32_t size, char *text);

/* ---- loop.c: the connection -------------------------------------------- */

/* The device and this process's memory. */
struct st_loop {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint8_t *memory;	/* ST_AREA bytes, remotely accessible */
	uint8_t *result;	/* ST_AREA bytes */
	struct ibv_mr *memory_mr;
	struct ibv_mr *result_mr;

	unsigned int port;
	struct ibv_port_attr port_attr;
	bool has_gid;
	uint32_t gid_index;
	union ibv_gid gid;
	char gid_type[16];
};

/* Two queue pairs; qp[0] is the requester.  Members are NULL until created. */
struct st_pair {
	const struct st_loop *loop;
	enum st_backend backend;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
};

struct st_completion {
	enum ibv_wc_status status;
	int opcode;		/* of enum ibv_wc_opcode or ibv_exp_wc_opcode */
	uint32_t byte_len;
	uint32_t vendor_err;
};

/**
 * st_loop_open() - Finds the port and the GID, and registers the memory.
 * @loop: result; to be closed in any case
 * @context: the device, which stays the caller's
 * @options: port and GID index
 * @ports: number of the last port of the device
 * @error: ST_TEXT bytes; names the problem and, where there is one, the remedy
 *
 * Return: true if connections can be made.
 */
bool st_loop_open(struct st_loop *loop, struct ibv_context *context,
		  const struct st_options *options, unsigned int ports,
		  char *error);

/**
 * st_loop_close() - Undoes st_loop_open().
 * @loop: without open pairs
 */
void st_loop_close(struct st_loop *loop);

/**
 * st_pair_open() - Creates two queue pairs and connects them to each other.
 * @pair: result; to be closed in any case
 * @loop: the device
 * @c: the case: backend, largest operand and kind of queue pair
 * @m: describes the call that failed; written on failure only
 *
 * Return: true if requests can be posted.
 */
bool st_pair_open(struct st_pair *pair, const struct st_loop *loop,
		  const struct st_case *c, struct st_mismatch *m);

/**
 * st_pair_close() - Destroys the queue pairs, which ends all access to the
 *	memory.
 * @pair: connected or not
 */
void st_pair_close(struct st_pair *pair);

/**
 * st_pair_wait() - Polls for one completion.
 * @pair: connected
 * @ms: time limit in milliseconds
 * @wc: the completion
 *
 * Return: 0, ETIMEDOUT, or EIO if polling itself fails.
 */
int st_pair_wait(struct st_pair *pair, unsigned int ms,
		 struct st_completion *wc);

/**
 * st_now_ms() - Returns the monotonic time.
 *
 * Return: milliseconds.
 */
uint64_t st_now_ms(void);

/* ---- post.c: the backends ---------------------------------------------- */

/**
 * st_qp_create() - Creates a queue pair with the calls of the case's backend.
 * @loop: the device
 * @cq: completion queue of both directions
 * @c: the case
 * @call: name of the call that was made
 *
 * Return: the queue pair, or NULL with errno.
 */
struct ibv_qp *st_qp_create(const struct st_loop *loop, struct ibv_cq *cq,
			    const struct st_case *c, const char **call);

/**
 * st_post() - Posts one signalled atomic on the requester.
 * @pair: connected
 * @c: the case
 * @set: number of the operand set, which places the word
 * @o: operands
 * @call: name of the call that was made
 *
 * Return: 0 or a positive errno.
 */
int st_post(struct st_pair *pair, const struct st_case *c, unsigned int set,
	    const struct st_operands *o, const char **call);

/**
 * st_poll() - Polls for one completion with the call of the backend.
 * @pair: connected
 * @wc: the completion
 *
 * Return: 1, 0 if there is none, or a negative value.
 */
int st_poll(struct st_pair *pair, struct st_completion *wc);

/* ---- selftest.c: the cases --------------------------------------------- */

/**
 * st_run() - Runs the self-test on one device.
 * @dev: device, as caps_ask() found it
 * @options: copied into the report
 * @report: result; to be freed with st_free()
 * @error: ST_TEXT bytes; says why nothing could be run
 *
 * Returns true also if cases have failed.
 *
 * Return: false if the test could not be run; @report is empty then.
 */
bool st_run(const struct caps_device *dev, const struct st_options *options,
	    struct st_report *report, char *error);

/**
 * st_free() - Frees the cases of a report.
 * @report: of st_run()
 */
void st_free(struct st_report *report);

/* ---- report.c ----------------------------------------------------------- */

/**
 * st_print() - Prints the report as text.
 * @caps: the abilities of the device and no other
 * @report: of st_run()
 * @out: where to
 */
void st_print(const struct caps *caps, const struct st_report *report,
	      FILE *out);

/**
 * st_print_json() - Prints the report as the value of a JSON key.
 * @report: of st_run()
 * @out: where to
 */
void st_print_json(const struct st_report *report, FILE *out);

#endif /* SELFTEST_H */
