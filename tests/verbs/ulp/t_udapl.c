// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Proves that libdaplmxe executes the operations of dat_extensions.h, delivers
 * their events, refuses wrong arguments, checks the segments of the
 * synchronisation calls, and leaves the calls of libdaplofa alone. Both
 * endpoints of the connection are in this process. Usage: t_udapl IA
 * [plain|noncoherent], where IA is in dat.conf. "plain" is for devices without
 * masked atomics, "noncoherent" for those that were added with coherent=N. With
 * MXE_KEEP_LIBRARIES in the environment, no library is unloaded.
 */
#include <dlfcn.h>
#include <string.h>
#include <netinet/in.h>
#include <dat/dat_extensions.h>
#include <dat2/dat_ib_extensions.h>
#include <masked_atomic.h>
#include "random.h"
#include "tap.h"

#define TIMEOUT_US 60000000
#define CONN_QUAL 4711
#define TYPE(ret) DAT_GET_TYPE(ret)

enum {
	QLEN = 32,
	BUF_BYTES = 4096,
	REMOTE = 2048,			/* offset of the target in buf */
	ROUNDS = 100,
	OPENS = 20,
	MANY_SEGMENTS = 100,		/* more than any endpoint allows */
	PRIVILEGES = DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC,
};

static bool noncoherent;
static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE async_evd, cr_evd, conn_evd;
static DAT_PSP_HANDLE psp;

/* One side of the connection. */
static struct side {
	DAT_EP_HANDLE ep;
	DAT_EVD_HANDLE request, receive;
} a, b;

static union {
	char bytes[BUF_BYTES];
	uint64_t words[BUF_BYTES / 8];
} buf __attribute__((aligned(4096)));
static DAT_LMR_HANDLE lmr;
static DAT_LMR_CONTEXT lmr_context;
static DAT_RMR_CONTEXT rmr_context;

#define MUST(call) do { \
	DAT_RETURN must_ret = (call); \
	if (must_ret != DAT_SUCCESS) \
		bail_out("%s: %#x", #call, must_ret); \
} while (0)

static DAT_LMR_TRIPLET local(size_t offset, DAT_SEG_LENGTH length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (uintptr_t)buf.bytes + offset,
		.segment_length = length, .lmr_context = lmr_context,
	};
}

static DAT_RMR_TRIPLET remote(size_t offset, DAT_SEG_LENGTH length)
{
	return (DAT_RMR_TRIPLET){
		.virtual_address = (uintptr_t)buf.bytes + REMOTE + offset,
		.segment_length = length, .rmr_context = rmr_context,
	};
}

static DAT_DTO_COOKIE cookie(DAT_UINT64 value)
{
	return (DAT_DTO_COOKIE){ .as_64 = value };
}

static DAT_EVENT wait_for(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	memset(&event, 0, sizeof(event));
	ret = dat_evd_wait(evd, TIMEOUT_US, 1, &event, &more);
	if (ret != DAT_SUCCESS)
		bail_out("dat_evd_wait: %#x", ret);
	return event;
}

/* Checks for an event of dat_extensions.h, and returns its data. */
static DAT_EXTENSION_DATA expect(DAT_EVD_HANDLE evd, DAT_EXT_EVENT_TYPE type,
				 DAT_UINT64 want, const char *name)
{
	DAT_EVENT event = wait_for(evd);
	const DAT_DTO_COMPLETION_EVENT_DATA *dto =
		&event.event_data.dto_completion_event_data;
	DAT_EXTENSION_DATA data = *DAT_EVENT_EXTENSION_DATA(&event);

	is_int(event.event_number, DAT_EXTENSION_EVENT, "%s: an extension event", name);
	is_int(data.type, type, "... its type");
	is_int(dto->status, DAT_DTO_SUCCESS, "... its status");
	is_u64(dto->user_cookie.as_64, want, "... and its cookie");
	return data;
}

/* ---- setup ------------------------------------------------------------- */

static void open_side(struct side *s)
{
	MUST(dat_evd_create(ia, QLEN, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &s->request));
	MUST(dat_evd_create(ia, QLEN, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &s->receive));
	MUST(dat_ep_create(ia, pz, s->receive, s->request, conn_evd, NULL, &s->ep));
}

static void close_side(struct side *s)
{
	MUST(dat_ep_free(s->ep));
	MUST(dat_evd_free(s->request));
	MUST(dat_evd_free(s->receive));
}

static void connect_sides(void)
{
	DAT_IA_ATTR attr;
	DAT_EVENT event;
	int i;

	MUST(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
	MUST(dat_psp_create(ia, CONN_QUAL, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
	MUST(dat_ep_connect(a.ep, attr.ia_address_ptr, CONN_QUAL, TIMEOUT_US, 0, NULL,
			    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	event = wait_for(cr_evd);
	if (event.event_number != DAT_CONNECTION_REQUEST_EVENT)
		bail_out("event %#x instead of a connection request",
			 event.event_number);
	MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0,
			   NULL));
	for (i = 0; i < 2; i++) {
		event = wait_for(conn_evd);
		if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
			bail_out("event %#x instead of a connection",
				 event.event_number);
	}
}

static void open_all(const char *name)
{
	DAT_REGION_DESCRIPTION region = { .for_va = buf.bytes };
	DAT_VADDR address;
	DAT_VLEN length;

	async_evd = DAT_HANDLE_NULL;
	MUST(dat_ia_open((DAT_NAME_PTR)name, QLEN, &async_evd, &ia));
	MUST(dat_pz_create(ia, &pz));
	MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, BUF_BYTES, pz,
			    (DAT_MEM_PRIV_FLAGS)PRIVILEGES, DAT_VA_TYPE_VA, &lmr,
			    &lmr_context, &rmr_context, &length, &address));
	MUST(dat_evd_create(ia, QLEN, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr_evd));
	MUST(dat_evd_create(ia, QLEN, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG,
			    &conn_evd));
	open_side(&a);
	open_side(&b);
	connect_sides();
}

/*
 * libdaplofa may keep the PSP of a connection that broke, so the IA is closed
 * abruptly after that.
 */
static void close_all(DAT_CLOSE_FLAGS flags)
{
	close_side(&a);
	close_side(&b);
	MUST(dat_psp_free(psp));
	MUST(dat_evd_free(cr_evd));
	MUST(dat_evd_free(conn_evd));
	MUST(dat_lmr_free(lmr));
	MUST(dat_pz_free(pz));
	MUST(dat_ia_close(ia, flags));
}

/* ---- tests ------------------------------------------------------------- */

static void test_attributes(void)
{
	static const char *const names[] = {
		DAT_EXT_ATTR, DAT_EXT_ATTR_RDMA_WRITE_IMMED, DAT_EXT_ATTR_RECV_IMMED,
		DAT_EXT_ATTR_RECV_IMMED_EVENT, DAT_EXT_ATTR_FETCH_AND_ADD,
		DAT_EXT_ATTR_CMP_AND_SWAP, DAT_EXT_ATTR_MASKED_FETCH_AND_ADD,
		DAT_EXT_ATTR_MASKED_CMP_AND_SWAP,
		DAT_IB_ATTR_FETCH_AND_ADD,	/* of libdaplofa */
	};
	DAT_PROVIDER_ATTR attr = { 0 };
	const char *value;
	bool payload = false;
	unsigned int n;
	int i;

	memset(&attr, 0xff, sizeof(attr));
	MUST(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	is_int(attr.lmr_sync_req, noncoherent ? DAT_TRUE : DAT_FALSE,
	       "lmr_sync_req is written");
	for (n = 0; n < ARRAY_SIZE(names); n++) {
		value = "none";
		for (i = 0; i < attr.num_provider_specific_attr; i++)
			if (!strcmp(attr.provider_specific_attr[i].name, names[n]))
				value = attr.provider_specific_attr[i].value;
		is_str(value, DAT_EXT_ATTR_TRUE, "attribute %s", names[n]);
	}
	for (i = 0; i < attr.num_provider_specific_attr; i++)
		payload |= !strcmp(attr.provider_specific_attr[i].name,
				   DAT_EXT_ATTR_RECV_IMMED_PAYLOAD);
	ok(!payload, "immediate data are not delivered as payload");
}

static void test_immediate(void)
{
	DAT_LMR_TRIPLET to = local(1024, 64), from = local(0, 64);
	DAT_RMR_TRIPLET target = remote(0, 64);
	DAT_EXTENSION_DATA data;

	memset(buf.bytes, 0x5a, 64);
	memset(buf.bytes + REMOTE, 0, 64);
	MUST(dat_ep_post_recv_immed(b.ep, 1, &to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	MUST(dat_ep_post_write_immed(a.ep, 1, &from, cookie(2), &target, 0x12345678,
				     DAT_EXT_WRITE_IMMED_FLAG | DAT_EXT_WRITE_CONFIRM_FLAG,
				     DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_RDMA_WRITE_IMMED_STATUS, 2, "write with immediate data");
	data = expect(b.receive, DAT_EXT_RECV_IMMED_DATA_EVENT, 1, "the receiver");
	is_u64(data.val.immed.data, 0x12345678, "... gets the immediate data");
	is_mem(buf.bytes + REMOTE, buf.bytes, 64, "... and the data");

	MUST(dat_ep_post_recv_immed(b.ep, 1, &to, cookie(3), DAT_COMPLETION_DEFAULT_FLAG));
	memset(buf.bytes, 0x77, 64);
	MUST(dat_ep_post_write_immed(a.ep, 1, &from, cookie(4), &target, 1, 0,
				     DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_RDMA_WRITE_IMMED_STATUS, 4,
	       "write without DAT_EXT_WRITE_IMMED_FLAG");
	is_mem(buf.bytes + REMOTE, buf.bytes, 64, "... the data arrive");
	MUST(dat_ep_post_send(a.ep, 1, &from, cookie(5), DAT_COMPLETION_DEFAULT_FLAG));
	is_int(wait_for(a.request).event_number, DAT_DTO_COMPLETION_EVENT,
	       "a send has the event of libdaplofa");
	expect(b.receive, DAT_EXT_RECV_NO_IMMED, 3, "... and takes the receive");
	is_mem(buf.bytes + 1024, buf.bytes, 64, "... with its data");
}

static void test_atomics(void)
{
	DAT_RMR_TRIPLET target = remote(0, 8);
	DAT_LMR_TRIPLET old = local(0, 8);
	uint64_t *word = &buf.words[REMOTE / 8];
	DAT_EVENT event;

	*word = 5;
	MUST(dat_ep_post_cmp_and_swap(a.ep, 5, 9, &old, cookie(6), &target,
				      DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_CMP_AND_SWAP_STATUS, 6, "compare-and-swap");
	is_u64(buf.words[0], 5, "... returns the old value");
	is_u64(*word, 9, "... and swaps");
	MUST(dat_ep_post_cmp_and_swap(a.ep, 5, 1, &old, cookie(7), &target,
				      DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_CMP_AND_SWAP_STATUS, 7, "a compare that fails");
	is_u64(buf.words[0], 9, "... returns the old value");
	is_u64(*word, 9, "... and changes nothing");
	MUST(dat_ep_post_fetch_and_add(a.ep, 3, &old, cookie(8), &target,
				       DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_FETCH_AND_ADD_STATUS, 8, "fetch-and-add");
	is_u64(buf.words[0], 9, "... returns the old value");
	is_u64(*word, 12, "... and adds");

	MUST(dat_ib_post_fetch_and_add(a.ep, 1, &old, cookie(9), &target,
				       DAT_COMPLETION_DEFAULT_FLAG));
	event = wait_for(a.request);
	is_int(event.event_number, DAT_IB_DTO_EVENT, "the fetch-and-add of libdaplofa has its own event");
	is_u64(event.event_data.dto_completion_event_data.user_cookie.as_64, 9,
	       "... and its cookie");
	is_u64(*word, 13, "... and adds");

	MUST(dat_ep_post_fetch_and_add(a.ep, 1, &old, cookie(10), &target,
				       DAT_COMPLETION_SUPPRESS_FLAG));
	MUST(dat_ep_post_fetch_and_add(a.ep, 1, &old, cookie(11), &target,
				       DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_FETCH_AND_ADD_STATUS, 11,
	       "an event follows a suppressed one");
	is_u64(*word, 15, "... after both were executed");
}

static void test_masked(void)
{
	DAT_RMR_TRIPLET target = remote(0, 8);
	DAT_LMR_TRIPLET old = local(0, 8);
	uint64_t *word = &buf.words[REMOTE / 8];
	uint64_t before, want, o[4], seed = 1;
	unsigned int failed = 0;
	DAT_EVENT event;
	bool swap;
	int i;

	*word = 0x00ff00ff00ff00ff;
	MUST(dat_ep_post_masked_fetch_and_add(a.ep, 0x0001000100010001,
					      0x8000800080008080, &old, cookie(12),
					      &target, DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_MASKED_FETCH_AND_ADD_STATUS, 12, "masked fetch-and-add");
	is_u64(buf.words[0], 0x00ff00ff00ff00ff, "... returns the old value");
	is_u64(*word, 0x0100010001000000, "... and adds to each field");
	MUST(dat_ep_post_masked_cmp_and_swap(a.ep, 0, 0xffff, 0xabcd, 0xff, &old,
					     cookie(13), &target,
					     DAT_COMPLETION_DEFAULT_FLAG));
	expect(a.request, DAT_EXT_MASKED_CMP_AND_SWAP_STATUS, 13,
	       "masked compare-and-swap");
	is_u64(*word, 0x01000100010000cd, "... swaps the bits of the mask");

	for (i = 0; i < ROUNDS; i++) {
		swap = i & 1;
		for (unsigned int n = 0; n < 4; n++)
			o[n] = random_next(&seed);
		before = *word;
		/* Half of the compares succeed. */
		if (swap && i & 2)
			o[0] = before ^ (o[0] & ~o[1]);
		want = swap ? masked_cmp_swap_u64(before, o[0], o[1], o[2], o[3]) :
			      masked_fetch_add_u64(before, o[0], o[1]);
		if (swap)
			MUST(dat_ep_post_masked_cmp_and_swap(a.ep, o[0], o[1], o[2], o[3],
							     &old, cookie(14), &target, 0));
		else
			MUST(dat_ep_post_masked_fetch_and_add(a.ep, o[0], o[1], &old,
							      cookie(14), &target, 0));
		event = wait_for(a.request);
		failed += event.event_number != DAT_EXTENSION_EVENT ||
			  buf.words[0] != before || *word != want;
	}
	is_int(failed, 0, "%d masked atomics have the results of masked_atomic.h", ROUNDS);
	before = *word;
	MUST(dat_ep_post_fetch_and_add(a.ep, 1, &old, cookie(15), &target, 0));
	wait_for(a.request);
	is_u64(*word, before + 1, "masks do not outlive their operation");
}

/* A device without masked atomics has all other operations. */
static void test_not_masked(void)
{
	DAT_RMR_TRIPLET target = remote(0, 8);
	DAT_LMR_TRIPLET old = local(0, 8);
	DAT_PROVIDER_ATTR attr = { 0 };
	bool found = false;
	DAT_EVENT event;
	int i;

	MUST(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	for (i = 0; i < attr.num_provider_specific_attr; i++)
		found |= !!strstr(attr.provider_specific_attr[i].name, "MASKED");
	ok(!found, "no attribute of masked atomics");
	is_int(TYPE(dat_ep_post_masked_fetch_and_add(a.ep, 1, 0, &old, cookie(30), &target,
						     0)),
	       DAT_NOT_IMPLEMENTED, "no masked fetch-and-add");
	is_int(TYPE(dat_ep_post_masked_cmp_and_swap(a.ep, 1, 0, 0, 0, &old, cookie(31),
						    &target, 0)),
	       DAT_NOT_IMPLEMENTED, "no masked compare-and-swap");
	is_int(TYPE(dat_evd_dequeue(a.request, &event)), DAT_QUEUE_EMPTY,
	       "none of them has an event");
}

static void test_refused(void)
{
	DAT_LMR_TRIPLET old = local(0, 8), shorter = local(0, 4);
	DAT_RMR_TRIPLET target = remote(0, 8), odd = remote(4, 8), small = remote(0, 4);
	DAT_EVENT event;

#define REFUSED(call, name) \
	is_int(TYPE(call), DAT_INVALID_PARAMETER, "refused: %s", name)
	REFUSED(dat_ep_post_cmp_and_swap(a.ep, 0, 0, NULL, cookie(0), &target, 0),
		"no local segment");
	REFUSED(dat_ep_post_cmp_and_swap(a.ep, 0, 0, &shorter, cookie(0), &target, 0),
		"a local segment of 4 bytes");
	REFUSED(dat_ep_post_fetch_and_add(a.ep, 0, &old, cookie(0), NULL, 0),
		"no remote word");
	REFUSED(dat_ep_post_fetch_and_add(a.ep, 0, &old, cookie(0), &odd, 0),
		"a remote word that is not aligned");
	REFUSED(dat_ep_post_masked_cmp_and_swap(a.ep, 0, 0, 0, 0, &old, cookie(0), &small,
						0), "a remote word of 4 bytes");
	REFUSED(dat_ep_post_masked_fetch_and_add(a.ep, 0, 0, &shorter, cookie(0), &target,
						 0), "a masked one with 4 bytes");
	REFUSED(dat_ep_post_write_immed(a.ep, 1, NULL, cookie(0), &target, 0, 1, 0),
		"a write without segments");
	REFUSED(dat_ep_post_write_immed(a.ep, -1, &old, cookie(0), &target, 0, 1, 0),
		"a negative number of segments");
	REFUSED(dat_ep_post_write_immed(a.ep, 1, &old, cookie(0), NULL, 0, 1, 0),
		"a write without a target");
	REFUSED(dat_ep_post_write_immed(a.ep, 1, &old, cookie(0), &target, 0, 4, 0),
		"an unknown flag");
	REFUSED(dat_ep_post_recv_immed(a.ep, 1, NULL, cookie(0), 0),
		"a receive without segments");
	REFUSED(dat_ep_post_recv_immed(a.ep, -1, &old, cookie(0), 0),
		"a receive of a negative number of segments");
	is_int(TYPE(dat_extension_op(a.ep, DAT_EXT_OP_BASE + 100)), DAT_NOT_IMPLEMENTED,
	       "an unknown operation");
	is_int(TYPE(dat_ep_post_fetch_and_add(NULL, 0, &old, cookie(0), &target, 0)),
	       DAT_INVALID_HANDLE, "no endpoint");
	is_int(TYPE(dat_evd_dequeue(a.request, &event)), DAT_QUEUE_EMPTY,
	       "none of them has an event");
}

/* A receive that libmxe refuses is an error, and does not take a message. */
static void test_refused_receive(void)
{
	DAT_LMR_TRIPLET many[MANY_SEGMENTS], to = local(1024, 64), from = local(0, 64);
	DAT_EVENT event;
	int i;

	for (i = 0; i < MANY_SEGMENTS; i++)
		many[i] = local(512, 1);
	REFUSED(dat_ep_post_recv_immed(b.ep, MANY_SEGMENTS, many, cookie(0), 0),
		"a receive of too many segments");
	REFUSED(dat_ep_post_recv(b.ep, MANY_SEGMENTS, many, cookie(0), 0),
		"... that of libdaplofa");
	is_int(TYPE(dat_evd_dequeue(b.receive, &event)), DAT_QUEUE_EMPTY,
	       "none of them has an event");
	MUST(dat_ep_post_recv_immed(b.ep, 1, &to, cookie(16), 0));
	MUST(dat_ep_post_send(a.ep, 1, &from, cookie(17), 0));
	wait_for(a.request);
	expect(b.receive, DAT_EXT_RECV_NO_IMMED, 16, "the next receive gets the message");
}

static void test_sync_call(DAT_RETURN (*sync)(DAT_IA_HANDLE, const DAT_LMR_TRIPLET *,
					      DAT_VLEN), const char *name)
{
	DAT_REGION_DESCRIPTION region = { .for_va = buf.bytes };
	DAT_LMR_TRIPLET segments[3] = { local(0, BUF_BYTES), local(8, 8), local(0, 0) };
	DAT_LMR_HANDLE other;
	DAT_RMR_CONTEXT rmr;
	DAT_VADDR address;
	DAT_VLEN length;

	segments[2].lmr_context = ~lmr_context;
	is_int(sync(ia, segments, 3), DAT_SUCCESS, "%s: segments, one of them empty", name);
	is_int(sync(ia, NULL, 0), DAT_SUCCESS, "... no segment");
	is_int(TYPE(sync(ia, NULL, 1)), DAT_INVALID_PARAMETER, "... no array");
	is_int(TYPE(sync(DAT_HANDLE_NULL, segments, 1)), DAT_INVALID_HANDLE, "... no IA");
	is_int(TYPE(sync((DAT_IA_HANDLE)(uintptr_t)77, segments, 1)), DAT_INVALID_HANDLE,
	       "... a number that is not an IA");
	segments[1] = local(8, BUF_BYTES - 7);
	is_int(TYPE(sync(ia, segments, 3)), DAT_INVALID_PARAMETER, "... one byte too long");
	segments[1] = local(BUF_BYTES, 1);
	is_int(TYPE(sync(ia, segments, 3)), DAT_INVALID_PARAMETER, "... past the end");
	segments[1] = local((size_t)-1, 8);
	is_int(TYPE(sync(ia, segments, 3)), DAT_INVALID_PARAMETER, "... before the start");
	segments[1] = local(8, 8);
	segments[1].virtual_address = ~(DAT_VADDR)3;
	is_int(TYPE(sync(ia, segments, 3)), DAT_INVALID_PARAMETER, "... it wraps");
	segments[1] = local(8, 8);
	segments[1].lmr_context ^= 0x5500;
	is_int(TYPE(sync(ia, segments, 3)), DAT_INVALID_PARAMETER, "... another context");

	MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz,
			    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &other,
			    &segments[1].lmr_context, &rmr, &length, &address));
	segments[1].virtual_address = address;
	segments[1].segment_length = 64;
	is_int(sync(ia, segments, 3), DAT_SUCCESS, "... segments of two regions");
	MUST(dat_lmr_free(other));
	is_int(TYPE(sync(ia, segments, 3)), DAT_INVALID_PARAMETER,
	       "... a region that was freed");
}

/* Writes a value to the first bytes of the target, and waits. */
static void rdma_write(int value, DAT_SEG_LENGTH length)
{
	DAT_LMR_TRIPLET from = local(0, length);
	DAT_RMR_TRIPLET target = remote(0, length);

	memset(buf.bytes, value, length);
	MUST(dat_ep_post_rdma_write(a.ep, 1, &from, cookie(40), &target, 0));
	wait_for(a.request);
}

/* Returns the first byte of the target as a peer reads it. */
static int rdma_read(void)
{
	DAT_LMR_TRIPLET to = local(0, 1);
	DAT_RMR_TRIPLET target = remote(0, 1);

	MUST(dat_ep_post_rdma_read(a.ep, 1, &to, cookie(41), &target, 0));
	wait_for(a.request);
	return buf.bytes[0];
}

/*
 * The program of dat_lmr_sync_rdma_write(3), with and without each call that it
 * must make.
 */
static void test_sync_write(void)
{
	DAT_LMR_TRIPLET segment = local(REMOTE, 64), half = local(REMOTE, 32);

	memset(buf.bytes + REMOTE, 1, 64);
	is_int(dat_lmr_sync_rdma_write(ia, &segment, 1), DAT_SUCCESS,
	       "dat_lmr_sync_rdma_write() after local writes");
	is_int(buf.bytes[REMOTE], 1, "... keeps them");
	is_int(rdma_read(), 1, "... and shows them to peers");
	rdma_write(2, 64);
	is_int(buf.bytes[REMOTE], 1, "an RDMA write is not visible");
	is_int(dat_lmr_sync_rdma_read(ia, &segment, 1), DAT_SUCCESS, "the wrong call");
	is_int(buf.bytes[REMOTE], 1, "... does not show it");
	is_int(dat_lmr_sync_rdma_write(ia, &half, 1), DAT_SUCCESS, "the right call");
	is_int(buf.bytes[REMOTE + 31], 2, "... shows its range");
	is_int(buf.bytes[REMOTE + 32], 1, "... only");
	is_int(dat_lmr_sync_rdma_write(ia, &segment, 1), DAT_SUCCESS, "... all");
	is_int(buf.bytes[REMOTE + 63], 2, "... is visible now");
}

static void test_sync_read(void)
{
	DAT_LMR_TRIPLET segment = local(REMOTE, 64);

	buf.bytes[REMOTE] = 3;
	is_int(rdma_read(), 2, "an RDMA read without a call gets old data");
	is_int(dat_lmr_sync_rdma_read(ia, &segment, 1), DAT_SUCCESS,
	       "dat_lmr_sync_rdma_read()");
	is_int(rdma_read(), 3, "... an RDMA read gets the data");
}

/* Nothing is synchronised if one segment is wrong. */
static void test_sync_refused(void)
{
	DAT_LMR_TRIPLET segments[2] = { local(REMOTE, 8), local(BUF_BYTES, 1) };

	rdma_write(4, 8);
	is_int(TYPE(dat_lmr_sync_rdma_write(ia, segments, 2)), DAT_INVALID_PARAMETER,
	       "the second segment is wrong");
	is_int(buf.bytes[REMOTE], 3, "... the first is not synchronised");
}

/* An error breaks the connection, so this is the last test on it. */
static void test_errors(void)
{
	DAT_RMR_TRIPLET target = remote(0, 8);
	DAT_LMR_TRIPLET old = local(0, 8);
	DAT_EVENT event;
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event.event_data.dto_completion_event_data;

	MUST(dat_ep_post_recv_immed(a.ep, 1, &old, cookie(20), 0));
	target.rmr_context ^= 0x5500;
	MUST(dat_ep_post_masked_fetch_and_add(a.ep, 1, 0x80, &old, cookie(21), &target, 0));
	event = wait_for(a.request);
	is_int(event.event_number, DAT_EXTENSION_EVENT, "a wrong remote key: an event");
	is_int(DAT_EVENT_EXTENSION_DATA(&event)->type, DAT_EXT_MASKED_FETCH_AND_ADD_STATUS,
	       "... its type");
	is_int(dto->status, DAT_DTO_ERR_REMOTE_ACCESS, "... its status");
	is_int(DAT_EVENT_EXTENSION_DATA(&event)->status, DAT_DTO_ERR_REMOTE_ACCESS,
	       "... in both places");
	is_u64(dto->user_cookie.as_64, 21, "... and its cookie");
	event = wait_for(a.receive);
	is_int(event.event_number, DAT_EXTENSION_EVENT, "the receive is flushed");
	is_int(dto->status, DAT_DTO_ERR_FLUSHED, "... its status");
	is_u64(dto->user_cookie.as_64, 20, "... and its cookie");
}

/* Needs a new connection, and breaks it. */
static void test_suppressed_error(void)
{
	DAT_RMR_TRIPLET target = remote(0, 8);
	DAT_LMR_TRIPLET old = local(0, 8);
	DAT_EVENT event;
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event.event_data.dto_completion_event_data;

	target.rmr_context ^= 0x5500;
	MUST(dat_ep_post_masked_fetch_and_add(a.ep, 1, 0x80, &old, cookie(22), &target,
					      DAT_COMPLETION_SUPPRESS_FLAG));
	event = wait_for(a.request);
	is_int(event.event_number, DAT_IB_DTO_EVENT,
	       "a suppressed atomic that fails has the event of libdaplofa");
	is_int(dto->status, DAT_DTO_ERR_REMOTE_ACCESS, "... its status");
	is_u64(dto->user_cookie.as_64, 22, "... and its cookie");
}

/*
 * The events of an endpoint can be taken after it was freed. libdaplofa
 * discards those that are not in the EVD by then, so the first wait is for
 * both.
 */
static void test_freed(void)
{
	DAT_LMR_TRIPLET to = local(0, 8);
	DAT_EVENT event;
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event.event_data.dto_completion_event_data;
	DAT_COUNT more;

	MUST(dat_ep_post_recv_immed(b.ep, 1, &to, cookie(23), 0));
	MUST(dat_ep_post_recv_immed(b.ep, 1, &to, cookie(24), 0));
	MUST(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG));
	MUST(dat_evd_wait(b.receive, TIMEOUT_US, 2, &event, &more));
	is_u64(dto->user_cookie.as_64, 23, "a receive is flushed");
	wait_for(conn_evd);
	MUST(dat_ep_free(b.ep));
	event = wait_for(b.receive);
	is_int(event.event_number, DAT_EXTENSION_EVENT,
	       "a receive of an endpoint that was freed: an event");
	is_int(DAT_EVENT_EXTENSION_DATA(&event)->type, DAT_EXT_RECV_NO_IMMED, "... its type");
	is_int(dto->status, DAT_DTO_ERR_FLUSHED, "... its status");
	is_u64(dto->user_cookie.as_64, 24, "... and its cookie");
	MUST(dat_ep_create(ia, pz, b.receive, b.request, conn_evd, NULL, &b.ep));
}

/* A slot that is not freed would make the next handle a larger number. */
static void test_opens(const char *name)
{
	DAT_IA_HANDLE first = DAT_HANDLE_NULL;
	int i, failed = 0;

	for (i = 0; i < OPENS; i++) {
		DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;

		MUST(dat_ia_open((DAT_NAME_PTR)name, QLEN, &evd, &ia));
		if (!i)
			first = ia;
		failed += ia != first;
		MUST(dat_ia_close(ia, i & 1 ? DAT_CLOSE_ABRUPT_FLAG :
				  DAT_CLOSE_GRACEFUL_FLAG));
	}
	is_int(failed, 0, "%d opens get the same handle", OPENS);
	is_int(TYPE(dat_lmr_sync_rdma_read(first, NULL, 0)), DAT_INVALID_HANDLE,
	       "a closed IA");
}

/* Two IAs of one name, closed in the order in which they were opened. */
static void test_two(const char *name)
{
	DAT_EVD_HANDLE evd[2] = { DAT_HANDLE_NULL, DAT_HANDLE_NULL };
	DAT_IA_HANDLE two[2];

	MUST(dat_ia_open((DAT_NAME_PTR)name, QLEN, &evd[0], &two[0]));
	MUST(dat_ia_open((DAT_NAME_PTR)name, QLEN, &evd[1], &two[1]));
	ok(two[0] != two[1], "two IAs of one name");
	is_int(dat_ia_close(two[0], DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "... one is closed");
	is_int(dat_lmr_sync_rdma_read(two[1], NULL, 0), DAT_SUCCESS, "... the other works");
	is_int(dat_ia_close(two[1], DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "... and is closed");
}

/*
 * Keeps the libraries that libdat2 unloads, because the leak checker does not
 * know the names of libraries that were unloaded.
 */
static void keep_libraries(void)
{
	if (!dlopen("libdaplofa.so.2", RTLD_NOW | RTLD_NODELETE) ||
	    !dlopen("libdaplmxe.so.2", RTLD_NOW | RTLD_NODELETE))
		bail_out("%s", dlerror());
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";

	if (getenv("MXE_KEEP_LIBRARIES"))
		keep_libraries();
	if (argc < 2 || argc > 3)
		bail_out("usage: t_udapl IA [plain|noncoherent]");
	noncoherent = !strcmp(mode, "noncoherent");
	plan(0);
	open_all(argv[1]);
	if (noncoherent) {
		test_attributes();
		test_sync_write();
		test_sync_read();
		test_sync_refused();
		test_sync_call(dat_lmr_sync_rdma_read, "dat_lmr_sync_rdma_read");
		test_sync_call(dat_lmr_sync_rdma_write, "dat_lmr_sync_rdma_write");
		close_all(DAT_CLOSE_GRACEFUL_FLAG);
		return done_testing();
	}
	if (!strcmp(mode, "plain")) {
		test_not_masked();
		test_immediate();
		test_atomics();
		close_all(DAT_CLOSE_GRACEFUL_FLAG);
		return done_testing();
	}
	test_attributes();
	test_immediate();
	test_atomics();
	test_masked();
	test_refused();
	test_refused_receive();
	test_sync_call(dat_lmr_sync_rdma_read, "dat_lmr_sync_rdma_read");
	test_sync_call(dat_lmr_sync_rdma_write, "dat_lmr_sync_rdma_write");
	test_errors();
	close_all(DAT_CLOSE_ABRUPT_FLAG);
	open_all(argv[1]);
	test_suppressed_error();
	test_freed();
	close_all(DAT_CLOSE_ABRUPT_FLAG);
	test_opens(argv[1]);
	test_two(argv[1]);
	return done_testing();
}
