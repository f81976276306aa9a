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
#include "wire.h"

/* CRC32 of eight bytes of ones, the masked link-layer header. */
#define MXE_ICRC_SEED	0xdebb20e3

/* Below, what it takes to use the processor's vectors is more than it saves. */
#define MXE_ICRC_LONG	256

/* Of the BTH, what does not change from packet to packet: all before the PSN. */
#define MXE_ICRC_BTH	offsetof(struct mxe_bth, apsn)

/*
 * The crypto layer's crc32, which has processors' instructions for it where
 * crc32_le() has not; NULL if that is as fast, or all there is.
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

/* What each value of the two bytes of an identification adds to the sum. */
static u32 mxe_icrc_ids[2][256] __ro_after_init;

static void mxe_icrc_make_ids(void)
{
	unsigned int byte, value;

	for (byte = 0; byte < 2; byte++) {
		for (value = 0; value < 256; value++) {
			u8 head[sizeof(struct mxe_icrc_head4)] = {};

			head[offsetof(struct iphdr, id) + byte] = value;
			mxe_icrc_ids[byte][value] =
				crc32_le(0, head, sizeof(head));
		}
	}
}

void mxe_icrc_init(void)
{
	__le32 seed = cpu_to_le32(MXE_ICRC_SEED);
	struct crypto_shash *tfm;

	mxe_icrc_make_ids();
	if (mxe_crc32_le_is_fast())
		return;
	tfm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(tfm))
		return;
	if (crypto_shash_setkey(tfm, (const u8 *)&seed, sizeof(seed)))
		crypto_free_shash(tfm);
	else
		mxe_icrc_tfm = tfm;
}

void mxe_icrc_exit(void)
{
	crypto_free_shash(mxe_icrc_tfm);
	mxe_icrc_tfm = NULL;
}

/* Not inline: its stack, which may be cleared, is not for short packets. */
static noinline int mxe_icrc_shash(const void *head, size_t head_len,
				   const u8 *body, size_t len, __le32 *crc)
{
	SHASH_DESC_ON_STACK(desc, mxe_icrc_tfm);

	desc->tfm = mxe_icrc_tfm;
	return crypto_shash_init(desc) ?:
	       crypto_shash_update(desc, head, head_len) ?:
	       crypto_shash_finup(desc, body, len, (u8 *)crc);
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

struct mxe_icrc_memos {
	struct mxe_icrc_memo set[1 << MXE_ICRC_SET_BITS][2];
};

static DEFINE_PER_CPU(struct mxe_icrc_memos, mxe_icrc_memos);

static noinline u32 mxe_icrc_remember(struct mxe_icrc_memo *memo,
				      const void *head, size_t len)
{
	memo[1] = memo[0];
	memcpy(memo->head, head, len);
	memo->len = len;
	memo->crc = crc32_le(MXE_ICRC_SEED, head, len);
	return memo->crc;
}

/* memcmp() is a call, and goes byte by byte in the end. */
static __always_inline bool mxe_icrc_is(const struct mxe_icrc_memo *memo,
					const void *head, size_t len)
{
	const u8 *a = memo->head, *b = head;
	u64 differ = memo->len ^ len;
	size_t i;

	for (i = 0; i + sizeof(u64) <= len; i += sizeof(u64))
		differ |= get_unaligned((const u64 *)(a + i)) ^
			  get_unaligned((const u64 *)(b + i));
	if (len % sizeof(u64))
		differ |= get_unaligned((const u32 *)(a + i)) ^
			  get_unaligned((const u32 *)(b + i));
	return !differ;
}

/* which: tells heads apart that come in turn. */
static __always_inline u32 mxe_icrc_head(const void *head, size_t len, u64 which)
{
	struct mxe_icrc_memos *memos = this_cpu_ptr(&mxe_icrc_memos);
	struct mxe_icrc_memo *memo = memos->set[hash_64(which,
							MXE_ICRC_SET_BITS)];

	if (mxe_icrc_is(&memo[0], head, len))
		return memo[0].crc;
	if (mxe_icrc_is(&memo[1], head, len))
		return memo[1].crc;
	return mxe_icrc_remember(memo, head, len);
}

static bool mxe_icrc_is_long(size_t len)
{
	return len >= MXE_ICRC_LONG && mxe_icrc_tfm;
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

/* Of the words before the PSN, which differ between queue pairs. */
static __always_inline u64 mxe_icrc_which(const struct udphdr *udph,
					  const u8 *bth)
{
	return get_unaligned((const u64 *)udph) ^ get_unaligned((const u64 *)bth);
}

__le32 mxe_icrc_ipv4(const struct iphdr *iph, const struct udphdr *udph,
		     const u8 *bth, size_t len)
{
	static const struct mxe_icrc_head4 ones = {
		.ip.tos = 0xff,
		.ip.ttl = 0xff,
		.ip.check = (__force __sum16)0xffff,
		.udp.check = (__force __sum16)0xffff,
		/* FECN, BECN, resv8a */
		.bth[offsetof(struct mxe_bth, qpn)] = 0xff,
	};
	const u8 *id = (const u8 *)&iph->id, *body = bth + MXE_ICRC_BTH;
	struct mxe_icrc_head4 head __uninitialized;
	size_t body_len = len - MXE_ICRC_BTH;
	__le32 long_crc;
	u32 crc;

	mxe_icrc_mask(&head.ip, iph, &ones.ip, sizeof(head.ip));
	mxe_icrc_mask(&head.udp, udph, &ones.udp, sizeof(head.udp));
	mxe_icrc_mask(head.bth, bth, ones.bth, sizeof(head.bth));
	if (mxe_icrc_is_long(body_len) &&
	    !mxe_icrc_shash(&head, sizeof(head), body, body_len, &long_crc))
		return ~long_crc;
	/* A number that may be another in each packet: added when the rest is. */
	head.ip.id = 0;
	crc = mxe_icrc_head(&head, sizeof(head), mxe_icrc_which(udph, bth)) ^
	      mxe_icrc_ids[0][id[0]] ^ mxe_icrc_ids[1][id[1]];
	return cpu_to_le32(~crc32_le(crc, body, body_len));
}

__le32 mxe_icrc_ipv6(const struct ipv6hdr *ip6h, const struct udphdr *udph,
		     const u8 *bth, size_t len)
{
	static const struct mxe_icrc_head6 ones = {
		/* Traffic class and flow label. */
		.ip.priority = 0xf,
		.ip.flow_lbl = { 0xff, 0xff, 0xff },
		.ip.hop_limit = 0xff,
		.udp.check = (__force __sum16)0xffff,
		.bth[offsetof(struct mxe_bth, qpn)] = 0xff,
	};
	const u8 *body = bth + MXE_ICRC_BTH;
	struct mxe_icrc_head6 head __uninitialized;
	size_t body_len = len - MXE_ICRC_BTH;
	__le32 long_crc;

	mxe_icrc_mask(&head.ip, ip6h, &ones.ip, sizeof(head.ip));
	mxe_icrc_mask(&head.udp, udph, &ones.udp, sizeof(head.udp));
	mxe_icrc_mask(head.bth, bth, ones.bth, sizeof(head.bth));
	if (mxe_icrc_is_long(body_len) &&
	    !mxe_icrc_shash(&head, sizeof(head), body, body_len, &long_crc))
		return ~long_crc;
	return cpu_to_le32(~crc32_le(mxe_icrc_head(&head, sizeof(head),
						   mxe_icrc_which(udph, bth)),
				     body, body_len));
}
