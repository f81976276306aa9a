# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by tools/into-tree: libmxe in the source tree TREE of rdma-core.

FROM=$TOP/userspace/libmxe
PROV=$TREE/providers/mxe
UAPI=$TREE/kernel-headers/rdma

# uapi: prints the names of mxe's headers of the kernel.
uapi()
{
	(cd "$TOP/include/uapi/rdma" && ls)
}

# sources: prints the names of the sources. The tree's private headers take the
# place of rdmav.h and rdmav.c.
sources()
{
	list "$FROM" SRCS | grep -vx rdmav.c
}

remove()
{
	rm -rf "$PROV" || return
	uapi | sed "s|^|$UAPI/|" | xargs rm -f
	sed -i '\,^add_subdirectory(providers/mxe\(/man\)\?)$,d' "$TREE/CMakeLists.txt" &&
		uapi | sed 's|.*|\\,^  rdma/&$,d|' |
		sed -i -f - "$TREE/kernel-headers/CMakeLists.txt" &&
		sed -i '/^extern const struct verbs_device_ops verbs_provider_mxe;$/d' \
			"$TREE/libibverbs/verbs.h"
}

copy()
{
	mkdir -p "$PROV"/{man,include} &&
		(cd "$FROM" && { sources && list . HEADERS && ls -- *.h libmxe.map; } |
			xargs cp -p --parents -t "$PROV" &&
			cd man && list .. MAN3 MAN7 | xargs cp -p -t "$PROV/man") &&
		cp -p "$FROM/in-tree/rdmav.h" "$PROV/" &&
		cp -p "$TOP/include/masked_atomic.h" "$PROV/include/" &&
		cp -p "$TOP"/include/uapi/rdma/*.h "$UAPI/" &&
		substitute "$FROM/in-tree/CMakeLists.txt" '' \
			SRCS "$(sources)" HEADERS "$(list "$FROM" HEADERS)" \
			SYMVER "$(sed -n 's/^MXE_\(.*\) {$/\1/p' "$FROM/libmxe.map" | tail -n 1)" \
			>"$PROV/CMakeLists.txt" &&
		substitute "$FROM/in-tree/man/CMakeLists.txt" '' \
			PAGES "$(list "$FROM" MAN3 MAN7)" \
			ALIASES "$(list "$FROM" MAN3_ALIASES | tr : ' ')" \
			>"$PROV/man/CMakeLists.txt"
}

hook()
{
	insert "$TREE/CMakeLists.txt" after 'add_subdirectory(providers/mthca)' \
		'add_subdirectory(providers/mxe)
add_subdirectory(providers/mxe/man)' &&
		insert "$TREE/kernel-headers/CMakeLists.txt" after \
			'  rdma/mlx5_user_ioctl_verbs.h' "$(uapi | sed 's,^,  rdma/,')" &&
		insert "$TREE/libibverbs/verbs.h" after \
			'extern const struct verbs_device_ops verbs_provider_mthca;' \
			'extern const struct verbs_device_ops verbs_provider_mxe;'
}
