/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Replaces the tap.h of the fakes of tests/unit in a fuzz target: a check that
 * fails is a finding. A target includes this before all other headers.
 */
#ifndef FUZZ_TAP_H
#define FUZZ_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_size.h"

#define TAP_H
#define ok(cond, ...) fuzz_check(cond, __FILE__, __LINE__, "" __VA_ARGS__)
#define bail_out(...) fuzz_check(false, __FILE__, __LINE__, "" __VA_ARGS__)

/* Checks a condition that must hold for every input. */
#define CHECK(cond) fuzz_check(cond, __FILE__, __LINE__, "%s", #cond)

#define fuzz_check(cond, file, line, ...) do {				\
	if (!(cond)) {							\
		printf("%s:%d: ", file, line);				\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		fflush(stdout);						\
		abort();						\
	}								\
} while (0)

/**
 * fuzz_fprintf() - Replace fprintf() in the library and print nothing.
 * @to: ignored
 * @fmt: printf() format
 *
 * Return: the length of the formatted text, as of vsnprintf().
 */
__attribute__((format(printf, 2, 3)))
static inline int fuzz_fprintf(FILE *to, const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	(void)to;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return n;
}

#ifdef FUZZ_QUIET
#define fprintf fuzz_fprintf
#endif

#endif /* FUZZ_TAP_H */
