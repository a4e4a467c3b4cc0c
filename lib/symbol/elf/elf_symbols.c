/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .symtab, .dynsym and the names of PLT stubs go into one table, which keeps the better of two
 * names. A Go program without .symtab (-ldflags=-s) has the names of .gopclntab instead. A symbol
 * counts if it is defined in a section of code, inside this section and inside an executable
 * segment. This leaves out end markers such as etext, data, and the ids of thread-local storage.
 *
 * A function of unknown size (hand-written assembler) reaches to the next symbol or the end of its
 * section. Assembler that gives functions their type has local symbols without a type as labels
 * inside these functions, for jumps.
 */
#include "elf_symbols.h"
#include "array.h"
#include "elf_layout.h"
#include "go_table.h"
#include "symbol/table/symbol_table.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/*
 * Stubs of the procedure linkage table have no symbols; each gets the name of its function with
 * "@plt". A stub jumps through a slot of the global offset table, and a relocation says which
 * function the dynamic linker puts into this slot. The order of the stubs need not be that of the
 * relocations, so the instruction of each stub is decoded and its slot is looked up among the
 * relocations.
 *
 * On x86-64 the instruction is jmp *offset(%rip), after an optional endbr64 and bnd, or after
 * mold's mov $number, %r11d. With ld.lld -z retpolineplt, which forbids indirect jumps, it is mov
 * offset(%rip), %r11, and a stub that binds lazily has twice the size. The sections .plt, .plt.sec
 * and .plt.got are all read this way. A stub with other instructions, as the first of .plt, stays
 * without a name.
 *
 * On arm64 a stub loads x17 from x16, which has the page of the slot, and ends with br x17 (ELF for
 * the Arm 64-bit Architecture, "Procedure linkage table").
 */

#define STUB_BYTES_MAX 16
#define NAME_BYTES_MAX 1024

struct slot {
	u64 address;
	const char *name;
};

struct reader {
	Elf *elf;
	int machine; /* EM_X86_64... */
	const struct elf_segments *segments;
	struct symbol_table *table;
	struct slot *slots; /* sorted by address */
	size_t slot_count, slot_room;
	size_t section_index; /* index of the section whose header is in `section`, kept because
				 neighbouring symbols are in the same section */
	GElf_Shdr section;
};

/* Adds the GOT slots, each with its function, that the relocations of a section fill. A section
 * whose symbols are not those of .dynsym is left out: where a tool has removed .dynsym, its section
 * number may now be that of .symtab, with other indexes. */
static int add_plt_slots(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	bool is_arm64 = reader->machine == EM_AARCH64;
	u64 jump_slot = is_arm64 ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT;
	u64 data_slot = is_arm64 ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT;
	Elf_Scn *linked = elf_getscn(reader->elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL), *symbols;
	GElf_Rela relocation;
	GElf_Shdr names;

	if (!linked || !gelf_getshdr(linked, &names) || names.sh_type != SHT_DYNSYM)
		return 0;
	symbols = elf_getdata(linked, NULL);
	for (int i = 0; symbols && data && gelf_getrela(data, i, &relocation); i++) {
		u64 type = GELF_R_TYPE(relocation.r_info);
		const char *name;
		GElf_Sym symbol;

		if ((type != jump_slot && type != data_slot) ||
		    !gelf_getsym(symbols, GELF_R_SYM(relocation.r_info), &symbol))
			continue;
		name = elf_strptr(reader->elf, names.sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		if (array_make_room(reader->slots, reader->slot_count, reader->slot_room))
			return -ENOMEM;
		reader->slots[reader->slot_count++] = (struct slot){relocation.r_offset, name};
	}
	return 0;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* The address of the GOT slot that a stub of x86-64 jumps through, or 0. */
static u64 slot_of_x86_stub(const u8 *code, size_t bytes, u64 address)
{
	size_t at = bytes >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0, length = 6;
	s32 offset;

	if (bytes - at >= 12 && !memcmp(code + at, "\x41\xbb", 2))
		at += 6;
	if (at < bytes && code[at] == 0xf2)
		at++;
	if (bytes - at >= 7 && !memcmp(code + at, "\x4c\x8b\x1d", 3))
		length = 7;
	else if (bytes - at < 6 || memcmp(code + at, "\xff\x25", 2))
		return 0;
	memcpy(&offset, code + at + length - 4, sizeof(offset));
	return address + at + length + offset;
}

/* Instructions of arm64, and masks where they have operands. */
#define ADRP_X16 0x90000010
#define ADRP_MASK 0x9f00001f
#define LDR_X17_X16 0xf9400211
#define LDR_MASK 0xffc003ff
#define BTI_C 0xd503245f
#define BR_X17 0xd61f0220
#define NOP 0xd503201f
/* The most bytes of a stub that are searched, so that a file cannot make the search long. */
#define ARM64_STUB_BYTES_MAX 32

static u32 read_instruction(const u8 *code, size_t bytes, size_t at)
{
	u32 instruction = 0;

	if (at + sizeof(instruction) <= bytes)
		memcpy(&instruction, code + at, sizeof(instruction));
	return instruction;
}

/* The address of the GOT slot that a stub of arm64 jumps through, and the length of the stub; or
 * 0. */
static u64 slot_of_arm64_stub(const u8 *code, size_t bytes, u64 address, size_t *stub_bytes)
{
	size_t at = read_instruction(code, bytes, 0) == BTI_C ? 4 : 0, end = at + 8;
	u32 page = read_instruction(code, bytes, at), load = read_instruction(code, bytes, at + 4);
	u64 pages = ((u64)(page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3))
		    << 43; /* 21 bits, signed */

	if ((page & ADRP_MASK) != ADRP_X16 || (load & LDR_MASK) != LDR_X17_X16)
		return 0;
	if (bytes > ARM64_STUB_BYTES_MAX)
		bytes = ARM64_STUB_BYTES_MAX;
	while (end < bytes && read_instruction(code, bytes, end) != BR_X17)
		end += 4;
	if (end >= bytes)
		return 0;
	do
		end += 4;
	while (read_instruction(code, bytes, end) == NOP);
	*stub_bytes = end;
	return ((address + at) & ~4095ULL) + (u64)((s64)pages >> 43) * 4096 +
	       (load >> 10 & 0xfff) * 8;
}

static int add_plt_stub(const struct elf_segment *segment, u64 address, size_t bytes,
			const char *name, struct symbol_table *table)
{
	char text[NAME_BYTES_MAX];
	size_t length = strnlen(name, sizeof(text) - sizeof("@plt"));
	u64 start = segment->offset + (address - segment->address);

	if (name[length])
		return 0;
	memcpy(text, name, length);
	memcpy(text + length, "@plt", sizeof("@plt"));
	return symbol_table_add(table, &(struct symbol){.start = start,
							.size = bytes,
							.limit = start + bytes,
							.name = text,
							.name_bytes = length + strlen("@plt")});
}

static int add_plt_section(const struct reader *reader, const Elf_Data *data,
			   const GElf_Shdr *header)
{
	bool is_arm64 = reader->machine == EM_AARCH64;
	size_t step = is_arm64 ? 4 : header->sh_entsize == 8 ? 8 : STUB_BYTES_MAX;
	int err = 0;

	for (size_t at = 0, passed; !err && at + step <= data->d_size; at += passed) {
		const u8 *code = (u8 *)data->d_buf + at;
		size_t left = data->d_size - at, bytes = step;
		u64 address = header->sh_addr + at;
		struct slot key = {
			.address = is_arm64 ? slot_of_arm64_stub(code, left, address, &bytes)
					    : slot_of_x86_stub(code, step, address)};
		const struct slot *slot = bsearch(&key, reader->slots, reader->slot_count,
						  sizeof(key), compare_slots);
		const struct elf_segment *segment =
			elf_segment_of_address(reader->segments, address);

		/* In a retpoline PLT, a stub of twice the size jumps by a call of a trampoline; the
		 * code after this call binds the function. */
		if (!is_arm64 && left >= 2 * STUB_BYTES_MAX && !memcmp(code, "\x4c\x8b\x1d", 3) &&
		    code[7] == 0xe8)
			bytes = 2 * STUB_BYTES_MAX;
		if (slot && segment)
			err = add_plt_stub(segment, address, bytes, slot->name, reader->table);
		passed = slot ? bytes : step;
	}
	return err;
}

/* Adds the PLT stubs of a file for x86-64 or arm64; a file for another machine gives no stubs. 0,
 * -ENOMEM, -E2BIG. */
static int add_plt_names(struct reader *reader)
{
	Elf_Scn *section = NULL;
	Elf *elf = reader->elf;
	GElf_Shdr header;
	size_t names;
	int err = 0;

	if ((reader->machine != EM_X86_64 && reader->machine != EM_AARCH64) ||
	    elf_getshdrstrndx(elf, &names))
		return 0;
	while (!err && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			err = add_plt_slots(reader, section, &header);
	if (reader->slot_count)
		qsort(reader->slots, reader->slot_count, sizeof(*reader->slots), compare_slots);
	while (!err && reader->slot_count && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		Elf_Data *data =
			name && !strncmp(name, ".plt", 4) ? elf_getdata(section, NULL) : NULL;

		if (data && data->d_buf)
			err = add_plt_section(reader, data, &header);
	}
	free(reader->slots);
	return err;
}

/* The rank of a symbol is a sum: a symbol with a size beats all without, then a function beats
 * other types, then a global symbol beats a weak one. */
enum rank { RANK_WEAK = 1, RANK_GLOBAL = 2, RANK_FUNCTION = 4, RANK_SIZED = 8 };

static bool is_function_symbol(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* True for labels ".L" of assembler, and for "$x" and "$x.1", which mark code and data on Arm and
 * RISC-V. */
static bool is_assembler_label(const char *name)
{
	if (name[0] == '$')
		return name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
	return !name[0] || !strncmp(name, ".L", 2);
}

static bool read_section_header(struct reader *reader, size_t index)
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

/* Sets the address of the code that a symbol names; false: the symbol does not name code. */
static bool address_of_code_symbol(struct reader *reader, const GElf_Sym *symbol, u64 *address)
{
	const GElf_Shdr *section = &reader->section;

	*address = symbol->st_value;
	if (!is_function_symbol(symbol) && GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		return false;
	if (reader->machine == EM_ARM && is_function_symbol(symbol))
		*address &= ~1ULL; /* bit 0 marks Thumb code */
	return read_section_header(reader, symbol->st_shndx) &&
	       (section->sh_flags & SHF_EXECINSTR) && *address >= section->sh_addr &&
	       *address - section->sh_addr < section->sh_size;
}

static int add_symbol(struct reader *reader, const GElf_Sym *entry, const char *name)
{
	int binding = GELF_ST_BIND(entry->st_info);
	struct symbol symbol = {.size = entry->st_size, .name = name};
	const struct elf_segment *segment;
	u64 address, left, section_left;

	if (!name || is_assembler_label(name) || !address_of_code_symbol(reader, entry, &address))
		return 0;
	segment = elf_segment_of_address(reader->segments, address);
	if (!segment)
		return 0;
	left = segment->bytes - (address - segment->address);
	section_left = reader->section.sh_size - (address - reader->section.sh_addr);
	symbol.start = segment->offset + (address - segment->address);
	symbol.limit = symbol.start + (left < section_left ? left : section_left);
	symbol.name_bytes = 1 + strcspn(name + 1, "@"); /* leaves out a version ("@@GLIBC_2.14") */
	symbol.rank = (binding == STB_GLOBAL ? RANK_GLOBAL
		       : binding == STB_WEAK ? RANK_WEAK
					     : 0) |
		      (is_function_symbol(entry) ? RANK_FUNCTION : 0) |
		      (entry->st_size ? RANK_SIZED : 0);
	symbol.takes_labels = is_function_symbol(entry);
	symbol.is_label = !symbol.rank;
	return symbol_table_add(reader->table, &symbol);
}

/* Adds the symbols of .symtab and .dynsym. *has_symtab: the file has a .symtab. */
static int add_symbol_tables(struct reader *reader, bool *has_symtab)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Data *data;
	int err = 0;

	while (!err && (section = elf_nextscn(reader->elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		*has_symtab |= header.sh_type == SHT_SYMTAB;
		data = elf_getdata(section, NULL);
		for (int i = 1; !err && data && gelf_getsym(data, i, &symbol); i++)
			err = add_symbol(reader, &symbol,
					 elf_strptr(reader->elf, header.sh_link, symbol.st_name));
	}
	return err;
}

static int add_go_functions(const struct reader *reader)
{
	struct go_table functions;
	int err = 0;

	if (go_table_read(reader->elf, &functions))
		return 0;
	for (u64 i = 0; !err && i < functions.functions; i++) {
		struct go_function function;
		const struct elf_segment *segment;
		u64 start;

		if (!go_function_read(&functions, i, &function) || !*function.name ||
		    function.end == function.start)
			continue;
		segment = elf_segment_of_address(reader->segments, function.start);
		if (!segment)
			continue;
		start = segment->offset + (function.start - segment->address);
		err = symbol_table_add(reader->table,
				       &(struct symbol){.start = start,
							.size = function.end - function.start,
							.limit = segment->offset + segment->bytes,
							.name = function.name,
							.name_bytes = strlen(function.name)});
	}
	return err;
}

int elf_symbols_collect(Elf *elf, const struct elf_segments *segments, struct symbol_table *table)
{
	struct reader reader = {.elf = elf, .segments = segments, .table = table};
	bool has_symtab = false;
	GElf_Ehdr header;
	int err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	reader.machine = header.e_machine;
	err = add_symbol_tables(&reader, &has_symtab) ?: add_plt_names(&reader);
	return err || has_symtab ? err : add_go_functions(&reader);
}

u64 elf_symbols_bytes(Elf *elf)
{
	Elf_Scn *section = NULL;
	u64 bytes = 0;
	GElf_Shdr header, names;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
		    gelf_getshdr(elf_getscn(elf, header.sh_link), &names))
			bytes += header.sh_size + names.sh_size;
	return bytes;
}

bool elf_symbol_address(Elf *elf, const char *name, u64 *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			data = elf_getdata(section, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (!found || strcmp(found, name))
				continue;
			*address = symbol.st_value;
			return true;
		}
	}
	return false;
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
