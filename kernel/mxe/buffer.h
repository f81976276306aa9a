/* SPDX-License-Identifier: GPL-2.0 */
/* Socket buffers for what is sent. */
#ifndef MXE_BUFFER_H
#define MXE_BUFFER_H

#include <linux/types.h>

struct sk_buff;

/*
 * One that has no data yet, and room for `size` bytes; NULL without memory.  What is
 * in it is undefined.  Bottom halves off.
 */
struct sk_buff *mxe_buffer_alloc(size_t size);
/*
 * The same, but of a received packet that nobody needs any more, as a router sends
 * what it received: *old is NULL then.  It is not, if somebody else has it as well,
 * like a packet socket, or it is too short.  *old may be NULL.  Bottom halves off.
 */
struct sk_buff *mxe_buffer_reuse(struct sk_buff **old, size_t size);
/* Give back what the processors hold.  Nobody allocates any more. */
void mxe_buffer_exit(void);

#endif /* MXE_BUFFER_H */
