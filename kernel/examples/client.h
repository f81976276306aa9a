/* SPDX-License-Identifier: GPL-2.0 */
/* The clients of this kernel, each of which is a thread (client.c). */
#ifndef MASKED_LOCKS_CLIENT_H
#define MASKED_LOCKS_CLIENT_H

#include <linux/socket.h>
#include <linux/types.h>

struct net;
struct seq_file;

struct locks_client_job {
	struct sockaddr_storage addr;	/* of the server */
	unsigned int rounds;		/* each takes one lock */
};

int locks_clients_start(struct net *net, const struct locks_client_job *job,
			unsigned int num);
void locks_clients_stop(void);
void locks_clients_show(struct seq_file *m);
void locks_clients_show_history(struct seq_file *m);

#endif /* MASKED_LOCKS_CLIENT_H */
