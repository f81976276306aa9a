# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider against a kernel made of memory: its objects are linked into
# the tests, and fake_kernel.c defines what libibverbs would.

comma := ,
LIBMXE_DIR := userspace/libmxe
LIBMXE_PROGS := t_libmxe t_libmxe_dc t_libmxe_doorbell t_libmxe_mr \
	t_libmxe_pd t_libmxe_rdmav t_libmxe_send t_libmxe_srq t_libmxe_ud t_libmxe_xrc
include $(TOP)/$(LIBMXE_DIR)/rdmav.mk
LIBMXE_TESTS := $(LIBMXE_PROGS:%=$(BIN)/%)

PROGS += $(LIBMXE_PROGS:%=libmxe/%)
$(LIBMXE_TESTS): override LDLIBS += -lpthread \
	$(patsubst %,-Wl$(comma)--wrap=%,ioctl mmap munmap write clock_gettime \
	pthread_spin_init pthread_spin_destroy)
$(LIBMXE_TESTS): $(HERE)/libmxe/fake_kernel.o \
	$(patsubst $(TOP)/%.c,$(UNIT)/%.o,$(wildcard $(TOP)/$(LIBMXE_DIR)/*.c))
$(UNIT)/$(LIBMXE_DIR)/%.o $(HERE)/libmxe/%.o: override CPPFLAGS += \
	-DRDMAV=$(RDMAV)

# libmxe compiles for every layout of rdmav.h.
SCRIPTS += libmxe/rdmav_layouts
