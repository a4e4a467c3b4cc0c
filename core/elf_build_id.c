/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Program headers of type PT_NOTE give the offsets of notes. A note is {name size, descriptor size,
 * type}, the name and the descriptor, each padded to 4 bytes (System V ABI, "Note Section").
 * Linkers put notes into the first segment, where offsets in the file equal offsets in memory;
 * notes after that segment are ignored. All values read here are untrusted.
 */
#include "elf_build_id.h"

#define ELF_MAGIC 0x464c457fU
#define ELF_CLASS_32 1
#define ELF_CLASS_64 2
#define SEGMENT_NOTE 4
#define SEGMENTS_MAX 64
#define NOTES_MAX 16
#define NOTE_BUILD_ID 3
#define NOTE_NAME_GNU 0x00554e47U
#define NOTE_FIELD_MAX 4096U /* the longest name or descriptor that is skipped */

/*
 * Offsets of fields in the ELF header and in program headers. The ELF class is kept as it was read,
 * not as a boolean: the verifier would follow both values of a boolean to the end.
 */
#define IS_64(search) ((search)->class == ELF_CLASS_64)
#define HEADER_CLASS 4
#define HEADER_SEGMENTS(search) (IS_64(search) ? 32 : 28)
#define HEADER_SEGMENT_COUNT(search) (IS_64(search) ? 56 : 44)
#define SEGMENT_BYTES(search) (IS_64(search) ? 56 : 32)
#define SEGMENT_OFFSET(search) (IS_64(search) ? 8 : 4)
#define SEGMENT_FILE_BYTES(search) (IS_64(search) ? 32 : 16)

struct elf_note {
	u32 name_bytes;
	u32 bytes;
	u32 type;
	u32 name; /* the first four bytes of the name */
};
#define NOTE_HEAD_BYTES 12

CORE_PART bool read_elf_image_bytes(struct elf_build_id *search, u64 at, void *buffer, u32 bytes)
{
	if (at > search->bytes || search->bytes - at < bytes)
		return false;
	if (elf_read(search->image + at, buffer, bytes))
		return true;
	search->is_unreadable = 1;
	return false;
}

/* Reads a number of `bytes` bytes into search->number. */
CORE_GLOBAL_PART int read_elf_image_number(struct elf_build_id *search, u64 at, u32 bytes)
{
	if (core_is_null(search))
		return false;
	search->number = 0;
	core_one_register(bytes);
	return bytes <= sizeof(search->number) &&
	       read_elf_image_bytes(search, at, &search->number, bytes);
}

/* Reads an address-sized number of the ELF class. */
CORE_PART bool read_elf_image_offset(struct elf_build_id *search, u64 at)
{
	return read_elf_image_number(search, at, IS_64(search) ? 8 : 4);
}

CORE_PART u64 pad_to_4_bytes(u32 bytes)
{
	return ((u64)bytes + 3) & ~3ULL;
}

/*
 * Reads the build id of the current note. An id that is too long, or that ends after the end of the
 * notes, is ignored.
 */
CORE_PART void read_build_id_of_note(struct elf_build_id *search, u32 bytes)
{
	u64 at = search->at + NOTE_HEAD_BYTES + 4;

	core_one_register(bytes);
	if (bytes > MAPPING_BUILD_ID_MAX || at + bytes > search->end)
		return;
	if (read_elf_image_bytes(search, at, search->id, bytes))
		search->id_bytes = bytes;
}

static long search_elf_note(u32 i, void *arg)
{
	struct elf_build_id *search = *(struct elf_build_id **)arg;
	struct elf_note note = {0};

	if (search->at + sizeof(note) > search->end ||
	    !read_elf_image_bytes(search, search->at, &note, sizeof(note)) ||
	    note.name_bytes > NOTE_FIELD_MAX || note.bytes > NOTE_FIELD_MAX)
		return 1;
	if (note.type == NOTE_BUILD_ID && note.name_bytes == 4 && note.name == NOTE_NAME_GNU) {
		read_build_id_of_note(search, note.bytes);
		return 1;
	}
	search->at +=
		NOTE_HEAD_BYTES + pad_to_4_bytes(note.name_bytes) + pad_to_4_bytes(note.bytes);
	(void)i;
	return 0;
}

static long search_elf_segment(u32 i, void *arg)
{
	struct elf_build_id *search = *(struct elf_build_id **)arg;
	u64 at = search->segments_at + (u64)i * SEGMENT_BYTES(search);

	if (i >= search->segments || !read_elf_image_number(search, at, 4))
		return 1;
	if (search->number != SEGMENT_NOTE)
		return 0;
	if (!read_elf_image_offset(search, at + SEGMENT_OFFSET(search)))
		return 1;
	search->at = search->number;
	if (!read_elf_image_offset(search, at + SEGMENT_FILE_BYTES(search)))
		return 1;
	search->end = search->at + search->number;
	core_rare_loop(NOTES_MAX, search_elf_note, arg);
	return search->id_bytes || search->is_unreadable;
}

CORE_PART bool read_elf_header(struct elf_build_id *search)
{
	if (!read_elf_image_number(search, 0, 4) || search->number != ELF_MAGIC ||
	    !read_elf_image_number(search, HEADER_CLASS, 1))
		return false;
	search->class = search->number;
	if (search->class != ELF_CLASS_64 && search->class != ELF_CLASS_32)
		return false;
	if (!read_elf_image_offset(search, HEADER_SEGMENTS(search)))
		return false;
	search->segments_at = search->number;
	if (!read_elf_image_number(search, HEADER_SEGMENT_COUNT(search), 2))
		return false;
	search->segments = search->number;
	return true;
}

CORE_INLINE int elf_build_id_find(struct elf_build_id *search)
{
	if (read_elf_header(search))
		core_rare_loop(SEGMENTS_MAX, search_elf_segment, &search);
	if (search->id_bytes)
		return search->id_bytes;
	return search->is_unreadable ? -EAGAIN : 0;
}
