# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-perf: its statistics and options.

PERF := $(TOP)/userspace/tools/mxe-perf
$(eval $(call part,perf,$(PERF)))
PROGS += t_perf

$(UNIT)/perf/%.o $(UNIT)/t_perf.o: override CPPFLAGS += -I$(PERF) \
	-DMXE_VERSION='"9.9"'
$(BIN)/t_perf: $(addprefix $(UNIT)/perf/,options.o stats.o)
