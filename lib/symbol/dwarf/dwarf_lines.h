/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line table of a compilation unit (.debug_line, DWARF 2 to 5): which line of which file code
 * was made of. libdw makes a sorted array of all rows, which is most of the time that names take;
 * here the rows go by once, and those are kept that cover an address which is looked for.
 *
 * Any bytes may be given: what makes no sense has no lines.
 */
#ifndef LIB_SYMBOL_DWARF_LINES_H
#define LIB_SYMBOL_DWARF_LINES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbol/elf/code_place.h"
#include "symbol/table/code_ranges.h"

struct dwarf_bytes {
	const u8 *at;
	size_t bytes;
};

struct dwarf_line_sections {
	struct dwarf_bytes lines, line_strings, strings;
};

struct dwarf_file {
	const char *name;
	u64 directory;
};

#define DWARF_OPCODES 256

struct dwarf_lines {
	struct dwarf_file *files;
	const char **directories;
	u32 file_count, directory_count;
	u32 first_file; /* its number: 0 since DWARF 5, else 1 */
	const u8 *program, *end;
	u8 instruction_bytes, line_range, first_special;
	s8 line_base;
	u8 operands[DWARF_OPCODES]; /* of standard opcodes */
};

struct dwarf_row {
	u64 file;
	u32 line;
	bool found;
};

/* After libdw has unpacked the sections of the file. A file of the other byte order has none. */
void dwarf_line_sections_find(Elf *elf, struct dwarf_line_sections *sections);

/* The table at an offset in .debug_line (DW_AT_stmt_list). -ENODATA, -ENOMEM. */
int dwarf_lines_read(const struct dwarf_line_sections *sections, u64 offset,
		     struct dwarf_lines *lines);
void dwarf_lines_clear(struct dwarf_lines *lines);

/* Fills rows[i] for addresses[i] (ascending), where one is found. `text`: symbol/elf/elf_text.h. */
void dwarf_lines_find(const struct dwarf_lines *lines, const struct code_ranges *text,
		      const u64 *addresses, u32 count, struct dwarf_row *rows);

/* Sets file and directory by the file's number, if there is one. */
void dwarf_lines_name(const struct dwarf_lines *lines, u64 file, struct code_place *place);

#endif
