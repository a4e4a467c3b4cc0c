/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader's side of a ring (abi/ring.h), in memory shared with the programs that write it. */
#ifndef LIB_CAPTURE_RING_READER_H
#define LIB_CAPTURE_RING_READER_H

#include <stdbool.h>

#include "ring.h"
#include "scalar.h"
#include "stack.h"

struct ring_view {
	struct ring_header *header;
	const u8 *slots;
	u32 count;
	u32 slot_size;
};

enum slot_state {
	SLOT_ABSENT, /* the slot has no committed record of this position: it is not written yet,
			still being written, or overwritten */
	SLOT_EVENT,
	SLOT_CONTINUED, /* the slot is part of a run, the slots that hold the stack of an event */
};

/* Returns the view of ring i in an array of rings, which begin `stride` bytes apart. */
struct ring_view ring_view_of_mapped_memory(void *rings, u32 i, u64 stride, u32 count,
					    u32 slot_size);

/* Makes the ring empty. Call before the first writer. */
void ring_view_make_empty(struct ring_view *ring);

/* Returns the position of the next record. All earlier records are written or being written. */
u64 ring_head(const struct ring_view *ring);

const void *ring_slot(const struct ring_view *ring, u64 position);
enum slot_state ring_slot_state(const struct ring_view *ring, u64 position);

/* Returns the position of the first record that is not committed. */
u64 ring_committed_end(const struct ring_view *ring);

/* True if the record at a position of an event ring is a deferred user stack. */
bool ring_is_deferred_stack(const struct ring_view *ring, u64 position);

/*
 * Reads a stack that follows its event in the ring. `event`: position of the event; `run`: low half
 * of the position of the stack's first slot, from the event's stack field. Sets the frames,
 * innermost first, at most STACK_WORDS_MAX. Returns the depth; 0: the run of slots is incomplete,
 * or was overwritten.
 */
u32 ring_read_run(const struct ring_view *ring, u64 event, u32 run, u64 *frames, u32 *flags);

#endif
