#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Usage: probe.sh DIRECTORY
#
# Prints compiler flags -DMXE_HAVE_... for the interfaces that the kernel
# headers in DIRECTORY declare, for compat.h. Stable and distribution kernels
# backport APIs, so the kernel version cannot replace this search for
# declarations. kernel/Kbuild.include runs it in each build. Kbuild recompiles
# the objects if the flags change.

# have NAME HEADER REGEX: prints -DMXE_HAVE_NAME if the header exists and,
# joined into one line, matches the regular expression.
have()
{
	[ -e "$include/$2" ] &&
		tr -s '[:space:]' ' ' <"$include/$2" | grep -Eq "$3" &&
		printf ' -DMXE_HAVE_%s' "$1"
}

include=${1:?directory}
have CREATE_CQ_ATTRS rdma/ib_verbs.h \
	'\(\*create_cq\)\([^)]*struct uverbs_attr_bundle \*'
have REG_USER_MR_DMAH rdma/ib_verbs.h \
	'\(\*reg_user_mr\)\([^)]*struct ib_dmah \*'
have REG_DMABUF_ATTRS rdma/ib_verbs.h \
	'\(\*reg_user_mr_dmabuf\)\([^)]*struct uverbs_attr_bundle \*'
have DMA_BUF_VMAP_UNLOCKED linux/dma-buf.h '\bdma_buf_vmap_unlocked\('
have REPORT_PORT_EVENT rdma/ib_verbs.h '\(\*report_port_event\)\('
have RESIZE_USER_CQ rdma/ib_verbs.h '\(\*resize_user_cq\)\('
have CRC32_OPTIMIZATIONS linux/crc32.h '# ?define CRC32_LE_OPTIMIZATION\b'
have HRTIMER_SETUP linux/hrtimer.h '\bhrtimer_setup\('
have UMEM_GET_VA rdma/ib_umem.h '\bib_umem_get_va\('
have RDMA_ITER rdma/iter.h .
have UDP_TUNNEL_SK net/udp_tunnel.h \
	'\bsetup_udp_tunnel_sock\([^)]*struct sock \*'
have PLACEMENT rdma/ib_verbs.h '\bIB_DEVICE_ATOMIC_WRITE\b'
have WQ_PERCPU linux/workqueue.h '\bWQ_PERCPU ?='
have VM_FLAGS_SET linux/mm.h '\bvm_flags_set\('
have LINUX_UNALIGNED linux/unaligned.h .
have IPV6_STUBS net/ipv6_stubs.h .
have IPTOS_RT_MASK net/route.h '# ?define IPTOS_RT_MASK\b'
have FLOWI4_DSCP net/flow.h '# ?define flowi4_dscp\b'
have TCX linux/netdevice.h '\btcx_ingress;'
exit 0
