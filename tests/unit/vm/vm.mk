# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-vm: its installed files, and its messages about what is missing.

SCRIPTS += vm/t_mxe_vm
