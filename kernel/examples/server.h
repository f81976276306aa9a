/* SPDX-License-Identifier: GPL-2.0 */
/* The server, which offers the table to clients on all hosts (server.c). */
#ifndef MASKED_LOCKS_SERVER_H
#define MASKED_LOCKS_SERVER_H

struct net;
struct seq_file;
struct sockaddr;

int locks_server_init(void);
void locks_server_exit(void);
int locks_server_listen(struct net *net, struct sockaddr *addr);
void locks_server_stop(void);
void locks_server_show(struct seq_file *m);
void locks_server_show_table(struct seq_file *m);

#endif /* MASKED_LOCKS_SERVER_H */
