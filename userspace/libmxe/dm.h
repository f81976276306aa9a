/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Device memory. */
#ifndef MXE_DM_H
#define MXE_DM_H

#include <stddef.h>
#include <stdint.h>

struct ibv_alloc_dm_attr;
struct ibv_context;
struct ibv_dm;
struct ibv_mr;
struct ibv_pd;

struct ibv_dm *mxe_alloc_dm(struct ibv_context *context,
			    struct ibv_alloc_dm_attr *attr);
int mxe_free_dm(struct ibv_dm *dm);
struct ibv_dm *mxe_import_dm(struct ibv_context *context, uint32_t handle);
void mxe_unimport_dm(struct ibv_dm *dm);
struct ibv_mr *mxe_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			     uint64_t offset, size_t length,
			     unsigned int access);

#endif /* MXE_DM_H */
