# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider against a kernel made of memory: its objects are linked into
# the tests, and fake_kernel.c defines what libibverbs would.

comma := ,
LIBMXE_DIR := $(TOP)/userspace/libmxe
$(eval $(call part,libmxe,$(LIBMXE_DIR)))
LIBMXE_PROGS := t_libmxe t_libmxe_doorbell t_libmxe_send t_libmxe_srq \
	t_libmxe_ud t_libmxe_xrc
LIBMXE_TESTS := $(LIBMXE_PROGS:%=$(BIN)/%)

PROGS += $(LIBMXE_PROGS)
$(LIBMXE_TESTS): override LDLIBS += -lpthread \
	$(patsubst %,-Wl$(comma)--wrap=%,ioctl mmap munmap write)
$(LIBMXE_TESTS): $(UNIT)/fake_kernel.o \
	$(patsubst $(LIBMXE_DIR)/%.c,$(UNIT)/libmxe/%.o,$(wildcard $(LIBMXE_DIR)/*.c))
