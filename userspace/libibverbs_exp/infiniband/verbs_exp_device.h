/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Experimental verbs: devices, their clock and their ports.
 *
 * Included by infiniband/verbs_exp.h, never alone.
 */
#ifndef _INFINIBAND_VERBS_EXP_DEVICE_H
#define _INFINIBAND_VERBS_EXP_DEVICE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- device ------------------------------------------------------------ */

enum ibv_exp_atomic_cap {
	IBV_EXP_ATOMIC_NONE		= 0,
	IBV_EXP_ATOMIC_HCA		= 1 << 0,
	IBV_EXP_ATOMIC_GLOB		= 1 << 1,
	IBV_EXP_ATOMIC_HCA_REPLY_BE	= 1 << 6,
};

enum ibv_exp_device_attr_comp_mask {
	IBV_EXP_DEVICE_ATTR_CALC_CAP			= 1 << 0,
	IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK		= 1 << 1,
	IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK		= 1 << 2,
	IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS		= 1 << 3,
	IBV_EXP_DEVICE_DC_RD_REQ			= 1 << 4,
	IBV_EXP_DEVICE_DC_RD_RES			= 1 << 5,
	IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ		= 1 << 6,
	IBV_EXP_DEVICE_ATTR_RSS_TBL_SZ			= 1 << 7,
	IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS		= 1 << 8,
	IBV_EXP_DEVICE_ATTR_UMR				= 1 << 9,
	IBV_EXP_DEVICE_ATTR_ODP				= 1 << 10,
	IBV_EXP_DEVICE_ATTR_MAX_DCT			= 1 << 11,
	IBV_EXP_DEVICE_ATTR_MAX_CTX_RES_DOMAIN		= 1 << 12,
	IBV_EXP_DEVICE_ATTR_RX_HASH			= 1 << 13,
	IBV_EXP_DEVICE_ATTR_MAX_WQ_TYPE_RQ		= 1 << 14,
	IBV_EXP_DEVICE_ATTR_MAX_DEVICE_CTX		= 1 << 15,
	IBV_EXP_DEVICE_ATTR_MP_RQ			= 1 << 16,
	IBV_EXP_DEVICE_ATTR_VLAN_OFFLOADS		= 1 << 17,
	IBV_EXP_DEVICE_ATTR_EC_CAPS			= 1 << 18,
	IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS		= 1 << 19,
	IBV_EXP_DEVICE_ATTR_RX_PAD_END_ALIGN		= 1 << 20,
	IBV_EXP_DEVICE_ATTR_TSO_CAPS			= 1 << 21,
	IBV_EXP_DEVICE_ATTR_PACKET_PACING_CAPS		= 1 << 22,
	IBV_EXP_DEVICE_ATTR_EC_GF_BASE			= 1 << 23,
	IBV_EXP_DEVICE_ATTR_OOO_CAPS			= 1 << 24,
	IBV_EXP_DEVICE_ATTR_SW_PARSING_CAPS		= 1 << 25,
	IBV_EXP_DEVICE_ATTR_ODP_MAX_SIZE		= 1 << 26,
	IBV_EXP_DEVICE_ATTR_TM_CAPS			= 1 << 27,
	IBV_EXP_DEVICE_ATTR_TUNNEL_OFFLOADS_CAPS	= 1 << 28,
	IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE			= 1 << 29,
	IBV_EXP_DEVICE_ATTR_TUNNELED_ATOMIC		= 1 << 30,
	IBV_EXP_DEVICE_ATTR_COMP_MASK_2			= 1U << 31,
};

/* A macro: it does not fit the enumeration, and one less is "everything". */
#define IBV_EXP_DEVICE_ATTR_RESERVED (1ULL << 32)

enum ibv_exp_device_attr_comp_mask_2 {
	IBV_EXP_DEVICE_ATTR_UMR_FIXED_SIZE_CAPS	= 1 << 0,
	IBV_EXP_DEVICE_ATTR_PCI_ATOMIC_CAPS	= 1 << 1,
	IBV_EXP_DEVICE_ATTR_RESERVED_2		= 1 << 2,
};

/* The low 32 bits are those of enum ibv_device_cap_flags. */
enum ibv_exp_device_cap_flags {
	IBV_EXP_DEVICE_RESIZE_MAX_WR		= 1 << 0,
	IBV_EXP_DEVICE_BAD_PKEY_CNTR		= 1 << 1,
	IBV_EXP_DEVICE_BAD_QKEY_CNTR		= 1 << 2,
	IBV_EXP_DEVICE_RAW_MULTI		= 1 << 3,
	IBV_EXP_DEVICE_AUTO_PATH_MIG		= 1 << 4,
	IBV_EXP_DEVICE_CHANGE_PHY_PORT		= 1 << 5,
	IBV_EXP_DEVICE_UD_AV_PORT_ENFORCE	= 1 << 6,
	IBV_EXP_DEVICE_CURR_QP_STATE_MOD	= 1 << 7,
	IBV_EXP_DEVICE_SHUTDOWN_PORT		= 1 << 8,
	IBV_EXP_DEVICE_INIT_TYPE		= 1 << 9,
	IBV_EXP_DEVICE_PORT_ACTIVE_EVENT	= 1 << 10,
	IBV_EXP_DEVICE_SYS_IMAGE_GUID		= 1 << 11,
	IBV_EXP_DEVICE_RC_RNR_NAK_GEN		= 1 << 12,
	IBV_EXP_DEVICE_SRQ_RESIZE		= 1 << 13,
	IBV_EXP_DEVICE_N_NOTIFY_CQ		= 1 << 14,
	IBV_EXP_DEVICE_XRC			= 1 << 20,
	IBV_EXP_DEVICE_DC_TRANSPORT		= 1ULL << 32,
	IBV_EXP_DEVICE_QPG			= 1ULL << 33,
	IBV_EXP_DEVICE_UD_RSS			= 1ULL << 34,
	IBV_EXP_DEVICE_UD_TSS			= 1ULL << 35,
	IBV_EXP_DEVICE_EXT_ATOMICS		= 1ULL << 36,
	IBV_EXP_DEVICE_NOP			= 1ULL << 37,
	IBV_EXP_DEVICE_UMR			= 1ULL << 38,
	IBV_EXP_DEVICE_ODP			= 1ULL << 39,
	IBV_EXP_DEVICE_VXLAN_SUPPORT		= 1ULL << 42,
	IBV_EXP_DEVICE_RX_CSUM_TCP_UDP_PKT	= 1ULL << 43,
	IBV_EXP_DEVICE_RX_CSUM_IP_PKT		= 1ULL << 44,
	IBV_EXP_DEVICE_EC_OFFLOAD		= 1ULL << 45,
	IBV_EXP_DEVICE_EXT_MASKED_ATOMICS	= 1ULL << 46,
	IBV_EXP_DEVICE_RX_TCP_UDP_PKT_TYPE	= 1ULL << 47,
	IBV_EXP_DEVICE_SCATTER_FCS		= 1ULL << 48,
	IBV_EXP_DEVICE_MEM_WINDOW		= 1ULL << 49,
	IBV_EXP_DEVICE_WQ_DELAY_DROP		= 1ULL << 50,
	IBV_EXP_DEVICE_PHYSICAL_RANGE_MR	= 1ULL << 51,
	IBV_EXP_DEVICE_CAPI			= 1ULL << 52,
	IBV_EXP_DEVICE_MEM_MGT_EXTENSIONS	= 1ULL << 53,
	IBV_EXP_DEVICE_DC_INFO			= 1ULL << 54,
	IBV_EXP_DEVICE_MW_TYPE_2A		= 1ULL << 55,
	IBV_EXP_DEVICE_MW_TYPE_2B		= 1ULL << 56,
	IBV_EXP_DEVICE_UMR_FIXED_SIZE		= 1ULL << 57,
	IBV_EXP_DEVICE_PACKET_BASED_CREDIT_MODE	= 1ULL << 58,
	IBV_EXP_DEVICE_CROSS_CHANNEL		= 1ULL << 60,
	IBV_EXP_DEVICE_MANAGED_FLOW_STEERING	= 1ULL << 61,
	IBV_EXP_DEVICE_MR_ALLOCATE		= 1ULL << 62,
	IBV_EXP_DEVICE_SHARED_MR		= 1ULL << 63,
};

/*
 * Not in OFED, where the bit is unused: the library emulates masked atomics,
 * which the device does not execute.
 */
#define IBV_EXP_DEVICE_MASKED_ATOMICS_EMULATED (1ULL << 59)

/* Bit n of a mask of sizes stands for 2^n bytes. */
struct ibv_exp_ext_atomics_params {
	uint64_t log_atomic_arg_sizes;	/* bit n: 2^n bytes */
	uint32_t max_fa_bit_boundary;	/* bits */
	uint32_t log_max_atomic_inline;	/* 2^n bytes */
};

struct ibv_exp_masked_atomic_params {
	uint32_t max_fa_bit_boundary;	/* bits */
	uint32_t log_max_atomic_inline;	/* 2^n bytes */
	uint64_t masked_log_atomic_arg_sizes;	/* bit n: 2^n bytes */
	/* Those whose result is delivered in big-endian. */
	uint64_t masked_log_atomic_arg_sizes_network_endianness;
};

struct ibv_exp_device_calc_cap {
	uint64_t data_types;
	uint64_t data_sizes;
	uint64_t int_ops;
	uint64_t uint_ops;
	uint64_t fp_ops;
};

struct ibv_exp_umr_caps {
	uint32_t max_klm_list_size;
	uint32_t max_send_wqe_inline_klms;
	uint32_t max_umr_recursion_depth;
	uint32_t max_umr_stride_dimension;
};

enum ibv_odp_general_cap_bits {
	IBV_EXP_ODP_SUPPORT		= 1 << 0,
	IBV_EXP_ODP_SUPPORT_IMPLICIT	= 1 << 1,
};

enum ibv_exp_odp_transport_cap_bits {
	IBV_EXP_ODP_SUPPORT_SEND	= 1 << 0,
	IBV_EXP_ODP_SUPPORT_RECV	= 1 << 1,
	IBV_EXP_ODP_SUPPORT_WRITE	= 1 << 2,
	IBV_EXP_ODP_SUPPORT_READ	= 1 << 3,
	IBV_EXP_ODP_SUPPORT_ATOMIC	= 1 << 4,
	IBV_EXP_ODP_SUPPORT_SRQ_RECV	= 1 << 5,
};

struct ibv_exp_odp_caps {
	uint64_t general_odp_caps;
	struct {
		uint32_t rc_odp_caps;
		uint32_t uc_odp_caps;
		uint32_t ud_odp_caps;
		uint32_t dc_odp_caps;
		uint32_t xrc_odp_caps;
		uint32_t raw_eth_odp_caps;
	} per_transport_caps;
};

enum ibv_exp_supported_qp_types {
	IBV_EXP_QPT_RC		= 1 << 0,
	IBV_EXP_QPT_UC		= 1 << 1,
	IBV_EXP_QPT_UD		= 1 << 2,
	IBV_EXP_QPT_XRC_INIT	= 1 << 3,
	IBV_EXP_QPT_XRC_TGT	= 1 << 4,
	IBV_EXP_QPT_RAW_PACKET	= 1 << 5,
	IBV_EXP_QPT_RESERVED	= 1 << 6,
};

enum ibv_exp_rx_hash_function_flags {
	IBV_EXP_RX_HASH_FUNC_TOEPLITZ	= 1 << 0,
	IBV_EXP_RX_HASH_FUNC_XOR	= 1 << 1,
};

enum ibv_exp_rx_hash_fields {
	IBV_EXP_RX_HASH_SRC_IPV4	= 1 << 0,
	IBV_EXP_RX_HASH_DST_IPV4	= 1 << 1,
	IBV_EXP_RX_HASH_SRC_IPV6	= 1 << 2,
	IBV_EXP_RX_HASH_DST_IPV6	= 1 << 3,
	IBV_EXP_RX_HASH_SRC_PORT_TCP	= 1 << 4,
	IBV_EXP_RX_HASH_DST_PORT_TCP	= 1 << 5,
	IBV_EXP_RX_HASH_SRC_PORT_UDP	= 1 << 6,
	IBV_EXP_RX_HASH_DST_PORT_UDP	= 1 << 7,
};

#define IBV_EXP_RX_HASH_INNER (1ULL << 31)

struct ibv_exp_rx_hash_caps {
	uint32_t max_rwq_indirection_tables;
	uint32_t max_rwq_indirection_table_size;
	uint8_t supported_hash_functions;
	uint64_t supported_packet_fields;
	uint32_t supported_qps;
};

enum ibv_exp_mp_rq_shifts {
	IBV_EXP_MP_RQ_NO_SHIFT		= 0,
	IBV_EXP_MP_RQ_2BYTES_SHIFT	= 1,
};

enum ibv_exp_mp_rq_sup_types {
	IBV_EXP_MP_RQ_SUP_TYPE_SRQ_TM	= 1 << 0,
	IBV_EXP_MP_RQ_SUP_TYPE_WQ_RQ	= 1 << 5,
};

struct ibv_exp_mp_rq_caps {
	uint32_t supported_qps;
	uint32_t allowed_shifts;
	uint8_t min_single_wqe_log_num_of_strides;
	uint8_t max_single_wqe_log_num_of_strides;
	uint8_t min_single_stride_log_num_of_bytes;
	uint8_t max_single_stride_log_num_of_bytes;
};

struct ibv_exp_ec_caps {
	uint32_t max_ec_data_vector_count;
	uint32_t max_ec_calc_inflight_calcs;
};

struct ibv_exp_tso_caps {
	uint32_t max_tso;
	uint32_t supported_qpts;
};

enum ibv_exp_packet_pacing_cap_flags {
	IBV_EXP_QP_SUPPORT_BURST	= 1 << 0,
};

struct ibv_exp_packet_pacing_caps {
	uint32_t qp_rate_limit_min;
	uint32_t qp_rate_limit_max;
	uint32_t supported_qpts;
	uint8_t cap_flags;
	uint8_t reserved[3];
};

enum ibv_exp_ooo_transport_cap_bits {
	IBV_EXP_OOO_SUPPORT_RW_DATA_PLACEMENT	= 1 << 0,
};

struct ibv_exp_ooo_caps {
	uint32_t rc_caps;
	uint32_t xrc_caps;
	uint32_t dc_caps;
	uint32_t ud_caps;
};

enum ibv_exp_sw_parsing_offloads {
	IBV_EXP_SW_PARSING	= 1 << 0,
	IBV_EXP_SW_PARSING_CSUM	= 1 << 1,
	IBV_EXP_SW_PARSING_LSO	= 1 << 2,
};

struct ibv_exp_sw_parsing_caps {
	uint32_t sw_parsing_offloads;
	uint32_t supported_qpts;
};

enum ibv_exp_tm_cap_flags {
	IBV_EXP_TM_CAP_RC	= 1 << 0,
	IBV_EXP_TM_CAP_DC	= 1 << 1,
};

struct ibv_exp_tm_caps {
	uint32_t max_rndv_hdr_size;
	uint32_t max_num_tags;
	uint32_t capability_flags;
	uint32_t max_ops;
	uint32_t max_sge;
};

enum ibv_exp_tunnel_offloads_caps {
	IBV_EXP_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN	= 1 << 0,
	IBV_EXP_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE	= 1 << 1,
	IBV_EXP_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE	= 1 << 2,
};

enum ibv_exp_tunneled_atomic_caps {
	IBV_EXP_TUNNELED_ATOMIC_SUPPORTED	= 1 << 0,
};

struct ibv_exp_umr_fixed_size_caps {
	uint64_t max_entity_size;
};

enum ibv_exp_pci_atomic_cap_ops_supported_sizes {
	IBV_EXP_PCI_ATOMIC_OP_SIZE_SUP_4_BYTES	= 1 << 0,
	IBV_EXP_PCI_ATOMIC_OP_SIZE_SUP_8_BYTES	= 1 << 1,
	IBV_EXP_PCI_ATOMIC_OP_SIZE_SUP_16_BYTES	= 1 << 2,
};

struct ibv_exp_pci_atomic_caps {
	uint16_t fetch_add;
	uint16_t swap;
	uint16_t compare_swap;
};

/* Up to comp_mask as struct ibv_device_attr, but for two fields. */
struct ibv_exp_device_attr {
	char fw_ver[64];
	uint64_t node_guid;
	uint64_t sys_image_guid;
	uint64_t max_mr_size;
	uint64_t page_size_cap;
	uint32_t vendor_id;
	uint32_t vendor_part_id;
	uint32_t hw_ver;
	int max_qp;
	int max_qp_wr;
	int reserved;
	int max_sge;
	int max_sge_rd;
	int max_cq;
	int max_cqe;
	int max_mr;
	int max_pd;
	int max_qp_rd_atom;
	int max_ee_rd_atom;
	int max_res_rd_atom;
	int max_qp_init_rd_atom;
	int max_ee_init_rd_atom;
	enum ibv_exp_atomic_cap exp_atomic_cap;
	int max_ee;
	int max_rdd;
	int max_mw;
	int max_raw_ipv6_qp;
	int max_raw_ethy_qp;
	int max_mcast_grp;
	int max_mcast_qp_attach;
	int max_total_mcast_qp_attach;
	int max_ah;
	int max_fmr;
	int max_map_per_fmr;
	int max_srq;
	int max_srq_wr;
	int max_srq_sge;
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay;
	uint8_t phys_port_cnt;
	/*
	 * In: the fields from here on that the caller asks for.  Out: those of
	 * them that the device has; only these have been written.
	 */
	uint32_t comp_mask;	/* enum ibv_exp_device_attr_comp_mask */
	struct ibv_exp_device_calc_cap calc_cap;
	uint64_t timestamp_mask;
	uint64_t hca_core_clock;
	uint64_t exp_device_cap_flags;	/* enum ibv_exp_device_cap_flags */
	int max_dc_req_rd_atom;
	int max_dc_res_rd_atom;
	int inline_recv_sz;
	uint32_t max_rss_tbl_sz;
	struct ibv_exp_ext_atomics_params ext_atom;
	struct ibv_exp_umr_caps umr_caps;
	struct ibv_exp_odp_caps odp_caps;
	int max_dct;
	int max_ctx_res_domain;
	struct ibv_exp_rx_hash_caps rx_hash_caps;
	uint32_t max_wq_type_rq;
	int max_device_ctx;
	struct ibv_exp_mp_rq_caps mp_rq_caps;
	uint16_t wq_vlan_offloads_cap;
	struct ibv_exp_ec_caps ec_caps;
	struct ibv_exp_masked_atomic_params masked_atomic;
	int rx_pad_end_addr_align;
	struct ibv_exp_tso_caps tso_caps;
	struct ibv_exp_packet_pacing_caps packet_pacing_caps;
	uint32_t ec_w_mask;
	struct ibv_exp_ooo_caps ooo_caps;
	struct ibv_exp_sw_parsing_caps sw_parsing_caps;
	uint64_t odp_mr_max_size;
	struct ibv_exp_tm_caps tm_caps;
	uint32_t tunnel_offloads_caps;
	uint64_t max_dm_size;
	uint32_t tunneled_atomic_caps;
	uint64_t comp_mask_2;	/* enum ibv_exp_device_attr_comp_mask_2 */
	struct ibv_exp_umr_fixed_size_caps umr_fixed_size_caps;
	struct ibv_exp_pci_atomic_caps pci_atomic_caps;
};

/* Returns 0 or a positive errno. */
int ibv_exp_query_device(struct ibv_context *context,
			 struct ibv_exp_device_attr *attr);

/* ---- clock -------------------------------------------------------------- */

enum ibv_exp_values_comp_mask {
	IBV_EXP_VALUES_HW_CLOCK_NS	= 1 << 0,
	IBV_EXP_VALUES_HW_CLOCK		= 1 << 1,
	IBV_EXP_VALUES_CLOCK_INFO	= 1 << 2,
	IBV_EXP_VALUES_RESERVED		= 1 << 3,
};

enum ibv_exp_clock_info_comp_mask {
	IBV_EXP_CLOCK_INFO_RESERVED	= 1 << 0,
};

/*
 * nsec and frac / 2^shift nanoseconds is the time at `cycles`; a cycle is
 * mult / 2^shift nanoseconds long; the counter wraps at `mask`.
 */
struct ibv_exp_clock_info {
	uint64_t cycles;
	uint64_t nsec;
	uint64_t frac;
	uint64_t mask;
	uint32_t shift;
	uint32_t mult;
	uint32_t comp_mask;
};

struct ibv_exp_values {
	uint32_t comp_mask;
	uint64_t hwclock_ns;
	uint64_t hwclock;
	struct ibv_exp_clock_info clock_info;
};

int ibv_exp_query_values(struct ibv_context *context, int q_values,
			 struct ibv_exp_values *values);

uint64_t ibv_exp_cqe_ts_to_ns(struct ibv_exp_clock_info *clock_info,
			      uint64_t ts);

/* ---- ports, addresses, opening ------------------------------------------ */

enum ibv_exp_roce_gid_type {
	IBV_EXP_IB_ROCE_V1_GID_TYPE	= 0,
	IBV_EXP_ROCE_V2_GID_TYPE	= 1,
	IBV_EXP_ROCE_V1_5_GID_TYPE	= 2,
};

enum ibv_exp_query_gid_attr {
	IBV_EXP_QUERY_GID_ATTR_TYPE	= 1 << 0,
	IBV_EXP_QUERY_GID_ATTR_GID	= 1 << 1,
	IBV_EXP_QUERY_GID_ATTR_RESERVED	= 1 << 2,
};

/* In mask1. */
enum {
	IBV_EXP_QUERY_PORT_STATE		= 1 << 0,
	IBV_EXP_QUERY_PORT_MAX_MTU		= 1 << 1,
	IBV_EXP_QUERY_PORT_ACTIVE_MTU		= 1 << 2,
	IBV_EXP_QUERY_PORT_GID_TBL_LEN		= 1 << 3,
	IBV_EXP_QUERY_PORT_CAP_FLAGS		= 1 << 4,
	IBV_EXP_QUERY_PORT_MAX_MSG_SZ		= 1 << 5,
	IBV_EXP_QUERY_PORT_BAD_PKEY_CNTR	= 1 << 6,
	IBV_EXP_QUERY_PORT_QKEY_VIOL_CNTR	= 1 << 7,
	IBV_EXP_QUERY_PORT_PKEY_TBL_LEN		= 1 << 8,
	IBV_EXP_QUERY_PORT_LID			= 1 << 9,
	IBV_EXP_QUERY_PORT_SM_LID		= 1 << 10,
	IBV_EXP_QUERY_PORT_LMC			= 1 << 11,
	IBV_EXP_QUERY_PORT_MAX_VL_NUM		= 1 << 12,
	IBV_EXP_QUERY_PORT_SM_SL		= 1 << 13,
	IBV_EXP_QUERY_PORT_SUBNET_TIMEOUT	= 1 << 14,
	IBV_EXP_QUERY_PORT_INIT_TYPE_REPLY	= 1 << 15,
	IBV_EXP_QUERY_PORT_ACTIVE_WIDTH		= 1 << 16,
	IBV_EXP_QUERY_PORT_ACTIVE_SPEED		= 1 << 17,
	IBV_EXP_QUERY_PORT_PHYS_STATE		= 1 << 18,
	IBV_EXP_QUERY_PORT_LINK_LAYER		= 1 << 19,
	IBV_EXP_QUERY_PORT_STD_MASK		= 0xfffff,
	IBV_EXP_QUERY_PORT_MASK			= 0xfffff,
};

enum ibv_exp_query_port_attr_comp_mask {
	IBV_EXP_QUERY_PORT_ATTR_MASK1		= 1 << 0,
	IBV_EXP_QUERY_PORT_ATTR_RESERVED	= 1 << 1,
	IBV_EXP_QUERY_PORT_ATTR_MASKS		= 1 << 0,
};

enum ibv_exp_set_context_attr {
	IBV_EXP_SET_ATTR_PEER_INFO		= 1 << 0,
	IBV_EXP_SET_CONTEXT_ATTR_RESERVED	= 1 << 1,
};

enum ibv_exp_ah_attr_attr_comp_mask {
	IBV_EXP_AH_ATTR_LL		= 1 << 0,
	IBV_EXP_AH_ATTR_VID		= 1 << 1,
	IBV_EXP_AH_ATTR_RESERVED	= 1 << 2,
};

enum ll_address_type {
	LL_ADDRESS_UNKNOWN	= 0,
	LL_ADDRESS_IB		= 1,
	LL_ADDRESS_ETH		= 2,
	LL_ADDRESS_SIZE		= 3,
};

struct ibv_exp_gid_attr {
	uint32_t comp_mask;
	enum ibv_exp_roce_gid_type type;
	union ibv_gid gid;
};

/*
 * struct ibv_port_attr as it was then, in the place of which it stands below:
 * today's is longer and would move comp_mask.
 */
struct ibv_exp_std_port_attr {
	enum ibv_port_state state;
	enum ibv_mtu max_mtu;
	enum ibv_mtu active_mtu;
	int gid_tbl_len;
	uint32_t port_cap_flags;
	uint32_t max_msg_sz;
	uint32_t bad_pkey_cntr;
	uint32_t qkey_viol_cntr;
	uint16_t pkey_tbl_len;
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t lmc;
	uint8_t max_vl_num;
	uint8_t sm_sl;
	uint8_t subnet_timeout;
	uint8_t init_type_reply;
	uint8_t active_width;
	uint8_t active_speed;
	uint8_t phys_state;
	uint8_t link_layer;
	uint8_t reserved;
};

struct ibv_exp_port_attr {
	union {
		struct {
			enum ibv_port_state state;
			enum ibv_mtu max_mtu;
			enum ibv_mtu active_mtu;
			int gid_tbl_len;
			uint32_t port_cap_flags;
			uint32_t max_msg_sz;
			uint32_t bad_pkey_cntr;
			uint32_t qkey_viol_cntr;
			uint16_t pkey_tbl_len;
			uint16_t lid;
			uint16_t sm_lid;
			uint8_t lmc;
			uint8_t max_vl_num;
			uint8_t sm_sl;
			uint8_t subnet_timeout;
			uint8_t init_type_reply;
			uint8_t active_width;
			uint8_t active_speed;
			uint8_t phys_state;
			uint8_t link_layer;
			uint8_t reserved;
		};
		struct ibv_exp_std_port_attr port_attr;
	};
	uint32_t comp_mask;
	uint32_t mask1;
};

struct ibv_exp_open_device_attr {
	uint32_t comp_mask;
	struct {
		uint64_t peer_id;
		char *peer_name;
	} peer_info;
};

struct ibv_exp_ah_attr {
	struct ibv_global_route grh;
	uint16_t dlid;
	uint8_t sl;
	uint8_t src_path_bits;
	uint8_t static_rate;
	uint8_t is_global;
	uint8_t port_num;
	uint32_t comp_mask;
	struct {
		enum ll_address_type type;
		uint32_t len;
		char *address;
	} ll_address;
	uint16_t vid;
};

int ibv_exp_query_gid_attr(struct ibv_context *context, uint8_t port_num,
			   unsigned int index, struct ibv_exp_gid_attr *attr);

int ibv_exp_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_exp_port_attr *port_attr);

struct ibv_context *ibv_exp_open_device(struct ibv_device *device,
					struct ibv_exp_open_device_attr *attr);

struct ibv_device **ibv_exp_get_device_list(int *num_devices);
#ifdef RDMA_STATIC_PROVIDERS
/* ibv_get_device_list() is a macro that links the providers. */
#define ibv_exp_get_device_list(num_devices) ibv_get_device_list(num_devices)
#endif

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_VERBS_EXP_DEVICE_H */
