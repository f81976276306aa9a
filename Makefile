# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe: masked RDMA atomics. "make help" tells what there is to make.

TOP := $(CURDIR)

# The kernel to build for: KDIR, or KVER, or the newest installed headers.
ifdef KDIR
KVER ?= $(shell $(MAKE) -s --no-print-directory -C $(KDIR) kernelrelease)
else
KVER ?= $(shell bash -c '. tools/lib/common.sh; kernel_version')
KDIR := $(shell bash -c '. tools/lib/common.sh; kernel_dir "$(KVER)"')
endif

PREFIX ?= /usr
INCLUDEDIR ?= $(PREFIX)/include
INSTALL ?= install
MODDIR = $(DESTDIR)/lib/modules/$(KVER)/updates
SRCDIR = $(DESTDIR)$(PREFIX)/src/mxe
MODULES := kernel/ib_exp/ib_exp.ko kernel/mxe/mxe.ko
UAPI := $(wildcard include/uapi/rdma/*.h)

LIBS := userspace/libmxe userspace/libibverbs_exp
UTILS := userspace/utils/mxe-caps userspace/utils/mxe-perf userspace/utils/mxe-vm
PROGS := $(UTILS) userspace/examples tests/verbs
DIRS := $(LIBS) $(PROGS)

# What is given on the command line, CC and CFLAGS among it, is for user space;
# the kernel's own makefiles choose their flags (KCFLAGS adds to them).
KMAKE = $(MAKE) -C $(KDIR) M=$(TOP)
override MAKEOVERRIDES := $(filter-out CC=% CFLAGS=% CPPFLAGS=% LDFLAGS=%,$(MAKEOVERRIDES))
USER_VARS = $(foreach v,CC CFLAGS CPPFLAGS LDFLAGS,$(if $(filter command%,$(origin $(v))),$(v)='$(value $(v))'))

all: modules userspace

modules: kernel-headers
	+$(KMAKE) modules

userspace: $(DIRS)

userspace/libibverbs_exp: userspace/libmxe
$(PROGS): $(LIBS)

$(DIRS):
	+$(MAKE) -C $@ $(USER_VARS)

kernel-headers:
	@test -n "$(KDIR)" -a -e "$(KDIR)/Makefile" || { \
		echo "No kernel headers$(KVER:%= for %): run tools/deps, or set KDIR or KVER" >&2; \
		exit 1; }

install: all
	$(INSTALL) -d $(MODDIR) $(DESTDIR)$(INCLUDEDIR)/rdma
	$(INSTALL) -m 644 $(MODULES) $(MODDIR)/
	$(INSTALL) -m 644 $(UAPI) $(DESTDIR)$(INCLUDEDIR)/rdma/
	$(INSTALL) -d $(SRCDIR)/include/rdma $(SRCDIR)/$(KVER)
	$(INSTALL) -m 644 include/rdma/ib_exp.h $(SRCDIR)/include/rdma/
	$(INSTALL) -m 644 Module.symvers $(SRCDIR)/$(KVER)/
	+for d in $(LIBS) $(UTILS) userspace/examples; do \
		$(MAKE) -C $$d $(USER_VARS) install || exit; \
	done
ifeq ($(DESTDIR),)
	depmod -a $(KVER)
	ldconfig
endif

uninstall: kernel-headers
	rm -f $(patsubst %,$(MODDIR)/%,$(notdir $(MODULES)))
	rm -rf $(SRCDIR)/include $(SRCDIR)/$(KVER)
	-rmdir --ignore-fail-on-non-empty $(SRCDIR)
	rm -f $(UAPI:include/uapi/%=$(DESTDIR)$(INCLUDEDIR)/%)
	+for d in $(LIBS) $(UTILS) userspace/examples; do \
		$(MAKE) -C $$d $(USER_VARS) uninstall || exit; \
	done
ifeq ($(DESTDIR),)
	depmod -a $(KVER)
	ldconfig
endif

# The committed files, for packagers; the version is that of debian/changelog.
DIST = mxe-$(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)

dist:
	mkdir -p build
	git archive --prefix=$(DIST)/ HEAD | xz -T0 >build/$(DIST).tar.xz
	@echo build/$(DIST).tar.xz

# What the tests and the demo need from the distribution.
deps:
	@tools/deps

demo: deps
	@tools/demo

check: deps
	@tools/check

docs:
	@tools/deps --docs
	@tools/lib/docs
	@echo build/docs/html/index.html

bench: all
	@tools/bench

bench-quick: all
	@tools/bench --quick

profile: all
	@tools/profile $(or $(OP),mfadd) $(or $(PATHWAY),loop) $(BATCH)

soak: deps
	@tools/soak $(if $(MINUTES),--minutes $(MINUTES)) \
		$(if $(OPERATIONS),--operations $(OPERATIONS))

fuzz: deps
	@tools/fuzz $(if $(SECONDS),--seconds $(SECONDS))

check-quick check-style check-unit check-kunit check-fuzz check-uml check-vm check-bh-off check-debug check-kernels check-big-endian check-in-tree: deps
	@tools/check $(@:check-%=%)

check-packages:
	@tools/check packages

clean:
	-+test -z "$(KDIR)" || $(KMAKE) clean
	rm -rf build

help:
	@echo 'Build'
	@echo '  all          modules and user space (the default)'
	@echo '  modules      kernel/ib_exp/ib_exp.ko, kernel/mxe/mxe.ko and an example'
	@echo '  userspace    libraries, examples and test programs, in build/userspace/'
	@echo '  clean        remove what was built here'
	@echo '  dist         build/mxe-VERSION.tar.xz, of what is committed'
	@echo 'Install'
	@echo '  install      the modules below /lib/modules/KVER/updates/, the libraries,'
	@echo '               the rdma-core provider and its /etc/libibverbs.d/mxe.driver,'
	@echo '               headers, pkg-config files, programs and man pages; runs'
	@echo '               depmod and ldconfig unless DESTDIR is set; for modules that'
	@echo '               use ib_exp.ko, its header and symbols to PREFIX/src/mxe/'
	@echo '  uninstall    remove what install put there'
	@echo 'Read'
	@echo '  docs         the documents, the manual pages and the API reference as HTML, in'
	@echo '               build/docs/html/; fails on warnings and on broken references'
	@echo 'See and test; these install missing Debian packages and say which'
	@echo '  demo         two hosts in a virtual machine, masked atomics between them'
	@echo '  check        the tests below, several at a time; then how long each part took, the'
	@echo '               slowest tests, and at the end "N passed, N failed, N skipped"'
	@echo '  check-quick  the inner loop of development: style without clang, unit, kunit, and'
	@echo '               the tests ops, errors, contend and loop of vm'
	@echo '  check-style  builds without warnings (gcc, clang), sparse, checkpatch,'
	@echo '               shellcheck, man pages, licences'
	@echo '  check-unit   unit tests of user space'
	@echo '  check-kunit  KUnit suites of the module, in User Mode Linux with KASAN,'
	@echo '               lockdep and kmemleak'
	@echo '  check-fuzz   the fuzz targets are built and run on their seeds'
	@echo '  check-uml    end-to-end tests on that kernel (tools/lib/uml-tests)'
	@echo '  check-vm     end-to-end tests on the stock Debian kernel in QEMU'
	@echo '  check-bh-off the longest sections with bottom halves or interrupts off, in'
	@echo '               instructions, below the limit of tools/lib/bh-off'
	@echo '  check-debug  those on an SMP kernel with KASAN, lockdep, kmemleak and fault'
	@echo '               injection in QEMU; no part of check: it takes hours'
	@echo '  check-kernels  the modules compile for the kernels of newer releases and'
	@echo '               pass a short suite there in QEMU; not part of check, it fetches'
	@echo '               those kernels, their compilers and headers'
	@echo '  check-big-endian  unit tests of user space for s390x, emulated; no part of'
	@echo '               check: it installs a cross compiler'
	@echo '  check-in-tree  the modules compile in the source tree of the kernel, as modules'
	@echo '               and built in; not part of check'
	@echo '  check-packages  Debian packages are built, installed, upgraded and purged in'
	@echo '               a root of their own; no part of check: it fetches that root'
	@echo '  bench        what operations cost on mxe and rxe, counted in instructions;'
	@echo '               no part of check either: a figure that is missed is no failure'
	@echo '  bench-quick  the same with fewer operations, in some minutes'
	@echo '  profile      where the instructions of one operation go, by function:'
	@echo '               OP=mfadd (see mxe-perf -o), PATHWAY=loop|wire, BATCH=1'
	@echo '  soak         exactly once, on bad wires of all kinds, for MINUTES=5;'
	@echo '               OPERATIONS=1000000 on the one that loses 5 %'
	@echo '  fuzz         fuzz targets in user space, with the sanitizers of clang, for'
	@echo '               SECONDS=60; what was executed, the coverage, reports'
	@echo '  deps         only install what is missing'
	@echo 'Variables'
	@echo '  KVER=VERSION KDIR=DIRECTORY  the kernel to build for'
	@echo '               (default: the newest headers installed: $(or $(KVER),none))'
	@echo '  CC= CFLAGS= CPPFLAGS= LDFLAGS=  for user space; WERROR=1 makes its warnings errors'
	@echo '  DESTDIR= PREFIX=/usr LIBDIR= INCLUDEDIR= MANDIR= SYSCONFDIR=/etc'
	@echo '  MXE_CACHE=DIRECTORY  where kernels for the tests are kept (default ~/.cache/mxe)'
	@echo 'One part of the tests, with arguments: "tools/check PART [ARGUMENT...]", for'
	@echo 'example "tools/check vm ops errors"; "tools/check --help" lists the parts.'
	@echo 'Run a command in the virtual machine: tools/vm --help'

.PHONY: all modules userspace $(DIRS) kernel-headers install uninstall dist check-packages deps \
	docs demo bench bench-quick profile soak fuzz check check-quick check-style check-unit check-kunit check-fuzz check-uml check-vm \
	check-bh-off check-debug check-kernels check-big-endian check-in-tree clean help
