/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the tracer's own frames off a kernel stack (abi/tracer_text.h): a binary search by address,
 * behind a direct-mapped memory of the addresses met before, because a tracepoint's stacks begin at
 * very few.
 */
#ifndef BPF_TRACER_FRAMES_H
#define BPF_TRACER_FRAMES_H

#include "lanes.h"
#include "tracer_text.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tracer_text);
} tracer_text SEC(".maps");

#define TRACER_FRAMES_MAX 4
#define TRACER_TEXT_STEPS 14 /* 2^13 = TRACER_TEXT_MAX */

/* Whether a range covers the address: 1 or 0. */
__noinline int tracer_text_covers(u64 address)
{
	u32 zero = 0, low = 0, high, step;
	struct tracer_text *text = bpf_map_lookup_elem(&tracer_text, &zero);

	if (!text)
		return 0;
	high = text->count;
	for (step = 0; step < TRACER_TEXT_STEPS && low < high; step++) {
		u32 middle = (low + high) / 2;
		struct text_range *range;

		core_one_register(middle);
		if (middle >= TRACER_TEXT_MAX)
			return 0;
		range = &text->range[middle];
		if (address >= range->end)
			low = middle + 1;
		else if (address < range->start)
			high = middle;
		else
			return 1;
	}
	return 0;
}

static __always_inline bool is_tracer_frame(struct lane *lane, u64 address)
{
	struct frame_seen *seen = &lane->seen[(address ^ address >> 6) & (LANE_FRAMES_SEEN - 1)];

	if (seen->address != address) {
		seen->address = address;
		seen->is_tracer = tracer_text_covers(address);
	}
	return seen->is_tracer;
}

/* Removes the first `count` frames of lane->kernel. */
__noinline int kernel_stack_shift(struct lane *lane, u32 count)
{
	u32 i;

	if (!lane || count > TRACER_FRAMES_MAX)
		return 0;
	for (i = 0; i < STACK_KERNEL_DEPTH_MAX && i < lane->kernel.depth; i++)
		lane->kernel.word[i] = lane->kernel.word[i + count];
	lane->kernel.depth -= count;
	return 0;
}

static __always_inline void kernel_stack_drop_tracer(struct lane *lane)
{
	u32 count;

	for (count = 0; count < TRACER_FRAMES_MAX && count < lane->kernel.depth; count++)
		if (!is_tracer_frame(lane, lane->kernel.word[count]))
			break;
	if (count)
		kernel_stack_shift(lane, count);
}

#endif
