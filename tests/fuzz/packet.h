/* SPDX-License-Identifier: GPL-2.0 */
/* The input of the packet target, and its processes (packet_post.c). */
#ifndef FUZZ_PACKET_H
#define FUZZ_PACKET_H

#include <linux/types.h>

struct input {
	const u8 *p, *end;
};

/**
 * take() - Take a number from the input.
 * @in: the input
 * @n: bytes of the number
 *
 * Return: the number, from big-endian.  Bytes after the end are 0.
 */
static inline u32 take(struct input *in, unsigned int n)
{
	u32 v = 0;

	while (n--)
		v = v << 8 | (in->p < in->end ? *in->p++ : 0);
	return v;
}

/**
 * packet_some_key() - Return a key with which an end can be accessed.
 * @window: that of its memory window, instead of the region
 * @end: the end
 *
 * Return: the key.
 */
u32 packet_some_key(bool window, int end);

/**
 * packet_post_send() - Post a send request and ring the doorbell.
 * @end: the process
 * @in: the input
 * @sane: a request that is valid except for what the input chooses; otherwise
 *	arbitrary bytes
 */
void packet_post_send(int end, struct input *in, bool sane);

/**
 * packet_post_recv() - Post a receive request.
 * @end: the process
 * @in: the input
 * @sane: as for packet_post_send()
 */
void packet_post_recv(int end, struct input *in, bool sane);

/**
 * packet_post_tag() - Post a tag operation and ring the doorbell.
 * @in: the input, which may choose arbitrary bytes
 */
void packet_post_tag(struct input *in);

/**
 * packet_kernel_send() - Post a send request of a consumer in the kernel.
 * @end: the consumer
 * @in: the input
 */
void packet_kernel_send(int end, struct input *in);

/**
 * packet_kernel_recv() - Post a receive request of a consumer in the kernel.
 * @end: the consumer
 * @in: the input
 */
void packet_kernel_recv(int end, struct input *in);

/**
 * packet_verb() - Call a verb.
 * @end: the caller
 * @in: the input, which chooses the verb and its arguments
 */
void packet_verb(int end, struct input *in);

/**
 * packet_scribble() - Corrupt the indices or the flags of a ring.
 * @end: the process
 * @in: the input
 */
void packet_scribble(int end, struct input *in);

#endif /* FUZZ_PACKET_H */
