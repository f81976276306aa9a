// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The layout of infiniband/verbs_exp.h: the sizes, offsets and values that
 * programs compiled against MLNX_OFED 4.9 on a 64-bit machine have in them.
 * What is wrong does not compile.
 */
#include <infiniband/verbs_exp.h>

#include "../tap.h"

#define SIZE(type, size) \
	_Static_assert(sizeof(type) == (size), "size of " #type)
#define AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), \
		       "offset of " #member " in " #type)
#define VALUE(name, value) \
	_Static_assert((uint64_t)(name) == (value), "value of " #name)

/* enum ibv_exp_start_values */
VALUE(IBV_EXP_START_ENUM, 0x40);
VALUE(IBV_EXP_START_FLAG_LOC, 32);
VALUE(IBV_EXP_START_FLAG, 0x100000000);

/* macros */
VALUE(IBV_EXP_DEVICE_ATTR_RESERVED, 0x100000000);
VALUE((uint32_t)(IBV_EXP_DEVICE_ATTR_RESERVED - 1), 0xffffffff);
VALUE(IBV_EXP_RX_HASH_INNER, 0x80000000);

SIZE(struct ibv_exp_device_attr, 600);
AT(struct ibv_exp_device_attr, fw_ver, 0);
AT(struct ibv_exp_device_attr, node_guid, 64);
AT(struct ibv_exp_device_attr, sys_image_guid, 72);
AT(struct ibv_exp_device_attr, max_mr_size, 80);
AT(struct ibv_exp_device_attr, page_size_cap, 88);
AT(struct ibv_exp_device_attr, vendor_id, 96);
AT(struct ibv_exp_device_attr, vendor_part_id, 100);
AT(struct ibv_exp_device_attr, hw_ver, 104);
AT(struct ibv_exp_device_attr, max_qp, 108);
AT(struct ibv_exp_device_attr, max_qp_wr, 112);
AT(struct ibv_exp_device_attr, reserved, 116);
AT(struct ibv_exp_device_attr, max_sge, 120);
AT(struct ibv_exp_device_attr, max_sge_rd, 124);
AT(struct ibv_exp_device_attr, max_cq, 128);
AT(struct ibv_exp_device_attr, max_cqe, 132);
AT(struct ibv_exp_device_attr, max_mr, 136);
AT(struct ibv_exp_device_attr, max_pd, 140);
AT(struct ibv_exp_device_attr, max_qp_rd_atom, 144);
AT(struct ibv_exp_device_attr, max_ee_rd_atom, 148);
AT(struct ibv_exp_device_attr, max_res_rd_atom, 152);
AT(struct ibv_exp_device_attr, max_qp_init_rd_atom, 156);
AT(struct ibv_exp_device_attr, max_ee_init_rd_atom, 160);
AT(struct ibv_exp_device_attr, exp_atomic_cap, 164);
AT(struct ibv_exp_device_attr, max_ee, 168);
AT(struct ibv_exp_device_attr, max_rdd, 172);
AT(struct ibv_exp_device_attr, max_mw, 176);
AT(struct ibv_exp_device_attr, max_raw_ipv6_qp, 180);
AT(struct ibv_exp_device_attr, max_raw_ethy_qp, 184);
AT(struct ibv_exp_device_attr, max_mcast_grp, 188);
AT(struct ibv_exp_device_attr, max_mcast_qp_attach, 192);
AT(struct ibv_exp_device_attr, max_total_mcast_qp_attach, 196);
AT(struct ibv_exp_device_attr, max_ah, 200);
AT(struct ibv_exp_device_attr, max_fmr, 204);
AT(struct ibv_exp_device_attr, max_map_per_fmr, 208);
AT(struct ibv_exp_device_attr, max_srq, 212);
AT(struct ibv_exp_device_attr, max_srq_wr, 216);
AT(struct ibv_exp_device_attr, max_srq_sge, 220);
AT(struct ibv_exp_device_attr, max_pkeys, 224);
AT(struct ibv_exp_device_attr, local_ca_ack_delay, 226);
AT(struct ibv_exp_device_attr, phys_port_cnt, 227);
AT(struct ibv_exp_device_attr, comp_mask, 228);
AT(struct ibv_exp_device_attr, calc_cap, 232);
AT(struct ibv_exp_device_attr, timestamp_mask, 272);
AT(struct ibv_exp_device_attr, hca_core_clock, 280);
AT(struct ibv_exp_device_attr, exp_device_cap_flags, 288);
AT(struct ibv_exp_device_attr, max_dc_req_rd_atom, 296);
AT(struct ibv_exp_device_attr, max_dc_res_rd_atom, 300);
AT(struct ibv_exp_device_attr, inline_recv_sz, 304);
AT(struct ibv_exp_device_attr, max_rss_tbl_sz, 308);
AT(struct ibv_exp_device_attr, ext_atom, 312);
AT(struct ibv_exp_device_attr, umr_caps, 328);
AT(struct ibv_exp_device_attr, odp_caps, 344);
AT(struct ibv_exp_device_attr, max_dct, 376);
AT(struct ibv_exp_device_attr, max_ctx_res_domain, 380);
AT(struct ibv_exp_device_attr, rx_hash_caps, 384);
AT(struct ibv_exp_device_attr, max_wq_type_rq, 416);
AT(struct ibv_exp_device_attr, max_device_ctx, 420);
AT(struct ibv_exp_device_attr, mp_rq_caps, 424);
AT(struct ibv_exp_device_attr, wq_vlan_offloads_cap, 436);
AT(struct ibv_exp_device_attr, ec_caps, 440);
AT(struct ibv_exp_device_attr, masked_atomic, 448);
AT(struct ibv_exp_device_attr, rx_pad_end_addr_align, 472);
AT(struct ibv_exp_device_attr, tso_caps, 476);
AT(struct ibv_exp_device_attr, packet_pacing_caps, 484);
AT(struct ibv_exp_device_attr, ec_w_mask, 500);
AT(struct ibv_exp_device_attr, ooo_caps, 504);
AT(struct ibv_exp_device_attr, sw_parsing_caps, 520);
AT(struct ibv_exp_device_attr, odp_mr_max_size, 528);
AT(struct ibv_exp_device_attr, tm_caps, 536);
AT(struct ibv_exp_device_attr, tunnel_offloads_caps, 556);
AT(struct ibv_exp_device_attr, max_dm_size, 560);
AT(struct ibv_exp_device_attr, tunneled_atomic_caps, 568);
AT(struct ibv_exp_device_attr, comp_mask_2, 576);
AT(struct ibv_exp_device_attr, umr_fixed_size_caps, 584);
AT(struct ibv_exp_device_attr, pci_atomic_caps, 592);

SIZE(struct ibv_exp_ext_atomics_params, 16);
AT(struct ibv_exp_ext_atomics_params, log_atomic_arg_sizes, 0);
AT(struct ibv_exp_ext_atomics_params, max_fa_bit_boundary, 8);
AT(struct ibv_exp_ext_atomics_params, log_max_atomic_inline, 12);

SIZE(struct ibv_exp_masked_atomic_params, 24);
AT(struct ibv_exp_masked_atomic_params, max_fa_bit_boundary, 0);
AT(struct ibv_exp_masked_atomic_params, log_max_atomic_inline, 4);
AT(struct ibv_exp_masked_atomic_params, masked_log_atomic_arg_sizes, 8);
AT(struct ibv_exp_masked_atomic_params, masked_log_atomic_arg_sizes_network_endianness, 16);

SIZE(struct ibv_exp_device_calc_cap, 40);
AT(struct ibv_exp_device_calc_cap, data_types, 0);
AT(struct ibv_exp_device_calc_cap, data_sizes, 8);
AT(struct ibv_exp_device_calc_cap, int_ops, 16);
AT(struct ibv_exp_device_calc_cap, uint_ops, 24);
AT(struct ibv_exp_device_calc_cap, fp_ops, 32);

SIZE(struct ibv_exp_umr_caps, 16);
AT(struct ibv_exp_umr_caps, max_klm_list_size, 0);
AT(struct ibv_exp_umr_caps, max_send_wqe_inline_klms, 4);
AT(struct ibv_exp_umr_caps, max_umr_recursion_depth, 8);
AT(struct ibv_exp_umr_caps, max_umr_stride_dimension, 12);

SIZE(struct ibv_exp_odp_caps, 32);
AT(struct ibv_exp_odp_caps, general_odp_caps, 0);
AT(struct ibv_exp_odp_caps, per_transport_caps, 8);
AT(struct ibv_exp_odp_caps, per_transport_caps.rc_odp_caps, 8);
AT(struct ibv_exp_odp_caps, per_transport_caps.uc_odp_caps, 12);
AT(struct ibv_exp_odp_caps, per_transport_caps.ud_odp_caps, 16);
AT(struct ibv_exp_odp_caps, per_transport_caps.dc_odp_caps, 20);
AT(struct ibv_exp_odp_caps, per_transport_caps.xrc_odp_caps, 24);
AT(struct ibv_exp_odp_caps, per_transport_caps.raw_eth_odp_caps, 28);

SIZE(struct ibv_exp_rx_hash_caps, 32);
AT(struct ibv_exp_rx_hash_caps, max_rwq_indirection_tables, 0);
AT(struct ibv_exp_rx_hash_caps, max_rwq_indirection_table_size, 4);
AT(struct ibv_exp_rx_hash_caps, supported_hash_functions, 8);
AT(struct ibv_exp_rx_hash_caps, supported_packet_fields, 16);
AT(struct ibv_exp_rx_hash_caps, supported_qps, 24);

SIZE(struct ibv_exp_mp_rq_caps, 12);
AT(struct ibv_exp_mp_rq_caps, supported_qps, 0);
AT(struct ibv_exp_mp_rq_caps, allowed_shifts, 4);
AT(struct ibv_exp_mp_rq_caps, min_single_wqe_log_num_of_strides, 8);
AT(struct ibv_exp_mp_rq_caps, max_single_wqe_log_num_of_strides, 9);
AT(struct ibv_exp_mp_rq_caps, min_single_stride_log_num_of_bytes, 10);
AT(struct ibv_exp_mp_rq_caps, max_single_stride_log_num_of_bytes, 11);

SIZE(struct ibv_exp_ec_caps, 8);
AT(struct ibv_exp_ec_caps, max_ec_data_vector_count, 0);
AT(struct ibv_exp_ec_caps, max_ec_calc_inflight_calcs, 4);

SIZE(struct ibv_exp_tso_caps, 8);
AT(struct ibv_exp_tso_caps, max_tso, 0);
AT(struct ibv_exp_tso_caps, supported_qpts, 4);

SIZE(struct ibv_exp_packet_pacing_caps, 16);
AT(struct ibv_exp_packet_pacing_caps, qp_rate_limit_min, 0);
AT(struct ibv_exp_packet_pacing_caps, qp_rate_limit_max, 4);
AT(struct ibv_exp_packet_pacing_caps, supported_qpts, 8);
AT(struct ibv_exp_packet_pacing_caps, cap_flags, 12);
AT(struct ibv_exp_packet_pacing_caps, reserved, 13);

SIZE(struct ibv_exp_ooo_caps, 16);
AT(struct ibv_exp_ooo_caps, rc_caps, 0);
AT(struct ibv_exp_ooo_caps, xrc_caps, 4);
AT(struct ibv_exp_ooo_caps, dc_caps, 8);
AT(struct ibv_exp_ooo_caps, ud_caps, 12);

SIZE(struct ibv_exp_sw_parsing_caps, 8);
AT(struct ibv_exp_sw_parsing_caps, sw_parsing_offloads, 0);
AT(struct ibv_exp_sw_parsing_caps, supported_qpts, 4);

SIZE(struct ibv_exp_tm_caps, 20);
AT(struct ibv_exp_tm_caps, max_rndv_hdr_size, 0);
AT(struct ibv_exp_tm_caps, max_num_tags, 4);
AT(struct ibv_exp_tm_caps, capability_flags, 8);
AT(struct ibv_exp_tm_caps, max_ops, 12);
AT(struct ibv_exp_tm_caps, max_sge, 16);

SIZE(struct ibv_exp_umr_fixed_size_caps, 8);
AT(struct ibv_exp_umr_fixed_size_caps, max_entity_size, 0);

SIZE(struct ibv_exp_pci_atomic_caps, 6);
AT(struct ibv_exp_pci_atomic_caps, fetch_add, 0);
AT(struct ibv_exp_pci_atomic_caps, swap, 2);
AT(struct ibv_exp_pci_atomic_caps, compare_swap, 4);

SIZE(struct ibv_exp_qp_init_attr, 152);
AT(struct ibv_exp_qp_init_attr, qp_context, 0);
AT(struct ibv_exp_qp_init_attr, send_cq, 8);
AT(struct ibv_exp_qp_init_attr, recv_cq, 16);
AT(struct ibv_exp_qp_init_attr, srq, 24);
AT(struct ibv_exp_qp_init_attr, cap, 32);
AT(struct ibv_exp_qp_init_attr, qp_type, 52);
AT(struct ibv_exp_qp_init_attr, sq_sig_all, 56);
AT(struct ibv_exp_qp_init_attr, comp_mask, 60);
AT(struct ibv_exp_qp_init_attr, pd, 64);
AT(struct ibv_exp_qp_init_attr, xrcd, 72);
AT(struct ibv_exp_qp_init_attr, exp_create_flags, 80);
AT(struct ibv_exp_qp_init_attr, max_inl_recv, 84);
AT(struct ibv_exp_qp_init_attr, qpg, 88);
AT(struct ibv_exp_qp_init_attr, max_atomic_arg, 104);
AT(struct ibv_exp_qp_init_attr, max_inl_send_klms, 108);
AT(struct ibv_exp_qp_init_attr, res_domain, 112);
AT(struct ibv_exp_qp_init_attr, rx_hash_conf, 120);
AT(struct ibv_exp_qp_init_attr, port_num, 128);
AT(struct ibv_exp_qp_init_attr, peer_direct_attrs, 136);
AT(struct ibv_exp_qp_init_attr, max_tso_header, 144);
AT(struct ibv_exp_qp_init_attr, associated_qpn, 148);

SIZE(struct ibv_exp_qp_attr, 168);
AT(struct ibv_exp_qp_attr, qp_state, 0);
AT(struct ibv_exp_qp_attr, cur_qp_state, 4);
AT(struct ibv_exp_qp_attr, path_mtu, 8);
AT(struct ibv_exp_qp_attr, path_mig_state, 12);
AT(struct ibv_exp_qp_attr, qkey, 16);
AT(struct ibv_exp_qp_attr, rq_psn, 20);
AT(struct ibv_exp_qp_attr, sq_psn, 24);
AT(struct ibv_exp_qp_attr, dest_qp_num, 28);
AT(struct ibv_exp_qp_attr, qp_access_flags, 32);
AT(struct ibv_exp_qp_attr, cap, 36);
AT(struct ibv_exp_qp_attr, ah_attr, 56);
AT(struct ibv_exp_qp_attr, alt_ah_attr, 88);
AT(struct ibv_exp_qp_attr, pkey_index, 120);
AT(struct ibv_exp_qp_attr, alt_pkey_index, 122);
AT(struct ibv_exp_qp_attr, en_sqd_async_notify, 124);
AT(struct ibv_exp_qp_attr, sq_draining, 125);
AT(struct ibv_exp_qp_attr, max_rd_atomic, 126);
AT(struct ibv_exp_qp_attr, max_dest_rd_atomic, 127);
AT(struct ibv_exp_qp_attr, min_rnr_timer, 128);
AT(struct ibv_exp_qp_attr, port_num, 129);
AT(struct ibv_exp_qp_attr, timeout, 130);
AT(struct ibv_exp_qp_attr, retry_cnt, 131);
AT(struct ibv_exp_qp_attr, rnr_retry, 132);
AT(struct ibv_exp_qp_attr, alt_port_num, 133);
AT(struct ibv_exp_qp_attr, alt_timeout, 134);
AT(struct ibv_exp_qp_attr, dct_key, 136);
AT(struct ibv_exp_qp_attr, comp_mask, 144);
AT(struct ibv_exp_qp_attr, flow_entropy, 148);
AT(struct ibv_exp_qp_attr, rate_limit, 152);
AT(struct ibv_exp_qp_attr, burst_info, 156);

SIZE(struct ibv_exp_burst_info, 8);
AT(struct ibv_exp_burst_info, max_burst_sz, 0);
AT(struct ibv_exp_burst_info, typical_pkt_sz, 4);

SIZE(struct ibv_exp_qpg, 16);
AT(struct ibv_exp_qpg, qpg_type, 0);
AT(struct ibv_exp_qpg, qpg_parent, 8);
AT(struct ibv_exp_qpg, parent_attrib, 8);

SIZE(struct ibv_exp_qpg_init_attrib, 8);
AT(struct ibv_exp_qpg_init_attrib, tss_child_count, 0);
AT(struct ibv_exp_qpg_init_attrib, rss_child_count, 4);

SIZE(struct ibv_exp_rx_hash_conf, 32);
AT(struct ibv_exp_rx_hash_conf, rx_hash_function, 0);
AT(struct ibv_exp_rx_hash_conf, rx_hash_key_len, 1);
AT(struct ibv_exp_rx_hash_conf, rx_hash_key, 8);
AT(struct ibv_exp_rx_hash_conf, rx_hash_fields_mask, 16);
AT(struct ibv_exp_rx_hash_conf, rwq_ind_tbl, 24);

SIZE(struct ibv_exp_send_wr, 288);
AT(struct ibv_exp_send_wr, wr_id, 0);
AT(struct ibv_exp_send_wr, next, 8);
AT(struct ibv_exp_send_wr, sg_list, 16);
AT(struct ibv_exp_send_wr, num_sge, 24);
AT(struct ibv_exp_send_wr, exp_opcode, 28);
AT(struct ibv_exp_send_wr, reserved, 32);
AT(struct ibv_exp_send_wr, ex, 36);
AT(struct ibv_exp_send_wr, ex.imm_data, 36);
AT(struct ibv_exp_send_wr, ex.invalidate_rkey, 36);
AT(struct ibv_exp_send_wr, wr, 40);
AT(struct ibv_exp_send_wr, wr.rdma, 40);
AT(struct ibv_exp_send_wr, wr.rdma.remote_addr, 40);
AT(struct ibv_exp_send_wr, wr.rdma.rkey, 48);
AT(struct ibv_exp_send_wr, wr.atomic, 40);
AT(struct ibv_exp_send_wr, wr.atomic.remote_addr, 40);
AT(struct ibv_exp_send_wr, wr.atomic.compare_add, 48);
AT(struct ibv_exp_send_wr, wr.atomic.swap, 56);
AT(struct ibv_exp_send_wr, wr.atomic.rkey, 64);
AT(struct ibv_exp_send_wr, wr.ud, 40);
AT(struct ibv_exp_send_wr, wr.ud.ah, 40);
AT(struct ibv_exp_send_wr, wr.ud.remote_qpn, 48);
AT(struct ibv_exp_send_wr, wr.ud.remote_qkey, 52);
AT(struct ibv_exp_send_wr, qp_type, 72);
AT(struct ibv_exp_send_wr, qp_type.xrc, 72);
AT(struct ibv_exp_send_wr, qp_type.xrc.remote_srqn, 72);
AT(struct ibv_exp_send_wr, xrc_remote_srq_num, 72);
AT(struct ibv_exp_send_wr, task, 80);
AT(struct ibv_exp_send_wr, task.rdma, 80);
AT(struct ibv_exp_send_wr, task.rdma.remote_addr, 80);
AT(struct ibv_exp_send_wr, task.rdma.rkey, 88);
AT(struct ibv_exp_send_wr, task.atomic, 80);
AT(struct ibv_exp_send_wr, task.atomic.remote_addr, 80);
AT(struct ibv_exp_send_wr, task.atomic.compare_add, 88);
AT(struct ibv_exp_send_wr, task.atomic.swap, 96);
AT(struct ibv_exp_send_wr, task.atomic.rkey, 104);
AT(struct ibv_exp_send_wr, task.cqe_wait, 80);
AT(struct ibv_exp_send_wr, task.cqe_wait.cq, 80);
AT(struct ibv_exp_send_wr, task.cqe_wait.cq_count, 88);
AT(struct ibv_exp_send_wr, task.wqe_enable, 80);
AT(struct ibv_exp_send_wr, task.wqe_enable.qp, 80);
AT(struct ibv_exp_send_wr, task.wqe_enable.wqe_count, 88);
AT(struct ibv_exp_send_wr, op, 112);
AT(struct ibv_exp_send_wr, op.calc, 112);
AT(struct ibv_exp_send_wr, op.calc.calc_op, 112);
AT(struct ibv_exp_send_wr, op.calc.data_type, 116);
AT(struct ibv_exp_send_wr, op.calc.data_size, 120);
AT(struct ibv_exp_send_wr, dc, 128);
AT(struct ibv_exp_send_wr, dc.ah, 128);
AT(struct ibv_exp_send_wr, dc.dct_access_key, 136);
AT(struct ibv_exp_send_wr, dc.dct_number, 144);
AT(struct ibv_exp_send_wr, bind_mw, 152);
AT(struct ibv_exp_send_wr, bind_mw.mw, 152);
AT(struct ibv_exp_send_wr, bind_mw.rkey, 160);
AT(struct ibv_exp_send_wr, bind_mw.bind_info, 168);
AT(struct ibv_exp_send_wr, tso, 152);
AT(struct ibv_exp_send_wr, tso.hdr, 152);
AT(struct ibv_exp_send_wr, tso.hdr_sz, 160);
AT(struct ibv_exp_send_wr, tso.mss, 162);
AT(struct ibv_exp_send_wr, exp_send_flags, 200);
AT(struct ibv_exp_send_wr, comp_mask, 208);
AT(struct ibv_exp_send_wr, ext_op, 216);
AT(struct ibv_exp_send_wr, ext_op.umr, 216);
AT(struct ibv_exp_send_wr, ext_op.umr.umr_type, 216);
AT(struct ibv_exp_send_wr, ext_op.umr.memory_objects, 224);
AT(struct ibv_exp_send_wr, ext_op.umr.exp_access, 232);
AT(struct ibv_exp_send_wr, ext_op.umr.modified_mr, 240);
AT(struct ibv_exp_send_wr, ext_op.umr.base_addr, 248);
AT(struct ibv_exp_send_wr, ext_op.umr.num_mrs, 256);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list, 264);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list.mem_reg_list, 264);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb, 264);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb.mem_repeat_block_list, 264);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb.repeat_count, 272);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb.stride_dim, 280);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics, 216);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.log_arg_sz, 216);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.remote_addr, 224);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.rkey, 232);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data, 240);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data.inline_data, 240);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data.inline_data.op, 240);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap, 240);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data.inline_data.op.fetch_add, 240);

SIZE(struct ibv_exp_mem_region, 24);
AT(struct ibv_exp_mem_region, base_addr, 0);
AT(struct ibv_exp_mem_region, mr, 8);
AT(struct ibv_exp_mem_region, length, 16);

SIZE(struct ibv_exp_mem_repeat_block, 32);
AT(struct ibv_exp_mem_repeat_block, base_addr, 0);
AT(struct ibv_exp_mem_repeat_block, mr, 8);
AT(struct ibv_exp_mem_repeat_block, byte_count, 16);
AT(struct ibv_exp_mem_repeat_block, stride, 24);

SIZE(struct ibv_exp_cmp_swap, 32);
AT(struct ibv_exp_cmp_swap, compare_mask, 0);
AT(struct ibv_exp_cmp_swap, compare_val, 8);
AT(struct ibv_exp_cmp_swap, swap_val, 16);
AT(struct ibv_exp_cmp_swap, swap_mask, 24);

SIZE(struct ibv_exp_fetch_add, 16);
AT(struct ibv_exp_fetch_add, add_val, 0);
AT(struct ibv_exp_fetch_add, field_boundary, 8);

SIZE(struct ibv_exp_wc, 104);
AT(struct ibv_exp_wc, wr_id, 0);
AT(struct ibv_exp_wc, status, 8);
AT(struct ibv_exp_wc, exp_opcode, 12);
AT(struct ibv_exp_wc, vendor_err, 16);
AT(struct ibv_exp_wc, byte_len, 20);
AT(struct ibv_exp_wc, mp_wr, 20);
AT(struct ibv_exp_wc, mp_wr.strides_offset, 20);
AT(struct ibv_exp_wc, mp_wr.byte_len, 22);
AT(struct ibv_exp_wc, imm_data, 24);
AT(struct ibv_exp_wc, qp_num, 28);
AT(struct ibv_exp_wc, src_qp, 32);
AT(struct ibv_exp_wc, reserved, 36);
AT(struct ibv_exp_wc, pkey_index, 40);
AT(struct ibv_exp_wc, slid, 42);
AT(struct ibv_exp_wc, sl, 44);
AT(struct ibv_exp_wc, dlid_path_bits, 45);
AT(struct ibv_exp_wc, timestamp, 48);
AT(struct ibv_exp_wc, qp, 56);
AT(struct ibv_exp_wc, srq, 64);
AT(struct ibv_exp_wc, dct, 72);
AT(struct ibv_exp_wc, exp_wc_flags, 80);
AT(struct ibv_exp_wc, tm_info, 88);
AT(struct ibv_exp_wc, tm_info.tag, 88);
AT(struct ibv_exp_wc, tm_info.priv, 96);

SIZE(struct ibv_exp_mw_bind_info, 32);
AT(struct ibv_exp_mw_bind_info, mr, 0);
AT(struct ibv_exp_mw_bind_info, addr, 8);
AT(struct ibv_exp_mw_bind_info, length, 16);
AT(struct ibv_exp_mw_bind_info, exp_mw_access_flags, 24);

/* enum ibv_exp_atomic_cap */
VALUE(IBV_EXP_ATOMIC_NONE, 0);
VALUE(IBV_EXP_ATOMIC_HCA, 1);
VALUE(IBV_EXP_ATOMIC_GLOB, 2);
VALUE(IBV_EXP_ATOMIC_HCA_REPLY_BE, 64);

/* enum ibv_exp_device_attr_comp_mask */
VALUE(IBV_EXP_DEVICE_ATTR_CALC_CAP, 1);
VALUE(IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK, 2);
VALUE(IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK, 4);
VALUE(IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS, 8);
VALUE(IBV_EXP_DEVICE_DC_RD_REQ, 16);
VALUE(IBV_EXP_DEVICE_DC_RD_RES, 32);
VALUE(IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ, 64);
VALUE(IBV_EXP_DEVICE_ATTR_RSS_TBL_SZ, 128);
VALUE(IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS, 0x100);
VALUE(IBV_EXP_DEVICE_ATTR_UMR, 0x200);
VALUE(IBV_EXP_DEVICE_ATTR_ODP, 0x400);
VALUE(IBV_EXP_DEVICE_ATTR_MAX_DCT, 0x800);
VALUE(IBV_EXP_DEVICE_ATTR_MAX_CTX_RES_DOMAIN, 0x1000);
VALUE(IBV_EXP_DEVICE_ATTR_RX_HASH, 0x2000);
VALUE(IBV_EXP_DEVICE_ATTR_MAX_WQ_TYPE_RQ, 0x4000);
VALUE(IBV_EXP_DEVICE_ATTR_MAX_DEVICE_CTX, 0x8000);
VALUE(IBV_EXP_DEVICE_ATTR_MP_RQ, 0x10000);
VALUE(IBV_EXP_DEVICE_ATTR_VLAN_OFFLOADS, 0x20000);
VALUE(IBV_EXP_DEVICE_ATTR_EC_CAPS, 0x40000);
VALUE(IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS, 0x80000);
VALUE(IBV_EXP_DEVICE_ATTR_RX_PAD_END_ALIGN, 0x100000);
VALUE(IBV_EXP_DEVICE_ATTR_TSO_CAPS, 0x200000);
VALUE(IBV_EXP_DEVICE_ATTR_PACKET_PACING_CAPS, 0x400000);
VALUE(IBV_EXP_DEVICE_ATTR_EC_GF_BASE, 0x800000);
VALUE(IBV_EXP_DEVICE_ATTR_OOO_CAPS, 0x1000000);
VALUE(IBV_EXP_DEVICE_ATTR_SW_PARSING_CAPS, 0x2000000);
VALUE(IBV_EXP_DEVICE_ATTR_ODP_MAX_SIZE, 0x4000000);
VALUE(IBV_EXP_DEVICE_ATTR_TM_CAPS, 0x8000000);
VALUE(IBV_EXP_DEVICE_ATTR_TUNNEL_OFFLOADS_CAPS, 0x10000000);
VALUE(IBV_EXP_DEVICE_ATTR_MAX_DM_SIZE, 0x20000000);
VALUE(IBV_EXP_DEVICE_ATTR_TUNNELED_ATOMIC, 0x40000000);
VALUE(IBV_EXP_DEVICE_ATTR_COMP_MASK_2, 0x80000000);

/* enum ibv_exp_device_attr_comp_mask_2 */
VALUE(IBV_EXP_DEVICE_ATTR_UMR_FIXED_SIZE_CAPS, 1);
VALUE(IBV_EXP_DEVICE_ATTR_PCI_ATOMIC_CAPS, 2);
VALUE(IBV_EXP_DEVICE_ATTR_RESERVED_2, 4);

/* enum ibv_exp_device_cap_flags */
VALUE(IBV_EXP_DEVICE_RESIZE_MAX_WR, 1);
VALUE(IBV_EXP_DEVICE_BAD_PKEY_CNTR, 2);
VALUE(IBV_EXP_DEVICE_BAD_QKEY_CNTR, 4);
VALUE(IBV_EXP_DEVICE_RAW_MULTI, 8);
VALUE(IBV_EXP_DEVICE_AUTO_PATH_MIG, 16);
VALUE(IBV_EXP_DEVICE_CHANGE_PHY_PORT, 32);
VALUE(IBV_EXP_DEVICE_UD_AV_PORT_ENFORCE, 64);
VALUE(IBV_EXP_DEVICE_CURR_QP_STATE_MOD, 128);
VALUE(IBV_EXP_DEVICE_SHUTDOWN_PORT, 0x100);
VALUE(IBV_EXP_DEVICE_INIT_TYPE, 0x200);
VALUE(IBV_EXP_DEVICE_PORT_ACTIVE_EVENT, 0x400);
VALUE(IBV_EXP_DEVICE_SYS_IMAGE_GUID, 0x800);
VALUE(IBV_EXP_DEVICE_RC_RNR_NAK_GEN, 0x1000);
VALUE(IBV_EXP_DEVICE_SRQ_RESIZE, 0x2000);
VALUE(IBV_EXP_DEVICE_N_NOTIFY_CQ, 0x4000);
VALUE(IBV_EXP_DEVICE_XRC, 0x100000);
VALUE(IBV_EXP_DEVICE_DC_TRANSPORT, 0x100000000);
VALUE(IBV_EXP_DEVICE_QPG, 0x200000000);
VALUE(IBV_EXP_DEVICE_UD_RSS, 0x400000000);
VALUE(IBV_EXP_DEVICE_UD_TSS, 0x800000000);
VALUE(IBV_EXP_DEVICE_EXT_ATOMICS, 0x1000000000);
VALUE(IBV_EXP_DEVICE_NOP, 0x2000000000);
VALUE(IBV_EXP_DEVICE_UMR, 0x4000000000);
VALUE(IBV_EXP_DEVICE_ODP, 0x8000000000);
VALUE(IBV_EXP_DEVICE_VXLAN_SUPPORT, 0x40000000000);
VALUE(IBV_EXP_DEVICE_RX_CSUM_TCP_UDP_PKT, 0x80000000000);
VALUE(IBV_EXP_DEVICE_RX_CSUM_IP_PKT, 0x100000000000);
VALUE(IBV_EXP_DEVICE_EC_OFFLOAD, 0x200000000000);
VALUE(IBV_EXP_DEVICE_EXT_MASKED_ATOMICS, 0x400000000000);
VALUE(IBV_EXP_DEVICE_RX_TCP_UDP_PKT_TYPE, 0x800000000000);
VALUE(IBV_EXP_DEVICE_SCATTER_FCS, 0x1000000000000);
VALUE(IBV_EXP_DEVICE_MEM_WINDOW, 0x2000000000000);
VALUE(IBV_EXP_DEVICE_WQ_DELAY_DROP, 0x4000000000000);
VALUE(IBV_EXP_DEVICE_PHYSICAL_RANGE_MR, 0x8000000000000);
VALUE(IBV_EXP_DEVICE_CAPI, 0x10000000000000);
VALUE(IBV_EXP_DEVICE_MEM_MGT_EXTENSIONS, 0x20000000000000);
VALUE(IBV_EXP_DEVICE_DC_INFO, 0x40000000000000);
VALUE(IBV_EXP_DEVICE_MW_TYPE_2A, 0x80000000000000);
VALUE(IBV_EXP_DEVICE_MW_TYPE_2B, 0x100000000000000);
VALUE(IBV_EXP_DEVICE_UMR_FIXED_SIZE, 0x200000000000000);
VALUE(IBV_EXP_DEVICE_PACKET_BASED_CREDIT_MODE, 0x400000000000000);
VALUE(IBV_EXP_DEVICE_CROSS_CHANNEL, 0x1000000000000000);
VALUE(IBV_EXP_DEVICE_MANAGED_FLOW_STEERING, 0x2000000000000000);
VALUE(IBV_EXP_DEVICE_MR_ALLOCATE, 0x4000000000000000);
VALUE(IBV_EXP_DEVICE_SHARED_MR, 0x8000000000000000);

/* enum ibv_odp_general_cap_bits */
VALUE(IBV_EXP_ODP_SUPPORT, 1);
VALUE(IBV_EXP_ODP_SUPPORT_IMPLICIT, 2);

/* enum ibv_exp_odp_transport_cap_bits */
VALUE(IBV_EXP_ODP_SUPPORT_SEND, 1);
VALUE(IBV_EXP_ODP_SUPPORT_RECV, 2);
VALUE(IBV_EXP_ODP_SUPPORT_WRITE, 4);
VALUE(IBV_EXP_ODP_SUPPORT_READ, 8);
VALUE(IBV_EXP_ODP_SUPPORT_ATOMIC, 16);
VALUE(IBV_EXP_ODP_SUPPORT_SRQ_RECV, 32);

/* enum ibv_exp_supported_qp_types */
VALUE(IBV_EXP_QPT_RC, 1);
VALUE(IBV_EXP_QPT_UC, 2);
VALUE(IBV_EXP_QPT_UD, 4);
VALUE(IBV_EXP_QPT_XRC_INIT, 8);
VALUE(IBV_EXP_QPT_XRC_TGT, 16);
VALUE(IBV_EXP_QPT_RAW_PACKET, 32);
VALUE(IBV_EXP_QPT_RESERVED, 64);

/* enum ibv_exp_mp_rq_shifts */
VALUE(IBV_EXP_MP_RQ_NO_SHIFT, 0);
VALUE(IBV_EXP_MP_RQ_2BYTES_SHIFT, 1);

/* enum ibv_exp_mp_rq_sup_types */
VALUE(IBV_EXP_MP_RQ_SUP_TYPE_SRQ_TM, 1);
VALUE(IBV_EXP_MP_RQ_SUP_TYPE_WQ_RQ, 32);

/* enum ibv_exp_packet_pacing_cap_flags */
VALUE(IBV_EXP_QP_SUPPORT_BURST, 1);

/* enum ibv_exp_ooo_transport_cap_bits */
VALUE(IBV_EXP_OOO_SUPPORT_RW_DATA_PLACEMENT, 1);

/* enum ibv_exp_sw_parsing_offloads */
VALUE(IBV_EXP_SW_PARSING, 1);
VALUE(IBV_EXP_SW_PARSING_CSUM, 2);
VALUE(IBV_EXP_SW_PARSING_LSO, 4);

/* enum ibv_exp_tm_cap_flags */
VALUE(IBV_EXP_TM_CAP_RC, 1);
VALUE(IBV_EXP_TM_CAP_DC, 2);

/* enum ibv_exp_tunnel_offloads_caps */
VALUE(IBV_EXP_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN, 1);
VALUE(IBV_EXP_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE, 2);
VALUE(IBV_EXP_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE, 4);

/* enum ibv_exp_tunneled_atomic_caps */
VALUE(IBV_EXP_TUNNELED_ATOMIC_SUPPORTED, 1);

/* enum ibv_exp_pci_atomic_cap_ops_supported_sizes */
VALUE(IBV_EXP_PCI_ATOMIC_OP_SIZE_SUP_4_BYTES, 1);
VALUE(IBV_EXP_PCI_ATOMIC_OP_SIZE_SUP_8_BYTES, 2);
VALUE(IBV_EXP_PCI_ATOMIC_OP_SIZE_SUP_16_BYTES, 4);

/* enum ibv_exp_qp_init_attr_comp_mask */
VALUE(IBV_EXP_QP_INIT_ATTR_PD, 1);
VALUE(IBV_EXP_QP_INIT_ATTR_XRCD, 2);
VALUE(IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS, 4);
VALUE(IBV_EXP_QP_INIT_ATTR_INL_RECV, 8);
VALUE(IBV_EXP_QP_INIT_ATTR_QPG, 16);
VALUE(IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG, 32);
VALUE(IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS, 64);
VALUE(IBV_EXP_QP_INIT_ATTR_RESERVED, 128);
VALUE(IBV_EXP_QP_INIT_ATTR_RES_DOMAIN, 128);
VALUE(IBV_EXP_QP_INIT_ATTR_RX_HASH, 0x100);
VALUE(IBV_EXP_QP_INIT_ATTR_PORT, 0x200);
VALUE(IBV_EXP_QP_INIT_ATTR_PEER_DIRECT, 0x400);
VALUE(IBV_EXP_QP_INIT_ATTR_MAX_TSO_HEADER, 0x800);
VALUE(IBV_EXP_QP_INIT_ATTR_ASSOCIATED_QPN, 0x1000);
VALUE(IBV_EXP_QP_INIT_ATTR_RESERVED1, 0x2000);

/* enum ibv_exp_qp_create_flags */
VALUE(IBV_EXP_QP_CREATE_CROSS_CHANNEL, 4);
VALUE(IBV_EXP_QP_CREATE_MANAGED_SEND, 8);
VALUE(IBV_EXP_QP_CREATE_MANAGED_RECV, 16);
VALUE(IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW, 64);
VALUE(IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW, 128);
VALUE(IBV_EXP_QP_CREATE_ATOMIC_BE_REPLY, 0x100);
VALUE(IBV_EXP_QP_CREATE_UMR, 0x200);
VALUE(IBV_EXP_QP_CREATE_EC_PARITY_EN, 0x400);
VALUE(IBV_EXP_QP_CREATE_RX_END_PADDING, 0x800);
VALUE(IBV_EXP_QP_CREATE_SCATTER_FCS, 0x1000);
VALUE(IBV_EXP_QP_CREATE_TUNNEL_OFFLOADS, 0x2000);
VALUE(IBV_EXP_QP_CREATE_INTERNAL_USE, 0x8000);
VALUE(IBV_EXP_QP_CREATE_PACKET_BASED_CREDIT_MODE, 0x10000);
VALUE(IBV_EXP_QP_CREATE_MASK, 0x13fdc);

/* enum ibv_exp_qpg_type */
VALUE(IBV_EXP_QPG_NONE, 0);
VALUE(IBV_EXP_QPG_PARENT, 1);
VALUE(IBV_EXP_QPG_CHILD_RX, 2);
VALUE(IBV_EXP_QPG_CHILD_TX, 4);

/* enum ibv_exp_rx_hash_function_flags */
VALUE(IBV_EXP_RX_HASH_FUNC_TOEPLITZ, 1);
VALUE(IBV_EXP_RX_HASH_FUNC_XOR, 2);

/* enum ibv_exp_rx_hash_fields */
VALUE(IBV_EXP_RX_HASH_SRC_IPV4, 1);
VALUE(IBV_EXP_RX_HASH_DST_IPV4, 2);
VALUE(IBV_EXP_RX_HASH_SRC_IPV6, 4);
VALUE(IBV_EXP_RX_HASH_DST_IPV6, 8);
VALUE(IBV_EXP_RX_HASH_SRC_PORT_TCP, 16);
VALUE(IBV_EXP_RX_HASH_DST_PORT_TCP, 32);
VALUE(IBV_EXP_RX_HASH_SRC_PORT_UDP, 64);
VALUE(IBV_EXP_RX_HASH_DST_PORT_UDP, 128);

/* enum ibv_exp_qp_attr_mask */
VALUE(IBV_EXP_QP_STATE, 1);
VALUE(IBV_EXP_QP_CUR_STATE, 2);
VALUE(IBV_EXP_QP_EN_SQD_ASYNC_NOTIFY, 4);
VALUE(IBV_EXP_QP_ACCESS_FLAGS, 8);
VALUE(IBV_EXP_QP_PKEY_INDEX, 16);
VALUE(IBV_EXP_QP_PORT, 32);
VALUE(IBV_EXP_QP_QKEY, 64);
VALUE(IBV_EXP_QP_AV, 128);
VALUE(IBV_EXP_QP_PATH_MTU, 0x100);
VALUE(IBV_EXP_QP_TIMEOUT, 0x200);
VALUE(IBV_EXP_QP_RETRY_CNT, 0x400);
VALUE(IBV_EXP_QP_RNR_RETRY, 0x800);
VALUE(IBV_EXP_QP_RQ_PSN, 0x1000);
VALUE(IBV_EXP_QP_MAX_QP_RD_ATOMIC, 0x2000);
VALUE(IBV_EXP_QP_ALT_PATH, 0x4000);
VALUE(IBV_EXP_QP_MIN_RNR_TIMER, 0x8000);
VALUE(IBV_EXP_QP_SQ_PSN, 0x10000);
VALUE(IBV_EXP_QP_MAX_DEST_RD_ATOMIC, 0x20000);
VALUE(IBV_EXP_QP_PATH_MIG_STATE, 0x40000);
VALUE(IBV_EXP_QP_CAP, 0x80000);
VALUE(IBV_EXP_QP_DEST_QPN, 0x100000);
VALUE(IBV_EXP_QP_GROUP_RSS, 0x20000000000000);
VALUE(IBV_EXP_QP_DC_KEY, 0x40000000000000);
VALUE(IBV_EXP_QP_FLOW_ENTROPY, 0x80000000000000);
VALUE(IBV_EXP_QP_OOO_RW_DATA_PLACEMENT, 0x100000000000000);
VALUE(IBV_EXP_QP_RATE_LIMIT, 0x200000000000000);

/* enum ibv_exp_qp_attr_comp_mask */
VALUE(IBV_EXP_QP_ATTR_FLOW_ENTROPY, 1);
VALUE(IBV_EXP_QP_ATTR_BURST_INFO, 2);
VALUE(IBV_EXP_QP_ATTR_RESERVED, 4);

/* enum ibv_exp_wr_opcode */
VALUE(IBV_EXP_WR_RDMA_WRITE, 0);
VALUE(IBV_EXP_WR_RDMA_WRITE_WITH_IMM, 1);
VALUE(IBV_EXP_WR_SEND, 2);
VALUE(IBV_EXP_WR_SEND_WITH_IMM, 3);
VALUE(IBV_EXP_WR_RDMA_READ, 4);
VALUE(IBV_EXP_WR_ATOMIC_CMP_AND_SWP, 5);
VALUE(IBV_EXP_WR_ATOMIC_FETCH_AND_ADD, 6);
VALUE(IBV_EXP_WR_LOCAL_INV, 7);
VALUE(IBV_EXP_WR_BIND_MW, 8);
VALUE(IBV_EXP_WR_SEND_WITH_INV, 9);
VALUE(IBV_EXP_WR_TSO, 79);
VALUE(IBV_EXP_WR_SEND_ENABLE, 96);
VALUE(IBV_EXP_WR_RECV_ENABLE, 97);
VALUE(IBV_EXP_WR_CQE_WAIT, 98);
VALUE(IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP, 99);
VALUE(IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD, 100);
VALUE(IBV_EXP_WR_NOP, 101);
VALUE(IBV_EXP_WR_UMR_FILL, 102);
VALUE(IBV_EXP_WR_UMR_INVALIDATE, 103);

/* enum ibv_exp_send_flags */
VALUE(IBV_EXP_SEND_FENCE, 1);
VALUE(IBV_EXP_SEND_SIGNALED, 2);
VALUE(IBV_EXP_SEND_SOLICITED, 4);
VALUE(IBV_EXP_SEND_INLINE, 8);
VALUE(IBV_EXP_SEND_IP_CSUM, 0x100000000);
VALUE(IBV_EXP_SEND_WITH_CALC, 0x200000000);
VALUE(IBV_EXP_SEND_WAIT_EN_LAST, 0x400000000);
VALUE(IBV_EXP_SEND_EXT_ATOMIC_INLINE, 0x800000000);

/* enum ibv_exp_send_wr_comp_mask */
VALUE(IBV_EXP_SEND_WR_ATTR_RESERVED, 1);

/* enum ibv_exp_calc_op */
VALUE(IBV_EXP_CALC_OP_ADD, 0);
VALUE(IBV_EXP_CALC_OP_MAXLOC, 1);
VALUE(IBV_EXP_CALC_OP_BAND, 2);
VALUE(IBV_EXP_CALC_OP_BXOR, 3);
VALUE(IBV_EXP_CALC_OP_BOR, 4);
VALUE(IBV_EXP_CALC_OP_NUMBER, 5);

/* enum ibv_exp_calc_data_type */
VALUE(IBV_EXP_CALC_DATA_TYPE_INT, 0);
VALUE(IBV_EXP_CALC_DATA_TYPE_UINT, 1);
VALUE(IBV_EXP_CALC_DATA_TYPE_FLOAT, 2);
VALUE(IBV_EXP_CALC_DATA_TYPE_NUMBER, 3);

/* enum ibv_exp_calc_data_size */
VALUE(IBV_EXP_CALC_DATA_SIZE_64_BIT, 0);
VALUE(IBV_EXP_CALC_DATA_SIZE_NUMBER, 1);

/* enum ibv_exp_umr_wr_type */
VALUE(IBV_EXP_UMR_MR_LIST, 0);
VALUE(IBV_EXP_UMR_REPEAT, 1);
VALUE(IBV_EXP_UMR_MR_LIST_FIXED_SIZE, 2);

/* enum ibv_exp_wc_opcode */
VALUE(IBV_EXP_WC_SEND, 0);
VALUE(IBV_EXP_WC_RDMA_WRITE, 1);
VALUE(IBV_EXP_WC_RDMA_READ, 2);
VALUE(IBV_EXP_WC_COMP_SWAP, 3);
VALUE(IBV_EXP_WC_FETCH_ADD, 4);
VALUE(IBV_EXP_WC_BIND_MW, 5);
VALUE(IBV_EXP_WC_LOCAL_INV, 6);
VALUE(IBV_EXP_WC_MASKED_COMP_SWAP, 9);
VALUE(IBV_EXP_WC_MASKED_FETCH_ADD, 10);
VALUE(IBV_EXP_WC_TSO, 11);
VALUE(IBV_EXP_WC_UMR, 0x100);
VALUE(IBV_EXP_WC_RECV, 128);
VALUE(IBV_EXP_WC_RECV_RDMA_WITH_IMM, 129);
VALUE(IBV_EXP_WC_TM_ADD, 192);
VALUE(IBV_EXP_WC_TM_DEL, 193);
VALUE(IBV_EXP_WC_TM_SYNC, 194);
VALUE(IBV_EXP_WC_TM_RECV, 195);
VALUE(IBV_EXP_WC_TM_NO_TAG, 196);
VALUE(IBV_EXP_WC_RECV_NOP, 197);

/* enum ibv_exp_wc_flags */
VALUE(IBV_EXP_WC_GRH, 1);
VALUE(IBV_EXP_WC_WITH_IMM, 2);
VALUE(IBV_EXP_WC_WITH_INV, 8);
VALUE(IBV_EXP_WC_WITH_SL, 0x1000000000);
VALUE(IBV_EXP_WC_WITH_SLID, 0x2000000000);
VALUE(IBV_EXP_WC_WITH_TIMESTAMP, 0x4000000000);
VALUE(IBV_EXP_WC_QP, 0x8000000000);
VALUE(IBV_EXP_WC_SRQ, 0x10000000000);
VALUE(IBV_EXP_WC_DCT, 0x20000000000);
VALUE(IBV_EXP_WC_RX_IP_CSUM_OK, 0x40000000000);
VALUE(IBV_EXP_WC_RX_TCP_UDP_CSUM_OK, 0x80000000000);
VALUE(IBV_EXP_WC_RX_IPV4_PACKET, 0x100000000000);
VALUE(IBV_EXP_WC_RX_IPV6_PACKET, 0x200000000000);
VALUE(IBV_EXP_WC_RX_TUNNEL_PACKET, 0x400000000000);
VALUE(IBV_EXP_WC_RX_OUTER_IP_CSUM_OK, 0x800000000000);
VALUE(IBV_EXP_WC_RX_OUTER_TCP_UDP_CSUM_OK, 0x1000000000000);
VALUE(IBV_EXP_WC_RX_OUTER_IPV4_PACKET, 0x2000000000000);
VALUE(IBV_EXP_WC_RX_OUTER_IPV6_PACKET, 0x4000000000000);
VALUE(IBV_EXP_WC_TM_SYNC_REQ, 0x8000000000000);
VALUE(IBV_EXP_WC_TM_DEL_FAILED, 0x10000000000000);
VALUE(IBV_EXP_WC_TM_MATCH, 0x20000000000000);
VALUE(IBV_EXP_WC_TM_DATA_VALID, 0x40000000000000);
VALUE(IBV_EXP_WC_TM_RNDV_INCOMPLETE, 0x80000000000000);
VALUE(IBV_EXP_WC_MP_WR_MORE_IN_MSG, 0x100000000000000);
VALUE(IBV_EXP_WC_MP_WR_CONSUMED, 0x200000000000000);

/* The standard structures that stand at the beginning of ours. */
#define SAME(type, exp_type, member) \
	AT(type, member, offsetof(exp_type, member))

SAME(struct ibv_qp_init_attr, struct ibv_exp_qp_init_attr, sq_sig_all);
SAME(struct ibv_qp_attr, struct ibv_exp_qp_attr, alt_timeout);
SAME(struct ibv_device_attr, struct ibv_exp_device_attr, phys_port_cnt);

/*
 * Every enumeration exists under its tag, and a variable of it takes its
 * enumerators: programs declare such variables.
 */
#define TYPED(tag, name) static enum tag tag##_var = name

TYPED(ibv_exp_start_values, IBV_EXP_START_FLAG);
TYPED(ibv_exp_atomic_cap, IBV_EXP_ATOMIC_HCA_REPLY_BE);
TYPED(ibv_exp_device_cap_flags, IBV_EXP_DEVICE_EXT_MASKED_ATOMICS);
TYPED(ibv_exp_wr_opcode, IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD);
TYPED(ibv_exp_send_flags, IBV_EXP_SEND_EXT_ATOMIC_INLINE);
TYPED(ibv_exp_wc_opcode, IBV_EXP_WC_MASKED_FETCH_ADD);
TYPED(ibv_exp_wc_flags, IBV_EXP_WC_QP);

/* Wide values survive in a variable of the enumeration's type. */
int main(void)
{
	plan(0);
	is_u64(ibv_exp_start_values_var, 1ULL << 32, "ibv_exp_start_values");
	is_u64(ibv_exp_atomic_cap_var, 1 << 6, "ibv_exp_atomic_cap");
	is_u64(ibv_exp_device_cap_flags_var, 1ULL << 46,
	       "ibv_exp_device_cap_flags");
	is_u64(ibv_exp_wr_opcode_var, 0x64, "ibv_exp_wr_opcode");
	is_u64(ibv_exp_send_flags_var, 1ULL << 35, "ibv_exp_send_flags");
	is_u64(ibv_exp_wc_opcode_var, 10, "ibv_exp_wc_opcode");
	is_u64(ibv_exp_wc_flags_var, 1ULL << 39, "ibv_exp_wc_flags");
	pass("every size, offset and value was checked at compile time");
	return done_testing();
}
