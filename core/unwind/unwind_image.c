/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All data is the process's own: a wrong header costs that process its own stacks, since addresses
 * from the header are only read through the checked reader.
 */
#include "unwind.h"

#define ELF_MAGIC_64_LITTLE 0x00010102464c457fULL /* 64-bit, little-endian, version 1 */
#define ELF_MAGIC_MASK 0x00ffffffffffffffULL	  /* any OS ABI */
#define SEGMENTS_MAX 64
#define SEGMENT_LOAD 1
#define SEGMENT_NOTE 4
#define SEGMENT_EH_FRAME 0x6474e550
#define SEGMENT_SFRAME 0x6474e554
#define SEGMENT_EXECUTABLE 1
#define SEGMENT_WRITABLE 2

CORE_PART struct image_range segment_range(const struct unwind *unwind)
{
	const struct elf_program_header *segment = &unwind->elf.segment;
	u64 start = unwind->image.bias + segment->address;

	return (struct image_range){.start = start, .end = start + segment->file_bytes};
}

/* Adds a segment. If there are too many, the last one is kept, which has .eh_frame. */
CORE_PART void segment_add(struct unwind *unwind)
{
	struct unwind_image *image = &unwind->image;
	u32 index = image->segment_count;

	core_one_register(index);
	if (index >= IMAGE_SEGMENTS_MAX)
		index = IMAGE_SEGMENTS_MAX - 1;
	image->segment[index] = segment_range(unwind);
	image->segment_offset[index] = unwind->elf.segment.offset;
	image->segment_count = index + 1;
}

/*
 * Takes a loaded segment. The header lies in the segment of file offset 0, wherever that was
 * loaded.
 */
CORE_PART void segment_load(struct unwind *unwind)
{
	const struct elf_program_header *segment = &unwind->elf.segment;

	if (segment->offset == 0)
		unwind->image.bias = unwind->image.header - segment->address;
	if ((segment->flags & (SEGMENT_WRITABLE | SEGMENT_EXECUTABLE)) != SEGMENT_WRITABLE)
		segment_add(unwind);
}

CORE_PART u64 segment_address(const struct unwind *unwind, u32 i)
{
	return unwind->image.header + unwind->elf.header.segments_offset +
	       (u64)i * sizeof(struct elf_program_header);
}

static long segment_take(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct elf_program_header *segment = &unwind->elf.segment;

	if (i >= unwind->elf.header.segment_count)
		return 1;
	if (!unwind_fetch(unwind, segment_address(unwind, i), segment, sizeof(*segment))) {
		unwind->image.header = 0;
		return 1;
	}
	if (segment->type == SEGMENT_LOAD)
		segment_load(unwind);
	else if (segment->type == SEGMENT_EH_FRAME)
		unwind->image.eh_frame_hdr = segment_range(unwind);
	else if (segment->type == SEGMENT_SFRAME)
		unwind->image.sframe = segment_range(unwind);
	else if (segment->type == SEGMENT_NOTE && !unwind->image.note)
		unwind->image.note = unwind->image.header + segment->offset;
	return 0;
}

CORE_INLINE u32 image_enter(struct unwind *unwind)
{
	struct elf_header *header = &unwind->elf.header;

	if (unwind->image.header == unwind->mapping.image)
		return STOP_NONE;
	unwind->image = (struct unwind_image){};
	if (!unwind_fetch(unwind, unwind->mapping.image, header, sizeof(*header)))
		return unwind_fetch_stop(unwind);
	if ((header->magic & ELF_MAGIC_MASK) != ELF_MAGIC_64_LITTLE ||
	    header->segment_bytes != sizeof(struct elf_program_header))
		return STOP_NO_RULE;
	unwind->image.header = unwind->mapping.image;
	core_loop(SEGMENTS_MAX, segment_take, &unwind);
	return unwind->image.header ? STOP_NONE : unwind_fetch_stop(unwind);
}
