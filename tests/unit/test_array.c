/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays grow, and are unchanged if they cannot grow. */
#include "array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "unit_test.h"

TEST(one_after_the_other)
{
	u32 *items = NULL, count = 0, room = 0;

	while (count < 1000) {
		assert_int_equal(array_make_room(items, count, room), 0);
		assert_in_range(room, count + 1, 64 + 2 * count);
		items[count] = count;
		count++;
	}
	for (u32 i = 0; i < count; i++)
		assert_int_equal(items[i], i);
	free(items);
}

TEST(many_at_once)
{
	u64 *items = NULL;
	size_t room = 0;

	assert_int_equal(array_make_rooms(items, 0, room), 0);
	assert_null(items);
	assert_int_equal(array_make_rooms(items, 1000, room), 0);
	assert_int_equal(room, 1000);
	assert_int_equal(array_make_rooms(items, 1001, room), 0);
	assert_int_equal(room, 2000);
	free(items);
}

TEST(new_elements_are_zero)
{
	u16 *items = NULL;
	u32 room = 0;

	for (u32 least = 10; least < 1000; least *= 3) {
		u32 before = room;

		assert_int_equal(array_make_zeroed(items, least, room), 0);
		for (u32 i = 0; i < room; i++) {
			assert_int_equal(items[i], i < before ? 1 : 0);
			items[i] = 1;
		}
	}
	free(items);
}

TEST(too_many)
{
	u64 *items = NULL, *before;
	u32 room = 0;

	assert_int_equal(array_make_rooms(items, 2, room), 0);
	before = items;
	assert_int_equal(array_make_rooms(items, 1ULL << 32, room), -ENOMEM);
	assert_int_equal(array_make_zeroed(items, 1ULL << 63, room), -ENOMEM);
	assert_true(items == before && room == 64);
	free(items);
}
