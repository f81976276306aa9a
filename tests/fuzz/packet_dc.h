/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of the packet target that only DC QPs need (packet_dc.c). */
#ifndef FUZZ_PACKET_DC_H
#define FUZZ_PACKET_DC_H

#include "dc/dc.h"
#include "world.h"

/**
 * packet_dc_plausible() - Fill in the numbers of the DC headers of a packet.
 * @p: DCETH of a packet; what the input has put there is relative
 * @len: bytes from there to the end of the packet
 * @is_stranger: the packet does not come from end A or B
 *
 * Return: length of the DC headers in bytes.
 */
size_t packet_dc_plausible(u8 *p, size_t len, bool is_stranger);

/**
 * packet_dc_put_dest() - Write the target of a request of the initiator.
 * @wqe: WQE of the send ring of end A
 * @choice: selects a route, and a wrong key or number
 */
void packet_dc_put_dest(struct mxe_send_wqe *wqe, u8 choice);

/**
 * packet_dc_query() - Return what the target counts.
 * @info: set to the counts; 0 if the QPs are not DC QPs
 *
 * Without the key violations and the arming, which a forged packet may change.
 */
void packet_dc_query(struct mxe_dct_info *info);

/**
 * packet_dc_arm() - Arm the target for a wrong key, as a process can.
 */
void packet_dc_arm(void);

/**
 * packet_dc_before() - Note the counts before a packet is received.
 */
void packet_dc_before(void);

/**
 * packet_dc_after() - Count what a received packet has done to sessions.
 */
void packet_dc_after(void);

/**
 * packet_dc_report() - Print the counts of all inputs.
 */
void packet_dc_report(void);

#endif /* FUZZ_PACKET_DC_H */
