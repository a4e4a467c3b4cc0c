/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout is the kernel's interface (kernel/bpf/ringbuf.c, Documentation/bpf/ringbuf.rst): a
 * page with the position of who takes, a page with that of who writes, then the data, twice in a
 * row, so that no record is cut. A record has a header of 8 bytes and is padded to 8.
 */
#include "capture/drain/raw_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

static u64 record_bytes(u32 length)
{
	return ((u64)length + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
}

struct view {
	const u8 *data;
	u64 bytes; /* a power of two */
	u64 position, end;
};

static int walk(struct view *view, int (*each)(void *arg, void *data, size_t bytes), void *arg)
{
	int result = 0;

	while (view->position < view->end && !result) {
		const u8 *record = view->data + (view->position & (view->bytes - 1));
		u32 header = __atomic_load_n((const u32 *)record, __ATOMIC_ACQUIRE);
		u32 length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (header & BPF_RINGBUF_BUSY_BIT || length > view->bytes)
			return 0;
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			result = each(arg, (void *)(record + BPF_RINGBUF_HDR_SZ), length);
		view->position += record_bytes(length);
	}
	return result;
}

int raw_ring_each(int fd, u64 bytes, int (*each)(void *arg, void *data, size_t bytes), void *arg)
{
	u64 page = sysconf(_SC_PAGESIZE), mapped = page + 2 * bytes;
	const u64 *consumer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	const u64 *producer = mmap(NULL, mapped, PROT_READ, MAP_SHARED, fd, page);
	int result = consumer == MAP_FAILED || producer == MAP_FAILED ? -errno : 0;

	if (!result) {
		struct view view = {
			.data = (const u8 *)producer + page,
			.bytes = bytes,
			.position = __atomic_load_n(consumer, __ATOMIC_ACQUIRE),
			.end = __atomic_load_n(producer, __ATOMIC_ACQUIRE),
		};

		result = walk(&view, each, arg);
	}
	if (consumer != MAP_FAILED)
		munmap((void *)consumer, page);
	if (producer != MAP_FAILED)
		munmap((void *)producer, mapped);
	return result;
}
