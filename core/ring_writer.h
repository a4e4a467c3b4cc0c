/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The writer's side of a ring (abi/ring.h): any number of writers of one CPU, each of which may
 * interrupt another between any two instructions, NMI included; no lock, bounded work.
 *
 * Drain: a writer reads the reader's tail, then reserves positions by compare-and-swap on head; no
 * other writer uses these slots until the writer commits them. (A fetch-and-add could not be undone
 * when the ring is full.)
 *
 * Flight: a writer takes a position by fetch-and-add, then claims the slot by compare-and-swap from
 * "committed at an older position". If an interrupted writer still holds the slot, the writer tries
 * the next slot. While a writer is interrupted, other writers may go round the whole ring; the
 * writer then finds a newer position in its slot and tries the next slot, too. Plain stores after a
 * fetch-and-add would be wrong: such a writer would write into a newer event.
 *
 * In both modes the last store is the commit word, so a reader that sees the commit word sees the
 * whole slot.
 */
#ifndef CORE_RING_WRITER_H
#define CORE_RING_WRITER_H

#include "env.h"
#include "ring.h"
#include "stack.h"

#define RING_TRIES 8

/*
 * The number of slots for a stack of `units` u32 (struct inline_stack with its header), which is
 * written to consecutive slots.
 */
CORE_PART u32 ring_run_slots(u32 units, u32 slot_size)
{
	u32 per_slot = slot_size / 4 - 1;

	return (units + per_slot - 1) / per_slot;
}

CORE_PART u32 inline_stack_u32_count(const struct stack *stack)
{
	return 1 + (stack->flags & STACK_NARROW ? stack->depth : 2 * stack->depth);
}

/*
 * The payload of a run of slots is a struct inline_stack: struct stack without its word count. The
 * first four bytes, where the word count would be, are inline_stack_header_word().
 */
#define INLINE_STACK_BYTES_MAX (sizeof(struct stack) - sizeof(u32))

CORE_PART const u8 *inline_stack_payload(const struct stack *stack)
{
	return (const u8 *)&stack->words;
}

CORE_PART u32 inline_stack_header_word(const struct stack *stack)
{
	return stack->depth | (u32)stack->flags << 16;
}

/*
 * The number of bytes of the payload that lie in a slot, if the slot begins at `offset` of the
 * payload and has `room` bytes.
 */
CORE_PART u32 inline_stack_bytes_in_slot(u32 offset, u32 room)
{
	u32 left = INLINE_STACK_BYTES_MAX - offset;

	core_one_register(left);
	if (left > INLINE_STACK_BYTES_MAX)
		return 0;
	return left < room ? left : room;
}

/*
 * Drain mode: reserves `count` consecutive positions. Returns the first position, or 0 if the ring
 * is full. (Each failed compare-and-swap is an interrupt on this CPU, so the number of tries
 * suffices.)
 */
CORE_PART u64 ring_take_positions(struct ring_header *ring, u32 slots, u32 count)
{
	u32 try;

	for (try = 0; try < RING_TRIES; try++) {
		u64 head = atomic_load_relaxed(&ring->head);

		if (head + count - atomic_load_acquire(&ring->tail) > slots)
			return 0;
		if (atomic_cas_acq_rel(&ring->head, head, head + count) == head)
			return head;
	}
	return 0;
}

/*
 * Before this position a commit word of zero means "never written"; later, positions wrap to zero.
 */
#define RING_FIRST_ROUND (1ULL << 29)

enum ring_claim { CLAIM_BUSY, CLAIM_LAPPED, CLAIM_FRESH, CLAIM_EVENT, CLAIM_CONTINUED };

/* Flight mode: claims the slot of a position. Says what the slot held before. */
CORE_PART enum ring_claim ring_claim(u32 *commit, u64 position)
{
	u32 mine = COMMIT_OF(position);
	u32 seen = atomic_load_relaxed(commit);
	u32 fresh = !seen && position < RING_FIRST_ROUND;

	if (seen & COMMIT_BUSY)
		return CLAIM_BUSY;
	if (!fresh && (s32)(mine - seen) <= 0)
		return CLAIM_LAPPED;
	if (atomic_cas_acq_rel(commit, seen, mine | COMMIT_BUSY) != seen)
		return CLAIM_BUSY;
	if (fresh)
		return CLAIM_FRESH;
	return seen & COMMIT_CONTINUED ? CLAIM_CONTINUED : CLAIM_EVENT;
}

#endif
