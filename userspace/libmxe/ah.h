/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Address handles. */
#ifndef MXE_AH_H
#define MXE_AH_H

#include <stdint.h>

#include <infiniband/verbs.h>

#include "container.h"

struct mxe_ah {
	struct ibv_ah ibah;
	uint32_t num;			/* in WQEs */
};

static inline struct mxe_ah *to_mah(struct ibv_ah *ah)
{
	return mxe_container(ah, struct mxe_ah, ibah);
}

struct ibv_ah *mxe_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int mxe_destroy_ah(struct ibv_ah *ah);

#endif /* MXE_AH_H */
