/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Experimental verbs: offloads.
 *
 * Included by infiniband/verbs_exp.h, never alone.
 */
#ifndef _INFINIBAND_VERBS_EXP_OFFLOAD_H
#define _INFINIBAND_VERBS_EXP_OFFLOAD_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tasks, functions, environment -------------------------------------- */

enum ibv_exp_task_type {
	IBV_EXP_TASK_SEND	= 0,
	IBV_EXP_TASK_RECV	= 1,
};

enum ibv_exp_task_comp_mask {
	IBV_EXP_TASK_RESERVED	= 1 << 0,
};

enum ibv_exp_func_name {
	IBV_EXP_POST_SEND_FUNC	= 0,
	IBV_EXP_POLL_CQ_FUNC	= 1,
	IBV_POST_SEND_FUNC	= 2,
	IBV_POLL_CQ_FUNC	= 3,
	IBV_POST_RECV_FUNC	= 4,
};

struct ibv_exp_task {
	enum ibv_exp_task_type task_type;
	struct {
		struct ibv_qp *qp;
		union {
			struct ibv_exp_send_wr *send_wr;
			struct ibv_recv_wr *recv_wr;
		};
	} item;
	struct ibv_exp_task *next;
	uint32_t comp_mask;
};

int ibv_exp_post_task(struct ibv_context *context, struct ibv_exp_task *task,
		      struct ibv_exp_task **bad_task);

/* Types of the functions that ibv_exp_get_provider_func() returns by name. */
typedef int (*drv_exp_post_send_func)(struct ibv_qp *qp,
				      struct ibv_exp_send_wr *wr,
				      struct ibv_exp_send_wr **bad_wr);
typedef int (*drv_post_send_func)(struct ibv_qp *qp, struct ibv_send_wr *wr,
				  struct ibv_send_wr **bad_wr);
typedef int (*drv_exp_poll_cq_func)(struct ibv_cq *ibcq, int num_entries,
				    struct ibv_exp_wc *wc, uint32_t wc_size);
typedef int (*drv_poll_cq_func)(struct ibv_cq *cq, int num_entries,
				struct ibv_wc *wc);
typedef int (*drv_post_recv_func)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				  struct ibv_recv_wr **bad_wr);

void *ibv_exp_get_provider_func(struct ibv_context *context,
				enum ibv_exp_func_name name);

int ibv_exp_setenv(struct ibv_context *context, const char *name,
		   const char *value, int overwrite);

int ibv_exp_use_priv_env(struct ibv_context *context);

/* ---- work queues of raw packets ----------------------------------------- */

enum ibv_exp_wq_type {
	IBV_EXP_WQT_RQ	= 0,
	IBV_EXP_WQT_SRQ	= 1,
};

enum ibv_exp_wq_state {
	IBV_EXP_WQS_RESET	= 0,
	IBV_EXP_WQS_RDY		= 1,
	IBV_EXP_WQS_ERR		= 2,
	IBV_EXP_WQS_UNKNOWN	= 3,
};

enum ibv_exp_vlan_offloads {
	IBV_EXP_RECEIVE_WQ_CVLAN_STRIP			= 1 << 0,
	IBV_EXP_RECEIVE_WQ_CVLAN_INSERTION		= 1 << 1,
	IBV_EXP_RECEIVE_WQ_VLAN_OFFLOADS_RESERVED	= 1 << 2,
};

enum ibv_exp_wq_init_attr_mask {
	IBV_EXP_CREATE_WQ_RES_DOMAIN	= 1 << 0,
	IBV_EXP_CREATE_WQ_MP_RQ		= 1 << 1,
	IBV_EXP_CREATE_WQ_VLAN_OFFLOADS	= 1 << 2,
	IBV_EXP_CREATE_WQ_FLAGS		= 1 << 3,
	IBV_EXP_CREATE_WQ_RESERVED	= 1 << 4,
};

enum ibv_exp_wq_init_attr_flags {
	IBV_EXP_CREATE_WQ_FLAG_RX_END_PADDING	= 1 << 0,
	IBV_EXP_CREATE_WQ_FLAG_SCATTER_FCS	= 1 << 1,
	IBV_EXP_CREATE_WQ_FLAG_DELAY_DROP	= 1 << 2,
	IBV_EXP_CREATE_WQ_FLAG_RESERVED		= 1 << 3,
};

enum ibv_exp_wq_attr_mask {
	IBV_EXP_WQ_ATTR_STATE		= 1 << 0,
	IBV_EXP_WQ_ATTR_CURR_STATE	= 1 << 1,
	IBV_EXP_WQ_ATTR_VLAN_OFFLOADS	= 1 << 2,
	IBV_EXP_WQ_ATTR_RESERVED	= 1 << 3,
};

enum ibv_exp_ind_table_init_attr_mask {
	IBV_EXP_CREATE_IND_TABLE_RESERVED	= 1 << 0,
};

struct ibv_exp_wq {
	struct ibv_context *context;
	void *wq_context;
	uint32_t handle;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t wq_num;
	enum ibv_exp_wq_state state;
	enum ibv_exp_wq_type wq_type;
	uint32_t comp_mask;
};

struct ibv_exp_wq_mp_rq {
	enum ibv_exp_mp_rq_shifts use_shift;
	uint8_t single_wqe_log_num_of_strides;
	uint8_t single_stride_log_num_of_bytes;
};

struct ibv_exp_wq_init_attr {
	void *wq_context;
	enum ibv_exp_wq_type wq_type;
	uint32_t max_recv_wr;
	uint32_t max_recv_sge;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t comp_mask;
	struct ibv_exp_res_domain *res_domain;
	struct ibv_exp_wq_mp_rq mp_rq;
	uint16_t vlan_offloads;
	uint64_t flags;
};

struct ibv_exp_wq_attr {
	uint32_t attr_mask;
	enum ibv_exp_wq_state wq_state;
	enum ibv_exp_wq_state curr_wq_state;
	uint16_t vlan_offloads;
};

struct ibv_exp_rwq_ind_table {
	struct ibv_context *context;
	struct ibv_pd *pd;
	int ind_tbl_handle;
	int ind_tbl_num;
	uint32_t comp_mask;
};

struct ibv_exp_rwq_ind_table_init_attr {
	struct ibv_pd *pd;
	uint32_t log_ind_tbl_size;
	struct ibv_exp_wq **ind_tbl;
	uint32_t comp_mask;
};

struct ibv_exp_wq *ibv_exp_create_wq(struct ibv_context *context,
				     struct ibv_exp_wq_init_attr *wq_init_attr);

int ibv_exp_modify_wq(struct ibv_exp_wq *wq, struct ibv_exp_wq_attr *wq_attr);

int ibv_exp_destroy_wq(struct ibv_exp_wq *wq);

struct ibv_exp_rwq_ind_table *
ibv_exp_create_rwq_ind_table(struct ibv_context *context,
			     struct ibv_exp_rwq_ind_table_init_attr *init_attr);

int ibv_exp_destroy_rwq_ind_table(struct ibv_exp_rwq_ind_table *rwq_ind_table);

/* ---- flow steering ------------------------------------------------------ */

enum ibv_exp_flow_flags {
	IBV_EXP_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK	= 1 << 0,
};

enum ibv_exp_flow_attr_type {
	IBV_EXP_FLOW_ATTR_NORMAL	= 0,
	IBV_EXP_FLOW_ATTR_ALL_DEFAULT	= 1,
	IBV_EXP_FLOW_ATTR_MC_DEFAULT	= 2,
	IBV_EXP_FLOW_ATTR_SNIFFER	= 3,
};

enum ibv_exp_flow_spec_type {
	IBV_EXP_FLOW_SPEC_ETH		= 32,
	IBV_EXP_FLOW_SPEC_IB		= 33,
	IBV_EXP_FLOW_SPEC_IPV4		= 48,
	IBV_EXP_FLOW_SPEC_IPV6		= 49,
	IBV_EXP_FLOW_SPEC_IPV4_EXT	= 50,
	IBV_EXP_FLOW_SPEC_IPV6_EXT	= 51,
	IBV_EXP_FLOW_SPEC_TCP		= 1 << 6,
	IBV_EXP_FLOW_SPEC_UDP		= 65,
	IBV_EXP_FLOW_SPEC_VXLAN_TUNNEL	= 80,
	IBV_EXP_FLOW_SPEC_INNER		= 1 << 8,
	IBV_EXP_FLOW_SPEC_ACTION_TAG	= 1 << 12,
	IBV_EXP_FLOW_SPEC_ACTION_DROP	= 0x1001,
};

struct ibv_exp_flow_attr {
	enum ibv_exp_flow_attr_type type;
	uint16_t size;
	uint16_t priority;
	uint8_t num_of_specs;
	uint8_t port;
	uint32_t flags;
	uint64_t reserved;
};

struct ibv_exp_flow {
	struct ibv_context *context;
	uint32_t handle;
};

struct ibv_exp_flow_eth_filter {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	uint16_t ether_type;
	uint16_t vlan_tag;
};

struct ibv_exp_flow_spec_eth {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_eth_filter val;
	struct ibv_exp_flow_eth_filter mask;
};

struct ibv_exp_flow_ib_filter {
	uint32_t qpn;
	uint8_t dst_gid[16];
};

struct ibv_exp_flow_spec_ib {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_ib_filter val;
	struct ibv_exp_flow_ib_filter mask;
};

struct ibv_exp_flow_ipv4_filter {
	uint32_t src_ip;
	uint32_t dst_ip;
};

struct ibv_exp_flow_spec_ipv4 {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_ipv4_filter val;
	struct ibv_exp_flow_ipv4_filter mask;
};

struct ibv_exp_flow_ipv4_ext_filter {
	uint32_t src_ip;
	uint32_t dst_ip;
	uint8_t proto;
	uint8_t tos;
	uint8_t ttl;
	uint8_t flags;
};

struct ibv_exp_flow_spec_ipv4_ext {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_ipv4_ext_filter val;
	struct ibv_exp_flow_ipv4_ext_filter mask;
};

struct ibv_exp_flow_ipv6_filter {
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
};

struct ibv_exp_flow_spec_ipv6 {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_ipv6_filter val;
	struct ibv_exp_flow_ipv6_filter mask;
};

struct ibv_exp_flow_ipv6_ext_filter {
	uint8_t src_ip[16];
	uint8_t dst_ip[16];
	uint32_t flow_label;
	uint8_t next_hdr;
	uint8_t traffic_class;
	uint8_t hop_limit;
};

struct ibv_exp_flow_spec_ipv6_ext {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_ipv6_ext_filter val;
	struct ibv_exp_flow_ipv6_ext_filter mask;
};

struct ibv_exp_flow_tcp_udp_filter {
	uint16_t dst_port;
	uint16_t src_port;
};

struct ibv_exp_flow_spec_tcp_udp {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_tcp_udp_filter val;
	struct ibv_exp_flow_tcp_udp_filter mask;
};

struct ibv_exp_flow_tunnel_filter {
	uint32_t tunnel_id;
};

struct ibv_exp_flow_spec_tunnel {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	struct ibv_exp_flow_tunnel_filter val;
	struct ibv_exp_flow_tunnel_filter mask;
};

struct ibv_exp_flow_spec_action_tag {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
	uint32_t tag_id;
};

struct ibv_exp_flow_spec_action_drop {
	enum ibv_exp_flow_spec_type type;
	uint16_t size;
};

struct ibv_exp_flow_spec {
	union {
		struct {
			uint32_t type;
			uint16_t size;
		} hdr;
		struct ibv_exp_flow_spec_ib ib;
		struct ibv_exp_flow_spec_eth eth;
		struct ibv_exp_flow_spec_ipv4 ipv4;
		struct ibv_exp_flow_spec_ipv4_ext ipv4_ext;
		struct ibv_exp_flow_spec_tcp_udp tcp_udp;
		struct ibv_exp_flow_spec_ipv6 ipv6;
		struct ibv_exp_flow_spec_ipv6_ext ipv6_ext;
		struct ibv_exp_flow_spec_tunnel tunnel;
		struct ibv_exp_flow_spec_action_tag flow_tag;
		struct ibv_exp_flow_spec_action_drop drop;
	};
};

struct ibv_exp_flow *ibv_exp_create_flow(struct ibv_qp *qp,
					 struct ibv_exp_flow_attr *flow);

int ibv_exp_destroy_flow(struct ibv_exp_flow *flow_id);

/* ---- families of calls for single uses ---------------------------------- */

enum ibv_exp_query_intf_flags {
	IBV_EXP_QUERY_INTF_FLAG_ENABLE_CHECKS	= 1 << 0,
};

enum ibv_exp_intf_family {
	IBV_EXP_INTF_QP_BURST	= 0,
	IBV_EXP_INTF_CQ		= 1,
	IBV_EXP_INTF_WQ		= 2,
	IBV_EXP_INTF_RESERVED	= 3,
};

enum ibv_exp_experimental_intf_family {
	IBV_EXP_EXPERIMENTAL_INTF_RESERVED	= 0,
};

enum ibv_exp_intf_scope {
	IBV_EXP_INTF_GLOBAL			= 0,
	IBV_EXP_INTF_EXPERIMENTAL		= 1,
	IBV_EXP_INTF_VENDOR			= 2,
	IBV_EXP_INTF_VENDOR_EXPERIMENTAL	= 3,
};

enum ibv_exp_query_intf_status {
	IBV_EXP_INTF_STAT_OK				= 0,
	IBV_EXP_INTF_STAT_VENDOR_NOT_SUPPORTED		= 1,
	IBV_EXP_INTF_STAT_INTF_NOT_SUPPORTED		= 2,
	IBV_EXP_INTF_STAT_VERSION_NOT_SUPPORTED		= 3,
	IBV_EXP_INTF_STAT_INVAL_PARARM			= 4,
	IBV_EXP_INTF_STAT_INVAL_OBJ_STATE		= 5,
	IBV_EXP_INTF_STAT_INVAL_OBJ			= 6,
	IBV_EXP_INTF_STAT_FLAGS_NOT_SUPPORTED		= 7,
	IBV_EXP_INTF_STAT_FAMILY_FLAGS_NOT_SUPPORTED	= 8,
};

enum ibv_exp_query_intf_comp_mask {
	IBV_EXP_QUERY_INTF_RESERVED	= 1 << 0,
};

enum ibv_exp_release_intf_comp_mask {
	IBV_EXP_RELEASE_INTF_RESERVED	= 1 << 0,
};

enum ibv_exp_qp_burst_family_create_flags {
	IBV_EXP_QP_BURST_CREATE_DISABLE_ETH_LOOPBACK		= 1 << 0,
	IBV_EXP_QP_BURST_CREATE_ENABLE_MULTI_PACKET_SEND_WR	= 1 << 1,
};

enum ibv_exp_qp_burst_family_flags {
	IBV_EXP_QP_BURST_SIGNALED	= 1 << 0,
	IBV_EXP_QP_BURST_SOLICITED	= 1 << 1,
	IBV_EXP_QP_BURST_IP_CSUM	= 1 << 2,
	IBV_EXP_QP_BURST_TUNNEL		= 1 << 3,
	IBV_EXP_QP_BURST_FENCE		= 1 << 4,
};

enum ibv_exp_cq_family_flags {
	IBV_EXP_CQ_RX_IP_CSUM_OK		= 1 << 0,
	IBV_EXP_CQ_RX_TCP_UDP_CSUM_OK		= 1 << 1,
	IBV_EXP_CQ_RX_IPV4_PACKET		= 1 << 2,
	IBV_EXP_CQ_RX_IPV6_PACKET		= 1 << 3,
	IBV_EXP_CQ_RX_TUNNEL_PACKET		= 1 << 4,
	IBV_EXP_CQ_RX_OUTER_IP_CSUM_OK		= 1 << 5,
	IBV_EXP_CQ_RX_OUTER_TCP_UDP_CSUM_OK	= 1 << 6,
	IBV_EXP_CQ_RX_OUTER_IPV4_PACKET		= 1 << 7,
	IBV_EXP_CQ_RX_OUTER_IPV6_PACKET		= 1 << 8,
	IBV_EXP_CQ_RX_MULTI_PACKET_LAST_V1	= 1 << 9,
	IBV_EXP_CQ_RX_CVLAN_STRIPPED_V1		= 1 << 10,
	IBV_EXP_CQ_RX_TCP_PACKET		= 1 << 11,
	IBV_EXP_CQ_RX_UDP_PACKET		= 1 << 12,
	IBV_EXP_CQ_RX_WITH_TIMESTAMP		= 1 << 13,
};

struct ibv_exp_query_intf_params {
	uint32_t flags;
	enum ibv_exp_intf_scope intf_scope;
	uint64_t vendor_guid;
	uint32_t intf;
	uint32_t intf_version;
	void *obj;
	void *family_params;
	uint32_t family_flags;
	uint32_t comp_mask;
};

struct ibv_exp_release_intf_params {
	uint32_t comp_mask;
};

struct ibv_exp_qp_burst_family {
	int (*send_pending)(struct ibv_qp *qp, uint64_t addr, uint32_t length,
			    uint32_t lkey, uint32_t flags);
	int (*send_pending_inline)(struct ibv_qp *qp, void *addr,
				   uint32_t length, uint32_t flags);
	int (*send_pending_sg_list)(struct ibv_qp *qp, struct ibv_sge *sg_list,
				    uint32_t num, uint32_t flags);
	int (*send_flush)(struct ibv_qp *qp);
	int (*send_burst)(struct ibv_qp *qp, struct ibv_sge *msg_list,
			  uint32_t num, uint32_t flags);
	int (*recv_burst)(struct ibv_qp *qp, struct ibv_sge *msg_list,
			  uint32_t num);
};

struct ibv_exp_qp_burst_family_v1 {
	int (*send_pending)(struct ibv_qp *qp, uint64_t addr, uint32_t length,
			    uint32_t lkey, uint32_t flags);
	int (*send_pending_inline)(struct ibv_qp *qp, void *addr,
				   uint32_t length, uint32_t flags);
	int (*send_pending_sg_list)(struct ibv_qp *qp, struct ibv_sge *sg_list,
				    uint32_t num, uint32_t flags);
	int (*send_flush)(struct ibv_qp *qp);
	int (*send_burst)(struct ibv_qp *qp, struct ibv_sge *msg_list,
			  uint32_t num, uint32_t flags);
	int (*recv_burst)(struct ibv_qp *qp, struct ibv_sge *msg_list,
			  uint32_t num);
	int (*send_pending_vlan)(struct ibv_qp *qp, uint64_t addr,
				 uint32_t length, uint32_t lkey, uint32_t flags,
				 uint16_t *vlan_tci);
	int (*send_pending_inline_vlan)(struct ibv_qp *qp, void *addr,
					uint32_t length, uint32_t flags,
					uint16_t *vlan_tci);
	int (*send_pending_sg_list_vlan)(struct ibv_qp *qp,
					 struct ibv_sge *sg_list, uint32_t num,
					 uint32_t flags, uint16_t *vlan_tci);
};

struct ibv_exp_wq_family {
	int (*recv_sg_list)(struct ibv_exp_wq *wq, struct ibv_sge *sg_list,
			    uint32_t num);
	int (*recv_burst)(struct ibv_exp_wq *wq, struct ibv_sge *msg_list,
			  uint32_t num);
};

struct ibv_exp_cq_family {
	int32_t (*poll_cnt)(struct ibv_cq *cq, uint32_t max);
	int32_t (*poll_length)(struct ibv_cq *cq, void *buf, uint32_t *inl);
	int32_t (*poll_length_flags)(struct ibv_cq *cq, void *buf,
				     uint32_t *inl, uint32_t *flags);
};

struct ibv_exp_cq_family_v1 {
	int32_t (*poll_cnt)(struct ibv_cq *cq, uint32_t max);
	int32_t (*poll_length)(struct ibv_cq *cq, void *buf, uint32_t *inl);
	int32_t (*poll_length_flags)(struct ibv_cq *cq, void *buf,
				     uint32_t *inl, uint32_t *flags);
	int32_t (*poll_length_flags_mp_rq)(struct ibv_cq *cq, uint32_t *offset,
					   uint32_t *flags);
	int32_t (*poll_length_flags_cvlan)(struct ibv_cq *cq, void *buf,
					   uint32_t *inl, uint32_t *flags,
					   uint16_t *vlan_tci);
	int32_t (*poll_length_flags_mp_rq_cvlan)(struct ibv_cq *cq,
						 uint32_t *offset,
						 uint32_t *flags,
						 uint16_t *vlan_tci);
	int32_t (*poll_length_flags_ts)(struct ibv_cq *cq, void *buf,
					uint32_t *inl, uint32_t *flags,
					uint64_t *timestamp);
	int32_t (*poll_length_flags_mp_rq_ts)(struct ibv_cq *cq,
					      uint32_t *offset, uint32_t *flags,
					      uint64_t *timestamp);
	int32_t (*poll_length_flags_cvlan_ts)(struct ibv_cq *cq, void *buf,
					      uint32_t *inl, uint32_t *flags,
					      uint16_t *vlan_tci,
					      uint64_t *timestamp);
	int32_t (*poll_length_flags_mp_rq_cvlan_ts)(struct ibv_cq *cq,
						    uint32_t *offset,
						    uint32_t *flags,
						    uint16_t *vlan_tci,
						    uint64_t *timestamp);
};

void *ibv_exp_query_intf(struct ibv_context *context,
			 struct ibv_exp_query_intf_params *params,
			 enum ibv_exp_query_intf_status *status);

int ibv_exp_release_intf(struct ibv_context *context, void *intf,
			 struct ibv_exp_release_intf_params *params);

/* ---- erasure coding ----------------------------------------------------- */

enum ibv_exp_ec_calc_attr_comp_mask {
	IBV_EXP_EC_CALC_ATTR_MAX_INFLIGHT	= 1 << 0,
	IBV_EXP_EC_CALC_ATTR_K			= 1 << 1,
	IBV_EXP_EC_CALC_ATTR_M			= 1 << 2,
	IBV_EXP_EC_CALC_ATTR_W			= 1 << 3,
	IBV_EXP_EC_CALC_ATTR_MAX_DATA_SGE	= 1 << 4,
	IBV_EXP_EC_CALC_ATTR_MAX_CODE_SGE	= 1 << 5,
	IBV_EXP_EC_CALC_ATTR_ENCODE_MAT		= 1 << 6,
	IBV_EXP_EC_CALC_ATTR_AFFINITY		= 1 << 7,
	IBV_EXP_EC_CALC_ATTR_POLLING		= 1 << 8,
	IBV_EXP_EC_CALC_INIT_ATTR_RESERVED	= 1 << 9,
};

enum ibv_exp_ec_status {
	IBV_EXP_EC_CALC_SUCCESS	= 0,
	IBV_EXP_EC_CALC_FAIL	= 1,
};

struct ibv_exp_ec_calc_init_attr {
	uint32_t comp_mask;
	uint32_t max_inflight_calcs;
	int k;
	int m;
	int w;
	int max_data_sge;
	int max_code_sge;
	uint8_t *encode_matrix;
	int affinity_hint;
	int polling;
};

struct ibv_exp_ec_comp {
	void (*done)(struct ibv_exp_ec_comp *comp);
	enum ibv_exp_ec_status status;
};

struct ibv_exp_ec_calc {
	struct ibv_pd *pd;
};

struct ibv_exp_ec_mem {
	struct ibv_sge *data_blocks;
	int num_data_sge;
	struct ibv_sge *code_blocks;
	int num_code_sge;
	int block_size;
};

struct ibv_exp_ec_stripe {
	struct ibv_qp *qp;
	struct ibv_send_wr *wr;
};

struct ibv_exp_ec_calc *ibv_exp_alloc_ec_calc(struct ibv_pd *pd,
					      struct ibv_exp_ec_calc_init_attr *attr);

void ibv_exp_dealloc_ec_calc(struct ibv_exp_ec_calc *calc);

int ibv_exp_ec_encode_async(struct ibv_exp_ec_calc *calc,
			    struct ibv_exp_ec_mem *ec_mem,
			    struct ibv_exp_ec_comp *ec_comp);

int ibv_exp_ec_encode_sync(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem);

int ibv_exp_ec_decode_async(struct ibv_exp_ec_calc *calc,
			    struct ibv_exp_ec_mem *ec_mem, uint8_t *erasures,
			    uint8_t *decode_matrix,
			    struct ibv_exp_ec_comp *ec_comp);

int ibv_exp_ec_decode_sync(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem, uint8_t *erasures,
			   uint8_t *decode_matrix);

int ibv_exp_ec_update_async(struct ibv_exp_ec_calc *calc,
			    struct ibv_exp_ec_mem *ec_mem,
			    uint8_t *data_updates, uint8_t *code_updates,
			    struct ibv_exp_ec_comp *ec_comp);

int ibv_exp_ec_update_sync(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem, uint8_t *data_updates,
			   uint8_t *code_updates);

int ibv_exp_ec_poll(struct ibv_exp_ec_calc *calc, int n);

int ibv_exp_ec_encode_send(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem,
			   struct ibv_exp_ec_stripe *data_stripes,
			   struct ibv_exp_ec_stripe *code_stripes);

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_VERBS_EXP_OFFLOAD_H */
