/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The section begins with a header. It has, for all functions, pairs of 32 bits: the begin of the
 * code and the offset of a record. The record has the offsets of name, file names and value tables.
 * A value table is a sequence of pairs of numbers (LEB128): how much the value changes, and for how
 * many quanta of code the new value holds. The quantum is the length of the shortest
 * instruction, in bytes.
 *
 * Trees of inlined calls are outside of the section, and so is, since Go 1.26, the address that
 * functions count from. The variable runtime.firstmoduledata points to both. Its first words are
 * the addresses of the section and of the names. The linker writes the words into the file, or
 * leaves zeroes with a relocation.
 */
#include "go_table.h"
#include "elf_layout.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#define WORD 8
#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U

/* The words of the section's header. The header begins with the magic number, two zeroes, the
 * quantum and the bytes of a word; then come these words. */
enum header_word { FUNCTIONS, FILES, TEXT_START, NAMES, UNITS, FILE_NAMES, PC_TABLES, RECORDS };

/* Offsets in the record of a function. Go 1.20 put the line of the function before the flags. The
 * tail has the offsets of further value tables, then those of function data; the byte before the
 * tail has the number of function data. */
#define RECORD_NAME 4
#define RECORD_DEPTHS 16
#define RECORD_FILES 20
#define RECORD_LINES 24
#define RECORD_TABLES 28 /* the number of further value tables */
#define RECORD_UNIT 32
#define RECORD_FLAGS_1_18 37
#define RECORD_FLAGS_1_20 41
#define RECORD_TAIL_1_18 40
#define RECORD_TAIL_1_20 44
/* Index of the further value table that gives the innermost inlined call. */
#define TABLE_INLINED 2
#define DATA_TREE 3 /* index of the function data that is the tree of inlined calls */

/* Indexes of the words of runtime.firstmoduledata that are read. */
#define MODULE_TEXT 22
#define MODULE_TREES_1_18 38
#define MODULE_TREES_1_20 40
#define MODULE_TREES_1_27 43 /* since Go 1.26 the trees are in .gopclntab */

static bool read_table_bytes(const struct go_table *table, u64 offset, void *value, u32 bytes)
{
	if (offset > table->count || table->count - offset < bytes)
		return false;
	memcpy(value, table->bytes + offset, bytes);
	return true;
}

/* The text at an offset in the section; "" if the section does not hold it. */
static const char *text_at_offset(const struct go_table *table, u64 offset)
{
	if (offset >= table->count || !memchr(table->bytes + offset, 0, table->count - offset))
		return "";
	return (const char *)table->bytes + offset;
}

/* --- The table and the variable runtime.firstmoduledata are found in the file. --- */

static const Elf_Data *read_section(Elf *elf, const char *name, u64 *address)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(elf, name, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	*address = data ? header.sh_addr : 0;
	return data && data->d_buf ? data : NULL;
}

/* The relocation that stores the load address + `wanted` (`by_addend`), or that sets the word at
 * the address `wanted`; false: the file has no such relocation. */
static bool find_relative_relocation(Elf *elf, bool by_addend, u64 wanted, GElf_Rela *found)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	GElf_Shdr header;
	u32 type;

	if (!gelf_getehdr(elf, &file))
		return false;
	type = file.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getrela(data, i, found); i++)
			if (GELF_R_TYPE(found->r_info) == type &&
			    (by_addend ? (u64)found->r_addend : found->r_offset) == wanted)
				return true;
	}
	return false;
}

/* The variable runtime.firstmoduledata: its address, and its bytes as far as the section has
 * them. */
struct module {
	u64 address;
	const u8 *bytes;
	u64 count;
};

static u64 read_module_word(Elf *elf, const struct module *module, u32 index)
{
	u64 value = 0;
	GElf_Rela relocation;

	if ((index + 1) * WORD <= module->count)
		memcpy(&value, module->bytes + index * WORD, WORD);
	if (!value && module->address &&
	    find_relative_relocation(elf, false, module->address + index * WORD, &relocation))
		value = relocation.r_addend;
	return value;
}

/* Finds runtime.firstmoduledata. All zero: the file does not have it. */
static struct module find_module_data(Elf *elf, u64 section, u64 names)
{
	static const char *const places[] = {".go.module", ".noptrdata", ".data"};
	const u64 first[] = {section, names};
	struct module module = {};
	GElf_Rela relocation;
	u64 address;

	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const Elf_Data *data = read_section(elf, places[i], &address);

		for (u64 at = 0; data && at + sizeof(first) <= data->d_size; at += WORD)
			if (!memcmp((u8 *)data->d_buf + at, first, sizeof(first)))
				return (struct module){address + at, (u8 *)data->d_buf + at,
						       data->d_size - at};
	}
	if (find_relative_relocation(elf, true, section, &relocation)) {
		module.address = relocation.r_offset;
		if (read_module_word(elf, &module, 1) != names)
			module.address = 0;
	}
	return module;
}

/* Sets table->trees (trees of inlined calls), if the file tells where they are. */
static void find_inline_trees(Elf *elf, const struct module *module, u64 table_address,
			      struct go_table *table)
{
	u64 address = read_module_word(elf, module, MODULE_TREES_1_27);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (table->is_old)
		address = read_module_word(elf, module, MODULE_TREES_1_18);
	else if (address < table_address || address - table_address >= table->count)
		address = read_module_word(elf, module, MODULE_TREES_1_20);
	while (address && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    address < header.sh_addr || address - header.sh_addr >= header.sh_size)
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf || address - header.sh_addr >= data->d_size)
			return;
		table->trees = (u8 *)data->d_buf + (address - header.sh_addr);
		table->trees_bytes = data->d_size - (address - header.sh_addr);
		return;
	}
}

/* The caller has set table->quantum. */
static bool read_table_header(struct go_table *table, u64 *text)
{
	u64 word[RECORDS + 1];
	/* The bytes of the header after the magic number. */
	const u8 tail[] = {0, 0, table->quantum, WORD};
	u8 head[8];
	u32 magic;

	if (!read_table_bytes(table, 0, head, sizeof(head)) ||
	    memcmp(head + 4, tail, sizeof(tail)) ||
	    !read_table_bytes(table, sizeof(head), word, sizeof(word)))
		return false;
	memcpy(&magic, head, sizeof(magic));
	table->is_old = magic == MAGIC_1_18;
	table->functions = word[FUNCTIONS];
	table->names = word[NAMES];
	table->units = word[UNITS];
	table->file_names = word[FILE_NAMES];
	table->pc_tables = word[PC_TABLES];
	table->records = word[RECORDS];
	*text = word[TEXT_START];
	return (magic == MAGIC_1_18 || magic == MAGIC_1_20) &&
	       table->functions < table->count / WORD && table->names < table->count &&
	       table->units < table->count && table->file_names < table->count &&
	       table->pc_tables < table->count && table->records < table->count;
}

/* Finds the table and reads its header. A linker of C code puts the section of a
 * position-independent program into .data.rel.ro; the table is then the first place there that has
 * a header. */
static bool find_go_table(Elf *elf, struct go_table *table, u64 *address, u64 *text)
{
	const Elf_Data *data = read_section(elf, ".gopclntab", address);
	GElf_Shdr header;
	u64 at = 0;

	data = data ?: read_section(elf, ".data.rel.ro.gopclntab", address);
	if (!data) {
		data = elf_section_find(elf, ".noptrdata", &header)
			       ? read_section(elf, ".data.rel.ro", address)
			       : NULL;
		while (data && at < data->d_size) {
			table->bytes = (u8 *)data->d_buf + at;
			table->count = data->d_size - at;
			if (read_table_header(table, text))
				break;
			at += WORD;
		}
	}
	if (!data || at >= data->d_size)
		return false;
	table->bytes = (u8 *)data->d_buf + at;
	table->count = data->d_size - at;
	*address += at;
	return read_table_header(table, text);
}

int go_table_read(Elf *elf, struct go_table *table)
{
	struct go_table made = {};
	struct module module;
	GElf_Ehdr header;
	u64 address;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
		return -ENOENT;
	made.quantum = header.e_machine == EM_AARCH64 ? 4 : 1;
	if (!find_go_table(elf, &made, &address, &made.text))
		return -ENOENT;
	module = find_module_data(elf, address, address + made.names);
	if (!made.text)
		made.text = read_module_word(elf, &module, MODULE_TEXT);
	if (!made.text || made.text > INT32_MAX)
		return -ENOENT;
	find_inline_trees(elf, &module, address, &made);
	*table = made;
	return 0;
}

/* --- Functions and their values. --- */

/* Entry number table->functions is the end of the code and has no record. */
static bool read_function_entry(const struct go_table *table, u64 index, u64 *address, u32 *record)
{
	u32 entry[2] = {};
	u32 bytes = index < table->functions ? sizeof(entry) : sizeof(entry[0]);

	if (!read_table_bytes(table, table->records + WORD * index, entry, bytes))
		return false;
	*address = table->text + entry[0];
	*record = entry[1];
	return *address <= INT32_MAX;
}

bool go_function_read(const struct go_table *table, u64 index, struct go_function *function)
{
	u32 record, next, name;

	if (index >= table->functions ||
	    !read_function_entry(table, index, &function->start, &record) ||
	    !read_function_entry(table, index + 1, &function->end, &next) ||
	    function->end < function->start)
		return false;
	function->record = table->records + record;
	function->name =
		read_table_bytes(table, function->record + RECORD_NAME, &name, sizeof(name))
			? text_at_offset(table, table->names + name)
			: "";
	return true;
}

bool go_function_flags(const struct go_table *table, const struct go_function *function, u8 *flags)
{
	return read_table_bytes(
		table, function->record + (table->is_old ? RECORD_FLAGS_1_18 : RECORD_FLAGS_1_20),
		flags, sizeof(*flags));
}

/* Finds the last function that begins at the address or before; false: the address is outside of
 * all functions. */
static bool find_function(const struct go_table *table, u64 address, struct go_function *function)
{
	u64 low = 0, high = table->functions, start;
	u32 record;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (!read_function_entry(table, middle, &start, &record))
			return false;
		if (start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && go_function_read(table, low - 1, function) && address < function->end;
}

static u64 function_record_end(const struct go_table *table, const struct go_function *function)
{
	return function->record + (table->is_old ? RECORD_TAIL_1_18 : RECORD_TAIL_1_20);
}

u64 go_find_runs_of_quantity(const struct go_table *table, const struct go_function *function,
			     enum go_quantity quantity, struct go_run *run)
{
	static const u32 places[] = {RECORD_DEPTHS, RECORD_FILES, RECORD_LINES};
	u32 offset = 0, tables;

	*run = (struct go_run){.end = function->start, .value = -1};
	if (quantity != GO_INLINED)
		read_table_bytes(table, function->record + places[quantity], &offset,
				 sizeof(offset));
	else if (read_table_bytes(table, function->record + RECORD_TABLES, &tables,
				  sizeof(tables)) &&
		 tables > TABLE_INLINED)
		read_table_bytes(table,
				 function_record_end(table, function) + sizeof(u32) * TABLE_INLINED,
				 &offset, sizeof(offset));
	return offset ? table->pc_tables + offset : 0;
}

static bool read_leb128(const struct go_table *table, u64 *at, u32 *value)
{
	u8 byte = 0x80;

	*value = 0;
	for (u32 shift = 0; shift < 35 && byte & 0x80; shift += 7) {
		if (!read_table_bytes(table, (*at)++, &byte, 1))
			return false;
		*value |= shift < 32 ? (u32)(byte & 0x7f) << shift : 0;
	}
	return !(byte & 0x80);
}

bool go_read_next_run(const struct go_table *table, const struct go_function *function, u64 *at,
		      struct go_run *run)
{
	bool is_first = run->end == function->start;
	u32 change, bytes;

	if (run->end >= function->end || !read_leb128(table, at, &change) ||
	    (!change && !is_first) || !read_leb128(table, at, &bytes))
		return false;
	run->value = (s32)((u32)run->value + (change & 1 ? ~(change >> 1) : change >> 1));
	run->start = run->end;
	run->end = bytes < (function->end - run->start) / table->quantum
			   ? run->start + (u64)bytes * table->quantum
			   : function->end;
	return run->end > run->start;
}

/* The value of a quantity (stack depth, file, line, inlined call) at an address of the function;
 * -1: the table has none. */
static s32 go_quantity_at_address(const struct go_table *table, const struct go_function *function,
				  enum go_quantity quantity, u64 address)
{
	struct go_run run;
	u64 at = go_find_runs_of_quantity(table, function, quantity, &run);

	while (at && go_read_next_run(table, function, &at, &run))
		if (address < run.end)
			return run.value;
	return -1;
}

/* --- Lines and inlined calls. --- */

static const char *source_file_at(const struct go_table *table, const struct go_function *function,
				  u64 address)
{
	s32 file = go_quantity_at_address(table, function, GO_FILE, address);
	u32 unit, offset;
	const char *name;

	if (file < 0 ||
	    !read_table_bytes(table, function->record + RECORD_UNIT, &unit, sizeof(unit)) ||
	    !read_table_bytes(table, table->units + sizeof(u32) * ((u64)unit + file), &offset,
			      sizeof(offset)))
		return NULL;
	name = text_at_offset(table, table->file_names + offset);
	return *name ? name : NULL;
}

/* Reads a call of the function's tree: the name of the inlined function, and the address of the
 * call. False: there is no such call; *name and *parent stay as they are. */
static bool read_inlined_call(const struct go_table *table, const struct go_function *function,
			      s32 index, const char **name, u64 *parent)
{
	u32 entry_bytes = table->is_old ? 20 : 16, name_at = table->is_old ? 12 : 4;
	u64 at, tail = function_record_end(table, function);
	u32 tables, tree, field[2];
	const char *text;
	u8 data;

	if (index < 0 || !table->trees || !read_table_bytes(table, tail - 1, &data, sizeof(data)) ||
	    data <= DATA_TREE ||
	    !read_table_bytes(table, function->record + RECORD_TABLES, &tables, sizeof(tables)) ||
	    !read_table_bytes(table, tail + sizeof(u32) * ((u64)tables + DATA_TREE), &tree,
			      sizeof(tree)))
		return false;
	at = (u64)tree + (u64)entry_bytes * (u32)index + name_at;
	if (tree == UINT32_MAX || at + sizeof(field) > table->trees_bytes)
		return false;
	memcpy(field, table->trees + at, sizeof(field));
	text = text_at_offset(table, table->names + field[0]);
	if (!*text || field[1] >= function->end - function->start)
		return false;
	*name = text;
	*parent = function->start + field[1];
	return true;
}

u32 go_table_find_places(const struct go_table *table, u64 address, struct code_place *places)
{
	struct go_function function;
	u32 count = 0;

	if (!find_function(table, address, &function) || !*function.name)
		return 0;
	while (count < CODE_PLACES_MAX) {
		s32 index = go_quantity_at_address(table, &function, GO_INLINED, address);
		struct code_place *place = &places[count++];
		s32 line = go_quantity_at_address(table, &function, GO_LINE, address);

		*place = (struct code_place){
			.function = function.name,
			.file = source_file_at(table, &function, address),
			.line = line > 0 ? line : 0,
		};
		if (count == CODE_PLACES_MAX ||
		    !read_inlined_call(table, &function, index, &place->function, &address))
			break;
		place->inlined = true;
	}
	return count;
}
