# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The rules of a directory of programs.  Its Makefile includes common.mk, sets these,
# and includes this file:
#
#   PROGRAMS	names of the programs, which are built in $(O)/bin
#   PAGES	their manual pages of section 1; what has none is not installed
#
# After that it names the objects in $(OBJDIR) and the libraries in $(O) that each
# program depends on, which it is linked with in that order.

OBJDIR := $(O)/obj/$(notdir $(CURDIR))
MXE_VERSION ?= 0.1.0
override BASE_CPPFLAGS += -DMXE_VERSION='"$(MXE_VERSION)"'

all: $(PROGRAMS:%=$(O)/bin/%)

$(PROGRAMS:%=$(O)/bin/%):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(O) \
		$(patsubst $(O)/lib%.so,-l%,$(filter %.so,$^)) -libverbs $(LIBS)

$(OBJDIR)/%.o: %.c
	@mkdir -p $(@D)
	$(call compile)

$(O)/libmxe.so $(O)/libibverbs_exp.so:
	+$(MAKE) -C $(TOP)/userspace/$(basename $(@F))

clean:
	rm -rf $(OBJDIR) $(PROGRAMS:%=$(O)/bin/%)

ifneq ($(PAGES),)
install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 755 $(PROGRAMS:%=$(O)/bin/%) $(DESTDIR)$(BINDIR)/
	$(INSTALL) -m 644 $(PAGES) $(DESTDIR)$(MANDIR)/man1/

uninstall:
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%) $(PAGES:%=$(DESTDIR)$(MANDIR)/man1/%)
endif

-include $(wildcard $(OBJDIR)/*.d)
