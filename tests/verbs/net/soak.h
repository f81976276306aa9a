/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The soak test (t_soak): workers of a client do every operation of RC against
 * the memory of a server on another host, whatever the wire between them does,
 * and know of each result what it may be.
 *
 * The server has nothing but memory and receive queues; it speaks TCP with the
 * client, in messages of the structures below.  Both ends have one byte order.
 */
#ifndef SOAK_H
#define SOAK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vt.h"

#define SOAK_WORKERS 8		/* at most, of one client */
#define SOAK_LOCKS 4
#define SOAK_REGION 65536	/* bytes that one worker owns */
#define SOAK_RECVS 8		/* receives that wait for one worker */
#define SOAK_MESSAGE 4096	/* bytes of a SEND at most */

/* What a lock guards; changed by RDMA READ and WRITE. */
struct soak_record {
	uint64_t version;	/* how often the lock has been held */
	uint64_t holder;
	uint64_t check;		/* soak_check() of both */
};

/* What the workers change together. */
struct soak_words {
	/*
	 * Every worker has 16 bits of one of these words: worker w the bits
	 * 16 * (w % 4) of word w / 4.
	 */
	_Alignas(64) uint64_t fields[2];	/* masked addition */
	_Alignas(64) uint64_t swaps[2];		/* masked compare and swap */
	_Alignas(64) uint64_t tickets;		/* plain addition of 1 */
	/* Masked addition of 1 to the low 48 bits, and 1 to the high 16. */
	_Alignas(64) uint64_t twins;
	/* Masked addition of 32 bytes; 4 workers have 16 bits of each word. */
	_Alignas(64) uint64_t wide[4];
	/* Of 16 bits: 0, or the worker that holds it, from 1. */
	_Alignas(64) uint64_t locks;
	_Alignas(64) struct soak_record records[SOAK_LOCKS];
};

/* The server's memory; one region. */
struct soak_memory {
	struct soak_words words;
	uint8_t regions[SOAK_WORKERS][SOAK_REGION];
	uint8_t recvs[SOAK_WORKERS][SOAK_RECVS][SOAK_MESSAGE];
};

enum soak_request {
	SOAK_RESET = 1,		/* zero all memory */
	SOAK_CONNECT,		/* a queue pair for a worker */
	SOAK_REPORT,		/* the words, please */
};

struct soak_hello {
	uint32_t request;
	uint32_t worker;
	uint32_t qp_num;
	uint32_t mtu;		/* enum ibv_mtu */
	union ibv_gid gid;
};

struct soak_answer {
	uint32_t qp_num;
	uint32_t mtu;
	union ibv_gid gid;
	uint64_t addr;		/* of struct soak_memory */
	uint32_t rkey;
	uint32_t reserved;
};

/* At the end of a connection: how much of what was sent has arrived. */
struct soak_received {
	uint64_t messages;
	uint64_t wrong;
};

/* A message: this, and then bytes that follow from seq. */
struct soak_message {
	uint64_t seq;
	uint64_t len;		/* of all */
};

uint64_t soak_mix(uint64_t value);
uint64_t soak_check(const struct soak_record *record);
void soak_fill_message(void *buf, uint64_t seq, size_t len);
bool soak_message_ok(const void *buf, uint64_t seq, size_t len);

/* Exactly len bytes, or false. */
bool soak_read(int fd, void *buf, size_t len);
bool soak_write(int fd, const void *buf, size_t len);

/* The queue pair of e, from INIT to RTS with what the other end said. */
void soak_connect(struct vt_end *e, const struct vt_conf *conf, uint32_t qp_num,
		  uint32_t mtu, const union ibv_gid *gid);

struct vt_conf soak_conf(void);

/* Serves until the process is killed. */
int soak_serve(const char *device, uint16_t port);

/* ---- the client ---------------------------------------------------------- */

enum soak_kind {
	SOAK_FIELD,		/* masked addition to the own 16 bits */
	SOAK_SWAP,		/* masked compare and swap of the own 16 bits */
	SOAK_TICKET,		/* plain fetch and add */
	SOAK_TWIN,		/* masked addition to two fields */
	SOAK_WIDE,		/* masked addition of 32 bytes */
	SOAK_TRY,		/* masked compare and swap: take a lock */
	SOAK_GIVE,		/* ... and give it back */
	SOAK_LOOK,		/* READ what the lock guards */
	SOAK_CHANGE,		/* ... and WRITE it */
	SOAK_WRITE,
	SOAK_READ,
	SOAK_SEND,
	SOAK_KINDS
};

#define SOAK_TICKETS (1U << 28)

/*
 * Numbers from 0 that are given out once each.  The history is linearizable if
 * in addition whoever asks after somebody has got a number gets a greater one.
 */
struct soak_history {
	_Atomic uint64_t seen[SOAK_TICKETS / 64];
	_Atomic uint64_t next;		/* greater than all that were got */
};

struct soak_worker_state {
	uint64_t done[SOAK_KINDS];
	uint64_t unknown[SOAK_KINDS];	/* the connection was lost before */
	uint64_t taken[SOAK_LOCKS];
	uint64_t completions;
	struct soak_received received;
	bool lost;		/* RETRY_EXC_ERR */
	bool failed;
};

enum soak_stage {
	SOAK_PREPARE,
	SOAK_TRAFFIC,
	SOAK_DRAIN,		/* post nothing more */
	SOAK_VERIFY,		/* read everything back */
};

/* Between the processes of a client. */
struct soak_shared {
	_Atomic int stage;	/* enum soak_stage */
	_Atomic int arrived;	/* workers that have ended the stage */
	_Atomic uint64_t masked;	/* masked atomics done by all */
	struct soak_history tickets;
	struct soak_history twins;
	struct soak_history versions[SOAK_LOCKS];
	_Atomic unsigned int holders[SOAK_LOCKS];	/* 0: nobody knows of one */
	struct soak_worker_state workers[SOAK_WORKERS];
};

struct soak_options {
	const char *device;
	const char *server;
	const char *port;
	const char *wire;	/* command, called with "on" and "off" */
	unsigned int workers;
	unsigned int seconds;	/* 0: until the operations are done */
	uint64_t operations;	/* masked atomics; 0: until the seconds have passed */
	uint64_t seed;
	uint8_t timeout;	/* as in struct ibv_qp_attr */
	bool may_lose;		/* retries may be in vain */
};

/* A new connection to the server that has asked for something. */
int soak_ask(const struct soak_options *opt, const struct soak_hello *hello);

/* In a process of its own; its exit status. */
int soak_work(const struct soak_options *opt, struct soak_shared *sh,
	      unsigned int worker);

#endif /* SOAK_H */
