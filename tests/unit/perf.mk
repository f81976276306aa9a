# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-perf: its statistics and options.

PERF := $(TOP)/userspace/tools/mxe-perf
PROGS += t_perf

$(BIN)/t_perf: override CPPFLAGS += -D_GNU_SOURCE -I$(PERF) \
	-I$(TOP)/userspace/libmxe -DMXE_VERSION='"9.9"'
$(BIN)/t_perf: override CFLAGS += -std=gnu11 $(WARNFLAGS)
$(BIN)/t_perf: $(addprefix $(PERF)/,options.c stats.c perf.h)
