/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A DMA-BUF is memory of another device.  dmabuf.c maps it for the CPU, so that it
 * can be registered as a region.
 */
#ifndef MXE_DMABUF_H
#define MXE_DMABUF_H

#include <linux/types.h>

struct mxe_dev;
struct mxe_dmabuf;

/*
 * Map the buffer behind a file descriptor, which stays where it is until
 * mxe_dmabuf_put().  mem: its bytes offset..offset+length in one piece, in the
 * same place of a page as in the buffer.  Context: a process, may sleep.
 *
 *   -EBADF, -EINVAL  not a descriptor, not one of a DMA-BUF
 *   -EINVAL          the buffer is shorter, or nothing was asked for
 *   -EACCES          write access to a buffer that was exported for reading
 *   -EOPNOTSUPP      the CPU cannot reach it, or only as registers
 */
struct mxe_dmabuf *mxe_dmabuf_get(struct mxe_dev *dev, int fd, u64 offset,
				  u64 length, bool writable, void **mem);
void mxe_dmabuf_put(struct mxe_dmabuf *dmabuf);

#endif /* MXE_DMABUF_H */
