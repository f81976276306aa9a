/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A header that defines a variable, as was common when -fcommon was default. */
struct peer;

#ifdef __cplusplus
static int messages;
#else
int messages;
#endif

/**
 * send_to() - Send to a peer by XRC.
 * @qp: sending queue pair
 * @peer: the peer
 *
 * Return: a value of the members that OFED had.
 */
uint32_t send_to(struct ibv_qp *qp, struct peer *peer);
/**
 * make() - Create a queue pair.
 * @pd: protection domain
 * @srq: shared receive queue
 * @peer: the peer
 *
 * Return: the queue pair.
 */
struct ibv_qp *make(struct ibv_pd *pd, struct ibv_srq *srq, struct peer *peer);
/**
 * event() - Get an event.
 * @context: the device
 *
 * Return: a value of the members that OFED had.
 */
int event(struct ibv_context *context);
