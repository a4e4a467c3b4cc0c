/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A note is {name size, descriptor size, type}, the name and the descriptor, each padded to 4
 * bytes; the build id is the descriptor of the note "GNU", type 3. The kernel gives its notes raw
 * in /sys. In a file the sections are searched first, then the segments if no section has the id. A
 * user's file may claim any number of notes of any size: at most PARTS_MAX sections and PARTS_MAX
 * segments with notes are read, and at most PART_BYTES_MAX of each.
 */
#include "build_id.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "trace/event.h"

#define PARTS_MAX 32
#define PART_BYTES_MAX 65536

static size_t padded(u32 bytes)
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
		name_bytes = padded(note.n_namesz);
		if (name_bytes > left || note.n_descsz > left - name_bytes)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at, "GNU", 4)) {
			if (note.n_descsz > TRACE_BUILD_ID_MAX)
				return 0;
			memcpy(build_id, at + name_bytes, note.n_descsz);
			return note.n_descsz;
		}
		if (padded(note.n_descsz) > left - name_bytes)
			return 0;
		at += name_bytes + padded(note.n_descsz);
	}
	return 0;
}

static int read_part(Elf *elf, u64 offset, u64 bytes, u8 *build_id)
{
	size_t read = bytes < PART_BYTES_MAX ? bytes : PART_BYTES_MAX;
	Elf_Data *data = read ? elf_getdata_rawchunk(elf, (int64_t)offset, read, ELF_T_BYTE) : NULL;

	return data ? build_id_from_notes(data->d_buf, data->d_size, build_id) : 0;
}

static int read_sections(Elf *elf, u8 *build_id)
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
		id_bytes = read_part(elf, header.sh_offset, header.sh_size, build_id);
		parts++;
	}
	return id_bytes;
}

static int read_segments(Elf *elf, u8 *build_id)
{
	size_t count;
	GElf_Phdr header;
	int id_bytes = 0;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (u32 i = 0, parts = 0; !id_bytes && i < count && parts < PARTS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		id_bytes = read_part(elf, header.p_offset, header.p_filesz, build_id);
		parts++;
	}
	return id_bytes;
}

int build_id_from_elf(Elf *elf, u8 *build_id)
{
	int id_bytes = read_sections(elf, build_id);

	return id_bytes ? id_bytes : read_segments(elf, build_id);
}
