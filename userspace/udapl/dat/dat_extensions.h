/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interface of the uDAPL Extension Design and API Proposal of December
 * 2005, and masked atomics in the same style.  dat_extensions(7) is the guide.
 *
 * The provider is libdaplmxe.  With any other provider the calls return
 * DAT_NOT_IMPLEMENTED, or an error of that provider for an unknown operation.
 */
#ifndef _DAT_EXTENSIONS_H
#define _DAT_EXTENSIONS_H

#include <dat/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Names of DAT_NAMED_ATTR in provider_specific_attr of DAT_PROVIDER_ATTR. An
 * extension is supported if its name is present with the value "TRUE".
 */
#define DAT_EXT_ATTR				"DAT_EXTENSION_INTERFACE"
#define DAT_EXT_ATTR_RDMA_WRITE_IMMED		"DAT_EXT_RDMA_WRITE_IMMED"
#define DAT_EXT_ATTR_RECV_IMMED			"DAT_EXT_RECV_IMMED"
#define DAT_EXT_ATTR_RECV_IMMED_EVENT		"DAT_EXT_RECV_IMMED_EVENT"
#define DAT_EXT_ATTR_RECV_IMMED_PAYLOAD		"DAT_EXT_RECV_IMMED_PAYLOAD"
#define DAT_EXT_ATTR_FETCH_AND_ADD		"DAT_EXT_FETCH_AND_ADD"
#define DAT_EXT_ATTR_CMP_AND_SWAP		"DAT_EXT_CMP_AND_SWAP"
#define DAT_EXT_ATTR_MASKED_FETCH_AND_ADD	"DAT_EXT_MASKED_FETCH_AND_ADD"
#define DAT_EXT_ATTR_MASKED_CMP_AND_SWAP	"DAT_EXT_MASKED_CMP_AND_SWAP"
#define DAT_EXT_ATTR_TRUE			"TRUE"
#define DAT_EXT_ATTR_FALSE			"FALSE"

typedef enum dat_ext_op {
	DAT_EXT_RDMA_WRITE_IMMED,
	DAT_EXT_RECV_IMMED,
	DAT_EXT_FETCH_AND_ADD,
	DAT_EXT_CMP_AND_SWAP,
	DAT_EXT_MASKED_FETCH_AND_ADD,
	DAT_EXT_MASKED_CMP_AND_SWAP,
} DAT_EXT_OP;

/*
 * Added to a DAT_EXT_OP to make the operation of dat_extension_op(), in which
 * the numbers from 0 are those of enum dat_ib_op.
 */
#define DAT_EXT_OP_BASE 0x800

typedef enum dat_ext_event_type {
	DAT_EXT_RDMA_WRITE_IMMED_STATUS,
	DAT_EXT_RECV_NO_IMMED,
	DAT_EXT_RECV_IMMED_DATA_EVENT,
	DAT_EXT_RECV_IMMED_DATA_PAYLOAD,
	DAT_EXT_FETCH_AND_ADD_STATUS,
	DAT_EXT_CMP_AND_SWAP_STATUS,
	DAT_EXT_MASKED_FETCH_AND_ADD_STATUS,
	DAT_EXT_MASKED_CMP_AND_SWAP_STATUS,
} DAT_EXT_EVENT_TYPE;

typedef enum dat_ext_flags {
	/* Send the immediate data.  Without it, this is an RDMA write. */
	DAT_EXT_WRITE_IMMED_FLAG	= 0x1,
	/*
	 * Complete after the remote side has received the data.  Completions of
	 * reliable connections always mean that.
	 */
	DAT_EXT_WRITE_CONFIRM_FLAG	= 0x2,
} DAT_EXT_FLAGS;

typedef struct dat_immediate_data {
	DAT_UINT32 data;
} DAT_IMMEDIATE_DATA, DAT_RDMA_WRITE_IMMED_DATA;

/*
 * The extension data of an event whose number is DAT_EXTENSION_EVENT. They are
 * in event_extension_data, an array of integers, so the type may alias it.
 */
typedef struct __attribute__((__may_alias__)) dat_extension_data {
	DAT_EXT_EVENT_TYPE type;
	DAT_DTO_COMPLETION_STATUS status;
	union {
		/* DAT_EXT_RECV_IMMED_DATA_EVENT */
		DAT_RDMA_WRITE_IMMED_DATA immed;
	} val;
} DAT_EXTENSION_DATA;

/*
 * Endpoint, cookie, status and length of such an event are in
 * event_data.dto_completion_event_data.
 */
#define DAT_EVENT_EXTENSION_DATA(event) \
	((DAT_EXTENSION_DATA *)(void *)(event)->event_extension_data)

/**
 * dat_ep_post_write_immed() - Write by RDMA, then send immediate data.
 * @ep: DAT_EP_HANDLE of a connected endpoint
 * @size: DAT_COUNT, number of local segments
 * @lbuf: local segments, an array of DAT_LMR_TRIPLET
 * @cookie: DAT_DTO_COOKIE, returned in the event
 * @rbuf: pointer to a DAT_RMR_TRIPLET, remote buffer
 * @idata: DAT_UINT32, immediate data
 * @eflgs: DAT_EXT_FLAGS
 * @flgs: DAT_COMPLETION_FLAGS
 *
 * Return: DAT_RETURN.
 */
#define dat_ep_post_write_immed(ep, size, lbuf, cookie, rbuf, idata, eflgs, flgs) \
	dat_extension_op((DAT_EP_HANDLE)(ep), \
			 DAT_EXT_OP_BASE + DAT_EXT_RDMA_WRITE_IMMED, \
			 (DAT_COUNT)(size), (DAT_LMR_TRIPLET *)(lbuf), \
			 (DAT_DTO_COOKIE)(cookie), \
			 (const DAT_RMR_TRIPLET *)(rbuf), \
			 (DAT_UINT32)(idata), (DAT_EXT_FLAGS)(eflgs), \
			 (DAT_COMPLETION_FLAGS)(flgs))

/**
 * dat_ep_post_recv_immed() - Receive a message or immediate data.
 * @ep: DAT_EP_HANDLE of an endpoint
 * @size: DAT_COUNT, number of local segments
 * @lbuf: local segments, an array of DAT_LMR_TRIPLET
 * @cookie: DAT_DTO_COOKIE, returned in the event
 * @flgs: DAT_COMPLETION_FLAGS
 *
 * Return: DAT_RETURN.
 */
#define dat_ep_post_recv_immed(ep, size, lbuf, cookie, flgs) \
	dat_extension_op((DAT_EP_HANDLE)(ep), \
			 DAT_EXT_OP_BASE + DAT_EXT_RECV_IMMED, \
			 (DAT_COUNT)(size), (DAT_LMR_TRIPLET *)(lbuf), \
			 (DAT_DTO_COOKIE)(cookie), (DAT_COMPLETION_FLAGS)(flgs))

/**
 * dat_ep_post_cmp_and_swap() - Compare and swap a remote word of 8 bytes.
 * @ep: DAT_EP_HANDLE of a connected endpoint
 * @cmp: DAT_UINT64, value to compare with
 * @swap: DAT_UINT64, value to swap in
 * @lbuf: pointer to a DAT_LMR_TRIPLET, one segment of 8 bytes for the old value
 * @cookie: DAT_DTO_COOKIE, returned in the event
 * @rbuf: pointer to a DAT_RMR_TRIPLET, remote word, 8-byte aligned
 * @flgs: DAT_COMPLETION_FLAGS
 *
 * Values are in host byte order.
 *
 * Return: DAT_RETURN.
 */
#define dat_ep_post_cmp_and_swap(ep, cmp, swap, lbuf, cookie, rbuf, flgs) \
	dat_extension_op((DAT_EP_HANDLE)(ep), \
			 DAT_EXT_OP_BASE + DAT_EXT_CMP_AND_SWAP, \
			 (DAT_UINT64)(cmp), (DAT_UINT64)(swap), \
			 (DAT_LMR_TRIPLET *)(lbuf), (DAT_DTO_COOKIE)(cookie), \
			 (const DAT_RMR_TRIPLET *)(rbuf), \
			 (DAT_COMPLETION_FLAGS)(flgs))

/**
 * dat_ep_post_fetch_and_add() - Add to a remote word of 8 bytes.
 * @ep: DAT_EP_HANDLE of a connected endpoint
 * @add: DAT_UINT64, value to add
 * @lbuf: pointer to a DAT_LMR_TRIPLET, one segment of 8 bytes for the old value
 * @cookie: DAT_DTO_COOKIE, returned in the event
 * @rbuf: pointer to a DAT_RMR_TRIPLET, remote word, 8-byte aligned
 * @flgs: DAT_COMPLETION_FLAGS
 *
 * Return: DAT_RETURN.
 */
#define dat_ep_post_fetch_and_add(ep, add, lbuf, cookie, rbuf, flgs) \
	dat_extension_op((DAT_EP_HANDLE)(ep), \
			 DAT_EXT_OP_BASE + DAT_EXT_FETCH_AND_ADD, \
			 (DAT_UINT64)(add), (DAT_LMR_TRIPLET *)(lbuf), \
			 (DAT_DTO_COOKIE)(cookie), \
			 (const DAT_RMR_TRIPLET *)(rbuf), \
			 (DAT_COMPLETION_FLAGS)(flgs))

/**
 * dat_ep_post_masked_cmp_and_swap() - Compare and swap bits of a remote word.
 * @ep: DAT_EP_HANDLE of a connected endpoint
 * @cmp: DAT_UINT64, value to compare with
 * @cmp_mask: DAT_UINT64, bits to compare
 * @swap: DAT_UINT64, value to swap in
 * @swap_mask: DAT_UINT64, bits to swap
 * @lbuf: pointer to a DAT_LMR_TRIPLET, one segment of 8 bytes for the old value
 * @cookie: DAT_DTO_COOKIE, returned in the event
 * @rbuf: pointer to a DAT_RMR_TRIPLET, remote word, 8-byte aligned
 * @flgs: DAT_COMPLETION_FLAGS
 *
 * Return: DAT_RETURN; DAT_NOT_IMPLEMENTED if the device is not an mxe device.
 */
#define dat_ep_post_masked_cmp_and_swap(ep, cmp, cmp_mask, swap, swap_mask, \
					lbuf, cookie, rbuf, flgs) \
	dat_extension_op((DAT_EP_HANDLE)(ep), \
			 DAT_EXT_OP_BASE + DAT_EXT_MASKED_CMP_AND_SWAP, \
			 (DAT_UINT64)(cmp), (DAT_UINT64)(cmp_mask), \
			 (DAT_UINT64)(swap), (DAT_UINT64)(swap_mask), \
			 (DAT_LMR_TRIPLET *)(lbuf), (DAT_DTO_COOKIE)(cookie), \
			 (const DAT_RMR_TRIPLET *)(rbuf), \
			 (DAT_COMPLETION_FLAGS)(flgs))

/**
 * dat_ep_post_masked_fetch_and_add() - Add to fields of a remote word.
 * @ep: DAT_EP_HANDLE of a connected endpoint
 * @add: DAT_UINT64, summands, one in each field
 * @boundary: DAT_UINT64, the most significant bit of each field; its carry is
 *	dropped
 * @lbuf: pointer to a DAT_LMR_TRIPLET, one segment of 8 bytes for the old value
 * @cookie: DAT_DTO_COOKIE, returned in the event
 * @rbuf: pointer to a DAT_RMR_TRIPLET, remote word, 8-byte aligned
 * @flgs: DAT_COMPLETION_FLAGS
 *
 * Return: DAT_RETURN; DAT_NOT_IMPLEMENTED if the device is not an mxe device.
 */
#define dat_ep_post_masked_fetch_and_add(ep, add, boundary, lbuf, cookie, rbuf, \
					 flgs) \
	dat_extension_op((DAT_EP_HANDLE)(ep), \
			 DAT_EXT_OP_BASE + DAT_EXT_MASKED_FETCH_AND_ADD, \
			 (DAT_UINT64)(add), (DAT_UINT64)(boundary), \
			 (DAT_LMR_TRIPLET *)(lbuf), (DAT_DTO_COOKIE)(cookie), \
			 (const DAT_RMR_TRIPLET *)(rbuf), \
			 (DAT_COMPLETION_FLAGS)(flgs))

#ifdef __cplusplus
}
#endif

#endif /* _DAT_EXTENSIONS_H */
