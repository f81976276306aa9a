// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the environment that only the fuzz targets have: buffers of
 * exactly the size of their data, and neither caches nor the accelerated CRC,
 * which would hide errors or code. fast.c has those of the benchmark.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>

#include "kernel.h"

void __asan_poison_memory_region(const void *addr, size_t size);

void *fk_buf_alloc(size_t size)
{
	return calloc(1, size);
}

void fk_buf_free(void *buf)
{
	free(buf);
}

void fk_buf_guard(const void *at, size_t size)
{
	__asan_poison_memory_region(at, size);
}

struct crypto_shash *crypto_alloc_shash(const char *name, u32 type, u32 mask)
{
	return ERR_PTR(-ENOENT);
}

int crypto_shash_update(struct shash_desc *desc, const u8 *data, unsigned int len)
{
	CHECK(!"there is no accelerated CRC");
	return -ENOENT;
}

u32 crc32_le(u32 crc, const unsigned char *p, size_t len)
{
	static u32 table[256];
	u32 i, bit;

	for (i = 0; !table[1] && i < 256; i++)
		for (table[i] = i, bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}
