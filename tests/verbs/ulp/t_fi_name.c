// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric finds endpoints by node and service, for
 * programs that exchange no addresses: FI_EP_RDM and FI_EP_MSG from h1 to h2.
 * The server learns the address of its peer from a message.
 *
 * t_fi.sh runs it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "fi_end.h"

#define SERVER "10.77.0.2"
#define RDM_SERVICE "9228"
#define MSG_SERVICE "9229"
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
	is_int(getinfo("localhost", RDM_SERVICE, 0, FI_EP_RDM, &info), 0,
	       "fi_getinfo() with a node and a service");
	ok(info && info->src_addr && info->dest_addrlen == ADDR_SIZE,
	   "... has both addresses");
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

static void test_rdm(void)
{
	uint8_t name[ADDR_SIZE], answer[6];
	size_t len = sizeof(name);
	struct fi_info *info;
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
	is_int(wait_one(e.cq, name), 0, "a message reaches it");
	is_int(wait_one(e.cq, answer), 0, "... and is answered");
	ok(!memcmp(answer, "answer", 6), "... correctly");
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

/* Questions that are too short, or of another type, get no answer. */
static void test_silence(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(9230) };
	struct timeval second = { .tv_sec = 1 };
	uint8_t msg[48] = { 0 };
	struct fi_info *info;
	struct end e;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	must(getinfo(NULL, "9230", FI_SOURCE, FI_EP_RDM, &info), "fi_getinfo");
	open_all(&e, info);
	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	for (size_t n = 0; n <= sizeof(msg); n += 8)
		sendto(fd, msg, n, 0, (struct sockaddr *)&to, sizeof(to));
	ok(recv(fd, msg, sizeof(msg), 0) < 0,
	   "malformed questions get no answer");
	close(fd);
	is_int(close_end(&e), 0, "all objects are closed");
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
	test_silence();
	waitpid(pid, &status, 0);
	is_int(status, 0, "the server exits with 0");
	return done_testing();
}
