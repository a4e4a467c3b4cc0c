/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libelf checks the file's tables as it reads them; damaged parts count as absent. The file is
 * read, not mapped, so a file that shrinks meanwhile gives an error instead of SIGBUS.
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

static int visit_symbol(const struct walk *walk, const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	char plain[NAME_BYTES];
	const struct elf_segment *segment = elf_segment_of(&walk->segments, symbol->st_value);
	struct elf_function function = {
		.name = plain,
		.is_ifunc = type == STT_GNU_IFUNC,
	};

	if (!name || !name[0] || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    symbol->st_shndx == SHN_UNDEF || !segment)
		return 0;
	function.offset = symbol->st_value - segment->address + segment->offset;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "@"), name);
	return walk->visit(walk->arg, &function);
}

static int walk_sections(const struct walk *walk, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	int err = 0;

	while (!err && (section = elf_nextscn(walk->elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == type)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && !err && gelf_getsym(data, i, &symbol); i++)
			err = visit_symbol(walk, &symbol,
					   elf_strptr(walk->elf, header.sh_link, symbol.st_name));
	}
	return err;
}

int elf_function_each(int fd, elf_function_visit visit, void *arg)
{
	struct walk walk = {.visit = visit, .arg = arg};
	int err = -ENOEXEC;

	elf_version(EV_CURRENT);
	walk.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(walk.elf) == ELF_K_ELF) {
		elf_segments_read(walk.elf, &walk.segments);
		err = walk_sections(&walk, SHT_SYMTAB) ?: walk_sections(&walk, SHT_DYNSYM);
	}
	elf_end(walk.elf);
	return err;
}
