# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider of libfabric: its objects, linked with the device of
# fake_device.c, and its arithmetic alone.

FI := userspace/libfabric

ifeq ($(shell printf '\043include <rdma/providers/fi_prov.h>\n' | \
	$(CC) $(CPPFLAGS) -xc -fsyntax-only - 2>/dev/null && echo yes),yes)
FI_PROGS := t_fabric t_fabric_events t_fabric_loss t_fabric_scalable t_fabric_shared \
	t_fabric_tagged t_fabric_trigger
PROGS += $(FI_PROGS:%=fi/%) fi/t_fi_op
endif

$(UNIT)/$(FI)/%.o $(HERE)/fi/%.o: override CPPFLAGS += \
	-I$(TOP)/userspace/libibverbs_exp
# After -Wextra, which clang applies in order.
$(UNIT)/$(FI)/%.o $(HERE)/fi/%.o: override CFLAGS += -Wno-unused-parameter
$(HERE)/fi/%.o: override CPPFLAGS += -I$(TOP)/tests/verbs/ulp -iquote $(TOP)/$(FI)
$(FI_PROGS:%=$(BIN)/%): $(addprefix $(HERE)/fi/,fake_device.o fake_libfabric.o) \
	$(patsubst $(TOP)/%.c,$(UNIT)/%.o,$(wildcard $(TOP)/$(FI)/*.c))
$(FI_PROGS:%=$(BIN)/%): override LDLIBS += -lfabric -lpthread -Wl,--wrap=malloc
$(BIN)/t_fi_op: $(addprefix $(UNIT)/$(FI)/,small_float.o atomic_op.o atomic_plan.o)
$(BIN)/t_fi_op: override LDLIBS += -lm
