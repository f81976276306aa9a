// SPDX-License-Identifier: GPL-2.0
/* The parts of the packet target that only DC QPs need: see packet_dc.h. */
#include "dc/dci.h"
#include "dc/dct.h"
#include "packet_dc.h"

/* ---- packets and requests ------------------------------------------------ */

size_t packet_dc_plausible(u8 *p, size_t len, bool is_stranger)
{
	const struct mxe_dci *dci = to_mdci(world_qp(A));
	struct mxe_dctleth *ctleth = (void *)(p + sizeof(struct mxe_dceth));
	struct mxe_dcceth *ceth = (void *)(p + sizeof(struct mxe_dceth));
	struct mxe_dceth *eth = (void *)p;

	if (len < sizeof(*eth))
		return 0;
	eth->version ^= MXE_DC_VERSION;
	eth->qpn ^= cpu_to_be32(world_qp(eth->reserved & 1 ? A : B)->qpn);
	be32_add_cpu(&eth->session, dci->s.session);
	eth->instance ^= cpu_to_be64(dci->dc.hdr.instance);
	len -= sizeof(*eth);
	if (mxe_dc_has_token(eth->code) && len >= sizeof(*ctleth)) {
		ctleth->token ^= cpu_to_be64(dci->s.token);
		return sizeof(*eth) + sizeof(*ctleth);
	}
	if (!(eth->flags & MXE_DC_FLAG_CONNECT) || len < sizeof(*ceth))
		return sizeof(*eth);
	ceth->key ^= cpu_to_be64(WORLD_DC_KEY);
	ceth->psn ^= cpu_to_be32((u32)w.conf.path_mtu << 24 | world_qp(A)->req.una);
	/*
	 * An attacker on the path knows the token of the session, too. A
	 * stranger can only copy it, because the fuzzer could find a valid one
	 * in the comparisons of the engine.
	 */
	if (is_stranger)
		ceth->token = 0;
	ceth->token ^= cpu_to_be64(dci->s.token);
	return sizeof(*eth) + sizeof(*ceth);
}

void packet_dc_put_dest(struct mxe_send_wqe *wqe, u8 choice)
{
	struct mxe_dc_dest *dest = (void *)wqe + world_qp(A)->req.ring.stride -
				   sizeof(*dest);

	/* One in 16 has a wrong key, and one in 16 a wrong number. */
	*dest = (struct mxe_dc_dest) {
		.ah_num = choice & 1 ? w.dc_ah.num : w.ah[A].num,
		.dct_num = world_qp(B)->qpn + (choice >> 4 == 1),
		.dct_key = WORLD_DC_KEY + (choice >> 4 == 2),
	};
	wqe->flags |= MXE_SEND_DC;
}

/* ---- the target ---------------------------------------------------------- */

void packet_dc_query(struct mxe_dct_info *info)
{
	memset(info, 0, sizeof(*info));
	if (w.kind != KIND_DC)
		return;
	mxe_dct_query(world_qp(B), info);
	info->key_violations = 0;
	info->armed = false;
}

void packet_dc_arm(void)
{
	if (w.kind == KIND_DC)
		mxe_dct_arm(world_qp(B));
}

/* ---- counts -------------------------------------------------------------- */

struct counts {
	u64 stats[MXE_CNT_COUNT];
	struct mxe_dct_info info;
	u32 completions;
};

static struct counts before;
/* Counts the packets of all inputs by their effect. */
static unsigned long challenged, accepted, replaced, closed, refused, served;

static void count(struct counts *c)
{
	memcpy(c->stats, w.stats.value, sizeof(c->stats));
	packet_dc_query(&c->info);
	c->completions = w.cq[B].producer;
}

void packet_dc_before(void)
{
	if (w.kind == KIND_DC)
		count(&before);
}

static bool has_counted(const struct counts *now, unsigned int stat)
{
	return now->stats[stat] != before.stats[stat];
}

void packet_dc_after(void)
{
	bool has_accepted;
	struct counts now;

	if (w.kind != KIND_DC)
		return;
	count(&now);
	has_accepted = has_counted(&now, MXE_CNT_dc_accepts);
	challenged += has_counted(&now, MXE_CNT_dc_challenges);
	accepted += has_accepted;
	/* An old session ends when a newer one begins. */
	replaced += has_accepted && now.info.num_open == before.info.num_open;
	closed += now.info.num_open < before.info.num_open;
	refused += has_counted(&now, MXE_CNT_dc_key_violations) ||
		   has_counted(&now, MXE_CNT_dc_refused) ||
		   has_counted(&now, MXE_CNT_dc_busy);
	/* In a session that another packet has opened. */
	served += !has_accepted && (now.completions != before.completions ||
				    has_counted(&now, MXE_CNT_atomics_executed));
	/* The session of the one initiator, and sessions of forged ones. */
	CHECK(now.info.num_open <= now.info.num_known);
}

void packet_dc_report(void)
{
	dprintf(2, "dc: %lu challenged, %lu accepted, %lu replaced, ",
		challenged, accepted, replaced);
	dprintf(2, "%lu closed, %lu refused, %lu served\n", closed, refused,
		served);
}
