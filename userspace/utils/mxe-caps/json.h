/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints pieces of JSON. */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

void json_string(const char *text, FILE *out);
void json_key(const char *key, FILE *out);
void json_text(const char *key, const char *text, FILE *out);

#endif /* JSON_H */
