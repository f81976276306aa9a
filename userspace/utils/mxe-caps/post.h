/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The calls of the self-test that differ between the backends. */
#ifndef POST_H
#define POST_H

#include <stdint.h>
#include <infiniband/verbs.h>

struct st_case;
struct st_loop;
struct st_operands;
struct st_pair;

struct st_completion {
	enum ibv_wc_status status;
	int opcode;		/* of enum ibv_wc_opcode or ibv_exp_wc_opcode */
	uint32_t byte_len;
	uint32_t vendor_err;
};

struct ibv_qp *st_qp_create(const struct st_loop *loop, struct ibv_cq *cq,
			    const struct st_case *c, const char **call);
int st_post(struct st_pair *pair, const struct st_case *c, unsigned int set,
	    const struct st_operands *o, const char **call);
int st_poll(struct st_pair *pair, struct st_completion *wc);

#endif /* POST_H */
