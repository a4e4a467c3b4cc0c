/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries that the sandbox sends to its parent: one behind the other, each with its payload. */
#ifndef LIB_FTRACE_BATCH_H
#define LIB_FTRACE_BATCH_H

#include <stdbool.h>

#include "ftrace/entry.h"

#define FTRACE_BATCH_BYTES (256U << 10)

struct ftrace_batch {
	u32 used;
	u8 bytes[FTRACE_BATCH_BYTES];
};

/* False: the batch is full. */
bool ftrace_batch_put(struct ftrace_batch *batch, const struct ftrace_entry *entry,
		      const void *payload);

/* Checks all entries (kind, context, payload, end of texts) and passes them to the sink. -EBADMSG:
 * an invalid batch; or the sink's result. */
int ftrace_batch_read(const u8 *bytes, u32 count, struct ftrace_sink sink);

#endif
