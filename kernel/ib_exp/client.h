/* SPDX-License-Identifier: GPL-2.0 */
/* The client of ib_core. */
#ifndef IB_EXP_CLIENT_H
#define IB_EXP_CLIENT_H

#include <rdma/ib_verbs.h>

extern struct ib_client ib_exp_client;

#endif /* IB_EXP_CLIENT_H */
