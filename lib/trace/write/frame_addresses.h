/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a file as addresses to symbolize: kernel addresses, or mapping and offset. */
#ifndef LIB_TRACE_FRAME_ADDRESSES_H
#define LIB_TRACE_FRAME_ADDRESSES_H

#include "trace/write/writer.h"

struct frame_addresses {
	u64 *items; /* addresses in ascending order, without duplicates; addresses of one mapping
		       are adjacent */
	u32 count;
	u32 room;
};

/* Collects the frames that went into the file: 0 or -ENOMEM. `out` is empty before; the caller
 * frees its items, also after a failure. */
int frame_addresses_collect(struct trace_writer *writer, struct frame_addresses *out);

#endif
