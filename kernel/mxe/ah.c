// SPDX-License-Identifier: GPL-2.0
#include <rdma/ib_cache.h>

#include "ah.h"
#include "device.h"
#include "mxe.h"

int mxe_av_init(struct mxe_dev *dev, struct mxe_av *av,
		const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	struct net_device *ndev;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return mxe_refuse(dev, -EINVAL, "no GRH");
	if (sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return mxe_refuse(dev, -EINVAL, "GID %u is not of RoCEv2",
				  grh->sgid_index);
	if (ipv6_addr_v4mapped((void *)&grh->dgid) !=
	    ipv6_addr_v4mapped((void *)&sgid->gid))
		return mxe_refuse(dev, -EINVAL,
				  "source and destination of two families");

	memset(av, 0, sizeof(*av));
	av->is_ipv4 = ipv6_addr_v4mapped((void *)&sgid->gid);
	if (av->is_ipv4) {
		memcpy(&av->v4.saddr, sgid->gid.raw + 12, 4);
		memcpy(&av->v4.daddr, grh->dgid.raw + 12, 4);
	} else {
		memcpy(&av->v6.saddr, &sgid->gid, 16);
		memcpy(&av->v6.daddr, &grh->dgid, 16);
	}
	av->tclass = grh->traffic_class;
	av->hop_limit = grh->hop_limit ?: 64;
	av->flow_label = grh->flow_label;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	av->ifindex = IS_ERR(ndev) ? 0 : ndev->ifindex;
	rcu_read_unlock();
	if (!av->ifindex)
		return mxe_refuse(dev, -EINVAL, "GID %u has no netdev",
				  grh->sgid_index);
	av->valid = true;
	return 0;
}

int mxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	struct mxe_ah *ah = container_of(ibah, struct mxe_ah, ibah);
	struct mxe_dev *dev = to_mdev(ibah->device);
	int err;

	if (udata && udata->inlen &&
	    !ib_is_udata_cleared(udata, 0, udata->inlen))
		return mxe_refuse(dev, -EINVAL, "non-zero udata");
	err = mxe_av_init(dev, &ah->av, init->ah_attr);
	return err ?: mxe_device_take(dev, MXE_RESOURCE_AH);
}

int mxe_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	mxe_device_give(to_mdev(ibah->device), MXE_RESOURCE_AH);
	return 0;
}
