# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by tools/into-tree: the provider in the source tree TREE of libfabric.

FROM=$TOP/userspace/libfabric
PROV=$TREE/prov/mxe

# sources: prints the names of the sources and headers.
sources()
{
	list "$FROM" SRCS && (cd "$FROM" && ls -- *.h)
}

remove()
{
	rm -rf "$PROV" "$TREE/man/man7/fi_mxe.7" || return
	sed -i '/^FI_PROVIDER_SETUP(\[mxe\])$/d' "$TREE/configure.ac" &&
		sed -i '\,^include prov/mxe/Makefile.include$,d' "$TREE/Makefile.am" &&
		sed -i '/^	ofi_register_provider(MXE_INIT, NULL);$/d' "$TREE/src/fabric.c" &&
		sed -i '/^#if (HAVE_MXE)/,/^$/d' "$TREE/include/ofi_prov.h"
}

copy()
{
	mkdir -p "$PROV/src" &&
		(cd "$FROM" && sources | xargs cp -p -t "$PROV/src") &&
		cp -p "$FROM/in-tree/configure.m4" "$PROV/" &&
		substitute "$FROM/in-tree/Makefile.include" ' \' \
			FILES "$(sources | sed 's,^,prov/mxe/src/,')" \
			>"$PROV/Makefile.include" &&
		cp -p "$FROM/man/fi_mxe.7" "$TREE/man/man7/"
}

# The entry point: of a plugin, of a provider in the library, or none.
DECLARATION='#if (HAVE_MXE) && (HAVE_MXE_DL)
#  define MXE_INI FI_EXT_INI
#  define MXE_INIT NULL
#elif (HAVE_MXE)
#  define MXE_INI INI_SIG(fi_mxe_ini)
#  define MXE_INIT fi_mxe_ini()
MXE_INI ;
#else
#  define MXE_INIT NULL
#endif
'

hook()
{
	insert "$TREE/configure.ac" after 'FI_PROVIDER_SETUP([verbs])' \
		'FI_PROVIDER_SETUP([mxe])' &&
		insert "$TREE/Makefile.am" after 'include prov/verbs/Makefile.include' \
			'include prov/mxe/Makefile.include' &&
		insert "$TREE/src/fabric.c" after '	ofi_register_provider(VERBS_INIT, NULL);' \
			'	ofi_register_provider(MXE_INIT, NULL);' &&
		insert "$TREE/include/ofi_prov.h" before '#if (HAVE_EFA) && (HAVE_EFA_DL)' \
			"$DECLARATION"
}
