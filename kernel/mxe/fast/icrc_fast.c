// SPDX-License-Identifier: GPL-2.0
/*
 * The ICRC in fewer instructions. CRCs of headers are cached, a table adds 16
 * bytes at once, and the crypto layer computes the CRCs of long payloads.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "wire/icrc.h"
#include "wire/pkt.h"

/* Bytes.  For less, enabling the vector unit costs more than it saves. */
#define MXE_ICRC_LONG	256

/* Bytes that the table adds at once. */
#define MXE_ICRC_SLICES	16

/* Bytes of the BTH before the PSN, which are equal in many packets. */
#define MXE_ICRC_BTH	offsetof(struct mxe_bth, apsn)

/*
 * The crc32 of the crypto layer, which uses CPU instructions that crc32_le()
 * does not use. NULL if it is not available or not faster. No key is set,
 * because each CRC continues that of a header.
 */
static struct crypto_shash *mxe_icrc_tfm;

/* Everything before the PSN, with ones in place of the variant bits. */
struct mxe_icrc_hdr4 {
	struct iphdr ip;
	struct udphdr udp;
	u8 bth[MXE_ICRC_BTH];
} __packed;

struct mxe_icrc_hdr6 {
	struct ipv6hdr ip;
	struct udphdr udp;
	u8 bth[MXE_ICRC_BTH];
} __packed;

static const struct mxe_icrc_hdr4 mxe_icrc_ones4 = {
	.ip.tos = 0xff,
	/* Different in every packet, so mxe_icrc_end_ipv4() adds it. */
	.ip.id = (__force __be16)0xffff,
	.ip.ttl = 0xff,
	.ip.check = (__force __sum16)0xffff,
	.udp.check = (__force __sum16)0xffff,
	/* FECN, BECN, resv8a */
	.bth[offsetof(struct mxe_bth, qpn)] = 0xff,
};

static const struct mxe_icrc_hdr6 mxe_icrc_ones6 = {
	/* Traffic class and flow label. */
	.ip.priority = 0xf,
	.ip.flow_lbl = { 0xff, 0xff, 0xff },
	.ip.hop_limit = 0xff,
	.udp.check = (__force __sum16)0xffff,
	.bth[offsetof(struct mxe_bth, qpn)] = 0xff,
};

/* ---- tables ------------------------------------------------------------ */

/*
 * A CRC is linear, so the contribution of a byte can be added by exclusive or.
 * This table has the contributions of the two bytes of the IP identification to
 * the CRC of a header in which these bytes are ones.
 */
static u32 mxe_icrc_ids[2][256] __ro_after_init;
/* Contributions of a byte to a CRC that ends a number of bytes later. */
static u32 mxe_icrc_slices[MXE_ICRC_SLICES][256] __ro_after_init;

static void mxe_icrc_make_slices(void)
{
	unsigned int behind, value;

	for (behind = 0; behind < MXE_ICRC_SLICES; behind++) {
		for (value = 0; value < 256; value++) {
			u8 p[MXE_ICRC_SLICES] = { value };

			mxe_icrc_slices[behind][value] = crc32_le(0, p, behind + 1);
		}
	}
}

static void mxe_icrc_make_tables(void)
{
	unsigned int byte, value;

	for (byte = 0; byte < 2; byte++) {
		for (value = 0; value < 256; value++) {
			u8 hdr[sizeof(struct mxe_icrc_hdr4)] = {};

			hdr[offsetof(struct iphdr, id) + byte] = ~value;
			mxe_icrc_ids[byte][value] = crc32_le(0, hdr, sizeof(hdr));
		}
	}
	mxe_icrc_make_slices();
}

static u32 mxe_icrc_id(__be16 ip_id)
{
	u16 id = be16_to_cpu(ip_id);

	return mxe_icrc_ids[0][id >> 8] ^ mxe_icrc_ids[1][id & 0xff];
}

/* Returns the contribution of four bytes that are followed by @behind bytes. */
static u32 mxe_icrc_word(u32 word, unsigned int behind)
{
	const u32 (*table)[256] = &mxe_icrc_slices[behind];

	return table[3][word & 0xff] ^ table[2][word >> 8 & 0xff] ^
	       table[1][word >> 16 & 0xff] ^ table[0][word >> 24];
}

/* The same for bytes that no CRC was added to, in half the instructions. */
static u32 mxe_icrc_bytes(const u8 *p, unsigned int behind)
{
	const u32 (*table)[256] = &mxe_icrc_slices[behind];

	return table[3][p[0]] ^ table[2][p[1]] ^ table[1][p[2]] ^ table[0][p[3]];
}

/*
 * Continues crc with p. Before Linux 6.14, crc32_le() takes eight bytes at
 * once, and a remainder bytewise. Out of line, because inlined it would cost
 * the callers registers.
 */
static noinline u32 mxe_icrc_short(u32 crc, const u8 *p, size_t len)
{
	for (; len >= MXE_ICRC_SLICES; len -= MXE_ICRC_SLICES, p += MXE_ICRC_SLICES)
		crc = mxe_icrc_word(get_unaligned_le32(p) ^ crc, 12) ^
		      mxe_icrc_bytes(p + 4, 8) ^ mxe_icrc_bytes(p + 8, 4) ^
		      mxe_icrc_bytes(p + 12, 0);
	if (len & 8) {
		crc = mxe_icrc_word(get_unaligned_le32(p) ^ crc, 4) ^
		      mxe_icrc_bytes(p + 4, 0);
		p += 8;
	}
	if (len & 4) {
		crc = mxe_icrc_word(get_unaligned_le32(p) ^ crc, 0);
		p += 4;
	}
	/* Only malformed packets have such a length. */
	return likely(!(len & 3)) ? crc : crc32_le(crc, p, len & 3);
}

/* ---- the crypto layer -------------------------------------------------- */

/* Continues crc with p. */
static u32 mxe_icrc_shash(u32 crc, const u8 *p, size_t len)
{
	/*
	 * SHASH_DESC_ON_STACK() takes 300 bytes more, which may have to be
	 * zeroed.
	 */
	struct {
		struct shash_desc shash;
		char crc[sizeof(u32)];
	} desc __uninitialized;
	u32 *state = (u32 *)shash_desc_ctx(&desc.shash);

	desc.shash.tfm = mxe_icrc_tfm;
	*state = crc;
	if (crypto_shash_update(&desc.shash, p, len))
		return crc32_le(crc, p, len);
	return *state;
}

/* Returns true if the state of the crypto driver consists of the CRC only. */
static bool mxe_icrc_tfm_ok(void)
{
	const u8 *p = (const u8 *)mxe_icrc_ids;
	const size_t len = sizeof(mxe_icrc_ids) - 1;

	return crypto_shash_descsize(mxe_icrc_tfm) == sizeof(u32) &&
	       mxe_icrc_shash(MXE_ICRC_SEED, p, len) ==
	       crc32_le(MXE_ICRC_SEED, p, len);
}

static struct crypto_shash *mxe_icrc_alloc_tfm(void)
{
	struct crypto_shash *tfm;

	if (mxe_crc32_le_is_fast())
		return NULL;
	tfm = crypto_alloc_shash("crc32", 0, 0);
	return IS_ERR(tfm) ? NULL : tfm;
}

/* ---- the cache of headers ---------------------------------------------- */

/*
 * The CRC of a header. Packets of the same opcode between the same QPs share
 * it. Each CPU caches the last ones, in sets of two. Accessed with BHs
 * disabled.
 */
struct mxe_icrc_memo {
	u32 len;			/* bytes; 0: empty */
	u32 crc;
	u8 hdr[sizeof(struct mxe_icrc_hdr6)];
};

#define MXE_ICRC_SET_BITS	5

struct mxe_icrc_memos {
	struct mxe_icrc_memo set[1 << MXE_ICRC_SET_BITS][2];
};

/*
 * Allocated, because the static per-CPU variables of all modules share 8 KiB.
 */
static struct mxe_icrc_memos __percpu *mxe_icrc_memos;

/* Returns the set of a header.  The words before the PSN differ between QPs. */
static struct mxe_icrc_memo *mxe_icrc_set(const struct udphdr *udph, const u8 *bth)
{
	u64 key = get_unaligned((const u64 *)udph) ^ get_unaligned((const u64 *)bth);

	return this_cpu_ptr(mxe_icrc_memos)->set[hash_64(key, MXE_ICRC_SET_BITS)];
}

/*
 * Returns 0 if (p | ones) equals the cached header. memcmp() would be a call,
 * and would compare the remainder bytewise.
 */
static u64 mxe_icrc_differ(const u8 *memo, const void *p, const void *ones, size_t len)
{
	u64 differ = 0;
	size_t i;

	for (i = 0; i + sizeof(u64) <= len; i += sizeof(u64))
		differ |= get_unaligned((const u64 *)(memo + i)) ^
			  (get_unaligned((const u64 *)(p + i)) |
			   get_unaligned((const u64 *)(ones + i)));
	if (len % sizeof(u64))
		differ |= get_unaligned((const u32 *)(memo + i)) ^
			  (get_unaligned((const u32 *)(p + i)) |
			   get_unaligned((const u32 *)(ones + i)));
	return differ;
}

/* Stores (from | ones).  The lengths of headers are multiples of four bytes. */
static void mxe_icrc_mask(void *to, const void *from, const void *ones, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += sizeof(u32))
		put_unaligned(get_unaligned((const u32 *)(from + i)) |
			      get_unaligned((const u32 *)(ones + i)), (u32 *)(to + i));
}

/*
 * Returns true if the entry is that of a header, which has three parts: IP
 * header of ip_len bytes, UDP header, and the BTH up to the PSN. ones is
 * mxe_icrc_ones4 or mxe_icrc_ones6. Inlined for each of these, so that ip_len
 * is a constant: that saves 70 instructions of a wire operation.
 */
static __always_inline bool mxe_icrc_is(const struct mxe_icrc_memo *memo, const void *ones,
					const void *ip, size_t ip_len, const struct udphdr *udph,
					const u8 *bth)
{
	const size_t udp_at = ip_len, bth_at = udp_at + sizeof(*udph);
	const u8 *p = memo->hdr;
	u64 differ = memo->len ^ (bth_at + MXE_ICRC_BTH);

	differ |= mxe_icrc_differ(p, ip, ones, ip_len);
	differ |= mxe_icrc_differ(p + udp_at, udph, ones + udp_at, sizeof(*udph));
	differ |= mxe_icrc_differ(p + bth_at, bth, ones + bth_at, MXE_ICRC_BTH);
	return !differ;
}

static u32 mxe_icrc_remember(struct mxe_icrc_memo *memo, const void *ones,
			     const void *ip, size_t ip_len, const struct udphdr *udph,
			     const u8 *bth)
{
	const size_t udp_at = ip_len, bth_at = udp_at + sizeof(*udph);
	u8 *p = memo->hdr;

	memo[1] = memo[0];
	mxe_icrc_mask(p, ip, ones, ip_len);
	mxe_icrc_mask(p + udp_at, udph, ones + udp_at, sizeof(*udph));
	mxe_icrc_mask(p + bth_at, bth, ones + bth_at, MXE_ICRC_BTH);
	memo->len = bth_at + MXE_ICRC_BTH;
	memo->crc = crc32_le(MXE_ICRC_SEED, p, memo->len);
	return memo->crc;
}

/* Returns the CRC of a header.  Inlined as mxe_icrc_is(). */
static __always_inline u32 mxe_icrc_hdr(const void *ones, const void *ip, size_t ip_len,
					const struct udphdr *udph, const u8 *bth)
{
	struct mxe_icrc_memo *memo = mxe_icrc_set(udph, bth);

	if (mxe_icrc_is(&memo[0], ones, ip, ip_len, udph, bth))
		return memo[0].crc;
	if (mxe_icrc_is(&memo[1], ones, ip, ip_len, udph, bth))
		return memo[1].crc;
	return mxe_icrc_remember(memo, ones, ip, ip_len, udph, bth);
}

static u32 mxe_icrc_hdr_ipv4(const struct iphdr *iph, const struct udphdr *udph,
			     const u8 *bth)
{
	return mxe_icrc_hdr(&mxe_icrc_ones4, iph, sizeof(*iph), udph, bth);
}

/* ---- ICRC -------------------------------------------------------------- */

static __le32 mxe_icrc_finish(u32 crc, const u8 *bth, size_t len)
{
	const u8 *body = bth + MXE_ICRC_BTH;
	size_t body_len = len - MXE_ICRC_BTH;

	if (body_len < MXE_ICRC_LONG)
		crc = mxe_icrc_short(crc, body, body_len);
	else if (mxe_icrc_tfm)
		crc = mxe_icrc_shash(crc, body, body_len);
	else
		crc = crc32_le(crc, body, body_len);
	return cpu_to_le32(~crc);
}

/*
 * Compute the CRC of the headers of an IPv4 packet for mxe_icrc_end_ipv4(). The
 * identification of @iph is ignored, and the part of the BTH before the PSN is
 * used. Packets that differ only in the identification and from the PSN on have
 * the same value, so the caller may keep it.
 * Context: BHs disabled.
 */
u32 mxe_icrc_begin_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth)
{
	return mxe_icrc_hdr_ipv4(iph, udph, bth);
}

/*
 * Complete the ICRC of an IPv4 packet from @crc of mxe_icrc_begin_ipv4(). The
 * headers precede @bth, which is contiguous up to the ICRC. @len is the number
 * of bytes between the UDP header and the ICRC.
 * Context: BHs disabled.
 * Return: the ICRC as it is stored in the packet.
 */
__le32 mxe_icrc_end_ipv4(u32 crc, __be16 ip_id, const u8 *bth, size_t len)
{
	return mxe_icrc_finish(crc ^ mxe_icrc_id(ip_id), bth, len);
}

/* Implement mxe_icrc_ipv4() if mxe_icrc_has_fast(). */
__le32 mxe_icrc_fast_ipv4(const struct iphdr *iph, const struct udphdr *udph, const u8 *bth,
			  size_t len)
{
	u32 crc = mxe_icrc_hdr_ipv4(iph, udph, bth);

	return mxe_icrc_finish(crc ^ mxe_icrc_id(iph->id), bth, len);
}

/* Implement mxe_icrc_ipv6() if mxe_icrc_has_fast(). */
__le32 mxe_icrc_fast_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph, const u8 *bth,
			  size_t len)
{
	u32 crc = mxe_icrc_hdr(&mxe_icrc_ones6, ip6h, sizeof(*ip6h), udph, bth);

	return mxe_icrc_finish(crc, bth, len);
}

/*
 * Build the tables, before the first ICRC.
 * Context: May sleep.
 */
int mxe_icrc_init(void)
{
	mxe_icrc_memos = alloc_percpu(struct mxe_icrc_memos);
	if (!mxe_icrc_memos)
		return -ENOMEM;
	mxe_icrc_make_tables();
	mxe_icrc_tfm = mxe_icrc_alloc_tfm();
	if (mxe_icrc_tfm && !mxe_icrc_tfm_ok()) {
		crypto_free_shash(mxe_icrc_tfm);
		mxe_icrc_tfm = NULL;
	}
	return 0;
}

/*
 * Call it after the last ICRC.
 * Context: May sleep.
 */
void mxe_icrc_exit(void)
{
	crypto_free_shash(mxe_icrc_tfm);
	free_percpu(mxe_icrc_memos);
}
