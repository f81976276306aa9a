// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * t_9p ADDRESS: a server of 9P2000.L over RDMA (port 5640) for one connection
 * of Linux's client, because Debian has none. Its root directory has one file,
 * "data", of up to 16 MiB. Exits with 0 when the client disconnects.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <rdma/rdma_verbs.h>

#define PORT "5640"
#define MSIZE 65536
#define DEPTH 64		/* more than the client has requests */
#define FILE_MAX (16 << 20)
#define MAX_FIDS 4096
#define BLOCK 4096

/* Requests; the type of an answer is one more. */
enum {
	LERROR = 6, STATFS = 8, LOPEN = 12, GETATTR = 24, SETATTR = 26, FSYNC = 50,
	VERSION = 100, ATTACH = 104, FLUSH = 108, WALK = 110, READ = 116,
	WRITE = 118, CLUNK = 120,
};

#define SETATTR_SIZE 8		/* the bit of the member size */
#define GETATTR_BASIC 0x7ff	/* the bits of all members up to blocks */
#define QID_DIRECTORY 0x80

enum { ROOT, DATA };		/* what a FID names */

/* A message, and the position in it. */
struct msg {
	uint8_t *buf;
	uint32_t at, len;
};

static uint8_t file[FILE_MAX];
static uint64_t file_size;
static uint8_t fids[MAX_FIDS];

static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t get(struct msg *m, uint32_t size)
{
	uint64_t value = 0;

	if (m->len - m->at < size) {
		fprintf(stderr, "short message of type %u\n", m->buf[4]);
		exit(1);
	}
	memcpy(&value, m->buf + m->at, size);
	m->at += size;
	return le64toh(value);
}

static void put(struct msg *m, uint32_t size, uint64_t value)
{
	value = htole64(value);
	memcpy(m->buf + m->len, &value, size);
	m->len += size;
}

static void put_qid(struct msg *m, uint8_t node)
{
	put(m, 1, node == ROOT ? QID_DIRECTORY : 0);
	put(m, 4, 0);
	put(m, 8, node);
}

static uint8_t *get_fid(struct msg *m)
{
	uint32_t fid = (uint32_t)get(m, 4);

	if (fid >= MAX_FIDS) {
		fprintf(stderr, "FID %u\n", fid);
		exit(1);
	}
	return &fids[fid];
}

static int answer_walk(struct msg *in, struct msg *out)
{
	uint8_t node = *get_fid(in), *to = get_fid(in);
	uint32_t names = (uint32_t)get(in, 2), len;

	if (names > 1)
		return ENOENT;
	if (names) {
		len = (uint32_t)get(in, 2);
		if (node != ROOT || len != 4 || in->len - in->at < len ||
		    memcmp(in->buf + in->at, "data", len))
			return ENOENT;
		node = DATA;
	}
	*to = node;
	put(out, 2, names);
	if (names)
		put_qid(out, node);
	return 0;
}

static void answer_getattr(struct msg *in, struct msg *out)
{
	uint8_t node = *get_fid(in);
	uint64_t size = node == DATA ? file_size : 0;
	int i;

	put(out, 8, GETATTR_BASIC);
	put_qid(out, node);
	put(out, 4, node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0644);
	put(out, 8, 0);			/* user and group */
	put(out, 8, 1);			/* links */
	put(out, 8, 0);			/* device */
	put(out, 8, size);
	put(out, 8, BLOCK);
	put(out, 8, (size + 511) / 512);
	for (i = 0; i < 10; i++)	/* times, generation, version */
		put(out, 8, 0);
}

static int answer_setattr(struct msg *in)
{
	uint8_t node = *get_fid(in);
	uint64_t valid = get(in, 4), size;

	get(in, 4);
	get(in, 8);
	size = get(in, 8);
	if (!(valid & SETATTR_SIZE))
		return 0;
	if (node != DATA || size > FILE_MAX)
		return EINVAL;
	if (size > file_size)
		memset(file + file_size, 0, size - file_size);
	file_size = size;
	return 0;
}

static int answer_read(struct msg *in, struct msg *out)
{
	uint8_t node = *get_fid(in);
	uint64_t at = get(in, 8), len = get(in, 4), left;

	if (node != DATA)
		return EISDIR;
	left = at < file_size ? file_size - at : 0;
	if (len > left)
		len = left;
	if (len > MSIZE - out->len - 4)
		len = MSIZE - out->len - 4;
	put(out, 4, len);
	memcpy(out->buf + out->len, file + at, len);
	out->len += (uint32_t)len;
	return 0;
}

static int answer_write(struct msg *in, struct msg *out)
{
	uint8_t node = *get_fid(in);
	uint64_t at = get(in, 8), len = get(in, 4);

	if (node != DATA || len > in->len - in->at)
		return EINVAL;
	if (at > FILE_MAX || len > FILE_MAX - at)
		return ENOSPC;
	memcpy(file + at, in->buf + in->at, len);
	if (at + len > file_size)
		file_size = at + len;
	put(out, 4, len);
	return 0;
}

static void answer_statfs(struct msg *out)
{
	put(out, 4, 0x01021997);	/* V9FS_MAGIC */
	put(out, 4, BLOCK);
	put(out, 8, FILE_MAX / BLOCK);
	put(out, 8, (FILE_MAX - file_size) / BLOCK);
	put(out, 8, (FILE_MAX - file_size) / BLOCK);
	put(out, 8, 2);
	put(out, 8, 0);
	put(out, 8, 0);
	put(out, 4, 4);
}

static int answer_body(uint8_t type, struct msg *in, struct msg *out)
{
	static const char version[] = "9P2000.L";
	uint8_t *fid;

	switch (type) {
	case VERSION:
		put(out, 4, MSIZE);
		put(out, 2, strlen(version));
		memcpy(out->buf + out->len, version, strlen(version));
		out->len += (uint32_t)strlen(version);
		return 0;
	case ATTACH:
		fid = get_fid(in);
		*fid = ROOT;
		put_qid(out, ROOT);
		return 0;
	case WALK:
		return answer_walk(in, out);
	case LOPEN:
		put_qid(out, *get_fid(in));
		put(out, 4, 0);
		return 0;
	case GETATTR:
		answer_getattr(in, out);
		return 0;
	case SETATTR:
		return answer_setattr(in);
	case READ:
		return answer_read(in, out);
	case WRITE:
		return answer_write(in, out);
	case STATFS:
		answer_statfs(out);
		return 0;
	case CLUNK:
	case FLUSH:
	case FSYNC:
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static void answer(struct msg *in, struct msg *out)
{
	uint8_t type;
	uint64_t tag;
	uint32_t len;
	int err;

	get(in, 4);
	type = (uint8_t)get(in, 1);
	tag = get(in, 2);
	*out = (struct msg){ .buf = out->buf, .len = 7 };
	err = answer_body(type, in, out);
	if (err) {
		type = LERROR;
		out->len = 7;
		put(out, 4, (uint64_t)err);
	}
	len = out->len;
	out->len = 0;
	put(out, 4, len);
	put(out, 1, type + 1u);
	put(out, 2, tag);
	out->len = len;
}

static struct rdma_cm_id *accepted(const char *ip)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP,
	}, *info;
	struct ibv_qp_init_attr attr = {
		.cap = { DEPTH, DEPTH, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *listener, *id;

	if (rdma_getaddrinfo(ip, PORT, &hints, &info) ||
	    rdma_create_ep(&listener, info, NULL, &attr) ||
	    rdma_listen(listener, 1))
		fail("listen");
	if (rdma_get_request(listener, &id))
		fail("rdma_get_request");
	return id;
}

/* Flushes the QP when the client disconnects, which ends the main loop. */
static void *disconnect(void *arg)
{
	struct rdma_cm_id *id = arg;
	struct rdma_cm_event *event;

	if (!rdma_get_cm_event(id->channel, &event))
		rdma_ack_cm_event(event);
	rdma_disconnect(id);
	return NULL;
}

int main(int argc, char **argv)
{
	static uint8_t in[DEPTH][MSIZE], out[MSIZE];
	struct ibv_mr *in_mr, *out_mr;
	struct rdma_cm_id *id;
	struct ibv_wc wc;
	pthread_t waiter;
	uintptr_t i;

	if (argc != 2) {
		fprintf(stderr, "see the top of t_9p.c\n");
		return 2;
	}
	id = accepted(argv[1]);
	in_mr = rdma_reg_msgs(id, in, sizeof(in));
	out_mr = rdma_reg_msgs(id, out, sizeof(out));
	if (!in_mr || !out_mr)
		fail("rdma_reg_msgs");
	for (i = 0; i < DEPTH; i++)
		if (rdma_post_recv(id, (void *)i, in[i], MSIZE, in_mr))
			fail("rdma_post_recv");
	if (rdma_accept(id, NULL) ||
	    pthread_create(&waiter, NULL, disconnect, id))
		fail("rdma_accept");

	while (rdma_get_recv_comp(id, &wc) > 0 && wc.status == IBV_WC_SUCCESS) {
		struct msg request = { in[wc.wr_id], 0, wc.byte_len };
		struct msg reply = { .buf = out };

		i = (uintptr_t)wc.wr_id;
		answer(&request, &reply);
		if (rdma_post_recv(id, (void *)i, in[i], MSIZE, in_mr) ||
		    rdma_post_send(id, NULL, out, reply.len, out_mr, 0) ||
		    rdma_get_send_comp(id, &wc) <= 0)
			fail("answer");
		if (wc.status != IBV_WC_SUCCESS) {
			fprintf(stderr, "answer: %s\n", ibv_wc_status_str(wc.status));
			return 1;
		}
	}
	if (wc.status != IBV_WC_WR_FLUSH_ERR) {
		fprintf(stderr, "request: %s\n", ibv_wc_status_str(wc.status));
		return 1;
	}
	return 0;
}
