// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the firewall of a host applies to RDMA between two queue pairs of
 * that host: requests that mxe executes without packets must not get past a
 * rule that would have dropped, or seen, these packets.
 *
 * Every rule is installed twice while a connection is in use. With
 * direct_loop=N the packets are sent, and the rule decides about the status of
 * the request. With direct_loop=Y the status must be the same. When the rule is
 * removed, mxe executes requests without packets again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "vt.h"

#define IN_HOST "ip netns exec h1 "
#define MATCH " udp dport 4791 counter"

enum { MAX_TRIES = 20 };

/* Rules of nft: family of the table, chain, its priority, and rule. */
#define NFT_AT(priority, family, hook, policy)				\
	.add = IN_HOST "nft 'add table " family " mxe;"			\
	       "add chain " family " mxe c { type filter hook " hook	\
	       " priority " priority "; policy " policy "; };"		\
	       "add rule " family " mxe c" MATCH "'",			\
	.remove = IN_HOST "nft delete table " family " mxe",		\
	.count = IN_HOST "nft list table " family " mxe |"		\
		 "sed -n 's/.*counter packets \\([0-9]*\\).*/\\1/p'"

#define NFT(family, hook, policy) NFT_AT("0", family, hook, policy)

/* Traffic control at the loopback interface. */
#define TC(direction, action)						\
	.add = IN_HOST "tc qdisc add dev lo clsact && " IN_HOST		\
	       "tc filter add dev lo " direction " matchall action " action, \
	.remove = IN_HOST "tc qdisc del dev lo clsact",			\
	.count = IN_HOST "tc -s filter show dev lo " direction " |"	\
		 "sed -n 's/.*Sent [0-9]* bytes \\([0-9]*\\) pkt.*/\\1/p'"

/* IPsec policies for packets of the host to itself. */
#define XFRM(direction, counter)					\
	.add = IN_HOST "ip xfrm policy add src 10.77.0.1 dst 10.77.0.1 dir " \
	       direction " action block && "				\
	       IN_HOST "ip xfrm policy add src fd77::1 dst fd77::1 dir " \
	       direction " action block",				\
	.remove = IN_HOST "ip xfrm policy flush",			\
	.count = IN_HOST "awk '/" counter "/ { print $2 }' /proc/net/xfrm_stat"

struct rule {
	const char *what;
	const char *add, *remove;	/* commands */
	const char *count;		/* prints the packets that it has seen */
	bool passes;			/* it only counts packets */
};

static const struct rule rules[] = {
	{ "inet output, drop", NFT("inet", "output", "drop") },
	{ "inet postrouting, drop", NFT("inet", "postrouting", "drop") },
	{ "inet prerouting, drop", NFT("inet", "prerouting", "drop") },
	{ "inet input, drop", NFT("inet", "input", "drop") },
	{ "inet output, priority of security modules, drop",
	  NFT_AT("-225", "inet", "output", "drop") },
	{ "inet postrouting, priority of security modules, drop",
	  NFT_AT("225", "inet", "postrouting", "drop") },
	{ "netdev egress of lo, drop", NFT("netdev", "egress device lo", "drop") },
	{ "netdev ingress of lo, drop", NFT("netdev", "ingress device lo", "drop") },
	{ "tc egress of lo, drop", TC("egress", "drop") },
	{ "tc ingress of lo, drop", TC("ingress", "drop") },
	{ "xfrm out, block", XFRM("out", "XfrmOutPolBlock") },
	{ "xfrm in, block", XFRM("in", "XfrmInPolBlock") },
	{ "inet output, accept", NFT("inet", "output", "accept"), true },
	{ "inet input, accept", NFT("inet", "input", "accept"), true },
};

static struct vt_dev *dev;

static void must(const char *command)
{
	if (system(command))
		vt_bail("failed: %s", command);
}

static long number(const char *command)
{
	FILE *f = popen(command, "r");
	long value = -1;

	if (!f || fscanf(f, "%ld", &value) != 1)
		vt_bail("prints no number: %s", command);
	pclose(f);
	return value;
}

static long loops(void)
{
	return vt_counter(vt_name_a(), "loop_requests");
}

static int request(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a, 0, 8);
	struct vt_wr wr = {
		.op = VT_FADD, .sge = &sge, .num_sge = 1, .compare_add = 1,
		.raddr = vt_addr(&p->b, 0), .rkey = p->b.mr->rkey,
	};

	return vt_do(&p->a, &wr, NULL);
}

/* Reconnects the pair until a request has succeeded. */
static void reconnect(struct vt_pair *p, const struct vt_conf *conf)
{
	int tries;

	for (tries = 0; tries < MAX_TRIES; tries++) {
		vt_pair_reconnect(p, conf);
		if (request(p) == IBV_WC_SUCCESS)
			return;
	}
	vt_bail("no request succeeds without a rule");
}

/*
 * Returns the status of a request with the rule. *count is the count of the
 * rule.
 */
static int with_rule(struct vt_pair *p, const struct vt_conf *conf,
		     const struct rule *rule, bool direct, long *count)
{
	int status;

	vt_set_loopback(direct);
	reconnect(p, conf);
	must(rule->add);
	*count = number(rule->count);
	status = request(p);
	*count = number(rule->count) - *count;
	must(rule->remove);
	return status;
}

static void test_rule(struct vt_pair *p, const struct vt_conf *conf,
		      const struct rule *rule)
{
	int wire, status, want = rule->passes ? IBV_WC_SUCCESS :
						IBV_WC_RETRY_EXC_ERR;
	int v = conf->ipv6 ? 6 : 4, tries;
	long count, before;

	wire = with_rule(p, conf, rule, false, &count);
	is_str(vt_status(wire), vt_status(want), "IPv%d, %s: with direct_loop=N", v,
	       rule->what);
	ok(count > 0, "... the rule counts packets");
	status = with_rule(p, conf, rule, true, &count);
	is_str(vt_status(status), vt_status(wire), "IPv%d, %s: with direct_loop=Y",
	       v, rule->what);
	ok(count > 0, "... the rule counts packets");

	reconnect(p, conf);
	before = loops();
	for (tries = 0; tries < MAX_TRIES && loops() == before; tries++)
		if (request(p) != IBV_WC_SUCCESS)
			reconnect(p, conf);
	ok(loops() > before, "... and no packets are needed once the rule is removed");
}

static void test_family(bool ipv6)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	size_t i;
	long before;

	conf.ipv6 = ipv6;
	conf.timeout = 14;	/* 67 ms */
	conf.retry_cnt = 2;
	vt_set_loopback(true);
	vt_pair_open(&p, dev, dev, &conf);
	reconnect(&p, &conf);
	before = loops();
	is_int(request(&p), IBV_WC_SUCCESS, "IPv%d, no rule", ipv6 ? 6 : 4);
	ok(loops() > before, "... no packets are needed");
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		test_rule(&p, &conf, &rules[i]);
	vt_pair_close(&p);
}

int main(void)
{
	plan(0);
	/* By default, IPsec policies do not apply to the loopback interface. */
	must(IN_HOST "sysctl -qw net.ipv4.conf.lo.disable_xfrm=0");
	must(IN_HOST "sysctl -qw net.ipv4.conf.lo.disable_policy=0");
	must(IN_HOST "sysctl -qw net.ipv6.conf.lo.disable_policy=0");
	dev = vt_open(vt_name_a());
	if (!vt_has_loopback())
		vt_bail("no loopback path");
	test_family(false);
	test_family(true);
	vt_set_loopback(true);
	vt_close(dev);
	return done_testing();
}
