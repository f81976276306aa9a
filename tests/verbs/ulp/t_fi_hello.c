// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: forged hellos, with which endpoints of type
 * FI_EP_RDM connect. This process has all endpoints: one on host h2 of
 * tools/two-hosts, its peers on h1. The forged hellos come from a raw socket.
 * With FI_MXE_DC=1, they and the connections are of DC.
 *
 * t_fi.sh runs it.
 */
#include "fi_end.h"
#include "raw.h"
#include "wire.h"

#define CAPS (FI_MSG | FI_RMA | FI_ATOMIC)
#define FLOOD 1500
#define MAX_GUESTS 256		/* conn.c */
#define UD_SEND_ONLY 0x64
#define HELLO_QKEY 0x11fab	/* ud.c */

/* DETH and a hello, as they are in a packet. */
struct datagram {
	uint32_t qkey, src_qpn;
	struct mxefi_hello hello;
};

static struct end b;		/* the target */
static uint64_t word;		/* of b */
static struct fid_mr *mr;
static struct mxefi_addr name_b;
static int raw;
static uint32_t dc;		/* MXEFI_DC_CONN, or 0 */

static struct mxefi_addr name_of(struct fid_ep *ep)
{
	struct mxefi_addr name;
	size_t len = sizeof(name);

	must(fi_getname(&ep->fid, &name, &len), "fi_getname");
	return name;
}

/* Sends a hello to b from an IPv4 address. */
static void forge_from(const struct mxefi_hello *hello, const uint8_t *from)
{
	struct datagram d = {
		.qkey = htonl(HELLO_QKEY),
		.src_qpn = htonl(hello->src.qpn),
		.hello = *hello,
	};
	struct raw_bth bth = {
		.opcode = UD_SEND_ONLY,
		.pkey = htons(BTH_DEFAULT_PKEY),
		.qpn = htonl(name_b.qpn),
	};
	struct sockaddr_in addr = { .sin_family = AF_INET };
	uint8_t packet[RAW_MAX];
	size_t len;

	d.hello.magic = MXEFI_WIRE_MAGIC;
	d.hello.dst_id = name_b.id;
	d.hello.mtu = IBV_MTU_1024;
	len = raw_plain(packet, from, name_b.gid + 12, &bth, &d, sizeof(d));
	memcpy(&addr.sin_addr, name_b.gid + 12, 4);
	if (sendto(raw, packet, len, 0, (struct sockaddr *)&addr,
		   sizeof(addr)) != (ssize_t)len)
		must(-errno, "sendto");
}

/* Sends a hello to b from the source address in the hello. */
static void forge(const struct mxefi_hello *hello)
{
	forge_from(hello, hello->src.gid + 12);
}

/* Opens a peer on h1 that knows b. */
static fi_addr_t open_peer(struct end *e)
{
	fi_addr_t addr;

	enter("h1");
	open_end(e, CAPS);
	must(fi_av_insert(e->av, &name_b, 1, &addr, 0, NULL) - 1,
	     "fi_av_insert");
	return addr;
}

/* Adds 1 to the word of b. Returns 0 or the error of the operation. */
static int add(struct end *e, fi_addr_t addr)
{
	uint64_t one = 1, old;

	must(fi_fetch_atomic(e->ep, &one, 1, NULL, &old, NULL, addr,
			     (uintptr_t)&word, fi_mr_key(mr), FI_UINT64, FI_SUM,
			     &one), "fi_fetch_atomic");
	return wait_one(e->cq, &one);
}

static void open_target(void)
{
	enter("h2");
	open_end(&b, CAPS);
	must(fi_mr_reg(b.domain, &word, 8, FI_REMOTE_WRITE | FI_REMOTE_READ, 0,
		       0, 0, &mr, NULL), "fi_mr_reg");
	name_b = name_of(b.ep);
}

static void close_target(void)
{
	must(fi_close(&mr->fid), "fi_close mr");
	is_int(close_end(&b), 0, "all objects of the target are closed");
}

/* Returns the number of queue pairs of the target's device. */
static int count_qps(void)
{
	char line[256] = "";
	int qps = -1;
	FILE *f = popen("rdma resource show mxe2", "r");
	char *at;

	if (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, " qp ");
		if (at)
			qps = atoi(at + 4);
	}
	if (f)
		pclose(f);
	return qps;
}

/*
 * Waits up to 10 s until the target has at least this number of queue pairs.
 * Returns their number.
 */
static int await_qps(int num)
{
	int qps = count_qps();

	for (int i = 0; i < 100 && qps < num; i++) {
		usleep(100000);
		qps = count_qps();
	}
	return qps;
}

/*
 * Hellos that say an address of a host that does not exist. Resolving it would
 * block the target.
 */
static void test_address(const struct mxefi_addr *a)
{
	struct mxefi_hello hello = { .src = *a, .epoch = 1, .psn = 1 };
	int before = count_qps();

	hello.src.gid[15] = 99;
	for (uint32_t i = 0; i < 10; i++) {
		hello.src.id = 0x4321567800000001 + i;
		hello.qpn = dc | (0x900000 + i);
		forge_from(&hello, a->gid + 12);
	}
	usleep(100000);
	ok(before > 0 && count_qps() == before,
	   "hellos from another address than they say are ignored");
	if (dc)
		return;
	hello.src = *a;
	hello.src.id = 0x4321567800000001;
	forge(&hello);
	is_int(await_qps(before + 1), before + 1,
	       "... but not one from its address");
}

/* Hellos of peers that do not exist, with numbers from first on. */
static void flood(const struct mxefi_addr *a, uint32_t first)
{
	struct mxefi_hello hello = { .src = *a, .epoch = 1, .psn = 1 };

	for (uint32_t i = first; i < first + FLOOD; i++) {
		hello.src.qpn = 0x800000 + i;
		hello.src.id = 0x1234567800000001 + i;
		hello.qpn = dc | (0x900000 + i);
		forge(&hello);
		if (i % 16 == 15)
			usleep(4000);
	}
	usleep(100000);
}

/* A target that does not get the CPU meanwhile has no room for the hellos. */
static void test_flood(const struct mxefi_addr *a)
{
	int before = count_qps(), qps = 0;

	/* It makes no queue pairs. */
	if (dc) {
		flood(a, 0);
		is_int(count_qps(), before, "forged hellos");
		return;
	}
	for (uint32_t i = 0; i < 20 && qps < 100; i++) {
		flood(a, i * FLOOD);
		qps = count_qps() - before;
	}
	ok(before > 0 && qps >= 100, "forged hellos make queue pairs: %d", qps);
	ok(qps <= MAX_GUESTS, "... not more than %d", MAX_GUESTS);
}

/* Hellos with the address of a peer that is connected. */
static void test_impostor(const struct mxefi_addr *a)
{
	static const uint32_t flags[] = { 0, MXEFI_HELLO_ACK };
	struct mxefi_hello hello = { .src = *a, .qpn = dc | 0x987654, .psn = 1 };

	for (uint32_t i = 0; i < 20; i++) {
		hello.flags = flags[i % 2];
		hello.epoch = 0x7fffff00 + i;
		hello.peer_token = i < 10 ? 0 : 0x5555 + i;
		forge(&hello);
	}
	usleep(200000);
}

/* The endpoint accepts no more peers than FI_MXE_MAX_CONNECTIONS. */
static void test_limit(void)
{
	struct end peers[3];
	fi_addr_t addrs[3];

	setenv("FI_MXE_MAX_CONNECTIONS", "2", 1);
	open_target();
	unsetenv("FI_MXE_MAX_CONNECTIONS");
	for (int i = 0; i < 2; i++) {
		addrs[i] = open_peer(&peers[i]);
		is_int(add(&peers[i], addrs[i]), 0, "peer %d of 2 connects",
		       i + 1);
	}
	setenv("FI_MXE_CONNECT_TIMEOUT", "1500", 1);
	addrs[2] = open_peer(&peers[2]);
	unsetenv("FI_MXE_CONNECT_TIMEOUT");
	is_int(add(&peers[2], addrs[2]), FI_EHOSTUNREACH,
	       "another one does not");
	is_int(close_end(&peers[2]), 0, "... and is closed");
	is_int(close_end(&peers[0]), 0, "one of the two is closed");
	addrs[2] = open_peer(&peers[2]);
	is_int(add(&peers[2], addrs[2]), 0, "... and makes room");
	is_int(add(&peers[1], addrs[1]), 0, "the other one stays connected");
	is_int(close_end(&peers[1]), 0, "... and is closed");
	is_int(close_end(&peers[2]), 0, "the new one is closed");
	close_target();
}

int main(void)
{
	struct end a, late, victim;
	fi_addr_t from_a, from_late, from_victim;
	struct mxefi_addr name;
	const char *env = getenv("FI_MXE_DC");
	struct mxefi_hello hello = { .epoch = 0x7fffffff, .psn = 1 };

	plan(0);
	dc = env && atoi(env) ? MXEFI_DC_CONN : 0;
	hello.qpn = dc | 5;
	raw = raw_open();
	open_target();
	from_a = open_peer(&a);
	name = name_of(a.ep);
	is_int(add(&a, from_a), 0, "a peer is connected");

	test_address(&name);
	test_flood(&name);
	is_int(add(&a, from_a), 0, "the peer is still connected");
	from_late = open_peer(&late);
	is_int(add(&late, from_late), 0, "another peer connects");

	test_impostor(&name);
	is_int(add(&a, from_a), 0,
	       "hellos in its name do not break the connection of a peer");

	from_victim = open_peer(&victim);
	hello.src = name_of(victim.ep);
	forge(&hello);
	usleep(100000);
	is_int(add(&victim, from_victim), 0,
	       "a peer connects after a hello in its name");
	is_u64(word, 5, "all atomics were executed");

	is_int(close_end(&a), 0, "a peer is closed");
	is_int(close_end(&late), 0, "... another one");
	is_int(close_end(&victim), 0, "... and the last one");
	close_target();
	test_limit();
	return done_testing();
}
