# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe-caps: its objects, with fakes of the libraries it asks and of sysfs.

CAPS := userspace/utils/mxe-caps
PROGS += caps/t_caps

$(UNIT)/$(CAPS)/%.o $(HERE)/caps/%.o: override CPPFLAGS += -I$(TOP)/$(CAPS) \
	-I$(TOP)/userspace/libibverbs_exp -DCAPS_TEST -DMXE_VERSION='"9.9"'
$(BIN)/t_caps: override LDLIBS += -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose
$(BIN)/t_caps: $(addprefix $(UNIT)/$(CAPS)/,ask.o class.o json.o main.o print.o)
