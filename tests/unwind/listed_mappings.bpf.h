/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that an embedder of the unwinder defines (core/unwind/unwind.h), with mappings from
 * control.mappings and addresses as frames. The includer defines reads and caches. */
#ifndef TESTS_UNWIND_LISTED_MAPPINGS_BPF_H
#define TESTS_UNWIND_LISTED_MAPPINGS_BPF_H

struct find {
	struct unwind *unwind;
	u64 pc;
	u64 found;
};

static long find_step(u32 i, void *arg)
{
	struct find *find = arg;
	const struct listed_mapping *mapping;

	if (i >= control.mappings.count || i >= LISTED_MAPPINGS_MAX)
		return 1;
	mapping = &control.mappings.item[i];
	if (find->pc < mapping->start || find->pc >= mapping->end)
		return 0;
	find->unwind->mapping.start = mapping->start;
	find->unwind->mapping.end = mapping->end;
	find->unwind->mapping.image = mapping->image;
	find->found = 1;
	return 1;
}

CORE_INLINE bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	struct find find = {.unwind = unwind, .pc = pc};

	core_loop(LISTED_MAPPINGS_MAX, find_step, &find);
	return find.found;
}

CORE_INLINE bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

CORE_INLINE bool unwind_wait_for_missing_page(struct unwind *unwind)
{
	return false;
}

CORE_INLINE u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	return pc;
}

CORE_INLINE bool unwind_find_cached_rule(struct unwind *unwind)
{
	return false;
}

#endif
