# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Prints layout.table as a header for C and C++. With want=offsets, it consists
# of SIZE(), AT() and FIELD() for the structures. With want=values, it consists
# of VALUE() for the enumerators, and of PLAIN() for those of unnamed
# enumerations. The file that includes the header defines these macros.

BEGIN { FS = "\t" }
/^struct/ && want == "offsets" { printf "SIZE(%s, %s);\n", $1, $2 }
/^(struct|enum)/ {
	wanted = want == (/^struct/ ? "offsets" : "values")
	owner = $1
	sub(/^enum */, "", owner)
}
!/^\t/ || !wanted { next }
want == "offsets" && $4 { printf "FIELD(%s, %s, %s, %s);\n", owner, $3, $2, $4 }
want == "offsets" && !$4 { printf "AT(%s, %s, %s);\n", owner, $3, $2 }
want == "values" && owner { printf "VALUE(%s, %s, %s)\n", owner, $3, $2 }
want == "values" && !owner { printf "PLAIN(%s, %s)\n", $3, $2 }
