# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-perf: its statistics, options and tag lists, and the time limit of its TCP
# test.

PERF := userspace/utils/mxe-perf
PROGS += perf/t_perf

$(UNIT)/$(PERF)/%.o $(HERE)/perf/%.o: override CPPFLAGS += -I$(TOP)/$(PERF) \
	-DMXE_VERSION='"9.9"'
$(BIN)/t_perf: $(addprefix $(UNIT)/$(PERF)/,match.o options.o sockets.o stats.o)
$(BIN)/t_perf: override LDLIBS += -Wl,--wrap=clock_gettime,--wrap=recv

SCRIPTS += perf/bench_report
