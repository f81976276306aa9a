/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DC initiators: QPs with a send side, each request of which names its target
 * (dci.c).
 */
#ifndef MXE_DCI_H
#define MXE_DCI_H

#include <linux/ktime.h>
#include <linux/siphash.h>

#include "dc/dc.h"
#include "ip/ah.h"
#include "queues/qp.h"

/* Sessions that an initiator keeps besides that of its last target. */
#define MXE_DCI_KEPT	7

/* The target of a request.  It is at the end of each struct mxe_send_wr. */
struct mxe_dci_dest {
	struct mxe_ah_flow *flow;	/* with a reference; NULL after an error */
	u64 key;
	u32 dctn;
};

/* A session that a target has accepted, while requests go to another target. */
struct mxe_dci_kept {
	struct mxe_dci_dest dest;	/* flow NULL: an empty slot */
	u32 session;
	u32 life;			/* ms */
	u64 instance;
	u32 psn;			/* of the next request */
	ktime_t heard;
};

/*
 * A DC initiator.  send_lock of the QP protects all members.
 *
 * newest is never reset, so that no two sessions have the same number.
 * dc.hdr.instance tells the initiator from another one that had the same QP
 * number.  It is also the proof that a packet comes from the other end, or from
 * the path between both.  Each target sees another instance, and each session
 * begins with a random PSN, so a target cannot forge packets of sessions with
 * other targets.
 */
struct mxe_dci {
	struct mxe_dc dc;		/* the headers of the session */
	siphash_key_t secret;		/* of instances; immutable */
	u32 newest;			/* number of a session */
	struct mxe_dci_session s;
	bool connected;			/* has a target; qp->av is its address */
	/* By the boot-time clock, which includes the time of a suspend: */
	ktime_t begun;			/* the session */
	ktime_t heard;			/* last response, or begun */
	struct mxe_dci_kept kept[MXE_DCI_KEPT];
	struct rcu_head rcu;
};

static inline struct mxe_dci *to_mdci(const struct mxe_qp *qp)
{
	return container_of(qp->dc, struct mxe_dci, dc);
}

int mxe_dci_create(struct mxe_qp *qp);
void mxe_dci_destroy(struct mxe_qp *qp);

/* Context: send_lock held. */
static inline struct mxe_dci_dest *mxe_dci_dest(const struct mxe_qp *qp,
						const struct mxe_send_wr *wr)
{
	return (void *)wr + qp->req.wr_size - sizeof(struct mxe_dci_dest);
}

/* Steps of DC, see struct mxe_transport_ops. */
enum ib_wc_status mxe_dci_parse_dest(struct mxe_qp *qp, struct mxe_send_wr *wr,
				     const struct mxe_send_wqe *wqe,
				     const struct mxe_send_wqe *entry);
void mxe_dci_forget(struct mxe_qp *qp, struct mxe_send_wr *wr);
void mxe_dci_reset(struct mxe_qp *qp);

void mxe_dci_connect(struct mxe_qp *qp, struct mxe_send_wr *wr);
bool mxe_dci_may_start(const struct mxe_qp *qp, const struct mxe_send_wr *wr);
struct mxe_qp *mxe_dci_loop_peer(const struct mxe_qp *qp, struct mxe_qp *target);
void mxe_dci_heard(struct mxe_qp *qp);
enum mxe_dci_reaction mxe_dci_control(struct mxe_qp *qp,
				      const struct mxe_dc_hdr *hdr);

#endif /* MXE_DCI_H */
