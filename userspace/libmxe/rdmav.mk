# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The private interface of the libibverbs that is linked with (see rdmav.h), by
# its symbols:
#
#   RDMAV	release of rdma-core that introduced the layout, or empty if
#		libmxe does not support it
#   RDMAV_PABI	number of the private ABI, or empty without a libibverbs

# The linker prints the path of the library.
LIBIBVERBS := $(lastword $(filter %/libibverbs.so,$(shell $(CC) $(CFLAGS) $(VERBS_LDFLAGS) \
	$(LDFLAGS) -shared -o /dev/null -Wl,-t -libverbs 2>/dev/null | tr '()' '  ')))
ifneq ($(LIBIBVERBS),)
RDMAV_PABI := $(shell grep -aom 1 'verbs_register_driver_[0-9]*' $(LIBIBVERBS) | \
	head -n 1 | tr -dc 0-9)
endif

RDMAV := $(patsubst 34,36,$(filter 34 57 59 64 65,$(RDMAV_PABI)))
# Number 59 has two layouts: see rdmav.h.
ifeq ($(RDMAV),59)
RDMAV := $(shell grep -qa ibv_query_port_speed $(LIBIBVERBS) && echo 62 || echo 59)
endif
