/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the task's memory for the unwinder: the bytes of a table, the code around a pc, and the
 * program headers of a mapped ELF file.
 *
 * The window, a copy of the bytes around the position, is filled from the position on: tables are
 * read forwards, and a read of 256 bytes costs little more than one of 8. The window ends at the
 * end of the table, because the memory after the table may be missing.
 */
#include "unwind.h"

/* DW_EH_PE_*, the Linux Standard Base's pointer encodings. */
#define POINTER_FORMAT(encoding) ((encoding)&0x0f)
#define POINTER_RELATION(encoding) ((encoding)&0x70)
#define POINTER_INDIRECT 0x80
#define POINTER_OMITTED 0xff
#define RELATIVE_TO_NOTHING 0x00
#define RELATIVE_TO_FIELD 0x10
#define RELATIVE_TO_DATA 0x30

enum pointer_format {
	FORMAT_ABSOLUTE = 0x0,
	FORMAT_ULEB128 = 0x1,
	FORMAT_U16 = 0x2,
	FORMAT_U32 = 0x3,
	FORMAT_U64 = 0x4,
	FORMAT_SLEB128 = 0x9,
	FORMAT_S16 = 0xa,
	FORMAT_S32 = 0xb,
	FORMAT_S64 = 0xc,
};

CORE_PART bool read_within_budget(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return unwind_spend_budget(unwind) && unwind_read(unwind, address, buffer, bytes);
}

CORE_SUBPROGRAM bool unwind_fetch(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return read_within_budget(unwind, address, buffer, bytes);
}

CORE_PART bool window_has_bytes(const struct unwind_bytes *bytes, u64 needed)
{
	return bytes->at >= bytes->start && bytes->at - bytes->start < bytes->filled &&
	       bytes->filled - (bytes->at - bytes->start) >= needed;
}

/*
 * The number of bytes to read into the window; 0: the window already has all bytes of the next
 * step, or has reached the end of the table.
 */
CORE_GLOBAL_PART u32 window_bytes_to_read(struct unwind *unwind)
{
	struct unwind_bytes *bytes;
	u64 left;

	if (core_is_null(unwind))
		return 0;
	bytes = &unwind->bytes;
	left = bytes->end - bytes->at;
	if (bytes->at >= bytes->end ||
	    window_has_bytes(bytes, left < BYTES_STEP ? left : BYTES_STEP))
		return 0;
	bytes->filled = 0;
	bytes->start = bytes->at;
	return left < BYTES_WINDOW ? left : BYTES_WINDOW;
}

/*
 * The result of bytes_make_ready(). It is computed in a function of its own, so that the verifier
 * follows one number in the callers, not a path for each constant.
 */
CORE_GLOBAL_PART u32 stop_reason_of_window_read(struct unwind *unwind)
{
	const struct unwind_bytes *bytes;

	if (core_is_null(unwind))
		return STOP_BAD_TABLE;
	bytes = &unwind->bytes;
	if (bytes->at >= bytes->end)
		return STOP_BAD_TABLE;
	return bytes->filled ? STOP_NONE : stop_reason_of_failed_table_read(unwind);
}

CORE_SUBPROGRAM u32 bytes_make_ready(struct unwind *unwind)
{
	u32 count = window_bytes_to_read(unwind);
	struct unwind_bytes *bytes = &unwind->bytes;

	if (count) {
		core_one_register(count);
		if (count <= BYTES_WINDOW &&
		    read_within_budget(unwind, bytes->at, bytes->window, count))
			bytes->filled = count;
	}
	return stop_reason_of_window_read(unwind);
}

/* Decodes the number of an encoded pointer, before its base is added. False: unknown format. */
CORE_PART bool decode_pointer(struct unwind_bytes *bytes, u32 format, u64 *value)
{
	u64 raw = bytes_peek(bytes);
	struct leb128 leb = leb128_decode(raw);
	u64 size;

	switch (format) {
	case FORMAT_ABSOLUTE:
	case FORMAT_U64:
	case FORMAT_S64:
		*value = raw;
		size = 8;
		break;
	case FORMAT_U32:
		*value = (u32)raw;
		size = 4;
		break;
	case FORMAT_S32:
		*value = (s32)raw;
		size = 4;
		break;
	case FORMAT_U16:
		*value = (u16)raw;
		size = 2;
		break;
	case FORMAT_S16:
		*value = (s16)raw;
		size = 2;
		break;
	case FORMAT_ULEB128:
		*value = leb.value;
		size = leb.bytes;
		break;
	case FORMAT_SLEB128:
		*value = leb.signed_value;
		size = leb.bytes;
		break;
	default:
		return false;
	}
	bytes->at += size;
	return size <= sizeof(raw);
}

CORE_PART bool add_pointer_base(u32 relation, u64 field, u64 data, u64 *value)
{
	if (relation == RELATIVE_TO_FIELD)
		*value += field;
	else if (relation == RELATIVE_TO_DATA)
		*value += data;
	else
		return relation == RELATIVE_TO_NOTHING;
	return true;
}

/*
 * Reads an encoded pointer, without following an indirection. False: an encoding that no toolchain
 * writes.
 */
CORE_GLOBAL_PART int read_pointer(struct unwind *unwind, u32 encoding, u64 data)
{
	u64 field;

	if (core_is_null(unwind))
		return false;
	field = unwind->bytes.at;
	return encoding != POINTER_OMITTED &&
	       decode_pointer(&unwind->bytes, POINTER_FORMAT(encoding), &unwind->pointer) &&
	       add_pointer_base(POINTER_RELATION(encoding), field, data, &unwind->pointer);
}

CORE_SUBPROGRAM u32 bytes_take_encoded_pointer(struct unwind *unwind, u32 encoding, u64 data)
{
	if (!read_pointer(unwind, encoding, data))
		return STOP_UNSUPPORTED;
	if (encoding & POINTER_INDIRECT &&
	    !read_within_budget(unwind, unwind->pointer, &unwind->pointer, sizeof(unwind->pointer)))
		return stop_reason_of_failed_table_read(unwind);
	return STOP_NONE;
}

#define WORD 8

/*
 * Reads the code before the pc, as far as it lies in the pc's mapping, and `after` bytes from the
 * pc on.
 */
CORE_PART bool read_code_around_pc_of_mapping(struct unwind *unwind, u32 after)
{
	u64 pc = unwind->registers.value[REGISTER_PC];
	u32 missing = near_code_bytes_before_mapping(pc, unwind->mapping.start);

	core_one_register(missing);
	core_one_register(after);
	return missing <= NEAR_CODE_BEFORE && after <= NEAR_CODE_AFTER &&
	       unwind_fetch(unwind, pc - (NEAR_CODE_BEFORE - missing),
			    (u8 *)unwind->near.word + missing, NEAR_CODE_BEFORE - missing + after);
}

/* Reads the code around the pc, or at least one instruction. */
CORE_PART bool fetch_code_around_pc(struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC];
	u32 after = near_code_bytes_after_pc(pc, unwind->mapping.end);

	near_code_clear(&unwind->near);
	unwind->code_seen = pc + after;
	if (read_code_around_pc_of_mapping(unwind, after))
		return true;
	unwind->code_seen = pc + WORD;
	return read_code_around_pc_of_mapping(unwind, WORD);
}

/*
 * True if the rule does not depend on the bounds of the mapping: a process may split a mapping
 * anywhere.
 */
CORE_PART bool is_rule_independent_of_mapping(const struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC], after = unwind->code_seen - pc;

	return pc - unwind->mapping.start >= NEAR_CODE_BEFORE &&
	       (after == NEAR_CODE_AFTER || unwind->near.at + NEAR_CODE_STEP <= after);
}

CORE_SUBPROGRAM u32 unwind_code_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	if (!fetch_code_around_pc(unwind))
		return stop_reason_of_failed_table_read(unwind);
	if (!code_rule(&unwind->near, rule, unwind->is_compat ? WORD / 2 : WORD,
		       unwind->is_interrupted, unwind->registers.value[REGISTER_RESULT]) ||
	    !is_rule_independent_of_mapping(unwind))
		unwind->code_seen = CODE_UNREADABLE;
	return STOP_NONE;
}

/*
 * All data is the process's own. A wrong header costs that process its own stacks, since memory at
 * addresses from the header is only read by checked reads.
 */

/* ELF magic: 64-bit, little-endian, version 1. */
#define ELF_MAGIC_64_LITTLE 0x00010102464c457fULL
#define ELF_MAGIC_MASK 0x00ffffffffffffffULL /* any OS ABI */
#define SEGMENTS_MAX 64
#define SEGMENT_LOAD 1
#define SEGMENT_NOTE 4
#define SEGMENT_EH_FRAME 0x6474e550
#define SEGMENT_SFRAME 0x6474e554
#define SEGMENT_EXECUTABLE 1
#define SEGMENT_WRITABLE 2

CORE_PART struct image_range mapped_segment_range(const struct unwind *unwind)
{
	const struct elf_program_header *segment = &unwind->elf.segment;
	u64 start = unwind->image.bias + segment->address;

	return (struct image_range){.start = start, .end = start + segment->file_bytes};
}

/*
 * Adds a segment to the image. If there are too many, the last one replaces its predecessor, as the
 * last one has .eh_frame.
 */
CORE_PART void add_image_segment(struct unwind *unwind)
{
	struct unwind_image *image = &unwind->image;
	u32 index = image->segment_count;

	core_one_register(index);
	if (index >= IMAGE_SEGMENTS_MAX)
		index = IMAGE_SEGMENTS_MAX - 1;
	image->segment[index] = mapped_segment_range(unwind);
	image->segment_offset[index] = unwind->elf.segment.offset;
	image->segment_count = index + 1;
}

/*
 * Records a loaded segment. The ELF header lies in the segment of file offset 0, wherever that was
 * loaded.
 */
CORE_PART void record_elf_segment(struct unwind *unwind)
{
	const struct elf_program_header *segment = &unwind->elf.segment;

	if (segment->offset == 0)
		unwind->image.bias = unwind->image.header - segment->address;
	if ((segment->flags & (SEGMENT_WRITABLE | SEGMENT_EXECUTABLE)) != SEGMENT_WRITABLE)
		add_image_segment(unwind);
}

static long read_program_header(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct elf_program_header *segment = &unwind->elf.segment;

	if (i >= unwind->elf.header.segment_count)
		return 1;
	if (!unwind_fetch(unwind,
			  unwind->image.header + unwind->elf.header.segments_offset +
				  (u64)i * sizeof(*segment),
			  segment, sizeof(*segment))) {
		unwind->image.header = 0;
		return 1;
	}
	if (segment->type == SEGMENT_LOAD)
		record_elf_segment(unwind);
	else if (segment->type == SEGMENT_EH_FRAME)
		unwind->image.eh_frame_hdr = mapped_segment_range(unwind);
	else if (segment->type == SEGMENT_SFRAME)
		unwind->image.sframe = mapped_segment_range(unwind);
	else if (segment->type == SEGMENT_NOTE && !unwind->image.note)
		unwind->image.note = unwind->image.header + segment->offset;
	return 0;
}

CORE_INLINE u32 image_read_headers(struct unwind *unwind)
{
	struct elf_header *header = &unwind->elf.header;

	if (unwind->image.header == unwind->mapping.image)
		return STOP_NONE;
	unwind->image = (struct unwind_image){};
	if (!unwind_fetch(unwind, unwind->mapping.image, header, sizeof(*header)))
		return stop_reason_of_failed_table_read(unwind);
	if ((header->magic & ELF_MAGIC_MASK) != ELF_MAGIC_64_LITTLE ||
	    header->segment_bytes != sizeof(struct elf_program_header))
		return STOP_NO_RULE;
	unwind->image.header = unwind->mapping.image;
	core_rare_loop(SEGMENTS_MAX, read_program_header, &unwind);
	return unwind->image.header ? STOP_NONE : stop_reason_of_failed_table_read(unwind);
}
