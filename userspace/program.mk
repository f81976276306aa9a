# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Rules for a directory of programs. Its Makefile includes common.mk, sets these
# variables, and includes this file:
#
#   PROGRAMS	names of the programs, which are built in $(O)/bin
#   PAGES	their manual pages of section 1; programs without one are not
#		installed
#
# Then it lists, for each program, the objects in $(OBJDIR) and the libraries in
# $(O) that the program depends on. They are linked in that order.

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
