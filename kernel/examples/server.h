/* SPDX-License-Identifier: GPL-2.0 */
/* server.c offers the table to the clients of all hosts. */
#ifndef MASKED_LOCKS_SERVER_H
#define MASKED_LOCKS_SERVER_H

struct net;
struct seq_file;
struct sockaddr;

int locks_server_init(void);
void locks_server_exit(void);

/*
 * Listen on the address, in that network namespace, with an empty table.
 * -EBUSY: on another one already.
 */
int locks_server_listen(struct net *net, struct sockaddr *addr);

/* Disconnect all clients and wait until nothing of theirs is left. */
void locks_server_stop(void);

void locks_server_show(struct seq_file *m);
void locks_server_show_table(struct seq_file *m);

#endif /* MASKED_LOCKS_SERVER_H */
