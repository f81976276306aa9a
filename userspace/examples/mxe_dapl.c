// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls of the uDAPL extension proposal of 2005, masked atomics in the same
 * style, and both calls for memory synchronisation.  The server offers a text
 * and a word.  The client writes the text with immediate data, changes the word
 * with four atomics, and reads a text that the server writes.
 *
 * Usage, between two hosts, where IA is the name of a line in dat.conf:
 *
 *	host2$ mxe_dapl [-n] IA
 *	host1$ mxe_dapl IA address-of-host2
 *
 * With -n the server omits the calls for memory synchronisation, which a
 * program must not do if lmr_sync_req is DAT_TRUE.
 *
 * Build it with
 *
 *	gcc mxe_dapl.c -o mxe_dapl $(pkg-config --cflags --libs dat)
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dat/dat_extensions.h>
#include <dat2/dat_ib_extensions.h>

#define CONN_QUAL	4712
#define TIMEOUT_US	60000000
#define QLEN		16
#define TEXT_BYTES	64

/* The immediate data of the client's two messages. */
enum { TEXT_IS_WRITTEN = 0x7e87, WORD_IS_CHANGED = 0x30cd };

/* The registered memory.  Clients access the server's first two members. */
static struct {
	DAT_UINT64 word;
	char text[TEXT_BYTES];
	DAT_UINT64 old;			/* result of an atomic */
	char message[TEXT_BYTES];	/* source of a write, target of a read */
} mem = { .word = 0x1111222233334444, .text = "nothing" };

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EP_HANDLE ep;
static DAT_EVD_HANDLE async_evd, conn_evd, cr_evd, recv_evd, request_evd;
static DAT_LMR_CONTEXT lmr_context;
static DAT_RMR_CONTEXT rmr_context;

/* Where the server's memory is, the private data of its answer. */
struct offer {
	DAT_RMR_TRIPLET word, text;
};

static void check(DAT_RETURN ret, const char *what)
{
	const char *major = "unknown error", *minor = "";

	if (ret == DAT_SUCCESS)
		return;
	dat_strerror(ret, &major, &minor);
	fprintf(stderr, "%s: %s %s\n", what, major, minor);
	exit(EXIT_FAILURE);
}

static DAT_LMR_TRIPLET local(void *address, DAT_SEG_LENGTH length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (uintptr_t)address, .segment_length = length,
		.lmr_context = lmr_context,
	};
}

static DAT_RMR_TRIPLET remote(void *address, DAT_SEG_LENGTH length)
{
	return (DAT_RMR_TRIPLET){
		.virtual_address = (uintptr_t)address, .segment_length = length,
		.rmr_context = rmr_context,
	};
}

/* ---- setup ------------------------------------------------------------- */

static void create_evd(DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd)
{
	check(dat_evd_create(ia, QLEN, DAT_HANDLE_NULL, flags, evd), "dat_evd_create");
}

static void open_ia(const char *name)
{
	DAT_MEM_PRIV_FLAGS rights = (DAT_MEM_PRIV_FLAGS)
		(DAT_MEM_PRIV_ALL_FLAG | (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
	DAT_REGION_DESCRIPTION region = { .for_va = &mem };
	DAT_LMR_HANDLE lmr;
	DAT_VADDR address;
	DAT_VLEN length;

	async_evd = DAT_HANDLE_NULL;
	check(dat_ia_open((DAT_NAME_PTR)name, QLEN, &async_evd, &ia), "dat_ia_open");
	check(dat_pz_create(ia, &pz), "dat_pz_create");
	check(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(mem), pz, rights,
			     DAT_VA_TYPE_VA, &lmr, &lmr_context, &rmr_context,
			     &length, &address), "dat_lmr_create");
	create_evd(DAT_EVD_CR_FLAG, &cr_evd);
	create_evd(DAT_EVD_CONNECTION_FLAG, &conn_evd);
	create_evd(DAT_EVD_DTO_FLAG, &recv_evd);
	create_evd(DAT_EVD_DTO_FLAG, &request_evd);
	check(dat_ep_create(ia, pz, recv_evd, request_evd, conn_evd, NULL, &ep),
	      "dat_ep_create");
}

static DAT_EVENT wait_for(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_COUNT more;

	check(dat_evd_wait(evd, TIMEOUT_US, 1, &event, &more), "dat_evd_wait");
	return event;
}

static DAT_EVENT wait_for_connection(DAT_EVENT_NUMBER number)
{
	DAT_EVENT event = wait_for(conn_evd);

	if (event.event_number == number)
		return event;
	fprintf(stderr, "connection event %#x\n", event.event_number);
	exit(EXIT_FAILURE);
}

/* ---- extended operations ----------------------------------------------- */

static const char *name_of(DAT_EXT_EVENT_TYPE type)
{
	switch (type) {
	case DAT_EXT_RDMA_WRITE_IMMED_STATUS:
		return "DAT_EXT_RDMA_WRITE_IMMED_STATUS";
	case DAT_EXT_RECV_NO_IMMED:
		return "DAT_EXT_RECV_NO_IMMED";
	case DAT_EXT_RECV_IMMED_DATA_EVENT:
		return "DAT_EXT_RECV_IMMED_DATA_EVENT";
	case DAT_EXT_FETCH_AND_ADD_STATUS:
		return "DAT_EXT_FETCH_AND_ADD_STATUS";
	case DAT_EXT_CMP_AND_SWAP_STATUS:
		return "DAT_EXT_CMP_AND_SWAP_STATUS";
	case DAT_EXT_MASKED_FETCH_AND_ADD_STATUS:
		return "DAT_EXT_MASKED_FETCH_AND_ADD_STATUS";
	case DAT_EXT_MASKED_CMP_AND_SWAP_STATUS:
		return "DAT_EXT_MASKED_CMP_AND_SWAP_STATUS";
	default:
		return "an unknown type";
	}
}

/*
 * Checks that the call succeeded, waits for its event and prints it.  Returns
 * the extension data of the event.
 */
static DAT_EXTENSION_DATA finish(DAT_RETURN ret, DAT_EVD_HANDLE evd, const char *call)
{
	DAT_EXTENSION_DATA data;
	DAT_EVENT event;

	check(ret, call);
	event = wait_for(evd);
	data = *DAT_EVENT_EXTENSION_DATA(&event);
	if (event.event_number != DAT_EXTENSION_EVENT || data.status != DAT_DTO_SUCCESS) {
		fprintf(stderr, "%s: event %#x, status %d\n", call, event.event_number,
			event.event_data.dto_completion_event_data.status);
		exit(EXIT_FAILURE);
	}
	printf("%s\n    %s\n", call, name_of(data.type));
	return data;
}

static DAT_RETURN post_receive(void)
{
	DAT_LMR_TRIPLET to = local(mem.message, TEXT_BYTES);
	DAT_DTO_COOKIE cookie = { .as_64 = 1 };

	return dat_ep_post_recv_immed(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG);
}

/* ---- server ------------------------------------------------------------ */

static DAT_BOOLEAN sync_is_required(void)
{
	DAT_PROVIDER_ATTR attr = {};

	check(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_LMR_SYNC_REQ, &attr),
	      "dat_ia_query");
	return attr.lmr_sync_req;
}

static void accept_client(void)
{
	struct offer offer = {
		.word = remote(&mem.word, sizeof(mem.word)),
		.text = remote(mem.text, sizeof(mem.text)),
	};
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;

	check(dat_psp_create(ia, CONN_QUAL, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
	      "dat_psp_create");
	event = wait_for(cr_evd);
	check(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep,
			    sizeof(offer), &offer), "dat_cr_accept");
	wait_for_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* Waits for an event with these immediate data. */
static void expect_immediate(DAT_UINT32 want)
{
	DAT_EXTENSION_DATA data = finish(DAT_SUCCESS, recv_evd, "dat_ep_post_recv_immed");

	printf("    immediate data %#x\n", data.val.immed.data);
	if (data.type != DAT_EXT_RECV_IMMED_DATA_EVENT || data.val.immed.data != want)
		exit(EXIT_FAILURE);
}

static void run_server(bool sync)
{
	DAT_LMR_TRIPLET all[2] = {
		local(&mem.word, sizeof(mem.word)), local(mem.text, sizeof(mem.text)),
	};
	DAT_LMR_TRIPLET from = local(mem.message, 1);
	DAT_DTO_COOKIE cookie = { .as_64 = 2 };

	printf("lmr_sync_req is %s\n", sync_is_required() ? "DAT_TRUE" : "DAT_FALSE");
	check(post_receive(), "dat_ep_post_recv_immed");
	check(post_receive(), "dat_ep_post_recv_immed");
	accept_client();

	expect_immediate(TEXT_IS_WRITTEN);
	expect_immediate(WORD_IS_CHANGED);
	if (sync) {
		check(dat_lmr_sync_rdma_write(ia, all, 2), "dat_lmr_sync_rdma_write");
		printf("dat_lmr_sync_rdma_write\n");
	}
	printf("    the text is \"%s\", the word is %#llx\n", mem.text,
	       (unsigned long long)mem.word);

	strcpy(mem.text, "written by the server");
	if (sync) {
		check(dat_lmr_sync_rdma_read(ia, &all[1], 1), "dat_lmr_sync_rdma_read");
		printf("dat_lmr_sync_rdma_read\n");
	}
	check(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG),
	      "dat_ep_post_send");
	wait_for(request_evd);
	wait_for_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* ---- client ------------------------------------------------------------ */

static struct offer connect_to(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	DAT_CONNECTION_EVENT_DATA *connection;
	struct offer offer;
	DAT_EVENT event;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1) {
		fprintf(stderr, "%s is not an IPv4 address\n", address);
		exit(EXIT_FAILURE);
	}
	check(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&to, CONN_QUAL, TIMEOUT_US, 0, NULL,
			     DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	      "dat_ep_connect");
	event = wait_for_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
	connection = &event.event_data.connect_event_data;
	if (connection->private_data_size < (DAT_COUNT)sizeof(offer)) {
		fprintf(stderr, "the server has not sent its addresses\n");
		exit(EXIT_FAILURE);
	}
	memcpy(&offer, connection->private_data, sizeof(offer));
	return offer;
}

static void write_text(const struct offer *offer, const char *text, DAT_UINT32 immediate)
{
	DAT_LMR_TRIPLET from = local(mem.message, TEXT_BYTES);
	DAT_DTO_COOKIE cookie = { .as_64 = 3 };

	strcpy(mem.message, text);
	finish(dat_ep_post_write_immed(ep, 1, &from, cookie, &offer->text, immediate,
				       DAT_EXT_WRITE_IMMED_FLAG,
				       DAT_COMPLETION_DEFAULT_FLAG),
	       request_evd, "dat_ep_post_write_immed");
}

static void print_old(void)
{
	printf("    the old value is %#llx\n", (unsigned long long)mem.old);
}

static void change_word(const struct offer *offer)
{
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_LMR_TRIPLET old = local(&mem.old, sizeof(mem.old));
	DAT_DTO_COOKIE cookie = { .as_64 = 4 };

	finish(dat_ep_post_cmp_and_swap(ep, 0x1111222233334444, 0xffff0001, &old, cookie,
					&offer->word, flags),
	       request_evd, "dat_ep_post_cmp_and_swap");
	print_old();
	finish(dat_ep_post_fetch_and_add(ep, 1, &old, cookie, &offer->word, flags),
	       request_evd, "dat_ep_post_fetch_and_add");
	print_old();
	/* If bits 0 to 15 are 2, set bits 32 to 47 to 0xabcd. */
	finish(dat_ep_post_masked_cmp_and_swap(ep, 2, 0xffff, 0xabcd00000000,
					       0xffff00000000, &old, cookie,
					       &offer->word, flags),
	       request_evd, "dat_ep_post_masked_cmp_and_swap");
	print_old();
	/* Add 1 to each of four fields of 16 bits. */
	finish(dat_ep_post_masked_fetch_and_add(ep, 0x0001000100010001,
						0x8000800080008000, &old, cookie,
						&offer->word, flags),
	       request_evd, "dat_ep_post_masked_fetch_and_add");
	print_old();
}

static void read_text(const struct offer *offer)
{
	DAT_LMR_TRIPLET to = local(mem.message, TEXT_BYTES);
	DAT_DTO_COOKIE cookie = { .as_64 = 5 };

	finish(DAT_SUCCESS, recv_evd, "dat_ep_post_recv_immed");
	check(dat_ep_post_rdma_read(ep, 1, &to, cookie, &offer->text,
				    DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_rdma_read");
	wait_for(request_evd);
	printf("dat_ep_post_rdma_read\n    the text is \"%s\"\n", mem.message);
}

static void run_client(const char *address)
{
	struct offer offer;

	check(post_receive(), "dat_ep_post_recv_immed");
	offer = connect_to(address);
	write_text(&offer, "written by the client", TEXT_IS_WRITTEN);
	change_word(&offer);
	write_text(&offer, "written by the client again", WORD_IS_CHANGED);
	read_text(&offer);
	check(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
	wait_for_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
}

int main(int argc, char **argv)
{
	bool sync = true;
	int option;

	while ((option = getopt(argc, argv, "n")) == 'n')
		sync = false;
	if (option != -1 || argc - optind < 1 || argc - optind > 2) {
		fprintf(stderr, "Usage: mxe_dapl [-n] IA [ADDRESS]\n");
		return EXIT_FAILURE;
	}
	open_ia(argv[optind]);
	if (argc - optind == 2)
		run_client(argv[optind + 1]);
	else
		run_server(sync);
	/* Frees all objects of the IA, too. */
	check(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	return 0;
}
