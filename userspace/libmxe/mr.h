/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions. */
#ifndef MXE_MR_H
#define MXE_MR_H

#include <stddef.h>
#include <stdint.h>

struct ibv_mr;
struct ibv_pd;
struct verbs_mr;

struct ibv_mr *mxe_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access);
struct ibv_mr *mxe_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t hca_va, int fd,
				 int access);
int mxe_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access);
int mxe_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *mxe_import_mr(struct ibv_pd *pd, uint32_t handle);
void mxe_unimport_mr(struct ibv_mr *mr);

int mxe_ioctl_sync_mr(struct ibv_mr *mr, uint64_t addr, uint64_t length,
		      uint32_t flags);

#endif /* MXE_MR_H */
