/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An address vector says where packets go; an address handle is the verbs object
 * around one (ah.c).
 */
#ifndef MXE_AH_H
#define MXE_AH_H

#include <net/dst_cache.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

struct mxe_dev;

#define MXE_FLOW_LABEL_MASK	0xfffffU

/*
 * Ready to send by.  Written by modify_qp with both locks of the queue pair
 * held, before anything is sent; the cache has its own rules (bottom halves
 * off).
 */
struct mxe_av {
	bool valid;
	bool is_ipv4;
	u8 tclass;
	u8 hop_limit;
	u32 flow_label;
	int ifindex;		/* of the source address's netdev */
	__be16 sport;		/* UDP source port */
	union {
		struct {
			__be32 saddr, daddr;
		} v4;
		struct {
			struct in6_addr saddr, daddr;
		} v6;
	};
};

/* num and udata are of processes: their work requests name it by number. */
struct mxe_ah {
	struct ib_ah ibah;
	struct mxe_av av;
	u32 num;			/* in dev->ahs; 0: of the kernel */
};

static inline struct mxe_ah *to_mah(struct ib_ah *ibah)
{
	return container_of(ibah, struct mxe_ah, ibah);
}

/*
 * Copy the vector of a process's handle: -ENOENT if pd has none of that
 * number.  Context: bottom halves off.
 */
int mxe_ah_find(struct mxe_dev *dev, const struct ib_pd *pd, u32 num,
		struct mxe_av *av);

/*
 * Take an address apart.  -EINVAL if it is not one that RoCEv2 can carry from
 * this device.
 */
int mxe_av_init(struct mxe_dev *dev, struct mxe_av *av,
		const struct rdma_ah_attr *attr);

int mxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int mxe_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* MXE_AH_H */
