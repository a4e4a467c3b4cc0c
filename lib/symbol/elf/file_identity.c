/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A note is {name size, descriptor size, type}, the name and the descriptor, each padded to 4
 * bytes; the build id is the descriptor of the note "GNU", type 3. The kernel gives its notes raw
 * in /sys. In a file the sections are searched first, then the segments if no section has the id. A
 * user's file may claim any number of notes of any size: at most PARTS_MAX sections and PARTS_MAX
 * segments with notes are read, and at most PART_BYTES_MAX of each.
 *
 * The sections .gnu_debuglink and .gnu_debugaltlink begin with a name and its NUL. A build id
 * follows in .gnu_debugaltlink, a checksum in .gnu_debuglink; the checksum is not used, as build
 * ids tell more. A name in .gnu_debuglink that has a path separator is rejected.
 */
#include "symbol/elf/file_identity.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "elf_layout.h"
#include "trace/event.h"

#define PARTS_MAX 32
#define PART_BYTES_MAX 65536

static size_t round_up_to_note_alignment(u32 bytes)
{
	return ((size_t)bytes + 3) & ~(size_t)3;
}

int build_id_from_notes(const void *notes, size_t bytes, u8 *build_id)
{
	const u8 *at = notes, *end = at + bytes;
	Elf64_Nhdr note;

	while ((size_t)(end - at) >= sizeof(note)) {
		size_t name_bytes, left;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		left = end - at;
		name_bytes = round_up_to_note_alignment(note.n_namesz);
		if (name_bytes > left || note.n_descsz > left - name_bytes)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at, "GNU", 4)) {
			if (note.n_descsz > TRACE_BUILD_ID_MAX)
				return 0;
			memcpy(build_id, at + name_bytes, note.n_descsz);
			return note.n_descsz;
		}
		if (round_up_to_note_alignment(note.n_descsz) > left - name_bytes)
			return 0;
		at += name_bytes + round_up_to_note_alignment(note.n_descsz);
	}
	return 0;
}

static int read_build_id_note(Elf *elf, u64 offset, u64 bytes, u8 *build_id)
{
	size_t read = bytes < PART_BYTES_MAX ? bytes : PART_BYTES_MAX;
	Elf_Data *data = read ? elf_getdata_rawchunk(elf, (int64_t)offset, read, ELF_T_BYTE) : NULL;

	return data ? build_id_from_notes(data->d_buf, data->d_size, build_id) : 0;
}

static int build_id_from_sections(Elf *elf, u8 *build_id)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int id_bytes = 0;

	for (u32 parts = 0; !id_bytes && parts < PARTS_MAX;) {
		section = elf_nextscn(elf, section);
		if (!section)
			break;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		id_bytes = read_build_id_note(elf, header.sh_offset, header.sh_size, build_id);
		parts++;
	}
	return id_bytes;
}

static int build_id_from_segments(Elf *elf, u8 *build_id)
{
	size_t count;
	GElf_Phdr header;
	int id_bytes = 0;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (u32 i = 0, parts = 0; !id_bytes && i < count && parts < PARTS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		id_bytes = read_build_id_note(elf, header.p_offset, header.p_filesz, build_id);
		parts++;
	}
	return id_bytes;
}

int build_id_from_elf(Elf *elf, u8 *build_id)
{
	int id_bytes = build_id_from_sections(elf, build_id);

	return id_bytes ? id_bytes : build_id_from_segments(elf, build_id);
}

static bool has_section(Elf *elf, const char *name)
{
	GElf_Shdr header;

	return elf_section_find(elf, name, &header);
}

Elf_Data *elf_section_data(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(elf, name, &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return data && data->d_buf && data->d_size ? data : NULL;
}

/* Copies the name at the start of a section with a debug link. Returns the length with the NUL; 0:
 * no name. */
static size_t copy_debug_link_name(const Elf_Data *data, char *name)
{
	size_t length = data ? strnlen(data->d_buf, data->d_size) : 0;

	if (!length || length == data->d_size || length >= DEBUG_LINK_BYTES)
		return 0;
	memcpy(name, data->d_buf, length + 1);
	return length + 1;
}

void debug_link_read(Elf *elf, struct debug_link *link)
{
	struct elf_segments segments;
	size_t name_bytes, left;
	Elf_Data *shared;

	*link = (struct debug_link){};
	if (elf_kind(elf) != ELF_K_ELF)
		return;
	elf_segments_read(elf, &segments);
	link->build_id_bytes = build_id_from_elf(elf, link->build_id);
	link->has_dwarf = has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
	link->has_symbols = has_section(elf, ".symtab") || has_section(elf, ".gnu_debugdata");
	link->has_go = has_section(elf, ".gopclntab") || has_section(elf, ".noptrdata");
	link->is_graalvm = has_section(elf, ".svm_heap");
	link->has_code = segments.count && has_section(elf, ".text");
	copy_debug_link_name(elf_section_data(elf, ".gnu_debuglink"), link->file);
	if (strchr(link->file, '/') || !strcmp(link->file, "..") || !strcmp(link->file, "."))
		link->file[0] = 0;
	shared = elf_section_data(elf, ".gnu_debugaltlink");
	name_bytes = copy_debug_link_name(shared, link->shared);
	left = name_bytes ? shared->d_size - name_bytes : 0;
	if (left && left <= sizeof(link->shared_id)) {
		memcpy(link->shared_id, (u8 *)shared->d_buf + name_bytes, left);
		link->shared_id_bytes = left;
	}
}
