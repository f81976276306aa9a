// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flow steering: ibv_exp_create_flow() and ibv_exp_destroy_flow(). The
 * attributes of libibverbs differ only in the first word and in the IPv6 specs.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs_exp.h>

#include "calls.h"

#define SAME_SPEC(name)							\
	static_assert(sizeof(struct ibv_exp_flow_spec_##name) ==	\
		      sizeof(struct ibv_flow_spec_##name),		\
		      "both specs of " #name " have the same layout")

SAME_SPEC(eth);
SAME_SPEC(ipv4);
SAME_SPEC(ipv4_ext);
SAME_SPEC(tcp_udp);
SAME_SPEC(tunnel);
SAME_SPEC(action_tag);
SAME_SPEC(action_drop);
static_assert(sizeof(struct ibv_exp_flow_spec_ipv6_ext) ==
	      sizeof(struct ibv_flow_spec_ipv6),
	      "the standard IPv6 spec has the layout of ipv6_ext");

struct exp_flow {
	struct ibv_exp_flow exp;	/* must be first */
	struct ibv_flow *std;
};

static void ipv6_to_std(struct ibv_flow_spec_ipv6 *std,
			const struct ibv_exp_flow_spec_ipv6 *exp)
{
	memset(std, 0, sizeof(*std));
	std->type = IBV_FLOW_SPEC_IPV6 | (exp->type & IBV_FLOW_SPEC_INNER);
	std->size = sizeof(*std);
	memcpy(&std->val, &exp->val, sizeof(exp->val));
	memcpy(&std->mask, &exp->mask, sizeof(exp->mask));
}

/* Returns the length of a spec of this type, or 0 if the type is unknown. */
static size_t spec_size(uint32_t type)
{
	switch (type & ~(uint32_t)IBV_EXP_FLOW_SPEC_INNER) {
	case IBV_EXP_FLOW_SPEC_ETH:
		return sizeof(struct ibv_exp_flow_spec_eth);
	case IBV_EXP_FLOW_SPEC_IPV4:
		return sizeof(struct ibv_exp_flow_spec_ipv4);
	case IBV_EXP_FLOW_SPEC_IPV4_EXT:
		return sizeof(struct ibv_exp_flow_spec_ipv4_ext);
	case IBV_EXP_FLOW_SPEC_IPV6:
		return sizeof(struct ibv_exp_flow_spec_ipv6);
	case IBV_EXP_FLOW_SPEC_IPV6_EXT:
		return sizeof(struct ibv_exp_flow_spec_ipv6_ext);
	case IBV_EXP_FLOW_SPEC_TCP:
	case IBV_EXP_FLOW_SPEC_UDP:
		return sizeof(struct ibv_exp_flow_spec_tcp_udp);
	case IBV_EXP_FLOW_SPEC_VXLAN_TUNNEL:
		return sizeof(struct ibv_exp_flow_spec_tunnel);
	case IBV_EXP_FLOW_SPEC_ACTION_TAG:
		return sizeof(struct ibv_exp_flow_spec_action_tag);
	case IBV_EXP_FLOW_SPEC_ACTION_DROP:
		return sizeof(struct ibv_exp_flow_spec_action_drop);
	default:
		return 0;
	}
}

/* Returns the number of bytes written. */
static size_t spec_to_std(void *std, const struct ibv_exp_flow_spec *exp)
{
	uint32_t inner = exp->hdr.type & IBV_EXP_FLOW_SPEC_INNER;
	struct ibv_flow_spec_ipv6 *ipv6 = std;

	switch (exp->hdr.type & ~inner) {
	case IBV_EXP_FLOW_SPEC_IPV6:
		ipv6_to_std(ipv6, &exp->ipv6);
		return sizeof(*ipv6);
	case IBV_EXP_FLOW_SPEC_IPV6_EXT:
		memcpy(ipv6, exp, sizeof(*ipv6));
		ipv6->type = IBV_FLOW_SPEC_IPV6 | inner;
		return sizeof(*ipv6);
	default:
		memcpy(std, exp, exp->hdr.size);
		return exp->hdr.size;
	}
}

/* Returns attributes for the caller to free, or NULL with errno. */
static struct ibv_flow_attr *attr_to_std(const struct ibv_exp_flow_attr *exp)
{
	const char *from = (const char *)(exp + 1);
	struct ibv_flow_attr *std;
	size_t left;
	char *to;
	int i;

	if (exp->size < sizeof(*exp))
		return exp_null(EINVAL);
	left = exp->size - sizeof(*exp);
	std = calloc(1, sizeof(*std) + exp->num_of_specs *
				       sizeof(struct ibv_flow_spec));
	if (!std)
		return NULL;
	std->type = (enum ibv_flow_attr_type)exp->type;
	std->priority = exp->priority;
	std->num_of_specs = exp->num_of_specs;
	std->port = exp->port;
	std->flags = exp->flags;

	to = (char *)(std + 1);
	for (i = 0; i < exp->num_of_specs; i++) {
		const struct ibv_exp_flow_spec *spec = (const void *)from;
		size_t size;

		if (left < sizeof(spec->drop))
			goto invalid;
		size = spec_size(spec->hdr.type);
		if (!size || spec->hdr.size != size || size > left)
			goto invalid;
		to += spec_to_std(to, spec);
		from += size;
		left -= size;
	}
	std->size = to - (char *)std;
	return std;

invalid:
	free(std);
	return exp_null(EINVAL);
}

EXP_EXPORT
struct ibv_exp_flow *ibv_exp_create_flow(struct ibv_qp *qp,
					 struct ibv_exp_flow_attr *attr)
{
	struct ibv_flow_attr *std_attr = attr_to_std(attr);
	struct exp_flow *flow;
	int err;

	if (!std_attr)
		return NULL;
	flow = calloc(1, sizeof(*flow));
	if (!flow) {
		free(std_attr);
		return NULL;
	}
	flow->std = ibv_create_flow(qp, std_attr);
	err = exp_errno_from_std(errno);
	free(std_attr);
	if (!flow->std) {
		free(flow);
		return exp_null(err);
	}
	flow->exp.context = flow->std->context;
	flow->exp.handle = flow->std->handle;
	return &flow->exp;
}

EXP_EXPORT
int ibv_exp_destroy_flow(struct ibv_exp_flow *exp)
{
	struct exp_flow *flow = (struct exp_flow *)exp;
	int err = ibv_destroy_flow(flow->std);

	if (err)
		return exp_err(err);
	free(flow);
	return 0;
}
