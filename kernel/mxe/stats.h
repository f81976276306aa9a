/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a device, which `rdma statistic` shows (stats.c). */
#ifndef MXE_STATS_H
#define MXE_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

struct ib_device;
struct mxe_dev;

/* The list of counters.  MXE_CNT_x is shown as "x". */
#define MXE_COUNTERS(X)			\
	X(sent_pkts)			\
	X(rcvd_pkts)			\
	X(rcvd_early_pkts)		\
	X(sent_gso_batches)			\
	X(rcvd_gso_batches)			\
	/* received packets dropped, by reason */ \
	X(drop_no_memory)		\
	X(drop_short)			\
	X(drop_version)			\
	X(drop_opcode)			\
	X(drop_length)			\
	X(drop_icrc)			\
	X(drop_qpn)			\
	X(drop_address)			\
	X(drop_state)			\
	X(drop_pkey)			\
	X(drop_qkey)			\
	X(drop_transport)		\
	X(drop_mcast)			\
	X(drop_no_recv)			\
	X(drop_recv_too_short)		\
	X(drop_uc_message)		\
	X(drop_busy)			\
	X(drop_unsolicited_response)		\
	X(drop_duplicate_unknown)	\
	X(drop_duplicate_mismatch)	\
	/* congestion */		\
	X(rcvd_ecn_marked)		\
	X(sent_cnp)			\
	X(rcvd_cnp)			\
	/* responder */			\
	X(atomics_executed)		\
	X(masked_atomics_executed)	\
	X(duplicate_requests)		\
	X(out_of_sequence)		\
	X(sent_nak_sequence)		\
	X(sent_nak_invalid_request)	\
	X(sent_nak_remote_access)	\
	X(sent_nak_remote_operation)	\
	X(sent_rnr_nak)			\
	X(tm_matched)			\
	X(tm_unexpected)		\
	X(tm_rendezvous)		\
	/* dynamically connected transport */ \
	X(dc_connects)			\
	X(dc_accepts)			\
	X(dc_challenges)		\
	X(dc_key_violations)		\
	X(dc_refused)			\
	X(dc_busy)			\
	X(dc_expired)			\
	X(dc_lost_sessions)		\
	/* requester */			\
	X(loop_requests)		\
	X(rcvd_nak_sequence)		\
	X(rcvd_rnr_nak)			\
	X(rcvd_nak_fatal)		\
	X(implied_nak)			\
	X(retransmit_timeouts)		\
	X(retry_exceeded)		\
	X(rnr_retry_exceeded)		\
	X(send_no_route)		\
	X(send_no_memory)		\
	/* errors of consumers */		\
	X(bad_wqe)			\
	X(local_access_errors)		\
	X(cq_overruns)			\
	X(refused_verbs)		\
	/* of a process, to the RoCE port */ \
	X(refused_datagrams)

enum mxe_counter {
#define X(name) MXE_CNT_##name,
	MXE_COUNTERS(X)
#undef X
	MXE_CNT_COUNT
};

struct mxe_stats {
	u64 value[MXE_CNT_COUNT];
};

/* Add to a counter.  May be used in any context. */
#define mxe_count_by(dev, name, n) \
	this_cpu_add((dev)->stats->value[MXE_CNT_##name], n)
#define mxe_count(dev, name)	mxe_count_by(dev, name, 1)

/* Verbs alloc_hw_port_stats and get_hw_stats of struct ib_device_ops. */
struct rdma_hw_stats *mxe_stats_alloc(struct ib_device *ibdev, u32 port);
int mxe_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		  u32 port, int index);

#endif /* MXE_STATS_H */
