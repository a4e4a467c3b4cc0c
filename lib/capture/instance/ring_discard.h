/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discards and counts, while programs write, the events of a ring before a position, and the
 * counted events (abi/counted.h).
 *
 * Rings of a drain: the tail moves over the events, as if they had been read. Rings of a flight
 * recorder: a slot becomes a slot without an event (COMMIT_CONTINUED) by compare-and-swap of its
 * commit word. A writer claims a slot in the same way, so one of the two wins, and counts the event
 * that was in the slot.
 */
#ifndef LIB_CAPTURE_RING_DISCARD_H
#define LIB_CAPTURE_RING_DISCARD_H

#include "capture/load/ring_reader.h"
#include "config.h"
#include "counted.h"

/* Discards the events before position `limit` of a flight recorder's ring, and the deferred stacks
 * before `deferred_limit`. Returns the number of discarded events, without deferred stacks. */
u64 ring_discard_flight(struct ring_view *ring, u64 limit, u64 deferred_limit);

/* Discards the events of a drain's ring up to `limit`, or up to the first slot that is still being
 * written. Returns their number. The caller is the only reader. */
u64 ring_discard_drain(struct ring_view *ring, u64 limit);

/* Discards the events that are counted in place of ring slots (abi/counted.h): marks their counts
 * as written to a file. Returns their number. */
u64 counted_table_discard(const struct capture_config *config, struct counted_table *table);

#endif
