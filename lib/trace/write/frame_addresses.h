/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a file as addresses to be named: of kernel code, or mapping and offset. */
#ifndef LIB_TRACE_FRAME_ADDRESSES_H
#define LIB_TRACE_FRAME_ADDRESSES_H

#include "trace/write/writer.h"

struct frame_addresses {
	u64 *items; /* ascending, each once, so that those of one mapping stand together */
	u32 count;
	u32 room;
};

/* Of all that went into the file: 0 or -ENOMEM. `out` is empty; its items are the caller's to free,
 * after a failure, too. */
int frame_addresses_collect(struct trace_writer *writer, struct frame_addresses *out);

#endif
