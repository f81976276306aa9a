/* SPDX-License-Identifier: GPL-2.0 */
/* client.c runs the clients of this kernel, each in a thread. */
#ifndef MASKED_LOCKS_CLIENT_H
#define MASKED_LOCKS_CLIENT_H

#include <linux/socket.h>
#include <linux/types.h>

struct net;
struct seq_file;

struct locks_client_job {
	struct sockaddr_storage addr;	/* of the server */
	unsigned int rounds;		/* of taking a lock */
};

int locks_clients_start(struct net *net, const struct locks_client_job *job,
			unsigned int num);

/* End those that still run after their round, and forget all of them. */
void locks_clients_stop(void);

/* A line for each client. */
void locks_clients_show(struct seq_file *m);

/* A line for each time that a lock was held: lock, grant, owner. */
void locks_clients_show_history(struct seq_file *m);

#endif /* MASKED_LOCKS_CLIENT_H */
