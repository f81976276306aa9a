// SPDX-License-Identifier: GPL-2.0
/* Details of QPs, CQs and memory regions for `rdma resource show -dd`. */
#include <linux/capability.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "dc/dci.h"
#include "dc/dct.h"
#include "memory/mr.h"
#include "queues/cq.h"
#include "queues/qp.h"
#include "restrack.h"

struct mxe_restrack_field {
	const char *name;
	u32 value;
	bool hex;
	bool secret;		/* shown to CAP_NET_ADMIN only */
};

/*
 * Returns true if the receiver of a message may see the PSNs of others, with
 * which packets could be forged. ib_core fills the messages of a dump in the
 * context of any process that reads from the socket, so the process that opened
 * it needs the capability, too. It sets the owner of these messages only.
 */
static bool mxe_restrack_may_see(const struct sk_buff *msg)
{
	return msg->sk ? sk_capable(msg->sk, CAP_NET_ADMIN) : capable(CAP_NET_ADMIN);
}

static int mxe_restrack_fill(struct sk_buff *msg,
			     const struct mxe_restrack_field *fields, size_t num)
{
	bool may_see = mxe_restrack_may_see(msg);
	struct nlattr *table;
	size_t i;
	int err;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < num; i++) {
		if (fields[i].secret && !may_see)
			continue;
		if (fields[i].hex)
			err = rdma_nl_put_driver_u32_hex(msg, fields[i].name,
							 fields[i].value);
		else
			err = rdma_nl_put_driver_u32(msg, fields[i].name,
						     fields[i].value);
		if (err) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

/* A DC target has no queues, but sessions. */
static int mxe_restrack_fill_dct(struct sk_buff *msg, struct mxe_qp *qp)
{
	struct mxe_restrack_field fields[] = {
		{ "dct_sessions" },
		{ "dct_initiators" },
		{ "dct_key_violations" },
	};
	struct mxe_dct_info info;

	mxe_dct_query(qp, &info);
	fields[0].value = info.num_open;
	fields[1].value = info.num_known;
	/*
	 * Where u64 attributes are padded, the rdma tool does not expect the
	 * padding.
	 */
	fields[2].value = min_t(u64, info.key_violations, U32_MAX);
	return mxe_restrack_fill(msg, fields, ARRAY_SIZE(fields));
}

static int mxe_restrack_fill_qp(struct sk_buff *msg, const struct mxe_qp *qp)
{
	const struct mxe_dci *dci = mxe_qp_is_dci(qp) ? to_mdci(qp) : NULL;
	const struct mxe_requester *req = &qp->req;
	const struct mxe_responder *resp = &qp->resp;
	const struct mxe_restrack_field fields[] = {
		{ "sq_depth", req->entries },
		{ "sq_taken", req->fetched - req->tail },
		{ "sq_outstanding", req->next - req->tail },
		{ "rd_atomic", req->rd_atomic },
		{ "psn_unacked", req->una, true, true },
		{ "psn_next", req->psn, true, true },
		{ "retry_left", req->retry_left },
		{ "rnr_wait", req->rnr_wait },
		{ "rq_depth", resp->q.entries },
		{ "psn_expected", resp->epsn, true, true },
		{ "path_mtu", qp->mtu },
		/* Of a DC initiator, and 0 without a session: */
		{ "dci_target", dci && dci->connected ? qp->dest_qpn : 0 },
		{ "dci_session", dci && dci->connected ? dci->s.session : 0 },
	};

	return mxe_restrack_fill(msg, fields, ARRAY_SIZE(fields) - (dci ? 0 : 2));
}

int mxe_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct mxe_qp *qp;
	int err = 0;

	/* Kernels without begin_del call this even after the destroy verb. */
	rcu_read_lock();
	qp = rcu_dereference(to_mibqp(ibqp)->qp);
	if (qp && mxe_qp_is_dct(qp)) {
		err = mxe_restrack_fill_dct(msg, qp);
	} else if (qp) {
		mxe_qp_begin(qp);
		err = mxe_restrack_fill_qp(msg, qp);
		mxe_qp_end(qp);
	}
	rcu_read_unlock();
	return err;
}

int mxe_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct mxe_cq *cq = to_mcq(ibcq);
	const struct mxe_restrack_field fields[] = {
		{ "produced", READ_ONCE(cq->producer) },
		{ "armed", READ_ONCE(cq->armed) },
		{ "overrun", READ_ONCE(cq->overrun) },
	};

	return mxe_restrack_fill(msg, fields, ARRAY_SIZE(fields));
}

int mxe_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct mxe_mr *mr = to_mmr(ibmr);
	const struct mxe_restrack_field fields[] = {
		{ "access", READ_ONCE(mxe_mr_remote(mr)->access), true },
		{ "valid", READ_ONCE(mr->state) == MXE_MR_VALID },
		{ "pages", READ_ONCE(mr->npages) },
	};

	return mxe_restrack_fill(msg, fields, ARRAY_SIZE(fields));
}
