/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Local memory regions (LMRs). */
#ifndef DM_LMR_H
#define DM_LMR_H

#include <dat2/udat.h>

DAT_RETURN dm_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
			 DAT_REGION_DESCRIPTION region, DAT_VLEN length,
			 DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
			 DAT_VA_TYPE va_type, DAT_LMR_HANDLE *lmr,
			 DAT_LMR_CONTEXT *lmr_context,
			 DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *reg_length,
			 DAT_VADDR *reg_address);
DAT_RETURN dm_lmr_free(DAT_LMR_HANDLE lmr);
DAT_RETURN dm_lmr_sync_rdma_read(DAT_IA_HANDLE ia,
				 const DAT_LMR_TRIPLET *segments, DAT_VLEN num);
DAT_RETURN dm_lmr_sync_rdma_write(DAT_IA_HANDLE ia,
				  const DAT_LMR_TRIPLET *segments, DAT_VLEN num);

void dm_lmr_forget(DAT_IA_HANDLE ia);

#endif /* DM_LMR_H */
