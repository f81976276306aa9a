/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A case is one line of the report of the self-test: a backend, an operation,
 * an operand size and a kind of queue pair.  It runs many operand sets on a
 * pair of queue pairs of its own, so an error never affects the next case.
 */
#ifndef CASE_H
#define CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "operands.h"

#define ST_TEXT 256

enum st_backend {
	ST_VERBS,		/* ibv_post_send() */
	ST_MXEDV,		/* the builders mxedv_wr_*() */
	ST_EXP,			/* ibv_exp_post_send() */
};

/* The first wrong result of a case. */
struct st_mismatch {
	const char *what;	/* NULL: nothing is wrong */
	int set;		/* operand set; -1: set-up failed */
	struct st_operands operands;
	char expected[ST_TEXT];
	char got[ST_TEXT];
	const char *note;	/* NULL: none */
};

enum st_result {
	ST_NOT_OFFERED,
	ST_PASS,
	ST_FAIL,
};

struct st_case {
	enum st_backend backend;
	char backend_name[16];
	enum st_op op;		/* ST_NUM_OPS: every operation of the backend */
	uint32_t size;		/* bytes; 0: every size */
	bool any_qp;		/* the next two are not valid */
	bool be_qp;		/* queue pair with big-endian replies */
	bool be_reply;		/* byte order in which the result is expected */

	enum st_result result;
	char reason[ST_TEXT];	/* of ST_NOT_OFFERED */
	unsigned int sets;	/* that were executed */
	unsigned int wrong;
	unsigned int late;	/* right only ST_LATE_MS after the completion */
	struct st_mismatch first;
};

#endif /* CASE_H */
