/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pointer `*items` may be of any type, so it is copied as bytes. */
#include "array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64

int array_widen(void *items, u32 *room, u64 least, size_t item_bytes)
{
	u64 wider = *room ? 2ULL * *room : ROOM_FIRST;
	void *array;

	wider = wider < least ? least : wider > UINT32_MAX ? UINT32_MAX : wider;
	if (wider > UINT32_MAX)
		return -ENOMEM;
	memcpy(&array, items, sizeof(array));
	array = reallocarray(array, wider, item_bytes);
	if (!array)
		return -ENOMEM;
	memcpy(items, &array, sizeof(array));
	*room = wider;
	return 0;
}

int array_widen_zeroed(void *items, u32 *room, u64 least, size_t item_bytes)
{
	u32 before = *room;
	int err = array_widen(items, room, least, item_bytes);
	char *array;

	if (err)
		return err;
	memcpy(&array, items, sizeof(array));
	memset(array + before * item_bytes, 0, (*room - before) * item_bytes);
	return 0;
}
