// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles. The kernel assigns each of them a number, which send.c
 * writes into the WQEs.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mxe-abi.h>

#include "ah.h"
#include "rdmav.h"

struct mxe_create_ah_resp_full {
	__u32 core[sizeof(struct ib_uverbs_create_ah_resp) / 4];
	struct mxe_create_ah_resp drv;
};

static_assert(offsetof(struct mxe_create_ah_resp_full, drv) ==
		      sizeof(struct ib_uverbs_create_ah_resp),
	      "the driver's response directly follows that of the core");

struct ibv_ah *mxe_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct mxe_create_ah_resp_full resp = { 0 };
	struct mxe_ah *ah;
	int ret;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, &ah->ibah, attr, (void *)&resp,
				sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	ah->num = resp.drv.ah_num;
	return &ah->ibah;
}

int mxe_destroy_ah(struct ibv_ah *ah)
{
	int ret = ibv_cmd_destroy_ah(ah);

	if (!ret)
		free(to_mah(ah));
	return ret;
}
