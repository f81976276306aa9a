# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# libibverbs_exp: its sources, linked with the fake devices of exp_fake.c.

EXP := $(TOP)/userspace/libibverbs_exp
EXP_SRCS := $(addprefix $(EXP)/,backend_mxe.c cq.c device.c qp.c send.c)
EXP_FAKED := $(BIN)/t_exp $(BIN)/t_exp_send $(BIN)/t_exp_calls
EXP_CALLS := $(addprefix $(EXP)/,clock.c dm.c flow.c mr.c objects.c port.c \
	unserved.c)
EXP_PROGS := $(EXP_FAKED) $(BIN)/t_exp_layout

PROGS += t_exp t_exp_send t_exp_calls t_exp_layout
SCRIPTS += exp_header exp_build

$(EXP_PROGS): override CPPFLAGS += -I$(EXP) -I$(TOP)/userspace/libmxe \
	-D_GNU_SOURCE
$(EXP_PROGS): override CFLAGS += -std=gnu11 $(WARNFLAGS)
$(EXP_PROGS): $(wildcard $(EXP)/infiniband/*.h)
$(BIN)/t_exp_layout: exp_offsets.h exp_values.h
$(EXP_FAKED): override LDLIBS += -pthread
$(EXP_FAKED): exp_fake.c exp_fake.h $(EXP_SRCS) $(EXP)/backend.h \
	$(TOP)/userspace/libmxe/infiniband/mxedv.h
$(BIN)/t_exp_calls: exp_fake_std.c exp_fake_std.h $(EXP_CALLS) $(EXP)/calls.h
