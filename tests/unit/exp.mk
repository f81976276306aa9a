# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# libibverbs_exp: its objects, linked with the fake devices of exp_fake.c.

EXP := $(TOP)/userspace/libibverbs_exp
$(eval $(call part,exp,$(EXP)))
EXP_OBJS := $(UNIT)/exp_fake_libibverbs.o $(addprefix $(UNIT)/exp/,backend.o \
	backend_emu.o backend_mlx5.o backend_mlx5_sq.o backend_mlx5_wqe.o \
	backend_mxe.o cq.o cq_ex.o device.o emu_busy.o emu_cq.o emu_cq_ex.o \
	emu_hook.o emu_progress.o emu_qp.o qp.o qp_table.o send.o wc.o wr.o)
EXP_CALLS := $(addprefix $(UNIT)/exp/,clock.o dm.o flow.o mr.o objects.o port.o \
	unsupported.o)
EXP_MLX5 := $(addprefix $(BIN)/,t_exp_mlx5 t_exp_mlx5_apps t_exp_mlx5_be \
	t_exp_mlx5_data t_exp_mlx5_ex t_exp_mlx5_rows)
EXP_FAKED := $(BIN)/t_exp $(BIN)/t_exp_send $(BIN)/t_exp_calls $(EXP_MLX5)
EXP_EMU := $(addprefix $(BIN)/,t_exp_emu t_exp_emu_ex t_exp_emu_random)

PROGS += t_exp t_exp_send t_exp_calls t_exp_layout t_exp_mlx5_wqe t_exp_mlx5 \
	t_exp_mlx5_apps t_exp_mlx5_be t_exp_mlx5_data t_exp_mlx5_ex \
	t_exp_mlx5_rows t_exp_emu t_exp_emu_ex t_exp_emu_random
SCRIPTS += exp_header exp_build exp_interpose exp_mlx5_dv

$(UNIT)/exp/%.o $(addprefix $(UNIT)/,t_exp.o t_exp_%.o exp_fake.o exp_fake_%.o): \
	override CPPFLAGS += -I$(EXP)
$(EXP_FAKED) $(EXP_EMU): override LDLIBS += -pthread
$(EXP_FAKED): $(UNIT)/exp_fake.o $(EXP_OBJS)
$(BIN)/t_exp_calls: $(UNIT)/exp_fake_std.o $(EXP_CALLS)
$(BIN)/t_exp_mlx5_wqe: $(UNIT)/exp/backend_mlx5_wqe.o
$(EXP_MLX5): $(UNIT)/exp_fake_mlx5.o $(UNIT)/exp_fake_mlx5_hw.o
$(EXP_EMU): $(UNIT)/exp_fake_emu.o $(filter-out %/emu_progress.o,$(EXP_OBJS))
$(BIN)/t_exp_emu_ex: $(UNIT)/exp/objects.o
