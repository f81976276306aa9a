// SPDX-License-Identifier: GPL-2.0
/* Address vectors, and address handles with their flows. */
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_cache.h>

#include "ip/ah.h"
#include "ip/tx.h"
#include "mxe.h"
#include "netns.h"
#include "udata.h"

/*
 * Convert and check an address. Set @av, except for its sport.
 * Context: Any.
 * Return: 0; -EINVAL if RoCEv2 packets of this device cannot have the address;
 * or -EOPNOTSUPP if none to it are received, see mxe_av_can_receive().
 */
int mxe_av_init(struct mxe_dev *dev, struct mxe_av *av,
		const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	bool can_receive = true;
	struct net_device *ndev;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return mxe_refuse(dev, -EINVAL, "no GRH");
	if (sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return mxe_refuse(dev, -EINVAL, "GID %u is not a RoCEv2 GID",
				  grh->sgid_index);
	if (ipv6_addr_v4mapped((void *)&grh->dgid) !=
	    ipv6_addr_v4mapped((void *)&sgid->gid))
		return mxe_refuse(dev, -EINVAL,
				  "different address families of source and destination");

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
	/* The bits above are other fields of the IPv6 header. */
	av->flow_label = grh->flow_label & MXE_FLOW_LABEL_MASK;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	/*
	 * The netdev of the GID may be stacked on the netdev of the device,
	 * like a VLAN, and in another netns.  Its ifindex has another meaning
	 * in the netns of the device.
	 */
	if (!IS_ERR(ndev) && net_eq(dev_net(ndev), dev->mnet->net)) {
		av->ifindex = ndev->ifindex;
		can_receive = mxe_av_can_receive(ndev);
	}
	rcu_read_unlock();
	if (!av->ifindex)
		return mxe_refuse(dev, -EINVAL, "GID %u has no netdev in this netns",
				  grh->sgid_index);
	if (!can_receive)
		return mxe_refuse(dev, -EOPNOTSUPP,
				  "GID %u is in a VRF; set net.ipv4.udp_l3mdev_accept=1",
				  grh->sgid_index);
	av->valid = true;
	return 0;
}

/* ---- flows -------------------------------------------------------------- */

struct mxe_ah_flow {
	refcount_t refs;
	struct mxe_av av;		/* immutable */
	/* BHs disabled; inside send_lock. */
	spinlock_t lock;
	struct mxe_hdr hdr;
	struct mxe_route route;
};

static struct mxe_ah_flow *mxe_ah_create_flow(struct mxe_dev *dev,
					      const struct rdma_ah_init_attr *init)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL_ACCOUNT :
							     GFP_ATOMIC;
	struct mxe_ah_flow *flow = kzalloc(sizeof(*flow), gfp);
	int err;

	if (!flow)
		return ERR_PTR(-ENOMEM);
	err = mxe_av_init(dev, &flow->av, init->ah_attr);
	if (err) {
		kfree(flow);
		return ERR_PTR(err);
	}
	/* A QP that sends to it has no peer from which it would receive. */
	flow->av.valid = false;
	flow->av.sport = htons(rdma_flow_label_to_udp_sport(flow->av.flow_label));
	refcount_set(&flow->refs, 1);
	spin_lock_init(&flow->lock);
	return flow;
}

/* Get a reference to the flow of an address handle. */
struct mxe_ah_flow *mxe_ah_get_flow(struct mxe_ah_flow *flow)
{
	refcount_inc(&flow->refs);
	return flow;
}

/*
 * Drop a reference, except to NULL.
 * Context: Any.
 */
void mxe_ah_put_flow(struct mxe_ah_flow *flow)
{
	if (!flow || !refcount_dec_and_test(&flow->refs))
		return;
	mxe_route_forget(&flow->route);
	kfree(flow);
}

const struct mxe_av *mxe_ah_flow_av(const struct mxe_ah_flow *flow)
{
	return &flow->av;
}

/*
 * Load the headers and the route of a flow into an empty @tx.
 * Context: BHs disabled.
 */
void mxe_ah_load_flow(struct mxe_ah_flow *flow, struct mxe_tx *tx)
{
	spin_lock(&flow->lock);
	tx->hdr = flow->hdr;
	tx->route = flow->route;
	if (tx->route.dst)
		dst_hold(tx->route.dst);
	spin_unlock(&flow->lock);
}

/*
 * Store them for the next sender, and empty @tx, which has no batch.
 * Context: BHs disabled.
 */
void mxe_ah_store_flow(struct mxe_ah_flow *flow, struct mxe_tx *tx)
{
	if (tx->route.dst) {
		spin_lock(&flow->lock);
		flow->hdr = tx->hdr;
		swap(flow->route, tx->route);
		spin_unlock(&flow->lock);
	}
	mxe_tx_forget(tx);
}

/* ---- address handles ---------------------------------------------------- */

static struct mxe_ah *mxe_ah_lookup(struct mxe_dev *dev, const struct ib_pd *pd,
				    u32 num)
{
	struct mxe_ah *ah = xa_load(&dev->ahs, num);

	return ah && ah->ibah.pd == pd ? ah : NULL;
}

/*
 * Find the flow of address handle @num of a process.
 * Context: BHs disabled. Takes and releases the lock of dev->ahs.
 * Return: the flow with a reference, or NULL.
 */
struct mxe_ah_flow *mxe_ah_find_flow(struct mxe_dev *dev, const struct ib_pd *pd,
				     u32 num)
{
	struct mxe_ah_flow *flow = NULL;
	struct mxe_ah *ah;

	xa_lock(&dev->ahs);
	ah = mxe_ah_lookup(dev, pd, num);
	if (ah)
		flow = mxe_ah_get_flow(ah->flow);
	xa_unlock(&dev->ahs);
	return flow;
}

/* Allocates a number for an address handle and returns it to the process. */
static int mxe_ah_publish(struct mxe_dev *dev, struct mxe_ah *ah,
			  struct ib_udata *udata)
{
	struct mxe_create_ah_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp))
		return mxe_refuse(dev, -EINVAL, "no room for the response");
	err = xa_alloc_bh(&dev->ahs, &ah->num, ah, XA_LIMIT(1, MXE_MAX_AH),
			  GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	resp.ah_num = ah->num;
	err = mxe_udata_out(udata, &resp, sizeof(resp));
	if (err)
		xa_erase_bh(&dev->ahs, ah->num);
	return err;
}

int mxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	struct mxe_dev *dev = to_mdev(ibah->device);
	struct mxe_ah *ah = to_mah(ibah);
	int err;

	if (!mxe_udata_cleared(udata))
		return mxe_refuse(dev, -EINVAL, "non-zero udata");
	err = mxe_resource_take(dev, MXE_RESOURCE_AH);
	if (err)
		return err;
	ah->flow = mxe_ah_create_flow(dev, init);
	if (IS_ERR(ah->flow)) {
		err = PTR_ERR(ah->flow);
		goto give;
	}
	if (!udata)
		return 0;
	err = mxe_ah_publish(dev, ah, udata);
	if (!err)
		return 0;
	mxe_ah_put_flow(ah->flow);
give:
	mxe_resource_give(dev, MXE_RESOURCE_AH);
	return err;
}

int mxe_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct mxe_dev *dev = to_mdev(ibah->device);
	struct mxe_ah *ah = to_mah(ibah);

	if (ah->num)
		xa_erase_bh(&dev->ahs, ah->num);
	mxe_ah_put_flow(ah->flow);
	mxe_resource_give(dev, MXE_RESOURCE_AH);
	return 0;
}
