// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider mxe of libfabric on a device in the process: targets that count
 * what their peers do (FI_RMA_EVENT).
 */
#define TIMEOUT_MS 10000
#include "fake_device.h"
#include "fi_end.h"
#include "wire.h"

#define REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)

static struct end a, b;
static fi_addr_t to_b;
static uint64_t words[16];
static struct fid_mr *mr[2];
/* Of the endpoint, and of each region. */
static struct fid_cntr *reads, *writes, *mr_reads[2], *mr_writes[2];

static uint64_t key(int i)
{
	return fi_mr_key(mr[i]);
}

/* Opens an initiator, and a target with two regions that count accesses. */
static void open_counted(bool dc)
{
	fake_device_use_dc(dc);
	open_end(&a, FI_RMA | FI_ATOMIC);
	open_end(&b, FI_RMA | FI_ATOMIC | FI_RMA_EVENT);
	to_b = insert(&a, b.ep);
	reads = open_cntr(b.domain);
	writes = open_cntr(b.domain);
	must(fi_ep_bind(b.ep, &reads->fid, FI_REMOTE_READ), "fi_ep_bind");
	must(fi_ep_bind(b.ep, &writes->fid, FI_REMOTE_WRITE), "fi_ep_bind");
	for (int i = 0; i < 2; i++) {
		must(fi_mr_reg(b.domain, words + (size_t)i * 8, 64, REMOTE, 0,
			       0, FI_RMA_EVENT, &mr[i], NULL), "fi_mr_reg");
		mr_reads[i] = open_cntr(b.domain);
		mr_writes[i] = open_cntr(b.domain);
		must(fi_mr_bind(mr[i], &mr_reads[i]->fid, FI_REMOTE_READ),
		     "fi_mr_bind");
		must(fi_mr_bind(mr[i], &mr_writes[i]->fid, FI_REMOTE_WRITE),
		     "fi_mr_bind");
	}
	memset(words, 0, sizeof(words));
}

static void close_counted(void)
{
	is_int(fi_close(&mr_reads[0]->fid), -FI_EBUSY,
	       "a counter of a region cannot be closed");
	must(fi_close(&b.ep->fid), "fi_close ep");
	b.ep = NULL;
	for (int i = 0; i < 2; i++) {
		must(fi_close(&mr[i]->fid), "fi_close mr");
		must(fi_close(&mr_reads[i]->fid), "fi_close cntr");
		must(fi_close(&mr_writes[i]->fid), "fi_close cntr");
	}
	must(fi_close(&reads->fid), "fi_close cntr");
	must(fi_close(&writes->fid), "fi_close cntr");
	is_int(close_end(&a), 0, "... the initiator is closed");
	is_int(close_end(&b), 0, "... and the target");
	is_int(fake_device.num_mrs, 0, "... without memory regions left");
	fake_device_use_dc(false);
}

/* The counts since the last call, a digit for each counter. */
static int counts(void)
{
	struct fid_cntr *cntrs[] = {
		reads, writes, mr_reads[0], mr_writes[0], mr_reads[1],
		mr_writes[1],
	};
	int n = 0;

	for (size_t i = 0; i < 6; i++) {
		n = n * 10 + (int)fi_cntr_read(cntrs[i]);
		fi_cntr_set(cntrs[i], 0);
	}
	return n;
}

/* Waits for the completion of an operation. Its events have come before. */
static void ends(const char *what, int want)
{
	is_int(wait_one(a.cq, &a), 0, "%s completes", what);
	is_int(counts(), want, "... and is counted as %06d", want);
}

static void test_rma(void)
{
	static uint64_t local[4] = { 1, 2, 3, 4 };
	struct iovec iov = { local, 32 };
	struct fi_rma_iov rma[] = {
		{ (uintptr_t)words, 16, key(0) },
		{ (uintptr_t)(words + 8), 16, key(1) },
	};
	struct fi_msg_rma m = {
		.msg_iov = &iov, .iov_count = 1, .addr = to_b, .rma_iov = rma,
		.rma_iov_count = 2, .context = &a, .data = 0x77,
	};
	struct fi_cq_tagged_entry e = { 0 };

	must(fi_write(a.ep, local, 8, NULL, to_b, (uintptr_t)words, key(0), &a),
	     "fi_write");
	ends("a write", 10100);
	must(fi_read(a.ep, local, 8, NULL, to_b, (uintptr_t)(words + 8), key(1),
		     &a), "fi_read");
	ends("a read", 100010);
	must(fi_writemsg(a.ep, &m, 0), "fi_writemsg");
	ends("a write of two regions", 10101);
	must(fi_readmsg(a.ep, &m, 0), "fi_readmsg");
	ends("a read of two regions", 101010);
	is_int((int)fi_cq_read(b.cq, &e, 1), -FI_EAGAIN, "... without events");
	must(fi_writemsg(a.ep, &m, FI_REMOTE_CQ_DATA), "fi_writemsg");
	ends("a write with CQ data", 10101);
	is_int((int)fi_cq_sread(b.cq, &e, 1, NULL, TIMEOUT_MS), 1,
	       "... and has an event");
	ok(e.data == 0x77 && e.len == 32 &&
	   e.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA),
	   "... with the data and the length");
	must(fi_inject_write(a.ep, local, 8, to_b, (uintptr_t)words, key(0)),
	     "fi_inject_write");
	must(fi_cntr_wait(writes, 1, TIMEOUT_MS), "fi_cntr_wait");
	is_int(counts(), 10100, "a write without a completion is counted");
	must(fi_write(a.ep, local, 8, NULL, to_b, (uintptr_t)words, 0xdead, &a),
	     "fi_write");
	is_int(wait_one(a.cq, &a), FI_EACCES, "a write without a right fails");
	is_int(counts(), 0, "... and is not counted");
}

static void test_atomics(void)
{
	static uint64_t one = 1, two = 2, result;
	struct fi_ioc ioc = { &one, 1 };
	struct fi_rma_ioc rma[] = {
		{ (uintptr_t)words, 1, key(0) },
	};
	struct fi_msg_atomic m = {
		.msg_iov = &ioc, .iov_count = 1, .addr = to_b, .rma_iov = rma,
		.rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM,
		.context = &a,
	};

	words[0] = 3;
	must(fi_atomic(a.ep, &one, 1, NULL, to_b, (uintptr_t)words, key(0),
		       FI_UINT64, FI_SUM, &a), "fi_atomic");
	ends("a sum", 10100);
	must(fi_atomicmsg(a.ep, &m, 0), "fi_atomicmsg");
	ends("a sum of vectors", 10100);
	must(fi_fetch_atomic(a.ep, &one, 1, NULL, &result, NULL, to_b,
			     (uintptr_t)words, key(0), FI_UINT64, FI_SUM, &a),
	     "fi_fetch_atomic");
	ends("a sum that fetches", 101100);
	must(fi_fetch_atomic(a.ep, NULL, 1, NULL, &result, NULL, to_b,
			     (uintptr_t)words, key(0), FI_UINT64, FI_ATOMIC_READ,
			     &a), "fi_fetch_atomic");
	ends("an atomic read", 101000);
	must(fi_compare_atomic(a.ep, &one, 1, NULL, &two, NULL, &result, NULL,
			       to_b, (uintptr_t)words, key(0), FI_UINT64,
			       FI_CSWAP, &a), "fi_compare_atomic");
	ends("a compare-and-swap", 101100);
	is_u64(words[0], 6, "... all were executed");
	/* A read and one compare-and-swap, while the device does not answer. */
	fake_device_set(atomics_stop, true);
	must(fi_atomic(a.ep, &two, 1, NULL, to_b, (uintptr_t)words, key(0),
		       FI_UINT64, FI_PROD, &a), "fi_atomic");
	is_int((int)fi_cntr_wait(writes, 1, 100), -FI_ETIMEDOUT,
	       "a product that is not executed is not counted");
	fake_device_set(atomics_stop, false);
	must(fi_cntr_wait(writes, 1, TIMEOUT_MS), "fi_cntr_wait");
	is_u64(words[0], 12, "... and is executed when it is");
	ends("... and", 10100);
}

/* Without the capability, nothing is counted, and no message is sent. */
static void test_off(void)
{
	static uint64_t local = 5;
	unsigned int sends;
	struct fid_cntr *cntr;
	struct fi_info *info;

	open_end(&a, FI_RMA);
	open_end(&b, FI_RMA);
	to_b = insert(&a, b.ep);
	cntr = open_cntr(b.domain);
	is_int(fi_ep_bind(b.ep, &cntr->fid, FI_REMOTE_WRITE), -FI_ENOSYS,
	       "without FI_RMA_EVENT no counter counts writes of peers");
	must(fi_mr_reg(b.domain, words, 64, REMOTE, 0, 0, 0, &mr[0], NULL),
	     "fi_mr_reg");
	is_int(fi_mr_bind(mr[0], &cntr->fid, FI_WRITE), -FI_EINVAL,
	       "a region counts no writes of its endpoint");
	is_int(fi_mr_bind(mr[0], &cntr->fid, 0), -FI_EINVAL, "... nor nothing");
	is_int(fi_mr_bind(mr[0], &b.cq->fid, FI_REMOTE_WRITE), -FI_ENOSYS,
	       "... and has no completion queue");
	must(fi_mr_bind(mr[0], &cntr->fid, FI_REMOTE_WRITE), "fi_mr_bind");
	is_int(fi_mr_bind(mr[0], &cntr->fid, FI_REMOTE_WRITE), -FI_EINVAL,
	       "... and has one counter of a kind");
	sends = fake_device_get(num_sends[MXEFI_MSG_ACCESS]);
	must(fi_write(a.ep, &local, 8, NULL, to_b, (uintptr_t)words,
		      fi_mr_key(mr[0]), &local), "fi_write");
	is_int(wait_one(a.cq, &local), 0, "a write to it completes");
	is_u64(fi_cntr_read(cntr), 0, "... and is not counted");
	is_int((int)(fake_device_get(num_sends[MXEFI_MSG_ACCESS]) - sends), 0,
	       "... and needs no message");
	must(fi_close(&mr[0]->fid), "fi_close mr");
	is_int(fi_close(&cntr->fid), 0, "... and its counter is closed with it");
	is_int(close_end(&a), 0, "... an endpoint is closed");
	is_int(close_end(&b), 0, "... and the other one");

	must(fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, NULL, &info),
	     "fi_getinfo");
	for (struct fi_info *i = info; i; i = i->next)
		if (!strcmp(i->fabric_attr->prov_name, "mxe"))
			ok(!(i->caps & FI_RMA_EVENT),
			   "without hints, no entry has FI_RMA_EVENT");
	fi_freeinfo(info);
}

int main(void)
{
	plan(0);
	for (int dc = 0; dc < 2; dc++) {
		open_counted(dc);
		test_rma();
		close_counted();
		open_counted(dc);
		test_atomics();
		close_counted();
	}
	test_off();
	return done_testing();
}
