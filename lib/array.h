/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow to twice their room: appending n items copies fewer than 2 n. */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#include <stddef.h>

#include "scalar.h"

/*
 * Makes room for one more item after the first `count` of `items`, a pointer from malloc() or
 * NULL. `room` is a variable with the allocated number of items, below 2^32. 0, or -ENOMEM without
 * any change.
 */
#define array_make_room(items, count, room) array_make_rooms(items, (count) + 1UL, room)

/* Makes room for at least `least` items; otherwise as array_make_room(). */
#define array_make_rooms(items, least, room) array_make(array_widen, items, least, room)

/* Makes room for at least `least` items; bytes of new items are zero. */
#define array_make_zeroed(items, least, room) array_make(array_widen_zeroed, items, least, room)

#define array_make(widen, items, least, room)                                                      \
	({                                                                                         \
		u32 room_ = (room);                                                                \
		u64 least_ = (least);                                                              \
		int err_ = 0;                                                                      \
                                                                                                   \
		if (least_ > room_)                                                                \
			err_ = widen(&(items), &room_, least_, sizeof(*(items)));                  \
		(room) = room_;                                                                    \
		err_;                                                                              \
	})

/* Both functions give the array room for at least `least` items. `items` is the address of the
 * pointer to the items. 0, or -ENOMEM without any change. */
int array_widen(void *items, u32 *room, u64 least, size_t item_bytes);
int array_widen_zeroed(void *items, u32 *room, u64 least, size_t item_bytes);

/* An array of texts that are borrowed, such as the arguments of a repeated option. */
struct string_list {
	const char **items;
	size_t count, room;
};

#endif
