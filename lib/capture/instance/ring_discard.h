/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discards and counts the events of a ring before a position, and those that found their ring full,
 * while programs write.
 *
 * Drain: the events are passed over as if they had been read. Flight: a slot becomes one without an
 * event (COMMIT_CONTINUED) by compare-and-swap of its commit word. A writer claims a slot in the
 * same way, so one of the two wins, and counts the event in the slot.
 */
#ifndef LIB_CAPTURE_RING_DISCARD_H
#define LIB_CAPTURE_RING_DISCARD_H

#include "capture/load/ring_reader.h"
#include "counted.h"

/* Returns the number of discarded events. Deferred stacks do not count, and have a limit of their
 * own. */
u64 ring_discard_flight(struct ring_view *ring, u64 limit, u64 deferred_limit);

/* The same up to `limit`, or to the first slot that is still being written; the caller is the only
 * reader. */
u64 ring_discard_drain(struct ring_view *ring, u64 limit);

/* The same of the events that are counted only, as if a file had them. */
u64 counted_discard(struct counted_table *table);

#endif
