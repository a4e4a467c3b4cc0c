/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments whose ends would wrap are left out, so that later sums need no check. */
#include "elf_layout.h"
#include "symbol/table/code_ranges.h"

#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <string.h>

/*
 * Sections of an ELF file, by name.
 *
 * Debug files have the headers of sections whose bytes are in another file: SHT_NOBITS.
 */

Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, header)
					    ? elf_strptr(elf, names, header->sh_name)
					    : NULL;

		if (found && header->sh_type != SHT_NOBITS && !strcmp(found, name))
			return section;
	}
	return NULL;
}

/* The ranges of code of an ELF file, from its section headers. code_ranges_add() leaves out a
 * section whose end would wrap. */

#define CODE_FLAGS (SHF_ALLOC | SHF_EXECINSTR)

int elf_text_read(Elf *elf, struct code_ranges *text)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & CODE_FLAGS) == CODE_FLAGS)
			result = code_ranges_add(text, header.sh_addr,
						 header.sh_addr + header.sh_size, 0);
	code_ranges_seal(text);
	return result;
}

bool elf_text_holds(const struct code_ranges *text, u64 address)
{
	u32 section;

	return code_ranges_find(text, address, &section);
}

void elf_segments_read(Elf *elf, struct elf_segments *segments)
{
	size_t count = 0;

	segments->count = 0;
	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && segments->count < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, i, &header) && header.p_type == PT_LOAD &&
		    (header.p_flags & PF_X) && header.p_filesz &&
		    header.p_vaddr + header.p_filesz > header.p_vaddr &&
		    header.p_offset + header.p_filesz > header.p_offset)
			segments->segment[segments->count++] = (struct elf_segment){
				.address = header.p_vaddr,
				.offset = header.p_offset,
				.bytes = header.p_filesz,
			};
	}
}

const struct elf_segment *elf_segment_of_address(const struct elf_segments *segments, u64 address)
{
	for (u32 i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->segment[i];

		if (address >= segment->address && address - segment->address < segment->bytes)
			return segment;
	}
	return NULL;
}

const struct elf_segment *elf_segment_at_offset(const struct elf_segments *segments, u64 offset)
{
	for (u32 i = 0; i < segments->count; i++) {
		const struct elf_segment *segment = &segments->segment[i];

		if (offset >= segment->offset && offset - segment->offset < segment->bytes)
			return segment;
	}
	return NULL;
}
