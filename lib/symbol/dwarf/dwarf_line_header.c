/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header of a line table, DWARF 5, section 6.2.4: how the program is encoded, then directories
 * and files. Since DWARF 5 the header itself says of what forms these are, before it they are texts
 * that end with an empty one. Directory 0 is that of the unit, which DWARF 5 writes down.
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>

#include "array.h"
#include "dwarf_cursor.h"
#include "dwarf_lines.h"
#include "symbol/elf/debug_link.h"

#define FORMATS_MAX 16
#define ENTRIES_MAX (1U << 24)

struct header {
	const struct dwarf_line_sections *sections;
	struct dwarf_cursor cursor;
	struct dwarf_lines *lines;
	u32 file_room, directory_room;
	u16 version;
	u8 offset_bytes; /* 4 or 8 */
};

struct format {
	u64 content, form;
};

static struct dwarf_bytes bytes_of(Elf *elf, const char *name)
{
	Elf_Data *data = debug_link_section(elf, name);

	return data ? (struct dwarf_bytes){data->d_buf, data->d_size} : (struct dwarf_bytes){};
}

static bool is_native(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) && header.e_ident[EI_DATA] == ELFDATA2LSB &&
	       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

void dwarf_line_sections_find(Elf *elf, struct dwarf_line_sections *sections)
{
	*sections = (struct dwarf_line_sections){};
	if (!is_native(elf))
		return;
	sections->lines = bytes_of(elf, ".debug_line");
	sections->line_strings = bytes_of(elf, ".debug_line_str");
	sections->strings = bytes_of(elf, ".debug_str");
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

/* Before DWARF 5. */
static int read_plain_entries(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct dwarf_file file;
	const char *name;
	int result = add_directory(header, NULL);

	while (!result && *(name = cursor_text(cursor)))
		result = add_directory(header, name);
	while (!result && *(file.name = cursor_text(cursor))) {
		file.directory = cursor_unsigned(cursor);
		cursor_unsigned(cursor); /* time of its last change */
		cursor_unsigned(cursor); /* its size */
		result = add_file(header, &file);
	}
	header->lines->first_file = 1;
	return result;
}

static const char *text_at(const struct dwarf_bytes *section, u64 offset)
{
	struct dwarf_cursor cursor = {.at = section->at, .end = section->at + section->bytes};

	if (offset >= section->bytes)
		return NULL;
	cursor.at += offset;
	return cursor_text(&cursor);
}

static const char *read_text(struct header *header, u64 form)
{
	struct dwarf_cursor *cursor = &header->cursor;

	switch (form) {
	case DW_FORM_string:
		return cursor_text(cursor);
	case DW_FORM_line_strp:
		return text_at(&header->sections->line_strings,
			       cursor_number(cursor, header->offset_bytes));
	case DW_FORM_strp:
		return text_at(&header->sections->strings,
			       cursor_number(cursor, header->offset_bytes));
	default:
		cursor->bad = true;
		return NULL;
	}
}

static u64 read_number(struct header *header, u64 form)
{
	struct dwarf_cursor *cursor = &header->cursor;

	switch (form) {
	case DW_FORM_udata:
		return cursor_unsigned(cursor);
	case DW_FORM_data1:
		return cursor_number(cursor, 1);
	case DW_FORM_data2:
		return cursor_number(cursor, 2);
	case DW_FORM_data4:
		return cursor_number(cursor, 4);
	case DW_FORM_data8:
		return cursor_number(cursor, 8);
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

static void skip_content(struct header *header, u64 form)
{
	if (form == DW_FORM_string || form == DW_FORM_line_strp || form == DW_FORM_strp)
		read_text(header, form);
	else
		read_number(header, form);
}

static struct dwarf_file read_entry(struct header *header, const struct format *formats, u32 count)
{
	struct dwarf_file entry = {};

	for (u32 i = 0; i < count; i++) {
		if (formats[i].content == DW_LNCT_path)
			entry.name = read_text(header, formats[i].form);
		else if (formats[i].content == DW_LNCT_directory_index)
			entry.directory = read_number(header, formats[i].form);
		else
			skip_content(header, formats[i].form);
	}
	return entry;
}

/* One list, of directories or of files. */
static int read_entries(struct header *header,
			int (*add)(struct header *, const struct dwarf_file *))
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct format formats[FORMATS_MAX];
	u64 count = cursor_number(cursor, 1), entries;
	int result = 0;

	if (count > FORMATS_MAX)
		return -ENODATA;
	for (u32 i = 0; i < count; i++) {
		formats[i].content = cursor_unsigned(cursor);
		formats[i].form = cursor_unsigned(cursor);
	}
	entries = cursor_unsigned(cursor);
	for (u64 i = 0; i < entries && !result && !cursor->bad; i++) {
		struct dwarf_file entry = read_entry(header, formats, count);

		result = add(header, &entry);
	}
	return result;
}

static int add_directory_entry(struct header *header, const struct dwarf_file *entry)
{
	return add_directory(header, entry->name);
}

static int read_names(struct header *header)
{
	if (header->version < 5)
		return read_plain_entries(header);
	return read_entries(header, add_directory_entry) ?: read_entries(header, add_file);
}

/* From the length on; the cursor then ends with the table. */
static bool read_frame(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	u64 length = cursor_number(cursor, 4);

	header->offset_bytes = length == 0xffffffff ? 8 : 4;
	if (header->offset_bytes == 8)
		length = cursor_number(cursor, 8);
	if (!cursor_has(cursor, length))
		return false;
	cursor->end = cursor->at + length;
	header->lines->end = cursor->end;
	header->version = cursor_number(cursor, 2);
	return header->version >= 2 && header->version <= 5;
}

static bool read_encoding(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct dwarf_lines *lines = header->lines;
	u8 operations = 1;

	lines->instruction_bytes = cursor_number(cursor, 1);
	if (header->version >= 4)
		operations = cursor_number(cursor, 1);
	cursor_skip(cursor, 1); /* whether rows are statements by default */
	lines->line_base = (s8)cursor_number(cursor, 1);
	lines->line_range = cursor_number(cursor, 1);
	lines->first_special = cursor_number(cursor, 1);
	for (u32 i = 1; i < lines->first_special; i++)
		lines->operands[i] = cursor_number(cursor, 1);
	return operations == 1 && lines->line_range && lines->first_special > 9;
}

static int read_header(struct header *header)
{
	struct dwarf_cursor *cursor = &header->cursor;
	struct dwarf_lines *lines = header->lines;
	u64 length;
	int result;

	if (!read_frame(header))
		return -ENODATA;
	if (header->version >= 5)
		cursor_skip(cursor, 2); /* sizes of addresses and of segment selectors */
	length = cursor_number(cursor, header->offset_bytes);
	if (!cursor_has(cursor, length))
		return -ENODATA;
	lines->program = cursor->at + length;
	if (!read_encoding(header))
		return -ENODATA;
	result = read_names(header);
	return cursor->bad && !result ? -ENODATA : result;
}

int dwarf_lines_read(const struct dwarf_line_sections *sections, u64 offset,
		     struct dwarf_lines *lines)
{
	const struct dwarf_bytes *section = &sections->lines;
	struct header header = {.sections = sections, .lines = lines};
	int result;

	if (offset >= section->bytes)
		return -ENODATA;
	*lines = (struct dwarf_lines){};
	header.cursor.at = section->at + offset;
	header.cursor.end = section->at + section->bytes;
	result = read_header(&header);
	if (result)
		dwarf_lines_clear(lines);
	return result;
}
