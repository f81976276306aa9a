/* SPDX-License-Identifier: GPL-2.0 */
/*
 * client.c is a client of ib_core, and learns of devices that come, go and are
 * renamed.
 */
#ifndef IB_EXP_CLIENT_H
#define IB_EXP_CLIENT_H

#include <rdma/ib_verbs.h>

extern struct ib_client ib_exp_client;

#endif /* IB_EXP_CLIENT_H */
