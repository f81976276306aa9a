/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A device in the process, for the provider of libfabric: RC, UD and DC, SRQs,
 * RDMA and standard atomics. It executes a request when it is posted, or as
 * soon as the peer can take it. All addresses are 127.0.0.1.
 *
 * fake_device.c defines what libibverbs and libibverbs_exp would.
 */
#ifndef FI_FAKE_DEVICE_H
#define FI_FAKE_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <infiniband/verbs_exp.h>

/*
 * Faults, and what the device has counted. Protected by @lock if a domain is
 * open.
 */
struct fake_device {
	pthread_mutex_t lock;
	bool has_dc;
	bool dcis_fail;		/* DC initiators cannot be created */
	bool is_glob;		/* reports IBV_ATOMIC_GLOB */
	bool err_fails;		/* ibv_modify_qp() to the error state */
	bool resizes_qps;	/* reports that it resizes queue pairs */
	bool resize_fails;	/* and does not */
	/* The first byte of SENDs that cannot be posted; -1: all can. */
	int refused_send;
	/* The first byte of SENDs that are not executed; -1: all are. */
	int stopped_send;
	/*
	 * Changes a SEND of a connection and its length when it is posted, as a
	 * hostile peer could; or NULL.
	 */
	void (*forge_send)(void *message, uint32_t *len);
	/* SENDs of connections that were posted, by their first byte. */
	unsigned int num_sends[256];
	bool reads_stop;	/* RDMA READs are not executed */
	unsigned int num_stopped;	/* such READs, in all queue pairs */
	bool atomics_stop;	/* nor are atomics */
	size_t refused_size;	/* malloc() of so many bytes fails; or 0 */
	unsigned int num_opens;	/* calls of ibv_open_device() */
	unsigned int num_mrs;	/* memory regions that are registered */
	unsigned int max_mrs;	/* 0: no limit */
	unsigned int num_ahs;	/* address handles */
	unsigned int max_ahs;	/* ibv_create_ah() blocks; 0: no limit */
	/*
	 * The last byte of the GID of a host that does not exist; 0: none.
	 * ibv_create_ah() blocks while is_resolving is set, and then fails.
	 */
	uint8_t absent_host;
	bool is_resolving;
	unsigned int num_attempts;	/* such calls */
	bool removed;		/* executes nothing, and sets no states */
	/* This DC target answers no requests, as if it had no buffers. */
	uint32_t stopped_dct;
	/*
	 * stopped_dct answers the first request of an initiator when that is
	 * about to enter this state. Unless it is in SQD, the initiator sends
	 * the next request, which is executed, but not acknowledged.
	 */
	enum ibv_qp_state dct_answers_at;
};

extern struct fake_device fake_device;

/**
 * fake_device_set() - Change a field while the device is in use.
 * @field: field of the device
 * @value: its new value
 */
#define fake_device_set(field, value) do {		\
	pthread_mutex_lock(&fake_device.lock);		\
	fake_device.field = (value);			\
	pthread_mutex_unlock(&fake_device.lock);	\
} while (0)

/**
 * fake_device_get() - Read a field while the device is in use.
 * @field: field of the device
 *
 * Return: its value.
 */
#define fake_device_get(field) ({			\
	pthread_mutex_lock(&fake_device.lock);		\
	__typeof__(fake_device.field) value_ = fake_device.field; \
	pthread_mutex_unlock(&fake_device.lock);	\
	value_;						\
})

/**
 * fake_device_use_dc() - Make endpoints that are opened later use DC, or not.
 * @dc: true if the device has DC and all peers are to be reached by it
 */
void fake_device_use_dc(bool dc);

/**
 * fake_device_remove() - Remove the device.
 * @by_event: true: each context has IBV_EVENT_DEVICE_FATAL. False: the
 *	completion channels hang up.
 */
void fake_device_remove(bool by_event);

#endif /* FI_FAKE_DEVICE_H */
