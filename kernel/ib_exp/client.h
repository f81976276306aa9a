/* SPDX-License-Identifier: GPL-2.0 */
/*
 * client.c is the ib_core client.  ib_core tells it when devices are added,
 * removed and renamed.
 */
#ifndef IB_EXP_CLIENT_H
#define IB_EXP_CLIENT_H

#include <rdma/ib_verbs.h>

extern struct ib_client ib_exp_client;

#endif /* IB_EXP_CLIENT_H */
