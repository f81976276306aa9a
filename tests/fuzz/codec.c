// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the code that uses no QP: the parser of packets, whose result has to
 * survive being built and parsed again, and the arithmetic of atomics, which
 * has to agree with a bit-by-bit reference.
 */
#include <linux/log2.h>

#include "kernel.h"
#include "memory/atomic.h"
#include "test_pkt.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* ---- packets ------------------------------------------------------------ */

static void test_packet(const u8 *data, size_t size)
{
	u8 *copy = malloc(size), *built, *payload;
	struct test_pkt pkt, again;
	size_t len;

	/* Has exactly this size, so that a read beyond it is detected. */
	memcpy(copy, data, size);
	if (test_pkt_read(&pkt, copy, size) != MXE_PKT_OK) {
		free(copy);
		return;
	}
	CHECK(pkt.payload > copy && pkt.payload + pkt.payload_len + MXE_ICRC_SIZE <= copy + size);
	/* The responder refuses some atomics.  dc_test.c is about DC. */
	if (pkt.flags & MXE_OP_DCETH ||
	    (pkt.flags & (MXE_OP_ATOMIC | MXE_OP_ATOMIC_WRITE) &&
	     pkt.flags & MXE_OP_REQUEST && pkt.atomic.op == MXE_ATOMIC_UNSUPPORTED)) {
		free(copy);
		return;
	}

	if (pkt.flags & MXE_OP_ATOMICACK)
		pkt.atomic.log_size = 3 + ilog2(pkt.atomic_num_words);
	len = test_pkt_len(&pkt);
	CHECK(len + MXE_ICRC_SIZE == size);
	built = malloc(len + MXE_ICRC_SIZE);
	payload = test_pkt_build(&pkt, built);
	CHECK(payload + pkt.payload_len <= built + len);
	memcpy(payload, pkt.payload, pkt.payload_len);
	CHECK(test_pkt_read(&again, built, size) == MXE_PKT_OK);
	CHECK(!memcmp(pkt.payload, again.payload, pkt.payload_len));
	again.payload = pkt.payload;
	again.pkt = pkt.pkt;
	again.atomic.log_size = pkt.atomic.log_size;
	CHECK(!memcmp(&pkt, &again, sizeof(pkt)));
	free(built);
	free(copy);
}

/* ---- atomics ------------------------------------------------------------ */

static bool bit(const u64 *words, unsigned int i)
{
	return words[i / 64] >> i % 64 & 1;
}

static void set_bit_to(u64 *words, unsigned int i, bool value)
{
	words[i / 64] &= ~(1ULL << i % 64);
	words[i / 64] |= (u64)value << i % 64;
}

/* Follows the specification literally. */
static void expect(u64 *value, const struct mxe_atomic_args *a)
{
	unsigned int bits = 8 << a->log_size, i;
	bool add = a->op == MXE_ATOMIC_MASKED_FETCH_ADD, carry = false;

	for (i = 0; !add && i < bits; i++)
		if (bit(a->compare_mask_words, i) &&
		    bit(value, i) != bit(a->compare_words, i))
			return;
	for (i = 0; i < bits; i++) {
		unsigned int sum = bit(value, i) +
				   bit(a->swap_add_words, i) + carry;

		if (add) {
			set_bit_to(value, i, sum & 1);
			carry = sum > 1 && !bit(a->compare_mask_words, i);
		} else if (bit(a->swap_mask_words, i)) {
			set_bit_to(value, i, bit(a->swap_add_words, i));
		}
	}
}

static void test_atomic(const u8 *data, size_t size)
{
	struct mxe_atomic_args args = {}, lowered;
	u64 memory[MXE_ATOMIC_WORDS] __aligned(MXE_ATOMIC_MAX_SIZE) = {};
	u64 same[MXE_ATOMIC_WORDS] __aligned(MXE_ATOMIC_MAX_SIZE);
	u64 before[MXE_ATOMIC_WORDS], value[MXE_ATOMIC_WORDS];
	u64 orig[MXE_ATOMIC_WORDS] = {};
	unsigned int i, len;

	args.op = data[0] & 2 ? MXE_ATOMIC_MASKED_FETCH_ADD :
				MXE_ATOMIC_MASKED_CMP_SWAP;
	args.log_size = (data[0] >> 2 & 7) % 6;
	len = mxe_atomic_size(&args);
	data++;
	size--;
	for (i = 0; i < 5 && size >= len; i++, data += len, size -= len)
		memcpy(i == 0 ? memory : i == 1 ? args.swap_add_words :
		       i == 2 ? args.compare_mask_words :
		       i == 3 ? args.swap_mask_words : args.compare_words,
		       data, len);
	memcpy(before, memory, sizeof(before));
	memcpy(same, memory, sizeof(same));
	memcpy(value, memory, sizeof(value));
	expect(value, &args);

	if (!mxe_atomic_ready(&args))
		mxe_atomic_use_locks();
	mxe_atomic_exec(memory, &args, orig);
	CHECK(!memcmp(memory, value, sizeof(value)));
	CHECK(!memcmp(orig, before, sizeof(before)));

	lowered = args;
	mxe_atomic_lower(&lowered);
	mxe_atomic_exec(same, &lowered, orig);
	CHECK(!memcmp(same, value, sizeof(value)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		test_atomic(data, size);
	else
		test_packet(data + 1, size - 1);
	return 0;
}
