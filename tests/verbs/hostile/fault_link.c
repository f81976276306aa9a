// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Adds and deletes links for t_faults with a netlink socket, because faults are
 * injected into the calling thread and would not affect a child that runs
 * rdma(8). See faults.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "faults.h"
#include "nl.h"
#include "vt.h"

#define LINK "mxe_faults"
#define NETDEV "mxef0"

/* ---- netlink ------------------------------------------------------------ */

static int nl_fd;

/* Sends a request. Returns 0, an errno value or LINK_LOST. */
static int call(const struct nl_request *r)
{
	const struct nlmsgerr *error;
	struct nl_answer a;

	errno = 0;
	if (send(nl_fd, r, r->nlh.nlmsg_len, 0) < 0)
		return errno;
	if (!nl_receive(nl_fd, &a))
		return LINK_LOST;
	if (a.nlh.nlmsg_type != NLMSG_ERROR || a.nlh.nlmsg_seq != r->nlh.nlmsg_seq)
		vt_bail("netlink: unexpected response");
	error = NLMSG_DATA(&a.nlh);
	return -error->error;
}

/* ---- the link ----------------------------------------------------------- */

static int64_t number;		/* index of the device, for deleting it */

bool link_is_there(void)
{
	number = nl_find_device(nl_fd, LINK);
	return number >= 0 || !access("/sys/class/infiniband/" LINK, F_OK);
}

int link_add(void)
{
	struct nl_request r = nl_request(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);

	nl_put_string(&r, RDMA_NLDEV_ATTR_DEV_NAME, LINK);
	nl_put_string(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "mxe");
	nl_put_string(&r, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV);
	return call(&r);
}

int link_del(void)
{
	struct nl_request r = nl_request(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);

	nl_put_u32(&r, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)number);
	return call(&r);
}

/* Returns true if `rdma link` would show the link with its netdev. */
static bool is_shown(void)
{
	struct nl_request r = nl_request(RDMA_NLDEV_CMD_PORT_GET, 0);
	struct nl_answer a;

	nl_put_u32(&r, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)number);
	nl_put_u32(&r, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (send(nl_fd, &r, r.nlh.nlmsg_len, 0) < 0 || !nl_receive(nl_fd, &a))
		vt_bail("netlink: port");
	return a.nlh.nlmsg_type != NLMSG_ERROR &&
	       nl_is_string(&a.nlh, RDMA_NLDEV_ATTR_DEV_NAME, LINK) &&
	       nl_is_string(&a.nlh, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV);
}

static bool has_qps(struct vt_dev *dev)
{
	struct ibv_qp_init_attr attr = {
		.cap = { 16, 16, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
	};
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp;

	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = cq ? ibv_create_qp(dev->pd, &attr) : NULL;
	return qp && !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq);
}

const char *link_is_whole(bool *has_file)
{
	struct vt_dev *dev;
	bool made;

	*has_file = false;
	if (!link_is_there() || number < 0)
		return "it does not exist";
	if (!is_shown())
		return "`rdma link` does not show it";
	dev = vt_try_open(LINK);
	if (!dev)
		return errno == ENODEV ? NULL : "it cannot be opened";
	*has_file = true;
	made = has_qps(dev);
	vt_close(dev);
	return made ? NULL : "no queue pair can be created on it";
}

/* ---- the netdev --------------------------------------------------------- */

void link_set_up(void)
{
	nl_fd = nl_open();
	if (nl_fd < 0)
		vt_bail("netlink");
	if (system("ip link add " NETDEV " type veth peer name mxef1") ||
	    system("ip link set " NETDEV " up") || system("ip link set mxef1 up") ||
	    system("ip addr add 10.78.0.1/24 dev " NETDEV))
		vt_bail("a netdev for links");
}

/* Deleting a netdev waits for all references and cannot be killed. */
bool link_tear_down(void)
{
	uint64_t end = vt_now_ms() + VT_MS;
	int status = -1;
	pid_t pid = fork();

	if (pid < 0)
		vt_bail("fork");
	if (!pid) {
		execlp("ip", "ip", "link", "del", NETDEV, NULL);
		_exit(127);
	}
	while (!waitpid(pid, &status, WNOHANG) && vt_now_ms() < end)
		usleep(10000);
	close(nl_fd);
	return !status;
}
