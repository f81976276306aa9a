// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that each member of a multicast group gets one copy of a datagram, and
 * that no other QP gets one. The test also covers refused calls, limits, and a
 * QP that is not destroyed because it is a member.
 *
 *	t_mcast			runs the test
 *	t_mcast join ADDRESS...	joins these groups with a QP of the second
 *				device, prints "joined", and waits for a line
 *				of input
 */
#include <arpa/inet.h>
#include "ud.h"

enum { MULTICAST_QPN = 0xffffff };

static struct vt_dev *a, *b;

/* 239.77.x.y, or ff15::77:x:y. */
static union ibv_gid group_gid(bool ipv6, unsigned int n)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239,
				       [13] = 77 } };

	if (ipv6)
		gid = (union ibv_gid){ .raw = { 0xff, 0x15, [13] = 77 } };
	gid.raw[14] = (uint8_t)(n >> 8);
	gid.raw[15] = (uint8_t)n;
	return gid;
}

static struct ibv_ah *group_ah(struct vt_dev *from, bool ipv6, unsigned int n)
{
	union ibv_gid gid = group_gid(ipv6, n);
	struct ibv_ah *ah;

	ah = ud_ah_gid(from, ipv6 ? from->gid6_index : from->gid4_index, &gid);
	if (!ah)
		vt_bail("ibv_create_ah of a group");
	return ah;
}

static int attach(struct ud *u, bool ipv6, unsigned int n)
{
	union ibv_gid gid = group_gid(ipv6, n);

	return ibv_attach_mcast(u->qp, &gid, 0);
}

static int detach(struct ud *u, bool ipv6, unsigned int n)
{
	union ibv_gid gid = group_gid(ipv6, n);

	return ibv_detach_mcast(u->qp, &gid, 0);
}

/* Checks that the next datagram has these `len` bytes. */
static void got_one(struct ud *u, uint32_t len, const uint8_t *data,
		    const char *what)
{
	struct ibv_wc wc = ud_next(u, what);

	is_u64(wc.byte_len, UD_GRH + len, "%s: length", what);
	is_int(wc.wc_flags, IBV_WC_GRH, "%s: flags", what);
	is_mem(u->buf + wc.wr_id + UD_GRH, data, len, "%s: the data", what);
}

static void got_none(struct ud *u, const char *what)
{
	struct ibv_wc wc;

	ok(!vt_poll(u->rcq, &wc, UD_QUIET_MS), "%s", what);
}

static void recv_two(struct ud *u)
{
	ud_must_recv(u, UD_RECV, UD_SLOT);
	ud_must_recv(u, UD_RECV + UD_SLOT, UD_SLOT);
}

static void test_copies(bool ipv6)
{
	const char *v = ipv6 ? "IPv6" : "IPv4";
	struct ud from, one, two, three;
	struct ud_wr w = {
		.qpn = MULTICAST_QPN, .qkey = UD_QKEY, .len = 200,
	};
	char what[64];
	long before;

	ud_open(&from, a);
	ud_open(&one, b);
	ud_open(&two, b);
	ud_open(&three, b);
	recv_two(&from);
	recv_two(&one);
	recv_two(&two);
	recv_two(&three);
	is_int(attach(&one, ipv6, 1), 0, "%s: one joins", v);
	is_int(attach(&one, ipv6, 1), 0, "%s: one joins again", v);
	is_int(attach(&two, ipv6, 1), 0, "%s: two joins", v);
	is_int(attach(&three, ipv6, 2), 0, "%s: three joins another", v);
	is_int(attach(&from, ipv6, 1), 0, "%s: so does the sender", v);

	vt_fill_random(from.buf, w.len);
	w.ah = group_ah(a, ipv6, 1);
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "%s: sent", v);
	snprintf(what, sizeof(what), "%s: one", v);
	got_one(&one, w.len, from.buf, what);
	snprintf(what, sizeof(what), "%s: two", v);
	got_one(&two, w.len, from.buf, what);
	snprintf(what, sizeof(what), "%s: the sender", v);
	got_one(&from, w.len, from.buf, what);
	snprintf(what, sizeof(what), "%s: not three", v);
	got_none(&three, what);

	is_int(detach(&one, ipv6, 1), 0, "%s: one leaves", v);
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "%s: sent", v);
	snprintf(what, sizeof(what), "%s: two again", v);
	got_one(&two, w.len, from.buf, what);
	snprintf(what, sizeof(what), "%s: not one", v);
	got_none(&one, what);

	/* Each queue pair checks its own Q_Key. */
	w.qkey = UD_QKEY + 1;
	before = vt_dev_counter(b, "drop_qkey");
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "%s: sent", v);
	vt_dev_wait_counted(two.dev, "drop_qkey", before);
	snprintf(what, sizeof(what), "%s: a wrong Q_Key", v);
	got_none(&two, what);
	is_int(vt_dev_counter(b, "drop_qkey") - before, 1, "%s: ... is counted", v);

	is_int(detach(&two, ipv6, 1), 0, "%s: two leaves", v);
	is_int(detach(&three, ipv6, 2), 0, "%s: three leaves", v);
	is_int(detach(&from, ipv6, 1), 0, "%s: the sender leaves", v);
	ibv_destroy_ah(w.ah);
	ud_close(&from);
	ud_close(&one);
	ud_close(&two);
	ud_close(&three);
}

static void test_refusals(void)
{
	union ibv_gid unicast = b->gid4, unicast6 = b->gid6;
	struct vt_conf conf = vt_defaults();
	union ibv_gid gid = group_gid(false, 9);
	struct vt_pair rc;
	struct ud u;

	ud_open(&u, b);
	is_int(ibv_attach_mcast(u.qp, &unicast, 0), EINVAL, "an IPv4 address");
	is_int(ibv_attach_mcast(u.qp, &unicast6, 0), EINVAL,
	       "an IPv6 address");
	is_int(detach(&u, false, 9), EINVAL, "leaving a group that was not joined");
	is_int(attach(&u, false, 9), 0, "joined");
	is_int(detach(&u, true, 9), EINVAL, "leaving another group");
	is_int(detach(&u, false, 9), 0, "left");
	is_int(detach(&u, false, 9), EINVAL, "leaving twice");
	ud_close(&u);

	vt_pair_open(&rc, a, b, &conf);
	is_int(ibv_attach_mcast(rc.b.qp, &gid, 0), EINVAL,
	       "a connected queue pair");
	vt_pair_close(&rc);
}

/* A destroy that fails changes nothing: the member receives as before. */
static void test_destroy_member(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };
	struct ud from, member;
	struct ud_wr w = {
		.qpn = MULTICAST_QPN, .qkey = UD_QKEY, .len = 100,
	};
	long before = vt_dev_counter(b, "rcvd_pkts");

	ud_open(&from, a);
	ud_open(&member, b);
	recv_two(&member);
	is_int(attach(&member, false, 10), 0, "a queue pair joins a group");
	vt_fill_random(from.buf, w.len);
	w.ah = group_ah(a, false, 10);
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "a datagram is sent");
	vt_dev_wait_counted(member.dev, "rcvd_pkts", before);

	is_int(ibv_destroy_qp(member.qp), EBUSY, "the member is not destroyed");
	is_int(ibv_query_qp(member.qp, &attr, IBV_QP_STATE, &init), 0,
	       "... it can be queried");
	is_int(attr.qp_state, IBV_QPS_RTS, "... it is in RTS");
	got_one(&member, w.len, from.buf, "... its datagram has arrived");
	is_int(ud_send_wait(&from, w), IBV_WC_SUCCESS, "one more is sent");
	got_one(&member, w.len, from.buf, "... and received");
	ibv_destroy_ah(w.ah);

	ud_must_recv(&from, UD_RECV, UD_SLOT);
	w.ah = ud_ah(b, a, false);
	w.qpn = from.qp->qp_num;
	is_int(ud_send_wait(&member, w), IBV_WC_SUCCESS, "the member sends");
	got_one(&from, w.len, member.buf, "... and that is received");

	ibv_destroy_ah(w.ah);
	is_int(detach(&member, false, 10), 0, "the member leaves the group");
	ud_close(&member);
	ud_close(&from);
}

static void test_limits(void)
{
	struct ibv_device_attr attr;
	struct ud *u;
	int n, err = 0;

	if (ibv_query_device(b->ctx, &attr))
		vt_bail("ibv_query_device");
	is_int(attr.max_total_mcast_qp_attach,
	       attr.max_mcast_grp * attr.max_mcast_qp_attach,
	       "members in all");

	u = calloc((size_t)attr.max_mcast_qp_attach + 1, sizeof(*u));
	if (!u)
		vt_bail("out of memory");
	for (n = 0; n <= attr.max_mcast_qp_attach; n++)
		ud_open(&u[n], b);
	for (n = 0; n <= attr.max_mcast_qp_attach; n++) {
		err = attach(&u[n], false, 5);
		if (err)
			break;
	}
	is_int(n, attr.max_mcast_qp_attach, "members of one group");
	is_int(err, ENOMEM, "one more is refused");
	while (n--)
		if (detach(&u[n], false, 5))
			vt_bail("ibv_detach_mcast");

	for (n = 0; n <= attr.max_mcast_grp; n++) {
		err = attach(&u[0], false, (unsigned int)n);
		if (err)
			break;
	}
	is_int(n, attr.max_mcast_grp, "groups of a device");
	is_int(err, ENOMEM, "one more is refused");
	while (n--)
		if (detach(&u[0], false, (unsigned int)n))
			vt_bail("ibv_detach_mcast");
	for (n = 0; n <= attr.max_mcast_qp_attach; n++)
		ud_close(&u[n]);
	free(u);
}

/*
 * Joins groups and does not leave them, because t_mcast_netns.sh removes the
 * device.
 */
static int join(char **addresses)
{
	struct ud u;

	b = vt_open(vt_name_b());
	ud_open(&u, b);
	for (; *addresses; addresses++) {
		union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

		if (!inet_pton(AF_INET6, *addresses, gid.raw) &&
		    !inet_pton(AF_INET, *addresses, gid.raw + 12))
			vt_bail("no address: %s", *addresses);
		if (ibv_attach_mcast(u.qp, &gid, 0))
			vt_bail("cannot join %s", *addresses);
	}
	puts("joined");
	fflush(stdout);
	getchar();
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return join(argv + 2);
	plan(0);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_copies(false);
	test_copies(true);
	test_refusals();
	test_destroy_member();
	test_limits();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
