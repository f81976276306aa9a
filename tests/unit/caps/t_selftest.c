// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of mxe-caps --selftest with a fake device that executes atomics bit by
 * bit and can inject faults.
 */
#include <endian.h>
#include <errno.h>

#include <infiniband/mxedv.h>
#include <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>

#include "caps.h"
#include "case.h"
#include "operands.h"
#include "options.h"
#include "print.h"
#include "report.h"
#include "selftest.h"
#include "tap.h"

/* ---- the fake device --------------------------------------------------- */

enum fault {
	NO_FAULT,
	RETURNS_NEW,		/* the new value instead of the old one */
	ALWAYS_HOST,		/* byte orders of the result */
	ALWAYS_BE,
	STORES_BE,
	STORES_NOTHING,
	STORES_LATE,
	WRITES_BESIDE,		/* the word */
	RETURNS_BESIDE,		/* the result */
	RETURNS_NOTHING,
	MIXES_MASKS,
	IGNORES_BOUNDARY,
	DROPS_CARRY,		/* at the end of each word of 8 bytes */
	BAD_STATUS,
	BAD_OPCODE,
	BAD_LENGTH,
	NO_COMPLETION,
	REFUSES_POST,
	REFUSES_POLL,
	REFUSES_QP,
	REFUSES_RTR,
	REFUSES_CQ,
};

static struct fake {
	bool is_mxe;
	enum fault fault;
	int from;		/* the first request with the fault */
	enum ibv_atomic_cap std_cap;
	uint64_t exp_flags;
	enum ibv_exp_atomic_cap exp_cap;
	uint64_t sizes, sizes_be;
	uint32_t reply_modes;
	int mxedv_errno, exp_errno;
	int ports;
	enum ibv_port_state state[3];
	uint8_t link_layer;
	struct ibv_gid_entry gids[4];
	int num_gids;

	struct ibv_qp_attr rtr;	/* as last set */
	int posted;
	int open;		/* objects that are not destroyed */
} fake;

static struct verbs_context vctx;
static struct ibv_device device = { .name = "fake0" };

struct fake_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qpx;
	};
	struct mxedv_qp_ex mqp;
	bool be, exp;
};

static struct ibv_wc done;
static int num_done;

struct request {
	struct fake_qp *qp;
	bool cmp_swap, masked;
	uint32_t size;
	uint64_t addr, result;
	uint64_t compare[4], compare_mask[4], swap[4], swap_mask[4];
};

static struct request building;

/* Value that STORES_LATE stores while the self-test sleeps. Size 0: none. */
static struct {
	uint64_t value[4];
	uint64_t addr;
	uint32_t size;
} late;

static bool has_fault(enum fault fault)
{
	return fake.fault == fault && fake.posted > fake.from;
}

static unsigned int bit_of(const uint64_t *words, unsigned int bit)
{
	return words[bit / 64] >> bit % 64 & 1;
}

static void put_bit(uint64_t *words, unsigned int bit, unsigned int value)
{
	words[bit / 64] &= ~(1ULL << bit % 64);
	words[bit / 64] |= (uint64_t)value << bit % 64;
}

static void cmp_swap(uint64_t *value, const struct request *r)
{
	bool mixed = has_fault(MIXES_MASKS);
	const uint64_t *compare_mask = mixed ? r->swap_mask : r->compare_mask;
	const uint64_t *swap_mask = mixed ? r->compare_mask : r->swap_mask;

	for (unsigned int i = 0; i < r->size * 8; i++)
		if (bit_of(compare_mask, i) &&
		    bit_of(r->compare, i) != bit_of(value, i))
			return;
	for (unsigned int i = 0; i < r->size * 8; i++)
		if (bit_of(swap_mask, i))
			put_bit(value, i, bit_of(r->swap, i));
}

static void fetch_add(uint64_t *value, const struct request *r)
{
	unsigned int carry = 0;

	for (unsigned int i = 0; i < r->size * 8; i++) {
		unsigned int sum = bit_of(value, i) + bit_of(r->compare, i) +
				   carry;

		put_bit(value, i, sum & 1);
		carry = sum >> 1;
		if (bit_of(r->compare_mask, i) && !has_fault(IGNORES_BOUNDARY))
			carry = 0;
		if (i % 64 == 63 && has_fault(DROPS_CARRY))
			carry = 0;
	}
}

/* Returns where byte i of a word, counted from the low end, is in memory. */
static uint32_t byte_at(uint32_t i, uint32_t size, bool be)
{
	uint32_t piece = size < 8 ? size : 8;

	return be || BYTE_ORDER == BIG_ENDIAN ? i / 8 * 8 + piece - 1 - i % 8 : i;
}

/* Loads an operand in host byte order, the low bytes into words[0]. */
static void load(uint64_t *words, uint64_t addr, uint32_t size)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)addr;

	memset(words, 0, 32);
	for (uint32_t i = 0; i < size; i++)
		words[i / 8] |= (uint64_t)from[byte_at(i, size, false)] << i % 8 * 8;
}

static void store(const uint64_t *words, uint64_t addr, uint32_t size, bool be)
{
	uint8_t *to = (uint8_t *)(uintptr_t)addr;

	for (uint32_t i = 0; i < size; i++)
		to[byte_at(i, size, be)] = words[i / 8] >> i % 8 * 8;
}

static void complete(const struct request *r)
{
	int opcode = r->cmp_swap ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD;

	if (has_fault(NO_COMPLETION))
		return;
	if (r->masked && r->qp->exp)
		opcode = r->cmp_swap ? IBV_EXP_WC_MASKED_COMP_SWAP :
				       IBV_EXP_WC_MASKED_FETCH_ADD;
	done = (struct ibv_wc){
		.status = has_fault(BAD_STATUS) ? IBV_WC_REM_OP_ERR :
						  IBV_WC_SUCCESS,
		.vendor_err = has_fault(BAD_STATUS) ? 0x89 : 0,
		.opcode = has_fault(BAD_OPCODE) ? IBV_WC_SEND : opcode,
		.byte_len = has_fault(BAD_LENGTH) ? 0 : r->size,
	};
	num_done++;
}

static int execute(const struct request *r)
{
	uint64_t old[4], new[4];
	bool be = r->qp->be || (r->masked && fake.sizes_be & r->size);

	fake.posted++;
	if (has_fault(REFUSES_POST))
		return EIO;
	if (has_fault(BAD_STATUS)) {
		complete(r);
		return 0;
	}
	if (has_fault(ALWAYS_HOST))
		be = false;
	if (has_fault(ALWAYS_BE))
		be = true;
	load(old, r->addr, r->size);
	memcpy(new, old, sizeof(new));
	if (r->cmp_swap)
		cmp_swap(new, r);
	else
		fetch_add(new, r);
	if (has_fault(STORES_LATE)) {
		memcpy(late.value, new, sizeof(new));
		late.addr = r->addr;
		late.size = r->size;
	} else if (!has_fault(STORES_NOTHING)) {
		store(new, r->addr, r->size, has_fault(STORES_BE));
	}
	if (has_fault(WRITES_BESIDE))
		((uint8_t *)(uintptr_t)r->addr)[r->size] ^= 1;
	if (!has_fault(RETURNS_NOTHING))
		store(has_fault(RETURNS_NEW) ? new : old, r->result, r->size,
		      be);
	if (has_fault(RETURNS_BESIDE))
		((uint8_t *)(uintptr_t)r->result)[-1] ^= 1;
	complete(r);
	return 0;
}

int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	if (late.size)
		store(late.value, late.addr, late.size, false);
	late.size = 0;
	return fake.fault == NO_COMPLETION ? __real_nanosleep(time, rest) : 0;
}

static void plain(struct request *r, uint64_t addr, uint64_t compare_add,
		  uint64_t swap)
{
	r->size = 8;
	r->addr = addr;
	r->compare[0] = compare_add;
	r->swap[0] = swap;
	if (r->cmp_swap) {
		r->compare_mask[0] = ~0ULL;
		r->swap_mask[0] = ~0ULL;
	}
}

/* ---- libibverbs -------------------------------------------------------- */

struct ibv_device **ibv_get_device_list(int *num)
{
	(void)num;
	return NULL;
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->atomic_cap = fake.std_cap;
	attr->phys_port_cnt = fake.ports;
	attr->vendor_id = 0x2c9;
	attr->vendor_part_id = 4119;
	strcpy(attr->fw_ver, "16.35.2000");
	return 0;
}

#undef ibv_query_port
static int query_port(struct ibv_context *context, uint8_t port,
		      struct ibv_port_attr *attr, size_t size)
{
	(void)context;
	memset(attr, 0, size);
	attr->state = fake.state[port];
	attr->link_layer = fake.link_layer;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = 16;
	attr->lid = 7;
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	(void)context;
	(void)port;
	(void)attr;
	bail_out("the old query of a port");
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
	return state == IBV_PORT_DOWN ? "PORT_DOWN" : "other";
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_OP_ERR ? "remote operation error" : "other";
}

ssize_t _ibv_query_gid_table(struct ibv_context *context,
			     struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	(void)context;
	(void)flags;
	if (size != sizeof(*entries) || max < 4)
		bail_out("a GID table of %zu", max);
	if (fake.num_gids > 0)
		memcpy(entries, fake.gids, fake.num_gids * size);
	return fake.num_gids;
}

static void *new_object(size_t size)
{
	fake.open++;
	return calloc(1, size);
}

static int free_object(void *object)
{
	fake.open--;
	free(object);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = new_object(sizeof(*pd));

	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return free_object(pd);
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	(void)pd;
	(void)addr;
	(void)length;
	(void)access;
	return new_object(sizeof(struct ibv_mr));
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	return free_object(mr);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *data,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq;

	(void)cqe;
	(void)data;
	(void)channel;
	(void)vector;
	if (fake.fault == REFUSES_CQ) {
		errno = ENOMEM;
		return NULL;
	}
	cq = new_object(sizeof(*cq));
	cq->context = context;
	num_done = 0;
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return free_object(cq);
}

static struct ibv_qp *new_qp(struct ibv_context *context, bool be, bool exp)
{
	struct fake_qp *qp;

	if (fake.fault == REFUSES_QP) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = new_object(sizeof(*qp));
	qp->qp.context = context;
	qp->be = be;
	qp->exp = exp;
	return &qp->qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)attr;
	return new_qp(pd->context, false, false);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	return free_object(qp);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)mask;
	if (attr->qp_state != IBV_QPS_RTR)
		return 0;
	fake.rtr = *attr;
	return fake.fault == REFUSES_RTR ? EINVAL : 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct request r = {
		.qp = (struct fake_qp *)qp,
		.cmp_swap = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP,
		.result = wr->sg_list->addr,
	};

	plain(&r, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add,
	      wr->wr.atomic.swap);
	*bad = wr;
	return execute(&r);
}

static int poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	(void)cq;
	(void)num;
	if (has_fault(REFUSES_POLL))
		return -1;
	if (!num_done)
		return 0;
	*wc = done;
	num_done--;
	return 1;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	fake.open++;
	vctx.context.device = dev;
	vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx.context.ops.post_send = post_send;
	vctx.context.ops.poll_cq = poll_cq;
	vctx.sz = sizeof(vctx);
	vctx.query_port = query_port;
	return &vctx.context;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	fake.open--;
	return 0;
}

/* ---- the builders ------------------------------------------------------ */

static void wr_start(struct ibv_qp_ex *qpx)
{
	building = (struct request){ .qp = (struct fake_qp *)qpx };
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	(void)qpx;
	return execute(&building);
}

static void wr_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
		       uint64_t compare, uint64_t swap)
{
	(void)qpx;
	(void)rkey;
	building.cmp_swap = true;
	plain(&building, addr, compare, swap);
}

static void wr_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr,
			 uint64_t add)
{
	(void)qpx;
	(void)rkey;
	plain(&building, addr, add, 0);
}

static void wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	(void)qpx;
	(void)lkey;
	(void)length;
	building.result = addr;
}

static void masked(struct request *r, uint64_t addr, uint32_t size,
		   const void *compare, const void *compare_mask,
		   const void *swap, const void *swap_mask)
{
	r->masked = true;
	r->size = size;
	r->addr = addr;
	load(r->compare, (uintptr_t)compare, size);
	load(r->compare_mask, (uintptr_t)compare_mask, size);
	r->cmp_swap = swap;
	if (!swap)
		return;
	load(r->swap, (uintptr_t)swap, size);
	load(r->swap_mask, (uintptr_t)swap_mask, size);
}

static void wr_ext_masked_cmp_swp(struct mxedv_qp_ex *mqp, uint32_t rkey,
				  uint64_t addr, uint32_t log,
				  const void *compare, const void *compare_mask,
				  const void *swap, const void *swap_mask)
{
	(void)mqp;
	(void)rkey;
	masked(&building, addr, 1U << log, compare, compare_mask, swap,
	       swap_mask);
}

static void wr_ext_masked_fetch_add(struct mxedv_qp_ex *mqp, uint32_t rkey,
				    uint64_t addr, uint32_t log,
				    const void *add, const void *boundary)
{
	wr_ext_masked_cmp_swp(mqp, rkey, addr, log, add, boundary, NULL, NULL);
}

static void wr_masked_cmp_swp(struct mxedv_qp_ex *mqp, uint32_t rkey,
			      uint64_t addr, uint64_t compare,
			      uint64_t compare_mask, uint64_t swap,
			      uint64_t swap_mask)
{
	wr_ext_masked_cmp_swp(mqp, rkey, addr, 3, &compare, &compare_mask,
			      &swap, &swap_mask);
}

static void wr_masked_fetch_add(struct mxedv_qp_ex *mqp, uint32_t rkey,
				uint64_t addr, uint64_t add, uint64_t boundary)
{
	wr_ext_masked_fetch_add(mqp, rkey, addr, 3, &add, &boundary);
}

bool mxedv_is_supported(struct ibv_device *dev)
{
	(void)dev;
	return fake.is_mxe;
}

int mxedv_query_device(struct ibv_context *context,
		       struct mxedv_device_attr *attr, uint32_t inlen)
{
	(void)context;
	memset(attr, 0, inlen);
	attr->atomic_cap = IBV_ATOMIC_GLOB;
	attr->masked_ops = MXEDV_MASKED_ATOMIC_CMP_SWP |
			   MXEDV_MASKED_ATOMIC_FETCH_ADD;
	attr->log_arg_sizes = fake.sizes;
	attr->log_arg_sizes_be = fake.sizes_be;
	attr->reply_modes = fake.reply_modes;
	return fake.mxedv_errno;
}

struct ibv_qp *mxedv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr,
			       struct mxedv_qp_init_attr *mxe_attr)
{
	bool be = mxe_attr->create_flags & MXEDV_QP_CREATE_ATOMIC_BE_REPLY;
	struct ibv_qp *qp = new_qp(context, be, false);
	struct fake_qp *f = (struct fake_qp *)qp;

	(void)attr;
	if (!qp)
		return NULL;
	f->qpx.wr_start = wr_start;
	f->qpx.wr_complete = wr_complete;
	f->qpx.wr_atomic_cmp_swp = wr_cmp_swp;
	f->qpx.wr_atomic_fetch_add = wr_fetch_add;
	f->qpx.wr_set_sge = wr_set_sge;
	f->mqp.wr_masked_atomic_cmp_swp = wr_masked_cmp_swp;
	f->mqp.wr_masked_atomic_fetch_add = wr_masked_fetch_add;
	f->mqp.wr_ext_masked_atomic_cmp_swp = wr_ext_masked_cmp_swp;
	f->mqp.wr_ext_masked_atomic_fetch_add = wr_ext_masked_fetch_add;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return &((struct fake_qp *)qp)->qpx;
}

struct mxedv_qp_ex *mxedv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx)
{
	return &((struct fake_qp *)qpx)->mqp;
}

/* ---- the experimental verbs -------------------------------------------- */

int ibv_exp_query_device(struct ibv_context *context,
			 struct ibv_exp_device_attr *attr)
{
	(void)context;
	attr->exp_atomic_cap = fake.exp_cap;
	attr->exp_device_cap_flags = fake.exp_flags;
	if (!(fake.exp_flags & IBV_EXP_DEVICE_EXT_MASKED_ATOMICS))
		attr->comp_mask &= ~IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS;
	attr->masked_atomic.masked_log_atomic_arg_sizes = fake.sizes;
	attr->masked_atomic.masked_log_atomic_arg_sizes_network_endianness =
		fake.sizes_be;
	return fake.exp_errno;
}

struct ibv_qp *ibv_exp_create_qp(struct ibv_context *context,
				 struct ibv_exp_qp_init_attr *attr)
{
	return new_qp(context, attr->exp_create_flags &
		      IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY, true);
}

/* The operand, or the operand that it points to. */
static const void *exp_operand(const uint64_t *field, uint32_t log,
			       uint32_t *half)
{
	*half = (uint32_t)*field;
	if (log > 3)
		return (void *)(uintptr_t)*field;
	return log == 2 ? (void *)half : field;
}

int ibv_exp_post_send(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
		      struct ibv_exp_send_wr **bad)
{
	struct ibv_exp_cmp_swap *cs =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap;
	struct ibv_exp_fetch_add *fa =
		&wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add;
	uint32_t log = wr->ext_op.masked_atomics.log_arg_sz, half[4];
	uint64_t addr = wr->ext_op.masked_atomics.remote_addr;
	struct request r = {
		.qp = (struct fake_qp *)qp,
		.cmp_swap = wr->exp_opcode == IBV_EXP_WR_ATOMIC_CMP_AND_SWP,
		.result = wr->sg_list->addr,
	};

	*bad = wr;
	switch ((int)wr->exp_opcode) {
	case IBV_EXP_WR_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_ATOMIC_FETCH_AND_ADD:
		plain(&r, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add,
		      wr->wr.atomic.swap);
		break;
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP:
		masked(&r, addr, 1U << log,
		       exp_operand(&cs->compare_val, log, &half[0]),
		       exp_operand(&cs->compare_mask, log, &half[1]),
		       exp_operand(&cs->swap_val, log, &half[2]),
		       exp_operand(&cs->swap_mask, log, &half[3]));
		break;
	default:
		masked(&r, addr, 1U << log,
		       exp_operand(&fa->add_val, log, &half[0]),
		       exp_operand(&fa->field_boundary, log, &half[1]), NULL,
		       NULL);
	}
	return execute(&r);
}

int ibv_exp_poll_cq(struct ibv_cq *cq, int num, struct ibv_exp_wc *wc,
		    uint32_t size)
{
	struct ibv_wc std;
	int n = poll_cq(cq, num, &std);

	memset(wc, 0, size);
	wc->status = std.status;
	wc->exp_opcode = (enum ibv_exp_wc_opcode)std.opcode;
	wc->byte_len = std.byte_len;
	wc->vendor_err = std.vendor_err;
	return n;
}

/* ---- libmlx5 ------------------------------------------------------------ */

static int libmlx5;

static void fake_mlx5dv(void)
{
}

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
	return strcmp(name, "libmlx5.so.1") ? __real_dlopen(name, flags) :
					      &libmlx5;
}

void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name)
{
	return lib == &libmlx5 ? (void *)fake_mlx5dv : __real_dlsym(lib, name);
}

int __real_dlclose(void *lib);
int __wrap_dlclose(void *lib);
int __wrap_dlclose(void *lib)
{
	return lib == &libmlx5 ? 0 : __real_dlclose(lib);
}

/* ---- running it -------------------------------------------------------- */

static struct caps_device dev;
static struct caps caps = { .devices = &dev, .num = 1 };
static struct st_options options;
static struct st_report report;
static char error[ST_TEXT], *text, *json;

void caps_print_table(const struct caps *c, FILE *out)
{
	fprintf(out, "table of %s\n", c->devices[0].name);
}

static void reset(void)
{
	static const union ibv_gid local = { .raw = { 0xfe, 0x80, [15] = 1 } };
	static const union ibv_gid global = { .raw = { 0xfd, [15] = 1 } };

	fake = (struct fake){
		.is_mxe = true,
		.std_cap = IBV_ATOMIC_GLOB,
		.exp_cap = IBV_EXP_ATOMIC_GLOB,
		.exp_flags = IBV_EXP_DEVICE_EXT_MASKED_ATOMICS,
		.sizes = 0x3f,
		.sizes_be = 0x37,
		.reply_modes = MXEDV_ATOMIC_REPLY_HOST | MXEDV_ATOMIC_REPLY_BE,
		.ports = 1,
		.state = { [1] = IBV_PORT_ACTIVE, [2] = IBV_PORT_DOWN },
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.gids = {
			{ .gid = global, .port_num = 1, .gid_index = 0,
			  .gid_type = IBV_GID_TYPE_ROCE_V1 },
			{ .gid = local, .port_num = 1, .gid_index = 1,
			  .gid_type = IBV_GID_TYPE_ROCE_V2 },
			{ .gid = global, .port_num = 1, .gid_index = 3,
			  .gid_type = IBV_GID_TYPE_ROCE_V2 },
			{ .gid = global, .port_num = 2, .gid_index = 0,
			  .gid_type = IBV_GID_TYPE_ROCE_V2 },
		},
		.num_gids = 4,
	};
	options = (struct st_options){
		.gid_index = -1,
		.seed = 1,
		.count = 20,
		.completion_ms = 20,
		.case_ms = 60000,
	};
	dev = (struct caps_device){
		.name = "fake0", .provider = "mxe", .ibv = &device,
	};
}

/* Makes the device one of rxe: emulated 8-byte atomics, without mxedv. */
static void be_emulated(void)
{
	fake.is_mxe = false;
	fake.sizes = 8;
	fake.sizes_be = 0;
	fake.exp_flags |= IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED;
	*dev.provider = '\0';
}

static void be_mlx5(void)
{
	fake.is_mxe = false;
	fake.sizes &= 0x3c;
	fake.sizes_be &= 0x3c;
	strcpy(dev.provider, "mlx5");
}

/* Returns the result of st_run(), with both forms of the report. */
static bool run(void)
{
	size_t len;
	FILE *out;
	bool ran;

	st_free(&report);
	free(text);
	free(json);
	text = NULL;
	json = NULL;
	*error = '\0';
	ran = st_run(&dev, &options, &report, error);
	if (ran) {
		out = open_memstream(&text, &len);
		st_print(&caps, &report, out);
		fclose(out);
		out = open_memstream(&json, &len);
		st_print_json(&report, out);
		fclose(out);
	}
	is_int(fake.open, 0, "... and all objects are destroyed");
	return ran;
}

/* Returns true if a line of the report begins with `start`. */
static bool has_line(const char *start)
{
	size_t len = strlen(start);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, start, len))
			return true;
	}
	diag("no line \"%s\" in\n%s", start, text);
	return false;
}

/* ---- tests ------------------------------------------------------------- */

static void test_mxe(void)
{
	reset();
	ok(run(), "a device of mxe");
	is_int(report.num_of[ST_PASS], 66, "all cases pass");
	is_int(report.num_of[ST_FAIL] + report.num_of[ST_NOT_OFFERED], 0,
	       "... and no other");
	ok(has_line("device       fake0, vendor 0x0002c9, part 4119, hardware 0x0, firmware 16.35.2000\n"
		    "port         1, Ethernet, GID index 3 (RoCE v2)\n"
		    "operands     edge cases and 20 random sets, seed 1\n"
		    "\n"
		    "table of fake0\n"), "the device is described");
	ok(has_line("verbs         cmp-swap          8      plain     host   pass (24 sets)\n"
		    "verbs         fetch-add         8      plain     host   pass (25 sets)\n"
		    "mxedv         cmp-swap          8      plain     host   pass (24 sets)\n"
		    "mxedv         cmp-swap          8      be-reply  be     pass (24 sets)\n"),
	   "the standard atomics");
	ok(has_line("mxedv         masked-cmp-swap   4      plain     be     pass (148 sets)\n"),
	   "4 bytes are big-endian");
	ok(has_line("exp-mxe       wide-fetch-add    32     be-reply  be     pass (60 sets)\n"
		    "\n"
		    "66 passed, 0 failed, 0 not offered\n"), "the last line");
	ok(strstr(json, "\"passed\": 66, \"failed\": 0, \"not_offered\": 0"),
	   "the same in JSON");
	ok(strstr(json, "{ \"backend\": \"exp-mxe\", \"operation\": \"wide-fetch-add\","),
	   "... with a case");
	ok(strstr(json, "\"bytes\": 32, \"qp\": \"be-reply\", \"reply\": \"be\","),
	   "... its queue pair");
	ok(strstr(json, "\"result\": \"pass\", \"reason\": null, \"sets\": 60, \"wrong\": 0, \"late\": 0,"),
	   "... and its result");
}

static void test_offers(void)
{
	reset();
	be_emulated();
	ok(run(), "a device with emulation");
	is_int(report.num_of[ST_PASS], 10, "10 cases pass");
	is_int(report.num_of[ST_NOT_OFFERED], 13, "13 are not offered");
	ok(has_line("mxedv         -                 -      -         -      not offered: not an mxe device\n"),
	   "no mxedv");
	ok(has_line("exp-emulated  masked-cmp-swap   4      -         -      not offered: not in masked_"),
	   "no 4 bytes");
	ok(has_line("exp-emulated  masked-cmp-swap   8      plain     host   pass"),
	   "... but 8 bytes");

	reset();
	be_mlx5();
	ok(run(), "an adapter of mlx5");
	is_int(report.num_of[ST_PASS], 26, "26 cases pass");
	ok(has_line("exp-mlx5      masked-fetch-add  32     plain     be     pass"),
	   "... by the backend for mlx5");
	ok(has_line("libmlx5      /"), "its library is named");

	reset();
	be_emulated();
	be_mlx5();
	ok(run(), "one that libibverbs_exp cannot use");
	ok(has_line("exp-mlx5      -                 -      -         -      not offered: libibverbs_exp cannot"),
	   "... which is reported");

	reset();
	fake.std_cap = IBV_ATOMIC_NONE;
	fake.exp_cap = IBV_EXP_ATOMIC_HCA_REPLY_BE;
	fake.sizes_be = 0x3f;
	fake.reply_modes = MXEDV_ATOMIC_REPLY_BE;
	ok(run(), "a device with big-endian replies only");
	is_int(report.num_of[ST_PASS], 32, "32 cases pass");
	is_int(report.num_of[ST_FAIL], 0, "none fails");
	ok(has_line("mxedv         cmp-swap          8      plain     -      not offered: the device replies"),
	   "plain queue pairs have no atomics");

	reset();
	fake.mxedv_errno = EIO;
	fake.exp_errno = ENOMEM;
	ok(run(), "a device that two libraries cannot query");
	ok(strstr(text, "-      not offered: mxedv_query_device: Input/output error\n"),
	   "... the reason of one");
	ok(strstr(text, "-      not offered: ibv_exp_query_device: Cannot allocate memory\n"),
	   "... and of the other");

	reset();
	be_emulated();
	fake.std_cap = IBV_ATOMIC_NONE;
	fake.exp_cap = IBV_EXP_ATOMIC_NONE;
	fake.exp_flags = 0;
	fake.ports = 0;
	ok(run(), "a device without atomics and without a port");
	is_int(report.num_of[ST_PASS] + report.num_of[ST_FAIL], 0,
	       "nothing is run");
}

/* A fault that the case must find; `line` is part of the report. */
struct wrong {
	enum fault fault;
	int failed;
	const char *line;
};

static const struct wrong wrongs[] = {
	{ RETURNS_NEW, 66, "mxedv         masked-cmp-swap   8      plain     host   FAIL (" },
	{ RETURNS_NOTHING, 66, "      got          0xa5a5a5a5a5a5a5a5\n" },
	{ ALWAYS_HOST, 48, " (the expected value in host byte order)\n" },
	{ ALWAYS_BE, 10, " (the expected value in big-endian)\n" },
	{ STORES_BE, 58, "operand set 0, memory after the operation\n" },
	{ STORES_NOTHING, 66, " (memory is unchanged)\n" },
	{ WRITES_BESIDE, 66, "operand set 0, memory beside the word\n" },
	{ RETURNS_BESIDE, 66, " at offset -1 from the word\n" },
	{ MIXES_MASKS, 24, "      swap_mask    0x" },
	{ IGNORES_BOUNDARY, 32, "      boundary     0x" },
	{ DROPS_CARRY, 8, "mxedv         wide-fetch-add    16     plain     be     FAIL (" },
	{ BAD_STATUS, 66, "      got          11 (remote operation error), vendor_err 0x89\n" },
	{ BAD_OPCODE, 66, "      expected     masked fetch-and-add\n      got          0\n" },
	{ BAD_LENGTH, 64, "operand set 0, byte_len of the completion\n" },
	{ NO_COMPLETION, 66, "      got          none within 20 ms\n" },
	{ REFUSES_POST, 66, "operand set 0, ibv_wr_complete\n" },
	{ REFUSES_POLL, 66, "      got          polling failed\n" },
	{ REFUSES_QP, 66, "FAIL (1 of 0 sets)\n    mxedv_create_qp\n" },
	{ REFUSES_RTR, 66, "    ibv_modify_qp to RTR\n      expected     success\n" },
	{ REFUSES_CQ, 66, "    ibv_create_cq\n" },
};

static void test_faults(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++) {
		const struct wrong *w = &wrongs[i];

		/* On a big-endian host these are not faults. */
		if (BYTE_ORDER == BIG_ENDIAN &&
		    (w->fault == ALWAYS_HOST || w->fault == ALWAYS_BE ||
		     w->fault == STORES_BE))
			continue;
		reset();
		fake.fault = w->fault;
		ok(run(), "fault %d", w->fault);
		is_int(report.num_of[ST_FAIL], w->failed,
		       "... %d cases fail", w->failed);
		is_int(report.num_of[ST_PASS], 66 - w->failed,
		       "... and the others pass");
		ok(text && strstr(text, w->line), "... the report says how") ||
			(diag("%s", text), 0);
	}
}

/* No other case uses a QP after an error. */
static void test_once(void)
{
	const struct st_case *c;

	reset();
	fake.fault = WRITES_BESIDE;
	fake.from = 24 + 3;
	options.count = 20;
	ok(run(), "a fault from the fourth request of the second case on");
	is_int(report.cases[0].result, ST_PASS, "the first case passes");
	c = &report.cases[1];
	is_int(c->first.set, 3, "the first wrong operand set is given");
	is_int(c->sets, 25, "... and the case continues");
	is_int(c->wrong, 22, "... and counts");
	ok(strstr(json, "{ \"what\": \"memory beside the word\", \"set\": 3, \"operands\": {"),
	   "... in JSON, too");
	ok(strstr(json, "{\"old\": \"0x0000000000000000\", \"add\": \"0xffffffffffffffff\"},"),
	   "... with the operands");

	reset();
	fake.fault = BAD_STATUS;
	fake.from = 24 + 3;
	run();
	c = &report.cases[1];
	is_int(c->sets, 4, "a completion with an error ends the case");
	is_int(report.cases[2].sets, 1, "... and the next one is tried");

	reset();
	fake.fault = STORES_LATE;
	options.count = 0;
	ok(run(), "a device whose stores are late");
	is_int(report.num_of[ST_PASS], 66, "... passes");
	ok(has_line("verbs         cmp-swap          8      plain     host   pass (4 sets, 2 late)\n"),
	   "... each store that changes memory is counted");

	reset();
	options.case_ms = 0;
	options.count = 0;
	fake.fault = NO_COMPLETION;
	fake.from = 0;
	run();
	is_int(report.cases[0].sets, 1, "the time limit of a case");
}

static void test_port(void)
{
	reset();
	fake.ports = 2;
	fake.state[1] = IBV_PORT_DOWN;
	fake.state[2] = IBV_PORT_ACTIVE;
	ok(run(), "the second port is the active one");
	is_int(fake.rtr.ah_attr.port_num, 2, "... and is used");
	is_int(fake.rtr.ah_attr.grh.sgid_index, 0, "... with its own GID");

	options.port = 1;
	ok(!run(), "--port 1 is not active");
	is_str(error, "port 1 of fake0 is not active (PORT_DOWN): bring its link up",
	       "... is the message");
	options.port = 3;
	ok(!run(), "--port 3");
	is_str(error, "fake0 has no port 3, its last one is 2",
	       "... is the message");
	options.port = 0;
	fake.state[2] = IBV_PORT_DOWN;
	ok(!run(), "no active port");
	is_str(error, "no port of fake0 is active: bring its link up",
	       "... is the message");

	reset();
	options.gid_index = 1;
	ok(run(), "--gid-index 1");
	is_int(fake.rtr.ah_attr.grh.sgid_index, 1, "... is used");
	options.gid_index = 9;
	ok(!run(), "--gid-index 9");
	is_str(error, "port 1 of fake0 has no GID with index 9",
	       "... is the message");
	options.gid_index = -1;
	fake.num_gids = 0;
	ok(!run(), "no GID");
	is_str(error, "port 1 of fake0 has no GID: give its network interface an address",
	       "... is the message");
	fake.num_gids = -EIO;
	ok(!run(), "no GID table");
	is_str(error, "fake0: ibv_query_gid_table: Input/output error",
	       "... is the message");

	fake.num_gids = 0;
	fake.link_layer = IBV_LINK_LAYER_INFINIBAND;
	ok(run(), "no GID on InfiniBand");
	ok(!fake.rtr.ah_attr.is_global && fake.rtr.ah_attr.dlid == 7,
	   "... where the LID is used");
	ok(has_line("port         1, InfiniBand\n"), "... and reported");
	fake.num_gids = 4;
	fake.gids[0].gid_type = IBV_GID_TYPE_IB;
	options.gid_index = 0;
	ok(run(), "... with --gid-index");
	ok(has_line("port         1, InfiniBand, GID index 0 (IB)\n"),
	   "... the GID is used");

	reset();
	dev.ibv = NULL;
	ok(!run(), "a device that libibverbs does not show");
	ok(strstr(error, "libibverbs does not show fake0"), "... is the message");
}

/* The values of an operand set do not depend on the sets before it. */
static void test_operands(void)
{
	static const enum st_op ops[] = {
		ST_MASKED_CMP_SWAP, ST_MASKED_FETCH_ADD, ST_WIDE_FETCH_ADD,
	};
	unsigned int matches = 0, differs = 0, wide = 0, beyond = 0;
	struct st_operands o, again;

	for (unsigned int set = 0; set < 1000; set++) {
		st_operands_make(ST_MASKED_CMP_SWAP, 32, 7, set, &o);
		st_operands_make(ST_MASKED_CMP_SWAP, 32, 7, set, &again);
		if (memcmp(&o, &again, sizeof(o)))
			fail("set %u is not reproducible", set);
		for (int i = 0; i < 4; i++) {
			if ((o.old.w[i] ^ o.compare.w[i]) &
			    o.compare_mask.w[i]) {
				differs++;
				break;
			}
			matches += i == 3;
		}
		st_operands_make(ST_MASKED_CMP_SWAP, 32, 8, set, &again);
		if (set >= st_num_edges(ST_MASKED_CMP_SWAP) &&
		    !memcmp(&o, &again, sizeof(o)))
			fail("set %u does not depend on the seed", set);
	}
	ok(matches > 500 && differs > 100,
	   "%u comparisons succeed and %u fail", matches, differs);

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		for (unsigned int set = 0; set < 500; set++) {
			st_operands_make(ops[i], 4, 7, set, &o);
			beyond |= o.old.w[0] >> 32 || o.compare.w[0] >> 32 ||
				  o.compare_mask.w[0] >> 32 || o.swap.w[0] >> 32;
			st_operands_make(ops[i], 16, 7, set, &o);
			beyond |= o.old.w[2] || o.compare_mask.w[3];
			if (ops[i] == ST_MASKED_FETCH_ADD &&
			    !(o.compare_mask.w[0] >> 63))
				wide++;
		}
	}
	is_int(beyond, 0, "no operand is longer than its size");
	is_int(wide, 0, "every field of a masked-fetch-add ends with its word");
	for (unsigned int set = 0; set < 64; set++)
		for (uint32_t size = 4; size <= 32; size *= 2)
			if (st_area_offset(size, set) % size ||
			    st_area_offset(size, set) + size > ST_AREA)
				fail("size %u, set %u is misplaced", size, set);
}

int main(void)
{
	plan(0);
	test_operands();
	test_mxe();
	test_offers();
	test_faults();
	test_once();
	test_port();
	st_free(&report);
	free(text);
	free(json);
	return done_testing();
}
