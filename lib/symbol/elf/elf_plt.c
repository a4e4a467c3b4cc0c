/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stub jumps through a slot of the global offset table, and a relocation says which function the
 * dynamic linker puts into this slot. So each stub's own instruction is decoded and its slot looked
 * up among the relocations; the order of the stubs proves nothing. The instruction is
 * jmp *offset(%rip), after an optional endbr64 and bnd, or after mold's mov $number, %r11d; where
 * no jump may be indirect (ld.lld -z retpolineplt) mov offset(%rip), %r11, in a stub of twice the
 * size if it binds later. This covers .plt, .plt.sec and .plt.got alike. A stub that looks
 * otherwise, as the first of .plt, stays without a name.
 */
#include "elf_plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define STUB_BYTES_MAX 16
#define NAME_BYTES_MAX 1024

struct slot {
	u64 address;
	const char *name;
};

struct slots {
	struct slot *slot; /* by address */
	size_t count;
	size_t capacity;
};

static int append_slot(struct slots *slots, const struct slot *slot)
{
	if (array_make_room(slots->slot, slots->count, slots->capacity))
		return -ENOMEM;
	slots->slot[slots->count++] = *slot;
	return 0;
}

struct dynamic_symbols {
	Elf_Data *data;
	size_t names; /* the section of their names */
};

/* The symbols that the section's relocations count in. Where a tool has removed .dynsym, its number
 * may now be that of .symtab, which counts otherwise. */
static bool read_dynamic_symbols(Elf *elf, const GElf_Shdr *relocations,
				 struct dynamic_symbols *symbols)
{
	Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
		return false;
	symbols->data = elf_getdata(section, NULL);
	symbols->names = header.sh_link;
	return symbols->data;
}

static const char *relocated_name(Elf *elf, const struct dynamic_symbols *symbols, size_t index)
{
	GElf_Sym symbol;

	if (!gelf_getsym(symbols->data, index, &symbol))
		return NULL;
	return elf_strptr(elf, symbols->names, symbol.st_name);
}

static int add_relocations(Elf *elf, Elf_Scn *section, const struct dynamic_symbols *symbols,
			   struct slots *slots)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela relocation;
	int err = 0;

	for (int i = 0; !err && data && gelf_getrela(data, i, &relocation); i++) {
		int type = GELF_R_TYPE(relocation.r_info);
		struct slot slot = {.address = relocation.r_offset};

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		slot.name = relocated_name(elf, symbols, GELF_R_SYM(relocation.r_info));
		if (slot.name && *slot.name)
			err = append_slot(slots, &slot);
	}
	return err;
}

static int by_address(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int read_slots(Elf *elf, struct slots *slots)
{
	struct dynamic_symbols symbols;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (!err && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    read_dynamic_symbols(elf, &header, &symbols))
			err = add_relocations(elf, section, &symbols, slots);
	if (slots->count)
		qsort(slots->slot, slots->count, sizeof(*slots->slot), by_address);
	return err;
}

/* The slot that the stub jumps through, or 0. */
static u64 stub_slot(const u8 *code, size_t bytes, u64 address)
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

/* A stub that calls a trampoline goes on behind it, to bind its function. */
static bool is_long_stub(const u8 *code, size_t bytes)
{
	return bytes >= 2 * STUB_BYTES_MAX && !memcmp(code, "\x4c\x8b\x1d", 3) && code[7] == 0xe8;
}

static int add_stub(const struct elf_segment *segment, u64 address, size_t bytes, const char *name,
		    struct symbol_table *table)
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

struct stubs {
	const struct elf_segments *segments;
	const struct slots *slots;
	struct symbol_table *table;
};

static int add_stubs(const struct stubs *stubs, const Elf_Data *data, const GElf_Shdr *header)
{
	size_t step = header->sh_entsize == 8 ? 8 : STUB_BYTES_MAX;
	int err = 0;

	for (size_t at = 0; !err && at + step <= data->d_size; at += step) {
		const u8 *code = (u8 *)data->d_buf + at;
		size_t bytes = is_long_stub(code, data->d_size - at) ? 2 * STUB_BYTES_MAX : step;
		u64 address = header->sh_addr + at;
		struct slot key = {.address = stub_slot(code, step, address)};
		const struct slot *slot = bsearch(&key, stubs->slots->slot, stubs->slots->count,
						  sizeof(key), by_address);
		const struct elf_segment *segment = elf_segment_of(stubs->segments, address);

		if (slot && segment)
			err = add_stub(segment, address, bytes, slot->name, stubs->table);
	}
	return err;
}

static bool is_stub_section(Elf *elf, size_t names, const GElf_Shdr *header)
{
	const char *name = elf_strptr(elf, names, header->sh_name);

	return header->sh_type == SHT_PROGBITS && name && !strncmp(name, ".plt", 4);
}

static int add_sections(Elf *elf, const struct stubs *stubs)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	int err = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while (!err && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || !is_stub_section(elf, names, &header))
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			err = add_stubs(stubs, data, &header);
	}
	return err;
}

int elf_plt_add(Elf *elf, const struct elf_segments *segments, struct symbol_table *table)
{
	struct slots slots = {};
	struct stubs stubs = {.segments = segments, .slots = &slots, .table = table};
	GElf_Ehdr header;
	int err;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
		return 0;
	err = read_slots(elf, &slots);
	if (!err && slots.count)
		err = add_sections(elf, &stubs);
	free(slots.slot);
	return err;
}
