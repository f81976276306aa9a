dnl SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
dnl
dnl The provider mxe in libfabric's tree.

dnl FI_MXE_CONFIGURE(FOUND, NOT-FOUND): looks for libibverbs_exp, also below the
dnl prefix of --enable-mxe, and sets mxe_CPPFLAGS, mxe_LDFLAGS and mxe_LIBS.
AC_DEFUN([FI_MXE_CONFIGURE], [
	AS_IF([test "$enable_mxe" != no],
	      [FI_CHECK_PACKAGE([mxe],
				[infiniband/verbs_exp.h],
				[ibverbs_exp],
				[ibv_exp_query_device],
				[-libverbs],
				[$mxe_PREFIX],
				[$mxe_LIBDIR],
				[$1],
				[$2])],
	      [$2])
])
