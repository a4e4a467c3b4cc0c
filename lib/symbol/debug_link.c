/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both links are a name with its NUL; in .gnu_debugaltlink the build id follows, in .gnu_debuglink
 * a checksum, for which nobody asks: build ids tell more. A name that would leave its folder is
 * none.
 */
#include "debug_link.h"

#include <gelf.h>
#include <string.h>

#include "build_id.h"
#include "elf_segment.h"

static Elf_Scn *find_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, &header)
					    ? elf_strptr(elf, names, header.sh_name)
					    : NULL;

		if (found && header.sh_type != SHT_NOBITS && !strcmp(found, name))
			return section;
	}
	return NULL;
}

Elf_Data *debug_link_section(Elf *elf, const char *name)
{
	Elf_Scn *section = find_section(elf, name);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return data && data->d_buf && data->d_size ? data : NULL;
}

/* The bytes of the name with its NUL, or 0. */
static size_t copy_name(const Elf_Data *data, char *name)
{
	size_t length = data ? strnlen(data->d_buf, data->d_size) : 0;

	if (!length || length == data->d_size || length >= DEBUG_LINK_BYTES)
		return 0;
	memcpy(name, data->d_buf, length + 1);
	return length + 1;
}

static void read_file_link(Elf *elf, struct debug_link *link)
{
	copy_name(debug_link_section(elf, ".gnu_debuglink"), link->file);
	if (strchr(link->file, '/') || !strcmp(link->file, "..") || !strcmp(link->file, "."))
		link->file[0] = 0;
}

static void read_shared_link(Elf *elf, struct debug_link *link)
{
	Elf_Data *data = debug_link_section(elf, ".gnu_debugaltlink");
	size_t at = copy_name(data, link->shared);
	size_t left = at ? data->d_size - at : 0;

	if (!left || left > sizeof(link->shared_id))
		return;
	memcpy(link->shared_id, (u8 *)data->d_buf + at, left);
	link->shared_id_bytes = left;
}

void debug_link_read(Elf *elf, struct debug_link *link)
{
	struct elf_segments segments;

	*link = (struct debug_link){};
	if (elf_kind(elf) != ELF_K_ELF)
		return;
	elf_segments_read(elf, &segments);
	link->build_id_bytes = build_id_from_elf(elf, link->build_id);
	link->has_dwarf = find_section(elf, ".debug_info") || find_section(elf, ".zdebug_info");
	link->has_symbols = find_section(elf, ".symtab") || find_section(elf, ".gnu_debugdata");
	link->has_code = segments.count && find_section(elf, ".text");
	read_file_link(elf, link);
	read_shared_link(elf, link);
}
