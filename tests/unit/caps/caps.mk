# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-caps: its objects, with fakes of the libraries that it calls and of sysfs.

CAPS := userspace/utils/mxe-caps
PROGS += caps/t_caps caps/t_selftest caps/t_selftest_mlx5

$(UNIT)/$(CAPS)/%.o $(HERE)/caps/%.o: override CPPFLAGS += -iquote $(TOP)/$(CAPS) \
	-I$(TOP)/userspace/libibverbs_exp -I$(TOP)/tests/unit/exp -DCAPS_TEST \
	-DMXE_VERSION='"9.9"'
$(BIN)/t_caps $(BIN)/t_selftest: override LDLIBS += \
	-Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose
$(BIN)/t_selftest: override LDLIBS += -Wl,--wrap=nanosleep
$(BIN)/t_caps: $(addprefix $(UNIT)/$(CAPS)/,ask.o class.o json.o main.o print.o)
$(BIN)/t_selftest: $(addprefix $(UNIT)/$(CAPS)/,json.o loop.o operands.o post.o \
	report.o selftest.o)
# Linked with libibverbs_exp and the fake ConnectX of tests/unit/exp. exp.mk,
# which is read later, sets EXP_OBJS.
.SECONDEXPANSION:
$(BIN)/t_selftest_mlx5: override LDLIBS += -pthread
$(BIN)/t_selftest_mlx5: $(addprefix $(UNIT)/$(CAPS)/,operands.o post.o) \
	$(addprefix $(HERE)/exp/,fake.o fake_mlx5.o fake_mlx5_hw.o) $$(EXP_OBJS)
