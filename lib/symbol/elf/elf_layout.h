/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of an ELF file: executable PT_LOAD segments, which map virtual addresses to file
 * offsets; sections of code; sections by name.
 *
 * Sections of code tell whether a function of the DWARF still exists. For a function that the
 * linker has removed, the DWARF has the address 0, or, from lld, the highest address. Some files
 * really begin at 0, and the first segment often begins at 0, too, with the headers of the file; so
 * only the sections decide.
 */
#ifndef LIB_SYMBOL_ELF_LAYOUT_H
#define LIB_SYMBOL_ELF_LAYOUT_H

#include <gelf.h>
#include <stdbool.h>

#include "scalar.h"

#define ELF_SEGMENTS_MAX 64

struct elf_segment {
	u64 address;
	u64 offset;
	u64 bytes;
};

struct elf_segments {
	struct elf_segment segment[ELF_SEGMENTS_MAX];
	u32 count;
};

void elf_segments_read(Elf *elf, struct elf_segments *segments);

/* The segment that holds a virtual address, or NULL. */
const struct elf_segment *elf_segment_of_address(const struct elf_segments *segments, u64 address);

/* The segment that holds a file offset, or NULL. */
const struct elf_segment *elf_segment_at_offset(const struct elf_segments *segments, u64 offset);

/* Reads the address ranges of the sections that have code. `elf` is the file with the DWARF: a
 * debug file that was split off has the section headers, too. 0 or -ENOMEM. */
struct code_ranges;
int elf_text_read(Elf *elf, struct code_ranges *text);
bool elf_text_holds(const struct code_ranges *text, u64 address);

/* The first section of this name that has bytes in the file, and its header; or NULL. */
Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *header);

#endif
