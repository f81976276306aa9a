/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The soak test (t_soak): the workers of a client run every RC operation
 * against the memory of a server on another host while the wire between them
 * fails, and check that each result is a possible one.
 *
 * The server only has memory and receive queues. It exchanges the structures
 * below with the client over TCP. Both hosts must have the same byte order.
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

/* Protected by a lock. Workers change it with RDMA READ and WRITE. */
struct soak_record {
	uint64_t version;	/* how often the lock has been held */
	uint64_t holder;
	uint64_t check;		/* soak_check() of both */
};

/* Words that all workers change. */
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
	/* Locks of 16 bits: 0, or the number of the holder plus 1. */
	_Alignas(64) uint64_t locks;
	_Alignas(64) struct soak_record records[SOAK_LOCKS];
};

/* The server's memory, which is one region. */
struct soak_memory {
	struct soak_words words;
	uint8_t regions[SOAK_WORKERS][SOAK_REGION];
	uint8_t recvs[SOAK_WORKERS][SOAK_RECVS][SOAK_MESSAGE];
};

enum soak_request {
	SOAK_RESET = 1,		/* zero all memory */
	SOAK_CONNECT,		/* a queue pair for a worker */
	SOAK_REPORT,		/* return struct soak_words */
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

/* Sent by the server at the end of a connection: messages that have arrived. */
struct soak_received {
	uint64_t messages;
	uint64_t wrong;
};

/* The header of a message. The bytes after it are a function of seq. */
struct soak_message {
	uint64_t seq;
	uint64_t len;		/* with this header */
};

/**
 * soak_mix() - Hash a number.
 * @value: number
 *
 * Return: the hash.
 */
uint64_t soak_mix(uint64_t value);

/**
 * soak_check() - Compute the checksum of a record.
 * @record: record
 *
 * Return: the checksum, which is 0 for a lock that was never held.
 */
uint64_t soak_check(const struct soak_record *record);

/**
 * soak_fill_message() - Build a message.
 * @buf: buffer
 * @seq: sequence number
 * @len: length in bytes
 */
void soak_fill_message(void *buf, uint64_t seq, size_t len);

/**
 * soak_message_ok() - Check whether a message is what soak_fill_message()
 *	built.
 * @buf: message
 * @seq: expected sequence number
 * @len: length in bytes
 *
 * Return: true if every byte is correct.
 */
bool soak_message_ok(const void *buf, uint64_t seq, size_t len);

/**
 * soak_read() - Read exactly a number of bytes.
 * @fd: TCP socket
 * @buf: buffer
 * @len: number of bytes
 *
 * Return: false on error or end of file.
 */
bool soak_read(int fd, void *buf, size_t len);

/**
 * soak_write() - Write exactly a number of bytes.
 * @fd: TCP socket
 * @buf: bytes
 * @len: number of bytes
 *
 * Return: false on error.
 */
bool soak_write(int fd, const void *buf, size_t len);

/**
 * soak_connect() - Move a QP from INIT to RTS.
 * @e: end with the QP
 * @conf: configuration
 * @qp_num: QP number of the other end
 * @mtu: active MTU of the other end, enum ibv_mtu
 * @gid: GID of the other end
 */
void soak_connect(struct vt_end *e, const struct vt_conf *conf, uint32_t qp_num,
		  uint32_t mtu, const union ibv_gid *gid);

/**
 * soak_conf() - Return the configuration of both ends.
 *
 * Return: the configuration.
 */
struct vt_conf soak_conf(void);

/**
 * soak_serve() - Serve clients until the process is killed.
 * @device: name of the RDMA device
 * @port: TCP port, in host byte order
 *
 * Return: the exit status of the program.
 */
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
	SOAK_LOOK,		/* READ the record of the lock */
	SOAK_CHANGE,		/* ... and WRITE it */
	SOAK_WRITE,
	SOAK_READ,
	SOAK_SEND,
	SOAK_KINDS
};

#define SOAK_TICKETS (1U << 28)

/*
 * Numbers from 0, each of which an atomic returns once. The history is
 * linearizable if an operation that begins after another one has returned a
 * number returns a greater number.
 */
struct soak_history {
	_Atomic uint64_t seen[SOAK_TICKETS / 64];
	_Atomic uint64_t next;		/* greater than all numbers returned */
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

/* Shared by the processes of a client. */
struct soak_shared {
	_Atomic int stage;	/* enum soak_stage */
	_Atomic int arrived;	/* workers that have ended the stage */
	_Atomic uint64_t masked;	/* masked atomics done by all */
	struct soak_history tickets;
	struct soak_history twins;
	struct soak_history versions[SOAK_LOCKS];
	_Atomic unsigned int holders[SOAK_LOCKS];	/* 0: no known holder */
	struct soak_worker_state workers[SOAK_WORKERS];
};

struct soak_options {
	const char *device;
	const char *server;
	const char *port;
	const char *wire;	/* command, called with "on" and "off" */
	unsigned int workers;
	unsigned int seconds;	/* 0: until the operations are done */
	uint64_t operations;	/* masked atomics; 0: only seconds count */
	uint64_t seed;
	uint8_t timeout;	/* as in struct ibv_qp_attr */
	bool may_lose;		/* RETRY_EXC_ERR is not a failure */
};

/**
 * soak_ask() - Connect to the server and send a request.
 * @opt: options with the server
 * @hello: request
 *
 * Return: the TCP socket.
 */
int soak_ask(const struct soak_options *opt, const struct soak_hello *hello);

/**
 * soak_work() - Run a worker in its own process.
 * @opt: options
 * @sh: memory shared with the other processes of the client
 * @worker: number of the worker
 *
 * Return: the exit status of the process.
 */
int soak_work(const struct soak_options *opt, struct soak_shared *sh,
	      unsigned int worker);

#endif /* SOAK_H */
