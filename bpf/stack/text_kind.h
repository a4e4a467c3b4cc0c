/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kind of the kernel function (abi/kernel_text.h) that contains an address: a binary search
 * behind a direct-mapped cache of addresses, because stacks repeat few addresses.
 */
#ifndef BPF_TEXT_KIND_H
#define BPF_TEXT_KIND_H

#include "kernel_text.h"
#include "state/scratch_slots.h"

SHARED_ARRAY_MAP(kernel_text, 1, struct kernel_text);

#define KERNEL_TEXT_STEPS 14 /* one more than log2(KERNEL_TEXT_MAX) */

/* Returns an enum text_kind. */
__noinline int text_kind_search(u64 address)
{
	u32 zero = 0, low = 0, high, step;
	struct kernel_text *text = bpf_map_lookup_elem(&kernel_text, &zero);

	if (!text)
		return TEXT_OTHER;
	high = text->count;
	for (step = 0; step < KERNEL_TEXT_STEPS && low < high; step++) {
		u32 middle = (low + high) / 2;
		struct text_range *range;

		core_one_register(middle);
		if (middle >= KERNEL_TEXT_MAX)
			return TEXT_OTHER;
		range = &text->range[middle];
		if (address >= range->start + range->bytes)
			low = middle + 1;
		else if (address < range->start)
			high = middle;
		else
			return range->kind;
	}
	return TEXT_OTHER;
}

static __always_inline u32 text_kind(struct scratch *scratch, u64 address)
{
	struct frame_seen *seen =
		&scratch->seen[(address ^ address >> 6) & (SCRATCH_FRAMES_SEEN - 1)];

	if (seen->address != address) {
		seen->address = address;
		seen->kind = text_kind_search(address);
	}
	return seen->kind;
}

#endif
