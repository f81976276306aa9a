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

/**
 * locks_clients_start() - Start clients.
 * @net: network namespace of the connections
 * @job: their job
 * @num: number of clients
 *
 * Context: Process context. May sleep.
 * Return: 0, or a negative errno, after which some clients may have started.
 */
int locks_clients_start(struct net *net, const struct locks_client_job *job,
			unsigned int num);

/**
 * locks_clients_stop() - Stop all clients and free them.
 *
 * Context: Process context. Sleeps until all clients have stopped.
 */
void locks_clients_stop(void);

/**
 * locks_clients_show() - Print one line for each client.
 * @m: output
 *
 * Context: Process context. May sleep.
 */
void locks_clients_show(struct seq_file *m);

/**
 * locks_clients_show_history() - Print "LOCK GRANT OWNER" for each time that a
 * client has held a lock.
 * @m: output
 *
 * Context: Process context. May sleep.
 */
void locks_clients_show_history(struct seq_file *m);

#endif /* MASKED_LOCKS_CLIENT_H */
