// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fi_provider that log messages name, the text of errors, and stubs for
 * unsupported calls.
 */
#include <string.h>

#include "provider.h"

struct fi_provider *mxefi_prov;

int mxefi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int mxefi_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int mxefi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		      void **ops, void *context)
{
	return -FI_ENOSYS;
}

/**
 * mxefi_strerror() - Describe the prov_errno of an error entry.
 * @prov_errno: error
 * @buf: where the text is stored, too; or NULL
 * @len: size of @buf in bytes
 *
 * Return: the text.
 */
const char *mxefi_strerror(int prov_errno, char *buf, size_t len)
{
	const char *text = fi_strerror(prov_errno);

	if (buf && len) {
		strncpy(buf, text, len - 1);
		buf[len - 1] = 0;
	}
	return text;
}

/**
 * mxefi_store_size() - Store the value of an option.
 * @value: value
 * @optval: where it is stored
 * @optlen: room in bytes; becomes the size of the value
 *
 * Return: 0 or -FI_ETOOSMALL.
 */
int mxefi_store_size(size_t value, void *optval, size_t *optlen)
{
	if (*optlen < sizeof(value))
		return -FI_ETOOSMALL;
	memcpy(optval, &value, sizeof(value));
	*optlen = sizeof(value);
	return 0;
}
