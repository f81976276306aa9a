/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Passive endpoints. */
#ifndef MXEFI_PEP_H
#define MXEFI_PEP_H

#include <rdma/fi_endpoint.h>

int mxefi_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_pep **pep, void *context);

#endif /* MXEFI_PEP_H */
