/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace/write/frame_addresses.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "order.h"
#include "stack.h"

/* A return address is looked up one byte before: a call may be a function's last instruction. */
static int add_lookup_address(void *arg, u64 frame, bool return_address)
{
	struct frame_addresses *addresses = arg;

	if ((return_address && !FRAME_OFFSET(frame)) || FRAME_IS_OMITTED(frame))
		return 0;
	if (FRAME_IS_GUESSED(frame))
		frame &= ~FRAME_GUESSED;
	if (array_make_room(addresses->items, addresses->count, addresses->room))
		return -ENOMEM;
	addresses->items[addresses->count++] = frame - return_address;
	return 0;
}

int frame_addresses_collect(struct trace_writer *writer, struct frame_addresses *out)
{
	int err = trace_writer_each_frame(writer, add_lookup_address, out);
	u32 kept = 0;

	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), compare_u64);
	for (u32 i = 0; i < out->count; i++)
		if (!kept || out->items[kept - 1] != out->items[i])
			out->items[kept++] = out->items[i];
	out->count = kept;
	return err;
}
