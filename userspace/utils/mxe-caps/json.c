// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Prints pieces of JSON. */
#include "json.h"

/**
 * json_string() - Print a string with its quotes.
 * @text: each byte that is not ASCII is printed as one character of Latin-1,
 *	so that the output is valid JSON whatever the kernel reports
 * @out: where to
 */
void json_string(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/**
 * json_key() - Print a key and the colon.
 * @key: ASCII
 * @out: where to
 */
void json_key(const char *key, FILE *out)
{
	json_string(key, out);
	fputs(": ", out);
}

/**
 * json_text() - Print a key with a string.
 * @key: ASCII
 * @text: printed as null if it is empty
 * @out: where to
 */
void json_text(const char *key, const char *text, FILE *out)
{
	json_key(key, out);
	if (*text)
		json_string(text, out);
	else
		fputs("null", out);
}
