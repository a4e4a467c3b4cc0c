/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A note is {name size, descriptor size, type}, the name and the descriptor, each padded to 4
 * bytes; the build id is the descriptor of the note "GNU", type 3. The kernel gives its notes raw
 * in /sys; in a file libdw finds them.
 */
#include "build_id.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <string.h>

#include "trace/event.h"

static size_t padded(u32 bytes)
{
	return ((size_t)bytes + 3) & ~(size_t)3;
}

static int copy_id(const void *id, size_t bytes, u8 *build_id)
{
	if (!bytes || bytes > TRACE_BUILD_ID_MAX)
		return 0;
	memcpy(build_id, id, bytes);
	return bytes;
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
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at, "GNU", 4))
			return copy_id(at + name_bytes, note.n_descsz, build_id);
		if (padded(note.n_descsz) > left - name_bytes)
			return 0;
		at += name_bytes + padded(note.n_descsz);
	}
	return 0;
}

int build_id_from_elf(Elf *elf, u8 *build_id)
{
	const void *id;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);

	return bytes > 0 ? copy_id(id, bytes, build_id) : 0;
}
