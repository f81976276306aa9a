# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# libdaplmxe with libdat2 and a fake libdaplofa.

SCRIPTS += udapl/udapl_locks
