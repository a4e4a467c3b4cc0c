/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a ring and the counted events that a discard empties and counts. If a writer and a
 * discarding reader meet in a slot, its event counts once.
 */
#include "capture/instance/ring_discard.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "counted_row.h"
#include "ring_writer.h"
#include "unit_test.h"

#define SLOTS 64
#define SLOT_SIZE 24
#define ROUNDS 200000

static _Alignas(8) u8 memory[RING_BYTES(SLOTS, SLOT_SIZE)];
static struct ring_view ring;

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	ring = ring_view_of_mapped_memory(memory, 0, sizeof(memory), SLOTS, SLOT_SIZE);
	ring_view_make_empty(&ring);
	return 0;
}

static struct event_slot *slot_at(u64 position)
{
	return (struct event_slot *)ring_slot(&ring, position);
}

static void write_event_to_slot(u64 position, u32 kind, u32 marks)
{
	struct event_slot *slot = slot_at(position);

	slot->stamp = STAMP_OF(0ULL, kind, 0);
	slot->commit = COMMIT_OF(position) | marks;
}

static void put_events(u64 first, u64 end)
{
	for (; first < end; first++)
		write_event_to_slot(first, 0, 0);
	ring.header->head = end;
}

TEST(events_before_the_limit_are_discarded, set_up)
{
	put_events(SLOTS, SLOTS + 20);
	assert_int_equal(ring_discard_flight(&ring, SLOTS + 15, SLOTS + 15), 15);
	assert_int_equal(ring_slot_state(&ring, SLOTS + 14), SLOT_CONTINUED);
	assert_int_equal(ring_slot_state(&ring, SLOTS + 15), SLOT_EVENT);
	assert_int_equal(ring_discard_flight(&ring, SLOTS + 15, SLOTS + 15), 0);
}

TEST(only_events_are_counted, set_up)
{
	put_events(SLOTS, SLOTS + 4);
	write_event_to_slot(SLOTS + 1, KIND_DEFERRED_STACK, 0);
	write_event_to_slot(SLOTS + 2, 0, COMMIT_CONTINUED);
	write_event_to_slot(SLOTS + 3, 0, COMMIT_BUSY);
	assert_int_equal(ring_discard_flight(&ring, SLOTS + 4, SLOTS + 4), 1);
	assert_int_equal(ring_slot_state(&ring, SLOTS + 1), SLOT_CONTINUED);
	assert_int_equal(slot_at(SLOTS + 3)->commit, COMMIT_OF(SLOTS + 3) | COMMIT_BUSY);
}

TEST(deferred_stacks_have_their_own_limit, set_up)
{
	write_event_to_slot(SLOTS, KIND_DEFERRED_STACK, 0);
	write_event_to_slot(SLOTS + 1, KIND_DEFERRED_STACK, 0);
	write_event_to_slot(SLOTS + 2, 0, 0);
	assert_int_equal(ring_discard_flight(&ring, SLOTS + 3, SLOTS + 1), 1);
	assert_int_equal(ring_slot_state(&ring, SLOTS), SLOT_CONTINUED);
	assert_int_equal(ring_slot_state(&ring, SLOTS + 1), SLOT_EVENT);
}

/* The events are in slots that a writer passed over. */
TEST(events_of_an_earlier_lap_are_discarded_too, set_up)
{
	put_events(SLOTS, 3 * SLOTS);
	write_event_to_slot(SLOTS + 5, 0, 0);
	assert_int_equal(ring_discard_flight(&ring, 3 * SLOTS, 3 * SLOTS), SLOTS);
}

/* The word 0 is the commit word of position 2^30, once the ring has been there. */
TEST(positions_wrap, set_up)
{
	const u64 wrap = 1ULL << 30;

	put_events(wrap + 4 - SLOTS, wrap + 4);
	assert_int_equal(slot_at(wrap)->commit, 0);
	assert_int_equal(ring_discard_flight(&ring, wrap + 2, wrap + 2), SLOTS - 2);
	assert_int_equal(ring_slot_state(&ring, wrap + 2), SLOT_EVENT);
}

/* A writer claims a discarded slot like any other, and counts no overwritten event. */
TEST(writers_claim_emptied_slots, set_up)
{
	put_events(SLOTS, SLOTS + 1);
	ring_discard_flight(&ring, SLOTS + 1, SLOTS + 1);
	assert_int_equal(ring_claim(&slot_at(SLOTS)->commit, 2 * SLOTS), CLAIM_CONTINUED);
}

TEST(a_discard_ends_at_a_slot_that_is_being_written, set_up)
{
	put_events(SLOTS, SLOTS + 10);
	write_event_to_slot(SLOTS + 2, KIND_DEFERRED_STACK, 0);
	write_event_to_slot(SLOTS + 7, 0, COMMIT_BUSY);
	assert_int_equal(ring_discard_drain(&ring, SLOTS + 10), 6);
	assert_int_equal(ring.header->tail, SLOTS + 7);
	write_event_to_slot(SLOTS + 7, 0, 0);
	assert_int_equal(ring_discard_drain(&ring, SLOTS + 9), 2);
	assert_int_equal(ring.header->tail, SLOTS + 9);
}

#define ROWS COUNTED_ROWS_LEAST

static const struct capture_config aggregating = {
	.aggregate = 1, .counted_rows = ROWS, .counted_ranges = COUNTED_RANGES_AT(ROWS)};
static u64 counted_memory[COUNTED_BYTES(ROWS, 1) / sizeof(u64)];
static struct counted_table *const counted = (struct counted_table *)counted_memory;

static void put_count(u32 row, enum counted_state state, u64 events, u64 reported)
{
	*counted_range_at(&aggregating, counted, row) = (struct counted_range){.begun = events};
	counted->row[row] = (struct counted_row){.state = state,
						 .count = events,
						 .value = 10 * events,
						 .reported_count = reported,
						 .reported_value = 10 * reported};
}

/* With ranges and without. */
TEST(counted_events_that_no_file_has_are_discarded, set_up)
{
	for (u32 ranges = 0; ranges < 2; ranges++) {
		const struct capture_config config = {
			.aggregate = ranges,
			.counted_rows = ROWS,
			.counted_ranges = aggregating.counted_ranges,
		};

		memset(counted_memory, 0, sizeof(counted_memory));
		counted->reported = 5;
		put_count(3, COUNTED_READY, 12, 5);
		put_count(ROWS - 1, COUNTED_READY, 4, 0);
		put_count(7, COUNTED_NEW, 0, 0);
		assert_int_equal(counted_table_discard(&config, counted), 11);
		assert_int_equal(counted->discarded, 11);
		assert_int_equal(counted->reported, 5);
		assert_int_equal(counted->row[3].reported_value, 120);
		assert_int_equal(counted_table_discard(&config, counted), 0);
		counted->row[3].count++;
		counted_range_at(&aggregating, counted, 3)->begun++;
		assert_int_equal(counted_table_discard(&config, counted), 1);
		assert_int_equal(counted->discarded, 12);
	}
}

static u64 overwritten, busy, written;

/* Writes events as the BPF programs do (bpf/state/ring_slots.h). */
static void *write_events(void *unused)
{
	(void)unused;
	for (u64 i = 0; i < ROUNDS; i++) {
		u64 position = atomic_fetch_add_acq_rel(&ring.header->head, 1);
		struct event_slot *slot = slot_at(position);
		enum ring_claim claim = ring_claim(&slot->commit, position);

		overwritten += claim == CLAIM_EVENT;
		if (claim < CLAIM_FRESH) {
			busy++;
			continue;
		}
		written++;
		atomic_store_relaxed(&slot->stamp, STAMP_OF(0ULL, 0, 0));
		atomic_store_release(&slot->commit, COMMIT_OF(position));
	}
	return NULL;
}

TEST(each_event_is_counted_once, set_up)
{
	pthread_t writer;
	u64 discarded = 0, left, head;

	assert_int_equal(pthread_create(&writer, NULL, write_events, NULL), 0);
	do {
		head = atomic_load_acquire(&ring.header->head);
		discarded += ring_discard_flight(&ring, head, head);
	} while (head < SLOTS + ROUNDS);
	pthread_join(writer, NULL);
	left = ring_discard_flight(&ring, head, head);
	assert_int_equal(written + busy, ROUNDS);
	assert_int_equal(written, overwritten + discarded + left);
	assert_true(overwritten > 0 && discarded > 0);
}
