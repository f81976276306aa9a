// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that early demultiplexing takes the right packets from the IP layer:
 * those of known connections that the UDP layer would deliver unchanged,
 * counted as IP and UDP count them. The IP layer handles all others. The same
 * for IPv6.
 *
 * A packet socket of the first host sends the frames, which the test builds.
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include "tap.h"
#include "raw.h"
#include "vt.h"

enum {
	VLAN_TAG = 4,
	MORE_FRAGMENTS = 0x2000,
	IP6_MORE_FRAGMENTS = 1,
	EXT_LEN = 8,
	SETTLE_US = 50000,
};

/* Why mxe drops an ACK that acknowledges nothing. */
#define UNSOLICITED "drop_unsolicited_response"

/* Changes to a frame with an ACK that acknowledges nothing. */
struct frame {
	const char *what;
	const char *ip;		/* IP counters besides InReceives */
	const char *drop;	/* the reason for which mxe drops it */
	bool early;
	bool no_ip;		/* IP does not get it */
	struct raw raw;
	uint8_t ttl;		/* 0: unchanged */
	unsigned int tot_len;	/* added to it */
	unsigned int padding;
	bool bad_check, udp_check, fragment, tagged;
	bool bad_version, hop_by_hop;	/* only IPv6 */
	bool other_port, other_host, forwarded, unknown;
};

static struct vt_dev *a, *b;
static struct sockaddr_ll wire;
static uint8_t mac_b[ETH_ALEN];
static int fd;
static bool ipv6;

/*
 * Counters of the IP and UDP layers of the second host: lines of names and
 * values.
 */
struct tables {
	char text[32768];
};

static void read_tables(struct tables *t)
{
	static const char *const files[] = {
		"/proc/thread-self/net/snmp",
		"/proc/thread-self/net/netstat",
		"/proc/thread-self/net/snmp6",
	};
	int before = raw_enter("h2");
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		FILE *f = fopen(files[i], "r");

		if (!f)
			vt_bail("%s", files[i]);
		len += fread(t->text + len, 1, sizeof(t->text) - 1 - len, f);
		fclose(f);
	}
	t->text[len] = 0;
	raw_leave(before);
}

static long find_counter(const struct tables *t, const char *table, const char *name)
{
	const char *names = strstr(t->text, table), *values;
	char column[64];
	size_t len;

	if (!names)
		vt_bail("no table %s", table);
	values = strstr(names + 1, table);
	if (!values)
		vt_bail("no values of %s", table);
	snprintf(column, sizeof(column), " %s", name);
	len = strlen(column);
	names += strlen(table);
	values += strlen(table);
	while (*names == ' ') {
		if (!strncmp(names, column, len) && strchr("\n ", names[len]))
			return strtol(values, NULL, 10);
		names += 1 + strcspn(names + 1, "\n ");
		values += 1 + strcspn(values + 1, "\n ");
	}
	vt_bail("no counter %s of %s", name, table);
}

/* Finds a counter of IPv6, which has a line. */
static long find_counter6(const struct tables *t, const char *name)
{
	const char *line;
	char start[64];

	snprintf(start, sizeof(start), "\n%s ", name);
	line = strstr(t->text, start);
	if (!line)
		vt_bail("no counter %s", name);
	return strtol(line + strlen(start), NULL, 10);
}

/* Finds a counter in the table that has it. */
static long ip_counter(const struct tables *t, const char *name)
{
	if (strstr(name, "6"))
		return find_counter6(t, name);
	if (!strncmp(name, "Udp", 3))
		return find_counter(t, "\nUdp:", name + 3);
	if (strstr(name, "Pkts") || strstr(name, "Csum"))
		return find_counter(t, "\nIpExt:", name);
	return find_counter(t, "Ip:", name);
}

static uint16_t checksum(const void *data, size_t len, uint32_t sum)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* The ICRC of an IPv6 packet without extension headers, of len bytes before. */
static uint32_t icrc6(const uint8_t *packet, size_t len)
{
	static const uint8_t lrh[8] = { 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff };
	uint8_t hdr[60];			/* to the end of BTH */
	uint32_t crc;

	memcpy(hdr, packet, sizeof(hdr));
	hdr[0] |= 0xf;				/* traffic class */
	memset(hdr + 1, 0xff, 3);		/* and flow label */
	hdr[7] = 0xff;				/* hop limit */
	memset(hdr + 46, 0xff, 2);		/* checksum of UDP */
	hdr[52] = 0xff;				/* BTH: reserved */
	crc = raw_crc32(raw_crc32(~0U, lrh, 8), hdr, sizeof(hdr));
	return ~raw_crc32(crc, packet + sizeof(hdr), len - sizeof(hdr));
}

/*
 * Turns a valid IPv4 packet of raw_build() into the IPv6 packet of a frame.
 * Returns its length.
 */
static size_t to_ipv6(uint8_t *packet, const struct frame *f, size_t len)
{
	size_t udp_len = len - sizeof(struct iphdr), ext = 0;
	struct ip6_hdr *ip = (void *)packet;
	uint8_t *udp = packet + sizeof(*ip), next = IPPROTO_UDP;
	uint16_t check;
	uint32_t icrc;

	memmove(udp, packet + sizeof(struct iphdr), udp_len);
	*ip = (struct ip6_hdr){
		.ip6_flow = htonl((f->bad_version ? 5U : 6U) << 28 |
				  (uint32_t)f->raw.tos << 20 | 0x12345),
		.ip6_plen = htons((uint16_t)udp_len),
		.ip6_nxt = IPPROTO_UDP,
		.ip6_hlim = f->ttl ? f->ttl : 64,
	};
	memcpy(&ip->ip6_src, &a->gid6, 16);
	memcpy(&ip->ip6_dst, &b->gid6, 16);
	if (f->raw.stranger)
		ip->ip6_src.s6_addr[15] ^= 0x80;
	if (f->forwarded)	/* to an unused address of the same network */
		ip->ip6_dst.s6_addr[15] = 0x99;
	if (f->other_port)
		memcpy(udp + 2, &(uint16_t){ htons(4790) }, 2);
	icrc = icrc6(packet, sizeof(*ip) + udp_len - 4) ^ f->raw.icrc_error;
	memcpy(udp + udp_len - 4, &icrc, 4);
	if (f->udp_check) {	/* with the pseudo header */
		check = checksum(udp, udp_len,
				 (uint16_t)~ntohs(checksum(&ip->ip6_src, 32, 0)) +
				 IPPROTO_UDP + (uint32_t)udp_len);
		memcpy(udp + 6, &check, 2);
	}
	if (f->fragment || f->hop_by_hop) {
		ext = EXT_LEN;
		memmove(udp + ext, udp, udp_len);
		memset(udp, 0, ext);
		udp[0] = next;
		next = f->fragment ? IPPROTO_FRAGMENT : IPPROTO_HOPOPTS;
		if (f->fragment) {
			udp[3] = IP6_MORE_FRAGMENTS;
		} else {
			udp[2] = IP6OPT_PADN;
			udp[3] = EXT_LEN - 4;
		}
	}
	ip->ip6_nxt = next;
	ip->ip6_plen = htons((uint16_t)(udp_len + ext + f->tot_len));
	return sizeof(*ip) + ext + udp_len;
}

/* The same for IPv4. */
static void to_ipv4(uint8_t *packet, const struct frame *f, size_t len)
{
	struct iphdr *ip = (void *)packet;
	uint16_t *udp = (void *)(packet + ip->ihl * 4);

	if (f->other_port)
		udp[1] = htons(4790);
	if (f->udp_check)	/* with the pseudo header */
		udp[3] = checksum(udp, len - ip->ihl * 4,
				  (uint16_t)~ntohs(checksum(&ip->saddr, 8, 0)) +
				  IPPROTO_UDP + ntohs(udp[2]));
	if (f->ttl)
		ip->ttl = f->ttl;
	if (f->forwarded)	/* to an unused address of the same network */
		ip->daddr = inet_addr("10.77.0.99");
	if (f->fragment)
		ip->frag_off = htons(MORE_FRAGMENTS);
	ip->tot_len = htons((uint16_t)(len + f->tot_len));
	ip->check = checksum(packet, ip->ihl * 4, 0);
	if (f->bad_check)
		ip->check ^= 1;
}

static size_t build(uint8_t *out, const struct frame *f, uint32_t qpn)
{
	uint16_t protocol = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	struct ethhdr *eth = (void *)out;
	uint8_t *packet = out + sizeof(*eth) + (f->tagged ? VLAN_TAG : 0);
	struct raw raw = f->raw;
	size_t len;

	memset(out, 0, RAW_MAX + 64);
	raw.opcode = BTH_RC | BTH_ACKNOWLEDGE;
	raw.len = 4;
	raw.psn = 0x123;
	raw.qpn = f->unknown ? RAW_NOBODY : qpn;
	len = raw_build(packet, a, b, &raw);
	if (ipv6)
		len = to_ipv6(packet, f, len);
	else
		to_ipv4(packet, f, len);

	memcpy(eth->h_dest, mac_b, ETH_ALEN);
	eth->h_dest[ETH_ALEN - 1] ^= f->other_host;
	eth->h_proto = protocol;
	if (f->tagged) {	/* with a priority, and no VLAN */
		eth->h_proto = htons(ETH_P_8021Q);
		memcpy(eth + 1, &(uint16_t){ htons(0x2000) }, 2);
		memcpy((uint8_t *)(eth + 1) + 2, &protocol, 2);
	}
	return (size_t)(packet - out) + len + f->padding;
}

struct counts {
	long early, rcvd, drop, drops, ip_in, ip_delivers, udp_in, ip;
};

static struct counts count(const struct frame *f)
{
	struct tables t;

	read_tables(&t);
	return (struct counts){
		.early = vt_dev_counter(b, "rcvd_early_pkts"),
		.rcvd = vt_dev_counter(b, "rcvd_pkts"),
		.drop = f->drop ? vt_dev_counter(b, f->drop) : 0,
		.drops = vt_dev_counter(b, "drop_*"),
		/* Without the packets of IPv6 itself. */
		.ip_in = !ipv6 ? ip_counter(&t, "InReceives") :
			 ip_counter(&t, "Ip6InReceives") -
			 ip_counter(&t, "Ip6InMcastPkts"),
		.ip_delivers = !ipv6 ? ip_counter(&t, "InDelivers") :
			       ip_counter(&t, "Ip6InDelivers") -
			       ip_counter(&t, "Icmp6InMsgs"),
		.udp_in = ip_counter(&t, ipv6 ? "Udp6InDatagrams" : "UdpInDatagrams"),
		.ip = f->ip ? ip_counter(&t, f->ip) : 0,
	};
}

static bool arrived(const struct frame *f, const struct counts *before)
{
	struct counts now = count(f);

	return (f->no_ip || now.ip_in > before->ip_in) &&
	       (!f->ip || now.ip > before->ip) &&
	       (!f->drop || now.drop > before->drop);
}

static void test_frame(const struct vt_pair *p, const struct frame *f)
{
	uint8_t out[RAW_MAX + 64];
	size_t len = build(out, f, p->b.qp->qp_num);
	struct counts before = count(f), now;
	uint64_t limit = vt_now_ms() + VT_MS;

	if (sendto(fd, out, len, 0, (struct sockaddr *)&wire, sizeof(wire)) < 0)
		vt_bail("sendto");
	while (!arrived(f, &before) && vt_now_ms() < limit)
		usleep(1000);
	/* Wrong side effects could happen a little later. */
	usleep(SETTLE_US);
	now = count(f);
	is_int(now.early - before.early, f->early, "IPv%d, %s: %s",
	       ipv6 ? 6 : 4, f->what,
	       f->early ? "taken early" : "left to the IP layer");
	is_int(now.ip_in - before.ip_in, !f->no_ip, "... which %s it",
	       f->no_ip ? "never sees" : "counts");
	if (f->ip)
		is_int(now.ip - before.ip, 1, "... and %s", f->ip);
	if (f->drop)
		is_int(now.drop - before.drop, 1, "... dropped by mxe: %s",
		       f->drop);
	is_int(now.drops - before.drops, f->drop ? 1 : 0,
	       "... and for no other reason");
	if (f->early)
		ok(now.ip_delivers - before.ip_delivers == 1 &&
		   now.udp_in - before.udp_in == 1,
		   "... counted as delivered by IP and UDP");
}

/* Frames of either family. */
static const struct frame frames_of_both[] = {
	{ .what = "a wrong ICRC", .drop = "drop_icrc", .early = true,
	  .raw.icrc_error = 1 },
	{ .what = "an unknown source address", .drop = "drop_address",
	  .raw.stranger = true },
	{ .what = "an unassigned QP number", .drop = "drop_qpn",
	  .unknown = true },
	{ .what = "a checksum of UDP", .drop = UNSOLICITED, .udp_check = true },
	{ .what = "padding", .drop = UNSOLICITED, .early = true, .padding = 2 },
	{ .what = "for another host", .no_ip = true, .other_host = true },
	{ .what = "a priority tag", .drop = UNSOLICITED, .early = true,
	  .tagged = true },
};

static const struct frame frames_of_ipv4[] = {
	{ .what = "an acknowledgment", .ip = "InNoECTPkts", .drop = UNSOLICITED,
	  .early = true },
	{ .what = "an ECN-capable one", .ip = "InECT0Pkts", .drop = UNSOLICITED,
	  .early = true, .raw.tos = 2 },
	{ .what = "a congestion-marked one", .ip = "InCEPkts",
	  .drop = UNSOLICITED, .early = true, .raw.tos = 3 },
	{ .what = "one with a time to live of 1", .drop = UNSOLICITED,
	  .early = true, .ttl = 1 },
	{ .what = "to be forwarded, with the number of a local QP",
	  .ip = "ForwDatagrams", .forwarded = true },
	{ .what = "a wrong checksum of IP", .ip = "InCsumErrors",
	  .bad_check = true },
	{ .what = "fewer bytes than its IP header states",
	  .ip = "InTruncatedPkts", .tot_len = 2 },
	{ .what = "IP options", .drop = "drop_length", .raw.options = true },
	{ .what = "a fragment", .ip = "ReasmReqds", .fragment = true },
	{ .what = "another port", .ip = "UdpNoPorts", .other_port = true },
};

static const struct frame frames_of_ipv6[] = {
	{ .what = "an acknowledgment", .drop = UNSOLICITED, .early = true },
	{ .what = "an ECN-capable one", .ip = "Ip6InECT0Pkts",
	  .drop = UNSOLICITED, .early = true, .raw.tos = 2 },
	{ .what = "a congestion-marked one", .ip = "Ip6InCEPkts",
	  .drop = UNSOLICITED, .early = true, .raw.tos = 3 },
	{ .what = "one with a hop limit of 1", .drop = UNSOLICITED,
	  .early = true, .ttl = 1 },
	{ .what = "to be forwarded, with the number of a local QP",
	  .ip = "Ip6OutForwDatagrams", .forwarded = true },
	{ .what = "a wrong version", .ip = "Ip6InHdrErrors", .bad_version = true },
	{ .what = "fewer bytes than its IP header states",
	  .ip = "Ip6InTruncatedPkts", .tot_len = 2 },
	{ .what = "hop-by-hop options", .drop = "drop_length",
	  .hop_by_hop = true },
	{ .what = "a fragment", .ip = "Ip6ReasmReqds", .fragment = true },
	/* Only a socket can accept packets without a checksum. */
	{ .what = "another port", .ip = "Udp6InCsumErrors",
	  .other_port = true },
};

static void test_frames(const struct vt_pair *p, const struct frame *frames,
			size_t num)
{
	for (size_t i = 0; i < num; i++)
		test_frame(p, &frames[i]);
}

/* The interfaces that join the hosts. */
static void find_wire(void)
{
	struct ifreq ifr = { .ifr_name = "eth0" };
	int before = raw_enter("h1"), s;

	wire.sll_family = AF_PACKET;
	wire.sll_protocol = htons(ETH_P_IP);
	wire.sll_halen = ETH_ALEN;
	wire.sll_ifindex = (int)if_nametoindex("eth0");
	raw_leave(before);

	before = raw_enter("h2");
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (s < 0 || ioctl(s, SIOCGIFHWADDR, &ifr))
		vt_bail("address of eth0");
	memcpy(mac_b, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	close(s);
	raw_leave(before);
}

static void write_one(const char *path)
{
	int f = open(path, O_WRONLY);

	if (f < 0 || write(f, "1", 1) != 1)
		vt_bail("%s", path);
	close(f);
}

/* Makes the second host a router. */
static void forward(void)
{
	int before = raw_enter("h2");

	write_one("/proc/sys/net/ipv4/ip_forward");
	write_one("/proc/sys/net/ipv6/conf/all/forwarding");
	raw_leave(before);
}

/* Permanent, so that the hosts send no probes meanwhile. */
static void add_neighbours(void)
{
	static const char *const commands[] = {
		"ip -n h1 neigh replace fd77::2 dev eth0 lladdr $(ip netns exec h2 cat /sys/class/net/eth0/address)",
		"ip -n h2 neigh replace fd77::1 dev eth0 lladdr $(ip netns exec h1 cat /sys/class/net/eth0/address)",
	};

	for (int i = 0; i < 2; i++)
		if (system(commands[i]))
			vt_bail("ip neigh");
}

static void test_family(void)
{
	struct vt_wr wr = { .op = VT_FADD, .compare_add = 1 };
	struct vt_conf conf = vt_defaults();
	struct vt_pair p;
	uint64_t got;

	conf.ipv6 = ipv6;
	vt_pair_open(&p, a, b, &conf);
	/* The first packet of the connection takes the slow path. */
	is_int(vt_atomic(&p, &wr, 128, &got), IBV_WC_SUCCESS, "IPv%d, a connection",
	       ipv6 ? 6 : 4);
	test_frames(&p, frames_of_both, ARRAY_SIZE(frames_of_both));
	if (ipv6)
		test_frames(&p, frames_of_ipv6, ARRAY_SIZE(frames_of_ipv6));
	else
		test_frames(&p, frames_of_ipv4, ARRAY_SIZE(frames_of_ipv4));
	is_int(vt_atomic(&p, &wr, 128, &got), IBV_WC_SUCCESS, "... continues");
	is_u64(*vt_word(&p.b, 128), 2, "... and nothing else was executed");
	vt_pair_close(&p);
}

int main(void)
{
	plan(0);
	fd = raw_socket(AF_PACKET, 0);
	find_wire();
	forward();
	add_neighbours();
	a = vt_open(vt_name_a());
	b = vt_open(vt_name_b());
	test_family();
	ipv6 = true;
	test_family();
	vt_close(a);
	vt_close(b);
	return done_testing();
}
