/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Internal declarations of libdaplmxe, a uDAPL provider on top of libdaplofa,
 * which is called the inner provider here.
 */
#ifndef DAPLMXE_H
#define DAPLMXE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <netinet/in.h>
#include <dat/dat_extensions.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

/* A DAT_RETURN of a type and a subtype of dat_error.h. */
#define DM_ERROR(type, subtype) \
	((DAT_RETURN)(DAT_CLASS_ERROR | (type) | (subtype)))

/*
 * The functions of the inner provider. All its tables have the same functions.
 * Written when the first IA is opened, before any handle exists.
 */
extern DAT_PROVIDER dm_inner;

/* ---- lmr.c ------------------------------------------------------------- */

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

/**
 * dm_lmr_forget() - Forget the regions of an IA that was closed.
 * @ia: the inner provider's handle
 */
void dm_lmr_forget(DAT_IA_HANDLE ia);

/* ---- op.c -------------------------------------------------------------- */

/**
 * dm_op_extended() - Execute dat_extension_op().
 * @handle: endpoint or other handle of the inner provider
 * @op: DAT_EXT_OP_BASE + DAT_EXT_OP, or an operation of the inner provider
 * @args: arguments of the operation
 *
 * Return: DAT_RETURN.
 */
DAT_RETURN dm_op_extended(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args);

/**
 * dm_op_extended_plain() - dm_op_extended() of a device without masked atomics.
 * @handle: endpoint or other handle of the inner provider
 * @op: DAT_EXT_OP_BASE + DAT_EXT_OP, or an operation of the inner provider
 * @args: arguments of the operation
 *
 * Return: DAT_RETURN.
 */
DAT_RETURN dm_op_extended_plain(DAT_HANDLE handle, DAT_EXTENDED_OP op,
				va_list args);
DAT_RETURN dm_op_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout,
			  DAT_COUNT threshold, DAT_EVENT *event,
			  DAT_COUNT *nmore);
DAT_RETURN dm_op_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event);

/**
 * dm_op_forget() - Forget the operations of an IA that was closed.
 * @ia: the inner provider's handle
 */
void dm_op_forget(DAT_IA_HANDLE ia);

#endif /* DAPLMXE_H */
