/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader has the symbols sorted by mapping and start. A recording may come from an attacker:
 * symbols whose addresses would wrap are left out. */
#include "code_layout.h"

#include <stddef.h>
#include <stdint.h>

#include "bisect.h"

static bool has_address(const struct trace_symbol *symbol)
{
	return symbol->address && symbol->size < UINT64_MAX - symbol->start &&
	       symbol->size < UINT64_MAX - symbol->address;
}

static void add(struct elf_segments *layout, const struct trace_symbol *symbol)
{
	struct elf_segment *last = layout->count ? &layout->segment[layout->count - 1] : NULL;
	u64 reach;

	if (last && last->address - last->offset == symbol->address - symbol->start) {
		reach = symbol->start + symbol->size - last->offset;
		last->bytes = reach > last->bytes ? reach : last->bytes;
	} else if (layout->count < ELF_SEGMENTS_MAX) {
		layout->segment[layout->count++] =
			(struct elf_segment){symbol->address, symbol->start, symbol->size};
	}
}

void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);
	u32 first = bisect(count, i, symbols[i].mapping < mapping);

	layout->count = 0;
	for (u32 i = first; i < count && symbols[i].mapping == mapping; i++)
		if (has_address(&symbols[i]))
			add(layout, &symbols[i]);
}
