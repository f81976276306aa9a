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

/* The sum goes on with p.  Bottom halves off, or not: the driver asks. */
static u32 mxe_icrc_shash(u32 crc, const u8 *p, size_t len)
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

void mxe_icrc_init(void)
{
	struct crypto_shash *tfm;

	mxe_icrc_make_ids();
	if (mxe_crc32_le_is_fast())
		return;
	tfm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(tfm))
		return;
	mxe_icrc_tfm = tfm;
	if (!mxe_icrc_tfm_ok())
		mxe_icrc_exit();
}

void mxe_icrc_exit(void)
{
	crypto_free_shash(mxe_icrc_tfm);
	mxe_icrc_tfm = NULL;
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

static __le32 mxe_icrc_finish(u32 crc, const u8 *body, size_t len)
{
	if (len >= MXE_ICRC_LONG && mxe_icrc_tfm)
		crc = mxe_icrc_shash(crc, body, len);
	else
		crc = crc32_le(crc, body, len);
	return cpu_to_le32(~crc);
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
	u32 crc;

	mxe_icrc_mask(&head.ip, iph, &ones.ip, sizeof(head.ip));
	mxe_icrc_mask(&head.udp, udph, &ones.udp, sizeof(head.udp));
	mxe_icrc_mask(head.bth, bth, ones.bth, sizeof(head.bth));
	/* A number that may be another in each packet: added when the rest is. */
	head.ip.id = 0;
	crc = mxe_icrc_head(&head, sizeof(head), mxe_icrc_which(udph, bth)) ^
	      mxe_icrc_ids[0][id[0]] ^ mxe_icrc_ids[1][id[1]];
	return mxe_icrc_finish(crc, body, len - MXE_ICRC_BTH);
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

	mxe_icrc_mask(&head.ip, ip6h, &ones.ip, sizeof(head.ip));
	mxe_icrc_mask(&head.udp, udph, &ones.udp, sizeof(head.udp));
	mxe_icrc_mask(head.bth, bth, ones.bth, sizeof(head.bth));
	return mxe_icrc_finish(mxe_icrc_head(&head, sizeof(head),
					     mxe_icrc_which(udph, bth)),
			       body, len - MXE_ICRC_BTH);
}
