// SPDX-License-Identifier: GPL-2.0
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "icrc.h"
#include "pkt.h"

/* CRC32 of eight bytes of ones, the masked link-layer header. */
#define MXE_ICRC_SEED	0xdebb20e3

/* Below, what it takes to use the processor's vectors is more than it saves. */
#define MXE_ICRC_LONG	256

/* Of the BTH, what does not change from packet to packet: all before the PSN. */
#define MXE_ICRC_BTH	offsetof(struct mxe_bth, apsn)

/*
 * The crypto layer's crc32, which has processors' instructions for it where
 * crc32_le() has not; NULL if that is as fast, or all there is.  It has no key: each
 * sum goes on from that of a head.
 */
static struct crypto_shash *mxe_icrc_tfm;

/* What stands in front of the PSN, with ones in place of what varies. */
struct mxe_icrc_head4 {
	struct iphdr ip;
	struct udphdr udp;
	u8 bth[MXE_ICRC_BTH];
} __packed;

struct mxe_icrc_head6 {
	struct ipv6hdr ip;
	struct udphdr udp;
	u8 bth[MXE_ICRC_BTH];
} __packed;

/*
 * What each value of the two bytes of an identification adds to the sum of a head
 * that has ones there.
 */
static u32 mxe_icrc_ids[2][256] __ro_after_init;
/* And each value of the bytes of a word to the sum that ends with it. */
static u32 mxe_icrc_words[4][256] __ro_after_init;
/* The same to a sum that goes on for the masks of a masked atomic. */
static u32 mxe_icrc_before_masks[4][256] __ro_after_init;

/*
 * A request for a masked atomic of 8 bytes on RC, from the BTH on; what it ends with, a
 * swap and a compare mask; and what is between the PSN and these.
 */
#define MXE_ICRC_MASKED		(sizeof(struct mxe_bth) + \
				 sizeof(struct mxe_mskatomiceth) + \
				 MXE_MSKATOMIC_OPERANDS * sizeof(u64))
#define MXE_ICRC_MASKS		(2 * sizeof(u64))
#define MXE_ICRC_BEFORE_MASKS	(MXE_ICRC_MASKED - sizeof(struct mxe_bth) - \
				 MXE_ICRC_MASKS)

static void mxe_icrc_make_words(u32 table[4][256], size_t len)
{
	unsigned int byte, value;

	for (byte = 0; byte < 4; byte++) {
		for (value = 0; value < 256; value++) {
			u8 p[MXE_ICRC_MASKS] = {};

			p[byte] = value;
			table[byte][value] = crc32_le(0, p, len);
		}
	}
}

static void mxe_icrc_make_tables(void)
{
	unsigned int byte, value;

	for (byte = 0; byte < 2; byte++) {
		for (value = 0; value < 256; value++) {
			u8 head[sizeof(struct mxe_icrc_head4)] = {};

			head[offsetof(struct iphdr, id) + byte] = ~value;
			mxe_icrc_ids[byte][value] =
				crc32_le(0, head, sizeof(head));
		}
	}
	mxe_icrc_make_words(mxe_icrc_words, sizeof(u32));
	mxe_icrc_make_words(mxe_icrc_before_masks, MXE_ICRC_MASKS);
}

static u32 mxe_icrc_go_on(const u32 table[4][256], u32 crc)
{
	return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^
	       table[2][crc >> 16 & 0xff] ^ table[3][crc >> 24];
}

/* crc32_le() takes bytes one by one that are not eight. */
static u32 mxe_icrc_word(u32 crc, const u8 *p)
{
	return mxe_icrc_go_on(mxe_icrc_words, crc ^ get_unaligned_le32(p));
}

/* The sum goes on with p.  Bottom halves off, or not: the driver asks. */
static noinline u32 mxe_icrc_shash(u32 crc, const u8 *p, size_t len)
{
	/* SHASH_DESC_ON_STACK() is of 300 bytes more, which may be cleared. */
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

/* Is what a driver keeps the sum so far, and nothing else? */
static bool mxe_icrc_tfm_ok(void)
{
	const u8 *p = (const u8 *)mxe_icrc_ids;
	const size_t len = sizeof(mxe_icrc_ids) - 1;

	return crypto_shash_descsize(mxe_icrc_tfm) == sizeof(u32) &&
	       mxe_icrc_shash(MXE_ICRC_SEED, p, len) ==
	       crc32_le(MXE_ICRC_SEED, p, len);
}

/*
 * The sum of such a head.  Packets of one kind between two queue pairs have the
 * same one, so it need not be made again for each: a processor keeps those that
 * it had last, in sets of two.  Bottom halves off.
 */
struct mxe_icrc_memo {
	u32 len;			/* 0: none yet */
	u32 crc;
	u8 head[sizeof(struct mxe_icrc_head6)];
};

#define MXE_ICRC_SET_BITS	5

/* What masks add to a sum: 0 for those of zeros, which are there first. */
struct mxe_icrc_masks {
	u64 masks[2];			/* as they are sent */
	u32 crc;
};

#define MXE_ICRC_MASKS_BITS	8

struct mxe_icrc_memos {
	struct mxe_icrc_memo set[1 << MXE_ICRC_SET_BITS][2];
	struct mxe_icrc_masks masks[1 << MXE_ICRC_MASKS_BITS];
};

/* A module's own variables share 8 KiB of each processor with those of all others. */
static struct mxe_icrc_memos __percpu *mxe_icrc_memos;

/* The set for a head.  The words before the PSN differ between queue pairs. */
static __always_inline struct mxe_icrc_memo *
mxe_icrc_set(const struct udphdr *udph, const u8 *bth)
{
	u64 which = get_unaligned((const u64 *)udph) ^
		    get_unaligned((const u64 *)bth);

	return this_cpu_ptr(mxe_icrc_memos)->set[hash_64(which,
							  MXE_ICRC_SET_BITS)];
}

/*
 * Is it the same, with the ones?  Zero, if so.  memcmp() is a call, and goes byte by
 * byte in the end.
 */
static __always_inline u64 mxe_icrc_differ(const u8 *memo, const void *p,
					   const void *ones, size_t len)
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

/*
 * crc32_le() of a masked atomic's request behind the PSN.  The sum of what stands before
 * its masks goes on as if zeros followed; masks_crc is what the masks add.
 */
static __always_inline u32 mxe_icrc_add_masks(u32 crc, const u8 *p, u32 masks_crc)
{
	crc = crc32_le(crc, p, MXE_ICRC_BEFORE_MASKS);
	return mxe_icrc_go_on(mxe_icrc_before_masks, crc) ^ masks_crc;
}

/* With masks that are not remembered, and will be. */
static noinline u32 mxe_icrc_learn_masks(struct mxe_icrc_masks *memo, u32 crc,
					 const u8 *p)
{
	const u8 *masks = p + MXE_ICRC_BEFORE_MASKS;

	memcpy(memo->masks, masks, MXE_ICRC_MASKS);
	memo->crc = crc32_le(0, masks, MXE_ICRC_MASKS);
	return mxe_icrc_add_masks(crc, p, memo->crc);
}

/*
 * Masks say where the fields of a word are, so a program has few of them, and what they
 * add is remembered.  Out of line, for the registers of what has none.
 */
static noinline u32 mxe_icrc_masked(u32 crc, const u8 *p)
{
	const u8 *masks = p + MXE_ICRC_BEFORE_MASKS;
	u64 swap = get_unaligned((const u64 *)masks);
	u64 compare = get_unaligned((const u64 *)(masks + sizeof(u64)));
	/* Mostly one of them is zero, or both are the same. */
	u32 which = hash_64(swap + 2 * compare, MXE_ICRC_MASKS_BITS);
	struct mxe_icrc_masks *memo =
		&this_cpu_ptr(mxe_icrc_memos)->masks[which];
	u32 masks_crc = memo->crc;

	if (memo->masks[0] != swap || memo->masks[1] != compare)
		return mxe_icrc_learn_masks(memo, crc, p);
	return mxe_icrc_add_masks(crc, p, masks_crc);
}

static bool mxe_icrc_is_masked(const u8 *bth, size_t len)
{
	return len == MXE_ICRC_MASKED &&
	       (bth[0] == MXE_OPCODE_RC_MASKED_CMP_SWAP ||
		bth[0] == MXE_OPCODE_RC_MASKED_FETCH_ADD);
}

static __always_inline __le32 mxe_icrc_finish(u32 crc, const u8 *bth, size_t len)
{
	const u8 *body = bth + MXE_ICRC_BTH;
	size_t body_len = len - MXE_ICRC_BTH;

	if (body_len >= MXE_ICRC_LONG && mxe_icrc_tfm)
		return cpu_to_le32(~mxe_icrc_shash(crc, body, body_len));
	if (body_len % sizeof(u64) == sizeof(u32)) {
		crc = mxe_icrc_word(crc, body);
		body += sizeof(u32);
		body_len -= sizeof(u32);
		/* No plain atomic comes here. */
		if (mxe_icrc_is_masked(bth, len))
			return cpu_to_le32(~mxe_icrc_masked(crc, body));
	}
	return cpu_to_le32(~crc32_le(crc, body, body_len));
}

/* Copy with the ones. */
static __always_inline void mxe_icrc_mask(void *to, const void *from,
					  const void *ones, size_t len)
{
	size_t i;

	for (i = 0; i + sizeof(u64) <= len; i += sizeof(u64))
		put_unaligned(get_unaligned((const u64 *)(from + i)) |
			      get_unaligned((const u64 *)(ones + i)),
			      (u64 *)(to + i));
	if (len % sizeof(u64))
		put_unaligned(get_unaligned((const u32 *)(from + i)) |
			      get_unaligned((const u32 *)(ones + i)),
			      (u32 *)(to + i));
}

static const struct mxe_icrc_head4 mxe_icrc_ones4 = {
	.ip.tos = 0xff,
	/* A number that may be another in each packet: added when the rest is. */
	.ip.id = (__force __be16)0xffff,
	.ip.ttl = 0xff,
	.ip.check = (__force __sum16)0xffff,
	.udp.check = (__force __sum16)0xffff,
	/* FECN, BECN, resv8a */
	.bth[offsetof(struct mxe_bth, qpn)] = 0xff,
};

static const struct mxe_icrc_head6 mxe_icrc_ones6 = {
	/* Traffic class and flow label. */
	.ip.priority = 0xf,
	.ip.flow_lbl = { 0xff, 0xff, 0xff },
	.ip.hop_limit = 0xff,
	.udp.check = (__force __sum16)0xffff,
	.bth[offsetof(struct mxe_bth, qpn)] = 0xff,
};

/*
 * A head is in three parts, of which the one of IP has a length of its protocol; ones:
 * those of its head4 or head6.
 */
static __always_inline bool mxe_icrc_is(const struct mxe_icrc_memo *memo,
					const void *ones, const void *ip,
					size_t ip_len,
					const struct udphdr *udph,
					const u8 *bth)
{
	const size_t udp_at = ip_len, bth_at = udp_at + sizeof(*udph);
	const u8 *p = memo->head;
	u64 differ = memo->len ^ (bth_at + MXE_ICRC_BTH);

	differ |= mxe_icrc_differ(p, ip, ones, ip_len);
	differ |= mxe_icrc_differ(p + udp_at, udph, ones + udp_at, sizeof(*udph));
	differ |= mxe_icrc_differ(p + bth_at, bth, ones + bth_at, MXE_ICRC_BTH);
	return !differ;
}

static noinline u32 mxe_icrc_keep(struct mxe_icrc_memo *memo, const void *ones,
				  const void *ip, size_t ip_len,
				  const struct udphdr *udph, const u8 *bth)
{
	const size_t udp_at = ip_len, bth_at = udp_at + sizeof(*udph);
	u8 *p = memo->head;

	memo[1] = memo[0];
	mxe_icrc_mask(p, ip, ones, ip_len);
	mxe_icrc_mask(p + udp_at, udph, ones + udp_at, sizeof(*udph));
	mxe_icrc_mask(p + bth_at, bth, ones + bth_at, MXE_ICRC_BTH);
	memo->len = bth_at + MXE_ICRC_BTH;
	memo->crc = crc32_le(MXE_ICRC_SEED, p, memo->len);
	return memo->crc;
}

static __always_inline u32 mxe_icrc_head(const void *ones, const void *ip,
					 size_t ip_len,
					 const struct udphdr *udph,
					 const u8 *bth)
{
	struct mxe_icrc_memo *memo = mxe_icrc_set(udph, bth);

	if (mxe_icrc_is(&memo[0], ones, ip, ip_len, udph, bth))
		return memo[0].crc;
	if (mxe_icrc_is(&memo[1], ones, ip, ip_len, udph, bth))
		return memo[1].crc;
	return mxe_icrc_keep(memo, ones, ip, ip_len, udph, bth);
}

static __always_inline u32 mxe_icrc_head4(const struct iphdr *iph,
					  const struct udphdr *udph,
					  const u8 *bth)
{
	return mxe_icrc_head(&mxe_icrc_ones4, iph, sizeof(*iph), udph, bth);
}

u32 mxe_icrc_begin_ipv4(const struct iphdr *iph, const struct udphdr *udph,
			const u8 *bth)
{
	return mxe_icrc_head4(iph, udph, bth);
}

__le32 mxe_icrc_end_ipv4(u32 crc, __be16 ip_id, const u8 *bth, size_t len)
{
	u16 id = be16_to_cpu(ip_id);

	crc ^= mxe_icrc_ids[0][id >> 8] ^ mxe_icrc_ids[1][id & 0xff];
	return mxe_icrc_finish(crc, bth, len);
}

__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph,
		     const u8 *bth, size_t len)
{
	return mxe_icrc_end_ipv4(mxe_icrc_head4(iph, udph, bth), iph->id, bth,
				 len);
}

__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph,
		     const u8 *bth, size_t len)
{
	u32 crc = mxe_icrc_head(&mxe_icrc_ones6, ip6h, sizeof(*ip6h), udph, bth);

	return mxe_icrc_finish(crc, bth, len);
}

static struct crypto_shash *mxe_icrc_alloc_tfm(void)
{
	struct crypto_shash *tfm;

	if (mxe_crc32_le_is_fast())
		return NULL;
	tfm = crypto_alloc_shash("crc32", 0, 0);
	return IS_ERR(tfm) ? NULL : tfm;
}

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

void mxe_icrc_exit(void)
{
	crypto_free_shash(mxe_icrc_tfm);
	free_percpu(mxe_icrc_memos);
}
