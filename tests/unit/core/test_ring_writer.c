/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Positions that a writer reserves, and the state of the slot that it claims, also where the 30
 * bits of a commit word wrap. */
#include <stdint.h>

#include "ring_writer.h"
#include "unit_test.h"

#define SLOTS 64
#define ROUND (1ULL << 30) /* positions until commit words repeat */

/* The commit word that the writer of `position` leaves. */
static u32 commit_word_of_position(u64 position, u32 marks)
{
	return COMMIT_OF(position) | marks;
}

TEST(drain_takes_what_the_reader_has_given_back)
{
	struct ring_header ring = {.head = SLOTS, .tail = SLOTS};

	assert_int_equal(ring_take_positions(&ring, SLOTS, SLOTS - 1), SLOTS);
	assert_int_equal(ring_take_positions(&ring, SLOTS, 2), 0);
	assert_int_equal(ring_take_positions(&ring, SLOTS, 1), 2 * SLOTS - 1);
	assert_int_equal(ring_take_positions(&ring, SLOTS, 1), 0);
	ring.tail += 1;
	assert_int_equal(ring_take_positions(&ring, SLOTS, 1), 2 * SLOTS);
	assert_int_equal(ring.head, 2 * SLOTS + 1);
}

TEST(claim_returns_the_former_state)
{
	u64 position = 5 * SLOTS;
	u32 never = 0, event = commit_word_of_position(position - SLOTS, 0);
	u32 run = commit_word_of_position(position - SLOTS, COMMIT_CONTINUED);

	assert_int_equal(ring_claim(&never, position), CLAIM_FRESH);
	assert_int_equal(ring_claim(&event, position), CLAIM_EVENT);
	assert_int_equal(ring_claim(&run, position), CLAIM_CONTINUED);
	assert_int_equal(never, commit_word_of_position(position, COMMIT_BUSY));
	assert_int_equal(event, commit_word_of_position(position, COMMIT_BUSY));
	assert_int_equal(run, commit_word_of_position(position, COMMIT_BUSY));
}

TEST(claim_changes_no_other_slot)
{
	u64 position = 5 * SLOTS;
	u32 busy = commit_word_of_position(position - SLOTS, COMMIT_BUSY),
	    newer = commit_word_of_position(position + SLOTS, 0);

	assert_int_equal(ring_claim(&busy, position), CLAIM_BUSY);
	assert_int_equal(busy, commit_word_of_position(position - SLOTS, COMMIT_BUSY));
	assert_int_equal(ring_claim(&newer, position), CLAIM_LAPPED);
	assert_int_equal(newer, commit_word_of_position(position + SLOTS, 0));
}

/* The event at a position that is a multiple of 2^30 has a commit word of zero. */
TEST(the_word_zero_is_an_event_after_a_wrap)
{
	u32 event = commit_word_of_position(ROUND, 0), newer = event;

	assert_int_equal(event, 0);
	assert_int_equal(ring_claim(&event, ROUND + SLOTS), CLAIM_EVENT);
	assert_int_equal(ring_claim(&newer, ROUND - SLOTS), CLAIM_LAPPED);
}

TEST(order_holds_across_the_wrap)
{
	u32 older = commit_word_of_position(ROUND - SLOTS / 2, 0),
	    newer = commit_word_of_position(ROUND + SLOTS / 2, 0);

	assert_int_equal(ring_claim(&older, ROUND + SLOTS / 2), CLAIM_EVENT);
	assert_int_equal(ring_claim(&newer, ROUND - SLOTS / 2), CLAIM_LAPPED);
}
