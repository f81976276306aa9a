/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The provider interface of libibverbs, as far as mxe uses it, has the private
 * ABI number 34: rdma-core 36 to 56. Distributions do not ship the headers in
 * which it is declared.
 *
 * Every symbol declared here has the version IBVERBS_PRIVATE_34, so a
 * libibverbs of another number refuses to load the provider instead of
 * misreading its structures.  What the assertions do not hold is not used.
 *
 * Members that mxe neither reads nor sets have a place but no type.
 */
#ifndef RDMAV34_H
#define RDMAV34_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#define RDMAV34_AT(type, member, offset) \
	static_assert(offsetof(type, member) == (offset), \
		      #type "." #member " is not where rdmav34 has it")
#define RDMAV34_SIZE(type, size) \
	static_assert(sizeof(type) == (size), \
		      #type " is not as large as rdmav34 has it")

/* ---- matching and devices ---------------------------------------------- */

struct verbs_sysfs_dev;		/* differs between releases: never opened */

struct list_node {
	struct list_node *next, *prev;
};

enum {
	VERBS_MATCH_SENTINEL	= 0,
	VERBS_MATCH_DRIVER_ID	= 3,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	atomic_int refcount;
	struct list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

/* ---- objects ----------------------------------------------------------- */

struct verbs_mr {
	struct ibv_mr ibv_mr;
	int mr_type;
	int access;
};

struct verbs_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

enum verbs_qp_mask {
	VERBS_QP_EX = 1 << 1,	/* qp_ex is what ibv_qp_to_qp_ex() returns */
};

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;
	struct verbs_xrcd *xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

/* ---- the operations of a context --------------------------------------- */

typedef void (*rdmav34_unused)(void);

struct verbs_context_ops {
	rdmav34_unused advise_mr;
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context,
				   struct ibv_alloc_dm_attr *attr);
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	rdmav34_unused alloc_null_mr;
	struct ibv_pd *(*alloc_parent_domain)(
		struct ibv_context *context,
		struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context,
				   struct ibv_td_init_attr *attr);
	rdmav34_unused async_event;
	rdmav34_unused attach_counters_point_flow;
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw,
		       struct ibv_mw_bind *bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	rdmav34_unused cq_event;
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	rdmav34_unused create_counters;
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	rdmav34_unused create_flow;
	rdmav34_unused create_flow_action_esp;
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	rdmav34_unused create_rwq_ind_table;
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	rdmav34_unused create_wq;
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *vmr);
	int (*destroy_ah)(struct ibv_ah *ah);
	rdmav34_unused destroy_counters;
	int (*destroy_cq)(struct ibv_cq *cq);
	rdmav34_unused destroy_flow;
	rdmav34_unused destroy_flow_action;
	int (*destroy_qp)(struct ibv_qp *qp);
	rdmav34_unused destroy_rwq_ind_table;
	int (*destroy_srq)(struct ibv_srq *srq);
	rdmav34_unused destroy_wq;
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	struct ibv_dm *(*import_dm)(struct ibv_context *context,
				    uint32_t handle);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context,
				    uint32_t handle);
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	rdmav34_unused modify_flow_action_esp;
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	rdmav34_unused modify_qp_rate_limit;
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			  int attr_mask);
	rdmav34_unused modify_wq;
	struct ibv_qp *(*open_qp)(struct ibv_context *context,
				  struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	rdmav34_unused post_srq_ops;
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr);
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *port_attr);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	rdmav34_unused query_qp_data_in_order;
	int (*query_rt_values)(struct ibv_context *context,
			       struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
	rdmav34_unused read_counters;
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm,
				    uint64_t dm_offset, size_t length,
				    unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t hca_va, int fd,
					int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t hca_va, int access);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
			void *addr, size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	void (*unimport_dm)(struct ibv_dm *dm);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

/* ---- command buffers --------------------------------------------------- */

/*
 * What libibverbs fills in: one or two headers, then the request of
 * rdma/ib_user_verbs.h.  The request of the driver follows directly.
 */
#define RDMAV34_CMD(name) \
	struct ibv_##name { \
		struct ib_uverbs_cmd_hdr hdr; \
		__aligned_u64 core[sizeof(struct ib_uverbs_##name) / 8]; \
	}; \
	static_assert(sizeof(struct ib_uverbs_##name) % 8 == 0, #name)

RDMAV34_CMD(get_context);
RDMAV34_CMD(query_port);
RDMAV34_CMD(alloc_mw);
RDMAV34_CMD(alloc_pd);
RDMAV34_CMD(reg_mr);
RDMAV34_CMD(rereg_mr);
RDMAV34_CMD(resize_cq);
RDMAV34_CMD(modify_qp);
RDMAV34_CMD(modify_srq);
RDMAV34_CMD(query_qp);
RDMAV34_CMD(query_srq);
RDMAV34_CMD(create_xsrq);
RDMAV34_CMD(open_qp);
RDMAV34_CMD(open_xrcd);

/* The extended commands have two headers. */
struct ibv_modify_cq {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_modify_cq core;
};

struct ibv_create_cq_ex {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_create_cq core;
};

struct ibv_create_qp_ex {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_create_qp core;
};

/* ---- functions --------------------------------------------------------- */

struct ibv_command_buffer;	/* only NULL is passed */

void verbs_register_driver_34(const struct verbs_device_ops *ops);
#define verbs_register_driver verbs_register_driver_34

/* context_offset is an offset in the guise of a pointer. */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id);
void verbs_set_ops(struct verbs_context *vctx,
		   const struct verbs_context_ops *ops);
void verbs_uninit_context(struct verbs_context *context);

int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);
int ibv_cmd_query_context(struct ibv_context *context,
			  struct ibv_command_buffer *driver);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *port_attr,
		       struct ibv_query_port *cmd, size_t cmd_size);

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_size, struct ib_uverbs_rereg_mr_resp *resp,
		     size_t resp_size);
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t handle);

int ibv_cmd_free_dm(struct verbs_dm *dm);
int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset,
		      size_t length, unsigned int access,
		      struct verbs_mr *vmr, struct ibv_command_buffer *link);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type,
		     struct ibv_mw *mw, struct ibv_alloc_mw *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp,
		     size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);

int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd,
		      int vxrcd_size, struct ibv_xrcd_init_attr *attr,
		      struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size);
int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd);

int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_req_notify_cq(struct ibv_cq *cq, int solicited_only);

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr,
			  struct ibv_create_xsrq *cmd, size_t cmd_size,
			  struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, struct ibv_modify_srq *cmd,
		       size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);

int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr,
			  struct ibv_create_qp_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size);
int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp,
		    int vqp_sz, struct ibv_qp_open_attr *attr,
		    struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd,
		      size_t cmd_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		     int attr_mask, struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);

/* ---- the layout, as numbers (64-bit) ----------------------------------- */

#if UINTPTR_MAX != UINT64_MAX
#error "the offsets of rdmav34 are known for 64-bit machines only"
#endif

/* Of a queue, by which its events are waited for: 88 bytes, and 96 on arm64. */
#define RDMAV34_LOCK (sizeof(pthread_mutex_t) + sizeof(pthread_cond_t))

RDMAV34_SIZE(struct verbs_match_ent, 24);
RDMAV34_AT(struct verbs_match_ent, u, 8);
RDMAV34_AT(struct verbs_match_ent, kind, 20);

RDMAV34_SIZE(struct verbs_device_ops, 72);
RDMAV34_AT(struct verbs_device_ops, match_min_abi_version, 8);
RDMAV34_AT(struct verbs_device_ops, match_table, 16);
RDMAV34_AT(struct verbs_device_ops, match_device, 32);
RDMAV34_AT(struct verbs_device_ops, alloc_context, 40);
RDMAV34_AT(struct verbs_device_ops, import_context, 48);
RDMAV34_AT(struct verbs_device_ops, alloc_device, 56);
RDMAV34_AT(struct verbs_device_ops, uninit_device, 64);

RDMAV34_SIZE(struct verbs_device, 712);
RDMAV34_AT(struct verbs_device, device, 0);
RDMAV34_AT(struct verbs_device, ops, 664);
RDMAV34_AT(struct verbs_device, refcount, 672);
RDMAV34_AT(struct verbs_device, entry, 680);
RDMAV34_AT(struct verbs_device, core_support, 704);

RDMAV34_SIZE(struct verbs_dm, 40);
RDMAV34_AT(struct verbs_dm, handle, 32);
RDMAV34_SIZE(struct verbs_mr, 56);
RDMAV34_AT(struct verbs_mr, mr_type, 48);
RDMAV34_AT(struct verbs_mr, access, 52);

/*
 * The public part grew inside number 34, by wr_atomic_write (rdma-core 44) and
 * wr_flush (45): queue pairs with builders need the headers of their library.
 */
RDMAV34_SIZE(struct verbs_qp, sizeof(struct ibv_qp_ex) + 16);
RDMAV34_AT(struct verbs_qp, comp_mask, sizeof(struct ibv_qp_ex));
RDMAV34_AT(struct verbs_qp, xrcd, sizeof(struct ibv_qp_ex) + 8);
RDMAV34_SIZE(struct verbs_cq, 200 + RDMAV34_LOCK);

RDMAV34_SIZE(struct verbs_xrcd, 16);
RDMAV34_AT(struct verbs_xrcd, comp_mask, 8);
RDMAV34_AT(struct verbs_xrcd, handle, 12);

RDMAV34_SIZE(struct verbs_srq, 72 + RDMAV34_LOCK);
RDMAV34_AT(struct verbs_srq, srq_type, 40 + RDMAV34_LOCK);
RDMAV34_AT(struct verbs_srq, xrcd, 48 + RDMAV34_LOCK);
RDMAV34_AT(struct verbs_srq, cq, 56 + RDMAV34_LOCK);
RDMAV34_AT(struct verbs_srq, srq_num, 64 + RDMAV34_LOCK);

RDMAV34_SIZE(struct verbs_context_ops, 608);
RDMAV34_AT(struct verbs_context_ops, alloc_dm, 8);
RDMAV34_AT(struct verbs_context_ops, free_dm, 320);
RDMAV34_AT(struct verbs_context_ops, reg_dm_mr, 528);
RDMAV34_AT(struct verbs_context_ops, reg_dmabuf_mr, 536);
RDMAV34_AT(struct verbs_context_ops, rereg_mr, 560);
RDMAV34_AT(struct verbs_context_ops, alloc_mw, 16);
RDMAV34_AT(struct verbs_context_ops, alloc_parent_domain, 32);
RDMAV34_AT(struct verbs_context_ops, alloc_pd, 40);
RDMAV34_AT(struct verbs_context_ops, alloc_td, 48);
RDMAV34_AT(struct verbs_context_ops, attach_mcast, 72);
RDMAV34_AT(struct verbs_context_ops, bind_mw, 80);
RDMAV34_AT(struct verbs_context_ops, close_xrcd, 88);
RDMAV34_AT(struct verbs_context_ops, create_ah, 104);
RDMAV34_AT(struct verbs_context_ops, create_cq, 120);
RDMAV34_AT(struct verbs_context_ops, create_cq_ex, 128);
RDMAV34_AT(struct verbs_context_ops, create_qp, 152);
RDMAV34_AT(struct verbs_context_ops, create_qp_ex, 160);
RDMAV34_AT(struct verbs_context_ops, create_srq, 176);
RDMAV34_AT(struct verbs_context_ops, create_srq_ex, 184);
RDMAV34_AT(struct verbs_context_ops, dealloc_mw, 200);
RDMAV34_AT(struct verbs_context_ops, dealloc_pd, 208);
RDMAV34_AT(struct verbs_context_ops, dealloc_td, 216);
RDMAV34_AT(struct verbs_context_ops, dereg_mr, 224);
RDMAV34_AT(struct verbs_context_ops, destroy_ah, 232);
RDMAV34_AT(struct verbs_context_ops, destroy_cq, 248);
RDMAV34_AT(struct verbs_context_ops, destroy_qp, 272);
RDMAV34_AT(struct verbs_context_ops, destroy_srq, 288);
RDMAV34_AT(struct verbs_context_ops, detach_mcast, 304);
RDMAV34_AT(struct verbs_context_ops, free_context, 312);
RDMAV34_AT(struct verbs_context_ops, get_srq_num, 328);
RDMAV34_AT(struct verbs_context_ops, import_dm, 336);
RDMAV34_AT(struct verbs_context_ops, import_mr, 344);
RDMAV34_AT(struct verbs_context_ops, import_pd, 352);
RDMAV34_AT(struct verbs_context_ops, modify_cq, 360);
RDMAV34_AT(struct verbs_context_ops, modify_qp, 376);
RDMAV34_AT(struct verbs_context_ops, modify_srq, 392);
RDMAV34_AT(struct verbs_context_ops, open_qp, 408);
RDMAV34_AT(struct verbs_context_ops, open_xrcd, 416);
RDMAV34_AT(struct verbs_context_ops, poll_cq, 424);
RDMAV34_AT(struct verbs_context_ops, post_recv, 432);
RDMAV34_AT(struct verbs_context_ops, post_send, 440);
RDMAV34_AT(struct verbs_context_ops, post_srq_recv, 456);
RDMAV34_AT(struct verbs_context_ops, query_device_ex, 464);
RDMAV34_AT(struct verbs_context_ops, query_ece, 472);
RDMAV34_AT(struct verbs_context_ops, query_port, 480);
RDMAV34_AT(struct verbs_context_ops, query_qp, 488);
RDMAV34_AT(struct verbs_context_ops, query_rt_values, 504);
RDMAV34_AT(struct verbs_context_ops, query_srq, 512);
RDMAV34_AT(struct verbs_context_ops, reg_mr, 544);
RDMAV34_AT(struct verbs_context_ops, req_notify_cq, 552);
RDMAV34_AT(struct verbs_context_ops, resize_cq, 568);
RDMAV34_AT(struct verbs_context_ops, set_ece, 576);
RDMAV34_AT(struct verbs_context_ops, unimport_dm, 584);
RDMAV34_AT(struct verbs_context_ops, unimport_mr, 592);
RDMAV34_AT(struct verbs_context_ops, unimport_pd, 600);

/* Commands: what stands before the driver's own request. */
RDMAV34_SIZE(struct ibv_get_context, 16);
RDMAV34_SIZE(struct ibv_create_cq_ex, 56);
RDMAV34_SIZE(struct ibv_resize_cq, 24);
RDMAV34_SIZE(struct ibv_modify_cq, 40);
RDMAV34_SIZE(struct ibv_create_xsrq, 56);
RDMAV34_SIZE(struct ibv_create_qp_ex, 88);
RDMAV34_SIZE(struct ibv_open_xrcd, 24);
RDMAV34_SIZE(struct ibv_open_qp, 40);

#endif /* RDMAV34_H */
