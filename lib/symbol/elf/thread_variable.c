/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On x86-64 the program's block ends at the thread pointer (TLS variant II); on arm64 the block
 * begins 16 bytes after the thread pointer (variant I). A relocation without a symbol refers to
 * the file's own block: the addend of a distance or a descriptor is the offset in the block, and a
 * module number is the file's own.
 */
#include "thread_variable.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "arch/host.h"
#include "arch/registers.h"

#define ALIGNMENT_MAX (1U << 20)

static u64 round_up(u64 number, u64 unit)
{
	return unit > 1 && unit <= ALIGNMENT_MAX ? (number + unit - 1) / unit * unit : number;
}

static int read_base_and_distance_of_segments(Elf *elf, struct thread_variable *variable)
{
	bool has_base = false;
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			return -ENOEXEC;
		if (header.p_type == PT_LOAD && !has_base) {
			variable->base = header.p_vaddr - header.p_offset;
			has_base = true;
		}
		if (header.p_type == PT_TLS)
			variable->distance =
				THREAD_HEAD_BYTES ? (s64)round_up(THREAD_HEAD_BYTES, header.p_align)
						  : -(s64)round_up(header.p_memsz, header.p_align);
	}
	variable->distance += (s64)variable->value;
	return 0;
}

/* Finds a symbol by its name. Returns its index; 0: the file does not define the symbol. */
static size_t find_symbol(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
			  u64 *value)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *names = elf_getdata(elf_getscn(elf, header->sh_link), NULL);
	size_t bytes = strlen(name) + 1;
	GElf_Sym symbol;

	if (!names || !names->d_buf || names->d_size < bytes)
		return 0;
	for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name > names->d_size - bytes ||
		    memcmp((const char *)names->d_buf + symbol.st_name, name, bytes))
			continue;
		*value = symbol.st_value;
		return (size_t)i;
	}
	return 0;
}

static enum thread_variable_word kind_of_relocation(const GElf_Rela *relocation, size_t symbol,
						    u64 value)
{
	bool is_own = !GELF_R_SYM(relocation->r_info);
	bool is_here = is_own && (u64)relocation->r_addend == value;

	if (!is_own && GELF_R_SYM(relocation->r_info) != symbol)
		return THREAD_WORD_NONE;
	switch (GELF_R_TYPE(relocation->r_info)) {
	case RELOCATION_THREAD_DISTANCE:
		return is_own && !is_here ? THREAD_WORD_NONE : THREAD_WORD_DISTANCE;
	case RELOCATION_THREAD_DESCRIPTOR:
		return is_own && !is_here ? THREAD_WORD_NONE : THREAD_WORD_DESCRIPTOR;
	case RELOCATION_THREAD_MODULE:
		return THREAD_WORD_MODULE;
	default:
		return THREAD_WORD_NONE;
	}
}

static void find_got_word(Elf *elf, size_t symbol, struct thread_variable *variable)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela relocation;

	while ((section = elf_nextscn(elf, section)) && !variable->kind) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && !variable->kind && gelf_getrela(data, i, &relocation);
		     i++) {
			variable->kind = kind_of_relocation(&relocation, symbol, variable->value);
			variable->word = relocation.r_offset;
		}
	}
}

int thread_variable_find(Elf *elf, const char *name, struct thread_variable *variable)
{
	struct thread_variable found = {};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Ehdr file;
	size_t symbol = 0;

	*variable = found;
	if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 ||
	    !gelf_getehdr(elf, &file) || file.e_machine != REGISTERS_ELF_MACHINE)
		return -ENOEXEC;
	while (!symbol && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			symbol = find_symbol(elf, section, &header, name, &found.value);
	if (!symbol)
		return 0;
	if (read_base_and_distance_of_segments(elf, &found))
		return -ENOEXEC;
	find_got_word(elf, symbol, &found);
	found.is_found = 1;
	*variable = found;
	return 0;
}
