/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Several processes that measure at once. */
#ifndef MULTI_H
#define MULTI_H

#include <stdbool.h>

struct perf_options;
struct perf_result;

/**
 * multi_start() - Fork the other processes if the options ask for several.
 * @o: options
 *
 * Returns in every process.  Each of them calls multi_finish() at its end, also
 * after a failure.
 *
 * Return: 0, or STATUS_FAILED after a message to stderr.
 */
int multi_start(const struct perf_options *o);

/**
 * multi_finish() - End the common work of the processes.
 * @status: exit status of this process
 *
 * The first process waits for the others.
 *
 * Return: the exit status of this process; in the first one, if that is 0, the
 * status of one that failed.
 */
int multi_finish(int status);

/**
 * multi_prints() - Check if this process prints the results.
 *
 * Return: true in the first process, and in one that is alone.
 */
bool multi_prints(void);

/**
 * multi_measures() - Check if this process measures operations.
 *
 * Return: false in those processes of PERF_BESIDE that only have WRITEs.
 */
bool multi_measures(void);

/**
 * multi_ready() - Tell the other processes that this one can measure.
 *
 * Called once for each operation.
 */
void multi_ready(void);

/**
 * multi_is_gathering() - Check if another process is not ready.
 *
 * Return: true if one is not ready, and no process has failed.
 */
bool multi_is_gathering(void);

/**
 * multi_measured() - Tell the other processes that this one has measured.
 *
 * Called once for each operation.
 */
void multi_measured(void);

/**
 * multi_is_measuring() - Check if another process still measures.
 *
 * Return: true if one measures, and no process has failed.
 */
bool multi_is_measuring(void);

/**
 * multi_gather() - Merge the results of all processes in the first one.
 * @o: options
 * @result: result of this process; in the first one, that of all afterwards
 *
 * Waits for all processes.
 *
 * Return: 0, or STATUS_FAILED if a process has failed.
 */
int multi_gather(const struct perf_options *o, struct perf_result *result);

#endif /* MULTI_H */
