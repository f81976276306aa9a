// SPDX-License-Identifier: GPL-2.0
/* The uverbs methods that query and arm a DC target. */
#include <rdma/uverbs_ioctl.h>

#include "dc/dct.h"
#include "dc/dct_uverbs.h"
#include "mxe.h"

#define UVERBS_MODULE_NAME mxe
#include <rdma/uverbs_named_ioctl.h>

/*
 * Returns the target of a handle, which uverbs keeps from being destroyed, or
 * -EINVAL.  The type is checked first: an opened XRC target is a QP that
 * ib_core has allocated, and to_mqp() must not be called for it.
 */
static struct mxe_qp *mxe_dct_uverbs_get(struct uverbs_attr_bundle *attrs,
					 u16 handle)
{
	struct ib_qp *ibqp = uverbs_attr_get_obj(attrs, handle);

	if (ibqp->qp_type != IB_QPT_DRIVER || !mxe_qp_is_dct(to_mqp(ibqp)))
		return ERR_PTR(mxe_refuse(to_mdev(ibqp->device), -EINVAL,
					  "not a DC target"));
	return to_mqp(ibqp);
}

static int UVERBS_HANDLER(MXE_METHOD_DCT_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct mxe_qp *qp = mxe_dct_uverbs_get(attrs, MXE_ATTR_QUERY_DCT_HANDLE);
	struct mxe_query_dct_resp resp = {};
	struct mxe_dct_info info;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	mxe_dct_query(qp, &info);
	resp.key_violations = info.key_violations;
	resp.state = READ_ONCE(qp->state);
	resp.num_sessions = info.num_open;
	resp.num_initiators = info.num_known;
	resp.armed_events = info.armed ? MXE_ARM_DCT_KEY_VIOLATION : 0;
	return uverbs_copy_to_struct_or_zero(attrs, MXE_ATTR_QUERY_DCT_RESP,
					     &resp, sizeof(resp));
}

static int UVERBS_HANDLER(MXE_METHOD_DCT_ARM)(struct uverbs_attr_bundle *attrs)
{
	struct mxe_qp *qp = mxe_dct_uverbs_get(attrs, MXE_ATTR_ARM_DCT_HANDLE);
	u32 events;
	int err;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = uverbs_get_flags32(&events, attrs, MXE_ATTR_ARM_DCT_EVENTS,
				 MXE_ARM_DCT_KEY_VIOLATION);
	if (err)
		return err;
	if (!events)
		return mxe_refuse(qp->dev, -EINVAL, "no event");
	mxe_dct_arm(qp);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_DCT_QUERY,
	UVERBS_ATTR_IDR(MXE_ATTR_QUERY_DCT_HANDLE, UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MXE_ATTR_QUERY_DCT_RESP,
			    UVERBS_ATTR_STRUCT(struct mxe_query_dct_resp,
					       armed_events),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MXE_METHOD_DCT_ARM,
	UVERBS_ATTR_IDR(MXE_ATTR_ARM_DCT_HANDLE, UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(MXE_ATTR_ARM_DCT_EVENTS, enum mxe_arm_dct_events,
			     UA_MANDATORY));

ADD_UVERBS_METHODS(mxe_dct_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(MXE_METHOD_DCT_QUERY),
		   &UVERBS_METHOD(MXE_METHOD_DCT_ARM));

const struct uapi_definition mxe_dct_uverbs_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &mxe_dct_methods),
	{},
};
