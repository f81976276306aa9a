/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operations of dat_extensions.h. */
#ifndef DM_OP_H
#define DM_OP_H

#include <stdarg.h>
#include <dat2/udat.h>

DAT_RETURN dm_op_extended(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args);

/**
 * dm_op_extended_plain() - Do so on a device without masked atomics.
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

void dm_op_forget(DAT_IA_HANDLE ia);

#endif /* DM_OP_H */
