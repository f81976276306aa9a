// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Implements the server of the soak test, with a thread for each TCP
 * connection. See soak.h.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "soak.h"

struct server {
	struct vt_dev *dev;
	struct soak_memory *memory;
};

struct connection {
	struct server *server;
	int fd;
	unsigned int worker;
	struct vt_end end;
	struct soak_received received;
};

static size_t recv_offset(unsigned int worker, uint64_t slot)
{
	return offsetof(struct soak_memory, recvs) +
	       (worker * SOAK_RECVS + slot) * SOAK_MESSAGE;
}

/* Messages must arrive in order and once each. */
static void take_messages(struct connection *c)
{
	struct soak_memory *memory = c->server->memory;
	struct ibv_wc wc;

	while (ibv_poll_cq(c->end.rcq, 1, &wc) > 0) {
		/* The QP moves to ERR at the end. */
		if (wc.status != IBV_WC_SUCCESS)
			continue;
		if (!soak_message_ok(memory->recvs[c->worker][wc.wr_id],
				     c->received.messages, wc.byte_len))
			c->received.wrong++;
		c->received.messages++;
		if (vt_recv(&c->end, wc.wr_id, recv_offset(c->worker, wc.wr_id),
			    SOAK_MESSAGE))
			c->received.wrong++;
	}
}

static void receive_until_bye(struct connection *c)
{
	struct pollfd fds[] = {
		{ .fd = c->fd, .events = POLLIN },
		{ .fd = c->end.chan->fd, .events = POLLIN },
	};
	struct ibv_cq *cq;
	void *ctx;

	do {
		if (ibv_req_notify_cq(c->end.rcq, 0))
			vt_bail("ibv_req_notify_cq");
		take_messages(c);
		if (poll(fds, 2, -1) < 0)
			vt_bail("poll");
		if (fds[1].revents && !ibv_get_cq_event(c->end.chan, &cq, &ctx))
			ibv_ack_cq_events(cq, 1);
	} while (!fds[0].revents);
	take_messages(c);
}

static void serve_worker(struct connection *c, const struct soak_hello *hello)
{
	struct server *s = c->server;
	struct vt_conf conf = soak_conf();
	struct soak_answer answer = {
		.mtu = s->dev->active_mtu,
		.gid = s->dev->gid4,
		.addr = (uintptr_t)s->memory,
	};
	char bye;

	c->worker = hello->worker;
	conf.channel = true;
	conf.size = sizeof(*s->memory);
	vt_end_create(&c->end, s->dev, &conf, NULL, s->memory);
	soak_connect(&c->end, &conf, hello->qp_num, hello->mtu, &hello->gid);
	for (unsigned int i = 0; i < SOAK_RECVS; i++)
		if (vt_recv(&c->end, i, recv_offset(c->worker, i), SOAK_MESSAGE))
			vt_bail("cannot post a receive");
	answer.qp_num = c->end.qp->qp_num;
	answer.rkey = c->end.mr->rkey;
	if (soak_write(c->fd, &answer, sizeof(answer))) {
		receive_until_bye(c);
		if (soak_read(c->fd, &bye, 1))
			soak_write(c->fd, &c->received, sizeof(c->received));
	}
	vt_end_close(&c->end);
}

static void *serve_connection(void *arg)
{
	struct connection *c = arg;
	struct server *s = c->server;
	struct soak_hello hello;
	char done = 1;

	if (!soak_read(c->fd, &hello, sizeof(hello)))
		goto close;
	switch (hello.request) {
	case SOAK_RESET:
		memset(s->memory, 0, sizeof(*s->memory));
		soak_write(c->fd, &done, 1);
		break;
	case SOAK_CONNECT:
		if (hello.worker < SOAK_WORKERS)
			serve_worker(c, &hello);
		break;
	case SOAK_REPORT:
		soak_write(c->fd, &s->memory->words, sizeof(s->memory->words));
		break;
	}
close:
	close(c->fd);
	free(c);
	return NULL;
}

int soak_serve(const char *device, uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	struct server s = { .dev = vt_open(device) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t thread;

	s.memory = mmap(NULL, sizeof(*s.memory), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s.memory == MAP_FAILED)
		vt_bail("mmap");
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 },
				 sizeof(int)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 16))
		vt_bail("cannot listen on port %u", port);
	for (;;) {
		struct connection *c = calloc(1, sizeof(*c));

		if (!c)
			vt_bail("out of memory");
		c->server = &s;
		c->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (c->fd < 0)
			vt_bail("accept");
		if (pthread_create(&thread, NULL, serve_connection, c))
			vt_bail("pthread_create");
		pthread_detach(thread);
	}
}
