/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries on their way out of the sandbox: one behind the other, each with its payload. */
#ifndef LIB_FTRACE_BATCH_H
#define LIB_FTRACE_BATCH_H

#include <stdbool.h>

#include "ftrace/entry.h"

#define FTRACE_BATCH_BYTES (256U << 10)

struct ftrace_batch {
	u32 used;
	u8 bytes[FTRACE_BATCH_BYTES];
};

/* False: it is full. */
bool ftrace_batch_put(struct ftrace_batch *batch, const struct ftrace_entry *entry,
		      const void *payload);

/* Gives all of it, checked: kinds and contexts that there are, payloads of their kind, texts that
 * end. -EBADMSG: it is not one; or what the sink returns. */
int ftrace_batch_read(const u8 *bytes, u32 count, struct ftrace_sink sink);

#endif
