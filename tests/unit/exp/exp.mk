# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# libibverbs_exp: its objects, linked with the fake devices of fake.c.

EXP := userspace/libibverbs_exp
EXP_OBJS := $(HERE)/exp/fake_libibverbs.o $(addprefix $(UNIT)/$(EXP)/,backend.o \
	backend_emu.o backend_mlx5.o backend_mlx5_sq.o backend_mlx5_wqe.o \
	backend_mxe.o cq.o cq_ex.o device.o emu_cq.o emu_cq_ex.o \
	emu_hook.o emu_progress.o emu_qp.o qp.o qp_table.o send.o wc.o wr.o)
EXP_CALLS := $(addprefix $(UNIT)/$(EXP)/,clock.o dm.o flow.o mr.o objects.o port.o \
	unsupported.o)
EXP_MLX5 := $(addprefix $(BIN)/,t_exp_mlx5 t_exp_mlx5_apps t_exp_mlx5_be \
	t_exp_mlx5_data t_exp_mlx5_ex t_exp_mlx5_rows)
EXP_FAKED := $(BIN)/t_exp $(BIN)/t_exp_send $(BIN)/t_exp_calls \
	$(BIN)/t_exp_dc $(EXP_MLX5)
EXP_EMU := $(addprefix $(BIN)/,t_exp_emu t_exp_emu_ex t_exp_emu_random \
	t_exp_emu_threads t_exp_saved)

PROGS += $(addprefix exp/,t_exp t_exp_send t_exp_calls t_exp_dc t_exp_layout \
	t_exp_mlx5_wqe t_exp_mlx5 t_exp_mlx5_apps t_exp_mlx5_be t_exp_mlx5_data \
	t_exp_mlx5_ex t_exp_mlx5_rows t_exp_emu t_exp_emu_ex t_exp_emu_random \
	t_exp_emu_threads t_exp_saved t_exp_xrc t_exp_fork)
SCRIPTS += exp/exp_header exp/exp_build exp/exp_interpose exp/exp_mlx5_dv \
	exp/exp_mxe_dv exp/exp_link exp/exp_emu_tsan exp/exp_emu_fork

$(UNIT)/$(EXP)/%.o $(HERE)/exp/%.o: override CPPFLAGS += -iquote $(TOP)/$(EXP) \
	-I$(TOP)/$(EXP)
# The headers are in the folder of the objects. exp_header uses them too.
$(HERE)/exp/exp_%.h: exp/layout.awk exp/layout.table
	@mkdir -p $(@D)
	awk -v want=$* -f $^ >$@
$(HERE)/exp/t_exp_layout.o: $(HERE)/exp/exp_offsets.h $(HERE)/exp/exp_values.h
$(HERE)/exp/t_exp_layout.o: override CPPFLAGS += -I$(HERE)/exp
$(EXP_FAKED) $(EXP_EMU): override LDLIBS += -pthread
$(EXP_FAKED): $(HERE)/exp/fake.o $(EXP_OBJS)
$(BIN)/t_exp_calls: $(HERE)/exp/fake_std.o $(EXP_CALLS)
$(HERE)/exp/t_exp_xrc.o: override CPPFLAGS += -I$(TOP)/$(EXP)/compat
$(BIN)/t_exp_xrc: $(UNIT)/$(EXP)/xrc.o
$(BIN)/t_exp_dc: $(HERE)/exp/fake_mlx5.o $(HERE)/exp/fake_mlx5_hw.o \
	$(UNIT)/$(EXP)/dct.o $(UNIT)/$(EXP)/objects.o
$(BIN)/t_exp_fork: $(EXP_OBJS) $(addprefix $(UNIT)/$(EXP)/,backend_mlx5_dv.o \
	backend_mxe_dv.o dct.o dm.o mr.o xrc.o)
$(BIN)/t_exp_fork: override LDLIBS += -libverbs -ldl -pthread \
	-Wl,--wrap=pthread_mutex_lock
$(BIN)/t_exp_mlx5_wqe: $(UNIT)/$(EXP)/backend_mlx5_wqe.o
$(EXP_MLX5): $(HERE)/exp/fake_mlx5.o $(HERE)/exp/fake_mlx5_hw.o
$(EXP_EMU): $(HERE)/exp/fake_emu.o $(filter-out %/emu_progress.o,$(EXP_OBJS))
$(BIN)/t_exp_emu_ex: $(UNIT)/$(EXP)/objects.o
$(BIN)/t_exp_emu_threads: $(UNIT)/$(EXP)/emu_progress.o

# For exp_emu_tsan and exp_emu_fork.
emu: $(EXP_EMU)
.PHONY: emu
