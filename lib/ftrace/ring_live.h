/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ring of an instance in tracefs. Reading removes the entries from the ring, like trace_pipe.
 */
#ifndef LIB_FTRACE_RING_LIVE_H
#define LIB_FTRACE_RING_LIVE_H

#include <stdbool.h>

#include "ftrace/entry.h"
#include "stackmap/error.h"

struct ring_live;

/* True if the folder is in tracefs. */
bool ring_live_is(const char *folder);

/* Reading will end at the entries of this moment. -ENOTSUP: the ring's clock does not count
 * nanoseconds. */
int ring_live_open(const char *folder, struct ring_live **out, struct stackmap_error *error);
void ring_live_close(struct ring_live **ring);

u32 ring_live_cpus(const struct ring_live *ring);

/* Real time minus the ring's clock, in ns, modulo 2^64. */
u64 ring_live_realtime(const struct ring_live *ring);

/* Passes all entries up to the end to the sink, in the order of time; then the ring's losses since
 * it was cleared. */
int ring_live_each(struct ring_live *ring, struct ftrace_sink sink, struct stackmap_error *error);

#endif
