// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that the MTU of the netdev limits the packets of queue pairs, and not
 * what IP believes about the path: because of a forged ICMP message, a route,
 * or a router advertisement.
 */
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "raw.h"
#include "vt.h"

enum {
	SINGLE = 4096,			/* one packet */
	BATCH = 16 * SINGLE,
	QUOTED = 8,			/* bytes after the quoted IP header */
};

static struct vt_dev *a, *b;
static int raw4, raw6;			/* of the second host */

static void must(const char *command)
{
	if (system(command))
		vt_bail("failed: %s", command);
}

static int open_raw(int domain, int protocol)
{
	int before = raw_enter("h2");
	int fd = socket(domain, SOCK_RAW, protocol);

	if (fd < 0)
		vt_bail("raw socket");
	raw_leave(before);
	return fd;
}

/* ---- attacks ------------------------------------------------------------ */

/* "Fragmentation needed" for a packet from h1 to h2, with these 8 bytes. */
static void send_icmp4(uint8_t protocol, const uint8_t *quoted)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct {
		struct icmphdr icmp;
		struct iphdr ip;
		uint8_t quoted[QUOTED];
	} packet = {
		.icmp = { .type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED,
			  .un.frag.mtu = htons(552) },
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = protocol,
			.frag_off = htons(IP_DF), .tot_len = htons(SINGLE) },
	};
	const uint16_t *words = (const void *)&packet;
	uint32_t sum = 0;

	memcpy(&packet.ip.saddr, a->gid4.raw + 12, 4);
	memcpy(&packet.ip.daddr, b->gid4.raw + 12, 4);
	memcpy(packet.quoted, quoted, QUOTED);
	for (size_t i = 0; i < sizeof(packet) / 2; i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	packet.icmp.checksum = (uint16_t)~sum;
	to.sin_addr.s_addr = packet.ip.saddr;
	if (sendto(raw4, &packet, sizeof(packet), 0, (void *)&to, sizeof(to)) < 0)
		vt_bail("sendto");
}

/* "Packet too big", likewise. */
static void send_icmp6(uint8_t protocol, const uint8_t *quoted)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6 };
	struct {
		struct icmp6_hdr icmp;
		struct ip6_hdr ip;
		uint8_t quoted[QUOTED];
	} packet = {
		.icmp = { .icmp6_type = ICMP6_PACKET_TOO_BIG, .icmp6_mtu = htonl(1280) },
		.ip = { .ip6_flow = htonl(6 << 28), .ip6_nxt = protocol, .ip6_hlim = 64,
			.ip6_plen = htons(SINGLE) },
	};

	memcpy(&packet.ip.ip6_src, a->gid6.raw, 16);
	memcpy(&packet.ip.ip6_dst, b->gid6.raw, 16);
	memcpy(packet.quoted, quoted, QUOTED);
	to.sin6_addr = packet.ip.ip6_src;
	if (sendto(raw6, &packet, sizeof(packet), 0, (void *)&to, sizeof(to)) < 0)
		vt_bail("sendto");
}

/* Quotes a RoCE packet, which was never sent. */
static void quote_udp(bool ipv6)
{
	const uint16_t udp[4] = { htons(RAW_SOURCE_PORT), htons(RAW_PORT), htons(SINGLE - 20) };

	if (ipv6)
		send_icmp6(IPPROTO_UDP, (const void *)udp);
	else
		send_icmp4(IPPROTO_UDP, (const void *)udp);
}

/* Quotes an echo reply, which needs no socket. */
static void quote_echo(bool ipv6)
{
	const uint8_t reply4[QUOTED] = { ICMP_ECHOREPLY }, reply6[QUOTED] = { ICMP6_ECHO_REPLY };

	if (ipv6)
		send_icmp6(IPPROTO_ICMPV6, reply6);
	else
		send_icmp4(IPPROTO_ICMP, reply4);
}

static void set_route(bool ipv6)
{
	must(ipv6 ? "ip -n h1 route replace fd77::2 dev eth0 mtu lock 1400" :
		    "ip -n h1 route replace 10.77.0.2 dev eth0 src 10.77.0.1 mtu lock 1400");
}

/* As the kernel does when a router advertises an MTU. */
static void set_advertised(bool ipv6)
{
	(void)ipv6;
	must("ip netns exec h1 sysctl -qw net.ipv6.conf.eth0.mtu=1280");
}

static const struct attack {
	const char *what;
	void (*begin)(bool ipv6);
	bool only_ipv6;
	const char *mtu[2];		/* of the route, IPv4 and IPv6; NULL: not known */
} attacks[] = {
	{ "an ICMP message that quotes an echo reply", quote_echo,
	  .mtu = { "mtu 552", "mtu 1280" } },
	{ "an ICMP message that quotes a RoCE packet", quote_udp, .mtu = { NULL } },
	{ "a route with an MTU of 1400", set_route, .mtu = { "mtu lock 1400", "mtu lock 1400" } },
	{ "an advertised MTU of 1280", set_advertised, .only_ipv6 = true },
};

static void end_attacks(void)
{
	must("ip netns exec h1 sysctl -qw net.ipv6.conf.eth0.mtu=4200");
	must("ip -n h1 route del 10.77.0.2 dev eth0 2>/dev/null; "
	     "ip -n h1 route del fd77::2 dev eth0 2>/dev/null; "
	     "ip -n h1 route flush cache && ip -n h1 -6 route flush cache");
}

/* Returns true when IP has the MTU for the path from h1 to h2. */
static bool is_believed(const struct attack *attack, bool ipv6)
{
	uint64_t end = vt_now_ms() + VT_MS;
	char command[128];

	snprintf(command, sizeof(command), "ip -n h1 route get %s | grep -q '%s'",
		 ipv6 ? "fd77::2" : "10.77.0.2", attack->mtu[ipv6]);
	while (system(command))
		if (vt_now_ms() > end)
			return false;
	return true;
}

/* ---- traffic ------------------------------------------------------------ */

/* Requests, GSO batches of them, and responses from h1. */
static void test_traffic(struct vt_pair *p, const char *what)
{
	int single, batch, read;

	single = vt_rdma(&p->a, VT_WRITE, p->b.mr, vt_addr(&p->b, 0), SINGLE);
	batch = single ?: vt_rdma(&p->a, VT_WRITE, p->b.mr, vt_addr(&p->b, 0), BATCH);
	read = batch ?: vt_rdma(&p->b, VT_READ, p->a.mr, vt_addr(&p->a, 0), BATCH);
	is_str(vt_status(single), vt_status(IBV_WC_SUCCESS), "... %s: a WRITE of a packet", what);
	is_str(vt_status(batch), vt_status(IBV_WC_SUCCESS), "... a WRITE of a batch");
	is_str(vt_status(read), vt_status(IBV_WC_SUCCESS), "... a READ by the peer");
}

static void test_attack(const struct attack *attack, bool ipv6)
{
	struct vt_conf conf = vt_defaults();
	struct vt_pair old, new;
	long batches;

	conf.ipv6 = ipv6;
	conf.mtu = IBV_MTU_4096;
	conf.size = BATCH;
	conf.timeout = 14;		/* 67 ms */
	vt_pair_open(&old, a, b, &conf);
	diag("IPv%d, %s", ipv6 ? 6 : 4, attack->what);
	test_traffic(&old, "before");
	attack->begin(ipv6);
	if (attack->mtu[ipv6])
		ok(is_believed(attack, ipv6), "... IP has %s", attack->mtu[ipv6]);
	batches = vt_dev_counter(a, "sent_gso_batches");
	test_traffic(&old, "the old queue pair");
	ok(vt_dev_counter(a, "sent_gso_batches") > batches, "... with GSO batches");
	vt_pair_open(&new, a, b, &conf);
	test_traffic(&new, "a new queue pair");
	vt_pair_close(&new);
	vt_pair_close(&old);
	end_attacks();
}

int main(void)
{
	plan(0);
	raw4 = open_raw(AF_INET, IPPROTO_ICMP);
	raw6 = open_raw(AF_INET6, IPPROTO_ICMPV6);
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	for (int ipv6 = 0; ipv6 < 2; ipv6++)
		for (size_t i = 0; i < ARRAY_SIZE(attacks); i++)
			if (ipv6 || !attacks[i].only_ipv6)
				test_attack(&attacks[i], ipv6);
	vt_close(b);
	vt_close(a);
	return done_testing();
}
