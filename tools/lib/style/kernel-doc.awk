# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Lists the functions that C headers declare without kernel-doc, one a line:
# "FILE:LINE NAME". A name that is declared twice in a file, such as that of a
# function and of its stub in an #else branch, needs kernel-doc once. Inline
# functions need none, because their bodies are there.

function new_file()
{
	report()
	depth = parentheses = 0
	statement = doc = ""
	in_comment = in_macro = doc_begins = 0
}

function report(	i)
{
	for (i = 1; i <= count; i++)
		if (!(names[i] in documented))
			print places[i] " " names[i]
	count = 0
	delete documented
	delete seen
}

# A declaration up to its semicolon, or a definition up to its brace.
function declaration(text, line,	name)
{
	gsub(/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)/, "", text)
	gsub(/__(printf|scanf|acquires|releases|must_hold|aligned|section) *\([^()]*\)/, "", text)
	sub(/^[ \t]+/, "", text)
	while (sub(/^[A-Z_0-9]+ *\([^()]*\)[ \t]*/, "", text))
		;	# TAP_PRINTF(1, 2), or a declaration that is a macro
	if (text ~ /^(typedef|static_assert|_Static_assert)/ || text ~ /^[A-Z_0-9]+ *\(/)
		return
	# Another name of a function of a library.
	if (text ~ /^extern __typeof__/)
		return
	# Neither a variable that is initialized nor a pointer to a function.
	if (!match(text, /[A-Za-z_][A-Za-z_0-9]* *\([^*]/) ||
	    index(substr(text, 1, RSTART), "="))
		return
	name = substr(text, RSTART, RLENGTH)
	sub(/ *\(.*/, "", name)
	if (text ~ /(^|[ \t])static inline[ \t]/)
		documented[name]
	if (doc == name)
		documented[name]
	if (!(name in seen)) {
		seen[name]
		names[++count] = name
		places[count] = FILENAME ":" line
	}
	doc = ""
}

function code(char)
{
	if (depth == 0 && char ~ /[()]/)
		parentheses += char == "(" ? 1 : -1
	# The arguments of TRACE_EVENT() contain statements.
	if (parentheses > 0) {
		statement = statement char
	} else if (depth == 0 && char == ";") {
		declaration(statement, first)
		statement = ""
	} else if (char == "{") {
		if (depth == 0 && statement ~ /^[ \t]*extern ""[ \t]*$/) {
			statement = ""
			return
		}
		if (depth++ == 0)
			declaration(statement, first)
	} else if (char == "}") {
		if (depth > 0 && --depth == 0)
			statement = ""
	} else if (depth == 0) {
		if (statement !~ /[^ \t]/ && char !~ /[ \t]/)
			first = FNR
		statement = statement char
	}
}

FNR == 1 {
	new_file()
}

in_macro || (!in_comment && /^[ \t]*#/) {
	in_macro = /\\$/
	next
}

# The name that kernel-doc is for is on the line after the opening one.
doc_begins {
	doc = $0
	sub(/^ \* /, "", doc)
	sub(/[ (:].*/, "", doc)
	doc_begins = 0
}

!in_comment && /^\/\*\*$/ {
	doc_begins = 1
}

{
	line = $0
	while (line != "") {
		if (in_comment) {
			end = index(line, "*/")
			if (!end)
				next
			line = substr(line, end + 2)
			in_comment = 0
		} else if (match(line, /^"([^"\\]|\\.)*"/)) {
			code("\"")
			code("\"")
			line = substr(line, RLENGTH + 1)
		} else if (match(line, /^'([^'\\]|\\.)*'/)) {
			line = substr(line, RLENGTH + 1)
		} else if (line ~ /^\/\*/) {
			in_comment = 1
			line = substr(line, 3)
		} else if (line ~ /^\/\//) {
			line = ""
		} else {
			code(substr(line, 1, 1))
			line = substr(line, 2)
		}
	}
	code(" ")
}

END {
	report()
}
