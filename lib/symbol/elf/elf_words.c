/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The search for the relocation of a word always begins at the first relocation: a file has at most
 * a few hundred thousand relocations, and callers read few words. */
#include "elf_words.h"

#include <gelf.h>
#include <string.h>

#define WORD 8

bool elf_words_exported_address(Elf *elf, const char *name, u64 *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *text = elf_strptr(elf, header.sh_link, symbol.st_name);

			*address = symbol.st_value;
			if (text && symbol.st_shndx != SHN_UNDEF && !strcmp(text, name))
				return true;
		}
	}
	return false;
}

/* Returns the bytes from an address to the end of the section that holds it; *bytes is their
 * number. */
static const u8 *section_bytes_from_address(Elf *elf, u64 address, u64 *bytes)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_type == SHT_NOBITS || header.sh_flags & SHF_TLS ||
		    address - header.sh_addr >= header.sh_size)
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf || address - header.sh_addr >= data->d_size)
			return NULL;
		*bytes = data->d_size - (address - header.sh_addr);
		return (const u8 *)data->d_buf + (address - header.sh_addr);
	}
	return NULL;
}

const u8 *elf_words_bytes(Elf *elf, u64 address, u64 bytes)
{
	u64 there = 0;
	const u8 *found = section_bytes_from_address(elf, address, &there);

	return found && bytes <= there ? found : NULL;
}

u64 elf_words_bytes_to_section_end(Elf *elf, u64 address)
{
	u64 there = 0;

	return section_bytes_from_address(elf, address, &there) ? there : 0;
}

const char *elf_words_text(Elf *elf, u64 address)
{
	u64 there = 0;
	const u8 *found = section_bytes_from_address(elf, address, &there);

	return found && memchr(found, 0, there) ? (const char *)found : NULL;
}

u64 elf_words_pointer(Elf *elf, u64 address)
{
	const u8 *bytes = elf_words_bytes(elf, address, WORD);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela relocation;
	u64 value = 0;

	if (!bytes)
		return 0;
	memcpy(&value, bytes, WORD);
	if (value)
		return value;
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getrela(data, i, &relocation); i++)
			if (relocation.r_offset == address &&
			    (GELF_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE ||
			     GELF_R_TYPE(relocation.r_info) == R_AARCH64_RELATIVE))
				return relocation.r_addend;
	}
	return 0;
}
