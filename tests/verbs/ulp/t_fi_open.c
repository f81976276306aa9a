// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric: what programs open is as they have asked for
 * it, and accepts what other providers accept. All objects are on host h1 of
 * tools/two-hosts.
 *
 * t_fi.sh runs it.
 */
#include <poll.h>
#include <pthread.h>
#include "fi_end.h"

#define ADDR_SIZE 32

static uint64_t word;

/* An endpoint that communicates with itself, and a region of its memory. */
struct loop {
	struct end e;
	uint8_t name[ADDR_SIZE];
	fi_addr_t self;
	struct fid_mr *mr;
};

static void open_loop(struct loop *l, uint64_t caps)
{
	size_t len = sizeof(l->name);

	open_end(&l->e, caps);
	must(fi_getname(&l->e.ep->fid, l->name, &len), "fi_getname");
	must(fi_av_insert(l->e.av, l->name, 1, &l->self, 0, NULL) - 1,
	     "fi_av_insert");
	must(fi_mr_reg(l->e.domain, &word, sizeof(word),
		       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &l->mr, NULL),
	     "fi_mr_reg");
}

static void close_ep(struct end *e)
{
	must(fi_close(&e->ep->fid), "fi_close ep");
	e->ep = NULL;
}

static void close_loop(struct loop *l)
{
	must(fi_close(&l->mr->fid), "fi_close mr");
	is_int(close_end(&l->e), 0, "all objects are closed");
}

/* ---- capabilities ------------------------------------------------------ */

#define MSG_DIRS (FI_SEND | FI_RECV)
#define RMA_DIRS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* Without a modifier, a primary capability has all of them. */
static void test_caps(void)
{
	static const struct {
		uint64_t hints, want;
		const char *name;
	} cases[] = {
		{ FI_MSG | FI_RMA, MSG_DIRS | RMA_DIRS, "FI_MSG, FI_RMA" },
		{ FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE,
		  MSG_DIRS | FI_WRITE | FI_REMOTE_WRITE,
		  "FI_MSG, FI_RMA to write" },
		{ FI_TAGGED | FI_ATOMIC | FI_SEND, FI_SEND | RMA_DIRS,
		  "FI_TAGGED to send, FI_ATOMIC" },
		{ FI_MSG | FI_RECV, FI_RECV, "FI_MSG to receive" },
		{ FI_RMA | FI_REMOTE_READ, FI_REMOTE_READ,
		  "FI_RMA to be read" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fi_info *info = NULL, *hints = fi_allocinfo();
		uint64_t dirs = MSG_DIRS | RMA_DIRS;

		hints->fabric_attr->prov_name = strdup("mxe");
		hints->caps = cases[i].hints;
		hints->domain_attr->mr_mode =
			FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
		must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &info),
		     "fi_getinfo");
		is_u64(info->caps & dirs, cases[i].want, "modifiers of %s",
		       cases[i].name);
		is_u64((info->tx_attr->caps | info->rx_attr->caps) & dirs,
		       cases[i].want, "... of the two contexts");
		fi_freeinfo(info);
		fi_freeinfo(hints);
	}
}

/* An endpoint for writing and messages can do both. */
static void test_write_and_send(void)
{
	uint8_t text[4];
	struct loop l;

	open_loop(&l, FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE);
	is_int((int)fi_recv(l.e.ep, text, sizeof(text), NULL, l.self, text), 0,
	       "it receives");
	is_int((int)fi_inject(l.e.ep, "text", 4, l.self), 0, "... and sends");
	is_int(wait_one(l.e.cq, text), 0, "... a message");
	is_int((int)fi_write(l.e.ep, "writing", 8, NULL, l.self,
			     (uintptr_t)&word, fi_mr_key(l.mr), &word), 0,
	       "... and writes");
	is_int(wait_one(l.e.cq, &word), 0, "... successfully");
	ok(!memcmp(&word, "writing", 8), "... the right bytes");
	is_int((int)fi_read(l.e.ep, &word, 8, NULL, l.self, (uintptr_t)&word,
			    fi_mr_key(l.mr), NULL), -FI_EOPNOTSUPP,
	       "... but does not read");
	close_loop(&l);
}

/* ---- fabrics ----------------------------------------------------------- */

static void test_fabric(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_eq *eq;
	struct end e;

	open_end(&e, FI_MSG);
	is_int(fi_close(&e.fabric->fid), -FI_EBUSY,
	       "a fabric with open objects cannot be closed");
	must(fi_eq_open(e.fabric, &eq_attr, &eq, NULL), "fi_eq_open");
	must(fi_close(&e.ep->fid) ? : fi_close(&e.cntr->fid) ? :
	     fi_close(&e.cq->fid) ? : fi_close(&e.av->fid) ? :
	     fi_close(&e.eq->fid), "fi_close");
	is_int(fi_close(&e.fabric->fid), -FI_EBUSY,
	       "... nor one with a domain and an event queue");
	must(fi_close(&e.domain->fid), "fi_close domain");
	is_int(fi_close(&e.fabric->fid), -FI_EBUSY,
	       "... nor one with an event queue");
	must(fi_close(&eq->fid), "fi_close eq");
	is_int(fi_close(&e.fabric->fid), 0, "... but without any, it can");
	fi_freeinfo(e.info);
}

/* ---- completion queues ------------------------------------------------- */

#define NUM_READERS 3

struct reader {
	pthread_t thread;
	struct fid_cq *cq;
	pid_t tid;		/* atomic; 0 before it starts */
	ssize_t ret;
};

static void *read_cq(void *arg)
{
	struct fi_cq_tagged_entry entry;
	struct reader *r = arg;

	__atomic_store_n(&r->tid, gettid(), __ATOMIC_RELEASE);
	r->ret = fi_cq_sread(r->cq, &entry, 1, NULL, -1);
	return NULL;
}

static bool is_asleep(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d %*s %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/*
 * Waits until the readers sleep in fi_cq_sread(). They also sleep for the short
 * time that another thread has the lock, so look several times.
 */
static void wait_asleep(const struct reader *readers)
{
	for (int seen = 0; seen < 10; poll(NULL, 0, 20)) {
		seen++;
		for (int i = 0; i < NUM_READERS; i++) {
			pid_t tid = __atomic_load_n(&readers[i].tid,
						    __ATOMIC_ACQUIRE);

			if (!tid || !is_asleep(tid))
				seen = 0;
		}
	}
}

static void test_signal(void)
{
	struct reader readers[NUM_READERS] = { 0 };
	struct fi_cq_tagged_entry entry;
	struct timespec end;
	int woken = 0;
	struct end e;

	open_end(&e, FI_MSG);
	for (int i = 0; i < NUM_READERS; i++) {
		readers[i].cq = e.cq;
		must(-pthread_create(&readers[i].thread, NULL, read_cq,
				     &readers[i]), "pthread_create");
	}
	wait_asleep(readers);
	must(fi_cq_signal(e.cq), "fi_cq_signal");
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	for (int i = 0; i < NUM_READERS; i++)
		if (!pthread_timedjoin_np(readers[i].thread, NULL, &end))
			woken += readers[i].ret == -FI_EAGAIN;
	is_int(woken, NUM_READERS, "fi_cq_signal() wakes all readers");
	/* The test cannot go on with threads that read its queue. */
	if (woken < NUM_READERS)
		exit(1);
	is_int((int)fi_cq_sread(e.cq, &entry, 1, NULL, 10), -FI_EAGAIN,
	       "... once");
	must(fi_cq_signal(e.cq), "fi_cq_signal");
	is_int((int)fi_cq_sread(e.cq, &entry, 1, NULL, -1), -FI_EAGAIN,
	       "a signal without a reader is for the next one");
	is_int(close_end(&e), 0, "all objects are closed");
}

/* A threshold is an optimisation: fewer events wake readers, too. */
static void test_threshold(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED,
				   .wait_obj = FI_WAIT_FD,
				   .wait_cond = FI_CQ_COND_THRESHOLD };
	const size_t threshold = 2;
	struct fi_cq_tagged_entry entry;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct loop l;

	open_loop(&l, FI_MSG);
	is_int(fi_cq_open(l.e.domain, &attr, &cq, NULL), 0,
	       "a completion queue with FI_CQ_COND_THRESHOLD");
	ep = open_ep(&l.e, cq);
	must(fi_send(ep, "a", 1, NULL, l.self, NULL), "fi_send");
	is_int((int)fi_cq_sread(cq, &entry, 1, &threshold, TIMEOUT_MS), 1,
	       "... reports an event");
	must(fi_close(&ep->fid), "fi_close ep");
	must(fi_close(&cq->fid), "fi_close cq");
	attr.wait_cond = FI_CQ_COND_THRESHOLD + 1;
	is_int(fi_cq_open(l.e.domain, &attr, &cq, NULL), -FI_EINVAL,
	       "an unknown condition is not valid");
	attr = (struct fi_cq_attr){ .wait_obj = FI_WAIT_YIELD };
	is_int(fi_cq_open(l.e.domain, &attr, &cq, NULL), 0,
	       "a completion queue with FI_WAIT_YIELD");
	must(fi_close(&cq->fid), "fi_close cq");
	close_loop(&l);
}

/* ---- counters ---------------------------------------------------------- */

static bool is_readable(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout) == 1;
}

static void test_cntr_fd(void)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP,
				     .wait_obj = FI_WAIT_FD };
	enum fi_wait_obj obj = FI_WAIT_NONE;
	struct fid_cntr *cntr;
	struct fid *fid;
	struct loop l;
	int fd = -1;

	open_loop(&l, FI_RMA);
	is_int(fi_cntr_open(l.e.domain, &attr, &cntr, NULL), 0,
	       "a counter with FI_WAIT_FD");
	is_int(fi_control(&cntr->fid, FI_GETWAIT, &fd), 0,
	       "... has a descriptor");
	is_int(fi_control(&cntr->fid, FI_GETWAITOBJ, &obj), 0,
	       "... and a wait object");
	is_int(obj, FI_WAIT_FD, "... of this type");
	must(fi_ep_bind(l.e.ep, &cntr->fid, FI_READ), "fi_ep_bind");
	fid = &cntr->fid;
	is_int(fi_trywait(l.e.fabric, &fid, 1), 0, "the program may wait");
	ok(!is_readable(fd, 0), "... before an event");
	must(fi_read(l.e.ep, &word, 8, NULL, l.self, (uintptr_t)&word,
		     fi_mr_key(l.mr), &word), "fi_read");
	ok(is_readable(fd, TIMEOUT_MS), "an event makes it readable");
	is_int(fi_trywait(l.e.fabric, &fid, 1), -FI_EAGAIN,
	       "the program has to read the counter first");
	is_u64(fi_cntr_read(cntr), 1, "... which has the event");
	ok(!is_readable(fd, 0), "then it is not readable");
	is_int(fi_trywait(l.e.fabric, &fid, 1), 0, "... and it may wait again");
	must(fi_cntr_adderr(cntr, 1), "fi_cntr_adderr");
	ok(is_readable(fd, 0), "an error makes it readable");
	is_u64(fi_cntr_readerr(cntr), 1, "... and is counted");
	ok(!is_readable(fd, 0), "then it is not readable");
	close_ep(&l.e);
	must(fi_close(&cntr->fid), "fi_close cntr");
	attr.wait_obj = FI_WAIT_YIELD;
	is_int(fi_cntr_open(l.e.domain, &attr, &cntr, NULL), 0,
	       "a counter with FI_WAIT_YIELD");
	is_int(fi_control(&cntr->fid, FI_GETWAIT, &fd), -FI_ENOSYS,
	       "... has no descriptor");
	must(fi_close(&cntr->fid), "fi_close cntr");
	close_loop(&l);
}

/* ---- endpoints --------------------------------------------------------- */

/* Completion queues and counters that are bound after fi_enable(). */
static void test_bind_late(void)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct fi_cq_tagged_entry entry;
	struct fid_cntr *cntr, *reads;
	struct fid_ep *ep;
	struct loop l;

	open_loop(&l, FI_MSG | FI_RMA);
	must(fi_cntr_open(l.e.domain, &attr, &cntr, NULL), "fi_cntr_open");
	must(fi_cntr_open(l.e.domain, &attr, &reads, NULL), "fi_cntr_open");
	must(fi_endpoint(l.e.domain, l.e.info, &ep, NULL), "fi_endpoint");
	must(fi_ep_bind(ep, &l.e.av->fid, 0), "fi_ep_bind av");
	must(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_RECV), "fi_ep_bind cntr");
	must(fi_enable(ep), "fi_enable");
	is_int(fi_ep_bind(ep, &reads->fid, FI_READ), 0,
	       "a counter is bound after fi_enable()");
	is_int(fi_ep_bind(ep, &l.e.cq->fid, FI_TRANSMIT | FI_RECV), 0,
	       "... and a completion queue");
	is_int(fi_ep_bind(ep, &l.e.cq->fid, FI_RECV), -FI_EINVAL,
	       "... but not twice");
	is_int(fi_ep_bind(ep, &l.e.av->fid, 0), -FI_EINVAL,
	       "... nor an address vector");
	must(fi_read(ep, &word, 8, NULL, l.self, (uintptr_t)&word,
		     fi_mr_key(l.mr), &word), "fi_read");
	is_int((int)fi_cq_sread(l.e.cq, &entry, 1, NULL, TIMEOUT_MS), 1,
	       "an event is reported");
	is_u64(fi_cntr_read(reads), 1, "... and counted");
	must(fi_close(&ep->fid), "fi_close ep");
	must(fi_close(&cntr->fid) ? : fi_close(&reads->fid), "fi_close cntr");
	close_loop(&l);
}

/* ---- memory regions ---------------------------------------------------- */

/* Programs that need no FI_MR_LOCAL pass descriptors of any region. */
static void test_regions(void)
{
	static const uint64_t constant = 42;
	uint64_t copy = 0;
	struct fid_mr *mr;
	struct loop l;

	open_loop(&l, FI_RMA);
	must(fi_mr_reg(l.e.domain, &copy, sizeof(copy), FI_REMOTE_READ, 0, 0, 0,
		       &mr, NULL), "fi_mr_reg");
	word = 77;
	must(fi_read(l.e.ep, &copy, 8, fi_mr_desc(mr), l.self, (uintptr_t)&word,
		     fi_mr_key(l.mr), &copy), "fi_read");
	is_int(wait_one(l.e.cq, &copy), 0,
	       "a read into a region with FI_REMOTE_READ alone");
	is_u64(copy, 77, "... has the data");
	must(fi_close(&mr->fid), "fi_close mr");
	is_int(fi_mr_reg(l.e.domain, &constant, sizeof(constant),
			 FI_REMOTE_READ, 0, 0, 0, &mr, NULL), 0,
	       "read-only memory is registered");
	must(fi_read(l.e.ep, &copy, 8, NULL, l.self, (uintptr_t)&constant,
		     fi_mr_key(mr), &copy), "fi_read");
	is_int(wait_one(l.e.cq, &copy), 0, "... and read");
	is_u64(copy, 42, "... correctly");
	must(fi_close(&mr->fid), "fi_close mr");
	close_loop(&l);
}

/* ---- address vectors --------------------------------------------------- */

static void test_sync_err(void)
{
	int errors[] = { -1, -1, -1 };
	uint8_t names[3][ADDR_SIZE] = { 0 };
	fi_addr_t addrs[3] = { 0 };
	struct loop l;

	open_loop(&l, FI_MSG);
	/* The second address, all zeros, is not valid. */
	memcpy(names[0], l.name, ADDR_SIZE);
	memcpy(names[2], l.name, ADDR_SIZE);
	is_int(fi_av_insert(l.e.av, names, 3, addrs, FI_SYNC_ERR, errors), 2,
	       "two of three addresses are inserted with FI_SYNC_ERR");
	is_int(errors[0], 0, "... the first one");
	is_int(errors[1], FI_EINVAL, "... but not the second one");
	is_int(errors[2], 0, "... the third one");
	is_u64(addrs[1], FI_ADDR_NOTAVAIL, "... which has no index");
	is_int(fi_av_insert(l.e.av, names, 1, addrs, FI_SYNC_ERR, NULL),
	       -FI_EINVAL, "FI_SYNC_ERR needs an array");
	close_loop(&l);
}

int main(void)
{
	plan(0);
	enter("h1");
	test_caps();
	test_write_and_send();
	test_fabric();
	test_signal();
	test_threshold();
	test_cntr_fd();
	test_bind_late();
	test_regions();
	test_sync_err();
	return done_testing();
}
