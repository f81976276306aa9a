# SPDX-License-Identifier: GPL-2.0
# Objects of a module built with MXE_KUNIT=1 besides the driver. Included
# by kernel/mxe/Kbuild; each *_test.c has one or two suites.
MXE_KUNIT_SUITES := harness test_pkt atomic_test psn_test pkt_test icrc_test mr_test \
		    qp_test respond_test complete_test ring_test inv_test \
		    cnp_test loopback_test sizes_test uc_test ud_test srq_test \
		    tm_test mw_test inline_recv_test placement_test gso_test \
		    route_test skb_test hdr_test dmabuf_test dc_test dct_test \
		    shadow_test

# Shortcuts left out of the module (kernel/mxe/Kbuild) are not tested.
MXE_KUNIT_SUITES := $(filter-out $(patsubst %,%_test,$(subst hdr_cache,hdr,$(MXE_WITHOUT))),$(MXE_KUNIT_SUITES))

ccflags-y += -I$(mxe-dir) -I$(mxe-dir)$(mxe-tests)/..

# Objects of ib_exp.ko.
IB_EXP_KUNIT_SUITES := ib_exp_fake ib_exp_caps_test ib_exp_emulate_test \
		       ib_exp_qp_test
