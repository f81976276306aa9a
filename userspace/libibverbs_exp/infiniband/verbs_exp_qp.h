/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Experimental verbs: queue pairs, sending, completions.
 *
 * Included by infiniband/verbs_exp.h, never alone.
 */
#ifndef _INFINIBAND_VERBS_EXP_QP_H
#define _INFINIBAND_VERBS_EXP_QP_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- queue pairs ------------------------------------------------------- */

enum ibv_exp_qp_init_attr_comp_mask {
	IBV_EXP_QP_INIT_ATTR_PD			= 1 << 0,
	IBV_EXP_QP_INIT_ATTR_XRCD		= 1 << 1,
	IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS	= 1 << 2,
	IBV_EXP_QP_INIT_ATTR_INL_RECV		= 1 << 3,
	IBV_EXP_QP_INIT_ATTR_QPG		= 1 << 4,
	IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG	= 1 << 5,
	IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS	= 1 << 6,
	IBV_EXP_QP_INIT_ATTR_RESERVED		= 1 << 7,
	IBV_EXP_QP_INIT_ATTR_RES_DOMAIN		= 1 << 7,
	IBV_EXP_QP_INIT_ATTR_RX_HASH		= 1 << 8,
	IBV_EXP_QP_INIT_ATTR_PORT		= 1 << 9,
	IBV_EXP_QP_INIT_ATTR_PEER_DIRECT	= 1 << 10,
	IBV_EXP_QP_INIT_ATTR_MAX_TSO_HEADER	= 1 << 11,
	IBV_EXP_QP_INIT_ATTR_ASSOCIATED_QPN	= 1 << 12,
	IBV_EXP_QP_INIT_ATTR_RESERVED1		= 1 << 13,
};

enum ibv_exp_qp_create_flags {
	IBV_EXP_QP_CREATE_CROSS_CHANNEL			= 1 << 2,
	IBV_EXP_QP_CREATE_MANAGED_SEND			= 1 << 3,
	IBV_EXP_QP_CREATE_MANAGED_RECV			= 1 << 4,
	IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW		= 1 << 6,
	IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW		= 1 << 7,
	IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY		= 1 << 8,
	IBV_EXP_QP_CREATE_UMR				= 1 << 9,
	IBV_EXP_QP_CREATE_EC_PARITY_EN			= 1 << 10,
	IBV_EXP_QP_CREATE_RX_END_PADDING		= 1 << 11,
	IBV_EXP_QP_CREATE_SCATTER_FCS			= 1 << 12,
	IBV_EXP_QP_CREATE_TUNNEL_OFFLOADS		= 1 << 13,
	IBV_EXP_QP_CREATE_INTERNAL_USE			= 1 << 15,
	IBV_EXP_QP_CREATE_PACKET_BASED_CREDIT_MODE	= 1 << 16,
	IBV_EXP_QP_CREATE_MASK				= 0x13fdc,
};

enum ibv_exp_qpg_type {
	IBV_EXP_QPG_NONE	= 0,
	IBV_EXP_QPG_PARENT	= 1,
	IBV_EXP_QPG_CHILD_RX	= 2,
	IBV_EXP_QPG_CHILD_TX	= 4,
};

struct ibv_exp_qpg_init_attrib {
	uint32_t tss_child_count;
	uint32_t rss_child_count;
};

struct ibv_exp_qpg {
	uint32_t qpg_type;	/* enum ibv_exp_qpg_type */
	union {
		struct ibv_qp *qpg_parent;
		struct ibv_exp_qpg_init_attrib parent_attrib;
	};
};

struct ibv_exp_rx_hash_conf {
	uint8_t rx_hash_function;	/* enum ibv_exp_rx_hash_function_flags */
	uint8_t rx_hash_key_len;
	uint8_t *rx_hash_key;
	uint64_t rx_hash_fields_mask;	/* enum ibv_exp_rx_hash_fields */
	struct ibv_exp_rwq_ind_table *rwq_ind_tbl;
};

struct ibv_exp_qp_init_attr {
	void *qp_context;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
	/* Up to here as struct ibv_qp_init_attr. */
	uint32_t comp_mask;	/* enum ibv_exp_qp_init_attr_comp_mask */
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	uint32_t exp_create_flags;	/* enum ibv_exp_qp_create_flags */
	uint32_t max_inl_recv;
	struct ibv_exp_qpg qpg;
	uint32_t max_atomic_arg;	/* bytes */
	uint32_t max_inl_send_klms;
	struct ibv_exp_res_domain *res_domain;
	struct ibv_exp_rx_hash_conf *rx_hash_conf;
	uint8_t port_num;
	struct ibv_exp_peer_direct_attr *peer_direct_attrs;
	uint16_t max_tso_header;
	uint32_t associated_qpn;
};

/* The low bits are those of enum ibv_qp_attr_mask. */
enum ibv_exp_qp_attr_mask {
	IBV_EXP_QP_STATE			= 1 << 0,
	IBV_EXP_QP_CUR_STATE			= 1 << 1,
	IBV_EXP_QP_EN_SQD_ASYNC_NOTIFY		= 1 << 2,
	IBV_EXP_QP_ACCESS_FLAGS			= 1 << 3,
	IBV_EXP_QP_PKEY_INDEX			= 1 << 4,
	IBV_EXP_QP_PORT				= 1 << 5,
	IBV_EXP_QP_QKEY				= 1 << 6,
	IBV_EXP_QP_AV				= 1 << 7,
	IBV_EXP_QP_PATH_MTU			= 1 << 8,
	IBV_EXP_QP_TIMEOUT			= 1 << 9,
	IBV_EXP_QP_RETRY_CNT			= 1 << 10,
	IBV_EXP_QP_RNR_RETRY			= 1 << 11,
	IBV_EXP_QP_RQ_PSN			= 1 << 12,
	IBV_EXP_QP_MAX_QP_RD_ATOMIC		= 1 << 13,
	IBV_EXP_QP_ALT_PATH			= 1 << 14,
	IBV_EXP_QP_MIN_RNR_TIMER		= 1 << 15,
	IBV_EXP_QP_SQ_PSN			= 1 << 16,
	IBV_EXP_QP_MAX_DEST_RD_ATOMIC		= 1 << 17,
	IBV_EXP_QP_PATH_MIG_STATE		= 1 << 18,
	IBV_EXP_QP_CAP				= 1 << 19,
	IBV_EXP_QP_DEST_QPN			= 1 << 20,
	IBV_EXP_QP_GROUP_RSS			= 1ULL << 53,
	IBV_EXP_QP_DC_KEY			= 1ULL << 54,
	IBV_EXP_QP_FLOW_ENTROPY			= 1ULL << 55,
	IBV_EXP_QP_OOO_RW_DATA_PLACEMENT	= 1ULL << 56,
	IBV_EXP_QP_RATE_LIMIT			= 1ULL << 57,
};

enum ibv_exp_qp_attr_comp_mask {
	IBV_EXP_QP_ATTR_FLOW_ENTROPY	= 1 << 0,
	IBV_EXP_QP_ATTR_BURST_INFO	= 1 << 1,
	IBV_EXP_QP_ATTR_RESERVED	= 1 << 2,
};

struct ibv_exp_burst_info {
	uint32_t max_burst_sz;
	uint16_t typical_pkt_sz;
};

struct ibv_exp_qp_attr {
	enum ibv_qp_state qp_state;
	enum ibv_qp_state cur_qp_state;
	enum ibv_mtu path_mtu;
	enum ibv_mig_state path_mig_state;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qp_num;
	int qp_access_flags;
	struct ibv_qp_cap cap;
	struct ibv_ah_attr ah_attr;
	struct ibv_ah_attr alt_ah_attr;
	uint16_t pkey_index;
	uint16_t alt_pkey_index;
	uint8_t en_sqd_async_notify;
	uint8_t sq_draining;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t port_num;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t alt_port_num;
	uint8_t alt_timeout;
	/* Up to here as struct ibv_qp_attr. */
	uint64_t dct_key;
	uint32_t comp_mask;	/* enum ibv_exp_qp_attr_comp_mask */
	uint32_t flow_entropy;
	uint32_t rate_limit;
	struct ibv_exp_burst_info burst_info;
};

/* Returns NULL and sets errno if it fails. */
struct ibv_qp *ibv_exp_create_qp(struct ibv_context *context,
				 struct ibv_exp_qp_init_attr *qp_init_attr);

/* Returns 0 or a positive errno. */
int ibv_exp_modify_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *attr,
		      uint64_t exp_attr_mask);

/* ---- sending ----------------------------------------------------------- */

enum ibv_exp_wr_opcode {
	IBV_EXP_WR_RDMA_WRITE				= 0,
	IBV_EXP_WR_RDMA_WRITE_WITH_IMM			= 1,
	IBV_EXP_WR_SEND					= 2,
	IBV_EXP_WR_SEND_WITH_IMM			= 3,
	IBV_EXP_WR_RDMA_READ				= 4,
	IBV_EXP_WR_ATOMIC_CMP_AND_SWP			= 5,
	IBV_EXP_WR_ATOMIC_FETCH_AND_ADD			= 6,
	IBV_EXP_WR_LOCAL_INV				= 7,
	IBV_EXP_WR_BIND_MW				= 8,
	IBV_EXP_WR_SEND_WITH_INV			= 9,
	IBV_EXP_WR_TSO					= 0x4f,
	IBV_EXP_WR_SEND_ENABLE				= 0x60,
	IBV_EXP_WR_RECV_ENABLE				= 0x61,
	IBV_EXP_WR_CQE_WAIT				= 0x62,
	IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP	= 0x63,
	IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD	= 0x64,
	IBV_EXP_WR_NOP					= 0x65,
	IBV_EXP_WR_UMR_FILL				= 0x66,
	IBV_EXP_WR_UMR_INVALIDATE			= 0x67,
};

/* The low four are those of enum ibv_send_flags. */
enum ibv_exp_send_flags {
	IBV_EXP_SEND_FENCE		= 1 << 0,
	IBV_EXP_SEND_SIGNALED		= 1 << 1,
	IBV_EXP_SEND_SOLICITED		= 1 << 2,
	IBV_EXP_SEND_INLINE		= 1 << 3,
	IBV_EXP_SEND_IP_CSUM		= 1ULL << 32,
	IBV_EXP_SEND_WITH_CALC		= 1ULL << 33,
	IBV_EXP_SEND_WAIT_EN_LAST	= 1ULL << 34,
	IBV_EXP_SEND_EXT_ATOMIC_INLINE	= 1ULL << 35,
};

enum ibv_exp_send_wr_comp_mask {
	IBV_EXP_SEND_WR_ATTR_RESERVED	= 1 << 0,
};

enum ibv_exp_calc_op {
	IBV_EXP_CALC_OP_ADD	= 0,
	IBV_EXP_CALC_OP_MAXLOC	= 1,
	IBV_EXP_CALC_OP_BAND	= 2,
	IBV_EXP_CALC_OP_BXOR	= 3,
	IBV_EXP_CALC_OP_BOR	= 4,
	IBV_EXP_CALC_OP_NUMBER	= 5,
};

enum ibv_exp_calc_data_type {
	IBV_EXP_CALC_DATA_TYPE_INT	= 0,
	IBV_EXP_CALC_DATA_TYPE_UINT	= 1,
	IBV_EXP_CALC_DATA_TYPE_FLOAT	= 2,
	IBV_EXP_CALC_DATA_TYPE_NUMBER	= 3,
};

enum ibv_exp_calc_data_size {
	IBV_EXP_CALC_DATA_SIZE_64_BIT	= 0,
	IBV_EXP_CALC_DATA_SIZE_NUMBER	= 1,
};

enum ibv_exp_umr_wr_type {
	IBV_EXP_UMR_MR_LIST		= 0,
	IBV_EXP_UMR_REPEAT		= 1,
	IBV_EXP_UMR_MR_LIST_FIXED_SIZE	= 2,
};

struct ibv_exp_mem_region {
	uint64_t base_addr;
	struct ibv_mr *mr;
	size_t length;
};

struct ibv_exp_mem_repeat_block {
	uint64_t base_addr;
	struct ibv_mr *mr;
	size_t *byte_count;
	size_t *stride;
};

struct ibv_exp_mw_bind_info {
	struct ibv_mr *mr;
	uint64_t addr;
	uint64_t length;
	uint64_t exp_mw_access_flags;
};

/*
 * if (((compare_val ^ old) & compare_mask) == 0)
 *	new = (old & ~swap_mask) | (swap_val & swap_mask);
 */
struct ibv_exp_cmp_swap {
	uint64_t compare_mask;
	uint64_t compare_val;
	uint64_t swap_val;
	uint64_t swap_mask;
};

/*
 * A set bit of field_boundary is the most significant bit of a field; the carry
 * out of it is dropped.
 */
struct ibv_exp_fetch_add {
	uint64_t add_val;
	uint64_t field_boundary;
};

struct ibv_exp_send_wr {
	uint64_t wr_id;
	struct ibv_exp_send_wr *next;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_exp_wr_opcode exp_opcode;
	int reserved;
	union {
		uint32_t imm_data;	/* network byte order */
		uint32_t invalidate_rkey;
	} ex;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_ah *ah;
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
	} wr;
	union {
		union {
			struct {
				uint32_t remote_srqn;
			} xrc;
		} qp_type;
		uint32_t xrc_remote_srq_num;
	};
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ibv_cq *cq;
			int32_t cq_count;
		} cqe_wait;
		struct {
			struct ibv_qp *qp;
			int32_t wqe_count;
		} wqe_enable;
	} task;
	union {
		struct {
			enum ibv_exp_calc_op calc_op;
			enum ibv_exp_calc_data_type data_type;
			enum ibv_exp_calc_data_size data_size;
		} calc;
	} op;
	struct {
		struct ibv_ah *ah;
		uint64_t dct_access_key;
		uint32_t dct_number;
	} dc;
	union {
		struct {
			struct ibv_mw *mw;
			uint32_t rkey;
			struct ibv_exp_mw_bind_info bind_info;
		} bind_mw;
		struct {
			void *hdr;
			uint16_t hdr_sz;
			uint16_t mss;
		} tso;
	};
	uint64_t exp_send_flags;	/* enum ibv_exp_send_flags */
	uint32_t comp_mask;
	union {
		struct {
			uint32_t umr_type;	/* enum ibv_exp_umr_wr_type */
			struct ibv_exp_mkey_list_container *memory_objects;
			uint64_t exp_access;
			struct ibv_mr *modified_mr;
			uint64_t base_addr;
			uint32_t num_mrs;
			union {
				struct ibv_exp_mem_region *mem_reg_list;
				struct {
					struct ibv_exp_mem_repeat_block *mem_repeat_block_list;
					size_t *repeat_count;
					uint32_t stride_dim;
				} rb;
			} mem_list;
		} umr;
		struct {
			uint32_t log_arg_sz;	/* operands of 2^n bytes */
			uint64_t remote_addr;
			uint32_t rkey;
			union {
				struct {
					union {
						struct ibv_exp_cmp_swap cmp_swap;
						struct ibv_exp_fetch_add fetch_add;
					} op;
				} inline_data;
			} wr_data;
		} masked_atomics;
	} ext_op;
};

/*
 * Returns 0 or a positive errno; then *bad_wr is the first request that has not
 * been posted, and those before it have been.
 */
int ibv_exp_post_send(struct ibv_qp *qp, struct ibv_exp_send_wr *wr,
		      struct ibv_exp_send_wr **bad_wr);

/* ---- completions ------------------------------------------------------- */

enum ibv_exp_wc_opcode {
	IBV_EXP_WC_SEND			= 0,
	IBV_EXP_WC_RDMA_WRITE		= 1,
	IBV_EXP_WC_RDMA_READ		= 2,
	IBV_EXP_WC_COMP_SWAP		= 3,
	IBV_EXP_WC_FETCH_ADD		= 4,
	IBV_EXP_WC_BIND_MW		= 5,
	IBV_EXP_WC_LOCAL_INV		= 6,
	IBV_EXP_WC_MASKED_COMP_SWAP	= 9,
	IBV_EXP_WC_MASKED_FETCH_ADD	= 10,
	IBV_EXP_WC_TSO			= 11,
	IBV_EXP_WC_UMR			= 0x100,
	IBV_EXP_WC_RECV			= 1 << 7,
	IBV_EXP_WC_RECV_RDMA_WITH_IMM	= (1 << 7) + 1,
	IBV_EXP_WC_TM_ADD		= 0xc0,
	IBV_EXP_WC_TM_DEL		= 0xc1,
	IBV_EXP_WC_TM_SYNC		= 0xc2,
	IBV_EXP_WC_TM_RECV		= 0xc3,
	IBV_EXP_WC_TM_NO_TAG		= 0xc4,
	IBV_EXP_WC_RECV_NOP		= 0xc5,
};

enum ibv_exp_wc_flags {
	IBV_EXP_WC_GRH				= 1 << 0,
	IBV_EXP_WC_WITH_IMM			= 1 << 1,
	IBV_EXP_WC_WITH_INV			= 1 << 3,
	IBV_EXP_WC_WITH_SL			= 1ULL << 36,
	IBV_EXP_WC_WITH_SLID			= 1ULL << 37,
	IBV_EXP_WC_WITH_TIMESTAMP		= 1ULL << 38,
	IBV_EXP_WC_QP				= 1ULL << 39,
	IBV_EXP_WC_SRQ				= 1ULL << 40,
	IBV_EXP_WC_DCT				= 1ULL << 41,
	IBV_EXP_WC_RX_IP_CSUM_OK		= 1ULL << 42,
	IBV_EXP_WC_RX_TCP_UDP_CSUM_OK		= 1ULL << 43,
	IBV_EXP_WC_RX_IPV4_PACKET		= 1ULL << 44,
	IBV_EXP_WC_RX_IPV6_PACKET		= 1ULL << 45,
	IBV_EXP_WC_RX_TUNNEL_PACKET		= 1ULL << 46,
	IBV_EXP_WC_RX_OUTER_IP_CSUM_OK		= 1ULL << 47,
	IBV_EXP_WC_RX_OUTER_TCP_UDP_CSUM_OK	= 1ULL << 48,
	IBV_EXP_WC_RX_OUTER_IPV4_PACKET		= 1ULL << 49,
	IBV_EXP_WC_RX_OUTER_IPV6_PACKET		= 1ULL << 50,
	IBV_EXP_WC_TM_SYNC_REQ			= 1ULL << 51,
	IBV_EXP_WC_TM_DEL_FAILED		= 1ULL << 52,
	IBV_EXP_WC_TM_MATCH			= 1ULL << 53,
	IBV_EXP_WC_TM_DATA_VALID		= 1ULL << 54,
	IBV_EXP_WC_TM_RNDV_INCOMPLETE		= 1ULL << 55,
	IBV_EXP_WC_MP_WR_MORE_IN_MSG		= 1ULL << 56,
	IBV_EXP_WC_MP_WR_CONSUMED		= 1ULL << 57,
};

struct ibv_exp_wc {
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_exp_wc_opcode exp_opcode;
	uint32_t vendor_err;
	union {
		uint32_t byte_len;
		struct {
			uint16_t strides_offset;
			uint16_t byte_len;
		} mp_wr;
	};
	uint32_t imm_data;	/* network byte order, or the invalidated rkey */
	uint32_t qp_num;
	uint32_t src_qp;
	int reserved;
	uint16_t pkey_index;
	uint16_t slid;
	uint8_t sl;
	uint8_t dlid_path_bits;
	uint64_t timestamp;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_exp_dct *dct;
	uint64_t exp_wc_flags;	/* enum ibv_exp_wc_flags */
	struct {
		uint64_t tag;
		uint32_t priv;
	} tm_info;
};

/*
 * wc_size is the caller's sizeof(struct ibv_exp_wc).  Returns the number of
 * completions or a negative number.
 */
int ibv_exp_poll_cq(struct ibv_cq *ibcq, int num_entries,
		    struct ibv_exp_wc *wc, uint32_t wc_size);

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_VERBS_EXP_QP_H */
