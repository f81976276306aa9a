# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-caps: its sources, with fakes of the libraries it asks and of sysfs.

CAPS := $(TOP)/userspace/tools/mxe-caps
PROGS += t_caps

$(BIN)/t_caps: override CPPFLAGS += -I$(CAPS) -I$(TOP)/userspace/libibverbs_exp \
	-DCAPS_TEST -DMXE_VERSION='"9.9"'
$(BIN)/t_caps: override CFLAGS += -std=gnu11 $(WARNFLAGS)
$(BIN)/t_caps: override LDLIBS += -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose
$(BIN)/t_caps: $(addprefix $(CAPS)/,ask.c class.c main.c print.c caps.h)
