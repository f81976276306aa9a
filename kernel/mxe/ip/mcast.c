// SPDX-License-Identifier: GPL-2.0
/* Multicast groups and the delivery to their members. */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>

#include "ip/mcast.h"
#include "mxe.h"
#include "queues/qp.h"
#include "rc/deliver.h"

struct mxe_mcast_member {
	struct list_head entry;
	struct mxe_qp *qp;
	struct rcu_head rcu;
};

struct mxe_mcast_group {
	struct hlist_node node;
	union ib_gid gid;
	struct list_head members;
	u32 num_members;
	struct rcu_head rcu;
};

void mxe_mcast_init(struct mxe_mcast *mcast)
{
	mutex_init(&mcast->lock);
	hash_init(mcast->groups);
}

/* Call it when the table has no groups any more. */
void mxe_mcast_uninit(struct mxe_mcast *mcast)
{
	WARN_ON(!hash_empty(mcast->groups));
	mutex_destroy(&mcast->lock);
}

/* ---- membership of the host -------------------------------------------- */

/*
 * Makes the host a member, so that switches and its own IP layer pass the
 * packets. A socket is not used, because the number of groups of a socket is
 * limited.
 */
static int mxe_mcast_join(struct mxe_dev *dev, const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct net_device *ndev = dev->ndev;
	struct in_device *in_dev;
	int err = -ENODEV;

	rtnl_lock();
	if (dev->ndev_gone)
		goto unlock;
	if (!ipv6_addr_v4mapped(addr)) {
		if (IS_ENABLED(CONFIG_IPV6))
			err = ipv6_dev_mc_inc(ndev, addr);
	} else {
		in_dev = __in_dev_get_rtnl(ndev);
		if (in_dev) {
			ip_mc_inc_group(in_dev, addr->s6_addr32[3]);
			err = 0;
		}
	}
unlock:
	rtnl_unlock();
	return err;
}

static void mxe_mcast_leave(struct mxe_dev *dev, const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct net_device *ndev = dev->ndev;
	struct in_device *in_dev;

	rtnl_lock();
	/*
	 * The netdev has left its groups. Its current memberships are not ours.
	 */
	if (dev->ndev_gone)
		goto unlock;
	if (!ipv6_addr_v4mapped(addr)) {
		if (IS_ENABLED(CONFIG_IPV6))
			ipv6_dev_mc_dec(ndev, addr);
	} else {
		in_dev = __in_dev_get_rtnl(ndev);
		if (in_dev)
			ip_mc_dec_group(in_dev, addr->s6_addr32[3]);
	}
unlock:
	rtnl_unlock();
}

/* ---- groups ------------------------------------------------------------ */

static u32 mxe_mcast_hash(const union ib_gid *gid)
{
	return jhash(gid, sizeof(*gid), 0);
}

/* Context: RCU read-side section, or mcast->lock held. */
static struct mxe_mcast_group *mxe_mcast_find(struct mxe_mcast *mcast,
					      const union ib_gid *gid)
{
	struct mxe_mcast_group *group;

	hash_for_each_possible_rcu(mcast->groups, group, node,
				   mxe_mcast_hash(gid),
				   lockdep_is_held(&mcast->lock))
		if (!memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

static struct mxe_mcast_member *
mxe_mcast_find_member(struct mxe_mcast_group *group, const struct mxe_qp *qp)
{
	struct mxe_mcast_member *member;

	list_for_each_entry(member, &group->members, entry)
		if (member->qp == qp)
			return member;
	return NULL;
}

/* Allocates a group that is not in the table yet. */
static struct mxe_mcast_group *mxe_mcast_new_group(struct mxe_dev *dev,
						   const union ib_gid *gid)
{
	struct mxe_mcast_group *group;
	int err;

	if (dev->mcast.num_groups >= MXE_MAX_MCAST_GRP)
		return ERR_PTR(mxe_refuse(dev, -ENOMEM, "all %u groups are in use",
					  MXE_MAX_MCAST_GRP));
	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	err = mxe_mcast_join(dev, gid);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	group->gid = *gid;
	INIT_LIST_HEAD(&group->members);
	return group;
}

static int mxe_mcast_add(struct mxe_dev *dev, const union ib_gid *gid,
			 struct mxe_mcast_member *member)
{
	struct mxe_mcast_group *group = mxe_mcast_find(&dev->mcast, gid);

	lockdep_assert_held(&dev->mcast.lock);

	if (group && mxe_mcast_find_member(group, member->qp))
		return -EEXIST;
	if (!group)
		group = mxe_mcast_new_group(dev, gid);
	if (IS_ERR(group))
		return PTR_ERR(group);
	if (group->num_members >= MXE_MAX_MCAST_QP_ATTACH)
		return mxe_refuse(dev, -ENOMEM, "the group has %u members",
				  MXE_MAX_MCAST_QP_ATTACH);
	list_add_tail_rcu(&member->entry, &group->members);
	member->qp->mcast_groups++;
	if (!group->num_members++) {
		dev->mcast.num_groups++;
		hash_add_rcu(dev->mcast.groups, &group->node,
			     mxe_mcast_hash(gid));
	}
	return 0;
}

/* ib_core has checked the type of the QP and the GID. */
int mxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct mxe_dev *dev = to_mdev(ibqp->device);
	struct mxe_mcast_member *member;
	int err;

	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	member->qp = to_mqp(ibqp);

	mutex_lock(&dev->mcast.lock);
	err = mxe_mcast_add(dev, gid, member);
	mutex_unlock(&dev->mcast.lock);
	if (err)
		kfree(member);
	/* Joining twice is not an error. */
	return err == -EEXIST ? 0 : err;
}

static void mxe_mcast_remove(struct mxe_dev *dev, struct mxe_mcast_group *group,
			     struct mxe_mcast_member *member)
{
	lockdep_assert_held(&dev->mcast.lock);

	member->qp->mcast_groups--;
	list_del_rcu(&member->entry);
	kfree_rcu(member, rcu);
	if (--group->num_members)
		return;
	dev->mcast.num_groups--;
	hash_del_rcu(&group->node);
	mxe_mcast_leave(dev, &group->gid);
	kfree_rcu(group, rcu);
}

int mxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct mxe_dev *dev = to_mdev(ibqp->device);
	struct mxe_mcast_member *member = NULL;
	struct mxe_mcast_group *group;

	mutex_lock(&dev->mcast.lock);
	group = mxe_mcast_find(&dev->mcast, gid);
	if (group)
		member = mxe_mcast_find_member(group, to_mqp(ibqp));
	if (member)
		mxe_mcast_remove(dev, group, member);
	mutex_unlock(&dev->mcast.lock);
	return member ? 0 : mxe_refuse(dev, -EINVAL, "not a member of the group");
}

/*
 * Deliver a datagram to every member of group @gid. The caller still owns @skb.
 * Members that exceed the budget of a slice receive their copy from their work.
 * Context: Softirq, RCU read-side section.
 * Return: true if the group has members on this device.
 */
bool mxe_mcast_rcv(struct mxe_dev *dev, const union ib_gid *gid,
		   const struct mxe_pkt *pkt, struct sk_buff *skb)
{
	struct mxe_mcast_group *group = mxe_mcast_find(&dev->mcast, gid);
	struct mxe_mcast_member *member;
	s32 budget = MXE_SLICE;

	if (!group)
		return false;
	/*
	 * RCU keeps the memory of a QP that has left and was destroyed
	 * meanwhile.
	 */
	list_for_each_entry_rcu(member, &group->members, entry) {
		struct mxe_qp *qp = member->qp;

		mxe_qp_recv_begin(qp);
		mxe_deliver_copy(qp, pkt, skb, budget > 0);
		if (!qp->dying)
			budget -= mxe_pkt_cost(pkt->payload_len,
					       qp->resp.cur->num_sge);
		mxe_qp_recv_end(qp);
	}
	return true;
}
