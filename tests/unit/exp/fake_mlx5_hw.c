// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the device of fake_mlx5.c. It reads WQEs as bytes and executes
 * masked atomics bit by bit, so it shares no code with the backend.
 */
#include "fake_mlx5_hw.h"
#include "tap.h"

static pthread_mutex_t hw_lock = PTHREAD_MUTEX_INITIALIZER;

void fake_mlx5_hw_lock(void)
{
	pthread_mutex_lock(&hw_lock);
}

void fake_mlx5_hw_unlock(void)
{
	pthread_mutex_unlock(&hw_lock);
}

void fake_mlx5_region(void *start, size_t size, uint32_t key)
{
	int i;

	for (i = 0; i < MAX_REGIONS; i++) {
		if (fake_mlx5.regions[i].start)
			continue;
		fake_mlx5.regions[i].start = start;
		fake_mlx5.regions[i].size = size;
		fake_mlx5.regions[i].key = key;
		return;
	}
	bail_out("too many regions");
}

/* Returns NULL if the key does not permit the access. */
static uint8_t *translate(uint32_t key, uint64_t addr, size_t size)
{
	int i;

	for (i = 0; i < MAX_REGIONS; i++) {
		uint64_t start = (uintptr_t)fake_mlx5.regions[i].start;

		if (start && fake_mlx5.regions[i].key == key &&
		    addr >= start && size <= fake_mlx5.regions[i].size &&
		    addr - start <= fake_mlx5.regions[i].size - size)
			return (uint8_t *)(uintptr_t)addr;
	}
	return NULL;
}

struct wqe {
	uint8_t bytes[1024];
	uint32_t size;
	uint32_t at;		/* next byte to read */
};

static uint64_t get(struct wqe *wqe, int bytes)
{
	uint64_t value = 0;

	while (bytes--) {
		if (wqe->at >= wqe->size)
			bail_out("a WQE that is too short");
		value = value << 8 | wqe->bytes[wqe->at++];
	}
	return value;
}

/* Copies data to or from the buffers that the rest of the WQE describes. */
static enum ibv_wc_status scatter(struct wqe *wqe, uint8_t *data, size_t size,
				  bool to_buffers, size_t *done)
{
	*done = 0;
	while (wqe->at < wqe->size) {
		uint32_t length = get(wqe, 4);
		uint32_t key, i;
		uint8_t *buffer;

		if (length & MLX5_INLINE_SEG) {
			length &= ~MLX5_INLINE_SEG;
			for (i = 0; i < length; i++, ++*done)
				if (*done < size)
					data[*done] = get(wqe, 1);
			return IBV_WC_SUCCESS;
		}
		key = get(wqe, 4);
		buffer = translate(key, get(wqe, 8), length);
		if (!buffer)
			return IBV_WC_LOC_PROT_ERR;
		for (i = 0; i < length && *done < size; i++, ++*done) {
			if (to_buffers)
				buffer[i] = data[*done];
			else
				data[*done] = buffer[i];
		}
	}
	return IBV_WC_SUCCESS;
}

/* ---- atomics ------------------------------------------------------------- */

#define MAX_BITS 256

/* A number of one to four words of 64 bits, or of one word of 32. */
struct num {
	bool bit[MAX_BITS];
};

static struct num get_num(struct wqe *wqe, int size)
{
	struct num num = { };
	int word = size < 8 ? size : 8;
	int i, j;

	for (i = 0; i < size; i += word) {
		uint64_t value = get(wqe, word);

		for (j = 0; j < word * 8; j++)
			num.bit[i * 8 + j] = value >> j & 1;
	}
	return num;
}

/* Words in memory are in host byte order, which is little-endian. */
static struct num load(const uint8_t *from, int size)
{
	struct num num = { };
	int i;

	for (i = 0; i < size * 8; i++)
		num.bit[i] = from[i / 8] >> i % 8 & 1;
	return num;
}

static void store(uint8_t *to, int size, const struct num *num)
{
	int i;

	memset(to, 0, size);
	for (i = 0; i < size * 8; i++)
		to[i / 8] |= num->bit[i] << i % 8;
}

static struct num cmp_swp(struct num old, struct wqe *wqe, int size, bool masked)
{
	struct num swap = get_num(wqe, size);
	struct num compare = get_num(wqe, size);
	struct num swap_mask, compare_mask;
	int i;

	memset(&swap_mask, 1, sizeof(swap_mask));
	memset(&compare_mask, 1, sizeof(compare_mask));
	if (masked) {
		swap_mask = get_num(wqe, size);
		compare_mask = get_num(wqe, size);
	}
	for (i = 0; i < size * 8; i++)
		if (compare_mask.bit[i] && compare.bit[i] != old.bit[i])
			return old;
	for (i = 0; i < size * 8; i++)
		if (swap_mask.bit[i])
			old.bit[i] = swap.bit[i];
	return old;
}

static struct num fetch_add(struct num old, struct wqe *wqe, int size)
{
	struct num add = get_num(wqe, size);
	struct num boundary = get_num(wqe, size);
	bool carry = false;
	int i;

	if (size == 4)
		get(wqe, 8);
	for (i = 0; i < size * 8; i++) {
		int sum = old.bit[i] + add.bit[i] + carry;

		old.bit[i] = sum & 1;
		carry = sum > 1 && !boundary.bit[i];
		if (carry && i % 64 == 63 && i + 1 < size * 8)
			bail_out("a carry between words, which real devices may handle otherwise");
	}
	return old;
}

/*
 * Only 8-byte results can be in host byte order, if the device is configured
 * so.
 */
static void to_reply(uint8_t *reply, int size)
{
	int word = size < 8 ? size : 8;
	int i, j;

	if (size == 8 && fake_mlx5.endianness_mode == 1)
		return;
	for (i = 0; i < size; i += word) {
		for (j = 0; j < word / 2; j++) {
			uint8_t byte = reply[i + j];

			reply[i + j] = reply[i + word - 1 - j];
			reply[i + word - 1 - j] = byte;
		}
	}
}

static enum ibv_wc_status atomic(struct wqe *wqe, int opcode, int opmod,
				 uint64_t addr, uint32_t key)
{
	bool masked = opcode == MLX5_OPCODE_ATOMIC_MASKED_CS ||
		      opcode == MLX5_OPCODE_ATOMIC_MASKED_FA;
	int size = masked ? 4 << (opmod & 7) : 8;
	uint8_t *word = translate(key, addr, size);
	uint8_t reply[32];
	enum ibv_wc_status status;
	struct num num;
	size_t done;

	if ((masked && (opmod & 0xf8) != 8) || (!masked && opmod))
		bail_out("opmod %#x of opcode %#x", opmod, opcode);
	if (!(fake_mlx5.size_qp & size))
		return IBV_WC_LOC_QP_OP_ERR;
	if (addr % size)
		return IBV_WC_REM_INV_REQ_ERR;
	if (!word)
		return IBV_WC_REM_ACCESS_ERR;
	num = load(word, size);
	memcpy(reply, word, size);
	if (opcode == MLX5_OPCODE_ATOMIC_CS ||
	    opcode == MLX5_OPCODE_ATOMIC_MASKED_CS)
		num = cmp_swp(num, wqe, size, masked);
	else
		num = fetch_add(num, wqe, size);
	store(word, size, &num);
	to_reply(reply, size);
	status = scatter(wqe, reply, size, true, &done);
	if (status == IBV_WC_SUCCESS && done < (size_t)size)
		return IBV_WC_LOC_LEN_ERR;
	return status;
}

/* ---- execution ----------------------------------------------------------- */

static enum ibv_wc_status rdma(struct wqe *wqe, bool is_read, uint64_t addr,
			       uint32_t key)
{
	uint8_t data[4096];
	struct wqe copy = *wqe;
	enum ibv_wc_status status;
	uint8_t *remote;
	size_t size;

	/* Find out the length. */
	status = scatter(&copy, data, sizeof(data), false, &size);
	if (status != IBV_WC_SUCCESS)
		return status;
	remote = translate(key, addr, size);
	if (!remote)
		return IBV_WC_REM_ACCESS_ERR;
	if (is_read)
		return scatter(wqe, remote, size, true, &size);
	memcpy(remote, data, size);
	return IBV_WC_SUCCESS;
}

static enum ibv_wc_status execute(struct wqe *wqe, int opcode, int opmod)
{
	uint64_t addr;
	uint32_t key;

	if (opcode == MLX5_OPCODE_SEND || opcode == MLX5_OPCODE_SEND_IMM)
		return IBV_WC_SUCCESS;
	addr = get(wqe, 8);
	key = get(wqe, 4);
	if (get(wqe, 4))
		bail_out("a reserved field");
	switch (opcode) {
	case MLX5_OPCODE_RDMA_WRITE:
	case MLX5_OPCODE_RDMA_WRITE_IMM:
		return rdma(wqe, false, addr, key);
	case MLX5_OPCODE_RDMA_READ:
		return rdma(wqe, true, addr, key);
	case MLX5_OPCODE_ATOMIC_CS:
	case MLX5_OPCODE_ATOMIC_FA:
	case MLX5_OPCODE_ATOMIC_MASKED_CS:
	case MLX5_OPCODE_ATOMIC_MASKED_FA:
		return atomic(wqe, opcode, opmod, addr, key);
	default:
		bail_out("opcode %#x", opcode);
	}
}

static void fetch(const struct fake_mlx5_qp *qp, struct wqe *wqe)
{
	uint32_t ring = qp->wqe_cnt * BB;
	uint32_t from = qp->run % qp->wqe_cnt * BB;
	uint32_t i;

	wqe->size = (qp->sq[(from + 7) % ring] & 0x3f) * 16;
	wqe->at = 0;
	for (i = 0; i < wqe->size; i++)
		wqe->bytes[i] = qp->sq[(from + i) % ring];
}

/* The address of a DC target is complete if it has both numbers. */
static void run_address(struct wqe *wqe)
{
	uint64_t key = get(wqe, 8);
	uint64_t number = get(wqe, 4);

	fake_mlx5.dc_key = key;
	fake_mlx5.dct_num = number & 0xffffff;
	if (!(number & MLX5_EXTENDED_UD_AV))
		bail_out("an address without GRH");
	get(wqe, 8);
	if (get(wqe, 6) != 0x010203040506)
		bail_out("another address handle");
	get(wqe, 6);
	get(wqe, 8);
	get(wqe, 8);
}

static void run_one(struct fake_mlx5_qp *qp)
{
	struct fake_mlx5_cq *cq = qp->cq;
	enum ibv_wc_status status = IBV_WC_WR_FLUSH_ERR;
	int opcode, opmod;
	struct wqe wqe;
	uint8_t flags;

	fetch(qp, &wqe);
	opmod = get(&wqe, 1);
	if (get(&wqe, 2) != (qp->run & 0xffff))
		bail_out("index of a WQE");
	opcode = get(&wqe, 1);
	if (get(&wqe, 3) != qp->f.qp.qp_num)
		bail_out("queue pair of a WQE");
	get(&wqe, 1);
	if (get(&wqe, 3))
		bail_out("signature or stream of a WQE");
	flags = get(&wqe, 1);
	get(&wqe, 4);
	if (qp->dc_type)
		run_address(&wqe);

	if (!qp->failed) {
		status = execute(&wqe, opcode, opmod);
		fake_mlx5.executed++;
	}
	if (status != IBV_WC_SUCCESS)
		qp->failed = true;
	if (fake_mlx5.quiet_flush && status == IBV_WC_WR_FLUSH_ERR ?
	    flags & MLX5_WQE_CTRL_CQ_UPDATE :
	    status != IBV_WC_SUCCESS || flags & MLX5_WQE_CTRL_CQ_UPDATE) {
		if (cq->tail - cq->head == MAX_CQES)
			bail_out("the completion queue is overrun");
		cq->cqes[cq->tail++ % MAX_CQES] = (struct fake_mlx5_cqe) {
			.qp = qp, .index = qp->run % qp->wqe_cnt,
			.opcode = opcode, .status = status,
			.qp_num = qp->f.qp.qp_num,
		};
	}
	qp->run += (wqe.size + BB - 1) / BB;
}

bool fake_mlx5_run(struct ibv_qp *ibqp)
{
	struct fake_mlx5_qp *qp = to_fake_mlx5(ibqp);
	bool more;

	fake_mlx5_hw_lock();
	more = qp->run != qp->doorbell;
	if (more)
		run_one(qp);
	fake_mlx5_hw_unlock();
	return more;
}
