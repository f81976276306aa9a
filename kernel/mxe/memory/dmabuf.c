// SPDX-License-Identifier: GPL-2.0
/*
 * DMA-BUFs as the memory of regions.  It calls the exporter through the dma-buf
 * layer.
 *
 * This does not use ib_umem_dmabuf_get(), which attaches the buffer to a device
 * that does DMA.  The CPU copies the data of mxe, so a region needs the CPU
 * mapping of the exporter.  While it exists, the exporter does not move the
 * buffer.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "memory/dmabuf.h"
#include "mxe.h"

/* Not MODULE_IMPORT_NS(), whose argument is a string only since 6.13. */
MODULE_INFO(import_ns, "DMA_BUF");

/* Owned by one region. */
struct mxe_dmabuf {
	struct dma_buf *buf;
	struct iosys_map map;
	enum dma_data_direction direction;
};

static int mxe_dmabuf_check(struct mxe_dev *dev, const struct dma_buf *buf,
			    u64 offset, u64 length, bool writable)
{
	u64 end;

	if (!length || check_add_overflow(offset, length, &end) ||
	    end > buf->size)
		return mxe_refuse(dev, -EINVAL, "invalid range: %llu bytes at %llu of %zu",
				  length, offset, buf->size);
	/* mmap() of the buffer has the same check. */
	if (writable && !(buf->file->f_mode & FMODE_WRITE))
		return mxe_refuse(dev, -EACCES, "DMA-BUF was exported read-only");
	return 0;
}

static int mxe_dmabuf_map(struct mxe_dev *dev, struct mxe_dmabuf *dmabuf)
{
	int err;

	/* Checked here, because dma_buf_vmap() reports it as -EINVAL. */
	if (!dmabuf->buf->ops->vmap)
		return mxe_refuse(dev, -EOPNOTSUPP, "DMA-BUF exporter has no vmap()");
	err = mxe_dma_buf_vmap(dmabuf->buf, &dmabuf->map);
	if (err)
		return err;
	if (dmabuf->map.is_iomem || !PAGE_ALIGNED(dmabuf->map.vaddr)) {
		err = mxe_refuse(dev, -EOPNOTSUPP, "DMA-BUF is not in page-aligned memory");
		goto err_unmap;
	}
	err = dma_buf_begin_cpu_access(dmabuf->buf, dmabuf->direction);
	if (err)
		goto err_unmap;
	return 0;

err_unmap:
	mxe_dma_buf_vunmap(dmabuf->buf, &dmabuf->map);
	return err;
}

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
				   u64 length, bool writable, void **mem)
{
	struct mxe_dmabuf *dmabuf;
	int err;

	dmabuf = kzalloc(sizeof(*dmabuf), GFP_KERNEL_ACCOUNT);
	if (!dmabuf)
		return ERR_PTR(-ENOMEM);
	dmabuf->direction = writable ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE;
	dmabuf->buf = dma_buf_get(fd);
	if (IS_ERR(dmabuf->buf)) {
		err = PTR_ERR(dmabuf->buf);
		goto err_free;
	}
	err = mxe_dmabuf_check(dev, dmabuf->buf, offset, length, writable);
	if (err)
		goto err_put;
	err = mxe_dmabuf_map(dev, dmabuf);
	if (err)
		goto err_put;
	*mem = dmabuf->map.vaddr + offset;
	return dmabuf;

err_put:
	dma_buf_put(dmabuf->buf);
err_free:
	kfree(dmabuf);
	return ERR_PTR(err);
}

/*
 * Make writes of the CPU visible to the other users of the buffer, and their
 * writes visible to the CPU.
 * Context: May sleep.
 * Return: 0 or an error of the exporter.
 */
int mxe_dmabuf_sync(struct mxe_dmabuf *dmabuf)
{
	int err = dma_buf_end_cpu_access(dmabuf->buf, dmabuf->direction);

	return err ?: dma_buf_begin_cpu_access(dmabuf->buf, dmabuf->direction);
}

/* Context: May sleep. */
void mxe_dmabuf_close(struct mxe_dmabuf *dmabuf)
{
	dma_buf_end_cpu_access(dmabuf->buf, dmabuf->direction);
	mxe_dma_buf_vunmap(dmabuf->buf, &dmabuf->map);
	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}
