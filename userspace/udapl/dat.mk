# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Sets HAVE_DAT to 1 if the compiler finds the headers of libdapl-dev.

HAVE_DAT := $(shell printf '\043include <dat2/udat.h>\n' | \
	$(CC) $(CPPFLAGS) -xc -fsyntax-only - 2>/dev/null && echo 1)
