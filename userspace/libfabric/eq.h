/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Event queues. */
#ifndef MXEFI_EQ_H
#define MXEFI_EQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fi_eq.h>

#include "wire.h"

struct mxefi_event;
struct mxefi_fabric;

/* A request for a connection, until an endpoint accepts or rejects it. */
struct mxefi_connreq {
	struct fid handle;
	struct mxefi_hello hello;
};

struct mxefi_eq {
	struct fid_eq fid;
	struct mxefi_fabric *fabric;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int event_fd;		/* readable if there are events */
	unsigned int users;
	struct mxefi_event *events, **tail;
	struct mxefi_event *last_error;	/* whose err_data are in use */
};

int mxefi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		  struct fid_eq **eq, void *context);

struct mxefi_event *mxefi_eq_alloc(void);
int mxefi_eq_push_request(struct mxefi_eq *eq, struct fid *fid,
			  struct fi_info *info, const void *data, size_t len);
void mxefi_eq_push(struct mxefi_eq *eq, struct mxefi_event *event,
		   uint32_t type, struct fid *fid, const void *data,
		   size_t len);
void mxefi_eq_push_err(struct mxefi_eq *eq, struct mxefi_event *event,
		       struct fid *fid, int err, const void *data, size_t len);
void mxefi_eq_hold(struct mxefi_eq *eq);
void mxefi_eq_forget(struct mxefi_eq *eq, const struct fid *fid);
bool mxefi_eq_empty(struct mxefi_eq *eq);

#endif /* MXEFI_EQ_H */
