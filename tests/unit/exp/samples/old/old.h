/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A header that defines a variable, as was common when -fcommon was default. */
struct peer;

#ifdef __cplusplus
static int messages;
#else
int messages;
#endif

uint32_t send_to(struct ibv_qp *qp, struct peer *peer);
struct ibv_qp *make(struct ibv_pd *pd, struct ibv_srq *srq, struct peer *peer);
int event(struct ibv_context *context);
