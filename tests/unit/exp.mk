# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# libibverbs_exp: its sources, linked with the fake devices of exp_fake.c.

EXP := $(TOP)/userspace/libibverbs_exp
EXP_SRCS := $(addprefix $(EXP)/,backend_emu.c backend_mlx5.c backend_mlx5_sq.c \
	backend_mlx5_wqe.c backend_mxe.c cq.c cq_ex.c device.c emu_cq.c emu_cq_ex.c emu_hook.c \
	emu_progress.c emu_sq.c qp.c send.c)
EXP_MLX5 := $(addprefix $(BIN)/,t_exp_mlx5 t_exp_mlx5_apps t_exp_mlx5_be \
	t_exp_mlx5_data t_exp_mlx5_ex t_exp_mlx5_rows)
EXP_FAKED := $(BIN)/t_exp $(BIN)/t_exp_send $(BIN)/t_exp_calls $(EXP_MLX5)
EXP_CALLS := $(addprefix $(EXP)/,clock.c dm.c flow.c mr.c objects.c port.c \
	unserved.c)
EXP_EMU := $(addprefix $(BIN)/,t_exp_emu t_exp_emu_ex t_exp_emu_random)
EXP_PROGS := $(EXP_FAKED) $(BIN)/t_exp_layout $(BIN)/t_exp_mlx5_wqe \
	$(EXP_EMU)

PROGS += t_exp t_exp_send t_exp_calls t_exp_layout t_exp_mlx5_wqe t_exp_mlx5 \
	t_exp_mlx5_apps t_exp_mlx5_be t_exp_mlx5_data t_exp_mlx5_ex t_exp_mlx5_rows \
	t_exp_emu t_exp_emu_ex t_exp_emu_random
SCRIPTS += exp_header exp_build exp_front exp_mlx5_dv

$(EXP_PROGS): override CPPFLAGS += -I$(EXP) -I$(TOP)/userspace/libmxe \
	-D_GNU_SOURCE
$(EXP_PROGS): override CFLAGS += -std=gnu11 $(WARNFLAGS)
$(EXP_PROGS): $(wildcard $(EXP)/infiniband/*.h)
$(BIN)/t_exp_layout: exp_offsets.h exp_values.h
$(EXP_FAKED): override LDLIBS += -pthread
$(EXP_FAKED): exp_fake.c exp_fake.h $(EXP_SRCS) $(EXP)/backend.h \
	$(EXP)/backend_mlx5.h $(EXP)/emu.h \
	$(TOP)/userspace/libmxe/infiniband/mxedv.h
$(BIN)/t_exp_calls: exp_fake_std.c exp_fake_std.h $(EXP_CALLS) $(EXP)/calls.h
$(BIN)/t_exp_mlx5_wqe: $(EXP)/backend_mlx5_wqe.c $(EXP)/backend_mlx5.h
$(EXP_MLX5): exp_fake_mlx5.c exp_fake_mlx5_hw.c exp_fake_mlx5.h \
	exp_fake_mlx5_hw.h exp_mlx5_req.h
$(EXP_EMU): override LDLIBS += -pthread
$(BIN)/t_exp_emu_ex: $(EXP)/objects.c
$(EXP_EMU): exp_fake_emu.c exp_fake_emu.h $(EXP)/backend.h $(EXP)/emu.h \
	$(filter-out %/emu_progress.c,$(EXP_SRCS))
