// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Device memory: ibv_exp_alloc_dm(), ibv_exp_free_dm() and ibv_exp_memcpy_dm().
 * The last accepts any length, whereas libibverbs copies only whole words.
 */
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"
#include "dm.h"

#define DM_WORD 4

struct exp_dm {
	struct ibv_exp_dm exp;	/* must be first */
	struct ibv_dm *std;
	size_t length;
};

static struct exp_dm *dm_of(struct ibv_exp_dm *dm)
{
	return (struct exp_dm *)dm;
}

/**
 * exp_dm_std() - Get the standard object of device memory.
 * @dm: device memory of ibv_exp_alloc_dm()
 *
 * Return: the standard object.
 */
struct ibv_dm *exp_dm_std(struct ibv_exp_dm *dm)
{
	return dm_of(dm)->std;
}

EXP_EXPORT
struct ibv_exp_dm *ibv_exp_alloc_dm(struct ibv_context *context,
				    struct ibv_exp_alloc_dm_attr *attr)
{
	struct ibv_alloc_dm_attr std_attr = { };
	struct ibv_device_attr_ex device;
	struct exp_dm *dm;
	int err;

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_ALLOC_DM_ATTR_RESERVED))
		return exp_null(EINVAL);
	err = ibv_query_device_ex(context, NULL, &device);
	if (err)
		return exp_null(err);
	if (!device.max_dm_size)
		return exp_null(ENOSYS);
	if (attr->length > device.max_dm_size)
		return exp_null(EINVAL);

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	/* Rounded up, because the last word is always written as a whole. */
	std_attr.length = (attr->length + DM_WORD - 1) / DM_WORD * DM_WORD;
	dm->std = ibv_alloc_dm(context, &std_attr);
	if (!dm->std) {
		err = exp_errno_from_std(errno);
		free(dm);
		return exp_null(err);
	}
	dm->length = attr->length;
	dm->exp.context = context;
	dm->exp.handle = dm->std->handle;
	return &dm->exp;
}

EXP_EXPORT
int ibv_exp_free_dm(struct ibv_exp_dm *dm)
{
	int err = ibv_free_dm(dm_of(dm)->std);

	if (err)
		return exp_err(err);
	free(dm_of(dm));
	return 0;
}

/* Copies all whole words, and then the tail padded with zeros to a word. */
static int copy_to_device(struct ibv_dm *dm, uint64_t offset, const char *host,
			  size_t length)
{
	size_t whole = length - length % DM_WORD;
	char word[DM_WORD] = { };
	int err = 0;

	if (whole)
		err = ibv_memcpy_to_dm(dm, offset, host, whole);
	if (err || whole == length)
		return err;
	memcpy(word, host + whole, length - whole);
	return ibv_memcpy_to_dm(dm, offset + whole, word, DM_WORD);
}

static int copy_to_host(struct ibv_dm *dm, uint64_t offset, char *host,
			size_t length)
{
	size_t whole = length - length % DM_WORD;
	char word[DM_WORD];
	int err = 0;

	if (whole)
		err = ibv_memcpy_from_dm(host, dm, offset, whole);
	if (err || whole == length)
		return err;
	err = ibv_memcpy_from_dm(word, dm, offset + whole, DM_WORD);
	if (!err)
		memcpy(host + whole, word, length - whole);
	return err;
}

EXP_EXPORT
int ibv_exp_memcpy_dm(struct ibv_exp_dm *exp,
		      struct ibv_exp_memcpy_dm_attr *attr)
{
	struct exp_dm *dm = dm_of(exp);

	if (exp_bad_mask(__func__, attr->comp_mask,
			 IBV_EXP_DM_CPY_COMP_MASK_RESERVED))
		return exp_err(EINVAL);
	if (attr->dm_offset % DM_WORD || attr->dm_offset > dm->length ||
	    attr->length > dm->length - attr->dm_offset)
		return exp_err(EINVAL);

	switch (attr->memcpy_dir) {
	case IBV_EXP_DM_CPY_TO_DEVICE:
		return exp_err(copy_to_device(dm->std, attr->dm_offset,
					      attr->host_addr, attr->length));
	case IBV_EXP_DM_CPY_TO_HOST:
		return exp_err(copy_to_host(dm->std, attr->dm_offset,
					    attr->host_addr, attr->length));
	default:
		return exp_err(EINVAL);
	}
}
