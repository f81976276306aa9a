/* SPDX-License-Identifier: GPL-2.0 */
/* DMA-BUFs, which dmabuf.c maps for the CPU, as the memory of regions. */
#ifndef MXE_DMABUF_H
#define MXE_DMABUF_H

#include <linux/types.h>

struct mxe_dev;
struct mxe_dmabuf;

/**
 * mxe_dmabuf_open() - Map a DMA-BUF for the CPU.
 * @dev: the device
 * @fd: file descriptor of the DMA-BUF
 * @offset: first byte of the range in the buffer
 * @length: bytes
 * @writable: true for write access
 * @mem: set to the address of the range, which is contiguous and has the same
 *	offset in a page as in the buffer
 *
 * The exporter does not move the buffer until mxe_dmabuf_close().
 *
 * Context: Process context. May sleep.
 * Return: the mapping, or ERR_PTR() of an error of the exporter or of
 *
 * * -ENOMEM - no memory
 * * -EBADF - @fd is not open
 * * -EINVAL - @fd is not a DMA-BUF, or the range is empty or outside of it
 * * -EACCES - write access to a buffer that was exported for reading
 * * -EOPNOTSUPP - the exporter cannot map the buffer as memory of the CPU
 */
struct mxe_dmabuf *mxe_dmabuf_open(struct mxe_dev *dev, int fd, u64 offset,
				   u64 length, bool writable, void **mem);

/*
 * Make writes of the CPU visible to the other users of the buffer, and their
 * writes visible to the CPU.
 * Context: May sleep.
 * Return: 0 or an error of the exporter.
 */
int mxe_dmabuf_sync(struct mxe_dmabuf *dmabuf);

/* Context: May sleep. */
void mxe_dmabuf_close(struct mxe_dmabuf *dmabuf);

#endif /* MXE_DMABUF_H */
