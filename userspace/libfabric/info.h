/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* fi_getinfo(). */
#ifndef MXEFI_INFO_H
#define MXEFI_INFO_H

#include <stdint.h>
#include <rdma/fabric.h>

/**
 * mxefi_info_get() - fi_getinfo()
 * @version: version of the API that the program uses
 * @node: name of a node
 * @service: name of a service
 * @flags: flags of the call
 * @hints: hints of the program, or NULL
 * @info: where the list is stored
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_info_get(uint32_t version, const char *node, const char *service,
		   uint64_t flags, const struct fi_info *hints,
		   struct fi_info **info);

#endif /* MXEFI_INFO_H */
