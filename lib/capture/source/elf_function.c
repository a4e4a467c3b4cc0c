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

#include "symbol/elf/elf_layout.h"

#define NAME_BYTES 1024

struct walk {
	Elf *elf;
	struct elf_segments segments;
	elf_function_visit visit;
	void *arg;
};

static bool is_defined_function(const GElf_Sym *symbol)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

static int visit_symbol(const struct walk *walk, const GElf_Sym *symbol, const char *name)
{
	char plain[NAME_BYTES];
	const struct elf_segment *segment = elf_segment_of(&walk->segments, symbol->st_value);
	struct elf_function function = {
		.name = plain,
		.is_ifunc = GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
	};

	if (!name || !name[0] || !is_defined_function(symbol) || !segment)
		return 0;
	function.offset = symbol->st_value - segment->address + segment->offset;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "@"), name);
	return walk->visit(walk->arg, &function);
}

static int walk_section(const struct walk *walk, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;
	int err = 0;

	for (int i = 0; data && !err && gelf_getsym(data, i, &symbol); i++)
		err = visit_symbol(walk, &symbol,
				   elf_strptr(walk->elf, header->sh_link, symbol.st_name));
	return err;
}

static int walk_sections(const struct walk *walk, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (!err && (section = elf_nextscn(walk->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			err = walk_section(walk, section, &header);
	return err;
}

static int walk_file(struct walk *walk)
{
	int err;

	if (elf_kind(walk->elf) != ELF_K_ELF)
		return -ENOEXEC;
	elf_segments_read(walk->elf, &walk->segments);
	err = walk_sections(walk, SHT_SYMTAB);
	return err ? err : walk_sections(walk, SHT_DYNSYM);
}

int elf_function_each(int fd, elf_function_visit visit, void *arg)
{
	struct walk walk = {.visit = visit, .arg = arg};
	int err;

	elf_version(EV_CURRENT);
	walk.elf = elf_begin(fd, ELF_C_READ, NULL);
	err = walk_file(&walk);
	elf_end(walk.elf);
	return err;
}
