// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Names that OFED had in enumerations of verbs.h, as case labels and as values
 * of these enumerations.
 */
#include <stdio.h>
#include <infiniband/verbs.h>

static const char *event(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_CQ_ERR:
		return "CQ";
	case IBV_EXP_EVENT_DCT_KEY_VIOLATION:
		return "key";
	case IBV_EXP_EVENT_DCT_ACCESS_ERR:
	case IBV_EXP_EVENT_DCT_REQ_ERR:
		return "DCT";
	default:
		return "other";
	}
}

static const char *transport(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_RAW_ETH:
		return "raw";
	case IBV_QPT_XRC:
		return "XRC";
	case IBV_EXP_QPT_DC_INI:
		return "DC";
	default:
		return "other";
	}
}

static int is_other(const struct ibv_device *device)
{
	switch (device->node_type) {
	case IBV_NODE_CA:
		break;
	case IBV_EXP_NODE_MIC:
		return 1;
	default:
		return 2;
	}
	switch (device->transport_type) {
	case IBV_TRANSPORT_IB:
		return 0;
	case IBV_EXP_TRANSPORT_SCIF:
		return 1;
	default:
		return 2;
	}
}

int main(void)
{
	enum ibv_port_cap_flags port = IBV_PORT_VENDOR_CLASS;
	enum ibv_rereg_mr_flags rereg = IBV_REREG_MR_KEEP_VALID;
	enum ibv_qp_init_attr_mask mask = IBV_QP_INIT_ATTR_RESERVED;
	enum ibv_flow_flags flow = IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK;
	struct ibv_device device;

	device.node_type = IBV_EXP_NODE_MIC;
	device.transport_type = IBV_EXP_TRANSPORT_SCIF;
	printf("%s %s %s %s %s %s", event(IBV_EVENT_CQ_ERR),
	       event(IBV_EVENT_QP_FATAL), event(IBV_EXP_EVENT_DCT_KEY_VIOLATION),
	       transport(IBV_QPT_RC), transport(IBV_QPT_XRC),
	       transport(IBV_EXP_QPT_DC_INI));
	printf(" %d %x %x %x %x\n", is_other(&device), (unsigned int)port,
	       (unsigned int)rereg, (unsigned int)mask, (unsigned int)flow);
	return 0;
}
