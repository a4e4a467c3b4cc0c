/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debug files have the headers of sections whose bytes are in another file: SHT_NOBITS. */
#include "elf_section.h"

#include <stddef.h>
#include <string.h>

Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, header)
					    ? elf_strptr(elf, names, header->sh_name)
					    : NULL;

		if (found && header->sh_type != SHT_NOBITS && !strcmp(found, name))
			return section;
	}
	return NULL;
}
