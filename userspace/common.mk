# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Common definitions of the Makefiles of user space. A Makefile sets TOP, the
# top of the tree, and includes this file.
#
#   make [CC=] [CFLAGS=] [CPPFLAGS=] [LDFLAGS=] [WERROR=1] [O=DIR]
#   make install [DESTDIR=] [PREFIX=] [LIBDIR=] ...

ifndef TOP
$(error set TOP before including common.mk)
endif

# Directory of all build products.
O ?= $(TOP)/build/userspace

CFLAGS ?= -O2 -g
override WARNFLAGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes \
	$(if $(filter 1,$(WERROR)),-Werror)
override BASE_CFLAGS := -std=gnu11 $(WARNFLAGS)
override BASE_CPPFLAGS := -D_GNU_SOURCE -I$(TOP)/include/uapi -I$(TOP)/include \
	-I$(TOP)/userspace/libmxe

# libibverbs looks for providers and their configuration only below /usr and
# /etc, so PREFIX is not /usr/local.
PREFIX ?= /usr
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null || \
	$(CC) -dumpmachine 2>/dev/null)
LIBDIR ?= $(PREFIX)/lib$(if $(wildcard /usr/lib/$(MULTIARCH)),$(MULTIARCH:%=/%))
BINDIR ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
SYSCONFDIR ?= /etc
INSTALL ?= install

# Compile with a dependency file; $(call compile,extra flags).
compile = $(CC) $(BASE_CPPFLAGS) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) $(1) \
	-MMD -MP -c -o $@ $<

# One object of many, in which hidden symbols are local, as in a shared library;
# $(call merge,object,objects).
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
define merge
	$(CC) $(CFLAGS) -nostdlib -r -o $(1) $(2)
	$(OBJCOPY) --localize-hidden $(1)
endef

# $(call has_enumerator,NAME,FLAG): FLAG, if infiniband/verbs.h declares NAME.
has_enumerator = $(shell printf '\043include <infiniband/verbs.h>\nint i = $(1);' | \
	$(CC) $(CPPFLAGS) $(VERBS_CPPFLAGS) -xc -fsyntax-only - 2>/dev/null && \
	echo $(2))

# $(call has_header,NAME): 1, if the compiler finds the header.
has_header = $(shell printf '\043include <$(1)>\n' | \
	$(CC) $(CPPFLAGS) -xc -fsyntax-only - 2>/dev/null && echo 1)

# The library in the build tree, for the programs that link with it.
LIBMXE_LIBS = -L$(O) -lmxe -libverbs

all:
.PHONY: all clean install uninstall print

# make print VARS="NAME...": print the words of variables, for tools/into-tree.
print:
	@printf '%s\n' $(foreach v,$(VARS),$($(v)))
.DELETE_ON_ERROR:
