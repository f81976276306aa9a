# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# mxe: masked RDMA atomics. "make help" lists the targets and variables.

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

LIBS := userspace/libmxe userspace/libibverbs_exp userspace/libfabric userspace/udapl
UTILS := userspace/utils/mxe-caps userspace/utils/mxe-perf userspace/utils/mxe-vm
PROGS := $(UTILS) userspace/examples tests/verbs
DIRS := $(LIBS) $(PROGS)

# Variables of the command line, CC and CFLAGS among them, are for user space.
# The makefiles of the kernel choose its flags, and KCFLAGS adds to them.
KMAKE = $(MAKE) -C $(KDIR) M=$(TOP)
override MAKEOVERRIDES := $(filter-out CC=% CFLAGS=% CPPFLAGS=% LDFLAGS=%,$(MAKEOVERRIDES))
USER_VARS = $(foreach v,CC CFLAGS CPPFLAGS LDFLAGS,$(if $(filter command%,$(origin $(v))),$(v)='$(value $(v))'))

all: modules userspace

modules: kernel-headers
	+$(KMAKE) modules

userspace: $(DIRS)

$(PROGS): $(LIBS)
userspace/udapl: userspace/libmxe
userspace/libfabric: userspace/libibverbs_exp

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

# For packagers: the committed files, with the version of debian/changelog.
DIST = mxe-$(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)

dist:
	mkdir -p build
	git archive --prefix=$(DIST)/ HEAD | xz -T0 >build/$(DIST).tar.xz
	@echo build/$(DIST).tar.xz

# Installs the Debian packages that the tests and the demo need.
deps:
	@tools/deps

demo: deps
	@tools/demo

check: deps
	@tools/check

docs:
	@tools/deps --docs
	@tools/lib/docs/html
	@echo build/docs/html/index.html

bench: all
	@tools/bench

bench-quick: all
	@tools/bench --quick

bench-host: deps
	@tools/bench --host

profile: all
	@tools/profile $(or $(OP),mfadd) $(or $(PATHWAY),loop) $(BATCH)

soak: deps
	@tools/soak $(if $(MINUTES),--minutes $(MINUTES)) \
		$(if $(OPERATIONS),--operations $(OPERATIONS))

fuzz: deps
	@tools/fuzz $(if $(SECONDS),--seconds $(SECONDS))

check-quick check-style check-unit check-kunit check-fuzz check-uml check-vm check-bh-off check-long check-debug check-kernels check-userspace check-big-endian check-in-tree: deps
	@tools/check $(@:check-%=%)

check-packages check-rpm check-newcomer:
	@tools/check $(@:check-%=%)

clean:
	-+test -z "$(KDIR)" || $(KMAKE) clean
	rm -rf build

help:
	@echo 'Build'
	@echo '  all          modules and user space (the default)'
	@echo '  modules      kernel/ib_exp/ib_exp.ko, kernel/mxe/mxe.ko and an example'
	@echo '  userspace    libraries, examples and test programs, in build/userspace/'
	@echo '  clean        remove the build products'
	@echo '  dist         build/mxe-VERSION.tar.xz, from the committed files'
	@echo 'Install'
	@echo '  install      the modules below /lib/modules/KVER/updates/, the libraries,'
	@echo '               the rdma-core provider and its /etc/libibverbs.d/mxe.driver,'
	@echo '               headers, pkg-config files, programs and man pages; runs'
	@echo '               depmod and ldconfig unless DESTDIR is set; for modules that'
	@echo '               use ib_exp.ko, its header and symbols to PREFIX/src/mxe/'
	@echo '  uninstall    remove everything that install put there'
	@echo 'Documentation'
	@echo '  docs         documents, manual pages and API reference as HTML in'
	@echo '               build/docs/html/; fails on warnings and broken references'
	@echo 'Demo and tests (these install missing Debian packages and list them)'
	@echo '  demo         masked atomics between two hosts in a virtual machine'
	@echo '  check        the tests below, several at a time; prints the time of each part,'
	@echo '               the slowest tests, and "N passed, N failed, N skipped"'
	@echo '  check-quick  for use during development: style without clang, unit, kunit, and'
	@echo '               the tests ops, errors, contend and loop of vm'
	@echo '  check-style  builds without warnings, sparse, checkpatch, man pages, documents,'
	@echo '               licences; alone also clang and shellcheck'
	@echo '  check-unit   unit tests of user space'
	@echo '  check-vm     end-to-end tests on the stock Debian kernel in QEMU'
	@echo 'Tests that are not part of check'
	@echo '  check-long   longer tests (tools/lib/vm/long-tests), check-kunit, check-uml,'
	@echo '               check-fuzz, check-bh-off, and kunit and vm on modules without'
	@echo '               shortcuts'
	@echo '  check-kunit  KUnit suites of the modules in User Mode Linux with KASAN,'
	@echo '               lockdep and kmemleak'
	@echo '  check-uml    end-to-end tests on the same kernel (tools/lib/vm/uml-tests)'
	@echo '  check-bh-off the longest sections with BHs or interrupts disabled, in'
	@echo '               instructions, compared with the limit of tools/lib/vm/bh-off'
	@echo '  check-fuzz   build the fuzz targets and run them on their seeds'
	@echo '  check-debug  end-to-end tests on an SMP kernel with KASAN, lockdep, kmemleak'
	@echo '               and fault injection in QEMU; takes hours'
	@echo '  check-kernels  compile the modules for newer kernels and for arm64 and s390x,'
	@echo '               and run a short suite on these kernels in QEMU; downloads'
	@echo '               kernels, headers and compilers'
	@echo '  check-userspace  build and run user space with the rdma-core of Debian 12,'
	@echo '               13 and sid; downloads their packages'
	@echo '  check-big-endian  unit tests of user space for s390x in an emulator; installs'
	@echo '               a cross compiler'
	@echo '  check-in-tree  build mxe in the source trees of Linux, rdma-core and libfabric,'
	@echo '               and run what was built; downloads the sources'
	@echo '  check-packages  build, install, upgrade and purge the Debian packages in a'
	@echo '               chroot, which is downloaded'
	@echo '  check-rpm    the same with the RPM packages'
	@echo '  check-newcomer  "make demo" and parts of "make check" in empty root directories'
	@echo '               of Debian 12, 13 and sid; downloads some GB for each'
	@echo 'Measurements'
	@echo '  bench        the cost of operations on mxe and rxe in instructions; a missed'
	@echo '               target is reported but is not an error'
	@echo '  bench-quick  the same with fewer operations; takes some minutes'
	@echo '  bench-host   nanoseconds and cycles on this CPU: of the protocol engine beside'
	@echo '               crc32 and memcpy, and of operations in User Mode Linux beside rxe'
	@echo '  profile      the instructions of one operation by function;'
	@echo '               OP=mfadd (see mxe-perf -o), PATHWAY=loop|wire, BATCH=1'
	@echo '  soak         exactly-once execution on all kinds of bad wires for MINUTES=5;'
	@echo '               OPERATIONS=1000000 on the wire that loses 5 %'
	@echo '  fuzz         fuzz targets in user space with the sanitizers of clang for'
	@echo '               SECONDS=60; prints the executions, coverage and reports'
	@echo '  deps         only install the missing packages'
	@echo 'Variables'
	@echo '  KVER=VERSION KDIR=DIRECTORY  the kernel to build for'
	@echo '               (default: the newest headers installed: $(or $(KVER),none))'
	@echo '  CC= CFLAGS= CPPFLAGS= LDFLAGS=  for user space; WERROR=1 makes its warnings errors'
	@echo '  DESTDIR= PREFIX=/usr LIBDIR= INCLUDEDIR= MANDIR= SYSCONFDIR=/etc'
	@echo '  MXE_CACHE=DIRECTORY  directory of the test kernels (default ~/.cache/mxe)'
	@echo 'To run one part of the tests with arguments: "tools/check PART [ARGUMENT...]", for'
	@echo 'example "tools/check vm ops errors". "tools/check --help" lists the parts.'
	@echo 'To run a command in the virtual machine: see tools/vm --help'

.PHONY: all modules userspace $(DIRS) kernel-headers install uninstall dist check-packages check-rpm check-newcomer deps \
	docs demo bench bench-quick bench-host profile soak fuzz check check-quick check-style check-unit check-kunit check-fuzz check-uml check-vm \
	check-bh-off check-debug check-kernels check-userspace check-big-endian check-in-tree clean help
