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
 * were skipped. All files of a program share the counts, and any thread may
 * call a check.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_size.h"

#define EXIT_SKIP 77

#define TAP_UNUSED __attribute__((unused))
#define TAP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/**
 * plan() - Begin the protocol and announce the number of checks.
 * @checks: number of checks, or 0 to have done_testing() print the number that
 *	ran
 */
void plan(unsigned int checks);

/**
 * diag() - Print one line of diagnostics.
 * @fmt: printf() format, without a newline
 */
void diag(const char *fmt, ...)
	TAP_PRINTF(1, 2);

/**
 * tap_ok() - Implement ok(), pass() and fail().
 * @passed: result of the check
 * @file: source file of the check
 * @line: source line of the check
 * @fmt: printf() format of the name of the check
 *
 * Context: Any thread. Takes and releases tap.lock.
 * Return: @passed.
 */
bool tap_ok(bool passed, const char *file, int line, const char *fmt, ...)
	TAP_PRINTF(4, 5);

/**
 * tap_is_int() - Implement is_int().
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
bool tap_is_int(int64_t got, int64_t want, const char *file, int line,
		const char *fmt, ...)
	TAP_PRINTF(5, 6);

/**
 * tap_is_u64() - Implement is_u64().
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
bool tap_is_u64(uint64_t got, uint64_t want, const char *file, int line,
		const char *fmt, ...)
	TAP_PRINTF(5, 6);

/**
 * tap_is_str() - Implement is_str().
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
bool tap_is_str(const char *got, const char *want, const char *file,
		int line, const char *fmt, ...)
	TAP_PRINTF(5, 6);

/**
 * tap_is_mem() - Implement is_mem().
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
bool tap_is_mem(const void *got, const void *want, size_t len,
		const char *file, int line, const char *fmt, ...)
	TAP_PRINTF(6, 7);

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

/**
 * skip() - Count checks that cannot run here as skipped.
 * @count: number of checks
 * @fmt: printf() format of the reason
 *
 * Context: Any thread. Takes and releases tap.lock.
 */
void skip(unsigned int count, const char *fmt, ...)
	TAP_PRINTF(2, 3);

/**
 * skip_all() - End a program that cannot run here, with EXIT_SKIP.
 * @fmt: printf() format of the reason
 *
 * Call it before plan() and before the first check.
 */
void skip_all(const char *fmt, ...)
	TAP_PRINTF(1, 2) __attribute__((noreturn));

/**
 * bail_out() - End a program that cannot continue, with EXIT_FAILURE.
 * @fmt: printf() format of the reason
 */
void bail_out(const char *fmt, ...)
	TAP_PRINTF(1, 2) __attribute__((noreturn));

/**
 * done_testing() - End the protocol.
 *
 * Return: the exit status for main(): EXIT_SUCCESS, EXIT_FAILURE if a check
 *	failed, none ran or their number is not the planned one, or EXIT_SKIP if
 *	all checks were skipped.
 */
int done_testing(void);

#endif /* TAP_H */
