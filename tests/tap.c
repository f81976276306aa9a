// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The counts and the output of the Test Anything Protocol. */
#include <pthread.h>
#include <stdarg.h>
#include "tap.h"

static struct {
	pthread_mutex_t lock;
	unsigned int planned;
	unsigned int run;
	unsigned int failed;
	unsigned int skipped;
} tap = { .lock = PTHREAD_MUTEX_INITIALIZER };

void plan(unsigned int checks)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	tap.planned = checks;
	if (checks)
		printf("1..%u\n", checks);
}

void diag(const char *fmt, ...)
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

/* Prints the result of one check and counts it. Returns passed. */
__attribute__((format(printf, 4, 0)))
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

bool tap_ok(bool passed, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_report(passed, file, line, fmt, ap);
	va_end(ap);
	return passed;
}

bool tap_is_int(int64_t got, int64_t want, const char *file, int line,
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

bool tap_is_u64(uint64_t got, uint64_t want, const char *file, int line,
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

bool tap_is_str(const char *got, const char *want, const char *file,
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

/* Prints bytes in hexadecimal as one line of diagnostics. */
static void tap_dump(const char *what, const void *data, size_t len)
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

bool tap_is_mem(const void *got, const void *want, size_t len,
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

void skip(unsigned int count, const char *fmt, ...)
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

void skip_all(const char *fmt, ...)
{
	va_list ap;

	printf("1..0 # SKIP ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(EXIT_SKIP);
}

void bail_out(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out!  ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(EXIT_FAILURE);
}

int done_testing(void)
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
