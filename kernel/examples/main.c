// SPDX-License-Identifier: GPL-2.0
/*
 * masked_locks, an example of an upper layer protocol that uses masked atomics.
 * This file implements its debugfs files, which call client.c and server.c.
 *
 * A server offers a table of locks and counters, four counters to a word.
 * Clients in this kernel and on other hosts take locks and increment counters
 * without involving the CPU of the server. Each operation is one masked atomic
 * if the device executes it. Otherwise ib_exp emulates it by a loop of
 * compare-and-swaps. proto.h describes the protocol.
 *
 *	cd /sys/kernel/debug/masked_locks
 *	echo listen 10.77.0.2 7471 >server
 *	echo start 10.77.0.2 7471 4 1000 >client	(here or elsewhere)
 *	cat client
 *	cat table
 *
 * server	write: "listen ADDRESS PORT", "stop"; read: its statistics
 * table	read: the words of the server
 * client	write: "start ADDRESS PORT [CLIENTS [ROUNDS]]"; "stop", which
 *		also frees the clients; read: a line of statistics per client
 * history	read: a line LOCK GRANT OWNER for each time that a client of
 *		this kernel has held a lock
 *
 * Addresses are in the network namespace of the writer. Servers and clients
 * hold a reference to it.
 */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "client.h"
#include "server.h"

#define MAX_COMMAND	128
#define MAX_CLIENTS	64
#define MAX_ROUNDS	100000

static struct dentry *root;

/* ---- commands ---------------------------------------------------------- */

struct command {
	char *words[5];
	unsigned int num;
	char *text;
};

/* On success the caller frees cmd->text with kfree(). */
static int command_read(struct command *cmd, const char __user *buf, size_t len)
{
	char *rest, *word;

	if (len > MAX_COMMAND)
		return -EINVAL;
	cmd->num = 0;
	cmd->text = memdup_user_nul(buf, len);
	if (IS_ERR(cmd->text))
		return PTR_ERR(cmd->text);
	rest = strim(cmd->text);
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		if (cmd->num == ARRAY_SIZE(cmd->words)) {
			kfree(cmd->text);
			return -EINVAL;
		}
		cmd->words[cmd->num++] = word;
	}
	return 0;
}

static bool command_is(const struct command *cmd, const char *verb,
		       unsigned int min, unsigned int max)
{
	return cmd->num >= min && cmd->num <= max &&
	       !strcmp(cmd->words[0], verb);
}

/* Parses the address in word 1 and the port in word 2. */
static int command_addr(const struct command *cmd, struct net *net,
			struct sockaddr_storage *addr)
{
	return inet_pton_with_scope(net, AF_UNSPEC, cmd->words[1],
				    cmd->words[2], addr);
}

static int server_command(const struct command *cmd)
{
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_storage addr;
	int err;

	if (command_is(cmd, "stop", 1, 1)) {
		locks_server_stop();
		return 0;
	}
	if (!command_is(cmd, "listen", 3, 3))
		return -EINVAL;
	err = command_addr(cmd, net, &addr);
	if (err)
		return err;
	return locks_server_listen(net, (struct sockaddr *)&addr);
}

static int client_command(const struct command *cmd)
{
	struct net *net = current->nsproxy->net_ns;
	struct locks_client_job job = { .rounds = 100 };
	unsigned int num = 1;
	int err;

	if (command_is(cmd, "stop", 1, 1)) {
		locks_clients_stop();
		return 0;
	}
	if (!command_is(cmd, "start", 3, 5))
		return -EINVAL;
	err = command_addr(cmd, net, &job.addr);
	if (!err && cmd->num > 3)
		err = kstrtouint(cmd->words[3], 10, &num);
	if (!err && cmd->num > 4)
		err = kstrtouint(cmd->words[4], 10, &job.rounds);
	if (err)
		return err;
	if (!num || num > MAX_CLIENTS || !job.rounds ||
	    job.rounds > MAX_ROUNDS)
		return -ERANGE;
	return locks_clients_start(net, &job, num);
}

static ssize_t run_command(int (*run)(const struct command *cmd),
			   const char __user *buf, size_t len)
{
	struct command cmd;
	int err;

	err = command_read(&cmd, buf, len);
	if (err)
		return err;
	err = run(&cmd);
	kfree(cmd.text);
	return err ?: len;
}

/* ---- debugfs ----------------------------------------------------------- */

static ssize_t server_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	return run_command(server_command, buf, len);
}

static ssize_t client_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	return run_command(client_command, buf, len);
}

/* m->private is the function that prints the file. */
static int show(struct seq_file *m, void *unused)
{
	void (*show_it)(struct seq_file *m) = m->private;

	show_it(m);
	return 0;
}

static int show_open(struct inode *inode, struct file *file)
{
	return single_open(file, show, inode->i_private);
}

#define SHOW_FOPS							\
	.owner = THIS_MODULE,						\
	.open = show_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = single_release

static const struct file_operations server_fops = {
	SHOW_FOPS,
	.write = server_write,
};

static const struct file_operations client_fops = {
	SHOW_FOPS,
	.write = client_write,
};

static const struct file_operations show_fops = {
	SHOW_FOPS,
};

/* ---- the module -------------------------------------------------------- */

static int __init masked_locks_init(void)
{
	int err;

	err = locks_server_init();
	if (err)
		return err;
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("server", 0600, root, locks_server_show,
			    &server_fops);
	debugfs_create_file("table", 0400, root, locks_server_show_table,
			    &show_fops);
	debugfs_create_file("client", 0600, root, locks_clients_show,
			    &client_fops);
	debugfs_create_file("history", 0400, root, locks_clients_show_history,
			    &show_fops);
	return 0;
}

/*
 * Removes the files first, so that nothing can be started any more. Clients
 * stop before the server to which they may be connected.
 */
static void __exit masked_locks_exit(void)
{
	debugfs_remove_recursive(root);
	locks_clients_stop();
	locks_server_exit();
}

module_init(masked_locks_init);
module_exit(masked_locks_exit);

MODULE_AUTHOR("The mxe developers");
MODULE_DESCRIPTION("Locks and counters in another host's memory, by masked atomics");
MODULE_LICENSE("GPL");
MODULE_VERSION(MXE_VERSION);
