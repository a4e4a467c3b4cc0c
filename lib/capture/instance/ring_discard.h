/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ring is emptied while it is written: what lies before a position goes, and is counted.
 *
 * Drain: as if it had been read. Flight: a slot becomes one without an event (COMMIT_CONTINUED) by
 * compare-and-swap of its commit word. A writer claims the same slot in the same way, so one of the
 * two wins it, and counts the event that was in it.
 */
#ifndef LIB_CAPTURE_RING_DISCARD_H
#define LIB_CAPTURE_RING_DISCARD_H

#include "capture/load/ring_reader.h"

/* Returns how many events went. Deferred stacks are none; they have a limit of their own. */
u64 ring_discard_flight(struct ring_view *ring, u64 limit, u64 deferred_limit);

/* Nobody else reads. Up to `limit`, or to the first slot that is still being written. */
u64 ring_discard_drain(struct ring_view *ring, u64 limit);

#endif
