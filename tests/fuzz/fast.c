// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the environment that only the benchmark has: buffers from a
 * pool, a cached route, and the accelerated CRC of the kernel for x86. exact.c
 * has those of the fuzz targets.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>

#include "kernel.h"

/* ---- buffers ------------------------------------------------------------ */

/* Larger than any packet of the benchmark with its headroom. */
#define BUF_SIZE 4096

/* Freed buffers. Each has a pointer to the next at its beginning. */
static void *pool;

void *fk_buf_alloc(size_t size)
{
	void *buf = pool;

	CHECK(size <= BUF_SIZE);
	if (!buf)
		return malloc(BUF_SIZE);
	pool = *(void **)buf;
	return buf;
}

void fk_buf_free(void *buf)
{
	*(void **)buf = pool;
	pool = buf;
}

void fk_buf_guard(const void *at, size_t size)
{
}

/* ---- the crypto layer --------------------------------------------------- */

/* Of arch/x86/crypto/crc32-pclmul_asm.S. */
u32 crc32_pclmul_le_16(const u8 *p, size_t len, u32 crc);

static struct shash_alg alg = {
	.digestsize = sizeof(u32), .descsize = sizeof(u32),
};
static struct {
	struct crypto_shash tfm;
	struct crypto_alg *alg;
} shash;

struct crypto_shash *crypto_alloc_shash(const char *name, u32 type, u32 mask)
{
	shash.tfm.descsize = sizeof(u32);
	shash.tfm.base.__crt_alg = &alg.base;
	return &shash.tfm;
}

/*
 * As crc32_pclmul_le() of the kernel, except that the vector unit need not be
 * saved.
 */
u32 fk_crc32(u32 crc, const u8 *p, size_t len)
{
	size_t head = -(unsigned long)p % 16, body;

	if (len < 64 + 15)
		return crc32_le(crc, p, len);
	if (head) {
		crc = crc32_le(crc, p, head);
		p += head;
		len -= head;
	}
	body = round_down(len, 16);
	crc = crc32_pclmul_le_16(p, body, crc);
	return len > body ? crc32_le(crc, p + body, len - body) : crc;
}

int crypto_shash_update(struct shash_desc *desc, const u8 *data, unsigned int len)
{
	u32 *crc = shash_desc_ctx(desc);

	*crc = fk_crc32(*crc, data, len);
	return 0;
}
