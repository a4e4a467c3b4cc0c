/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kind of the kernel function (abi/config.h) that contains an address: a binary search,
 * after a lookup in a direct-mapped cache of addresses, because stacks repeat few addresses.
 */
#ifndef BPF_TEXT_KIND_H
#define BPF_TEXT_KIND_H

#include "config.h"
#include "state/scratch_slots.h"

SHARED_ARRAY_MAP(kernel_text, 1, struct kernel_text);

#define KERNEL_TEXT_STEPS 13 /* log2(KERNEL_TEXT_MAX) */

/*
 * Returns an enum text_kind. The address is in one of the `left` ranges from index `at` on. The
 * half is chosen by a product, as in find_last_entry() (core/unwind/table_search.c); kernel
 * addresses differ by less than 2^63.
 */
__noinline int text_kind_search(u64 address)
{
	u32 zero = 0, at = 0, left, step;
	struct kernel_text *text = bpf_map_lookup_elem(&kernel_text, &zero);
	struct text_range *range;

	if (!text)
		return TEXT_OTHER;
	left = text->count;
	for (step = 0; step < KERNEL_TEXT_STEPS; step++) {
		u32 half = left / 2, middle = at + half;

		core_one_register(middle);
		if (middle >= KERNEL_TEXT_MAX)
			return TEXT_OTHER;
		at += half * (u32)(1 - is_below(address, text->range[middle].start));
		left -= half;
	}
	core_one_register(at);
	if (at >= KERNEL_TEXT_MAX)
		return TEXT_OTHER;
	range = &text->range[at];
	return address - range->start < range->bytes ? range->kind : TEXT_OTHER;
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
