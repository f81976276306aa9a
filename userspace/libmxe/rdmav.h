/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The provider interface of libibverbs, as far as mxe uses it. Distributions do
 * not ship the headers in which it is declared.
 *
 * Every private symbol has the version IBVERBS_PRIVATE_<number>, so a
 * libibverbs of another number refuses to load the provider. Two numbers cover
 * more than one layout, because a release changed the interface and kept the
 * number:
 *
 *   34  rdma-core 36 to 56. struct ibv_qp_ex, which is part of struct verbs_qp,
 *       grew in 44 and 45, and ibv_cmd_reg_dmabuf_mr() in 54.
 *   59  rdma-core 59 to 63. struct verbs_context_ops and struct verbs_context
 *       grew in 62.
 *
 * libmxe works with all releases of 34. It refuses a libibverbs with the other
 * layout of 59. Documentation/rdma-core.rst lists the differences, and
 * tools/lib/style/private-abi compares this file with the headers of a release.
 *
 * RDMAV is the release of rdma-core that introduced the layout: 36, 57, 59, 62,
 * 64 or 65. The Makefile finds it in the libibverbs that it links with.
 *
 * Members that mxe neither reads nor sets have a place but no type.
 */
#ifndef RDMAV_H
#define RDMAV_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#if RDMAV != 36 && RDMAV != 57 && RDMAV != 59 && RDMAV != 62 && RDMAV != 64 && \
	RDMAV != 65
#error "RDMAV is no layout that is described here"
#endif

#if RDMAV >= 64
#define RDMAV_PABI RDMAV
#elif RDMAV >= 59
#define RDMAV_PABI 59
#elif RDMAV >= 57
#define RDMAV_PABI 57
#else
#define RDMAV_PABI 34
#endif

/*
 * RDMAV_ARG_n(...): an argument, and RDMAV_SINCE_n(...): a member, in the
 * layout of n and later ones.
 */
#if RDMAV >= 57
#define RDMAV_ARG_57(...) __VA_ARGS__,
#else
#define RDMAV_ARG_57(...)
#endif
#if RDMAV >= 59
#define RDMAV_ARG_59(...) __VA_ARGS__,
#define RDMAV_SINCE_59(...) __VA_ARGS__
#else
#define RDMAV_ARG_59(...)
#define RDMAV_SINCE_59(...)
#endif
#if RDMAV >= 62
#define RDMAV_SINCE_62(...) __VA_ARGS__
#else
#define RDMAV_SINCE_62(...)
#endif
#if RDMAV >= 64
#define RDMAV_SINCE_64(...) __VA_ARGS__
#else
#define RDMAV_SINCE_64(...)
#endif
#if RDMAV >= 65
#define RDMAV_SINCE_65(...) __VA_ARGS__
#else
#define RDMAV_SINCE_65(...)
#endif

#define RDMAV_AT(type, member, offset) \
	static_assert(offsetof(type, member) == (offset), \
		      #type "." #member " is not where libibverbs has it")
#define RDMAV_SIZE(type, size) \
	static_assert(sizeof(type) == (size), \
		      #type " is not as large as in libibverbs")

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

/* Operations that rdma-core took up in 44 and 45, under the names IBV_*. */
enum {
	RDMAV_QP_EX_WITH_FLUSH		= 1 << 11,
	RDMAV_QP_EX_WITH_ATOMIC_WRITE	= 1 << 12,
};

/*
 * wr_atomic_write and wr_flush are the members that 44 and 45 added to struct
 * ibv_qp_ex, so that they are known here whatever headers are installed.
 *
 * Behind the union, libibverbs has a uint32_t comp_mask and a struct verbs_xrcd
 * pointer. Their place depends on the size that struct ibv_qp_ex has in the
 * libibverbs of the process, which may be larger or smaller than here: rdmav.c
 * finds it.
 */
struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
		struct {
			char qp_ex_36[offsetof(struct ibv_qp_ex, wr_abort) +
				      sizeof(void *)];
			void (*wr_atomic_write)(struct ibv_qp_ex *qp,
						uint32_t rkey,
						uint64_t remote_addr,
						const void *atomic_wr);
			void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey,
					 uint64_t remote_addr, size_t len,
					 uint8_t type, uint8_t level);
		};
		char room[512];
	};
};

enum { RDMAV_QP_TAIL = 16 };	/* bytes of comp_mask and xrcd */

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

/* ---- the operations of a context --------------------------------------- */

typedef void (*rdmav_unused)(void);

struct verbs_context_ops {
	rdmav_unused advise_mr;
	RDMAV_SINCE_64(rdmav_unused alloc_buf;)
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context,
				   struct ibv_alloc_dm_attr *attr);
	RDMAV_SINCE_59(rdmav_unused alloc_dmah;)
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	rdmav_unused alloc_null_mr;
	struct ibv_pd *(*alloc_parent_domain)(
		struct ibv_context *context,
		struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context,
				   struct ibv_td_init_attr *attr);
	rdmav_unused async_event;
	rdmav_unused attach_counters_point_flow;
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw,
		       struct ibv_mw_bind *bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	rdmav_unused cq_event;
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	RDMAV_SINCE_65(rdmav_unused create_comp_cntr;)
	rdmav_unused create_counters;
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	rdmav_unused create_flow;
	rdmav_unused create_flow_action_esp;
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	rdmav_unused create_rwq_ind_table;
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	rdmav_unused create_wq;
	RDMAV_SINCE_59(rdmav_unused dealloc_dmah;)
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *vmr);
	int (*destroy_ah)(struct ibv_ah *ah);
	RDMAV_SINCE_65(rdmav_unused destroy_comp_cntr;)
	rdmav_unused destroy_counters;
	int (*destroy_cq)(struct ibv_cq *cq);
	rdmav_unused destroy_flow;
	rdmav_unused destroy_flow_action;
	int (*destroy_qp)(struct ibv_qp *qp);
	rdmav_unused destroy_rwq_ind_table;
	int (*destroy_srq)(struct ibv_srq *srq);
	rdmav_unused destroy_wq;
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	RDMAV_SINCE_62(rdmav_unused dm_export_dmabuf_fd;)
	RDMAV_SINCE_64(rdmav_unused free_buf;)
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	struct ibv_dm *(*import_dm)(struct ibv_context *context,
				    uint32_t handle);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context,
				    uint32_t handle);
	RDMAV_SINCE_65(rdmav_unused inc_comp_cntr;)
	RDMAV_SINCE_65(rdmav_unused inc_err_comp_cntr;)
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	rdmav_unused modify_flow_action_esp;
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	rdmav_unused modify_qp_rate_limit;
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			  int attr_mask);
	rdmav_unused modify_wq;
	struct ibv_qp *(*open_qp)(struct ibv_context *context,
				  struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	int (*post_srq_ops)(struct ibv_srq *srq, struct ibv_ops_wr *wr,
			    struct ibv_ops_wr **bad_wr);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr);
	RDMAV_SINCE_65(rdmav_unused qp_attach_comp_cntr;)
	RDMAV_SINCE_65(rdmav_unused query_comp_cntr_caps;)
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *port_attr);
	RDMAV_SINCE_62(rdmav_unused query_port_speed;)
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	rdmav_unused query_qp_data_in_order;
	int (*query_rt_values)(struct ibv_context *context,
			       struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
	RDMAV_SINCE_65(rdmav_unused read_comp_cntr;)
	rdmav_unused read_counters;
	RDMAV_SINCE_65(rdmav_unused read_err_comp_cntr;)
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm,
				    uint64_t dm_offset, size_t length,
				    unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t hca_va, int fd,
					int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t hca_va, int access);
	RDMAV_SINCE_59(rdmav_unused reg_mr_ex;)
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
			void *addr, size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	RDMAV_SINCE_65(rdmav_unused set_comp_cntr;)
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	RDMAV_SINCE_65(rdmav_unused set_err_comp_cntr;)
	void (*unimport_dm)(struct ibv_dm *dm);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

/* ---- command buffers --------------------------------------------------- */

/*
 * The part of a command that libibverbs fills in: one or two headers, then the
 * request of rdma/ib_user_verbs.h.  The request of the driver follows directly.
 */
#define RDMAV_CMD(name) \
	struct ibv_##name { \
		struct ib_uverbs_cmd_hdr hdr; \
		__aligned_u64 core[sizeof(struct ib_uverbs_##name) / 8]; \
	}; \
	static_assert(sizeof(struct ib_uverbs_##name) % 8 == 0, #name)

RDMAV_CMD(get_context);
RDMAV_CMD(query_port);
RDMAV_CMD(alloc_mw);
RDMAV_CMD(alloc_pd);
RDMAV_CMD(reg_mr);
RDMAV_CMD(rereg_mr);
RDMAV_CMD(resize_cq);
RDMAV_CMD(modify_qp);
RDMAV_CMD(modify_srq);
RDMAV_CMD(query_qp);
RDMAV_CMD(query_srq);
RDMAV_CMD(create_xsrq);
RDMAV_CMD(open_qp);
RDMAV_CMD(open_xrcd);

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

/* mxe only passes NULL. */
struct ibv_fd_arr;
struct ibv_command_buffer;
struct verbs_create_cq_prov_attr;

/*
 * ibv_cmd_reg_dmabuf_mr() has its last argument since rdma-core 54, and
 * ibv_cmd_create_qp_ex2() by 64. They are always passed, because a function
 * that takes fewer arguments ignores them: in the calling conventions of Linux,
 * the caller removes the arguments.
 */

#define RDMAV_PASTE(name, number) name##number
#define RDMAV_NUMBERED(name, number) RDMAV_PASTE(name, number)
#define verbs_register_driver \
	RDMAV_NUMBERED(verbs_register_driver_, RDMAV_PABI)

void verbs_register_driver(const struct verbs_device_ops *ops);

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
			RDMAV_ARG_57(struct ibv_fd_arr *fd_arr)
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
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t handle);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_size, struct ib_uverbs_rereg_mr_resp *resp,
		     size_t resp_size);

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
			 RDMAV_ARG_59(struct verbs_create_cq_prov_attr *prov)
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
			  size_t resp_size,
			  struct ibv_command_buffer *driver);
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
#error "the offsets are known for 64-bit machines only"
#endif

/* Of a queue, by which its events are waited for: 88 bytes, and 96 on arm64. */
#define RDMAV_LOCK (sizeof(pthread_mutex_t) + sizeof(pthread_cond_t))

RDMAV_SIZE(struct verbs_match_ent, 24);
RDMAV_AT(struct verbs_match_ent, u, 8);
RDMAV_AT(struct verbs_match_ent, kind, 20);

RDMAV_SIZE(struct verbs_device_ops, 72);
RDMAV_AT(struct verbs_device_ops, match_min_abi_version, 8);
RDMAV_AT(struct verbs_device_ops, match_table, 16);
RDMAV_AT(struct verbs_device_ops, match_device, 32);
RDMAV_AT(struct verbs_device_ops, alloc_context, 40);
RDMAV_AT(struct verbs_device_ops, import_context, 48);
RDMAV_AT(struct verbs_device_ops, alloc_device, 56);
RDMAV_AT(struct verbs_device_ops, uninit_device, 64);

RDMAV_SIZE(struct verbs_device, 712);
RDMAV_AT(struct verbs_device, device, 0);
RDMAV_AT(struct verbs_device, ops, 664);
RDMAV_AT(struct verbs_device, refcount, 672);
RDMAV_AT(struct verbs_device, entry, 680);
RDMAV_AT(struct verbs_device, core_support, 704);

RDMAV_SIZE(struct verbs_dm, 40);
RDMAV_AT(struct verbs_dm, handle, 32);
RDMAV_SIZE(struct verbs_mr, 56);
RDMAV_AT(struct verbs_mr, mr_type, 48);
RDMAV_AT(struct verbs_mr, access, 52);

static_assert(sizeof(struct verbs_qp) >= sizeof(struct ibv_qp_ex) + RDMAV_QP_TAIL,
	      "struct verbs_qp has no room for comp_mask and xrcd");
RDMAV_SIZE(struct verbs_cq, 200 + RDMAV_LOCK);

RDMAV_SIZE(struct verbs_xrcd, 16);
RDMAV_AT(struct verbs_xrcd, comp_mask, 8);
RDMAV_AT(struct verbs_xrcd, handle, 12);

RDMAV_SIZE(struct verbs_srq, 72 + RDMAV_LOCK);
RDMAV_AT(struct verbs_srq, srq_type, 40 + RDMAV_LOCK);
RDMAV_AT(struct verbs_srq, xrcd, 48 + RDMAV_LOCK);
RDMAV_AT(struct verbs_srq, cq, 56 + RDMAV_LOCK);
RDMAV_AT(struct verbs_srq, srq_num, 64 + RDMAV_LOCK);

/*
 * The places in the table, in pointers: in the layouts of 36 (and 57), 59, 62,
 * 64 and 65.
 */
#define RDMAV_SLOT(s36, s59, s62, s64, s65) \
	(8 * (RDMAV >= 65 ? (s65) : RDMAV >= 64 ? (s64) : RDMAV >= 62 ? (s62) : \
	      RDMAV >= 59 ? (s59) : (s36)))
#define RDMAV_OP(member, ...) \
	RDMAV_AT(struct verbs_context_ops, member, RDMAV_SLOT(__VA_ARGS__))

RDMAV_SIZE(struct verbs_context_ops, RDMAV_SLOT(76, 79, 81, 83, 93));
RDMAV_OP(alloc_dm, 1, 1, 1, 2, 2);
RDMAV_OP(alloc_mw, 2, 3, 3, 4, 4);
RDMAV_OP(alloc_parent_domain, 4, 5, 5, 6, 6);
RDMAV_OP(alloc_pd, 5, 6, 6, 7, 7);
RDMAV_OP(alloc_td, 6, 7, 7, 8, 8);
RDMAV_OP(attach_mcast, 9, 10, 10, 11, 11);
RDMAV_OP(bind_mw, 10, 11, 11, 12, 12);
RDMAV_OP(close_xrcd, 11, 12, 12, 13, 13);
RDMAV_OP(create_ah, 13, 14, 14, 15, 15);
RDMAV_OP(create_cq, 15, 16, 16, 17, 18);
RDMAV_OP(create_cq_ex, 16, 17, 17, 18, 19);
RDMAV_OP(create_qp, 19, 20, 20, 21, 22);
RDMAV_OP(create_qp_ex, 20, 21, 21, 22, 23);
RDMAV_OP(create_srq, 22, 23, 23, 24, 25);
RDMAV_OP(create_srq_ex, 23, 24, 24, 25, 26);
RDMAV_OP(dealloc_mw, 25, 27, 27, 28, 29);
RDMAV_OP(dealloc_pd, 26, 28, 28, 29, 30);
RDMAV_OP(dealloc_td, 27, 29, 29, 30, 31);
RDMAV_OP(dereg_mr, 28, 30, 30, 31, 32);
RDMAV_OP(destroy_ah, 29, 31, 31, 32, 33);
RDMAV_OP(destroy_cq, 31, 33, 33, 34, 36);
RDMAV_OP(destroy_qp, 34, 36, 36, 37, 39);
RDMAV_OP(destroy_srq, 36, 38, 38, 39, 41);
RDMAV_OP(detach_mcast, 38, 40, 40, 41, 43);
RDMAV_OP(free_context, 39, 41, 42, 44, 46);
RDMAV_OP(free_dm, 40, 42, 43, 45, 47);
RDMAV_OP(get_srq_num, 41, 43, 44, 46, 48);
RDMAV_OP(import_dm, 42, 44, 45, 47, 49);
RDMAV_OP(import_mr, 43, 45, 46, 48, 50);
RDMAV_OP(import_pd, 44, 46, 47, 49, 51);
RDMAV_OP(modify_cq, 45, 47, 48, 50, 54);
RDMAV_OP(modify_qp, 47, 49, 50, 52, 56);
RDMAV_OP(modify_srq, 49, 51, 52, 54, 58);
RDMAV_OP(open_qp, 51, 53, 54, 56, 60);
RDMAV_OP(open_xrcd, 52, 54, 55, 57, 61);
RDMAV_OP(poll_cq, 53, 55, 56, 58, 62);
RDMAV_OP(post_recv, 54, 56, 57, 59, 63);
RDMAV_OP(post_send, 55, 57, 58, 60, 64);
RDMAV_OP(post_srq_ops, 56, 58, 59, 61, 65);
RDMAV_OP(post_srq_recv, 57, 59, 60, 62, 66);
RDMAV_OP(query_device_ex, 58, 60, 61, 63, 69);
RDMAV_OP(query_ece, 59, 61, 62, 64, 70);
RDMAV_OP(query_port, 60, 62, 63, 65, 71);
RDMAV_OP(query_qp, 61, 63, 65, 67, 73);
RDMAV_OP(query_rt_values, 63, 65, 67, 69, 75);
RDMAV_OP(query_srq, 64, 66, 68, 70, 76);
RDMAV_OP(reg_dm_mr, 66, 68, 70, 72, 80);
RDMAV_OP(reg_dmabuf_mr, 67, 69, 71, 73, 81);
RDMAV_OP(reg_mr, 68, 70, 72, 74, 82);
RDMAV_OP(req_notify_cq, 69, 72, 74, 76, 84);
RDMAV_OP(rereg_mr, 70, 73, 75, 77, 85);
RDMAV_OP(resize_cq, 71, 74, 76, 78, 86);
RDMAV_OP(set_ece, 72, 75, 77, 79, 88);
RDMAV_OP(unimport_dm, 73, 76, 78, 80, 90);
RDMAV_OP(unimport_mr, 74, 77, 79, 81, 91);
RDMAV_OP(unimport_pd, 75, 78, 80, 82, 92);

/* Commands: what stands before the driver's own request. */
RDMAV_SIZE(struct ibv_get_context, 16);
RDMAV_SIZE(struct ibv_create_cq_ex, 56);
RDMAV_SIZE(struct ibv_resize_cq, 24);
RDMAV_SIZE(struct ibv_modify_cq, 40);
RDMAV_SIZE(struct ibv_create_xsrq, 56);
RDMAV_SIZE(struct ibv_create_qp_ex, 88);
RDMAV_SIZE(struct ibv_open_xrcd, 24);
RDMAV_SIZE(struct ibv_open_qp, 40);

/* ---- rdmav.c: how libibverbs in this process is laid out --------------- */

bool mxe_rdmav_check_qp(void);
size_t mxe_rdmav_qp_ex_size(void);

/* True if libibverbs' struct ibv_qp_ex has this member of struct verbs_qp. */
#define mxe_rdmav_has(member) \
	(offsetof(struct verbs_qp, member) < mxe_rdmav_qp_ex_size())

/* Set this member of struct verbs_qp if libibverbs has it. */
#define mxe_rdmav_set(vqp, member, function) do { \
	if (mxe_rdmav_has(member)) \
		(vqp)->member = (function); \
} while (0)

void mxe_rdmav_set_qp_ex(struct verbs_qp *vqp);
bool mxe_rdmav_check_context(const struct verbs_context *vctx);
bool mxe_rdmav_check_ops(const struct verbs_context *vctx,
			 const struct verbs_context_ops *ops);

/* Registers the provider when the library is loaded, as in rdma-core's tree. */
#define PROVIDER_DRIVER(name, driver) \
	static __attribute__((constructor)) void name##_register_driver(void) \
	{ \
		if (mxe_rdmav_check_qp()) \
			verbs_register_driver(&driver); \
	}

#endif /* RDMAV_H */
