/* SPDX-License-Identifier: GPL-2.0 */
/* DMA-BUFs, which dmabuf.c maps for the CPU, as the memory of regions. */
#ifndef MXE_DMABUF_H
#define MXE_DMABUF_H

#include <linux/types.h>

struct mxe_dev;
struct mxe_dmabuf;

struct mxe_dmabuf *mxe_dmabuf_open(struct mxe_dev *dev, int fd, u64 offset,
				   u64 length, bool writable, void **mem);
int mxe_dmabuf_sync(struct mxe_dmabuf *dmabuf);
void mxe_dmabuf_close(struct mxe_dmabuf *dmabuf);

#endif /* MXE_DMABUF_H */
