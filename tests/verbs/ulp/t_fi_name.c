// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric finds endpoints by node and service, for
 * programs that exchange no addresses: FI_EP_RDM and FI_EP_MSG from h1 to h2.
 * The server learns the address of its peer from a message.
 *
 * t_fi.sh runs it.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "fi_end.h"
#include "wire.h"

#define SERVER "10.77.0.2"
#define RDM_SERVICE "9228"
#define MSG_SERVICE "9229"
#define OTHER_SERVICE "9230"
#define ADDR_SIZE 32

static struct fi_info *hints_of(enum fi_ep_type type)
{
	struct fi_info *hints = fi_allocinfo();

	hints->fabric_attr->prov_name = strdup("mxe");
	hints->ep_attr->type = type;
	hints->caps = FI_MSG;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	return hints;
}

static int getinfo(const char *node, const char *service, uint64_t flags,
		   enum fi_ep_type type, struct fi_info **info)
{
	struct fi_info *hints = hints_of(type);
	int ret = fi_getinfo(FI_VERSION(1, 15), node, service, flags, hints,
			     info);

	fi_freeinfo(hints);
	return ret;
}

/* Opens everything with an entry of fi_getinfo(). */
static void open_all(struct end *e, struct fi_info *info)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED,
				 .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cntr_attr cntr = { .events = FI_CNTR_EVENTS_COMP };

	e->info = info;
	must(fi_fabric(info->fabric_attr, &e->fabric, NULL), "fi_fabric");
	must(fi_eq_open(e->fabric, &eq, &e->eq, NULL), "fi_eq_open");
	must(fi_domain(e->fabric, info, &e->domain, NULL), "fi_domain");
	must(fi_av_open(e->domain, &av, &e->av, NULL), "fi_av_open");
	must(fi_cq_open(e->domain, &cq, &e->cq, NULL), "fi_cq_open");
	must(fi_cntr_open(e->domain, &cntr, &e->cntr, NULL), "fi_cntr_open");
	e->ep = open_ep(e, e->cq);
}

/* Reads an event of connections and returns its type. */
static uint32_t event_of(struct fid_eq *eq, struct fi_eq_cm_entry *entry)
{
	uint32_t event = 0;

	must(fi_eq_sread(eq, &event, entry, sizeof(*entry), TIMEOUT_MS, 0),
	     "fi_eq_sread");
	return event;
}

/* ---- the server -------------------------------------------------------- */

/* Answers the first message, which contains the address of the peer. */
static void serve_rdm(void)
{
	uint8_t buf[ADDR_SIZE];
	struct fi_info *info;
	fi_addr_t peer;
	struct end e;

	must(getinfo(NULL, RDM_SERVICE, FI_SOURCE, FI_EP_RDM, &info),
	     "fi_getinfo");
	open_all(&e, info);
	must(fi_recv(e.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, buf),
	     "fi_recv");
	must(-wait_one(e.cq, buf), "wait for a message");
	must(fi_av_insert(e.av, buf, 1, &peer, 0, NULL) - 1, "fi_av_insert");
	must(fi_send(e.ep, "answer", 6, NULL, peer, &peer), "fi_send");
	must(-wait_one(e.cq, &peer), "wait for the answer");
	must(close_end(&e), "fi_close");
}

static void serve_msg(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_eq_cm_entry entry;
	struct fid_fabric *fabric;
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_eq *eq;
	struct end e;

	must(getinfo(SERVER, MSG_SERVICE, FI_SOURCE, FI_EP_MSG, &info),
	     "fi_getinfo");
	must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
	must(fi_eq_open(fabric, &eq_attr, &eq, NULL), "fi_eq_open");
	must(fi_passive_ep(fabric, info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &eq->fid, 0), "fi_pep_bind");
	must(fi_listen(pep), "fi_listen");
	if (event_of(eq, &entry) != FI_CONNREQ)
		exit(1);
	open_all(&e, entry.info);
	must(fi_accept(e.ep, NULL, 0), "fi_accept");
	if (event_of(e.eq, &entry) != FI_CONNECTED)
		exit(1);
	/* The peer ends the connection. */
	if (event_of(e.eq, &entry) != FI_SHUTDOWN)
		exit(1);
	must(close_end(&e), "fi_close");
	must(fi_close(&pep->fid), "fi_close pep");
	must(fi_close(&eq->fid), "fi_close eq");
	must(fi_close(&fabric->fid), "fi_close fabric");
	fi_freeinfo(info);
}

/* ---- the client -------------------------------------------------------- */

static void test_info(void)
{
	struct fi_info *hints = hints_of(FI_EP_RDM), *info = NULL;

	is_int(getinfo(NULL, RDM_SERVICE, FI_SOURCE, FI_EP_RDM, &info), 0,
	       "fi_getinfo() with a service and FI_SOURCE");
	ok(info && info->src_addrlen == ADDR_SIZE && !info->dest_addr,
	   "... has a source address");
	ok(info && info->domain_attr->data_progress == FI_PROGRESS_MANUAL,
	   "... has the progress that the program asked for");
	fi_freeinfo(info);
	info = NULL;
	is_int(getinfo("127.0.0.1", RDM_SERVICE, 0, FI_EP_RDM, &info), 0,
	       "fi_getinfo() with a node and a service");
	ok(info && info->src_addr && info->dest_addrlen == ADDR_SIZE,
	   "... has both addresses");
	fi_freeinfo(info);
	info = NULL;
	is_int(getinfo("127.0.0.1", NULL, 0, FI_EP_RDM, &info), 0,
	       "fi_getinfo() with a node alone");
	ok(info && info->src_addr && info->dest_addrlen == ADDR_SIZE,
	   "... has both addresses, too");
	fi_freeinfo(info);
	hints->src_addrlen = ADDR_SIZE;
	is_int(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info), 0,
	       "fi_getinfo() with the length of a source address that is NULL");
	fi_freeinfo(info);
	fi_freeinfo(hints);
	is_int(getinfo(SERVER, NULL, FI_SOURCE, FI_EP_RDM, &info), -FI_ENODATA,
	       "no device has the address of another host");
	is_int(getinfo("10.77.0.1", NULL, FI_SOURCE | FI_NUMERICHOST, FI_EP_RDM,
		       &info), 0, "fi_getinfo() with the address of a device");
	fi_freeinfo(info);
	is_int(getinfo("no.such.host.invalid", RDM_SERVICE, FI_NUMERICHOST,
		       FI_EP_RDM, &info), -FI_ENODATA,
	       "a name is not an address");
}

/*
 * Waits for two completions in any order, because a response may arrive before
 * the acknowledgement of its request.
 */
static bool wait_both(struct fid_cq *cq, const void *a, const void *b)
{
	struct fi_cq_tagged_entry first, second;

	if (fi_cq_sread(cq, &first, 1, NULL, TIMEOUT_MS) != 1 ||
	    fi_cq_sread(cq, &second, 1, NULL, TIMEOUT_MS) != 1)
		return false;
	return (first.op_context == a && second.op_context == b) ||
	       (first.op_context == b && second.op_context == a);
}

static void test_rdm(void)
{
	uint8_t name[ADDR_SIZE], answer[6];
	size_t len = sizeof(name);
	struct fi_info *info, *node;
	fi_addr_t peer;
	struct end e;

	must(getinfo(SERVER, RDM_SERVICE, 0, FI_EP_RDM, &info), "fi_getinfo");
	open_all(&e, info);
	is_int(fi_av_insert(e.av, info->dest_addr, 1, &peer, 0, NULL), 1,
	       "fi_av_insert() of the destination asks for the endpoint");
	must(fi_getname(&e.ep->fid, name, &len), "fi_getname");
	must(fi_recv(e.ep, answer, sizeof(answer), NULL, FI_ADDR_UNSPEC,
		     answer), "fi_recv");
	must(fi_send(e.ep, name, len, NULL, peer, name), "fi_send");
	ok(wait_both(e.cq, name, answer), "a message reaches it and is answered");
	ok(!memcmp(answer, "answer", 6), "... correctly");
	must(getinfo(SERVER, NULL, 0, FI_EP_RDM, &node), "fi_getinfo");
	is_int(fi_av_insert(e.av, node->dest_addr, 1, &peer, 0, NULL), 0,
	       "a node without a service is no endpoint");
	fi_freeinfo(node);
	is_int(fi_av_insertsvc(e.av, SERVER, "9", &peer, 0, NULL), 0,
	       "no endpoint answers on another port");
	ok(peer == FI_ADDR_NOTAVAIL, "... so there is no address");
	peer = 0;
	is_int(fi_av_remove(e.av, &peer, 1, 0), 0, "fi_av_remove()");
	is_int(fi_av_insert(e.av, name, 1, &peer, 0, NULL), 1,
	       "fi_av_insert() again");
	is_u64(peer, 0, "... reuses the index");
	is_int(close_end(&e), 0, "all objects are closed");
}

static void test_msg(void)
{
	struct fi_eq_cm_entry entry;
	struct fi_info *info;
	struct end e;

	must(getinfo(SERVER, MSG_SERVICE, 0, FI_EP_MSG, &info), "fi_getinfo");
	open_all(&e, info);
	is_int(fi_connect(e.ep, info->dest_addr, NULL, 0), 0,
	       "fi_connect() to the destination");
	is_int(event_of(e.eq, &entry), FI_CONNECTED, "... connects");
	is_int(fi_shutdown(e.ep, 0), 0, "fi_shutdown()");
	is_int(close_end(&e), 0, "all objects are closed");
}

static void ask(int fd, const void *msg, size_t len)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(OTHER_SERVICE)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	if (sendto(fd, msg, len, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		must(-errno, "sendto");
}

/*
 * Questions of another length, magic number or type get no answer, and a valid
 * one gets the address of the endpoint.
 */
static void test_questions(void)
{
	struct mxefi_name_msg msg = { .magic = MXEFI_WIRE_MAGIC,
				      .type = MXEFI_NAME_QUESTION };
	struct timeval second = { .tv_sec = 1 };
	uint8_t longer[sizeof(msg) + 1] = { 0 };
	struct mxefi_name_msg answer;
	struct mxefi_addr name;
	size_t len = sizeof(name);
	struct fi_info *info;
	struct end e;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	must(getinfo(NULL, OTHER_SERVICE, FI_SOURCE, FI_EP_RDM, &info),
	     "fi_getinfo");
	open_all(&e, info);
	must(fi_getname(&e.ep->fid, &name, &len), "fi_getname");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	memcpy(longer, &msg, sizeof(msg));
	for (size_t n = 0; n < sizeof(msg); n += 8)
		ask(fd, longer, n);
	ask(fd, longer, sizeof(longer));
	msg.magic++;
	ask(fd, &msg, sizeof(msg));
	msg.magic--;
	msg.type = MXEFI_NAME_ANSWER;
	ask(fd, &msg, sizeof(msg));
	ok(recv(fd, &answer, sizeof(answer), 0) < 0,
	   "malformed questions get no answer");
	msg.type = MXEFI_NAME_QUESTION;
	msg.cookie = 26;
	ask(fd, &msg, sizeof(msg));
	ok(recv(fd, &answer, sizeof(answer), 0) == sizeof(answer) &&
	   answer.cookie == msg.cookie &&
	   !memcmp(&answer.addr, &name, sizeof(name)),
	   "... but a valid one gets the address");
	close(fd);
	is_int(close_end(&e), 0, "all objects are closed");
}

/* Makes this process see a kernel without IPv6. */
static void forbid_ipv6(void)
{
	const uint32_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args) + low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(*code),
				     .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		must(-errno, "prctl");
	is_int(socket(AF_INET6, SOCK_DGRAM, 0), -1, "without IPv6");
}

int main(void)
{
	int status = -1;
	pid_t pid;

	plan(0);
	pid = fork();
	if (!pid) {
		enter("h2");
		serve_rdm();
		serve_msg();
		exit(0);
	}
	enter("h1");
	test_info();
	test_rdm();
	test_msg();
	test_questions();
	forbid_ipv6();
	test_questions();
	waitpid(pid, &status, 0);
	is_int(status, 0, "the server exits with 0");
	return done_testing();
}
