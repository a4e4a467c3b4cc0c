/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ring of an instance in tracefs. Reading takes the entries out of the ring, as trace_pipe
 * does. */
#ifndef LIB_FTRACE_RING_LIVE_H
#define LIB_FTRACE_RING_LIVE_H

#include <stdbool.h>

#include "ftrace/entry.h"
#include "stackmap/error.h"

struct ring_live;

/* Whether the folder is one of tracefs. */
bool ring_live_is(const char *folder);

/* Its end is now. -ENOTSUP: the ring's clock does not count nanoseconds. */
int ring_live_open(const char *folder, struct ring_live **out, struct stackmap_error *error);
void ring_live_close(struct ring_live **ring);

u32 ring_live_cpus(const struct ring_live *ring);

/* What the ring's clock shows is so much behind the real time, modulo 2^64. */
u64 ring_live_realtime(const struct ring_live *ring);

/* All entries up to its end, in the order of time; then what the ring has lost since it was
 * cleared. */
int ring_live_each(struct ring_live *ring, struct ftrace_sink sink, struct stackmap_error *error);

#endif
