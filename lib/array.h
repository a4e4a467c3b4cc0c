/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow to twice their room: appending n items copies fewer than 2 n. */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#include <errno.h>
#include <stdlib.h>

#define ARRAY_ROOM_FIRST 64

#define array_wider(room) ((room) ? 2 * (room) : ARRAY_ROOM_FIRST)

/* Room for one more behind the first `count` of `items`, a pointer from malloc() or NULL; `room`, a
 * variable, is what there is. 0, or -ENOMEM: nothing has changed. */
#define array_make_room(items, count, room)                                                        \
	({                                                                                         \
		void *wider_ = (items);                                                            \
                                                                                                   \
		if ((count) >= (room)) {                                                           \
			wider_ = array_wider(room) <= (room)                                       \
					 ? NULL                                                    \
					 : reallocarray((items), array_wider(room),                \
							sizeof(*(items)));                         \
			if (wider_) {                                                              \
				(items) = wider_;                                                  \
				(room) = array_wider(room);                                        \
			}                                                                          \
		}                                                                                  \
		wider_ ? 0 : -ENOMEM;                                                              \
	})

#endif
