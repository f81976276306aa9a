# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by tools/into-tree: the modules in the kernel source tree TREE.

I=$TREE/drivers/infiniband
MXE=$I/sw/mxe
EXP=$I/ulp/ib_exp
LOCKS=$I/ulp/masked_locks

remove()
{
	rm -rf "$MXE" "$EXP" "$LOCKS" "$TREE/include/rdma/ib_exp.h" || return
	(cd "$TOP/include/uapi/rdma" && ls) | sed "s|^|$TREE/include/uapi/rdma/|" | xargs rm -f
	sed -i -E '\,^source "drivers/infiniband/(sw/mxe|ulp/ib_exp|ulp/masked_locks)/Kconfig"$,d' \
		"$I/Kconfig" &&
		sed -i '/^obj-$(CONFIG_INFINIBAND_MXE)/d' "$I/sw/Makefile" &&
		sed -i -E '/^obj-\$\(CONFIG_INFINIBAND_(EXP|MASKED_LOCKS)\)/d' "$I/ulp/Makefile"
}

# sources DIRECTORY TO: copies the files that are not build products.
sources()
{
	mkdir -p "$2" &&
		(cd "$1" && find . -type f \( -name '*.[ch]' ! -name '*.mod.c' \
			-o -name Kbuild -o -name Kconfig \) -exec cp -p --parents -t "$2" {} +)
}

copy()
{
	sources "$TOP/kernel/mxe" "$MXE" &&
		cp -p "$TOP"/kernel/{Kbuild.include,compat.h,probe.sh} "$MXE/" &&
		mkdir "$MXE/include" && cp -p "$TOP/include/masked_atomic.h" "$MXE/include/" &&
		sources "$TOP/kernel/ib_exp" "$EXP" &&
		sources "$TOP/kernel/examples" "$LOCKS" &&
		sources "$TOP/tests/kunit" "$MXE/kunit" &&
		cp -p "$TOP"/tests/{bth.h,kunit/suites.mk} "$MXE/kunit/" &&
		mkdir "$EXP/kunit" &&
		mv "$MXE"/kunit/ib_exp_* "$EXP/kunit/" &&
		cp -p "$TOP"/tests/kunit/{common.h,suites.mk} "$EXP/kunit/" &&
		cp -p "$TOP/include/rdma/ib_exp.h" "$TREE/include/rdma/" &&
		cp -p "$TOP"/include/uapi/rdma/*.h "$TREE/include/uapi/rdma/"
}

# ulp/ is linked before sw/, so a built-in ib_exp is ready when mxe registers
# its devices.
hook()
{
	insert "$I/Kconfig" after 'source "drivers/infiniband/sw/siw/Kconfig"' \
		'source "drivers/infiniband/sw/mxe/Kconfig"' &&
		insert "$I/Kconfig" after 'source "drivers/infiniband/ulp/rtrs/Kconfig"' \
			'source "drivers/infiniband/ulp/masked_locks/Kconfig"' &&
		insert "$I/Kconfig" after 'source "drivers/infiniband/ulp/rtrs/Kconfig"' \
			'source "drivers/infiniband/ulp/ib_exp/Kconfig"' &&
		echo 'obj-$(CONFIG_INFINIBAND_MXE)		+= mxe/' >>"$I/sw/Makefile" &&
		cat >>"$I/ulp/Makefile" <<-'EOF'
			obj-$(CONFIG_INFINIBAND_EXP)		+= ib_exp/
			obj-$(CONFIG_INFINIBAND_MASKED_LOCKS)	+= masked_locks/
		EOF
}
