/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stackmap/stack_map.h"

#include <errno.h>

#include "unit_test.h"

static int map_create(void **state)
{
	return stackmap_map_create(STACKMAP_BITS_MIN, 0, (struct stackmap_map **)state, NULL);
}

static int map_free(void **state)
{
	stackmap_map_free((struct stackmap_map **)state);
	return *state ? -1 : 0;
}

TEST(a_stack_comes_back_as_it_went_in, map_create, map_free)
{
	const uint64_t frames[] = {0xffffffff81000000, 0x7f0000001234, 0, UINT64_MAX};
	struct stackmap_stack stack;
	uint64_t out[4];
	int64_t id = stackmap_map_get_id(*state, frames, 4);

	assert_true(id > 0);
	assert_int_equal(stackmap_map_get_id(*state, frames, 4), id);
	assert_int_equal(stackmap_map_find(*state, id, &stack, out, 4), 0);
	assert_memory_equal(out, frames, sizeof(frames));
	assert_int_equal(stack.depth, 4);
	assert_int_equal(stack.ref_count, 2);
	assert_false(stack.truncated);
}

TEST(find_writes_no_more_than_asked_for, map_create, map_free)
{
	const uint64_t frames[] = {1, 2, 3};
	uint64_t out[3] = {7, 7, 7};
	struct stackmap_stack stack;
	int64_t id = stackmap_map_get_id(*state, frames, 3);

	assert_int_equal(stackmap_map_find(*state, id, &stack, NULL, 0), 0);
	assert_int_equal(stackmap_map_find(*state, id, &stack, out, 1), 0);
	assert_int_equal(stack.depth, 3);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 7);
}

TEST(a_stack_too_deep_is_cut_and_says_so, map_create, map_free)
{
	uint64_t frames[STACKMAP_DEPTH_MAX + 1];
	struct stackmap_stack stack;
	int64_t cut, whole;

	for (int i = 0; i <= STACKMAP_DEPTH_MAX; i++)
		frames[i] = i;
	cut = stackmap_map_get_id(*state, frames, STACKMAP_DEPTH_MAX + 1);
	whole = stackmap_map_get_id(*state, frames, STACKMAP_DEPTH_MAX);
	assert_true(cut > 0 && whole > 0 && cut != whole);
	assert_int_equal(stackmap_map_find(*state, cut, &stack, NULL, 0), 0);
	assert_int_equal(stack.depth, STACKMAP_DEPTH_MAX);
	assert_true(stack.truncated);
}

TEST(no_frames_are_refused, map_create, map_free)
{
	assert_int_equal(stackmap_map_get_id(*state, NULL, 0), -EINVAL);
}

TEST(a_reset_makes_ids_stale_and_counts_anew, map_create, map_free)
{
	const uint64_t frames[] = {1, 2};
	struct stackmap_map_stat old, now;
	struct stackmap_stack stack;
	int64_t before = stackmap_map_get_id(*state, frames, 2), after;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(stackmap_map_reset(*state, &old), 0);
		assert_int_equal(old.refs, 1);
		assert_int_equal(stackmap_map_find(*state, before, &stack, NULL, 0), -ESTALE);
		stackmap_map_stat(*state, &now);
		assert_int_equal(now.generation, i + 2);
		assert_int_equal(now.entries + now.refs + now.pool_used, 0);
		after = stackmap_map_get_id(*state, frames, 2);
		assert_true(after > 0 && after != before);
		before = after;
	}
}

TEST(values_out_of_range_are_named)
{
	struct stackmap_map *map = NULL;
	struct stackmap_error error;

	assert_int_equal(stackmap_map_create(9, 0, &map, &error), -ERANGE);
	assert_string_equal(error.message, "bits 9: not in 10 to 20");
	assert_int_equal(stackmap_map_create(14, 8191, &map, &error), -ERANGE);
	assert_string_equal(error.message, "pool of 8191 bytes: not in 8192 to 503316480");
	assert_null(map);
}
