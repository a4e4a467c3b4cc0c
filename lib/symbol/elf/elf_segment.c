/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments whose ends would wrap are left out, so that later sums need no check. */
#include "elf_segment.h"

#include <stddef.h>

static bool is_code(const GElf_Phdr *header)
{
	return header->p_type == PT_LOAD && (header->p_flags & PF_X) && header->p_filesz &&
	       header->p_vaddr + header->p_filesz > header->p_vaddr &&
	       header->p_offset + header->p_filesz > header->p_offset;
}

void elf_segments_read(Elf *elf, struct elf_segments *segments)
{
	size_t count = 0;

	segments->count = 0;
	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && segments->count < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, i, &header) && is_code(&header))
			segments->segment[segments->count++] = (struct elf_segment){
				.address = header.p_vaddr,
				.offset = header.p_offset,
				.bytes = header.p_filesz,
			};
	}
}

const struct elf_segment *elf_segment_of(const struct elf_segments *segments, u64 address)
{
	for (u32 i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->segment[i];

		if (address >= segment->address && address - segment->address < segment->bytes)
			return segment;
	}
	return NULL;
}

const struct elf_segment *elf_segment_at(const struct elf_segments *segments, u64 offset)
{
	for (u32 i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->segment[i];

		if (offset >= segment->offset && offset - segment->offset < segment->bytes)
			return segment;
	}
	return NULL;
}
