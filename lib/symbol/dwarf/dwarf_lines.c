/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line program of DWARF 5, section 6.2, is a state machine: special opcodes of one byte advance
 * address and line together and make a row. A row covers the addresses up to the next row of its
 * sequence. If rows have the same address, the last one covers it.
 *
 * A sequence that does not begin in code describes functions that the linker has removed.
 */
#include "dwarf_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"
#include "scalar.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/elf/file_identity.h"

/* --- A cursor reads numbers and texts of DWARF one after the other. After the last byte each
 * number is 0, each text is empty, and `bad` is set for good. --- */

struct dwarf_cursor {
	const u8 *at, *end;
	bool bad;
};

static inline bool cursor_has_bytes(struct dwarf_cursor *cursor, u64 bytes)
{
	if ((u64)(cursor->end - cursor->at) >= bytes)
		return true;
	cursor->at = cursor->end;
	cursor->bad = true;
	return false;
}

static inline void cursor_skip(struct dwarf_cursor *cursor, u64 bytes)
{
	if (cursor_has_bytes(cursor, bytes))
		cursor->at += bytes;
}

/* Reads a little-endian number of 1 to 8 bytes. */
static inline u64 cursor_fixed_number(struct dwarf_cursor *cursor, u32 bytes)
{
	u64 value = 0;

	if (bytes > sizeof(value) || !cursor_has_bytes(cursor, bytes))
		return 0;
	memcpy(&value, cursor->at, bytes);
	cursor->at += bytes;
	return value;
}

/* Reads a LEB128 number. Bits beyond 64 are lost. */
static inline u64 cursor_unsigned(struct dwarf_cursor *cursor)
{
	u64 value = 0;

	for (u32 shift = 0; cursor_has_bytes(cursor, 1); shift += 7) {
		u8 byte = *cursor->at++;

		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static inline s64 cursor_signed(struct dwarf_cursor *cursor)
{
	u64 value = 0;

	for (u32 shift = 0; cursor_has_bytes(cursor, 1);) {
		u8 byte = *cursor->at++;

		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~0ULL << shift;
		break;
	}
	return (s64)value;
}

/* Reads a text that ends with a NUL. */
static inline const char *cursor_text(struct dwarf_cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	const u8 *nul = memchr(cursor->at, 0, cursor->end - cursor->at);

	if (!nul) {
		cursor->at = cursor->end;
		cursor->bad = true;
		return "";
	}
	cursor->at = nul + 1;
	return text;
}

/* --- The header of a line table, DWARF 5, section 6.2.4: the encoding of the program, then
 * directories and files. Since DWARF 5 the header gives the forms of both; before, both are lists
 * of texts that end with an empty text. Directory 0 is that of the unit; only DWARF 5 lists it. ---
 */

#define FORMATS_MAX 16
#define ENTRIES_MAX (1U << 24)

struct header {
	const struct dwarf_line_sections *sections;
	struct dwarf_cursor cursor;
	struct dwarf_lines *lines;
	u32 file_room, directory_room;
	u16 version;
	u8 offset_bytes; /* bytes of an offset in a section: 4, or 8 in 64-bit DWARF */
};

void dwarf_line_sections_find(Elf *elf, struct dwarf_line_sections *sections)
{
	GElf_Ehdr header;

	*sections = (struct dwarf_line_sections){};
	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return;
	sections->lines = elf_section_data(elf, ".debug_line");
	sections->line_strings = elf_section_data(elf, ".debug_line_str");
	sections->strings = elf_section_data(elf, ".debug_str");
}

static int add_directory(struct header *header, const char *name)
{
	struct dwarf_lines *lines = header->lines;

	if (lines->directory_count == ENTRIES_MAX ||
	    array_make_room(lines->directories, lines->directory_count, header->directory_room))
		return -ENOMEM;
	lines->directories[lines->directory_count++] = name;
	return 0;
}

static int add_file(struct header *header, const struct dwarf_file *file)
{
	struct dwarf_lines *lines = header->lines;

	if (lines->file_count == ENTRIES_MAX ||
	    array_make_room(lines->files, lines->file_count, header->file_room))
		return -ENOMEM;
	lines->files[lines->file_count++] = *file;
	return 0;
}

/* Reads the lists of directories and files, in the form from before DWARF 5. */
static int read_file_lists_before_dwarf5(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct dwarf_file file;
	const char *name;
	int result = add_directory(header, NULL);

	while (!result && *(name = cursor_text(cursor)))
		result = add_directory(header, name);
	while (!result && *(file.name = cursor_text(cursor))) {
		file.directory = cursor_unsigned(cursor);
		cursor_unsigned(cursor); /* time of the file's last change */
		cursor_unsigned(cursor); /* size of the file */
		result = add_file(header, &file);
	}
	header->lines->first_file = 1;
	return result;
}

static const char *string_at_offset(const Elf_Data *section, u64 offset)
{
	struct dwarf_cursor cursor = {};

	if (!section || offset >= section->d_size)
		return NULL;
	cursor.at = (const u8 *)section->d_buf + offset;
	cursor.end = (const u8 *)section->d_buf + section->d_size;
	return cursor_text(&cursor);
}

static const char *read_string_form(struct header *header, u64 form)
{
	struct dwarf_cursor *cursor = &header->cursor;

	switch (form) {
	case DW_FORM_string:
		return cursor_text(cursor);
	case DW_FORM_line_strp:
		return string_at_offset(header->sections->line_strings,
					cursor_fixed_number(cursor, header->offset_bytes));
	case DW_FORM_strp:
		return string_at_offset(header->sections->strings,
					cursor_fixed_number(cursor, header->offset_bytes));
	default:
		cursor->bad = true;
		return NULL;
	}
}

static u64 read_number_form(struct header *header, u64 form)
{
	struct dwarf_cursor *cursor = &header->cursor;

	switch (form) {
	case DW_FORM_udata:
		return cursor_unsigned(cursor);
	case DW_FORM_data1:
		return cursor_fixed_number(cursor, 1);
	case DW_FORM_data2:
		return cursor_fixed_number(cursor, 2);
	case DW_FORM_data4:
		return cursor_fixed_number(cursor, 4);
	case DW_FORM_data8:
		return cursor_fixed_number(cursor, 8);
	case DW_FORM_data16:
		cursor_skip(cursor, 16);
		return 0;
	case DW_FORM_block:
		cursor_skip(cursor, cursor_unsigned(cursor));
		return 0;
	default:
		cursor->bad = true;
		return 0;
	}
}

/* Reads a list of directories or a list of files, in the form of DWARF 5. */
static int read_file_list_of_dwarf5(struct header *header,
				    int (*add)(struct header *, const struct dwarf_file *))
{
	struct dwarf_cursor *cursor = &header->cursor;
	u64 contents[FORMATS_MAX], forms[FORMATS_MAX];
	u64 count = cursor_fixed_number(cursor, 1), entries;
	int result = 0;

	if (count > FORMATS_MAX)
		return -ENODATA;
	for (u32 i = 0; i < count; i++) {
		contents[i] = cursor_unsigned(cursor);
		forms[i] = cursor_unsigned(cursor);
	}
	entries = cursor_unsigned(cursor);
	for (u64 i = 0; i < entries && !result && !cursor->bad; i++) {
		struct dwarf_file entry = {};

		for (u32 field = 0; field < count; field++) {
			u64 form = forms[field];

			if (contents[field] == DW_LNCT_path)
				entry.name = read_string_form(header, form);
			else if (contents[field] == DW_LNCT_directory_index)
				entry.directory = read_number_form(header, form);
			else if (form == DW_FORM_string || form == DW_FORM_line_strp ||
				 form == DW_FORM_strp)
				read_string_form(header, form);
			else
				read_number_form(header, form);
		}
		result = add(header, &entry);
	}
	return result;
}

static int add_directory_entry(struct header *header, const struct dwarf_file *entry)
{
	return add_directory(header, entry->name);
}

static bool read_encoding(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct dwarf_lines *lines = header->lines;
	u8 operations = 1;

	lines->instruction_bytes = cursor_fixed_number(cursor, 1);
	if (header->version >= 4)
		operations = cursor_fixed_number(cursor, 1);
	cursor_skip(cursor, 1); /* default_is_stmt: whether rows are statements by default */
	lines->line_base = (s8)cursor_fixed_number(cursor, 1);
	lines->line_range = cursor_fixed_number(cursor, 1);
	lines->first_special = cursor_fixed_number(cursor, 1);
	for (u32 i = 1; i < lines->first_special; i++)
		lines->operands[i] = cursor_fixed_number(cursor, 1);
	return operations == 1 && lines->line_range && lines->first_special > 9;
}

static int read_header(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct dwarf_lines *lines = header->lines;
	u64 length = cursor_fixed_number(cursor, 4);
	int result;

	header->offset_bytes = length == 0xffffffff ? 8 : 4;
	if (header->offset_bytes == 8)
		length = cursor_fixed_number(cursor, 8);
	if (!cursor_has_bytes(cursor, length))
		return -ENODATA;
	cursor->end = lines->end = cursor->at + length;
	header->version = cursor_fixed_number(cursor, 2);
	if (header->version < 2 || header->version > 5)
		return -ENODATA;
	if (header->version >= 5)
		cursor_skip(cursor, 2); /* sizes of an address and of a segment selector */
	length = cursor_fixed_number(cursor, header->offset_bytes);
	if (!cursor_has_bytes(cursor, length))
		return -ENODATA;
	lines->program = cursor->at + length;
	if (!read_encoding(header))
		return -ENODATA;
	if (header->version < 5)
		result = read_file_lists_before_dwarf5(header);
	else
		result = read_file_list_of_dwarf5(header, add_directory_entry)
				 ?: read_file_list_of_dwarf5(header, add_file);
	return cursor->bad && !result ? -ENODATA : result;
}

int dwarf_lines_read(const struct dwarf_line_sections *sections, u64 offset,
		     struct dwarf_lines *lines)
{
	const Elf_Data *section = sections->lines;
	struct header header = {.sections = sections, .lines = lines};
	int result;

	if (!section || offset >= section->d_size)
		return -ENODATA;
	*lines = (struct dwarf_lines){};
	header.cursor.at = (const u8 *)section->d_buf + offset;
	header.cursor.end = (const u8 *)section->d_buf + section->d_size;
	result = read_header(&header);
	if (result)
		dwarf_lines_clear(lines);
	return result;
}

struct scan {
	const struct dwarf_lines *lines;
	const struct code_ranges *text;
	struct dwarf_cursor cursor;
	const u64 *addresses;
	u32 count;
	struct dwarf_row *rows;
	u64 address, file; /* registers of the state machine */
	u32 line;
	bool in_sequence; /* last_address, last_file and last_line are those of the row before */
	bool has_code;	  /* the sequence begins in code */
	u64 last_address, last_file;
	u32 last_line;
	u32 next; /* index of the first requested address >= last_address */
};

static void begin_line_sequence(struct scan *scan)
{
	scan->address = 0;
	scan->file = 1;
	scan->line = 1;
	scan->in_sequence = false;
}

/* Called when the state machine makes a row. The previous row of the sequence ends here: the
 * function sets rows[] of all requested addresses from that row's address up to the address of the
 * new row. */
static void end_previous_row(struct scan *scan)
{
	if (!scan->in_sequence)
		scan->has_code = elf_text_holds(scan->text, scan->address);
	if (!scan->in_sequence || scan->address < scan->last_address)
		scan->next = bisect(scan->count, i, scan->addresses[i] < scan->address);
	for (; scan->next < scan->count && scan->addresses[scan->next] < scan->address;
	     scan->next++) {
		struct dwarf_row *row = &scan->rows[scan->next];

		if (!row->found && scan->has_code)
			*row = (struct dwarf_row){
				.file = scan->last_file, .line = scan->last_line, .found = true};
	}
	scan->in_sequence = true;
	scan->last_address = scan->address;
	scan->last_file = scan->file;
	scan->last_line = scan->line;
}

static void advance_address(struct scan *scan, u64 operations)
{
	scan->address += operations * scan->lines->instruction_bytes;
}

static void run_extended_opcode(struct scan *scan)
{
	struct dwarf_cursor *cursor = &scan->cursor;
	u64 bytes = cursor_unsigned(cursor);
	const u8 *end = cursor->at + bytes;

	if (!bytes || !cursor_has_bytes(cursor, bytes))
		return;
	switch (*cursor->at++) {
	case DW_LNE_end_sequence:
		end_previous_row(scan);
		begin_line_sequence(scan);
		break;
	case DW_LNE_set_address:
		scan->address = cursor_fixed_number(cursor, bytes - 1);
		break;
	}
	cursor->at = end;
}

static void run_standard_opcode(struct scan *scan, u8 opcode)
{
	struct dwarf_cursor *cursor = &scan->cursor;

	switch (opcode) {
	case DW_LNS_copy:
		end_previous_row(scan);
		break;
	case DW_LNS_advance_pc:
		advance_address(scan, cursor_unsigned(cursor));
		break;
	case DW_LNS_advance_line:
		scan->line += cursor_signed(cursor);
		break;
	case DW_LNS_set_file:
		scan->file = cursor_unsigned(cursor);
		break;
	case DW_LNS_const_add_pc:
		advance_address(scan, (255 - scan->lines->first_special) / scan->lines->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		scan->address += cursor_fixed_number(cursor, 2);
		break;
	default:
		for (u32 i = 0; i < scan->lines->operands[opcode]; i++)
			cursor_unsigned(cursor);
	}
}

void dwarf_lines_find(const struct dwarf_lines *lines, const struct code_ranges *text,
		      const u64 *addresses, u32 count, struct dwarf_row *rows)
{
	struct scan scan = {.lines = lines,
			    .text = text,
			    .cursor = {.at = lines->program, .end = lines->end},
			    .addresses = addresses,
			    .count = count,
			    .rows = rows};

	begin_line_sequence(&scan);
	while (scan.cursor.at < scan.cursor.end) {
		u8 opcode = *scan.cursor.at++;

		if (opcode >= lines->first_special) {
			u8 adjusted = opcode - lines->first_special;

			advance_address(&scan, adjusted / lines->line_range);
			scan.line += lines->line_base + adjusted % lines->line_range;
			end_previous_row(&scan);
		} else if (opcode) {
			run_standard_opcode(&scan, opcode);
		} else {
			run_extended_opcode(&scan);
		}
	}
}

void dwarf_lines_set_file_of_place(const struct dwarf_lines *lines, u64 file,
				   struct code_place *place)
{
	const struct dwarf_file *found;

	if (file < lines->first_file || file - lines->first_file >= lines->file_count)
		return;
	found = &lines->files[file - lines->first_file];
	place->file = found->name;
	if (found->directory < lines->directory_count)
		place->directory = lines->directories[found->directory];
}

void dwarf_lines_clear(struct dwarf_lines *lines)
{
	free(lines->files);
	free(lines->directories);
	*lines = (struct dwarf_lines){};
}
