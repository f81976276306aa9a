// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fi_getinfo(): an entry of type FI_EP_RDM and one of type FI_EP_MSG for each
 * device that has an address of this network namespace and that satisfies the
 * hints.
 */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "context.h"
#include "device.h"
#include "info.h"
#include "name.h"
#include "sizes.h"
#include "wire.h"

#define PRIMARY (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC)
#define TX_MODIFIERS (FI_SEND | FI_READ | FI_WRITE)
#define RX_MODIFIERS (FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define MODIFIERS (TX_MODIFIERS | RX_MODIFIERS)
#define MSG_MODIFIERS (FI_SEND | FI_RECV)
#define RMA_MODIFIERS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define DOMAIN_CAPS (FI_LOCAL_COMM | FI_REMOTE_COMM)
/* Of endpoints without connections. */
#define SOURCES (FI_SOURCE | FI_SOURCE_ERR)
/* Not implied by hints without them. */
#define RX_EXTRAS (FI_MULTI_RECV | FI_DIRECTED_RECV | FI_RMA_EVENT | SOURCES)
#define TX_EXTRAS (FI_FENCE | FI_NAMED_RX_CTX)
#define EXTRAS (TX_EXTRAS | RX_EXTRAS | FI_TRIGGER)
#define CAPS (PRIMARY | MODIFIERS | EXTRAS | DOMAIN_CAPS)
/*
 * One queue pair for each peer has the order of requests of InfiniBand (vol. 1,
 * 9.5), and what waits for the loop of an atomic waits in order.
 */
#define MSG_ORDER (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW | \
		   FI_ORDER_RAW | FI_ORDER_RMA_WAW | FI_ORDER_RMA_RAW | \
		   FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | \
		   FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)
/*
 * The values of FI_MR_UNSPEC, FI_MR_BASIC and FI_MR_SCALABLE, whose names give
 * a warning in libfabric 2. Programs for earlier versions of the API use them.
 */
enum { MR_UNSPEC = 0, MR_BASIC = 1 << 0, MR_SCALABLE = 1 << 1 };
#define MR_MODE (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
/* Later releases of libfabric 2 have other names for this bit. */
#ifndef FI_PROV_SPECIFIC
#define FI_PROV_SPECIFIC (1U << 31)
#endif
#define ADDR_FORMAT (FI_PROV_SPECIFIC | 0x6d7865)	/* "mxe" */
#define PROTOCOL (FI_PROV_SPECIFIC | 0x6d7865)
#define TAG_FORMAT 0xaaaaaaaaaaaaaaaaULL /* all bits are for the program */
/* Set by providers of libfabric that look for another one to build upon. */
#define CORE_ONLY (1ULL << 59)
#define MAX_ENDPOINTS 16
#define MAX_OBJECTS 65536

/* True if all bits of @wanted are in @offered. */
static bool within(uint64_t wanted, uint64_t offered)
{
	return !(wanted & ~offered);
}

/* ---- modes of memory regions ------------------------------------------- */

/* The API before 1.5 knows only MR_UNSPEC, MR_BASIC and MR_SCALABLE. */
static bool is_old(uint32_t version)
{
	return FI_VERSION_LT(version, FI_VERSION(1, 5));
}

static int hinted_mr_mode(const struct fi_info *hints)
{
	return hints && hints->domain_attr ? hints->domain_attr->mr_mode :
					     MR_UNSPEC;
}

/* True if peers are to access memory of the endpoint by keys. */
static bool is_target(uint64_t caps)
{
	return caps & (FI_RMA | FI_ATOMIC) &&
	       (!(caps & RMA_MODIFIERS) ||
		caps & (FI_REMOTE_READ | FI_REMOTE_WRITE));
}

/*
 * Memory regions must be virtually addressed and have keys of the provider. A
 * program that names other modes can be no target: see ofi_check_mr_mode() and
 * ofi_get_info_caps() of libfabric.
 */
static bool may_be_target(const struct fi_info *hints, uint32_t version)
{
	int mode = hinted_mr_mode(hints);

	return !hints || mode == MR_BASIC ||
	       (is_old(version) && mode == MR_UNSPEC) ||
	       within(MR_MODE, (uint64_t)mode);
}

static bool match_mr_mode(const struct fi_info *h, uint32_t version)
{
	int mode = hinted_mr_mode(h);

	if (mode == MR_UNSPEC || mode == MR_BASIC)
		return true;
	if (is_old(version) || mode & (MR_BASIC | MR_SCALABLE))
		return false;
	return may_be_target(h, version) || !is_target(h->caps);
}

static int choose_mr_mode(const struct fi_info *hints, uint32_t version)
{
	if (is_old(version) || hinted_mr_mode(hints) == MR_BASIC)
		return MR_BASIC;
	return may_be_target(hints, version) || !hints->domain_attr ?
	       MR_MODE : 0;
}

/* ---- capabilities ------------------------------------------------------ */

/*
 * The capabilities of an endpoint. If the hints name no modifier of a primary
 * capability, they mean all of them: see ofi_get_caps() of libfabric.
 */
static uint64_t choose_caps(const struct fi_info *hints, uint32_t version,
			    uint64_t offered)
{
	/*
	 * Only programs that know of them want errors for unknown senders, and
	 * events of RMA, which make each operation of a peer send a message.
	 */
	uint64_t caps = hints && hints->caps ? hints->caps :
		offered & ~(uint64_t)(FI_SOURCE_ERR | FI_RMA_EVENT);

	if (caps & (FI_MSG | FI_TAGGED) && !(caps & MSG_MODIFIERS))
		caps |= MSG_MODIFIERS;
	if (caps & (FI_RMA | FI_ATOMIC) && !(caps & RMA_MODIFIERS))
		caps |= RMA_MODIFIERS;
	if (!may_be_target(hints, version))
		caps &= ~(uint64_t)(FI_REMOTE_READ | FI_REMOTE_WRITE);
	return caps | DOMAIN_CAPS;
}

/* ---- hints ------------------------------------------------------------- */

static bool match_tx(const struct fi_tx_attr *h, const struct fi_tx_attr *a)
{
	return within(h->caps, a->caps) && within(h->op_flags, MXEFI_TX_FLAGS) &&
	       within(h->msg_order, a->msg_order) && !h->comp_order &&
	       h->inject_size <= a->inject_size && h->size <= a->size &&
	       h->iov_limit <= a->iov_limit &&
	       h->rma_iov_limit <= a->rma_iov_limit;
}

static bool match_rx(const struct fi_rx_attr *h, const struct fi_rx_attr *a)
{
	return within(h->caps, a->caps) && within(h->op_flags, MXEFI_RX_FLAGS) &&
	       within(h->msg_order, a->msg_order) && !h->comp_order &&
	       h->size <= a->size && h->iov_limit <= a->iov_limit;
}

/* The number of contexts that an endpoint can have. */
static size_t max_contexts(enum fi_ep_type type)
{
	return type == FI_EP_RDM ? MXEFI_MAX_CTX : 1;
}

static bool match_ep(const struct fi_ep_attr *h, const struct fi_ep_attr *a)
{
	size_t max_ctx = max_contexts(a->type);

	return (h->type == FI_EP_UNSPEC || h->type == a->type) &&
	       (!h->protocol || h->protocol == a->protocol) &&
	       h->protocol_version <= a->protocol_version &&
	       h->max_msg_size <= a->max_msg_size &&
	       h->max_order_raw_size <= a->max_order_raw_size &&
	       h->max_order_war_size <= a->max_order_war_size &&
	       h->max_order_waw_size <= a->max_order_waw_size &&
	       (h->tx_ctx_cnt <= max_ctx || h->tx_ctx_cnt == FI_SHARED_CONTEXT) &&
	       (h->rx_ctx_cnt <= max_ctx || h->rx_ctx_cnt == FI_SHARED_CONTEXT) &&
	       !h->auth_key_size;
}

static bool match_domain(const struct fi_domain_attr *h,
			 const struct fi_domain_attr *a)
{
	return (!h->name || !strcmp(h->name, a->name)) &&
	       h->mr_key_size <= a->mr_key_size &&
	       h->cq_data_size <= a->cq_data_size && h->cq_cnt <= a->cq_cnt &&
	       h->ep_cnt <= a->ep_cnt && h->tx_ctx_cnt <= a->tx_ctx_cnt &&
	       h->rx_ctx_cnt <= a->rx_ctx_cnt && h->max_ep_tx_ctx <= a->max_ep_tx_ctx &&
	       h->max_ep_rx_ctx <= a->max_ep_rx_ctx &&
	       h->max_ep_stx_ctx <= a->max_ep_stx_ctx &&
	       h->max_ep_srx_ctx <= a->max_ep_srx_ctx && h->cntr_cnt <= a->cntr_cnt &&
	       h->mr_iov_limit <= a->mr_iov_limit &&
	       within(h->caps, DOMAIN_CAPS) && !h->auth_key_size &&
	       h->mr_cnt <= a->mr_cnt;
}

static bool match(const struct fi_info *h, uint32_t version,
		  const uint8_t gid[16], const struct fi_info *info)
{
	if (!match_mr_mode(h, version) ||
	    (h->addr_format != FI_FORMAT_UNSPEC &&
	     h->addr_format != info->addr_format) ||
	    (h->dest_addr && h->dest_addrlen != sizeof(struct mxefi_addr)) ||
	    h->handle)
		return false;
	/* A source address selects the GID. */
	if (h->src_addr && (h->src_addrlen != sizeof(struct mxefi_addr) ||
			    memcmp(h->src_addr, gid, 16)))
		return false;
	if (h->fabric_attr && h->fabric_attr->name &&
	    strcmp(h->fabric_attr->name, info->fabric_attr->name))
		return false;
	return (!h->ep_attr || match_ep(h->ep_attr, info->ep_attr)) &&
	       (!h->domain_attr || match_domain(h->domain_attr,
						info->domain_attr)) &&
	       (!h->tx_attr || match_tx(h->tx_attr, info->tx_attr)) &&
	       (!h->rx_attr || match_rx(h->rx_attr, info->rx_attr));
}

/* Sets the attributes that depend neither on the device nor on the hints. */
static void set_attrs(struct fi_info *info, enum fi_ep_type type)
{
	*info->tx_attr = (struct fi_tx_attr){
		.caps = info->caps & (PRIMARY | TX_MODIFIERS | FI_TRIGGER |
				      TX_EXTRAS),
		.msg_order = MSG_ORDER,
		.inject_size = MXEFI_INJECT_SIZE,
		.size = MXEFI_TX_SIZE,
		.iov_limit = MXEFI_IOV_LIMIT,
		.rma_iov_limit = MXEFI_IOV_LIMIT,
	};
	*info->rx_attr = (struct fi_rx_attr){
		.caps = info->caps & (PRIMARY | RX_MODIFIERS | FI_TRIGGER |
				      RX_EXTRAS),
		.msg_order = MSG_ORDER,
		.size = MXEFI_RX_SIZE,
		.iov_limit = MXEFI_IOV_LIMIT,
	};
	*info->ep_attr = (struct fi_ep_attr){
		.type = type,
		.protocol = PROTOCOL,
		.protocol_version = 1,
		.max_msg_size = MXEFI_MAX_MSG_SIZE,
		.max_order_raw_size = MXEFI_MAX_MSG_SIZE,
		/* Only atomics have this order. */
		.max_order_war_size = MXEFI_MAX_ATOMIC_SIZE,
		.max_order_waw_size = MXEFI_MAX_MSG_SIZE,
		.mem_tag_format = TAG_FORMAT,
		.tx_ctx_cnt = 1,
		.rx_ctx_cnt = 1,
	};
	*info->domain_attr = (struct fi_domain_attr){
		.threading = FI_THREAD_SAFE,
		.control_progress = FI_PROGRESS_AUTO,
		.data_progress = FI_PROGRESS_AUTO,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = FI_AV_UNSPEC,
		.mr_key_size = 4,
		.cq_data_size = 4,
		.cq_cnt = MAX_OBJECTS,
		.ep_cnt = MAX_ENDPOINTS,
		.tx_ctx_cnt = MAX_ENDPOINTS,
		.rx_ctx_cnt = MAX_ENDPOINTS,
		.max_ep_tx_ctx = max_contexts(type),
		.max_ep_rx_ctx = max_contexts(type),
		.max_ep_stx_ctx = MAX_OBJECTS,
		.max_ep_srx_ctx = MAX_OBJECTS,
		.cntr_cnt = MAX_OBJECTS,
		.mr_iov_limit = 1,
		.mr_cnt = MAX_OBJECTS,
		.caps = DOMAIN_CAPS,
	};
	info->addr_format = ADDR_FORMAT;
}

/* Copies the program's choices from the hints. */
static void take_choices(struct fi_info *info, const struct fi_info *h)
{
	if (h->tx_attr)
		info->tx_attr->op_flags = h->tx_attr->op_flags;
	if (h->rx_attr)
		info->rx_attr->op_flags = h->rx_attr->op_flags;
	if (h->ep_attr && h->ep_attr->tx_ctx_cnt)
		info->ep_attr->tx_ctx_cnt = h->ep_attr->tx_ctx_cnt;
	if (h->ep_attr && h->ep_attr->rx_ctx_cnt)
		info->ep_attr->rx_ctx_cnt = h->ep_attr->rx_ctx_cnt;
	if (!h->domain_attr)
		return;
	/* The program may choose manual progress. */
	if (h->domain_attr->control_progress)
		info->domain_attr->control_progress =
			h->domain_attr->control_progress;
	if (h->domain_attr->data_progress)
		info->domain_attr->data_progress =
			h->domain_attr->data_progress;
	if (h->domain_attr->threading)
		info->domain_attr->threading = h->domain_attr->threading;
	if (h->domain_attr->av_type)
		info->domain_attr->av_type = h->domain_attr->av_type;
}

/* Addresses that a program has given as node and service. */
struct names {
	bool has_src, has_dest;
	struct mxefi_addr src, dest;
};

/* Sets the addresses of an entry. Returns false if memory is short. */
static bool set_addrs(struct fi_info *info, const struct mxefi_device *dev,
		      const struct fi_info *hints, const struct names *names)
{
	struct mxefi_addr src = { 0 };
	const void *dest = names->has_dest ? &names->dest : NULL;

	if (!dest && hints)
		dest = hints->dest_addr;
	if (names->has_src)
		src.port = names->src.port;
	else if (hints)
		src.port = mxefi_name_service(hints->src_addr,
					      hints->src_addrlen);
	memcpy(src.gid, dev->gid.raw, sizeof(src.gid));
	info->src_addr = malloc(sizeof(src));
	if (!info->src_addr)
		return false;
	memcpy(info->src_addr, &src, sizeof(src));
	info->src_addrlen = sizeof(src);
	if (!dest)
		return true;
	info->dest_addr = malloc(sizeof(struct mxefi_addr));
	if (!info->dest_addr)
		return false;
	memcpy(info->dest_addr, dest, sizeof(struct mxefi_addr));
	info->dest_addrlen = sizeof(struct mxefi_addr);
	return true;
}

/* Returns an entry for the device, or NULL with the reason in *ret. */
static struct fi_info *make_info(const struct mxefi_device *dev,
				 enum fi_ep_type type, uint32_t version,
				 const struct fi_info *hints,
				 const struct names *names, int *ret)
{
	uint64_t offered = dev->sizes ? CAPS : CAPS & ~(uint64_t)FI_ATOMIC;
	struct fi_info *info = fi_allocinfo();

	*ret = -FI_ENOMEM;
	if (!info)
		return NULL;
	if (type == FI_EP_MSG)
		offered &= ~(uint64_t)(FI_DIRECTED_RECV | FI_NAMED_RX_CTX |
				       SOURCES);
	info->caps = choose_caps(hints, version, offered);
	set_attrs(info, type);
	info->domain_attr->mr_mode = choose_mr_mode(hints, version);
	info->fabric_attr->name = strdup("mxe");
	info->domain_attr->name = strdup(ibv_get_device_name(dev->ctx->device));
	if (!info->fabric_attr->name || !info->domain_attr->name)
		goto fail;
	*ret = -FI_ENODATA;
	if (!within(info->caps, offered) ||
	    (hints && !match(hints, version, dev->gid.raw, info)))
		goto fail;
	*ret = -FI_ENOMEM;
	if (!set_addrs(info, dev, hints, names))
		goto fail;
	if (hints)
		take_choices(info, hints);
	return info;

fail:
	fi_freeinfo(info);
	return NULL;
}

/* Returns 0 or a negative error. A service alone selects no device. */
static int parse_names(const char *node, const char *service, uint64_t flags,
		       struct names *names)
{
	bool is_source = flags & FI_SOURCE;

	if (!node && !service)
		return 0;
	names->has_src = is_source;
	names->has_dest = !is_source;
	return mxefi_name_parse(node, service, flags,
				is_source ? &names->src : &names->dest);
}

/* True if a device has the address of the source, if there is one. */
static bool is_source(const struct names *names, const struct mxefi_device *dev)
{
	return !names->has_src || mxefi_name_is_loopback(&names->src) ||
	       !memcmp(names->src.gid, dev->gid.raw, 16);
}

int mxefi_info_get(uint32_t version, const char *node, const char *service,
		   uint64_t flags, const struct fi_info *hints,
		   struct fi_info **info)
{
	struct fi_info *first = NULL, **tail = &first;
	static const enum fi_ep_type types[] = { FI_EP_RDM, FI_EP_MSG };
	struct names names = { 0 };
	struct ibv_device **list;
	int ret = -FI_ENODATA, n;

	/* Opening the devices takes milliseconds. */
	if (hints && !within(hints->caps, CAPS))
		return -FI_ENODATA;
	/* Endpoints of type FI_EP_RDM exist without a layer such as ofi_rxm. */
	if (flags & CORE_ONLY)
		return -FI_ENODATA;
	if (parse_names(node, service, flags, &names))
		return -FI_ENODATA;
	list = ibv_get_device_list(&n);
	if (!list)
		return -FI_ENODATA;
	for (int i = 0; i < n; i++) {
		struct mxefi_device dev;

		if (mxefi_device_open(&dev, list[i]))
			continue;
		for (size_t t = 0; t < 2 && is_source(&names, &dev); t++) {
			*tail = make_info(&dev, types[t], version, hints,
					  &names, &ret);
			if (*tail)
				tail = &(*tail)->next;
		}
		mxefi_device_close(&dev);
	}
	ibv_free_device_list(list);
	*info = first;
	return first ? 0 : ret;
}
