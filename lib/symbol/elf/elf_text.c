/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sections whose ends would wrap are empty ones to code_ranges_add(). */
#include "elf_text.h"

#include <gelf.h>
#include <stddef.h>

#define CODE_FLAGS (SHF_ALLOC | SHF_EXECINSTR)

int elf_text_read(Elf *elf, struct code_ranges *text)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & CODE_FLAGS) == CODE_FLAGS)
			result = code_ranges_add(text, header.sh_addr,
						 header.sh_addr + header.sh_size, 0);
	code_ranges_seal(text);
	return result;
}

bool elf_text_holds(const struct code_ranges *text, u64 address)
{
	u32 section;

	return code_ranges_find(text, address, &section);
}
