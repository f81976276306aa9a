// SPDX-License-Identifier: GPL-2.0
/*
 * Proves that DMA-BUFs of different exporters are mapped and released, or
 * refused. The exporter is a fake that counts its calls. The end-to-end tests
 * check the data.
 */
#include <linux/completion.h>
#include <linux/dma-buf.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/iosys-map.h>
#include <linux/vmalloc.h>

#include "harness.h"
#include "memory/dmabuf.h"

#define FAKE_SIZE	(2 * PAGE_SIZE)
#define FAKE_OFFSET	100

/* An exporter, and how often its callbacks were called. */
struct fake {
	const char *desc;
	int err;		/* of mxe_dmabuf_open() */
	bool no_vmap, is_iomem;
	size_t misplaced;	/* bytes after the start of a page */
	int begin_err;

	u8 *mem;
	unsigned int vmaps, begins, ends, vunmaps;
	enum dma_data_direction direction;
	struct completion released;
};

static struct sg_table *fake_map(struct dma_buf_attachment *attach,
				 enum dma_data_direction direction)
{
	return ERR_PTR(-ENXIO);
}

static void fake_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		       enum dma_data_direction direction)
{
}

static void fake_release(struct dma_buf *buf)
{
	struct fake *fake = buf->priv;

	complete(&fake->released);
}

static int fake_vmap(struct dma_buf *buf, struct iosys_map *map)
{
	struct fake *fake = buf->priv;

	fake->vmaps++;
	if (fake->is_iomem)
		iosys_map_set_vaddr_iomem(map, (void __iomem *)fake->mem);
	else
		iosys_map_set_vaddr(map, fake->mem + fake->misplaced);
	return 0;
}

static void fake_vunmap(struct dma_buf *buf, struct iosys_map *map)
{
	struct fake *fake = buf->priv;

	fake->vunmaps++;
}

static int fake_begin(struct dma_buf *buf, enum dma_data_direction direction)
{
	struct fake *fake = buf->priv;

	fake->begins++;
	fake->direction = direction;
	return fake->begin_err;
}

static int fake_end(struct dma_buf *buf, enum dma_data_direction direction)
{
	struct fake *fake = buf->priv;

	fake->ends += direction == fake->direction;
	return 0;
}

static const struct dma_buf_ops fake_ops = {
	.map_dma_buf = fake_map,
	.unmap_dma_buf = fake_unmap,
	.release = fake_release,
	.vmap = fake_vmap,
	.vunmap = fake_vunmap,
	.begin_cpu_access = fake_begin,
	.end_cpu_access = fake_end,
};

static const struct dma_buf_ops fake_ops_no_vmap = {
	.map_dma_buf = fake_map,
	.unmap_dma_buf = fake_unmap,
	.release = fake_release,
};

static const struct fake fakes[] = {
	{ "memory" },
	{ "registers", -EOPNOTSUPP, .is_iomem = true },
	{ "memory that begins within a page", -EOPNOTSUPP, .misplaced = 64 },
	{ "memory that the CPU cannot map", -EOPNOTSUPP, .no_vmap = true },
	{ "memory that cannot be prepared", -EIO, .begin_err = -EIO },
};

/* Returns a descriptor that holds the only reference to a new buffer. */
static int fake_export(struct kunit *test, struct fake *fake)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buf;
	int fd;

	info.ops = fake->no_vmap ? &fake_ops_no_vmap : &fake_ops;
	info.size = FAKE_SIZE;
	info.flags = O_RDWR;
	info.priv = fake;
	init_completion(&fake->released);
	buf = dma_buf_export(&info);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	KUNIT_ASSERT_GE(test, fd, 0);
	return fd;
}

/* A synchronisation ends and begins the access, and passes on an error. */
static void check_sync(struct kunit *test, struct fake *fake,
		       struct mxe_dmabuf *dmabuf)
{
	KUNIT_EXPECT_EQ(test, mxe_dmabuf_sync(dmabuf), 0);
	KUNIT_EXPECT_EQ(test, fake->ends, 1U);
	KUNIT_EXPECT_EQ(test, fake->begins, 2U);
	fake->begin_err = -EIO;
	KUNIT_EXPECT_EQ(test, mxe_dmabuf_sync(dmabuf), -EIO);
	fake->begin_err = 0;
}

static void check_fake(struct kt *kt, struct fake *fake, bool writable)
{
	struct kunit *test = kt->test;
	struct mxe_dmabuf *dmabuf;
	void *mem = NULL;
	int fd = fake_export(test, fake);

	dmabuf = mxe_dmabuf_open(kt->dev, fd, FAKE_OFFSET, PAGE_SIZE, writable, &mem);
	close_fd(fd);
	KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(dmabuf), fake->err, "%s",
			    fake->desc);
	if (!IS_ERR(dmabuf)) {
		KUNIT_EXPECT_PTR_EQ(test, mem, (void *)(fake->mem + FAKE_OFFSET));
		KUNIT_EXPECT_EQ(test, fake->vmaps, 1U);
		KUNIT_EXPECT_EQ(test, fake->begins, 1U);
		KUNIT_EXPECT_EQ(test, fake->direction,
				writable ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE);
		KUNIT_EXPECT_EQ(test, fake->ends + fake->vunmaps, 0U);
		flush_delayed_fput();
		KUNIT_EXPECT_FALSE(test, completion_done(&fake->released));
		check_sync(test, fake, dmabuf);
		mxe_dmabuf_close(dmabuf);
	}
	/* Everything is undone, and nothing holds a reference to the buffer. */
	KUNIT_EXPECT_EQ_MSG(test, fake->ends, fake->begin_err ? 0 : fake->begins,
			    "%s", fake->desc);
	KUNIT_EXPECT_EQ_MSG(test, fake->vunmaps, fake->vmaps, "%s", fake->desc);
	flush_delayed_fput();
	KUNIT_EXPECT_NE_MSG(test, wait_for_completion_timeout(&fake->released, 10 * HZ),
			    0UL, "%s: still referenced", fake->desc);
}

static void dmabuf_exporters(struct kunit *test)
{
	/* A leaked buffer outlives the test, but holds the module. */
	static struct fake exported[2 * ARRAY_SIZE(fakes)];
	struct kt *kt = kt_of(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(exported); i++) {
		exported[i] = fakes[i / 2];
		exported[i].mem = kt->mem;
		check_fake(kt, &exported[i], i & 1);
	}
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(dmabuf_exporters),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "mxe_dmabuf",
	.init = kt_init,
	.exit = kt_exit,
	.test_cases = dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);
