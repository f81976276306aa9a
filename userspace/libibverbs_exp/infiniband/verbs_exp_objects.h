/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Experimental verbs: the other objects of a program that uses queue pairs.
 *
 * Included by infiniband/verbs_exp.h, never alone.
 */
#ifndef _INFINIBAND_VERBS_EXP_OBJECTS_H
#define _INFINIBAND_VERBS_EXP_OBJECTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- completion queues -------------------------------------------------- */

enum ibv_exp_cq_init_attr_mask {
	IBV_EXP_CQ_INIT_ATTR_FLAGS		= 1 << 0,
	IBV_EXP_CQ_INIT_ATTR_RESERVED		= 1 << 1,
	IBV_EXP_CQ_INIT_ATTR_RES_DOMAIN		= 1 << 1,
	IBV_EXP_CQ_INIT_ATTR_PEER_DIRECT	= 1 << 2,
	IBV_EXP_CQ_INIT_ATTR_RESERVED1		= 1 << 3,
};

enum ibv_exp_cq_create_flags {
	IBV_EXP_CQ_CREATE_CROSS_CHANNEL		= 1 << 0,
	IBV_EXP_CQ_TIMESTAMP			= 1 << 1,
	IBV_EXP_CQ_TIMESTAMP_TO_SYS_TIME	= 1 << 2,
	IBV_EXP_CQ_COMPRESSED_CQE		= 1 << 3,
	IBV_EXP_CQ_AS_NOTIFY			= 1 << 4,
};

enum {
	IBV_EXP_CQ_CREATE_FLAGS_MASK	= 0x1f,
};

enum ibv_exp_cq_attr_mask {
	IBV_EXP_CQ_MODERATION	= 1 << 0,
	IBV_EXP_CQ_CAP_FLAGS	= 1 << 1,
};

enum ibv_exp_cq_cap_flags {
	IBV_EXP_CQ_IGNORE_OVERRUN	= 1 << 0,
	IBV_EXP_CQ_CAP_MASK		= 1 << 0,
};

enum ibv_exp_cq_attr_comp_mask {
	IBV_EXP_CQ_ATTR_MODERATION	= 1 << 0,
	IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS	= 1 << 1,
	IBV_EXP_CQ_ATTR_RESERVED	= 1 << 2,
};

/* All zero: a completion queue as ibv_create_cq() makes it. */
struct ibv_exp_cq_init_attr {
	uint32_t comp_mask;
	uint32_t flags;
	struct ibv_exp_res_domain *res_domain;
	struct ibv_exp_peer_direct_attr *peer_direct_attrs;
};

struct ibv_exp_cq_attr {
	uint32_t comp_mask;
	struct {
		uint16_t cq_count;
		uint16_t cq_period;
	} moderation;
	uint32_t cq_cap_flags;
};

struct ibv_cq *ibv_exp_create_cq(struct ibv_context *context, int cqe,
				 void *cq_context,
				 struct ibv_comp_channel *channel,
				 int comp_vector,
				 struct ibv_exp_cq_init_attr *attr);

int ibv_exp_modify_cq(struct ibv_cq *cq, struct ibv_exp_cq_attr *cq_attr,
		      int cq_attr_mask);

/* ---- memory regions and windows ----------------------------------------- */

/* The low five are those of enum ibv_access_flags. */
enum ibv_exp_access_flags {
	IBV_EXP_ACCESS_LOCAL_WRITE		= 1 << 0,
	IBV_EXP_ACCESS_REMOTE_WRITE		= 1 << 1,
	IBV_EXP_ACCESS_REMOTE_READ		= 1 << 2,
	IBV_EXP_ACCESS_REMOTE_ATOMIC		= 1 << 3,
	IBV_EXP_ACCESS_MW_BIND			= 1 << 4,
	IBV_EXP_ACCESS_ALLOCATE_MR		= 1ULL << 37,
	IBV_EXP_ACCESS_SHARED_MR_USER_READ	= 1ULL << 38,
	IBV_EXP_ACCESS_SHARED_MR_USER_WRITE	= 1ULL << 39,
	IBV_EXP_ACCESS_SHARED_MR_GROUP_READ	= 1ULL << 40,
	IBV_EXP_ACCESS_SHARED_MR_GROUP_WRITE	= 1ULL << 41,
	IBV_EXP_ACCESS_SHARED_MR_OTHER_READ	= 1ULL << 42,
	IBV_EXP_ACCESS_SHARED_MR_OTHER_WRITE	= 1ULL << 43,
	IBV_EXP_ACCESS_NO_RDMA			= 1ULL << 44,
	IBV_EXP_ACCESS_MW_ZERO_BASED		= 1ULL << 45,
	IBV_EXP_ACCESS_ON_DEMAND		= 1ULL << 46,
	IBV_EXP_ACCESS_RELAXED			= 1ULL << 47,
	IBV_EXP_ACCESS_PHYSICAL_ADDR		= 1ULL << 48,
	IBV_EXP_ACCESS_TUNNELED_ATOMIC		= 1ULL << 49,
	IBV_EXP_ACCESS_RELAXED_ORDERING		= 1ULL << 50,
	IBV_EXP_ACCESS_RESERVED			= 1ULL << 51,
};

enum {
	IBV_EXP_ACCESS_FLAGS_SHIFT	= 15,
};

enum ibv_exp_reg_mr_in_comp_mask {
	IBV_EXP_REG_MR_CREATE_FLAGS	= 1 << 0,
	IBV_EXP_REG_MR_DM		= 1 << 1,
	IBV_EXP_REG_MR_RESERVED		= 1 << 2,
};

enum ibv_exp_reg_mr_create_flags {
	IBV_EXP_REG_MR_CREATE_CONTIG	= 1 << 0,
};

enum ibv_exp_reg_shared_mr_comp_mask {
	IBV_EXP_REG_SHARED_MR_RESERVED	= 1 << 0,
};

enum ibv_exp_bind_mw_comp_mask {
	IBV_EXP_BIND_MW_RESERVED	= 1 << 0,
};

enum ibv_exp_prefetch_attr_comp_mask {
	IBV_EXP_PREFETCH_MR_RESERVED	= 1 << 0,
};

enum ibv_exp_prefetch_attr_flags {
	IBV_EXP_PREFETCH_WRITE_ACCESS	= 1 << 0,
};

enum ibv_exp_mr_create_flags {
	IBV_EXP_MR_SIGNATURE_EN		= 1 << 0,
	IBV_EXP_MR_INDIRECT_KLMS	= 1 << 1,
	IBV_EXP_MR_FIXED_BUFFER_SIZE	= 1 << 2,
};

enum ibv_exp_create_mr_in_comp_mask {
	IBV_EXP_CREATE_MR_IN_RESERVED	= 1 << 0,
};

enum ibv_exp_mkey_attr_comp_mask {
	IBV_EXP_MKEY_ATTR_RESERVED	= 1 << 0,
};

enum ibv_exp_mkey_list_type {
	IBV_EXP_MKEY_LIST_TYPE_INDIRECT_MR	= 0,
};

enum ibv_exp_alloc_mkey_list_comp_mask {
	IBV_EXP_MKEY_LIST_CONTAINER_RESERVED	= 1 << 0,
};

enum ibv_exp_dereg_mr_comp_mask {
	IBV_EXP_DEREG_MR_RESERVED	= 1 << 0,
};

/* The order matters: programs initialise it by position. */
struct ibv_exp_reg_mr_in {
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint64_t exp_access;
	uint32_t comp_mask;
	uint32_t create_flags;
	struct ibv_exp_dm *dm;
};

struct ibv_exp_reg_shared_mr_in {
	uint32_t mr_handle;
	struct ibv_pd *pd;
	void *addr;
	uint64_t exp_access;
	uint32_t comp_mask;
};

struct ibv_exp_mw_bind {
	struct ibv_qp *qp;
	struct ibv_mw *mw;
	uint64_t wr_id;
	uint64_t exp_send_flags;
	struct ibv_exp_mw_bind_info bind_info;
	uint32_t comp_mask;
};

struct ibv_exp_prefetch_attr {
	uint32_t flags;
	void *addr;
	size_t length;
	uint32_t comp_mask;
};

struct ibv_exp_mr_init_attr {
	uint32_t max_klm_list_size;
	uint32_t create_flags;
	uint64_t exp_access_flags;
};

struct ibv_exp_create_mr_in {
	struct ibv_pd *pd;
	struct ibv_exp_mr_init_attr attr;
	uint32_t comp_mask;
};

struct ibv_exp_mkey_attr {
	uint32_t max_klm_list_size;
	uint32_t comp_mask;
};

struct ibv_exp_mkey_list_container {
	uint32_t max_klm_list_size;
	struct ibv_context *context;
};

struct ibv_exp_mkey_list_container_attr {
	struct ibv_pd *pd;
	uint32_t mkey_list_type;
	uint32_t max_klm_list_size;
	uint32_t comp_mask;
};

struct ibv_exp_dereg_out {
	int need_dofork;
	uint32_t comp_mask;
};

struct ibv_mr *ibv_exp_reg_mr(struct ibv_exp_reg_mr_in *in);

struct ibv_mr *ibv_exp_reg_shared_mr(struct ibv_exp_reg_shared_mr_in *mr_in);

int ibv_exp_bind_mw(struct ibv_exp_mw_bind *mw_bind);

int ibv_exp_prefetch_mr(struct ibv_mr *mr, struct ibv_exp_prefetch_attr *attr);

struct ibv_mr *ibv_exp_create_mr(struct ibv_exp_create_mr_in *in);

int ibv_exp_query_mkey(struct ibv_mr *mr, struct ibv_exp_mkey_attr *attr);

struct ibv_exp_mkey_list_container *
ibv_exp_alloc_mkey_list_memory(struct ibv_exp_mkey_list_container_attr *attr);

int ibv_exp_dealloc_mkey_list_memory(struct ibv_exp_mkey_list_container *mem);

/* ---- device memory ------------------------------------------------------ */

enum ibv_exp_dm_memcpy_dir {
	IBV_EXP_DM_CPY_TO_DEVICE	= 0,
	IBV_EXP_DM_CPY_TO_HOST		= 1,
};

enum ibv_exp_dm_attr_comp_mask {
	IBV_EXP_ALLOC_DM_ATTR_RESERVED	= 1 << 0,
};

enum ibv_exp_dm_comp_mask {
	IBV_EXP_DM_COMP_MASK_RESERVED	= 1 << 0,
};

enum ibv_exp_dm_cpy_comp_mask {
	IBV_EXP_DM_CPY_COMP_MASK_RESERVED	= 1 << 0,
};

struct ibv_exp_alloc_dm_attr {
	size_t length;
	uint32_t comp_mask;
};

/* Device memory.  What is behind it belongs to the library. */
struct ibv_exp_dm {
	struct ibv_context *context;
	uint32_t handle;
	uint32_t comp_mask;
};

struct ibv_exp_memcpy_dm_attr {
	enum ibv_exp_dm_memcpy_dir memcpy_dir;
	void *host_addr;
	uint64_t dm_offset;
	size_t length;
	uint32_t comp_mask;
};

struct ibv_exp_dm *ibv_exp_alloc_dm(struct ibv_context *context,
				    struct ibv_exp_alloc_dm_attr *attr);

int ibv_exp_free_dm(struct ibv_exp_dm *dm);

int ibv_exp_memcpy_dm(struct ibv_exp_dm *dm,
		      struct ibv_exp_memcpy_dm_attr *attr);

/* ---- dynamically connected transport ------------------------------------ */

enum ibv_exp_dct_init_attr_comp_mask {
	IBV_EXP_DCT_INIT_ATTR_RESERVED	= 1 << 0,
};

enum ibv_exp_dct_create_flags {
	IBV_EXP_DCT_OOO_RW_DATA_PLACEMENT	= 1 << 0,
	IBV_EXP_DCT_CREATE_FLAGS_MASK		= 1 << 0,
};

enum {
	IBV_EXP_DCT_STATE_ACTIVE	= 0,
	IBV_EXP_DCT_STATE_DRAINING	= 1,
	IBV_EXP_DCT_STATE_DRAINED	= 2,
};

enum ibv_exp_dct_attr_comp_mask {
	IBV_EXP_DCT_ATTR_RESERVED	= 1 << 0,
};

enum ibv_exp_arm_attr_comp_mask {
	IBV_EXP_ARM_ATTR_RESERVED	= 1 << 0,
};

enum {
	IBV_EXP_NUM_DC_INFO_LIDS	= 30,
};

struct ibv_exp_dct_init_attr {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint64_t dc_key;
	uint8_t port;
	uint32_t access_flags;
	uint8_t min_rnr_timer;
	uint8_t tclass;
	uint32_t flow_label;
	enum ibv_mtu mtu;
	uint8_t pkey_index;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint32_t inline_size;
	uint32_t create_flags;
	uint32_t comp_mask;
};

struct ibv_exp_dct_attr {
	uint64_t dc_key;
	uint8_t port;
	uint32_t access_flags;
	uint8_t min_rnr_timer;
	uint8_t tclass;
	uint32_t flow_label;
	enum ibv_mtu mtu;
	uint8_t pkey_index;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint32_t key_violations;
	uint8_t state;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	uint32_t comp_mask;
};

/* A target of the dynamically connected transport. */
struct ibv_exp_dct {
	struct ibv_context *context;
	uint32_t handle;
	uint32_t dct_num;
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
};

struct ibv_exp_arm_attr {
	uint32_t comp_mask;
};

struct ibv_exp_dc_info_ent {
	uint16_t lid[30];
	uint32_t seqnum;
};

struct ibv_exp_dct *ibv_exp_create_dct(struct ibv_context *context,
				       struct ibv_exp_dct_init_attr *attr);

int ibv_exp_destroy_dct(struct ibv_exp_dct *dct);

int ibv_exp_query_dct(struct ibv_exp_dct *dct, struct ibv_exp_dct_attr *attr);

int ibv_exp_arm_dct(struct ibv_exp_dct *dct, struct ibv_exp_arm_attr *attr);

int ibv_exp_poll_dc_info(struct ibv_context *context,
			 struct ibv_exp_dc_info_ent *ents, int nent, int port);

/* ---- shared receive queues ---------------------------------------------- */

enum ibv_exp_srq_type {
	IBV_EXP_SRQT_BASIC		= 0,
	IBV_EXP_SRQT_XRC		= 1,
	IBV_EXP_SRQT_TAG_MATCHING	= 32,
};

enum ibv_exp_create_srq_comp_mask {
	IBV_EXP_CREATE_SRQ_CQ			= 1 << 0,
	IBV_EXP_CREATE_SRQ_XRCD			= 1 << 1,
	IBV_EXP_CREATE_SRQ_TM			= 1 << 2,
	IBV_EXP_CREATE_SRQ_DC_OFFLOAD_PARAMS	= 1 << 3,
	IBV_EXP_CREATE_SRQ_MP_WR		= 1 << 4,
	IBV_EXP_CREATE_SRQ_RESERVED		= 1 << 5,
};

enum ibv_exp_ops_wr_opcode {
	IBV_EXP_WR_TAG_ADD	= 0,
	IBV_EXP_WR_TAG_DEL	= 1,
	IBV_EXP_WR_TAG_SYNC	= 2,
};

enum ibv_exp_ops_flags {
	IBV_EXP_OPS_SIGNALED	= 1 << 0,
	IBV_EXP_OPS_TM_SYNC	= 1 << 1,
};

enum ibv_exp_tmh_op {
	IBV_EXP_TMH_NO_TAG	= 0,
	IBV_EXP_TMH_RNDV	= 1,
	IBV_EXP_TMH_FIN		= 2,
	IBV_EXP_TMH_EAGER	= 3,
};

struct ibv_exp_tm_cap {
	uint32_t max_num_tags;
	uint32_t max_ops;
};

struct ibv_exp_mp_wr {
	uint8_t log_num_of_strides;
	uint8_t log_stride_size;
};

struct ibv_exp_create_srq_attr {
	struct ibv_srq_init_attr base;
	enum ibv_exp_srq_type srq_type;
	struct ibv_pd *pd;
	uint32_t comp_mask;
	struct ibv_cq *cq;
	struct ibv_xrcd *xrcd;
	struct ibv_exp_tm_cap tm_cap;
	struct ibv_exp_srq_dc_offload_params *dc_offload_params;
	struct ibv_exp_mp_wr mp_wr;
};

struct ibv_exp_srq_dc_offload_params {
	uint16_t pkey_index;
	enum ibv_mtu path_mtu;
	uint8_t sl;
	uint8_t max_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint64_t dct_key;
	uint32_t ooo_caps;
	uint32_t comp_mask;
};

struct ibv_exp_ops_wr {
	uint64_t wr_id;
	struct ibv_exp_ops_wr *next;
	enum ibv_exp_ops_wr_opcode opcode;
	int flags;
	struct {
		uint32_t unexpected_cnt;
		uint32_t handle;
		struct {
			uint64_t recv_wr_id;
			struct ibv_sge *sg_list;
			int num_sge;
			uint64_t tag;
			uint64_t mask;
		} add;
	} tm;
};

/* Headers of messages that match a tag; fields in network byte order. */
struct ibv_exp_tmh {
	uint8_t opcode;
	uint8_t reserved[3];
	uint32_t app_ctx;
	uint64_t tag;
};

struct ibv_exp_tmh_rvh {
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
};

struct ibv_exp_tmh_ravh {
	uint32_t sl_dct;
	uint32_t reserved;
	uint64_t dc_access_key;
};

struct ibv_srq *ibv_exp_create_srq(struct ibv_context *context,
				   struct ibv_exp_create_srq_attr *attr);

int ibv_exp_post_srq_ops(struct ibv_srq *srq, struct ibv_exp_ops_wr *op,
			 struct ibv_exp_ops_wr **bad_op);

/* ---- resource domains --------------------------------------------------- */

enum ibv_exp_res_domain_init_attr_comp_mask {
	IBV_EXP_RES_DOMAIN_THREAD_MODEL	= 1 << 0,
	IBV_EXP_RES_DOMAIN_MSG_MODEL	= 1 << 1,
	IBV_EXP_RES_DOMAIN_RESERVED	= 1 << 2,
};

enum ibv_exp_destroy_res_domain_comp_mask {
	IBV_EXP_DESTROY_RES_DOMAIN_RESERVED	= 1 << 0,
};

enum ibv_exp_thread_model {
	IBV_EXP_THREAD_SAFE	= 0,
	IBV_EXP_THREAD_UNSAFE	= 1,
	IBV_EXP_THREAD_SINGLE	= 2,
};

enum ibv_exp_msg_model {
	IBV_EXP_MSG_DEFAULT		= 0,
	IBV_EXP_MSG_LOW_LATENCY		= 1,
	IBV_EXP_MSG_HIGH_BW		= 2,
	IBV_EXP_MSG_FORCE_LOW_LATENCY	= 3,
};

/* Objects that are created in a domain share a hint of how they are used. */
struct ibv_exp_res_domain {
	struct ibv_context *context;
};

struct ibv_exp_res_domain_init_attr {
	uint32_t comp_mask;
	enum ibv_exp_thread_model thread_model;
	enum ibv_exp_msg_model msg_model;
};

struct ibv_exp_destroy_res_domain_attr {
	uint32_t comp_mask;
};

struct ibv_exp_res_domain *
ibv_exp_create_res_domain(struct ibv_context *context,
			  struct ibv_exp_res_domain_init_attr *attr);

int ibv_exp_destroy_res_domain(struct ibv_context *context,
			       struct ibv_exp_res_domain *res_dom,
			       struct ibv_exp_destroy_res_domain_attr *attr);

#ifdef __cplusplus
}
#endif

#endif /* _INFINIBAND_VERBS_EXP_OBJECTS_H */
