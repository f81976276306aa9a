/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that all objects of the provider share: log messages, the text of
 * errors, and stubs for calls that are not supported.
 */
#ifndef MXEFI_PROVIDER_H
#define MXEFI_PROVIDER_H

#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#define mxefi_warn(subsys, ...) FI_WARN(mxefi_prov, subsys, __VA_ARGS__)
#define mxefi_info(subsys, ...) FI_INFO(mxefi_prov, subsys, __VA_ARGS__)

/* Set by fi_prov_ini(), for the messages of all files. */
extern struct fi_provider *mxefi_prov;

/* Calls that are not supported: they return -FI_ENOSYS. */
int mxefi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int mxefi_no_control(struct fid *fid, int command, void *arg);
int mxefi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		      void **ops, void *context);

const char *mxefi_strerror(int prov_errno, char *buf, size_t len);
int mxefi_store_size(size_t value, void *optval, size_t *optlen);

#endif /* MXEFI_PROVIDER_H */
