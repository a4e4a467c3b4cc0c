/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libelf checks the file's tables as it reads them; what is damaged counts as absent. The file is
 * read, not mapped: one that shrinks meanwhile must not kill us.
 */
#include "elf_function.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 1024

/* The file offset of an address in an executable segment, or -ENOENT. */
static int address_to_offset(Elf *elf, u64 address, u64 *offset)
{
	size_t count = 0;
	GElf_Phdr segment;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count && gelf_getphdr(elf, i, &segment); i++) {
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = address - segment.p_vaddr + segment.p_offset;
		return 0;
	}
	return -ENOENT;
}

static bool is_defined_function(const GElf_Sym *symbol)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

static int visit_symbol(Elf *elf, const GElf_Sym *symbol, const char *name,
			elf_function_visit visit, void *arg)
{
	char plain[NAME_BYTES];
	struct elf_function function = {
		.name = plain,
		.is_ifunc = GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
	};

	if (!name || !name[0] || !is_defined_function(symbol) ||
	    address_to_offset(elf, symbol->st_value, &function.offset))
		return 0;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "@"), name);
	return visit(arg, &function);
}

static int walk_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			elf_function_visit visit, void *arg)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;
	int err = 0;

	for (int i = 0; data && !err && gelf_getsym(data, i, &symbol); i++)
		err = visit_symbol(elf, &symbol, elf_strptr(elf, header->sh_link, symbol.st_name),
				   visit, arg);
	return err;
}

static int walk_sections(Elf *elf, GElf_Word type, elf_function_visit visit, void *arg)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (!err && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			err = walk_section(elf, section, &header, visit, arg);
	return err;
}

int elf_function_each(int fd, elf_function_visit visit, void *arg)
{
	Elf *elf;
	int err;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		err = -ENOEXEC;
	else
		err = walk_sections(elf, SHT_SYMTAB, visit, arg);
	if (!err)
		err = walk_sections(elf, SHT_DYNSYM, visit, arg);
	elf_end(elf);
	return err;
}
