/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Passive endpoints. */
#ifndef MXEFI_PEP_H
#define MXEFI_PEP_H

#include <rdma/fi_endpoint.h>

/**
 * mxefi_pep_open() - fi_passive_ep()
 * @fabric: fabric
 * @info: fi_info of the program
 * @pep: where the passive endpoint is stored
 * @context: context of the program
 *
 * Return: 0, or a negative error of libfabric.
 */
int mxefi_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_pep **pep, void *context);

#endif /* MXEFI_PEP_H */
