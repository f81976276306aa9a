// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Functions that are not supported on any device. They fail in the same way as
 * those of OFED did if the provider did not implement them.
 */
#include <infiniband/verbs_exp.h>

#include "calls.h"

/* The parameters are unused. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

EXP_EXPORT
struct ibv_mr *ibv_exp_reg_shared_mr(struct ibv_exp_reg_shared_mr_in *mr_in)
{
	return exp_null(ENOSYS);
}

EXP_EXPORT
struct ibv_mr *ibv_exp_create_mr(struct ibv_exp_create_mr_in *in)
{
	return exp_null(ENOSYS);
}

EXP_EXPORT
int ibv_exp_query_mkey(struct ibv_mr *mr, struct ibv_exp_mkey_attr *attr)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
struct ibv_exp_mkey_list_container *
ibv_exp_alloc_mkey_list_memory(struct ibv_exp_mkey_list_container_attr *attr)
{
	return exp_null(ENOSYS);
}

EXP_EXPORT
int ibv_exp_dealloc_mkey_list_memory(struct ibv_exp_mkey_list_container *mem)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_poll_dc_info(struct ibv_context *context,
			 struct ibv_exp_dc_info_ent *ents, int nent, int port)
{
	return -exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_post_task(struct ibv_context *context, struct ibv_exp_task *task,
		      struct ibv_exp_task **bad_task)
{
	*bad_task = task;
	return exp_err(ENOSYS);
}

EXP_EXPORT
struct ibv_exp_wq *ibv_exp_create_wq(struct ibv_context *context,
				     struct ibv_exp_wq_init_attr *wq_init_attr)
{
	return exp_null(ENOSYS);
}

EXP_EXPORT
int ibv_exp_modify_wq(struct ibv_exp_wq *wq, struct ibv_exp_wq_attr *wq_attr)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_destroy_wq(struct ibv_exp_wq *wq)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
struct ibv_exp_rwq_ind_table *
ibv_exp_create_rwq_ind_table(struct ibv_context *context,
			     struct ibv_exp_rwq_ind_table_init_attr *init_attr)
{
	return exp_null(ENOSYS);
}

EXP_EXPORT
int ibv_exp_destroy_rwq_ind_table(struct ibv_exp_rwq_ind_table *rwq_ind_table)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
void *ibv_exp_query_intf(struct ibv_context *context,
			 struct ibv_exp_query_intf_params *params,
			 enum ibv_exp_query_intf_status *status)
{
	if (status)
		*status = IBV_EXP_INTF_STAT_VENDOR_NOT_SUPPORTED;
	return exp_null(ENOSYS);
}

EXP_EXPORT
int ibv_exp_release_intf(struct ibv_context *context, void *intf,
			 struct ibv_exp_release_intf_params *params)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
struct ibv_exp_ec_calc *
ibv_exp_alloc_ec_calc(struct ibv_pd *pd,
		      struct ibv_exp_ec_calc_init_attr *attr)
{
	return exp_null(ENOSYS);
}

EXP_EXPORT
void ibv_exp_dealloc_ec_calc(struct ibv_exp_ec_calc *calc)
{
}

EXP_EXPORT
int ibv_exp_ec_encode_async(struct ibv_exp_ec_calc *calc,
			    struct ibv_exp_ec_mem *ec_mem,
			    struct ibv_exp_ec_comp *ec_comp)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_encode_sync(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_decode_async(struct ibv_exp_ec_calc *calc,
			    struct ibv_exp_ec_mem *ec_mem, uint8_t *erasures,
			    uint8_t *decode_matrix,
			    struct ibv_exp_ec_comp *ec_comp)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_decode_sync(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem, uint8_t *erasures,
			   uint8_t *decode_matrix)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_update_async(struct ibv_exp_ec_calc *calc,
			    struct ibv_exp_ec_mem *ec_mem,
			    uint8_t *data_updates, uint8_t *code_updates,
			    struct ibv_exp_ec_comp *ec_comp)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_update_sync(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem, uint8_t *data_updates,
			   uint8_t *code_updates)
{
	return exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_poll(struct ibv_exp_ec_calc *calc, int n)
{
	return -exp_err(ENOSYS);
}

EXP_EXPORT
int ibv_exp_ec_encode_send(struct ibv_exp_ec_calc *calc,
			   struct ibv_exp_ec_mem *ec_mem,
			   struct ibv_exp_ec_stripe *data_stripes,
			   struct ibv_exp_ec_stripe *code_stripes)
{
	return exp_err(ENOSYS);
}
