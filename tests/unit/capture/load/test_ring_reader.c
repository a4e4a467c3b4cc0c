/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads of a ring: complete runs, runs that were cut short or overwritten, and bytes that no writer
 * writes. */
#include <stdint.h>
#include <string.h>

#include "capture/load/ring_reader.h"
#include "ring_writer.h"
#include "unit_test.h"

#define SLOTS 64
#define SLOT_SIZE 24
#define UNITS_PER_SLOT (SLOT_SIZE / 4 - 1)
#define PART_BYTES (4 * UNITS_PER_SLOT)
#define STRIDE RING_BYTES(SLOTS, SLOT_SIZE)

static _Alignas(8) u8 memory[2 * STRIDE];
static struct ring_view ring;
static u64 frames[STACK_WORDS_MAX];
static u32 flags;

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	ring = ring_view_of_mapped_memory(memory, 1, STRIDE, SLOTS, SLOT_SIZE);
	ring_view_make_empty(&ring);
	return 0;
}

static u32 *slot_at(u64 position)
{
	return (u32 *)(void *)(memory + STRIDE + sizeof(struct ring_header) +
			       position % SLOTS * SLOT_SIZE);
}

/* Puts a run with a wide stack of `depth` frames: 1000, 1001... */
static void put_run(u64 first, u32 depth)
{
	struct stack stack = {.depth = depth, .flags = STACK_USER};
	u32 count = ring_run_slots(inline_stack_u32_count(&stack), SLOT_SIZE);

	for (u32 i = 0; i < depth; i++)
		stack.word[i] = 1000 + i;
	for (u32 i = 0; i < count; i++) {
		u32 *slot = slot_at(first + i);

		memcpy(slot + 1, inline_stack_payload(&stack) + i * PART_BYTES,
		       inline_stack_bytes_in_slot(i * PART_BYTES, PART_BYTES));
		if (!i)
			slot[1] = inline_stack_header_word(&stack);
		slot[0] = COMMIT_OF(first + i) | COMMIT_CONTINUED;
	}
}

static u32 read_run(u64 event, u64 run)
{
	return ring_read_run(&ring, event, (u32)run, frames, &flags);
}

TEST(each_ring_is_its_own, set_up)
{
	struct ring_view first = ring_view_of_mapped_memory(memory, 0, STRIDE, SLOTS, SLOT_SIZE);

	assert_int_equal(ring.header->head, SLOTS);
	assert_int_equal(ring.header->tail, SLOTS);
	assert_int_equal(first.header->head, 0);
	assert_ptr_equal(ring_slot(&ring, SLOTS + 3), slot_at(3));
}

TEST(slot_is_taken_at_its_own_position_only, set_up)
{
	u64 position = 5 * SLOTS + 7;

	assert_int_equal(ring_slot_state(&ring, position), SLOT_ABSENT);
	*slot_at(position) = COMMIT_OF(position);
	assert_int_equal(ring_slot_state(&ring, position), SLOT_EVENT);
	assert_int_equal(ring_slot_state(&ring, position - SLOTS), SLOT_ABSENT);
	assert_int_equal(ring_slot_state(&ring, position + SLOTS), SLOT_ABSENT);
	*slot_at(position) = COMMIT_OF(position) | COMMIT_CONTINUED;
	assert_int_equal(ring_slot_state(&ring, position), SLOT_CONTINUED);
	*slot_at(position) = COMMIT_OF(position) | COMMIT_BUSY;
	assert_int_equal(ring_slot_state(&ring, position), SLOT_ABSENT);
}

TEST(run_of_each_depth, set_up)
{
	for (u32 depth = 1; depth < 100; depth++) {
		put_run(2 * SLOTS, depth);
		assert_int_equal(read_run(2 * SLOTS - 1, 2 * SLOTS), depth);
		assert_int_equal(flags, STACK_USER);
		for (u32 i = 0; i < depth; i++)
			assert_int_equal(frames[i], 1000 + i);
	}
}

TEST(run_beyond_the_32_bits_of_its_name, set_up)
{
	u64 event = (1ULL << 32) - 2;

	put_run(event + 5, 9);
	assert_int_equal(read_run(event, event + 5), 9);
	assert_int_equal(frames[8], 1008);
}

TEST(run_that_lost_a_slot, set_up)
{
	u32 slots = ring_run_slots(1 + 2 * 20, SLOT_SIZE);

	for (u32 lost = 0; lost < slots; lost++) {
		u64 position = 3 * SLOTS + lost;

		put_run(3 * SLOTS, 20);
		*slot_at(position) = COMMIT_OF(position + SLOTS) | COMMIT_CONTINUED;
		assert_int_equal(read_run(3 * SLOTS - 1, 3 * SLOTS), 0);
		*slot_at(position) = COMMIT_OF(position) | COMMIT_CONTINUED | COMMIT_BUSY;
		assert_int_equal(read_run(3 * SLOTS - 1, 3 * SLOTS), 0);
		*slot_at(position) = COMMIT_OF(position);
		assert_int_equal(read_run(3 * SLOTS - 1, 3 * SLOTS), 0);
	}
}

TEST(an_impossible_depth_is_refused, set_up)
{
	put_run(2 * SLOTS, 4);
	for (u32 depth = STACK_WORDS_MAX + 1; depth <= 0xffff; depth += 0x1234) {
		slot_at(2 * SLOTS)[1] = depth | STACK_NARROW << 16;
		assert_int_equal(read_run(2 * SLOTS - 1, 2 * SLOTS), 0);
	}
	slot_at(2 * SLOTS)[1] = 0;
	assert_int_equal(read_run(2 * SLOTS - 1, 2 * SLOTS), 0);
}
