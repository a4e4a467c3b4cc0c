/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .symtab and .dynsym go into one table, which keeps the better of two names. A symbol counts if it
 * is defined in a section of code, inside of that section and inside of an executable segment: so
 * end markers such as etext, data, and the ids of thread-local storage fall out by themselves.
 *
 * A function of unknown size (hand-written assembler) reaches to the next symbol or the end of its
 * section. Assembler that says which symbols are functions has local symbols without a type as
 * labels inside them, for jumps.
 */
#include "elf_symbols.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "elf_plt.h"

/* Typed and global names first; a symbol that says its size is always better than one that does
 * not. */
enum rank { RANK_WEAK = 1, RANK_GLOBAL = 2, RANK_FUNCTION = 4, RANK_SIZED = 8 };

struct reader {
	Elf *elf;
	struct elf_segments segments;
	struct symbol_table *table;
	bool arm;
	/* Of the section of the last symbol: neighbours share it. */
	size_t section_index;
	GElf_Shdr section;
};

static bool is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Assembler labels ".L", and the marks "$x" or "$x.1" between code and data of Arm and RISC-V. */
static bool is_marker(const char *name)
{
	if (name[0] == '$')
		return name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
	return !name[0] || !strncmp(name, ".L", 2);
}

static u32 rank_of(const GElf_Sym *symbol)
{
	int binding = GELF_ST_BIND(symbol->st_info);
	u32 rank = binding == STB_GLOBAL ? RANK_GLOBAL : binding == STB_WEAK ? RANK_WEAK : 0;

	if (is_function(symbol))
		rank |= RANK_FUNCTION;
	if (symbol->st_size)
		rank |= RANK_SIZED;
	return rank;
}

static bool select_section(struct reader *reader, size_t index)
{
	Elf_Scn *section;

	if (index == SHN_UNDEF || index >= SHN_LORESERVE)
		return false;
	if (index == reader->section_index)
		return true;
	reader->section_index = SHN_UNDEF;
	section = elf_getscn(reader->elf, index);
	if (!section || !gelf_getshdr(section, &reader->section))
		return false;
	reader->section_index = index;
	return true;
}

/* The address of the code that a symbol names, or false. */
static bool code_address(struct reader *reader, const GElf_Sym *symbol, u64 *address)
{
	const GElf_Shdr *section = &reader->section;

	*address = symbol->st_value;
	if (!is_function(symbol) && GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		return false;
	if (reader->arm && is_function(symbol))
		*address &= ~1ULL; /* Thumb */
	return select_section(reader, symbol->st_shndx) && (section->sh_flags & SHF_EXECINSTR) &&
	       *address >= section->sh_addr && *address - section->sh_addr < section->sh_size;
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* "memcpy@@GLIBC_2.14": the version is not part of the name. */
static size_t name_length(const char *name)
{
	return 1 + strcspn(name + 1, "@");
}

static int add_symbol(struct reader *reader, const GElf_Sym *entry, const char *name)
{
	const struct elf_segment *segment;
	struct symbol symbol = {.size = entry->st_size, .rank = rank_of(entry), .name = name};
	u64 address, left;

	if (!name || is_marker(name) || !code_address(reader, entry, &address))
		return 0;
	segment = elf_segment_of(&reader->segments, address);
	if (!segment)
		return 0;
	left = smaller(segment->bytes - (address - segment->address),
		       reader->section.sh_size - (address - reader->section.sh_addr));
	symbol.start = segment->offset + (address - segment->address);
	symbol.limit = symbol.start + left;
	symbol.name_bytes = name_length(name);
	symbol.takes_labels = is_function(entry);
	symbol.is_label = !symbol.rank;
	return symbol_table_add(reader->table, &symbol);
}

static int add_section(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;
	int err = 0;

	for (int i = 1; !err && data && gelf_getsym(data, i, &symbol); i++)
		err = add_symbol(reader, &symbol,
				 elf_strptr(reader->elf, header->sh_link, symbol.st_name));
	return err;
}

static int add_tables(struct reader *reader)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (!err && (section = elf_nextscn(reader->elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			err = add_section(reader, section, &header);
	return err;
}

static bool is_program(Elf *elf, GElf_Ehdr *header)
{
	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, header) &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

int elf_symbols_collect(Elf *elf, const struct elf_segments *segments, struct symbol_table *table)
{
	struct reader reader = {.elf = elf, .segments = *segments, .table = table};
	GElf_Ehdr header;
	int err;

	if (!is_program(elf, &header))
		return -ENOEXEC;
	reader.arm = header.e_machine == EM_ARM;
	err = add_tables(&reader);
	return err ?: elf_plt_add(elf, segments, table);
}

int elf_symbols_add(Elf *elf, struct symbol_table *table)
{
	struct elf_segments segments = {};
	int err;

	if (elf_kind(elf) == ELF_K_ELF)
		elf_segments_read(elf, &segments);
	err = elf_symbols_collect(elf, &segments, table);
	symbol_table_seal(table);
	return err;
}
