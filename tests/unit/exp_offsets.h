/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The size of each structure of infiniband/verbs_exp.h, and the offset and type
 * of each member, on a 64-bit machine: what programs compiled against MLNX_OFED
 * 4.9 have in them.  The includer defines SIZE(), AT() for a member that is a
 * structure or a union, and FIELD().
 */

SIZE(struct ibv_exp_device_attr, 600);
FIELD(struct ibv_exp_device_attr, fw_ver, 0, char[64]);
FIELD(struct ibv_exp_device_attr, node_guid, 64, uint64_t);
FIELD(struct ibv_exp_device_attr, sys_image_guid, 72, uint64_t);
FIELD(struct ibv_exp_device_attr, max_mr_size, 80, uint64_t);
FIELD(struct ibv_exp_device_attr, page_size_cap, 88, uint64_t);
FIELD(struct ibv_exp_device_attr, vendor_id, 96, uint32_t);
FIELD(struct ibv_exp_device_attr, vendor_part_id, 100, uint32_t);
FIELD(struct ibv_exp_device_attr, hw_ver, 104, uint32_t);
FIELD(struct ibv_exp_device_attr, max_qp, 108, int);
FIELD(struct ibv_exp_device_attr, max_qp_wr, 112, int);
FIELD(struct ibv_exp_device_attr, reserved, 116, int);
FIELD(struct ibv_exp_device_attr, max_sge, 120, int);
FIELD(struct ibv_exp_device_attr, max_sge_rd, 124, int);
FIELD(struct ibv_exp_device_attr, max_cq, 128, int);
FIELD(struct ibv_exp_device_attr, max_cqe, 132, int);
FIELD(struct ibv_exp_device_attr, max_mr, 136, int);
FIELD(struct ibv_exp_device_attr, max_pd, 140, int);
FIELD(struct ibv_exp_device_attr, max_qp_rd_atom, 144, int);
FIELD(struct ibv_exp_device_attr, max_ee_rd_atom, 148, int);
FIELD(struct ibv_exp_device_attr, max_res_rd_atom, 152, int);
FIELD(struct ibv_exp_device_attr, max_qp_init_rd_atom, 156, int);
FIELD(struct ibv_exp_device_attr, max_ee_init_rd_atom, 160, int);
FIELD(struct ibv_exp_device_attr, exp_atomic_cap, 164, enum ibv_exp_atomic_cap);
FIELD(struct ibv_exp_device_attr, max_ee, 168, int);
FIELD(struct ibv_exp_device_attr, max_rdd, 172, int);
FIELD(struct ibv_exp_device_attr, max_mw, 176, int);
FIELD(struct ibv_exp_device_attr, max_raw_ipv6_qp, 180, int);
FIELD(struct ibv_exp_device_attr, max_raw_ethy_qp, 184, int);
FIELD(struct ibv_exp_device_attr, max_mcast_grp, 188, int);
FIELD(struct ibv_exp_device_attr, max_mcast_qp_attach, 192, int);
FIELD(struct ibv_exp_device_attr, max_total_mcast_qp_attach, 196, int);
FIELD(struct ibv_exp_device_attr, max_ah, 200, int);
FIELD(struct ibv_exp_device_attr, max_fmr, 204, int);
FIELD(struct ibv_exp_device_attr, max_map_per_fmr, 208, int);
FIELD(struct ibv_exp_device_attr, max_srq, 212, int);
FIELD(struct ibv_exp_device_attr, max_srq_wr, 216, int);
FIELD(struct ibv_exp_device_attr, max_srq_sge, 220, int);
FIELD(struct ibv_exp_device_attr, max_pkeys, 224, uint16_t);
FIELD(struct ibv_exp_device_attr, local_ca_ack_delay, 226, uint8_t);
FIELD(struct ibv_exp_device_attr, phys_port_cnt, 227, uint8_t);
FIELD(struct ibv_exp_device_attr, comp_mask, 228, uint32_t);
FIELD(struct ibv_exp_device_attr, calc_cap, 232, struct ibv_exp_device_calc_cap);
FIELD(struct ibv_exp_device_attr, timestamp_mask, 272, uint64_t);
FIELD(struct ibv_exp_device_attr, hca_core_clock, 280, uint64_t);
FIELD(struct ibv_exp_device_attr, exp_device_cap_flags, 288, uint64_t);
FIELD(struct ibv_exp_device_attr, max_dc_req_rd_atom, 296, int);
FIELD(struct ibv_exp_device_attr, max_dc_res_rd_atom, 300, int);
FIELD(struct ibv_exp_device_attr, inline_recv_sz, 304, int);
FIELD(struct ibv_exp_device_attr, max_rss_tbl_sz, 308, uint32_t);
FIELD(struct ibv_exp_device_attr, ext_atom, 312, struct ibv_exp_ext_atomics_params);
FIELD(struct ibv_exp_device_attr, umr_caps, 328, struct ibv_exp_umr_caps);
FIELD(struct ibv_exp_device_attr, odp_caps, 344, struct ibv_exp_odp_caps);
FIELD(struct ibv_exp_device_attr, max_dct, 376, int);
FIELD(struct ibv_exp_device_attr, max_ctx_res_domain, 380, int);
FIELD(struct ibv_exp_device_attr, rx_hash_caps, 384, struct ibv_exp_rx_hash_caps);
FIELD(struct ibv_exp_device_attr, max_wq_type_rq, 416, uint32_t);
FIELD(struct ibv_exp_device_attr, max_device_ctx, 420, int);
FIELD(struct ibv_exp_device_attr, mp_rq_caps, 424, struct ibv_exp_mp_rq_caps);
FIELD(struct ibv_exp_device_attr, wq_vlan_offloads_cap, 436, uint16_t);
FIELD(struct ibv_exp_device_attr, ec_caps, 440, struct ibv_exp_ec_caps);
FIELD(struct ibv_exp_device_attr, masked_atomic, 448, struct ibv_exp_masked_atomic_params);
FIELD(struct ibv_exp_device_attr, rx_pad_end_addr_align, 472, int);
FIELD(struct ibv_exp_device_attr, tso_caps, 476, struct ibv_exp_tso_caps);
FIELD(struct ibv_exp_device_attr, packet_pacing_caps, 484, struct ibv_exp_packet_pacing_caps);
FIELD(struct ibv_exp_device_attr, ec_w_mask, 500, uint32_t);
FIELD(struct ibv_exp_device_attr, ooo_caps, 504, struct ibv_exp_ooo_caps);
FIELD(struct ibv_exp_device_attr, sw_parsing_caps, 520, struct ibv_exp_sw_parsing_caps);
FIELD(struct ibv_exp_device_attr, odp_mr_max_size, 528, uint64_t);
FIELD(struct ibv_exp_device_attr, tm_caps, 536, struct ibv_exp_tm_caps);
FIELD(struct ibv_exp_device_attr, tunnel_offloads_caps, 556, uint32_t);
FIELD(struct ibv_exp_device_attr, max_dm_size, 560, uint64_t);
FIELD(struct ibv_exp_device_attr, tunneled_atomic_caps, 568, uint32_t);
FIELD(struct ibv_exp_device_attr, comp_mask_2, 576, uint64_t);
FIELD(struct ibv_exp_device_attr, umr_fixed_size_caps, 584, struct ibv_exp_umr_fixed_size_caps);
FIELD(struct ibv_exp_device_attr, pci_atomic_caps, 592, struct ibv_exp_pci_atomic_caps);

SIZE(struct ibv_exp_ext_atomics_params, 16);
FIELD(struct ibv_exp_ext_atomics_params, log_atomic_arg_sizes, 0, uint64_t);
FIELD(struct ibv_exp_ext_atomics_params, max_fa_bit_boundary, 8, uint32_t);
FIELD(struct ibv_exp_ext_atomics_params, log_max_atomic_inline, 12, uint32_t);

SIZE(struct ibv_exp_masked_atomic_params, 24);
FIELD(struct ibv_exp_masked_atomic_params, max_fa_bit_boundary, 0, uint32_t);
FIELD(struct ibv_exp_masked_atomic_params, log_max_atomic_inline, 4, uint32_t);
FIELD(struct ibv_exp_masked_atomic_params, masked_log_atomic_arg_sizes, 8, uint64_t);
FIELD(struct ibv_exp_masked_atomic_params,
	masked_log_atomic_arg_sizes_network_endianness,
	16, uint64_t);

SIZE(struct ibv_exp_device_calc_cap, 40);
FIELD(struct ibv_exp_device_calc_cap, data_types, 0, uint64_t);
FIELD(struct ibv_exp_device_calc_cap, data_sizes, 8, uint64_t);
FIELD(struct ibv_exp_device_calc_cap, int_ops, 16, uint64_t);
FIELD(struct ibv_exp_device_calc_cap, uint_ops, 24, uint64_t);
FIELD(struct ibv_exp_device_calc_cap, fp_ops, 32, uint64_t);

SIZE(struct ibv_exp_umr_caps, 16);
FIELD(struct ibv_exp_umr_caps, max_klm_list_size, 0, uint32_t);
FIELD(struct ibv_exp_umr_caps, max_send_wqe_inline_klms, 4, uint32_t);
FIELD(struct ibv_exp_umr_caps, max_umr_recursion_depth, 8, uint32_t);
FIELD(struct ibv_exp_umr_caps, max_umr_stride_dimension, 12, uint32_t);

SIZE(struct ibv_exp_odp_caps, 32);
FIELD(struct ibv_exp_odp_caps, general_odp_caps, 0, uint64_t);
AT(struct ibv_exp_odp_caps, per_transport_caps, 8);
FIELD(struct ibv_exp_odp_caps, per_transport_caps.rc_odp_caps, 8, uint32_t);
FIELD(struct ibv_exp_odp_caps, per_transport_caps.uc_odp_caps, 12, uint32_t);
FIELD(struct ibv_exp_odp_caps, per_transport_caps.ud_odp_caps, 16, uint32_t);
FIELD(struct ibv_exp_odp_caps, per_transport_caps.dc_odp_caps, 20, uint32_t);
FIELD(struct ibv_exp_odp_caps, per_transport_caps.xrc_odp_caps, 24, uint32_t);
FIELD(struct ibv_exp_odp_caps, per_transport_caps.raw_eth_odp_caps, 28, uint32_t);

SIZE(struct ibv_exp_rx_hash_caps, 32);
FIELD(struct ibv_exp_rx_hash_caps, max_rwq_indirection_tables, 0, uint32_t);
FIELD(struct ibv_exp_rx_hash_caps, max_rwq_indirection_table_size, 4, uint32_t);
FIELD(struct ibv_exp_rx_hash_caps, supported_hash_functions, 8, uint8_t);
FIELD(struct ibv_exp_rx_hash_caps, supported_packet_fields, 16, uint64_t);
FIELD(struct ibv_exp_rx_hash_caps, supported_qps, 24, uint32_t);

SIZE(struct ibv_exp_mp_rq_caps, 12);
FIELD(struct ibv_exp_mp_rq_caps, supported_qps, 0, uint32_t);
FIELD(struct ibv_exp_mp_rq_caps, allowed_shifts, 4, uint32_t);
FIELD(struct ibv_exp_mp_rq_caps, min_single_wqe_log_num_of_strides, 8, uint8_t);
FIELD(struct ibv_exp_mp_rq_caps, max_single_wqe_log_num_of_strides, 9, uint8_t);
FIELD(struct ibv_exp_mp_rq_caps, min_single_stride_log_num_of_bytes, 10, uint8_t);
FIELD(struct ibv_exp_mp_rq_caps, max_single_stride_log_num_of_bytes, 11, uint8_t);

SIZE(struct ibv_exp_ec_caps, 8);
FIELD(struct ibv_exp_ec_caps, max_ec_data_vector_count, 0, uint32_t);
FIELD(struct ibv_exp_ec_caps, max_ec_calc_inflight_calcs, 4, uint32_t);

SIZE(struct ibv_exp_tso_caps, 8);
FIELD(struct ibv_exp_tso_caps, max_tso, 0, uint32_t);
FIELD(struct ibv_exp_tso_caps, supported_qpts, 4, uint32_t);

SIZE(struct ibv_exp_packet_pacing_caps, 16);
FIELD(struct ibv_exp_packet_pacing_caps, qp_rate_limit_min, 0, uint32_t);
FIELD(struct ibv_exp_packet_pacing_caps, qp_rate_limit_max, 4, uint32_t);
FIELD(struct ibv_exp_packet_pacing_caps, supported_qpts, 8, uint32_t);
FIELD(struct ibv_exp_packet_pacing_caps, cap_flags, 12, uint8_t);
FIELD(struct ibv_exp_packet_pacing_caps, reserved, 13, uint8_t[3]);

SIZE(struct ibv_exp_ooo_caps, 16);
FIELD(struct ibv_exp_ooo_caps, rc_caps, 0, uint32_t);
FIELD(struct ibv_exp_ooo_caps, xrc_caps, 4, uint32_t);
FIELD(struct ibv_exp_ooo_caps, dc_caps, 8, uint32_t);
FIELD(struct ibv_exp_ooo_caps, ud_caps, 12, uint32_t);

SIZE(struct ibv_exp_sw_parsing_caps, 8);
FIELD(struct ibv_exp_sw_parsing_caps, sw_parsing_offloads, 0, uint32_t);
FIELD(struct ibv_exp_sw_parsing_caps, supported_qpts, 4, uint32_t);

SIZE(struct ibv_exp_tm_caps, 20);
FIELD(struct ibv_exp_tm_caps, max_rndv_hdr_size, 0, uint32_t);
FIELD(struct ibv_exp_tm_caps, max_num_tags, 4, uint32_t);
FIELD(struct ibv_exp_tm_caps, capability_flags, 8, uint32_t);
FIELD(struct ibv_exp_tm_caps, max_ops, 12, uint32_t);
FIELD(struct ibv_exp_tm_caps, max_sge, 16, uint32_t);

SIZE(struct ibv_exp_umr_fixed_size_caps, 8);
FIELD(struct ibv_exp_umr_fixed_size_caps, max_entity_size, 0, uint64_t);

SIZE(struct ibv_exp_pci_atomic_caps, 6);
FIELD(struct ibv_exp_pci_atomic_caps, fetch_add, 0, uint16_t);
FIELD(struct ibv_exp_pci_atomic_caps, swap, 2, uint16_t);
FIELD(struct ibv_exp_pci_atomic_caps, compare_swap, 4, uint16_t);

SIZE(struct ibv_exp_qp_init_attr, 152);
FIELD(struct ibv_exp_qp_init_attr, qp_context, 0, void *);
FIELD(struct ibv_exp_qp_init_attr, send_cq, 8, struct ibv_cq *);
FIELD(struct ibv_exp_qp_init_attr, recv_cq, 16, struct ibv_cq *);
FIELD(struct ibv_exp_qp_init_attr, srq, 24, struct ibv_srq *);
FIELD(struct ibv_exp_qp_init_attr, cap, 32, struct ibv_qp_cap);
FIELD(struct ibv_exp_qp_init_attr, qp_type, 52, enum ibv_qp_type);
FIELD(struct ibv_exp_qp_init_attr, sq_sig_all, 56, int);
FIELD(struct ibv_exp_qp_init_attr, comp_mask, 60, uint32_t);
FIELD(struct ibv_exp_qp_init_attr, pd, 64, struct ibv_pd *);
FIELD(struct ibv_exp_qp_init_attr, xrcd, 72, struct ibv_xrcd *);
FIELD(struct ibv_exp_qp_init_attr, exp_create_flags, 80, uint32_t);
FIELD(struct ibv_exp_qp_init_attr, max_inl_recv, 84, uint32_t);
FIELD(struct ibv_exp_qp_init_attr, qpg, 88, struct ibv_exp_qpg);
FIELD(struct ibv_exp_qp_init_attr, max_atomic_arg, 104, uint32_t);
FIELD(struct ibv_exp_qp_init_attr, max_inl_send_klms, 108, uint32_t);
FIELD(struct ibv_exp_qp_init_attr, res_domain, 112, struct ibv_exp_res_domain *);
FIELD(struct ibv_exp_qp_init_attr, rx_hash_conf, 120, struct ibv_exp_rx_hash_conf *);
FIELD(struct ibv_exp_qp_init_attr, port_num, 128, uint8_t);
FIELD(struct ibv_exp_qp_init_attr, peer_direct_attrs, 136, struct ibv_exp_peer_direct_attr *);
FIELD(struct ibv_exp_qp_init_attr, max_tso_header, 144, uint16_t);
FIELD(struct ibv_exp_qp_init_attr, associated_qpn, 148, uint32_t);

SIZE(struct ibv_exp_qp_attr, 168);
FIELD(struct ibv_exp_qp_attr, qp_state, 0, enum ibv_qp_state);
FIELD(struct ibv_exp_qp_attr, cur_qp_state, 4, enum ibv_qp_state);
FIELD(struct ibv_exp_qp_attr, path_mtu, 8, enum ibv_mtu);
FIELD(struct ibv_exp_qp_attr, path_mig_state, 12, enum ibv_mig_state);
FIELD(struct ibv_exp_qp_attr, qkey, 16, uint32_t);
FIELD(struct ibv_exp_qp_attr, rq_psn, 20, uint32_t);
FIELD(struct ibv_exp_qp_attr, sq_psn, 24, uint32_t);
FIELD(struct ibv_exp_qp_attr, dest_qp_num, 28, uint32_t);
FIELD(struct ibv_exp_qp_attr, qp_access_flags, 32, int);
FIELD(struct ibv_exp_qp_attr, cap, 36, struct ibv_qp_cap);
FIELD(struct ibv_exp_qp_attr, ah_attr, 56, struct ibv_ah_attr);
FIELD(struct ibv_exp_qp_attr, alt_ah_attr, 88, struct ibv_ah_attr);
FIELD(struct ibv_exp_qp_attr, pkey_index, 120, uint16_t);
FIELD(struct ibv_exp_qp_attr, alt_pkey_index, 122, uint16_t);
FIELD(struct ibv_exp_qp_attr, en_sqd_async_notify, 124, uint8_t);
FIELD(struct ibv_exp_qp_attr, sq_draining, 125, uint8_t);
FIELD(struct ibv_exp_qp_attr, max_rd_atomic, 126, uint8_t);
FIELD(struct ibv_exp_qp_attr, max_dest_rd_atomic, 127, uint8_t);
FIELD(struct ibv_exp_qp_attr, min_rnr_timer, 128, uint8_t);
FIELD(struct ibv_exp_qp_attr, port_num, 129, uint8_t);
FIELD(struct ibv_exp_qp_attr, timeout, 130, uint8_t);
FIELD(struct ibv_exp_qp_attr, retry_cnt, 131, uint8_t);
FIELD(struct ibv_exp_qp_attr, rnr_retry, 132, uint8_t);
FIELD(struct ibv_exp_qp_attr, alt_port_num, 133, uint8_t);
FIELD(struct ibv_exp_qp_attr, alt_timeout, 134, uint8_t);
FIELD(struct ibv_exp_qp_attr, dct_key, 136, uint64_t);
FIELD(struct ibv_exp_qp_attr, comp_mask, 144, uint32_t);
FIELD(struct ibv_exp_qp_attr, flow_entropy, 148, uint32_t);
FIELD(struct ibv_exp_qp_attr, rate_limit, 152, uint32_t);
FIELD(struct ibv_exp_qp_attr, burst_info, 156, struct ibv_exp_burst_info);

SIZE(struct ibv_exp_burst_info, 8);
FIELD(struct ibv_exp_burst_info, max_burst_sz, 0, uint32_t);
FIELD(struct ibv_exp_burst_info, typical_pkt_sz, 4, uint16_t);

SIZE(struct ibv_exp_qpg, 16);
FIELD(struct ibv_exp_qpg, qpg_type, 0, uint32_t);
FIELD(struct ibv_exp_qpg, qpg_parent, 8, struct ibv_qp *);
FIELD(struct ibv_exp_qpg, parent_attrib, 8, struct ibv_exp_qpg_init_attrib);

SIZE(struct ibv_exp_qpg_init_attrib, 8);
FIELD(struct ibv_exp_qpg_init_attrib, tss_child_count, 0, uint32_t);
FIELD(struct ibv_exp_qpg_init_attrib, rss_child_count, 4, uint32_t);

SIZE(struct ibv_exp_rx_hash_conf, 32);
FIELD(struct ibv_exp_rx_hash_conf, rx_hash_function, 0, uint8_t);
FIELD(struct ibv_exp_rx_hash_conf, rx_hash_key_len, 1, uint8_t);
FIELD(struct ibv_exp_rx_hash_conf, rx_hash_key, 8, uint8_t *);
FIELD(struct ibv_exp_rx_hash_conf, rx_hash_fields_mask, 16, uint64_t);
FIELD(struct ibv_exp_rx_hash_conf, rwq_ind_tbl, 24, struct ibv_exp_rwq_ind_table *);

SIZE(struct ibv_exp_send_wr, 288);
FIELD(struct ibv_exp_send_wr, wr_id, 0, uint64_t);
FIELD(struct ibv_exp_send_wr, next, 8, struct ibv_exp_send_wr *);
FIELD(struct ibv_exp_send_wr, sg_list, 16, struct ibv_sge *);
FIELD(struct ibv_exp_send_wr, num_sge, 24, int);
FIELD(struct ibv_exp_send_wr, exp_opcode, 28, enum ibv_exp_wr_opcode);
FIELD(struct ibv_exp_send_wr, reserved, 32, int);
AT(struct ibv_exp_send_wr, ex, 36);
FIELD(struct ibv_exp_send_wr, ex.imm_data, 36, uint32_t);
FIELD(struct ibv_exp_send_wr, ex.invalidate_rkey, 36, uint32_t);
AT(struct ibv_exp_send_wr, wr, 40);
AT(struct ibv_exp_send_wr, wr.rdma, 40);
FIELD(struct ibv_exp_send_wr, wr.rdma.remote_addr, 40, uint64_t);
FIELD(struct ibv_exp_send_wr, wr.rdma.rkey, 48, uint32_t);
AT(struct ibv_exp_send_wr, wr.atomic, 40);
FIELD(struct ibv_exp_send_wr, wr.atomic.remote_addr, 40, uint64_t);
FIELD(struct ibv_exp_send_wr, wr.atomic.compare_add, 48, uint64_t);
FIELD(struct ibv_exp_send_wr, wr.atomic.swap, 56, uint64_t);
FIELD(struct ibv_exp_send_wr, wr.atomic.rkey, 64, uint32_t);
AT(struct ibv_exp_send_wr, wr.ud, 40);
FIELD(struct ibv_exp_send_wr, wr.ud.ah, 40, struct ibv_ah *);
FIELD(struct ibv_exp_send_wr, wr.ud.remote_qpn, 48, uint32_t);
FIELD(struct ibv_exp_send_wr, wr.ud.remote_qkey, 52, uint32_t);
AT(struct ibv_exp_send_wr, qp_type, 72);
AT(struct ibv_exp_send_wr, qp_type.xrc, 72);
FIELD(struct ibv_exp_send_wr, qp_type.xrc.remote_srqn, 72, uint32_t);
FIELD(struct ibv_exp_send_wr, xrc_remote_srq_num, 72, uint32_t);
AT(struct ibv_exp_send_wr, task, 80);
AT(struct ibv_exp_send_wr, task.rdma, 80);
FIELD(struct ibv_exp_send_wr, task.rdma.remote_addr, 80, uint64_t);
FIELD(struct ibv_exp_send_wr, task.rdma.rkey, 88, uint32_t);
AT(struct ibv_exp_send_wr, task.atomic, 80);
FIELD(struct ibv_exp_send_wr, task.atomic.remote_addr, 80, uint64_t);
FIELD(struct ibv_exp_send_wr, task.atomic.compare_add, 88, uint64_t);
FIELD(struct ibv_exp_send_wr, task.atomic.swap, 96, uint64_t);
FIELD(struct ibv_exp_send_wr, task.atomic.rkey, 104, uint32_t);
AT(struct ibv_exp_send_wr, task.cqe_wait, 80);
FIELD(struct ibv_exp_send_wr, task.cqe_wait.cq, 80, struct ibv_cq *);
FIELD(struct ibv_exp_send_wr, task.cqe_wait.cq_count, 88, int32_t);
AT(struct ibv_exp_send_wr, task.wqe_enable, 80);
FIELD(struct ibv_exp_send_wr, task.wqe_enable.qp, 80, struct ibv_qp *);
FIELD(struct ibv_exp_send_wr, task.wqe_enable.wqe_count, 88, int32_t);
AT(struct ibv_exp_send_wr, op, 112);
AT(struct ibv_exp_send_wr, op.calc, 112);
FIELD(struct ibv_exp_send_wr, op.calc.calc_op, 112, enum ibv_exp_calc_op);
FIELD(struct ibv_exp_send_wr, op.calc.data_type, 116, enum ibv_exp_calc_data_type);
FIELD(struct ibv_exp_send_wr, op.calc.data_size, 120, enum ibv_exp_calc_data_size);
AT(struct ibv_exp_send_wr, dc, 128);
FIELD(struct ibv_exp_send_wr, dc.ah, 128, struct ibv_ah *);
FIELD(struct ibv_exp_send_wr, dc.dct_access_key, 136, uint64_t);
FIELD(struct ibv_exp_send_wr, dc.dct_number, 144, uint32_t);
AT(struct ibv_exp_send_wr, bind_mw, 152);
FIELD(struct ibv_exp_send_wr, bind_mw.mw, 152, struct ibv_mw *);
FIELD(struct ibv_exp_send_wr, bind_mw.rkey, 160, uint32_t);
FIELD(struct ibv_exp_send_wr, bind_mw.bind_info, 168, struct ibv_exp_mw_bind_info);
AT(struct ibv_exp_send_wr, tso, 152);
FIELD(struct ibv_exp_send_wr, tso.hdr, 152, void *);
FIELD(struct ibv_exp_send_wr, tso.hdr_sz, 160, uint16_t);
FIELD(struct ibv_exp_send_wr, tso.mss, 162, uint16_t);
FIELD(struct ibv_exp_send_wr, exp_send_flags, 200, uint64_t);
FIELD(struct ibv_exp_send_wr, comp_mask, 208, uint32_t);
AT(struct ibv_exp_send_wr, ext_op, 216);
AT(struct ibv_exp_send_wr, ext_op.umr, 216);
FIELD(struct ibv_exp_send_wr, ext_op.umr.umr_type, 216, uint32_t);
FIELD(struct ibv_exp_send_wr,
	ext_op.umr.memory_objects,
	224, struct ibv_exp_mkey_list_container *);
FIELD(struct ibv_exp_send_wr, ext_op.umr.exp_access, 232, uint64_t);
FIELD(struct ibv_exp_send_wr, ext_op.umr.modified_mr, 240, struct ibv_mr *);
FIELD(struct ibv_exp_send_wr, ext_op.umr.base_addr, 248, uint64_t);
FIELD(struct ibv_exp_send_wr, ext_op.umr.num_mrs, 256, uint32_t);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list, 264);
FIELD(struct ibv_exp_send_wr, ext_op.umr.mem_list.mem_reg_list, 264, struct ibv_exp_mem_region *);
AT(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb, 264);
FIELD(struct ibv_exp_send_wr,
	ext_op.umr.mem_list.rb.mem_repeat_block_list,
	264, struct ibv_exp_mem_repeat_block *);
FIELD(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb.repeat_count, 272, size_t *);
FIELD(struct ibv_exp_send_wr, ext_op.umr.mem_list.rb.stride_dim, 280, uint32_t);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics, 216);
FIELD(struct ibv_exp_send_wr, ext_op.masked_atomics.log_arg_sz, 216, uint32_t);
FIELD(struct ibv_exp_send_wr, ext_op.masked_atomics.remote_addr, 224, uint64_t);
FIELD(struct ibv_exp_send_wr, ext_op.masked_atomics.rkey, 232, uint32_t);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data, 240);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data.inline_data, 240);
AT(struct ibv_exp_send_wr, ext_op.masked_atomics.wr_data.inline_data.op, 240);
FIELD(struct ibv_exp_send_wr,
	ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap,
	240, struct ibv_exp_cmp_swap);
FIELD(struct ibv_exp_send_wr,
	ext_op.masked_atomics.wr_data.inline_data.op.fetch_add,
	240, struct ibv_exp_fetch_add);

SIZE(struct ibv_exp_mem_region, 24);
FIELD(struct ibv_exp_mem_region, base_addr, 0, uint64_t);
FIELD(struct ibv_exp_mem_region, mr, 8, struct ibv_mr *);
FIELD(struct ibv_exp_mem_region, length, 16, size_t);

SIZE(struct ibv_exp_mem_repeat_block, 32);
FIELD(struct ibv_exp_mem_repeat_block, base_addr, 0, uint64_t);
FIELD(struct ibv_exp_mem_repeat_block, mr, 8, struct ibv_mr *);
FIELD(struct ibv_exp_mem_repeat_block, byte_count, 16, size_t *);
FIELD(struct ibv_exp_mem_repeat_block, stride, 24, size_t *);

SIZE(struct ibv_exp_cmp_swap, 32);
FIELD(struct ibv_exp_cmp_swap, compare_mask, 0, uint64_t);
FIELD(struct ibv_exp_cmp_swap, compare_val, 8, uint64_t);
FIELD(struct ibv_exp_cmp_swap, swap_val, 16, uint64_t);
FIELD(struct ibv_exp_cmp_swap, swap_mask, 24, uint64_t);

SIZE(struct ibv_exp_fetch_add, 16);
FIELD(struct ibv_exp_fetch_add, add_val, 0, uint64_t);
FIELD(struct ibv_exp_fetch_add, field_boundary, 8, uint64_t);

SIZE(struct ibv_exp_wc, 104);
FIELD(struct ibv_exp_wc, wr_id, 0, uint64_t);
FIELD(struct ibv_exp_wc, status, 8, enum ibv_wc_status);
FIELD(struct ibv_exp_wc, exp_opcode, 12, enum ibv_exp_wc_opcode);
FIELD(struct ibv_exp_wc, vendor_err, 16, uint32_t);
FIELD(struct ibv_exp_wc, byte_len, 20, uint32_t);
AT(struct ibv_exp_wc, mp_wr, 20);
FIELD(struct ibv_exp_wc, mp_wr.strides_offset, 20, uint16_t);
FIELD(struct ibv_exp_wc, mp_wr.byte_len, 22, uint16_t);
FIELD(struct ibv_exp_wc, imm_data, 24, uint32_t);
FIELD(struct ibv_exp_wc, qp_num, 28, uint32_t);
FIELD(struct ibv_exp_wc, src_qp, 32, uint32_t);
FIELD(struct ibv_exp_wc, reserved, 36, int);
FIELD(struct ibv_exp_wc, pkey_index, 40, uint16_t);
FIELD(struct ibv_exp_wc, slid, 42, uint16_t);
FIELD(struct ibv_exp_wc, sl, 44, uint8_t);
FIELD(struct ibv_exp_wc, dlid_path_bits, 45, uint8_t);
FIELD(struct ibv_exp_wc, timestamp, 48, uint64_t);
FIELD(struct ibv_exp_wc, qp, 56, struct ibv_qp *);
FIELD(struct ibv_exp_wc, srq, 64, struct ibv_srq *);
FIELD(struct ibv_exp_wc, dct, 72, struct ibv_exp_dct *);
FIELD(struct ibv_exp_wc, exp_wc_flags, 80, uint64_t);
AT(struct ibv_exp_wc, tm_info, 88);
FIELD(struct ibv_exp_wc, tm_info.tag, 88, uint64_t);
FIELD(struct ibv_exp_wc, tm_info.priv, 96, uint32_t);

SIZE(struct ibv_exp_cq_init_attr, 24);
FIELD(struct ibv_exp_cq_init_attr, comp_mask, 0, uint32_t);
FIELD(struct ibv_exp_cq_init_attr, flags, 4, uint32_t);
FIELD(struct ibv_exp_cq_init_attr, res_domain, 8, struct ibv_exp_res_domain *);
FIELD(struct ibv_exp_cq_init_attr, peer_direct_attrs, 16, struct ibv_exp_peer_direct_attr *);

SIZE(struct ibv_exp_cq_attr, 12);
FIELD(struct ibv_exp_cq_attr, comp_mask, 0, uint32_t);
AT(struct ibv_exp_cq_attr, moderation, 4);
FIELD(struct ibv_exp_cq_attr, moderation.cq_count, 4, uint16_t);
FIELD(struct ibv_exp_cq_attr, moderation.cq_period, 6, uint16_t);
FIELD(struct ibv_exp_cq_attr, cq_cap_flags, 8, uint32_t);

SIZE(struct ibv_exp_reg_mr_in, 48);
FIELD(struct ibv_exp_reg_mr_in, pd, 0, struct ibv_pd *);
FIELD(struct ibv_exp_reg_mr_in, addr, 8, void *);
FIELD(struct ibv_exp_reg_mr_in, length, 16, size_t);
FIELD(struct ibv_exp_reg_mr_in, exp_access, 24, uint64_t);
FIELD(struct ibv_exp_reg_mr_in, comp_mask, 32, uint32_t);
FIELD(struct ibv_exp_reg_mr_in, create_flags, 36, uint32_t);
FIELD(struct ibv_exp_reg_mr_in, dm, 40, struct ibv_exp_dm *);

SIZE(struct ibv_exp_reg_shared_mr_in, 40);
FIELD(struct ibv_exp_reg_shared_mr_in, mr_handle, 0, uint32_t);
FIELD(struct ibv_exp_reg_shared_mr_in, pd, 8, struct ibv_pd *);
FIELD(struct ibv_exp_reg_shared_mr_in, addr, 16, void *);
FIELD(struct ibv_exp_reg_shared_mr_in, exp_access, 24, uint64_t);
FIELD(struct ibv_exp_reg_shared_mr_in, comp_mask, 32, uint32_t);

SIZE(struct ibv_exp_mw_bind_info, 32);
FIELD(struct ibv_exp_mw_bind_info, mr, 0, struct ibv_mr *);
FIELD(struct ibv_exp_mw_bind_info, addr, 8, uint64_t);
FIELD(struct ibv_exp_mw_bind_info, length, 16, uint64_t);
FIELD(struct ibv_exp_mw_bind_info, exp_mw_access_flags, 24, uint64_t);

SIZE(struct ibv_exp_mw_bind, 72);
FIELD(struct ibv_exp_mw_bind, qp, 0, struct ibv_qp *);
FIELD(struct ibv_exp_mw_bind, mw, 8, struct ibv_mw *);
FIELD(struct ibv_exp_mw_bind, wr_id, 16, uint64_t);
FIELD(struct ibv_exp_mw_bind, exp_send_flags, 24, uint64_t);
FIELD(struct ibv_exp_mw_bind, bind_info, 32, struct ibv_exp_mw_bind_info);
FIELD(struct ibv_exp_mw_bind, comp_mask, 64, uint32_t);

SIZE(struct ibv_exp_prefetch_attr, 32);
FIELD(struct ibv_exp_prefetch_attr, flags, 0, uint32_t);
FIELD(struct ibv_exp_prefetch_attr, addr, 8, void *);
FIELD(struct ibv_exp_prefetch_attr, length, 16, size_t);
FIELD(struct ibv_exp_prefetch_attr, comp_mask, 24, uint32_t);

SIZE(struct ibv_exp_create_mr_in, 32);
FIELD(struct ibv_exp_create_mr_in, pd, 0, struct ibv_pd *);
FIELD(struct ibv_exp_create_mr_in, attr, 8, struct ibv_exp_mr_init_attr);
FIELD(struct ibv_exp_create_mr_in, comp_mask, 24, uint32_t);

SIZE(struct ibv_exp_mr_init_attr, 16);
FIELD(struct ibv_exp_mr_init_attr, max_klm_list_size, 0, uint32_t);
FIELD(struct ibv_exp_mr_init_attr, create_flags, 4, uint32_t);
FIELD(struct ibv_exp_mr_init_attr, exp_access_flags, 8, uint64_t);

SIZE(struct ibv_exp_mkey_attr, 8);
FIELD(struct ibv_exp_mkey_attr, max_klm_list_size, 0, uint32_t);
FIELD(struct ibv_exp_mkey_attr, comp_mask, 4, uint32_t);

SIZE(struct ibv_exp_mkey_list_container, 16);
FIELD(struct ibv_exp_mkey_list_container, max_klm_list_size, 0, uint32_t);
FIELD(struct ibv_exp_mkey_list_container, context, 8, struct ibv_context *);

SIZE(struct ibv_exp_mkey_list_container_attr, 24);
FIELD(struct ibv_exp_mkey_list_container_attr, pd, 0, struct ibv_pd *);
FIELD(struct ibv_exp_mkey_list_container_attr, mkey_list_type, 8, uint32_t);
FIELD(struct ibv_exp_mkey_list_container_attr, max_klm_list_size, 12, uint32_t);
FIELD(struct ibv_exp_mkey_list_container_attr, comp_mask, 16, uint32_t);

SIZE(struct ibv_exp_dereg_out, 8);
FIELD(struct ibv_exp_dereg_out, need_dofork, 0, int);
FIELD(struct ibv_exp_dereg_out, comp_mask, 4, uint32_t);

SIZE(struct ibv_exp_alloc_dm_attr, 16);
FIELD(struct ibv_exp_alloc_dm_attr, length, 0, size_t);
FIELD(struct ibv_exp_alloc_dm_attr, comp_mask, 8, uint32_t);

SIZE(struct ibv_exp_dm, 16);
FIELD(struct ibv_exp_dm, context, 0, struct ibv_context *);
FIELD(struct ibv_exp_dm, handle, 8, uint32_t);
FIELD(struct ibv_exp_dm, comp_mask, 12, uint32_t);

SIZE(struct ibv_exp_memcpy_dm_attr, 40);
FIELD(struct ibv_exp_memcpy_dm_attr, memcpy_dir, 0, enum ibv_exp_dm_memcpy_dir);
FIELD(struct ibv_exp_memcpy_dm_attr, host_addr, 8, void *);
FIELD(struct ibv_exp_memcpy_dm_attr, dm_offset, 16, uint64_t);
FIELD(struct ibv_exp_memcpy_dm_attr, length, 24, size_t);
FIELD(struct ibv_exp_memcpy_dm_attr, comp_mask, 32, uint32_t);

SIZE(struct ibv_exp_dct_init_attr, 72);
FIELD(struct ibv_exp_dct_init_attr, pd, 0, struct ibv_pd *);
FIELD(struct ibv_exp_dct_init_attr, cq, 8, struct ibv_cq *);
FIELD(struct ibv_exp_dct_init_attr, srq, 16, struct ibv_srq *);
FIELD(struct ibv_exp_dct_init_attr, dc_key, 24, uint64_t);
FIELD(struct ibv_exp_dct_init_attr, port, 32, uint8_t);
FIELD(struct ibv_exp_dct_init_attr, access_flags, 36, uint32_t);
FIELD(struct ibv_exp_dct_init_attr, min_rnr_timer, 40, uint8_t);
FIELD(struct ibv_exp_dct_init_attr, tclass, 41, uint8_t);
FIELD(struct ibv_exp_dct_init_attr, flow_label, 44, uint32_t);
FIELD(struct ibv_exp_dct_init_attr, mtu, 48, enum ibv_mtu);
FIELD(struct ibv_exp_dct_init_attr, pkey_index, 52, uint8_t);
FIELD(struct ibv_exp_dct_init_attr, gid_index, 53, uint8_t);
FIELD(struct ibv_exp_dct_init_attr, hop_limit, 54, uint8_t);
FIELD(struct ibv_exp_dct_init_attr, inline_size, 56, uint32_t);
FIELD(struct ibv_exp_dct_init_attr, create_flags, 60, uint32_t);
FIELD(struct ibv_exp_dct_init_attr, comp_mask, 64, uint32_t);

SIZE(struct ibv_exp_dct_attr, 72);
FIELD(struct ibv_exp_dct_attr, dc_key, 0, uint64_t);
FIELD(struct ibv_exp_dct_attr, port, 8, uint8_t);
FIELD(struct ibv_exp_dct_attr, access_flags, 12, uint32_t);
FIELD(struct ibv_exp_dct_attr, min_rnr_timer, 16, uint8_t);
FIELD(struct ibv_exp_dct_attr, tclass, 17, uint8_t);
FIELD(struct ibv_exp_dct_attr, flow_label, 20, uint32_t);
FIELD(struct ibv_exp_dct_attr, mtu, 24, enum ibv_mtu);
FIELD(struct ibv_exp_dct_attr, pkey_index, 28, uint8_t);
FIELD(struct ibv_exp_dct_attr, gid_index, 29, uint8_t);
FIELD(struct ibv_exp_dct_attr, hop_limit, 30, uint8_t);
FIELD(struct ibv_exp_dct_attr, key_violations, 32, uint32_t);
FIELD(struct ibv_exp_dct_attr, state, 36, uint8_t);
FIELD(struct ibv_exp_dct_attr, srq, 40, struct ibv_srq *);
FIELD(struct ibv_exp_dct_attr, cq, 48, struct ibv_cq *);
FIELD(struct ibv_exp_dct_attr, pd, 56, struct ibv_pd *);
FIELD(struct ibv_exp_dct_attr, comp_mask, 64, uint32_t);

SIZE(struct ibv_exp_dct, 136);
FIELD(struct ibv_exp_dct, context, 0, struct ibv_context *);
FIELD(struct ibv_exp_dct, handle, 8, uint32_t);
FIELD(struct ibv_exp_dct, dct_num, 12, uint32_t);
FIELD(struct ibv_exp_dct, pd, 16, struct ibv_pd *);
FIELD(struct ibv_exp_dct, srq, 24, struct ibv_srq *);
FIELD(struct ibv_exp_dct, cq, 32, struct ibv_cq *);
AT(struct ibv_exp_dct, mutex, 40);
AT(struct ibv_exp_dct, cond, 80);
FIELD(struct ibv_exp_dct, events_completed, 128, uint32_t);

SIZE(struct ibv_exp_arm_attr, 4);
FIELD(struct ibv_exp_arm_attr, comp_mask, 0, uint32_t);

SIZE(struct ibv_exp_dc_info_ent, 64);
FIELD(struct ibv_exp_dc_info_ent, lid, 0, uint16_t[30]);
FIELD(struct ibv_exp_dc_info_ent, seqnum, 60, uint32_t);

SIZE(struct ibv_exp_create_srq_attr, 88);
FIELD(struct ibv_exp_create_srq_attr, base, 0, struct ibv_srq_init_attr);
FIELD(struct ibv_exp_create_srq_attr, srq_type, 24, enum ibv_exp_srq_type);
FIELD(struct ibv_exp_create_srq_attr, pd, 32, struct ibv_pd *);
FIELD(struct ibv_exp_create_srq_attr, comp_mask, 40, uint32_t);
FIELD(struct ibv_exp_create_srq_attr, cq, 48, struct ibv_cq *);
FIELD(struct ibv_exp_create_srq_attr, xrcd, 56, struct ibv_xrcd *);
FIELD(struct ibv_exp_create_srq_attr, tm_cap, 64, struct ibv_exp_tm_cap);
FIELD(struct ibv_exp_create_srq_attr,
	dc_offload_params,
	72, struct ibv_exp_srq_dc_offload_params *);
FIELD(struct ibv_exp_create_srq_attr, mp_wr, 80, struct ibv_exp_mp_wr);

SIZE(struct ibv_exp_tm_cap, 8);
FIELD(struct ibv_exp_tm_cap, max_num_tags, 0, uint32_t);
FIELD(struct ibv_exp_tm_cap, max_ops, 4, uint32_t);

SIZE(struct ibv_exp_srq_dc_offload_params, 32);
FIELD(struct ibv_exp_srq_dc_offload_params, pkey_index, 0, uint16_t);
FIELD(struct ibv_exp_srq_dc_offload_params, path_mtu, 4, enum ibv_mtu);
FIELD(struct ibv_exp_srq_dc_offload_params, sl, 8, uint8_t);
FIELD(struct ibv_exp_srq_dc_offload_params, max_rd_atomic, 9, uint8_t);
FIELD(struct ibv_exp_srq_dc_offload_params, min_rnr_timer, 10, uint8_t);
FIELD(struct ibv_exp_srq_dc_offload_params, timeout, 11, uint8_t);
FIELD(struct ibv_exp_srq_dc_offload_params, retry_cnt, 12, uint8_t);
FIELD(struct ibv_exp_srq_dc_offload_params, rnr_retry, 13, uint8_t);
FIELD(struct ibv_exp_srq_dc_offload_params, dct_key, 16, uint64_t);
FIELD(struct ibv_exp_srq_dc_offload_params, ooo_caps, 24, uint32_t);
FIELD(struct ibv_exp_srq_dc_offload_params, comp_mask, 28, uint32_t);

SIZE(struct ibv_exp_mp_wr, 2);
FIELD(struct ibv_exp_mp_wr, log_num_of_strides, 0, uint8_t);
FIELD(struct ibv_exp_mp_wr, log_stride_size, 1, uint8_t);

SIZE(struct ibv_exp_ops_wr, 72);
FIELD(struct ibv_exp_ops_wr, wr_id, 0, uint64_t);
FIELD(struct ibv_exp_ops_wr, next, 8, struct ibv_exp_ops_wr *);
FIELD(struct ibv_exp_ops_wr, opcode, 16, enum ibv_exp_ops_wr_opcode);
FIELD(struct ibv_exp_ops_wr, flags, 20, int);
AT(struct ibv_exp_ops_wr, tm, 24);
FIELD(struct ibv_exp_ops_wr, tm.unexpected_cnt, 24, uint32_t);
FIELD(struct ibv_exp_ops_wr, tm.handle, 28, uint32_t);
AT(struct ibv_exp_ops_wr, tm.add, 32);
FIELD(struct ibv_exp_ops_wr, tm.add.recv_wr_id, 32, uint64_t);
FIELD(struct ibv_exp_ops_wr, tm.add.sg_list, 40, struct ibv_sge *);
FIELD(struct ibv_exp_ops_wr, tm.add.num_sge, 48, int);
FIELD(struct ibv_exp_ops_wr, tm.add.tag, 56, uint64_t);
FIELD(struct ibv_exp_ops_wr, tm.add.mask, 64, uint64_t);

SIZE(struct ibv_exp_tmh, 16);
FIELD(struct ibv_exp_tmh, opcode, 0, uint8_t);
FIELD(struct ibv_exp_tmh, reserved, 1, uint8_t[3]);
FIELD(struct ibv_exp_tmh, app_ctx, 4, uint32_t);
FIELD(struct ibv_exp_tmh, tag, 8, uint64_t);

SIZE(struct ibv_exp_tmh_rvh, 16);
FIELD(struct ibv_exp_tmh_rvh, va, 0, uint64_t);
FIELD(struct ibv_exp_tmh_rvh, rkey, 8, uint32_t);
FIELD(struct ibv_exp_tmh_rvh, len, 12, uint32_t);

SIZE(struct ibv_exp_tmh_ravh, 16);
FIELD(struct ibv_exp_tmh_ravh, sl_dct, 0, uint32_t);
FIELD(struct ibv_exp_tmh_ravh, reserved, 4, uint32_t);
FIELD(struct ibv_exp_tmh_ravh, dc_access_key, 8, uint64_t);

SIZE(struct ibv_exp_res_domain, 8);
FIELD(struct ibv_exp_res_domain, context, 0, struct ibv_context *);

SIZE(struct ibv_exp_res_domain_init_attr, 12);
FIELD(struct ibv_exp_res_domain_init_attr, comp_mask, 0, uint32_t);
FIELD(struct ibv_exp_res_domain_init_attr, thread_model, 4, enum ibv_exp_thread_model);
FIELD(struct ibv_exp_res_domain_init_attr, msg_model, 8, enum ibv_exp_msg_model);

SIZE(struct ibv_exp_destroy_res_domain_attr, 4);
FIELD(struct ibv_exp_destroy_res_domain_attr, comp_mask, 0, uint32_t);

SIZE(struct ibv_exp_values, 72);
FIELD(struct ibv_exp_values, comp_mask, 0, uint32_t);
FIELD(struct ibv_exp_values, hwclock_ns, 8, uint64_t);
FIELD(struct ibv_exp_values, hwclock, 16, uint64_t);
FIELD(struct ibv_exp_values, clock_info, 24, struct ibv_exp_clock_info);

SIZE(struct ibv_exp_clock_info, 48);
FIELD(struct ibv_exp_clock_info, cycles, 0, uint64_t);
FIELD(struct ibv_exp_clock_info, nsec, 8, uint64_t);
FIELD(struct ibv_exp_clock_info, frac, 16, uint64_t);
FIELD(struct ibv_exp_clock_info, mask, 24, uint64_t);
FIELD(struct ibv_exp_clock_info, shift, 32, uint32_t);
FIELD(struct ibv_exp_clock_info, mult, 36, uint32_t);
FIELD(struct ibv_exp_clock_info, comp_mask, 40, uint32_t);

SIZE(struct ibv_exp_gid_attr, 24);
FIELD(struct ibv_exp_gid_attr, comp_mask, 0, uint32_t);
FIELD(struct ibv_exp_gid_attr, type, 4, enum ibv_exp_roce_gid_type);
FIELD(struct ibv_exp_gid_attr, gid, 8, union ibv_gid);

SIZE(struct ibv_exp_port_attr, 56);
FIELD(struct ibv_exp_port_attr, state, 0, enum ibv_port_state);
FIELD(struct ibv_exp_port_attr, max_mtu, 4, enum ibv_mtu);
FIELD(struct ibv_exp_port_attr, active_mtu, 8, enum ibv_mtu);
FIELD(struct ibv_exp_port_attr, gid_tbl_len, 12, int);
FIELD(struct ibv_exp_port_attr, port_cap_flags, 16, uint32_t);
FIELD(struct ibv_exp_port_attr, max_msg_sz, 20, uint32_t);
FIELD(struct ibv_exp_port_attr, bad_pkey_cntr, 24, uint32_t);
FIELD(struct ibv_exp_port_attr, qkey_viol_cntr, 28, uint32_t);
FIELD(struct ibv_exp_port_attr, pkey_tbl_len, 32, uint16_t);
FIELD(struct ibv_exp_port_attr, lid, 34, uint16_t);
FIELD(struct ibv_exp_port_attr, sm_lid, 36, uint16_t);
FIELD(struct ibv_exp_port_attr, lmc, 38, uint8_t);
FIELD(struct ibv_exp_port_attr, max_vl_num, 39, uint8_t);
FIELD(struct ibv_exp_port_attr, sm_sl, 40, uint8_t);
FIELD(struct ibv_exp_port_attr, subnet_timeout, 41, uint8_t);
FIELD(struct ibv_exp_port_attr, init_type_reply, 42, uint8_t);
FIELD(struct ibv_exp_port_attr, active_width, 43, uint8_t);
FIELD(struct ibv_exp_port_attr, active_speed, 44, uint8_t);
FIELD(struct ibv_exp_port_attr, phys_state, 45, uint8_t);
FIELD(struct ibv_exp_port_attr, link_layer, 46, uint8_t);
FIELD(struct ibv_exp_port_attr, reserved, 47, uint8_t);
AT(struct ibv_exp_port_attr, port_attr, 0);
FIELD(struct ibv_exp_port_attr, comp_mask, 48, uint32_t);
FIELD(struct ibv_exp_port_attr, mask1, 52, uint32_t);

SIZE(struct ibv_exp_open_device_attr, 24);
FIELD(struct ibv_exp_open_device_attr, comp_mask, 0, uint32_t);
AT(struct ibv_exp_open_device_attr, peer_info, 8);
FIELD(struct ibv_exp_open_device_attr, peer_info.peer_id, 8, uint64_t);
FIELD(struct ibv_exp_open_device_attr, peer_info.peer_name, 16, char *);

SIZE(struct ibv_exp_ah_attr, 64);
FIELD(struct ibv_exp_ah_attr, grh, 0, struct ibv_global_route);
FIELD(struct ibv_exp_ah_attr, dlid, 24, uint16_t);
FIELD(struct ibv_exp_ah_attr, sl, 26, uint8_t);
FIELD(struct ibv_exp_ah_attr, src_path_bits, 27, uint8_t);
FIELD(struct ibv_exp_ah_attr, static_rate, 28, uint8_t);
FIELD(struct ibv_exp_ah_attr, is_global, 29, uint8_t);
FIELD(struct ibv_exp_ah_attr, port_num, 30, uint8_t);
FIELD(struct ibv_exp_ah_attr, comp_mask, 32, uint32_t);
AT(struct ibv_exp_ah_attr, ll_address, 40);
FIELD(struct ibv_exp_ah_attr, ll_address.type, 40, enum ll_address_type);
FIELD(struct ibv_exp_ah_attr, ll_address.len, 44, uint32_t);
FIELD(struct ibv_exp_ah_attr, ll_address.address, 48, char *);
FIELD(struct ibv_exp_ah_attr, vid, 56, uint16_t);

SIZE(struct ibv_exp_task, 40);
FIELD(struct ibv_exp_task, task_type, 0, enum ibv_exp_task_type);
AT(struct ibv_exp_task, item, 8);
FIELD(struct ibv_exp_task, item.qp, 8, struct ibv_qp *);
FIELD(struct ibv_exp_task, item.send_wr, 16, struct ibv_exp_send_wr *);
FIELD(struct ibv_exp_task, item.recv_wr, 16, struct ibv_recv_wr *);
FIELD(struct ibv_exp_task, next, 24, struct ibv_exp_task *);
FIELD(struct ibv_exp_task, comp_mask, 32, uint32_t);

SIZE(struct ibv_exp_wq, 64);
FIELD(struct ibv_exp_wq, context, 0, struct ibv_context *);
FIELD(struct ibv_exp_wq, wq_context, 8, void *);
FIELD(struct ibv_exp_wq, handle, 16, uint32_t);
FIELD(struct ibv_exp_wq, pd, 24, struct ibv_pd *);
FIELD(struct ibv_exp_wq, cq, 32, struct ibv_cq *);
FIELD(struct ibv_exp_wq, srq, 40, struct ibv_srq *);
FIELD(struct ibv_exp_wq, wq_num, 48, uint32_t);
FIELD(struct ibv_exp_wq, state, 52, enum ibv_exp_wq_state);
FIELD(struct ibv_exp_wq, wq_type, 56, enum ibv_exp_wq_type);
FIELD(struct ibv_exp_wq, comp_mask, 60, uint32_t);

SIZE(struct ibv_exp_wq_init_attr, 88);
FIELD(struct ibv_exp_wq_init_attr, wq_context, 0, void *);
FIELD(struct ibv_exp_wq_init_attr, wq_type, 8, enum ibv_exp_wq_type);
FIELD(struct ibv_exp_wq_init_attr, max_recv_wr, 12, uint32_t);
FIELD(struct ibv_exp_wq_init_attr, max_recv_sge, 16, uint32_t);
FIELD(struct ibv_exp_wq_init_attr, pd, 24, struct ibv_pd *);
FIELD(struct ibv_exp_wq_init_attr, cq, 32, struct ibv_cq *);
FIELD(struct ibv_exp_wq_init_attr, srq, 40, struct ibv_srq *);
FIELD(struct ibv_exp_wq_init_attr, comp_mask, 48, uint32_t);
FIELD(struct ibv_exp_wq_init_attr, res_domain, 56, struct ibv_exp_res_domain *);
FIELD(struct ibv_exp_wq_init_attr, mp_rq, 64, struct ibv_exp_wq_mp_rq);
FIELD(struct ibv_exp_wq_init_attr, vlan_offloads, 72, uint16_t);
FIELD(struct ibv_exp_wq_init_attr, flags, 80, uint64_t);

SIZE(struct ibv_exp_wq_mp_rq, 8);
FIELD(struct ibv_exp_wq_mp_rq, use_shift, 0, enum ibv_exp_mp_rq_shifts);
FIELD(struct ibv_exp_wq_mp_rq, single_wqe_log_num_of_strides, 4, uint8_t);
FIELD(struct ibv_exp_wq_mp_rq, single_stride_log_num_of_bytes, 5, uint8_t);

SIZE(struct ibv_exp_wq_attr, 16);
FIELD(struct ibv_exp_wq_attr, attr_mask, 0, uint32_t);
FIELD(struct ibv_exp_wq_attr, wq_state, 4, enum ibv_exp_wq_state);
FIELD(struct ibv_exp_wq_attr, curr_wq_state, 8, enum ibv_exp_wq_state);
FIELD(struct ibv_exp_wq_attr, vlan_offloads, 12, uint16_t);

SIZE(struct ibv_exp_rwq_ind_table, 32);
FIELD(struct ibv_exp_rwq_ind_table, context, 0, struct ibv_context *);
FIELD(struct ibv_exp_rwq_ind_table, pd, 8, struct ibv_pd *);
FIELD(struct ibv_exp_rwq_ind_table, ind_tbl_handle, 16, int);
FIELD(struct ibv_exp_rwq_ind_table, ind_tbl_num, 20, int);
FIELD(struct ibv_exp_rwq_ind_table, comp_mask, 24, uint32_t);

SIZE(struct ibv_exp_rwq_ind_table_init_attr, 32);
FIELD(struct ibv_exp_rwq_ind_table_init_attr, pd, 0, struct ibv_pd *);
FIELD(struct ibv_exp_rwq_ind_table_init_attr, log_ind_tbl_size, 8, uint32_t);
FIELD(struct ibv_exp_rwq_ind_table_init_attr, ind_tbl, 16, struct ibv_exp_wq* *);
FIELD(struct ibv_exp_rwq_ind_table_init_attr, comp_mask, 24, uint32_t);

SIZE(struct ibv_exp_flow_attr, 24);
FIELD(struct ibv_exp_flow_attr, type, 0, enum ibv_exp_flow_attr_type);
FIELD(struct ibv_exp_flow_attr, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_attr, priority, 6, uint16_t);
FIELD(struct ibv_exp_flow_attr, num_of_specs, 8, uint8_t);
FIELD(struct ibv_exp_flow_attr, port, 9, uint8_t);
FIELD(struct ibv_exp_flow_attr, flags, 12, uint32_t);
FIELD(struct ibv_exp_flow_attr, reserved, 16, uint64_t);

SIZE(struct ibv_exp_flow, 16);
FIELD(struct ibv_exp_flow, context, 0, struct ibv_context *);
FIELD(struct ibv_exp_flow, handle, 8, uint32_t);

SIZE(struct ibv_exp_flow_spec_eth, 40);
FIELD(struct ibv_exp_flow_spec_eth, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_eth, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_eth, val, 6, struct ibv_exp_flow_eth_filter);
FIELD(struct ibv_exp_flow_spec_eth, mask, 22, struct ibv_exp_flow_eth_filter);

SIZE(struct ibv_exp_flow_eth_filter, 16);
FIELD(struct ibv_exp_flow_eth_filter, dst_mac, 0, uint8_t[6]);
FIELD(struct ibv_exp_flow_eth_filter, src_mac, 6, uint8_t[6]);
FIELD(struct ibv_exp_flow_eth_filter, ether_type, 12, uint16_t);
FIELD(struct ibv_exp_flow_eth_filter, vlan_tag, 14, uint16_t);

SIZE(struct ibv_exp_flow_spec_ib, 48);
FIELD(struct ibv_exp_flow_spec_ib, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_ib, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_ib, val, 8, struct ibv_exp_flow_ib_filter);
FIELD(struct ibv_exp_flow_spec_ib, mask, 28, struct ibv_exp_flow_ib_filter);

SIZE(struct ibv_exp_flow_ib_filter, 20);
FIELD(struct ibv_exp_flow_ib_filter, qpn, 0, uint32_t);
FIELD(struct ibv_exp_flow_ib_filter, dst_gid, 4, uint8_t[16]);

SIZE(struct ibv_exp_flow_spec_ipv4, 24);
FIELD(struct ibv_exp_flow_spec_ipv4, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_ipv4, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_ipv4, val, 8, struct ibv_exp_flow_ipv4_filter);
FIELD(struct ibv_exp_flow_spec_ipv4, mask, 16, struct ibv_exp_flow_ipv4_filter);

SIZE(struct ibv_exp_flow_ipv4_filter, 8);
FIELD(struct ibv_exp_flow_ipv4_filter, src_ip, 0, uint32_t);
FIELD(struct ibv_exp_flow_ipv4_filter, dst_ip, 4, uint32_t);

SIZE(struct ibv_exp_flow_spec_ipv4_ext, 32);
FIELD(struct ibv_exp_flow_spec_ipv4_ext, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_ipv4_ext, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_ipv4_ext, val, 8, struct ibv_exp_flow_ipv4_ext_filter);
FIELD(struct ibv_exp_flow_spec_ipv4_ext, mask, 20, struct ibv_exp_flow_ipv4_ext_filter);

SIZE(struct ibv_exp_flow_ipv4_ext_filter, 12);
FIELD(struct ibv_exp_flow_ipv4_ext_filter, src_ip, 0, uint32_t);
FIELD(struct ibv_exp_flow_ipv4_ext_filter, dst_ip, 4, uint32_t);
FIELD(struct ibv_exp_flow_ipv4_ext_filter, proto, 8, uint8_t);
FIELD(struct ibv_exp_flow_ipv4_ext_filter, tos, 9, uint8_t);
FIELD(struct ibv_exp_flow_ipv4_ext_filter, ttl, 10, uint8_t);
FIELD(struct ibv_exp_flow_ipv4_ext_filter, flags, 11, uint8_t);

SIZE(struct ibv_exp_flow_spec_ipv6, 72);
FIELD(struct ibv_exp_flow_spec_ipv6, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_ipv6, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_ipv6, val, 6, struct ibv_exp_flow_ipv6_filter);
FIELD(struct ibv_exp_flow_spec_ipv6, mask, 38, struct ibv_exp_flow_ipv6_filter);

SIZE(struct ibv_exp_flow_ipv6_filter, 32);
FIELD(struct ibv_exp_flow_ipv6_filter, src_ip, 0, uint8_t[16]);
FIELD(struct ibv_exp_flow_ipv6_filter, dst_ip, 16, uint8_t[16]);

SIZE(struct ibv_exp_flow_spec_ipv6_ext, 88);
FIELD(struct ibv_exp_flow_spec_ipv6_ext, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_ipv6_ext, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_ipv6_ext, val, 8, struct ibv_exp_flow_ipv6_ext_filter);
FIELD(struct ibv_exp_flow_spec_ipv6_ext, mask, 48, struct ibv_exp_flow_ipv6_ext_filter);

SIZE(struct ibv_exp_flow_ipv6_ext_filter, 40);
FIELD(struct ibv_exp_flow_ipv6_ext_filter, src_ip, 0, uint8_t[16]);
FIELD(struct ibv_exp_flow_ipv6_ext_filter, dst_ip, 16, uint8_t[16]);
FIELD(struct ibv_exp_flow_ipv6_ext_filter, flow_label, 32, uint32_t);
FIELD(struct ibv_exp_flow_ipv6_ext_filter, next_hdr, 36, uint8_t);
FIELD(struct ibv_exp_flow_ipv6_ext_filter, traffic_class, 37, uint8_t);
FIELD(struct ibv_exp_flow_ipv6_ext_filter, hop_limit, 38, uint8_t);

SIZE(struct ibv_exp_flow_spec_tcp_udp, 16);
FIELD(struct ibv_exp_flow_spec_tcp_udp, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_tcp_udp, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_tcp_udp, val, 6, struct ibv_exp_flow_tcp_udp_filter);
FIELD(struct ibv_exp_flow_spec_tcp_udp, mask, 10, struct ibv_exp_flow_tcp_udp_filter);

SIZE(struct ibv_exp_flow_tcp_udp_filter, 4);
FIELD(struct ibv_exp_flow_tcp_udp_filter, dst_port, 0, uint16_t);
FIELD(struct ibv_exp_flow_tcp_udp_filter, src_port, 2, uint16_t);

SIZE(struct ibv_exp_flow_spec_tunnel, 16);
FIELD(struct ibv_exp_flow_spec_tunnel, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_tunnel, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_tunnel, val, 8, struct ibv_exp_flow_tunnel_filter);
FIELD(struct ibv_exp_flow_spec_tunnel, mask, 12, struct ibv_exp_flow_tunnel_filter);

SIZE(struct ibv_exp_flow_tunnel_filter, 4);
FIELD(struct ibv_exp_flow_tunnel_filter, tunnel_id, 0, uint32_t);

SIZE(struct ibv_exp_flow_spec_action_tag, 12);
FIELD(struct ibv_exp_flow_spec_action_tag, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_action_tag, size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec_action_tag, tag_id, 8, uint32_t);

SIZE(struct ibv_exp_flow_spec_action_drop, 8);
FIELD(struct ibv_exp_flow_spec_action_drop, type, 0, enum ibv_exp_flow_spec_type);
FIELD(struct ibv_exp_flow_spec_action_drop, size, 4, uint16_t);

SIZE(struct ibv_exp_flow_spec, 88);
AT(struct ibv_exp_flow_spec, hdr, 0);
FIELD(struct ibv_exp_flow_spec, hdr.type, 0, uint32_t);
FIELD(struct ibv_exp_flow_spec, hdr.size, 4, uint16_t);
FIELD(struct ibv_exp_flow_spec, ib, 0, struct ibv_exp_flow_spec_ib);
FIELD(struct ibv_exp_flow_spec, eth, 0, struct ibv_exp_flow_spec_eth);
FIELD(struct ibv_exp_flow_spec, ipv4, 0, struct ibv_exp_flow_spec_ipv4);
FIELD(struct ibv_exp_flow_spec, ipv4_ext, 0, struct ibv_exp_flow_spec_ipv4_ext);
FIELD(struct ibv_exp_flow_spec, tcp_udp, 0, struct ibv_exp_flow_spec_tcp_udp);
FIELD(struct ibv_exp_flow_spec, ipv6, 0, struct ibv_exp_flow_spec_ipv6);
FIELD(struct ibv_exp_flow_spec, ipv6_ext, 0, struct ibv_exp_flow_spec_ipv6_ext);
FIELD(struct ibv_exp_flow_spec, tunnel, 0, struct ibv_exp_flow_spec_tunnel);
FIELD(struct ibv_exp_flow_spec, flow_tag, 0, struct ibv_exp_flow_spec_action_tag);
FIELD(struct ibv_exp_flow_spec, drop, 0, struct ibv_exp_flow_spec_action_drop);

SIZE(struct ibv_exp_query_intf_params, 48);
FIELD(struct ibv_exp_query_intf_params, flags, 0, uint32_t);
FIELD(struct ibv_exp_query_intf_params, intf_scope, 4, enum ibv_exp_intf_scope);
FIELD(struct ibv_exp_query_intf_params, vendor_guid, 8, uint64_t);
FIELD(struct ibv_exp_query_intf_params, intf, 16, uint32_t);
FIELD(struct ibv_exp_query_intf_params, intf_version, 20, uint32_t);
FIELD(struct ibv_exp_query_intf_params, obj, 24, void *);
FIELD(struct ibv_exp_query_intf_params, family_params, 32, void *);
FIELD(struct ibv_exp_query_intf_params, family_flags, 40, uint32_t);
FIELD(struct ibv_exp_query_intf_params, comp_mask, 44, uint32_t);

SIZE(struct ibv_exp_release_intf_params, 4);
FIELD(struct ibv_exp_release_intf_params, comp_mask, 0, uint32_t);

SIZE(struct ibv_exp_qp_burst_family, 48);
AT(struct ibv_exp_qp_burst_family, send_pending, 0);
AT(struct ibv_exp_qp_burst_family, send_pending_inline, 8);
AT(struct ibv_exp_qp_burst_family, send_pending_sg_list, 16);
AT(struct ibv_exp_qp_burst_family, send_flush, 24);
AT(struct ibv_exp_qp_burst_family, send_burst, 32);
AT(struct ibv_exp_qp_burst_family, recv_burst, 40);

SIZE(struct ibv_exp_qp_burst_family_v1, 72);
AT(struct ibv_exp_qp_burst_family_v1, send_pending, 0);
AT(struct ibv_exp_qp_burst_family_v1, send_pending_inline, 8);
AT(struct ibv_exp_qp_burst_family_v1, send_pending_sg_list, 16);
AT(struct ibv_exp_qp_burst_family_v1, send_flush, 24);
AT(struct ibv_exp_qp_burst_family_v1, send_burst, 32);
AT(struct ibv_exp_qp_burst_family_v1, recv_burst, 40);
AT(struct ibv_exp_qp_burst_family_v1, send_pending_vlan, 48);
AT(struct ibv_exp_qp_burst_family_v1, send_pending_inline_vlan, 56);
AT(struct ibv_exp_qp_burst_family_v1, send_pending_sg_list_vlan, 64);

SIZE(struct ibv_exp_wq_family, 16);
AT(struct ibv_exp_wq_family, recv_sg_list, 0);
AT(struct ibv_exp_wq_family, recv_burst, 8);

SIZE(struct ibv_exp_cq_family, 24);
AT(struct ibv_exp_cq_family, poll_cnt, 0);
AT(struct ibv_exp_cq_family, poll_length, 8);
AT(struct ibv_exp_cq_family, poll_length_flags, 16);

SIZE(struct ibv_exp_cq_family_v1, 80);
AT(struct ibv_exp_cq_family_v1, poll_cnt, 0);
AT(struct ibv_exp_cq_family_v1, poll_length, 8);
AT(struct ibv_exp_cq_family_v1, poll_length_flags, 16);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_mp_rq, 24);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_cvlan, 32);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_mp_rq_cvlan, 40);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_ts, 48);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_mp_rq_ts, 56);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_cvlan_ts, 64);
AT(struct ibv_exp_cq_family_v1, poll_length_flags_mp_rq_cvlan_ts, 72);

SIZE(struct ibv_exp_ec_calc_init_attr, 48);
FIELD(struct ibv_exp_ec_calc_init_attr, comp_mask, 0, uint32_t);
FIELD(struct ibv_exp_ec_calc_init_attr, max_inflight_calcs, 4, uint32_t);
FIELD(struct ibv_exp_ec_calc_init_attr, k, 8, int);
FIELD(struct ibv_exp_ec_calc_init_attr, m, 12, int);
FIELD(struct ibv_exp_ec_calc_init_attr, w, 16, int);
FIELD(struct ibv_exp_ec_calc_init_attr, max_data_sge, 20, int);
FIELD(struct ibv_exp_ec_calc_init_attr, max_code_sge, 24, int);
FIELD(struct ibv_exp_ec_calc_init_attr, encode_matrix, 32, uint8_t *);
FIELD(struct ibv_exp_ec_calc_init_attr, affinity_hint, 40, int);
FIELD(struct ibv_exp_ec_calc_init_attr, polling, 44, int);

SIZE(struct ibv_exp_ec_comp, 16);
AT(struct ibv_exp_ec_comp, done, 0);
FIELD(struct ibv_exp_ec_comp, status, 8, enum ibv_exp_ec_status);

SIZE(struct ibv_exp_ec_calc, 8);
FIELD(struct ibv_exp_ec_calc, pd, 0, struct ibv_pd *);

SIZE(struct ibv_exp_ec_mem, 32);
FIELD(struct ibv_exp_ec_mem, data_blocks, 0, struct ibv_sge *);
FIELD(struct ibv_exp_ec_mem, num_data_sge, 8, int);
FIELD(struct ibv_exp_ec_mem, code_blocks, 16, struct ibv_sge *);
FIELD(struct ibv_exp_ec_mem, num_code_sge, 24, int);
FIELD(struct ibv_exp_ec_mem, block_size, 28, int);

SIZE(struct ibv_exp_ec_stripe, 16);
FIELD(struct ibv_exp_ec_stripe, qp, 0, struct ibv_qp *);
FIELD(struct ibv_exp_ec_stripe, wr, 8, struct ibv_send_wr *);
