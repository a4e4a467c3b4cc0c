/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both links are a name with its NUL. A build id follows in .gnu_debugaltlink, a checksum in
 * .gnu_debuglink; the checksum is not used, as build ids tell more. A name in .gnu_debuglink that
 * has a path separator is rejected.
 */
#include "debug_link.h"

#include <gelf.h>
#include <string.h>

#include "build_id.h"
#include "elf_layout.h"

static bool has_section(Elf *elf, const char *name)
{
	GElf_Shdr header;

	return elf_section_find(elf, name, &header);
}

Elf_Data *debug_link_section(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(elf, name, &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return data && data->d_buf && data->d_size ? data : NULL;
}

/* Returns the bytes of the name with its NUL; 0: no name. */
static size_t copy_name(const Elf_Data *data, char *name)
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
	link->has_code = segments.count && has_section(elf, ".text");
	copy_name(debug_link_section(elf, ".gnu_debuglink"), link->file);
	if (strchr(link->file, '/') || !strcmp(link->file, "..") || !strcmp(link->file, "."))
		link->file[0] = 0;
	shared = debug_link_section(elf, ".gnu_debugaltlink");
	name_bytes = copy_name(shared, link->shared);
	left = name_bytes ? shared->d_size - name_bytes : 0;
	if (left && left <= sizeof(link->shared_id)) {
		memcpy(link->shared_id, (u8 *)shared->d_buf + name_bytes, left);
		link->shared_id_bytes = left;
	}
}
