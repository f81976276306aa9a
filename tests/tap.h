/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Test Anything Protocol, version 13, for test programs in C.
 *
 *	int main(void)
 *	{
 *		plan(2);			// optional
 *		ok(fd >= 0, "open %s", path);
 *		is_u64(got, want, "sum");
 *		return done_testing();
 *	}
 *
 * Every check prints one line and returns true if it passed. A failed check
 * also prints its source line and the values. done_testing() returns the exit
 * status of the program: 0 if all checks passed, 1 if a check failed or the
 * number of checks is not the planned one, and 77 (EXIT_SKIP) if all checks
 * were skipped. A program has to consist of one translation unit. Any thread
 * may call a check.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_size.h"

#define EXIT_SKIP 77

static struct {
	pthread_mutex_t lock;
	unsigned int planned;
	unsigned int run;
	unsigned int failed;
	unsigned int skipped;
} tap = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define TAP_UNUSED __attribute__((unused))
#define TAP_PRINTF(fmt, args) __attribute__((unused, format(printf, fmt, args)))

/**
 * plan() - Begins the protocol and announces the number of checks.
 * @checks: number of checks, or 0 to have done_testing() print the number that
 *	ran
 */
TAP_UNUSED static void plan(unsigned int checks)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	tap.planned = checks;
	if (checks)
		printf("1..%u\n", checks);
}

TAP_PRINTF(1, 2)
/**
 * diag() - Prints one line of diagnostics.
 * @fmt: printf() format, without a newline
 */
static void diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	flockfile(stdout);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	funlockfile(stdout);
	va_end(ap);
}

__attribute__((format(printf, 4, 0)))
/**
 * tap_report() - Prints the result of one check and counts it.
 * @passed: result of the check
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 * @ap: arguments of @fmt
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: @passed.
 */
static bool tap_report(bool passed, const char *file, int line,
		       const char *fmt, va_list ap)
{
	pthread_mutex_lock(&tap.lock);
	tap.run++;
	if (!passed)
		tap.failed++;
	printf("%sok %u - ", passed ? "" : "not ", tap.run);
	vprintf(fmt, ap);
	printf("\n");
	if (!passed)
		printf("#   at %s:%d\n", file, line);
	fflush(stdout);
	pthread_mutex_unlock(&tap.lock);
	return passed;
}

TAP_PRINTF(4, 5)
/**
 * tap_ok() - Implements ok(), pass() and fail().
 * @passed: result of the check
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: @passed.
 */
static bool tap_ok(bool passed, const char *file, int line,
		   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_report(passed, file, line, fmt, ap);
	va_end(ap);
	return passed;
}

TAP_PRINTF(5, 6)
/**
 * tap_is_int() - Implements is_int().
 * @got: actual value
 * @want: expected value
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 *
 * Prints both values in decimal if they differ.
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: true if the values are equal.
 */
static bool tap_is_int(int64_t got, int64_t want, const char *file, int line,
		       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_report(got == want, file, line, fmt, ap);
	va_end(ap);
	if (got != want)
		diag("  got %" PRId64 ", expected %" PRId64, got, want);
	return got == want;
}

TAP_PRINTF(5, 6)
/**
 * tap_is_u64() - Implements is_u64().
 * @got: actual value
 * @want: expected value
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 *
 * Prints both values in hexadecimal if they differ.
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: true if the values are equal.
 */
static bool tap_is_u64(uint64_t got, uint64_t want, const char *file, int line,
		       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_report(got == want, file, line, fmt, ap);
	va_end(ap);
	if (got != want)
		diag("  got 0x%016" PRIx64 ", expected 0x%016" PRIx64, got,
		     want);
	return got == want;
}

TAP_PRINTF(5, 6)
/**
 * tap_is_str() - Implements is_str().
 * @got: actual string, or NULL
 * @want: expected string, or NULL
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 *
 * Prints both strings if they differ.
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: true if the strings are equal, or both are NULL.
 */
static bool tap_is_str(const char *got, const char *want, const char *file,
		       int line, const char *fmt, ...)
{
	bool same = got && want ? !strcmp(got, want) : got == want;
	va_list ap;

	va_start(ap, fmt);
	tap_report(same, file, line, fmt, ap);
	va_end(ap);
	if (!same)
		diag("  got \"%s\", expected \"%s\"", got ? got : "(null)",
		     want ? want : "(null)");
	return same;
}

/**
 * tap_dump() - Prints bytes in hexadecimal as one line of diagnostics.
 * @what: text before the bytes
 * @data: bytes to print
 * @len: number of bytes
 */
TAP_UNUSED static void tap_dump(const char *what, const void *data, size_t len)
{
	const unsigned char *byte = data;
	size_t i;

	flockfile(stdout);
	printf("#   %s", what);
	for (i = 0; i < len; i++)
		printf(" %02x", byte[i]);
	printf("\n");
	funlockfile(stdout);
}

TAP_PRINTF(6, 7)
/**
 * tap_is_mem() - Implements is_mem().
 * @got: actual bytes
 * @want: expected bytes
 * @len: number of bytes
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 *
 * Prints both if they differ.
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: true if the bytes are equal.
 */
static bool tap_is_mem(const void *got, const void *want, size_t len,
		       const char *file, int line, const char *fmt, ...)
{
	bool same = !memcmp(got, want, len);
	va_list ap;

	va_start(ap, fmt);
	tap_report(same, file, line, fmt, ap);
	va_end(ap);
	if (!same) {
		tap_dump("got     ", got, len);
		tap_dump("expected", want, len);
	}
	return same;
}

/*
 * The last arguments are a printf() format and its arguments: the name of the
 * check. is_int() compares signed numbers (errno, counts). is_u64() prints
 * hexadecimal.
 */
#define ok(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)
#define pass(...) tap_ok(true, __FILE__, __LINE__, __VA_ARGS__)
#define fail(...) tap_ok(false, __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) \
	tap_is_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_u64(got, want, ...) \
	tap_is_u64((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) \
	tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_mem(got, want, len, ...) \
	tap_is_mem((got), (want), (len), __FILE__, __LINE__, __VA_ARGS__)

TAP_PRINTF(2, 3)
/**
 * skip() - Counts checks that cannot run here as skipped.
 * @count: number of checks
 * @fmt: printf() format of the reason
 *
 * Context: Any thread. Takes and releases tap.lock.
 */
static void skip(unsigned int count, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&tap.lock);
	while (count--) {
		tap.run++;
		tap.skipped++;
		printf("ok %u # SKIP ", tap.run);
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		printf("\n");
	}
	fflush(stdout);
	pthread_mutex_unlock(&tap.lock);
}

TAP_PRINTF(1, 2) __attribute__((noreturn))
/**
 * skip_all() - Ends a program that cannot run here, with EXIT_SKIP.
 * @fmt: printf() format of the reason
 *
 * Call it before plan() and before the first check.
 */
static void skip_all(const char *fmt, ...)
{
	va_list ap;

	printf("1..0 # SKIP ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(EXIT_SKIP);
}

TAP_PRINTF(1, 2) __attribute__((noreturn))
/**
 * bail_out() - Ends a program that cannot continue, with EXIT_FAILURE.
 * @fmt: printf() format of the reason
 */
static void bail_out(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out!  ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(EXIT_FAILURE);
}

/**
 * done_testing() - Ends the protocol.
 *
 * Return: the exit status for main(): EXIT_SUCCESS, EXIT_FAILURE if a check
 *	failed, none ran or their number is not the planned one, or EXIT_SKIP if
 *	all checks were skipped.
 */
TAP_UNUSED static int done_testing(void)
{
	if (!tap.planned)
		printf("1..%u\n", tap.run);
	else if (tap.planned != tap.run)
		diag("planned %u checks but ran %u", tap.planned, tap.run);
	if (tap.failed)
		diag("%u of %u checks failed", tap.failed, tap.run);
	if (tap.failed || !tap.run || (tap.planned && tap.planned != tap.run))
		return EXIT_FAILURE;
	return tap.skipped == tap.run ? EXIT_SKIP : EXIT_SUCCESS;
}

#endif /* TAP_H */
