/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deflate makes at most 258 bytes of two bits, which is 1032 of one byte: who says more lies, and
 * libelf would take the memory first. ".zdebug_" is how sections were compressed before
 * SHF_COMPRESSED: "ZLIB" and the size, big-endian.
 */
#include "debug_sections.h"

#include <endian.h>
#include <string.h>

#include "scalar.h"

#define INFLATED_MAX(bytes) (1032 * (bytes) + 1024)
#define ZDEBUG ".zdebug_"

static u64 inflated_bytes(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr compressed;
	Elf_Data *data;
	u64 bytes;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
	if (strncmp(name, ZDEBUG, strlen(ZDEBUG)))
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4))
		return 0;
	memcpy(&bytes, (char *)data->d_buf + 4, sizeof(bytes));
	return be64toh(bytes);
}

static bool holds_units(const GElf_Shdr *header, const char *name)
{
	return header->sh_type != SHT_NOBITS &&
	       (!strcmp(name, ".debug_info") || !strcmp(name, ZDEBUG "info"));
}

void debug_sections_read(Elf *elf, struct debug_sections *sections)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	*sections = (struct debug_sections){};
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name)
			continue;
		sections->has_units |= holds_units(&header, name);
		sections->is_bomb |=
			inflated_bytes(section, &header, name) > INFLATED_MAX(header.sh_size);
	}
}
