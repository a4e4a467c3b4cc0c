/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the code of an ELF file lies: between virtual addresses and file offsets, through its
 * executable PT_LOAD segments. */
#ifndef LIB_SYMBOL_ELF_SEGMENT_H
#define LIB_SYMBOL_ELF_SEGMENT_H

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

/* The segment of an address, or NULL if no code of the file is mapped there. */
const struct elf_segment *elf_segment_of(const struct elf_segments *segments, u64 address);

/* The segment that holds a file offset, or NULL. */
const struct elf_segment *elf_segment_at(const struct elf_segments *segments, u64 offset);

#endif
