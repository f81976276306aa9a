# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-vm: its installed files, and its messages about missing programs and files.

SCRIPTS += vm/t_mxe_vm
