/* SPDX-License-Identifier: GPL-2.0 */
/* The server, which offers the table to clients on all hosts (server.c). */
#ifndef MASKED_LOCKS_SERVER_H
#define MASKED_LOCKS_SERVER_H

struct net;
struct seq_file;
struct sockaddr;

/**
 * locks_server_init() - Initialise the server.
 *
 * Context: Process context. May sleep.
 * Return: 0 or -ENOMEM.
 */
int locks_server_init(void);

/**
 * locks_server_exit() - Stop the server, if necessary, and free its resources.
 *
 * Context: Process context. May sleep.
 */
void locks_server_exit(void);

/**
 * locks_server_listen() - Clear the table and listen on an address.
 * @net: network namespace of @addr
 * @addr: IP address and port
 *
 * Context: Process context. May sleep.
 * Return: 0, -EBUSY if it listens already or still has connections, or an error
 * of the RDMA CM.
 */
int locks_server_listen(struct net *net, struct sockaddr *addr);

/**
 * locks_server_stop() - Stop listening, and disconnect all clients.
 *
 * Context: Process context. Sleeps until all connections are freed.
 */
void locks_server_stop(void);

/**
 * locks_server_show() - Print the statistics.
 * @m: output
 *
 * Context: Process context. May sleep.
 */
void locks_server_show(struct seq_file *m);

/**
 * locks_server_show_table() - Print the words of the table.
 * @m: output
 *
 * Context: Any.
 */
void locks_server_show_table(struct seq_file *m);

#endif /* MASKED_LOCKS_SERVER_H */
